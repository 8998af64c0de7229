r"""A whole grid of gamma and C for the price of a few fits: :class:`LiftedSVCCV`.

What a grid search over an RBF machine repeats need not be repeated. Clusters of examples depend on neither gamma nor
C, landmarks on gamma alone. A fold takes its held-out examples out of the sums of its classes, so that the kernel
between classes of the training part is exact for the features and knows nothing of the held-out ones. Values of C
start from the solution of the one before, which scaled by the ratio of the two is feasible; folds and gammas start
from their neighbours.

Only which parameters win is decided by these small duals. The winner is fitted by :class:`~relift.ml.LiftedSVC` with
its proved gap.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from relift.ml import compiled
from relift.ml.dual import DualProblem, class_totals, cluster_by_side
from relift.ml.kernels import PointKernel
from relift.ml.landmarks import Landmarks, choose_landmarks, padded
from relift.ml.machine import KernelView
from relift.ml.small_dual import balanced, best_bias
from relift.ml.svc import LIFT_CONSTRAINTS, LiftedSVC, checked_weights, options_of
from relift.ml.validation import validate_data

Double = NDArray[np.float64]
Single = NDArray[np.float32]
Index = NDArray[np.int64]
Split = tuple[Index, Index]


N_LANDMARKS = 160
"""Landmarks at most for the kernel between classes while searching."""

SEARCH_LIMIT = 0.2
"""As SPREAD_LIMIT for a fit; looser, since only the order of the parameters counts."""


class LiftedSVCCV(ClassifierMixin, BaseEstimator):
    """RBF support vector classifier with gamma and C chosen by cross-validation on lifted machines.

    Does what ``GridSearchCV(SVC(), {"C": Cs, "gamma": gammas}, cv=cv)`` does, in a small part of its time; the chosen
    machine is a :class:`~relift.ml.LiftedSVC` with its proved gap. With more than two labels, or few or sparse
    examples, the grid is searched by plain fits of LiftedSVC.

    Parameters
    ----------
    gammas
        Values of gamma to try, numbers.
    Cs
        Values of C to try.
    cv
        Number of folds, splitter or iterable of splits, as in ``GridSearchCV``.
    lift, n_classes, n_landmarks, tol_gap, solver, tol, class_weight, decision_function_shape, max_blocks, expansion, \
