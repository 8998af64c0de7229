r"""Two Gaussians, and the machines that are compared on them; each searches its whole grid by cross-validation.

The paper's own lifting, :func:`paper_lifted_grid`, is written down as literally as its text allows: 500 anchors by
k-means; the signature of an example is the sorted list of its distances to them; k-means puts similar signatures of one
label into one class; the dual with one variable for each class,

.. math:: \max \sum_c \gamma_c - \tfrac12 \sum_{cd} \gamma_c \gamma_d y_c y_d \bar K_{cd},\quad
          \sum_c y_c \gamma_c = 0,\quad 0 \le \gamma_c \le C n_c,

with :math:`\bar K` the mean kernel between classes, is a weighted SVC on a precomputed kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from relift.arrays import Labels, Matrix, Reals, SparseMatrix, Vector
from relift.ml import LiftedSVCCV

GAMMAS = (0.25, 0.5, 1.0, 2.0, 4.0)
CS = (0.5, 1.0, 2.0)
FOLDS = 5


def two_gaussians(n_features: int, apart: float, n_each: int, seed: int) -> tuple[Matrix, Labels]:
    """Spherical Gaussians of unit variance whose centres differ in the first coordinate.

    Parameters
    ----------
    n_features
        Dimensions.
    apart
        Distance of the centres.
    n_each
        Examples of each label, -1 and 1, in random order.
    seed
        Of the examples.
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((2 * n_each, n_features))
    y = np.repeat([-1, 1], n_each)
    X[:, 0] += y * apart / 2
    order = random.permutation(len(y))
    return X[order], y[order]


def svm_grid(
    X: Matrix, y: Labels, gammas: Sequence[float] = GAMMAS, Cs: Sequence[float] = CS, **fit: object
) -> GridSearchCV:
    """The ground machine: scikit-learn's SVC and grid search."""
    return GridSearchCV(SVC(), {"gamma": list(gammas), "C": list(Cs)}, cv=FOLDS).fit(X, y, **fit)


def lifted_grid(X: Matrix, y: Labels, gammas: Sequence[float] = GAMMAS, Cs: Sequence[float] = CS) -> LiftedSVCCV:
    """The lifted machine of :mod:`relift.ml`, its last fit with a proved gap."""
    search: LiftedSVCCV = LiftedSVCCV(gammas=list(gammas), Cs=list(Cs), cv=FOLDS).fit(X, y)
    return search


def anchor_grid(
    X: Matrix, y: Labels, n_anchors: int = 500, gammas: Sequence[float] = GAMMAS, Cs: Sequence[float] = CS
) -> GridSearchCV:
    """SVC on the anchors alone: the centres of k-means, half of them for each label, all of the same weight."""
    n_each = n_anchors // 2
    anchors = np.concatenate([_centres(X[y == label], n_each) for label in (-1, 1)])
    labels = np.repeat([-1, 1], n_each)
    order = np.random.default_rng(0).permutation(len(labels))
    return svm_grid(anchors[order], labels[order], gammas, Cs)


def _centres(points: Matrix, n_centres: int) -> Matrix:
    return np.asarray(KMeans(n_centres, n_init=1, random_state=0).fit(points).cluster_centers_)


@final
@dataclass(frozen=True, eq=False)
class PaperLifted:
    """The lifted machine as the paper describes it.

    Parameters
    ----------
    X
        Its examples.
    coefficients
        Of each example in the decision function; equal within a class.
    intercept
        Of the decision function.
    best_params_
        Chosen by cross-validation.
    n_classes
        Classes that are not empty.
    """

    X: Matrix
    coefficients: Matrix
    intercept: float
    best_params_: dict[str, float]
    n_classes: int

    def predict(self, points: Matrix) -> Labels:
        """Labels of further points."""
        kernel = np.exp(-self.best_params_["gamma"] * cdist(points, self.X, "sqeuclidean"))
        return np.where(kernel @ self.coefficients + self.intercept > 0, 1, -1)


