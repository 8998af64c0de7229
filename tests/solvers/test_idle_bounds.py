"""Bounds that no optimal point needs are left out, those alone, and nothing about the answer changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift import Program
from relift.program.solution import Solution, Status
from relift.solvers import idle_bounds
from relift.solvers.backend import forms
from relift.solvers.idle_bounds import IdleBounds

INF = np.inf


def random_program(random: np.random.Generator) -> Program:
    """Bounds, rows and costs of all kinds, by small whole numbers, so that slopes of exactly 0 occur."""
    n, m = int(random.integers(1, 7)), int(random.integers(0, 6))
    root = random.integers(-1, 2, (n, n)) * (random.random((n, n)) < 0.2)
    P = root.T @ root + np.diag(random.integers(0, 3, n))
    lower = np.where(random.random(m) < 0.5, random.integers(-3, 1, m), -INF)
    upper = np.where(random.random(m) < 0.5, random.integers(1, 4, m), INF)
    lb = np.where(random.random(n) < 0.7, random.integers(-2, 2, n), -INF)
    ub = np.where(random.random(n) < 0.5, random.integers(1, 4, n), INF)
    A = random.integers(-1, 2, (m, n)) * (random.random((m, n)) < 0.6)
    return Program(P=P, q=random.integers(-2, 3, n), A=A, l=lower, u=upper, lb=lb, ub=ub)


def idle_by_definition(program: Program, j: int, side: int) -> bool:
    """Whether the lower (side 1) or upper (-1) bound of a variable is idle, entry by entry."""
    assert program.P is not None
    P, A = program.P.toarray(), program.A.toarray()
    bound = program.lb[j] if side > 0 else program.ub[j]
    if not np.isfinite(bound) or P[j, j] <= 0 or not A[:, j].any() or program.lb[j] == program.ub[j]:
        return False
    if any(P[j, k] != 0 for k in range(len(P)) if k != j) or side * (P[j, j] * bound + program.q[j]) > 0:
        return False
    moves = side * A[:, j]  # how each row moves when the variable moves inwards
    return not any(
        (move > 0 and np.isfinite(program.u[i])) or (move < 0 and np.isfinite(program.l[i]))
        for i, move in enumerate(moves)
    )


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_exactly_the_idle_bounds_are_left_out(seed: int) -> None:
    program = random_program(np.random.default_rng(seed))
    assume(program.P is not None)
    step = IdleBounds.of(program, fewest=1)
    left = program if step is None else step.program
    for j in range(program.n_variables):
        assert (left.lb[j] != program.lb[j]) == idle_by_definition(program, j, 1)
        assert (left.ub[j] != program.ub[j]) == idle_by_definition(program, j, -1)
    assert (step is None) == (left == program)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("backend", ["clarabel", "osqp"])
def test_answers_are_those_of_the_program_with_all_its_bounds(backend: str, seed: int) -> None:
    pytest.importorskip(backend)
    program = random_program(np.random.default_rng(seed))
    step = IdleBounds.of(program, fewest=1)
    assume(step is not None)
    assert step is not None
    wanted = relift.solve(program, lift="none", reduce=False)
    found = relift.solve(step.program, lift="none", reduce=False, backend=backend)
    assert found.status == wanted.status
    if wanted.status is Status.OPTIMAL:
        back = step.expand(found.solution)
        assert relift.certify(program, back, 1e-5).is_optimal
        assert back.objective == pytest.approx(wanted.objective, abs=1e-4, rel=1e-4)
    elif wanted.status is Status.INFEASIBLE:
        assert relift.certify(program, step.expand(found.solution), 1e-5).is_proved


def hinges(n: int, price: float = 0.0) -> Program:
    """x is drawn upwards, and n squared hinges t_i >= x - 1 + i/n hold it."""
    A = sparse.hstack([-np.ones((n, 1)), sparse.eye_array(n)])
    P = sparse.diags_array(np.r_[0.0, np.ones(n)], format="csc")
    q = np.r_[-1.0, np.full(n, price)]
    return Program(P=P, q=q, A=A, l=-1.0 + np.arange(n) / n, lb=0.0, ub=np.r_[5.0, np.full(n, INF)])


def test_helper_variables_of_squared_hinges_lose_their_bounds_and_others_keep_them() -> None:
    step = IdleBounds.of(hinges(2000))
    assert step is not None
    assert step.program.lb.tolist() == [0.0, *[-INF] * 2000]
    assert step.program.ub.tolist() == hinges(2000).ub.tolist()
    assert IdleBounds.of(hinges(2000, price=0.5)) is None  # a linear price draws them below 0
    assert IdleBounds.of(hinges(900)) is None  # nothing to be won


def test_a_point_that_misses_an_idle_bound_is_moved_to_it() -> None:
    program = hinges(3)
    step = IdleBounds.of(program, fewest=1)
    assert step is not None
    moved = step.expand(Solution(Status.OPTIMAL, x=np.array([-1.0, -1e-9, 0.5, -2.0]), y=np.zeros(3), w=np.zeros(4)))
    assert moved.x is not None
    assert moved.x.tolist() == [-1.0, 0.0, 0.5, 0.0]
    assert moved.objective == program.objective(moved.x)
    assert step.expand(Solution(Status.INFEASIBLE)).x is None


def test_a_point_on_a_steep_slope_stays_stationary_when_it_is_moved() -> None:
    program = Program(P=np.diag([1e6, 1.0]), q=[0, -1], A=[[1, -1]], l=[-2], lb=[0, 0])
    step = IdleBounds.of(program, fewest=1)
    assert step is not None
    x, w = np.array([-1e-5, 1.0]), np.zeros(2)
    moved = step.expand(Solution(Status.OPTIMAL, x=x, y=np.zeros(1), w=w))
    assert moved.x is not None
    assert moved.w is not None
    assert program.P is not None
    assert moved.x.tolist() == [0.0, 1.0]
    assert moved.w == pytest.approx([-10.0, 0.0])  # the sign of lower bounds
    assert program.P @ moved.x + moved.w == pytest.approx(program.P @ x + w)


def test_variables_that_are_fixed_keep_both_bounds() -> None:
    program = Program(P=np.diag([1e6, 1.0]), q=[0, -1], A=[[1, -1]], l=[-2], lb=[0, -3], ub=[0, INF])
    assert IdleBounds.of(program, fewest=1) is None


def test_a_warm_start_has_no_dual_value_for_a_bound_that_was_left_out() -> None:
    step = IdleBounds.of(hinges(2), fewest=1)
    assert step is not None
    forward = step.restrict(Solution(Status.OPTIMAL, x=np.zeros(3), w=np.array([-1.0, -2.0, -1e-9])))
    assert forward.w is not None
    assert forward.w.tolist() == [-1.0, 0.0, 0.0]


def test_the_step_is_taken_for_solvers_that_want_it() -> None:
    assert [type(step) for step in forms(hinges(2000), without_idle_bounds=True)] == [IdleBounds]
    assert forms(hinges(2000)) == []


@pytest.mark.parametrize("backend", ["clarabel", "osqp", "piqp", "auto"])
def test_every_solver_gives_the_same_answer_with_dual_values_that_pass(backend: str) -> None:
    if backend != "auto":
        pytest.importorskip(backend)
    program = hinges(idle_bounds.FEWEST_VARIABLES)
    result = relift.solve(program, backend=backend, lift="none", reduce=False)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(relift.solve(program, backend="highs").objective, rel=1e-6)
