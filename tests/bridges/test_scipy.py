"""relift.linprog answers as scipy.optimize.linprog does."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift import linprog
from relift.errors import OptionError, ProgramError, ShapeError


def random_arguments(seed: int) -> dict[str, Any]:
    """Small linear programs of every kind: feasible or not, bounded or not, with repeated columns and rows."""
    rng = np.random.default_rng(seed)
    n, m_ub, m_eq = int(rng.integers(1, 6)), int(rng.integers(0, 5)), int(rng.integers(0, 3))

    def whole(*shape: int) -> np.ndarray:
        return rng.integers(-2, 3, shape).astype(float)

    arguments: dict[str, Any] = {"c": whole(n)}
    if m_ub:
        arguments |= {"A_ub": whole(m_ub, n), "b_ub": whole(m_ub) + 1}
    if m_eq:
        arguments |= {"A_eq": whole(m_eq, n), "b_eq": whole(m_eq)}
    kind = rng.integers(0, 4)
    if kind == 1:
        arguments["bounds"] = (-1, 3)
    elif kind == 2:
        low = whole(n)
        arguments["bounds"] = [(a if rng.random() < 0.7 else None, a + 2 if rng.random() < 0.7 else None) for a in low]
    elif kind == 3:
        arguments["bounds"] = (None, None)
    return arguments


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**9))
@example(seed=10466)
def test_status_and_optimum_agree_with_scipy(seed: int) -> None:
    arguments = random_arguments(seed)
    theirs, ours = scipy.optimize.linprog(**arguments), linprog(**arguments)
    if theirs.status == 4:
        # SciPy's HiGHS sometimes only says "unbounded or infeasible".
        assert ours.status in {2, 3}
        return
    if (theirs.status, ours.status) == (2, 3):
        # SciPy 1.17 calls some unbounded programs infeasible; without costs it finds a feasible point itself.
        assert scipy.optimize.linprog(**arguments | {"c": np.zeros_like(arguments["c"])}).success
        assert ours.relift.certificate.is_proved
        return
    assert ours.status == theirs.status
    assert ours.success == theirs.success
    if theirs.success:
        assert ours.fun == pytest.approx(theirs.fun, abs=1e-6, rel=1e-6)
    else:
        assert ours.x is None
        assert ours.fun is None


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_marginals_prove_the_optimum(seed: int) -> None:
    arguments = random_arguments(seed)
    result = linprog(**arguments)
    if not result.success:
        return
    program = result.relift.program
    dual = 0.0
    n = program.n_variables
    gradient = np.zeros(n)
    for matrix, right, side in (("A_ub", "b_ub", result.ineqlin), ("A_eq", "b_eq", result.eqlin)):
        if matrix in arguments:
            dual += float(np.dot(arguments[right], side.marginals))
            gradient += arguments[matrix].T @ side.marginals
    for bound, side in ((program.lb, result.lower), (program.ub, result.upper)):
        finite = np.isfinite(bound)
        assert np.all(side.marginals[~finite] == 0)
        dual += float(bound[finite] @ side.marginals[finite])
        gradient += side.marginals
    assert np.all(result.ineqlin.marginals <= 1e-9)
    assert np.all(result.lower.marginals >= 0)
    assert np.all(result.upper.marginals <= 0)
    assert np.allclose(gradient, arguments["c"], atol=1e-6)
    assert dual == pytest.approx(result.fun, abs=1e-5)
    assert np.all(result.slack >= -1e-6)
    assert np.allclose(result.con, 0, atol=1e-6)


def test_marginals_agree_with_scipy_where_they_are_unique() -> None:
    arguments: dict[str, Any] = {
        "c": [-3.0, -5.0, 0.5], "A_ub": [[1, 0, 0], [0, 2, 0], [3, 2, 0]], "b_ub": [4, 12, 18],
        "A_eq": [[0, 1, -1]], "b_eq": [2], "bounds": [(0, None), (0, 5), (1, None)],
    }  # fmt: skip
    theirs, ours = scipy.optimize.linprog(**arguments), linprog(**arguments)
    for side in ("ineqlin", "eqlin", "lower", "upper"):
        for what in ("residual", "marginals"):
            assert np.allclose(ours[side][what], theirs[side][what], atol=1e-7), (side, what)
    assert np.allclose(ours.x, theirs.x)
    assert np.allclose(ours.slack, theirs.slack)


def test_the_signature_begins_as_scipys() -> None:
    theirs = list(inspect.signature(scipy.optimize.linprog).parameters.items())
    ours = list(inspect.signature(linprog).parameters.items())[: len(theirs)]
    assert [(name, p.default) for name, p in ours] == [(name, p.default) for name, p in theirs]


def test_symmetric_columns_are_merged_and_sparse_input_is_taken() -> None:
    n = 50
    result = linprog(np.ones(n), A_ub=sparse.csr_matrix(-np.ones((1, n))), b_ub=[-5])
    assert result.relift.lifting.small.n_variables == 1
    assert result.fun == pytest.approx(5)
    assert isinstance(result, scipy.optimize.OptimizeResult)


def test_crossing_bounds_are_infeasible_as_in_scipy() -> None:
    result = linprog([1, 1], bounds=[(1, 0), (0, 1)])
    assert (result.status, result.success, result.x) == (2, False, None)
    assert "bounds[0] is (1, 0), which leaves no value" in result.message


@pytest.mark.parametrize("bounds", [None, (), (0, None), [(0, None)], [(0, None)] * 2, np.array([[0, np.inf]] * 2)])
def test_bounds_are_understood_in_every_form_of_scipy(bounds: object) -> None:
    arguments: dict[str, Any] = {"c": [1, 2], "A_ub": [[-1, -1]], "b_ub": [-1], "bounds": bounds}
    assert linprog(**arguments).fun == pytest.approx(scipy.optimize.linprog(**arguments).fun)


@pytest.mark.parametrize("method", ["highs", "highs-ds", "highs-ipm"])
def test_methods_and_options_are_passed_on(method: str) -> None:
    result = linprog(
        [-1, -2],
        A_ub=[[1, 1]],
        b_ub=[4],
        method=method,
        options={"disp": False, "maxiter": 100, "time_limit": 1000, "presolve": None},
    )
    assert result.status == 0
    assert result.fun == pytest.approx(-8)


def test_what_is_not_supported_is_refused() -> None:
    with pytest.raises(OptionError, match="integrality is not zero everywhere"):
        linprog([1], integrality=[1])
    with pytest.raises(OptionError, match="callback is not supported"):
        linprog([1], callback=print)
    with pytest.raises(OptionError, match="method='simplex' is not valid"):
        linprog([1], method="simplex")
    with pytest.warns(scipy.optimize.OptimizeWarning, match="x0 is not used"):
        assert linprog([1], x0=[0], integrality=0).status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"c": [1, 2], "A_ub": [[1]], "b_ub": [1]}, "A_ub must have 2 columns"),
        ({"c": [1], "A_ub": [[1]], "b_ub": [1, 2]}, "b_ub has 2 entries, but A_ub has 1 rows."),
        ({"c": [1], "b_eq": [1]}, "b_eq is given, but A_eq is not."),
        ({"c": [1], "bounds": [(0, 1), (0, 1), (0, 1)]}, "Give one pair (min, max), or 1 pairs"),
        ({"c": [np.nan]}, "c[0] is nan"),
        ({"c": [1, -np.inf]}, "c[1] is -inf"),
        ({"c": [1, 2], "A_ub": [[1, np.nan]], "b_ub": [1]}, "A_ub[0, 1] is nan"),
        ({"c": [1], "A_ub": [[1]], "b_ub": [-np.inf]}, "b_ub[0] is -inf"),
        ({"c": [1], "A_ub": [[1]], "b_ub": [np.nan]}, "b_ub[0] is nan"),
        ({"c": [1], "A_eq": [[1]], "b_eq": [np.inf]}, "b_eq[0] is inf"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ProgramError) as error:
        linprog(**arguments)
    assert message in str(error.value)
    assert isinstance(error.value, ValueError)
    assert issubclass(ShapeError, ProgramError)


@pytest.mark.parametrize("method", ["highs", "highs-ds", "highs-ipm"])
@pytest.mark.parametrize("b_ub", [[-3.0], [3.0]], ids=["optimal", "infeasible"])
def test_the_result_has_every_field_of_scipys(method: str, b_ub: list[float]) -> None:
    rows = [[-1.0, -1.0]] if b_ub == [-3.0] else [[1.0, 1.0]]
    bounds = (0, None) if b_ub == [-3.0] else (2, None)
    theirs = scipy.optimize.linprog([1, 2], rows, b_ub, bounds=bounds, method=method)
    ours = linprog([1, 2], rows, b_ub, bounds=bounds, method=method)
    assert set(ours) - {"relift"} == set(theirs)
    assert {name: type(ours[name]) for name in theirs} == {name: type(theirs[name]) for name in theirs}
