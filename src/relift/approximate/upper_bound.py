r"""A number that the optimum does not exceed, from a point that keeps rows and bounds as well as floats can.

The objective at a point is an upper bound on the optimum only if the point is feasible. Three cases, in this order:

*Feasible.* Variables are clipped to their bounds, which is exact. A row holds if it does for every value that rounding
allows for :math:`a_i x`, computed with error at most :math:`\gamma_k \sum_j |a_{ij}||x_j|`; where that does not decide
and the rows are few, they are added in rational arithmetic. Then f(x), rounded up, is **proved**.

*A feasible point nearby.* Equalities are hardly ever kept exactly. Let E be the rows that are not known to hold, r
what they are broken by, D a diagonal matrix with :math:`D_j` at most the distance of :math:`x_j` from its bounds, and
:math:`\sigma` at most the smallest singular value of :math:`A_E D`. Then there is an s with :math:`A_E D s = -r` and
:math:`|s|_2 \le \varepsilon = |r|_2 / \sigma`. If :math:`\varepsilon \le 1` the point x + Ds keeps all bounds; if
moreover every other row has the slack :math:`\varepsilon |D a_i|_2`, it is feasible, and

.. math:: f^* \le f(x + Ds) \le f(x) + \varepsilon\, |D \nabla f(x)|_2 + \tfrac12 \varepsilon^2 |DPD|_F

is **proved** without knowing s.

*Neither.* Rows must then hold to rounding, to :data:`FEASIBLE` times the sum of the magnitudes in them: a program that
is infeasible by 1e-7 has no optimum, and no price makes up for that. What is left of the violation is paid for. If the
optimal dual values are :math:`y^*`, the optimum is at most :math:`f(x) + \sum_i |y^*_i| v_i`, where :math:`v_i` is at
least the violation. They are not known, but those of the small program are: the price of each row is taken as
:data:`PRICE_FACTOR` times the larger of its own and of the largest that any row has, each relative to the size of its
row. This bound is **not proved**; it holds if no optimal dual value exceeds its price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from scipy import linalg, sparse

from relift.approximate.rounding import EPSILON, gamma
from relift.arrays import Indices, Vector
from relift.program.program import Program

PRICE_FACTOR = 10.0
"""How much larger than those of the small program the optimal dual values may be, where violations are paid for."""

FEASIBLE = 1e-12
"""What a row may be broken by, relative to the sum of the magnitudes in it, so that its violation may be paid for."""

FEW_ENTRIES = 300
"""Rows with at most so many entries together may be added in rational arithmetic."""

FEW_ROWS = 300
"""Up to so many rows the smallest singular value is bounded by a dense eigenvalue routine."""

SAFE = 1.0 + 1e-12
"""Makes up for the rounding of the few operations with which errors themselves are added up."""


@final
@dataclass(frozen=True, eq=False)
class UpperBound:
    """An upper bound on a minimisation.

    Parameters
    ----------
    value
        The bound; infinite if the point breaks a row by more than rounding, or nothing is known of its price.
    x
        The point, within its bounds.
    violation
        How far x may break a row, relative to the largest product or bound in it; 0 if it is feasible.
    is_proved
        Whether the bound holds without an assumption on dual values.
    """

    value: float
    x: Vector
    violation: float
    is_proved: bool


def upper_bound(program: Program, x: Vector, y: Vector | None = None, *, search: bool = False) -> UpperBound:
    """Return the upper bound on the optimum that a point gives.

    Parameters
    ----------
    program
        A minimisation.
    x
        Any point; it is clipped to the bounds of the variables.
    y
        Dual values of the rows, from which violations are priced.
    search
        Whether to try to prove that a feasible point is near, where x itself is not.

    Examples
    --------
    The optimum is 1, at (1/3, 2/3) and elsewhere; no two floats add up to 1 and keep the second row exactly:

    >>> program = Program(q=[1.0, 1.0], A=[[1.0, 1.0], [1.0, -0.1]], l=[1.0, 0.1], u=[1.0, 0.1], lb=0)
    >>> x = np.array([0.2 / 1.1, 0.9 / 1.1])
    >>> upper_bound(program, x).value
    inf
    >>> bound = upper_bound(program, x, search=True)
    >>> bound.is_proved, 1.0 <= bound.value <= 1.0 + 1e-12
    (True, True)
    """
    if not np.isfinite(x).all():
        return UpperBound(math.inf, x, math.inf, False)
    x = np.clip(x, program.lb, program.ub)
    broken, sizes = possible_violations(program, x)
    wrong = np.flatnonzero(broken)
    if wrong.size <= FEW_ENTRIES and np.diff(program.A.tocsr().indptr)[wrong].sum() <= FEW_ENTRIES:
        broken = _exact_violations(program, x, broken, wrong)
        wrong = np.flatnonzero(broken)
    relative = float((broken[wrong] / sizes[wrong]).max(initial=0.0))
    value = objective_above(program, x)
    if wrong.size == 0:
        return UpperBound(value, x, 0.0, True)
    if search and wrong.size <= FEW_ROWS:
        extra = _price_of_a_feasible_point_nearby(program, x, broken, wrong)
        if math.isfinite(extra):
            return UpperBound(math.nextafter((value + extra), math.inf), x, relative, True)
    if y is None or not np.isfinite(y).all() or relative_violation(program, x) > FEASIBLE:
        return UpperBound(math.inf, x, relative, False)
    price = float(prices(y, sizes)[wrong] @ broken[wrong]) * SAFE
    return UpperBound(math.nextafter(value + price, math.inf), x, relative, False)


def possible_violations(program: Program, x: Vector) -> tuple[Vector, Vector]:
    """For each row the most that x can break it by, rounding included, and the size of the row at x.

    The size of a row is its largest product or the bound next to its value, whichever is larger.

    Examples
    --------
    >>> broken, sizes = possible_violations(Program(q=[0.0], A=[[2.0], [1.0]], u=[1.0, 4.0]), np.array([1.0]))
    >>> broken.round(9).tolist(), sizes.tolist()
    ([1.0, 0.0], [2.0, 4.0])
    """
    A = program.A.tocsr()
    entries = np.diff(A.indptr)
    terms = np.abs(A.data * x[A.indices])
    rows = np.repeat(np.arange(program.n_rows), entries)
    value = np.bincount(rows, A.data * x[A.indices], program.n_rows)
    magnitude = np.bincount(rows, terms, program.n_rows)
    largest = np.zeros(program.n_rows)
    filled = np.flatnonzero(entries)
    if filled.size:
        largest[filled] = np.maximum.reduceat(terms, A.indptr[filled])
    error = (entries + 2) * EPSILON * SAFE * magnitude
    with np.errstate(invalid="ignore"):
        below, above = program.l - value + error, value + error - program.u
    off = np.maximum(np.maximum(below, above), 0.0)
    bound = np.where(below > above, program.l, program.u)
    size = np.maximum(largest, np.where(np.isfinite(bound), np.abs(bound), 0.0))
    # The subtraction of the bound rounds once more; where the sum is exact (one entry, zeros) nothing is lost.
    off = np.where(off > 0, off + EPSILON * size, 0.0)
    return off, np.where(size > 0, size, 1.0)


def relative_violation(program: Program, x: Vector) -> float:
    """How far x breaks a row or bound, relative to the sum of the magnitudes in it.

    Examples
    --------
    >>> relative_violation(Program(q=[0.0, 0.0], A=[[1e-8, 1e-8]], u=[1e-8]), np.ones(2)).__round__(9)
    0.333333333
    """
    worst = 0.0
    magnitude = abs(program.A) @ np.abs(x)
    for value, lower, upper, size in (
        (program.A @ x, program.l, program.u, magnitude),
        (x, program.lb, program.ub, np.abs(x)),
    ):
        off = np.abs(value - np.clip(value, lower, upper))
        wrong = off > 0
        bound = np.where(value > upper, upper, lower)[wrong]
        worst = max(worst, float((off[wrong] / (size[wrong] + np.abs(bound))).max(initial=0.0)))
    return worst


def prices(y: Vector, sizes: Vector) -> Vector:
    """What a violation of each row may cost: dual values, levelled up to the largest relative to the size of its row.

    Examples
    --------
    >>> prices(np.array([2.0, 0.0]), np.array([1.0, 0.5])).tolist()
    [20.0, 40.0]
    """
    largest = float((np.abs(y) * sizes).max(initial=0.0))
    return PRICE_FACTOR * np.maximum(np.abs(y), largest / sizes)


def objective_above(program: Program, x: Vector) -> float:
    """The objective of a minimisation at x, rounded up.

    Examples
    --------
    >>> program = Program(q=[0.1, 0.2], lb=0)
    >>> Fraction(objective_above(program, np.ones(2))) >= Fraction(0.1) + Fraction(0.2)
    True
    """
    linear = program.q * x
    parts, error = [program.r, *linear], 0.0
    error += EPSILON * float(np.abs(linear).sum())
    if program.P is not None:
        Px = program.P @ x
        half = 0.5 * x * Px
        entries = int(np.diff(program.P.indptr).max(initial=0))
        magnitude = float(np.abs(x) @ (abs(program.P) @ np.abs(x)))
        error += 0.5 * gamma(entries + 4) * magnitude
        parts += [*half]
    total = math.fsum([*parts, error * (1.0 + 1e-9)])
    return math.nextafter(total, math.inf)


def _exact_violations(program: Program, x: Vector, broken: Vector, wrong: Indices) -> Vector:
    """Violations of the rows that rounding left in doubt, from rational arithmetic, rounded up."""
    A = program.A.tocsr()
    result = broken.copy()
    for i in wrong:
        part = slice(A.indptr[i], A.indptr[i + 1])
        products = zip(A.data[part].tolist(), x[A.indices[part]].tolist(), strict=True)
        value = sum((Fraction(a) * Fraction(b) for a, b in products), Fraction(0))
        off = Fraction(0)
        if math.isfinite(program.l[i]):
            off = max(off, Fraction(float(program.l[i])) - value)
        if math.isfinite(program.u[i]):
            off = max(off, value - Fraction(float(program.u[i])))
        result[i] = math.nextafter(float(off), math.inf) if off else 0.0
    return result


def _price_of_a_feasible_point_nearby(program: Program, x: Vector, broken: Vector, wrong: Indices) -> float:
    """What the objective rises by, at most, on the way to a feasible point that is proved to exist; infinite if not."""
    A = program.A.tocsr()
    room = np.minimum(np.minimum(x - program.lb, program.ub - x), 1.0 + np.abs(x))
    room = np.maximum(room, 0.0) * 0.5  # half: the subtraction rounds, and no bound is touched
    held = A[wrong] @ sparse.diags_array(room)
    scale = np.sqrt(np.asarray(held.multiply(held).sum(axis=1)).ravel())
    if not np.all(scale > 0):
        return math.inf
    unit = np.asarray((sparse.diags_array(1.0 / scale) @ held).toarray())
    gram = unit @ unit.T
    m, n = unit.shape
    smallest = float(linalg.eigvalsh(gram, subset_by_index=[0, 0])[0])
    # Rows of unit have length 1: no entry of the product of magnitudes exceeds 1, no row sum m.
    smallest -= 8 * (m + n) * m * EPSILON
    if smallest <= 0:
        return math.inf
    reach = float(np.linalg.norm(broken[wrong] / scale)) / math.sqrt(smallest) * (1.0 + 1e-9)
    if not reach <= 1.0:
        return math.inf
    others = np.setdiff1d(np.arange(program.n_rows), wrong)
    if others.size:
        moved = A[others] @ sparse.diags_array(room)
        step = reach * np.sqrt(np.asarray(moved.multiply(moved).sum(axis=1)).ravel()) * (1.0 + 1e-9)
        value = A[others] @ x
        error = gamma(int(np.diff(A.indptr).max(initial=0)) + 4) * (abs(A[others]) @ np.abs(x))
        with np.errstate(invalid="ignore"):
            slack = np.minimum(value - program.l[others], program.u[others] - value) - 2.0 * error
        if not np.all(step <= slack):
            return math.inf
    gradient, bend = program.q, 0.0
    if program.P is not None:
        gradient = program.P @ x + program.q
        curved = sparse.diags_array(room) @ program.P @ sparse.diags_array(room)
        bend = 0.5 * reach * reach * float(sparse.linalg.norm(curved))
        gradient = np.abs(gradient) + gamma(n + 4) * (abs(program.P) @ np.abs(x) + np.abs(program.q))
    return (reach * float(np.linalg.norm(room * gradient)) + bend) * (1.0 + 1e-9)
