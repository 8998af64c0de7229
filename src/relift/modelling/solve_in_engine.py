"""Solve a model without its matrix ever leaving the engine: ground into tables, lift there, solve the quotient here.

::

    text or Python ─ check ─▶ CheckedModel ─ ground into tables ─▶ EngineProgram ─ lift in the engine ─┐
    EngineModelResult ◀─ certify in the engine ◀─ expand in the engine ◀─ solve the quotient here ◀────┘
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import final

import numpy as np

from relift.errors import EngineError, OptionError
from relift.grounding.atoms import AtomIndex, Block
from relift.in_database.ground_tables import GroundTables, ground_into_tables
from relift.in_database.lift_tables import EngineLifting, EngineLiftSettings, EngineResult, lift_in_engine
from relift.in_database.verify import Verify
from relift.language.checked_model import CheckedModel
from relift.lifting.certificate import Certificate
from relift.modelling.model_result import block_of
from relift.modelling.result_table import ResultTable
from relift.pipeline import SolveOptions
from relift.program.solution import Status
from relift.settings import ProgressCallback
from relift.tables.algebra import Column, Filter, Join, Plan, Project, Scalar, Unit, all_of, call, literal
from relift.tables.engine import Engine
from relift.tables.open_engine import EngineLike, is_postgres, open_engine
from relift.tables.sources.table import TableLike

BATCH = 1_000_000
"""Rows of a result that are fetched at a time."""


class EngineSolveOptions(SolveOptions, total=False):
    """Options of lifting inside an engine, and of the solve of the small program."""

    verify: Verify
    seed: int
    resume: bool


@final
@dataclass(frozen=True, eq=False)
class EngineModelResult:
    """The answer for a model that was lifted inside an engine; values stay there until they are asked for.

    Parameters
    ----------
    grounded
        The ground program, as tables.
    result
        The certified answer.
    seconds
        How long grounding took.
    """

    grounded: GroundTables
    result: EngineResult
    seconds: float = 0.0
    owns_engine: bool = field(default=False, repr=False)

    def __repr__(self) -> str:
        model, program = self.grounded.model, self.grounded.program
        goal = model.objective.name if model.objective is not None else "objective"
        sizes = f"{program.n_variables:,} unknowns, {program.n_rows:,} rows, {self.grounded.n_nonzeros:,} nonzeros"
        return f"EngineModelResult({self.status}, {goal}={self.objective:.9g}, {sizes} in {program.engine.name})"

    @property
    def status(self) -> Status:
        """How the solve ended; ``optimal`` only with a certificate on the ground program that passes."""
        return self.result.status

    @property
    def objective(self) -> float:
        """The objective, in the sense of the model; an infinity for infeasible and unbounded models."""
        return self.result.objective

    @property
    def certificate(self) -> Certificate:
        """Residuals on the ground program, computed by the engine."""
        return self.result.certificate

    @property
    def lifting(self) -> EngineLifting:
        """The classes, and the small program."""
        return self.result.lifting

    @property
    def timings(self) -> dict[str, float]:
        """Seconds of each stage."""
        return {"ground": self.seconds, **self.result.timings}

    @property
    def notes(self) -> tuple[str, ...]:
        """Anything out of the ordinary: joins of tables with rows that found nothing."""
        return self.grounded.notes

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variable predicates."""
        return self.grounded.atoms.predicates

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints."""
        return self.grounded.rows.predicates

    # --- values

    def __getitem__(self, name: str) -> ResultTable:
        """The values of a variable: its key columns, then ``value``; all of them are fetched."""
        return self.values(name)

    def values(self, name: str) -> ResultTable:
        """The values of a variable: its key columns, then ``value``; all of them are fetched.

        Raises
        ------
        OptionError
            If there is no such variable, or the solve gave no point.
        """
        return _joined(list(self.batches(name)), self._variable(name))

    def batches(self, name: str, rows: int = BATCH) -> Iterator[ResultTable]:
        """The same, so many rows at a time.

        Parameters
        ----------
        name
            The variable.
        rows
            Rows of a batch.
        """
        block = self._variable(name)
        for start in range(0, max(block.size, 1), rows):
            yield self._fetched(self._plan(self.grounded.atoms, block, "x", start, rows), block, "value")

    def value(self, name: str, *entry: str | float) -> float:
        """The value of one unknown; nothing else is fetched.

        Raises
        ------
        OptionError
            If there is no such unknown, or no point.
        """
        self._variable(name)
        number = self.grounded.atoms.number(name, *entry)
        point = self.result.expanded.columns
        found = self.grounded.engine.fetch(Filter(point, call("=", Column("column"), literal(number))))
        return float(found["x"][0])

    def duals(self, name: str) -> ResultTable:
        """The multipliers of a constraint: keys, then ``dual``; all of them are fetched."""
        blocks = block_of(self.grounded.rows, name, "constraint")
        tables = [self._fetched(self._plan(self.grounded.rows, b, "y", 0, max(b.size, 1)), b, "dual") for b in blocks]
        if len(blocks) == 1:
            return tables[0]
        parts = {"part": np.concatenate([np.full(b.size, b.part, object) for b in blocks])}
        columns = {key: np.concatenate([t[key] for t in tables]) for key in tables[0]}
        dual = columns.pop("dual")
        return ResultTable({**columns, **parts, "dual": dual}, len(columns) + 1)

    def store(self, name: str, table: str) -> int:
        """Keep the values of a variable as a table of the engine: columns ``c0, c1, ...``, then ``value``; how many.

        Parameters
        ----------
        name
            The variable.
        table
            Name of the new table.
        """
        block = self._variable(name)
        plan = self._plan(self.grounded.atoms, block, "x", 0, max(block.size, 1))
        outputs: dict[str, Scalar] = {f"c{k}": Column(f"#{k}") for k in range(len(block.keys))}
        return self.grounded.engine.create(table, Project(plan, outputs | {"value": Column("x")}))

    def _variable(self, name: str) -> Block:
        block = block_of(self.grounded.atoms, name, "variable")[0]
        if not self.status.has_point:
            raise OptionError(f"there are no values: the model is {str(self.status).replace('_', ' ')}.")
        return block

    def _plan(self, index: AtomIndex, block: Block, value: str, start: int, rows: int) -> Plan:
        """Tuples of a block with a column of the answer."""
        key, table = ("column", self.result.expanded.columns) if value == "x" else ("row", self.result.expanded.rows)
        first = block.start + start
        inside = all_of([
            call(">=", Column(key), literal(first)),
            call("<", Column(key), literal(min(first + rows, block.stop))),
        ])  # fmt: skip
        some = Filter(table, inside)
        number = call("integer", call("-", Column(key), literal(block.start)))
        numbered = Project(some, {"#number": number, value: Column(value)})
        if block.table is None or not block.keys:
            return Join(Project(Unit(), {"#number": literal(0)}), numbered)
        return Join(block.table.scan([f"#{k}" for k in range(len(block.keys))], "#number"), numbered)

    def _fetched(self, plan: Plan, block: Block, name: str) -> ResultTable:
        found = self.grounded.engine.fetch(plan)
        order = np.argsort(found["#number"], kind="stable")
        values = found["x" if "x" in found else "y"][order]
        keys = {key: found[f"#{k}"][order] for k, key in enumerate(block.keys)}
        return ResultTable({**keys, name: values}, len(keys))

    def close(self) -> None:
        """Give the tables back: nothing can be fetched any more."""
        if self.owns_engine and not self.grounded.engine.is_persistent:
            self.grounded.engine.close()
            return
        self.lifting.close()
        self.grounded.drop()
        if self.owns_engine:
            self.grounded.engine.close()

    def __enter__(self) -> EngineModelResult:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def engine_for_lifting(
    engine: EngineLike,
    progress: ProgressCallback | None,
    *,
    memory_limit: str | None = None,
    spill_limit: str | None = None,
    database: str | Path | None = None,
) -> Engine:
    """The engine to lift in: DuckDB with these limits, or what was given.

    On a PostgreSQL server `database` is the name of a schema that keeps the tables.

    Raises
    ------
    OptionError
        If a limit is given for another engine.
    """
    if engine is None or engine == "duckdb":
        from relift.tables.duckdb.engine import DuckDBEngine

        return DuckDBEngine(memory_limit=memory_limit, spill_limit=spill_limit, database=database, progress=progress)
    given = {"memory_limit": memory_limit, "spill_limit": spill_limit, "database": database}
    if database is not None and is_postgres(engine):
        from relift.tables.postgres.engine import PostgresEngine

        del given["database"]
        _refuse_limits(given)
        return PostgresEngine(engine, schema=str(database), progress=progress)
    _refuse_limits(given)
    return open_engine(engine, progress)


def _refuse_limits(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise OptionError(f"{name} is for DuckDB.", "Set limits of other engines where they are configured.")


def settings_from(options: EngineSolveOptions) -> EngineLiftSettings:
    """Take what concerns lifting inside an engine out of the options of a solve.

    Raises
    ------
    OptionError
        If an option is given that only local lifting has.
    """
    method = options.pop("lift", "equitable")
    if method != "equitable" and method != "counting":
        raise OptionError(f"lift={method!r} is not done inside an engine.", "Choose equitable or counting.")
    not_here = {
        "digits": options.pop("digits", None),
        "approximate": options.pop("approximate", None),
        "vertex": options.pop("vertex", False),
        "reduce": options.pop("reduce", True),
    }
    for name, value in not_here.items():
        if value not in (None, False) and not (name == "reduce" and value):
            raise OptionError(f"{name} does not go with lift_in_engine.", "Leave one of them out.")
    return EngineLiftSettings(
        method,
        options.pop("values", "decimal"),
        options.pop("scale_rows", True),
        options.pop("verify", "exact"),
        options.pop("seed", 0),
        options.pop("resume", False),
    )


def solve_checked_in_engine(
    model: CheckedModel,
    data: Mapping[str, TableLike],
    engine: Engine,
    *,
    owns_engine: bool,
    folder: str | Path | None,
    limit: int | None,
    progress: ProgressCallback | None,
    settings: EngineLiftSettings,
    options: SolveOptions,
) -> EngineModelResult:
    """Ground a checked model into tables, lift and solve it there; the engine is closed on failure if it is ours."""
    grounded: GroundTables | None = None
    try:
        start = perf_counter()
        grounded = ground_into_tables(model, data, engine=engine, folder=folder, limit=limit, progress=progress)
        seconds = perf_counter() - start
        lifting = lift_in_engine(grounded.program, settings, progress)
        result = lifting.solve(progress=progress, **options)
    except BaseException:
        if grounded is not None:
            with suppress(EngineError):  # if the engine is gone, so is what it held
                grounded.drop()
        if owns_engine:
            engine.close()
        raise
    return EngineModelResult(grounded, result, seconds, owns_engine)


def _joined(tables: list[ResultTable], block: Block) -> ResultTable:
    if len(tables) == 1:
        return tables[0]
    return ResultTable({key: np.concatenate([t[key] for t in tables]) for key in tables[0]}, len(block.keys))
