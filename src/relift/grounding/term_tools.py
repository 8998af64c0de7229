"""Small things that are done to the terms of a checked model: signs, factors, the logic variables they use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from relift.grounding.queries_from_model import variables_of
from relift.language.checked_model import (
    Affine,
    And,
    Arithmetic,
    Constant,
    ConstantTerm,
    DataExpression,
    Formula,
    FunctionTerm,
    Holds,
    LinearTerm,
    Negative,
    Neighbour,
    ParameterValue,
    ProductTerm,
    Scope,
    Term,
    TrueFormula,
    UnknownAtom,
)
from relift.language.checks.walk import Part, children

_Term = TypeVar("_Term", bound=Term)
ONE = Constant(1)


def times(sign: int, term: _Term) -> _Term:
    """A term, or its negative."""
    return term if sign > 0 else negated(term)


def negated(term: _Term) -> _Term:
    """A term with the other sign."""
    coefficient = term.coefficient
    return replace(term, coefficient=coefficient.part if isinstance(coefficient, Negative) else Negative(coefficient))


def product(first: DataExpression, second: DataExpression) -> DataExpression:
    """A product of data, without factors 1.

    Examples
    --------
    >>> product(Constant(1), Constant(3))
    Constant(value=3)
    """
    if first == ONE:
        return second
    return first if second == ONE else Arithmetic("*", first, second)


def constant(value: float) -> ConstantTerm:
    """A number as a term."""
    return ConstantTerm((), Constant(value))


def conjunction(parts: Iterable[Formula]) -> Formula:
    """One formula of several."""
    flat = [p for part in parts for p in (part.parts if isinstance(part, And) else (part,))]
    flat = [p for p in flat if not isinstance(p, TrueFormula)]
    return TrueFormula() if not flat else flat[0] if len(flat) == 1 else And(tuple(flat))


def variables_of_terms(terms: Iterable[Term]) -> set[str]:
    """All logic variables of some terms; those that their own scopes bind are among them and do no harm."""
    used: set[str] = set()
    for term in terms:
        used |= variables_of(term.coefficient) | variables_of_scopes(term.scopes)
        if isinstance(term, LinearTerm):
            used |= _variables_of_atom(term.unknown)
        elif isinstance(term, ProductTerm):
            used |= _variables_of_atom(term.first) | _variables_of_atom(term.second)
        elif isinstance(term, FunctionTerm):
            used |= variables_of_function(term)
        elif not isinstance(term, ConstantTerm):
            used |= variables_of_terms(term.inner.terms)
    return used


def variables_of_function(term: FunctionTerm) -> set[str]:
    """All logic variables of a function and its query, but for those of its own coefficient and scopes."""
    used = set() if term.number is None else variables_of(term.number)
    if term.index is not None:
        used |= variables_of_scopes((term.index,))
    for argument in term.arguments:
        used |= variables_of_terms(argument.terms)
    return used


def variables_of_scopes(scopes: Iterable[Scope]) -> set[str]:
    """All logic variables of some queries."""
    used: set[str] = set()
    for scope in scopes:
        used |= set(scope.outer) | variables_of(scope.formula)
    return used


def names_in_terms(terms: Iterable[Term]) -> set[str]:
    """Relations, params and variables that some terms name."""
    found: set[str] = set()
    for term in terms:
        found |= names_in(term.coefficient, *(scope.formula for scope in term.scopes))
        if isinstance(term, LinearTerm):
            found |= _names_in_atom(term.unknown)
        elif isinstance(term, ProductTerm):
            found |= _names_in_atom(term.first) | _names_in_atom(term.second)
        elif isinstance(term, FunctionTerm):
            found |= set() if term.number is None else names_in(term.number)
            found |= set() if term.index is None else names_in(term.index.formula)
            found = found.union(*(names_in_terms(argument.terms) for argument in term.arguments))
        elif not isinstance(term, ConstantTerm):
            found |= names_in_terms(term.inner.terms)
    return found


def names_in(*parts: Part) -> set[str]:
    """Relations, derived predicates and params that formulas and data expressions name."""
    found: set[str] = set()
    stack = list(parts)
    while stack:
        part = stack.pop()
        if isinstance(part, Holds):
            found.add(part.predicate)
        elif isinstance(part, ParameterValue):
            found.add(part.name)
        elif isinstance(part, Neighbour):
            found.add(part.relation)
        stack.extend(children(part))
    return found


def _names_in_atom(atom: UnknownAtom) -> set[str]:
    return {atom.name} | names_in(*atom.arguments)


def _variables_of_atom(atom: UnknownAtom) -> set[str]:
    return set().union(*map(variables_of, atom.arguments))


def affine(*terms: LinearTerm | ConstantTerm) -> Affine:
    """The affine expression that is a sum of terms."""
    return Affine(terms)


def scaled(factor: float, inner: Affine) -> Affine:
    """A sum times a number."""
    number = Constant(factor)
    return Affine(tuple(replace(t, coefficient=product(number, t.coefficient)) for t in inner.terms))


def added(*parts: Affine) -> Affine:
    """The sum of affine expressions."""
    return Affine(tuple(term for part in parts for term in part.terms))
