r"""From a checked model and its data to program tables inside an engine; no coefficient is fetched.

Rows, unknowns and their numbers are those of :mod:`relift.grounding`, which this module shares everything with that
is stored in the engine anyway. Only the last step differs: coordinates become an appended table instead of arrays.
Decimals stay short by the same rule: a calculated value whose exact value is known to be a whole number over 10^s is
rounded to one, and entries that meet are added up as whole numbers (as floats in the order of their size, where they
are none).

A square ``sum{s} w * (b'x + d)**2`` is stored as factors and joined with itself:

.. math:: P_{ij} = \sum_k 2 w_k b_{ki} b_{kj}, \quad q_i = \sum_k 2 w_k d_k b_{ki}, \quad r = \sum_k w_k d_k^2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from relift.errors import EngineError, OptionError
from relift.grounding import exact, load_data
from relift.grounding.atoms import AtomIndex, Block
from relift.grounding.coefficients import VALUE, decimals_of, exact_scale
from relift.grounding.empty_joins import EmptyJoins
from relift.grounding.fill_constraints import Rows, store_plan, store_rows, wanted_values
from relift.grounding.fill_quadratic import is_quadratic
from relift.grounding.ground import Grounding, GroundingState
from relift.grounding.observed import given_by, without_given
from relift.grounding.queries_from_model import ROW, Queries
from relift.grounding.slack_terms import without_slack_terms
from relift.grounding.workspace import Workspace
from relift.in_database.program_tables import EngineProgram, check_dominant_diagonal
from relift.in_database.temporary_tables import check_engine, drop_surely, own_prefix
from relift.language.checked_model import (
    Affine,
    CheckedModel,
    ConstantTerm,
    Constraint,
    DataExpression,
    LinearTerm,
    LogicVariable,
    ProductTerm,
    SquareTerm,
    Term,
    Variable,
)
from relift.settings import ProgressCallback
from relift.tables.algebra import (
    Aggregate,
    Column,
    Distinct,
    Filter,
    Join,
    Plan,
    Project,
    Scalar,
    Scan,
    Type,
    Union,
    Unit,
    any_of,
    call,
    literal,
    project,
)
from relift.tables.engine import Engine
from relift.tables.load import StoredTable
from relift.tables.sources.table import TableLike

LIMIT = 2**31 - 1
"""The most rows of any result and the most nonzeros, unless another limit is given."""
PREFIX = "relift_program"
GROUND_PREFIX = "relift_ground_"


@final
@dataclass(frozen=True, eq=False)
class GroundTables:
    """A program in an engine whose unknowns and rows remember what they stand for.

    Parameters
    ----------
    program
        The numbers, as tables.
    atoms, rows
        What each unknown and each row stands for; their tuples are in the engine too.
    model
        The model as it was given.
    n_nonzeros
        Entries of A.
    tables
        Stored tables of the data and of the tuples.
    notes
        What was out of the ordinary: joins of tables with rows that found nothing.
    """

    program: EngineProgram
    atoms: AtomIndex
    rows: AtomIndex
    model: CheckedModel
    n_nonzeros: int
    tables: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def drop(self) -> None:
        """Remove its tables from the engine."""
        self.program.drop()
        drop_surely(self.engine, self.tables)

    @property
    def engine(self) -> Engine:
        """Where the tables are."""
        return self.program.engine


def ground_into_tables(
    model: CheckedModel,
    data: Mapping[str, TableLike] | None = None,
    *,
    engine: Engine,
    folder: str | Path | None = None,
    limit: int | None = None,
    progress: ProgressCallback | None = None,
) -> GroundTables:
    """Ground a model over its data, into tables of an engine.

    Parameters
    ----------
    model
        The checked model.
    data
        Tables and numbers by the names of relations and params.
    engine
        Where to ground; its tables of an earlier run that was cut off are removed first.
    folder
        Where file names of the model begin.
    limit
        The most rows of any result and the most nonzeros; 2^31 - 1 if not given.
    progress
        Called when a table or statement is done.

    Raises
    ------
    DataError
        If tables do not fit the model, or values are missing, doubled or not finite.
    SizeLimitError
        If a statement would become larger than the limit.
    OptionError
        If the model has quadratic constraints, or functions that become cones.
    NonConvexError
        If products of unknowns are not proved convex.
    """
    check_engine(engine)
    data = dict(data or {})
    load_data.check_names(model, data)
    rewritten, checks = without_slack_terms(without_given(model))
    if rewritten.cones:
        statement = rewritten.cones[0].name.partition(".")[0]
        raise OptionError(
            f"{statement!r} has functions that become cones; these are not lifted inside an engine.",
            "Solve without lift_in_engine.",
        )
    for constraint in rewritten.constraints:
        if is_quadratic(constraint):
            raise OptionError(
                f"the constraint {constraint.name!r} is quadratic; these are not lifted inside an engine.",
                "Solve without lift_in_engine.",
            )
    remove_tables_of_grounding(engine)
    prefix = GROUND_PREFIX if engine.is_persistent else ""
    joins = EmptyJoins(observed=given_by(model))
    work = Workspace(engine, rewritten, LIMIT if limit is None else limit, prefix=prefix, joins=joins)
    state = GroundingState(work, checks, {}, None if folder is None else Path(folder))
    steps = Grounding(state, model, data, None, progress)
    filling = _Filling(work, own_prefix(engine, PREFIX))
    try:
        return _ground(steps, filling)
    except BaseException:
        with suppress(EngineError):  # if the engine is gone, so is what it held
            drop_surely(engine, [*map(filling.name, filling.stored), *work.sizes])
        raise


def _ground(steps: Grounding, filling: _Filling) -> GroundTables:
    """The steps, in order."""
    work, rewritten = steps.work, steps.rewritten
    engine = work.engine
    steps.load()
    steps.check_truth_values()
    engine.seal()
    _note_decimals(work)
    for stratum in rewritten.strata:
        steps.derive(stratum)
    steps.number_unknowns()
    atoms = steps.atoms()
    steps.check_data()
    filling.number(atoms)
    blocks: list[Block] = []
    for constraint in rewritten.constraints:
        rows = steps.statement(f"the constraint {constraint.name!r}", filling.constraint, constraint)
        blocks.append(
            Block(
                constraint.name,
                filling.n_rows - rows.size,
                rows.size,
                constraint.variables,
                rows.table,
                constraint.part,
            )
        )
    if rewritten.objective is not None:
        for term in rewritten.objective.expression.terms:
            steps.statement(f"the objective {rewritten.objective.name!r}", filling.objective_term, term)
    sense = "min" if rewritten.objective is None else rewritten.objective.sense
    program = filling.program(rewritten, sense)
    index = AtomIndex(tuple(blocks), engine)
    notes = tuple(note for told in work.joins.notes.values() for note in told)
    return GroundTables(program, atoms, index, steps.model, filling.n_nonzeros, tuple(work.sizes), notes)


def remove_tables_of_grounding(engine: Engine) -> None:
    """Remove what grounding has stored in an engine that keeps its tables; none but tables of relift are touched."""
    for name in engine.tables() if engine.is_persistent else ():
        if name.startswith((GROUND_PREFIX, f"{PREFIX}_")):
            engine.drop(name)


def _note_decimals(work: Workspace) -> None:
    """How many decimals the values of params have, from their distinct values instead of all of them."""
    for table in work.tables.values():
        if table.value and table.value_type == Type.REAL:
            values = Distinct(table.scan([None] * len(table.types), VALUE))
            work.scales[table.name] = exact.decimal_scale(work.engine.fetch(values)[VALUE])


class _Filling:
    """Appends the entries of statements to the tables of a program."""

    def __init__(self, work: Workspace, prefix: str) -> None:
        self.work, self.engine, self.prefix = work, work.engine, prefix
        self.start: dict[str, int] = {}
        self.n_unknowns = 0
        self.n_rows = self.n_nonzeros = 0
        self.r = 0.0
        self.is_convex = True
        self.stored: dict[str, dict[str, Type]] = {}
        self.cost_decimals: list[int | None] = []
        self.P_decimals: list[int | None] = []

    def number(self, atoms: AtomIndex) -> None:
        """Where the numbers of each variable predicate begin."""
        self.start = {block.name: block.start for block in atoms.blocks}
        self.n_unknowns = len(atoms)

    # --- constraints ------------------------------------------------------------------------------------------------

    def constraint(self, constraint: Constraint) -> Rows:
        statement = f"the constraint {constraint.name!r}"
        queries = self.work.queries()
        terms = constraint.body.terms
        queries.wanted = wanted_values([constraint.lower, constraint.upper, *(t.coefficient for t in terms)])
        rows = store_rows(self.work, queries, constraint.variables, constraint.formula, statement)
        linear = [term for term in terms if isinstance(term, LinearTerm)]
        constants = [term for term in terms if isinstance(term, ConstantTerm)]
        before = self.n_nonzeros
        if rows.size:
            self.n_nonzeros += self.entries("entries", "row", queries, rows, linear, statement, self.n_rows)
            self.bounds_of_rows(queries, rows, constraint, constants, statement)
        self.n_rows += rows.size
        self.engine.tell("ground", f"{constraint.name}: {rows.size:,} rows, {self.n_nonzeros - before:,} nonzeros")
        return rows

    def entries(
        self,
        table: str,
        key: str,
        queries: Queries,
        rows: Rows,
        terms: Sequence[LinearTerm],
        statement: str,
        first_row: int,
    ) -> int:
        """Append the coefficients of linear terms over stored rows; how many."""
        of_unknown: dict[str, list[LinearTerm]] = {}
        for term in terms:
            of_unknown.setdefault(term.unknown.name, []).append(term)
        n_stored = 0
        for name, some in of_unknown.items():
            plans, decimals, is_key = [], [], len(some) == 1
            for term in some:
                plan = queries.within(rows.plan, term.scopes)
                plan, number = queries.numbered(plan, term.unknown)
                plain = [a.name for a in term.unknown.arguments if isinstance(a, LogicVariable)]
                is_key = is_key and any(k <= {*rows.plan.columns, *queries.columns(plain)} for k in plan.keys)
                plan, value = self.value(queries, plan, term.coefficient)
                decimals.append(self.decimals(queries, term.coefficient))
                plans.append(Project(plan, {
                    key: _number(Column(ROW), first_row), "column": _number(number, self.start[name]), "value": value,
                }))  # fmt: skip
            plan = plans[0] if len(plans) == 1 else Union(tuple(plans))
            if not is_key:
                self.check_stored(queries, plan, statement, "column")
                plan = _added(plan, (key, "column"), decimals)
            n_stored += self.append(table, plan, queries, statement, "column")
        return n_stored

    def bounds_of_rows(
        self, queries: Queries, rows: Rows, constraint: Constraint, constants: Sequence[ConstantTerm], statement: str
    ) -> None:
        plan, shift, decimals = self.constants(queries, rows, constants)
        sides: dict[str, Scalar] = {}
        for name, bound, missing in (("l", constraint.lower, -np.inf), ("u", constraint.upper, np.inf)):
            if bound is None:
                sides[name] = literal(missing)
                continue
            plan, value = self.value(queries, plan, bound)
            if shift is not None:
                both = [self.decimals(queries, bound), decimals]
                value = _snapped(
                    call("-", value, shift), None if None in both else max(d for d in both if d is not None)
                )
            sides[name] = value
        outputs: dict[str, Scalar] = {"row": _number(Column(ROW), self.n_rows)}
        self.append("rows", Project(plan, outputs | sides), queries, statement)

    def constants(
        self, queries: Queries, rows: Rows, terms: Sequence[ConstantTerm]
    ) -> tuple[Plan, Scalar | None, int | None]:
        """The constants of each row, added up: a plan over the rows, a scalar, and its decimals."""
        plan, total = rows.plan, None
        decimals: int | None = 0
        for position, term in enumerate(terms):
            own = self.decimals(queries, term.coefficient)
            value: Scalar
            if not term.scopes:
                plan, value = self.value(queries, plan, term.coefficient)
            else:
                inner, scalar = self.value(queries, queries.within(rows.plan, term.scopes), term.coefficient)
                column = f"#constant{position}"
                sums = _added(Project(inner, {ROW: Column(ROW), "value": scalar}), (ROW,), [own])
                renamed = Project(sums, {ROW: Column(ROW), column: Column("value")})
                plan = Join(plan, renamed, "left")
                value = call("coalesce", Column(column), literal(0.0))
            decimals = None if own is None or decimals is None else max(own, decimals)
            total = value if total is None else _snapped(call("+", total, value), decimals)
        return plan, total, decimals

    # --- objective --------------------------------------------------------------------------------------------------

    def objective_term(self, term: Term) -> None:
        queries = self.work.queries()
        queries.wanted = wanted_values([term.coefficient])
        statement = "the objective"
        if isinstance(term, ConstantTerm):
            single = Rows(Project(Unit(), {ROW: literal(0)}), 1)
            plan, scalar, _ = self.constants(queries, single, [term])
            assert scalar is not None
            self.work.check(queries)
            self.r += self._finite_sum(queries, Project(plan, {"value": scalar}), statement)
        elif isinstance(term, LinearTerm):
            self.linear_cost(queries, term, statement)
        elif isinstance(term, ProductTerm):
            self.product(queries, term, statement)
        elif isinstance(term, SquareTerm):
            self.square(queries, term, statement)

    def linear_cost(self, queries: Queries, term: LinearTerm, statement: str) -> None:
        plan = queries.within(Unit(), term.scopes)
        plan, number = queries.numbered(plan, term.unknown)
        plan, value = self.value(queries, plan, term.coefficient)
        self.cost_decimals.append(self.decimals(queries, term.coefficient))
        column = _number(number, self.start[term.unknown.name])
        self.append("costs", Project(plan, {"column": column, "value": value}), queries, statement, "column")

    def product(self, queries: Queries, term: ProductTerm, statement: str) -> None:
        self.is_convex = False
        plan = queries.within(Unit(), term.scopes)
        plan, first = queries.numbered(plan, term.first)
        plan, second = queries.numbered(plan, term.second)
        plan, value = self.value(queries, plan, term.coefficient)
        self.P_decimals.append(self.decimals(queries, term.coefficient))
        ends = _number(first, self.start[term.first.name]), _number(second, self.start[term.second.name])
        for one, other in (ends, ends[::-1]):
            outputs = {"first": one, "second": other, "value": value}
            self.append("quadratic", Project(plan, outputs), queries, statement, "first", "second")

    def square(self, queries: Queries, term: SquareTerm, statement: str) -> None:
        inner: Affine = term.inner
        queries.wanted = wanted_values([term.coefficient, *(t.coefficient for t in inner.terms)])
        plan = queries.within(Unit(), term.scopes)
        variables = tuple(v for scope in term.scopes for v in scope.variables)
        if term.scopes:
            rows = store_plan(self.work, queries, variables, plan, statement)
        else:
            rows = Rows(Project(Unit(), {ROW: literal(0)}), 1)
        linear = [t for t in inner.terms if isinstance(t, LinearTerm)]
        constants = [t for t in inner.terms if isinstance(t, ConstantTerm)]
        inside = [self.decimals(queries, t.coefficient) for t in linear]
        if rows.size and linear:
            self.drop("factors")
            self.entries("factors", "factor", queries, rows, linear, statement, 0)
            plan, shift, shift_decimals = self.constants(queries, rows, constants)
            plan, weight = self.value(queries, plan, term.coefficient)
            weight_decimals = self.decimals(queries, term.coefficient)
            self.drop("weights")
            d: Scalar = literal(0.0) if shift is None else shift
            outputs = {"factor": _number(Column(ROW), 0), "weight": weight, "shift": d}
            self.append("weights", Project(plan, outputs), queries, statement)
            self.factors(inside, weight_decimals, shift_decimals, has_shift=shift is not None)
            self.drop("factors", "weights")
        elif rows.size and constants:
            plan, shift, _ = self.constants(queries, rows, constants)
            plan, weight = self.value(queries, plan, term.coefficient)
            assert shift is not None
            self.work.check(queries)
            squared = call("*", weight, call("*", shift, shift))
            self.r += self._finite_sum(queries, Project(plan, {"value": squared}), statement)
        if rows.table is not None:
            self.work.drop(rows.table)

    def factors(self, inside: list[int | None], weight: int | None, shift: int | None, *, has_shift: bool) -> None:
        """Multiply stored factors: P += 2 B'WB, q += 2 B'Wd, r += d'Wd."""
        b = None if None in inside else max((d for d in inside if d is not None), default=0)
        weights, left = self.scan("weights"), self.scan("factors")
        right = Project(left, {"factor": Column("factor"), "second": Column("column"), "other": Column("value")})
        pairs = Join(Join(left, weights), right)
        doubled = call("*", literal(2.0), Column("weight"))
        total = None if b is None or weight is None else 2 * b + weight
        product = _snapped(call("*", call("*", Column("value"), Column("other")), doubled), total)
        self.P_decimals.append(total)
        outputs = {"first": Column("column"), "second": Column("second"), "value": product}
        self.append("quadratic", _added(Project(pairs, outputs), ("first", "second"), [total]))
        if has_shift:
            both = None if b is None or weight is None or shift is None else b + weight + shift
            cost = _snapped(call("*", call("*", Column("value"), Column("shift")), doubled), both)
            self.cost_decimals.append(both)
            costs = Project(Join(left, weights), {"column": Column("column"), "value": cost})
            self.append("costs", _added(costs, ("column",), [both]))
            squared = call("*", Column("weight"), call("*", Column("shift"), Column("shift")))
            found = self.engine.fetch(Aggregate(weights, (), {"value": ("sum", squared)}))["value"]
            self.r += float(found[0])

    # --- columns ----------------------------------------------------------------------------------------------------

    def bounds_of_unknowns(self, variable: Variable) -> None:
        table: StoredTable = self.work.unknowns[variable.name]
        queries = self.work.queries()
        if not table.rows:
            return
        plan: Plan
        if variable.arity == 0:
            plan = Project(Unit(), {ROW: literal(0)})
        elif variable.parameters:
            plan = table.scan(queries.columns(variable.parameters), ROW)
        else:
            plan = table.scan([None] * variable.arity, ROW)
        sides: dict[str, Scalar] = {}
        for name, expressions, start, tighter in (
            ("lb", variable.lower, -np.inf, "greatest"), ("ub", variable.upper, np.inf, "least"),
        ):  # fmt: skip
            values: list[Scalar] = []
            for expression in expressions:
                plan, value = self.value(queries, plan, expression)
                values.append(value)
            if not values:
                sides[name] = literal(start)
            else:
                sides[name] = values[0] if len(values) == 1 else call(tighter, *values)  # type: ignore[arg-type]
        outputs: dict[str, Scalar] = {"column": _number(Column(ROW), self.start[variable.name])}
        self.append("bounds", Project(plan, outputs | sides), queries, f"a bound of {variable.name!r}")

    def program(self, model: CheckedModel, sense: str) -> EngineProgram:
        for variable in model.variables.values():
            self.bounds_of_unknowns(variable)
        self.ensure("bounds", {"column": Type.NUMBER_OF_ROW, "lb": Type.REAL, "ub": Type.REAL})
        self.ensure("rows", {"row": Type.NUMBER_OF_ROW, "l": Type.REAL, "u": Type.REAL})
        entry = {"row": Type.NUMBER_OF_ROW, "column": Type.NUMBER_OF_ROW, "value": Type.REAL}
        self.ensure("entries", entry)
        bounds = self.scan("bounds")
        sign = -1.0 if sense == "max" else 1.0
        joined: Plan = bounds
        cost: Scalar = literal(0.0)
        if "costs" in self.stored:
            added = _added(self.scan("costs"), ("column",), self.cost_decimals)
            joined = Join(bounds, added, "left")
            cost = call("*", literal(sign), call("coalesce", Column("value"), literal(0.0)))
        outputs: dict[str, Scalar] = {"column": Column("column"), "q": cost, "lb": Column("lb"), "ub": Column("ub")}
        self.append("columns", Project(joined, outputs))
        self.drop("costs", "bounds")
        P: Plan | None = None
        if "quadratic" in self.stored:
            added = _added(self.scan("quadratic"), ("first", "second"), self.P_decimals)
            signed = call("*", literal(sign), Column("value"))
            self.append(
                "objective", Project(added, {"first": Column("first"), "second": Column("second"), "value": signed})
            )
            self.drop("quadratic")
            P = self.scan("objective")
            if not self.is_convex:
                check_dominant_diagonal(self.engine, P)
        tables = tuple(self.name(table) for table in self.stored)
        return EngineProgram(
            self.engine, self.n_unknowns, self.n_rows, self.scan("columns"), self.scan("rows"), self.scan("entries"),
            P, sign * self.r, "max" if sense == "max" else "min", tables,
        )  # fmt: skip

    # --- values and tables ------------------------------------------------------------------------------------------

    def value(self, queries: Queries, plan: Plan, expression: DataExpression) -> tuple[Plan, Scalar]:
        plan, scalar = queries.value(plan, expression)
        return plan, _snapped(call("real", scalar), exact_scale(self.work, queries, expression))

    def decimals(self, queries: Queries, expression: DataExpression) -> int | None:
        return decimals_of(self.work, queries, expression)

    def name(self, table: str) -> str:
        return f"{self.prefix}_{table}"

    def scan(self, table: str) -> Scan:
        return Scan(self.name(table), {c: (c, kind) for c, kind in self.stored[table].items()})

    def append(self, table: str, plan: Plan, queries: Queries | None = None, statement: str = "", *numbers: str) -> int:
        """Store a plan, or add it to what is stored under this name; refuse missing numbers and values."""
        if queries is not None:
            self.work.check(queries, statement)
        budget = self.work.forecast(plan, statement or table)
        if table in self.stored:
            rows = self.engine.append(self.name(table), project(plan, *self.stored[table]))
        else:
            rows = self.engine.create(self.name(table), plan, budget=budget)
            self.stored[table] = dict(plan.columns)
        if queries is not None:
            self.work.joins.look(self.work, plan, statement, not rows)
            self.check_stored(queries, self.scan(table), statement, *numbers)
        return rows

    def check_stored(self, queries: Queries, plan: Plan, statement: str, *numbers: str) -> None:
        wrong = [
            call("is null", Column(c)) for c in (*numbers, *(c for c in ("l", "u", "lb", "ub") if c in plan.columns))
        ]
        if "value" in plan.columns:
            wrong.append(call("not", call("is finite", Column("value"))))
        if wrong and self.engine.count(Filter(plan, any_of(wrong)), 1):
            raise self.work.explain_missing(queries, statement)

    def ensure(self, table: str, columns: dict[str, Type]) -> None:
        """Store an empty table if there is none."""
        if table not in self.stored:
            casts: dict[str, Scalar] = {
                c: call("number of row" if kind == Type.NUMBER_OF_ROW else "real", literal(0))
                for c, kind in columns.items()
            }
            self.append(table, Filter(Project(Unit(), casts), literal(False)))

    def drop(self, *tables: str) -> None:
        for table in tables:
            if self.stored.pop(table, None) is not None:
                self.engine.drop(self.name(table))

    def _finite_sum(self, queries: Queries, plan: Plan, statement: str) -> float:
        found = self.engine.fetch(Aggregate(plan, (), {"value": ("sum", Column("value"))}))["value"]
        if not np.isfinite(found[0]):
            if self.engine.count(plan, 1) == 0:
                return 0.0
            raise self.work.explain_missing(queries, statement)
        return float(found[0])


