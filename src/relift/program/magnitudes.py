"""How large the entries of a matrix are, by row or by column: what a sum of products is to be compared with."""

from __future__ import annotations

import numpy as np

from relift.arrays import Integers, SparseMatrix, Vector


def largest_by_group(groups: Integers, values: Vector, n_groups: int) -> Vector:
    """The largest of the values of each group, 0 where there is none; values are not negative."""
    largest = np.zeros(n_groups)
    np.maximum.at(largest, groups, values)
    return largest


def largest_of_segments(starts: Integers, values: Vector) -> Vector:
    """The largest of ``values[starts[i] : starts[i + 1]]`` for each i, 0 where there is none; not negative."""
    largest = np.zeros(starts.size - 1)
    filled = np.flatnonzero(np.diff(starts))
    if filled.size:
        largest[filled] = np.maximum.reduceat(values, starts[filled])
    return largest


def largest_of_rows(matrix: SparseMatrix, sizes: Vector | None = None) -> Vector:
    """The largest absolute entry of each row of a sparse matrix, 0 where there is none.

    Parameters
    ----------
    matrix
        Any SciPy sparse array.
    sizes
        If given, entries count times the size of their column: the largest products that can stand in a row.

    Examples
    --------
    >>> from scipy import sparse
    >>> largest_of_rows(sparse.csc_array([[1.0, -3.0], [0.0, 0.0]])).tolist()
    [3.0, 0.0]
    >>> largest_of_rows(sparse.csc_array([[1.0, -3.0], [0.0, 0.0]]), np.array([9.0, 2.0])).tolist()
    [9.0, 0.0]
    """
    if matrix.format == "csc" and matrix.nnz <= FEW_ENTRIES:
        return _largest_across(matrix, sizes, matrix.shape[0])
    return _largest_along(matrix.tocsr(), sizes)


def largest_of_columns(matrix: SparseMatrix, sizes: Vector | None = None) -> Vector:
    """The largest absolute entry of each column, times the size of its row where sizes are given; 0 without any."""
    if matrix.format != "csr":
        return _largest_along(matrix.tocsc(), sizes)
    return _largest_across(matrix, sizes, matrix.shape[1])


def ratios_of_columns(matrix: SparseMatrix, sides: Vector) -> Vector:
    """The largest |b_i| / |a_ij| of each column, 0 without entries; sides are not negative."""
    if matrix.format == "csr":
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            of_rows = np.repeat(sides, np.diff(matrix.indptr))
            ratios = np.where(matrix.data != 0, of_rows / np.abs(matrix.data), 0.0)
        return largest_by_group(matrix.indices, ratios, matrix.shape[1])
    columns = matrix.tocsc()
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratios = np.where(columns.data != 0, sides[columns.indices] / np.abs(columns.data), 0.0)
    return largest_of_segments(columns.indptr, ratios)


def _largest_along(matrix: SparseMatrix, sizes: Vector | None) -> Vector:
    """For each row of a CSR matrix, or column of a CSC one."""
    products = np.abs(matrix.data)
    if sizes is not None:
        with np.errstate(over="ignore"):
            products = products * sizes[matrix.indices]
    return largest_of_segments(matrix.indptr, products)


def _largest_across(matrix: SparseMatrix, sizes: Vector | None, n_groups: int) -> Vector:
    """For each column of a CSR matrix, or row of a CSC one."""
    products = np.abs(matrix.data)
    if sizes is not None:
        with np.errstate(over="ignore"):
            products = products * np.repeat(sizes, np.diff(matrix.indptr))
    return largest_by_group(matrix.indices, products, n_groups)


FEW_ENTRIES = 10_000
"""Up to so many, making the transpose or the other format of a matrix takes longer than what is done with it."""


def transposed_product(matrix: SparseMatrix, vector: Vector) -> Vector:
    """The product of the transpose of a matrix with a vector; terms are added in the order in which they are stored.

    Examples
    --------
    >>> from scipy import sparse
    >>> transposed_product(sparse.csr_array([[1.0, -3.0], [0.0, 2.0]]), np.array([1.0, 10.0])).tolist()
    [1.0, 17.0]
    """
    if matrix.format not in {"csr", "csc"} or matrix.nnz > FEW_ENTRIES:
        return np.asarray(matrix.T @ vector, np.float64)
    lengths = matrix.indptr[1:] - matrix.indptr[:-1]
    if matrix.format == "csc":
        owner = np.arange(lengths.size).repeat(lengths)
        return np.asarray(np.bincount(owner, matrix.data * vector[matrix.indices], matrix.shape[1]), np.float64)
    products = matrix.data * vector.repeat(lengths)
    return np.asarray(np.bincount(matrix.indices, products, matrix.shape[1]), np.float64)
