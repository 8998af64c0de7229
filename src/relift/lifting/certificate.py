r"""Is this answer right? Computed on the original program alone, trusting neither the solver nor the classes.

Every residual is relative to what stands in its own row or column, so that neither a row multiplied by a factor, nor a
rescaled variable or objective, changes what it says (:mod:`relift.program.formulas` has the formulas,
``docs/decisions/0004-certificate-norms.md`` the reasons). With c_j the size of a variable (|x_j|, or its unit,
:mod:`relift.program.units`, as far as that costs no more than S), S = |objective|, with or without its constant,
whichever is less, + 1 (or less where no term of the objective can reach 1), and dual values of infinite
bounds counted as 0:

- *primal residual*: how far x breaks a row or bound, relative to the larger of that bound and the largest product
  |a_ij| c_j of the row;
- *dual residual*: :math:`\rho = Px + q + A^\top y + w`, each entry relative to the largest product in it (or to
  S / 100 for each c_j, if that is more: slopes that S does not notice);
- *duality gap*: :math:`\sum_i |y_i| |a_i x - b_i| + \sum_j |w_j| |x_j - b_j| + \sum_j |\rho_j| |x_j - e_j|` relative
  to S, with b the bound that the sign of the multiplier presses on, and e the one to which :math:`-\rho` leads, of the
  variable itself or implied by a row: so far the objective may still fall (c_j where there is no such bound; without
  end where nothing at all holds the variable and its own cost falls). The gap
  is computed from absolute values, so that a violated row and a loose one cannot cancel: tiny violations under huge
  dual values, which solvers overlook (LISWET, YAO), show here.

Cones take part by how far they must be pushed (:mod:`relift.program.cone_distance`). The slack s = b - Cx by its push
relative to the largest product or right-hand side of each row; the dual values v, in the dual cones, relative to
themselves, or to S over those products. The gap counts :math:`|v^\top s|` of each cone, and the price of both pushes,
:math:`|v|^\top|\Delta s| + |s|^\top|\Delta v|`, since a slack outside its cone could make the product look small.

Where an answer does not pass, and bounds of 1e20 and more are there, it is checked without these, too
(:mod:`relift.program.huge_bounds`): what is optimal without them and keeps them is optimal with them. Solvers are
asked for answers to the program as it is written first (:func:`certify_as_written`).

The residuals of a point are computed by :mod:`~relift.lifting.point_residuals`, those of rays that prove infeasibility
or unboundedness by :mod:`~relift.lifting.ray_residuals`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import final

import numpy as np

from relift.arrays import Vector
from relift.errors import OptionError, ShapeError
from relift.lifting.point_residuals import Duals, PointResiduals, point_residuals
from relift.lifting.ray_residuals import infeasibility_residual, unboundedness_residual
from relift.program.arrays import as_floats
from relift.program.huge_bounds import without_huge_bounds
from relift.program.passes import fit
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.records import quick

_VECTORS = ("x", "y", "w", "z", "v", "ray_x", "ray_y", "ray_w", "ray_z", "ray_v")
_vectors = attrgetter(*_VECTORS)


@final
@quick
@dataclass(frozen=True)
class Certificate:
    """Residuals of an answer on the original program.

    Parameters
    ----------
    tolerance
        What each of them may be at most.
    primal_residual, dual_residual, duality_gap
        Of a point, all relative; NaN if there is no point (or, for the last two, no dual values).
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
        """Whether point and dual values prove each other optimal within the tolerance."""
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
        primal, dual, gap = self.primal_residual, self.dual_residual, self.duality_gap
        return float("nan") if primal != primal or dual != dual or gap != gap else max(primal, dual, gap)


