"""``python -m benchmarks.small_resolves``: small problems solved again with other numbers, against no relift.

CPU milliseconds of one solve, the smallest of many with the same draws on both sides, in turns. CVXPY and qpsolvers are
called as their users do; loops of ``relift.solve`` against fresh calls of relift's own backend.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import cvxpy as cp
import numpy as np
import qpsolvers
from rich.console import Console
from rich.table import Table
from scipy import sparse

import relift
import relift.qpsolvers  # noqa: F401 - registers the solver
from relift.cvxpy import Lifted
from relift.program.program import Program
from relift.settings import SolverSettings
from relift.solvers.registry import backends_to_try

Call = Callable[[], float]
"""Solves once and returns the objective."""


def all_entries(solver: object) -> Call:
    """Parameters in every entry of A, in b and in c: least squares over rows."""
    n, m = 30, 15
    x, A, b, c = cp.Variable(n), cp.Parameter((m, n)), cp.Parameter(m), cp.Parameter(n)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) + c @ x), [A @ x >= b, x >= 0])

    def draw(random: np.random.Generator) -> None:
        A.value, b.value, c.value = random.uniform(0, 1, (m, n)), random.uniform(1, 2, m), random.normal(size=n)

    return again(problem, draw, solver)


def sparse_row(solver: object) -> Call:
    """One row of an LP is a parameter, of which some entries are 0 each time."""
    n = 40
    data = np.random.default_rng(1)
    fixed = data.uniform(0, 1, (10, n)) * (data.uniform(size=(10, n)) < 0.3)
    x, a = cp.Variable(n), cp.Parameter(n)
    problem = cp.Problem(cp.Minimize(data.uniform(1, 2, n) @ x), [fixed @ x >= 1, a @ x >= 2, x >= 0])

    def draw(random: np.random.Generator) -> None:
        a.value = random.uniform(0.5, 1, n) * (random.uniform(size=n) < 0.3)

    return again(problem, draw, solver)


def factor_of_P(solver: object) -> Call:
    """The factor of a covariance, and expected returns."""
    n = 40
    x, F, mu = cp.Variable(n), cp.Parameter((5, n)), cp.Parameter(n)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(F @ x) - mu @ x), [cp.sum(x) == 1, x >= 0])

    def draw(random: np.random.Generator) -> None:
        F.value, mu.value = random.normal(size=(5, n)), random.normal(size=n)

    return again(problem, draw, solver)


def norm_and_bound(solver: object) -> Call:
    """A norm below a bound that changes, with costs that change."""
    n = 30
    x, c, b = cp.Variable(n), cp.Parameter(n), cp.Parameter(nonneg=True)
    root = np.random.default_rng(2).normal(size=(n, n))
    problem = cp.Problem(cp.Minimize(c @ x), [cp.norm(root @ x) <= b, x >= -1])

    def draw(random: np.random.Generator) -> None:
        c.value, b.value = random.normal(size=n), random.uniform(1, 2)

    return again(problem, draw, solver)


def lp_vectors(solver: object) -> Call:
    """Costs and right-hand sides of an LP."""
    n, m = 40, 20
    data = np.random.default_rng(3)
    A = data.uniform(0, 1, (m, n))
    x, c, b = cp.Variable(n), cp.Parameter(n), cp.Parameter(m)
    problem = cp.Problem(cp.Minimize(c @ x), [A @ x >= b, x >= 0])

    def draw(random: np.random.Generator) -> None:
        c.value, b.value = random.uniform(1, 2, n), random.uniform(1, 2, m)

    return again(problem, draw, solver)


def control(solver: object) -> Call:
    """Predictive control over 20 steps from another state each time."""
    data, horizon = np.random.default_rng(4), 20
    A, B = np.eye(4) + 0.1 * data.normal(size=(4, 4)), data.normal(size=(4, 2))
    x, u, start = cp.Variable((4, horizon + 1)), cp.Variable((2, horizon)), cp.Parameter(4)
    rows = [x[:, 0] == start, cp.abs(u) <= 1]
    rows += [x[:, t + 1] == A @ x[:, t] + B @ u[:, t] for t in range(horizon)]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) + 0.1 * cp.sum_squares(u)), rows)

    def draw(random: np.random.Generator) -> None:
        start.value = random.normal(size=4)

    return again(problem, draw, solver)


def again(problem: cp.Problem, draw: Callable[[np.random.Generator], None], solver: object) -> Call:
    """Draw numbers and solve: CVXPY's own solver where None is given."""
    random = np.random.default_rng(0)
    is_linear = problem.is_lp()
    chosen = solver if solver is not None else ("HIGHS" if is_linear else "CLARABEL")

    def once() -> float:
        draw(random)
        return float(problem.solve(solver=chosen))

    return once


