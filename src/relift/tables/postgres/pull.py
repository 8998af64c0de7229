"""Pulling: tables of a PostgreSQL server for an engine elsewhere, read as typed batches, all as of one moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, final

from relift.tables.algebra import Type
from relift.tables.postgres.address import is_address
from relift.tables.postgres.server_tables import find_table
from relift.tables.postgres.session import PostgresSession
from relift.tables.postgres.user_connections import look_up
from relift.tables.sources.contents import ArrowStream
from relift.tables.sources.table import Source, Stored

T = TypeVar("T")


def is_server(connection: object) -> bool:
    """Whether something leads to a PostgreSQL server."""
    home = type(connection).__module__.partition(".")[0]
    is_engine = getattr(connection, "knows_tables", False) and getattr(connection, "name", "") == "postgresql"
    return is_address(connection) or is_engine or home.startswith(("psycopg", "adbc_driver"))


@final
class Readers:
    """Sessions that read, one for each server; all tables of a server are read as of the same moment."""

    def __init__(self) -> None:
        self._sessions: dict[str | int, tuple[object, PostgresSession]] = {}

    def read(self, stored: Stored, source: Source, use: Callable[[ArrowStream, dict[str, Type]], T]) -> T:
        """Pass the chosen columns of a table, ``c0, c1, ...``, to a function.

        Parameters
        ----------
        stored
            Which table.
        source
            Whose it is.
        use
            Called with an Arrow table or stream, and with the types.

        Raises
        ------
        DataError
            If the table cannot be read.
        EngineError
            If the server cannot be reached.
        """
        is_engine = getattr(stored.connection, "knows_tables", False)
        server: object = getattr(stored.connection, "server") if is_engine else stored.connection  # noqa: B009
        stored = Stored(server, stored.name)
        table, rows = (None, None) if is_address(server) else look_up(stored, source)
        if table is None or rows is None:
            session = self._session(server)
        if table is None:
            table = find_table(
                lambda query: session.rows(query, source.label), stored.name, session.search_path, source, session.shown
            )
        types = {f"c{k}": kind for k, kind in enumerate(table.types)}
        if rows is not None:
            return use(rows, types)
        return session.batches(table.query(), lambda batches: use(batches, types), source.label)

    def cancel(self) -> None:
        """Stop what is being read; may be called from another thread."""
        for _, session in list(self._sessions.values()):
            session.cancel()

    def close(self) -> None:
        """End the sessions."""
        for _, session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def _session(self, server: object) -> PostgresSession:
        key = server if is_address(server) else id(server)
        if key not in self._sessions:
            session = PostgresSession(server)
            session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            self._sessions[key] = (server, session)  # the connection too, or another could get its id
        return self._sessions[key][1]
