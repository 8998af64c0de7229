"""The gap that is reported is proved: it bounds the distance from the true optimum, on every path to an answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.ml import class_rounds, dual, exact
from relift.ml.dual import solve_lifted
from relift.ml.dual_problem import DualAnswer, DualProblem, LiftOptions
from relift.ml.exact import solve_exact
from relift.ml.kernels import FunctionKernel, PointKernel, dense_function
from relift.ml.landmarks import choose_landmarks
from relift.ml.small_dual import balanced, best_bias, gap_terms, solve_small


def problem(n: int, d: int, gamma: float, C: float, seed: int, single: bool = True) -> DualProblem:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    y = np.where(random.uniform(size=n) < 0.5, -1.0, 1.0)
    y[:2] = [-1.0, 1.0]
    X[:, 0] += y
    bound = C * random.uniform(0.5, 1.5, n)
    lo, hi = np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0)
    source = (
        PointKernel(X.astype(np.float32), "rbf", gamma, 0.0, 3)
        if single
        else FunctionKernel(X, dense_function("rbf", gamma, 0.0, 3))
    )
    return DualProblem(source, y, lo, hi, X.astype(np.float32))


def optimum(given_problem: DualProblem) -> float:
    """The dual optimum by Clarabel on the dense kernel matrix."""
    everything = np.arange(len(given_problem.c))
    K = given_problem.source.block(everything, everything)
    beta, _ = solve_small(
        K, given_problem.c, given_problem.lo, given_problem.hi, np.zeros(len(everything)), "clarabel", 1e-9
    )
    return float(given_problem.c @ beta - 0.5 * beta @ K @ beta)


def check_answer(given_problem: DualProblem, answer: DualAnswer) -> None:
    assert (answer.beta >= given_problem.lo - 1e-12).all()
    assert (answer.beta <= given_problem.hi + 1e-12).all()
    assert abs(answer.beta.sum()) <= 1e-9 * np.abs(answer.beta).sum() + 1e-12
    best = optimum(given_problem)
    slack = 1e-4 * max(1.0, abs(best))
    assert answer.dual_value <= best + slack
    assert best <= answer.primal_value + slack
    assert best - answer.dual_value <= answer.gap * max(abs(answer.dual_value), 1e-12) + slack
    for label in np.unique(answer.labels):  # classes are label-pure
        assert len(np.unique(given_problem.c[answer.labels == label] > 0)) == 1


@settings(max_examples=40, deadline=None)
@given(
    st.integers(4, 150), st.integers(1, 6), st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from([0.3, 2.0]),
    st.integers(0, 10_000), st.integers(1, 12), st.sampled_from(["auto", "landmarks"]),
)  # fmt: skip
def test_the_gap_bounds_the_distance_from_the_optimum(
    n: int, d: int, gamma: float, C: float, seed: int, n_classes: int, expansion: str
) -> None:
    given_problem = problem(n, d, gamma, C, seed)
    options = LiftOptions(n_classes=n_classes, n_landmarks=20, tol_gap=0.05, expansion=expansion)
    answer = solve_lifted(given_problem, options)
    assert answer.gap <= 0.05
    check_answer(given_problem, answer)


def test_without_rounds_and_steps_the_gap_is_large_and_still_true() -> None:
    given_problem = problem(200, 2, 1.0, 1.0, 0)
    options = LiftOptions(n_classes=2, n_landmarks=5, tol_gap=1e-6, most_rounds=0, max_steps=0)
    answer = solve_lifted(given_problem, options)
    assert answer.gap > 0.01
    check_answer(given_problem, answer)


def test_large_problems_are_proved_by_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dual, "SUPPORT_WORK", 0.0)
    monkeypatch.setattr(class_rounds, "EXTEND_FROM", 100)
    given_problem = problem(400, 2, 0.2, 1.0, 1)
    answer = solve_lifted(given_problem, LiftOptions(n_classes=60))
    assert answer.landmarks is not None
    assert answer.coefficients is not None
    check_answer(given_problem, answer)
    # The primal value is that of the combination of landmarks.
    source = given_problem.source
    f = source.sums(None, answer.landmarks, answer.coefficients)
    norm = answer.coefficients @ source.block(answer.landmarks, answer.landmarks) @ answer.coefficients
    push = given_problem.c - f - answer.bias
    loss = np.maximum(given_problem.hi * push, given_problem.lo * push).sum()
    assert 0.5 * norm + loss == pytest.approx(answer.primal_value, rel=1e-4)


@pytest.mark.parametrize("solver", ["smo", "clarabel", "cutting_plane", "sgd"])
def test_every_solver_of_the_small_dual_comes_near_the_optimum(solver: str) -> None:
    given_problem = problem(60, 2, 1.0, 1.0, 3)
    everything = np.arange(60)
    K = given_problem.source.block(everything, everything)
    c, lo, hi = given_problem.c, given_problem.lo, given_problem.hi
    beta, steps = solve_small(K, c, lo, hi, np.zeros(60), solver, 1e-4)
    assert steps > 0
    assert (beta >= lo - 1e-9).all()
    assert (beta <= hi + 1e-9).all()
    assert abs(beta.sum()) < 1e-9
    value, best = c @ beta - 0.5 * beta @ K @ beta, optimum(given_problem)
    assert value <= best + 1e-6
    assert value >= best * (0.97 if solver == "sgd" else 0.999)
    answer = solve_lifted(given_problem, LiftOptions(n_classes=10, solver=solver))
    assert answer.gap <= 0.01
    check_answer(given_problem, answer)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 40), st.integers(0, 10_000))
def test_the_best_bias_is_best(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    v = random.standard_normal(n).round(1)
    bound = random.integers(0, 3, n).astype(float)
    sign = random.integers(0, 2, n)
    lo, hi = np.where(sign, 0.0, -bound), np.where(sign, bound, 0.0)
    zero = np.zeros(n)
    least = gap_terms(v, best_bias(v, lo, hi), zero, lo, hi).sum()
    for bias in [*v, *(v + 0.05), *(v - 0.05)]:
        assert least <= gap_terms(v, bias, zero, lo, hi).sum() + 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_the_gap_terms_add_up_to_primal_minus_dual_value(epsilon: float) -> None:
    random = np.random.default_rng(4)
    n = 12
    Z = random.standard_normal((n, 3))
    K, c = Z @ Z.T, random.standard_normal(n)
    lo, hi = -random.uniform(0.1, 2.0, n), random.uniform(0.1, 2.0, n)
    beta = balanced(random.uniform(lo, hi))
    bias, v = 0.4, c - K @ beta
    loss = np.maximum(np.maximum(hi * (v - bias - epsilon), lo * (v - bias + epsilon)), 0.0 if epsilon else -np.inf)
    primal = 0.5 * beta @ K @ beta + loss.sum()
    dual_value = c @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta
    assert gap_terms(v, bias, beta, lo, hi, epsilon).sum() == pytest.approx(primal - dual_value, rel=1e-12)


def test_the_best_bias_of_many_is_that_of_a_full_sort(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    v, sign = random.standard_normal(20_000), random.integers(0, 2, 20_000)
    lo, hi = np.where(sign, 0.0, -1.0), np.where(sign, random.uniform(0, 5, 20_000), 0.0)
    quick = best_bias(v, lo, hi)
    monkeypatch.setattr("relift.ml.small_dual.WINDOW_FROM", 10**9)
    assert quick == best_bias(v, lo, hi)


def test_balancing_keeps_the_box() -> None:
    assert balanced(np.array([1.0, 2.0, -1.0])).tolist() == [1 / 3, 2 / 3, -1.0]
    assert balanced(np.array([1.0, -3.0])).tolist() == [1.0, -1.0]
    assert balanced(np.zeros(3)).tolist() == [0.0] * 3


def test_landmarks_represent_a_smooth_kernel_and_extension_helps() -> None:
    given_problem = problem(500, 2, 0.2, 1.0, 0)
    landmarks = choose_landmarks(given_problem.source, np.random.default_rng(0), 15)
    everything = np.arange(500)

    def worst(chosen: object) -> float:
        z = chosen.features(given_problem.source.block(everything, chosen.index))  # type: ignore[attr-defined]
        return float((1 - (z**2).sum(axis=1)).max())

    more = landmarks.extended(given_problem.source, everything, 30)
    assert len(more.index) > len(landmarks.index)
    assert worst(more) < 0.3 * worst(landmarks)
    np.testing.assert_allclose(more.R.T @ more.R, given_problem.source.block(more.index, more.index), atol=1e-5)


def test_exact_classes_are_the_orbits_of_a_symmetric_set() -> None:
    angles = np.arange(16) * np.pi / 8
    X = np.concatenate(
        [np.column_stack([np.cos(angles), np.sin(angles)]), 2 * np.column_stack([np.cos(angles), np.sin(angles)])]
    )
    y = np.repeat([1.0, -1.0], 16)
    source = FunctionKernel(X, dense_function("rbf", 0.5, 0.0, 3))
    ring = DualProblem(source, y, np.minimum(y, 0), np.maximum(y, 0), None)
    answer = solve_exact(ring, LiftOptions(tolerance=1e-6))
    assert answer.labels.max() == 1
    assert answer.gap < 1e-5
    check_answer(ring, answer)


def test_exact_classes_tell_examples_apart_that_are_nearly_alike() -> None:
    angles = np.arange(8) * np.pi / 4
    X = np.concatenate([np.column_stack([np.cos(angles), np.sin(angles)])] * 2)
    X[8:] *= 2.0
    X[0] *= 1.001  # moves kernels in the third digit
    y = np.repeat([1.0, -1.0], 8)
    source = FunctionKernel(X, dense_function("rbf", 0.5, 0.0, 3))
    nearly = DualProblem(source, y, np.minimum(y, 0), np.maximum(y, 0), None)
    answer = solve_exact(nearly, LiftOptions(tolerance=1e-6))
    assert np.count_nonzero(answer.labels == answer.labels[0]) == 1
    assert answer.labels.max() + 1 == 10  # mirror images are still alike
    check_answer(nearly, answer)


def test_exact_mode_of_many_examples_solves_every_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "KERNEL_LIMIT", 50)
    given_problem = problem(120, 2, 1.0, 1.0, 5, single=False)
    answer = solve_exact(given_problem, LiftOptions(n_classes=10**9, tol_gap=1e-4, tolerance=1e-4))
    assert answer.gap <= 1e-4
    check_answer(given_problem, answer)
