r"""Checks of an answer against its program, written apart from the certificate so that each tests the other.

With the dual values of :class:`~relift.program.solution.Solution` the optimality conditions are

.. math:: Px + q + A^\top y + w = 0, \quad l \le Ax \le u, \quad lb \le x \le ub,
   \quad x^\top P x + q^\top x + u^\top y^+ - l^\top y^- + ub^\top w^+ - lb^\top w^- = 0.

Each residual is measured relative to 1 plus the largest of its terms.
"""

from __future__ import annotations

import numpy as np

from relift.arrays import Vector
from relift.program.program import Program
from relift.program.solution import Solution, Status


def assert_optimal(program: Program, solution: Solution, tolerance: float = 1e-6) -> None:
    """Check that an answer is feasible, stationary and without a duality gap.

    Parameters
    ----------
    program
        The program, a minimisation or a maximisation.
    solution
        Its answer, with dual values.
    tolerance
        Largest relative residual.

    Examples
    --------
    >>> program = Program(q=[1.0], lb=2)
    >>> good = Solution(Status.OPTIMAL, np.array([2.0]), np.zeros(0), np.array([-1.0]), objective=2.0)
    >>> assert_optimal(program, good)
    >>> bad = Solution(Status.OPTIMAL, np.array([3.0]), np.zeros(0), np.array([-1.0]), objective=3.0)
    >>> assert_optimal(program, bad)
    Traceback (most recent call last):
    AssertionError: duality gap 1 in 3 and 2 is above 1e-06
    """
    if not solution.status.has_point:
        raise AssertionError(f"status is {solution.status.value} ({solution.message}), not optimal")
    if solution.x is None or solution.y is None or solution.w is None:
        raise AssertionError("the answer has no point or no duals")
    x, y, w = solution.x, solution.y, solution.w
    if (x.shape, y.shape, w.shape) != ((program.n_variables,), (program.n_rows,), (program.n_variables,)):
        raise AssertionError(f"x, y, w have shapes {x.shape}, {y.shape}, {w.shape}")
    minimised = program.minimisation()
    Ax = minimised.A @ x
    _assert_between("row", Ax, minimised.l, minimised.u, tolerance)
    _assert_between("variable", x, minimised.lb, minimised.ub, tolerance)
    Px = np.zeros_like(x) if minimised.P is None else minimised.P @ x
    Aty = minimised.A.T @ y
    parts = (Px, minimised.q, Aty, w)
    scale = 1.0 + max(_largest(part) for part in parts)
    stationarity = _largest(Px + minimised.q + Aty + w) / scale
    if stationarity > tolerance:
        raise AssertionError(f"relative stationarity residual {stationarity:.2g} is above {tolerance:g}")
    support = 0.0
    for name, dual_value, lower, upper in _pairs(minimised, y, w):
        wrong = np.where(np.isfinite(upper), 0.0, np.maximum(dual_value, 0.0))
        wrong += np.where(np.isfinite(lower), 0.0, np.maximum(-dual_value, 0.0))
        if _largest(wrong) > tolerance * scale:
            at = int(np.argmax(wrong))
            raise AssertionError(f"the dual value {dual_value[at]:.3g} of {name} {at} belongs to an infinite bound")
        support += _support(dual_value, lower, upper)
    primal, dual = float(x @ Px) + float(minimised.q @ x), -support
    gap = abs(primal - dual) / (1.0 + max(abs(primal), abs(dual), abs(float(x @ Px))))
    if gap > tolerance:
        raise AssertionError(
            f"duality gap {abs(primal - dual):.6g} in {primal:.6g} and {dual:.6g} is above {tolerance:g}"
        )
    value = program.objective(x)
    if abs(solution.objective - value) > 1e-9 * (1.0 + abs(value)):
        raise AssertionError(f"objective is reported as {solution.objective:.17g}, but is {value:.17g}")


