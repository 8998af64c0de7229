"""Few entries are added as SciPy adds them: the same places, the same floats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.lifting import summed_entries
from relift.lifting.summed_entries import SORTED_IN_ORDER, summed, with_merged_columns, with_merged_columns_slowly
from relift.program import passes


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


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_columns_are_merged_as_scipy_merges_them(seed: int, has_factors: bool, is_positive: bool) -> None:
    random = np.random.default_rng(seed)
    m, n = int(random.integers(1, 9)), int(random.integers(1, 40))
    dense = random.choice([0.0, 0, 0.1, 0.2, -0.3, 1e-17, 7.0], (m, n)) * random.choice([1.0, 1.0 / 3.0], (m, n))
    A = sparse.csr_array(np.abs(dense) if is_positive else dense)
    A.data[random.random(A.nnz) < 0.1] = 0.0  # entries that are stored, and 0
    labels = np.unique(random.integers(0, n, n), return_inverse=True)[1].astype(np.int64)
    rows = np.flatnonzero(random.random(m) < 0.7)
    w = random.choice([1.0, 3.0, -0.7], n) if has_factors else None
    given_ = A, rows, labels, int(labels.max()) + 1, w, 1e-14
    found, expected = with_merged_columns(*given_), with_merged_columns_slowly(*given_)
    assert found.shape == expected.shape
    assert found.has_canonical_format
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_rows_and_labels_outside_are_refused() -> None:
    if passes.core is None:
        pytest.skip("there is no compiled core")
    parts = passes.parts_of(sparse.csr_array([[1.0, 2.0]]))
    for rows, labels in (([1], [0, 0]), ([0], [0, 1]), ([-1], [0, 0])):
        with pytest.raises(ValueError, match="a row or label lies outside"):
            passes.core.merge_columns(parts, np.array(rows), np.array(labels), 1, None, 0.0, 1)


@pytest.mark.parametrize("shape", [(0, 1), (3, 0), (0, 0), (2, 5)])
def test_no_entries_are_an_empty_matrix(shape: tuple[int, int]) -> None:
    nothing = np.zeros(0, np.int64)
    found, expected = summed(nothing, nothing, np.zeros(0), shape, 1e-14), sparse.csc_array(shape)
    assert (found.format, found.shape, found.nnz) == ("csc", shape, 0)
    for part in ("indptr", "indices", "data"):
        one, other = getattr(found, part), getattr(expected, part)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
