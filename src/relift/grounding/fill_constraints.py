"""Constraints: every statement becomes rows, one for each answer of its query, as blocks of a sparse matrix.

The rows of a statement are stored once, with their numbers. A term ``sum{J in f} c * x(..)`` depends on the row through
some of the row's variables only. It is evaluated once for each of *their* values, as a small matrix M; the block of the
statement is then M[group of each row], scaled by the factors of c that depend on the row. In the collective rows of a
transductive SVM, ``sum{J in word(I2,J)} weight(J)`` for all linked (I1,I2) is thus computed once for each I2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Vector
from relift.errors import DataError, SizeLimitError
from relift.grounding import exact
from relift.grounding.coefficients import VALUE, Coefficient, column_of_values, exact_scale, split
from relift.grounding.queries_from_model import COLUMN, ROW, Queries, variables_of
from relift.grounding.row_blocks import RowBlock
from relift.grounding.workspace import Workspace
from relift.language.checked_model import (
    Anonymous,
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
from relift.tables.engine import Arrays
from relift.tables.load import StoredTable

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
    """The rows of one constraint.

    Parameters
    ----------
    rows
        Their tuples and numbers.
    blocks
        For each variable predicate the block of its coefficients.
    lower, upper
        Bounds of the rows.
    """

    rows: Rows
    blocks: dict[str, RowBlock]
    lower: Vector
    upper: Vector

    @property
    def n_nonzeros(self) -> int:
        """Stored entries of all blocks."""
        return sum(block.nnz for block in self.blocks.values())


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
) -> frozenset[tuple[str, tuple[DataExpression | Anonymous, ...]]]:
    """Values of params at plain variables that some expressions ask for."""
    found = set()
    stack: list[object] = [e for e in expressions if e is not None]
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
) -> dict[str, RowBlock]:
    """The coefficients of linear terms, one block for each variable predicate that occurs."""
    parts: dict[str, list[RowBlock]] = {}
    for term in terms:
        parts.setdefault(term.unknown.name, []).append(linear_block(work, queries, rows, term, statement))
    return {name: _added(found) for name, found in parts.items()}


def _added(blocks: list[RowBlock]) -> RowBlock:
    if len(blocks) == 1:
        return blocks[0]
    entries = [block.tocoo() for block in blocks]
    rows, columns = (np.concatenate([e.coords[axis] for e in entries]) for axis in (0, 1))
    values = np.concatenate([e.data for e in entries])
    return RowBlock.of(exact.matrix_from_triplets(rows, columns, values, blocks[0].shape))


def linear_block(work: Workspace, queries: Queries, rows: Rows, term: LinearTerm, statement: str) -> RowBlock:
    """The coefficients of one term: rows by unknowns of its predicate."""
    if rows.size == 0:
        return RowBlock.of(sparse.csr_array((0, work.unknowns[term.unknown.name].rows)))
    plan = plan_of_term(work, queries, rows, term, statement)
    return _fetched(work, queries, rows, plan, statement)


@final
@dataclass(frozen=True, eq=False)
class TermPlan:
    """What a linear term adds to the rows of a statement, still in the engine.

    Parameters
    ----------
    entries
        A plan of coordinates: the group of rows (``#group``), the number of the unknown inside of its predicate
        (``#column``) and, unless all are 1, the value (``#value``). Both coordinates are -1 or NULL where something is
        missing.
    groups
        Which rows make up a group.
    coefficient
        The factors of the term: the number and those of the whole row are still to be multiplied with the values.
    is_key
        Whether no two entries have the same coordinates; else entries that meet are to be added up.
    n_unknowns
        How many unknowns the predicate has.
    """

    entries: Plan
    groups: Groups
    coefficient: Coefficient
    is_key: bool
    n_unknowns: int


def plan_of_term(work: Workspace, queries: Queries, rows: Rows, term: LinearTerm, statement: str) -> TermPlan:
    """The plan of the coordinates of a term; its groups are stored in the engine."""
    variables = frozenset(rows.variables)
    coefficient = split(queries, term.coefficient, variables)
    groups = _groups(work, queries, rows, term, _used(term, coefficient.rest) & variables, statement)
    plan = queries.within(groups.plan, term.scopes)
    plan, number = queries.numbered(plan, term.unknown)
    place = {GROUP: call("number of row", Column(groups.number)), COLUMN: call("number of row", number)}
    # The number of a group determines its columns, the number of an unknown its arguments.
    known = {*groups.plan.columns, *queries.columns(_plain_arguments(term))}
    is_key = any(key <= known for key in plan.keys)
    entries = plan_of_entries(queries, plan, place, coefficient.rest, is_key)
    return TermPlan(entries, groups, coefficient, is_key, work.unknowns[term.unknown.name].rows)


def _fetched(work: Workspace, queries: Queries, rows: Rows, plan: TermPlan, statement: str) -> RowBlock:
    """The block of a term."""
    groups, coefficient = plan.groups, plan.coefficient
    found = fetch_planned(work, queries, plan.entries, coefficient.rest, statement)
    block = exact.block_from_triplets(
        found[GROUP], found[COLUMN], found.get(VALUE), (groups.size, plan.n_unknowns), plan.is_key
    )
    of_row = groups.rows_of(work, queries, rows, statement)
    if of_row is not None:
        block = replace(block, of_row=of_row)
        _refuse_nonzeros(work, block.nnz, statement)
    if coefficient.by_row is not None:
        needed = block.lengths > 0
        scale = column_of_values(work, queries, rows.plan, coefficient.by_row, rows.size, statement, needed)
        if not np.isfinite(scale[needed]).all():
            raise work.explain_missing(queries, statement)
        return exact.block_with_scale(block, scale, coefficient.number)
    return exact.scaled_block(block, coefficient.number)


@final
@dataclass(frozen=True, eq=False)
class Groups:
    """Rows that a term cannot tell apart.

    Parameters
    ----------
    plan
        The groups: their numbers and the columns that the term looks at.
    number
        The column of their numbers.
    size
        How many there are.
    members
        A plan of pairs (``#row``, ``#group``); None if every row is a group of its own, with its own number, or if
        there is one group.
    """

    plan: Plan
    number: str
    size: int
    members: Plan | None = None

    def rows_of(self, work: Workspace, queries: Queries, rows: Rows, statement: str) -> NDArray[np.int32] | None:
        """The group of each row; None if it is its own."""
        if self.members is None:
            return None if self.number == ROW else np.zeros(rows.size, np.int32)
        found = work.fetch(self.members, queries, statement)
        of_row = np.empty(rows.size, np.int32)
        of_row[found[ROW]] = found[GROUP]
        return of_row


def _groups(work: Workspace, queries: Queries, rows: Rows, term: LinearTerm, used: Set[str], statement: str) -> Groups:
    if not term.scopes or rows.table is None or used == frozenset(rows.variables):
        return Groups(rows.plan, ROW, rows.size)
    if not used:
        return Groups(Project(Unit(), {GROUP: literal(0)}), GROUP, 1)
    columns = queries.columns(v for v in rows.variables if v in used)
    plan = distinct(project(rows.plan, *columns))
    stored = work.fresh_name(f"{statement}groups")
    size = work.create(stored, plan, queries, statement, number=(GROUP, ()))
    work.store(StoredTable(stored, tuple(plan.columns.values()), size))
    source = {name: (name, kind) for name, kind in plan.columns.items()} | {GROUP: (GROUP, literal(0).type)}
    scan = Scan(stored, source, frozenset([frozenset(columns), frozenset([GROUP])]))
    members = Project(Join(rows.plan, scan), {c: call("number of row", Column(c)) for c in (ROW, GROUP)})
    return Groups(scan, GROUP, size, members)


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


def plan_of_entries(
    queries: Queries, plan: Plan, place: Mapping[str, Scalar], expression: DataExpression | None, is_key: bool
) -> Plan:
    """Places and the values of an expression there (none, if all are 1).

    Places may come up more than once, unless the keys of the plan show that they do not. They are counted by the
    engine where every value is 1; else whoever reads them adds up, exactly.
    """
    if expression is not None:
        plan, value = queries.value(plan, expression)
        return Project(plan, {**place, VALUE: call("real", value)})
    if is_key:
        return Project(plan, place)
    counted = Aggregate(Project(plan, place), tuple(place), {VALUE: ("count", literal(1))})
    outputs: dict[str, Scalar] = {c: Column(c) for c in place}
    return Project(counted, outputs | {VALUE: call("real", Column(VALUE))})


def fetch_planned(
    work: Workspace, queries: Queries, entries: Plan, expression: DataExpression | None, statement: str
) -> Arrays:
    """The places of a plan and the values of its expression, checked."""
    found = work.fetch(entries, queries, statement)
    if expression is not None:
        found[VALUE] = exact.snapped(found[VALUE], exact_scale(work, queries, expression))
    check_entries(work, queries, found, statement)
    return found


def fetch_entries(
    work: Workspace,
    queries: Queries,
    plan: Plan,
    place: Mapping[str, Scalar],
    expression: DataExpression | None,
    is_key: bool,
    statement: str,
) -> Arrays:
    """Places and the values of an expression there, as arrays."""
    return fetch_planned(
        work, queries, plan_of_entries(queries, plan, place, expression, is_key), expression, statement
    )


def check_entries(work: Workspace, queries: Queries, found: Arrays, statement: str) -> None:
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


def _refuse_nonzeros(work: Workspace, size: int, statement: str) -> None:
    if size > work.limit:
        raise SizeLimitError(
            f"{statement} would have {size:,} nonzeros; the limit is {work.limit:,}.",
            "Narrow its query, or raise the limit.",
            statement,
            size,
            work.limit,
        )


# --- constants -------------------------------------------------------------------------------------------------


def constant_column(
    work: Workspace, queries: Queries, rows: Rows, terms: Sequence[ConstantTerm], statement: str
) -> Vector:
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


def _summed_constants(work: Workspace, queries: Queries, rows: Rows, term: ConstantTerm, statement: str) -> Vector:
    plan = queries.within(rows.plan, term.scopes)
    plan, scalar = queries.value(plan, term.coefficient)
    outputs = {ROW: call("number of row", Column(ROW)), VALUE: call("real", scalar)}
    found = work.fetch(Project(plan, outputs), queries, statement)
    check_entries(work, queries, found, statement)
    values = exact.snapped(found[VALUE], exact_scale(work, queries, term.coefficient))
    return exact.grouped_sums(found[ROW], values, rows.size)