def assert_infeasible(program: Program, solution: Solution, tolerance: float = 1e-6, *, needs_ray: bool = True) -> None:
    """Check that an answer says infeasible, and that its ray proves it.

    Parameters
    ----------
    program
        The program.
    solution
        Its answer.
    tolerance
        Largest remainder of ``A'y + w``, relative to the largest entry of the ray.
    needs_ray
        Whether an answer without a ray fails.
    """
    if solution.status is not Status.INFEASIBLE:
        raise AssertionError(f"status is {solution.status.value} ({solution.message}), not infeasible")
    if solution.ray_y is None or solution.ray_w is None:
        if needs_ray:
            raise AssertionError("the answer has no ray")
        return
    size = max(_largest(solution.ray_y), _largest(solution.ray_w))
    y, w = solution.ray_y / size, solution.ray_w / size
    scale = 1.0 + _largest(program.A.data)
    remainder = _largest(program.A.T @ y + w) / scale
    if remainder > tolerance:
        raise AssertionError(f"A'y + w of the ray is {remainder:.2g}, not 0")
    total = 0.0
    for name, ray, lower, upper in _pairs(program, y, w):
        wrong = np.where(np.isfinite(upper), 0.0, np.maximum(ray, 0.0))
        wrong += np.where(np.isfinite(lower), 0.0, np.maximum(-ray, 0.0))
        if _largest(wrong) > tolerance * scale:
            raise AssertionError(f"the ray has a dual value of an infinite bound of a {name}")
        total += _support(ray, lower, upper)
    if not total < -tolerance:
        raise AssertionError(f"the ray proves nothing: u'y+ - l'y- + ub'w+ - lb'w- = {total:.3g}")


def assert_unbounded(program: Program, solution: Solution, tolerance: float = 1e-6, *, needs_ray: bool = True) -> None:
    """Check that an answer says unbounded, and that its ray proves it.

    Parameters
    ----------
    program
        The program.
    solution
        Its answer.
    tolerance
        Largest violation of the ray, relative to its largest entry.
    needs_ray
        Whether an answer without a ray fails.
    """
    if solution.status is not Status.UNBOUNDED:
        raise AssertionError(f"status is {solution.status.value} ({solution.message}), not unbounded")
    if solution.ray_x is None:
        if needs_ray:
            raise AssertionError("the answer has no ray")
        return
    minimised = program.minimisation()
    d = solution.ray_x / _largest(solution.ray_x)
    for name, along, lower, upper in _pairs(minimised, minimised.A @ d, d):
        wrong = np.where(np.isfinite(upper), np.maximum(along, 0.0), 0.0)
        wrong += np.where(np.isfinite(lower), np.maximum(-along, 0.0), 0.0)
        if _largest(wrong) > tolerance * (1.0 + _largest(minimised.A.data)):
            raise AssertionError(f"the ray leaves a bound of a {name} by {_largest(wrong):.2g}")
    if minimised.P is not None and _largest(minimised.P @ d) > tolerance * (1.0 + _largest(minimised.P.data)):
        raise AssertionError(f"the ray has curvature: |Pd| = {_largest(minimised.P @ d):.2g}")
    if not float(minimised.q @ d) < -tolerance:
        raise AssertionError(f"the ray does not improve: q'd = {float(minimised.q @ d):.3g}")


def _pairs(program: Program, y: Vector, w: Vector) -> tuple[tuple[str, Vector, Vector, Vector], ...]:
    return ("row", y, program.l, program.u), ("variable", w, program.lb, program.ub)


def _support(dual_value: Vector, lower: Vector, upper: Vector) -> float:
    """``u'y⁺ - l'y⁻`` over the bounds that exist."""
    finite_upper, finite_lower = (
        np.where(np.isfinite(upper), upper, 0),
        np.where(np.isfinite(lower), lower, 0),
    )
    return float(finite_upper @ np.maximum(dual_value, 0)) - float(finite_lower @ np.maximum(-dual_value, 0))


def _assert_between(name: str, value: Vector, lower: Vector, upper: Vector, tolerance: float) -> None:
    scale = 1.0 + _largest(value)
    violation = np.maximum(np.maximum(value - upper, lower - value), 0.0) / scale
    if _largest(violation) > tolerance:
        at = int(np.argmax(violation))
        raise AssertionError(
            f"{name} {at} is {value[at]:.9g}, outside [{lower[at]:.9g}, {upper[at]:.9g}] "
            f"by {violation[at]:.2g} relative"
        )


def _largest(values: Vector) -> float:
    return float(np.max(np.abs(values), initial=0.0))
