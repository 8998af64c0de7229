"""Sizes are handed on along links to the same numbers by the compiled pass and by searches in a graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.program import passes
from relift.symmetry import finite_field as field
from relift.symmetry.linked_sizes import Links, along_links, along_links_slowly


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6))
def test_sizes_along_links_are_those_of_searches_in_a_graph(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 12)), int(random.integers(1, 12))
    floats = random.choice([0.0, 0.25, 7.0, 1 / 3, 0.1 + 0.2, 22.278, 0.6 * 37.13, 41.29], n + m)
    own = field.images(floats)
    meant = field.images(random.integers(1, 30, n + m).astype(float))
    keys = random.permutation(n * m)[: int(random.integers(0, n * m + 1))]
    keys.sort()
    row, column = keys % m, keys // m
    if keys.size == 0:
        return
    ratio = field.multiply(meant[column], field.inverse(meant[n + row]))  # as along any path
    links = Links(row, column, ratio, random.integers(1, int(random.integers(2, 9)), keys.size))
    np.testing.assert_array_equal(along_links(links, floats, own, n), along_links_slowly(links, floats, own, n))


def test_links_of_low_ranks_come_first() -> None:
    """A ring of four links that does not close: the link of the highest rank is not followed."""
    row, column = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    ratio, floats = field.images(np.array([2.0, 3.0, 5.0, 7.0])), np.array([1.0, 0.0, 0.0, 0.0])
    for last in range(4):
        rank = np.ones(4, np.int64)
        rank[last] = 2
        links = Links(row, column, ratio, rank)
        found = [sizes(links, floats, field.images(floats), 2).tolist() for sizes in (along_links, along_links_slowly)]
        assert found[0] == found[1]


def test_links_that_lead_outside_are_refused() -> None:
    if passes.core is None:
        pytest.skip("there is no compiled core")
    part, factor, one = np.empty(2, np.int64), np.empty(2, np.uint64), np.ones(1, np.int64)
    for end in (-1, 2):
        with pytest.raises(ValueError, match="a link leads outside the numbers"):
            passes.core.link_parts(one, one * end, one.astype(np.uint64), one, part, factor)
