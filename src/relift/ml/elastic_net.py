"""Least squares with absolute values over repeated rows: :class:`LiftedElasticNet` and :class:`LiftedLasso`."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval

from relift.arrays import Double, MatrixLike
from relift.ml.linear_models import COMMON_CONSTRAINTS, Design, LiftedLinearModel, mean_targets
from relift.ml.losses import Squared
from relift.ml.tied_columns import ColumnClasses, SymmetricClasses
from relift.tables.open_engine import EngineLike
from relift.tables.sources.table import TableLike


class LiftedElasticNet(RegressorMixin, LiftedLinearModel):
    r"""Least squares with L1 and L2 penalty that solves one problem for all equal rows, up to a proved gap.

    Takes the place of ``sklearn.linear_model.ElasticNet``: the same objective
    :math:`\tfrac{1}{2n}\|y - Xw - b\|^2 + \alpha\rho\|w\|_1 + \tfrac12\alpha(1-\rho)\|w\|^2`, parametrisation and
    defaults, and its answer. Rows with equal features become one with their total weight and mean target, whatever the
    targets are; the products of columns are formed from distinct rows and solved by coordinate descent.

    Parameters
    ----------
    alpha
        Strength of the penalty; 0 for least squares.
    l1_ratio
        Share of the absolute values in the penalty, from 0 to 1.
    fit_intercept
        Whether to have an intercept, which has no price.
    positive
        Whether coefficients may not be negative.
    lift, tol, max_iter, verbose, warm_start
        As in :class:`~relift.ml.LiftedLogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in ``ElasticNet``.
    dual_gap_
        As in ``ElasticNet``: the gap of the objective above.
    gap_, primal_value_, dual_value_, dual_, class_of_sample_, n_distinct_, lift_report_
        As in :class:`~relift.ml.LiftedLogisticRegression`; values are n times the objective above. ``dual_`` is total
        weight times (mean target - dual fit).

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X = random.integers(0, 4, (3000, 3)).astype(float)
    >>> model = LiftedElasticNet(alpha=0.1).fit(X, 2.0 * X[:, 0] + random.standard_normal(3000))
    >>> model.n_distinct_, model.gap_ <= 1e-8, model.coef_.round(1).tolist()
    (64, True, [1.9, 0.0, 0.0])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "alpha": [Interval(Real, 0.0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0.0, 1.0, closed="both")],
        "positive": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        positive: bool = False,
        lift: str = "exact",
        tol: float = 1e-8,
        max_iter: int = 1000,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.lift = lift
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedElasticNet:
        """Fit the model.

        Parameters
        ----------
        X
            Numbers, dense or sparse; or a data frame, see :meth:`relift.ml.LiftedLogisticRegression.fit`.
        y
            Targets.
        sample_weight
            Weights of the rows; not negative.

        Returns
        -------
        LiftedElasticNet
            This estimator.
        """
        rows = self._read(X, y, sample_weight)
        weight, mean = mean_targets(rows)
        square = float(rows.weights @ rows.y**2)
        self._fit_means(Design(rows.X, weight, mean[:, None], -0.5 * square, rows.n_rows))
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
    ) -> LiftedElasticNet:
        """Fit from a table that is grouped where it lies; only distinct rows are fetched.

        Parameters
        ----------
        table, target, features, weight, engine
            As in :meth:`relift.ml.LiftedLogisticRegression.fit_table`; the target is added up in the engine.

        Returns
        -------
        LiftedElasticNet
            This estimator.
        """
        rows = self._from_engine(table, target, features, weight, engine)
        assert self._encoder is not None
        matrix = self._encoder.matrix(rows.columns)
        self._fit_means(Design(matrix, rows.weight, rows.target[:, None], -0.5 * rows.square, rows.n_rows))
        self.__dict__.pop("class_of_sample_", None)
        return self

    def _fit_means(self, design: Design) -> None:
        # Targets are moved to mean 0: their common size would cost digits of the gap.
        total = float(design.weight.sum())
        shift = float(design.weight @ design.mean[:, 0]) / total if self.fit_intercept else 0.0
        square = -2.0 * design.floor - total * shift**2
        moved = Design(design.X, design.weight, design.mean - shift, -0.5 * max(square, 0.0), design.n_rows)
        ratio = self._ratio()
        answer = self._solve(
            moved, Squared, float(self.alpha * ratio) * total, float(self.alpha * (1.0 - ratio)) * total,
            is_positive=bool(self.positive),
        )  # fmt: skip
        self.coef_ = answer.W[:, 0]
        self.intercept_ = float(answer.b[0]) + shift if self.fit_intercept else 0.0
        self.n_iter_ = answer.iterations
        self.dual_gap_ = answer.gap / total

    def _ratio(self) -> float:
        return float(self.l1_ratio)

    def _start(
        self, classes: ColumnClasses, symmetry: SymmetricClasses | None, n_outputs: int
    ) -> tuple[Double, Double] | None:
        start = super()._start(classes, symmetry, n_outputs)
        return None if start is None else (start[0], np.zeros(1))

    def predict(self, X: MatrixLike) -> Double:
        """Values of the rows.

        Parameters
        ----------
        X
            Rows.
        """
        return np.asarray(self._scores(X)[:, 0])


class LiftedLasso(LiftedElasticNet):
    r"""Least squares with L1 penalty that solves one problem for all equal rows, up to a proved gap.

    Takes the place of ``sklearn.linear_model.Lasso``; a :class:`~relift.ml.LiftedElasticNet` with ``l1_ratio=1``. The
    optimum of a lasso need not be unique: of equal columns all have the same coefficient here, while scikit-learn may
    put their sum on the first.

    Parameters
    ----------
    alpha
        Strength of the penalty.
    fit_intercept, positive, lift, tol, max_iter, verbose, warm_start
        As in :class:`~relift.ml.LiftedElasticNet`.

    Examples
    --------
    >>> X, y = np.repeat(np.eye(3), 100, axis=0), np.repeat([1.0, 2.0, 6.0], 100)
    >>> LiftedLasso(alpha=0.1).fit(X, y).coef_.round(3).tolist()
    [-0.7..., 0.0, 3.7...]
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        name: value for name, value in LiftedElasticNet._parameter_constraints.items() if name != "l1_ratio"
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        positive: bool = False,
        lift: str = "exact",
        tol: float = 1e-8,
        max_iter: int = 1000,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.lift = lift
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start

    def _ratio(self) -> float:
        return 1.0
