"""When OSQP is asked before the interior point method: where factorisations are predicted to be expensive.

Clarabel factors in each of its iterations, OSQP once or a few times. On a quadratic program whose factor fills up (the
links of a network, a grid in three dimensions) that decides: 4.5 s against 1.7 s for 8,000 nodes of a network, and the
ratio grows with the size. On programs that are nearly linear, or badly conditioned, OSQP may need ten thousands of
iterations; so it is asked only where most variables have a curvature of their own, and for no more iterations than
cost a part of what Clarabel is predicted to need. If its answer does not pass its check by then, Clarabel is asked.
"""

from __future__ import annotations

import numpy as np

from relift.program.program import Program
from relift.solvers.predicted_fill import predicted_fill
from relift.solvers.registry import is_importable

FEWEST_NODES = 8_000
"""Variables and rows together; smaller programs are solved in a moment either way."""

LEAST_FILL = 4.0
"""Entries of the factor for each entry of the program."""

LEAST_OPERATIONS = 1e8
"""Operations of one factorisation."""

LEAST_LENGTH = 200.0
"""Operations for each entry of the factor: how much dearer it is to factor than to solve."""

INTERIOR_ITERATIONS = 15
"""Factorisations that an interior point method is predicted to need."""

SHARE = 0.35
"""The part of their cost that iterations of the first-order method may have."""


def first_order_iterations(program: Program) -> int | None:
    """How many iterations OSQP is given before the default backend is asked; None if it is not to be asked first.

    Parameters
    ----------
    program
        The program to solve.
    """
    size = program.n_variables + program.n_rows
    if program.P is None or len(program.quadratic) or len(program.conic) or size < FEWEST_NODES:
        return None
    if not is_importable("osqp"):
        return None
    if np.count_nonzero(program.P.diagonal()) < 0.5 * program.n_variables:
        return None
    fill = predicted_fill(program)
    nonzeros = program.A.nnz + 0.5 * program.P.nnz + size
    if fill is None or fill.entries < LEAST_FILL * nonzeros or fill.operations < LEAST_OPERATIONS:
        return None
    length = fill.operations / fill.entries
    if length < LEAST_LENGTH:
        return None
    return int(SHARE * INTERIOR_ITERATIONS * length / 4.0)  # each iteration passes the factor twice
