"""``python -m benchmarks.pairs``: what everything around the kernel and the backend costs, in pairs of products.

A pair is one ``A @ x`` and one ``A.T @ y`` (and one ``P @ x``) by SciPy: what one iteration of a first-order method
costs at least. CPU time of one process, the smallest of several repeats; none of the families was used to tune what is
measured. Rows: presolve, class check, certificate of a point with dual values, the whole of ``relift.lift``, and the
conic form for Clarabel.
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
from scipy import sparse

import relift
from relift.lifting.certificate import certify
from relift.lifting.presolve import reduce
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.solvers.forms import Conic
from relift.symmetry.equitable import distance_from_equitable
from relift.symmetry.partition import Partition

PARTS = ("presolve", "class check", "certificate", "lift", "conic form")


def time_expanded(size: int) -> Program:
    """Flows through a random network over 24 periods, with storage from each period to the next; real numbers."""
    random, periods = np.random.default_rng(1), 24
    arcs = max(size // (3 * periods), 4)
    nodes = max(arcs // 4, 2)
    tail, head = random.integers(nodes, size=arcs), random.integers(nodes, size=arcs)
    columns = np.arange(arcs)
    incidence = sparse.coo_array(
        (np.r_[-np.ones(arcs), random.uniform(0.9, 1.0, arcs)], (np.r_[tail, head], np.r_[columns, columns])),
        shape=(nodes, arcs),
    )
    flow = sparse.kron(sparse.eye_array(periods), incidence)
    keep = sparse.kron(sparse.eye_array(periods, k=-1) - sparse.eye_array(periods), sparse.eye_array(nodes))
    A = sparse.csc_array(sparse.hstack([flow, keep]))
    n, need = A.shape[1], random.uniform(0, 1, A.shape[0])
    return Program(q=random.uniform(1, 2, n), A=A, l=-need, u=need, lb=0, ub=random.uniform(5, 9, n))


def grid_copies(size: int) -> Program:
    """Copies of one power grid with 373 values that share a limit."""
    random, copies = np.random.default_rng(2), max(size // 4000, 2)
    values = random.uniform(0.1, 2, 373).round(4)
    block = sparse.random_array(
        (400, 600), density=0.015, rng=random, data_sampler=lambda size: random.choice(values, size)
    )
    A = sparse.vstack([sparse.kron(sparse.eye_array(copies), block), np.ones((1, 600 * copies))])
    n = A.shape[1]
    cost = np.tile(random.choice(values, 600), copies)
    return Program(None, cost, sparse.csc_array(A), np.r_[np.ones(A.shape[0] - 1), 1.0], None, 0, np.full(n, 9.0))


def r_mat(size: int) -> Program:
    """A cover of the edges of an R-MAT graph: few vertices have most of them."""
    random = np.random.default_rng(3)
    edges, bits = max(size // 2, 4), max(int(np.log2(size)) - 3, 2)
    ends = np.zeros((2, edges), np.int64)
    for bit in range(bits):
        quarter = random.choice(4, edges, p=[0.57, 0.19, 0.19, 0.05])
        ends += np.stack([quarter >> 1, quarter & 1]) << bit
    rows = np.r_[np.arange(edges), np.arange(edges)]
    A = sparse.csr_array((np.ones(2 * edges), (rows, ends.ravel())), shape=(edges, 1 << bits))
    return Program(q=np.ones(1 << bits), A=A, l=np.ones(edges), lb=0, ub=1)


def heavy_rows(size: int) -> Program:
    """A few rows of tens of thousands of entries over many short ones."""
    random = np.random.default_rng(4)
    n, heavy = max(size // 6, 10), 4
    long = sparse.csr_array(random.uniform(1, 2, (heavy, n)).round(3))
    short = sparse.eye_array(n - 1, n) - sparse.eye_array(n - 1, n, k=1)
    A = sparse.csr_array(sparse.vstack([long, short]))
    return Program(q=random.uniform(0, 1, n), A=A, l=np.r_[np.ones(heavy), np.full(n - 1, -1.0)], lb=0, ub=3)


def dense_portfolio(size: int) -> Program:
    """A dense covariance matrix, a budget and bounds."""
    random = np.random.default_rng(5)
    n = max(int(np.sqrt(size)), 3)
    F = random.normal(size=(n, 8))
    return Program(F @ F.T + np.diag(random.uniform(1, 2, n)), random.normal(size=n), np.ones((1, n)), 1.0, 1.0, 0, 1)


def fixed_and_single(size: int) -> Program:
    """A sparse program of which a hundredth of the variables is fixed and a hundredth of the rows are bounds."""
    random = np.random.default_rng(6)
    n = max(size // 4, 20)
    m = n // 2
    A = sparse.random_array((m, n), density=min(8 / n, 1.0), rng=random, format="csc")
    single = sparse.csr_array(
        (np.ones(m // 100 + 1), (np.arange(m // 100 + 1), np.arange(m // 100 + 1))), shape=(m // 100 + 1, n)
    )
    A = sparse.csc_array(sparse.vstack([A, single]))
    ub = np.where(random.random(n) < 0.01, 0.0, 4.0)
    return Program(q=random.uniform(0, 1, n), A=A, l=-1.0, u=np.full(A.shape[0], 9.0), lb=0, ub=ub)


FAMILIES: dict[str, Callable[[int], Program]] = {
    "time-expanded network": time_expanded,
    "copies of a power grid": grid_copies,
    "R-MAT cover": r_mat,
    "heavy rows": heavy_rows,
    "dense portfolio": dense_portfolio,
    "fixed variables and single rows": fixed_and_single,
}


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
    point = Solution(Status.OPTIMAL, np.clip(x, program.lb, program.ub), y, w)

    def products() -> None:
        program.A @ x
        program.A.T @ y
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
        for name, build in FAMILIES.items()
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
