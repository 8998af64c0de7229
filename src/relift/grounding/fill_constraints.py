"""Constraints: every statement becomes rows, one for each answer of its query, as blocks of a sparse matrix.

The rows of a statement are stored once, with their numbers. A term ``sum{J in f} c * x(..)`` depends on the row through
some of the row's variables only. It is evaluated once for each of *their* values, as a small matrix M; the block of the
statement is then M[group of each row], scaled by the factors of c that depend on the row. In the collective rows of a
transductive SVM, ``sum{J in word(I2,J)} weight(J)`` for all linked (I1,I2) is thus computed once for each I2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.errors import DataError, SizeLimitError
from relift.grounding import exact
from relift.grounding.coefficients import VALUE, column_of_values, exact_scale, split
from relift.grounding.queries_from_model import COLUMN, ROW, Queries, variables_of
from relift.grounding.workspace import Workspace
from relift.language.checked_model import (
    Constant,
    ConstantTerm,
    Constraint,
    DataExpression,
    Formula,
    LinearTerm,
    LogicVariable,
    ParameterValue,
)
from relift.tables.algebra import (
    Aggregate,
    Column,
    Join,
    Plan,
    Project,
    Scalar,
    Scan,
    Unit,
    call,
    distinct,
    literal,
    project,
)
from relift.tables.load import StoredTable

Floats = NDArray[np.float64]
GROUP = "#group"


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """The stored rows of a statement: a plan with a column of numbers and one for each variable of its query."""

    plan: Plan
    size: int
    variables: tuple[str, ...] = ()
    table: StoredTable | None = None


@final
@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """The ground rows of one constraint.

    Parameters
    ----------
    rows
        Their tuples and numbers.
    blocks
        For each variable predicate a CSR array of its coefficients.
    lower, upper
        Bounds of the rows.
    """

    rows: Rows
    blocks: dict[str, Any]
    lower: Floats
    upper: Floats

    @property
    def n_nonzeros(self) -> int:
        """Stored entries of all blocks."""
        return sum(int(block.nnz) for block in self.blocks.values())


def store_rows(
    work: Workspace, queries: Queries, variables: tuple[str, ...], formula: Formula | None, statement: str
) -> Rows:
    """Store the distinct answers of a query with their numbers, in the order of their keys."""
    if formula is None:
        return Rows(Project(Unit(), {ROW: literal(0)}), 1)
    return store_plan(work, queries, variables, queries.answers(variables, formula), statement)


def store_plan(work: Workspace, queries: Queries, variables: tuple[str, ...], plan: Plan, statement: str) -> Rows:
    """Store the rows of a plan, which are distinct values of some variables, with their numbers."""
    keys = queries.columns(variables)
    source = {name: f"c{k}" for k, name in enumerate((*keys, *(c for c in plan.columns if c not in keys)))}
    stored = work.fresh_name(statement)
    renamed = Project(plan, {column: Column(name) for name, column in source.items()})
    size = work.create(stored, renamed, queries, statement, number=("number", tuple(source[k] for k in keys)))
    types = tuple(plan.columns[key] for key in keys)
    table = work.store(StoredTable(stored, types, size, "number", literal(0).type, value_is_key=True))
    columns = {name: (column, plan.columns[name]) for name, column in source.items()}
    columns[ROW] = ("number", literal(0).type)
    scan = Scan(stored, columns, frozenset([frozenset(keys), frozenset([ROW])]))
    return Rows(scan, size, variables, table)


def ground_constraint(work: Workspace, constraint: Constraint) -> ConstraintRows:
    """All rows of a linear constraint.

    Raises
    ------
    DataError
        If a value is missing or is not finite.
    """
    statement = f"the constraint {constraint.name!r}"
    queries = work.queries()
    queries.wanted = wanted_values(
        [constraint.lower, constraint.upper, *(term.coefficient for term in constraint.body.terms)]
    )
    rows = store_rows(work, queries, constraint.variables, constraint.formula, statement)
    linear = [term for term in constraint.body.terms if isinstance(term, LinearTerm)]
    constants = [term for term in constraint.body.terms if isinstance(term, ConstantTerm)]
    blocks = linear_blocks(work, queries, rows, linear, statement)
    shift = -constant_column(work, queries, rows, constants, statement)
    sides = []
    for bound, missing in ((constraint.lower, -np.inf), (constraint.upper, np.inf)):
        if bound is None:
            sides.append(np.full(rows.size, missing))
        else:
            values = column_of_values(work, queries, rows.plan, bound, rows.size, statement)
            sides.append(exact.add(values, shift))
    result = ConstraintRows(rows, blocks, sides[0], sides[1])
    work.engine.tell("ground", f"{constraint.name}: {rows.size:,} rows, {result.n_nonzeros:,} nonzeros")
    return result


def wanted_values(
    expressions: Sequence[DataExpression | None],
) -> frozenset[tuple[str, tuple[Any, ...]]]:
    """Values of params at plain variables that some expressions ask for."""
    found = set()
    stack: list[Any] = [e for e in expressions if e is not None]
    while stack:
        item = stack.pop()
        if isinstance(item, ParameterValue) and all(isinstance(a, LogicVariable | Constant) for a in item.arguments):
            found.add((item.name, item.arguments))
        for part in ("left", "right", "part"):
            if hasattr(item, part):
                stack.append(getattr(item, part))
        if hasattr(item, "arguments"):
            stack.extend(item.arguments)
    return frozenset(found)


# --- linear terms ----------------------------------------------------------------------------------------------


def linear_blocks(
    work: Workspace, queries: Queries, rows: Rows, terms: Sequence[LinearTerm], statement: str
) -> dict[str, Any]:
    """The coefficients of linear terms, one CSR array for each variable predicate that occurs."""
    parts: dict[str, list[Any]] = {}
    for term in terms:
        parts.setdefault(term.unknown.name, []).append(linear_block(work, queries, rows, term, statement))
    return {name: _added(found) for name, found in parts.items()}


def _added(matrices: list[Any]) -> Any:
    if len(matrices) == 1:
        return matrices[0]
    entries = [matrix.tocoo() for matrix in matrices]
    rows, columns = (np.concatenate([e.coords[axis] for e in entries]) for axis in (0, 1))
    values = np.concatenate([e.data for e in entries])
    return exact.matrix_from_triplets(rows, columns, values, matrices[0].shape)


def linear_block(work: Workspace, queries: Queries, rows: Rows, term: LinearTerm, statement: str) -> Any:
    """The coefficients of one term: rows by unknowns of its predicate."""
    n_unknowns = work.unknowns[term.unknown.name].rows
    if rows.size == 0:
        return sparse.csr_array((0, n_unknowns))
    variables = frozenset(rows.variables)
    coefficient = split(queries, term.coefficient, variables)
    groups = _groups(work, queries, rows, term, _used(term, coefficient.rest) & variables, statement)
    plan = queries.within(groups.plan, term.scopes)
    plan, number = queries.numbered(plan, term.unknown)
    place = {GROUP: call("number of row", Column(groups.number)), COLUMN: call("number of row", number)}
    # The number of a group determines its columns, the number of an unknown its arguments.
    known = {*groups.plan.columns, *queries.columns(_plain_arguments(term))}
    is_key = any(key <= known for key in plan.keys)
    found = fetch_entries(work, queries, plan, place, coefficient.rest, is_key, statement)
    matrix = exact.matrix_from_triplets(
        found[GROUP], found[COLUMN], found.get(VALUE, 1.0), (groups.size, n_unknowns), is_key
    )
    if groups.of_row is not None:
        matrix = _gathered(work, matrix, groups.of_row, statement)
    if coefficient.by_row is not None:
        needed = np.diff(matrix.indptr) > 0
        scale = column_of_values(work, queries, rows.plan, coefficient.by_row, rows.size, statement, needed)
        if not np.isfinite(scale[needed]).all():
            raise work.explain_missing(queries, statement)
        return exact.scaled_rows(matrix, scale, coefficient.number)
    return exact.scaled(matrix, coefficient.number)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows that a term cannot tell apart: a plan over the groups, and the group of each row (None: its own)."""

    plan: Plan
    number: str
    size: int
    of_row: NDArray[np.int32] | None = None
    table: StoredTable | None = field(default=None)


