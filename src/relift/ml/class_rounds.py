r"""Rounds on classes of examples: the dual of a few hundred classes, split where they violate its optimality.

**Lifting.** Examples of one class share the value of beta relative to their bounds. Classes are label-pure (all
bounds of one sign), so whatever the small dual finds is feasible for the original dual. The kernel between classes is
the mean of the kernel between their members, taken in the features of :mod:`relift.ml.landmarks`; from the sums of
kernel rows over a class it costs one pass over the examples, and no kernel matrix.

**Refinement.** With :math:`v = c - K\beta` the gap of the original dual is a sum over examples,

.. math:: P - D = \sum_i \max\bigl(u_i(v_i - b), l_i(v_i - b)\bigr) - \beta_i (v_i - b),

hence over classes. Those that add most are split into the examples with v above and below b, and the small dual is
solved again from where it was. Where classes say little (points so far apart that a class spreads over the kernel's
width), or splitting makes no headway, the rounds end and the examples themselves are solved over.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Codes, Double
from relift.ml import compiled
from relift.ml.dual_problem import DualProblem, LiftOptions, class_totals
from relift.ml.landmarks import Landmarks, choose_landmarks
from relift.ml.small_dual import balanced, best_bias, gap_terms, solve_small

SPREAD_LIMIT = 0.12
"""Classes that leave more than this share of the kernel's trace inside themselves say too little."""

EXTEND_FROM = 20_000
"""Examples from which on support vectors are added to the landmarks."""

HEADWAY = 0.8
"""A round that leaves more than this share of the gap makes too little headway, once most classes were split."""

NEAR = 1.5
"""Distance from the margin within which examples are looked at in every round."""


@final
@dataclass(eq=False)
class ClassAnswer:
    """A feasible point that is constant on classes.

    Parameters
    ----------
    beta, labels
        The point, and the class of each example.
    iterations
        Steps of the small solver, all rounds together.
    landmarks, coefficients, v
        The decision function in landmarks and c less its values; None if every example is a class.
    rounds
        One line for each round: classes, gap, seconds.
    """

    beta: Double
    labels: Codes
    iterations: int
    landmarks: Landmarks | None
    coefficients: Double | None
    v: Double | None
    rounds: list[dict[str, Any]]


def solve_classes(problem: DualProblem, options: LiftOptions) -> ClassAnswer | None:
    """Solve the dual by classes up to a gap in the features, or None where classes say too little."""
    return _Rounds(problem, options).run()


def cluster_by_side(problem: DualProblem, places: NDArray[np.float32], n_classes: int, seed: int) -> Codes:
    """Label-pure classes: k-means on each side, on a sample if there are many examples."""
    labels = np.zeros(len(problem.c), dtype=np.int32)
    random = np.random.default_rng(seed)
    begin = 0
    for members in (np.flatnonzero(problem.lo < 0), np.flatnonzero(problem.hi > 0)):
        if not len(members):
            continue
        labels[members] = begin + clusters_of(np.ascontiguousarray(places[members]), n_classes, random)
        begin = int(labels[members].max()) + 1
    return labels


def clusters_of(points: NDArray[np.float32], n_classes: int, random: np.random.Generator) -> Codes:
    """Clusters by k-means on a sample; every point alone if there are no more than clusters."""
    if len(points) <= n_classes:
        return np.arange(len(points), dtype=np.int32)
    order = random.permutation(len(points))
    sample = points[order[: 40 * n_classes]]
    centres = sample[:n_classes].copy()
    compiled.lloyd(sample, centres, 5)
    return compiled.nearest(points, centres)[0]


