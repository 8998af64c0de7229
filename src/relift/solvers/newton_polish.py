r"""The last digits of a program with quadratic constraints, by a few Newton steps on its optimality conditions.

A cone solver that stops at a gap of :math:`\varepsilon` leaves stationarity at :math:`\sqrt\varepsilon`: along the
surface of a curved constraint the objective is flat. With the active constraints known (their multiplier exceeds
their slack), the conditions

.. math:: Px + q + A^\top y + w + \sum_k z_k (P_k x + q_k) = 0,\quad a_i x = b_i,\quad x_j = b_j,\quad f_k(x) = r_k

are a square system in x and the active multipliers, on which Newton's method converges quadratically. Its answer is
kept only if it is better; the certificate decides in the end, as always.
"""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from relift.program.program import Program
from relift.program.solution import Solution, Vector

STEPS = 5
"""Newton steps at most."""

SHIFT = 1e-13
"""On the diagonal of the system, for constraints that are active but not independent."""


def polished(program: Program, solution: Solution) -> Solution:
    """The solution after a few Newton steps, or as it was if they do not help.

    Parameters
    ----------
    program
        A minimisation.
    solution
        A point with all multipliers.
    """
    x, y, w, z = solution.x, solution.y, solution.w, solution.z
    if x is None or y is None or w is None or z is None:
        return solution
    rows = _active(y, program.A @ x, program.l, program.u)
    bounds = _active(w, x, program.lb, program.ub)
    curved = np.flatnonzero(z > program.quadratic.r - program.quadratic.values_at(x))
    best, best_size = (x, y, w, z), _error(program, x, y, w, z, rows, bounds, curved)
    point = best
    for _ in range(STEPS):
        step = _newton_step(program, *point, rows, bounds, curved)
        if step is None:
            break
        point = step
        size = _error(program, *point, rows, bounds, curved)
        if not size < best_size:
            break
        best, best_size = point, size
    x, y, w, z = best
    is_valid = _keeps_signs(y, solution.y) and _keeps_signs(w, solution.w) and bool(np.all(z >= 0))
    if best[0] is solution.x or not is_valid:
        return solution
    return dataclasses.replace(solution, x=x, y=y, w=w, z=z, objective=program.objective(x))


def _active(multiplier: Vector, value: Vector, lower: Vector, upper: Vector) -> np.ndarray:
    """Where the multiplier exceeds the distance from the bound it presses on."""
    slack = np.where(multiplier > 0, upper - value, value - lower)
    return np.flatnonzero(np.abs(multiplier) > np.abs(slack))


def _targets(multiplier: Vector, lower: Vector, upper: Vector) -> Vector:
    return np.where(multiplier > 0, upper, lower)


def _newton_step(
    program: Program,
    x: Vector,
    y: Vector,
    w: Vector,
    z: Vector,
    rows: np.ndarray,
    bounds: np.ndarray,
    curved: np.ndarray,
) -> tuple[Vector, Vector, Vector, Vector] | None:
    n = x.size
    quadratic = program.quadratic
    only = np.zeros(len(quadratic))
    only[curved] = z[curved]
    H = quadratic.hessian(only)
    gradient = program.q + quadratic.gradient(x, only)
    if program.P is not None:
        H, gradient = H + program.P, gradient + program.P @ x
    normals = sparse.vstack(
        [program.A.tocsr()[rows], sparse.eye_array(n, format="csr")[bounds], _gradients(program, x, curved)]
    ).tocsr()
    gaps = np.concatenate(
        [
            (_targets(y, program.l, program.u) - program.A @ x)[rows],
            (_targets(w, program.lb, program.ub) - x)[bounds],
            (quadratic.r - quadratic.values_at(x))[curved],
        ]
    )
    k = gaps.size
    # Unknowns: the step in x, and the new multipliers of linear rows but the *change* of the curved ones.
    system = sparse.block_array(
        [[H + SHIFT * sparse.eye_array(n), normals.T], [normals, -SHIFT * sparse.eye_array(k)]]
    ).tocsc()
    right = np.concatenate([-gradient, gaps])
    with warnings.catch_warnings():
        warnings.simplefilter("error", sparse_linalg.MatrixRankWarning)
        try:
            step = sparse_linalg.spsolve(system, right)
        except (RuntimeError, sparse_linalg.MatrixRankWarning):
            return None
    if not np.isfinite(step).all():
        return None
    new_y, new_w, new_z = np.zeros_like(y), np.zeros_like(w), np.zeros_like(z)
    new_y[rows] = step[n : n + rows.size]
    new_w[bounds] = step[n + rows.size : n + rows.size + bounds.size]
    new_z[curved] = z[curved] + step[n + rows.size + bounds.size :]
    return x + step[:n], new_y, new_w, new_z


def _gradients(program: Program, x: Vector, curved: np.ndarray) -> sparse.csr_array:
    """P_k x + q_k of the active quadratic constraints, one row each."""
    rows = program.quadratic
    products = sparse.coo_array((rows.values * x[rows.second], (rows.owner, rows.first)), shape=rows.q.shape)
    return (products.tocsr() + rows.q)[curved]


def _error(
    program: Program,
    x: Vector,
    y: Vector,
    w: Vector,
    z: Vector,
    rows: np.ndarray,
    bounds: np.ndarray,
    curved: np.ndarray,
) -> float:
    """The largest violation of the conditions above."""
    gradient = program.q + program.A.T @ y + w + program.quadratic.gradient(x, z)
    if program.P is not None:
        gradient = gradient + program.P @ x
    parts = (
        gradient,
        (_targets(y, program.l, program.u) - program.A @ x)[rows],
        (_targets(w, program.lb, program.ub) - x)[bounds],
        (program.quadratic.r - program.quadratic.values_at(x))[curved],
    )
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)


def _keeps_signs(new: Vector, old: Vector | None) -> bool:
    return old is not None and bool(np.all(new * old >= 0))
