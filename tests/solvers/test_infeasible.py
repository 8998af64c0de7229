"""Infeasible linear programs, real and made here in many scales: each is proved infeasible by a ray that is checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data import ROOT

import relift
from relift import Program, Solution, Status, certify, solve
from relift.settings import SolverSettings
from relift.solvers.feasibility import points_or_proofs

NAMES = (
    "bgdbg1", "bgprtr", "box1", "ex72a", "forest6", "galenet", "itest2", "itest6", "klein1", "klein2", "mondou2",
    "refinery", "woodinfe",
)  # fmt: skip


def path_of(name: str) -> Path:
    import os

    base = os.environ.get("RELIFT_DATA")
    folder = Path(base) if base else ROOT.parent / "shared" / "data"
    path = folder / "lp_infeasible" / f"{name}.mps.gz"
    if not path.is_file():
        pytest.skip(f"no benchmark data in {folder}; set RELIFT_DATA")
    return path


@pytest.mark.parametrize("lift", ["equitable", "none"])
@pytest.mark.parametrize("name", NAMES)
def test_a_real_infeasible_program_is_proved_infeasible_by_highs_alone(name: str, lift: str) -> None:
    program = relift.read_program(path_of(name))
    result = solve(program, lift=lift, reduce=lift != "none", time_limit=120)  # type: ignore[arg-type]
    assert result.status == Status.INFEASIBLE
    assert result.certificate.ray_residual <= 1e-9
    assert {attempt.backend for attempt in result.attempts} == {"highs"}
    assert_proved(program, result.solution)


def assert_proved(program: Program, solution: Solution) -> None:
    """By hand: A'y + w = 0 as far as rounding goes, no dual value on a missing bound, and a negative support."""
    y, w = solution.ray_y, solution.ray_w
    assert y is not None
    assert w is not None
    products = abs(program.A).T @ np.abs(y) + np.abs(w)
    assert np.abs(program.A.T @ y + w).max() <= 1e-9 * products.max()
    total = 0.0
    for ray, lower, upper in ((y, program.l, program.u), (w, program.lb, program.ub)):
        bounds = np.where(ray > 0, upper, lower)
        assert np.isfinite(bounds[ray != 0]).all()
        total += float(ray[ray != 0] @ bounds[ray != 0])
    assert total < 0


# --- families ---------------------------------------------------------------------------------------------------------


def two_rows(random: np.random.Generator, n: int) -> Program:
    """One row wants more than the other allows."""
    a = random.uniform(0.5, 2, n)
    return Program(q=random.normal(size=n), A=[a, a], l=[n, -np.inf], u=[np.inf, n - 1.0], lb=0)


def a_chain(random: np.random.Generator, n: int) -> Program:
    """Every variable is larger than the one before, and the last one is bounded by less."""
    A = np.eye(n)[1:] - np.eye(n)[:-1] if n > 1 else np.zeros((1, 1))
    ub = np.full(n, np.inf)
    ub[-1] = 0.5 * (n - 1) if n > 1 else -1.0
    return Program(q=random.normal(size=n), A=A, l=np.ones(A.shape[0]), lb=0 if n > 1 else -2, ub=ub)


def a_transport(random: np.random.Generator, n: int) -> Program:
    """Demand is larger than supply."""
    A = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    supply = random.integers(1, 9, n).astype(float)
    demand = np.full(n, (supply.sum() + 1) / n)
    infinite = np.full(n, np.inf)
    return Program(
        q=random.uniform(1, 2, n * n), A=A, l=np.concatenate([-infinite, demand]), u=np.concatenate([supply, infinite]),
        lb=0,
    )  # fmt: skip


def a_dense_system(random: np.random.Generator, n: int) -> Program:
    """Nonnegative combinations of columns that lie on one side never reach the other."""
    columns = random.normal(size=(n, 2 * n))
    side = random.normal(size=n)
    columns *= np.sign(side @ columns)
    return Program(q=random.normal(size=2 * n), A=columns, l=-side, u=-side, lb=0)


FAMILIES: tuple[Callable[[np.random.Generator, int], Program], ...] = (two_rows, a_chain, a_transport, a_dense_system)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 7), family=st.sampled_from(FAMILIES), rows=st.integers(0, 8),
    columns=st.integers(0, 3),
)  # fmt: skip
def test_infeasible_programs_are_proved_infeasible_in_every_scale(
    seed: int, n: int, family: Callable[[np.random.Generator, int], Program], rows: int, columns: int
) -> None:
    random = np.random.default_rng(seed)
    program = family(random, n)
    R, D = (
        10.0 ** random.uniform(-rows, rows, program.n_rows),
        10.0 ** random.uniform(-columns, columns, program.q.size),
    )
    scaled = Program(
        q=program.q * D, A=R[:, None] * program.A.toarray() * D, l=R * program.l, u=R * program.u, lb=program.lb / D,
        ub=program.ub / D,
    )  # fmt: skip
    result = solve(scaled)
    assert result.status == Status.INFEASIBLE
    assert certify(scaled, result.solution).is_proved


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), family=st.sampled_from(FAMILIES))
def test_the_elastic_program_gives_a_ray_where_there_is_no_point_and_a_point_where_there_is_one(
    seed: int, n: int, family: Callable[[np.random.Generator, int], Program]
) -> None:
    random = np.random.default_rng(seed)
    program = family(random, n)
    *_, elastic = points_or_proofs(program, SolverSettings())
    assert elastic.status == Status.INFEASIBLE
    assert certify(program, elastic).is_proved
    point = np.where(np.isfinite(program.lb), np.maximum(program.lb, 0.0), 0.0)
    point = np.minimum(point + 1.0, np.where(np.isfinite(program.ub), program.ub, np.inf))
    feasible = program.replace(l=program.A @ point - 1.0, u=program.A @ point + 1.0)
    *_, elastic = points_or_proofs(feasible, SolverSettings())
    assert elastic.x is not None
    assert certify(feasible, Solution(Status.FAILURE, x=elastic.x)).is_feasible


@pytest.mark.parametrize("large", [1e19, 1e20, 1e21, 1e30, 9e30])
@pytest.mark.parametrize("options", [{}, {"lift": "none", "reduce": False}, {"vertex": True}], ids=str)
def test_bounds_that_highs_takes_for_infinite_end_in_an_answer(large: float, options: dict[str, object]) -> None:
    wanted = {Status.OPTIMAL, Status.INFEASIBLE, Status.FAILURE}
    for program in (
        Program(q=[1.0], lb=[large]),
        Program(q=[1.0, 1.0], A=[[1, 1]], l=[large], lb=0),
        Program(q=[1.0, 1.0], A=[[1, 1]], u=[-large], lb=0),
        Program(q=[-1.0, 1.0], A=[[1, 1]], u=[large], lb=-large, ub=large),
        Program(q=[1.0, 0.0], A=[[1, 1], [1, -1]], l=[large, large], lb=0, ub=5),
    ):
        assert solve(program, **options).status in wanted  # type: ignore[arg-type]
    assert solve(Program(q=[1.0], lb=[large])).objective == pytest.approx(large)
    assert solve(Program(q=[1.0, 1.0], A=[[1, 1]], u=[-large], lb=0)).status == Status.INFEASIBLE


def test_small_entries_are_kept_where_there_are_some() -> None:
    program = Program(q=[1.0, 1.0], A=[[1.0, 1e-10], [1e-10, 1.0]], l=[1.0, 1.0], lb=0)
    result = solve(program, reduce=False, lift="none")
    assert result.status == Status.OPTIMAL
    assert result.certificate.primal_residual <= 1e-12
