"""``python -m benchmarks.approximate``: noisy programs, solved as they are and by approximate lifting.

Every number of a symmetric program is changed by up to the noise, so that exact lifting finds nothing. The gap asked
for is a multiple of the noise. An answer counts if its bounds enclose the ground optimum and its gap is the one asked
for; anything else is refused: it gets no time.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

import relift
from benchmarks.data import data_folder
from benchmarks.families import FAMILIES
from relift.adapters.files import read_program
from relift.testing.noise import with_noise

MADE = (
    ("charging fleet", 1000),
    ("one-hot SVM", 20_000),
    ("obstacle 3-D", 21),
    ("machine repair MDP", 10),
    ("transport", 200),
    ("sector portfolio", 1500),
    ("random LP", 1500),
    ("random QP", 2000),
    ("isotonic regression", 50_000),
    ("model predictive control", 500),
)
REAL = (
    ("lp_symmetric", "cod83"),
    ("lp_symmetric", "codbt06"),
    ("lp_symmetric", "cov1075_miplib2010"),
    ("lp_symmetric", "cyc08"),
    ("lp_symmetric", "cvs16r128-89"),
    ("lp_symmetric", "sts243"),
    ("maros_meszaros", "AUG3D"),
    ("maros_meszaros", "AUG3DCQP"),
)


@dataclass(frozen=True)
class Measurement:
    """One noisy program."""

    program: str
    noise: float
    asked: float
    n_variables: int
    n_rows: int
    exact_classes: int
    first_classes: int
    last_classes: int
    rounds: int
    kind: str
    status: str
    gap: float
    true_error: float | None
    ground_seconds: float | None
    approximate_seconds: float | None
    refused: str

    @property
    def speed_up(self) -> float | None:
        if self.ground_seconds is None or self.approximate_seconds is None:
            return None
        return self.ground_seconds / self.approximate_seconds


def measure(name: str, program: relift.Program, noise: float, asked: float, time_limit: float) -> Measurement:
    """Solve the noisy program both ways; the smaller of two times each."""
    noisy = with_noise(program, noise)
    approximate_seconds, ground_seconds = math.inf, math.inf
    for _ in range(2):
        start = perf_counter()
        result = relift.solve(noisy, approximate=asked, time_limit=time_limit)
        approximate_seconds = min(approximate_seconds, perf_counter() - start)
    for _ in range(2):
        start = perf_counter()
        ground = relift.solve(noisy, lift="none", reduce=False, time_limit=time_limit)
        ground_seconds = min(ground_seconds, perf_counter() - start)
        if ground_seconds > time_limit / 10:
            break
    is_known = ground.status == "optimal"
    slack = 2e-6 * max(1.0, abs(ground.objective)) if is_known else 0.0
    encloses = not is_known or result.lower_bound - slack <= ground.objective <= result.upper_bound + slack
    refused = ""
    if not encloses:
        refused = "bounds do not enclose the optimum"
    elif result.status not in {"optimal", "optimal_within_gap"}:
        refused = f"{result.status}, gap {result.gap:.1e}"
    error = abs(result.objective - ground.objective) / max(1.0, abs(ground.objective)) if is_known else None
    rounds = result.rounds
    return Measurement(
        name, noise, asked, program.n_variables, program.n_rows, relift.lift(noisy).small.n_variables,
        rounds[0].classes, rounds[-1].classes, len(rounds), rounds[-1].kind, str(result.status), result.gap, error,
        ground_seconds if is_known else None, None if refused else approximate_seconds, refused,
    )  # fmt: skip


def table(measurements: list[Measurement]) -> Table:
    result = Table(title="noisy programs: as they are, and by approximate lifting to a proved gap")
    for column in (
        "program",
        "noise",
        "asked",
        "variables",
        "classes",
        "rounds",
        "gap",
        "true error",
        "ground s",
        "approx. s",
    ):
        result.add_column(column, justify="left" if column == "program" else "right")
    result.add_column("speed-up", justify="right")
    for m in measurements:
        classes = f"{m.first_classes:,} → {m.last_classes:,}" if m.rounds > 1 else f"{m.first_classes:,}"
        result.add_row(
            m.program, f"{m.noise:.0e}", f"{m.asked:.0e}", f"{m.n_variables:,}", classes, f"{m.rounds} {m.kind}",
            f"{m.gap:.1e}",
            "–" if m.true_error is None else f"{m.true_error:.1e}",
            "–" if m.ground_seconds is None else f"{m.ground_seconds:.3f}",
            f"({m.refused})" if m.approximate_seconds is None else f"{m.approximate_seconds:.3f}",
            "–" if m.speed_up is None else f"{m.speed_up:.2f}x",
        )  # fmt: skip
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.approximate", description=__doc__.splitlines()[0])
    parser.add_argument("--noise", default="1e-3,1e-5", help="comma-separated")
    parser.add_argument("--factor", type=float, default=10.0, help="gap asked for, as a multiple of the noise")
    parser.add_argument("--only", default="", help="only programs whose name contains one of these, comma-separated")
    parser.add_argument("--time-limit", type=float, default=120.0, help="seconds for one solve")
    parser.add_argument("--out", type=Path, help="file for the measurements, as JSON")
    arguments = parser.parse_args()
    wanted = [part.strip() for part in arguments.only.split(",") if part.strip()]
    made = {f.name: f for f in FAMILIES}
    programs = [(f"{name} {size}", lambda name=name, size=size: made[name].build(size)) for name, size in MADE]
    folder = data_folder()
    if folder is not None:
        programs += [(name, lambda p=folder / group / f"{name}.npz": read_program(p)) for group, name in REAL]
    console, measurements = Console(width=150), []
    for name, build in programs:
        if wanted and not any(part in name for part in wanted):
            continue
        program = build()
        for noise in map(float, arguments.noise.split(",")):
            measurements.append(measure(name, program, noise, arguments.factor * noise, arguments.time_limit))
            m = measurements[-1]
            console.print(f"[dim]{name}, noise {noise:g}: {m.status}, gap {m.gap:.1e}, {m.approximate_seconds}[/]")
    console.print(table(measurements))
    if arguments.out is not None:
        lines = [asdict(m) | {"speed_up": m.speed_up} for m in measurements]
        arguments.out.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
