"""A lifting that is cut off goes on from where it was, on the same program only; without resume nothing stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift import Program
from relift.errors import EngineError, OptionError
from relift.in_database import EngineLiftSettings, lift_tables, tables_from_program
from relift.settings import Progress
from relift.tables.algebra import Plan, Scan, Type
from relift.tables.duckdb.engine import DuckDBEngine

RESUME = EngineLiftSettings(resume=True)


def path_program(n: int = 20, last_cost: float = 1.0) -> Program:
    """A path needs n / 2 rounds: it can be cut off in the midst of them."""
    A = sparse.diags_array([1.0, 1.0], offsets=[0, 1], shape=(n - 1, n))
    return Program(q=np.where(np.arange(n) < n - 1, 1.0, last_cost), A=A, l=np.ones(n - 1), lb=0)


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from tests.in_database.test_state import RESUME, path_program
from relift.in_database import lift_tables, tables_from_program
from relift.tables.duckdb.engine import DuckDBEngine

def kill_in_round_four(event):
    if event.round == 4:
        os.kill(os.getpid(), signal.SIGKILL)

engine = DuckDBEngine(database=sys.argv[2], threads=1)
lift_tables(engine, **tables_from_program(path_program()), settings=RESUME, progress=kill_in_round_four)
"""


def killed_run(database: Path) -> None:
    root = str(Path(__file__).parents[2])
    ended = subprocess.run([sys.executable, "-c", KILLED, root, str(database)], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


def test_a_killed_lifting_is_resumed_and_ends_in_the_same_classes(tmp_path: Path) -> None:
    database = tmp_path / "lift.duckdb"
    killed_run(database)
    program, seen = path_program(), list[Progress]()
    with DuckDBEngine(database=database, threads=1) as engine:
        lifting = lift_tables(engine, **tables_from_program(program), settings=RESUME, progress=seen.append)
        local = relift.lift(program, reduce=False, sizes=False, signs=False)
        assert lifting.variable_partition == local.variables
        assert lifting.row_partition == local.rows
        assert any("resumed after round" in event.message for event in seen)
        assert lifting.rounds < local.small.n_variables  # the rounds before the kill are not done again
        assert lifting.solve().certificate.is_optimal
        lifting.close()
        lifting.program.drop()
        assert engine.tables() == []


def test_a_resume_against_changed_data_is_refused(tmp_path: Path) -> None:
    database = tmp_path / "lift.duckdb"
    killed_run(database)
    with DuckDBEngine(database=database, threads=1) as engine:
        for other in (path_program(last_cost=2.0), path_program(n=21)):
            with pytest.raises(EngineError, match="has changed since the lifting that is to be resumed"):
                lift_tables(engine, **tables_from_program(other), settings=RESUME)
        scaled = path_program()
        changed = scaled.replace(A=scaled.A * np.where(np.arange(20) == 3, 2.0, 1.0))
        with pytest.raises(EngineError, match="Run without resume"):
            lift_tables(engine, **tables_from_program(changed), settings=RESUME)
        lifting = lift_tables(engine, **tables_from_program(scaled), settings=RESUME)  # the state is still there
        assert lifting.variable_partition == relift.lift(scaled, reduce=False, sizes=False, signs=False).variables


def test_without_resume_a_killed_run_leaves_nothing_that_counts(tmp_path: Path) -> None:
    database = tmp_path / "lift.duckdb"
    killed_run(database)
    other = path_program(last_cost=2.0)
    with DuckDBEngine(database=database, threads=1) as engine:
        lifting = lift_tables(engine, **tables_from_program(other))
        assert lifting.variable_partition == relift.lift(other, reduce=False, sizes=False, signs=False).variables
        lifting.close()
        lifting.program.drop()
        assert engine.tables() == []


@pytest.mark.parametrize("resume", [False, True])
def test_an_interrupted_lifting_says_what_is_left(tmp_path: Path, resume: bool) -> None:
    def interrupt(event: Progress) -> None:
        if event.round == 3:
            raise KeyboardInterrupt

    settings = EngineLiftSettings(resume=resume)
    with DuckDBEngine(database=tmp_path / "lift.duckdb", threads=1) as engine:
        message = "its state is kept, run again with resume" if resume else "nothing is left behind"
        with pytest.raises(KeyboardInterrupt, match=f"after 3 rounds; {message}"):
            lift_tables(engine, **tables_from_program(path_program()), settings=settings, progress=interrupt)
        assert any(name.startswith("relift_lift_") for name in engine.tables()) == resume


def test_control_c_stops_a_running_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal from outside, while DuckDB is at work on a statement that would not end in a year."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals arrive in the main thread")
    rounds, is_at_work, has_ended = list[int](), threading.Event(), threading.Event()

    def at_work(number: int) -> int:
        is_at_work.set()
        return number

    def send_signal() -> None:
        is_at_work.wait(600)  # only against waiting for ever
        os.kill(os.getpid(), signal.SIGINT)
        while not has_ended.wait(30):  # DuckDB 1.5 can lose a signal that arrives while it calls a function of Python
            os.kill(os.getpid(), signal.SIGINT)

    with DuckDBEngine(threads=1) as engine:
        endless_view(engine, at_work)
        create = engine.create

        def endless_from_round_two(name: str, plan: Plan, **options: Any) -> int:
            if rounds[-1:] != [2]:
                return create(name, plan, **options)
            try:
                return create(name, Scan("endless", {"X": ("x", Type.INTEGER)}))
            finally:
                has_ended.set()

        monkeypatch.setattr(engine, "create", endless_from_round_two)
        sender = threading.Thread(target=send_signal)
        sender.start()
        try:
            with pytest.raises(KeyboardInterrupt, match="nothing is left behind"):
                lift_tables(
                    engine, **tables_from_program(path_program()), progress=lambda event: rounds.append(event.round)
                )
        finally:
            has_ended.set()
            sender.join()
        assert is_at_work.is_set()
        assert not any(name.startswith("relift_lift_") for name in engine.tables())


def endless_view(engine: DuckDBEngine, at_work: Callable[[int], int]) -> None:
    """A view of 10^15 rows, none of which passes; ``at_work`` is called once DuckDB has begun with it."""
    engine._connection.create_function("at_work", at_work, ["BIGINT"], "BIGINT", side_effects=True)
    engine._connection.execute("""CREATE VIEW endless AS SELECT a.x FROM
        (SELECT range AS x FROM range(1000000000000000)) AS a, (SELECT at_work(1) AS y) AS b WHERE a.x * b.y = -7""")


def test_resume_needs_an_engine_that_keeps_its_tables() -> None:
    with DuckDBEngine(threads=1) as engine, pytest.raises(OptionError, match="keeps its tables"):
        lift_tables(engine, **tables_from_program(path_program()), settings=RESUME)
