"""The convex and concave functions of the language: one line each says curvature, slopes and sign.

This table is all that the checker knows of them (:mod:`relift.language.checks.curvature` applies the usual rules of
composition to it), and the reference in ``docs/language.md`` is made from it. What cones or rows a function becomes
is said in :mod:`relift.grounding.conic_terms`, what it means for data in :mod:`relift.language.checks.data_functions`.

>>> FUNCTIONS["norm"].curvature, FUNCTIONS["norm"].slopes, FUNCTIONS["norm"].sign
('convex', ('away',), 'nonnegative')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

Curvature: TypeAlias = Literal["convex", "concave"]
Slope: TypeAlias = Literal["up", "down", "away", "none"]
"""Nondecreasing, nonincreasing, away from zero (nondecreasing from 0 on, nonincreasing up to 0), or none of these."""


@final
@dataclass(frozen=True, slots=True)
class ConvexFunction:
    """One function.

    Parameters
    ----------
    name
        As it is written.
    curvature
        Convex or concave, jointly in all arguments.
    slopes
        One for each argument, the last one for all that follow; of ``quad_over_lin`` the last one is that of the
        divisor.
    sign
        The sign of its values; that of ``max`` and ``min`` follows from their arguments.
    fewest, most
        How many arguments it has; no limit if `most` is None.
    is_over_query
        Whether ``name{I in q} e`` can be written.
    written
        How it is written, for tables and messages.
    meaning
        The formula.
    becomes
        Rows or cones of the program.
    """

    name: str
    curvature: Curvature
    slopes: tuple[Slope, ...]
    sign: Literal["nonnegative", "unknown"]
    fewest: int
    most: int | None
    is_over_query: bool
    written: str
    meaning: str
    becomes: str

    def slope(self, position: int, count: int) -> Slope:
        """The slope in the argument at a position, of so many arguments."""
        if self.name == "quad_over_lin":
            return "down" if position == count - 1 else "away"
        return self.slopes[min(position, len(self.slopes) - 1)]


_SOC, _POWER, _EXP = "second-order cone", "power cone", "exponential cone"

_ALL = (
    ConvexFunction("abs", "convex", ("away",), "nonnegative", 1, 1, False, "abs(e)", "\\|e\\|", "rows"),
    ConvexFunction(
        "max", "convex", ("up",), "unknown", 2, None, True, "max(a, b, ...), max{I in q} e", "the largest", "rows"
    ),
    ConvexFunction(
        "min", "concave", ("up",), "unknown", 2, None, True, "min(a, b, ...), min{I in q} e", "the smallest", "rows"
    ),
    ConvexFunction(
        "norm1", "convex", ("away",), "nonnegative", 1, None, True, "norm1{I in q} e, norm1(a, b, ...)", "Σ\\|e\\|",
        "rows",
    ),
    ConvexFunction(
        "norminf", "convex", ("away",), "nonnegative", 1, None, True, "norminf{I in q} e, norminf(a, b, ...)",
        "max \\|e\\|", "rows",
    ),
    ConvexFunction(
        "norm", "convex", ("away",), "nonnegative", 1, None, True, "norm{I in q} e, norm(a, b, ...)", "√Σe²", _SOC
    ),
    ConvexFunction(
        "huber", "convex", ("away",), "nonnegative", 2, 2, False, "huber(e, d)",
        "e² up to \\|e\\| = d, then 2d\\|e\\| − d²; d is data", "quadratic",
    ),
    ConvexFunction(
        "quad_over_lin", "convex", ("away", "down"), "nonnegative", 2, None, True,
        "quad_over_lin{I in q} (e, t), quad_over_lin(a, b, ..., t)", "Σe² / t, t > 0", _SOC,
    ),
    ConvexFunction("inv", "convex", ("down",), "nonnegative", 1, 1, False, "inv(e)", "1 / e, e > 0", _SOC),
    ConvexFunction("sqrt", "concave", ("up",), "nonnegative", 1, 1, False, "sqrt(e)", "√e, e ≥ 0", _SOC),
    ConvexFunction(
        "geo_mean", "concave", ("up",), "nonnegative", 1, None, True, "geo_mean{I in q} e, geo_mean(a, b, ...)",
        "(∏e)^(1/n), e ≥ 0", _POWER,
    ),
    ConvexFunction("exp", "convex", ("up",), "nonnegative", 1, 1, False, "exp(e)", "", _EXP),
    ConvexFunction("log", "concave", ("up",), "unknown", 1, 1, False, "log(e)", "e > 0", _EXP),
    ConvexFunction(
        "log_sum_exp", "convex", ("up",), "unknown", 1, None, True, "log_sum_exp{I in q} e, log_sum_exp(a, b, ...)",
        "log Σexp(e)", _EXP,
    ),
    ConvexFunction("entropy", "concave", ("none",), "unknown", 1, 1, False, "entropy(e)", "−e log e, e ≥ 0", _EXP),
    ConvexFunction(
        "kl", "convex", ("none",), "nonnegative", 2, 2, False, "kl(e, f)", "e log(e/f) − e + f, e ≥ 0, f > 0", _EXP
    ),
)  # fmt: skip

FUNCTIONS: dict[str, ConvexFunction] = {function.name: function for function in _ALL}
"""All of them by name, in the order of the documentation."""

OVER_QUERIES: tuple[str, ...] = tuple(name for name, function in FUNCTIONS.items() if function.is_over_query)
"""Those that can be written over a query, besides ``sum`` and ``count``."""

RESERVED_FUNCTIONS = frozenset({"abs", "exp", "sqrt", "log", "min", "max"})
"""Those whose names are reserved; a predicate that has the name of another one takes its place."""


@final
@dataclass(frozen=True, slots=True)
class DataFunction:
    """A function that applies to data only; no name is reserved.

    Parameters
    ----------
    name
        As it is written.
    fewest, most
        How many arguments it has; no limit if `most` is None.
    written, meaning
        For tables and messages.
    takes_text
        Whether a bare name as an argument is a constant, and not the name of a param.
    """

    name: str
    fewest: int
    most: int | None
    written: str
    meaning: str
    takes_text: bool = False


_DATA = (
    DataFunction("mod", 2, 2, "mod(a, b)", "remainder of a divided by b, with the sign of b"),
    DataFunction("floor", 1, 1, "floor(a)", "the next whole number below"),
    DataFunction("ceil", 1, 1, "ceil(a)", "the next whole number above"),
    DataFunction("round", 1, 1, "round(a)", "the nearest whole number; halves go up"),
    DataFunction("length", 1, 1, "length(s)", "how many characters a text has", True),
    DataFunction("lower", 1, 1, "lower(s)", "a text with a-z in place of A-Z", True),
    DataFunction("upper", 1, 1, "upper(s)", "a text with A-Z in place of a-z", True),
    DataFunction("substring", 3, 3, "substring(s, first, count)", "a part of a text; the first character is 1", True),
    DataFunction("concat", 2, None, "concat(a, b, ...)", "texts and whole numbers, joined to one text", True),
    DataFunction("year", 1, 1, "year(t)", "of a date or timestamp", True),
    DataFunction("month", 1, 1, "month(t)", "1 to 12", True),
    DataFunction("day", 1, 1, "day(t)", "of the month, 1 to 31", True),
    DataFunction("weekday", 1, 1, "weekday(t)", "1 (Monday) to 7 (Sunday)", True),
    DataFunction("hour", 1, 1, "hour(t)", "0 to 23; of a date 0", True),
    DataFunction("minute", 1, 1, "minute(t)", "0 to 59; of a date 0", True),
    DataFunction("days", 1, 1, "t + days(a)", "so many days later; t - days(a) earlier"),
    DataFunction("hours", 1, 1, "t + hours(a)", "so many hours later"),
    DataFunction("minutes", 1, 1, "t + minutes(a)", "so many minutes later"),
    DataFunction("seconds", 1, 1, "t + seconds(a)", "so many seconds later"),
    DataFunction("prev", 1, 2, "prev(t), prev(t, p)", "the value before t in the ordered relation p"),
    DataFunction("next", 1, 2, "next(t), next(t, p)", "the value after t in the ordered relation p"),
)

DATA_FUNCTIONS: dict[str, DataFunction] = {function.name: function for function in _DATA}
"""All of them by name, in the order of the documentation."""

SECONDS_OF: dict[str, int] = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
"""Durations, which are added to dates and timestamps."""

NEIGHBOURS: dict[str, Literal[-1, 1]] = {"prev": -1, "next": 1}
"""Functions that look into an ordered relation."""


def power(exponent: float) -> ConvexFunction | None:
    """The line of ``e**exponent``; None for 0 and 1, which are no functions of their own.

    Examples
    --------
    >>> power(4).slopes, power(0.5).curvature, power(-1).slopes, power(1)
    (('away',), 'concave', ('down',), None)
    """
    if exponent in (0, 1):
        return None
    written = f"e**{exponent:g}"
    if exponent < 0:
        return ConvexFunction("power", "convex", ("down",), "nonnegative", 1, 1, False, written, "e > 0", _POWER)
    if exponent < 1:
        return ConvexFunction("power", "concave", ("up",), "nonnegative", 1, 1, False, written, "e ≥ 0", _POWER)
    domain = "" if exponent % 2 == 0 else "e ≥ 0"
    return ConvexFunction("power", "convex", ("away",), "nonnegative", 1, 1, False, written, domain, _POWER)
