"""The solver over examples: its answers are feasible, proved, and those of its slow twin, from every kind of kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

from sklearn.metrics.pairwise import rbf_kernel

from relift.arrays import Double, Examples
from relift.ml import compiled, dual_machine
from relift.ml.dual_machine import (
    REACHED,
    STEP_LIMIT,
    TIME_LIMIT,
    DualLimits,
    LabelMachines,
    machine_of,
    machine_of_matrix,
)
from relift.ml.dual_reference import ReferenceMachine
from relift.ml.kernels import FunctionKernel, KernelSource, MatrixKernel, PointKernel, SparseKernel
from relift.ml.small_dual import best_bias_of, gap_terms

needs_core = pytest.mark.skipif(not compiled.CORE_IS_COMPILED, reason="relift._ml_core is not compiled")


def machine_data(n: int, d: int, C: float, seed: int, regression: bool = False) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    sign = np.where(random.uniform(size=n) < 0.5, -1.0, 1.0)
    sign[:2] = [-1.0, 1.0]
    X[:, 0] += 0.7 * sign
    bound = C * random.uniform(0.2, 1.5, n)
    if regression:
        return X, np.sin(2 * X[:, 0]) + 0.2 * random.standard_normal(n), -bound, bound
    return X, sign, np.where(sign < 0, -bound, 0.0), np.where(sign > 0, bound, 0.0)


def dual_value(K: np.ndarray, c: np.ndarray, beta: np.ndarray, epsilon: float) -> float:
    return float(c @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta)


@needs_core
@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 120), st.integers(1, 5), st.sampled_from([0.1, 1.0, 100.0]), st.sampled_from([0.1, 1.0, 5.0]),
    st.integers(0, 10_000), st.booleans(), st.sampled_from([np.float32, np.float64]), st.sampled_from([1, 1 << 26]),
    st.booleans(),
)  # fmt: skip
def test_the_answer_is_feasible_proved_and_that_of_the_twin(
    n: int, d: int, C: float, gamma: float, seed: int, regression: bool, dtype: type, cache_bytes: int, keeps_rows: bool
) -> None:
    X, c, lo, hi = machine_data(n, d, C, seed, regression)
    epsilon = 0.1 if regression else 0.0
    source = PointKernel(X.astype(dtype), "rbf", gamma, 0.0, 3)
    K = rbf_kernel(source.points.astype(float), gamma=gamma)
    beta, other = np.zeros(n), np.zeros(n)
    limits = DualLimits(1e-4)
    machine = machine_of(source, cache_bytes, keeps_rows)
    if keeps_rows:  # rows that another solve has computed, with other prices
        machine.solve(c, lo / 2, hi / 2, epsilon, np.zeros(n), None, limits)
    outcome, v = machine.solve(c, lo, hi, epsilon, beta, None, limits)
    found = ReferenceMachine(source).solve(
        c, lo, hi, epsilon, other, c.copy(), True, 1e-4, np.inf, 1e-11, 10**7, np.inf
    )
    assert outcome.status == REACHED
    assert (lo <= beta).all()
    assert (beta <= hi).all()
    assert abs(beta.sum()) <= 1e-9 * max(1.0, np.abs(beta).sum())
    size = 1.0 + np.abs(beta).sum()
    np.testing.assert_allclose(v, c - K @ beta, atol=2e-6 * size)
    assert outcome.dual_value == pytest.approx(dual_value(K, c, beta, epsilon), rel=1e-4, abs=1e-6 * size)
    best = max(outcome.dual_value, found[5])
    assert outcome.dual_value + outcome.total >= best * (1 - 1e-5) - 1e-6 * size
    assert outcome.dual_value == pytest.approx(found[5], rel=3e-4, abs=1e-5 * size)


@needs_core
@pytest.mark.parametrize("C", [10.0, 1000.0])
def test_shrinking_leaves_the_proof_on_all_examples(C: float) -> None:
    X, c, lo, hi = machine_data(1500, 2, C, 0)
    source = PointKernel(X.astype(np.float32), "rbf", 0.5, 0.0, 3)
    beta = np.zeros(1500)
    outcome, v = machine_of(source).solve(c, lo, hi, 0.0, beta, None, DualLimits(1e-3))
    assert outcome.status == REACHED
    assert outcome.steps > 2000  # long enough for examples to be left out and looked at again
    K = rbf_kernel(source.points.astype(float), gamma=0.5)
    np.testing.assert_allclose(v, c - K @ beta, atol=1e-7 * np.abs(beta).sum())
    push = c - outcome.scale * (K @ beta + outcome.bias)
    square = outcome.scale**2 * float(beta @ K @ beta)
    primal = 0.5 * square + np.maximum(hi * push, lo * push).sum()
    dual = dual_value(K, c, beta, 0.0)
    assert (primal - dual) / dual == pytest.approx(outcome.gap, abs=1e-5)
    assert (primal - dual) / dual <= 1.01e-3


@needs_core
def test_every_kind_of_kernel_gives_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    X, c, lo, hi = machine_data(150, 4, 5.0, 3)
    K = rbf_kernel(X, gamma=0.3)

    def function(A: Examples, B: Examples) -> Double:
        return rbf_kernel(A, B, gamma=0.3)

    whole = FunctionKernel(X, function)
    sources: list[KernelSource] = [
        PointKernel(X, "rbf", 0.3, 0.0, 3),
        PointKernel(X.astype(np.float32), "rbf", 0.3, 0.0, 3),
        SparseKernel(sparse.csr_matrix(X), "rbf", 0.3, 0.0, 3),
        MatrixKernel(K),
        whole,
    ]
    values = []
    for source in sources:
        beta = np.zeros(150)
        machine_of(source).solve(c, lo, hi, 0.0, beta, None, DualLimits(1e-7))
        values.append(dual_value(K, c, beta, 0.0))
    monkeypatch.setattr(dual_machine, "MATRIX_LIMIT", 10)
    beta = np.zeros(150)
    machine_of(whole).solve(c, lo, hi, 0.0, beta, None, DualLimits(1e-7))  # rows by a call each
    values.append(dual_value(K, c, beta, 0.0))
    np.testing.assert_allclose(values, values[0], rtol=1e-5)


@needs_core
@pytest.mark.parametrize("kernel", [("poly", 0.4, 1.0, 3), ("linear", 1.0, 0.0, 3), ("sigmoid", 0.1, 0.0, 3)])
def test_sparse_rows_are_dense_rows(kernel: tuple) -> None:
    X = sparse.random(80, 12, density=0.3, random_state=0, format="csr")
    c = np.where(np.arange(80) % 2, 1.0, -1.0)
    lo, hi = np.minimum(c, 0.0), np.maximum(c, 0.0)
    found = []
    for source in (SparseKernel(X, *kernel), PointKernel(X.toarray(), *kernel)):
        beta = np.zeros(80)
        outcome, _ = machine_of(source).solve(c, lo, hi, 0.0, beta, None, DualLimits(1e-6))
        found.append(outcome.dual_value)
    assert found[0] == pytest.approx(found[1], rel=1e-5)


@needs_core
def test_an_error_inside_a_kernel_function_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dual_machine, "MATRIX_LIMIT", 10)
    X, c, lo, hi = machine_data(40, 2, 1.0, 0)
    calls = []

    def function(A: Examples, B: Examples) -> Double:
        calls.append(1)
        if len(calls) > 3:
            raise RuntimeError("no more rows today")
        return rbf_kernel(A, B)

    with pytest.raises(RuntimeError, match="no more rows today"):
        machine_of(FunctionKernel(X, function)).solve(c, lo, hi, 0.0, np.zeros(40), c.copy(), DualLimits(1e-9))


def test_limits_end_a_solve_with_a_feasible_point_and_a_true_gap() -> None:
    X, c, lo, hi = machine_data(300, 2, 100.0, 1)
    machine = machine_of(PointKernel(X, "rbf", 1.0, 0.0, 3))
    beta = np.zeros(300)
    outcome, v = machine.solve(c, lo, hi, 0.0, beta, None, DualLimits(1e-9, max_steps=50))
    assert (outcome.status, outcome.steps) == (STEP_LIMIT, 50)
    terms = gap_terms(v, best_bias_of(v, lo, hi, 0.0), beta, lo, hi)
    assert terms.sum() <= outcome.total * (1 + 1e-9)
    late, _ = machine.solve(c, lo, hi, 0.0, np.zeros(300), None, DualLimits(1e-12, max_seconds=0.0))
    assert late.status == TIME_LIMIT


def test_a_machine_solves_again_with_other_bounds_from_another_point() -> None:
    X, c, lo, hi = machine_data(200, 2, 1.0, 2)
    source = PointKernel(X, "rbf", 1.0, 0.0, 3)
    machine = machine_of(source)
    beta = np.zeros(200)
    _, v = machine.solve(c, lo, hi, 0.0, beta, None, DualLimits(1e-6))
    held = np.arange(200) % 4 == 0  # held out: no part in the solution, but v is kept for them
    lo2, hi2 = np.where(held, 0.0, 3 * lo), np.where(held, 0.0, 3 * hi)
    start = np.zeros(200)
    warm, v = machine.solve(c, lo2, hi2, 0.0, start, None, DualLimits(1e-6))
    assert (start[held] == 0).all()
    cold = np.zeros(200)
    fresh, _ = machine_of(source).solve(c, lo2, hi2, 0.0, cold, None, DualLimits(1e-6))
    assert warm.dual_value == pytest.approx(fresh.dual_value, rel=1e-5)
    np.testing.assert_allclose(v, c - rbf_kernel(X, gamma=1.0) @ start, atol=1e-9 * np.abs(start).sum())


def test_pairs_of_labels_are_the_machines_of_their_points() -> None:
    random = np.random.default_rng(0)
    X = random.standard_normal((90, 3))
    begin = np.array([0, 20, 55, 90], dtype=np.int32)
    source = PointKernel(X, "rbf", 0.5, 0.0, 3)
    shared = LabelMachines(source, begin)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        members = shared.members(first, second)
        n_first = int(begin[first + 1] - begin[first])
        c = np.where(np.arange(len(members)) < n_first, 1.0, -1.0)
        values = []
        for machine in (shared.pair(first, second), machine_of(source.subset(members))):
            beta = np.zeros(len(members))
            outcome, _ = machine.solve(c, np.minimum(2 * c, 0), np.maximum(2 * c, 0), 0.0, beta, None, DualLimits(1e-8))
            values.append(outcome.dual_value)
        assert values[0] == pytest.approx(values[1], rel=1e-7)


def test_a_machine_over_members_of_a_matrix_is_that_of_the_submatrix() -> None:
    X, c, lo, hi = machine_data(60, 2, 1.0, 4)
    K = rbf_kernel(X)
    members = np.arange(0, 60, 2, dtype=np.int32)
    one, other = np.zeros(30), np.zeros(30)
    machine_of_matrix(K, members).solve(c[members], lo[members], hi[members], 0.0, one, None, DualLimits(1e-8))
    part = np.ascontiguousarray(K[np.ix_(members, members)])
    machine_of_matrix(part, None).solve(c[members], lo[members], hi[members], 0.0, other, None, DualLimits(1e-8))
    np.testing.assert_allclose(one, other, atol=1e-4)


@needs_core
def test_wrong_arrays_are_refused_by_the_compiled_part() -> None:
    core = dual_machine.core()
    with pytest.raises(ValueError, match="no features"):
        core.point_machine(np.zeros((3, 0)), 0, 1.0, 0.0, 3, 1 << 20, False)
    with pytest.raises(ValueError, match="not square"):
        core.matrix_machine(np.zeros((3, 2)), np.arange(2, dtype=np.int32), 1 << 20)
    with pytest.raises(ValueError, match="a member is out of range"):
        core.matrix_machine(np.eye(3), np.array([3], dtype=np.int32), 1 << 20)
    with pytest.raises(ValueError, match="begin does not part the points"):
        core.label_machines(np.zeros((3, 1)), np.array([0, 2], dtype=np.int32), 0, 1.0, 0.0, 3, 1 << 20)
    with pytest.raises(ValueError, match="an index is out of range"):
        core.sparse_machine(
            np.ones(1), np.array([5], dtype=np.int32), np.array([0, 1], dtype=np.int32), 2, 0, 1.0, 0.0, 3, 1
        )
    machine = core.point_machine(np.zeros((3, 1)), 0, 1.0, 0.0, 3, 1 << 20, False)
    short, right = np.zeros(2), np.zeros(3)
    with pytest.raises(ValueError, match="c has a wrong type or length"):
        core.solve_dual(machine, short, right, right, 0.0, right, right, True, 1e-3, 1.0, 0.0, 10, 1.0)


@needs_core
@settings(max_examples=30, deadline=None)
@given(st.integers(3, 6), st.integers(0, 10_000), st.sampled_from([0.1, 10.0, 1000.0]), st.sampled_from([1, 1 << 26]))
def test_all_pairs_at_once_are_the_pairs_one_by_one(n_labels: int, seed: int, C: float, cache_bytes: int) -> None:
    random = np.random.default_rng(seed)
    begin = np.concatenate([[0], np.cumsum(random.integers(1, 12, n_labels))]).astype(np.int32)
    total = C * random.uniform(0.1, 2.0, int(begin[-1]))
    source = PointKernel(random.standard_normal((len(total), 3)).astype(np.float32), "rbf", 0.7, 0.0, 3)
    machines, limits = LabelMachines(source, begin, cache_bytes), DualLimits(1e-3, 1e-3)
    at_once = machines.solve_all(total, limits)
    assert at_once is not None
    outcomes, coefficients = at_once
    expected, number = np.zeros_like(coefficients), 0
    for i in range(n_labels):
        for j in range(i + 1, n_labels):
            members = machines.members(i, j)
            c = np.where(members < begin[i + 1], 1.0, -1.0)
            lo, hi = np.minimum(c * total[members], 0.0), np.maximum(c * total[members], 0.0)
            beta = np.zeros(len(members))
            outcome, _ = machines.pair(i, j).solve(c, lo, hi, 0.0, beta, c.copy(), limits)
            assert outcomes[number][0][:2] == outcome[:2]
            np.testing.assert_array_equal(outcomes[number][0][3:], outcome[3:])
            n_i = int(begin[i + 1] - begin[i])
            expected[j, members[:n_i]], expected[i, members[n_i:]] = beta[:n_i], beta[n_i:]
            number += 1
    assert number == len(outcomes)
    np.testing.assert_array_equal(coefficients, expected)


@needs_core
def test_pairs_at_once_refuse_arrays_of_other_sizes() -> None:
    source = PointKernel(np.zeros((4, 1), dtype=np.float32), "rbf", 1.0, 0.0, 3)
    machines = LabelMachines(source, np.array([0, 1, 2, 4], dtype=np.int32))
    with pytest.raises(ValueError, match="total"):
        machines.solve_all(np.ones(3), DualLimits(1e-3))
