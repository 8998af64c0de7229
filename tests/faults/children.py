"""Children that meet a fault at a known point: run as a process of its own, which imports relift once and forks.

Each line on stdin is a case in JSON: the words of a command line (or Python code), the point in relift at which
something happens, and what: a signal to itself, a limit on the size of files or on memory. The answer is a line, too.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 240
"""A child that takes longer hangs; the machine may be busy."""


_IMPORTED = (
    "clarabel", "duckdb", "highspy", "pydantic", "matplotlib.backends.backend_agg", "matplotlib.figure", "pandas",
    "pyarrow", "rich.table", "sqlglot", "typer", "relift.cli.commands", "relift.pipeline",
    "relift.formats.program_files", "relift.formats.lp_reader", "relift.formats.lp_writer", "relift.formats.mps_reader",
    "relift.formats.mps_writer", "relift.formats.npz", "relift.formats.lifting_map", "relift.formats.model_results",
    "relift.formats.solutions", "relift.in_database", "relift.language.syntax.parser",
    "relift.modelling.solve_in_engine", "relift.modelling.solve_model", "relift.report.plot_points",
    "relift.report.summary", "relift.solvers.clarabel_", "relift.solvers.highs_", "relift.tables.duckdb.engine",
    "relift.tables.open_engine",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """What a child does, and what happens to it."""

    words: tuple[str, ...] = ()
    """A command line of relift; or empty, and then ``code`` is run."""
    code: str = ""
    point: str = ""
    """``module:name`` or ``module:Class.method``: there the signal is sent, as it is entered for the n-th time."""
    signal: int = 0
    nth: int = 1
    after: bool = False
    """Send the signal when the call has returned."""
    file_bytes: int = -1
    memory_bytes: int = -1
    """Limits; -1 for none. That of memory is on top of what the child already has."""
    folder: str = "."
    stdout: str = ""
    """A file for its output, such as /dev/full."""


@dataclass
class Ended:
    """How a child ended: its exit code (negative: the signal that killed it) and what it printed."""

    code: int
    out: str
    err: str
    temporary: list[str] = field(default_factory=list)
    """What it left in the folder for temporary files."""


class Children:
    """The process that forks them."""

    def __init__(self) -> None:
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.children"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    def run(self, *words: str, **given: Any) -> Ended:
        """Run a case, with the folder of its files as ``folder``."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asdict(Case(words, **given))) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            code = self.process.wait()
            self.process = self._start()  # so that the other tests are not touched
            raise RuntimeError(f"the process that forks children has ended with {code}")
        return Ended(**json.loads(answer))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def _send_at(point: str, number: int, nth: int, after: bool) -> None:
    """Let a function of relift send a signal to its process when it is called."""
    module_name, _, path = point.partition(":")
    owner: Any = importlib.import_module(module_name)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    original, calls = getattr(owner, name), [0]

    @functools.wraps(original)
    def replaced(*args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        if calls[0] == nth and not after:
            os.kill(os.getpid(), number)
        result = original(*args, **kwargs)
        if calls[0] == nth and after:
            os.kill(os.getpid(), number)
        return result

    setattr(owner, name, replaced)


def _child(case: Case, out: int, err: int, temporary: str) -> None:
    """In the child: never returns."""
    os.dup2(os.open(case.stdout, os.O_WRONLY) if case.stdout else out, 1)
    os.dup2(err, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(case.folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a shell
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["TMPDIR"] = tempfile.tempdir = temporary
    code = 99
    try:
        if case.point:
            _send_at(case.point, case.signal, case.nth, case.after)
        if case.memory_bytes >= 0:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + case.memory_bytes,) * 2)
        if case.file_bytes >= 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (case.file_bytes, case.file_bytes))
        if case.words:
            sys.argv = ["relift", *case.words]
            from relift.__main__ import main

            main()
        else:
            exec(case.code, {})
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:  # noqa: BLE001 - what a user would see
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(case: Case) -> Ended:
    """Pipes, not files: a limit on the size of files would cut off what the child says."""
    with tempfile.TemporaryDirectory(prefix="relift-faults-") as temporary:
        pipes = [os.pipe(), os.pipe()]
        child = os.fork()
        if child == 0:
            _child(case, pipes[0][1], pipes[1][1], temporary)
        texts = [b"", b""]
        for reading, writing in pipes:
            os.close(writing)
            os.set_blocking(reading, False)
        deadline = time.monotonic() + SECONDS
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            for k, (reading, _) in enumerate(pipes):
                with contextlib.suppress(BlockingIOError):
                    while piece := os.read(reading, 1 << 16):
                        texts[k] += piece
            if ended:
                break
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return Ended(-999, "", f"hangs for more than {SECONDS} s")
            time.sleep(0.01)
        for reading, _ in pipes:
            os.close(reading)
        left = sorted(str(path.relative_to(temporary)) for path in Path(temporary).rglob("*"))
        out, err = (text.decode("utf-8", "replace") for text in texts)
        return Ended(os.waitstatus_to_exitcode(status), out, err, left)


def main() -> None:
    for name in _IMPORTED:  # once for all children
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        given = json.loads(line)
        ended = _run(Case(**{**given, "words": tuple(given["words"])}))
        answers.write(json.dumps(asdict(ended)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
