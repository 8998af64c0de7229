r"""A whole grid of gamma and C for the price of a few fits: :class:`LiftedSVCCV`.

Folds and values of C share their kernel rows, and values of C start from one another; see :mod:`relift.ml.fold_search`.
Each machine of the search is solved up to the gap that a fit would have, so that each score is that of such a fit. The
winner is fitted by :class:`~relift.ml.LiftedSVC` with its proved gap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from relift.arrays import Cells, Double, Examples, Indices, Integers, MatrixLike
from relift.ml.dual import uses_classes_for
from relift.ml.dual_machine import default_cache_bytes
from relift.ml.fold_search import FoldSearch, Split
from relift.ml.kernels import Kernel
from relift.ml.machine import KernelView
from relift.ml.pairs import decisions_of, winners_of
from relift.ml.svc import LIFT_CONSTRAINTS, LiftedSVC, checked_weights, options_of
from relift.ml.validation import ClassWeight, RandomState, SparseInput, label_weights, validate_data

Scorer: TypeAlias = Callable[..., float]
"""A scorer of scikit-learn: called with an estimator, examples, labels and perhaps weights."""


class LiftedSVCCV(SparseInput, ClassifierMixin, BaseEstimator):
    """Support vector classifier with gamma and C chosen by cross-validation on machines that share their work.

    Does what ``GridSearchCV(SVC(), {"C": Cs, "gamma": gammas}, cv=cv)`` does, in a small part of its time: every score
    is that of a machine with a proved gap, and the chosen machine is a :class:`~relift.ml.LiftedSVC`. Linear and
    callable kernels, a ``scoring`` that is a function or wants probabilities, and so many examples that classes pay are
    searched by fits of LiftedSVC one by one.

    Parameters
    ----------
    gammas
        Values of gamma to try, numbers; without meaning for ``kernel="linear"``.
    Cs
        Values of C to try.
    cv
        Number of folds, splitter or iterable of splits, as in ``GridSearchCV``.
    kernel, degree, coef0
        As in :class:`~relift.ml.LiftedSVC`.
    scoring
        Name of a score, a function ``(estimator, X, y)``, or None for accuracy, as in ``GridSearchCV``.
    n_jobs
        Kernels that are searched at the same time, in threads; as in ``GridSearchCV``.
    refit
        Whether the best parameters are fitted to all examples; without it nothing can be predicted.
    return_train_score
        Whether ``cv_results_`` has scores of the training examples.
    lift, n_classes, n_landmarks, tol_gap, solver, tol, class_weight, decision_function_shape, max_iter, expansion, \
