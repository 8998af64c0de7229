"""The types of arrays and matrices, each defined once and named after what it holds.

SciPy tells no types. Stubs for it exist (scipy-stubs), but its sparse arrays then do not survive ``issparse``, sums and
stacks, and checking takes twice as long; :class:`SparseMatrix` says what relift uses of them and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Vector: TypeAlias = NDArray[np.float64]
"""Numbers in a row: a point, dual values, bounds, weights."""

Matrix: TypeAlias = NDArray[np.float64]
"""A dense matrix."""

Double: TypeAlias = NDArray[np.float64]
"""Numbers in double precision, of any number of dimensions."""

Single: TypeAlias = NDArray[np.float32]
"""Numbers in single precision, of any number of dimensions."""

Reals: TypeAlias = NDArray[np.floating]
"""Numbers in single or double precision."""

Indices: TypeAlias = NDArray[np.int64]
"""Places in another array, or counts."""

Labels: TypeAlias = NDArray[np.int64]
"""The class of each variable, row or point, from 0."""

Codes: TypeAlias = NDArray[np.int32]
"""Small whole numbers that stand for something else: classes of examples, signs, the strings of a column."""

Counts: TypeAlias = NDArray[np.int32]
"""How many entries each row of a matrix has, which are fewer than 2³¹: there is one for each row, and it is kept."""

RowNumbers: TypeAlias = NDArray[np.int32]
"""Numbers of the rows of a table, which are fewer than 2³¹."""

RowKeys: TypeAlias = NDArray[np.int64]
"""Keys of the rows of a table, each packed into one number."""

Tuples: TypeAlias = NDArray[np.int64]
"""Tuples of whole numbers, one in each row."""

Integers: TypeAlias = NDArray[np.integer]
"""Whole numbers of any width, such as the indices of a sparse matrix, which SciPy keeps in 32 or 64 bits."""

Hashes: TypeAlias = NDArray[np.uint64]
"""A hash for each."""

FieldElements: TypeAlias = NDArray[np.uint64]
"""Elements of the finite field in which exact sums are computed."""

Flags: TypeAlias = NDArray[np.bool_]
"""Yes or no for each."""

Array: TypeAlias = NDArray[np.generic]
"""An array of anything."""

Cells: TypeAlias = NDArray[Any]
"""The cells of one column of a table: numbers, flags or objects; which of them is known only when they are there."""

ScalarT = TypeVar("ScalarT", bound=np.generic)
"""What an array holds, in functions that return the type they are given: ``NDArray[ScalarT]``."""

RealT = TypeVar("RealT", bound=np.floating)
"""The precision of an array, in functions that keep it: ``NDArray[RealT]``."""

Selection: TypeAlias = slice | list[int] | Integers | Flags
"""Which rows, or which columns, of a matrix."""


class SparseLike(Protocol):
    """A matrix of ``scipy.sparse`` as users give it: array or matrix, in any format, of any type of numbers."""

    @property
    def format(self) -> str:
        """``"csc"``, ``"csr"``, ``"coo"``, ``"dok"``, ..."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    @property
    def nnz(self) -> int:
        """Number of stored entries."""

    def tocoo(self) -> CoordinateMatrix:
        """Entry by entry."""

    def toarray(self) -> Array:
        """The same as a dense array."""


class SupportsArray(Protocol):
    """What NumPy makes an array of: data frames, tensors."""

    def __array__(self) -> Array:
        """The same as an array."""


MatrixLike: TypeAlias = Sequence[Sequence[float] | Array] | Array | SupportsArray | SparseLike
"""What can be read as a matrix: rows of numbers, an array, a data frame, or a matrix of SciPy."""


class CoordinateMatrix(Protocol):
    """A COO array of SciPy: the entries one by one."""

    data: Vector
    coords: tuple[Integers, Integers]
    row: Integers
    col: Integers

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def nnz(self) -> int:
        """Number of stored entries."""

    def tocsc(self) -> SparseMatrix:
        """By columns."""

    def tocsr(self) -> SparseMatrix:
        """By rows."""

    def toarray(self) -> Double:
        """The same as a dense array."""


