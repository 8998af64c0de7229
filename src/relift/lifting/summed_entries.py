"""A matrix of entries of which several stand in one place and are added, without sums that cancelled to rounding.

Entries of a matrix by rows are added by the core, and few others without SciPy, whose constructors take longer than
small programs are solved in. All ways add in the same order, so that they give the same floats.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from relift.arrays import Array, CoordinateMatrix, Indices, Integers, Labels, SparseMatrix, Vector
from relift.program.passes import core_for, parts_of
from relift.program.sparse_structure import unchecked
from relift.threads import threads_for

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


def are_few(counts: Array) -> bool:
    """Whether SciPy adds so many entries of each column in the order in which they stand, as the core does.

    Examples
    --------
    >>> are_few(np.array([16, 2])), are_few(np.array([17]))
    (True, False)
    """
    return bool(counts.max(initial=0) <= SORTED_IN_ORDER)


def with_merged_columns(
    A: SparseMatrix, rows: Indices, labels: Labels, n_classes: int, w: Vector | None, cancelled: float
) -> SparseMatrix:
    """CSC matrix of some rows of a CSR array, with the columns of each class added.

    Parameters
    ----------
    A
        CSR array.
    rows
        Which ones.
    labels, n_classes
        The class of each column, and how many there are.
    w
        By what columns are multiplied first; None if all are by 1.
    cancelled
        As in :func:`summed`.

    Examples
    --------
    >>> A = sparse.csr_array([[1.0, 2.0, 4.0], [0.0, 0.0, 9.0], [3.0, -3.0, 5.0]])
    >>> with_merged_columns(A, np.array([0, 2]), np.array([0, 0, 1]), 2, None, 1e-14).toarray().tolist()
    [[3.0, 4.0], [0.0, 5.0]]
    """
    compiled = core_for(A)
    if compiled is None:
        return with_merged_columns_slowly(A, rows, labels, n_classes, w, cancelled)
    parts = parts_of(A)
    offsets, indices, values, count = compiled.merge_columns(
        parts, np.ascontiguousarray(rows), np.ascontiguousarray(labels), n_classes,
        None if w is None else np.ascontiguousarray(w), cancelled, threads_for(A.indices.size),
    )  # fmt: skip
    kind, shape = parts[0].dtype, (rows.size, n_classes)
    made = np.frombuffer(values)[:count], np.frombuffer(indices, kind)[:count], np.frombuffer(offsets, kind)
    return unchecked(sparse.csc_array, *made, shape, is_canonical=True)


def with_merged_columns_slowly(
    A: SparseMatrix, rows: Indices, labels: Labels, n_classes: int, w: Vector | None, cancelled: float
) -> SparseMatrix:
    """The same by SciPy."""
    part = A[rows]
    data = part.data if w is None else part.data * w[part.indices]
    of_entries = labels[part.indices]
    shape = (rows.size, n_classes)
    return without_cancelled(
        lambda values: sparse.csr_array((values, of_entries, part.indptr), shape=shape), data, cancelled
    )


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
