"""The estimators keep scikit-learn's contract and give the answers of its machines."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn", reason="the estimators are scikit-learn's")

from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from relift.ml import (
    LPSVC,
    LiftedLinearSVC,
    LiftedLogisticRegression,
    LiftedNuSVC,
    LiftedSVC,
    LiftedSVCCV,
    LiftedSVR,
)  # fmt: skip

CLASSIFIERS = [LiftedSVC, LiftedLinearSVC, LPSVC, LiftedSVCCV]


@pytest.mark.parametrize(
    "estimator",
    [LiftedSVC(), LiftedSVR(), LiftedLinearSVC(), LPSVC(), LiftedSVCCV(gammas=[0.5], Cs=[1.0], cv=2)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_check_estimator_finds_no_failure(estimator: Any) -> None:
    checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    reason = "gamma='scale' does not count weights, as in SVC and SVR"
    expected = dict.fromkeys(checks, reason) if isinstance(estimator, LiftedSVC | LiftedSVR) else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, expected_failed_checks=expected)
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"] == []


@pytest.fixture(scope="module")
def moons() -> tuple[np.ndarray, np.ndarray]:
    return make_moons(1500, noise=0.25, random_state=0)


# ---- LiftedSVC ----


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "rbf", "gamma": 1.5},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.5},
        {"kernel": "linear"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": "auto", "class_weight": {0: 2.0, 1: 0.5}},
    ],
)
def test_exact_mode_is_svc_on_duplicated_data(parameters: dict) -> None:
    X, y = make_moons(60, noise=0.3, random_state=1)
    repeats = np.random.default_rng(0).integers(1, 6, len(y))
    X, y = np.repeat(X, repeats, axis=0), np.repeat(y, repeats)
    exact = LiftedSVC(lift="exact", **parameters).fit(X, y)
    theirs = SVC(tol=1e-6, **parameters).fit(X, y)
    assert exact.lift_report_[0]["distinct"] == 60
    assert exact.n_classes_lifted_ <= 60
    assert exact.gap_ < 1e-3
    np.testing.assert_allclose(exact.decision_function(X), theirs.decision_function(X), atol=5e-3)
    assert exact.class_of_sample_.shape == (len(y),)


def test_exact_mode_merges_mirror_images() -> None:
    random = np.random.default_rng(0)
    half = random.standard_normal((40, 2))
    X = np.concatenate([half, half * [1, -1]])
    y = (X[:, 0] + 0.5 * random.standard_normal(40).repeat(1)[np.r_[:40, :40]] > 0).astype(int)
    model = LiftedSVC(lift="exact", gamma=1.0).fit(X, y)
    assert model.n_classes_lifted_ == 40
    np.testing.assert_allclose(
        model.decision_function(X), SVC(gamma=1.0, tol=1e-6).fit(X, y).decision_function(X), atol=2e-3
    )


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "sigmoid"])
def test_approximate_mode_agrees_with_svc(moons: tuple, kernel: str) -> None:
    X, y = moons
    parameters: dict[str, Any] = {"kernel": kernel, "gamma": 0.05 if kernel == "sigmoid" else 1.0}
    if kernel == "poly":
        parameters["coef0"] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a sigmoid kernel may have no proof
        model = LiftedSVC(**parameters).fit(X, y)
    theirs = SVC(**parameters).fit(X, y)
    assert (model.predict(X) == theirs.predict(X)).mean() > 0.98
    if kernel != "sigmoid":
        assert model.gap_ <= 0.01
        alpha = np.abs(theirs.dual_coef_[0])
        signed = theirs.dual_coef_[0]
        block = theirs.decision_function(theirs.support_vectors_) - theirs.intercept_[0]
        best = alpha.sum() - 0.5 * signed @ block
        report = model.lift_report_[0]
        assert report["dual_value"] <= best * 1.002
        assert report["primal_value"] >= best * 0.998


def test_a_smaller_gap_is_reached_when_asked_for(moons: tuple) -> None:
    X, y = moons
    model = LiftedSVC(gamma=1.0, tol_gap=1e-4).fit(X, y)
    assert model.gap_ <= 1e-4
    theirs = SVC(gamma=1.0, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=0.05)


def test_fitted_attributes_are_those_of_svc(moons: tuple) -> None:
    X, y = moons
    model = LiftedSVC(gamma=1.0).fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.n_support_.sum() == len(model.support_) == model.dual_coef_.shape[1]
    assert model.dual_coef_.shape[0] == 1
    assert model.intercept_.shape == (1,)
    values = rbf_kernel(X, model.support_vectors_, gamma=1.0) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(values, model.decision_function(X), atol=1e-3)
    assert abs(model.dual_coef_.sum()) < 1e-6
    for label in np.unique(model.class_of_sample_):  # classes are label-pure
        assert len(np.unique(y[model.class_of_sample_ == label])) == 1
    assert model.n_classes_lifted_ == len(np.unique(model.class_of_sample_))


def test_expansion_in_landmarks_predicts_the_same(moons: tuple) -> None:
    X, y = moons
    support = LiftedSVC(gamma=0.5, expansion="support").fit(X, y)
    landmarks = LiftedSVC(gamma=0.5, expansion="landmarks").fit(X, y)
    assert landmarks.lift_report_[0]["expansion"] == "landmarks"
    assert landmarks.gap_ <= 0.01
    assert (support.predict(X) == landmarks.predict(X)).mean() > 0.99


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_several_labels_are_told_apart_as_by_svc(shape: str) -> None:
    X, y = make_blobs(400, centers=4, cluster_std=2.0, random_state=0)
    names = np.array(["ant", "bee", "cat", "dog"])[y]
    model = LiftedSVC(lift="exact", gamma=0.2, decision_function_shape=shape).fit(X, names)
    theirs = SVC(gamma=0.2, tol=1e-6, decision_function_shape=shape).fit(X, names)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=0.01)
    np.testing.assert_array_equal(model.classes_, theirs.classes_)
    assert (model.predict(X) == theirs.predict(X)).mean() > 0.99
    assert model.dual_coef_.shape[0] == 3
    assert model.class_of_sample_.shape == (400, 6)
    own = dict(zip(model.support_.tolist(), model.dual_coef_.T, strict=True))
    for index, column in zip(theirs.support_.tolist(), np.asarray(theirs.dual_coef_).T, strict=True):
        np.testing.assert_allclose(own.get(index, np.zeros(3)), column, atol=0.05)
    assert len(model.lift_report_) == 6


def test_break_ties_follows_the_decision_function() -> None:
    X, y = make_blobs(300, centers=4, cluster_std=3.0, random_state=0)
    model = LiftedSVC(break_ties=True).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    with pytest.raises(ValueError, match="break_ties must be False"):
        LiftedSVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)


def test_precomputed_callable_and_named_kernels_agree() -> None:
    X, y = make_moons(300, noise=0.25, random_state=0)
    named = LiftedSVC(gamma=1.0, lift="exact").fit(X, y)
    called = LiftedSVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=1.0), lift="exact").fit(X, y)
    K = rbf_kernel(X, gamma=1.0)
    precomputed = LiftedSVC(kernel="precomputed", lift="exact").fit(K, y)
    for other, given in ((called, X), (precomputed, K)):
        np.testing.assert_allclose(named.decision_function(X), other.decision_function(given), atol=2e-3)
    for kernel, given in ((lambda A, B: rbf_kernel(A, B, gamma=1.0), X), ("precomputed", K)):
        model = LiftedSVC(kernel=kernel, n_classes=20).fit(given, y)
        assert model.gap_ <= 0.01
        assert (model.predict(given) == named.predict(X)).mean() > 0.97


def test_weights_count_as_copies(moons: tuple) -> None:
    X, y = moons[0][:300], moons[1][:300]
    weights = np.random.default_rng(0).integers(0, 4, 300)
    weighted = LiftedSVC(gamma=1.0).fit(X, y, sample_weight=weights)
    copied = LiftedSVC(gamma=1.0).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-9)
    theirs = SVC(gamma=1.0, tol=1e-5).fit(X, y, sample_weight=weights)
    assert (weighted.predict(X) == theirs.predict(X)).mean() > 0.98
    assert (weighted.class_of_sample_[weights == 0] == -1).all()


def test_class_weight_moves_the_boundary_as_in_svc(moons: tuple) -> None:
    X, y = moons
    keep = (y == 0) | (np.arange(len(y)) % 5 == 0)
    X, y = X[keep], y[keep]
    model, theirs = (kind(gamma=1.0, class_weight="balanced").fit(X, y) for kind in (LiftedSVC, SVC))
    assert (model.predict(X) == theirs.predict(X)).mean() > 0.98
    assert model.predict(X).mean() > LiftedSVC(gamma=1.0).fit(X, y).predict(X).mean()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_balanced_labels_of_a_linear_machine_are_counted_with_their_weights(loss: str) -> None:
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 3))
    y = (X[:, 0] + random.standard_normal(200) > 0.8).astype(int)
    weights = np.where(y == 1, 5.0, 0.3) * random.random(200)
    words: dict[str, Any] = {"C": 0.5, "loss": loss, "class_weight": "balanced"}
    theirs = LinearSVC(**words, dual=True, tol=1e-8, max_iter=100_000).fit(X, y, weights)
    model = LiftedLinearSVC(**words, tol_gap=1e-9).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-4)


def test_a_balanced_label_without_weight_is_left_out() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 2, 2])
    model = LiftedLinearSVC(class_weight="balanced").fit(X, y, [0.0, 1.0, 1.0, 1.0])
    assert 0 not in model.predict(X)


@pytest.mark.parametrize(
    "estimator", [LiftedSVC(), LiftedLinearSVC(), LPSVC(), LiftedNuSVC(), LiftedLogisticRegression()]
)
@pytest.mark.parametrize(("weight", "told"), [(-1.0, "-1"), (np.nan, "nan"), (np.inf, "inf")])
def test_weights_of_labels_that_none_can_have_are_refused(estimator: Any, weight: float, told: str) -> None:
    model = clone(estimator).set_params(class_weight={"a": weight, "b": 1.0})
    with pytest.raises(ValueError, match=rf"class_weight\['a'\] is {told}\. The weight of a label is a finite number"):
        model.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"])


@pytest.mark.parametrize("estimator", [LiftedSVC(), LiftedLinearSVC(), LPSVC(), LiftedNuSVC()])
def test_labels_that_all_have_no_weight_are_refused(estimator: Any) -> None:
    with pytest.raises(ValueError, match="class_weight leaves no label with weight: at least one needs a positive one"):
        clone(estimator).set_params(class_weight={0: 0.0, 1: 0.0}).fit([[0.0], [1.0]], [0, 1])


def test_order_of_examples_does_not_matter(moons: tuple) -> None:
    X, y = moons
    order = np.random.default_rng(0).permutation(len(y))
    one, other = LiftedSVC(gamma=1.0).fit(X, y), LiftedSVC(gamma=1.0).fit(X[order], y[order])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-3)


def test_linear_kernel_has_weights_and_others_have_not(moons: tuple) -> None:
    X, y = moons
    model = LiftedSVC(kernel="linear").fit(X, y)
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_[0], model.decision_function(X), atol=1e-3)
    with pytest.raises(AttributeError, match="only available when using a linear kernel"):
        _ = LiftedSVC().fit(X, y).coef_


def test_probabilities_are_absent() -> None:
    assert not hasattr(LiftedSVC(), "predict_proba")


def test_an_open_gap_is_told(moons: tuple) -> None:
    with pytest.warns(ConvergenceWarning, match="the proved gap is"):
        model = LiftedSVC(gamma=1.0, tol_gap=1e-9, max_iter=0).fit(*moons)
    assert model.gap_ > 1e-9


@pytest.mark.parametrize("solver", ["cutting_plane", "sgd", "clarabel"])
def test_other_solvers_reach_the_gap_too(moons: tuple, solver: str) -> None:
    X, y = moons
    model = LiftedSVC(gamma=1.0, n_classes=20, solver=solver).fit(X, y)
    assert model.gap_ <= 0.01
    assert (model.predict(X) == LiftedSVC(gamma=1.0).fit(X, y).predict(X)).mean() > 0.97


def test_features_of_large_offset_keep_their_precision(moons: tuple) -> None:
    X, y = moons
    shifted = LiftedSVC(gamma=1.0).fit(X + 1e6, y)
    assert (shifted.predict(X + 1e6) == LiftedSVC(gamma=1.0).fit(X, y).predict(X)).mean() > 0.99


# ---- others ----


def test_svr_agrees_with_sklearn() -> None:
    random = np.random.default_rng(0)
    X = random.uniform(-3, 3, (900, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * random.standard_normal(900)
    model = LiftedSVR(C=5.0, gamma=1.0, n_classes=60).fit(X, y)
    theirs = SVR(C=5.0, gamma=1.0).fit(X, y)
    assert model.gap_ <= 0.01
    assert np.abs(model.predict(X) - theirs.predict(X)).max() < 0.1
    exact = LiftedSVR(C=5.0, gamma=1.0, lift="exact").fit(X[:300], y[:300])
    theirs = SVR(C=5.0, gamma=1.0, tol=1e-6).fit(X[:300], y[:300])
    np.testing.assert_allclose(exact.predict(X), theirs.predict(X), atol=0.01)
    assert (np.abs(exact.dual_coef_) <= 5.0 + 1e-9).all()
    linear = LiftedSVR(kernel="linear").fit(X, 2 * X[:, 0])
    assert linear.coef_[0, 0] == pytest.approx(2.0, abs=0.05)
    K = rbf_kernel(X[:200], gamma=1.0)
    precomputed = LiftedSVR(kernel="precomputed", C=5.0).fit(K, y[:200])
    assert precomputed.gap_ <= 0.01
    assert precomputed.score(K, y[:200]) > 0.9


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("lift", ["exact", "approximate", "none"])
def test_linear_svc_agrees_with_sklearn(loss: str, lift: str) -> None:
    X, y = make_blobs(500, centers=[[0, 0], [2, 1]], cluster_std=1.2, random_state=0)
    X = np.concatenate([X, X[:100]])
    y = np.concatenate([y, y[:100]])
    model = LiftedLinearSVC(loss=loss, lift=lift, n_classes=20).fit(X, y)
    theirs = LinearSVC(loss=loss, tol=1e-8, max_iter=200_000, dual=True).fit(X, y)
    assert model.gap_ <= 1e-4
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=0.02)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=0.02)
    if lift == "exact":
        assert model.n_classes_lifted_ == 500
    if lift == "approximate":
        assert model.n_classes_lifted_ < 500


def test_linear_svc_of_several_labels_sparse_and_one_hot() -> None:
    random = np.random.default_rng(0)
    kinds = random.integers(0, 30, (3000, 2))
    X = np.concatenate([np.eye(30)[kinds[:, 0] // 3 * 3], np.eye(30)[kinds[:, 1] // 10 * 10]], axis=1)
    y = (kinds[:, 0] // 10) + (random.uniform(size=3000) < 0.1)
    dense, thin = LiftedLinearSVC().fit(X, y), LiftedLinearSVC().fit(sparse.csr_array(X), y)
    assert dense.n_classes_lifted_ <= 4 * 10 * 3 * 4
    np.testing.assert_allclose(dense.coef_, thin.coef_, atol=1e-6)
    theirs = LinearSVC(dual=True, max_iter=100_000, tol=1e-6).fit(X, y)
    assert (dense.predict(X) == theirs.predict(X)).mean() > 0.99


@pytest.mark.parametrize("penalty", ["linf", "l1"])
def test_lp_svc_reaches_the_optimum_of_the_ground_program(penalty: str) -> None:
    from scipy.optimize import linprog

    X, y = make_blobs(80, centers=[[0, 0, 0], [2, 1, 0]], cluster_std=1.0, random_state=0)
    X = X.round(1)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    model = LPSVC(C=0.5, penalty=penalty).fit(X, y)
    sign = np.where(y == 1, 1.0, -1.0)
    slack = np.maximum(0.0, 1 - sign * (X @ model.coef_[0] + model.intercept_[0])).sum()
    size = np.abs(model.coef_[0]).max() if penalty == "linf" else np.abs(model.coef_[0]).sum()
    n, d = X.shape
    margins = np.hstack([-sign[:, None] * X, -sign[:, None], -np.eye(n), np.zeros((n, d if penalty == "l1" else 1))])
    sizes = np.eye(d) if penalty == "l1" else np.ones((d, 1))
    pad = np.zeros((d, 1 + n))
    A = np.vstack([margins, np.hstack([np.eye(d), pad, -sizes]), np.hstack([-np.eye(d), pad, -sizes])])
    cost = np.concatenate([np.zeros(d + 1), np.full(n, 0.5), np.ones(sizes.shape[1])])
    bounds = [(None, None)] * (d + 1) + [(0, None)] * (n + sizes.shape[1])
    truth = linprog(cost, A, np.concatenate([-np.ones(n), np.zeros(2 * d)]), bounds=bounds)
    assert size + 0.5 * slack == pytest.approx(truth.fun, rel=1e-6)
    assert model.n_classes_lifted_ <= 80
    assert model.gap_ <= 1e-6
    for label in np.unique(model.class_of_sample_):
        assert len(np.unique(y[model.class_of_sample_ == label])) == 1


def test_lp_svc_of_several_labels() -> None:
    X, y = make_blobs(150, centers=3, random_state=0)
    model = LPSVC().fit(X, np.array(["a", "b", "c"])[y])
    assert model.coef_.shape == (3, 2)
    assert model.score(X, np.array(["a", "b", "c"])[y]) > 0.8


def test_cross_validation_chooses_like_grid_search() -> None:
    X, y = make_moons(1800, noise=0.3, random_state=0)
    gammas, Cs = [0.01, 1.0, 300.0], [0.5, 2.0]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    quick = LiftedSVCCV(gammas=gammas, Cs=Cs, cv=folds).fit(X, y)
    plain = GridSearchCV(SVC(), {"gamma": gammas, "C": Cs}, cv=folds).fit(X, y)
    assert quick.best_params_["gamma"] == plain.best_params_["gamma"] == 1.0
    assert quick.cv_results_["params"] == plain.cv_results_["params"]
    np.testing.assert_allclose(quick.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=0.04)
    assert quick.gap_ <= 0.01
    assert (quick.predict(X) == plain.predict(X)).mean() > 0.97
    assert quick.best_score_ == quick.cv_results_["mean_test_score"].max()


def test_cross_validation_of_several_labels_uses_plain_fits() -> None:
    X, y = make_blobs(150, centers=3, random_state=0)
    model = LiftedSVCCV(gammas=[0.1, 1.0], Cs=[1.0], cv=3).fit(X, y)
    assert model.score(X, y) > 0.8
    weighted = LiftedSVCCV(gammas=[0.1], Cs=[1.0], cv=3).fit(X, y, sample_weight=np.arange(150) % 3 + 1)
    assert weighted.best_params_ == {"C": 1.0, "gamma": 0.1}


# ---- scikit-learn's habits ----


@pytest.mark.parametrize("estimator", [LiftedSVC, LiftedLinearSVC, LPSVC])
def test_pipelines_grid_search_clone_and_pickle(estimator: Any) -> None:
    X, y = make_moons(240, noise=0.2, random_state=0)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), estimator()), {f"{estimator.__name__.lower()}__C": [0.1, 1.0]}, cv=3
    )
    search.fit(X, y)
    assert search.best_score_ > 0.75
    model = clone(search.best_estimator_).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_data_frames_keep_feature_names(estimator: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = make_moons(60, noise=0.2, random_state=0)
    frame = pandas.DataFrame(X, columns=["east", "north"])
    model = estimator().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["east", "north"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["north", "east"]])


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_sparse_examples_give_the_dense_answer(kernel: str) -> None:
    random = np.random.default_rng(0)
    X = sparse.random(300, 20, density=0.2, random_state=0, format="csr")
    y = (np.asarray(X.sum(axis=1)).ravel() > 2.0).astype(int)
    shuffled = sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
    for row in range(300):  # unsorted indices
        part = slice(X.indptr[row], X.indptr[row + 1])
        order = random.permutation(part.stop - part.start)
        shuffled.indices[part], shuffled.data[part] = X.indices[part][order], X.data[part][order]
    shuffled.has_sorted_indices = False
    thin = LiftedSVC(kernel=kernel, gamma=0.5, n_classes=20, lift="exact").fit(shuffled, y)
    dense = LiftedSVC(kernel=kernel, gamma=0.5, n_classes=20, lift="exact").fit(X.toarray(), y)
    np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(X.toarray()), atol=1e-3)
    assert sparse.issparse(thin.support_vectors_)
    approximate = LiftedSVC(kernel=kernel, gamma=0.5, n_classes=20).fit(X, y)
    assert kernel == "sigmoid" or approximate.gap_ <= 0.01


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_bad_input_raises_what_scikit_learn_raises(estimator: Any) -> None:
    X, y = make_moons(40, noise=0.2, random_state=0)
    model = estimator()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(X > 1, np.inf, X), y)
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        model.fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        model.fit(X, y, sample_weight=-np.ones(40))
    with pytest.raises(ValueError, match=r"non-zero|zero or negative"):
        model.fit(X, y, sample_weight=np.zeros(40))
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        model.fit(sparse.csr_matrix((0, 2)), [])
    with pytest.raises((ValueError, TypeError)):
        model.fit(X, np.array(["a", 1] * 20, dtype=object))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, np.linspace(0, 1, 40))
    with pytest.raises(ValueError, match="features"):
        model.fit(X, y).predict(X[:, :1])


def test_bad_parameters_raise_what_scikit_learn_raises() -> None:
    X, y = make_moons(40, noise=0.2, random_state=0)
    for parameters in (
        {"C": 0.0},
        {"gamma": -1.0},
        {"kernel": "rdf"},
        {"tol_gap": 0},
        {"lift": "yes"},
        {"n_classes": 0},
    ):
        with pytest.raises(ValueError, match=f"The '{next(iter(parameters))}' parameter of LiftedSVC"):
            LiftedSVC(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="n_samples=40 should be >= n_classes=41"):
        LiftedSVC(n_classes=41).fit(X, y)
    with pytest.raises(ValueError, match="solver='sm' is not valid"):
        LiftedSVC(solver="sm").fit(X, y)
    with pytest.raises(ValueError, match="square matrix"):
        LiftedSVC(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="Cs must be a list of positive numbers"):
        LiftedSVCCV(Cs=[0.0]).fit(X, y)


def test_degenerate_data_is_fitted_without_fuss() -> None:
    y = np.array([0, 1] * 400)
    for X in (np.ones((800, 3)), np.column_stack([np.ones(800), y])):
        for gamma in (0.0, 1.0, "scale"):
            model = LiftedSVC(gamma=gamma).fit(X, y)
            assert model.gap_ <= 0.01
            assert np.isfinite(model.decision_function(X)).all()
    assert LiftedSVC().fit(np.column_stack([np.ones(800), y]), y).score(np.column_stack([np.ones(800), y]), y) == 1.0


@pytest.mark.parametrize("expansion", ["support", "landmarks"])
def test_the_gap_in_single_precision_is_that_of_double_precision(expansion: str) -> None:
    random = np.random.default_rng(0)
    y = np.repeat([-1, 1], 1500)
    X = random.standard_normal((3000, 2)) + y[:, None]
    model = LiftedSVC(gamma=0.5, expansion=expansion).fit(X, y)
    vectors, beta = model.support_vectors_, model.dual_coef_[0]
    assert model.lift_report_[0]["expansion"] == expansion
    K = rbf_kernel(vectors, gamma=0.5)
    dual = np.abs(beta).sum() - 0.5 * beta @ K @ beta
    if expansion == "support":
        square = beta @ K @ beta
    else:
        points, coefficients = model._landmarks[0]
        square = coefficients @ rbf_kernel(points, gamma=0.5) @ coefficients
    primal = 0.5 * square + np.maximum(0.0, 1 - y * model.decision_function(X)).sum()
    assert abs(beta.sum()) < 1e-9
    assert (primal - dual) / dual == pytest.approx(model.gap_, abs=1e-5)
