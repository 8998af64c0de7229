"""A small model that is solved elsewhere: its names, the map to the original model, and the expansion of its answer."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from relift.arrays import Indices
from relift.atomic import write_atomically
from relift.errors import FileFormatError, OptionError
from relift.formats.names import names_for_lp, names_for_mps
from relift.formats.solutions import names_for_json, read_solution, sizes_of, with_bound_duals
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.read_bytes import brief, read_bytes
from relift.settings import LiftSettings

if TYPE_CHECKING:
    from relift.lifting.lifting import Lifting

VERSION = 2
"""Version of the layout of maps."""

SETTINGS = ("lift", "values", "digits", "scale_rows", "reduce", "sizes", "signs")
"""What a map remembers of how classes were looked for."""


@final
@dataclass(frozen=True)
class LiftingMap:
    """What a map says about how it was made, enough to lift the same model in the same way again.

    Parameters
    ----------
    model
        The file of the original model, or None where the map does not tell.
    relax_integers
        Whether its integer variables were read as continuous ones.
    settings
        How classes were looked for.
    class_of_variable, class_of_row
        The number of each original variable and row in the small model; -1 where substituted.
    """

    model: Path | None
    relax_integers: bool
    settings: LiftSettings
    class_of_variable: tuple[int, ...]
    class_of_row: tuple[int, ...]

    def check(self, lifting: Lifting, source: str) -> None:
        """Refuse a lifting with other classes than those of the map: the model has changed since."""
        same_variables = lifting.class_of_variable.tolist() == list(self.class_of_variable)
        if not same_variables or lifting.class_of_row.tolist() != list(self.class_of_row):
            raise FileFormatError(
                f"{source} was made from another model, or by another version.", "Run relift lift again."
            )


def read_lifting_map(path: str | Path, max_bytes: int | None = None) -> LiftingMap:
    """Read what :func:`write_lifting_map` wrote.

    Parameters
    ----------
    path
        The file.
    max_bytes
        How large it may be; None for 2 GiB.

    Raises
    ------
    FileFormatError
        If it is not a map, too large, or not a regular file.
    """
    source, folder = str(path), Path(path).resolve().parent
    data = read_bytes(path, max_bytes)
    try:
        document = json.loads(data)
        if _entry(document, "format", str) != "relift-map" or _entry(document, "version", int) != VERSION:
            raise ValueError("another format or version")
        model = _entry(document, "model", str, type(None))
        return LiftingMap(
            None if model is None else folder / model,
            _entry(document, "relax_integers", bool),
            _settings(_entry(document, "settings", dict)),
            _classes(document, "variables"),
            _classes(document, "rows"),
        )
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{source} is not a map of a small model ({brief(error)}).", "relift lift --map writes them."
        ) from None


def _entry(document: Any, name: str, *kinds: type) -> Any:
    """An entry of a JSON object, of one of the types that it must have."""
    if not isinstance(document, dict) or name not in document:
        raise ValueError(f"there is no entry {name!r}")
    if type(document[name]) not in kinds:
        raise ValueError(f"{name!r} is {document[name]!r:.40}")
    return document[name]


def _settings(stored: dict[str, Any]) -> LiftSettings:
    given = {"lift" if name == "method" else name: value for name, value in stored.items()}  # its former name
    known = [field.name for field in fields(LiftSettings)]
    if unknown := [name for name in given if name not in known]:
        raise ValueError(f"'settings' has an unknown entry {unknown[0]!r}")
    for name, kind in (("scale_rows", bool), ("reduce", bool), ("sizes", bool), ("signs", bool), ("seed", int)):
        if name in given:
            _entry(given, name, kind)
    try:
        return LiftSettings(**given)
    except OptionError as error:
        raise ValueError(str(error)) from error


def _classes(document: Any, of: str) -> tuple[int, ...]:
    classes = _entry(_entry(document, of, dict), "class", list)
    if wrong := [k for k in classes if type(k) is not int]:
        raise ValueError(f"a class of {of!r} is {wrong[0]!r:.40}")
    return tuple(classes)


def write_lifting_map(
    lifting: Lifting, path: str | Path, model: str | Path | None = None, relax_integers: bool = False
) -> None:
    """Write the mapping between the small and the original model as JSON.

    ``variables.class[j]`` is the number of original variable j in the small model, or -1 where it was
    substituted, and then ``variables.value[j]`` is its value, else null. With z the point of the small
    model, ``x[j] = offset[j] + scale[j] * z[class[j]]``. The dual value of a row of the small model is
    shared: ``y[i] = y_small[class[i]] * rows.share[i]``, and in the same way ``w[j] = w_small[class[j]] *
    variables.share[j]``. Dual values of what was substituted follow from stationarity; ``relift expand``
    finds them.

    Parameters
    ----------
    lifting
        What :func:`relift.lift` returned.
    path
        Where to; JSON whatever the name.
    model
        The file of the original model; it is remembered relative to the folder of the map.
    relax_integers
        Whether its integer variables were read as continuous ones.
    """
    import relift

    program, symmetry = lifting.program, lifting.symmetry
    class_of_variable, class_of_row = lifting.class_of_variable, lifting.class_of_row
    kept = class_of_variable >= 0
    row_share, variable_share = np.zeros(program.n_rows), np.zeros(program.n_variables)
    row_share[lifting.kept_rows], variable_share[lifting.kept_variables] = symmetry.row_shares, symmetry.variable_shares
    scale = np.zeros(program.n_variables)
    scale[lifting.kept_variables] = symmetry.w
    offset = lifting.expand(Solution(Status.FAILURE, np.zeros(lifting.small.n_variables))).x
    assert offset is not None
    settings = lifting.settings
    document = {
        "format": "relift-map",
        "version": VERSION,
        "relift": relift.__version__,
        "model": None if model is None else os.path.relpath(model, Path(path).resolve().parent),
        "relax_integers": relax_integers,
        "sizes": {"ground": sizes_of(program), "lifted": sizes_of(lifting.small)},
        "settings": {name: getattr(settings, name) for name in SETTINGS},
        "variables": {
            "names": names_for_json(program.variable_names),
            "class": class_of_variable.tolist(),
            "share": variable_share.tolist(),
            "scale": scale.tolist(),
            "offset": np.where(kept, offset, 0.0).tolist(),
            "value": [None if k else value for k, value in zip(kept.tolist(), offset.tolist(), strict=True)],
        },
        "rows": {
            "names": names_for_json(program.row_names),
            "class": class_of_row.tolist(),
            "share": row_share.tolist(),
        },
    }
    with write_atomically(path) as file:
        file.write((json.dumps(document, allow_nan=False) + "\n").encode("utf-8"))


def named_small_program(lifting: Lifting) -> Program:
    """Name small variables and rows after the first member of their class, where there are names."""
    program, small = lifting.program, lifting.small

    def names(given: Sequence[str] | None, kept: Indices, representatives: Indices) -> list[str] | None:
        return None if given is None else [given[k] for k in kept[representatives].tolist()]

    return small.replace(
        variable_names=names(program.variable_names, lifting.kept_variables, lifting.variables.representatives),
        row_names=names(program.row_names, lifting.kept_rows, lifting.rows.representatives),
    )


def read_small_solution(path: str | Path, lifting: Lifting) -> Solution:
    """Read an answer for the small program, whichever names it carries: the full ones, or those of an MPS or LP file.

    Parameters
    ----------
    path
        A ``.json``, ``.txt`` or ``.sol`` file.
    lifting
        What :func:`relift.lift` returned.
    """
    small = named_small_program(lifting)
    failures = []
    for names in (None, names_for_mps(small), names_for_lp(small)):
        candidate = small
        if names is not None:
            candidate = small.replace(variable_names=names.variables, row_names=names.rows)
        try:
            return with_bound_duals(candidate, read_solution(path, candidate))
        except FileFormatError as error:
            failures.append(error)
    raise failures[0]
