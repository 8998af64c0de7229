"""PostgreSQL as an engine: tables are loaded into a session of relift's own on the server and joined there (pushing).

The user's tables are only read: the columns that are needed are copied, inside of a transaction that is read-only for
the server itself, and all tables as of the same moment. What relift makes are temporary tables, which the server
removes with the session, however it ends. With ``workspace="schema"`` they are tables of a schema with a
random name instead, which parallel queries can read; it is removed by `close`, and what a dead process left there is
found and removed by the next one (see `relift.tables.postgres.schema`). In a schema that the user names they are kept,
so that work that was cut off can go on.

For data that fit here it is quicker to pull: read the tables from the server and ground with DuckDB
(``engine="duckdb"`` and ``(address, "schema.table")`` as data).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Literal, final, get_args

import numpy as np

from relift.arrays import Cells
from relift.errors import EngineError
from relift.settings import ProgressCallback, check_choice
from relift.tables.algebra import Limit, Plan, Scan, Type
from relift.tables.close_at_exit import close_at_exit
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import ARRAY_TYPES, Arrays, Engine, refuse_rows
from relift.tables.postgres.address import is_address
from relift.tables.postgres.schema import OwnSchema
from relift.tables.postgres.server_tables import ServerTable, find_table, visible_tables
from relift.tables.postgres.session import DIALECT, PostgresSession
from relift.tables.postgres.user_connections import look_up
from relift.tables.sources.table import Source, Stored
from relift.tables.sql.statements import Kind, create_empty, create_from_plan, drop_table, insert_from_plan
from relift.tables.sql.write import count_from_plan, name_in, select_from_plan

if TYPE_CHECKING:
    import pyarrow as pa

Workspace = Literal["temporary", "schema"]
_WORK_MEMORY = "64MB"
_CHOSEN = (
    "SELECT name FROM pg_catalog.pg_settings WHERE name IN ('work_mem', 'temp_buffers') "
    "AND source IN ('client', 'user', 'database', 'database user')"
)
_WORTH_ANALYSING = 1000
"""Rows from which on the planner of the server is told what a table holds."""


@final
class PostgresEngine(Engine):
    """A session of its own on a PostgreSQL server (version 12 or newer, encoding UTF8).

    Parameters
    ----------
    server
        An address (``postgresql://user@host/database``), or an open connection of psycopg (version 3) or ADBC, beside
        which a session is opened; the connection itself is not used, nor closed.
    workspace
        ``"temporary"``: temporary tables. ``"schema"``: tables of a schema of its own, which needs the right to
        create one; parallel queries can read them.
    schema
        A schema that keeps the tables when the session ends; it is made if it is not there, and no other session can
        work in it meanwhile.
    work_memory
        What each sort and each join of a query may use before it goes to disk; as ``work_mem`` of the server. None for
        what is set for the user, the database or the connection, and 64 MB if nothing is.
    timeout
        Seconds that one statement may take; None for the setting of the server.
    progress
        Progress callback.
    """

    name = "postgresql"
    knows_tables = True

    def __init__(
        self,
        server: object = "postgresql://",
        *,
        workspace: Workspace = "temporary",
        schema: str | None = None,
        work_memory: str | None = None,
        timeout: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        super().__init__(progress)
        check_choice("workspace", workspace, get_args(Workspace))
        self._session: PostgresSession | None = None
        self._snapshot: tuple[PostgresSession, str] | None = None
        self._schema: OwnSchema | None = None
        self._reader: DuckDBEngine | None = None
        self.server = server
        # Without statistics of what joins give, a loop over all pairs may look fast, and take hours.
        self._session = session = PostgresSession(server, timeout=timeout, settings={"enable_nestloop": "off"})
        close_at_exit(self)
        try:
            _refuse_encoding(session)
            _set_memory(session, work_memory)
            if workspace == "schema" or schema is not None:
                self._schema = OwnSchema(session, schema)
                self.is_persistent = schema is not None
        except BaseException:
            self.close()
            raise

    # --- the five methods -------------------------------------------------------------------------------------------

    def attach(self, name: str, source: Source) -> dict[str, Type]:
        """Copy a table of the same server inside of it; anything else is sent there as typed batches."""
        if isinstance(source.content, Stored) and (table := self._here(source.content, source)) is not None:
            return self._copy(name, source, table)
        if self._reader is None:  # it reads every kind of source, so that all engines find the same in it
            self._reader = DuckDBEngine()
        columns = self._reader.attach("given", source)
        if not columns:
            return {}
        try:
            scan = Scan("given", {column: (column, kind) for column, kind in columns.items()})
            return self._send(name, source, columns, self._reader.arrow(scan))
        finally:
            self._reader.drop("given")

    def create(
        self, name: str, plan: Plan, *, number: tuple[str, tuple[str, ...]] | None = None, budget: int | None = None
    ) -> int:
        """Store a plan; the limit is part of the query, so nothing larger is ever stored."""
        limited = plan if budget is None else Limit(plan, budget + 1)
        rows = self._now().run(create_from_plan(self._named(name), limited, DIALECT, kind=self._kind, number=number))
        if budget is not None and rows > budget:
            self.drop(name)
            raise refuse_rows("a result", rows, budget)
        self._analyse(name, rows)
        return rows

    def append(self, name: str, plan: Plan) -> int:
        """Add rows to a table."""
        return self._now().run(insert_from_plan(self._named(name), plan, DIALECT))

    def count(self, plan: Plan, cap: int) -> int:
        """Count with a LIMIT inside."""
        return int(self._now().rows(count_from_plan(plan, cap, DIALECT))[0][0])

    def fetch(self, plan: Plan, *, budget: int | None = None) -> Arrays:
        """Columns from Arrow batches."""
        limited = plan if budget is None else Limit(plan, budget + 1)
        found = self._now().table(select_from_plan(limited, DIALECT))
        if budget is not None and found.num_rows > budget:
            raise refuse_rows("a result", found.num_rows, budget)
        return {
            name: _filled(found.column(position), kind) for position, (name, kind) in enumerate(plan.columns.items())
        }

    def drop(self, name: str) -> None:
        """Forget a table."""
        self._now().run(drop_table(self._named(name), DIALECT))

    def tables(self) -> list[str]:
        """Names of all tables in the schema that is worked in; temporary ones outlive nothing."""
        return [] if self._schema is None else visible_tables(self._now().rows, [self._schema.name])

    def explain(self, plan: Plan) -> str:
        """The SQL of a plan."""
        return select_from_plan(plan, DIALECT)

    def table_names(self, schema: str | None = None) -> list[str]:
        """Names of the user's tables and views."""
        session = self._now()
        return visible_tables(session.rows, session.search_path if schema is None else [schema])

    def seal(self) -> None:
        """Loading is over: the moment as of which tables were read is let go, so that the server can clean up."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()
        snapshot, self._snapshot = self._snapshot, None
        if snapshot is not None:
            snapshot[0].close()

    def interrupt(self) -> None:
        """Stop the running query."""
        if self._session is not None:
            self._session.cancel()

    def close(self) -> None:
        """Remove what is left on the server and end the session."""
        session, self._session = getattr(self, "_session", None), None
        if session is None:
            return
        self.seal()
        if self._schema is not None and not self.is_persistent:
            self._schema.remove()
        session.close()

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PostgresEngine({'closed' if self._session is None else self._session.shown})"

    # --- tables -----------------------------------------------------------------------------------------------------

    def _here(self, content: Stored, source: Source) -> ServerTable | None:
        """A table that this session can read; None if it lies elsewhere, or only the user's connection sees it."""
        is_same = content.connection is self or content.connection is self.server
        if not is_same and not (is_address(self.server) and content.connection == self.server):
            return None
        if content.connection is not self and not is_address(content.connection):
            table, rows = look_up(content, source)
            return table if rows is None else None
        self._moment()
        assert self._snapshot is not None
        session = self._snapshot[0]  # it sees the rows that will be copied, and no others
        return find_table(
            lambda query: session.rows(query, source.label), content.name, session.search_path, source, session.shown
        )

    def _copy(self, name: str, source: Source, table: ServerTable) -> dict[str, Type]:
        columns = {f"c{k}": kind for k, kind in enumerate(table.types)}
        session = self._now()
        self._create_empty(name, columns)
        # Temporary tables may be written in transactions that are read-only for all others.
        mode = "" if self._schema is not None else " READ ONLY"
        session.run(f"BEGIN ISOLATION LEVEL REPEATABLE READ{mode}")
        try:
            session.run(f"SET TRANSACTION SNAPSHOT '{self._moment()}'")
            rows = session.run(f"INSERT INTO {name_in(DIALECT, *self._named(name))} {table.query()}", source.label)
            session.run("COMMIT")
        except BaseException:
            with suppress(EngineError):  # the connection may be lost
                session.run("ROLLBACK")
                self.drop(name)
            raise
        self._analyse(name, rows)
        return columns if rows else dict.fromkeys(columns, Type.NOTHING)

    def _moment(self) -> str:
        """The moment as of which all tables are read, held by a second session until the engine is sealed."""
        if self._snapshot is None:
            holder = PostgresSession(self.server)
            try:
                holder.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                self._snapshot = holder, str(holder.rows("SELECT pg_export_snapshot()")[0][0])
            except BaseException:
                holder.close()
                raise
        return self._snapshot[1]

    def _send(self, name: str, source: Source, columns: dict[str, Type], table: pa.Table) -> dict[str, Type]:
        self._create_empty(name, columns)
        if table.num_rows:
            schema = "" if self._schema is None else self._schema.name
            try:
                self._now().ingest(name, table.to_reader(), schema, source.label)
            except BaseException:
                with suppress(EngineError):
                    self.drop(name)
                raise
            self._analyse(name, table.num_rows)
        return columns

    def _create_empty(self, name: str, columns: dict[str, Type]) -> None:
        self._now().run(create_empty(self._named(name), columns, DIALECT, kind=self._kind))

    @property
    def _kind(self) -> Kind:
        return "TEMPORARY" if self._schema is None else "" if self.is_persistent else "UNLOGGED"

    def _named(self, name: str) -> tuple[str, str]:
        return "pg_temp" if self._schema is None else self._schema.name, name

    def _analyse(self, name: str, rows: int) -> None:
        if rows >= _WORTH_ANALYSING:
            self._now().run(f"ANALYZE {name_in(DIALECT, *self._named(name))}")

    def _now(self) -> PostgresSession:
        if self._session is None:
            raise EngineError("the engine is closed.", "Ground the model again, or keep what it returned open.")
        return self._session


def _set_memory(session: PostgresSession, wanted: str | None) -> None:
    """Memory of sorts and joins, and of temporary tables; what somebody has chosen stays, unless more is known."""
    chosen = {name for (name,) in session.rows(_CHOSEN)}
    names = [name for name in ("work_mem", "temp_buffers") if wanted is not None or name not in chosen]
    if names:
        session.set(dict.fromkeys(names, wanted or _WORK_MEMORY))


def _refuse_encoding(session: PostgresSession) -> None:
    encoding = str(session.rows("SELECT current_setting('server_encoding')")[0][0])
    if encoding != "UTF8":
        raise EngineError(
            f"{session.shown} stores text as {encoding}, whose order is another one than that of UTF8.",
            "Ground with engine='duckdb'; tables of this server can be its data.",
        )


def _filled(column: pa.ChunkedArray, kind: Type) -> Cells:
    wanted = ARRAY_TYPES[kind]
    if column.null_count and kind not in {Type.REAL, Type.TEXT}:
        column = column.fill_null(-1 if kind == Type.NUMBER_OF_ROW else 0)
    found: Cells = column.to_numpy()
    if kind == Type.TEXT and found.dtype != wanted:
        return found.astype(object)
    return found if found.dtype == wanted else np.asarray(found.astype(wanted))
