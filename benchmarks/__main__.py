"""``python -m benchmarks``: ground against lifted for each family and backend.

Also: ``python -m benchmarks.refinement`` (the kernel alone) and ``python -m benchmarks.attempt`` (what an attempt
costs where there is no symmetry).
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

import relift
from benchmarks.data import real_programs
from benchmarks.families import FAMILIES
from benchmarks.measure import INTERIOR, SIMPLEX, Measurement, measure
from relift.solvers.registry import backend_names, get_backend


def _given(program: relift.Program) -> relift.Program:
    return program


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ground against lifted, side by side.")
    parser.add_argument(
        "--families", default="", help="only families whose name contains one of these, comma-separated"
    )
    parser.add_argument("--size", type=int, help="build the families with this size instead of their own")
    parser.add_argument(
        "--backends", default="auto,highs,clarabel,osqp,piqp", help="comma-separated; auto is what relift chooses"
    )
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one solve")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--real", action="store_true", help="also the real programs of RELIFT_DATA that have symmetry")
    parser.add_argument("--out", type=Path, help="folder for benchmarks.json; what is not measured again stays")
    arguments = parser.parse_args()

    console = Console(width=None if Console().is_terminal else 140)
    wanted = [part.strip() for part in arguments.families.split(",") if part.strip()]
    known = ("auto", *backend_names(installed=True))
    backends = [name for name in arguments.backends.split(",") if name in known]
    programs: list[tuple[str, Callable[[], relift.Program]]] = [
        (f"{f.name} {size}", partial(f.build, size))
        for f in FAMILIES
        for size in (f.sizes if arguments.size is None else (arguments.size,))
    ]
    if arguments.real:
        programs += [
            (name, partial(_given, program)) for name, program in real_programs("lp_symmetric", "maros_meszaros")
        ]
    measurements: list[Measurement] = []
    for name, build in programs:
        if wanted and not any(part in name for part in wanted):
            continue
        program = build()
        for backend in backends:
            if backend == "highs" and not program.is_linear:
                continue  # its QP solver may not end; see `relift backends`
            if len(program.conic) and backend != "auto" and not get_backend(backend).solves_cones:
                continue
            console.print(f"[dim]{name}, {backend} ...[/]", end="\r")
            measurements.append(measure(name, program, backend, arguments.time_limit, arguments.repeats))
    console.print(table(measurements))
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        facts = {
            "relift": relift.__version__,
            "python": platform.python_version(),
            "machine": platform.machine(),
        }
        about = {f.name: {"area": f.area, "kind": f.kind, "is_symmetric": f.is_symmetric} for f in FAMILIES}
        lines = [m.as_dict() | about.get(m.program.rsplit(" ", 1)[0], {}) for m in measurements]
        path, order = arguments.out / "benchmarks.json", [name for name, _ in programs]
        lines = with_earlier(lines, path, order)
        text = json.dumps({"facts": facts, "measurements": lines}, indent=1)
        path.write_text(text + "\n", encoding="utf-8")


def with_earlier(lines: list[dict[str, object]], path: Path, order: list[str]) -> list[dict[str, object]]:
    """The measurements, and those of other programs and backends that an earlier run left in the file."""
    if path.exists():
        measured = {(line["program"], line["backend"]) for line in lines}
        earlier = json.loads(path.read_text(encoding="utf-8"))["measurements"]
        lines = lines + [line for line in earlier if (line["program"], line["backend"]) not in measured]
    known = {name: position for position, name in enumerate(order)}
    solvers = ["auto", *backend_names()]
    return sorted(
        (line for line in lines if line["program"] in known),
        key=lambda line: (known[str(line["program"])], solvers.index(str(line["backend"]))),
    )


def table(measurements: list[Measurement]) -> Table:
    result = Table(title="ground against lifted (lifted time includes finding the symmetry)")
    for column in (
        "program",
        "backend",
        "variables",
        "rows",
        "simplex s",
        "interior s",
        "ground s",
        "lifted s",
        "of it lifting",
        "speed-up",
    ):
        result.add_column(column, justify="left" if column in ("program", "backend") else "right")
    for m in measurements:
        result.add_row(
            m.program, m.backend, f"{m.n_variables:,} → {m.small_variables:,}", f"{m.n_rows:,} → {m.small_rows:,}",
            *(_seconds(m.ways[way], "–") if way in m.ways else "" for way in (SIMPLEX, INTERIOR)),
            _seconds(m.ground_seconds, m.ground_status), _seconds(m.lifted_seconds, m.lifted_status),
            f"{m.lift_seconds:.4f}",
            "–" if m.speed_up is None else f"{m.speed_up:.2f}x",
        )  # fmt: skip
    return result


def _seconds(seconds: float | None, status: str) -> str:
    return f"({status})" if seconds is None else f"{seconds:.4f}"


if __name__ == "__main__":
    main()
