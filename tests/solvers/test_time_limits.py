"""Who gets how much of a time limit: told by what backends are given, not by a clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relift import Program, Solution, Status, solve
from relift.settings import SolverSettings
from relift.solvers import highs_rounds
from relift.solvers.clarabel_ import ClarabelBackend
from relift.solvers.highs_ import IPM_ITERATIONS, HighsBackend, load, qp_iterations, run
from relift.solvers.highs_rounds import TimedInterrupt, first_budget, run_in_rounds

PROGRAM = Program(q=[1.0, 1.5], A=[[1.0, 2.0], [2.0, 1.0]], l=[1.0, 1.0], lb=0)


def limits_given(monkeypatch: pytest.MonkeyPatch, status: Status, *backends: type) -> list[tuple[str, float | None]]:
    """Let backends answer with a status and nothing else, and note which limits they were given."""
    given: list[tuple[str, float | None]] = []
    for backend in backends:

        def answer(self: Any, program: Program, settings: SolverSettings, warm_start: object = None) -> Solution:
            given.append((self.name, settings.time_limit))
            return Solution(status)

        monkeypatch.setattr(backend, "solve", answer)
    return given


def test_the_first_backend_gets_at_most_half_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given = limits_given(monkeypatch, Status.FAILURE, HighsBackend)
    result = solve(PROGRAM, time_limit=1000)
    assert result.status == Status.OPTIMAL
    assert result.backend == "clarabel"
    assert [name for name, _ in given] == ["highs"] * 3
    assert all(limit is not None and limit <= 500 for _, limit in given)


def test_the_last_backend_and_a_chosen_one_get_all_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    given = limits_given(monkeypatch, Status.FAILURE, HighsBackend, ClarabelBackend)
    assert solve(PROGRAM, time_limit=10).status == Status.FAILURE
    assert all(limit is not None and limit > 5 for name, limit in given if name == "clarabel")
    given.clear()
    solve(PROGRAM, time_limit=10, backend="highs")
    assert given[0][1] is not None
    assert given[0][1] > 5


def test_a_backend_that_ran_out_of_time_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    given = limits_given(monkeypatch, Status.TIME_LIMIT, HighsBackend)
    assert solve(PROGRAM, time_limit=1000).backend == "clarabel"
    assert len(given) == 1


def test_without_a_limit_the_first_backend_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    given = limits_given(monkeypatch, Status.FAILURE, HighsBackend)
    solve(PROGRAM)
    assert {limit for _, limit in given} == {None}


def test_a_claim_that_there_was_no_time_to_prove_is_not_called_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    import relift.certified_solve as certified

    ticks = iter(float(tick) for tick in range(10**6))
    limits_given(monkeypatch, Status.INFEASIBLE, HighsBackend, ClarabelBackend)
    monkeypatch.setattr(certified, "perf_counter", lambda: next(ticks) * 1e9)
    result = solve(PROGRAM, time_limit=1e12)
    assert result.status in {Status.TIME_LIMIT, Status.FAILURE}
    assert "infeasibility is not proved" in result.message or "no answer passed" in result.message


# --- simplex and interior point in turns ------------------------------------------------------------------------------


class FakeHighs:
    """Counts the seconds that it was given, and answers when they are enough."""

    def __init__(self, needed: float, answer: str = "kOptimal") -> None:
        self.needed, self.answer, self.ran, self.limit, self.runs = needed, answer, 0.0, np.inf, 0

    def setOptionValue(self, name: str, value: float) -> None:
        assert name == "time_limit"
        self.limit = value

    def getRunTime(self) -> float:
        return self.ran


class Turns:
    """Runs of both methods on a clock that only they move."""

    def __init__(
        self, simplex: float, interior: float, monkeypatch: pytest.MonkeyPatch, answer: str = "kOptimal"
    ) -> None:
        self.clock, self.log = 0.0, []  # type: ignore[var-annotated]
        self.simplex, self.interior, self.answer = FakeHighs(simplex), interior, answer
        monkeypatch.setattr(highs_rounds, "perf_counter", lambda: self.clock)

    def load(self, settings: SolverSettings) -> FakeHighs:
        assert settings.options == {"solver": "ipm", "run_crossover": "off"}
        fresh = FakeHighs(self.interior, self.answer)
        fresh.limit = np.inf if settings.time_limit is None else settings.time_limit
        return fresh

    def run(self, highs: FakeHighs) -> str:
        before = highs.ran
        highs.ran = min(max(highs.limit, before), highs.needed)
        self.clock += highs.ran - before
        self.log.append(("simplex" if highs is self.simplex else "interior", highs.ran - before))
        return highs.answer if highs.ran >= highs.needed else "kTimeLimit"

    def go(self, time_limit: float | None = None) -> tuple[Any, str]:
        return run_in_rounds(self.load, self.run, SolverSettings(time_limit=time_limit), 2.0, self.simplex)  # type: ignore[arg-type]


@pytest.mark.parametrize("simplex", [0.5, 3.0, 30.0, 300.0, 1e4])
@pytest.mark.parametrize("interior", [0.5, 3.0, 30.0, 300.0, 1e4])
def test_turns_take_at_most_five_times_as_long_as_the_better_method(
    simplex: float, interior: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Turns(simplex, interior, monkeypatch)
    _, status = turns.go()
    assert status == "kOptimal"
    assert turns.clock <= max(5 * min(simplex, interior), 2.0 + min(simplex, interior))
    if simplex <= 2.0:
        assert turns.log == [("simplex", simplex)]


@pytest.mark.parametrize("limit", [1.0, 5.0, 50.0, 500.0])
def test_turns_keep_the_time_limit(limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(1e9, 1e9, monkeypatch)
    _, status = turns.go(limit)
    assert status == "kTimeLimit"
    assert turns.clock == pytest.approx(limit)


def test_work_between_iterations_is_not_taken_from_the_budget_of_simplex(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(2.85, 0.5, monkeypatch)  # a third of it is another job: 1.9 s of simplex, with a budget of 2 s
    beside = 0.0

    def run_beside(highs: FakeHighs) -> str:
        nonlocal beside
        status = turns.run(highs)
        beside = turns.simplex.ran / 3
        return status

    settings = SolverSettings()
    _, status = run_in_rounds(turns.load, run_beside, settings, 2.0, turns.simplex, elsewhere=lambda: beside)  # type: ignore[arg-type]
    assert status == "kOptimal"
    assert {name for name, _ in turns.log} == {"simplex"}
    alone = Turns(2.85, 0.5, monkeypatch)
    alone.go()
    assert {name for name, _ in alone.log} == {"simplex", "interior"}


def test_an_interrupt_counts_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([1.0, 1.5, 10.0, 12.0])
    monkeypatch.setattr(highs_rounds, "perf_counter", lambda: next(ticks))
    timed = TimedInterrupt(iter([False, True]).__next__)
    assert [timed(), timed()] == [False, True]
    assert timed.seconds == 2.5


def test_interior_point_that_finds_no_solution_leaves_the_ray_to_simplex(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(1e9, 1.0, monkeypatch, answer="kInfeasible")
    found, status = turns.go()
    assert found is turns.simplex
    assert status == "kInfeasible"


def test_the_first_budget_grows_with_the_program() -> None:
    budgets = [first_budget(n_entries) for n_entries in (1, 100, 10**5, 5 * 10**5, 10**7)]
    assert budgets == sorted(budgets)
    assert (budgets[0], budgets[-1]) == (1.0, 10.0)


def test_interior_point_without_crossover_gives_a_certified_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_simplex(load: Any, run: Any, settings: Any, budget: float, simplex: Any, **more: Any) -> Any:
        def pretend(highs: Any) -> str:
            return "kTimeLimit" if highs is simplex else str(run(highs))

        return run_in_rounds(load, pretend, settings, 600.0, simplex)

    monkeypatch.setattr("relift.solvers.highs_.run_in_rounds", without_simplex)
    random = np.random.default_rng(0)
    costs = random.integers(1, 9, 900).astype(float)
    A = np.vstack([np.kron(np.eye(30), np.ones(30)), np.kron(np.ones(30), np.eye(30))])
    program = Program(q=costs, A=A, l=np.ones(60), u=np.ones(60), lb=0)
    result = solve(program, lift="none", reduce=False)
    assert result.status == Status.OPTIMAL
    assert result.backend == "highs"
    assert len(result.attempts) == 1
    highs = load(program, SolverSettings())
    assert run(highs) == "kOptimal"
    assert result.objective == pytest.approx(float(highs.getInfo().objective_function_value), abs=1e-5)


def test_active_sets_of_highs_that_cycle_end_as_a_failure() -> None:
    program = Program(P=np.diag([0.0, 0.5]), A=[[0.0, 0.0]], lb=[-4e8, -np.inf], ub=[2e8, np.inf], u=[np.inf])
    answer = HighsBackend().solve(program, SolverSettings())
    if answer.status == Status.FAILURE:  # HiGHS 1.15 cycles here
        assert answer.message == "kIterationLimit: no answer after 100,600 iterations"
    else:
        assert answer.status == Status.OPTIMAL
    assert solve(program).status == Status.OPTIMAL


def test_interior_point_of_highs_that_does_not_end_is_a_failure() -> None:
    program = Program(
        q=[-2.0, -2.0], A=[[0.18, 0.01], [-4e4, 1e4], [14.0, -14.0], [0.04, 0.18], [25.2, 1.4]],
        l=[-0.1, -5e3, -3.5, -0.1, -7.0], u=[1e29, 5e3, 3.5, 0.1, 7.0], lb=0, ub=[1e30, np.inf],
    )  # fmt: skip
    answer = HighsBackend().solve(program, SolverSettings(options={"solver": "ipm"}))
    if answer.status == Status.FAILURE:  # HiGHS 1.15 does not see that it is at the end
        assert answer.message == f"kIterationLimit: no answer after {IPM_ITERATIONS:,} iterations"
    else:
        assert answer.status == Status.OPTIMAL
    assert solve(program).status == Status.OPTIMAL


def test_an_iteration_limit_of_the_user_comes_before_our_own_for_active_sets() -> None:
    program = Program(P=np.eye(3), q=[1.0, 1.0, 1.0], A=[[1.0, 1.0, 1.0]], l=[-9.0])

    def limit(**given: Any) -> int:
        highs: Any = load(program, SolverSettings(**given))
        return int(highs.getOptionValue("qp_iteration_limit")[1])

    assert limit() == qp_iterations(program) == 100_800
    assert limit(iteration_limit=7) == 7
    assert limit(iteration_limit=7, options={"qp_iteration_limit": 9}) == 9
    assert (
        HighsBackend().solve(program, SolverSettings(options={"qp_iteration_limit": 0})).status
        == Status.ITERATION_LIMIT
    )
