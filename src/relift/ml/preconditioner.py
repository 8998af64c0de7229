r"""Approximate inverses of the second derivatives of a linear model: one block for each output, from some of the rows.

For weighted rows :math:`x_i` (1 appended for the intercept), fitted means :math:`\mu_i` and :math:`h_{ik}` the
curvature of output k in row i, the blocks are

.. math:: M_k = \sum_i h_{ik}\, x_i x_i^\top + \operatorname{diag}(d).

A sample of sixteen rows for each column tells a matrix of second moments up to a factor of three, whatever the units
and correlations of the columns are [1]_, and :math:`\operatorname{diag}(\mu) - \mu\mu^\top` lies between its diagonal
part and about twice that, but for the direction that all outputs share. A constant added to all outputs changes
nothing, so directions whose sum over the outputs is not 0 are left out: M is inverted on the others,

.. math:: M_k^{-1}(r_k - \lambda), \qquad \lambda = \Bigl(\sum_l M_l^{-1}\Bigr)^{-1} \sum_l M_l^{-1} r_l.

The first blocks share one matrix of moments, since all rows have the same curvature before there are coefficients.

.. [1] Roosta-Khorasani, Mahoney: Sub-sampled Newton methods. Mathematical Programming 174, 2019.
"""

from __future__ import annotations

from typing import final

import numpy as np
from scipy import linalg, sparse

from relift.arrays import Double, Examples, Indices, is_sparse
from relift.ml.losses import Loss

BLOCK_ENTRIES = 8_000_000
"""Entries of all blocks up to which these are kept; beyond there are diagonals only."""

SAMPLE = 16
"""Rows for each column that blocks are made from, if there are many more."""

LEAST_SAMPLE = 1000
"""Rows that blocks are made from at least."""

DENSE_ENTRIES = 4_000_000
"""Entries up to which the rows that blocks are made from are kept dense."""

FEW_PRODUCTS = 5
"""Products of conjugate gradients that do not speak for new blocks."""

_CHUNK = 1 << 18
"""Entries of weighted rows that are held at a time."""

_RIDGE = 1e-9
"""Added to diagonals of 1, so that columns that others explain do no harm."""


