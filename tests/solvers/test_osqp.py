"""OSQP beside PuLP, which changes how libraries that are loaded later find their functions."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import {modules}
import relift
program = relift.Program(P=[[2, 0], [0, 2]], q=[-2, -2], A=[[1, 1]], u=[1], lb=0)
result = relift.solve(program, backend="{backend}", lift="none")
print(result.status, round(result.objective, 5), result.message)
"""


def said(modules: str, backend: str = "osqp") -> str:
    """What a process prints that imports these modules before it solves."""
    pytest.importorskip("osqp")
    pytest.importorskip("pulp")
    words = [sys.executable, "-c", SCRIPT.format(modules=modules, backend=backend)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout or f"{done.returncode} {done.stderr[-500:]}"


@pytest.mark.parametrize("modules", ["pulp", "relift.pulp", "osqp, pulp"])
def test_osqp_runs_beside_pulp(modules: str) -> None:
    assert said(modules) == "optimal -1.5 solved\n"


def test_osqp_that_another_package_has_loaded_after_pulp_is_refused_and_not_run() -> None:
    assert said("pulp, osqp").startswith("failure")
    assert "OSQP was loaded after PuLP, and would crash. Import osqp before pulp." in said("pulp, osqp")
    assert said("pulp, osqp", "auto").startswith("optimal -1.5")
