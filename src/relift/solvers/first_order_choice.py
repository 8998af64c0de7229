"""When OSQP is asked before the interior point method: where factorisations are predicted to be expensive.

Clarabel factors in each of its iterations, OSQP once or a few times. On a quadratic program whose factor fills up (the
links of a network, a grid) that decides: 7.2 s against 1.3 s for 16,000 nodes of a network, 13.4 s against 1.5 s for a
grid of 300 x 300 nodes. On programs that are nearly linear, or badly conditioned, OSQP may need ten thousands of
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

LEAST_FILL = 2.0
"""Entries of the factor for each entry of the program. Dense programs have one, and are factored at full speed."""

LEAST_OPERATIONS = 5e7
"""Operations of one factorisation."""

LEAST_LENGTH = 100.0
"""Operations for each entry of the factor: how much dearer it is to factor than to solve.

From about here on Clarabel factors by blocks of columns, and where these are narrow, several times slower than OSQP.
"""

INTERIOR_ITERATIONS = 15
"""Factorisations that an interior point method is predicted to need."""

SHARE = 0.35
"""The part of their cost that iterations of the first-order method may have."""

FEWEST_ITERATIONS = 300
"""So many the first-order method may take in any case: it seldom needs less than 100."""


def first_order_iterations(program: Program) -> int | None:
    """How many iterations OSQP is given before the default backend is asked; None if it is not to be asked first.

    Parameters
    ----------
    program
        The program to solve.
    """
    size = program.n_variables + program.n_rows
    if size < FEWEST_NODES or program.P is None or len(program.quadratic) or len(program.conic):
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
    return max(FEWEST_ITERATIONS, int(SHARE * INTERIOR_ITERATIONS * length / 4.0))  # each passes the factor twice
