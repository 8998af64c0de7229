"""Deep copies of problems that relift has solved are problems of their own."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from cvxpy import Problem

cp = pytest.importorskip("cvxpy")

from relift.bridges.cvxpy.copies import is_of_other_variables  # noqa: E402
from relift.cvxpy import Lifted  # noqa: E402


def with_parameters() -> Problem:
    x, cost = cp.Variable(4, name="x"), cp.Parameter(4, value=np.array([1.0, 1.0, 2.0, 2.0]))
    return cp.Problem(cp.Minimize(cost @ x + cp.sum_squares(x)), [cp.sum(x) == 1, x >= 0])


def without_parameters() -> Problem:
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.norm(x) <= 9])


def with_parameters_that_are_multiplied() -> Problem:
    x, one, other = cp.Variable(3), cp.Parameter(value=2.0), cp.Parameter(value=3.0)
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [one * other * cp.sum(x) >= 1])  # not DPP: compiled each time


def with_attributes() -> Problem:
    X, weight = cp.Variable((3, 3), PSD=True), cp.Parameter((3, 3), symmetric=True, value=np.eye(3))
    return cp.Problem(cp.Minimize(cp.trace(weight @ X)), [X[0, 1] == 1, cp.trace(X) >= 3])


def infeasible() -> Problem:
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x <= 0])


PROBLEMS = [
    with_parameters, without_parameters, with_parameters_that_are_multiplied, with_attributes, infeasible,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:You are solving a parameterized problem that is not DPP")
@pytest.mark.parametrize("make", PROBLEMS)
def test_deep_copy_of_a_solved_problem_has_its_value_and_dual_values(make: Callable[[], Problem]) -> None:
    problem = make()
    value = problem.solve(solver=Lifted())
    other = copy.deepcopy(problem)
    of_the_copy = copy.deepcopy(other)
    for _ in range(2):
        assert other.solve(solver=Lifted()) == pytest.approx(value, rel=1e-6)
    assert (other.status, of_the_copy.solve(solver=Lifted())) == (problem.status, pytest.approx(value, rel=1e-6))
    for here, there in zip(other.constraints, problem.constraints, strict=True):
        np.testing.assert_allclose(here.dual_value, there.dual_value, atol=1e-6)
    for mine, yours in zip(other.variables(), problem.variables(), strict=True):
        assert mine is not yours
        assert (mine.value is None) == (yours.value is None)


@pytest.mark.filterwarnings("ignore:You are solving a parameterized problem that is not DPP")
@pytest.mark.parametrize("make", PROBLEMS)
@pytest.mark.parametrize("solver", [Lifted(lift="none"), "RELIFT", "CLARABEL"])
def test_deep_copy_is_solved_with_other_options_and_by_other_solvers(
    make: Callable[[], Problem], solver: Lifted | str
) -> None:
    problem = make()
    value = problem.solve(solver=Lifted())
    assert copy.deepcopy(problem).solve(solver=solver) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("make_copy", [copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_copy_and_original_have_parameters_of_their_own(make_copy: Callable[[Problem], Problem]) -> None:
    problem = with_parameters()
    value = problem.solve(solver=Lifted())
    other = make_copy(problem)
    other.parameters()[0].value = np.array([1.0, 3.0, 1.0, 3.0])
    fresh = with_parameters()
    fresh.parameters()[0].value = other.parameters()[0].value
    expected = fresh.solve(solver="CLARABEL")
    assert other.solve(solver=Lifted()) == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(other.variables()[0].value, fresh.variables()[0].value, atol=1e-6)
    assert problem.solve(solver=Lifted()) == pytest.approx(value, rel=1e-6)
    assert other.solve(solver=Lifted()) == pytest.approx(expected, rel=1e-6)


def test_two_problems_that_share_a_variable_share_it_in_their_deep_copies() -> None:
    x = cp.Variable(3)
    pair = [cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == k]) for k in (1, 2)]
    values = [problem.solve(solver=Lifted()) for problem in pair]
    others = copy.deepcopy(pair)
    assert others[0].variables()[0] is others[1].variables()[0]
    assert [problem.solve(solver=Lifted()) for problem in others] == pytest.approx(values, rel=1e-6)


def test_what_was_compiled_for_a_problem_is_recognised_as_its_own_and_not_as_that_of_its_deep_copy() -> None:
    problem = with_parameters()
    problem.solve(solver=Lifted())
    other = copy.deepcopy(problem)
    assert [is_of_other_variables(each._cache.param_prog) for each in (problem, other)] == [False, True]
    other.solve(solver=Lifted())
    assert not is_of_other_variables(other._cache.param_prog)
