"""The compiled residuals of a point say what the formulas over whole arrays say."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from relift.lifting.certificate import certify
from relift.lifting.point_residuals import Duals, PointResiduals, point_residuals, residuals_slowly
from relift.program import passes
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution, Status

pytestmark = pytest.mark.skipif(passes.core is None, reason="relift._passes_core is not compiled")


def _bounds(random: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    low, width = _numbers(random, size), random.choice([0.0, 0.5, 2.0, 2.0**20], size)
    high = low + width
    return np.where(random.random(size) < 0.3, -np.inf, low), np.where(random.random(size) < 0.3, np.inf, high)


def _numbers(random: np.random.Generator, size: int) -> np.ndarray:
    """Of many sizes, with many zeros; so few binary digits that sums of products are exact in any order."""
    numbers = random.integers(-8, 9, size) * 2.0 ** random.integers(-4, 5, size)
    return np.where(random.random(size) < 0.3, 0.0, numbers)


def _draw(seed: int) -> tuple[Program, np.ndarray, Duals]:
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 8)), int(random.integers(0, 6))
    dense = _numbers(random, m * n).reshape(m, n)
    A = sparse.csr_array(dense) if random.random() < 0.5 else sparse.csc_array(dense)
    if A.nnz and random.random() < 0.3:
        A.data[0] = 0.0  # a stored zero
    if random.random() < 0.3:
        A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)  # wider than those of P
    P = None
    if random.random() < 0.5:
        root = _numbers(random, n * n).reshape(n, n) * (random.random((n, n)) < 0.4)
        P = root @ root.T
    l, u = _bounds(random, m)
    lb, ub = _bounds(random, n)
    quadratic, conic = [], None
    if random.random() < 0.3:
        quadratic = [(np.eye(n), _numbers(random, n), float(random.integers(0, 3)))]
    if random.random() < 0.3:
        conic = ConicRows(_numbers(random, 3 * n).reshape(3, n), _numbers(random, 3), [SecondOrder(3)])
    program = Program(
        P, _numbers(random, n), A, l, u, lb, ub, float(random.integers(-3, 4)), quadratic=quadratic, conic=conic,
        assume_convex=True,
    )  # fmt: skip
    x = np.clip(_numbers(random, n), lb, ub) if random.random() < 0.7 else _numbers(random, n)
    v = _numbers(random, program.conic.n_rows)
    duals = Duals(_numbers(random, m), _numbers(random, n), _numbers(random, len(quadratic)), v)
    if random.random() < 0.1:
        x[0] = random.choice([np.nan, np.inf, 1e308])
    if random.random() < 0.1:
        duals.w[-1] = random.choice([np.nan, -np.inf, 1e308])
    return program, x, duals


def _draw_blocks(seed: int) -> tuple[Program, np.ndarray, Duals]:
    """More variables and rows than one block of the compiled passes; often an optimum, or almost one."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(100, 420)), int(random.integers(0, 300))
    rows, columns = random.integers(max(m, 1), size=3 * n), random.integers(n, size=3 * n)
    kept = slice(0, 3 * n if m else 0)
    A = sparse.csr_array((_numbers(random, 3 * n)[kept], (rows[kept], columns[kept])), shape=(m, n))
    A = A if random.random() < 0.5 else A.tocsc()
    P = sparse.diags_array(np.abs(_numbers(random, n))).tocsc() if random.random() < 0.4 else None
    (l, u), (lb, ub) = _bounds(random, m), _bounds(random, n)
    q = _numbers(random, n)
    x = np.clip(_numbers(random, n), lb, ub)
    y, w = _numbers(random, m), _numbers(random, n)
    if random.random() < 0.7:
        Ax, is_tight = A @ x, random.random(m) < 0.5
        l, u = (np.where(np.isfinite(side) & is_tight, Ax, side) for side in (np.minimum(l, Ax), np.maximum(u, Ax)))
        y = np.where(is_tight, np.clip(y, np.where(l == Ax, -np.inf, 0), np.where(u == Ax, np.inf, 0)), 0.0)
        w = np.where(x == lb, -np.abs(w), np.where(x == ub, np.abs(w), 0.0))
        q = -(A.T @ y + w) - (0.0 if P is None else P @ x)
        some = random.random(n) < random.choice([0.0, 0.01, 1.0])
        q = np.where(some, q * (1 + 2.0**-20), q)
    if random.random() < 0.1:
        w[-1] = random.choice([np.nan, np.inf, 1e308])
    program = Program(P, q, A, l, u, lb, ub)
    return program, x, Duals(y, w, np.zeros(0), np.zeros(0))


