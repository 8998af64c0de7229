"""Convex terms that are not quadratic, rewritten by slack unknowns: a model to an equivalent model.

::

    max(0, e)       becomes   s        with   s >= e,  s >= 0
    max(0, e)**2    becomes   s**2     with   s >= e,  s >= 0
    abs(e)          becomes   s        with   s >= e,  s >= -e

One slack stands for each value of the logic variables that occur in e. It is called after its statement, for example
``loss.max1(i)``, which no name of the language can be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, final

from relift.grounding.queries_from_model import variables_of
from relift.language.checked_model import (
    AbsoluteTerm,
    Affine,
    And,
    CheckedModel,
    Constant,
    ConstantTerm,
    Constraint,
    DataExpression,
    Expression,
    Formula,
    HingeTerm,
    Holds,
    LinearTerm,
    LogicVariable,
    Negative,
    Objective,
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
    """A coefficient of a convex term whose sign only the data can tell."""

    statement: str
    variables: tuple[str, ...]
    formula: Formula | None
    scopes: tuple[Scope, ...]
    coefficient: DataExpression
    needs: Sign
    span: Span


def without_slack_terms(model: CheckedModel) -> tuple[CheckedModel, dict[str, tuple[SignCheck, ...]]]:
    """The model with slacks in place of ``max(0, e)`` and ``abs(e)``, and the signs to check for each statement."""
    rewriting = _Rewriting(dict(model.variables), list(model.strata), [], {})
    objective = model.objective
    if objective is not None:
        body = rewriting.expression(objective.expression, objective.name, (), None, objective)
        objective = replace(objective, expression=body)
    constraints = [
        replace(c, body=rewriting.expression(c.body, c.name, c.variables, c.formula, c)) for c in model.constraints
    ]
    signs = {name: tuple(checks) for name, checks in rewriting.signs.items()}
    if not rewriting.constraints:
        return model, signs
    changed = replace(
        model,
        variables=rewriting.variables,
        strata=tuple(rewriting.strata),
        objective=objective,
        constraints=(*constraints, *rewriting.constraints),
    )
    return changed, signs


@dataclass
class _Rewriting:
    variables: dict[str, Variable]
    strata: list[Stratum]
    constraints: list[Constraint]
    signs: dict[str, list[SignCheck]]

    def expression(
        self,
        expression: Expression,
        statement: str,
        variables: tuple[str, ...],
        formula: Formula | None,
        owner: Objective | Constraint,
    ) -> Expression:
        terms: list[Term] = []
        for term in expression.terms:
            if isinstance(term, HingeTerm | AbsoluteTerm | SquareTerm) and term.needs is not None:
                check = SignCheck(statement, variables, formula, term.scopes, term.coefficient, term.needs, term.span)
                self.signs.setdefault(statement, []).append(check)
            if isinstance(term, HingeTerm | AbsoluteTerm):
                terms.append(self._slack(term, statement, variables, formula, owner))
            else:
                terms.append(term)
        return Expression(tuple(terms))

    def _slack(
        self,
        term: HingeTerm | AbsoluteTerm,
        statement: str,
        variables: tuple[str, ...],
        formula: Formula | None,
        owner: Objective | Constraint,
    ) -> Term:
        kind = "max" if isinstance(term, HingeTerm) else "abs"
        number = 1 + sum(name.startswith(f"{statement}.{kind}") for name in self.variables)
        name = f"{statement}.{kind}{number}"
        bound = [*variables, *(v for scope in term.scopes for v in scope.variables)]
        used = _variables_of_affine(term.inner)
        keys = tuple(v for v in bound if v in used)
        arguments = tuple(LogicVariable(v) for v in keys)
        domain: Formula | None = None
        if keys:
            parts = [f for f in (formula, *(s.formula for s in term.scopes)) if f is not None]
            rule = Rule(name, arguments, _conjunction(parts), reads=owner.reads, span=term.span)
            self.strata.append(Stratum({name: len(keys)}, (rule,)))
            domain = Holds(name, arguments, term.span)
        lower = (Constant(0),) if isinstance(term, HingeTerm) else ()
        reads = owner.reads | ({name} if keys else set())
        rest = {"reads": reads, "rests_on": owner.rests_on, "span": term.span}
        self.variables[name] = Variable(name, len(keys), keys, domain, lower, **rest)  # type: ignore[arg-type]
        slack = UnknownAtom(name, arguments, term.span)
        own = LinearTerm((), Constant(1), slack)
        halves: tuple[tuple[int, Literal["", "lower", "upper"]], ...] = ((-1, ""),)
        if isinstance(term, AbsoluteTerm):
            halves = ((-1, "lower"), (1, "upper"))
        for sign, part in halves:
            body = Expression((own, *(_times(sign, t) for t in term.inner.terms)))
            self.constraints.append(
                Constraint(
                    name,
                    keys,
                    domain,
                    body,
                    Constant(0),
                    None,
                    part=part,
                    **rest | {"reads": reads | {name}},  # type: ignore[arg-type]
                )
            )
        if isinstance(term, HingeTerm) and term.power == 2:
            return SquareTerm(term.scopes, term.coefficient, Affine((own,)), None, term.span)
        return LinearTerm(term.scopes, term.coefficient, slack)


def _times(sign: int, term: LinearTerm | ConstantTerm) -> LinearTerm | ConstantTerm:
    return term if sign > 0 else replace(term, coefficient=Negative(term.coefficient))


def _conjunction(parts: list[Formula]) -> Formula:
    flat = [p for part in parts for p in (part.parts if isinstance(part, And) else (part,))]
    flat = [p for p in flat if not isinstance(p, TrueFormula)]
    return TrueFormula() if not flat else flat[0] if len(flat) == 1 else And(tuple(flat))


def _variables_of_affine(affine: Affine) -> set[str]:
    """All variables of an affine expression; those that its own scopes bind are among them and do no harm."""
    used: set[str] = set()
    for term in affine.terms:
        used |= variables_of(term.coefficient)
        for scope in term.scopes:
            used |= set(scope.outer) | variables_of(scope.formula)
        if isinstance(term, LinearTerm):
            for argument in term.unknown.arguments:
                used |= variables_of(argument)
    return used
