"""What :mod:`relift.program.quadratic_passes` does, in NumPy: slow, obvious, and compared with it."""

from __future__ import annotations

import numpy as np

from relift.arrays import Indices, SparseMatrix, Vector
from relift.program.magnitudes import (
    largest_by_group,
    largest_of_columns,
    largest_of_rows,
    ratios_of_columns,
    transposed_product,
)

Entries = tuple[Indices, Indices, Indices, Vector]

Constraints = tuple[Entries, SparseMatrix, Vector]
"""Entries of all P_k, the q_k by rows, and the right-hand sides."""

OfVariables = tuple[Vector, Vector, Vector, Vector, Vector]
"""Of each variable the largest level at which it is noticed, the largest term of the gradient, the gradient, and 1
where it is held on the way down and on the way up."""


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


def columns_of_constraints(constraints: Constraints, x: Vector, z: Vector | None, of_cones: OfVariables) -> OfVariables:
    """What constraints say about each variable, on top of what cones say."""
    (owner, first, second, values), q, r = constraints
    natural, terms, sums, below, above = of_cones
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        levels = np.sqrt(2.0 * np.abs(r[owner]) / np.abs(values))
    levels = np.where((values != 0) & (first == second), levels, 0.0)
    noticed = np.maximum(ratios_of_columns(q, np.abs(r)), largest_by_group(first, levels, x.size))
    natural = np.maximum(natural, noticed)
    if z is None:
        return natural, terms, sums, below, above
    curved, largest = sums_of_variables((owner, first, second, values), x, z)
    below, above = below.copy(), above.copy()
    below[first[values != 0]] = above[first[values != 0]] = 1.0
    above[q.indices[q.data > 0]] = 1.0
    below[q.indices[q.data < 0]] = 1.0
    terms = np.maximum(np.maximum(terms, largest_of_columns(q, z)), largest)
    return natural, terms, curved + transposed_product(q, z) + sums, below, above


def excess_of_constraints(constraints: Constraints, x: Vector, sizes: Vector, common: float) -> tuple[float, Vector]:
    """How far constraints are broken, relative to their largest products, and f_k(x) - r_k."""
    entries, q, r = constraints
    over = 0.5 * sums_of_constraints(entries, x, r.size) + q @ x - r
    products = np.maximum(largest_of_rows(q, sizes), largest_of_constraints(entries, sizes, r.size))
    products = np.where(products > 0, products, common)
    broken = np.maximum(over, 0.0) / np.maximum(products, np.abs(r))
    return float(broken.max(initial=0.0)), over
