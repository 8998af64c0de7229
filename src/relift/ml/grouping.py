r"""Rows that are equal, found in one pass of hashing: distinct rows, and the distinct row of each row.

Every row gets a 64-bit hash; rows of one hash are numbered together (:func:`relift.tables.compiled.group`), and each
row is then compared with the first one of its number, entry by entry, so that a collision of hashes cannot merge rows
that differ. If one occurs (one pair of rows in 2^64), hashing starts again with other factors. Cost: O(entries), with
two passes over the data and memory for the hashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Cells, Double, Examples, Hashes, RowNumbers, SparseMatrix, is_sparse
from relift.tables.compiled import all_distinct, group

_BLOCK = 1 << 15
"""Rows that are hashed at a time: their hashes stay in the cache while the columns pass by."""
_FEW = 3
"""Columns that are looked at first: where these are all different, so are the rows."""
_SHIFT = np.uint64(29)
_KEY_LIMIT = 2**62


@final
@dataclass(frozen=True, eq=False)
class RowGroups:
    """Which rows are equal.

    Parameters
    ----------
    labels
        The number of the distinct row of each row, in the order in which they first occur.
    first
        The first row of each number.
    """

    labels: RowNumbers
    first: RowNumbers

    @property
    def size(self) -> int:
        """How many distinct rows there are."""
        return len(self.first)

    def total(self, values: Double) -> Double:
        """Sums of values over the members of each distinct row."""
        return np.bincount(self.labels, values, self.size).astype(np.float64, copy=False)


def group_rows(X: Examples) -> RowGroups:
    """Group equal rows of a matrix; 0 and -0 are equal.

    Parameters
    ----------
    X
        A dense array of numbers without NaN, or a sparse matrix (in any order, with or without stored zeros).

    Examples
    --------
    >>> groups = group_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [-0.0, 1.0]]))
    >>> groups.labels.tolist(), groups.first.tolist()
    ([0, 1, 0, 1], [0, 1])
    """
    if is_sparse(X):
        X = sparse.csr_array(X, copy=True) if not _is_canonical(X) else X
        X.sum_duplicates()
        X.eliminate_zeros()
    elif _few_columns_part_all(X):
        own = np.arange(X.shape[0], dtype=np.int32)
        return RowGroups(own, own)
    random = np.random.default_rng(20160613)
    while True:
        hashes = _sparse_hashes(X, random) if is_sparse(X) else _dense_hashes(X, random)
        groups = RowGroups(*group(hashes.view(np.int64)))
        if groups.size == len(hashes) or _agree(X, groups):
            return groups


def group_columns(columns: Sequence[Cells]) -> RowGroups:
    """Group rows that are given as columns of small whole numbers from 0 on (codes of categories), all of one length.

    Parameters
    ----------
    columns
        At least one; the number of different codes may be large, the codes must not be negative.

    Examples
    --------
    >>> group_columns([np.array([0, 1, 0]), np.array([2, 2, 2])]).labels.tolist()
    [0, 1, 0]
    """
    keys, size = columns[0].astype(np.int64), _extent(columns[0])
    for column in columns[1:]:
        extent = _extent(column)
        if size * extent >= _KEY_LIMIT:
            numbers, first = group(keys)
            keys, size = numbers.astype(np.int64), max(1, len(first))
        keys *= extent
        keys += column
        size *= extent
    return RowGroups(*group(keys))


def codes_of(values: Cells) -> tuple[RowNumbers, Cells]:
    """Number the distinct values of a column in increasing order; the numbers, and the values.

    Examples
    --------
    >>> [part.tolist() for part in codes_of(np.array([3.0, 1.0, 3.0]))]
    [[1, 0, 1], [1.0, 3.0]]
    """
    if values.dtype.kind in "biu" or (values.dtype.kind == "f" and values.dtype.itemsize <= 8):
        words = values.astype(np.float64) + 0.0 if values.dtype.kind == "f" else values.astype(np.int64)
        numbers, first = group(np.ascontiguousarray(words).view(np.int64))
        distinct = values[first]
    else:
        distinct, places = np.unique(values, return_inverse=True)
        return places.astype(np.int32).ravel(), distinct
    order = np.argsort(distinct, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[numbers], distinct[order]


def _extent(column: Cells) -> int:
    return int(column.max(initial=0)) + 1


def _is_canonical(X: SparseMatrix) -> bool:
    return X.format == "csr" and X.has_canonical_format and bool((X.data != 0).all())


def _odd(random: np.random.Generator, size: int) -> Hashes:
    return random.integers(0, 2**63, size, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def _words(values: Cells) -> Hashes:
    """64 bits that are equal if and only if the numbers are."""
    if values.dtype.kind in "bui":
        return values.astype(np.int64).view(np.uint64)
    return (values.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0


def _blocks(size: int) -> Iterator[slice]:
    return (slice(begin, min(begin + _BLOCK, size)) for begin in range(0, size, _BLOCK))


def _few_columns_part_all(X: Double) -> bool:
    """Whether all rows differ in their first columns already, as measured numbers mostly do."""
    few = min(_FEW, X.shape[1])
    if X.shape[1] > X.shape[0] or not few:
        return False
    random = np.random.default_rng(20160613)
    parts = (X[: _BLOCK >> 4, :few], X[:, :few])  # some rows tell soon where they repeat
    return all(all_distinct(_dense_hashes(part, random).view(np.int64)) for part in parts)


def _dense_hashes(X: Double, random: np.random.Generator) -> Hashes:
    factors = _odd(random, X.shape[1])
    if X.shape[1] > X.shape[0]:  # few long rows: sums over the entries of each
        outer, last = _odd(random, 2)
        return np.array([_entry_hashes(row, factors, outer, last).sum(dtype=np.uint64) for row in X], dtype=np.uint64)
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    for part in _blocks(len(hashes)):
        found: Hashes = np.zeros(part.stop - part.start, dtype=np.uint64)
        for column, factor in enumerate(factors):
            found ^= _words(X[part, column])
            found *= factor
            found ^= found >> _SHIFT
        hashes[part] = found
    return hashes


def _entry_hashes(values: Cells, factors: Hashes, outer: np.uint64, last: np.uint64) -> Hashes:
    entries: Hashes = (_words(values) ^ factors) * outer
    entries ^= entries >> _SHIFT
    entries *= last
    entries ^= entries >> np.uint64(32)
    return entries


def _sparse_hashes(X: SparseMatrix, random: np.random.Generator) -> Hashes:
    """Sums (modulo 2^64) of a hash of each entry: no entry, no part in the sum."""
    factors = _odd(random, X.shape[1])
    outer, last = _odd(random, 2)
    entries = _entry_hashes(X.data, factors[X.indices], outer, last)
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return np.asarray(total[X.indptr[1:]] - total[X.indptr[:-1]])


def _agree(X: Examples, groups: RowGroups) -> bool:
    """Whether each row is equal to the first one of its number."""
    if not is_sparse(X):
        parts = _blocks(X.shape[0])
        return all(np.array_equal(X[part], X[groups.first[groups.labels[part]]]) for part in parts)
    lengths = np.diff(X.indptr)
    leaders = groups.first[groups.labels]
    if not np.array_equal(lengths, lengths[leaders]):
        return False
    # Entry k of row i stands k places behind the beginning of its leader.
    places = np.arange(X.nnz) + np.repeat(X.indptr[leaders] - X.indptr[:-1], lengths)
    return np.array_equal(X.indices, X.indices[places]) and np.array_equal(X.data, X.data[places])
