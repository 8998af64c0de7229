"""Calls in another process: values, errors, crashes, limits, and what is printed there."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from math import inf
from pathlib import Path
from time import sleep

import numpy as np
import pytest

import relift
from relift import Program
from relift.errors import BackendError
from relift.settings import SolverSettings
from relift.solvers.registry import get_backend
from relift.solvers.separate_process import StoppedError, call_apart

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems call functions where they are")


def _die(number: int) -> None:
    os.kill(os.getpid(), number)
    sleep(60)


def _fail() -> None:
    raise BackendError("no, said the solver.")


def _say(text: str) -> int:
    return os.write(1, text.encode())


def test_values_come_from_one_process_that_is_kept() -> None:
    first, second = (call_apart("os", os.getpid) for _ in range(2))
    assert first == second != os.getpid()
    assert call_apart("numpy", np.add, np.arange(3.0), 1).tolist() == [1.0, 2.0, 3.0]


def test_errors_are_raised_as_they_are_and_the_process_goes_on() -> None:
    before = call_apart("os", os.getpid)
    with pytest.raises(BackendError, match=r"^no, said the solver\.$"):
        call_apart("it", _fail)
    assert call_apart("os", os.getpid) == before


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_a_crash_is_an_error_and_the_next_call_has_a_new_process(number: signal.Signals) -> None:
    before = call_apart("os", os.getpid)
    with pytest.raises(BackendError, match=rf"^the solver crashed \({number.name}\)\.$"):
        call_apart("the solver", _die, int(number))
    assert call_apart("os", os.getpid) != before


def test_a_process_that_died_between_two_calls_is_replaced() -> None:
    before = call_apart("os", os.getpid)
    os.kill(before, signal.SIGKILL)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
    assert call_apart("os", os.getpid) != before


def test_a_call_ends_with_its_time_or_when_the_caller_wants_to_stop() -> None:
    with pytest.raises(StoppedError):
        call_apart("time", sleep, 600, seconds=0.1)
    with pytest.raises(StoppedError):
        call_apart("time", sleep, 600, interrupt=lambda: True)
    assert call_apart("os", os.getpid) != os.getpid()


@pytest.mark.parametrize("prints", [False, True])
def test_what_is_printed_there_is_seen_only_if_that_is_wanted(prints: bool, capfd: pytest.CaptureFixture[str]) -> None:
    assert call_apart("it", _say, "error\n", prints=prints) == 6
    assert capfd.readouterr() == ("error\n" if prints else "", "")


def _elsewhere(pipe: multiprocessing.connection.Connection) -> None:
    pipe.send(call_apart("os", os.getppid))
    pipe.close()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_modules_of_the_current_folder_do_not_take_the_place_of_pythons_own(tmp_path: Path) -> None:
    for name in ("json", "numpy", "signal", "pickle"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the user')\n")
    (tmp_path / "q.lp").write_text("min [ x ^ 2 ] / 2\nst\n c: x >= 1\nend\n")
    calls = (
        "from relift.cli.run import run; run(['q.lp', '--backend', 'highs', '--json'])",
        "import relift; from relift.bridges.apart import solve_apart;"
        "print(solve_apart(relift.read_program('q.lp'), {}).solution.status)",
    )
    for call in calls:
        command = [sys.executable, "-P", "-c", call]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=600)
        assert (done.returncode, done.stderr) == (0, "")
        assert "optimal" in done.stdout
        assert "crashed" not in done.stdout


def test_a_forked_process_does_not_use_that_of_its_parent() -> None:
    before = call_apart("os", os.getpid)
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_elsewhere, args=(theirs,))
    child.start()
    assert ours.recv() == child.pid
    child.join()
    assert call_apart("os", os.getpid) == before


def test_where_there_is_no_python_to_start_the_call_is_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    assert call_apart("os", os.getpid) == os.getpid()


def test_a_quadratic_program_that_crashes_highs_gets_an_answer(capfd: pytest.CaptureFixture[str]) -> None:
    P = np.array([
        [1.08, 0.21, 0.21, 0.58, 0.21, 0.21], [0.21, 3.06, -0.03, -0.03, 0.21, 0.58],
        [0.21, -0.03, 3.06, -0.03, 0.58, 0.21], [0.58, -0.03, -0.03, 3.06, 0.21, 0.21],
        [0.21, 0.21, 0.58, 0.21, 1.08, 0.21], [0.21, 0.58, 0.21, 0.21, 0.21, 1.08],
    ])  # fmt: skip
    A = np.array([
        [0, 0.0007, -1.0007000000000001, 0, 10, 0], [0, -0.0010007, 0, 7e-07, 0, 0.01],
        [-1.999999e-05, 0, 0, 2e-12, 2e-05, 0], [0.0002, 0, 0.07, 0, 6.9998000000000005, 0],
        [6.8357421875, 0, 0, 0.068359375, 0, 0.0001953125], [0, 7e9, 0, 0, 2e7, 699980000000.0],
        [0.020000000000000004, 2e-09, 0, 0, 0, -0.019999990000000002], [1, 0, 7e-05, -0.10007, 0, 0],
        [0, 0, 2e-09, 0, -0.019999990000000002, 0.020000000000000004],
    ])  # fmt: skip
    l = np.array([-6, -0.006, 4.5e-12, -inf, -inf, -inf, 4.5e-9, -0.6, 4.5e-9])
    u = np.array([14, 0.014, 9.5e-12, 10.57, 10.322265625, 1057000000000.0, 9.5e-9, 1.4, 9.5e-9])
    lb, ub = np.array([-2.5, 1, 1, 1, -2.5, -2.5]), np.array([1, inf, inf, inf, 1, 1])
    program = Program(P=P, q=[2, -3, -3, -3, 2, 2], A=A, l=l, u=u, lb=lb, ub=ub)
    capfd.readouterr()
    result = relift.solve(program, backend="highs", time_limit=20)
    assert result.status in set(relift.Status)
    assert capfd.readouterr().out == ""  # HiGHS prints a bare "error" on such programs


def test_quadratic_programs_are_solved_there_with_the_answer_of_here() -> None:
    from relift.solvers.highs_ import solve_quadratic

    program = Program(P=np.eye(2), q=[-1.0, -3.0], A=[[1.0, 1.0]], u=[2.0], lb=0)
    here = solve_quadratic(program, SolverSettings())[1]
    there = get_backend("highs").solve(program, SolverSettings(), None)
    assert there.status == here.status == relift.Status.OPTIMAL
    assert there.x is not None
    np.testing.assert_array_equal(there.x, here.x)
    np.testing.assert_array_equal(there.y, here.y)
