"""What approximate lifting may cost: steps wait until they are earned; where they do not, the plain solve answers."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import asdict

import numpy as np
import pytest

import relift
import relift.approximate_solve
from relift.approximate.budget import Attempt
from relift.program.program import Program
from relift.program.solution import Status
from relift.settings import Progress, SolverSettings
from relift.solvers.registry import get_backend
from relift.testing.noise import with_noise
from relift.testing.random_programs import random_program, symmetric_program


class Clock:
    """A clock that stands still but for what is put on it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def noisy_cover(n: int = 40, level: float = 1e-3) -> Program:
    random = np.random.default_rng(1)
    return Program(
        q=1 + level * random.uniform(-1, 1, n),
        A=1 + level * random.uniform(-1, 1, (30, n)),
        l=np.full(30, float(n)),
        lb=0,
    )


def test_no_step_is_taken_before_it_is_earned() -> None:
    clock, taken = Clock(), []

    def work() -> Generator[float, None, None]:
        for number in range(5):
            yield 1.0
            clock.now += 1.0
            taken.append(number)

    attempt = Attempt(work(), clock)
    for earned in np.linspace(0, 3.5, 50):
        attempt.advance(float(earned))
        assert attempt.spent <= earned
    assert taken == [0, 1, 2]
    assert attempt.advance(10.0)
    assert attempt.spent == 5.0


def test_a_step_that_took_longer_than_estimated_makes_the_next_one_wait() -> None:
    clock = Clock()

    def work() -> Generator[float, None, None]:
        yield 1.0
        clock.now += 4.0
        yield 1.0
        clock.now += 4.0

    attempt = Attempt(work(), clock)
    attempt.advance(1.0)
    assert attempt.spent == 4.0
    assert not attempt.advance(7.9)  # four times the estimate is needed now
    assert attempt.advance(8.0)


def test_work_ends_where_the_time_of_the_user_does() -> None:
    clock, taken = Clock(), []

    def work() -> Generator[float, None, None]:
        for number in range(5):
            yield 0.0
            clock.now += 1.0
            taken.append(number)

    attempt = Attempt(work(), clock, must_stop=lambda: clock.now >= 2.0)
    assert not attempt.advance(math.inf)
    assert taken == [0, 1]


@pytest.mark.parametrize("quadratic", [False, True])
def test_what_is_quickly_solved_is_solved_as_without_approximation(quadratic: bool) -> None:
    program = with_noise(symmetric_program(3, quadratic=quadratic, copies=6).program, 1e-3)
    plain = relift.solve(program)
    result = relift.solve(program, approximate=relift.Approximation(gap=1e-2, budget=1e-9))
    assert result.status == Status.OPTIMAL
    assert result.objective == plain.objective
    np.testing.assert_equal(asdict(result.certificate), asdict(plain.certificate))  # NaN is equal to NaN here
    assert result.approximation is not None
    assert result.approximation.given_up == "the solve without it ended first"
    assert [line.kind for line in result.rounds] == ["ground"]
    assert result.lower_bound <= plain.objective <= result.upper_bound
    expected = "no bounds, 1 rounds, 24 classes; approximation given up: the solve without it ended first"
    assert str(result.approximation) == expected


def test_a_first_gap_far_from_the_one_asked_for_ends_the_rounds() -> None:
    random = np.random.default_rng(0)
    program = Program(q=random.uniform(1, 2, 30), A=random.uniform(1, 2, (5, 30)), l=np.ones(5), lb=0, ub=9)
    options = relift.Approximation(gap=1e-6, partition=np.zeros(30), budget=1e9)
    result = relift.solve(program, approximate=options)
    assert result.status == Status.OPTIMAL
    assert result.certificate.is_optimal
    assert [line.kind for line in result.rounds][-1] == "ground"
    assert len(result.rounds) == 2
    assert result.approximation is not None
    assert "more than 100 times the one asked for" in result.approximation.given_up


def test_no_point_in_the_first_round_ends_the_rounds() -> None:
    random = np.random.default_rng(0)
    A = random.standard_normal((10, 30))
    b = A @ random.uniform(0.4, 0.6, 30)
    program = Program(q=random.standard_normal(30), A=A, l=b, u=b, lb=0, ub=1)
    options = relift.Approximation(gap=1e-2, partition=np.zeros(30), rows="keep", budget=1e9)
    result = relift.solve(program, approximate=options)
    assert result.status == Status.OPTIMAL
    assert result.approximation is not None
    assert result.approximation.given_up == "the first round found no feasible point"


def test_variables_that_are_all_different_are_not_tried() -> None:
    program = random_program(2, n=30, m=5)
    options = relift.Approximation(gap=1e-3, partition=np.arange(30), budget=1e9)
    result = relift.solve(program, approximate=options)
    assert result.approximation is not None
    assert result.approximation.given_up == "hardly any two variables are nearly equal"
    assert result.status == Status.OPTIMAL


