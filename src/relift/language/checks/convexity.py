"""Convexity: which terms may stand where, as far as the text shows it.

Squares, ``max(0, e)``, ``max(0, e)**2`` and ``abs(e)`` are convex. They may be added with nonnegative
coefficients where something is minimised or bounded above, and with nonpositive ones where something is
maximised. The sign of data is often not known yet: the term is then marked with the sign it `needs`, and
grounding checks the numbers. Whether products of unknowns are convex only their matrix tells.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from relift.errors import ConvexityError
from relift.language import checked_model as c
from relift.language.checks.names import ErrorList

KnownSign: TypeAlias = Literal["zero", "nonnegative", "nonpositive", "unknown"]

_OPPOSITE: dict[KnownSign, KnownSign] = {
    "zero": "zero",
    "nonnegative": "nonpositive",
    "nonpositive": "nonnegative",
    "unknown": "unknown",
}


def sign_of(data: c.DataExpression) -> KnownSign:
    """What the text alone says about the sign of a data expression.

    Examples
    --------
    >>> sign_of(c.Arithmetic("*", c.Constant(-2), c.Function("exp", (c.ParameterValue("a", ()),))))
    'nonpositive'
    """
    match data:
        case c.Constant(value=int() | float()):
            assert not isinstance(data.value, str)
            return "zero" if data.value == 0 else "nonnegative" if data.value > 0 else "nonpositive"
        case c.Negative():
            return _OPPOSITE[sign_of(data.part)]
        case c.Function(name="abs" | "exp" | "sqrt") | c.Indicator() | c.DataAggregate(kind="count"):
            return "nonnegative"
        case c.DataAggregate() if data.body is not None:
            return sign_of(data.body)
        case c.Function(name="max") if any(sign_of(a) in ("nonnegative", "zero") for a in data.arguments):
            return "nonnegative"
        case c.Arithmetic(op="+" | "-"):
            left, right = sign_of(data.left), sign_of(data.right)
            right = right if data.op == "+" else _OPPOSITE[right]
            return right if left == "zero" else left if right in ("zero", left) else "unknown"
        case c.Arithmetic(op="*" | "/"):
            left, right = sign_of(data.left), sign_of(data.right)
            if "zero" in (left, right) or "unknown" in (left, right):
                return "zero" if left == "zero" else "unknown"
            return "nonnegative" if left == right else "nonpositive"
        case c.Arithmetic(op="**", right=c.Constant(value=2)):
            return "nonnegative"
        case c.Arithmetic(op="**"):
            return "nonnegative" if sign_of(data.left) == "nonnegative" else "unknown"
        case _:
            return "unknown"


def with_needs(terms: list[c.Term], needed: c.Sign, message: str, hint: str, errors: ErrorList) -> tuple[c.Term, ...]:
    """Check convex terms against the sign they must have, and mark those that only data can decide.

    Parameters
    ----------
    terms
        The terms of an objective or a body.
    needed
        The sign that the coefficients of convex terms must have.
    message, hint
        What to say where the sign is wrong.
    errors
        Takes the errors.
    """
    result = list[c.Term]()
    for term in terms:
        if isinstance(term, (c.SquareTerm, c.HingeTerm, c.AbsoluteTerm)):
            sign = sign_of(term.coefficient)
            if sign == "unknown":
                term = replace(term, needs=needed)
            elif sign not in (needed, "zero"):
                errors.add(ConvexityError, term.span, message, hint)
        result.append(term)
    return tuple(result)
