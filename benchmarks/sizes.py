"""``python -m benchmarks.sizes``: what lifting up to size, unit and sign finds, and what it is worth.

For each program: the small program without and with scales, what the presolve of HiGHS leaves, and CPU seconds of one
thread for HiGHS (dual simplex; interior point without crossover) on the program itself and for relift, everything
counted. Quadratic programs are solved by Clarabel. ``--energy`` takes the energy models of RELIFT_DATA instead (LP
relaxations), ``--cost`` measures what the search costs on all other families, ``--nothing-merges`` on programs, small
and large, in which no two kinds of variables merge: there the aim is 2 % of lifting.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import relift
from benchmarks.data import data_folder
from benchmarks.families import FAMILIES as OTHER_FAMILIES
from benchmarks.families import nothing_merges
from benchmarks.families.up_to_scale import FAMILIES
from relift.formats.program_files import read_program
from relift.program.program import Program
from relift.settings import SolverSettings
from relift.solvers.highs_ import load
from relift.symmetry.likeness import Colours
from relift.symmetry.own_scales import Intervals

WITHOUT: dict[str, Any] = {"sizes": False, "signs": False}

LEAST_SECONDS = 1.0
"""For so long at least lifting with scales and lifting without take turns."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizes", description=__doc__.splitlines()[0])
    parser.add_argument("--energy", action="store_true", help="the energy models of RELIFT_DATA")
    parser.add_argument("--cost", action="store_true", help="only lifting, with and without, on the other families")
    parser.add_argument("--nothing-merges", action="store_true", help="the same where no two kinds of variables merge")
    parser.add_argument("--size", type=int, help="build the families with this size instead of their own")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=120.0, help="seconds for one solve")
    arguments = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 170)
    if arguments.cost:
        console.print(costs(arguments.repeats, arguments.size))
        return
    if arguments.nothing_merges:
        console.print(costs_of_nothing(arguments.repeats))
        return
    programs = energy_models() if arguments.energy else families(arguments.size)
    table = Table(title="CPU seconds of one thread; sizes are variables x rows")
    for name in ("program", "as given", "HiGHS presolve", "without scales", "up to scale", "simplex", "IPM",
                 "relift without", "relift", "agrees"):  # fmt: skip
        table.add_column(name, justify="left" if name == "program" else "right")
    for name, program in programs:
        line = measured(program, arguments.repeats, arguments.time_limit)
        print(name, *line, sep=" | ", flush=True)  # the whole takes minutes
        table.add_row(name, *line)
    console.print(table)


def families(size: int | None) -> Iterator[tuple[str, Program]]:
    for family in FAMILIES:
        yield family.name, family.build(family.sizes[0] if size is None else size)


def energy_models() -> Iterator[tuple[str, Program]]:
    folder = data_folder()
    if folder is None:
        raise SystemExit("There is no folder of data: set RELIFT_DATA.")
    for path in sorted((folder / "energy").glob("*.mps.gz")):
        yield path.name.removesuffix(".mps.gz"), read_program(path, relax_integers=True)


def measured(program: Program, repeats: int, time_limit: float) -> list[str]:
    """One line of the table."""
    lifted_seconds, lifted = best(lambda: relift.solve(program, time_limit=time_limit), repeats)
    plain_seconds, plain = best(lambda: relift.solve(program, time_limit=time_limit, **WITHOUT), repeats)
    if program.is_linear:
        presolved = by_highs(program, {}, time_limit)[2]
        direct = [by_highs(program, options, time_limit) for options in (
            {"solver": "simplex"}, {"solver": "ipm", "run_crossover": "off"},
        )]  # fmt: skip
    else:
        presolved = "-"
        start = process_time()
        found = relift.solve(program, lift="none", reduce=False, backend="clarabel", time_limit=time_limit)
        direct = [(np.nan, np.nan, ""), (process_time() - start, found.objective, "")]
    values = [value for seconds, value, _ in direct if np.isfinite(value)]
    agrees = lifted.certificate.is_optimal and all(
        abs(value - lifted.objective) <= 1e-5 * max(1.0, abs(value)) for value in values
    )
    return [
        _size(program), presolved, _size(plain.lifting.small), _size(lifted.lifting.small),
        *(_shown(seconds) for seconds, _, _ in direct), _shown(plain_seconds), _shown(lifted_seconds),
        "yes" if agrees else f"no: {lifted.status} {lifted.objective:.8g} {values}",
    ]  # fmt: skip


