"""Single passes over the matrices of a program, compiled; the same in NumPy stands in :mod:`.passes_reference`.

What SciPy does in a handful of conversions and copies, and what costs more than the arithmetic on small programs and on
large ones, is done here in one pass over the arrays as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Counts, FieldElements, Flags, Indices, Integers, SparseMatrix, Vector
from relift.program import passes_reference
from relift.program.index_sets import all_of
from relift.program.sparse_structure import unchecked
from relift.records import quick
from relift.threads import threads_for

if TYPE_CHECKING:
    from types import ModuleType

try:
    from relift import _passes_core

    core: ModuleType | None = _passes_core
except ImportError:  # no compiler at install: the NumPy functions do everything
    core = None

Parts: TypeAlias = tuple[Integers, Integers, Vector]
"""Offsets, indices and values of a compressed matrix."""


MOST_VERTICES, MOST_ENTRIES = 1 << 30, 1 << 32
"""What compiled passes can count: rows and columns, and entries of a matrix."""


def core_for(*matrices: SparseMatrix | None) -> ModuleType | None:
    """The compiled passes, if they are there and these matrices are not too large for them."""
    for matrix in matrices:
        if matrix is not None and (max(matrix.shape) >= MOST_VERTICES or matrix.indices.size >= MOST_ENTRIES):
            return None
    return core


def parts_of(matrix: SparseMatrix, *others: SparseMatrix | None) -> Parts:
    """The arrays of a compressed matrix as the compiled passes take them: contiguous, with indices of one type.

    Parameters
    ----------
    matrix
        CSC or CSR.
    *others
        Matrices that are handed over together with it: all must have the same type of indices.
    """
    offsets, indices = np.ascontiguousarray(matrix.indptr), np.ascontiguousarray(matrix.indices)
    is_narrow = offsets.dtype == indices.dtype == np.int32
    for other in others:
        is_narrow = is_narrow and (other is None or other.indptr.dtype == other.indices.dtype == np.int32)
    if not is_narrow:
        offsets, indices = offsets.astype(np.int64, copy=False), indices.astype(np.int64, copy=False)
    return offsets, indices, np.ascontiguousarray(matrix.data)


def products_and_sizes(
    matrix: SparseMatrix, along: Vector | None, across: Vector | None
) -> tuple[Vector, Vector, Vector, Vector]:
    """Mg and |M||g|, M'h and |M|'|h|: both products with the sizes of what was added, in one pass and without copies.

    Parameters
    ----------
    matrix
        CSC or CSR array M.
    along, across
        g, one number for each column, and h, one for each row; None where that product is not wanted (its two results
        are then not to be read).

    Examples
    --------
    >>> M = sparse.csc_array([[1.0, -2.0], [0.0, 3.0]])
    >>> [part.tolist() for part in products_and_sizes(M, np.array([1.0, 1.0]), np.array([2.0, 1.0]))]
    [[-1.0, 3.0], [3.0, 3.0], [2.0, -1.0], [2.0, 7.0]]
    """
    compiled = core_for(matrix)
    if compiled is None:
        return passes_reference.products_and_sizes(matrix, along, across)
    n_rows, n_columns = matrix.shape
    of_rows, of_columns = (np.empty(n_rows), np.empty(n_rows)), (np.empty(n_columns), np.empty(n_columns))
    parts = parts_of(matrix)
    if matrix.format == "csr":
        compiled.products_and_sizes(parts, across, along, *of_columns, *of_rows, threads_for(matrix.indices.size))
    else:
        compiled.products_and_sizes(parts, along, across, *of_rows, *of_columns, threads_for(matrix.indices.size))
    return *of_rows, *of_columns


def numbers_of_classes(labels: Indices) -> Vector:
    """A number for each label, the same for equal ones: 1 to 2, of either sign, as good as random.

    Examples
    --------
    >>> numbers = numbers_of_classes(np.array([0, 1, 0]))
    >>> bool(numbers[0] == numbers[2] != numbers[1]), bool((np.abs(numbers) >= 1).all())
    (True, True)
    """
    if core is None:
        return passes_reference.numbers_of_classes(labels)
    return np.frombuffer(core.numbers_of_classes(np.ascontiguousarray(labels), threads_for(labels.size)))


def spread(vector: Vector, sizes: Vector | None, representatives: Indices, labels: Indices) -> float:
    """The largest difference between a member of a class and its first member, relative to the sizes.

    Without sizes it is relative to the size of the member itself.

    Infinite where one of the two is infinite and the other is not the same, and where something differs and the size
    is 0.

    Examples
    --------
    >>> numbers, sizes = np.array([1.0, 5.0, 1.5]), np.array([1.0, 1.0, 10.0])
    >>> spread(numbers, sizes, np.array([0, 1]), np.array([0, 1, 0]))
    0.05
    """
    if core is None:
        return passes_reference.spread(vector, sizes, representatives, labels)
    of = None if sizes is None else np.ascontiguousarray(sizes)
    return float(core.spread(np.ascontiguousarray(vector), of, representatives, labels, threads_for(vector.size)))


def numbered(labels: Indices) -> tuple[Indices, int]:
    """Classes of equal labels, numbered by smallest member, and how many there are.

    Examples
    --------
    >>> numbers, n_classes = numbered(np.array([7, 3, 7]))
    >>> numbers.tolist(), n_classes
    ([0, 1, 0], 2)
    """
    if core is None or labels.size > MOST_VERTICES:
        return passes_reference.numbered(labels)
    numbers = np.empty(labels.size, np.int64)
    n_classes: int = core.numbered(np.ascontiguousarray(labels, np.int64), numbers)
    return numbers, n_classes


def first_members(labels: Indices, n_classes: int) -> Indices:
    """The smallest member of each class, of labels that are numbered by it.

    Examples
    --------
    >>> first_members(np.array([0, 1, 0, 2]), 3).tolist()
    [0, 1, 3]
    """
    if core is None:
        return passes_reference.first_members(labels)
    members = np.empty(n_classes, np.int64)
    core.first_members(np.ascontiguousarray(labels), members)
    return members


def class_sizes(labels: Indices, n_classes: int) -> Indices:
    """How many members each class has.

    Examples
    --------
    >>> class_sizes(np.array([0, 1, 0, 2]), 3).tolist()
    [2, 1, 1]
    """
    if core is None:
        return passes_reference.class_sizes(labels, n_classes)
    sizes = np.empty(n_classes, np.int64)
    core.class_sizes(np.ascontiguousarray(labels), sizes, threads_for(labels.size))
    return sizes


def count_kinds(*words: FieldElements) -> tuple[int, int, int]:
    """How many kinds of variables there are: as they are given, up to units and signs, and up to sizes.

    Parameters
    ----------
    *words
        Images of q, lb and ub, then of lb, ub and q with the scales divided out; those of variables that differ in size
        agree in the first two of these, and in whether there is a cost.

    Examples
    --------
    >>> q, lb, ub, one = (np.array(part, np.uint64) for part in ([2, 3, 4], [0, 0, 0], [1, 1, 2], [1, 1, 1]))
    >>> count_kinds(q, lb, ub, lb, one, np.array([2, 3, 2], np.uint64))
    (3, 2, 1)
    """
    if core is None or words[0].size > MOST_VERTICES:
        return passes_reference.count_kinds(*words)
    counts: tuple[int, int, int] = core.count_kinds(*map(np.ascontiguousarray, words))
    return counts


def count_shapes(low: Vector, high: Vector, cost: Vector) -> int:
    """How many intervals with costs there are up to a factor of either sign, to nine digits; the even ones count half.

    Parameters
    ----------
    low, high
        The intervals.
    cost
        What belongs to each: an even interval without a cost is its own negative, and counts one, the others two.

    Examples
    --------
    >>> low, high = np.array([0.0, -2.0, -3.0]), np.array([1.0, 0.0, 3.0])
    >>> count_shapes(low, high, np.zeros(3)), count_shapes(low, high, np.ones(3))
    (3, 6)
    """
    if core is None:
        return passes_reference.count_shapes(low, high, cost)
    shapes: int = core.count_shapes(*map(np.ascontiguousarray, (low, high, cost)))
    return shapes


def count_near(values: Vector, last_bits: int, n_slices: int) -> tuple[int, int]:
    """How many different sizes numbers have, and how many that differ before their last bits, in one of some slices.

    Parameters
    ----------
    values
        Any numbers; signs do not count.
    last_bits
        How many bits at the end are left out; the others are rounded.
    n_slices
        Only one of so many parts is looked at: numbers that differ in their last bits are all in it, or none of them.

    Examples
    --------
    >>> count_near(np.array([0.3, 0.1 + 0.2, -0.3, 0.4]), 16, 1)
    (3, 2)
    """
    if core is None or values.size > MOST_VERTICES:
        return passes_reference.count_near(values, last_bits, n_slices)
    counts: tuple[int, int] = core.count_near(np.ascontiguousarray(values), last_bits, n_slices)
    return counts


def simple_fractions(values: Vector, largest: int, rounding: float) -> tuple[Indices, Indices]:
    """Numerators and denominators of the simplest fractions near numbers; 0 and 1 where there is none.

    Parameters
    ----------
    values
        Numbers; only positive ones have fractions.
    largest
        The largest numerator and denominator.
    rounding
        How near a fraction must be, relatively.

    Examples
    --------
    >>> [part.tolist() for part in simple_fractions(np.array([0.25, 3.0, 0.7071067811865476]), 100, 1e-15)]
    [[1, 3, 0], [4, 1, 1]]
    """
    if core is None:
        return passes_reference.simple_fractions(values, largest, rounding)
    numerators, denominators = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    core.simple_fractions(np.ascontiguousarray(values), largest, rounding, numerators, denominators)
    return numerators, denominators


def has_longer(values: Vector, digits: int) -> bool:
    """Whether some number has more significant digits, as the shortest decimal that reads back as it.

    Parameters
    ----------
    values
        Numbers; infinities have no digits.
    digits
        So many are few; at most 15.

    Examples
    --------
    >>> has_longer(np.array([0.3, 1200.0, np.inf]), 2), has_longer(np.array([0.1 + 0.2]), 9)
    (False, True)
    """
    if core is None:
        return passes_reference.has_longer(values, digits)
    return bool(core.has_longer(np.ascontiguousarray(values), digits))


def scan_rows(A: SparseMatrix, least: int = 1) -> tuple[Counts, Indices]:
    """How many entries that are not 0 each row has, and which rows may be multiples of another row.

    No multiple is missed; what is returned must be compared before it is believed.

    Parameters
    ----------
    A
        CSC or CSR array.
    least
        Rows of fewer entries are not looked at as multiples.

    Examples
    --------
    >>> counts, rows = scan_rows(sparse.csr_array([[1.0, 2.0], [0.0, 1.0], [-2.0, -4.0], [1.0, 3.0]]))
    >>> counts.tolist(), rows.tolist()
    ([2, 1, 2, 2], [0, 2])
    """
    compiled = core_for(A)
    if compiled is None or (A.format == "csr" and not A.has_sorted_indices):
        return passes_reference.scan_rows(A, least)
    counts = np.empty(A.shape[0], np.int32)
    found = compiled.scan_rows(parts_of(A), A.format == "csr", A.shape[1], least, counts, threads_for(A.indices.size))
    return counts, np.frombuffer(found, np.int64)


def count_entries_of_rows(A: SparseMatrix) -> Counts:
    """How many entries that are not 0 each row of a CSC or CSR array has.

    Parameters
    ----------
    A
        The array.

    Examples
    --------
    >>> count_entries_of_rows(sparse.csr_array([[1.0, 2.0], [0.0, 0.0], [-2.0, 0.0]])).tolist()
    [2, 0, 1]
    """
    compiled = core_for(A)
    if compiled is None:
        return passes_reference.count_entries_of_rows(A)
    counts = np.empty(A.shape[0], np.int32)
    compiled.count_rows(parts_of(A), A.format == "csr", A.shape[1], counts)
    return counts


def submatrix(
    matrix: SparseMatrix, rows: Indices | None, columns: Indices | None, *, shares_values: bool = False
) -> SparseMatrix:
    """Some rows and columns of a CSC or CSR array, in ascending order, in the same format; the array itself if all.

    Parameters
    ----------
    matrix
        CSC or CSR.
    rows, columns
        Which ones, ascending; None for all.
    shares_values
        Both matrices are never changed: where all entries are one number, as in a cover, the first ones are not copied.

    Examples
    --------
    >>> M = sparse.csc_array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]])
    >>> submatrix(M, np.array([1]), np.array([1, 2])).toarray().tolist()
    [[3.0, 4.0]]
    """
    n_rows, n_columns = matrix.shape
    rows = None if rows is not None and rows.size == n_rows else rows
    columns = None if columns is not None and columns.size == n_columns else columns
    if rows is None and columns is None:
        return matrix
    if core_for(matrix) is None:
        return passes_reference.submatrix(matrix, rows, columns)
    offsets, indices, values = _parts_of_some(matrix, rows, columns, shares_values=shares_values)
    make = sparse.csr_array if matrix.format == "csr" else sparse.csc_array
    shape = (n_rows if rows is None else rows.size, n_columns if columns is None else columns.size)
    return unchecked(make, values, indices, offsets, shape)


def _parts_of_some(
    matrix: SparseMatrix, rows: Indices | None, columns: Indices | None, *, shares_values: bool = False
) -> Parts:
    """Offsets, indices and values of some rows and columns, by the core."""
    compiled = core_for(matrix)
    assert compiled is not None, "callers ask first"
    is_by_rows = matrix.format == "csr"
    majors, minors = (rows, columns) if is_by_rows else (columns, rows)
    n_major, n_minor = matrix.shape if is_by_rows else matrix.shape[::-1]
    some = None if minors is None else np.ascontiguousarray(minors, np.int64)
    kept = all_of(n_major) if majors is None else np.ascontiguousarray(majors, np.int64)
    parts = parts_of(matrix)
    offsets, indices, values = compiled.submatrix(
        parts, n_minor, kept, some, threads_for(matrix.indices.size), shares_values
    )
    kind = parts[0].dtype
    places = np.frombuffer(indices, kind)
    return np.frombuffer(offsets, kind), places, parts[2][: places.size] if values is None else np.frombuffer(values)


@final
@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of a part of a matrix: numbers of rows and columns in that part, and values."""

    row: Indices
    column: Indices
    value: Vector


