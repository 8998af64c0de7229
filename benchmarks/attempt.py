"""``python -m benchmarks.attempt``: what looking for symmetry costs, against the ground solve, on real programs.

The aim: on programs without symmetry whose ground solve takes over 0.1 s, less than 3 % of it.
"""

from __future__ import annotations

import argparse
from time import perf_counter

from rich.console import Console
from rich.table import Table

import relift
from benchmarks.data import real_programs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attempt", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--at-least", type=float, default=0.1, help="only programs whose ground solve takes this many seconds"
    )
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    result = Table(title="the whole attempt (substitute, refine, check, merge) against the ground solve by Clarabel")
    for column in ("program", "nonzeros", "ground s", "attempt s", "share", "variables left"):
        result.add_column(column, justify="left" if column == "program" else "right")
    for name, program in real_programs("maros_meszaros"):
        ground = _smallest(lambda p=program: relift.solve(p, lift="none", reduce=False, backend="clarabel"), 2, "solve")
        if ground < arguments.at_least:
            continue
        attempts = []
        for _ in range(arguments.repeats):
            start = perf_counter()
            lifting = relift.lift(program)
            attempts.append(perf_counter() - start)
        left = lifting.small.n_variables / program.n_variables
        result.add_row(
            name,
            f"{program.n_nonzeros:,}",
            f"{ground:.3f}",
            f"{min(attempts):.5f}",
            f"{min(attempts) / ground:.2%}",
            f"{left:.0%}",
        )
    Console().print(result)


def _smallest(solve: object, repeats: int, stage: str) -> float:
    """Seconds of the first call of the backend alone, the smallest of several."""
    return min(solve().attempts[0].seconds for _ in range(repeats))  # type: ignore[operator]


if __name__ == "__main__":
    main()
