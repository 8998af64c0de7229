"""The structure of a sparse matrix, checked before anything is done with it.

SciPy's compiled routines believe the indices that they are given: one that points outside of the matrix reads or writes
memory of others, and ends the process. Matrices are made by hand, come from files, and can be changed after they were
made; so every matrix from outside goes through :func:`checked_sparse` before it is converted, transposed or compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy import sparse

from relift.arrays import Array, Double, Indices, Integers, SparseLike, SparseMatrix, Vector
from relift.errors import NotANumberError, ProgramError, ShapeError

MOST_NARROW = 2**31 - 1
"""Matrices of fewer entries, rows and columns have indices of 32 bits."""

_HINT = "The indices of the sparse matrix are damaged: make it anew."


def checked_sparse(name: str, given: SparseLike) -> SparseMatrix:
    """The same matrix as a CSC or CSR array of float64 in a container of its own, if its structure holds.

    CSR stays CSR, everything else becomes CSC. Arrays of the right type (float64, and int32 unless the matrix is too
    large for it) are shared with the given matrix, not copied. Double entries stay.

    Parameters
    ----------
    name
        How to call it in messages.
    given
        A matrix or array of ``scipy.sparse``, in any format.

    Raises
    ------
    ShapeError
        If it has not two dimensions, or an index lies outside of it, or its arrays do not fit together.
    NotANumberError
        If its entries are not real numbers, or some are masked.

    Examples
    --------
    >>> A = sparse.csr_array([[1.0, 2.0]])
    >>> A.indices[1] = 7
    >>> checked_sparse("A", A)
    Traceback (most recent call last):
    relift.errors.ShapeError: A has an entry in column 7, but only 2 columns. The indices of the sparse matrix are
    damaged: make it anew.
    """
    parts: Any = given  # each format has parts of its own
    try:
        shape = tuple(int(size) for size in given.shape)
        if len(shape) != 2:
            raise ShapeError(f"{name} has {len(shape)} dimensions.", "A matrix has two.", name)
        if min(shape) < 0:
            raise ShapeError(f"{name} has the shape {shape}.", _HINT, name)
        match given.format:
            case "csr" | "csc":
                return compressed(name, given.format, parts.data, parts.indices, parts.indptr, (shape[0], shape[1]))
            case "coo":
                return _from_triples(name, parts.data, parts.coords[0], parts.coords[1], shape)
            case "lil":
                return _from_lists(name, parts.rows, parts.data, shape)
            case "dok":
                return _from_keys(name, dict(parts.items()), shape)
            case "bsr":
                return _from_blocks(name, parts.data, parts.indices, parts.indptr, shape)
            case "dia":
                offsets, data = np.asarray(parts.offsets), np.asarray(parts.data)
                if offsets.dtype.kind not in "iu" or data.ndim != 2 or offsets.shape != data.shape[:1]:
                    raise ShapeError(f"the diagonals of {name} do not fit together.", _HINT, name)
                if offsets.size == 1 and offsets[0] == 0 and data.shape[1] == shape[0] == shape[1]:
                    return _diagonal(name, data[0])
                listed = parts.tocoo()
            case _:
                listed = parts.tocoo()
        return _from_triples(name, listed.data, listed.coords[0], listed.coords[1], shape)
    except ProgramError:
        raise
    except (ValueError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ShapeError(f"{name} is not a valid sparse matrix ({error}).", _HINT, name) from None


def compressed(
    name: str, order: Literal["csr", "csc"], data: object, indices: object, indptr: object, shape: tuple[int, int]
) -> SparseMatrix:
    """A CSC or CSR array from its three parts, if they fit together.

    Parameters
    ----------
    name
        How to call it in messages.
    order
        ``"csr"`` or ``"csc"``.
    data, indices, indptr
        The parts.
    shape
        Rows and columns.
    """
    values = numbers(name, data)
    minor, starts = _indices(name, "indices", indices), _indices(name, "indptr", indptr)
    n_major, n_minor = shape if order == "csr" else shape[::-1]
    if starts.size != n_major + 1:
        raise ShapeError(f"indptr of {name} has {starts.size} entries, but {n_major + 1} are needed.", _HINT, name)
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        raise ShapeError(f"indptr of {name} does not begin with 0, or decreases.", _HINT, name)
    n_entries = int(starts[-1])
    if values.size != minor.size or n_entries > minor.size:
        raise ShapeError(
            f"{name} has {values.size} numbers and {minor.size} indices, but indptr ends with {n_entries}.", _HINT, name
        )
    if n_entries < minor.size:  # room that SciPy kept for further entries
        values, minor = values[:n_entries], minor[:n_entries]
    _refuse_outside(name, "column" if order == "csr" else "row", minor, n_minor)
    kind = index_type(n_entries, shape)
    make = sparse.csr_array if order == "csr" else sparse.csc_array
    return unchecked(make, values, minor.astype(kind, copy=False), starts.astype(kind, copy=False), shape)


LARGE_ARRAY = 100_000
"""From so many numbers on SciPy's own conversion is quicker."""


