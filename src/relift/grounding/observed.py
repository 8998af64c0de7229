"""Variables that are partly observed: where a param gives their value they are numbers, elsewhere unknowns.

``var cat(A,C) in f given truth`` has unknowns for the answers of f without a value of truth. Wherever the model uses
``c * cat(A,C)`` there stand then two terms, of which one counts for each (A,C)::

    sum{[!truth(A,C)]} c * cat(A,C)   +   sum{[truth(A,C)]} c * truth(A,C)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from relift.grounding.queries_from_model import variables_of
from relift.grounding.term_tools import conjunction, product
from relift.language.checked_model import (
    AbsoluteTerm,
    Affine,
    CheckedModel,
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
    Not,
    ParameterValue,
    ProductTerm,
    Scope,
    SquareTerm,
    Term,
    UnknownAtom,
    Variable,
)


def without_given(model: CheckedModel) -> CheckedModel:
    """The model in which every variable is unknown for all tuples of its domain."""
    given = {name: variable.given for name, variable in model.variables.items() if variable.given is not None}
    if not given:
        return model
    split = _Splitting(given)
    objective = model.objective
    if objective is not None:
        terms = split.terms(objective.expression.terms)
        reads = objective.reads | split.read_by(objective.reads)
        objective = replace(objective, expression=Expression(terms), reads=reads)
    return replace(
        model,
        variables={name: _unknown_part(variable) for name, variable in model.variables.items()},
        objective=objective,
        constraints=tuple(split.constraint(constraint) for constraint in model.constraints),
    )


def given_by(model: CheckedModel) -> frozenset[str]:
    """The params that give values of variables."""
    return frozenset(variable.given for variable in model.variables.values() if variable.given is not None)


def _unknown_part(variable: Variable) -> Variable:
    if variable.given is None or variable.domain is None:
        return replace(variable, given=None)
    observed = Holds(variable.given, tuple(map(LogicVariable, variable.parameters)), variable.span)
    domain = conjunction((variable.domain, Not(observed)))
    return replace(variable, domain=domain, given=None)


class _Splitting:
    """Splits terms by what is observed.

    Parameters
    ----------
    given
        The param that gives values of each partly observed variable.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given

    def read_by(self, names: Iterable[str]) -> set[str]:
        """The params that give values of some of these variables."""
        return {self.given[name] for name in names if name in self.given}

    def constraint(self, constraint: Constraint) -> Constraint:
        """A constraint whose observed atoms are numbers; they stay in its body."""
        body = Expression(self.terms(constraint.body.terms))
        return replace(constraint, body=body, reads=constraint.reads | self.read_by(constraint.reads))

    def terms(self, terms: Iterable[Term]) -> tuple[Term, ...]:
        """The terms that stand in place of others."""
        return tuple(part for term in terms for part in self._parts(term))

    def _parts(self, term: Term) -> Iterator[Term]:
        match term:
            case LinearTerm():
                yield from self._linear(term)
            case ProductTerm():
                yield from self._product(term)
            case SquareTerm() | HingeTerm() | AbsoluteTerm():
                inner = Affine(tuple(part for t in term.inner.terms for part in self._affine(t)))
                yield replace(term, inner=inner)
            case FunctionTerm():
                arguments = tuple(Expression(self.terms(argument.terms)) for argument in term.arguments)
                yield replace(term, arguments=arguments)
            case _:
                yield term

    def _affine(self, term: LinearTerm | ConstantTerm) -> Iterator[LinearTerm | ConstantTerm]:
        if isinstance(term, LinearTerm):
            yield from self._linear(term)
        else:
            yield term

    def _linear(self, term: LinearTerm) -> Iterator[LinearTerm | ConstantTerm]:
        if term.unknown.name not in self.given:
            yield term
            return
        unknown, observed, value = self._split(term.unknown)
        yield replace(term, scopes=(*term.scopes, unknown))
        yield ConstantTerm((*term.scopes, observed), product(term.coefficient, value))

    def _product(self, term: ProductTerm) -> Iterator[Term]:
        """The product of two sums of two terms."""
        for first_scopes, first in self._factor(term.first):
            for second_scopes, second in self._factor(term.second):
                scopes = (*term.scopes, *first_scopes, *second_scopes)
                if isinstance(first, UnknownAtom) and isinstance(second, UnknownAtom):
                    yield replace(term, scopes=scopes, first=first, second=second)
                elif isinstance(first, UnknownAtom):
                    yield LinearTerm(scopes, product(term.coefficient, second), first)  # type: ignore[arg-type]
                elif isinstance(second, UnknownAtom):
                    yield LinearTerm(scopes, product(term.coefficient, first), second)
                else:
                    yield ConstantTerm(scopes, product(term.coefficient, product(first, second)))

    def _factor(self, atom: UnknownAtom) -> Iterator[tuple[tuple[Scope, ...], UnknownAtom | DataExpression]]:
        if atom.name not in self.given:
            yield (), atom
            return
        unknown, observed, value = self._split(atom)
        yield (unknown,), atom
        yield (observed,), value

    def _split(self, atom: UnknownAtom) -> tuple[Scope, Scope, DataExpression]:
        """Scopes in which an atom is unknown and in which it is observed, and its value there."""
        name = self.given[atom.name]
        holds = Holds(name, atom.arguments, atom.span)
        outer = tuple(sorted(variables_of(holds)))
        value = ParameterValue(name, atom.arguments, None, atom.span)
        return _test(Not(holds), outer, atom), _test(holds, outer, atom), value


def _test(formula: Formula, outer: tuple[str, ...], atom: UnknownAtom) -> Scope:
    return Scope((), formula, outer, (), atom.span)
