"""Simplex and interior point beside each other: whichever has an answer first stops the other.

Simplex is the default: its answer is a vertex, and most linear programs take it a moment. On some it takes hundreds of
times as long as interior point (a covering design of 1,716 variables: 4 s and 0.02 s), on others it is the other way
round, and nobody can tell before. So both run, on a thread each: HiGHS lets go of Python's lock while it works. Simplex
has a head start, within which most programs are solved and no second thread does anything. Interior point runs without
crossover. The loser is stopped between two of its iterations, and has ended before the answer is handed on.

With two threads allowed, they run at the same time: time on the clock is that of the better method plus the head start
at most, CPU time up to twice that. With ``threads=1`` they take turns, each waiting between two iterations while the
other works: CPU time is at most twice that of simplex, or the head start and twice that of interior point. The head
start is longer then, what interior point takes on most programs.

Which of the two wins can differ from run to run where they are nearly as fast. Both answers are optimal within the
tolerances and pass the same certificate, but simplex returns a vertex and interior point a point inside the optimal
face: where the optimum is not unique, the point can differ. ``backend_options={"solver": "simplex"}`` (or ``"ipm"``)
runs one of them alone.

Another solver may take the place of HiGHS's interior point method where it is predicted to be quicker
(:mod:`~relift.solvers.short_factors`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, replace
from threading import Event, Thread
from time import perf_counter, thread_time
from typing import final

from relift.errors import BackendError
from relift.program.solution import Solution
from relift.settings import SolverSettings
from relift.solvers.highs_rounds import LONGEST, SECONDS_PER_ENTRY, UNDECIDED, Highs
from relift.threads import available_cores

HEAD_START = 0.1
"""CPU seconds that simplex has for itself: a busy machine does not start a race that an idle one would not."""

SLICE = 0.05
"""CPU seconds of one turn, where methods take turns."""

LEAST_ENTRIES = 8_000
"""Variables, rows and nonzeros together; smaller programs are solved by simplex before a thread is worth it."""

INTERIOR_OPTIONS = {"solver": "ipm", "run_crossover": "off"}

_DECIDED = {"kOptimal", "kInfeasible", "kUnbounded", "kUnboundedOrInfeasible"}


def may_run_both(settings: SolverSettings, n_entries: int) -> bool:
    """Whether both methods may run beside each other.

    Parameters
    ----------
    settings
        Without a method chosen by the user.
    n_entries
        Variables, rows and nonzeros together.
    """
    return n_entries >= LEAST_ENTRIES and "parallel" not in settings.options and settings.interrupt is None


def works_together(settings: SolverSettings) -> bool:
    """Whether there are threads for both methods at the same time.

    Examples
    --------
    >>> works_together(SolverSettings(threads=1)), works_together(SolverSettings(threads=2))
    (False, True)
    """
    return (available_cores() if settings.threads is None else settings.threads) >= 2


def head_start(n_entries: int, *, together: bool) -> float:
    """CPU seconds that simplex has before interior point begins.

    Parameters
    ----------
    n_entries
        Variables, rows and nonzeros together.
    together
        Whether both run at the same time.

    Examples
    --------
    >>> head_start(10**5, together=True), head_start(10**5, together=False)
    (0.1, 1.0)
    """
    return HEAD_START if together else min(LONGEST, max(HEAD_START, SECONDS_PER_ENTRY * n_entries))


_SIMPLEX, _INTERIOR = 0, 1


@final
class _Turns:
    """Lets one of two threads work at a time; the other waits between two of its iterations.

    Parameters
    ----------
    seconds
        After so many nobody waits any longer: both see that their time is over. None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._condition, self._holder, self._there, self._began = threading.Condition(), _SIMPLEX, {_SIMPLEX}, 0.0
        self._end = None if seconds is None else perf_counter() + seconds

    def join(self, me: int) -> None:
        """Wait for the first turn."""
        with self._condition:
            self._there.add(me)
            self._wait_for_turn(me)

    def leave(self, me: int) -> None:
        """Let the other one work alone."""
        with self._condition:
            self._there.discard(me)
            self._condition.notify_all()

    def pass_on(self, me: int) -> None:
        """Give the other one its turn and wait for the next one, if this one is over."""
        if len(self._there) < 2 or thread_time() - self._began < SLICE:
            return
        with self._condition:
            self._holder = 1 - me
            self._condition.notify_all()
            self._wait_for_turn(me)

    def _wait_for_turn(self, me: int) -> None:
        while self._holder != me and len(self._there) == 2:
            left = None if self._end is None else self._end - perf_counter()
            if left is not None and left <= 0:
                break
            self._condition.wait(left)
        self._holder, self._began = me, thread_time()


@final
@dataclass(frozen=True)
class Other:
    """Another solver that may take the place of HiGHS's interior point method.

    Parameters
    ----------
    head_start
        CPU seconds that simplex has before it begins; None if it is not to be asked.
    solve
        Solves with an interrupt between iterations; None if it has no answer.
    """

    head_start: Callable[[], float | None]
    solve: Callable[[SolverSettings], Solution | None]


NOBODY = Other(head_start=lambda: None, solve=lambda settings: None)


