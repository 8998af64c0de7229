r"""Coordinate descent for quadratic functions with absolute values: the compiled kernels, and their twins in NumPy.

``by_matrix`` minimises :math:`\tfrac12 w'Gw - c'w + \sum_j l_j|w_j|` for a dense G; ``by_columns`` a weighted least
squares problem over sparse columns with such a penalty, with the best intercept or without one. See
``core/include/relift/linear/descent.hpp``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relift.arrays import Double, SparseMatrix

try:
    from relift import _linear_core as core

    CORE_IS_COMPILED = True
except ImportError:  # pragma: no cover - depends on the install
    CORE_IS_COMPILED = False


def by_matrix(
    G: Double, l1: Double, w: Double, g: Double, *, tolerance: float, most: int, is_positive: bool = False
) -> tuple[int, float]:
    """Improve w and its slope g = Gw - c in place; returns passes, and the largest violation that the last one met.

    Examples
    --------
    >>> w, c = np.zeros(2), np.array([3.0, 0.5])
    >>> by_matrix(np.eye(2), np.ones(2), w, -c, tolerance=1e-9, most=100)[1], w.tolist()
    (0.0, [2.0, 0.0])
    """
    if not CORE_IS_COMPILED:
        return by_matrix_reference(G, l1, w, g, tolerance=tolerance, most=most, is_positive=is_positive)
    found: tuple[int, float] = core.by_matrix(np.ascontiguousarray(G), l1, is_positive, w, g, tolerance, most)
    return found


def by_columns(
    X: SparseMatrix, h: Double, l1: Double, l2: Double, w: Double, r: Double, *,
    has_intercept: bool, tolerance: float, most: int, is_positive: bool = False,
) -> tuple[int, float, float]:  # fmt: skip
    """Improve w and r = z - Xw in place; returns passes, violation, and the intercept.

    Parameters
    ----------
    X
        In compressed columns, with 32-bit indices.
    h
        Weights of the squared errors.
    l1, l2
        Prices of absolute values and of halved squares.
    w, r
        The point, and z - Xw without intercept.
    has_intercept
        Whether the best intercept is added throughout.
    tolerance, most
        The violation to reach, and the most passes.
    is_positive
        Whether w may not be negative.
    """
    if not CORE_IS_COMPILED:
        return by_columns_reference(
            X, h, l1, l2, w, r, has_intercept=has_intercept, tolerance=tolerance, most=most, is_positive=is_positive
        )
    starts, rows = X.indptr.astype(np.int32, copy=False), X.indices.astype(np.int32, copy=False)
    found: tuple[int, float, float] = core.by_columns(
        starts, rows, X.data, h, l1, l2, has_intercept, is_positive, w, r, tolerance, most
    )
    return found


def _violation(w: float, g: float, l1: float, is_positive: bool) -> float:
    if w > 0:
        return abs(g + l1)
    if w < 0:
        return abs(g - l1)
    return max(0.0, -g - l1, 0.0 if is_positive else g - l1)


def _shrunk(s: float, a: float, l1: float, is_positive: bool) -> float:
    if s > l1:
        return (s - l1) / a
    return (s + l1) / a if s < -l1 and not is_positive else 0.0


def _passes(n: int, tolerance: float, most: int, visit: Callable[[int], float]) -> tuple[int, float]:
    """Pass over all coordinates until none is violated; the compiled twin also makes passes over some of them."""
    worst = 0.0
    for count in range(most):
        worst = max((visit(j) for j in range(n)), default=0.0)
        if worst <= tolerance:
            return count + 1, worst
    return most, worst


def by_matrix_reference(
    G: Double, l1: Double, w: Double, g: Double, *, tolerance: float, most: int, is_positive: bool = False
) -> tuple[int, float]:
    """The slow twin of :func:`by_matrix`."""

    def visit(j: int) -> float:
        a, worst = G[j, j], _violation(w[j], g[j], l1[j], is_positive)
        if a <= 0:
            return 0.0
        moved = _shrunk(a * w[j] - g[j], a, l1[j], is_positive) - w[j]
        w[j] += moved
        g[:] += moved * G[j]
        return worst

    return _passes(len(w), tolerance, most, visit)


def by_columns_reference(
    X: SparseMatrix, h: Double, l1: Double, l2: Double, w: Double, r: Double, *,
    has_intercept: bool, tolerance: float, most: int, is_positive: bool = False,
) -> tuple[int, float, float]:  # fmt: skip
    """The slow twin of :func:`by_columns`."""
    columns = [np.asarray(X[:, [j]].toarray()).ravel() for j in range(len(w))]
    total = float(h.sum())

    def centred(values: Double) -> Double:
        return np.asarray(values - float(h @ values) / total) if has_intercept else values

    def visit(j: int) -> float:
        x = centred(columns[j])
        curvature = float(h @ x**2)
        curvature = curvature if curvature > 1e-13 * float(h @ columns[j] ** 2) else 0.0
        s = float(h @ (x * centred(r)))
        if curvature + l2[j] <= 0:
            return 0.0
        worst = _violation(w[j], l2[j] * w[j] - s, l1[j], is_positive)
        moved = _shrunk(s + curvature * w[j], curvature + l2[j], l1[j], is_positive) - w[j]
        w[j] += moved
        r[:] -= moved * columns[j]
        return worst

    passes, worst = _passes(len(w), tolerance, most, visit)
    return passes, worst, float(h @ r) / total if has_intercept else 0.0
