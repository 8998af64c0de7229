"""Random semidefinite programs that a group of permutations leaves as they are, of real, complex and quaternionic kind.

Cyclic groups that move several orbits at once have complex irreducible representations in their commutant, the group of
the quaternions quaternionic ones; dihedral and symmetric groups have real ones only.
"""

from __future__ import annotations

import numpy as np

from relift.arrays import Indices, Matrix, Vector
from relift.program.cones import Semidefinite
from relift.program.conic_rows import ConicRows
from relift.program.program import Program

GROUPS = ("cyclic", "dihedral", "symmetric", "quaternions")
"""What :func:`permutation_group` can make."""

_ROOT = np.sqrt(2.0)


def permutation_group(kind: str, points: int, orbits: int) -> list[Indices]:
    """All permutations of a group that moves ``orbits`` copies of the same points at once.

    Parameters
    ----------
    kind
        One of :data:`GROUPS`; the symmetric group moves the first copy only.
    points
        Points of a copy; the quaternions have eight.
    orbits
        Copies.

    Examples
    --------
    >>> [len(permutation_group(kind, 4, 2)) for kind in GROUPS]
    [4, 8, 24, 8]
    """
    if kind == "quaternions":
        table = _quaternion_table()
        of_copy = [table[1], table[2]]
    else:
        turn, flip = np.roll(np.arange(points), 1), (-np.arange(points)) % points
        swap = np.concatenate([[1, 0], np.arange(2, points)])
        of_copy = {"cyclic": [turn], "dihedral": [turn, flip], "symmetric": [turn, swap]}[kind]
    size = of_copy[0].size
    still = np.arange(size)
    first_only = kind == "symmetric"
    generators = [
        np.concatenate([(still if first_only and k else move) + size * k for k in range(orbits)]) for move in of_copy
    ]
    found = {tuple(range(size * orbits))}
    new = list(found)
    while new:
        made = {tuple(np.array(one)[move].tolist()) for one in new for move in generators}
        new = list(made - found)
        found |= made
    return [np.array(each, np.int64) for each in sorted(found)]


def _quaternion_table() -> Indices:
    """Products of 1, i, j, k, -1, -i, -j, -k from the left, by number."""
    table = np.zeros((8, 8), np.int64)
    units = [[0, 1, 2, 3], [1, 4, 3, 6], [2, 7, 4, 1], [3, 2, 5, 4]]  # i j = k, j k = i, k i = j
    for one in range(8):
        for other in range(8):
            product = units[one % 4][other % 4]
            table[one, other] = (product + 4 * (one // 4 + other // 4)) % 8
    return table


def invariant_program(seed: int, kind: str, *, matrix_variable: bool = True) -> tuple[Program, int]:
    """A random semidefinite program that a group leaves as it is, and how many permutations the group has.

    Parameters
    ----------
    seed
        Seed of its numbers.
    kind
        One of :data:`GROUPS`.
    matrix_variable
        Minimise <C, X> over matrices X of trace 1 that orbits of constraints restrict; otherwise C - sum y_i A_i must
        be semidefinite, where the y_i lie in a box and the A_i are orbits of matrices.
    """
    random = np.random.default_rng(seed)
    group = permutation_group(kind, int(random.integers(3, 5)), int(random.integers(1, 3)))
    n = group[0].size
    A = _symmetric(random, n, 0.4)
    C = sum((_moved(A, move) for move in group), np.zeros((n, n)))
    constraints: list[Matrix] = []
    costs: list[float] = []
    for _ in range(int(random.integers(1, 3))):
        A, cost = _symmetric(random, n, 0.15), float(random.integers(-1, 2))
        orbit = {_moved(A, move).tobytes(): _moved(A, move) for move in group}
        constraints += orbit.values()
        costs += [cost] * len(orbit)
    if matrix_variable:
        rows = np.array([_as_costs(np.eye(n)), *map(_as_costs, constraints)])
        l, u = np.full(len(rows), -0.3), np.full(len(rows), 0.3)
        l[0] = u[0] = 1.0
        entries = ConicRows(-np.diag(_as_rows(np.ones((n, n)))), np.zeros(n * (n + 1) // 2), [Semidefinite(n)])
        return Program(q=_as_costs(C), A=rows, l=l, u=u, conic=entries), len(group)
    C = C + float(np.ceil(np.abs(np.linalg.eigvalsh(C)).max()) + 1.0) * np.eye(n)
    columns = np.array([_as_rows(A) for A in constraints]).T
    rows_of_C = ConicRows(columns, _as_rows(C), [Semidefinite(n)])
    return Program(q=-np.array(costs), lb=-2, ub=3, conic=rows_of_C), len(group)


def _symmetric(random: np.random.Generator, n: int, density: float) -> Matrix:
    upper = np.triu(np.where(random.random((n, n)) < density, random.integers(-3, 4, (n, n)), 0).astype(np.float64))
    return np.asarray(upper + np.triu(upper, 1).T, np.float64)


def _moved(A: Matrix, move: Indices) -> Matrix:
    return np.ascontiguousarray(A[np.ix_(move, move)])


def _as_costs(A: Matrix) -> Vector:
    """The costs of the entries of the upper triangle, column by column, that add up to <A, X>."""
    return _upper(A, 2.0)


def _as_rows(A: Matrix) -> Vector:
    """The rows of a semidefinite cone that hold A."""
    return _upper(A, _ROOT)


def _upper(A: Matrix, off_diagonal: float) -> Vector:
    column, row = np.tril_indices(A.shape[0])
    return np.asarray(np.where(row == column, 1.0, off_diagonal) * A[row, column], np.float64)
