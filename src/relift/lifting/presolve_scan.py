"""What presolve reads of a program first, and takes over from an earlier program where both have it in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Counts, Indices, SparseMatrix
from relift.program.passes import count_entries_of_rows, scan_rows
from relift.program.program import Program
from relift.records import cached_property, quick
from relift.settings import Reading
from relift.symmetry.exact_vectors import VectorImages


@final
@quick
@dataclass(frozen=True, eq=False)
class Scan:
    """What presolve reads of a program first: exact vectors, and the entries of each row that are not 0.

    Parameters
    ----------
    reading
        How floats are read.
    images
        The vectors exactly.
    has_fixed
        Whether the bounds of some variable are equal.
    A
        The matrix of the rows.
    counts
        How many entries of each row are not 0.
    alike_by_count
        Rows that may be multiples, where they were looked for as entries were counted; else None.
    """

    reading: Reading
    images: VectorImages
    has_fixed: bool
    A: SparseMatrix
    counts: Counts
    alike_by_count: Indices | None

    @classmethod
    def of(cls, program: Program, reading: Reading, earlier: tuple[Program, Scan] | None = None) -> Scan:
        """Read a program, but not what the earlier one has in common with it."""
        known = None if earlier is None or earlier[1].reading != reading else (earlier[0], earlier[1].images)
        images = VectorImages.of(program, reading, known)
        bounds = images.short("lb", program.lb), images.short("ub", program.ub)
        has_fixed = bool((bounds[0] == bounds[1]).any())
        if earlier is not None and known is not None and is_same_matrix(program.A, earlier[0].A):
            old = earlier[1]
            return cls(reading, images, has_fixed, old.A, old.counts, old.__dict__.get("alike", old.alike_by_count))
        return cls(reading, images, has_fixed, program.A, *_looked_at(program.A, has_fixed))

    @cached_property
    def alike(self) -> Indices:
        """Rows of two entries or more that may be multiples of another; those of one become bounds."""
        found = self.alike_by_count
        return scan_rows(self.A, least=2)[1] if found is None else found


def _looked_at(A: SparseMatrix, has_fixed: bool) -> tuple[Counts, Indices | None]:
    """Entries of each row, and rows that may be multiples; these are looked for later where variables are fixed."""
    return (count_entries_of_rows(A), None) if has_fixed else scan_rows(A, least=2)


def is_same_matrix(A: SparseMatrix, B: SparseMatrix) -> bool:
    """Whether two matrices have the same entries in the same order."""
    pairs = ((A.indptr, B.indptr), (A.indices, B.indices), (A.data, B.data))
    return A.format == B.format and all(one is other or np.array_equal(one, other) for one, other in pairs)
