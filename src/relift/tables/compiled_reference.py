"""The functions of :mod:`relift.tables.compiled` in NumPy: slower, obvious, and used where there is no compiler."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Indices, RowKeys, RowNumbers, Vector

if TYPE_CHECKING:
    from relift.tables.compiled import Step

CompressedRows: TypeAlias = tuple[RowNumbers, RowNumbers, Vector | None]
"""Starts of rows, columns, and values (None: all are 1)."""


def group(keys: RowKeys) -> tuple[RowNumbers, RowNumbers]:
    """Numbers in the order in which the keys come, and the first row of each."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return rank[inverse], first[order].astype(np.int32)


def join(left: RowKeys, right: RowKeys, keep_all: bool, most: int) -> int | tuple[RowNumbers | None, RowNumbers]:
    """Pairs of rows with equal keys, in the order of the left rows and then of the right ones."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    begin, end = np.searchsorted(ordered, left, "left"), np.searchsorted(ordered, left, "right")
    counts = end - begin
    lengths = np.maximum(counts, 1) if keep_all else counts
    total = int(lengths.sum())
    if total > most:
        return total
    rows = np.repeat(np.arange(left.size), lengths)
    within = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    has_partner = counts[rows] > 0
    partners = np.full(total, -1, np.int32)
    partners[has_partner] = order[(begin[rows] + within)[has_partner]]
    is_whole = total == left.size and bool((lengths == 1).all())
    return (None if is_whole else rows.astype(np.int32)), partners


_COMPARE = (operator.ne, operator.eq, operator.lt, operator.le)


def closure(
    sets: Sequence[NDArray[np.int64]], steps: Sequence[Step], most: int
) -> tuple[list[NDArray[np.int64]], list[int]] | None:
    """All tuples that follow by steps, by Python's own sets."""
    known = [dict.fromkeys(map(tuple, s.tolist())) for s in sets]
    waiting = [(k, t) for k, found in enumerate(known) for t in found]
    matches = [0] * len(steps)
    for k, found in waiting:
        for number, step in enumerate(steps):
            if step.source != k:
                continue
            for row in step.rest.tolist():
                if any(found[a] != row[b] for a, b in step.on.reshape(-1, 2)):
                    continue
                tests = step.tests.reshape(-1, 3).tolist()
                if not all(_COMPARE[kind](_at(a, found, row), _at(b, found, row)) for kind, a, b in tests):
                    continue
                matches[number] += 1
                head = tuple(_at(place, found, row) for place in step.outputs)
                if head not in known[step.target]:
                    known[step.target][head] = None
                    waiting.append((step.target, head))
        if any(len(found) > most for found in known):
            return None
    shaped = [np.array([*found], np.int64).reshape(-1, s.shape[1]) for found, s in zip(known, sets, strict=True)]
    return shaped, matches


def _at(place: int, found: Sequence[int], row: Sequence[int]) -> int:
    return found[place] if place >= 0 else row[-1 - place]


def rows_from_triplets(
    rows: RowNumbers, columns: RowNumbers, values: NDArray[np.float64] | None, shape: tuple[int, int]
) -> tuple[RowNumbers, RowNumbers, NDArray[np.float64] | None, bool, bool]:
    """Compressed rows with sorted columns."""
    order = np.lexsort((columns, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(np.int32)
    place = rows[order].astype(np.int64) * shape[1] + columns[order]
    has_zero = values is not None and not values.all()
    data = None if values is None else values[order]
    return starts, columns[order], data, bool((np.diff(place) == 0).any()), has_zero


def place_rows(
    block: CompressedRows,
    of_row: RowNumbers | None,
    scale: NDArray[np.float64] | None,
    first_column: int,
    into: tuple[Indices, RowNumbers, Vector],
) -> None:
    """Write rows of a block, and move what says where each row goes on."""
    next_place, indices, data = into
    starts, block_indices, block_data = block
    for i in range(next_place.size):
        row = i if of_row is None else of_row[i]
        part = slice(starts[row], starts[row + 1])
        size = int(starts[row + 1] - starts[row])
        to = slice(next_place[i], next_place[i] + size)
        indices[to] = block_indices[part] + first_column
        data[to] = (1.0 if scale is None else scale[i]) * (1.0 if block_data is None else block_data[part])
        next_place[i] += size
