r"""The formulas of residuals, units, implied bounds and shares, stated once, for arrays and for tables.

They are functions of a row, a variable or an entry alone, and of the two numbers that all share: the common unit and
the scale S of the objective. What is summed and maximised over rows and variables is put together with NumPy by
:mod:`relift.lifting` and this package, which read the formulas with :data:`ARRAYS`, and as queries by
:mod:`relift.in_database`, which reads them with :data:`relift.in_database.table_expressions.EXPRESSIONS`. The reasons
for them are in ``docs/decisions/0004-certificate-norms.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, overload

import numpy as np

DUST = 1e-9
"""Right-hand sides and bounds this small, in a program that has larger ones, may be nothing but rounding."""

if TYPE_CHECKING:
    from relift.arrays import Flags, Vector
    from relift.in_database.table_expressions import Expression

ROUNDING = 1e-15
"""A sum this small against its terms may be nothing but rounding."""

ROUNDED = 1e-14
"""A gradient this small against its largest term is what rounding leaves of it, and counts as 0 in the gap."""

NOISE = 1e-2
"""A gradient counts relative to its largest term, or to this part of S for each variable's size, if that is more."""

Quantity = TypeVar("Quantity", "Vector", "Expression")
"""An array, or an expression over the columns of a table: both know ``+ - * / < <= > >= == != & | ~``."""


class Operations(Protocol[Quantity]):
    """What the formulas need beside operators; comparing arrays gives flags, comparing expressions an expression."""

    @overload
    def where(
        self: Operations[Vector], condition: Flags, then: Vector | float, otherwise: Vector | float
    ) -> Vector: ...
    @overload
    def where(
        self: Operations[Expression], condition: Expression, then: Expression | float, otherwise: Expression | float
    ) -> Expression: ...

    def maximum(self, one: Quantity | float, other: Quantity | float) -> Quantity:
        """The larger of two quantities."""

    def minimum(self, one: Quantity | float, other: Quantity | float) -> Quantity:
        """The smaller of two quantities."""

    def absolute(self, quantity: Quantity) -> Quantity:
        """The absolute value."""

    @overload
    def is_finite(self: Operations[Vector], quantity: Vector) -> Flags: ...
    @overload
    def is_finite(self: Operations[Expression], quantity: Expression) -> Expression: ...


class _Arrays:
    """What the formulas need, for arrays."""

    def where(self, condition: Flags, then: Vector | float, otherwise: Vector | float) -> Vector:
        return np.where(condition, then, otherwise)

    def maximum(self, one: Vector | float, other: Vector | float) -> Vector:
        return np.asarray(np.maximum(one, other))

    def minimum(self, one: Vector | float, other: Vector | float) -> Vector:
        return np.asarray(np.minimum(one, other))

    def absolute(self, quantity: Vector) -> Vector:
        return np.abs(quantity)

    def is_finite(self, quantity: Vector) -> Flags:
        return np.isfinite(quantity)


ARRAYS: Operations[Vector] = _Arrays()
"""The reading of the formulas for arrays."""


def row_share(scale: Quantity, leader_scale: Quantity, class_size: Quantity) -> Quantity:
    r"""The part of a class's dual value that one of its rows gets: :math:`y_i = \hat y\, d_r / (d_i\,|class|)`.

    Parameters
    ----------
    scale, leader_scale
        The row and the first row of its class are these multiples of a common row. Where rows are compared after
        multiplication by factors f = 1 / scale, the first row's factor and the row's own, in this order.
    class_size
        How many rows the class has.
    """
    return leader_scale / (scale * class_size)


def variable_share(class_size: Quantity) -> Quantity:
    r"""The part of the dual value of its class's bounds that a variable gets: :math:`w_j = \hat w / |class|`."""
    return 1.0 / class_size


def largest_bound(ops: Operations[Quantity], lower: Quantity, upper: Quantity) -> Quantity:
    """The larger of the finite bounds of a row or variable (in absolute value); 0 without one."""
    sizes = (ops.where(ops.is_finite(bound), ops.absolute(bound), 0.0) for bound in (lower, upper))
    return ops.maximum(*sizes)


def unit(ops: Operations[Quantity], natural: Quantity, common: float) -> Quantity:
    """The unit of a variable: see :mod:`relift.program.units`."""
    return ops.where(natural <= DUST * common, common, ops.minimum(natural, 1.0))


def size(ops: Operations[Quantity], x: Quantity, own_unit: Quantity) -> Quantity:
    """How large a variable is: its value, or its unit."""
    return ops.maximum(ops.absolute(x), own_unit)


def affordable_unit(ops: Operations[Quantity], own_unit: Quantity, price: Quantity, scale: float) -> Quantity:
    """The unit of a variable, or less if a unit of it, at its reduced cost, costs more than S."""
    cost = ops.absolute(price)
    return ops.where(cost * own_unit > scale, scale / ops.where(cost > 0.0, cost, 1.0), own_unit)


def scale_of_objective(value: float, constant: float, largest_term: float) -> float:
    """S: the absolute objective (with or without its constant, whichever is less) + 1, or less if no term reaches 1."""
    return min(abs(value), abs(value + constant)) + (min(1.0, largest_term) if largest_term > 0 else 1.0)


def admissible(ops: Operations[Quantity], dual_value: Quantity, lower: Quantity, upper: Quantity) -> Quantity:
    """A dual value, 0 where it belongs to an infinite bound."""
    nothing = (dual_value > 0.0) & ~ops.is_finite(upper) | (dual_value < 0.0) & ~ops.is_finite(lower)
    return ops.where(nothing, 0.0, dual_value)


