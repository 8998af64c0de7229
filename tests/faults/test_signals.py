"""Ctrl-C and SIGTERM end the work in every stage: one sentence, a code of its own, no file touched, nothing left."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests.faults.children import Children

SOLVE = ("solve", "model.mps", "-o", "old.json")
GROUND = ("solve", "model.rlp", "--data", "tables", "--out", "results")
STAGES: dict[str, tuple[tuple[str, ...], str]] = {
    "reading MPS": (SOLVE, "relift.formats.mps_reader:program_from_mps_with_notes"),
    "reading LP": (("solve", "model.lp", "-o", "old.json"), "relift.formats.lp_reader:program_from_lp_with_notes"),
    "reading npz": (("solve", "model.npz", "-o", "old.json"), "relift.formats.npz:program_from_npz"),
    "presolve": (SOLVE, "relift.lifting.stages:reduce"),
    "finding classes": (SOLVE, "relift.lifting.stages:find_up_to_scale"),
    "checking classes": (SOLVE, "relift.lifting.stages:distance_from_equitable"),
    "merging": (SOLVE, "relift.lifting.stages:quotient"),
    "HiGHS": (SOLVE, "relift.solvers.highs_:HighsBackend.solve"),
    "Clarabel": (("solve", "square.mps", "-o", "old.json"), "relift.solvers.clarabel_:ClarabelBackend.solve"),
    "expanding": (SOLVE, "relift.lifting.quotient:Quotient.expand"),
    "certifying": (SOLVE, "relift.certified_solve:certify"),
    "crossover": ((*SOLVE, "--vertex"), "relift.certified_solve:vertex_solution"),
    "approximate lifting": ((*SOLVE, "--approximate", "1e-3"), "relift.approximate_solve:ApproximateSolve.run"),
    "writing the answer": (SOLVE, "os:fsync"),
    "writing a small model": (("lift", "model.mps", "-o", "old.lp", "--map", "old.json"), "os:fsync"),
    "expanding an answer": (
        ("expand", "map.json", "small.json", "-o", "old.json"),
        "relift.lifting.certificate:certify",
    ),
    "checking an answer": (("check", "model.mps", "solution.json"), "relift.lifting.certificate:certify"),
    "inspecting": (("inspect", "model.mps"), "relift.lifting.stages:find_up_to_scale"),
    "parsing a model": (GROUND, "relift.language.checks.check_model:read"),
    "reading tables": (GROUND, "relift.tables.memory.engine:MemoryEngine.attach"),
    "grounding": (GROUND, "relift.modelling.solve_model:ground"),
    "grounding in DuckDB": ((*GROUND, "--engine", "duckdb"), "relift.tables.duckdb.engine:DuckDBEngine.create"),
    "lifting inside of DuckDB": ((*GROUND, "--lift-in-engine"), "relift.tables.duckdb.engine:DuckDBEngine.create"),
    "writing tables": (GROUND, "os:fsync"),
    "formatting a model": (("fmt", "-w", "model.rlp"), "os:fsync"),
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_signal_in_any_stage_ends_the_work_and_leaves_nothing(
    stage: str, number: signal.Signals, children: Children, place: Path
) -> None:
    words, point = STAGES[stage]
    for name in ("old.json", "old.lp"):
        (place / name).write_bytes(b"an older answer\n")
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    ended = children.run(*words, point=point, signal=int(number), folder=str(place))
    sentence = "relift: interrupted.\n" if number == signal.SIGINT else "relift: terminated.\n"
    assert (ended.code, ended.out) == (128 + number, "")
    assert ended.err.endswith(sentence)
    if stage != "lifting inside of DuckDB":  # which tells its rounds, and how many of them are lost
        assert ended.err == sentence
    after = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert after == before
    assert ended.temporary == []


def test_without_a_signal_the_work_goes_on_to_its_end(children: Children, place: Path) -> None:
    """Signal 0 does nothing."""
    words, point = STAGES["writing the answer"]
    ended = children.run(*words, point=point, signal=0, folder=str(place))
    assert (ended.code, ended.err, ended.temporary) == (0, "", [])
    assert b'"optimal"' in (place / "old.json").read_bytes()


def test_a_signal_that_the_caller_ignores_stays_ignored(children: Children, place: Path) -> None:
    code = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from relift.cli.run import _end_like_control_c
_end_like_control_c()
os.kill(os.getpid(), signal.SIGHUP)
print("still here")
"""
    ended = children.run(code=code, folder=str(place))
    assert (ended.code, ended.out, ended.err) == (0, "still here\n", "")
