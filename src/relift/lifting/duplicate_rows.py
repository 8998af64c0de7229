"""Rows that are multiples of each other, found by exact words and believed only after comparison.

Compiled; the same in NumPy stands in :mod:`~relift.lifting.duplicate_rows_reference`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from relift.arrays import FieldElements, Indices, SparseMatrix, Vector
from relift.lifting import duplicate_rows_reference
from relift.program.index_sets import all_of
from relift.program.other_order import by_rows
from relift.program.passes import core_for, parts_of, scan_rows, submatrix
from relift.settings import Reading

ROUNDING = 1e-12
"""Floats that stand for one exact number differ by no more than this, relative to the terms that were added."""


@final
@dataclass(frozen=True, eq=False)
class Duplicates:
    """Rows ``member`` that are ``ratio`` times the row ``leader``, which comes first; ``ratio_image`` is exact.

    Where they are complete, no two of the rows without the members are multiples of each other.
    """

    member: Indices
    leader: Indices
    ratio: Vector
    ratio_image: FieldElements
    is_complete: bool

    def of(self, rows: Indices) -> Duplicates:
        """The same by the numbers of the rows, of which these are the places."""
        return replace(self, member=rows[self.member], leader=rows[self.leader])


def find_duplicates(A: SparseMatrix, reading: Reading, candidates: Indices | None = None) -> Duplicates | None:
    """Rows that are exact multiples of an earlier row; None where there can be none.

    Each row is divided, in the field, by its entry in its first column; equal rows then have equal words
    sum_j h_j mix(a_ij) mod 2^64 with random h. Candidates are compared entry by entry before they are believed, in
    the field and as floats: 1 and 2^61 are one element of the field.

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
    >>> from scipy import sparse
    >>> found = find_duplicates(sparse.csr_array([[1.0, 2.0], [0.0, 1.0], [-2.0, -4.0]]), "decimal")
    >>> found.member.tolist(), found.leader.tolist(), found.ratio.tolist()
    ([2], [0], [-2.0])
    """
    if candidates is None:
        candidates = scan_rows(A)[1]
    if candidates.size < 2:
        return None
    member, leader, ratio, ratio_image, is_complete = _multiples(A, reading, candidates)
    if member.size == 0 and is_complete:
        return None
    return Duplicates(candidates[member], candidates[leader], ratio, ratio_image, is_complete)


def _multiples(
    A: SparseMatrix, reading: Reading, candidates: Indices
) -> tuple[Indices, Indices, Vector, FieldElements, bool]:
    """Members and leaders, by their places among the candidates, the ratios, and whether there can be no others."""
    compiled = core_for(A)
    if compiled is not None and A.format == "csr" and A.has_sorted_indices:
        rows, wanted = A, np.ascontiguousarray(candidates, np.int64)
    else:
        rows, wanted = by_rows(submatrix(A, candidates, None)), all_of(candidates.size)
        if not rows.has_sorted_indices:
            rows = rows.sorted_indices()
    if compiled is None:
        return duplicate_rows_reference.multiples(rows, reading, ROUNDING)
    member, leader, ratio, ratio_image, is_complete = compiled.find_multiples(
        parts_of(rows), rows.shape[1], wanted, reading == "decimal", ROUNDING
    )
    return (
        np.frombuffer(member, np.int64), np.frombuffer(leader, np.int64),
        np.frombuffer(ratio), np.frombuffer(ratio_image, np.uint64), is_complete,
    )  # fmt: skip
