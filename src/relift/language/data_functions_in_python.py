"""Functions of data, ranges and piecewise linear functions for models that are built in Python.

>>> from relift.language.build_in_python import Model
>>> m = Model()
>>> (T,) = m.indices("T")
>>> time, load = m.relation("time", 1, ordered=True), m.param("load", 1)
>>> x = m.var("x", T, where=time(T) & in_range(hour(T), 8, 17), lower=0)
>>> m.minimise(piecewise(x(star), [(0, 0), (10, 5), (20, 20)]))
>>> m.subject_to(x(T) >= x(prev(T)) + load(T + hours(1)), forall=T, where=time(prev(T)))
>>> print(m)
relation time/1 ordered;
param load/1;
var x(T) in time(T) & (8 <= hour(T) <= 17) >= 0;
minimize: piecewise(x(*); 0: 0, 10: 5, 20: 20);
subject to forall {T in time(prev(T))}: x(T) >= x(prev(T)) + load(T + hours(1));
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from relift.errors import ModelBuildingError
from relift.language.expressions_in_python import Expression, Predicate, Term, function, number_node, signed_number
from relift.language.syntax import nodes as n

star = Expression(n.Star(), "number")
"""As an argument of a variable or param: the sum over all values there, ``ship(P, *)``."""


def in_range(value: Term, first: Term, last: Term) -> Expression:
    """``value in first .. last``: the whole numbers from first to last; in a query it binds a logic variable."""
    ends = number_node(first, "in_range"), number_node(last, "in_range")
    node = number_node(value, "in_range")
    if isinstance(node, n.LogicName):
        return Expression(n.Range(node, *ends), "formula")
    return Expression(n.Compare((ends[0], node, ends[1]), ("<=", "<=")), "formula")


def piecewise(value: Term, points: Iterable[tuple[float, float]]) -> Expression:
    """``piecewise(value; x0: y0, x1: y1, ...)``: the line through points, convex or concave by its slopes.

    Parameters
    ----------
    value
        Where it is taken.
    points
        At least two pairs (x, y), from left to right; the first and the last line go on.

    Raises
    ------
    ModelBuildingError
        If there are fewer, or they are not in order.
    """
    pairs = [(x, y) for x, y in points]
    if len(pairs) < 2 or any(b[0] <= a[0] for a, b in pairwise(pairs)):
        raise ModelBuildingError("piecewise needs at least two points, from left to right.", "Sort them.")
    nodes = tuple((signed_number(x), signed_number(y)) for x, y in pairs)
    return Expression(n.Piecewise(number_node(value, "piecewise"), nodes), "number")


def mod(first: Term, second: Term) -> Expression:
    """``mod(a, b)``: the remainder, with the sign of b."""
    return function("mod", first, second)


def floor(value: Term) -> Expression:
    """``floor(a)``: the next whole number below."""
    return function("floor", value)


def ceil(value: Term) -> Expression:
    """``ceil(a)``: the next whole number above."""
    return function("ceil", value)


def round_(value: Term) -> Expression:
    """``round(a)``: the nearest whole number; halves go up."""
    return function("round", value)


def length(text: Term) -> Expression:
    """``length(s)``: how many characters a text has."""
    return function("length", text)


def lower(text: Term) -> Expression:
    """``lower(s)``: a-z in place of A-Z."""
    return function("lower", text)


def upper(text: Term) -> Expression:
    """``upper(s)``: A-Z in place of a-z."""
    return function("upper", text)


def substring(text: Term, first: Term, count: Term) -> Expression:
    """``substring(s, first, count)``: a part of a text; the first character is 1."""
    return function("substring", text, first, count)


def concat(*parts: Term) -> Expression:
    """``concat(a, b, ...)``: texts and whole numbers, joined to one text."""
    return function("concat", *parts)


def year(moment: Term) -> Expression:
    """``year(t)`` of a date or timestamp."""
    return function("year", moment)


def month(moment: Term) -> Expression:
    """``month(t)`` of a date or timestamp, 1 to 12."""
    return function("month", moment)


def day(moment: Term) -> Expression:
    """``day(t)`` of the month of a date or timestamp."""
    return function("day", moment)


def weekday(moment: Term) -> Expression:
    """``weekday(t)`` of a date or timestamp: 1 is Monday."""
    return function("weekday", moment)


def hour(moment: Term) -> Expression:
    """``hour(t)`` of a timestamp."""
    return function("hour", moment)


def minute(moment: Term) -> Expression:
    """``minute(t)`` of a timestamp."""
    return function("minute", moment)


def days(count: Term) -> Expression:
    """``t + days(a)``: so many days later."""
    return function("days", count)


def hours(count: Term) -> Expression:
    """``t + hours(a)``: so many hours later."""
    return function("hours", count)


def minutes(count: Term) -> Expression:
    """``t + minutes(a)``: so many minutes later."""
    return function("minutes", count)


def seconds(count: Term) -> Expression:
    """``t + seconds(a)``: so many seconds later."""
    return function("seconds", count)


def prev(value: Term, relation: Predicate | None = None) -> Expression:
    """``prev(t)``: the value before t in an ordered relation.

    Parameters
    ----------
    value
        A value of the relation.
    relation
        Which one, if several are ordered.
    """
    return _neighbour("prev", value, relation)


def next_(value: Term, relation: Predicate | None = None) -> Expression:
    """``next(t)``: the value after t in an ordered relation; see :func:`prev`."""
    return _neighbour("next", value, relation)


def _neighbour(name: str, value: Term, relation: object) -> Expression:
    if relation is None:
        return function(name, value)
    if not isinstance(relation, Predicate):
        raise ModelBuildingError(
            f"{relation!r} is not a relation.", "Give what relation(name, 1, ordered=True) returned."
        )
    return function(name, value, relation.name)
