"""What :mod:`relift.lifting.duplicate_rows` does, in NumPy, step by step: slow, obvious, and compared with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import FieldElements, Indices, SparseMatrix, Vector
from relift.settings import Reading
from relift.symmetry import finite_field as exact
from relift.symmetry.partition import Partition


def multiples(
    rows: SparseMatrix, reading: Reading, rounding: float
) -> tuple[Indices, Indices, Vector, FieldElements, bool]:
    """Rows that are multiples of an earlier one, that one, the ratios, floats and exact, and if there can be no others.

    Parameters
    ----------
    rows
        CSR array with sorted indices; each row has an entry that is not 0.
    reading
        How floats are read.
    rounding
        By how much floats of multiples may differ, relatively.
    """
    if np.any(rows.data == 0):
        rows = rows.copy()
        rows.eliminate_zeros()
    first = rows.indptr[:-1]
    words = exact.images(rows.data, reading)
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    leading = words[first]
    words = exact.multiply(words, exact.inverse(leading)[row_of])
    scaled = sparse.csr_array((words, rows.indices, rows.indptr), shape=rows.shape)
    # Halves and quarters are single high bits in the field: unmixed, sums of different rows would often be equal.
    mixed = sparse.csr_array((exact.mixed(words), rows.indices, rows.indptr), shape=rows.shape)
    keys = mixed @ np.random.default_rng(0x5EED).integers(1, 1 << 63, rows.shape[1], dtype=np.uint64)
    groups = Partition.from_labels(keys)  # a key is as good as a label
    leader = groups.representatives[groups.labels]
    member = np.flatnonzero(leader != np.arange(rows.shape[0]))
    n_with_words = member.size
    member = member[_rows_equal(scaled, member, leader[member])]
    with np.errstate(over="ignore"):  # then it is not near
        ratio = rows.data[first[member]] / rows.data[first[leader[member]]]
    near = _rows_near(rows, member, leader[member], ratio, rounding)
    member, ratio = member[near], ratio[near]
    ratio_image = exact.multiply(leading[member], exact.inverse(leading[leader[member]]))
    return member, leader[member], ratio, ratio_image, member.size == n_with_words


def _rows_equal(rows: SparseMatrix, first: Indices, second: Indices) -> NDArray[np.bool_]:
    """Whether rows first[k] and second[k] of a CSR matrix hold the same indices and words."""
    lengths = np.diff(rows.indptr)
    same: NDArray[np.bool_] = lengths[first] == lengths[second]
    k = np.flatnonzero(same)
    owner, here, there = _paired_entries(rows, first[k], second[k])
    differs = (rows.indices[here] != rows.indices[there]) | (rows.data[here] != rows.data[there])
    same[k[owner[differs]]] = False
    return same


def _rows_near(
    rows: SparseMatrix, first: Indices, second: Indices, ratio: Vector, rounding: float
) -> NDArray[np.bool_]:
    """Whether row first[k] of a CSR matrix is ratio[k] times row second[k], as long, up to rounding."""
    owner, here, there = _paired_entries(rows, first, second)
    with np.errstate(over="ignore", invalid="ignore"):
        is_near = np.abs(rows.data[here] - ratio[owner] * rows.data[there]) <= rounding * np.abs(rows.data[here])
    near = np.ones(first.size, bool)
    near[owner[~is_near]] = False
    return near


def _paired_entries(rows: SparseMatrix, first: Indices, second: Indices) -> tuple[Indices, Indices, Indices]:
    """For each entry of rows first[k] of a CSR matrix: k, its position, and that of its partner in row second[k]."""
    count = np.diff(rows.indptr)[first]
    owner = np.repeat(np.arange(first.size), count)
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return owner, rows.indptr[first][owner] + offset, rows.indptr[second][owner] + offset
