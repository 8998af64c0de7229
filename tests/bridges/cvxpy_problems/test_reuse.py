"""Solving again with other parameters: classes are kept where they hold, found anew where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from cvxpy import Problem

cp = pytest.importorskip("cvxpy")

import relift.bridges.cvxpy.reuse  # noqa: E402
from relift.cvxpy import Lifted  # noqa: E402
from relift.lifting.lifting import Lifting, lift  # noqa: E402
from relift.settings import LiftSettings  # noqa: E402


def classes(problem: Problem) -> tuple[str, int]:
    report = problem.solver_stats.extra_stats
    return report["classes"], report["small"]["variables"]


@pytest.fixture
def refinements(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts how often classes are looked for."""
    calls: list[int] = []

    def counted(program: relift.Program, settings: LiftSettings) -> Lifting:
        calls.append(program.n_variables)
        return lift(program, settings)

    monkeypatch.setattr(relift.bridges.cvxpy.reuse, "lift", counted)
    return calls


def test_new_right_hand_sides_and_costs_keep_the_classes(refinements: list[int]) -> None:
    n, cost, limit = 10, cp.Parameter(10), cp.Parameter()
    x = cp.Variable(n, nonneg=True)
    problem = cp.Problem(cp.Minimize(cost @ x + cp.sum_squares(x)), [cp.sum(x) >= limit])
    for k in range(4):
        cost.value, limit.value = np.repeat([1.0 + k, 3.0 - k / 2], 5), 2.0 + k
        value = problem.solve(solver=Lifted())
        assert classes(problem) == (("found", 2) if k == 0 else ("kept", 2))
        same = cp.Problem(problem.objective, problem.constraints)  # CVXPY forgets all when the solver changes
        assert value == pytest.approx(same.solve(solver="CLARABEL"), rel=1e-6)
    assert len(refinements) == 1


def test_new_matrices_keep_the_classes_where_they_hold(refinements: list[int]) -> None:
    weights, n = cp.Parameter(6, nonneg=True), 6
    x = cp.Variable(n)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [weights @ x >= 1, cp.norm(cp.multiply(weights, x)) <= 3])
    weights.value = np.repeat([1.0, 2.0], 3)
    problem.solve(solver=Lifted())
    first = classes(problem)[1]
    weights.value = np.repeat([5.0, 0.3], 3)
    problem.solve(solver=Lifted())
    assert classes(problem) == ("kept", first)
    n_before = len(refinements)
    weights.value = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 1.0])
    value = problem.solve(solver=Lifted())
    assert classes(problem)[0] == "found"
    assert len(refinements) > n_before
    assert value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-5)


def test_numbers_that_become_equal_are_noticed() -> None:
    cost = cp.Parameter(5)
    x = cp.Variable(5, nonneg=True)
    problem = cp.Problem(cp.Minimize(cost @ x + cp.sum_squares(x)), [cp.sum(x) == 1])
    cost.value = np.arange(5.0)
    problem.solve(solver=Lifted())
    assert classes(problem) == ("found", 5)
    cost.value = np.ones(5)
    problem.solve(solver=Lifted())
    assert classes(problem) == ("found", 1)


def test_the_same_numbers_are_lifted_once(refinements: list[int]) -> None:
    x = cp.Variable(5, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1])
    problem.solve(solver=Lifted())
    problem.solve(solver=Lifted())
    assert classes(problem) == ("same", 1)
    assert len(refinements) == 1


def test_recovered_constraints_keep_their_classes_too(refinements: list[int]) -> None:
    from tests.bridges.cvxpy_problems.problems import ring

    limit = cp.Parameter(nonneg=True, value=1.0)
    x = cp.Variable(8)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [cp.quad_form(x, ring(8)) <= limit])
    problem.solve(solver=Lifted())
    n_before = len(refinements)
    limit.value = 2.0
    value = problem.solve(solver=Lifted())
    assert classes(problem) == ("kept", 1)
    assert len(refinements) == n_before
    assert value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-5)


def test_a_recovery_that_gained_nothing_is_not_tried_twice(refinements: list[int]) -> None:
    limit = cp.Parameter(nonneg=True, value=1.0)
    x = cp.Variable(4)
    factor = np.array([[1.0, 2, 0, 3], [0, 1, 5, 1], [2, 0, 1, 7]])
    problem = cp.Problem(cp.Minimize(x @ np.array([1.0, 2, 3, 4]) + cp.norm(factor @ x)), [cp.norm(x) <= limit])
    problem.solve(solver=Lifted())
    n_before = len(refinements)
    assert n_before > 1  # as compiled, and as recovered
    for bound in (2.0, 3.0):
        limit.value = bound
        problem.solve(solver=Lifted())
        assert classes(problem)[0] == "kept"
    assert len(refinements) == n_before


def test_classes_are_not_kept_across_methods() -> None:
    Q = np.array([[1, 0, -1, 0], [0, 2, 0, -2], [-1, 0, 1, 0], [0, -2, 0, 2]])
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, Q)), [x >= 1])
    sizes = []
    for method in ("equitable", "counting", "none", "equitable"):
        problem.solve(solver="RELIFT", lift=method)
        sizes.append(classes(problem)[1])
    assert sizes == [1, 2, 4, 1]


@pytest.mark.parametrize("backend", ["auto", "clarabel"])
def test_kept_solvers_give_the_answers_of_fresh_ones_whatever_came_before(backend: str) -> None:
    random = np.random.default_rng(0)
    A, b, c = random.uniform(-1, 1, (3, 5)).round(2), cp.Parameter(3), cp.Parameter(5)
    x = cp.Variable(5)
    problem = cp.Problem(cp.Minimize(c @ x), [A @ x <= b, x >= 0, cp.sum(x) <= 2])
    statuses = set()
    for _ in range(20):
        b.value, c.value = random.uniform(-0.5, 1, 3).round(2), random.normal(size=5).round(2)
        value = problem.solve(solver=Lifted(backend=backend))
        same = cp.Problem(problem.objective, problem.constraints)
        expected = same.solve(solver="CLARABEL")
        statuses.add(problem.status)
        assert problem.status == same.status
        assert value == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert statuses == {"optimal", "infeasible"}
