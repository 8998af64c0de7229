"""``python -m benchmarks.start``: CPU seconds of the command line on tiny models, against the imports that it needs.

Each command runs in a process of its own, in turns with the others, so that a busy machine is busy for all of them; the
least of several runs is shown. Bytecode is kept in a folder of its own, as an installed package has it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LP = "Maximize\n obj: 2 x + 3 y\nSubject To\n c1: x + y <= 4\n c2: x - y >= -2\nBounds\n x <= 3\n y <= 3\nEnd\n"
MODEL = """
param need/1, cost/2, supply/1;
var ship(P, C) in cost(P, C) >= 0;
minimize: sum{P, C in cost(P, C)} cost(P, C) * ship(P, C);
subject to forall {C in need(C)}: sum{P in cost(P, C)} ship(P, C) >= need(C);
subject to forall {P in supply(P)}: sum{C in cost(P, C)} ship(P, C) <= supply(P);
"""
TABLES = {
    "need": "c,value\na,1\nb,2\n",
    "cost": "p,c,value\nx,a,1\nx,b,2\ny,a,3\ny,b,1\n",
    "supply": "p,value\nx,5\ny,6\n",
}
IMPORTS = "import scipy.sparse, highspy"


def commands(folder: Path) -> dict[str, list[str]]:
    """What is run, by what it is called; the models are written into the folder."""
    (folder / "tiny.lp").write_text(LP)
    (folder / "tiny.rlp").write_text(MODEL)
    (folder / "data").mkdir()
    for name, text in TABLES.items():
        (folder / "data" / f"{name}.csv").write_text(text)
    relift = [sys.executable, "-m", "relift"]
    return {
        f'python -c "{IMPORTS}"': [sys.executable, "-c", IMPORTS],
        "relift tiny.lp": [*relift, str(folder / "tiny.lp")],
        "relift tiny.rlp --data data": [*relift, str(folder / "tiny.rlp"), "--data", str(folder / "data")],
        "relift --help": [*relift, "--help"],
    }


def cpu_seconds(words: list[str], environment: dict[str, str]) -> float:
    """User and system time of a process that must end well."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--repeats", type=int, default=10, help="runs of each command; the first, without bytecode, is not one"
    )
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        lines = commands(folder)
        least = dict.fromkeys(lines, float("inf"))
        for turn in range(repeats + 1):
            for line, words in lines.items():
                seconds = cpu_seconds(words, environment)
                least[line] = min(least[line], seconds) if turn else least[line]
    first = next(iter(least.values()))
    for line, seconds in least.items():
        print(f"{seconds:6.3f} s  {seconds / first:4.2f}x  {line}")


if __name__ == "__main__":
    main()
