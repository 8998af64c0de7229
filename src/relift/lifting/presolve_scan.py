"""What presolve reads of a program first, and takes over from an earlier program where both have it in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Indices, SparseMatrix
from relift.program.passes import scan_rows
from relift.program.program import Program
from relift.records import quick
from relift.settings import Reading
from relift.symmetry.exact_vectors import VectorImages


@final
@quick
@dataclass(frozen=True, eq=False)
class Scan:
    """What presolve reads of a program first: exact vectors, entries of each row, rows that may be multiples."""

    reading: Reading
    images: VectorImages
    counts: Indices
    alike: Indices

    @classmethod
    def of(cls, program: Program, reading: Reading, earlier: tuple[Program, Scan] | None = None) -> Scan:
        """Read a program, but not what the earlier one has in common with it."""
        if earlier is None or earlier[1].reading != reading:
            # Singletons become bounds.
            return cls(reading, VectorImages.of(program, reading), *scan_rows(program.A, least=2))
        before, old = earlier
        images = VectorImages.of(program, reading, (before, old.images))
        if is_same_matrix(program.A, before.A):
            return cls(reading, images, old.counts, old.alike)
        return cls(reading, images, *scan_rows(program.A, least=2))


def is_same_matrix(A: SparseMatrix, B: SparseMatrix) -> bool:
    """Whether two matrices have the same entries in the same order."""
    pairs = ((A.indptr, B.indptr), (A.indices, B.indices), (A.data, B.data))
    return A.format == B.format and all(one is other or np.array_equal(one, other) for one, other in pairs)
