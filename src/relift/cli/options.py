"""Options that several commands share, and what they are called inside."""

from __future__ import annotations

import contextlib
import enum
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

from relift.cli.words import Argument, Option
from relift.errors import FileFormatError, OptionError

if TYPE_CHECKING:
    from relift.pipeline import LiftOptions
    from relift.settings import LiftSettings


class LiftChoice(enum.StrEnum):
    """How symmetry is looked for."""

    equitable = "equitable"
    counting = "counting"
    orbits = "orbits"
    none = "none"


class ValuesChoice(enum.StrEnum):
    """How a float is read: 0.1 as one tenth, or as its bits."""

    decimal = "decimal"
    bits = "bits"


ModelArgument = Annotated[
    Path,
    Argument(
        metavar="MODEL",
        help="A .rlp, .mps, .qps, .lp (each also .gz) or .npz file, or a PSL project (.json, .psl).",
    ),
]
RelaxOption = Annotated[bool, Option("--relax", help="Read integer variables as continuous ones.")]
MaxBytesOption = Annotated[
    int | None,
    Option("--max-bytes", help="Largest size of the model file, decompressed; default 2 GiB.", metavar="N"),
]
LiftOption = Annotated[
    LiftChoice,
    Option("--lift", help="How equivalent variables are found: equitable, counting, orbits or none.", metavar="METHOD"),
]
ValuesOption = Annotated[
    ValuesChoice,
    Option("--values", help="How a float is read: 0.1 as one tenth, or as its bits.", metavar="decimal|bits"),
]
DigitsOption = Annotated[
    int | None,
    Option("--digits", help="Treat numbers closer than 10^-K, relatively, as equal.", metavar="K"),
]
NoReduceOption = Annotated[bool, Option("--no-reduce", help="Skip presolve (exact substitutions).")]
NoScaleRowsOption = Annotated[bool, Option("--no-scale-rows", help="Do not compare rows up to a factor.")]
NoSizesOption = Annotated[bool, Option("--no-sizes", help="Do not merge what is equal up to size or unit.")]
NoSignsOption = Annotated[bool, Option("--no-signs", help="Do not merge what is equal up to sign.")]
JsonOption = Annotated[bool, Option("--json", help="Print JSON, and nothing else, on stdout.")]
QuietOption = Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors and warnings.")]
ToleranceOption = Annotated[
    float, Option("--tolerance", "--tol", help="Largest relative residual that passes.", metavar="TOL")
]
NoApproximateOption = Annotated[str | None, Option("--approximate", hidden=True)]
"""For commands that do not solve: refused with the name of the one that does."""

OutputOption = Annotated[
    Path | None,
    Option("--output", "-o", help="Write the solution as .json, .txt or .sol.", metavar="FILE"),
]


class StyleChoice(enum.StrEnum):
    """Layouts of solutions in text files."""

    relift = "relift"
    highs = "highs"
    highs_table = "highs-table"
    gurobi = "gurobi"


StyleOption = Annotated[
    StyleChoice,
    Option(
        "--solution-style", help="Layout of a .sol or .txt file: relift, highs, highs-table, gurobi.", metavar="STYLE"
    ),
]


def refuse_approximate(command: str, given: str | None) -> None:
    """Refuse ``--approximate`` for a command that does not solve.

    Raises
    ------
    OptionError
        If it is given.
    """
    if given is not None:
        raise OptionError(
            f"relift {command} does not take --approximate: a gap is proved while a program is solved.",
            "Use `relift solve MODEL --approximate GAP`.",
        )


def lift_options(
    lift: LiftChoice,
    values: ValuesChoice,
    digits: int | None,
    no_reduce: bool,
    no_scale_rows: bool,
    no_sizes: bool,
    no_signs: bool,
) -> LiftOptions:
    """Turn options into keywords of :func:`relift.lift`, and refuse wrong ones before any file is read."""
    from relift.settings import LiftMethod, LiftSettings, Reading

    methods: dict[str, LiftMethod] = {word: word for word in get_args(LiftMethod)}
    readings: dict[str, Reading] = {word: word for word in get_args(Reading)}
    settings = LiftSettings(
        methods[lift],
        readings[values],
        digits,
        not no_scale_rows,
        not no_reduce,
        not no_sizes,
        not no_signs,
    )
    return words_of(settings)


def words_of(settings: LiftSettings) -> LiftOptions:
    """The same settings as keywords of :func:`relift.lift`."""
    return {
        "lift": settings.lift,
        "values": settings.values,
        "digits": settings.digits,
        "reduce": settings.reduce,
        "scale_rows": settings.scale_rows,
        "sizes": settings.sizes,
        "signs": settings.signs,
    }


def backend_options(pairs: Sequence[str] | None) -> dict[str, object]:
    """Turn ``KEY=VALUE`` words into keywords, with numbers and truths as such.

    Examples
    --------
    >>> backend_options(["presolve=off", "random_seed=3", "output_flag=true"])
    {'presolve': 'off', 'random_seed': 3, 'output_flag': True}
    """
    options: dict[str, object] = {}
    for pair in pairs or ():
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise OptionError(f"--backend-option {pair!r} is not of the form KEY=VALUE.")
        options[key] = _typed(value)
    return options


def _typed(value: str) -> bool | float | str | None:
    words = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return words[value.lower()]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(value)
    return value


def check_style(style: StyleChoice, path: Path | None) -> None:
    """Refuse a layout of text files where no text file is written."""
    if style == StyleChoice.relift:
        return
    if path is None:
        raise OptionError(f"--solution-style {style} needs a file.", "Add --output FILE.sol.")
    if path.suffix.lower() not in {".sol", ".txt"}:
        raise FileFormatError(f"{path}: the style {str(style)!r} is one of text files.", "Write .sol or .txt.")


def check_output(path: Path, suffixes: Sequence[str]) -> None:
    """Find out before the work, not after it, that a file cannot be written."""
    if not path.name.lower().endswith(tuple(suffixes)):
        raise FileFormatError(f"{path}: the file extension is unknown.", f"Expected one of: {', '.join(suffixes)}.")
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "No such directory", str(path.parent))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(13, "Permission denied", str(path.parent))


def check_not_read(written: Mapping[str, Path | None], read: Sequence[Path]) -> None:
    """Refuse to write over a file that the same command reads, or to write two files to one place.

    Parameters
    ----------
    written
        Options that name files to write, and what they name.
    read
        Files that the command reads.

    Examples
    --------
    >>> check_not_read({"--output": Path("m.mps")}, [Path("./m.mps")])
    Traceback (most recent call last):
    relift.errors.OptionError: --output would overwrite m.mps, which this command reads. Choose another name.
    """
    taken = {path.resolve(): f"overwrite {path}, which this command reads" for path in read}
    for option, path in written.items():
        if path is None:
            continue
        place = path.resolve()
        if place in taken:
            raise OptionError(f"{option} would {taken[place]}.", "Choose another name.")
        taken[place] = f"overwrite {path}, which {option} writes"
