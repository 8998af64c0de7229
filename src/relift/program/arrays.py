"""Matrices and vectors as a program keeps them: checked, of one type, read-only, and nobody else's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Array, Double, ScalarT, SparseMatrix, Vector, is_sparse
from relift.errors import NotANumberError, ShapeError
from relift.program.sparse_structure import checked_sparse, csc_from_dense

_OWN = (list, tuple, int, float, np.generic)
"""NumPy makes a new array from these, so that none of ours is also someone else's."""


def as_matrix(name: str, given: object) -> SparseMatrix:
    """CSC or CSR array of float64 without duplicates or non-finite numbers; the caller's arrays are not kept.

    A CSC or CSR matrix of float64 costs one copy of its three arrays, 12 or 16 bytes for each entry, and no copy of
    those that are read-only and own their data. Anything else is converted, which makes new arrays.

    Parameters
    ----------
    name
        How to call it in messages.
    given
        Rows of numbers, an array of two dimensions, or any matrix of SciPy.
    """
    if is_sparse(given):
        matrix = checked_sparse(name, given)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        dense = as_floats(name, given)
        if dense.ndim != 2:
            raise ShapeError(f"{name} has {dense.ndim} dimensions.", "A matrix has two.", name)
        matrix = csc_from_dense(dense)
    is_finite = np.isfinite(matrix.data)
    if not is_finite.all():
        bad = np.flatnonzero(~is_finite)
        where = matrix.tocoo()
        row, column = int(where.coords[0][bad[0]]), int(where.coords[1][bad[0]])
        raise NotANumberError(
            f"{name}[{row}, {column}] is {matrix.data[bad[0]]}.",
            "Every coefficient must be a finite number.",
            name,
            (row, column),
        )
    parts = ("data", "indices", "indptr", "row", "col", "offsets")
    others = [getattr(given, part, None) for part in parts] if is_sparse(given) else []  # of numbers, all are new
    for part in ("data", "indices", "indptr"):
        array: Array = getattr(matrix, part)
        is_ours = not any(isinstance(other, np.ndarray) and np.may_share_memory(array, other) for other in others)
        setattr(matrix, part, kept(array, is_ours))
    return matrix


def as_floats(name: str, given: object) -> Double:
    """Numbers of any kind as float64; text, complex numbers, dates and masked entries are refused."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):  # its entries would be read as if they counted
        masked = np.argwhere(np.ma.getmaskarray(given))[0].tolist()
        raise NotANumberError(f"{name}{masked} is masked.", "Fill it with a number, or remove it.", name, tuple(masked))
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "fiubO" or (
            array.dtype.kind == "O" and any(isinstance(v, (str, bytes)) for v in array.flat)
        ):
            raise TypeError
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotANumberError(
            f"{name} is not made of real numbers.",
            "Give a list, an array or a sparse matrix of numbers.",
            name,
        ) from error


def as_vector(name: str, given: object, size: int, finite: bool = False) -> Vector:
    """A read-only vector of that size, or one number repeated; NaN is refused, and infinities where ``finite``.

    An array of the caller is copied, unless it is read-only and owns its data.
    """
    if is_sparse(given):
        shape = tuple(given.shape)
        if np.prod(shape, dtype=object) == size:  # or a few indices could ask for all the memory
            given = checked_sparse(name, given).toarray() if len(shape) == 2 else given.toarray()
        else:
            raise _wrong_size(name, shape, size)
    vector = as_floats(name, given)
    if vector.ndim == 0:
        vector, given = np.full(size, float(vector)), None
    if vector.ndim == 2 and 1 in vector.shape:
        vector = vector.ravel()
    if vector.shape != (size,):
        raise _wrong_size(name, vector.shape, size)
    bad = ~np.isfinite(vector) if finite else np.isnan(vector)
    if bad.any():
        j = int(np.argmax(bad))
        hint = "Every entry must be a finite number." if finite else "Write -inf or inf where there is no bound."
        raise NotANumberError(f"{name}[{j}] is {vector[j]}.", hint, name, (j,))
    return kept(vector, is_ours=given is None or isinstance(given, _OWN))


def _wrong_size(name: str, shape: tuple[int, ...], size: int) -> ShapeError:
    found = " x ".join(map(str, shape))
    return ShapeError(
        f"{name} has {found} entries, but {size} are needed.", "Give one number for each, or one for all.", name
    )


def kept(array: NDArray[ScalarT], is_ours: bool = False) -> NDArray[ScalarT]:
    """A read-only array that nobody else changes: the array itself if it is safe, else a copy.

    Safe is what is read-only and owns its data, or is a view of such an array: whoever made it read-only has said that
    it will not change.

    Parameters
    ----------
    array
        Any array.
    is_ours
        Whether it was made here, so that it can be made read-only as it is.

    Examples
    --------
    >>> mine = np.ones(3)
    >>> yours = kept(mine)
    >>> mine[0] = 5
    >>> yours.tolist(), yours.flags.writeable, kept(yours) is yours
    ([1.0, 1.0, 1.0], False, True)
    """
    flags = array.flags
    if flags.owndata and not flags.writeable and flags.c_contiguous and type(array) is np.ndarray:
        return array
    if is_ours and flags.c_contiguous and array.base is None:
        flags.writeable = False
    elif not (flags.c_contiguous and type(array) is np.ndarray and _is_safe(array)):
        array = np.array(array, order="C", subok=False)
        array.flags.writeable = False
    return array


def _is_safe(array: object) -> bool:
    while isinstance(array, np.ndarray):
        flags = array.flags
        if flags.writeable:
            return False
        if array.base is None:
            return bool(flags.owndata)
        array = array.base
    return isinstance(array, bytes)


def frozen(array: NDArray[ScalarT]) -> NDArray[ScalarT]:
    """A read-only view of an array that was made here; where it came from it stays writeable."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def freeze_matrix(matrix: SparseMatrix) -> None:
    """Put read-only views of its arrays into a matrix that was made here."""
    for part in ("data", "indices", "indptr"):
        array: Array = getattr(matrix, part)
        if array.flags.writeable:
            setattr(matrix, part, frozen(array))
