"""Convex terms that are not quadratic, rewritten by helper unknowns: a model to an equivalent model.

::

    max(0, e)       becomes   s        with   s >= e,  s >= 0
    max(0, e)**2    becomes   s**2     with   s >= e,  s >= 0
    abs(e)          becomes   s        with   s >= e,  s >= -e
    norm{I in q} e  becomes   s        with   (s, e, e, ...) in a second-order cone

and so on for all functions of the language: their rows and cones are in :mod:`relift.grounding.conic_terms`. A helper
bounds a convex function from above, a concave one from below; since the checker has seen to it that more of a convex
function is never better, an optimal helper is the function's value, or may be taken to be.

One helper stands for each value of the logic variables that occur in its function. It is called after its statement,
for example ``loss.max1(i)``, which no name of the language can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, final

from relift.grounding.conic_terms import Forms
from relift.grounding.term_tools import (
    conjunction,
    names_in,
    names_in_terms,
    negated,
    product,
    times,
    variables_of_terms,
)
from relift.language.checked_model import (
    AbsoluteTerm,
    Affine,
    CheckedModel,
    ConeConstraint,
    ConePart,
    Constant,
    ConstantTerm,
    Constraint,
    DataExpression,
    Expression,
    Formula,
    FunctionTerm,
    HingeTerm,
    Holds,
    LinearTerm,
    LogicVariable,
    Negative,
    Objective,
    ProductTerm,
    Rule,
    Scope,
    Sign,
    SquareTerm,
    Stratum,
    Term,
    TrueFormula,
    UnknownAtom,
    Variable,
)
from relift.language.syntax.source import Span


@final
@dataclass(frozen=True)
class SignCheck:
    """A number whose sign only the data can tell: `what` it is, and the sign that convexity needs."""

    statement: str
    variables: tuple[str, ...]
    formula: Formula | None
    scopes: tuple[Scope, ...]
    coefficient: DataExpression
    needs: Sign
    span: Span
    what: str


@final
@dataclass(frozen=True)
class SomeAnswer:
    """A query of a function that has no value over nothing: ``max{I in q} e``."""

    statement: str
    variables: tuple[str, ...]
    formula: Formula | None
    index: Scope
    function: str
    span: Span


DataCheck = SignCheck | SomeAnswer
"""What the data must fulfil before a statement is grounded."""


def without_slack_terms(
    model: CheckedModel, keep_hinges: bool = False
) -> tuple[CheckedModel, dict[str, tuple[DataCheck, ...]]]:
    """The model with helpers in place of ``max(0, e)``, ``norm{..} e``, ...; and what to check for each statement.

    Parameters
    ----------
    model
        The model.
    keep_hinges
        Whether ``max(0, e)`` and ``abs(e)`` stay in the objective, for :mod:`relift.grounding.hinges`.
    """
    rewriting = Rewriting(dict(model.variables), list(model.strata))
    objective = model.objective
    if objective is not None:
        place = Place(objective.name, (), (), objective)
        body = rewriting.terms(objective.expression.terms, place, keep_hinges)
        objective = replace(objective, expression=Expression(body), reads=objective.reads | names_in_terms(body))
    constraints = []
    for c in model.constraints:
        place = Place(c.name, c.variables, () if c.formula is None else (c.formula,), c)
        body = rewriting.terms(c.body.terms, place)
        constraints.append(_oriented(replace(c, body=Expression(body), reads=c.reads | names_in_terms(body))))
    checks = {name: tuple(found) for name, found in rewriting.checks.items()}
    if not rewriting.constraints and not rewriting.cones:
        return model, checks
    changed = replace(
        model,
        variables=rewriting.variables,
        strata=tuple(rewriting.strata),
        objective=objective,
        constraints=(*constraints, *rewriting.constraints),
        cones=tuple(rewriting.cones),
    )
    return changed, checks


def _oriented(constraint: Constraint) -> Constraint:
    """A constraint that has become linear, with its sides as they are written."""
    if not constraint.negated or any(isinstance(t, SquareTerm | ProductTerm) for t in constraint.body.terms):
        return constraint
    assert constraint.upper is not None
    body = Expression(tuple(negated(term) for term in constraint.body.terms))
    lower = constraint.upper.part if isinstance(constraint.upper, Negative) else Negative(constraint.upper)
    return replace(constraint, body=body, lower=lower, upper=None, negated=False)


@final
@dataclass(frozen=True)
class Place:
    """Where a term stands: its statement, the logic variables that have a value there, and where these come from."""

    statement: str
    variables: tuple[str, ...]
    formulas: tuple[Formula, ...]
    owner: Objective | Constraint

    def inside(self, scopes: Iterable[Scope]) -> Place:
        """The place behind some ``sum{..}``."""
        scopes = tuple(scopes)
        variables = (*self.variables, *(v for scope in scopes for v in scope.variables))
        return replace(self, variables=variables, formulas=(*self.formulas, *(scope.formula for scope in scopes)))

    @property
    def reads(self) -> frozenset[str]:
        """The names on which the values of the variables depend."""
        return frozenset(names_in(*self.formulas))

    @property
    def formula(self) -> Formula | None:
        """All that is known of the variables, as one formula."""
        return conjunction(self.formulas) if self.formulas else None


@final
@dataclass(frozen=True)
class Helper:
    """A helper variable: one unknown for each value of its keys."""

    atom: UnknownAtom
    place: Place

    @property
    def term(self) -> LinearTerm:
        """The helper as a term of its own."""
        return LinearTerm((), Constant(1), self.atom)


@final
@dataclass
class Rewriting:
    """The model so far."""

    variables: dict[str, Variable]
    strata: list[Stratum]
    constraints: list[Constraint] = field(default_factory=list)
    cones: list[ConeConstraint] = field(default_factory=list)
    checks: dict[str, list[DataCheck]] = field(default_factory=dict)

    def terms(self, terms: Iterable[Term], place: Place, keep_hinges: bool = False) -> tuple[Term, ...]:
        """Constant, linear, square and product terms in place of all terms; hinges stay, if they are kept."""
        found: list[Term] = []
        for term in terms:
            if isinstance(term, HingeTerm | AbsoluteTerm | SquareTerm | FunctionTerm) and term.needs is not None:
                curvature = term.function.curvature if isinstance(term, FunctionTerm) else "convex"
                what = f"the coefficient of a {curvature} term"
                self.check_sign(place, term.scopes, term.coefficient, term.needs, term.span, what)
            if isinstance(term, HingeTerm | AbsoluteTerm) and not keep_hinges:
                found.append(self._slack(term, place))
            elif isinstance(term, FunctionTerm):
                found.extend(self._function(term, place))
            else:
                found.append(term)
        return tuple(found)

    def check_sign(
        self,
        place: Place,
        scopes: tuple[Scope, ...],
        number: DataExpression,
        needs: Sign,
        span: Span,
        what: str,
    ) -> None:
        """Note that a number must have a sign."""
        check = SignCheck(place.statement, place.variables, place.formula, scopes, number, needs, span, what)
        self.checks.setdefault(place.statement, []).append(check)

    def check_some(self, place: Place, term: FunctionTerm) -> None:
        """Note that the query of a function must have an answer."""
        assert term.index is not None
        name = term.function.name
        check = SomeAnswer(place.statement, place.variables, place.formula, term.index, name, term.span)
        self.checks.setdefault(place.statement, []).append(check)

    # --- helpers ----------------------------------------------------------------------------------------------------

    def helper(self, kind: str, place: Place, used: set[str], span: Span, lower: int | None = None) -> Helper:
        """A new variable, with one unknown for each value of those variables of a place that are used."""
        kind = f"{kind}_" if kind[-1].isdigit() else kind
        start = f"{place.statement}.{kind}"
        number = 1 + sum(name.startswith(start) and name[len(start) :].isdigit() for name in self.variables)
        name = f"{start}{number}"
        keys = tuple(v for v in place.variables if v in used)
        arguments = tuple(LogicVariable(v) for v in keys)
        owner, domain = place.owner, None
        if keys:
            rule = Rule(name, arguments, place.formula or TrueFormula(), reads=place.reads, span=span)
            self.strata.append(Stratum({name: len(keys)}, (rule,)))
            domain = Holds(name, arguments, span)
        self.variables[name] = Variable(
            name, len(keys), keys, domain, () if lower is None else (Constant(lower),),
            reads=frozenset({name} if keys else ()), rests_on=owner.rests_on, span=span,
        )  # fmt: skip
        inner = replace(place, variables=keys, formulas=() if domain is None else (domain,))
        return Helper(UnknownAtom(name, arguments, span), inner)

    def rows(
        self,
        name: str,
        place: Place,
        terms: Iterable[Term],
        span: Span,
        upper: DataExpression | None = None,
        part: Literal["", "lower", "upper"] = "",
    ) -> None:
        """Add constraints ``terms >= 0``, or ``terms <= upper``."""
        body = Expression(tuple(terms))
        is_convex = any(isinstance(term, SquareTerm | ProductTerm) for term in body.terms)
        lower = Constant(0) if upper is None else None
        self.constraints.append(
            Constraint(
                name, place.variables, place.formula, body, lower, upper, is_convex, part=part,
                reads=place.reads | names_in_terms(body.terms), rests_on=place.owner.rests_on, span=span,
            )
        )  # fmt: skip

    def equal(self, name: str, place: Place, terms: Iterable[Term], span: Span) -> None:
        """Add constraints ``terms = 0``."""
        self.rows(name, place, terms, span)
        self.constraints[-1] = replace(self.constraints[-1], upper=Constant(0))

    def cone(
        self,
        helper: Helper,
        cone: Literal["second-order", "exponential", "power", "geometric"],
        parts: Iterable[ConePart],
        exponent: float = 0.0,
        place: Place | None = None,
    ) -> None:
        """Add a cone for each unknown of a helper, or for each answer of a place."""
        parts, place = tuple(parts), place or helper.place
        reads = place.reads.union(
            *(names_in_terms(part.body.terms) | names_in(*(s.formula for s in part.scopes)) for part in parts)
        )
        self.cones.append(
            ConeConstraint(
                helper.atom.name, place.variables, place.formula, cone, parts, exponent,
                reads, place.owner.rests_on, helper.atom.span,
            )
        )  # fmt: skip

    # --- terms ------------------------------------------------------------------------------------------------------

    def affine(self, expression: Expression, place: Place, bend: str, span: Span) -> Affine:
        """An argument as an affine expression: what is not linear in it is bounded by helpers.

        Parameters
        ----------
        expression, place
            The argument, and where it stands.
        bend
            Whether more of it is never better (``"convex"``), or less (``"concave"``).
        span
            Where it is written.
        """
        terms = self.terms(expression.terms, place)
        if all(isinstance(term, LinearTerm | ConstantTerm) for term in terms):
            return Affine(terms)  # type: ignore[arg-type]
        whole = self.helper("part", place, variables_of_terms(terms), span)
        sign = 1 if bend == "convex" else -1
        body = [*(times(sign, term) for term in terms), times(-sign, whole.term)]
        self.rows(whole.atom.name, whole.place, body, span, upper=Constant(0))
        return Affine((whole.term,))

    def _slack(self, term: HingeTerm | AbsoluteTerm, place: Place) -> Term:
        is_hinge = isinstance(term, HingeTerm)
        used = variables_of_terms(term.inner.terms)
        slack = self.helper(
            "max" if is_hinge else "abs", place.inside(term.scopes), used, term.span, 0 if is_hinge else None
        )
        halves: tuple[tuple[int, Literal["", "lower", "upper"]], ...] = ((-1, ""),)
        if isinstance(term, AbsoluteTerm):
            halves = ((-1, "lower"), (1, "upper"))
        for sign, part in halves:
            body = (slack.term, *(times(sign, t) for t in term.inner.terms))
            self.rows(slack.atom.name, slack.place, body, term.span, part=part)
        if isinstance(term, HingeTerm) and term.power == 2:
            return SquareTerm(term.scopes, term.coefficient, Affine((slack.term,)), None, term.span)
        return LinearTerm(term.scopes, term.coefficient, slack.atom)

    def _function(self, term: FunctionTerm, place: Place) -> list[Term]:
        inside = place.inside(term.scopes)
        found = Forms(self, term, inside).terms()
        return [
            replace(t, scopes=(*term.scopes, *t.scopes), coefficient=product(term.coefficient, t.coefficient))
            for t in found
        ]
