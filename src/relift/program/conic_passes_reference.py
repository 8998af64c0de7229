"""What :mod:`relift.program.conic_passes` does, in NumPy, step by step: slow, obvious, and compared with it."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from relift.arrays import Indices, Integers, SparseMatrix, Vector
from relift.program.conic_rows import ConicRows
from relift.program.magnitudes import largest_by_group, largest_of_columns, largest_of_rows, transposed_product
from relift.program.sparse_structure import unchecked


def stacked(above: SparseMatrix, below: SparseMatrix, cone_of_row: Indices, n_cones: int) -> SparseMatrix:
    """Two CSR arrays, one below the other, and a column for each cone."""
    m, k = above.shape[0], below.shape[0]
    shape = (m + k, above.shape[1] + n_cones)
    count = above.nnz + below.nnz + k
    index_type = np.int32 if max(count, *shape) < 2**31 else np.int64
    data = np.empty(count)
    indices: Integers = np.empty(count, index_type)
    offsets: Integers = np.empty(shape[0] + 1, index_type)
    offsets[: m + 1] = above.indptr
    offsets[m:] = above.nnz + below.indptr + np.arange(k + 1)
    indices[: above.nnz], data[: above.nnz] = above.indices, above.data
    place = above.nnz + np.arange(below.nnz) + np.repeat(np.arange(k), np.diff(below.indptr))
    indices[place], data[place] = below.indices, below.data
    last = offsets[m + 1 :] - 1
    indices[last], data[last] = above.shape[1] + cone_of_row, 1.0
    return unchecked(sparse.csr_array, data, indices, offsets, shape)


def column_sums(rows: ConicRows, v: Vector | None) -> tuple[Vector, Vector, Vector, Vector]:
    """One vector after the other."""
    A, n = rows.A, rows.n_variables
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        sides = np.repeat(np.abs(rows.b), np.diff(A.indptr))
        ratios = np.where(A.data != 0, sides / np.abs(A.data), 0.0)
    natural, marks = largest_by_group(A.indices, ratios, n), np.zeros(n)
    marks[A.indices] = 1.0
    if v is None:
        return natural, np.zeros(n), np.zeros(n), marks
    return natural, largest_of_columns(A, np.abs(v)), transposed_product(A, v), marks


def slack_and_rooms(rows: ConicRows, x: Vector, sizes: Vector, common: float) -> tuple[Vector, Vector]:
    """By rows, then by cones."""
    own = np.maximum(np.abs(rows.b), largest_of_rows(rows.A, sizes))
    of_cone = np.maximum.reduceat(own, rows.starts)[rows.cone_of_row]
    return rows.slack(x), np.where(own > 0, own, np.where(of_cone > 0, of_cone, common))


def push_heads(heads: Indices, lengths: Indices, room: Vector, s: Vector) -> Vector:
    """All cones together."""
    owner, starts = np.repeat(np.arange(heads.size), lengths), np.cumsum(lengths) - lengths
    at = heads[owner] + np.arange(owner.size) - starts[owner]
    part = s[at]
    # Scaled, so that squares of large and small entries neither overflow nor vanish.
    size = np.maximum.reduceat(np.abs(part), starts)
    size = np.where(size > 0, size, 1.0)
    squares = (part / size[owner]) ** 2
    squares[starts] = 0.0  # of heads
    excess = np.maximum(size * np.sqrt(np.bincount(owner, squares, heads.size)) - s[heads], 0.0)
    s[heads] += excess
    return np.asarray(excess / np.maximum.reduceat(np.abs(room[at]), starts), np.float64)
