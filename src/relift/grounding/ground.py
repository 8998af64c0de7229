"""A checked model and its data to a program: read this file to understand grounding.

::

    facts, files, tables ─ load ─▶ stored tables ─ derive ─▶ derived predicates
                                                                │
              q, P, r ◀─ fill objective ◀─ number unknowns ◀────┤
              A, l, u ◀─ fill constraints ◀─────────────────────┤
        P_k, q_k, r_k ◀─ fill quadratic constraints ◀───────────┤
                b, C, K ◀─ fill cones ◀─────────────────────────┘

Unknowns are numbered predicate by predicate in the order of the text, rows constraint by constraint; inside of each, by
their keys. The same model and data give the same program, whatever the engine and the order of the tables.

Given an earlier grounding, statements that read nothing of what has changed are taken over (``taken_over``): solving a
transport model of 200 x 200 again is 3 to 7 times as fast (``python -m benchmarks.shortcuts``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import ParamSpec, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.errors import NonConvexError, OptionError, SizeLimitError
from relift.grounding import load_data
from relift.grounding.atoms import AtomIndex, Block, LazyNames
from relift.grounding.derive import derive
from relift.grounding.empty_joins import EmptyJoins
from relift.grounding.fill_cones import ConeRows, cut_cones, ground_cones, moved_cones, stacked_cones, widened_cones
from relift.grounding.fill_constraints import ConstraintRows, Rows, ground_constraint
from relift.grounding.fill_objective import ObjectiveParts, ground_objective
from relift.grounding.fill_quadratic import (
    QuadraticConstraintRows,
    below_each_other,
    cut,
    ground_quadratic_constraint,
    is_quadratic,
    moved,
    widened,
)
from relift.grounding.hinge_rows import GroundHinges, ground_hinges
from relift.grounding.number_variables import bounds_of, number_unknowns, occurrences
from relift.grounding.observed import given_by, without_given
from relift.grounding.queries_from_model import Demand, Queries
from relift.grounding.row_blocks import RowBlock, stacked
from relift.grounding.slack_terms import DataCheck, SignCheck, SomeAnswer, without_slack_terms
from relift.grounding.workspace import DEFAULT_LIMIT, Workspace, for_statement
from relift.language.checked_model import CheckedModel, ConeConstraint, Constraint, DataAggregate, Objective, Stratum
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.settings import ProgressCallback
from relift.tables.algebra import Column, Join, Plan, Scalar, Unit, any_of, call, literal
from relift.tables.engine import Arrays, Engine
from relift.tables.load import StoredTable
from relift.tables.sources.table import TableLike

Ps = ParamSpec("Ps")
T = TypeVar("T")

Bounds: TypeAlias = tuple[Vector, Vector]
"""Lower and upper bounds of unknowns."""


@final
@dataclass(frozen=True)
class StatementReport:
    """What became of one statement.

    Parameters
    ----------
    name
        Its name, with ``.lower`` or ``.upper`` for the halves of a range.
    kind
        ``"objective"``, ``"constraint"`` or ``"variable"``.
    rows
        Ground rows; for a variable its unknowns.
    nonzeros
        Stored coefficients; for the objective those of q and P.
    seconds
        How long grounding took; 0 if it was taken over from an earlier grounding.
    is_reused
        Whether it was taken over.
    """

    name: str
    kind: str
    rows: int
    nonzeros: int
    seconds: float
    is_reused: bool = False


@final
@dataclass(frozen=True, eq=False)
class GroundProgram:
    """A program whose unknowns and rows remember what they stand for.

    The tuples stay in the engine until this is closed (or no longer referred to).

    Parameters
    ----------
    program
        The numbers; its names are made when they are looked at.
    atoms
        What each unknown stands for.
    rows
        What each row stands for.
    quadratic
        What each quadratic constraint stands for.
    cones
        What each cone stands for.
    statements
        What became of each statement, in the order of the text.
    model
        The model as it was given.
    hinges
        The terms ``max(0, e)`` and ``abs(e)`` of the objective after presolve; None if it has none.
    """

    program: Program
    atoms: AtomIndex
    rows: AtomIndex
    quadratic: AtomIndex
    cones: AtomIndex
    statements: tuple[StatementReport, ...]
    model: CheckedModel = field(repr=False)
    hinges: GroundHinges | None = field(repr=False)
    _state: GroundingState = field(repr=False)

    @property
    def engine(self) -> Engine:
        """Where the tables are."""
        return self._state.work.engine

    @property
    def notes(self) -> tuple[str, ...]:
        """What was out of the ordinary: joins of tables with rows that found nothing."""
        return tuple(note for notes in self._state.work.joins.notes.values() for note in notes)

    def table(self, name: str) -> Arrays:
        """The tuples of a relation, derived predicate or param as columns ``c0, c1, ...``.

        Raises
        ------
        OptionError
            If there is no such table.
        """
        stored = self._state.work.tables.get(name)
        if stored is None:
            raise OptionError(f"there is no table {name!r}.", f"Expected one of: {', '.join(self._state.work.tables)}.")
        columns = [f"c{k}" for k in range(len(stored.types))]
        return self.engine.fetch(stored.scan(columns, "value" if stored.value else None))

    def close(self) -> None:
        """Give the tables back; names can no longer be made."""
        self.engine.close()

    def __enter__(self) -> GroundProgram:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass
class GroundingState:
    """What is kept for grounding again: the rewritten model, the tables, and what each statement rests on."""

    work: Workspace
    checks: dict[str, tuple[DataCheck, ...]]
    given: dict[str, StoredTable]
    folder: Path | None


def ground(
    model: CheckedModel,
    data: Mapping[str, TableLike] | None = None,
    *,
    previous: GroundProgram | None = None,
    engine: Engine | None = None,
    folder: str | Path | None = None,
    limit: int | None = None,
    progress: ProgressCallback | None = None,
    presolve: bool = True,
) -> GroundProgram:
    """Ground a model over its data.

    Parameters
    ----------
    model
        The checked model.
    data
        Tables and numbers by the names of relations and params; see :mod:`relift.tables.sources.table` for what can be
        given. They take the place of facts and files that the model names. With ``previous``: only what has changed.
        Columns of numbers are read where they are, so they must not change meanwhile; afterwards they may.
    previous
        An earlier result for the same model: statements that read nothing of what has changed are taken over. Both
        share one engine.
    engine
        Where to ground; by default in memory, with an embedded DuckDB for what is too large
        (:mod:`relift.tables.memory.engine`).
    folder
        Where file names of the model begin.
    limit
        The most rows of any result and the most nonzeros; 50 million if not given.
    progress
        Called when a table or statement is done.
    presolve
        Whether hinges of the objective are presolved (:mod:`relift.grounding.hinges`); without it each has a slack.

    Returns
    -------
    GroundProgram
        The program, and what its unknowns and rows stand for.

    Raises
    ------
    DataError
        If tables do not fit the model, or values are missing, doubled or not finite.
    SizeLimitError
        If a statement would become larger than the limit; it is refused before it is built.
    NonConvexError
        If products of unknowns make the objective non-convex.
    """
    data = dict(data or {})
    load_data.check_names(model, data)
    if previous is not None:
        if previous.model is not model and previous.model != model:
            raise OptionError("previous= belongs to another model.", "Ground this one without it.")
        return Grounding(_state_again(previous._state, limit), model, data, previous, progress).run()
    rewritten, checks = without_slack_terms(without_given(model), keep_hinges=presolve)
    if engine is None:
        from relift.tables.memory.engine import MemoryEngine

        engine = MemoryEngine(progress=progress)
    work = Workspace(
        engine, rewritten, DEFAULT_LIMIT if limit is None else limit, joins=EmptyJoins(observed=given_by(model))
    )
    state = GroundingState(work, checks, {}, None if folder is None else Path(folder))
    try:
        return Grounding(state, model, data, None, progress).run()
    except BaseException:
        engine.close()
        raise


def _state_again(state: GroundingState, limit: int | None) -> GroundingState:
    work = replace(
        state.work,
        tables=dict(state.work.tables),
        scalars=dict(state.work.scalars),
        unknowns=dict(state.work.unknowns),
        sizes=dict(state.work.sizes),
        limit=state.work.limit if limit is None else limit,
        joins=EmptyJoins(state.work.joins.notes, state.work.joins.observed),
    )
    return replace(state, work=work, given=dict(state.given))


class Grounding:
    """One run; `dirty` holds the names whose contents differ from those of the previous run."""

    def __init__(
        self,
        state: GroundingState,
        model: CheckedModel,
        data: dict[str, TableLike],
        previous: GroundProgram | None,
        progress: ProgressCallback | None,
    ) -> None:
        self.state, self.work, self.model, self.data = state, state.work, model, data
        self.previous = previous
        self.rewritten = self.work.model
        self.dirty: set[str] = set()
        self.reports: list[StatementReport] = []
        if progress is not None:
            self.work.engine.progress = progress

    def run(self) -> GroundProgram:
        """All steps, in order."""
        self.load()
        self.check_truth_values()
        self.work.engine.seal()
        for stratum in self.rewritten.strata:
            self.derive(stratum)
        self.number_unknowns()
        atoms = self.atoms()
        self.check_data()
        found = [self.constraint(c, atoms) for c in self.rewritten.constraints]
        linear = [f for f in found if isinstance(f, ConstraintRows)]
        curved = [f for f in found if isinstance(f, QuadraticConstraintRows)]
        cones = [self.cones(c, atoms) for c in self.rewritten.cones]
        bounds = self.bounds()
        objective, hinges = self.objective(atoms, bounds)
        rows = self.index([c for c in self.rewritten.constraints if not is_quadratic(c)], linear)
        quadratic = self.index([c for c in self.rewritten.constraints if is_quadratic(c)], curved)
        stacked = self.stacked(quadratic, curved, len(atoms))
        conic = stacked_cones([found.stacked for found in cones], len(atoms))
        if hinges is not None and hinges.groups:
            linear += [group.constraint(atoms) for group in hinges.groups]
            atoms, rows = (_with_hinges(index, hinges) for index in (atoms, rows))
            n_slacks = len(atoms) - bounds[0].size
            bounds = np.append(bounds[0], np.zeros(n_slacks)), np.append(bounds[1], np.full(n_slacks, np.inf))
            stacked = widened(stacked, len(atoms)).known_to_be_right()
            conic = widened_cones(conic, len(atoms))
        program = self.assemble(atoms, rows, linear, objective, bounds, stacked, conic)
        self.work.engine.let_go()
        of_cones = self.index(self.rewritten.cones, cones)
        reports = tuple(self.reports)
        return GroundProgram(program, atoms, rows, quadratic, of_cones, reports, self.model, hinges, self.state)

    # --- tables -----------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read facts, files and tables."""
        for name in load_data.known_names(self.rewritten):
            if self.previous is not None and name not in self.data:
                continue
            derived = any(name in stratum.predicates for stratum in self.rewritten.strata)
            if derived:
                self.work.tables.pop(name, None)
            load_data.load(self.work, name, self.data, self.state.folder)
            self.dirty.add(name)
            if name in self.data:
                self.work.replaced.add(name)
            self.note_if_empty(name)
            if derived:
                self.state.given[name] = self.work.tables[name]
            if name in self.work.tables:
                self.work.engine.tell("ground", f"{name}: {self.work.tables[name].rows:,} tuples read")

    def note_if_empty(self, name: str) -> None:
        """Note a table from outside of the model that has no rows, and no default in their place."""
        notes, what = self.work.joins.notes, f"the table of {name!r}"
        notes.pop(what, None)
        declared = self.rewritten.parameters.get(name) or self.rewritten.relations.get(name)
        is_outside = name in self.data or (declared is not None and declared.source is not None)
        has_default = name in self.rewritten.parameters and self.rewritten.parameters[name].default is not None
        table = self.work.tables.get(name)
        if is_outside and not has_default and table is not None and not table.rows:
            notes[what] = (f"{what} is empty.",)

    def check_truth_values(self) -> None:
        """Refuse truth values of rules that do not lie between 0 and 1."""
        for name in sorted(self.rewritten.unit_params & self.dirty):
            queries = self.work.queries()
            span = self.rewritten.parameters[name].span
            what = f"{name}{{}} is a truth value of a rule, and does not lie between 0 and 1."
            plan: Plan
            value: Scalar
            if name in self.work.tables:
                table = self.work.tables[name]
                columns = [f"c{k}" for k in range(len(table.types))]
                plan, value = table.scan(columns, "#value"), Column("#value")
                shown = tuple(map(Column, columns))
            elif name in self.work.scalars:
                plan, value, shown = Unit(), literal(self.work.scalars[name]), ()
            else:
                continue
            wrong = any_of([call("<", value, literal(0)), call(">", value, literal(1))])
            queries.before.append(Demand(plan, wrong, what, shown, "Scale its values.", span, name))
            self.work.check(queries)

    def derive(self, stratum: Stratum) -> None:
        """Derive the predicates of a stratum."""
        names = stratum.predicates
        reads = set(names).union(*(rule.reads for rule in stratum.rules))
        if self.previous is not None and not reads & self.dirty:
            return
        old = {name: self.work.tables.get(name) for name in names}
        for name in names:
            self.work.tables.pop(name, None)
            if name in self.state.given:
                self.work.tables[name] = self.state.given[name]
        self.statement(f"the rules of {', '.join(map(repr, names))}", derive, self.work, stratum)
        for name in names:
            new, before = self.work.tables[name], old[name]
            if self.previous is None or before is None or not self.same(before, new):
                self.dirty.add(name)
            else:
                self.work.drop(new)
                self.work.tables[name] = before
                self.dirty.discard(name)

    def same(self, one: StoredTable, other: StoredTable) -> bool:
        """Whether two stored tables hold the same tuples."""
        if one.rows != other.rows or one.types != other.types:
            return False
        if not one.name:  # a variable without arguments, which is stored nowhere
            return True
        columns = [f"c{k}" for k in range(len(one.types))]
        return self.work.engine.count(Join(one.scan(columns), other.scan(columns), "anti"), 1) == 0

    # --- unknowns ---------------------------------------------------------------------------------------------------

    def number_unknowns(self) -> None:
        """Number the unknowns of all variable predicates."""
        for name, variable in self.rewritten.variables.items():
            start = perf_counter()
            places = [] if variable.domain is not None else occurrences(self.rewritten, name)
            reads = set(variable.reads)
            if variable.domain is None and variable.arity:
                reads = reads.union(*(self._reads_of(place.statement) for place in places))
            is_reused = self.previous is not None and not reads & self.dirty
            if not is_reused:
                what = f"the variable {name!r}"
                new = self.statement(what, number_unknowns, self.work, variable, places)
                before = self.work.unknowns.get(name)
                if before is not None and self.same(before, new):
                    if new.name:
                        self.work.drop(new)
                else:
                    self.work.unknowns[name] = new
                    self.dirty.add(name)
            rows = self.work.unknowns[name].rows
            seconds = 0.0 if is_reused else perf_counter() - start
            self.reports.append(StatementReport(name, "variable", rows, 0, seconds, is_reused))

    def _reads_of(self, statement: str) -> frozenset[str]:
        statements: list[Constraint | ConeConstraint] = [*self.rewritten.constraints, *self.rewritten.cones]
        names = [c.reads for c in statements if c.name == statement]
        if self.rewritten.objective is not None and self.rewritten.objective.name == statement:
            names.append(self.rewritten.objective.reads)
        return frozenset().union(*names)

    def atoms(self) -> AtomIndex:
        """What each number of an unknown stands for."""
        blocks, start = [], 0
        for name, variable in self.rewritten.variables.items():
            table = self.work.unknowns[name]
            keys = variable.parameters or tuple(f"argument {k}" for k in range(1, variable.arity + 1))
            blocks.append(Block(name, start, table.rows, keys, table if variable.arity else None))
            start += table.rows
        return AtomIndex(tuple(blocks), self.work.engine)

    # --- statements -------------------------------------------------------------------------------------------------

    def statement(self, what: str, step: Callable[Ps, T], *arguments: Ps.args, **words: Ps.kwargs) -> T:
        """Run a step of a statement; errors name it."""
        self.work.engine.tell("ground", what)
        self.work.joins.forget(what)
        try:
            return step(*arguments, **words)
        except SizeLimitError as error:
            raise for_statement(error, what) from error

    def constraint(self, constraint: Constraint, atoms: AtomIndex) -> ConstraintRows | QuadraticConstraintRows:
        """The rows of a constraint."""
        start = perf_counter()
        is_reused = self.previous is not None and not constraint.reads & self.dirty
        found: ConstraintRows | QuadraticConstraintRows
        if is_reused:
            found = (
                self.taken_over_curved(constraint, atoms) if is_quadratic(constraint) else self.taken_over(constraint)
            )
        else:
            what = f"the constraint {constraint.name!r}"
            if is_quadratic(constraint):
                found = self.statement(what, ground_quadratic_constraint, self.work, constraint)
            else:
                found = self.statement(what, ground_constraint, self.work, constraint)
        label = f"{constraint.name}.{constraint.part}" if constraint.part else constraint.name
        seconds = 0.0 if is_reused else perf_counter() - start
        self.reports.append(StatementReport(label, "constraint", found.rows.size, found.n_nonzeros, seconds, is_reused))
        total = sum(report.nonzeros for report in self.reports)
        if total > self.work.limit:
            raise SizeLimitError(
                f"the constraint {label!r} brings the program to {total:,} nonzeros; the limit is {self.work.limit:,}.",
                "Narrow its query, or raise the limit.",
                f"the constraint {label!r}",
                total,
                self.work.limit,
            )
        return found

    def taken_over(self, constraint: Constraint) -> ConstraintRows:
        """The rows of a constraint, cut out of the previous program."""
        assert self.previous is not None
        program, old = self.previous.program, self.previous
        block = old.rows.block(constraint.name, constraint.part)
        rows = program.A.tocsr()[block.start : block.stop]
        blocks = {}
        for atoms in old.atoms.blocks:
            if atoms.name in constraint.reads:
                part = rows[:, atoms.start : atoms.stop]
                if part.nnz:
                    blocks[atoms.name] = RowBlock.of(part)
        lower, upper = program.l[block.start : block.stop], program.u[block.start : block.stop]
        return ConstraintRows(Rows(Unit(), block.size, constraint.variables, block.table), blocks, lower, upper)

    def taken_over_curved(self, constraint: Constraint, atoms: AtomIndex) -> QuadraticConstraintRows:
        """The rows of a quadratic constraint, cut out of the previous program; its unknowns may have moved."""
        assert self.previous is not None
        old = self.previous
        block = old.quadratic.block(constraint.name, constraint.part)
        position = self.positions(constraint.reads, atoms)
        kept = moved(cut(old.program.quadratic, block.start, block.stop), position, len(atoms))
        return QuadraticConstraintRows(Rows(Unit(), block.size, constraint.variables, block.table), kept)

    def cones(self, constraint: ConeConstraint, atoms: AtomIndex) -> ConeRows:
        """The cones of a helper."""
        start = perf_counter()
        is_reused = self.previous is not None and not constraint.reads & self.dirty
        if is_reused:
            found = self.taken_over_cones(constraint, atoms)
        else:
            found = self.statement(f"the cones of {constraint.name!r}", ground_cones, self.work, constraint)
        seconds = 0.0 if is_reused else perf_counter() - start
        self.reports.append(
            StatementReport(constraint.name, "cone", found.rows.size, found.n_nonzeros, seconds, is_reused)
        )
        return found

    def taken_over_cones(self, constraint: ConeConstraint, atoms: AtomIndex) -> ConeRows:
        """The cones of a helper, cut out of the previous program; its unknowns may have moved."""
        assert self.previous is not None
        old = self.previous
        block = old.cones.block(constraint.name)
        position = self.positions(constraint.reads, atoms)
        kept = moved_cones(cut_cones(old.program.conic, block.start, block.stop), position, len(atoms))
        return ConeRows(Rows(Unit(), block.size, constraint.variables, block.table), kept)

    def positions(self, reads: frozenset[str], atoms: AtomIndex) -> NDArray[np.int64]:
        """The new number of each old unknown that a statement uses."""
        assert self.previous is not None
        position = np.full(len(self.previous.atoms), -1)
        for before in self.previous.atoms.blocks:
            if before.name in reads:
                position[before.start : before.stop] = np.arange(before.size) + atoms.block(before.name).start
        return position

    def check_data(self) -> None:
        """Refuse coefficients whose sign makes a statement non-convex, and functions of nothing."""
        statements: list[Constraint | Objective] = [*self.model.constraints]
        if self.model.objective is not None:
            statements.append(self.model.objective)
        for name in dict.fromkeys(s.name for s in statements if self.previous is None or s.reads & self.dirty):
            for check in self.state.checks.get(name, ()):
                queries = self.work.queries()
                if isinstance(check, SignCheck):
                    queries.before.append(_sign_demand(queries, check))
                else:
                    queries.before.append(_answer_demand(queries, check))
                queries.lookups.clear()  # the statement itself looks up the same
                self.work.check(queries)

    def objective(self, atoms: AtomIndex, bounds: Bounds) -> tuple[ObjectiveParts | None, GroundHinges | None]:
        """The entries of the objective (None if those of the previous run still hold), and its hinges."""
        objective = self.rewritten.objective
        if objective is None:
            return ObjectiveParts(), None
        start = perf_counter()
        if self.previous is not None and not objective.reads & self.dirty and self.keeps_hinges(objective, atoms):
            if (hinges := self.previous.hinges) is not None:
                self.report_hinges(hinges, is_reused=True)
            return None, hinges
        what = f"the objective {objective.name!r}"
        parts: ObjectiveParts = self.statement(what, ground_objective, self.work, objective)
        hinges = None
        if parts.hinges:
            sense = objective.sense
            hinges = self.statement(what, ground_hinges, objective.name, parts, atoms, *bounds, sense)
            self.work.engine.tell("ground", f"{objective.name}: {hinges}")
            self.report_hinges(hinges)
        count = sum(v.size for found in parts.linear.values() for _, v in found)
        count += sum(v.size for found in parts.quadratic.values() for *_, v in found)
        report = StatementReport(objective.name, "objective", 0, count, perf_counter() - start)
        self.reports.append(report)
        return parts, hinges

    def keeps_hinges(self, objective: Objective, atoms: AtomIndex) -> bool:
        """Whether hinges that were presolved still hold: no bound has changed, and no unknown has come or gone."""
        assert self.previous is not None
        if self.previous.hinges is None:
            return True
        used = [v for name, v in self.rewritten.variables.items() if name in objective.reads]
        slacks = len(self.previous.hinges.groups)
        before = self.previous.atoms.blocks
        before = before[: len(before) - slacks]
        same = [(b.name, b.size) for b in before] == [(b.name, b.size) for b in atoms.blocks]
        return same and not any(v.reads & self.dirty for v in used)

    def report_hinges(self, hinges: GroundHinges, is_reused: bool = False) -> None:
        """Report slacks and rows of hinges."""
        for kind in ("variable", "constraint"):
            for group in hinges.groups:
                nonzeros = 0 if kind == "variable" else group.hinges.B.nnz + group.size
                self.reports.append(StatementReport(group.name, kind, group.size, nonzeros, 0.0, is_reused))

    # --- the program ------------------------------------------------------------------------------------------------

    def index(
        self,
        constraints: Sequence[Constraint | ConeConstraint],
        grounded: Sequence[ConstraintRows | QuadraticConstraintRows | ConeRows],
    ) -> AtomIndex:
        """What each number of a row stands for."""
        blocks, start = [], 0
        for constraint, found in zip(constraints, grounded, strict=True):
            size, part = found.rows.size, constraint.part if isinstance(constraint, Constraint) else ""
            blocks.append(Block(constraint.name, start, size, constraint.variables, found.rows.table, part))
            start += size
        return AtomIndex(tuple(blocks), self.work.engine)

    def stacked(self, index: AtomIndex, curved: list[QuadraticConstraintRows], n_unknowns: int) -> QuadraticRows:
        """All quadratic constraints; those whose text does not show that they are convex are checked one by one."""
        for block, found in zip(index.blocks, curved, strict=True):
            try:
                found.stacked.check(assume_convex=found.is_convex)
            except NonConvexError as error:
                row = index.name(block.start + int(error.argument[len("quadratic[") : -1]))
                raise NonConvexError(
                    f"the constraint {row} is not convex: its products of unknowns have negative curvature.", error.hint
                ) from error
        return below_each_other([found.stacked for found in curved], n_unknowns).known_to_be_right()

    def assemble(
        self,
        atoms: AtomIndex,
        rows: AtomIndex,
        constraints: list[ConstraintRows],
        objective: ObjectiveParts | None,
        bounds: Bounds,
        quadratic: QuadraticRows,
        conic: ConicRows,
    ) -> Program:
        """Make the program from its parts."""
        n = len(atoms)
        lower, upper = bounds
        A = _stacked(atoms, constraints) if constraints else None
        l = np.concatenate([c.lower for c in constraints]) if constraints else None
        u = np.concatenate([c.upper for c in constraints]) if constraints else None
        P, q, r, is_convex = self.objective_arrays(atoms, objective)
        sense = self.rewritten.objective.sense if self.rewritten.objective is not None else "min"
        try:
            return Program(
                P,
                q if n else np.zeros(0),
                A,
                l,
                u,
                lower,
                upper,
                r,
                sense=sense,
                variable_names=LazyNames(atoms),
                row_names=LazyNames(rows),
                quadratic=quadratic,
                conic=conic,
                assume_convex=is_convex,
            )
        except NonConvexError as error:
            name = self.rewritten.objective.name if self.rewritten.objective is not None else ""
            raise NonConvexError(f"the objective {name!r} is not convex: {error.message}", error.hint) from error

    def bounds(self) -> Bounds:
        """Lower and upper bounds of all unknowns."""
        sides: tuple[list[Vector], list[Vector]] = ([np.empty(0)], [np.empty(0)])
        for name, variable in self.rewritten.variables.items():
            if self.previous is not None and not (variable.reads | {name}) & self.dirty:
                block = self.previous.atoms.block(name)
                found = tuple(
                    side[block.start : block.stop] for side in (self.previous.program.lb, self.previous.program.ub)
                )
            else:
                found = bounds_of(self.work, variable, self.work.unknowns)
            for side, values in zip(sides, found, strict=True):
                side.append(values)
        return np.concatenate(sides[0]), np.concatenate(sides[1])

    def objective_arrays(
        self, atoms: AtomIndex, parts: ObjectiveParts | None
    ) -> tuple[SparseMatrix | None, Vector, float, bool]:
        """P, q, r, and whether P is known to be convex."""
        if parts is None:
            assert self.previous is not None
            assert self.rewritten.objective is not None
            old = self.previous
            report = next(s for s in old.statements if s.kind == "objective")
            self.reports.append(replace(report, seconds=0.0, is_reused=True))
            if [b.size for b in old.atoms.blocks] == [b.size for b in atoms.blocks]:
                return old.program.P, old.program.q, old.program.r, True
            return _rearranged(old, atoms)
        blocks = atoms.blocks
        q = np.concatenate([np.empty(0), *(parts.vector(b.name, b.size) for b in blocks)])
        if not parts.quadratic:
            return None, q, parts.constant, True
        grid = [
            [
                (b.start, parts.block(a.name, b.name, (a.size, b.size)))
                for b in blocks
                if (a.name, b.name) in parts.quadratic
            ]
            for a in blocks
        ]
        P = stacked(grid, [block.size for block in blocks], len(atoms)).tocsc()
        P.has_sorted_indices = P.has_canonical_format = True
        return P, q, parts.constant, parts.is_convex