def paper_lifted_grid(
    X: Matrix, y: Labels, n_anchors: int = 500, gammas: Sequence[float] = GAMMAS, Cs: Sequence[float] = CS
) -> PaperLifted:
    """The paper's lifted machine; as many classes as anchors, half of them for each label.

    Parameters
    ----------
    X, y
        Examples, and labels -1 and 1.
    n_anchors
        Anchors, and classes at most.
    gammas, Cs
        The grid.
    """
    labels = signature_classes(X, y, n_anchors)
    n_classes = int(labels.max()) + 1
    squares = cdist(X, X, "sqeuclidean").astype(np.float32)
    folds = np.empty(len(y), dtype=np.int64)
    for number, (_, held_out) in enumerate(StratifiedKFold(FOLDS).split(X, y)):
        folds[held_out] = number
    # One column for each fold and class, so that a training set adds up the blocks of its folds.
    S = _indicator(folds * n_classes + labels, n_classes * FOLDS)
    counts = S.sum(axis=0).reshape(FOLDS, n_classes)
    sides = np.zeros(n_classes)
    sides[labels] = y
    right = {(C, gamma): 0 for C in Cs for gamma in gammas}
    for gamma in gammas:
        seen = S.T @ np.exp(-np.float32(gamma) * squares)
        between = (S.T @ seen.T).reshape(FOLDS, n_classes, FOLDS, n_classes)
        seen = seen.reshape(FOLDS, n_classes, len(y))
        total = between.sum(axis=2).sum(axis=0)
        for fold in range(FOLDS):
            sizes = counts.sum(axis=0) - counts[fold]
            alive = np.flatnonzero(sizes > 0)
            with_fold = between[fold].sum(axis=1)
            K = _means(total - with_fold - with_fold.T + between[fold, :, fold], sizes, alive)
            held_out = folds == fold
            training = [other for other in range(FOLDS) if other != fold]
            f = sum(seen[other][:, held_out] for other in training).T[:, alive] / sizes[alive]
            for C in Cs:
                machine = _small_machine(K, sizes[alive], sides[alive], C)
                right[C, gamma] += int((machine.predict(f) == y[held_out]).sum())
    # The first of equals, in the order of GridSearchCV.
    C, gamma = max(right, key=right.__getitem__)
    whole = _indicator(labels, n_classes)
    sizes = whole.sum(axis=0)
    K = whole.T @ np.asarray((whole.T @ np.exp(-np.float32(gamma) * squares)).T)
    alive = np.flatnonzero(sizes > 0)
    machine = _small_machine(_means(K, sizes, alive), sizes[alive], sides[alive], C)
    of_class = np.zeros(n_classes)
    of_class[alive[machine.support_]] = machine.dual_coef_[0] / sizes[alive[machine.support_]]
    return PaperLifted(X, of_class[labels], float(machine.intercept_[0]), {"C": C, "gamma": gamma}, len(alive))


def signature_classes(X: Matrix, y: Labels, n_anchors: int) -> Labels:
    """Classes of examples of one label with similar sorted distances to the anchors.

    Parameters
    ----------
    X, y
        Examples, and labels -1 and 1.
    n_anchors
        Centres of k-means over all examples; half as many classes for each label.
    """
    signatures = np.sort(cdist(X, _centres(X, n_anchors)), axis=1)
    labels = np.empty(len(y), dtype=np.int64)
    for number, label in enumerate((-1, 1)):
        clusters = KMeans(n_anchors // 2, n_init=1, random_state=0).fit(signatures[y == label]).labels_
        labels[y == label] = clusters + number * (n_anchors // 2)
    return labels


def _indicator(labels: Labels, n_classes: int) -> SparseMatrix:
    ones = np.ones(len(labels), dtype=np.float32)
    matrix: SparseMatrix = sparse.csc_array((ones, (np.arange(len(labels)), labels)), shape=(len(labels), n_classes))
    return matrix


def _means(K: Reals, sizes: Vector, alive: Labels) -> Reals:
    return K[np.ix_(alive, alive)] / np.outer(sizes[alive], sizes[alive])


def _small_machine(means: Reals, sizes: Vector, sides: Matrix, C: float) -> SVC:
    """The dual over classes: box C n_c, so the sizes are weights."""
    return SVC(C=C, kernel="precomputed").fit(means, sides, sample_weight=sizes)
