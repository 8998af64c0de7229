"""Rows of a table grouped by the engine that holds it: distinct rows with their totals come back, never the rows.

==============================================  ======================================================================
``table``                                       where it is grouped
==============================================  ======================================================================
a name or a query, with ``engine=``             DuckDB (a connection, or a database file), PostgreSQL (an address, a
                                                psycopg or ADBC connection), Spark (a session, or ``"spark"``)
a ``.parquet``, ``.csv`` or ``.json`` file      an embedded DuckDB
a DuckDB relation, a Spark data frame           where it comes from
a pandas or Polars frame, an Arrow table        an embedded DuckDB
==============================================  ======================================================================

The query is ``SELECT features, [target], sum(weight), ... GROUP BY features, [target]``. Where means are enough (least
squares, Poisson) the target is added up, so that targets that differ do not part rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from relift.arrays import Cells, Double
from relift.errors import DataError, MissingPackageError, OptionError
from relift.ml.frames import Column, column_of_values, is_frame, names_of
from relift.redaction import redacted
from relift.tables.open_engine import EngineLike, is_postgres

Columns = dict[str, Cells]
Ask = Callable[[str], Columns]

FILES = (".parquet", ".csv", ".csv.gz", ".json", ".ndjson")
TARGET_SUMS = {
    "square": "sum({w} * {y} * {y})",
    "loglike": "sum({w} * CASE WHEN {y} > 0 THEN {y} * ln({y}) ELSE 0 END)",
}


@final
@dataclass(frozen=True, eq=False)
class EngineRows:
    """Distinct rows and their totals.

    Parameters
    ----------
    columns
        The features of the distinct rows.
    weight
        Total weight of each.
    target
        The target of each, if rows were parted by it; its weighted mean otherwise.
    n_rows
        Rows of the table.
    least_target
        The smallest target (0 for labels).
    square, loglike
        Sums over all rows of weight times y^2, and times y log y; 0 for labels.
    """

    columns: list[Column]
    weight: Double
    target: Cells
    n_rows: int
    least_target: float
    square: float
    loglike: float


def engine_rows(
    table: Any,
    target: str,
    *,
    by_target: bool,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    engine: EngineLike = None,
) -> EngineRows:
    """Group a table in its engine.

    Parameters
    ----------
    table
        See the head of this module.
    target
        The column to predict.
    by_target
        Whether rows with different targets stay apart; otherwise only their means and squares are kept.
    features
        The columns to predict from; all others if None.
    weight
        A column of weights; every row counts 1 if None.
    engine
        Where a table or query that is given by text lies.

    Raises
    ------
    OptionError
        If the table or the engine is not one of those above, or a column is not there.
    DataError
        If the table is empty, or has missing values or negative weights.
    """
    ask, source, quote = _opened(table, engine)
    present = list(ask(f"SELECT * FROM {source} LIMIT 0"))
    chosen = [name for name in present if name not in (target, weight)] if features is None else list(features)
    for name in [target, *([] if weight is None else [weight]), *chosen]:
        if name not in present:
            raise OptionError(f"the table has no column {name!r}.", f"It has {', '.join(map(repr, present))}.")
    if target in chosen or weight in chosen:
        raise OptionError(f"the column {target if target in chosen else weight!r} cannot be a feature as well.")
    if not chosen:
        raise OptionError("the table has no column to predict from.")
    w = "1" if weight is None else quote(weight)
    y = quote(target)
    keys = [quote(name) for name in chosen] + ([y] if by_target else [])
    sums = ["count(*) AS relift_rows", f"count({y}) AS relift_targets", f"sum({w}) AS relift_weight"]
    if weight is not None:
        sums += [f"min({w}) AS relift_least_weight", f"count({w}) AS relift_weights"]
    if not by_target:
        as_number = f"CAST({y} AS DOUBLE PRECISION)" if quote is not _spark_quote else f"CAST({y} AS DOUBLE)"
        sums += [f"sum({w} * {as_number}) AS relift_sum", f"min({as_number}) AS relift_least"]
        sums += [f"{text.format(w=w, y=as_number)} AS relift_{name}" for name, text in TARGET_SUMS.items()]
    found = ask(f"SELECT {', '.join(keys + sums)} FROM {source} GROUP BY {', '.join(keys)}")
    return _rows_from(found, chosen, target, weight, by_target)


def _rows_from(found: Columns, chosen: list[str], target: str, weight: str | None, by_target: bool) -> EngineRows:
    counts = _numbers(found["relift_rows"])
    if not len(counts):
        raise DataError("the table has no rows.", "A model needs at least one.")
    n_missing = float((counts - _numbers(found["relift_targets"])).sum())
    if n_missing:
        raise DataError(f"the target {target!r} is missing in {n_missing:,.0f} rows.", "Filter them out in a query.")
    if weight is not None:
        n_missing = float((counts - _numbers(found["relift_weights"])).sum())
        if n_missing:
            raise DataError(f"the weight {weight!r} is missing in {n_missing:,.0f} rows.", "Filter them in a query.")
        if (_numbers(found["relift_least_weight"]) < 0).any():
            raise DataError(f"the weight {weight!r} is negative in some rows.", "Weights are at least 0.")
    total = _numbers(found["relift_weight"])
    keep = total > 0
    if not keep.any():
        raise DataError("all rows have weight 0.", "A model needs at least one row with a positive weight.")
    columns = [column_of_values(name, _plain(found[name][keep])) for name in chosen]
    if by_target:
        values = _plain(found[target][keep])
        return EngineRows(columns, total[keep], values, int(counts.sum()), 0.0, 0.0, 0.0)
    sums = _numbers(found["relift_sum"])[keep]
    if not np.isfinite(sums).all():
        raise DataError(f"the target {target!r} has NaN or infinite values.", "Filter them out in a query.")
    return EngineRows(
        columns, total[keep], sums / total[keep], int(counts.sum()), float(_numbers(found["relift_least"]).min()),
        float(_numbers(found["relift_square"]).sum()), float(_numbers(found["relift_loglike"]).sum()),
    )  # fmt: skip


def _numbers(values: Cells) -> Double:
    return np.asarray(values, dtype=np.float64)


def _plain(values: Cells) -> Cells:
    """Masked arrays (with NULL) become arrays with None."""
    if isinstance(values, np.ma.MaskedArray):
        plain = np.asarray(values.data).astype(object)
        plain[np.ma.getmaskarray(values)] = None
        return plain
    return values


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _spark_quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _source(table: str, quote: Callable[[str], str]) -> str:
    """A query in brackets, or the name of a table, part by part."""
    text = table.strip().rstrip(";").strip()
    if text.split(None, 1)[:1] and text.split(None, 1)[0].lower() in ("select", "with", "values", "from"):
        return f"({text}) AS relift_source"
    if not text:
        raise OptionError("table='' names no table.", "Give the name of a table or a SELECT.")
    if text.startswith(('"', "`")):
        return text
    return ".".join(quote(part) for part in text.split("."))


def _opened(table: Any, engine: Any) -> tuple[Ask, str, Callable[[str], str]]:
    """How to ask, what to select from, and how names are quoted."""
    home = type(table).__module__.partition(".")[0]
    if home == "pyspark" and type(table).__name__ == "DataFrame":
        return _spark_ask(table.sparkSession, table), "{relift_source}", _spark_quote
    if type(table).__name__ == "DuckDBPyRelation":
        return _relation_ask(table), "relift_source", _quote
    if is_frame(table) or home in ("pandas", "polars", "pyarrow"):
        names_of(table)
        return _duckdb_ask(None, table), "relift_source", _quote
    if isinstance(table, Path) or (isinstance(table, str) and engine is None and table.lower().endswith(FILES)):
        if not Path(table).is_file():
            raise FileNotFoundError(2, "No such file or directory", str(table))
        path = str(table).replace("'", "''")
        return _duckdb_ask(None), f"'{path}'", _quote
    if not isinstance(table, str):
        raise OptionError(
            f"table is a {type(table).__name__}.",
            "Give the name of a table or a query with engine=, a file, a data frame, or a relation.",
        )
    if engine is None:
        raise OptionError(
            f"table={table!r} is neither a file nor a data frame.",
            "Say where it lies: engine=connection, 'file.duckdb', 'postgresql://…' or a SparkSession.",
        )
    if type(engine).__name__ == "DuckDBPyConnection" or _is_database_file(engine):
        return _duckdb_ask(engine), _source(table, _quote), _quote
    if is_postgres(engine):
        return _postgres_ask(engine), _source(table, _quote), _quote
    if engine == "spark" or type(engine).__module__.partition(".")[0] == "pyspark":
        return _spark_ask(engine, None), _source(table, _spark_quote), _spark_quote
    shown = redacted(repr(engine)) if isinstance(engine, str) else f"a {type(engine).__name__}"
    raise OptionError(
        f"engine={shown} is not one that can group rows.",
        "Expected a DuckDB connection or database file, postgresql://…, a psycopg or ADBC connection, or a "
        "SparkSession.",
    )


def _is_database_file(engine: Any) -> bool:
    return isinstance(engine, str | Path) and str(engine).lower().endswith((".duckdb", ".db", ".ddb"))


def _duckdb_ask(engine: Any, frame: Any = None) -> Ask:
    import duckdb

    def ask(query: str) -> Columns:
        try:
            if type(engine).__name__ == "DuckDBPyConnection":
                with engine.cursor() as cursor:
                    return dict(cursor.execute(query).fetchnumpy())
            if engine is not None and not Path(engine).is_file():
                raise FileNotFoundError(2, "No such file or directory", str(engine))
            with duckdb.connect(":memory:" if engine is None else str(engine), read_only=engine is not None) as own:
                if frame is not None:
                    own.register("relift_source", frame)
                return dict(own.execute(query).fetchnumpy())
        except duckdb.Error as error:
            raise DataError(f"DuckDB cannot group the table: {error}") from error

    return ask


def _relation_ask(relation: Any) -> Ask:
    import duckdb

    def ask(query: str) -> Columns:
        try:
            return dict(relation.query("relift_source", query).fetchnumpy())
        except duckdb.Error as error:
            raise DataError(f"DuckDB cannot group the relation: {error}") from error

    return ask


def _postgres_ask(engine: Any) -> Ask:
    from relift.tables.postgres.session import PostgresSession

    def ask(query: str) -> Columns:
        with PostgresSession(engine) as session:
            session.set({"search_path": ", ".join(_quote(name) for name in session.search_path)})
            return _arrow_columns(session.table(query, "grouping rows"))

    return ask


def _spark_ask(session: Any, frame: Any) -> Ask:
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingPackageError("Spark needs pyspark.", 'Install it: pip install "relift[spark]"') from error

    if session == "spark":
        session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()

    def ask(query: str) -> Columns:
        try:
            found = session.sql(query) if frame is None else session.sql(query, relift_source=frame)
            return _arrow_columns(found.toArrow())
        except PySparkException as error:
            raise DataError(f"Spark cannot group the table: {error}") from error

    return ask


def _arrow_columns(table: Any) -> Columns:
    import pyarrow as pa

    found: Columns = {}
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.float64())
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if is_number and not column.null_count:
            found[name] = np.asarray(column.to_numpy())
        else:
            found[name] = np.asarray([*column.to_pylist(), None], dtype=object)[:-1]
    return found
