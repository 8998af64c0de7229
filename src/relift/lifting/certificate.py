r"""Is this answer right? Computed on the ground program alone, trusting neither the solver nor our kernel (stage 7).

For a point with multipliers, :math:`\rho = Px + q + A^\top y + w`:

- *primal residual*: how far x breaks a row or bound, relative to 1 + the bound (for a quadratic constraint, + its
  curved part at x);
- *dual residual*: the largest :math:`|\rho_j|`, and the largest multiplier that presses on an infinite bound,
  relative to 1 + the largest entry of Px, q, A'y and w;
- *duality gap*: :math:`\sum_i |y_i| |a_i x - b_i| + \sum_j |w_j| |x_j - b_j| + \sum_j |\rho_j x_j|` relative to
  1 + |objective|, with b the bound that the sign of the multiplier presses on. The terms of the gap are added by
  size, so that a violated row and a loose one cannot cancel: tiny violations under huge multipliers, which solvers
  overlook (LISWET, YAO), show here.

For an infeasible program, w is set to :math:`-A^\top y` where the bounds allow it; then
:math:`\beta = -(u^\top y^+ - l^\top y^- + ub^\top w^+ - lb^\top w^-) > 0` is a proof, up to the *ray residual*: what
w could not take, divided by β. A feasible point would need a 1-norm of at least 1 / residual.
For an unbounded one, d must keep rows and bounds, Pd = 0 and q'd < 0, relative to |q'd|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.sparse import linalg as sparse_linalg

from relift.program.program import Program
from relift.program.solution import Solution, Status, Vector


@final
@dataclass(frozen=True)
class Certificate:
    """Residuals of an answer on the ground program.

    Parameters
    ----------
    tolerance
        What each of them may be at most.
    primal_residual, dual_residual, duality_gap
        Of a point, all relative; NaN if there is no point (or, for the last two, no multipliers).
    ray_residual
        Of a proof of infeasibility or unboundedness, relative; NaN if there is none.
    objective
        Objective at the point, in the sense of the program.
    """

    tolerance: float
    primal_residual: float = float("nan")
    dual_residual: float = float("nan")
    duality_gap: float = float("nan")
    ray_residual: float = float("nan")
    objective: float = float("nan")

    @property
    def is_optimal(self) -> bool:
        """Whether point and multipliers prove each other optimal within the tolerance."""
        return self.worst_residual <= self.tolerance

    @property
    def is_feasible(self) -> bool:
        """Whether the point keeps all rows and bounds within the tolerance."""
        return self.primal_residual <= self.tolerance

    @property
    def is_proved(self) -> bool:
        """Whether the ray proves infeasibility or unboundedness within the tolerance."""
        return self.ray_residual <= self.tolerance

    @property
    def worst_residual(self) -> float:
        """The largest of the three residuals of a point; NaN if one is missing."""
        return float(np.max([self.primal_residual, self.dual_residual, self.duality_gap]))


def certify(program: Program, solution: Solution, tolerance: float = 1e-6) -> Certificate:
    """Check an answer on its program.

    Parameters
    ----------
    program
        The ground program.
    solution
        The answer; its own objective and status text are not trusted, only the vectors are read.
    tolerance
        The largest relative residual that passes.

    Examples
    --------
    >>> program = Program(q=[1.0], lb=[2.0])
    >>> good = Solution(Status.OPTIMAL, x=np.array([2.0]), y=np.zeros(0), w=np.array([-1.0]))
    >>> certify(program, good).is_optimal
    True
    >>> wrong = Solution(Status.OPTIMAL, x=np.array([2.5]), y=np.zeros(0), w=np.array([-1.0]))
    >>> certify(program, wrong).is_optimal
    False
    """
    minimisation = program.minimisation()
    if solution.status == Status.INFEASIBLE:
        residual = infeasibility_residual(minimisation, solution.ray_y, solution.ray_z, solution.ray_w)
        return Certificate(tolerance, ray_residual=residual)
    if solution.status == Status.UNBOUNDED:
        primal = _primal_residual(minimisation, solution.x) if solution.x is not None else float("nan")
        return Certificate(tolerance, primal, ray_residual=unboundedness_residual(minimisation, solution.ray_x))
    if solution.x is None:
        return Certificate(tolerance)
    x = solution.x
    objective = program.objective(x)
    primal = _primal_residual(minimisation, x)
    z = np.zeros(0) if len(program.quadratic) == 0 else solution.z
    if solution.y is None or solution.w is None or z is None:
        return Certificate(tolerance, primal, objective=objective)
    dual, gap = _dual_residual_and_gap(minimisation, x, solution.y, solution.w, z)
    return Certificate(tolerance, primal, dual, gap, objective=objective)


def _primal_residual(program: Program, x: Vector) -> float:
    if not np.isfinite(x).all():
        return float("inf")
    worst = 0.0
    for value, lower, upper in ((program.A @ x, program.l, program.u), (x, program.lb, program.ub)):
        below = np.maximum(lower - value, 0.0) / (1.0 + np.abs(lower))
        above = np.maximum(value - upper, 0.0) / (1.0 + np.abs(upper))
        below[np.isinf(lower)] = 0.0
        above[np.isinf(upper)] = 0.0
        worst = max(worst, float(below.max(initial=0.0)), float(above.max(initial=0.0)))
    values = program.quadratic.values_at(x)
    curved = values - program.quadratic.q @ x
    excess = (values - program.quadratic.r) / (1.0 + np.abs(program.quadratic.r) + np.abs(curved))
    return max(worst, float(excess.max(initial=0.0)))


def _dual_residual_and_gap(program: Program, x: Vector, y: Vector, w: Vector, z: Vector) -> tuple[float, float]:
    if not all(np.isfinite(vector).all() for vector in (x, y, w, z)):
        return float("inf"), float("inf")
    Px = np.zeros_like(x) if program.P is None else program.P @ x
    Aty = program.A.T @ y
    curved = program.quadratic.gradient(x, z)
    rho = Px + program.q + Aty + w + curved
    size = 1.0 + max(float(np.abs(term).max(initial=0.0)) for term in (Px, program.q, Aty, w, curved))
    dual = max(float(np.abs(rho).max(initial=0.0)), float(-z.min(initial=0.0))) / size
    gap = float(np.abs(rho * x).sum())
    gap += float(np.abs(z * (program.quadratic.values_at(x) - program.quadratic.r)).sum())
    objective = 0.5 * float(x @ Px) + float(program.q @ x) + program.r
    for multiplier, value, lower, upper in (
        (y, program.A @ x, program.l, program.u),
        (w, x, program.lb, program.ub),
    ):
        bound = np.where(multiplier > 0, upper, lower)
        presses = multiplier != 0
        nothing = presses & np.isinf(bound)
        dual = max(dual, float(np.abs(multiplier[nothing]).max(initial=0.0)) / size)
        real = presses & ~nothing
        gap += float(np.abs(multiplier[real] * (value[real] - bound[real])).sum())
    return dual, gap / (1.0 + abs(objective))


def infeasibility_residual(
    program: Program, ray_y: Vector | None, ray_z: Vector | None = None, ray_w: Vector | None = None
) -> float:
    """How far multipliers are from a proof that no point is feasible; infinite if they prove nothing.

    With quadratic constraints, M = sum_k z_k P_k and c = A'y + sum_k z_k q_k: for every v, a feasible x has
    (Mv + c + w)'x - ½v'Mv <= support, so that w = -(Mv + c) and support + ½v'Mv < 0 is a proof.
    """
    if ray_y is None or not np.isfinite(ray_y).all():
        return float("inf")
    y = np.where((ray_y > 0) & np.isinf(program.u) | (ray_y < 0) & np.isinf(program.l), 0.0, ray_y)
    slope, bend, right = program.A.T @ y, 0.0, 0.0
    if len(program.quadratic) and ray_z is not None and np.any(ray_z > 0):
        z = np.maximum(ray_z, 0.0)
        M = program.quadratic.hessian(z)
        slope = slope + program.quadratic.q.T @ z
        v = sparse_linalg.lsqr(M, -(slope + (0.0 if ray_w is None else ray_w)), atol=1e-14, btol=1e-14)[0]
        slope, bend, right = slope + M @ v, 0.5 * float(v @ (M @ v)), float(z @ program.quadratic.r)
    w = -slope
    loose = (w > 0) & np.isinf(program.ub) | (w < 0) & np.isinf(program.lb)
    residual = float(np.abs(w[loose]).max(initial=0.0))
    w = np.where(loose, 0.0, w)
    support = _support(y, program.l, program.u) + _support(w, program.lb, program.ub) + right + bend
    return residual / -support if support < 0 else float("inf")


def unboundedness_residual(program: Program, ray_x: Vector | None) -> float:
    """How far a direction is from a proof that the objective falls for ever; infinite if it proves nothing."""
    if ray_x is None or not np.isfinite(ray_x).all():
        return float("inf")
    slope = float(program.q @ ray_x)
    if slope >= 0:
        return float("inf")
    worst = 0.0 if program.P is None else float(np.abs(program.P @ ray_x).max(initial=0.0))
    rows = program.quadratic
    worst = max(worst, float((rows.q @ ray_x).max(initial=0.0)))
    worst = max(worst, rows.bend(ray_x))
    for value, lower, upper in ((program.A @ ray_x, program.l, program.u), (ray_x, program.lb, program.ub)):
        above = value[np.isfinite(upper)].max(initial=0.0)
        below = -value[np.isfinite(lower)].min(initial=0.0)
        worst = max(worst, float(above), float(below))
    return worst / -slope


def _support(multiplier: Vector, lower: Vector, upper: Vector) -> float:
    """The sum of upper'm⁺ - lower'm⁻ over the multipliers that are not zero."""
    bound = np.where(multiplier > 0, upper, lower)
    presses = multiplier != 0
    return float(multiplier[presses] @ bound[presses])
