"""Approximate orbits: quick labels are those of direct evaluation, always."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.data import data_folder

import relift
from relift.errors import NotANumberError, OptionError, ShapeError
from relift.ml import compiled

needs_sklearn = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None, reason="without a clusterer, scikit-learn's is taken"
)


class FixedCentres:
    """A clusterer that takes some signatures as centres: ties and near ties are the rule."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def fit(self, signatures: np.ndarray) -> FixedCentres:
        chosen = np.linspace(0, len(signatures) - 1, self.n_classes).astype(int)
        self.cluster_centers_ = signatures[chosen]
        return self


grids = arrays(np.float64, st.tuples(st.integers(2, 60), st.integers(1, 4)), elements=st.integers(-3, 3))
clouds = arrays(
    np.float64, st.tuples(st.integers(2, 60), st.integers(1, 4)), elements=st.floats(-1e3, 1e3, allow_subnormal=False)
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(grids, clouds), st.integers(1, 6), st.integers(1, 40), st.integers(0, 5))
def test_labels_equal_direct_evaluation(B: np.ndarray, n_classes: int, anchors: int, seed: int) -> None:
    n_classes = min(n_classes, len(B), anchors)
    found = relift.approximate_orbits(B, n_classes, anchors, clusterer=FixedCentres(n_classes), random_state=seed)
    np.testing.assert_array_equal(found.labels, found.direct_labels(B))


@pytest.mark.skipif(not compiled.CORE_IS_COMPILED, reason="relift._ml_core is not compiled")
def test_points_on_neighbouring_numbers_are_parted() -> None:
    below = np.float32(0.7)
    for _ in range(4):  # of even and of odd last digit: the middle of two may round to either
        above = np.nextafter(below, np.float32(2.0))
        X = np.array([[below], [above]], dtype=np.float32)
        anchors = np.array([[0.0], [1.0]], dtype=np.float32)
        signatures = np.sort(np.abs(X.astype(float) - anchors.T.astype(float)), axis=1) / np.sqrt(2)
        labels, _ = compiled.label_by_signature(X, anchors, signatures)
        assert set(labels.tolist()) <= {-1, 0, 1}
        below = above


@needs_sklearn
@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1.0, 1e12])
@pytest.mark.parametrize("whiten", [False, True])
def test_labels_equal_direct_evaluation_on_a_shape(scale: float, whiten: bool) -> None:
    random = np.random.default_rng(0)
    B = scale * (random.standard_normal((3000, 3)) * [1, 2, 5] + 7.0)
    found = relift.approximate_orbits(B, 4, anchors=200, whiten=whiten)
    np.testing.assert_array_equal(found.labels, found.direct_labels(B))
    assert found.partition.n_classes <= 4


@needs_sklearn
def test_points_of_one_orbit_share_a_class() -> None:
    angles = np.arange(12) * np.pi / 6
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    B = np.concatenate([circle, 3 * circle, [[0.0, 0.0]]])
    found = relift.approximate_orbits(B, 3)
    assert found.partition.labels.tolist() == [0] * 12 + [1] * 12 + [2]


@needs_sklearn
def test_few_signatures_label_many_points() -> None:
    if not compiled.CORE_IS_COMPILED:
        pytest.skip("relift._ml_core is not compiled: every point is labelled directly")
    B = np.random.default_rng(0).uniform(size=(50_000, 2))
    found = relift.approximate_orbits(B, 3, anchors=300)
    assert found.n_signatures < 15_000


@needs_sklearn
def test_another_clusterer_and_one_class() -> None:
    from sklearn.cluster import KMeans

    B = np.random.default_rng(1).standard_normal((200, 3))
    found = relift.approximate_orbits(B, 3, clusterer=KMeans(3, n_init=1, random_state=0))
    np.testing.assert_array_equal(found.labels, found.direct_labels(B))
    assert relift.approximate_orbits(B, 1).labels.tolist() == [0] * 200


@needs_sklearn
def test_equal_points_have_one_label() -> None:
    found = relift.approximate_orbits(np.ones((20, 3)), 1)
    assert set(found.labels.tolist()) == {0}


def test_bad_input_is_refused_by_name() -> None:
    B = np.zeros((4, 2))
    with pytest.raises(ShapeError, match=r"B has shape \(4,\)"):
        relift.approximate_orbits(np.zeros(4))
    with pytest.raises(ShapeError):
        relift.approximate_orbits(np.zeros((0, 2)))
    with pytest.raises(NotANumberError, match=r"B\[1, 0\] is nan"):
        relift.approximate_orbits([[0.0], [np.nan]])
    with pytest.raises(OptionError, match="n_classes=5 for 4 points"):
        relift.approximate_orbits(B, 5)
    with pytest.raises(OptionError, match="anchors=0"):
        relift.approximate_orbits(B, 2, anchors=0)

    class Nothing:
        def fit(self, X: np.ndarray) -> Nothing:
            return self

    with pytest.raises(OptionError, match="no fitted cluster_centers_"):
        relift.approximate_orbits(B, 2, clusterer=Nothing())


@needs_sklearn
def test_bunny_labels_equal_direct_evaluation() -> None:
    B = np.load(data_folder("scans") / "bunny.npz")["points"]
    found = relift.approximate_orbits(B, 5, anchors=500)
    np.testing.assert_array_equal(found.labels, found.direct_labels(B))
