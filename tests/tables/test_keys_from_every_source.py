"""A key has one form, wherever it comes from and wherever it is grounded: source by engine by type."""

from __future__ import annotations

import datetime as dt
import decimal
import os
import shutil
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pytest
from tests.postgres_server import Server

import relift
from relift.errors import DataError, EmptyJoinWarning
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.load import load_table
from relift.tables.memory.engine import MemoryEngine
from relift.tables.sources.table import source_from_data

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.xdist_group("spark")
D, BERLIN = decimal.Decimal, ZoneInfo("Europe/Berlin")
IDS = [uuid.UUID("0D9F8A9E-1111-4222-8333-ABCDEFABCDEF"), uuid.UUID(int=5)]
KINDS: dict[str, tuple[list[Any], list[Any]]] = {
    "day": ([dt.date(2026, 1, 2), dt.date(1999, 12, 31)], ["2026-01-02", "1999-12-31"]),
    "moment": (
        [dt.datetime(2026, 1, 2), dt.datetime(2026, 1, 2, 3, 4, 5, 500000)],
        ["2026-01-02", "2026-01-02 03:04:05.5"],
    ),
    "zoned": (
        [dt.datetime(2026, 7, 2, tzinfo=BERLIN), dt.datetime(2026, 1, 2, 1, 0, 0, 250, tzinfo=BERLIN)],
        ["2026-07-01 22:00:00+00:00", "2026-01-02 00:00:00.00025+00:00"],
    ),
    "clock": ([dt.time(3, 4, 5, 500000), dt.time(0, 0)], ["03:04:05.5", "00:00:00"]),
    "price": ([D("1.50"), D("2.25")], [1.5, 2.25]),
    "number": ([D("9007199254740993.00"), D("7.00")], [9007199254740993, 7]),
    "flag": ([True, False], [1, 0]),
    "whole": ([2**53 + 1, -3], [2**53 + 1, -3]),
    "real": ([1.0, 2.0], [1, 2]),
    "half": ([0.5, 1e300], [0.5, 1e300]),
    "name": (["007", "é; \"x\", 'y'"], ["007", "é; \"x\", 'y'"]),
    "level": (["low", "high"], ["low", "high"]),
    "id": (IDS, [str(value) for value in IDS]),
}
GIVEN = {kind: values for kind, (values, _) in KINDS.items()}
EXPECTED = sorted(zip(*(found for _, found in KINDS.values()), strict=True), key=repr)
ARROW = {
    "day": pa.date32(), "moment": pa.timestamp("us"), "zoned": pa.timestamp("us", tz="Europe/Berlin"),
    "clock": pa.time64("us"), "price": pa.decimal128(12, 2), "number": pa.decimal128(30, 2), "flag": pa.bool_(),
    "whole": pa.int64(), "real": pa.float64(), "half": pa.float64(), "name": pa.string(),
    "level": pa.dictionary(pa.int8(), pa.string()), "id": pa.string(),
}  # fmt: skip


def arrow_table() -> Any:
    plain = {**GIVEN, "id": [str(value) for value in IDS]}
    return pa.table({kind: pa.array(values, ARROW[kind]) for kind, values in plain.items()})


def numpy_columns() -> dict[str, Any]:
    """Columns of NumPy's own types, where it has them."""
    objects = {kind: np.array([*values, None], dtype=object)[:-1] for kind, values in GIVEN.items()}
    return {
        **objects,
        "day": np.array(GIVEN["day"], "datetime64[D]"),
        "moment": np.array(GIVEN["moment"], "datetime64[ns]"),
        "flag": np.array(GIVEN["flag"]),
        "whole": np.array(GIVEN["whole"]),
        "real": np.array(GIVEN["real"], np.float32),
        "name": np.array(GIVEN["name"]),
    }


def pandas_frame() -> Any:
    """As people have it: dates are timestamps at midnight, labels are categories, some columns are nullable."""
    frame = pd.DataFrame(GIVEN)
    return frame.assign(
        day=pd.to_datetime(frame.day), zoned=pd.to_datetime(frame.zoned, utc=True).dt.tz_convert("Asia/Tokyo"),
        level=frame.level.astype("category"), whole=frame.whole.astype("Int64"), flag=frame.flag.astype("boolean"),
        name=frame.name.astype("string"),
    )  # fmt: skip


def duckdb_connection() -> Any:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'America/New_York'")
    table = arrow_table()
    connection.register("given", table)
    connection.execute(
        "CREATE TABLE t AS SELECT * REPLACE (CAST(level AS ENUM('low', 'high')) AS level, CAST(id AS UUID) AS id) "
        "FROM given"
    )
    return connection


def csv_file(folder: Path, write: Callable[[Path], None]) -> Any:
    write(folder / "t.csv")
    return folder / "t.csv"


