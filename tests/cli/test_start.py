"""What the command line imports for a small program: sparse matrices, the solver, and nothing else of others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.test_commands import environment

LP = "Maximize\n obj: 2 x + 3 y\nSubject To\n c1: x + y <= 4\nBounds\n x <= 3\n y <= 3\nEnd\n"
MODEL = """
param need/1, cost/2;
var ship(P, C) in cost(P, C) >= 0;
minimize: sum{P, C in cost(P, C)} cost(P, C) * ship(P, C);
subject to forall {C in need(C)}: sum{P in cost(P, C)} ship(P, C) >= need(C);
"""
CODE = """
import contextlib, io, sys
import highspy, scipy.sparse
before = set(sys.modules)
from relift.cli.run import run
shown = io.StringIO()
with contextlib.redirect_stdout(shown):
    code = run(sys.argv[1:])
new = [name for name in sys.modules if name not in before]
others = {name.partition(".")[0] for name in new} - set(sys.stdlib_module_names) - {"relift"}
print(code, "optimal" in shown.getvalue(), sorted(others), sorted(n for n in new if n.startswith("scipy")))
print(sorted({".".join(name.split(".")[:2]) for name in new if name.startswith("relift.")}))
"""


def started(*words: object, folder: Path) -> list[str]:
    """What a command line prints in a process of its own, after its exit code."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, words)],
        capture_output=True, text=True, env=environment(), check=True, cwd=folder,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiny.lp").write_text(LP)
    (tmp_path / "tiny.rlp").write_text(MODEL)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "need.csv").write_text("c,value\na,1\nb,2\n")
    (tmp_path / "data" / "cost.csv").write_text("p,c,value\nx,a,1\nx,b,2\ny,a,3\ny,b,1\n")
    return tmp_path


def test_a_small_program_needs_nothing_but_scipy_sparse_and_the_solver(folder: Path) -> None:
    first, rooms = started("tiny.lp", folder=folder)
    assert first == "0 True [] []"
    for room in ("language", "grounding", "modelling", "in_database", "bridges", "ml", "paper"):
        assert f"'relift.{room}'" not in rooms


def test_a_small_model_needs_nothing_but_scipy_sparse_and_the_solver(folder: Path) -> None:
    first, rooms = started("tiny.rlp", "--data", "data", folder=folder)
    assert first == "0 True [] []"
    for room in ("formats", "in_database", "bridges", "ml", "paper"):
        assert f"'relift.{room}'" not in rooms


WATCHED = """
import sys
import relift.cli.models, relift.cli.work, relift.formats.program_files, relift.pipeline
from relift.cli.run import run
late = []
def watched(function):
    def call(*given, **words):
        before = set(sys.modules)
        answer = function(*given, **words)
        late.extend(sorted(n for n in set(sys.modules) - before if n.startswith(("relift.", "highspy", "scipy."))))
        return answer
    return call
relift.pipeline.solve = watched(relift.pipeline.solve)
relift.cli.models.ground_given = watched(relift.cli.models.ground_given)
relift.formats.program_files.read_program_with_notes = watched(relift.formats.program_files.read_program_with_notes)
print(run([*sys.argv[1:], "--quiet"]), late)
"""


@pytest.mark.parametrize("words", [["tiny.lp"], ["tiny.rlp", "--data", "data"]])
def test_everything_is_imported_before_the_clock_of_a_stage_starts(words: list[str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *words],
        capture_output=True, text=True, env=environment(), check=True, cwd=folder,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 []"
