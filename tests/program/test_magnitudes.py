"""Sizes of rows and columns, and products with transposes: the same from every format, with few entries and many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.program import magnitudes
from relift.program.magnitudes import largest_of_columns, largest_of_rows, transposed_product


@pytest.mark.parametrize("few", [0, 10_000])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_every_format_has_the_same_sizes_and_products(
    form: Callable[[Vector], SparseMatrix], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(1)
    dense = np.where(random.random((7, 5)) < 0.5, random.normal(size=(7, 5)), 0.0)
    dense[3], dense[:, 2] = 0.0, 0.0
    monkeypatch.setattr(magnitudes, "FEW_ENTRIES", few)
    matrix, of_rows, of_columns = form(dense), random.uniform(1, 2, 7), random.uniform(1, 2, 5)
    assert largest_of_rows(matrix).tolist() == np.abs(dense).max(axis=1).tolist()
    assert largest_of_columns(matrix).tolist() == np.abs(dense).max(axis=0).tolist()
    assert largest_of_rows(matrix, of_columns).tolist() == (np.abs(dense) * of_columns).max(axis=1).tolist()
    assert largest_of_columns(matrix, of_rows).tolist() == (np.abs(dense) * of_rows[:, None]).max(axis=0).tolist()
    assert transposed_product(matrix, of_rows) == pytest.approx(dense.T @ of_rows)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_matrices_without_rows_or_columns_have_nothing_in_them(
    form: Callable[[Vector], SparseMatrix], shape: tuple[int, int]
) -> None:
    matrix = form(np.zeros(shape))
    assert largest_of_rows(matrix).tolist() == [0.0] * shape[0]
    assert largest_of_columns(matrix).tolist() == [0.0] * shape[1]
    assert transposed_product(matrix, np.ones(shape[0])).tolist() == [0.0] * shape[1]
