from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from relift.errors import EngineError
from relift.tables.algebra import Column, Join, Project, Scan, Type
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.sources.table import source_from_data
from relift.testing.conformance import Case
from relift.testing.conformance_engine import CASES


@pytest.mark.parametrize("case", CASES, ids=str)
def test_duckdb_conforms(case: Case[Engine]) -> None:
    with DuckDBEngine() as engine:
        case.check(engine)


def test_nothing_outside_can_be_reached_after_loading(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with DuckDBEngine() as engine:
        engine.seal()
        for statement in (
            f"SELECT * FROM read_csv('{tmp_path}/secret.csv')",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            f"ATTACH '{tmp_path}/other.db'",
            "SET enable_external_access = true",
            "SET memory_limit = '1GB'",
            "INSTALL httpfs",
        ):
            with pytest.raises(EngineError):
                engine._run(statement)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.csv"]


def test_large_results_spill_into_a_folder_that_is_removed() -> None:
    with DuckDBEngine(memory_limit="150MB", threads=1) as engine:
        folder = Path(engine._own_folder or "")
        assert folder.is_dir()
        columns = engine.attach("t", source_from_data("t", np.arange(3_000_000)))
        table = Scan("t", {"X": ("c0", columns["c0"])})
        other = Project(table, {"X": Column("X"), "Y": Column("X")})
        engine.seal()
        assert engine.create("sorted", Join(table, other), number=("n", ("Y",))) == 3_000_000
        assert engine.count(Scan("sorted", {"n": ("n", Type.INTEGER)}), 10**8) == 3_000_000
    assert not folder.exists()


def test_an_engine_that_nobody_closed_ends_with_the_process() -> None:
    script = (
        "import threading; from relift.tables.duckdb.engine import DuckDBEngine\n"
        "threading.main_thread().kept = engine = DuckDBEngine()\n"  # lives longer than the modules
        "print(engine._own_folder)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    assert not Path(ran.stdout.strip()).exists()


def test_a_wrong_setting_is_an_engine_error() -> None:
    with pytest.raises(EngineError, match="DuckDB does not start"):
        DuckDBEngine(memory_limit="plenty")
