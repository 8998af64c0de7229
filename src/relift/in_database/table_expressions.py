"""Expressions over the columns of a table, with Python's operators: so that a formula can be written once.

>>> (column("x") * 2.0 > 1.0).scalar
Call(operation='>', arguments=(Call(operation='*', arguments=(Column(name='x'), Literal(value=2.0, \
type=<Type.REAL: 'real'>))), Literal(value=1.0, type=<Type.REAL: 'real'>)))
"""

from __future__ import annotations

from typing import TypeAlias, final

from relift.program.formulas import Operations
from relift.tables.algebra import Column, Operation, Scalar, call, literal

Operand: TypeAlias = "Expression | float"


@final
class Expression:
    """A scalar over the columns of a table."""

    def __init__(self, scalar: Scalar) -> None:
        self.scalar = scalar

    def __add__(self, other: Operand) -> Expression:
        return _called("+", self, other)

    def __radd__(self, other: Operand) -> Expression:
        return _called("+", other, self)

    def __sub__(self, other: Operand) -> Expression:
        return _called("-", self, other)

    def __rsub__(self, other: Operand) -> Expression:
        return _called("-", other, self)

    def __mul__(self, other: Operand) -> Expression:
        return _called("*", self, other)

    def __rmul__(self, other: Operand) -> Expression:
        return _called("*", other, self)

    def __truediv__(self, other: Operand) -> Expression:
        return _called("/", self, other)

    def __rtruediv__(self, other: Operand) -> Expression:
        return _called("/", other, self)

    def __neg__(self) -> Expression:
        return _called("negative", self)

    def __lt__(self, other: Operand) -> Expression:
        return _called("<", self, other)

    def __le__(self, other: Operand) -> Expression:
        return _called("<=", self, other)

    def __gt__(self, other: Operand) -> Expression:
        return _called(">", self, other)

    def __ge__(self, other: Operand) -> Expression:
        return _called(">=", self, other)

    def __eq__(self, other: Operand) -> Expression:  # type: ignore[override]
        return _called("=", self, other)

    def __ne__(self, other: Operand) -> Expression:  # type: ignore[override]
        return _called("!=", self, other)

    def __and__(self, other: Operand) -> Expression:
        return _called("and", self, other)

    def __or__(self, other: Operand) -> Expression:
        return _called("or", self, other)

    def __invert__(self) -> Expression:
        return _called("not", self)

    __hash__ = None  # type: ignore[assignment]


def column(name: str) -> Expression:
    """The expression that is a column."""
    return Expression(Column(name))


def _scalar(operand: Operand) -> Scalar:
    return operand.scalar if isinstance(operand, Expression) else literal(float(operand))


def _called(operation: Operation, *operands: Operand) -> Expression:
    return Expression(call(operation, *(_scalar(operand) for operand in operands)))


@final
class _Expressions:
    """What the formulas need, for expressions."""

    def where(self, condition: Expression, then: Operand, otherwise: Operand) -> Expression:
        return _called("if", condition, then, otherwise)

    def maximum(self, one: Operand, other: Operand) -> Expression:
        return _called("greatest", one, other)

    def minimum(self, one: Operand, other: Operand) -> Expression:
        return _called("least", one, other)

    def absolute(self, quantity: Operand) -> Expression:
        return _called("abs", quantity)

    def is_finite(self, quantity: Operand) -> Expression:
        return _called("is finite", quantity)


EXPRESSIONS: Operations[Expression] = _Expressions()
