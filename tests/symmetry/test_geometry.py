"""The geometry of fractional symmetry: factors, rotations, rescalings (Theorem 2 and the four vectors of the paper)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import relift
from relift.errors import AsymmetricError, NonConvexError, NotANumberError, PartitionError, ShapeError
from relift.symmetry.colour_refinement import colour_refinement
from relift.symmetry.geometry import (
    commuting_factor,
    four_vectors,
    linear_symmetry,
    orbits_of,
    point_symmetries,
    semidefinite_factor,
)
from relift.symmetry.partition import Partition
from relift.testing.random_programs import symmetric_program


def rotation(degrees: float) -> np.ndarray:
    angle = np.deg2rad(degrees)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def test_the_factor_has_the_rank_of_the_matrix() -> None:
    for seed in range(100):
        random = np.random.default_rng(seed)
        n, rank = int(random.integers(1, 9)), int(random.integers(0, 9))
        G = random.standard_normal((n, min(n, rank))) * 10.0 ** random.integers(-3, 4)
        Q = G @ G.T
        B = semidefinite_factor(sparse.csc_array(Q) if seed % 2 else Q)
        assert B.shape == (n, min(n, rank))
        np.testing.assert_allclose(B @ B.T, Q, atol=1e-12 * max(1e-300, np.abs(Q).max(initial=0.0)) + 1e-300)


def test_the_factor_refuses_what_has_none() -> None:
    with pytest.raises(NonConvexError, match=r"Q has the eigenvalue -1. Only semidefinite matrices have a factor"):
        semidefinite_factor([[0, 1], [1, 0]])
    with pytest.raises(AsymmetricError, match=r"Q\[0, 1\] = 1, but Q\[1, 0\] = 0"):
        semidefinite_factor([[1, 1], [0, 1]])
    with pytest.raises(ShapeError, match=r"Q is 1 x 2. It must be square"):
        semidefinite_factor([[1, 1]])
    with pytest.raises(NotANumberError, match=r"Q\[0, 0\] is nan"):
        semidefinite_factor([[np.nan]])
    assert semidefinite_factor(np.zeros((0, 0))).shape == (0, 0)
    assert semidefinite_factor(np.zeros((3, 3))).shape == (3, 0)


def test_a_partition_is_equitable_for_q_if_and_only_if_r_exists_and_is_symmetric() -> None:
    n_commuting = 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        P = symmetric_program(seed, quadratic=True, copies=3).program.P.toarray()
        B = semidefinite_factor(P)
        if seed % 2:
            partition = colour_refinement(P)
            assert isinstance(partition, Partition)
        else:
            partition = Partition.from_labels(random.integers(0, 5, len(P)))
        S = partition.indicator.toarray()
        X = S @ np.diag(1 / partition.class_sizes) @ S.T
        distance = np.abs(X @ P - P @ X).max() / max(1e-300, np.abs(P).max())
        factor = commuting_factor(B, partition)
        assert factor.commutes == (distance < 1e-9)
        if factor.commutes:
            n_commuting += 1
            np.testing.assert_allclose(X @ B, B @ factor.matrix, atol=1e-9 * np.abs(B).max())
    assert 70 < n_commuting < 150


def test_neither_full_rank_nor_idempotence_is_needed() -> None:
    B = np.array([[1.0, 0, 1], [-1, 0, -1], [0, 2, 0], [0, -2, 0]])  # rank 2, three columns
    assert commuting_factor(B, Partition.from_labels([0, 0, 1, 1])).commutes


def test_the_four_vectors() -> None:
    B, Q = four_vectors(), four_vectors() @ four_vectors().T
    turn = rotation(-45).T  # points are rows
    M = turn @ np.diag([np.sqrt(2), np.sqrt(0.5)]) @ turn
    found = linear_symmetry(B, [3, 0, 1, 2])
    assert found.residual < 1e-12
    assert not found.is_orthogonal
    np.testing.assert_allclose(found.matrix, M, atol=1e-12)
    powers = [np.linalg.matrix_power(found.matrix, k) for k in (1, 2, 3, 4)]
    np.testing.assert_allclose(powers[3], np.eye(2), atol=1e-12)
    np.testing.assert_allclose(sum(powers), 0, atol=1e-12)
    assert not np.allclose(B @ found.matrix @ found.matrix.T @ B.T, Q)  # no renaming of Q
    order = np.array([3, 0, 1, 2])
    assert not np.allclose(Q[np.ix_(order, order)], Q)
    half = linear_symmetry(B, [2, 3, 0, 1])
    np.testing.assert_allclose(half.matrix, rotation(180), atol=1e-12)
    # The averages over the group of M vanish, so one class of all four commutes with Q: a fractional symmetry.
    assert commuting_factor(B, Partition.one_class(4)).commutes
    assert colour_refinement(Q.round(12)).n_classes == 1  # type: ignore[union-attr]
    assert colour_refinement(Q.round(12), mode="counting").n_classes == 2  # type: ignore[union-attr]


def test_rotations_and_rescalings_of_the_four_vectors_are_found() -> None:
    pytest.importorskip("igraph", reason="the automorphism group needs igraph")
    B = four_vectors()
    rotations = point_symmetries(B)
    assert rotations
    assert all(symmetry.is_orthogonal for symmetry in rotations)
    assert orbits_of(rotations, 4).labels.tolist() == [0, 1, 0, 1]
    linear = point_symmetries(B, "linear")
    assert orbits_of(linear, 4).n_classes == 1
    assert not all(symmetry.is_orthogonal for symmetry in linear)
    for symmetry in (*rotations, *linear):
        np.testing.assert_allclose(B[symmetry.permutation], B @ symmetry.matrix, atol=1e-9)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8])
def test_regular_polygons_have_one_orbit_in_any_position(n: int) -> None:
    pytest.importorskip("igraph", reason="the automorphism group needs igraph")
    angles = 2 * np.pi * np.arange(n) / n
    points = np.column_stack([np.cos(angles), np.sin(angles)]) @ rotation(17)
    symmetries = point_symmetries(points)
    assert orbits_of(symmetries, n).n_classes == 1
    assert all(symmetry.is_orthogonal for symmetry in symmetries)
    stretched = points @ np.diag([3.0, 1.0]) @ rotation(31)
    assert orbits_of(point_symmetries(stretched, "linear"), n).n_classes == 1
    assert orbits_of(point_symmetries(stretched), n).n_classes > 1


def test_points_that_span_less_than_the_space_are_turned_too() -> None:
    pytest.importorskip("igraph", reason="the automorphism group needs igraph")
    flat = np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, 0, 0], [0, -1.0, 0]])
    symmetries = point_symmetries(flat)
    assert orbits_of(symmetries, 4).n_classes == 1
    assert all(symmetry.is_orthogonal for symmetry in symmetries)


def test_points_without_symmetry_have_none() -> None:
    pytest.importorskip("igraph", reason="the automorphism group needs igraph")
    random = np.random.default_rng(0)
    assert point_symmetries(random.standard_normal((9, 3))) == ()
    assert point_symmetries(np.ones((1, 2))) == ()


def test_rotations_refine_the_counting_partition() -> None:
    pytest.importorskip("igraph", reason="the automorphism group needs igraph")
    for seed in range(20):
        random = np.random.default_rng(seed)
        some = random.integers(-2, 3, (2, 2))
        points = np.unique(np.concatenate([some, -some, some @ [[0, 1], [-1, 0]]]), axis=0).astype(float)
        counting = relift.kernel_partition(points, "linear")
        assert orbits_of(point_symmetries(points), len(points)).refines(counting)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(PartitionError, match="classes of 3 rows do not fit a matrix with 2 rows"):
        commuting_factor(np.eye(2), Partition.one_class(3))
    with pytest.raises(PartitionError, match=r"not a permutation of 2 rows. Give each of 0 .. 1 once"):
        linear_symmetry(np.eye(2), [0, 0])
    with pytest.raises(ShapeError, match=r"B has 1 dimensions. A matrix has two"):
        commuting_factor([1.0, 2.0], Partition.one_class(2))  # type: ignore[list-item]
