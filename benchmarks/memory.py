"""``python -m benchmarks.memory``: how much memory lifting takes beyond the program, by stage.

Each family of ``benchmarks.pairs`` is lifted in a fresh process, and the most memory that the process had in each stage
is read from the system (Linux only), with what NumPy and the compiled core allocate. All figures are multiples of the
program's own arrays, which are not counted. Memory that is free is given back before each stage, so that stages do not
hide behind each other; one thread.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import relift
from benchmarks.large_programs import FAMILIES
from relift.lifting.certificate import certify
from relift.lifting.stages import LIFTING, LiftWork
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import LiftSettings
from relift.threads import using_threads


def bytes_of(program: Program) -> int:
    """Bytes of the arrays of a program."""
    vectors = program.q, program.l, program.u, program.lb, program.ub, program.conic.b
    total = sum(vector.nbytes for vector in vectors)
    for matrix in (program.A, program.P, program.conic.A):
        if matrix is not None:
            total += matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    return total


def _of_process(name: str) -> int:
    """A line of the status of this process, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise SystemExit(f"the system does not tell {name} of a process.")


def _begin() -> None:
    """Give back what is free, and forget the most memory so far."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def measure(name: str, size: int) -> dict[str, object]:
    """Peaks of all stages of one family."""
    build = FAMILIES[name]
    relift.lift(build(20_000))  # imports
    program = build(size)
    random = np.random.default_rng(0)
    x = np.clip(random.normal(size=program.n_variables), program.lb, program.ub)
    point = Solution(Status.OPTIMAL, x, random.normal(size=program.n_rows), random.normal(size=program.n_variables))
    _begin()
    before, own = _of_process("VmRSS"), bytes_of(program)
    peaks = {}
    with using_threads(1):
        work = LiftWork(program, LiftSettings())
        for stage in LIFTING:
            if stage.applies(work):
                _begin()
                stage.run(work)
                peaks[stage.name] = (_of_process("VmHWM") - before) / own
        _begin()
        held = (_of_process("VmRSS") - before) / own
        certify(program, point)
        peaks["certificate"] = (_of_process("VmHWM") - before) / own - held
    return {"family": name, "n_nonzeros": program.n_nonzeros, "megabytes": own / 1e6, "peaks": peaks, "held": held}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000000", help="nonzeros, comma-separated")
    parser.add_argument("--families", default="", help="only families whose name contains one of these")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one[0], int(arguments.one[1]))))
        return
    wanted = [part.strip() for part in arguments.families.split(",") if part.strip()]
    print("| family | nonzeros | megabytes | presolve | find classes | check | quotient | held | certificate |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in FAMILIES:
        for size in arguments.sizes.split(","):
            if wanted and not any(part in name for part in wanted):
                continue
            command = [sys.executable, "-m", "benchmarks.memory", "--one", name, size]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            peaks = [found["peaks"].get(part) for part in ("presolve", "find classes", "verify", "quotient")]
            cells = [*peaks, found["held"], found["peaks"]["certificate"]]
            shown = ["–" if cell is None else f"{max(cell, 0.0):.1f}" for cell in cells]
            sizes = [name, f"{found['n_nonzeros']:,}", f"{found['megabytes']:.0f}"]
            print(f"| {' | '.join([*sizes, *shown])} |", flush=True)


if __name__ == "__main__":
    main()
