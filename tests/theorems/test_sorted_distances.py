"""Points of one orbit have equal sorted distances; equal sorted distances do not make an orbit."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.theorems.helpers import Matrix

import relift

POINTS = np.array([[0.0, 0], [0, 1], [0, 2], [1, 1], [1, 3]])


def squared_distances(points: Matrix) -> Matrix:
    return ((points[:, None] - points[None]) ** 2).sum(axis=2)


def isometries(points: Matrix) -> list[tuple[int, ...]]:
    """All renamings that keep every distance."""
    D = squared_distances(points)
    return [order for order in permutations(range(len(points))) if np.array_equal(D[np.ix_(order, order)], D)]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_points_of_one_orbit_have_equal_sorted_distances(seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 2, (5, 3)).astype(float)
    lists = np.sort(squared_distances(points), axis=1)
    for order in isometries(points):
        assert np.array_equal(lists[list(order)], lists)


def counting(D: np.ndarray) -> relift.Partition:
    found = relift.colour_refinement(D, mode="counting")
    assert isinstance(found, relift.Partition)
    return found


def test_points_3_and_4_have_equal_lists_and_no_isometry_exchanges_them() -> None:
    lists = np.sort(squared_distances(POINTS), axis=1)
    assert lists[2].tolist() == lists[3].tolist() == [0, 1, 2, 2, 4]
    assert all(order[2] != 3 for order in isometries(POINTS))


def test_colour_refinement_of_the_distances_tells_them_apart() -> None:
    classes = counting(squared_distances(POINTS)).labels
    assert classes[2] != classes[3]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_sorted_lists_are_one_round_of_the_refinement_that_settles_it(seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 3, (6, 2)).astype(float)
    D = squared_distances(points)
    classes = counting(D)
    lists = np.unique(np.sort(D, axis=1), axis=0, return_inverse=True)[1]
    assert classes.refines(relift.Partition.from_labels(lists.ravel()))


def test_distances_do_not_see_the_origin() -> None:
    points = np.array([[1.0, 0], [3, 0]])
    assert (0, 1) != (1, 0) in isometries(points)  # exchanging them keeps all distances,
    Q = points @ points.T
    assert not np.array_equal(Q[::-1, ::-1], Q)  # and is no renaming of Q = BB'
    assert counting(squared_distances(points)).n_classes == 1
    assert counting(Q).n_classes == 2
