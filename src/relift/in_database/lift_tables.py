"""Lift a program that lives in an engine, solve its quotient here, and certify the answer there: read this file first.

::

    tables ─ exact weights ─ rounds ─ check ─ quotient ─▶ small Program ─ relift.solve ─┐
    result tables + certificate ◀─ certify in the engine ◀─ expand in the engine ◀──────┘

The classes are those of :func:`relift.lift` with ``reduce=False``: nothing is substituted beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import TracebackType
from typing import ParamSpec, TypeVar, Unpack, final, get_args

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells
from relift.errors import EngineError, OptionError
from relift.in_database.certify_tables import ExpandedTables, certify_tables, expand_tables
from relift.in_database.exact_weights import ExactWeights, Method, exact_weights
from relift.in_database.program_tables import EngineProgram, program_from_tables
from relift.in_database.quotient_tables import quotient_from_tables
from relift.in_database.rounds import Classes, Refiner, RoundReport, Side
from relift.in_database.state import State, fingerprint
from relift.in_database.temporary_tables import TemporaryTables, own_prefix
from relift.in_database.verify import LabelledClasses, Verify, check_verify, has_wrong_class, labelled
from relift.lifting.certificate import Certificate
from relift.pipeline import SmallSolveOptions, solve
from relift.program.program import Program, Sense
from relift.program.solution import Solution, Status
from relift.result import Result
from relift.settings import Progress, ProgressCallback, Reading, check_choice
from relift.symmetry.partition import Partition
from relift.tables.algebra import Aggregate, Column, Distinct, Plan, Project, Scan, call, literal, nodes, project
from relift.tables.engine import Engine
from relift.tables.sources.table import TableLike

Ps = ParamSpec("Ps")
T = TypeVar("T")

PREFIX = "relift_lift"
MOST_SEEDS = 20
"""So many times hashes are drawn anew before the lifting gives up; with 2 x 38 bits once is enough."""
HARDER = (1.0, 1e-2, 1e-4)
"""If the answer fails its check on the original program, the small one is solved to these parts of the tolerance."""


@final
@dataclass(frozen=True)
class EngineLiftSettings:
    """How a program is lifted inside an engine.

    Parameters
    ----------
    lift
        ``"equitable"`` (sums, the coarsest) or ``"counting"`` (multisets).
    values
        How floats are read: ``"decimal"``, so that .1 + .2 = .3, or ``"bits"``.
    scale_rows
        Compare rows up to a factor.
    verify
        ``"exact"``: all sums into all classes are compared; ``"hash"``: a further round with new hashes must not split
        anything, at the price of one round, and wrong with a chance of less than 1 in 2^70.
    seed
        Seed of the hashes; the classes do not depend on it.
    resume
        Keep the state of the lifting in the engine if it is cut off, and go on from there if it was.
    word_bits
        Bits of the hashes of classes; for tests that provoke collisions.
    """

    lift: Method = "equitable"
    values: Reading = "decimal"
    scale_rows: bool = True
    verify: Verify = "exact"
    seed: int = 0
    resume: bool = False
    word_bits: int | None = None

    def __post_init__(self) -> None:
        check_choice("lift", self.lift, get_args(Method))
        check_choice("values", self.values, get_args(Reading))
        check_verify(self.verify)


@final
@dataclass(frozen=True, eq=False)
class EngineResult:
    """The answer, certified on the original program inside the engine.

    Parameters
    ----------
    lifting
        The classes and the small program.
    small
        The answer for the small program.
    status
        ``optimal`` only with a certificate on the original program that passes.
    certificate
        Residuals on the original program, computed by the engine.
    expanded
        Plans of the answer on the original program: ``column``, ``x``, ``w`` and ``row``, ``y``.
    timings
        Seconds of each stage.
    """

    lifting: EngineLifting
    small: Result
    status: Status
    certificate: Certificate
    expanded: ExpandedTables
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def objective(self) -> float:
        """The objective at x in the sense of the program, as the engine added it up; infinite without a point."""
        if not np.isnan(self.certificate.objective):
            return self.certificate.objective
        return self.small.objective if self.lifting.program.sense == "min" else -self.small.objective

    def fetch_x(self) -> NDArray[np.float64]:
        """The whole point, here: as many numbers as the original program has variables."""
        return _vector(self.lifting.program.engine, self.expanded.columns, "column", "x")

    def fetch_y(self) -> NDArray[np.float64]:
        """The dual values of all rows, here."""
        return _vector(self.lifting.program.engine, self.expanded.rows, "row", "y")

    def fetch_w(self) -> NDArray[np.float64]:
        """The dual values of the bounds of all variables, here."""
        return _vector(self.lifting.program.engine, self.expanded.columns, "column", "w")


@final
@dataclass(frozen=True, eq=False)
class EngineLifting:
    """A program in an engine, its classes there, and its quotient here.

    Parameters
    ----------
    program
        The original program.
    rows, columns
        Its classes, as tables.
    small
        The quotient, a minimisation.
    settings
        How it was lifted.
    rounds
        Rounds of refinement, checks by hash included; those of a resumed run count from where it began again.
    n_parts
        1 if entries were added up as whole numbers, 3 if as residues.
    seeds
        How many times hashes were drawn.
    timings
        Seconds of each stage.
    """

    program: EngineProgram
    rows: LabelledClasses
    columns: LabelledClasses
    small: Program
    settings: EngineLiftSettings
    rounds: int
    n_parts: int
    seeds: int
    timings: dict[str, float]
    row_factors: Plan | None = field(repr=False)
    temporary: TemporaryTables = field(repr=False)
    state: State | None = field(default=None, repr=False)

    @property
    def variable_partition(self) -> Partition:
        """The classes of the variables, here: as many numbers as there are variables."""
        return Partition(_vector(self.program.engine, self.columns.labels, "id", "label"))

    @property
    def row_partition(self) -> Partition:
        """The classes of the rows, here."""
        return Partition(_vector(self.program.engine, self.rows.labels, "id", "label"))

    def solve(
        self, *, tolerance: float = 1e-6, progress: ProgressCallback | None = None, **options: Unpack[SmallSolveOptions]
    ) -> EngineResult:
        """Solve the small program, expand the answer in the engine and certify it there.

        Parameters
        ----------
        tolerance
            The largest relative residual on the original program that may be called optimal.
        progress
            Progress callback, called when a stage begins.
        options
            Options of :func:`relift.solve` for the small program: ``backend=``, ``time_limit=``, ...
        """
        seconds = {"solve": 0.0, "expand": 0.0, "certify": 0.0}
        engine_progress = progress or self.program.engine.progress
        for part in HARDER:
            start = perf_counter()
            _tell(engine_progress, "solve", f"{self.small.n_variables:,} variables, {self.small.n_rows:,} rows")
            small = solve(self.small, tolerance=tolerance * part, progress=progress, **options)
            solved = perf_counter()
            _tell(engine_progress, "expand", "in the engine")
            expanded = self.expand(small.solution)
            stored = perf_counter()
            _tell(engine_progress, "certify", "on the original program, in the engine")
            certificate = certify_tables(self.program, self.temporary, small.solution, expanded, tolerance)
            ended = perf_counter()
            seconds["solve"] += solved - start
            seconds["expand"] += stored - solved
            seconds["certify"] += ended - stored
            status = _status(small.status, certificate)
            if status == small.status or small.status not in _CLAIMS:
                break
        return EngineResult(self, small, status, certificate, expanded, self.timings | seconds)

    def expand(self, solution: Solution) -> ExpandedTables:
        """Store an answer of the small program as one of the original program."""
        x, y, w = solution.x, solution.y, solution.w
        if solution.status == Status.INFEASIBLE:
            x, y, w = None, solution.ray_y, solution.ray_w
        elif solution.status == Status.UNBOUNDED:
            x, y, w = solution.ray_x, None, None
        return expand_tables(self.temporary, self.row_factors, self.rows, self.columns, x, y, w)

    def close(self) -> None:
        """Drop the tables of the lifting, results included; those of the program stay."""
        self.temporary.close()
        if self.state is not None:
            self.state.drop()

    def __enter__(self) -> EngineLifting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_CLAIMS = {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}


def _status(claimed: Status, certificate: Certificate) -> Status:
    if claimed == Status.OPTIMAL:
        if certificate.is_optimal:
            return claimed
        return Status.OPTIMAL_INACCURATE if certificate.is_feasible else Status.FAILURE
    if claimed in {Status.INFEASIBLE, Status.UNBOUNDED}:
        return claimed if certificate.is_proved else Status.FAILURE
    return claimed


def lift_tables(
    engine: Engine,
    *,
    columns: TableLike,
    rows: TableLike | None = None,
    entries: TableLike | None = None,
    quadratic: TableLike | None = None,
    r: float = 0.0,
    sense: Sense = "min",
    is_convex: bool = False,
    settings: EngineLiftSettings | None = None,
    progress: ProgressCallback | None = None,
) -> EngineLifting:
    """Lift a program that is given as coordinate tables, inside an engine.

    Parameters
    ----------
    engine
        Where to work.
    columns, rows, entries, quadratic, r, sense, is_convex
        The program; see :func:`~relift.in_database.program_tables.program_from_tables`.
    settings
        How to lift.
    progress
        Progress callback, called once per round of refinement.

    Examples
    --------
    >>> from relift.tables.duckdb.engine import DuckDBEngine
    >>> with DuckDBEngine() as engine:
    ...     lifting = lift_tables(
    ...         engine, columns=[(j, 1.0, 0.0, 9.0) for j in range(3)], rows=[(i, 1.0, 9.0) for i in range(3)],
    ...         entries=[(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 2, 1.0)],
    ...     )
    ...     result = lifting.solve()
    ...     lifting.small, str(result.status), round(result.objective, 9), result.fetch_x().round(9).tolist()
    (Program(LP, min, 1 variables, 1 rows, 1 nonzeros), 'optimal', 1.5, [0.5, 0.5, 0.5])
    """
    program = program_from_tables(
        engine, columns=columns, rows=rows, entries=entries, quadratic=quadratic, r=r, sense=sense, is_convex=is_convex
    )
    try:
        return lift_in_engine(program, settings, progress)
    except BaseException:
        with suppress(EngineError):  # if the engine is gone, so is what it held
            program.drop()
        raise


def lift_in_engine(
    program: EngineProgram, settings: EngineLiftSettings | None = None, progress: ProgressCallback | None = None
) -> EngineLifting:
    """Lift a program where it is.

    Parameters
    ----------
    program
        The original program.
    settings
        How to lift.
    progress
        Progress callback, called once per round of refinement.

    Raises
    ------
    EngineError
        If a resumed lifting belongs to another program, or no classes pass their check.
    OptionError
        If ``resume`` is asked of an engine that forgets its tables.
    """
    settings = settings or EngineLiftSettings()
    if settings.resume and not program.engine.is_persistent:
        raise OptionError(
            "resume needs an engine that keeps its tables.",
            "Name a place with database= (--database): a file of DuckDB, or a schema of PostgreSQL.",
        )
    return _Run(program, settings, progress or program.engine.progress).lift()


class _Run:
    """One lifting: classes, check, quotient."""

    def __init__(self, program: EngineProgram, settings: EngineLiftSettings, progress: ProgressCallback | None) -> None:
        self.program, self.settings, self.progress = program, settings, progress
        self.temporary = TemporaryTables(program.engine, own_prefix(program.engine, PREFIX))
        self.state = State(program.engine, PREFIX) if program.engine.is_persistent else None
        self.seconds: dict[str, float] = {}
        self.rounds = 0
        self.classes: dict[Side, Classes] = {}

    def lift(self) -> EngineLifting:
        try:
            return self._lift()
        except BaseException as error:
            is_kept = self.settings.resume and self.state is not None and not isinstance(error, OptionError)
            if not is_kept:
                self._clean()
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(_interrupted(self.rounds, is_kept)) from error
            raise

    def _clean(self) -> None:
        with suppress(EngineError):  # if the engine is gone, so is what it held
            self.temporary.close()
            if self.state is not None:
                self.state.drop()

    def _lift(self) -> EngineLifting:
        kept: dict[Side, Scan] = {}
        if self.state is not None:
            if self.settings.resume:
                kept = self.state.set_aside()
            else:
                self.state.drop()
        weights = self._timed("weights", self._weights)
        if self.state is not None and self.settings.resume:
            self._timed("fingerprint", self._check_state, weights, kept)
        self._timed("find classes", self._start, weights, kept)
        _tell(self.progress, "find classes", "weights are ready")
        rows, columns, seeds = self._classes(weights)
        small = self._timed("quotient", quotient_from_tables, self.program, rows, columns)
        factors = project(weights.row_kinds, "id", "factor") if weights.is_scaled else None
        return EngineLifting(
            self.program, rows, columns, small, self.settings, self.rounds, weights.n_parts, seeds, self.seconds,
            factors, self.temporary, self.state,
        )  # fmt: skip

    def _weights(self) -> ExactWeights:
        s = self.settings
        _tell(self.progress, "find classes", "exact weights")
        weights = exact_weights(
            self.program, self.temporary, method=s.lift, reading=s.values, scale_rows=s.scale_rows, seed=s.seed
        )
        for table in (scan for scan in nodes(weights.entries) if isinstance(scan, Scan) and "row" in scan.source):
            self.program.engine.cluster(table.table, (table.source["row"][0],))
        return weights

    def _check_state(self, weights: ExactWeights, kept: dict[Side, Scan]) -> None:
        assert self.state is not None
        word = fingerprint(self.program, self.temporary, weights, self._digest(weights))
        if kept:
            self.state.check(word)
            self.state.fingerprint = word
            _tell(self.progress, "find classes", f"resumed after round {self.state.first_round}")
        else:
            self.state.begin(word)

    def _digest(self, weights: ExactWeights) -> bytes:
        s = self.settings
        return weights.digest + repr((s.lift, s.values, s.scale_rows)).encode()

    def _start(self, weights: ExactWeights, kept: dict[Side, Scan]) -> None:
        kinds = {"columns": weights.column_kinds, "rows": weights.row_kinds}
        sizes = {"columns": self.program.n_variables, "rows": self.program.n_rows}
        counts = {"columns": weights.n_column_kinds, "rows": weights.n_row_kinds}
        offset = 0
        self.next_class = weights.n_column_kinds + weights.n_row_kinds
        sides: tuple[Side, Side] = ("columns", "rows")
        for side in sides:
            if kept:
                start, count, largest = self._resumed(kept[side])
                self.next_class = max(self.next_class, largest + 1)
            else:
                start, count = _shifted(kinds[side], offset), counts[side]
            offset += counts[side]
            self.classes[side] = Classes(self.temporary, side, start, sizes[side], count)
        if self.state is not None and kept:
            for plan in kept.values():
                self.program.engine.drop(plan.table)

    def _resumed(self, kept: Plan) -> tuple[Plan, int, int]:
        engine = self.program.engine
        count = engine.count(Distinct(project(kept, "class")), 1 << 62)
        largest = engine.fetch(Aggregate(kept, (), {"largest": ("max", Column("class"))}))["largest"]
        return kept, count, int(largest[0]) if count else -1

    def _classes(self, weights: ExactWeights) -> tuple[LabelledClasses, LabelledClasses, int]:
        """Refine and check, with other hashes until the check passes."""
        s = self.settings
        for attempt in range(MOST_SEEDS):
            self._refine(weights, s.seed + attempt)
            if s.verify == "hash":
                before = self._n_classes()
                self._refine(weights, s.seed + attempt + 7919)
                if self._n_classes() != before:
                    continue
            rows, columns = self._timed("find classes", self._labelled)
            if s.verify == "hash":
                return rows, columns, attempt + 1
            _tell(self.progress, "find classes", "exact check of all classes")
            wrong = self._timed("verify", has_wrong_class, self.program, weights, s.lift, rows, columns)
            if not wrong:
                return rows, columns, attempt + 1
            _tell(self.progress, "find classes", f"{wrong}: hashes collided; new ones are drawn")
        raise EngineError(f"no classes passed their check, with {MOST_SEEDS} seeds.", "Lift locally instead.")

    def _labelled(self) -> tuple[LabelledClasses, LabelledClasses]:
        rows, columns = (labelled(self.temporary, side, classes.current) for side, classes in self._sides())
        return rows, columns

    def _sides(self) -> list[tuple[Side, Classes]]:
        return [("rows", self.classes["rows"]), ("columns", self.classes["columns"])]

    def _n_classes(self) -> int:
        return sum(classes.n_classes for classes in self.classes.values())

    def _refine(self, weights: ExactWeights, seed: int) -> None:
        refiner = Refiner(
            self.temporary, weights, self.classes["rows"], self.classes["columns"], self.next_class, seed,
            self.settings.word_bits,
        )  # fmt: skip
        before = self.rounds

        def after_round(report: RoundReport) -> None:
            self.rounds = before + report.round
            n_classes = report.row_classes + report.column_classes
            message = f"{report.changed:,} changed, {report.row_classes:,} + {report.column_classes:,} classes"
            if self.state is not None and self.settings.resume:
                self.state.note(replace(report, round=self.rounds))
            if self.progress is not None:
                self.progress(Progress("find classes", message, self.rounds, n_classes))

        self._timed("find classes", refiner.run, after_round)
        self.next_class = refiner.next_class

    def _timed(self, stage: str, step: Callable[Ps, T], *arguments: Ps.args, **words: Ps.kwargs) -> T:
        start = perf_counter()
        try:
            return step(*arguments, **words)
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - start


def _interrupted(rounds: int, is_kept: bool) -> str:
    done = f"lifting was interrupted after {rounds} rounds"
    return (
        f"{done}; its state is kept, run again with resume to go on" if is_kept else f"{done}; nothing is left behind"
    )


def _shifted(kinds: Plan, offset: int) -> Plan:
    plain = project(kinds, "id", "class")
    if not offset:
        return plain
    return Project(plain, {"id": Column("id"), "class": call("+", Column("class"), literal(offset))})


def _tell(progress: ProgressCallback | None, stage: str, message: str) -> None:
    if progress is not None:
        progress(Progress(stage, message))


def _vector(engine: Engine, table: Plan, key: str, name: str) -> Cells:
    found = engine.fetch(project(table, key, name))
    vector = np.empty_like(found[name])
    vector[found[key]] = found[name]
    return vector
