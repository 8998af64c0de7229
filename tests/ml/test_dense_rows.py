"""Rows that do not repeat: the same optimum by every way of taking steps, and shortcuts that change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

from threadpoolctl import threadpool_info

from relift.ml import LiftedElasticNet, LiftedLogisticRegression, LiftedPoissonRegressor, newton, preconditioner
from relift.ml.blas_threads import one_blas_thread
from relift.ml.glm import LinearAnswer, LinearProblem, solve_linear
from relift.ml.grouping import group_rows
from relift.ml.losses import Logistic, Loss, Multinomial, Poisson, Squared
from relift.ml.newton import NewtonSystem, scores_of, sums_of
from relift.ml.preconditioner import Preconditioner, weighted_moments
from relift.ml.tied_columns import tied_columns


def measured(seed: int, n_rows: int, n_columns: int, n_labels: int) -> tuple[Any, Any]:
    """Correlated columns of many sizes, and labels that depend on some of them."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_columns)) + random.standard_normal((n_rows, 2)) @ random.standard_normal(
        (2, n_columns)
    )
    y = (X[:, :5] @ random.standard_normal((5, n_labels)) + 2.0 * random.gumbel(size=(n_rows, n_labels))).argmax(axis=1)
    return X * np.exp(random.normal(0.0, 2.0, n_columns)) + random.normal(0.0, 3.0, n_columns), y


def loss_of(X: Any, y: Any, n_labels: int) -> Loss:
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    if n_labels == 2:
        return Logistic(weight, y[:, None].astype(float))
    return Multinomial(weight, np.eye(n_labels)[y])


# ---- steps ----


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 6]), st.sampled_from([1e-3, 1.0, 1e3]), st.booleans())
def test_all_ways_of_taking_steps_end_at_the_optimum(seed: int, n_labels: int, C: float, intercept: bool) -> None:
    X, y = measured(seed, 400, 45, n_labels)
    fits = [
        LiftedLogisticRegression(C=C, solver=solver, fit_intercept=intercept).fit(X, y)
        for solver in ("auto", "newton-cg", "newton-cholesky")
    ]
    for model in fits:
        assert model.gap_ <= 1e-8
    values = [model.primal_value_ for model in fits]
    assert max(values) - min(values) <= 1e-8 * len(y) * np.log(n_labels)


@pytest.mark.parametrize("n_labels", [2, 4])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_conjugate_gradients_solve_the_system_of_the_whole_matrix(n_labels: int, intercept: bool, name: str) -> None:
    X, y = measured(1, 60, 7, n_labels)
    loss, l2, random = loss_of(X, y, n_labels), np.full(7, 0.5), np.random.default_rng(2)
    means = loss.value_and_means(0.3 * random.standard_normal((60, loss.n_outputs)))[1]
    slope = random.standard_normal((8, loss.n_outputs))
    slope -= slope.mean(axis=1, keepdims=True) if n_labels > 2 else 0.0  # as slopes are: they sum to 0 over labels
    slope[-1] *= intercept
    rows = X if name == "dense" else sparse.csr_array(X)
    exact, inexact = (
        NewtonSystem(rows, loss, l2, intercept, solver).direction(slope, means, 0.0)
        for solver in ("newton-cholesky", "newton-cg")
    )
    for _ in range(3):  # each solve leaves a tenth of the squared length at most
        inexact = inexact + NewtonSystem(rows, loss, l2, intercept, "newton-cg").direction(
            slope - products(rows, loss, l2, intercept, means, inexact), means, 0.0
        )
    np.testing.assert_allclose(inexact, exact, atol=0.05 * np.abs(exact).max())
    np.testing.assert_allclose(products(rows, loss, l2, intercept, means, exact), slope, atol=1e-8)


def products(X: Any, loss: Loss, l2: Any, intercept: bool, means: Any, direction: Any) -> Any:
    """The second derivatives times a direction, row by row."""
    X = X.toarray() if sparse.issparse(X) else X
    found = np.vstack([l2[:, None] * direction[:-1], np.zeros((1, direction.shape[1]))])
    for x, weight, m in zip(X, loss.weight, means, strict=True):
        one = np.append(x, float(intercept))
        sigma = np.diag(m) - np.outer(m, m) if len(m) > 1 else np.diag(m * (1.0 - m))
        found += weight * np.outer(one, sigma @ (one @ direction))
    return found