def _groups(work: Workspace, queries: Queries, rows: Rows, term: LinearTerm, used: Set[str], statement: str) -> _Groups:
    if not term.scopes or rows.table is None or used == frozenset(rows.variables):
        return _Groups(rows.plan, ROW, rows.size)
    if not used:
        return _Groups(Project(Unit(), {GROUP: literal(0)}), GROUP, 1, np.zeros(rows.size, np.int32))
    columns = queries.columns(v for v in rows.variables if v in used)
    plan = distinct(project(rows.plan, *columns))
    stored = work.fresh_name(f"{statement}groups")
    size = work.create(stored, plan, queries, statement, number=(GROUP, ()))
    work.store(StoredTable(stored, tuple(plan.columns.values()), size))
    source = {name: (name, kind) for name, kind in plan.columns.items()} | {GROUP: (GROUP, literal(0).type)}
    scan = Scan(stored, source, frozenset([frozenset(columns), frozenset([GROUP])]))
    of_row = np.empty(rows.size, np.int32)
    pairs = Project(Join(rows.plan, scan), {c: call("number of row", Column(c)) for c in (ROW, GROUP)})
    found = work.fetch(pairs, queries, statement)
    of_row[found[ROW]] = found[GROUP]
    return _Groups(scan, GROUP, size, of_row)


