"""Simplex and interior point one after the other, for linear programs of which one of the two is slow.

Simplex has a budget first; then interior point, without crossover, twice as much; then simplex four times the budget;
and so on. Simplex goes on from where it was, unless presolve had removed something: then it starts again. Neither takes
more than about five times as long as the better one alone would.

This is for small programs, most of which are solved in a moment, and for callers that have work to do between the
iterations of simplex. For all others see :mod:`~relift.solvers.highs_race`.

The first budget is what interior point takes on most programs, 10 microseconds for each variable, row and nonzero,
between 1 and 10 s. Programs that simplex solves within it are solved as by simplex alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from relift.arrays import Vector
from relift.settings import SolverSettings

if TYPE_CHECKING:
    from highspy import HighsBasis, HighsInfo, HighsModelStatus, HighsSolution

SHORTEST, LONGEST = 1.0, 10.0
"""Bounds of the first budget of simplex, in seconds."""

SECONDS_PER_ENTRY = 1e-5
"""What interior point takes for each variable, row and nonzero, on most programs at most (43 of 51 that were measured).

The median is 4e-6, the quickest 5e-7 and the slowest 1e-4.
"""

UNDECIDED = {"kTimeLimit", "kUnknown", "kNotset", "kSolveError", "kIterationLimit"}
"""After a run that ended so, the other method may still have an answer."""


class TakesBasis(Protocol):
    """A HiGHS object that is given a basis."""

    def setBasis(self, basis: HighsBasis) -> object:
        """Start from a basis."""


class Highs(TakesBasis, Protocol):
    """What is used of a HiGHS object; highspy's own description of it lacks the rays."""

    def version(self) -> str:
        """The version of HiGHS."""

    def setOptionValue(self, option: str, value: object) -> object:
        """Set an option; whether that went well."""

    def getOptionType(self, option: str) -> tuple[object, object]:
        """Whether there is such an option, and the type of its values."""

    def getOptions(self) -> object:
        """All options, as attributes."""

    def setCallback(self, callback: Callable[..., None], data: object) -> object:
        """Set what is called while it runs; whether that went well."""

    def startCallback(self, kind: object) -> object:
        """Begin to make calls of this kind."""

    def passModel(self, *parts: object) -> object:
        """Take a linear program; whether that went well."""

    def passHessian(self, *parts: object) -> object:
        """Take a quadratic objective; whether that went well."""

    def changeColsCost(self, n: int, columns: object, costs: Vector) -> object:
        """Change costs; whether that went well."""

    def changeColsBounds(self, n: int, columns: object, lower: Vector, upper: Vector) -> object:
        """Change bounds of variables; whether that went well."""

    def changeRowsBounds(self, n: int, rows: object, lower: Vector, upper: Vector) -> object:
        """Change bounds of rows; whether that went well."""

    def changeObjectiveOffset(self, offset: float) -> object:
        """Change the constant of the objective; whether that went well."""

    def run(self) -> object:
        """Run the solver."""

    def getRunTime(self) -> float:
        """Seconds of all runs together."""

    def getModelStatus(self) -> HighsModelStatus:
        """How the run ended."""

    def getInfo(self) -> HighsInfo:
        """Iterations and status of the last run."""

    def getInfoValue(self, name: str) -> tuple[object, object]:
        """Whether there is such a fact about the last run, and what it is."""

    def getSolution(self) -> HighsSolution:
        """Point and dual values."""

    def getBasis(self) -> HighsBasis:
        """The basis at the end."""

    def getPrimalRay(self) -> tuple[object, bool, Sequence[float]]:
        """Status, whether there is a direction in which the program is unbounded, and that direction."""

    def getDualRay(self) -> tuple[object, bool, Sequence[float]]:
        """Status, whether there is a proof of infeasibility, and that proof."""


def first_budget(n_entries: int) -> float:
    """Seconds that simplex has before interior point is tried.

    Parameters
    ----------
    n_entries
        Variables, rows and nonzeros together.

    Examples
    --------
    >>> first_budget(5_000), first_budget(200_000), first_budget(10**8)
    (1.0, 2.0, 10.0)
    """
    return min(LONGEST, max(SHORTEST, SECONDS_PER_ENTRY * n_entries))


def run_in_rounds(
    load: Callable[[SolverSettings], Highs],
    run: Callable[[Highs], str],
    settings: SolverSettings,
    budget: float,
    simplex: Highs,
    elsewhere: Callable[[], float] = lambda: 0.0,
) -> tuple[Highs, str]:
    """Run simplex and interior point in turns until one of them has an answer or the time limit is over.

    Parameters
    ----------
    load
        Makes a HiGHS object that holds the program, with the settings.
    run
        Runs it and returns the name of its status.
    settings
        Those of the solve.
    budget
        Of the first round of simplex.
    simplex
        The HiGHS object for simplex, loaded; it may have a basis to start from.
    elsewhere
        Seconds that other work took so far, between iterations: they are not taken from the budget of simplex.

    Returns
    -------
    tuple
        The object that has the answer, and its status. A claim that there is no solution is left to simplex, which
        has rays.
    """
    start, limit = perf_counter(), settings.time_limit or float("inf")
    while True:
        # HiGHS counts the time of all runs of an object.
        simplex.setOptionValue(
            "time_limit", min(simplex.getRunTime() + budget, simplex.getRunTime() + _left(limit, start))
        )
        before = elsewhere()
        status = run(simplex)
        while status == "kTimeLimit" and elsewhere() > before and _left(limit, start) > 0:
            lost, before = elsewhere() - before, elsewhere()
            simplex.setOptionValue("time_limit", simplex.getRunTime() + min(lost, _left(limit, start)))
            status = run(simplex)
        if status != "kTimeLimit" or _left(limit, start) <= 0:
            break
        options = {**settings.options, "solver": "ipm", "run_crossover": "off"}
        seconds = max(min(2.0 * budget, _left(limit, start)), 1e-3)
        interior = load(replace(settings, time_limit=seconds, options=options))
        status_of_interior = run(interior)
        if status_of_interior == "kOptimal":
            return interior, status_of_interior
        if status_of_interior not in UNDECIDED:
            status = status_of_interior
            break
        if _left(limit, start) <= 0:
            break
        budget *= 4.0
    simplex.setOptionValue("time_limit", simplex.getRunTime() + max(_left(limit, start), 0.0))
    return simplex, status


class TimedInterrupt:
    """An interrupt that counts the seconds it takes.

    Parameters
    ----------
    interrupt
        What to call.
    """

    def __init__(self, interrupt: Callable[[], bool]) -> None:
        self._interrupt, self.seconds = interrupt, 0.0

    def __call__(self) -> bool:
        """Whether to end, as the interrupt says."""
        start = perf_counter()
        try:
            return self._interrupt()
        finally:
            self.seconds += perf_counter() - start


def _left(limit: float, start: float) -> float:
    return limit - (perf_counter() - start)
