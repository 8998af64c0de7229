r"""Quadratic constraints as second-order cones, for backends that speak of cones.

With :math:`P_k = F_k^\top F_k` and :math:`\tau = 2 (r_k - q_k^\top x)`, the constraint
:math:`\tfrac12 x^\top P_k x + q_k^\top x \le r_k` says :math:`\|F_k x\|^2 \le \tau`, that is

.. math:: \left(\tfrac{\tau + 1}{2},\; \tfrac{\tau - 1}{2},\; F_k x\right) \in \text{SOC}.

If :math:`(\zeta_0, \zeta_1, \zeta_F)` are the dual values of these rows, :math:`z_k = \zeta_0 + \zeta_1` is that of the
constraint: :math:`\zeta_F = -z_k F_k x` at an optimum. The factor destroys symmetry, so it is made from the small
program, after lifting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.program.program import Program
from relift.program.sparse_structure import unchecked


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
    """

    K: SparseMatrix
    b: Vector
    sizes: tuple[int, ...]

    @classmethod
    def from_program(cls, program: Program) -> SecondOrderCones:
        """One cone for each quadratic constraint of the program."""
        rows = program.quadratic
        if not len(rows):
            return _none(program.n_variables)
        sizes, n_before = list[int](), 0
        row, column, values, right = list[Indices](), list[Indices](), list[Vector](), list[Vector]()
        used = np.flatnonzero(rows.values)
        used = used[rows.owner[used].argsort(kind="stable")]
        starts = rows.owner[used].searchsorted(np.arange(len(rows) + 1))
        for k in range(len(rows)):
            mine, entries = slice(rows.q.indptr[k], rows.q.indptr[k + 1]), used[starts[k] : starts[k + 1]]
            linear = rows.q.indices[mine].astype(np.int64)
            factor = _factor(rows.first[entries], rows.second[entries], rows.values[entries])
            for head in (n_before, n_before + 1):
                row.append(np.full(linear.size, head))
                column.append(linear)
                values.append(rows.q.data[mine])
            row.append(n_before + 2 + factor.row)
            column.append(factor.column)
            values.append(-factor.values)
            right.append(np.concatenate([[rows.r[k] + 0.5, rows.r[k] - 0.5], np.zeros(factor.n_rows)]))
            sizes.append(2 + factor.n_rows)
            n_before += sizes[-1]
        parts = np.concatenate(row), np.concatenate(column), np.concatenate(values)
        return cls(_by_columns(*parts, (n_before, program.n_variables)), np.concatenate(right), tuple(sizes))

    def expand(self, zeta: Vector) -> Vector:
        """Carry dual values of the cones' rows back to the quadratic constraints."""
        if not self.sizes:
            return np.zeros(0)
        heads = np.cumsum([0, *self.sizes[:-1]], dtype=np.int64)
        return np.maximum(zeta[heads] + zeta[heads + 1], 0.0)


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
    return SecondOrderCones(sparse.csc_array((0, n_variables)), np.zeros(0), ())


class _Factor(NamedTuple):
    """The entries of a matrix F."""

    row: Indices
    column: Indices
    values: Vector
    n_rows: int


def _factor(first: Indices, second: Indices, values: Vector) -> _Factor:
    """F with F'F = P, on the variables that P touches."""
    touched, i = np.unique(first, return_inverse=True)
    if bool((first == second).all()):
        diagonal = np.bincount(i, values, touched.size)
        return _Factor(np.arange(touched.size), touched, np.sqrt(diagonal), touched.size)
    from scipy import linalg

    size = touched.size
    # P is symmetric, so that both indices run over the same variables.
    P = np.bincount(i * size + np.searchsorted(touched, second), values, size * size).reshape(size, size)
    curvatures, vectors = linalg.eigh(P)
    kept = curvatures > 1e-13 * max(float(curvatures.max(initial=0.0)), 0.0)
    dense = np.sqrt(curvatures[kept])[:, None] * vectors[:, kept].T
    n_rows = int(dense.shape[0])
    return _Factor(np.repeat(np.arange(n_rows), size), np.tile(touched, n_rows), dense.ravel(), n_rows)
