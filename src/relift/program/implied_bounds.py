r"""Bounds of variables that follow from one row and the bounds of the others in it.

From :math:`l_i \le a_{ij} x_j + \sum_{k \ne j} a_{ik} x_k` and the largest value of the sum, :math:`x_j` is bounded
from one side; likewise from :math:`u_i` and the smallest. Rows count one by one, and implied bounds are not used to
find further ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Integers, Vector
from relift.program import formulas
from relift.program.formulas import ARRAYS
from relift.program.program import Program


def implied_bounds(program: Program, wanted: NDArray[np.bool_] | None = None) -> tuple[Vector, Vector]:
    """The tightest bounds of each variable: its own, or one that a linear row implies.

    Parameters
    ----------
    program
        Any program; only its linear rows and bounds are read.
    wanted
        For which variables to look; the others keep their own bounds. None for all.

    Examples
    --------
    >>> program = Program(q=[1, 1], A=[[1, 1]], l=[0], u=[0], lb=[-np.inf, 0], ub=[np.inf, 9])
    >>> [bounds.tolist() for bounds in implied_bounds(program)]
    [[-9.0, 0.0], [0.0, 9.0]]
    """
    A, l, u = program.A.tocsr(), program.l, program.u
    if wanted is not None:
        rows = np.unique(program.A.tocsc()[:, np.flatnonzero(wanted)].indices)
        A, l, u = A[rows], l[rows], u[rows]
    entries = A.tocoo()
    i, j, a = entries.coords[0], entries.coords[1], entries.data
    with np.errstate(all="ignore"):
        largest, smallest = formulas.extreme_products(ARRAYS, a, program.lb[j], program.ub[j])
        from_lower, by_lower = formulas.implied_bound(ARRAYS, a, l[i], largest, *_totals(i, largest, l.size))
        from_upper, by_upper = formulas.implied_bound(ARRAYS, a, u[i], smallest, *_totals(i, smallest, l.size))
    lower, upper = program.lb.copy(), program.ub.copy()
    looked_for = (a != 0) if wanted is None else (a != 0) & wanted[j]
    for holds, at_least, bounds in ((by_lower, a > 0, from_lower), (by_upper, a < 0, from_upper)):
        known = looked_for & holds & np.isfinite(bounds)
        np.maximum.at(lower, j[known & at_least], bounds[known & at_least])
        np.minimum.at(upper, j[known & ~at_least], bounds[known & ~at_least])
    return lower, upper


def _totals(rows: Integers, products: Vector, n_rows: int) -> tuple[Vector, Vector]:
    """For each entry, the sum of the finite products of its row, and how many are not finite."""
    finite = np.isfinite(products)
    sums = np.bincount(rows, np.where(finite, products, 0.0), n_rows)
    missing = np.bincount(rows, ~finite, n_rows)
    return np.asarray(sums[rows], np.float64), np.asarray(missing[rows], np.float64)