def unless_rounding(ops: Operations[Quantity], multiplier: Quantity, largest_term: Quantity) -> Quantity:
    """A multiplier of a bound, 0 where it may be what rounding leaves of the gradient: some bounds are 1e30 away."""
    return ops.where(ops.absolute(multiplier) <= ROUNDED * largest_term, 0.0, multiplier)


def violation(
    ops: Operations[Quantity], value: Quantity, lower: Quantity, upper: Quantity, products: Quantity
) -> Quantity:
    """How far a value is outside its bounds, relative to the bound and to the largest product in it."""
    below = ops.maximum(lower - value, 0.0) / ops.maximum(ops.absolute(lower), products)
    above = ops.maximum(value - upper, 0.0) / ops.maximum(ops.absolute(upper), products)
    return ops.maximum(
        ops.where(ops.is_finite(lower), below, 0.0),
        ops.where(ops.is_finite(upper), above, 0.0),
    )


def slackness(
    ops: Operations[Quantity], dual_value: Quantity, value: Quantity, lower: Quantity, upper: Quantity
) -> Quantity:
    """What an admissible dual value adds to the gap: its size times the distance from its active bound."""
    bound = ops.where(dual_value > 0.0, upper, lower)
    return ops.where(dual_value != 0.0, ops.absolute(dual_value * (value - bound)), 0.0)


def stationarity(
    ops: Operations[Quantity], rho: Quantity, largest_term: Quantity, size: Quantity, scale: float
) -> Quantity:
    """How far a gradient is from 0, relative to its largest term; slopes that S hardly notices are measured by S."""
    return ops.absolute(rho) / ops.maximum(largest_term, NOISE * scale / size)


def possible_fall(
    ops: Operations[Quantity],
    rho: Quantity,
    largest_term: Quantity,
    x: Quantity,
    lower: Quantity,
    upper: Quantity,
    size: Quantity,
    without_end: Quantity,
) -> Quantity:
    """What a gradient adds to the gap: how far the objective may fall until the variable reaches its bound.

    ``lower`` and ``upper`` are bounds of the variable, its own or implied ones; without any, it reaches its own size.
    Where it falls ``without_end`` the gap is infinite.
    """
    end = ops.where(rho > 0.0, lower, upper)
    reach = ops.where(ops.is_finite(end), ops.absolute(x - end), size)
    fall = ops.where(ops.absolute(rho) <= ROUNDED * largest_term, 0.0, ops.absolute(rho) * reach)
    return ops.where(without_end > 0.0, np.inf, fall)


def falls_without_end(ops: Operations[Quantity], q: Quantity, held_below: Quantity, held_above: Quantity) -> Quantity:
    """Whether the cost of a variable falls on a way on which nothing holds it: 1 or 0.

    ``held_below`` and ``held_above`` are positive where something does (:mod:`relift.program.held`).
    """
    return ops.where((q > 0.0) & (held_below <= 0.0) | (q < 0.0) & (held_above <= 0.0), 1.0, 0.0)


def support(ops: Operations[Quantity], dual_value: Quantity, lower: Quantity, upper: Quantity) -> Quantity:
    """What an admissible dual value of a ray proves: its product with its active bound."""
    return dual_value * ops.where(dual_value > 0.0, upper, ops.where(dual_value < 0.0, lower, 0.0))


def outwards(ops: Operations[Quantity], direction: Quantity, lower: Quantity, upper: Quantity) -> Quantity:
    """How fast a direction leaves through the finite bounds."""
    above = ops.where(ops.is_finite(upper), ops.maximum(direction, 0.0), 0.0)
    below = ops.where(ops.is_finite(lower), ops.maximum(-direction, 0.0), 0.0)
    return above + below


def ratio(ops: Operations[Quantity], wrong: Quantity, size: Quantity) -> Quantity:
    """What is wrong, relative to a size: 0 where nothing is wrong, infinite where something is and the size is 0."""
    relative = wrong / ops.where(size > 0.0, size, 1.0)
    return ops.where(wrong > 0.0, ops.where(size > 0.0, relative, np.inf), 0.0)


def extreme_products(
    ops: Operations[Quantity], entry: Quantity, lower: Quantity, upper: Quantity
) -> tuple[Quantity, Quantity]:
    """The largest and the smallest product of an entry with a variable between its bounds."""
    at_upper, at_lower = entry * upper, entry * lower
    return ops.where(entry > 0.0, at_upper, at_lower), ops.where(entry > 0.0, at_lower, at_upper)


def implied_bound(
    ops: Operations[Quantity], entry: Quantity, side: Quantity, own: Quantity, total: Quantity, n_infinite: Quantity
) -> tuple[Quantity, Quantity]:
    """The bound of a variable that one side of a row implies, and whether it does.

    Parameters
    ----------
    ops
        The reading.
    entry
        The entry of the variable in the row.
    side
        The lower or upper bound of the row.
    own
        The largest (for the lower side) or smallest product of this entry.
    total, n_infinite
        The sum of the finite such products of the row, and how many are not finite.
    """
    is_finite = ops.is_finite(own)
    others = total - ops.where(is_finite, own, 0.0)
    missing = n_infinite - ops.where(is_finite, 0.0, 1.0)
    holds = ops.is_finite(side) & (missing <= 0.0)
    return (side - others) / entry, holds  # type: ignore[return-value]  # flags, where quantities are arrays
