r"""In which unit a variable is measured: how much of it is a lot, as far as the program says.

Rows may be multiplied by any factor, so that a coefficient alone says nothing about a variable. What does is how large
the variable has to be for its bounds, or for the right-hand side of one of its rows, to notice it:

.. math:: N_j = \max(|lb_j|, |ub_j|, \max_i |b_i| / |a_{ij}|)

over finite bounds (b_i is the larger of the two of a row). Its unit is :math:`\min(1, N_j)`: one, as every solver
assumes, unless all that is said about the variable is smaller. Variables about which nothing is said (all their rows
have right-hand side 0), or nothing but what rounding leaves, have the largest unit of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Vector
from relift.program import formulas
from relift.program.formulas import ARRAYS
from relift.program.magnitudes import largest_by_group, ratios_of_columns
from relift.program.program import Program


@final
@dataclass(frozen=True, eq=False)
class Units:
    """Units of the variables.

    Parameters
    ----------
    of_variables
        One for each variable, at most 1.
    common
        The largest of them: the unit of what has none of its own.
    """

    of_variables: Vector
    common: float


def units(program: Program) -> Units:
    """Measure the variables of a program.

    Parameters
    ----------
    program
        Any program; its objective is not read.

    Examples
    --------
    >>> units(Program(A=[[1.0, 2e8], [1.0, -1.0]], l=[1.0, 0.0], lb=0, ub=[np.inf, 1e-8])).of_variables.tolist()
    [1.0, 1e-08]
    """
    largest = formulas.largest_bound(ARRAYS, program.lb, program.ub)
    right = formulas.largest_bound(ARRAYS, program.l, program.u)
    largest = np.maximum(largest, ratios_of_columns(program.A, right))
    largest = np.maximum(largest, natural_of_constraints(program))
    common = common_unit(float(largest.max(initial=0.0)))
    return Units(formulas.unit(ARRAYS, largest, common), common)


def natural_of_constraints(program: Program) -> Vector:
    """What quadratic constraints and cones say about each variable: their part of :math:`N_j`."""
    of_cones = ratios_of_columns(program.conic.A, np.abs(program.conic.b))
    return np.maximum(of_cones, _of_quadratic_rows(program))


def common_unit(largest: float) -> float:
    """The unit of variables about which nothing is said, given the largest :math:`N_j`."""
    return min(largest, 1.0) if largest > 0 else 1.0


def _of_quadratic_rows(program: Program) -> Vector:
    rows, n = program.quadratic, program.n_variables
    if not len(rows):
        return np.zeros(n)
    linear = ratios_of_columns(rows.q, np.abs(rows.r))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        curved = np.sqrt(2.0 * np.abs(rows.r[rows.owner]) / np.abs(rows.values))
    curved = np.where((rows.values != 0) & (rows.first == rows.second), curved, 0.0)
    return np.maximum(linear, largest_by_group(rows.first, curved, n))
