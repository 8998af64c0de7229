"""The command line for models in the relational language."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from relift import read_program, solve
from relift.cli.run import run

MODEL = """# what to buy
param need/1,price/1, budget = 100;
var buy(I) in need(I) >= 0;
minimize cost: sum{I in need(I)} price(I)*buy(I);
subject to met forall {I in need(I)}: buy(I) >= need(I);
subject to paid: sum{I in need(I)} price(I)*buy(I) <= budget;
"""


@pytest.fixture
def shop(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "shop.rlp").write_text(MODEL)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "need.csv").write_text("item,amount\ntea,3\nNew York bagel,2\n")
    (tmp_path / "data" / "price.csv").write_text("item,euro\ntea,2\nNew York bagel,1\n")
    return str(tmp_path / "shop.rlp"), str(tmp_path / "data")


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("relift: ")
    assert "Traceback" not in errors
    return errors


def test_solve_prints_statements_and_values(shop: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", shop[0], "--data", shop[1]]) == 0
    output = capsys.readouterr().out
    assert output.startswith("optimal, objective 8: 2 unknowns and 3 rows")
    assert "New York bagel: 2" in output
    assert "passed" in output


def test_a_model_alone_means_solve_in_a_process_of_its_own(shop: tuple[str, str]) -> None:
    words = [sys.executable, "-m", "relift", shop[0], "--data", shop[1], "--param", "budget=7", "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")


def test_out_writes_a_table_for_each_predicate(
    shop: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "some" / "results"
    assert run(["solve", shop[0], "--data", shop[1], "--param", "budget=50", "--out", str(out)]) == 0
    assert f"written to {out}" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == ["buy.csv", "duals", "solution.json"]
    with (out / "buy.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == [{"I": "New York bagel", "value": "2.0"}, {"I": "tea", "value": "3.0"}]
    with (out / "duals" / "met.csv").open(newline="") as file:
        assert [float(row["dual"]) for row in csv.DictReader(file)] == [-1, -2]
    document = json.loads((out / "solution.json").read_text())
    assert (document["status"], document["objective"]) == ("optimal", 8)
    assert document["files"] == ["buy.csv", "duals/met.csv", "duals/paid.csv"]
    assert [s["name"] for s in document["statements"]] == ["buy", "met", "paid", "cost"]


def test_many_values_are_written_by_out(
    shop: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(shop[1], "need.csv").write_text("item,amount\n" + "".join(f"i{k},1\n" for k in range(50)))
    Path(shop[1], "price.csv").write_text("item,euro\n" + "".join(f"i{k},1\n" for k in range(50)))
    assert run([shop[0], "--data", shop[1]]) == 0
    assert "50 values; --out DIR writes them\n" in capsys.readouterr().out
    assert run([shop[0], "--data", shop[1], "--out", str(tmp_path / "results")]) == 0
    assert "50 values\n" in capsys.readouterr().out


def test_json_holds_everything(shop: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([shop[0], "--data", shop[1], "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "relift-model-solution"
    assert document["variables"]["buy"]["value"] == [2, 3]
    assert document["constraints"]["met"]["I"] == ["New York bagel", "tea"]
    assert document["constraints"]["paid"]["lower"] == ["-inf"]


def test_an_infeasible_model_tells_why(shop: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([shop[0], "--data", shop[1], "--param", "budget=7", "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert {found["name"] for found in document["conflict"]} == {"met", "paid"}
    assert document["variables"] == {}
    assert run([shop[0], "--data", shop[1], "--param", "budget=7"]) == 3
    assert "These cannot hold together" in capsys.readouterr().out


def test_an_unbounded_model(tmp_path: Path) -> None:
    (tmp_path / "m.rlp").write_text("var x; minimize: x;")
    assert run([str(tmp_path / "m.rlp"), "--quiet"]) == 4


def test_ground_writes_a_file_with_names(
    shop: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "shop.mps"
    assert run(["ground", shop[0], "--data", shop[1], "-o", str(target)]) == 0
    assert "met" in capsys.readouterr().out
    program = read_program(target)
    assert solve(program).objective == pytest.approx(8)
    assert list(program.row_names)[-1] == "paid"
    assert "buy(tea)" in list(program.variable_names)
    assert run(["ground", shop[0], "--data", shop[1], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sizes"]["variables"] == 2


def test_check_says_yes(shop: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", shop[0]]) == 0
    assert "valid (0 relations, 3 params, 1 variables, 0 rules, 2 constraints)" in capsys.readouterr().out
    assert run(["check", shop[0], "--data", shop[1]]) == 0
    assert "Program(LP, min, 2 variables" in capsys.readouterr().out


def test_check_points_at_every_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.rlp"
    path.write_text(
        "relation p/1; var weight(I) in p(I);\nminimize: sum{I in p(I)} wieght(I);\nsubject to c: q >= 1;\n"
    )
    assert run(["check", str(path)]) == 2
    message = error_of(capsys)
    assert "2 errors" in message
    assert "    2 | minimize: sum{I in p(I)} wieght(I);\n      |                          ^^^^^^" in message
    assert "Did you mean 'weight'?" in message
    assert "bad.rlp:3:15" in message


def test_fmt(shop: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fmt", shop[0]]) == 0
    formatted = capsys.readouterr().out
    assert formatted.startswith("# what to buy\nparam need/1, price/1, budget = 100;\n")
    assert Path(shop[0]).read_text() == MODEL
    assert run(["fmt", "--check", shop[0]]) == 6
    assert run(["fmt", "--diff", shop[0]]) == 0
    assert "-param need/1,price/1" in capsys.readouterr().out
    assert run(["fmt", "--write", shop[0]]) == 0
    assert Path(shop[0]).read_text() == formatted
    assert run(["fmt", "--check", shop[0]]) == 0


def test_show(shop: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", shop[0]]) == 0
    output = capsys.readouterr().out
    assert "5     constraint  met       buy, need" in output
    assert "sizes and queries need data" in output
    assert run(["show", shop[0], "--data", shop[1], "--sql"]) == 0
    output = capsys.readouterr().out
    assert "-- the constraint 'met', query 1\nSELECT" in output
    assert "Program(LP, min, 2 variables, 3 rows" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve", "none.rlp"], "none.rlp: no such file or folder."),
        (["solve", "MODEL"], "no table is loaded for the param 'need'."),
        (["solve", "MODEL", "--data", "nowhere"], "there is no folder 'nowhere'."),
        (["solve", "MODEL", "--data", "DATA", "--param", "budget"], "--param 'budget' is not of the form NAME=NUMBER."),
        (["solve", "MODEL", "--data", "DATA", "--param", "budget=x"], "--param budget is 'x', which is not a number."),
        (["solve", "MODEL", "--data", "DATA", "--param", "bugdet=1"], "data are given for 'bugdet'"),
        (["solve", "MODEL", "--data", "DATA", "--param", "need=1"], "the param 'need' has arguments."),
        (["solve", "MODEL", "--data", "DATA", "--limit", "1"], "the variable 'buy' would have more than 1 rows"),
        (
            ["solve", "MODEL", "--data", "DATA", "--compare"],
            "--compare does not apply to models in the modelling language (.rlp).",
        ),
        (["solve", "MODEL", "--data", "DATA", "--out", "MODEL"], "MODEL: it is a file, not a folder."),
        (["ground", "x.mps"], "x.mps is not a model in the modelling language."),
        (["ground", "MODEL", "--data", "DATA", "-o", "x.txt"], "x.txt: the file extension is unknown."),
        (["fmt", "--write", "--check", "MODEL"], "--write and --check contradict each other."),
        (["check", "MODEL", "solution.json"], "a .rlp model is checked by itself."),
        (
            ["check", "x.json", "model.mps.gz"],
            "the model comes first, then its solution. Write: relift check model.mps.gz",
        ),
        (["check", "x.mps"], "the solution to check is missing."),
        (["solve", "x.mps", "--data", "DATA"], "--data applies to .rlp models, and x.mps is not one."),
    ],
)
def test_errors_are_told_without_a_traceback(
    words: list[str], message: str, shop: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    real = {"MODEL": shop[0], "DATA": shop[1]}
    assert run([real.get(word, word) for word in words]) == 2
    assert message.replace("MODEL", shop[0]) in error_of(capsys).replace("\n", " ")


def test_wrong_encodings_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.rlp").write_bytes("var größe; minimize: größe;".encode("utf-16"))
    assert run(["check", str(tmp_path / "m.rlp")]) == 2
    assert "is not UTF-8 text" in error_of(capsys)
