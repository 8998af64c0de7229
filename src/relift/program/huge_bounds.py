"""Bounds that mean that there is none: 1e20, 1e30, the largest float.

Many programs write one of these for infinity. Up to :data:`~relift.program.program.NO_NUMBER` relift takes them at
their word: a variable may go to 1e20 and no further. But whoever stays below needs no bound of 1e20: an optimum without
such bounds that keeps them is the optimum with them, and where there is no point even without them, there is none.
"""

from __future__ import annotations

import numpy as np

from relift.program.passes import extremes
from relift.program.program import Program

NO_BOUND = 1e20
"""From here on solvers and file formats take a bound for infinite."""


def without_huge_bounds(program: Program) -> Program | None:
    """A minimisation without its bounds and sides from :data:`NO_BOUND` on; None if it has none.

    Examples
    --------
    >>> without_huge_bounds(Program(q=[1.0, 1.0], lb=[0, -1e30], ub=[1e20, 1e19])).ub.tolist()
    [inf, 1e+19]
    >>> without_huge_bounds(Program(q=[1.0], ub=1e19)) is None
    True
    """
    if extremes(program.l, program.u, program.lb, program.ub)[1] < NO_BOUND:
        return None
    l, lb = (np.where(side <= -NO_BOUND, -np.inf, side) for side in (program.l, program.lb))
    u, ub = (np.where(side >= NO_BOUND, np.inf, side) for side in (program.u, program.ub))
    return Program.trusted(
        program.P, program.q, program.A, l, u, lb, ub, program.r, program.sense, program.quadratic, program.conic
    )
