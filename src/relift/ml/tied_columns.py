r"""Columns that say the same: equal or proportional columns become one, exactly.

If column j is :math:`r_j` times column 0 for all j of a class, the scores see only :math:`z = \sum_j r_j w_j`, and the
least penalty for a given z is

- :math:`\tfrac12 d\, z^2 / \sum_j r_j^2` at :math:`w_j = r_j z / \sum_j r_j^2`, if only squares have a price d;
- :math:`l\,|z| / \max_j |r_j|`, with z on the columns of largest :math:`|r_j|`, if only absolute values have a price l;
- with both prices the two agree for :math:`|r_j| = 1`, and only such columns are merged.

More generally, any equitable partition of rows and columns will do (:func:`symmetric_classes`): averaging coefficients
over its classes worsens neither the loss nor the penalty (Theorem 1 of [1]_, which needs convexity only).

.. [1] Mladenov, Kleinhans, Kersting: Lifted Convex Quadratic Programming, 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import sparse

from relift.arrays import Cells, Double, Examples, Indices, is_sparse
from relift.ml.grouping import group_columns, group_rows
from relift.symmetry.colour_refinement import colour_refinement

FEW_ROWS = 8
"""Rows of a dense matrix that are looked at first: where columns differ in them, they differ."""


@final
@dataclass(frozen=True, eq=False)
class ColumnClasses:
    """Which columns became one.

    Parameters
    ----------
    labels
        The class of each column.
    first
        One column of each class, whose entries stand for all.
    ratios
        Each column divided by the first one of its class.
    shares
        The coefficient of each column for a coefficient 1 of its class.
    l1, l2
        Prices of the coefficients of the classes.
    """

    labels: Indices
    first: Indices
    ratios: Double
    shares: Double
    l1: Double
    l2: Double

    def expand(self, W: Double) -> Double:
        """Coefficients of the columns from those of the classes."""
        return np.asarray(self.shares[:, None] * W[self.labels])

    def restrict(self, W: Double) -> Double:
        """Coefficients of the classes that give the same scores."""
        found = np.zeros((len(self.first), W.shape[1]))
        np.add.at(found, self.labels, self.ratios[:, None] * W)
        return found


def separate_columns(n_columns: int, l1: float, l2: float) -> ColumnClasses:
    """Every column alone."""
    own, ones = np.arange(n_columns), np.ones(n_columns)
    return ColumnClasses(own, own, ones, ones, l1 * ones, l2 * ones)


def tied_columns(X: Examples, l1: float, l2: float, *, is_positive: bool = False) -> ColumnClasses:
    """Find equal and proportional columns, as far as the penalty allows.

    Parameters
    ----------
    X
        Dense, or sparse.
    l1, l2
        Prices of the absolute value and of the halved square of a coefficient.
    is_positive
        Whether coefficients may not be negative: then only equal columns are merged.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0, 0.0], [3.0, 6.0, 1.0]])
    >>> classes = tied_columns(X, 0.0, 1.0)
    >>> classes.labels.tolist(), classes.l2.tolist(), classes.expand(np.array([[5.0], [0.0]])).ravel().tolist()
    ([0, 0, 1], [0.2, 1.0], [1.0, 2.0, 0.0])
    """
    n_columns = X.shape[1]
    if not is_sparse(X) and _few_rows_part_all(X):
        return separate_columns(n_columns, l1, l2)
    unit, scale = _normalised(X)
    groups = group_rows(unit)
    labels = groups.labels.astype(np.int64)
    if is_positive or (l1 > 0 and l2 > 0):
        sizes = np.unique(scale if is_positive else np.abs(scale), return_inverse=True)[1].ravel()
        labels = group_columns([labels, sizes]).labels.astype(np.int64)
    first = np.full(int(labels.max(initial=-1)) + 1, -1, dtype=np.int64)
    first[labels[::-1]] = np.arange(n_columns - 1, -1, -1)
    if len(first) == n_columns:
        return separate_columns(n_columns, l1, l2)
    leading = scale[first][labels]
    ratios = np.divide(scale, leading, out=np.ones(n_columns), where=leading != 0)
    squares = np.bincount(labels, ratios**2)
    largest = np.zeros(len(first))
    np.maximum.at(largest, labels, np.abs(ratios))
    if l1 > 0 and l2 == 0:
        is_largest = np.abs(ratios) == largest[labels]
        count = np.bincount(labels, is_largest)
        shares = np.where(is_largest, np.sign(ratios) / (largest * count)[labels], 0.0)
    else:
        shares = ratios / squares[labels]
    return ColumnClasses(labels, first, ratios, shares, l1 / largest, l2 / squares)


def _few_rows_part_all(X: Double) -> bool:
    """Whether the first rows already show that no column is proportional to another one.

    Proportional columns are 0 in the same rows, so where they begin in these rows they are divided by the same entry as
    in all of them, and where they do not they are equal so far.
    """
    some = X[:FEW_ROWS]
    return bool(len(some)) and group_rows(_normalised(some)[0]).size == X.shape[1]


def _normalised(X: Examples) -> tuple[Any, Double]:
    """The columns as rows, divided by their first entry that is not 0; and these entries (1 for columns of 0)."""
    if is_sparse(X):
        columns = sparse.csc_array(X, copy=True)
        columns.sum_duplicates()
        columns.eliminate_zeros()
        counts = np.diff(columns.indptr)
        scale = np.ones(X.shape[1])
        scale[counts > 0] = columns.data[columns.indptr[:-1][counts > 0]]
        data = columns.data / np.repeat(scale, counts)
        return sparse.csr_array((data, columns.indices, columns.indptr), shape=X.shape[::-1]), scale
    scale = X[(X != 0).argmax(axis=0), np.arange(X.shape[1])]
    scale = np.where(scale == 0, 1.0, scale)
    return np.ascontiguousarray((X / scale).T), scale


@final
@dataclass(frozen=True, eq=False)
class SymmetricClasses:
    """An equitable partition of rows and columns.

    Parameters
    ----------
    rows, columns
        The class of each row and of each column.
    X
        The matrix between classes: mean of the rows, sum of the columns.
    """

    rows: Indices
    columns: Indices
    X: Examples

    @property
    def column_sizes(self) -> Double:
        """How many columns each class has."""
        return np.bincount(self.columns).astype(np.float64)


def symmetric_classes(X: Examples, colours: Cells) -> SymmetricClasses:
    """Find rows and columns that colour refinement does not tell apart.

    Parameters
    ----------
    X
        Dense, or sparse.
    colours
        One for each row: rows of different weight or target get different ones.

    Examples
    --------
    A survey whose two questions are exchangeable:

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> found = symmetric_classes(X, np.array([0, 0, 1]))
    >>> found.rows.tolist(), found.columns.tolist(), found.X.toarray().tolist()
    ([0, 0, 1], [0, 0], [[1.0], [2.0]])
    """
    n_rows, n_columns = X.shape
    block = sparse.csr_array(X)
    graph = sparse.block_array([[None, block], [block.T, None]], format="csr")
    start = np.concatenate([np.asarray(colours, dtype=np.int64), np.full(n_columns, -1, dtype=np.int64)])
    labels = np.asarray(colour_refinement(graph, colours=start, mode="equitable", values="bits").labels)
    rows = np.unique(labels[:n_rows], return_inverse=True)[1].ravel()
    columns = np.unique(labels[n_rows:], return_inverse=True)[1].ravel()
    sizes = np.bincount(rows)
    average = sparse.csr_array((1.0 / sizes[rows], (rows, np.arange(n_rows))), shape=(len(sizes), n_rows))
    members = sparse.csr_array((np.ones(n_columns), (np.arange(n_columns), columns)))
    return SymmetricClasses(rows, columns, sparse.csr_array(average @ block @ members))
