"""The interface behind which every solver stands, and what all of them do before they are called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import ModuleType

from relift.kept_solvers import KeptSolvers
from relift.program.program import Program
from relift.program.solution import Solution
from relift.program.step import Step, expand_through, restrict_through
from relift.settings import SolverSettings
from relift.solvers.dummy_variable import DummyVariable
from relift.solvers.forms import missing_package, solution_without_variables
from relift.solvers.idle_bounds import IdleBounds
from relift.solvers.kept import KeptSolver, solve_kept
from relift.solvers.power_trees import PowerTrees


class Backend(ABC):
    """A solver of linear, convex quadratic or conic programs.

    A backend is given a minimisation (``program.sense == "min"``) that is already checked and answers with a
    :class:`~relift.program.solution.Solution` of that very program, in the signs written there. It keeps no
    state between two calls; a solver object that is to be used again lies with the caller. It reports what the
    solver said; whether the answer is good enough is decided by the certificate, not here. Rays are given where the
    solver has them.
    """

    name: str
    """How users call it."""
    package: str
    """The package to install for it."""
    extra: str = ""
    """The extra of relift that installs this package; empty if relift always does."""
    solves_quadratic: bool
    """Whether it takes a quadratic objective."""
    solves_quadratic_rows: bool = False
    """Whether it takes quadratic constraints."""
    solves_cones: bool = False
    """Whether it takes conic rows, of every kind."""
    is_first_order: bool = False
    """Whether it wants the isometric quotient, on which it behaves as on the original program."""
    has_time_limit: bool = True
    """Whether it can be stopped by time."""
    uses_warm_start: bool = False
    """Whether a warm start changes anything."""
    keeps_solver: bool = False
    """Whether its solver object can be kept, and updated with other numbers."""

    may_ask_others: bool = False
    """Whether another solver may take the place of one of its methods: where it was not asked for by name."""

    leaves_idle_bounds_out: bool = False
    """Whether it is quicker without the bounds of variables that no optimal point needs."""

    def module(self) -> ModuleType:
        """Import the package of the solver.

        Raises
        ------
        MissingPackageError
            If it is not installed.
        """
        try:
            return __import__(self.package)  # the same as import_module where there is no dot, in a tenth of the time
        except ImportError as error:
            raise missing_package(self.name, self.package, self.extra) from error

    def version(self) -> str:
        """Version of the solver; raises MissingPackageError if it is not installed."""
        return str(self.module().__version__)

    def solve(self, program: Program, settings: SolverSettings, warm_start: Solution | None = None) -> Solution:
        """Solve a minimisation: answer it here if it has no variables, else in the form that every solver takes.

        Parameters
        ----------
        program
            What to solve.
        settings
            How.
        warm_start
            A point to start from, with dual values where they are known.
        """
        return self.solve_by_kept(program, settings, warm_start, None)

    def solve_by_kept(
        self, program: Program, settings: SolverSettings, warm_start: Solution | None, kept: KeptSolvers | None
    ) -> Solution:
        """Solve like :meth:`solve`, by the solver object of an earlier solve where one is kept and fits.

        Parameters
        ----------
        program, settings, warm_start
            As for :meth:`solve`.
        kept
            Solver objects of earlier solves, for backends that :attr:`keeps_solver`; None for a fresh one.
        """
        answer = solution_without_variables(program, self.name)
        if answer is not None:
            return answer
        steps = forms(program, without_idle_bounds=self.leaves_idle_bounds_out)
        if steps:
            program = steps[-1].program
            warm_start = None if warm_start is None else restrict_through(steps, warm_start)
        if kept is None:
            return expand_through(steps, self.solve_form(program, settings, warm_start))
        return expand_through(steps, solve_kept(self, program, settings, warm_start, kept))

    @abstractmethod
    def solve_form(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        """Solve a minimisation that has variables, and no power cone of more than two arguments."""

    def solve_and_keep(
        self, program: Program, settings: SolverSettings, warm_start: Solution | None
    ) -> tuple[Solution, KeptSolver | None]:
        """Solve like :meth:`solve_form`, and return the solver object as well if it can be used again."""
        return self.solve_form(program, settings, warm_start), None

    def with_more_digits(self, program: Program, settings: SolverSettings) -> SolverSettings | None:
        """Settings that ask for more digits, for programs of which the first try asks for few; None for others.

        Parameters
        ----------
        program
            What is to be solved.
        settings
            Those of the first try; what the caller wrote into ``options`` is kept.
        """
        return None

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


def forms(program: Program, *, without_idle_bounds: bool = False) -> list[Step]:
    """What every solver needs: at least one variable, and power cones of two arguments; for some, fewer bounds.

    Parameters
    ----------
    program
        A minimisation.
    without_idle_bounds
        Leave out the bounds of variables that no optimal point needs.
    """
    steps: list[Step] = []
    if program.n_variables == 0:
        steps.append(DummyVariable.of(program))
    if without_idle_bounds and (fewer := IdleBounds.of(program)) is not None:
        return [*steps, fewer]  # it has no cones
    trees = PowerTrees.of(steps[-1].program if steps else program)
    return steps if trees.is_trivial else [*steps, trees]
