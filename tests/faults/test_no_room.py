"""No room on the disk and no room in memory: one sentence with the name of the file, the old file, nothing left."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from tests.faults.children import Children

import relift

OLD = b"an older file\n"
WRITERS = {
    "old.json": ("solve", "model.mps", "-o", "old.json"),
    "old.txt": ("solve", "model.mps", "-o", "old.txt"),
    "old.mps": ("lift", "model.mps", "-o", "old.mps"),
    "old.mps.gz": ("lift", "model.mps", "-o", "old.mps.gz"),
    "old.npz": ("lift", "model.mps", "-o", "old.npz"),
    "old.lp": ("lift", "model.mps", "-o", "old.lp"),
    "map.json": ("lift", "model.mps", "--map", "map.json"),
    "old/ship.csv": ("solve", "model.rlp", "--data", "tables", "--out", "old"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_grows_too_large_is_told_by_name_and_the_old_one_stays(
    name: str, children: Children, place: Path
) -> None:
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_bytes(OLD)
    before = {path for path in place.rglob("*") if path.is_file()}
    ended = children.run(*WRITERS[name], file_bytes=20, folder=str(place))
    assert (ended.code, ended.out, ended.err) == (2, "", f"relift: {name}: File too large.\n")
    assert (place / name).read_bytes() == OLD
    assert {path for path in place.rglob("*") if path.is_file()} == before
    assert ended.temporary == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, where the machine lets us make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"a small file system cannot be made here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_by_name_and_the_old_file_stays(children: Children, place: Path, small_disk: Path) -> None:
    target = small_disk / "old.json"
    target.write_bytes(OLD)
    (small_disk / "filler").write_bytes(b"x" * 61_000)
    n = 3000
    relift.write_program(relift.Program(q=np.arange(1.0, n + 1), lb=0.25), place / "wide.npz")
    ended = children.run("solve", "wide.npz", "-o", str(target), folder=str(place))
    assert (ended.code, ended.out, ended.err) == (2, "", f"relift: {target}: No space left on device.\n")
    assert target.read_bytes() == OLD
    assert sorted(os.listdir(small_disk)) == ["filler", "old.json"]


@pytest.mark.parametrize("words", [("solve", "model.mps"), ("solve", "model.mps", "--json"), ("inspect", "model.mps")])
def test_output_that_cannot_be_printed_is_an_error(words: tuple[str, ...], children: Children, place: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    ended = children.run(*words, stdout="/dev/full", folder=str(place))
    assert (ended.code, ended.err) == (2, "relift: No space left on device.\n")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of three million entries, which needs some hundred MB on its way."""
    folder = tmp_path_factory.mktemp("large")
    n, each = 300_000, 10
    random = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(n), each), random.integers(0, n, n * each)
    A = sparse.csc_array((np.ones(n * each), (rows, columns)), shape=(n, n))
    relift.write_program(relift.Program(q=random.random(n).round(3), A=A, l=np.ones(n), lb=0), folder / "large.npz")
    return folder


@pytest.mark.parametrize("megabytes", [16, 32, 64])
def test_too_little_memory_is_a_sentence_and_never_a_crash(megabytes: int, children: Children, large: Path) -> None:
    ended = children.run("lift", "large.npz", "--json", memory_bytes=megabytes << 20, folder=str(large))
    assert (ended.code, ended.out) == (6, "")
    assert ended.err == "relift: there is not enough memory for this model.\n"
    assert ended.temporary == []


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model over a table of 60,000 rows."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "flow.rlp").write_text(
        """
        param cap/2;
        var flow(X,Y) in cap(X,Y) >= 0 <= cap(X,Y);
        maximize total: sum{X,Y in cap(X,Y)} flow(X,Y);
        subject to most forall {Y in cap(_,Y)}: sum{X in cap(X,Y)} flow(X,Y) <= 3;
        """,
        encoding="utf-8",
    )
    lines = (f"n{k},m{k % 997},{k % 7}\n" for k in range(60_000))
    (folder / "cap.csv").write_text("X,Y,value\n" + "".join(lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize("megabytes", [24, 48, 64, 192, 400, 700])
@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb")])
def test_too_little_memory_for_duckdb_is_a_sentence_and_never_a_crash(
    megabytes: int, engine: tuple[str, ...], children: Children, tables: Path
) -> None:
    words = ("ground", "flow.rlp", "--data", ".", "--json", *engine)
    ended = children.run(*words, memory_bytes=megabytes << 20, folder=str(tables))
    assert (ended.code, ended.out) == (6, "")
    memory = "relift: there is not enough memory for this model.\n"
    assert ended.err == memory or re.fullmatch(
        r"relift: the limit on the address space leaves \d+ MB, and DuckDB needs 768 MB. Raise the limit "
        r"\(ulimit -v\)\.\n",
        ended.err,
    )
    assert ended.temporary == []


def test_duckdb_keeps_below_a_limit_on_the_address_space(children: Children, tables: Path) -> None:
    words = ("ground", "flow.rlp", "--data", ".", "--json", "--engine", "duckdb")
    ended = children.run(*words, memory_bytes=4 << 30, folder=str(tables))
    assert (ended.code, ended.err) == (0, "")
    code = (
        "from relift.tables.duckdb.engine import DuckDBEngine\n"
        "with DuckDBEngine() as engine:\n"
        "    print(engine._do(\"SELECT current_setting('threads')\")[0][0])\n"
        "    print(engine._do(\"SELECT current_setting('memory_limit')\")[0][0])\n"
    )
    threads, memory = children.run(code=code, memory_bytes=4 << 30, folder=str(tables)).out.split("\n")[:2]
    assert threads == "1"
    assert memory.endswith(" GiB")
    assert 1.0 < float(memory.split()[0]) < 2.1
