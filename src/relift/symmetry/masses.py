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

What rows admit is compared whether they have a size of their own or one by their largest term, that of a variable with
bounds. All of it is independent of the order, of factors of rows and of units of variables; the products of size and
price are the masses. They are made equal inside the classes that were found with equal masses, so that classes can only
grow. Where no size or no price is to be had, the mass is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import FieldElements, Flags, Indices, SparseMatrix, Vector
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import KeptValues, capsule_of, core_arrays, index_type_of
from relift.symmetry.own_scales import Intervals, Masses
from relift.symmetry.partition import Partition
from relift.threads import threads_for

if field.CORE_IS_COMPILED:
    from relift import _core

MOST_STEPS = 32
"""Sizes and prices are handed on so many times at most."""


@final
@dataclass(eq=False)
class _Known:
    """Positive numbers, exact too, of some of many things; 0 where not known."""

    floats: Vector
    images: FieldElements

    @classmethod
    def none(cls, size: int) -> _Known:
        return cls(np.zeros(size), np.zeros(size, np.uint64))

    @classmethod
    def of_bounds(cls, bounds: Intervals) -> _Known:
        floats, images, known = bounds.largest()
        return cls(np.where(known, floats, 0.0), np.where(known, images, np.uint64(0)))

    def learn(self, where: Indices, floats: Vector, images: FieldElements) -> bool:
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
    images: FieldElements

    @classmethod
    def of(cls, matrix: SparseMatrix, reading: Reading) -> _Entries:
        listed = matrix.tocoo()
        used = listed.data != 0
        floats = np.abs(listed.data[used])
        row, column = (where[used].astype(np.int64) for where in listed.coords)
        return cls(row, column, floats, field.images(floats, reading))

    def without(self, rows: Flags) -> _Entries:
        """Those of other rows."""
        keeps = ~rows[self.row]
        return _Entries(self.row[keeps], self.column[keeps], self.floats[keeps], self.images[keeps])


