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

Rays that prove infeasibility or unboundedness are measured by :mod:`~relift.lifting.ray_residuals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Vector
from relift.errors import OptionError, ShapeError
from relift.lifting.ray_residuals import infeasibility_residual, unboundedness_residual
from relift.program import formulas
from relift.program.arrays import as_floats
from relift.program.cone_distance import largest_of_cones, pushed_into
from relift.program.formulas import ARRAYS
from relift.program.held import held
from relift.program.implied_bounds import implied_bounds
from relift.program.magnitudes import largest_by_group, largest_of_columns, largest_of_rows
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.program.units import Units, units


@final
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
        return float(np.max([self.primal_residual, self.dual_residual, self.duality_gap]))


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
    solution = _with_fitting_vectors(program, solution)
    minimisation = program.minimisation()
    if solution.status == Status.INFEASIBLE:
        residual = infeasibility_residual(minimisation, solution.ray_y, solution.ray_z, solution.ray_w, solution.ray_v)
        return Certificate(tolerance, ray_residual=residual)
    with np.errstate(all="ignore"):
        if solution.status == Status.UNBOUNDED:
            primal = float("nan") if solution.x is None else _Point(minimisation, solution.x).primal_residual()
            return Certificate(tolerance, primal, ray_residual=unboundedness_residual(minimisation, solution.ray_x))
        if solution.x is None:
            return Certificate(tolerance)
        objective = program.objective(solution.x)
        z = np.zeros(0) if len(program.quadratic) == 0 else solution.z
        v = np.zeros(0) if len(program.conic) == 0 else solution.v
        if solution.y is None or solution.w is None or z is None or v is None:
            return Certificate(tolerance, _Point(minimisation, solution.x).primal_residual(), objective=objective)
        duals = _Duals(solution.y, solution.w, z, v)
        point = _Point(minimisation, solution.x, duals)
        dual, gap = point.dual_residual_and_gap(duals)
        return Certificate(tolerance, point.primal_residual(), dual, gap, objective=objective)


def _with_fitting_vectors(program: Program, solution: Solution) -> Solution:
    """The vectors of an answer as arrays of the lengths that the program wants; infinities and NaN may stay."""
    if not isinstance(getattr(solution, "status", None), str):
        raise OptionError(f"{solution!r:.60} is not an answer.", "Give a Solution, or what relift.solve returned.")

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

    n, m, n_quadratic, n_conic = program.n_variables, program.n_rows, len(program.quadratic), program.conic.n_rows
    return Solution(
        solution.status,
        x=fitting("x", n),
        y=fitting("y", m),
        w=fitting("w", n),
        z=fitting("z", n_quadratic),
        v=fitting("v", n_conic),
        ray_x=fitting("ray_x", n),
        ray_y=fitting("ray_y", m),
        ray_w=fitting("ray_w", n),
        ray_z=fitting("ray_z", n_quadratic),
        ray_v=fitting("ray_v", n_conic),
    )


@dataclass(frozen=True, eq=False)
class _Duals:
    """Dual values of rows, bounds, quadratic constraints and conic rows."""

    y: Vector
    w: Vector
    z: Vector
    v: Vector

    @property
    def are_finite(self) -> bool:
        return all(bool(np.isfinite(part).all()) for part in (self.y, self.w, self.z, self.v))


class _Point:
    """A point of a minimisation, with all that its residuals are relative to.

    Parameters
    ----------
    program
        The minimisation.
    x
        The point.
    duals
        If given, their reduced costs say how much of a variable costs S.
    """

    def __init__(self, program: Program, x: Vector, duals: _Duals | None = None) -> None:
        self.program, self.x = program, x
        self.Ax = program.A @ x
        self.Px = np.zeros_like(x) if program.P is None else program.P @ x
        self.units: Units = units(program)
        self.is_finite = bool(np.isfinite(x).all() and np.isfinite(self.Ax).all() and np.isfinite(self.Px).all())
        self.scale = self._scale_of_objective()
        own = self.units.of_variables
        if duals is not None:
            own = formulas.affordable_unit(ARRAYS, own, np.nan_to_num(duals.w), self.scale)
        self.sizes: Vector = formulas.size(ARRAYS, x, own)

    def _scale_of_objective(self) -> float:
        """S. What fixed variables add to the objective is a constant too."""
        program, x = self.program, self.x
        is_fixed = program.lb == program.ub
        fixed = np.where(is_fixed, x, 0.0)
        of_fixed = np.zeros_like(x) if program.P is None else program.P @ fixed
        constant = float(fixed @ (0.5 * of_fixed + program.q))
        value = float(x @ (0.5 * self.Px + program.q)) - constant
        gradient = np.maximum(np.abs(program.q), np.abs(self.Px))
        if (
            program.P is not None
        ):  # where the gradient vanishes, as for least squares that fit, curvature gives the scale
            gradient = np.maximum(gradient, largest_of_rows(program.P, self.units.of_variables))
        terms = np.where(is_fixed, 0.0, gradient * formulas.size(ARRAYS, x, self.units.of_variables))
        return formulas.scale_of_objective(value, constant + program.r, float(terms.max(initial=0.0)))

    def primal_residual(self) -> float:
        if not self.is_finite:
            return float("inf")
        program = self.program
        products = self._or_common(largest_of_rows(program.A, self.sizes))
        of_rows = formulas.violation(ARRAYS, self.Ax, program.l, program.u, products)
        of_bounds = formulas.violation(ARRAYS, self.x, program.lb, program.ub, self.sizes)
        push, _ = pushed_into(program.conic, program.conic.slack(self.x), self.rooms_of_slack)
        return max(_worst(of_rows), _worst(of_bounds), self._excess_of_quadratic_rows(), _worst(push))

    def _or_common(self, largest_products: Vector) -> Vector:
        """The largest product of each row; the common unit for rows without entries."""
        return np.where(largest_products > 0, largest_products, self.units.common)

    def _excess_of_quadratic_rows(self) -> float:
        rows = self.program.quadratic
        if not len(rows):
            return 0.0
        products = 0.5 * np.abs(rows.values) * self.sizes[rows.first] * self.sizes[rows.second]
        curved = largest_by_group(rows.owner, products, len(rows))
        sizes = self._or_common(np.maximum(largest_of_rows(rows.q, self.sizes), curved))
        excess = np.maximum(rows.values_at(self.x) - rows.r, 0.0)
        return _worst(excess / np.maximum(sizes, np.abs(rows.r)))

    @property
    def rooms_of_slack(self) -> Vector:
        """The largest product or right-hand side of each conic row; of its cone where the row has none."""
        rows = self.program.conic
        own = np.maximum(np.abs(rows.b), largest_of_rows(rows.A, self.sizes))
        of_cone = largest_of_cones(rows, own)[rows.cone_of_row]
        return np.where(own > 0, own, np.where(of_cone > 0, of_cone, self.units.common))

    def dual_residual_and_gap(self, given: _Duals) -> tuple[float, float]:
        program, x = self.program, self.x
        if not (self.is_finite and given.are_finite):
            return float("inf"), float("inf")
        y = formulas.admissible(ARRAYS, given.y, program.l, program.u)
        w = formulas.admissible(ARRAYS, given.w, program.lb, program.ub)
        z = np.maximum(given.z, 0.0)
        terms = self._largest_terms(y, w, z, given.v)
        w = formulas.unless_rounding(ARRAYS, w, terms)
        rho = self.Px + program.q + program.A.T @ y + w
        rho = rho + program.quadratic.gradient(x, z) + program.conic.A.T @ given.v
        if not (np.isfinite(rho).all() and np.isfinite(terms).all()):
            return float("inf"), float("inf")
        dual = _worst(formulas.stationarity(ARRAYS, rho, terms, self.sizes, self.scale))
        off_cones, gap = self._dual_residual_and_gap_of_cones(given.v)
        lower, upper, without_end = self._reachable(rho, terms)
        gap += _sum(formulas.possible_fall(ARRAYS, rho, terms, x, lower, upper, self.sizes, without_end))
        gap += _sum(formulas.slackness(ARRAYS, y, self.Ax, program.l, program.u))
        gap += _sum(formulas.slackness(ARRAYS, w, x, program.lb, program.ub))
        gap += _sum(np.abs(z * (program.quadratic.values_at(x) - program.quadratic.r)))
        return max(dual, off_cones), gap / self.scale

    def _largest_terms(self, y: Vector, w: Vector, z: Vector, v: Vector) -> Vector:
        """The largest product that stands in each entry of the gradient."""
        program, rows = self.program, self.program.quadratic
        terms = np.maximum(np.abs(program.q), np.abs(w))
        terms = np.maximum(terms, largest_of_columns(program.A, np.abs(y)))
        terms = np.maximum(terms, largest_of_columns(program.conic.A, np.abs(v)))
        if program.P is not None:
            terms = np.maximum(terms, largest_of_rows(program.P, np.abs(self.x)))
        if len(rows):
            terms = np.maximum(terms, largest_of_columns(rows.q, z))
            curved = np.abs(z[rows.owner] * rows.values * self.x[rows.second])
            terms = np.maximum(terms, largest_by_group(rows.first, curved, self.x.size))
        return terms

    def _reachable(self, rho: Vector, terms: Vector) -> tuple[Vector, Vector, Vector]:
        """The bounds up to which each variable may go; implied ones only where a gradient asks for them.

        And 1 for variables that nothing holds while their cost falls.
        """
        program = self.program
        end = np.where(rho > 0, program.lb, program.ub)
        asks = np.isinf(end) & (np.abs(rho) > formulas.ROUNDED * terms)
        if not asks.any():
            return program.lb, program.ub, np.zeros(rho.size)
        below, above = (flags.astype(float) for flags in held(program))
        return *implied_bounds(program, asks), formulas.falls_without_end(ARRAYS, program.q, below, above)

    def _dual_residual_and_gap_of_cones(self, v: Vector) -> tuple[float, float]:
        """How far v is from the dual cones; what cones add to the gap."""
        rows = self.program.conic
        slack, rooms = rows.slack(self.x), self.rooms_of_slack
        _, kept = pushed_into(rows, slack, rooms)
        push, paid = pushed_into(rows, v, np.maximum(np.abs(v), self.scale / rooms), dual=True)
        products = np.bincount(rows.cone_of_row, v * slack, len(rows))
        gap = np.abs(products).sum() + (np.abs(v) * np.abs(kept - slack) + np.abs(slack) * np.abs(paid - v)).sum()
        return _worst(push), float(gap)


def _worst(residuals: Vector) -> float:
    """The largest; infinite if one is not a number."""
    return float(np.nan_to_num(residuals, nan=np.inf, posinf=np.inf).max(initial=0.0))


def _sum(terms: Vector) -> float:
    return float(np.nan_to_num(terms, nan=np.inf, posinf=np.inf).sum())
