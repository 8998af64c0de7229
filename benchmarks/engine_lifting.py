"""Lifting inside an engine: a model whose original program does not fit the memory, and what a round costs where.

    python -m benchmarks.engine_lifting model --nonzeros 50e6 --memory 2000
    python -m benchmarks.engine_lifting model --nonzeros 10e6 --engine spark
    python -m benchmarks.engine_lifting local --nonzeros 50e6
    python -m benchmarks.engine_lifting rounds --nonzeros 1e6 --engines core,duckdb,postgresql,spark

The model is a linear classifier over impressions with 20 categorical features each (QP: squared weights, hinge loss).
Many impressions show the same profile of features, as they do in logs, so the quotient has one row for each profile.
Profiles and the assignment of impressions to them are random; the matrix, 22 nonzeros for each impression, is made by
the engine from the join of the two tables.

Seconds are wall-clock and CPU: of this process, and for Spark and PostgreSQL of theirs too. The peak of memory is the
largest resident set of the process, interpreter and solver included; for Spark that of the JVM is told as well.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

MODEL = """
param profile/1, label/1, price = 0.01;   relation has/2;
feature(J) if has(_,J);
var weight(J) in feature(J), bias, slack(I) in label(I) >= 0;
minimize loss: sum{J in feature(J)} 0.5*weight(J)**2 + price*sum{I in label(I)} slack(I);
subject to margin forall {I in label(I)}:
    label(I)*(sum{J in has(profile(I),J)} weight(J) + bias) >= 1 - slack(I);
