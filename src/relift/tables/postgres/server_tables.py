"""The user's tables on a PostgreSQL server: finding them by name, the types of their columns, and the query that reads.

Every column is cast on the server to one of three types: whole numbers, doubles, or text compared by code points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeAlias, final

from relift.errors import DataError
from relift.tables.algebra import Type
from relift.tables.engine import Row
from relift.tables.sources.canonical import TEMPORAL, refuse_key, refuse_moment
from relift.tables.sources.table import Source
from relift.tables.sql.canonical import Reading, postgres_reading
from relift.tables.sql.write import name_in, text_in

DIALECT = "postgres"
_KINDS = "'r', 'p', 'v', 'm', 'f'"
"""Tables, partitioned tables, views, materialised views, foreign tables."""
_PRIVATE = (
    "c.relpersistence = 't' OR pg_catalog.row_security_active(c.oid) "
    "OR (c.relkind = 'v' AND EXISTS (SELECT FROM pg_catalog.pg_class AS s WHERE s.relrowsecurity))"
)

Ask: TypeAlias = Callable[[str], list[Row]]
"""Answers a query with a few rows."""


@final
@dataclass(frozen=True)
class ServerTable:
    """A table or view of the user's.

    Parameters
    ----------
    schema, name
        Where it is.
    columns
        The chosen columns in the order of the arguments, and how each is read.
    is_private
        Whether what it shows depends on the session: a temporary table, one with row security for this user, or a view
        where there is row security.
    """

    schema: str
    name: str
    columns: tuple[tuple[str, Reading], ...]
    is_private: bool

    @property
    def types(self) -> tuple[Type, ...]:
        """What the columns are read as."""
        return tuple(reading.type for _, reading in self.columns)

    def query(self) -> str:
        """A query with the columns ``c0, c1, ...``."""
        outputs = [
            f"{reading.of(name_in(DIALECT, column))} AS c{position}"
            for position, (column, reading) in enumerate(self.columns)
        ]
        return f"SELECT {', '.join(outputs)} FROM {name_in(DIALECT, self.schema, self.name)}"


def find_table(ask: Ask, parts: Sequence[str], search_path: Sequence[str], source: Source, server: str) -> ServerTable:
    """Find a table by the parts of its name.

    Parameters
    ----------
    ask
        Answers queries.
    parts
        ``(table,)``, ``(schema, table)`` or ``(database, schema, table)``.
    search_path
        Schemas to look into, if none is given.
    source
        Whose it is, and which columns are chosen.
    server
        For messages.

    Raises
    ------
    DataError
        If there is no such table, a column is missing, or holds something that is neither number nor text.
    """
    if len(parts) > 3 or any("\0" in part or not part for part in parts):
        raise DataError(f"{source.label}: {'.'.join(parts)!r} is not the name of a table.", "Write schema.table.")
    if len(parts) == 3 and ask("SELECT current_database()::text")[0][0] != parts[0]:
        raise DataError(f"{source.label}: {parts[0]!r} is another database.", f"The connection is to {server}.")
    *schemas, name = parts[-2:]
    places = schemas or list(search_path)
    array = ", ".join(text_in(DIALECT, place) for place in places)
    found = ask(
        f"SELECT c.oid::bigint, n.nspname::text, ({_PRIVATE})::int FROM pg_catalog.pg_class AS c "
        "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
        f"WHERE c.relname = {text_in(DIALECT, name)} AND c.relkind IN ({_KINDS}) "
        f"AND n.nspname = ANY(ARRAY[{array}]::text[]) "
        f"ORDER BY array_position(ARRAY[{array}]::text[], n.nspname::text) LIMIT 1"
    )
    if not found:
        near = get_close_matches(name, visible_tables(ask, places), 1)
        hint = f"Did you mean {near[0]!r}?" if near else "Names are taken as they are written, capitals too."
        raise DataError(f"{source.label}: there is no table or view {'.'.join(parts)!r} on {server}.", hint)
    oid, schema, is_private = found[0]
    described = ask(
        "SELECT a.attname::text, CASE WHEN t.typtype = 'e' OR b.typtype = 'e' THEN 'enum' "
        "WHEN t.typtype = 'd' THEN b.typname::text ELSE t.typname::text END "
        "FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid "
        "LEFT JOIN pg_catalog.pg_type AS b ON b.oid = t.typbasetype "
        f"WHERE a.attrelid = {int(oid)} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
    )
    chosen = [described[k] for k in source.choose([column for column, _ in described])]
    columns = [
        (column, postgres_reading(source.label, column, kind, source.is_key(k)))
        for k, (column, kind) in enumerate(chosen)
    ]
    where = name_in(DIALECT, schema, name)
    return ServerTable(schema, name, _settled(ask, source.label, where, columns), bool(is_private))


def visible_tables(ask: Ask, schemas: Sequence[str]) -> list[str]:
    """Names of the tables and views in some schemas, the server's own left out."""
    array = ", ".join(text_in(DIALECT, schema) for schema in schemas if schema != "pg_catalog")
    found = ask(
        "SELECT DISTINCT c.relname::text FROM pg_catalog.pg_class AS c "
        "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
        f"WHERE c.relkind IN ({_KINDS}) AND n.nspname = ANY(ARRAY[{array}]::text[]) ORDER BY 1"
    )
    return [name for (name,) in found]


def _settled(ask: Ask, label: str, where: str, columns: list[tuple[str, Reading]]) -> tuple[tuple[str, Reading], ...]:
    """Look at the values where types do not tell: decimals that are keys may be rounded, dates infinite."""
    settled = []
    for column, reading in columns:
        value = name_in(DIALECT, column)
        if reading.is_moment:
            text = reading.of(value)
            is_bad = f"{text} !~ {text_in(DIALECT, f'^{TEMPORAL}$')} OR {text} LIKE '0000%'"
            found = ask(f"SELECT CAST({value} AS TEXT) FROM {where} WHERE {is_bad} LIMIT 1")
            if found:
                raise refuse_moment(label, column, found[0][0])
        settled.append((column, _of_decimals(ask, label, where, column) if reading.is_wide else reading))
    return tuple(settled)


def _of_decimals(ask: Ask, label: str, where: str, column: str) -> Reading:
    """How keys of the type numeric are read: as whole numbers if all are, else as doubles that stand for them."""
    value = name_in(DIALECT, column)
    real = f"CAST({value} AS DOUBLE PRECISION)"
    is_long = f"{value} NOT BETWEEN -9223372036854775808 AND 9223372036854775807"
    is_rounded = f"CAST(CAST({real} AS TEXT) AS NUMERIC) <> {value}"
    broken, long, rounded = ask(
        f"SELECT CAST(coalesce(bool_or({value} <> trunc({value})), false) AS INTEGER), "
        f"min(CASE WHEN {is_long} THEN CAST({value} AS TEXT) END), "
        f"min(CASE WHEN {is_rounded} THEN CAST({value} AS TEXT) END) FROM {where}"
    )[0]
    bad = rounded if broken else long
    if bad is not None:
        raise refuse_key(label, column, bad)
    # A value that has changed meanwhile must not be rounded: the division by zero ends the statement.
    whole = "CASE WHEN {} = trunc({}) THEN CAST({} AS BIGINT) ELSE 1 / (CAST({} AS BIGINT) * 0) END"
    return Reading(Type.REAL, "CAST({} AS DOUBLE PRECISION)") if broken else Reading(Type.INTEGER, whole)
