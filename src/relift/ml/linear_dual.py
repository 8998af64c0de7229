r"""Linear machines by an interior point method: as many iterations for C = 1e6 as for C = 1.

With :math:`\beta_i = \sigma_i\alpha_i`, :math:`0 \le \alpha \le u` and rows :math:`a_i = \sigma_i (x_i, 1)`, a linear
machine and its dual meet where

.. math:: g - A w - \xi + s - e\alpha = 0,\quad R w = A^\top\alpha,\quad \alpha s = 0,\quad (u - \alpha)\xi = 0,

R being the identity without the intercept, which costs nothing, and e the curvature of a squared loss. Newton steps on
these conditions with a shrinking right-hand side :math:`\mu` (Mehrotra's predictor and corrector [1]_) need one system
of the size of w: :math:`(R + A^\top\Theta A)\,\Delta w = \ldots`, whatever the number of examples. Examples whose
:math:`\alpha` is near a bound are put on it at the end; the gap is computed after that, on the point that is returned.

.. [1] Mehrotra: On the implementation of a primal-dual interior point method, SIAM J. Optimization 2, 1992.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any, final

import numpy as np
from scipy import linalg

from relift.arrays import Double, is_sparse
from relift.ml import compiled
from relift.ml.dual_machine import DualLimits
from relift.ml.dual_problem import DualAnswer, DualProblem
from relift.ml.kernels import KernelSource, PointKernel, SparseKernel
from relift.ml.small_dual import balanced, best_bias_of, gap_terms

FEATURES_LIMIT = 2000
"""Features up to which a system of their number is solved in every iteration."""

MOST_ENTRIES = 1 << 27
"""Entries of the examples that are held densely at most."""

MATRIX_LIMIT = 5000
"""Examples up to which the rank of another kernel is looked at."""

RANK_LIMIT = 600
"""Rank up to which another kernel is solved by its features."""

RANK_TOLERANCE = 1e-7
"""Relative squared distance from the features that is as good as none; single precision has no more."""

MOST_ITERATIONS = 200


def linear_points(source: KernelSource) -> Double | None:
    """The points of a linear kernel as a dense matrix; None for other kernels, and for too many features."""
    if not isinstance(source, PointKernel | SparseKernel) or source.kernel != "linear":
        return None
    n, d = source.points.shape
    if d > FEATURES_LIMIT or n * d > MOST_ENTRIES:
        return None
    points = source.points
    return np.asarray(points.toarray() if is_sparse(points) else points, dtype=np.float64)


def low_rank_features(source: KernelSource) -> Double | None:
    """Features whose inner products are the kernel up to rounding; None if there would have to be too many."""
    if source.size > MATRIX_LIMIT:
        return None
    everything = np.arange(source.size)
    K = source.block(everything, everything)
    largest = float(np.diagonal(K).max(initial=0.0))
    most = min(source.size // 2, RANK_LIMIT)
    pivots, factor = compiled.pivoted_cholesky(np.ascontiguousarray(0.5 * (K + K.T)), most, RANK_TOLERANCE * largest)
    if len(pivots) >= most:
        return None
    return np.ascontiguousarray(factor[: len(pivots)].T)


def solve_linear(X: Double, problem: DualProblem, limits: DualLimits) -> DualAnswer | None:
    """Solve the dual of a machine with linear kernel; None if not even a feasible point was found.

    Parameters
    ----------
    X
        The examples.
    problem
        Their dual; its kernel is not looked at.
    limits
        The gap to reach, and the processor time.
    """
    epsilon, size = problem.epsilon, len(problem.c)
    # Regression has a variable for each sign of beta.
    upper, lower = np.flatnonzero(problem.hi > 0), np.flatnonzero(problem.lo < 0)
    rows = np.concatenate([upper, lower])
    sign = np.concatenate([np.ones(len(upper)), -np.ones(len(lower))])
    bound = np.concatenate([problem.hi[upper], -problem.lo[lower]])
    g = sign * problem.c[rows] - epsilon
    A = np.column_stack([X[rows], np.ones(len(rows))]) * sign[:, None]
    regular = np.ones(A.shape[1])
    regular[-1] = 0.0

    def judged(alpha: Double) -> DualAnswer:
        beta = balanced(np.bincount(rows, sign * alpha, size).astype(np.float64, copy=False))
        w = X.T @ beta
        v = problem.c - X @ w
        bias = best_bias_of(v, problem.lo, problem.hi, epsilon)
        total = max(0.0, float(gap_terms(v, bias, beta, problem.lo, problem.hi, epsilon).sum()))
        dual = float(problem.c @ beta) - epsilon * float(np.abs(beta).sum()) - 0.5 * float(w @ w)
        labels = np.arange(size, dtype=np.int32)
        return DualAnswer(beta, bias, total / max(abs(dual), 1e-12), dual, dual + total, labels, 0)

    best: DualAnswer | None = None
    start = process_time()
    for number, state in enumerate(interior_points(A, g, bound, np.zeros(len(g)), regular)):
        found = judged(state.alpha)
        found.iterations = number
        if best is None or found.gap < best.gap:
            best, last = found, state
        if best.gap <= 0.1 * limits.tol_gap or process_time() - start > limits.max_seconds:
            break
    if best is None:
        return None
    for share in (1e-1, 1e-2, 1e-3, 1e-4, 1e-6):  # as many examples at a bound as the gap allows
        found = judged(last.put_on_bounds(A, share))
        if found.gap <= max(limits.tol_gap * 0.5, best.gap):
            found.iterations = best.iterations
            return found
    return best


@final
@dataclass(frozen=True, eq=False)
class InteriorState:
    """An iterate: variables strictly between their bounds, and the slacks that belong to the bounds."""

    alpha: Double
    w: Double
    s: Double
    xi: Double
    bound: Double

    def put_on_bounds(self, A: Double, share: float) -> Double:
        """Variables within a share of a bound, put on it; the others make up for it, so that A' alpha stays.

        Of all ways to make up for it the one that changes variables least, measured by their distance from the bounds.
        """
        finite = np.isfinite(self.bound)
        largest = max(float(self.alpha.max(initial=0.0)), 1e-300)
        room = np.where(finite, self.bound - self.alpha, np.inf)
        is_low = self.alpha <= share * np.minimum(self.bound, largest)
        is_high = finite & (room <= share * self.bound)
        alpha = np.where(is_low, 0.0, np.where(is_high, self.bound, self.alpha))
        is_free = (alpha > 0) & (alpha < self.bound)
        rows, weight = A[is_free], np.minimum(self.alpha, room)[is_free] ** 2
        missing = A.T @ (self.alpha - alpha)
        M = (rows * weight[:, None]).T @ rows
        change = weight * (rows @ linalg.lstsq(M, missing, check_finite=False)[0])
        alpha[is_free] = np.clip(alpha[is_free] + change, 0.0, self.bound[is_free])
        return alpha


def interior_points(A: Double, g: Double, bound: Double, extra: Double, regular: Double) -> Any:
    """The iterates of the interior point method, better and better, until they cannot be improved.

    Parameters
    ----------
    A, g
        Signed rows and linear term.
    bound
        Upper bounds of alpha; infinite where there is none.
    extra
        Curvature of the loss: added to the diagonal of the kernel.
    regular
        What the square of each weight costs, twice; 0 for an intercept that costs nothing.
    """
    finite = np.isfinite(bound)
    alpha = np.where(finite, 0.5 * np.minimum(bound, 2.0), 1.0)
    w = np.zeros(A.shape[1])
    gap = g - extra * alpha
    s, xi = np.maximum(-gap, 0.0) + 1.0, np.where(finite, np.maximum(gap, 0.0) + 1.0, 0.0)
    count = len(g) + int(finite.sum())
    for _ in range(MOST_ITERATIONS):
        room = np.where(finite, bound - alpha, 1.0)
        mu = (float(alpha @ s) + float(room @ xi)) / count
        theta = 1.0 / (s / alpha + xi / room + extra)
        M = (A * theta[:, None]).T @ A
        M[np.diag_indices_from(M)] += regular
        try:
            factor = linalg.cho_factor(M + 1e-14 * float(np.trace(M)) / len(M) * np.eye(len(M)), check_finite=False)
        except linalg.LinAlgError:
            return
        r1 = g - A @ w - xi + s - extra * alpha
        r2 = regular * w - A.T @ alpha

        def direction(r3: Double, r4: Double) -> tuple[Double, Double, Double, Double]:
            rho = r1 + r4 / room - r3 / alpha  # noqa: B023 - called in this round only
            dw = linalg.cho_solve(factor, -r2 + A.T @ (theta * rho), check_finite=False)  # noqa: B023
            dalpha = theta * (rho - A @ dw)  # noqa: B023
            ds = (-r3 - s * dalpha) / alpha  # noqa: B023
            dxi = np.where(finite, (-r4 + xi * dalpha) / room, 0.0)  # noqa: B023
            return dw, dalpha, ds, dxi

        dw, da, ds, dxi = direction(alpha * s, np.where(finite, room * xi, 0.0))
        step = _longest(alpha, da, s, ds, room, xi, dxi, finite, 1.0)
        ahead = float((alpha + step * da) @ (s + step * ds))
        ahead += float(np.where(finite, (room - step * da) * (xi + step * dxi), 0.0).sum())
        target = mu * min(1.0, max(ahead / count / mu, 0.0)) ** 3 if mu > 0 else 0.0
        dw, da, ds, dxi = direction(alpha * s + da * ds - target, np.where(finite, room * xi - da * dxi - target, 0.0))
        if not np.isfinite(dw).all() or not np.isfinite(da).all():
            return
        step = _longest(alpha, da, s, ds, room, xi, dxi, finite, 0.995)
        if step < 1e-10:
            return
        alpha, w, s, xi = alpha + step * da, w + step * dw, s + step * ds, xi + step * dxi
        if not (alpha > 0).all() or not (np.where(finite, bound - alpha, 1.0) > 0).all():
            return
        yield InteriorState(alpha, w, s, xi, bound)


def _longest(
    alpha: Double, da: Double, s: Double, ds: Double, room: Double, xi: Double, dxi: Double, finite: Any, share: float
) -> float:
    """The share of the way to the nearest bound, at most 1."""
    step = 1.0 / share
    for value, change in ((alpha, da), (s, ds), (room, np.where(finite, -da, 0.0)), (xi, dxi)):
        falls = change < 0
        if falls.any():
            step = min(step, float((value[falls] / -change[falls]).min()))
    return min(1.0, share * step)
