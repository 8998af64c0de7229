"""``python -m benchmarks.fixed_costs``: small programs, and the same problem solved again, against the direct call.

Milliseconds of CPU time, the smallest and the median of many repeats, everything included: the direct call gets its
arrays ready-made, relift a program, CVXPY and qpsolvers what their users write. Answers are compared.
"""

from __future__ import annotations

import argparse
import json
import platform
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import clarabel
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse

import relift
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.settings import SolverSettings
from relift.solvers.highs_ import load

Call = Callable[[], float]
"""Solves once and returns the objective."""


def measured_lp(n: int) -> tuple[Call, Call]:
    """A dense linear program of measured numbers, by HiGHS."""
    random = np.random.default_rng(n)
    A = random.uniform(0, 1, (n // 2, n))
    program = Program(q=random.uniform(1, 2, n), A=A, l=random.uniform(1, 2, n // 2), lb=0)

    def direct() -> float:
        highs: Any = load(program, SolverSettings())
        highs.run()
        return float(highs.getObjectiveValue())

    return direct, lambda: relift.solve(program).objective


def measured_qp(n: int) -> tuple[Call, Call]:
    """A dense quadratic program of measured numbers, by Clarabel."""
    random = np.random.default_rng(n)
    root, A = random.normal(size=(n, n)), random.uniform(0, 1, (n // 2, n))
    P, q, l = root @ root.T + np.eye(n), random.normal(size=n), random.uniform(1, 2, n // 2)
    K = sparse.csc_matrix(np.vstack([-A, -np.eye(n)]))
    cones = [clarabel.NonnegativeConeT(n // 2 + n)]
    parts = (sparse.csc_matrix(np.triu(P)), q, K, np.r_[-l, np.zeros(n)], cones, _quiet())
    program = Program(P, q, A, l, lb=0)
    return (lambda: float(clarabel.DefaultSolver(*parts).solve().obj_val)), (lambda: relift.solve(program).objective)


def measured_socp(n: int) -> tuple[Call, Call]:
    """A linear objective over rows and a ball, by Clarabel."""
    random = np.random.default_rng(n)
    A, q, l = random.uniform(0, 1, (n // 2, n)), random.uniform(1, 2, n), 0.2 * random.uniform(1, 2, n // 2)
    C, b = np.vstack([np.zeros((1, n)), -np.eye(n)]), np.r_[3.0, np.zeros(n)]
    K = sparse.csc_matrix(np.vstack([-A, C]))
    cones = [clarabel.NonnegativeConeT(n // 2), clarabel.SecondOrderConeT(n + 1)]
    parts = (sparse.csc_matrix((n, n)), q, K, np.r_[-l, b], cones, _quiet())
    program = Program(q=q, A=A, l=l, conic=ConicRows(C, b, [SecondOrder(n + 1)]))
    return (lambda: float(clarabel.DefaultSolver(*parts).solve().obj_val)), (lambda: relift.solve(program).objective)


def _quiet() -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    return settings


def through_qpsolvers(n: int) -> tuple[Call, Call]:
    """A quadratic program whose costs change, by qpsolvers."""
    import qpsolvers

    import relift.qpsolvers  # noqa: F401 - registers the solver

    random = np.random.default_rng(n)
    root, G = random.normal(size=(n, n)), sparse.csc_matrix(random.normal(size=(n // 2, n)))
    P, h, lb = sparse.csc_matrix(root @ root.T + np.eye(n)), np.abs(random.normal(size=n // 2)) + 0.1, np.zeros(n)

    def solve(solver: str) -> Call:
        own = np.random.default_rng(0)

        def once() -> float:
            q = own.normal(size=n)
            x = qpsolvers.solve_qp(P, q, G, h, lb=lb, solver=solver)
            return float(0.5 * x @ (P @ x) + q @ x)

        return once

    return solve("clarabel"), solve("relift")


def portfolio(n: int, groups: int | None = None) -> tuple[Call, Call]:
    """A portfolio with factors whose expected returns are a parameter, by CVXPY; assets alike in groups, or not."""
    import cvxpy as cp

    from relift.cvxpy import Lifted

    random = np.random.default_rng(n)
    kind = np.repeat(np.arange(groups or n), n // (groups or n))
    factors, own = (
        random.normal(size=(groups or n, 8)).round(2)[kind],
        random.uniform(0.5, 1, groups or n).round(2)[kind],
    )

    def solve(solver: object) -> Call:
        x, f, returns = cp.Variable(n), cp.Variable(8), cp.Parameter(n)
        cost = cp.sum_squares(f) + cp.sum(cp.multiply(own, cp.square(x))) - returns @ x
        problem = cp.Problem(cp.Minimize(cost), [f == factors.T @ x, cp.sum(x) == 1, x >= 0, x <= 0.5])
        days = np.random.default_rng(0)

        def once() -> float:
            returns.value = days.normal(size=groups or n).round(3)[kind]
            return float(problem.solve(solver=solver))

        return once

    return solve("CLARABEL"), solve(Lifted())


def fleet(n: int) -> tuple[Call, Call]:
    """Cars of eight kinds charge for 24 hours at prices that are a parameter, by CVXPY."""
    import cvxpy as cp

    from relift.cvxpy import Lifted

    cars = n // 24
    needs = np.repeat(np.random.default_rng(0).integers(3, 9, 8).astype(float), cars // 8)

    def solve(solver: object) -> Call:
        x, price = cp.Variable((cars, 24)), cp.Parameter(24)
        cost = cp.sum(x @ price) + 0.1 * cp.sum_squares(x)
        rows = [x >= 0, x <= 1, cp.sum(x, axis=1) == needs, cp.sum(x, axis=0) <= 0.9 * cars]
        problem, days = cp.Problem(cp.Minimize(cost), rows), np.random.default_rng(0)

        def once() -> float:
            price.value = days.random(24)
            return float(problem.solve(solver=solver))

        return once

    return solve("CLARABEL"), solve(Lifted())


def cases() -> list[tuple[str, Callable[[], tuple[Call, Call]], int]]:
    """Name, what makes the two calls, and how often to repeat them."""
    found: list[tuple[str, Callable[[], tuple[Call, Call]], int]] = []
    for name, make in (("LP", measured_lp), ("QP", measured_qp), ("SOCP", measured_socp)):
        found += [(f"{name}, {n} variables", partial(make, n), 200 if n < 100 else 30) for n in (10, 30, 100)]
    if find_spec("qpsolvers") is not None:
        found += [(f"qpsolvers again, {n}", partial(through_qpsolvers, n), 60) for n in (10, 30, 100)]
    if find_spec("cvxpy") is not None:
        found += [(f"CVXPY again, {n} assets", partial(portfolio, n), 30) for n in (30, 100)]
        found.append(("CVXPY again, 2,000 assets in 10 groups", lambda: portfolio(2000, 10), 20))
        found.append(("CVXPY again, fleet of 4,800", lambda: fleet(4800), 20))
    return found


def times(call: Call, repeats: int) -> tuple[list[float], list[float]]:
    """Milliseconds and objectives, after two calls that do not count."""
    seconds, values = [], [call(), call()]
    for _ in range(repeats):
        start = process_time()
        values.append(call())
        seconds.append(1e3 * (process_time() - start))
    return seconds, values


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fixed_costs", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument(
        "--out", type=Path, help="file for the figures, as JSON; those of an earlier version in it stay"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name, make, repeats in cases():
        if arguments.only not in name:
            continue
        direct, lifted = make()
        (plain, expected), (ours, found) = times(direct, repeats), times(lifted, repeats)
        worst = max(abs(one - other) / max(1.0, abs(other)) for one, other in zip(found, expected, strict=True))
        lines.append(
            {
                "case": name, "direct_ms": min(plain), "relift_ms": min(ours), "over_ms": min(ours) - min(plain),
                "direct_median_ms": float(np.median(plain)), "relift_median_ms": float(np.median(ours)),
                "difference": worst,
            }
        )  # fmt: skip
    table = Table(title="CPU milliseconds: smallest (median)")
    for column in ("case", "direct", "relift", "over", "objectives differ by"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for line in lines:
        table.add_row(
            str(line["case"]), f"{line['direct_ms']:.2f} ({line['direct_median_ms']:.2f})",
            f"{line['relift_ms']:.2f} ({line['relift_median_ms']:.2f})", f"{line['over_ms']:+.2f}",
            f"{line['difference']:.0e}",
        )  # fmt: skip
    Console(width=120).print(table)
    if arguments.out is not None:
        facts = {"relift": relift.__version__, "python": platform.python_version(), "machine": platform.machine()}
        before = json.loads(arguments.out.read_text(encoding="utf-8"))["before"] if arguments.out.exists() else []
        text = json.dumps({"facts": facts, "before": before, "measurements": lines}, indent=1)
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
