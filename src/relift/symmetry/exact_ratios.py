"""Quotients of floats, read as what they are meant to be where that can be told from the floats alone.

A quotient that is a fraction of small numbers to within a few units in the last place is meant to be it. So is one that
two or more pairs of different numbers have in common: needs 0.7234982347 * size, computed for many sizes, are in one
ratio to the sizes, whatever that is. Quotients of unrelated numbers agree so by chance once in many millions of
millions of pairs; and then a number is read as one that differs from it in its last bit.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from relift.arrays import FieldElements, Flags, Indices, Vector
from relift.program import passes
from relift.symmetry import finite_field as field

ROUNDING = 2e-15
"""Ratios this near to each other, or to a fraction, relatively, are meant to be equal: some roundings of 1.1e-16."""

LARGEST = 10_000
"""Largest numerator and denominator of a fraction that counts as simple."""


DIFFERENT = 1e-9
"""Numbers this far apart, relatively, are different; nearer ones have nearly one ratio to a third number anyway."""


class Fractions(NamedTuple):
    """Fractions near numbers; 0 / 1 where there is none."""

    numerators: Indices
    denominators: Indices

    @property
    def exist(self) -> Flags:
        """Where there is one."""
        return np.asarray(self.numerators > 0)

    def images(self) -> FieldElements:
        """The fractions, exactly."""
        return field.multiply(
            self.numerators.astype(np.uint64), field.inverse(np.maximum(self.denominators, 1).astype(np.uint64))
        )


def simple_fractions(values: Vector) -> Fractions:
    """The simplest fractions that are equal to positive numbers but for rounding.

    Examples
    --------
    >>> simple_fractions(np.array([0.6 * 37.13 / (0.2 * 37.13), 0.25, 0.7071067811865476]))
    Fractions(numerators=array([3, 1, 0]), denominators=array([1, 4, 1]))
    """
    return Fractions(*passes.simple_fractions(np.asarray(values, dtype=np.float64), LARGEST, ROUNDING))


class ExactRatios(NamedTuple):
    """What quotients are meant to be.

    Parameters
    ----------
    is_simple
        Which are fractions of small numbers.
    is_shared
        Which others are those of two or more pairs of different numbers.
    images
        They, exactly; 0 where neither is so.
    """

    is_simple: Flags
    is_shared: Flags
    images: FieldElements

    @property
    def exist(self) -> Flags:
        """Which are known."""
        return self.is_simple | self.is_shared


def exact_ratios(numerators: Vector, denominators: Vector) -> ExactRatios:
    """Read quotients of positive numbers exactly.

    Parameters
    ----------
    numerators, denominators
        The numbers, not negative; what is 0 or leaves the range of floats has no ratio.

    Examples
    --------
    >>> size, others = np.array([37.13, 41.29, 3.7]), np.array([1.3, 1.7, 1.9])
    >>> exact_ratios(0.6 * size, size).is_simple.tolist(), exact_ratios(size / np.pi, size).is_shared.tolist()
    ([True, True, True], [True, True, True])
    >>> exact_ratios(np.sqrt(others), size).exist.tolist()
    [False, False, False]
    """
    ratio = quotients(numerators, denominators)
    fractions = simple_fractions(ratio)
    is_simple = fractions.exist
    images = np.where(is_simple, fractions.images(), np.uint64(0))
    is_shared = np.zeros(ratio.size, bool)
    others = np.flatnonzero(~is_simple & (ratio > 0))
    if others.size > 1:
        labels, first = nearly_equal(ratio[others])
        shared = _have_different_members(labels, first, numerators[others])[labels]
        is_shared[others[shared]] = True
        images[others[shared]] = field.images(ratio[others[first]])[labels[shared]]
    return ExactRatios(is_simple, is_shared, images)


def quotients(numerators: Vector, denominators: Vector) -> Vector:
    """Quotients of numbers that are not negative; 0 where floats do not hold them."""
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        ratio = numerators / denominators
    return np.where(np.isfinite(ratio), ratio, 0.0)


def are_nearly_equal(ordered: Vector) -> Flags:
    """Whether each number but the first is equal to the one before it, but for rounding."""
    with np.errstate(over="ignore"):
        return np.asarray(~(np.diff(ordered) > ROUNDING * np.abs(ordered[1:])))


def nearly_equal(values: Vector) -> tuple[Indices, Indices]:
    """Labels of numbers that are equal but for rounding, in increasing order, and the place of a member of each.

    Parameters
    ----------
    values
        Finite numbers.

    Examples
    --------
    >>> nearly_equal(np.array([0.3, 7.0, 0.1 + 0.2]))
    (array([0, 1, 0]), array([0, 1]))
    """
    order = np.argsort(values, kind="stable")
    starts = ~are_nearly_equal(values[order])
    labels = np.empty(values.size, np.int64)
    labels[order] = np.concatenate([[0], np.cumsum(starts)])[: values.size]
    return labels, order[np.concatenate([[True], starts])[: values.size]]


def _have_different_members(labels: Indices, first: Indices, values: Vector) -> Flags:
    """For each label whether its members have different values."""
    differ = np.zeros(first.size, bool)
    one = values[first][labels]
    differ[labels[np.abs(values - one) > DIFFERENT * one]] = True
    return differ


@final
class SharedRatios:
    """Ratios seen so far, of several kinds, and for each one of its numerators.

    The twin of ``core/include/relift/passes/shared_ratios.hpp``. Two that are equal but for rounding may lie on two
    sides of an edge and be missed: one pair in ten, and what is looked for shows many.

    Examples
    --------
    >>> seen, factor = SharedRatios(), 0.7234982347
    >>> [seen.is_shared(0, factor * size, size) for size in (37.13, 37.13, 41.29)]
    [False, False, True]
    """

    def __init__(self) -> None:
        self._numerators: dict[tuple[int, int], float] = {}

    def is_shared(self, kind: int, numerator: float, denominator: float) -> bool:
        """Whether a pair of another numerator had this ratio, which is not a simple fraction."""
        ratio = quotients(np.array([numerator]), np.array([denominator]))
        if ratio[0] == 0:
            return False
        key = (int(ratio.view(np.uint64)[0]) + 16) >> 5, kind
        before = self._numerators.setdefault(key, numerator)
        return abs(numerator - before) > DIFFERENT * numerator and not simple_fractions(ratio).exist[0]
