r"""How much members of a class should count: the masses under which things of one kind and many sizes are equal.

Up to scale and mass (:mod:`relift.symmetry.scaled_refinement`), variable j has a size :math:`w_j`, which its bounds
tell, and a price :math:`p_j = m_j / w_j`, which its cost tells; row i has a size :math:`v_i`, that of its bounds, and a
price :math:`r_i = \mu_i / v_i`. Sizes and prices that are not told are taken from neighbours, step by step:

=========  ==========================================  ==========================================
of         size                                        price
=========  ==========================================  ==========================================
variables  the least that a row admits, v / \|a\|        the largest term in its column, \|a\| r, \|P\| w
rows       the largest term, \|a\| w                     the least that a variable pays, p / \|a\|
=========  ==========================================  ==========================================

All of it is independent of the order, of factors of rows and of units of variables; the products of size and price are
the masses. They are made equal inside the classes that were found with equal masses, so that classes can only grow.
Where no size or no price is to be had, the mass is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.finite_field import Words
from relift.symmetry.own_scales import Intervals, Masses, Vector
from relift.symmetry.partition import Partition

SAMPLE = 512
"""Rows that are compared before masses are looked for."""

MOST_STEPS = 32
"""Sizes and prices are handed on so many times at most."""

Indices = NDArray[np.int64]


@final
@dataclass(eq=False)
class _Known:
    """Positive numbers, exact too, of some of many things; 0 where not known."""

    floats: Vector
    images: Words

    @classmethod
    def none(cls, size: int) -> _Known:
        return cls(np.zeros(size), np.zeros(size, np.uint64))

    @classmethod
    def of_bounds(cls, bounds: Intervals) -> _Known:
        floats, images, known = bounds.largest()
        return cls(np.where(known, floats, 0.0), np.where(known, images, np.uint64(0)))

    def learn(self, where: Indices, floats: Vector, images: Words) -> bool:
        """Take over numbers of things that are not known yet; say whether there were any."""
        new = (self.floats[where] == 0) & (floats > 0) & np.isfinite(floats) & (images != 0)
        self.floats[where[new]], self.images[where[new]] = floats[new], images[new]
        return bool(new.any())


@final
@dataclass(frozen=True, eq=False)
class _Entries:
    """Entries of a matrix: where, their absolute values, and these exactly."""

    row: Indices
    column: Indices
    floats: Vector
    images: Words

    @classmethod
    def of(cls, matrix: Any, reading: Reading) -> _Entries:
        listed = matrix.tocoo()
        used = listed.data != 0
        floats = np.abs(listed.data[used])
        row, column = (where[used].astype(np.int64) for where in listed.coords)
        return cls(row, column, floats, field.images(floats, reading))


def masses_of(
    program: Program, bounds: Intervals, rows: Intervals, q_image: Words, variables: Partition, row_classes: Partition,
    reading: Reading = "decimal",
) -> Masses | None:  # fmt: skip
    """Masses from sizes and prices; None if all are equal.

    Parameters
    ----------
    program
        A linear or quadratic program.
    bounds, rows
        Bounds of its variables and of its rows.
    q_image
        Exact costs.
    variables, row_classes
        Classes inside which masses must be equal.
    reading
        How floats are read.

    Examples
    --------
    Two batteries of capacities 1 and 3 under one price:

    >>> program = Program(q=[2, 2], A=[[1, 1]], l=[1], lb=0, ub=[1, 3])
    >>> bounds = Intervals(program.lb, program.ub, field.images(program.lb), field.images(program.ub))
    >>> rows = Intervals(program.l, program.u, field.images(program.l), field.images(program.u))
    >>> found = masses_of(program, bounds, rows, field.images(program.q), Partition.discrete(2), Partition.discrete(1))
    >>> found.variables.tolist()
    [2.0, 6.0]
    """
    n, m = program.n_variables, program.n_rows
    entries = _Entries.of(program.A, reading)
    sizes, row_sizes = _Known.of_bounds(bounds), _Known.of_bounds(rows)
    _hand_on(entries, sizes, row_sizes)
    prices = _Known(np.abs(program.q), np.where(program.q < 0, field.negate(q_image), q_image))
    prices.floats[q_image == 0] = 0.0
    if program.P is not None:
        _prices_by_curvature(_Entries.of(program.P, reading), sizes, prices)
    row_prices = _Known.none(m)
    # A price is to the dual program what the inverse of a size is to the primal one: least and largest change places.
    _hand_on(entries, prices, row_prices, is_price=True)
    floats, images = _products(sizes, prices, variables, n)
    row_floats, row_images = _products(row_sizes, row_prices, row_classes, m)
    if np.all(images == images[:1]) and np.all(row_images == row_images[:1]):
        return None
    return Masses(floats, images, row_floats, row_images)


def _hand_on(entries: _Entries, of_variables: _Known, of_rows: _Known, *, is_price: bool = False) -> None:
    """Let sizes, or prices, spread over the matrix until nothing new is learnt."""
    for _ in range(MOST_STEPS):
        to_rows = _offers(entries, entries.row, entries.column, of_rows, of_variables, divides=is_price)
        to_variables = _offers(entries, entries.column, entries.row, of_variables, of_rows, divides=not is_price)
        learnt = of_rows.learn(*to_rows)
        if not of_variables.learn(*to_variables) and not learnt:
            return


def _offers(
    entries: _Entries, target: Indices, source: Indices, to: _Known, of: _Known, *, divides: bool
) -> tuple[Indices, Vector, Words]:
    """For each target that is not known the least source / |a|, or the largest source |a|, of its known neighbours."""
    open_ = np.flatnonzero((to.floats[target] == 0) & (of.floats[source] > 0))
    if open_.size == 0:
        return np.empty(0, np.int64), np.empty(0), np.empty(0, np.uint64)
    known, size = of.floats[source[open_]], entries.floats[open_]
    with np.errstate(over="ignore", under="ignore"):
        values = known / size if divides else known * size
    order = np.lexsort((values if divides else -values, target[open_]))
    chosen = order[np.r_[True, np.diff(target[open_][order]) != 0]]
    entry = open_[chosen]
    factor = field.inverse(entries.images[entry]) if divides else entries.images[entry]
    return target[entry], values[chosen], field.multiply(of.images[source[entry]], factor)


def _prices_by_curvature(entries: _Entries, sizes: _Known, prices: _Known) -> None:
    """A variable without a cost pays the largest |P| w of its column."""
    offers = _offers(entries, entries.row, entries.column, prices, sizes, divides=False)
    prices.learn(*offers)


def _products(sizes: _Known, prices: _Known, classes: Partition, n: int) -> tuple[Vector, Words]:
    """Size times price, the same for all members of a class: the least of its masses."""
    known = (sizes.floats > 0) & (prices.floats > 0)
    with np.errstate(over="ignore", under="ignore"):
        floats = np.where(known, sizes.floats * prices.floats, 1.0)
    usable = known & (floats > 0) & np.isfinite(floats)
    images = np.where(usable, field.multiply(sizes.images, prices.images), np.uint64(1))
    floats = np.where(usable, floats, 1.0)
    order = np.lexsort((floats, classes.labels))
    first = order[np.r_[True, np.diff(classes.labels[order]) != 0]] if n else order
    return floats[first][classes.labels], images[first][classes.labels]


def may_be_equal_up_to_size(
    program: Program, bounds: Intervals, q_image: Words, variables: Partition, rows: Partition
) -> bool:
    r"""Whether some rows look as those of things of one kind and different sizes do; a sample of rows is compared.

    Rows of different sizes are equal in their terms \|a\| w and \|a\| / \|q\|, each divided by the largest of the row;
    members of one row that are of different sizes have equal \|a\| / \|q\|.

    Parameters
    ----------
    program
        A linear or quadratic program.
    bounds
        Bounds of its variables.
    q_image
        Exact costs.
    variables, rows
        The classes found with equal masses: what is in one already counts no more.

    Examples
    --------
    >>> def looks_so(q: list[float], ub: list[float]) -> bool:
    ...     program = Program(q=q, A=[[1, 1]], l=[1], lb=0, ub=ub)
    ...     bounds = Intervals(program.lb, program.ub, field.images(program.lb), field.images(program.ub))
    ...     classes = Partition.discrete(2), Partition.discrete(1)
    ...     return may_be_equal_up_to_size(program, bounds, field.images(program.q), *classes)
    >>> looks_so([2, 2], [1, 3]), looks_so([2, 3], [1, 3]), looks_so([2, 2], [1, 1])
    (True, False, False)
    """
    row, column, entry = _sampled(program.A)
    if row.size == 0:
        return False
    sizes, _, is_sized = bounds.largest()
    is_priced = q_image != 0
    with np.errstate(over="ignore", divide="ignore"):
        dear = np.where(is_priced[column], entry / np.abs(np.where(is_priced, program.q, 1.0))[column], 0.0)
        large = np.where(is_sized[column], entry * sizes[column], 0.0)
    dear, large = (_relative_to_row(part, row) for part in (dear, large))
    # Members of one row: equal \|a\| / \|q\|, different sizes, different classes.
    order = np.lexsort((large, dear, row))
    same = (np.diff(row[order]) == 0) & (np.diff(dear[order]) == 0) & (np.diff(large[order]) != 0)
    same &= np.diff(variables.labels[column[order]]) != 0
    if bool(np.any(same & (large[order][1:] > 0) & (large[order][:-1] > 0))):
        return True
    # Rows with equal terms, in different classes.
    words = field.mixed(field.mixed(dear.view(np.uint64)) ^ large.view(np.uint64))
    chosen = _sample_of(program.n_rows)
    keys, tells = np.zeros(chosen.size, np.uint64), np.zeros(chosen.size, bool)
    np.add.at(keys, row, words)
    tells[row[(dear > 0) | (large > 0)]] = True
    labels, keys = rows.labels[chosen][tells], keys[tells]
    order = np.lexsort((labels, keys))
    return bool(np.any((np.diff(keys[order]) == 0) & (np.diff(labels[order]) != 0)))


def _sample_of(m: int) -> Indices:
    return np.arange(m) if m <= SAMPLE else np.linspace(0, m - 1, SAMPLE).astype(np.int64)


def _sampled(A: Any) -> tuple[Indices, Indices, Vector]:
    """The entries of some rows: number of the row in the sample, column, absolute value."""
    chosen = _sample_of(A.shape[0])
    if A.format == "csr":
        part = A[chosen]
        row, column, data = np.repeat(np.arange(chosen.size), np.diff(part.indptr)), part.indices, part.data
    else:
        position = np.full(A.shape[0], -1, np.int64)
        position[chosen] = np.arange(chosen.size)
        wanted = np.flatnonzero(position[A.indices] >= 0)
        row, data = position[A.indices[wanted]], A.data[wanted]
        column = np.searchsorted(A.indptr, wanted, side="right") - 1
    used = data != 0
    return row[used], column[used].astype(np.int64), np.abs(data[used])


def _relative_to_row(values: Vector, row: Indices) -> Vector:
    """Values relative to the largest of their row, rounded to ten digits: this is a look, not a proof."""
    largest = np.zeros(int(row.max()) + 1)
    np.maximum.at(largest, row, values)
    relative = np.divide(values, largest[row], out=np.zeros(values.size), where=largest[row] > 0)
    return np.where(np.isfinite(relative), np.round(relative, 10), 0.0)
