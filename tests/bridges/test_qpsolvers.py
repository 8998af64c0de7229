"""qpsolvers knows relift by name after ``import relift.qpsolvers``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.bridges.test_solve_qp import random_qp

from relift.errors import OptionError

qpsolvers = pytest.importorskip("qpsolvers")
bridge = pytest.importorskip("relift.qpsolvers")


@pytest.mark.filterwarnings("ignore::UserWarning:qpsolvers")
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9), is_sparse=st.booleans())
def test_found_and_dual_values_agree_with_a_solver_of_qpsolvers(seed: int, is_sparse: bool) -> None:
    arguments = random_qp(seed)
    if is_sparse:
        arguments |= {key: sparse.csc_matrix(arguments[key]) for key in ("P", "G", "A") if key in arguments}
    theirs = qpsolvers.solve_qp(**arguments, solver="clarabel" if is_sparse else "piqp")
    solution = qpsolvers.solve_problem(qpsolvers.Problem(**arguments), solver="relift")
    assert solution.found == (theirs is not None)
    if solution.found:
        assert np.allclose(solution.x, theirs, atol=1e-4)
        assert solution.is_optimal(1e-4)


def test_least_squares_of_qpsolvers_lead_here_too() -> None:
    R, s = np.eye(4)[:3], np.array([1.0, 1.0, 5.0])
    x = qpsolvers.solve_ls(R, s, lb=np.zeros(4), ub=np.full(4, 2.0), W=np.eye(3), solver="relift")
    assert np.allclose(x[:3], [1, 1, 2], atol=1e-6)


def test_registering_twice_lists_the_name_once_and_unregistering_takes_it_out() -> None:
    bridge.register()
    bridge.register()
    assert qpsolvers.available_solvers.count("relift") == 1
    bridge.unregister()
    try:
        assert "relift" not in qpsolvers.available_solvers
        with pytest.raises(qpsolvers.SolverNotFound):
            qpsolvers.solve_qp(np.eye(1), np.ones(1), solver="relift")
    finally:
        bridge.register()


def test_the_backend_may_be_a_solver_of_qpsolvers_but_not_relift_itself() -> None:
    problem = qpsolvers.Problem(np.eye(2), -np.ones(2), lb=np.zeros(2))
    solution = qpsolvers.solve_problem(problem, solver="relift", backend="qpsolvers:piqp", lift="counting")
    assert solution.extras["relift"].backend == "qpsolvers:piqp"
    for name in ("relift", "qpsolvers:relift"):
        with pytest.raises(OptionError, match="own backend"):
            qpsolvers.solve_problem(problem, solver="relift", backend=name)


def test_an_infeasible_problem_is_not_found_and_a_wrong_word_is_refused() -> None:
    assert qpsolvers.solve_qp(np.eye(1), np.ones(1), G=np.eye(1), h=np.zeros(1), lb=np.ones(1), solver="relift") is None
    with pytest.raises(OptionError):
        qpsolvers.solve_qp(np.eye(1), np.ones(1), lb=np.ones(1), solver="relift", no_such_option=1)