class SparseMatrix(Protocol):
    """A CSC or CSR array of SciPy with numbers in double precision, as far as relift uses it."""

    data: Vector
    indices: Integers
    indptr: Integers
    has_canonical_format: bool
    has_sorted_indices: bool

    @property
    def format(self) -> Literal["csc", "csr"]:
        """Whether the entries are stored by columns or by rows."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def nnz(self) -> int:
        """Number of stored entries."""

    @property
    def T(self) -> SparseMatrix:
        """The transpose, in the other format."""

    @overload
    def __matmul__(self, other: SparseMatrix, /) -> SparseMatrix: ...
    @overload
    def __matmul__(self, other: Array, /) -> Double: ...
    def __rmatmul__(self, other: Array, /) -> Double: ...
    def __add__(self, other: SparseMatrix, /) -> SparseMatrix: ...
    def __sub__(self, other: SparseMatrix, /) -> SparseMatrix: ...
    def __mul__(self, factor: float, /) -> SparseMatrix: ...
    def __rmul__(self, factor: float, /) -> SparseMatrix: ...
    def __truediv__(self, divisor: float, /) -> SparseMatrix: ...
    def __neg__(self) -> SparseMatrix: ...
    def __abs__(self) -> SparseMatrix: ...
    def __ne__(self, other: SparseMatrix, /) -> SparseMatrix: ...  # type: ignore[override]  # entry by entry
    @overload
    def __getitem__(self, key: tuple[int | np.integer, int | np.integer], /) -> float: ...
    @overload
    def __getitem__(self, key: Selection | tuple[Selection, ...], /) -> SparseMatrix: ...

    def tocsc(self) -> SparseMatrix:
        """By columns."""

    def tocsr(self) -> SparseMatrix:
        """By rows."""

    def tocoo(self) -> CoordinateMatrix:
        """Entry by entry."""

    def toarray(self, order: Literal["C", "F"] | None = None) -> Matrix:
        """The same as a dense matrix."""

    def copy(self) -> SparseMatrix:
        """The same in arrays of its own."""

    def sorted_indices(self) -> SparseMatrix:
        """A copy in which the entries of each row or column are sorted."""

    def astype(self, dtype: type[np.float64], /) -> SparseMatrix:
        """The same with another type of numbers."""

    def diagonal(self) -> Vector:
        """The entries of the diagonal."""

    def nonzero(self) -> tuple[Integers, Integers]:
        """Rows and columns of the entries that are not zero."""

    def multiply(self, other: SparseMatrix | Array | float, /) -> SparseMatrix:
        """Entry times entry."""

    def mean(self) -> float:
        """The mean of all entries, those that are not stored included."""

    def max(self, axis: int) -> CoordinateMatrix:
        """The largest entries of the columns (0) or rows (1)."""

    def sum(self, axis: int) -> Vector:
        """Sums of the columns (0) or rows (1)."""

    def sum_duplicates(self) -> None:
        """Add entries at the same place, in place."""

    def eliminate_zeros(self) -> None:
        """Drop stored zeros, in place."""

    def sort_indices(self) -> None:
        """Sort the entries of each row or column, in place."""


Examples: TypeAlias = Double | SparseMatrix
"""Examples that were checked, one in each row: a dense matrix, or a CSR matrix."""


def is_sparse(given: object) -> TypeIs[SparseLike]:
    """Whether it is a sparse array or matrix of SciPy."""
    return bool(sparse.issparse(given))


def sizes_of_entries(X: Examples) -> Examples:
    """The same matrix with each entry without its sign."""
    return abs(X) if is_sparse(X) else np.abs(X)


def is_compressed(given: SparseLike) -> TypeGuard[SparseMatrix]:
    """Whether its entries are stored by columns or by rows."""
    return given.format in ("csc", "csr")
