"""Support vector classification, lifted: :class:`LiftedSVC`."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from relift.arrays import Cells, Double, Examples, Integers, MatrixLike, is_sparse
from relift.ml.dual_problem import DualAnswer, LiftOptions
from relift.ml.kernels import Kernel
from relift.ml.machine import KernelView, number_for_gamma, warn_if_open
from relift.ml.pairs import PairsAnswer, decisions_of, pairs_of, solve_pairs, winners_of
from relift.ml.platt import FOLDS, coupled, fit_sigmoid
from relift.ml.validation import (
    ClassWeight,
    KernelInput,
    NamedParameters,
    RandomState,
    label_weights,
    labels_and_codes,
    read_examples,
    validate_data,
)

_FLOATS = (np.float64,)


def options_of(estimator: Any, n_examples: int) -> LiftOptions:
    """The options of the lifting from the parameters of an estimator."""
    n_classes = estimator.n_classes
    if n_classes is not None and n_classes > n_examples:
        raise ValueError(f"n_samples={n_examples} should be >= n_classes={n_classes}.")
    is_exact = estimator.lift != "approximate"
    cache_size = getattr(estimator, "cache_size", None)
    return LiftOptions(
        n_classes=None if n_classes is None or is_exact else int(n_classes),
        n_landmarks=256 if estimator.n_landmarks is None else int(estimator.n_landmarks),
        tol_gap=1e-4 if is_exact else float(estimator.tol_gap),
        solver=estimator.solver,
        tolerance=float(estimator.tol) * (0.1 if is_exact else 1.0),
        max_steps=int(getattr(estimator, "max_iter", -1)),
        expansion=estimator.expansion if not is_exact else "support",
        cache_bytes=None if cache_size is None else int(1e6 * cache_size),
        lift_is_exact=is_exact,
        seed=_seed(estimator.random_state),
    )


def _seed(random_state: RandomState | Integral) -> int:
    if isinstance(random_state, Integral):
        return int(random_state) % 2**31
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(np.random.default_rng(random_state).integers(2**31))


def _report(answer: DualAnswer) -> dict[str, Any]:
    return {
        "gap": answer.gap,
        "dual_value": answer.dual_value,
        "primal_value": answer.primal_value,
        "scale": answer.scale,
        "expansion": "support" if answer.landmarks is None else "landmarks",
        "rounds": answer.rounds,
    }


LIFT_CONSTRAINTS: dict[str, list[object]] = {
    "lift": [StrOptions({"approximate", "exact", "none"})],
    "n_classes": [Interval(Integral, 1, None, closed="left"), None],
    "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
    "tol_gap": [Interval(Real, 0.0, None, closed="neither")],
    "solver": [str],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "expansion": [StrOptions({"auto", "support", "landmarks"})],
    "random_state": ["random_state"],
}

LIBSVM_CONSTRAINTS: dict[str, list[object]] = {
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0.0, None, closed="neither"), None],
    "verbose": ["verbose"],
    "device": [str, None],
}
"""Parameters of LIBSVM that SVC and SVR pass on, and where kernels are computed."""


def checked_weights(sample_weight: ArrayLike | None, X: Examples) -> Double:
    """Weights of the examples: ones if not given; negative ones are refused."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    if not (weights > 0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return weights


def tell_fit(estimator: Any, report: dict[str, Any]) -> None:
    """Print what a fit came to, if the estimator is to tell."""
    if estimator.verbose:
        shown = ", ".join(f"{name} {value}" for name, value in report.items() if name != "rounds")
        print(f"[{type(estimator).__name__}] {shown}", flush=True)


