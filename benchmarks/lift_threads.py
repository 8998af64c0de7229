"""``python -m benchmarks.lift_threads``: how much sooner two threads end than one, by the clock, for whole liftings.

Families that rounds of refinement settle (:mod:`benchmarks.refinement.families`), and some of
:mod:`benchmarks.large_programs`. One and two threads take turns in one process; the smallest of the repeats counts.
Both must find the same classes. Run it while nothing else runs: a thread that waits for a core tells nothing. On a busy
machine ``--cpu`` tells what is left to the thread that calls, of which others can take nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter, thread_time

import numpy as np

import relift
from benchmarks.large_programs import FAMILIES, MORE_FAMILIES
from benchmarks.refinement.families import FAMILIES as REFINED
from relift.lifting.certificate import certify
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.threads import available_cores, using_threads

SETTLED = ("random_01", "random_5_values", "blocks", "blocks_5_values", "assignment", "transport", "svm")
LARGE = ("time-expanded network", "copies of a power grid", "R-MAT cover", "scenarios of fifty kinds")


def program_of(name: str, size: int) -> Program:
    """One family as a program."""
    if name in LARGE:
        return {**FAMILIES, **MORE_FAMILIES}[name](size)
    drawn = REFINED[name].build(size, np.random.default_rng(1))
    q = np.ones(drawn.A.shape[1]) if drawn.q is None else drawn.q
    return Program(drawn.P, q, drawn.A, drawn.l, drawn.u, lb=0)


def in_turns(work: Callable[[], object], repeats: int, clock: Callable[[], float]) -> tuple[float, float]:
    """Seconds with one thread and with two."""
    least = [np.inf, np.inf]
    for _ in range(repeats):
        for k in range(2):
            with using_threads(k + 1):
                start = clock()
                work()
                least[k] = min(least[k], clock() - start)
    return least[0], least[1]


def check_same(program: Program) -> None:
    """Refuse to give times where threads change the classes."""
    one, two = (relift.lift(program, threads=k).quotient.symmetry for k in (1, 2))
    for here, there in ((one.variables, two.variables), (one.rows, two.rows)):
        if not np.array_equal(here.labels, there.labels):
            raise SystemExit("classes depend on the number of threads; no times are given.")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lift_threads", description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="10000000", help="nonzeros")
    parser.add_argument("--families", default="", help="only families whose name contains one of these")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cpu", action="store_true", help="CPU seconds of the thread that calls, not the clock")
    arguments = parser.parse_args()
    if available_cores() < 2:
        sys.exit("this process may use one core alone: nothing to compare.")
    wanted = [part.strip() for part in arguments.families.split(",") if part.strip()]
    print("| program | nonzeros | lift s | two threads | ratio | certificate s | two threads | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name in (*SETTLED, *LARGE):
        if wanted and not any(part in name for part in wanted):
            continue
        program = program_of(name, int(float(arguments.size)))
        check_same(program)
        random = np.random.default_rng(0)
        x = np.clip(random.normal(size=program.n_variables), program.lb, program.ub)
        y, w = random.normal(size=program.n_rows), random.normal(size=program.n_variables)
        point = Solution(Status.OPTIMAL, x, y, w)
        clock = thread_time if arguments.cpu else perf_counter
        lift = in_turns(partial(relift.lift, program), arguments.repeats, clock)
        check = in_turns(partial(certify, program, point), arguments.repeats, clock)
        cells = [f"{one:.3f} | {two:.3f} | {one / two:.2f}" for one, two in (lift, check)]
        print(f"| {name.replace('_', ' ')} | {program.n_nonzeros:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