def _number(number: Scalar, start: int) -> Scalar:
    shifted = call("+", number, literal(start)) if start else number
    return call("number of row", shifted)


def _snapped(value: Scalar, decimals: int | None) -> Scalar:
    """A calculated value, rounded once to so many decimals; numbers too large for that to be certain stay."""
    if not decimals or decimals > exact.MOST_DIGITS:
        return value
    factor = literal(10.0**decimals)
    whole = call("round", call("*", value, factor))
    small = call("<", call("abs", call("*", value, factor)), literal(exact.LARGEST / 8))
    return call("if", small, call("/", whole, factor), value)


def _added(entries: Plan, by: tuple[str, ...], decimals: Sequence[int | None]) -> Plan:
    """Values of equal places added up: as whole numbers where all are short decimals."""
    known = [d for d in decimals if d is not None]
    if len(known) < len(decimals) or max(known, default=0) > exact.MOST_DIGITS - 3:
        return Aggregate(entries, by, {"value": ("sum", Column("value"))})
    factor = literal(10.0 ** max(known, default=0))
    whole = call("integer", call("round", call("*", Column("value"), factor)))
    sums = Aggregate(Project(entries, {c: Column(c) for c in by} | {"whole": whole}), by, {
        "whole": ("wide sum", Column("whole")),
    })  # fmt: skip
    value = call("/", call("real", Column("whole")), factor)
    return Project(sums, {c: Column(c) for c in by} | {"value": value})
