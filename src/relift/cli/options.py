"""Options that several commands share, and what they are called inside."""

from __future__ import annotations

import contextlib
import enum
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from relift.errors import FileFormatError, OptionError


class LiftChoice(enum.StrEnum):
    """How symmetry is looked for."""

    equitable = "equitable"
    counting = "counting"
    orbits = "orbits"
    none = "none"


class ValuesChoice(enum.StrEnum):
    """What a float stands for."""

    decimal = "decimal"
    bits = "bits"


ModelArgument = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A .rlp, .mps, .qps, .lp (each also .gz) or .npz file.", show_default=False),
]
RelaxOption = Annotated[bool, typer.Option("--relax", help="Read integer variables as continuous ones.")]
MaxBytesOption = Annotated[
    int | None,
    typer.Option("--max-bytes", help="How large the model may be, decompressed; default 2 GiB.", metavar="N"),
]
LiftOption = Annotated[
    LiftChoice,
    typer.Option("--lift", help="equitable, counting, orbits or none.", metavar="METHOD"),
]
ValuesOption = Annotated[
    ValuesChoice, typer.Option("--values", help="What a float stands for.", metavar="decimal|bits")
]
DigitsOption = Annotated[
    int | None,
    typer.Option("--digits", help="Treat numbers closer than 10^-K relatively as one.", metavar="K"),
]
NoReduceOption = Annotated[bool, typer.Option("--no-reduce", help="Do not substitute what is known first.")]
NoScaleRowsOption = Annotated[bool, typer.Option("--no-scale-rows", help="Do not compare rows up to a factor.")]
NoSizesOption = Annotated[bool, typer.Option("--no-sizes", help="Do not merge what is equal up to size or unit.")]
NoSignsOption = Annotated[bool, typer.Option("--no-signs", help="Do not merge what is equal up to sign.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors and warnings.")]
ToleranceOption = Annotated[float, typer.Option("--tol", help="Largest relative residual that passes.", metavar="TOL")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the solution as .json, .txt or .sol.", metavar="FILE"),
]


def lift_words(
    method: LiftChoice,
    values: ValuesChoice,
    digits: int | None,
    no_reduce: bool,
    no_scale_rows: bool,
    no_sizes: bool,
    no_signs: bool,
) -> dict[str, Any]:
    """Turn options into keywords of :func:`relift.lift`, and refuse wrong ones before any file is read."""
    from relift.settings import LiftSettings

    words = {
        "method": str(method),
        "values": str(values),
        "digits": digits,
        "reduce": not no_reduce,
        "scale_rows": not no_scale_rows,
        "sizes": not no_sizes,
        "signs": not no_signs,
    }
    LiftSettings(**words)  # type: ignore[arg-type]
    return words


def backend_options(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Turn ``KEY=VALUE`` words into keywords, with numbers and truths as such.

    Examples
    --------
    >>> backend_options(["presolve=off", "random_seed=3", "output_flag=true"])
    {'presolve': 'off', 'random_seed': 3, 'output_flag': True}
    """
    options: dict[str, Any] = {}
    for pair in pairs or ():
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise OptionError(f"--backend-option {pair!r} is not of the form KEY=VALUE.")
        options[key] = _typed(value)
    return options


def _typed(value: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return words[value.lower()]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(value)
    return value


def check_output(path: Path, suffixes: Sequence[str]) -> None:
    """Find out before the work, not after it, that a file cannot be written."""
    if not path.name.lower().endswith(tuple(suffixes)):
        raise FileFormatError(
            f"{path}: the end of the name does not tell a format.", f"Known are {', '.join(suffixes)}."
        )
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "No such directory", str(path.parent))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(13, "Permission denied", str(path.parent))
