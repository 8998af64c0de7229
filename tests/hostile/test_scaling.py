"""Answers that were certified because of the scale in which a program was written, and right ones that must be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relift
from relift import ConicRows, Program, SecondOrder, Solution, Status, certify, solve
from relift.solvers.registry import backend_names

SEEDS = st.integers(0, 10**6)
ANYTHING = st.integers(-30, 30)


def rescaled(
    program: Program, solution: Solution, rows: np.ndarray, columns: np.ndarray, objective: float
) -> tuple[Program, Solution]:
    """The same program and answer with rows, variables (x = columns * new x) and objective multiplied."""
    P = None if program.P is None else objective * (columns[:, None] * program.P.toarray() * columns)
    A = rows[:, None] * program.A.toarray() * columns
    other = Program(
        None if P is None else (P + P.T) / 2, objective * program.q * columns, A, rows * program.l, rows * program.u,
        program.lb / columns, program.ub / columns, objective * program.r,
    )  # fmt: skip
    assert solution.x is not None
    assert solution.y is not None
    assert solution.w is not None
    x, y, w = solution.x / columns, objective * solution.y / rows, objective * columns * solution.w
    return other, Solution(Status.OPTIMAL, x=x, y=y, w=w)


def small_program(seed: int) -> tuple[Program, np.random.Generator]:
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 7)), int(random.integers(1, 6))
    A = random.integers(-3, 6, (m, n)) * (random.random((m, n)) < 0.7)
    point = random.integers(0, 4, n)
    l = np.where(random.random(m) < 0.7, A @ point - random.integers(0, 2, m), -np.inf)
    u = np.where(random.random(m) < 0.3, A @ point + random.integers(0, 3, m), np.inf)
    lb, ub = np.where(random.random(n) < 0.8, 0.0, -9.0), np.where(random.random(n) < 0.3, 5.0, np.inf)
    P = None
    if random.random() < 0.3:
        factor = random.integers(-1, 3, (2, n))
        P = factor.T @ factor
    return Program(P, random.integers(0, 6, n), A, l, u, lb, ub), random


def test_rows_of_small_numbers_must_hold() -> None:
    program = Program(q=[1, 1.5], A=[[1e-8, 2e-8], [2e-8, 1e-8]], l=[1e-8, 1e-8], lb=0)
    nothing = Solution(Status.OPTIMAL, x=np.zeros(2), y=np.zeros(2), w=-program.q)
    assert certify(program, nothing).primal_residual > 0.1
    known = {"highs", "clarabel", "osqp", "piqp", "scs"}
    for backend in ("auto", *sorted(known.intersection(backend_names(installed=True)))):
        result = solve(program, backend=backend)
        assert result.status != Status.OPTIMAL or result.objective == pytest.approx(5 / 6, rel=1e-5)
    assert solve(program).objective == pytest.approx(5 / 6)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, exponents=st.lists(ANYTHING, min_size=6, max_size=6))
def test_a_factor_of_a_row_changes_no_residual_by_a_bit(seed: int, exponents: list[int]) -> None:
    program, random = small_program(seed)
    x, y, w = (random.normal(size=size) for size in (program.n_variables, program.n_rows, program.n_variables))
    given_one = Solution(Status.OPTIMAL, x=x, y=y, w=w)
    rows = 2.0 ** np.array(exponents[: program.n_rows])
    other, answer = rescaled(program, given_one, rows, np.ones(program.n_variables), 1.0)
    before, after = certify(program, given_one), certify(other, answer)
    assert (before.primal_residual, before.dual_residual, before.duality_gap) == (
        after.primal_residual, after.dual_residual, after.duality_gap,
    )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, rows=st.integers(-12, 12), columns=st.integers(-8, 8), objective=st.integers(-8, 2))
def test_a_right_answer_stays_right_and_a_wrong_one_wrong_in_every_scale(
    seed: int, rows: int, columns: int, objective: int
) -> None:
    program, random = small_program(seed)
    right = solve(program, lift="none", reduce=False)
    if right.status != Status.OPTIMAL or right.certificate.worst_residual > 1e-9:
        return  # it is to be right by far, since a smaller unit leaves less room
    scales = (
        10.0 ** random.uniform(min(rows, 0), max(rows, 0), program.n_rows),
        10.0 ** random.uniform(min(columns, 0), max(columns, 0), program.n_variables),
        10.0**objective,
    )
    assert certify(*rescaled(program, right.solution, *scales)).is_optimal
    for dropped in range(program.n_rows):
        l, u = program.l.copy(), program.u.copy()
        l[dropped], u[dropped] = -np.inf, np.inf
        without = solve(program.replace(l=l, u=u), lift="none", reduce=False)
        is_other = abs(without.objective - right.objective) > 1e-3 * (1 + abs(right.objective))
        if without.status == Status.OPTIMAL and is_other:
            assert not certify(*rescaled(program, without.solution, *scales)).is_optimal


@pytest.mark.parametrize("unit", [1e-12, 1e-8, 1e-4, 1.0, 1e4, 1e8])
def test_a_program_in_another_unit_is_solved_and_its_wrong_answer_seen(unit: float) -> None:
    program = Program(q=[1, 1.5], A=[[1, 2], [2, 1]], l=[unit, unit], lb=0)
    nothing = Solution(Status.OPTIMAL, x=np.zeros(2), y=np.zeros(2), w=-program.q)
    assert not certify(program, nothing).is_optimal
    assert solve(program).objective == pytest.approx(5 / 6 * unit, rel=1e-6)


@pytest.mark.parametrize("slope", [1e-7, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("other", [0.0, 1.0, 1e9])
def test_a_free_variable_that_still_improves_is_not_optimal(slope: float, other: float) -> None:
    program = Program(q=[other, slope], lb=[0, -np.inf])
    still = Solution(Status.OPTIMAL, x=np.zeros(2), y=np.zeros(0), w=np.array([-other, 0.0]))
    assert not certify(program, still).is_optimal
    pretended = replace(still, w=np.array([-other, -slope]))  # presses on a bound that is not there
    assert not certify(program, pretended).is_optimal
    assert solve(program).status == Status.UNBOUNDED


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9])
def test_a_free_variable_held_by_a_row_far_away_is_not_optimal_before_it_gets_there(far: float) -> None:
    program = Program(q=[1, 1e-7], A=[[0, 1], [1, 1]], l=[-far, -np.inf], lb=[0, -np.inf])
    still = Solution(Status.OPTIMAL, x=np.zeros(2), y=np.zeros(2), w=np.array([-1.0, 0.0]))
    assert not certify(program, still).is_optimal
    assert solve(program).objective == pytest.approx(-1e-7 * far)


def test_a_gradient_counts_up_to_the_bound_that_a_row_implies() -> None:
    # x0 = -x1 can fall to -1e9; duals that hide it leave a slope of 1e-7 on x0, beside terms of size 1.
    program = Program(q=[1 + 1e-7, 1], A=[[1, 1]], l=[0], u=[0], lb=[-np.inf, 0], ub=[np.inf, 1e9])
    hidden = Solution(Status.OPTIMAL, x=np.zeros(2), y=np.array([-1.0]), w=np.zeros(2))
    assert certify(program, hidden).duality_gap > 1
    assert solve(program).objective == pytest.approx(-100, rel=1e-5)


@pytest.mark.parametrize("how", ["constant", "fixed variable"])
def test_a_constant_in_the_objective_hides_no_gap(how: str) -> None:
    program = Program(q=[1.0], A=[[1.0]], l=[1.0], lb=0, r=1e9)
    wrong = Solution(Status.OPTIMAL, x=np.array([2.0]), y=np.array([-1.0]), w=np.zeros(1))
    if how == "fixed variable":
        program = Program(q=[1.0, 1e9], A=[[1.0, 0.0]], l=[1.0], lb=[0, 1], ub=[np.inf, 1])
        wrong = Solution(Status.OPTIMAL, x=np.array([2.0, 1.0]), y=np.array([-1.0]), w=np.array([0.0, -1e9]))
    assert certify(program, wrong).duality_gap > 0.1
    assert solve(program).objective == pytest.approx(1e9 + 1, abs=1e-3)


def test_right_sides_that_are_rounding_are_met_by_zero() -> None:
    program = Program(q=[1, 1, 1], A=[[1, -1, 0], [1, 1, 1]], l=[0.1 + 0.2 - 0.3, 1], u=[0.1 + 0.2 - 0.3, 2], lb=0)
    point = Solution(Status.OPTIMAL, x=np.array([0.0, 0.0, 1.0]), y=np.array([0.0, -1.0]), w=np.zeros(3))
    assert certify(program, point).is_optimal


def test_a_row_without_entries_is_measured_in_the_unit_of_the_program() -> None:
    answer = Solution(Status.OPTIMAL, x=np.zeros(1), y=np.zeros(1), w=np.array([-1.0]))
    assert certify(Program(q=[1.0], A=[[0.0]], l=[1e-16], lb=0, ub=1), answer).is_optimal
    assert not certify(Program(q=[1.0], A=[[0.0]], l=[1e-5], lb=0, ub=1), answer).is_optimal


@pytest.mark.parametrize("factor", [1e-10, 1e-5, 1.0, 1e5, 1e10])
def test_a_quadratic_constraint_of_small_numbers_must_hold(factor: float) -> None:
    ball = (2 * factor * np.eye(2), None, factor)
    program = Program(q=[-1, 0], quadratic=[ball])
    z = np.array([0.5 / factor])
    right = Solution(Status.OPTIMAL, x=np.array([1.0, 0.0]), y=np.zeros(0), w=np.zeros(2), z=z)
    assert certify(program, right).is_optimal
    outside = replace(right, x=np.array([1.01, 0.0]), z=z / 1.01)
    assert certify(program, outside).primal_residual > 1e-3
    result = solve(program)
    assert result.status != Status.OPTIMAL or result.objective == pytest.approx(-1, abs=1e-6)


@pytest.mark.parametrize("factor", [1e-10, 1e-5, 1.0, 1e5, 1e10])
def test_a_cone_of_small_numbers_must_hold(factor: float) -> None:
    disc = ConicRows(
        -factor * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), factor * np.array([1.0, 0, 0]), [SecondOrder(3)]
    )
    program = Program(q=[-1, 0], conic=disc)
    v = np.array([1.0, -1.0, 0.0]) / factor
    right = Solution(Status.OPTIMAL, x=np.array([1.0, 0.0]), y=np.zeros(0), w=np.zeros(2), v=v)
    assert certify(program, right).is_optimal
    assert certify(program, replace(right, x=np.array([1.01, 0.0]))).primal_residual > 1e-3
    assert certify(program, replace(right, v=0.9 * v)).dual_residual > 1e-3
    result = solve(program)
    assert result.status != Status.OPTIMAL or result.objective == pytest.approx(-1, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, exponents=st.lists(ANYTHING, min_size=6, max_size=6))
def test_a_factor_of_a_row_changes_no_residual_of_a_ray_by_a_bit(seed: int, exponents: list[int]) -> None:
    program, random = small_program(seed)
    y, d = random.normal(size=program.n_rows), random.normal(size=program.n_variables)
    rows = 2.0 ** np.array(exponents[: program.n_rows])
    answer = Solution(Status.OPTIMAL, x=d, y=y, w=d)
    other, moved = rescaled(program, answer, rows, np.ones(program.n_variables), 1.0)
    for status in (Status.INFEASIBLE, Status.UNBOUNDED):
        before = certify(program, Solution(status, ray_y=y, ray_x=d)).ray_residual
        assert certify(other, Solution(status, ray_y=moved.y, ray_x=d)).ray_residual == before


@pytest.mark.parametrize("small", [1e-8, 1e-12])
def test_small_numbers_beside_an_unrelated_unit_still_count_where_they_cost_something(small: float) -> None:
    program = Program(q=[1 / small, 1.5 / small, 1], A=[[1, 2, 0], [2, 1, 0], [0, 0, 1]], l=[small, small, 1], lb=0)
    nothing = Solution(
        Status.OPTIMAL, x=np.array([0.0, 0, 1]), y=np.array([0.0, 0, -1]), w=-program.q * np.array([1, 1, 0])
    )
    assert not certify(program, nothing).is_optimal
    assert relift.solve(program).objective == pytest.approx(5 / 6 + 1, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_a_solve_has_the_same_verdict_in_every_scale(seed: int) -> None:
    program, random = small_program(seed)
    if random.random() < 0.2:
        program = program.replace(lb=np.where(random.random(program.n_variables) < 0.5, -np.inf, program.lb))
    if random.random() < 0.2:
        program = program.replace(l=np.concatenate([[1e3], program.l[1:]]), u=np.full(program.n_rows, np.inf))
    before = solve(program, lift="none", reduce=False)
    scales = (
        10.0 ** random.uniform(-12, 12, program.n_rows),
        10.0 ** random.uniform(-4, 4, program.n_variables),
        10.0 ** random.uniform(-6, 6),
    )
    n, m = program.n_variables, program.n_rows
    nothing = Solution(Status.OPTIMAL, np.zeros(n), np.zeros(m), np.zeros(n))
    other, _ = rescaled(program, nothing, *scales)
    after = solve(other)
    assert after.status == before.status
    if before.status == Status.OPTIMAL:
        assert after.objective / scales[2] == pytest.approx(before.objective, rel=1e-5, abs=1e-5)
