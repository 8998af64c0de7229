"""A matrix of entries of which several stand in one place and are added, without sums that cancelled to rounding.

Few entries are added without SciPy, whose constructors take longer than small programs are solved in. Both ways add in
the same order, so that they give the same floats.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from relift.arrays import CoordinateMatrix, Indices, Integers, SparseMatrix, Vector
from relift.program.sparse_structure import unchecked

FEW = 4096
"""Up to so many entries SciPy's constructors are what costs."""

SORTED_IN_ORDER = 16
"""SciPy sorts the rows of a column, up to so many, without changing the order of equal ones."""


def summed(row: Integers, column: Integers, data: Vector, shape: tuple[int, int], cancelled: float) -> SparseMatrix:
    """CSC matrix of the sums of entries that stand in one place.

    Parameters
    ----------
    row, column, data
        The entries.
    shape
        Rows and columns.
    cancelled
        Sums of no more than this times the sum of their absolute values are left out.

    Examples
    --------
    >>> places = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])
    >>> summed(*places, np.array([1.0, 2.0, 3.0, -3.0]), (2, 1), 1e-14).toarray().tolist()
    [[3.0], [0.0]]
    """
    if data.size == 0:
        nothing, offsets = np.zeros(0, np.int32), np.zeros(shape[1] + 1, np.int32)
        return unchecked(sparse.csc_array, np.zeros(0), nothing, offsets, shape, is_canonical=True)
    order = _order(row, column) if data.size <= FEW else None
    if order is None:
        return without_cancelled(lambda values: sparse.coo_array((values, (row, column)), shape=shape), data, cancelled)
    return _few(row[order], column[order], data[order], shape, cancelled)


def _order(row: Integers, column: Integers) -> Indices | None:
    """By columns and rows, equal places as they come; None where SciPy might order these otherwise."""
    order: Indices = column.argsort(kind="stable")
    i, j = row[order], column[order]
    is_same_column = j[1:] == j[:-1]
    if not bool((is_same_column & (i[1:] < i[:-1])).any()):
        return order
    if int(np.bincount(column).max()) > SORTED_IN_ORDER:
        return None
    return np.lexsort((row, column))


def _few(i: Integers, j: Integers, data: Vector, shape: tuple[int, int], cancelled: float) -> SparseMatrix:
    """The sums of entries that are in order."""
    is_first = np.ones(i.size, bool)
    is_first[1:] = (j[1:] != j[:-1]) | (i[1:] != i[:-1])
    place, i, j = is_first.cumsum() - 1, i[is_first], j[is_first]
    total: Vector = np.asarray(np.bincount(place, data, i.size), np.float64)
    if data.min() < 0 < data.max():
        total[np.abs(total) <= cancelled * np.bincount(place, np.abs(data), i.size)] = 0.0
    kept = total != 0
    if not kept.all():
        total, i, j = total[kept], i[kept], j[kept]
    offsets = np.zeros(shape[1] + 1, np.int32)
    np.cumsum(np.bincount(j, minlength=shape[1]), out=offsets[1:])
    return unchecked(sparse.csc_array, total, i.astype(np.int32), offsets, shape, is_canonical=True)


def without_cancelled(
    with_values: Callable[[Vector], SparseMatrix | CoordinateMatrix], data: Vector, cancelled: float
) -> SparseMatrix:
    """The same by SciPy, for many entries.

    Parameters
    ----------
    with_values
        The matrix in which these values stand at the places of the entries.
    data, cancelled
        As in :func:`summed`.
    """
    total = with_values(data).tocsc()
    total.sum_duplicates()
    if data.size and data.min() < 0 < data.max():
        terms = with_values(np.abs(data)).tocsc()
        terms.sum_duplicates()
        total.data[np.abs(total.data) <= cancelled * terms.data] = 0.0
    total.eliminate_zeros()
    return total
