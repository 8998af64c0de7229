"""Grounding over tables of a PostgreSQL server: pulled into the process, or pushed to the server, against tables here.

    python -m benchmarks.postgres --scale 10 --repeats 3

The model and the tables are those of `benchmarks.grounding`. The server is started for this, on a private socket, with
the settings of the tests (no fsync, 32 MB of shared buffers), so nothing crosses a network. The ways are run in turn;
the smallest wall-clock and CPU seconds are told, CPU those of this process and of all processes of the server. Each
program is compared with that of the tables here, entry by entry, before its time counts.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.grounding.same_program import assert_same_program
from tests.postgres_server import Server, remove, start_server

import relift
from benchmarks.grounding_contenders import MODEL, cora_shaped
from relift.grounding.ground import GroundProgram
from relift.tables.postgres.engine import PostgresEngine


def cpu_of_server(server: Server) -> float:
    """CPU seconds of the server and of its processes, those that have ended included."""
    main = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            numbers = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(path.parent.name) == main:
            ticks += sum(map(int, numbers[11:15]))  # user and system, its own and of children that have ended
        elif int(numbers[1]) == main:
            ticks += sum(map(int, numbers[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(server: Server, way: Callable[[], GroundProgram], known: GroundProgram) -> tuple[float, float, float]:
    """Wall-clock seconds, CPU seconds here, CPU seconds of the server."""
    gc.collect()
    wall, here, there = time.perf_counter(), time.process_time(), cpu_of_server(server)
    with way() as grounded:
        wall, here = time.perf_counter() - wall, time.process_time() - here
        assert_same_program(known, grounded)
    time.sleep(0.3)  # the session ends
    return wall, here, cpu_of_server(server) - there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=10, help="tables of the size of Cora, times this")
    parser.add_argument("--keys", choices=["int", "text"], default="int")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    tables = cora_shaped(given.scale, given.keys)
    server = start_server()
    try:
        load(server, tables)
        url = server.url()
        ways: dict[str, Callable[[], GroundProgram]] = {
            "tables here, in memory": lambda: relift.ground_model(MODEL, tables),
            "tables here, DuckDB": lambda: relift.ground_model(MODEL, tables, engine="duckdb"),
            "pulled, in memory": lambda: relift.ground_model(MODEL, url),
            "pulled, DuckDB": lambda: relift.ground_model(MODEL, url, engine="duckdb"),
            "pushed, temporary tables": lambda: relift.ground_model(MODEL, engine=url),
            "pushed, schema": lambda: relift.ground_model(MODEL, engine=PostgresEngine(url, workspace="schema")),
        }
        results: dict[str, Any] = {}
        with relift.ground_model(MODEL, tables) as known:
            nonzeros = int(known.program.A.nnz)
            for _ in range(given.repeats):
                for name, way in ways.items():
                    found = measured(server, way, known)
                    results[name] = [min(pair) for pair in zip(results.get(name, found), found, strict=True)]
    finally:
        remove(server)
    reference = sum(results["tables here, DuckDB"][1:])
    print(f"{nonzeros:,} nonzeros, {given.keys} keys, smallest of {given.repeats}, {os.cpu_count()} cores")
    print(f"{'way':26} {'wall s':>8} {'CPU here':>9} {'CPU server':>11} {'CPU ratio':>10}")
    for name, (wall, here, there) in results.items():
        print(f"{name:26} {wall:8.2f} {here:9.2f} {there:11.2f} {(here + there) / reference:10.2f}")
    if given.out:
        facts = {"nonzeros": nonzeros, "keys": given.keys, "cores": os.cpu_count(), "python": platform.python_version()}
        given.out.write_text(json.dumps({**facts, "seconds": results}, indent=1) + "\n")


def load(server: Server, tables: dict[str, Any]) -> None:
    """The tables of the user, on the server."""
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(server.url()) as connection:
        for name, frame in tables.items():
            with connection.cursor() as cursor:
                cursor.adbc_ingest(name, pa.Table.from_pandas(frame, preserve_index=False))
        connection.commit()


if __name__ == "__main__":
    main()