def entries_of(matrix: SparseMatrix, rows: Indices | None, columns: Indices | None) -> Entries:
    """The entries of some rows or columns, as they are stored, without a matrix being made of them.

    Parameters
    ----------
    matrix
        CSC or CSR.
    rows, columns
        Which ones, ascending; None for all.

    Examples
    --------
    >>> M = sparse.csc_array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]])
    >>> some = entries_of(M, np.array([1]), None)
    >>> some.row.tolist(), some.column.tolist(), some.value.tolist()
    ([0, 0], [1, 2], [3.0, 4.0])
    """
    compiled = core_for(matrix)
    if compiled is None:
        listed = passes_reference.submatrix(matrix, rows, columns).tocoo()
        return Entries(listed.coords[0].astype(np.int64), listed.coords[1].astype(np.int64), listed.data)
    is_by_rows = matrix.format == "csr"
    majors, minors = (rows, columns) if is_by_rows else (columns, rows)
    if majors is None and minors is not None:
        n_minor, wanted = matrix.shape[is_by_rows], np.ascontiguousarray(minors, np.int64)
        found = compiled.entries_of_minors(parts_of(matrix), n_minor, wanted, threads_for(matrix.indices.size))
        major, minor, value = np.frombuffer(found[0], np.int64), np.frombuffer(found[1], np.int64), found[2]
        return Entries(*((major, minor) if is_by_rows else (minor, major)), np.frombuffer(value))
    if minors is None and majors is not None:
        n_minor, wanted = matrix.shape[is_by_rows], np.ascontiguousarray(majors, np.int64)
        found = compiled.entries_of_majors(parts_of(matrix), n_minor, wanted)
        major, minor, value = np.frombuffer(found[0], np.int64), np.frombuffer(found[1], np.int64), found[2]
        return Entries(*((major, minor) if is_by_rows else (minor, major)), np.frombuffer(value))
    offsets, indices, values = _parts_of_some(matrix, rows, columns)
    counts = np.diff(offsets)
    present = np.flatnonzero(counts)  # of few rows most columns have no entry
    major, minor = np.repeat(present, counts[present]), indices.astype(np.int64)
    return Entries(major, minor, values) if is_by_rows else Entries(minor, major, values)


