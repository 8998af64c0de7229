"""The compiled functions of the engine in memory and of filling matrices, or NumPy where there is no compiler.

Keys are 64-bit integers, rows are numbered by 32 bits. ``CORE_IS_COMPILED`` says which of the two runs; the tests
compare them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells, Indices, RowKeys, RowNumbers, Vector
from relift.tables import compiled_reference as reference
from relift.tables.compiled_reference import CompressedRows

try:
    from relift import _tables_core as core

    CORE_IS_COMPILED = True
except ImportError:  # pragma: no cover - depends on the install
    CORE_IS_COMPILED = False


def group(keys: RowKeys) -> tuple[RowNumbers, RowNumbers]:
    """Equal keys get equal numbers, in the order in which they come; and the first row of each number.

    Examples
    --------
    >>> [part.tolist() for part in group(np.array([7, 3, 7]))]
    [[0, 1, 0], [0, 1]]
    """
    if not CORE_IS_COMPILED:
        return reference.group(keys)
    numbers, first = np.empty(keys.size, np.int32), np.empty(keys.size, np.int32)
    size = core.group(keys, numbers, first)
    return numbers, first[:size]


def all_distinct(keys: RowKeys) -> bool:
    """Whether no key comes twice."""
    return core.all_distinct(keys) if CORE_IS_COMPILED else np.unique(keys).size == keys.size


def contains(keys: RowKeys, among: RowKeys) -> NDArray[np.bool_]:
    """Which keys are among others."""
    if not CORE_IS_COMPILED:
        return np.isin(keys, among)
    found = np.empty(keys.size, np.bool_)
    core.contains(keys, among, found)
    return found


def join(left: RowKeys, right: RowKeys, keep_all: bool, most: int) -> int | tuple[RowNumbers | None, RowNumbers]:
    """Pairs of rows with equal keys, in the order of the left rows; only their number if there are more than `most`.

    With ``keep_all`` a left row without partner has the right row -1. The left rows are None if they are 0, 1, 2, ...

    Examples
    --------
    >>> left, right = join(np.array([5, 6, 5]), np.array([5, 7]), False, 10)
    >>> left.tolist(), right.tolist()
    ([0, 2], [0, 0])
    """
    if not CORE_IS_COMPILED:
        return reference.join(left, right, keep_all, most)
    found = core.join(left, right, keep_all, most)
    if isinstance(found, int):
        return found
    first, second = found
    return (None if first is None else np.frombuffer(first, np.int32)), np.frombuffer(second, np.int32)


def gather(values: Cells, rows: Cells) -> Cells:
    """The values of some rows; zero for the row -1."""
    if not CORE_IS_COMPILED or rows.dtype != np.int32 or not values.flags.c_contiguous:
        return (
            np.where(rows < 0, values.dtype.type(0), values[rows]) if values.size else np.zeros(rows.size, values.dtype)
        )
    found = np.empty(rows.size, values.dtype)
    core.gather(values, rows, found)
    return found


def sorted_rows(keys: RowKeys) -> RowNumbers:
    """The rows in the order of their keys; equal keys keep their order."""
    if not CORE_IS_COMPILED:
        return np.argsort(keys, kind="stable").astype(np.int32)
    rows = np.empty(keys.size, np.int32)
    core.sorted_rows(keys, rows)
    return rows


@final
@dataclass(frozen=True, eq=False)
class Step:
    """A rule with one recursive atom, over whole numbers.

    A place from 0 on is a column of the recursive tuple, place p below 0 the column -1 - p of the rest.

    Parameters
    ----------
    source, target
        Numbers of the predicates of the recursive atom and of the head.
    rest
        All rows of what stands in the rule besides the recursive atom, at least one column wide.
    on
        Pairs of columns of the tuple and of the rest that must agree.
    outputs
        The place of each argument of the head.
    tests
        Triples: a comparison by its place in ``("!=", "=", "<", "<=")``, and two places.
    """

    source: int
    target: int
    rest: NDArray[np.int64]
    on: NDArray[np.int32]
    outputs: NDArray[np.int32]
    tests: NDArray[np.int32]


def closure(
    sets: Sequence[NDArray[np.int64]], steps: Sequence[Step], most: int
) -> tuple[list[NDArray[np.int64]], list[int]] | None:
    """All tuples that follow from given ones by steps, each once; None if a predicate has more than `most` of them.

    Parameters
    ----------
    sets
        For each predicate its tuples, one in each row.
    steps
        The rules.
    most
        When to give up.

    Returns
    -------
    sets
        For each predicate all its tuples, those given first.
    matches
        How often each step applied.

    Examples
    --------
    >>> edges, none = np.array([[1, 2], [2, 3]]), np.empty(0, np.int32)
    >>> step = Step(0, 0, edges, np.array([1, 0], np.int32), np.array([0, -2], np.int32), none)
    >>> found, matches = closure([edges], [step], 10)
    >>> found[0].tolist(), matches
    ([[1, 2], [2, 3], [1, 3]], [1])
    """
    if not CORE_IS_COMPILED:
        return reference.closure(sets, steps, most)
    given = tuple((np.ascontiguousarray(s, np.int64), s.shape[1]) for s in sets)
    words = tuple(
        (s.source, s.target, np.ascontiguousarray(s.rest, np.int64), s.rest.shape[1], s.on, s.outputs, s.tests)
        for s in steps
    )
    found = core.closure(given, words, most)
    if found is None:
        return None
    tuples, matches = found
    shaped = [np.frombuffer(t, np.int64).reshape(-1, s.shape[1]) for t, s in zip(tuples, sets, strict=True)]
    return shaped, list(matches)


@final
class TupleSet:
    """A growing set of tuples of whole numbers.

    Parameters
    ----------
    width
        How many numbers each has; at least one.

    Examples
    --------
    >>> known = TupleSet(2)
    >>> known.add(np.array([[1, 2], [1, 3], [1, 2]])).tolist(), known.add(np.array([[1, 3], [0, 0]])).tolist()
    ([True, True, False], [False, True])
    """

    def __init__(self, width: int) -> None:
        self._capsule = core.new_tuples(width) if CORE_IS_COMPILED else None
        self._known: set[tuple[int, ...]] = set()

    def add(self, tuples: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Add tuples, one in each row; which of them were not there."""
        is_new = np.empty(tuples.shape[0], np.bool_)
        if self._capsule is not None:
            core.add_tuples(self._capsule, np.ascontiguousarray(tuples, np.int64), is_new)
            return is_new
        for k, row in enumerate(map(tuple, tuples.tolist())):
            is_new[k] = row not in self._known
            self._known.add(row)
        return is_new


