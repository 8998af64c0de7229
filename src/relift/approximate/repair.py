r"""Small corrections that turn a nearly feasible point into a feasible one, of the program or of its dual.

*Primal*: x breaks the rows V a little. The smallest move, measured against the room that each variable has,

.. math:: \min \|s\| \quad\text{with}\quad A_V D s = b_V - A_V x, \qquad x \leftarrow x + D s,

is found from the normal equations, by a banded factorisation where that is small enough (its cost is known before it is
made) and by LSMR otherwise, and cut off at the bounds; rows that this breaks join V, variables that were
cut off stay where they are, and so on, a few times.

*Dual*: gradients :math:`g_j = (Pv + q + A^\top y)_j` that should vanish do not quite, those of the variables that
make most of the gap, and of all that nothing else holds. The smallest change of the dual values that does it, relative
to their size and to the room that the other gradients of their rows leave, is found in the same way.

Neither is a proof: the corrected point is checked, the corrected dual values prove what they prove.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import lsmr

from relift.approximate.curvature import bandwidth, lower_band
from relift.approximate.lower_bound import LowerBound, payable
from relift.approximate.upper_bound import relative_violation
from relift.arrays import Indices, SparseMatrix, Vector
from relift.lifting.certificate import certify
from relift.program.program import Program
from relift.program.solution import Solution, Status

FLOPS = 2e9
"""Operations that one factorisation may take; beyond that the move is found by LSMR."""

ROUNDS = 12
"""How often rows that a move breaks may join."""

ITERATIONS = 300
"""Of LSMR, each time."""

REGULARISATION = 1e-13
"""Added to the diagonal of the normal equations, whose rows have length 1, so that rows may depend on each other."""


def violation(program: Program, x: Vector) -> float:
    """How far a point breaks a row or bound: 0 if feasible.

    The larger of two measures: relative to the largest product or bound in the row itself, so that a row in small
    units has to hold like any other, and that of the certificate.

    Examples
    --------
    >>> violation(Program(q=[0.0], A=[[2e-6]], u=[1e-6]), np.array([1.0]))
    0.5
    """
    if not np.isfinite(x).all():
        return float("inf")
    A = program.A.tocsr()
    value = A @ x
    off = value - np.clip(value, program.l, program.u)
    wrong = np.flatnonzero(off)
    worst = certify(program, Solution(Status.OPTIMAL, x=x)).primal_residual
    if wrong.size:
        bound = np.where(off > 0, program.u, program.l)[wrong]
        rows = A[wrong]
        products = np.abs(rows.data * x[rows.indices])
        largest = np.zeros(wrong.size)
        filled = np.flatnonzero(np.diff(rows.indptr))
        largest[filled] = np.maximum.reduceat(products, rows.indptr[filled])
        worst = max(worst, float((np.abs(off[wrong]) / np.maximum(largest, np.abs(bound))).max()))
    return worst


def repaired_point(program: Program, x: Vector, tolerance: float, flops: float = FLOPS) -> Vector | None:
    """A point near x that breaks no row or bound by more than the tolerance, or None if none was found.

    Parameters
    ----------
    program
        A minimisation.
    x
        A point near the feasible set.
    tolerance
        The largest violation, relative to the sum of the magnitudes in the row.
    flops
        Operations that may be spent, about.

    Examples
    --------
    >>> program = Program(q=[1.0, 1.0], A=[[1.0, 2.0], [2.0, 1.0]], l=[3.0, 3.1], u=[3.0, 3.1], lb=0)
    >>> x = repaired_point(program, np.array([1.0, 1.0]), 1e-9)
    >>> bool(np.allclose(program.A @ x, [3.0, 3.1]))
    True
    """
    A = program.A.tocsr()
    magnitude = abs(A)
    x = np.clip(x, program.lb, program.ub)
    broken = program.l == program.u
    blocked = np.zeros(x.size, bool)
    width = program.ub - program.lb
    for _ in range(ROUNDS):
        Ax = A @ x
        size = magnitude @ np.abs(x)
        inner_lower, inner_upper = _inner(program, tolerance, size)
        target = np.clip(Ax, inner_lower, inner_upper)
        wrong = np.abs(target - Ax) > 0.2 * tolerance * np.maximum(size, np.abs(target))
        if not wrong.any():
            break
        broken |= wrong
        room = np.minimum(np.minimum(x - program.lb, program.ub - x), 1.0 + np.abs(x))
        room = np.maximum(room, 0.05 * np.minimum(width, 1.0 + np.abs(x)))  # those at a bound may leave it inwards
        room[blocked] = 0.0
        rows = np.flatnonzero(broken)
        flops -= 50.0 * A.nnz
        if flops < 0:
            return None
        move, spent = _smallest_move(A[rows], room, (target - Ax)[rows], flops)
        flops -= spent
        if not np.isfinite(move).all():
            return None
        blocked |= (x + move < program.lb) | (x + move > program.ub)
        x = np.clip(x + move, program.lb, program.ub)
    return x if relative_violation(program, x) <= tolerance else None


def _inner(program: Program, tolerance: float, size: Vector) -> tuple[Vector, Vector]:
    """Bounds of rows with a margin, where there is room for one: what is aimed at, so that rounding breaks nothing."""
    with np.errstate(invalid="ignore"):
        span = program.u - program.l
        margin = np.minimum(0.05 * tolerance * size, np.where(np.isfinite(span), 0.25 * span, np.inf))
        return program.l + margin, program.u - margin


def _smallest_move(A: SparseMatrix, room: Vector, wish: Vector, flops: float) -> tuple[Vector, float]:
    """The smallest move d, each entry measured against its room, with A d = wish; nearly so where there is none.

    The second value is the number of operations, about.
    """
    scaled = A @ sparse.diags_array(room)
    lengths = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    scale = 1.0 / np.maximum(lengths, 1e-300)
    scaled = (sparse.diags_array(np.where(lengths > 0, scale, 0.0)) @ scaled).tocsr()
    wish = np.where(lengths > 0, wish * scale, 0.0)
    column_entries = np.bincount(scaled.indices, minlength=room.size).astype(np.float64)
    if float(np.square(column_entries).sum()) <= 0.1 * flops:
        normal = (scaled @ scaled.T).tocsc()
        order = csgraph.reverse_cuthill_mckee(normal.tocsr(), symmetric_mode=True)
        normal = normal[order][:, order].tocsc()
        band = bandwidth(normal)
        cost = normal.shape[0] * float(band + 1) ** 2
        if cost <= 0.5 * flops:
            normal = normal + REGULARISATION * sparse.eye_array(normal.shape[0], format="csc")
            try:
                solved = linalg.solveh_banded(lower_band(normal.tocsc(), band), wish[order], lower=True)
            except linalg.LinAlgError:
                return np.full(room.size, np.nan), cost
            duals = np.empty_like(solved)
            duals[order] = solved
            return np.asarray(room * (scaled.T @ duals)), cost
    cost = 6.0 * ITERATIONS * scaled.nnz
    if cost > flops:
        return np.full(room.size, np.nan), 0.0
    step = lsmr(scaled, wish, atol=1e-15, btol=1e-15, conlim=0, maxiter=ITERATIONS)[0]
    return np.asarray(room * step), cost


def repaired_duals(
    program: Program, v: Vector, bound: LowerBound, lower: Vector, upper: Vector, curvature: Vector
) -> Vector:
    """Dual values near those of a bound under which the gradients that cost most vanish.

    Parameters
    ----------
    program
        A minimisation.
    v
        Where the gradient of a quadratic objective is taken.
    bound
        What the dual values prove now.
    lower, upper, curvature
        What holds the variables, as :class:`~relift.approximate.lower_bound.BoundProver` knows it.

    Examples
    --------
    >>> from relift.approximate.lower_bound import BoundProver
    >>> program = Program(q=[1.0, 1.0], A=[[1.0, 0.0], [0.0, 1.0]], l=[0.0, 0.0], lb=-9, ub=9)
    >>> v = np.zeros(2)
    >>> bound = BoundProver(program).prove(v, np.array([-1.01, -0.9999]))
    >>> repaired_duals(program, v, bound, program.lb, program.ub, np.zeros(2)).round(9).tolist()
    [-1.0, -0.9999]
    """
    y, g, A = bound.y, bound.gradient, program.A.tocsr()
    unheld = (curvature == 0) & np.isinf(lower) & np.isinf(upper)
    if bound.loose.size:  # nothing is proved unless these vanish
        needed = np.union1d(np.flatnonzero(unheld), bound.loose)
    else:
        needed = np.union1d(np.flatnonzero(unheld), _costliest(bound.variable_gap))
    inside = (v > lower) & (v < upper)
    free = inside | (curvature > 0)
    free[needed] = True
    room = _room(A, program, v, y, np.where(free, np.inf, np.abs(g)))
    rows = np.flatnonzero(room)
    if rows.size == 0 or needed.size == 0:
        return y
    system = (sparse.diags_array(room[rows]) @ A[rows])[:, needed].T.tocsr()
    step = lsmr(system, -g[needed], atol=1e-15, btol=1e-15, conlim=0, maxiter=ITERATIONS)[0]
    if not np.isfinite(step).all():
        return y
    moved = y.copy()
    moved[rows] += room[rows] * step
    return payable(moved, program.l, program.u)


def _costliest(gap: Vector) -> Indices:
    """The variables that together make nine tenths of the gap."""
    order = np.argsort(-gap, kind="stable")
    total = np.cumsum(gap[order])
    if not total.size or total[-1] <= 0:
        return order[:0]
    return order[: int(np.searchsorted(total, 0.9 * total[-1])) + 1]


def _room(A: SparseMatrix, program: Program, v: Vector, y: Vector, gradient_room: Vector) -> Vector:
    """How far each dual value may go: in proportion to its size, and not through the gradients that are right."""
    Av = A @ v
    near = 1e-6 * (1.0 + np.abs(Av))
    is_tight = ((Av - program.l) <= near) | ((program.u - Av) <= near)
    usual = float(np.abs(y[y != 0]).mean()) if y.any() else 1.0
    room = np.abs(y) + np.where(program.l == program.u, usual, np.where(is_tight, 1e-2 * usual, 0.0))
    filled = np.flatnonzero(np.diff(A.indptr))
    if filled.size:
        with np.errstate(divide="ignore", invalid="ignore"):
            of_entries = np.where(A.data != 0, gradient_room[A.indices] / np.abs(A.data), np.inf)
        room[filled] = np.minimum(room[filled], np.minimum.reduceat(of_entries, A.indptr[filled]))
    return room