def written(folder: Path, table: Any) -> Path:
    pq.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


def text_frame() -> Any:
    """Everything as texts that people write into files; moments with T, Z and offsets."""
    return pd.DataFrame(GIVEN).assign(
        moment=["2026-01-02T00:00:00", "2026-01-02 03:04:05.500"],
        zoned=["2026-07-02T00:00:00+02:00", "2026-01-02T00:00:00.000250Z"],
        id=[str(IDS[0]).upper(), str(IDS[1])],
    )


SOURCES: dict[str, Callable[[Path], Any]] = {
    "dict of columns": lambda _: dict(GIVEN),
    "list of tuples": lambda _: list(zip(*GIVEN.values(), strict=True)),
    "set of tuples": lambda _: set(zip(*GIVEN.values(), strict=True)),
    "NumPy": lambda _: numpy_columns(),
    "pandas": lambda _: pandas_frame(),
    "pandas objects": lambda _: pd.DataFrame(GIVEN).astype(object),
    "pandas from Arrow": lambda _: arrow_table().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with an index": lambda _: pandas_frame().set_index(["day", "moment", "zoned"]),
    "Polars": lambda _: pl.from_arrow(arrow_table()),
    "Polars, lazy": lambda _: pl.from_arrow(arrow_table()).lazy(),
    "Arrow": lambda _: arrow_table(),
    "Arrow, nanoseconds": lambda _: arrow_table().set_column(
        1, "moment", arrow_table()["moment"].cast(pa.timestamp("ns"))
    ),
    "Parquet": lambda folder: written(folder, arrow_table()),
    "Parquet of pandas": lambda folder: written(folder, pa.Table.from_pandas(pandas_frame().astype({"id": str}))),
    "CSV": lambda folder: csv_file(folder, lambda path: text_frame().to_csv(path, index=False)),
    "CSV with semicolons": lambda folder: csv_file(
        folder, lambda path: text_frame().to_csv(path, index=False, sep=";")
    ),
    "CSV of Polars": lambda folder: csv_file(folder, pl.from_arrow(arrow_table()).write_csv),
    "DuckDB connection": lambda _: (duckdb_connection(), "t"),
    "DuckDB relation": lambda _: duckdb_connection().table("t"),
}


def loaded(engine: Engine, data: Any) -> list[tuple[Any, ...]]:
    table = load_table(engine, "t", source_from_data("t", data, engine=engine), len(KINDS), has_value=False)
    columns = engine.fetch(table.scan(list(KINDS)))
    return sorted(zip(*(columns[kind].tolist() for kind in KINDS), strict=True), key=repr)


def assert_canonical(found: list[tuple[Any, ...]]) -> None:
    for position, kind in enumerate(KINDS):
        assert [(row[position], type(row[position])) for row in found] == [
            (row[position], type(row[position])) for row in EXPECTED
        ], kind


