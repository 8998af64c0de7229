"""Functions of texts and dates, and series of numbers, in the words of each dialect: placeholders, replaced at the end.

Dates and timestamps are texts in canonical form (:mod:`relift.tables.sources.canonical`); what is not one gives NULL.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp

from relift.tables.sources.canonical import ZONE

_SERIES = "RELIFT_SERIES"
_MOMENT = "RELIFT_MOMENT_"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?)?"
_PLAIN, _ZONED = f"^{_DATE}$", f"^{_DATE.removesuffix('?')}[+]00:00$"
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


def series(first: exp.Expr, last: exp.Expr) -> exp.Expr:
    """One row for each whole number, in the list of a select."""
    return exp.Anonymous(this=_SERIES, expressions=[first, last])


def text_function(operation: str, parts: list[exp.Expr]) -> exp.Expr:
    """A function of texts that all dialects know, or a placeholder for one of dates."""
    bigint = exp.DataType(this=exp.DataType.Type.BIGINT)
    if operation == "length":
        return exp.Cast(this=exp.Length(this=parts[0]), to=bigint)
    if operation in {"lower", "upper"}:
        letters = (_UPPER, _LOWER) if operation == "lower" else (_LOWER, _UPPER)
        return exp.Anonymous(this="TRANSLATE", expressions=[parts[0], *map(exp.Literal.string, letters)])
    if operation == "concat":
        joined: exp.Expr = exp.Cast(this=parts[0], to=exp.DataType(this=exp.DataType.Type.VARCHAR))
        for part in parts[1:]:
            text = exp.Cast(this=part, to=exp.DataType(this=exp.DataType.Type.VARCHAR))
            joined = exp.DPipe(this=joined, expression=text, safe=False)
        return exp.Paren(this=joined)
    if operation == "substring":
        start, count = (exp.Cast(this=part, to=exp.DataType(this=exp.DataType.Type.INT)) for part in parts[1:])
        is_there = exp.and_(
            exp.GTE(this=start.copy(), expression=exp.Literal.number(1)),
            exp.GTE(this=count.copy(), expression=exp.Literal.number(0)),
        )
        found = exp.Substring(this=parts[0], start=start, length=count)
        return exp.Case(ifs=[exp.If(this=is_there, true=found)])
    return exp.Anonymous(this=_MOMENT + operation, expressions=parts)


def with_text_functions(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The tree with the words of a dialect in place of the placeholders."""
    for node in reversed(list(tree.find_all(exp.Anonymous))):  # inner ones first
        if node.this == _SERIES:
            first, last = node.expressions
            node.replace(_template(_SERIES_IN[dialect], dialect, first, last))
        elif isinstance(node.this, str) and node.this.startswith(_MOMENT):
            operation = node.this.removeprefix(_MOMENT)
            node.replace(_template(_of_moment(operation, dialect), dialect, *node.expressions))
    return tree


def _template(template: str, dialect: str, *parts: exp.Expr) -> exp.Expr:
    """The tree of a template in which ``arg0`` and ``arg1`` stand for other trees."""
    tree = sqlglot.parse_one(template, read=dialect)
    for column in list(tree.find_all(exp.Column)):
        column.replace(exp.Paren(this=parts[int(column.name.removeprefix("arg"))].copy()))
    return tree


def _of_moment(operation: str, dialect: str) -> str:
    matches, moment, text, later = _WORDS[dialect]
    zoned = "SUBSTRING(arg0, 1, LENGTH(arg0) - 6)"
    if operation == "shift":
        plain_text = text.format(later.format(moment.format("arg0")))
        zoned_text = text.format(later.format(moment.format(zoned)))
        plain_text = f"REGEXP_REPLACE({plain_text}, ' 00:00:00$', '')"
        return (
            f"CASE WHEN {matches.format('arg0', _PLAIN)} THEN {plain_text} "
            f"WHEN {matches.format('arg0', _ZONED)} THEN {zoned_text} || '{ZONE}' END"
        )
    part = _PARTS[dialect][operation]
    return (
        f"CASE WHEN {matches.format('arg0', _PLAIN)} THEN {part.format(moment.format('arg0'))} "
        f"WHEN {matches.format('arg0', _ZONED)} THEN {part.format(moment.format(zoned))} END"
    )


_DUCKDB_TEXT = r"REGEXP_REPLACE(REGEXP_REPLACE(CAST({} AS VARCHAR), '([.][0-9]*[1-9])0+$', '\\1'), '[.]0+$', '')"
_WORDS: Mapping[str, tuple[str, str, str, str]] = {
    "duckdb": (
        "REGEXP_MATCHES({}, '{}')",
        "TRY_CAST({} AS TIMESTAMP)",
        _DUCKDB_TEXT,
        "({} + TO_MICROSECONDS(CAST(ROUND(arg1 * 1000000) AS BIGINT)))",
    ),
    "postgres": (
        "{} ~ '{}'",
        "CAST({} AS TIMESTAMP)",
        "CAST({} AS VARCHAR)",
        "({} + MAKE_INTERVAL(0, 0, 0, 0, 0, 0, CAST(arg1 AS DOUBLE PRECISION)))",
    ),
    "spark": (
        "{} RLIKE '{}'",
        "TRY_CAST({} AS TIMESTAMP_NTZ)",
        "CAST({} AS STRING)",
        "({} + MAKE_DT_INTERVAL(0, 0, 0, CAST(arg1 AS DECIMAL(18, 6))))",
    ),
}
"""How a text is tested, read as a timestamp, how that is written as text, and how it is moved."""


def _parts(weekday: str) -> dict[str, str]:
    plain = {
        name: f"CAST(EXTRACT({name.upper()} FROM {{}}) AS BIGINT)"
        for name in ("year", "month", "day", "hour", "minute")
    }
    return {**plain, "weekday": weekday}


_PARTS: Mapping[str, Mapping[str, str]] = {
    "duckdb": _parts("CAST(ISODOW({}) AS BIGINT)"),
    "postgres": _parts("CAST(EXTRACT(ISODOW FROM {}) AS BIGINT)"),
    "spark": _parts("CAST(WEEKDAY({}) + 1 AS BIGINT)"),
}
_SERIES_IN: Mapping[str, str] = {
    "duckdb": "UNNEST(GENERATE_SERIES(arg0, arg1))",
    "postgres": "GENERATE_SERIES(arg0, arg1)",
    "spark": "EXPLODE(SEQUENCE(arg0, arg1))",
}
