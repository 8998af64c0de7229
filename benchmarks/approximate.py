"""``python -m benchmarks.approximate``: noisy programs, solved plainly and with ``approximate=``.

Every number of a program is changed by up to the noise, so that exact lifting finds next to nothing. The gap asked for
is a multiple of the noise. Both sides are measured in CPU seconds of the whole process, in turn, and the smaller of
some repeats counts. An answer counts if its bounds enclose the optimum and its status says that it is good enough;
anything else is refused: it gets no time. ``ratio`` is what ``approximate=`` costs: above 1 it has lost.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import process_time

from rich.console import Console
from rich.table import Table

import relift
from benchmarks.data import data_folder
from benchmarks.families import FAMILIES
from relift.formats.program_files import read_program
from relift.testing.noise import with_noise

LARGER = (
    ("charging fleet", 1000),
    ("obstacle 3-D", 21),
    ("transport", 200),
    ("transport", 60),
    ("sector portfolio", 1500),
)
"""Programs that are measured at other sizes than the first one of their family."""

COLLECTIONS = ("lp_symmetric", "maros_meszaros")


@dataclass(frozen=True)
class Measurement:
    """One noisy program."""

    program: str
    collection: str
    noise: float
    asked: float
    n_variables: int
    n_rows: int
    classes: int
    """Of the last round over classes; 0 if there was none."""
    rounds: int
    """Over classes: the plain solve is not counted."""
    status: str
    gap: float
    given_up: str
    true_error: float | None
    plain_seconds: float | None
    approximate_seconds: float | None
    unhurried_seconds: float | None
    """Without a budget, where the budget sufficed."""
    refused: str

    @property
    def ratio(self) -> float | None:
        if self.plain_seconds is None or self.approximate_seconds is None:
            return None
        return self.approximate_seconds / self.plain_seconds


def seconds_of(solve: Callable[[], relift.Result]) -> tuple[float, relift.Result]:
    """CPU seconds of a solve, and its result."""
    start = process_time()
    result = solve()
    return process_time() - start, result


def measure(
    name: str, collection: str, program: relift.Program, noise: float, asked: float, time_limit: float, repeats: int
) -> Measurement:
    """Solve the noisy program both ways, in turn."""
    noisy = with_noise(program, noise)
    approximate, plain = math.inf, math.inf
    for repeat in range(repeats):
        spent, result = seconds_of(lambda: relift.solve(noisy, approximate=asked, time_limit=time_limit))
        approximate = min(approximate, spent)
        if repeat == 0 or plain < time_limit / 4:
            spent, truth = seconds_of(lambda: relift.solve(noisy, time_limit=time_limit))
            plain = min(plain, spent)
    unhurried = None
    if result.status == "optimal_within_gap":
        options = relift.Approximation(gap=asked, budget=math.inf)
        unhurried = min(
            seconds_of(lambda: relift.solve(noisy, approximate=options, time_limit=time_limit))[0]
            for _ in range(repeats)
        )
    is_known = truth.status in {"optimal", "infeasible", "unbounded"}
    slack = 2e-6 * max(1.0, abs(truth.objective)) if truth.status == "optimal" else 0.0
    encloses = not is_known or result.lower_bound - slack <= truth.objective <= result.upper_bound + slack
    refused = ""
    if not encloses:
        refused = "bounds do not enclose the optimum"
    elif result.status not in {"optimal_within_gap", truth.status}:
        refused = f"{result.status}, gap {result.gap:.1e}"
    elif not is_known and result.status != "optimal_within_gap":
        refused = f"{result.status}, with and without it"
    error = None
    if truth.status == "optimal" and result.x is not None:
        error = abs(result.objective - truth.objective) / max(1.0, abs(truth.objective))
    over_classes = [line for line in result.rounds if line.kind != "ground"]
    report = result.approximation
    return Measurement(
        name, collection, noise, asked, program.n_variables, program.n_rows,
        over_classes[-1].classes if over_classes else 0, len(over_classes), str(result.status), result.gap,
        "" if report is None else report.given_up, error, plain, None if refused else approximate, unhurried, refused,
    )  # fmt: skip


def programs() -> Iterator[tuple[str, str, Callable[[], relift.Program]]]:
    """Name, collection and maker of every program."""
    made = {family.name: family for family in FAMILIES}
    for family in FAMILIES:
        if family.kind in {"LP", "QP"}:
            size = family.sizes[0]
            yield f"{family.name} {size}", "families", partial(family.build, size)
    for name, size in LARGER:
        if size != made[name].sizes[0]:
            yield f"{name} {size}", "families", partial(made[name].build, size)
    folder = data_folder()
    for collection in COLLECTIONS if folder is not None else ():
        assert folder is not None
        for path in sorted((folder / collection).glob("*.npz")):
            yield path.stem, collection, partial(read_program, path)


def table(measurements: list[Measurement]) -> Table:
    result = Table(title="noisy programs: plainly, and with approximate=")
    columns = ("program", "noise", "variables", "rounds", "gap", "true error", "plain s", "approx. s", "ratio")
    for column in columns:
        result.add_column(column, justify="left" if column == "program" else "right")
    result.add_column("given up")
    for m in measurements:
        result.add_row(
            m.program, f"{m.noise:.0e}", f"{m.n_variables:,}", f"{m.rounds}: {m.classes}", f"{m.gap:.1e}",
            "–" if m.true_error is None else f"{m.true_error:.1e}",
            "–" if m.plain_seconds is None else f"{m.plain_seconds:.3f}",
            f"({m.refused})" if m.approximate_seconds is None else f"{m.approximate_seconds:.3f}",
            "–" if m.ratio is None else f"{m.ratio:.2f}", m.given_up,
        )  # fmt: skip
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.approximate", description=__doc__.splitlines()[0])
    parser.add_argument("--noise", default="1e-3,1e-5", help="comma-separated")
    parser.add_argument("--factor", type=float, default=10.0, help="gap asked for, as a multiple of the noise")
    parser.add_argument("--only", default="", help="only programs whose name contains one of these, comma-separated")
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds for one solve")
    parser.add_argument("--repeats", type=int, default=3, help="the smallest time of so many counts")
    parser.add_argument("--out", type=Path, help="file for the measurements, as JSON")
    arguments = parser.parse_args()
    wanted = [part.strip() for part in arguments.only.split(",") if part.strip()]
    console, measurements = Console(width=200), []
    relift.solve(relift.Program(q=[1.0, 1.1], lb=0), approximate=1e-2)  # imports and caches
    for name, collection, build in programs():
        if wanted and not any(part in name for part in wanted):
            continue
        program = build()
        for noise in map(float, arguments.noise.split(",")):
            asked = arguments.factor * noise
            m = measure(name, collection, program, noise, asked, arguments.time_limit, arguments.repeats)
            measurements.append(m)
            console.print(f"[dim]{name}, noise {noise:g}: {m.status}, gap {m.gap:.1e}, ratio {m.ratio} {m.refused}[/]")
            if arguments.out is not None:
                lines = [asdict(m) | {"ratio": m.ratio} for m in measurements]
                arguments.out.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    console.print(table(measurements))


if __name__ == "__main__":
    main()