def remaining_entries(A: SparseMatrix, rows: Indices, is_left: Flags) -> tuple[Indices, Vector]:
    """Column and value of the one entry, not 0, that each of some rows has in the columns that are left.

    Parameters
    ----------
    A
        CSC or CSR array.
    rows
        Which ones, ascending.
    is_left
        Whether each column is.

    Examples
    --------
    >>> A = sparse.csc_array([[1.0, 2.0], [3.0, 0.0]])
    >>> [part.tolist() for part in remaining_entries(A, np.array([0, 1]), np.array([True, False]))]
    [[0, 0], [1.0, 3.0]]
    """
    compiled = core_for(A)
    if compiled is None:
        return passes_reference.remaining_entries(A, rows, is_left)
    columns, entries = np.empty(rows.size, np.int64), np.empty(rows.size)
    compiled.remaining_entries(parts_of(A), A.format == "csr", A.shape[0], rows, is_left, columns, entries)
    return columns, entries


def is_symmetric(P: SparseMatrix) -> bool:
    """Whether a square CSC array without duplicates, with sorted indices, equals its transpose, entry by entry stored.

    Examples
    --------
    >>> [is_symmetric(sparse.csc_array([[1.0, 2.0], [other, 3.0]])) for other in (2.0, 0.0)]
    [True, False]
    """
    compiled = core_for(P)
    if compiled is None:
        turned = P.T.tocsc()
        others: Parts = (turned.indptr, turned.indices, turned.data)
        return all(map(np.array_equal, (P.indptr, P.indices, P.data), others))
    parts = parts_of(P)
    offsets, indices, values = compiled.transpose(parts, P.shape[0])
    kind = parts[0].dtype
    others = (np.frombuffer(offsets, kind), np.frombuffer(indices, kind), np.frombuffer(values))
    return all(map(np.array_equal, parts, others))