@final
class _Interior:
    """Interior point on a thread of its own: another solver, if it has an answer, else HiGHS."""

    def __init__(
        self,
        load: Callable[[SolverSettings], Highs],
        run: Callable[[Highs], str],
        settings: SolverSettings,
        head_start: float,
        tell: Callable[[], None],
        turns: _Turns | None,
        other: Other,
    ) -> None:
        self._load, self._run, self._settings, self._turns, self._other = load, run, settings, turns, other
        self._head_start, self._tell, self._stop = head_start, tell, Event()
        self._seconds_of_simplex = _clock_of_this_thread()
        self.found: Highs | Solution | None = None
        self.status = ""
        self._thread = Thread(target=copy_context().run, args=(self._work,), name="relift-interior-point", daemon=True)
        self._thread.start()

    @property
    def has_decided(self) -> bool:
        return self.status in _DECIDED

    def wait(self) -> None:
        """Let it run to its end."""
        self._thread.join()

    def end(self) -> None:
        """Stop it, and wait until it has stopped."""
        self._stop.set()
        self.wait()

    def _work(self) -> None:
        start = perf_counter()
        if not self._wait(self._head_start):
            return
        longer = self._other.head_start()
        if longer is not None and not self._wait(longer):
            return
        if self._turns is not None:
            self._turns.join(_INTERIOR)
        try:
            self._solve(start, with_other=longer is not None)
        except (BackendError, MemoryError):  # simplex has the same program, and says what is wrong with it
            return
        finally:
            if self.has_decided:
                self._tell()
            if self._turns is not None:
                self._turns.leave(_INTERIOR)

    def _wait(self, seconds: float) -> bool:
        """Wait until simplex has had so many CPU seconds; False if it is over before."""
        while (missing := seconds - self._seconds_of_simplex()) > 0:
            if self._stop.wait(missing):
                return False
        return True

    def _solve(self, start: float, *, with_other: bool) -> None:
        is_over = _between_iterations(self._stop, self._turns, _INTERIOR)
        if with_other and not self._stop.is_set():
            self.found = self._other.solve(replace(self._with_time_left(start), interrupt=is_over))
            if self.found is not None:
                self.status = "kOptimal"
                return
        if self._stop.is_set():
            return
        settings = self._with_time_left(start)
        settings = replace(settings, options={**settings.options, **INTERIOR_OPTIONS}, interrupt=is_over)
        self.found = highs = self._load(settings)
        self.status = self._run(highs)

    def _with_time_left(self, start: float) -> SolverSettings:
        limit = self._settings.time_limit
        left = None if limit is None else max(limit - (perf_counter() - start), 1e-3)
        return replace(self._settings, time_limit=left)


def _between_iterations(stop: Event, turns: _Turns | None, me: int) -> Callable[[], bool]:
    """What a method does between two iterations: wait while it is the other's turn; True if it is to end."""
    if turns is None:
        return stop.is_set

    def wait_and_see() -> bool:
        turns.pass_on(me)
        return stop.is_set()

    return wait_and_see


def _clock_of_this_thread() -> Callable[[], float]:
    """CPU seconds of the thread that calls this, for others to read; where there are none, those on the clock."""
    if not hasattr(time, "pthread_getcpuclockid"):
        start = time.perf_counter()
        return lambda: time.perf_counter() - start
    clock = time.pthread_getcpuclockid(threading.get_ident())
    before = time.clock_gettime(clock)
    return lambda: time.clock_gettime(clock) - before


def run_both(
    load: Callable[[SolverSettings], Highs],
    run: Callable[[Highs], str],
    settings: SolverSettings,
    prepare: Callable[[Highs], None] = lambda highs: None,
    head_start: float = HEAD_START,
    together: bool = True,
    other: Other = NOBODY,
) -> tuple[Highs | Solution, str, bool]:
    """Run simplex here and interior point on another thread until one of them has an answer.

    Parameters
    ----------
    load
        Makes a HiGHS object that holds the program, with the settings.
    run
        Runs it and returns the name of its status.
    settings
        Those of the solve, without an interrupt.
    prepare
        Called with the object for simplex before it runs: to give it a basis.
    head_start
        CPU seconds of simplex before interior point begins.
    together
        Whether both may work at the same time; else they take turns.
    other
        Who is asked before HiGHS's interior point method.

    Returns
    -------
    tuple
        The object that has the answer, or the answer of the other solver, its status, and whether it is the object of
        simplex. A claim of interior point that there is no solution is left to simplex, which has rays.
    """
    start, stop = perf_counter(), Event()
    if settings.threads is not None:  # these are taken: HiGHS's own would wait for work that neither method shares
        settings = replace(settings, threads=1)
    turns = None if together else _Turns(settings.time_limit)
    simplex = load(replace(settings, interrupt=_between_iterations(stop, turns, _SIMPLEX)))
    prepare(simplex)
    interior = _Interior(load, run, settings, head_start, stop.set, turns, other)
    try:
        try:
            status = run(simplex)
        finally:
            if turns is not None:
                turns.leave(_SIMPLEX)
        if status in UNDECIDED and status != "kTimeLimit":
            interior.wait()
    finally:
        interior.end()
        stop.clear()  # the object may run again: for a ray, or with other numbers
    if settings.time_limit is not None:  # HiGHS counts the time of all runs of an object
        left = max(settings.time_limit - (perf_counter() - start), 0.0)
        simplex.setOptionValue("time_limit", simplex.getRunTime() + left)
    if status != "kInterrupt" and status not in UNDECIDED:
        return simplex, status, True
    if interior.found is not None and interior.status == "kOptimal":
        return interior.found, interior.status, False
    return simplex, interior.status if interior.has_decided else status, True
