"""``python -m benchmarks.attempt``: what looking for symmetry costs, against the direct solve.

Programs of the data folder, and families without symmetry (noisy images, SVMs, portfolios, ...). CPU seconds of one
process, the smallest of several repeats; the direct solve is the first call of the backend with ready-made matrices, by
Clarabel. The aim: on programs without symmetry whose direct solve takes 30 ms or more, at most 3 % of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from statistics import median

from rich.console import Console
from rich.table import Table

import relift
from benchmarks.data import real_programs
from benchmarks.families import FAMILIES
from benchmarks.pairs import smallest
from relift.program.program import Program
from relift.settings import SolverSettings
from relift.solvers.registry import get_backend

WITHOUT_SYMMETRY = 0.85
"""A program counts as one without symmetry if more than this part of its variables is left."""


def programs() -> Iterator[tuple[str, Program]]:
    """Real programs, then families without symmetry in their first size."""
    yield from real_programs("maros_meszaros")
    for family in FAMILIES:
        if not family.is_symmetric:
            yield f"{family.name} {family.sizes[0]}", family.build(family.sizes[0])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attempt", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--at-least", type=float, default=0.03, help="only programs whose direct solve takes this many seconds"
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--programs", default="", help="only programs whose name contains one of these")
    arguments = parser.parse_args()
    wanted = [part.strip() for part in arguments.programs.split(",") if part.strip()]
    result = Table(title="the whole of relift.lift against the direct solve by Clarabel, CPU")
    for column in ("program", "nonzeros", "direct ms", "attempt ms", "share", "variables left"):
        result.add_column(column, justify="left" if column == "program" else "right")
    clarabel, shares = get_backend("clarabel"), []
    for name, program in programs():
        if wanted and not any(part in name for part in wanted):
            continue
        given = program.minimisation()
        direct = smallest(lambda given=given: clarabel.solve(given, SolverSettings()), 2)  # type: ignore[misc]
        if direct < arguments.at_least:
            continue
        attempt = smallest(lambda given=program: relift.lift(given, threads=1), arguments.repeats)  # type: ignore[misc]
        left = relift.lift(program).small.n_variables / program.n_variables
        if left > WITHOUT_SYMMETRY:
            shares.append(attempt / direct)
        result.add_row(
            name, f"{program.n_nonzeros:,}", f"{1e3 * direct:.0f}", f"{1e3 * attempt:.2f}", f"{attempt / direct:.1%}",
            f"{left:.0%}",
        )  # fmt: skip
    Console(width=120).print(result)
    if shares:
        print(f"{len(shares)} without symmetry: median {median(shares):.1%}, worst {max(shares):.1%}")


if __name__ == "__main__":
    main()
