"""Programs in which no two kinds of variables become one up to size, unit and sign, small and large.

Kinds are costs and bounds as they are given. Where none merge, and nothing may be at rest, classes up to scale are the
equitable ones, so that looking for more should cost next to nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from benchmarks.families.control import obstacle
from benchmarks.families.family import Family
from benchmarks.families.learning import FAMILIES as LEARNING
from benchmarks.families.operations import covering_design, machine_repair
from relift.program.program import Program


def vertex_cover(n: int) -> Program:
    """The relaxed vertex cover of a random graph in which each of n vertices has about six edges."""
    random = np.random.default_rng(31)
    ends = np.stack([np.repeat(np.arange(n), 3), (np.repeat(np.arange(n), 3) + random.integers(1, n, 3 * n)) % n])
    row = np.tile(np.arange(3 * n), 2)
    A = sparse.csc_array((np.ones(6 * n), (row, ends.ravel())), shape=(3 * n, n))
    return Program(q=np.ones(n), A=A, l=1, lb=0, ub=1)


def boxes_on_a_torus(k: int) -> Program:
    """A cover of the edges of a k x k torus; the boxes [1, 2], [1, 3] and [1, 5] are not in proportion."""
    n = k * k
    place = np.arange(n).reshape(k, k)
    row = np.arange(2 * n)
    ends = np.concatenate([np.roll(place, 1, 0).ravel(), np.roll(place, 1, 1).ravel()])
    ones = np.ones(2 * n)
    A = sparse.coo_array((np.r_[ones, ones], (np.r_[row, row], np.r_[np.tile(place.ravel(), 2), ends]))).tocsc()
    kind = (place % 3).ravel()
    return Program(q=np.array([2.0, 3.0, 7.0])[kind], A=A, l=3, lb=1, ub=np.array([2.0, 3.0, 5.0])[kind])


def priced_cover(n: int) -> Program:
    """Cover with n sets of prices 1, 2 and 5 and the same limit, over 2 n points by about nine each."""
    random = np.random.default_rng(32)
    point = np.arange(2 * n)  # each in two sets or more, so that presolve leaves all as it is
    row = np.concatenate([point, point, random.integers(0, 2 * n, 14 * n)])
    column = np.concatenate([point % n, (point + 1) % n, random.integers(0, n, 14 * n)])
    A = sparse.coo_array((np.ones(column.size), (row, column)), shape=(2 * n, n)).tocsc()
    A.data[:] = 1.0
    return Program(
        q=np.array([1.0, 2.0, 5.0])[np.arange(n) % 3], A=A, l=1, lb=0.5, ub=np.array([1.0, 2.0, 4.0])[np.arange(n) % 3]
    )


SVM_DUALS = tuple(
    replace(family, sizes=sizes)
    for family, sizes in zip(
        [each for each in LEARNING if each.name.startswith("SVM dual")], ((800,), (500, 1500)), strict=True
    )
)

FAMILIES = (
    *SVM_DUALS,
    Family("covering design", "operations", "LP", covering_design, (13, 16, 18), True),
    Family("machine repair MDP", "operations", "LP", machine_repair, (10, 12, 13), True),
    Family("obstacle 3-D", "control", "QP", obstacle, (21, 35, 50), True),
    Family("vertex cover", "random", "LP", vertex_cover, (2_000, 60_000), False),
    Family("boxes on a torus", "operations", "LP", boxes_on_a_torus, (60, 300), True),
    Family("cover by three prices", "random", "LP", priced_cover, (1_000, 30_000), False),
)
"""From some thousands to about a million nonzeros."""