@pytest.mark.parametrize("n_labels", [2, 3])
def test_blocks_of_all_rows_are_inverted_where_directions_sum_to_zero(n_labels: int) -> None:
    X, y = measured(3, 80, 5, n_labels)
    loss, l2 = loss_of(X, y, n_labels), np.full(5, 2.0)
    means = loss.value_and_means(np.random.default_rng(0).standard_normal((80, loss.n_outputs)))[1]
    blocks = Preconditioner(X, loss, l2, True)
    blocks.refresh(means, is_due=False)
    blocks.refresh(means, is_due=True)
    left = np.random.default_rng(1).standard_normal((6, loss.n_outputs))
    found = blocks.solve(left)
    h = loss.curvature(means)
    price = np.diag(np.append(l2, 0.0))
    rests = np.column_stack([
        left[:, k] - (weighted_moments(X, h[:, k]) + price) @ found[:, k] for k in range(loss.n_outputs)
    ])  # fmt: skip
    if n_labels > 2:  # what is left is the same for all labels, and directions sum to 0
        np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-7 * np.abs(found).max())
        rests -= rests.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(rests, 0.0, atol=1e-5)


def test_a_sample_of_rows_serves_rare_columns_and_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preconditioner, "LEAST_SAMPLE", 10)
    monkeypatch.setattr(preconditioner, "SAMPLE", 3)
    X, y = measured(4, 3000, 60, 3)
    X[:, 0], y[:4] = np.arange(3000) == 7, 3
    model = LiftedLogisticRegression(C=10.0).fit(X, y)
    assert model.gap_ <= 1e-8
    exact = LiftedLogisticRegression(C=10.0, solver="newton-cholesky").fit(X, y)
    assert model.primal_value_ <= exact.primal_value_ + 1e-8 * 3000 * np.log(4)


def test_diagonals_serve_where_blocks_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preconditioner, "BLOCK_ENTRIES", 10)
    X, y = measured(5, 300, 30, 3)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert LiftedLogisticRegression(C=0.1).fit(X, y).gap_ <= 1e-8


def test_steps_get_more_exact_where_the_objective_no_longer_changes() -> None:
    X, y = measured(6, 2000, 72, 2)
    model = LiftedLogisticRegression(C=3.0).fit(1e8 * (X - X.mean(axis=0)) / X.std(axis=0), y)
    assert model.gap_ <= 1e-8  # slopes count 1e16 times as much as for columns of size 1


@pytest.mark.parametrize("n_outputs", [1, newton.FEW_OUTPUTS, newton.FEW_OUTPUTS + 1])
@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_products_do_not_depend_on_the_number_of_outputs(n_outputs: int, name: str) -> None:
    random = np.random.default_rng(7)
    X, W, values = random.standard_normal((9, 4)), random.standard_normal((4, n_outputs)), np.ones((9, n_outputs))
    rows = X if name == "dense" else sparse.csr_array(X)
    np.testing.assert_allclose(scores_of(rows, W), X @ W)
    np.testing.assert_allclose(sums_of(rows, np.asfortranarray(values)), X.T @ values)


@pytest.mark.parametrize("weights", [np.full(50, 2.0), np.linspace(0.0, 1.0, 50), np.linspace(-1.0, 1.0, 50)])
def test_weighted_moments_are_sums_over_the_rows(weights: Any) -> None:
    X = np.random.default_rng(8).standard_normal((50, 3))
    ones = np.column_stack([X, np.ones(50)])
    expected = sum(w * np.outer(x, x) for w, x in zip(weights, ones, strict=True))
    for rows in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(weighted_moments(rows, weights), expected, atol=1e-12)


# ---- losses and proofs ----


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([Squared, Poisson, Logistic, Multinomial]))
def test_losses_are_their_formulas(seed: int, kind: type[Loss]) -> None:
    random = np.random.default_rng(seed)
    n_outputs = 3 if kind is Multinomial else 1
    f = 3.0 * random.standard_normal((20, n_outputs))
    weight, mean = random.uniform(0.5, 2.0, 20), random.dirichlet(np.ones(4), 20)[:, :n_outputs]
    mean = mean / mean.sum(axis=1, keepdims=True) if kind is Multinomial else mean
    value, means = kind(weight, mean).value_and_means(f)
    if kind is Squared:
        terms, expected = 0.5 * f**2, f
    elif kind is Poisson:
        terms, expected = np.exp(f), np.exp(f)
    elif kind is Logistic:
        terms, expected = np.logaddexp(0.0, f), 1.0 / (1.0 + np.exp(-f))
    else:
        terms, expected = np.log(np.exp(f).sum(axis=1, keepdims=True)), np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(value, weight @ (terms[:, 0] - (f * mean).sum(axis=1)), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(means, expected, rtol=1e-12)


def test_a_gap_that_is_not_a_number_proves_nothing() -> None:
    answer = LinearAnswer(np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1)), 1.0, np.nan, 0)
    assert answer.gap == np.inf


