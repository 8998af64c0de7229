"""A Spark cluster of two executors on this machine, of which one is killed while a model is grounded.

Run as a process of its own, ``python -m tests.faults.spark_cluster FOLDER``: an executor is killed just before a
model is grounded, then when the engine is about to store its second table; what came of it is a line of JSON each.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import relift
from relift.errors import EngineError
from relift.program.program import Program
from relift.tables.spark import storage
from relift.tables.spark.engine import SparkEngine

TEXT = """relation edge/2;
node(X) if edge(X,_);
two(X,Z) if edge(X,Y) & edge(Y,Z);
var v(X) in node(X) >= 0;
minimize: sum{X in node(X)} v(X);
subject to cover forall {X,Z in two(X,Z)}: v(X) + 0.1*v(Z) >= 1;
"""
TABLES = {"edge": [(i, (i * i + 1) % 7) for i in range(7)]}


def cluster(folder: str) -> Any:
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["SPARK_WORKER_DIR"] = f"{folder}/workers"
    settings = {
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.executor.memory": "512m",
        "spark.driver.memory": "512m", "spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": folder, "spark.sql.warehouse.dir": f"{folder}/warehouse", "spark.default.parallelism": "2",
    }  # fmt: skip
    building = SparkSession.builder.master("local-cluster[2,1,512]").appName("faults")
    for name, value in settings.items():
        building = building.config(name, value)
    session = building.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def executors() -> list[int]:
    """The processes of executors that descend from this one."""
    parents: dict[int, int] = {}
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            parents[int(entry.name)] = int(fields[1])
            if b"CoarseGrainedExecutorBackend" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue  # it has ended
    return sorted(pid for pid in found if _descends(pid, parents))


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = parents.get(pid, 0)
    return False


def wait_for_executors() -> None:
    """Until both are up; Spark starts another one for each that dies."""
    deadline = time.monotonic() + 240
    while len(executors()) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)


def grounded(session: Any) -> Program:
    with SparkEngine(session) as engine, relift.ground_model(TEXT, TABLES, engine=engine) as found:
        return found.program.replace(variable_names=None, row_names=None)


def main(folder: str) -> None:
    storage.SMALL = 0  # also the smallest tables are stored by the executors
    session = cluster(folder)
    session.range(100).repartition(2).count()
    with relift.ground_model(TEXT, TABLES, engine="duckdb") as wanted:
        expected = wanted.program.replace(variable_names=None, row_names=None)
    create, calls, killed = SparkEngine.create, [0], list[int]()

    def kill_one() -> None:
        killed.extend(executors()[:1])
        os.kill(killed[-1], signal.SIGKILL)

    def killing(self: SparkEngine, *args: Any, **kwargs: Any) -> int:
        calls[0] += 1
        if calls[0] == nth:
            kill_one()
        return create(self, *args, **kwargs)

    for nth in (0, 2):
        wait_for_executors()
        calls[0] = 0
        said: dict[str, Any] = {"nth": nth, "error": "", "is_same": None}
        SparkEngine.create = killing  # type: ignore[method-assign]
        if nth == 0:
            kill_one()
        try:
            said["is_same"] = grounded(session) == expected
        except EngineError as error:
            said["error"] = str(error)
        SparkEngine.create = create  # type: ignore[method-assign]
        wait_for_executors()
        said |= {"is_same_again": grounded(session) == expected, "killed": len(killed), "calls": calls[0]}
        print(f"\n{json.dumps(said)}", flush=True)
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1])
