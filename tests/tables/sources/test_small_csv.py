"""Small text files that are read in Python are read as DuckDB reads them, or left to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from relift.errors import DataError
from relift.tables.algebra import Scan
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.sources.contents import File
from relift.tables.sources.match_columns import Wanted
from relift.tables.sources.small_csv import small_table
from relift.tables.sources.table import Source

ENTRIES = st.one_of(
    st.integers(-3, 12).map(str),
    st.sampled_from(["0.5", "1.0", "-2.50", "1e3", ".5", "007", "a", "b c", "x-y", "true", "2026-01-02", "inf", "nan"]),
    st.sampled_from(["9223372036854775808", "0.12345678901234567", "é", "#", "I", "value", " 3", "", "1.", "+4"]),
)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(1, 3))
    columns = [draw(st.lists(ENTRIES, min_size=1, max_size=3)) for _ in range(width)]
    rows = [[draw(st.sampled_from(column)) for column in columns] for _ in range(draw(st.integers(1, 5)))]
    return [draw(st.lists(ENTRIES, min_size=width, max_size=width)) for _ in range(draw(st.integers(0, 1)))] + rows


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=tables(), header=st.sampled_from([None, True, False]), sign=st.sampled_from([",", ";"]), is_param=st.booleans()
)
def test_python_and_duckdb_read_the_same(
    rows: list[list[str]], header: bool | None, sign: str, is_param: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_text("\n".join(sign.join(row) for row in rows) + "\n", encoding="utf-8")
    arity = max(1, len(rows[0]) - is_param)
    source = Source("the table", File((path,), "csv", header), None, Wanted(arity, is_param, (), frozenset({"value"})))
    try:
        small, refusal = small_table(source, source.content), ""  # type: ignore[arg-type]
    except DataError as error:
        small, refusal = None, str(error)
    if refusal:
        event("refused")
        with DuckDBEngine() as engine, pytest.raises(DataError) as caught:
            engine.attach("t", source)
        assert str(caught.value) == refusal
        return
    if small is None:
        event("left to DuckDB")
        return
    event("read in Python")
    with DuckDBEngine() as engine:
        types = engine.attach("t", source)
        found = engine.fetch(Scan("t", {name: (name, kind) for name, kind in types.items()}))
    assert list(found) == list(small.arrays)
    for name, column in small.arrays.items():
        assert column.tolist() == found[name].tolist()
        assert (column.dtype == object) == (np.asarray(found[name]).dtype == object)


def test_a_small_model_starts_without_data_frames_and_databases(tmp_path: Path) -> None:
    (tmp_path / "need.csv").write_text("I,need\na,1\nb,2\n")
    code = """
import sys, relift
text = "param need/1; var x(I) in need(I) >= need(I); minimize: sum{I in need(I)} x(I);"
assert relift.solve_model(text, sys.argv[1]).objective == 3
print(sorted({"pandas", "pyarrow", "duckdb", "sqlglot", "pyspark"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