"""
FEATURES, VALUES, PROFILES = 20, 10, 2000
"""Features of an impression, values of each feature, and different profiles."""
SHARE_OF_ENGINE = 0.6
"""DuckDB gets this part of the memory; the rest is for the interpreter, the data and the solver."""


def tables(n_nonzeros: float, seed: int = 1) -> dict[str, Any]:
    """Random profiles, and impressions that show them."""
    random = np.random.default_rng(seed)
    n = int(np.ceil(n_nonzeros / (FEATURES + 2)))
    values = VALUES * np.arange(FEATURES) + random.integers(0, VALUES, (PROFILES, FEATURES))
    label = np.where(random.random(PROFILES) < 0.5, -1.0, 1.0)
    profile = random.integers(0, PROFILES, n)
    return {
        "has": {"profile": np.repeat(np.arange(PROFILES), FEATURES), "feature": values.ravel()},
        "profile": {"impression": np.arange(n), "profile": profile},
        "label": {"impression": np.arange(n), "label": label[profile]},
    }


# --- engines -----------------------------------------------------------------------------------------------------


@contextmanager
def opened(name: str, memory: float | None, progress: Callable[..., None] | None) -> Iterator[tuple[Any, list[int]]]:
    """An engine, and the processes that work for it outside of this one."""
    if name == "duckdb":
        from relift.tables.duckdb.engine import DuckDBEngine

        with tempfile.TemporaryDirectory() as folder:
            limit = None if memory is None else f"{int(SHARE_OF_ENGINE * memory)}MB"
            database = None if memory is None else Path(folder) / "lift.duckdb"
            with DuckDBEngine(
                memory_limit=limit, database=database, temporary_folder=folder, progress=progress
            ) as engine:
                yield engine, []
                if database is not None:
                    print(f"file of the tables: {database.stat().st_size / 1e9:.2f} GB")
    elif name == "spark":
        from relift.tables.spark.engine import SparkEngine

        with tempfile.TemporaryDirectory() as folder:
            gigabytes = max(2, round((memory or 4000) / 1000))
            with SparkEngine(checkpoint_folder=folder, driver_memory=f"{gigabytes}g", progress=progress) as engine:
                yield engine, _children()
    else:
        from tests.postgres_server import remove, start_server

        from relift.tables.postgres.engine import PostgresEngine

        server = start_server() if name == "postgresql" else None
        try:
            with PostgresEngine(name if server is None else server.url(), progress=progress) as engine:
                pid = engine._now().rows("SELECT pg_backend_pid()")[0][0]
                yield engine, [int(pid)]
        finally:
            if server is not None:
                remove(server)


def _children() -> list[int]:
    """Processes under this one, the JVM among them."""
    parent: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [os.getpid()]
    for pid in found:
        found.extend(child for child, above in parent.items() if above == pid)
    return found[1:]


def cpu_seconds(others: list[int]) -> float:
    """CPU seconds of this process, and of others."""
    total, tick = time.process_time(), os.sysconf("SC_CLK_TCK")
    for pid in others:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / tick
    return total


def peak_of(others: list[int]) -> float:
    """The largest resident set of other processes, in GB."""
    peak = 0.0
    for pid in others:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                peak = max(peak, int(line.split()[1]) / 1e6)
    return peak


# --- the model -----------------------------------------------------------------------------------------------------


def run_model(arguments: argparse.Namespace) -> dict[str, Any]:
    from relift.in_database.ground_tables import ground_into_tables
    from relift.in_database.lift_tables import EngineLiftSettings, lift_in_engine
    from relift.language.checks.check_model import check_text

    start = time.perf_counter()
    others: list[int] = []

    def tell(event: Any) -> None:
        if event.round or event.stage != "ground":
            seconds = f"{time.perf_counter() - start:8.1f} s, CPU {cpu_seconds(others):8.1f} s"
            print(f"{seconds}  {event.stage} {event.round or ''} {event.message}", flush=True)

    with opened(arguments.engine, arguments.memory, tell) as (engine, found):
        others.extend(found)
        stages: dict[str, dict[str, float]] = {}

        def timed(name: str, step: Callable[[], Any]) -> Any:
            before = time.perf_counter(), cpu_seconds(others)
            done = step()
            stages[name] = {"wall": time.perf_counter() - before[0], "cpu": cpu_seconds(others) - before[1]}
            return done

        data = tables(arguments.nonzeros)
        grounded = timed("ground", lambda: ground_into_tables(check_text(MODEL), data, engine=engine))
        settings = EngineLiftSettings(verify=arguments.verify)
        lifting = timed("lift", lambda: lift_in_engine(grounded.program, settings))
        result = timed("solve, expand, certify", lifting.solve)
        report = {
            "engine": arguments.engine,
            "nonzeros": grounded.n_nonzeros,
            "variables": grounded.program.n_variables,
            "rows": grounded.program.n_rows,
            "small": repr(lifting.small),
            "rounds": lifting.rounds,
            "status": str(result.status),
            "objective": result.objective,
            "worst residual on the ground program": result.certificate.worst_residual,
            "stages": stages,
            "of lifting": {name: round(seconds, 2) for name, seconds in lifting.timings.items()},
            "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
            "peak GB of others": peak_of(others),
            "memory limit MB": arguments.memory,
        }
    if str(result.status) != "optimal":
        raise SystemExit(f"no figures for a wrong answer: {result.status}")
    if arguments.memory is not None and arguments.engine == "duckdb" and report["peak GB"] > arguments.memory / 1e3:
        raise SystemExit(f"the memory limit was not kept: {report['peak GB']:.2f} GB")
    return report


def run_local(arguments: argparse.Namespace) -> dict[str, Any]:
    """The same model grounded and lifted in this process, for the peak of memory."""
    import relift

    start = time.process_time()
    answer = relift.solve_model(MODEL, tables(arguments.nonzeros), limit=2**31 - 1, reduce=False)
    return {
        "status": str(answer.status),
        "objective": answer.objective,
        "cpu": time.process_time() - start,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


# --- rounds --------------------------------------------------------------------------------------------------------


def run_rounds(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Seconds of the first round, which passes over all entries twice, for each million of them."""
    import relift
    from relift.grounding.ground import ground
    from relift.in_database.lift_tables import EngineLiftSettings, lift_in_engine
    from relift.in_database.program_tables import program_from_tables, tables_from_program
    from relift.language.checks.check_model import check_text
    from relift.lifting.presolve import unreduced
    from relift.symmetry.colour_refinement import refine

    grounded = ground(check_text(MODEL), tables(arguments.nonzeros), limit=2**31 - 1)
    program, millions = grounded.program, grounded.program.A.nnz / 1e6
    expected = relift.lift(program, reduce=False)
    found = []
    for name in arguments.engines.split(","):
        if name == "core":
            images = unreduced(program, "decimal").images
            start, cpu_start = time.perf_counter(), time.process_time()
            core = refine(
                program.P, program.A, [images.q, images.lb, images.ub], images.l, images.u, program.l, program.u
            )
            wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
            rounds = core.statistics.rounds
            found.append({
                "engine": name, "wall": wall / rounds / millions, "cpu": cpu / rounds / millions, "rounds": rounds,
            })  # fmt: skip
            print(json.dumps(found[-1]), flush=True)
            continue
        marks: list[tuple[float, float]] = []
        with opened(name, None, None) as (engine, others):

            def tell(event: Any, others: list[int] = others, marks: list[tuple[float, float]] = marks) -> None:
                if event.round or event.message == "exact check of all classes":
                    marks.append((time.perf_counter(), cpu_seconds(others)))
                elif event.message == "weights are ready":
                    marks[:] = [(time.perf_counter(), cpu_seconds(others))]

            given = program_from_tables(engine, **tables_from_program(program))
            lifting = lift_in_engine(given, EngineLiftSettings(verify="exact"), tell)
            if lifting.small.n_variables != expected.small.n_variables:
                raise SystemExit(f"{name}: no figures for wrong classes")
            (wall, cpu), (wall_1, cpu_1) = marks[0], marks[1]
            found.append({
                "engine": name, "wall": (wall_1 - wall) / millions, "cpu": (cpu_1 - cpu) / millions,
                "rounds": lifting.rounds, "weights": lifting.timings["weights"] / millions,
                "verify": lifting.timings["verify"] / millions,
            })  # fmt: skip
        print(json.dumps(found[-1]), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine_lifting", description=__doc__)
    parser.add_argument("what", choices=["model", "local", "rounds"])
    parser.add_argument("--nonzeros", type=float, default=50e6)
    parser.add_argument("--engine", default="duckdb", help="duckdb, spark, postgresql or postgresql://...")
    parser.add_argument("--engines", default="core,duckdb", help="for rounds; comma-separated")
    parser.add_argument("--memory", type=float, help="MB that the whole process may use (DuckDB), or the JVM (Spark)")
    parser.add_argument("--verify", default="exact", choices=["exact", "hash"])
    parser.add_argument("--out", type=Path, help="file for the figures, as JSON")
    arguments = parser.parse_args()
    report = {"model": run_model, "local": run_local, "rounds": run_rounds}[arguments.what](arguments)
    machine = {"platform": platform.platform(), "cores": os.cpu_count(), "load": os.getloadavg()}
    print(json.dumps({"figures": report, "machine": machine}, indent=1))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps({"figures": report, "machine": machine}, indent=1))


if __name__ == "__main__":
    main()