def _with_hinges(index: AtomIndex, hinges: GroundHinges) -> AtomIndex:
    """Unknowns or rows, and those of hinges behind them."""
    blocks, start = [*index.blocks], len(index)
    for group in hinges.groups:
        blocks.append(group.block(start))
        start += group.size
    return AtomIndex(tuple(blocks), index.engine)


def _sign_demand(queries: Queries, check: SignCheck) -> Demand:
    """What refuses a number of the wrong sign."""
    plan = queries.within(queries.answers(check.variables, check.formula), check.scopes)
    plan, scalar = queries.value(plan, check.coefficient)
    wrong, word = ("<", "negative") if check.needs == "nonnegative" else (">", "positive")
    shown = tuple(Column(c) for c in plan.columns if not c.startswith("#"))
    return Demand(
        plan,
        call(wrong, scalar, literal(0)),  # type: ignore[arg-type]
        f"{check.statement}: {check.what} is {word} at {{}}, which makes it non-convex.",
        shown,
        "Change its sign, or restrict the query.",
        check.span,
    )


def _answer_demand(queries: Queries, check: SomeAnswer) -> Demand:
    """What refuses a query without an answer."""
    index = check.index
    count = DataAggregate("count", index.variables, index.formula, None, index.outer, index.existential, check.span)
    plan, scalar = queries.value(queries.answers(check.variables, check.formula), count)
    shown = tuple(Column(c) for c in plan.columns if not c.startswith("#"))
    return Demand(
        plan,
        call("<", scalar, literal(1)),
        f"{check.statement}: {check.function}{{{{...}}}} of nothing at {{}}.",
        shown,
        "Restrict the query to where there is something.",
        check.span,
    )


