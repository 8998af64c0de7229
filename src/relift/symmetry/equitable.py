r"""Is a pair of partitions equitable? Checked on the floats, independently of how the classes were found.

With X and Y the averages over variable and row classes, an equitable pair has :math:`XP = PX`, :math:`YA = AX` and
vectors that are constant on classes. For random numbers g, one for each class, this means that

.. math:: A\,g_{class} \text{ is constant on row classes},\quad A^\top h_{class},\; P\,g_{class}
   \text{ on variable classes}

(Freivalds' test, O(nnz)); a partition that is wrong by more than rounding fails it with probability one. Rows are
compared after division by their scales. Where few share a class, only their entries are read. For cones the conditions
of :mod:`relift.symmetry.cone_refinement` are counted out besides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from relift.arrays import Array, Flags, Indices, Vector
from relift.program.cones import Cone
from relift.program.conic_rows import KEPT_ROWS, ConicRows, rows_of_cones
from relift.program.equal_numbers import is_constant
from relift.program.passes import (
    are_finite,
    entries_of,
    first_members,
    numbered,
    numbers_of_classes,
    products_and_sizes,
    spread,
)
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.program.symmetric_matrices import cones_by_side, is_off_diagonal, upper_triangle, with_entries
from relift.records import cached_property, quick
from relift.symmetry.partition import Partition

TOLERANCE = 1e-10
"""The largest relative difference inside a class that passes as rounding."""

MOST_SHARED = 1 / 64
"""Where merging leaves out no more than this share of the variables, or of the rows, only entries of those in classes
of several are read for their conditions; where it is more, to pick them out costs more than to pass over all."""


@np.errstate(over="ignore", invalid="ignore")  # what is too large for a float is told by the answer
def distance_from_equitable(
    program: Program,
    variables: Partition,
    rows: Partition,
    row_scales: Vector,
    variable_scales: Vector | None = None,
    variable_masses: Vector | None = None,
    row_masses: Vector | None = None,
) -> float:
    """The largest relative difference inside a class, over all conditions; rounding only, if the pair is equitable.

    Infinite where numbers become too large for a float, so that nothing can be compared.

    With scales w of variables, v of rows, and masses m, the conditions are those of
    :mod:`relift.symmetry.scaled_refinement`.

    Examples
    --------
    >>> program = Program(P=[[2, 1], [1, 2]], q=[1, 1], A=[[1, 1]], u=[1])
    >>> distance_from_equitable(program, Partition.one_class(2), Partition.one_class(1), np.ones(1))
    0.0
    """
    # Where all rows have one scale nothing is divided: the vectors are compared as they are, without copies.
    w, by_row = variable_scales, None if row_scales.size == 0 or is_constant(row_scales) else row_scales
    scaled = _Scaled(program, variables, rows, w, by_row, variable_masses, row_masses)
    few_variables, few_rows = _are_nearly_alone(variables), _are_nearly_alone(rows)
    distance = max(
        _distance_of_few_variables(scaled) if few_variables else _distance_of_variables(scaled),
        _distance_of_few_rows(scaled) if few_rows else _distance(program.l, program.u, by_row, rows),
    )
    if (few_variables and few_rows) or distance == np.inf:
        return distance
    # Only those are made that are asked: of nearly as many classes as members they take as long as a product.
    g = None if few_rows and program.P is None else _times(numbers_of_classes(variables.labels), w)
    h = None if few_variables else _times(numbers_of_classes(rows.labels), row_masses)
    if h is not None and by_row is not None:
        h /= by_row
    if program.P is not None and not few_variables:
        sums, sizes, _, _ = products_and_sizes(program.P, g, None)
        share = scaled.share
        distance = max(distance, _spread_of_sums(_times(sums, share), _times(sizes, share, is_size=True), variables))
    if program.A.nnz:
        sums, sizes, back, back_sizes = products_and_sizes(
            program.A, None if few_rows else g, None if few_variables else h
        )
        del g, h
        if not few_rows:
            if by_row is not None:
                sums /= by_row
                sizes /= np.abs(by_row)
            distance = max(distance, _spread_of_sums(sums, sizes, rows))
        if not few_variables:
            back, back_sizes = _times(back, scaled.share), _times(back_sizes, scaled.share, is_size=True)
            distance = max(distance, _spread_of_sums(back, back_sizes, variables))
    return distance


@final
@quick
@dataclass(frozen=True, eq=False)
class _Scaled:
    """A program with its classes; scales and masses are None where all are 1, or, of rows, where all are equal."""

    program: Program
    variables: Partition
    rows: Partition
    w: Vector | None
    by_row: Vector | None
    masses: Vector | None
    row_masses: Vector | None

    @cached_property
    def share(self) -> Vector | None:
        """1/p of the mathematics."""
        return self.w if self.masses is None else (1.0 if self.w is None else self.w) / self.masses

    def g(self, columns: Indices) -> Vector:
        """A number for the class of each of some variables, times its scale."""
        return _times(numbers_of_classes(self.variables.labels[columns]), _taken(self.w, columns))

    def h(self, places: Indices) -> Vector:
        """A number for the class of each of some rows, times its mass over its scale."""
        weights = _times(numbers_of_classes(self.rows.labels[places]), _taken(self.row_masses, places))
        return weights if self.by_row is None else weights / self.by_row[places]


def _are_nearly_alone(classes: Partition) -> bool:
    return classes.size - classes.n_classes <= MOST_SHARED * classes.size


def _distance(low: Vector, high: Vector, scales: Vector | None, classes: Partition) -> float:
    """How far intervals, divided by scales, differ inside a class."""
    divided = _divided(low, high, scales)
    if scales is not None and _n_infinite(divided) > _n_infinite((low, high)):
        return np.inf
    return max(_spread(vector, None, classes) for vector in divided)


def _distance_of_variables(scaled: _Scaled) -> float:
    """How far costs and bounds of variables differ inside a class."""
    program, classes = scaled.program, scaled.variables
    costs = _spread_of_sums(_times(program.q, scaled.share), None, classes)
    return max(costs, _distance(program.lb, program.ub, scaled.w, classes))


def _distance_of_few_variables(scaled: _Scaled) -> float:
    """The same with sums along P and A, by entries of variables in classes of several: others fulfil all conditions."""
    program, j = scaled.program, _in_company(scaled.variables)
    if j.size == 0:
        return 0.0
    classes, share = Partition.from_labels(scaled.variables.labels[j]), _taken(scaled.share, j)
    distance = _spread_of_sums(_times(program.q[j], share), None, classes)
    distance = max(distance, _distance(program.lb[j], program.ub[j], _taken(scaled.w, j), classes))
    for matrix, weights in ((program.A, scaled.h), (program.P, scaled.g)):
        if matrix is None:
            continue
        entries = entries_of(matrix, None, j)
        sums, sizes = _sums_and_sizes(entries.column, entries.value * weights(entries.row), j.size)
        of_class = _spread_of_sums(_times(sums, share), _times(sizes, share, is_size=True), classes)
        distance = max(distance, of_class)
    return distance


def _distance_of_few_rows(scaled: _Scaled) -> float:
    """How far bounds of rows, and sums along A, differ inside a class, by the entries of rows in classes of several."""
    program, i = scaled.program, _in_company(scaled.rows)
    if i.size == 0:
        return 0.0
    classes, by_row = Partition.from_labels(scaled.rows.labels[i]), _taken(scaled.by_row, i)
    distance = _distance(program.l[i], program.u[i], by_row, classes)
    entries = entries_of(program.A, i, None)
    sums, sizes = _sums_and_sizes(entries.row, entries.value * scaled.g(entries.column), i.size)
    if by_row is not None:
        sums, sizes = sums / by_row, sizes / np.abs(by_row)
    return max(distance, _spread_of_sums(sums, sizes, classes))


def _in_company(classes: Partition) -> Indices:
    """Those that share their class with others."""
    if classes.is_discrete:
        return np.empty(0, np.int64)
    is_first = np.zeros(classes.size, bool)
    is_first[classes.representatives] = True
    shared = classes.labels[~is_first]
    is_first[classes.representatives[shared]] = False
    return np.flatnonzero(~is_first)


def _taken(vector: Vector | None, places: Indices) -> Vector | None:
    return None if vector is None else vector[places]


def _sums_and_sizes(places: Indices, terms: Vector, size: int) -> tuple[Vector, Vector]:
    """Sums of terms by place, and of their sizes."""
    sums, sizes = np.bincount(places, terms, size), np.bincount(places, np.abs(terms), size)
    return np.asarray(sums, np.float64), np.asarray(sizes, np.float64)


def _times(vector: Vector, factor: Vector | None, is_size: bool = False) -> Vector:
    """A vector times a factor each, or its size; the vector itself where there are no factors."""
    if factor is None:
        return vector
    return vector * (np.abs(factor) if is_size else factor)


def distance_of_rest(program: Program, w: Vector, price: Vector, variables: Partition, rows: Partition) -> float:
    """How far sums of what is at rest are from 0, relative to what was added; infinite where 0 breaks a bound.

    Parameters
    ----------
    program
        The program, variables measured from their centres.
    w, price
        Scales of the variables and mu/v of the rows, 0 for what is at rest.
    variables, rows
        Classes of all, in which all that is at rest is one class.

    Examples
    --------
    >>> program = Program(q=[1, 1, 0], A=[[1, -1, 1]], l=[-1], u=[1])
    >>> classes = Partition.from_labels([0, 0, 1])
    >>> distance_of_rest(program, np.array([1.0, 1, 0]), np.zeros(1), classes, Partition.one_class(1))
    0.0
    >>> distance_of_rest(program, np.array([1.0, 0.5, 0]), np.zeros(1), classes, Partition.one_class(1)) > 0.1
    True
    """
    still, held = w == 0, price == 0
    if _lies_outside(program.lb[still], program.ub[still]) or _lies_outside(program.l[held], program.u[held]):
        return np.inf
    g, h = _random_weights(variables, rows)
    g, h = g * w, h * price
    sums, sizes, slope, slope_sizes = products_and_sizes(program.A, g, h)
    distance = _distance_from_zero(sums[held], sizes[held])
    distance = max(distance, _distance_from_zero(slope[still], slope_sizes[still]))
    if program.P is not None:
        slope, sizes, _, _ = products_and_sizes(program.P, g, None)
        distance = max(distance, _distance_from_zero(slope[still], sizes[still]))
    largest = float(np.abs(program.q).max(initial=0.0))
    return max(distance, _distance_from_zero(program.q[still], np.full(int(still.sum()), largest)))


def _lies_outside(low: Vector, high: Vector) -> bool:
    """Whether some interval does not hold 0, by more than rounding."""
    slack = 1e-9 * (1.0 + np.where(np.isfinite(low), np.abs(low), 0.0) + np.where(np.isfinite(high), np.abs(high), 0.0))
    return bool(np.any(low > slack) or np.any(high < -slack))


def _distance_from_zero(vector: Vector, sizes: Vector) -> float:
    worst = np.divide(np.abs(vector), sizes, out=np.where(vector != 0, np.inf, 0.0), where=sizes > 0)
    return float(worst.max(initial=0.0))


def _divided(low: Vector, high: Vector, scales: Vector | None) -> tuple[Vector, Vector]:
    """Intervals divided by scales; None for those of 1."""
    if scales is None:
        return low, high
    return np.where(scales > 0, low, high) / scales, np.where(scales > 0, high, low) / scales


def _random_weights(variables: Partition, rows: Partition) -> tuple[Vector, Vector]:
    """A number for each class of variables and of rows, given to its members: 1 to 2, of either sign."""
    return numbers_of_classes(variables.labels), numbers_of_classes(rows.labels)


def distance_of_quadratic_rows(rows: QuadraticRows, variables: Partition, constraints: Partition) -> float:
    """The same for quadratic constraints: both conditions of :mod:`relift.symmetry.quadratic_refinement`, in floats."""
    if len(rows) == 0:
        return 0.0
    random = np.random.default_rng(20160614)
    g = random.uniform(1.0, 2.0, variables.n_classes)[variables.labels]
    h = random.uniform(1.0, 2.0, constraints.n_classes)[constraints.labels]
    sizes = np.asarray(np.bincount(rows.owner, np.abs(rows.values), len(rows))) + abs(rows.q).sum(axis=1)
    by_variable = np.asarray(np.bincount(rows.first, np.abs(rows.values), g.size)) + abs(rows.q).sum(axis=0)
    return max(
        _spread(rows.r, np.abs(rows.r), constraints),
        _spread(rows.values_at(g), 4.0 * sizes, constraints),
        _spread(rows.gradient(g, h), 4.0 * by_variable, variables),
        _spread(rows.q.T @ h, 2.0 * by_variable, variables),
    )


def distance_of_conic_rows(
    rows: ConicRows,
    variables: Partition,
    conic_rows: Partition,
    cones: Partition,
    variable_scales: Vector | None = None,
    variable_masses: Vector | None = None,
    conic_scales: Vector | None = None,
    conic_masses: Vector | None = None,
) -> float:
    """The same for conic rows; infinite if positions or counts of rows in the cones of a class differ.

    With scales, all rows of a cone must have one size, relative to the cone of their representatives, and be turned
    only where the cone does not see it; what has the scale 0 is left to :func:`distance_of_conic_rest`.

    Examples
    --------
    Two tails of one cone may be merged, those of two cones only together with the cones:

    >>> from relift.program.cones import SecondOrder
    >>> rows = ConicRows(np.zeros((4, 1)), np.zeros(4), [SecondOrder(2), SecondOrder(2)])
    >>> one, two = Partition.one_class(1), Partition.discrete(2)
    >>> tails = Partition.from_labels([0, 1, 2, 1])
    >>> distance_of_conic_rows(rows, one, tails, two), distance_of_conic_rows(rows, one, tails, Partition.one_class(2))
    (inf, inf)
    >>> distance_of_conic_rows(rows, one, Partition.from_labels([0, 1, 0, 1]), Partition.one_class(2))
    0.0
    """
    if len(rows) == 0:
        return 0.0
    if not _cones_fit(rows, conic_rows, cones):
        return np.inf
    w = variable_scales
    share = w if variable_masses is None else (1.0 if w is None else w) / variable_masses
    inverse, fits = None, _distance_of_squares(rows, conic_rows)
    if conic_scales is not None or conic_masses is not None:
        v = np.ones(rows.n_rows) if conic_scales is None else conic_scales
        first = v[conic_rows.representatives][conic_rows.labels]
        v = np.divide(v, first, out=np.zeros(v.size), where=first != 0)
        inverse = np.divide(1.0, v, out=np.zeros(v.size), where=v != 0)
        fits = max(_distance_in_cones(rows, v, conic_masses), fits)
    g, h = _random_weights(variables, conic_rows)
    g, h = _times(g, w), _times(_times(h, conic_masses), inverse)
    sums, sizes, back, back_sizes = products_and_sizes(rows.A, g, h)
    b, sums, sizes = _times(rows.b, inverse), _times(sums, inverse), _times(sizes, inverse, is_size=True)
    back, back_sizes = _times(back, share), _times(back_sizes, share, is_size=True)
    return max(
        fits,
        _spread(b, np.abs(b), conic_rows),
        _spread(sums, sizes, conic_rows),
        _spread(back, back_sizes, variables),
    )


def distance_of_conic_rest(
    rows: ConicRows, w: Vector, price: Vector, held: Flags, variables: Partition, conic_rows: Partition
) -> float:
    """How far conic rows at rest, and sums of conic rows into variables at rest, are from 0; relative as above.

    Parameters
    ----------
    rows
        The conic rows, variables measured from their centres.
    w, price
        Scales of the variables and mu/v of the conic rows, 0 for what is at rest.
    held
        Which conic rows are at rest.
    variables, conic_rows
        Classes of all, in which all that is at rest is one class.
    """
    if len(rows) == 0:
        return 0.0
    if np.any(rows.b[held] != 0):
        return np.inf
    g, h = _random_weights(variables, conic_rows)
    g, h = g * w, h * price
    still = w == 0
    sums, sizes, slope, slope_sizes = products_and_sizes(rows.A, g, h)
    return max(
        _distance_from_zero(sums[held], sizes[held]),
        _distance_from_zero(slope[still], slope_sizes[still]),
    )


def _distance_in_cones(rows: ConicRows, v: Vector, mass: Vector | None) -> float:
    """How far the sizes, and masses, of the rows of a cone differ; infinite where a row is turned that must not be."""
    first = rows.starts[rows.cone_of_row]
    layout = rows.layout
    may_turn = np.zeros(rows.n_rows, bool)
    may_turn[layout.tails] = may_turn[layout.products] = True
    if np.any((v < 0) & ~may_turn) or np.any((v == 0) & ~may_turn):
        return np.inf
    is_awake = v != 0
    sizes = np.abs(np.abs(v) / v[first] - 1.0)[is_awake]
    of_masses = 0.0 if mass is None else np.abs(mass / mass[first] - 1.0).max(initial=0.0)
    return float(max(sizes.max(initial=0.0), of_masses))


def _distance_of_squares(rows: ConicRows, conic_rows: Partition) -> float:
    """How far the span of the classes of entries of semidefinite cones is from being closed under squaring."""
    if rows.layout.semidefinite.size == 0 or conic_rows.is_discrete:
        return 0.0
    random = np.random.default_rng(20160615)
    drawn = random.uniform(1.0, 2.0, conic_rows.n_classes)[conic_rows.labels]
    squares = np.ones(rows.n_rows)
    for side, where in cones_by_side(rows):
        X = with_entries(drawn[where], side)
        squares[where] = (X @ X)[:, *upper_triangle(side)]
    return _spread(squares, squares, conic_rows)


def _cones_fit(rows: ConicRows, conic_rows: Partition, cones: Partition) -> bool:
    """Whether rows of a class have one position, and every cone of a class equally many of each class of rows."""
    kinds, place, exponents = (_kept_places if rows.n_rows <= KEPT_ROWS else _places)(rows.cones)
    cone_class = cones.labels[rows.cone_of_row]
    for vector, classes in ((kinds, cones), (cone_class, conic_rows), (place, conic_rows)):
        if not is_constant_on_classes(vector, classes):
            return False
    if exponents is not None and _spread(exponents, np.abs(exponents), conic_rows) > TOLERANCE:
        return False
    # Rows of class r are |r| / m in each of the m cones of one class: each pair of a cone and a row class counts so.
    pairs, n_pairs = numbered(rows.cone_of_row * conic_rows.n_classes + conic_rows.labels)
    count, one = np.bincount(pairs, minlength=n_pairs), first_members(pairs, n_pairs)
    return bool((count * cones.class_sizes[cone_class[one]] == conic_rows.class_sizes[conic_rows.labels[one]]).all())


def _places(cones: tuple[Cone, ...]) -> tuple[Indices, Indices, Vector | None]:
    """The kind of each cone, the position of each row in its cone, and its exponent; None without power cones."""
    rows = rows_of_cones(cones)
    layout = rows.layout
    kinds = np.zeros(len(rows), np.int64)
    for number, found in enumerate((layout.exponential, layout.power, layout.semidefinite), start=1):
        kinds[found] = number
    place = np.arange(rows.n_rows) - rows.starts[rows.cone_of_row]
    place[layout.tails] = 1
    place[layout.products] = -1
    place[layout.arguments] = 0
    for side, where in cones_by_side(rows):  # on the diagonal, or off it; the rest is told by squares
        place[where] = is_off_diagonal(side)
    exponents = None
    if layout.power.size:
        exponents = np.zeros(rows.n_rows)
        exponents[layout.arguments] = layout.exponents
        exponents.flags.writeable = False
    kinds.flags.writeable = place.flags.writeable = False
    return kinds, place, exponents


_kept_places = lru_cache(maxsize=64)(_places)


def is_constant_on_classes(vector: Array, partition: Partition) -> bool:
    """Whether all members of each class have the same entry, exactly."""
    if partition.is_discrete:
        return True
    return bool((vector == vector.take(partition.representatives).take(partition.labels)).all())


def _spread(vector: Vector, sizes: Vector | None, partition: Partition) -> float:
    """Largest difference between a member and its class's first member, relative to the terms that were added.

    Without such terms it is relative to the member.
    """
    return spread(vector, sizes, partition.representatives, partition.labels)


def _spread_of_sums(sums: Vector, sizes: Vector | None, partition: Partition) -> float:
    """The same for sums of finite numbers; infinite where they overflow."""
    return _spread(sums, sizes, partition) if are_finite(sums if sizes is None else sizes) else np.inf


def _n_infinite(bounds: tuple[Vector, Vector]) -> int:
    return sum(int(np.count_nonzero(~np.isfinite(bound))) for bound in bounds)
