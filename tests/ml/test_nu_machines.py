"""The nu-machines, and what LiftedSVC has taken over from LIBSVM: scikit-learn's answers with a proved gap."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from relift.ml import LiftedLinearSVC, LiftedNuSVC, LiftedNuSVR, LiftedOneClassSVM, LiftedSVC, LiftedSVR
from relift.ml.nu_dual import CORE_IS_COMPILED, NuDual, group_smo, group_smo_reference, slopes
from relift.ml.platt import coupled, fit_sigmoid

WEIGHTS = "gamma='scale' does not count weights, as in scikit-learn's own machines"


def expected_failures(estimator: Any) -> dict[str, str]:
    found = dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), WEIGHTS
    )
    if isinstance(estimator, LiftedNuSVC):
        found["check_class_weight_classifiers"] = "with such weights nu=0.5 is infeasible"
    return found


@parametrize_with_checks(
    [LiftedOneClassSVM(), LiftedNuSVC(), LiftedNuSVR(), LiftedSVC(probability=True)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_takes_it_for_an_estimator(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


def repeated_moons(seed: int = 0) -> tuple[Any, Any, Any]:
    X, y = make_moons(80, noise=0.25, random_state=seed)
    random = np.random.default_rng(seed)
    return np.concatenate([X, X[:30]]), np.concatenate([y, y[:30]]), random.integers(0, 3, 110).astype(float) + 0.5


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "precomputed"])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_answers_are_those_of_scikit_learn(kernel: str, weighted: bool) -> None:
    X, y, weights = repeated_moons()
    target = np.sin(3 * X[:, 0]) + 0.1 * X[:, 1]
    given = X @ X.T + 1.0 if kernel == "precomputed" else X
    weights = weights if weighted else None
    options: dict[str, Any] = {"kernel": kernel, "gamma": 1.0, "tol": 1e-6}
    for model, expected, args in (
        (LiftedOneClassSVM(nu=0.3, **options), OneClassSVM(nu=0.3, max_iter=10**5, **options), (None,)),
        (LiftedNuSVC(nu=0.4, **options), NuSVC(nu=0.4, **options), (y,)),
        (LiftedNuSVR(nu=0.4, C=2.0, **options), NuSVR(nu=0.4, C=2.0, **options), (target,)),
    ):
        model.fit(given, *args, weights)
        expected.fit(given, *args, weights)
        value = "predict" if isinstance(model, LiftedNuSVR) else "decision_function"
        np.testing.assert_allclose(getattr(model, value)(given), getattr(expected, value)(given), atol=5e-4, rtol=5e-4)
        assert model.gap_ <= 1e-5
        assert kernel == "precomputed" or model.n_classes_lifted_ <= 80
        if kernel == "linear":
            np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)


def test_several_labels_and_sparse_examples_are_those_of_scikit_learn() -> None:
    X, y = make_blobs(120, centers=3, cluster_std=2.0, random_state=1)
    names = np.array(["a", "b", "c"])[y]
    model = LiftedNuSVC(nu=0.4, tol=1e-8).fit(sparse.csr_array(X), names)
    expected = NuSVC(nu=0.4, tol=1e-8).fit(X, names)
    np.testing.assert_allclose(model.decision_function(sparse.csr_array(X)), expected.decision_function(X), atol=1e-3)
    assert (model.predict(sparse.csr_array(X)) == expected.predict(X)).all()
    one = LiftedOneClassSVM(nu=0.2, tol=1e-8).fit(sparse.csr_array(X))
    np.testing.assert_allclose(one.score_samples(X), OneClassSVM(nu=0.2, tol=1e-8).fit(X).score_samples(X), atol=1e-4)


def test_an_infeasible_nu_is_refused() -> None:
    X, y, _ = repeated_moons()
    with pytest.raises(ValueError, match=r"specified nu is infeasible: nu=0.9 needs more weight of the rarer label"):
        LiftedNuSVC(nu=0.9).fit(X, y * (np.arange(len(y)) < 20))
    with pytest.raises(ValueError, match="The 'nu' parameter of LiftedOneClassSVM"):
        LiftedOneClassSVM(nu=0.0).fit(X)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12))
def test_steps_keep_sums_and_agree_with_their_twin(seed: int, size: int) -> None:
    if not CORE_IS_COMPILED:
        pytest.skip("there is no compiled core")
    random = np.random.default_rng(seed)
    points = random.standard_normal((size, 3))
    group = (np.arange(size) % 2).astype(np.int32)
    u = random.uniform(0.5, 2.0, size)
    totals = (0.5 * np.bincount(group, u, 2)).astype(np.float64)
    dual = NuDual(
        points @ points.T + np.eye(size), np.arange(size, dtype=np.int32), np.where(group == 0, 1.0, -1.0), group,
        random.standard_normal(size), u, totals,
    )  # fmt: skip
    found = []
    for smo in (group_smo, group_smo_reference):
        a = 0.5 * u
        v = slopes(dual, a)
        smo(dual, a, v, 1e-9, 10**6)
        np.testing.assert_allclose(np.bincount(group, a, 2), totals)
        np.testing.assert_allclose(v, slopes(dual, a), atol=1e-8)
        found.append(a)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


# ---- probabilities ----


@pytest.mark.parametrize("centers", [2, 4])
def test_probabilities_are_near_those_of_svc(centers: int) -> None:
    X, y = make_blobs(300, centers=centers, cluster_std=2.5, random_state=0)
    model = LiftedSVC(probability=True, lift="exact").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        expected = SVC(probability=True, random_state=0).fit(X, y)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.abs(found - expected.predict_proba(X)).mean() < 0.03  # the folds are drawn in another way
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(found))
    assert model.probA_.shape == (centers * (centers - 1) // 2,)


def test_without_probability_there_is_no_predict_proba() -> None:
    assert not hasattr(LiftedSVC(), "predict_proba")
    assert hasattr(LiftedSVC(probability=True), "predict_proba")
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
        LiftedSVC().predict_proba([[0.0]])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_coupled_probabilities_are_those_of_consistent_pairs(seed: int, k: int) -> None:
    p = np.random.default_rng(seed).dirichlet(np.ones(k), 4) + 1e-3
    p /= p.sum(axis=1, keepdims=True)
    pairwise = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    pairwise[:, np.arange(k), np.arange(k)] = 0.0
    np.testing.assert_allclose(coupled(pairwise), p, atol=1e-8)


def test_the_sigmoid_is_the_minimum_of_its_cost() -> None:
    random = np.random.default_rng(0)
    values = random.standard_normal(200)
    is_positive = random.random(200) < 1 / (1 + np.exp(-2 * values))
    A, B = fit_sigmoid(values, is_positive, np.ones(200))
    target = np.where(is_positive, (is_positive.sum() + 1) / (is_positive.sum() + 2), 1 / ((~is_positive).sum() + 2))
    p = 1 / (1 + np.exp(A * values + B))
    assert abs(float(((target - p) * values).sum())) < 1e-3
    assert abs(float((target - p).sum())) < 1e-3


# ---- parameters of LIBSVM ----


def test_gamma_scale_is_that_of_scikit_learn_with_weights() -> None:
    X, y, weights = repeated_moons()
    model, expected = LiftedSVC(lift="exact", tol=1e-6).fit(X, y, weights), SVC(tol=1e-6).fit(X, y, weights)
    assert model._gamma == pytest.approx(expected._gamma)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-3)
    thin = LiftedSVC(lift="exact").fit(sparse.csr_array(X), y, weights)
    assert thin._gamma == pytest.approx(expected._gamma)
    assert LiftedSVR(lift="exact").fit(X, y, weights)._gamma == pytest.approx(SVR().fit(X, y, weights)._gamma)


def test_calls_of_svc_and_svr_work_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    X, y, _ = repeated_moons()
    for model in (LiftedSVC, LiftedSVR):
        model(cache_size=100, shrinking=False, max_iter=-1, verbose=True).fit(X, y)
        assert f"[{model.__name__}]" in capsys.readouterr().out
        with pytest.raises(ValueError, match="The 'cache_size' parameter"):
            model(cache_size=0).fit(X, y)


def test_parameters_and_fitted_attributes_of_scikit_learn_are_all_there() -> None:
    X, y, _ = repeated_moons()
    both = (
        (SVC(), LiftedSVC()), (SVR(), LiftedSVR()), (NuSVC(nu=0.2), LiftedNuSVC(nu=0.2)), (NuSVR(), LiftedNuSVR()),
        (OneClassSVM(), LiftedOneClassSVM()), (LinearSVC(), LiftedLinearSVC()),
    )  # fmt: skip
    for theirs, ours in both:
        assert set(theirs.get_params()) <= set(ours.get_params()), type(ours).__name__
        theirs.fit(X, y)
        ours.fit(X, y)
        fitted = {name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")}
        assert {name for name in fitted if not hasattr(ours, name)} == set(), type(ours).__name__
        for name in ("shape_fit_", "fit_status_", "class_weight_"):
            if name in fitted:
                np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


def test_what_linear_svc_cannot_do_is_refused() -> None:
    X, y, _ = repeated_moons()
    LiftedLinearSVC(penalty="l2", dual=False, multi_class="ovr", tol=1e-5).fit(X, y)
    with pytest.raises(ValueError, match=r"The 'penalty' parameter of LiftedLinearSVC must be a str among \{'l2'\}"):
        LiftedLinearSVC(penalty="l1").fit(X, y)
    with pytest.raises(ValueError, match="The 'multi_class' parameter of LiftedLinearSVC"):
        LiftedLinearSVC(multi_class="crammer_singer").fit(X, y)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_kernel_matrix_that_is_nearly_symmetric_is_taken_by_its_mean(is_sparse: bool) -> None:
    X, y, _ = repeated_moons()
    K = rbf_kernel(X)
    noise = 1e-9 * np.random.default_rng(0).standard_normal(K.shape)
    given = sparse.csr_matrix(K + noise) if is_sparse else K + noise
    ours, plain = LiftedNuSVC(nu=0.3, kernel="precomputed").fit(given, y), LiftedNuSVC(nu=0.3, gamma=0.5).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(given), plain.decision_function(X), atol=1e-2)
