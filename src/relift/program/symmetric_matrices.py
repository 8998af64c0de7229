"""Symmetric matrices as the rows of semidefinite cones: the upper triangle, column by column."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from relift.arrays import Flags, Indices, Matrix, Vector
from relift.program.cones import Cone, Semidefinite
from relift.program.conic_rows import KEPT_ROWS, ConicRows, rows_of_cones

ROOT = float(np.sqrt(2.0))
"""Entries off the diagonal stand times this in the rows of a cone."""

KEPT_SIDE = 64
"""Up to this side the places of entries are kept: to work them out takes longer than a small program needs them."""


@lru_cache(maxsize=64)
def upper_triangle(side: int) -> tuple[Indices, Indices]:
    """Row and column of each entry, in the order of the rows of a semidefinite cone.

    Examples
    --------
    >>> [part.tolist() for part in upper_triangle(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    column, row = np.tril_indices(side)  # column by column of the upper triangle is row by row of the lower one
    row.flags.writeable = column.flags.writeable = False
    return row, column


def is_off_diagonal(side: int) -> Flags:
    """Which rows of a semidefinite cone hold entries off the diagonal.

    Examples
    --------
    >>> is_off_diagonal(2).tolist()
    [False, True, False]
    """
    row, column = upper_triangle(side)
    return np.asarray(row != column)


def with_entries(entries: Matrix, side: int) -> Matrix:
    """The symmetric matrices that have these entries, without a factor, in their upper triangles: one or many.

    Examples
    --------
    >>> with_entries(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    return entries[..., _square(side)[0]]


def without_factors(entries: Matrix, side: int) -> Matrix:
    """The rows of semidefinite cones, one or many, as entries of their matrices: those off the diagonal by the root.

    Examples
    --------
    >>> without_factors(np.array([1.0, ROOT, 3.0]), 2).tolist()
    [1.0, 1.0, 3.0]
    """
    return np.asarray(entries / _square(side)[1], np.float64)


def _square(side: int) -> tuple[Indices, Vector]:
    return (_kept_square if side <= KEPT_SIDE else _square_of)(side)


def _square_of(side: int) -> tuple[Indices, Vector]:
    """Which row of a cone holds each entry of its matrix, and by what each row is divided."""
    row, column = upper_triangle(side)
    places = np.empty((side, side), np.int64)
    places[row, column] = places[column, row] = np.arange(row.size)
    divisors = np.where(row != column, ROOT, 1.0)
    places.flags.writeable = divisors.flags.writeable = False
    return places, divisors


_kept_square = lru_cache(maxsize=KEPT_SIDE)(_square_of)


def cones_by_side(rows: ConicRows) -> list[tuple[int, Indices]]:
    """The sides of semidefinite cones, and for each the rows of its cones, a line for each cone.

    Examples
    --------
    >>> rows = ConicRows(np.zeros((7, 1)), np.zeros(7), [Semidefinite(2), Semidefinite(1), Semidefinite(2)])
    >>> [(side, where.tolist()) for side, where in cones_by_side(rows)]
    [(1, [[3]]), (2, [[0, 1, 2], [4, 5, 6]])]
    """
    return list((_kept_cones_by_side if rows.n_rows <= KEPT_ROWS else _cones_by_side)(rows.cones))


def _cones_by_side(cones: tuple[Cone, ...]) -> tuple[tuple[int, Indices], ...]:
    rows = rows_of_cones(cones)
    found = rows.layout.semidefinite
    sides = np.array([side_of(cones[k]) for k in found.tolist()], np.int64)
    every = tuple(
        (side, rows.starts[found[sides == side]][:, None] + np.arange(side * (side + 1) // 2))
        for side in np.unique(sides).tolist()
    )
    for _, where in every:
        where.flags.writeable = False
    return every


_kept_cones_by_side = lru_cache(maxsize=64)(_cones_by_side)


def side_of(cone: Cone) -> int:
    """The side of the matrices of a semidefinite cone."""
    assert isinstance(cone, Semidefinite), "other cones hold no matrices"
    return cone.n
