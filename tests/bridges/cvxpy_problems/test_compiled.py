"""A problem that is compiled again with other numbers becomes the same program by gathers as by conversion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("cvxpy")

import cvxpy as cp

from relift.bridges.cvxpy.compiled import Compiled, Layout
from relift.bridges.cvxpy.solver import Lifted
from relift.errors import NotANumberError


def _portfolio() -> tuple[cp.Problem, list[cp.Parameter]]:
    x, f, returns = cp.Variable(6), cp.Variable(2), cp.Parameter(6)
    cost = cp.sum_squares(f) + cp.sum(cp.multiply(np.arange(1.0, 7.0), cp.square(x))) - returns @ x
    return cp.Problem(cp.Minimize(cost), [f == np.ones((2, 6)) @ x, cp.sum(x) == 1, x >= 0]), [returns]


def _matrix_in_cones() -> tuple[cp.Problem, list[cp.Parameter]]:
    x, A, b = cp.Variable(3), cp.Parameter((4, 3)), cp.Parameter(4)
    rows = [cp.norm(A @ x - b) <= 5, cp.sum(cp.exp(x)) <= 9, x >= -1]
    return cp.Problem(cp.Minimize(cp.sum(x) + cp.norm(x, 1)), rows), [A, b]


def _semidefinite() -> tuple[cp.Problem, list[cp.Parameter]]:
    X, C = cp.Variable((3, 3), symmetric=True), cp.Parameter((3, 3), symmetric=True)
    return cp.Problem(cp.Minimize(cp.trace(C @ X)), [X >> 0, cp.trace(X) == 1]), [C]


def _draw(parameters: list[cp.Parameter], random: np.random.Generator) -> None:
    for parameter in parameters:
        numbers = random.integers(-3, 4, parameter.shape).astype(float)
        parameter.value = numbers + numbers.T if parameter.attributes["symmetric"] else numbers


def _data(problem: cp.Problem) -> Any:
    data: Any = problem.get_problem_data(Lifted())[0]
    return data


@pytest.mark.parametrize("make", [_portfolio, _matrix_in_cones, _semidefinite])
def test_gathers_and_conversion_make_the_same_program(
    make: Callable[[], tuple[cp.Problem, list[cp.Parameter]]],
) -> None:
    random = np.random.default_rng(0)
    problem, parameters = make()
    layout: Layout | None = None
    n_fitting = 0
    for _ in range(8):
        _draw(parameters, random)
        data = _data(problem)
        if layout is None:
            layout = Compiled.from_data(data, again=True).layout
        fits = layout is not None and layout.fits(data)
        n_fitting += fits
        by_gathers, converted = Compiled.from_data(data, layout), Compiled.from_data(data)
        assert by_gathers.program == converted.program
        assert (by_gathers.layout is not None) == fits
        layout = by_gathers.layout or layout  # with the matrices of this time, for the next
    assert n_fitting >= 1


def test_other_structures_and_numbers_that_are_not_finite_take_the_slow_way() -> None:
    problem, parameters = _portfolio()
    _draw(parameters, np.random.default_rng(1))
    data = _data(problem)
    layout = Compiled.from_data(data, again=True).layout
    assert layout is not None
    assert layout.fits(data)
    thinner = data["A"].tocoo()
    keep = np.arange(thinner.nnz) != 0
    entries = (thinner.data[keep], (thinner.row[keep], thinner.col[keep]))
    changed: Any = {**data, "A": sparse.csc_matrix(entries, shape=thinner.shape)}
    assert not layout.fits(changed)
    assert Compiled.from_data(changed, layout).program == Compiled.from_data(changed).program
    wrong: Any = {**data, "c": np.full(data["c"].shape, np.nan)}
    with pytest.raises(NotANumberError, match=r"q\[0\] is nan"):
        Compiled.from_data(wrong, layout)


def test_entries_that_are_added_up_have_no_layout() -> None:
    problem, parameters = _portfolio()
    _draw(parameters, np.random.default_rng(2))
    data = _data(problem)
    A = data["A"]
    offsets = A.indptr + 1
    offsets[0] = 0
    values, indices = np.r_[A.data[:1], A.data], np.r_[A.indices[:1], A.indices]
    double = sparse.csc_matrix((values, indices, offsets), shape=A.shape)
    data["A"] = double
    assert Layout.of(data) is None


def test_matrices_that_have_not_changed_are_handed_on_as_they_are() -> None:
    weights, cost = cp.Parameter(3, nonneg=True), cp.Parameter(3)
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cost @ x + cp.sum_squares(x)), [weights @ x >= 1, cp.norm(x) <= 3])

    def data_of(of_weights: list[float], of_cost: list[float]) -> Any:
        weights.value, cost.value = np.array(of_weights), np.array(of_cost)
        return _data(problem)

    first = Compiled.from_data(data_of([1, 2, 3], [1, 1, 1]), again=True)
    second = Compiled.from_data(data_of([1, 2, 3], [2, 1, 1]), first.layout)
    third = Compiled.from_data(data_of([1, 2, 3], [3, 1, 1]), second.layout)
    fourth = Compiled.from_data(data_of([1, 2, 4], [3, 1, 1]), third.layout)
    assert third.program.A is second.program.A
    assert third.program.conic.A is second.program.conic.A
    assert fourth.program.A is not third.program.A
    for made, data in ((third, data_of([1, 2, 3], [3, 1, 1])), (fourth, data_of([1, 2, 4], [3, 1, 1]))):
        assert made.program == Compiled.from_data(data).program
