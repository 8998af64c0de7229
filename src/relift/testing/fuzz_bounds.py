"""``python -m relift.testing.fuzz_bounds``: intervals of approximate lifting against exact optima of random programs.

Programs are small, so that their optimum is found in rational arithmetic (:mod:`relift.testing.exact_optimum`), and
nasty in what they mix: rows of 1e-8 and 1e6 in one program, noise from 1e-9 to 1e-2 on a planted symmetry,
equalities, redundant and duplicate rows, degenerate vertices, free variables, fixed ones, infeasible and unbounded
programs, both senses. The options of approximate lifting are drawn too: what is stopped early has the widest interval.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from scipy import sparse

from relift.approximate.options import Approximation
from relift.pipeline import solve
from relift.program.program import Program, Sense
from relift.result import Result
from relift.testing.exact_optimum import Optimum, exact_optimum
from relift.testing.noise import with_noise
from relift.testing.random_programs import symmetric_program

SLACK = 1e-7
"""What an optimum in floats may be off by, relative to 1 + its size; optima in rational arithmetic are not."""


@final
@dataclass(frozen=True)
class Case:
    """One fuzzed program with what was found; ``fault`` is empty if the interval encloses the optimum."""

    seed: int
    program: Program
    options: Approximation
    result: Result
    optimum: Optimum
    fault: str


def fuzzed_program(seed: int) -> tuple[Program, np.random.Generator]:
    """A random small program, and the generator to go on with."""
    random = np.random.default_rng([seed, 20260101])
    if random.random() < 0.45:
        program = _planted(random)
    else:
        program = _wild(random)
    return _scaled(program, random), random


def _planted(random: np.random.Generator) -> Program:
    """A symmetric program under noise."""
    copies, classes = int(random.integers(2, 5)), int(random.integers(1, 4))
    made = symmetric_program(
        int(random.integers(2**31)), quadratic=bool(random.random() < 0.4), copies=copies, n_classes=classes,
        m_classes=int(random.integers(1, 4)), scaled_rows=bool(random.random() < 0.3),
        disguised=bool(random.random() < 0.25),
    ).program  # fmt: skip
    level = float(random.choice([0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2]))
    return with_noise(made, level, int(random.integers(2**31))) if level else made


def _wild(random: np.random.Generator) -> Program:
    """Any small program: equalities, free variables, half boxes; some infeasible, some unbounded, some degenerate."""
    n, m = int(random.integers(1, 9)), int(random.integers(0, 7))
    A = np.where(random.random((m, n)) < 0.6, random.choice([1.0, -1.0, 2.0, 0.5], (m, n)), 0.0)
    A *= 1 + float(random.choice([0.0, 1e-6, 1e-2])) * random.uniform(-1, 1, A.shape)
    x0 = random.integers(-2, 3, n) * 0.5
    if m >= 2 and random.random() < 0.2:  # a redundant row: another one, or a sum
        A[-1] = A[0] if random.random() < 0.5 else A[:-1].sum(axis=0)
    value, kind = A @ x0, random.integers(0, 4, m)
    room = np.where(random.random(m) < 0.3, 0.0, random.random(m))  # no room: many rows meet in one point
    l = np.select([kind == 0, kind == 1, kind == 3], [value, value - room, value - 0.5], -np.inf)
    u = np.select([kind == 0, kind == 2, kind == 3], [value, value + room, value + 0.5], np.inf)
    if m and random.random() < 0.1:
        i = int(random.integers(m))
        l[i] += 5
        u[i] = max(u[i], l[i])
    lb = np.where(random.random(n) < 0.6, x0 - random.integers(0, 2, n) * random.random(n), -np.inf)
    ub = np.where(random.random(n) < 0.5, x0 + random.random(n), np.inf)
    P = None
    if random.random() < 0.4:
        factor = random.integers(-1, 2, (int(random.integers(1, n + 1)), n)).astype(float)
        P = factor.T @ factor
        if random.random() < 0.3:
            P = P + np.diag(random.random(n))
        P = P if P.any() else None
    q = random.choice([-1.0, 0.0, 1.0, 2.0], n) * (1 + 1e-2 * random.uniform(-1, 1, n))
    return Program(P, q, A, l, u, lb, ub, float(random.choice([0.0, 2.5])))


def _scaled(program: Program, random: np.random.Generator) -> Program:
    """Rows, variables and objective in units of their own, and a sense."""
    rows = np.ones(program.n_rows)
    columns = np.ones(program.n_variables)
    objective = float(random.choice([1.0, 1.0, 1.0, 1e-6, 1e-3, 1e4]))
    if random.random() < 0.6:
        rows = random.choice([1.0, 1.0, 1e-4, 1e-8, 1e6], program.n_rows)
    if random.random() < 0.25:
        columns = random.choice([1.0, 1e-3, 1e3], program.n_variables)
    sign = -1.0 if random.random() < 0.3 else 1.0
    A = (sparse.diags_array(rows) @ program.A @ sparse.diags_array(columns)).tocsc()
    P = program.P
    if P is not None:
        scale = sparse.diags_array(columns)
        P = sign * objective * (scale @ P @ scale).tocsc()
        P = ((P + P.T) * 0.5).tocsc()
    l, u = program.l * rows, program.u * rows
    lb, ub = program.lb / columns, program.ub / columns
    sense: Sense = "max" if sign < 0 else "min"
    q = sign * objective * program.q * columns
    return Program(P, q, A, l, u, lb, ub, sign * objective * program.r, sense=sense, assume_convex=True)


def fuzzed_options(program: Program, random: np.random.Generator) -> Approximation:
    """Options that stop early as often as late."""
    start: dict[str, Any] = {}
    match int(random.integers(4)):
        case 0:
            start = {"partition": np.zeros(program.n_variables)}
        case 1:
            start = {"partition": random.integers(0, 3, program.n_variables)}
        case 2:
            start = {"tolerance": float(random.choice([1e-4, 1e-2, 0.2]))}
    return Approximation(
        gap=float(random.choice([1e-1, 1e-2, 1e-3, 1e-5])),
        rows=("auto", "keep", "average")[int(random.integers(3))],
        max_rounds=int(random.choice([1, 1, 2, 3, 50])),
        budget=math.inf if random.random() < 0.9 else 0.35,
        **start,
    )


def fuzz_case(seed: int) -> Case:
    """Solve one fuzzed program approximately and compare its interval with the exact optimum."""
    program, random = fuzzed_program(seed)
    options = fuzzed_options(program, random)
    result = solve(program, approximate=options)
    optimum = exact_optimum(program)
    return Case(seed, program, options, result, optimum, _fault(result, optimum, options))


def _fault(result: Result, optimum: Optimum, options: Approximation) -> str:
    """What is wrong with an interval, or nothing."""
    lower, upper = result.lower_bound, result.upper_bound
    if not lower <= upper:
        return f"empty interval [{lower!r}, {upper!r}]"
    if result.status == "optimal_within_gap" and not result.gap <= options.gap:
        return f"gap {result.gap!r} above {options.gap!r}"
    if math.isnan(optimum.value):
        return ""
    if optimum.exact is not None:
        value = optimum.exact
        below = math.isfinite(lower) and Fraction(lower) > value
        above = math.isfinite(upper) and Fraction(upper) < value
        wrong = below or above or lower == math.inf or upper == -math.inf
    else:
        room = SLACK * (1.0 + abs(optimum.value)) if math.isfinite(optimum.value) else 0.0
        wrong = not lower - room <= optimum.value <= upper + room
    return f"[{lower!r}, {upper!r}] misses {optimum.value!r}" if wrong else ""


def fuzz(programs: int, seed: int = 0) -> tuple[Counter[str], list[Case]]:
    """Fuzz so many programs from a seed on; what happened how often, and the cases that are wrong."""
    counts: Counter[str] = Counter()
    faults: list[Case] = []
    for number in range(seed, seed + programs):
        case = fuzz_case(number)
        counts[f"status {case.result.status}"] += 1
        counts["exact optimum" if case.optimum.exact is not None else f"float optimum {_kind(case.optimum.value)}"] += 1
        counts["linear" if case.program.is_linear else "quadratic"] += 1
        report = case.result.approximation
        assert report is not None
        if math.isfinite(report.lower_bound) and math.isfinite(report.upper_bound):
            counts["finite interval"] += 1
            counts["finite interval, both ends proved"] += report.point_is_proved and math.isinf(report.radius)
            counts["finite interval, within a radius"] += math.isfinite(report.radius)
        if case.fault:
            faults.append(case)
    return counts, faults


def _kind(value: float) -> str:
    return "unknown" if math.isnan(value) else ("finite" if math.isfinite(value) else "infinite")


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m relift.testing.fuzz_bounds", description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts, faults = fuzz(arguments.programs, arguments.seed)
    for name, count in sorted(counts.items()):
        print(f"{count:8,} {name}")
    for case in faults:
        print(f"seed {case.seed}: {case.fault}; status {case.result.status}, {case.options}")
    print(f"{len(faults)} of {arguments.programs:,} intervals are wrong")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
