r"""Support vector regression, lifted: :class:`LiftedSVR`.

The dual of epsilon-insensitive regression has two variables for each example, one pulling the function up and one down:

.. math:: \max\; \sum_i (z_i - \varepsilon)\beta_i^+ + (z_i + \varepsilon)\beta_i^- - \tfrac12\beta^\top K\beta,\quad
   0 \le \beta^+ \le C,\; -C \le \beta^- \le 0,\; \beta = \beta^+ + \beta^-,\; \textstyle\sum\beta_i = 0,

that is beta in [-C, C] with a price of epsilon for its absolute value: the form of :mod:`relift.ml.dual_problem`.
Classes join examples near in features and target.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from relift.arrays import Double, MatrixLike, is_sparse
from relift.ml.dual_problem import LiftOptions
from relift.ml.kernels import Kernel
from relift.ml.machine import KernelView, number_for_gamma, solve_machine, spread_over_members, warn_if_open
from relift.ml.svc import LIBSVM_CONSTRAINTS, LIFT_CONSTRAINTS, checked_weights, options_of, tell_fit
from relift.ml.validation import KernelInput, RandomState, read_examples, validate_data


def _scaled(options: LiftOptions, target: Double) -> LiftOptions:
    """Slopes are in the units of the target: what they may differ by follows its spread."""
    spread = float(target.std()) if len(target) else 0.0
    return replace(options, tolerance=options.tolerance * spread) if spread > 0 else options


class LiftedSVR(KernelInput, RegressorMixin, BaseEstimator):
    """Epsilon-insensitive support vector regression that solves its dual by classes, up to a proved gap.

    Takes the place of ``sklearn.svm.SVR``. See :class:`~relift.ml.LiftedSVC` for what is lifted and proved.

    Parameters
    ----------
    kernel, degree, gamma, coef0, C
        As in ``SVR``.
    epsilon
        Errors up to this cost nothing.
    lift, n_classes, n_landmarks, tol_gap, solver, tol, max_iter, expansion, random_state, cache_size
        As in :class:`~relift.ml.LiftedSVC`.
    shrinking, verbose, device
        As in :class:`~relift.ml.LiftedSVC`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, shape_fit_, n_features_in_, \
feature_names_in_
        As in ``SVR``.
    fit_status_
        0, or 1 if the gap that was asked for is not reached.
    gap_, n_classes_lifted_, class_of_sample_, lift_report_
        As in :class:`~relift.ml.LiftedSVC`; the class of an example is that of its upward variable.

    Examples
    --------
    >>> X = np.linspace(0, 6, 400)[:, None]
    >>> model = LiftedSVR(C=10.0, gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> model.gap_ <= 0.01, round(model.score(X, np.sin(X[:, 0])), 2)
    (True, 0.99)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid", "precomputed"}), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        **LIFT_CONSTRAINTS,
        **LIBSVM_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        epsilon: float = 0.1,
        lift: str = "approximate",
        n_classes: int | None = None,
        n_landmarks: int | None = None,
        tol_gap: float = 1e-2,
        solver: str = "smo",
        tol: float = 1e-3,
        max_iter: int = -1,
        expansion: str = "auto",
        random_state: RandomState = 0,
        cache_size: float | None = None,
        shrinking: bool = True,
        verbose: bool = False,
        device: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.C = C
        self.epsilon = epsilon
        self.lift = lift
        self.n_classes = n_classes
        self.n_landmarks = n_landmarks
        self.tol_gap = tol_gap
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.expansion = expansion
        self.random_state = random_state
        self.cache_size = cache_size
        self.shrinking = shrinking
        self.verbose = verbose
        self.device = device

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedSVR:
        """Fit the regressor.

        Parameters
        ----------
        X
            Examples, dense or sparse; for ``kernel="precomputed"`` the square kernel matrix.
        y
            Targets.
        sample_weight
            Weights that multiply C for each example; not negative.

        Returns
        -------
        LiftedSVR
            This estimator.
        """
        X, y = read_examples(self, X, y, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        weights = checked_weights(sample_weight, X)
        options = options_of(self, X.shape[0])
        self._gamma = number_for_gamma(self.gamma, X)
        there = X if sample_weight is None or self.kernel == "precomputed" else X[weights > 0]
        self._view = KernelView(self.kernel, self._gamma, self.coef0, self.degree, there, self.device)
        members = np.flatnonzero(weights > 0)
        bound, target = self.C * weights[members], y[members]
        examples = X[np.ix_(members, members)] if self.kernel == "precomputed" else X[members]
        answer, merged = solve_machine(
            self._view, examples, target, -bound, bound, self.lift, _scaled(options, target),
            self._places(examples, target), self.epsilon,
        )  # fmt: skip
        beta = np.zeros(X.shape[0])
        beta[members] = spread_over_members(answer.beta, merged, bound)
        self.support_ = np.flatnonzero(beta).astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[self.support_]
        self.dual_coef_ = beta[self.support_][None, :]
        self.intercept_ = np.array([answer.bias])
        self.n_iter_ = int(answer.iterations)
        self.gap_ = answer.gap
        self.fit_status_, self.shape_fit_ = int(self.gap_ > options.tol_gap), X.shape
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.n_classes_lifted_ = int(answer.labels.max()) + 1
        self.class_of_sample_ = np.full(X.shape[0], -1, dtype=np.int64)
        self.class_of_sample_[members] = answer.labels[merged.labels]
        self._landmarks = None
        if answer.landmarks is not None and answer.coefficients is not None:
            self._landmarks = (examples[merged.first[answer.landmarks]], answer.coefficients)
        self.lift_report_ = [
            {
                "examples": len(members),
                "distinct": len(merged.first),
                "classes": self.n_classes_lifted_,
                "gap": answer.gap,
                "dual_value": answer.dual_value,
                "primal_value": answer.primal_value,
                "scale": answer.scale,
                "expansion": "support" if answer.landmarks is None else "landmarks",
                "rounds": answer.rounds,
            }
        ]
        tell_fit(self, self.lift_report_[0])
        warn_if_open(self.gap_, options.tol_gap, type(self).__name__)
        return self

    def _places(self, examples: Any, target: Double) -> NDArray[np.float32] | None:
        """Features and target side by side, of comparable size; None where features are not coordinates."""
        if self.kernel == "precomputed" or is_sparse(examples):
            return None
        middle, spread = examples.mean(axis=0), float(examples.std()) or 1.0
        height = float(target.std()) or 1.0
        columns = np.column_stack([(examples - middle) / spread, (target - target.mean()) / height])
        return np.ascontiguousarray(columns, dtype=np.float32)

    @property
    def coef_(self) -> Any:
        """Weights of the features; for ``kernel="linear"`` only."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        points, weights = self._landmarks or (self.support_vectors_, self.dual_coef_[0])
        return np.asarray(points.T @ weights).reshape(1, -1)

    def predict(self, X: MatrixLike) -> Double:
        """The value of each example.

        Parameters
        ----------
        X
            Examples; for a precomputed kernel the matrix between them and the training examples.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, dtype=(np.float64,), order="C", accept_sparse="csr", accept_large_sparse=False, reset=False
        )
        if self._landmarks is not None and self.kernel != "precomputed":
            values = self._view.sums(X, *self._landmarks)
        else:
            values = self._view.sums(X, self.support_vectors_, self.dual_coef_[0], self.support_)
        return np.asarray(values + self.intercept_[0])
