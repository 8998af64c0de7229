"""A hundred scenarios of one program: a loop of HiGHS, one HiGHS object that is changed, and ``relift.solve_many``.

``python -m benchmarks.many [SCENARIOS]``. CPU seconds of one process; the answers are compared.
"""

from __future__ import annotations

import sys
from time import process_time
from typing import Any

import highspy
import numpy as np
from scipy import sparse

import relift
from relift import Program
from relift.settings import SolverSettings
from relift.solvers.highs_ import load


def charging(seed: int = 0, groups: int = 8, copies: int = 150, hours: int = 12) -> tuple[Program, Any]:
    """Cars of a few kinds share a grid; prices and the size of the grid change from day to day."""
    random = np.random.default_rng(seed)
    n_cars = groups * copies
    needs = np.repeat(random.integers(3, 9, groups).astype(float), copies)
    cars = sparse.kron(sparse.eye_array(n_cars), np.ones((1, hours)))
    grid = sparse.kron(np.ones((1, n_cars)), sparse.eye_array(hours))
    A = sparse.csc_array(sparse.vstack([cars, grid]))
    l = np.r_[needs, np.full(hours, -np.inf)]
    u = np.r_[np.full(n_cars, np.inf), np.full(hours, 0.9 * n_cars)]

    def change() -> dict[str, Any]:
        limit = np.full(hours, round(n_cars * (0.8 + 0.2 * random.random()), 1))
        return {"q": np.tile(random.random(hours).round(2), n_cars), "u": np.r_[np.full(n_cars, np.inf), limit]}

    return Program(None, np.ones(A.shape[1]), A, l, u, 0, 1.0), change


def measured(seed: int = 0, n: int = 600, m: int = 300) -> tuple[Program, Any]:
    """Measured data, without symmetry; costs change by a tenth."""
    random = np.random.default_rng(seed)
    A = sparse.random_array((m, n), density=0.03, rng=random, format="csc")
    b = A @ random.random(n)
    program = Program(None, random.random(n), A, b - 0.2, b + 0.2, 0, 2)
    return program, lambda: {"q": program.q * (1 + 0.1 * random.standard_normal(n))}


def loop(program: Program, changes: list[Any]) -> list[float]:
    """A new HiGHS object for each scenario."""
    found = []
    for change in changes:
        highs: Any = load(program.replace(**change), SolverSettings())
        highs.run()
        found.append(highs.getObjectiveValue())
    return found


def changed(program: Program, changes: list[Any]) -> list[float]:
    """One HiGHS object, which goes on from the last basis."""
    highs: Any = load(program, SolverSettings())
    n, m = program.n_variables, program.n_rows
    found = []
    for change in changes:
        here = program.replace(**change)
        highs.changeColsCost(n, np.arange(n, dtype=np.int32), here.q.copy())
        highs.changeRowsBounds(m, np.arange(m, dtype=np.int32), here.l.copy(), here.u.copy())
        highs.run()
        found.append(highs.getObjectiveValue())
    return found


def lifted(program: Program, changes: list[Any]) -> list[float]:
    return [result.objective for result in relift.solve_many(program, changes)]


def main(count: int) -> None:
    print(f"highspy {highspy.Highs().version()}, {count} scenarios, CPU seconds")
    for title, (program, change) in (("charging fleet", charging()), ("measured data", measured())):
        changes = [change() for _ in range(count)]
        seconds, answers = {}, {}
        for name, way in (("loop", loop), ("changed", changed), ("relift", lifted)):
            way(program, changes[:1])  # load what it needs
            start = process_time()
            answers[name] = way(program, changes)
            seconds[name] = process_time() - start
        worst = max(np.max(np.abs(np.array(answers[name]) - answers["loop"])) for name in ("changed", "relift"))
        told = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
        ratio = seconds["loop"] / seconds["relift"]
        print(f"{title} ({program}): {told}; {ratio:.1f} times as fast as the loop; answers differ by {worst:.1g}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
