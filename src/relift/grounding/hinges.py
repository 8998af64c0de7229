r"""Exact presolve of hinge terms: what bounds and equal terms decide is not left to a solver.

Hinges :math:`w_k \max(0, e_k)^{p_k}` with :math:`e_k = b_k^\top x + d_k`, positive weights and bounds of the unknowns:

- one without unknowns is a number;
- one whose :math:`e_k` is never positive within the bounds is 0;
- one whose :math:`e_k` is never negative is the line :math:`w e` or the square :math:`w e^2`;
- equal ones are one, with the sum of their weights;
- :math:`e` and :math:`-e` together are :math:`u \max(0, e) + v \max(0, -e) = (u + v) \max(0, e) - v e`, and squared,
  with u >= v, :math:`v e^2 + (u - v) \max(0, e)^2`.

An absolute value is the hinge of e and that of -e. Squares of long sums stay hinges, since all pairs of their unknowns
would become quadratic entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Hashes, Indices, SparseMatrix, Vector
from relift.grounding import exact

SHORT = 8
"""A sum of at most so many unknowns is squared entry by entry."""


@final
@dataclass(frozen=True, eq=False)
class Hinges:
    """Terms ``weights * max(0, Bx + d)**power``.

    Parameters
    ----------
    B, d
        The sums, one in each row: a CSR array with sorted columns and no zeros, and constants.
    weights
        Positive numbers.
    power
        1 or 2 for each.
    origin
        A number for each that says where it comes from.
    """

    B: SparseMatrix
    d: Vector
    weights: Vector
    power: NDArray[np.int8]
    origin: Indices

    def __len__(self) -> int:
        return int(self.d.size)

    def take(self, rows: Indices) -> Hinges:
        """Some of them."""
        return Hinges(self.B[rows], self.d[rows], self.weights[rows], self.power[rows], self.origin[rows])


@final
@dataclass(frozen=True, eq=False)
class Presolved:
    """What is left of hinges, and what has become of the others.

    Parameters
    ----------
    hinges
        Those that are left.
    lines, squares
        Sums that count with their weight as they are, or squared (their `power` means nothing).
    constant
        The value of those without unknowns.
    given, never, always, merged
        How many there were, how many of them are never positive, never negative, and how many others have gone into
        equal or opposite ones.
    """

    hinges: Hinges
    lines: Hinges
    squares: Hinges
    constant: float
    given: int
    n_constant: int
    never: int
    always: int
    merged: int

    def __str__(self) -> str:
        return (
            f"{self.given:,} hinges: {self.n_constant:,} without unknowns, {self.never:,} never positive, "
            f"{self.always:,} never negative, {self.merged:,} merged, {len(self.hinges):,} left"
        )


def presolve(hinges: Hinges, lower: Vector, upper: Vector) -> Presolved:
    """Take out all that bounds and other hinges decide.

    Parameters
    ----------
    hinges
        The terms.
    lower, upper
        Bounds of the unknowns.

    Examples
    --------
    >>> B = sparse.csr_array([[1.0, -1.0], [-1.0, 1.0], [1.0, 0.0], [-1.0, -1.0]])
    >>> given = Hinges(B, np.zeros(4), np.ones(4), np.full(4, 2, np.int8), np.arange(4))
    >>> found = presolve(given, np.zeros(2), np.ones(2))
    >>> print(found)
    4 hinges: 0 without unknowns, 1 never positive, 1 never negative, 2 merged, 0 left
    >>> found.squares.B.toarray().tolist()
    [[1.0, 0.0], [1.0, -1.0]]
    """
    counts = np.diff(hinges.B.indptr)
    least, most = _range(hinges, lower, upper)
    is_constant = counts == 0
    is_never = ~is_constant & (most <= 0)
    is_always = ~is_constant & ~is_never & (least >= 0) & ((hinges.power == 1) | (counts <= SHORT))
    numbers = hinges.take(np.flatnonzero(is_constant))
    above = np.maximum(numbers.d, 0.0)
    values = exact.multiply(numbers.weights, np.where(numbers.power == 2, exact.multiply(above, above), above))
    constant = float(exact.grouped_sums(np.zeros(values.size, np.int64), values, 1)[0])
    certain = hinges.take(np.flatnonzero(is_always))
    left = hinges.take(np.flatnonzero(~(is_constant | is_never | is_always)))
    kept, lines, squares = _paired(left)
    return Presolved(
        kept,
        _joined([certain.take(np.flatnonzero(certain.power == 1)), lines]),
        _joined([certain.take(np.flatnonzero(certain.power == 2)), squares]),
        constant,
        len(hinges),
        int(is_constant.sum()),
        int(is_never.sum()),
        len(certain),
        len(left) - len(kept),
    )


def _range(hinges: Hinges, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """The least and the largest value that each sum can have."""
    B = hinges.B
    row = np.repeat(np.arange(len(hinges)), np.diff(B.indptr))
    is_positive = B.data > 0
    ends = []
    for up in (False, True):
        bound = np.where(is_positive == up, upper[B.indices], lower[B.indices])
        is_finite = np.isfinite(bound)
        sums = exact.grouped_sums(row, exact.multiply(B.data, np.where(is_finite, bound, 0.0)), len(hinges))
        total = exact.add(sums, hinges.d)
        total[row[~is_finite]] = np.inf if up else -np.inf
        ends.append(total)
    return ends[0], ends[1]


def _paired(hinges: Hinges) -> tuple[Hinges, Hinges, Hinges]:
    """Equal and opposite hinges as one; with the lines and squares that this gives."""
    nothing = hinges.take(np.empty(0, np.int64))
    if not len(hinges):
        return nothing, nothing, nothing
    first = hinges.B.data[hinges.B.indptr[:-1]]
    sign = np.where(first > 0, 1.0, -1.0)
    lengths = np.diff(hinges.B.indptr)
    turned = hinges.B.copy()
    turned.data = turned.data * np.repeat(sign, lengths)
    number, chosen = _groups(turned, sign * hinges.d + 0.0, hinges.power)
    size = chosen.size
    weights = [exact.grouped_sums(number[sign == side], hinges.weights[sign == side], size) for side in (1.0, -1.0)]
    ahead, behind = weights
    sums = Hinges(
        turned[chosen], (sign * hinges.d + 0.0)[chosen], np.ones(size), hinges.power[chosen], hinges.origin[chosen]
    )
    is_line = (sums.power == 1) & (ahead > 0) & (behind > 0)
    is_square = (sums.power == 2) & (ahead > 0) & (behind > 0) & (lengths[chosen] <= SHORT)
    common = np.minimum(ahead, behind)
    lines = _weighted(sums, np.flatnonzero(is_line), -behind)
    squares = _weighted(sums, np.flatnonzero(is_square), common)
    forwards = np.where(is_line, exact.add(ahead, behind), np.where(is_square, exact.add(ahead, -common), ahead))
    backwards = np.where(is_line, 0.0, np.where(is_square, exact.add(behind, -common), behind))
    kept = [_weighted(sums, np.flatnonzero(forwards > 0), forwards)]
    kept.append(_opposite(_weighted(sums, np.flatnonzero(backwards > 0), backwards)))
    both = _joined(kept)
    order = np.argsort(both.origin, kind="stable")
    return both.take(order), lines, squares


def _groups(B: SparseMatrix, d: Vector, power: NDArray[np.int8]) -> tuple[Indices, Indices]:
    """Numbers that are equal exactly where rows are, and the first row of each number.

    Rows are told apart by hashes; rows of one hash are compared with the first of them, and where two differ, all rows
    of that hash stay apart.
    """
    lengths = np.diff(B.indptr)
    words: Hashes = _mixed(_mixed(B.indices.astype(np.uint64)) ^ B.data.view(np.uint64))
    sums: Hashes = np.zeros(d.size, np.uint64)
    if words.size:
        sums = np.add.reduceat(words, B.indptr[:-1])
    shapes: Hashes = (lengths.astype(np.uint64) << np.uint64(8)) + power.astype(np.uint64)
    key = _mixed(sums + _mixed(d.view(np.uint64)) + _mixed(shapes))
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    twin = first[number]
    same = (lengths == lengths[twin]) & (d == d[twin]) & (power == power[twin])
    position = np.arange(B.indices.size) - np.repeat(B.indptr[:-1], lengths)
    other = np.minimum(np.repeat(B.indptr[twin], lengths) + position, max(B.indices.size - 1, 0))
    differs = (B.indices != B.indices[other]) | (B.data != B.data[other])
    same &= np.bincount(np.repeat(np.arange(d.size), lengths), differs, d.size) == 0
    if not same.all():
        clash = np.isin(number, number[~same])
        number = np.where(clash, first.size + np.arange(d.size), number)
        _, first, number = np.unique(number, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return rank[number], first[order].astype(np.int64)


def _mixed(words: Hashes) -> Hashes:
    """Words whose bits all depend on all bits of others (the finaliser of SplitMix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _weighted(sums: Hinges, rows: Indices, weights: Vector) -> Hinges:
    found = sums.take(rows)
    return Hinges(found.B, found.d, weights[rows], found.power, found.origin)


def _opposite(hinges: Hinges) -> Hinges:
    B = hinges.B.copy()
    B.data = -B.data
    return Hinges(B, -hinges.d + 0.0, hinges.weights, hinges.power, hinges.origin)


def _joined(parts: list[Hinges]) -> Hinges:
    some = [part for part in parts if len(part)] or parts[:1]
    if len(some) == 1:
        return some[0]
    return Hinges(
        sparse.vstack([part.B for part in some], format="csr"),
        np.concatenate([part.d for part in some]),
        np.concatenate([part.weights for part in some]),
        np.concatenate([part.power for part in some]),
        np.concatenate([part.origin for part in some]),
    )
