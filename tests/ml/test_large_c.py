"""LiftedSVC keeps SVC's accuracy and its gap for every C and gamma, with few and many examples, two labels and more."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

from sklearn.datasets import load_digits, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from relift.ml import LiftedSVC, LiftedSVR, compiled, dual


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0, 100.0, 1000.0])
@pytest.mark.parametrize("n_features", [5, 20])
def test_accuracy_and_gap_hold_for_every_c_and_gamma(C: float, n_features: int) -> None:
    X, y = make_classification(
        1600, n_features, n_informative=4, n_redundant=0, flip_y=0.05, class_sep=0.7, random_state=0
    )
    X = StandardScaler().fit_transform(X)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    for factor in (0.1, 1.0, 10.0):
        gamma = factor / n_features
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            model = LiftedSVC(C=C, gamma=gamma).fit(train, y_train)
        theirs = SVC(C=C, gamma=gamma).fit(train, y_train)
        assert model.gap_ <= 0.01
        assert abs(model.score(test, y_test) - theirs.score(test, y_test)) <= 0.004  # three of 800 examples


def test_ten_labels_are_those_of_svc() -> None:
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for C in (0.1, 1000.0):
        model, theirs = LiftedSVC(C=C).fit(X[::2], y[::2]), SVC(C=C).fit(X[::2], y[::2])
        assert model.gap_ <= 0.01
        assert (model.predict(X[1::2]) == theirs.predict(X[1::2])).mean() >= 0.998


def test_few_examples_are_never_clustered() -> None:
    X, y = make_blobs(480, centers=3, cluster_std=3.0, random_state=0)
    model = LiftedSVC().fit(X, y)
    assert {line["stage"] for report in model.lift_report_ for line in report["rounds"]} == {"examples"}


def test_pairs_of_many_examples_share_clusters_and_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dual, "CLASSES_FROM", 500)
    X, y = make_blobs(1800, centers=3, cluster_std=3.0, random_state=0)
    every: tuple[dict[str, Any], ...] = ({}, {"expansion": "landmarks"})
    for arguments in every:
        model, theirs = LiftedSVC(gamma=0.1, **arguments).fit(X, y), SVC(gamma=0.1).fit(X, y)
        assert all(report["rounds"][0]["stage"] == "classes" for report in model.lift_report_)
        assert model.gap_ <= 0.01
        assert (model.predict(X) == theirs.predict(X)).mean() > 0.98
        assert model.n_classes_lifted_ < 3 * 1200


def test_the_scale_of_the_report_proves_the_gap() -> None:
    X, y = make_classification(700, 20, n_informative=12, class_sep=1.5, random_state=0)
    sign = np.where(y == 1, 1.0, -1.0)
    model = LiftedSVC(C=1e4).fit(X, y)
    report = model.lift_report_[0]
    values = report["scale"] * model.decision_function(X)
    square = report["scale"] ** 2 * float(
        model.dual_coef_[0] @ (model.decision_function(X[model.support_]) - model.intercept_[0])
    )
    primal = 0.5 * square + 1e4 * np.maximum(0.0, 1 - sign * values).sum()
    assert report["scale"] >= 1.0
    assert (primal - report["dual_value"]) / report["dual_value"] == pytest.approx(model.gap_, abs=2e-3)
    assert model.gap_ <= 0.01


def test_max_iter_is_a_limit_that_is_told() -> None:
    X, y = make_classification(400, 5, flip_y=0.2, random_state=0)
    for estimator in (LiftedSVC, LiftedSVR):
        with pytest.warns(ConvergenceWarning, match=r"the proved gap is .*, not 0.01. Raise max_iter or tol_gap"):
            model = estimator(C=1000.0, max_iter=10).fit(X, y)
        assert model.gap_ > 0.01
        assert int(np.max(model.n_iter_)) == 10


def test_without_a_compiler_the_twin_gives_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_blobs(90, centers=3, cluster_std=3.0, random_state=0)
    quick = LiftedSVC(gamma=0.2).fit(X, y)
    monkeypatch.setattr(compiled, "CORE_IS_COMPILED", False)
    slow = LiftedSVC(gamma=0.2).fit(X, y)
    assert slow.gap_ <= 0.01
    np.testing.assert_allclose(slow.decision_function(X), quick.decision_function(X), atol=0.05)
    regressor = LiftedSVR().fit(X, X[:, 0])
    assert regressor.gap_ <= 0.01


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "linear", "precomputed", "callable"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_decision_values_of_several_labels_are_sums_over_each_pair(kernel: str, is_sparse: bool) -> None:
    if is_sparse and kernel in ("precomputed", "callable"):
        pytest.skip("not for sparse examples")
    X, y = make_blobs(90, n_features=3, centers=4, cluster_std=3.0, random_state=0)
    X = X / 5.0
    weights = np.ones(90)
    weights[:7] = 0.0
    given: Any = sparse.csr_matrix(X) if is_sparse else X
    name: Any = rbf_kernel if kernel == "callable" else kernel
    if kernel == "precomputed":
        given = rbf_kernel(X)
    model = LiftedSVC(kernel=name, gamma=0.3, coef0=0.1, tol=1e-5, tol_gap=1e-6, decision_function_shape="ovo")
    theirs = SVC(kernel=name, gamma=0.3, coef0=0.1, tol=1e-6, decision_function_shape="ovo")
    examples = given
    if kernel in ("precomputed", "callable"):  # SVC mixes up the rows of a matrix when weights are zero
        theirs, examples = theirs.set_params(kernel="rbf", gamma=1 / 3), X
    model.fit(given, y, weights)
    theirs.fit(examples, y, weights)
    tolerance = 0.05 if kernel == "sigmoid" else 5e-3
    np.testing.assert_allclose(model.decision_function(given), theirs.decision_function(examples), atol=tolerance)
    classes = model.class_of_sample_
    assert classes.shape == (90, 6)
    for number, (i, j) in enumerate([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]):
        takes_part = np.isin(y, [i, j]) & (weights > 0)
        np.testing.assert_array_equal(classes[:, number] >= 0, takes_part)
    assert classes.max() + 1 == model.n_classes_lifted_
