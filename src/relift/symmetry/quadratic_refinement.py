r"""Classes of variables, rows and quadratic constraints together.

A partition of the constraints :math:`f_k(x) = \tfrac12 x^\top P_k x + q_k^\top x \le r_k` is sound for lifting if

1. inside a class, the block sums of :math:`P_k` over every pair of variable classes, the class sums of
   :math:`q_k`, and :math:`r_k` agree;
2. the sum of :math:`P_k` over a class is equitable for the variable classes, and that of :math:`q_k` constant on them.

Then :math:`f_k(Xx)` equals its class average at Xx, which is at most the class average at x (Theorem 1). Both
conditions are tested by exact random sums: with random field elements g for variable classes and h for constraint
classes,

.. math:: \sum_{ij} P_k[i,j]\, g_i g_j + \sum_i q_k[i]\, g'_i \text{ for each } k, \qquad
   \sum_k h_k \sum_j P_k[i,j]\, g_j + \sum_k h'_k q_k[i] \text{ for each } i,

in turn with the refinement of the linear part, until nothing splits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, Labels
from relift.program.quadratic_rows import QuadraticRows
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import Refinement
from relift.symmetry.partition import Partition


def refine_with_quadratic_rows(
    rows: QuadraticRows,
    refine_linear: Callable[[Sequence[FieldElements]], Refinement],
    *,
    reading: Reading,
    is_counting: bool,
    seed: int = 0,
) -> tuple[Refinement, Partition]:
    """Alternate the refinement of the linear part and that of the quadratic constraints until both are stable.

    Parameters
    ----------
    rows
        The quadratic constraints.
    refine_linear
        Refines the rest, given further words that part its columns; the variables are the first of these.
    reading
        How floats are read.
    is_counting
        Compare multisets of entries instead of sums.
    seed
        Seed of the random words.

    Returns
    -------
    tuple of Refinement and Partition
        The classes of variables and rows, and those of the quadratic constraints.
    """
    n = rows.q.shape[1]
    constraints = Partition.from_labels(field.images(rows.r, reading))
    found = refine_linear([])
    variables = _first(found.variables, n)
    if variables.is_discrete and constraints.is_discrete:  # nothing is left to part: no entry need be read
        return found, constraints
    entries = _images(rows.values, reading, is_counting)
    linear = _images(rows.q.data, reading, is_counting)
    linear_owner = np.repeat(np.arange(len(rows)), np.diff(rows.q.indptr))
    linear_variable = rows.q.indices.astype(np.int64)
    random = np.random.default_rng(seed)
    while True:
        g, g_linear = (_random_words(random, variables) for _ in range(2))
        products = field.multiply(field.multiply(entries, g[rows.first]), g[rows.second])
        by_constraint = field.grouped_sums(rows.owner, products, len(rows))
        of_linear = field.multiply(linear, g_linear[linear_variable])
        by_constraint = field.add(by_constraint, field.grouped_sums(linear_owner, of_linear, len(rows)))
        finer = _joined(constraints, by_constraint)
        h, h_linear = (_random_words(random, finer) for _ in range(2))
        products = field.multiply(field.multiply(entries, h[rows.owner]), g[rows.second])
        by_variable = field.grouped_sums(rows.first, products, n)
        of_linear = field.multiply(linear, h_linear[linear_owner])
        by_variable = field.add(by_variable, field.grouped_sums(linear_variable, of_linear, n))
        parted = _joined(variables, by_variable)
        is_stable = parted == variables and finer == constraints
        constraints = finer
        if is_stable:
            return found, constraints
        rest = np.zeros(found.variables.size - n, np.uint64)
        found = refine_linear([np.concatenate([parted.labels.astype(np.uint64), rest])])
        variables = _first(found.variables, n)


def _first(classes: Partition, n: int) -> Partition:
    """The classes of the first elements."""
    return classes if classes.size == n else Partition(classes.labels[:n])


def _images(values: NDArray[np.float64], reading: Reading, is_counting: bool) -> FieldElements:
    words = field.images(values, reading)
    if not is_counting:
        return words
    # A random element for each distinct value: sums of these tell multisets apart.
    distinct, inverse = np.unique(words, return_inverse=True)
    random = np.random.default_rng(0xC0DE)
    fresh = random.integers(1, field.MODULUS, distinct.size, dtype=np.uint64)
    return np.where(words == 0, np.uint64(0), fresh[inverse])


def _random_words(random: np.random.Generator, partition: Partition) -> FieldElements:
    """A random field element for each class, given to its members."""
    words: FieldElements = random.integers(1, field.MODULUS, partition.n_classes, dtype=np.uint64)[partition.labels]
    return words


def _joined(partition: Partition, words: FieldElements) -> Partition:
    """The coarsest partition that refines this one and on which the words are constant."""
    _, inverse = np.unique(words, return_inverse=True)
    pair: Labels = partition.labels * (int(inverse.max(initial=0)) + 1) + inverse
    return Partition.from_labels(pair)
