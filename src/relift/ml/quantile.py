r"""Quantile regression over repeated rows: :class:`LiftedQuantileRegressor`.

The dual of quantile regression with an L1 penalty is a linear program with one bounded variable for each distinct pair
of features and target, and one row for each column,

.. math:: \max\; y^\top d \quad\text{s.t.}\quad -l \le X^\top d \le l,\; \textstyle\sum d_i = 0,\;
   (q - 1) n_i \le d_i \le q\, n_i,

and the dual values of its rows are the coefficients and the intercept. A small one goes to :func:`relift.solve`, which
lifts it further where it can and checks the answer on the program; a large one to the interior point method of
:mod:`relift.ml.frisch_newton`, whose work is one small system for each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from relift.arrays import Double, Examples, MatrixLike, sizes_of_entries
from relift.errors import BackendError
from relift.ml.frisch_newton import solve_bounded
from relift.ml.grouping import codes_of, group_columns
from relift.ml.linear_models import COMMON_CONSTRAINTS, LiftedLinearModel
from relift.ml.tied_columns import separate_columns, tied_columns
from relift.pipeline import solve
from relift.program.program import Program
from relift.tables.open_engine import EngineLike
from relift.tables.sources.table import TableLike

SMALL = 2000
"""Distinct pairs of row and target up to which ``solver="auto"`` takes HiGHS, which ends in a vertex."""


class LiftedQuantileRegressor(RegressorMixin, LiftedLinearModel):
    """Linear quantile regression with L1 penalty that solves one linear program for all equal rows.

    Takes the place of ``sklearn.linear_model.QuantileRegressor``: the same objective, parametrisation and defaults.
    Rows with equal features and equal target become one. The optimum of quantile regression need not be unique; the
    objective is scikit-learn's, and its gap is proved.

    Parameters
    ----------
    quantile
        Which quantile, between 0 and 1.
    alpha
        Strength of the L1 penalty.
    fit_intercept
        Whether to have an intercept, which has no price.
    solver
        ``"frisch-newton"`` (an interior point method of relift), ``"highs"`` (as HiGHS decides), ``"highs-ds"``
        (simplex), ``"highs-ipm"`` (interior point), another backend of :func:`relift.solve`, such as ``"clarabel"``, or
        ``"auto"``: HiGHS up to 2000 distinct pairs of row and target, ``"frisch-newton"`` above.
    solver_options
        Further options of the backend.
    lift, verbose
        As in :class:`~relift.ml.LiftedLogisticRegression`.
    tol
        Relative gap above which a warning says that it was not reached.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in ``QuantileRegressor``.
    gap_
        The proved duality gap as a share of the loss of the best constant.
    primal_value_, dual_value_, dual_, class_of_sample_, n_distinct_, lift_report_
        As in :class:`~relift.ml.LiftedLogisticRegression`, over distinct pairs of row and target.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X = random.integers(0, 3, (500, 2)).astype(float)
    >>> model = LiftedQuantileRegressor(alpha=0.0).fit(X, X[:, 0] + random.integers(-2, 3, 500))
    >>> model.gap_ < 1e-8, model.coef_.round(6).tolist()
    (True, [1.0, 0.0])
    """

    _is_by_target: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "quantile": [Interval(Real, 0.0, 1.0, closed="neither")],
        "alpha": [Interval(Real, 0.0, None, closed="left")],
        "solver": [str],
        "solver_options": [dict, None],
        "lift": [StrOptions({"exact", "rows", "none"})],
        **{name: COMMON_CONSTRAINTS[name] for name in ("fit_intercept", "tol", "verbose")},
    }

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: Any = None,
        lift: str = "exact",
        tol: float = 1e-6,
        verbose: int = 0,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.lift = lift
        self.tol = tol
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedQuantileRegressor:
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
        LiftedQuantileRegressor
            This estimator.
        """
        rows = self._read(X, y, sample_weight)
        labels = rows.groups.labels
        if self.lift == "none":
            pairs, X_small, target, weight = rows.groups, rows.X, rows.y, rows.weights
        else:
            pairs = group_columns([labels, codes_of(rows.y)[0]])
            X_small, target = rows.X[labels[pairs.first]], rows.y[pairs.first]
            weight = pairs.total(rows.weights)
        self._fit_pairs(X_small, target, weight, rows.n_rows)
        rows.groups = pairs
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
    ) -> LiftedQuantileRegressor:
        """Fit from a table that is grouped where it lies; only distinct pairs of row and target are fetched.

        Parameters
        ----------
        table, target, features, weight, engine
            As in :meth:`relift.ml.LiftedLogisticRegression.fit_table`.

        Returns
        -------
        LiftedQuantileRegressor
            This estimator.
        """
        rows = self._from_engine(table, target, features, weight, engine)
        try:
            numbers = rows.target.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the target {target!r} must hold numbers.") from error
        if not np.isfinite(numbers).all():
            raise ValueError(f"the target {target!r} has NaN or infinite values.")
        assert self._encoder is not None
        self._fit_pairs(self._encoder.matrix(rows.columns), numbers, rows.weight, rows.n_rows)
        self.__dict__.pop("class_of_sample_", None)
        return self

    def _fit_pairs(self, X: Examples, y: Double, weight: Double, n_rows: int) -> None:
        total = float(weight.sum())
        l1 = float(self.alpha) * total
        classes = tied_columns(X, l1, 0.0) if self.lift == "exact" else separate_columns(X.shape[1], l1, 0.0)
        small = X if len(classes.first) == X.shape[1] else X[:, classes.first]
        d, w, line = self._solved(small, y, weight, classes.l1)
        W = classes.expand(w[: len(classes.first)][:, None])[:, 0]
        scores = np.asarray(X @ W).ravel()
        b = float(w[-1]) if self.fit_intercept else 0.0
        if self.fit_intercept:  # the best intercept for these coefficients
            b = _weighted_quantile(y - scores, weight, self.quantile)
        self.coef_, self.intercept_ = W, b
        self.n_iter_ = int(line.pop("iterations"))
        price = float(classes.l1 @ np.abs(w[: len(classes.first)]))
        self.primal_value_ = _pinball(y - scores - b, weight, self.quantile) + price
        self.dual_value_ = self._bound(small, y, d, classes.l1)
        centre = _weighted_quantile(y, weight, self.quantile) if self.fit_intercept else 0.0
        scale = _pinball(y - centre, weight, self.quantile) or 1.0
        self.gap_ = max(0.0, self.primal_value_ - self.dual_value_) / scale
        self.dual_ = d
        self.n_distinct_ = int(X.shape[0])
        self.lift_report_ = {
            "rows": n_rows, "distinct": int(X.shape[0]), "columns": int(X.shape[1]), **line, "gap": self.gap_,
            "iterations": self.n_iter_,
        }  # fmt: skip
        if self.verbose:
            print(f"[LiftedQuantileRegressor] {self.lift_report_}", flush=True)
        self._warn()

    def _solved(self, X: Examples, y: Double, weight: Double, l1: Double) -> tuple[Double, Double, dict[str, Any]]:
        """The dual point, coefficients with intercept last, and what to report."""
        lower, upper = (self.quantile - 1.0) * weight, self.quantile * weight
        if self.solver == "frisch-newton" or (self.solver == "auto" and len(y) > SMALL):
            rows = [sparse.csr_array(X).T, *([np.ones((1, len(y)))] if self.fit_intercept else [])]
            A = sparse.vstack(rows, format="csr")
            target, n_free = y, int((l1 > 0).sum())
            if n_free:  # with a penalty X'd is free between -l and l
                own = sparse.csr_array((np.ones(n_free), (np.flatnonzero(l1), np.arange(n_free))), (A.shape[0], n_free))
                A = sparse.hstack([A, own], format="csr")
                target = np.concatenate([y, np.zeros(n_free)])
                lower, upper = np.concatenate([lower, -l1[l1 > 0]]), np.concatenate([upper, l1[l1 > 0]])
            enough = 0.01 * float(self.tol) * _pinball(y - np.median(y), weight, self.quantile)
            tell = (
                (lambda step, gap: print(f"[{type(self).__name__}] step {step}: gap {gap:.3g}"))
                if self.verbose
                else None
            )
            found = solve_bounded(A, target, lower, upper, tolerance=enough, tell=tell)
            return found.d[: len(y)], found.duals, {
                "solved_rows": len(y), "solved_columns": int(X.shape[1]), "iterations": found.iterations,
                "solver": "frisch-newton",
            }  # fmt: skip
        program = _dual_program(X, y, lower, upper, l1, self.fit_intercept)
        backend, options = self._backend()
        result = solve(
            program, backend=backend, backend_options=options, lift="none" if self.lift == "none" else "equitable"
        )
        if result.solution.x is None or result.solution.y is None:
            raise BackendError(f"LiftedQuantileRegressor: the linear program ended with status {result.status}.")
        line = {
            "solved_rows": result.lifting.small.n_variables, "solved_columns": result.lifting.small.n_rows,
            "iterations": result.solution.iterations or 0, "solver": result.solution.backend,
        }  # fmt: skip
        return np.clip(result.solution.x, program.lb, program.ub), np.asarray(result.solution.y), line

    def _bound(self, X: Examples, y: Double, d: Double, l1: Double) -> float:
        """The value of the dual point, scaled into its rows; what rounding leaves of the equality is priced."""
        if self.fit_intercept:
            # Sum 0 by scaling the side that is too large.
            above, below = float(d[d > 0].sum()), -float(d[d < 0].sum())
            if above > 0 and below > 0:
                d = np.where(d > 0, d * min(1.0, below / above), d * min(1.0, above / below))
        asked = np.abs(np.asarray(X.T @ d).ravel())
        if (l1 == 0).all():
            # Without a penalty the rows are equalities, which hold up to rounding.
            scale = sizes_of_entries(X).T @ np.abs(d)
            return float(y @ d) if (asked <= 1e-9 * np.maximum(scale, 1e-300) + 1e-9).all() else -np.inf
        factor = float(np.min(np.where(asked > l1, l1 / np.maximum(asked, 1e-300), 1.0), initial=1.0))
        return factor * float(y @ d)

    def _backend(self) -> tuple[str, dict[str, Any]]:
        given = dict(self.solver_options or {})
        methods = {"auto": {}, "highs": {}, "highs-ds": {"solver": "simplex"}, "highs-ipm": {"solver": "ipm"}}
        if self.solver in methods:
            return "highs", {**methods[self.solver], **given}
        return self.solver, given

    def predict(self, X: MatrixLike) -> Double:
        """Values of the rows.

        Parameters
        ----------
        X
            Rows.
        """
        return np.asarray(self._scores(X)[:, 0])


def _dual_program(X: Examples, y: Double, lower: Double, upper: Double, l1: Double, has_intercept: bool) -> Program:
    rows = [sparse.csr_array(X).T]
    bounds = l1
    if has_intercept:
        rows.append(sparse.csr_array(np.ones((1, len(y)))))
        bounds = np.append(l1, 0.0)
    return Program(q=-y, A=sparse.vstack(rows, format="csr"), l=-bounds, u=bounds, lb=lower, ub=upper)


def _pinball(errors: Double, weight: Double, quantile: float) -> float:
    return float(weight @ np.maximum(quantile * errors, (quantile - 1.0) * errors))


def _weighted_quantile(values: Double, weight: Double, quantile: float) -> float:
    """A minimiser of the weighted pinball loss of a constant."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order]) / float(weight.sum())
    return float(values[order[min(int(np.searchsorted(reached, quantile)), len(values) - 1)]])
