"""Apache Spark: tables that live on a cluster are joined there, and only triplets come here.

Every stored table is a leaf: its rows are kept by Spark (``localCheckpoint``), its plan is forgotten, so that plans
of recursions and rounds do not grow. Tables of up to `SMALL` rows are kept at the driver instead, and travel with the
queries: most queries of most models are that small, and a job of Spark takes 50 ms whatever it does.

Rows are numbered without a global ``row_number``, which would bring them all to one task: they are sorted into ranges,
each range is numbered for itself, and the sizes of the ranges before it are added.
"""

from __future__ import annotations

import shutil
import threading
import time
import uuid
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from relift.arrays import Cells
from relift.errors import DataError, EngineError, OptionError
from relift.settings import ProgressCallback
from relift.tables.algebra import (
    Aggregate,
    Column,
    Distinct,
    Filter,
    Join,
    Number,
    Plan,
    Project,
    Scan,
    Type,
    Union,
    Unit,
    call,
    literal,
    nodes,
)
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import ARRAY_TYPES, Arrays, Engine, refuse_rows
from relift.tables.join_order import linked_first
from relift.tables.row_bounds import row_bounds
from relift.tables.sources.file_patterns import literal_in_spark
from relift.tables.sources.table import Distributed, Source, Stored
from relift.tables.spark.errors import is_cancelled, translated
from relift.tables.spark.kept_tables import kept_tables
from relift.tables.spark.keys import settled_types
from relift.tables.spark.session import OpenSession, open_session
from relift.tables.sql.canonical import spark_reading
from relift.tables.sql.write import count_from_plan, name_in, select_from_plan

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

DIALECT = "spark"
SMALL = 20_000
"""Results of up to so many rows are kept at the driver."""
MOST_LIMIT = 2**31 - 2
"""Spark has no larger LIMIT."""
BROADCAST_BYTES = 10_000_000
"""Tables up to this size are sent to every task rather than shuffled."""
MOST_PARTS = 8
"""A table that has grown in more parts than this is put together."""
_NAMES = {Type.INTEGER: "BIGINT", Type.REAL: "DOUBLE", Type.TEXT: "STRING"}
_BYTES = {Type.TEXT: 40, Type.WIDE: 32}


@dataclass
class _Part:
    """Rows that are stored: by Spark, at the driver, or in files."""

    frame: DataFrame
    rows: int
    is_stored_by_spark: bool
    folder: str = ""


