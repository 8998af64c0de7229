"""What :mod:`relift.program.conic_passes` does, in NumPy, step by step: slow, obvious, and compared with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Indices, Integers, SparseMatrix, Vector
from relift.program.conic_rows import ConeLayout, ConicRows
from relift.program.magnitudes import largest_by_group, largest_of_columns, largest_of_rows, transposed_product
from relift.program.sparse_structure import unchecked

STEPS = 200
"""Halvings, at most, of the interval in which the smallest push lies."""

PRECISION = 1e-6
"""How exactly the push is found, relatively; it is never too small."""

NEWTON_STEPS = 8
"""At most, for a guess of the push into exponential cones; a guess that is wrong is not taken."""


def stacked(above: SparseMatrix, below: SparseMatrix, cone_of_row: Indices, n_cones: int) -> SparseMatrix:
    """Two CSR arrays, one below the other, and a column for each cone."""
    m, k = above.shape[0], below.shape[0]
    shape = (m + k, above.shape[1] + n_cones)
    count = above.nnz + below.nnz + k
    index_type = np.int32 if max(count, *shape) < 2**31 else np.int64
    data = np.empty(count)
    indices: Integers = np.empty(count, index_type)
    offsets: Integers = np.empty(shape[0] + 1, index_type)
    offsets[: m + 1] = above.indptr
    offsets[m:] = above.nnz + below.indptr + np.arange(k + 1)
    indices[: above.nnz], data[: above.nnz] = above.indices, above.data
    place = above.nnz + np.arange(below.nnz) + np.repeat(np.arange(k), np.diff(below.indptr))
    indices[place], data[place] = below.indices, below.data
    last = offsets[m + 1 :] - 1
    indices[last], data[last] = above.shape[1] + cone_of_row, 1.0
    return unchecked(sparse.csr_array, data, indices, offsets, shape)


def column_sums(rows: ConicRows, v: Vector | None) -> tuple[Vector, Vector, Vector, Vector]:
    """One vector after the other."""
    A, n = rows.A, rows.n_variables
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        sides = np.repeat(np.abs(rows.b), np.diff(A.indptr))
        ratios = np.where(A.data != 0, sides / np.abs(A.data), 0.0)
    natural, marks = largest_by_group(A.indices, ratios, n), np.zeros(n)
    marks[A.indices] = 1.0
    if v is None:
        return natural, np.zeros(n), np.zeros(n), marks
    return natural, largest_of_columns(A, np.abs(v)), transposed_product(A, v), marks


def slack_and_rooms(rows: ConicRows, x: Vector, sizes: Vector, common: float) -> tuple[Vector, Vector]:
    """By rows, then by cones."""
    own = np.maximum(np.abs(rows.b), largest_of_rows(rows.A, sizes))
    of_cone = np.maximum.reduceat(own, rows.starts)[rows.cone_of_row]
    return rows.slack(x), np.where(own > 0, own, np.where(of_cone > 0, of_cone, common))


def push_heads(heads: Indices, lengths: Indices, room: Vector, s: Vector) -> Vector:
    """All cones together."""
    owner, starts = np.repeat(np.arange(heads.size), lengths), np.cumsum(lengths) - lengths
    at = heads[owner] + np.arange(owner.size) - starts[owner]
    part = s[at]
    # Scaled, so that squares of large and small entries neither overflow nor vanish.
    size = np.maximum.reduceat(np.abs(part), starts)
    size = np.where(size > 0, size, 1.0)
    squares = (part / size[owner]) ** 2
    squares[starts] = 0.0  # of heads
    excess = np.maximum(size * np.sqrt(np.bincount(owner, squares, heads.size)) - s[heads], 0.0)
    s[heads] += excess
    return np.asarray(excess / np.maximum.reduceat(np.abs(room[at]), starts), np.float64)


def push_exponential(at: Indices, s: Vector, room: Vector, moved: Vector, *, dual: bool) -> Vector:
    """All cones together."""
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
    if dual:
        moved[at[:, 0]] = np.minimum(parts[:, 0], 0.0)
        moved[at[:, 1]] += delta * room_x
    else:
        moved[at[:, 0]] -= delta * room_x
        moved[at[:, 1]] = y
    moved[at[:, 2]] += delta * room_z
    return np.maximum(first, delta)


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


def push_power(layout: ConeLayout, s: Vector, room: Vector, moved: Vector, *, dual: bool) -> Vector:
    """All cones together."""
    owner, n_cones = layout.argument_owner, layout.power.size
    x, d = s[layout.arguments], room[layout.arguments]
    if dual:
        x, d = x / layout.exponents, d / layout.exponents
    size = np.abs(s[layout.products])
    lengths = layout.n_arguments
    starts = np.cumsum(lengths) - lengths

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
    moved[layout.arguments] += delta[owner] * room[layout.arguments]
    return delta


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
