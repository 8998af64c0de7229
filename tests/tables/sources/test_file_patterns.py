"""A path names one file, whatever signs are in it; patterns are patterns only where they are asked for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import relift
from relift.errors import DataError

TEXT = "relation p/1{source}; var x(I) in p(I) >= 1; minimize: sum{{I in p(I)}} x(I);"
ODD = [
    "a[1]",
    "a*",
    "a?",
    "a[!x]",
    "**",
    "[",
    "]",
    "a{1,2}",
    "back\\slash*",
    "back\\slash",
    "a b",
    "x'; DROP",
    "ü",
    "~",
]


def write(path: Path, key: str) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(f"I\n{key}\n")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("name", ODD)
def test_exactly_the_named_file_is_read(name: str, suffix: str, engine: str, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / f"{name}{suffix}"
    for other, key in [
        *dict.fromkeys(["a1", "ab", "aa", "b", "x", "a2", "back", "slash"], "wrong").items(),
        (name, "right"),
    ]:
        place = tmp_path / f"{other}{suffix}"
        if suffix == ".csv":
            write(place, key)
        else:
            pq.write_table(pa.table({"I": [key]}), place)
    for given in (path, str(path)):
        answer = relift.solve_model(TEXT.format(source=""), {"p": given}, engine=engine)
        assert answer["x"].to_dict() == {"right": 1.0}
    (tmp_path / "m.rlp").write_text(TEXT.format(source=f' from "{name}{suffix}"'.replace("\\", "\\\\")))
    assert relift.solve_model(tmp_path / "m.rlp", engine=engine)["x"].to_dict() == {"right": 1.0}


@pytest.mark.parametrize("folder", ["run[1]", "year=2020", "a*b"])
def test_folders_are_no_patterns_and_give_no_columns(folder: str, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    for place in (folder, "run1", "acb"):
        key = "right" if place == folder else "wrong"
        write(tmp_path / place / "p.csv", key)
        pq.write_table(pa.table({"I": [key]}), tmp_path / place / "q.parquet")
    for file in ("p.csv", "q.parquet"):
        answer = relift.solve_model(TEXT.format(source=""), {"p": tmp_path / folder / file})
        assert answer["x"].to_dict() == {"right": 1.0}
    (tmp_path / folder / "q.parquet").unlink()
    assert relift.solve_model(TEXT.format(source=""), tmp_path / folder)["x"].to_dict() == {"right": 1.0}


def test_a_folder_for_temporary_files_may_have_signs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "t[m]p"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    write(tmp_path / "back\\slash[1].csv", "right")
    answer = relift.solve_model(TEXT.format(source=""), {"p": tmp_path / "back\\slash[1].csv"})
    assert answer["x"].to_dict() == {"right": 1.0}
    assert list(place.iterdir()) == []


def test_a_pattern_that_is_no_file_is_refused_with_what_to_say(tmp_path: Path) -> None:
    write(tmp_path / "a1.csv", "wrong")
    with pytest.raises(
        DataError, match=r"there is no file '.*a\*\.csv'\. For many files give relift\.files\(pattern\)"
    ):
        relift.solve_model(TEXT.format(source=""), {"p": tmp_path / "a*.csv"})


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_files_by_pattern_are_one_table(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    text = TEXT.format(source="")
    for key in "ab":
        write(tmp_path / f"part-{key}.csv", key)
        pq.write_table(pa.table({"I": [key]}), tmp_path / f"part-{key}.parquet")
    write(tmp_path / "deep" / "er" / "part-c.csv", "c")
    for pattern, keys in (("part-*.csv", "ab"), ("part-?.parquet", "ab"), ("part-[a].csv", "a"), ("**/*.csv", "abc")):
        answer = relift.solve_model(text, {"p": relift.files(tmp_path / pattern)}, engine=engine)
        assert sorted(answer["x"].to_dict()) == list(keys)
    (tmp_path / "m.rlp").write_text(TEXT.format(source=' from "part-*.csv" (pattern = true, header = true)'))
    assert relift.solve_model(tmp_path / "m.rlp", engine=engine).objective == 2
    assert "(header = true, pattern = true)" in str(relift.Model.from_file(tmp_path / "m.rlp"))
    (tmp_path / "part-z.csv").write_text("9\n")
    with pytest.raises(DataError, match=r"'part-z.csv' has the columns 'none', and 'part-a.csv' has 'I'"):
        relift.solve_model(text, {"p": relift.files(tmp_path / "part-*.csv")}, engine=engine)
    (tmp_path / "part-z.csv").write_text("J\n9\n")
    with pytest.raises(DataError, match=r"'part-z.csv' has the columns 'J', and 'part-a.csv' has 'I'"):
        relift.solve_model(text, {"p": relift.Table(relift.files(tmp_path / "part-*.csv"), header=True)}, engine=engine)
    pq.write_table(pa.table({"I": [5]}), tmp_path / "part-z.parquet")
    with pytest.raises(DataError, match="column 1 is text in one file and numbers in another"):
        relift.solve_model(text, {"p": relift.files(tmp_path / "part-*.parquet")}, engine=engine)
    with pytest.raises(DataError, match="there are text files and Parquet files"):
        relift.solve_model(text, {"p": relift.files(tmp_path / "part-a.*")}, engine=engine)
    with pytest.raises(DataError, match=r"no file matches '.*none\*'"):
        relift.solve_model(text, {"p": relift.files(tmp_path / "none*")}, engine=engine)


@pytest.mark.xdist_group("spark")
def test_a_folder_that_spark_keeps_tables_in_is_no_pattern(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("there is no Java for Spark")
    from relift.tables.algebra import Scan
    from relift.tables.sources.table import source_from_data
    from relift.tables.spark.engine import SparkEngine

    found: dict[str, Any] = {}
    for place, keys in (("run1", [1, 2, 3]), ("run[1]", [7])):
        with SparkEngine(checkpoint_folder=str(tmp_path / place), keep_tables=True, driver_memory="1g") as engine:
            types = engine.attach("t", source_from_data("t", keys))
            engine.save("t")
            found[place] = engine.fetch(Scan("t", {"k": ("c0", types["c0"])}))["k"].tolist()
        with SparkEngine(checkpoint_folder=str(tmp_path / place), keep_tables=True, driver_memory="1g") as engine:
            assert sorted(engine.fetch(Scan("t", {"k": ("c0", types["c0"])}))["k"].tolist()) == keys
    assert {place: sorted(keys) for place, keys in found.items()} == {"run1": [1, 2, 3], "run[1]": [7]}
