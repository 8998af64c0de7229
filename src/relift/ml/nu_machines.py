"""Machines whose parameter is a share of the examples: one-class, nu-SVC and nu-SVR, lifted.

Equal examples are merged (exactly), the kernel between distinct ones is held in memory, and the dual is solved by
:mod:`relift.ml.nu_dual` with a proved gap. In the optimum of nu-SVC the margin r is free: dividing by it gives the
coefficients of an SVC with C = 1 / r, which is how LIBSVM and scikit-learn report it.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from relift.arrays import Cells, Double, Examples, MatrixLike, is_sparse
from relift.ml import compiled
from relift.ml.grouping import RowGroups, group_rows
from relift.ml.kernels import Kernel
from relift.ml.machine import KernelView, number_for_gamma, warn_if_open
from relift.ml.nu_dual import LARGEST_KERNEL, NuAnswer, NuDual, solve_nu_dual
from relift.ml.pairs import pairs_of
from relift.ml.svc import LiftedSVC, checked_weights
from relift.ml.validation import (
    ClassWeight,
    KernelInput,
    RandomState,
    label_weights,
    labels_and_codes,
    read_examples,
    validate_data,
)  # fmt: skip

if TYPE_CHECKING:
    pass

_CONSTRAINTS: dict[str, list[object]] = {
    "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid", "precomputed"}), callable],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "tol_gap": [Interval(Real, 0.0, None, closed="neither")],
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "verbose": ["verbose"],
    "device": [str, None],
}


def _distinct(kernel: Kernel, X: Examples) -> RowGroups:
    if kernel == "precomputed":
        own = np.arange(X.shape[0], dtype=np.int32)
        return RowGroups(own, own)
    return group_rows(X)


def _kernel(view: KernelView, X: Examples, first: Cells) -> Double:
    """The kernel between distinct examples, in double precision."""
    if len(first) > LARGEST_KERNEL:
        raise ValueError(
            f"{len(first):,} distinct examples: this machine holds their kernel matrix in memory, for up to "
            f"{LARGEST_KERNEL:,}. Train on a sample."
        )
    points = X[first]
    if view.is_pointwise and not is_sparse(points):  # symmetric to the last bit
        placed = np.ascontiguousarray(points if view.shift is None else points - view.shift)
        return compiled.kernel_values(placed, placed, view.name, *view.parameters)
    if view.kernel == "precomputed":
        K = points[:, first]
        K = np.array(K.toarray() if is_sparse(K) else K, dtype=np.float64, order="C")
    else:
        K = np.array(view.function()(points, points), dtype=np.float64, order="C")
    for begin in range(0, len(K), 1024):  # block by block: a second matrix of this size may not fit
        rows, columns = K[begin : begin + 1024, begin:], K[begin:, begin : begin + 1024].T
        middle = 0.5 * (rows + columns)
        rows[...], columns[...] = middle, middle
    return K


class _NuMachine(KernelInput, BaseEstimator):
    """What the machines with a single decision function share."""

    def _prepare(self, X: Examples, weights: Double) -> tuple[RowGroups, Cells, Double]:
        """Distinct examples among those with weight, and their kernel."""
        self._gamma = number_for_gamma(self.gamma, X)
        self._view = KernelView(self.kernel, self._gamma, self.coef0, self.degree, X, self.device)
        members = np.flatnonzero(weights > 0)
        groups = _distinct(self.kernel, X[np.ix_(members, members)] if self.kernel == "precomputed" else X[members])
        return groups, members, _kernel(self._view, X, members[groups.first])

    def _finish(
        self, X: Examples, answer: NuAnswer, beta: Double, intercept: float, groups: RowGroups, scale: float
    ) -> None:
        self.support_ = np.flatnonzero(beta).astype(np.int32)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[self.support_]
        self.dual_coef_ = beta[self.support_][None, :]
        self.intercept_ = np.array([intercept])
        self.n_iter_ = int(answer.iterations)
        self.gap_ = answer.gap
        self.fit_status_, self.shape_fit_ = int(self.gap_ > self.tol_gap), X.shape
        self.n_classes_lifted_ = groups.size
        self.lift_report_ = [
            {"examples": int(X.shape[0]), "distinct": groups.size, "gap": answer.gap, "dual_value": answer.dual_value,
             "steps": answer.iterations, "margin": scale}
        ]  # fmt: skip
        if self.verbose:
            print(f"[{type(self).__name__}] {self.lift_report_[0]}", flush=True)
        warn_if_open(self.gap_, self.tol_gap, type(self).__name__)

    @property
    def coef_(self) -> Any:
        """Weights of the features; for ``kernel="linear"`` only."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        return np.asarray(self.support_vectors_.T @ self.dual_coef_[0]).reshape(1, -1)

    def _values(self, X: MatrixLike) -> Double:
        check_is_fitted(self)
        X = validate_data(
            self, X, dtype=(np.float64,), order="C", accept_sparse="csr", accept_large_sparse=False, reset=False
        )
        values = self._view.sums(X, self.support_vectors_, self.dual_coef_[0], self.support_)
        return np.asarray(values + self.intercept_[0])


