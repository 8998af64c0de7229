"""Solving again with the solver object of the last time: its data are updated, and it starts from where it was.

An object is used only for a program of the same structure, with the same settings but for the time limit. Its answer is
taken only if it says optimal (and then the certificate decides, as always); whatever else it says, or if it fails in
any way, it is dropped, and a fresh object decides. So an answer never depends on what was solved before, but for which
of several optimal points it is. An object that takes twice as many iterations as when it was fresh is dropped as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from relift.arrays import SparseMatrix
from relift.errors import MissingPackageError, OptionError
from relift.kept_solvers import KeptSolvers
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings

if TYPE_CHECKING:
    from relift.solvers.backend import Backend

KEPT = "kept_solver"
"""The fact, among the statistics of an answer, that it came from a kept object."""

FEW_ITERATIONS = 20
"""So many iterations are never too many for a kept object."""


class KeptSolver(ABC):
    """A solver object that has solved one program, and takes the numbers of another.

    Parameters
    ----------
    settings
        Those that it was made with.
    iterations
        How many it took when it was fresh.
    """

    def __init__(self, settings: SolverSettings, iterations: int | None) -> None:
        self.settings, self.iterations = settings, iterations or 0

    @abstractmethod
    def solve_again(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution | None:
        """Solve another program; None if the object cannot take it."""

    def is_slow(self, answer: Solution) -> bool:
        """Whether a fresh object would probably have been quicker."""
        return (answer.iterations or 0) > max(FEW_ITERATIONS, 2 * self.iterations)


def solve_kept(
    backend: Backend, program: Program, settings: SolverSettings, warm_start: Solution | None, kept: KeptSolvers
) -> Solution:
    """Solve by the kept object if there is one that fits, else by a fresh one, which is kept if objects are wanted.

    Parameters
    ----------
    backend
        Which one.
    program, settings, warm_start
        As for :meth:`~relift.solvers.backend.Backend.solve_form`.
    kept
        Where the object lies.
    """
    with kept.lent() as objects:
        if objects is None or settings.iteration_limit is not None or settings.interrupt is not None:
            return backend.solve_form(program, settings, warm_start)
        start = perf_counter()
        old = objects.pop(backend.name, None)  # put back if all goes well
        if isinstance(old, KeptSolver) and _is_same(old.settings, settings):
            answer = _again(old, program, settings, warm_start)
            if answer is not None and answer.status is Status.OPTIMAL:
                if not old.is_slow(answer):
                    objects[backend.name] = old
                return answer.but(statistics={**answer.statistics, KEPT: True})
            settings = with_time_left(settings, start)
        old = None
        answer, new = backend.solve_and_keep(program, settings, warm_start)
        if new is not None and answer.status is Status.OPTIMAL:
            objects[backend.name] = new
        return answer


def _again(old: KeptSolver, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution | None:
    try:
        return old.solve_again(program, settings, warm_start)
    except (OptionError, MissingPackageError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:  # noqa: BLE001 - whatever it is, even a panic in Rust: a fresh object decides
        return None


def _is_same(one: SolverSettings, other: SolverSettings) -> bool:
    """Whether settings agree but for the time limit, which kept objects are told each time."""
    return {**vars(one), "time_limit": None} == {**vars(other), "time_limit": None}


def with_time_left(settings: SolverSettings, start: float) -> SolverSettings:
    """The settings with what is left of the time limit; never quite nothing, which would mean no limit."""
    if settings.time_limit is None:
        return settings
    return replace(settings, time_limit=max(settings.time_limit - (perf_counter() - start), 1e-3))


def has_same_structure(one: SparseMatrix, other: SparseMatrix) -> bool:
    """Whether two matrices have their entries in the same places, stored in the same order.

    Examples
    --------
    >>> from scipy import sparse
    >>> one, other = sparse.csc_array([[1.0, 0.0]]), sparse.csc_array([[2.0, 0.0]])
    >>> has_same_structure(one, other), has_same_structure(one, sparse.csc_array([[0.0, 2.0]]))
    (True, False)
    """
    if one.shape != other.shape or one.format != other.format:
        return False
    pairs = ((one.indptr, other.indptr), (one.indices, other.indices))
    return all(here is there or np.array_equal(here, there) for here, there in pairs)


def is_same_matrix(one: SparseMatrix | None, other: SparseMatrix | None) -> bool:
    """Whether two matrices have the same entries in the same places, or both are missing."""
    if one is None or other is None or one is other:
        return one is other
    return has_same_structure(one, other) and (one.data is other.data or np.array_equal(one.data, other.data))
