"""A server that is killed and restarted while a model is grounded; executors of Spark that are killed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.data import ROOT
from tests.grounding import programs as p
from tests.grounding.same_program import assert_same_program
from tests.postgres_server import Server

import relift
from relift.errors import EngineError


@pytest.mark.parametrize("restarts_at", ["first", "middle", "last"])
def test_a_server_that_is_killed_and_restarted_while_grounding(
    restarts_at: str, mortal_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    psycopg = pytest.importorskip("psycopg")
    from relift.tables.postgres.engine import PostgresEngine

    with psycopg.connect(mortal_server.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE edge AS SELECT x, (x + 1) % 7 AS y FROM generate_series(0, 6) AS x")
        connection.execute("CHECKPOINT")
    text, url = p.MAP_LP, mortal_server.url()
    create, calls = PostgresEngine.create, [0]

    def counting(self: Any, *args: Any, **kwargs: Any) -> int:
        calls[0] += 1
        return create(self, *args, **kwargs)

    monkeypatch.setattr(PostgresEngine, "create", counting)
    with relift.ground_model(text, engine=url) as whole:
        n_calls = calls[0]
        assert n_calls >= 3
        at = {"first": 1, "middle": n_calls // 2, "last": n_calls}[restarts_at]

        def restarting(self: Any, *args: Any, **kwargs: Any) -> int:
            calls[0] += 1
            if calls[0] == at:
                mortal_server.stop()
                mortal_server.start()
            return create(self, *args, **kwargs)

        expected = relift.ground_model(text, {"edge": [(x, (x + 1) % 7) for x in range(7)]})
        assert_same_program(whole, expected)
    calls[0] = 0
    monkeypatch.setattr(PostgresEngine, "create", restarting)
    with pytest.raises(EngineError, match=r"the connection to postgresql://tester@/postgres.* was lost"):
        relift.ground_model(text, engine=url)
    monkeypatch.setattr(PostgresEngine, "create", create)
    with relift.ground_model(text, engine=url) as again:  # the very same call
        assert_same_program(again, expected)
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM edge").fetchone() == (7,)
        schemas = connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'relift%'").fetchone()
        assert schemas == (0,)


@pytest.mark.xdist_group("spark")
def test_an_executor_of_spark_that_is_killed_costs_at_most_one_more_run(tmp_path: Path) -> None:
    """Where nothing is stored yet, Spark runs its tasks elsewhere; stored rows may be lost, which is told."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("PySpark is not installed")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("there is no Java for Spark")
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.spark_cluster", str(tmp_path)], cwd=ROOT, capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [each["nth"] for each in said] == [0, 2], done.stderr[-2000:]
    assert [each["killed"] for each in said] == [1, 2]
    assert (said[0]["error"], said[0]["is_same"]) == ("", True)
    lost = "Spark lost stored rows together with an executor. Ground the model again."
    assert said[1]["is_same"] or said[1]["error"] == lost
    assert all(each["is_same_again"] for each in said)