@pytest.mark.parametrize("quadratic", [False, True])
def test_rounds_that_prove_the_gap_interrupt_the_plain_solve(quadratic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    program = noisy_cover()
    if quadratic:
        program = program.replace(P=np.diag(1 + 1e-3 * np.arange(40) / 40))
    clock = Clock()
    monkeypatch.setattr(relift.approximate_solve, "thread_time", clock)

    def told(event: Progress) -> None:
        if event.stage == "solve":  # from here on the plain solve has taken long
            clock.now = 1e6

    result = relift.solve(program, approximate=1e-2, progress=told)
    assert result.status == Status.OPTIMAL_WITHIN_GAP
    assert result.gap <= 1e-2
    assert result.approximation is not None
    assert result.approximation.given_up == ""
    words = [attempt.message for attempt in result.attempts]
    assert words[-1] in {"kInterrupt", "CallbackTerminated"}
    assert len(words) == 2  # the small program, and the plain solve: no other backend is asked after that
    truth = relift.solve(program).objective
    assert result.lower_bound <= truth <= result.upper_bound


def test_finishing_on_the_program_itself_lets_the_plain_solve_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(relift.approximate_solve, "thread_time", clock)

    def told(event: Progress) -> None:
        if event.stage == "solve":
            clock.now = 1e6

    options = relift.Approximation(gap=1e-2, finish="ground")
    result = relift.solve(noisy_cover(), approximate=options, progress=told)
    assert result.status == Status.OPTIMAL
    assert [line.kind for line in result.rounds] == ["restriction", "ground"]
    assert result.approximation is not None
    assert result.approximation.given_up == ""


def test_an_error_between_iterations_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(relift.approximate_solve, "thread_time", clock)

    def told(event: Progress) -> None:
        if event.stage == "solve":
            clock.now = 1e6

    class Broken:
        def fit_predict(self, X: np.ndarray) -> np.ndarray:
            raise KeyboardInterrupt

    options = relift.Approximation(gap=1e-2, clusterer=Broken())
    with pytest.raises(KeyboardInterrupt):
        relift.solve(noisy_cover(), approximate=options, progress=told)


@pytest.mark.parametrize("name", ["highs", "clarabel"])
def test_backends_ask_between_iterations_and_end_when_told(name: str) -> None:
    program = noisy_cover()
    asked = []

    def interrupt() -> bool:
        asked.append(1)
        return len(asked) > 2

    answer = get_backend(name).solve(program, SolverSettings(interrupt=interrupt))
    assert len(asked) == 3
    assert answer.status == Status.TIME_LIMIT
    asked.clear()

    def noticed() -> bool:
        asked.append(1)
        return False

    whole = get_backend(name).solve(program, SolverSettings(interrupt=noticed))
    assert whole.status == Status.OPTIMAL
    assert len(asked) > 3


def test_a_backend_that_cannot_be_interrupted_answers_itself() -> None:
    pytest.importorskip("osqp", reason="a backend that does not ask between iterations")
    result = relift.solve(noisy_cover(), approximate=1e-2, backend="osqp", tolerance=1e-4)
    assert result.status == Status.OPTIMAL
    assert result.backend == "osqp"
    assert result.approximation is not None
    assert result.approximation.given_up == "the solve without it ended first"


@pytest.mark.parametrize("budget", [0.35, 1e9, math.inf])
def test_the_time_limit_holds_before_and_between_rounds(budget: float) -> None:
    program = noisy_cover()
    result = relift.solve(program, approximate=relift.Approximation(gap=1e-2, budget=budget), time_limit=1e-9)
    assert result.status == Status.TIME_LIMIT
    assert result.x is None
    assert result.upper_bound == math.inf
    assert result.attempts == ()
    if math.isfinite(budget):
        assert result.approximation is not None
        assert result.approximation.given_up == "the time limit ended first"


def test_finishing_on_the_program_itself_is_certified_with_a_budget_too() -> None:
    options = relift.Approximation(gap=1e-2, finish="ground", budget=1e9)
    result = relift.solve(noisy_cover(), approximate=options)
    assert result.status == Status.OPTIMAL
    assert [line.kind for line in result.rounds] == ["restriction", "ground"]
    assert result.approximation is not None
    assert result.approximation.given_up == ""


def test_a_warm_start_of_the_caller_goes_to_the_plain_solve() -> None:
    program = noisy_cover()
    first = relift.solve(program)
    options = relift.Approximation(gap=1e-2, budget=1e-9)
    again = relift.solve(program, approximate=options, warm_start=first)
    assert again.status == Status.OPTIMAL
    assert again.iterations is not None
    assert first.iterations is not None
    assert again.iterations <= first.iterations
