r"""Power cones of many arguments as trees of those of two, for backends that know only these.

Arguments of weights :math:`\alpha` and :math:`\beta` are joined by a further variable t,

.. math:: x^{\alpha/(\alpha+\beta)}\, y^{\beta/(\alpha+\beta)} \ge |t|,

which takes their place with weight :math:`\alpha + \beta`, pair by pair and level by level, until two are left for z.
Dual values of the rows of the arguments and of z are those of the large cone: stationarity in t says that what t is
worth as an argument is what it costs as a product, so that the products of the small dual cones multiply to that of the
large one.

Clarabel has a generalised power cone, but does far worse with it: of 400 random programs it solves 57 to its tolerances
in 14898 iterations, and 394 in 7535 with these trees; on two it stops by an assertion
(``python -m benchmarks.power_cones``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import SparseMatrix
from relift.program.cones import Cone, Power, PowerND
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.program.solution import Solution
from relift.records import quick


@final
@quick
@dataclass(frozen=True, eq=False)
class PowerTrees:
    """A program whose power cones have two arguments, with the expansion of answers.

    Parameters
    ----------
    program
        The program with further variables; the given one itself if nothing had to be done.
    n_variables
        How many variables the given program has; they come first.
    places
        Where each conic row of the given program stands now.
    joints
        What each further variable joins, children first.
    is_trivial
        Whether the given program had no such cone; one of two arguments is only written in another way.
    """

    program: Program
    n_variables: int
    places: NDArray[np.int64]
    joints: tuple[Joint, ...] = ()
    is_trivial: bool = False

    @classmethod
    def of(cls, program: Program) -> PowerTrees:
        """Take the large power cones of a program apart."""
        rows = program.conic
        if PowerND not in map(type, rows.cones):
            return cls(program, program.n_variables, np.arange(rows.n_rows), is_trivial=True)
        trees = _Trees(rows)
        n, k = program.n_variables, trees.n_joints
        old = rows.A.tocoo()
        at = np.concatenate([trees.places[old.coords[0]], np.array(trees.joint_rows, np.int64)])
        columns = np.concatenate([old.coords[1], n + np.array(trees.joints, np.int64)])
        data = np.concatenate([old.data, -np.ones(len(trees.joints))])
        A = sparse.coo_array((data, (at, columns)), shape=(trees.n_rows, n + k)).tocsr()
        b = np.zeros(trees.n_rows)
        b[trees.places] = rows.b
        quadratic, none, free = program.quadratic, np.zeros(k), np.full(k, np.inf)
        wide = Program.trusted(
            None if program.P is None else _widened(program.P, n + k, n + k),
            np.concatenate([program.q, none]),
            _widened(program.A, program.n_rows, n + k),
            program.l, program.u,
            np.concatenate([program.lb, -free]), np.concatenate([program.ub, free]),
            program.r,
            quadratic=QuadraticRows(
                quadratic.owner, quadratic.first, quadratic.second, quadratic.values,
                _widened(quadratic.q, len(quadratic), n + k).tocsr(), quadratic.r,
            ),
            conic=ConicRows.trusted(A, b, trees.cones),
        )  # fmt: skip
        return cls(wide, n, trees.places, tuple(trees.made))

    def expand(self, solution: Solution) -> Solution:
        """From an answer for the wide program to one for the given program."""
        if self.is_trivial:
            return solution
        n = self.n_variables
        changes = {name: getattr(solution, name) for name in ("x", "w", "ray_x", "ray_w")}
        changes = {name: None if vector is None else vector[:n] for name, vector in changes.items()}
        for name in ("v", "ray_v"):
            vector = getattr(solution, name)
            changes[name] = None if vector is None else vector[self.places]
        return replace(solution, **changes)

    def restrict(self, solution: Solution) -> Solution:
        """Give each further variable the product that it stands for; dual values have no counterpart here."""
        if self.is_trivial:
            return solution
        x = solution.x
        if x is not None:
            wide = np.concatenate([x, np.zeros(len(self.joints))])
            s = np.abs(self.program.conic.slack(wide)[self.places])
            t: list[float] = []
            for joint in self.joints:
                first, second = (s[what] if what >= 0 else t[-1 - what] for what in (joint.first, joint.second))
                t.append(float(first**joint.alpha * second ** (1.0 - joint.alpha)))
            x = np.concatenate([x, t])
        return replace(solution, x=x, y=None, w=None, z=None, v=None)


@final
@dataclass(frozen=True)
class Joint:
    """A further variable, first^alpha second^(1 - alpha): each is a conic row or, where negative, an earlier joint."""

    first: int
    second: int
    alpha: float


class _Trees:
    """The cones and the places of their rows while trees are built."""

    def __init__(self, rows: ConicRows) -> None:
        self.cones: list[Cone] = []
        self.places = np.zeros(rows.n_rows, np.int64)
        self.joint_rows: list[int] = []
        self.joints: list[int] = []
        self.made: list[Joint] = []
        self.n_joints = self.n_rows = 0
        for start, cone in zip(rows.starts.tolist(), rows.cones, strict=True):
            if isinstance(cone, PowerND):
                self.add_tree(start, cone.alphas)
            else:
                self.places[start : start + cone.n_rows] = self.n_rows + np.arange(cone.n_rows)
                self.cones.append(cone)
                self.n_rows += cone.n_rows

    def add_tree(self, start: int, alphas: tuple[float, ...]) -> None:
        # What is left to join: rows of the given program, or further variables (negative), with their weights.
        left = [(start + i, alpha) for i, alpha in enumerate(alphas)]
        while len(left) > 2:
            joined = []
            for (first, alpha), (second, beta) in zip(left[::2], left[1::2], strict=False):
                joint = -1 - self.n_joints
                self.n_joints += 1
                self.made.append(Joint(first, second, alpha / (alpha + beta)))
                self.add_cone(first, second, joint, alpha / (alpha + beta))
                joined.append((joint, alpha + beta))
            left = joined + left[len(left) - len(left) % 2 :]
        (first, alpha), (second, beta) = left
        self.add_cone(first, second, start + len(alphas), alpha / (alpha + beta))

    def add_cone(self, first: int, second: int, product: int, alpha: float) -> None:
        for what in (first, second, product):
            if what >= 0:
                self.places[what] = self.n_rows
            else:
                self.joint_rows.append(self.n_rows)
                self.joints.append(-1 - what)
            self.n_rows += 1
        self.cones.append(Power(alpha))


def _widened(matrix: SparseMatrix, n_rows: int, n_columns: int) -> SparseMatrix:
    listed = matrix.tocoo()
    widened: SparseMatrix = sparse.coo_array((listed.data, listed.coords), shape=(n_rows, n_columns)).tocsc()
    return widened