@pytest.mark.parametrize("kind", [Logistic, Multinomial, Poisson])
def test_means_that_rounding_left_outside_have_an_entropy(kind: type[Loss]) -> None:
    means = np.array([[1.0 + 2e-16, -1e-17]])[:, : 2 if kind is Multinomial else 1]
    for each in (means, 1.0 - means):
        assert np.isfinite(kind(np.ones(1), means).conjugate(each))


def test_labels_told_apart_by_far_leave_no_wrong_proof() -> None:
    X, y = measured(9, 300, 6, 2)
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    weight = np.random.default_rng(1).choice([0.1, 1.0, 50.0], 300)
    for C in (1.0, 60.0, 1e6):
        model = LiftedLogisticRegression(C=C).fit(X, y, weight)
        assert np.isfinite(model.gap_)
        # Both are sums of terms that are larger than they are, of which BLAS rounds the last digits.
        assert model.dual_value_ <= model.primal_value_ * (1 + 1e-9)


def test_logarithms_of_probabilities_are_finite() -> None:
    X, y = measured(10, 200, 5, 3)
    for labels in (y, y > 0):
        model = LiftedLogisticRegression().fit(X, labels)
        logs = model.predict_log_proba(1e6 * X)
        assert np.isfinite(logs).all()
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), atol=1e-14)


# ---- shortcuts ----


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 6), st.booleans())
def test_columns_are_tied_as_all_rows_say(seed: int, n_rows: int, n_columns: int, starts_with_zeros: bool) -> None:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_columns)).round(int(random.integers(0, 3)))
    X[:, random.integers(n_columns)] = 2.0 * X[:, random.integers(n_columns)]
    if starts_with_zeros:
        X[: n_rows // 2] = 0.0
    labels = tied_columns(X, 0.0, 1.0).labels
    for j in range(n_columns):
        for k in range(n_columns):
            assert (labels[j] == labels[k]) == _are_tied(X[:, j], X[:, k])


def _are_tied(first: Any, second: Any) -> bool:
    if not first.any() or not second.any():
        return not first.any() and not second.any()
    return bool(np.array_equal(first / first[first != 0][0], second / second[second != 0][0]))


def test_columns_that_differ_late_are_not_tied_and_those_that_do_not_are() -> None:
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[:, 2] = 2.0 * X[:, 0]
    assert len(tied_columns(X, 0.0, 1.0).first) == 2
    X[39, 2] += 1.0
    assert len(tied_columns(X, 0.0, 1.0).first) == 3


@pytest.mark.parametrize("n_first", [1, 3, 4])
def test_rows_that_differ_in_their_last_column_only_are_told_apart(n_first: int) -> None:
    X = np.zeros((50, n_first + 1))
    X[:, -1] = np.arange(50) // 2
    assert group_rows(X).size == 25
    assert group_rows(X[::2]).size == 25


# ---- threads ----


def test_one_thread_of_blas_is_used_inside_the_block_only() -> None:
    def threads() -> list[int]:
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    before = threads()
    with one_blas_thread():
        with one_blas_thread():
            pass
        inside = threads()
    assert set(inside) <= {1}
    assert threads() == before


@pytest.mark.parametrize("model", [LiftedLogisticRegression(), LiftedElasticNet(alpha=0.1), LiftedPoissonRegressor()])
def test_rows_of_the_caller_stay_as_they_are(model: Any) -> None:
    X, y = measured(11, 100, 5, 2)
    for rows in (X, sparse.csr_array(X)):
        before = rows.copy()
        model.fit(rows, y)
        assert (rows != before).sum() == 0


def test_a_start_that_does_not_sum_to_zero_over_labels_ends_at_the_optimum() -> None:
    X, y = measured(12, 200, 20, 4)
    problem = LinearProblem(X, loss_of(X, y, 4), np.zeros(20), np.ones(20), True)
    random = np.random.default_rng(0)
    answers = [
        solve_linear(problem, tolerance=1e-6, most=200, start=start)
        for start in (None, (random.uniform(0.0, 0.01, (20, 4)), random.uniform(0.0, 1.0, 4)))
    ]
    assert all(answer.gap <= 1e-6 for answer in answers)
    np.testing.assert_allclose(answers[0].W, answers[1].W, atol=1e-3)
