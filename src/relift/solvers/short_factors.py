"""Clarabel in the place of HiGHS's interior point method, for linear programs whose factors are short.

Both are asked only where simplex is not done at once (:mod:`~relift.solvers.highs_race`). HiGHS's method factors normal
equations and prepares a basis, Clarabel factors the optimality conditions as they are. Where columns of that factor are
short, it takes a tenth to two thirds of the time (a flow in a grid 0.16 s and 1.81 s, a security game 0.13 and 0.53, a
staircase 0.04 and more than 5), where they are long, several times as much (a random packing 0.68 and 0.42, a power
grid 1.84 and 0.65). They are counted first; where counting takes long, HiGHS's method is asked.

Clarabel cannot be stopped while it prepares itself, which takes as long as an iteration or two, so it begins when
simplex has had half of the time that it is predicted to need.
"""

from __future__ import annotations

from functools import partial

from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.answers import ask
from relift.solvers.clarabel_ import ClarabelBackend
from relift.solvers.highs_race import Other
from relift.solvers.predicted_fill import predicted_fill

LONGEST = 50.0
"""Operations for each entry of the factor up to which Clarabel is asked."""

EFFORT = 60.0
"""How often each entry may be looked at while they are counted: simplex is at work, and interior point waits."""

SECONDS_PER_ENTRY = 7e-7
"""What Clarabel takes in 20 iterations, for each entry of the program and of the factor: 35 nanoseconds in each, and
between 20 and 45 on most of 35 programs."""

SHARE = 0.5
"""The part of its time that simplex has before it."""


def clarabel_beside(program: Program) -> Other:
    """Clarabel in the place of HiGHS's interior point method, if its factors are short.

    Parameters
    ----------
    program
        A linear program.
    """
    return Other(partial(head_start, program), partial(by_clarabel, program))


def head_start(program: Program) -> float | None:
    """CPU seconds that simplex has before Clarabel begins; None where HiGHS's interior point method is to be asked.

    Parameters
    ----------
    program
        A linear program.

    Examples
    --------
    >>> head_start(Program(q=[1.0, 1.0], A=[[1.0, 2.0]], l=1.0, lb=0.0))
    2.45e-06
    """
    fill = predicted_fill(program, EFFORT)
    if fill is None or not fill.is_whole or fill.operations > LONGEST * fill.entries:
        return None
    entries = program.n_variables + program.n_rows + program.n_nonzeros + fill.entries
    return SHARE * SECONDS_PER_ENTRY * entries


def by_clarabel(program: Program, settings: SolverSettings) -> Solution | None:
    """Return an optimal point by Clarabel; None if it has found none.

    Parameters
    ----------
    program
        A linear program.
    settings
        Without options, which would be those of HiGHS.
    """
    answer = ask(ClarabelBackend(), program, settings)
    return answer if answer.status is Status.OPTIMAL else None
