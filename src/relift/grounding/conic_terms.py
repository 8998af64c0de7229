r"""Rows and cones for the convex and concave functions of the language: one form for each.

With s the helper that stands for the function and e its argument (cones as in :mod:`relift.program.cones`):

====================  =================================================================================
``max``, ``norminf``  s >= e for every argument; norminf: s >= -e, s >= 0 too
``min``               s <= e for every argument
``norm``              (s, e, e, ...) in a second-order cone
``huber(e, d)``       n² + 2d(p + q) with n + p - q = e, p, q >= 0
``quad_over_lin``     (s + t, 2e, 2e, ..., s - t) in a second-order cone: s t >= Σe²
``inv``               (s + e, 2, s - e): s e >= 1
``sqrt``              (e + 1, 2s, e - 1): e >= s²
``e**p``, p > 1       (s, 1, e) in a power cone with exponent 1/p; e >= 0 unless p is even
``e**p``, 0 < p < 1   (e, 1, s) with exponent p
``e**p``, p < 0       (s, e, 1) with exponent 1/(1 - p)
``geo_mean``          (e, e, ..., s) with exponents 1/n
``exp``               (e, 1, s) in an exponential cone
``log``               (s, 1, e)
``log_sum_exp``       (e - s, 1, u) for every argument, Σu <= 1
``entropy``           (s, e, 1): e exp(s/e) <= 1
``kl(e, f)``          (f - e - s, e, f)
====================  =================================================================================
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from relift.grounding.term_tools import added, affine, constant, negated, scaled, times, variables_of_function
from relift.language.checked_model import (
    Affine,
    Arithmetic,
    ConePart,
    Constant,
    FunctionTerm,
    LinearTerm,
    Scope,
    SquareTerm,
    Term,
)

if TYPE_CHECKING:
    from relift.grounding.slack_terms import Helper, Place, Rewriting

_ONE = affine(constant(1))


class Forms:
    """The rows and cones of one term.

    Parameters
    ----------
    model
        Takes helpers, rows and cones.
    term
        The function.
    place
        Where it stands, behind the sums of the term.
    """

    def __init__(self, model: Rewriting, term: FunctionTerm, place: Place) -> None:
        self.model, self.term, self.place = model, term, place
        self.used = variables_of_function(term)
        self.scopes: tuple[Scope, ...] = () if term.index is None else (term.index,)

    def terms(self) -> list[Term]:
        """What stands in place of the function: mostly the helper alone."""
        name = self.term.function.name
        if name == "huber":
            return self._huber()
        if name == "power" and self._exponent == 2:
            return self._square()
        helper = self.helper(name, 0 if name == "norminf" else None)
        getattr(self, f"_{name}")(helper)
        return [helper.term]

    def helper(self, kind: str, lower: int | None = None) -> Helper:
        """A helper with a value for each value of the variables that the function uses."""
        return self.model.helper(kind, self.place, self.used, self.term.span, lower)

    def argument(self, position: int, place: Place) -> Affine:
        """An argument as an affine expression; the first one of a function over a query stands inside of it."""
        inside = place.inside(self.scopes) if position == 0 else place
        bend = self.term.bends[position] if self.term.bends else "affine"
        return self.model.affine(self.term.arguments[position], inside, bend, self.term.span)

    def parts(self, place: Place, count: int, factor: float = 1.0) -> list[ConePart]:
        """The first arguments as rows of a cone; that over a query as many rows."""
        found = [self.argument(k, place) for k in range(count)]
        scopes = [self.scopes, *[()] * (count - 1)]
        bodies = found if factor == 1 else [scaled(factor, e) for e in found]
        return [ConePart(s, e) for s, e in zip(scopes, bodies, strict=True)]

    @property
    def _count(self) -> int:
        return len(self.term.arguments)

    @property
    def _exponent(self) -> float:
        assert isinstance(self.term.number, Constant)
        return float(self.term.number.value)

    # --- rows -------------------------------------------------------------------------------------------------------

    def _max(self, s: Helper, sign: int = 1) -> None:
        if self.term.index is not None:
            self.model.check_some(self.place, self.term)
        for position in range(self._count):
            self._bound(s, position, sign, "" if self._count == 1 else f".{position + 1}")

    def _min(self, s: Helper) -> None:
        self._max(s, -1)

    def _norminf(self, s: Helper) -> None:
        for position in range(self._count):
            e = self.argument(position, s.place)
            place = s.place.inside(self.scopes)
            for sign, part in ((-1, "lower"), (1, "upper")):
                suffix = "" if self._count == 1 else f".{position + 1}"
                body = (s.term, *(times(sign, t) for t in e.terms))
                self.model.rows(s.atom.name + suffix, place, body, self.term.span, part=part)  # type: ignore[arg-type]

    def _bound(self, s: Helper, position: int, sign: int, suffix: str) -> None:
        """Add s >= e for one argument, or s <= e."""
        e = self.argument(position, s.place)
        body = (times(sign, s.term), *(times(-sign, t) for t in e.terms))
        place = s.place.inside(self.scopes) if position == 0 else s.place
        self.model.rows(s.atom.name + suffix, place, body, self.term.span)

    # --- quadratic --------------------------------------------------------------------------------------------------

    def _square(self) -> list[Term]:
        inner = self.model.affine(self.term.arguments[0], self.place, self.term.bends[0], self.term.span)
        return [SquareTerm((), Constant(1), inner, None, self.term.span)]

    def _huber(self) -> list[Term]:
        d, span = self.term.number, self.term.span
        assert d is not None
        self.model.check_sign(self.place, (), d, "nonnegative", span, "the threshold of huber(..)")
        near, above, below = (self.helper("huber", lower) for lower in (None, 0, 0))
        e = self.argument(0, near.place)
        body = (near.term, above.term, negated(below.term), *(negated(t) for t in e.terms))
        self.model.equal(near.atom.name, near.place, body, span)
        slope = Arithmetic("*", Constant(2), d)
        far = [LinearTerm((), slope, side.atom) for side in (above, below)]
        return [SquareTerm((), Constant(1), Affine((near.term,)), None, span), *far]

    # --- second-order cones -----------------------------------------------------------------------------------------

    def _norm(self, s: Helper) -> None:
        head = ConePart((), affine(s.term))
        self.model.cone(s, "second-order", (head, *self.parts(s.place, self._count)))

    def _quad_over_lin(self, s: Helper) -> None:
        t = self.argument(self._count - 1, s.place)
        squares = self.parts(s.place, self._count - 1, 2.0)
        self._rotated(s, affine(s.term), t, squares)

    def _inv(self, s: Helper) -> None:
        e = self.argument(0, s.place)
        self._rotated(s, affine(s.term), e, [ConePart((), affine(constant(2)))])

    def _sqrt(self, s: Helper) -> None:
        e = self.argument(0, s.place)
        self._rotated(s, e, _ONE, [ConePart((), scaled(2.0, affine(s.term)))])

    def _rotated(self, s: Helper, first: Affine, second: Affine, doubled: list[ConePart]) -> None:
        """Add first * second >= the sum of the squares of the parts, which are doubled already."""
        head, last = added(first, second), added(first, scaled(-1.0, second))
        self.model.cone(s, "second-order", (ConePart((), head), *doubled, ConePart((), last)))

    # --- power cones ------------------------------------------------------------------------------------------------

    def _power(self, s: Helper) -> None:
        p, e = self._exponent, self.argument(0, s.place)
        own = affine(s.term)
        if p == 0.5 or p == -1:
            one = ConePart((), scaled(2.0, own) if p > 0 else affine(constant(2)))
            self._rotated(s, e if p > 0 else own, _ONE if p > 0 else e, [one])
        elif p > 1:
            self._cone(s, "power", (own, _ONE, e), 1 / p)
            if p % 2:
                self.model.rows(f"{s.atom.name}.domain", s.place, e.terms, self.term.span)
        elif p > 0:
            self._cone(s, "power", (e, _ONE, own), p)
        else:
            self._cone(s, "power", (own, e, _ONE), 1 / (1 - p))

    def _geo_mean(self, s: Helper) -> None:
        if self.term.index is not None:
            self.model.check_some(self.place, self.term)
        self.model.cone(s, "geometric", (*self.parts(s.place, self._count), ConePart((), affine(s.term))))

    # --- exponential cones ------------------------------------------------------------------------------------------

    def _cone(self, s: Helper, cone: str, rows: tuple[Affine, ...], exponent: float = 0.0) -> None:
        self.model.cone(s, cone, (ConePart((), row) for row in rows), exponent)  # type: ignore[arg-type]

    def _exp(self, s: Helper) -> None:
        self._cone(s, "exponential", (self.argument(0, s.place), _ONE, affine(s.term)))

    def _log(self, s: Helper) -> None:
        self._cone(s, "exponential", (affine(s.term), _ONE, self.argument(0, s.place)))

    def _entropy(self, s: Helper) -> None:
        self._cone(s, "exponential", (affine(s.term), self.argument(0, s.place), _ONE))

    def _kl(self, s: Helper) -> None:
        e, f = self.argument(0, s.place), self.argument(1, s.place)
        self._cone(s, "exponential", (added(f, scaled(-1.0, added(e, affine(s.term)))), e, f))

    def _log_sum_exp(self, s: Helper) -> None:
        if self.term.index is not None:
            self.model.check_some(self.place, self.term)
        shares: list[Term] = []
        for position in range(self._count):
            scopes = self.scopes if position == 0 else ()
            e = self.argument(position, s.place)
            inside = s.place.inside(scopes)
            share = self.model.helper("share", inside, set(inside.variables), self.term.span, 0)
            rows = (added(e, affine(negated(s.term))), _ONE, affine(share.term))
            self.model.cone(share, "exponential", (ConePart((), row) for row in rows))
            shares.append(replace(share.term, scopes=scopes))
        self.model.rows(s.atom.name, s.place, shares, self.term.span, upper=Constant(1))
