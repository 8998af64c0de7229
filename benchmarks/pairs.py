"""``python -m benchmarks.pairs``: what everything around the kernel and the backend costs, in pairs of products.

A pair is one ``A @ x`` and one ``A.T @ y`` (and one ``P @ x``) by SciPy: what one iteration of a first-order method
costs at least. CPU time of one process, the smallest of several repeats, of the families of
:mod:`benchmarks.large_programs`, which no constant was chosen by. Rows: presolve, class check, certificate of a point
with dual values, the whole of ``relift.lift``, and the conic form for Clarabel.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table

import relift
from benchmarks.large_programs import FAMILIES, MORE_FAMILIES, TELLING_FAMILIES
from relift.lifting.certificate import certify
from relift.lifting.presolve import reduce
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.solvers.forms import Conic
from relift.symmetry.equitable import distance_from_equitable
from relift.symmetry.partition import Partition

PARTS = ("presolve", "class check", "certificate", "lift", "conic form")


def smallest(work: Callable[[], object], repeats: int) -> float:
    """CPU seconds of the quickest of several runs."""
    seconds = []
    for _ in range(repeats):
        start = process_time()
        work()
        seconds.append(process_time() - start)
    return min(seconds)


def measure(name: str, program: Program, repeats: int) -> dict[str, object]:
    """All parts of one program, in seconds and in pairs."""
    random = np.random.default_rng(0)
    n, m = program.n_variables, program.n_rows
    x, y, w = random.normal(size=n), random.normal(size=m), random.normal(size=n)
    v = random.normal(size=program.conic.n_rows)
    point = Solution(Status.OPTIMAL, np.clip(x, program.lb, program.ub), y, w, v=v if v.size else None)

    def products() -> None:
        for matrix, z in ((program.A, y), (program.conic.A, v)):
            if matrix.nnz:
                matrix @ x
                matrix.T @ z
        if program.P is not None:
            program.P @ x

    lifting = relift.lift(program)
    classes, scales = (Partition.one_class(n), Partition.one_class(m)), np.ones(m)
    seconds = {
        "pair": smallest(products, 3 * repeats),
        "presolve": smallest(lambda: reduce(program), repeats),
        "class check": smallest(lambda: distance_from_equitable(program, *classes, scales), repeats),
        "certificate": smallest(lambda: certify(program, point), repeats),
        "lift": smallest(lambda: relift.lift(program), repeats),
        "conic form": smallest(lambda: Conic.from_program(program), repeats),
    }
    pairs = {part: seconds[part] / seconds["pair"] for part in PARTS}
    return {
        "family": name, "n_variables": n, "n_rows": m, "n_nonzeros": program.n_nonzeros,
        "small_variables": lifting.small.n_variables, "seconds": seconds, "pairs": pairs,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="100000,1000000", help="nonzeros, comma-separated")
    parser.add_argument("--families", default="", help="only families whose name contains one of these")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--out", type=Path, help="file for the figures, as JSON; those of an earlier version in it stay"
    )
    arguments = parser.parse_args()
    wanted = [part.strip() for part in arguments.families.split(",") if part.strip()]
    lines = [
        measure(name, build(int(size)), arguments.repeats)
        for name, build in {**FAMILIES, **MORE_FAMILIES, **TELLING_FAMILIES}.items()
        if not wanted or any(part in name for part in wanted)
        for size in arguments.sizes.split(",")
    ]
    table = Table(title="pairs of products, CPU")
    for column in ("family", "nonzeros", "variables", "pair ms", *PARTS):
        table.add_column(column, justify="left" if column == "family" else "right")
    for line in lines:
        seconds, pairs = line["seconds"], line["pairs"]
        assert isinstance(seconds, dict)
        assert isinstance(pairs, dict)
        table.add_row(
            str(line["family"]), f"{line['n_nonzeros']:,}", f"{line['n_variables']:,} → {line['small_variables']:,}",
            f"{1e3 * seconds['pair']:.2f}", *(f"{pairs[part]:.1f}" for part in PARTS),
        )  # fmt: skip
    Console(width=140).print(table)
    if arguments.out is not None:
        facts = {"relift": relift.__version__, "python": platform.python_version(), "machine": platform.machine()}
        before = json.loads(arguments.out.read_text(encoding="utf-8"))["before"] if arguments.out.exists() else []
        text = json.dumps({"facts": facts, "before": before, "measurements": lines}, indent=1)
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
