r"""Is a pair of partitions equitable? Checked on the floats, independently of how the classes were found.

With X and Y the averages over variable and row classes, an equitable pair has :math:`XP = PX`, :math:`YA = AX` and
vectors that are constant on classes. For random numbers g, one for each class, this means that

.. math:: A\,g_{class} \text{ is constant on row classes},\quad A^\top h_{class},\; P\,g_{class}
   \text{ on variable classes}

(Freivalds' test, O(nnz)); a partition that is wrong by more than rounding fails it with probability one. Rows are
compared after division by their scales. For cones the conditions of :mod:`relift.symmetry.cone_refinement` are counted
out besides.
"""

from __future__ import annotations

import numpy as np

from relift.arrays import Array, Vector
from relift.program.conic_rows import ConicRows
from relift.program.passes import products_and_sizes, spread
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.symmetry.partition import Partition

TOLERANCE = 1e-10
"""The largest relative difference inside a class that passes as rounding."""


def distance_from_equitable(program: Program, variables: Partition, rows: Partition, row_scales: Vector) -> float:
    """The largest relative difference inside a class, over all conditions; rounding only, if the pair is equitable.

    Examples
    --------
    >>> program = Program(P=[[2, 1], [1, 2]], q=[1, 1], A=[[1, 1]], u=[1])
    >>> distance_from_equitable(program, Partition.one_class(2), Partition.one_class(1), np.ones(1))
    0.0
    """
    distance = 0.0
    for vector in (program.q, program.lb, program.ub):
        distance = max(distance, _spread(vector, np.abs(vector), variables))
    lower = np.where(row_scales > 0, program.l, program.u) / row_scales
    upper = np.where(row_scales > 0, program.u, program.l) / row_scales
    for vector in (lower, upper):
        distance = max(distance, _spread(vector, np.abs(vector), rows))
    random = np.random.default_rng(20160613)
    g, h = random.uniform(1.0, 2.0, variables.n_classes), random.uniform(1.0, 2.0, rows.n_classes)
    g *= random.choice([-1.0, 1.0], g.size)
    h *= random.choice([-1.0, 1.0], h.size)
    if program.P is not None:
        sums, sizes, _, _ = products_and_sizes(program.P, g[variables.labels], None)
        distance = max(distance, _spread(sums, sizes, variables))
    if program.A.nnz:
        sums, sizes, back, back_sizes = products_and_sizes(program.A, g[variables.labels], h[rows.labels] / row_scales)
        distance = max(distance, _spread(sums / row_scales, sizes / np.abs(row_scales), rows))
        distance = max(distance, _spread(back, back_sizes, variables))
    return distance


def distance_of_quadratic_rows(rows: QuadraticRows, variables: Partition, constraints: Partition) -> float:
    """The same for quadratic constraints: both conditions of :mod:`relift.symmetry.quadratic_refinement`, in floats."""
    if len(rows) == 0:
        return 0.0
    random = np.random.default_rng(20160614)
    g = random.uniform(1.0, 2.0, variables.n_classes)[variables.labels]
    h = random.uniform(1.0, 2.0, constraints.n_classes)[constraints.labels]
    sizes = np.asarray(np.bincount(rows.owner, np.abs(rows.values), len(rows))) + abs(rows.q).sum(axis=1)
    by_variable = np.asarray(np.bincount(rows.first, np.abs(rows.values), g.size)) + abs(rows.q).sum(axis=0)
    return max(
        _spread(rows.r, np.abs(rows.r), constraints),
        _spread(rows.values_at(g), 4.0 * sizes, constraints),
        _spread(rows.gradient(g, h), 4.0 * by_variable, variables),
        _spread(rows.q.T @ h, 2.0 * by_variable, variables),
    )


def distance_of_conic_rows(rows: ConicRows, variables: Partition, conic_rows: Partition, cones: Partition) -> float:
    """The same for conic rows; infinite if positions or counts of rows in the cones of a class differ.

    Examples
    --------
    Two tails of one cone may be merged, those of two cones only together with the cones:

    >>> from relift.program.cones import SecondOrder
    >>> rows = ConicRows(np.zeros((4, 1)), np.zeros(4), [SecondOrder(2), SecondOrder(2)])
    >>> one, two = Partition.one_class(1), Partition.discrete(2)
    >>> tails = Partition.from_labels([0, 1, 2, 1])
    >>> distance_of_conic_rows(rows, one, tails, two), distance_of_conic_rows(rows, one, tails, Partition.one_class(2))
    (inf, inf)
    >>> distance_of_conic_rows(rows, one, Partition.from_labels([0, 1, 0, 1]), Partition.one_class(2))
    0.0
    """
    if len(rows) == 0:
        return 0.0
    if not _cones_fit(rows, conic_rows, cones):
        return np.inf
    random = np.random.default_rng(20160615)
    g = random.uniform(1.0, 2.0, variables.n_classes) * random.choice([-1.0, 1.0], variables.n_classes)
    h = random.uniform(1.0, 2.0, conic_rows.n_classes) * random.choice([-1.0, 1.0], conic_rows.n_classes)
    sums, sizes, back, back_sizes = products_and_sizes(rows.A, g[variables.labels], h[conic_rows.labels])
    return max(
        _spread(rows.b, np.abs(rows.b), conic_rows),
        _spread(sums, sizes, conic_rows),
        _spread(back, back_sizes, variables),
    )


def _cones_fit(rows: ConicRows, conic_rows: Partition, cones: Partition) -> bool:
    """Whether rows of a class have one position, and every cone of a class equally many of each class of rows."""
    kinds = np.zeros(len(rows), np.int64)
    for number, found in enumerate((rows.layout.exponential, rows.layout.power, rows.layout.semidefinite), start=1):
        kinds[found] = number
    place = np.arange(rows.n_rows) - rows.starts[rows.cone_of_row]
    layout = rows.layout
    place[layout.tails] = 1
    place[layout.products] = -1
    exponents = np.zeros(rows.n_rows)
    exponents[layout.arguments] = layout.exponents
    place[layout.arguments] = 0
    for vector, classes in ((kinds, cones), (kinds[rows.cone_of_row], conic_rows), (place, conic_rows)):
        if not is_constant_on_classes(vector, classes):
            return False
    if _spread(exponents, np.abs(exponents), conic_rows) > TOLERANCE:
        return False
    # Rows of class r are |r| / m in each of the m cones of one class: each pair of a cone and a row class counts so.
    pairs, count = np.unique(rows.cone_of_row * conic_rows.n_classes + conic_rows.labels, return_counts=True)
    cone, row_class = np.divmod(pairs, conic_rows.n_classes)
    if not is_constant_on_classes(cones.labels[rows.cone_of_row], conic_rows):
        return False
    return bool(np.all(count * cones.class_sizes[cones.labels[cone]] == conic_rows.class_sizes[row_class]))


def is_constant_on_classes(vector: Array, partition: Partition) -> bool:
    """Whether all members of each class have the same entry, exactly."""
    return bool(np.array_equal(vector, vector[partition.representatives][partition.labels]))


def _spread(vector: Vector, sizes: Vector, partition: Partition) -> float:
    """Largest difference between a member and its class's first member, relative to the terms that were added."""
    return spread(vector, sizes, partition.representatives, partition.labels)