def _assert_close(found: PointResiduals, expected: PointResiduals) -> None:
    pairs = zip((found.primal, found.dual, found.gap), (expected.primal, expected.dual, expected.gap), strict=True)
    for one, other in pairs:
        assert one == pytest.approx(other, rel=1e-9, abs=0.0, nan_ok=True)


@given(st.integers(0, 10**9))
def test_compiled_residuals_are_those_of_the_formulas(seed: int) -> None:
    program, x, duals = _draw(seed)
    with np.errstate(all="ignore"):
        _assert_close(point_residuals(program, x), residuals_slowly(program, x))
        _assert_close(point_residuals(program, x, duals), residuals_slowly(program, x, duals))


@given(st.integers(0, 10**9))
def test_residuals_of_several_blocks_are_those_of_the_formulas(seed: int) -> None:
    program, x, duals = _draw_blocks(seed)
    with np.errstate(all="ignore"):
        _assert_close(point_residuals(program, x), residuals_slowly(program, x))
        _assert_close(point_residuals(program, x, duals), residuals_slowly(program, x, duals))


@pytest.mark.parametrize("price", [-1.0, -0.5, 0.0])
@pytest.mark.parametrize("entry", [1.0, 0.0])
def test_only_a_row_with_an_entry_holds_a_variable_whose_cost_falls(price: float, entry: float) -> None:
    # -x falls without end unless the row -3 <= -x holds it, whether or not the dual value of the row says so.
    program = Program(q=[-1.0, 0.0], A=[[-entry, 1.0]], l=[-3.0], lb=[0.0, 0.0], ub=[np.inf, 0.0])
    duals = Duals(np.array([price]), np.zeros(2), np.zeros(0), np.zeros(0))
    found, expected = (compute(program, np.array([3.0, 0.0]), duals) for compute in (point_residuals, residuals_slowly))
    _assert_close(found, expected)
    assert np.isinf(found.gap) == (entry == 0.0)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_objective_of_a_certificate_is_that_of_the_program(sense: Literal["min", "max"]) -> None:
    random = np.random.default_rng(7)
    root, q, x = random.normal(size=(9, 9)), random.normal(size=9), random.normal(size=9)
    program = Program(root @ root.T * (1 if sense == "min" else -1), q, r=0.1, sense=sense)
    answer = Solution(Status.OPTIMAL, x, np.zeros(0), np.zeros(9))
    assert certify(program, answer).objective == program.objective(x)


def test_constants_of_the_compiled_residuals_are_those_of_the_formulas() -> None:
    # At exactly 1e-14 of the largest term a gradient is rounding; just above it is not, and costs its distance.
    for share, expected in ((1e-14, 0.0), (1.01e-14, 1.01e-14 * 2.0)):
        program = Program(q=[1.0], A=[[1.0]], l=[-np.inf], u=[np.inf], lb=[0.0], ub=[3.0])
        x, w = np.array([2.0]), np.array([-1.0 + share])
        slack = abs(w[0]) * 2.0
        found = point_residuals(program, x, Duals(np.zeros(1), w, np.zeros(0), np.zeros(0)))
        assert found.gap * 3.0 - slack == pytest.approx(expected if share > 1e-14 else 0.0, abs=4e-16)
