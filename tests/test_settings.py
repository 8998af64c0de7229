"""Options that cannot be are refused with their value and what to give instead."""

from __future__ import annotations

from typing import Any

import pytest

import relift
from relift.certified_solve import CertifiedSolve
from relift.errors import OptionError
from relift.lifting.lifting import lift
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import LiftSettings, SolverSettings
from relift.solvers.registry import get_backend


@pytest.mark.parametrize("digits", ["a", 3.5, True, 0, 16])
def test_digits_must_be_a_whole_number_from_1_to_15(digits: Any) -> None:
    with pytest.raises(OptionError, match=r"digits=.* is out of range\. Give a whole number from 1 to 15\."):
        LiftSettings(digits=digits)


@pytest.mark.parametrize("option", ["iteration_limit", "threads"])
@pytest.mark.parametrize("value", ["x", 1.5, 0, -1, True])
def test_counts_must_be_positive_whole_numbers(option: str, value: Any) -> None:
    with pytest.raises(OptionError, match=f"{option}=.* is out of range"):
        SolverSettings(**{option: value})


@pytest.mark.parametrize("value", ["x", 0, -1.0, float("nan"), True])
def test_a_time_limit_must_be_a_positive_number(value: Any) -> None:
    with pytest.raises(OptionError, match=r"time_limit=.* is out of range"):
        SolverSettings(time_limit=value)


@pytest.mark.parametrize("value", ["x", 0, 1, -1e-6, float("nan")])
def test_a_tolerance_must_lie_between_0_and_1(value: Any) -> None:
    with pytest.raises(OptionError, match=r"tolerance=.* is out of range"):
        SolverSettings(tolerance=value)


def test_methods_and_readings_are_listed_when_they_are_not_known() -> None:
    with pytest.raises(OptionError, match="Expected one of: equitable, counting, orbits, none"):
        LiftSettings(lift="equal")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="Expected one of: decimal, bits"):
        LiftSettings(values="float")  # type: ignore[arg-type]


def test_backends_that_cannot_be_stopped_by_time_are_left_out_of_a_timed_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("piqp", reason="the backend that has no time limit is PIQP")
    asked: list[str] = []

    def fail(backend: Any, program: Program, settings: SolverSettings, *_: Any) -> Solution:
        asked.append(backend.name)
        assert backend.has_time_limit or settings.time_limit is None
        return Solution(Status.FAILURE)

    monkeypatch.setattr("relift.certified_solve.ask", fail)
    program = Program(P=[[1.0]], q=[1.0])
    assert relift.solve(program, time_limit=60).status == Status.FAILURE
    assert "piqp" not in asked
    asked.clear()
    assert relift.solve(program).status == Status.FAILURE
    assert "piqp" in asked


def test_a_failure_has_no_objective() -> None:
    lifting = lift(Program(q=[1.0], lb=0))
    run = CertifiedSolve(lifting, SolverSettings(iteration_limit=1), 0.0, None)
    answer = run.best_answer(_Liar(), None)
    assert answer.status == Status.FAILURE
    assert answer.objective != answer.objective


class _Liar(type(get_backend("highs"))):  # type: ignore[misc]
    """Calls everything infeasible."""

    def solve(self, *_: Any) -> Solution:
        return Solution(Status.INFEASIBLE, objective=float("inf"), backend="liar")


@pytest.mark.parametrize("function", [relift.solve, relift.lift])
def test_the_parts_of_a_program_are_not_options(function: Any) -> None:
    with pytest.raises(OptionError, match=r"q belongs to a program\. Make one first: relift\.\w+\(relift\.Program\(q="):
        function(q=[1.0], lb=0)


def test_numbers_at_the_end_of_the_range_of_floats_end_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    result = relift.solve(Program(q=[1e300, 1], A=[[1e-300, 1]], l=[1], lb=0))
    assert not result.certificate.is_optimal or result.objective == pytest.approx(1.0)
    assert not recwarn.list


def test_the_program_is_not_listed_among_the_options() -> None:
    with pytest.raises(OptionError) as caught:
        relift.solve(relift.Program(q=[1.0], lb=0), foo=1)  # type: ignore[call-arg]
    assert "unknown option 'foo'. Expected one of: approximate, backend" in str(caught.value)
    assert "program" not in str(caught.value)
