"""Work that may take long: beside the main thread, with progress on a terminal, and away from stdout."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from relift.cli.screen import escaped_console
from relift.errors import FileFormatError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from relift.lifting.lifting import Lifting
    from relift.pipeline import LiftOptions
    from relift.program.program import Program
    from relift.settings import Progress

T = TypeVar("T")
SECONDS_TO_STOP = 3.0
"""How long Ctrl-C waits for the statement of an engine to end."""


def console() -> Console:
    """Make a console for results: stdout, plain when that is not a terminal."""
    return escaped_console()


def print_json(document: Mapping[str, object]) -> None:
    """Print one line of strict JSON."""
    print(json.dumps(document, allow_nan=False))


def read_model(model: Path, relax: bool, quiet: bool, max_bytes: int | None = None) -> tuple[Program, float]:
    """Read a model and take the time; what is not used is told on stderr."""
    from relift.formats.program_files import import_reader, read_program_with_notes

    with contextlib.suppress(FileFormatError):  # told when the file is read
        import_reader(model)
    start = time.perf_counter()

    def job(_: Callable[[Progress], None]) -> tuple[Program, tuple[str, ...]]:
        return read_program_with_notes(model, relax, max_bytes)

    program, notes = run_beside(job, quiet, f"reading {model.name}")
    for note in () if quiet else notes:
        print(f"relift: note: {model}: {note}", file=sys.stderr, flush=True)
    return program, time.perf_counter() - start


def lift_model(program: Program, words: LiftOptions, quiet: bool, threads: int | None = None) -> Lifting:
    """Lift a program, with progress."""
    from relift.pipeline import lift

    return run_beside(lambda progress: lift(program, threads=threads, progress=progress, **words), quiet)


class Stoppable(Protocol):
    """Something that a job uses, and that can be stopped and closed from outside."""

    def stop(self) -> None:
        """Stop what is running in it; the job then ends with an error."""

    def close(self) -> None:
        """Give back what it holds."""


def run_beside(
    job: Callable[[Callable[[Progress], None]], T],
    quiet: bool,
    first_message: str = "",
    held: Stoppable | None = None,
) -> T:
    """Run a job beside the main thread, which stays free for Ctrl-C and for showing progress.

    What the job holds outside of this process (a session on a server, files) is given back when it is interrupted.
    """
    latest = [first_message]

    def told(event: Progress) -> None:
        count = f", {event.classes:,} classes" if event.classes else ""
        latest[0] = f"{event.stage}{': ' if event.message else ''}{event.message}{count}"

    return run_in_thread(lambda: job(told), _progress(quiet, latest), held)


def run_in_thread(
    job: Callable[[], T],
    display: contextlib.AbstractContextManager[Callable[[], None]],
    held: Stoppable | None = None,
    seconds: float = 0.05,
) -> T:
    """Run a job in another thread, and show how far it is until it is over; then return or raise what it did.

    Parameters
    ----------
    job
        What to run.
    display
        Open while the job runs; what it gives is called in this thread again and again.
    held
        What the job holds outside of this process; it is given back when the job is interrupted.
    seconds
        Time between two such calls.
    """
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(job())
        except BaseException as error:  # noqa: BLE001 - passed to the main thread, which raises it
            failure.append(error)
        finally:
            is_over.set()

    is_over = threading.Event()  # not worker.join(): interrupted by Ctrl-C, it takes a running thread for a dead one
    threading.Thread(target=run, daemon=True).start()
    try:
        with display as show:
            while not is_over.wait(seconds):
                show()
    except KeyboardInterrupt:
        if held is not None:
            _stop(held, is_over)
        if failure and isinstance(failure[0], KeyboardInterrupt) and failure[0].args:
            print(f"relift: {failure[0]}", file=sys.stderr, flush=True)  # what was kept of the work, and what was not
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def _stop(held: Stoppable, is_over: threading.Event) -> None:
    """Stop statements until the work ends; a solver cannot be stopped, and is not waited for."""
    deadline = time.monotonic() + SECONDS_TO_STOP
    while not is_over.is_set() and time.monotonic() < deadline:
        held.stop()
        is_over.wait(0.1)
    held.close()


@contextlib.contextmanager
def _progress(quiet: bool, latest: list[str]) -> Iterator[Callable[[], None]]:
    """Show the latest message on stderr, if that is a terminal and the work takes more than a moment."""
    start = time.perf_counter()
    spinner: list[Status] = []

    def show() -> None:
        if quiet or not sys.stderr.isatty() or time.perf_counter() - start < 0.5:
            return
        from rich.text import Text

        if not spinner:
            spinner.append(escaped_console(stderr=True).status(Text(latest[0])))
            spinner[0].start()
        spinner[0].update(Text(f"{latest[0]} ({time.perf_counter() - start:.0f} s)"))

    try:
        yield show
    finally:
        for status in spinner:
            status.stop()


@contextlib.contextmanager
def prints_on_stderr() -> Iterator[None]:
    """Send what solvers print, also from compiled code, to stderr: stdout is for the answer.

    After Ctrl-C there is none, and it stays so: a solver that cannot be stopped may print until the process ends.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException:
        _stdout_again(kept)
        raise
    else:
        _stdout_again(kept)


def _stdout_again(kept: int) -> None:
    sys.stdout.flush()
    os.dup2(kept, 1)
    os.close(kept)
