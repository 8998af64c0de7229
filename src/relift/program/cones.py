r"""The cones that the conic rows of a program may stand in.

============================  ==============================================================================
:class:`SecondOrder`          :math:`\{(h, t) : \|t\|_2 \le h\}`, the head h first
:class:`Exponential`          the closure of :math:`\{(x, y, z) : y > 0,\; y e^{x/y} \le z\}`
:class:`Power`                :math:`\{(x, y, z) : x, y \ge 0,\; x^\alpha y^{1-\alpha} \ge |z|\}`
:class:`PowerND`              :math:`\{(x, z) : x \ge 0,\; \prod_i x_i^{\alpha_i} \ge |z|\}`, z last
:class:`Semidefinite`         symmetric matrices: the upper triangle column by column, (1,1), (1,2), (2,2),
                              (1,3), ..., entries off the diagonal times :math:`\sqrt2`
============================  ==============================================================================

These are Clarabel's forms. Where distances to them are taken: :mod:`relift.program.cone_distance`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import final

from relift.errors import ConeError

SUM_TOLERANCE = 1e-9
"""Exponents may miss the sum 1 by so much."""


class Cone(ABC):
    """One of the cones of this module."""

    __slots__ = ()

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows it takes."""


@final
@dataclass(frozen=True, slots=True)
class SecondOrder(Cone):
    r"""Vectors (h, t) with :math:`\|t\|_2 \le h`.

    Parameters
    ----------
    size
        Rows, the head included; a cone of one row is the half line h >= 0.

    Examples
    --------
    >>> SecondOrder(0)
    Traceback (most recent call last):
    relift.errors.ConeError: a second-order cone has 0 rows. It needs a head, and so at least one.
    """

    size: int

    def __post_init__(self) -> None:
        _whole(self, "size", self.size)
        if self.size < 1:
            raise ConeError(
                f"a second-order cone has {self.size} rows.", "It needs a head, and so at least one.", "cones"
            )

    @property
    def n_rows(self) -> int:
        """How many rows it takes."""
        return self.size


@final
@dataclass(frozen=True, slots=True)
class Exponential(Cone):
    r"""The closure of all (x, y, z) with y > 0 and :math:`y e^{x/y} \le z`."""

    @property
    def n_rows(self) -> int:
        """How many rows it takes."""
        return 3


@final
@dataclass(frozen=True, slots=True)
class Power(Cone):
    r"""Vectors (x, y, z) with x, y >= 0 and :math:`x^\alpha y^{1-\alpha} \ge |z|`.

    Parameters
    ----------
    alpha
        The exponent, strictly between 0 and 1.

    Examples
    --------
    >>> Power(1.0)
    Traceback (most recent call last):
    relift.errors.ConeError: the exponent of a power cone is 1.0. It must lie strictly between 0 and 1.
    """

    alpha: float

    def __post_init__(self) -> None:
        _exponent(self.alpha)
        object.__setattr__(self, "alpha", float(self.alpha))

    @property
    def n_rows(self) -> int:
        """How many rows it takes."""
        return 3


@final
@dataclass(frozen=True, slots=True)
class PowerND(Cone):
    r"""Vectors (x, z) with x >= 0 and :math:`\prod_i x_i^{\alpha_i} \ge |z|`.

    Parameters
    ----------
    alphas
        The exponents, each strictly between 0 and 1, with sum 1.

    Examples
    --------
    >>> PowerND([0.5, 0.3])
    Traceback (most recent call last):
    relift.errors.ConeError: the exponents of a power cone add up to 0.8. They must add up to 1.
    """

    alphas: tuple[float, ...]

    def __post_init__(self) -> None:
        try:
            given = tuple(self.alphas)
        except TypeError as error:
            raise ConeError(
                f"the exponents of a power cone are {self.alphas!r}.", "Give a list; Power takes one alone.", "cones"
            ) from error
        for alpha in given:
            _exponent(alpha)
        total = math.fsum(given)
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise ConeError(f"the exponents of a power cone add up to {total:.12g}.", "They must add up to 1.", "cones")
        object.__setattr__(self, "alphas", tuple(float(alpha) for alpha in given))

    @property
    def n_rows(self) -> int:
        """How many rows it takes."""
        return len(self.alphas) + 1


@final
@dataclass(frozen=True, slots=True)
class Semidefinite(Cone):
    r"""Symmetric positive semidefinite n x n matrices, as the scaled upper triangle, column by column.

    Parameters
    ----------
    n
        The side of the matrix; it takes n (n + 1) / 2 rows.
    """

    n: int

    def __post_init__(self) -> None:
        _whole(self, "n", self.n)
        if self.n < 1:
            raise ConeError(f"a semidefinite cone has the side {self.n}.", "It must be at least 1.", "cones")

    @property
    def n_rows(self) -> int:
        """How many rows it takes."""
        return self.n * (self.n + 1) // 2


def _whole(cone: Cone, name: str, value: object) -> None:
    if value is True or not isinstance(value, Integral):
        raise ConeError(f"{name} of a cone is {value!r}.", "It must be a whole number.", "cones")
    object.__setattr__(cone, name, int(value))


def _exponent(alpha: object) -> None:
    if not isinstance(alpha, Real) or not 0.0 < float(alpha) < 1.0:
        raise ConeError(f"the exponent of a power cone is {alpha!r}.", "It must lie strictly between 0 and 1.", "cones")
