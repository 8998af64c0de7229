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
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.program.program import Program


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
        blocks, right, sizes = [], [], []
        for k in range(len(rows)):
            F = _factor(rows.matrix(k))
            linear = rows.q[[k]]
            blocks += [linear, linear, -F]
            right.append(np.concatenate([[rows.r[k] + 0.5, rows.r[k] - 0.5], np.zeros(F.shape[0])]))
            sizes.append(2 + F.shape[0])
        return cls(sparse.vstack(blocks).tocsc(), np.concatenate(right), tuple(sizes))

    def expand(self, zeta: Vector) -> Vector:
        """Carry dual values of the cones' rows back to the quadratic constraints."""
        if not self.sizes:
            return np.zeros(0)
        heads = np.cumsum([0, *self.sizes[:-1]], dtype=np.int64)
        return np.maximum(zeta[heads] + zeta[heads + 1], 0.0)


@lru_cache(maxsize=32)
def _none(n_variables: int) -> SecondOrderCones:
    """No cones; one and the same each time, since most programs have none and it never changes."""
    return SecondOrderCones(sparse.csc_array((0, n_variables)), np.zeros(0), ())


def _factor(P: SparseMatrix) -> SparseMatrix:
    """F with F'F = P, on the variables that P touches."""
    touched = np.unique(P.tocoo().coords[0])
    diagonal = P.diagonal()
    n = P.shape[0]
    if np.count_nonzero(diagonal) == P.nnz:
        entries = np.sqrt(diagonal[touched])
        F: SparseMatrix = sparse.csr_array((entries, (np.arange(touched.size), touched)), shape=(touched.size, n))
        return F
    from scipy import linalg

    values, vectors = linalg.eigh(P[touched][:, touched].toarray())
    kept = values > 1e-13 * max(float(values.max(initial=0.0)), 0.0)
    dense = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    i, j = np.indices(dense.shape)
    factor: SparseMatrix = sparse.csr_array((dense.ravel(), (i.ravel(), touched[j.ravel()])), shape=(dense.shape[0], n))
    return factor
