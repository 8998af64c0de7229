"""The interface behind which every solver stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

from relift.program.program import Program
from relift.program.solution import Solution, Vector
from relift.settings import SolverSettings


@final
@dataclass(frozen=True, eq=False)
class WarmStart:
    """A point to start from, in the coordinates of the program that is solved."""

    x: Vector | None = None
    y: Vector | None = None
    w: Vector | None = None
    v: Vector | None = None


class Backend(ABC):
    """A solver of linear, convex quadratic or conic programs.

    A backend is given a minimisation (``program.sense == "min"``) that is already checked and answers with a
    :class:`~relift.program.solution.Solution` of that very program, in the signs written there. It keeps no
    state between two calls: settings are fresh in every solve. It reports what the solver said; whether the
    answer is good enough is decided by the certificate, not here. Rays are given where the solver has them.
    """

    name: str
    """How users call it."""
    package: str
    """The package to install for it."""
    solves_quadratic: bool
    """Whether it takes a quadratic objective."""
    solves_quadratic_rows: bool = False
    """Whether it takes quadratic constraints."""
    solves_cones: bool = False
    """Whether it takes conic rows, of every kind."""
    is_first_order: bool = False
    """Whether it wants the isometric quotient, on which it behaves as on the ground program."""
    has_time_limit: bool = True
    """Whether it can be stopped by time."""
    uses_warm_start: bool = False
    """Whether a warm start changes anything."""

    @abstractmethod
    def version(self) -> str:
        """Version of the solver.

        Raises
        ------
        MissingPackageError
            If it is not installed.
        """

    @abstractmethod
    def solve(self, program: Program, settings: SolverSettings, warm_start: WarmStart | None = None) -> Solution:
        """Solve a minimisation."""

    def harder(self, settings: SolverSettings, attempt: int) -> SolverSettings | None:
        """Return settings to try again with when an answer failed its certificate.

        Parameters
        ----------
        settings
            Those of the first try; what the caller wrote into ``options`` is kept.
        attempt
            1 for the first repetition, 2 for the second, and so on.

        Returns
        -------
        SolverSettings or None
            None if the solver has nothing better to offer: then another backend should be tried.
        """
        return None
