r"""The duals of the nu-machines (one class, nu-SVC, nu-SVR): variables in a box, with a given sum for each group.

.. math:: \max\; p^\top a - \tfrac12 \beta^\top K\beta,\quad 0 \le a \le u,\; \textstyle\sum_{i \in g} a_i = t_g,\qquad
   \beta_e = \sum_{i: e_i = e} s_i a_i

Equal examples are merged before. With :math:`v_i = p_i - s_i (K\beta)_{e_i}` the dual value can rise by no more than
:math:`\sum_g \max_{a' \in g} v^\top a' - v^\top a`, where the best a' fills the largest v first: the proved gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Codes, Double

try:
    from relift import _linear_core as core

    CORE_IS_COMPILED = True
except ImportError:  # pragma: no cover - depends on the install
    CORE_IS_COMPILED = False


LARGEST_KERNEL = 20_000
"""Distinct examples up to which the kernel matrix is held in memory (3.2 GB)."""


@final
@dataclass(frozen=True, eq=False)
class NuDual:
    """The dual; see the head of this module for the letters.

    Parameters
    ----------
    K
        The kernel between distinct examples, float64.
    example, sign, group
        The example, sign and group of each variable; a group has one sign.
    p, u
        Linear term and upper bounds.
    totals
        The sum of each group.
    """

    K: Double
    example: Codes
    sign: Double
    group: Codes
    p: Double
    u: Double
    totals: Double


@final
@dataclass(frozen=True, eq=False)
class NuAnswer:
    """A feasible point with its proof.

    Parameters
    ----------
    a
        The point.
    beta
        Coefficients of the distinct examples.
    duals
        Multiplier of the sum of each group: the v of its variables inside the box.
    gap
        Proved distance from the optimum, relative to the larger of the dual value and its quadratic term; to the value
        of the point with equal shares if that is more than a million times larger.
    dual_value
        The value.
    iterations
        Steps.
    """

    a: Double
    beta: Double
    duals: Double
    gap: float
    dual_value: float
    iterations: int


def solve_nu_dual(dual: NuDual, tolerance: float, most: int = -1, tol_gap: float = np.inf) -> NuAnswer:
    """Solve until no pair of a group violates optimality by more than a tolerance, and the gap is small.

    Parameters
    ----------
    dual
        The dual.
    tolerance
        Of the violation.
    most
        Steps; -1 for the limit of LIBSVM, the larger of ten million and a hundred for each variable.
    tol_gap
        Relative gap to reach: the tolerance is lowered until it is, or nothing can be improved any more.

    Examples
    --------
    >>> K, nothing = np.array([[1.0, 0.0], [0.0, 3.0]]), np.zeros(2, dtype=np.int32)
    >>> example = np.arange(2, dtype=np.int32)
    >>> dual = NuDual(K, example, np.ones(2), nothing, np.zeros(2), np.ones(2), np.ones(1))
    >>> answer = solve_nu_dual(dual, 1e-9)
    >>> answer.a.round(6).tolist(), answer.gap < 1e-9
    ([0.75, 0.25], True)
    """
    a = _first_point(dual)
    v = slopes(dual, a)
    start = abs(0.5 * float((dual.p + v) @ a))
    limit = max(10**7, 100 * len(a)) if most < 0 else most
    floor = 1e-13 * float(np.abs(v).max(initial=0.0))  # rounding
    tolerance, steps = max(tolerance, floor), 0
    step = group_smo if CORE_IS_COMPILED else group_smo_reference
    while True:
        steps += step(dual, a, v, tolerance, limit - steps)[0]
        v = slopes(dual, a)  # without the rounding of the steps
        answer = _judged(dual, a, v, start, steps)
        if answer.gap <= tol_gap or steps >= limit or tolerance <= floor:
            return answer
        tolerance = max(0.1 * tolerance, floor)


def _judged(dual: NuDual, a: Double, v: Double, start: float, steps: int) -> NuAnswer:
    """The point with its proof; `start` is the value of the even point."""
    beta = coefficients(dual, a)
    square = float(beta @ (dual.K @ beta))
    value = float(dual.p @ a) - 0.5 * square
    rise = sum(_best_value(dual, v, g) for g in range(len(dual.totals))) - float(v @ a)
    size = max(abs(value), 0.5 * square)
    # Where the optimum is 0 (the origin lies among the examples) the even point gives the scale.
    gap = max(0.0, rise) / max(size if size > 1e-6 * start else start, 1e-300)
    return NuAnswer(a, beta, np.array([_multiplier(dual, a, v, g) for g in range(len(dual.totals))]), gap, value, steps)


def coefficients(dual: NuDual, a: Double) -> Double:
    """Coefficients of the distinct examples."""
    return np.bincount(dual.example, dual.sign * a, len(dual.K)).astype(np.float64, copy=False)


def slopes(dual: NuDual, a: Double) -> Double:
    """What an increase of each variable gains."""
    return np.asarray(dual.p - dual.sign * (dual.K @ coefficients(dual, a))[dual.example])


def _first_point(dual: NuDual) -> Double:
    """The same share of the room of every variable of a group."""
    room = np.bincount(dual.group, dual.u, len(dual.totals))
    return np.asarray(dual.u * np.minimum(1.0, dual.totals / np.maximum(room, 1e-300))[dual.group])


def _best_value(dual: NuDual, v: Double, g: int) -> float:
    members = np.flatnonzero(dual.group == g)
    order = members[np.argsort(-v[members], kind="stable")]
    before = np.cumsum(dual.u[order]) - dual.u[order]
    return float(v[order] @ np.clip(dual.totals[g] - before, 0.0, dual.u[order]))


def _multiplier(dual: NuDual, a: Double, v: Double, g: int) -> float:
    of_group = dual.group == g
    is_inside = of_group & (a > 0) & (a < dual.u)
    if is_inside.any():
        return float(v[is_inside].mean())
    above, below = v[of_group & (a < dual.u)], v[of_group & (a > 0)]
    if not len(above) or not len(below):
        return float(np.concatenate([above, below])[0]) if len(above) + len(below) else 0.0
    return 0.5 * (float(above.max()) + float(below.min()))


def group_smo(dual: NuDual, a: Double, v: Double, tolerance: float, most: int) -> tuple[int, float]:
    """Move a and v in place, by the compiled kernel; returns steps and the violation that is left."""
    return core.group_smo(dual.K, dual.example, dual.sign, dual.group, dual.u, len(dual.totals), a, v, tolerance, most)


def group_smo_reference(dual: NuDual, a: Double, v: Double, tolerance: float, most: int) -> tuple[int, float]:
    """The slow twin of :func:`group_smo`: the pair of the largest violation, v computed anew in every step."""
    steps = 0
    while True:
        worst, pair = 0.0, (0, 0)
        for g in range(len(dual.totals)):
            up = np.flatnonzero((dual.group == g) & (a < dual.u))
            down = np.flatnonzero((dual.group == g) & (a > 0))
            if len(up) and len(down):
                i, j = int(up[v[up].argmax()]), int(down[v[down].argmin()])
                if v[i] - v[j] > worst:
                    worst, pair = float(v[i] - v[j]), (i, j)
        if worst <= tolerance or steps >= most:
            return steps, worst
        i, j = pair
        one, two = dual.example[i], dual.example[j]
        bend = max(dual.K[one, one] + dual.K[two, two] - 2 * dual.K[one, two], 1e-12)
        step = min((v[i] - v[j]) / bend, dual.u[i] - a[i], a[j])
        a[i] = dual.u[i] if step == dual.u[i] - a[i] else a[i] + step
        a[j] = 0.0 if step == a[j] else a[j] - step
        v[:] = slopes(dual, a)
        steps += 1
