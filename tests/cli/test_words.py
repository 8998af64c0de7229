"""Command lines that are right in every word are read as Typer reads them; all others are left to Typer."""

from __future__ import annotations

from inspect import getdoc
from pathlib import Path
from typing import Any

import pytest
import typer.main
from hypothesis import given
from hypothesis import strategies as st

from relift.cli.commands import app, for_typer
from relift.cli.words import COMMANDS, NotPlainError, Option, command_function, plain_call, slots_of, values_from_words

WORDS = ["m.lp", "d", "a=1", "7", "-7", "1e-3", "1_000", " 5", "nan", "counting", "bits", "gurobi", "-", "", "é", "no"]


def read_by_typer(name: str, words: list[str]) -> dict[str, Any] | None:
    """What Typer calls a command with; None if it refuses the words."""
    seen: list[dict[str, Any]] = []
    recorded = for_typer(command_function(name))

    def record(**values: Any) -> None:
        seen.append(values)

    record.__signature__ = recorded.__signature__  # type: ignore[attr-defined]
    record.__annotations__ = recorded.__annotations__
    small = typer.Typer(add_completion=False)
    small.command()(record)
    try:
        typer.main.get_command(small).main(words, standalone_mode=False, prog_name="relift")
    except Exception:  # noqa: BLE001 - whatever it refuses, and however it says so
        return None
    return seen[0] if seen else None


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    name = draw(st.sampled_from(sorted(COMMANDS)))
    words = [draw(st.sampled_from(WORDS)) for _ in range(draw(st.integers(0, 2)))]
    for slot in draw(st.lists(st.sampled_from(list(slots_of(command_function(name)))), max_size=4)):
        if not isinstance(slot.declared, Option):
            continue
        option = draw(st.sampled_from(slot.declared.names))
        value = draw(st.sampled_from(WORDS))
        word = draw(st.sampled_from(["flag", "=", "two"] if not slot.is_flag else ["flag", "flag", "="]))
        words += [option] if word == "flag" else [f"{option}={value}"] if word == "=" else [option, value]
    return name, words


@given(command_lines())
def test_what_is_read_is_read_as_typer_reads_it(line: tuple[str, list[str]]) -> None:
    name, words = line
    try:
        values = values_from_words(command_function(name), words)
    except NotPlainError:
        return
    assert _comparable(values) == _comparable(read_by_typer(name, words))


def _comparable(values: dict[str, Any] | None) -> Any:
    """Values with their types; a repeated option that is not there is None or empty, as the version of Typer has it."""
    return values and {name: (type(v).__name__, repr(v)) for name, v in values.items() if v not in (None, [], ())}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["m.lp"], {}),
        (["--json", "m.lp", "-q"], {"as_json": True, "quiet": True}),
        (
            ["m.lp", "-o", "s.json", "--tol", "1e-8", "--threads=2"],
            {"output": Path("s.json"), "tol": 1e-8, "threads": 2},
        ),
        (["m.lp", "--param", "a=1", "-p", "b=2"], {"param": ["a=1", "b=2"]}),
        (["m.lp", "--lift", "none", "--lift", "orbits"], {"lift": "orbits"}),
    ],
)
def test_right_words_need_no_typer(words: list[str], values: dict[str, Any]) -> None:
    read = values_from_words(command_function("solve"), words)
    assert read["model"] == Path("m.lp")
    assert {name: read[name] for name in values} == values
    assert read["backend"] == "auto"


@pytest.mark.parametrize(
    "words",
    [
        [], ["m.lp", "n.lp"], ["m.lp", "--help"], ["m.lp", "--outptu", "s.json"], ["m.lp", "-o"], ["m.lp", "-qv"],
        ["m.lp", "--json=yes"], ["m.lp", "--threads", "two"], ["m.lp", "--lift", "all"], ["m.lp", "--", "-q"],
        ["m.lp", "-o", "--json"], ["m.lp", "--threads", "-2"], ["m.lp", "--data", ""],
    ],
)  # fmt: skip
def test_other_words_are_left_to_typer(words: list[str]) -> None:
    with pytest.raises(NotPlainError):
        values_from_words(command_function("solve"), words)
    assert plain_call(["solve", *words], {}) is None


def test_a_number_below_the_least_is_left_to_typer() -> None:
    assert values_from_words(command_function("reproduce"), ["--seed", "0"])["seed"] == 0
    with pytest.raises(NotPlainError):
        values_from_words(command_function("reproduce"), ["--seed=-1"])


def test_completion_is_left_to_typer() -> None:
    assert plain_call(["solve", "m.lp"], {"_RELIFT_COMPLETE": "complete_bash"}) is None
    assert plain_call(["solve", "m.lp"], {}) is not None


def test_typer_knows_every_command_and_option() -> None:
    group: Any = typer.main.get_command(app)
    assert list(group.commands) == list(COMMANDS)
    for name, command in group.commands.items():
        declared = [slot.declared for slot in slots_of(command_function(name))]
        names = {option for each in declared if isinstance(each, Option) for option in each.names}
        assert {option for each in command.params for option in each.opts if option.startswith("-")} - {
            "--help", "-h",
        } == names  # fmt: skip
        assert command.help == getdoc(command_function(name))
