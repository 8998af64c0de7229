"""Clarabel takes the place of interior point where factors are short, and its answers are certified like any other."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift import Program, Status
from relift.program.solution import Solution
from relift.settings import SolverSettings
from relift.solvers import highs_, predicted_fill, short_factors
from relift.solvers.highs_ import HighsBackend
from relift.solvers.highs_race import LEAST_ENTRIES, Other
from relift.solvers.short_factors import by_clarabel, clarabel_beside, head_start

PATIENCE = 20.0
"""Seconds after which simplex begins in any case."""

pytestmark = pytest.mark.skipif(not predicted_fill.CORE_IS_COMPILED, reason="the compiled core is not built")


def inventory(periods: int) -> Program:
    """What to make and to keep in each period: a chain, whose factor is as short as can be."""
    random = np.random.default_rng(1)
    keep = sparse.eye_array(periods, k=-1) - sparse.eye_array(periods)
    A = sparse.hstack([sparse.eye_array(periods), keep]).tocsc()
    demand, cost = random.uniform(1, 3, periods), np.concatenate([random.uniform(1, 9, periods), np.ones(periods)])
    return Program(q=cost, A=A, l=demand, u=demand, lb=0, ub=4)


def packing(n: int) -> Program:
    """Dense rows: a long factor."""
    A = np.random.default_rng(2).uniform(0, 1, (n // 2, n))
    return Program(q=-np.ones(n), A=A, u=A.sum(axis=1) / 3, lb=0, ub=1)


def test_factors_of_a_chain_are_short_and_those_of_dense_rows_are_long() -> None:
    program = inventory(50)
    fill = predicted_fill.predicted_fill(program)
    assert fill is not None
    entries = program.n_variables + program.n_rows + program.n_nonzeros + fill.entries
    assert head_start(program) == pytest.approx(0.5 * 7e-7 * entries, rel=1e-12)
    assert head_start(packing(150)) is None


def test_thresholds_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    program = packing(40)
    fill = predicted_fill.predicted_fill(program)
    assert fill is not None
    for longest, is_short in ((0.99, False), (1.01, True)):
        monkeypatch.setattr(short_factors, "LONGEST", longest * fill.operations / fill.entries)
        assert (head_start(program) is not None) is is_short
    assert head_start(inventory(50)) is not None
    monkeypatch.setattr(short_factors, "EFFORT", 0.0)
    assert head_start(inventory(50)) is None


def test_clarabel_answers_where_it_has_an_optimal_point() -> None:
    program = inventory(50)
    answer = by_clarabel(program, SolverSettings())
    assert answer is not None
    assert (answer.backend, answer.status) == ("clarabel", Status.OPTIMAL)
    assert by_clarabel(program, SolverSettings(interrupt=lambda: True)) is None
    assert by_clarabel(program.replace(ub=0.5), SolverSettings()) is None  # infeasible


@pytest.fixture
def clarabel_is_over(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Interior point begins at once, and simplex only when it is over, which is told."""
    over = threading.Event()

    def after_that(program: Program) -> Other:
        def solve(settings: SolverSettings) -> Solution | None:
            try:
                return by_clarabel(program, settings)
            finally:
                over.set()

        return Other(lambda: 0.0, solve)

    run = highs_.run

    def wait(highs: Any) -> str:
        over.wait(PATIENCE)
        return run(highs)

    monkeypatch.setattr("relift.solvers.highs_.clarabel_beside", after_that)
    monkeypatch.setattr("relift.solvers.highs_.run", wait)
    monkeypatch.setattr("relift.solvers.highs_.head_start", lambda n_entries, together: 0.0)
    return over


def test_its_answer_is_certified_and_has_its_name(clarabel_is_over: threading.Event) -> None:
    program = inventory(2000)
    assert program.n_variables + program.n_rows + program.n_nonzeros >= LEAST_ENTRIES
    result = relift.solve(program, lift="none", reduce=False, threads=2)
    assert clarabel_is_over.is_set()
    assert result.status == Status.OPTIMAL
    assert result.backend in {"clarabel", "highs"}  # simplex may be done before it is stopped
    assert [attempt.backend for attempt in result.attempts] == [result.backend]
    known = HighsBackend().solve(program, SolverSettings(options={"solver": "simplex"}))
    assert result.objective == pytest.approx(known.objective, rel=1e-6)


@pytest.mark.parametrize(("asked", "times"), [({"backend": "highs"}, 0), ({}, 1)])
def test_nobody_else_answers_where_highs_is_asked_for_by_name(
    asked: dict[str, str], times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Program] = []
    begun = threading.Event()

    def note(program: Program) -> Other:
        calls.append(program)
        begun.set()
        return clarabel_beside(program)

    run = highs_.run

    def wait(highs: Any) -> str:
        if times:
            begun.wait(PATIENCE)
        return run(highs)

    monkeypatch.setattr("relift.solvers.highs_.clarabel_beside", note)
    monkeypatch.setattr("relift.solvers.highs_.run", wait)
    monkeypatch.setattr("relift.solvers.highs_.head_start", lambda n_entries, together: 0.0)
    result = relift.solve(inventory(2000), lift="none", reduce=False, threads=2, **asked)  # type: ignore[arg-type]
    assert result.status == Status.OPTIMAL
    assert times or result.backend == "highs"
    assert len(calls) == times
