r"""How far a vector is from a product of cones, and the nearest point of it that is easy to find.

A vector s is pushed into its cone K along directions that lead inside: by how much,

.. math:: \delta = \min\{\delta \ge 0 : s + \delta d \in K\},

is zero exactly for members, and says that s differs from a member by at most :math:`\delta\,room` in each entry. With
``room`` = 1 + the size of each entry this is a relative error, entry by entry, that behaves at the boundary of
exponential and power cones, where values of the defining functions overflow or are flat. Directions:

- second order: the head; semidefinite: the diagonal (both by the largest room of the cone);
- power: all arguments; exponential: x falls, z grows, a negative y is made 0.

Dual cones are images of cones of the same kind: the first two kinds are their own duals, and

.. math:: (u, w) \in K_{pow}^* \iff (u_i / \alpha_i, w) \in K_{pow}, \qquad
   (u, v, w) \in K_{exp}^* \iff (u - v, -u, w) \in K_{exp}.
"""

from __future__ import annotations

import numpy as np

from relift.arrays import Matrix, Vector
from relift.program.conic_passes import push_exponential, push_heads, push_power
from relift.program.conic_rows import ConicRows, diagonal_of
from relift.program.symmetric_matrices import cones_by_side, with_entries, without_factors


def pushed_into(rows: ConicRows, s: Vector, room: Vector, *, dual: bool = False) -> tuple[Vector, Vector]:
    """By how much each cone's part of a vector must be pushed to lie in the cone, and the vector after that.

    Parameters
    ----------
    rows
        The conic rows that s belongs to; only the cones are read.
    s
        One entry for each row.
    room
        Positive: by how much each entry may move for a push of 1.
    dual
        Take the dual cones.

    Returns
    -------
    tuple of arrays
        The push of each cone, and s pushed.

    Examples
    --------
    >>> from relift.program.cones import Exponential, SecondOrder
    >>> rows = ConicRows(np.zeros((6, 1)), np.zeros(6), [SecondOrder(3), Exponential()])
    >>> push, moved = pushed_into(rows, np.array([4.0, 3.0, 4.0, 0.0, -1.0, 2.0]), np.ones(6))
    >>> push.tolist(), moved.tolist()
    ([1.0, 1.0], [5.0, 3.0, 4.0, 0.0, 0.0, 2.0])
    """
    push, moved = np.zeros(len(rows)), np.array(s, dtype=np.float64)
    layout = rows.layout
    if layout.second_order.size:
        at, lengths = layout.heads, rows.sizes[layout.second_order]
        push[layout.second_order] = push_heads(at, lengths, room, moved)
    if layout.exponential.size:
        push[layout.exponential] = push_exponential(layout.exponential_rows, s, room, moved, dual=dual)
    if layout.power.size:
        push[layout.power] = push_power(layout, s, room, moved, dual=dual)
    if layout.semidefinite.size:
        _push_semidefinite(rows, s, room, push, moved)
    return push, moved


def largest_of_cones(rows: ConicRows, values: Vector) -> Vector:
    """For each cone, the largest absolute value in its rows."""
    return np.asarray(np.maximum.reduceat(np.abs(values), rows.starts) if len(rows) else np.zeros(0), np.float64)


def _push_semidefinite(rows: ConicRows, s: Vector, room: Vector, push: Vector, moved: Vector) -> None:
    for side, where in cones_by_side(rows):
        smallest = np.linalg.eigvalsh(matrix_of(s[where], side))[:, 0]
        for place in np.flatnonzero(smallest < 0).tolist():
            own = where[place]
            push[rows.cone_of_row[own[0]]] = -smallest[place] / room[own].max()
            moved[own[diagonal_of(side)]] -= smallest[place]


def matrix_of(triangle: Matrix, n: int) -> Matrix:
    """The symmetric matrix whose scaled upper triangle this is; of several triangles, a stack of them.

    Examples
    --------
    >>> matrix_of(np.array([1.0, np.sqrt(2.0), 3.0]), 2).round(12).tolist()
    [[1.0, 1.0], [1.0, 3.0]]
    """
    return with_entries(without_factors(triangle, n), n)
