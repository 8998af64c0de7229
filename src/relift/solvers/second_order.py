r"""Quadratic constraints as second-order cones, for backends that speak of cones.

With :math:`P_k = F_k^\top F_k` and :math:`\tau = 2 (r_k - q_k^\top x)`, the constraint
:math:`\tfrac12 x^\top P_k x + q_k^\top x \le r_k` says :math:`\|F_k x\|^2 \le \tau`, that is, for any unit
:math:`\sigma > 0`,

.. math:: \left(\tfrac{\tau / \sigma^2 + 1}{2},\ \tfrac{\tau / \sigma^2 - 1}{2},\ F_k x / \sigma\right) \in \text{SOC}.

If :math:`(\zeta_0, \zeta_1, \zeta_F)` are the dual values of these rows, that of the constraint is
:math:`z_k = (\zeta_0 + \zeta_1) / \sigma^2`: :math:`\zeta_F = -z_k \sigma F_k x` at an optimum. The unit is the root of
the level at which the constraint is active, :math:`\max(2 |r_k|, \max_j q_{kj}^2 / P_{kjj})`: all entries are then of
one size, whatever the constraint was multiplied with. With 1 as the unit the first two are equal but for rounding where
the level is large, and every fourth program of 30 variables with matrices of several sizes needed a second attempt. It
is a power of two, by which numbers are divided exactly.

The factor is Cholesky's where P_k has full rank: triangular, so that it has half as many entries, and none outside of
the bands of P_k. Otherwise it is made of eigenvectors. It destroys symmetry, so it is made from the small program,
after lifting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, Matrix, SparseMatrix, Vector
from relift.program.passes import core_for
from relift.program.program import Program
from relift.program.quadratic_passes import compiled_constraints
from relift.program.quadratic_rows import QuadraticRows
from relift.program.sparse_structure import unchecked

LEVELS = 1e-200, 1e200
"""Beyond these levels units stay as they are there, so that no square of one leaves the range of floats."""

LEAST_CURVATURE = 1e-13
"""Curvatures up to this much of the largest one are rounding errors of 0."""

MOST_DENSE = 160
"""Up to so many variables of a constraint its factor is made by relift's core; with more, LAPACK is quicker."""


@final
@dataclass(frozen=True, eq=False)
class SecondOrderCones:
    """Rows ``Kx + s = b`` with s in a product of second-order cones, one for each quadratic constraint.

    Parameters
    ----------
    K, b
        The rows.
    sizes
        Rows of each cone.
    units
        The unit of each cone.
    """

    K: SparseMatrix
    b: Vector
    sizes: tuple[int, ...]
    units: Vector

    @classmethod
    def from_program(cls, program: Program, *, in_units: bool = True) -> SecondOrderCones:
        """One cone for each quadratic constraint of the program; with 1 as the unit of each unless ``in_units``."""
        rows = program.quadratic
        if not len(rows):
            return _none(program.n_variables)
        made = _by_the_core(rows, in_units=in_units)
        return cls._of_many(rows, in_units=in_units) if made is None else made

    @classmethod
    def _of_many(cls, rows: QuadraticRows, *, in_units: bool) -> SecondOrderCones:
        """The same in NumPy: slower for few variables, and for matrices of any rank and size."""
        sizes, n_before, units = list[int](), 0, _units(rows) if in_units else np.ones(len(rows))
        row, column, values, right = list[Indices](), list[Indices](), list[Vector](), list[Vector]()
        used = np.flatnonzero(rows.values)
        used = used[rows.owner[used].argsort(kind="stable")]
        starts = rows.owner[used].searchsorted(np.arange(len(rows) + 1))
        for k in range(len(rows)):
            mine, entries = slice(rows.q.indptr[k], rows.q.indptr[k + 1]), used[starts[k] : starts[k + 1]]
            linear = rows.q.indices[mine].astype(np.int64)
            factor = _factor(rows.first[entries], rows.second[entries], rows.values[entries])
            unit = units[k]
            for head in (n_before, n_before + 1):
                row.append(np.full(linear.size, head))
                column.append(linear)
                values.append(rows.q.data[mine] / unit**2)
            row.append(n_before + 2 + factor.row)
            column.append(factor.column)
            values.append(-factor.values / unit)
            level = rows.r[k] / unit**2
            right.append(np.concatenate([[level + 0.5, level - 0.5], np.zeros(factor.n_rows)]))
            sizes.append(2 + factor.n_rows)
            n_before += sizes[-1]
        parts = np.concatenate(row), np.concatenate(column), np.concatenate(values)
        return cls(_by_columns(*parts, (n_before, rows.q.shape[1])), np.concatenate(right), tuple(sizes), units)

    def expand(self, zeta: Vector) -> Vector:
        """Carry dual values of the cones' rows back to the quadratic constraints."""
        if not self.sizes:
            return np.zeros(0)
        heads = np.cumsum([0, *self.sizes[:-1]], dtype=np.int64)
        return np.maximum(zeta[heads] + zeta[heads + 1], 0.0) / self.units**2


