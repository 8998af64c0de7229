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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Double, Indices, Integers, Matrix, SparseMatrix, Vector
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
class TurnedNorm:
    """One cone whose factor was replaced.

    Parameters
    ----------
    old, new
        Its first row before and after.
    isometry
        Q, old tails times new tails.
    """

    old: int
    new: int
    isometry: Matrix


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
        The cones that changed.
    old_rows
        The conic rows that did not; they come first now.
    """

    source: Program
    program: Program
    norms: tuple[TurnedNorm, ...]
    old_rows: Indices

    def __len__(self) -> int:
        return len(self.norms)

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
        for norm in self.norms:
            n_old, n_new = norm.isometry.shape
            v[norm.old] = answer.v[norm.new]
            v[norm.old + 1 : norm.old + 1 + n_old] = norm.isometry @ answer.v[norm.new + 1 : norm.new + 1 + n_new]
        return replace(answer, v=v)

    def restrict(self, solution: Solution) -> Solution:
        """Turn the dual values of the old tails into those of the new ones, v' = Q'v; the point stays."""
        if solution.v is None:
            return solution
        v = np.zeros(self.program.conic.n_rows)
        v[: self.old_rows.size] = solution.v[self.old_rows]
        for norm in self.norms:
            n_old, n_new = norm.isometry.shape
            v[norm.new] = solution.v[norm.old]
            v[norm.new + 1 : norm.new + 1 + n_new] = norm.isometry.T @ solution.v[norm.old + 1 : norm.old + 1 + n_old]
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
    factors = _affordable([_Factor.of(rows, k) for k in (norm_candidates(rows) if chosen is None else chosen).tolist()])
    norms = [(one, *root) for one, root in zip(factors, _roots(factors), strict=True) if root is not None]
    if not norms:
        return None
    is_left = np.ones(len(rows), bool)
    is_left[[one.cone for one, _, _ in norms]] = False
    old_rows = np.flatnonzero(is_left[rows.cone_of_row])
    cones: list[Cone] = [rows.cones[k] for k in np.flatnonzero(is_left).tolist()]
    cones += [SecondOrder(1 + R.shape[0]) for _, R, _ in norms]
    A, b, places = _new_rows(rows, old_rows, norms)
    turned = tuple(
        TurnedNorm(int(rows.starts[one.cone]), place, Q) for (one, _, Q), place in zip(norms, places, strict=True)
    )
    return HiddenNorms(program, _with_cones(program, A, b, cones), turned, old_rows)


def _new_rows(
    rows: ConicRows, old_rows: Indices, norms: Sequence[tuple[_Factor, Matrix, Matrix]]
) -> tuple[SparseMatrix, Vector, list[int]]:
    """The rows that stay, then a head and the new tails for each norm; and where each of these begins."""
    heads = rows.A[np.array([rows.starts[one.cone] for one, _, _ in norms])]
    sizes = np.array([1 + R.shape[0] for _, R, _ in norms])
    starts = old_rows.size + np.cumsum(sizes) - sizes
    b = np.concatenate([rows.b[old_rows], np.zeros(int(sizes.sum()))])
    b[starts] = [rows.b[rows.starts[one.cone]] for one, _, _ in norms]
    entries = heads.tocoo()
    row: list[Integers] = [starts[entries.coords[0]]]
    column: list[Integers] = [entries.coords[1]]
    value: list[Vector] = [entries.data]
    for (one, R, _), start in zip(norms, starts.tolist(), strict=True):
        tails = R[:, : one.columns.size]
        at = np.nonzero(tails)
        row.append(start + 1 + at[0])
        column.append(one.columns[at[1]])
        value.append(tails[at])
        if one.has_offset:
            b[start + 1 : start + 1 + R.shape[0]] = -R[:, -1]
    old = rows.A[old_rows].tocoo()
    parts = (
        np.concatenate([old.data, *value]),
        (np.concatenate([old.coords[0], *row]), np.concatenate([old.coords[1], *column])),
    )
    return sparse.coo_array(parts, shape=(b.size, rows.n_variables)).tocsr(), b, starts.tolist()


def norm_candidates(rows: ConicRows) -> Indices:
    """Second-order cones with a tail that is more than one term: only then a factor can hide something."""
    layout = rows.layout
    entries = np.diff(rows.A.indptr)[layout.tails] + (rows.b[layout.tails] != 0)
    most = np.zeros(layout.second_order.size, np.int64)
    np.maximum.at(most, layout.tail_owner, entries)
    return layout.second_order[most > 1]


@final
@dataclass(frozen=True, eq=False)
class _Factor:
    """The tails of a cone as a dense matrix of the columns that they touch, and of their offsets if there are any.

    Parameters
    ----------
    cone
        Its number.
    columns
        What it touches.
    W
        The matrix, with the negated offsets as its last column.
    has_offset
        Whether there are offsets.
    is_worth
        Whether the new tails would not have many more entries.
    """

    cone: int
    columns: Indices
    W: Matrix
    has_offset: bool
    is_worth: bool

    @classmethod
    def of(cls, rows: ConicRows, cone: int) -> _Factor:
        """Read it from the rows."""
        A, start, size = rows.A, int(rows.starts[cone]) + 1, int(rows.sizes[cone]) - 1
        d = rows.b[start : start + size]
        first, last = int(A.indptr[start]), int(A.indptr[start + size])
        columns, place = np.unique(A.indices[first:last], return_inverse=True)
        has_offset = bool(d.any())
        width = columns.size + has_offset
        if not width or width**2 > FILL * (place.size + np.count_nonzero(d)) + 1000:
            return cls(cone, columns.astype(np.int64), np.zeros((0, 0)), has_offset, False)
        W = np.zeros((size, width))
        W[np.repeat(np.arange(size), np.diff(A.indptr[start : start + size + 1])), place] = A.data[first:last]
        if has_offset:
            W[:, -1] = -d
        return cls(cone, columns.astype(np.int64), W, has_offset, True)


def _affordable(factors: Sequence[_Factor]) -> list[_Factor]:
    """As many as their decompositions may cost."""
    worth = [one for one in factors if one.is_worth]
    costs = np.cumsum([float(one.W.shape[0]) * one.W.shape[1] * min(one.W.shape) for one in worth])
    return worth[: int(np.count_nonzero(costs <= WORK))]


def _roots(factors: Sequence[_Factor]) -> list[tuple[Matrix, Matrix] | None]:
    """The symmetric root of each, with its isometry; factors of one shape at once."""
    found: list[tuple[Matrix, Matrix] | None] = [None] * len(factors)
    shapes: dict[tuple[int, int], list[int]] = {}
    for i, one in enumerate(factors):
        shapes.setdefault(one.W.shape, []).append(i)
    for group in shapes.values():
        stack = np.array([factors[i].W for i in group])
        for i, R, Q in zip(group, *_symmetric_roots(stack), strict=True):
            if R.any():
                found[i] = (snap_values(R.ravel(), DIGITS)[0].reshape(R.shape), Q)
    return found


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
