"""The user's tables on a PostgreSQL server: finding them by name, the types of their columns, and the query that reads.

Every column is cast on the server to one of three types: whole numbers, doubles, or text compared by code points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias, final

from relift.errors import DataError
from relift.tables.algebra import Type
from relift.tables.sources import Source
from relift.tables.write_sql import name_in, text_in

DIALECT = "postgres"
SQL_TYPES = {Type.INTEGER: "BIGINT", Type.REAL: "DOUBLE PRECISION", Type.TEXT: 'TEXT COLLATE "C"'}
"""Columns of stored tables."""
_TYPES = {
    **dict.fromkeys(["int2", "int4", "int8", "bool"], Type.INTEGER),
    **dict.fromkeys(["float4", "float8", "numeric"], Type.REAL),
    **dict.fromkeys(["text", "varchar", "bpchar", "name", "char", "citext", "uuid"], Type.TEXT),
    **dict.fromkeys(["date", "time", "timetz", "timestamp", "timestamptz", "enum"], Type.TEXT),
}
_KINDS = "'r', 'p', 'v', 'm', 'f'"
"""Tables, partitioned tables, views, materialised views, foreign tables."""
_PRIVATE = (
    "c.relpersistence = 't' OR pg_catalog.row_security_active(c.oid) "
    "OR (c.relkind = 'v' AND EXISTS (SELECT FROM pg_catalog.pg_class AS s WHERE s.relrowsecurity))"
)

Ask: TypeAlias = Callable[[str], list[tuple[Any, ...]]]
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
        The chosen columns in the chosen order, with the names of their types on the server.
    types
        What they are read as.
    is_private
        Whether what it shows depends on the session: a temporary table, one with row security for this user, or a view
        where there is row security.
    """

    schema: str
    name: str
    columns: tuple[tuple[str, str], ...]
    types: tuple[Type, ...]
    is_private: bool

    def query(self) -> str:
        """A query with the columns ``c0, c1, ...``."""
        outputs = []
        for position, ((column, kind), found) in enumerate(zip(self.columns, self.types, strict=True)):
            value = f"CAST({name_in(DIALECT, column)} AS INTEGER)" if kind == "bool" else name_in(DIALECT, column)
            kind_of, collate, order = SQL_TYPES[found].partition(" COLLATE")
            outputs.append(f"CAST({value} AS {kind_of}){collate}{order} AS c{position}")
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
        raise DataError(f"{source.label}: {'.'.join(parts)!r} is no name of a table.", "Write schema.table.")
    if len(parts) == 3 and ask("SELECT current_database()::text")[0][0] != parts[0]:
        raise DataError(f"{source.label}: {parts[0]!r} is another database.", f"Connected is {server}.")
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
    columns = tuple(described[k] for k in source.choose([column for column, _ in described]))
    types = tuple(_type(source.label, column, kind) for column, kind in columns)
    return ServerTable(schema, name, columns, types, bool(is_private))


def visible_tables(ask: Ask, schemas: Sequence[str]) -> list[str]:
    """Names of the tables and views in some schemas, the server's own left out."""
    array = ", ".join(text_in(DIALECT, schema) for schema in schemas if schema != "pg_catalog")
    found = ask(
        "SELECT DISTINCT c.relname::text FROM pg_catalog.pg_class AS c "
        "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
        f"WHERE c.relkind IN ({_KINDS}) AND n.nspname = ANY(ARRAY[{array}]::text[]) ORDER BY 1"
    )
    return [name for (name,) in found]


def _type(label: str, column: str, kind: str) -> Type:
    if kind not in _TYPES:
        raise DataError(
            f"{label}: the column {column!r} holds {kind}.", "Keys are numbers or text, values are numbers."
        )
    return _TYPES[kind]
