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

import warnings
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Indices, Matrix, SparseMatrix, Vector
from relift.program.cone_distance import pushed_into
from relift.program.magnitudes import transposed_product
from relift.program.passes import core_for, parts_of
from relift.program.program import Program
from relift.program.quadratic_passes import compiled_constraints, largest_of_constraints
from relift.program.solution import Solution
from relift.records import cached_property
from relift.solvers.smooth_cones import ActiveCones, duals_of_functions, function_values

if TYPE_CHECKING:
    from types import ModuleType

STEPS = 5
"""Newton steps at most."""

ENOUGH = 1e-6
"""No more steps once the largest violation is this much of what the certificate asks for, relative to the smallest size
of a constraint or of the costs: where these are small, so are violations that are large beside them."""

SHIFT = 1e-13
"""On the diagonal of the system, for constraints that are active but not independent."""

SMALL = 250
"""Up to so many variables and active constraints together the system is a dense one: a sparse solve of one of 20 takes
milliseconds, nearly all of them to make matrices."""

MOST_COMPILED = 160
"""Up to so many of these relift's core does all steps; with more, LAPACK solves the systems more quickly."""

_NOTHING, _NO_PLACES = np.zeros(0), np.zeros(0, np.int64)


class _Point(NamedTuple):
    """A point with all dual values."""

    x: Vector
    y: Vector
    w: Vector
    z: Vector
    v: Vector


def polished(program: Program, solution: Solution, tolerance: float = 0.0) -> Solution:
    """The solution after a few Newton steps, or as it was if they do not help.

    Parameters
    ----------
    program
        A minimisation.
    solution
        A point with all dual values.
    tolerance
        The residual that the certificate will ask for; 0 for as many digits as there are.
    """
    x, y, w, z, v = solution.x, solution.y, solution.w, solution.z, solution.v
    if len(program.conic) == 0:
        v = _NOTHING
    if x is None or y is None or w is None or z is None or v is None:
        return solution
    given = _Point(x, y, w, z, v)
    if len(program.conic) == 0 and (core := core_for(program.A, program.P, program.quadratic.q)) is not None:
        found = _by_the_core(core, program, given, tolerance)
        if found is not None:
            return solution if found is given else solution.but(**found._asdict(), objective=program.objective(found.x))
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
            if size <= ENOUGH * tolerance * conditions.smallest_size:
                break
    is_valid = _keeps_signs(best.y, y) and _keeps_signs(best.w, w)
    if best is given or not is_valid:
        return solution
    x, y, w, z, v = best
    return solution.but(x=x, y=y, w=w, z=z, v=v, objective=program.objective(x))


def _by_the_core(core: ModuleType, program: Program, given: _Point, tolerance: float) -> _Point | None:
    """The point after a few steps, or as it was, in one compiled call; None where too much is active for it."""
    A, P, rows = program.A, program.P, program.quadratic
    x, y, w, z = (np.array(part, np.float64) for part in given[:4])  # copies, which are changed
    constraints = compiled_constraints(rows.parts, A, P)
    sides = tuple(np.ascontiguousarray(each) for each in (program.q, program.l, program.u, program.lb, program.ub))
    said = core.newton_polish(
        parts_of(A, P, rows.q), A.format == "csr", None if P is None else parts_of(P, A, rows.q), sides, constraints,
        (x, y, w, z), (STEPS, MOST_COMPILED, ENOUGH * tolerance, SHIFT),
    )  # fmt: skip
    if said < 0:
        return None
    return _Point(x, y, w, z, given.v) if said else given


class _Residues(NamedTuple):
    """How far a point is from meeting each condition, active or not: rows, bounds, slack of cones, g of cones."""

    rows: Vector
    bounds: Vector
    curved: Vector
    slack: Vector
    cones: Vector


