r"""Quadratic constraints, found again in the second-order cones that CVXPY has made of them.

``quad_form(x, P) <= 1`` reaches a conic solver as :math:`(1 + t,\, 1 - t,\, 2 M^\top x) \in \text{SOC}` with
:math:`P = M M^\top` and a new variable t that one row bounds. The factor M is not unique, and turning it hides the
symmetry that P has; so cones are turned back where that is exact. With the head h, tails T and s = (h, T):

- a head that is a constant c > 0 says :math:`\|T\|^2 \le c^2`;
- :math:`h \pm T_j = c > 0` for one tail says :math:`\|T_{rest}\|^2 \le c\,(2h - c)`, since
  :math:`h^2 - T_j^2 = (h \pm T_j)(h \mp T_j)` and :math:`h \mp T_j = 2h - c`; that this is nonnegative follows.

Both are :math:`g = \tfrac1c \|T_{rest}\|^2 - \ell(x) \le 0`. If a dual value of g is :math:`\mu`, that of the cone is

.. math:: v = \tfrac{2\mu}{c}\,(h, -T),

which gives the same gradient, lies in the cone because s does, and has :math:`v^\top s = 0` where g = 0.

A variable t that stands in no other cone, not in P, and in one row :math:`a_t t + \dots \le u`, :math:`a_t > 0` (or in
no row, with :math:`q_t > 0`) is eliminated: at an optimum it may be taken as small as g lets it be. The row becomes the
quadratic constraint that the user wrote, and its dual value is that of the constraint.

``norm(Mx) <= 2`` comes as :math:`(t, Mx) \in \text{SOC}` and a row :math:`a_t t \le u`: if t stands nowhere else it may
be taken as large as the row lets it be, which makes the head a constant. The dual value of the row follows from that of
the head.

Entries of the Gram matrices are rounded to eleven digits, because the factor was: the answer is therefore checked on
the problem as CVXPY compiled it, and not used if that fails. The gain (``python -m benchmarks.shortcuts``) is in size,
not in time: symmetric factors (:mod:`relift.bridges.cvxpy.hidden_norms`) see equal numbers, this reading equal sums,
too (60 variables become 1 instead of 61), at a cost of some milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.other_order import by_columns, by_rows
from relift.program.passes import entries_of, submatrix
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.program.solution import Solution

DIGITS = 11
"""Digits to which the entries of a Gram matrix are believed."""
FILL = 4
"""Gram matrices may have so many times the entries of the factors, and a thousand."""


@final
@dataclass(frozen=True, eq=False)
class HiddenQuadratics:
    """A program whose second-order cones were turned back into quadratic constraints, and the way to return.

    Parameters
    ----------
    source
        The program with cones.
    program
        The program with quadratic constraints.
    kept, kept_rows, kept_conic
        Variables, rows and conic rows of the source that are left.
    cones
        What was turned back.
    """

    source: Program
    program: Program
    kept: Indices
    kept_rows: Indices
    kept_conic: Indices
    cones: TurnedCones

    def __len__(self) -> int:
        return int(self.cones.heads.size)

    def expand(self, answer: Solution) -> Solution:
        """From an answer for the program with quadratic constraints to one for the program with cones."""
        if answer.x is None or answer.y is None or answer.w is None or answer.z is None or answer.v is None:
            return replace(answer, x=None, y=None, w=None, z=None, v=None)
        source, cones = self.source, self.cones
        x = np.zeros(source.n_variables)
        x[self.kept] = answer.x
        x = cones.with_eliminated(source.conic, x)
        y, w, v = np.zeros(source.n_rows), np.zeros(source.n_variables), np.zeros(source.conic.n_rows)
        y[self.kept_rows], w[self.kept], v[self.kept_conic] = answer.y, answer.w, answer.v
        z = answer.z[: len(source.quadratic)]
        of_targets = np.append(answer.z[len(source.quadratic) :], 1.0)  # the objective has the dual value 1
        from_row = cones.row_of_target >= 0
        y[cones.row_of_target[from_row]] = of_targets[:-1][from_row]
        s = source.conic.slack(x)
        kappa = 2.0 * cones.weights * of_targets[cones.target] / cones.constants
        v[cones.heads] = kappa * s[cones.heads]
        v[cones.tails] = -kappa[cones.tail_owner] * s[cones.tails]
        pinned = cones.pinned
        y[pinned.row] = v[cones.heads[pinned.cone]] * pinned.slope / pinned.price
        return replace(answer, x=x, y=y, w=w, z=z, v=v, objective=source.objective(x))

    def restrict(self, solution: Solution) -> Solution:
        """Keep the point on the variables that are left; dual values of cones have no counterpart here."""
        x = None if solution.x is None else solution.x[self.kept]
        return replace(solution, x=x, y=None, w=None, z=None, v=None)


@final
@dataclass(frozen=True, eq=False)
class TurnedCones:
    """The cones that were turned back, each as weight times g, added to a target.

    Parameters
    ----------
    heads
        Head row of each cone.
    constants
        c of each cone.
    is_rotated
        Whether c is a head plus or minus a tail, and not the head alone.
    tails, tail_owner
        All tail rows, and the position of the cone of each.
    rest, rest_owner
        The tail rows whose squares are added.
    eliminated
        The variable t of each cone, -1 if it has none.
    slopes
        How h grows with t.
    weights
        What g is multiplied by when it is added to its target.
    target
        The quadratic constraint to which each is added; the last number stands for the objective.
    row_of_target
        The row of the source that a target was; -1 for a cone that stands alone.
    pinned
        Heads that are variables at their bounds.
    """

    heads: Indices
    constants: Vector
    is_rotated: NDArray[np.bool_]
    tails: Indices
    tail_owner: Indices
    rest: Indices
    rest_owner: Indices
    eliminated: Indices
    slopes: Vector
    weights: Vector
    target: Indices
    row_of_target: Indices
    pinned: PinnedHeads

    def with_eliminated(self, rows: ConicRows, x: Vector) -> Vector:
        """The point with each eliminated variable as small as its cone lets it be, and pinned ones at their bounds."""
        s = rows.slack(x)  # eliminated variables are zero in x
        squares = np.bincount(self.rest_owner, s[self.rest] ** 2, self.heads.size)
        has = self.eliminated >= 0
        gap = squares / self.constants + self.constants - 2.0 * s[self.heads]
        x = x.copy()
        x[self.eliminated[has]] = gap[has] / (2.0 * self.slopes[has])
        x[self.pinned.variable] = self.pinned.value
        return x


@final
@dataclass(frozen=True, eq=False)
class PinnedHeads:
    """Heads that are one variable t, bounded by one row and nothing else.

    Parameters
    ----------
    cone
        The cone of each.
    variable, row
        t and its row ``price * t <= u``.
    value
        The largest t.
    price, slope
        The entry of the row, and how the head grows with t.
    """

    cone: Indices
    variable: Indices
    row: Indices
    value: Vector
    price: Vector
    slope: Vector

    def of_cones(self, usable: NDArray[np.bool_]) -> PinnedHeads:
        """Those of the cones that are used, which are numbered anew."""
        stay = usable[self.cone]
        number = np.cumsum(usable) - 1
        return PinnedHeads(
            number[self.cone[stay]], self.variable[stay], self.row[stay],
            self.value[stay], self.price[stay], self.slope[stay],
        )  # fmt: skip


def find_quadratics(program: Program) -> HiddenQuadratics | None:
    """Turn second-order cones back into quadratic constraints; None if there are none that can be.

    Parameters
    ----------
    program
        A minimisation with conic rows.

    Examples
    --------
    The cone (1 + t, 1 - t, 2x), with t <= 4, says x² <= 4:

    >>> cone = ConicRows([[0, -1], [0, 1], [-2, 0]], [1, 1, 0], [SecondOrder(3)])
    >>> hidden = find_quadratics(Program(q=[1, 0], A=[[0, 1]], u=[4], conic=cone))
    >>> hidden.program, hidden.program.quadratic.matrix(0).toarray().tolist(), hidden.program.quadratic.r.tolist()
    (Program(QCQP, min, 1 variables, 0 rows, 1 nonzeros), [[2.0]], [4.0])
    """
    rows = program.conic
    if not any(isinstance(cone, SecondOrder) for cone in rows.cones):
        return None
    A = rows.A.copy()
    A.eliminate_zeros()
    A.sort_indices()
    turned = _turned_cones(program, A)
    if turned is None:
        return None
    return _without_cones(program, A, turned)


def _turned_cones(program: Program, A: SparseMatrix) -> TurnedCones | None:
    layout, b = program.conic.layout, program.conic.b
    heads, tails, owner = layout.heads, layout.tails, layout.tail_owner
    partner, constants = _partners(A, b, heads, tails, owner)
    is_constant = np.diff(A.indptr)[heads] == 0
    constants = np.where(is_constant, b[heads], constants)
    pinned = _pinned_heads(program, A, heads)
    constants[pinned.cone] = b[heads[pinned.cone]] + pinned.slope * pinned.value
    is_constant[pinned.cone] = True
    is_rotated = ~is_constant & (partner >= 0)
    usable = (is_constant | is_rotated) & (constants > 0) & _is_sparse_enough(A, heads.size, tails, owner)
    if not usable.any():
        return None
    position = np.where(usable, np.cumsum(usable) - 1, -1)
    mine = usable[owner]
    tails, owner = tails[mine], position[owner[mine]]
    heads, constants, is_rotated, partner = heads[usable], constants[usable], is_rotated[usable], partner[usable]
    is_rest = ~(is_rotated[owner] & (tails == partner[owner]))
    eliminated, slopes = _eliminable(program, A, heads, is_rotated)
    weights, target, row_of_target = _targets(program, eliminated, slopes, constants, is_rotated)
    return TurnedCones(
        heads, constants, is_rotated, tails, owner, tails[is_rest], owner[is_rest],
        eliminated, slopes, weights, target, row_of_target, pinned.of_cones(usable),
    )  # fmt: skip


def _pinned_heads(program: Program, A: SparseMatrix, heads: Indices) -> PinnedHeads:
    sizes = np.diff(A.indptr)[heads]
    cone = np.flatnonzero(sizes == 1)
    at = A.indptr[heads[cone]]
    variable, slope = A.indices[at].astype(np.int64), -A.data[at]
    linear = by_columns(program.A)
    in_rows = np.diff(linear.indptr)
    good = (np.bincount(A.indices, minlength=program.n_variables)[variable] == 1) & (slope > 0)
    good &= _is_nowhere_else(program, variable) & (program.q[variable] == 0) & (in_rows[variable] == 1)
    cone, variable, slope = cone[good], variable[good], slope[good]
    at = linear.indptr[variable]
    row, price = linear.indices[at].astype(np.int64), linear.data[at]
    good = (np.bincount(linear.indices, minlength=program.n_rows)[row] == 1) & (price > 0)
    good &= np.isinf(program.l[row]) & np.isfinite(program.u[row])
    cone, variable, slope, row, price = cone[good], variable[good], slope[good], row[good], price[good]
    return PinnedHeads(cone, variable, row, program.u[row] / price, price, slope)


def _is_nowhere_else(program: Program, variable: Indices) -> NDArray[np.bool_]:
    """Whether variables are free of bounds, of P and of quadratic constraints."""
    n = program.n_variables
    free = np.isinf(program.lb) & np.isinf(program.ub)
    if program.P is not None:
        free &= np.bincount(program.P.tocoo().coords[0], minlength=n) == 0
    free[program.quadratic.variables] = False
    return free[variable]


def _partners(A: SparseMatrix, b: Vector, heads: Indices, tails: Indices, owner: Indices) -> tuple[Indices, Vector]:
    """For each cone a tail row that equals its head row up to sign, and the constant that the two make; -1 if none.

    Rows are compared by one random number each (equal rows have equal ones, to the bit), then entry by entry.
    """
    words = A @ np.random.default_rng(20160613).uniform(1.0, 2.0, A.shape[1])
    found = np.flatnonzero((np.abs(words[tails]) == np.abs(words[heads[owner]])) & (words[tails] != 0))
    k, tail = owner[found], tails[found]
    partner, constants = np.full(heads.size, -1, np.int64), np.zeros(heads.size)
    if not found.size:
        return partner, constants
    for sign, rest in ((1.0, A[heads[k]] + A[tail]), (-1.0, A[heads[k]] - A[tail])):
        rest.eliminate_zeros()
        good = np.flatnonzero(np.diff(rest.indptr) == 0)[::-1]  # of several, the first stays
        partner[k[good]], constants[k[good]] = tail[good], b[heads[k[good]]] + sign * b[tail[good]]
    return partner, constants


def _is_sparse_enough(A: SparseMatrix, n_cones: int, tails: Indices, owner: Indices) -> NDArray[np.bool_]:
    """Whether the Gram matrix of each cone has not many more entries than its rows."""
    sizes = np.diff(A.indptr)[tails]
    entries = np.bincount(owner, sizes, n_cones)
    by_rows = np.bincount(owner, sizes.astype(np.float64) ** 2, n_cones)
    part = entries_of(A, tails, None)
    touched = np.unique(owner[part.row] * A.shape[1] + part.column) // max(A.shape[1], 1)
    by_columns = np.bincount(touched, minlength=n_cones).astype(np.float64) ** 2
    return np.minimum(by_rows, by_columns) <= FILL * entries + 1000


def _eliminable(
    program: Program, A: SparseMatrix, heads: Indices, is_rotated: NDArray[np.bool_]
) -> tuple[Indices, Vector]:
    """For each cone a variable that only it and one row (or the objective) hold, and the slope of h along it."""
    n = program.n_variables
    in_cones = np.bincount(A.indices, minlength=n)
    linear = by_columns(program.A)
    in_rows = np.diff(linear.indptr)
    free = _is_nowhere_else(program, np.arange(n)) & (in_cones == 2)
    only_cost = (in_rows == 0) & (program.q > 0)
    first = linear.indptr[:-1]
    one_row = np.flatnonzero((in_rows == 1) & (program.q == 0))
    in_one_row = np.zeros(n, bool)
    row, entry = linear.indices[first[one_row]], linear.data[first[one_row]]
    in_one_row[one_row] = (entry > 0) & np.isinf(program.l[row]) & np.isfinite(program.u[row])
    free &= only_cost | in_one_row
    eliminated, slopes = np.full(heads.size, -1, np.int64), np.zeros(heads.size)
    part = entries_of(A, heads, None)
    k, j, value = part.row, part.column, -part.value
    good = is_rotated[k] & free[j] & (value > 0)
    # In a rotated cone a column with two entries has them in the head and in its partner, both of one cone.
    eliminated[k[good]], slopes[k[good]] = j[good], value[good]
    return eliminated, slopes


def _targets(
    program: Program, eliminated: Indices, slopes: Vector, constants: Vector, is_rotated: NDArray[np.bool_]
) -> tuple[Vector, Indices, Indices]:
    """To which constraint each cone is added, and with which weight."""
    linear = by_columns(program.A)
    has = eliminated >= 0
    t = eliminated[has]
    in_row = np.diff(linear.indptr)[t] == 1
    row = np.full(eliminated.size, -1, np.int64)
    price = np.ones(eliminated.size)
    at = np.flatnonzero(has)
    first = linear.indptr[t[in_row]]
    row[at[in_row]], price[at[in_row]] = linear.indices[first], linear.data[first]
    price[at[~in_row]] = program.q[t[~in_row]]
    to_objective = np.zeros(eliminated.size, bool)
    to_objective[at[~in_row]] = True
    rows = np.unique(row[row >= 0])
    alone = np.flatnonzero(~has)
    row_of_target = np.concatenate([rows, np.full(alone.size, -1, np.int64)])
    target = np.full(eliminated.size, row_of_target.size, np.int64)
    target[row >= 0] = np.searchsorted(rows, row[row >= 0])
    target[alone] = rows.size + np.arange(alone.size)
    weights = np.where(is_rotated, 0.5, constants)
    weights[has] = price[has] / (2.0 * slopes[has])
    assert bool(np.all(target[to_objective] == row_of_target.size))
    return weights, target, row_of_target


def _without_cones(program: Program, A: SparseMatrix, cones: TurnedCones) -> HiddenQuadratics:
    """The program with the targets as quadratic constraints, their variables eliminated."""
    n, m, n_targets = program.n_variables, program.n_rows, cones.row_of_target.size
    b, share = program.conic.b, cones.weights / cones.constants
    # Squares: weight / c |d - Bx|² = x'Gx - 2 (share B'd)'x + share |d|², per cone.
    B, d, owner = submatrix(A, cones.rest, None), b[cones.rest], cones.rest_owner
    entries = B.tocoo()
    keys, place = np.unique(cones.target[owner[entries.coords[0]]] * n + entries.coords[1], return_inverse=True)
    scaled = entries.data * np.sqrt(share[owner[entries.coords[0]]])
    M = sparse.coo_array((scaled, (entries.coords[0], place)), shape=(B.shape[0], keys.size)).tocsr()
    gram = (M.T @ M).tocoo()
    of, first, second = keys[gram.coords[0]] // n, keys[gram.coords[0]] % n, keys[gram.coords[1]] % n
    values = _rounded(2.0 * gram.data, of, n_targets + 1)
    is_there = values != 0
    of, first, second, values = of[is_there], first[is_there], second[is_there], values[is_there]
    # Linear parts: -2 share B'd, and 2 weight A_h where the cone is rotated, without the eliminated variables.
    to_target = sparse.csr_array(
        (share[owner] * d * -2.0, (cones.target[owner], np.arange(owner.size))), shape=(n_targets + 1, owner.size)
    )
    linear = to_target @ B
    k = np.flatnonzero(cones.is_rotated)
    from_heads = sparse.csr_array(
        (2.0 * cones.weights[k], (cones.target[k], k)), shape=(n_targets + 1, cones.heads.size)
    )
    linear = linear + from_heads @ submatrix(A, cones.heads, None)
    constant = np.bincount(cones.target, cones.weights * _offset(cones, b), n_targets + 1)
    constant += np.bincount(cones.target[owner], share[owner] * d**2, n_targets + 1)
    from_row = np.flatnonzero(cones.row_of_target >= 0)
    right = np.zeros(n_targets)
    right[from_row] = program.u[cones.row_of_target[from_row]]
    pick = sparse.csr_array(
        (np.ones(from_row.size), (from_row, cones.row_of_target[from_row])), shape=(n_targets + 1, m)
    )
    linear = (linear + pick @ by_rows(program.A)).tocoo()
    data = _rounded(linear.data, linear.coords[0], n_targets + 1)
    linear = sparse.coo_array((data, linear.coords), shape=linear.shape).tocsr()
    linear.eliminate_zeros()
    kept = np.setdiff1d(np.arange(n), np.concatenate([cones.eliminated, cones.pinned.variable]))
    kept_rows = np.setdiff1d(np.arange(m), np.concatenate([cones.row_of_target, cones.pinned.row]))
    used = np.zeros(b.size, bool)
    used[cones.heads] = used[cones.tails] = True
    kept_conic = np.flatnonzero(~used)
    to_objective = of == n_targets
    position = np.full(n, -1, np.int64)
    position[kept] = np.arange(kept.size)
    curved = sparse.coo_array(
        (values[to_objective], (position[first[to_objective]], position[second[to_objective]])),
        shape=(kept.size, kept.size),
    ).tocsc()
    P = curved if program.P is None else (submatrix(program.P, kept, kept) + curved).tocsc()
    old = program.quadratic
    rest = ~to_objective
    quadratic = QuadraticRows(
        np.concatenate([old.owner, of[rest] + len(old)]),
        position[np.concatenate([old.first, first[rest]])],
        position[np.concatenate([old.second, second[rest]])],
        np.concatenate([old.values, values[rest]]),
        submatrix(by_rows(sparse.vstack([old.q, linear[:n_targets]])), None, kept),
        np.concatenate([old.r, _plain(right - constant[:n_targets])]),
    )
    is_left = ~used[program.conic.starts]
    left = [cone for cone, stays in zip(program.conic.cones, is_left, strict=True) if stays]
    changed = Program.trusted(
        P if P.nnz else None,
        program.q[kept] + linear[[n_targets]].toarray().ravel()[kept],
        by_rows(submatrix(program.A, kept_rows, kept)),
        program.l[kept_rows],
        program.u[kept_rows],
        program.lb[kept],
        program.ub[kept],
        program.r + float(constant[n_targets]),
        quadratic=quadratic,
        conic=ConicRows.trusted(submatrix(A, kept_conic, kept), b[kept_conic], left),
    )
    return HiddenQuadratics(program, changed, kept, kept_rows, kept_conic, cones)


def _offset(cones: TurnedCones, b: Vector) -> Vector:
    """The constant of -l(x), which is c - 2h for a rotated cone and -c for a constant head."""
    return np.where(cones.is_rotated, cones.constants - 2.0 * b[cones.heads], -cones.constants)


def _rounded(values: Vector, owner: Indices, n_owners: int) -> Vector:
    """Numbers rounded to so many digits of the largest number of their owner; what is left are short decimals."""
    largest = np.zeros(n_owners)
    np.maximum.at(largest, owner, np.abs(values))
    exponent = np.zeros(n_owners)
    exponent[largest > 0] = DIGITS - 1 - np.floor(np.log10(largest[largest > 0]))
    shift = exponent[owner]
    up, down = 10.0 ** np.maximum(shift, 0), 10.0 ** np.maximum(-shift, 0)
    return np.asarray(np.rint(values * up / down) / up * down, np.float64)


def _plain(values: Vector) -> Vector:
    """Right-hand sides, rounded one by one."""
    return _rounded(values, np.arange(values.size), values.size)
