r"""Linear support vector classification, lifted: :class:`LiftedLinearSVC`.

As in ``sklearn.svm.LinearSVC`` the intercept is the weight of a constant feature, so that the dual has a box and
nothing else, and several labels are told apart one against the rest. With squared hinge loss the box is unbounded
above and each variable has a curvature of its own, :math:`1 / (2 C_i)`:

.. math:: \max\; \textstyle\sum\alpha_i - \tfrac12\|w\|^2 - \tfrac14\sum\alpha_i^2/C_i, \qquad w = \sum_i
   y_i\alpha_i x_i .

A class of equal (or near) examples has the mean of its members as its example and the sum of their bounds. The proved
gap compares both sides on all examples, in one product with X.
"""

from __future__ import annotations

from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from relift.arrays import Cells, Codes, Double, Examples, MatrixLike, is_sparse
from relift.ml import compiled
from relift.ml.landmarks import padded
from relift.ml.linear_dual import FEATURES_LIMIT, MOST_ENTRIES, interior_points
from relift.ml.machine import warn_if_open
from relift.ml.merging import Merged, merge_equal
from relift.ml.svc import checked_weights, tell_fit
from relift.ml.validation import (
    ClassWeight,
    RandomState,
    SparseInput,
    label_weights,
    labels_and_codes,
    read_examples,
    validate_data,
)  # fmt: skip

PATIENCE = 100
"""Passes of coordinate ascent after which the interior point method is tried."""

NO_PATIENCE = 10**9