class _Conditions:
    """The conditions that are active at a point, and Newton's method on them."""

    def __init__(self, program: Program, at: _Point) -> None:
        self.program = program
        self.has_cones = len(program.conic) > 0
        self._looked_at: tuple[_Point, _Residues] | None = None
        self.rows = _active(at.y, program.A @ at.x, program.l, program.u)
        self.bounds = _active(at.w, at.x, program.lb, program.ub)
        residues = self.residues(at)
        self.curved = np.flatnonzero(at.z > residues.curved)
        self.cones = ActiveCones.at(program.conic, residues.slack, at.v) if self.has_cones else _no_cones(program)
        n_active = sum(each.size for each in (self.rows, self.bounds, self.curved, self.cones.tips, self.cones.curved))
        self.is_small = at.x.size + n_active <= SMALL
        self.dense = _DenseParts.of(self) if self.is_small else None

    @cached_property
    def smallest_size(self) -> float:
        """The largest entry of the costs, or of the matrix of a constraint where that is smaller; at most 1."""
        rows, costs = self.program.quadratic, float(np.abs(self.program.q).max(initial=0.0))
        of_matrices = 2.0 * largest_of_constraints(rows.entries, np.ones(self.program.n_variables), len(rows))
        return min(1.0, costs, float(of_matrices.min(initial=1.0)))

    @cached_property
    def normals_of_rows(self) -> SparseMatrix:
        program = self.program
        normals: SparseMatrix = sparse.vstack(
            [
                program.A.tocsr()[self.rows],
                sparse.eye_array(program.n_variables, format="csr")[self.bounds],
                program.conic.A[self.cones.tips],
            ]
        ).tocsr()
        return normals

    def residues(self, at: _Point) -> _Residues:
        """Those of a point; the last ones are kept, since a step begins where the last error was measured."""
        if self._looked_at is not None and self._looked_at[0] is at:
            return self._looked_at[1]
        program = self.program
        slack = program.conic.slack(at.x) if self.has_cones else _NOTHING
        found = _Residues(
            _targets(at.y, program.l, program.u) - program.A @ at.x if program.n_rows else _NOTHING,
            _targets(at.w, program.lb, program.ub) - at.x,
            program.quadratic.r - program.quadratic.values_at(at.x),
            slack,
            function_values(program.conic, slack) if self.has_cones else _NOTHING,
        )
        self._looked_at = (at, found)
        return found

    def gaps(self, at: _Point) -> list[Vector]:
        """How far each active condition is from being met: rows, bounds, tips, quadratic constraints, cones."""
        found, cones = self.residues(at), self.cones
        return [
            found.rows[self.rows],
            found.bounds[self.bounds],
            found.slack[cones.tips],
            found.curved[self.curved],
            found.cones[cones.curved],
        ]

    def after_a_step(self, at: _Point) -> _Point | None:
        program, cones, n = self.program, self.cones, at.x.size
        slack, prices = self.residues(at).slack, _NOTHING
        only = np.zeros_like(at.z)
        only[self.curved] = at.z[self.curved]
        gradient = program.q + program.quadratic.gradient(at.x, only)
        if self.has_cones:
            prices = duals_of_functions(program.conic, at.v)[cones.curved]
            kept = cones.duals(slack, prices, np.zeros(cones.tips.size), at.v)
            gradient = gradient + transposed_product(program.conic.A, kept)
        if program.P is not None:
            gradient = gradient + program.P @ at.x
        gaps = self.gaps(at)
        # Unknowns: the step in x, the new dual values of linear conditions, the changes of those of curved ones.
        right = np.concatenate([-gradient, *gaps])
        step = (self._dense_step if self.is_small else self._sparse_step)(at, only, prices, slack, right)
        if step is None:
            return None
        ends = list(accumulate((part.size for part in gaps), initial=n))
        of_rows, of_bounds, of_tips, of_curved, of_cones = (step[i:j] for i, j in pairwise(ends))
        x = at.x + step[:n]
        y, w, z = np.zeros_like(at.y), np.zeros_like(at.w), np.zeros_like(at.z)
        y[self.rows], w[self.bounds] = of_rows, of_bounds
        # A constraint that wants a negative dual value is let go; if it must not be, the error says so.
        z[self.curved] = np.maximum(only[self.curved] + of_curved, 0.0)
        self.curved = self.curved[z[self.curved] > 0]
        if not self.has_cones:
            return _Point(x, y, w, z, _NOTHING)
        v = cones.duals(program.conic.slack(x), prices + of_cones, of_tips, at.v)
        return _Point(x, y, w, z, v) if np.isfinite(v).all() else None

    def _sparse_step(self, at: _Point, z: Vector, prices: Vector, slack: Vector, right: Vector) -> Vector | None:
        program, cones = self.program, self.cones
        H = program.quadratic.hessian(z) + cones.bend(slack, prices)
        if program.P is not None:
            H = H + program.P
        parts = [self.normals_of_rows, _gradients(program, at.x, self.curved), cones.normals(slack)]
        return _solved(H, sparse.vstack(parts).tocsr(), right)

    def _dense_step(self, at: _Point, z: Vector, prices: Vector, slack: Vector, right: Vector) -> Vector | None:
        """The same as :meth:`_sparse_step`, for few variables."""
        assert self.dense is not None, "the system is not small"
        dense, cones, rows, n = self.dense, self.cones, self.program.quadratic, at.x.size
        H = _summed(dense.places, z[rows.owner] * rows.values, (n, n))
        steep = _summed(dense.steep_places, rows.values * at.x[rows.second], (len(rows), n))
        parts = [dense.normals, (steep + dense.q)[self.curved]]
        if dense.P is not None:
            H = H + dense.P
        if cones.curved.size:
            H = H + cones.bend(slack, prices).toarray()
            parts.append(cones.normals(slack).toarray())
        return _solved_densely(H, np.vstack(parts), right)

    def error(self, at: _Point) -> float:
        """The largest violation of the conditions."""
        program, found = self.program, self.residues(at)
        gradient = program.q + at.w + program.quadratic.gradient(at.x, at.z)
        if program.n_rows:
            gradient = gradient + transposed_product(program.A, at.y)
        if program.P is not None:
            gradient = gradient + program.P @ at.x
        pushes: list[Vector] = []
        if self.has_cones:
            gradient = gradient + transposed_product(program.conic.A, at.v)
            ones = np.ones(found.slack.size)
            pushes = [
                pushed_into(program.conic, found.slack, ones)[0],
                pushed_into(program.conic, at.v, ones, dual=True)[0],
            ]
        excess = np.maximum(-found.curved, 0.0)
        every = np.concatenate([gradient, excess, *self.gaps(at), *pushes])
        return float(np.abs(every).max(initial=0.0))


