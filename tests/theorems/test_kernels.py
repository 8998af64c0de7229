"""Counting partitions of Q = BB' survive polynomial and RBF kernels; partitions by sums do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.theorems.helpers import RUNNING_Q, Matrix, commutes, is_counting, partition_matrix

import relift
from relift.symmetry.partition import Partition


def polynomial(Q: Matrix, degree: int) -> Matrix:
    return (Q + 1) ** degree


def rbf(Q: Matrix, gamma: float) -> Matrix:
    squares = np.diag(Q)
    return np.exp(-gamma * (squares[:, None] + squares[None, :] - 2 * Q))


def symmetric_points(seed: int) -> Matrix:
    """Integer points, many of them images of each other under sign changes and exchange of the axes."""
    random = np.random.default_rng(seed)
    points = random.integers(-2, 3, (int(random.integers(2, 5)), 2))
    images = [points, -points, points * [1, -1], points[:, ::-1]]
    chosen = [images[k] for k in random.integers(0, 4, 3)]
    return np.vstack(chosen)[random.permutation(3 * len(points))].astype(float)


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), degree=st.integers(1, 5), gamma=st.sampled_from([0.01, 0.3, 1.0, 2.5]))
def test_a_counting_partition_of_Q_is_one_of_its_kernel_matrices(seed: int, degree: int, gamma: float) -> None:
    points = symmetric_points(seed)
    Q = points @ points.T
    classes = relift.colour_refinement(Q, mode="counting")
    assert isinstance(classes, relift.Partition)
    assert is_counting(Q, classes)
    for K in (polynomial(Q, degree), rbf(Q, gamma)):
        assert is_counting(K, classes)
        assert commutes(partition_matrix(classes), K)
        of_kernel = relift.colour_refinement(K, mode="counting")
        assert isinstance(of_kernel, relift.Partition)
        assert classes.refines(of_kernel)


@pytest.mark.parametrize("K", [polynomial(RUNNING_Q, 2), rbf(RUNNING_Q, 0.5), rbf(RUNNING_Q, 1.0)])
def test_the_one_class_by_sums_of_the_running_example_is_lost(K: Matrix) -> None:
    one, pairs = Partition.one_class(4), Partition.from_labels([0, 1, 0, 1])
    assert commutes(partition_matrix(one), RUNNING_Q)
    assert not commutes(partition_matrix(one), K, 1e-3)
    assert commutes(partition_matrix(pairs), K)
    assert is_counting(K, pairs)
    assert relift.colour_refinement(K, mode="counting") == pairs
    assert relift.colour_refinement(K) == pairs


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), gamma=st.floats(0.05, 1.0))
@example(seed=8407, gamma=1.0)  # a kernel of 1e-13
def test_the_cross_term_of_the_rbf_kernel_has_a_positive_exponent(seed: int, gamma: float) -> None:
    x, y = np.random.default_rng(seed).standard_normal((2, 3))
    kernel = np.exp(-2 * gamma**2 * np.sum((x - y) ** 2))
    sizes = np.exp(-2 * gamma**2 * (x @ x)) * np.exp(-2 * gamma**2 * (y @ y))
    # Far points have kernels below the absolute tolerance that `approx` adds by itself: only the ratio counts.
    assert kernel == pytest.approx(sizes * np.exp(+4 * gamma**2 * (x @ y)), rel=1e-9, abs=0)
    if abs(x @ y) > 0.1:
        assert kernel != pytest.approx(sizes * np.exp(-4 * gamma**2 * (x @ y)), rel=1e-4, abs=0)
