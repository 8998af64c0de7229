r"""The formulas of the certificate, written once, for arrays and for expressions over tables.

They are functions of a row or of a variable alone, and of the two numbers that all share: the common unit and the scale
S of the objective. What is summed and maximised over rows and variables is put together by
:mod:`relift.lifting.certificate` with NumPy and by :mod:`relift.in_database.certify_tables` in SQL. Why they are as
they are is told in ``docs/decisions/0004-certificate-norms.md``.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from relift.program.units import DUST

ROUNDING = 1e-15
"""A sum this small against its terms may be nothing but rounding."""

ROUNDED = 1e-14
"""A gradient this small against its largest term is what rounding leaves of it, and counts as 0 in the gap."""

NOISE = 1e-2
"""A gradient counts relative to its largest term, or to this part of S for each variable's size, if that is more."""

Quantity: TypeAlias = Any
"""An array, or an expression over the columns of a table: both know ``+ - * / < <= > >= == != & | ~``."""


class Operations(Protocol):
    """What the formulas need beside operators."""

    def where(self, condition: Quantity, then: Quantity, otherwise: Quantity) -> Quantity:
        """One of two quantities."""

    def maximum(self, one: Quantity, other: Quantity) -> Quantity:
        """The larger of two quantities."""

    def minimum(self, one: Quantity, other: Quantity) -> Quantity:
        """The smaller of two quantities."""

    def absolute(self, quantity: Quantity) -> Quantity:
        """Its size."""

    def is_finite(self, quantity: Quantity) -> Quantity:
        """Whether it is neither infinite nor NaN."""


def largest_bound(ops: Operations, lower: Quantity, upper: Quantity) -> Quantity:
    """The larger of the finite bounds of a row or variable, by size; 0 without one."""
    sizes = (ops.where(ops.is_finite(bound), ops.absolute(bound), 0.0) for bound in (lower, upper))
    return ops.maximum(*sizes)


def unit(ops: Operations, natural: Quantity, common: float) -> Quantity:
    """The unit of a variable: see :mod:`relift.program.units`."""
    return ops.where(natural <= DUST * common, common, ops.minimum(natural, 1.0))


def size(ops: Operations, x: Quantity, own_unit: Quantity) -> Quantity:
    """How large a variable is: its value, or its unit."""
    return ops.maximum(ops.absolute(x), own_unit)


def affordable_unit(ops: Operations, own_unit: Quantity, price: Quantity, scale: float) -> Quantity:
    """The unit of a variable, or less if a unit of it, at its reduced cost, costs more than S."""
    cost = ops.absolute(price)
    return ops.where(cost * own_unit > scale, scale / ops.where(cost > 0.0, cost, 1.0), own_unit)


def scale_of_objective(value: float, constant: float, largest_term: float) -> float:
    """S: the objective by size, with or without its constant, whichever is less, plus 1 (less if no term reaches 1)."""
    return min(abs(value), abs(value + constant)) + (min(1.0, largest_term) if largest_term > 0 else 1.0)


def admissible(ops: Operations, multiplier: Quantity, lower: Quantity, upper: Quantity) -> Quantity:
    """A multiplier, 0 where it presses on a bound that is not there."""
    nothing = (multiplier > 0.0) & ~ops.is_finite(upper) | (multiplier < 0.0) & ~ops.is_finite(lower)
    return ops.where(nothing, 0.0, multiplier)


def unless_rounding(ops: Operations, multiplier: Quantity, largest_term: Quantity) -> Quantity:
    """A multiplier of a bound, 0 where it may be what rounding leaves of the gradient: some bounds are 1e30 away."""
    return ops.where(ops.absolute(multiplier) <= ROUNDED * largest_term, 0.0, multiplier)


def violation(ops: Operations, value: Quantity, lower: Quantity, upper: Quantity, products: Quantity) -> Quantity:
    """How far a value is outside its bounds, relative to the bound and to the largest product in it."""
    below = ops.maximum(lower - value, 0.0) / ops.maximum(ops.absolute(lower), products)
    above = ops.maximum(value - upper, 0.0) / ops.maximum(ops.absolute(upper), products)
    return ops.maximum(
        ops.where(ops.is_finite(lower), below, 0.0),
        ops.where(ops.is_finite(upper), above, 0.0),
    )


def slackness(ops: Operations, multiplier: Quantity, value: Quantity, lower: Quantity, upper: Quantity) -> Quantity:
    """What an admissible multiplier adds to the gap: its size times the distance from the bound it presses on."""
    bound = ops.where(multiplier > 0.0, upper, lower)
    return ops.where(multiplier != 0.0, ops.absolute(multiplier * (value - bound)), 0.0)


def stationarity(ops: Operations, rho: Quantity, largest_term: Quantity, size: Quantity, scale: float) -> Quantity:
    """How far a gradient is from 0, relative to its largest term; slopes that S hardly notices are measured by S."""
    return ops.absolute(rho) / ops.maximum(largest_term, NOISE * scale / size)


def possible_fall(
    ops: Operations,
    rho: Quantity,
    largest_term: Quantity,
    x: Quantity,
    lower: Quantity,
    upper: Quantity,
    size: Quantity,
    is_falling: Quantity,
) -> Quantity:
    """What a gradient adds to the gap: how far the objective may fall until the variable reaches its bound.

    ``lower`` and ``upper`` are bounds of the variable, its own or implied ones; without any, it reaches its own size.
    Where nothing holds it on the way on which its own cost falls, there is no end.
    """
    end = ops.where(rho > 0.0, lower, upper)
    reach = ops.where(ops.is_finite(end), ops.absolute(x - end), size)
    fall = ops.where(ops.absolute(rho) <= ROUNDED * largest_term, 0.0, ops.absolute(rho) * reach)
    return ops.where(is_falling, float("inf"), fall)


def falls_without_end(q: Quantity, is_held_below: Quantity, is_held_above: Quantity) -> Quantity:
    """Whether the cost of a variable falls on a way on which nothing holds it: see :mod:`relift.program.held`."""
    return (q > 0.0) & ~is_held_below | (q < 0.0) & ~is_held_above
