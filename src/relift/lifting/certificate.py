r"""Is this answer right? Computed on the ground program alone, trusting neither the solver nor our kernel (stage 7).

For a point with multipliers, :math:`\rho = Px + q + A^\top y + w`:

- *primal residual*: how far x breaks a row or bound, relative to 1 + the bound (for a quadratic constraint, + its
  curved part at x);
- *dual residual*: the largest :math:`|\rho_j|`, and the largest multiplier that presses on an infinite bound,
  relative to 1 + the largest entry of Px, q, A'y and w;
- *duality gap*: :math:`\sum_i |y_i| |a_i x - b_i| + \sum_j |w_j| |x_j - b_j| + \sum_j |\rho_j| |x_j - e_j|` relative
  to 1 + |objective|, with b the bound that the sign of the multiplier presses on, and e the one to which
  :math:`-\rho` leads: so far the objective may still fall (0 where there is no such bound). The terms of the gap are
  added by size, so that a violated row and a loose one cannot cancel: tiny violations under huge multipliers, which
  solvers overlook (LISWET, YAO), show here.

Cones take part by how far they must be pushed (:mod:`relift.program.cone_distance`). The slack s = b - Cx by its push
relative to 1 + the size of b and s, entry by entry; the multipliers v, in the dual cones, likewise. The gap counts
:math:`|v^\top s|` of each cone, and the price of both pushes, :math:`|v|^\top|\Delta s| + |s|^\top|\Delta v|`, since a
slack outside its cone could make the product look small.

For an infeasible program, v is pushed into the dual cones and w is set to :math:`-A^\top y - C^\top v`
where the bounds allow it; then
:math:`\beta = -(u^\top y^+ - l^\top y^- + ub^\top w^+ - lb^\top w^- + b^\top v) > 0` is a proof, up to the *ray
residual*: what w could not take, divided by β, and by the largest product that could stand in it,
:math:`\max_i |a_{ij}| \max_i |y_i|`.
A feasible point would need a 1-norm of at least 1 / residual; and columns of small entries, whose w is small for that
reason alone, prove nothing. Solvers leave dust on multipliers that have no part in the proof, and dust divided by dust
is no small number: the ray without its dust is tried by the same test (every ray that passes is a proof).
For an unbounded one, d must keep rows, bounds and cones (-Cd in K), Pd = 0 and q'd < 0,
relative to |q'd| and to the largest product in each row. β and q'd must be more than what rounding leaves of their
terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import linalg as sparse_linalg

from relift.errors import OptionError, ShapeError
from relift.program.arrays import as_floats
from relift.program.cone_distance import largest_of_cones, pushed_into
from relift.program.magnitudes import largest_of_columns, largest_of_rows
from relift.program.program import Program
from relift.program.solution import Solution, Status, Vector

ROUNDING = 1e-15
"""A sum this small against its terms may be nothing but rounding."""

DUST = 1e-8
"""Multipliers this small against the largest of a ray may be nothing but what a solver has left there."""


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

    Raises
    ------
    OptionError
        If the answer is none.
    ShapeError, NotANumberError
        If a vector of the answer has another length than the program wants, or is not made of numbers.

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
    solution = _with_fitting_vectors(program, solution)
    minimisation = program.minimisation()
    if solution.status == Status.INFEASIBLE:
        residual = infeasibility_residual(minimisation, solution.ray_y, solution.ray_z, solution.ray_w, solution.ray_v)
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
    v = np.zeros(0) if len(program.conic) == 0 else solution.v
    if solution.y is None or solution.w is None or z is None or v is None:
        return Certificate(tolerance, primal, objective=objective)
    dual, gap = _dual_residual_and_gap(minimisation, x, solution.y, solution.w, z, v)
    return Certificate(tolerance, primal, dual, gap, objective=objective)


def _with_fitting_vectors(program: Program, solution: Solution) -> Solution:
    """The vectors of an answer as arrays of the lengths that the program wants; infinities and NaN may stay."""
    if not isinstance(getattr(solution, "status", None), str):
        raise OptionError(f"{solution!r:.60} is no answer.", "Give a Solution, or what relift.solve returned.")
    sizes = {
        "x": program.n_variables,
        "y": program.n_rows,
        "w": program.n_variables,
        "z": len(program.quadratic),
        "v": program.conic.n_rows,
    }
    sizes |= {f"ray_{name}": size for name, size in sizes.items()}
    vectors: dict[str, Any] = {}
    for name, size in sizes.items():
        given = getattr(solution, name, None)
        if given is None:
            continue
        vectors[name] = as_floats(f"{name} of the solution", given)
        if vectors[name].shape != (size,):
            found = " x ".join(map(str, vectors[name].shape))
            has = f"has {found} entries" if found else "is one number"
            raise ShapeError(f"{name} of the solution {has}, but {size} are needed.", "", name)
    return Solution(solution.status, **vectors)


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
    slack = program.conic.slack(x)
    push, _ = pushed_into(program.conic, slack, _room_of_slack(program, slack))
    return max(worst, float(excess.max(initial=0.0)), float(push.max(initial=0.0)))


def _room_of_slack(program: Program, slack: Vector) -> Vector:
    return 1.0 + np.maximum(np.abs(program.conic.b), np.abs(slack))


def _dual_residual_and_gap(
    program: Program, x: Vector, y: Vector, w: Vector, z: Vector, v: Vector
) -> tuple[float, float]:
    if not all(np.isfinite(vector).all() for vector in (x, y, w, z, v)):
        return float("inf"), float("inf")
    Px = np.zeros_like(x) if program.P is None else program.P @ x
    Aty = program.A.T @ y
    curved = program.quadratic.gradient(x, z)
    Ctv = program.conic.A.T @ v
    rho = Px + program.q + Aty + w + curved + Ctv
    size = 1.0 + max(float(np.abs(term).max(initial=0.0)) for term in (Px, program.q, Aty, w, curved, Ctv))
    dual = max(float(np.abs(rho).max(initial=0.0)), float(-z.min(initial=0.0))) / size
    off_cones, gap_of_cones = _dual_residual_and_gap_of_cones(program, x, v, size)
    dual = max(dual, off_cones)
    end = np.where(rho > 0, program.lb, program.ub)
    gap = gap_of_cones + float(np.abs(rho * (x - np.where(np.isfinite(end), end, 0.0))).sum())
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


def _dual_residual_and_gap_of_cones(program: Program, x: Vector, v: Vector, size: float) -> tuple[float, float]:
    """How far v is from the dual cones, relative to its entries and the gradient's; what cones add to the gap."""
    rows = program.conic
    slack = rows.slack(x)
    _, kept = pushed_into(rows, slack, _room_of_slack(program, slack))
    push, paid = pushed_into(rows, v, size + np.abs(v), dual=True)
    products = np.bincount(rows.cone_of_row, v * slack, len(rows))
    gap = np.abs(products).sum() + (np.abs(v) * np.abs(kept - slack) + np.abs(slack) * np.abs(paid - v)).sum()
    return float(push.max(initial=0.0)), float(gap)


