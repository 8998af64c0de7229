r"""Norms of one quadratic form, written with its symmetric factor.

A cone :math:`\|W \hat x\| \le h` with :math:`\hat x = (x, 1)` depends on :math:`G = W^\top W` alone: any W with this
Gram matrix will do. A Cholesky factor or the factor loadings of a risk model hide the symmetry of G; its symmetric root
:math:`R = G^{1/2}` does not: :math:`XG = GX` implies :math:`XR = RX`, so its rows can be merged like the variables. The
cone is taken as :math:`\|R \hat x\| \le h`.

The singular value decomposition :math:`W = U S V^\top` gives :math:`R = V S V^\top` without squaring W; cones of equal
shapes are decomposed together. A tall W (many residuals of few variables) is first made square by a QR decomposition,
and R has as many rows as W has columns: that alone is a gain.

The inverse: :math:`W = QR` with the partial isometry :math:`Q = U V^\top`. A dual value :math:`v'` of the new tails
gives :math:`v = Q v'` of the old ones: :math:`W^\top Q v' = R v'`, and :math:`\|Q v'\| \le \|v'\|`. Entries of R
that differ in their last digits only are made equal; the answer is checked on the problem as CVXPY compiled it. The
gain (``python -m benchmarks.shortcuts``): 400 alike assets behind a Cholesky factor become 2 variables in half the time
(60 assets lose 5 ms), and a norm of 4,000 rows is solved 5 times as fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Double, Flags, Indices, Integers, SparseMatrix, Vector
from relift.bridges.cvxpy.hidden_quadratics import DIGITS, FILL
from relift.program.cones import Cone, SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution
from relift.symmetry.snapping import snap_values

WORK = 1e9
"""Roots are taken as long as they need fewer multiplications than this, about a second: the rest stays as it is."""


@final
@dataclass(frozen=True, eq=False)
class TurnedNorms:
    """Cones of one shape whose factors were replaced.

    Parameters
    ----------
    old, new
        The first row of each before and after.
    isometries
        Q of each, old tails times new tails.
    """

    old: Indices
    new: Indices
    isometries: Double

    @property
    def old_tails(self) -> Indices:
        """Rows of the tails before, one line for each cone."""
        return self.old[:, None] + np.arange(1, 1 + self.isometries.shape[1])

    @property
    def new_tails(self) -> Indices:
        """Rows of the tails after, one line for each cone."""
        return self.new[:, None] + np.arange(1, 1 + self.isometries.shape[2])


@final
@dataclass(frozen=True, eq=False)
class HiddenNorms:
    """A program with symmetric factors in its second-order cones, and the way to return.

    Parameters
    ----------
    source
        The program as it was.
    program
        The program with other tails.
    norms
        The cones that changed, by their shapes.
    old_rows
        The conic rows that did not; they come first now.
    """

    source: Program
    program: Program
    norms: tuple[TurnedNorms, ...]
    old_rows: Indices

    def __len__(self) -> int:
        return sum(norms.old.size for norms in self.norms)

    @property
    def kept(self) -> Indices:
        """The variables that the program before this step has: all of them."""
        return np.arange(self.source.n_variables)

    def expand(self, answer: Solution) -> Solution:
        """From dual values of the new tails to those of the old ones."""
        if answer.v is None:
            return answer
        v = np.zeros(self.source.conic.n_rows)
        v[self.old_rows] = answer.v[: self.old_rows.size]
        for norms in self.norms:
            v[norms.old] = answer.v[norms.new]
            v[norms.old_tails] = (norms.isometries @ answer.v[norms.new_tails][:, :, None])[:, :, 0]
        return replace(answer, v=v)

    def restrict(self, solution: Solution) -> Solution:
        """Turn the dual values of the old tails into those of the new ones, v' = Q'v; the point stays."""
        if solution.v is None:
            return solution
        v = np.zeros(self.program.conic.n_rows)
        v[: self.old_rows.size] = solution.v[self.old_rows]
        for norms in self.norms:
            v[norms.new] = solution.v[norms.old]
            v[norms.new_tails] = (solution.v[norms.old_tails][:, None, :] @ norms.isometries)[:, 0, :]
        return replace(solution, v=v)


def find_norms(program: Program, chosen: Indices | None = None) -> HiddenNorms | None:
    """Replace the factors in second-order cones by symmetric ones; None if there is none to replace.

    Parameters
    ----------
    program
        A minimisation with conic rows.
    chosen
        Numbers of the cones to look at, among :func:`norm_candidates`; None for all.

    Examples
    --------
    The rows (1, 1) and (0, 1) have the Gram matrix [[1, 1], [1, 2]]:

    >>> cone = ConicRows([[0, 0, -1], [-1, -1, 0], [0, -1, 0]], np.zeros(3), [SecondOrder(3)])
    >>> hidden = find_norms(Program(q=[0, 0, 1], conic=cone))
    >>> R = -hidden.program.conic.A.toarray()[1:, :2]
    >>> (R @ R).round(9).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    rows = program.conic
    roots = _roots(_affordable(_read_factors(rows, norm_candidates(rows) if chosen is None else chosen)))
    if not roots:
        return None
    is_left = np.ones(len(rows), bool)
    for one in roots:
        is_left[one.factors.cones] = False
    old_rows = np.flatnonzero(is_left[rows.cone_of_row])
    cones: list[Cone] = [rows.cones[k] for k in np.flatnonzero(is_left).tolist()]
    turned, first = [], old_rows.size
    for one in roots:
        cone, number = SecondOrder(1 + one.R.shape[1]), one.factors.cones.size
        cones += [cone] * number
        turned.append(TurnedNorms(rows.starts[one.factors.cones], first + cone.size * np.arange(number), one.Q))
        first += cone.size * number
    A, b = _new_rows(rows, old_rows, roots, turned, first)
    return HiddenNorms(program, _with_cones(program, A, b, cones), tuple(turned), old_rows)


