"""Unbounded programs: a feasible point and a ray, both checked, with no more runs of a solver than needed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift import Program, Solution, Status, solve
from relift.certified_solve import CertifiedSolve
from relift.pipeline import lift
from relift.settings import SolverSettings
from relift.solvers import highs_
from relift.solvers.feasibility import point_along
from relift.solvers.highs_rounds import Highs
from relift.solvers.registry import get_backend


def unbounded_program(seed: int, kind: str) -> Program:
    """Rows that are met somewhere, and a direction that keeps them along which the objective falls."""
    random = np.random.default_rng(seed)
    n, m = 6, 4
    direction, point = random.uniform(0.1, 1, n), random.normal(size=n)
    A = random.normal(size=(m, n))
    A -= np.outer(A @ direction, direction) / (direction @ direction)  # no row changes along the direction
    if kind == "rows":
        A += np.outer(random.uniform(0, 1, m), direction)
    sides = A @ point
    q = -direction + random.normal(size=n) @ (np.eye(n) - np.outer(direction, direction) / (direction @ direction))
    P = None
    if kind == "curved":  # flat along the direction only
        root = random.normal(size=(n, n)) @ (np.eye(n) - np.outer(direction, direction) / (direction @ direction))
        P = root.T @ root
        P = (P + P.T) / 2
    upper = sides if kind == "equalities" else np.inf
    return Program(P, q, A, sides, upper, lb=np.minimum(point, 0.0) - random.uniform(0, 1, n))


@pytest.mark.parametrize("kind", ["rows", "equalities", "flat", "curved"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_an_unbounded_program_is_proved_so_by_a_point_and_a_ray(kind: str, seed: int) -> None:
    program = unbounded_program(seed, kind)
    result = solve(program)
    assert result.status is Status.UNBOUNDED
    assert result.x is not None
    assert result.ray_x is not None
    at, along, size = program.A @ result.x, program.A @ result.ray_x, 1.0 + np.abs(result.x).max()
    assert (at >= program.l - 1e-6 * size).all()
    assert (at <= program.u + 1e-6 * size).all()
    assert (result.x >= program.lb - 1e-6 * size).all()
    assert program.q @ result.ray_x < 0
    assert along.min() >= -1e-6
    assert program.P is None or np.abs(program.P @ result.ray_x).max() <= 1e-5


def test_an_unbounded_linear_program_takes_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, run = [], highs_.run

    def counted(highs: Highs) -> str:
        runs.append(highs)
        return run(highs)

    monkeypatch.setattr(highs_, "run", counted)
    result = solve(unbounded_program(1, "rows"))
    assert result.status is Status.UNBOUNDED
    assert len(runs) == 1


@pytest.mark.parametrize("missing", ["ray", "point"])
def test_a_run_that_leaves_no_ray_or_no_point_is_followed_by_others(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = unbounded_program(1, "rows")
    at_once = highs_._unbounded_at_once

    def without(highs: object, program: Program, status: str) -> Solution | None:
        found = at_once(highs, program, status)  # type: ignore[arg-type]
        assert found is not None
        return None if missing == "ray" else found.but(x=None)

    monkeypatch.setattr(highs_, "_unbounded_at_once", without)
    result = solve(program)
    assert result.status is Status.UNBOUNDED
    assert result.x is not None
    assert (program.A @ result.x >= program.l - 1e-6).all()


@pytest.mark.parametrize("point", [None, "infeasible"])
def test_a_ray_that_proves_nothing_is_replaced(point: str | None) -> None:
    program = unbounded_program(2, "equalities")
    wrong = Solution(Status.UNBOUNDED, ray_x=-np.ones(6), x=None if point is None else np.full(6, -1e3))
    run = CertifiedSolve(lift(program, reduce=False), SolverSettings(), 0.0, None)
    proved = run.with_proof(wrong, SolverSettings())
    assert proved.ray_x is not None
    assert program.q @ proved.ray_x < 0
    assert run.certified(run.lifting.small, proved, 1e-6).is_proved


@pytest.mark.parametrize(("dust", "is_cleared"), [(1e-9, False), (9e-7, True), (2e-6, False)])
def test_dust_on_a_ray_of_an_interior_point_method_is_cleared_away(
    dust: float, is_cleared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Clarabel leaves 2e-7 where the ray is 0; up to 1e-8 the certificate itself looks past it.
    program = Program(np.diag([1.0, 0.0]), [-1.0, -1.0], A=[[1.0, 1.0]], l=[3.0], lb=0)
    claim = Solution(Status.UNBOUNDED, ray_x=np.array([dust, 1.0]))
    run = CertifiedSolve(lift(program, lift="none"), SolverSettings(), 0.0, None)
    proved = run._with_own_ray(claim, 1e-12)
    assert (proved is not None) == (dust < 1e-6)
    assert proved is None or (proved.ray_x is not None and bool(proved.ray_x[0] == 0.0) == is_cleared)
    clarabel = type(get_backend("clarabel"))
    monkeypatch.setattr(clarabel, "solve_form", lambda *_: dataclasses.replace(claim, backend="clarabel"))
    assert solve(program, lift="none").status is Status.UNBOUNDED


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_a_point_along_a_ray_meets_all_rows_and_bounds(seed: int) -> None:
    program = unbounded_program(seed, "rows")
    direction = np.random.default_rng(seed).uniform(0.1, 1, 6)  # the same that made the program
    found = point_along(program, direction)
    rises = program.A @ direction
    assert rises.min() > 0
    if found is None:
        assert rises.min() < 1e-2
    else:
        assert (program.A @ found >= program.l - 1e-9 * (1 + np.abs(found).max())).all()
        assert (found >= program.lb).all()


@pytest.mark.parametrize(("slope", "is_found"), [(2.0, True), (2e-4, True), (0.5e-4, False), (0, False)])
def test_a_point_is_looked_for_along_a_ray_as_far_as_rows_are_met_by_more_than_rounding(
    slope: float, is_found: bool
) -> None:
    program = Program(q=[-1.0], A=[[slope], [-1.0]], l=[1.0, -np.inf], u=[np.inf, 5.0], lb=0)
    found = point_along(program, np.ones(1))
    assert (found is not None) is is_found
    assert found is None or found.tolist() == [1.0 / slope]


def test_a_point_along_a_ray_comes_down_to_upper_sides() -> None:
    program = Program(q=[-1.0], A=[[-1.0]], u=[-3.0], lb=0)
    found = point_along(program, np.ones(1))
    assert found is not None
    assert found.tolist() == [3.0]


@pytest.mark.parametrize("centre", [0.0, -2.0])
def test_a_point_that_misses_a_quadratic_constraint_is_replaced(centre: float) -> None:
    # (y - centre)² <= 1, of which 0 meets the first alone, and x as large as one likes.
    ball = (np.diag([0.0, 2.0]), [0.0, -2.0 * centre], 1.0 - centre**2)
    result = solve(Program(q=[-1.0, 0.0], quadratic=[ball]))
    assert result.status is Status.UNBOUNDED
    assert result.x is not None
    assert abs(result.x[1] - centre) <= 1.0 + 1e-6