@final
class _Rounds:
    """One run: the state that the rounds share."""

    def __init__(self, problem: DualProblem, options: LiftOptions) -> None:
        self.problem, self.options = problem, options
        self.source, self.c, self.lo, self.hi = problem.source, problem.c, problem.lo, problem.hi
        self.size = len(self.c)
        self.bound = self.hi - self.lo
        self.random = np.random.default_rng(options.seed)
        self.rounds: list[dict[str, Any]] = []
        self.iterations = 0
        self.start = perf_counter()
        self.all = np.arange(self.size)
        self.n_classes = 100 if options.n_classes is None else options.n_classes

    def run(self) -> ClassAnswer | None:
        n_sides = [int((self.lo < 0).sum()), int((self.hi > 0).sum())]
        if max(n_sides) <= self.n_classes:
            return ClassAnswer(
                self._every_example(), self.all.astype(np.int32), self.iterations, None, None, None, self.rounds
            )
        if self.problem.shared is not None:
            return self._by_rounds(self.problem.shared.labels, self.problem.shared.landmarks)
        landmarks = choose_landmarks(self.source, self.random, self.options.n_landmarks)
        if not len(landmarks.index):
            return None
        places = self.problem.places
        if places is None:
            places = self._features(landmarks)
        labels = cluster_by_side(self.problem, places, self.n_classes, self.options.seed)
        return self._by_rounds(labels, landmarks)

    def _every_example(self) -> Double:
        K = self.source.block(self.all, self.all)
        beta, steps = solve_small(
            0.5 * (K + K.T), self.c, self.lo, self.hi, np.zeros(self.size), self.options.solver,
            0.1 * self.options.tolerance, self.options.seed,
        )  # fmt: skip
        self.iterations += steps
        return beta

    def _features(self, landmarks: Landmarks) -> NDArray[np.float32]:
        size = max(1, (1 << 22) // max(1, len(landmarks.index)))
        parts = [
            landmarks.features(self.source.single_block(self.all[begin : begin + size], landmarks.index))
            for begin in range(0, self.size, size)
        ]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    # ---- rounds on classes ----

    def _by_rounds(self, labels: Codes, landmarks: Landmarks) -> ClassAnswer | None:
        options, source = self.options, self.source
        trace = float(source.diagonal()[: self.size] @ self.bound)
        sums = source.class_sums(self.all, landmarks.index, self.bound, labels, int(labels.max()) + 1)
        beta, v, near = np.zeros(self.size), self.c.copy(), self.all
        is_extended = self.size <= EXTEND_FROM
        enough = (0.5 if is_extended else 0.85) * options.tol_gap
        number, last_gap = 0, np.inf
        while True:
            labels, sums = _renumbered(labels, sums)
            n_classes = len(sums)
            weight = np.bincount(labels, self.bound, n_classes)
            z = landmarks.features(sums / weight[:, None])
            if number == 0:
                spread = 1.0 - float((weight * (z**2).sum(axis=1)).sum()) / trace
                if spread > SPREAD_LIMIT:
                    return None
            lo, hi = class_totals(labels, self.lo, n_classes), class_totals(labels, self.hi, n_classes)
            c = np.bincount(labels, self.c * self.bound, n_classes) / weight
            start = balanced(np.clip(np.bincount(labels, beta, n_classes), lo, hi))
            small, steps = solve_small(
                z @ z.T, c, lo, hi, start, options.solver, 10.0 * options.tolerance, options.seed
            )
            self.iterations += steps
            w = z.T @ small
            a = landmarks.coefficients(w)
            beta = (small / weight)[labels] * self.bound
            value = float(self.c @ beta) - 0.5 * float(w @ w)
            by_class = c - z @ w
            if number == 0 and not is_extended:
                v = by_class[labels]
                is_near = np.abs(by_class - best_bias(by_class, lo, hi)) < NEAR + 0.5
                near = np.flatnonzero((is_near | (small != 0))[labels])
            # Far from the margin little changes: there v is looked at again only when all seems well.
            while True:
                is_all = len(near) == self.size
                v[near] = self.c[near] - source.sums(
                    None if is_all and self.size == source.size else near, landmarks.index, a
                )
                # Any bias gives a gap; that of the classes is near enough the best until all examples are looked at.
                bias = best_bias(v, self.lo, self.hi) if is_all else best_bias(by_class, lo, hi)
                terms = gap_terms(v, bias, beta, self.lo, self.hi)
                gap = float(terms.sum()) / max(abs(value), 1e-12)
                if is_all or (gap > enough and number < options.most_rounds):
                    break
                near = self.all
            self._note("classes", n_classes, gap)
            is_stuck = number > 1 and gap > HEADWAY * last_gap
            if gap <= enough or number >= options.most_rounds or is_stuck:
                break
            last_gap = gap
            if not is_extended and gap < 0.1:
                landmarks, sums = self._with_more_landmarks(landmarks, sums, labels, beta, value)
                is_extended = True
            labels, sums = self._split(labels, sums, v > bias, terms, value, landmarks)
            near = np.flatnonzero((np.abs(v - bias) < NEAR) | (beta != 0))
            number += 1
        return ClassAnswer(beta, labels, self.iterations, landmarks, a, v, self.rounds)

    def _with_more_landmarks(
        self, landmarks: Landmarks, sums: Double, labels: Codes, beta: Double, value: float
    ) -> tuple[Landmarks, Double]:
        """Add support vectors that the landmarks represent badly, and the sums of kernel rows for them."""
        support = self.random.permutation(np.flatnonzero(beta))
        some = support[:2000]
        missing = float(beta[some] ** 2 @ landmarks.rest(self.source, some)) * len(support) / max(1, len(some))
        if missing < 0.01 * self.options.tol_gap * abs(value):
            return landmarks, sums
        more = landmarks.extended(self.source, np.sort(support[:8000]), self.options.n_landmarks)
        added = more.index[len(landmarks.index) :]
        if not len(added):
            return landmarks, sums
        further = self.source.class_sums(self.all, added, self.bound, labels, len(sums))
        return more, np.concatenate([sums, further], axis=1)

    def _split(
        self,
        labels: Codes,
        sums: Double,
        is_above: NDArray[np.bool_],
        terms: Double,
        value: float,
        landmarks: Landmarks,
    ) -> tuple[Codes, Double]:
        """Part the classes that add most to the gap; kernel rows are added up anew for their upper halves only."""
        n_classes = len(sums)
        by_class = np.bincount(labels, terms, n_classes)
        is_split = by_class > 0.1 * self.options.tol_gap * abs(value) / n_classes
        moved = np.flatnonzero(is_split[labels] & is_above)
        if not len(moved):
            return labels, sums
        number = np.cumsum(is_split) - 1
        upper_labels = number[labels[moved]].astype(np.int32)
        upper = self.source.class_sums(moved, landmarks.index, self.bound[moved], upper_labels, int(is_split.sum()))
        lower = sums.copy()
        lower[is_split] -= upper
        labels = labels.copy()
        labels[moved] = n_classes + upper_labels
        return labels, np.concatenate([lower, upper])

    def _note(self, stage: str, n_classes: int, gap: float) -> None:
        self.rounds.append(
            {
                "stage": stage,
                "classes": n_classes,
                "gap": gap,
                "proved": False,
                "seconds": perf_counter() - self.start,
            }
        )


def _renumbered(labels: Codes, sums: Double) -> tuple[Codes, Double]:
    """Drop classes without members."""
    is_used = np.bincount(labels, minlength=len(sums)) > 0
    if is_used.all():
        return labels, sums
    return (np.cumsum(is_used) - 1)[labels].astype(np.int32), sums[is_used]