def _spread(beta: Double, groups: RowGroups, members: Cells, bound: Double, size: int) -> Double:
    """Coefficients of all examples: those of a distinct one are shared in proportion to the bounds of its members."""
    found = np.zeros(size)
    found[members] = (beta / groups.total(bound[members]))[groups.labels] * bound[members]
    return found


class LiftedOneClassSVM(OutlierMixin, _NuMachine):
    """Support of a distribution, with at most a share ``nu`` of the examples outside, and a proved gap.

    Takes the place of ``sklearn.svm.OneClassSVM``. Equal examples are merged; the kernel matrix of the distinct ones
    (up to 20,000) is held in memory.

    Parameters
    ----------
    kernel, degree, gamma, coef0, nu
        As in ``OneClassSVM``.
    tol
        Largest violation of optimality, as in ``OneClassSVM``.
    tol_gap
        Relative duality gap to reach; the tolerance is lowered as far as it takes.
    shrinking, cache_size
        Accepted as in ``OneClassSVM``; the kernel matrix is always kept, so neither changes anything.
    max_iter
        Steps; -1 for no limit.
    verbose
        Print a line.
    device
        A PyTorch device, such as ``"cuda"``, that computes the kernel values of predictions; None for the CPU.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, offset_, n_iter_, n_features_in_, feature_names_in_
        As in ``OneClassSVM``.
    gap_, n_classes_lifted_, lift_report_
        The proved relative gap; distinct examples; sizes and steps.

    Examples
    --------
    >>> X = np.repeat([[0.0], [0.1], [0.2], [5.0]], [10, 10, 10, 1], axis=0)
    >>> model = LiftedOneClassSVM(nu=0.1, gamma=1.0).fit(X)
    >>> model.n_classes_lifted_, model.predict([[0.1], [9.0]]).tolist()
    (4, [1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = dict(_CONSTRAINTS)

    def __init__(
        self,
        *,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        tol_gap: float = 1e-2,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        device: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.tol_gap = tol_gap
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.device = device

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> LiftedOneClassSVM:
        """Fit the machine.

        Parameters
        ----------
        X
            Examples, dense or sparse; for ``kernel="precomputed"`` the square kernel matrix.
        y
            Not used.
        sample_weight
            Weights of the examples; not negative.

        Returns
        -------
        LiftedOneClassSVM
            This estimator.
        """
        X = read_examples(self, X)
        weights = checked_weights(sample_weight, X)
        groups, members, K = self._prepare(X, weights)
        u, size = groups.total(weights[members]), groups.size
        own, nothing = np.arange(size, dtype=np.int32), np.zeros(size)
        total = np.array([self.nu * float(u.sum())])
        dual = NuDual(K, own, np.ones(size), np.zeros(size, dtype=np.int32), nothing, u, total)
        answer = solve_nu_dual(dual, _scaled(self.tol, K, total), self.max_iter, self.tol_gap)
        beta = _spread(answer.beta, groups, members, weights, X.shape[0])
        self._finish(X, answer, beta, float(answer.duals[0]), groups, float(-answer.duals[0]))
        self.offset_ = -self.intercept_
        return self

    def decision_function(self, X: MatrixLike) -> Double:
        """Signed distance from the border: positive inside.

        Parameters
        ----------
        X
            Examples.
        """
        return self._values(X)

    def score_samples(self, X: MatrixLike) -> Double:
        """The decision function without its offset.

        Parameters
        ----------
        X
            Examples.
        """
        return np.asarray(self._values(X) + self.offset_[0])

    def predict(self, X: MatrixLike) -> NDArray[np.int64]:
        """1 for examples inside, -1 for others.

        Parameters
        ----------
        X
            Examples.
        """
        return np.where(self._values(X) >= 0, 1, -1)


def _scaled(tol: float, K: Double, totals: Double) -> float:
    """The tolerance for slopes, which grow with the sums of the groups (LIBSVM's are those of totals near 1)."""
    return float(tol) * max(1e-12, min(1.0, float(np.abs(K).max(initial=1.0)) * float(totals.max(initial=1.0))))


class LiftedNuSVR(RegressorMixin, _NuMachine):
    """Support vector regression with a share ``nu`` of examples outside of a tube that is found, and a proved gap.

    Takes the place of ``sklearn.svm.NuSVR``. Examples with equal features and equal target are merged.

    Parameters
    ----------
    nu, C, kernel, degree, gamma, coef0
        As in ``NuSVR``.
    tol, tol_gap, shrinking, cache_size, verbose, max_iter, device
        As in :class:`~relift.ml.LiftedOneClassSVM`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in ``NuSVR``.
    epsilon_
        Half the width of the tube.
    gap_, n_classes_lifted_, lift_report_
        As in :class:`~relift.ml.LiftedOneClassSVM`.

    Examples
    --------
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = LiftedNuSVR(C=10.0, gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.99, model.gap_ < 0.01
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "C": [Interval(Real, 0.0, None, closed="right")],
        **_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        tol_gap: float = 1e-2,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        device: str | None = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.tol_gap = tol_gap
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.device = device

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedNuSVR:
        """Fit the machine.

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
        LiftedNuSVR
            This estimator.
        """
        X, y = read_examples(self, X, y, y_numeric=True)
        weights = checked_weights(sample_weight, X)
        y = np.asarray(y, dtype=np.float64)
        groups, members, K = self._prepare(X, weights)
        target, bound = y[members], self.C * weights
        pairs = group_rows(np.column_stack([groups.labels.astype(np.float64), target]))
        u = pairs.total(bound[members])
        example, p = groups.labels[pairs.first], target[pairs.first]
        size, ones = pairs.size, np.ones(pairs.size)
        half = 0.5 * self.nu * float(bound.sum())
        dual = NuDual(
            K, np.concatenate([example, example]), np.concatenate([ones, -ones]),
            np.repeat(np.array([0, 1], dtype=np.int32), size), np.concatenate([p, -p]), np.concatenate([u, u]),
            np.array([half, half]),
        )  # fmt: skip
        answer = solve_nu_dual(dual, float(self.tol), self.max_iter, self.tol_gap)
        beta = _spread(answer.a[:size] - answer.a[size:], pairs, members, bound, X.shape[0])
        up, down = answer.duals
        self._finish(X, answer, beta, 0.5 * float(up - down), pairs, 1.0)
        self.epsilon_ = 0.5 * float(up + down)
        return self

    def predict(self, X: MatrixLike) -> Double:
        """The value of each example.

        Parameters
        ----------
        X
            Examples.
        """
        return self._values(X)


class LiftedNuSVC(LiftedSVC):
    """Support vector classifier with a share ``nu`` of margin errors, and a proved gap.

    Takes the place of ``sklearn.svm.NuSVC``. Equal examples of one label are merged; the kernel matrix of the distinct
    ones of each pair of labels (up to 20,000) is held in memory.

    Parameters
    ----------
    nu, kernel, degree, gamma, coef0, decision_function_shape, break_ties
        As in ``NuSVC``.
    class_weight
        None, a mapping or ``"balanced"``: multiplies the weights of examples (scikit-learn's NuSVC ignores it).
    probability, random_state
        As in :class:`~relift.ml.LiftedSVC`.
    tol, tol_gap, shrinking, cache_size, verbose, max_iter, device
        As in :class:`~relift.ml.LiftedOneClassSVM`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in ``NuSVC``.
    gap_, n_classes_lifted_, lift_report_
        As in :class:`~relift.ml.LiftedOneClassSVM`, with one entry for each pair of labels.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = LiftedNuSVC(nu=0.2, gamma=2.0).fit(X, y)
    >>> model.gap_ <= 0.01, model.score(X, y) > 0.95
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "probability": ["boolean"],
        "random_state": ["random_state"],
        **_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        tol_gap: float = 1e-2,
        cache_size: float = 200,
        class_weight: ClassWeight = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: RandomState = 0,
        device: str | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.tol_gap = tol_gap
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.device = device

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedNuSVC:
        """Fit the classifier.

        Parameters
        ----------
        X
            Examples, dense or sparse; for ``kernel="precomputed"`` the square kernel matrix.
        y
            Labels of any type.
        sample_weight
            Weights of the examples; not negative.

        Returns
        -------
        LiftedNuSVC
            This estimator.

        Raises
        ------
        ValueError
            If ``nu`` is larger than the rarer label of a pair allows.
        """
        X, y = read_examples(self, X, y)
        weights = checked_weights(sample_weight, X)
        self.classes_, codes = labels_and_codes(y)
        if len(np.unique(codes[weights > 0])) < len(self.classes_):
            raise ValueError("Invalid input - all samples with positive weights belong to the same class.")
        self.class_weight_ = label_weights(self.class_weight, self.classes_, y)
        bound = self.class_weight_[codes] * weights
        self._gamma = number_for_gamma(self.gamma, X)
        self._view = KernelView(self.kernel, self._gamma, self.coef0, self.degree, X, self.device)
        n_labels = len(self.classes_)
        pairs = pairs_of(n_labels)
        coefficients = np.zeros((n_labels, X.shape[0]))
        self.intercept_ = np.zeros(len(pairs))
        self.n_iter_ = np.zeros(len(pairs), dtype=np.int32)
        self.lift_report_ = []
        self._landmarks = [None] * len(pairs)
        for number, (i, j) in enumerate(pairs):
            positive, negative = (j, i) if n_labels == 2 else (i, j)
            members = np.flatnonzero(((codes == i) | (codes == j)) & (bound > 0))
            beta, intercept, line = self._pair_machine(X, codes[members] == positive, members, bound)
            other = np.where(codes[members] == positive, negative, positive)
            coefficients[other, members] = beta
            self.intercept_[number], self.n_iter_[number] = intercept, line["steps"]
            self.lift_report_.append({"pair": (self.classes_[negative], self.classes_[positive]), **line})
        self._keep_support(X, codes, coefficients)
        self.gap_ = max(report["gap"] for report in self.lift_report_)
        self.fit_status_, self.shape_fit_ = int(self.gap_ > self.tol_gap), X.shape
        self.n_classes_lifted_ = sum(report["distinct"] for report in self.lift_report_)
        if self.verbose:
            print(f"[LiftedNuSVC] {self.lift_report_}", flush=True)
        warn_if_open(self.gap_, self.tol_gap, type(self).__name__)
        if self.probability:
            self._fit_probabilities(X, codes, weights)
        return self

    def _pair_machine(
        self, X: Examples, is_positive: NDArray[np.bool_], members: Cells, bound: Double
    ) -> tuple[Double, float, dict[str, Any]]:
        """Coefficients of the members of a pair, the intercept, and what to report; divided by the margin."""
        examples = X[np.ix_(members, members)] if self.kernel == "precomputed" else X[members]
        groups = _distinct(self.kernel, examples)
        both = group_rows(np.column_stack([groups.labels, is_positive]))
        K = _kernel(self._view, X, members[groups.first])
        u = both.total(bound[members])
        is_up = is_positive[both.first]
        half = 0.5 * self.nu * float(u.sum())
        if half > (1.0 + 1e-12) * min(float(u[is_up].sum()), float(u[~is_up].sum())):
            raise ValueError(
                f"specified nu is infeasible: nu={self.nu:g} needs more weight of the rarer label than there is."
            )
        dual = NuDual(
            K, groups.labels[both.first], np.where(is_up, 1.0, -1.0), (~is_up).astype(np.int32), np.zeros(both.size), u,
            np.array([half, half]),
        )  # fmt: skip
        answer = solve_nu_dual(dual, _scaled(self.tol, K, dual.totals), self.max_iter, self.tol_gap)
        up, down = answer.duals
        margin = -0.5 * float(up + down)
        if not margin > 0:
            raise ValueError("the margin of this nu is 0: the labels overlap entirely. Choose a larger nu.")
        signed = np.where(is_up, answer.a, -answer.a) / margin
        share = np.divide(signed, u, out=np.zeros_like(signed), where=u > 0)
        line = {
            "examples": len(members), "distinct": both.size, "gap": answer.gap, "dual_value": answer.dual_value,
            "steps": answer.iterations, "margin": margin,
        }  # fmt: skip
        return share[both.labels] * bound[members], 0.5 * float(up - down) / margin, line
