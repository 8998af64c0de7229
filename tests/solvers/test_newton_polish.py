"""The last digits of quadratic constraints: the compiled steps, the dense and the sparse system lead to one point."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from relift import Program
from relift.program import passes
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.solution import Solution
from relift.settings import SolverSettings
from relift.solvers import newton_polish
from relift.solvers.registry import get_backend


def curved_program(seed: int, *, has_cone: bool) -> Program:
    """A linear or quadratic objective over rows, bounds, two balls, and perhaps a cone."""
    random = np.random.default_rng(seed)
    n = 6
    root, other = random.normal(size=(n, n)), random.normal(size=(2, n))
    cone = np.vstack([np.zeros((1, n)), -random.normal(size=(3, n))]), np.array([2.0, 0.1, 0.2, 0.3]), [SecondOrder(4)]
    return Program(
        np.diag(random.uniform(0, 1, n)) if seed % 2 else None, random.normal(size=n), random.normal(size=(3, n)),
        l=-1.0, lb=-2.0, ub=3.0,
        quadratic=[(root @ root.T + np.eye(n), random.normal(size=n), 2.0), (other.T @ other, None, 1.0)],
        conic=ConicRows(*cone) if has_cone else None,
    )  # fmt: skip


def roughened(program: Program, seed: int) -> Solution:
    """An optimal answer without its last digits."""
    found = get_backend("clarabel").solve(program, SolverSettings())
    noise = np.random.default_rng(seed).normal(size=program.n_variables)
    assert found.x is not None
    return dataclasses.replace(found, x=found.x + 1e-6 * noise)


@pytest.mark.parametrize("has_cone", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_dense_and_sparse_systems_lead_to_the_same_point(
    seed: int, has_cone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton_polish, "MOST_COMPILED", 0)
    program = curved_program(seed, has_cone=has_cone)
    rough = roughened(program, seed)
    dense = newton_polish.polished(program, rough)
    monkeypatch.setattr(newton_polish, "SMALL", 0)
    thin = newton_polish.polished(program, rough)
    assert dense is not rough
    for name in ("x", "y", "w", "z", "v"):
        one, other = getattr(dense, name), getattr(thin, name)
        assert (one is None) == (other is None)
        assert one is None or one == pytest.approx(other, abs=1e-9), name


@pytest.mark.skipif(passes.core is None, reason="there is no compiled core")
@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_compiled_steps_lead_to_the_point_of_their_twin(
    seed: int, by_rows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = curved_program(seed, has_cone=False)
    program = program.replace(A=sparse.csr_array(program.A)) if by_rows else program
    rough = roughened(program, seed)
    compiled = newton_polish.polished(program, rough, 1e-6)
    monkeypatch.setattr(newton_polish, "MOST_COMPILED", 0)
    twin = newton_polish.polished(program, rough, 1e-6)
    assert (compiled is rough) == (twin is rough)
    assert compiled.objective == pytest.approx(twin.objective, rel=1e-12)
    for name in ("x", "y", "w", "z"):
        one, other = getattr(compiled, name), getattr(twin, name)
        assert one == pytest.approx(other, abs=1e-9), name
        assert not np.shares_memory(one, getattr(rough, name)) or compiled is rough


@pytest.mark.skipif(passes.core is None, reason="there is no compiled core")
@pytest.mark.parametrize("fits", [True, False])
def test_compiled_steps_are_taken_up_to_their_limit_only(fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    program = curved_program(0, has_cone=False)
    rough = roughened(program, 0)
    at = newton_polish._Point(rough.x, rough.y, rough.w, rough.z, np.zeros(0))
    conditions = newton_polish._Conditions(program, at)
    size = sum(each.size for each in (at.x, conditions.rows, conditions.bounds, conditions.curved))
    monkeypatch.setattr(newton_polish, "MOST_COMPILED", size if fits else size - 1)
    found = newton_polish._by_the_core(passes.core, program, at, 1e-6)
    assert (found is not None) == fits


@pytest.mark.parametrize(("tolerance", "n_steps"), [(1.0, 1), (1e-6, 1), (1e-30, 5)])
def test_steps_end_where_the_error_is_small_for_the_tolerance(
    tolerance: float, n_steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton_polish, "MOST_COMPILED", 0)
    program = curved_program(0, has_cone=False)
    rough = roughened(program, 0)
    errors = iter([1e-3, 0.9e-12, 1e-13, 1e-14, 1e-15, 1e-16])
    monkeypatch.setattr(newton_polish._Conditions, "error", lambda *_: next(errors))
    newton_polish.polished(program, rough, tolerance)
    assert next(errors, None) == (None if n_steps == 5 else 1e-13)


@pytest.mark.parametrize(("cost", "factor", "size"), [(3.0, 2.0, 1.0), (1.0, 1e-5, 1e-5), (1e-3, 1.0, 1e-3)])
def test_errors_are_measured_by_the_smallest_of_costs_and_constraints(cost: float, factor: float, size: float) -> None:
    balls = [(np.eye(2), None, 1.0), (factor * np.eye(2), None, 0.5 * factor)]
    program = Program(q=[-cost, 0.0], quadratic=balls)
    at = newton_polish._Point(np.array([1.0, 0.0]), np.zeros(0), np.zeros(2), np.zeros(2), np.zeros(0))
    assert newton_polish._Conditions(program, at).smallest_size == pytest.approx(size)


@pytest.mark.parametrize("is_small", [True, False])
def test_the_system_is_dense_up_to_its_limit_only(is_small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton_polish, "MOST_COMPILED", 0)
    program = curved_program(0, has_cone=False)
    rough = roughened(program, 0)
    asked = []
    monkeypatch.setattr(newton_polish, "_solved", lambda *_: asked.append("sparse"))
    monkeypatch.setattr(newton_polish, "_solved_densely", lambda *_: asked.append("dense"))
    at = newton_polish._Point(rough.x, rough.y, rough.w, rough.z, np.zeros(0))
    conditions = newton_polish._Conditions(program, at)
    size = sum(each.size for each in (at.x, conditions.rows, conditions.bounds, conditions.curved))
    monkeypatch.setattr(newton_polish, "SMALL", size if is_small else size - 1)
    newton_polish.polished(program, rough)
    assert asked == ["dense" if is_small else "sparse"]


def test_a_singular_system_has_no_step() -> None:
    H, normals = np.zeros((2, 2)), np.zeros((1, 2))
    assert newton_polish._solved_densely(H - newton_polish.SHIFT * np.eye(2), normals, np.ones(3)) is None
