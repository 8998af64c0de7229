"""Nested dicts, lists of dicts, JSON files, queries and whole connections are tables like all others."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import relift
from relift.errors import DataError

TEXT = "param cost/2; var x(I,J) in cost(I,J) = cost(I,J); minimize: x(*,*);"
EXPECTED = {("a", "u"): 1.0, ("a", "v"): 2.0, ("b", "u"): 3.5}
NESTED = {"a": {"u": 1, "v": 2}, "b": {"u": 3.5}}
RECORDS = [{"J": j, "cost": value, "I": i} for (i, j), value in EXPECTED.items()]


def table(data: Any, engine: str = "memory") -> dict[Any, float]:
    return dict(relift.solve_model(TEXT, data, engine=engine)["x"].to_dict())


@pytest.fixture
def duck() -> Iterator[Any]:
    with duckdb.connect() as connection:
        connection.execute("create table cost (i varchar, j varchar, c double)")
        connection.executemany("insert into cost values (?, ?, ?)", [(*key, value) for key, value in EXPECTED.items()])
        yield connection


@pytest.fixture
def lite() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("create table cost (i text, j text, c real)")
    connection.executemany("insert into cost values (?, ?, ?)", [(*key, value) for key, value in EXPECTED.items()])
    yield connection
    connection.close()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_dicts_of_dicts_and_lists_of_dicts(engine: str) -> None:
    assert table({"cost": NESTED}, engine) == EXPECTED
    assert table({"cost": RECORDS}, engine) == EXPECTED


@pytest.mark.parametrize(
    "content",
    [NESTED, RECORDS, [[*key, value] for key, value in EXPECTED.items()],
     {"I": ["a", "a", "b"], "J": ["u", "v", "u"], "cost": [1, 2, 3.5]}],
)  # fmt: skip
def test_json_files_hold_any_of_these(content: Any, tmp_path: Path) -> None:
    (tmp_path / "cost.json").write_text(json.dumps(content))
    assert table({"cost": tmp_path / "cost.json"}) == EXPECTED
    assert table(tmp_path) == EXPECTED
    text = TEXT.replace("cost/2;", 'cost/2 from "cost.json";')
    assert dict(relift.solve_model(text, folder=tmp_path)["x"].to_dict()) == EXPECTED


def test_queries_and_whole_connections_of_duckdb(duck: Any) -> None:
    assert table(duck) == EXPECTED
    assert table({"cost": duck}) == EXPECTED
    assert table({"cost": (duck, "select j, i, c from cost where c > 1")}) == {("a", "v"): 2.0, ("b", "u"): 3.5}
    assert table({"cost": duck.sql("select * from cost")}) == EXPECTED


def test_queries_and_whole_connections_of_sqlite(lite: sqlite3.Connection) -> None:
    assert table(lite) == EXPECTED
    assert table({"cost": (lite, "cost")}) == EXPECTED
    assert table({"cost": (lite, "SELECT * FROM cost ORDER BY c")}) == EXPECTED


def test_what_cannot_be_read_is_explained(duck: Any, lite: sqlite3.Connection, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"a": 1, "a": 2}')
    (tmp_path / "worse.json").write_text('{"a": 1,}')
    wrong: list[tuple[Any, str]] = [
        ({"cost": [{"I": "a", "J": "u", "cost": 1}, {"I": "a", "J": "v"}]}, "row 1 has no 'cost'"),
        ({"cost": {"a": {"u": [1, 2]}}}, "'u' leads to a list inside of dicts"),
        ({"cost": {"a": {"u": 1}, "b": {"u": {"v": 2}}}}, "row 1 has 4 entries and row 0 has 3"),
        ({"cost": tmp_path / "bad.json"}, "an object has the key 'a' twice"),
        ({"cost": tmp_path / "worse.json"}, "worse.json is not JSON"),
        ({"cost": (duck, "select nothing from cost")}, "the query fails"),
        ({"cost": (lite, "select * from nowhere")}, "the query fails: no such table: nowhere"),
        ({"cost": ("postgresql://nowhere/x", "select 1")}, "a query needs an open connection"),
        ({"cost": [("a", "u", "1,5")]}, r"the last one: '1,5'. Values are numbers. Decimals are written with a point"),
        (
            {"cost": [("a", "u", 1), ("a", "v", "n/a")]},
            "mixes entries of different kinds .int, str., such as 1 and 'n/a'",
        ),
        (object(), "data cannot be given as object"),
    ]
    for data, message in wrong:
        with pytest.raises(DataError, match=message):
            table(data)
    with pytest.raises(DataError, match="the connection has no table or view for the param 'price'"):
        relift.solve_model(TEXT.replace("cost", "price"), duck)


def test_an_empty_table_is_noted_and_forgotten_when_it_is_filled() -> None:
    empty = relift.solve_model(TEXT, {"cost": []})
    assert empty.notes == ("the table of 'cost' is empty.",)
    assert empty.resolve(data={"cost": NESTED}).notes == ()