def _by_the_core(rows: QuadraticRows, *, in_units: bool) -> SecondOrderCones | None:
    """The cones by one compiled pass; None where a matrix is singular or large, or q has two entries in one place."""
    compiled, n = core_for(rows.q), rows.q.shape[1]
    if compiled is None:
        return None
    made = compiled.second_order_cones(
        compiled_constraints(rows.parts), n, in_units, *LEVELS, LEAST_CURVATURE, MOST_DENSE
    )
    if made is None:
        return None
    offsets, places, values, right, sizes, units = made
    b, lengths = np.frombuffer(right), tuple(np.frombuffer(sizes, np.int64).tolist())
    indices, indptr = np.frombuffer(places, np.int32), np.frombuffer(offsets, np.int32)
    K = unchecked(sparse.csc_array, np.frombuffer(values), indices, indptr, (b.size, n))
    return SecondOrderCones(K, b, lengths, np.frombuffer(units))


def _units(rows: QuadraticRows) -> Vector:
    """For each constraint the power of two that is nearest to the root of its level."""
    n = rows.q.shape[1]
    levels = 2.0 * np.abs(rows.r)
    straight = np.flatnonzero((rows.first == rows.second) & (rows.values > 0))
    if straight.size and rows.q.nnz:
        places = rows.owner[straight] * n + rows.first[straight]
        order = places.argsort(kind="stable")
        owner = np.arange(len(rows)).repeat(np.diff(rows.q.indptr))
        wanted = owner * n + rows.q.indices
        found = order[places[order].searchsorted(wanted).clip(max=order.size - 1)]
        is_curved = places[found] == wanted
        slopes, curvatures = rows.q.data[is_curved], rows.values[straight[found[is_curved]]]
        with np.errstate(over="ignore"):
            np.maximum.at(levels, owner[is_curved], slopes * (slopes / curvatures))
    bounded: Vector = np.where(levels > 0, levels, 1.0).clip(*LEVELS)
    return np.exp2(np.round(0.5 * np.log2(bounded)))


def _by_columns(row: Indices, column: Indices, values: Vector, shape: tuple[int, int]) -> SparseMatrix:
    """A matrix of entries whose rows ascend in each column."""
    order = column.argsort(kind="stable")
    i, j = row[order], column[order]
    if bool(((j[1:] == j[:-1]) & (i[1:] <= i[:-1])).any()):  # q has two entries in one place, to be added
        summed: SparseMatrix = sparse.csc_array((values, (row, column)), shape=shape)
        return summed
    offsets = np.zeros(shape[1] + 1, np.int32)
    np.cumsum(np.bincount(column, minlength=shape[1]), out=offsets[1:])
    return unchecked(sparse.csc_array, values[order], i.astype(np.int32), offsets, shape)


@lru_cache(maxsize=32)
def _none(n_variables: int) -> SecondOrderCones:
    """No cones; one and the same each time, since most programs have none and it never changes."""
    return SecondOrderCones(sparse.csc_array((0, n_variables)), np.zeros(0), (), np.ones(0))


class _Factor(NamedTuple):
    """The entries of a matrix F."""

    row: Indices
    column: Indices
    values: Vector
    n_rows: int


def _factor(first: Indices, second: Indices, values: Vector) -> _Factor:
    """F with F'F = P, on the variables that P touches."""
    touched, (i, j) = _numbered(first, second)
    size = touched.size
    if bool((first == second).all()):
        diagonal = np.bincount(i, values, size)
        return _Factor(np.arange(size), touched, np.sqrt(diagonal), size)
    P: Matrix = np.bincount(i * size + j, values, size * size).astype(np.float64, copy=False).reshape(size, size)
    triangle = _triangular_factor(P)
    if triangle is not None:
        row, column = np.nonzero(triangle)
        return _Factor(row, touched[column], triangle[row, column], size)
    curvatures, vectors = np.linalg.eigh(P)
    kept = curvatures > LEAST_CURVATURE * max(float(curvatures.max(initial=0.0)), 0.0)
    dense = np.sqrt(curvatures[kept])[:, None] * vectors[:, kept].T
    n_rows = int(dense.shape[0])
    return _Factor(np.repeat(np.arange(n_rows), size), np.tile(touched, n_rows), dense.ravel(), n_rows)


def _numbered(first: Indices, second: Indices) -> tuple[Indices, tuple[Indices, Indices]]:
    """The variables that P touches, and both indices numbered by them: P is symmetric, so that they are the same."""
    end = int(first.max(initial=-1)) + 1
    touched = np.flatnonzero(np.bincount(first)) if end <= 4 * first.size else np.unique(first)
    if touched.size == end:  # each of the first variables, as they are
        return touched, (first, second)
    return touched, (touched.searchsorted(first), touched.searchsorted(second))


def _triangular_factor(P: Matrix) -> Matrix | None:
    """Cholesky's, unless P is singular, or so nearly that rows of the factor would be rounding errors."""
    try:
        factor: Matrix = np.asarray(np.linalg.cholesky(P).T, np.float64)
    except np.linalg.LinAlgError:
        return None
    pivots = factor.diagonal() ** 2
    return factor if pivots.min() > LEAST_CURVATURE * P.diagonal().max() else None
