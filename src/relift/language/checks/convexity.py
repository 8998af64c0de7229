"""Convexity: which terms may stand where, as far as the text shows it.

Squares, ``max(0, e)``, ``norm{..} e`` are convex, ``log(e)`` and ``min(a, b)`` are concave (the table in
:mod:`relift.language.functions` says it). Convex terms may be added with nonnegative coefficients where something is
minimised or bounded above, and with nonpositive ones where something is maximised or bounded below; concave terms the
other way round. Inside of a function the usual rule of composition decides: the argument of a convex nondecreasing
function may be convex, that of a convex nonincreasing one concave, and so on.

The sign of data is often not known yet: the term is then marked with the sign it `needs`, and grounding checks the
numbers. Whether products of unknowns are convex only their matrix tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import final

from relift.errors import ConvexityError
from relift.language import checked_model as c
from relift.language.checks.names import ErrorList, KnownSign
from relift.language.functions import Curvature
from relift.language.syntax.source import Span

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


Words = Callable[[Curvature], tuple[str, str]]
"""Says what is wrong with a convex or with a concave term at a place: message and hint."""

_Nonlinear = c.SquareTerm | c.HingeTerm | c.AbsoluteTerm | c.FunctionTerm


@final
@dataclass(frozen=True)
class Composition:
    """Checks terms against what their place asks for.

    Parameters
    ----------
    signs
        The signs of variables that their declared bounds show.
    errors
        Takes the errors.
    """

    signs: Mapping[str, KnownSign]
    errors: ErrorList

    def bent(self, terms: Iterable[c.Term], wanted: Curvature, words: Words) -> tuple[c.Term, ...]:
        """Terms whose sum must be convex (or concave), marked with the signs that only data can tell.

        Parameters
        ----------
        terms
            The terms of an objective, a body or an argument.
        wanted
            What their sum must be.
        words
            What to say where it is not.
        """
        return tuple(self._term(term, wanted, words) if isinstance(term, _Nonlinear) else term for term in terms)

    def _term(self, term: _Nonlinear, wanted: Curvature, words: Words) -> c.Term:
        curvature = term.function.curvature if isinstance(term, c.FunctionTerm) else "convex"
        needed: c.Sign = "nonnegative" if curvature == wanted else "nonpositive"
        sign = sign_of(term.coefficient)
        if sign == "unknown":
            term = replace(term, needs=needed)
        elif sign not in (needed, "zero"):
            message, hint = words(curvature)
            self.errors.add(ConvexityError, term.span, message, rewrite(term) or hint)
            return term
        return self._composed(term) if isinstance(term, c.FunctionTerm) else term

    def _composed(self, term: c.FunctionTerm) -> c.FunctionTerm:
        """The term with what its arguments must be."""
        bends, arguments = list[c.Bend](), list[c.Expression]()
        for position, argument in enumerate(term.arguments):
            slope, bend = term.function.slope(position, len(term.arguments)), c.AFFINE
            if not _first_nonlinear(argument):
                found = argument
            elif slope == "away":
                bend, found = self._away(term, argument)
            elif slope == "none":
                found = argument
                message = f"{_shown(term)} needs a linear expression here"
                self.errors.add(ConvexityError, _first_nonlinear(argument) or term.span, message, rewrite(term))
            else:
                wanted: Curvature = term.function.curvature if slope == "up" else _OTHER[term.function.curvature]
                bend, found = wanted, c.Expression(self.bent(argument.terms, wanted, _argument_words(term, wanted)))
            bends.append(bend)
            arguments.append(found)
        return replace(term, arguments=tuple(arguments), bends=tuple(bends))

    def _away(self, term: c.FunctionTerm, argument: c.Expression) -> tuple[c.Bend, c.Expression]:
        """An argument of ``abs`` and the like: convex and never negative, or concave and never positive."""
        for bend, sign in (("convex", "nonnegative"), ("concave", "nonpositive")):
            trial = Composition(self.signs, ErrorList(self.errors.source))
            terms = trial.bent(argument.terms, bend, _argument_words(term, bend))  # type: ignore[arg-type]
            if not trial.errors.found and self.sign_of_terms(terms) in (sign, "zero"):
                return bend, c.Expression(terms)  # type: ignore[return-value]
        message = f"{_shown(term)} needs a linear expression here, or one that is convex and never negative"
        self.errors.add(ConvexityError, _first_nonlinear(argument) or term.span, message, rewrite(term))
        return "affine", argument

    def sign_of_terms(self, terms: Iterable[c.Term]) -> KnownSign:
        """What the text shows about the sign of a sum, if data have the signs that are needed of them."""
        found = {sign for term in terms if (sign := self._sign_of_term(term)) != "zero"}
        return "zero" if not found else found.pop() if len(found) == 1 else "unknown"

    def _sign_of_term(self, term: c.Term) -> KnownSign:
        factor = getattr(term, "needs", None) or sign_of(term.coefficient)
        match term:
            case c.ConstantTerm():
                return factor
            case c.LinearTerm():
                return product_sign(factor, self.signs.get(term.unknown.name, "unknown"))
            case c.ProductTerm():
                both = product_sign(*(self.signs.get(u.name, "unknown") for u in (term.first, term.second)))
                return product_sign(factor, both)
            case c.FunctionTerm(function=function) if function.name in ("max", "min"):
                return product_sign(factor, self._sign_of_extreme(term))
            case c.FunctionTerm(function=function) if function.sign == "unknown":
                return "unknown"
            case _:
                return factor

    def _sign_of_extreme(self, term: c.FunctionTerm) -> KnownSign:
        found = [self.sign_of_terms(argument.terms) for argument in term.arguments]
        one: KnownSign = "nonnegative" if term.function.name == "max" else "nonpositive"
        if any(sign in (one, "zero") for sign in found):
            return one
        return _OPPOSITE[one] if all(sign == _OPPOSITE[one] for sign in found) else "unknown"


_OTHER: dict[Curvature, Curvature] = {"convex": "concave", "concave": "convex"}


def product_sign(first: KnownSign, second: KnownSign) -> KnownSign:
    """The sign of a product.

    Examples
    --------
    >>> product_sign("nonpositive", "nonpositive"), product_sign("zero", "unknown")
    ('nonnegative', 'zero')
    """
    if "zero" in (first, second):
        return "zero"
    if "unknown" in (first, second):
        return "unknown"
    return "nonnegative" if first == second else "nonpositive"


def _shown(term: c.FunctionTerm) -> str:
    return term.function.written if term.function.name == "power" else f"{term.function.name}(..)"


def _first_nonlinear(expression: c.Expression) -> Span | None:
    for term in expression.terms:
        if not isinstance(term, (c.LinearTerm, c.ConstantTerm)):
            return term.span
    return None


def _argument_words(term: c.FunctionTerm, wanted: c.Bend) -> Words:
    def words(curvature: Curvature) -> tuple[str, str]:
        other = _OTHER[wanted]  # type: ignore[index]
        del curvature  # of the part without its coefficient
        return f"{_shown(term)} needs a {wanted} expression here, and this part is {other}", rewrite(term)

    return words


def rewrite(term: c.Term) -> str:
    """Another way to write what is probably meant, or an empty string."""
    if not isinstance(term, c.FunctionTerm):
        return ""
    inside = [t for argument in term.arguments for t in argument.terms if not isinstance(t, c.ConstantTerm)]
    name = term.function.name
    is_root = name == "sqrt" or (name == "power" and term.number == c.Constant(0.5))
    if is_root and inside and all(isinstance(t, c.SquareTerm) for t in inside):
        return "The root of a sum of squares is written: norm{I in ..} e, or norm(a, b)."
    if name == "log" and inside and all(isinstance(t, c.FunctionTerm) and t.function.name == "exp" for t in inside):
        return "The logarithm of a sum of exponentials is written: log_sum_exp{I in ..} e, or log_sum_exp(a, b)."
    return ""