def triangle(P: SparseMatrix, *, upper: bool) -> Parts:
    """Offsets, indices (32 bits) and values of one triangle, the diagonal included, of a symmetric CSC array.

    Examples
    --------
    >>> [part.tolist() for part in triangle(sparse.csc_array([[1.0, 2.0], [2.0, 3.0]]), upper=True)]
    [[0, 1, 3], [0, 0, 1], [1.0, 2.0, 3.0]]
    """
    compiled = core_for(P)
    if compiled is None:
        return passes_reference.triangle(P, upper=upper)
    offsets, indices, values = compiled.triangle(parts_of(P), P.shape[0], upper)
    return np.frombuffer(offsets, np.int32), np.frombuffer(indices, np.int32), np.frombuffer(values)


@final
@quick
@dataclass(frozen=True, eq=False)
class ConicForm:
    """K, by columns, and b of ``Kx + s = b``: see :class:`relift.solvers.forms.Conic`.

    Parameters
    ----------
    n_equal, n_upper
        How many equalities and upper sides there are; lower sides follow.
    owner
        The row of A, or the number of rows + the variable, that each row stands for.
    b
        Right-hand sides of these rows.
    offsets, indices, values
        K, with 32-bit indices, further rows included.
    """

    n_equal: int
    n_upper: int
    owner: NDArray[np.int32]
    b: Vector
    offsets: NDArray[np.int32]
    indices: NDArray[np.int32]
    values: Vector


