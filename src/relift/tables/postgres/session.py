"""A session of relift's own on a PostgreSQL server, over ADBC: typed batches both ways, binary COPY underneath.

It is opened from an address, or beside a connection that the user has (the same server, user and password; the
connection itself is neither used nor closed). Statements run one at a time, each as a prepared statement, so that a
second statement hidden in a text is refused by the server. A session looks for functions and operators only where the
server keeps its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard, TypeVar, final

from relift.errors import DataError, EngineError, MissingPackageError
from relift.tables.engine import Row
from relift.tables.postgres.address import is_address, shown_address
from relift.tables.postgres.errors import cannot_connect, in_our_words
from relift.tables.sql.write import text_in

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa
    from adbc_driver_manager import dbapi

T = TypeVar("T")
DIALECT = "postgres"
_SETTINGS = {
    "application_name": "relift",
    "client_encoding": "UTF8",
    "client_min_messages": "warning",
    "standard_conforming_strings": "on",
    "DateStyle": "ISO, YMD",
    "TimeZone": "UTC",
    "extra_float_digits": "1",
    "synchronous_commit": "off",
    "jit": "off",
}
"""As text: dates look the same everywhere. No waiting for disks, since nothing that is written here need survive."""
_IF_KNOWN = {"client_connection_check_interval": "1s"}
"""Settings of newer servers: a statement ends when the client has died."""

SECONDS_TO_STOP = 10.0
"""A statement that is cancelled and runs on for so long is left to the server."""


@final
class PostgresSession:
    """One session; used as a context manager, or closed.

    Parameters
    ----------
    server
        An address (``postgresql://…``), or an open psycopg or ADBC connection.
    timeout
        Seconds that a statement may take; None for the setting of the server.
    settings
        Further settings of the session.
    """

    def __init__(self, server: object, *, timeout: float | None = None, settings: dict[str, str] | None = None) -> None:
        self._lock = threading.RLock()
        self._is_cancelled = False
        self._connection: dbapi.Connection | None = None
        self.shown = _shown(server)
        self._connection = self._call(lambda: _connected(server, self.shown))
        try:
            wanted = _SETTINGS | (settings or {})
            if timeout is not None:
                wanted |= {"statement_timeout": f"{max(1, round(timeout * 1000))}ms"}
            self.search_path: tuple[str, ...] = tuple(self.rows("SELECT current_schemas(true)")[0][0])
            self.set(wanted | {"search_path": "pg_catalog, pg_temp"})
            with suppress(EngineError):
                self.set(_IF_KNOWN)
        except BaseException:
            self.close()
            raise

    def set(self, settings: Mapping[str, str]) -> None:
        """Change settings of the session."""
        calls = [f"set_config({text_in(DIALECT, k)}, {text_in(DIALECT, v)}, false)" for k, v in settings.items()]
        self.rows(f"SELECT {', '.join(calls)}")

    def run(self, statement: str, label: str = "") -> int:
        """Run a statement; how many rows it touched."""

        def work(cursor: dbapi.Cursor) -> int:
            cursor.execute(statement)
            return int(cursor.rowcount)

        return self._with_cursor(work, statement, label)

    def rows(self, query: str, label: str = "") -> list[Row]:
        """The rows of a query with a small answer."""
        table = self.table(query, label)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def table(self, query: str, label: str = "") -> pa.Table:
        """The rows of a query as an Arrow table."""

        def work(cursor: dbapi.Cursor) -> pa.Table:
            cursor.execute(query)
            return cursor.fetch_arrow_table()

        return self._with_cursor(work, query, label)

    def batches(self, query: str, use: Callable[[pa.RecordBatchReader], T], label: str = "") -> T:
        """Pass the rows of a query to a function, batch by batch as they arrive."""
        import pyarrow as pa

        failures: list[Exception] = []

        def work(cursor: dbapi.Cursor) -> T:
            cursor.execute(query)
            found = cursor.fetch_record_batch()

            def told() -> Iterator[pa.RecordBatch]:
                try:
                    yield from found
                except Exception as error:  # the function may wrap it in an error of its own
                    failures.append(error)
                    raise

            try:
                return use(pa.RecordBatchReader.from_batches(found.schema, told()))
            except Exception as error:  # noqa: BLE001 - raised on the next line, or the one that caused it
                raise failures[0] if failures else error from None

        return self._with_cursor(work, query, label)

    def ingest(self, table: str, batches: pa.RecordBatchReader, schema: str = "", label: str = "") -> int:
        """Add batches to a stored table (a temporary one, unless a schema is given); how many rows."""

        def work(cursor: dbapi.Cursor) -> int:
            return int(
                cursor.adbc_ingest(table, batches, mode="append", db_schema_name=schema or None, temporary=not schema)
            )

        return self._with_cursor(work, "", label)

    def cancel(self) -> None:
        """Stop the running statement; may be called from another thread."""
        connection = self._connection
        if connection is not None:
            self._is_cancelled = True
            with suppress(Exception):
                connection.adbc_cancel()

    def close(self) -> None:
        """End the session, and a statement that is running in it. Closing twice is harmless."""
        if not hasattr(self, "_lock"):
            return
        if not self._lock.acquire(blocking=False):
            self.cancel()
            if not self._lock.acquire(timeout=SECONDS_TO_STOP):
                return  # the statement cannot be stopped; the server ends the session with this process
        try:
            connection, self._connection = self._connection, None
            if connection is not None:
                with suppress(Exception):
                    connection.close()
        finally:
            self._lock.release()

    def __enter__(self) -> PostgresSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PostgresSession({self.shown})"

    def _with_cursor(self, work: Callable[[dbapi.Cursor], T], statement: str, label: str) -> T:
        if "\0" in statement:
            raise DataError("a text holds the character NUL, which PostgreSQL cannot store.", "Remove it.")
        with self._lock:
            if self._connection is None:
                raise EngineError("the engine is closed.", "Ground the model again, or keep what it returned open.")
            self._is_cancelled = False
            start = time.monotonic()
            try:
                cursor = self._connection.cursor()
                try:
                    return self._call(lambda: work(cursor))
                finally:
                    if self._connection is not None:  # else a statement runs on in it
                        with suppress(Exception):
                            cursor.close()
            except _errors() as error:
                raise self._translated(error, label, time.monotonic() - start) from error

    def _translated(self, error: Exception, label: str, seconds: float) -> BaseException:
        if self._is_cancelled and getattr(error, "sqlstate", "57014") == "57014":
            return KeyboardInterrupt()
        return in_our_words(error, self.shown, label, seconds)

    def _stop(self, has_ended: Callable[[], bool]) -> None:
        """Cancel the running statement until it ends, since a request may be lost; or give up its connection."""
        deadline = time.monotonic() + SECONDS_TO_STOP
        self.cancel()
        while not has_ended():
            if time.monotonic() > deadline:
                self._connection = None
                return
            self.cancel()

    def _call(self, work: Callable[[], T]) -> T:
        """Run work that blocks so that Ctrl-C ends it: in the main thread it is done beside it."""
        if threading.current_thread() is not threading.main_thread():
            return work()
        outcome: list[T] = []
        failure: list[BaseException] = []
        # A bare lock: a join that Ctrl-C interrupts takes a running thread for a dead one, and to close a connection on
        # which a statement runs ends the process; an interrupted wait of an Event may keep its own lock for ever.
        runs = threading.Lock()
        runs.acquire()

        def beside() -> None:
            try:
                outcome.append(work())
            except BaseException as error:  # noqa: BLE001 - raised below, in the main thread
                failure.append(error)
            finally:
                runs.release()

        try:
            try:
                threading.Thread(target=beside, daemon=True).start()
            except RuntimeError:  # the interpreter is ending and starts no threads any more
                beside()
            # Without a limit the signal may reach another thread, and this one sleeps on.
            while not runs.acquire(timeout=0.1):
                pass
        except BaseException:
            self._stop(lambda: bool(outcome or failure) or runs.acquire(timeout=0.1))
            raise
        if failure:
            raise failure[0]
        return outcome[0]


def _adbc() -> ModuleType:
    try:
        import adbc_driver_postgresql.dbapi as adbc
        import pyarrow as pa  # noqa: F401 - ADBC hands out Arrow tables only with it
    except ImportError as error:
        raise MissingPackageError(
            "PostgreSQL is read and written with adbc-driver-postgresql and pyarrow, which are not installed.",
            "Install them: pip install 'relift[postgres]'.",
        ) from error
    module: ModuleType = adbc
    return module


def _errors() -> tuple[type[Exception], ...]:
    """What ADBC raises, and Arrow where batches break off."""
    import pyarrow as pa

    return _adbc().Error, pa.ArrowException, OSError


def _shown(server: object) -> str:
    if is_address(server):
        return shown_address(server)
    info = None if getattr(server, "closed", False) else getattr(server, "info", None)
    if info is not None and hasattr(info, "dbname"):
        port = f":{info.port}" if info.host and not info.host.startswith("/") and info.port else ""
        place = f"{info.host}{port}" if info.host and not info.host.startswith("/") else ""
        return f"postgresql://{info.user}@{place}/{info.dbname}"
    return "the PostgreSQL server"


def _connected(server: object, shown: str) -> dbapi.Connection:
    """An ADBC connection of our own, in autocommit mode."""
    adbc = _adbc()
    home = type(server).__module__.partition(".")[0]
    try:
        if is_address(server):
            own: dbapi.Connection = adbc.connect(server, autocommit=True)
            return own
        if _is_psycopg(server):
            beside: dbapi.Connection = adbc.connect(_words_of_psycopg(server), autocommit=True)
            return beside
        if _is_adbc(server):
            vendor = server.adbc_get_info().get("vendor_name")
            if vendor != "PostgreSQL":
                raise EngineError(f"the ADBC connection leads to {vendor}, not to PostgreSQL.")
            clone = server.adbc_clone()
            clone.adbc_connection.set_autocommit(True)
            return clone
        failure = EngineError(
            f"a connection of {home} is not known here.",
            "Give the address of the server (postgresql://…), or a connection of psycopg (version 3) or ADBC.",
        )
    except adbc.Error as error:
        failure = cannot_connect(error, server if is_address(server) else "", shown)
    # Raised out here, so that it does not carry the error of the client library, which may hold pieces of a password.
    raise failure


def _is_psycopg(server: object) -> TypeGuard[psycopg.Connection]:
    return type(server).__module__.partition(".")[0] == "psycopg"


def _is_adbc(server: object) -> TypeGuard[dbapi.Connection]:
    return type(server).__module__.partition(".")[0].startswith("adbc_driver")


def _words_of_psycopg(connection: psycopg.Connection) -> str:
    if connection.closed:
        raise EngineError("the connection to PostgreSQL is closed.", "Open it again.")
    words = dict(connection.info.get_parameters())
    if connection.info.password:
        words["password"] = connection.info.password
    words.pop("sslcertmode", None)  # not known to every version of the client library
    return " ".join(f"{key}={_quoted(str(value))}" for key, value in words.items())


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