def _new_rows(
    rows: ConicRows, old_rows: Indices, roots: Sequence[_Roots], turned: Sequence[TurnedNorms], n_rows: int
) -> tuple[SparseMatrix, Vector]:
    """The rows that stay, then a head and the new tails for each norm."""
    b = np.zeros(n_rows)
    b[: old_rows.size] = rows.b[old_rows]
    row, column, value = [], [], []

    def take(entries: SparseMatrix, to: Indices) -> None:
        listed = entries.tocoo()
        row.append(to[listed.coords[0]])
        column.append(listed.coords[1])
        value.append(listed.data)

    take(rows.A[old_rows], np.arange(old_rows.size))
    for one, norms in zip(roots, turned, strict=True):
        take(rows.A[norms.old], norms.new)
        b[norms.new] = rows.b[norms.old]
        columns, tails = one.factors.columns, norms.new_tails
        at = np.nonzero(one.R[:, :, : columns.shape[1]])
        row.append(tails[at[0], at[1]])
        column.append(columns[at[0], at[2]])
        value.append(one.R[at])
        if one.factors.has_offset:
            b[tails] = -one.R[:, :, -1]
    parts = (np.concatenate(value), (np.concatenate(row), np.concatenate(column)))
    return sparse.coo_array(parts, shape=(n_rows, rows.n_variables)).tocsr(), b


def norm_candidates(rows: ConicRows) -> Indices:
    """Second-order cones with a tail that is more than one term: only then a factor can hide something."""
    layout = rows.layout
    entries = np.diff(rows.A.indptr)[layout.tails] + (rows.b[layout.tails] != 0)
    most = np.zeros(layout.second_order.size, np.int64)
    np.maximum.at(most, layout.tail_owner, entries)
    return layout.second_order[most > 1]


@final
@dataclass(frozen=True, eq=False)
class _Factors:
    """The tails of cones of one shape, each a dense matrix of the columns that they touch, and of their offsets.

    Parameters
    ----------
    cones
        Their numbers.
    columns
        What each touches.
    W
        The matrices, with the negated offsets as their last columns if there are any.
    has_offset
        Whether there are.
    """

    cones: Indices
    columns: Indices
    W: Double
    has_offset: bool

    @property
    def cost(self) -> float:
        """Multiplications that the decomposition of one of them takes."""
        height, width = self.W.shape[1:]
        return float(height * width * min(height, width))

    def of(self, some: Flags) -> _Factors:
        """Some of them."""
        return _Factors(self.cones[some], self.columns[some], self.W[some], self.has_offset)


def _read_factors(rows: ConicRows, cones: Indices) -> list[_Factors]:
    """The factors of cones, without those whose new tails would have many more entries."""
    starts, sizes, offsets = rows.starts[cones] + 1, rows.sizes[cones] - 1, rows.A.indptr
    n_entries = offsets[starts + sizes] - offsets[starts]
    n_before = np.concatenate([[0], np.cumsum(rows.b != 0)])
    n_given = n_before[starts + sizes] - n_before[starts]
    found: list[_Factors] = []
    for (size, n_each, has_offset), some in _groups(sizes, n_entries, n_given > 0):
        if n_each or has_offset:
            found += _of_one_length(rows, cones[some], n_given[some], size, n_each, bool(has_offset))
    return found


