"""Few entries are added as SciPy adds them: the same places, the same floats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.lifting import summed_entries
from relift.lifting.summed_entries import SORTED_IN_ORDER, summed


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 120), st.booleans())
def test_few_entries_are_added_as_scipy_adds_them(seed: int, n: int, in_order: bool) -> None:
    random = np.random.default_rng(seed)
    shape = (int(random.integers(1, 8)), int(random.integers(1, 40)))
    row, column = random.integers(0, shape[0], n), random.integers(0, shape[1], n)
    if in_order:
        row.sort()
    data = random.choice([0.1, 0.2, -0.3, 1e-17, 7.0, 0.0], n) * random.choice([1.0, 1.0 / 3.0], n)
    found = summed(row, column, data, shape, 1e-14)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summed_entries, "FEW", 0)
        expected = summed(row, column, data, shape, 1e-14)
    assert found.shape == expected.shape
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_columns_that_scipy_may_order_otherwise_are_left_to_it() -> None:
    n = SORTED_IN_ORDER + 1
    row, column = np.arange(n)[::-1] % 3, np.zeros(n, np.int64)
    assert summed_entries._order(row, column) is None
    assert summed_entries._order(row[1:], column[1:]) is not None
    assert summed_entries._order(np.sort(row), column) is not None


@pytest.mark.parametrize("shape", [(0, 1), (3, 0), (0, 0), (2, 5)])
def test_no_entries_are_an_empty_matrix(shape: tuple[int, int]) -> None:
    nothing = np.zeros(0, np.int64)
    found, expected = summed(nothing, nothing, np.zeros(0), shape, 1e-14), sparse.csc_array(shape)
    assert (found.format, found.shape, found.nnz) == ("csc", shape, 0)
    for part in ("indptr", "indices", "data"):
        one, other = getattr(found, part), getattr(expected, part)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
