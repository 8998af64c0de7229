"""What a PyTorch device computes is what the CPU computes: labels to the last point, kernels up to rounding."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.data import data_folder

import relift
from relift.errors import MissingPackageError, OptionError
from relift.ml import compiled, device_kernels, device_labels, point_signatures

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")


def devices() -> list[str]:
    if not HAS_TORCH:
        return ["cpu"]
    import torch

    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


grids = arrays(np.float64, st.tuples(st.integers(2, 60), st.integers(1, 4)), elements=st.integers(-3, 3))
clouds = arrays(
    np.float64, st.tuples(st.integers(2, 60), st.integers(1, 20)), elements=st.floats(-1e3, 1e3, allow_subnormal=False)
)


class FixedCentres:
    """A clusterer that takes some signatures as centres: ties and near ties are the rule."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def fit(self, signatures: np.ndarray) -> FixedCentres:
        chosen = np.linspace(0, len(signatures) - 1, self.n_classes).astype(int)
        self.cluster_centers_ = signatures[chosen]
        return self


@needs_torch
@pytest.mark.parametrize("device", devices())
@settings(max_examples=100, deadline=None)
@given(st.one_of(grids, clouds), st.integers(1, 6), st.integers(1, 40), st.integers(0, 5))
def test_labels_of_a_device_equal_direct_evaluation(
    device: str, B: np.ndarray, n_classes: int, anchors: int, seed: int
) -> None:
    n_classes = min(n_classes, len(B), anchors)
    found = relift.approximate_orbits(
        B, n_classes, anchors, clusterer=FixedCentres(n_classes), random_state=seed, device=device
    )
    np.testing.assert_array_equal(found.labels, found.direct_labels(B))


@needs_torch
@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("n_features", [1, 2, 3, 5, 9, 40])
def test_labels_and_centres_of_a_device_are_those_of_the_cpu(
    device: str, n_features: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(n_features)
    B = random.standard_normal((4000, n_features)) * random.uniform(0.5, 5.0, n_features) + 7.0
    B = np.concatenate([B, B[:50]])
    monkeypatch.setattr(device_labels, "BLOCK_BYTES", 1 << 22)  # many blocks, many levels
    here, there = (relift.approximate_orbits(B, 4, anchors=150, device=place) for place in (None, device))
    np.testing.assert_array_equal(here.centres, there.centres)
    np.testing.assert_array_equal(here.labels, there.labels)


@needs_torch
@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e12])
@pytest.mark.parametrize("whiten", [False, True])
def test_labels_of_a_device_do_not_depend_on_units(scale: float, whiten: bool) -> None:
    B = scale * (np.random.default_rng(0).standard_normal((3000, 3)) * [1, 2, 5] + 7.0)
    found = relift.approximate_orbits(B, 4, anchors=200, whiten=whiten, device="cpu")
    np.testing.assert_array_equal(found.labels, found.direct_labels(B))


@needs_torch
def test_a_device_labels_cells_not_points() -> None:
    B = np.random.default_rng(0).uniform(size=(30_000, 2))
    found = relift.approximate_orbits(B, 3, anchors=100, device="cpu")
    assert found.n_signatures < 15_000


@needs_torch
def test_points_that_rounding_could_decide_are_left_to_the_cpu() -> None:
    B = np.array([[-1.0], [0.0], [1.0], [3.0]])
    centres = point_signatures._signatures(B[[0, 3]], B)
    middle = (centres[0] + centres[1]) / 2  # a third centre half-way: ties everywhere
    labels, _ = device_labels.label_on_device(B, B, np.stack([centres[0], centres[0], middle]), "cpu")
    assert set(labels.tolist()) <= {-1, 0, 2}, "of equal centres the first is taken"


@needs_torch
def test_bunny_labels_of_a_device_are_those_of_the_cpu() -> None:
    B = np.load(data_folder("scans") / "bunny.npz")["points"]
    here, there = (relift.approximate_orbits(B, 5, anchors=200, device=place) for place in (None, "cpu"))
    np.testing.assert_array_equal(here.labels, there.labels)


@needs_torch
@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "sigmoid"])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_kernels_of_a_device_are_those_of_the_cpu(
    device: str, kernel: str, precision: type[np.float32] | type[np.float64], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_kernels, "BLOCK_BYTES", 24 * 31 * 10)  # blocks of ten rows
    random = np.random.default_rng(0)
    X: Any = random.standard_normal((57, 6)).astype(precision)
    S: Any = random.standard_normal((31, 6)).astype(precision)
    weights = random.standard_normal((31, 2))
    parameters = (kernel, 0.3, 0.7, 3)
    accuracy = 1e-12 if precision is np.float64 else 1e-5
    expected = [compiled.kernel_sums(X, S, np.ascontiguousarray(column), *parameters) for column in weights.T]
    sums = device_kernels.kernel_sums(X, S, weights, *parameters, device)
    np.testing.assert_allclose(sums, np.column_stack(expected), rtol=accuracy, atol=100 * accuracy)
    sums = device_kernels.kernel_sums(X, S, weights[:, 0], *parameters, device)
    np.testing.assert_allclose(sums, expected[0], rtol=accuracy, atol=100 * accuracy)


@needs_torch
def test_machines_predict_on_a_device_what_they_predict_on_the_cpu() -> None:
    random = np.random.default_rng(0)
    X = random.standard_normal((700, 3))
    y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * X[:, 2], [-0.3, 0.4])
    names = ("LiftedSVC", "LiftedNuSVC", "LiftedSVR", "LiftedNuSVR", "LiftedOneClassSVM")
    for name in names:
        estimator = getattr(relift.ml, name)
        options = {"nu": 0.2} if "Nu" in name or "One" in name else {}
        here = estimator(**options).fit(X, y)
        there = estimator(device="cpu", **options).fit(X, y)
        decide = "predict" if name.endswith("SVR") else "decision_function"
        np.testing.assert_allclose(getattr(there, decide)(X), getattr(here, decide)(X), atol=1e-4, err_msg=name)


def test_a_device_that_is_not_there_is_refused() -> None:
    B = np.zeros((4, 2))
    if not HAS_TORCH:
        with pytest.raises(MissingPackageError, match=r"device='cuda' needs PyTorch\. Install it: pip install torch"):
            relift.approximate_orbits(B, 1, device="cuda")
        return
    with pytest.raises(OptionError, match=r"device='nonsense' cannot be used: .*nonsense"):
        relift.approximate_orbits(B, 1, device="nonsense")
    with pytest.raises(OptionError, match=r"device='nonsense' cannot be used"):
        relift.ml.LiftedSVC(device="nonsense").fit([[0.0], [1.0]], [0, 1])