@final
class Preconditioner:
    """Blocks of one problem, kept from step to step.

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
    """

    def __init__(self, X: Examples, loss: Loss, l2: Double, has_intercept: bool) -> None:
        self.X, self.loss, self.l2, self.has_intercept = X, loss, l2, has_intercept
        self.n_columns, self.n_outputs = X.shape[1], loss.n_outputs
        self.has_blocks = self.n_outputs * (self.n_columns + 1) ** 2 <= BLOCK_ENTRIES
        self.inverses: Double | None = None
        self.of_sum: Double = np.ones((1, 1))
        self._rows: Indices | None = None
        self._sample: Examples = X
        self._squares: Double | None = None
        self._squared: Examples | None = None

    def refresh(self, means: Double, *, is_due: bool) -> None:
        """Make blocks for fitted means, if there are none yet or they are due.

        Parameters
        ----------
        means
            Fitted means.
        is_due
            Whether those that are there should go.
        """
        if not self.has_blocks:
            self._make_diagonals(means)
        elif self.inverses is None:
            self._choose_rows()
            self._make_blocks(means, is_shared=self.n_outputs > 1)
        elif is_due:
            self._make_blocks(means, is_shared=False)

    @property
    def most_products(self) -> int:
        """Products after which a new Newton step promises more: blocks need few, diagonals many."""
        return 250 if self.has_blocks else 2000

    @property
    def products_for_blocks(self) -> float:
        """As many products with the second derivatives as take the time of new blocks, and a few."""
        return FEW_PRODUCTS + self._block_cost() / self._product_cost()

    def solve(self, left: Double) -> Double:
        """Apply the approximate inverse to a right-hand side, one column for each output."""
        found = self._each(left)
        if self.n_outputs > 1:
            shared = self.of_sum @ found.sum(axis=1) if self.has_blocks else self.of_sum * found.sum(axis=1)
            found -= self._each(np.broadcast_to(shared[:, None], left.shape))
        if not self.has_intercept:
            found[-1] = 0.0
        return found

    def _each(self, left: Double) -> Double:
        assert self.inverses is not None
        if not self.has_blocks:
            return np.asarray(left * self.inverses)
        return np.asarray(np.matmul(self.inverses, left.T[:, :, None])[:, :, 0].T)

    def _product_cost(self) -> float:
        """Of one product with the second derivatives: entries that are read from memory twice."""
        entries = self.X.nnz if is_sparse(self.X) else self.X.size
        return float(2.0 * entries * (1.0 + 0.3 * self.n_outputs) + 10.0 * self.loss.mean.size + 40_000.0)

    def _block_cost(self) -> float:
        """Of new blocks, in the same unit: products of matrices make better use of what they read."""
        size = self.n_columns + 1
        return float(self.n_outputs * size**2 * (0.1 * self._sample.shape[0] + 0.2 * size) + 40_000.0)

    def _make_diagonals(self, means: Double) -> None:
        h = self.loss.curvature(means)
        if self._squared is None:
            self._squared = self.X.multiply(self.X) if is_sparse(self.X) else self.X**2
        diagonal = np.vstack([np.asarray(self._squared.T @ h) + self.l2[:, None], h.sum(axis=0)])
        self.inverses = 1.0 / np.maximum(diagonal, 1e-300)
        self.of_sum = 1.0 / self.inverses.sum(axis=1)

    def _make_blocks(self, means: Double, *, is_shared: bool) -> None:
        h, weight, K = self.loss.curvature(means), self.loss.weight, self.n_outputs
        at = np.arange(self.n_columns)
        inverses = np.empty((K, self.n_columns + 1, self.n_columns + 1))
        moments = weighted_moments(self._sample, self._of_sample(weight)) if is_shared else None
        for k in range(K):
            total, some = float(h[:, k].sum()), self._of_sample(h[:, k])
            seen = float(self._of_sample(weight).sum() if is_shared else some.sum())
            block = moments.copy() if moments is not None else weighted_moments(self._sample, some)
            block *= total / max(seen, 1e-300)
            if self._rows is not None:
                # A column that the sample hardly sees would otherwise seem to have no curvature.
                block[at, at] = np.maximum(block[at, at], 0.5 * self._column_squares() * total)
            block[at, at] += self.l2
            if not self.has_intercept:
                block[-1, :], block[:, -1], block[-1, -1] = 0.0, 0.0, 1.0
            inverses[k] = _inverse(block)
        self.inverses = inverses
        if K > 1:
            self.of_sum = _inverse(inverses.sum(axis=0))

    def _of_sample(self, values: Double) -> Double:
        return values if self._rows is None else np.asarray(values[self._rows])

    def _choose_rows(self) -> None:
        """Choose the rows that blocks are made from, unless these are nearly all."""
        n_rows, n_columns = self.X.shape
        most = max(2 * n_columns, 400 * n_rows // max(1, n_columns))
        size = max(LEAST_SAMPLE, min(SAMPLE * (n_columns + 1), most))
        if n_rows > 2 * size:
            self._rows = np.sort(np.random.default_rng(20160613).choice(n_rows, size, replace=False))
            self._sample = self.X[self._rows]
        if self._sample.shape[0] * n_columns <= DENSE_ENTRIES:
            self._sample = dense(self._sample)

    def _column_squares(self) -> Double:
        """Weighted mean of the squares of each column."""
        if self._squares is None:
            X, weight = self.X, self.loss.weight
            if is_sparse(X):
                self._squares = np.asarray(X.multiply(X).T @ weight) / weight.sum()
            else:
                step = max(1, _CHUNK // max(1, self.n_columns))
                parts = (slice(begin, begin + step) for begin in range(0, len(weight), step))
                self._squares = sum((X[part] ** 2).T @ weight[part] for part in parts) / weight.sum()
        return np.asarray(self._squares)


def dense(X: Examples) -> Double:
    """Rows as a dense array."""
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


def weighted_moments(X: Examples, weights: Double) -> Double:
    """Sums over the rows of weight times x x', with a 1 appended to each row.

    Examples
    --------
    >>> weighted_moments(np.array([[1.0], [3.0]]), np.array([1.0, 4.0])).tolist()
    [[37.0, 13.0], [13.0, 5.0]]
    """
    n_columns = X.shape[1]
    found = np.empty((n_columns + 1, n_columns + 1))
    least, most = float(np.min(weights, initial=np.inf)), float(np.max(weights, initial=0.0))
    if is_sparse(X):
        inner = np.asarray((X.T @ (sparse.diags_array(weights) @ X)).toarray())
    elif least == most:
        inner = most * (X.T @ X)
    elif least >= 0:  # a product of a matrix with itself takes half the time of other products
        inner = np.zeros((n_columns, n_columns))
        root, step = np.sqrt(weights), max(n_columns, _CHUNK // max(1, n_columns))
        for begin in range(0, len(weights), step):
            scaled = root[begin : begin + step, None] * X[begin : begin + step]
            inner += scaled.T @ scaled
    else:
        inner = np.asarray(X.T @ (weights[:, None] * X))
    sums = np.asarray(X.T @ weights)
    found[:-1, :-1], found[-1, :-1], found[:-1, -1], found[-1, -1] = inner, sums, sums, weights.sum()
    return found


def _inverse(block: Double) -> Double:
    """The inverse of a positive definite matrix, roughly where it is nearly singular."""
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(block), 1e-300))
    scaled = block * scale[:, None] * scale
    np.fill_diagonal(scaled, 1.0 + _RIDGE)
    factor, info = linalg.lapack.dpotrf(scaled, lower=True)
    if info != 0:
        return np.diag(scale**2)
    lower = np.tril(linalg.lapack.dpotri(factor, lower=True)[0])
    return np.asarray((lower + np.tril(lower, -1).T) * scale[:, None] * scale)