@pytest.fixture(scope="module", autouse=True)
def utc() -> Iterator[None]:
    """Away from the zone of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Kathmandu")
        yield


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("engine", [MemoryEngine, DuckDBEngine])
def test_every_type_of_key_has_one_form_in_this_process(source: str, engine: Any, tmp_path: Path) -> None:
    with engine() as opened:
        assert_canonical(loaded(opened, SOURCES[source](tmp_path)))


# --- PostgreSQL ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server_table(postgres_server: Server) -> Iterator[str]:
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("adbc_driver_postgresql")
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("""
            DROP SCHEMA IF EXISTS keys CASCADE; CREATE SCHEMA keys; CREATE TYPE keys.level AS ENUM ('low', 'high');
            CREATE TABLE keys.t(day date, moment timestamp, zoned timestamptz, clock time, price numeric(12, 2),
                number numeric, flag boolean, whole bigint, real double precision, half double precision, name text,
                level keys.level, id uuid)""")
        places = ", ".join(["%s"] * len(KINDS))
        for row in zip(*GIVEN.values(), strict=True):
            connection.execute(f"INSERT INTO keys.t VALUES ({places})", row)
        yield postgres_server.url()
        connection.execute("DROP SCHEMA keys CASCADE")


@pytest.mark.parametrize("engine", ["memory", "duckdb", "postgres"])
@pytest.mark.parametrize("source", ["address", "psycopg", "psycopg with rows of its own", "ADBC"])
def test_tables_of_postgresql_have_the_same_keys(engine: str, source: str, server_table: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    adbc = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with psycopg.connect(server_table) as connection, adbc.connect(server_table) as other:
        connection.execute("SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German'")
        if source.endswith("own"):
            connection.execute("CREATE TABLE keys.own AS SELECT * FROM keys.t")
        given = {"address": server_table, "ADBC": other}.get(source, connection)
        with relift.open_engine(server_table if engine == "postgres" else engine) as opened:
            name = "keys.own" if source.endswith("own") else "keys.t"
            assert_canonical(loaded(opened, (given, name)))
        connection.rollback()


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_has_the_same_keys_on_postgresql(source: str, server_table: str, tmp_path: Path) -> None:
    with relift.open_engine(server_table) as engine:
        assert_canonical(loaded(engine, SOURCES[source](tmp_path)))


# --- Spark -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("there is no Java for Spark")
    from relift.tables.spark.engine import SparkEngine

    with SparkEngine(driver_memory="1g") as engine:
        session = engine._open.parent
        session.conf.set("spark.sql.session.timeZone", "America/New_York")
        yield session


def spark_frame(session: Any) -> Any:
    from pyspark.sql import types as t

    of = {
        "day": t.DateType(), "moment": t.TimestampNTZType(), "zoned": t.TimestampType(), "clock": t.StringType(),
        "price": t.DecimalType(12, 2), "number": t.DecimalType(38, 2), "flag": t.BooleanType(), "whole": t.LongType(),
        "real": t.FloatType(), "half": t.DoubleType(), "name": t.StringType(), "level": t.StringType(),
        "id": t.StringType(),
    }  # fmt: skip
    texts = {"clock": KINDS["clock"][1], "id": KINDS["id"][1]}
    rows = list(zip(*({**GIVEN, **texts}).values(), strict=True))
    return session.createDataFrame(rows, t.StructType([t.StructField(kind, of[kind]) for kind in KINDS]))


@pytest.mark.parametrize("engine", ["memory", "duckdb", "spark"])
def test_frames_of_spark_have_the_same_keys(engine: str, spark: Any) -> None:
    with relift.open_engine(spark if engine == "spark" else engine) as opened:
        assert_canonical(loaded(opened, spark_frame(spark)))


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_has_the_same_keys_on_spark(source: str, spark: Any, tmp_path: Path) -> None:
    with relift.open_engine(spark) as engine:
        assert_canonical(loaded(engine, SOURCES[source](tmp_path)))


# --- what a user sees ------------------------------------------------------------------------------------------------

SHIPPING = """param demand/1, cost/1; var ship(D) in cost(D) >= 0;
    minimize total: sum{D in cost(D)} cost(D)*ship(D);
    subject to met forall {D in demand(D) & cost(D)}: ship(D) >= demand(D);"""


def test_tables_of_different_sources_join(tmp_path: Path) -> None:
    days = pd.date_range("2026-01-01", periods=3)
    demand = pd.DataFrame({"D": days, "demand": [1.0, 2.0, 3.0]})
    dates = pa.table({"D": pa.array([day.date() for day in days], pa.date32()), "cost": [1.0, 1.0, 1.0]})
    pq.write_table(dates, tmp_path / "cost.parquet")
    demand.to_csv(tmp_path / "demand.csv", index=False)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE cost AS SELECT D::DATE AS D, 1.0 AS cost FROM demand")
    with warnings.catch_warnings():
        warnings.simplefilter("error", EmptyJoinWarning)
        for left in (demand, tmp_path / "demand.csv", {day.to_pydatetime(): k for k, day in enumerate(days, 1)}):
            for right in (tmp_path / "cost.parquet", dates, (connection, "cost"), pl.from_arrow(dates)):
                for engine in ("memory", "duckdb"):
                    assert relift.solve_model(SHIPPING, {"demand": left, "cost": right}, engine=engine).objective == 6


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"k": [dt.datetime(2026, 1, 2)], "v": [dt.timedelta(1)]}, "holds entries of type timedelta"),
        ({"k": np.array([5, 6], "m8[h]")}, "the column 'k' holds timedelta64[h]. Give durations as numbers."),
        ({"k": [dt.time(1, tzinfo=dt.UTC)]}, "holds time of the day with a zone. Give times without a zone"),
        (pa.table({"k": pa.array([2**40], pa.timestamp("s"))}), "is not a date or time of the years 1 to 9999"),
        ({"k": np.array(["12000-01-01"], "M8[D]")}, "holds 12000-01-01, which is not a date or time"),
        (pa.table({"k": pa.array([b"x"])}), "the column 'k' holds blob. Keys are numbers or text"),
        (pa.table({"k": pa.array([dt.timedelta(1)])}), "the column 'k' holds interval. Give durations as numbers."),
    ],
    ids=["timedelta", "NumPy duration", "time with a zone", "year 36812", "NumPy year", "bytes", "Arrow duration"],
)
def test_what_has_no_canonical_form_is_refused_by_name(data: Any, message: str) -> None:
    for make in (MemoryEngine, DuckDBEngine):
        with make() as engine, pytest.raises(DataError) as caught:
            load_table(engine, "t", source_from_data("t", data), len(data) if isinstance(data, dict) else 1, False)
        assert message in str(caught.value)


LONG = [2**63, 2**63 + 1, 2**63 + 2]
FINE = [D("0.12345678901234567890"), D("0.12345678901234567891")]


def rounded_sources(values: list[Any], folder: Path) -> dict[str, Any]:
    decimals = [D(value) for value in values]
    scale = max(0, *(-int(value.as_tuple().exponent) for value in decimals))
    table = pa.table({"k": pa.array(decimals, pa.decimal128(38, scale))})
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE t AS FROM given")
    pq.write_table(table, folder / "t.parquet")
    return {
        "list": values,
        "decimals": decimals,
        "pandas": pd.DataFrame({"k": pd.Series(values, dtype=object)}),
        "Arrow": table,
        "Polars": pl.from_arrow(table),
        "Parquet": folder / "t.parquet",
        "DuckDB": (connection, "t"),
        "relation": connection.table("t"),
        "NumPy": np.array(values, np.uint64) if scale == 0 else np.array(values, object),
    }


@pytest.mark.parametrize("values", [LONG, FINE], ids=["whole", "decimal"])
@pytest.mark.parametrize(
    "source", ["list", "decimals", "pandas", "Arrow", "Polars", "Parquet", "DuckDB", "relation", "NumPy"]
)
def test_keys_that_would_be_merged_are_refused(source: str, values: list[Any], tmp_path: Path) -> None:
    text = "relation p/1; var x(I) in p(I) >= 1; minimize: sum{I in p(I)} x(I);"
    what = "a whole number of more than 64 bits" if values is LONG else "which no double holds exactly"
    for engine in ("memory", "duckdb"):
        with pytest.raises(DataError, match=rf"the table of 'p'.*: the column '.*' holds the key [0-9.]+, {what}\."):
            relift.solve_model(text, {"p": rounded_sources(values, tmp_path)[source]}, engine=engine)


def test_long_numbers_in_a_csv_file_are_texts_and_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("I\n" + "\n".join(map(str, LONG)) + "\n")
    text = "relation p/1; var x(I) in p(I) >= 1; minimize: sum{I in p(I)} x(I);"
    for engine in ("memory", "duckdb"):
        answer = relift.solve_model(text, {"p": tmp_path / "p.csv"}, engine=engine)
        assert list(answer["x"]["I"]) == [str(value) for value in LONG]
    (tmp_path / "p.csv").write_text("I\n0.5\n0.12345678901234567890\n")
    with pytest.raises(DataError, match=r"holds the key 0\.12345678901234567890, which no double holds exactly"):
        relift.solve_model(text, {"p": tmp_path / "p.csv"})


def test_values_are_rounded_to_doubles_and_not_refused() -> None:
    text = "param w/1; var x(I) in w(I) >= w(I); minimize: sum{I in w(I)} x(I);"
    for values in ([2**64], [D("0.12345678901234567890")], np.array([2**63], np.uint64)):
        for engine in ("memory", "duckdb"):
            answer = relift.solve_model(text, {"w": {"k": ["a"], "w": values}}, engine=engine)
            assert answer.objective == pytest.approx(float(values[0]), rel=1e-12)


def test_long_keys_of_postgresql_and_spark_are_refused_by_name(server_table: str, spark: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server_table, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE keys.long AS SELECT 9223372036854775807 + g::numeric AS k FROM generate_series(0, 3) g"
        )
        connection.execute(
            "CREATE TABLE keys.fine AS SELECT 0.12345678901234567890 + g * 1e-20 AS k FROM generate_series(0, 3) g"
        )
        connection.execute("CREATE TABLE keys.never AS SELECT 'infinity'::timestamp AS k")
        frame = spark.sql("SELECT CAST('9223372036854775808' AS DECIMAL(38, 0)) AS k")
        fine = spark.sql("SELECT CAST('0.12345678901234567891' AS DECIMAL(38, 20)) AS k")
        cases = [
            (
                (server_table, "keys.long"),
                ["memory", "duckdb", server_table],
                "holds the key 9223372036854775808, a whole",
            ),
            ((server_table, "keys.fine"), ["memory", "duckdb", server_table], "which no double holds exactly"),
            (
                (server_table, "keys.never"),
                ["memory", "duckdb", server_table],
                "holds infinity, which is not a date or time",
            ),
            (frame, ["memory", "duckdb", spark], "holds the key 9223372036854775808, a whole"),
            (fine, ["memory", "duckdb", spark], "holds the key 0.12345678901234567891, which no double holds exactly"),
        ]
        for data, engines, message in cases:
            for engine in engines:
                with relift.open_engine(engine) as opened, pytest.raises(DataError, match=message):
                    load_table(opened, "t", source_from_data("t", data, engine=opened), 1, has_value=False)
