"""Statements about stored tables, as sqlglot trees: create, insert, drop, count, select.

What an engine asks of its own tables is built here and in :mod:`relift.tables.sql.write`, never as text. Texts of SQL
are left to the modules that look into the user's files and catalogues, whose functions only one dialect has; names and
values get into those by :func:`name_in` and :func:`text_in` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from sqlglot import exp, parse_one

from relift.tables.algebra import Plan, Type
from relift.tables.sql.write import (
    PlanWriter,
    aliased,
    column_of,
    from_source,
    select_of,
    sql_type,
    text_of,
    union_of,
    whole_from_0,
)

Name: TypeAlias = str | tuple[str, ...]
"""A table: its name, or the parts of it: catalogue, schema, name."""

Kind: TypeAlias = Literal["", "TEMPORARY", "UNLOGGED"]
"""How long a table lives, and how safely."""

_DROP: Any = parse_one("DROP TABLE IF EXISTS t")
"""Parsed, not built: versions of sqlglot differ in where such a tree has its table."""


def create_from_plan(
    table: Name, plan: Plan, dialect: str, *, kind: Kind = "", number: tuple[str, tuple[str, ...]] | None = None
) -> str:
    """A statement that stores the rows of a plan in a new table.

    Parameters
    ----------
    table
        The new table.
    plan
        The rows.
    dialect
        Of which engine.
    kind
        How long it lives.
    number
        ``(column, order)``: a column that numbers the rows from 0 in an order.

    Examples
    --------
    >>> from relift.tables.algebra import Scan
    >>> plan = Scan("edge", {"X": ("c0", Type.INTEGER)})
    >>> create_from_plan(("s", "t"), plan, "postgres", kind="UNLOGGED")
    'CREATE UNLOGGED TABLE "s"."t" AS SELECT t."c0" AS "X" FROM "edge" AS t'
    """
    query = PlanWriter(plan).query()
    if number is not None:
        query = _numbered(query, plan, *number, is_streamed=dialect == "duckdb")
    return text_of(_create(table, kind, expression=query), dialect)


def create_empty(table: Name, columns: Mapping[str, Type], dialect: str, *, kind: Kind = "") -> str:
    """A statement that makes a table without rows.

    Examples
    --------
    >>> create_empty("t", {"c0": Type.INTEGER, "c1": Type.TEXT}, "duckdb")
    'CREATE TABLE "t" ("c0" BIGINT, "c1" TEXT)'
    >>> create_empty("t", {"c0": Type.TEXT}, "postgres", kind="TEMPORARY")
    'CREATE TEMPORARY TABLE "t" ("c0" TEXT COLLATE "C")'
    """
    described = [exp.ColumnDef(this=_name(column), kind=sql_type(of)) for column, of in columns.items()]
    schema = exp.Schema(this=_table(table), expressions=described)
    return text_of(_create(table, kind, this=schema), dialect)


def create_cast(table: Name, sources: Sequence[Name], types: Mapping[str, Type], dialect: str) -> str:
    """A statement that stores the rows of other tables, cast to types, in a new one.

    Examples
    --------
    >>> create_cast("t", ["given"], {"c0": Type.REAL}, "duckdb")
    'CREATE TABLE "t" AS SELECT CAST(t."c0" AS DOUBLE) AS "c0" FROM "given" AS t'
    """
    parts: list[exp.Expr] = []
    for source in sources:
        casts = [aliased(exp.Cast(this=column_of("t", name), to=sql_type(of)), name) for name, of in types.items()]
        parts.append(select_of(casts).from_(from_source(_table(source), "t"), copy=False))
    return text_of(_create(table, "", expression=union_of(parts)), dialect)


def insert_from_plan(table: Name, plan: Plan, dialect: str) -> str:
    """A statement that appends the rows of a plan to a table, by the order of the columns."""
    return text_of(exp.Insert(this=_table(table), expression=PlanWriter(plan).query()), dialect)


def drop_table(table: Name, dialect: str) -> str:
    """A statement that removes a table; nothing happens if there is none.

    Examples
    --------
    >>> drop_table(("s", "a table"), "postgres")
    'DROP TABLE IF EXISTS "s"."a table"'
    """
    statement = _DROP.copy()
    statement.find(exp.Table).replace(_table(table))
    return text_of(statement, dialect)


def select_all(table: Name, dialect: str, rows: int | None = None) -> str:
    """A query of all columns of a table, and of all its rows or the first ones."""
    query = exp.Select(expressions=[exp.Star()]).from_(_table(table), copy=False)
    return text_of(query if rows is None else query.limit(rows, copy=False), dialect)


def count_all(table: Name, dialect: str) -> str:
    """A query of how many rows a table has."""
    return text_of(exp.Select(expressions=[exp.Count(this=exp.Star())]).from_(_table(table), copy=False), dialect)


def _create(table: Name, kind: Kind, **parts: exp.Expr) -> exp.Create:
    chosen = {"TEMPORARY": exp.TemporaryProperty, "UNLOGGED": exp.UnloggedProperty}
    properties = exp.Properties(expressions=[chosen[kind]()]) if kind else None
    return exp.Create(**{"this": _table(table), **parts}, kind="TABLE", properties=properties)


def _numbered(query: exp.Select, plan: Plan, column: str, order: tuple[str, ...], *, is_streamed: bool) -> exp.Select:
    """A query with a column that numbers its rows.

    DuckDB numbers an ordered subquery as it streams past: a third of the cost of ``row_number() OVER (ORDER BY ...)``.
    """
    keys = [exp.Ordered(this=exp.Column(this=_name(key))) for key in order]
    window = exp.Window(this=exp.RowNumber(), order=None)
    if keys and is_streamed:
        inner = exp.Select(expressions=[exp.Star()]).from_(from_source(exp.Subquery(this=query), "o"), copy=False)
        query = inner.order_by(*keys, copy=False)
    elif keys:
        window.set("order", exp.Order(expressions=keys))
    columns = [aliased(column_of("t", name), name) for name in plan.columns]
    numbered = select_of([*columns, aliased(whole_from_0(window), column)])
    return numbered.from_(from_source(exp.Subquery(this=query), "t"), copy=False)


def _name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _table(name: Name) -> exp.Table:
    parts = (name,) if isinstance(name, str) else name
    outer = [_name(part) for part in reversed(parts[:-1])]
    return exp.Table(this=_name(parts[-1]), **dict(zip(("db", "catalog"), outer, strict=False)))