def csc_from_dense(dense: Double) -> SparseMatrix:
    """The entries of an array of two dimensions that are not 0, by columns.

    ``csc_array`` makes the same, and is quicker where the array is large: it reads it in the order in which it lies.

    Examples
    --------
    >>> csc_from_dense(np.array([[0.0, 2.0], [1.0, 3.0]])).data.tolist()
    [1.0, 2.0, 3.0]
    """
    if dense.size > LARGE_ARRAY:
        made: SparseMatrix = sparse.csc_array(dense)
        return made
    columns = dense.T
    column, row = columns.nonzero()
    shape = (int(dense.shape[0]), int(dense.shape[1]))
    kind = index_type(row.size, shape)
    starts: Integers = np.zeros(shape[1] + 1, kind)
    np.cumsum(np.bincount(column, minlength=shape[1]), out=starts[1:])
    return unchecked(sparse.csc_array, columns[column, row], row.astype(kind), starts, shape, is_canonical=True)


def places_of(matrix: SparseMatrix) -> tuple[Indices, Indices]:
    """Row and column of each entry of a CSC or CSR array, as they are stored.

    Examples
    --------
    >>> [places.tolist() for places in places_of(sparse.csr_array([[0.0, 2.0], [1.0, 3.0]]))]
    [[0, 1, 1], [1, 0, 1]]
    """
    offsets = matrix.indptr
    major = np.arange(offsets.size - 1).repeat(offsets[1:] - offsets[:-1])
    minor: Indices = matrix.indices.astype(np.int64, copy=False)
    return (major, minor) if matrix.format == "csr" else (minor, major)


def index_type(n_entries: int, shape: tuple[int, int]) -> type[np.int32] | type[np.int64]:
    """32 bits where they are enough: half as much to read for all that follows, and what most solvers take."""
    return np.int32 if max(n_entries, *shape) < MOST_NARROW else np.int64


