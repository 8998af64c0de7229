"""Linear machines reach their gap for every C, and their answers are those of scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

from sklearn.datasets import load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from relift.ml import LiftedLinearSVC, LiftedSVC, LiftedSVR
from relift.ml.dual_machine import DualLimits
from relift.ml.dual_problem import DualProblem
from relift.ml.kernels import PointKernel
from relift.ml.linear_dual import solve_linear
from relift.ml.small_dual import gap_terms


@settings(max_examples=40, deadline=None)
@given(
    st.integers(4, 80), st.integers(1, 6), st.sampled_from([1e-2, 1.0, 1e3, 1e6]), st.integers(0, 5000), st.booleans()
)
def test_interior_points_end_feasible_with_a_true_gap(n: int, d: int, C: float, seed: int, regression: bool) -> None:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    c = np.where(random.uniform(size=n) < 0.5, -1.0, 1.0)
    c[:2] = [-1.0, 1.0]
    lo, hi, epsilon = np.minimum(C * c, 0.0), np.maximum(C * c, 0.0), 0.0
    if regression:
        c, lo, hi, epsilon = random.standard_normal(n), np.full(n, -C), np.full(n, C), 0.1
    problem = DualProblem(PointKernel(X, "linear", 1.0, 0.0, 3), c, lo, hi, None, epsilon)
    answer = solve_linear(X, problem, DualLimits(1e-3))
    assert answer is not None
    assert answer.gap <= 1e-3
    assert (lo <= answer.beta).all()
    assert (answer.beta <= hi).all()
    assert abs(answer.beta.sum()) <= 1e-9 * np.abs(answer.beta).sum() + 1e-12
    v = c - X @ (X.T @ answer.beta)
    total = gap_terms(v, answer.bias, answer.beta, lo, hi, epsilon).sum()
    assert total == pytest.approx(answer.primal_value - answer.dual_value, rel=1e-6, abs=1e-9 * C)


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3, 1e6])
def test_linear_machines_reach_their_gap_for_every_c(C: float) -> None:
    X, y = make_classification(600, 8, n_informative=5, class_sep=0.6, flip_y=0.05, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = LiftedSVC(kernel="linear", C=C, tol_gap=1e-4).fit(X, y)
        regressor = LiftedSVR(kernel="linear", C=C).fit(X, X[:, 0] + 0.1 * np.sin(9 * X[:, 1]))
        linear = [LiftedLinearSVC(C=C, loss=loss).fit(X, y) for loss in ("hinge", "squared_hinge")]
    assert model.gap_ <= 1e-4
    assert regressor.gap_ <= 0.01
    assert all(machine.gap_ <= 1e-4 for machine in linear)
    if C <= 1.0:
        theirs = SVC(kernel="linear", C=C, tol=1e-5).fit(X, y)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=0.05 * np.abs(theirs.coef_).max())
        assert (model.predict(X) == theirs.predict(X)).mean() > 0.99
    # More than a handful of examples are at a bound: support vectors are those of a vertex, not of the interior.
    assert len(model.support_) < 600


def test_linear_machines_of_unscaled_features_and_several_labels() -> None:
    X, y = load_wine(return_X_y=True)
    for C in (1.0, 1e4):
        model = LiftedSVC(kernel="linear", C=C).fit(X, y)
        assert model.gap_ <= 0.01
        assert model.score(X, y) > 0.98


def test_sparse_and_dense_linear_machines_agree() -> None:
    X = sparse.random(400, 30, density=0.2, random_state=0, format="csr")
    y = (np.asarray(X.sum(axis=1)).ravel() + 0.3 * np.random.default_rng(0).standard_normal(400) > 3.0).astype(int)
    thin, dense = (LiftedSVC(kernel="linear", C=100.0, tol_gap=1e-5).fit(given, y) for given in (X, X.toarray()))
    np.testing.assert_allclose(np.asarray(thin.coef_), dense.coef_, atol=0.05 * np.abs(dense.coef_).max())


def test_regression_is_that_of_sklearn_for_large_c() -> None:
    random = np.random.default_rng(0)
    X = random.uniform(-3, 3, (400, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * random.standard_normal(400)
    for C in (1.0, 100.0):
        model, theirs = LiftedSVR(C=C, gamma=0.5).fit(X, y), SVR(C=C, gamma=0.5).fit(X, y)
        assert model.gap_ <= 0.01
        assert abs(model.score(X, y) - theirs.score(X, y)) < 0.002
        assert np.abs(model.dual_coef_).max() <= C + 1e-9