def rows_from_triplets(
    rows: RowNumbers, columns: RowNumbers, values: Vector | None, shape: tuple[int, int]
) -> tuple[RowNumbers, RowNumbers, Vector | None, bool, bool]:
    """Compressed rows with sorted columns: starts, columns, values; whether entries share a place; whether one is 0."""
    if not CORE_IS_COMPILED:
        return reference.rows_from_triplets(rows, columns, values, shape)
    starts, indices = np.empty(shape[0] + 1, np.int32), np.empty(rows.size, np.int32)
    data = None if values is None else np.empty(rows.size)
    has_double, has_zero = core.rows_from_triplets(rows, columns, values, shape[1], starts, indices, data)
    return starts, indices, data, has_double, has_zero


def place_rows(
    block: CompressedRows,
    of_row: RowNumbers | None,
    scale: Vector | None,
    first_column: int,
    into: tuple[Indices, RowNumbers, Vector],
) -> None:
    """Write rows of a block into a larger matrix.

    Parameters
    ----------
    block
        Starts of rows, columns, and values (None: all are 1) of compressed rows.
    of_row
        The row of the block to write for each row of the matrix; None for the row itself.
    scale
        A factor for each row of the matrix.
    first_column
        Where the block begins.
    into
        For each row of the matrix the place of its next entry (which is moved on), its columns and its values.
    """
    if not CORE_IS_COMPILED:
        reference.place_rows(block, of_row, scale, first_column, into)
        return
    starts, indices, data = block
    core.place_rows(starts, indices, data, of_row, scale, first_column, *into)
