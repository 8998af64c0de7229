"""Sums over the entries of quadratic constraints, each in one compiled pass.

The same in NumPy stands in :mod:`.quadratic_passes_reference`. The entries of all matrices come as (owner, row, column,
value), as :class:`~relift.program.quadratic_rows.QuadraticRows` holds them. Both ways multiply and add in the same
order, so that they give the same floats.
"""

from __future__ import annotations

import numpy as np

from relift.arrays import Vector
from relift.program import passes
from relift.program import quadratic_passes_reference as reference
from relift.program.quadratic_passes_reference import Entries


def sums_of_constraints(entries: Entries, x: Vector, n_constraints: int) -> Vector:
    """The sum of p_ij x_i x_j for each constraint.

    Examples
    --------
    >>> entries = np.array([0, 1]), np.array([0, 1]), np.array([0, 1]), np.array([2.0, 3.0])
    >>> sums_of_constraints(entries, np.array([1.0, 2.0]), 2).tolist()
    [2.0, 12.0]
    """
    if passes.core is None:
        return reference.sums_of_constraints(entries, x, n_constraints)
    sums = np.zeros(n_constraints)
    passes.core.quadratic_values(_contiguous(entries), _floats(x), sums)
    return sums


def largest_of_constraints(entries: Entries, sizes: Vector, n_constraints: int) -> Vector:
    """The largest |p_ij| s_i s_j / 2 for each constraint, with s the sizes of variables; 0 where there are no entries.

    Examples
    --------
    >>> entries = np.array([0, 0]), np.array([0, 1]), np.array([0, 1]), np.array([2.0, 3.0])
    >>> largest_of_constraints(entries, np.array([1.0, 2.0]), 1).tolist()
    [6.0]
    """
    if passes.core is None:
        return reference.largest_of_constraints(entries, sizes, n_constraints)
    largest = np.zeros(n_constraints)
    passes.core.quadratic_largest(_contiguous(entries), _floats(sizes), largest)
    return largest


def sums_of_variables(entries: Entries, x: Vector, z: Vector) -> tuple[Vector, Vector]:
    """The sum of z_k p_ij x_j for each variable, and the largest of its terms; 0 where there are no entries.

    Examples
    --------
    >>> entries = np.array([0, 0]), np.array([0, 0]), np.array([0, 1]), np.array([2.0, -3.0])
    >>> [part.tolist() for part in sums_of_variables(entries, np.array([1.0, 2.0]), np.ones(1))]
    [[-4.0, 0.0], [6.0, 0.0]]
    """
    if passes.core is None:
        return reference.sums_of_variables(entries, x, z)
    sums, largest = np.zeros(x.size), np.zeros(x.size)
    passes.core.quadratic_gradient(_contiguous(entries), _floats(x), _floats(z), sums, largest)
    return sums, largest


def _contiguous(entries: Entries) -> Entries:
    owner, first, second, values = entries
    places = (np.ascontiguousarray(each, np.int64) for each in (owner, first, second))
    return *places, _floats(values)  # type: ignore[return-value]


def _floats(vector: Vector) -> Vector:
    return np.ascontiguousarray(vector, np.float64)
