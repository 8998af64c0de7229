"""Rows that are multiples of each other: the compiled search and its slow twin find the same ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from relift.arrays import SparseMatrix
from relift.lifting import duplicate_rows_reference
from relift.lifting.duplicate_rows import ROUNDING, find_duplicates
from relift.program import passes
from relift.settings import Reading


def _with_multiples(random: np.random.Generator) -> SparseMatrix:
    """Rows of which many are multiples of others, some up to rounding alone, some by one element of the field."""
    m, n = (int(size) for size in random.integers(1, 9, 2))
    dense = random.integers(-2, 3, (m, n)) * random.choice([1.0, 0.1, 1 / 3])
    for i in range(1, m):
        if random.random() < 0.6:
            dense[i] = dense[random.integers(i)] * random.choice([-3.0, 0.1, 1.0, 2.0**61, 1e-40, 1e40])
        if random.random() < 0.1:
            dense[i, random.integers(n)] *= 1 + 2.0 ** random.integers(-52, -30)
    made = (sparse.csr_array if random.random() < 0.5 else sparse.csc_array)(dense)
    made.data[random.random(made.nnz) < 0.1] = 0.0  # entries that are stored, and 0
    return made


@given(st.integers(0, 2**32 - 1))
def test_the_compiled_search_finds_what_its_twin_finds(seed: int) -> None:
    random = np.random.default_rng(seed)
    A = _with_multiples(random)
    rows = A.tocsr().sorted_indices()
    candidates = np.flatnonzero(passes.scan_rows(A)[0])
    reading: Reading = "decimal" if random.random() < 0.5 else "bits"
    twin = duplicate_rows_reference.multiples(rows[candidates], reading, ROUNDING)
    member, leader, ratio, ratio_image, is_complete = twin
    found = find_duplicates(A, reading, candidates)
    if found is None:
        assert member.size == 0
        assert is_complete
        return
    assert found.is_complete == is_complete
    np.testing.assert_array_equal(found.member, candidates[member])
    np.testing.assert_array_equal(found.leader, candidates[leader])
    np.testing.assert_array_equal(found.ratio, ratio)
    np.testing.assert_array_equal(found.ratio_image, ratio_image)


def test_ratios_are_of_the_member_to_the_leader() -> None:
    rows = sparse.csr_array([[1.0, 2.0], [-0.5, -1.0]])
    member, leader, ratio, _, _ = duplicate_rows_reference.multiples(rows, "decimal", ROUNDING)
    assert (member.tolist(), leader.tolist(), ratio.tolist()) == ([1], [0], [-0.5])


def test_one_element_of_the_field_is_not_one_number() -> None:
    rows = sparse.csr_array([[1.0, 3.0], [1.0, 3.0 * 2.0**61]])
    found = find_duplicates(rows, "bits", np.arange(2))
    assert found is not None
    assert found.member.size == 0
    assert not found.is_complete


def test_halves_and_quarters_do_not_hide_a_multiple() -> None:
    random = np.random.default_rng(1)
    dense = random.choice([1.0, 0.5, 0.25, 0.125], (400, 6))
    dense[200:] = 2.0 * dense[:200]
    found = find_duplicates(sparse.csr_array(dense), "decimal", np.arange(400))
    assert found is not None
    assert set(range(200, 400)) <= set(found.member.tolist())


def test_candidates_that_do_not_ascend_are_refused() -> None:
    if passes.core is None:
        pytest.skip("there is no compiled core")
    rows = sparse.csr_array([[1.0, 2.0], [2.0, 4.0]])
    for wrong in ([1, 0], [0, 2], [-1, 0]):
        with pytest.raises(ValueError, match="candidates lie outside the matrix, or do not ascend"):
            passes.core.find_multiples(passes.parts_of(rows), 2, np.array(wrong), True, ROUNDING)
