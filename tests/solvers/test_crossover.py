"""Crossover ends in an optimal vertex, from lifted points as well as from rough ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.errors import OptionError
from relift.program import Program, Solution, Status
from relift.settings import SolverSettings
from relift.solvers.crossover import vertex_solution
from relift.solvers.registry import get_backend
from relift.testing.asserts import assert_optimal


def assert_vertex(program: Program, x: np.ndarray) -> None:
    """The bounds met at x determine it, and no more entries are strictly between bounds than there are rows."""
    Ax = program.A @ x
    tight_rows = np.isclose(Ax, program.l, atol=1e-7) | np.isclose(Ax, program.u, atol=1e-7)
    tight = np.isclose(x, program.lb, atol=1e-7) | np.isclose(x, program.ub, atol=1e-7)
    assert np.sum(~tight_rows) + np.sum(~tight) <= program.n_rows
    active = np.vstack([program.A.toarray()[tight_rows], np.eye(program.n_variables)[tight]])
    assert np.linalg.matrix_rank(active) == program.n_variables


def transport(n: int) -> Program:
    """Equal supplies and demands, equal costs: every doubly stochastic matrix is optimal."""
    A = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    return Program(q=np.ones(n * n), A=A, l=1, u=1, lb=0)


def test_centre_of_the_assignment_polytope_goes_to_a_permutation() -> None:
    n = 8
    program = transport(n)
    centre = Solution(Status.OPTIMAL, np.full(n * n, 1 / n), np.full(2 * n, -0.5), np.zeros(n * n), objective=float(n))
    moved = vertex_solution(program, centre, SolverSettings())
    assert_optimal(program, moved)
    assert moved.x is not None
    assert_vertex(program, moved.x)
    assert sorted(np.unique(np.round(moved.x, 9))) == [0.0, 1.0]


@pytest.mark.parametrize("keep", ["all", "only x", "wrong duals"])
def test_knapsack_face_goes_to_a_vertex(keep: str) -> None:
    n = 12
    program = Program(q=-np.ones(n), A=np.ones((1, n)), u=[5.5], lb=0, ub=1)
    y, w = np.array([1.0]), np.zeros(n)
    if keep == "wrong duals":
        y, w = np.array([0.0]), np.ones(n)
    point = Solution(
        Status.OPTIMAL, np.full(n, 5.5 / n), *((None, None) if keep == "only x" else (y, w)), objective=-5.5
    )
    moved = vertex_solution(program, point, SolverSettings())
    assert_optimal(program, moved)
    assert moved.x is not None
    assert_vertex(program, moved.x)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), m=st.integers(0, 8))
def test_interior_point_answers_go_to_vertices(seed: int, n: int, m: int) -> None:
    random = np.random.default_rng(seed)
    A = random.integers(-2, 3, (m, n)).astype(float)
    inside = random.integers(0, 3, n).astype(float)
    slack = random.integers(0, 3, m)
    program = Program(q=random.integers(-2, 3, n), A=A, l=A @ inside - slack, u=A @ inside + slack, lb=0, ub=4)
    middle = get_backend("clarabel").solve(program, SolverSettings())
    moved = vertex_solution(program, middle, SolverSettings())
    assert_optimal(program, moved)
    assert moved.x is not None
    assert abs(moved.objective - middle.objective) <= 1e-6 * (1 + abs(middle.objective))
    assert_vertex(program, moved.x)


def test_free_variables_without_a_vertex_are_left_at_zero() -> None:
    program = Program(q=[1, 0], A=[[1, 0]], l=[2])
    point = Solution(Status.OPTIMAL, np.array([2.0, 7.0]), np.array([-1.0]), np.zeros(2), objective=2.0)
    moved = vertex_solution(program, point, SolverSettings())
    assert moved.x is not None
    assert moved.x.tolist() == [2.0, 0.0]


def test_quadratic_programs_are_refused() -> None:
    program = Program(P=[[1.0]])
    point = Solution(Status.OPTIMAL, np.zeros(1), np.zeros(0), np.zeros(1), objective=0.0)
    with pytest.raises(OptionError, match="a vertex is asked for, but the program is quadratic"):
        vertex_solution(program, point, SolverSettings())


def test_answer_without_a_point_is_returned_as_it_is() -> None:
    nothing = Solution(Status.INFEASIBLE, objective=float("inf"))
    assert vertex_solution(Program(q=[1.0], lb=0), nothing, SolverSettings()) is nothing
