"""Bounds of variables that follow from rows: what the other variables of a row leave for each of them."""

from __future__ import annotations

import numpy as np

from relift.approximate.rounding import EPSILON, gamma
from relift.arrays import Flags, SparseMatrix, Vector

PASSES = 8
"""How often rows may tighten boxes in turn."""


def tighten(
    rows: SparseMatrix, l: Vector, u: Vector, lower: Vector, upper: Vector, passes: int = PASSES
) -> tuple[Vector, Vector]:
    """Bounds of variables that follow from rows and the other bounds, widened by what rounding can do.

    Parameters
    ----------
    rows
        CSR matrix.
    l, u
        Its bounds.
    lower, upper
        What is known of the variables.
    passes
        How often to go through all rows; it ends earlier when nothing changes by a tenth of a percent.

    Examples
    --------
    >>> from scipy import sparse
    >>> A = sparse.csr_array([[1.0, 2.0]])
    >>> lower, upper = tighten(A, np.array([-np.inf]), np.array([4.0]), np.zeros(2), np.full(2, np.inf))
    >>> upper.round(9).tolist()
    [4.0, 2.0]
    """
    if rows.nnz == 0:
        return lower, upper
    a, j = rows.data, rows.indices
    i = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    present = a != 0
    a, j, i = a[present], j[present], i[present]
    error = gamma(int(np.bincount(i, minlength=1).max(initial=0)) + 6)
    positive = a > 0
    for _ in range(passes):
        new_lower, new_upper = lower.copy(), upper.copy()
        for bound, is_upper in ((u, True), (l, False)):
            if not np.isfinite(bound).any():
                continue
            # Σ_k a_k x_k <= u: the least that the others contribute leaves at most this for a_j x_j; l mirrors it.
            at = np.where(positive == is_upper, lower[j], upper[j])
            with np.errstate(invalid="ignore", over="ignore"):
                part = a * at
            endless = ~np.isfinite(part)
            finite = np.where(endless, 0.0, part)
            sums = np.bincount(i, finite, rows.shape[0])
            sizes = np.bincount(i, np.abs(finite), rows.shape[0])
            n_endless = np.bincount(i, endless, rows.shape[0])
            others = np.where(endless, sums[i], sums[i] - finite)
            known = np.isfinite(bound)[i] & (n_endless[i] - endless == 0)
            slack = error * (sizes[i] + np.abs(finite) + np.abs(bound[i]))
            with np.errstate(invalid="ignore", over="ignore"):
                room = bound[i] - others + (slack if is_upper else -slack)
                limit = room / a
                limit += np.abs(limit) * 4 * EPSILON * np.where(positive == is_upper, 1.0, -1.0)
            known &= np.isfinite(limit)
            above = known & (positive == is_upper)
            below = known & (positive != is_upper)
            np.minimum.at(new_upper, j[above], limit[above])
            np.maximum.at(new_lower, j[below], limit[below])
        crossed = new_lower > new_upper  # an infeasible program, or rounding: such variables keep what was known
        new_lower[crossed], new_upper[crossed] = lower[crossed], upper[crossed]
        changed = _improves(lower, new_lower) | _improves(upper, new_upper)
        lower, upper = new_lower, new_upper
        if not changed.any():
            break
    return lower, upper


def _improves(old: Vector, new: Vector) -> Flags:
    with np.errstate(invalid="ignore"):
        return (np.isinf(old) & np.isfinite(new)) | (np.abs(new - old) > 1e-3 * np.maximum(1.0, np.abs(old)))