def _from_blocks(name: str, data: Array, indices: object, indptr: object, shape: tuple[int, ...]) -> SparseMatrix:
    blocks = np.asarray(data)
    if blocks.ndim != 3 or 0 in blocks.shape[1:] or shape[0] % blocks.shape[1] or shape[1] % blocks.shape[2]:
        raise ShapeError(f"the blocks of {name} do not fit its shape.", _HINT, name)
    height, width = blocks.shape[1:]
    # The places of the blocks are a smaller matrix; its numbers are the blocks, one after the other.
    order = np.arange(len(blocks), dtype=np.float64)
    places = compressed(name, "csr", order, indices, indptr, (shape[0] // height, shape[1] // width)).tocoo()
    kept = np.asarray(places.data, dtype=np.int64)
    values = data[kept]  # a masked array stays one
    rows = places.coords[0][:, None, None] * height + np.arange(height)[:, None] + np.zeros((1, width), np.int64)
    columns = places.coords[1][:, None, None] * width + np.arange(width) + np.zeros((height, 1), np.int64)
    return _from_triples(name, values.ravel(), rows.astype(np.int64).ravel(), columns.astype(np.int64).ravel(), shape)


def numbers(name: str, data: object) -> Vector:
    """The numbers of a sparse matrix as float64, one behind the other."""
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise NotANumberError(f"{name} has masked entries.", "Fill them with numbers, or remove them.", name)
    array = np.asarray(data)
    if array.dtype.kind not in "fiub":
        raise NotANumberError(f"{name} has entries of type {array.dtype}.", "Give real numbers.", name)
    if array.ndim != 1:
        raise ShapeError(f"the numbers of {name} have {array.ndim} dimensions.", _HINT, name)
    return np.asarray(array, dtype=np.float64)


def _indices(name: str, part: str, given: object) -> Integers:
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (isinstance(given, np.ma.MaskedArray)):
        raise ShapeError(f"{part} of {name} is not a list of whole numbers.", _HINT, name)
    if array.dtype == np.int32 or array.dtype == np.int64:
        return np.asarray(array, dtype=array.dtype.newbyteorder("="))
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ShapeError(f"{part} of {name} has the entry {int(array.max())}.", _HINT, name)
    return array.astype(np.int64)


def _refuse_outside(name: str, what: str, indices: Integers, size: int) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        found = int(indices[(indices < 0) | (indices >= size)][0])
        raise ShapeError(f"{name} has an entry in {what} {found}, but only {size} {what}s.", _HINT, name)


def _diagonal(name: str, data: Array) -> SparseMatrix:
    """The matrix with this diagonal, without its zeros."""
    values = numbers(name, data)
    where, size = values.nonzero()[0], values.size
    kind = index_type(size, (size, size))
    starts: Integers = np.zeros(size + 1, kind)
    np.cumsum(values != 0, out=starts[1:])
    return unchecked(sparse.csc_array, values[where], where.astype(kind), starts, (size, size), is_canonical=True)


def _from_triples(name: str, data: object, rows: object, columns: object, shape: tuple[int, ...]) -> SparseMatrix:
    values = numbers(name, data)
    row, column = _indices(name, "rows", rows), _indices(name, "columns", columns)
    if not values.size == row.size == column.size:
        raise ShapeError(
            f"{name} has {values.size} numbers, but {row.size} row and {column.size} column indices.", _HINT, name
        )
    _refuse_outside(name, "row", row, shape[0])
    _refuse_outside(name, "column", column, shape[1])
    return csc_from_triples(values, row, column, (shape[0], shape[1]))


def csc_from_triples(values: Vector, row: Integers, column: Integers, shape: tuple[int, int]) -> SparseMatrix:
    """Compress by columns, rows ascending, without adding double entries; indices lie inside."""
    order = np.lexsort((row, column))
    kind = index_type(values.size, shape)
    starts: Integers = np.zeros(shape[1] + 1, kind)
    np.cumsum(np.bincount(column, minlength=shape[1]), out=starts[1:])
    places: Integers = row[order].astype(kind, copy=False)
    return unchecked(sparse.csc_array, values[order], places, starts, shape)


def _from_lists(
    name: str, rows: Sequence[Sequence[int]], data: Sequence[Sequence[float]], shape: tuple[int, ...]
) -> SparseMatrix:
    if len(rows) != shape[0] or len(data) != shape[0] or any(len(r) != len(d) for r, d in zip(rows, data, strict=True)):
        raise ShapeError(f"the lists of {name} do not fit together.", _HINT, name)
    lengths = [len(row) for row in rows]
    columns = np.array([j for row in rows for j in row], dtype=None if any(lengths) else np.int64)
    values = np.array([value for row in data for value in row], dtype=None if any(lengths) else np.float64)
    return _from_triples(name, values, np.repeat(np.arange(shape[0]), lengths), columns, shape)


def _from_keys(name: str, entries: dict[tuple[int, int], float], shape: tuple[int, ...]) -> SparseMatrix:
    if not entries:
        empty: SparseMatrix = sparse.csc_array((shape[0], shape[1]))
        return empty
    keys = np.array(list(entries))
    if keys.ndim != 2 or keys.shape[1] != 2:
        raise ShapeError(f"the keys of {name} are not pairs.", _HINT, name)
    return _from_triples(name, np.array(list(entries.values())), keys[:, 0], keys[:, 1], shape)


def unchecked(
    kind: type,
    values: Vector,
    indices: Integers,
    offsets: Integers,
    shape: tuple[int, int],
    *,
    is_canonical: bool = False,
) -> SparseMatrix:
    """A compressed matrix of arrays that were made here and fit together: they are neither looked at nor copied.

    SciPy's constructor takes longer than some small programs are solved in. The arrays are put into a copy of a matrix
    that it has made, where this keeps its shape as all versions have so far; else the constructor is called.

    Parameters
    ----------
    kind
        ``csc_array``, ``csr_array``, ``csc_matrix`` or ``csr_matrix`` of ``scipy.sparse``.
    values, indices, offsets, shape
        What it is made of.
    is_canonical
        Whether indices are known to be sorted and without duplicates; else SciPy finds out when it wants to know.

    Examples
    --------
    >>> parts = np.array([3.0, 4.0]), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32)
    >>> unchecked(sparse.csr_array, *parts, (2, 5)).toarray().tolist()
    [[3.0, 0.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0, 0.0]]
    """
    template = _template(kind)
    if "_shape" not in template or not offsets.dtype == indices.dtype == np.int32:  # SciPy makes others narrower
        made: SparseMatrix = kind((values, indices, offsets), shape=shape)
        return made
    matrix: SparseMatrix = object.__new__(kind)
    parts = vars(matrix)
    parts.update(template)
    parts["_shape"] = shape
    matrix.data, matrix.indices, matrix.indptr = values, indices, offsets
    if is_canonical:
        matrix.has_canonical_format = True
    return matrix


def no_rows(n: int, n_rows: int = 0) -> SparseMatrix:
    """A matrix of n columns without rows, or with rows that are empty."""
    return unchecked(sparse.csc_array, np.zeros(0), np.zeros(0, np.int32), np.zeros(n + 1, np.int32), (n_rows, n))


def csr_of_rows(rows: Sequence[Double], n: int) -> SparseMatrix:
    """A matrix by rows of dense ones of n entries, each an array of two dimensions.

    Examples
    --------
    >>> csr_of_rows([np.array([[0.0, 2.0]]), np.array([[3.0, 0.0]])], 2).toarray().tolist()
    [[0.0, 2.0], [3.0, 0.0]]
    """
    places = [row[0].nonzero()[0] for row in rows]
    kind = index_type(sum(part.size for part in places), (len(rows), n))
    starts: Integers = np.zeros(len(rows) + 1, kind)
    np.cumsum([part.size for part in places], out=starts[1:])
    values = np.concatenate([row[0][part] for row, part in zip(rows, places, strict=True)])
    indices: Integers = np.concatenate(places).astype(kind, copy=False)
    return unchecked(sparse.csr_array, values, indices, starts, (len(rows), n), is_canonical=True)


@cache
def _template(kind: type) -> dict[str, object]:
    """What SciPy writes into a matrix of this kind."""
    return dict(vars(kind((1, 1))))
