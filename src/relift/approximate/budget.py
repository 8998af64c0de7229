r"""How much time approximate lifting may take: never more than a share of what the plain solve has taken so far.

Nobody knows beforehand how long a solver will take: two linear programs of one size can be a factor of a hundred apart.
So little is predicted. The plain solve runs, and looks up between its iterations
(:attr:`~relift.settings.SolverSettings.interrupt`); whenever approximate lifting has earned its next step it takes it,
there and then, in the same thread. It earns ``share`` seconds for each second of the plain solve. If it proves the gap
first the plain solve is interrupted; if the plain solve ends first it has cost at most ``share`` more than it would
have, and one step. Nothing is lost by waiting, since the plain solve is not started anew.

Work comes as a generator that yields, before each step, how many seconds the step should take; estimates that were too
low make the next ones higher. Time is that of the thread, not of the wall, so that a busy machine does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from time import thread_time
from typing import Generic, TypeVar, final

Outcome = TypeVar("Outcome")

Steps = Generator[float, None, Outcome]
"""Work in steps: yields what the next one is estimated to take, in seconds, and returns its outcome."""

LARGEST_BIAS = 8.0
"""Estimates are never corrected by more than this."""


@final
class Attempt(Generic[Outcome]):
    """Work in steps that stops where its allowance ends and goes on when it has more.

    Parameters
    ----------
    steps
        The work.
    clock
        Seconds that this thread has worked.
    must_stop
        Whether the time of the user is over.

    Examples
    --------
    >>> def work():
    ...     yield 0.5
    ...     yield 2.0
    ...     return "done"
    >>> attempt = Attempt(work(), clock=lambda: 0.0)
    >>> attempt.advance(1.0), attempt.needed, attempt.advance(2.5), attempt.outcome
    (False, 2.0, True, 'done')
    """

    def __init__(
        self,
        steps: Steps[Outcome],
        clock: Callable[[], float] = thread_time,
        must_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._steps, self._clock, self._must_stop = steps, clock, must_stop
        self.spent = 0.0
        """Seconds of all steps so far."""
        self.needed = 0.0
        """What the next step is estimated to take."""
        self.is_finished = False
        self.outcome: Outcome | None = None
        self._bias = 1.0

    @property
    def cost_so_far_and_next(self) -> float:
        """What must have been earned before the next step is taken."""
        return self.spent + self._bias * self.needed

    def advance(self, earned: float) -> bool:
        """Take the steps that so many seconds, since the beginning, allow; whether all are done."""
        while not self.is_finished and self.cost_so_far_and_next <= earned:
            if self._must_stop():
                break
            start = self._clock()
            try:
                estimate = next(self._steps)
            except StopIteration as end:
                self.is_finished, self.outcome, estimate = True, end.value, 0.0
            taken = self._clock() - start
            if self.needed > 0 and math.isfinite(self.needed):
                self._bias = min(LARGEST_BIAS, max(1.0, 0.5 * self._bias, taken / self.needed))
            self.spent += taken
            self.needed = estimate
        return self.is_finished

    def close(self) -> None:
        """End the work where it stands."""
        self._steps.close()
