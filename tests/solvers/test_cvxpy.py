"""Solvers behind CVXPY: which limit is called reached, and cones that CVXPY cannot stack."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cvxpy")

import relift
from relift.errors import OptionError
from relift.program import ConicRows, PowerND, Program, SecondOrder, Status
from relift.settings import SolverSettings
from relift.solvers.cvxpy_ import _limit_reached


def cone_program(seed: int = 0, n: int = 5) -> Program:
    random = np.random.default_rng(seed)
    A = np.vstack([np.zeros((1, n)), random.standard_normal((n, n))])
    rows = ConicRows(A, np.concatenate([[3.0], random.standard_normal(n)]), [SecondOrder(n + 1)])
    return Program(q=random.standard_normal(n), conic=rows)


@pytest.mark.parametrize(("solver", "option"), [("SCS", "max_iters"), ("CLARABEL", "max_iter")])
def test_an_answer_that_is_only_inaccurate_has_not_run_out_of_time(solver: str, option: str) -> None:
    pytest.importorskip(solver.lower())
    backend, program = f"cvxpy:{solver}", cone_program()
    for time_limit in (None, 1000.0):
        result = relift.solve(program, backend=backend, time_limit=time_limit, backend_options={option: 3})
        assert result.attempts[0].status == Status.OPTIMAL_INACCURATE
        assert result.status in {Status.OPTIMAL_INACCURATE, Status.FAILURE}  # by its residual
    assert relift.solve(program, backend=backend, time_limit=1000.0, iteration_limit=3).status == Status.ITERATION_LIMIT
    assert relift.solve(program, backend=backend, time_limit=1000.0).status == Status.OPTIMAL


def test_a_limit_is_reached_by_seconds_or_by_counted_iterations() -> None:
    both = SolverSettings(time_limit=10.0, iteration_limit=50)
    assert _limit_reached(both, 10.0, 7) is Status.TIME_LIMIT
    assert _limit_reached(both, 1.0, 50) is Status.ITERATION_LIMIT
    assert _limit_reached(both, 1.0, None) is Status.ITERATION_LIMIT  # it does not count: then it may have been this
    assert _limit_reached(both, 1.0, 49) is None
    assert _limit_reached(SolverSettings(), 1e9, 10**9) is None


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_power_cones_of_different_lengths_stand_in_one_program(solver: str) -> None:
    pytest.importorskip(solver.lower())
    weights = [(0.2, 0.3, 0.5), (0.1, 0.2, 0.3, 0.4)]
    # Maximise the sum of both means, each over arguments that add up to 1: they are the weights.
    n = 9
    rows = ConicRows(-np.eye(n), np.zeros(n), [PowerND(weights[0]), PowerND(weights[1])])
    A = np.zeros((2, n))
    A[0, :3] = A[1, 4:8] = 1.0
    q = np.zeros(n)
    q[[3, 8]] = -1.0
    result = relift.solve(Program(q=q, A=A, l=[1, 1], u=[1, 1], conic=rows), backend=f"cvxpy:{solver}", tolerance=1e-5)
    assert result.status == Status.OPTIMAL
    assert result.certificate.is_optimal
    np.testing.assert_allclose(result.x[[0, 1, 2, 4, 5, 6, 7]], np.concatenate(weights), atol=1e-3)
    assert result.v is not None
    assert result.v.size == n


def test_relift_behind_cvxpy_is_refused() -> None:
    for name in ("cvxpy:RELIFT", "cvxpy:relift"):
        with pytest.raises(OptionError, match="relift cannot be its own backend"):
            relift.solve(Program(q=[1.0], lb=0), backend=name)