random_state
        As in :class:`~relift.ml.LiftedSVC`; machines of the search have the same ``tol_gap`` and ``tol``.

    Attributes
    ----------
    best_params_, best_score_, best_index_, cv_results_
        As in ``GridSearchCV``; parameters in the same order, ties go to the first.
    best_estimator_
        The machine fitted to all examples, if ``refit``.
    search_gap_
        The largest proved gap of the machines of the search; None where these were fits one by one.
    classes_, n_features_in_, feature_names_in_, gap_, n_iter_
        Those of the best estimator.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(1200, noise=0.25, random_state=0)
    >>> search = LiftedSVCCV(gammas=[0.01, 2.0], Cs=[1.0], cv=3).fit(X, y)
    >>> search.best_params_, search.gap_ <= 0.01
    ({'C': 1.0, 'gamma': 2.0}, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "gammas": ["array-like"],
        "Cs": ["array-like"],
        "cv": ["cv_object"],
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid"}), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "scoring": [str, callable, None],
        "n_jobs": [Integral, None],
        "refit": ["boolean"],
        "return_train_score": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        **LIFT_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        gammas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0),
        Cs: Sequence[float] = (0.5, 1.0, 2.0),
        cv: Any = 5,
        kernel: Kernel = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        scoring: str | Scorer | None = None,
        n_jobs: int | None = None,
        refit: bool = True,
        return_train_score: bool = False,
        lift: str = "approximate",
        n_classes: int | None = None,
        n_landmarks: int | None = None,
        tol_gap: float = 1e-2,
        solver: str = "smo",
        tol: float = 1e-3,
        class_weight: ClassWeight = None,
        decision_function_shape: str = "ovr",
        max_iter: int = -1,
        expansion: str = "auto",
        random_state: RandomState = 0,
    ) -> None:
        self.gammas = gammas
        self.Cs = Cs
        self.cv = cv
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.return_train_score = return_train_score
        self.lift = lift
        self.n_classes = n_classes
        self.n_landmarks = n_landmarks
        self.tol_gap = tol_gap
        self.solver = solver
        self.tol = tol
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.max_iter = max_iter
        self.expansion = expansion
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LiftedSVCCV:
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
        options_of(self, X.shape[0])  # refuses what it has to
        splits = [
            (np.asarray(train), np.asarray(test)) for train, test in check_cv(self.cv, y, classifier=True).split(X, y)
        ]
        parameters = [{"C": C} for C in Cs] if self.kernel == "linear" else None
        if parameters is None:
            parameters = [{"C": C, "gamma": gamma} for C in Cs for gamma in gammas]
        scorer = check_scoring(LiftedSVC(), self.scoring)
        if self._is_quick(X, scorer):
            test, train = self._shared_scores(X, y, codes, weights, gammas, Cs, splits, scorer)
        else:
            test, train = self._plain_scores(X, y, weights, parameters, splits, scorer)
        self._keep(parameters, test, train)
        if self.refit:
            self.best_estimator_ = self._machine(**self.best_params_).fit(X, y, weights)
            self.gap_ = self.best_estimator_.gap_
            self.n_iter_ = self.best_estimator_.n_iter_
        return self

    def _machine(self, **parameters: float) -> LiftedSVC:
        names = LiftedSVC._parameter_constraints
        given = {key: value for key, value in self.get_params(deep=False).items() if key in names}
        return LiftedSVC(**{**given, **parameters})

    def _is_quick(self, X: Examples, scorer: Scorer) -> bool:
        """Whether folds can share machines: the kernel has rows to share, and the scorer wants what these give."""
        if callable(self.kernel) or self.kernel == "linear" or self.solver != "smo":
            return False
        if self.scoring is not None and not isinstance(scorer, _BaseScorer):
            return False
        wanted = getattr(scorer, "_response_method", "predict")
        if "predict_proba" in ((wanted,) if isinstance(wanted, str) else tuple(wanted))[:1]:
            return False
        source = KernelView(self.kernel, 1.0, 0.0, 3, X).source(X[:1])
        return self.lift != "approximate" or not uses_classes_for(source, X.shape[0], options_of(self, X.shape[0]))

    def _shared_scores(
        self,
        X: Examples,
        y: Cells,
        codes: Integers,
        weights: Double,
        gammas: list[float],
        Cs: list[float],
        splits: list[Split],
        scorer: Scorer,
    ) -> tuple[Double, Double | None]:
        """Scores of machines that share their kernel rows; one kernel after the other, or several at a time."""
        n_labels, options = len(self.classes_), options_of(self, X.shape[0])
        search = FoldSearch(X, codes, n_labels, self.lift, options)
        bounds = [self._balance(y, weights, train) for train, _ in splits]
        test = np.empty((len(Cs), len(gammas), len(splits)))
        train = np.empty_like(test) if self.return_train_score else None
        gaps = np.empty_like(test)

        def search_one(j: int) -> None:
            view = KernelView(self.kernel, gammas[j], self.coef0, self.degree, X)
            for found in search.run(view, Cs, splits, bounds, self.return_train_score):
                at, (members, held) = (found.C_number, j, found.fold), splits[found.fold]
                gaps[at] = found.gap
                test[at] = _scored(self, scorer, found.test, X[held], y[held])
                if train is not None and found.train is not None:
                    train[at] = _scored(self, scorer, found.train, X[members], y[members])

        jobs = min(effective_n_jobs(self.n_jobs), len(gammas))
        if jobs > 1:
            search.share_memory(default_cache_bytes(X.shape[0]) // jobs)
            Parallel(n_jobs=jobs, prefer="threads")(delayed(search_one)(j) for j in range(len(gammas)))
        else:
            for j in range(len(gammas)):
                search_one(j)
        self.search_gap_: float | None = float(gaps.max())
        self._warn_of_open(gaps, search.limits.tol_gap, Cs, gammas)
        flat = (len(Cs) * len(gammas), len(splits))
        return test.reshape(flat), None if train is None else train.reshape(flat)

    def _warn_of_open(self, gaps: Double, tol_gap: float, Cs: list[float], gammas: list[float]) -> None:
        is_open = (gaps > tol_gap).any(axis=2)
        if is_open.any():
            i, j = np.unravel_index(int(gaps.max(axis=2).argmax()), is_open.shape)
            warnings.warn(
                f"LiftedSVCCV: {int(is_open.sum())} of {is_open.size} points of the grid have machines whose proved "
                f"gap is above {tol_gap:.3g}; the worst is {gaps.max():.3g} at C={Cs[i]:g}, gamma={gammas[j]:g}. Their "
                "scores may be off. Raise max_iter or tol_gap, or scale the features.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _balance(self, y: Cells, weights: Double, train: Indices) -> Double:
        """Bounds of training examples for C = 1; as in a fit, class_weight sees the training examples only."""
        part = y[train]
        if self.class_weight is None:
            return np.asarray(weights[train])
        labels, codes = np.unique(part, return_inverse=True)
        given = self.class_weight
        if isinstance(given, dict):
            given = {label: weight for label, weight in given.items() if label in labels}
        return np.asarray(weights[train] * label_weights(given, labels, part)[codes])

    def _plain_scores(
        self,
        X: Examples,
        y: Cells,
        weights: Double,
        parameters: list[dict[str, float]],
        splits: list[Split],
        scorer: Scorer,
    ) -> tuple[Double, Double | None]:
        self.search_gap_ = None

        def fit_one(given: dict[str, float], train: Indices, test: Indices) -> tuple[float, float]:
            machine = self._machine(**given).fit(X[train], y[train], weights[train])
            on_train = scorer(machine, X[train], y[train]) if self.return_train_score else np.nan
            return float(scorer(machine, X[test], y[test])), float(on_train)

        found = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(fit_one)(given, train, test) for given in parameters for train, test in splits
        )
        scores = np.array(found).reshape(len(parameters), len(splits), 2)
        return scores[:, :, 0], scores[:, :, 1] if self.return_train_score else None

    def _keep(self, parameters: list[dict[str, float]], test: Double, train: Double | None) -> None:
        """The results in the words and order of GridSearchCV."""
        mean = test.mean(axis=1)
        self.cv_results_ = {
            "params": parameters,
            **{f"param_{name}": np.array([p[name] for p in parameters]) for name in parameters[0]},
            **{f"split{k}_test_score": test[:, k] for k in range(test.shape[1])},
            "mean_test_score": mean,
            "std_test_score": test.std(axis=1),
            "rank_test_score": np.array([1 + int((mean > value).sum()) for value in mean], dtype=np.int32),
        }
        if train is not None:
            self.cv_results_ |= {f"split{k}_train_score": train[:, k] for k in range(train.shape[1])}
            self.cv_results_ |= {"mean_train_score": train.mean(axis=1), "std_train_score": train.std(axis=1)}
        self.best_index_ = int(np.argmax(mean))
        self.best_score_ = float(mean[self.best_index_])
        self.best_params_ = parameters[self.best_index_]

    def _refitted(self, method: str) -> LiftedSVC:
        check_is_fitted(self, "best_params_")
        if not self.refit:
            raise AttributeError(
                f"This LiftedSVCCV was fitted with refit=False: {method} needs the best parameters fitted to all "
                "examples."
            )
        machine: LiftedSVC = self.best_estimator_
        return machine

    def decision_function(self, X: MatrixLike) -> Double:
        """Decision values of the best estimator.

        Parameters
        ----------
        X
            Examples.
        """
        machine = self._refitted("decision_function")
        X = validate_data(
            self, X, dtype=(np.float64,), order="C", accept_sparse="csr", accept_large_sparse=False, reset=False
        )
        return np.asarray(machine.decision_function(X))

    def predict(self, X: MatrixLike) -> Cells:
        """Labels by the best estimator.

        Parameters
        ----------
        X
            Examples.
        """
        machine = self._refitted("predict")
        X = validate_data(
            self, X, dtype=(np.float64,), order="C", accept_sparse="csr", accept_large_sparse=False, reset=False
        )
        return np.asarray(machine.predict(X))


def _positive(name: str, values: Sequence[float], *, zero: bool) -> list[float]:
    numbers = [float(value) for value in np.ravel(np.asarray(values, dtype=np.float64))]
    if not numbers or any(not np.isfinite(n) or n < 0 or (n == 0 and not zero) for n in numbers):
        raise ValueError(f"{name} must be a list of positive numbers; got {values!r}.")
    return numbers


class _Scored(ClassifierMixin, BaseEstimator):
    """What a scorer sees of a machine of the search: labels and decision values of the examples it asks for."""

    def __init__(self, classes: Cells | None = None, values: Double | None = None, shape: str = "ovr") -> None:
        self.classes, self.values, self.shape = classes, values, shape
        self.classes_ = classes

    def predict(self, X: Examples) -> Cells:
        """The labels of the examples, whatever X is."""
        assert self.classes is not None and self.values is not None and len(self.values) == X.shape[0]  # noqa: PT018
        return np.asarray(self.classes[winners_of(self.values, len(self.classes))])

    def decision_function(self, X: Examples) -> Double:
        """Their decision values."""
        assert self.classes is not None and self.values is not None and len(self.values) == X.shape[0]  # noqa: PT018
        return decisions_of(self.values, len(self.classes), self.shape)


def _scored(owner: LiftedSVCCV, scorer: Scorer, values: Double, X: Examples, y: Cells) -> float:
    return float(scorer(_Scored(owner.classes_, values, owner.decision_function_shape), X, y))
