"""What :mod:`relift.program.passes` does, in NumPy and SciPy, step by step: slow, obvious, and compared with it."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Counts, FieldElements, Flags, Indices, Integers, SparseMatrix, Vector


def products_and_sizes(
    matrix: SparseMatrix, along: Vector | None, across: Vector | None
) -> tuple[Vector, Vector, Vector, Vector]:
    """Mg, |M||g|, M'h and |M|'|h|."""
    n_rows, n_columns = matrix.shape
    g = np.zeros(n_columns) if along is None else along
    h = np.zeros(n_rows) if across is None else across
    sizes = abs(matrix)
    return matrix @ g, sizes @ np.abs(g), matrix.T @ h, sizes.T @ np.abs(h)


def largest(*vectors: NDArray[np.generic]) -> float:
    """The largest absolute value; NaN if some entry is."""
    return float(np.max([0.0, *(np.max(np.abs(each), initial=0.0) for each in vectors)]))


def extremes(*vectors: Vector) -> tuple[float, float]:
    """The least absolute value that is not 0, and the largest that is finite."""
    sizes = np.abs(np.concatenate([np.zeros(0), *vectors]))
    finite = sizes[np.isfinite(sizes)]
    return float(np.min(sizes[sizes > 0], initial=np.inf)), float(np.max(finite, initial=0.0))


def fit(vectors: tuple[object, ...], sizes: tuple[int, ...], are_finite: bool) -> bool:
    """Whether each is None, or a contiguous array of that many floats, of finite ones if asked."""
    return all(
        vector is None
        or (
            type(vector) is np.ndarray
            and vector.dtype == np.float64
            and vector.shape == (size,)
            and vector.flags.c_contiguous
            and (not are_finite or bool(np.isfinite(vector).all()))
        )
        for vector, size in zip(vectors, sizes, strict=True)
    )


def numbers_of_classes(labels: Indices) -> Vector:
    """A number for the class of each label: by SplitMix64, the last bit of which is the sign."""
    words = (labels.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    words ^= words >> np.uint64(31)
    sizes = 1.0 + (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.where(words & np.uint64(1), sizes, -sizes)


def spread(vector: Vector, sizes: Vector | None, representatives: Indices, labels: Indices) -> float:
    """The largest difference inside a class relative to the sizes, or to the numbers themselves."""
    sizes = np.abs(vector) if sizes is None else sizes
    first = vector[representatives][labels]
    infinite = ~(np.isfinite(vector) & np.isfinite(first))
    if infinite.any():
        if np.any(vector[infinite] != first[infinite]):
            return np.inf
        vector, first, sizes = vector[~infinite], first[~infinite], sizes[~infinite]
    difference = np.abs(vector - first)
    worst = np.divide(difference, sizes, out=np.where(difference > 0, np.inf, 0.0), where=sizes > 0)
    return float(worst.max(initial=0.0))


def numbered(labels: Indices) -> tuple[Indices, int]:
    """By sorting."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return rank[inverse], int(first.size)


