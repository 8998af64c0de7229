"""The objects of the theorems, dense and literal: partition matrices, and when a partition is equitable or counting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relift.program.program import Program
from relift.symmetry.partition import Partition

Matrix = NDArray[np.float64]

RUNNING_Q = np.array([[1.0, 0, -1, 0], [0, 2, 0, -2], [-1, 0, 1, 0], [0, -2, 0, 2]])
"""Q of the running example; the program has P = 2Q."""


def partition_matrix(partition: Partition) -> Matrix:
    """X = S (S'S)^-1 S': the average over classes."""
    S = partition.indicator.toarray()
    return S @ np.diag(1.0 / partition.class_sizes) @ S.T


def commutes(X: Matrix, Q: Matrix, tolerance: float = 1e-12) -> bool:
    """Whether XQ = QX."""
    return bool(np.abs(X @ Q - Q @ X).max() <= tolerance * max(1.0, np.abs(Q).max()))


def is_counting(K: Matrix, partition: Partition) -> bool:
    """Whether members of a class have equal diagonals and see equal multisets of entries in every class, bit by bit."""
    for members in map(partition.members, range(partition.n_classes)):
        for others in map(partition.members, range(partition.n_classes)):
            seen = {(*sorted(K[i, others[others != i]]), K[i, i]) for i in members}
            if len(seen) > 1:
                return False
    return True


def row_violation(program: Program, x: Matrix) -> float:
    """By how much a point breaks rows and bounds."""
    value = program.A @ x
    gaps = [program.l - value, value - program.u, program.lb - x, x - program.ub]
    return float(max(np.max(gap, initial=0.0) for gap in gaps))
