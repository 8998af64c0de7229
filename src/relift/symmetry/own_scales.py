r"""What the numbers of a variable or a row alone tell about its size and its sign, and what they leave open.

Classes are looked for up to scales: variable j is :math:`w_j` times, row i :math:`v_i` times that of its class
(:mod:`relift.symmetry.scaled_refinement`). Members of a class have proportional bounds, so the *size* :math:`|w_j|` is
that of the larger bound, or 1/\|q\| where all bounds are 0 or infinite; and the *sign* is the one that turns the longer
side of [lb, ub] upwards, or the cost if both sides are equally long. Rows have the scale of their bounds in the same
way. What is left:

- the size of a variable without a cost and of a row, if all bounds are 0 or infinite: flow balance, x - y <= 0;
- the sign of a variable without a cost and of a row, if the interval is symmetric about 0: differences, free variables.

These *rest* (stand for 0) until a sum tells more, and so does whatever else may be 0: a variable without a cost whose
bounds admit 0, a row that 0 satisfies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, Flags, Integers, ScalarT, Vector
from relift.program.index_sets import shortened
from relift.records import cached_property, quick
from relift.symmetry import finite_field as field
from relift.symmetry.exact_vectors import (
    NOTHING_GIVEN,
    Exact,
    GivenVector,
    LookedAt,
    VectorImages,
    read_later,
    short_of,
    words_of,
)
from relift.threads import threads_for

if field.CORE_IS_COMPILED:
    from relift import _core


RESTS, OPEN_SIZE, OPEN_SIGN = 1, 2, 4
"""Bits of a state, as in ``core/include/relift/multipliers.hpp``."""


@final
@quick
@dataclass(frozen=True, eq=False)
class OwnScales:
    """Scales of variables, or of rows, as far as their own numbers decide them.

    Parameters
    ----------
    floats, images
        The scales, where the size is open ±1.
    states
        Sums of :data:`RESTS`, :data:`OPEN_SIZE` and :data:`OPEN_SIGN`.
    words
        What tells members of different classes apart: bounds, and costs, divided by the scales.
    """

    floats: Vector
    images: FieldElements
    states: NDArray[np.uint8]
    words: tuple[FieldElements, ...]

    @cached_property
    def inverse_images(self) -> FieldElements:
        """The inverses of the scales, exactly."""
        return field.inverse(self.images)


class Intervals:
    """Bounds of variables or of rows: floats, and exact images of what they stand for.

    Parameters
    ----------
    low, high
        The bounds.
    low_image, high_image
        Their images.
    """

    low: Vector
    high: Vector
    low_image: FieldElements
    high_image: FieldElements
    given: Mapping[str, GivenVector] = NOTHING_GIVEN
    """Both vectors, if their images are known to be those of their floats; these may not have been read yet."""

    def __init__(self, low: Vector, high: Vector, low_image: FieldElements, high_image: FieldElements) -> None:
        self.__dict__.update(low=low, high=high, low_image=low_image, high_image=high_image)

    @classmethod
    def of_vectors(cls, low: Vector, high: Vector, vectors: VectorImages, low_name: str, high_name: str) -> Intervals:
        """The same without reading images that are those of the floats.

        Parameters
        ----------
        low, high
            The bounds.
        vectors
            Images of the program.
        low_name, high_name
            Names of the two vectors.
        """
        given = vectors.given
        if low_name not in given or high_name not in given:
            return cls(low, high, getattr(vectors, low_name), getattr(vectors, high_name))
        made = _ReadLater.__new__(_ReadLater)
        both = {"low_image": given[low_name], "high_image": given[high_name]}
        made.__dict__.update(low=low, high=high, given=both)
        return made

    def of(self, some: Integers) -> Intervals:
        """Those of some."""
        return Intervals(self.low[some], self.high[some], self.low_image[some], self.high_image[some])

    @property
    def is_symmetric(self) -> Flags:
        """Whether the interval is its own negative; that of all numbers is."""
        return np.asarray(self.high_image == field.negate(self.low_image))

    @property
    def admits_zero(self) -> Flags:
        """Whether 0 lies inside."""
        below = (self.low_image == 0) | (self.low < 0)
        return np.asarray(below & ((self.high_image == 0) | (self.high > 0)))

    def largest(self) -> tuple[Vector, FieldElements, Flags]:
        """The size of the longer side, exactly too, and whether there is a finite one that is not 0."""
        low_counts, high_counts = are_sizes(self.low, self.low_image), are_sizes(self.high, self.high_image)
        takes_low = low_counts & (~high_counts | (np.abs(self.low) > np.abs(self.high)))
        bound = np.where(takes_low, self.low, self.high)
        image = np.where(takes_low, self.low_image, self.high_image)
        known = low_counts | high_counts
        size = np.where(known, np.abs(bound), 1.0)
        return size, np.where(known, _absolute(image, bound), np.uint64(1)), known

    def sizes(self, some: Integers) -> Vector:
        """Sizes of the longer sides of some, as :meth:`largest` has them; 0 where there is none."""
        low, high = np.abs(self.low[some]), np.abs(self.high[some])
        low = np.where(are_sizes(low, self.low_image[some]), low, 0.0)
        return np.maximum(low, np.where(are_sizes(high, self.high_image[some]), high, 0.0))

    def divided(self, floats: Vector, images: FieldElements) -> tuple[FieldElements, FieldElements]:
        """Images of the bounds divided by scales; a negative scale exchanges the two, and the infinities."""
        if bool(np.all(images == 1)) and bool(np.all(floats > 0)):
            return self.low_image, self.high_image
        reciprocal, is_negative = field.inverse(images), floats < 0

        def quotient(image: FieldElements) -> FieldElements:
            is_finite = image < field.MODULUS
            finite = field.multiply(np.where(is_finite, image, np.uint64(0)), reciprocal)
            return np.where(is_finite, finite, np.where(is_negative, field.negate(image), image))

        low, high = quotient(self.low_image), quotient(self.high_image)
        return np.where(is_negative, high, low), np.where(is_negative, low, high)


@final
class _ReadLater(Intervals):
    """The same with images that are read when they are asked for."""

    if not TYPE_CHECKING:  # else any name would pass for an attribute
        __getattr__ = read_later


def numbers_of_variables(bounds: Intervals, q: Vector, q_exact: Exact | None) -> LookedAt:
    """Bounds and costs as compiled looks take them: each whole, or one number for all; images None if floats tell all.

    Parameters
    ----------
    bounds
        Bounds of variables.
    q, q_exact
        Their costs; None where signs of these are all that counts.
    """
    if bounds.given and (q_exact is None or isinstance(q_exact, GivenVector)):
        low, high = bounds.given.values()
        cost = q if q_exact is None else short_of(q, q_exact)
        return short_of(bounds.low, low), short_of(bounds.high, high), cost, None, None, None
    low_image, high_image = bounds.low_image, bounds.high_image
    sides = shortened(bounds.low, low_image), shortened(bounds.high, high_image)
    images = shortened(low_image, low_image), shortened(high_image, high_image)
    if q_exact is None:
        return *sides, q, *images, None
    image = words_of(q_exact)
    return *sides, shortened(q, image), *images, shortened(image, image)


@final
@quick
@dataclass(frozen=True, eq=False)
class Masses:
    """How much each member of a class counts: positive numbers of variables and of rows, floats and exact."""

    variables: Vector
    variable_images: FieldElements
    rows: Vector
    row_images: FieldElements


def scales_of_variables(
    bounds: Intervals,
    q: Vector,
    q_image: FieldElements,
    *,
    sizes: bool = True,
    signs: bool = True,
    masses: Masses | None = None,
) -> OwnScales:
    """Scales of variables from their bounds and costs.

    Parameters
    ----------
    bounds
        lb and ub.
    q, q_image
        Costs.
    sizes, signs
        Whether sizes and signs other than 1 are looked for.
    masses
        How much members count; None if equally much.

    Examples
    --------
    >>> low, high, q = np.array([0.0, -3.0, 0.0, -np.inf]), np.array([2.0, 0.0, np.inf, np.inf]), np.zeros(4)
    >>> bounds = Intervals(low, high, field.images(low), field.images(high))
    >>> own = scales_of_variables(bounds, q, field.images(q))
    >>> own.floats.tolist(), [state // 2 for state in own.states.tolist()]
    ([2.0, -3.0, 1.0, 1.0], [0, 0, 1, 3])
    """
    if field.CORE_IS_COMPILED:
        return _by_the_core(bounds, q, q_image, masses, sizes, signs)
    n = q.size
    has_cost = q_image != 0
    size, size_image, known = np.ones(n), np.ones(n, np.uint64), np.ones(n, bool)
    if sizes:
        size, size_image, known = bounds.largest()
        by_cost = ~known & are_sizes(q, q_image)
        size[by_cost] = 1.0 / np.abs(q[by_cost])
        size_image[by_cost] = field.inverse(_absolute(q_image[by_cost], q[by_cost]))
        if masses is not None:
            size[by_cost] *= masses.variables[by_cost]
            size_image[by_cost] = field.multiply(size_image[by_cost], masses.variable_images[by_cost])
        known = known | by_cost
    is_symmetric = bounds.is_symmetric
    sign = np.where(is_symmetric, np.where(q < 0, -1.0, 1.0), _longer_side(bounds)) if signs else np.ones(n)
    floats, images = size * sign, np.where(sign < 0, field.negate(size_image), size_image)
    rests = ~has_cost & bounds.admits_zero
    states = _states(rests, ~known, is_symmetric & ~has_cost if signs else np.zeros(n, bool))
    cost = field.multiply(q_image, images)
    if masses is not None:
        cost = field.multiply(cost, field.inverse(masses.variable_images))
    words = (*bounds.divided(floats, images), cost)
    return OwnScales(floats, images, states, words)


def scales_of_rows(bounds: Intervals, *, sizes: bool = True, signs: bool = True) -> OwnScales:
    """Scales of rows from their bounds.

    Parameters
    ----------
    bounds
        l and u.
    sizes, signs
        Whether sizes and signs other than 1 are looked for.

    Examples
    --------
    >>> low, high = np.array([-np.inf, 0.0, 0.0]), np.array([5.0, 0.0, np.inf])
    >>> own = scales_of_rows(Intervals(low, high, field.images(low), field.images(high)))
    >>> own.floats.tolist(), [state // 2 for state in own.states.tolist()]
    ([-5.0, 1.0, 1.0], [0, 3, 1])
    """
    if field.CORE_IS_COMPILED:
        return _by_the_core(bounds, None, None, None, sizes, signs)
    m = bounds.low.size
    size, size_image, known = np.ones(m), np.ones(m, np.uint64), np.ones(m, bool)
    if sizes:
        size, size_image, known = bounds.largest()
    is_symmetric = bounds.is_symmetric
    sign = np.where(is_symmetric, 1.0, _longer_side(bounds)) if signs else np.ones(m)
    floats, images = size * sign, np.where(sign < 0, field.negate(size_image), size_image)
    states = _states(bounds.admits_zero, ~known, is_symmetric if signs else np.zeros(m, bool))
    return OwnScales(floats, images, states, bounds.divided(floats, images))


def _by_the_core(
    bounds: Intervals, q: Vector | None, q_image: FieldElements | None, masses: Masses | None, sizes: bool, signs: bool
) -> OwnScales:
    size = bounds.low.size
    floats, images, states = np.empty(size), np.empty(size, np.uint64), np.empty(size, np.uint8)
    words = tuple(np.empty(size, np.uint64) for _ in range(2 if q is None else 3))
    mass, mass_image = (None, None) if masses is None else (masses.variables, masses.variable_images)
    _core.own_scales(
        np.ascontiguousarray(bounds.low), np.ascontiguousarray(bounds.high), _together(q), _together(mass),
        np.ascontiguousarray(bounds.low_image), np.ascontiguousarray(bounds.high_image), _together(q_image),
        _together(mass_image), sizes, signs, floats, images, states, words[0], words[1],
        None if q is None else words[2], threads_for(size),
    )  # fmt: skip
    return OwnScales(floats, images, states, words)


def _together(array: NDArray[ScalarT] | None) -> NDArray[ScalarT] | None:
    return None if array is None else np.ascontiguousarray(array)


def _longer_side(bounds: Intervals) -> Vector:
    return np.where(bounds.high < -bounds.low, -1.0, 1.0)


def _states(rests: Flags, open_size: Flags, open_sign: Flags) -> NDArray[np.uint8]:
    """What does not rest is decided: a cost, or a bound away from 0, has told its size and its sign."""
    bits = RESTS + OPEN_SIZE * open_size.astype(np.uint8) + OPEN_SIGN * open_sign.astype(np.uint8)
    return np.where(rests, bits, 0).astype(np.uint8)


def are_sizes(floats: Vector, images: FieldElements) -> Flags:
    """Which numbers tell a size. Differences that presolve or centring took may be 0 in floats though not exactly."""
    return np.asarray((images < field.MODULUS) & (images != 0) & (np.abs(floats) > 1e-300))


def _absolute(images: FieldElements, floats: Vector) -> FieldElements:
    return np.where(floats < 0, field.negate(images), images)
