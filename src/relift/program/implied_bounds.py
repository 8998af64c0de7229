r"""Bounds of variables that follow from one row and the bounds of the others in it.

From :math:`l_i \le a_{ij} x_j + \sum_{k \ne j} a_{ik} x_k` and the largest value of the sum, :math:`x_j` is bounded
from one side; likewise from :math:`u_i` and the smallest. Rows count one by one, and implied bounds are not used to
find further ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Integers, Vector
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
    up = a > 0
    with np.errstate(all="ignore"):
        largest = _of_others(i, np.where(up, a * program.ub[j], a * program.lb[j]), l.size)
        smallest = _of_others(i, np.where(up, a * program.lb[j], a * program.ub[j]), l.size)
        from_lower, from_upper = (l[i] - largest) / a, (u[i] - smallest) / a
    lower, upper = program.lb.copy(), program.ub.copy()
    looked_for = (a != 0) if wanted is None else (a != 0) & wanted[j]
    for side, at_least, bounds in ((l[i], up, from_lower), (u[i], ~up, from_upper)):
        known = looked_for & np.isfinite(side) & np.isfinite(bounds)
        np.maximum.at(lower, j[known & at_least], bounds[known & at_least])
        np.minimum.at(upper, j[known & ~at_least], bounds[known & ~at_least])
    return lower, upper


def _of_others(rows: Integers, products: Vector, n_rows: int) -> Vector:
    """For each entry, the sum of the products of the others in its row; NaN if one of them is not finite."""
    finite = np.isfinite(products)
    sums = np.bincount(rows, np.where(finite, products, 0.0), n_rows)
    missing = np.bincount(rows, ~finite, n_rows)
    others = sums[rows] - np.where(finite, products, 0.0)
    return np.where(missing[rows] - ~finite > 0, np.nan, others)
