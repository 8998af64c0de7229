"""Tables of the Spark engine: rows that Spark keeps, that travel from the driver with queries, or that lie in files.

Every stored table is a leaf: its rows are kept by Spark (``localCheckpoint``), its plan is forgotten, so that plans
of recursions and rounds do not grow. Tables of up to `SMALL` rows are kept at the driver instead, and travel with the
queries: most queries of most models are that small, and a job of Spark takes 50 ms whatever it does.

Rows are numbered without a global ``row_number``, which would bring them all to one task: they are sorted into ranges,
each range is numbered on its own, and the sizes of the ranges before it are added.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from relift.tables.algebra import Type
from relift.tables.spark.session import OpenSession
from relift.tables.spark.statements import Statements
from relift.tables.sql.write import name_in

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

DIALECT = "spark"
SMALL = 20_000
"""Results of up to so many rows are kept at the driver."""
BROADCAST_BYTES = 10_000_000
"""Tables up to this size are sent to every task rather than shuffled."""
MOST_PARTS = 8
"""A table that has grown in more parts than this is put together."""
_BYTES = {Type.TEXT: 40, Type.WIDE: 32}


@dataclass
class Part:
    """Rows that are stored: by Spark, at the driver, or in files."""

    frame: DataFrame
    rows: int
    is_stored_by_spark: bool
    folder: str = ""


@dataclass
class StoredTable:
    """A table under a name; its parts have the same columns."""

    parts: list[Part]
    width: int
    """Bytes of a row, roughly."""

    @property
    def rows(self) -> int:
        """Rows of all parts."""
        return sum(part.rows for part in self.parts)


@final
class Storage:
    """The tables of one engine.

    Parameters
    ----------
    statements
        How Spark is asked.
    """

    def __init__(self, statements: Statements) -> None:
        self.ask = statements
        self.tables: dict[str, StoredTable] = {}

    # --- rows -------------------------------------------------------------------------------------------------------

    def from_arrow(self, table: pa.Table) -> DataFrame:
        """Rows of an Arrow table, as a frame of Spark."""
        opened = self.ask.session
        with warnings.catch_warnings(), opened.without_trace():
            warnings.simplefilter("ignore", FutureWarning)
            return opened.session.createDataFrame(table)

    def collected(self, frame: DataFrame, number: tuple[str, tuple[str, ...]] | None = None) -> Part:
        """Rows that are kept at the driver, numbered in an order if there is one."""
        import pyarrow as pa

        if number is not None and number[1]:
            frame = frame.orderBy(*(name_in(DIALECT, column) for column in number[1]))
        table = self.ask.arrow(frame)
        if number is not None:
            table = table.append_column(number[0], pa.array(np.arange(table.num_rows)))
        return Part(self.from_arrow(table), table.num_rows, is_stored_by_spark=False)

    def kept(self, frame: DataFrame, is_final: bool = True) -> Part:
        """Rows that Spark calculates now and keeps, with a plan that is only these rows."""
        self.ask.refuse_interrupted()
        part = Part(frame.localCheckpoint(eager=False), -1, is_stored_by_spark=True)
        try:
            self.ask.refuse_interrupted()
            part.rows = int(part.frame.count())  # the first look at all rows is when they are calculated and kept
        except BaseException:
            with suppress(Exception):  # what was kept so far; a session that is gone keeps nothing
                self.forget(part)
            raise
        if is_final and part.rows <= SMALL:
            small = self.collected(part.frame)
            self.forget(part)
            return small
        return part

    def numbered(self, part: Part, column: str, order: tuple[str, ...]) -> Part:
        """Number rows in an order: by ranges, each with the sizes of those before it added."""
        if part.rows <= SMALL:
            small = self.collected(part.frame, (column, order))
            self.forget(part)
            return small
        if order:
            keys = [name_in(DIALECT, key) for key in order]
            ranged = self.kept(part.frame.orderBy(*keys), is_final=False)
            self.forget(part)
            part = ranged
        sizes = self.ask.arrow(part.frame.selectExpr("spark_partition_id() AS p").groupBy("p").count())
        found = dict(zip(sizes.column("p").to_pylist(), sizes.column("count").to_pylist(), strict=True))
        in_order = np.array([found.get(partition, 0) for partition in range(max(found) + 1)], dtype=np.int64)
        offsets = np.cumsum(in_order) - in_order
        before = ", ".join(f"{offset}L" for offset in offsets)
        numbers = (
            f"array({before})[spark_partition_id()] + monotonically_increasing_id()"
            f" - shiftleft(CAST(spark_partition_id() AS BIGINT), 33) AS {name_in(DIALECT, column)}"
        )
        # Stored once more: the numbers hold for the partitions as they are here, and not inside of other queries.
        numbered = self.kept(part.frame.selectExpr("*", numbers), is_final=False)
        self.forget(part)
        return numbered

    def merged(self, parts: Sequence[Part]) -> Part:
        """Several parts as one."""
        rows = sum(part.rows for part in parts)
        self.ask.session.tune(is_small=rows <= SMALL)
        union = _union(parts)
        merged = (
            self.collected(union) if rows <= SMALL else self.kept(union.coalesce(_partitions(self.ask.session, rows)))
        )
        for part in parts:
            self.forget(part)
        return merged

    def forget(self, part: Part) -> None:
        """Let Spark forget rows, and remove their files."""
        _unpersist(part, self.ask.session.is_remote)
        if part.folder:
            remove_folder(self.ask.session.session, part.folder)

    # --- tables -----------------------------------------------------------------------------------------------------

    def register(self, name: str, table: StoredTable) -> None:
        """Make a table known to queries."""
        frame = _union(table.parts)
        if table.rows * table.width <= BROADCAST_BYTES:
            frame = frame.hint("broadcast")
        frame.createOrReplaceTempView(name)
        self.tables[name] = table

    def replace_parts(self, name: str, part: Part) -> None:
        """Put one part in the place of all parts of a table."""
        table = self.tables[name]
        self.register(name, replace(table, parts=[part]))
        for old in table.parts:
            self.forget(old)

    def add_part(self, name: str, part: Part) -> None:
        """Add rows to a table; many small parts are put together."""
        table = self.tables[name]
        parts = [*table.parts, part]
        if len(parts) > MOST_PARTS:  # the smallest ones, so that no row is copied often
            parts.sort(key=lambda p: p.rows, reverse=True)
            parts = [parts[0], self.merged(parts[1:])]
        self.register(name, replace(table, parts=parts))

    def drop(self, name: str) -> bool:
        """Forget a table; whether there was one."""
        table = self.tables.pop(name, None)
        if table is None or self.ask.opened is None:
            return False
        with self.ask.statement():
            self.ask.session.session.catalog.dropTempView(name)
            for part in table.parts:
                self.forget(part)
        return True

    def drop_all(self, opened: OpenSession) -> None:
        """Forget all tables at the end of an engine."""
        tables, self.tables = self.tables, {}
        for name, table in tables.items():
            opened.session.catalog.dropTempView(name)
            for part in table.parts:
                _unpersist(part, opened.is_remote)


def width_of(types: dict[str, Type]) -> int:
    """Bytes of a row, roughly."""
    return sum(_BYTES.get(kind, 8) for kind in types.values()) or 8


def remove_folder(session: SparkSession, folder: str) -> None:
    """Remove a folder, on this machine or where Hadoop knows it."""
    if "://" not in folder:
        shutil.rmtree(Path(folder), ignore_errors=True)
        return
    context = session._sc
    path = context._jvm.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)


def _union(parts: Sequence[Part]) -> DataFrame:
    frame = parts[0].frame
    for part in parts[1:]:
        frame = frame.union(part.frame)
    return frame


def _partitions(opened: OpenSession, rows: int) -> int:
    most = int(opened.session.conf.get("spark.sql.shuffle.partitions"))
    return max(1, min(most, rows // 100_000))


def _unpersist(part: Part, is_remote: bool) -> None:
    """Let Spark forget stored rows now; by itself it would when the JVM collects garbage."""
    if part.is_stored_by_spark and not is_remote:
        part.frame._jdf.queryExecution().analyzed().rdd().unpersist(False)
