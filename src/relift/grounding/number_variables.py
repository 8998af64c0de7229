"""Unknowns: the tuples of each variable predicate, numbered from 0 in the order of their keys, and their bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.grounding.coefficients import column_of_values
from relift.grounding.workspace import Workspace
from relift.language.checked_model import (
    AbsoluteTerm,
    Affine,
    CheckedModel,
    DataExpression,
    Expression,
    Formula,
    HingeTerm,
    LinearTerm,
    ProductTerm,
    Scope,
    SquareTerm,
    UnknownAtom,
    Variable,
)
from relift.tables.algebra import Column, Filter, Literal, Plan, Project, Scalar, Type, Union, Unit, distinct, literal
from relift.tables.load import StoredTable

NUMBER = "number"


@final
@dataclass(frozen=True)
class Occurrence:
    """A place where a statement uses an unknown."""

    statement: str
    variables: tuple[str, ...]
    formula: Formula | None
    scopes: tuple[Scope, ...]
    unknown: UnknownAtom


def occurrences(model: CheckedModel, name: str) -> list[Occurrence]:
    """All places where the objective, the constraints and the cones use a variable predicate."""
    found: list[Occurrence] = []
    if model.objective is not None:
        for scopes, unknown in _unknowns(model.objective.expression):
            found.append(Occurrence(model.objective.name, (), None, scopes, unknown))
    for constraint in model.constraints:
        for scopes, unknown in _unknowns(constraint.body):
            found.append(Occurrence(constraint.name, constraint.variables, constraint.formula, scopes, unknown))
    for cone in model.cones:
        for part in cone.parts:
            for scopes, unknown in _unknowns(part.body, part.scopes):
                found.append(Occurrence(cone.name, cone.variables, cone.formula, scopes, unknown))
    return [occurrence for occurrence in found if occurrence.unknown.name == name]


def _unknowns(
    expression: Expression | Affine, outside: tuple[Scope, ...] = ()
) -> Iterator[tuple[tuple[Scope, ...], UnknownAtom]]:
    for term in expression.terms:
        scopes = (*outside, *term.scopes)
        if isinstance(term, LinearTerm):
            yield scopes, term.unknown
        elif isinstance(term, ProductTerm):
            yield scopes, term.first
            yield scopes, term.second
        elif isinstance(term, SquareTerm | HingeTerm | AbsoluteTerm):
            yield from _unknowns(term.inner, scopes)


def number_unknowns(work: Workspace, variable: Variable, places: Sequence[Occurrence]) -> StoredTable:
    """Store the tuples of a variable predicate with their numbers."""
    name, arity = variable.name, variable.arity
    if arity == 0:
        return StoredTable("", (), 1, NUMBER, Type.INTEGER, value_is_key=True)
    queries = work.queries()
    columns = tuple(f"c{k}" for k in range(arity))
    if variable.domain is not None:
        answers = queries.answers(variable.parameters, variable.domain)
        named = dict(zip(columns, queries.columns(variable.parameters), strict=True))
        plan: Plan = Project(answers, {c: Column(n) for c, n in named.items()})
    else:
        parts: list[Plan] = []
        for place in places:
            start = queries.answers(place.variables, place.formula)
            parts.append(queries.arguments(queries.within(start, place.scopes), place.unknown))
        if not parts:
            nothing: dict[str, Scalar] = {c: Literal(None, Type.NOTHING) for c in columns}
            parts = [Filter(Project(Unit(), nothing), literal(False))]
        with queries.blame(name, variable.span):
            plan = distinct(Union(tuple(parts)) if len(parts) > 1 else parts[0])
        queries.before.extend(queries.afterwards)
        queries.afterwards.clear()
    stored = work.fresh_name(name)
    rows = work.create(stored, plan, queries, f"the variable {name!r}", number=(NUMBER, columns))
    work.engine.tell("ground", f"{name}: {rows:,} unknowns")
    return work.store(StoredTable(stored, tuple(plan.columns.values()), rows, NUMBER, Type.INTEGER, value_is_key=True))


def bounds_of(
    work: Workspace, variable: Variable, unknowns: Mapping[str, StoredTable]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bounds of all unknowns of a predicate; the tightest counts."""
    table = unknowns[variable.name]
    sides = []
    for expressions, start, tighter in (
        (variable.lower, -np.inf, np.maximum),
        (variable.upper, np.inf, np.minimum),
    ):
        side = np.full(table.rows, start)
        for expression in expressions:
            side = tighter(side, _bound(work, variable, table, expression))
        sides.append(side)
    return sides[0], sides[1]


def _bound(work: Workspace, variable: Variable, table: StoredTable, expression: DataExpression) -> NDArray[np.float64]:
    queries = work.queries()
    plan: Plan
    if variable.arity == 0:
        plan = Project(Unit(), {"#row": literal(0)})
    elif variable.parameters:
        plan = table.scan(queries.columns(variable.parameters), "#row")
    else:
        plan = table.scan([None] * variable.arity, "#row")
    what = f"a bound of {variable.name!r}"
    return column_of_values(work, queries, plan, expression, table.rows, what)