def masses_of(
    program: Program, bounds: Intervals, rows: Intervals, q_image: FieldElements, variables: Partition,
    row_classes: Partition, reading: Reading = "decimal", kept: KeptValues | None = None, *, looks: bool = False,
) -> Masses | None:  # fmt: skip
    """Masses from sizes and prices; None if all are equal, or no search with them is worth its time.

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
    kept
        Values of the matrices that a refinement has read; None if none has.
    looks
        Whether some rows are looked at: where things of one kind do not have different masses, a search with them finds
        next to nothing that one with equal masses does not. The compiled core alone looks.

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
    if field.CORE_IS_COMPILED:
        found, speak = _by_the_core(program, bounds, rows, q_image, variables, row_classes, reading, kept, looks=looks)
        if not speak:
            return None
    else:
        found = masses_slowly(program, bounds, rows, q_image, variables, row_classes, reading)
    return None if is_uniform(found.variable_images) and is_uniform(found.row_images) else found


def is_uniform(images: FieldElements) -> bool:
    """Whether all numbers are equal."""
    return images.size == 0 or bool((images == images[0]).all())


def _by_the_core(
    program: Program, bounds: Intervals, rows: Intervals, q_image: FieldElements, variables: Partition,
    row_classes: Partition, reading: Reading, kept: KeptValues | None, *, looks: bool,
) -> tuple[Masses, bool]:  # fmt: skip
    n, m = program.n_variables, program.n_rows
    found = Masses(np.empty(n), np.empty(n, np.uint64), np.empty(m), np.empty(m, np.uint64))
    index_type = index_type_of(program.A, program.P)
    speak = _core.masses(
        None if program.P is None else core_arrays(program.P, index_type), core_arrays(program.A, index_type),
        program.A.format == "csr", n, m, reading == "decimal",
        (bounds.low, bounds.high, program.q, bounds.low_image, bounds.high_image, q_image),
        (rows.low, rows.high, None, rows.low_image, rows.high_image, None),
        variables.labels, row_classes.labels, variables.n_classes, row_classes.n_classes,
        found.variables, found.variable_images, found.rows, found.row_images, capsule_of(kept, None, program.A),
        looks, threads_for(program.A.indices.size + (0 if program.P is None else program.P.indices.size)),
    )  # fmt: skip
    return found, speak


def masses_slowly(
    program: Program, bounds: Intervals, rows: Intervals, q_image: FieldElements, variables: Partition,
    row_classes: Partition, reading: Reading = "decimal",
) -> Masses:  # fmt: skip
    """The same as :func:`masses_of`, where all may be equal, in NumPy: the twin of the compiled kernel."""
    entries = _Entries.of(program.A, reading)
    sizes, row_sizes = _Known.of_bounds(bounds), _Known.of_bounds(rows)
    _hand_on_from_bounds(entries, sizes, row_sizes)
    _hand_on(entries, sizes, row_sizes)
    prices = _Known(np.abs(program.q), np.where(program.q < 0, field.negate(q_image), q_image))
    prices.floats[q_image == 0] = 0.0
    if program.P is not None:
        _prices_by_curvature(_Entries.of(program.P, reading), sizes, prices)
    row_prices = _Known.none(program.n_rows)
    # A price is to the dual program what the inverse of a size is to the primal one: least and largest change places.
    _hand_on(entries, prices, row_prices, is_price=True)
    return Masses(*_products(sizes, prices, variables), *_products(row_sizes, row_prices, row_classes))


def _hand_on_from_bounds(entries: _Entries, sizes: _Known, row_sizes: _Known) -> None:
    """Give variables without bounds the least that a row admits, whether its own numbers tell that or other variables.

    Output p <= P below a capacity P <= 7 is at most 7, and at most the demand of 900 that it helps to meet; were rows
    with numbers of their own asked first, the output of each plant would have the size of the demand.
    """
    if np.all(sizes.floats > 0) or np.all(row_sizes.floats > 0):
        return
    within = entries.without(row_sizes.floats > 0)
    near, near_rows = _Known(sizes.floats.copy(), sizes.images.copy()), _Known.none(row_sizes.floats.size)
    _hand_on(within, near, near_rows)
    far = _Known.none(sizes.floats.size)
    far.learn(*_offers(entries, entries.column, entries.row, sizes, row_sizes, divides=True))
    takes_far = (far.floats > 0) & ((near.floats == 0) | (far.floats < near.floats))
    near.floats[takes_far], near.images[takes_far] = far.floats[takes_far], far.images[takes_far]
    every = np.arange(sizes.floats.size)
    sizes.learn(every, near.floats, near.images)
    row_sizes.learn(np.arange(row_sizes.floats.size), near_rows.floats, near_rows.images)


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
) -> tuple[Indices, Vector, FieldElements]:
    """For each target that is not known the least source / |a|, or the largest source |a|, of its known neighbours."""
    open_ = np.flatnonzero((to.floats[target] == 0) & (of.floats[source] > 0))
    if open_.size == 0:
        return np.empty(0, np.int64), np.empty(0), np.empty(0, np.uint64)
    known, size = of.floats[source[open_]], entries.floats[open_]
    with np.errstate(over="ignore", under="ignore"):
        values = known / size if divides else known * size
    entry = open_[best_places(values, target[open_], to.floats.size, least=divides)]
    factor = field.inverse(entries.images[entry]) if divides else entries.images[entry]
    value = (
        of.floats[source[entry]] / entries.floats[entry]
        if divides
        else of.floats[source[entry]] * entries.floats[entry]
    )
    return target[entry], value, field.multiply(of.images[source[entry]], factor)


def best_places(values: Vector, owner: Indices, size: int, *, least: bool) -> Indices:
    """For each owner that occurs the place of its least, or largest, value; the first of equal ones."""
    best = np.full(size, np.inf if least else -np.inf)
    (np.minimum if least else np.maximum).at(best, owner, values)
    attains = np.flatnonzero(values == best[owner])[::-1]
    place = np.full(size, -1, np.int64)
    place[owner[attains]] = attains
    return place[place >= 0]


def _prices_by_curvature(entries: _Entries, sizes: _Known, prices: _Known) -> None:
    """A variable without a cost pays the largest |P| w of its column."""
    offers = _offers(entries, entries.row, entries.column, prices, sizes, divides=False)
    prices.learn(*offers)


def _products(sizes: _Known, prices: _Known, classes: Partition) -> tuple[Vector, FieldElements]:
    """Size times price, the same for all members of a class: the least of its masses."""
    known = (sizes.floats > 0) & (prices.floats > 0)
    with np.errstate(over="ignore", under="ignore"):
        floats = np.where(known, sizes.floats * prices.floats, 1.0)
    usable = known & (floats > 0) & np.isfinite(floats)
    images = np.where(usable, field.multiply(sizes.images, prices.images), np.uint64(1))
    floats = np.where(usable, floats, 1.0)
    first = best_places(floats, classes.labels, classes.n_classes, least=True)
    return floats[first][classes.labels], images[first][classes.labels]
