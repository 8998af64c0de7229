"""Sizes of variables and of rows handed on along links, exactly: all that is linked, from that of one member.

A link is an entry of which the row and the variable have sizes in a known ratio
(:mod:`~relift.symmetry.proportional_bounds`). What is linked, over any number of steps, falls into parts; of each part
one member keeps its size, and those of the others are products of ratios along the links. Simple fractions give the
same products however links are followed; of others those of low ranks come first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from relift.arrays import FieldElements, Flags, Indices, Vector
from relift.program import passes
from relift.symmetry import finite_field as field
from relift.symmetry.exact_ratios import are_computed, simple_fractions


class Links(NamedTuple):
    """Pairs of a row and a variable, what the size of the variable is in sizes of the row, exactly, and its rank."""

    row: Indices
    column: Indices
    ratio: FieldElements
    rank: Indices


def along_links(links: Links, floats: Vector, own: FieldElements, n: int) -> FieldElements:
    """Sizes of the n variables, then of rows; in each linked part all from that of one member with a size of its own.

    Of a member that was typed, if there is one, whatever the order; else of the smallest, which is read as a fraction
    if it is a simple one: 1/3 is not 0.3333333333333333.

    Parameters
    ----------
    links
        The links.
    floats, own
        Sizes of all, and exactly; 0 for those without one.
    n
        How many of these are variables.

    Examples
    --------
    A variable of size 0.2 * 41.29 is a fifth of the row that it stands in:

    >>> link = Links(np.zeros(1, np.int64), np.zeros(1, np.int64), field.images(np.array([0.2])), np.ones(1, np.int64))
    >>> floats = np.array([0.2 * 41.29, 41.29])
    >>> sizes = along_links(link, floats, field.images(floats), 1)
    >>> bool(field.multiply(sizes[1], field.images(np.array([0.2]))[0]) == sizes[0])
    True
    """
    if passes.core is None or own.size > passes.MOST_VERTICES:
        return along_links_slowly(links, floats, own, n)
    part, factor = np.empty(own.size, np.int64), np.empty(own.size, np.uint64)
    passes.core.link_parts(
        np.ascontiguousarray(links.column), links.row + n, np.ascontiguousarray(links.ratio),
        np.ascontiguousarray(links.rank), part, factor,
    )  # fmt: skip
    roots = _roots(part, floats)
    exact = _as_fractions(floats, own, np.bincount(part, minlength=own.size)[part] > 1)
    of_part = np.zeros(own.size, np.uint64)
    of_part[part[roots]] = field.multiply(exact[roots], field.inverse(factor[roots]))
    return field.multiply(factor, of_part[part])


def along_links_slowly(links: Links, floats: Vector, own: FieldElements, n: int) -> FieldElements:
    """The same as :func:`along_links` by searches in a graph: the twin of the compiled pass."""
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
    exact = _as_fractions(floats, own, np.bincount(part)[part[:-1]] > 1)
    step[roots] = np.append(exact, np.uint64(1))[roots]
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
    some = np.flatnonzero(is_linked & are_computed(floats))
    fractions = simple_fractions(floats[some])
    exact = own.copy()
    exact[some[fractions.exist]] = fractions.images()[fractions.exist]
    return exact
