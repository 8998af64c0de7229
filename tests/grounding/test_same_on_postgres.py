"""The same model over the same tables is the same program on DuckDB and on PostgreSQL, bit by bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from tests.data import data_folder
from tests.gallery.test_gallery import script
from tests.grounding.random_models import data, models
from tests.grounding.same_program import GALLERY, MODELS, PROGRAMS, assert_same_program
from tests.postgres_server import Server

import relift
from relift.errors import DataError, LanguageError
from relift.grounding.ground import ground
from relift.language.checks.check_model import check_text
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.postgres.engine import PostgresEngine

pytest.importorskip("adbc_driver_postgresql")


@pytest.mark.parametrize("name", PROGRAMS)
def test_worked_programs(name: str, postgres_server: Server) -> None:
    text, tables = PROGRAMS[name]
    here = relift.solve_model(text, tables, engine="duckdb")
    there = relift.solve_model(text, tables, engine=postgres_server.url())
    assert there.grounded.engine.name == "postgresql"
    assert_same_program(here.grounded, there.grounded)
    assert there.objective == here.objective
    there.grounded.close()


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_gallery(path: Path, postgres_server: Server) -> None:
    model = relift.Model.from_file(path)
    with model.ground(engine="duckdb") as here, model.ground(engine=postgres_server.url()) as there:
        assert_same_program(here, there)


def test_power_flow_of_a_real_grid(postgres_server: Server) -> None:
    tables = script("power_tables").power_tables(data_folder("power") / "case_ACTIVSg2000")
    model = relift.Model.from_file(MODELS / "dc_opf.rlp")
    with model.ground(tables, engine="duckdb") as here, model.ground(tables, engine=postgres_server.url()) as there:
        assert_same_program(here, there)


@settings(max_examples=12, deadline=None, phases=[Phase.reuse, Phase.generate], suppress_health_check=list(HealthCheck))
@given(text=models(), tables=data())
def test_random_models(text: str, tables: dict[str, Any], postgres_server: Server) -> None:
    try:
        model = check_text(text)
    except LanguageError as error:
        event(f"refused: {type(error).__name__}")
        return
    message = None
    try:
        here = ground(model, tables, engine=DuckDBEngine())
    except DataError as error:
        message = error.message
    if message is not None:
        event("no value")
        with pytest.raises(DataError) as caught:
            ground(model, tables, engine=PostgresEngine(postgres_server.url()))
        assert caught.value.message == message
        return
    event("grounded")
    with here, ground(model, tables, engine=PostgresEngine(postgres_server.url())) as there:
        assert_same_program(here, there)


def test_what_is_not_touched_is_taken_over(postgres_server: Server) -> None:
    text, _ = PROGRAMS["tc_qp_svm"]
    first = relift.solve_model(text, engine=postgres_server.url())
    again = first.resolve(params={"c2": 5})
    assert any(statement.is_reused for statement in again.grounded.statements)
    assert again.objective == pytest.approx(14)
    again.grounded.close()