random_state
        As in :class:`~relift.ml.LiftedSVC`, for the last fit; ``n_classes``, ``n_landmarks`` and ``random_state`` also
        for the search.

    Attributes
    ----------
    best_params_, best_score_, best_index_, cv_results_
        As in ``GridSearchCV``; parameters in the same order, ties go to the first.
    best_estimator_
        The machine fitted to all examples.
    classes_, n_features_in_, feature_names_in_, gap_
        Those of the best estimator.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(1200, noise=0.25, random_state=0)
    >>> search = LiftedSVCCV(gammas=[0.01, 2.0], Cs=[1.0], cv=3).fit(X, y)
    >>> search.best_params_, search.gap_ <= 0.01
    ({'C': 1.0, 'gamma': 2.0}, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gammas": ["array-like"],
        "Cs": ["array-like"],
        "cv": ["cv_object"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        **LIFT_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        gammas: Any = (0.25, 0.5, 1.0, 2.0, 4.0),
        Cs: Any = (0.5, 1.0, 2.0),
        cv: Any = 5,
        lift: str = "approximate",
        n_classes: int | None = None,
        n_landmarks: int | None = None,
        tol_gap: float = 1e-2,
        solver: str = "smo",
        tol: float = 1e-3,
        class_weight: Any = None,
        decision_function_shape: str = "ovr",
        max_blocks: int = 2000,
        expansion: str = "auto",
        random_state: Any = 0,
    ) -> None:
        self.gammas = gammas
        self.Cs = Cs
        self.cv = cv
        self.lift = lift
        self.n_classes = n_classes
        self.n_landmarks = n_landmarks
        self.tol_gap = tol_gap
        self.solver = solver
        self.tol = tol
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.max_blocks = max_blocks
        self.expansion = expansion
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LiftedSVCCV:
        """Search the grid, then fit the best parameters to all examples.

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
        LiftedSVCCV
            This estimator.
        """
        X, y = validate_data(self, X, y, dtype=(np.float64,), order="C", accept_sparse="csr", accept_large_sparse=False)
        check_classification_targets(y)
        weights = checked_weights(sample_weight, X)
        gammas = _positive("gammas", self.gammas, zero=True)
        Cs = _positive("Cs", self.Cs, zero=False)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(self.classes_)} class")
        options = options_of(self, X.shape[0])
        splits = [(train, test) for train, test in check_cv(self.cv, y, classifier=True).split(X, y)]
        view = KernelView("rbf", max(gammas), 0.0, 3, X)
        is_quick = len(self.classes_) == 2 and view.is_single and min(np.bincount(codes)) > 4 * options.n_classes
        if is_quick and self.lift == "approximate":
            balance = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            search = _Search(view.single(X), np.where(codes == 1, 1.0, -1.0), balance[codes] * weights, options)
            scores = search.run(gammas, Cs, splits)
        else:
            scores = self._plain_scores(X, y, weights, gammas, Cs, splits)
        self._keep(scores, gammas, Cs)
        self.best_estimator_ = self._machine(**self.best_params_).fit(X, y, weights)
        self.gap_ = self.best_estimator_.gap_
        return self

    def _machine(self, C: float, gamma: float) -> LiftedSVC:
        names = LiftedSVC._parameter_constraints
        given = {key: value for key, value in self.get_params(deep=False).items() if key in names}
        return LiftedSVC(C=C, gamma=gamma, **given)

    def _plain_scores(
        self, X: Any, y: Any, weights: Double, gammas: list[float], Cs: list[float], splits: list[Split]
    ) -> Double:
        scores = np.empty((len(Cs), len(gammas), len(splits)))
        for i, C in enumerate(Cs):
            for j, gamma in enumerate(gammas):
                machine = self._machine(C, gamma)
                if len(np.unique(weights)) == 1:
                    scores[i, j] = cross_val_score(machine, X, y, cv=splits)
                else:
                    for number, (train, test) in enumerate(splits):
                        machine.fit(X[train], y[train], weights[train])
                        scores[i, j, number] = machine.score(X[test], y[test])
        return scores

    def _keep(self, scores: Double, gammas: list[float], Cs: list[float]) -> None:
        """The results in the words and order of GridSearchCV."""
        flat = scores.reshape(len(Cs) * len(gammas), -1)
        parameters = [{"C": C, "gamma": gamma} for C in Cs for gamma in gammas]
        mean = flat.mean(axis=1)
        self.cv_results_ = {
            "params": parameters,
            "param_C": np.array([p["C"] for p in parameters]),
            "param_gamma": np.array([p["gamma"] for p in parameters]),
            **{f"split{k}_test_score": flat[:, k] for k in range(flat.shape[1])},
            "mean_test_score": mean,
            "std_test_score": flat.std(axis=1),
            "rank_test_score": np.array([1 + int((mean > value).sum()) for value in mean], dtype=np.int32),
        }
        self.best_index_ = int(np.argmax(mean))
        self.best_score_ = float(mean[self.best_index_])
        self.best_params_ = parameters[self.best_index_]

    def decision_function(self, X: Any) -> Double:
        """Decision values of the best estimator.

        Parameters
        ----------
        X
            Examples.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, dtype=(np.float64,), order="C", accept_sparse="csr", accept_large_sparse=False, reset=False
        )
        return np.asarray(self.best_estimator_.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels by the best estimator.

        Parameters
        ----------
        X
            Examples.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, dtype=(np.float64,), order="C", accept_sparse="csr", accept_large_sparse=False, reset=False
        )
        return np.asarray(self.best_estimator_.predict(X))


def _positive(name: str, values: Any, *, zero: bool) -> list[float]:
    numbers = [float(value) for value in np.ravel(np.asarray(values, dtype=np.float64))]
    if not numbers or any(not np.isfinite(n) or n < 0 or (n == 0 and not zero) for n in numbers):
        raise ValueError(f"{name} must be a list of positive numbers; got {values!r}.")
    return numbers


class _Search:
    """The grid on two labels and dense points."""

    def __init__(self, points: Single, sign: Double, weights: Double, options: Any) -> None:
        self.points, self.sign, self.weights, self.options = points, sign, weights, options
        lo, hi = np.where(sign < 0, -weights, 0.0), np.where(sign > 0, weights, 0.0)
        problem = DualProblem(PointKernel(points, "rbf", 1.0, 0.0, 3), sign, lo, hi, points)
        # Without refinement the classes have to be finer than a fit would start from.
        self.labels = cluster_by_side(problem, points, 2 * options.n_classes, options.seed)
        self.n_classes = int(self.labels.max()) + 1
        self.side = np.zeros(self.n_classes)
        self.side[self.labels] = sign

    def run(self, gammas: list[float], Cs: list[float], splits: list[Split]) -> Double:
        scores = np.empty((len(Cs), len(gammas), len(splits)))
        order = np.argsort(Cs)
        everything = np.arange(len(self.sign))
        total = class_totals(self.labels, self.weights, self.n_classes)
        start = np.zeros(self.n_classes)
        for j, gamma in enumerate(gammas):
            source = PointKernel(self.points, "rbf", gamma, 0.0, 3)
            random = np.random.default_rng(self.options.seed)
            n_landmarks = min(N_LANDMARKS, self.options.n_landmarks)
            landmarks = choose_landmarks(source, random, n_landmarks, sample=400)
            sums = source.class_sums(everything, landmarks.index, self.weights, self.labels, self.n_classes)
            z = landmarks.features(sums / np.maximum(total, 1e-300)[:, None])
            spread = 1.0 - float((total * (z**2).sum(axis=1)).sum()) / float(total.sum())
            if spread <= SEARCH_LIMIT:
                for k, split in enumerate(splits):
                    scores[order, j, k], start = self._by_classes(source, landmarks, sums, total, split, Cs, start)
            else:
                more = choose_landmarks(source, random, self.options.n_landmarks, sample=500)
                self._by_features(source, more, Cs, splits, scores[:, j])
        return scores

    def _by_classes(
        self,
        source: PointKernel,
        landmarks: Landmarks,
        sums: Double,
        total: Double,
        split: Split,
        Cs: list[float],
        start: Double,
    ) -> tuple[list[float], Double]:
        """Accuracies of one split, C ascending; and the solution of the smallest C, divided by it."""
        train, test = split
        is_held = np.ones(len(self.sign), dtype=bool)
        is_held[train] = False
        held = np.flatnonzero(is_held)
        weight = total - np.bincount(self.labels[held], self.weights[held], self.n_classes)
        weight[weight < 1e-9 * total] = 0.0
        rows = sums - source.class_sums(held, landmarks.index, self.weights[held], self.labels[held], self.n_classes)
        used = np.flatnonzero(weight)
        z = landmarks.features((rows[used] / weight[used, None]).astype(np.float32))
        K = z @ z.T
        c, bound = self.side[used], weight[used]
        low, high = np.where(c < 0, -bound, 0.0), np.where(c > 0, bound, 0.0)
        accuracies, first, before = [], None, None
        coefficients, biases = [], []
        for C in sorted(Cs):
            if before is None:
                point = balanced(np.clip(start[used], low, high)) * C
            else:
                point = before[0] * (C / before[1])
            beta = point.astype(np.float32)
            lo, hi = (C * low).astype(np.float32), (C * high).astype(np.float32)
            np.clip(beta, lo, hi, out=beta)
            v = (c - K @ beta).astype(np.float32)
            compiled.smo(K, lo, hi, beta, v, self.options.tolerance, 20_000)
            before = (beta.astype(np.float64), C)
            if first is None:
                first = np.zeros(self.n_classes)
                first[used] = before[0] / C
            coefficients.append(landmarks.coefficients((beta @ z).astype(np.float64)))
            biases.append(best_bias(v.astype(np.float64), C * low, C * high))
        values = source.single_block(test, landmarks.index) @ np.array(coefficients, dtype=np.float32).T
        truth = self.sign[test] > 0
        accuracies = [float(((values[:, k] + biases[k] > 0) == truth).mean()) for k in range(len(Cs))]
        assert first is not None
        return accuracies, first

    def _by_features(
        self, source: PointKernel, landmarks: Landmarks, Cs: list[float], splits: list[Split], scores: Double
    ) -> None:
        """Every example a class: K ~ ZZ' + what each example has of its own."""
        rows = source.single_block(np.arange(len(self.sign)), landmarks.index)
        features = landmarks.features(rows)
        rest = np.maximum(1.0 - np.einsum("ij,ij->i", features, features), 0.0)
        Z = padded(features, 1)
        Z[:, features.shape[1]] = 1.0
        c = self.sign.astype(np.float32)
        order = np.argsort(Cs)
        unit = self.weights.astype(np.float32)
        for k, (train, test) in enumerate(splits):
            moving = train[self.weights[train] > 0].astype(np.int32)
            beta, w = np.zeros(len(c), dtype=np.float32), np.zeros(Z.shape[1], dtype=np.float32)
            before = None
            part = Z[test]
            for position in order:
                C = np.float32(Cs[position])
                if before is not None:
                    beta *= C / before
                    w *= C / before
                before = C
                lo, hi = (
                    np.where(c < 0, -C * unit, 0).astype(np.float32),
                    np.where(c > 0, C * unit, 0).astype(np.float32),
                )
                np.clip(beta, lo, hi, out=beta)
                compiled.coordinate_ascent(Z, rest, c, lo, hi, moving, beta, w, 0.05, 12, self.options.seed)
                scores[position, k] = float(((part @ w > 0) == (c[test] > 0)).mean())
