r"""The last digits of a program with quadratic constraints, by a few Newton steps on its optimality conditions.

A cone solver that stops at a gap of :math:`\varepsilon` leaves stationarity at :math:`\sqrt\varepsilon`: along the
surface of a curved constraint the objective is flat. With the active constraints known (their dual value exceeds
their slack), the conditions

.. math:: Px + q + A^\top y + w + \sum_k z_k (P_k x + q_k) = 0,\quad a_i x = b_i,\quad x_j = b_j,\quad f_k(x) = r_k

are a square system in x and the active dual values, on which Newton's method converges quadratically. Cones on whose
boundary the slack lies take part as smooth functions, :math:`g_k(b - Cx) = 0` (:mod:`~relift.solvers.smooth_cones`),
those at whose tip it lies as equalities. The answer is kept only if it is better; the certificate decides in the end,
as always.
"""

from __future__ import annotations

import dataclasses
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.program.cone_distance import pushed_into
from relift.program.program import Program
from relift.program.solution import Solution
from relift.solvers.smooth_cones import ActiveCones, duals_of_functions, function_values

STEPS = 5
"""Newton steps at most."""

SHIFT = 1e-13
"""On the diagonal of the system, for constraints that are active but not independent."""


class _Point(NamedTuple):
    """A point with all dual values."""

    x: Vector
    y: Vector
    w: Vector
    z: Vector
    v: Vector


def polished(program: Program, solution: Solution) -> Solution:
    """The solution after a few Newton steps, or as it was if they do not help.

    Parameters
    ----------
    program
        A minimisation.
    solution
        A point with all dual values.
    """
    x, y, w, z, v = solution.x, solution.y, solution.w, solution.z, solution.v
    if len(program.conic) == 0:
        v = np.zeros(0)
    if x is None or y is None or w is None or z is None or v is None:
        return solution
    given = _Point(x, y, w, z, v)
    with np.errstate(all="ignore"):
        conditions = _Conditions(program, given)
        best, best_size = given, conditions.error(given)
        point: _Point | None = given
        for _ in range(STEPS):
            assert point is not None
            point = conditions.after_a_step(point)
            if point is None:
                break
            size = conditions.error(point)
            if not size < best_size:
                break
            best, best_size = point, size
    is_valid = _keeps_signs(best.y, y) and _keeps_signs(best.w, w)
    if best is given or not is_valid:
        return solution
    return dataclasses.replace(solution, **best._asdict(), objective=program.objective(best.x))


