"""DuckDB inside this process: the engine that is always there.

The connection is relift's own and lives in memory, unless it is given a file. Once all tables are loaded it is sealed:
no files, no extensions, no change of settings, whatever a plan might say. Results arrive as NumPy arrays, filled by
DuckDB itself.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, final

import duckdb
import numpy as np

from relift.arrays import Cells, Tuples
from relift.errors import DataError, EngineError
from relift.settings import ProgressCallback
from relift.tables.algebra import Filter, Limit, Plan, Scan, Type, Unit, literal
from relift.tables.close_at_exit import close_at_exit
from relift.tables.duckdb.errors import first_line, in_our_words
from relift.tables.duckdb.reader import DuckDBReader
from relift.tables.duckdb.room import memory_under_limit
from relift.tables.engine import ARRAY_TYPES, Arrays, Engine, Row, refuse_rows
from relift.tables.memory.columns import Relation, Vector
from relift.tables.memory.growing import numbers_of, vector_of
from relift.tables.memory.string_ids import Texts
from relift.tables.recursion import MOST_TUPLES, RecursiveRules, close_rules
from relift.tables.sources.columns_from_objects import none_where_masked
from relift.tables.sources.contents import ArrowStream, File, Stored
from relift.tables.sources.table import Source
from relift.tables.sql.statements import (
    create_cast,
    create_empty,
    create_from_plan,
    drop_table,
    insert_from_plan,
    select_all,
)
from relift.tables.sql.write import count_from_plan, select_from_plan, text_in

if TYPE_CHECKING:
    import pyarrow as pa

    from relift.tables.postgres.pull import Readers

DIALECT = "duckdb"


T = TypeVar("T")


@final
class DuckDBEngine(Engine):
    """An embedded DuckDB with its own connection.

    Parameters
    ----------
    memory_limit
        How much memory DuckDB may use before it spills to disk, such as ``"4GB"``; None for 80 % of the machine, or
        half of what is left under a limit on the address space (``ulimit -v``).
    temporary_folder
        Where it spills to; None for a folder of its own, removed by `close`.
    spill_limit
        How much it may spill there, such as ``"50GB"``; None for 90 % of what is free.
    database
        A file that holds the tables, and keeps them when the process ends; None to hold them in memory.
    threads
        How many threads it uses; None for all cores, or one under such a limit.
    progress
        Progress callback.

    Examples
    --------
    >>> from relift.tables.algebra import Scan, Type
    >>> from relift.tables.sources.table import source_from_data
    >>> with DuckDBEngine() as engine:
    ...     columns = engine.attach("edge", source_from_data("edge", [(1, 2), (2, 3)]))
    ...     engine.count(Scan("edge", {"X": ("c0", columns["c0"])}), cap=10)
    2
    """

    name = "duckdb"

    def __init__(
        self,
        *,
        memory_limit: str | None = None,
        temporary_folder: str | None = None,
        spill_limit: str | None = None,
        database: str | Path | None = None,
        threads: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        super().__init__(progress)
        self._own_folder = None if temporary_folder else tempfile.mkdtemp(prefix="relift-")
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": temporary_folder or self._own_folder or "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": True,
        }
        room = memory_under_limit()
        if memory_limit is not None:
            settings["memory_limit"] = memory_limit
        elif room is not None:
            settings["memory_limit"] = f"{room}B"
        if threads is not None or room is not None:
            settings["threads"] = threads or 1  # under a limit, the stack of another thread may be too much
        self.is_persistent = database is not None
        self._is_sealed = False
        self._readers: Readers | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None
        close_at_exit(self)
        try:
            self._connection = duckdb.connect(":memory:" if database is None else str(database), config=settings)
            if spill_limit is not None:  # as a part of the settings above it would be shown, but not kept
                self._connection.execute(f"SET max_temp_directory_size = {text_in(DIALECT, spill_limit)}")
        except duckdb.Error as error:
            self.close()
            raise EngineError(f"DuckDB does not start: {first_line(error)}") from error

    # --- the five methods -------------------------------------------------------------------------------------------

    def attach(self, name: str, source: Source) -> dict[str, Type]:
        """Read a source into a table of its own."""
        if isinstance(source.content, File) and self._is_sealed:  # read by a connection that may, and passed on
            with closing(DuckDBEngine()) as other:
                types = other.attach(name, source)
                self.put(name, other.stored_columns(name), types, other.count(Scan(name, {}), 2**62))
                return types
        return DuckDBReader(self._opened(), self._do, self._pull).attach(name, source)

    def create(
        self, name: str, plan: Plan, *, number: tuple[str, tuple[str, ...]] | None = None, budget: int | None = None
    ) -> int:
        """Store a plan; the limit is part of the query, so nothing larger is ever stored."""
        limited = plan if budget is None else Limit(plan, budget + 1)
        rows = int(self._run(create_from_plan(name, limited, DIALECT, number=number))[0][0])
        if budget is not None and rows > budget:
            self.drop(name)
            raise refuse_rows("a result", rows, budget)
        return rows

    def append(self, name: str, plan: Plan) -> int:
        """Add rows to a table."""
        return int(self._run(insert_from_plan(name, plan, DIALECT))[0][0])

    def close_rules(self, rules: RecursiveRules, names: Mapping[str, str], most: int) -> list[int] | None:
        """Fetch the rules as whole numbers, follow tuples one by one, and store what was found."""
        texts = Texts()

        def numbered(plan: Plan, columns: tuple[tuple[str, Type], ...]) -> Tuples:
            arrays = self.fetch(plan)
            size = next(iter(arrays.values())).size if arrays else self.count(plan, 1)
            vectors = {}
            for name, kind in plan.columns.items():
                data = texts.numbers(arrays[name].tolist()) if kind == Type.TEXT else arrays[name]
                vectors[name] = Vector(kind, data)
            return numbers_of(Relation(vectors, size), columns)

        closed = close_rules(rules, numbered, min(most, MOST_TUPLES))
        if closed is None:
            return None
        tuples, matches = closed
        for predicate, found in tuples.items():
            types = {f"c{k}": kind for k, kind in enumerate(rules.types[predicate])}
            vectors = [vector_of(kind, found[:, k]) for k, kind in enumerate(rules.types[predicate])]
            arrays = {
                name: texts.array()[v.data] if v.type == Type.TEXT else v.data
                for name, v in zip(types, vectors, strict=True)
            }
            self.put(names[predicate], arrays, types, found.shape[0])
        return matches

    def count(self, plan: Plan, cap: int) -> int:
        """Count with a LIMIT inside."""
        return int(self._run(count_from_plan(plan, cap, DIALECT))[0][0])

    def fetch(self, plan: Plan, *, budget: int | None = None) -> Arrays:
        """Columns filled by DuckDB."""
        limited = plan if budget is None else Limit(plan, budget + 1)
        found = self._columns(select_from_plan(limited, DIALECT))
        columns = {name: _filled(found[name], kind) for name, kind in plan.columns.items()}
        size = len(next(iter(found.values()))) if found else 0
        if budget is not None and size > budget:
            raise refuse_rows("a result", size, budget)
        return columns

    def arrow(self, plan: Plan) -> pa.Table:
        """The rows of a plan as an Arrow table (needs pyarrow), for engines that read it."""
        with in_our_words():
            return self._opened().sql(select_from_plan(plan, DIALECT)).to_arrow_table()

    def put(self, name: str, arrays: Arrays, types: Mapping[str, Type], size: int) -> None:
        """Store columns under their own names; None stands for what is missing."""
        if not types:
            self.create(name, Unit() if size else Filter(Unit(), literal(False)))
            return
        if not size:
            self._run(create_empty(name, types, DIALECT))
            return
        view = f"{name}_given"
        connection = self._opened()
        connection.register(view, dict(arrays))
        try:
            self._run(create_cast(name, [view], types, DIALECT))
        finally:
            with suppress(duckdb.Error):
                connection.unregister(view)

    def stored_columns(self, name: str) -> Arrays:
        """All columns of a stored table, with None where something is missing."""
        found = self._columns(select_all(name, DIALECT))
        return {column: _with_none(values) for column, values in found.items()}

    def drop(self, name: str) -> None:
        """Forget a table."""
        self._run(drop_table(name, DIALECT))

    def tables(self) -> list[str]:
        """Names of all stored tables."""
        return [name for (name,) in self._run("SELECT table_name FROM duckdb_tables() ORDER BY table_name")]

    def explain(self, plan: Plan) -> str:
        """The SQL of a plan."""
        return select_from_plan(plan, DIALECT)

    def seal(self) -> None:
        """No files, no extensions, no change of settings from here on."""
        self._end_readers()
        if not self._is_sealed:
            self._run("SET enable_external_access = false")
            self._run("SET lock_configuration = true")
            self._is_sealed = True

    def interrupt(self) -> None:
        """Stop the running query, also one of a server that is read from."""
        if self._readers is not None:
            self._readers.cancel()
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """Close the connection and remove the spill folder."""
        self._end_readers()
        connection, self._connection = getattr(self, "_connection", None), None
        if connection is not None:
            with suppress(duckdb.Error):
                connection.close()
        folder, self._own_folder = getattr(self, "_own_folder", None), None
        if folder:
            shutil.rmtree(folder, ignore_errors=True)

    def _end_readers(self) -> None:
        readers, self._readers = getattr(self, "_readers", None), None
        if readers is not None:
            readers.close()

    def __del__(self) -> None:
        self.close()

    # --- statements -------------------------------------------------------------------------------------------------

    def _do(self, statement: str | Callable[[], object], label: str = "") -> list[Row]:
        """Run a statement, or a call of DuckDB, for the reader of tables."""
        if isinstance(statement, str):
            return self._run(statement, label)
        with in_our_words(label):
            statement()
        return []

    def _pull(self, content: Stored, source: Source, use: Callable[[ArrowStream, dict[str, Type]], T]) -> T:
        """Read a table of a server; the rows go from there into DuckDB batch by batch."""
        from relift.tables.postgres.pull import Readers, is_server

        if not is_server(content.connection):
            kind = type(content.connection).__name__
            raise DataError(
                f"{source.label} was given with a {kind}, which cannot be read from.",
                "Give a connection of DuckDB, psycopg or ADBC, an engine, or the address of a server (postgresql://…).",
            )
        if self._readers is None:
            self._readers = Readers()
        return self._readers.read(content, source, use)

    def _run(self, statement: str, label: str = "") -> list[Row]:
        """Run a statement and take its whole result; an unfinished one would block the connection."""
        connection = self._opened()
        with in_our_words(label):
            return connection.execute(statement).fetchall()

    def _columns(self, query: str) -> Arrays:
        connection = self._opened()
        with in_our_words():
            return connection.execute(query).fetchnumpy()

    def _opened(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            raise EngineError("the engine is closed.", "Ground the model again, or keep what it returned open.")
        return self._connection


def _filled(found: Cells, kind: Type) -> Cells:
    wanted = ARRAY_TYPES[kind]
    if np.ma.isMaskedArray(found):
        if kind == Type.REAL:
            return np.ma.filled(found.astype(np.float64), np.nan)
        if kind == Type.NUMBER_OF_ROW:
            return np.ma.filled(found.astype(np.int32), -1)
        if kind == Type.TEXT:
            return none_where_masked(found)
        return np.ma.filled(found, 0).astype(wanted)
    return found if found.dtype == wanted else found.astype(wanted)


def _with_none(values: Cells) -> Cells:
    if not np.ma.isMaskedArray(values):
        return values.astype(np.int64) if values.dtype.kind == "b" else values
    if not values.mask.any():
        return values.data
    if values.dtype.kind == "f":
        return np.ma.filled(values, np.nan)
    return none_where_masked(values)
