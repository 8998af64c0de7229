r"""Geometric means, found again in the trees of second-order cones that CVXPY has made of them.

By default CVXPY writes :math:`z \le \prod_i x_i^{w_i}` as a tree of cones :math:`(u + v,\, u - v,\, 2y)`, each of which
says :math:`y^2 \le uv`, with new variables y inside and with z itself among the leaves when the number of arguments is
no power of two. The tree is unsymmetric even where the mean is not. Where its inner variables stand in the tree only,
it says exactly :math:`|z| \le \prod_i x_i^{w_i / (1 - w_z)}`, :math:`w_z` being the weight of z among its own leaves
(and, if that is positive, :math:`z \ge 0`): a power cone of n + 1 rows, whose arguments of equal weight can merge.

Expansion. Inner variables are taken as large as they may be, :math:`y = \sqrt{uv}`. The dual value
:math:`(\alpha, \beta, \gamma)` of a cone weighs u by :math:`\alpha + \beta`, v by :math:`\alpha - \beta` and y by
:math:`2\gamma`, and lies in the dual cone where :math:`\gamma^2 \le (\alpha + \beta)(\alpha - \beta)`. The power cone
says what every leaf is weighed by, :math:`\nu_i`. A leaf has the density :math:`\nu_i / w_i`, an inner variable the
geometric mean of the densities of its two sides, z that of the others by their exponents; the side of a cone whose
share of the root is s is weighed by half of s times its density. That is inside the dual cones and balances every inner
variable, exactly, and no value of x enters: where the point is known to a few digits only (it is, at a flat optimum),
the dual values are as good as those of the power cone.

What is not proved is not used: the answer is checked on the problem as CVXPY compiled it. The gain (``python -m
benchmarks.shortcuts``): a mean of 150 alike arguments is left with 2 variables instead of 25, in 0.5 times the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.program.cones import Cone, PowerND, SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution

OWN = -1
"""The number of z among the leaves of its own tree."""


@final
@dataclass(frozen=True, eq=False)
class Node:
    """One cone of a tree.

    Parameters
    ----------
    start
        Its first row.
    variable
        The inner variable y; -1 at the root.
    children
        The nodes that u and v are; None where they are leaves.
    leaves
        The leaves that u and v are, by their number in the mean; :data:`OWN` for z itself, None where they are nodes.
    share
        The weight of the cone in the mean: 1 at the root, halved at each step down, added over all ways there.
    """

    start: int
    variable: int
    children: tuple[int | None, int | None]
    leaves: tuple[int | None, int | None]
    share: float


RowKey: TypeAlias = tuple[bytes, bytes, float]
"""Columns, entries and offset of a row: equal for equal rows."""


@final
@dataclass(frozen=True, eq=False)
class Mean:
    """A tree of cones, as one power cone.

    Parameters
    ----------
    nodes
        Parents before children; the root is the first.
    places
        Where the distinct leaves stand in the list of all sides of all cones.
    weights
        Their exponents in the power cone.
    own_weight
        The weight of z among the leaves of the tree.
    """

    nodes: tuple[Node, ...]
    places: tuple[int, ...]
    weights: tuple[float, ...]
    own_weight: float


@final
@dataclass(frozen=True, eq=False)
class HiddenMeans:
    """A program whose trees of cones were turned back into power cones, and the way to return.

    Parameters
    ----------
    source
        The program with trees.
    program
        The program with power cones, which come last.
    kept, kept_conic
        Variables and conic rows of the source that are left.
    means
        What was turned back.
    """

    source: Program
    program: Program
    kept: Indices
    kept_conic: Indices
    means: tuple[Mean, ...]

    def __len__(self) -> int:
        return len(self.means)

    def expand(self, answer: Solution) -> Solution:
        """From an answer for the program with power cones to one for the program with trees."""
        if answer.x is None or answer.w is None or answer.v is None:
            return replace(answer, x=None, y=None, w=None, z=None, v=None)
        source, n = self.source, self.source.n_variables
        x, w, v = np.zeros(n), np.zeros(n), np.zeros(source.conic.n_rows)
        x[self.kept], w[self.kept] = answer.x, answer.w
        v[self.kept_conic] = answer.v[: self.kept_conic.size]
        at = self.kept_conic.size
        for mean in self.means:
            end = at + len(mean.weights)
            _restore_point(source.conic, mean, x)
            _restore_duals(mean, answer.v[at:end], float(answer.v[end]), v)
            at = end + 1
        return replace(answer, x=x, w=w, v=v, objective=source.objective(x))

    def restrict(self, solution: Solution) -> Solution:
        """Keep the point on the variables that are left; dual values of trees have no counterpart here."""
        x = None if solution.x is None else solution.x[self.kept]
        return replace(solution, x=x, y=None, w=None, z=None, v=None)


def _restore_point(rows: ConicRows, mean: Mean, x: Vector) -> None:
    """Fill in the inner variables of one tree, children before parents."""
    for node in reversed(mean.nodes[1:]):
        h, t = (float(value) for value in _slack(rows, [node.start, node.start + 1], x))
        x[node.variable] = np.sqrt(max((h + t) / 2 * (h - t) / 2, 0.0))


def _restore_duals(mean: Mean, of_leaves: Vector, of_mean: float, v: Vector) -> None:
    """Fill in the dual values of the cones of one tree, from those of its power cone."""
    exponents = np.array(mean.weights)
    leaf = np.maximum(of_leaves, 0.0) / (exponents * (1.0 - mean.own_weight))
    own = float(np.prod(leaf**exponents))
    density = np.zeros(len(mean.nodes))
    for number in range(len(mean.nodes) - 1, -1, -1):
        node = mean.nodes[number]
        one, other = (
            density[child] if child is not None else own if at == OWN else leaf[at]
            for child, at in zip(node.children, node.leaves, strict=True)
        )
        density[number] = np.sqrt(one) * np.sqrt(other)
        weighs_y = -node.share * density[number] if number else of_mean - mean.own_weight * own
        v[node.start : node.start + 3] = [node.share * (one + other) / 4, node.share * (one - other) / 4, weighs_y / 2]


def _slack(rows: ConicRows, which: list[int], x: Vector) -> Vector:
    A = rows.A
    values = [
        rows.b[i] - A.data[A.indptr[i] : A.indptr[i + 1]] @ x[A.indices[A.indptr[i] : A.indptr[i + 1]]] for i in which
    ]
    return np.array(values)


def find_means(program: Program) -> HiddenMeans | None:
    """Turn trees of second-order cones back into power cones; None if there are none.

    Parameters
    ----------
    program
        A minimisation with conic rows.
    """
    rows = program.conic
    small = [k for k, cone in enumerate(rows.cones) if isinstance(cone, SecondOrder) and cone.size == 3]
    if len(small) < 2:
        return None
    sides = _Sides.of(rows, rows.starts[small])
    inner = _inner_variables(program, sides)
    means = _means(sides, inner)
    if not means:
        return None
    used = np.zeros(rows.n_rows, bool)
    eliminated = []
    for mean in means:
        for node in mean.nodes:
            used[node.start : node.start + 3] = True
            if node.variable >= 0:
                eliminated.append(node.variable)
    kept, kept_conic = np.setdiff1d(np.arange(program.n_variables), eliminated), np.flatnonzero(~used)
    cones: list[Cone] = [cone for k, cone in enumerate(rows.cones) if not used[rows.starts[k]]]
    cones += [PowerND(mean.weights) for mean in means]
    A, b = _with_leaves_and_roots(rows, kept_conic, sides, means)
    conic = ConicRows.trusted(A[:, kept].tocsr(), b, cones)
    changed = Program.trusted(
        None if program.P is None else program.P[kept][:, kept].tocsc(),
        program.q[kept], program.A.tocsr()[:, kept], program.l, program.u, program.lb[kept], program.ub[kept],
        program.r, quadratic=program.quadratic.on_variables(kept), conic=conic,
    )  # fmt: skip
    return HiddenMeans(program, changed, kept, kept_conic, tuple(means))


def _with_leaves_and_roots(
    rows: ConicRows, kept: Indices, sides: _Sides, means: Sequence[Mean]
) -> tuple[SparseMatrix, Vector]:
    """The conic rows that stay, then for each mean its leaves and its root."""
    both, offsets = sides.both
    leaves = np.concatenate([mean.places for mean in means])
    roots = np.array([mean.nodes[0].start + 2 for mean in means])
    ends = np.cumsum([len(mean.places) for mean in means])
    behind = np.insert(np.arange(leaves.size), ends, leaves.size + np.arange(roots.size))
    order = np.concatenate([np.arange(kept.size), kept.size + behind])
    A = sparse.vstack([rows.A[kept], both[leaves], rows.A[roots] / 2]).tocsr()[order]
    return A, np.concatenate([rows.b[kept], offsets[leaves], rows.b[roots] / 2])[order]


@final
@dataclass(frozen=True, eq=False)
class _Sides:
    """u, v and y of each cone (u + v, u - v, 2y), as rows ``offset - matrix @ x``."""

    starts: Indices
    u: SparseMatrix
    v: SparseMatrix
    y: SparseMatrix
    u0: Vector
    v0: Vector
    y0: Vector

    @classmethod
    def of(cls, rows: ConicRows, starts: Indices) -> _Sides:
        head, first, second = (rows.A[starts + k] for k in range(3))
        h, t, z = (rows.b[starts + k] for k in range(3))
        u, v, y = _tidy((head + first) / 2), _tidy((head - first) / 2), _tidy(second / 2)
        return cls(starts, u, v, y, (h + t) / 2, (h - t) / 2, z / 2)

    @cached_property
    def both(self) -> tuple[SparseMatrix, Vector]:
        """Rows and offsets of all u, then of all v."""
        return sparse.vstack([self.u, self.v]).tocsr(), np.concatenate([self.u0, self.v0])

    def alone(self, side: str) -> Indices:
        """For each cone the variable that a side is, and nothing else; -1 if it is more or less."""
        matrix, offset = getattr(self, side), getattr(self, side + "0")
        single = (np.diff(matrix.indptr) == 1) & (offset == 0)
        found = np.full(offset.size, -1, np.int64)
        at = matrix.indptr[:-1][single]
        found[single] = np.where(matrix.data[at] == -1.0, matrix.indices[at], -1)
        return found


def _tidy(matrix: SparseMatrix) -> SparseMatrix:
    """Without what rounding has left of a difference."""
    matrix = matrix.tocsr()
    matrix.data[np.abs(matrix.data) <= 1e-14 * np.abs(matrix.data).max(initial=0.0)] = 0.0
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _inner_variables(program: Program, sides: _Sides) -> dict[int, int]:
    """The variables that are y of one cone and sides of others, and stand nowhere else; with the cone of each."""
    n = program.n_variables
    is_y, is_u, is_v = sides.alone("y"), sides.alone("u"), sides.alone("v")

    def count(which: Indices) -> Indices:
        return np.bincount(which[which >= 0], minlength=n)

    A = program.conic.A.copy()
    A.eliminate_zeros()
    uses = count(is_u) + count(is_v)
    good = (count(is_y) == 1) & (uses > 0) & (np.bincount(A.indices, minlength=n) == 1 + 2 * uses)
    good &= (program.q == 0) & np.isinf(program.lb) & np.isinf(program.ub)
    good &= np.diff(program.A.tocsc().indptr) == 0
    if program.P is not None:
        good &= np.bincount(program.P.tocoo().coords[0], minlength=n) == 0
    good[program.quadratic.variables] = False
    return {int(y): k for k, y in enumerate(is_y.tolist()) if y >= 0 and good[y]}


def _means(sides: _Sides, inner: dict[int, int]) -> list[Mean]:
    """The trees, each walked from its root."""
    below = np.stack([sides.alone("u"), sides.alone("v")], axis=1)
    child = np.array([[inner.get(int(y), -1) for y in pair] for pair in below], np.int64).reshape(-1, 2)
    inside = np.zeros(len(child), bool)
    inside[list(inner.values())] = True
    trees: dict[int, list[int]] = {}
    root_of: dict[int, int] = {}
    spoilt: set[int] = set()
    for root in np.flatnonzero(~inside & (child >= 0).any(axis=1)).tolist():
        order = _parents_first(root, child)
        if order is None:
            continue
        trees[root] = order
        for k in order:
            if root_of.setdefault(k, root) != root:
                spoilt |= {root, root_of[k]}
    variable = {k: y for y, k in inner.items()}
    found = [_mean(sides, order, child, variable) for root, order in trees.items() if root not in spoilt]
    return [mean for mean in found if mean is not None]


def _parents_first(root: int, child: Indices) -> list[int] | None:
    """The cones below a root, every parent before its children; None if they go round in a circle."""
    order: list[int] = []
    state: dict[int, int] = {}
    stack = [(root, False)]
    while stack:
        k, is_done = stack.pop()
        if is_done:
            state[k] = 2
            order.append(k)
            continue
        if state.get(k) == 2:
            continue
        if state.get(k) == 1:
            return None
        state[k] = 1
        stack.append((k, True))
        for below in child[k].tolist():
            if below >= 0 and state.get(below) == 1:
                return None
            if below >= 0:
                stack.append((below, False))
    return order[::-1]


def _mean(sides: _Sides, order: list[int], child: Indices, variable: dict[int, int]) -> Mean | None:
    number = {k: i for i, k in enumerate(order)}
    share = dict.fromkeys(order, 0.0)
    share[order[0]] = 1.0
    weights: dict[RowKey, float] = {}
    place: dict[RowKey, int] = {}
    number_of_leaf: dict[RowKey, int] = {}
    leaf_of: dict[int, list[int | None]] = {k: [] for k in order}
    own = _row(sides.y, sides.y0, order[0])
    own_weight = 0.0
    for k in order:
        for side, below in zip("uv", child[k].tolist(), strict=True):
            if below >= 0:
                share[below] += share[k] / 2
                leaf_of[k].append(None)
                continue
            matrix, offset = getattr(sides, side), getattr(sides, side + "0")
            key = _row(matrix, offset, k)
            if key == own:
                own_weight += share[k] / 2
                leaf_of[k].append(OWN)
                continue
            weights[key] = weights.get(key, 0.0) + share[k] / 2
            place.setdefault(key, k if side == "u" else k + sides.starts.size)
            leaf_of[k].append(number_of_leaf.setdefault(key, len(number_of_leaf)))
    if len(weights) < 2 or own_weight >= 1.0:
        return None
    nodes = []
    for k in order:
        left, right = (number[below] if below >= 0 else None for below in child[k].tolist())
        u_leaf, v_leaf = leaf_of[k]
        nodes.append(Node(int(sides.starts[k]), variable.get(k, -1), (left, right), (u_leaf, v_leaf), share[k]))
    exponents = tuple(weight / (1.0 - own_weight) for weight in weights.values())
    return Mean(tuple(nodes), tuple(place[key] for key in weights), exponents, own_weight)


def _row(matrix: SparseMatrix, offset: Vector, k: int) -> RowKey:
    span = slice(matrix.indptr[k], matrix.indptr[k + 1])
    return matrix.indices[span].astype(np.int64).tobytes(), matrix.data[span].tobytes(), float(offset[k])
