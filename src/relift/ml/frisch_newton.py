r"""Bounded linear programs with few rows and a known interior point, by Frisch and Newton's interior point method.

.. math:: \max\; y^\top d \quad\text{s.t.}\quad A d = 0,\; l \le d \le u,\qquad l < 0 < u,

with many variables and few rows: the dual of quantile regression, where d = 0 is strictly inside. Both sides stay
feasible, so that the gap is known in every step; a step costs one product :math:`A Q A^\top` with a diagonal Q and one
factorisation of the size of the rows [1]_.

.. [1] Portnoy, Koenker: The Gaussian Hare and the Laplacian Tortoise: Computability of Squared-Error versus
   Absolute-Error Estimators, 1997.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import linalg, sparse

from relift.arrays import Double, Examples, Integers

BACK = 0.99995
"""Share of the way to the border that a step goes."""


@final
@dataclass(frozen=True, eq=False)
class BoundedAnswer:
    """What the method found.

    Parameters
    ----------
    d
        The point.
    duals
        Of the rows: coefficients of the regression.
    gap
        Of both values at the end, as the method sees it.
    iterations
        Steps.
    """

    d: Double
    duals: Double
    gap: float
    iterations: int


def solve_bounded(
    A: Examples,
    y: Double,
    lower: Double,
    upper: Double,
    *,
    tolerance: float,
    most: int = 200,
    tell: Callable[[int, float], None] | None = None,
) -> BoundedAnswer:
    """Solve to an absolute gap, or as far as rounding allows.

    Parameters
    ----------
    A
        The rows, sparse.
    y, lower, upper
        Objective and bounds; ``lower < 0 < upper``.
    tolerance
        The gap to reach.
    most
        Steps.
    tell
        Progress callback, called with step and gap.

    Examples
    --------
    The median of five numbers is the dual value of the row that adds up:

    >>> ones = sparse.csr_array(np.ones((1, 5)))
    >>> found = solve_bounded(ones, np.array([1.0, 2, 4, 8, 9]), np.full(5, -0.5), np.full(5, 0.5), tolerance=1e-9)
    >>> found.duals.round(6).tolist(), found.gap < 1e-9
    ([4.0], True)
    """
    A, columns = sparse.csr_array(A), sparse.csr_array(A.T)
    room = upper - lower
    x, s = -lower.astype(np.float64), upper.astype(np.float64)
    c = -y
    v = _solved(_product(A, columns, np.ones(len(y))), A @ c)
    r = c - columns @ v
    floor = max(float(np.abs(r).max(initial=0.0)), 1e-300) * 1e-2
    z, w = np.maximum(r, 0.0) + floor, np.maximum(-r, 0.0) + floor
    best = (np.inf, x, v)
    step = 0
    for step in range(most):
        gap = float(z @ x + w @ s)
        if gap < best[0]:
            best = (gap, x, v)
        if tell is not None:
            tell(step, gap)
        if gap <= tolerance or gap > 1e3 * best[0]:
            break
        Q = 1.0 / (z / x + w / s)
        r = z - w
        matrix = _product(A, columns, Q)
        right = A @ (Q * r)
        dv = _solved(matrix, right)
        dx = Q * (columns @ dv - r)
        dz, dw = -z * (1.0 + dx / x), -w * (1.0 - dx / s)
        f_primal, f_dual = _length(x, dx, s, -dx), _length(z, dz, w, dw)
        if min(f_primal, f_dual) < 1.0:
            after = float((z + f_dual * dz) @ (x + f_primal * dx) + (w + f_dual * dw) @ (s - f_primal * dx))
            mu = gap * (after / gap) ** 3 / (2.0 * len(y))
            bent_z, bent_w = dx * dz / x, -dx * dw / s
            towards = mu * (1.0 / x - 1.0 / s) - bent_z + bent_w
            dv = _solved(matrix, right - A @ (Q * towards))
            dx = Q * (columns @ dv + towards - r)
            dz = mu / x - z - z * dx / x - bent_z
            dw = mu / s - w + w * dx / s - bent_w
            f_primal, f_dual = _length(x, dx, s, -dx), _length(z, dz, w, dw)
        x = x + f_primal * dx
        s = room - x
        if (s <= 0).any():
            s = np.maximum(s, 1e-16 * room)
        v, z, w = v + f_dual * dv, z + f_dual * dz, w + f_dual * dw
        if not np.isfinite(v).all():
            break
    gap, x, v = best
    return BoundedAnswer(np.clip(x + lower, lower, upper), -v, gap, step)


def _length(a: Double, da: Double, b: Double, db: Double) -> float:
    """The longest step, up to 1, that keeps both positive."""
    falls, sinks = da < 0, db < 0
    shrink = min(
        float(np.min(a[falls] / -da[falls], initial=np.inf)), float(np.min(b[sinks] / -db[sinks], initial=np.inf))
    )
    return min(1.0, BACK * shrink)


def _product(A: Examples, columns: Integers, Q: Double) -> Double:
    return np.asarray((A @ (sparse.diags_array(Q) @ columns)).toarray())


def _solved(matrix: Double, right: Double) -> Double:
    """A solution of a positive semidefinite system; the shortest one where rows depend on each other."""
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
    scaled = matrix * scale[:, None] * scale
    try:
        factor = linalg.cho_factor(scaled, lower=True, check_finite=False)
        if np.diagonal(factor[0]).min() > 1e-8:
            found = linalg.cho_solve(factor, scale * right)
            found += linalg.cho_solve(factor, scale * right - scaled @ found)
            return np.asarray(scale * found)
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(scaled)
    keep = values > 1e-13 * values.max(initial=0.0)
    return np.asarray(scale * (vectors[:, keep] @ ((vectors[:, keep].T @ (scale * right)) / values[keep])))
