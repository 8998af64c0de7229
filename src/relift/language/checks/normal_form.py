"""The normal form of constraints: ``lower <= body <= upper``, see the header of ``checked_model``.

Whatever is written on two sides is brought to one; convex terms may only be bounded from above, concave ones from
below.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from relift.errors import ConvexityError, KindError
from relift.language import checked_model as c
from relift.language.checks.convexity import Composition
from relift.language.checks.flatten import flatten, is_affine
from relift.language.checks.names import ErrorList
from relift.language.checks.translate import Bound, Translator, negative
from relift.language.functions import Curvature
from relift.language.syntax import nodes as n

_ZERO = c.Constant(0)
_CONVEX_SIDE = "Convex terms can stand on the smaller side of an inequality, and in the objective."
_CONCAVE_SIDE = "Concave terms can stand on the >= side of an inequality, and in a maximised objective."


def rows_from_comparison(
    body: n.Compare, translator: Translator, bound: Bound, frame: c.Constraint
) -> list[c.Constraint]:
    """The constraints that a comparison stands for: one, or two for a range whose ends have unknowns.

    Parameters
    ----------
    body
        The comparison.
    translator, bound
        What translates it, and what its logic variables stand for.
    frame
        The constraint without its body and limits.
    """
    errors = translator.errors
    for sign in body.signs:
        if sign not in ("<=", ">=", "="):
            errors.add(
                KindError,
                body.span,
                f"a constraint cannot use {sign}",
                "Write <=, >= or =; a strict inequality has no optimum." if sign != "!=" else "Write <=, >= or =.",
            )
            return []
    n_errors = errors.n_added
    if len(body.signs) == 1:
        terms = [flatten(translator, part, bound) for part in body.parts]
        if errors.n_added > n_errors:
            return []
        return [_row(translator, frame, terms[0], body.signs[0], terms[1])]
    if len(body.signs) > 2 or body.signs not in (("<=", "<="), (">=", ">=")):
        errors.add(KindError, body.span, "a chain of comparisons is written a <= e <= b or a >= e >= b", "Split it.")
        return []
    low, middle, high = body.parts if body.signs[0] == "<=" else body.parts[::-1]
    if not (translator.has_unknown(low) or translator.has_unknown(high)):
        lower, upper = translator.data(low, bound), translator.data(high, bound)
        terms_middle = flatten(translator, middle, bound)
        if errors.n_added > n_errors:
            return []
        if not is_affine(terms_middle):
            _not_convex(errors, terms_middle, "and it is bounded from below")
            return []
        return [replace(frame, body=c.Expression(tuple(terms_middle)), lower=lower, upper=upper)]
    rows = list[c.Constraint]()
    for part, pair in (("lower", (low, middle)), ("upper", (middle, high))):
        terms = [flatten(translator, side, bound) for side in pair]
        if errors.n_added > n_errors:
            return []
        half = replace(frame, part=cast("Literal['lower', 'upper']", part))
        rows.append(_row(translator, half, terms[0], "<=", terms[1]))
    return rows


def _row(
    translator: Translator, frame: c.Constraint, left: list[c.Term], sign: str, right: list[c.Term]
) -> c.Constraint:
    """The normal form of ``left sign right``."""
    errors = translator.errors
    left_data, right_data = _as_data(left), _as_data(right)
    flipped = {"<=": ">=", ">=": "<=", "=": "="}
    if right_data is not None:
        body, limit = left, right_data
    elif left_data is not None:
        body, limit, sign = right, left_data, flipped[sign]
    else:
        body, limit = left + [_negated(term) for term in right], _ZERO
    if is_affine(body):
        lower, upper = (limit if sign != "<=" else None), (limit if sign != ">=" else None)
        return replace(frame, body=c.Expression(tuple(body)), lower=lower, upper=upper)
    if sign == "=":
        _not_convex(errors, body, "and an equality must be linear")
        return frame
    negated = sign == ">="
    if negated:
        body, limit = [_negated(term) for term in body], negative(limit)
    terms = Composition(translator.names.signs, errors).bent(body, "convex", _words)
    return replace(frame, body=c.Expression(terms), upper=limit, is_convex=True, negated=negated)


def _words(curvature: Curvature) -> tuple[str, str]:
    if curvature == "convex":
        return "this convex term is bounded from below, which is not convex", _CONVEX_SIDE
    return "this concave term is bounded from above, which is not convex", _CONCAVE_SIDE


def _not_convex(errors: ErrorList, terms: list[c.Term], why: str) -> None:
    for term in terms:
        if not isinstance(term, (c.LinearTerm, c.ConstantTerm)):
            is_concave = isinstance(term, c.FunctionTerm) and term.function.curvature == "concave"
            hint = _CONCAVE_SIDE if is_concave else _CONVEX_SIDE
            errors.add(ConvexityError, term.span, f"this term is not linear, {why}", hint)


def _as_data(terms: list[c.Term]) -> c.DataExpression | None:
    """The data expression, if the side of a comparison is nothing else."""
    match terms:
        case [c.ConstantTerm(scopes=()) as only]:
            return only.coefficient
        case _:
            return None


def _negated(term: c.Term) -> c.Term:
    return replace(term, coefficient=negative(term.coefficient))