def _has_probability(estimator: Any) -> bool:
    if not estimator.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class LiftedSVC(NamedParameters, KernelInput, ClassifierMixin, BaseEstimator):
    r"""Support vector classifier that solves its dual by classes of examples, up to a proved gap.

    Takes the place of ``sklearn.svm.SVC`` (parameters and fitted attributes have the same names). Equal examples are
    merged; the dual is solved over the distinct ones, by sequential minimal optimisation with cached kernel rows. Many
    examples with few features are first solved by clusters of each label, which are split where they violate
    optimality. It ends when the relative duality gap of the dual over all examples, computed with the true kernel, is
    below ``tol_gap``.

    Parameters
    ----------
    C
        Price of an error.
    kernel
        ``"rbf"``, ``"poly"``, ``"linear"``, ``"sigmoid"``, ``"precomputed"`` or a callable of two lists of points.
        With a kernel that is not positive semidefinite (sigmoid, some callables) the gap proves nothing.
    degree, gamma, coef0
        Parameters of the kernel, as in ``SVC``; ``gamma="scale"`` does not count weights of examples either.
    lift
        ``"approximate"``; ``"exact"`` merges duplicates and, up to 3000 distinct examples, the counting partition of
        the labelled kernel, and solves to ``tol``; ``"none"`` merges nothing.
    n_classes
        Clusters for each label to start from. If None, 100 where clusters are used: from 8,000 distinct examples with
        at most 12 features on.
    n_landmarks
        Landmarks for the kernel between classes; 256 if None.
    tol_gap
        Relative duality gap to reach when approximate. At 0.01 test errors are those of SVC within noise.
    solver
        Of the small dual: ``"smo"``, ``"cutting_plane"``, ``"sgd"`` or a backend such as ``"clarabel"``.
    tol
        Tolerance of the optimality conditions, as in ``SVC``; a tenth of it when exact, ten times it for classes.
    class_weight
        As in ``SVC``: None, a mapping or ``"balanced"``.
    decision_function_shape, break_ties
        As in ``SVC``.
    max_iter
        Steps over the examples at most, for each pair of labels; -1 means no limit. A fit that is ended by it warns.
    expansion
        What the decision function is made of: ``"support"`` vectors, as in SVC; ``"landmarks"``, a few hundred points
        whose combination has the proved gap and predicts much quicker; ``"auto"`` takes landmarks when there are more
        than 2.5e8 pairs of examples and support vectors.
    random_state
        Seed of the samples that are drawn; fits are repeatable for a given number.
    probability
        Whether to fit probabilities as ``SVC(probability=True)`` does: Platt's sigmoids on decision values of a 5-fold
        cross-validation, which takes five more fits for each pair of labels.
    cache_size
        Megabytes for kernel rows; None for as much as pays: the whole kernel of up to 20,000 distinct examples.
    shrinking
        Accepted as in ``SVC``: whether bounded variables are set aside is left to the solver, and changes no answer.
    verbose
        Print a line for each pair of labels.
    device
        A PyTorch device, such as ``"cuda"``, that computes the kernel values of predictions; None for the CPU.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in ``SVC``.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, class_weight_, shape_fit_
        As in ``SVC``; ``dual_coef_`` is always dense.
    fit_status_
        0, or 1 if the gap that was asked for is not reached.
    gap_
        The proved relative duality gap; of several pairs of labels the largest.
    n_classes_lifted_
        Classes of examples at the end, over all pairs of labels.
    class_of_sample_
        The class of each example; with more than two labels one column for each pair, -1 where it takes no part.
    lift_report_
        For each pair of labels: classes, gap, both values, and the rounds.
    probA_, probB_
        Slopes and offsets of the sigmoids, if ``probability``.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(600, noise=0.2, random_state=0)
    >>> model = LiftedSVC(gamma=2.0).fit(X, y)
    >>> model.gap_ <= 0.01, model.score(X, y) > 0.95
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid", "precomputed"}), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "probability": ["boolean"],
        **LIFT_CONSTRAINTS,
        **LIBSVM_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        lift: str = "approximate",
        n_classes: int | None = None,
        n_landmarks: int | None = None,
        tol_gap: float = 1e-2,
        solver: str = "smo",
        tol: float = 1e-3,
        class_weight: ClassWeight = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        max_iter: int = -1,
        expansion: str = "auto",
        random_state: RandomState = 0,
        probability: bool = False,
        cache_size: float | None = None,
        shrinking: bool = True,
        verbose: bool = False,
        device: str | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.lift = lift
        self.n_classes = n_classes
        self.n_landmarks = n_landmarks
        self.tol_gap = tol_gap
        self.solver = solver
        self.tol = tol
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.max_iter = max_iter
        self.expansion = expansion
        self.random_state = random_state
        self.probability = probability
        self.cache_size = cache_size
        self.shrinking = shrinking
        self.verbose = verbose
        self.device = device

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedSVC:
        """Fit the classifier.

        Parameters
        ----------
        X
            Examples, dense or sparse; for ``kernel="precomputed"`` the square kernel matrix.
        y
            Labels of any type.
        sample_weight
            Weights that multiply C for each example; not negative.

        Returns
        -------
        LiftedSVC
            This estimator.
        """
        X, y = read_examples(self, X, y, dtype=_FLOATS)
        weights = checked_weights(sample_weight, X)
        self.classes_, codes = labels_and_codes(y)
        if sample_weight is not None and len(np.unique(codes[weights > 0])) < 2:
            raise ValueError("Invalid input - all samples with positive weights belong to the same class.")
        bound = self.C * weights
        self.class_weight_ = np.ones(len(self.classes_))
        if self.class_weight is not None:
            self.class_weight_ = label_weights(self.class_weight, self.classes_, y)
            bound *= self.class_weight_[codes]
        options = options_of(self, X.shape[0])
        self._gamma = number_for_gamma(self.gamma, X)
        there = X if sample_weight is None or self.kernel == "precomputed" else X[weights > 0]
        self._view = KernelView(self.kernel, self._gamma, self.coef0, self.degree, there, self.device)
        n_labels = len(self.classes_)
        found = solve_pairs(self._view, X, codes, n_labels, bound, self.lift, options)
        self._keep_answers(found, X)
        self._keep_support(X, codes, found.coefficients)
        self.gap_ = max(report["gap"] for report in self.lift_report_)
        self.fit_status_, self.shape_fit_ = int(self.gap_ > options.tol_gap), X.shape
        warn_if_open(self.gap_, options.tol_gap, type(self).__name__)
        if self.probability:
            self._fit_probabilities(X, codes, bound / self.C)
        return self

    def _keep_answers(self, found: PairsAnswer, X: Examples) -> None:
        """Intercepts, classes and reports of the pairs of labels."""
        answers, n_labels = found.answers, len(self.classes_)
        self.intercept_ = np.array([answer.bias for answer in answers])
        self.n_iter_ = np.array([answer.iterations for answer in answers], dtype=np.int32)
        self._landmarks: list[tuple[Any, Double] | None] = [None] * len(answers)
        self.lift_report_: list[dict[str, Any]] = []
        self.n_classes_lifted_ = 0
        for number, (i, j) in enumerate(pairs_of(n_labels)):
            answer, distinct = answers[number], found.distinct[number]
            if answer.landmarks is not None and answer.coefficients is not None:
                self._landmarks[number] = (X[distinct[answer.landmarks]], answer.coefficients)
            n_classes = int(answer.labels.max()) + 1
            self.n_classes_lifted_ += n_classes
            self.lift_report_.append(
                {
                    "pair": (self.classes_[i], self.classes_[j])
                    if n_labels == 2
                    else (self.classes_[j], self.classes_[i]),
                    "examples": found.n_members[number],
                    "distinct": len(answer.labels),
                    "classes": n_classes,
                    **_report(answer),
                }
            )
            tell_fit(self, self.lift_report_[-1])
        self._classes = found.classes

    @property
    def class_of_sample_(self) -> NDArray[np.int64]:
        """The class of each example; with more than two labels one column for each pair, -1 where it takes no part."""
        check_is_fitted(self)
        table = self._classes.table()
        return table[:, 0] if table.shape[1] == 1 else table

    def _fit_probabilities(self, X: Examples, codes: Integers, weights: Double) -> None:
        """One sigmoid for each pair of labels, fitted to decision values of examples that were held out."""
        pairs = pairs_of(len(self.classes_))
        self.probA_, self.probB_ = np.zeros(len(pairs)), np.zeros(len(pairs))
        random = np.random.default_rng(
            None if isinstance(self.random_state, np.random.RandomState) else self.random_state
        )
        for number, (i, j) in enumerate(pairs):
            positive = j if len(self.classes_) == 2 else i
            members = np.flatnonzero(((codes == i) | (codes == j)) & (weights > 0))
            is_positive = codes[members] == positive
            values = np.zeros(len(members))
            for held_out in np.array_split(random.permutation(len(members)), min(FOLDS, len(members))):
                kept = np.setdiff1d(np.arange(len(members)), held_out)
                values[held_out] = self._held_out_values(
                    X, members[kept], members[held_out], is_positive[kept], weights
                )
            self.probA_[number], self.probB_[number] = fit_sigmoid(values, is_positive, np.ones(len(values)))

    def _held_out_values(
        self, X: Examples, kept: Cells, held_out: Cells, is_positive: NDArray[np.bool_], weights: Double
    ) -> Double:
        """Decision values of a fit without some examples; as LIBSVM, the label itself if only one is left."""
        if not is_positive.any() or is_positive.all():
            return np.full(len(held_out), 0.0 if not len(is_positive) else 1.0 if is_positive.all() else -1.0)
        model = clone(self).set_params(probability=False, class_weight=None, verbose=False, gamma=self._gamma)
        if "n_classes" in model.get_params() and model.n_classes is not None:
            model.set_params(n_classes=min(model.n_classes, len(kept)))
        is_matrix = self.kernel == "precomputed"
        model.fit(X[np.ix_(kept, kept)] if is_matrix else X[kept], is_positive, weights[kept])
        return np.asarray(model.decision_function(X[np.ix_(held_out, kept)] if is_matrix else X[held_out]))

    @available_if(lambda self: _has_probability(self))
    def predict_proba(self, X: MatrixLike) -> Double:
        """Probabilities of the labels, in the order of ``classes_``; with ``probability=True`` only.

        Parameters
        ----------
        X
            Examples; for a precomputed kernel the matrix between them and the training examples.
        """
        check_is_fitted(self, "probA_")
        first = np.clip(expit(-(self._values(X) * self.probA_ + self.probB_)), 1e-7, 1.0 - 1e-7)
        n_labels = len(self.classes_)
        if n_labels == 2:
            return np.column_stack([1.0 - first[:, 0], first[:, 0]])
        pairwise = np.zeros((len(first), n_labels, n_labels))
        for number, (i, j) in enumerate(pairs_of(n_labels)):
            pairwise[:, i, j], pairwise[:, j, i] = first[:, number], 1.0 - first[:, number]
        return coupled(pairwise)

    @available_if(lambda self: _has_probability(self))
    def predict_log_proba(self, X: MatrixLike) -> Double:
        """Logarithms of the probabilities; with ``probability=True`` only.

        Parameters
        ----------
        X
            Examples.
        """
        return np.asarray(np.log(self.predict_proba(X)))

    def _keep_support(self, X: Examples, codes: Integers, coefficients: Double) -> None:
        """Support vectors sorted by label, and libsvm's layout of their coefficients."""
        n_labels = len(self.classes_)
        is_support = (coefficients != 0).any(axis=0)
        support = np.flatnonzero(is_support)
        support = support[np.argsort(codes[support], kind="stable")]
        labels = codes[support]
        self.support_ = support.astype(np.int32)
        self.n_support_ = np.bincount(labels, minlength=n_labels).astype(np.int32)
        self.support_vectors_ = X[:0] if self.kernel == "precomputed" else X[support]
        if self.kernel == "precomputed":
            self.support_vectors_ = np.empty((0, 0))
        # Row r of label i is its coefficient against label r (r < i) or r + 1 (r >= i).
        self.dual_coef_ = np.zeros((n_labels - 1, len(support)))
        for row in range(n_labels - 1):
            against = np.where(labels > row, row, row + 1)
            self.dual_coef_[row] = coefficients[against, support]
        self._support_labels = labels

    @property
    def coef_(self) -> Any:
        """Weights of the features, one row for each pair of labels; for ``kernel="linear"`` only."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        rows = []
        for number in range(len(self.intercept_)):
            if self._landmarks[number] is not None:
                points, weights = self._landmarks[number]  # type: ignore[misc]
            else:
                columns, weights = self._pair(number)
                points = self.support_vectors_[columns]
            rows.append(np.asarray(points.T @ weights).ravel())
        return np.stack(rows)

    def _pair(self, number: int) -> tuple[Cells, Double]:
        """Positions of the support vectors of a pair of labels, and their coefficients."""
        n_labels = len(self.classes_)
        i, j = pairs_of(n_labels)[number]
        of_i, of_j = np.flatnonzero(self._support_labels == i), np.flatnonzero(self._support_labels == j)
        columns = np.concatenate([of_i, of_j])
        weights = np.concatenate([self.dual_coef_[j - 1, of_i], self.dual_coef_[i, of_j]])
        return columns[weights != 0], weights[weights != 0]

    def _values(self, X: MatrixLike) -> Double:
        """Decision values, one column for each pair of labels, signs as in SVC's one-vs-one."""
        check_is_fitted(self)
        X = validate_data(
            self, X, dtype=_FLOATS, order="C", accept_sparse="csr", accept_large_sparse=False, reset=False
        )
        if len(self.classes_) > 2 and self._view.has_values and not any(self._landmarks):
            return self._values_by_label(X)
        out = np.empty((X.shape[0], len(self.intercept_)))
        for number in range(len(self.intercept_)):
            landmarks = self._landmarks[number]
            if landmarks is not None and self.kernel != "precomputed":
                values = self._view.sums(X, landmarks[0], landmarks[1])
            else:
                columns, weights = self._pair(number)
                support = None if self.kernel == "precomputed" else self.support_vectors_[columns]
                values = self._view.sums(X, support, weights, self.support_[columns])
            out[:, number] = values + self.intercept_[number]
        return out

    def _values_by_label(self, X: Examples) -> Double:
        """The same with one kernel value for each example and support vector, whatever the number of pairs."""
        n_labels, n_support = len(self.classes_), len(self.support_)
        out = np.tile(self.intercept_, (X.shape[0], 1))
        if self._view.is_on_device and not is_sparse(X):
            weights = np.zeros((n_support, len(self.intercept_)))
            for number in range(len(self.intercept_)):
                columns, of_pair = self._pair(number)
                weights[columns, number] = of_pair
            return np.asarray(out + self._view.sums(X, self.support_vectors_, weights))
        ends = np.cumsum(self.n_support_)
        of_labels = [slice(int(end - count), int(end)) for end, count in zip(ends, self.n_support_, strict=True)]
        size = max(1, (1 << 21) // max(1, n_support))
        for begin in range(0, X.shape[0], size):
            K = self._view.values(X[begin : begin + size], self.support_vectors_)
            # Coefficients may be as large as C: products of single precision kernels are added up in double precision.
            parts = [K[:, at].astype(np.float64, copy=False) @ self.dual_coef_[:, at].T for at in of_labels]
            for number, (i, j) in enumerate(pairs_of(n_labels)):
                out[begin : begin + size, number] += parts[i][:, j - 1] + parts[j][:, i]
        return out

    def decision_function(self, X: MatrixLike) -> Double:
        """Signed distances from the margin, in the shape of SVC's.

        Parameters
        ----------
        X
            Examples; for a precomputed kernel the matrix between them and the training examples.

        Returns
        -------
        numpy.ndarray
            One value for each example with two labels; otherwise a column for each label
            (``decision_function_shape="ovr"``) or each pair of labels (``"ovo"``).
        """
        return decisions_of(self._values(X), len(self.classes_), self.decision_function_shape)

    def predict(self, X: MatrixLike) -> Cells:
        """The label of each example.

        Parameters
        ----------
        X
            Examples; for a precomputed kernel the matrix between them and the training examples.
        """
        check_is_fitted(self)
        n_labels = len(self.classes_)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        values = self._values(X)
        if self.break_ties and n_labels > 2:
            return np.asarray(self.classes_[decisions_of(values, n_labels, "ovr").argmax(axis=1)])
        return np.asarray(self.classes_[winners_of(values, n_labels)])
