r"""The small program of classes that are *not* equitable: two ways, which say of themselves what they are.

With S the 0/1 indicator of the variable classes:

*Restriction* (rows kept). x = Sz is put into the program as it is,

.. math:: \hat P = S^\top P S,\quad \hat q = S^\top q,\quad \hat A = A S,\quad \hat l = l,\; \hat u = u,\quad
   \hat{lb}_C = \max_{j\in C} lb_j,\; \hat{ub}_C = \min_{j\in C} ub_j .

Every row stays; those that have become equal, single or empty are merged by
:mod:`~relift.lifting.presolve`, which changes nothing. Any feasible z gives a feasible Sz, so the optimum is an
*upper* bound.

*Averages* (rows merged). Rows of a class are averaged, after division by their scales d: :math:`\hat A_r =
\mathrm{mean}_{i \in r} (AS)_i / d_i`, likewise l, u, lb and ub. The optimum is no bound of either side; Sz breaks
rows a little and has to be repaired (:mod:`~relift.approximate.repair`) before it counts. The dual values,
:math:`y_i = \hat y_r / (d_i |r|)`, are as good as any for a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.errors import PartitionError
from relift.lifting.presolve import reduce
from relift.lifting.reduction import Reduction
from relift.program.program import Program
from relift.program.solution import Solution
from relift.symmetry.find import Symmetry
from relift.symmetry.partition import Partition


@final
@dataclass(frozen=True, eq=False)
class Restriction:
    """A program over class values, with the expansion to the program it came from.

    Parameters
    ----------
    ground
        The program before.
    symmetry
        Classes of its variables, and classes of rows over which dual values may be averaged.
    reduction
        From the program over class values to the one that is solved: equal rows merged, single ones made bounds.
    keeps_rows
        True for a restriction, whose feasible points are feasible on the ground; False where rows are averaged.
    """

    ground: Program
    symmetry: Symmetry
    reduction: Reduction
    keeps_rows: bool = True

    @property
    def program(self) -> Program:
        """The small program."""
        return self.reduction.program

    @property
    def class_of_variable(self) -> NDArray[np.int64]:
        """For each variable its number in the small program; -1 where its class was substituted."""
        return _positions(self.symmetry.variables.n_classes, self.reduction.variables)[self.symmetry.variables.labels]

    @property
    def class_of_row(self) -> NDArray[np.int64]:
        """For each row its number in the small program; -1 where it was merged into another or became a bound."""
        positions = _positions(self.reduction.ground.n_rows, self.reduction.rows)
        return positions if self.keeps_rows else positions[self.symmetry.rows.labels]

    def expand(self, solution: Solution) -> Solution:
        """From an answer for the small program to one for the ground: every member gets the value of its class.

        Dual values w of bounds are those that each variable needs, where its bounds can pay them; classes that are not
        equitable leave a remainder, which the certificate shows.
        """
        if solution.y is not None and solution.w is None:
            solution = replace(solution, w=np.zeros(self.program.n_variables))
        over_classes = self.reduction.expand(solution)
        labels = self.symmetry.variables.labels
        x, ray_x = _spread(over_classes.x, labels), _spread(over_classes.ray_x, labels)
        y, ray_y = self._on_rows(over_classes.y), self._on_rows(over_classes.ray_y)
        w = None if x is None or y is None else bound_duals(self.ground, x, y)
        ray_w = None if ray_y is None else _within(-(self.ground.A.T @ ray_y), self.ground)
        return replace(solution, x=x, y=y, w=w, ray_x=ray_x, ray_y=ray_y, ray_w=ray_w)

    def restrict(self, solution: Solution) -> Solution:
        """From a point of the ground to one of the small program, by class averages: for a warm start."""
        variables = self.symmetry.variables
        x, y, w = solution.x, solution.y, solution.w
        if x is not None:
            x = np.asarray(np.bincount(variables.labels, x, variables.n_classes) / variables.class_sizes, np.float64)
        if w is not None:
            w = np.asarray(np.bincount(variables.labels, w, variables.n_classes), np.float64)
        if y is not None and not self.keeps_rows:
            rows, scales = self.symmetry.rows, self.symmetry.row_scales
            y = np.asarray(np.bincount(rows.labels, y * scales, rows.n_classes), np.float64)
        return self.reduction.restrict(replace(solution, x=x, y=y, w=w))

    def _on_rows(self, y: Vector | None) -> Vector | None:
        if y is None or self.keeps_rows:
            return y
        rows, scales = self.symmetry.rows, self.symmetry.row_scales
        return y[rows.labels] / (scales * rows.class_sizes[rows.labels])


def restrict(program: Program, symmetry: Symmetry) -> Restriction:
    """Put x = Sz into a program and keep every row.

    Parameters
    ----------
    program
        A minimisation.
    symmetry
        Classes of its variables; no two members of a class may have bounds that exclude each other.

    Raises
    ------
    PartitionError
        If the classes do not fit the program, or the bounds within one exclude each other.

    Examples
    --------
    >>> program = Program(q=[1, 1.1], A=[[1, 1], [2, 0.5], [1, 1]], l=[2, 2, 1], lb=0)
    >>> classes = Symmetry(Partition.one_class(2), Partition.discrete(3), np.ones(3), "by hand")
    >>> restriction = restrict(program, classes)
    >>> restriction.program, restriction.program.q.round(9).tolist(), restriction.program.lb.round(9).tolist()
    (Program(LP, min, 1 variables, 0 rows, 0 nonzeros), [2.1], [1.0])
    """
    lb, ub = _class_box(program, symmetry.variables)
    S = symmetry.variables.indicator
    P, q = _restricted_objective(program, S)
    A = _canonical(program.A @ S)
    return Restriction(program, symmetry, reduce(Program.trusted(P, q, A, program.l, program.u, lb, ub, program.r)))


def averaged(program: Program, symmetry: Symmetry) -> Restriction:
    """Put x = Sz into a program and average the rows and bounds of each class; no bound of either side.

    Parameters
    ----------
    program
        A minimisation.
    symmetry
        Classes of its variables and rows, with the scales of the rows.

    Raises
    ------
    PartitionError
        If the classes do not fit the program, or the bounds within one exclude each other.

    Examples
    --------
    >>> program = Program(q=[1, 1.1], A=[[1, 1], [1.01, 0.99]], l=[2, 2], u=[2, 2.1], lb=0)
    >>> classes = Symmetry(Partition.one_class(2), Partition.one_class(2), np.ones(2), "by hand")
    >>> averaged(program, classes).program.ub.round(9).tolist()
    [1.025]
    """
    variables = symmetry.variables
    _class_box(program, variables)
    lb, ub = (
        np.bincount(variables.labels, bound, variables.n_classes) / variables.class_sizes
        for bound in (program.lb, program.ub)
    )
    S = variables.indicator
    P, q = _restricted_objective(program, S)
    rows, scales = symmetry.rows, symmetry.row_scales
    if rows.size != program.n_rows:
        raise PartitionError(f"classes of {rows.size} rows do not fit a program with {program.n_rows} rows.")
    weight = 1.0 / (scales * rows.class_sizes[rows.labels])
    mean = sparse.csr_array((weight, (rows.labels, np.arange(rows.size))), shape=(rows.n_classes, rows.size))
    l, u = np.where(scales > 0, program.l, program.u), np.where(scales > 0, program.u, program.l)
    l, u = (np.bincount(rows.labels, bound * weight, rows.n_classes) for bound in (l, u))
    A = _canonical(mean @ program.A @ S)
    # A class that mixes finite and infinite bounds has an infinite one; crossed ones come from rounding.
    small = Program.trusted(
        P, q, A, np.minimum(l, u), np.maximum(l, u), np.minimum(lb, ub), np.maximum(lb, ub), program.r
    )
    return Restriction(program, symmetry, reduce(small), keeps_rows=False)


def bound_duals(program: Program, x: Vector, y: Vector) -> Vector:
    """The dual values of bounds that make x and y stationary, as far as the bounds exist.

    Examples
    --------
    >>> program = Program(q=[1.0, -1.0], lb=0)
    >>> bound_duals(program, np.zeros(2), np.zeros(0)).tolist()
    [-1.0, 0.0]
    """
    gradient = program.q if program.P is None else program.P @ x + program.q
    return _within(-(gradient + program.A.T @ y), program)


def separable_bounds(program: Program, variables: Partition) -> Partition:
    """Split classes whose members' bounds exclude each other, until none is left.

    Examples
    --------
    >>> program = Program(q=[0, 0, 0], lb=[0, 2, 1], ub=[1, 3, 4])
    >>> separable_bounds(program, Partition.one_class(3)).labels.tolist()
    [0, 1, 0]
    """
    labels = variables.labels
    while True:
        lower, upper = _extremes(program, labels)
        bad = (lower > upper)[labels]
        if not bad.any():
            return variables if labels is variables.labels else Partition.from_labels(labels)
        # Members whose box lies above the smallest upper bound part from the others.
        above = bad & (program.lb > upper[labels])
        labels = Partition.from_labels(2 * labels + above).labels


def _class_box(program: Program, variables: Partition) -> tuple[Vector, Vector]:
    if variables.size != program.n_variables:
        raise PartitionError(
            f"classes of {variables.size} variables do not fit a program with {program.n_variables} variables."
        )
    lower, upper = _extremes(program, variables.labels)
    empty = np.flatnonzero(lower > upper)
    if empty.size:
        raise PartitionError(
            f"the bounds of the variables in class {empty[0]} exclude each other.", "Split it: separable_bounds does."
        )
    return lower, upper


def _extremes(program: Program, labels: NDArray[np.int64]) -> tuple[Vector, Vector]:
    n_classes = int(labels.max(initial=-1)) + 1
    lower, upper = np.full(n_classes, -np.inf), np.full(n_classes, np.inf)
    np.maximum.at(lower, labels, program.lb)
    np.minimum.at(upper, labels, program.ub)
    return lower, upper


def _restricted_objective(program: Program, S: SparseMatrix) -> tuple[SparseMatrix | None, Vector]:
    P = None
    if program.P is not None:
        P = _canonical(S.T @ program.P @ S)
        P = None if P.nnz == 0 else _canonical((P + P.T) * 0.5)
    return P, np.asarray(S.T @ program.q)


def _canonical(matrix: SparseMatrix) -> SparseMatrix:
    matrix = matrix.tocsc()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _within(w: Vector, program: Program) -> Vector:
    return np.where(((w > 0) & np.isinf(program.ub)) | ((w < 0) & np.isinf(program.lb)), 0.0, w)


def _spread(vector: Vector | None, labels: NDArray[np.int64]) -> Vector | None:
    return None if vector is None else vector[labels]


def _positions(size: int, kept: NDArray[np.int64]) -> NDArray[np.int64]:
    positions = np.full(size, -1, np.int64)
    positions[kept] = np.arange(kept.size)
    return positions
