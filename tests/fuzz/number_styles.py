"""The ways in which people write the numbers of a program; sums that are equal as decimals differ as floats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Numbers = Callable[[np.random.Generator], float]


def _chosen(*values: float) -> Numbers:
    return lambda random: float(random.choice(values))


def _wide(random: np.random.Generator) -> float:
    return float(f"{random.choice([-3, -1, 1, 1, 2, 7])}e{random.integers(-8, 9)}")


def _any_float(random: np.random.Generator) -> float:
    return float(random.standard_normal())


STYLES: dict[str, Numbers] = {
    "whole": _chosen(-3, -2, -1, 1, 1, 1, 2, 3, 5),
    "decimals": _chosen(-0.7, -0.3, -0.1, 0.1, 0.2, 0.3, 0.6, 0.7, 1.1, 2.2, 3.3),
    "thirds": _chosen(-1 / 3, 1 / 3, 2 / 3, 1 / 7, 1 / 9, 4 / 3, -2 / 3, 1.0),
    "powers of two": _chosen(*(sign * 2.0**k for k in (-20, -3, -1, 0, 1, 4, 20) for sign in (1, -1))),
    "money": _chosen(-19.99, 0.05, 0.10, 4.35, 9.95, 100.0, 1234.56),
    "wide": _wide,
    "any float": _any_float,
    "signs": _chosen(-1.0, 1.0),
}

SCALES = (1e-8, 1e-6, 1e-4, 1e-3, 0.1, 1.0 / 3.0, 2.0**-10, 2.0**20, 7.0, 1e3, 1e4, 1e6, 1e8)
"""Factors of rows and columns."""
