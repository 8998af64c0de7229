"""Matrices of parts that were made here are those of SciPy's constructor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from relift.program import sparse_structure
from relift.program.sparse_structure import unchecked

KINDS = [sparse.csc_array, sparse.csr_array, sparse.csc_matrix, sparse.csr_matrix]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("is_canonical", [True, False])
def test_a_matrix_made_without_checks_does_what_one_made_by_scipy_does(
    kind: Any, index_type: type[np.int32] | type[np.int64], is_canonical: bool
) -> None:
    made: Any = kind(sparse.random_array((4, 3), density=0.6, rng=np.random.default_rng(0)))
    parts = made.data, made.indices.astype(index_type), made.indptr.astype(index_type)
    matrix: Any = unchecked(kind, *parts, made.shape, is_canonical=is_canonical)
    assert (type(matrix), matrix.shape, matrix.nnz, matrix.format) == (type(made), made.shape, made.nnz, made.format)
    assert (matrix.has_canonical_format, matrix.has_sorted_indices) == (True, True)
    np.testing.assert_array_equal(matrix @ np.ones(3), made @ np.ones(3))
    for one, other in ((matrix, made), (matrix.T, made.T), (2 * matrix, 2 * made), (matrix[:2], made[:2])):
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    np.testing.assert_array_equal(matrix.copy().tocsr().toarray(), made.toarray())


def test_where_scipy_keeps_the_shape_elsewhere_its_constructor_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_structure, "_template", lambda kind: {})
    parts = np.array([3.0, 4.0]), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32)
    matrix = unchecked(sparse.csr_array, *parts, (2, 3))
    assert matrix.toarray().tolist() == [[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]
