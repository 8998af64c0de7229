"""Coefficients and values: from a data expression over rows to NumPy columns, with products kept exact.

A coefficient is split into a number, factors that depend on the row only, and the rest: ``label(I) * 2 * x(I,J)`` in a
sum over J is ``2``, ``label(I)`` and ``x(I,J)``. Each is fetched where it is small, and multiplied in NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import reduce
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Vector
from relift.grounding import exact
from relift.grounding.queries_from_model import ROW, Queries, variables_of
from relift.grounding.workspace import Workspace
from relift.language.checked_model import (
    Arithmetic,
    Constant,
    DataAggregate,
    DataExpression,
    Function,
    Indicator,
    Negative,
    ParameterValue,
)
from relift.tables.algebra import Column, Plan, Project, Type, call

VALUE = "#value"


@final
@dataclass(frozen=True)
class Coefficient:
    """A product, sorted by what its factors depend on.

    Parameters
    ----------
    number
        The constants, multiplied exactly.
    by_row
        Factors that depend on some of the given variables only.
    rest
        All other factors.
    """

    number: float
    by_row: DataExpression | None
    rest: DataExpression | None


def split(queries: Queries, expression: DataExpression, variables: Set[str]) -> Coefficient:
    """Sort the factors of a product: constants, those over given variables only, and the rest."""
    numbers: list[float | int] = []
    by_row: list[DataExpression] = []
    rest: list[DataExpression] = []
    for factor in _factors(expression):
        constant = _constant(queries, factor)
        if constant is not None:
            numbers.append(constant)
        elif variables_of(factor) <= variables:
            by_row.append(factor)
        else:
            rest.append(factor)
    return Coefficient(product_of(numbers), _product(by_row), _product(rest))


def _factors(expression: DataExpression) -> Iterator[DataExpression]:
    if isinstance(expression, Negative):
        yield Constant(-1)
        yield from _factors(expression.part)
    elif isinstance(expression, Arithmetic) and expression.op == "*":
        yield from _factors(expression.left)
        yield from _factors(expression.right)
    else:
        yield expression


def _constant(queries: Queries, factor: DataExpression) -> float | int | None:
    if isinstance(factor, Constant) and not isinstance(factor.value, str):
        return factor.value
    if isinstance(factor, ParameterValue) and not factor.arguments:
        default = queries.parameters[factor.name].default if factor.default is None else factor.default
        found = queries.scalars.get(factor.name, default)
        return found if found is not None and np.isfinite(found) else None
    return None


def _product(factors: list[DataExpression]) -> DataExpression | None:
    return reduce(lambda a, b: Arithmetic("*", a, b), factors) if factors else None


def product_of(numbers: list[float | int]) -> float:
    """The product of decimals, rounded once.

    Examples
    --------
    >>> product_of([0.1, 3])
    0.3
    """
    with localcontext() as context:
        context.prec = 200
        product = Decimal(1)
        for number in numbers:
            product *= Decimal(repr(number))
        return float(product)


def exact_scale(work: Workspace, queries: Queries, expression: DataExpression | None) -> int | None:
    """How many decimals the exact value of an expression has, if it is calculated and all its parts are short decimals.

    The engine calculates in floats; its results are then rounded to so many decimals (:func:`exact.snapped`).
    """
    if expression is None or not isinstance(expression, Arithmetic | Negative | Function | DataAggregate):
        return None
    return decimals_of(work, queries, expression)


def decimals_of(work: Workspace, queries: Queries, e: DataExpression) -> int | None:
    """How many decimals the exact value of an expression has, if all its parts are short decimals."""
    if isinstance(e, Constant):
        return None if isinstance(e.value, str) else exact.decimal_scale(np.full(1, float(e.value)))
    if isinstance(e, ParameterValue):
        return _scale_of_param(work, queries, e)
    if isinstance(e, Negative):
        return decimals_of(work, queries, e.part)
    if isinstance(e, Arithmetic) and e.op in {"+", "-", "*"}:
        scales = decimals_of(work, queries, e.left), decimals_of(work, queries, e.right)
        if scales[0] is None or scales[1] is None:
            return None
        return scales[0] + scales[1] if e.op == "*" else max(scales[0], scales[1])
    if isinstance(e, Function) and e.name in {"abs", "min", "max"}:
        found = [decimals_of(work, queries, argument) for argument in e.arguments]
        known = [scale for scale in found if scale is not None]
        return max(known) if len(known) == len(found) else None
    if isinstance(e, Function) and e.name in {"floor", "length", "year", "month", "day", "weekday", "hour", "minute"}:
        return 0
    if isinstance(e, DataAggregate):
        return 0 if e.body is None else decimals_of(work, queries, e.body)
    return 0 if isinstance(e, Indicator) else None


def _scale_of_param(work: Workspace, queries: Queries, e: ParameterValue) -> int | None:
    default = queries.parameters[e.name].default if e.default is None else e.default
    fill = exact.decimal_scale(np.full(1, float(default))) if default is not None else 0
    if not e.arguments:
        value = queries.scalars.get(e.name)
        return fill if value is None else exact.decimal_scale(np.full(1, float(value)))
    table = queries.tables[e.name]
    if table.value_type != Type.REAL:
        return fill
    if table.name not in work.scales:
        values = work.engine.fetch(table.scan([None] * len(table.types), VALUE))[VALUE]
        work.scales[table.name] = exact.decimal_scale(values)
    own = work.scales[table.name]
    return None if own is None or fill is None else max(own, fill)


def column_of_values(
    work: Workspace,
    queries: Queries,
    plan: Plan,
    expression: DataExpression,
    rows: int,
    statement: str,
    needed: NDArray[np.bool_] | None = None,
) -> Vector:
    """The values of an expression for the rows ``0 .. rows-1`` of a plan with a column of numbers.

    Raises
    ------
    DataError
        If a value is missing in a row; only where it is ``needed``, if that is given. Others are 0.
    """
    if (constant := _constant_value(queries, expression)) is not None:
        return np.full(rows, constant)
    plan, scalar = queries.value(plan, expression)
    outputs = Project(plan, {ROW: call("number of row", Column(ROW)), VALUE: call("real", scalar)})
    found = work.fetch(outputs, queries, statement)
    values = np.full(rows, np.nan)
    values[found[ROW]] = exact.snapped(found[VALUE], exact_scale(work, queries, expression))
    missing = np.isnan(values)
    if missing.any():
        if needed is None or (missing & needed).any():
            raise work.explain_missing(queries, statement)
        values[missing] = 0.0
    return values


def _constant_value(queries: Queries, expression: DataExpression) -> float | None:
    numbers = [_constant(queries, factor) for factor in _factors(expression)]
    known = [number for number in numbers if number is not None]
    return product_of(known) if len(known) == len(numbers) else None
