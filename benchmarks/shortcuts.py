"""What each shortcut gains: ``python -m benchmarks.shortcuts --out docs/shortcuts.json``.

A shortcut is code that no answer needs: statements taken over when a model is solved again with other data, and the
four readings of CVXPY's cones and squares. Each is measured with and without, in one process, in CPU seconds (the
smaller of several runs in turn); both answers are compared, and no time is given for a wrong one. What CVXPY takes to
compile a problem is left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any, cast
from unittest.mock import patch

import cvxpy as cp
import numpy as np
from threadpoolctl import threadpool_limits

import relift
import relift.cvxpy
from relift.bridges.cvxpy import recovery
from relift.bridges.cvxpy.compiled import ConicData

REPEATS = 3
TRANSPORT = """
    param supply/1, demand/1, cost/2;
    var ship(P,C) in cost(P,C) >= 0;
    minimize total: sum{P,C in cost(P,C)} cost(P,C)*ship(P,C);
    subject to met forall {C in demand(C)}: sum{P in cost(P,C)} ship(P,C) >= demand(C);
    subject to stock forall {P in supply(P)}: sum{C in cost(P,C)} ship(P,C) <= supply(P);
"""


@dataclass(frozen=True)
class Line:
    """One shortcut on one problem."""

    shortcut: str
    problem: str
    with_seconds: float
    without_seconds: float
    with_size: int
    """Variables of the small program."""
    without_size: int

    @property
    def ratio(self) -> float:
        """How many times as long it takes without."""
        return self.without_seconds / self.with_seconds


@dataclass(frozen=True)
class Answer:
    """What a run came to."""

    objective: float
    size: int


def measured(shortcut: str, problem: str, run: Callable[[], Answer], without: Callable[[], Answer]) -> Line:
    """Both ways in turn; refuses answers that differ."""
    best = [np.inf, np.inf]
    answers: list[Answer] = [run(), without()]  # imports and caches
    for _ in range(REPEATS):
        for k, way in enumerate((run, without)):
            start = process_time()
            answers[k] = way()
            best[k] = min(best[k], process_time() - start)
    one, other = answers
    if abs(one.objective - other.objective) > 1e-4 * (1 + abs(other.objective)):
        raise SystemExit(f"{shortcut}, {problem}: {one.objective} with it, {other.objective} without")
    return Line(shortcut, problem, best[0], best[1], one.size, other.size)


def again(n: int, changed: str) -> Line:
    """A transport model, solved again after one table has changed."""
    random = np.random.default_rng(0)
    tables: dict[str, dict[Any, float]] = {
        "supply": dict.fromkeys(range(n), 3.0 * n),
        "demand": {j: float(random.integers(1, 2 * n)) for j in range(n)},
        "cost": {(i, j): float(random.integers(1, 9)) for i in range(n) for j in range(n)},
    }
    first = relift.solve_model(TRANSPORT, tables)
    other = dict(tables[changed])
    other[next(iter(other))] += 1.0

    def resolved() -> Answer:
        result = first.resolve(data={changed: other})
        return Answer(result.objective, result.result.lifting.small.n_variables)

    def anew() -> Answer:
        result = relift.solve_model(TRANSPORT, {**tables, changed: other})
        return Answer(result.objective, result.result.lifting.small.n_variables)

    return measured("taking over statements", f"transport {n} x {n}, {changed} changed", resolved, anew)


def quadratics(n: int) -> cp.Problem:
    """One quadratic constraint with a symmetric matrix, of which CVXPY takes a factor."""
    x = cp.Variable(n)
    return cp.Problem(cp.Minimize(-cp.sum(x)), [cp.quad_form(x, np.eye(n) + 0.5 / n) <= 1.0])


def equal_sums(n: int) -> cp.Problem:
    """One quadratic constraint over a random regular graph: only the sums of the rows of its matrix are equal."""
    random = np.random.default_rng(0)
    graph = np.sum([np.eye(n)[random.permutation(n)] for _ in range(3)], axis=0)
    x = cp.Variable(n)
    return cp.Problem(cp.Minimize(-cp.sum(x)), [cp.quad_form(x, 7 * np.eye(n) + graph + graph.T) <= 1.0])


def means(n: int) -> cp.Problem:
    """A geometric mean, which CVXPY takes apart into cones of three rows."""
    x = cp.Variable(n)
    return cp.Problem(cp.Maximize(cp.geo_mean(x)), [cp.sum(x) <= n, x <= 3])


def norms(n: int) -> cp.Problem:
    """The risk of a portfolio as the norm behind a Cholesky factor, which hides that all assets are alike."""
    x = cp.Variable(n, nonneg=True)
    factor = np.linalg.cholesky(np.eye(n) + 0.5)
    return cp.Problem(cp.Minimize(cp.norm(factor.T @ x) - 0.1 * cp.sum(x)), [cp.sum(x) == 1])


def residuals(m: int, n: int) -> cp.Problem:
    """A tall norm without any symmetry."""
    random = np.random.default_rng(0)
    x = cp.Variable(n)
    return cp.Problem(cp.Minimize(cp.norm(random.standard_normal((m, n)) @ x - random.standard_normal(m))), [x >= 0])


def squares(m: int, n: int) -> cp.Problem:
    """Least squares without any symmetry."""
    random = np.random.default_rng(0)
    x = cp.Variable(n)
    fit = cp.sum_squares(random.standard_normal((m, n)) @ x - random.standard_normal(m))
    return cp.Problem(cp.Minimize(fit), [x >= 0])


def reading(find: str, problem: cp.Problem, name: str) -> Line:
    """One reading of cones left out."""
    solver = relift.cvxpy.Lifted()
    data, _, _ = problem.get_problem_data(solver, ignore_dpp=True)  # compiled once: CVXPY takes longer than both ways

    def run() -> Answer:
        outcome = solver.solve_via_data(cast("ConicData", dict(data)), False, False, {})
        program, x = outcome.compiled.program, outcome.answer.x
        curved = 0.0 if program.P is None else 0.5 * x @ (program.P @ x)
        return Answer(float(program.q @ x + curved), cast("dict[str, int]", outcome.report["small"])["variables"])

    def without() -> Answer:
        with patch.object(recovery, find, _nothing):
            return run()

    return measured(f"`hidden_{find.removeprefix('find_')}`", name, run, without)


def _nothing(program: relift.Program, *_: object) -> None:
    """Finds nothing in any program."""


def table(lines: list[Line]) -> str:
    """The lines as Markdown."""
    rows = ["| shortcut | problem | small variables | CPU s | without it | ratio |", "|---|---|---|---|---|---|"]
    rows += [
        f"| {m.shortcut} | {m.problem} | {m.with_size:,} (without {m.without_size:,}) | {m.with_seconds:.3f} "
        f"| {m.without_seconds:.3f} | {m.ratio:.2g} |"
        for m in lines
    ]
    return "\n".join(rows)


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="a JSON file")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        lines = [
            again(60, "demand"),
            again(200, "demand"),
            again(200, "cost"),
            reading("find_quadratics", quadratics(60), "quadratic constraint, 60 alike variables"),
            reading("find_quadratics", quadratics(400), "quadratic constraint, 400 alike variables"),
            reading("find_quadratics", equal_sums(60), "quadratic constraint with equal row sums, 60 variables"),
            reading("find_quadratics", equal_sums(400), "quadratic constraint with equal row sums, 400 variables"),
            reading("find_means", means(60), "geometric mean of 60"),
            reading("find_means", means(150), "geometric mean of 150"),
            reading("find_norms", norms(60), "norm by a Cholesky factor, 60 alike assets"),
            reading("find_norms", norms(400), "norm by a Cholesky factor, 400 alike assets"),
            reading("find_norms", residuals(4000, 20), "norm of 4,000 rows, 20 variables, no symmetry"),
            reading("find_residuals", squares(4000, 20), "squares of 4,000 rows, 20 variables, no symmetry"),
        ]
    print(table(lines))
    if arguments.out:
        arguments.out.write_text(json.dumps([asdict(m) for m in lines], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
