"""The classes that approximate lifting starts from.

Nothing here is proved: any classes will do as a start, since every round proves its own bounds
(:mod:`~relift.approximate.lower_bound`) and classes that cost too much are split
(:mod:`~relift.approximate.splitting`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relift.approximate.budget import Steps
from relift.approximate.near_equal import clustered_classes, near_equal_classes
from relift.approximate.restriction import separable_bounds
from relift.approximate.splitting import rows_of_variables
from relift.arrays import Array
from relift.errors import PartitionError
from relift.program.program import Program
from relift.symmetry.find import Symmetry
from relift.symmetry.partition import Partition

if TYPE_CHECKING:
    from relift.approximate.options import Approximation

COARSEST = 0.3
"""No tolerance is tried beyond this one."""


def first_classes(program: Program, approximation: Approximation, kept: NDArray[np.int64], n_ground: int) -> Symmetry:
    """Return the classes that approximate lifting starts from; see :func:`search_first_classes`.

    Examples
    --------
    >>> from relift.approximate.options import Approximation
    >>> program = Program(q=[1, 1.001, 1.002, 5], A=[[1, 1, 1, 1]], l=[3], lb=0)
    >>> first_classes(program, Approximation(), np.arange(4), 4).variables.labels.tolist()
    [0, 0, 0, 1]
    """
    steps = search_first_classes(program, approximation, kept, n_ground, 0.0)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Symmetry = end.value
            return found


def search_first_classes(
    program: Program, approximation: Approximation, kept: NDArray[np.int64], n_ground: int, cost: float
) -> Steps[Symmetry]:
    """Search the classes that approximate lifting starts from, in steps.

    Parameters
    ----------
    program
        A minimisation, already presolved.
    approximation
        How to find them.
    kept
        Which variables of the original program are left in ``program``.
    n_ground
        How many variables the original program has.
    cost
        Seconds that one search for nearly equal numbers should take.

    Raises
    ------
    PartitionError
        If a partition of another size than the original program was given.
    """
    n, limit = program.n_variables, approximation.max_classes
    tolerance = approximation.tolerance_in_use
    yield cost
    if approximation.partition is not None:
        found = _given_classes(program, approximation.partition, kept, n_ground, tolerance)
    elif approximation.classes is not None or approximation.clusterer is not None:
        n_classes = approximation.classes or max(8, math.isqrt(n))
        yield cost + _clustering_seconds(program, n_classes)
        found = clustered_classes(program, n_classes, approximation.clusterer)
    else:
        found = near_equal_classes(program, tolerance)
        while approximation.tolerance is None and 2 * found.variables.n_classes > n > 16 and tolerance < COARSEST:
            tolerance = min(COARSEST, 5.0 * tolerance)
            yield cost
            coarser = near_equal_classes(program, tolerance)
            if coarser.variables.n_classes < found.variables.n_classes:
                found = coarser
        if approximation.tolerance is None and 2 * found.variables.n_classes > n > 16:
            n_classes = max(8, math.isqrt(n))
            yield cost + _clustering_seconds(program, n_classes)
            found = clustered_classes(program, n_classes)
    if limit is not None and found.variables.n_classes > limit:
        yield cost + _clustering_seconds(program, limit)
        found = clustered_classes(program, limit)
    variables = separable_bounds(program, found.variables)
    return Symmetry(variables, found.rows, found.row_scales, found.method)


def _clustering_seconds(program: Program, n_classes: int) -> float:
    """What Lloyd's method takes: some twenty rounds of distances between signatures and centres, and their seeds."""
    return 1e-8 * 30.0 * (program.n_variables + program.n_rows) * n_classes


def _given_classes(
    program: Program, given: Partition | ArrayLike, kept: NDArray[np.int64], n_ground: int, tolerance: float
) -> Symmetry:
    labels = labels_of(given, n_ground)
    variables = Partition.from_labels(labels[kept])
    rows = rows_of_variables(program, variables, tolerance)
    return Symmetry(variables, rows, np.ones(program.n_rows), "partition as given")


def labels_of(given: Partition | ArrayLike, n_variables: int) -> Array:
    """Return one label for each variable, from a partition or labels.

    Raises
    ------
    PartitionError
        If there are more or fewer of them than variables.

    Examples
    --------
    >>> labels_of([0, 1, 0], 3).tolist()
    [0, 1, 0]
    """
    labels = given.labels if isinstance(given, Partition) else np.asarray(given)
    if labels.shape != (n_variables,):
        raise PartitionError(
            f"the partition has {labels.size} elements, but the program has {n_variables} variables.",
            "Give one label for each variable.",
        )
    return labels
