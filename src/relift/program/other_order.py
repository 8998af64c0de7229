"""Matrices by columns as matrices by rows, and the other way round: one compiled pass, or SciPy's own."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from relift.arrays import SparseMatrix
from relift.program.passes import core_for, parts_of
from relift.program.sparse_structure import unchecked


def by_columns(matrix: SparseMatrix) -> SparseMatrix:
    """A matrix as a CSC array; one that was CSR has its rows in ascending order in each column.

    Examples
    --------
    >>> by_columns(sparse.csr_array([[0.0, 2.0], [1.0, 3.0]])).data.tolist()
    [1.0, 2.0, 3.0]
    """
    return matrix if matrix.format == "csc" else _in_other_order(matrix)


def by_rows(matrix: SparseMatrix) -> SparseMatrix:
    """A matrix as a CSR array; one that was CSC has its columns in ascending order in each row."""
    return matrix if matrix.format == "csr" else _in_other_order(matrix)


def _in_other_order(matrix: SparseMatrix) -> SparseMatrix:
    is_by_rows = matrix.format == "csr"
    compiled = core_for(matrix)
    if compiled is None:
        other: SparseMatrix = matrix.tocsc() if is_by_rows else matrix.tocsr()
        return other
    parts = parts_of(matrix)
    offsets, indices, values = compiled.transpose(parts, matrix.shape[1] if is_by_rows else matrix.shape[0])
    kind = parts[0].dtype
    return unchecked(
        sparse.csc_array if is_by_rows else sparse.csr_array, np.frombuffer(values), np.frombuffer(indices, kind),
        np.frombuffer(offsets, kind), matrix.shape,
    )  # fmt: skip
