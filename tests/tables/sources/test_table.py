"""Every kind of table arrives as the same tuples, and wrong ones are refused with a reason."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from scipy import sparse

from relift.errors import DataError
from relift.tables.algebra import Type
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.load import StoredTable, load_table
from relift.tables.memory.engine import MemoryEngine
from relift.tables.sources.table import Columns, Table, source_from_data

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
FRAME = pd.DataFrame({"from": ["a", "b"], "to": [1, 2], "cost": [0.5, 2.0]})
ROWS = [("a", 1, 0.5), ("b", 2, 2.0)]


def load(data: Any, arity: int = 2, has_value: bool = True, folder: Path | None = None) -> list[tuple[Any, ...]]:
    """The tuples that arrive; both engines must agree on them, or on the error."""
    outcomes: list[Any] = []
    for make in (DuckDBEngine, MemoryEngine):
        with make() as engine:
            try:
                table = load_table(engine, "t", source_from_data("t", data, folder), arity, has_value)
                outcomes.append(rows_of(engine, table))
            except DataError as error:
                outcomes.append(error)
    first, second = outcomes
    if isinstance(first, DataError):
        assert str(first) == str(second)
        raise first
    assert first == second
    return first


def rows_of(engine: Engine, table: StoredTable) -> list[tuple[Any, ...]]:
    names = [f"k{k}" for k in range(len(table.types))]
    columns = engine.fetch(table.scan(names, "v" if table.value else None))
    return sorted(zip(*(column.tolist() for column in columns.values()), strict=True))


@pytest.mark.parametrize(
    "data",
    [
        FRAME,
        FRAME.set_index(["from", "to"]),
        FRAME.set_index(["from", "to"])["cost"],
        FRAME.astype({"from": "category"}),
        FRAME.astype({"from": object, "to": object, "cost": object}),
        FRAME.astype({"to": "Int64", "cost": "Float64", "from": "string"}),
        FRAME.astype({"to": float}),
        pl.DataFrame(FRAME.to_dict("list")),
        pl.DataFrame(FRAME.to_dict("list")).lazy(),
        pl.DataFrame(FRAME.to_dict("list")).with_columns(pl.col("from").cast(pl.Categorical)),
        pa.table(FRAME.to_dict("list")),
        FRAME.to_dict("list"),
        {"from": np.array(["a", "b"]), "to": np.array([1, 2], np.int8), "cost": np.array([0.5, 2], np.float32)},
        {("a", 1): 0.5, ("b", 2): 2},
        np.array(ROWS, dtype=[("f", "U3"), ("t", "i4"), ("c", "f8")]),
        ROWS,
        [list(row) for row in ROWS],
        Table(FRAME[["cost", "to", "from"]].assign(other=1), ["from", "to", "cost"]),
    ],
    ids=lambda data: f"{type(data).__module__.split('.')[0]}-{type(data).__name__}",
)
def test_every_kind_of_table_gives_the_same_tuples(data: Any) -> None:
    assert load(data) == ROWS


def test_numbers_and_sets() -> None:
    assert load(np.arange(3), 1, False) == [(0,), (1,), (2,)]
    assert load(np.array([[1, 2], [3, 4]]), 2, False) == [(1, 2), (3, 4)]
    assert load({"x", "y"}, 1, False) == [("x",), ("y",)]
    assert load([("a", 1), ("a", 1), ("b", 1)], 2, False) == [("a", 1), ("b", 1)]
    assert load([True, False], 1, False) == [(0,), (1,)]
    assert load({"a": 1, "b": 2}, 1) == [("a", 1), ("b", 2)]
    assert load(sparse.csr_array([[0, 2.0], [3.0, 0]])) == [(0, 1, 2.0), (1, 0, 3.0)]
    assert load([], 2, False) == []
    assert load(FRAME.iloc[:0]) == []


@pytest.mark.parametrize("kind", ["Int128", "UInt128"])
def test_whole_numbers_of_128_bits_are_read_as_those_of_python_are(kind: str) -> None:
    wide = getattr(pl, kind, None)
    if wide is None:
        pytest.skip(f"this version of polars has no {kind}")
    frame = pl.DataFrame({"from": ["a", "b"], "to": pl.Series([1, 2], dtype=wide), "cost": [0.5, 2.0]})
    assert load(frame) == ROWS
    assert load(pl.DataFrame({"i": [2, 3], "v": pl.Series([2**70, 1], dtype=wide)}), 1) == [(2, 2.0**70), (3, 1.0)]
    with pytest.raises(DataError, match="holds the key 1180591620717411303424, a whole number of more than 64 bits"):
        load(pl.DataFrame({"i": pl.Series([2**70, 1], dtype=wide), "v": [1, 2]}), 1)


def test_dates_are_their_iso_text() -> None:
    days = [dt.date(2024, 1, 2), dt.date(2023, 1, 2)]
    assert load(days, 1, False) == [("2023-01-02",), ("2024-01-02",)]
    assert load(pd.DataFrame({"d": pd.to_datetime(days)}), 1, False)[0][0].startswith("2023-01-02")


def test_reals_that_are_whole_are_whole_numbers() -> None:
    with DuckDBEngine() as engine:
        assert load_table(engine, "w", source_from_data("w", [1.0, 2.0]), 1, False).types == (Type.INTEGER,)
        assert load_table(engine, "r", source_from_data("r", [1.0, 2.5]), 1, False).types == (Type.REAL,)


def test_files(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    FRAME.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet", str(tmp_path / "t.csv")):
        assert load(name, folder=tmp_path) == ROWS
    (tmp_path / "semi.csv").write_text('name;"a ; b";v\n007;é;1\n7;"x""y";2e0\n', encoding="utf-8")
    assert load(tmp_path / "semi.csv") == [("007", "é", 1.0), ("7", 'x"y', 2.0)]
    (tmp_path / "one.csv").write_text("paper\np1\np2\n")
    assert load(Table(tmp_path / "one.csv", header=True), 1, False) == [("p1",), ("p2",)]
    (tmp_path / "empty.csv").write_text("a,b,v\n")
    assert load(tmp_path / "empty.csv") == []


def test_a_sealed_engine_reads_files_too(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    with DuckDBEngine() as engine:
        engine.seal()
        table = load_table(engine, "t", source_from_data("t", tmp_path / "t.csv"), 2, True)
        assert rows_of(engine, table) == ROWS


def test_a_table_of_an_open_connection() -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE SCHEMA s; CREATE TABLE s.\"od'd\" AS SELECT * FROM (VALUES ('a', 1, 0.5), ('b', 2, 2.0)) AS t(f, t, c)"
    )
    before = connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
    assert load((connection, "s.od'd")) == ROWS
    assert connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == before
    with pytest.raises(DataError, match="cannot be read from the connection"):
        load((connection, "s.none; drop table x"))


def refused(data: Any, arity: int = 2, has_value: bool = True) -> str:
    with pytest.raises(DataError) as caught:
        load(data, arity, has_value)
    return str(caught.value)


def test_wrong_tables_are_refused_with_a_reason(tmp_path: Path) -> None:
    assert "has 3 columns, but 2 are needed" in refused(FRAME, 1)
    assert "has 3 columns, but 4 are needed" in refused(FRAME, 3)
    assert "has no column 'price'. Its columns are 'from', 'to', 'cost'." in refused(
        Table(FRAME, ["from", "to", "price"])
    )
    assert "there is no file" in refused("nowhere.csv")
    (tmp_path / "x.xlsx").write_text("x")
    assert "has an unknown file extension" in refused(tmp_path / "x.xlsx")
    (tmp_path / "latin.csv").write_bytes("a,b,v\né,1,2\n".encode("latin-1"))
    assert "latin.csv" in refused(tmp_path / "latin.csv")
    (tmp_path / "gap.csv").write_text("a,b,v\nx,1,2\ny,,3\n")
    assert "column 2 is missing in row 1" in refused(tmp_path / "gap.csv")
    assert "text in the column of its values" in refused([("a", 1, "x")])
    assert "columns of different length: 'a' has 2, 'b' has 1" in refused({"a": [1, 2], "b": [1]})
    assert "cannot be read as a table" in refused(object())
    assert "3 dimensions" in refused(np.zeros((2, 2, 2)))
    assert "more than 64 bits" in refused([(2**70, 1, 1)])
    assert "holds" in refused(pa.table({"a": [[1]], "b": [1], "c": [1]}))
    assert "is inf in row 0" in refused([(float("inf"), 1, 1)])
    assert "gives 2 values for the tuple (a, 1)" in refused([("a", 1, 2), ("a", 1, 2)])
    assert "two columns of the same name" in refused(pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"]))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_keys_of_every_kind_are_refused(missing: Any) -> None:
    frame = pd.DataFrame({"from": pd.Series(["a", missing], dtype=object), "to": [1, 2], "cost": [1, 2]})
    assert "column 1 is missing in row 1" in refused(frame)
    assert "column 1 is missing in row 1" in refused(pl.DataFrame({"f": ["a", None], "t": [1, 2], "c": [1, 2]}))
    assert "column 2 is missing in row 0" in refused(pa.table({"f": ["a", "b"], "t": [None, 2], "c": [1, 2]}))


def test_gaps_of_masked_arrays_and_of_stored_tables_are_missing_and_not_question_marks() -> None:
    masked = np.ma.masked_array(np.array(["a", "b"], dtype=object), mask=[False, True])
    source = source_from_data("t", {"x": masked})
    assert isinstance(source.content, Columns)
    assert source.content.arrays["x"].tolist() == ["a", None]
    with duckdb.connect() as connection, DuckDBEngine() as engine:
        connection.execute("CREATE TABLE t AS SELECT * FROM (VALUES ('a', 1), (NULL, 2), ('b', NULL)) AS t(x, y)")
        with pytest.raises(DataError, match="row 1"):
            load_table(engine, "t", source_from_data("t", (connection, "t")), 2, has_value=False)
