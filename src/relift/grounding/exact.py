"""Sums and products that do not depend on the order of their parts, and that keep short decimals short.

Symmetry lives in equal numbers. In floats ``1 - 0.9`` is not ``0.1``, and adding a multiset in two orders gives two
sums. A double is read here as the shortest decimal that prints it, as in :mod:`relift.symmetry.finite_field`.
If all numbers of an array are ``k / 10**s`` with one s and whole k below 2**53, sums of the k are exact, and dividing
by ``10**s`` rounds once, correctly. Numbers without such an s (``1/3``) are added up in the order of their size, so
that equal multisets still have equal sums.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from relift.arrays import Integers, SparseMatrix, Vector
from relift.errors import SizeLimitError
from relift.grounding.row_blocks import RowBlock
from relift.tables import compiled

LARGEST = float(2**53)
MOST_DIGITS = 15


def decimal_scale(values: Vector) -> int | None:
    """The smallest s such that every number is a whole number over ``10**s``; None if there is none up to 15.

    Infinities are passed over.

    Examples
    --------
    >>> decimal_scale(np.array([1.0, 0.25])), decimal_scale(np.array([1 / 3]))
    (2, None)
    """
    values = values[np.isfinite(values)] if not np.isfinite(values).all() else values
    if values.size == 0:
        return 0
    if values.size > 1024 and (scale := decimal_scale(values[:256])) != 0:
        if scale is None:
            return None
    else:
        scale = 0
    for s in range(scale, MOST_DIGITS + 1):
        factor = 10.0**s
        whole = np.rint(values * factor)
        if np.abs(whole).max() >= LARGEST:
            return None
        if np.array_equal(whole / factor, values):
            return s
    return None


def snapped(values: Vector, scale: int | None) -> Vector:
    """Results of float arithmetic whose exact values are known to be whole numbers over ``10**scale``, rounded once.

    Numbers too large for that to be certain stay as they are.

    Examples
    --------
    >>> float(snapped(np.array([0.1 * 3]), 1)[0])
    0.3
    """
    if not scale or scale > MOST_DIGITS:
        return values
    factor = 10.0**scale
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.rint(values * factor)
        return np.where(np.abs(whole) < LARGEST / 8, whole / factor, values)


def add(first: Vector, second: Vector) -> Vector:
    """Entry by entry, short decimals staying short; an infinity wins.

    Examples
    --------
    >>> float(add(np.array([0.3]), np.array([-0.1]))[0])
    0.2
    """
    total = first + second
    if not np.any(first) or not np.any(second):
        return total
    scales = decimal_scale(first), decimal_scale(second)
    return total if None in scales else snapped(total, max(s for s in scales if s is not None))


def multiply(first: Vector, second: Vector) -> Vector:
    """Entry by entry, short decimals staying short."""
    product = first * second
    if second.size == 1 and abs(second[0]) == 1:
        return product
    scales = decimal_scale(first), decimal_scale(second)
    return product if None in scales else snapped(product, sum(s for s in scales if s is not None))


def grouped_sums(groups: Integers, values: Vector, size: int) -> Vector:
    """Sum of the values of each group ``0 .. size-1``.

    Examples
    --------
    >>> grouped_sums(np.array([1, 1, 1]), np.array([1.0, -0.9, 0.0]), 2).tolist()
    [0.0, 0.1]
    """
    if values.size == 0:
        return np.zeros(size)
    scale = decimal_scale(values)
    if scale is not None:
        whole = np.rint(values * 10.0**scale)
        if np.abs(whole).max() * values.size < LARGEST or np.bincount(groups, np.abs(whole), size).max() < LARGEST:
            return np.bincount(groups, whole, size) / 10.0**scale
    order = np.lexsort((values, np.abs(values), groups))
    return np.asarray(np.bincount(groups[order], values[order], size), dtype=np.float64)


def matrix_from_triplets(
    rows: Integers,
    columns: Integers,
    values: Vector | None,
    shape: tuple[int, int],
    is_key: bool = False,
) -> SparseMatrix:
    """A CSR array with sorted columns, no zeros, and exact sums of entries that meet (none do, if ``is_key``).

    Examples
    --------
    >>> matrix_from_triplets(np.array([0, 0]), np.array([1, 1]), np.array([1.0, -0.9]), (1, 2)).toarray().tolist()
    [[0.0, 0.1]]
    """
    return block_from_triplets(rows, columns, values, shape, is_key).tocsr()


def block_from_triplets(
    rows: Integers,
    columns: Integers,
    values: Vector | None,
    shape: tuple[int, int],
    is_key: bool = False,
) -> RowBlock:
    """A block with sorted columns, no zeros, and exact sums of entries that meet; without values all are 1."""
    rows, columns = (np.ascontiguousarray(a, np.int32) for a in (rows, columns))
    values = None if values is None else np.ascontiguousarray(values, np.float64)
    starts, indices, data, has_double, has_zero = compiled.rows_from_triplets(rows, columns, values, shape)
    if has_double and not is_key:
        place = np.repeat(np.arange(shape[0]), np.diff(starts)) * np.int64(shape[1]) + indices
        is_new = np.concatenate([[True], np.diff(place) != 0])
        data = np.ones(indices.size) if data is None else data
        sums = grouped_sums(np.cumsum(is_new) - 1, data, int(is_new.sum()))
        starts = np.concatenate([[0], np.cumsum(is_new)])[starts].astype(np.int32)
        indices, data, has_zero = indices[is_new], sums, not sums.all()
    if has_zero:
        matrix = sparse.csr_array((data, indices, starts), shape=shape)
        matrix.eliminate_zeros()
        return RowBlock.of(matrix)
    return RowBlock(starts, indices, data, shape[1])


def scaled_block(block: RowBlock, factor: float) -> RowBlock:
    """The block, whose rows have no factors yet, times a number, short decimals staying short."""
    if factor == 1:
        return block
    if factor == 0:
        return RowBlock.of(sparse.csr_array(block.shape))
    data = np.full(block.indices.size, factor) if block.data is None else multiply(block.data, np.full(1, factor))
    return replace(block, data=data)


def block_with_scale(block: RowBlock, scale: Vector, factor: float) -> RowBlock:
    """Each row of a block times its own number and a common one, short decimals staying short.

    The products are left to whoever writes the rows where they are exact: for values or factors of size 1.
    """
    scale = multiply(scale, np.full(1, factor)) if factor != 1 else scale
    is_unit = bool((np.abs(scale) == 1).all())
    if is_unit or (block.data is None and bool(scale.all())):
        return replace(block, scale=scale)
    matrix = block.tocsr()
    scales = decimal_scale(matrix.data), decimal_scale(scale)
    matrix.data = matrix.data * np.repeat(scale, np.diff(matrix.indptr))
    if None not in scales:
        matrix.data = snapped(matrix.data, sum(s for s in scales if s is not None))
    return RowBlock.of(canonical(matrix))


def canonical(matrix: SparseMatrix) -> SparseMatrix:
    """Sorted columns, no stored zeros; the array must not have two entries in one place."""
    matrix.sort_indices()
    if matrix.nnz and not matrix.data.all():
        matrix.eliminate_zeros()
    matrix.has_canonical_format = True
    return matrix


def gram(first: SparseMatrix, second: SparseMatrix, weights: Vector, limit: int | None = None) -> SparseMatrix:
    """``first' diag(weights) second`` for sparse factors, exact where the numbers are short decimals.

    The whole numbers behind the decimals are multiplied; by the inequality of Cauchy and Schwarz no partial sum is
    larger than the largest diagonal entries, so these decide whether that is exact.

    Raises
    ------
    SizeLimitError
        If a single row gives more products than the limit, all of which have a place of their own.
    """
    products = np.diff(first.indptr).astype(np.int64) * np.diff(second.indptr)
    widest = int(products.max(initial=0))
    if limit is not None and widest > limit:
        raise SizeLimitError(
            f"one square has {widest:,} products of unknowns; the limit is {limit:,}.",
            "Name the sum by an unknown of its own, equal to it, and square that.",
            rows=widest,
            limit=limit,
        )
    scales = [decimal_scale(first.data), decimal_scale(second.data), decimal_scale(weights)]
    if None not in scales:
        a, b, c = (s for s in scales if s is not None)
        whole_first, whole_second = (_whole(first, a), _whole(second, b))
        whole_weights = np.rint(weights * 10.0**c)
        if a + b + c <= 22 and max(_largest(m, whole_weights) for m in (whole_first, whole_second)) < LARGEST:
            whole: SparseMatrix = (whole_first.T @ sparse.diags_array(whole_weights) @ whole_second).tocsr()
            whole.data /= 10.0 ** (a + b + c)
            return whole
    product: SparseMatrix = (first.T @ sparse.diags_array(weights) @ second).tocsr()
    return product


def _whole(matrix: SparseMatrix, scale: int) -> SparseMatrix:
    whole = matrix.copy()
    whole.data = np.rint(matrix.data * 10.0**scale)
    return whole


def _largest(matrix: SparseMatrix, weights: Vector) -> float:
    squares = matrix.copy()
    squares.data = matrix.data**2
    sums = squares.T @ np.abs(weights)
    return float(sums.max()) if sums.size else 0.0
