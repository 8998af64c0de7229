"""One machine for each pair of labels, as in SVC; what the pairs have in common is computed once.

Equal examples are merged once for all pairs, and kernel rows inside a label are shared by all pairs in which the label
takes part: half of all kernel values. Where classes are used, each label is clustered once, and landmarks are chosen
once. Everything is laid out by label, so that a pair is two slices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _ovr_decision_function

from relift.arrays import Double, Examples, Indices, Integers
from relift.ml.class_rounds import clusters_of
from relift.ml.dual import answer_over_examples, first_steps, places_of, solve_lifted, solve_one, uses_classes_for
from relift.ml.dual_machine import DualMachine, LabelMachines
from relift.ml.dual_problem import DualAnswer, DualProblem, LiftOptions, SharedClasses, class_totals
from relift.ml.kernels import PointKernel
from relift.ml.landmarks import Landmarks, choose_landmarks
from relift.ml.machine import KernelView, merge_examples, solve_over
from relift.ml.small_dual import check_solver


@final
@dataclass(frozen=True, eq=False)
class PairsAnswer:
    """The machines of all pairs of labels, in the order of SVC's one-vs-one.

    Parameters
    ----------
    answers
        The proved answer of each pair, over its distinct examples.
    distinct
        For each pair one example of each merged group; behind them landmarks of other labels.
    n_members
        For each pair the number of its examples.
    coefficients
        Dual variables: row r of an example is that against label r.
    classes
        The classes of the examples.
    """

    answers: list[DualAnswer]
    distinct: list[Indices]
    n_members: list[int]
    coefficients: Double
    classes: PairClasses


@final
@dataclass(frozen=True, eq=False)
class PairClasses:
    """The class of each example for each pair of labels, kept small: with many pairs the table is larger than the data.

    Parameters
    ----------
    begin
        Where each label begins in the distinct examples.
    group
        The distinct example of each example; -1 if it takes no part.
    labels
        For each pair the classes of the distinct examples of its two labels.
    """

    begin: NDArray[np.int32]
    group: Indices
    labels: list[NDArray[np.int32]]

    def table(self) -> NDArray[np.int64]:
        """A column for each pair, numbered on from pair to pair; -1 where an example takes no part."""
        n_labels, n_before = len(self.begin) - 1, 0
        distinct = np.full((int(self.begin[-1]) + 1, len(self.labels)), -1, dtype=np.int64)
        for number, (i, j) in enumerate(pairs_of(n_labels)):
            at_i, at_j = (slice(int(self.begin[k]), int(self.begin[k + 1])) for k in (i, j))
            labels, n_i = self.labels[number], at_i.stop - at_i.start
            distinct[at_i, number], distinct[at_j, number] = labels[:n_i] + n_before, labels[n_i:] + n_before
            n_before += int(labels.max()) + 1
        return np.asarray(distinct[self.group])


def pairs_of(n_labels: int) -> list[tuple[int, int]]:
    """Pairs of labels in the order of SVC's one-vs-one."""
    return [(i, j) for i in range(n_labels) for j in range(i + 1, n_labels)]


def decisions_of(values: Double, n_labels: int, shape: str) -> Double:
    """Decision values of pairs, one column each, in the shape of SVC's decision function."""
    if n_labels == 2:
        return np.asarray(values[:, 0])
    if shape == "ovo":
        return values
    return np.asarray(_ovr_decision_function(values < 0, -values, n_labels))


def winners_of(values: Double, n_labels: int) -> NDArray[np.int64]:
    """The label that most pairs vote for; the first of those with equal votes."""
    if n_labels == 2:
        return (values[:, 0] > 0).astype(np.int64)
    votes = np.zeros((len(values), n_labels), dtype=np.int64)
    for number, (i, j) in enumerate(pairs_of(n_labels)):
        votes[:, i] += values[:, number] > 0
        votes[:, j] += values[:, number] <= 0
    return np.asarray(votes.argmax(axis=1))


def solve_pairs(
    view: KernelView, X: Examples, codes: Integers, n_labels: int, bound: Double, lift: str, options: LiftOptions
) -> PairsAnswer:
    """Solve the machine of every pair of labels.

    Parameters
    ----------
    view
        The kernel.
    X
        The examples; for a precomputed kernel its matrix.
    codes, n_labels
        The label of each example, and how many labels there are.
    bound
        Upper bound of the dual variable of each example; those with 0 take no part.
    lift, options
        How the machines are lifted.
    """
    check_solver(options.solver)
    there = np.flatnonzero(bound > 0)
    is_all = len(there) == len(codes)
    labels, bounds = (codes, bound) if is_all else (codes[there], bound[there])
    merged = merge_examples(view, X if is_all or view.kernel == "precomputed" else X[there], lift, [labels], len(there))
    # Distinct examples, sorted by label; those of a label keep the order of the merging.
    order = np.argsort(labels[merged.first], kind="stable")
    first = merged.first[order]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    group = place[merged.labels]
    distinct = there[first]
    total = bounds[first] if len(first) == len(there) else class_totals(group, bounds, len(first))
    begin = np.searchsorted(labels[first], np.arange(n_labels + 1)).astype(np.int32)
    found = _Pairs(view, X, distinct, begin, total, lift, options).solve()
    share = found.coefficients / total
    coefficients = share[:, group]
    coefficients *= bounds
    if not is_all:
        group, some, part = np.full(len(codes), -1, dtype=np.int64), group, coefficients
        group[there] = some
        coefficients = np.zeros((n_labels, len(codes)))
        coefficients[:, there] = part
    counts = np.bincount(labels, minlength=n_labels)
    n_members = [int(counts[i] + counts[j]) for i, j in pairs_of(n_labels)]
    classes = PairClasses(begin, group, [answer.labels for answer in found.answers])
    return PairsAnswer(found.answers, found.distinct, n_members, coefficients, classes)