def certify(program: Program, solution: Solution, tolerance: float = 1e-6) -> Certificate:
    """Check an answer on its program.

    Parameters
    ----------
    program
        The original program.
    solution
        The answer; its own objective and status text are not trusted, only the vectors are read.
    tolerance
        The largest relative residual that passes.

    Raises
    ------
    OptionError
        If it is not an answer.
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
    found = certify_as_written(program, solution, tolerance)
    if found.is_optimal or found.is_proved or solution.status == Status.UNBOUNDED:
        return found
    if found.primal_residual > tolerance:  # the point has to keep the bounds in any case
        return found
    plainer = without_huge_bounds(program)
    return found if plainer is None else _better(found, certify_as_written(plainer, solution, tolerance))


def _better(found: Certificate, without_bounds: Certificate) -> Certificate:
    """The better of two certificates, the second of a program with fewer bounds, which proves the first as well.

    Dual values and gradients of 1e-14 are what solvers leave, and count for 1e6 if a bound is 1e20 away. The point has
    to keep all bounds.
    """
    if without_bounds.ray_residual < found.ray_residual:
        return without_bounds
    primal = found.primal_residual
    better = max(primal, without_bounds.dual_residual, without_bounds.duality_gap)
    return replace(without_bounds, primal_residual=primal) if better < found.worst_residual else found


def certify_as_written(program: Program, solution: Solution, tolerance: float = 1e-6) -> Certificate:
    """The same, with bounds of 1e20 and more as they are written."""
    solution = _with_fitting_vectors(program, solution)
    minimisation = program.minimisation()
    if solution.status == Status.INFEASIBLE:
        residual = infeasibility_residual(minimisation, solution.ray_y, solution.ray_z, solution.ray_w, solution.ray_v)
        return Certificate(tolerance, ray_residual=residual)
    with np.errstate(all="ignore"):
        if solution.status == Status.UNBOUNDED:
            primal = float("nan") if solution.x is None else point_residuals(minimisation, solution.x).primal
            return Certificate(tolerance, primal, ray_residual=unboundedness_residual(minimisation, solution.ray_x))
        if solution.x is None:
            return Certificate(tolerance)
        z = np.zeros(0) if len(program.quadratic) == 0 else solution.z
        v = np.zeros(0) if len(program.conic) == 0 else solution.v
        if solution.y is None or solution.w is None or z is None or v is None:
            found = point_residuals(minimisation, solution.x)
            return Certificate(tolerance, found.primal, objective=_objective(program, solution.x, found))
        found = point_residuals(minimisation, solution.x, Duals(solution.y, solution.w, z, v))
        objective = _objective(program, solution.x, found)
        return Certificate(tolerance, found.primal, found.dual, found.gap, objective=objective)


def _objective(program: Program, x: Vector, found: PointResiduals) -> float:
    """The objective in the sense of the program; the product with P is that of the residuals, if they have one."""
    if found.Px is None:
        return program.objective(x)
    curvature = 0.5 * float(x @ found.Px)
    return (curvature if program.sense == "min" else -curvature) + float(program.q @ x) + program.r


def _with_fitting_vectors(program: Program, solution: Solution) -> Solution:
    """The vectors of an answer as arrays of the lengths that the program wants; infinities and NaN may stay."""
    if not isinstance(getattr(solution, "status", None), str):
        raise OptionError(f"{solution!r:.60} is not an answer.", "Give a Solution, or what relift.solve returned.")

    n, m, n_quadratic, n_conic = program.n_variables, program.n_rows, len(program.quadratic), program.conic.n_rows
    sizes = (n, m, n, n_quadratic, n_conic, n, m, n, n_quadratic, n_conic)
    if type(solution) is Solution and fit(_vectors(solution), sizes, are_finite=False):
        return solution

    def fitting(name: str, size: int) -> Vector | None:
        given = getattr(solution, name, None)
        if given is None:
            return None
        vector = as_floats(f"{name} of the solution", given)
        if vector.shape != (size,):
            found = " x ".join(map(str, vector.shape))
            has = f"has {found} entries" if found else "is one number"
            raise ShapeError(f"{name} of the solution {has}, but {size} are needed.", "", name)
        return vector

    vectors = {name: fitting(name, size) for name, size in zip(_VECTORS, sizes, strict=True)}
    return Solution(solution.status, **vectors)  # type: ignore[arg-type]
