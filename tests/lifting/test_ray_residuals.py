"""Compiled residuals of rays that prove infeasibility are the very floats of their twin in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.lifting import ray_residuals
from relift.lifting.ray_residuals import infeasibility_residual, measures_of_rows
from relift.program import passes
from relift.program.program import Program

needs_core = pytest.mark.skipif(passes.core is None, reason="there is no compiled core")


def drawn(seed: int) -> tuple[Program, np.ndarray]:
    """A program of which some rows are empty, some sides infinite, some bounds huge; and dual values with some dust."""
    random = np.random.default_rng(seed)
    m, n = int(random.integers(0, 14)), int(random.integers(1, 14))
    A = random.normal(size=(m, n)) * (random.uniform(size=(m, n)) < 0.6) * 10.0 ** random.integers(-4, 4, (m, 1))
    middle, width = random.normal(size=(2, max(m, n)))
    sides = [np.where(random.uniform(size=size) < 0.5, middle[:size], np.inf) for size in (m, m, n, n)]
    l, u, lb, ub = (part + sign * np.abs(width[: part.size]) for part, sign in zip(sides, (-1, 1, -1, 1), strict=True))
    l, lb = np.where(np.isfinite(l), l, -np.inf), np.where(np.isfinite(lb), lb, -np.inf)
    matrix = (sparse.csr_array if seed % 2 else sparse.csc_array)(A)
    y = random.normal(size=m) * random.choice([0.0, 1.0, 1e-12, 1e200], m, p=[0.2, 0.6, 0.15, 0.05])
    return Program(q=np.zeros(n), A=matrix, l=l, u=u, lb=lb, ub=ub), y


@needs_core
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=300, deadline=None)
def test_a_compiled_residual_of_a_ray_is_that_of_its_twin(seed: int) -> None:
    program, y = drawn(seed)
    with np.errstate(all="ignore"):
        found, measured = infeasibility_residual(program, y), measures_of_rows(program.A)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ray_residuals, "core_for", lambda *_: None)
            expected, measured_slowly = infeasibility_residual(program, y), measures_of_rows(program.A)
    np.testing.assert_array_equal(found, expected)
    for part, other in zip(measured, measured_slowly, strict=True):
        np.testing.assert_array_equal(part, other)


def test_rays_that_prove_something_are_among_those_that_are_compared() -> None:
    with np.errstate(all="ignore"):
        assert sum(np.isfinite(infeasibility_residual(*drawn(seed))) for seed in range(300)) > 20


def with_a_constraint(n: int, rank: int) -> Program:
    """Rows that no point of an ellipsoid meets, whose matrix has a rank."""
    random = np.random.default_rng(n)
    A, root, cost = random.uniform(0, 1, (n // 2, n)), random.normal(size=(n, rank)), random.uniform(1, 2, n)
    P = root @ root.T + (np.eye(n) if rank == n else 0.0)
    return Program(q=cost, A=A, l=np.full(n // 2, 99.0), lb=-1, ub=1, quadratic=[(P, cost, 1.0)])


@pytest.mark.parametrize(("n", "rank"), [(6, 6), (6, 3), (100, 100)])
def test_rows_that_miss_an_ellipsoid_are_proved_infeasible(n: int, rank: int) -> None:
    result = relift.solve(with_a_constraint(n, rank))
    assert result.status == "infeasible"
    assert result.certificate.ray_residual <= 1e-6
    assert len(result.attempts) == 1


@pytest.mark.parametrize("fits", [True, False])
def test_a_dense_factor_is_asked_up_to_its_limit_only(fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_residuals, "SMALL", 2 if fits else 1)
    M = sparse.csc_array([[4.0, 2.0], [2.0, 3.0]])
    point = ray_residuals._solved_by_factors(M, np.array([2.0, 1.0]))
    assert (point is None) != fits
    assert point is None or point == pytest.approx([0.5, 0.0])
    assert ray_residuals._solved_by_steps(M, np.array([2.0, 1.0])) == pytest.approx([0.5, 0.0])


def test_a_singular_matrix_is_left_to_steps() -> None:
    singular = sparse.csc_array([[1.0, 1.0], [1.0, 1.0]])
    assert ray_residuals._solved_by_factors(singular - 1e-20 * sparse.eye_array(2), np.ones(2)) is None
    assert ray_residuals._solved_by_steps(singular, np.ones(2)) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("found", [1e-10, 1e-12])
def test_another_point_is_looked_for_unless_the_first_one_is_a_proof(
    found: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, asked = with_a_constraint(6, 6), list[object]()

    def answer(*parts: object) -> float:
        asked.append(parts[5])
        return found

    monkeypatch.setattr(ray_residuals, "_residual_beside", answer)
    measures = ray_residuals._Measures.of(program)
    assert ray_residuals.residual_slowly(program, measures, np.ones(3), np.ones(1), None, np.zeros(0)) == found
    assert len(asked) == (1 if found <= 1e-11 else 2)


def test_what_rounding_leaves_of_a_singular_matrix_proves_nothing() -> None:
    """x = 0 is feasible, and a factor of P that ends by rounding would give a point far away, where p'Pp is noise."""
    for seed in range(400):
        root = np.random.default_rng(seed).normal(size=(1, 2))
        quadratic = [(root.T @ root, [0.0, 0.0], 1.0)]
        program = Program(q=[0.0, 0.0], A=[[1.0, 0.0]], l=[-1.0], lb=-np.inf, quadratic=quadratic)
        assert infeasibility_residual(program, np.array([-1.0]), np.array([1.0])) > 1e-6, seed


def test_no_feasible_point_is_proved_away_by_badly_scaled_constraints() -> None:
    for seed in range(60):
        random = np.random.default_rng(seed)
        n, m = int(random.integers(1, 7)), int(random.integers(0, 4))
        inside = random.normal(size=n) * 10.0 ** random.integers(-3, 4)
        quadratic = []
        for _ in range(int(random.integers(1, 4))):
            root = random.normal(size=(int(random.integers(1, n + 1)), n)) * 10.0 ** random.integers(-4, 5, n)
            P, cost = root.T @ root, random.normal(size=n) * 10.0 ** random.integers(-3, 4)
            value = 0.5 * float(inside @ P @ inside) + float(cost @ inside)
            quadratic.append((P, cost, value + 0.1 * abs(value) + 1e-9))
        A = random.normal(size=(m, n))
        program = Program(
            q=np.zeros(n), A=A, l=A @ inside - 0.1 * np.abs(A @ inside), lb=-np.inf, quadratic=quadratic,
            assume_convex=True,
        )  # fmt: skip
        for _ in range(30):
            y = -random.exponential(size=m) * 10.0 ** random.integers(-6, 7)
            z = random.exponential(size=len(quadratic)) * 10.0 ** random.integers(-6, 7, len(quadratic))
            assert infeasibility_residual(program, y, z) > 1e-6, seed


def test_a_quadratic_constraint_without_variables_is_proved_infeasible() -> None:
    program = Program(q=[], quadratic=[(np.zeros((0, 0)), np.zeros(0), -1.0)])
    assert relift.solve(program).status == relift.Status.INFEASIBLE