@dataclass(frozen=True, eq=False)
class _Found:
    """What the pairs come to, over distinct examples."""

    answers: list[DualAnswer]
    distinct: list[Indices]
    coefficients: Double


class _Pairs:
    """The pairs over distinct examples, sorted by label."""

    def __init__(
        self,
        view: KernelView,
        X: Examples,
        distinct: Indices,
        begin: NDArray[np.int32],
        total: Double,
        lift: str,
        options: LiftOptions,
    ) -> None:
        self.distinct, self.begin, self.total, self.lift, self.options = distinct, begin, total, lift, options
        self.n_labels = len(begin) - 1
        self.source = view.source(X[np.ix_(distinct, distinct)] if view.kernel == "precomputed" else X[distinct])
        self.limits = options.limits()
        if options.max_steps < 0:  # what takes longer goes the long way
            self.limits = replace(self.limits, max_steps=first_steps(self.source, len(distinct)))
        self.is_linear = getattr(self.source, "kernel", None) == "linear"
        self.shared: LabelMachines | None = None
        if self.n_labels > 2 and isinstance(self.source, PointKernel) and lift != "exact":
            self.shared = LabelMachines(self.source, begin, options.cache_bytes)

    def solve(self) -> _Found:
        n, pairs = len(self.distinct), pairs_of(self.n_labels)
        coefficients, quick = np.zeros((self.n_labels, n)), None
        if self.shared is not None and not self.is_linear and self.lift != "exact":
            largest = int(np.sort(np.diff(self.begin))[-2:].sum())
            if not uses_classes_for(self.source, largest, self.options):
                quick = self.shared.solve_all(self.total, self.limits)
        if quick is not None:
            coefficients = quick[1]
        answers, distinct = [], []
        own = np.arange(n, dtype=np.int32)
        for number, (i, j) in enumerate(pairs):
            at_i = slice(int(self.begin[i]), int(self.begin[i + 1]))
            at_j = slice(int(self.begin[j]), int(self.begin[j + 1]))
            n_i = at_i.stop - at_i.start
            self.others = np.zeros(0, dtype=np.int64)
            if quick is not None:
                outcome, seconds = quick[0][number]
                answer = answer_over_examples(outcome, own[: n_i + at_j.stop - at_j.start], seconds)
            if quick is None or (answer.is_limited and self.options.max_steps < 0):
                # As in SVC the first label of a pair is the positive one, the second if there is only one pair.
                answer = self._solve_pair(i, j, at_i, at_j, 1.0 if self.n_labels > 2 else -1.0)
                coefficients[j, at_i], coefficients[i, at_j] = answer.beta[:n_i], answer.beta[n_i:]
            answers.append(answer)
            members = [self.distinct[at_i], self.distinct[at_j], self.distinct[self.others]]
            distinct.append(members[0] if answer.landmarks is None else np.concatenate(members))
        return _Found(answers, distinct, coefficients)

    def _solve_pair(self, i: int, j: int, at_i: slice, at_j: slice, sign: float) -> DualAnswer:
        n_i = at_i.stop - at_i.start
        size = n_i + at_j.stop - at_j.start
        c, lo, hi = np.full(size, -sign), np.zeros(size), np.zeros(size)
        c[:n_i] = sign
        (hi if sign > 0 else lo)[:n_i] = sign * self.total[at_i]
        (lo if sign > 0 else hi)[n_i:] = -sign * self.total[at_j]
        machine = None if self.shared is None else self.shared.pair(i, j)
        if machine is not None and not self.is_linear and not uses_classes_for(self.source, len(c), self.options):
            answer = solve_one(machine, c, lo, hi, self.limits)
            if not answer.is_limited or self.options.max_steps >= 0:
                return answer
        if machine is not None and not self.is_linear and self.lift == "approximate":
            return self._by_shared_classes(at_i, at_j, c, lo, hi, machine)
        source = self.source if self.n_labels == 2 else self.source.subset(np.r_[at_i, at_j])
        return solve_over(source, c, lo, hi, self.lift, self.options, machine=machine)

    def _by_shared_classes(
        self, at_i: slice, at_j: slice, c: Double, lo: Double, hi: Double, machine: DualMachine
    ) -> DualAnswer:
        """Clusters of each label, and the landmarks, are the same for all pairs."""
        index, n_i = np.r_[at_i, at_j], at_i.stop - at_i.start
        landmarks = self.landmarks
        # The landmarks of other labels stand behind the examples of the pair.
        number = np.full(len(self.distinct), -1, dtype=np.int64)
        number[index] = np.arange(len(index))
        others = landmarks.index[number[landmarks.index] < 0]
        number[others] = len(index) + np.arange(len(others))
        self.others = others
        labels = self.clusters[index].copy()
        labels[n_i:] += int(labels[:n_i].max()) + 1
        shared = SharedClasses(labels, Landmarks(number[landmarks.index], landmarks.R))
        source = self.source.subset(np.concatenate([index, others]))
        return solve_lifted(DualProblem(source, c, lo, hi, None, shared=shared), self.options, machine)

    @cached_property
    def landmarks(self) -> Landmarks:
        return choose_landmarks(self.source, np.random.default_rng(self.options.seed), self.options.n_landmarks)

    @cached_property
    def clusters(self) -> NDArray[np.int32]:
        places, random = places_of(self.source), np.random.default_rng(self.options.seed)
        assert places is not None
        n_classes = 100 if self.options.n_classes is None else self.options.n_classes
        parts = [
            clusters_of(np.ascontiguousarray(places[begin:end]), n_classes, random)
            for begin, end in pairwise(self.begin.tolist())
        ]
        return np.concatenate(parts)
