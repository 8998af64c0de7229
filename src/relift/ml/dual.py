r"""The dual of a support vector machine, lifted, refined, and solved up to a proved gap.

The ground dual, in signed form (beta = y alpha for a classifier), is

.. math:: D(\beta) = \max\; c^\top\beta - \tfrac12\beta^\top K\beta,\quad l \le \beta \le u,\;
   \textstyle\sum\beta_i = 0 .

**Lifting.** Examples of one class share the value of beta relative to their bounds. Classes are label-pure (all
bounds of one sign), so whatever the small dual finds is feasible for the ground dual. The kernel between classes is
the mean of the kernel between their members, taken in the features of :mod:`relift.ml.landmarks`; from the sums of
kernel rows over a class it costs one pass over the examples, and no kernel matrix.

**Refinement.** With :math:`v = c - K\beta` the gap of the ground dual is a sum over examples,

.. math:: P - D = \sum_i \max\bigl(u_i(v_i - b), l_i(v_i - b)\bigr) - \beta_i (v_i - b),

hence over classes. Those that add most are split into the examples with v above and below b, and the small dual is
solved again from where it was. Where classes say little (points so far apart that a class spreads over the kernel's
width), every example becomes a class of its own, in the same features plus what each example has of its own.

**Proof.** At last v is computed with the true kernel, over the support vectors only, and with it the gap, which is
proved whatever was approximated before. If it is still too large, blocks of the worst violators are solved with the
true kernel until it is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from relift.ml import compiled
from relift.ml.kernels import Index, KernelSource
from relift.ml.landmarks import Landmarks, choose_landmarks, padded
from relift.ml.small_dual import balanced, best_bias, gap_terms, solve_small

Double = NDArray[np.float64]
Labels = NDArray[np.int32]

SPREAD_LIMIT = 0.12
"""Classes that leave more than this share of the kernel's trace inside themselves say too little."""

SUPPORT_WORK = 2.5e8
"""Kernel values up to which the decision function is expanded in support vectors rather than landmarks."""


EXTEND_FROM = 20_000
"""Examples from which on support vectors are added to the landmarks."""

SMALL_TOLERANCE = 1e-10
"""Tolerance of duals so small that accuracy costs nothing."""

NEAR = 1.5
"""Distance from the margin within which examples are looked at in every round."""


@final
@dataclass(frozen=True, eq=False)
class DualProblem:
    """The ground dual.

    Parameters
    ----------
    source
        The kernel between the examples.
    c, lo, hi
        Linear term and box; for each i either lo = 0 or hi = 0.
    places
        float32 coordinates in which near examples are alike; classes are looked for in them. None: in the features.
    """

    source: KernelSource
    c: Double
    lo: Double
    hi: Double
    places: NDArray[np.float32] | None


@final
@dataclass(frozen=True)
class LiftOptions:
    """How the dual is lifted and when it is good enough.

    Parameters
    ----------
    n_classes
        Classes for each side (label) to start from.
    n_landmarks
        At most so many landmarks.
    tol_gap
        Relative gap to reach.
    solver
        Of the small dual, see :func:`relift.ml.small_dual.solve_small`.
    tolerance
        Of the small dual: what two entries of v may differ by.
    most_rounds
        Rounds of splitting.
    most_blocks
        Blocks of violators that are solved with the true kernel at the end.
    expansion
        ``"support"``, ``"landmarks"`` or ``"auto"``: what the decision function is made of.
    seed
        Of all that is drawn.
    """

    n_classes: int = 100
    n_landmarks: int = 256
    tol_gap: float = 1e-2
    solver: str = "smo"
    tolerance: float = 1e-2
    most_rounds: int = 6
    most_blocks: int = 2000
    expansion: str = "auto"
    seed: int = 0


@final
@dataclass(eq=False)
class DualAnswer:
    """A feasible point of the ground dual with its proof.

    Parameters
    ----------
    beta
        The point.
    bias
        The b of the decision function.
    gap
        Proved relative distance from the optimum: (primal value - dual value) / abs(dual value).
    dual_value, primal_value
        The two sides.
    labels
        The class of each example, 0 .. n_classes-1, at the end.
    iterations
        Steps of the small solver, all rounds together.
    landmarks, coefficients
        Numbers of the landmarks and their coefficients, if the decision function is expanded in them.
    rounds
        One line for each round: classes, gap, seconds.
    """

    beta: Double
    bias: float
    gap: float
    dual_value: float
    primal_value: float
    labels: Labels
    iterations: int
    landmarks: Index | None = None
    coefficients: Double | None = None
    rounds: list[dict[str, Any]] = field(default_factory=list)


