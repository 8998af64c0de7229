"""OSQP beside packages that change how its library is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import pulp, relift
program = relift.Program(P=[[2, 0], [0, 2]], q=[-2, -2], A=[[1, 1]], u=[1], lb=0)
print(round(relift.solve(program, backend="osqp", lift="none").objective, 6))
"""


def test_osqp_runs_after_pulp_has_made_the_functions_of_highs_visible() -> None:
    pytest.importorskip("osqp")
    pytest.importorskip("pulp")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "-1.5\n"), done.stderr[-500:]
