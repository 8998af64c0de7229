r"""The same program in other units, for backends whose tolerances are absolute.

Solvers stop when residuals fall below some 1e-8, whatever the numbers of a program mean: rows of coefficients 1e-8, or
variables that are counted in units of 1e-8, then need not hold at all. Written in units of their own,

.. math:: x = D x', \qquad R A D, \qquad R l,\; R u, \qquad D^{-1} lb,\; D^{-1} ub, \qquad o D P D,\; o D q,

every entry of D a power of two near the geometric mean of what bounds and right-hand sides say about a variable, every
entry of R such that the largest entry of a row is near 1, and o such that the largest cost is, it is solved as well as
any other. Powers of two make the change exact. Cones are multiplied as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Integers, SparseMatrix, Vector
from relift.program.cone_distance import largest_of_cones
from relift.program.conic_rows import ConicRows
from relift.program.magnitudes import largest_by_group, largest_of_rows
from relift.program.other_order import by_columns, by_rows
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.program.solution import Solution
from relift.program.sparse_structure import unchecked

WORTH_IT = 2.0**6
"""A factor between this and its inverse is not worth another solve."""


@final
@dataclass(frozen=True, eq=False)
class Rescaled:
    """A program in other units.

    Parameters
    ----------
    program
        The program to solve instead.
    original
        The one it stands for.
    columns, rows, curved, conic
        D, R, and the factors of quadratic constraints and of conic rows.
    objective
        The factor of the objective.
    """

    program: Program
    original: Program
    columns: Vector
    rows: Vector
    curved: Vector
    conic: Vector
    objective: float

    def expand(self, answer: Solution) -> Solution:
        """Carry an answer back."""
        x = _times(answer.x, self.columns)
        return replace(
            answer,
            x=x,
            y=_times(answer.y, self.rows / self.objective),
            w=_times(answer.w, 1.0 / (self.columns * self.objective)),
            z=_times(answer.z, self.curved / self.objective),
            v=_times(answer.v, self.conic / self.objective),
            ray_x=_times(answer.ray_x, self.columns),
            ray_y=_times(answer.ray_y, self.rows),
            ray_w=_times(answer.ray_w, 1.0 / self.columns),
            ray_z=_times(answer.ray_z, self.curved),
            ray_v=_times(answer.ray_v, self.conic),
            objective=answer.objective if x is None else self.original.objective(x),
        )

    def restrict(self, solution: Solution) -> Solution:
        """Carry a point to start from forward."""
        return replace(
            solution,
            x=_times(solution.x, 1.0 / self.columns),
            y=_times(solution.y, self.objective / self.rows),
            w=_times(solution.w, self.objective * self.columns),
            z=_times(solution.z, self.objective / self.curved),
            v=_times(solution.v, self.objective / self.conic),
        )


def _times(vector: Vector | None, factors: Vector) -> Vector | None:
    if vector is None:
        return None
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # an answer beyond the range of floats is refused where it is checked
        return vector * factors


def rescaled(program: Program) -> Rescaled | None:
    """Write a minimisation in its own units; None if it is as good as written in them already, or cannot be."""
    with np.errstate(over="ignore", invalid="ignore"):
        written = _rescaled(program)
    return written if written is not None and _is_finite(written.program) else None


def _is_finite(program: Program) -> bool:
    """Whether no number but a bound is beyond the range of floats."""
    matrices = (program.A, program.conic.A, program.quadratic.q, *(() if program.P is None else (program.P,)))
    vectors = (program.q, program.conic.b, program.quadratic.r, program.quadratic.values, np.array([program.r]))
    return all(np.isfinite(values).all() for values in (*(matrix.data for matrix in matrices), *vectors))


def _rescaled(program: Program) -> Rescaled | None:
    D = _powers(_natural_sizes(program))
    A = _in_units(by_columns(program.A), None, D)
    R = _powers(1.0 / _or_one(largest_of_rows(A)))
    rows = program.quadratic
    q_of_rows = _in_units(rows.q, None, D)
    values = rows.values * D[rows.first] * D[rows.second]
    largest = np.maximum(largest_of_rows(q_of_rows), largest_by_group(rows.owner, np.abs(values), len(rows)))
    t = _powers(1.0 / _or_one(largest))
    C = _in_units(by_rows(program.conic.A), None, D)
    of_cones = _powers(1.0 / _or_one(largest_of_cones(program.conic, largest_of_rows(C))))
    T = of_cones[program.conic.cone_of_row]
    P = None if program.P is None else _in_units(program.P, D, D)
    costs = np.abs(program.q * D)
    largest_cost = max(float(costs.max(initial=0.0)), 0.0 if P is None else float(np.abs(P.data).max(initial=0.0)))
    o = float(_powers(np.array([1.0 / largest_cost if largest_cost > 0 else 1.0]))[0])
    factors = np.concatenate([D, R, t, T, [o]])
    if np.all((factors < WORTH_IT) & (factors > 1.0 / WORTH_IT)):
        return None
    curved = QuadraticRows(
        rows.owner, rows.first, rows.second, values * t[rows.owner], _in_units(q_of_rows, t, None),
        rows.r * t,
    )  # fmt: skip
    conic = ConicRows.trusted(_in_units(C, T, None), program.conic.b * T, program.conic.cones)
    other = Program.trusted(
        None if P is None else o * P, o * D * program.q, _in_units(A, R, None), R * program.l,
        R * program.u, program.lb / D, program.ub / D, o * program.r, "min", curved, conic,
    )  # fmt: skip
    return Rescaled(other, program, D, R, t, T, o)


def _in_units(matrix: SparseMatrix, of_rows: Vector | None, of_columns: Vector | None) -> SparseMatrix:
    """A matrix with its rows and columns multiplied by factors; entries that are 0 are left out."""
    along, across = (of_columns, of_rows) if matrix.format == "csc" else (of_rows, of_columns)
    values = matrix.data
    if across is not None:
        values = values * across[matrix.indices]
    if along is not None:
        values = values * along.repeat(np.diff(matrix.indptr))
    kind = sparse.csc_array if matrix.format == "csc" else sparse.csr_array
    made = unchecked(kind, values, matrix.indices, matrix.indptr, matrix.shape)
    if not values.all():
        made = made.copy()
        made.eliminate_zeros()
    return made


def _natural_sizes(program: Program) -> Vector:
    """For each variable the geometric mean of its finite bounds and of |b_i| / |a_ij|, as far as they are not 0."""
    n = program.n_variables
    logs, counts = np.zeros(n), np.zeros(n)

    def count(columns: Integers, sizes: Vector) -> None:
        told = np.isfinite(sizes) & (sizes > 0)
        np.add.at(logs, columns[told], np.log2(sizes[told]))
        np.add.at(counts, columns[told], 1.0)

    everyone = np.arange(n)
    for bounds in (program.lb, program.ub):
        count(everyone, np.abs(bounds))
    right = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (program.l, program.u)))
    rows = program.quadratic
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for matrix, sides in ((program.A, right), (program.conic.A, np.abs(program.conic.b)), (rows.q, np.abs(rows.r))):
            major = np.arange(matrix.indptr.size - 1).repeat(np.diff(matrix.indptr))
            row, column = (matrix.indices, major) if matrix.format == "csc" else (major, matrix.indices)
            count(column, sides[row] / np.abs(matrix.data))
        on_diagonal = rows.first == rows.second
        curved = np.sqrt(2.0 * np.abs(rows.r[rows.owner]) / np.abs(rows.values))
        count(rows.first[on_diagonal], curved[on_diagonal])
    known = counts > 0
    usual = float(np.median(logs[known] / counts[known])) if known.any() else 0.0
    return np.asarray(2.0 ** np.clip(np.where(known, logs / np.maximum(counts, 1.0), usual), -500, 500), np.float64)


def _powers(sizes: Vector) -> Vector:
    """The nearest powers of two, as far as floats are safe."""
    with np.errstate(divide="ignore"):
        exponents = np.clip(np.rint(np.log2(sizes)), -500, 500)
    return np.asarray(2.0**exponents, np.float64)


def _or_one(sizes: Vector) -> Vector:
    return np.where(sizes > 0, sizes, 1.0)
