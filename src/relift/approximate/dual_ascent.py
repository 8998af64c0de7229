r"""Better dual values for a lower bound, by first-order steps on the original program from where the small one ended.

Dual values that are constant on classes miss the ground optimum by about the noise, times how far variables may go. A
few steps of the primal-dual hybrid gradient method (Chambolle and Pock, 2011; with a quadratic objective: Condat, 2013)

.. math:: x^+ = \Pi_{[lo, hi]}\big(x - \tau (Px + q + A^\top y)\big), \qquad
   y^+ = s - \sigma\,\Pi_{[l, u]}(s / \sigma), \quad s = y + \sigma A (2x^+ - x)

with diagonal steps :math:`\tau_j = 1/(\omega\sum_i |A_{ij}| + \sum_k |P_{jk}|)` and
:math:`\sigma_i = \omega/\sum_j |A_{ij}|` correct most of that at the cost of two products each.
Averages of the iterates are returned; they need not converge, since each is proved for what it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from relift.approximate.lower_bound import payable
from relift.arrays import SparseMatrix, Vector
from relift.program.program import Program


def ascend(
    program: Program, x: Vector, y: Vector, lower: Vector, upper: Vector, lengths: tuple[int, ...] = (10, 30, 90)
) -> Iterator[tuple[Vector, Vector]]:
    """Points and dual values after some steps, each the average of a stretch, which is also where the next one starts.

    Parameters
    ----------
    program
        A minimisation.
    x, y
        Where to start.
    lower, upper
        What the variables are known to keep.
    lengths
        How many steps each stretch has.

    Examples
    --------
    >>> program = Program(q=[1.0, 1.0], A=[[1.0, 1.01]], l=[2.0], lb=0, ub=5)
    >>> *_, (x, y) = ascend(program, np.ones(2), np.array([-1.0]), program.lb, program.ub, (200, 200, 200))
    >>> bool(np.allclose(y, -1 / 1.01, atol=1e-3))
    True
    """
    A = program.A.tocsr()
    At = A.T.tocsr()
    columns, rows = _sizes(A, 0), _sizes(A, 1)
    curved = np.zeros_like(x) if program.P is None else _sizes(program.P, 0)
    weight = _weight(x, y)
    tau = 1.0 / np.maximum(weight * columns + curved, 1e-300)
    tau[(columns == 0) & (curved == 0)] = 0.0
    sigma = np.where(rows > 0, weight / np.maximum(rows, 1e-300), 0.0)
    positive = np.where(sigma > 0, sigma, 1.0)
    for length in lengths:
        total_x, total_y = np.zeros_like(x), np.zeros_like(y)
        for _ in range(length):
            gradient = program.q + At @ y
            if program.P is not None:
                gradient += program.P @ x
            moved = np.clip(x - tau * gradient, lower, upper)
            s = y + sigma * (A @ (2.0 * moved - x))
            y = np.where(sigma > 0, s - sigma * np.clip(s / positive, program.l, program.u), 0.0)
            x = moved
            total_x += x
            total_y += y
        x, y = total_x / length, payable(total_y / length, program.l, program.u)
        yield x, y


def _weight(x: Vector, y: Vector) -> float:
    """The ratio of dual to primal steps that suits the sizes of the solution."""
    primal, dual = float(np.linalg.norm(x)), float(np.linalg.norm(y))
    return float(np.clip(dual / primal, 1e-4, 1e4)) if primal > 0 and dual > 0 else 1.0


def _sizes(matrix: SparseMatrix, axis: int) -> Vector:
    return np.asarray(abs(matrix).sum(axis=axis), dtype=np.float64).ravel()
