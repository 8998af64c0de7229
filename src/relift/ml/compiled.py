"""The compiled kernels of :mod:`relift.ml`, or their NumPy twins where there is no compiler.

Each function here takes and gives NumPy arrays of the right type and checks nothing: it is called by the modules of
this folder alone. ``CORE_IS_COMPILED`` says which of the two runs; the tests compare them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Codes, Double, Reals, RealT, Single
from relift.ml import kernels_reference as reference

try:
    from relift import _ml_core as core

    CORE_IS_COMPILED = True
except ImportError:  # pragma: no cover - depends on the install
    CORE_IS_COMPILED = False

KernelName = Literal["rbf", "poly", "linear", "sigmoid"]

KINDS: dict[str, int] = {"rbf": 0, "poly": 1, "linear": 2, "sigmoid": 3}
"""Kernels as the compiled part knows them."""


def kernel_sums(X: Reals, S: Reals, weights: Double, kernel: str, gamma: float, coef0: float, degree: int) -> Double:
    """Sums over the points of S of weight times kernel value, one for each point of X; both float32 or both float64."""
    if not len(S):
        return np.zeros(len(X))
    if not CORE_IS_COMPILED:
        return reference.kernel_sums(X, S, weights, kernel, gamma, coef0, degree)
    out = np.empty(len(X))
    core.kernel_sums(X, S, weights, KINDS[kernel], gamma, coef0, degree, out)
    return out


def kernel_values(
    X: NDArray[RealT], S: NDArray[RealT], kernel: str, gamma: float, coef0: float, degree: int
) -> NDArray[RealT]:
    """The kernel between each point of X and each of S, in their precision; both float32 or both float64."""
    if not CORE_IS_COMPILED:
        return reference.kernel_values(X, S, kernel, gamma, coef0, degree, X.dtype)
    out = np.empty((len(X), len(S)), dtype=X.dtype)
    core.kernel_values(X, S, KINDS[kernel], gamma, coef0, degree, out)
    return out


def class_sums(
    X: Single,
    S: Single,
    weights: Double,
    labels: Codes,
    n_classes: int,
    kernel: str,
    gamma: float,
    coef0: float,
    degree: int,
) -> Double:
    """The rows of the kernel between X and S, weighted and added up by class."""
    if not CORE_IS_COMPILED:
        return reference.class_sums(X, S, weights, labels, n_classes, kernel, gamma, coef0, degree)
    out = np.empty((n_classes, len(S)))
    core.class_sums(X, S, weights, labels, KINDS[kernel], gamma, coef0, degree, out)
    return out


def smo(
    K: Reals,
    lo: Reals,
    hi: Reals,
    beta: Reals,
    v: Reals,
    tolerance: float,
    steps: int,
) -> tuple[int, float]:
    """Improve beta and v = c - K beta in place; all arrays of one type. Returns steps and the violation left."""
    if not CORE_IS_COMPILED:
        return reference.smo(K, lo, hi, beta, v, tolerance, steps)
    return core.smo(K, lo, hi, beta, v, tolerance, steps)


def nearest(X: Single, centres: Single) -> tuple[Codes, Single]:
    """The number of the nearest centre of each point, and the squared distance to it."""
    if not CORE_IS_COMPILED:
        return reference.nearest(X, centres)
    labels, squares = np.empty(len(X), dtype=np.int32), np.empty(len(X), dtype=np.float32)
    core.nearest(X, centres, labels, squares)
    return labels, squares


def lloyd(X: Single, centres: Single, rounds: int) -> None:
    """Move the centres to the means of their points, so many times, in place."""
    if not CORE_IS_COMPILED:
        reference.lloyd(X, centres, rounds)
    else:
        core.lloyd(X, centres, rounds)


def coordinate_ascent(
    Z: Reals,
    extra: Reals,
    c: Reals,
    lo: Reals,
    hi: Reals,
    order: Codes,
    beta: Reals,
    w: Reals,
    tolerance: float,
    passes: int,
    seed: int = 0,
) -> tuple[int, float]:
    """Improve beta and w = Z'beta in place, inside the box; the columns of Z are a multiple of 16."""
    if not CORE_IS_COMPILED:
        return reference.coordinate_ascent(Z, extra, c, lo, hi, order, beta, w, tolerance, passes, seed)
    return core.coordinate_ascent(Z, extra, c, lo, hi, order, beta, w, tolerance, passes, seed)


def pivoted_cholesky(K: Double, most: int, tolerance: float) -> tuple[Codes, Double]:
    """Pivots and factor of a Cholesky decomposition that stops early; K[:, p] ~ (factor' factor)[:, p]."""
    if not CORE_IS_COMPILED:
        return reference.pivoted_cholesky(K, most, tolerance)
    pivots, factor = np.empty(most, dtype=np.int32), np.empty((most, len(K)))
    rank = core.pivoted_cholesky(np.ascontiguousarray(K), tolerance, pivots, factor)
    return pivots[:rank], factor[:rank]


def label_by_signature(X: Single, anchors: Single, centres: Double) -> tuple[Codes, int]:
    """The nearest centre of each point's signature, -1 where rounding could decide; and how many were taken."""
    labels = np.empty(len(X), dtype=np.int32)
    if not CORE_IS_COMPILED:
        labels.fill(-1)
        return labels, 0
    return labels, core.label_by_signature(X, anchors, centres, labels)
