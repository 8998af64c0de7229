r"""Support vector machines that are linear programs: :class:`LPSVC`, solved by :func:`relift.solve`.

.. math:: \min_{w,b,\xi}\; \|w\| + \sum_i C_i\xi_i \quad\text{subject to}\quad y_i(w^\top x_i + b) \ge 1 -
   \xi_i,\; \xi \ge 0,

with the norm :math:`\|w\|_1` (sparse weights) or :math:`\|w\|_\infty` (the LP-SVM of relational linear programming;
dividing by the margin turns it into maximising the margin with :math:`-1 \le w \le 1`). Both are linear programs, and
relift lifts them directly: examples that no sum tells apart become one row, features one column.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from relift.arrays import Cells, Double, Examples, MatrixLike
from relift.errors import BackendError
from relift.ml.merging import merge_equal
from relift.ml.svc import checked_weights
from relift.ml.validation import ClassWeight, SparseInput, label_weights, read_examples, validate_data
from relift.pipeline import solve
from relift.program.program import Program
from relift.result import Result

if TYPE_CHECKING:
    pass


class LPSVC(SparseInput, ClassifierMixin, BaseEstimator):
    """Linear classifier by a linear program, lifted exactly.

    Parameters
    ----------
    C
        Price of an error.
    penalty
        ``"linf"`` (largest weight) or ``"l1"`` (sum of absolute weights).
    lift
        ``"equitable"``, ``"counting"``, ``"orbits"`` or ``"none"``, see :func:`relift.lift`.
    backend
        Solver of the linear program, see :func:`relift.solve`.
    tolerance
        Largest relative residual of an optimal answer.
    class_weight
        None, a mapping or ``"balanced"``.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in ``LinearSVC``; with several labels one row for each label against the rest.
    gap_
        Largest relative residual of the certificates on the ground programs.
    n_classes_lifted_
        Classes of examples, all programs together.
    class_of_sample_
        The class of each example; one column for each of several labels, -1 for weight 0.
    lift_report_
        For each program its sizes before and after, objective and status.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]]
    >>> model = LPSVC(C=10.0).fit(X, [0, 0, 1, 1])
    >>> model.predict([[1.0, 0.5], [2.0, 0.5]]).tolist()
    [0, 1]
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "penalty": [StrOptions({"linf", "l1"})],
        "lift": [StrOptions({"equitable", "counting", "orbits", "none"})],
        "backend": [str],
        "tolerance": [Interval(Real, 0.0, 1.0, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        penalty: str = "linf",
        lift: str = "equitable",
        backend: str = "auto",
        tolerance: float = 1e-6,
        class_weight: ClassWeight = None,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.lift = lift
        self.backend = backend
        self.tolerance = tolerance
        self.class_weight = class_weight

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LPSVC:
        """Fit the classifier.

        Parameters
        ----------
        X
            Examples, dense or sparse.
        y
            Labels of any type.
        sample_weight
            Weights that multiply C for each example; not negative.

        Returns
        -------
        LPSVC
            This estimator.

        Raises
        ------
        relift.errors.BackendError
            If the solver does not reach a certified optimum.
        """
        X, y = read_examples(self, X, y, order=None)
        check_classification_targets(y)
        weights = checked_weights(sample_weight, X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(self.classes_)} class")
        balance = label_weights(self.class_weight, self.classes_, y)
        bound = self.C * balance[codes] * weights
        members = np.flatnonzero(bound > 0)
        merged = merge_equal(X[members], [codes[members]])
        first = members[merged.first]
        price = merged.total(bound[members])
        targets = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        self.coef_ = np.zeros((len(targets), X.shape[1]))
        self.intercept_ = np.zeros(len(targets))
        self.lift_report_: list[dict[str, Any]] = []
        class_of_sample = np.full((X.shape[0], len(targets)), -1, dtype=np.int64)
        self.gap_, self.n_classes_lifted_ = 0.0, 0
        for row, target in enumerate(targets):
            sign = np.where(codes[first] == target, 1.0, -1.0)
            result = self._solve(X[first], sign, price)
            x = np.asarray(result.x)
            n_features = X.shape[1]
            self.coef_[row], self.intercept_[row] = x[:n_features], x[n_features]
            # Slack variable i belongs to example i: its class is the example's; substituted ones stay alone.
            slack = result.lifting.class_of_variable[n_features + 1 : n_features + 1 + len(first)]
            labels = np.unique(np.where(slack < 0, -1 - np.arange(len(first)), slack), return_inverse=True)[1]
            class_of_sample[members, row] = labels[merged.labels] + self.n_classes_lifted_
            self.n_classes_lifted_ += int(labels.max()) + 1
            self.gap_ = max(self.gap_, float(result.certificate.worst_residual))
            self.lift_report_.append(
                {
                    "label": self.classes_[target],
                    "variables": (result.lifting.program.n_variables, result.lifting.small.n_variables),
                    "rows": (result.lifting.program.n_rows, result.lifting.small.n_rows),
                    "objective": float(result.objective),
                    "status": str(result.status),
                    "backend": result.solution.backend,
                }
            )
        self.class_of_sample_ = class_of_sample[:, 0] if len(targets) == 1 else class_of_sample
        return self

    def _solve(self, points: Examples, sign: Double, price: Double) -> Result:
        program = lp_program(points, sign, price, self.penalty)
        result = solve(program, lift=self.lift, backend=self.backend, tolerance=self.tolerance)  # type: ignore[arg-type]
        if result.solution.x is None or str(result.status) not in ("optimal", "optimal_inaccurate"):
            raise BackendError(f"LPSVC: the linear program ended with status {result.status}.")
        return result

    def decision_function(self, X: MatrixLike) -> Double:
        """Signed distances from the margin: one value for each example, or one column for each of several labels.

        Parameters
        ----------
        X
            Examples.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=(np.float64,), accept_sparse="csr", accept_large_sparse=False, reset=False)
        values = np.asarray(X @ self.coef_.T) + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: MatrixLike) -> Cells:
        """The label of each example.

        Parameters
        ----------
        X
            Examples.
        """
        values = self.decision_function(X)
        codes = (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[codes])


def lp_program(points: Examples, sign: Double, price: Double, penalty: str) -> Program:
    """The linear program; variables are w, b, one slack for each example, then what the norm needs.

    Examples
    --------
    >>> lp_program(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.ones(2), "linf")
    Program(LP, min, 5 variables, 4 rows, 10 nonzeros)
    """
    n_examples, n_features = points.shape
    by_sign = sparse.diags_array(sign)
    identity = sparse.eye_array(n_features)
    if penalty == "linf":
        sizes, n_sizes = sparse.csr_array(np.ones((n_features, 1))), 1
    else:
        sizes, n_sizes = identity, n_features
    margins = [by_sign @ sparse.csr_array(points), sparse.csr_array(sign[:, None]), sparse.eye_array(n_examples), None]
    above = [-identity, None, None, sizes]
    below = [identity, None, None, sizes]
    A = sparse.block_array([margins, above, below], format="csc")
    free = np.full(n_features + 1, -np.inf)
    return Program(
        q=np.concatenate([np.zeros(n_features + 1), price, np.ones(n_sizes)]),
        A=A,
        l=np.concatenate([np.ones(n_examples), np.zeros(2 * n_features)]),
        lb=np.concatenate([free, np.zeros(n_examples + n_sizes)]),
    )
