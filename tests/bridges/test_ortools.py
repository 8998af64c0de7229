"""Models of OR-Tools: statuses, values, dual values and reduced costs are those of GLOP.

OR-Tools is not imported here: it and highspy cannot share a process.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from relift import Program, Status
from relift.bridges.apart import solve_apart
from relift.errors import NotAProgramError, OptionError
from relift.ortools import solve

SCRIPT = Path(__file__).with_name("ortools_script.py")


@pytest.mark.skipif(find_spec("ortools") is None, reason="OR-Tools is not installed")
def test_models_of_ortools_are_answered_as_by_glop() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "12"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "OPTIMAL" in done.stdout


def test_what_is_no_model_of_ortools_is_refused_by_its_type() -> None:
    with pytest.raises(NotAProgramError, match=r"takes a mathopt\.Model or a pywraplp\.Solver; got a Program"):
        solve(Program(q=[1.0]))


def test_a_program_is_solved_in_another_process_with_its_proof() -> None:
    answer = solve_apart(Program(q=[1.0, 1.0], A=[[1, 1]], l=[3], lb=0, ub=1), {"lift": "counting"})
    assert answer.solution.status == Status.INFEASIBLE
    assert answer.solution.ray_y is not None
    assert answer.report["certificate"]["is_proved"]


def test_a_limit_and_wrong_options_come_back_from_another_process() -> None:
    program = Program(q=[1.0, 2.0], A=[[1, 1]], l=[3], lb=0, ub=4)
    limited = solve_apart(program, {"iteration_limit": 1, "backend": "clarabel"})
    assert limited.solution.status == Status.ITERATION_LIMIT
    with pytest.raises(OptionError, match="lift='cunning' is not valid"):
        solve_apart(program, {"lift": "cunning"})
    with pytest.raises(OptionError, match=r"unknown option 'lifd'\. Did you mean 'lift'"):
        solve_apart(program, {"lifd": "none"})
    with pytest.raises(OptionError, match="cannot be passed to another process"):
        solve_apart(program, {"progress": print})