def are_finite(*vectors: NDArray[np.generic]) -> bool:
    """Whether all entries of some vectors are finite numbers.

    Examples
    --------
    >>> are_finite(np.array([1.0, 1e300]), np.zeros(0)), are_finite(np.zeros(2), np.array([np.nan]))
    (True, False)
    """
    found = None if core is None else core.are_finite(*vectors)  # None where it does not read some
    return all(bool(np.isfinite(each).all()) for each in vectors) if found is None else bool(found)


def largest(*vectors: NDArray[np.generic]) -> float:
    """The largest absolute value in some vectors, 0 where there is none; NaN if some entry is.

    Examples
    --------
    >>> largest(np.array([1.0, -3.0]), np.zeros(0)), largest(np.array([np.nan, 1.0])), largest()
    (3.0, nan, 0.0)
    """
    found = None if core is None else core.largest(*vectors)  # None where it does not read some
    return passes_reference.largest(*vectors) if found is None else found


def are_one_number(vector: Vector, *, by_bits: bool = False) -> bool:
    """Whether all numbers of a vector equal its first one, or are it to the last bit.

    Examples
    --------
    >>> zeros = np.array([0.0, -0.0])
    >>> are_one_number(zeros), are_one_number(zeros, by_bits=True)
    (True, False)
    """
    if core is None:
        return passes_reference.are_one_number(vector, by_bits=by_bits)
    return bool(core.are_one_number(np.ascontiguousarray(vector), by_bits, threads_for(vector.size)))


