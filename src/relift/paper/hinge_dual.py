r"""Support vector machines as grounded programs, solved in the dual.

A program has *hinge form* if its variables are weights with a diagonal curvature, one free bias, and one slack for each
row:

.. math:: \min\; \tfrac12 w^\top D w + c^\top \xi \quad\text{s.t.}\quad Zw + sb + e \circ \xi \ge l,\; \xi \ge 0.

QP-SVM and TC-QP-SVM have it, and so have their quotients: there a point that stands for n of them has n times the
price. The dual, in the signed form :math:`\beta = s \circ \alpha`, has a box and one equality,

.. math:: \max\; (l/s)^\top\beta - \tfrac12 \beta^\top K \beta,\qquad K_{ij} = \frac{z_i D^{-1} z_j^\top}{s_i s_j},
   \qquad \textstyle\sum_i \beta_i = 0,\quad 0 \le \alpha_i \le c_i / e_i,

and is solved by sequential minimal optimisation (:func:`relift.ml.compiled.smo`). Its work grows with the square of the
number of rows, so that rows that are merged pay; the primal's grows with the weights, of which lifting leaves nearly
all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Double, Indices, SparseMatrix
from relift.errors import OptionError
from relift.ml import compiled
from relift.ml.small_dual import balanced, best_bias
from relift.program.program import Program
from relift.program.solution import Solution, Status

TOLERANCE = 1e-6
"""Largest violation of optimality between two variables of the dual; margins are 1."""


@final
@dataclass(frozen=True, eq=False)
class HingeForm:
    """The parts of a program in hinge form; see the head of this module for the letters.

    Parameters
    ----------
    program
        The program.
    weights, slacks
        Numbers of the weights; of the slacks, in the order of their rows.
    bias
        Number of the bias.
    points
        Z, sparse.
    curvature
        The diagonal D.
    sides, slopes
        The columns s and e.
    """

    program: Program
    weights: Indices
    slacks: Indices
    bias: int
    points: SparseMatrix
    curvature: Double
    sides: Double
    slopes: Double

    @classmethod
    def of(cls, program: Program) -> HingeForm:
        """Read a program as a hinge form.

        Parameters
        ----------
        program
            A minimisation.

        Raises
        ------
        OptionError
            If the program is not of that form.

        Examples
        --------
        >>> A = [[2.0, 1.0, 1.0, 0.0], [-1.0, -1.0, 0.0, 1.0]]
        >>> toy = Program(P=np.diag([2.0, 0, 0, 0]), q=[0, 0, 3, 3], A=A, l=[1, 1], lb=[-np.inf, -np.inf, 0, 0])
        >>> form = HingeForm.of(toy)
        >>> form.weights.tolist(), form.bias, form.slacks.tolist()
        ([0], 1, [2, 3])
        """
        n, m = program.n_variables, program.n_rows
        diagonal = np.zeros(n) if program.P is None else program.P.diagonal()
        is_diagonal = program.P is not None and program.P.nnz == np.count_nonzero(diagonal)
        A = sparse.csc_array(program.A)
        is_free = np.isinf(program.lb) & np.isinf(program.ub)
        weights = np.flatnonzero((diagonal > 0) & is_free & (program.q == 0))
        biases = np.flatnonzero((diagonal == 0) & is_free & (program.q == 0))
        is_slack = (diagonal == 0) & (program.lb == 0) & np.isinf(program.ub) & (program.q > 0)
        slacks = np.flatnonzero(is_slack & (np.diff(A.indptr) == 1))
        of_row = A[:, slacks]
        is_hinge = (
            program.sense == "min"
            and is_diagonal
            and len(biases) == 1
            and len(weights) + 1 + len(slacks) == n
            and len(slacks) == m
            and np.array_equal(np.sort(of_row.indices), np.arange(m))
            and bool((of_row.data > 0).all())
            and bool(np.isfinite(program.l).all() and np.isinf(program.u).all())
        )
        if is_hinge:
            sides = A[:, biases].toarray().ravel()
            is_hinge = bool((sides != 0).all())
        if not is_hinge:
            raise OptionError(
                "this program is not a support vector machine in hinge form.",
                "Each row needs one slack of its own and the bias; the weights need a diagonal quadratic term.",
            )
        order = np.argsort(of_row.indices)
        return cls(
            program,
            weights,
            slacks[order],
            int(biases[0]),
            sparse.csr_array(A[:, weights]),
            diagonal[weights],
            sides,
            of_row.data[order],
        )

    def kernel(self) -> Double:
        """K of the dual, dense; it does not depend on the prices of the slacks."""
        scaled = sparse.diags_array(1.0 / self.sides) @ self.points
        right = np.ascontiguousarray((scaled @ sparse.diags_array(1.0 / self.curvature)).T.toarray())
        return np.ascontiguousarray(sparse.csr_array(scaled) @ right)

    def bounds(self, q: Double) -> tuple[Double, Double]:
        """The box of beta for a linear part q of the program."""
        ends = self.sides * q[self.slacks] / self.slopes
        return np.minimum(ends, 0.0), np.maximum(ends, 0.0)


@final
@dataclass(frozen=True, eq=False)
class HingeAnswer:
    """An answer for a program in hinge form.

    Parameters
    ----------
    solution
        Point and multipliers of the program; to be certified by whoever wants to be sure.
    beta
        The dual point, to start from when the prices change.
    steps
        Steps of the solver.
    """

    solution: Solution
    beta: Double
    steps: int


def solve_by_dual(
    form: HingeForm,
    kernel: Double | None = None,
    q: Double | None = None,
    start: Double | None = None,
    tolerance: float = TOLERANCE,
) -> HingeAnswer:
    """Solve a program in hinge form by its dual.

    Parameters
    ----------
    form
        The program.
    kernel
        Its kernel, if it is known already.
    q
        Another linear part than the program's, with other prices of the slacks.
    start
        A dual point to start from, such as that of smaller prices.
    tolerance
        The largest violation of optimality between two variables of the dual.

    Examples
    --------
    >>> A = [[2.0, 1.0, 1.0, 0.0], [-1.0, -1.0, 0.0, 1.0]]
    >>> toy = Program(P=np.diag([2.0, 0, 0, 0]), q=[0, 0, 9, 9], A=A, l=[1, 1], lb=[-np.inf, -np.inf, 0, 0])
    >>> solve_by_dual(HingeForm.of(toy)).solution.x.round(6).tolist()
    [2.0, -3.0, 0.0, 0.0]
    """
    program = form.program
    q = program.q if q is None else q
    K = form.kernel() if kernel is None else kernel
    lo, hi = form.bounds(q)
    beta = np.zeros(len(lo)) if start is None else balanced(np.clip(start, lo, hi))
    c = program.l / form.sides
    v = c - K @ beta if start is not None else c.copy()
    steps, _ = compiled.smo(K, lo, hi, beta, v, tolerance, 10_000_000)
    alpha = beta / form.sides
    w = (form.points.T @ alpha) / form.curvature
    left = program.l - form.points @ w
    bias = best_bias(left / form.sides, lo, hi)
    x, y, multipliers = np.zeros(program.n_variables), -alpha, np.zeros(program.n_variables)
    x[form.weights], x[form.bias] = w, bias
    x[form.slacks] = np.maximum(left - form.sides * bias, 0.0) / form.slopes
    multipliers[form.slacks] = np.minimum(form.slopes * alpha - q[form.slacks], 0.0)
    value = 0.5 * float(form.curvature @ w**2) + float(q @ x) + program.r
    solution = Solution(Status.OPTIMAL, x, y, multipliers, value, iterations=steps, backend="dual by SMO")
    return HingeAnswer(solution, beta, steps)
