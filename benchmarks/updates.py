"""``python -m benchmarks.updates``: ``Lifting.update`` with other costs or bounds, in pairs of products.

A pair is one product with A and one with its transpose (and one with P), by SciPy. New numbers are twice the old ones,
so that all classes hold. CPU time, the smallest of several runs; the last lifting is held until the next one is made,
as a loop does that solves again (where nothing is held, the memory of each goes back to the system and is mapped anew).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table

import relift
from benchmarks.families import FAMILIES
from relift.arrays import Vector
from relift.program.program import Program

NAMES = (
    "charging fleet", "transport", "identical commodities", "fleet control", "repeated scenarios", "stochastic LP",
    "random LP",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.updates", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    table = Table(title="pairs of products, CPU")
    for column in ("family", "nonzeros", "pair ms", "q", "l and u", "lb and ub", "lift"):
        table.add_column(column, justify="left" if column == "family" else "right")
    for family in FAMILIES:
        if family.name not in NAMES:
            continue
        program = family.build(family.sizes[-1])
        pair, others = measured(program, repeats)
        shares = [f"{seconds / pair:.1f}" for seconds in others]
        table.add_row(family.name, f"{program.n_nonzeros:,}", f"{1e3 * pair:.2f}", *shares)
    Console(width=120).print(table)


def measured(program: Program, repeats: int) -> tuple[float, list[float]]:
    """CPU seconds of a pair, of three updates, and of lifting anew."""
    lifting = relift.lift(program)
    x, y = np.ones(program.n_variables), np.ones(program.n_rows)

    def products() -> None:
        program.A @ x
        program.A.T @ y
        if program.P is not None:
            program.P @ x

    q, l, u, lb, ub = (2.0 * vector for vector in _vectors(program))
    updates: tuple[Callable[[], object], ...] = (
        lambda: lifting.update(q=q),
        lambda: lifting.update(l=l, u=u),
        lambda: lifting.update(lb=lb, ub=ub),
        lambda: relift.lift(program),
    )
    return smallest(products, 3 * repeats), [smallest(update, repeats) for update in updates]


def _vectors(program: Program) -> tuple[Vector, ...]:
    return program.q, program.l, program.u, program.lb, program.ub


def smallest(work: Callable[[], object], repeats: int) -> float:
    """CPU seconds of the quickest of several runs."""
    seconds, held = [], None
    for _ in range(repeats):
        start = process_time()
        made = work()
        seconds.append(process_time() - start)
        held = made
    del held
    return min(seconds)


if __name__ == "__main__":
    main()