def by_highs(program: Program, options: dict[str, Any], time_limit: float) -> tuple[float, float, str]:
    """CPU seconds and objective of HiGHS alone, or, without options, the size that its presolve leaves."""
    settings = SolverSettings(1e-6, time_limit, None, 1, options=options)
    highs: Any = load(program, settings)
    if not options:
        highs.presolve()
        small = highs.getPresolvedLp()
        return 0.0, np.nan, f"{small.num_col_:,} x {small.num_row_:,}"
    start = process_time()
    highs.run()
    seconds = process_time() - start
    is_done = "ptimal" in highs.modelStatusToString(highs.getModelStatus())
    return (seconds, highs.getObjectiveValue(), "") if is_done else (np.nan, np.nan, "")


def best(work: Any, repeats: int) -> tuple[float, Any]:
    """The smallest CPU time of some repeats, and what came out."""
    seconds, found = np.inf, None
    for _ in range(repeats):
        start = process_time()
        found = work()
        seconds = min(seconds, process_time() - start)
        if seconds > 10:
            break
    return seconds, found


def costs(repeats: int, size: int | None) -> Table:
    """Lifting with scales against lifting without, where there is nothing, or nothing more, to find."""
    table = Table(title="CPU milliseconds of lifting")
    for name in ("family", "nonzeros", "without scales", "up to scale", "ratio", "variables", "without", "with"):
        table.add_column(name, justify="left" if name == "family" else "right")
    for family in OTHER_FAMILIES:
        program = family.build(family.sizes[-1] if size is None else size)
        plain_seconds, plain = best(lambda p=program: relift.lift(p, **WITHOUT), repeats)
        seconds, lifted = best(lambda p=program: relift.lift(p), repeats)
        table.add_row(
            family.name, f"{program.n_nonzeros:,}", f"{1e3 * plain_seconds:.1f}", f"{1e3 * seconds:.1f}",
            f"{seconds / plain_seconds:.2f}", f"{program.n_variables:,}", f"{plain.small.n_variables:,}",
            f"{lifted.small.n_variables:,}",
        )  # fmt: skip
    return table


def costs_of_nothing(repeats: int) -> Table:
    """Lifting with scales against lifting without, in turns, where no two kinds of variables merge up to size."""
    table = Table(title="CPU milliseconds of lifting where no kinds of variables merge")
    for name in ("program", "nonzeros", "kinds", "without scales", "up to scale", "ratio"):
        table.add_column(name, justify="left" if name == "program" else "right")
    ratios = []
    for family in nothing_merges.FAMILIES:
        for size in family.sizes:
            program = family.build(size)
            kinds = kinds_of(program)
            if kinds.may_merge or kinds.may_merge_with_masses:
                raise SystemExit(f"kinds of {family.name} {size} merge: {kinds}.")
            plain_seconds = seconds = np.inf
            start, turns = process_time(), 0
            while turns < repeats or process_time() - start < LEAST_SECONDS:  # a single short run shows little
                plain_seconds = min(plain_seconds, best(lambda p=program: relift.lift(p, **WITHOUT), 1)[0])
                seconds = min(seconds, best(lambda p=program: relift.lift(p), 1)[0])
                turns += 1
            ratios.append(seconds / plain_seconds)
            table.add_row(
                f"{family.name} {size}", f"{program.n_nonzeros:,}", f"{kinds.given}", f"{1e3 * plain_seconds:.2f}",
                f"{1e3 * seconds:.2f}", f"{ratios[-1]:.3f}",
            )  # fmt: skip
    table.caption = f"median {median(ratios):.3f}, worst {max(ratios):.3f}"
    return table


def kinds_of(program: Program) -> Colours:
    """What kinds of variables there are, after presolve."""
    reduction = relift.lift(program).reduction
    reduced, images = reduction.program, reduction.images
    bounds = Intervals(reduced.lb, reduced.ub, images.lb, images.ub)
    return Colours.of(bounds, reduced.q, images.q, sizes=True, signs=True)


def _size(program: Program) -> str:
    return f"{program.n_variables:,} x {program.n_rows:,}"


def _shown(seconds: float) -> str:
    return "-" if np.isnan(seconds) else f"{seconds:.3f}"


if __name__ == "__main__":
    main()
