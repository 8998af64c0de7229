"""Logistic regression over repeated rows: :class:`LiftedLogisticRegression`."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets

from relift.arrays import Cells, Double, Examples, Integers, MatrixLike
from relift.ml.grouping import group_columns
from relift.ml.linear_models import COMMON_CONSTRAINTS, Design, LiftedLinearModel, ReadRows
from relift.ml.losses import Logistic, Multinomial
from relift.ml.validation import ClassWeight, RandomState, check_label_weights
from relift.tables.open_engine import EngineLike
from relift.tables.sources.table import TableLike


class LiftedLogisticRegression(ClassifierMixin, LiftedLinearModel):
    r"""Logistic regression (two labels or several) that solves one problem for all equal rows, up to a proved gap.

    Takes the place of ``sklearn.linear_model.LogisticRegression``: the same objective, parametrisation and defaults,
    and its answer. Equal rows become one with the counts of their labels, equal and proportional columns one (both
    exact), and the small problem is solved by Newton's method. Rows may come as an array, a sparse matrix, a data frame
    with categories (see :meth:`fit`) or from a table that an engine groups (:meth:`fit_table`).

    Parameters
    ----------
    C
        Inverse of the strength of the penalty; ``numpy.inf`` for none.
    l1_ratio
        Share of the absolute values in the penalty, from 0 (squares) to 1.
    penalty
        ``"auto"`` follows ``C`` and ``l1_ratio``; ``"l2"``, ``"l1"``, ``"elasticnet"`` and None as in versions of
        scikit-learn before 1.8.
    fit_intercept
        Whether to have an intercept, which has no price.
    class_weight
        None, a mapping of labels to weights, or ``"balanced"``.
    solver
        ``"newton-cholesky"`` (a matrix of second derivatives), ``"newton-cg"`` (none), or ``"auto"``, which decides by
        the number of coefficients. With an L1 penalty only ``"auto"``: proximal Newton with coordinate descent.
    lift
        ``"exact"`` merges equal rows and tied columns; ``"rows"`` equal rows only; ``"symmetry"`` also whatever colour
        refinement does not tell apart; ``"none"`` nothing.
    tol
        Relative duality gap to reach (scikit-learn's is a bound on the gradient).
    max_iter
        Steps of Newton's method.
    verbose
        Print each step.
    warm_start
        Start from the coefficients of the last fit.
    random_state
        Not used, since nothing is random; here so that calls of LogisticRegression work unchanged.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in ``LogisticRegression``. For a data frame with categories ``coef_`` has one entry for each category, see
        ``get_feature_names_out()``.
    gap_
        The proved duality gap as a share of the loss of the best constant.
    primal_value_, dual_value_
        Both sides: weighted loss plus penalty / C, and its lower bound.
    dual_
        The dual point, one row for each distinct row: total weight times (share of a label - dual probability). Without
        L1 penalty ``coef_ = C X' dual_``.
    class_of_sample_
        The distinct row of each row (-1 for weight 0); not after :meth:`fit_table`.
    n_distinct_, lift_report_
        How many distinct rows there are; sizes, gap and steps.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X = random.integers(0, 3, (5000, 3))
    >>> y = random.random(5000) < 1 / (1 + np.exp(1 - X[:, 0]))
    >>> model = LiftedLogisticRegression().fit(X, y)
    >>> model.n_distinct_, model.gap_ <= 1e-8
    (27, True)
    """

    _is_by_target: ClassVar[bool] = True
    _is_regressor: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0.0, 1.0, closed="both")],
        "penalty": [StrOptions({"auto", "l1", "l2", "elasticnet"}), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "solver": [StrOptions({"auto", "newton-cholesky", "newton-cg"})],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        penalty: str | None = "auto",
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        solver: str = "auto",
        lift: str = "exact",
        tol: float = 1e-8,
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.lift = lift
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedLogisticRegression:
        """Fit the model.

        Parameters
        ----------
        X
            Numbers, dense or sparse; or a data frame of pandas, Polars or Arrow, in which texts and categories become
            one 0/1 column each, as by ``OneHotEncoder()``.
        y
            Labels of any type.
        sample_weight
            Weights of the rows; not negative.

        Returns
        -------
        LiftedLogisticRegression
            This estimator.
        """
        rows = self._read(X, y, sample_weight)
        check_classification_targets(rows.y)
        self.classes_, codes = np.unique(rows.y, return_inverse=True)
        counts = _counts(rows, codes, len(self.classes_))
        self._fit_counts(rows.X, counts, rows.n_rows)
        self.class_of_sample_ = self._labels_of(rows)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_table(
        self,
        table: TableLike,
        target: str,
        *,
        features: Sequence[str] | None = None,
        weight: str | None = None,
        engine: EngineLike = None,
    ) -> LiftedLogisticRegression:
        """Fit from a table that is grouped where it lies; only distinct rows are fetched.

        Parameters
        ----------
        table
            The name of a table or a query (with ``engine``), a Parquet, CSV or JSON file, a DuckDB relation, a Spark
            data frame, or a frame in memory.
        target
            The column of labels.
        features
            The columns to predict from; all others if None. Texts become one 0/1 column for each.
        weight
            A column of weights.
        engine
            A DuckDB connection or database file, ``"postgresql://…"``, a psycopg or ADBC connection, or a Spark
            session.

        Returns
        -------
        LiftedLogisticRegression
            This estimator.
        """
        rows = self._from_engine(table, target, features, weight, engine)
        check_classification_targets(rows.target)
        self.classes_, codes = np.unique(rows.target, return_inverse=True)
        groups = group_columns([column.codes for column in rows.columns])
        assert self._encoder is not None
        matrix = self._encoder.matrix(rows.columns, groups.first)
        read = ReadRows(matrix, groups, rows.weight, rows.target, rows.n_rows, None)
        self._fit_counts(matrix, _counts(read, codes, len(self.classes_)), rows.n_rows)
        self.__dict__.pop("class_of_sample_", None)
        return self

    def _fit_counts(self, X: Examples, counts: Double, n_rows: int) -> None:
        if counts.shape[1] < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}"
            )
        counts = counts * self._label_weights(counts.sum(axis=0))
        if not (counts.sum(axis=0) > 0).all():
            raise ValueError("class_weight leaves a label without weight: all labels need a positive one.")
        is_binary = counts.shape[1] == 2
        weight = counts.sum(axis=1)
        mean = counts[:, 1:] / weight[:, None] if is_binary else counts / weight[:, None]
        l1, l2 = self._prices()
        if l1 > 0 and self.solver != "auto":
            raise ValueError(f"solver={self.solver!r} has no L1 penalty: use solver='auto'.")
        loss = Logistic if is_binary else Multinomial
        answer = self._solve(Design(X, weight, mean, 0.0, n_rows), loss, l1, l2, self.solver)
        self.coef_ = np.ascontiguousarray(answer.W.T)
        self.intercept_ = answer.b if self.fit_intercept else np.zeros(len(answer.b))
        self.n_iter_ = np.array([answer.iterations], dtype=np.int32)

    def _label_weights(self, totals: Double) -> Double:
        if self.class_weight is None:
            return np.ones(len(totals))
        if isinstance(self.class_weight, str):
            return np.asarray(totals.sum() / (len(totals) * totals))
        unknown = [label for label in self.class_weight if label not in set(self.classes_.tolist())]
        if unknown:
            raise ValueError(f"The classes, {unknown}, are not in class_weight's data: labels are {self.classes_}.")
        given = np.array([float(self.class_weight.get(label, 1.0)) for label in self.classes_.tolist()])
        check_label_weights(given, self.classes_)
        return given

    def _prices(self) -> tuple[float, float]:
        """Prices of absolute values and of halved squares, for a loss that is not multiplied by C."""
        if self.penalty is None or np.isinf(self.C):
            return 0.0, 0.0
        ratio = {"auto": self.l1_ratio, "elasticnet": self.l1_ratio, "l1": 1.0, "l2": 0.0}[self.penalty]
        return float(ratio / self.C), float((1.0 - ratio) / self.C)

    def decision_function(self, X: MatrixLike) -> Double:
        """Scores: one for each row with two labels, otherwise one column for each label.

        Parameters
        ----------
        X
            Rows.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: MatrixLike) -> Cells:
        """The most probable label of each row.

        Parameters
        ----------
        X
            Rows.
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: MatrixLike) -> Double:
        """Probabilities of the labels, in the order of ``classes_``.

        Parameters
        ----------
        X
            Rows.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))

    def predict_log_proba(self, X: MatrixLike) -> Double:
        """Logarithms of the probabilities; finite where these are too small for a float.

        Parameters
        ----------
        X
            Rows.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(scores, axis=1))


def _counts(rows: ReadRows, codes: Integers, n_labels: int) -> Double:
    """Weight of each label in each distinct row."""
    places = rows.groups.labels.astype(np.int64) * n_labels + codes.ravel()
    found = np.bincount(places, rows.weights, rows.groups.size * n_labels).astype(np.float64, copy=False)
    return found.reshape(rows.groups.size, n_labels)
