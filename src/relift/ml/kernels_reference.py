"""The kernels of the compiled part, slow and obvious: twins for the tests, and what runs without a compiler."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Codes, Double, Reals, RealT, Single

BLOCK = 1 << 21
"""Kernel values that are held at a time."""


@overload
def kernel_values(X: Reals, S: Reals, kernel: str, gamma: float, coef0: float, degree: int) -> Single: ...
@overload
def kernel_values(
    X: Reals, S: Reals, kernel: str, gamma: float, coef0: float, degree: int, dtype: type[RealT] | np.dtype[RealT]
) -> NDArray[RealT]: ...
def kernel_values(
    X: Reals,
    S: Reals,
    kernel: str,
    gamma: float,
    coef0: float,
    degree: int,
    dtype: type[np.floating] | np.dtype[np.floating] = np.float32,
) -> Reals:
    """The kernel between each point of X and each of S, computed in double precision.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 1.0]], dtype=np.float32)
    >>> kernel_values(points, points, "rbf", 0.5, 0.0, 1).round(4).tolist()
    [[1.0, 0.3679...], [0.3679..., 1.0]]
    """
    left, right = np.asarray(X, dtype=np.float64), np.asarray(S, dtype=np.float64)
    if kernel == "rbf":
        squares = np.zeros((len(left), len(right)))
        for feature in range(left.shape[1]):
            squares += np.subtract.outer(left[:, feature], right[:, feature]) ** 2
        values = np.exp(-gamma * squares)
    else:
        values = left @ right.T
        if kernel == "poly":
            values = (gamma * values + coef0) ** degree
        elif kernel == "sigmoid":
            values = np.tanh(gamma * values + coef0)
    return values.astype(dtype)


def kernel_sums(X: Reals, S: Reals, weights: Double, kernel: str, gamma: float, coef0: float, degree: int) -> Double:
    """Sums over the points of S of weight times kernel value, one for each point of X; in blocks."""
    out = np.empty(len(X))
    size = max(1, BLOCK // max(1, len(S)))
    for begin in range(0, len(X), size):
        rows = X[begin : begin + size]
        out[begin : begin + size] = kernel_values(rows, S, kernel, gamma, coef0, degree, np.float64) @ weights
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
    """The rows of the kernel between X and S, weighted and added up by class; in blocks."""
    out = np.zeros((n_classes, len(S)))
    size = max(1, BLOCK // max(1, len(S)))
    for begin in range(0, len(X), size):
        part = slice(begin, begin + size)
        rows = kernel_values(X[part], S, kernel, gamma, coef0, degree, np.float64)
        np.add.at(out, labels[part], weights[part, None] * rows)
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
    """Sequential minimal optimisation with second-order choice of the partner, in place.

    Examples
    --------
    >>> K, lo, hi = np.eye(2), np.array([0.0, -1.0]), np.array([1.0, 0.0])
    >>> beta, v = np.zeros(2), np.array([1.0, -1.0])
    >>> smo(K, lo, hi, beta, v, 1e-9, 10), beta.tolist()
    ((1, 0.0), [1.0, -1.0])
    """
    diagonal = np.diagonal(K)
    taken = 0
    while True:
        can_grow, can_shrink = beta < hi, beta > lo
        up = np.where(can_grow, v, -np.inf)
        down = np.where(can_shrink, v, np.inf)
        i = int(np.argmax(up))
        violation = float(up[i] - down.min()) if can_grow.any() and can_shrink.any() else 0.0
        if violation <= tolerance or taken >= steps:
            return taken, max(0.0, violation)
        difference = up[i] - down
        curvature = np.maximum(diagonal + diagonal[i] - 2 * K[i], 1e-12)
        gain = np.where(difference > 0, difference**2 / curvature, -1.0)
        j = int(np.argmax(gain))
        if gain[j] <= 0 or i == j:
            return taken, max(0.0, violation)
        room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
        moved = (v[i] - v[j]) / curvature[j]
        fills, empties = moved >= room_i, moved >= room_j
        moved = min(moved, room_i, room_j)
        beta[i] = hi[i] if fills and room_i <= room_j else beta[i] + moved
        beta[j] = lo[j] if empties and room_j <= room_i else beta[j] - moved
        v -= moved * (K[i] - K[j])
        taken += 1


def nearest(X: Single, centres: Single) -> tuple[Codes, Single]:
    """The number of the nearest centre of each point, and the squared distance to it; in blocks."""
    labels, squares = np.empty(len(X), dtype=np.int32), np.empty(len(X), dtype=np.float32)
    size = max(1, BLOCK // max(1, len(centres)))
    for begin in range(0, len(X), size):
        rows = X[begin : begin + size].astype(np.float64)
        square = np.zeros((len(rows), len(centres)))
        for feature in range(X.shape[1]):
            square += np.subtract.outer(rows[:, feature], centres[:, feature].astype(np.float64)) ** 2
        labels[begin : begin + size] = square.argmin(axis=1)
        squares[begin : begin + size] = square.min(axis=1)
    return labels, squares


def lloyd(X: Single, centres: Single, rounds: int) -> None:
    """Move the centres to the means of their points, so many times, in place; an empty one stays."""
    for _ in range(rounds):
        labels, _ = nearest(X, centres)
        counts = np.bincount(labels, minlength=len(centres))
        sums = np.zeros(centres.shape)
        np.add.at(sums, labels, X.astype(np.float64))
        filled = counts > 0
        centres[filled] = sums[filled] / counts[filled, None]


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
    """Coordinate ascent on c'beta - |Z'beta|^2/2 - extra beta^2/2 inside the box, in place; w = Z'beta.

    Examples
    --------
    >>> Z, ones = np.eye(2), np.ones(2)
    >>> beta, w = np.zeros(2), np.zeros(2)
    >>> order = np.arange(2, dtype=np.int32)
    >>> coordinate_ascent(Z, 0 * ones, np.array([0.5, 2.0]), 0 * ones, ones, order, beta, w, 1e-9, 10)
    (2, 0.0)
    >>> beta.tolist()
    [0.5, 1.0]
    """
    random = np.random.default_rng(seed)
    curvature = (Z**2).sum(axis=1) + extra
    largest = np.inf
    for done in range(passes):
        largest = 0.0
        for i in random.permutation(order):
            slope = c[i] - Z[i] @ w - extra[i] * beta[i]
            if (beta[i] >= hi[i] and slope > 0) or (beta[i] <= lo[i] and slope < 0) or curvature[i] <= 0:
                continue
            largest = max(largest, float(abs(slope)))
            target = min(max(beta[i] + slope / curvature[i], lo[i]), hi[i])
            w += (target - beta[i]) * Z[i]
            beta[i] = target
        if largest <= tolerance:
            return done + 1, largest
    return passes, largest


def pivoted_cholesky(K: Double, most: int, tolerance: float) -> tuple[Codes, Double]:
    """Cholesky with pivoting, ended early: the largest rest on the diagonal next.

    Examples
    --------
    >>> pivots, factor = pivoted_cholesky(np.array([[1.0, 2.0], [2.0, 4.0]]), 2, 1e-9)
    >>> pivots.tolist(), factor.tolist()
    ([1], [[1.0, 2.0]])
    """
    rest = np.diagonal(K).copy()
    pivots: list[int] = []
    rows: list[Double] = []
    while len(pivots) < most:
        pivot = int(np.argmax(rest))
        if not rest[pivot] > tolerance:
            break
        row = K[pivot].copy()
        for before in rows:
            row -= before[pivot] * before
        row /= np.sqrt(rest[pivot])
        row[pivots] = 0.0
        rest -= row**2
        rest[pivot] = 0.0
        pivots.append(pivot)
        rows.append(row)
    return np.array(pivots, dtype=np.int32), np.array(rows).reshape(len(rows), len(K))
