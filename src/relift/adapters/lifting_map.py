"""A small model that is solved elsewhere: its names, the map to the ground model, and its answer on the way back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from relift.adapters.atomic import write_atomically
from relift.adapters.names import names_for_lp, names_for_mps
from relift.adapters.solution_files import names_for_json, read_solution, sizes_of
from relift.errors import FileFormatError
from relift.program.program import Program
from relift.program.solution import Solution

if TYPE_CHECKING:
    from relift.lifting.lifting import Lifting

VERSION = 1
"""Version of the layout of maps."""


def write_lifting_map(lifting: Lifting, path: str | Path) -> None:
    """Write how the small model hangs together with the ground model, as JSON.

    ``variables.class[j]`` is the number of ground variable j in the small model, or -1 where it was
    substituted, and then ``variables.value[j]`` is its value, else null. With z the point of the small
    model, ``x[j] = z[class[j]]``. The multiplier of a row of the small model is shared: ``y[i] =
    y_small[class[i]] * rows.share[i]``, and in the same way ``w[j] = w_small[class[j]] *
    variables.share[j]``. Multipliers of what was substituted follow from stationarity; ``relift expand``
    finds them.

    Parameters
    ----------
    lifting
        What :func:`relift.lift` returned.
    path
        Where to; JSON whatever the name.
    """
    import relift

    program, reduction, symmetry = lifting.program, lifting.reduction, lifting.symmetry
    class_of_variable, class_of_row = lifting.class_of_variable, lifting.class_of_row
    kept = class_of_variable >= 0
    row_share, variable_share = np.zeros(program.n_rows), np.zeros(program.n_variables)
    sizes, scales = symmetry.rows.class_sizes[symmetry.rows.labels], symmetry.row_scales
    row_share[reduction.rows] = scales[symmetry.rows.representatives][symmetry.rows.labels] / (scales * sizes)
    variable_share[reduction.variables] = 1.0 / symmetry.variables.class_sizes[symmetry.variables.labels]
    settings = lifting.settings
    document = {
        "format": "relift-map",
        "version": VERSION,
        "relift": relift.__version__,
        "sizes": {"ground": sizes_of(program), "lifted": sizes_of(lifting.small)},
        "settings": {name: getattr(settings, name) for name in ("method", "values", "digits", "scale_rows", "reduce")},
        "variables": {
            "names": names_for_json(program.variable_names),
            "class": class_of_variable.tolist(),
            "share": variable_share.tolist(),
            "value": [None if k else value for k, value in zip(kept.tolist(), reduction.values.tolist(), strict=True)],
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
    program, small, reduction = lifting.program, lifting.small, lifting.reduction

    def names(given: Sequence[str] | None, kept: Any, representatives: Any) -> list[str] | None:
        return None if given is None else [given[k] for k in kept[representatives].tolist()]

    return small.replace(
        variable_names=names(program.variable_names, reduction.variables, lifting.variables.representatives),
        row_names=names(program.row_names, reduction.rows, lifting.rows.representatives),
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
            return read_solution(path, candidate)
        except FileFormatError as error:
            failures.append(error)
    raise failures[0]
