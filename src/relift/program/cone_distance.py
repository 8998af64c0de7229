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

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Indices, Vector
from relift.program.cones import Semidefinite
from relift.program.conic_passes import push_heads
from relift.program.conic_rows import ConicRows, diagonal_of
from relift.program.symmetric_matrices import ROOT, is_off_diagonal, with_entries

STEPS = 200
"""Halvings, at most, of the interval in which the smallest push lies."""

PRECISION = 1e-6
"""How exactly the push is found, relatively; it is never too small."""

NEWTON_STEPS = 8
"""At most, for a guess of the push into exponential cones; a guess that is wrong is not taken."""


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
        _push_exponential(rows, s, room, push, moved, dual)
    if layout.power.size:
        _push_power(rows, s, room, push, moved, dual)
    for k in layout.semidefinite.tolist():
        _push_semidefinite(rows, k, s, room, push, moved)
    return push, moved


def largest_of_cones(rows: ConicRows, values: Vector) -> Vector:
    """For each cone, the largest absolute value in its rows."""
    return np.asarray(np.maximum.reduceat(np.abs(values), rows.starts) if len(rows) else np.zeros(0), np.float64)


def _push_semidefinite(rows: ConicRows, k: int, s: Vector, room: Vector, push: Vector, moved: Vector) -> None:
    cone = rows.cones[k]
    assert isinstance(cone, Semidefinite)
    span = slice(rows.starts[k], rows.starts[k] + rows.sizes[k])
    smallest = float(np.linalg.eigvalsh(matrix_of(s[span], cone.n))[0])
    if smallest < 0:
        push[k] = -smallest / float(room[span].max())
        moved[rows.starts[k] + diagonal_of(cone.n)] -= smallest


def matrix_of(triangle: Vector, n: int) -> NDArray[np.float64]:
    """The symmetric matrix whose scaled upper triangle this is.

    Examples
    --------
    >>> matrix_of(np.array([1.0, np.sqrt(2.0), 3.0]), 2).round(12).tolist()
    [[1.0, 1.0], [1.0, 3.0]]
    """
    return with_entries(np.where(is_off_diagonal(n), triangle / ROOT, triangle), n)


def _push_exponential(rows: ConicRows, s: Vector, room: Vector, push: Vector, moved: Vector, dual: bool) -> None:
    at = rows.layout.exponential_rows
    parts, rooms = s[at], room[at]
    if dual:
        u = np.minimum(parts[:, 0], 0.0)
        x, y, z = u - parts[:, 1], -u, parts[:, 2]
        room_x, room_z = rooms[:, 1], rooms[:, 2]
        first = np.maximum(parts[:, 0], 0.0) / rooms[:, 0]
    else:
        x, y, z = parts[:, 0], np.maximum(parts[:, 1], 0.0), parts[:, 2]
        room_x, room_z = rooms[:, 0], rooms[:, 2]
        first = np.maximum(-parts[:, 1], 0.0) / rooms[:, 1]

    def is_inside(delta: Vector, k: Indices) -> NDArray[np.bool_]:
        x_, y_, z_ = x[k] - delta * room_x[k], y[k], z[k] + delta * room_z[k]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            curved = (z_ > 0) & (x_ <= y_ * (np.log(z_) - np.log(y_)))
        return np.where(y_ > 0, curved, (x_ <= 0) & (z_ >= 0))

    # At this push z >= y and x <= 0, so that y e^(x/y) <= z.
    enough = np.maximum(np.maximum(x / room_x, (y - z) / room_z), 0.0)
    delta = _smallest(is_inside, enough, _guess_exponential(x, y, z, room_x, room_z))
    push[rows.layout.exponential] = np.maximum(first, delta)
    if dual:
        moved[at[:, 0]] = np.minimum(parts[:, 0], 0.0)
        moved[at[:, 1]] += delta * room_x
    else:
        moved[at[:, 0]] -= delta * room_x
        moved[at[:, 1]] = y
    moved[at[:, 2]] += delta * room_z


def _guess_exponential(x: Vector, y: Vector, z: Vector, room_x: Vector, room_z: Vector) -> Vector:
    """About the smallest push, and hardly above it, where y and z are positive; NaN elsewhere.

    y log(z / y) - x is concave in the push and grows, so that Newton's steps from 0 come from below.
    """
    guess = np.zeros_like(x)
    with np.errstate(all="ignore"):
        log_y = np.log(y)
        for _ in range(NEWTON_STEPS):
            pushed = z + guess * room_z
            lacks = x - guess * room_x - y * (np.log(pushed) - log_y)
            step = lacks / (room_x + y * room_z / pushed)
            guess += step
            if not (step > 0.1 * PRECISION * guess).any():
                break
        return np.where(z > 0, guess, np.nan) * (1.0 + 0.5 * PRECISION)


def _push_power(rows: ConicRows, s: Vector, room: Vector, push: Vector, moved: Vector, dual: bool) -> None:
    layout = rows.layout
    owner, n_cones = layout.argument_owner, layout.power.size
    x, d = s[layout.arguments], room[layout.arguments]
    if dual:
        x, d = x / layout.exponents, d / layout.exponents
    size = np.abs(s[layout.products])
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    lengths = np.diff(np.r_[starts, owner.size])

    def is_inside(delta: Vector, k: Indices) -> NDArray[np.bool_]:
        chosen = np.zeros(n_cones, bool)
        chosen[k] = True
        entries = np.flatnonzero(np.repeat(chosen, lengths))
        mine = (np.cumsum(chosen) - 1)[owner[entries]]
        t = x[entries] + delta[mine] * d[entries]
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(t > 0, np.log(np.where(t > 0, t, 1.0)), -np.inf)
            product = np.bincount(mine, layout.exponents[entries] * logs, k.size)
            wanted = np.log(size[k])
        lowest = np.full(k.size, np.inf)
        np.minimum.at(lowest, mine, t)
        return (lowest >= 0) & (product >= wanted)

    enough = np.maximum(np.maximum.reduceat((size[owner] - x) / d, starts), 0.0)
    delta = _smallest(is_inside, enough)
    push[layout.power] = delta
    moved[layout.arguments] += delta[owner] * room[layout.arguments]


def _smallest(
    is_inside: Callable[[Vector, Indices], NDArray[np.bool_]], enough: Vector, guess: Vector | None = None
) -> Vector:
    """The smallest push from 0 to enough for which the test holds, which is monotone; by bisection.

    Parameters
    ----------
    is_inside
        The test of some pushes, for the cones of these numbers.
    enough
        Pushes that are large enough.
    guess
        Pushes that are believed to be just large enough: they are taken if they are, and a little less is not.
    """
    everyone = np.arange(enough.size)
    delta = np.zeros_like(enough)
    outside = everyone[~is_inside(delta, everyone)]
    if guess is not None and outside.size:
        tried = guess[outside]
        hits = is_inside(tried, outside) & ~is_inside(tried * (1.0 - PRECISION), outside)
        delta[outside[hits]] = tried[hits]
        outside = outside[~hits]
    low, high = np.zeros(outside.size), enough[outside].copy()
    for _ in range(STEPS):
        if np.all(high - low <= PRECISION * high):
            break
        middle = 0.5 * (low + high)
        inside = is_inside(middle, outside)
        high = np.where(inside, middle, high)
        low = np.where(inside, low, middle)
    delta[outside] = high
    return delta