def _of_one_length(
    rows: ConicRows, cones: Indices, n_given: Indices, size: int, n_entries: int, has_offset: bool
) -> Iterator[_Factors]:
    """The factors of cones with equally many tails and entries, by the number of columns that they touch."""
    A, starts = rows.A, rows.starts[cones] + 1
    offsets = A.indptr[starts[:, None] + np.arange(size + 1)].astype(np.int64)
    tail = np.repeat(np.tile(np.arange(size), cones.size), np.diff(offsets, axis=1).ravel()).reshape(-1, n_entries)
    at = offsets[:, :1] + np.arange(n_entries)
    order = np.argsort(A.indices[at], axis=1, kind="stable")
    ordered = np.take_along_axis(A.indices[at], order, axis=1).astype(np.int64)
    is_first = np.ones(ordered.shape, bool)
    is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    place = np.empty(ordered.shape, np.int64)
    np.put_along_axis(place, order, np.cumsum(is_first, axis=1) - 1, axis=1)
    widths = is_first.sum(axis=1)
    is_worth = (widths + has_offset) ** 2 <= FILL * (n_entries + n_given) + 1000
    for (width,), some in _groups(np.where(is_worth, widths, -1)):
        if width < 0:
            continue
        W = np.zeros((some.size, size, width + has_offset))
        W[np.arange(some.size)[:, None], tail[some], place[some]] = A.data[at[some]]
        if has_offset:
            W[:, :, -1] = -rows.b[starts[some, None] + np.arange(size)]
        yield _Factors(cones[some], ordered[some][is_first[some]].reshape(-1, width), W, has_offset)


def _groups(*keys: Integers) -> Iterator[tuple[tuple[int, ...], Indices]]:
    """The places of each combination of keys that occurs."""
    order = np.lexsort(keys[::-1])
    table = np.array([key[order] for key in keys])
    starts = np.flatnonzero(np.concatenate([[True], np.any(table[:, 1:] != table[:, :-1], axis=0)])[: order.size])
    for first, some in zip(starts.tolist(), np.split(order, starts[1:]), strict=False):
        yield tuple(table[:, first].tolist()), np.sort(some)


def _affordable(factors: Sequence[_Factors]) -> list[_Factors]:
    """As many, in the order of the cones, as their decompositions may cost."""
    if sum(one.cost * one.cones.size for one in factors) <= WORK:
        return list(factors)
    cones = np.concatenate([one.cones for one in factors])
    order = np.argsort(cones)
    costs = np.cumsum(np.concatenate([np.full(one.cones.size, one.cost) for one in factors])[order])
    taken = cones[order][costs <= WORK]
    some = [one.of(np.isin(one.cones, taken)) for one in factors]
    return [one for one in some if one.cones.size]


@final
@dataclass(frozen=True, eq=False)
class _Roots:
    """The symmetric roots of factors of one shape, with their isometries."""

    factors: _Factors
    R: Double
    Q: Double


def _roots(factors: Sequence[_Factors]) -> list[_Roots]:
    """The symmetric roots, without those that are 0; numbers that nearly agree, in any of them, are made equal."""
    found = []
    for one in factors:
        R, Q = _symmetric_roots(one.W)
        some = np.any(R != 0, axis=(1, 2))
        if some.any():
            found.append(_Roots(one.of(some), R[some], Q[some]))
    if not found:
        return []
    numbers, _ = snap_values(np.concatenate([one.R.ravel() for one in found]), DIGITS)
    parts = np.split(numbers, np.cumsum([one.R.size for one in found])[:-1])
    return [replace(one, R=part.reshape(one.R.shape)) for one, part in zip(found, parts, strict=True)]


def _symmetric_roots(W: Double) -> tuple[Double, Double]:
    """R with RR = W'W, and Q with W = QR, for a stack of matrices."""
    tall = None
    if W.shape[1] > 2 * W.shape[2]:
        tall, W = np.linalg.qr(W)
    U, S, Vt = np.linalg.svd(W, full_matrices=False)
    least = 1e-13 * S.max(axis=1, keepdims=True)
    S[least >= S] = 0.0
    V = np.swapaxes(Vt, 1, 2)
    R = (V * S[:, None, :]) @ Vt
    R = (R + np.swapaxes(R, 1, 2)) / 2
    R[np.abs(R) <= 10.0**-DIGITS * np.abs(R).max(axis=(1, 2), keepdims=True)] = 0.0
    Q = (U * (S > 0)[:, None, :]) @ Vt
    return R, Q if tall is None else tall @ Q


def _with_cones(program: Program, A: SparseMatrix, b: Vector, cones: list[Cone]) -> Program:
    return Program.trusted(
        program.P, program.q, program.A, program.l, program.u, program.lb, program.ub, program.r,
        quadratic=program.quadratic, conic=ConicRows.trusted(A, b, cones),
    )  # fmt: skip