def solve_lifted(problem: DualProblem, options: LiftOptions) -> DualAnswer:
    """Solve the ground dual by classes that are refined, up to the gap that is asked for or the limits.

    Examples
    --------
    >>> from relift.ml.kernels import PointKernel
    >>> points = np.array([[0.0], [0.1], [2.0], [2.1]], dtype=np.float32)
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> problem = DualProblem(PointKernel(points, "linear", 1.0, 0.0, 3), y, np.minimum(y, 0), np.maximum(y, 0), points)
    >>> answer = solve_lifted(problem, LiftOptions(n_classes=1, tol_gap=1e-3))
    >>> answer.gap <= 1e-3, bool(abs(answer.beta.sum()) < 1e-12)
    (True, True)
    """
    return _Lifted(problem, options).run()


def cluster_by_side(problem: DualProblem, places: NDArray[np.float32], n_classes: int, seed: int) -> Labels:
    """Label-pure classes: k-means on each side, on a sample if there are many examples."""
    labels = np.zeros(len(problem.c), dtype=np.int32)
    random = np.random.default_rng(seed)
    begin = 0
    for members in (np.flatnonzero(problem.lo < 0), np.flatnonzero(problem.hi > 0)):
        if not len(members):
            continue
        points = np.ascontiguousarray(places[members])
        if len(members) <= n_classes:
            labels[members] = begin + np.arange(len(members), dtype=np.int32)
        else:
            order = random.permutation(len(members))
            sample = points[order[: 40 * n_classes]]
            centres = sample[:n_classes].copy()
            compiled.lloyd(sample, centres, 5)
            labels[members] = begin + compiled.nearest(points, centres)[0]
        begin = int(labels[members].max()) + 1
    return labels


