"""What the functions of :mod:`relift.language.functions` mean for data: sums, powers, logarithms and brackets.

Where all arguments are data nothing needs to be convex, and a function is a number that grounding computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from typing import cast

from relift.language import checked_model as c
from relift.language.functions import DATA_FUNCTIONS, RESERVED_FUNCTIONS
from relift.language.syntax.source import NOWHERE, Span

_ZERO, _ONE, _TWO = c.Constant(0), c.Constant(1), c.Constant(2)


def data_function(name: str, arguments: tuple[c.DataExpression, ...], span: Span) -> c.DataExpression:
    """A function of data, for given arguments.

    Examples
    --------
    >>> data_function("inv", (c.Constant(4),), Span(0, 0))
    Arithmetic(op='/', left=Constant(value=1), right=Constant(value=4))
    """
    if name in RESERVED_FUNCTIONS:
        return c.Function(cast("c.FunctionName", name), arguments, span)
    first, last = arguments[0], arguments[-1]
    match name:
        case "ceil":
            return c.Negative(_function("floor", (c.Negative(first),), span))
        case "round":
            return _function("floor", (_op("+", first, c.Constant(0.5), span),), span)
        case _ if name in DATA_FUNCTIONS:
            return c.Function(cast("c.FunctionName", name), arguments, span)
        case "inv":
            return _op("/", _ONE, first, span)
        case "entropy":
            return c.Negative(_op("*", first, _log(_not_zero(first), span)))
        case "kl":
            ratio = _log(_op("/", _not_zero(first), last, span), span)
            return _op("+", _op("-", _op("*", first, ratio), first), last)
        case "huber":
            size = _function("abs", (first,), span)
            small = _function("min", (size, last), span)
            return _op("*", small, _op("-", _op("*", _TWO, size), small))
        case "norm":
            return _function("sqrt", (_total(_square(a) for a in arguments),), span)
        case "norm1":
            return _total(_function("abs", (a,), span) for a in arguments)
        case "norminf":
            sizes = tuple(_function("abs", (a,), span) for a in arguments)
            return sizes[0] if len(sizes) == 1 else _function("max", sizes, span)
        case "quad_over_lin":
            return _op("/", _total(_square(a) for a in arguments[:-1]), last, span)
        case "geo_mean":
            logarithms = _total(_log(_not_zero(a), span) for a in arguments)
            positive = reduce(lambda a, b: _op("*", a, b), map(_is_not_zero, arguments))
            return _op("*", positive, _mean_of_logarithms(logarithms, c.Constant(len(arguments)), span))
        case _:  # log_sum_exp
            largest = _function("max", arguments, span) if len(arguments) > 1 else first
            total = _total(_function("exp", (_op("-", a, largest),), span) for a in arguments)
            return _op("+", largest, _log(total, span))


def data_function_over_query(
    kind: str, aggregated: Callable[[], c.DataAggregate], others: tuple[c.DataExpression, ...]
) -> c.DataExpression:
    """A function of data, over a query.

    Parameters
    ----------
    kind
        Which one.
    aggregated
        Makes the sum of its body over the query; each time with new names for the variables of the query.
    others
        Further arguments: the divisor of ``quad_over_lin``.
    """
    found = aggregated()
    body, span = found.body, found.span
    if body is None or kind in ("sum", "count"):
        return found
    match kind:
        case "min" | "max":
            return replace(found, kind=cast("c.AggregateKind", kind))
        case "norm":
            return _function("sqrt", (replace(found, body=_square(body)),), span)
        case "norm1":
            return replace(found, body=_function("abs", (body,), span))
        case "norminf":
            return replace(found, kind="max", body=_function("abs", (body,), span))
        case "quad_over_lin":
            return _op("/", replace(found, body=_square(body)), others[0], span)
        case "geo_mean":
            positive, count = aggregated(), aggregated()
            all_positive = replace(positive, kind="min", body=_is_not_zero(cast("c.DataExpression", positive.body)))
            total = replace(found, body=_log(_not_zero(body), span))
            size = replace(count, kind="count", body=None)
            return _op("*", all_positive, _mean_of_logarithms(total, size, span))
        case _:  # log_sum_exp
            largest = replace(aggregated(), kind="max")
            within = (*found.outer, *(v for v in largest.outer if v not in found.outer))
            total = replace(found, body=_function("exp", (_op("-", body, largest),), span), outer=within)
            return _op("+", replace(aggregated(), kind="max"), _log(total, span))


def _op(
    op: c.ArithmeticSign, left: c.DataExpression, right: c.DataExpression, span: Span = NOWHERE
) -> c.DataExpression:
    return c.Arithmetic(op, left, right, span)


def _function(name: c.FunctionName, arguments: tuple[c.DataExpression, ...], span: Span) -> c.DataExpression:
    return c.Function(name, arguments, span)


def _log(part: c.DataExpression, span: Span) -> c.DataExpression:
    return _function("log", (part,), span)


def _square(part: c.DataExpression) -> c.DataExpression:
    return _op("**", part, _TWO)


def _total(parts: Iterable[c.DataExpression]) -> c.DataExpression:
    return reduce(lambda a, b: _op("+", a, b), parts)


def _mean_of_logarithms(total: c.DataExpression, count: c.DataExpression, span: Span) -> c.DataExpression:
    return _function("exp", (_op("/", total, count, span),), span)


def _not_zero(part: c.DataExpression) -> c.DataExpression:
    """The number, with 1 in place of 0, whose logarithm is 0."""
    return _op("+", part, c.Indicator(c.Comparison("=", part, _ZERO)))


def _is_not_zero(part: c.DataExpression) -> c.DataExpression:
    return c.Indicator(c.Comparison("!=", part, _ZERO))
