"""``python -m benchmarks.kept_solvers``: solving again with the solver object of the last time, and with fresh ones.

CPU milliseconds of ``Lifting.update`` and ``relift.solve`` together, in turns in one process; the two answers to the
same numbers are compared. Each repeat has other numbers, of which some are easier (OSQP takes 150 to 900 iterations),
so that medians and means over the same draws tell something and the smallest does not.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table

import relift
from relift.arrays import Vector
from relift.lifting.lifting import Lifting
from relift.program.program import Program


def cases(n: int) -> list[tuple[str, str, Program, Callable[[], dict[str, Vector]]]]:
    """Name, backend, program, and what draws new numbers."""
    random = np.random.default_rng(n)
    A, q, l = random.uniform(0, 1, (n // 2, n)), random.uniform(1, 2, n), random.uniform(1, 2, n // 2)
    root = random.normal(size=(n, n))
    linear, curved = Program(q=q, A=A, l=l, lb=0), Program(root @ root.T + np.eye(n), q, A, l, lb=0)
    return [
        (f"LP, {n} variables, costs (HiGHS)", "highs", linear, lambda: {"q": q + random.uniform(0, 1, n)}),
        (f"LP, {n} variables, right-hand sides (HiGHS)", "highs", linear,
         lambda: {"l": l + 0.1 * random.uniform(0, 1, n // 2)}),
        (f"QP, {n} variables, costs (Clarabel)", "clarabel", curved, lambda: {"q": random.normal(size=n)}),
        (f"QP, {n} variables, costs (OSQP)", "osqp", curved, lambda: {"q": q + 0.1 * random.normal(size=n)}),
    ]  # fmt: skip


def in_turns(backend: str, program: Program, draw: Callable[[], dict[str, Vector]], repeats: int) -> list[list[float]]:
    """Milliseconds with fresh objects, and with kept ones."""
    fresh, kept = relift.lift(program), relift.lift(program)
    times: list[list[float]] = [[], []]
    for k in range(-3, repeats):
        changes = draw()
        values = []
        for way, lifting in enumerate((fresh, kept)):
            start = process_time()
            updated: Lifting = lifting.update(**changes)  # type: ignore[arg-type]
            if way == 0:
                updated.solvers.forget(backend)
            values.append(relift.solve(updated, backend=backend).objective)
            if k >= 0:
                times[way].append(1e3 * (process_time() - start))
        if abs(values[0] - values[1]) > 1e-5 * max(1.0, abs(values[0])):
            raise SystemExit(f"{program}: {values[0]} by a fresh object, {values[1]} by a kept one")
    return times


def main(repeats: int = 40) -> None:
    """Print the table."""
    table = Table(title="CPU milliseconds: median (mean)")
    for column in ("again with other numbers", "fresh", "kept"):
        table.add_column(column, justify="left" if column.startswith("again") else "right")
    for n in (10, 100):
        for name, backend, program, draw in cases(n):
            times = in_turns(backend, program, draw, repeats)
            table.add_row(name, *(f"{np.median(way):.2f} ({np.mean(way):.2f})" for way in times))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
