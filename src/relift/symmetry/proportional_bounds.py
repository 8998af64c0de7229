"""Bounds that are proportional but for the rounding of floats, read as exactly proportional.

A fleet whose needs and limits are 0.6 and 0.2 times capacities was written by a program, and 0.6 * 37.13 is
22.278000000000002 there: read as decimals, no two cars have the same proportions. So bounds of variables and of rows
that meet in the matrix are compared: where their ratio is known (:mod:`~relift.symmetry.exact_ratios`), because it is a
fraction of small numbers or that of other pairs, to within a few units in the last place, they are *linked*, and all
that is linked is read as multiples of one of them, exactly. Ratios of other numbers are simple by chance once in a
million times; and then a number is read as one that differs from it in its last bit.

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
from relift.program.sparse_structure import places_of
from relift.symmetry import finite_field as field
from relift.symmetry.exact_ratios import (
    DIFFERENT,
    LARGEST,
    ROUNDING,
    SharedRatios,
    exact_ratios,
    quotients,
    simple_fractions,
)
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.own_scales import Intervals, are_sizes
from relift.symmetry.scaled_cones import intervals_of

DIGITS_TYPED = 13
"""Nobody types numbers of more significant digits."""

FEWEST = 0.002
"""The share of bounds that must have the many digits of computed numbers; 0.6 times a whole number has seldom."""

SMALLEST = 1e-300
"""Numbers that are not larger tell no size."""

SAMPLE, FEWEST_LINKS = 5000, 0.01
"""So many entries are looked at first, and so large a share of them must be links."""

FEW = 1000
"""So many are looked at for ratios that are shared."""


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
    if not looks_computed(program, images):
        return None
    bounds, rows = intervals_of(program, images)
    may_change = _may_be_linked(program, bounds, rows) or _have_simple_sides(bounds) or _have_simple_sides(rows)
    changes = may_change and not links_change_nothing(program, bounds, rows)
    if not changes and not (_may_share_ratios(program, bounds, rows) and share_ratios(program, bounds, rows)):
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
        floats = np.concatenate([np.where(has_w, w, 0.0), np.where(has_v, v, 0.0)])
        linked = _along_links(links, floats, own, n)
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


def looks_computed(program: Program, images: VectorImages) -> bool:
    """Whether many intervals, of some that are looked at, have a bound of more digits than anyone types.

    Parameters
    ----------
    program
        A minimisation.
    images
        Its vectors exactly: they show which of them are one number.

    Examples
    --------
    >>> size = np.array([37.13, 41.29])
    >>> for factor in (0, 1, 0.6):
    ...     program = Program(q=[1, 1], ub=size, lb=factor * size)
    ...     print(looks_computed(program, VectorImages.of(program, "decimal")))
    False
    False
    True
    """
    if passes.core is None:
        return looks_computed_slowly(program)
    bounds = images.short("lb", program.lb), images.short("ub", program.ub)
    rows = images.short("l", program.l), images.short("u", program.u)
    m, n = program.A.shape
    return bool(passes.core.look_computed(bounds, n, rows, m, SAMPLE, DIGITS_TYPED, SMALLEST, FEWEST))


def looks_computed_slowly(program: Program) -> bool:
    """The same as :func:`looks_computed` in NumPy: the twin of the compiled look."""
    sides = _some_sides(program.lb, program.ub)
    if sides.shape[1] == 0:  # every link has a variable with a size
        return False
    sides = np.concatenate([sides, _some_sides(program.l, program.u)], axis=1)
    n_long, number = int(np.count_nonzero(are_computed(sides).any(axis=0))), int(sides.shape[1])
    return number > 1 and n_long >= FEWEST * number


def _some_sides(low: Vector, high: Vector) -> Vector:
    """Lower and upper bounds, of some of those intervals that have one that is finite and not 0; 0 for the others."""
    low, high = (np.where((np.abs(side) > SMALLEST) & np.isfinite(side), side, 0.0) for side in (low, high))
    where = np.flatnonzero((low != 0) | (high != 0))
    where = where[:: max(1, where.size // SAMPLE)]
    return np.stack([low[where], high[where]])


def _may_be_linked(program: Program, bounds: Intervals, rows: Intervals) -> bool:
    """Whether some entries, spread over the matrix, are links; those of rows without a size may be."""
    n_entries = program.A.nnz
    step = max(1, n_entries // SAMPLE)
    n_places = -(-n_entries // step)
    if n_places > SAMPLE // 2 and n_links(program, bounds, rows, 5 * step) == 0:
        return False  # a fifth of them would show some
    return n_links(program, bounds, rows, step) >= max(1.0, FEWEST_LINKS * n_places)


def _have_simple_sides(bounds: Intervals) -> bool:
    """Whether some intervals have two sides that are in a simple ratio, and not equally long."""
    step = max(1, bounds.low.size // FEW)
    low, high = bounds.low[::step], bounds.high[::step]
    two_sided = np.flatnonzero((low != 0) & (high != 0) & (low != high) & np.isfinite(low) & np.isfinite(high))
    if two_sided.size == 0:  # as mostly
        return False
    some = bounds.of(two_sided * step)
    shorter, longer = _shorter(some)[0], some.largest()[0]
    differ = (shorter > 0) & (shorter < longer)
    return bool(differ.any()) and bool(simple_fractions(shorter[differ] / longer[differ]).exist.any())


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
    row, column, entry = some_entries(program, step)
    w, v = bounds.sizes(column), rows.sizes(row)
    has_sizes, is_open = (w > 0) & (v > 0), (w > 0) & (v == 0)
    ratio = w[has_sizes] / v[has_sizes]
    is_link = simple_fractions(ratio).exist
    through = entry[has_sizes][~is_link] * w[has_sizes][~is_link] / v[has_sizes][~is_link]
    n_through = np.count_nonzero(simple_fractions(through).exist)
    return int(np.count_nonzero(is_link) + n_through + np.count_nonzero(is_open))


def _may_share_ratios(program: Program, bounds: Intervals, rows: Intervals) -> bool:
    """Whether some entries, spread over the matrix, show shared ratios."""
    number, n_shared = n_shared_ratios(program, bounds, rows, max(1, program.A.nnz // FEW))
    return n_shared >= max(1.0, FEWEST_LINKS * number)


def n_shared_ratios(program: Program, bounds: Intervals, rows: Intervals, step: int) -> tuple[int, int]:
    """How many entries are looked at, and how many ratios of sizes they show that are not simple and shared.

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
    >>> size = np.array([37.13, 41.29, 3.7])
    >>> program = Program(q=[1, 1, 1], A=np.eye(3), l=0.7234982347 * size, ub=size, lb=0)
    >>> n_shared_ratios(program, *intervals_of(program, VectorImages.of(program, "decimal")), 1)
    (3, 2)
    """
    A = program.A
    core = passes.core_for(A)
    if core is None:
        return n_shared_ratios_slowly(program, bounds, rows, step)
    parts, is_by_rows = passes.parts_of(A), A.format == "csr"
    counts: tuple[int, int] = core.count_shared_ratios(
        parts, is_by_rows, _arrays(bounds), _arrays(rows), step, DIFFERENT, LARGEST, ROUNDING
    )
    return counts


def n_shared_ratios_slowly(program: Program, bounds: Intervals, rows: Intervals, step: int) -> tuple[int, int]:
    """The same as :func:`n_shared_ratios` one by one: the twin of the compiled look."""
    row, column, entry = some_entries(program, step)
    w, v = bounds.sizes(column), rows.sizes(row)
    low_w, low_v = (_shorter(each)[0] for each in (bounds.of(column), rows.of(row)))
    terms = _largest_terms(program, bounds, np.arange(program.n_rows))[0]
    seen, n_shared = SharedRatios(), 0
    for k in range(entry.size):
        if w[k] > 0 and entry[k] > 0:
            size = v[k] if v[k] > 0 else terms[row[k]]
            n_shared += seen.is_shared(0, w[k], size) or (entry[k] != 1 and seen.is_shared(1, entry[k] * w[k], size))
        for kind, shorter, longer in ((2, low_w[k], w[k]), (3, low_v[k], v[k])):
            n_shared += bool(0 < shorter < longer and seen.is_shared(kind, shorter, longer))
    return entry.size, n_shared


def some_entries(program: Program, step: int) -> tuple[Indices, Indices, Vector]:
    """Rows, columns and absolute values of entries, one of so many."""
    A = program.A
    place = np.arange(0, A.nnz, step)
    major: Indices = np.searchsorted(A.indptr, place, side="right") - 1
    minor: Indices = A.indices[place].astype(np.int64)
    row, column = (major, minor) if A.format == "csr" else (minor, major)
    entry: Vector = np.abs(A.data[place])
    return row, column, entry


def share_ratios(program: Program, bounds: Intervals, rows: Intervals) -> bool:
    """Whether sizes, of some that are looked at, are in ratios that are not simple, shared, and not exact as they are.

    Parameters
    ----------
    program
        A minimisation.
    bounds, rows
        Its bounds, and those of its rows.

    Examples
    --------
    >>> size = np.array([37.13, 41.29, 3.7])
    >>> for factor in (0.5, 0.7234982347):
    ...     program = Program(q=[1, 1, 1], A=np.eye(3), l=factor * size, ub=size, lb=0)
    ...     print(share_ratios(program, *intervals_of(program, VectorImages.of(program, "decimal"))))
    False
    True
    """
    row, column, entry = some_entries(program, max(1, program.A.nnz // FEW))
    of_columns, of_rows = bounds.of(column), rows.of(row)
    w, w_image, has_w = of_columns.largest()
    v, v_image, has_v = of_rows.largest()
    is_open = has_w & ~has_v
    if is_open.any():
        open_rows, label = np.unique(row[is_open], return_inverse=True)
        size, image = _largest_terms(program, bounds, open_rows)
        v[is_open], v_image[is_open], has_v[is_open] = size[label], image[label], size[label] > 0
    met, entry_image = has_w & has_v & (entry > 0), field.images(entry)
    pairs = (
        (w, w_image, v, v_image, met),
        (entry * w, field.multiply(entry_image, w_image), v, v_image, met & (entry != 1)),
        *((*_shorter(each), *each.largest()) for each in (of_columns, of_rows)),
    )
    return any(_are_shared(*pair, entry.size) for pair in pairs)


def _largest_terms(program: Program, bounds: Intervals, some: Indices) -> tuple[Vector, FieldElements]:
    """The largest term of some rows where each variable has its size, exactly too; 0 where no variable has one."""
    part = passes.entries_of(program.A, some, None)
    sizes = bounds.sizes(part.column) * np.abs(part.value)
    order = np.lexsort((part.column, -sizes, part.row))
    first = order[np.diff(part.row[order], prepend=-1) != 0]
    size, image = np.zeros(some.size), np.zeros(some.size, np.uint64)
    size[part.row[first]] = sizes[first]
    of_variable = bounds.of(part.column[first]).largest()[1]
    image[part.row[first]] = field.multiply(field.images(np.abs(part.value[first])), of_variable)
    return size, image


def _shorter(bounds: Intervals) -> tuple[Vector, FieldElements]:
    """Sizes of the shorter sides, exactly too; 0 where there is none."""
    takes_low = np.abs(bounds.low) < np.abs(bounds.high)
    side = np.where(takes_low, bounds.low, bounds.high)
    image = np.where(takes_low, bounds.low_image, bounds.high_image)
    is_known = are_sizes(side, image)
    image = np.where(side < 0, field.negate(image), image)
    return np.where(is_known, np.abs(side), 0.0), np.where(is_known, image, np.uint64(0))


def _are_shared(
    one: Vector, one_image: FieldElements, other: Vector, other_image: FieldElements, met: Flags, number: int
) -> bool:
    """Whether a part of so many pairs have shared ratios, and some of one ratio are not in it exactly."""
    one, other = one[met], other[met]
    ratios = exact_ratios(one, other)
    if np.count_nonzero(ratios.is_shared) < max(1.0, FEWEST_LINKS * number):
        return False
    shared = ratios.is_shared
    exact = field.multiply(one_image[met][shared], field.inverse(other_image[met][shared]))
    return bool(np.unique(exact).size > np.unique(ratios.images[shared]).size)


class _Links(NamedTuple):
    """Pairs of a row and a variable, what the size of the variable is in sizes of the row, exactly, and its rank."""

    row: Indices
    column: Indices
    ratio: FieldElements
    rank: Indices


def _links(program: Program, w: Vector, v: Vector) -> _Links | None:
    """Entries whose row and variable have sizes in a known ratio; a row without one has that of its largest term."""
    A = program.A
    row, column = places_of(A)
    used = (A.data != 0) & (w[column] > 0)
    row, column, entry = row[used], column[used], np.abs(A.data[used])
    if row.size == 0:
        return None
    largest = np.zeros(program.n_rows)
    np.maximum.at(largest, row, entry * w[column])
    size = np.where(v > 0, v, largest)[row]
    rank, ratio = _known_ratios(w[column], size, entry)
    takes = rank > 0
    return _Links(row[takes], column[takes], ratio[takes], rank[takes])


def _known_ratios(of_variable: Vector, of_row: Vector, entry: Vector) -> tuple[Indices, FieldElements]:
    """Ranks of ratios of sizes, directly or times the entry, and these, exactly; 0 where they are not known.

    Those of low ranks are used first: simple fractions, whose products are the same however links are followed, then
    shared ratios that many entries have, so that the same ones are used in parts that are alike.
    """
    direct = exact_ratios(of_variable, of_row)
    rank, ratio = direct.is_simple.astype(np.int64), direct.images.copy()
    others = np.flatnonzero(rank == 0)
    through = exact_ratios(entry[others] * of_variable[others], of_row[others])
    takes = through.is_simple | (through.is_shared & ~direct.is_shared[others])
    some = others[takes]
    ratio[some] = field.multiply(through.images[takes], field.inverse(field.images(entry[some])))
    rank[others[through.is_simple]] = 1
    shared = np.flatnonzero((rank == 0) & (ratio != 0))
    if shared.size:
        _, label, count = np.unique(ratio[shared], return_inverse=True, return_counts=True)
        order = np.lexsort((quotients(of_variable[shared], of_row[shared]), -count[label]))
        first = np.full(count.size, shared.size, np.int64)
        np.minimum.at(first, label[order], np.arange(shared.size))
        rank[shared] = 2 + first[label]
    return rank, ratio


def _are_exact(links: _Links, of_variables: FieldElements, of_rows: FieldElements, has_size: Flags) -> bool:
    """Whether sizes are in the ratios of all links as they are: then products along links are the sizes themselves."""
    by_link = field.multiply(of_variables[links.column], field.inverse(links.ratio))
    of_row = np.zeros(of_rows.size, np.uint64)
    of_row[links.row[::-1]] = by_link[::-1]  # rows without a size have that of their first link
    return bool(np.all(by_link == np.where(has_size, of_rows, of_row)[links.row]))


def _along_links(links: _Links, floats: Vector, own: FieldElements, n: int) -> FieldElements:
    """Sizes of the n variables, then of rows; in each linked part all from that of one member with a size of its own.

    Of a member that was typed, if there is one, whatever the order; else of the smallest, which is read as a fraction
    if it is a simple one: 1/3 is not 0.3333333333333333.
    """
    from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

    size = own.size + 1
    at_row = links.row + n
    graph = sparse.csr_array((links.rank.astype(np.float64), (links.column, at_row)), shape=(size, size))
    if links.rank.max() > 1:  # products of ratios that are not simple depend on the links that are followed
        graph = minimum_spanning_tree(graph)
    _, part = connected_components(graph, directed=False)
    roots = _roots(part, np.append(floats, 0.0))
    to_roots = sparse.csr_array((np.ones(roots.size), (np.full(roots.size, size - 1), roots)), shape=(size, size))
    _, before = breadth_first_order(graph + to_roots, size - 1, directed=False)
    before = before.astype(np.int64)
    step = np.ones(size, np.uint64)
    order = np.argsort(links.column * np.int64(size) + at_row, kind="stable")
    keys = (links.column * np.int64(size) + at_row)[order]
    node = np.flatnonzero((before >= 0) & (before < size - 1))
    low, high = np.minimum(node, before[node]), np.maximum(node, before[node])
    ratio = links.ratio[order[np.searchsorted(keys, low * np.int64(size) + high)]]  # of the variable, in its row
    step[node] = np.where(node < n, ratio, field.inverse(ratio))
    step[roots] = _as_fractions(floats, own, np.bincount(part)[part] > 1)[roots]
    before[roots] = size - 1
    before[size - 1] = size - 1
    while np.any(before != size - 1):  # products along the paths to the roots, of twice the length each time
        step = field.multiply(step, np.where(before != size - 1, step[before], np.uint64(1)))
        before = before[before]
    return step[:-1]


def _roots(part: Indices, floats: Vector) -> Indices:
    """A member of each part from which the others are told, ascending; numbers that are 0 tell nothing."""
    rank = np.empty(part.size, np.int64)
    order = np.lexsort((np.arange(part.size), floats, are_computed(floats), floats == 0))
    rank[order] = np.arange(part.size)
    first = np.full(part.size, part.size, np.int64)
    np.minimum.at(first, part, rank)
    return np.sort(order[first[first < part.size]])


def _as_fractions(floats: Vector, own: FieldElements, is_linked: Flags) -> FieldElements:
    """Exact sizes; those of linked members that are simple fractions of many digits are read as these."""
    exact = np.append(own, np.uint64(1))
    some = np.flatnonzero(is_linked[:-1] & are_computed(floats))
    fractions = simple_fractions(floats[some])
    exact[some[fractions.exist]] = fractions.images()[fractions.exist]
    return exact


def _read_again(
    bounds: Intervals, size: Vector, image: FieldElements, has_size: Flags
) -> tuple[FieldElements, FieldElements]:
    """Images of bounds as multiples of the sizes, where these are known."""

    def again(values: Vector, old: FieldElements) -> FieldElements:
        counts = has_size & np.isfinite(values) & (old != 0)
        ratios = exact_ratios(np.where(counts, np.abs(values), 0.0), size)
        new = field.multiply(ratios.images, image)
        return np.where(counts & ratios.exist, np.where(values < 0, field.negate(new), new), old)

    return again(bounds.low, bounds.low_image), again(bounds.high, bounds.high_image)