@dataclass
class _Table:
    """A table under a name; its parts have the same columns."""

    parts: list[_Part]
    width: int
    """Bytes of a row, roughly."""

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)


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
        Called with events of long work.

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
        self._tables: dict[str, _Table] = {}
        self._tag = f"relift-{uuid.uuid4().hex}"
        self._temporary = 0
        self._is_running = self._is_interrupted = False
        self._counted: tuple[Plan, int] | None = None
        self._open: OpenSession | None = None
        self._open = open_session(session, cores, driver_memory)
        if checkpoint_folder is not None and self._open.is_remote:
            self.close()
            raise OptionError("checkpoint_folder= needs a session of this process, not one of Spark Connect.")
        self._folder = None if checkpoint_folder is None else f"{checkpoint_folder.rstrip('/')}/{self._tag}"
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
            with self._statement(source.label):
                frame = self._opened().parent.table(name_in(DIALECT, *content.name))
            content = Distributed(frame)
        if isinstance(content, Distributed):
            return self._attach_frame(name, source, content.frame)
        with closing(DuckDBEngine()) as reader:  # one reader of files and objects, for the same types and errors
            types = reader.attach(name, source)
            table = reader.arrow(Scan(name, {column: (column, kind) for column, kind in types.items()}))
        with self._statement(source.label):
            part = _Part(self._frame_from_arrow(table), table.num_rows, is_stored_by_spark=False)
            if part.rows > SMALL:
                part = self._kept(part.frame)
            self._register(name, _Table([part], _width(types)))
        return types

    def create(
        self, name: str, plan: Plan, *, number: tuple[str, tuple[str, ...]] | None = None, budget: int | None = None
    ) -> int:
        """Store a plan; a budget is checked by a bounded count before anything is stored."""
        if name in self._tables:
            raise EngineError(f"there is a table {name!r} already.")
        self._check_budget(plan, budget)
        with self._statement(), self._prepared(plan) as prepared:
            part = self._stored(prepared, number)
            self._register(name, _Table([part], _width(plan.columns) + 8))
        return part.rows

    def append(self, name: str, plan: Plan) -> int:
        """Add a part to a table; many small parts are put together."""
        with self._statement(), self._prepared(plan) as prepared:
            part = self._stored(prepared, None)
            table = self._tables[name]
            if part.rows:
                parts = [*table.parts, part]
                if len(parts) > MOST_PARTS:  # the smallest ones, so that no row is copied often
                    parts.sort(key=lambda p: p.rows, reverse=True)
                    parts = [parts[0], self._merged(parts[1:])]
                self._register(name, replace(table, parts=parts))
        return part.rows

    def count(self, plan: Plan, cap: int) -> int:
        """Count with a LIMIT inside: tasks end when they have so many rows."""
        if (known := self._known_rows(plan)) is not None:
            return min(known, cap)
        if self._bound(plan) <= cap or cap > MOST_LIMIT:
            rows = int(self.fetch(Aggregate(plan, (), {"n": ("count", literal(1))}))["n"][0])
            rows = min(rows, cap)
        else:
            with self._statement(), self._prepared(plan) as prepared:
                rows = int(self._arrow(self._query(count_from_plan(prepared, cap, DIALECT)))[0][0].as_py())
        self._counted = (plan, rows) if rows < cap else None
        return rows

    def fetch(self, plan: Plan, *, budget: int | None = None) -> Arrays:
        """Columns by way of Arrow."""
        self._check_budget(plan, budget)
        with self._statement(), self._prepared(plan) as prepared:
            found = self._arrow(self._query(select_from_plan(prepared, DIALECT)))
        return {name: _array(found.column(name), kind) for name, kind in plan.columns.items()}

    def is_set(self, plan: Plan) -> bool:
        """Look for one row that comes twice."""
        if plan.is_set or not plan.columns:
            return plan.is_set or self.count(plan, 2) < 2
        counted = Aggregate(plan, tuple(plan.columns), {"#rows": ("count", literal(1))})
        return self.count(Filter(counted, call(">", Column("#rows"), literal(1))), 1) == 0

    def drop(self, name: str) -> None:
        """Forget a table, and what Spark keeps of it."""
        table = self._tables.pop(name, None)
        self._counted = None
        if table is None or self._open is None:
            return
        with self._statement():
            self._open.session.catalog.dropTempView(name)
            for part in table.parts:
                self._forget(part)
            if self.is_persistent:
                _remove_folder(self._open.session, f"{self._folder}/{name}")

    def explain(self, plan: Plan) -> str:
        """The SQL of a plan."""
        return select_from_plan(plan, DIALECT)

    def seal(self) -> None:
        """Nothing to forbid: statements are queries only, and what a cluster may read its keeper decides."""

    def interrupt(self) -> None:
        """Cancel the jobs of the running statement."""
        if self._open is not None and self._is_running and not self._is_interrupted:
            self._is_interrupted = True
            threading.Thread(target=self._cancel_until_over, args=(self._open,), daemon=True).start()

    def _cancel_until_over(self, opened: OpenSession) -> None:
        """Cancel jobs until the statement ends: one that is being planned has no jobs yet."""
        while self._is_running and self._is_interrupted:
            with suppress(Exception):  # the session may be gone; then there is nothing to stop
                opened.cancel(self._tag)
            time.sleep(0.1)

    def close(self) -> None:
        """Drop all tables, remove all files; the session stays the user's, or ends if it was our own."""
        opened, self._open = self._open, None
        if opened is None:
            return
        tables, self._tables = self._tables, {}
        if not opened.is_stopped():
            with suppress(Exception):  # a session that dies now has nothing of ours left
                for name, table in tables.items():
                    opened.session.catalog.dropTempView(name)
                    for part in table.parts:
                        _unpersist(part, opened.is_remote)
                if self._folder is not None and not self.is_persistent:
                    _remove_folder(opened.session, self._folder)
        opened.close()

    def __del__(self) -> None:
        if getattr(self, "_open", None) is not None:
            with suppress(Exception):  # at the end of the process the JVM may be gone
                self.close()

    # --- advice -----------------------------------------------------------------------------------------------------

    def cluster(self, name: str, by: tuple[str, ...]) -> None:
        """Spread the rows over partitions by a hash of columns; joins and groups by these need no shuffle of them."""
        table = self._tables[name]
        if table.rows <= SMALL:
            return
        with self._statement():
            self._opened().tune(is_small=False)
            partitions = int(self._opened().session.conf.get("spark.sql.shuffle.partitions"))
            whole = self._opened().session.table(name)
            part = self._kept(whole.repartition(partitions, *(name_in(DIALECT, column) for column in by)))
            self._register(name, replace(table, parts=[part]))
            for old in table.parts:
                self._forget(old)

    def save(self, name: str) -> None:
        """Write a table into the folder for checkpoints, from where it is read from now on."""
        table = self._tables[name]
        if self._folder is None or (table.rows <= SMALL and not self.is_persistent):
            return
        folder = f"{self._folder}/{name}/{uuid.uuid4().hex[:8]}"
        with self._statement():
            self._opened().session.table(name).write.mode("error").parquet(folder)
            frame = self._opened().session.read.parquet(literal_in_spark(folder))
            part = _Part(frame, table.rows, is_stored_by_spark=False, folder=folder)
            self._register(name, replace(table, parts=[part]))
            for old in table.parts:
                self._forget(old)

    def tables(self) -> list[str]:
        """Names of stored tables, if what is saved outlives the engine."""
        return sorted(self._tables) if self.is_persistent else []

    def _find_kept(self) -> None:
        """Tables that an earlier engine has saved in the same folder."""
        with self._statement():
            for name, folder in kept_tables(self._opened().session, self._folder or "").items():
                frame = self._opened().session.read.parquet(literal_in_spark(folder))
                part = _Part(frame, int(frame.count()), is_stored_by_spark=False, folder=folder)
                self._register(name, _Table([part], 8 * len(frame.columns)))

    # --- storing ----------------------------------------------------------------------------------------------------

    def _attach_frame(self, name: str, source: Source, frame: DataFrame) -> dict[str, Type]:
        """Rows that live on the cluster: cast and kept there."""
        if frame.isStreaming:
            raise DataError(f"{source.label} is a stream.", "Give a DataFrame that ends.")
        label = source.label
        with self._statement(label):
            found = frame.dtypes
            chosen = [found[k] for k in source.choose([column for column, _ in found])]
            if len({column for column, _ in found}) < len(found):
                raise DataError(f"{label} has two columns of the same name.", "Rename one of them.")
            readings = [spark_reading(label, column, kind, source.is_key(k)) for k, (column, kind) in enumerate(chosen)]
            outputs = [
                (name_in(DIALECT, column) if reading.is_wide else reading.of(name_in(DIALECT, column))) + f" AS c{k}"
                for k, ((column, _), reading) in enumerate(zip(chosen, readings, strict=True))
            ]
            self._opened().tune(is_small=False)
            part = self._kept(self._in_own_session(frame).selectExpr(*outputs))
            types = settled_types(part.frame, label, [column for column, _ in chosen], readings)
            if any(reading.is_wide for reading in readings):
                raw, part = (
                    part,
                    self._kept(
                        part.frame.selectExpr(*(f"CAST({c} AS {_NAMES[kind]}) AS {c}" for c, kind in types.items()))
                    ),
                )
                self._forget(raw)
            self._register(name, _Table([part], _width(types)))
        return types if part.rows else self._without_rows(name, list(types))

    def _without_rows(self, name: str, columns: list[str]) -> dict[str, Type]:
        """A table without rows fits every type; its columns become integers, as in the other engines."""
        self.drop(name)
        nulls = ", ".join(f"CAST(NULL AS BIGINT) AS {column}" for column in columns)
        with self._statement():
            part = self._collected(self._query(f"SELECT * FROM (SELECT {nulls}) AS t WHERE FALSE"))
            self._register(name, _Table([part], 8))
        return dict.fromkeys(columns, Type.NOTHING)

    def _in_own_session(self, frame: DataFrame) -> DataFrame:
        """The same frame in the engine's session; sessions of one application share global temporary views."""
        passing = f"relift_{uuid.uuid4().hex}"
        frame.createGlobalTempView(passing)
        try:
            database = self._opened().session.conf.get("spark.sql.globalTempDatabase", "global_temp")
            return self._opened().session.table(f"{database}.{passing}")
        finally:
            frame.sparkSession.catalog.dropGlobalTempView(passing)

    def _frame_from_arrow(self, table: pa.Table) -> DataFrame:
        with warnings.catch_warnings(), self._opened().without_trace():
            warnings.simplefilter("ignore", FutureWarning)
            return self._opened().session.createDataFrame(table)

    def _stored(self, plan: Plan, number: tuple[str, tuple[str, ...]] | None) -> _Part:
        """The rows of a prepared plan, kept: at the driver if they are few, else by Spark."""
        is_small = self._tune_for(plan)
        frame = self._query(select_from_plan(plan, DIALECT))
        if is_small:
            return self._collected(frame, number)
        part = self._kept(frame, is_final=number is None)
        return part if number is None else self._numbered(part, *number)

    def _collected(self, frame: DataFrame, number: tuple[str, tuple[str, ...]] | None = None) -> _Part:
        import pyarrow as pa

        if number is not None and number[1]:
            frame = frame.orderBy(*(name_in(DIALECT, column) for column in number[1]))
        table = self._arrow(frame)
        if number is not None:
            table = table.append_column(number[0], pa.array(np.arange(table.num_rows)))
        return _Part(self._frame_from_arrow(table), table.num_rows, is_stored_by_spark=False)

    def _kept(self, frame: DataFrame, is_final: bool = True) -> _Part:
        """Rows that Spark calculates now and keeps, with a plan that is only these rows."""
        self._refuse_interrupted()
        part = _Part(frame.localCheckpoint(eager=False), -1, is_stored_by_spark=True)
        try:
            self._refuse_interrupted()
            part.rows = int(part.frame.count())  # the first look at all rows is when they are calculated and kept
        except BaseException:
            with suppress(Exception):  # what was kept so far; a session that is gone keeps nothing
                self._forget(part)
            raise
        if is_final and part.rows <= SMALL:
            small = self._collected(part.frame)
            self._forget(part)
            return small
        return part

    def _numbered(self, part: _Part, column: str, order: tuple[str, ...]) -> _Part:
        """Number rows in an order: by ranges, each with the sizes of those before it added."""
        if part.rows <= SMALL:
            small = self._collected(part.frame, (column, order))
            self._forget(part)
            return small
        if order:
            keys = [name_in(DIALECT, key) for key in order]
            ranged = self._kept(part.frame.orderBy(*keys), is_final=False)
            self._forget(part)
            part = ranged
        sizes = self._arrow(part.frame.selectExpr("spark_partition_id() AS p").groupBy("p").count())
        found = dict(zip(sizes.column("p").to_pylist(), sizes.column("count").to_pylist(), strict=True))
        in_order = np.array([found.get(partition, 0) for partition in range(max(found) + 1)], dtype=np.int64)
        offsets = np.cumsum(in_order) - in_order
        before = ", ".join(f"{offset}L" for offset in offsets)
        numbers = (
            f"array({before})[spark_partition_id()] + monotonically_increasing_id()"
            f" - shiftleft(CAST(spark_partition_id() AS BIGINT), 33) AS {name_in(DIALECT, column)}"
        )
        # Stored once more: the numbers hold for the partitions as they are here, and not inside of other queries.
        numbered = self._kept(part.frame.selectExpr("*", numbers), is_final=False)
        self._forget(part)
        return numbered

    def _merged(self, parts: Sequence[_Part]) -> _Part:
        rows = sum(part.rows for part in parts)
        self._opened().tune(is_small=rows <= SMALL)
        union = _union(parts)
        merged = (
            self._collected(union) if rows <= SMALL else self._kept(union.coalesce(_partitions(self._opened(), rows)))
        )
        for part in parts:
            self._forget(part)
        return merged

    def _register(self, name: str, table: _Table) -> None:
        frame = _union(table.parts)
        if table.rows * table.width <= BROADCAST_BYTES:
            frame = frame.hint("broadcast")
        frame.createOrReplaceTempView(name)
        self._tables[name] = table
        self._counted = None

    def _forget(self, part: _Part) -> None:
        _unpersist(part, self._opened().is_remote)
        if part.folder:
            _remove_folder(self._opened().session, part.folder)

    # --- asking -----------------------------------------------------------------------------------------------------

    def _query(self, text: str) -> DataFrame:
        return self._opened().session.sql(text)

    def _arrow(self, frame: DataFrame) -> pa.Table:
        self._refuse_interrupted()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return frame.toArrow()

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
        return {name: table.rows for name, table in self._tables.items()}

    def _known_rows(self, plan: Plan) -> int | None:
        """How many rows a plan has, if no query is needed to tell."""
        while isinstance(plan, Project | Number):
            plan = plan.input
        if isinstance(plan, Unit):
            return 1
        return self._tables[plan.table].rows if isinstance(plan, Scan) and plan.table in self._tables else None

    def _bound(self, plan: Plan) -> float:
        """The most rows that a plan can have."""
        return row_bounds(plan, self._sizes())[id(plan)]

    def _tune_for(self, plan: Plan) -> bool:
        """Whether no part of a plan can have many rows; the session is set up accordingly."""
        is_small = max(row_bounds(plan, self._sizes()).values()) <= SMALL
        self._opened().tune(is_small)
        return is_small

    @contextmanager
    def _prepared(self, plan: Plan) -> Iterator[Plan]:
        """A plan that Spark can run: numbers of rows stored, and so what would be calculated over and over.

        Spark writes out shared parts in every place where they are used, and parts of parts more often still.
        """
        made: list[str] = []
        order = nodes(plan)
        sizes: dict[int, int] = {}
        uses: dict[int, int] = {}
        for node in order:
            sizes[id(node)] = 1 + sum(sizes[id(part)] for part in node.inputs)
            for part in node.inputs:
                uses[id(part)] = uses.get(id(part), 0) + 1
        is_large = sizes[id(plan)] > 5 * len(order)
        inside = {id(part) for node in order if _is_inner(node) for part in node.inputs if _is_inner(part)}
        new: dict[int, Plan] = {}
        try:
            for node in order:
                new[id(node)] = _rebuilt(node, new)
                if id(node) not in inside:
                    new[id(node)] = linked_first(new[id(node)])
                is_shared = is_large and uses.get(id(node), 0) > 1 and _is_dear(new[id(node)])
                if isinstance(node, Number) or is_shared:
                    new[id(node)] = self._aside(new[id(node)], made)
            self._tune_for(new[id(plan)])
            yield new[id(plan)]
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
        self._register(name, _Table([part], _width(plan.columns)))
        made.append(name)
        return Scan(name, {column: (column, kind) for column, kind in plan.columns.items()}, plan.keys)

    def _opened(self) -> OpenSession:
        if self._open is None:
            raise EngineError("the engine is closed.", "Ground the model again, or keep what it returned open.")
        return self._open

    @contextmanager
    def _statement(self, label: str = "") -> Iterator[None]:
        """Everything that asks Spark: its jobs carry our tag, its errors become ours."""
        opened = self._opened()
        if self._is_running:  # inside of another statement
            yield
            return
        self._is_running, self._is_interrupted = True, False
        try:
            opened.mark(self._tag)
            yield
        except (DataError, EngineError, OptionError):
            raise
        except KeyboardInterrupt:
            with suppress(Exception):  # what runs on must not; if it cannot be reached, it does not run
                opened.cancel(self._tag)
            raise
        except Exception as error:  # pyspark raises its own errors, py4j's, OSError and AttributeError
            is_stopped = opened.is_stopped()
            if self._is_interrupted and is_cancelled(error) and not is_stopped:
                raise KeyboardInterrupt from error
            raise translated(error, label, is_stopped) from error
        finally:
            self._is_running = False
            with suppress(Exception):  # if the session is gone, so is its tag
                opened.unmark(self._tag)

    def _refuse_interrupted(self) -> None:
        """Between two jobs of a statement nothing can be cancelled, so it is noticed here."""
        if self._is_interrupted:
            raise KeyboardInterrupt


