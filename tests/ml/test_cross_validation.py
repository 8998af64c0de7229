"""The scores of a grid search are those of GridSearchCV over SVC, at every point of the grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from relift.ml import LiftedSVCCV
from relift.ml.validation import ClassWeight


def imbalanced() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(900, 6, n_informative=4, weights=[0.95], flip_y=0.02, random_state=1)


DATA: dict[str, Any] = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine, three labels": lambda: load_wine(return_X_y=True),
    "digits, ten labels": lambda: tuple(part[::3] for part in load_digits(return_X_y=True)),
    "imbalanced": imbalanced,
    "moons": lambda: make_moons(800, noise=0.3, random_state=0),
    "noisy, ten features": lambda: make_classification(700, 10, n_informative=6, flip_y=0.1, random_state=0),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_every_score_of_the_grid_is_that_of_svc(name: str, class_weight: ClassWeight) -> None:
    X, y = DATA[name]()
    X = StandardScaler().fit_transform(X)
    gammas, Cs = [0.1 / X.shape[1], 1 / X.shape[1], 10 / X.shape[1]], [0.1, 10.0, 1000.0]
    quick = LiftedSVCCV(gammas=gammas, Cs=Cs, cv=3, class_weight=class_weight).fit(X, y)
    plain = GridSearchCV(SVC(class_weight=class_weight), {"C": Cs, "gamma": gammas}, cv=3).fit(X, y)
    assert quick.search_gap_ is not None
    assert quick.search_gap_ <= 0.01
    np.testing.assert_allclose(
        quick.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=0, atol=0.005
    )
    assert quick.cv_results_["params"] == plain.cv_results_["params"]


def test_scoring_and_train_scores_are_those_of_grid_search() -> None:
    X, y = imbalanced()
    grid: dict[str, Any] = {"C": [1.0, 30.0], "gamma": [0.1, 0.5]}
    for scoring in ("roc_auc", "f1", "balanced_accuracy"):
        quick = LiftedSVCCV(
            gammas=grid["gamma"], Cs=grid["C"], cv=3, scoring=scoring, return_train_score=True, refit=False
        ).fit(X, y)
        plain = GridSearchCV(SVC(), grid, cv=3, scoring=scoring, return_train_score=True, refit=False).fit(X, y)
        for key in ("mean_test_score", "split1_test_score", "mean_train_score", "std_train_score"):
            np.testing.assert_allclose(quick.cv_results_[key], plain.cv_results_[key], atol=0.01)


def test_a_scoring_function_gets_the_fitted_machine() -> None:
    X, y = make_moons(300, noise=0.3, random_state=0)

    def few_vectors(machine: Any, X: Any, y: Any) -> float:
        return float(machine.score(X, y)) - 1e-6 * len(machine.support_)

    model = LiftedSVCCV(gammas=[1.0], Cs=[1.0, 10.0], cv=3, scoring=few_vectors).fit(X, y)
    assert model.search_gap_ is None
    assert model.gap_ <= 0.01


@pytest.mark.parametrize("kernel", ["poly", "sigmoid", "linear"])
def test_other_kernels_are_searched(kernel: str) -> None:
    X, y = make_moons(240, noise=0.25, random_state=0)
    Cs, gammas = [0.5, 5.0], [0.1]
    quick = LiftedSVCCV(gammas=gammas, Cs=Cs, cv=3, kernel=kernel, coef0=0.5, degree=2).fit(X, y)
    grid = {"C": Cs} if kernel == "linear" else {"C": Cs, "gamma": gammas}
    plain = GridSearchCV(SVC(kernel=kernel, coef0=0.5, degree=2), grid, cv=3).fit(X, y)
    assert quick.cv_results_["params"] == plain.cv_results_["params"]
    # A sigmoid kernel has many stationary points.
    atol = 0.02 if kernel == "sigmoid" else 0.005
    np.testing.assert_allclose(quick.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=atol)


def test_threads_sparse_examples_and_repeated_rows_change_nothing() -> None:
    X, y = make_moons(300, noise=0.3, random_state=0)
    X, y = np.concatenate([X, X[:60]]), np.concatenate([y, y[:60]])
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    arguments: dict[str, Any] = {"gammas": [0.5, 2.0], "Cs": [1.0, 50.0], "cv": folds}
    one = LiftedSVCCV(**arguments).fit(X, y)
    two = LiftedSVCCV(**arguments, n_jobs=2).fit(X, y)
    thin = LiftedSVCCV(**arguments).fit(sparse.csr_matrix(X), y)
    plain = GridSearchCV(SVC(), {"C": [1.0, 50.0], "gamma": [0.5, 2.0]}, cv=folds).fit(X, y)
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    for other in (thin, plain):
        np.testing.assert_allclose(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], atol=0.005)


def test_an_open_gap_of_the_search_is_told() -> None:
    X, y = make_moons(300, noise=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"1 of 1 points of the grid have machines whose proved gap is above"):
        model = LiftedSVCCV(gammas=[1.0], Cs=[100.0], cv=3, max_iter=5, refit=False).fit(X, y)
    assert model.search_gap_ is not None
    assert model.search_gap_ > 0.01


def test_without_refit_nothing_is_predicted() -> None:
    X, y = make_moons(120, noise=0.3, random_state=0)
    model = LiftedSVCCV(gammas=[1.0], Cs=[1.0], cv=3, refit=False).fit(X, y)
    assert model.best_params_ == {"C": 1.0, "gamma": 1.0}
    assert not hasattr(model, "best_estimator_")
    with pytest.raises(AttributeError, match="fitted with refit=False: predict needs the best parameters"):
        model.predict(X)


def test_a_fold_without_one_of_two_labels_is_refused() -> None:
    X, y = make_moons(40, noise=0.1, random_state=0)
    zeros, ones = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    with pytest.raises(ValueError, match="The training examples of fold 0 belong to the same class"):
        LiftedSVCCV(gammas=[1.0], Cs=[1.0], cv=[(zeros, ones)]).fit(X, y)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(60, 200), st.integers(1, 7), st.integers(2, 4), st.booleans())
def test_no_split_is_more_than_one_held_out_example_from_a_converged_svc(
    seed: int, n: int, n_features: int, n_labels: int, rounded: bool
) -> None:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, n_features))
    X = np.round(X) if rounded else X
    score = X[:, 0] + 0.5 * random.standard_normal(n)
    y = np.digitize(score, np.quantile(score, np.sort(random.uniform(0.1, 0.9, n_labels - 1))))
    counts = np.bincount(y)
    assume(len(counts) > 1 and counts[counts > 0].min() >= 6)
    gammas, Cs = [0.1 / n_features, 1 / n_features, 10 / n_features], [0.1, 1.0, 1000.0]
    quick = LiftedSVCCV(gammas=gammas, Cs=Cs, cv=3, refit=False).fit(X, y)
    plain = GridSearchCV(SVC(tol=1e-6), {"C": Cs, "gamma": gammas}, cv=3, refit=False).fit(X, y)
    for split in range(3):
        found, expected = (search.cv_results_[f"split{split}_test_score"] for search in (quick, plain))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1.01 / (n // 3))
