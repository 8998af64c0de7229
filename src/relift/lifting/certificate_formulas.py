r"""The formulas of the certificate, written once, for arrays and for expressions over tables.

They are functions of a row or of a variable alone, and of the two numbers that all share: the common unit and the scale
S of the objective. What is summed and maximised over rows and variables is put together by
:mod:`relift.lifting.certificate` with NumPy and by :mod:`relift.in_database.certify_tables` in SQL. Why they are as
they are is told in ``docs/decisions/0004-certificate-norms.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, overload

from relift.program.units import DUST

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
        """Its size."""

    @overload
    def is_finite(self: Operations[Vector], quantity: Vector) -> Flags: ...
    @overload
    def is_finite(self: Operations[Expression], quantity: Expression) -> Expression: ...


def largest_bound(ops: Operations[Quantity], lower: Quantity, upper: Quantity) -> Quantity:
    """The larger of the finite bounds of a row or variable, by size; 0 without one."""
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
    """S: the objective by size, with or without its constant, whichever is less, plus 1 (less if no term reaches 1)."""
    return min(abs(value), abs(value + constant)) + (min(1.0, largest_term) if largest_term > 0 else 1.0)


def admissible(ops: Operations[Quantity], multiplier: Quantity, lower: Quantity, upper: Quantity) -> Quantity:
    """A multiplier, 0 where it presses on a bound that is not there."""
    nothing = (multiplier > 0.0) & ~ops.is_finite(upper) | (multiplier < 0.0) & ~ops.is_finite(lower)
    return ops.where(nothing, 0.0, multiplier)


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
    ops: Operations[Quantity], multiplier: Quantity, value: Quantity, lower: Quantity, upper: Quantity
) -> Quantity:
    """What an admissible multiplier adds to the gap: its size times the distance from the bound it presses on."""
    bound = ops.where(multiplier > 0.0, upper, lower)
    return ops.where(multiplier != 0.0, ops.absolute(multiplier * (value - bound)), 0.0)


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
) -> Quantity:
    """What a gradient adds to the gap: how far the objective may fall until the variable reaches its bound.

    ``lower`` and ``upper`` are bounds of the variable, its own or implied ones; without any, it reaches its own size.
    """
    end = ops.where(rho > 0.0, lower, upper)
    reach = ops.where(ops.is_finite(end), ops.absolute(x - end), size)
    return ops.where(ops.absolute(rho) <= ROUNDED * largest_term, 0.0, ops.absolute(rho) * reach)
