"""``relift solve MODEL --lift-in-engine``: the answer, its files, its options, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relift.cli.run import run

MODEL = """
param demand/1, price/1;   var buy(I) in demand(I) >= 0;
minimize cost: sum{I in demand(I)} price(I)*buy(I);
subject to met forall {I in demand(I)}: buy(I) >= demand(I);
"""


@pytest.fixture
def shop(tmp_path: Path) -> list[str]:
    (tmp_path / "shop.rlp").write_text(MODEL)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "demand.csv").write_text("item,amount\ntea,2\nmilk,2\nsalt,1\n")
    (tmp_path / "data" / "price.csv").write_text("item,price\ntea,1.5\nmilk,1.5\nsalt,1.5\n")
    return ["solve", str(tmp_path / "shop.rlp"), "--data", str(tmp_path / "data"), "--lift-in-engine"]


def test_the_answer_is_printed_and_rounds_are_told(shop: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(shop) == 0
    printed = capsys.readouterr()
    assert "optimal: cost = 7.5" in printed.out
    assert "in duckdb: 3 variables, 3 rows, 3 nonzeros" in printed.out
    assert "fetched: 2 variables, 2 rows" in printed.out
    assert "passed" in printed.out
    assert "round 1: " in printed.err
    assert "2 + 2 classes" in printed.err


def test_json_and_tables(shop: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run([*shop, "--json", "--out", str(out), "--lift", "counting", "--verify", "hash"]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert (document["status"], document["objective"], document["engine"]) == ("optimal", 7.5, "duckdb")
    assert document["sizes"]["lifted_variables"] == 2
    assert (out / "buy.csv").read_text() == "I,value\nmilk,2.0\nsalt,1.0\ntea,2.0\n"
    assert (out / "duals" / "met.csv").read_text() == "I,dual\nmilk,-1.5\nsalt,-1.5\ntea,-1.5\n"
    assert json.loads((out / "solution.json").read_text()) == document


def test_a_file_for_the_tables_can_be_resumed_and_is_left_empty(shop: list[str], tmp_path: Path) -> None:
    database = tmp_path / "lift.duckdb"
    words = [*shop, "--quiet", "--database", str(database), "--resume", "--memory-limit", "300MB"]
    assert run(words) == 0
    assert run(words) == 0
    import duckdb

    with duckdb.connect(str(database)) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume"], "resume needs an engine that keeps its tables"),
        (["--verify", "maybe"], "verify='maybe' is not valid"),
        (["--lift", "orbits"], "lift='orbits' is not available with lift_in_engine"),
        (["--digits", "6"], "digits cannot be combined with lift_in_engine"),
        (["--output", "x.json"], "--output cannot be combined with --lift-in-engine"),
        (["--engine", "postgresql://nobody@localhost:1/x", "--memory-limit", "1GB"], "memory_limit is for DuckDB"),
        (["--memory-limit", "much"], "DuckDB does not start"),
    ],
)
def test_wrong_words_are_refused(
    shop: list[str], words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*shop, *words]) in {2, 6}
    assert message in capsys.readouterr().err


def test_options_of_the_engine_need_its_word(shop: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*shop[:-1], "--memory-limit", "1GB"]) == 2
    assert "--memory-limit needs --lift-in-engine" in capsys.readouterr().err


def test_an_infeasible_model_is_proved_in_the_engine(shop: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(shop[1])
    path.write_text(MODEL + "subject to little: sum{I in demand(I)} buy(I) <= 4;\n")
    assert run([*shop, "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["status"] == "infeasible"
    assert document["certificate"]["ray_residual"] <= 1e-6
