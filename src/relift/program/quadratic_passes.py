"""Sums over the entries of quadratic constraints, each in one compiled pass.

The same in NumPy stands in :mod:`.quadratic_passes_reference`. The entries of all matrices come as (owner, row, column,
value), as :class:`~relift.program.quadratic_rows.QuadraticRows` holds them. Both ways multiply and add in the same
order, so that they give the same floats.
"""

from __future__ import annotations

import numpy as np

from relift.arrays import SparseMatrix, Vector
from relift.program import passes
from relift.program import quadratic_passes_reference as reference
from relift.program.quadratic_passes_reference import Constraints, Entries, OfVariables


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


def columns_of_constraints(constraints: Constraints, x: Vector, z: Vector | None, of_cones: OfVariables) -> OfVariables:
    """What constraints say about each variable, on top of what cones say, whose arrays are changed.

    Parameters
    ----------
    constraints
        All of them.
    x, z
        A point, and dual values that are not negative; without these only the first of the five is made.
    of_cones
        What cones say.

    Examples
    --------
    >>> from scipy import sparse
    >>> entries = np.array([0]), np.array([0]), np.array([0]), np.array([2.0])
    >>> constraints = entries, sparse.csr_array([[0.0, -4.0]]), np.array([9.0])
    >>> nothing = tuple(np.zeros((5, 2)))
    >>> [part.tolist() for part in columns_of_constraints(constraints, np.ones(2), np.ones(1), nothing)]
    [[3.0, 2.25], [2.0, 4.0], [2.0, -4.0], [1.0, 1.0], [1.0, 0.0]]
    """
    compiled = passes.core_for(constraints[1])
    if compiled is None:
        return reference.columns_of_constraints(constraints, x, z, of_cones)
    compiled.quadratic_columns(
        compiled_constraints(constraints), _floats(x), None if z is None else _floats(z), of_cones
    )
    return of_cones


def excess_of_constraints(constraints: Constraints, x: Vector, sizes: Vector, common: float) -> tuple[float, Vector]:
    """How far constraints are broken, relative to the largest product or right-hand side of each, and f_k(x) - r_k.

    Parameters
    ----------
    constraints
        All of them.
    x, sizes
        A point, and how large each entry of it counts.
    common
        What constraints without any product are measured by.

    Examples
    --------
    >>> from scipy import sparse
    >>> entries = np.array([0]), np.array([0]), np.array([0]), np.array([2.0])
    >>> constraints = entries, sparse.csr_array([[0.0, -4.0]]), np.array([1.0])
    >>> excess, over = excess_of_constraints(constraints, np.array([3.0, 0.0]), np.array([4.0, 1.0]), 1.0)
    >>> excess, over.tolist()
    (0.5, [8.0])
    """
    compiled = passes.core_for(constraints[1])
    if compiled is None:
        return reference.excess_of_constraints(constraints, x, sizes, common)
    over = np.empty(constraints[2].size)
    excess = compiled.quadratic_excess(compiled_constraints(constraints), _floats(x), _floats(sizes), common, over)
    return float(excess), over


def compiled_constraints(
    constraints: Constraints, *others: SparseMatrix | None
) -> tuple[Entries, passes.Parts, Vector]:
    """Constraints as the compiled passes take them, with indices as wide as those of other matrices.

    Parameters
    ----------
    constraints
        All of them.
    *others
        Matrices that are handed over together with them.
    """
    entries, q, r = constraints
    return _contiguous(entries), passes.parts_of(q, *others), _floats(r)


def _contiguous(entries: Entries) -> Entries:
    owner, first, second, values = entries
    places = (np.ascontiguousarray(each, np.int64) for each in (owner, first, second))
    return *places, _floats(values)  # type: ignore[return-value]


def _floats(vector: Vector) -> Vector:
    return np.ascontiguousarray(vector, np.float64)
