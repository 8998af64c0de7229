r"""Linear models over weighted distinct rows, solved up to a proved gap.

.. math:: \min_{W, b}\; \sum_i n_i\,\varphi(x_i^\top W + b;\, \bar y_i) + \sum_j \tfrac12 d_j \|W_j\|^2 + l_j\|W_j\|_1

with a loss of :mod:`relift.ml.losses`. Without absolute values (l = 0) by Newton's method with a line search, the
system solved by a factorisation or, if there are many coefficients, by conjugate gradients; with them by the proximal
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

from relift.arrays import Double, Examples, is_sparse, sizes_of_entries
from relift.ml.descent import by_columns, by_matrix
from relift.ml.losses import Loss, Multinomial

Solver = str

MATRIX_LIMIT = 2000
"""Coefficients up to which second derivatives are kept as a dense matrix."""

FLAT_STEPS = 6
"""Steps that may be taken where the objective no longer changes."""


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
        return np.asarray(self.X @ W) + b

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
        return max(0.0, self.primal_value - self.dual_value)


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
    v = np.asarray(problem.X.T @ theta)
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
    columns = _dense(X)
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
    from relift.ml.losses import Logistic, Squared

    if isinstance(loss, Squared):
        return True
    return bool((means >= 0).all() and (not isinstance(loss, Logistic) or (means <= 1).all()))


def _dense(X: Examples) -> Double:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


@final
class _Run:
    """One run: the state that the steps share."""

    def __init__(self, problem: LinearProblem, tolerance: float, most: int, solver: Solver, tell: Any) -> None:
        self.problem, self.tolerance, self.most, self.tell = problem, tolerance, most, tell
        self.loss, self.X = problem.loss, problem.X
        self.p, self.K = problem.X.shape[1], problem.loss.n_outputs
        self.has_l1 = bool(problem.l1.any()) or problem.is_positive
        self.is_dense = solver == "newton-cholesky" or (solver == "auto" and self.p * self.K <= MATRIX_LIMIT)
        self.columns: Any = None
        self.flat_steps: int = 0

    def run(self, start: tuple[Double, Double] | None) -> LinearAnswer:
        self.b = self.loss.null_scores() if self.problem.has_intercept else np.zeros(self.K)
        self.W = np.zeros((self.p, self.K))
        if start is not None:
            self.W, self.b = start[0].copy(), start[1].copy() if self.problem.has_intercept else self.b
        self.scores = self.problem.scores(self.W, self.b)
        self.value = self.loss.value(self.scores) + self.problem.penalty(self.W)
        if not np.isfinite(self.value):  # a start far off: exp overflows
            return self.run(None)
        best = self._judged(0)
        for step in range(1, self.most + 1):
            if best.gap <= self.tolerance:
                break
            is_moved = self._proximal_step(best.gap) if self.has_l1 else self._newton_step()
            now = self._judged(step)
            best = now if now.gap <= best.gap or not np.isfinite(best.gap) else best
            best.iterations = step
            if not is_moved:
                break
        return best

    def _judged(self, step: int) -> LinearAnswer:
        dual, bound = dual_point(self.problem, self.loss.fitted(self.scores))
        answer = LinearAnswer(self.W.copy(), self.b.copy(), dual, self.value, bound, step)
        if self.tell is not None:
            self.tell(step, answer.primal_value, answer.gap)
        return answer

    # ---- Newton's method ----

    def _newton_step(self) -> bool:
        problem, loss = self.problem, self.loss
        theta = loss.residual(loss.fitted(self.scores))
        slope = np.vstack([problem.l2[:, None] * self.W - np.asarray(self.X.T @ theta), -theta.sum(axis=0)])
        if not problem.has_intercept:
            slope[-1] = 0.0
        direction = -(self._by_matrix(slope) if self.is_dense else self._by_gradients(slope))
        return self._search(direction[:-1], direction[-1], float((slope * direction).sum()))

    def _search(self, dW: Double, db: Double, slope: float) -> bool:
        """The first of the steps 1, 1/2, 1/4, ... that lowers the objective enough; whether to go on."""
        if not slope < 0:
            return False
        moved = np.asarray(self.X @ dW) + db
        noise = 1e-14 * (float(self.loss.weight @ np.abs(self.scores * self.loss.mean).sum(axis=1)) + abs(self.value))
        step = 1.0
        while step > 1e-12:
            W, scores = self.W + step * dW, self.scores + step * moved
            value = self.loss.value(scores) + self.problem.penalty(W)
            # Below the rounding of the objective the slopes, and with them the gap, still improve for some steps.
            is_flat = -slope < noise and value <= self.value + noise
            if value <= self.value + 1e-4 * step * slope or is_flat:
                self.flat_steps += int(is_flat)
                self.W, self.b, self.scores, self.value = W, self.b + step * db, scores, value
                return bool(self.flat_steps <= FLAT_STEPS * self.K)
            step *= 0.5
        return False

    def _by_matrix(self, slope: Double) -> Double:
        """Solve the Newton system with the matrix of second derivatives; the least solution where it is singular."""
        size = self.p + 1
        H = np.zeros((size * self.K, size * self.K))
        for k, l, block in self._blocks():
            H[k * size : (k + 1) * size, l * size : (l + 1) * size] = block
            H[l * size : (l + 1) * size, k * size : (k + 1) * size] = block
        at = np.arange(self.p)
        for k in range(self.K):
            H[k * size + at, k * size + at] += self.problem.l2
        if self.K > 1:
            # A constant added to the scores of all outputs changes nothing: hold the sums where they are.
            for j in range(size):
                sums = j + size * np.arange(self.K)
                H[np.ix_(sums, sums)] += max(1e-300, float(H[j, j])) / self.K
        right = slope.T.ravel()
        if not self.problem.has_intercept:
            last = size * np.arange(1, self.K + 1) - 1
            H[last, :], H[:, last] = 0.0, 0.0
            H[last, last] = 1.0
        scale = 1.0 / np.sqrt(np.maximum(np.diagonal(H), 1e-300))
        scaled = H * scale[:, None] * scale
        try:
            factor = linalg.cho_factor(scaled, lower=True, check_finite=False)
            diagonal = np.diagonal(factor[0])
            if diagonal.min() > 1e-7:
                return self._shaped(scale * linalg.cho_solve(factor, scale * right))
        except linalg.LinAlgError:
            pass
        # Columns that others explain: the shortest of the solutions.
        values, vectors = linalg.eigh(H)
        keep = values > 1e-13 * max(values.max(initial=0.0), 1e-300)
        return self._shaped(vectors[:, keep] @ ((vectors[:, keep].T @ right) / values[keep]))

    def _shaped(self, flat: Double) -> Double:
        return np.ascontiguousarray(flat.reshape(self.K, self.p + 1).T)

    def _blocks(self) -> Any:
        """Second derivatives of the loss between two outputs, over columns and intercept."""
        if self.K == 1:
            yield 0, 0, self._weighted(self.loss.curvature(self.scores)[:, 0])
            return
        p = self.loss.fitted(self.scores)
        for k in range(self.K):
            for l in range(k, self.K):
                yield k, l, self._weighted(self.loss.weight * p[:, k] * ((k == l) - p[:, l]))

    def _weighted(self, weights: Double) -> Double:
        if is_sparse(self.X):
            scaled = sparse.diags_array(weights) @ self.X
            inner = np.asarray((self.X.T @ scaled).toarray())
        else:
            inner = self.X.T @ (weights[:, None] * self.X)
        sums = np.asarray(self.X.T @ weights)
        found = np.empty((self.p + 1, self.p + 1))
        found[:-1, :-1], found[-1, :-1], found[:-1, -1], found[-1, -1] = inner, sums, sums, weights.sum()
        return found

    def _by_gradients(self, slope: Double) -> Double:
        """Solve the Newton system by conjugate gradients, preconditioned by its diagonal, as far as it pays."""
        problem, has_intercept = self.problem, self.problem.has_intercept
        p = self.loss.fitted(self.scores)
        curvature = self.loss.curvature(self.scores)
        squares = self.X.multiply(self.X) if is_sparse(self.X) else self.X**2
        diagonal = np.vstack([np.asarray(squares.T @ curvature) + problem.l2[:, None], curvature.sum(axis=0)])
        diagonal = np.maximum(diagonal, 1e-300)

        def product(direction: Double) -> Double:
            scores = np.asarray(self.X @ direction[:-1]) + (direction[-1] if has_intercept else 0.0)
            if self.K == 1:
                bent = curvature * scores
            else:
                bent = self.loss.weight[:, None] * p * (scores - (p * scores).sum(axis=1, keepdims=True))
            down = np.asarray(self.X.T @ bent) + problem.l2[:, None] * direction[:-1]
            return np.vstack([down, bent.sum(axis=0) if has_intercept else np.zeros(self.K)])

        found, left = np.zeros_like(slope), slope.copy()
        ready = left / diagonal
        towards, now = ready.copy(), float((left * ready).sum())
        enough = min(0.1, np.sqrt(np.sqrt(now) / max(1.0, abs(self.value)))) ** 2 * now
        for _ in range(max(50, min(2000, 2 * slope.size))):
            bent = product(towards)
            height = float((towards * bent).sum())
            if height <= 0:
                break
            step = now / height
            found += step * towards
            left -= step * bent
            ready = left / diagonal
            after = float((left * ready).sum())
            if after <= enough:
                break
            towards = ready + (after / now) * towards
            now = after
        return found

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
        self.value = self.loss.value(self.scores) + self.problem.penalty(self.W)

    def _proximal_output(self, k: int, gap: float) -> bool:
        problem, loss = self.problem, self.loss
        h = np.maximum(loss.curvature(self.scores)[:, k], 1e-12 * loss.weight)
        theta = loss.residual(loss.fitted(self.scores))[:, k]
        before = self.W[:, k].copy()
        if np.isfinite(gap):
            accuracy = 1e-2 * gap / max(float(np.abs(before).sum()), 1e-3)
        else:
            accuracy = 1e-3 * float(np.abs(self.X.T @ theta).max(initial=0.0))
        floor = 1e-14 * float((sizes_of_entries(self.X).T @ np.abs(theta)).max(initial=0.0))
        accuracy = max(accuracy, floor, 1e-300)
        if self.p <= MATRIX_LIMIT:
            w, shift = self._model_by_matrix(k, h, theta, accuracy)
        else:
            w, shift = self._model_by_columns(k, h, theta, accuracy)
        dW, db = np.zeros_like(self.W), np.zeros(self.K)
        dW[:, k], db[k] = w - before, shift
        slope = -float(theta @ (np.asarray(self.X @ dW[:, k]) + shift)) + problem.penalty(self.W + dW)
        return self._search(dW, db, slope - problem.penalty(self.W))

    def _model_by_matrix(self, k: int, h: Double, theta: Double, accuracy: float) -> tuple[Double, float]:
        problem = self.problem
        full = self._weighted(h)
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