def _rearranged(old: GroundProgram, atoms: AtomIndex) -> tuple[SparseMatrix | None, Vector, float, bool]:
    """The objective of the previous program when unknowns that it does not read have come or gone."""
    program, sizes = old.program, {b.name: b for b in old.atoms.blocks}
    where = np.concatenate(
        [
            np.empty(0, np.int64),
            *(
                np.arange(b.size) + sizes[b.name].start
                if b.name in sizes and sizes[b.name].size == b.size
                else np.full(b.size, -1)
                for b in atoms.blocks
            ),
        ]
    ).astype(np.int64)
    kept = np.flatnonzero(where >= 0)
    q = np.zeros(len(atoms))
    q[kept] = program.q[where[kept]]
    if program.P is None:
        return None, q, program.r, True
    take = sparse.csr_array((np.ones(kept.size), (kept, where[kept])), shape=(len(atoms), program.n_variables))
    P = (take @ program.P @ take.T).tocsc()
    P.sort_indices()
    return P, q, program.r, True


def _stacked(atoms: AtomIndex, constraints: list[ConstraintRows]) -> SparseMatrix:
    """All blocks as one CSR array. Predicates lie one beside the other, so sorted blocks give sorted rows."""
    statements = [
        [(block.start, found.blocks[block.name]) for block in atoms.blocks if block.name in found.blocks]
        for found in constraints
    ]
    return stacked(statements, [found.rows.size for found in constraints], len(atoms))
