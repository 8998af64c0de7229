r"""From any optimal point of a linear program to an optimal vertex (the expanded point of a lifted LP is rarely one).

Let (x, y, w) be optimal. Every point of the face

.. math:: \{ x : l \le Ax \le u,\; lb \le x \le ub,\; \text{every bound on which } y, w \text{ press is met} \}

satisfies the complementarity conditions with the same y and w, so it is optimal, and a vertex of the face is a vertex
of the feasible set. Simplex finds one without any objective; its basis then starts simplex on the whole program, which
has little or nothing left to do and returns basic dual values too. If the dual values are too rough for the face to
hold a point, simplex starts from a basis guessed from x instead.

HiGHS has a crossover of its own, ``Highs.crossover``; called from Python it ends the process (highspy 1.15).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relift.arrays import Vector
from relift.errors import OptionError
from relift.program.program import Program
from relift.program.solution import Solution
from relift.settings import SolverSettings
from relift.solvers.forms import solution_without_variables
from relift.solvers.highs_ import load, run, set_basis, solution_of

if TYPE_CHECKING:
    from highspy import HighsBasis, HighsBasisStatus

_BACKEND = "highs"
_PRESSES = 1e-7
"""Bounds whose dual value is above this, relative to the largest, are active."""


def vertex_solution(program: Program, solution: Solution, settings: SolverSettings) -> Solution:
    """Move an optimal point of a linear program to an optimal vertex.

    Parameters
    ----------
    program
        A linear minimisation.
    solution
        Its answer; the better the dual values, the less work. One without a point is returned as it is.
    settings
        For HiGHS.

    Returns
    -------
    Solution
        A basic solution with basic dual values: at most as many variables and rows strictly between their bounds as
        there are rows (and free variables that no vertex can hold, at 0).

    Raises
    ------
    OptionError
        If the program is quadratic.

    Examples
    --------
    >>> from relift.program import Status
    >>> program = Program(q=[-1, -1], A=[[1, 1]], u=[1], lb=0)
    >>> middle = Solution(Status.OPTIMAL, np.array([0.5, 0.5]), np.array([1.0]), np.zeros(2), objective=-1.0)
    >>> sorted(vertex_solution(program, middle, SolverSettings()).x.tolist())
    [0.0, 1.0]
    """
    if not program.is_linear:
        raise OptionError("a vertex is asked for, but the program is quadratic.", "Only linear programs have them.")
    if solution.x is None or not solution.status.has_point:
        return solution
    answer = solution_without_variables(program, _BACKEND)
    if answer is not None:
        return answer
    highs = load(program, settings)
    highs.setOptionValue("solver", "simplex")
    basis = _basis_of_face(program, solution, settings)
    if basis is not None:
        highs.setBasis(basis)
    else:
        set_basis(highs, program, solution)
    return solution_of(highs, program, _BACKEND, run(highs))


def _basis_of_face(program: Program, solution: Solution, settings: SolverSettings) -> HighsBasis | None:
    """An optimal basis of the face with zero objective, None if simplex finds no point there."""
    if solution.y is None or solution.w is None:
        return None
    l, u = _pressed(solution.y, program.l, program.u)
    lb, ub = _pressed(solution.w, program.lb, program.ub)
    face = Program.trusted(None, np.zeros(program.n_variables), program.A, l, u, lb, ub)
    highs = load(face, settings)
    highs.setOptionValue("solver", "simplex")
    if run(highs) != "kOptimal" or not highs.getBasis().valid:
        return None
    import highspy

    found, status = highs.getBasis(), highspy.HighsBasisStatus
    basis = highspy.HighsBasis()
    basis.col_status = _sided(found.col_status, solution.w, lb, ub, program.ub, status)
    basis.row_status = _sided(found.row_status, solution.y, l, u, program.u, status)
    basis.valid = True
    return basis


def _pressed(dual_value: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Bounds of the face: where a dual value is not 0, both are its active bound."""
    enough = _PRESSES * np.max(np.abs(dual_value), initial=0.0)
    on_upper = (dual_value > enough) & np.isfinite(upper)
    on_lower = (dual_value < -enough) & np.isfinite(lower)
    return np.where(on_upper, upper, lower), np.where(on_lower, lower, upper)


def _sided(
    found: Sequence[HighsBasisStatus],
    dual_value: Vector,
    lower: Vector,
    upper: Vector,
    own_upper: Vector,
    status: type[HighsBasisStatus],
) -> list[HighsBasisStatus]:
    """The basis in terms of the program: what is fixed on the face is at the bound it is pressed on."""
    at_upper = (lower == upper) & (dual_value > 0) & (upper == own_upper)
    return [status.kUpper if up and each == status.kLower else each for each, up in zip(found, at_upper, strict=True)]
