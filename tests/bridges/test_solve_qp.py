"""relift.solve_qp answers as qpsolvers.solve_qp does, with or without qpsolvers."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift import solve_qp
from relift.bridges.solve_qp import program_from_qpsolvers, solve_problem
from relift.errors import AsymmetricError, MissingPackageError, NonConvexError, ShapeError


def random_qp(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(1, 6)), int(rng.integers(0, 4)), int(rng.integers(0, 2))
    B = rng.integers(-2, 3, (n, n)).astype(float)
    arguments: dict[str, Any] = {"P": B @ B.T + np.eye(n), "q": rng.integers(-3, 4, n).astype(float)}
    if m:
        arguments |= {"G": rng.integers(-2, 3, (m, n)).astype(float), "h": rng.integers(0, 4, m).astype(float)}
    if k:
        arguments |= {"A": np.ones((1, n)), "b": np.array([1.0])}
    if rng.random() < 0.5:
        arguments |= {"lb": np.full(n, -1.0), "ub": np.full(n, 2.0)}
    return arguments


@pytest.mark.filterwarnings("ignore::UserWarning:qpsolvers")
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**9), is_sparse=st.booleans())
def test_the_optimum_agrees_with_qpsolvers(seed: int, is_sparse: bool) -> None:
    qpsolvers = pytest.importorskip("qpsolvers")
    arguments = random_qp(seed)
    if is_sparse:
        arguments |= {key: sparse.csc_matrix(arguments[key]) for key in ("P", "G", "A") if key in arguments}
    theirs = (
        qpsolvers.solve_qp(**arguments, solver="clarabel")
        if is_sparse
        else qpsolvers.solve_qp(**arguments, solver="piqp")
    )
    ours = solve_qp(**arguments)
    assert (ours is None) == (theirs is None)
    if ours is not None:
        assert np.allclose(ours, theirs, atol=1e-4)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_solve_problem_gives_dual_values_that_qpsolvers_accepts(seed: int) -> None:
    qpsolvers = pytest.importorskip("qpsolvers")
    problem = qpsolvers.Problem(**random_qp(seed))
    solution = solve_problem(problem)
    if solution.found:
        assert solution.is_optimal(1e-4)
        assert solution.obj == pytest.approx(solution.extras["relift"].objective)
    else:
        assert solution.x is None


def test_the_signature_is_that_of_qpsolvers() -> None:
    qpsolvers = pytest.importorskip("qpsolvers")
    theirs, ours = (inspect.signature(f).parameters for f in (qpsolvers.solve_qp, solve_qp))
    assert [(p.name, p.default, p.kind) for p in ours.values()] == [
        (p.name, p.default, p.kind) for p in theirs.values()
    ]


def test_infeasible_programs_give_none() -> None:
    assert solve_qp(np.eye(1), np.zeros(1), G=np.array([[1.0], [-1.0]]), h=np.array([0.0, -1.0])) is None


@pytest.mark.parametrize("solver", [None, "auto", "clarabel", "highs", "osqp", "qpsolvers:piqp", "qpsolvers:highs"])
def test_solvers_are_found_by_their_name_here_and_there(solver: str | None) -> None:
    if solver == "osqp" or (solver or "").startswith("qpsolvers"):
        pytest.importorskip("qpsolvers")
    x = solve_qp(np.eye(2), np.array([-1.0, -1.0]), solver=solver, tolerance=1e-5, lb=np.zeros(2))
    assert np.allclose(x, 1, atol=1e-3)


def test_keywords_reach_relift_and_the_solver() -> None:
    x = solve_qp(np.eye(2), -np.ones(2), solver="clarabel", max_iter=100, lift="none", initvals=np.zeros(2))
    assert np.allclose(x, 1)
    assert solve_qp(np.eye(2), -np.ones(2), lb=np.zeros(2), solver="clarabel", iteration_limit=1) is None


def test_matrices_that_make_no_convex_program_are_refused() -> None:
    with pytest.raises(AsymmetricError):
        solve_qp(np.array([[1.0, 1.0], [0.0, 1.0]]), np.zeros(2))
    with pytest.raises(NonConvexError):
        solve_qp(-np.eye(2), np.zeros(2))
    with pytest.raises(ShapeError, match="G and h must be given together"):
        solve_qp(np.eye(2), np.zeros(2), G=np.eye(2))
    with pytest.raises(ShapeError, match="h has 1 entries, but 2 are needed"):
        solve_qp(np.eye(2), np.zeros(2), G=np.eye(2), h=np.zeros(1))


def test_rows_of_the_program_are_those_of_g_then_those_of_a() -> None:
    class Problem:
        P, q = np.eye(2), np.zeros(2)
        G, h = np.array([1.0, 0.0]), np.array([1.0])
        A, b = np.array([[1.0, 1.0]]), np.array([2.0])
        lb, ub = None, np.array([5.0, np.inf])

    program = program_from_qpsolvers(Problem())  # type: ignore[arg-type]
    assert program.A.toarray().tolist() == [[1, 0], [1, 1]]
    assert program.l.tolist() == [-np.inf, 2]
    assert program.u.tolist() == [1, 2]


def test_qpsolvers_is_only_needed_for_its_own_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qpsolvers", None)
    assert np.allclose(solve_qp(np.eye(2), np.array([-1.0, -1.0])), 1)
    with pytest.raises(MissingPackageError, match="solve_problem needs qpsolvers"):
        solve_problem(None)
