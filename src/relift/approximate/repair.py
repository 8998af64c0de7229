r"""Small corrections that turn a nearly feasible point into a feasible one, of the program or of its dual.

*Primal*: x breaks the rows V a little. The smallest move, measured against the room that each variable has,

.. math:: \min \|s\| \quad\text{with}\quad A_V D s = b_V - A_V x, \qquad x \leftarrow x + D s,

is found by one sparse factorisation, or by LSMR where that is too large, and cut off at the bounds; rows that this
breaks join V, variables that were cut off stay where they are, and so on, a few times.

*Dual*: gradients :math:`g_j = (Pv + q + A^\top y)_j` that should vanish do not quite, those of the variables that
make most of the gap, and of all that nothing else holds. The smallest change of the multipliers that does it, relative
to their size and to the room that the other gradients of their rows leave, is found in the same way.

Neither is a proof: the corrected point is checked, the corrected multipliers prove what they prove.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr, splu

from relift.approximate.lower_bound import Indices, LowerBound, payable
from relift.program.program import Program
from relift.program.solution import Vector

DIRECT_SIZE = 1_000_000
"""Up to this many entries the move is found by a sparse factorisation, beyond that by LSMR."""

ROUNDS = 12
"""How often rows that a move breaks may join."""

ITERATIONS = 300
"""Of LSMR, each time."""


def violation(program: Program, x: Vector) -> float:
    """How far a point breaks a row or bound, relative to 1 + the bound: 0 if feasible.

    Examples
    --------
    >>> violation(Program(q=[0.0], A=[[2.0]], u=[1.0]), np.array([1.0]))
    0.5
    """
    if not np.isfinite(x).all():
        return float("inf")
    worst = 0.0
    for value, lower, upper in ((program.A @ x, program.l, program.u), (x, program.lb, program.ub)):
        off = value - np.clip(value, lower, upper)
        bound = np.where(off > 0, upper, np.where(off < 0, lower, 0.0))
        worst = max(worst, float((np.abs(off) / (1.0 + np.abs(bound))).max(initial=0.0)))
    return worst


def repaired_point(program: Program, x: Vector, tolerance: float) -> Vector | None:
    """A point near x that breaks no row or bound by more than the tolerance, or None if none was found.

    Parameters
    ----------
    program
        A minimisation.
    x
        A point near the feasible set.
    tolerance
        The largest violation, as :func:`violation` measures it.

    Examples
    --------
    >>> program = Program(q=[1.0, 1.0], A=[[1.0, 2.0], [2.0, 1.0]], l=[3.0, 3.1], u=[3.0, 3.1], lb=0)
    >>> x = repaired_point(program, np.array([1.0, 1.0]), 1e-9)
    >>> bool(np.allclose(program.A @ x, [3.0, 3.1]))
    True
    """
    A = program.A.tocsr()
    x = np.clip(x, program.lb, program.ub)
    broken = program.l == program.u
    margin = np.where(
        program.u - program.l > tolerance, 0.05 * tolerance, 0.0
    )  # rows that can be kept with a margin are
    with np.errstate(invalid="ignore"):
        inner_lower = np.where(np.isinf(program.l), program.l, program.l + margin * (1.0 + np.abs(program.l)))
        inner_upper = np.where(np.isinf(program.u), program.u, program.u - margin * (1.0 + np.abs(program.u)))
    blocked = np.zeros(x.size, bool)
    width = program.ub - program.lb
    for _ in range(ROUNDS):
        Ax = A @ x
        target = np.clip(Ax, inner_lower, inner_upper)
        wrong = np.abs(target - Ax) > 0.2 * tolerance * (1.0 + np.abs(target))
        if not wrong.any():
            return x
        broken |= wrong
        room = np.minimum(np.minimum(x - program.lb, program.ub - x), 1.0 + np.abs(x))
        room = np.maximum(room, 0.05 * np.minimum(width, 1.0 + np.abs(x)))  # those at a bound may leave it inwards
        room[blocked] = 0.0
        rows = np.flatnonzero(broken)
        move = _smallest_move(A[rows], room, (target - Ax)[rows])
        if not np.isfinite(move).all():
            return None
        blocked |= (x + move < program.lb) | (x + move > program.ub)
        x = np.clip(x + move, program.lb, program.ub)
    return x if violation(program, x) <= tolerance else None


def _smallest_move(A: Any, room: Vector, wish: Vector) -> Vector:
    """The smallest move d, each entry measured against its room, with A d = wish; nearly so where there is none."""
    n, m = room.size, wish.size
    if A.nnz + n > DIRECT_SIZE:
        step = lsmr(A @ sparse.diags_array(room), wish, atol=1e-15, btol=1e-15, conlim=0, maxiter=ITERATIONS)[0]
        return np.asarray(room * step)
    # The conditions of optimality, as one sparse symmetric system: [D^-2 A'; A -δ] (d, λ) = (0, wish).
    scale = 1.0 / np.maximum(np.sqrt(np.asarray(A.multiply(A) @ np.square(room))), 1e-300)
    scaled = sparse.diags_array(scale) @ A @ sparse.diags_array(room)
    system = sparse.block_array([[sparse.eye_array(n), scaled.T], [scaled, -1e-10 * sparse.eye_array(m)]]).tocsc()
    try:
        factor = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        step = factor.solve(np.concatenate([np.zeros(n), scale * wish]))[:n]
    except RuntimeError:  # singular to working precision
        return np.full(n, np.nan)
    return np.asarray(room * step)


def repaired_multipliers(
    program: Program, v: Vector, bound: LowerBound, lower: Vector, upper: Vector, curvature: Vector
) -> Vector:
    """Multipliers near those of a bound under which the gradients that cost most vanish.

    Parameters
    ----------
    program
        A minimisation.
    v
        Where the gradient of a quadratic objective is taken.
    bound
        What the multipliers prove now.
    lower, upper, curvature
        What holds the variables, as :class:`~relift.approximate.lower_bound.BoundProver` knows it.

    Examples
    --------
    >>> from relift.approximate.lower_bound import BoundProver
    >>> program = Program(q=[1.0, 1.0], A=[[1.0, 0.0], [0.0, 1.0]], l=[0.0, 0.0], lb=-9, ub=9)
    >>> v = np.zeros(2)
    >>> bound = BoundProver(program).prove(v, np.array([-1.01, -0.9999]))
    >>> repaired_multipliers(program, v, bound, program.lb, program.ub, np.zeros(2)).round(9).tolist()
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


def _room(A: Any, program: Program, v: Vector, y: Vector, gradient_room: Vector) -> Vector:
    """How far each multiplier may go: in proportion to its size, and not through the gradients that are right."""
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
