"""Each compiled kernel gives what its NumPy twin gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.ml import compiled
from relift.ml import kernels_reference as reference
from relift.ml.kernels import FunctionKernel, MatrixKernel, PointKernel, dense_function

pytestmark = pytest.mark.skipif(not compiled.CORE_IS_COMPILED, reason="relift._ml_core is not compiled")

KERNELS = [("rbf", 0.7, 0.0, 3), ("poly", 0.3, 1.0, 3), ("poly", 0.3, 1.0, 0), ("linear", 1.0, 0.0, 1),
           ("sigmoid", 0.2, -0.5, 1)]  # fmt: skip


def points(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (7, 33, 3), (130, 1100, 2), (5, 16, 40)])
def test_kernel_values_sums_and_class_sums_are_those_of_the_twin(
    kernel: tuple[str, float, float, int], n: int, m: int, d: int
) -> None:
    X, S = points(n, d, 1), points(m, d, 2)
    weights = np.random.default_rng(3).standard_normal(m)
    expected = reference.kernel_values(X, S, *kernel, np.float64)
    size = np.abs(expected).max() + 1.0
    np.testing.assert_allclose(compiled.kernel_values(X, S, *kernel), expected, atol=4e-6 * size)
    sums = compiled.kernel_sums(X, S, weights, *kernel)
    np.testing.assert_allclose(sums, expected @ weights, atol=1e-5 * size * np.abs(weights).sum())
    labels = (np.arange(n) % 3).astype(np.int32)
    given_weights = np.random.default_rng(4).uniform(0, 1, n)
    np.testing.assert_allclose(
        compiled.class_sums(X, S, given_weights, labels, 4, *kernel),
        reference.class_sums(X, S, given_weights, labels, 4, *kernel),
        atol=1e-5 * size * n,
    )


def test_far_points_have_kernel_zero_and_not_nan() -> None:
    X = np.array([[0.0], [1e6]], dtype=np.float32)
    values = compiled.kernel_values(X, X, "rbf", 1.0, 0.0, 1)
    assert values[0, 0] == 1.0
    assert 0 <= values[0, 1] < 1e-30


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 60), st.integers(0, 10_000), st.sampled_from([np.float32, np.float64]))
def test_smo_reaches_the_optimum_of_the_twin_and_stays_feasible(n: int, seed: int, dtype: type) -> None:
    random = np.random.default_rng(seed)
    factor = random.standard_normal((n, 4))
    K = factor @ factor.T + 0.1 * np.eye(n)
    y = np.where(random.uniform(size=n) < 0.5, -1.0, 1.0)
    bound = random.uniform(0.1, 3.0, n)
    lo, hi = np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0)
    values = []
    every: tuple[tuple[Callable[..., tuple[int, float]], Any], ...] = (
        (compiled.smo, dtype),
        (reference.smo, np.float64),
    )
    for kernel, kind in every:
        K_, lo_, hi_ = (array.astype(kind) for array in (K, lo, hi))
        beta, v = np.zeros(n, dtype=kind), y.astype(kind)
        _, violation = kernel(K_, lo_, hi_, beta, v, 1e-4, 100_000)
        assert violation <= 1e-4
        assert (beta >= lo_).all()
        assert (beta <= hi_).all()
        assert abs(beta.sum()) < 1e-4
        values.append(y @ beta - 0.5 * beta @ K @ beta)
    assert values[0] == pytest.approx(values[1], rel=1e-3, abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 50), st.integers(1, 20), st.integers(0, 1000))
def test_coordinate_ascent_reaches_the_optimum_of_the_twin(n: int, d: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    Z = np.zeros((n, -(-d // 16) * 16))
    Z[:, :d] = random.standard_normal((n, d))
    c, extra = random.standard_normal(n), random.uniform(0.01, 1.0, n)
    lo, hi = -random.uniform(0, 1, n), random.uniform(0, 1, n)
    order = np.arange(n, dtype=np.int32)
    points_found = []
    for ascend in (compiled.coordinate_ascent, reference.coordinate_ascent):
        beta, w = np.zeros(n), np.zeros(Z.shape[1])
        ascend(Z, extra, c, lo, hi, order, beta, w, 1e-9, 5000)
        np.testing.assert_allclose(w, Z.T @ beta, atol=1e-9)
        points_found.append(beta)
    np.testing.assert_allclose(points_found[0], points_found[1], atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.integers(1, 40), st.integers(1, 6), st.integers(0, 1000))
def test_nearest_centres_and_lloyd_are_those_of_the_twin(n: int, k: int, d: int, seed: int) -> None:
    X, centres = points(n, d, seed), points(k, d, seed + 1)
    labels, squares = compiled.nearest(X, centres)
    expected_labels, expected = reference.nearest(X, centres)
    np.testing.assert_allclose(squares, expected, rtol=1e-4, atol=1e-5)
    chosen = ((X.astype(float) - centres[labels].astype(float)) ** 2).sum(axis=1)
    np.testing.assert_allclose(chosen, expected, rtol=1e-4, atol=1e-5)
    assert (labels == expected_labels).mean() > 0.9
    moved, slowly = centres.copy(), centres.copy()
    compiled.lloyd(X, moved, 1)
    reference.lloyd(X, slowly, 1)
    assert moved.shape == slowly.shape
    assert np.isfinite(moved).all()


def test_ties_of_nearest_centres_go_to_the_lowest_number() -> None:
    labels, _ = compiled.nearest(points(5, 2, 0), np.zeros((40, 2), dtype=np.float32))
    assert labels.tolist() == [0] * 5


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 60), st.integers(0, 1000))
def test_pivoted_cholesky_is_that_of_the_twin(n: int, rank: int, most: int, seed: int) -> None:
    factor = np.random.default_rng(seed).standard_normal((n, rank))
    K = factor @ factor.T
    most = min(most, n)
    pivots, rows = compiled.pivoted_cholesky(K, most, 1e-9)
    expected_pivots, expected = reference.pivoted_cholesky(K, most, 1e-9)
    assert pivots.tolist() == expected_pivots.tolist()
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    if most >= rank:
        np.testing.assert_allclose(rows.T @ rows, K, atol=1e-6 * max(1.0, np.abs(K).max()))


def test_wrong_arrays_are_refused_not_read() -> None:
    X = points(4, 2, 0)
    core = compiled.core  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="different features"):
        core.kernel_sums(X, points(4, 3, 0), np.ones(4), 0, 1.0, 0.0, 1, np.empty(4))
    with pytest.raises(ValueError, match="wrong type or length"):
        core.kernel_sums(X, X, np.ones(3), 0, 1.0, 0.0, 1, np.empty(4))
    with pytest.raises(ValueError, match="wrong type or length"):
        core.smo(np.eye(3), np.zeros(2), np.ones(2), np.zeros(2), np.ones(2), 1e-3, 10)
    with pytest.raises(ValueError, match="infinite, huge or not a number"):
        core.label_by_signature(X * np.float32(np.nan), X, np.ones((1, 4)), np.empty(4, dtype=np.int32))
    with pytest.raises(ValueError, match="label is out of range"):
        core.class_sums(X, X, np.ones(4), np.full(4, 9, dtype=np.int32), 0, 1.0, 0.0, 1, np.empty((2, 4)))
    three, order = np.zeros(3), np.zeros(1, dtype=np.int32)
    with pytest.raises(ValueError, match="whole lanes"):
        core.coordinate_ascent(np.zeros((3, 5)), three, three, three, three, order, three, np.zeros(5), 1.0, 1, 0)
    fixed = np.empty(4)
    fixed.flags.writeable = False
    with pytest.raises((BufferError, ValueError), match=r"read-only|writable"):
        core.kernel_sums(X, X, np.ones(4), 0, 1.0, 0.0, 1, fixed)


@pytest.mark.parametrize("kernel", KERNELS)
def test_sources_agree_whatever_they_are_made_of(kernel: tuple) -> None:
    X = points(40, 3, 5)
    by_points, by_function = PointKernel(X, *kernel), FunctionKernel(X.astype(float), dense_function(*kernel))
    everything = np.arange(40)
    by_matrix = MatrixKernel(by_function.block(everything, everything))
    rows, columns = np.array([3, 1, 7]), np.arange(5, 30)
    weights, labels = np.linspace(-1, 1, 25), np.array([0, 1, 0], dtype=np.int32)
    for other in (by_function, by_matrix, by_points.subset(everything)):
        np.testing.assert_allclose(other.block(rows, columns), by_points.block(rows, columns), atol=1e-4)
        np.testing.assert_allclose(
            other.sums(rows, columns, weights), by_points.sums(rows, columns, weights), atol=1e-3
        )
        np.testing.assert_allclose(other.diagonal(), by_points.diagonal(), atol=1e-3)
        np.testing.assert_allclose(
            other.class_sums(rows, columns, np.ones(3), labels, 2),
            by_points.class_sums(rows, columns, np.ones(3), labels, 2),
            atol=1e-3,
        )
