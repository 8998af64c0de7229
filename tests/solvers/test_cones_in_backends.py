"""Cones in the backends, and power cones of many arguments taken apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import relift
from relift.errors import OptionError
from relift.lifting.certificate import certify
from relift.program import ConicRows, Exponential, Power, PowerND, Program, SecondOrder, Semidefinite, Status
from relift.program.cone_distance import pushed_into
from relift.settings import SolverSettings
from relift.solvers.power_trees import PowerTrees
from relift.solvers.registry import backend_names, get_backend
from relift.solvers.smooth_cones import function_values, gradient, hessian
from relift.testing.random_conic_programs import KINDS, symmetric_conic_program

CONIC = [name for name in backend_names(installed=True) if get_backend(name).solves_cones]


@pytest.mark.parametrize("backend", CONIC)
@pytest.mark.parametrize("kind", KINDS)
def test_backends_agree_on_every_kind_of_cone(backend: str, kind: str) -> None:
    for seed in range(3):
        program = symmetric_conic_program(seed, copies=2, n_cones=2, kinds=(kind,)).program
        found = get_backend(backend).solve(program, SolverSettings())
        assert certify(program, found, 1e-5).is_optimal
        assert found.objective == pytest.approx(relift.solve(program).objective, rel=1e-4, abs=1e-4)


def test_the_other_backends_refuse_cones_by_name_and_are_not_asked_by_auto() -> None:
    assert {"clarabel", "scs"} >= set(CONIC)
    program = Program(q=[1.0], conic=ConicRows([[-1.0]], [0.0], [SecondOrder(1)]))
    for name in set(backend_names(installed=True)) - set(CONIC):
        with pytest.raises(OptionError, match=f"{name} does not take cones"):
            relift.solve(program, backend=name)
    assert relift.solve(program).backend == "clarabel"


def test_semidefinite_entries_stand_where_they_should_in_every_backend() -> None:
    # The nearest correlation-like matrix has a known pattern: minimise <D, X>, diag X = 1, D of rank one.
    n, root = 3, np.sqrt(2.0)
    d = np.array([1.0, 2.0, -3.0])
    D = np.outer(d, d)
    i, j = np.tril_indices(n)
    weights = np.where(i == j, D[i, j], root * D[i, j])
    rows = ConicRows(-np.eye(6), np.zeros(6), [Semidefinite(n)])
    diagonal = np.eye(6)[i == j]
    program = Program(q=weights, A=diagonal, l=1.0, u=1.0, conic=rows)
    for backend in CONIC:
        result = relift.solve(program, backend=backend)
        # |d0| + |d1| >= |d2|, so that the weighted unit vectors can close a triangle: the optimum is 0.
        assert result.objective == pytest.approx(0.0, abs=1e-4)
        assert result.x[i == j] == pytest.approx(np.ones(3), abs=1e-6)


@settings(max_examples=40, deadline=None)
@example(seed=0, size=2)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 9))
def test_trees_of_power_cones_have_the_optimum_and_dual_values_of_the_large_one(seed: int, size: int) -> None:
    # maximise z with prod x_i^a_i >= z, c'x <= 1: x_i = a_i / c_i.
    random = np.random.default_rng(seed)
    alphas = random.dirichlet(np.ones(size)) * 0.9 + 0.1 / size
    alphas /= alphas.sum()
    prices = random.uniform(0.5, 3.0, size)
    rows = ConicRows(-np.eye(size + 1), np.zeros(size + 1), [PowerND(tuple(alphas))])
    program = Program(
        q=np.append(np.zeros(size), -1.0), A=np.append(prices, 0.0)[None], u=[1.0], lb=-10, ub=10, conic=rows
    )
    trees = PowerTrees.of(program)
    assert all(isinstance(cone, Power) for cone in trees.program.conic.cones)
    assert len(trees.program.conic) == size - 1
    found = get_backend("clarabel").solve(program, SolverSettings())
    best = float(np.prod((alphas / prices) ** alphas))
    assert found.objective == pytest.approx(-best, rel=1e-6)
    assert found.x is not None
    assert found.v is not None
    assert found.v.size == size + 1
    # Stationarity: the dual value of the row of x_i is its price times that of the budget, which is the optimum.
    np.testing.assert_allclose(found.v[:-1], prices * best, rtol=1e-3)
    assert certify(program, found).is_optimal


def test_a_program_without_large_power_cones_is_not_touched() -> None:
    program = Program(q=[1.0], conic=ConicRows([[-1.0], [0], [0]], [0, 1, 1], [Power(0.5)]))
    trees = PowerTrees.of(program)
    assert trees.is_trivial
    assert trees.program is program


def test_scs_starts_warm_with_cones() -> None:
    pytest.importorskip("scs")
    program = symmetric_conic_program(5, copies=3, kinds=("second order", "exponential")).program
    first = relift.solve(program, backend="scs")
    again = relift.solve(program, backend="scs", warm_start=first)
    assert first.status == again.status == Status.OPTIMAL
    assert again.iterations is not None
    assert first.iterations is not None
    assert again.iterations <= first.iterations


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_smooth_functions_of_cones_have_the_derivatives_they_are_said_to_have(seed: int) -> None:
    random = np.random.default_rng(seed)
    cones = [SecondOrder(3), Exponential(), Power(0.3), PowerND((0.2, 0.5, 0.3)), SecondOrder(2)]
    size = sum(cone.n_rows for cone in cones)
    rows = ConicRows(np.zeros((size, 1)), np.zeros(size), cones)
    s, prices = random.uniform(0.5, 2.0, size), random.uniform(0.5, 2.0, len(cones))
    values, slopes = function_values(rows, s), gradient(rows, s)
    # Homogeneous of degree one: the slope along s is the value.
    np.testing.assert_allclose(np.bincount(rows.cone_of_row, slopes * s), values, atol=1e-12)
    numeric = np.zeros((size, size))
    step = 1e-6
    for i in range(size):
        moved = np.eye(size)[i] * step
        change = (function_values(rows, s + moved) - function_values(rows, s - moved)) / (2 * step)
        assert change[rows.cone_of_row[i]] == pytest.approx(slopes[i], rel=1e-5, abs=1e-7)
        numeric[i] = (gradient(rows, s + moved) - gradient(rows, s - moved)) / (2 * step)
    weighted = -numeric * prices[rows.cone_of_row]
    np.testing.assert_allclose(hessian(rows, s, prices).toarray(), weighted, rtol=1e-4, atol=1e-5)
    for cone, value in zip(range(len(cones)), values, strict=True):
        is_member = pushed_into(rows, s, np.ones(size))[0][cone] == 0
        assert is_member == (value >= 0)


@pytest.mark.parametrize("kind", ["second order", "exponential", "power"])
def test_the_polish_reaches_the_last_digits_with_cones_and_quadratic_constraints(kind: str) -> None:
    for seed in range(4):
        made = symmetric_conic_program(seed, copies=1, n_cones=2, kinds=(kind,))
        n = made.program.n_variables
        ball = (2 * np.eye(n), None, float(made.point @ made.point) + 0.5)
        program = made.program.replace(quadratic=[ball])
        found = get_backend("clarabel").solve(program, SolverSettings())
        assert certify(program, found).worst_residual < 1e-6
