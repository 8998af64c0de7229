"""Reading through a connection to PostgreSQL that is the user's: psycopg (version 3) or ADBC.

A session of relift's own is quicker and leaves the connection alone, but it cannot see what the connection has not
committed, nor its temporary tables, nor an older moment that its transaction looks at; nor would row security that
depends on the role or settings of the connection hold for it. `look_up` finds out, and fetches the rows through the
connection only then. Whatever happens, it happens inside a transaction that is rolled back, or a savepoint if a
transaction is open: the state of the connection is afterwards what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from relift.errors import EngineError
from relift.tables.engine import Row
from relift.tables.postgres.copy_binary import columns_from_copy
from relift.tables.postgres.errors import in_our_words
from relift.tables.postgres.server_tables import ServerTable, find_table
from relift.tables.sources.table import Source, Stored

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager import dbapi

_SERVER = "the server of the connection"
_IS_PLAIN = (
    "SELECT (txid_current_if_assigned() IS NULL AND current_user = session_user "
    "AND current_setting('transaction_isolation') = 'read committed')::int"
)
"""Whether a transaction has written nothing, sees what is committed meanwhile, and is in the role that logged in."""
_SETTINGS = ("SET LOCAL DateStyle = 'ISO, YMD'", "SET LOCAL extra_float_digits = 1")
"""How values look as text, until the transaction or savepoint is rolled back."""
_SCHEMAS = "SELECT unnest(current_schemas(true))::text"


class _Borrowed(Protocol):
    """A connection of the user's, inside of a transaction or savepoint."""

    def ask(self, query: str) -> list[Row]: ...

    def fetch(self, table: ServerTable) -> pa.Table: ...


def look_up(stored: Stored, source: Source) -> tuple[ServerTable, pa.Table | None]:
    """Find a table as the user's connection sees it; with its rows, if a session of our own would see others.

    Raises
    ------
    DataError
        If there is no such table, or it may not be read.
    EngineError
        If the connection is closed, busy, or in a failed transaction.
    """
    home = type(stored.connection).__module__.partition(".")[0]
    borrow: Callable[[Any, str], AbstractContextManager[_Borrowed]] = _psycopg if home == "psycopg" else _adbc
    with borrow(stored.connection, source.label) as borrowed:
        is_plain = bool(borrowed.ask(_IS_PLAIN)[0][0])
        schemas = [name for (name,) in borrowed.ask(_SCHEMAS)]
        table = find_table(borrowed.ask, stored.name, schemas, source, _SERVER)
        return table, None if is_plain and not table.is_private else borrowed.fetch(table)


@contextmanager
def _psycopg(connection: object, label: str) -> Iterator[_Borrowed]:
    import psycopg
    import pyarrow as pa

    if not isinstance(connection, psycopg.Connection):
        kind = type(connection).__name__
        raise EngineError(f"{label}: an {kind} of psycopg cannot be read from.", "Give a Connection, or the address.")
    if connection.closed:
        raise EngineError(f"{label}: the connection is closed.", "Open it again.")
    status = connection.info.transaction_status.name
    if status in {"INERROR", "ACTIVE"}:
        why = "its transaction has failed" if status == "INERROR" else "it is busy"
        raise EngineError(f"{label} cannot be read from the connection: {why}.", "Roll it back, or wait.")

    class Borrowed:
        def ask(self, query: str) -> list[Row]:
            return list(cursor.execute(query).fetchall())

        def fetch(self, table: ServerTable) -> pa.Table:
            with cursor.copy(f"COPY ({table.query()}) TO STDOUT (FORMAT binary)") as copy:
                columns = columns_from_copy([bytes(piece) for piece in copy], table.types)
            return pa.table({f"c{k}": column for k, column in enumerate(columns)})

    try:
        rows = psycopg.rows.tuple_row
        with connection.transaction(force_rollback=True), connection.cursor(row_factory=rows) as cursor:
            for setting in _SETTINGS:
                cursor.execute(setting)
            yield Borrowed()
    except psycopg.Error as error:
        raise in_our_words(error, _SERVER, label, 0) from error


@contextmanager
def _adbc(connection: dbapi.Connection, label: str) -> Iterator[_Borrowed]:
    from adbc_driver_manager import Error

    def table_of(query: str) -> pa.Table:
        with connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetch_arrow_table()

    def run(statement: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement)

    class Borrowed:
        def ask(self, query: str) -> list[Row]:
            return list(zip(*(column.to_pylist() for column in table_of(query).columns), strict=True))

        def fetch(self, table: ServerTable) -> pa.Table:
            return table_of(table.query())

    try:
        end = ["ROLLBACK TO SAVEPOINT relift_reads", "RELEASE SAVEPOINT relift_reads"]
        try:
            run("SAVEPOINT relift_reads")
        except Error as error:
            if error.sqlstate != "25P01":  # in autocommit mode there is no transaction to stay in
                raise
            run("BEGIN")
            end = ["ROLLBACK"]
        try:
            for setting in _SETTINGS:
                run(setting)
            yield Borrowed()
        finally:
            for statement in end:
                run(statement)
    except Error as error:
        raise in_our_words(error, _SERVER, label, 0) from error
