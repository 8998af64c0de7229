"""Simplex and interior point beside each other: told by objects that wait for each other, not by a clock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from relift import Program, Status, solve
from relift.errors import BackendError
from relift.program.solution import Solution
from relift.settings import SolverSettings
from relift.solvers.highs_ import HighsBackend, load, run
from relift.solvers.highs_race import (
    LEAST_ENTRIES,
    SLICE,
    Other,
    head_start,
    may_run_both,
    run_both,
    works_together,
)

PATIENCE = 60.0
"""Seconds after which a test that waits for the other method has failed."""


class Runner:
    """Stands for a HiGHS object: ends with a status, at once or when it is stopped."""

    def __init__(self, settings: SolverSettings, ends: str | None) -> None:
        assert settings.interrupt is not None
        self.interrupt, self.ends, self.options = settings.interrupt, ends, dict(settings.options)
        self.time_limit, self.was_stopped = settings.time_limit, False

    def setOptionValue(self, name: str, value: float) -> None:
        assert name == "time_limit"
        self.time_limit = value

    def getRunTime(self) -> float:
        return 0.0

    def run(self) -> str:
        if self.ends is not None:
            return self.ends
        for _ in range(int(PATIENCE * 1000)):
            if self.interrupt():
                self.was_stopped = True
                return "kInterrupt"
            threading.Event().wait(0.001)
        raise AssertionError("nobody stopped this method")


def run_runner(highs: Any) -> str:
    return str(highs.run())


class Race:
    """A race whose result is known beforehand; None stands for a method that runs until it is stopped."""

    def __init__(self, simplex: str | None, interior: str | None, time_limit: float | None = None) -> None:
        self.made: list[Runner] = []
        ends = {True: simplex, False: interior}

        def make(settings: SolverSettings) -> Any:
            self.made.append(Runner(settings, ends["solver" not in settings.options]))
            return self.made[-1]

        found = run_both(make, run_runner, SolverSettings(time_limit=time_limit), head_start=0.0)
        self.found, self.status, self.is_simplex = found


def test_interior_point_that_is_first_stops_simplex() -> None:
    race = Race(None, "kOptimal")
    simplex, interior = race.made
    assert (race.status, race.is_simplex) == ("kOptimal", False)
    assert race.found is interior  # type: ignore[comparison-overlap]
    assert interior.options == {"solver": "ipm", "run_crossover": "off"}
    assert simplex.was_stopped
    assert not simplex.interrupt()  # it may run again


def test_simplex_that_is_first_stops_interior_point_and_waits_for_it() -> None:
    begun = threading.Event()
    objects: list[Runner] = []

    def make(settings: SolverSettings) -> Any:
        objects.append(Runner(settings, None if "solver" in settings.options else "kOptimal"))
        if "solver" in settings.options:
            begun.set()
        return objects[-1]

    def run_when_both_are_there(highs: Any) -> str:
        assert begun.wait(PATIENCE)
        return str(highs.run())

    before = threading.active_count()
    found, status, is_simplex = run_both(make, run_when_both_are_there, SolverSettings(), head_start=0.0)
    assert (status, is_simplex) == ("kOptimal", True)
    assert found is objects[0]  # type: ignore[comparison-overlap]
    assert objects[1].was_stopped
    assert threading.active_count() == before


def test_within_the_head_start_no_second_solver_is_made() -> None:
    made: list[Runner] = []

    def make(settings: SolverSettings) -> Any:
        made.append(Runner(settings, "kOptimal"))
        return made[-1]

    run_both(make, run_runner, SolverSettings(), head_start=PATIENCE)
    assert len(made) == 1


@pytest.mark.parametrize("claim", ["kInfeasible", "kUnbounded", "kUnboundedOrInfeasible"])
def test_a_claim_of_interior_point_is_handed_to_simplex_which_has_rays(claim: str) -> None:
    race = Race(None, claim)
    assert (race.status, race.is_simplex) == (claim, True)
    assert race.found is race.made[0]  # type: ignore[comparison-overlap]


@pytest.mark.parametrize("failure", ["kUnknown", "kSolveError", "kIterationLimit"])
def test_where_simplex_fails_interior_point_is_waited_for(failure: str) -> None:
    assert (Race(failure, "kOptimal").status, Race(failure, "kOptimal").is_simplex) == ("kOptimal", False)
    assert (Race(failure, failure).status, Race(failure, failure).is_simplex) == (failure, True)


@pytest.mark.parametrize("failure", ["kUnknown", "kSolveError", "kTimeLimit", "kIterationLimit"])
def test_where_interior_point_fails_simplex_goes_on(failure: str) -> None:
    ended = threading.Event()

    def make(settings: SolverSettings) -> Any:
        return Runner(settings, failure if "solver" in settings.options else "kOptimal")

    def simplex_is_last(highs: Any) -> str:
        if highs.options:
            ended.set()
        else:
            assert ended.wait(PATIENCE)
        return str(highs.run())

    _, status, is_simplex = run_both(make, simplex_is_last, SolverSettings(), head_start=0.0)
    assert (status, is_simplex) == ("kOptimal", True)


@pytest.mark.parametrize("has_answer", [True, False])
def test_another_solver_takes_the_place_of_interior_point_if_it_has_an_answer(has_answer: bool) -> None:
    made: list[Runner] = []
    answer = Solution(Status.OPTIMAL, backend="another")

    def make(settings: SolverSettings) -> Any:
        made.append(Runner(settings, "kOptimal" if "solver" in settings.options else None))
        return made[-1]

    def other(settings: SolverSettings) -> Solution | None:
        assert settings.interrupt is not None
        assert not settings.interrupt()
        assert settings.time_limit is not None
        assert 0 < settings.time_limit <= PATIENCE
        return answer if has_answer else None

    given = SolverSettings(time_limit=PATIENCE)
    beside = Other(head_start=lambda: 0.0, solve=other)
    found, status, is_simplex = run_both(make, run_runner, given, head_start=0.0, other=beside)
    assert (status, is_simplex) == ("kOptimal", False)
    assert found is (answer if has_answer else made[1])
    assert len(made) == (1 if has_answer else 2)
    assert made[0].was_stopped


def test_another_solver_waits_for_its_own_head_start_or_is_not_asked() -> None:
    def never(settings: SolverSettings) -> Solution:
        raise AssertionError("it was asked")

    def make(settings: SolverSettings) -> Any:
        return Runner(settings, "kOptimal")

    counted = threading.Event()

    def long() -> float:
        counted.set()
        return PATIENCE

    def when_counted(highs: Any) -> str:
        assert counted.wait(PATIENCE)
        return str(highs.run())

    before = threading.active_count()
    for seconds, runs in ((long, when_counted), (lambda: None, run_runner)):
        beside = Other(head_start=seconds, solve=never)
        assert run_both(make, runs, SolverSettings(), head_start=0.0, other=beside)[1] == "kOptimal"
    assert threading.active_count() == before


def test_a_second_solver_that_cannot_be_made_leaves_simplex_alone() -> None:
    tried = threading.Event()

    def make(settings: SolverSettings) -> Any:
        if "solver" in settings.options:
            tried.set()
            raise BackendError("no memory")
        return Runner(settings, "kOptimal")

    def after_that(highs: Any) -> str:
        assert tried.wait(PATIENCE)
        return str(highs.run())

    assert run_both(make, after_that, SolverSettings(), head_start=0.0)[1:] == ("kOptimal", True)


def test_an_error_of_simplex_ends_interior_point_too() -> None:
    def make(settings: SolverSettings) -> Any:
        return Runner(settings, None)

    def stumble(highs: Any) -> str:
        if highs.options:
            return str(highs.run())
        raise BackendError("HiGHS stopped.")

    before = threading.active_count()
    with pytest.raises(BackendError, match=r"HiGHS stopped\."):
        run_both(make, stumble, SolverSettings(), head_start=0.0)
    assert threading.active_count() == before


def test_both_keep_the_time_limit_of_the_user() -> None:
    race = Race("kTimeLimit", None, time_limit=1000.0)
    assert race.status == "kTimeLimit"
    assert all(each.time_limit is not None and each.time_limit <= 1000.0 for each in race.made)


def test_which_programs_both_methods_may_run_on() -> None:
    enough = LEAST_ENTRIES
    assert may_run_both(SolverSettings(), enough)
    assert not may_run_both(SolverSettings(), enough - 1)
    assert not may_run_both(SolverSettings(interrupt=lambda: False), enough)
    assert not may_run_both(SolverSettings(options={"parallel": "on"}), enough)


def test_one_thread_means_turns_with_a_longer_head_start(monkeypatch: pytest.MonkeyPatch) -> None:
    assert works_together(SolverSettings(threads=2))
    assert not works_together(SolverSettings(threads=1))
    monkeypatch.setattr("relift.solvers.highs_race.available_cores", lambda: 1)
    assert not works_together(SolverSettings())
    assert head_start(10**6, together=True) == head_start(1, together=False) == 0.1
    assert head_start(10**6, together=False) == 10.0


# --- turns ------------------------------------------------------------------------------------------------------------


class Worker:
    """Stands for a HiGHS object that does so many iterations of so many seconds; notes who works when."""

    def __init__(self, settings: SolverSettings, name: str, iterations: int, at_work: list[str]) -> None:
        assert settings.interrupt is not None
        self.interrupt, self.name, self.iterations, self.at_work = settings.interrupt, name, iterations, at_work
        self.done = 0

    def run(self) -> str:
        for _ in range(self.iterations):
            self.at_work.append(self.name)
            if self.interrupt():
                return "kInterrupt"
            self.done += 1
        return "kOptimal"


def turns(simplex: int, interior: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[Worker], bool]:
    """Let both take turns on a clock by which each look takes half of a turn; who worked, what was made, who won."""
    looks = threading.local()

    def clock() -> float:
        looks.seen = getattr(looks, "seen", 0) + 1
        return float(looks.seen) * SLICE / 2

    monkeypatch.setattr("relift.solvers.highs_race.thread_time", clock)
    at_work: list[str] = []
    made: list[Worker] = []
    joined = threading.Event()

    def make(settings: SolverSettings) -> Any:
        is_interior = "solver" in settings.options
        if is_interior:
            joined.set()
        made.append(Worker(settings, *(("interior", interior) if is_interior else ("simplex", simplex)), at_work))
        return made[-1]

    def run_until_both_are_there(highs: Any) -> str:
        for _ in range(int(PATIENCE * 1000)):  # between iterations: interior point is made in its first turn
            if joined.is_set() or highs.name == "interior":
                return str(highs.run())
            assert not highs.interrupt()
            threading.Event().wait(0.001)
        raise AssertionError("interior point never had a turn")

    _, status, is_simplex = run_both(make, run_until_both_are_there, SolverSettings(), head_start=0.0, together=False)
    assert status == "kOptimal"
    return at_work, made, is_simplex


def test_in_turns_the_method_that_needs_less_wins_and_the_other_has_had_about_as_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at_work, (simplex, interior), is_simplex = turns(200, 50, monkeypatch)
    assert not is_simplex
    assert interior.done == 50
    assert 40 <= simplex.done <= 60
    assert at_work.count("simplex") + at_work.count("interior") == len(at_work)
    _, (simplex, interior), is_simplex = turns(50, 200, monkeypatch)
    assert is_simplex
    assert simplex.done == 50
    assert 40 <= interior.done <= 60


def test_in_turns_one_method_works_at_a_time_and_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work, (simplex, _), _ = turns(60, 1000, monkeypatch)
    assert simplex.done == 60
    changes = sum(one != other for one, other in pairwise(at_work))
    assert 20 <= changes <= 80  # turns of about two iterations each, none of them mixed up with the other's


def test_in_turns_nobody_waits_beyond_the_time_limit() -> None:
    held, ended = threading.Event(), threading.Event()

    def make(settings: SolverSettings) -> Any:
        return Runner(settings, "kTimeLimit" if "solver" in settings.options else None)

    def interior_keeps_its_turn(highs: Any) -> str:
        if highs.options:
            held.set()
            assert ended.wait(PATIENCE)
            return "kInterrupt"
        while not held.is_set():
            assert not highs.interrupt()
        highs.interrupt()  # waits for its turn, which never comes, until the time is over
        ended.set()
        return "kTimeLimit"

    settings = SolverSettings(time_limit=0.2)
    _, status, is_simplex = run_both(make, interior_keeps_its_turn, settings, head_start=0.0, together=False)
    assert (status, is_simplex) == ("kTimeLimit", True)


# --- with HiGHS itself ------------------------------------------------------------------------------------------------


def assignment(n: int) -> Program:
    costs = np.random.default_rng(0).integers(1, 9, n * n).astype(float)
    A = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    return Program(q=costs, A=A, l=np.ones(2 * n), u=np.ones(2 * n), lb=0)


def held_back(monkeypatch: pytest.MonkeyPatch, is_held: Callable[[Any], bool]) -> list[str]:
    """Keep one of the methods from running until it is stopped; the names of those that ran."""
    ran: list[str] = []

    def run_other(highs: Any) -> str:
        name = str(highs.getOptionValue("solver")[1])
        ran.append(name)
        if is_held(name):
            for _ in range(int(PATIENCE * 1000)):
                if stopped[name]():
                    return "kInterrupt"
                threading.Event().wait(0.001)
        return run(highs)

    stopped: dict[str, Callable[[], bool]] = {}

    def load_and_note(program: Program, settings: SolverSettings) -> Any:
        if settings.interrupt is not None:
            stopped[str(settings.options.get("solver", "choose"))] = settings.interrupt
        return load(program, settings)

    monkeypatch.setattr("relift.solvers.highs_.run", run_other)
    monkeypatch.setattr("relift.solvers.highs_.load", load_and_note)
    monkeypatch.setattr("relift.solvers.highs_.head_start", lambda n_entries, together: 0.0)
    return ran


@pytest.mark.parametrize("threads", [1, 2])
def test_both_methods_of_highs_end_with_the_certified_answer(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = assignment(60)
    highs = load(program, SolverSettings())
    assert run(highs) == "kOptimal"
    monkeypatch.setattr("relift.solvers.highs_.head_start", lambda n_entries, together: 0.0)
    before = threading.active_count()
    result = solve(program, lift="none", reduce=False, threads=threads)
    assert result.status == Status.OPTIMAL
    assert len(result.attempts) == 1
    assert result.objective == pytest.approx(float(highs.getInfo().objective_function_value), abs=1e-5)
    assert threading.active_count() == before


@pytest.mark.parametrize("slow", ["choose", "ipm"])
def test_either_method_gives_the_certified_answer(slow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = assignment(60)
    highs = load(program, SolverSettings())
    assert run(highs) == "kOptimal"
    known = float(highs.getInfo().objective_function_value)
    ran = held_back(monkeypatch, lambda name: name == slow)
    monkeypatch.setattr("relift.solvers.short_factors.LONGEST", 0.0)  # or Clarabel would run beside simplex
    result = solve(program, lift="none", reduce=False, threads=2)
    assert result.status == Status.OPTIMAL
    assert len(result.attempts) == 1
    assert result.objective == pytest.approx(known, abs=1e-5)
    if slow == "choose":
        assert sorted(ran) == ["choose", "ipm"]


def test_a_method_that_the_user_asks_for_runs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = held_back(monkeypatch, lambda name: False)
    for solver in ("simplex", "ipm"):
        solve(assignment(60), lift="none", reduce=False, threads=2, backend_options={"solver": solver})
    assert ran == ["simplex", "ipm"]


def test_versions_of_highspy_that_cannot_be_stopped_do_not_run_both(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = held_back(monkeypatch, lambda name: False)
    monkeypatch.setattr("relift.solvers.highs_._callback_kinds", lambda: None)
    assert solve(assignment(60), lift="none", reduce=False, threads=2).status == Status.OPTIMAL
    assert ran == ["choose"]


@pytest.mark.parametrize("slow", ["choose", "ipm"])
def test_infeasible_programs_have_their_proof_whoever_is_first(slow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = assignment(60)
    sides = np.r_[np.ones(119), 0.5]  # one unit more is sent than arrives
    short = Program(q=program.q, A=program.A, l=sides, u=sides, lb=0)
    held_back(monkeypatch, lambda name: name == slow)
    answer = HighsBackend().solve(short, SolverSettings(threads=2))
    assert answer.status == Status.INFEASIBLE
    assert answer.ray_y is not None


def test_a_run_that_was_stopped_does_not_stop_the_next_one_of_the_same_object() -> None:
    is_over = threading.Event()
    is_over.set()
    highs = load(assignment(20), SolverSettings(interrupt=is_over.is_set))
    assert run(highs) == "kInterrupt"
    is_over.clear()
    assert run(highs) == "kOptimal"
