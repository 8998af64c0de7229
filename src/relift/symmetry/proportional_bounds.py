"""Bounds that are proportional but for the rounding of floats, read as exactly proportional.

A fleet whose needs and limits are 0.6 and 0.2 times capacities was written by a program, and 0.6 * 37.13 is
22.278000000000002 there: read as decimals, no two cars have the same proportions. So bounds of variables and of rows
that meet in the matrix are compared: where their ratio is a fraction of small numbers to within a few units in the last
place, they are *linked*, and all that is linked is read as multiples of one of them, exactly. Ratios of other numbers
are so by chance once in a million times; and then a number is read as one that differs from it in its last bit.

Nothing is changed but the reading, and that of bounds alone: classes found by it are compared with those of the usual
reading, and the answer is checked on the original program.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from relift.arrays import Array, FieldElements, Flags, Indices, Vector
from relift.program import passes
from relift.program.program import Program
from relift.symmetry import finite_field as field
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.own_scales import Intervals
from relift.symmetry.scaled_cones import intervals_of

ROUNDING = 2e-15
"""Ratios this near to a fraction, relatively, are meant to be it: some roundings of 1.1e-16 each."""

LARGEST = 10_000
"""Largest numerator and denominator of a fraction that counts as simple."""

DIGITS_TYPED = 13
"""Nobody types numbers of more significant digits."""

FEWEST = 0.002
"""The share of bounds that must have the many digits of computed numbers; 0.6 times a whole number has seldom."""

SMALLEST = 1e-300
"""Numbers that are not larger tell no size."""

SAMPLE, FEWEST_LINKS = 5000, 0.01
"""So many entries are looked at first, and so large a share of them must be links."""


class Fractions(NamedTuple):
    """Fractions near numbers; 0 / 1 where there is none."""

    numerators: Indices
    denominators: Indices

    @property
    def exist(self) -> Flags:
        """Where there is one."""
        return np.asarray(self.numerators > 0)

    def images(self) -> FieldElements:
        """The fractions, exactly."""
        return field.multiply(
            self.numerators.astype(np.uint64), field.inverse(np.maximum(self.denominators, 1).astype(np.uint64))
        )


def simple_fractions(values: Vector) -> Fractions:
    """The simplest fractions that are equal to positive numbers but for rounding.

    Examples
    --------
    >>> simple_fractions(np.array([0.6 * 37.13 / (0.2 * 37.13), 0.25, 0.7071067811865476]))
    Fractions(numerators=array([3, 1, 0]), denominators=array([1, 4, 1]))
    """
    return Fractions(*passes.simple_fractions(np.asarray(values, dtype=np.float64), LARGEST, ROUNDING))


def proportional_images(program: Program, images: VectorImages) -> VectorImages | None:
    """Read linked bounds as exact multiples of one another; None if none are read otherwise than before.

    Parameters
    ----------
    program
        A minimisation.
    images
        Its vectors as they are read otherwise.

    Examples
    --------
    >>> size = np.array([37.13, 41.29])
    >>> program = Program(q=[1, 1], A=np.eye(2), l=0.6 * size, ub=0.2 * size, lb=0)
    >>> images = VectorImages.of(program, "decimal")
    >>> again = proportional_images(program, images)
    >>> ratios = [field.multiply(one.l, field.inverse(one.ub)) for one in (images, again)]
    >>> [bool(one[0] == one[1]) for one in ratios]
    [False, True]
    """
    if not looks_computed(program):
        return None
    bounds, rows = intervals_of(program, images)
    if not _may_be_linked(program, bounds, rows) or links_change_nothing(program, bounds, rows):
        return None
    return proportional_images_slowly(program, images, bounds, rows)


def proportional_images_slowly(
    program: Program, images: VectorImages, bounds: Intervals, rows: Intervals
) -> VectorImages | None:
    """The same as :func:`proportional_images` without looks before."""
    w, w_image, has_w = bounds.largest()
    v, v_image, has_v = rows.largest()
    links = _links(program, np.where(has_w, w, 0.0), np.where(has_v, v, 0.0))
    if links is None:
        return None
    n = program.n_variables
    linked = own = np.concatenate([w_image, v_image])
    if not _are_exact(links, w_image, v_image, has_v):
        linked = _along_links(links, own, n, program.n_rows)
    new = (*_read_again(rows, v, linked[n:], has_v), *_read_again(bounds, w, linked[:n], has_w))
    old = (images.l, images.u, images.lb, images.ub)
    if all(np.array_equal(after, before) for after, before in zip(new, old, strict=True)):
        return None
    return VectorImages(images.q, *new, images.b)


def are_computed(values: Vector) -> Flags:
    """Which numbers have more digits than anyone types.

    Parameters
    ----------
    values
        Finite numbers.

    Examples
    --------
    >>> are_computed(np.array([22.278, 0.6 * 37.13, 0.0]))
    array([False,  True, False])
    """
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        power = np.power(10.0, DIGITS_TYPED - 1 - np.floor(np.log10(np.abs(values))))
        return np.asarray((np.round(values * power) / power != values) & (values != 0))


def looks_computed(program: Program) -> bool:
    """Whether many bounds, of some that are looked at, have more digits than anyone types.

    Parameters
    ----------
    program
        A minimisation.

    Examples
    --------
    >>> size = np.array([37.13, 41.29])
    >>> [looks_computed(Program(q=[1, 1], ub=factor * size, lb=0)) for factor in (1, 0.6)]
    [False, True]
    """
    if passes.core is None:
        return looks_computed_slowly(program)
    bounds = map(np.ascontiguousarray, (program.lb, program.ub, program.l, program.u))
    return bool(passes.core.look_computed(*bounds, SAMPLE, DIGITS_TYPED, SMALLEST, FEWEST))


def looks_computed_slowly(program: Program) -> bool:
    """The same as :func:`looks_computed` in NumPy: the twin of the compiled look."""
    sizes = _some_sizes(program.lb, program.ub)
    if sizes.size == 0:  # every link has a variable with a size
        return False
    sizes = np.concatenate([sizes, _some_sizes(program.l, program.u)])
    return sizes.size > 1 and int(np.count_nonzero(are_computed(sizes))) >= FEWEST * sizes.size


def _some_sizes(low: Vector, high: Vector) -> Vector:
    """Sizes of bounds that are finite and not 0, of some of those that have any."""
    low, high = np.abs(low), np.abs(high)
    low_counts, high_counts = (low > SMALLEST) & (low < np.inf), (high > SMALLEST) & (high < np.inf)
    where = np.flatnonzero(low_counts | high_counts)
    where = where[:: max(1, where.size // SAMPLE)]
    return np.where(high_counts[where] & ~(low_counts[where] & (low[where] > high[where])), high[where], low[where])


def _may_be_linked(program: Program, bounds: Intervals, rows: Intervals) -> bool:
    """Whether some entries, spread over the matrix, are links; those of rows without a size may be."""
    n_entries = program.A.nnz
    step = max(1, n_entries // SAMPLE)
    n_places = -(-n_entries // step)
    if n_places > SAMPLE // 2 and n_links(program, bounds, rows, 5 * step) == 0:
        return False  # a fifth of them would show some
    return n_links(program, bounds, rows, step) >= max(1.0, FEWEST_LINKS * n_places)


def links_change_nothing(program: Program, bounds: Intervals, rows: Intervals) -> bool:
    """Whether it is sure that no bound is read otherwise: linked ones are in proportion as they are.

    Parameters
    ----------
    program
        A minimisation.
    bounds, rows
        Its bounds, and those of its rows.

    Examples
    --------
    >>> size = np.array([37.13, 41.29])
    >>> for factor in (2.0, 0.6):
    ...     program = Program(q=[1, 1], A=np.eye(2), l=factor * size, ub=size, lb=0)
    ...     print(links_change_nothing(program, *intervals_of(program, VectorImages.of(program, "decimal"))))
    True
    False
    """
    core = passes.core_for(program.A)
    if core is None:
        return False
    parts, is_by_rows = passes.parts_of(program.A), program.A.format == "csr"
    return bool(core.links_change_nothing(parts, is_by_rows, _arrays(bounds), _arrays(rows), LARGEST, ROUNDING))


def _arrays(bounds: Intervals) -> tuple[Array, ...]:
    return tuple(map(np.ascontiguousarray, (bounds.low, bounds.high, bounds.low_image, bounds.high_image)))


def n_links(program: Program, bounds: Intervals, rows: Intervals, step: int) -> int:
    """How many of some entries are links, or may be.

    Parameters
    ----------
    program
        A minimisation.
    bounds, rows
        Its bounds, and those of its rows.
    step
        One of so many entries is looked at.

    Examples
    --------
    >>> program = Program(q=[1, 1], A=np.eye(2), l=[0.6, np.sqrt(2)], ub=0.2, lb=0)
    >>> n_links(program, *intervals_of(program, VectorImages.of(program, "decimal")), 1)
    1
    """
    A = program.A
    core = passes.core_for(A)
    if core is None:
        return n_links_slowly(program, bounds, rows, step)
    count: int = core.count_links(
        passes.parts_of(A), A.format == "csr", _arrays(bounds), _arrays(rows), step, LARGEST, ROUNDING
    )
    return count


def n_links_slowly(program: Program, bounds: Intervals, rows: Intervals, step: int) -> int:
    """The same as :func:`n_links` in NumPy: the twin of the compiled look."""
    A = program.A
    place = np.arange(0, A.nnz, step)
    major = np.searchsorted(A.indptr, place, side="right") - 1
    minor = A.indices[place]
    row, column = (major, minor) if A.format == "csr" else (minor, major)
    w, v, entry = bounds.sizes(column), rows.sizes(row), np.abs(A.data[place])
    has_sizes, is_open = (w > 0) & (v > 0), (w > 0) & (v == 0)
    ratio = w[has_sizes] / v[has_sizes]
    is_link = simple_fractions(ratio).exist
    through = entry[has_sizes][~is_link] * w[has_sizes][~is_link] / v[has_sizes][~is_link]
    n_through = np.count_nonzero(simple_fractions(through).exist)
    return int(np.count_nonzero(is_link) + n_through + np.count_nonzero(is_open))


class _Links(NamedTuple):
    """Pairs of a row and a variable, and the image of what the size of the variable is in sizes of the row."""

    row: Indices
    column: Indices
    ratio: FieldElements


def _links(program: Program, w: Vector, v: Vector) -> _Links | None:
    """Entries whose row and variable have sizes in a simple ratio; a row without one has that of its largest term."""
    listed = program.A.tocoo()
    row, column = (where.astype(np.int64) for where in listed.coords)
    used = (listed.data != 0) & (w[column] > 0)
    row, column, entry = row[used], column[used], np.abs(listed.data[used])
    if row.size == 0:
        return None
    largest = np.zeros(program.n_rows)
    np.maximum.at(largest, row, entry * w[column])
    size = np.where(v > 0, v, largest)[row]
    takes, ratio = _simple_ratios(w[column], size, entry)
    return _Links(row[takes], column[takes], ratio[takes])


def _simple_ratios(of_variable: Vector, of_row: Vector, entry: Vector) -> tuple[Flags, FieldElements]:
    """Whether sizes are in a simple ratio, directly or times the entry; and it, exactly."""
    direct = simple_fractions(of_variable / of_row)
    found, ratio = direct.exist.copy(), direct.images()
    others = np.flatnonzero(~found)
    through = simple_fractions(entry[others] * of_variable[others] / of_row[others])
    some = others[through.exist]
    ratio[some] = field.multiply(through.images()[through.exist], field.inverse(field.images(entry[some])))
    found[some] = True
    return found, ratio


def _are_exact(links: _Links, of_variables: FieldElements, of_rows: FieldElements, has_size: Flags) -> bool:
    """Whether sizes are in the ratios of all links as they are: then products along links are the sizes themselves."""
    by_link = field.multiply(of_variables[links.column], field.inverse(links.ratio))
    of_row = np.zeros(of_rows.size, np.uint64)
    of_row[links.row[::-1]] = by_link[::-1]  # rows without a size have that of their first link
    return bool(np.all(by_link == np.where(has_size, of_rows, of_row)[links.row]))


def _along_links(links: _Links, own: FieldElements, n: int, m: int) -> FieldElements:
    """Sizes of variables and rows; in each linked part all from that of its first member with one of its own."""
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    size = n + m + 1
    at_row = links.row + n
    graph = sparse.csr_array((np.ones(at_row.size, np.int8), (links.column, at_row)), shape=(size, size))
    _, part = connected_components(graph, directed=False)
    first = np.full(size, size, np.int64)
    np.minimum.at(first, part, np.arange(size))  # variables come first, and those that are linked have sizes
    roots = np.unique(first[first < size])
    to_roots = sparse.csr_array(
        (np.ones(roots.size, np.int8), (np.full(roots.size, size - 1), roots)), shape=(size, size)
    )
    _, before = breadth_first_order(graph + to_roots, size - 1, directed=False)
    before = before.astype(np.int64)
    step = np.ones(size, np.uint64)
    order = np.argsort(links.column * np.int64(size) + at_row, kind="stable")
    keys = (links.column * np.int64(size) + at_row)[order]
    node = np.flatnonzero((before >= 0) & (before < size - 1))
    low, high = np.minimum(node, before[node]), np.maximum(node, before[node])
    ratio = links.ratio[order[np.searchsorted(keys, low * np.int64(size) + high)]]  # of the variable, in its row
    step[node] = np.where(node < n, ratio, field.inverse(ratio))
    step[roots[roots < n + m]] = own[roots[roots < n + m]]
    before[roots] = size - 1
    before[size - 1] = size - 1
    while np.any(before != size - 1):  # products along the paths to the roots, of twice the length each time
        step = field.multiply(step, np.where(before != size - 1, step[before], np.uint64(1)))
        before = before[before]
    return step[:-1]


def _read_again(
    bounds: Intervals, size: Vector, image: FieldElements, has_size: Flags
) -> tuple[FieldElements, FieldElements]:
    """Images of bounds as multiples of the sizes, where they are simple ones."""

    def again(values: Vector, old: FieldElements) -> FieldElements:
        counts = has_size & np.isfinite(values) & (old != 0)
        ratio = np.divide(np.abs(values), size, out=np.zeros(size.size), where=counts)
        fractions = simple_fractions(ratio)
        new = field.multiply(fractions.images(), image)
        return np.where(counts & fractions.exist, np.where(values < 0, field.negate(new), new), old)

    return again(bounds.low, bounds.low_image), again(bounds.high, bounds.high_image)