def _used(term: LinearTerm, rest: DataExpression | None) -> set[str]:
    """Variables on which the entries of a term depend, but for factors of the whole row."""
    used = set() if rest is None else variables_of(rest)
    for scope in term.scopes:
        used |= set(scope.outer) | variables_of(scope.formula)
    for argument in term.unknown.arguments:
        used |= variables_of(argument)
    return used


def _plain_arguments(term: LinearTerm) -> list[str]:
    return [a.name for a in term.unknown.arguments if isinstance(a, LogicVariable)]


def fetch_entries(
    work: Workspace,
    queries: Queries,
    plan: Plan,
    place: Mapping[str, Scalar],
    expression: DataExpression | None,
    is_key: bool,
    statement: str,
) -> dict[str, Any]:
    """Places and the values of an expression there.

    Places may come up more than once, unless the keys of the plan show that they do not. They are counted by the
    engine where every value is 1; else the caller adds up, exactly.
    """
    if expression is not None:
        plan, value = queries.value(plan, expression)
        found = work.fetch(Project(plan, {**place, VALUE: call("real", value)}), queries, statement)
        found[VALUE] = exact.snapped(found[VALUE], exact_scale(work, queries, expression))
    elif is_key:
        found = work.fetch(Project(plan, place), queries, statement)
    else:
        counted = Aggregate(Project(plan, place), tuple(place), {VALUE: ("count", literal(1))})
        outputs: dict[str, Scalar] = {c: Column(c) for c in place}
        found = work.fetch(Project(counted, outputs | {VALUE: call("real", Column(VALUE))}), queries, statement)
    check_entries(work, queries, found, statement)
    return found


def check_entries(work: Workspace, queries: Queries, found: dict[str, Any], statement: str) -> None:
    """Refuse unknowns outside of their domain and coefficients that are missing or not finite.

    Raises
    ------
    DataError
        If there is one.
    """
    for name, column in found.items():
        is_bad = not np.isfinite(column).all() if name == VALUE else column.size and column.min() < 0
        if is_bad:
            raise work.explain_missing(queries, statement)


def _gathered(work: Workspace, matrix: Any, of_row: NDArray[np.int32], statement: str) -> Any:
    size = int(np.diff(matrix.indptr)[of_row].sum(dtype=np.int64))
    if size > work.limit:
        raise SizeLimitError(
            f"{statement} would have {size:,} nonzeros; the limit is {work.limit:,}.",
            "Narrow its query, or raise the limit.",
            statement,
            size,
            work.limit,
        )
    gathered = matrix[of_row]
    gathered.has_canonical_format = True
    return gathered


# --- constants -------------------------------------------------------------------------------------------------


def constant_column(
    work: Workspace, queries: Queries, rows: Rows, terms: Sequence[ConstantTerm], statement: str
) -> Floats:
    """The constants of each row, added up."""
    total = np.zeros(rows.size)
    for term in terms:
        if not term.scopes:
            values = column_of_values(work, queries, rows.plan, term.coefficient, rows.size, statement)
        else:
            values = _summed_constants(work, queries, rows, term, statement)
        if not np.isfinite(values).all():
            raise DataError(f"{statement}: a constant is not finite.")
        total = exact.add(total, values)
    return total


def _summed_constants(work: Workspace, queries: Queries, rows: Rows, term: ConstantTerm, statement: str) -> Floats:
    plan = queries.within(rows.plan, term.scopes)
    plan, scalar = queries.value(plan, term.coefficient)
    outputs = {ROW: call("number of row", Column(ROW)), VALUE: call("real", scalar)}
    found = work.fetch(Project(plan, outputs), queries, statement)
    check_entries(work, queries, found, statement)
    values = exact.snapped(found[VALUE], exact_scale(work, queries, term.coefficient))
    return exact.grouped_sums(found[ROW], values, rows.size)
