"""Bounds of rows divided by a factor, and the tightest of several bounds of one thing; floats and exact.

Of candidates for one bound the tightest wins, the first of equal ones. Bounds that are equal exactly, and parted by
rounding, are joined; others that cross are told, and what they belong to is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import FieldElements, Flags, Indices, Vector
from relift.lifting.duplicate_rows import ROUNDING
from relift.program import passes
from relift.program.index_sets import distinct, numbered_among, shortened
from relift.symmetry import finite_field as exact

NO_ROW = -1
"""The bound is its own."""


@final
@dataclass(frozen=True, eq=False)
class ExactSides:
    """Bounds on both sides, and their images."""

    low: Vector
    high: Vector
    low_image: FieldElements
    high_image: FieldElements

    @property
    def parts(self) -> tuple[Vector, Vector, FieldElements, FieldElements]:
        """All four, of which one number is enough where they are equal."""
        return (
            shortened(self.low, self.low_image), shortened(self.high, self.high_image),
            shortened(self.low_image, self.low_image), shortened(self.high_image, self.high_image),
        )  # fmt: skip


@final
@dataclass(frozen=True, eq=False)
class BoundingRows:
    """Rows that bound something: each, divided by its divisor, which has an exact image, bounds its target."""

    rows: Indices
    targets: Indices
    divisors: Vector
    images: FieldElements


@final
@dataclass(frozen=True, eq=False)
class BoundsOfSide:
    """Bounds of one side, exact too, and the rows that they came from, or ``NO_ROW``."""

    values: Vector
    images: FieldElements
    sources: Indices
    are_own: bool
    """Whether all were there already, floats to the last bit."""


@final
@dataclass(frozen=True, eq=False)
class BoundsOfRows:
    """What rows bound, ascending, with the tightest bounds, but for what they leave no value.

    Parameters
    ----------
    targets, lower, upper
        What is bounded, and its bounds.
    is_kept
        Whether each row has become a bound, or leaves no value with others, and stays a row.
    """

    targets: Indices
    lower: BoundsOfSide
    upper: BoundsOfSide
    is_kept: Flags

    @classmethod
    def of(cls, by: BoundingRows, of_rows: ExactSides, own: ExactSides) -> BoundsOfRows:
        """Let the tightest of all bounds of each target win.

        Parameters
        ----------
        by
            The rows.
        of_rows
            The bounds of all rows.
        own
            The bounds that all targets have already.

        Examples
        --------
        >>> ones = np.ones(2, np.uint64)
        >>> by = BoundingRows(np.array([0, 1]), np.array([0, 0]), np.ones(2), ones)
        >>> of_rows = ExactSides(np.array([1.0, 2.0]), np.array([7.0, 8.0]), ones, ones)
        >>> own = ExactSides(np.array([0.0]), np.array([5.0]), ones[:1], ones[:1])
        >>> found = BoundsOfRows.of(by, of_rows, own)
        >>> found.lower.values, found.lower.sources, found.upper.values, found.upper.sources
        (array([2.]), array([1]), array([5.]), array([-1]))
        """
        if passes.core is None:
            return bounds_of_rows_slowly(by, of_rows, own)
        is_kept = np.empty(by.rows.size, bool)
        targets, lower, upper = passes.core.bounds_of_rows(
            (by.rows, by.targets, by.divisors, by.images), of_rows.parts, of_rows.low.size, own.parts, own.low.size,
            ROUNDING, is_kept,
        )  # fmt: skip
        lower_side, upper_side = (
            BoundsOfSide(
                np.frombuffer(values), np.frombuffer(images, np.uint64), np.frombuffer(sources, np.int64), are_own
            )
            for values, images, sources, are_own in (lower, upper)
        )
        return cls(np.frombuffer(targets, np.int64), lower_side, upper_side, is_kept)


def bounds_of_rows_slowly(by: BoundingRows, of_rows: ExactSides, own: ExactSides) -> BoundsOfRows:
    """The same by whole arrays."""
    i = by.rows
    bounds = ScaledBounds.of(
        of_rows.low[i], of_rows.high[i], of_rows.low_image[i], of_rows.high_image[i],
        by.divisors, exact.inverse(by.images),
    )  # fmt: skip
    j, at = numbered_among(by.targets, own.low.size)
    # Several rows may bound one target: the tightest wins. Where they leave no value, all stay rows.
    lower = tightest(own.low[j], own.low_image[j], bounds.low, bounds.low_image, at, np.maximum)
    upper = tightest(own.high[j], own.high_image[j], bounds.high, bounds.high_image, at, np.minimum)
    crossed = leave_no_value(lower, upper)
    crossed[at[bounds.is_lost]] = True
    is_kept = ~crossed[at]
    bounded = distinct(at[is_kept], j.size)
    lower_side, upper_side = (
        _bounds_of_side(side, bounded, i, before[j[bounded]], images[j[bounded]])
        for side, before, images in ((lower, own.low, own.low_image), (upper, own.high, own.high_image))
    )
    return BoundsOfRows(j[bounded], lower_side, upper_side, is_kept)


def _bounds_of_side(
    side: Tightest, bounded: Indices, rows: Indices, before: Vector, before_image: FieldElements
) -> BoundsOfSide:
    values, images, winner = side.values[bounded], side.images[bounded], side.winner[bounded]
    values = np.where(values == before, before, values)  # maxima may take the other zero
    are_own = np.array_equal(before.view(np.uint64), values.view(np.uint64)) and np.array_equal(before_image, images)
    return BoundsOfSide(values, images, np.where(winner < 0, NO_ROW, rows[winner]), are_own)


@final
@dataclass(frozen=True, eq=False)
class ScaledBounds:
    """Bounds of rows divided by a factor each, floats and exact; exchanged where it is negative."""

    low: Vector
    high: Vector
    low_image: FieldElements
    high_image: FieldElements
    is_lost: Flags
    """Whether a finite bound became too large for a float."""

    @classmethod
    def of(
        cls,
        l: Vector,
        u: Vector,
        l_image: FieldElements,
        u_image: FieldElements,
        divisor: Vector,
        inverse: FieldElements,
    ) -> ScaledBounds:
        """Divide bounds, floats by the divisors and images by multiplying with their inverses."""
        if (divisor == 1.0).all() and (inverse == 1).all():  # as most rows that repeat others do it exactly
            return cls(l, u, l_image, u_image, np.zeros(l.size, bool))
        with np.errstate(over="ignore"):
            low, high = l / divisor, u / divisor
        is_lost = (np.isinf(low) & np.isfinite(l)) | (np.isinf(high) & np.isfinite(u))
        low_image, high_image = (
            _scaled_image(l_image, inverse, divisor),
            _scaled_image(u_image, inverse, divisor),
        )
        negative = divisor < 0
        return cls(
            np.where(negative, high, low), np.where(negative, low, high),
            np.where(negative, high_image, low_image), np.where(negative, low_image, high_image), is_lost,
        )  # fmt: skip


@final
@dataclass(frozen=True, eq=False)
class Tightest:
    """Bounds after all candidates, exact too, and the candidate that each came from; -1 where the old one stays."""

    values: Vector
    images: FieldElements
    winner: Indices


def tightest(
    bounds: Vector,
    images: FieldElements,
    candidates: Vector,
    candidate_images: FieldElements,
    target: Indices,
    better: np.ufunc,
) -> Tightest:
    """The tightest of each target's own bound and its candidates; the first of equal candidates."""
    tight = bounds.copy()
    better.at(tight, target, candidates)
    winner = np.full(bounds.size, -1, np.int64)
    attains = np.flatnonzero((candidates == tight[target]) & (candidates != bounds[target]))[::-1]
    winner[target[attains]] = attains
    tight_images = images.copy()
    won = np.flatnonzero(winner >= 0)
    tight_images[won] = candidate_images[winner[won]]
    return Tightest(tight, tight_images, winner)


def leave_no_value(lower: Tightest, upper: Tightest) -> Flags:
    """Where lower bounds lie above upper ones; those that are equal exactly, and parted by rounding, are joined."""
    crossed = lower.values > upper.values
    k = np.flatnonzero(crossed & (lower.images == upper.images))
    k = k[lower.values[k] - upper.values[k] <= ROUNDING * np.abs(lower.values[k])]
    upper.values[k] = lower.values[k]
    crossed[k] = False
    return crossed


def _scaled_image(image: FieldElements, inverse: FieldElements, divisor: Vector) -> FieldElements:
    """Image of bound / divisor; infinities keep their words, exchanged by a negative divisor."""
    infinite = image >= exact.MODULUS
    scaled = exact.multiply(np.where(infinite, np.uint64(0), image), inverse)
    flipped = np.where(divisor < 0, exact.negate(image), image)
    return np.where(infinite, flipped, scaled)
