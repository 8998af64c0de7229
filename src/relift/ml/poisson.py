"""Poisson regression over repeated rows: :class:`LiftedPoissonRegressor`."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy
from sklearn.base import RegressorMixin, _fit_context
from sklearn.metrics import d2_tweedie_score
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_consistent_length

from relift.arrays import Double, MatrixLike
from relift.ml.linear_models import COMMON_CONSTRAINTS, Design, LiftedLinearModel, mean_targets
from relift.ml.losses import Poisson
from relift.tables.open_engine import EngineLike
from relift.tables.sources.table import TableLike

if TYPE_CHECKING:
    from sklearn.utils import Tags


class LiftedPoissonRegressor(RegressorMixin, LiftedLinearModel):
    r"""Poisson regression (log link, L2 penalty) that solves one problem for all equal rows, up to a proved gap.

    Takes the place of ``sklearn.linear_model.PoissonRegressor``: the same objective, parametrisation and defaults, and
    its answer. Rows with equal features become one with their total weight and mean count, whatever the counts are.

    Parameters
    ----------
    alpha
        Strength of the penalty.
    fit_intercept
        Whether to have an intercept, which has no price.
    solver
        ``"newton-cholesky"``, ``"newton-cg"`` or ``"auto"``, which decides by the number of coefficients.
    lift, tol, max_iter, verbose, warm_start
        As in :class:`~relift.ml.LiftedLogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in ``PoissonRegressor``.
    gap_, primal_value_, dual_value_, dual_, class_of_sample_, n_distinct_, lift_report_
        As in :class:`~relift.ml.LiftedLogisticRegression`; values are weighted sums of half the deviance, plus penalty.
        ``dual_`` is total weight times (mean count - dual mean), and ``coef_ = X' dual_ / (alpha sum of weights)``.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X = random.integers(0, 4, (2000, 2))
    >>> model = LiftedPoissonRegressor(alpha=1e-3).fit(X, random.poisson(np.exp(0.3 * X[:, 0])))
    >>> model.n_distinct_, model.gap_ <= 1e-8, model.coef_.round(1).tolist()
    (16, True, [0.3, 0.0])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "alpha": [Interval(Real, 0.0, None, closed="left")],
        "solver": [StrOptions({"auto", "newton-cholesky", "newton-cg"})],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "auto",
        lift: str = "exact",
        tol: float = 1e-8,
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.lift = lift
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedPoissonRegressor:
        """Fit the model.

        Parameters
        ----------
        X
            Numbers, dense or sparse; or a data frame, see :meth:`relift.ml.LiftedLogisticRegression.fit`.
        y
            Counts, or other numbers that are not negative.
        sample_weight
            Weights of the rows (exposures, if y are rates); not negative.

        Returns
        -------
        LiftedPoissonRegressor
            This estimator.
        """
        rows = self._read(X, y, sample_weight)
        weight, mean = mean_targets(rows)
        floor = float(rows.weights @ (rows.y - xlogy(rows.y, np.maximum(rows.y, 0.0)))) if len(rows.y) else 0.0
        self._fit_means(Design(rows.X, weight, mean[:, None], floor, rows.n_rows), float(rows.y.min()))
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
    ) -> LiftedPoissonRegressor:
        """Fit from a table that is grouped where it lies; only distinct rows are fetched.

        Parameters
        ----------
        table, target, features, weight, engine
            As in :meth:`relift.ml.LiftedLogisticRegression.fit_table`; the target is added up in the engine.

        Returns
        -------
        LiftedPoissonRegressor
            This estimator.
        """
        rows = self._from_engine(table, target, features, weight, engine)
        assert self._encoder is not None
        matrix = self._encoder.matrix(rows.columns)
        floor = float(rows.weight @ rows.target) - rows.loglike
        self._fit_means(Design(matrix, rows.weight, rows.target[:, None], floor, rows.n_rows), rows.least_target)
        self.__dict__.pop("class_of_sample_", None)
        return self

    def _fit_means(self, design: Design, least: float) -> None:
        if least < 0:
            raise ValueError(f"Some value(s) of y are out of the valid range of Poisson regression: {least:g} < 0.")
        if not (design.mean > 0).any():
            raise ValueError("all values of y are 0: the intercept of a Poisson regression would be minus infinity.")
        l2 = float(self.alpha) * float(design.weight.sum())
        answer = self._solve(design, Poisson, 0.0, l2, self.solver)
        self.coef_ = answer.W[:, 0]
        self.intercept_ = float(answer.b[0]) if self.fit_intercept else 0.0
        self.n_iter_ = answer.iterations

    def predict(self, X: MatrixLike) -> Double:
        """Expected counts.

        Parameters
        ----------
        X
            Rows.
        """
        return np.exp(self._scores(X)[:, 0])

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of the deviance that is explained (D^2), as ``PoissonRegressor`` has it.

        Parameters
        ----------
        X
            Rows.
        y
            Their counts.
        sample_weight
            Weights of the rows.
        """
        y = check_array(y, ensure_2d=False, dtype=np.float64)
        check_consistent_length(X, y)
        return float(d2_tweedie_score(y, self.predict(X), sample_weight=sample_weight, power=1))
