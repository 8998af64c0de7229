r"""The objective: linear terms fill q, products fill P entry by entry, squares become factors.

A square ``sum{s} w * (b'x + d)**2`` is kept as rows b with constants d and weights w; with B the matrix of the rows,

.. math:: P \\mathrel{+}= 2 B^\\top W B, \\quad q \\mathrel{+}= 2 B^\\top W d, \\quad r \\mathrel{+}= d^\\top W d.

SciPy multiplies the factors, several times quicker than a join in SQL would; exactly, where the numbers are short
decimals (:func:`relift.grounding.exact.gram`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Integers, SparseMatrix, Vector
from relift.grounding import exact
from relift.grounding.coefficients import VALUE, column_of_values, split
from relift.grounding.fill_constraints import (
    Rows,
    constant_column,
    fetch_entries,
    linear_blocks,
    store_plan,
    wanted_values,
)
from relift.grounding.queries_from_model import COLUMN, ROW, Queries
from relift.grounding.row_blocks import RowBlock
from relift.grounding.workspace import Workspace
from relift.language.checked_model import (
    AbsoluteTerm,
    Arithmetic,
    Constant,
    ConstantTerm,
    DataExpression,
    HingeTerm,
    LinearTerm,
    LogicVariable,
    Objective,
    ProductTerm,
    SquareTerm,
)
from relift.tables.algebra import Plan, Project, Scalar, Unit, call, literal
from relift.tables.engine import Arrays

Place = tuple[str, str]


@final
@dataclass(frozen=True, eq=False)
class HingeFactors:
    """The ground terms of one ``max(0, e)`` or ``abs(e)``.

    Parameters
    ----------
    kind
        ``"max"`` or ``"abs"``.
    power
        1 or 2.
    rows
        Their tuples and numbers.
    blocks, constants
        The sums e: coefficients for each variable predicate, and constants.
    weights
        The coefficients of the terms.
    """

    kind: str
    power: int
    rows: Rows
    blocks: dict[str, RowBlock]
    constants: Vector
    weights: Vector


@final
@dataclass(eq=False)
class ObjectiveParts:
    """The objective by variable predicates.

    Parameters
    ----------
    linear
        Columns and values of q, for each predicate.
    quadratic
        Rows, columns and values of P, for each pair of predicates.
    constants
        Parts of r.
    is_convex
        Whether all quadratic terms are squares with coefficients of the right sign.
    hinges
        Terms ``max(0, e)`` and ``abs(e)``, before presolve.
    """

    linear: dict[str, list[tuple[Integers, Vector]]] = field(default_factory=dict)
    quadratic: dict[Place, list[tuple[Integers, Integers, Vector]]] = field(default_factory=dict)
    constants: list[float] = field(default_factory=list)
    is_convex: bool = True
    hinges: list[HingeFactors] = field(default_factory=list)

    def add_linear(self, name: str, columns: Integers, values: Vector) -> None:
        """Add linear terms to q."""
        self.linear.setdefault(name, []).append((columns, values))

    def add_quadratic(self, first: str, second: str, matrix: SparseMatrix) -> None:
        """Add a matrix to a block of P."""
        entries = matrix.tocoo()
        self.quadratic.setdefault((first, second), []).append((*entries.coords, entries.data))

    def vector(self, name: str, size: int) -> Vector:
        """The part of q for one predicate."""
        parts = self.linear.get(name, [])
        if not parts:
            return np.zeros(size)
        columns, values = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        return exact.grouped_sums(columns, values, size)

    def block(self, first: str, second: str, shape: tuple[int, int]) -> RowBlock:
        """A block of P that is not empty."""
        parts = self.quadratic[first, second]
        rows, columns, values = (np.concatenate([part[k] for part in parts]) for k in (0, 1, 2))
        return exact.block_from_triplets(rows, columns, values, shape)

    @property
    def constant(self) -> float:
        """The constant r of the objective."""
        if not self.constants:
            return 0.0
        return float(exact.grouped_sums(np.zeros(len(self.constants), np.int64), np.array(self.constants), 1)[0])


def ground_objective(work: Workspace, objective: Objective) -> ObjectiveParts:
    """All entries of the objective."""
    parts = ObjectiveParts()
    statement = f"the objective {objective.name!r}"
    for term in objective.expression.terms:
        queries = work.queries()
        queries.wanted = wanted_values([term.coefficient])
        if isinstance(term, ConstantTerm):
            single = Rows(Project(Unit(), {ROW: literal(0)}), 1)
            parts.constants.append(float(constant_column(work, queries, single, [term], statement)[0]))
        elif isinstance(term, LinearTerm):
            _linear(work, queries, parts, term, statement)
        elif isinstance(term, ProductTerm):
            _product(work, queries, parts, term, statement)
            parts.is_convex = False
        elif isinstance(term, SquareTerm):
            _square(work, queries, parts, term, statement)
        elif isinstance(term, HingeTerm | AbsoluteTerm):
            parts.hinges.append(_hinge(work, queries, term, statement))
    n_quadratic = sum(values.size for found in parts.quadratic.values() for *_, values in found)
    work.engine.tell("ground", f"{objective.name}: {n_quadratic:,} quadratic entries")
    return parts


def _linear(work: Workspace, queries: Queries, parts: ObjectiveParts, term: LinearTerm, statement: str) -> None:
    coefficient = split(queries, term.coefficient, frozenset())
    plan = queries.within(Unit(), term.scopes)
    plan, number = queries.numbered(plan, term.unknown)
    columns = {COLUMN: call("number of row", number)}
    plain = [a.name for a in term.unknown.arguments if isinstance(a, LogicVariable)]
    is_key = any(key <= set(queries.columns(plain)) for key in plan.keys)
    rest = product_of_parts(coefficient.by_row, coefficient.rest)
    found = valued_places(work, queries, plan, columns, rest, is_key, statement)
    scaled = exact.multiply(found[VALUE], np.full(1, coefficient.number))
    parts.add_linear(term.unknown.name, found[COLUMN], scaled)


def product_of_parts(first: DataExpression | None, second: DataExpression | None) -> DataExpression | None:
    """The product of two expressions, either of which may be missing."""
    if first is None or second is None:
        return first or second
    return Arithmetic("*", first, second)


def valued_places(
    work: Workspace,
    queries: Queries,
    plan: Plan,
    columns: Mapping[str, Scalar],
    expression: DataExpression | None,
    is_key: bool,
    statement: str,
) -> Arrays:
    """Numbers of unknowns with the value of an expression (1 if there is none)."""
    found = fetch_entries(work, queries, plan, columns, expression, is_key, statement)
    if VALUE not in found:
        found[VALUE] = np.ones(next(iter(found.values())).size)
    return found


def _product(work: Workspace, queries: Queries, parts: ObjectiveParts, term: ProductTerm, statement: str) -> None:
    coefficient = split(queries, term.coefficient, frozenset())
    plan = queries.within(Unit(), term.scopes)
    plan, first = queries.numbered(plan, term.first)
    plan, second = queries.numbered(plan, term.second)
    columns = {"#first": call("number of row", first), "#second": call("number of row", second)}
    rest = product_of_parts(coefficient.by_row, coefficient.rest)
    found = valued_places(work, queries, plan, columns, rest, False, statement)
    values = exact.multiply(found[VALUE], np.full(1, coefficient.number))
    names = term.first.name, term.second.name
    places = found["#first"], found["#second"]
    parts.quadratic.setdefault(names, []).append((*places, values))
    parts.quadratic.setdefault(names[::-1], []).append((*places[::-1], values))


def _square(work: Workspace, queries: Queries, parts: ObjectiveParts, term: SquareTerm, statement: str) -> None:
    inner = term.inner.terms
    queries.wanted = wanted_values([term.coefficient, *(t.coefficient for t in inner)])
    weight = split(queries, term.coefficient, frozenset())
    plan = queries.within(Unit(), term.scopes)
    only = inner[0] if len(inner) == 1 else None
    if isinstance(only, LinearTerm) and not only.scopes and isinstance(only.coefficient, Constant):
        # w * (c x)**2 is a diagonal entry: no rows are needed.
        plan, number = queries.numbered(plan, only.unknown)
        columns = {COLUMN: call("number of row", number)}
        plain = [a.name for a in only.unknown.arguments if isinstance(a, LogicVariable)]
        is_key = any(key <= set(queries.columns(plain)) for key in plan.keys)
        rest = product_of_parts(weight.by_row, weight.rest)
        found = valued_places(work, queries, plan, columns, rest, is_key, statement)
        factor = exact.multiply(np.full(1, 2.0 * weight.number), np.full(1, float(only.coefficient.value)) ** 2)
        values = exact.multiply(found[VALUE], factor)
        name = only.unknown.name
        parts.quadratic.setdefault((name, name), []).append((found[COLUMN], found[COLUMN], values))
        return
    rows, blocks, constants, weights = _factors(work, queries, plan, term, statement)
    if rows.table is not None:
        work.drop(rows.table)
    _add_factors(parts, {name: block.tocsr() for name, block in blocks.items()}, constants, weights, work.limit)


def _factors(
    work: Workspace, queries: Queries, plan: Plan, term: SquareTerm | HingeTerm | AbsoluteTerm, statement: str
) -> tuple[Rows, dict[str, RowBlock], Vector, Vector]:
    """The rows of a term, its inner sums as blocks and constants, and its weights."""
    inner = term.inner.terms
    variables = tuple(v for scope in term.scopes for v in scope.variables)
    if term.scopes:
        rows = store_plan(work, queries, variables, plan, statement)
    else:
        rows = Rows(Project(Unit(), {ROW: literal(0)}), 1)
    blocks = linear_blocks(work, queries, rows, [t for t in inner if isinstance(t, LinearTerm)], statement)
    constants = constant_column(work, queries, rows, [t for t in inner if isinstance(t, ConstantTerm)], statement)
    weights = column_of_values(work, queries, rows.plan, term.coefficient, rows.size, statement)
    return rows, blocks, constants, weights


def _hinge(work: Workspace, queries: Queries, term: HingeTerm | AbsoluteTerm, statement: str) -> HingeFactors:
    queries.wanted = wanted_values([term.coefficient, *(t.coefficient for t in term.inner.terms)])
    plan = queries.within(Unit(), term.scopes)
    kind, power = ("max", term.power) if isinstance(term, HingeTerm) else ("abs", 1)
    return HingeFactors(kind, power, *_factors(work, queries, plan, term, statement))


def _add_factors(
    parts: ObjectiveParts, blocks: dict[str, SparseMatrix], constants: Vector, weights: Vector, limit: int
) -> None:
    doubled = 2.0 * weights
    d = sparse.csr_array(constants.reshape(-1, 1))
    names = list(blocks)
    for position, first in enumerate(names):
        for second in names[position:]:
            product = exact.gram(blocks[first], blocks[second], doubled, limit)
            if first == second:
                upper = sparse.triu(product, k=1)
                product = sparse.triu(product) + upper.T
            else:
                parts.add_quadratic(second, first, product.T)
            parts.add_quadratic(first, second, product)
        if d.nnz:
            column = exact.gram(blocks[first], d, doubled).tocoo()
            parts.add_linear(first, column.coords[0], column.data)
    if d.nnz:
        parts.constants.append(float(exact.gram(d, d, weights).toarray()[0, 0]))
