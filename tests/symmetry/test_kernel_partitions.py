"""Counting partitions of points survive kernels; sum-based ones do not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import relift
from relift.errors import NotANumberError, OptionError, ShapeError
from relift.symmetry.colour_refinement import colour_refinement
from relift.symmetry.kernel_partitions import kernel_partition
from relift.symmetry.partition import Partition

# The running example: Q = BB', whose coarsest equitable partition is one class, its counting partition two.
B = np.array([[1.0, 0.0], [0.0, math.sqrt(2)], [-1.0, 0.0], [0.0, -math.sqrt(2)]])
Q = np.array([[1.0, 0, -1, 0], [0, 2, 0, -2], [-1, 0, 1, 0], [0, -2, 0, 2]])


def polynomial(gram: np.ndarray, degree: int) -> np.ndarray:
    return (gram + 1.0) ** degree


def gaussian(gram: np.ndarray, gamma: float = 0.5) -> np.ndarray:
    squares = np.diag(gram)
    return np.exp(-gamma * (squares[:, None] - 2 * gram + squares[None, :]))


def is_equitable(K: np.ndarray, partition: Partition) -> bool:
    """Row sums of K into each class are equal inside a class."""
    sums = K @ partition.indicator.toarray()
    return bool(np.allclose(sums, sums[partition.representatives][partition.labels], rtol=1e-10, atol=1e-12))


def is_counting(K: np.ndarray, partition: Partition) -> bool:
    """Multisets of entries of K into each class are equal inside a class, up to rounding of K, and diagonals too."""
    for label in range(partition.n_classes):
        into = np.sort(K[:, partition.members(label)], axis=1)
        if not np.allclose(into, into[partition.representatives][partition.labels], rtol=1e-10, atol=1e-12):
            return False
    diagonal = np.diag(K)
    return bool(np.allclose(diagonal, diagonal[partition.representatives][partition.labels], rtol=1e-10))


def symmetric_points(seed: int) -> np.ndarray:
    """Integer points closed under a group of the square or the cube, some with a random centre."""
    random = np.random.default_rng(seed)
    dimension = int(random.integers(2, 4))
    some = random.integers(-3, 4, (int(random.integers(1, 4)), dimension))
    flips = np.array(np.meshgrid(*[[1, -1]] * dimension)).reshape(dimension, -1).T
    turned = [
        row[list(order)] * flip
        for row in some
        for flip in flips
        for order in ([0, 1, 2], [1, 0, 2])
        for order in [order[:dimension]]
    ]
    points = np.unique(np.array(turned), axis=0).astype(float)
    centre = random.integers(-1, 2, dimension) * 0.1
    return (points[random.permutation(len(points))] / 10 + centre).round(9)


def test_the_counting_partition_of_the_running_example_survives_every_kernel() -> None:
    counting = colour_refinement(Q, mode="counting")
    assert isinstance(counting, Partition)
    assert counting.labels.tolist() == [0, 1, 0, 1]
    for K in (polynomial(Q, 2), polynomial(Q, 3), polynomial(Q, 5), gaussian(Q), gaussian(Q, 2.0)):
        assert is_counting(K, counting)
        assert is_equitable(K, counting)


def test_the_sum_based_partition_of_the_running_example_does_not() -> None:
    equitable = colour_refinement(Q)
    assert isinstance(equitable, Partition)
    assert equitable.n_classes == 1
    assert is_equitable(Q, equitable)
    assert not is_equitable(polynomial(Q, 2), equitable)
    assert not is_equitable(gaussian(Q), equitable)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_classes_are_found_from_the_points_alone(kernel: str) -> None:
    found = kernel_partition(B, kernel, digits=9)  # type: ignore[arg-type]
    assert found.labels.tolist() == [0, 1, 0, 1]


def test_counting_partitions_of_symmetric_points_survive_kernels() -> None:
    n_merged = 0
    for seed in range(150):
        X = symmetric_points(seed)
        gram = X @ X.T
        linear, rbf = kernel_partition(X, "linear"), kernel_partition(X, "rbf")
        for degree in (2, 3, 4):
            assert is_counting(polynomial(gram, degree), linear)
        assert is_counting(gaussian(gram), linear)  # inner products know the distances
        assert is_counting(gaussian(gram), rbf)
        assert linear.refines(rbf)
        assert kernel_partition(X, "poly") == linear
        assert kernel_partition(X, "sigmoid") == linear
        n_merged += rbf.n_classes < len(X)
    assert n_merged > 140


def test_labels_are_kept_apart_and_still_refined() -> None:
    X = symmetric_points(1)
    random = np.random.default_rng(0)
    labels = random.choice(["a", "b"], len(X))
    found = kernel_partition(X, "rbf", labels=labels)
    assert found.refines(kernel_partition(X, "rbf"))
    assert found.refines(Partition.from_labels(np.unique(labels, return_inverse=True)[1]))
    assert is_counting(gaussian(X @ X.T), found)


def test_rounding_of_float_kernels_does_not_decide() -> None:
    # A regular pattern in tenths: float distances of equal pairs differ in their last bits.
    grid = np.array([[i, j] for i in range(5) for j in range(5)]) / 10
    exact = kernel_partition(grid, "rbf")
    assert exact.n_classes == 6  # of a 5 x 5 grid under the symmetries of the square
    by_floats = kernel_partition(grid, lambda X: gaussian(X @ X.T))
    assert by_floats.n_classes > exact.n_classes
    assert kernel_partition(grid, lambda X: gaussian(X @ X.T), digits=9) == exact


def test_turned_points_need_digits() -> None:
    angle = 0.3
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    square = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [0, 0.5]]) @ turn
    assert kernel_partition(square, "rbf", digits=9).labels.tolist() == [0, 1, 0, 1, 2]
    assert kernel_partition(square, "linear", digits=9).labels.tolist() == [0, 1, 0, 1, 2]


def test_equal_sorted_distances_are_not_enough() -> None:
    # The third and fourth point have the same sorted distances, yet no isometry exchanges them.
    X = np.array([[0, 0], [0, 1], [0, 2], [1, 1], [1, 3]])
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    assert sorted(squares[2]) == sorted(squares[3]) == [0, 1, 2, 2, 4]
    found = kernel_partition(X, "rbf")
    assert found.labels[2] != found.labels[3]


def test_distances_do_not_see_the_origin_and_inner_products_do() -> None:
    X = [[1.0, 0.0], [3.0, 0.0]]
    assert kernel_partition(X, "rbf").n_classes == 1
    assert kernel_partition(X, "linear").n_classes == 2


def test_kernels_that_are_constant_tell_nothing_apart() -> None:
    X = [[1.0], [2.0], [4.0]]
    assert kernel_partition(X, "rbf", gamma=0.0).n_classes == 1
    assert kernel_partition(X, "poly", degree=0).n_classes == 1
    assert kernel_partition(X, "rbf", gamma=0.0, labels=[0, 1, 0]).labels.tolist() == [0, 1, 0]


def test_merged_points_have_equal_dual_values_in_the_svm_dual() -> None:
    X = symmetric_points(4)
    y = np.where(np.abs(X - X.mean(axis=0)).sum(axis=1) > 0.3, 1.0, -1.0)
    classes = kernel_partition(X, "rbf", labels=y, gamma=1.0)
    K = gaussian(X @ X.T, 1.0)
    P = np.outer(y, y) * K + 1e-3 * np.eye(len(X))  # strictly convex: one optimum
    program = relift.Program(P=(P + P.T) / 2, q=-np.ones(len(X)), A=y[None, :], l=[0.0], u=[0.0], lb=0, ub=10)
    result = relift.solve(program, lift="none", tolerance=1e-8)
    assert result.x is not None
    np.testing.assert_allclose(result.x, result.x[classes.representatives][classes.labels], atol=1e-4)


def test_empty_and_single_sets() -> None:
    assert kernel_partition(np.zeros((0, 2))).n_classes == 0
    assert kernel_partition([[1.0, 2.0]]).n_classes == 1


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"X has 1 dimensions. Give a matrix with one point in each row"):
        kernel_partition([1.0, 2.0])  # type: ignore[list-item]
    with pytest.raises(NotANumberError, match=r"X\[1, 0\] is nan. Every coordinate must be finite"):
        kernel_partition([[1.0], [np.nan]])
    with pytest.raises(ShapeError, match="labels have 1 entries for 2 points"):
        kernel_partition([[1.0], [2.0]], labels=[1])
    with pytest.raises(OptionError, match=r"kernel='cosine' is not valid. Expected one of: rbf, poly, linear, sigmoid"):
        kernel_partition([[1.0]], "cosine")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"the kernel gave a matrix of shape \(1, 1\) for 2 points"):
        kernel_partition([[1.0], [2.0]], lambda X: np.eye(1))
    with pytest.raises(ShapeError, match="the kernel gave a matrix that is not symmetric"):
        kernel_partition([[1.0], [2.0]], lambda X: np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(NotANumberError, match="the kernel gave a value that is not a finite number"):
        kernel_partition([[1.0], [2.0]], lambda X: np.full((2, 2), np.inf))
