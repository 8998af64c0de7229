"""The certificate computed by an engine is the one computed here, for right and wrong points and rays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift import Program, Solution, Status, certify
from relift.in_database import EngineProgram, program_from_tables, tables_from_program
from relift.in_database.certify_tables import ExpandedTables, certify_tables
from relift.in_database.temporary_tables import TemporaryTables
from relift.lifting.certificate import Certificate
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine

NAMES = ("primal_residual", "dual_residual", "duality_gap", "ray_residual", "objective")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with DuckDBEngine(threads=1) as opened:
        yield opened


def in_engine(engine: Engine, program: Program, *solutions: Solution) -> list[Certificate]:
    """The certificates of some answers to one program, which is put into tables once."""
    tables = program_from_tables(engine, **tables_from_program(program))
    try:
        return [of_answer(engine, tables, solution) for solution in solutions]
    finally:
        tables.drop()


def of_answer(engine: Engine, tables: EngineProgram, solution: Solution) -> Certificate:
    temporary = TemporaryTables(engine, "agrees")
    n, m = tables.n_variables, tables.n_rows
    is_ray = solution.status in {Status.INFEASIBLE, Status.UNBOUNDED}
    x, y = (solution.ray_x, solution.ray_y) if is_ray else (solution.x, solution.y)
    columns = temporary.attach("x", {
        "column": np.arange(n), "x": np.zeros(n) if x is None else x,
        "w": np.zeros(n) if solution.w is None else solution.w,
    })  # fmt: skip
    rows = temporary.attach("y", {"row": np.arange(m), "y": np.zeros(m) if y is None else y})
    try:
        return certify_tables(tables, temporary, solution, ExpandedTables(columns, rows), 1e-6)
    finally:
        temporary.close()


def random_case(seed: int) -> tuple[Program, np.random.Generator]:
    """A program of mixed magnitudes: free variables, infinite sides, empty rows, fixed variables, small right sides."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 6)), int(random.integers(1, 6))
    A = random.integers(-3, 4, (m, n)) * (random.random((m, n)) < 0.7) * 10.0 ** random.integers(-8, 9, (m, 1))
    A = A * 10.0 ** random.integers(-3, 4, (1, n))
    middle = A @ random.integers(-2, 3, n) * random.choice([1.0, 1.0, 1e-9])
    l = np.where(random.random(m) < 0.3, -np.inf, middle - random.integers(0, 2, m))
    u = np.where(random.random(m) < 0.3, np.inf, np.maximum(l, middle) + random.integers(0, 3, m))
    lb = np.where(random.random(n) < 0.4, -np.inf, random.choice([0.0, -1.0, 1e-7], n))
    ub = np.where(random.random(n) < 0.4, np.inf, np.where(np.isinf(lb), 0.0, lb) + random.choice([0.0, 1e-7, 5.0], n))
    P = None
    if random.random() < 0.5:
        factor = random.integers(-1, 3, (2, n)) * 10.0 ** random.integers(-4, 5)
        P = factor.T @ factor
    q = random.integers(-2, 3, n) * 10.0 ** random.integers(-7, 8)
    return Program(P, q, A, l, u, lb, ub, r=float(random.choice([0.0, 1e9]))), random


def assert_equal(engine: Engine, program: Program, *solutions: Solution) -> None:
    for solution, there in zip(solutions, in_engine(engine, program, *solutions), strict=True):
        here = certify(program, solution)
        for name in NAMES:
            one, other = getattr(here, name), getattr(there, name)
            assert one == pytest.approx(other, rel=1e-6, abs=1e-12, nan_ok=True), (name, here, there)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_points_have_the_residuals_computed_here(engine: Engine, seed: int) -> None:
    program, random = random_case(seed)
    n, m = program.n_variables, program.n_rows
    x = random.integers(-2, 3, n) * 10.0 ** random.integers(-9, 3, n)
    y = random.integers(-2, 3, m) * 10.0 ** random.integers(-9, 9, m)
    w = random.integers(-2, 3, n) * 10.0 ** random.integers(-9, 9, n)
    if random.random() < 0.5:
        w = -(program.q + program.A.T @ y + (0.0 if program.P is None else program.P @ x))
    assert_equal(engine, program, Solution(Status.OPTIMAL, x=x, y=y, w=w), Solution(Status.OPTIMAL, x=x))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_rays_have_the_residuals_computed_here(engine: Engine, seed: int) -> None:
    program, random = random_case(seed)
    y = random.integers(-2, 3, program.n_rows) * 10.0 ** random.integers(-9, 9, program.n_rows)
    d = random.integers(-2, 3, program.n_variables) * 10.0 ** random.integers(-9, 3, program.n_variables)
    assert_equal(engine, program, Solution(Status.INFEASIBLE, ray_y=y), Solution(Status.UNBOUNDED, ray_x=d))


def test_a_point_that_is_not_a_number_fails_in_both(engine: Engine) -> None:
    program = Program(q=[1.0, 1.0], A=[[1.0, 1.0]], l=[1.0], lb=0)
    wrong = Solution(Status.OPTIMAL, x=np.array([np.nan, 1.0]), y=np.zeros(1), w=np.zeros(2))
    assert not certify(program, wrong).is_optimal
    assert not in_engine(engine, program, wrong)[0].is_optimal