@final
class _Lifted:
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

    def run(self) -> DualAnswer:
        n_sides = [int((self.lo < 0).sum()), int((self.hi > 0).sum())]
        if min(n_sides) == 0:
            return self._nothing_to_solve()
        if max(n_sides) <= self.options.n_classes:
            beta, labels = self._every_example(), self.all.astype(np.int32)
            return self._finish(beta, labels, None, None, None)
        landmarks = choose_landmarks(self.source, self.random, self.options.n_landmarks)
        if not len(landmarks.index):
            return self._finish(np.zeros(self.size), self.all.astype(np.int32), None, None, None)
        places = self.problem.places
        if places is None:
            places = self._features(landmarks)
        labels = cluster_by_side(self.problem, places, self.options.n_classes, self.options.seed)
        return self._by_rounds(labels, landmarks)

    def _nothing_to_solve(self) -> DualAnswer:
        bias = best_bias(self.c, self.lo, self.hi)
        gap = float(gap_terms(self.c, bias, np.zeros(self.size), self.lo, self.hi).sum())
        return DualAnswer(np.zeros(self.size), bias, 0.0 if gap <= 0 else 1.0, 0.0, gap, self.all.astype(np.int32), 0)

    def _every_example(self) -> Double:
        K = self.source.block(self.all, self.all)
        beta, steps = solve_small(
            0.5 * (K + K.T), self.c, self.lo, self.hi, np.zeros(self.size), self.options.solver,
            SMALL_TOLERANCE if self.size <= 256 else 0.01 * self.options.tolerance, self.options.seed,
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

    def _by_rounds(self, labels: Labels, landmarks: Landmarks) -> DualAnswer:
        options, source = self.options, self.source
        trace = float(source.diagonal() @ self.bound)
        sums = source.class_sums(self.all, landmarks.index, self.bound, labels, int(labels.max()) + 1)
        beta, v, near = np.zeros(self.size), self.c.copy(), self.all
        is_extended = self.size <= EXTEND_FROM
        # Blocks with the true kernel end the work on few examples sooner than further rounds would. The features of
        # many are extended until they hardly differ from the kernel.
        ends_in_blocks = is_extended and options.expansion != "landmarks"
        enough = (3.0 if ends_in_blocks else 0.5 if is_extended else 0.85) * options.tol_gap
        number = 0
        while True:
            labels, sums = _renumbered(labels, sums)
            n_classes = len(sums)
            weight = np.bincount(labels, self.bound, n_classes)
            z = landmarks.features(sums / weight[:, None])
            if number == 0:
                spread = 1.0 - float((weight * (z**2).sum(axis=1)).sum()) / trace
                if spread > SPREAD_LIMIT:
                    return self._by_features(landmarks, n_classes)
            lo, hi = class_totals(labels, self.lo, n_classes), class_totals(labels, self.hi, n_classes)
            c = np.bincount(labels, self.c * self.bound, n_classes) / weight
            start = balanced(np.clip(np.bincount(labels, beta, n_classes), lo, hi))
            small, steps = solve_small(z @ z.T, c, lo, hi, start, options.solver, options.tolerance, options.seed)
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
                v[near] = self.c[near] - source.sums(None if is_all else near, landmarks.index, a)
                # Any bias gives a gap; that of the classes is near enough the best until all examples are looked at.
                bias = best_bias(v, self.lo, self.hi) if is_all else best_bias(by_class, lo, hi)
                terms = gap_terms(v, bias, beta, self.lo, self.hi)
                gap = float(terms.sum()) / max(abs(value), 1e-12)
                if is_all or (gap > enough and number < options.most_rounds):
                    break
                near = self.all
            self._note("classes", n_classes, gap, False)
            if gap <= enough or number >= options.most_rounds:
                break
            if not is_extended and gap < 0.1:
                landmarks, sums = self._with_more_landmarks(landmarks, sums, labels, beta, value)
                is_extended = True
            labels, sums = self._split(labels, sums, v > bias, terms, value, landmarks)
            near = np.flatnonzero((np.abs(v - bias) < NEAR) | (beta != 0))
            number += 1
        return self._finish(beta, labels, landmarks, a, v)

    def _with_more_landmarks(
        self, landmarks: Landmarks, sums: Double, labels: Labels, beta: Double, value: float
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
        labels: Labels,
        sums: Double,
        is_above: NDArray[np.bool_],
        terms: Double,
        value: float,
        landmarks: Landmarks,
    ) -> tuple[Labels, Double]:
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

    # ---- every example a class, in features ----

    def _by_features(self, landmarks: Landmarks, n_classes: int) -> DualAnswer:
        """Coordinate ascent on K ~ ZZ' + diagonal rest; the bias is a further feature."""
        self._note("classes", n_classes, np.inf, False)
        Z, rest = self.features_and_rest(landmarks)
        c, lo, hi = (array.astype(np.float32) for array in (self.c, self.lo, self.hi))
        beta, w = np.zeros(self.size, dtype=np.float32), np.zeros(Z.shape[1], dtype=np.float32)
        order = self.all.astype(np.int32)
        steps, _ = compiled.coordinate_ascent(
            Z, rest, c, lo, hi, order, beta, w, self.options.tolerance, 40, self.options.seed
        )
        self.iterations += steps
        return self._finish(balanced(np.clip(beta.astype(np.float64), self.lo, self.hi)), order, None, None, None)

    def features_and_rest(self, landmarks: Landmarks) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Features with a column of ones, padded; and what of the diagonal they leave."""
        features = self._features(landmarks)
        rest = np.maximum(self.source.diagonal() - (features.astype(np.float64) ** 2).sum(axis=1), 0.0)
        Z = padded(features, 1)
        Z[:, features.shape[1]] = 1.0
        return Z, rest.astype(np.float32)

    # ---- the proof, and the true kernel ----

    def _finish(
        self, beta: Double, labels: Labels, landmarks: Landmarks | None, a: Double | None, v: Double | None
    ) -> DualAnswer:
        options = self.options
        beta = balanced(beta)
        support = np.flatnonzero(beta)
        work = float(len(support)) * self.size
        wants_landmarks = options.expansion == "landmarks" or (options.expansion == "auto" and work > SUPPORT_WORK)
        if wants_landmarks and landmarks is not None and a is not None and v is not None:
            answer = self._proof_by_landmarks(beta, labels, support, landmarks, a, v)
            if answer.gap <= options.tol_gap:
                return answer
        v = self.c - self.source.sums(None, support, beta[support])
        return self._by_blocks(beta, labels, v)

    def _proof_by_landmarks(
        self, beta: Double, labels: Labels, support: Index, landmarks: Landmarks, a: Double, v: Double
    ) -> DualAnswer:
        """Primal value of the combination of landmarks, dual value of beta, both with the true kernel."""
        bias = best_bias(v, self.lo, self.hi)
        push = v - bias
        K = self.source.block(landmarks.index, landmarks.index)
        primal = 0.5 * float(a @ (K @ a)) + float(np.maximum(self.hi * push, self.lo * push).sum())
        square = float(beta[support] @ self.source.sums(support, support, beta[support]))
        dual = float(self.c @ beta) - 0.5 * square
        gap = (primal - dual) / max(abs(dual), 1e-12)
        self._note("proof", int(labels.max()) + 1, gap, True)
        return DualAnswer(beta, bias, gap, dual, primal, labels, self.iterations, landmarks.index, a, self.rounds)

    def _by_blocks(self, beta: Double, labels: Labels, v: Double) -> DualAnswer:
        """Solve blocks of the worst violators with the true kernel until the gap is reached."""
        options, lo, hi = self.options, self.lo, self.hi
        is_own = np.zeros(self.size, dtype=bool)
        block_size = int(min(256, max(2, self.size)))
        for number in range(options.most_blocks + 1):
            bias = best_bias(v, lo, hi)
            total = float(gap_terms(v, bias, beta, lo, hi).sum())
            square = float(beta @ (self.c - v))
            dual = float(self.c @ beta) - 0.5 * square
            gap = max(total, 0.0) / max(abs(dual), 1e-12)
            if number % 50 == 0 or gap <= options.tol_gap:
                self._note("proof" if number == 0 else "blocks", int(labels.max()) + 1 + int(is_own.sum()), gap, True)
            if gap <= options.tol_gap or number == options.most_blocks:
                break
            chosen, violation = worst_violators(v, beta, lo, hi, block_size)
            if violation <= 1e-12 * max(1.0, float(np.abs(v).max())):
                break
            K = self.source.block(chosen, chosen)
            part, v_part = beta[chosen].copy(), v[chosen].copy()
            steps, _ = compiled.smo(
                np.ascontiguousarray(0.5 * (K + K.T)), lo[chosen], hi[chosen], part, v_part, 0.1 * violation, 5000
            )
            self.iterations += steps
            moved = part - beta[chosen]
            is_moved = moved != 0
            if not is_moved.any():
                break
            beta[chosen] = part
            is_own[chosen[is_moved]] = True
            v = v - self.source.sums(None, chosen[is_moved], moved[is_moved])
        if is_own.any():
            labels = labels.copy()
            labels[is_own] = int(labels.max()) + 1 + np.arange(int(is_own.sum()), dtype=np.int32)
            labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        return DualAnswer(beta, bias, gap, dual, dual + max(total, 0.0), labels, self.iterations, rounds=self.rounds)

    def _note(self, stage: str, n_classes: int, gap: float, is_proved: bool) -> None:
        self.rounds.append(
            {
                "stage": stage,
                "classes": n_classes,
                "gap": gap,
                "proved": is_proved,
                "seconds": perf_counter() - self.start,
            }
        )


def worst_violators(v: Double, beta: Double, lo: Double, hi: Double, size: int) -> tuple[Index, float]:
    """The examples with the largest v that may grow and the smallest that may shrink; and how far these are apart."""
    up, down = np.where(beta < hi, v, -np.inf), np.where(beta > lo, v, np.inf)
    half = min(size // 2, len(v) - 1)
    tops = np.argpartition(-up, half)[:half] if half else np.array([int(np.argmax(up))])
    bottoms = np.argpartition(down, half)[:half] if half else np.array([int(np.argmin(down))])
    chosen = np.union1d(tops[np.isfinite(up[tops])], bottoms[np.isfinite(down[bottoms])])
    violation = float(up.max() - down.min())
    return chosen, violation if np.isfinite(violation) else 0.0


def class_totals(labels: NDArray[Any], values: Double, n_classes: int) -> Double:
    """Sums of values over classes."""
    return np.bincount(labels, values, n_classes).astype(np.float64, copy=False)


def _renumbered(labels: Labels, sums: Double) -> tuple[Labels, Double]:
    """Drop classes without members."""
    is_used = np.bincount(labels, minlength=len(sums)) > 0
    if is_used.all():
        return labels, sums
    return (np.cumsum(is_used) - 1)[labels].astype(np.int32), sums[is_used]
