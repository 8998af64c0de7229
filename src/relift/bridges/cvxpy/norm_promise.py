r"""Whether norms written with symmetric factors can let more variables merge: a bound that costs one product.

In any partition that lifting could find for the cones :math:`\|W_k x + d_k\| \le h_k^\top x + b_k` by their Gram
matrices, these are equal, up to the scale of a cone, for cones of one class: :math:`1^\top W_k^\top W_k 1`,
:math:`d_k^\top W_k 1`, :math:`d_k^\top d_k`, :math:`h_k^\top 1` and :math:`b_k`; and the sums over each class of cones
of :math:`W_k^\top W_k 1`, :math:`W_k^\top d_k` and :math:`h_k` are equal for variables of one class, as are their
costs. So there are at least as many classes as distinct values of one random combination of these sums; and the same
holds with any vector that is constant on classes, such as a function of this combination, in place of 1. Numbers that
nearly agree count as one, which only lowers the bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relift.arrays import Flags, Indices, Labels, Vector
from relift.program.conic_rows import ConicRows
from relift.program.program import Program

GAIN = 0.9
"""Fewer classes than this share of those that are known already are worth looking for."""
TALL = 2
"""A norm of more rows than this many times its columns shrinks by its symmetric factor."""
MOST_ROUNDS, GROWS = 4, 1.1
"""The bound is computed again with what it found as long as it grows by this factor, and never more often."""
_EQUAL = 1e-9


def promising_norms(program: Program, candidates: Indices, labels: Callable[[], Labels]) -> Indices:
    """Choose the cones whose factors are worth replacing: all where classes may merge, else those that are tall.

    Parameters
    ----------
    program
        With conic rows.
    candidates
        Second-order cones, by their numbers.
    labels
        Asked for the classes of variables that are known without this; negative ones stand for themselves.
    """
    if not candidates.size:
        return candidates
    bound = fewest_classes(program)
    if bound < GAIN * program.n_variables and bound < GAIN * count_classes(labels()):
        return candidates
    return candidates[is_tall(program.conic, candidates)]


def count_classes(labels: Labels) -> int:
    """How many classes there are; negative labels stand for themselves."""
    return int(np.unique(labels[labels >= 0]).size + np.count_nonzero(labels < 0))


def is_tall(rows: ConicRows, cones: Indices) -> Flags:
    """Whether each of the cones has many more tails than columns."""
    A, heads = rows.A, rows.starts[cones]
    sizes, offsets = rows.sizes[cones] - 1, rows.A.indptr
    n_entries = offsets[heads + 1 + sizes] - offsets[heads + 1]
    # Tails of less than half a term each are a plain norm of some variables.
    may_be: Flags = (sizes > TALL) & (n_entries >= TALL * sizes // 4)
    if not may_be.any():
        return may_be
    of_row = _places(len(rows), cones[may_be])[rows.cone_of_row]
    of_row[rows.starts] = -1
    owner = np.repeat(of_row, np.diff(offsets))
    taken = np.flatnonzero(owner >= 0)
    pairs = np.unique(owner[taken] * np.int64(rows.n_variables) + A.indices[taken])
    widths = np.bincount(pairs // rows.n_variables, minlength=np.count_nonzero(may_be))
    offset = np.flatnonzero((of_row >= 0) & (rows.b != 0))
    widths += np.bincount(of_row[offset], minlength=widths.size) > 0
    found: Flags = may_be.copy()
    found[may_be] = sizes[may_be] > TALL * widths
    return found


def _places(size: int, some: Indices) -> Indices:
    """For each of so many things its place among some of them, or -1."""
    place = np.full(size, -1)
    place[some] = np.arange(some.size)
    return place


def fewest_classes(program: Program) -> int:
    """A lower bound on the classes of variables, however the norms of a program are written.

    Parameters
    ----------
    program
        With conic rows.

    Examples
    --------
    >>> from relift.program.cones import SecondOrder
    >>> head, tails = [0, 0, -1], [[-1, 2, 0], [2, -1, 0]]
    >>> cone = ConicRows([head, *tails], [0, 0, 0], [SecondOrder(3)])
    >>> fewest_classes(Program(q=[1, 1, 1], conic=cone)), fewest_classes(Program(q=[1, 2, 1], conic=cone))
    (2, 3)
    """
    given, is_fixed = _ones(program)
    along, cost, most = given, _scaled(program.q) * np.pi, 0
    for _ in range(MOST_ROUNDS):
        value = _pulls(program, along)
        value = value / max(float(np.abs(value).max(initial=0)), 1e-300) + cost
        n_distinct = _distinct(value)
        if n_distinct < GROWS * most:
            return max(n_distinct, most)
        # Equal for variables of one class, so that sums with it are as well; fixed ones keep their value.
        most, cost, along = n_distinct, value, np.where(is_fixed, given, 1.5 + np.sin(3.0 * value))
    return most


def _pulls(program: Program, along: Vector) -> Vector:
    """What the cones ask of each variable: for numbers that are equal in every class, equal in every class."""
    rows, layout = program.conic, program.conic.layout
    random = np.random.default_rng(20160613)
    sums, b = np.asarray(rows.A @ along), rows.b
    n_cones = layout.heads.size
    tails, owner = layout.tails, layout.tail_owner
    parts = np.array(
        [
            np.bincount(owner, sums[tails] ** 2, n_cones),
            np.bincount(owner, sums[tails] * b[tails], n_cones),
            np.bincount(owner, b[tails] ** 2, n_cones),
            sums[layout.heads],
            b[layout.heads],
        ]
    )
    scale = np.sqrt(parts[0] + parts[2] + parts[3] ** 2 + parts[4] ** 2)
    scale = np.where(scale > 0, scale, 1.0)
    parts[:3] /= scale**2
    parts[3:] /= scale
    # A smooth function of numbers that are equal for cones of one class: rounding stays rounding.
    phase = random.uniform(0, 6, (3, 1)) + random.uniform(1, 2, (3, 1)) * (random.uniform(1, 2, 5) @ parts)
    colour = np.cos(phase)
    pull = np.zeros(rows.n_rows)
    pull[tails] = (colour[0][owner] * sums[tails] + colour[1][owner] * b[tails]) / scale[owner] ** 2
    pull[layout.heads] = colour[2] / scale
    value: Vector = rows.A.T @ pull
    return value


def _ones(program: Program) -> tuple[Vector, Flags]:
    """One for each variable, but the value of those that a row fixes: presolve moves these to the right-hand side."""
    found, is_fixed = np.ones(program.n_variables), np.zeros(program.n_variables, bool)
    rows = program.A.tocsr()
    alone = np.flatnonzero((np.diff(rows.indptr) == 1) & (program.l == program.u))
    at = rows.indptr[alone]
    given = rows.data[at] != 0
    columns = rows.indices[at][given]
    found[columns] = program.u[alone][given] / rows.data[at][given]
    is_fixed[columns] = True
    return found, is_fixed


def _scaled(values: Vector) -> Vector:
    largest = float(np.abs(values).max(initial=0))
    return values / largest if largest > 0 else values


def _distinct(values: Vector) -> int:
    """How many numbers there are that differ by more than rounding."""
    if not values.size:
        return 0
    ordered = np.sort(values)
    return 1 + int(np.count_nonzero(np.diff(ordered) > _EQUAL * max(1.0, float(np.abs(ordered).max()))))
