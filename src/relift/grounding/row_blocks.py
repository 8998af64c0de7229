"""Blocks of rows that are written out only once, straight into the matrix of the whole program.

The coefficients of a term are a small matrix M, the row of M that each row of the statement takes, and a factor for
each row. Written out, one M may be repeated many times; so it is kept like this until the size of everything is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import CoordinateMatrix, Integers, RowNumbers, SparseMatrix, Vector
from relift.tables import compiled

LARGEST_INDEX = 2**31 - 1


@final
@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows ``scale[i] * M[of_row[i]]``, where M has sorted columns and no zeros, and no factor is zero.

    Parameters
    ----------
    starts, indices
        The compressed rows of M.
    data
        Its values; None if all are 1.
    n_columns
        Its width.
    of_row
        Which row of M each row is; None if each is its own.
    scale
        A factor for each row; None if all are 1.
    """

    starts: RowNumbers
    indices: RowNumbers
    data: Vector | None
    n_columns: int
    of_row: RowNumbers | None = None
    scale: Vector | None = None

    @classmethod
    def of(cls, matrix: SparseMatrix) -> RowBlock:
        """A CSR array with sorted columns and no zeros."""
        starts, indices = (np.ascontiguousarray(a, np.int32) for a in (matrix.indptr, matrix.indices))
        return cls(starts, indices, np.ascontiguousarray(matrix.data, np.float64), matrix.shape[1])

    @property
    def lengths(self) -> RowNumbers:
        """How many entries each row has."""
        lengths = np.diff(self.starts)
        return lengths if self.of_row is None else lengths[self.of_row]

    @property
    def nnz(self) -> int:
        """How many entries there are."""
        return self.indices.size if self.of_row is None else int(self.lengths.sum(dtype=np.int64))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (self.starts.size - 1 if self.of_row is None else self.of_row.size), self.n_columns

    def tocsr(self) -> SparseMatrix:
        """Written out, as a CSR array of its own."""
        if self.of_row is None and self.scale is None:
            data = np.ones(self.indices.size) if self.data is None else self.data
            return _csr(self.starts, self.indices, data, self.shape)
        return stacked([[(0, self)]], [self.shape[0]], self.n_columns)

    def tocoo(self) -> CoordinateMatrix:
        """Written out, as a COO array."""
        return self.tocsr().tocoo()


def stacked(statements: Sequence[Sequence[tuple[int, RowBlock]]], sizes: Sequence[int], n_columns: int) -> SparseMatrix:
    """The rows of several statements below each other, as one CSR array.

    Parameters
    ----------
    statements
        For each statement its blocks with the columns where they begin, from left to right and without overlap.
    sizes
        How many rows each statement has.
    n_columns
        The width of the whole.
    """
    counts = np.zeros(sum(sizes), np.int64)
    start = 0
    for blocks, size in zip(statements, sizes, strict=True):
        for _, block in blocks:
            counts[start : start + size] += block.lengths
        start += size
    starts = np.concatenate([[0], np.cumsum(counts)])
    total = int(starts[-1])
    indices, data = np.empty(total, np.int32), np.empty(total)
    following = starts[:-1].copy()
    start = 0
    for blocks, size in zip(statements, sizes, strict=True):
        for column, block in blocks:
            into = following[start : start + size], indices, data
            compiled.place_rows((block.starts, block.indices, block.data), block.of_row, block.scale, column, into)
        start += size
    return _csr(starts, indices, data, (counts.size, n_columns))


def _csr(starts: Integers, indices: Integers, data: Vector, shape: tuple[int, int]) -> SparseMatrix:
    kind = np.int32 if data.size <= LARGEST_INDEX else np.int64
    matrix: SparseMatrix = sparse.csr_array(shape)
    matrix.indptr, matrix.indices = starts.astype(kind, copy=False), indices.astype(kind, copy=False)
    matrix.data = data
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix
