"""What :mod:`relift.program.quadratic_passes` does, in NumPy: slow, obvious, and compared with it."""

from __future__ import annotations

import numpy as np

from relift.arrays import Indices, Vector
from relift.program.magnitudes import largest_by_group

Entries = tuple[Indices, Indices, Indices, Vector]


def sums_of_constraints(entries: Entries, x: Vector, n_constraints: int) -> Vector:
    """The sum of p_ij x_i x_j for each constraint."""
    owner, first, second, values = entries
    return np.asarray(np.bincount(owner, values * x[first] * x[second], n_constraints), dtype=np.float64)


def largest_of_constraints(entries: Entries, sizes: Vector, n_constraints: int) -> Vector:
    """The largest |p_ij| s_i s_j / 2 for each constraint."""
    owner, first, second, values = entries
    return largest_by_group(owner, 0.5 * np.abs(values) * sizes[first] * sizes[second], n_constraints)


def sums_of_variables(entries: Entries, x: Vector, z: Vector) -> tuple[Vector, Vector]:
    """The sum of z_k p_ij x_j for each variable, and the largest of its terms."""
    owner, first, second, values = entries
    terms = z[owner] * values * x[second]
    sums = np.asarray(np.bincount(first, terms, x.size), dtype=np.float64)
    return sums, largest_by_group(first, np.abs(terms), x.size)
