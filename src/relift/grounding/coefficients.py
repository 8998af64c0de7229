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

from relift.grounding.queries_from_model import ROW, Queries, variables_of
from relift.grounding.workspace import Workspace
from relift.language.checked_model import (
    Arithmetic,
    Constant,
    DataExpression,
    Negative,
    ParameterValue,
)
from relift.tables.algebra import Column, Plan, Project, call

Floats = NDArray[np.float64]
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
        found = queries.scalars.get(factor.name, queries.parameters[factor.name].default)
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


def column_of_values(
    work: Workspace,
    queries: Queries,
    plan: Plan,
    expression: DataExpression,
    rows: int,
    statement: str,
    needed: NDArray[np.bool_] | None = None,
) -> Floats:
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
    values[found[ROW]] = found[VALUE]
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