def infeasibility_residual(
    program: Program,
    ray_y: Vector | None,
    ray_z: Vector | None = None,
    ray_w: Vector | None = None,
    ray_v: Vector | None = None,
) -> float:
    """How far multipliers are from a proof that no point is feasible; infinite if they prove nothing.

    With quadratic constraints, M = sum_k z_k P_k and c = A'y + C'v + sum_k z_k q_k: for every point p, a feasible x has
    (Mp + c + w)'x - ½p'Mp <= support, so that w = -(Mp + c) and support + ½p'Mp < 0 is a proof.
    """
    if ray_y is None:
        return float("inf")
    v = np.zeros(program.conic.n_rows) if ray_v is None else ray_v
    z = np.zeros(len(program.quadratic)) if ray_z is None else np.maximum(ray_z, 0.0)
    if not all(np.isfinite(part).all() for part in (ray_y, v, z)):
        return float("inf")
    as_given = _residual_of_ray(program, ray_y, z, ray_w, v)
    if as_given == 0.0:
        return as_given
    dust = DUST * max(_largest(part) for part in (ray_y, z, v))
    size_of_cone = largest_of_cones(program.conic, np.abs(v))[program.conic.cone_of_row]
    cleared = [np.where(size <= dust, 0.0, part) for part, size in ((ray_y, np.abs(ray_y)), (z, z), (v, size_of_cone))]
    return min(as_given, _residual_of_ray(program, cleared[0], cleared[1], ray_w, cleared[2]))


