"""The tables of a server or a connection as the data of a model: a table or view for each name of the model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol, final

from relift.errors import DataError
from relift.grounding.load_data import known_names
from relift.language.checked_model import CheckedModel
from relift.modelling.data_folder import needs_table
from relift.tables.engine import Engine
from relift.tables.postgres.address import is_address, shown_address
from relift.tables.sources.table import TableLike


@final
@dataclass(frozen=True, repr=False)
class ServerTables:
    """Tables of a PostgreSQL server, to be given as ``data=``.

    Parameters
    ----------
    server
        An address (``postgresql://…``), an open connection of psycopg or ADBC, or an engine that is a server.
    schema
        Where the tables are; None for the schemas that the server looks into by itself.
    """

    server: object
    schema: str | None = None

    def __repr__(self) -> str:
        where = shown_address(self.server) if is_address(self.server) else type(self.server).__name__
        return f"ServerTables({where}{'' if self.schema is None else f', schema={self.schema!r}'})"

    def names(self) -> list[str]:
        """Names of the tables and views there."""
        if isinstance(self.server, Engine):
            return self.server.table_names(self.schema)
        from relift.tables.postgres.server_tables import visible_tables
        from relift.tables.postgres.session import PostgresSession

        with PostgresSession(self.server) as session:
            return visible_tables(session.rows, session.search_path if self.schema is None else [self.schema])

    def of_model(
        self, model: CheckedModel, known: Collection[str] = (), only_needed: bool = False
    ) -> dict[str, object]:
        """The tables for a model.

        Parameters
        ----------
        model
            The model.
        known
            Names that have data already, and can do without.
        only_needed
            Leave out names that have data already, or in the model.

        Raises
        ------
        DataError
            If there is none for a name that has no data.
        """
        wanted = {
            name: arity
            for name, arity in known_names(model).items()
            if arity and (not only_needed or (name not in known and needs_table(model, name, arity)))
        }
        there = set(self.names()) if wanted else set()
        found: dict[str, object] = {name: (self.server, self._named(name)) for name in wanted if name in there}
        for name, arity in wanted.items():
            if name not in found and name not in known and needs_table(model, name, arity):
                raise self._missing(model, name, there)
        return found

    def _named(self, name: str) -> str:
        parts = [name] if self.schema is None else [self.schema, name]
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    def _missing(self, model: CheckedModel, name: str, there: set[str]) -> DataError:
        kind = "param" if name in model.parameters else "relation"
        span = (model.parameters.get(name) or model.relations[name]).span
        close = get_close_matches(name, there, 1)
        hint = f"Did you mean it by {close[0]!r}? " if close else ""
        where = "the server" if self.schema is None else f"the schema {self.schema!r} of the server"
        return DataError(
            f"there is no table or view for the {kind} {name!r} in {where}.",
            f"{hint}It has the name of the {kind}; others are given as data={{{name!r}: 'schema.table'}}.",
            model.source.excerpt(span) if model.source.text else "",
            name,
        )


class Connection(Protocol):
    """A connection of DuckDB or SQLite, or one that looks like it."""

    def cursor(self) -> Any:
        """What queries are run with."""


def tables_of_connection(model: CheckedModel, connection: Connection) -> dict[str, TableLike]:
    """The tables and views of a connection of DuckDB or SQLite that have names of the model.

    Raises
    ------
    DataError
        If it is not such a connection, or there is no table for a name that has no data.
    """
    home = type(connection).__module__.partition(".")[0]
    if home in {"duckdb", "_duckdb"} and hasattr(connection, "execute"):
        query = "select table_name from information_schema.tables"
    elif home == "sqlite3":
        query = "select name from sqlite_master where type in ('table', 'view')"
    else:
        raise DataError(
            f"data cannot be given as {type(connection).__name__}.",
            "Give a dict of tables by name, a folder, ServerTables, or a connection of DuckDB or SQLite.",
        )
    cursor = connection.cursor()
    there = {str(row[0]) for row in cursor.execute(query).fetchall()}
    wanted = {name: arity for name, arity in known_names(model).items() if arity}
    for name, arity in wanted.items():
        if name not in there and needs_table(model, name, arity):
            kind = "param" if name in model.parameters else "relation"
            close = get_close_matches(name, there, 1)
            hint = f"Did you mean it by {close[0]!r}? " if close else ""
            raise DataError(
                f"the connection has no table or view for the {kind} {name!r}.",
                f"{hint}It has the name of the {kind}; others are given as data={{{name!r}: (connection, 'table')}}.",
                table=name,
            )
    return {name: (connection, f'"{name}"') for name in wanted if name in there}
