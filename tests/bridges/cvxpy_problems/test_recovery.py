"""Quadratic constraints and geometric means are found in cones, exactly, and only used where that helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from cvxpy import Problem

cp = pytest.importorskip("cvxpy")

from tests.bridges.cvxpy_problems.problems import ring  # noqa: E402

import relift  # noqa: E402
from relift.bridges.cvxpy.compiled import Compiled  # noqa: E402
from relift.bridges.cvxpy.hidden_means import find_means  # noqa: E402
from relift.bridges.cvxpy.hidden_norms import find_norms, norm_candidates  # noqa: E402
from relift.bridges.cvxpy.hidden_quadratics import find_quadratics  # noqa: E402
from relift.bridges.cvxpy.hidden_residuals import find_residuals  # noqa: E402
from relift.bridges.cvxpy.norm_promise import fewest_classes, promising_norms  # noqa: E402
from relift.bridges.cvxpy.recovery import recover  # noqa: E402
from relift.cvxpy import Lifted  # noqa: E402


def compiled(problem: Problem) -> relift.Program:
    return Compiled.from_data(problem.get_problem_data(Lifted())[0]).program


def random_quadratics(random: np.random.Generator, n: int) -> Problem:
    """Quadratic constraints of every form in which CVXPY writes them."""
    x = cp.Variable(n)
    M, a = random.normal(size=(n + 1, n)), random.normal(size=n)
    forms = [
        cp.quad_form(x, M.T @ M) + a @ x <= 5,
        cp.sum_squares(M @ x - 1) <= 20 + a @ x,
        cp.norm(M @ x) <= 4,
        2 * cp.norm(x - 1) <= 9,
        cp.SOC(cp.Constant(3.0), x),
        cp.sum(cp.square(x)) + cp.quad_form(x, ring(n) if n > 2 else np.eye(n)) <= 6,
        cp.square(x[0]) + cp.max(x) <= 7,
        cp.quad_over_lin(x, 2.0) <= 8,
    ]
    chosen = random.permutation(len(forms))[: random.integers(1, len(forms))]
    objective = cp.norm(x - 2) if random.integers(2) else a @ x + cp.sum_squares(x - 1)
    return cp.Problem(cp.Minimize(objective + 0.1 * cp.sum(x)), [forms[k] for k in chosen])


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 7))
@settings(max_examples=40, deadline=None)
def test_restored_answer_is_optimal_for_the_problem_with_cones(seed: int, n: int) -> None:
    ground = compiled(random_quadratics(np.random.default_rng(seed), n))
    hidden = find_quadratics(ground)
    assert hidden is not None
    found = relift.solve(hidden.program, lift="none", tolerance=1e-7)
    direct = relift.solve(ground, lift="none")
    back = hidden.expand(found.solution)
    certificate = relift.certify(ground, back, 1e-5)
    assert certificate.is_optimal, certificate
    assert back.objective == pytest.approx(direct.objective, rel=1e-5, abs=1e-5)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 7))
@settings(max_examples=30, deadline=None)
def test_a_point_is_feasible_with_cones_if_and_only_if_it_is_without(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    ground = compiled(random_quadratics(random, n))
    hidden = find_quadratics(ground)
    assert hidden is not None
    x = random.normal(size=hidden.program.n_variables) * random.choice([0.1, 1.0, 3.0])
    full = np.zeros(ground.n_variables)
    full[hidden.kept] = x
    full = hidden.cones.with_eliminated(ground.conic, full)
    rows = hidden.program.quadratic
    excess = np.r_[rows.values_at(x) - rows.r, hidden.program.A @ x - hidden.program.u, -np.inf].max()
    s = ground.conic.slack(full)
    heads, tails, owner = ground.conic.layout.heads, ground.conic.layout.tails, ground.conic.layout.tail_owner
    turned = np.isin(heads, hidden.cones.heads)
    margin = s[heads] - np.sqrt(np.bincount(owner, s[tails] ** 2, heads.size))
    worst = max(float((-margin[turned]).max()), float((ground.A @ full - ground.u).max(initial=-np.inf)))
    if abs(excess) > 1e-7:
        assert (worst <= 1e-7) == (excess <= 0)
    assert hidden.program.objective(x) == pytest.approx(ground.objective(full), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", [5, 12])
def test_symmetry_of_a_quadratic_form_is_seen_through_its_factor(n: int) -> None:
    x = cp.Variable(n)
    limit = cp.quad_form(x, ring(n)) <= 2
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [limit])
    expected = problem.solve(solver="CLARABEL")
    dual_value = limit.dual_value
    value = problem.solve(solver=Lifted())
    report = problem.solver_stats.extra_stats
    assert report["recovered"] == "1 cones as quadratic constraints"
    assert report["small"]["variables"] == 1
    assert value == pytest.approx(expected, rel=1e-6)
    assert limit.dual_value == pytest.approx(dual_value, rel=1e-4)
    problem.solve(solver=Lifted(recover=False))
    assert problem.solver_stats.extra_stats["small"]["variables"] > 1


def test_nothing_is_recovered_where_nothing_is_gained() -> None:
    random = np.random.default_rng(1)
    M = random.normal(size=(6, 6))
    x = cp.Variable(6)
    problem = cp.Problem(cp.Minimize(random.normal(size=6) @ x), [cp.quad_form(x, M @ M.T) <= 2])
    problem.solve(solver=Lifted())
    assert problem.solver_stats.extra_stats["recovered"] == ""
    assert problem.solver_stats.extra_stats["attempts"][0]["status"] == "optimal"


def test_a_cone_with_a_changing_head_is_left_alone() -> None:
    x, t = cp.Variable(3), cp.Variable()
    problem = cp.Problem(cp.Minimize(t + x[0]), [cp.norm(x - 1) <= t + x[1], x >= 0])
    assert find_quadratics(compiled(problem)) is None
    ratio = cp.Problem(cp.Minimize(cp.quad_over_lin(x, t)), [t <= 2, x >= 1])
    assert find_quadratics(compiled(ratio)) is None


def test_negative_constants_are_left_to_the_solver() -> None:
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm(x) <= -1])
    assert find_quadratics(compiled(problem)) is None
    problem.solve(solver=Lifted())
    assert problem.status == "infeasible"


def test_infeasible_quadratics_are_proved_on_the_problem_with_cones() -> None:
    x = cp.Variable(8)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [cp.quad_form(x, ring(8)) <= 1, cp.sum(x) >= 50])
    problem.solve(solver=Lifted())
    assert problem.status == "infeasible"
    assert problem.solver_stats.extra_stats["certificate"]["is_proved"]


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 7), n_rows=st.integers(2, 9))
@settings(max_examples=30, deadline=None)
def test_norms_by_symmetric_factors_have_the_same_optimum_and_duals(seed: int, n: int, n_rows: int) -> None:
    random = np.random.default_rng(seed)
    x, t = cp.Variable(n), cp.Variable()
    M, c = random.normal(size=(n_rows, n)), random.normal(size=n_rows) * random.integers(2)
    limits = [cp.norm(M @ x - c) <= t, cp.sum(x) == 1, cp.norm(x - 1) <= t + 2]
    ground = compiled(cp.Problem(cp.Minimize(t + 0.1 * cp.quad_over_lin(M @ x, t + 1)), limits))
    hidden = find_norms(ground)
    assert hidden is not None
    found = relift.solve(hidden.program, lift="none", tolerance=1e-7)
    back = hidden.expand(found.solution)
    assert relift.certify(ground, back, 1e-5).is_optimal
    assert back.objective == pytest.approx(relift.solve(ground, lift="none").objective, rel=1e-5, abs=1e-6)


def test_symmetry_of_a_norm_is_seen_through_its_factor() -> None:
    n = 8
    factor = np.linalg.cholesky(ring(n)).T
    x, t = cp.Variable(n), cp.Variable()
    total = cp.sum(x) == 1
    for objective in (cp.norm(factor @ x), cp.norm(factor @ x) + 0.5 * t, cp.quad_over_lin(factor @ x, t) + t):
        problem = cp.Problem(cp.Minimize(objective), [total, t >= 0.1])
        expected = problem.solve(solver="CLARABEL")
        dual_value = total.dual_value
        assert problem.solve(solver=Lifted()) == pytest.approx(expected, rel=1e-6)
        assert total.dual_value == pytest.approx(dual_value, rel=1e-4)
        assert problem.solver_stats.extra_stats["small"]["variables"] <= 3
        assert problem.solver_stats.extra_stats["recovered"] == "1 norms by symmetric factors"


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 11))
@example(seed=69357, n=11)  # its point is known to few digits only: the dual values must not be read from it
@settings(max_examples=25, deadline=None)
def test_tree_of_a_geometric_mean_is_one_power_cone(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    x = cp.Variable(n)
    weights = None if random.integers(2) else random.integers(1, 5, n)
    prices = random.uniform(0.5, 2, n)
    problem = cp.Problem(cp.Maximize(cp.geo_mean(x + 0.1, weights)), [prices @ x <= 5, x <= 3])
    ground = compiled(problem)
    hidden = find_means(ground)
    if hidden is None:
        assert n == 2 or np.unique(weights).size > 1
        return
    found = relift.solve(hidden.program, lift="none", tolerance=1e-7)
    back = hidden.expand(found.solution)
    assert relift.certify(ground, back, 1e-6).is_optimal
    assert back.objective == pytest.approx(relift.solve(ground, lift="none").objective, rel=1e-6)
    assert len(hidden.means[0].weights) == n


@pytest.mark.parametrize("n", [5, 8, 33])
def test_arguments_of_a_mean_merge_however_many_they_are(n: int) -> None:
    x = cp.Variable(n)
    limit = cp.sum(x) <= n
    problem = cp.Problem(cp.Maximize(cp.geo_mean(x)), [limit])
    assert problem.solve(solver=Lifted()) == pytest.approx(1.0, abs=1e-6)
    # A tree of eight arguments merges level by level, without its mean being recovered.
    assert problem.solver_stats.extra_stats["small"]["variables"] == {5: 2, 8: 4, 33: 2}[n]
    assert limit.dual_value == pytest.approx(1 / n, rel=1e-4)
    assert x.value == pytest.approx(np.ones(n), abs=1e-4)


def test_shared_inner_variables_are_not_taken_for_a_tree() -> None:
    x, y = cp.Variable(4), cp.Variable(2)
    z = cp.Variable()
    cones = [
        cp.SOC(x[0] + x[1], cp.hstack([x[0] - x[1], 2 * y[0]])),
        cp.SOC(y[0] + y[1], cp.hstack([y[0] - y[1], 2 * z])),
        y[0] <= 3,  # stands in a row, too
    ]
    assert find_means(compiled(cp.Problem(cp.Maximize(z), [*cones, cp.sum(x) <= 4, y[1] <= 1]))) is None


def test_quadratics_and_means_are_recovered_together() -> None:
    n = 6
    x = cp.Variable(n)
    problem = cp.Problem(cp.Maximize(cp.geo_mean(x)), [cp.quad_form(x, ring(n)) <= 4])
    (recovered,) = recover(compiled(problem))
    assert str(recovered) == "1 cones as quadratic constraints, 1 geometric means"
    expected = problem.solve(solver="CLARABEL")
    assert problem.solve(solver=Lifted()) == pytest.approx(expected, rel=1e-5)
    assert problem.solver_stats.extra_stats["recovered"] == str(recovered)
    assert problem.solver_stats.extra_stats["small"]["variables"] == 2


# --- tall norms and residuals -----------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6), m=st.integers(100, 160))
@settings(max_examples=30, deadline=None)
def test_an_answer_without_residuals_is_optimal_for_the_problem_with_them(seed: int, n: int, m: int) -> None:
    random = np.random.default_rng(seed)
    x = cp.Variable(n)
    M, c = random.normal(size=(m, n)), random.normal(size=m)
    weights = random.uniform(0.5, 2, m)
    fit = cp.sum_squares(cp.multiply(weights, M @ x - c)) if random.integers(2) else cp.sum_squares(M @ x - c)
    limits = [cp.sum(x) <= 0.5, cp.norm(x) <= 3] if random.integers(2) else [x >= -0.1]
    ground = compiled(cp.Problem(cp.Minimize(fit + random.normal(size=n) @ x), limits))
    hidden = find_residuals(ground)
    assert hidden is not None
    assert hidden.program.n_rows == ground.n_rows - m
    found = relift.solve(hidden.program, lift="none", tolerance=1e-8)
    back = hidden.expand(found.solution)
    assert relift.certify(ground, back, 1e-6).is_optimal
    assert back.objective == pytest.approx(relift.solve(ground, lift="none").objective, rel=1e-6)
    start = hidden.restrict(back)
    assert np.allclose(start.x, found.x)
    assert np.allclose(start.y, found.y)


@pytest.mark.parametrize("kind", ["norm", "residuals"])
def test_rows_of_tall_fits_count_as_a_gain(kind: str) -> None:
    random = np.random.default_rng(1)
    x = cp.Variable(8)
    M, c = random.normal(size=(600, 8)), random.normal(size=600)
    fit = cp.norm(M @ x - c) if kind == "norm" else cp.sum_squares(M @ x - c)
    total = cp.sum(x) == 1
    problem = cp.Problem(cp.Minimize(fit + cp.norm1(x)), [total])
    expected = problem.solve(solver="CLARABEL")
    point, multiplier = x.value, total.dual_value
    assert problem.solve(solver=Lifted()) == pytest.approx(expected, rel=1e-6)
    assert x.value == pytest.approx(point, abs=1e-4)
    assert total.dual_value == pytest.approx(multiplier, rel=1e-4)
    report = problem.solver_stats.extra_stats
    assert report["ground"]["rows"] + report["ground"]["conic_rows"] > 600
    assert report["small"]["rows"] + report["small"]["conic_rows"] <= 27
    assert report["certificate"]["is_optimal"]


def test_residuals_are_left_alone_where_their_gram_matrix_would_be_large() -> None:
    random = np.random.default_rng(2)
    x = cp.Variable(300)
    M = np.where(random.random((200, 300)) < 0.05, random.normal(size=(200, 300)), 0.0)
    assert find_residuals(compiled(cp.Problem(cp.Minimize(cp.sum_squares(M @ x - 1) + cp.norm1(x))))) is None


def test_residuals_with_a_bound_or_in_a_cone_stay() -> None:
    random = np.random.default_rng(3)
    x, y = cp.Variable(2), cp.Variable(150)
    rows = y == random.normal(size=(150, 2)) @ x - random.normal(size=150)
    free = compiled(cp.Problem(cp.Minimize(cp.sum_squares(y)), [rows]))
    assert len(find_residuals(free)) == 150
    for constraint in (y[0] <= 1, cp.norm(y[:50]) <= 5):
        hidden = find_residuals(compiled(cp.Problem(cp.Minimize(cp.sum_squares(y)), [rows, constraint])))
        assert hidden is None or len(hidden) < 150


# --- what is worth looking for ----------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 6), copies=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_the_bound_is_never_above_the_classes_that_symmetric_factors_give(seed: int, n: int, copies: int) -> None:
    random = np.random.default_rng(seed)
    x = cp.Variable(n * copies)
    G = np.kron(np.eye(copies), random.integers(-1, 2, (n, n)).astype(float))
    gram = G.T @ G + np.eye(n * copies)
    turn = np.linalg.qr(random.normal(size=(n * copies, n * copies)))[0]
    factor = turn @ np.linalg.cholesky(gram).T  # hides what is symmetric
    offset = 0.0 if random.integers(2) else turn @ np.ones(n * copies)
    fixed = [x[0] == 2.0] if random.integers(2) else []
    problem = cp.Problem(cp.Minimize(cp.norm(factor @ x - offset) + cp.norm(x - 1)), [cp.sum(x) >= 1, *fixed])
    ground = compiled(problem)
    hidden = find_norms(ground)
    assert hidden is not None
    labels = relift.lift(hidden.program).class_of_variable
    classes = np.unique(labels[labels >= 0]).size + np.count_nonzero(labels < 0)
    assert fewest_classes(ground) <= classes


def test_norms_without_symmetry_are_not_looked_into() -> None:
    random = np.random.default_rng(4)
    x = cp.Variable(6)
    ground = compiled(cp.Problem(cp.Minimize(sum(cp.norm(random.normal(size=(3, 6)) @ x - 1) for _ in range(20)))))
    candidates = norm_candidates(ground.conic)
    asked: list[int] = []

    def labels() -> np.ndarray:
        asked.append(1)
        return np.arange(ground.n_variables)

    assert candidates.size == 20
    assert promising_norms(ground, candidates, labels).size == 0
    assert not asked  # not even the classes of the problem as it is are needed for that
    assert recover(ground, labels=labels) == ()


def test_symmetric_roots_of_many_shapes_at_once_are_those_of_each_alone() -> None:
    random = np.random.default_rng(5)
    x = cp.Variable(5)
    shapes = [(3, True), (5, False), (3, False), (40, True), (3, True)]
    terms = [cp.norm(random.normal(size=(m, 5)) @ x - (random.normal(size=m) if has else 0)) for m, has in shapes]
    ground = compiled(cp.Problem(cp.Minimize(sum(terms))))
    together = find_norms(ground)
    assert len(together) == len(shapes)
    assert sorted(norms.old.size for norms in together.norms) == [1, 1, 1, 2]
    for norms in together.norms:
        for old, place, Q in zip(norms.old, norms.new, norms.isometries, strict=True):
            k = ground.conic.starts.tolist().index(old)
            alone = find_norms(ground, np.array([k]))
            assert np.allclose(alone.norms[0].isometries[0], Q)
            tails = [alone.program.conic.A[1 + alone.norms[0].new[0] :], together.program.conic.A[1 + place :]]
            new, other = (rows[: Q.shape[1]].toarray() for rows in tails)
            assert np.allclose(new, other)
            W = ground.conic.A[old + 1 : old + 1 + Q.shape[0]].toarray()
            assert np.allclose(new.T @ new, W.T @ W)
            assert np.allclose(Q @ new, W)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_duals_of_symmetric_factors_are_those_of_the_old_ones(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = cp.Variable(4)
    terms = []
    for _ in range(random.integers(2, 7)):
        m, some = int(random.integers(1, 6)), random.permutation(4)[: random.integers(1, 5)]
        W = random.integers(-2, 3, (m, some.size)) * (random.random((m, some.size)) < 0.7)
        terms.append(cp.norm(W @ x[some] - random.integers(0, 2) * random.normal(size=m)))
    ground = compiled(cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + sum(terms))))
    hidden = find_norms(ground)
    if hidden is None:
        return
    answer = relift.solve(hidden.program).solution
    back = hidden.expand(answer)
    assert relift.certify(ground, back).is_optimal
    again = hidden.restrict(back)
    assert relift.certify(hidden.program, again).is_optimal


def test_noisy_pixels_are_not_taken_for_norms_with_symmetry() -> None:
    random = np.random.default_rng(7)
    pixels = cp.Variable((15, 15))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(pixels - random.normal(size=(15, 15))) + cp.tv(pixels)))
    found = recover(compiled(problem), labels=lambda: np.arange(646))
    assert [str(one) for one in found] == ["225 residuals in the objective"]


def test_a_second_solve_after_a_recovery_starts_from_the_first_answer() -> None:
    random = np.random.default_rng(6)
    x, price = cp.Variable(5), cp.Parameter(5)
    fit = cp.sum_squares(random.normal(size=(300, 5)) @ x - random.normal(size=300))
    problem = cp.Problem(cp.Minimize(fit + price @ x), [x >= 0])
    solver = Lifted(backend="osqp")
    iterations = []
    for step in range(3):
        price.value = np.arange(5.0) + 0.001 * step
        problem.solve(solver=solver)
        assert problem.solver_stats.extra_stats["recovered"] == "300 residuals in the objective"
        iterations.append(problem.solver_stats.num_iters)
    assert max(iterations[1:]) <= iterations[0]
