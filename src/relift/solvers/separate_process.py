"""Calls in a process of their own, so that a crash of compiled code is an error here and not the end of everything.

HiGHS's active-set method reads memory that is not its own on about one in fifty thousand badly scaled QPs (HiGHS 1.15),
and prints a bare "error" before. A process is started at the first call and kept for the next ones: the first takes
as long as importing HiGHS does, the others about a millisecond. It ends with the process that started it.

Requests and answers are pickled, through its standard input and output. What compiled code prints there goes to the
standard output of the caller if that is wanted, and nowhere else. Only POSIX systems are served so; elsewhere, and
where no process can be started, the call is made here.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import selectors
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import IO, TypeVar, final

from relift.errors import BackendError

T = TypeVar("T")

_HEADER = struct.Struct("<Q")
_POLL = 0.05
"""Seconds between two questions whether the caller wants to stop."""

_PATIENCE = 10.0
"""Seconds for which a process that has closed its output may go on dying: a dump of its memory takes some."""

_BOOTSTRAP = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import serve; serve(int(sys.argv[2]))"
)
"""With ``-P``, so that no module of the current folder takes the place of Python's own."""


class _GoneError(Exception):
    """The process has ended."""


class StoppedError(Exception):
    """The call was given up: its time was over, or the caller wanted to stop."""


@final
class _Process:
    """A process that answers one call after another."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        shown = os.dup(1)
        try:
            self.popen = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOTSTRAP.format(module=__name__), json.dumps(sys.path), str(shown)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(shown,),
            )  # fmt: skip
        finally:
            os.close(shown)

    @property
    def is_usable(self) -> bool:
        """Whether it is ours, not that of the process from which this one was forked, and still there."""
        return self.owner == os.getpid() and self.popen.poll() is None

    def ask(self, request: bytes, seconds: float | None, interrupt: Callable[[], bool] | None) -> bytes:
        """Send a request and wait for the answer."""
        start = perf_counter()
        try:
            _write(_pipe(self.popen.stdin), request)
        except BrokenPipeError:
            raise _GoneError from None
        answers = _pipe(self.popen.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(answers, selectors.EVENT_READ)
            while not selector.select(_POLL):
                is_late = seconds is not None and perf_counter() - start > seconds
                if is_late or (interrupt is not None and interrupt()):
                    raise StoppedError
        return _read(answers)

    def end(self) -> str:
        """End it; how it had ended if it was gone already."""
        if self.owner != os.getpid():
            return ""
        for pipe in (self.popen.stdin, self.popen.stdout):
            with contextlib.suppress(OSError):  # what was not sent is of no use any more
                _pipe(pipe).close()
        try:
            code = self.popen.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            code = self.popen.wait()
        return signal.Signals(-code).name if code < 0 else f"exit {code}"


_idle: list[_Process] = []


@atexit.register
def _end_all() -> None:
    while _idle:
        process = _idle.pop()
        if process.is_usable:
            process.popen.kill()
        process.end()


def call_apart(
    who: str,
    function: Callable[..., T],
    *arguments: object,
    seconds: float | None = None,
    interrupt: Callable[[], bool] | None = None,
    prints: bool = False,
) -> T:
    """Call a function of a module in another process.

    Parameters
    ----------
    who
        What runs there, for messages.
    function
        A function that is found by its module and name.
    arguments
        Its arguments; they are pickled, and so is what it returns or raises.
    seconds
        After so many the process is killed; None for no limit.
    interrupt
        Called every now and then; returning True kills the process.
    prints
        Whether what compiled code prints there is to be seen.

    Raises
    ------
    BackendError
        If the process dies.
    StoppedError
        If it was killed.
    """
    if os.name != "posix" or "python" not in os.path.basename(sys.executable or ""):
        return function(*arguments)
    request = pickle.dumps((function, arguments, prints))
    try:
        process = _Process() if prints else _usable()  # standard output may have been redirected since the last call
    except OSError:  # no memory, no processes, a closed standard output
        return function(*arguments)
    try:
        is_error, value = pickle.loads(process.ask(request, seconds, interrupt))
    except (_GoneError, EOFError):
        raise BackendError(f"{who} crashed ({process.end()}).") from None
    except BaseException:  # stopped, also by Ctrl-C: whatever it does is of no use any more
        process.popen.kill()
        process.end()
        raise
    if prints:
        process.end()
    else:
        _idle.append(process)
    if is_error:
        raise value
    answer: T = value
    return answer


def _usable() -> _Process:
    while _idle:
        process = _idle.pop()
        if process.is_usable:
            return process
        process.end()
    return _Process()


def serve(shown: int) -> None:
    """Answer calls until the caller is gone; the main function of the process.

    Parameters
    ----------
    shown
        The file descriptor of the caller's standard output.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both; the caller decides
    requests, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    while True:
        try:
            function, arguments, prints = pickle.loads(_read(requests))
        except EOFError:
            return
        os.dup2(shown if prints else nowhere, 1)
        try:
            reply = False, function(*arguments)
        except Exception as error:  # noqa: BLE001 - it is raised where the call was made
            reply = True, error
        sys.stdout.flush()
        try:
            _write(answers, pickle.dumps(reply))
        except BrokenPipeError:  # the caller was killed
            os._exit(1)


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _write(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(_HEADER.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    (size,) = _HEADER.unpack(_exactly(pipe, _HEADER.size))
    return _exactly(pipe, size)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    message = pipe.read(size)
    if len(message) < size:
        raise EOFError
    return message
