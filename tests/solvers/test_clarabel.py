"""What Clarabel's words mean beside the tolerance that the user asked for."""

from __future__ import annotations

import numpy as np
import pytest

from relift import ConicRows, Exponential, Program, Status, certify
from relift.settings import SolverSettings
from relift.solvers.registry import get_backend

INF = np.inf


def stubborn() -> Program:
    """A program on which Clarabel gets stuck between 1e-10 and the 1e-11 that it is asked for."""
    P = [
        [0, 0, 0, 0, 0, 0], [0, 2, -2, -1, -2, 3], [0, -2, 2, 1, 2, -3], [0, -1, 1, 5, 4, 0], [0, -2, 2, 4, 4, -2],
        [0, 3, -3, 0, -2, 5],
    ]  # fmt: skip
    A: list[list[float]] = [
        [0, 1, -1, 3, 0, 0], [0, 0, 0, -0.5, 0, 0], [0, 1, -1, 3, 0, 0], [0, 0, 0, 2, 0, 1], [0, -2, 0, 0, 0, 0],
        [0, 0, 0, -3, 0, 0], [1, -2, 0, -2, 0, 3], [-2, -2, 3, 0, 1, -1], [-6, -6, 9, 0, 3, -3], [-2, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ]  # fmt: skip
    l = [-INF, -1.5, 4.5, 4.5, 1.5, -6, -INF, -INF, -INF, -INF, -1]
    u = [5.25, -0.5, 6, 4.5, INF, -6, 2.5, INF, -2.5, -3.5, 0]
    return Program(P, [0.1, -1, 1, 0.1, -1, 1], A, l, u, [0, -1, -2, 1, -1, -0.5], [4, 0, 1, 4, 1, 0.5], r=1.5)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-7, 1e-8])
def test_an_answer_as_good_as_asked_for_is_called_optimal(tolerance: float) -> None:
    program = stubborn()
    found = get_backend("clarabel").solve(program, SolverSettings(tolerance=tolerance))
    assert found.status == Status.OPTIMAL
    assert certify(program, found, tolerance).is_optimal
    assert found.objective == pytest.approx(9.1875)


def test_an_answer_far_from_what_was_asked_for_is_not() -> None:
    found = get_backend("clarabel").solve(stubborn(), SolverSettings(options={"max_iter": 4}))
    assert found.status != Status.OPTIMAL


def test_few_digits_are_asked_for_where_they_cost_many_steps() -> None:
    n = 60
    A, b = np.zeros((3 * n, 2 * n)), np.tile([0.0, 0.0, 1.0], n)  # (t, p, 1) with t below the entropy of p
    A[0::3, :n], A[1::3, n:] = -np.eye(n), -np.eye(n)
    price = np.linspace(0, 1, n)
    entropies = Program(
        q=np.r_[-np.ones(n), price], A=np.r_[np.zeros(n), np.ones(n)][None], l=[1], u=[1],
        conic=ConicRows(A, b, [Exponential()] * n),
    )  # fmt: skip
    backend, settings = get_backend("clarabel"), SolverSettings(tolerance=1e-6, options={"max_iter": 99})
    more = backend.with_more_digits(entropies, settings)
    assert more is not None
    assert more.options["max_iter"] == 99
    few, many = backend.solve(entropies, settings), backend.solve(entropies, more)
    assert few.iterations < many.iterations
    residuals = [certify(entropies, answer).worst_residual for answer in (few, many)]
    assert residuals[1] < residuals[0] < 1e-5
    assert backend.with_more_digits(Program(P=np.eye(2), q=[1, 1]), settings) is None
