"""Which variables nothing holds: no bound, no row, no cone and no curvature, on the way down or on the way up.

If the cost of such a variable falls on that way, no multipliers can make up for it, since all that are admissible press
in the same direction: a program with a feasible point is then unbounded, whatever the sizes of its other numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Integers, Vector
from relift.program.program import Program


def held(program: Program) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each variable is held on its way down, and on its way up.

    Parameters
    ----------
    program
        Any program; its linear costs are not read.

    Examples
    --------
    >>> below, above = held(Program(q=[1, 1, 1], A=[[1, -1, 0]], l=[0], lb=[-np.inf, -np.inf, 0]))
    >>> below.tolist(), above.tolist()
    ([True, False, True], [False, True, False])
    """
    below, above = held_by_constraints(program)
    below |= np.isfinite(program.lb)
    above |= np.isfinite(program.ub)
    lower, upper = np.isfinite(program.l), np.isfinite(program.u)
    entries = program.A.tocoo()
    _hold(below, above, entries.coords, entries.data, lower, upper)
    if program.P is not None:
        curvature = program.P.tocoo()
        curved = curvature.coords[1][curvature.data != 0]
        below[curved] = above[curved] = True
    return below, above


def held_by_constraints(program: Program) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The same by quadratic constraints and cones alone."""
    below, above = np.zeros(program.n_variables, bool), np.zeros(program.n_variables, bool)
    rows = program.quadratic
    if len(rows):
        owner = np.arange(len(rows)).repeat(np.diff(rows.q.indptr))
        _hold(below, above, (owner, rows.q.indices), rows.q.data, np.zeros(len(rows), bool), np.ones(len(rows), bool))
        curved = rows.first[rows.values != 0]
        below[curved] = above[curved] = True
    in_cones = program.conic.A.indices  # by rows, so that these are variables
    below[in_cones] = above[in_cones] = True
    return below, above


def _hold(
    below: NDArray[np.bool_],
    above: NDArray[np.bool_],
    places: tuple[Integers, ...],
    values: Vector,
    lower: NDArray[np.bool_],
    upper: NDArray[np.bool_],
) -> None:
    """Mark what rows with these finite sides hold."""
    i, j = places
    up, down = values > 0, values < 0
    below[j[(up & lower[i]) | (down & upper[i])]] = True
    above[j[(up & upper[i]) | (down & lower[i])]] = True


def free_fall(program: Program) -> Vector | None:
    """A direction along one variable in which the objective of a minimisation falls and nothing holds; None without.

    Examples
    --------
    >>> free_fall(Program(q=[1e8, -0.1], lb=[0, 0]))
    array([0., 1.])
    """
    below, above = held(program)
    places = np.flatnonzero(((program.q > 0) & ~below) | ((program.q < 0) & ~above))
    if not places.size:
        return None
    direction = np.zeros(program.n_variables)
    direction[places[0]] = -np.sign(program.q[places[0]])
    return direction
