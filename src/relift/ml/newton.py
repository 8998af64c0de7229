r"""Directions of descent for linear models without absolute values: Newton's, and those of limited memory.

For weighted rows :math:`x_i` (1 appended for the intercept) and fitted means :math:`\mu_i` the second derivatives are

.. math:: H = \sum_i n_i\, \Sigma(\mu_i) \otimes x_i x_i^\top + I \otimes \operatorname{diag}(d), \quad
    \Sigma(\mu) = \operatorname{diag}(\mu) - \mu\mu^\top

for several labels; for one output :math:`\Sigma` is the curvature of the loss. Small systems are factorised. For large
ones there are approximate inverses (:mod:`relift.ml.preconditioner`), which the last steps improve by the differences
of their slopes [1]_: two passes over the rows for each step. Where that is slow, because the curvature changes much,
the systems are solved by conjugate gradients, with two passes for each product.

.. [1] Nocedal: Updating quasi-Newton matrices with limited storage. Mathematics of Computation 35, 1980.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import final

import numpy as np
from scipy import linalg

from relift.arrays import Double, Examples, is_sparse
from relift.ml.losses import Loss
from relift.ml.preconditioner import Preconditioner, dense, weighted_moments

MATRIX_LIMIT = 2000
"""Coefficients up to which the matrix of second derivatives of sparse rows is formed."""

EXACT_COLUMNS = 40
"""Columns up to which it is formed for one output of dense rows."""

EXACT_SIZE = 64
"""Coefficients up to which it is formed for several outputs without penalty, whose columns may explain each other."""

MEMORY = 10
"""Steps that are remembered."""

PATIENCE = 3
"""Steps over which progress is looked at."""

SLOW = 0.3
"""Steps that leave more than this share of the decrement ask for approximate inverses at the point that is reached."""

VERY_SLOW = 0.6
"""The same for those that were made later."""

MOST_REFRESHED = 2
"""After so many new inverses conjugate gradients are asked for instead."""

SPARE_GAP = 0.1
"""The share of the tolerance that slopes left by conjugate gradients may cost."""

FEW_OUTPUTS = 5
"""Outputs up to which products with one after the other take less time than a product of matrices."""

_CHUNK = 1 << 18
"""Entries of weighted rows that are held at a time."""


@final
class NewtonSystem:
    """The systems of one problem: what does not change from step to step is kept.

    Parameters
    ----------
    X
        Distinct rows, dense or in compressed rows.
    loss
        Over these rows.
    l2
        Prices of the halved squares of each column's coefficients.
    has_intercept
        Whether scores have a constant of their own.
    solver
        ``"newton-cholesky"``, ``"newton-cg"`` or ``"auto"``.
    """

    def __init__(self, X: Examples, loss: Loss, l2: Double, has_intercept: bool, solver: str) -> None:
        self.X, self.loss, self.l2, self.has_intercept = X, loss, l2, has_intercept
        self.n_columns, self.n_outputs = X.shape[1], loss.n_outputs
        size = self.n_columns * self.n_outputs
        if solver == "auto":
            if self.n_outputs > 1:
                self.is_exact = size <= EXACT_SIZE and not l2.all()
            else:
                self.is_exact = size <= (MATRIX_LIMIT if is_sparse(X) else EXACT_COLUMNS)
        else:
            self.is_exact = solver == "newton-cholesky"
        self._preconditioner = Preconditioner(X, loss, l2, has_intercept)
        self._n_products = 0
        self._last = 0.0
        self._trust = 1.0
        mean = (loss.weight @ loss.mean) / loss.weight.sum()
        curvature = loss.curvature(np.broadcast_to(mean, loss.mean.shape)).sum(axis=0)
        self._of_intercept = np.maximum(curvature, 1e-300)
        self._pairs: deque[tuple[Double, Double, float]] = deque(maxlen=MEMORY)
        self._before: tuple[Double, Double] | None = None
        self._decrements: list[float] = []
        self._n_refreshed = 0
        self.has_memory = solver == "auto" and not self.is_exact

    def direction(self, slope: Double, means: Double, tolerance: float) -> Double:
        """Solve the system of a point for a slope, both with one column for each output and the intercept last.

        Parameters
        ----------
        slope
            The right-hand side.
        means
            Fitted means at the point.
        tolerance
            The gap to reach, which says how much of the slope may be left.
        """
        if self.is_exact:
            return self._by_matrix(slope, means)
        if self.has_memory:
            return self._by_memory(slope, means, tolerance)
        return self._by_gradients(slope, means, tolerance)

    def is_closed(self, slope: Double, tolerance: float) -> bool:
        """Whether a slope seems to prove a gap.

        Parameters
        ----------
        slope
            With the intercept last.
        tolerance
            The gap.
        """
        if not self.l2.all():
            return False
        gap = 0.5 * float((slope[:-1] ** 2 / self.l2[:, None]).sum() + (slope[-1] ** 2 / self._of_intercept).sum())
        return gap < self._trust * tolerance

    def was_wrong(self) -> None:
        """Ask for more from now on: a slope did not prove what it seemed to, as where probabilities are small."""
        self._trust *= 0.1

    def needs_digits(self) -> bool:
        """Whether steps can be more exact than they were; where nothing else changes the objective, they shall be."""
        had_memory, self.has_memory = self.has_memory, False
        return had_memory

    def moved(self, slope: Double, step: Double) -> None:
        """Note the slope of a point, and the step that was taken from there.

        Parameters
        ----------
        slope
            Before the step.
        step
            The step, with the intercept last.
        """
        if self.has_memory:
            self._before = slope, step

    # ---- limited memory ----

    def _by_memory(self, slope: Double, means: Double, tolerance: float) -> Double:
        """By approximate inverses and the last steps; by conjugate gradients from the time on when that is slow."""
        if self._before is not None:
            before, step = self._before
            bent = slope - before
            height = float((step * bent).sum())
            if height > 0:
                self._pairs.append((step, bent, 1.0 / height))
        if self._is_slow(VERY_SLOW if self._n_refreshed else SLOW):
            if self._n_refreshed == MOST_REFRESHED:
                self.has_memory = False
                return self._by_gradients(slope, means, tolerance)
            self._preconditioner.refresh(means, is_due=True)
            self._n_refreshed += 1
            self._pairs.clear()
            self._decrements.clear()
        self._preconditioner.refresh(means, is_due=False)
        found, shares = slope.copy(), []
        for step, bent, inverse in reversed(self._pairs):
            shares.append(inverse * float((step * found).sum()))
            found -= shares[-1] * bent
        found = self._preconditioner.solve(found)
        for (step, bent, inverse), share in zip(self._pairs, reversed(shares), strict=True):
            found += (share - inverse * float((bent * found).sum())) * step
        self._decrements.append(float((slope * found).sum()))
        return found

    def _is_slow(self, factor: float) -> bool:
        """Whether the decrements of the last steps shrank by less than a factor for each."""
        seen = self._decrements
        return len(seen) > PATIENCE and not seen[-1] < factor**PATIENCE * seen[-1 - PATIENCE]

    # ---- the whole matrix ----

    def _by_matrix(self, slope: Double, means: Double) -> Double:
        """With the matrix of second derivatives; the least solution where it is singular."""
        size, K = self.n_columns + 1, self.n_outputs
        H = self._matrix(means)
        at = np.arange(self.n_columns)
        for k in range(K):
            H[k * size + at, k * size + at] += self.l2
        if K > 1:
            # A constant added to the scores of all outputs changes nothing: hold the sums where they are.
            for j in range(size):
                sums = j + size * np.arange(K)
                H[np.ix_(sums, sums)] += max(1e-300, float(H[j, j])) / K
        right = slope.T.ravel()
        if not self.has_intercept:
            last = size * np.arange(1, K + 1) - 1
            H[last, :], H[:, last] = 0.0, 0.0
            H[last, last] = 1.0
        scale = 1.0 / np.sqrt(np.maximum(np.diagonal(H), 1e-300))
        scaled = H * scale[:, None] * scale
        try:
            factor = linalg.cho_factor(scaled, lower=True, check_finite=False)
            if np.diagonal(factor[0]).min() > 1e-7:
                return self._shaped(scale * linalg.cho_solve(factor, scale * right, check_finite=False))
        except linalg.LinAlgError:
            pass
        # Columns that others explain: the shortest of the solutions.
        values, vectors = linalg.eigh(H)
        keep = values > 1e-13 * max(values.max(initial=0.0), 1e-300)
        return self._shaped(vectors[:, keep] @ ((vectors[:, keep].T @ right) / values[keep]))

    def _shaped(self, flat: Double) -> Double:
        return np.ascontiguousarray(flat.reshape(self.n_outputs, self.n_columns + 1).T)

    def _matrix(self, means: Double) -> Double:
        """Second derivatives of the loss, output by output."""
        loss, size, K = self.loss, self.n_columns + 1, self.n_outputs
        if K == 1:
            return weighted_moments(self.X, loss.curvature(means)[:, 0])
        H = np.zeros((size * K, size * K))
        # diag(m) - mm': one symmetric product for mm', and one for each output for the diagonal.
        step = max(1, _CHUNK // (size * K))
        for begin in range(0, len(means), step):
            part = slice(begin, begin + step)
            root, m = np.sqrt(loss.weight[part])[:, None], means[part]
            rows = np.concatenate([dense(self.X[part]), np.ones((len(m), 1))], axis=1)
            outer = ((root * m)[:, :, None] * rows[:, None, :]).reshape(len(m), size * K)
            H -= outer.T @ outer
            for k in range(K):
                scaled = (root * np.sqrt(m[:, k : k + 1])) * rows
                H[k * size : (k + 1) * size, k * size : (k + 1) * size] += scaled.T @ scaled
        return H

    # ---- conjugate gradients ----

    def _by_gradients(self, slope: Double, means: Double, tolerance: float) -> Double:
        """By conjugate gradients, as far as the curvature of the loss will not undo what they gain.

        Slopes shrank by some factor in the last step, so in this one by about its square (Eisenstat and Walker, 1996).
        Nor is more done than the gap needs, which is half the squared slope divided by its prices.
        """
        kept = self._preconditioner
        kept.refresh(means, is_due=self._n_products > kept.products_for_blocks)
        product, ready = self._product(means), kept.solve
        found, left = np.zeros_like(slope), slope.copy()
        towards = ready(left)
        now = float((left * towards).sum())
        enough = (min(0.1, max(1e-12, 0.5 * (now / self._last) ** 2)) if self._last else 0.1) * now
        self._last = now
        for self._n_products in range(1, max(50, min(kept.most_products, 2 * slope.size)) + 1):
            bent = product(towards)
            height = float((towards * bent).sum())
            if not height > 0:
                break
            step = now / height
            found += step * towards
            left -= step * bent
            ahead = ready(left)
            after = float((left * ahead).sum())
            if not after > enough or self.is_closed(left, SPARE_GAP * tolerance):
                break
            towards = ahead + (after / now) * towards
            now = after
        return found

    def _product(self, means: Double) -> Callable[[Double], Double]:
        """Products with the matrix of second derivatives."""
        X, l2, has_intercept = self.X, self.l2[:, None], self.has_intercept
        curvature = self.loss.curvature(means) if self.n_outputs == 1 else self.loss.weight[:, None] * means

        def product(direction: Double) -> Double:
            scores = scores_of(X, direction[:-1])
            if has_intercept:
                scores += direction[-1]
            if self.n_outputs > 1:
                scores -= (means * scores).sum(axis=1, keepdims=True)
            scores *= curvature
            down = np.empty_like(direction)
            down[:-1] = sums_of(X, scores) + l2 * direction[:-1]
            down[-1] = scores.sum(axis=0) if has_intercept else 0.0
            return down

        return product


def scores_of(X: Examples, W: Double) -> Double:
    """X W, one output after the other in memory: sums over outputs are quick then.

    Examples
    --------
    >>> scores_of(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 3.0]])).tolist()
    [[1.0, 6.0]]
    """
    if is_sparse(X):
        return np.asarray(X @ W, order="F")
    if W.shape[1] > FEW_OUTPUTS:
        return np.asarray(W.T @ X.T).T
    found = np.empty((X.shape[0], W.shape[1]), order="F")
    for k in range(W.shape[1]):
        np.matmul(X, np.ascontiguousarray(W[:, k]), out=found[:, k])
    return found


def sums_of(X: Examples, values: Double) -> Double:
    """X' times values of the rows, which are one output after the other in memory.

    Examples
    --------
    >>> sums_of(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]])).tolist()
    [[1.0, 3.0], [2.0, 6.0]]
    """
    if is_sparse(X) or values.shape[1] > FEW_OUTPUTS:
        return np.asarray(X.T @ values)
    return np.column_stack([X.T @ np.ascontiguousarray(values[:, k]) for k in range(values.shape[1])])
