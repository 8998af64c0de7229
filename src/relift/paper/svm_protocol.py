"""How the learners are compared: splits, the choice of prices, and the final fits, ground and lifted.

The examples are split at random into L, a share t of them, whose labels are given, and the test set B. L is split in
half, into a training set A and a validation set C, and C into five parts C_i. For each point of the grid and each C_i
the learner is given the labels of A and of C without C_i; B and C_i are unlabelled; its error on C_i is averaged over
the five. The best prices (the first of equals, in the order of the grid) are then judged on B, in two ways: the learner
is given the labels of all of L; and the five fits of the search at these prices, each given A and C without one C_i,
are judged on B as they are. The paper repeats its experiment "one for each C_i" and does not say which labels the
last fit is given, so both are reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from time import process_time
from typing import Any, final

import numpy as np

from relift.arrays import Double, Indices
from relift.errors import OptionError
from relift.paper.framework import Row
from relift.paper.svm_learners import (
    TIE,
    DualSearch,
    Fit,
    Learner,
    Network,
    Prices,
    Task,
    fit_by_dual,
    fit_linear,
    fit_with_ties_broken,
    labels_from_scores,
)

FOLDS = 5
VALIDATION = 1 / 2
"""Share of L that is C, the validation set."""

SMALLEST_MARGIN = 1e-4
"""An LP-SVM with a smaller margin r has found nothing: weights 0 are optimal too."""


@final
@dataclass(frozen=True, eq=False)
class Split:
    """One random split of the examples.

    Parameters
    ----------
    training, test
        A and B.
    folds
        The parts C_i of C.
    """

    training: Indices
    test: Indices
    folds: tuple[Indices, ...]

    @property
    def labelled(self) -> Indices:
        """L, which is A and C."""
        return np.sort(np.concatenate([self.training, *self.folds]))

    def without(self, fold: int) -> tuple[Indices, Indices]:
        """What is labelled and what is not when C_i is held out."""
        kept = [part for number, part in enumerate(self.folds) if number != fold]
        return (
            np.sort(np.concatenate([self.training, *kept])),
            np.sort(np.concatenate([self.test, self.folds[fold]])),
        )


def make_split(n_examples: int, share: float, seed: Sequence[int]) -> Split:
    """Split examples at random.

    Parameters
    ----------
    n_examples
        How many there are.
    share
        Of L among them.
    seed
        Of the split.

    Raises
    ------
    OptionError
        If L is too small for five folds and something besides, or nothing is left for the test.

    Examples
    --------
    >>> split = make_split(100, 0.8, [0, 1])
    >>> len(split.training), len(split.test), [len(fold) for fold in split.folds]
    (40, 20, [8, 8, 8, 8, 8])
    """
    order = np.random.default_rng(list(seed)).permutation(n_examples)
    n_labelled = round(share * n_examples)
    if not 2 * FOLDS <= n_labelled < n_examples:
        raise OptionError(
            f"a share of {share:g} of {n_examples} examples cannot be split.",
            f"At least {2 * FOLDS} must be labelled, and one must be left.",
        )
    n_validation = max(FOLDS, round(VALIDATION * n_labelled))
    validation, training = order[:n_validation], order[n_validation:n_labelled]
    folds = tuple(np.sort(part) for part in np.array_split(validation, FOLDS))
    return Split(np.sort(training), np.sort(order[n_labelled:]), folds)


@final
@dataclass(frozen=True)
class Grid:
    """The prices that are tried.

    Parameters
    ----------
    c1
        Prices of a labelled example, for the quadratic programs.
    nu
        For the linear ones: c1 = 1 / (nu (examples + ratio links)), so that about a share nu of the rows has slack.
    ratio
        c2 / c1, for TC-QP-SVM.
    tc_nu, tc_ratio
        nu and c2 / c1 for TC-LP-SVM, whose programs take longest.
    """

    c1: tuple[float, ...]
    nu: tuple[float, ...]
    ratio: tuple[float, ...]
    tc_nu: tuple[float, ...]
    tc_ratio: tuple[float, ...]

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Grid:
        """The grid that the settings of an experiment hold."""
        return cls(*(tuple(settings[name]) for name in ("c1", "nu", "ratio", "tc_nu", "tc_ratio")))

    def points(self, learner: Learner) -> list[tuple[float, float]]:
        """Pairs (ratio, c1 or nu); c1 grows within a ratio."""
        if learner.is_linear:
            return list(product(self.tc_ratio, self.tc_nu) if learner.is_collective else product((0.0,), self.nu))
        return list(product(self.ratio if learner.is_collective else (0.0,), self.c1))


def prices_at(point: tuple[float, float], task: Task) -> Prices:
    """The prices of a point of the grid.

    Parameters
    ----------
    point
        Of the grid.
    task
        What is learnt.
    """
    ratio, size = point
    c1 = 1.0 / (size * (len(task.labelled) + ratio * task.n_links)) if task.learner.is_linear else size
    return Prices(c1, ratio * c1)


@final
@dataclass(frozen=True)
class Choice:
    """What the search over the grid found.

    Parameters
    ----------
    point
        The best point of the grid.
    error
        Its mean error over the five C_i.
    test_accuracies
        Accuracy on B of the five fits at the best point, one without each C_i.
    n_fits
        How many programs were solved.
    seconds_lifted, seconds_ground
        CPU seconds of all of them, lifting included, grounding not; None where the ground programs were not solved.
    changes
        Labels of B and C_i, over all of these programs, that differ between ground and lifted.
    """

    point: tuple[float, float]
    error: float
    test_accuracies: tuple[float, ...]
    n_fits: int
    seconds_lifted: float
    seconds_ground: float | None
    changes: int | None


def choose(network: Network, learner: Learner, split: Split, grid: Grid, *, compare: bool) -> Choice:
    """Choose prices by the parts C_i.

    Parameters
    ----------
    network, learner, split, grid
        What is learnt, how, and what is tried.
    compare
        Whether to solve the ground programs too (quadratic programs only): the same prices would come out.
    """
    points = grid.points(learner)
    errors, on_test = np.zeros((2, len(points), len(split.folds)))
    lifted_seconds, ground_seconds, changes = 0.0, 0.0, 0
    for fold, held_out in enumerate(split.folds):
        labelled, query = split.without(fold)
        task = Task(network, learner, labelled, query)
        if learner.is_linear:
            scores, seconds = _linear_scores(task, points, query)
            lifted_seconds += seconds
        else:
            scores, seconds = _dual_scores(task, points, query, lifted=True)
            lifted_seconds += seconds
            if compare:
                others, seconds = _dual_scores(task, points, query, lifted=False)
                ground_seconds += seconds
                changes += sum(label_changes(one, two) for one, two in zip(scores, others, strict=True))
        errors[:, fold] = [_error(network, query, each, held_out) for each in scores]
        on_test[:, fold] = [1.0 - _error(network, query, each, split.test) for each in scores]
    means = errors.mean(axis=1)
    best = int(np.argmin(np.round(means, 12)))
    compared = compare and not learner.is_linear
    return Choice(
        points[best], float(means[best]), tuple(map(float, on_test[best])), errors.size, lifted_seconds,
        ground_seconds if compared else None, changes if compared else None,
    )  # fmt: skip


def _error(network: Network, query: Indices, scores: Double, examples: Indices) -> float:
    """Share of some examples of the query that get a wrong label; 1 where there are no scores."""
    if not len(scores):
        return 1.0
    found = labels_from_scores(scores[np.searchsorted(query, examples)])
    return float(np.mean(found != network.labels[examples]))


def _dual_scores(
    task: Task, points: Sequence[tuple[float, float]], query: Indices, *, lifted: bool
) -> tuple[list[Double], float]:
    search, found = DualSearch(task, lifted=lifted), []
    last = None
    for point in points:
        if point[0] != last:
            search.restart()
            last = point[0]
        solution = search.fit(prices_at(point, task))
        assert solution.x is not None
        found.append(task.scores(solution.x, query))
    return found, search.seconds


def _linear_scores(task: Task, points: Sequence[tuple[float, float]], query: Indices) -> tuple[list[Double], float]:
    """Scores for each point of the grid; none where the margin is 0."""
    found, seconds = [], 0.0
    for point in points:
        fit = fit_linear(task.at(prices_at(point, task)), lifted=True)
        seconds += fit.seconds
        found.append(task.scores(fit.x, query) if task.margin(fit.x) > SMALLEST_MARGIN else np.zeros(0))
    return found, seconds


def label_changes(one: Double, other: Double) -> int:
    """How many labels differ between two lists of scores."""
    return int((labels_from_scores(one) != labels_from_scores(other)).sum())


def compare_fits(network: Network, learner: Learner, split: Split, point: tuple[float, float]) -> Row:
    """Fit with all labels of L, ground and lifted, and compare the labels of B.

    Parameters
    ----------
    network, learner, split
        What is learnt, and how.
    point
        Of the grid.
    """
    start = process_time()
    task = Task(network, learner, split.labelled, split.test)
    grounding = process_time() - start
    prices = prices_at(point, task)
    program = task.at(prices)
    truth = network.labels[split.test]
    row: Row = {
        "n_links": task.n_links,
        "c1": prices.c1,
        "c2": prices.c2,
        "ratio": point[0],
        "size": point[1],
        "grounding_seconds": grounding,
    }
    solver = fit_linear if learner.is_linear else fit_by_dual
    fits = {"ground": solver(program, lifted=False), "lifted": solver(program, lifted=True)}
    points = {name: fit.x for name, fit in fits.items()}
    if learner.is_linear:
        row["changes_with_ties"] = label_changes(*(task.scores(x, split.test) for x in points.values()))
        points = _tie_broken(task, prices, fits, row)
    scores = {name: task.scores(x, split.test) for name, x in points.items()}
    row["label_changes"] = label_changes(scores["ground"], scores["lifted"])
    row["score_difference"] = float(np.abs(scores["ground"] - scores["lifted"]).max())
    difference = np.abs(points["ground"] - points["lifted"])
    row["weight_difference"] = float(difference[task.weights].max(initial=0.0))
    row["bias_difference"] = float(difference[task.bias])
    row["smallest_score"] = float(np.abs(scores["ground"]).min())
    for name, fit in fits.items():
        row |= {
            f"{name}_variables": fit.variables,
            f"{name}_rows": fit.rows,
            f"{name}_objective": fit.objective,
            f"{name}_residual": fit.residual,
            f"{name}_seconds": fit.seconds,
            f"{name}_accuracy": float(np.mean(labels_from_scores(scores[name]) == truth)),
        }
    row["lift_seconds"] = fits["lifted"].lift_seconds
    return row


def _tie_broken(task: Task, prices: Prices, fits: Mapping[str, Fit], row: Row) -> dict[str, Double]:
    """Optima with small weights; the row is told what they cost in the linear program."""
    tied = task.at(prices, TIE)
    q = task.q(prices)
    points = {}
    for name in fits:
        fit = fit_with_ties_broken(tied, lifted=name == "lifted")
        points[name] = fit.x
        row[f"{name}_tie_seconds"] = fit.seconds
        row[f"{name}_tie_residual"] = fit.residual
        row[f"{name}_tie_loss"] = float(q @ fit.x - fits[name].objective)
    return points


def learner_row(network: Network, learner: Learner, split: Split, grid: Grid, *, compare: bool) -> Row:
    """Choose prices, fit, and put all of it into one row.

    Parameters
    ----------
    network, learner, split, grid
        What is learnt, how, and what is tried.
    compare
        Whether the whole search is also done with the ground programs (quadratic programs only).
    """
    choice = choose(network, learner, split, grid, compare=compare)
    return {
        "learner": learner.name,
        "n_labelled": len(split.labelled),
        "n_test": len(split.test),
        "validation_error": choice.error,
        "fold_accuracies": list(choice.test_accuracies),
        "search_fits": choice.n_fits,
        "search_lifted_seconds": choice.seconds_lifted,
        "search_ground_seconds": choice.seconds_ground,
        "search_label_changes": choice.changes,
        **compare_fits(network, learner, split, choice.point),
    }
