"""What an MPS file says, and the program that it makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.errors import FileFormatError
from relift.formats.mps_columns import Columns
from relift.formats.mps_quadratic import CurvedRow, parted
from relift.formats.mps_words import LineError, shown
from relift.program.program import Program

INFINITE_BOUND = 1e20
"""Bounds of this size or more mean that there is no bound, as in every MPS reader."""


@final
@dataclass(eq=False)
class MpsModel:
    """The sections of a file; values are kept with the line that they came from.

    Rows are numbered from 0 in the order of ROWS; those of type N have the numbers -1, -2, ... instead.
    """

    columns: Columns
    row_type: dict[bytes, str] = field(default_factory=dict)
    row_number: dict[bytes, int] = field(default_factory=dict)
    n_constraints: int = 0
    free_rows: list[bytes] = field(default_factory=list)
    """The rows of type N."""
    wanted_objective: tuple[bytes, int] | None = None
    """What OBJNAME says, and its line."""
    sense: str | None = None
    integer: set[int] = field(default_factory=set)
    """Variables that a bound makes whole."""
    rhs: dict[int, tuple[float, int]] = field(default_factory=dict)
    ranges: dict[int, tuple[float, int]] = field(default_factory=dict)
    lower: dict[int, tuple[float, int]] = field(default_factory=dict)
    upper: dict[int, tuple[float, int]] = field(default_factory=dict)
    quadratic: tuple[list[int], list[int], list[float], list[int]] = field(default_factory=lambda: ([], [], [], []))
    quadratic_section: str = ""
    curved: dict[int, CurvedRow] = field(default_factory=dict)
    """Rows with a section of their own for quadratic terms, by their numbers; the last one is being read."""
    sets: dict[str, dict[bytes, int]] = field(default_factory=dict)
    """For RHS, RANGES and BOUNDS the sets in the order of the file, and how many lines each has."""
    n_lines_after_end: int = 0

    def objective_name(self) -> bytes | None:
        """The row that is the objective; None if there is none."""
        if self.wanted_objective is not None:
            return self.wanted_objective[0]
        return self.free_rows[0] if self.free_rows else None

    def is_first_set(self, section: str, name: bytes) -> bool:
        """Count a line of a set; of several sets only the first is used."""
        sets = self.sets.setdefault(section, {})
        sets[name] = sets.get(name, 0) + 1
        return name == next(iter(sets))

    def notes(self) -> Iterator[str]:
        """What the file holds that was not used, one sentence each."""
        for section, sets in self.sets.items():
            first, *others = sets
            if others:
                n_lines = sum(sets[name] for name in others)
                listed = ", ".join(shown(name) for name in others[:3]) + (", ..." if len(others) > 3 else "")
                yield (
                    f"{section} has {len(sets)} sets; the first, {shown(first)}, is used, and {n_lines} lines of"
                    f" {listed} are not."
                )
        if self.n_lines_after_end:
            yield f"{self.n_lines_after_end} lines after ENDATA are not read."


def program_from_model(model: MpsModel, source: str, relax_integers: bool) -> Program:
    """Make the program; what is wrong with it as a whole is found here.

    Parameters
    ----------
    model
        What was read.
    source
        How to call the file in messages.
    relax_integers
        Read integer variables as continuous ones instead of refusing them.
    """
    number_of = model.columns.number_of
    integer = model.integer | model.columns.integer
    variables = [name.decode("utf-8", "surrogatepass") for name in number_of]
    if integer and not relax_integers:
        raise FileFormatError(
            f"{source} has {len(integer)} integer variables, the first is {variables[min(integer)]!r};"
            " relift solves continuous programs.",
            "Ask for the relaxation with relax_integers=True (on the command line: --relax).",
        )
    names = [name.decode("utf-8", "surrogatepass") for name, row in model.row_number.items() if row >= 0]
    n, m = len(variables), len(names)
    if n == 0:
        raise LineError(0, "it has no variables: the section COLUMNS is empty or missing.")
    objective = _objective(model)
    l, u = _row_bounds(model, names)
    lb, ub = _variable_bounds(model, n)
    A, q = _matrix_and_costs(model, m, n, objective, names, variables)
    for row in model.curved.values():
        if (fault := row.fault()) is not None:
            raise LineError(*fault)
    A, l, u, curved, left = parted(A, l, u, model.curved)
    curved.check()
    constant = model.rhs.get(objective, (0.0, 0))[0]
    sense: Literal["min", "max"] = "max" if model.sense == "max" else "min"
    return Program(
        _quadratic_part(model, n, variables), q, A, l, u, lb, ub, -constant + 0.0,
        sense=sense, variable_names=variables, row_names=[names[i] for i in left], quadratic=curved,
    )  # fmt: skip


def _objective(model: MpsModel) -> int:
    """The number of the objective row; -1 also if there is none, as then nothing stands in it."""
    if model.wanted_objective is None:
        objective = -1
    else:
        name, line = model.wanted_objective
        if model.row_type.get(name) != "N":
            raise LineError(line, f"OBJNAME is {shown(name)}, but there is no such row of type N.")
        objective = model.row_number[name]
    for section, values in (("RHS", model.rhs), ("RANGES", model.ranges)):
        value, line = values.get(objective, (0.0, 0))
        if line and (section == "RANGES" or not math.isfinite(value)):
            name = model.free_rows[-objective - 1]
            what = "Only constraints have a range." if section == "RANGES" else "It must be a finite number."
            raise LineError(line, f"{section} of the objective row {shown(name)} is {value}. {what}")
    return objective


def _matrix_and_costs(
    model: MpsModel, m: int, n: int, objective: int, names: Sequence[str], variables: Sequence[str]
) -> tuple[SparseMatrix, Vector]:
    rows, columns, values, lines = model.columns.entries()
    is_cost = rows == objective
    is_kept = is_cost | (rows >= 0)
    bad = np.flatnonzero(is_kept & ~np.isfinite(values))
    if bad.size:
        k = int(bad[np.argmin(lines[bad])])
        where = f"cost of {variables[columns[k]]!r}" if is_cost[k] else f"coefficient in row {names[rows[k]]!r}"
        raise LineError(int(lines[k]), f"the {where} is {values[k]}. It must be a finite number.")
    _refuse_duplicates(columns[is_cost], lines[is_cost], lambda j: f"the cost of {variables[j]!r} is given twice.")
    is_entry = rows >= 0
    rows, places, lines, entries = rows[is_entry], columns[is_entry], lines[is_entry], values[is_entry]
    _refuse_duplicates(rows + places * m, lines, lambda _: "the coefficient is given twice.")
    q = np.zeros(n)
    q[columns[is_cost]] = values[is_cost]
    A: SparseMatrix = sparse.csc_array((entries, (rows, places)), shape=(m, n))
    return A, q


def _refuse_duplicates(keys: Indices, lines: Indices | Sequence[int], what: Callable[[int], str]) -> None:
    lines = np.asarray(lines)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if same.size:
        later = np.maximum(lines[order[same]], lines[order[same + 1]])
        k = int(np.argmin(later))
        raise LineError(int(later[k]), what(int(keys[order[same[k]]])))


def _row_bounds(model: MpsModel, names: Sequence[str]) -> tuple[Vector, Vector]:
    l, u = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    kinds = [kind for kind in model.row_type.values() if kind != "N"]
    for i, kind in enumerate(kinds):
        right = model.rhs.get(i, (0.0, 0))[0]
        if kind in "GE":
            l[i] = right
        if kind in "LE":
            u[i] = right
        if i in model.ranges:
            width = model.ranges[i][0]
            if kind == "G" or (kind == "E" and width > 0):
                u[i] = right + abs(width)
            elif kind == "L" or width < 0:
                l[i] = right - abs(width)
    return without_infinite(l), without_infinite(u)


def _variable_bounds(model: MpsModel, n: int) -> tuple[Vector, Vector]:
    lb, ub = np.zeros(n), np.full(n, np.inf)
    for j in model.columns.integer - set(model.lower) - set(model.upper):
        ub[j] = 1.0
    for j, (value, _) in model.lower.items():
        lb[j] = value
    for j, (value, line) in model.upper.items():
        if value < 0 and j not in model.lower:
            raise LineError(
                line,
                f"the upper bound {value:.17g} is negative and there is no lower bound: readers disagree"
                " whether it is then 0 or -inf. Add a bound of type LO or MI.",
            )
        ub[j] = value
    return without_infinite(lb), without_infinite(ub)


def without_infinite(bounds: Vector) -> Vector:
    """Make bounds that mean infinity infinite, in place."""
    bounds[bounds >= INFINITE_BOUND] = np.inf
    bounds[bounds <= -INFINITE_BOUND] = -np.inf
    return bounds


def _quadratic_part(model: MpsModel, n: int, variables: Sequence[str]) -> SparseMatrix | None:
    rows, columns = (np.array(part, dtype=np.int64) for part in model.quadratic[:2])
    values, lines = np.array(model.quadratic[2]), model.quadratic[3]
    if not values.size:
        return None
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise LineError(lines[int(bad[0])], f"the coefficient is {values[bad[0]]}. It must be a finite number.")
    section = model.quadratic_section
    if section == "QMATRIX":
        _refuse_duplicates(rows + columns * n, lines, lambda _: f"the entry of {section} is given twice.")
        P: SparseMatrix = sparse.csc_array((values, (rows, columns)), shape=(n, n))
        difference = (P - P.T).tocoo()
        wrong = np.flatnonzero(difference.data)
        if wrong.size:
            i, j = sorted(int(part[wrong[0]]) for part in difference.coords)
            raise LineError(
                0, f"QMATRIX is not symmetric: the entries of {variables[i]!r} and {variables[j]!r} differ."
            )
        return P
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    what = f"{section} lists one triangle, but this pair is given twice."
    _refuse_duplicates(low + high * n, lines, lambda _: what)
    off = low != high
    full: SparseMatrix = sparse.csc_array(
        (
            np.concatenate([values, values[off]]),
            (np.concatenate([low, high[off]]), np.concatenate([high, low[off]])),
        ),
        shape=(n, n),
    )
    return full
