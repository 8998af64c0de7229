"""Apache Spark: tables that live on a cluster are joined there, and only triplets come here.

Tables are kept by :mod:`~relift.tables.spark.storage`, statements are run by :mod:`~relift.tables.spark.statements`,
and plans are rewritten for Spark by :mod:`~relift.tables.spark.rewrite`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, final

import numpy as np

from relift.arrays import Cells
from relift.errors import DataError, EngineError, OptionError
from relift.settings import ProgressCallback
from relift.tables.algebra import (
    Aggregate,
    Column,
    Filter,
    Number,
    Plan,
    Project,
    Scan,
    Type,
    Unit,
    call,
    literal,
)
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import ARRAY_TYPES, Arrays, Engine, refuse_rows
from relift.tables.row_bounds import row_bounds
from relift.tables.sources.file_patterns import literal_in_spark
from relift.tables.sources.table import Distributed, Source, Stored
from relift.tables.spark import storage
from relift.tables.spark.kept_tables import kept_tables
from relift.tables.spark.keys import settled_types
from relift.tables.spark.rewrite import rewritten
from relift.tables.spark.session import OpenSession, open_session
from relift.tables.spark.statements import Statements
from relift.tables.spark.storage import DIALECT, Part, Storage, StoredTable, remove_folder, width_of
from relift.tables.sql.canonical import spark_reading
from relift.tables.sql.write import count_from_plan, name_in, select_from_plan

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

MOST_LIMIT = 2**31 - 2
"""Spark has no larger LIMIT."""
_NAMES = {Type.INTEGER: "BIGINT", Type.REAL: "DOUBLE", Type.TEXT: "STRING"}


@final
class SparkEngine(Engine):
    """Spark, with a session of its own in the application of another.

    Parameters
    ----------
    session
        The user's ``SparkSession``, by which a cluster is reached; it is never stopped, and its settings and views are
        not touched. None for the active session, or, if there is none, for a local one that ends with the engine.
    checkpoint_folder
        A folder that all executors can reach (``hdfs://...``, ``s3a://...``; any folder in local mode). `save` writes
        tables there, which then outlive executors; the files are removed by `close`. None for none.
    keep_tables
        Leave what `save` has written in the folder, and find what an earlier engine has left there.
    cores, driver_memory
        Of a local session: how many threads it has, and how much memory.
    progress
        Progress callback.

    Examples
    --------
    Where Java is installed::

        with SparkEngine() as engine:
            columns = engine.attach("edge", source_from_data("edge", [(1, 2), (2, 3)]))
            engine.count(Scan("edge", {"X": ("c0", columns["c0"])}), cap=10)
    """

    name = "spark"
    knows_tables = True

    def __init__(
        self,
        session: SparkSession | None = None,
        *,
        checkpoint_folder: str | None = None,
        keep_tables: bool = False,
        cores: int = 2,
        driver_memory: str = "2g",
        progress: ProgressCallback | None = None,
    ) -> None:
        super().__init__(progress)
        if session is not None and not hasattr(session, "createDataFrame"):
            raise OptionError(f"session= is a {type(session).__name__}.", "Give a SparkSession.")
        self._temporary = 0
        self._counted: tuple[Plan, int] | None = None
        self._ask = Statements(open_session(session, cores, driver_memory))
        self._store = Storage(self._ask)
        if checkpoint_folder is not None and self._open.is_remote:
            self.close()
            raise OptionError("checkpoint_folder= needs a session of this process, not one of Spark Connect.")
        self._folder = None if checkpoint_folder is None else f"{checkpoint_folder.rstrip('/')}/{self._ask.tag}"
        if keep_tables:
            if checkpoint_folder is None:
                self.close()
                raise OptionError("keep_tables=True needs a folder.", "Give checkpoint_folder=.")
            self.is_persistent = True
            self._folder = f"{checkpoint_folder.rstrip('/')}/relift"
            self._find_kept()

    # --- the five methods -------------------------------------------------------------------------------------------

    def attach(self, name: str, source: Source) -> dict[str, Type]:
        """Store a source: a table of Spark where it is, anything else by way of this process."""
        content = source.content
        if isinstance(content, Stored) and content.connection is self:
            with self._ask.statement(source.label):
                frame = self._open.parent.table(name_in(DIALECT, *content.name))
            content = Distributed(frame)
        if isinstance(content, Distributed):
            return self._attach_frame(name, source, content.frame)
        with closing(DuckDBEngine()) as reader:  # one reader of files and objects, for the same types and errors
            types = reader.attach(name, source)
            table = reader.arrow(Scan(name, {column: (column, kind) for column, kind in types.items()}))
        with self._ask.statement(source.label):
            part = Part(self._store.from_arrow(table), table.num_rows, is_stored_by_spark=False)
            if part.rows > storage.SMALL:
                part = self._store.kept(part.frame)
            self._register(name, StoredTable([part], width_of(types)))
        return types

    def create(
        self, name: str, plan: Plan, *, number: tuple[str, tuple[str, ...]] | None = None, budget: int | None = None
    ) -> int:
        """Store a plan; a budget is checked by a bounded count before anything is stored."""
        if name in self._store.tables:
            raise EngineError(f"there is a table {name!r} already.")
        self._check_budget(plan, budget)
        with self._ask.statement(), self._prepared(plan) as prepared:
            part = self._stored(prepared, number)
            self._register(name, StoredTable([part], width_of(plan.columns) + 8))
        return part.rows

    def append(self, name: str, plan: Plan) -> int:
        """Add a part to a table; many small parts are put together."""
        with self._ask.statement(), self._prepared(plan) as prepared:
            part = self._stored(prepared, None)
            if part.rows:
                self._store.add_part(name, part)
                self._counted = None
        return part.rows

    def count(self, plan: Plan, cap: int) -> int:
        """Count with a LIMIT inside: tasks end when they have so many rows."""
        if (known := self._known_rows(plan)) is not None:
            return min(known, cap)
        if self._bound(plan) <= cap or cap > MOST_LIMIT:
            rows = int(self.fetch(Aggregate(plan, (), {"n": ("count", literal(1))}))["n"][0])
            rows = min(rows, cap)
        else:
            with self._ask.statement(), self._prepared(plan) as prepared:
                rows = int(self._ask.arrow(self._ask.query(count_from_plan(prepared, cap, DIALECT)))[0][0].as_py())
        self._counted = (plan, rows) if rows < cap else None
        return rows

    def fetch(self, plan: Plan, *, budget: int | None = None) -> Arrays:
        """Columns by way of Arrow."""
        self._check_budget(plan, budget)
        with self._ask.statement(), self._prepared(plan) as prepared:
            found = self._ask.arrow(self._ask.query(select_from_plan(prepared, DIALECT)))
        return {name: _array(found.column(name), kind) for name, kind in plan.columns.items()}

    def is_set(self, plan: Plan) -> bool:
        """Look for one row that comes twice."""
        if plan.is_set or not plan.columns:
            return plan.is_set or self.count(plan, 2) < 2
        counted = Aggregate(plan, tuple(plan.columns), {"#rows": ("count", literal(1))})
        return self.count(Filter(counted, call(">", Column("#rows"), literal(1))), 1) == 0

    def drop(self, name: str) -> None:
        """Forget a table, and what Spark keeps of it."""
        self._counted = None
        if self._store.drop(name) and self.is_persistent:
            with self._ask.statement():
                remove_folder(self._open.session, f"{self._folder}/{name}")

    def explain(self, plan: Plan) -> str:
        """The SQL of a plan."""
        return select_from_plan(plan, DIALECT)

    def seal(self) -> None:
        """Nothing to forbid: statements are queries only, and what a cluster may read its keeper decides."""

    def interrupt(self) -> None:
        """Cancel the jobs of the running statement."""
        self._ask.interrupt()

    def close(self) -> None:
        """Drop all tables, remove all files; the session stays the user's, or ends if it was our own."""
        opened, self._ask.opened = self._ask.opened, None
        if opened is None:
            return
        if not opened.is_stopped():
            with suppress(Exception):  # a session that dies now has nothing of ours left
                self._store.drop_all(opened)
                if self._folder is not None and not self.is_persistent:
                    remove_folder(opened.session, self._folder)
        opened.close()

    def __del__(self) -> None:
        if getattr(self, "_ask", None) is not None and self._ask.opened is not None:
            with suppress(Exception):  # at the end of the process the JVM may be gone
                self.close()

    @property
    def _open(self) -> OpenSession:
        return self._ask.session

    def _register(self, name: str, table: StoredTable) -> None:
        self._store.register(name, table)
        self._counted = None

    # --- advice -----------------------------------------------------------------------------------------------------

    def cluster(self, name: str, by: tuple[str, ...]) -> None:
        """Spread the rows over partitions by a hash of columns; joins and groups by these need no shuffle of them."""
        table = self._store.tables[name]
        if table.rows <= storage.SMALL:
            return
        with self._ask.statement():
            self._open.tune(is_small=False)
            partitions = int(self._open.session.conf.get("spark.sql.shuffle.partitions"))
            whole = self._open.session.table(name)
            part = self._store.kept(whole.repartition(partitions, *(name_in(DIALECT, column) for column in by)))
            self._store.replace_parts(name, part)

    def save(self, name: str) -> None:
        """Write a table into the folder for checkpoints, from where it is read from now on."""
        table = self._store.tables[name]
        if self._folder is None or (table.rows <= storage.SMALL and not self.is_persistent):
            return
        folder = f"{self._folder}/{name}/{uuid.uuid4().hex[:8]}"
        with self._ask.statement():
            self._open.session.table(name).write.mode("error").parquet(folder)
            frame = self._open.session.read.parquet(literal_in_spark(folder))
            part = Part(frame, table.rows, is_stored_by_spark=False, folder=folder)
            self._store.replace_parts(name, part)

    def tables(self) -> list[str]:
        """Names of stored tables, if what is saved outlives the engine."""
        return sorted(self._store.tables) if self.is_persistent else []

    def _find_kept(self) -> None:
        """Tables that an earlier engine has saved in the same folder."""
        with self._ask.statement():
            for name, folder in kept_tables(self._open.session, self._folder or "").items():
                frame = self._open.session.read.parquet(literal_in_spark(folder))
                part = Part(frame, int(frame.count()), is_stored_by_spark=False, folder=folder)
                self._register(name, StoredTable([part], 8 * len(frame.columns)))

    # --- storing ----------------------------------------------------------------------------------------------------

    def _attach_frame(self, name: str, source: Source, frame: DataFrame) -> dict[str, Type]:
        """Rows that live on the cluster: cast and kept there."""
        if frame.isStreaming:
            raise DataError(f"{source.label} is a stream.", "Give a DataFrame that ends.")
        label = source.label
        with self._ask.statement(label):
            found = frame.dtypes
            chosen = [found[k] for k in source.choose([column for column, _ in found])]
            if len({column for column, _ in found}) < len(found):
                raise DataError(f"{label} has two columns of the same name.", "Rename one of them.")
            readings = [spark_reading(label, column, kind, source.is_key(k)) for k, (column, kind) in enumerate(chosen)]
            outputs = [
                (name_in(DIALECT, column) if reading.is_wide else reading.of(name_in(DIALECT, column))) + f" AS c{k}"
                for k, ((column, _), reading) in enumerate(zip(chosen, readings, strict=True))
            ]
            self._open.tune(is_small=False)
            part = self._store.kept(self._in_own_session(frame).selectExpr(*outputs))
            types = settled_types(part.frame, label, [column for column, _ in chosen], readings)
            if any(reading.is_wide for reading in readings):
                raw, part = (
                    part,
                    self._store.kept(
                        part.frame.selectExpr(*(f"CAST({c} AS {_NAMES[kind]}) AS {c}" for c, kind in types.items()))
                    ),
                )
                self._store.forget(raw)
            self._register(name, StoredTable([part], width_of(types)))
        return types if part.rows else self._without_rows(name, list(types))

    def _without_rows(self, name: str, columns: list[str]) -> dict[str, Type]:
        """A table without rows fits every type; its columns become integers, as in the other engines."""
        self.drop(name)
        nulls = ", ".join(f"CAST(NULL AS BIGINT) AS {column}" for column in columns)
        with self._ask.statement():
            part = self._store.collected(self._ask.query(f"SELECT * FROM (SELECT {nulls}) AS t WHERE FALSE"))
            self._register(name, StoredTable([part], 8))
        return dict.fromkeys(columns, Type.NOTHING)

    def _in_own_session(self, frame: DataFrame) -> DataFrame:
        """The same frame in the engine's session; sessions of one application share global temporary views."""
        passing = f"relift_{uuid.uuid4().hex}"
        frame.createGlobalTempView(passing)
        try:
            database = self._open.session.conf.get("spark.sql.globalTempDatabase", "global_temp")
            return self._open.session.table(f"{database}.{passing}")
        finally:
            frame.sparkSession.catalog.dropGlobalTempView(passing)

    def _stored(self, plan: Plan, number: tuple[str, tuple[str, ...]] | None) -> Part:
        """The rows of a prepared plan, kept: at the driver if they are few, else by Spark."""
        is_small = self._tune_for(plan)
        frame = self._ask.query(select_from_plan(plan, DIALECT))
        if is_small:
            return self._store.collected(frame, number)
        part = self._store.kept(frame, is_final=number is None)
        return part if number is None else self._store.numbered(part, *number)

    # --- asking -----------------------------------------------------------------------------------------------------

    def _check_budget(self, plan: Plan, budget: int | None) -> None:
        """Refuse a plan with too many rows before it is run; what was counted last is not counted again."""
        if budget is None:
            return
        if self._bound(plan) <= budget:
            return
        known = self._counted
        rows = known[1] if known is not None and known[0] is plan else self.count(plan, budget + 1)
        if rows > budget:
            raise refuse_rows("a result", rows, budget)

    def _sizes(self) -> dict[str, int]:
        return {name: table.rows for name, table in self._store.tables.items()}

    def _known_rows(self, plan: Plan) -> int | None:
        """How many rows a plan has, if no query is needed to tell."""
        while isinstance(plan, Project | Number):
            plan = plan.input
        if isinstance(plan, Unit):
            return 1
        return (
            self._store.tables[plan.table].rows if isinstance(plan, Scan) and plan.table in self._store.tables else None
        )

    def _bound(self, plan: Plan) -> float:
        """The most rows that a plan can have."""
        return row_bounds(plan, self._sizes())[id(plan)]

    def _tune_for(self, plan: Plan) -> bool:
        """Whether no part of a plan can have many rows; the session is set up accordingly."""
        is_small = max(row_bounds(plan, self._sizes()).values()) <= storage.SMALL
        self._open.tune(is_small)
        return is_small

    @contextmanager
    def _prepared(self, plan: Plan) -> Iterator[Plan]:
        """A plan that Spark can run; what was stored for it is dropped afterwards."""
        made: list[str] = []
        try:
            new = rewritten(plan, lambda part: self._aside(part, made))
            self._tune_for(new)
            yield new
        finally:
            for name in made:
                with suppress(EngineError):
                    self.drop(name)

    def _aside(self, plan: Plan, made: list[str]) -> Scan:
        """Store a part of a plan for the time of a statement."""
        self._temporary += 1
        name = f"relift_part_{self._temporary}"
        rows = plan.input if isinstance(plan, Number) else plan
        part = self._stored(rows, (plan.name, plan.order) if isinstance(plan, Number) else None)
        self._register(name, StoredTable([part], width_of(plan.columns)))
        made.append(name)
        return Scan(name, {column: (column, kind) for column, kind in plan.columns.items()}, plan.keys)


def _array(column: pa.ChunkedArray, kind: Type) -> Cells:
    wanted = ARRAY_TYPES[kind]
    if kind == Type.TEXT:
        return np.asarray(column.to_numpy()).astype(object)
    if column.null_count:
        fill = {Type.REAL: float("nan"), Type.NUMBER_OF_ROW: -1, Type.BOOLEAN: False}.get(kind, 0)
        column = column.fill_null(fill)
    return np.asarray(column.to_numpy()).astype(wanted, copy=False)