def by_qpsolvers(change: str, n: int, solver: str) -> Call:
    """Costs, right-hand sides, or all numbers of a QP that change."""
    data, random = np.random.default_rng(n), np.random.default_rng(0)
    root, G = data.normal(size=(n, n)), data.uniform(0, 1, (n // 2, n))
    P, h = sparse.csc_matrix(root @ root.T + np.eye(n)), -data.uniform(1, 2, n // 2)

    def once() -> float:
        q = random.normal(size=n) if change != "h" else np.ones(n)
        right = h * random.uniform(1, 2, n // 2) if change != "q" else h
        rows = sparse.csc_matrix(-G * random.uniform(1, 2, G.shape) if change == "all" else -G)
        x = qpsolvers.solve_qp(P, q, rows, right, lb=np.zeros(n), solver=solver)
        return float(0.5 * x @ (P @ x) + q @ x)

    return once


def loop(kind: str, change: str, n: int, way: str) -> Call:
    """A loop of ``relift.solve``, or of its backend, over programs that are made anew."""
    data, random = np.random.default_rng(n), np.random.default_rng(0)
    root, A = data.normal(size=(n, n)), data.uniform(0, 1, (n // 2, n))
    P = root @ root.T + np.eye(n) if kind == "QP" else None
    first = Program(P, data.uniform(1, 2, n), A, data.uniform(1, 2, n // 2), lb=0)
    lifting = relift.lift(first)

    def once() -> float:
        vectors: dict[str, Any] = {}
        if change == "q":
            vectors["q"] = random.uniform(1, 2, n)
        elif change == "l":
            vectors["l"] = random.uniform(1, 2, n // 2)
        else:
            vectors["A"] = A * random.uniform(1, 2, A.shape)
        if way == "update":
            return float(relift.solve(lifting.update(**vectors)).objective)
        program = first.replace(**vectors)
        if way == "relift":
            return float(relift.solve(program).objective)
        return float(next(iter(backends_to_try(program))).solve(program, SolverSettings()).objective)

    return once


def cases() -> Iterator[tuple[str, Callable[[], tuple[Call, Call]]]]:
    """Name, and what makes both calls."""
    named = (
        ("CVXPY, all entries of A, b and c", all_entries), ("CVXPY, a sparse row of an LP", sparse_row),
        ("CVXPY, the factor of P", factor_of_P), ("CVXPY, a norm and its bound", norm_and_bound),
        ("CVXPY, costs and sides of an LP", lp_vectors), ("CVXPY, predictive control", control),
    )  # fmt: skip
    for name, make in named:
        yield name, partial(_pair, make, None, Lifted())
    for change in ("q", "h", "all"):
        yield f"qpsolvers, {change}", partial(_pair, partial(by_qpsolvers, change, 20), "clarabel", "relift")
    for kind in ("LP", "QP"):
        for change in ("q", "l", "A"):
            yield f"relift.solve, {kind}, {change}", partial(_pair, partial(loop, kind, change, 20), "", "relift")
        for change in ("q", "l"):
            yield f"Lifting.update, {kind}, {change}", partial(_pair, partial(loop, kind, change, 20), "", "update")


def _pair(make: Callable[[Any], Call], plain: object, ours: object) -> tuple[Call, Call]:
    return make(plain), make(ours)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_resolves", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--out", type=Path, help="file for the figures, as JSON")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    table, lines = Table(title="CPU milliseconds, smallest (median)"), []
    for column in ("case", "without relift", "relift", "over", "objectives differ by"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for name, make in cases():
        if arguments.only not in name:
            continue
        times: tuple[list[float], list[float]] = ([], [])
        calls, worst = make(), 0.0
        for k in range(-3, arguments.repeats):
            values = []
            for call, seconds in zip(calls, times, strict=True):
                start = process_time()
                values.append(call())
                if k >= 0:
                    seconds.append(1e3 * (process_time() - start))
            worst = max(worst, abs(values[0] - values[1]) / max(1.0, abs(values[0])))
        plain, ours = min(times[0]), min(times[1])
        lines.append({"case": name, "plain": plain, "relift": ours, "difference": worst})
        shown = (f"{min(one):.2f} ({np.median(one):.2f})" for one in times)
        table.add_row(name, *shown, f"{ours - plain:+.2f}", f"{worst:.0e}")
    Console(width=120).print(table)
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
