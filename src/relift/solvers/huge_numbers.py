r"""The same program without numbers that are out of all proportion: bounds that mean infinity, costs that forbid.

An upper bound of 1e25 beside others of 10, or a cost of 1e20 beside others of 1, says no more than "no limit" and
"never", and leaves solvers no digits for the rest. So bounds of variables and sides of rows that are huge are left out,
and huge costs are cut down to :data:`DETERRENT` times the largest other one. What a cost has lost,
:math:`d = q - q'`, is put into the dual value of the bound, :math:`w = w' - d`: right where the variable is at the
bound that its cost drives it to. Whether an answer is one for the program as it was, the certificate says.

What is huge: bounds from :data:`NO_BOUND` on, those from :data:`LARGE_BOUND` on that no other one comes near
(:data:`GAP_OF_BOUNDS`), and costs above a gap of :data:`GAP_OF_COSTS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Vector
from relift.program.huge_bounds import NO_BOUND
from relift.program.program import Program
from relift.program.solution import Solution

LARGE_BOUND, GAP_OF_BOUNDS = 1e9, 1e6
"""Bounds of this size are left out if they are so many times the next smaller one."""

GAP_OF_COSTS, DETERRENT = 1e8, 1e7
"""Costs that are so many times the next smaller one are cut down to this many times the largest of the others."""

FAR_APART = 1e12
"""Where numbers of one kind differ by this factor, and no answer is found, a message says so."""


@final
@dataclass(frozen=True, eq=False)
class WithoutHugeNumbers:
    """A program without its huge bounds and costs.

    Parameters
    ----------
    program
        The program to solve instead.
    original
        The one it stands for.
    excess
        What the cost of each variable has lost.
    """

    program: Program
    original: Program
    excess: Vector

    def expand(self, answer: Solution) -> Solution:
        """Carry an answer back: what costs have lost is a dual value of bounds."""
        return answer.but(
            w=None if answer.w is None else answer.w - self.excess,
            objective=answer.objective if answer.x is None else self.original.objective(answer.x),
        )

    def restrict(self, solution: Solution) -> Solution:
        """Carry a point to start from forward."""
        return solution.but(w=None if solution.w is None else solution.w + self.excess)


def without_huge_numbers(program: Program) -> WithoutHugeNumbers | None:
    """Leave huge bounds out of a minimisation, and cut huge costs down; None if there are none.

    Examples
    --------
    >>> found = without_huge_numbers(Program(q=[1, -1, 1e20], A=[[1, 1, 1]], u=[4], lb=0, ub=[5, 3, 1e25]))
    >>> found.program.q.tolist(), found.program.ub.tolist()
    ([1.0, -1.0, 10000000.0], [5.0, 3.0, inf])
    >>> without_huge_numbers(Program(q=[1, -1, 1e5], A=[[1, 1, 1]], u=[4], lb=0, ub=[5, 3, 1e8])) is None
    True
    """
    lower, upper = (program.l, program.lb), (program.u, program.ub)
    sides = (*lower, *upper)
    limit = _first_huge(np.concatenate(sides), LARGE_BOUND, GAP_OF_BOUNDS, NO_BOUND)
    curvature = np.zeros(0) if program.P is None else np.abs(program.P.data).max(initial=0.0, keepdims=True)
    costs = np.concatenate([program.q, curvature])
    dear = _first_huge(costs, 0.0, GAP_OF_COSTS, np.inf)
    l, lb = (np.where(side <= -limit, -np.inf, side) for side in lower)
    u, ub = (np.where(side >= limit, np.inf, side) for side in upper)
    is_same = all(map(np.array_equal, sides, (l, lb, u, ub)))
    if is_same and not (np.abs(program.q) >= dear).any():
        return None
    q = program.q
    if dear < np.inf:
        most = DETERRENT * float(np.abs(costs)[np.abs(costs) < dear].max(initial=0.0))
        q = np.where(np.abs(q) >= dear, np.sign(q) * most, q)
    other = Program.trusted(
        program.P, q, program.A, l, u, lb, ub, program.r, quadratic=program.quadratic, conic=program.conic
    )
    return WithoutHugeNumbers(other, program, program.q - q)


def words_on_magnitudes(program: Program) -> str:
    """What to say of numbers that no solver can hold beside each other; empty if there are none.

    Examples
    --------
    >>> words_on_magnitudes(Program(q=[1, 1e20], A=[[1, 1]], u=[4], lb=0))
    'costs reach from 1 to 1e+20; write numbers in units nearer to each other, and bounds that mean infinity as inf'
    >>> words_on_magnitudes(Program(q=[1, 1e6], lb=0))
    ''
    """
    curvature = np.zeros(0) if program.P is None else program.P.data
    told = (
        ("costs", np.concatenate([program.q, curvature])),
        ("coefficients", program.A.data),
        ("bounds", np.concatenate([program.l, program.u, program.lb, program.ub])),
    )
    found = []
    for name, numbers in told:
        sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
        least, most = float(sizes.min(initial=np.inf)), float(sizes.max(initial=0.0))
        if sizes.size and (most >= FAR_APART * least or most >= NO_BOUND or least <= 1.0 / NO_BOUND):
            found.append(f"{name} reach from {least:.3g} to {most:.3g}")
    if not found:
        return ""
    return f"{', '.join(found)}; write numbers in units nearer to each other, and bounds that mean infinity as inf"


def _first_huge(numbers: Vector, least: float, gap: float, always: float) -> float:
    """The smallest of the numbers, by size, that is huge: above a gap, or from `always` on; infinity without any."""
    sizes = np.unique(np.abs(numbers[np.isfinite(numbers) & (numbers != 0)]))
    above = np.flatnonzero((sizes[1:] >= gap * sizes[:-1]) & (sizes[1:] >= least)) + 1
    huge = [*sizes[above[-1:]].tolist(), *sizes[sizes >= always][:1].tolist()]
    return min(huge, default=np.inf)
