"""The quotient, its isometric form, and the way back: duals are shared out, not copied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.lifting.certificate import certify
from relift.program.program import Program
from relift.program.solution import Solution
from relift.settings import SolverSettings
from relift.solvers.registry import get_backend
from relift.testing.examples import ring_of_springs, transport
from relift.testing.random_programs import symmetric_program

SEEDS = st.integers(0, 10**6)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_the_quotient_is_built_by_the_formulas(seed: int) -> None:
    program = symmetric_program(seed, quadratic=True, copies=3).program
    lifting = relift.lift(program, reduce=False, scale_rows=False, sizes=False, signs=False)
    S, R = lifting.variables.indicator.toarray(), lifting.rows.indicator.toarray()
    small = lifting.small
    P = np.zeros((S.shape[1],) * 2) if small.P is None else small.P.toarray()
    np.testing.assert_allclose(P, S.T @ program.P @ S, atol=1e-10)
    np.testing.assert_allclose(small.q, S.T @ program.q)
    np.testing.assert_allclose(small.A.toarray(), np.linalg.inv(R.T @ R) @ R.T @ program.A @ S, atol=1e-10)
    for name, indicator in (("l", R), ("u", R), ("lb", S), ("ub", S)):
        assert np.array_equal(indicator @ np.nan_to_num(getattr(small, name)), np.nan_to_num(getattr(program, name)))


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_the_isometric_form_is_built_by_the_formulas(seed: int) -> None:
    program = symmetric_program(seed, quadratic=True, copies=4).program
    lifting = relift.lift(program, reduce=False, scale_rows=False, sizes=False, signs=False)
    S, R = lifting.variables.indicator.toarray(), lifting.rows.indicator.toarray()
    roots, row_roots = np.sqrt(lifting.variables.class_sizes), np.sqrt(lifting.rows.class_sizes)
    form = lifting.isometric().program
    P = np.zeros((S.shape[1],) * 2) if form.P is None else form.P.toarray()
    np.testing.assert_allclose(P, (S / roots).T @ program.P @ (S / roots), atol=1e-10)
    np.testing.assert_allclose(form.q, (S / roots).T @ program.q, atol=1e-10)
    np.testing.assert_allclose(form.A.toarray(), (R / row_roots).T @ program.A @ (S / roots), atol=1e-10)
    assert np.allclose(form.lb, roots * lifting.small.lb)
    assert np.allclose(form.u, row_roots * lifting.small.u)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), scaled=st.booleans())
def test_the_isometric_form_has_the_same_objective_and_the_same_optimum(
    seed: int, quadratic: bool, scaled: bool
) -> None:
    program = symmetric_program(seed, quadratic=quadratic, copies=3, scaled_rows=scaled).program
    lifting = relift.lift(program)
    form = lifting.isometric()
    z = np.random.default_rng(seed).standard_normal(lifting.small.n_variables)
    assert form.program.objective(z * form.variable_length) == pytest.approx(lifting.small.objective(z), abs=1e-9)
    backend = get_backend("clarabel")
    answer = backend.solve(form.program, SolverSettings(tolerance=1e-8))
    expanded = lifting.expand(form.expand(answer))
    assert certify(program, expanded, 1e-5).is_optimal
    ground = relift.solve(program, lift="none")
    assert expanded.objective == pytest.approx(ground.objective, rel=1e-5, abs=1e-5)
    back = form.restrict(form.expand(answer))
    assert answer.y is not None
    assert answer.w is not None
    np.testing.assert_allclose(back.y, answer.y)
    np.testing.assert_allclose(back.w, answer.w)


@pytest.mark.parametrize("program", [ring_of_springs(12), transport(5)], ids=["springs", "transport"])
def test_shared_dual_values_are_stationary_and_copied_ones_are_not(program: Program) -> None:
    lifting = relift.lift(program)
    backend = get_backend("highs" if lifting.small.is_linear else "clarabel")
    small = backend.solve(lifting.small, SolverSettings(tolerance=1e-9))
    shared = lifting.expand(small)
    assert certify(program, shared).is_optimal
    assert shared.y is not None
    assert shared.w is not None
    assert small.y is not None
    assert small.w is not None
    copied = replace(shared, y=small.y[lifting.rows.labels], w=small.w[lifting.variables.labels])
    assert stationarity(program, shared) < 1e-6
    assert stationarity(program, copied) > 0.5
    assert not certify(program, copied).is_optimal


def stationarity(program: Program, answer: Solution) -> float:
    gradient = program.q if program.P is None else program.P @ answer.x + program.q
    return float(np.abs(gradient + program.A.T @ answer.y + answer.w).max())


def osqp_iterate(program: Program, steps: int, tolerance: float = 0.0) -> tuple[Any, int]:
    """OSQP with everything adaptive turned off, stopped after some steps: its point, and the steps made."""
    osqp = pytest.importorskip("osqp", reason="the iterates of OSQP are compared")
    n = program.n_variables
    P = sparse.csc_matrix((n, n)) if program.P is None else sparse.csc_matrix(sparse.triu(program.P))
    G = sparse.csc_matrix(sparse.vstack([program.A, sparse.eye_array(n)]))
    solver = osqp.OSQP()
    limits = np.r_[program.l, program.lb], np.r_[program.u, program.ub]
    solver.setup(
        P, program.q.copy(), G, *limits,
        verbose=False, rho=0.1, adaptive_rho=False, scaling=0, polishing=False, max_iter=steps, check_termination=1,
        eps_abs=max(tolerance, 1e-15), eps_rel=max(tolerance, 1e-15), eps_prim_inf=1e-15, eps_dual_inf=1e-15,
    )  # fmt: skip
    answer = solver.solve(raise_error=False)
    return answer.x, int(answer.info.iter)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
def test_each_iterate_of_osqp_on_the_isometric_form_is_the_ground_programs_own(seed: int) -> None:
    program = symmetric_program(seed, quadratic=True, copies=6).program
    lifting = relift.lift(program, reduce=False, scale_rows=False, sizes=False, signs=False)
    form = lifting.isometric()
    for steps in (1, 5, 40):
        ground, _ = osqp_iterate(program, steps)
        lifted, _ = osqp_iterate(form.program, steps)
        expanded = (lifted / form.variable_length)[lifting.variables.labels]
        np.testing.assert_allclose(expanded, ground, atol=1e-6)


def test_osqp_needs_about_as_many_steps_on_the_isometric_form_as_on_the_ground_program() -> None:
    counts = []
    for seed in range(8):
        program = symmetric_program(seed, quadratic=True, copies=6).program
        lifting = relift.lift(program, reduce=False, scale_rows=False, sizes=False, signs=False)
        counts.append([osqp_iterate(p, 20_000, 1e-6)[1] for p in (program, lifting.isometric().program, lifting.small)])
    ground, isometric, plain = np.array(counts, float).T
    # Norms in the stopping test are those of the small vectors, so the count may differ a little, not by factors.
    assert np.all(isometric <= 1.5 * ground + 10)
    assert np.all(ground <= 1.5 * isometric + 10)
    assert plain.sum() > isometric.sum()
