"""The residuals of a point, formula by formula over whole arrays: slow, obvious, compared with the compiled ones."""

from __future__ import annotations

import numpy as np

from relift.arrays import Vector
from relift.lifting.cone_residuals import (
    Duals,
    ScaledPoint,
    terms_and_gradient_of_constraints,
    total,
    worst,
)
from relift.program import formulas
from relift.program.formulas import ARRAYS
from relift.program.held import held
from relift.program.implied_bounds import implied_bounds
from relift.program.magnitudes import largest_of_columns, largest_of_rows
from relift.program.program import Program
from relift.program.units import Units, units


class SlowPoint:
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

    def __init__(self, program: Program, x: Vector, duals: Duals | None = None) -> None:
        self.program, self.x = program, x
        self.Ax = program.A @ x
        self.Px = np.zeros_like(x) if program.P is None else program.P @ x
        self.units: Units = units(program)
        self.is_finite = bool(np.isfinite(x).all() and np.isfinite(self.Ax).all() and np.isfinite(self.Px).all())
        scale = self._scale_of_objective()
        own = self.units.of_variables
        if duals is not None:
            own = formulas.affordable_unit(ARRAYS, own, np.nan_to_num(duals.w), scale)
        self.at = ScaledPoint(program, x, formulas.size(ARRAYS, x, own), scale, self.units.common)

    def _scale_of_objective(self) -> float:
        """S. What fixed variables add to the objective is a constant too."""
        program, x = self.program, self.x
        is_fixed = program.lb == program.ub
        fixed = np.where(is_fixed, x, 0.0)
        of_fixed = np.zeros_like(x) if program.P is None else program.P @ fixed
        constant = float(fixed @ (0.5 * of_fixed + program.q))
        value = float(x @ (0.5 * self.Px + program.q)) - constant
        gradient = np.maximum(np.abs(program.q), np.abs(self.Px))
        if program.P is not None:
            # Where the gradient vanishes, as for least squares that fit, curvature gives the scale.
            gradient = np.maximum(gradient, largest_of_rows(program.P, self.units.of_variables))
        terms = np.where(is_fixed, 0.0, gradient * formulas.size(ARRAYS, x, self.units.of_variables))
        return formulas.scale_of_objective(value, constant + program.r, float(terms.max(initial=0.0)))

    def primal_residual(self) -> float:
        """How far the point breaks a row, a bound, a quadratic constraint or a cone."""
        if not self.is_finite:
            return float("inf")
        program, at = self.program, self.at
        products = at.or_common(largest_of_rows(program.A, at.sizes))
        of_rows = formulas.violation(ARRAYS, self.Ax, program.l, program.u, products)
        of_bounds = formulas.violation(ARRAYS, self.x, program.lb, program.ub, at.sizes)
        return max(worst(of_rows), worst(of_bounds), at.excess_of_quadratic_rows(), at.push_of_slack())

    def dual_residual_and_gap(self, given: Duals) -> tuple[float, float]:
        """How far dual values are from stationary, and how far point and dual values are apart."""
        program, x, at = self.program, self.x, self.at
        if not (self.is_finite and given.are_finite):
            return float("inf"), float("inf")
        y = formulas.admissible(ARRAYS, given.y, program.l, program.u)
        w = formulas.admissible(ARRAYS, given.w, program.lb, program.ub)
        z = np.maximum(given.z, 0.0)
        terms = self._largest_terms(y, w, z, given.v)
        w = formulas.unless_rounding(ARRAYS, w, terms)
        rho = self.Px + program.q + program.A.T @ y + w + terms_and_gradient_of_constraints(program, x, z, given.v)[1]
        if not (np.isfinite(rho).all() and np.isfinite(terms).all()):
            return float("inf"), float("inf")
        dual = worst(formulas.stationarity(ARRAYS, rho, terms, at.sizes, at.scale))
        off_cones, gap = at.dual_residual_and_gap_of_cones(given.v)
        gap += fall(at, rho, terms)
        gap += total(formulas.slackness(ARRAYS, y, self.Ax, program.l, program.u))
        gap += total(formulas.slackness(ARRAYS, w, x, program.lb, program.ub))
        gap += at.gap_of_quadratic_rows(z)
        return max(dual, off_cones), gap / at.scale

    def _largest_terms(self, y: Vector, w: Vector, z: Vector, v: Vector) -> Vector:
        """The largest product that stands in each entry of the gradient."""
        program = self.program
        terms = np.maximum(np.abs(program.q), np.abs(w))
        terms = np.maximum(terms, largest_of_columns(program.A, np.abs(y)))
        if program.P is not None:
            terms = np.maximum(terms, largest_of_rows(program.P, np.abs(self.x)))
        return np.maximum(terms, terms_and_gradient_of_constraints(program, self.x, z, v)[0])


def fall(at: ScaledPoint, rho: Vector, terms: Vector) -> float:
    """How far the objective may still fall along the gradient."""
    lower, upper, without_end = _reachable(at.program, rho, terms)
    return total(formulas.possible_fall(ARRAYS, rho, terms, at.x, lower, upper, at.sizes, without_end))


def _reachable(program: Program, rho: Vector, terms: Vector) -> tuple[Vector, Vector, Vector]:
    """The bounds up to which each variable may go; implied ones only where a gradient asks for them.

    And 1 for variables that nothing holds while their cost falls.
    """
    end = np.where(rho > 0, program.lb, program.ub)
    asks = np.isinf(end) & (np.abs(rho) > formulas.ROUNDED * terms)
    if not asks.any():
        return program.lb, program.ub, np.zeros(rho.size)
    below, above = (flags.astype(float) for flags in held(program))
    return *implied_bounds(program, asks), formulas.falls_without_end(ARRAYS, program.q, below, above)
