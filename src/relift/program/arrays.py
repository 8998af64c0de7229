"""Matrices and vectors as a program keeps them: checked, of one type, read-only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.errors import NotANumberError, ShapeError

Vector = NDArray[np.float64]


def as_matrix(name: str, given: Any) -> Any:
    """CSC or CSR array of float64 without duplicates or non-finite numbers; the caller's arrays are never changed."""
    if sparse.issparse(given):
        if given.ndim != 2:
            raise ShapeError(f"{name} has {given.ndim} dimensions.", "A matrix has two.", name)
        if given.dtype.kind not in "fiub":
            raise NotANumberError(f"{name} has entries of type {given.dtype}.", "Give real numbers.", name)
        matrix = sparse.csr_array(given) if given.format == "csr" else sparse.csc_array(given)
        if matrix.dtype != np.float64:
            matrix = matrix.astype(np.float64)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        dense = as_floats(name, given)
        if dense.ndim != 2:
            raise ShapeError(f"{name} has {dense.ndim} dimensions.", "A matrix has two.", name)
        matrix = sparse.csc_array(dense)
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        where = matrix.tocoo()
        row, column = int(where.coords[0][bad[0]]), int(where.coords[1][bad[0]])
        raise NotANumberError(
            f"{name}[{row}, {column}] is {matrix.data[bad[0]]}.",
            "Every coefficient must be a finite number.",
            name,
            (row, column),
        )
    return matrix


def as_floats(name: str, given: Any) -> NDArray[np.float64]:
    """Numbers of any kind as float64."""
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "fiubO" or (array.dtype.kind == "O" and any(isinstance(v, str) for v in array.flat)):
            raise TypeError
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotANumberError(
            f"{name} is not made of real numbers.",
            "Give a list, an array or a sparse matrix of numbers.",
            name,
        ) from error


def as_vector(name: str, given: Any, size: int, finite: bool = False) -> Vector:
    """A vector of that size, or one number repeated; NaN is refused, and infinities where ``finite``."""
    if sparse.issparse(given):
        given = given.toarray()
    vector = as_floats(name, given)
    if vector.ndim == 0:
        vector = np.full(size, float(vector))
    if vector.ndim == 2 and 1 in vector.shape:
        vector = vector.ravel()
    if vector.shape != (size,):
        found = " x ".join(map(str, vector.shape))
        raise ShapeError(
            f"{name} has {found} entries, but {size} are needed.",
            "Give one number for each, or one for all.",
            name,
        )
    bad = np.flatnonzero(~np.isfinite(vector) if finite else np.isnan(vector))
    if bad.size:
        j = int(bad[0])
        hint = "Every entry must be a finite number." if finite else "Write -inf or inf where there is no bound."
        raise NotANumberError(f"{name}[{j}] is {vector[j]}.", hint, name, (j,))
    return np.ascontiguousarray(vector)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view; the caller's own array stays writeable."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array
