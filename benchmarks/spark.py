"""Grounding on Spark in local mode against DuckDB: the transductive SVM of `benchmarks.grounding`.

    python -m benchmarks.spark --scale 10 --repeats 2

The same tables in memory, the same program to the last bit, or no time is given. CPU seconds of this process and the
JVM together, smallest of several runs, without the start of Spark; wall seconds too, since two cores share the work.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.grounding_contenders import MODEL, cora_shaped
from relift.grounding.ground import GroundProgram, ground
from relift.language.checks.check_model import check_text
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.spark.engine import SparkEngine


def is_same(one: GroundProgram, other: GroundProgram) -> bool:
    """Whether two programs agree in every bit of A, q and the bounds."""
    first, second = one.program.A.tocsr(), other.program.A.tocsr()
    matrices = all(np.array_equal(getattr(first, p), getattr(second, p)) for p in ("indptr", "indices", "data"))
    vectors = (np.array_equal(getattr(one.program, p), getattr(other.program, p)) for p in ("q", "l", "u", "lb", "ub"))
    return matrices and all(vectors)


def jvm_of_this_process() -> int:
    """The process of the JVM that PySpark has started."""
    for folder in Path("/proc").glob("[0-9]*"):
        fields = (folder / "stat").read_text().rsplit(")", 1)
        if int(fields[1].split()[1]) == os.getpid() and "java" in fields[0]:
            return int(folder.name)
    raise SystemExit("no JVM was started by this process")


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=10)
    parser.add_argument("--keys", choices=["int", "text"], default="int")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--memory", default="2g")
    options = parser.parse_args()
    tables: Any = cora_shaped(options.scale, options.keys)
    model = check_text(MODEL)
    start = time.perf_counter()
    with SparkEngine(driver_memory=options.memory) as first:  # holds the application that the others share
        jvm = jvm_of_this_process()
        first.seal()
        print(f"start of Spark: {time.perf_counter() - start:.1f} s, CPU {cpu_seconds(jvm):.1f} s", flush=True)
        for _ in range(options.repeats):
            found: list[GroundProgram] = []
            for make in (SparkEngine, DuckDBEngine):
                engine: Engine = make()
                wall, cpu, java = time.perf_counter(), time.process_time(), cpu_seconds(jvm)
                found.append(ground(model, tables, engine=engine))
                cpu = time.process_time() - cpu + cpu_seconds(jvm) - java
                print(f"{engine.name}: CPU {cpu:.2f} s, wall {time.perf_counter() - wall:.2f} s", flush=True)
            if not is_same(*found):
                raise SystemExit("the programs differ: no time counts")
            print(f"same program, {found[0].program.A.nnz:,} nonzeros", flush=True)
            for grounded in found:
                grounded.close()


if __name__ == "__main__":
    main()