def _is_inner(plan: Plan) -> bool:
    return isinstance(plan, Join) and plan.kind == "inner"


def _is_dear(plan: Plan) -> bool:
    """Whether a plan is more than a look at a stored table."""
    return any(isinstance(node, Join | Union | Distinct | Aggregate) for node in nodes(plan))


def _rebuilt(node: Plan, new: dict[int, Plan]) -> Plan:
    """A node over what has taken the place of its inputs."""
    if all(new[id(part)] is part for part in node.inputs):
        return node
    if isinstance(node, Join):
        return replace(node, left=new[id(node.left)], right=new[id(node.right)])
    if isinstance(node, Union):
        return replace(node, parts=tuple(new[id(part)] for part in node.parts))
    return replace(node, input=new[id(node.inputs[0])])  # type: ignore[call-arg]


def _union(parts: Sequence[_Part]) -> DataFrame:
    frame = parts[0].frame
    for part in parts[1:]:
        frame = frame.union(part.frame)
    return frame


def _partitions(opened: OpenSession, rows: int) -> int:
    most = int(opened.session.conf.get("spark.sql.shuffle.partitions"))
    return max(1, min(most, rows // 100_000))


def _width(types: dict[str, Type]) -> int:
    return sum(_BYTES.get(kind, 8) for kind in types.values()) or 8


def _unpersist(part: _Part, is_remote: bool) -> None:
    """Let Spark forget stored rows now; by itself it would when the JVM collects garbage."""
    if part.is_stored_by_spark and not is_remote:
        part.frame._jdf.queryExecution().analyzed().rdd().unpersist(False)


def _remove_folder(session: SparkSession, folder: str) -> None:
    if "://" not in folder:
        shutil.rmtree(Path(folder), ignore_errors=True)
        return
    context = session._sc
    path = context._jvm.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)


def _array(column: pa.ChunkedArray, kind: Type) -> Cells:
    wanted = ARRAY_TYPES[kind]
    if kind == Type.TEXT:
        return np.asarray(column.to_numpy()).astype(object)
    if column.null_count:
        fill = {Type.REAL: float("nan"), Type.NUMBER_OF_ROW: -1, Type.BOOLEAN: False}.get(kind, 0)
        column = column.fill_null(fill)
    return np.asarray(column.to_numpy()).astype(wanted, copy=False)
