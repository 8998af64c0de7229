r"""Programs with hinge structure: a quadratic function of weights plus priced slacks, one in each row.

.. math:: \min_w\; \tfrac12 w^\top P w + q^\top w + \sum_r c_r\,\max(0,\, l_r - a_r^\top w - s_r b)

written as a program with a slack variable for each hinge. Support vector machines have it, and so have ranking,
structured and transductive ones, robust fits with absolute errors, and the quotients of all of them: there a row that
stands for n of them has n times the price. The dual has a box and, with a bias, one equality,

.. math:: \max\; l^\top\alpha - \tfrac12 (A^\top\alpha - q)^\top P^{-1} (A^\top\alpha - q),\quad 0 \le \alpha \le c,\;
   s^\top\alpha = 0 .
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from relift.arrays import Double, Indices, SparseMatrix
from relift.errors import OptionError
from relift.program.program import Program
from relift.program.solution import Solution, Status

HINT = (
    "It needs weights that are free and have a positive definite quadratic term, at most one free variable without one "
    "(the bias), and in each row one slack of its own: at least 0, with a positive price, loosening the row."
)


@final
@dataclass(frozen=True, eq=False)
class HingeForm:
    """The parts of a program with hinge structure; see the head of this module for the letters.

    Parameters
    ----------
    program
        The program.
    weights, slacks
        Numbers of the weights; of the slacks, in the order of their rows.
    bias
        Number of the bias; -1 if there is none.
    A, sides
        Rows over the weights, and over the bias, turned so that a slack loosens a lower bound.
    bound
        The lower bounds l.
    price
        The price c of each hinge, for a slack of slope 1.
    turned
        -1 for rows that were turned, 1 for others.
    slopes
        Coefficient of each slack in its (turned) row.
    """

    program: Program
    weights: Indices
    slacks: Indices
    bias: int
    A: SparseMatrix
    sides: Double
    bound: Double
    price: Double
    turned: Double
    slopes: Double

    @classmethod
    def of(cls, program: Program) -> HingeForm:
        """Read a program as one with hinge structure.

        Parameters
        ----------
        program
            A minimisation.

        Raises
        ------
        OptionError
            If it has no such structure.

        Examples
        --------
        >>> A = [[2.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, -1.0]]
        >>> toy = Program(P=np.diag([2.0, 0, 0, 0]), q=[0, 0, 3, 3], A=A, l=[1, -np.inf], u=[np.inf, -1],
        ...               lb=[-np.inf, -np.inf, 0, 0])
        >>> form = HingeForm.of(toy)
        >>> form.bias, form.A.toarray().tolist(), form.bound.tolist()
        (1, [[2.0], [-1.0]], [1.0, 1.0])
        """
        n, m = program.n_variables, program.n_rows
        P = sparse.csc_array((n, n)) if program.P is None else sparse.csc_array(program.P)
        A = sparse.csc_array(program.A)
        is_curved = np.diff(P.indptr) > 0
        is_free = np.isinf(program.lb) & np.isinf(program.ub)
        is_slack = ~is_curved & (program.lb == 0) & np.isinf(program.ub) & (program.q > 0) & (np.diff(A.indptr) == 1)
        slacks, weights = np.flatnonzero(is_slack), np.flatnonzero(is_curved & is_free)
        biases = np.flatnonzero(~is_curved & is_free & (program.q == 0))
        entries = A[:, slacks]
        is_lower, is_upper = np.isfinite(program.l), np.isfinite(program.u)
        fits = (
            program.sense == "min"
            and program.kind in ("QP", "LP")
            and len(biases) <= 1
            and len(weights) + len(biases) + len(slacks) == n
            and len(slacks) == m
            and np.array_equal(np.sort(entries.indices), np.arange(m))
            and bool((is_lower != is_upper).all())
        )
        if not fits:
            raise OptionError("this program has no hinge structure.", HINT)
        order = np.argsort(entries.indices)
        turned = np.where(is_lower, 1.0, -1.0)
        slopes = turned * entries.data[order]
        if (slopes <= 0).any():
            raise OptionError("this program has no hinge structure: a slack tightens its row.", HINT)
        by_turn = sparse.diags_array(turned)
        sides = turned * A[:, biases].toarray().ravel() if len(biases) else np.zeros(m)
        bound = np.where(is_lower, program.l, -np.where(is_upper, program.u, 0.0))
        return cls(
            program, weights, slacks[order], int(biases[0]) if len(biases) else -1,
            sparse.csr_array(by_turn @ A[:, weights]), sides, bound, program.q[slacks[order]] / slopes, turned, slopes,
        )  # fmt: skip

    @cached_property
    def P(self) -> SparseMatrix:
        """The quadratic term of the weights."""
        P: SparseMatrix = sparse.csc_array(self.program.P)
        return P[self.weights][:, self.weights]

    @cached_property
    def q(self) -> Double:
        """The linear term of the weights."""
        return np.asarray(self.program.q[self.weights])

    @cached_property
    def solve_P(self) -> Callable[[Double], Double]:
        """The inverse of P as a function.

        Raises
        ------
        OptionError
            If P is singular.
        """
        diagonal = self.P.diagonal()
        try:
            if self.P.nnz == np.count_nonzero(diagonal):
                if len(diagonal) != np.count_nonzero(diagonal > 0):
                    raise linalg.LinAlgError
                return lambda right: np.asarray(right / diagonal)
            if len(diagonal) <= 2000:
                factor = linalg.cho_factor(self.P.toarray())
                return lambda right: np.asarray(linalg.cho_solve(factor, right))
            return splu(self.P).solve  # type: ignore[no-any-return]
        except (linalg.LinAlgError, RuntimeError) as error:
            raise OptionError("the quadratic term of the weights is singular.", HINT) from error

    def weights_of(self, alpha: Double) -> Double:
        """The weights that belong to a dual point."""
        return self.solve_P(np.asarray(self.A.T @ alpha) - self.q)

    def dual_value(self, alpha: Double, w: Double) -> float:
        """The value of a dual point whose weights are w: a lower bound."""
        return float(self.bound @ alpha) - 0.5 * float(w @ (self.P @ w)) + self.program.r

    def left(self, w: Double) -> Double:
        """What is missing in each row, without the bias."""
        return np.asarray(self.bound - self.A @ w)

    def primal_value(self, w: Double, left: Double, b: float) -> float:
        """The objective of weights and bias with the best slacks."""
        loss = float(self.price @ np.maximum(left - self.sides * b, 0.0))
        return 0.5 * float(w @ (self.P @ w)) + float(self.q @ w) + loss + self.program.r

    def best_bias(self, left: Double) -> tuple[float, Double]:
        """The bias that is best for given weights, and a dual point that proves it (its hinges are the active ones).

        The loss is piecewise linear in b, with a corner at left / side of every row.
        """
        if self.bias < 0:
            return 0.0, np.where(left > 0, self.price, 0.0)
        has_side = self.sides != 0
        alpha = np.where(~has_side & (left > 0), self.price, 0.0)
        rows = np.flatnonzero(has_side)
        if not len(rows):
            return 0.0, alpha
        corners = left[rows] / self.sides[rows]
        order = np.argsort(corners, kind="stable")
        steps = (self.price[rows] * np.abs(self.sides[rows]))[order]
        # Slope left of all corners: rows with side > 0 are missing something there.
        slope = -float((self.price[rows] * np.maximum(self.sides[rows], 0.0)).sum())
        after = slope + np.cumsum(steps)
        at = int(np.searchsorted(after, 0.0))
        at = min(at, len(order) - 1)
        b = float(corners[order[at]])
        push = left[rows] - self.sides[rows] * b
        own = np.where(push > 0, self.price[rows], 0.0)
        # At the corner a share of the hinge makes the slope 0.
        place = order[at]
        own[order[:at]] = np.where(self.sides[rows][order[:at]] < 0, self.price[rows][order[:at]], 0.0)
        own[order[at + 1 :]] = np.where(self.sides[rows][order[at + 1 :]] > 0, self.price[rows][order[at + 1 :]], 0.0)
        others = float(self.sides[rows] @ own) - float(self.sides[rows][place] * own[place])
        own[place] = np.clip(-others / self.sides[rows][place], 0.0, self.price[rows][place])
        alpha[rows] = own
        return b, self.balanced(alpha)

    def balanced(self, alpha: Double) -> Double:
        """A dual point whose bias row is exactly 0: the heavier side is scaled down."""
        if self.bias < 0:
            return alpha
        pull = self.sides * alpha
        up, down = float(pull[pull > 0].sum()), -float(pull[pull < 0].sum())
        if up == down:
            return alpha
        if up == 0 or down == 0:
            return np.where(pull != 0, 0.0, alpha)
        return np.where(pull > 0, alpha * min(1.0, down / up), np.where(pull < 0, alpha * min(1.0, up / down), alpha))

    def solution(self, w: Double, b: float, alpha: Double, value: float, steps: int, method: str) -> Solution:
        """Point and dual values of the program."""
        x, y = np.zeros(self.program.n_variables), -self.turned * alpha
        duals = np.zeros(self.program.n_variables)
        x[self.weights] = w
        if self.bias >= 0:
            x[self.bias] = b
        x[self.slacks] = np.maximum(self.left(w) - self.sides * b, 0.0) / self.slopes
        duals[self.slacks] = np.minimum(self.slopes * (alpha - self.price), 0.0)
        return Solution(Status.OPTIMAL, x, y, duals, value, iterations=steps, backend=method)
