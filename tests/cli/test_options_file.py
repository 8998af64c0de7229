"""Options of the command line can stand in a TOML file; what is typed wins."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import relift
from relift.cli.options_file import with_options_files
from relift.cli.run import run
from relift.cli.words import COMMANDS


@pytest.fixture
def model(tmp_path: Path) -> str:
    ring = relift.Program(q=np.ones(6), A=np.eye(6) + np.roll(np.eye(6), 1, axis=1), l=np.ones(6), lb=0)
    relift.write_program(ring, tmp_path / "ring.mps")
    return str(tmp_path / "ring.mps")


def options(tmp_path: Path, text: str) -> str:
    (tmp_path / "relift.toml").write_text(text)
    return str(tmp_path / "relift.toml")


def test_the_words_of_a_file_stand_before_those_that_are_typed(tmp_path: Path) -> None:
    text = 'lift = "none"\njson = true\nquiet = false\n'
    text += '[command.solve]\nbackend_option = ["a=1", "b=2"]\n[command.lift]\ndigits = 3\n'
    path = options(tmp_path, text)
    words = with_options_files(["solve", "m.mps", "--options", path, "--lift", "orbits"], COMMANDS)
    assert words == [
        "solve", "--lift=none", "--json", "--backend-option=a=1", "--backend-option=b=2", "m.mps", "--lift", "orbits",
    ]  # fmt: skip
    assert with_options_files(["lift", f"--options={path}", "m.mps"], COMMANDS)[-2:] == ["--digits=3", "m.mps"]


def test_a_solve_with_a_file_uses_its_options(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = options(tmp_path, 'lift = "none"\n[command.solve]\njson = true\nbackend = "clarabel"\ntime-limit = 60\n')
    assert run([model, "--options", path]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["backend"], document["sizes"]["lifted"]["variables"]) == ("clarabel", 6)
    assert run([model, "--options", path, "--lift", "equitable", "--backend", "highs"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["backend"], document["sizes"]["lifted"]["variables"]) == ("highs", 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lift = counting", "is not a TOML file"),
        ("[command.solv]\nlift = 'none'", "'solv' is not a command. Expected one of: solve, lift,"),
        ("[solve]\nlift = 'none'", "options of one command stand in [command.NAME]"),
        ("digits = 2024-01-01", "digits is datetime.date(2024, 1, 1). An option is a number, a string, true, false or"),
        ("lifd = 'none'", "relift.toml: no command has an option 'lifd'. Did you mean 'lift'?"),
        ("[command.solve]\nnearest = true", "relift.toml: relift solve has no option 'nearest'."),
        ("[command]\nsolve = 3", "relift.toml: command.solve is 3. Write a table: [command.solve]."),
        ("lift = 'cunning'", "cunning"),
    ],
)
def test_wrong_files_are_refused_in_one_sentence(
    text: str, message: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([model, "--options", options(tmp_path, text)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_key_for_all_commands_is_passed_over_by_those_that_do_not_have_it(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = options(tmp_path, "time_limit = 60\nvertex = true\njson = true\n")
    assert run(["inspect", model, "--options", path]) == 0
    assert json.loads(capsys.readouterr().out)["variables"]["one_sided"] == 6
    assert run(["solve", model, "--options", path]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "optimal"


def test_a_missing_file_and_a_missing_name_are_said(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([model, "--options", "none.toml"]) == 2
    assert capsys.readouterr().err == "relift: none.toml: no such file or folder.\n"
    assert run([model, "--options"]) == 2
    assert capsys.readouterr().err == "relift: --options has no file. Write --options FILE.toml.\n"
