"""Values, points and duals are those that CVXPY gets without relift, for every kind of cone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from cvxpy import Problem

cp = pytest.importorskip("cvxpy")

from tests.bridges.cvxpy_problems.problems import KINDS, duals, violation  # noqa: E402

from relift.cvxpy import Lifted  # noqa: E402


def reference(problem: Problem) -> float:
    """The optimum without relift; problems on which Clarabel gives up are left out."""
    try:
        return float(problem.solve(solver="CLARABEL"))
    except cp.error.SolverError:
        assume(False)
        raise


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12), n_kinds=st.integers(1, 4))
@settings(max_examples=12, deadline=None)
def test_lifted_problem_has_the_value_that_clarabel_finds(kind: str, seed: int, n: int, n_kinds: int) -> None:
    problem = KINDS[kind](np.random.default_rng(seed), n, n_kinds)
    expected = reference(problem)
    found = problem.solve(solver=Lifted())
    report = problem.solver_stats.extra_stats
    assert problem.status == "optimal"
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert violation(problem) <= 1e-5
    assert report["certificate"]["is_optimal"]
    assert report["small"]["variables"] <= report["ground"]["variables"]


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("linear", "power", "mean", "curved")])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=6, deadline=None)
def test_dual_values_have_the_signs_of_cvxpy_where_they_are_unique(kind: str, seed: int) -> None:
    problem = KINDS[kind](np.random.default_rng(seed), 4, 4)
    reference(problem)
    expected = duals(problem)
    problem.solve(solver=Lifted())
    assert np.abs(duals(problem) - expected).max() <= 1e-3 * (1 + np.abs(expected).max())


def test_dual_values_are_shared_not_copied() -> None:
    x = cp.Variable(4)
    limit = cp.sum(x) >= 4
    floors = x >= 0.5
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [limit, floors])
    problem.solve(solver=Lifted())
    assert problem.solver_stats.extra_stats["small"]["variables"] == 1
    assert limit.dual_value == pytest.approx(2.0, abs=1e-6)
    assert floors.dual_value == pytest.approx(np.zeros(4), abs=1e-6)


@pytest.mark.parametrize("backend", ["clarabel", "CLARABEL", "SCS", "scs", "OSQP", "osqp", "HIGHS", "PIQP", "SCIPY"])
def test_any_solver_serves_as_backend(backend: str) -> None:
    if backend.upper() not in cp.installed_solvers():
        pytest.skip(f"{backend} is not installed")
    x = cp.Variable(6, nonneg=True)
    cost = cp.sum(x) if backend == "SCIPY" else cp.sum(x) + 0.5 * cp.sum_squares(x)
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(x) >= 3])
    problem.solve(solver=Lifted(backend=backend))
    report = problem.solver_stats.extra_stats
    assert problem.status == "optimal"
    assert x.value == pytest.approx(np.full(6, 0.5), abs=1e-5)
    assert report["backend"] == (backend if backend.islower() else f"cvxpy:{backend}")
    assert report["small"]["variables"] == 1


@pytest.mark.parametrize("backend", ["clarabel", "CLARABEL", "SCS"])
@pytest.mark.parametrize("kind", ["second_order", "exponential", "power", "power_nd", "semidefinite", "curved", "mean"])
def test_cones_go_to_every_backend_that_takes_them(kind: str, backend: str) -> None:
    if backend.upper() not in cp.installed_solvers():
        pytest.skip(f"{backend} is not installed")
    problem = KINDS[kind](np.random.default_rng(5), 5, 2)
    expected = problem.solve(solver="CLARABEL")
    assert problem.solve(solver=Lifted(backend=backend)) == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert problem.status == "optimal"


def test_maximum_and_constants_of_the_objective_come_out_right() -> None:
    x = cp.Variable(3)
    problem = cp.Problem(cp.Maximize(7 - cp.sum_squares(x - 1)), [x <= 0])
    assert problem.solve(solver=Lifted()) == pytest.approx(4.0, abs=1e-6)


def test_geometric_programs_and_quasiconvex_ones_are_solved_too() -> None:
    x, y = cp.Variable(pos=True), cp.Variable(pos=True)
    geometric = cp.Problem(cp.Minimize(x + y), [x * y >= 4])
    assert geometric.solve(solver=Lifted(), gp=True) == pytest.approx(4.0, abs=1e-5)
    z = cp.Variable(2)
    quasi = cp.Problem(cp.Minimize(cp.ceil(cp.sum(z))), [z >= 1.1])
    assert quasi.solve(solver=Lifted(), qcp=True) == pytest.approx(3.0, abs=1e-5)


class TestStatuses:
    def test_infeasible_linear_and_conic(self) -> None:
        x = cp.Variable(3)
        for constraints in ([x >= 1, cp.sum(x) <= 2], [cp.norm(x) <= 1, cp.sum(x) >= 3], [cp.exp(x[0]) <= -1]):
            problem = cp.Problem(cp.Minimize(cp.sum(x)), constraints)
            assert problem.solve(solver=Lifted()) == np.inf
            assert problem.status == "infeasible"
            assert problem.solver_stats.extra_stats["certificate"]["is_proved"]
            assert x.value is None

    def test_proof_of_infeasibility_is_given_as_duals(self) -> None:
        x = cp.Variable(2)
        floors, limit = x >= 1, cp.sum(x) <= 1
        cp.Problem(cp.Minimize(0), [floors, limit]).solve(solver=Lifted())
        y, z = np.asarray(floors.dual_value), float(limit.dual_value)
        assert y == pytest.approx(np.full(2, z), rel=1e-6)  # sum(x) - x[0] - x[1] = 0 and 1 - 1 - 1 < 0
        assert z > 0

    def test_unbounded_linear_and_conic(self) -> None:
        x, t = cp.Variable(3), cp.Variable()
        for constraints in ([x >= 1], [cp.norm(x) <= t]):
            problem = cp.Problem(cp.Maximize(cp.sum(x)), constraints)
            assert problem.solve(solver=Lifted()) == np.inf
            assert problem.status == "unbounded"
            assert problem.solver_stats.extra_stats["certificate"]["is_proved"]
            data = problem.get_problem_data(Lifted())[0]
            assert data["c"] @ problem.solver_stats.extra_stats["direction"] < 0

    def test_limits_are_user_limits(self) -> None:
        problem = KINDS["second_order"](np.random.default_rng(0), 8, 8)
        with pytest.warns(UserWarning, match="inaccurate"):
            problem.solve(solver=Lifted(iteration_limit=1))
        assert problem.status == "user_limit"

    @pytest.mark.parametrize("kind", ["linear", "second_order"])
    def test_time_limit_that_is_over_before_the_first_solve_is_a_user_limit_without_a_point(self, kind: str) -> None:
        problem = KINDS[kind](np.random.default_rng(0), 8, 8)
        with pytest.warns(UserWarning, match="inaccurate"):
            value = problem.solve(solver=Lifted(time_limit=1e-9))
        assert problem.status == "user_limit"
        assert np.isnan(value)
        assert all(np.isnan(variable.value).all() for variable in problem.variables())
        assert "time limit" in problem.solver_stats.extra_stats["message"]

    def test_integers_are_refused(self) -> None:
        z = cp.Variable(2, integer=True)
        problem = cp.Problem(cp.Maximize(cp.sum(z)), [z <= 1.5])
        with pytest.raises(cp.error.SolverError, match="not MIP-capable"):
            problem.solve(solver=Lifted())
        with pytest.raises(cp.error.SolverError, match="RELIFT cannot solve this problem"):
            problem.solve(solver="RELIFT")
        with pytest.raises(cp.error.SolverError, match="relift does not take integer or boolean variables"):
            problem.solve(method="relift")