def _residual_of_ray(program: Program, ray_y: Vector, z: Vector, ray_w: Vector | None, v: Vector) -> float:
    y = np.where((ray_y > 0) & np.isinf(program.u) | (ray_y < 0) & np.isinf(program.l), 0.0, ray_y)
    _, v = pushed_into(program.conic, v, np.ones(v.size), dual=True)
    slope, bend, right = program.A.T @ y + program.conic.A.T @ v, 0.0, 0.0
    products = np.maximum(
        largest_of_columns(program.A) * _largest(y), largest_of_columns(program.conic.A) * _largest(v)
    )
    if np.any(z > 0):
        M = program.quadratic.hessian(z)
        slope = slope + program.quadratic.q.T @ z
        point = sparse_linalg.lsqr(M, -(slope + (0.0 if ray_w is None else ray_w)), atol=1e-14, btol=1e-14)[0]
        products = np.maximum(products, largest_of_columns(program.quadratic.q) * _largest(z))
        products = np.maximum(products, largest_of_columns(M) * _largest(point))
        slope, bend, right = slope + M @ point, 0.5 * float(point @ (M @ point)), float(z @ program.quadratic.r)
    w = -slope
    loose = (w > 0) & np.isinf(program.ub) | (w < 0) & np.isinf(program.lb)
    remainder = np.abs(w[loose])
    w = np.where(loose, 0.0, w)
    terms = np.concatenate(
        [_support(y, program.l, program.u), _support(w, program.lb, program.ub), program.conic.b * v, [right, bend]]
    )
    beta = -float(terms.sum())
    if beta <= ROUNDING * float(np.abs(terms).sum()):
        return float("inf")
    return max(_worst_ratio(remainder, beta), _worst_ratio(remainder, products[loose]))


def unboundedness_residual(program: Program, ray_x: Vector | None) -> float:
    """How far a direction is from a proof that the objective falls for ever; infinite if it proves nothing."""
    if ray_x is None or not np.isfinite(ray_x).all():
        return float("inf")
    fall = -float(program.q @ ray_x)
    if fall <= ROUNDING * float(np.abs(program.q * ray_x).sum()):
        return float("inf")
    length, rows = _largest(ray_x), program.quadratic
    parts = [
        (_outwards(program.A @ ray_x, program.l, program.u), largest_of_rows(program.A) * length),
        (_outwards(ray_x, program.lb, program.ub), np.full(ray_x.size, length)),
        (np.maximum(rows.q @ ray_x, 0.0), largest_of_rows(rows.q) * length),
        (np.array([rows.bend(ray_x)]), np.array([_largest(rows.values) * length])),
    ]
    if len(program.conic):
        along, sizes = -(program.conic.A @ ray_x), largest_of_cones(program.conic, largest_of_rows(program.conic.A))
        push, _ = pushed_into(program.conic, along, np.ones(along.size))
        parts.append((push, sizes * length))
    if program.P is not None:
        parts.append((np.abs(program.P @ ray_x), largest_of_rows(program.P) * length))
    return max(max(_worst_ratio(wrong, fall), _worst_ratio(wrong, products)) for wrong, products in parts)


def _outwards(direction: Vector, lower: Vector, upper: Vector) -> Vector:
    """How fast a direction leaves through each finite bound."""
    above = np.where(np.isfinite(upper), np.maximum(direction, 0.0), 0.0)
    below = np.where(np.isfinite(lower), np.maximum(-direction, 0.0), 0.0)
    return np.asarray(above + below, np.float64)


def _largest(vector: Vector) -> float:
    return float(np.abs(vector).max(initial=0.0))


def _worst_ratio(wrong: Vector, sizes: Vector | float) -> float:
    """The largest of wrong / size, over what is wrong at all."""
    return float(np.divide(wrong, sizes, out=np.zeros_like(wrong), where=wrong > 0).max(initial=0.0))


def _support(multiplier: Vector, lower: Vector, upper: Vector) -> Vector:
    """The terms of upper'm⁺ - lower'm⁻, over the multipliers that are not zero."""
    bound = np.where(multiplier > 0, upper, lower)
    presses = multiplier != 0
    return np.asarray(multiplier[presses] * bound[presses], np.float64)
