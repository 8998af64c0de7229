r"""Quadratic constraints: every statement becomes stacked rows ½x'P_kx + q_k'x <= r_k.

A square ``sum{I in f} c * (b'x + d)**2`` in row k is kept as factors, the rows (b, d) with weights c and the
row that owns each. With the factors of one row below each other as B, their weights W and constants d,

.. math:: P_k = 2 B^\top W B, \quad q_k = 2 B^\top W d + \dots, \quad r_k = u_k - d^\top W d - \dots

All rows are multiplied out at once: the columns of B are numbered by (row, unknown), so that one sparse product gives
all P_k on its diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Cells, Indices, Integers, SparseMatrix, Vector
from relift.errors import SizeLimitError
from relift.grounding import exact
from relift.grounding.coefficients import VALUE, column_of_values, split
from relift.grounding.fill_constraints import (
    Rows,
    constant_column,
    linear_blocks,
    store_plan,
    store_rows,
    wanted_values,
)
from relift.grounding.fill_objective import product_of_parts, valued_places
from relift.grounding.queries_from_model import ROW, Queries
from relift.grounding.row_blocks import RowBlock
from relift.grounding.workspace import Workspace
from relift.language.checked_model import ConstantTerm, Constraint, LinearTerm, ProductTerm, Scope, SquareTerm
from relift.program.quadratic_rows import QuadraticRows
from relift.tables.algebra import Column, Project, Scalar, call
from relift.tables.load import StoredTable

OWNER = "#owner"


@final
@dataclass(frozen=True, eq=False)
class QuadraticConstraintRows:
    """The rows of one quadratic constraint.

    Parameters
    ----------
    rows
        Their tuples and numbers.
    stacked
        The constraints themselves, over all unknowns.
    is_convex
        Whether all quadratic terms are squares with coefficients of the right sign.
    """

    rows: Rows
    stacked: QuadraticRows
    is_convex: bool = True

    @property
    def n_nonzeros(self) -> int:
        """Stored entries."""
        return self.stacked.n_nonzeros


def is_quadratic(constraint: Constraint) -> bool:
    """Whether a constraint (without ``max`` and ``abs`` terms) has squares or products of unknowns."""
    return any(isinstance(term, SquareTerm | ProductTerm) for term in constraint.body.terms)


def ground_quadratic_constraint(work: Workspace, constraint: Constraint) -> QuadraticConstraintRows:
    """All rows of a quadratic constraint.

    Raises
    ------
    DataError
        If a value is missing or is not finite.
    SizeLimitError
        If the squares have too many entries.
    """
    statement = f"the constraint {constraint.name!r}"
    queries = work.queries()
    terms = constraint.body.terms
    queries.wanted = wanted_values([constraint.upper, *(term.coefficient for term in terms)])
    rows = store_rows(work, queries, constraint.variables, constraint.formula, statement)
    parts = _Parts(rows.size, starts_of(work))
    for name, block in linear_blocks(
        work, queries, rows, [t for t in terms if isinstance(t, LinearTerm)], statement
    ).items():
        parts.add_linear(name, np.arange(rows.size), block)
    constants = constant_column(work, queries, rows, [t for t in terms if isinstance(t, ConstantTerm)], statement)
    assert constraint.upper is not None
    upper = column_of_values(work, queries, rows.plan, constraint.upper, rows.size, statement)
    parts.right.append((np.arange(rows.size), exact.add(upper, -constants)))
    is_convex = True
    for term in terms:
        if isinstance(term, SquareTerm):
            _square(work, queries, rows, parts, term, statement)
        elif isinstance(term, ProductTerm):
            _product(work, queries, rows, parts, term, statement)
            is_convex = False
    for table in parts.temporary:
        work.drop(table)
    found = QuadraticConstraintRows(rows, parts.stacked(), is_convex)
    work.engine.tell("ground", f"{constraint.name}: {rows.size:,} quadratic rows, {found.n_nonzeros:,} nonzeros")
    return found


def starts_of(work: Workspace) -> dict[str, int]:
    """The first number of each variable predicate, and under the empty name how many unknowns there are."""
    starts, total = {}, 0
    for name in work.model.variables:
        starts[name] = total
        total += work.unknowns[name].rows
    return starts | {"": total}


@dataclass(eq=False)
class _Parts:
    """Entries of all rows of one statement, to be added up."""

    size: int
    starts: dict[str, int]
    quadratic: list[tuple[Indices, Indices, Indices, Vector]] = field(default_factory=list)
    linear: list[tuple[Indices, Integers, Vector]] = field(default_factory=list)
    right: list[tuple[Indices, Vector]] = field(default_factory=list)
    temporary: list[StoredTable] = field(default_factory=list)

    def add_linear(self, name: str, owner: Indices, block: RowBlock | SparseMatrix) -> None:
        entries = block.tocoo()
        rows, columns = entries.coords
        self.linear.append((owner[rows], columns + self.starts[name], entries.data))

    def stacked(self) -> QuadraticRows:
        n = self.starts[""]
        owner, first, second, values = _joined(self.quadratic, 4)
        # Rows of one matrix for each pair (row, unknown): entries that meet are added up exactly.
        places, row = np.unique(owner * max(n, 1) + first, return_inverse=True)
        matrix = exact.matrix_from_triplets(row, second, values, (places.size, n)).tocoo()
        place = places[matrix.coords[0]]
        rows, columns, slopes = _joined(self.linear, 3)
        linear = exact.matrix_from_triplets(rows, columns, slopes, (self.size, n))
        rows, sides = _joined(self.right, 2)
        right = exact.grouped_sums(rows, sides, self.size)
        return QuadraticRows(
            place // max(n, 1), place % max(n, 1), matrix.coords[1].astype(np.int64), matrix.data, linear, right
        )


def _joined(parts: Sequence[tuple[Cells, ...]], width: int) -> Iterator[Cells]:
    """Columns of several parts, each as one array; the last one holds numbers."""
    for k in range(width):
        kind = np.float64 if k == width - 1 else np.int64
        yield np.concatenate([np.empty(0, kind), *(part[k] for part in parts)]).astype(kind, copy=False)


def _owned(rows: Rows) -> Project:
    """The rows with their numbers under another name, so that factors can have numbers of their own."""
    others: dict[str, Scalar] = {name: Column(name) for name in rows.plan.columns if name != ROW}
    return Project(rows.plan, {OWNER: Column(ROW), **others})


def owned_factors(
    work: Workspace, queries: Queries, rows: Rows, scopes: tuple[Scope, ...], statement: str
) -> tuple[Rows, Indices]:
    """The answers of scopes inside of each row, stored with their numbers, and the row that each belongs to."""
    if not scopes:
        return rows, np.arange(rows.size)
    variables = (*rows.variables, *(v for scope in scopes for v in scope.variables))
    factors = store_plan(work, queries, variables, queries.within(_owned(rows), scopes), statement)
    numbers = {column: call("number of row", Column(column)) for column in (ROW, OWNER)}
    found = work.fetch(Project(factors.plan, numbers), queries, statement)
    owner = np.empty(factors.size, np.int64)
    owner[found[ROW]] = found[OWNER]
    return factors, owner


def _square(work: Workspace, queries: Queries, rows: Rows, parts: _Parts, term: SquareTerm, statement: str) -> None:
    inner = term.inner.terms
    queries.wanted = wanted_values([term.coefficient, *(t.coefficient for t in inner)])
    factors, owner = owned_factors(work, queries, rows, term.scopes, statement)
    blocks = linear_blocks(work, queries, factors, [t for t in inner if isinstance(t, LinearTerm)], statement)
    constants = constant_column(work, queries, factors, [t for t in inner if isinstance(t, ConstantTerm)], statement)
    weights = column_of_values(work, queries, factors.plan, term.coefficient, factors.size, statement)
    if term.scopes and factors.table is not None:
        parts.temporary.append(factors.table)
    B = beside(blocks, parts.starts, factors.size)
    _refuse_dense(work, B, owner, statement)
    _add_products(parts, B, owner, constants, weights)


def beside(blocks: dict[str, RowBlock], starts: dict[str, int], size: int) -> SparseMatrix:
    """The factors over all unknowns."""
    entries = [(name, block.tocoo()) for name, block in blocks.items()]
    triplets = [(e.coords[0], e.coords[1] + starts[name], e.data) for name, e in entries]
    rows, columns, values = _joined(triplets, 3)
    return exact.matrix_from_triplets(rows, columns, values, (size, starts[""]), is_key=True)


def _refuse_dense(work: Workspace, B: SparseMatrix, owner: Indices, statement: str) -> None:
    entries = float((np.diff(B.indptr).astype(np.float64) ** 2).sum())
    if entries > work.limit:
        raise SizeLimitError(
            f"{statement} squares sums of many unknowns: {entries:,.0f} products; the limit is {work.limit:,}.",
            "Name the sum by an unknown of its own, equal to it, and square that.",
            statement,
            int(entries),
            work.limit,
        )


def _add_products(parts: _Parts, B: SparseMatrix, owner: Indices, constants: Vector, weights: Vector) -> None:
    n = max(parts.starts[""], 1)
    doubled = 2.0 * weights
    of_factor = np.repeat(owner, np.diff(B.indptr))
    places, column = np.unique(of_factor * n + B.indices, return_inverse=True)
    wide = sparse.csr_array((B.data, column, B.indptr), shape=(B.shape[0], places.size))
    product = exact.gram(wide, wide, doubled)
    upper = sparse.triu(product).tocoo()
    i, j = upper.coords
    is_off = i != j
    for a, b, values in ((i, j, upper.data), (j[is_off], i[is_off], upper.data[is_off])):
        parts.quadratic.append((places[a] // n, places[a] % n, places[b] % n, values))
    if constants.any():
        d = sparse.csr_array(constants.reshape(-1, 1))
        slope = exact.gram(wide, d, doubled).tocoo()
        place = places[slope.coords[0]]
        parts.linear.append((place // n, place % n, slope.data))
        squares = exact.multiply(exact.multiply(constants, constants), weights)
        parts.right.append((owner, -squares))


def _product(work: Workspace, queries: Queries, rows: Rows, parts: _Parts, term: ProductTerm, statement: str) -> None:
    queries.wanted = wanted_values([term.coefficient])
    coefficient = split(queries, term.coefficient, frozenset())
    plan = queries.within(_owned(rows), term.scopes)
    plan, first = queries.numbered(plan, term.first)
    plan, second = queries.numbered(plan, term.second)
    columns = {
        OWNER: call("number of row", Column(OWNER)),
        "#first": call("number of row", first),
        "#second": call("number of row", second),
    }
    rest = product_of_parts(coefficient.by_row, coefficient.rest)
    found = valued_places(work, queries, plan, columns, rest, False, statement)
    values = exact.multiply(found[VALUE], np.full(1, coefficient.number))
    owner = found[OWNER].astype(np.int64)
    i = found["#first"].astype(np.int64) + parts.starts[term.first.name]
    j = found["#second"].astype(np.int64) + parts.starts[term.second.name]
    parts.quadratic.append((owner, i, j, values))
    parts.quadratic.append((owner, j, i, values))


def moved(found: QuadraticRows, position: Indices, n_unknowns: int) -> QuadraticRows:
    """The same constraints when unknowns have other numbers: ``position`` of each old one, or -1."""
    q = found.q.tocoo()
    rows, columns = q.coords
    return QuadraticRows(
        found.owner,
        position[found.first],
        position[found.second],
        found.values,
        sparse.csr_array((q.data, (rows, position[columns])), shape=(len(found), n_unknowns)),
        found.r,
    )


def cut(found: QuadraticRows, start: int, stop: int) -> QuadraticRows:
    """Some consecutive constraints."""
    mine = (found.owner >= start) & (found.owner < stop)
    entries = (found.owner[mine] - start, found.first[mine], found.second[mine], found.values[mine])
    return QuadraticRows(*entries, found.q[start:stop], found.r[start:stop])


def below_each_other(parts: list[QuadraticRows], n_unknowns: int) -> QuadraticRows:
    """All constraints in one."""
    if not parts:
        return QuadraticRows.none(n_unknowns)
    starts = np.cumsum([0, *(len(part) for part in parts)])
    return QuadraticRows(
        np.concatenate([part.owner + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.second for part in parts]),
        np.concatenate([part.values for part in parts]),
        sparse.vstack([part.q for part in parts], format="csr"),
        np.concatenate([part.r for part in parts]),
    )


def widened(found: QuadraticRows, n_unknowns: int) -> QuadraticRows:
    """The same constraints when there are further unknowns behind the others."""
    q = found.q.tocsr()
    wide = sparse.csr_array((q.data, q.indices, q.indptr), shape=(len(found), n_unknowns))
    return QuadraticRows(found.owner, found.first, found.second, found.values, wide, found.r)
