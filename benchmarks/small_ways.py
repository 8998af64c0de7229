"""``python -m benchmarks.small_ways``: the ways in which small programs are solved, against the same without relift.

CPU milliseconds, the smallest of many repeats, in turns: every backend, one thread, warm starts, scenarios, another
number of A each time, :func:`relift.linprog`, :func:`relift.solve_qp`, and CVXPY problems that are made for one solve.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time

import cvxpy as cp
import numpy as np
import qpsolvers
import scipy.optimize
from rich.console import Console
from rich.table import Table
from scipy import sparse

import relift
from relift.arrays import Matrix, Vector
from relift.cvxpy import Lifted
from relift.program.program import Program
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.registry import get_backend

Call = Callable[[], object]
SIZE = 20
"""Variables, where nothing else is said."""


def by_backends() -> Iterator[tuple[str, Call, Call]]:
    """Every backend, threads, warm starts, scenarios and other matrices, against relift's own call of the backend."""
    random, n = np.random.default_rng(5), SIZE
    A, q, l = random.uniform(0, 1, (n // 2, n)), random.uniform(1, 2, n), random.uniform(1, 2, n // 2)
    root = random.normal(size=(n, n))
    programs = {"LP": Program(q=q, A=A, l=l, lb=0), "QP": Program(root @ root.T + np.eye(n), q, A, l, lb=0)}
    scenarios = [{"l": l * random.uniform(1, 2, n // 2)} for _ in range(20)]
    for kind, program in programs.items():
        names = ("highs", "clarabel", "scs", "piqp") if kind == "LP" else ("clarabel", "osqp", "piqp", "scs", "highs")
        own, warm = get_backend(names[0]), "highs" if kind == "LP" else "osqp"
        for name in names:
            yield f"{kind}, backend={name}", *_both(name, program)
        yield f"{kind}, threads=1", *_both(names[0], program, threads=1)
        yield f"{kind}, warm start of {warm}", *_both(warm, program, start=relift.solve(program))
        other = partial(_with_another_number, program, A, random)
        yield f"{kind}, one number of A changes", partial(_solved_by, own, other), partial(_solved, other)
        one_by_one = partial(_solved_one_by_one, own, program, scenarios)
        yield f"{kind}, 20 scenarios", one_by_one, partial(relift.solve_many, program, scenarios)


def _both(
    name: str, program: Program, threads: int | None = None, start: relift.Result | None = None
) -> tuple[Call, Call]:
    point, settings = None if start is None else start.solution, SolverSettings(threads=threads)
    ours = partial(relift.solve, program, backend=name, threads=threads, warm_start=start)
    return partial(get_backend(name).solve, program, settings, point), ours


def _with_another_number(program: Program, A: Matrix, random: np.random.Generator) -> Program:
    changed = A.copy()
    changed[0, 0] = random.uniform()
    return program.replace(A=changed)


def _solved_by(backend: Backend, make: Callable[[], Program]) -> object:
    return backend.solve(make(), SolverSettings())


def _solved(make: Callable[[], Program]) -> object:
    return relift.solve(make())


def _solved_one_by_one(backend: Backend, program: Program, scenarios: list[dict[str, Vector]]) -> None:
    for scenario in scenarios:
        backend.solve(program.replace(l=scenario["l"]), SolverSettings())


def by_other_doors() -> Iterator[tuple[str, Call, Call]]:
    """``linprog`` and ``solve_qp`` against those of SciPy and qpsolvers."""
    for n in (10, 50):
        random = np.random.default_rng(n)
        A, q, l = -random.uniform(0, 1, (n // 2, n)), random.uniform(1, 2, n), -random.uniform(1, 2, n // 2)
        root = random.normal(size=(n, n))
        P, zeros = root @ root.T + np.eye(n), np.zeros(n)
        yield f"linprog, {n} variables", partial(scipy.optimize.linprog, q, A, l), partial(relift.linprog, q, A, l)
        plain = partial(
            qpsolvers.solve_qp, sparse.csc_matrix(P), q, sparse.csc_matrix(A), l, lb=zeros, solver="clarabel"
        )
        yield f"solve_qp, dense, {n} variables", plain, partial(relift.solve_qp, P, q, A, l, lb=zeros)


def by_cvxpy() -> Iterator[tuple[str, Call, Call]]:
    """Problems that are made and compiled for one solve, and solved once more as they are."""
    for kind in ("LP", "QP", "norm", "semidefinite", "entropy"):
        plain = "HIGHS" if kind == "LP" else "CLARABEL"
        once = partial(_made_and_solved, kind, plain), partial(_made_and_solved, kind, None)
        yield f"CVXPY, {kind}, made and compiled each time", *once
        again = partial(_problem(kind).solve, solver=plain), partial(_problem(kind).solve, solver=Lifted())
        yield f"CVXPY, {kind}, the same again", *again


def _made_and_solved(kind: str, solver: str | None) -> object:
    return _problem(kind).solve(solver=Lifted() if solver is None else solver)


def _problem(kind: str) -> cp.Problem:
    random, n = np.random.default_rng(5), SIZE
    A, q, l = random.uniform(0, 1, (n // 2, n)), random.uniform(1, 2, n), random.uniform(1, 2, n // 2)
    root, x = random.normal(size=(n, n)), cp.Variable(n)
    match kind:
        case "LP":
            return cp.Problem(cp.Minimize(q @ x), [A @ x >= l, x >= 0])
        case "QP":
            return cp.Problem(cp.Minimize(cp.sum_squares(root @ x) + q @ x), [A @ x >= l, x >= 0])
        case "norm":
            return cp.Problem(cp.Minimize(q @ x), [cp.norm(root @ x) <= 50, A @ x >= 0.1 * l])
        case "semidefinite":
            X = cp.Variable((4, 4), PSD=True)
            return cp.Problem(cp.Minimize(cp.trace(root[:4, :4] @ X)), [cp.trace(X) == 1])
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) - q @ x), [cp.sum(x) == 1])


def smallest(calls: tuple[Call, Call], repeats: int) -> tuple[float, float]:
    """CPU milliseconds of both, the smallest of many, in turns, after two calls that do not count."""
    best = [float("inf")] * 2
    for k in range(-2, repeats):
        for place, call in enumerate(calls):
            start = process_time()
            call()
            if k >= 0:
                best[place] = min(best[place], 1e3 * (process_time() - start))
    return best[0], best[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_ways", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="ways whose name contains this")
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--out", type=Path, help="file for the figures, as JSON")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    table, lines = Table(title=f"CPU milliseconds, smallest; {SIZE} variables unless stated"), []
    for column in ("way", "without relift", "relift", "over"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for ways in (by_backends(), by_other_doors(), by_cvxpy()):
        for name, plain, ours in ways:
            if arguments.only not in name:
                continue
            times = smallest((plain, ours), arguments.repeats)
            lines.append({"way": name, "plain": times[0], "relift": times[1]})
            table.add_row(name, *(f"{time:.2f}" for time in times), f"{times[1] - times[0]:+.2f}")
    Console(width=120).print(table)
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