def extremes(*vectors: Vector) -> tuple[float, float]:
    """The least absolute value that is not 0, infinite without any, and the largest that is finite, 0 without any.

    Examples
    --------
    >>> extremes(np.array([0.0, -3.0]), np.array([np.inf, 0.5])), extremes()
    ((0.5, 3.0), (inf, 0.0))
    """
    found = None if core is None else core.extremes(*vectors)  # None where it does not read some
    return passes_reference.extremes(*vectors) if found is None else found


def fit(vectors: tuple[object, ...], sizes: tuple[int, ...], *, are_finite: bool) -> bool:
    """Whether vectors are missing, or arrays of floats of these sizes, one number behind the other.

    Parameters
    ----------
    vectors
        Arrays or None; anything else does not fit.
    sizes
        How long each has to be.
    are_finite
        Whether their numbers must be finite, too.

    Examples
    --------
    >>> fit((np.ones(2), None), (2, 3), are_finite=True), fit((np.ones(2),), (3,), are_finite=False)
    (True, False)
    """
    if core is None:
        return passes_reference.fit(vectors, sizes, are_finite)
    return bool(core.fit(vectors, sizes, np.ndarray, are_finite))


def product(matrix: SparseMatrix, x: Vector) -> Vector:
    """The matrix times a vector, as SciPy computes it, to the last bit, without what SciPy asks before.

    Parameters
    ----------
    matrix
        CSC or CSR array.
    x
        One number for each column.

    Examples
    --------
    >>> product(sparse.csc_array([[1.0, -2.0], [0.0, 3.0]]), np.array([1.0, 1.0])).tolist()
    [-1.0, 3.0]
    """
    compiled = core_for(matrix)
    if compiled is None:
        return np.asarray(matrix @ x, np.float64)
    sums = np.empty(matrix.shape[0])
    compiled.product(parts_of(matrix), matrix.format == "csr", np.ascontiguousarray(x), sums)
    return sums


def expand_duals(values: Vector, owner: NDArray[np.int32], n_first: int, size: int) -> Vector:
    """Dual values of the rows of a conic form, in a vector of what they belong to.

    Parameters
    ----------
    values
        One for each row.
    owner
        The place of each in the result.
    n_first
        How many rows are equalities and upper bounds; the values of lower bounds are subtracted.
    size
        The size of the result.

    Examples
    --------
    >>> expand_duals(np.array([1.0, 2.0, 0.5]), np.array([0, 2, 2], np.int32), 2, 3).tolist()
    [1.0, 0.0, 1.5]
    """
    full = np.zeros(size)
    if core is not None:
        core.expand_duals(values, owner, n_first, full)
        return full
    full[owner[:n_first]] = values[:n_first]
    full[owner[n_first:]] -= values[n_first:]
    return full


def conic_form(
    A: SparseMatrix, bounds: tuple[Vector, Vector, Vector, Vector], following: SparseMatrix | None = None
) -> ConicForm:
    """Write rows and bounds as equalities and nonnegative slacks.

    Parameters
    ----------
    A
        CSC array with sorted indices, or CSR array.
    bounds
        l, u, lb and ub.
    following
        CSC array of further rows.

    Raises
    ------
    ValueError
        If 32-bit indices are not enough.

    Examples
    --------
    >>> form = conic_form(sparse.csc_array([[2.0]]), tuple(np.array([x]) for x in (1.0, 1.0, -np.inf, 3.0)))
    >>> form.n_equal, form.owner.tolist(), form.b.tolist(), form.values.tolist()
    (1, [0, 1], [1.0, 3.0], [2.0, 1.0])
    """
    compiled = core_for(A, following)
    if compiled is None:
        return ConicForm(*passes_reference.conic_form(A, bounds, following))
    n_more = 0 if following is None else following.shape[0]
    parts, more = parts_of(A, following), None if following is None else parts_of(following, A)
    n_equal, n_upper, _, owner, b, offsets, indices, values = compiled.conic_form(
        parts, A.format == "csr", bounds, more, n_more, threads_for(A.indices.size)
    )
    return ConicForm(
        n_equal, n_upper, np.frombuffer(owner, np.int32), np.frombuffer(b),
        np.frombuffer(offsets, np.int32), np.frombuffer(indices, np.int32), np.frombuffer(values),
    )  # fmt: skip