class LiftedLinearSVC(SparseInput, ClassifierMixin, BaseEstimator):
    """Linear support vector classifier that solves its dual by classes of examples, up to a proved gap.

    Takes the place of ``sklearn.svm.LinearSVC(dual=True)``. Equal examples are always merged; with
    ``lift="approximate"`` also near ones, and classes are split where they violate optimality until the relative
    duality gap on all examples is at most ``tol_gap``.

    Parameters
    ----------
    C
        Price of an error.
    loss
        ``"squared_hinge"`` or ``"hinge"``.
    lift
        ``"exact"`` (equal examples only), ``"approximate"`` or ``"none"``.
    n_classes
        Clusters for each label to start from when approximate; 100 if None.
    tol_gap
        Relative duality gap to reach.
    fit_intercept, intercept_scaling
        As in ``LinearSVC``: the constant feature has the value ``intercept_scaling``.
    class_weight
        None, a mapping or ``"balanced"``, which counts sample weights as ``LinearSVC`` does.
    max_iter
        Passes of coordinate ascent over the classes and iterations of the interior point method, all together.
    random_state
        Seed of the order of the coordinates.
    penalty
        ``"l2"``. For the 1-norm see :class:`~relift.ml.LPSVC`.
    multi_class
        ``"ovr"``: each label against the rest.
    dual, tol
        Accepted as in ``LinearSVC``: both problems are solved in any case, and ``tol_gap`` says how far.
    verbose
        Print a line for each machine.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_, n_iter_
        As in ``LinearSVC``.
    gap_, n_classes_lifted_, class_of_sample_, lift_report_
        As in :class:`~relift.ml.LiftedSVC`, with one machine for each label against the rest.

    Examples
    --------
    One-hot features: 4000 examples of 20 kinds.

    >>> random = np.random.default_rng(0)
    >>> kinds = random.integers(0, 10, 4000)
    >>> X, y = np.eye(10)[kinds], kinds + random.integers(0, 2, 4000) > 5
    >>> model = LiftedLinearSVC().fit(X, y)
    >>> model.n_classes_lifted_, model.gap_ <= 1e-4
    (11, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "lift": [StrOptions({"approximate", "exact", "none"})],
        "n_classes": [Interval(Integral, 1, None, closed="left"), None],
        "tol_gap": [Interval(Real, 0.0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0.0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "penalty": [StrOptions({"l2"})],
        "multi_class": [StrOptions({"ovr"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "squared_hinge",
        lift: str = "exact",
        n_classes: int | None = None,
        tol_gap: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: ClassWeight = None,
        max_iter: int = 20_000,
        random_state: RandomState = 0,
        penalty: str = "l2",
        multi_class: str = "ovr",
        dual: Any = "auto",
        tol: float = 1e-4,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.lift = lift
        self.n_classes = n_classes
        self.tol_gap = tol_gap
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.random_state = random_state
        self.penalty = penalty
        self.multi_class = multi_class
        self.dual = dual
        self.tol = tol
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedLinearSVC:
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
        LiftedLinearSVC
            This estimator.
        """
        X, y = read_examples(self, X, y)
        weights = checked_weights(sample_weight, X)
        if self.n_classes is not None and self.n_classes > X.shape[0]:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_classes={self.n_classes}.")
        self.classes_, codes = labels_and_codes(y)
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31 - 1)
        self._seed = int(np.random.default_rng(seed).integers(2**31))
        balance = label_weights(self.class_weight, self.classes_, y, weights)
        bound = self.C * balance[codes] * weights
        members = np.flatnonzero(bound > 0)
        if self.lift == "none":
            everything = np.arange(len(members))
            merged = Merged(everything, everything)
        else:
            merged = merge_equal(X[members], [codes[members]])
        first, labels = members[merged.first], merged.labels
        totals = merged.total(bound[members])
        kinds, points = codes[first], X[first]
        targets = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        self.coef_ = np.zeros((len(targets), X.shape[1]))
        self.intercept_ = np.zeros(len(targets))
        self.lift_report_: list[dict[str, Any]] = []
        class_of_sample = np.full((X.shape[0], len(targets)), -1, dtype=np.int64)
        n_before, passes = 0, 0
        for row, target in enumerate(targets):
            machine = _LinearMachine(self, points, np.where(kinds == target, 1.0, -1.0), totals)
            machine.run()
            self.coef_[row], self.intercept_[row] = machine.weights()
            class_of_sample[members, row] = machine.labels[labels] + n_before
            n_before += int(machine.labels.max()) + 1
            passes += machine.passes
            self.lift_report_.append(
                {
                    "label": self.classes_[target],
                    "examples": len(members),
                    "distinct": len(first),
                    "classes": int(machine.labels.max()) + 1,
                    "gap": machine.gap,
                    "dual_value": machine.dual_value,
                    "primal_value": machine.primal_value,
                    "rounds": machine.rounds,
                }
            )
            tell_fit(self, self.lift_report_[-1])
        self.n_iter_ = passes
        self.gap_ = max(report["gap"] for report in self.lift_report_)
        self.n_classes_lifted_ = n_before
        self.class_of_sample_ = class_of_sample[:, 0] if len(targets) == 1 else class_of_sample
        warn_if_open(self.gap_, self.tol_gap, type(self).__name__)
        return self

    def decision_function(self, X: MatrixLike) -> Double:
        """Signed distances from the margin: one value for each example, or one column for each of several labels.

        Parameters
        ----------
        X
            Examples.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, dtype=(np.float64,), order="C", accept_sparse="csr", accept_large_sparse=False, reset=False
        )
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


class _LinearMachine:
    """One label against the rest."""

    def __init__(self, owner: LiftedLinearSVC, points: Examples, sign: Double, bound: Double) -> None:
        self.owner, self.points, self.sign, self.bound = owner, points, sign, bound
        self.is_squared = owner.loss == "squared_hinge"
        self.scale = owner.intercept_scaling if owner.fit_intercept else 0.0
        self.labels: Codes = np.arange(len(sign), dtype=np.int32)
        self.alpha = np.zeros(len(sign))
        self.rounds: list[dict[str, Any]] = []
        self.passes = 0
        self.start = perf_counter()

    def run(self) -> None:
        if self.owner.lift == "approximate":
            self._cluster()
        tolerance, is_tried = 0.1, False
        for _ in range(200):
            self._solve_classes(tolerance)
            g = self._judge()
            n_classes = int(self.labels.max()) + 1
            self.rounds.append(
                {
                    "stage": "classes",
                    "classes": n_classes,
                    "gap": self.gap,
                    "proved": True,
                    "seconds": perf_counter() - self.start,
                }
            )
            if self.gap <= self.owner.tol_gap or self.passes >= self.owner.max_iter:
                return
            if not self._split(g):
                is_slow = n_classes == len(self.sign) or tolerance < 1e-6
                if self.passes >= PATIENCE and is_slow and not is_tried:
                    is_tried = True
                    if self._by_interior_points():
                        return
                tolerance *= 0.2
                if tolerance < 1e-13:
                    return

    def _by_interior_points(self) -> bool:
        """Solve over the examples themselves; coordinate ascent gets slow as C grows, this does not."""
        n, d = self.points.shape
        if d > FEATURES_LIMIT or n * d > MOST_ENTRIES:
            return False
        dense = self.points.toarray() if is_sparse(self.points) else self.points
        A = np.column_stack([dense, np.full(n, self.scale)]) * self.sign[:, None]
        if self.scale == 0.0:
            A = A[:, :-1]
        bound = np.full(n, np.inf) if self.is_squared else self.bound
        extra = 0.5 / self.bound if self.is_squared else np.zeros(n)
        before, best = (self.alpha, self.labels), None
        self.labels = np.arange(n, dtype=np.int32)
        for state in interior_points(A, np.ones(n), bound, extra, np.ones(A.shape[1])):
            self.passes += 1
            for share in (0.0, 1e-2, 1e-4):  # examples near a bound are put on it if the gap allows
                self.alpha = state.alpha if share == 0.0 else state.put_on_bounds(A, share)
                self._judge()
                if best is None or self.gap <= max(best[0], 0.5 * self.owner.tol_gap):
                    best = (self.gap, self.alpha)
                if share == 0.0 and self.gap > self.owner.tol_gap:
                    break
            if best is not None and best[0] <= self.owner.tol_gap:
                break
            if self.passes >= self.owner.max_iter:
                break
        if best is None:
            self.alpha, self.labels = before
            return False
        self.alpha = best[1]
        self._judge()
        self.rounds.append(
            {
                "stage": "interior point",
                "classes": n,
                "gap": self.gap,
                "proved": True,
                "seconds": perf_counter() - self.start,
            }
        )
        return self.gap <= self.owner.tol_gap

    def _cluster(self) -> None:
        n_classes = self.owner.n_classes or 100
        from relift.ml.class_rounds import cluster_by_side
        from relift.ml.dual_problem import DualProblem
        from relift.ml.kernels import FunctionKernel

        points = self.points
        if is_sparse(points):
            # Distances of random projections are near the true ones.
            random = np.random.default_rng(self.owner._seed)
            points = np.asarray(points @ random.normal(size=(points.shape[1], 16)))
        middle = points.mean(axis=0)
        size = float(np.abs(points - middle).max(initial=0.0)) or 1.0
        places = np.ascontiguousarray((points - middle) / size, dtype=np.float32)
        low, high = np.minimum(self.sign, 0.0), np.maximum(self.sign, 0.0)
        problem = DualProblem(FunctionKernel(points, lambda X, Y: np.asarray(X @ Y.T)), self.sign, low, high, places)
        labels = cluster_by_side(problem, places, n_classes, self.owner._seed)
        self.labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)

    def _solve_classes(self, tolerance: float) -> None:
        """Coordinate ascent over the classes; alpha is shared in proportion to the bounds."""
        n_classes = int(self.labels.max()) + 1
        total = np.bincount(self.labels, self.bound, n_classes)
        if n_classes == len(self.sign):
            order = np.argsort(self.labels)
            means, sign = self.points[order], self.sign[order]
        else:
            shares = sparse.csr_array(
                (self.bound / total[self.labels], (self.labels, np.arange(len(self.labels)))),
                shape=(n_classes, len(self.labels)),
            )
            means = shares @ self.points
            sign = np.sign(np.bincount(self.labels, self.sign, n_classes))
        dense = means.toarray() if is_sparse(means) else np.asarray(means)
        Z = padded(dense, 1, np.float64)
        Z[:, dense.shape[1]] = self.scale
        alpha = np.bincount(self.labels, self.alpha, n_classes)
        beta = sign * alpha
        if self.is_squared:
            extra = 0.5 / total
            unbounded = np.full(n_classes, np.inf)
            lo, hi = np.where(sign > 0, 0.0, -unbounded), np.where(sign > 0, unbounded, 0.0)
        else:
            extra = np.zeros(n_classes)
            lo, hi = np.where(sign > 0, 0.0, -total), np.where(sign > 0, total, 0.0)
        w = np.ascontiguousarray(Z.T @ beta)
        order32 = np.arange(n_classes, dtype=np.int32)
        is_first = n_classes == len(self.sign) and self.passes < PATIENCE
        left = max(1, min(self.owner.max_iter - self.passes, PATIENCE if is_first else NO_PATIENCE))
        passes, _ = compiled.coordinate_ascent(
            Z, extra, sign, lo, hi, order32, beta, w, tolerance, left, self.owner._seed
        )
        self.passes += passes
        self.alpha = (sign * beta / total)[self.labels] * self.bound

    def _judge(self) -> Double:
        """Both sides on all examples, in double precision; returns 1 - y f."""
        beta = self.sign * self.alpha
        self.w = np.asarray(self.points.T @ beta).ravel()
        self.b = self.scale * float(beta.sum())
        slack = 1.0 - self.sign * (np.asarray(self.points @ self.w).ravel() + self.scale * self.b)
        square = float(self.w @ self.w) + self.b**2
        loss = np.maximum(slack, 0.0)
        if self.is_squared:
            self.primal_value = 0.5 * square + float(self.bound @ loss**2)
            self.dual_value = float(self.alpha.sum()) - 0.5 * square - 0.25 * float((self.alpha**2 / self.bound).sum())
        else:
            self.primal_value = 0.5 * square + float(self.bound @ loss)
            self.dual_value = float(self.alpha.sum()) - 0.5 * square
        self.gap = max(0.0, self.primal_value - self.dual_value) / max(abs(self.dual_value), 1e-12)
        return slack

    def _split(self, slack: Double) -> bool:
        """Part classes whose members disagree about the side of the margin or, if squared, about their alpha."""
        n_classes = int(self.labels.max()) + 1
        if n_classes == len(self.labels):
            return False
        wish = 2.0 * self.bound * np.maximum(slack, 0.0) if self.is_squared else self.bound * (slack > 0)
        cost = np.abs(wish - self.alpha) * np.abs(
            slack if not self.is_squared else 0.5 * (wish - self.alpha) / self.bound
        )
        by_class = np.bincount(self.labels, cost, n_classes)
        is_split = by_class > 0.1 * self.owner.tol_gap * abs(self.dual_value) / n_classes
        is_moved = is_split[self.labels] & (wish > self.alpha if self.is_squared else slack > 0)
        new = self.labels.astype(np.int64) + n_classes * is_moved
        labels = np.unique(new, return_inverse=True)[1].astype(np.int32)
        changed = int(labels.max()) + 1 > n_classes
        self.labels = labels
        return changed

    def weights(self) -> tuple[Double, float]:
        """Weights of the features, and the intercept."""
        return self.w, self.scale * self.b
