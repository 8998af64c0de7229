r"""Which classes to split next, and where: those that the gap comes from, along what parts their members.

A class earns the gap of its members (:class:`~relift.approximate.lower_bound.LowerBound`). Those that together
make most of the gap are split: by the sign of a value that says where each member wants to go (the reduced gradient; a
ray; a broken row), then each part by the best cut into two groups of that value (1-D 2-means, found exactly from
prefix sums).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relift.approximate.near_equal import coarsened
from relift.arrays import Matrix, SparseMatrix, Vector
from relift.program.program import Program
from relift.symmetry.partition import Partition

SHARE = 0.98
"""Classes are split, the worst first, until this part of the gap is dealt with."""

GROWTH = 0.2
"""At least this part of the classes is split in a round, if so many earn anything."""


def split_worst(partition: Partition, values: Vector, scores: Vector, max_classes: int | None = None) -> Partition:
    """Split the classes that score most, each into at most four parts.

    Parameters
    ----------
    partition
        The classes.
    values
        What members of a class are parted by.
    scores
        Not negative: how much each member adds to what splitting should remove; infinite ones come first.
    max_classes
        How many classes there may be afterwards; None for no limit.

    Examples
    --------
    >>> classes = Partition.from_labels([0, 0, 0, 1, 1])
    >>> split_worst(classes, np.array([-1.0, 2.0, 2.1, 1.0, 5.0]), np.array([1.0, 1, 1, 0, 0])).labels.tolist()
    [0, 1, 2, 3, 3]
    """
    scores = np.nan_to_num(scores, nan=0.0, posinf=np.inf)
    finite = scores[np.isfinite(scores)]
    scores = np.minimum(scores, 10.0 * (1.0 + float(finite.max(initial=0.0))))
    values = np.where(np.isfinite(values), values, 0.0)
    earned = np.bincount(partition.labels, scores, partition.n_classes)
    low, high = _extremes(partition, values)
    earned[~(low < high)] = 0.0
    order = np.argsort(-earned, kind="stable")
    order = order[earned[order] > 0]
    if order.size == 0:
        return partition
    total = np.cumsum(earned[order])
    n_chosen = max(int(np.searchsorted(total, SHARE * total[-1])) + 1, int(GROWTH * partition.n_classes))
    room = partition.size if max_classes is None else max_classes - partition.n_classes
    if room <= 0:
        return partition
    chosen = np.zeros(partition.n_classes, bool)
    chosen[order[: min(n_chosen, room)]] = True
    member = chosen[partition.labels]
    labels = Partition.from_labels(2 * partition.labels + (member & (values > 0))).labels
    split = Partition.from_labels(_cut_in_two(labels, values, member))
    if max_classes is not None and split.n_classes > max_classes:
        split = Partition.from_labels(_cut_in_two(partition.labels, values, member))  # two parts each are not too many
    return split


def split_rows_by_variables(
    A: SparseMatrix | Matrix, rows: Partition, variables: Partition, row_scales: Vector, tolerance: float
) -> Partition:
    """Split row classes whose members differ, by more than the tolerance, in what they take from the variable classes.

    Examples
    --------
    >>> A = np.array([[1.0, 2.0], [1.001, 2.0], [2.0, 1.0]])
    >>> split_rows_by_variables(A, Partition.one_class(3), Partition.discrete(2), np.ones(3), 0.01).labels.tolist()
    [0, 0, 1]
    """
    random = np.random.default_rng(20160613)
    weights = random.uniform(1.0, 2.0, variables.n_classes)
    seen = coarsened((A @ weights[variables.labels]) / row_scales, tolerance)
    cell = np.unique(seen, return_inverse=True)[1]
    return Partition.from_labels(rows.labels * (int(cell.max(initial=0)) + 1) + cell)


def rows_of_variables(program: Program, variables: Partition, tolerance: float) -> Partition:
    """Classes of rows with nearly equal bounds and nearly equal shares of each variable class.

    Examples
    --------
    >>> program = Program(q=[0, 0], A=[[1.0, 1.0], [1.0, 1.001], [1.0, 3.0]], u=[2, 2, 2])
    >>> rows_of_variables(program, Partition.one_class(2), 0.01).labels.tolist()
    [0, 0, 1]
    """
    bounds = coarsened(np.concatenate([program.l, program.u]), tolerance)
    cell = np.unique(bounds, return_inverse=True)[1]
    lower, upper = np.split(cell, 2)
    start = Partition.from_labels(lower * (int(cell.max(initial=0)) + 1) + upper)
    return split_rows_by_variables(program.A, start, variables, np.ones(program.n_rows), tolerance)


def _extremes(partition: Partition, values: Vector) -> tuple[Vector, Vector]:
    low, high = np.full(partition.n_classes, np.inf), np.full(partition.n_classes, -np.inf)
    np.minimum.at(low, partition.labels, values)
    np.maximum.at(high, partition.labels, values)
    return low, high


def _cut_in_two(labels: NDArray[np.int64], values: Vector, member: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Cut every class of chosen members where the two parts differ most from each other (1-D 2-means)."""
    which = np.flatnonzero(member)
    order = which[np.lexsort((values[which], labels[which]))]
    label, value = labels[order], values[order]
    begins = np.flatnonzero(np.r_[True, label[1:] != label[:-1]])
    sizes = np.diff(np.r_[begins, order.size])
    start = np.repeat(begins, sizes)
    centred = value - np.repeat(np.add.reduceat(value, begins) / sizes, sizes)
    running = np.cumsum(centred)
    before = running - np.repeat(running[begins] - centred[begins], sizes)  # sum of the first k members of the class
    k = np.arange(order.size) - start + 1
    left = np.repeat(sizes, sizes) - k
    # With centred values the parts' sums are s and -s: what 2-means gains is s²/k + s²/(size - k).
    gain = np.where(left > 0, np.square(before) * (1.0 / k + 1.0 / np.maximum(left, 1)), -1.0)
    gain[:-1][value[:-1] == value[1:]] = -1.0  # equal values stay together
    best = np.maximum.reduceat(gain, begins)
    at = np.full(begins.size, -1)
    winner = np.flatnonzero(gain == np.repeat(best, sizes))[::-1]
    group = np.repeat(np.arange(begins.size), sizes)
    at[group[winner]] = winner
    right = (np.repeat(best, sizes) > 0) & (np.arange(order.size) > at[group])
    new = labels.copy() * 2
    new[order] += right
    return new
