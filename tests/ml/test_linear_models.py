"""Linear models over repeated rows: scikit-learn's answer from distinct rows, with a gap that is true on all rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, PoissonRegressor, QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from relift.ml import (
    LiftedElasticNet,
    LiftedLasso,
    LiftedLogisticRegression,
    LiftedPoissonRegressor,
    LiftedQuantileRegressor,
)
from relift.ml.descent import by_columns, by_columns_reference, by_matrix, by_matrix_reference
from relift.ml.frisch_newton import solve_bounded
from relift.ml.grouping import group_columns, group_rows
from relift.ml.tied_columns import tied_columns

REGRESSORS = [LiftedElasticNet, LiftedLasso, LiftedPoissonRegressor, LiftedQuantileRegressor]


@parametrize_with_checks([LiftedLogisticRegression(), *(regressor() for regressor in REGRESSORS)])
def test_scikit_learn_takes_it_for_an_estimator(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


def repeated(seed: int, n_rows: int = 400, n_distinct: int = 30, n_columns: int = 5) -> tuple[Any, Any, Any]:
    """Rows of small whole numbers, most of them several times; and weights."""
    random = np.random.default_rng(seed)
    X = random.integers(-1, 3, (n_distinct, n_columns)).astype(float)[random.integers(0, n_distinct, n_rows)]
    return X, random, random.integers(0, 4, n_rows).astype(float)


# ---- grouping ----


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 60), st.sampled_from([np.int8, np.float32, np.float64])
)
def test_groups_are_those_of_unique_rows(seed: int, n_rows: int, n_columns: int, dtype: Any) -> None:
    X = np.random.default_rng(seed).integers(-1, 2, (n_rows, n_columns)).astype(dtype)
    expected = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    codes = [column - column.min() for column in X.astype(np.int64).T]
    for groups in (group_rows(X), group_rows(sparse.csr_array(X.astype(float))), group_columns(codes)):
        assert groups.size == expected.max() + 1
        assert len(np.unique(np.column_stack([groups.labels, expected]), axis=0)) == groups.size
        assert (groups.labels[groups.first] == np.arange(groups.size)).all()


def test_minus_zero_unsorted_and_stored_zeros_do_not_part_rows() -> None:
    assert group_rows(np.array([[0.0, 1.0], [-0.0, 1.0]])).size == 1
    rows = sparse.csr_array((np.array([1.0, 2.0, 2.0, 1.0, 0.0]), [0, 1, 1, 0, 2], [0, 2, 5]), shape=(2, 3))
    before = rows.copy()
    assert group_rows(rows).size == 1
    assert (rows.data == before.data).all()


def test_many_columns_of_many_codes_do_not_overflow() -> None:
    random = np.random.default_rng(0)
    columns = [random.integers(0, 2**40, 50) for _ in range(4)]
    twice = [np.concatenate([column, column]) for column in columns]
    assert group_columns(twice).labels.tolist() == [*range(50), *range(50)]


# ---- kernels and their twins ----


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_coordinate_descent_agrees_with_its_twin(seed: int, positive: bool, intercept: bool) -> None:
    random = np.random.default_rng(seed)
    X, h = random.integers(-2, 3, (12, 4)).astype(float), random.uniform(0.5, 2.0, 12)
    l1, l2, z = random.uniform(0, 3, 4), random.uniform(0.1, 1, 4), random.standard_normal(12)
    G = X.T @ (h[:, None] * X) + np.diag(l2)
    found = []
    for descent in (by_matrix, by_matrix_reference):
        w, g = np.zeros(4), -(X.T @ (h * z))
        descent(G, l1, w, g, tolerance=1e-10, most=5000, is_positive=positive)
        found.append(w)
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)
    columns, found = sparse.csc_array(X), []
    for by in (by_columns, by_columns_reference):
        w, r = np.zeros(4), z.copy()
        _, _, b = by(
            columns, h, l1, l2, w, r, has_intercept=intercept, tolerance=1e-10, most=5000, is_positive=positive
        )
        np.testing.assert_allclose(r, z - X @ w, atol=1e-9)
        found.append(np.append(w, b))
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)


# ---- the answer of scikit-learn ----


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("lift", ["exact", "rows", "symmetry", "none"])
def test_logistic_regression_is_that_of_scikit_learn(
    n_labels: int, l1_ratio: float, intercept: bool, lift: str
) -> None:
    X, random, weights = repeated(n_labels)
    y = np.array(["no", "yes", "why"])[np.clip((X[:, 0] + random.integers(-1, 2, len(X))).astype(int), 0, n_labels - 1)]
    model = LiftedLogisticRegression(
        C=0.5, l1_ratio=l1_ratio, fit_intercept=intercept, lift=lift, max_iter=500, tol=1e-11
    )
    model.fit(X, y, weights)
    times = weights.astype(int)  # SAGA does not converge with weights
    expected = LogisticRegression(
        C=0.5, l1_ratio=l1_ratio, fit_intercept=intercept, solver="lbfgs" if l1_ratio == 0 else "saga", tol=1e-9,
        max_iter=20_000, random_state=0,
    ).fit(np.repeat(X, times, axis=0), np.repeat(y, times))  # fmt: skip
    assert model.gap_ <= 1e-8
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=2e-5)
    if l1_ratio < 1:
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=5e-5)
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()
    assert lift == "none" or model.n_distinct_ <= 30


@pytest.mark.parametrize("alpha", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_poisson_regression_is_that_of_scikit_learn(alpha: float, solver: str) -> None:
    X, random, weights = repeated(7)
    y = random.poisson(np.exp(0.4 * X[:, 0]))
    model = LiftedPoissonRegressor(alpha=alpha, solver=solver, tol=1e-12).fit(X, y, weights)
    expected = PoissonRegressor(alpha=alpha, tol=1e-12, max_iter=5000).fit(X, y, weights)
    assert model.gap_ <= 1e-8
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-5)
    assert model.score(X, y, weights) == pytest.approx(expected.score(X, y, weights), abs=1e-6)


@pytest.mark.parametrize("l1_ratio", [0.2, 0.9, 1.0])
@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_elastic_net_is_that_of_scikit_learn(l1_ratio: float, positive: bool, intercept: bool) -> None:
    X, random, weights = repeated(5)
    y = 3.0 * X[:, 0] - X[:, 1] + random.standard_normal(len(X)) + 100.0
    model = LiftedElasticNet(alpha=0.1, l1_ratio=l1_ratio, positive=positive, fit_intercept=intercept, tol=1e-12)
    model.fit(X, y, weights)
    expected = ElasticNet(
        alpha=0.1, l1_ratio=l1_ratio, positive=positive, fit_intercept=intercept, tol=1e-12, max_iter=100_000
    ).fit(X, y, weights)
    assert model.gap_ <= 1e-8
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=1e-4)


def pinball_objective(model: Any, X: Any, y: Any, weights: Any) -> float:
    errors = y - model.predict(X)
    loss = weights @ np.maximum(model.quantile * errors, (model.quantile - 1) * errors) / weights.sum()
    return float(loss + model.alpha * np.abs(model.coef_).sum())


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
@pytest.mark.parametrize("solver", ["highs", "frisch-newton", "clarabel"])
def test_quantile_regression_has_the_objective_of_scikit_learn(quantile: float, alpha: float, solver: str) -> None:
    X, random, weights = repeated(3)
    y = X[:, 0] + random.integers(-3, 4, len(X))
    model = LiftedQuantileRegressor(quantile=quantile, alpha=alpha, solver=solver, tol=1e-5).fit(X, y, weights)
    expected = QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y, weights)
    one, two = (pinball_objective(each, X, y, weights) for each in (model, expected))
    assert one == pytest.approx(two, rel=1e-5)
    assert model.gap_ <= 1e-5


# ---- the proof ----


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]), st.floats(-2, 3), st.integers(1, 6))
def test_both_values_enclose_the_objective_of_all_rows(seed: int, l1_ratio: float, log_c: float, steps: int) -> None:
    X, random, weights = repeated(seed, 60, 12, 3)
    y = random.integers(0, 2, len(X))
    y[:2], weights[:2] = [0, 1], 1.0
    C = float(np.exp(log_c))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LiftedLogisticRegression(C=C, l1_ratio=l1_ratio, max_iter=steps).fit(X, y, weights)
    best = LiftedLogisticRegression(C=C, l1_ratio=l1_ratio, lift="none").fit(X, y, weights)
    f = np.asarray(X @ model.coef_[0]) + model.intercept_[0]
    loss = weights @ (np.logaddexp(0, f) - y * f)
    w = model.coef_[0]
    penalty = ((1 - l1_ratio) * 0.5 * w @ w + l1_ratio * np.abs(w).sum()) / C
    assert loss + penalty == pytest.approx(model.primal_value_, rel=1e-9)
    assert model.dual_value_ <= best.primal_value_ + 1e-7
    assert model.primal_value_ >= best.dual_value_ - 1e-7


def test_dual_values_give_the_coefficients() -> None:
    X, random, weights = repeated(11)
    y = random.poisson(1.0, len(X))
    model = LiftedPoissonRegressor(alpha=0.2, tol=1e-12).fit(X, y, weights)
    distinct = np.zeros((model.n_distinct_, X.shape[1]))
    distinct[model.class_of_sample_[weights > 0]] = X[weights > 0]
    np.testing.assert_allclose(distinct.T @ model.dual_[:, 0] / (0.2 * weights.sum()), model.coef_, atol=1e-6)
    assert abs(model.dual_.sum()) < 1e-8
    binary = LiftedLogisticRegression(C=2.0, tol=1e-12).fit(X, y > 0, weights)
    np.testing.assert_allclose(2.0 * distinct.T @ binary.dual_, binary.coef_.T, atol=1e-5)
    assert (model.class_of_sample_[weights == 0] == -1).all()


def test_separable_labels_without_penalty_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match="add a penalty"):
        LiftedLogisticRegression(C=np.inf, max_iter=15).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


# ---- tied columns and symmetry ----


def test_proportional_columns_share_as_the_penalty_wants() -> None:
    X, random, weights = repeated(2)
    X = np.column_stack([X, 3.0 * X[:, 0], X[:, 1], -X[:, 1], np.zeros(len(X))])
    y = X[:, 0] - X[:, 1] + random.standard_normal(len(X))
    for l1_ratio in (0.0, 0.5):
        model = LiftedElasticNet(alpha=0.1, l1_ratio=l1_ratio, tol=1e-12).fit(X, y, weights)
        alone = LiftedElasticNet(alpha=0.1, l1_ratio=l1_ratio, lift="rows", max_iter=20_000, tol=1e-12).fit(
            X, y, weights
        )
        np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-5)
        assert model.lift_report_["solved_columns"] == (6 if l1_ratio == 0.0 else 7)
    lasso, expected = LiftedLasso(alpha=0.1, tol=1e-12).fit(X, y), Lasso(alpha=0.1, tol=1e-12, max_iter=10**5).fit(X, y)
    np.testing.assert_allclose(lasso.predict(X), expected.predict(X), atol=1e-5)
    assert np.abs(lasso.coef_).sum() == pytest.approx(np.abs(expected.coef_).sum(), abs=1e-5)
    assert lasso.coef_[0] == 0.0  # three times the column costs a third


def test_a_zero_column_and_a_single_column_stay_as_they_are() -> None:
    assert tied_columns(np.zeros((4, 1)), 1.0, 0.0).expand(np.array([[0.0]])).tolist() == [[0.0]]
    assert tied_columns(sparse.csr_array(np.zeros((4, 2))), 0.0, 1.0).labels.tolist() == [0, 0]


def test_exchangeable_questions_become_one_by_symmetry() -> None:
    random = np.random.default_rng(0)
    half = random.integers(0, 2, (40, 3)).astype(float)
    X = np.concatenate([np.roll(half, k, axis=1) for k in range(3)])
    y = np.concatenate([half.sum(axis=1) + half[:, 0] * half[:, 1] * half[:, 2]] * 3)
    model, plain = (LiftedElasticNet(alpha=0.01, lift=lift).fit(X, y) for lift in ("symmetry", "exact"))
    assert model.lift_report_["solved_columns"] == 1
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-6)
    assert model.gap_ <= 1e-8


# ---- what users vary ----


@pytest.mark.parametrize("weight", ["balanced", {0: 5.0, 1: 1.0}])
def test_class_weights_are_those_of_scikit_learn(weight: Any) -> None:
    X, random, weights = repeated(9)
    y = (random.random(len(X)) < 0.05 + 0.1 * (X[:, 0] > 0)).astype(int)
    model = LiftedLogisticRegression(class_weight=weight).fit(X, y, weights)
    expected = LogisticRegression(class_weight=weight, tol=1e-10, max_iter=5000).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)


@pytest.mark.parametrize("name", ["csr_array", "csc_array", "coo_array", "csr_matrix"])
def test_sparse_rows_give_the_dense_answer(name: str) -> None:
    X, random, weights = repeated(4)
    y = random.integers(0, 3, len(X))
    dense = LiftedLogisticRegression().fit(X, y, weights)
    thin = LiftedLogisticRegression().fit(getattr(sparse, name)(X), y, weights)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-8)
    assert thin.n_distinct_ == dense.n_distinct_


def test_huge_counts_single_precision_and_integers_change_nothing() -> None:
    X, random, _ = repeated(6)
    y = random.integers(0, 2, len(X))
    usual = LiftedLogisticRegression().fit(X, y)
    for other in (X.astype(np.float32), X.astype(np.int8)):
        np.testing.assert_allclose(LiftedLogisticRegression().fit(other, y).coef_, usual.coef_, atol=1e-9)
    counted = LiftedLogisticRegression(C=1e-9).fit(X, y, np.full(len(X), 1e9))
    np.testing.assert_allclose(counted.coef_, usual.coef_, atol=1e-6)
    assert counted.gap_ <= 1e-8


@pytest.mark.parametrize("regressor", REGRESSORS)
def test_collinear_columns_without_penalty_are_fitted(regressor: Any) -> None:
    kinds = np.arange(300) % 3
    X, y = np.eye(3)[kinds], np.array([1.0, 2.0, 6.0])[kinds]
    model = regressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-4)
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize("regressor", REGRESSORS)
def test_one_row_and_constant_targets_are_fitted(regressor: Any) -> None:
    assert regressor().fit([[1.0, 2.0]], [3.0]).predict([[5.0, 5.0]])[0] == pytest.approx(3.0, rel=1e-6)
    X, _, _ = repeated(8)
    np.testing.assert_allclose(regressor().fit(X, np.full(len(X), 2.0)).predict(X), 2.0, rtol=1e-6)


def test_more_columns_than_a_matrix_of_them_allows() -> None:
    random = np.random.default_rng(0)
    X = sparse.random(300, 2500, density=0.01, random_state=0, format="csr")
    X = sparse.vstack([X, X]).tocsr()
    y = np.tile(np.asarray(X[:300].sum(axis=1)).ravel() + 0.1 * random.standard_normal(300), 2)
    net = LiftedElasticNet(alpha=0.01, tol=1e-11).fit(X, y)
    expected = ElasticNet(alpha=0.01, tol=1e-10, max_iter=10**5).fit(X, y)
    assert net.gap_ <= 1e-8
    np.testing.assert_allclose(net.predict(X), expected.predict(X), atol=1e-5)
    label = y > np.median(y)
    model = LiftedLogisticRegression(max_iter=200, tol=1e-11).fit(X, label)
    assert model.gap_ <= 1e-8
    np.testing.assert_allclose(
        model.predict_proba(X), LogisticRegression(tol=1e-10, max_iter=5000).fit(X, label).predict_proba(X), atol=1e-5
    )
    assert LiftedLogisticRegression(l1_ratio=1.0, max_iter=200).fit(X, label).gap_ <= 1e-8


def test_pipelines_grid_search_clone_and_warm_start_work() -> None:
    X, random, _ = repeated(1)
    y = X[:, 0] + random.standard_normal(len(X)) > 0
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LiftedLogisticRegression()), {"liftedlogisticregression__C": [0.1, 1.0]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.6
    model = LiftedLogisticRegression(warm_start=True).fit(X, y)
    first = model.n_iter_[0]
    assert first > 0
    assert model.fit(X, y).n_iter_[0] == 0
    assert clone(model).get_params() == model.get_params()


def test_steps_are_printed_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    X, random, _ = repeated(1)
    LiftedLogisticRegression(verbose=1).fit(X, random.integers(0, 2, len(X)))
    assert "[LiftedLogisticRegression] step 1: objective" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (LiftedLogisticRegression(), [1, 1, 1], "at least 2 classes"),
        (LiftedLogisticRegression(solver="lbfgs"), [0, 1, 1], "The 'solver' parameter of LiftedLogisticRegression"),
        (LiftedLogisticRegression(solver="newton-cg", l1_ratio=0.5), [0, 1, 1], "has no L1 penalty: use solver='auto'"),
        (LiftedLogisticRegression(C=0.0), [0, 1, 1], "The 'C' parameter"),
        (LiftedLogisticRegression(class_weight={7: 1.0}), [0, 1, 1], r"\[7\], are not in class_weight"),
        (LiftedLogisticRegression(class_weight={1: 0.0}), [0, 1, 1], "leaves a label without weight"),
        (LiftedPoissonRegressor(), [-1, 1, 1], "out of the valid range of Poisson regression: -1 < 0"),
        (LiftedPoissonRegressor(), [0, 0, 0], "all values of y are 0"),
        (LiftedQuantileRegressor(quantile=1.0), [0, 1, 1], "The 'quantile' parameter"),
        (LiftedLasso(alpha=-1.0), [0, 1, 1], "The 'alpha' parameter of LiftedLasso"),
    ],
)
def test_what_cannot_be_fitted_is_refused(model: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0], [2.0]], y)


def test_missing_numbers_and_negative_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        LiftedLasso().fit([[np.nan], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        LiftedLasso().fit([[0.0], [1.0]], [0.0, 1.0], [-1.0, 1.0])
    with pytest.raises(ValueError, match=r"at least one non-zero number|zero or negative weights"):
        LiftedLasso().fit([[0.0], [1.0]], [0.0, 1.0], [0.0, 0.0])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 30), st.floats(0.1, 0.9))
def test_frisch_newton_closes_its_gap(seed: int, size: int, quantile: float) -> None:
    random = np.random.default_rng(seed)
    X = np.column_stack([np.ones(size), random.integers(0, 3, size)])
    y, weight = random.integers(0, 5, size).astype(float), random.uniform(0.5, 3, size)
    found = solve_bounded(sparse.csr_array(X.T), y, (quantile - 1) * weight, quantile * weight, tolerance=1e-9)
    errors = y - X @ found.duals
    primal = weight @ np.maximum(quantile * errors, (quantile - 1) * errors)
    assert primal - y @ found.d == pytest.approx(0.0, abs=1e-6)
    assert np.abs(X.T @ found.d).max() < 1e-7
