"""Rows that are multiples of each other, found by exact words and believed only after comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import FieldElements, Flags, Indices, SparseMatrix, Vector
from relift.program.passes import scan_rows, submatrix
from relift.settings import Reading
from relift.symmetry import finite_field as exact
from relift.symmetry.partition import Partition

ROUNDING = 1e-12
"""Floats that stand for one exact number differ by no more than this, relative to the terms that were added."""


@final
@dataclass(frozen=True, eq=False)
class Duplicates:
    """Rows ``member`` that are ``ratio`` times the row ``leader``, which comes first; ``ratio_image`` is exact."""

    member: Indices
    leader: Indices
    ratio: Vector
    ratio_image: FieldElements

    def among(self, flags: Flags) -> Duplicates:
        """The same, by their places among the rows that are flagged, as all of these are."""
        place = np.cumsum(flags) - 1
        return Duplicates(place[self.member], place[self.leader], self.ratio, self.ratio_image)


def find_duplicates(A: SparseMatrix, reading: Reading, candidates: Indices | None = None) -> Duplicates | None:
    """Rows that are exact multiples of an earlier row.

    Each row is divided, in the field, by its entry in its first column; equal rows then have equal words
    sum_j h_j a_ij mod 2^64 with random h. Candidates are compared entry by entry before they are believed, in the field
    and as floats: 1 and 2^61 are one element of the field.

    Parameters
    ----------
    A
        CSC or CSR array.
    reading
        How floats are read.
    candidates
        Rows among which all multiples are, ascending (:func:`relift.program.passes.scan_rows`); None to look for them.

    Examples
    --------
    >>> found = find_duplicates(sparse.csr_array([[1.0, 2.0], [0.0, 1.0], [-2.0, -4.0]]), "decimal")
    >>> found.member.tolist(), found.leader.tolist(), found.ratio.tolist()
    ([2], [0], [-2.0])
    """
    if candidates is None:
        candidates = scan_rows(A)[1]
    if candidates.size < 2:
        return None
    part = submatrix(A, candidates, None).tocsr()
    if part is A or np.any(part.data == 0):
        part = part.copy()
        part.eliminate_zeros()
    part.sort_indices()
    first = part.indptr[:-1]
    words = exact.images(part.data, reading)
    row_of = np.repeat(np.arange(candidates.size), np.diff(part.indptr))
    leading = words[first]
    words = exact.multiply(words, exact.inverse(leading)[row_of])
    scaled = sparse.csr_array((words, part.indices, part.indptr), shape=part.shape)
    keys = scaled @ np.random.default_rng(0x5EED).integers(1, 1 << 63, A.shape[1], dtype=np.uint64)
    groups = Partition.from_labels(keys)  # a key is as good as a label
    leader = groups.representatives[groups.labels]
    member = np.flatnonzero(leader != np.arange(candidates.size))
    if member.size == 0:
        return None
    same = _rows_equal(scaled, member, leader[member])
    member = member[same]
    if member.size == 0:
        return None
    with np.errstate(over="ignore"):  # then it is not near
        ratio = part.data[first[member]] / part.data[first[leader[member]]]
    near = _rows_near(part, member, leader[member], ratio)
    member, ratio = member[near], ratio[near]
    if member.size == 0:
        return None
    lead = leader[member]
    ratio_image = exact.multiply(leading[member], exact.inverse(leading[lead]))
    return Duplicates(candidates[member], candidates[lead], ratio, ratio_image)


def _rows_equal(rows: SparseMatrix, first: Indices, second: Indices) -> NDArray[np.bool_]:
    """Whether rows first[k] and second[k] of a CSR matrix hold the same indices and words."""
    lengths = np.diff(rows.indptr)
    same: NDArray[np.bool_] = lengths[first] == lengths[second]
    k = np.flatnonzero(same)
    owner, here, there = _paired_entries(rows, first[k], second[k])
    differs = (rows.indices[here] != rows.indices[there]) | (rows.data[here] != rows.data[there])
    same[k[owner[differs]]] = False
    return same


def _rows_near(rows: SparseMatrix, first: Indices, second: Indices, ratio: Vector) -> NDArray[np.bool_]:
    """Whether row first[k] of a CSR matrix is ratio[k] times row second[k], as long, up to rounding."""
    owner, here, there = _paired_entries(rows, first, second)
    with np.errstate(over="ignore", invalid="ignore"):
        is_near = np.abs(rows.data[here] - ratio[owner] * rows.data[there]) <= ROUNDING * np.abs(rows.data[here])
    near = np.ones(first.size, bool)
    near[owner[~is_near]] = False
    return near


def _paired_entries(rows: SparseMatrix, first: Indices, second: Indices) -> tuple[Indices, Indices, Indices]:
    """For each entry of rows first[k] of a CSR matrix: k, its position, and that of its partner in row second[k]."""
    count = np.diff(rows.indptr)[first]
    owner = np.repeat(np.arange(first.size), count)
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return owner, rows.indptr[first][owner] + offset, rows.indptr[second][owner] + offset
