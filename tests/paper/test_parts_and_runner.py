"""Finished parts are used again for the very same work, and for no other; what is damaged is told and done anew."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="experiments need scikit-learn")
pytest.importorskip("matplotlib", reason="experiments need matplotlib")

from tests.cli.test_commands import environment
from tests.paper import toy
from tests.paper.toy import TOY
from tests.waiting import wait_until

from relift.errors import OptionError
from relift.paper import runner
from relift.paper.framework import Experiment, Part, Request, Row, Setup
from relift.paper.runner import Told, make_plan, run_plan


def counting(counter: list[str], experiment: Experiment = TOY) -> Experiment:
    """The experiment, with the key of every part that is really run noted down."""

    def run(setup: Setup, part: Part) -> list[Row]:
        counter.append(part.key)
        return experiment.run(setup, part)

    return replace(experiment, run=run)


def rows_of(out: Path, request: Request | None = None, counter: list[str] | None = None, **plan: bool) -> list[Row]:
    experiment = TOY if counter is None else counting(counter)
    return run_plan(make_plan(experiment, request or Request(), out, **plan)).rows


def part_files(out: Path) -> list[Path]:
    return sorted((out / "toy" / "parts").glob("*.json"))


def test_finished_parts_are_not_done_again_and_give_the_same_rows(tmp_path: Path) -> None:
    done: list[str] = []
    first = rows_of(tmp_path, counter=done)
    assert len(done) == len(part_files(tmp_path)) == 6
    assert rows_of(tmp_path, counter=done) == first
    assert len(done) == 6
    assert first[2] == {"k": 2, "value": 4.0, "pair": [1, 2]}  # as read from a file, also the first time


def test_fresh_does_everything_again(tmp_path: Path) -> None:
    done: list[str] = []
    rows_of(tmp_path, counter=done)
    rows_of(tmp_path, counter=done, fresh=True)
    assert len(done) == 12


@pytest.mark.parametrize("request_", [Request(seed=1), Request(overrides={"power": 3})])
def test_another_seed_or_setting_uses_no_stale_part_and_keeps_the_old_ones(tmp_path: Path, request_: Request) -> None:
    first = rows_of(tmp_path)
    done: list[str] = []
    other = rows_of(tmp_path, request_, done)
    assert len(done) == 6
    assert other != first
    assert rows_of(tmp_path, counter=done) == first
    assert len(done) == 6


def test_a_quick_run_does_not_disturb_a_full_one(tmp_path: Path) -> None:
    rows_of(tmp_path)
    done: list[str] = []
    assert len(rows_of(tmp_path, Request(quick=True), done)) == 3
    rows_of(tmp_path, counter=done)
    assert len(done) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda e: replace(e, revision=2),
        lambda e: replace(e, name="other"),
        lambda e: replace(e, parts=lambda setup: [replace(p, values={**p.values, "more": 1}) for p in e.parts(setup)]),
    ],
    ids=["revision", "name", "values of the parts"],
)
def test_whatever_decides_the_rows_is_in_the_fingerprint(
    tmp_path: Path, change: Callable[[Experiment], Experiment]
) -> None:
    before = make_plan(TOY, Request(), tmp_path).marks
    assert not set(before) & set(make_plan(change(TOY), Request(), tmp_path).marks)
    assert before == make_plan(TOY, Request(), tmp_path / "elsewhere").marks


def test_another_version_of_relift_uses_no_old_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = make_plan(TOY, Request(), tmp_path).marks
    monkeypatch.setattr("relift.paper.versions.__version__", "99.0")
    assert not set(before) & set(make_plan(TOY, Request(), tmp_path).marks)


def damaged(content: str, how: str) -> str:
    if how == "cut off":
        return content[: len(content) // 2]
    if how == "changed":
        document = json.loads(content)
        document["rows"][0]["value"] += 1
        return json.dumps(document)
    if how == "foreign":
        return "[]"
    document = json.loads(content)
    del document["rows"]
    return json.dumps(document)


@pytest.mark.parametrize("how", ["cut off", "changed", "foreign", "without rows"])
def test_a_damaged_part_is_told_and_done_again(tmp_path: Path, how: str) -> None:
    first = rows_of(tmp_path)
    victim = part_files(tmp_path)[3]
    victim.write_text(damaged(victim.read_text(), how))
    plan = make_plan(TOY, Request(), tmp_path)
    assert len(plan.finished) == 5
    assert len(plan.remarks) == 1
    assert str(victim) in plan.remarks[0]
    done: list[str] = []
    assert rows_of(tmp_path, counter=done) == first
    assert done == ["number-3"]
    assert make_plan(TOY, Request(), tmp_path).remarks == ()


def test_a_part_that_fails_leaves_the_finished_ones(tmp_path: Path) -> None:
    def run(setup: Setup, part: Part) -> list[Row]:
        if part["k"] == 4:
            raise RuntimeError("no luck")
        return TOY.run(setup, part)

    with pytest.raises(RuntimeError, match="no luck"):
        run_plan(make_plan(replace(TOY, run=run), Request(), tmp_path))
    assert len(part_files(tmp_path)) == 4
    done: list[str] = []
    assert len(rows_of(tmp_path, counter=done)) == 6
    assert done == ["number-4", "number-5"]


def test_rows_that_are_not_json_are_refused(tmp_path: Path) -> None:
    bad = replace(TOY, run=lambda setup, part: [{"value": float("nan")}])
    with pytest.raises(ValueError, match="JSON"):
        run_plan(make_plan(bad, Request(), tmp_path))
    assert part_files(tmp_path) == []


def test_killed_in_the_middle_it_goes_on_to_the_same_rows(tmp_path: Path) -> None:
    expected = rows_of(tmp_path / "whole")
    out = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, toy.__file__, str(out), "3"], env=environment())
    assert wait_until(lambda: process.poll() is not None or len(part_files(out)) == 3)
    process.kill()
    process.wait()
    assert len(part_files(out)) == 3
    done: list[str] = []
    assert rows_of(out, counter=done) == expected
    assert done == ["number-3", "number-4", "number-5"]


def test_progress_counts_parts_and_time_runs_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count()
    monkeypatch.setattr(runner, "perf_counter", lambda: float(next(ticks)))  # every part takes the second it is said to
    told: list[Told] = []
    run_plan(make_plan(TOY, Request(), tmp_path), told.append)
    assert [event.done for event in told] == [0, 1, 2, 3, 4, 5, 6]
    assert [event.label for event in told[:2]] == ["number 0", "number 1"]
    assert told[-1].label == ""
    assert [event.seconds_left for event in told] == pytest.approx([6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0])


def test_wrong_requests_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"'toy' has no setting 'nmubers'. It has numbers, power."):
        make_plan(TOY, Request(overrides={"nmubers": 1}), tmp_path)
    with pytest.raises(OptionError, match=r"'toy' takes no data"):
        make_plan(TOY, Request(data=(tmp_path,)), tmp_path)
    picky = replace(TOY, takes=lambda path: path.suffix == ".txt", data_help="a .txt file")
    (tmp_path / "x.csv").touch()
    with pytest.raises(OptionError, match=r"toy cannot use .*x\.csv. It takes a \.txt file"):
        make_plan(picky, Request(data=(tmp_path / "x.csv",)), tmp_path)
    with pytest.raises(FileNotFoundError):
        make_plan(picky, Request(data=(tmp_path / "y.txt",)), tmp_path)
