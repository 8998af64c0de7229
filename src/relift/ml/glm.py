r"""Linear models over weighted distinct rows, solved up to a proved gap.

.. math:: \min_{W, b}\; \sum_i n_i\,\varphi(x_i^\top W + b;\, \bar y_i) + \sum_j \tfrac12 d_j \|W_j\|^2 + l_j\|W_j\|_1

with a loss of :mod:`relift.ml.losses`. Without absolute values (l = 0) by Newton's method with a line search, the
systems of :mod:`relift.ml.newton` solved by a factorisation or by conjugate gradients; with them by the proximal
Newton method, whose quadratic models are solved by coordinate descent (:mod:`relift.ml.descent`).

**Proof.** The residuals of any point are a point of the dual after three changes that vanish at the optimum: their
total is made 0 (which an intercept demands), they are scaled down until no column asks for more than its l (where d =
0), and, without any penalty, they are projected until they are orthogonal to the columns. The gap between both values
is proved whatever was approximated before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import linalg, sparse

from relift.arrays import Double, Examples, is_sparse
from relift.ml.descent import by_columns, by_matrix
from relift.ml.losses import Logistic, Loss, Multinomial, Squared
from relift.ml.newton import MATRIX_LIMIT, NewtonSystem, scores_of, sums_of
from relift.ml.preconditioner import dense, weighted_moments

Solver = str

FLAT_STEPS = 6
"""Steps that may be taken where the objective no longer changes."""

HOPE = 3.0
"""The gap is looked at where slopes speak for no more than so many times the tolerance."""

FAR_OFF = 1e5
"""Without penalty it is not looked at after an exact step that promised more than so many times the tolerance."""


@final
@dataclass(frozen=True, eq=False)
class LinearProblem:
    """Data and penalty.

    Parameters
    ----------
    X
        Distinct rows, dense or in compressed rows.
    loss
        Over these rows.
    l1, l2
        Prices of the absolute value and of the halved square of each column's coefficients.
    has_intercept
        Whether scores have a constant of their own, without a price.
    is_positive
        Whether coefficients may not be negative.
    """

    X: Examples
    loss: Loss
    l1: Double
    l2: Double
    has_intercept: bool
    is_positive: bool = False

    def scores(self, W: Double, b: Double) -> Double:
        """Scores of the rows."""
        return np.asarray(scores_of(self.X, W) + b)

    def penalty(self, W: Double) -> float:
        """The price of coefficients."""
        return float(0.5 * self.l2 @ (W**2).sum(axis=1) + self.l1 @ np.abs(W).sum(axis=1))


@final
@dataclass(eq=False)
class LinearAnswer:
    """A point with its proof.

    Parameters
    ----------
    W, b
        Coefficients (one column for each output), and intercepts.
    dual
        The dual point: one value for each row and output; X'dual = d W where no absolute value has a price.
    primal_value, dual_value
        Objective of the point, and the lower bound.
    iterations
        Steps.
    """

    W: Double
    b: Double
    dual: Double
    primal_value: float
    dual_value: float
    iterations: int

    @property
    def gap(self) -> float:
        """Primal less dual value; not negative, infinite if nothing is proved."""
        gap = self.primal_value - self.dual_value
        return np.inf if np.isnan(gap) else max(0.0, gap)


def solve_linear(
    problem: LinearProblem,
    *,
    tolerance: float,
    most: int,
    solver: Solver = "auto",
    start: tuple[Double, Double] | None = None,
    tell: Callable[[int, float, float], None] | None = None,
) -> LinearAnswer:
    """Solve to an absolute gap, or to the most steps.

    Parameters
    ----------
    problem
        What to solve.
    tolerance
        The gap to reach.
    most
        Steps of Newton's method.
    solver
        ``"newton-cholesky"``, ``"newton-cg"``, or ``"auto"``, which decides by the number of coefficients.
    start
        Coefficients and intercepts to start from.
    tell
        Progress callback, called with step, objective and gap.

    Examples
    --------
    >>> from relift.ml.losses import Squared
    >>> loss = Squared(np.array([1.0, 3.0]), np.array([[1.0], [2.0]]))
    >>> problem = LinearProblem(np.array([[0.0], [1.0]]), loss, np.zeros(1), np.zeros(1), True)
    >>> answer = solve_linear(problem, tolerance=1e-9, most=10)
    >>> answer.W.round(6).tolist(), answer.b.round(6).tolist(), answer.gap < 1e-9
    ([[1.0]], [1.0], True)
    """
    return _Run(problem, tolerance, most, solver, tell).run(start)


def dual_point(problem: LinearProblem, means: Double) -> tuple[Double, float]:
    """A point of the dual from fitted means, and its value; minus infinity where none is found."""
    loss = problem.loss
    if problem.has_intercept:
        means = loss.balanced(means)
    theta = loss.residual(means)
    v = sums_of(problem.X, theta)
    is_hard = problem.l2 == 0
    if not is_hard.any():
        spare = np.maximum(np.abs(v) - problem.l1[:, None], 0.0) if not problem.is_positive else _above(problem, v)
        return theta, loss.conjugate(means) - 0.5 * float(((spare**2).sum(axis=1) / problem.l2).sum())
    if not problem.l1[is_hard].any():
        return _orthogonal(problem, means)
    asked = (v if problem.is_positive else np.abs(v)).max(axis=1)
    with np.errstate(divide="ignore"):
        factors = np.where(asked > problem.l1, problem.l1 / np.maximum(asked, 1e-300), 1.0)[is_hard]
    factor = float(factors.min(initial=1.0))
    if factor < 1.0:
        theta = factor * theta
        means = loss.mean - theta / loss.weight[:, None]
        v = factor * v
    spare = _above(problem, v) if problem.is_positive else np.maximum(np.abs(v) - problem.l1[:, None], 0.0)
    soft = ~is_hard
    return theta, loss.conjugate(means) - 0.5 * float(((spare[soft] ** 2).sum(axis=1) / problem.l2[soft]).sum())


def _above(problem: LinearProblem, v: Double) -> Double:
    return np.maximum(v - problem.l1[:, None], 0.0)


def _orthogonal(problem: LinearProblem, means: Double) -> tuple[Double, float]:
    """Without penalty: residuals that no column sees, found by least squares in the metric of the curvature."""
    loss, X = problem.loss, problem.X
    if X.shape[1] > MATRIX_LIMIT:
        return loss.residual(means), -np.inf
    columns = dense(X)
    if problem.has_intercept:
        columns = np.column_stack([columns, np.ones(X.shape[0])])
    is_simplex = isinstance(loss, Multinomial)
    for _ in range(3):
        moved = means.copy()
        for k in range(loss.n_outputs):
            metric = loss.weight * np.maximum(means[:, k], 1e-12)
            theta = loss.weight * (loss.mean[:, k] - means[:, k])
            G = columns.T @ (metric[:, None] * columns)
            step = linalg.lstsq(G, columns.T @ theta)[0]
            moved[:, k] += means[:, k] * (columns @ step)
        if not is_simplex:
            means = moved
            break
        if (moved <= 0).any():
            return loss.residual(means), -np.inf
        means = moved / moved.sum(axis=1, keepdims=True)
    left = np.abs(columns.T @ loss.residual(means)).max(initial=0.0)
    scale = np.abs(columns.T @ (loss.weight[:, None] * np.abs(loss.mean))).max(initial=1.0)
    if left > 1e-9 * scale or not _is_admissible(loss, means):
        return loss.residual(means), -np.inf
    return loss.residual(means), loss.conjugate(means)


def _is_admissible(loss: Loss, means: Double) -> bool:
    if isinstance(loss, Squared):
        return True
    return bool((means >= 0).all() and (not isinstance(loss, Logistic) or (means <= 1).all()))


@final
class _Run:
    """One run: the state that the steps share."""

    def __init__(self, problem: LinearProblem, tolerance: float, most: int, solver: Solver, tell: Any) -> None:
        self.problem, self.tolerance, self.most, self.tell = problem, tolerance, most, tell
        self.loss, self.X = problem.loss, problem.X
        self.p, self.K = problem.X.shape[1], problem.loss.n_outputs
        self.has_l1 = bool(problem.l1.any()) or problem.is_positive
        self.system = NewtonSystem(problem.X, problem.loss, problem.l2, problem.has_intercept, solver)
        self.moments: Double | None = None
        self.columns: Any = None
        self.largest_square: float | None = None
        self.flat_steps: int = 0
        self.decrement = np.inf
        self.slope: Double | None = None
        self.step = 0.0

    def run(self, start: tuple[Double, Double] | None) -> LinearAnswer:
        self._begin(start)
        best, is_moved = None, True
        for step in range(self.most + 1):
            is_last = step == self.most or not is_moved
            if is_last or self.tell is not None or self._may_be_optimal():
                now = self._judged(step)
                best = now if best is None or now.gap <= best.gap or not np.isfinite(best.gap) else best
                best.iterations = step
                if is_last or best.gap <= self.tolerance:
                    break
                self.system.was_wrong()
            is_moved = self._proximal_step(best.gap if best else np.inf) if self.has_l1 else self._newton_step()
        assert best is not None
        return best

    def _begin(self, start: tuple[Double, Double] | None) -> None:
        """Go to coefficients, or to the best constant if there are none or they are worse."""
        self.b = self.loss.null_scores() if self.problem.has_intercept else np.zeros(self.K)
        self.W = np.zeros((self.p, self.K))
        if start is not None:
            self.W, self.b = start[0].copy(), start[1].copy() if self.problem.has_intercept else self.b
            if self.K > 1 and not self.has_l1:  # a constant for all outputs costs and changes nothing: it is left out
                self.W -= self.W.mean(axis=1, keepdims=True)
        self.scores = self.problem.scores(self.W, self.b)
        value, self.means = self.loss.value_and_means(self.scores)
        self.value, self.slope = value + self.problem.penalty(self.W), None
        if not np.isfinite(self.value):  # a start far off: exp overflows
            self._begin(None)

    def _may_be_optimal(self) -> bool:
        """Whether it is worth the time to look at the gap."""
        if self.has_l1:
            return True
        if self.problem.l2.all():
            return self.system.is_closed(self._slope(), HOPE * self.tolerance)
        far_off = FAR_OFF if self.system.is_exact else HOPE
        return self.decrement < far_off * self.tolerance or isinstance(self.loss, Squared)

    def _judged(self, step: int) -> LinearAnswer:
        dual, bound = dual_point(self.problem, self.means)
        answer = LinearAnswer(self.W.copy(), self.b.copy(), dual, self.value, bound, step)
        if self.tell is not None:
            self.tell(step, answer.primal_value, answer.gap)
        return answer

    # ---- Newton's method ----

    def _slope(self) -> Double:
        """The slope of the objective, with the intercept last."""
        if self.slope is None:
            theta = self.loss.residual(self.means)
            last = -theta.sum(axis=0) if self.problem.has_intercept else np.zeros(self.K)
            self.slope = np.vstack([self.problem.l2[:, None] * self.W - sums_of(self.X, theta), last])
        return self.slope

    def _newton_step(self) -> bool:
        slope = self._slope()
        direction = -self.system.direction(slope, self.means, self.tolerance)
        self.decrement = -float((slope * direction).sum())
        is_moved = self._search(direction[:-1], direction[-1], -self.decrement)
        self.system.moved(slope, self.step * direction)
        return is_moved

    def _search(self, dW: Double, db: Double, slope: float) -> bool:
        """The first of the steps 1, 1/2, 1/4, ... that lowers the objective enough; whether to go on."""
        if not slope < 0:
            return False
        moved = self.problem.scores(dW, db)
        noise = 1e-14 * (float(self.loss.weight @ np.abs(self.scores * self.loss.mean).sum(axis=1)) + abs(self.value))
        step = 1.0
        while step > 1e-12:
            W, scores = self.W + step * dW, self.scores + step * moved
            value, means = self.loss.value_and_means(scores)
            value += self.problem.penalty(W)
            # Below the rounding of the objective the slopes, and with them the gap, still improve for some steps.
            is_flat = -slope < noise and value <= self.value + noise
            if value <= self.value + 1e-4 * step * slope or is_flat:
                self.flat_steps += int(is_flat and not self.system.needs_digits())
                self.W, self.b, self.scores, self.means = W, self.b + step * db, scores, means
                self.value, self.slope, self.step = value, None, step
                return bool(self.flat_steps <= FLAT_STEPS * (self.K if self.has_l1 else 1))
            step *= 0.5
        return False

    # ---- proximal Newton ----

    def _proximal_step(self, gap: float) -> bool:
        """One model for one output, or one for each of several outputs in turn."""
        is_moved = False
        for k in range(self.K):
            is_moved = self._proximal_output(k, gap) or is_moved
        if self.K > 1 and not self.problem.is_positive:
            self._shift_outputs()
        return is_moved

    def _shift_outputs(self) -> None:
        """Add to the coefficients of each column the constant that costs least: the loss of labels does not see it.

        Steps in one output at a time would take long to find it.
        """
        W, l1, l2 = self.W, self.problem.l1[:, None], self.problem.l2[:, None]
        candidates = [np.zeros((self.p, 1)), -W]
        if self.problem.l2.all():
            signs = np.arange(-self.K, self.K + 1, 2)
            candidates.append(-W.mean(axis=1, keepdims=True) - l1 * signs / (self.K * l2))
        shifts = np.concatenate(candidates, axis=1)
        moved = W[:, None, :] + shifts[:, :, None]
        prices = 0.5 * l2 * (moved**2).sum(axis=2) + l1 * np.abs(moved).sum(axis=2)
        best = shifts[np.arange(self.p), prices.argmin(axis=1)]
        self.W = W + best[:, None]
        self.scores = self.scores + np.asarray(self.X @ best)[:, None]
        value, self.means = self.loss.value_and_means(self.scores)
        self.value = value + self.problem.penalty(self.W)

    def _proximal_output(self, k: int, gap: float) -> bool:
        problem, loss = self.problem, self.loss
        h = np.maximum(loss.curvature(self.means)[:, k], 1e-12 * loss.weight)
        theta = loss.residual(self.means)[:, k]
        before = self.W[:, k].copy()
        if np.isfinite(gap):
            accuracy = 1e-2 * gap / max(float(np.abs(before).sum()), 1e-3)
        else:
            accuracy = 1e-3 * float(np.abs(self.X.T @ theta).max(initial=0.0))
        floor = 1e-14 * float(np.sqrt(self._largest_square() * (theta @ theta)))
        accuracy = max(accuracy, floor, 1e-300)
        if self.p <= MATRIX_LIMIT:
            w, shift = self._model_by_matrix(k, h, theta, accuracy)
        else:
            w, shift = self._model_by_columns(k, h, theta, accuracy)
        dW, db = np.zeros_like(self.W), np.zeros(self.K)
        dW[:, k], db[k] = w - before, shift
        slope = -float(theta @ (np.asarray(self.X @ dW[:, k]) + shift)) + problem.penalty(self.W + dW)
        return self._search(dW, db, slope - problem.penalty(self.W))

    def _largest_square(self) -> float:
        """The largest sum of squares of a column."""
        if self.largest_square is None:
            X = self.X
            squares = X.multiply(X).sum(axis=0) if is_sparse(X) else np.einsum("ij,ij->j", X, X)
            self.largest_square = float(np.max(squares, initial=0.0))
        return self.largest_square

    def _model_by_matrix(self, k: int, h: Double, theta: Double, accuracy: float) -> tuple[Double, float]:
        problem = self.problem
        full = weighted_moments(self.X, h) if self.moments is None else self.moments
        if isinstance(self.loss, Squared):  # whose curvature is the same everywhere
            self.moments = full
        G, sums, total = full[:-1, :-1], full[:-1, -1], float(full[-1, -1])
        right, mean = np.asarray(self.X.T @ theta), 0.0
        if problem.has_intercept:
            mean = float(theta.sum()) / total
            diagonal = np.diagonal(G).copy()
            G = G - np.outer(sums, sums / total)
            right = right - mean * sums
            idle = np.diagonal(G) <= 1e-13 * diagonal  # a constant column is the intercept's
            G[idle, :], G[:, idle], right[idle] = 0.0, 0.0, 0.0
        w = self.W[:, k].copy()
        g = problem.l2 * w - right
        G = G + np.diag(problem.l2)
        by_matrix(G, problem.l1, w, g, tolerance=accuracy, most=10_000, is_positive=problem.is_positive)
        shift = mean - float(sums @ (w - self.W[:, k])) / total if problem.has_intercept else 0.0
        return w, shift

    def _model_by_columns(self, k: int, h: Double, theta: Double, accuracy: float) -> tuple[Double, float]:
        problem = self.problem
        if self.columns is None:
            self.columns = sparse.csc_array(self.X)
        w, r = self.W[:, k].copy(), theta / h + np.asarray(self.X @ self.W[:, k])
        r -= np.asarray(self.X @ w)
        _, _, shift = by_columns(
            self.columns, h, problem.l1, problem.l2, w, r, has_intercept=problem.has_intercept, tolerance=accuracy,
            most=10_000, is_positive=problem.is_positive,
        )  # fmt: skip
        return w, shift