class _Conditions:
    """The conditions that are active at a point, and Newton's method on them."""

    def __init__(self, program: Program, at: _Point) -> None:
        self.program = program
        self.rows = _active(at.y, program.A @ at.x, program.l, program.u)
        self.bounds = _active(at.w, at.x, program.lb, program.ub)
        self.curved = np.flatnonzero(at.z > program.quadratic.r - program.quadratic.values_at(at.x))
        self.cones = ActiveCones.at(program.conic, program.conic.slack(at.x), at.v)
        self.normals_of_rows = sparse.vstack(
            [
                program.A.tocsr()[self.rows],
                sparse.eye_array(at.x.size, format="csr")[self.bounds],
                program.conic.A[self.cones.tips],
            ]
        ).tocsr()

    def gaps(self, at: _Point) -> list[Vector]:
        """How far each active condition is from being met: rows, bounds, tips, quadratic constraints, cones."""
        program, slack = self.program, self.program.conic.slack(at.x)
        return [
            (_targets(at.y, program.l, program.u) - program.A @ at.x)[self.rows],
            (_targets(at.w, program.lb, program.ub) - at.x)[self.bounds],
            slack[self.cones.tips],
            (program.quadratic.r - program.quadratic.values_at(at.x))[self.curved],
            function_values(program.conic, slack)[self.cones.curved],
        ]

    def after_a_step(self, at: _Point) -> _Point | None:
        program, cones, n = self.program, self.cones, at.x.size
        quadratic, slack = program.quadratic, program.conic.slack(at.x)
        only = np.zeros_like(at.z)
        only[self.curved] = at.z[self.curved]
        prices = duals_of_functions(program.conic, at.v)[cones.curved]
        kept = cones.duals(slack, prices, np.zeros(cones.tips.size), at.v)
        H = quadratic.hessian(only) + cones.bend(slack, prices)
        gradient = program.q + quadratic.gradient(at.x, only) + program.conic.A.T @ kept
        if program.P is not None:
            H, gradient = H + program.P, gradient + program.P @ at.x
        normals = sparse.vstack(
            [self.normals_of_rows, _gradients(program, at.x, self.curved), cones.normals(slack)]
        ).tocsr()
        gaps = self.gaps(at)
        # Unknowns: the step in x, the new dual values of linear conditions, the changes of those of curved ones.
        step = _solved(H, normals, np.concatenate([-gradient, *gaps]))
        if step is None:
            return None
        of_rows, of_bounds, of_tips, of_curved, of_cones = np.split(
            step[n:], np.cumsum([part.size for part in gaps])[:-1]
        )
        x = at.x + step[:n]
        y, w, z = np.zeros_like(at.y), np.zeros_like(at.w), np.zeros_like(at.z)
        y[self.rows], w[self.bounds] = of_rows, of_bounds
        # A constraint that wants a negative dual value is let go; if it must not be, the error says so.
        z[self.curved] = np.maximum(only[self.curved] + of_curved, 0.0)
        self.curved = self.curved[z[self.curved] > 0]
        v = cones.duals(program.conic.slack(x), prices + of_cones, of_tips, at.v)
        return _Point(x, y, w, z, v) if np.isfinite(v).all() else None

    def error(self, at: _Point) -> float:
        """The largest violation of the conditions."""
        program = self.program
        slack = program.conic.slack(at.x)
        gradient = program.q + program.A.T @ at.y + at.w + program.quadratic.gradient(at.x, at.z)
        gradient = gradient + program.conic.A.T @ at.v
        if program.P is not None:
            gradient = gradient + program.P @ at.x
        excess = np.maximum(program.quadratic.values_at(at.x) - program.quadratic.r, 0.0)
        ones = np.ones(slack.size)
        pushes = [pushed_into(program.conic, slack, ones)[0], pushed_into(program.conic, at.v, ones, dual=True)[0]]
        return max(float(np.abs(part).max(initial=0.0)) for part in (gradient, excess, *self.gaps(at), *pushes))


def _solved(H: SparseMatrix, normals: SparseMatrix, right: Vector) -> Vector | None:
    from scipy.sparse import linalg as sparse_linalg

    n, k = H.shape[0], normals.shape[0]
    system = sparse.block_array(
        [[H + SHIFT * sparse.eye_array(n), normals.T], [normals, -SHIFT * sparse.eye_array(k)]]
    ).tocsc()
    with warnings.catch_warnings():
        warnings.simplefilter("error", sparse_linalg.MatrixRankWarning)
        try:
            step = sparse_linalg.spsolve(system, right)
        except (RuntimeError, ValueError, sparse_linalg.MatrixRankWarning):
            return None
    return step if np.isfinite(step).all() else None


def _active(dual_value: Vector, value: Vector, lower: Vector, upper: Vector) -> NDArray[np.int64]:
    """Where the dual value exceeds the distance from its active bound."""
    slack = np.where(dual_value > 0, upper - value, value - lower)
    return np.flatnonzero(np.abs(dual_value) > np.abs(slack))


def _targets(dual_value: Vector, lower: Vector, upper: Vector) -> Vector:
    return np.where(dual_value > 0, upper, lower)


def _gradients(program: Program, x: Vector, curved: NDArray[np.int64]) -> sparse.csr_array:
    """P_k x + q_k of the active quadratic constraints, one row each."""
    rows = program.quadratic
    products = sparse.coo_array((rows.values * x[rows.second], (rows.owner, rows.first)), shape=rows.q.shape)
    return (products.tocsr() + rows.q)[curved]


def _keeps_signs(new: Vector, old: Vector) -> bool:
    return bool(np.all(new * old >= 0))