class _DenseParts(NamedTuple):
    """What the dense systems of all steps have in common: normals, places of curvatures and of slopes, q_k, and P."""

    normals: Matrix
    places: Indices
    steep_places: Indices
    q: Matrix
    P: Matrix | None

    @classmethod
    def of(cls, conditions: _Conditions) -> _DenseParts:
        program, bounds, n = conditions.program, conditions.bounds, conditions.program.n_variables
        rows, unit = program.quadratic, np.zeros((bounds.size, n))
        unit[np.arange(bounds.size), bounds] = 1.0
        parts = [_dense_rows(program.A, conditions.rows), unit]
        if conditions.has_cones:
            parts.append(_dense_rows(program.conic.A, conditions.cones.tips))
        P = None if program.P is None else program.P.toarray()
        return cls(np.vstack(parts), rows.first * n + rows.second, rows.owner * n + rows.first, rows.q.toarray(), P)


def _no_cones(program: Program) -> ActiveCones:
    return ActiveCones(program.conic, _NO_PLACES, _NO_PLACES, np.zeros(0, bool))


def _summed(places: Indices, values: Vector, shape: tuple[int, int]) -> Matrix:
    """A dense matrix of entries at places, counted row by row; those at one place are added."""
    return np.asarray(np.bincount(places, values, shape[0] * shape[1]), np.float64).reshape(shape)


def _dense_rows(matrix: SparseMatrix, chosen: Indices) -> Matrix:
    """Some rows of a matrix with few columns."""
    rows: Matrix = matrix.toarray()[chosen] if chosen.size else np.zeros((0, matrix.shape[1]))
    return rows


def _solved_densely(H: Matrix, normals: Matrix, right: Vector) -> Vector | None:
    n, k = H.shape[0], normals.shape[0]
    system = np.zeros((n + k, n + k))
    system[:n, :n], system[n:, :n], system[:n, n:] = H, normals, normals.T
    system.flat[:: n + k + 1] += np.repeat((SHIFT, -SHIFT), (n, k))
    try:
        step: Vector = np.asarray(np.linalg.solve(system, right), np.float64)
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() else None


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
