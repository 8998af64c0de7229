r"""Norms of one quadratic form, written with its symmetric factor.

A cone :math:`\|W \hat x\| \le h` with :math:`\hat x = (x, 1)` depends on :math:`G = W^\top W` alone: any W with this
Gram matrix will do. A Cholesky factor or the factor loadings of a risk model hide the symmetry of G; its symmetric root
:math:`R = G^{1/2}` does not: :math:`XG = GX` implies :math:`XR = RX`, so its rows can be merged like the variables. The
cone is taken as :math:`\|R \hat x\| \le h`.

The way back: :math:`W = QR` with the partial isometry :math:`Q = W R^+`. A multiplier :math:`v'` of the new tails gives
:math:`v = Q v'` of the old ones: :math:`W^\top Q v' = R v'`, and :math:`\|Q v'\| \le \|v'\|`. Entries of R that
differ in their last digits only are made equal; the answer is checked on the problem as CVXPY compiled it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from relift.arrays import Indices, Matrix, SparseMatrix, Vector
from relift.bridges.cvxpy.hidden_quadratics import DIGITS, FILL
from relift.program.cones import Cone, SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution
from relift.symmetry.snapping import snap_values

MANY = 500
"""Of more cones than this no roots are taken: it is done one by one, and many cones are rarely all in disguise."""


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
    isometry: NDArray[np.float64]


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
        """All variables."""
        return np.arange(self.source.n_variables)

    def expand(self, answer: Solution) -> Solution:
        """From multipliers of the new tails to those of the old ones."""
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


def find_norms(program: Program) -> HiddenNorms | None:
    """Replace the factors in second-order cones by symmetric ones; None if there is none to replace.

    Parameters
    ----------
    program
        A minimisation with conic rows.

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
    changing = _candidates(rows)
    if not 0 < changing.size <= MANY:
        return None
    norms = []
    roots: dict[tuple[int, bytes], tuple[Matrix, Matrix] | None] = {}
    for k in changing.tolist():
        made = _symmetric_tails(rows, int(rows.starts[k]) + 1, int(rows.sizes[k]) - 1, roots)
        if made is not None:
            norms.append((k, made))
    if not norms:
        return None
    is_left = np.ones(len(rows), bool)
    is_left[[k for k, _ in norms]] = False
    old_rows = np.flatnonzero(is_left[rows.cone_of_row])
    cones: list[Cone] = [rows.cones[k] for k in np.flatnonzero(is_left).tolist()]
    blocks, right, turned, at = [rows.A[old_rows]], [rows.b[old_rows]], [], old_rows.size
    for k, (tails, offsets, isometry) in norms:
        start = int(rows.starts[k])
        blocks += [rows.A[[start]], tails]
        right += [rows.b[[start]], offsets]
        cones.append(SecondOrder(1 + offsets.size))
        turned.append(TurnedNorm(start, at, isometry))
        at += 1 + offsets.size
    changed = _with_cones(program, sparse.vstack(blocks).tocsr(), np.concatenate(right), cones)
    return HiddenNorms(program, changed, tuple(turned), old_rows)


def _candidates(rows: ConicRows) -> Indices:
    """Second-order cones with a tail that is more than one term: only then a factor can hide something."""
    layout = rows.layout
    entries = np.diff(rows.A.indptr)[layout.tails] + (rows.b[layout.tails] != 0)
    most = np.zeros(layout.second_order.size, np.int64)
    np.maximum.at(most, layout.tail_owner, entries)
    return layout.second_order[most > 1]


def _symmetric_tails(
    rows: ConicRows, start: int, size: int, roots: dict[tuple[int, bytes], tuple[Matrix, Matrix] | None]
) -> tuple[SparseMatrix, Vector, Matrix] | None:
    """Tails made of the symmetric root, with the isometry; None if they would be too many."""
    A, d = rows.A, rows.b[start : start + size]
    span = slice(A.indptr[start], A.indptr[start + size])
    touched, place = np.unique(A.indices[span], return_inverse=True)
    has_offset = bool(d.any())
    width = touched.size + has_offset
    if width**2 > FILL * (place.size + np.count_nonzero(d)) + 1000 or not width:
        return None
    W = np.zeros((size, width))
    W[np.repeat(np.arange(size), np.diff(A.indptr[start : start + size + 1])), place] = A.data[span]
    if has_offset:
        W[:, -1] = -d
    key = (size, W.tobytes())
    if key not in roots:
        roots[key] = _root(W)
    found = roots[key]
    if found is None:
        return None
    R, Q = found
    tails = sparse.csr_array(R[:, : touched.size])
    placed = sparse.csr_array((tails.data, touched[tails.indices], tails.indptr), shape=(width, rows.n_variables))
    return placed, (-R[:, -1] if has_offset else np.zeros(width)), Q


def _root(W: NDArray[np.float64]) -> tuple[Matrix, Matrix] | None:
    """The symmetric R with RR = W'W, and Q with W = QR."""
    values, vectors = linalg.eigh(W.T @ W)
    if not values[-1] > 0:
        return None
    roots = np.sqrt(np.where(values > 1e-14 * values[-1], values, 0.0))
    R = (vectors * roots) @ vectors.T
    inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    Q = W @ ((vectors * inverse) @ vectors.T)
    R[np.abs(R) <= 10.0**-DIGITS * np.abs(R).max()] = 0.0
    return snap_values(((R + R.T) / 2).ravel(), DIGITS)[0].reshape(R.shape), Q


def _with_cones(program: Program, A: SparseMatrix, b: Vector, cones: list[Cone]) -> Program:
    return Program.trusted(
        program.P, program.q, program.A, program.l, program.u, program.lb, program.ub, program.r,
        quadratic=program.quadratic, conic=ConicRows.trusted(A, b, cones),
    )  # fmt: skip
