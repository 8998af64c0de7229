"""A stage of the pipeline, and the one loop that runs, times and announces stages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Generic, Protocol, TypeVar, final, overload

from relift.settings import Progress, ProgressCallback

_log = logging.getLogger("relift")

Work = TypeVar("Work")
"""What the stages of one run read and write."""


@final
@dataclass(frozen=True)
class Stage(Generic[Work]):
    """One stage.

    Parameters
    ----------
    name
        How timings and progress events call it.
    run
        What it does to the work at hand; its docstring says it in a sentence.
    applies
        Whether there is anything to do; a stage that does not apply is neither timed nor announced.
    says
        What the progress callback is told when the stage begins.
    """

    name: str
    run: Callable[[Work], None]
    applies: Callable[[Work], bool] = lambda work: True
    says: Callable[[Work], str] = lambda work: ""

    @property
    def does(self) -> str:
        """What the stage does, in a sentence."""
        return (self.run.__doc__ or "").strip().splitlines()[0]


class MakesStage(Protocol):
    """A decorator of functions of any work."""

    def __call__(self, run: Callable[[Work], None]) -> Stage[Work]:
        """Make a stage of the function."""


@overload
def stage(name: str) -> MakesStage: ...
@overload
def stage(
    name: str, applies: Callable[[Work], bool] = ..., says: Callable[[Work], str] = ...
) -> Callable[[Callable[[Work], None]], Stage[Work]]: ...
def stage(
    name: str,
    applies: Callable[[Work], bool] = lambda work: True,
    says: Callable[[Work], str] = lambda work: "",
) -> Callable[[Callable[[Work], None]], Stage[Work]]:
    """Make a stage of a function.

    Examples
    --------
    >>> @stage("double")
    ... def double(work: list[int]) -> None:
    ...     "Double every number."
    ...     work[:] = [2 * number for number in work]
    >>> numbers, clock = [1, 2], Clock()
    >>> run_stages((double, double), numbers, clock)
    >>> numbers, double.does, list(clock.seconds)
    ([4, 8], 'Double every number.', ['double'])
    """

    def made(run: Callable[[Work], None]) -> Stage[Work]:
        return Stage(name, run, applies, says)

    return made


@final
class Clock:
    """Times stages, and announces them to a progress callback.

    Parameters
    ----------
    progress
        Called when a stage begins.
    """

    def __init__(self, progress: ProgressCallback | None = None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str, message: str = "") -> Iterator[None]:
        """Time what runs inside, under this name; repeated stages add up."""
        if self.progress is not None:
            self.progress(Progress(name, message))
        start = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
            _log.debug("%s%s: %.4f s", name, f" ({message})" if message else "", seconds)

    def run(self, stage: Stage[Work], work: Work) -> None:
        """Run and time a stage; the same as :meth:`stage`, without the cost of a context manager."""
        if self.progress is None and not _log.isEnabledFor(logging.DEBUG):
            # Nobody hears: what a stage says takes longer to write than short stages run.
            start = perf_counter()
            try:
                stage.run(work)
            finally:
                self.seconds[stage.name] = self.seconds.get(stage.name, 0.0) + perf_counter() - start
            return
        with self.stage(stage.name, stage.says(work)):
            stage.run(work)


def run_stages(stages: Sequence[Stage[Work]], work: Work, clock: Clock) -> None:
    """Run stages in order."""
    for each in stages:
        if each.applies(work):
            clock.run(each, work)
