"""Simplex and interior point at the same time, where a second core is free.

Nobody can tell beforehand which of the two is the faster on a linear program (:mod:`~relift.solvers.highs_rounds`), so
both run, on a thread each: HiGHS lets go of Python's lock while it works. Simplex has a head start, within which most
programs are solved and no second thread does anything. Interior point runs without crossover. Whichever has an answer
first stops the other between two of its iterations, and that one has ended before the answer is handed on.

Time on the clock is that of the better method, plus the head start at most; CPU time up to twice that. Which of the
two wins can differ from run to run where they are nearly as fast. Both answers are optimal within the tolerances and
pass the same certificate, but simplex returns a vertex and interior point a point inside the optimal face: where the
optimum is not unique, the point can differ. ``threads=1`` makes them take turns instead, and
``backend_options={"solver": "simplex"}`` (or ``"ipm"``) runs one of them alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import replace
from threading import Event, Thread
from time import perf_counter
from typing import final

from relift.errors import BackendError
from relift.settings import SolverSettings
from relift.solvers.highs_rounds import UNDECIDED, Highs
from relift.threads import available_cores

HEAD_START = 0.1
"""CPU seconds that simplex has for itself: a busy machine does not start a race that an idle one would not."""

LEAST_ENTRIES = 8_000
"""Variables, rows and nonzeros together; smaller programs are solved by simplex before a thread is worth it."""

INTERIOR_OPTIONS = {"solver": "ipm", "run_crossover": "off"}

_DECIDED = {"kOptimal", "kInfeasible", "kUnbounded", "kUnboundedOrInfeasible"}


def may_race(settings: SolverSettings, n_entries: int) -> bool:
    """Whether both methods may run at the same time.

    Parameters
    ----------
    settings
        Without a method chosen by the user.
    n_entries
        Variables, rows and nonzeros together.

    Examples
    --------
    >>> may_race(SolverSettings(threads=1), 10**6), may_race(SolverSettings(threads=2), 10**6)
    (False, True)
    """
    if n_entries < LEAST_ENTRIES or "parallel" in settings.options or settings.interrupt is not None:
        return False
    return (available_cores() if settings.threads is None else settings.threads) >= 2


@final
class _Interior:
    """Interior point on a thread of its own."""

    def __init__(
        self,
        load: Callable[[SolverSettings], Highs],
        run: Callable[[Highs], str],
        settings: SolverSettings,
        head_start: float,
        tell: Callable[[], None],
    ) -> None:
        self._load, self._run, self._settings = load, run, settings
        self._head_start, self._tell, self._stop = head_start, tell, Event()
        self._seconds_of_simplex = _clock_of_this_thread()
        self.highs: Highs | None = None
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
        start, settings = perf_counter(), self._settings
        while (missing := self._head_start - self._seconds_of_simplex()) > 0:
            if self._stop.wait(missing):
                return
        if settings.time_limit is not None:
            left = max(settings.time_limit - (perf_counter() - start), 1e-3)
            settings = replace(settings, time_limit=left)
        settings = replace(settings, options={**settings.options, **INTERIOR_OPTIONS}, interrupt=self._stop.is_set)
        try:
            self.highs = self._load(settings)
            self.status = self._run(self.highs)
        except (BackendError, MemoryError):  # simplex has the same program, and says what is wrong with it
            return
        if self.has_decided:
            self._tell()


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
) -> tuple[Highs, str, bool]:
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

    Returns
    -------
    tuple
        The object that has the answer, its status, and whether it is the one of simplex. A claim of interior point
        that there is no solution is left to simplex, which has rays.
    """
    start, stop = perf_counter(), Event()
    if settings.threads is not None:  # these are taken: HiGHS's own would wait for work that neither method shares
        settings = replace(settings, threads=1)
    simplex = load(replace(settings, interrupt=stop.is_set))
    prepare(simplex)
    interior = _Interior(load, run, settings, head_start, stop.set)
    try:
        status = run(simplex)
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
    if interior.highs is not None and interior.status == "kOptimal":
        return interior.highs, interior.status, False
    return simplex, interior.status if interior.has_decided else status, True
