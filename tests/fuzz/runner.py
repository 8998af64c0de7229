"""Run cases in processes of their own: a crash or an endless loop costs one case, and is a failure like any other.

A case is known by the seed, its kind and its number; what it does depends on nothing else. Time is taken as CPU time
of the process, so that a busy machine changes nothing.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.outcome import Failure, Outcome
from tests.fuzz.totals import Totals

KINDS = {"programs": 1, "files": 2, "models": 3, "solutions": 4}
"""Each kind is a module ``kind_<name>`` with ``run(random, folder)``; the number is part of the seed."""
CHUNK = {"programs": 100, "files": 100, "models": 1, "solutions": 20}
"""Cases that one process runs."""
PER_HUNDRED = {"programs": 100, "files": 100, "models": 1, "solutions": 10}
"""Cases of each kind for a hundred programs: a case of models is a batch of 52."""
CPU_SECONDS = 30
"""A case that takes longer has failed: all programs and files here are tiny."""


_IMPORTED = (
    "clarabel", "duckdb", "highspy", "igraph", "osqp", "pandas", "piqp", "pyarrow", "scipy.linalg",
    "scipy.optimize", "scs", "sqlglot", "sqlglot.transforms", "relift.approximate_solve", "relift.bridges.scipy_",
    "relift.bridges.solve_qp", "relift.cli.commands", "relift.formats.lp_reader", "relift.formats.lp_writer",
    "relift.formats.mps_reader", "relift.modelling.solve_model", "relift.solvers.clarabel_", "relift.solvers.highs_",
    "relift.solvers.osqp_", "relift.solvers.piqp_", "relift.solvers.scs_", "relift.tables.duckdb.engine",
    "relift.tables.memory.engine", "relift.tables.open_engine", "relift.tables.sources.small_csv",
)  # fmt: skip


def module_of(kind: str) -> Any:
    return import_module(f"tests.fuzz.kind_{kind}")


def random_of(seed: int, kind: str, index: int) -> np.random.Generator:
    return np.random.default_rng([seed, KINDS[kind], index])


def run_case(seed: int, kind: str, index: int, folder: Path) -> Outcome:
    """One case, in this process; a fault of the fuzzer itself is a failure too."""
    try:
        return module_of(kind).run(random_of(seed, kind, index), folder)
    except Exception as error:  # noqa: BLE001 - it is reported, with where it happened
        where = traceback.extract_tb(error.__traceback__)[-1]
        signature = f"unexpected {type(error).__name__} at {Path(where.filename).name}:{where.name}"
        return Outcome({}, [Failure(signature, f"{error}", "".join(traceback.format_exception(error)))])


def _work(seed: int, kind: str, begin: int, end: int, pipe: Connection, folder: str) -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # whoever stops the run stops the process above
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the life of the process
    for index in range(begin, end):
        pipe.send(index)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # its default action ends the process, also in compiled code
        outcome = run_case(seed, kind, index, Path(folder))
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send((index, outcome))
    pipe.close()


@dataclass
class _Job:
    process: Any
    pipe: Connection
    kind: str
    index: int
    end: int
    folder: str


class Runner:
    """Hands chunks of cases to processes until the time, or the number of cases, is used up."""

    def __init__(self, totals: Totals, kinds: list[str], jobs: int, deadline: float, cases: int | None) -> None:
        """``cases`` counts programs and files; there are fewer of the other kinds (:data:`PER_HUNDRED`)."""
        self.totals, self.kinds, self.jobs, self.deadline, self.cases = totals, kinds, jobs, deadline, cases
        self.running: list[_Job] = []
        self.given = {kind: totals.next_index(kind) for kind in kinds}
        self.again: list[tuple[str, int, int]] = []
        self.context = multiprocessing.get_context("fork")
        for kind in kinds:  # imported once, before the processes are made
            module_of(kind)
        for name in _IMPORTED:
            with contextlib.suppress(ImportError):
                import_module(name)

    def run(self) -> None:
        chunks = self._chunks()
        saved = time.monotonic()
        try:
            while True:
                while len(self.running) < self.jobs and (chunk := next(chunks, None)) is not None:
                    self._start(*chunk)
                if not self.running:
                    break
                for pipe in wait([job.pipe for job in self.running], timeout=1.0):
                    self._read(next(job for job in self.running if job.pipe is pipe))
                if time.monotonic() - saved > 10:
                    self.totals.save()
                    saved = time.monotonic()
        except KeyboardInterrupt:
            print("interrupted: what was finished is kept", file=sys.stderr)
        finally:
            for job in self.running:
                job.process.kill()
                shutil.rmtree(job.folder, ignore_errors=True)
            self.totals.save()

    def _chunks(self) -> Iterator[tuple[str, int, int]]:
        while True:
            is_over = True
            for kind in self.kinds:
                while self.again:
                    yield self.again.pop()
                limit = None if self.cases is None else -(-self.cases * PER_HUNDRED[kind] // 100)
                size = CHUNK[kind] if limit is None else min(CHUNK[kind], limit - self.given[kind])
                if size <= 0 or time.monotonic() > self.deadline:
                    continue
                is_over = False
                begin = self.given[kind]
                self.given[kind] += size
                yield kind, begin, begin + size
            if is_over and not self.again:
                return

    def _start(self, kind: str, begin: int, end: int) -> None:
        ours, theirs = self.context.Pipe(duplex=False)
        folder = tempfile.mkdtemp(prefix="relift-fuzz-")
        process = self.context.Process(
            target=_work, args=(self.totals.seed, kind, begin, end, theirs, folder), daemon=True
        )
        process.start()
        theirs.close()
        self.running.append(_Job(process, ours, kind, begin, end, folder))

    def _read(self, job: _Job) -> None:
        try:
            message = job.pipe.recv()
        except EOFError:
            self._ended(job)
            return
        if isinstance(message, int):
            job.index = message
            return
        index, outcome = message
        self.totals.add(job.kind, index, outcome)
        job.index = index + 1

    def _ended(self, job: _Job) -> None:
        job.process.join()
        self.running.remove(job)
        shutil.rmtree(job.folder, ignore_errors=True)
        if job.index >= job.end:
            return
        code = job.process.exitcode
        name = signal.Signals(-code).name if code is not None and code < 0 else f"exit {code}"
        what = f"more than {CPU_SECONDS} s of CPU time" if name == "SIGPROF" else f"the process died ({name})"
        self.totals.add(job.kind, job.index, Outcome({}, [self._fatal(job, what)]))
        if job.index + 1 < job.end:
            self.again.append((job.kind, job.index + 1, job.end))

    def _fatal(self, job: _Job, what: str) -> Failure:
        describe = getattr(module_of(job.kind), "describe", None)
        random = random_of(self.totals.seed, job.kind, job.index)
        way, text = describe(random) if describe is not None else ("", "")
        again = f"python -m tests.fuzz --seed {self.totals.seed} --kind {job.kind} --only {job.index}"
        return Failure(f"{what}: {way or job.kind}", f"{what}: {way}", f"{text}# {again}\n")
