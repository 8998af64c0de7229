"""Keys in Spark whose types do not tell what they can be read as: decimals, and dates without a canonical form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relift.tables.algebra import Type
from relift.tables.sources.canonical import TEMPORAL, refuse_key, refuse_moment
from relift.tables.sql.canonical import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def settled_types(frame: DataFrame, label: str, names: Sequence[str], readings: Sequence[Reading]) -> dict[str, Type]:
    """What the columns ``c0, c1, ...`` of a stored frame are read as.

    Parameters
    ----------
    frame
        The rows; wide columns are as they were, all others as their reading says.
    label, names
        The table and what the user calls its columns, for messages.
    readings
        How the columns are read.

    Raises
    ------
    DataError
        If a key would be rounded, or a date has no canonical form.
    """
    types = {f"c{k}": reading.type for k, reading in enumerate(readings)}
    questions: list[str] = []
    for column, reading in zip(types, readings, strict=True):
        if reading.is_moment:
            bad = f"NOT {column} RLIKE '^{TEMPORAL.replace(chr(92), chr(92) * 2)}$' OR {column} LIKE '0000%'"
            questions.append(f"min(IF({bad}, {column}, NULL)) AS bad_{column}")
        if reading.is_wide:
            kind = dict(frame.dtypes)[column]
            near = f"try_cast(CAST(CAST({column} AS DOUBLE) AS STRING) AS {kind})"
            questions += [
                f"coalesce(max({column} <> floor({column})), false) AS broken_{column}",
                f"min(IF(try_cast({column} AS BIGINT) IS NULL, CAST({column} AS STRING), NULL)) AS long_{column}",
                f"min(IF({column} IS NOT NULL AND NOT {near} <=> {column}, CAST({column} AS STRING), NULL))"
                f" AS rounded_{column}",
            ]
    if not questions:
        return types
    answers = frame.selectExpr(*questions).collect()[0].asDict()
    for (column, reading), name in zip(zip(types, readings, strict=True), names, strict=True):
        if reading.is_moment and answers[f"bad_{column}"] is not None:
            raise refuse_moment(label, name, answers[f"bad_{column}"])
        if reading.is_wide:
            is_broken = bool(answers[f"broken_{column}"])
            value = answers[f"rounded_{column}" if is_broken else f"long_{column}"]
            if value is not None:
                raise refuse_key(label, name, value)
            types[column] = Type.REAL if is_broken else Type.INTEGER
    return types
