r"""Residuals that stand in the objective alone, put where they are used.

``sum_squares(M @ x - c)`` reaches a solver as variables :math:`y = Mx - c` with :math:`y^\top y` in the objective: as
many variables and rows as there are residuals, however few variables x there are. Where a free variable stands in one
equality and otherwise in the objective only, the equality gives its value, :math:`y = c - Mx`, and the objective
:math:`\tfrac12 z^\top P z + q^\top z` of z = (x, y) becomes one of x, with the Gram matrix
:math:`M^\top P_{yy} M`. This is done where the Gram matrix has at most half the entries of what it replaces: of 20,000
residuals of 50 variables none is left.

The inverse: y from its equality, and the dual value of the equality from stationarity along y,
:math:`P_{yx} x + P_{yy} y + q_y + a\,\lambda = 0`. Sums in the new objective are rounded to eleven digits of the
largest; the answer is checked on the problem as CVXPY compiled it. The gain (``python -m benchmarks.shortcuts``): 4,000
residuals of 20 variables are solved 7 times as fast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.bridges.cvxpy.hidden_quadratics import DIGITS
from relift.program.program import Program
from relift.program.solution import Solution

SHARE = 0.5
"""The new objective may have this share of the entries that go."""
FEWEST = 100
"""Fewer residuals than this are left alone: it would save nothing that can be measured."""


@final
@dataclass(frozen=True, eq=False)
class HiddenResiduals:
    """A program without its residuals, and the way to return.

    Parameters
    ----------
    source
        The program as it was.
    program
        The program without them.
    kept, kept_rows
        Variables and rows of the source that are left.
    residuals, rows
        The variables that were put in, and the equality of each.
    slopes
        The entry of each in its equality.
    M, c
        Their values: c - Mx, in the variables that are left.
    """

    source: Program
    program: Program
    kept: Indices
    kept_rows: Indices
    residuals: Indices
    rows: Indices
    slopes: Vector
    M: SparseMatrix
    c: Vector

    def __len__(self) -> int:
        return int(self.residuals.size)

    def expand(self, answer: Solution) -> Solution:
        """From an answer without residuals to one with them."""
        if answer.x is None:
            return replace(answer, y=None, w=None, ray_x=None, ray_y=None, ray_w=None)
        source = self.source
        x, w = np.zeros(source.n_variables), np.zeros(source.n_variables)
        x[self.kept] = answer.x
        x[self.residuals] = self.c - self.M @ answer.x
        y = None
        if answer.y is not None and answer.w is not None:
            y = np.zeros(source.n_rows)
            y[self.kept_rows], w[self.kept] = answer.y, answer.w
            gradient = source.q + (0.0 if source.P is None else source.P @ x)
            y[self.rows] = -gradient[self.residuals] / self.slopes
        return replace(answer, x=x, y=y, w=None if y is None else w, objective=source.objective(x))

    def restrict(self, solution: Solution) -> Solution:
        """Keep what belongs to the variables and rows that are left."""
        x, w = (None if part is None else part[self.kept] for part in (solution.x, solution.w))
        y = None if solution.y is None else solution.y[self.kept_rows]
        return replace(solution, x=x, y=y, w=w)


def find_residuals(program: Program) -> HiddenResiduals | None:
    """Put residuals where they are used; None if there are none, or nothing would be gained.

    Parameters
    ----------
    program
        A minimisation.

    Examples
    --------
    Two hundred residuals y = x - 1, each with the cost y²:

    >>> A = np.hstack([np.ones((200, 1)), -np.eye(200)])
    >>> P = np.diag(np.append(0.0, np.full(200, 2.0)))
    >>> hidden = find_residuals(Program(P, np.zeros(201), A, np.ones(200), np.ones(200)))
    >>> hidden.program, hidden.program.P.toarray().tolist(), hidden.program.q.tolist(), hidden.program.r
    (Program(QP, min, 1 variables, 0 rows, 1 nonzeros), [[400.0]], [-400.0], 200.0)
    """
    if program.P is None or program.n_rows < FEWEST:
        return None
    A = program.A.tocsr()
    residuals, rows, slopes = _pairs(program, A)
    if residuals.size < FEWEST:
        return None
    kept = np.setdiff1d(np.arange(program.n_variables), residuals)
    kept_rows = np.setdiff1d(np.arange(program.n_rows), rows)
    M = sparse.csr_array(sparse.diags_array(1.0 / slopes) @ A[rows][:, kept])
    if not _is_gain(program, M, residuals):
        return None
    c = program.u[rows] / slopes
    return _without(program, A, kept, kept_rows, residuals, rows, slopes, M, c)


def _pairs(program: Program, A: SparseMatrix) -> tuple[Indices, Indices, Vector]:
    """Free variables that only one equality and the objective hold, one for each equality."""
    columns = A.tocsc()
    lone = (np.diff(columns.indptr) == 1) & np.isinf(program.lb) & np.isinf(program.ub) & _has_curvature(program)
    lone[program.quadratic.variables] = False
    if len(program.conic):
        lone[np.unique(program.conic.A.indices)] = False
    j = np.flatnonzero(lone)
    at = columns.indptr[j]
    row, slope = columns.indices[at].astype(np.int64), columns.data[at]
    good = (program.l[row] == program.u[row]) & (slope != 0)
    # Of several in one equality only one can be told by it; these are left alone.
    count = np.bincount(row[good], minlength=program.n_rows)
    good &= count[row] == 1
    return j[good], row[good], slope[good]


def _has_curvature(program: Program) -> NDArray[np.bool_]:
    assert program.P is not None
    return np.asarray(np.diff(program.P.indptr) > 0)


def _is_gain(program: Program, M: SparseMatrix, residuals: Indices) -> bool:
    """Whether the Gram matrix has far fewer entries than the residuals; P must be diagonal among them."""
    assert program.P is not None
    among = program.P[residuals]
    if among.nnz > residuals.size:  # more than a diagonal: the Gram matrix could be anything
        return False
    sizes = np.diff(M.indptr).astype(np.float64)
    touched = float(np.unique(M.indices).size)
    return bool(min(float(sizes @ sizes), touched**2) <= SHARE * (M.nnz + 3 * residuals.size))


def _without(
    program: Program,
    A: SparseMatrix,
    kept: Indices,
    kept_rows: Indices,
    residuals: Indices,
    rows: Indices,
    slopes: Vector,
    M: SparseMatrix,
    c: Vector,
) -> HiddenResiduals:
    P = program.P
    assert P is not None
    of_residuals = P[residuals][:, residuals]
    across = P[kept][:, residuals]
    mixed = across @ M
    gram = sparse.csc_array(P[kept][:, kept] - mixed - mixed.T + M.T @ (of_residuals @ M))
    gram = sparse.csc_array((gram + gram.T) / 2)
    gram.data = np.where(_are_sums(gram, M, across.nnz == 0), _rounded(gram.data), gram.data)
    gram.eliminate_zeros()
    pulled = of_residuals @ c + program.q[residuals]
    added = across @ c - M.T @ pulled
    q = program.q[kept] + added
    constant = 0.5 * float(c @ (of_residuals @ c)) + float(program.q[residuals] @ c)
    changed = Program.trusted(
        gram if gram.nnz else None,
        np.where(added == 0, q, _rounded(q)),
        A[kept_rows][:, kept],
        program.l[kept_rows],
        program.u[kept_rows],
        program.lb[kept],
        program.ub[kept],
        program.r + constant,
        quadratic=program.quadratic.on_variables(kept) if len(program.quadratic) else None,
        conic=program.conic.on_variables(kept, program.conic.b) if len(program.conic) else None,
    )
    return HiddenResiduals(program, changed, kept, kept_rows, residuals, rows, slopes, M, c)


def _are_sums(gram: SparseMatrix, M: SparseMatrix, is_apart: bool) -> NDArray[np.bool_]:
    """Which entries of a Gram matrix may be sums of several terms: a single product needs no rounding to be seen."""
    sums = np.ones(gram.nnz, bool)
    if not is_apart:
        return sums
    listed = M.tocoo()
    is_single = np.bincount(listed.coords[0], minlength=M.shape[0]) == 1
    n_terms = np.bincount(listed.coords[1], minlength=M.shape[1])
    n_terms += np.bincount(listed.coords[1], ~is_single[listed.coords[0]], M.shape[1]).astype(np.int64)
    alone = np.diff(gram.indptr) == 1  # nothing of P and of other residuals stands beside them
    return np.repeat(~(alone & (n_terms == 1)), np.diff(gram.indptr))


def _rounded(values: Vector) -> Vector:
    """Numbers rounded to eleven digits of the largest, so that sums which are equal are seen to be."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0:
        return values
    shift = DIGITS - 1 - int(np.floor(np.log10(largest)))
    return np.asarray(np.rint(values * 10.0**shift) / 10.0**shift if shift >= 0 else values)
