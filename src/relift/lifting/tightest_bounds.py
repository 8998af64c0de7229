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
from relift.symmetry import finite_field as exact


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
