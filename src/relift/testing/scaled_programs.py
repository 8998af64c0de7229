"""Random programs with much that is open or equal, and the same in other units, signs and orders."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.program.conic_rows import ConicRows
from relift.program.program import Program

FACTORS = (1.0, 2.0, 4.0, 0.5, 0.25)
"""Powers of two: scaling by them is exact where floats are read by their bits."""


def open_program(random: np.random.Generator, n: int, m: int, copies: int = 1) -> Program:
    """Copies of a random program side by side; many rows are homogeneous, many variables free or without costs.

    Parameters
    ----------
    random
        Source of the numbers.
    n, m
        Variables and rows of one copy.
    copies
        How many.
    """
    A = random.choice([-2.0, -1.0, 1.0, 1.0, 2.0, 0.5, 3.0], (m, n)) * (random.random((m, n)) < min(0.6, 3 / n))
    q = random.choice([0.0, 0.0, 0.0, 1.0, -1.0, 2.0], n)
    lb = random.choice([-np.inf, 0.0, -1.0, 0.0, 0.0], n)
    ub = random.choice([np.inf, np.inf, 1.0, 2.0], n)
    l = random.choice([-np.inf, -np.inf, 0.0, -1.0, 1.0], m)
    u = np.where(random.random(m) < 0.4, l, random.choice([np.inf, 0.0, 1.0, 2.0], m))
    u = np.where(u == -np.inf, 0.0, np.maximum(u, l))
    P = None
    if random.random() < 0.4:
        factor = random.choice([-1.0, 0.0, 0.0, 1.0, 2.0], (n, n)) * (random.random((n, n)) < 0.4)
        P = sparse.block_diag([sparse.coo_array(factor @ factor.T)] * copies, format="csc")
    kind = "csr" if random.random() < 0.5 else "csc"
    q, l, u, lb, ub = (np.tile(vector, copies) for vector in (q, l, u, lb, ub))
    return Program(P=P, q=q, A=sparse.block_diag([sparse.coo_array(A)] * copies, format=kind), l=l, u=u, lb=lb, ub=ub)


class Rescaled(NamedTuple):
    """A program in other units, signs and another order: its variable k is ``columns[k]`` of the one before."""

    program: Program
    columns: Indices
    rows: Indices
    column_factors: Vector
    row_factors: Vector


def rescaled(
    random: np.random.Generator,
    program: Program,
    *,
    factors: tuple[float, ...] = FACTORS,
    signs: bool = True,
    columns: bool = True,
) -> Rescaled:
    """Measure variables in other units, multiply rows by factors, turn signs, and change the order.

    Parameters
    ----------
    random
        Source of the numbers.
    program
        A program without quadratic constraints. Cones are multiplied as a whole; signs that they do not see turn.
    factors
        Which factors.
    signs
        Whether factors may be negative.
    columns
        Whether variables change too, or rows alone.
    """
    n, m = program.n_variables, program.n_rows
    c, d = (random.choice(factors, size) * (random.choice([-1.0, 1.0], size) if signs else 1.0) for size in (n, m))
    if not columns:
        c = np.ones(n)
    order, row_order = random.permutation(n), random.permutation(m)
    A: SparseMatrix = (sparse.diags_array(d) @ program.A @ sparse.diags_array(c)).tocsr()[row_order][:, order]
    P: SparseMatrix | None = None
    if program.P is not None:
        P = (sparse.diags_array(c) @ program.P @ sparse.diags_array(c)).tocsc()[order][:, order]
    l, u = _scaled(program.l, program.u, d)
    lb, ub = _scaled(program.lb, program.ub, 1.0 / c)
    q = program.q * c
    conic = _scaled_cones(random, program.conic, c, factors, signs)
    conic = ConicRows(conic.A[:, order], conic.b, conic.cones)
    made = Program(
        P=P, q=q[order], A=A, l=l[row_order], u=u[row_order], lb=lb[order], ub=ub[order], r=program.r, conic=conic
    )  # fmt: skip
    return Rescaled(made, order, row_order, c[order], d[row_order])


def _scaled(low: Vector, high: Vector, factors: Vector) -> tuple[Vector, Vector]:
    return np.where(factors > 0, low, high) * factors, np.where(factors > 0, high, low) * factors


def _scaled_cones(
    random: np.random.Generator, rows: ConicRows, columns: Vector, factors: tuple[float, ...], signs: bool
) -> ConicRows:
    turns = np.ones(rows.n_rows)
    hidden = np.concatenate([rows.layout.tails, rows.layout.products])
    if signs:
        turns[hidden] = random.choice([-1.0, 1.0], hidden.size)
    scale = turns * random.choice(factors, len(rows))[rows.cone_of_row]
    return ConicRows(sparse.diags_array(scale) @ rows.A @ sparse.diags_array(columns), rows.b * scale, rows.cones)
