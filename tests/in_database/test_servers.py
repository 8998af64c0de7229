"""Lifting inside PostgreSQL and Spark: the classes of the core; a killed lifting goes on in a schema that is kept."""

from __future__ import annotations

import importlib.util
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.in_database.test_ground_tables import FLEET, fleet_data
from tests.in_database.test_lift_tables import (
    METHODS,
    assert_as_local,
    assert_lifting_as_local,
    close,
    lifted,
    ring_with_a_mark,
)
from tests.in_database.test_state import RESUME, path_program
from tests.postgres_server import Server

import relift
from relift.errors import EngineError
from relift.in_database import lift_tables, tables_from_program
from relift.settings import LiftMethod, Progress
from relift.tables.engine import Engine
from relift.testing.random_programs import random_program, symmetric_program


@pytest.fixture
def postgres(postgres_server: Server) -> Iterator[Engine]:
    from relift.tables.postgres.engine import PostgresEngine

    with PostgresEngine(postgres_server.url()) as engine:
        yield engine


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [1, 2])
def test_postgresql_finds_the_classes_of_the_core(postgres: Engine, seed: int, method: LiftMethod) -> None:
    program = symmetric_program(seed, quadratic=seed == 1, scaled_rows=True).program
    assert_as_local(postgres, program, method)


def test_postgresql_leaves_a_program_without_symmetry_as_it_is(postgres: Engine) -> None:
    assert_as_local(postgres, random_program(5, n=5, m=4), "equitable")


def test_postgresql_catches_collisions_of_words(postgres: Engine) -> None:
    program = ring_with_a_mark(7)
    lifting = lifted(postgres, program, word_bits=1)
    assert lifting.variable_partition == relift.lift(program, reduce=False, sizes=False, signs=False).variables


def test_a_model_is_solved_inside_of_postgresql(postgres_server: Server) -> None:
    model, data = relift.Model.from_text(FLEET), fleet_data(cars=5, slots=3)
    local = model.solve(data=data)
    with model.solve(data=data, engine=postgres_server.url(), lift_in_engine=True) as answer:
        assert answer.objective == pytest.approx(local.objective, rel=1e-7)
        assert answer.certificate.is_optimal
        assert answer["level"].to_dict() == pytest.approx(local["level"].to_dict(), abs=1e-5)


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from tests.in_database.test_state import RESUME, path_program
from relift.in_database import lift_tables, tables_from_program
from relift.tables.postgres.engine import PostgresEngine

def kill_in_round_three(event):
    if event.round == 3:
        os.kill(os.getpid(), signal.SIGKILL)

engine = PostgresEngine(sys.argv[2], schema="lift_test")
lift_tables(engine, **tables_from_program(path_program(14)), settings=RESUME, progress=kill_in_round_three)
"""


def test_a_killed_lifting_is_resumed_in_a_schema_of_postgresql(postgres_server: Server) -> None:
    from relift.tables.postgres.engine import PostgresEngine

    root = str(Path(__file__).parents[2])
    words = [sys.executable, "-c", KILLED, root, postgres_server.url()]
    ended = subprocess.run(words, check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    program, seen = path_program(14), list[Progress]()
    with PostgresEngine(postgres_server.url(), schema="lift_test") as engine:
        lifting = lift_tables(engine, **tables_from_program(program), settings=RESUME, progress=seen.append)
        assert lifting.variable_partition == relift.lift(program, reduce=False, sizes=False, signs=False).variables
        assert any("resumed after round" in event.message for event in seen)
        lifting.close()
        lifting.program.drop()
        assert engine.tables() == []


@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark_finds_the_classes_of_the_core_and_goes_on_from_its_checkpoints(tmp_path: Path) -> None:
    from relift.tables.spark.engine import SparkEngine

    program = ring_with_a_mark(7)
    tables = tables_from_program(program)

    def fail_in_round_two(event: Progress) -> None:
        if event.round == 2:
            raise EngineError("the driver is gone.")

    with SparkEngine(driver_memory="1g") as first:
        session = first._open.parent
        kept: dict[str, Any] = {"checkpoint_folder": str(tmp_path), "keep_tables": True}
        with SparkEngine(session, **kept) as engine, pytest.raises(EngineError, match="driver is gone"):
            lift_tables(engine, **tables, settings=RESUME, progress=fail_in_round_two)
        seen: list[Progress] = []
        with SparkEngine(session, **kept) as engine:
            lifting = lift_tables(engine, **tables, settings=RESUME, progress=seen.append)
            assert any("resumed after round 2" in event.message for event in seen)
            assert_lifting_as_local(lifting, program, "equitable")
            close(lifting)
            assert engine.tables() == []
