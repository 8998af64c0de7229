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

from relift.arrays import Double
from relift.errors import OptionError
from relift.lifting.lifting import Lifting
from relift.ml import compiled
from relift.ml.hinge_form import HingeForm
from relift.ml.small_dual import balanced, best_bias
from relift.pipeline import lift
from relift.program.program import Program
from relift.program.solution import Solution, Status

TOLERANCE = 1e-6
"""Largest violation of optimality between two variables of the dual; margins are 1."""

HINT = "Each row needs one slack of its own and the bias; the weights need a diagonal quadratic term and no linear one."


def lift_equal(program: Program) -> Lifting:
    """The lifting of the paper: classes of equal things. Up to sign a bias may rest, and the quotient is no machine."""
    return lift(program, sizes=False, signs=False)


@final
@dataclass(frozen=True, eq=False)
class SignedHinges:
    """A hinge form whose dual has the signed form above; see the head of this module for the letters.

    Parameters
    ----------
    form
        The program and its parts; each row has a side and the weights have no linear term.
    curvature
        The diagonal D.
    """

    form: HingeForm
    curvature: Double

    @classmethod
    def of(cls, program: Program) -> SignedHinges:
        """Read a program as a support vector machine.

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
        >>> form = SignedHinges.of(toy).form
        >>> form.weights.tolist(), form.bias, form.slacks.tolist()
        ([0], 1, [2, 3])
        """
        message = "this program is not a support vector machine in hinge form."
        try:
            form = HingeForm.of(program)
        except OptionError as error:
            raise OptionError(message, HINT) from error
        curvature = form.P.diagonal()
        is_diagonal = form.P.nnz == np.count_nonzero(curvature > 0) == len(form.weights)
        if not is_diagonal or form.bias < 0 or form.q.any() or not form.sides.all():
            raise OptionError(message, HINT)
        return cls(form, curvature)

    def kernel(self) -> Double:
        """K of the dual, dense; it does not depend on the prices of the slacks."""
        scaled = sparse.diags_array(1.0 / self.form.sides) @ self.form.A
        right = np.ascontiguousarray((scaled @ sparse.diags_array(1.0 / self.curvature)).T.toarray())
        return np.ascontiguousarray(sparse.csr_array(scaled) @ right)

    def bounds(self, q: Double) -> tuple[Double, Double]:
        """The box of beta for a linear part q of the program."""
        ends = self.form.sides * q[self.form.slacks] / self.form.slopes
        return np.minimum(ends, 0.0), np.maximum(ends, 0.0)


@final
@dataclass(frozen=True, eq=False)
class HingeAnswer:
    """An answer for a program in hinge form.

    Parameters
    ----------
    solution
        Point and dual values of the program; to be certified by whoever wants to be sure.
    beta
        The dual point, to start from when the prices change.
    steps
        Steps of the solver.
    """

    solution: Solution
    beta: Double
    steps: int


def solve_by_dual(
    machine: SignedHinges,
    kernel: Double | None = None,
    q: Double | None = None,
    start: Double | None = None,
    tolerance: float = TOLERANCE,
) -> HingeAnswer:
    """Solve a program in hinge form by its dual.

    Parameters
    ----------
    machine
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
    >>> solve_by_dual(SignedHinges.of(toy)).solution.x.round(6).tolist()
    [2.0, -3.0, 0.0, 0.0]
    """
    form, program = machine.form, machine.form.program
    q = program.q if q is None else q
    K = machine.kernel() if kernel is None else kernel
    lo, hi = machine.bounds(q)
    beta = np.zeros(len(lo)) if start is None else balanced(np.clip(start, lo, hi))
    c = form.bound / form.sides
    v = c - K @ beta if start is not None else c.copy()
    steps, _ = compiled.smo(K, lo, hi, beta, v, tolerance, 10_000_000)
    alpha = beta / form.sides
    w = np.asarray(form.A.T @ alpha) / machine.curvature
    left = form.left(w)
    bias = best_bias(left / form.sides, lo, hi)
    x, y, duals = np.zeros(program.n_variables), -form.turned * alpha, np.zeros(program.n_variables)
    x[form.weights], x[form.bias] = w, bias
    x[form.slacks] = np.maximum(left - form.sides * bias, 0.0) / form.slopes
    duals[form.slacks] = np.minimum(form.slopes * alpha - q[form.slacks], 0.0)
    value = 0.5 * float(machine.curvature @ w**2) + float(q @ x) + program.r
    solution = Solution(Status.OPTIMAL, x, y, duals, value, iterations=steps, backend="dual by SMO")
    return HingeAnswer(solution, beta, steps)
