"""The compiled residuals of a point say what the formulas over whole arrays say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from relift.lifting.point_residuals import Duals, PointResiduals, point_residuals, residuals_slowly
from relift.program import passes
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program

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


def test_constants_of_the_compiled_residuals_are_those_of_the_formulas() -> None:
    # At exactly 1e-14 of the largest term a gradient is rounding; just above it is not, and costs its distance.
    for share, expected in ((1e-14, 0.0), (1.01e-14, 1.01e-14 * 2.0)):
        program = Program(q=[1.0], A=[[1.0]], l=[-np.inf], u=[np.inf], lb=[0.0], ub=[3.0])
        x, w = np.array([2.0]), np.array([-1.0 + share])
        slack = abs(w[0]) * 2.0
        found = point_residuals(program, x, Duals(np.zeros(1), w, np.zeros(0), np.zeros(0)))
        assert found.gap * 3.0 - slack == pytest.approx(expected if share > 1e-14 else 0.0, abs=4e-16)