def first_members(labels: Indices) -> Indices:
    """Where the largest label so far grows."""
    is_first = np.ones(labels.size, bool)
    highest = np.maximum.accumulate(labels)
    np.not_equal(highest[1:], highest[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def class_sizes(labels: Indices, n_classes: int) -> Indices:
    """By counting."""
    return np.bincount(labels, minlength=n_classes).astype(np.int64, copy=False)


def are_one_number(vector: Vector, *, by_bits: bool) -> bool:
    """Compared with the first one."""
    numbers = np.ascontiguousarray(vector).view(np.uint64) if by_bits else vector
    return bool((numbers == numbers[:1]).all())


def count_kinds(*words: FieldElements) -> tuple[int, int, int]:
    """Distinct tuples."""
    q, lb, ub, low, high, cost = (part.tolist() for part in words)
    has_cost = [word != 0 for word in cost]
    every = ((q, lb, ub), (low, high, cost), (low, high, has_cost))
    given, up_to_units, up_to_sizes = (len(set(zip(*columns, strict=True))) for columns in every)
    return given, up_to_units, up_to_sizes


def count_shapes(low: Vector, high: Vector, cost: Vector) -> int:
    """Each interval divided by its longer side, or multiplied by its cost, and turned upwards; then distinct ones."""
    size = np.maximum(np.where(np.isfinite(low), np.abs(low), 0.0), np.where(np.isfinite(high), np.abs(high), 0.0))
    by_cost = (size <= 1e-9) & (cost != 0)
    size = np.where(size > 1e-9, size, 1.0)
    size[by_cost] = 1.0 / np.abs(cost[by_cost])
    with np.errstate(invalid="ignore"):  # of infinities that have no sum only the signs are compared
        is_even = np.where(np.isfinite(low), np.abs(low + high) <= 1e-9 * size, low == -high)
    turn = np.where(np.where(is_even, cost < 0, high < -low), -1.0, 1.0)
    first, second = np.where(turn < 0, -high, low) / size, np.where(turn < 0, -low, high) / size
    shapes: dict[tuple[float, ...], bool] = {}
    parts = (_to_nine_digits(part).tolist() for part in (first, second, cost * turn * size))
    for shape, counts_half in zip(zip(*parts, strict=True), (is_even & (cost == 0)).tolist(), strict=True):
        shapes.setdefault(shape, counts_half)  # that of the first
    return 2 * len(shapes) - sum(shapes.values())


def _to_nine_digits(values: Vector) -> Vector:
    is_finite = np.isfinite(values)
    return np.where(is_finite, np.round(np.where(is_finite, values, 0.0), 9), np.sign(values) * 1e300)


def count_near(values: Vector, last_bits: int, n_slices: int) -> tuple[int, int]:
    """By sets of integers."""
    numbers = set(np.abs(values).view(np.int64).tolist())
    slices: dict[int, list[int]] = {}
    for bits in numbers:
        slices.setdefault((bits + (1 << (last_bits - 1))) >> last_bits, []).append(bits)
    chosen = {key: near for key, near in slices.items() if ((_mixed(key) >> 32) * n_slices) >> 32 == 0}
    return sum(map(len, chosen.values())), len(chosen)


def _mixed(word: int) -> int:
    """Mix 64 bits as :func:`relift.symmetry.finite_field.mixed` does."""
    most = (1 << 64) - 1
    word = (word + 0x9E3779B97F4A7C15) & most
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & most
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & most
    return word ^ (word >> 31)


def simple_fractions(values: Vector, largest: int, rounding: float) -> tuple[Indices, Indices]:
    """All continued fractions side by side."""
    n = values.size
    numerators, denominators = np.zeros(n, np.int64), np.ones(n, np.int64)
    open_ = np.flatnonzero((values > 0.5 / largest) & (values < 2.0 * largest))
    rest = values[open_]
    # Convergents h/k of the continued fraction: (h, k) and the pair before it.
    h, k, h_before, k_before = np.ones(open_.size), np.zeros(open_.size), np.zeros(open_.size), np.ones(open_.size)
    while open_.size:
        whole = np.floor(rest)
        h, h_before = whole * h + h_before, h
        k, k_before = whole * k + k_before, k
        fits = (h <= largest) & (k <= largest)
        target = values[open_]
        is_found = fits & (np.abs(h - target * k) <= rounding * target * k)
        numerators[open_[is_found]], denominators[open_[is_found]] = h[is_found], k[is_found]
        fraction = rest - whole
        goes_on = fits & ~is_found & (fraction > 0)
        open_, rest = open_[goes_on], 1.0 / fraction[goes_on]
        h, k, h_before, k_before = h[goes_on], k[goes_on], h_before[goes_on], k_before[goes_on]
    return numerators, denominators


def has_longer(values: Vector, digits: int) -> bool:
    """As Python prints them."""
    finite = np.unique(np.abs(values[np.isfinite(values)]))
    return any(len(Decimal(repr(value)).normalize().as_tuple().digits) > digits for value in finite.tolist())


def scan_rows(A: SparseMatrix, least: int = 1) -> tuple[Counts, Indices]:
    """Entries that are not 0 by row, and the rows with the same columns, at least so many, as another one."""
    rows = A.tocsr().sorted_indices()
    counts = np.zeros(A.shape[0], np.int32)
    patterns: dict[bytes, list[int]] = {}
    for i in range(A.shape[0]):
        begin, end = rows.indptr[i], rows.indptr[i + 1]
        columns = rows.indices[begin:end][rows.data[begin:end] != 0]
        counts[i] = columns.size
        if columns.size >= max(least, 1):
            patterns.setdefault(columns.astype(np.int64).tobytes(), []).append(i)
    repeated = [i for alike in patterns.values() if len(alike) > 1 for i in alike]
    return counts, np.array(sorted(repeated), np.int64)


def count_entries_of_rows(A: SparseMatrix) -> Counts:
    """Entries that are not 0 by row."""
    rows, _ = A.nonzero()
    counts: Counts = np.bincount(rows, minlength=A.shape[0]).astype(np.int32)
    return counts


def remaining_entries(A: SparseMatrix, rows: Indices, is_left: Flags) -> tuple[Indices, Vector]:
    """The one entry that each of some rows has in the columns that are left."""
    part = submatrix(A, rows, None).tocoo()
    row, column = part.coords
    counts = is_left[column] & (part.data != 0)
    row, column, entry = row[counts], column[counts], part.data[counts]
    order = np.argsort(row, kind="stable")
    return column[order].astype(np.int64), entry[order]


def submatrix(matrix: SparseMatrix, rows: Indices | None, columns: Indices | None) -> SparseMatrix:
    """Rows and columns one after the other."""
    part = matrix if rows is None else matrix.tocsr()[rows]
    part = part if columns is None else part.tocsc()[:, columns]
    return part.tocsr() if matrix.format == "csr" else part.tocsc()


def triangle(P: SparseMatrix, *, upper: bool) -> tuple[Integers, Integers, Vector]:
    """Of a CSC array."""
    part = sparse.csc_array(sparse.triu(P) if upper else sparse.tril(P))
    return part.indptr.astype(np.int32), part.indices.astype(np.int32), part.data


def conic_form(
    A: SparseMatrix, bounds: tuple[Vector, Vector, Vector, Vector], following: SparseMatrix | None = None
) -> tuple[int, int, NDArray[np.int32], Vector, NDArray[np.int32], NDArray[np.int32], Vector]:
    """Stack rows and bounds, then choose equalities, upper and lower sides."""
    l, u, lb, ub = bounds
    low, high = np.concatenate([l, lb]), np.concatenate([u, ub])
    stacked = sparse.vstack([A, sparse.eye_array(lb.size)], format="csr")
    is_equal = low == high
    equal = np.flatnonzero(is_equal)
    upper, lower = np.flatnonzero(np.isfinite(high) & ~is_equal), np.flatnonzero(np.isfinite(low) & ~is_equal)
    blocks = [stacked[equal], stacked[upper], -stacked[lower], *([] if following is None else [following])]
    K = sparse.vstack(blocks, format="csc")
    K.sort_indices()
    owner = np.concatenate([equal, upper, lower]).astype(np.int32)
    b = np.concatenate([high[equal], high[upper], -low[lower]])
    offsets, indices = K.indptr.astype(np.int32), K.indices.astype(np.int32)
    return equal.size, upper.size, owner, b, offsets, indices, K.data
