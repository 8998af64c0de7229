r"""Bounds of variables that no optimal point needs: solvers are given programs without them.

A squared hinge :math:`\max(0, b - a^\top x)^2` is written as :math:`t^2` with :math:`t \ge b - a^\top x` and
:math:`t \ge 0`. The bound is idle: below 0 the cost of t rises again, and no row is met better by a smaller t. In
general the lower bound of a variable is idle if

- its cost is its own, :math:`\tfrac12 P_{jj} x_j^2 + q_j x_j` with :math:`P_{jj} > 0`, and does not fall below the
  bound, :math:`P_{jj} lb_j + q_j \le 0`; and
- no row can be violated by raising it.

Then a point below the bound is raised to it at a strictly smaller cost, and stays feasible: the program without the
bound has the same optimal points, with 0 as dual value of the bound, and is infeasible or unbounded if and only if the
program is. Upper bounds likewise, with signs turned. Variables that are fixed keep theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from relift.arrays import Flags, Vector
from relift.program.program import Program
from relift.program.solution import Solution

FEWEST_VARIABLES = 1_000
"""Of smaller programs all bounds are kept: there is nothing to be won."""


@final
@dataclass(frozen=True, eq=False)
class IdleBounds:
    """A program without its idle bounds.

    Parameters
    ----------
    program
        The program without them.
    before
        The program with them.
    """

    program: Program
    before: Program

    @classmethod
    def of(cls, program: Program, fewest: int = FEWEST_VARIABLES) -> IdleBounds | None:
        r"""Leave the idle bounds of a minimisation out; None if it has none, or is small.

        Parameters
        ----------
        program
            A minimisation.
        fewest
            How many variables it must have.

        Examples
        --------
        Two squared hinges of one variable, :math:`t_1 \ge x - 1` and :math:`t_2 \ge 2 - x`:

        >>> hinges = [[-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
        >>> program = Program(P=np.diag([0.0, 1.0, 1.0]), q=np.zeros(3), A=hinges, l=[-1.0, 2.0], lb=0.0)
        >>> print(IdleBounds.of(program, fewest=1).program.lb)
        [  0. -inf -inf]
        """
        if program.P is None or program.n_variables < fewest or len(program.quadratic) or len(program.conic):
            return None
        lb, ub = _needed(program)
        if lb is program.lb and ub is program.ub:
            return None
        return cls(program.replace(lb=lb, ub=ub), program)

    def expand(self, solution: Solution) -> Solution:
        """Move a point that misses an idle bound, by a rounding error or in an answer that is not optimal, to it.

        What that adds to the gradient, a lot where costs are steep, becomes the dual value of the bound.
        """
        if solution.x is None:
            return solution
        program, needed = self.before, self.program
        x = np.where(np.isneginf(needed.lb), np.maximum(solution.x, program.lb), solution.x)
        x = np.where(np.isposinf(needed.ub), np.minimum(x, program.ub), x)
        w = solution.w
        if w is not None and program.P is not None:
            w = w - program.P.diagonal() * (x - solution.x)
        return replace(solution, x=x, w=w, objective=program.objective(x))

    def restrict(self, solution: Solution) -> Solution:
        """Set the dual values of variables without any bound to 0."""
        if solution.w is None:
            return solution
        lb, ub = self.program.lb, self.program.ub
        w = np.where(np.isneginf(lb), np.maximum(solution.w, 0.0), solution.w)
        return replace(solution, w=np.where(np.isposinf(ub), np.minimum(w, 0.0), w))


def _needed(program: Program) -> tuple[Vector, Vector]:
    """Lower and upper bounds, idle ones infinite; the vectors of the program itself if no bound is idle."""
    lb, ub = program.lb, program.ub
    P = program.P
    assert P is not None
    curvature = P.diagonal()
    is_own = (curvature > 0) & (np.diff(P.indptr) == 1)  # P is symmetric: its columns, or rows, have the diagonal alone
    is_own &= lb < ub  # solvers keep values that are fixed exactly, one bound of them only nearly
    idle_below = is_own & np.isfinite(lb) & (_slope(curvature, lb, program.q) <= 0)
    idle_above = is_own & np.isfinite(ub) & (_slope(curvature, ub, program.q) >= 0)
    if not idle_below.any() and not idle_above.any():
        return lb, ub
    occurs, is_held_below, is_held_above = _held_by_rows(program)
    # Variables without rows keep their bounds: without any row, OSQP scales their costs up and all others down.
    idle_below &= occurs & ~is_held_below
    idle_above &= occurs & ~is_held_above
    return (
        np.where(idle_below, -np.inf, lb) if idle_below.any() else lb,
        np.where(idle_above, np.inf, ub) if idle_above.any() else ub,
    )


def _slope(curvature: Vector, at: Vector, q: Vector) -> Vector:
    """The derivative of the cost of each variable at its bound; where that is infinite, at 0."""
    slope: Vector = curvature * np.where(np.isfinite(at), at, 0.0) + q
    return slope


def _held_by_rows(program: Program) -> tuple[Flags, Flags, Flags]:
    """The variables that occur in a row, that raising may bring into conflict with one, and that lowering may."""
    entries = program.A.tocoo()
    row, column = entries.coords
    has_upper, has_lower = np.isfinite(program.u)[row], np.isfinite(program.l)[row]
    is_entry = entries.data != 0
    not_raised = np.where(entries.data > 0, has_upper, has_lower) & is_entry
    not_lowered = np.where(entries.data > 0, has_lower, has_upper) & is_entry
    occurs, held_below, held_above = np.zeros((3, program.n_variables), dtype=bool)
    occurs[column[is_entry]] = True
    held_below[column[not_raised]] = True
    held_above[column[not_lowered]] = True
    return occurs, held_below, held_above
