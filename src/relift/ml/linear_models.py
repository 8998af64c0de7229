"""What the lifted linear models share: reading and grouping of rows, tied columns, the solve, and prediction.

A model reads its rows (an array, a sparse matrix, a data frame, or a table that an engine groups), keeps one of each
with totals, merges tied columns, solves the small problem up to a proved gap, and expands the coefficients. The gap of
the small problem is that of the original one, since both have the same values at corresponding points.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from relift.arrays import Cells, Double, Examples, MatrixLike, is_sparse
from relift.ml.blas_threads import LARGE, one_blas_thread
from relift.ml.engine_rows import EngineRows, engine_rows
from relift.ml.frames import Encoder, is_frame, names_of, read_columns
from relift.ml.glm import LinearAnswer, LinearProblem, solve_linear
from relift.ml.grouping import RowGroups, group_columns, group_rows
from relift.ml.losses import Loss
from relift.ml.tied_columns import ColumnClasses, SymmetricClasses, separate_columns, symmetric_classes, tied_columns
from relift.ml.validation import SparseInput, validate_data
from relift.tables.sources.table import TableLike

SPARSE_SHARE = 0.1
"""Share of entries from which on products with a dense matrix are quicker than with a sparse one."""

MOST_DENSE = 1_000_000
"""Entries of a sparse matrix up to which it is made dense for that."""

LIFTS = ("exact", "rows", "symmetry", "none")

COMMON_CONSTRAINTS: dict[str, list[object]] = {
    "fit_intercept": ["boolean"],
    "lift": [StrOptions(set(LIFTS))],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "verbose": ["verbose"],
    "warm_start": ["boolean"],
}


@final
@dataclass(eq=False)
class ReadRows:
    """Rows as they were read, with one of each picked out.

    Parameters
    ----------
    X
        Distinct rows as numbers, dense or in compressed rows.
    groups
        Which rows are equal; rows of weight 0 are left out.
    weights
        Weights of the rows that take part.
    y
        Their targets.
    n_rows
        How many rows there were, with those of weight 0.
    members
        Which rows take part; None if all.
    """

    X: Examples
    groups: RowGroups
    weights: Double
    y: Cells
    n_rows: int
    members: Cells | None


@final
@dataclass(eq=False)
class Design:
    """The small problem before its columns are merged.

    Parameters
    ----------
    X
        Distinct rows.
    weight
        Their total weights.
    mean
        Mean targets, one column for each output.
    floor
        What the loss of the original rows has at least, in the units of the loss of the distinct rows.
    n_rows
        Original rows.
    """

    X: Examples
    weight: Double
    mean: Double
    floor: float
    n_rows: int


class LiftedLinearModel(SparseInput, BaseEstimator):
    """Base of the lifted linear models; see its subclasses."""

    _is_by_target: ClassVar[bool] = False
    _encoder: Encoder | None
    _is_regressor: ClassVar[bool] = True

    lift: str
    tol: float
    max_iter: int
    fit_intercept: bool
    verbose: int
    warm_start: bool

    # ---- reading ----

    def _read(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None) -> ReadRows:
        """Rows, weights and targets, checked as scikit-learn checks them; and which rows are equal."""
        if is_frame(X):
            return self._read_frame(X, y, sample_weight)
        self._encoder = None
        X, y = validate_data(
            self, X, y, dtype="numeric", order=None, accept_sparse="csr", y_numeric=self._is_regressor,
            multi_output=False,
        )  # fmt: skip
        y = y.astype(np.float64) if self._is_regressor else y
        weights = self._weights(sample_weight, X)
        n_rows, members = len(y), None if (weights > 0).all() else np.flatnonzero(weights > 0)
        if members is not None:
            X, y, weights = X[members], y[members], weights[members]
        groups = _alone(len(y)) if self.lift == "none" else group_rows(X)
        distinct = X if groups.size == len(y) else X[groups.first]
        distinct = sparse.csr_array(distinct) if is_sparse(distinct) else np.asarray(distinct)
        return ReadRows(distinct.astype(np.float64, copy=False), groups, weights, y, n_rows, members)

    def _read_frame(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> ReadRows:
        names = names_of(X)
        columns = read_columns(X)
        if not columns or not len(columns[0].codes):
            raise ValueError(f"Found array with {0 if columns else len(X)} sample(s), a minimum of 1 is required.")
        place = np.empty((len(columns[0].codes), 0))
        _, y = validate_data(
            self, np.zeros((len(place), 1)), _as_array(y), y_numeric=self._is_regressor, multi_output=False,
            skip_check_array=False, reset=True,
        )  # fmt: skip
        y = y.astype(np.float64) if self._is_regressor else y
        weights = self._weights(sample_weight, place)
        self._keep_columns(names, Encoder.of(columns))
        members = None if (weights > 0).all() else np.flatnonzero(weights > 0)
        if members is not None:
            for column in columns:
                object.__setattr__(column, "codes", column.codes[members])
            y, weights = y[members], weights[members]
        groups = _alone(len(y)) if self.lift == "none" else group_columns([column.codes for column in columns])
        assert self._encoder is not None
        matrix = self._encoder.matrix(columns, groups.first)
        return ReadRows(matrix, groups, weights, y, len(place), members)

    def _keep_columns(self, names: list[str], encoder: Encoder) -> None:
        self._encoder = encoder
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.asarray(names, dtype=object)

    def _weights(self, sample_weight: ArrayLike | None, X: Examples) -> Double:
        weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))
        if not (weights > 0).any():
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        return weights

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Cells:
        """Names of the columns that ``coef_`` belongs to, as ``OneHotEncoder`` and a passthrough would name them.

        Parameters
        ----------
        input_features
            Not used; here for compatibility.
        """
        check_is_fitted(self)
        if self._encoder is not None:
            return np.asarray(self._encoder.names_out, dtype=object)
        names = getattr(self, "feature_names_in_", None)
        return np.asarray([f"x{k}" for k in range(self.n_features_in_)] if names is None else names, dtype=object)

    def _matrix(self, X: MatrixLike) -> Examples:
        """New rows as numbers, as ``fit`` had them."""
        check_is_fitted(self)
        if self._encoder is not None:
            if not is_frame(X) and not hasattr(X, "columns"):
                shown = ", ".join(map(repr, self.feature_names_in_))
                raise ValueError(f"{type(self).__name__} was fitted on a table: give a table with columns {shown}.")
            return self._encoder.matrix(read_columns(X, list(self._encoder.categories)))
        if is_frame(X):
            raise ValueError(
                f"{type(self).__name__} was fitted on an array of numbers; the table holds categories or is not one "
                "of pandas."
            )
        return validate_data(self, X, dtype="numeric", accept_sparse="csr", reset=False)

    def _from_engine(self, table: TableLike, target: str, features: Any, weight: Any, engine: Any) -> EngineRows:
        if self.lift == "none":
            raise ValueError("lift='none' cannot be fitted from a table: an engine returns distinct rows.")
        rows = engine_rows(table, target, by_target=self._is_by_target, features=features, weight=weight, engine=engine)
        self._keep_columns([column.name for column in rows.columns], Encoder.of(rows.columns))
        return rows

    # ---- solving ----

    def _solve(self, design: Design, make_loss: Callable[[Double, Double], Loss], l1: float, l2: float,
               solver: str = "auto", *, is_positive: bool = False) -> LinearAnswer:  # fmt: skip
        """Merge columns, solve, expand; sets everything but the shape of the coefficients."""
        X, n_columns = design.X, design.X.shape[1]
        classes = (
            tied_columns(X, l1, l2, is_positive=is_positive)
            if self.lift in ("exact", "symmetry")
            else separate_columns(n_columns, l1, l2)
        )
        small = X if len(classes.first) == n_columns else X[:, classes.first]
        weight, mean = design.weight, design.mean
        symmetry = self._symmetry(small, weight, mean, classes) if self.lift == "symmetry" else None
        l1s, l2s = classes.l1, classes.l2
        if symmetry is not None:
            small, sizes = symmetry.X, symmetry.column_sizes
            first = np.zeros(len(sizes), dtype=np.int64)
            first[symmetry.columns] = np.arange(len(symmetry.columns))
            l1s, l2s = l1s[first] * sizes, l2s[first] * sizes
            total = np.bincount(symmetry.rows, weight).astype(np.float64, copy=False)
            mean = np.column_stack([np.bincount(symmetry.rows, weight * m) / total for m in mean.T])
            weight = total
        if is_sparse(small) and small.nnz > SPARSE_SHARE * np.prod(small.shape) and small.nnz < MOST_DENSE:
            small = np.asarray(small.toarray(), dtype=np.float64)
        problem = LinearProblem(small, make_loss(weight, mean), l1s, l2s, self.fit_intercept, is_positive)
        scale = self._null_value(design, make_loss) - design.floor
        scale = scale if scale > 0 else 1.0
        entries = small.nnz if is_sparse(small) else small.size
        with one_blas_thread() if entries < LARGE else nullcontext():
            answer = solve_linear(
                problem, tolerance=float(self.tol) * scale, most=int(self.max_iter), solver=solver,
                start=self._start(classes, symmetry, mean.shape[1]), tell=self._teller(scale, design.floor),
            )  # fmt: skip
        W = answer.W if symmetry is None else answer.W[symmetry.columns]
        W = classes.expand(W)
        b = answer.b
        if len(b) > 1:  # the same constant for all labels changes nothing
            b = b - b.mean()
            W = W - W.mean(axis=1, keepdims=True) if l1 == 0 else W
        dual = answer.dual
        if symmetry is not None:
            dual = dual[symmetry.rows] * (design.weight / weight[symmetry.rows])[:, None]
        answer.W, answer.b, answer.dual = W, b, dual
        self._keep(answer, design, scale, small.shape)
        return answer

    def _null_value(self, design: Design, make_loss: Callable[[Double, Double], Loss]) -> float:
        loss = make_loss(design.weight, design.mean)
        scores = loss.null_scores() if self.fit_intercept else np.zeros(loss.n_outputs)
        return loss.value(np.broadcast_to(scores, design.mean.shape))

    def _symmetry(self, X: Examples, weight: Double, mean: Double, classes: ColumnClasses) -> SymmetricClasses | None:
        """An equitable partition; None if it merges nothing or column classes have different prices."""
        if len(np.unique(classes.l1)) > 1 or len(np.unique(classes.l2)) > 1:
            return None
        targets = [np.unique(column, return_inverse=True)[1].ravel() for column in (weight, *mean.T)]
        colours = group_columns(targets).labels
        found = symmetric_classes(X, colours)
        return found if len(found.column_sizes) < X.shape[1] or found.X.shape[0] < X.shape[0] else None

    def _start(
        self, classes: ColumnClasses, symmetry: SymmetricClasses | None, n_outputs: int
    ) -> tuple[Double, Double] | None:
        """Coefficients of the last fit, if wanted and of the right size."""
        if not self.warm_start or not hasattr(self, "coef_") or symmetry is not None:
            return None
        W = np.atleast_2d(self.coef_).T
        if W.shape != (len(classes.labels), n_outputs):
            return None
        return classes.restrict(W), np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))

    def _teller(self, scale: float, floor: float) -> Callable[[int, float, float], None] | None:
        if not self.verbose:
            return None
        name = type(self).__name__
        return lambda step, value, gap: print(
            f"[{name}] step {step}: objective {value - floor:.10g}, relative gap {gap / scale:.3g}", flush=True
        )

    def _keep(self, answer: LinearAnswer, design: Design, scale: float, small: tuple[int, int]) -> None:
        self.gap_ = answer.gap / scale
        self.primal_value_ = answer.primal_value - design.floor
        self.dual_value_ = answer.dual_value - design.floor
        self.dual_ = answer.dual
        self.n_distinct_ = int(design.X.shape[0])
        self.lift_report_ = {
            "rows": design.n_rows,
            "distinct": int(design.X.shape[0]),
            "columns": int(design.X.shape[1]),
            "solved_rows": int(small[0]),
            "solved_columns": int(small[1]),
            "gap": self.gap_,
            "iterations": answer.iterations,
        }
        self._warn()

    def _warn(self) -> None:
        if not self.gap_ <= self.tol:
            warnings.warn(
                f"{type(self).__name__}: the proved gap is {self.gap_:.3g}, not {self.tol:.3g}. Raise max_iter or "
                "tol, scale the features, or add a penalty.",
                ConvergenceWarning,
                stacklevel=4,
            )

    @abstractmethod
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Fit the model."""

    def _scores(self, X: MatrixLike) -> Double:
        return np.asarray(self._matrix(X) @ np.atleast_2d(self.coef_).T + self.intercept_)

    def _labels_of(self, rows: ReadRows) -> Cells:
        """The distinct row of each original row; -1 for rows of weight 0."""
        if rows.members is None:
            return rows.groups.labels
        labels = np.full(rows.n_rows, -1, dtype=np.int32)
        labels[rows.members] = rows.groups.labels
        return labels


def _alone(size: int) -> RowGroups:
    own = np.arange(size, dtype=np.int32)
    return RowGroups(own, own)


def _as_array(y: Any) -> Any:
    """A column of a Polars frame or an Arrow table as an array."""
    home = type(y).__module__.partition(".")[0]
    if home == "polars" and hasattr(y, "to_numpy"):
        return y.to_numpy()
    if home == "pyarrow":
        return np.asarray(y.to_pylist())
    return y


def mean_targets(rows: ReadRows) -> tuple[Double, Double]:
    """Total weight and mean target of each distinct row."""
    weight = rows.groups.total(rows.weights)
    return weight, rows.groups.total(rows.weights * rows.y) / weight
