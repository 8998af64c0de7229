"""The four learners and their protocol: known answers, labels that stay hidden, ground and lifted alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="experiments need scikit-learn")

from tests.paper.networks import toy_network

import relift
from relift.errors import OptionError
from relift.paper.moons_data import moons_network
from relift.paper.svm_learners import (
    LEARNERS,
    LP_SVM,
    QP_SVM,
    TC_LP_SVM,
    TC_QP_SVM,
    TIE,
    DualSearch,
    Learner,
    Network,
    Prices,
    Task,
    fit_by_dual,
    fit_linear,
    fit_with_ties_broken,
)
from relift.paper.svm_protocol import Grid, choose, compare_fits, learner_row, make_split, prices_at

POINTS = np.array([[2.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
FOUR = Network(sparse.csr_array(POINTS), np.array([-1, -1, 1, 1]), np.zeros((0, 2), np.int64))
GRID = Grid((0.1, 1.0), (0.2, 0.4), (0.5, 1.0), (0.2, 0.4), (1.0,))


def by_hand(
    network: Network, learner: Learner, labelled: np.ndarray, query: np.ndarray, prices: Prices
) -> relift.Program:
    """The program of a learner, put together without the language."""
    X = network.attributes.toarray()
    X = X[:, X.any(axis=0)]
    label = {int(k): int(network.labels[k]) for k in labelled}
    rows = [(label[k], k, prices.c1) for k in label]
    if learner.is_collective:
        unlabelled = {int(k) for k in query}
        ends = {(a, b) for link in network.links.tolist() for a, b in (link, link[::-1])}
        rows += [(label[a], b, prices.c2) for a, b in sorted(ends) if a in label and b in unlabelled]
    side = np.array([float(row[0]) for row in rows])
    n, m = X.shape[1], len(rows)
    blocks = [side[:, None] * X[[row[1] for row in rows]], side[:, None], np.eye(m)]
    q, lb, ub = (
        [np.zeros(n + 1), np.array([row[2] for row in rows])],
        [np.full(n + 1, -np.inf), np.zeros(m)],
        np.full(n + 1 + m, np.inf),
    )
    if not learner.is_linear:
        P = np.diag(np.concatenate([np.full(n, 2.0), np.zeros(m + 1)]))
        return relift.Program(P, np.concatenate(q), np.hstack(blocks), l=np.ones(m), lb=np.concatenate(lb))
    lb[0][:n], ub[:n] = -1.0, 1.0
    A = np.hstack([*blocks, -np.ones((m, 1))])
    return relift.Program(
        q=np.concatenate([*q, [-1.0]]), A=A, l=np.zeros(m), lb=np.concatenate([*lb, [0.0]]), ub=np.append(ub, np.inf)
    )


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_models_ground_to_the_programs_put_together_by_hand(learner: Learner) -> None:
    network = moons_network(30, 3, 4, 0.1, seed=2)
    split = make_split(30, 0.5, [1])
    prices = Prices(0.3, 0.2) if not learner.is_linear else Prices(0.2, 0.1)
    task = Task(network, learner, split.labelled, split.test)
    program, expected = task.at(prices), by_hand(network, learner, split.labelled, split.test, prices)
    assert (program.n_variables, program.n_rows) == (expected.n_variables, expected.n_rows)
    assert relift.solve(program).objective == pytest.approx(relift.solve(expected, lift="none").objective, rel=1e-6)


def test_tc_qp_svm_on_the_toy_has_its_known_optimum_and_classes() -> None:
    network, labelled, query = toy_network()
    task = Task(network, TC_QP_SVM, labelled, query)
    assert (task.program.n_variables, task.program.n_rows) == (17, 10)
    fit = fit_by_dual(task.at(Prices(1.0, 0.5)), lifted=True)
    assert (fit.variables, fit.rows) == (11, 6)
    assert fit.objective == pytest.approx(3.5, abs=1e-5)
    assert fit.x[task.weights] == pytest.approx([0.5, 0.5, 0.5, -0.5, -0.5, -0.5], abs=1e-5)
    assert fit_by_dual(task.at(Prices(1.0, 5.0)), lifted=True).objective == pytest.approx(14, abs=1e-4)


def test_qp_svm_and_lp_svm_on_four_points_have_their_known_optima() -> None:
    everything, nothing = np.arange(4), np.zeros(0, np.int64)
    task = Task(FOUR, QP_SVM, everything, nothing)
    fit = fit_by_dual(task.at(Prices(1.0)), lifted=False)
    assert fit.objective == pytest.approx(8 / 9, abs=1e-5)
    assert [*fit.x[task.weights], fit.x[task.bias]] == pytest.approx([2 / 3, 2 / 3, -11 / 3], abs=1e-5)
    task = Task(FOUR, LP_SVM, everything, nothing)
    for fit in (
        fit_linear(task.at(Prices(1.0)), lifted=True),
        fit_with_ties_broken(task.at(Prices(1.0), TIE), lifted=True),
    ):
        assert task.program.replace(q=task.q(Prices(1.0))).objective(fit.x) == pytest.approx(-1.5, abs=1e-4)
        assert [*fit.x[task.weights], fit.x[task.bias], task.margin(fit.x)] == pytest.approx(
            [1, 1, -5.5, 1.5], abs=1e-3
        )


def test_a_word_that_no_constraint_contains_gets_weight_0_when_ties_are_broken() -> None:
    X = np.hstack([POINTS, [[0.0], [0.0], [0.0], [0.0]]])
    X = np.vstack([X, [[3.0, 3.0, 1.0]]])
    network = Network(sparse.csr_array(X), np.array([-1, -1, 1, 1, 1]), np.zeros((0, 2), np.int64))
    task = Task(network, LP_SVM, np.arange(4), np.array([4]))
    for lifted in (False, True):
        fit = fit_with_ties_broken(task.at(Prices(1.0), TIE), lifted=lifted)
        assert fit.x[task.weights][2] == pytest.approx(0.0, abs=1e-4)


@given(st.integers(50, 300), st.sampled_from([0.2, 0.4, 0.6, 0.8]), st.integers(0, 99))
def test_a_split_parts_all_examples_and_holds_each_fold_out_once(size: int, share: float, seed: int) -> None:
    split = make_split(size, share, [seed])
    assert len(split.labelled) == round(share * size)
    assert np.array_equal(np.sort(np.concatenate([split.labelled, split.test])), np.arange(size))
    for fold, held_out in enumerate(split.folds):
        labelled, query = split.without(fold)
        assert set(held_out) <= set(query)
        assert not set(held_out) & set(labelled)
        assert set(split.test) <= set(query)
        assert len(labelled) + len(query) == size
    assert make_split(size, share, [seed]).test.tolist() == split.test.tolist()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.999])
def test_a_split_of_too_few_is_refused(share: float) -> None:
    with pytest.raises(OptionError, match="cannot be split"):
        make_split(50, share, [0])


@pytest.mark.parametrize("learner", [TC_QP_SVM, TC_LP_SVM], ids=lambda learner: learner.name)
def test_labels_of_the_test_set_are_never_seen(learner: Learner) -> None:
    network = moons_network(60, 4, 4, 0.1, seed=0)
    split = make_split(60, 0.5, [0])
    turned = network.labels.copy()
    turned[split.test] *= -1
    one = learner_row(network, learner, split, GRID, compare=True)
    other = learner_row(replace(network, labels=turned), learner, split, GRID, compare=True)
    assert (one["c1"], one["c2"], one["validation_error"]) == (other["c1"], other["c2"], other["validation_error"])
    assert one["lifted_objective"] == other["lifted_objective"]
    assert one["lifted_accuracy"] == pytest.approx(1 - other["lifted_accuracy"])


@settings(max_examples=3)
@given(st.integers(0, 1000), st.sampled_from([0.3, 0.6]))
@example(622, 0.6)  # the bias of TC-LP-SVM may lie anywhere between -0.027 and 0.1
def test_ground_and_lifted_find_the_same_weights_and_both_are_optimal(seed: int, share: float) -> None:
    network = moons_network(60, 6, 4, 0.15, seed=seed)
    split = make_split(60, share, [seed])
    for learner in LEARNERS:
        choice = choose(network, learner, split, GRID, compare=True)
        row = compare_fits(network, learner, split, choice.point)
        assert row["weight_difference"] < 1e-4
        assert row["score_difference"] < 1e-3 or row["bias_difference"] > 1e-3
        assert row["label_changes"] == 0 or row["smallest_score"] <= row["score_difference"]
        for side in ("ground", "lifted"):
            assert row[f"{side}_residual"] < 1e-6
            assert row.get(f"{side}_tie_residual", 0.0) < 1e-6
        assert row["lifted_objective"] == pytest.approx(row["ground_objective"], rel=1e-6, abs=1e-6)
        if learner.is_collective:
            assert row["lifted_variables"] < row["ground_variables"]
            assert row["lifted_rows"] < row["ground_rows"]


def test_a_search_gives_what_single_fits_give() -> None:
    network = moons_network(60, 6, 4, 0.1, seed=5)
    split = make_split(60, 0.5, [0])
    task = Task(network, TC_QP_SVM, split.labelled, split.test)
    for lifted in (False, True):
        search = DualSearch(task, lifted=lifted)
        for point in GRID.points(TC_QP_SVM):
            prices = prices_at(point, task)
            solution = search.fit(prices)
            single = fit_by_dual(task.at(prices), lifted=lifted)
            assert task.program.replace(q=task.q(prices)).objective(solution.x) == pytest.approx(
                single.objective, rel=1e-6
            )
        assert search.seconds > 0


def test_points_without_margin_are_not_chosen() -> None:
    network = moons_network(60, 0, 4, 0.4, seed=1)
    split = make_split(60, 0.5, [0])
    without = Grid((1.0,), (0.5,), (1.0,), (0.001, 0.5), (1.0,))
    assert choose(network, TC_LP_SVM, split, without, compare=False).point == (1.0, 0.5)
