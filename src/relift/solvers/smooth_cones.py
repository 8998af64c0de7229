r"""Cones as smooth concave functions, for Newton steps where a solution lies on their boundary.

Second-order, exponential and power cones are :math:`\{s : g(s) \ge 0\}` with g concave and homogeneous of degree one:

.. math:: h - \|t\|, \qquad y \log(z / y) - x, \qquad \prod_i x_i^{\alpha_i} - |z|.

At a point with g(s) = 0 where g is smooth, the dual values are :math:`v = \lambda \nabla g(s)` with
:math:`\lambda \ge 0`: they lie in the dual cone since :math:`\nabla g(s)^\top s' \ge g(s')`, and
:math:`v^\top s = \lambda g(s) = 0`. A cone whose slack vanishes is held there by equalities instead, and so is the
middle row of an exponential cone at its flat side, x <= 0, y = 0. Semidefinite cones are not treated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.program.conic_rows import ConicRows

TIP = 1e-4
"""A slack this small against its dual values vanishes: it is at the tip of the cone."""


@final
@dataclass(frozen=True, eq=False)
class ActiveCones:
    """Which cones hold a solution, and how.

    Parameters
    ----------
    rows
        The conic rows.
    curved
        The cones on whose smooth boundary the slack lies.
    tips
        Rows that are held at 0: those of cones whose slack vanishes, and of flat sides.
    fixed
        For each row, whether it belongs to a cone that is not treated, whose dual values stay.
    """

    rows: ConicRows
    curved: Indices
    tips: Indices
    fixed: NDArray[np.bool_]

    @classmethod
    def at(cls, rows: ConicRows, s: Vector, v: Vector) -> ActiveCones:
        """Tell the cones apart at a slack and its dual values."""
        largest_s, largest_v = (np.maximum.reduceat(np.abs(u), rows.starts) if len(rows) else u for u in (s, v))
        is_tip = (largest_s <= TIP * largest_v) & (largest_s <= TIP)
        is_fixed = np.zeros(len(rows), bool)
        is_fixed[rows.layout.semidefinite] = True
        with np.errstate(all="ignore"):
            values, prices = function_values(rows, s), duals_of_functions(rows, v)
            is_smooth = np.isfinite(gradient(rows, s)) & (np.abs(gradient(rows, s)) < 1e6)
        smooth = np.bincount(rows.cone_of_row, ~is_smooth, len(rows)) == 0
        is_flat, sides = _flat_sides(rows, s, v)
        is_curved = (prices > values) & smooth & ~is_tip & ~is_fixed & ~is_flat
        is_fixed |= (prices > values) & ~smooth & ~is_tip & ~is_flat
        tips = np.flatnonzero((is_tip & ~is_fixed & ~is_flat)[rows.cone_of_row])
        return cls(rows, np.flatnonzero(is_curved), np.concatenate([tips, sides]), is_fixed[rows.cone_of_row])

    def duals(self, s: Vector, prices: Vector, of_tips: Vector, v: Vector) -> Vector:
        """Put v together from the prices of curved cones and the dual values of tips; fixed ones as they are."""
        result = np.where(self.fixed, v, 0.0)
        of_cone = np.zeros(len(self.rows))
        of_cone[self.curved] = prices
        mine = np.isin(self.rows.cone_of_row, self.curved)
        result[mine] = (of_cone[self.rows.cone_of_row] * gradient(self.rows, s))[mine]
        result[self.tips] = of_tips
        return result

    def normals(self, s: Vector) -> SparseMatrix:
        """The row of each curved cone: what g loses when x moves, as a sparse matrix over the variables."""
        rows = self.rows
        position = np.full(len(rows), -1)
        position[self.curved] = np.arange(self.curved.size)
        mine = np.flatnonzero(position[rows.cone_of_row] >= 0)
        picked: SparseMatrix = sparse.csr_array(
            (gradient(rows, s)[mine], (position[rows.cone_of_row[mine]], mine)),
            shape=(self.curved.size, rows.n_rows),
        )
        return picked @ rows.A

    def bend(self, s: Vector, prices: Vector) -> SparseMatrix:
        """What the curved cones add to the Hessian in x."""
        of_cone = np.zeros(len(self.rows))
        of_cone[self.curved] = prices
        return self.rows.A.T @ hessian(self.rows, s, of_cone) @ self.rows.A


def _flat_sides(rows: ConicRows, s: Vector, v: Vector) -> tuple[NDArray[np.bool_], Indices]:
    """The exponential cones whose slack lies on the flat side, and their middle rows."""
    at = rows.layout.exponential_rows
    x, y, z = s[at].T
    side = (y <= TIP * np.minimum(-x, z)) & (np.abs(v[at[:, [0, 2]]]).max(axis=1) <= TIP * v[at[:, 1]])
    is_flat = np.zeros(len(rows), bool)
    is_flat[rows.layout.exponential[side]] = True
    return is_flat, at[side, 1]


def function_values(rows: ConicRows, s: Vector) -> Vector:
    """The value of g for each cone; NaN for semidefinite ones.

    Examples
    --------
    >>> from relift.program.cones import Power, SecondOrder
    >>> rows = ConicRows(np.zeros((6, 1)), np.zeros(6), [SecondOrder(3), Power(0.5)])
    >>> function_values(rows, np.array([6.0, 3.0, 4.0, 4.0, 1.0, -1.5])).tolist()
    [1.0, 0.5]
    """
    values, layout = np.full(len(rows), np.nan), rows.layout
    values[layout.second_order] = s[layout.heads] - _norms(rows, s)
    x, y, z = s[layout.exponential_rows].T
    values[layout.exponential] = y * np.log(z / y) - x
    values[layout.power] = _products(rows, s) - np.abs(s[layout.products])
    return values


def duals_of_functions(rows: ConicRows, v: Vector) -> Vector:
    """The price of each g that dual values v amount to; NaN for semidefinite cones."""
    prices, layout = np.full(len(rows), np.nan), rows.layout
    prices[layout.second_order] = v[layout.heads]
    prices[layout.exponential] = -v[layout.exponential_rows[:, 0]]
    prices[layout.power] = np.abs(v[layout.products])
    return prices


def gradient(rows: ConicRows, s: Vector) -> Vector:
    """The gradients of all g, row by row; 0 for semidefinite cones."""
    result, layout = np.zeros(rows.n_rows), rows.layout
    result[layout.heads] = 1.0
    result[layout.tails] = -s[layout.tails] / _norms(rows, s)[layout.tail_owner]
    _, y, z = s[layout.exponential_rows].T
    result[layout.exponential_rows] = np.column_stack([-np.ones_like(y), np.log(z / y) - 1.0, y / z])
    result[layout.arguments] = layout.exponents * _products(rows, s)[layout.argument_owner] / s[layout.arguments]
    result[layout.products] = -np.sign(s[layout.products])
    return result


def hessian(rows: ConicRows, s: Vector, prices: Vector) -> SparseMatrix:
    """The sum over cones of price times the negative second derivative of g, over the conic rows."""
    layout, size = rows.layout, rows.n_rows
    # Each block is diag(d) - w u u', with d and u by rows and w by cones; those of price 0 are left out.
    diagonal, outer, of_cone = np.zeros(size), np.zeros(size), np.zeros(len(rows))
    wanted = prices > 0
    with np.errstate(all="ignore"):
        norms = _norms(rows, s)
        of_tail = prices[layout.second_order][layout.tail_owner] / norms[layout.tail_owner]
        diagonal[layout.tails] = of_tail
        outer[layout.tails] = s[layout.tails] / norms[layout.tail_owner]
        of_cone[layout.second_order] = prices[layout.second_order] / norms
        products = _products(rows, s)
        of_power = prices[layout.power] * products
        x, alpha = s[layout.arguments], layout.exponents
        diagonal[layout.arguments] = of_power[layout.argument_owner] * alpha / x**2
        outer[layout.arguments] = alpha / x
        of_cone[layout.power] = of_power
        _, y, z = s[layout.exponential_rows].T
        # For the exponential cone the block in (y, z) is (1/y) u u' with u = (1, -y/z).
        outer[layout.exponential_rows[:, 1]] = 1.0
        outer[layout.exponential_rows[:, 2]] = -y / z
        of_cone[layout.exponential] = -prices[layout.exponential] / y
    chosen = wanted[rows.cone_of_row]
    diagonal, outer = np.where(chosen, diagonal, 0.0), np.where(chosen, outer, 0.0)
    weight = np.where(wanted, of_cone, 0.0)
    spread = sparse.csr_array((outer, rows.cone_of_row, np.arange(size + 1)), shape=(size, len(rows)))
    second: SparseMatrix = sparse.diags_array(diagonal) - spread @ sparse.diags_array(weight) @ spread.T
    return second


def _norms(rows: ConicRows, s: Vector) -> Vector:
    layout = rows.layout
    return np.sqrt(np.bincount(layout.tail_owner, s[layout.tails] ** 2, layout.second_order.size))


def _products(rows: ConicRows, s: Vector) -> Vector:
    layout = rows.layout
    logs = layout.exponents * np.log(s[layout.arguments])
    return np.exp(np.bincount(layout.argument_owner, logs, layout.power.size))
