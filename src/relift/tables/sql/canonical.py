"""Canonical keys (see `relift.tables.sources.canonical`) in SQL of DuckDB, PostgreSQL and Spark: one row for each type.

A column of decimals or of whole numbers of more than 64 bits is `wide`: only its values tell what it can be read as.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from relift.tables.algebra import Type
from relift.tables.sources.canonical import refuse_kind

MOST_DIGITS = 15
"""Decimals of so many digits are all different as doubles, and are read back as they were."""
_MOST_WHOLE_DIGITS = 18


@final
@dataclass(frozen=True)
class Reading:
    """How a column is read.

    Parameters
    ----------
    type
        What it becomes; for a wide one if all its values allow it.
    sql
        A template: ``{}`` stands for the column.
    is_moment
        Whether it is a date or a time, which may have no canonical form.
    is_wide
        Whether the values must be looked at first.
    is_whole
        For a wide one: whether it can only hold whole numbers.
    """

    type: Type
    sql: str
    is_moment: bool = False
    is_wide: bool = False
    is_whole: bool = False

    def of(self, column: str) -> str:
        """The expression over a column, given as it is written in SQL."""
        return self.sql.replace("{}", column)


def duckdb_reading(label: str, column: str, kind: str, is_key: bool) -> Reading:
    """How DuckDB reads a column of a type.

    Parameters
    ----------
    label, column
        The table and the column, for messages.
    kind
        The type, as DuckDB names it.
    is_key
        Whether the column is a key; values are rounded to doubles.

    Raises
    ------
    DataError
        If it holds neither numbers nor text.
    """
    base = kind.partition("(")[0].upper().strip('"')
    if "[" in kind:
        raise refuse_kind(label, column, kind.lower())
    if base == "DECIMAL":
        return _decimal(kind, is_key, "BIGINT", "DOUBLE")
    if base not in _DUCKDB:
        raise refuse_kind(label, column, kind.lower())
    return _DUCKDB[base]


def postgres_reading(label: str, column: str, kind: str, is_key: bool) -> Reading:
    """How PostgreSQL reads a column of a type; see :func:`duckdb_reading`."""
    if kind == "numeric":
        return Reading(Type.REAL, "CAST({} AS DOUBLE PRECISION)", is_wide=is_key)
    if kind not in _POSTGRES:
        raise refuse_kind(label, column, kind)
    return _POSTGRES[kind]


def spark_reading(label: str, column: str, kind: str, is_key: bool) -> Reading:
    """How Spark reads a column of a type; see :func:`duckdb_reading`."""
    base = kind.partition("(")[0].partition(" ")[0].lower()
    if base == "decimal":
        return _decimal(kind, is_key, "BIGINT", "DOUBLE")
    if base not in _SPARK:
        raise refuse_kind(label, column, kind)
    return _SPARK[base]


def _decimal(kind: str, is_key: bool, whole: str, real: str) -> Reading:
    precision, scale = (int(number) for number in re.findall(r"\d+", kind)[:2])
    if scale == 0 and precision <= _MOST_WHOLE_DIGITS:
        return Reading(Type.INTEGER, f"CAST({{}} AS {whole})")
    is_wide = is_key and precision > MOST_DIGITS
    return Reading(Type.REAL, f"CAST({{}} AS {real})", is_wide=is_wide, is_whole=is_wide and scale == 0)


def _each(names: str, reading: Reading) -> dict[str, Reading]:
    return dict.fromkeys(names.split(), reading)


def _duckdb_moment(value: str) -> str:
    """A timestamp as text, without zeros at the end of its fraction."""
    return rf"regexp_replace(regexp_replace(CAST({value} AS VARCHAR), '(\.[0-9]*[1-9])0+$', '\1'), '\.0+$', '')"


_DUCKDB_PLAIN = f"regexp_replace({_duckdb_moment('{}')}, ' 00:00:00$', '')"
_DUCKDB: Mapping[str, Reading] = {
    **_each("TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER", Reading(Type.INTEGER, "CAST({} AS BIGINT)")),
    **_each("BOOLEAN", Reading(Type.INTEGER, "CAST({} AS BIGINT)")),
    **_each("UBIGINT HUGEINT UHUGEINT", Reading(Type.INTEGER, "CAST({} AS BIGINT)", is_wide=True, is_whole=True)),
    **_each("FLOAT DOUBLE", Reading(Type.REAL, "CAST({} AS DOUBLE)")),
    **_each("VARCHAR ENUM UUID NULL", Reading(Type.TEXT, "CAST({} AS VARCHAR)")),
    **_each("DATE", Reading(Type.TEXT, "CAST({} AS VARCHAR)", is_moment=True)),
    **_each("TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS", Reading(Type.TEXT, _DUCKDB_PLAIN, is_moment=True)),
    "TIMESTAMP WITH TIME ZONE": Reading(
        Type.TEXT, f"{_duckdb_moment('make_timestamp(epoch_us({}))')} || '+00:00'", is_moment=True
    ),
    "TIMESTAMPTZ_NS": Reading(
        Type.TEXT, f"{_duckdb_moment('make_timestamp_ns(epoch_ns({}))')} || '+00:00'", is_moment=True
    ),
    **_each("TIME TIME_NS", Reading(Type.TEXT, _duckdb_moment("{}"), is_moment=True)),
}
_TEXT_C = 'CAST({} AS TEXT) COLLATE "C"'
_POSTGRES: Mapping[str, Reading] = {
    **_each("int2 int4 int8", Reading(Type.INTEGER, "CAST({} AS BIGINT)")),
    **_each("bool", Reading(Type.INTEGER, "CAST(CAST({} AS INTEGER) AS BIGINT)")),
    **_each("float4 float8", Reading(Type.REAL, "CAST({} AS DOUBLE PRECISION)")),
    **_each("text varchar bpchar name char citext uuid enum", Reading(Type.TEXT, _TEXT_C)),
    **_each("date time", Reading(Type.TEXT, _TEXT_C, is_moment=True)),
    "timestamp": Reading(Type.TEXT, "regexp_replace(CAST({} AS TEXT), ' 00:00:00$', '') COLLATE \"C\"", is_moment=True),
    "timestamptz": Reading(
        Type.TEXT, "(CAST({} AT TIME ZONE 'UTC' AS TEXT) || '+00:00') COLLATE \"C\"", is_moment=True
    ),
}
_SPARK: Mapping[str, Reading] = {
    **_each("tinyint smallint int bigint boolean", Reading(Type.INTEGER, "CAST({} AS BIGINT)")),
    **_each("float double", Reading(Type.REAL, "CAST({} AS DOUBLE)")),
    **_each("string char varchar void", Reading(Type.TEXT, "CAST({} AS STRING)")),
    **_each("date time", Reading(Type.TEXT, "CAST({} AS STRING)", is_moment=True)),
    "timestamp": Reading(Type.TEXT, "concat(CAST({} AS STRING), '+00:00')", is_moment=True),
    "timestamp_ntz": Reading(Type.TEXT, "regexp_replace(CAST({} AS STRING), ' 00:00:00$', '')", is_moment=True),
}
"""The session must be in UTC: Spark's timestamps are moments, and are shown in the zone of the session."""
