"""Examples that are the same, merged: equal rows with equal colour become one of summed weight.

Merged examples are sorted by a word that depends on the row alone, so that what follows does not depend on the order of
the examples, nor on whether an example is given twice or with weight 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells, Double, Examples, Indices, is_sparse


@final
@dataclass(frozen=True, eq=False)
class Merged:
    """Which examples became one.

    Parameters
    ----------
    first
        One member of each merged example.
    labels
        The merged example of each example.
    """

    first: Indices
    labels: Indices

    def total(self, weights: Double) -> Double:
        """Sums of weights over the members."""
        return np.bincount(self.labels, weights, len(self.first)).astype(np.float64, copy=False)


def merge_equal(X: Examples, colours: Sequence[Cells]) -> Merged:
    """Merge rows of X that are equal and have equal colours, in O(n log n).

    Parameters
    ----------
    X
        Dense, or sparse in canonical CSR form; rows are compared exactly.
    colours
        Arrays of length n.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    >>> merged = merge_equal(X, [np.array([0, 0, 0, 1])])
    >>> len(merged.first), bool(merged.labels[0] == merged.labels[2]), merged.total(np.ones(4)).max()
    (3, True, np.float64(2.0))
    """
    factors = _factors(X.shape[1])
    if is_sparse(X):
        words = np.zeros(X.shape[0])
        np.add.at(words, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.data * factors[X.indices])
    else:
        # Column by column: equal rows get equal words wherever they stand, which a matrix product does not promise.
        words = np.zeros(len(X))
        if X.size <= 1 << 16:
            words = (X * factors).sum(axis=1)
        else:
            for feature in range(X.shape[1]):
                words += X[:, feature] * factors[feature]
    order = np.argsort(words)
    before, after = order[:-1], order[1:]
    if not (words[before] == words[after]).any():  # nothing is the same, and the order is that of the words
        labels = np.empty(len(order), dtype=np.int64)
        labels[order] = np.arange(len(order))
        return Merged(order, labels)
    order = np.lexsort((*colours[::-1], words))
    before, after = order[:-1], order[1:]
    is_same = words[before] == words[after]
    for colour in colours:
        is_same &= colour[before] == colour[after]
    candidates = np.flatnonzero(is_same)
    if len(candidates):
        is_equal = _rows_equal(X, before[candidates], after[candidates])
        if not is_equal.all():  # different rows of one word: sort by everything
            dense = X.toarray() if is_sparse(X) else X
            order = np.lexsort((*colours[::-1], *dense.T[::-1]))
            before, after = order[:-1], order[1:]
            is_same = np.ones(len(before), dtype=bool)
            for colour in colours:
                is_same &= colour[before] == colour[after]
            is_same &= (dense[before] == dense[after]).all(axis=1)
    numbers = np.concatenate([[0], np.cumsum(~is_same)]) if len(order) else np.zeros(0, dtype=np.int64)
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = numbers
    starts = np.concatenate([[True], ~is_same]) if len(order) else np.zeros(0, dtype=bool)
    return Merged(order[starts], labels)


@lru_cache(maxsize=8)
def _factors(n_features: int) -> Double:
    return np.random.default_rng(20160613).uniform(1.0, 2.0, n_features)


def _rows_equal(X: Examples, left: Indices, right: Indices) -> NDArray[np.bool_]:
    if is_sparse(X):
        difference = abs(X[left] - X[right])
        return np.asarray(np.asarray(difference.sum(axis=1)).ravel() == 0)
    return np.asarray((X[left] == X[right]).all(axis=1))
