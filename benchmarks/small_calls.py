"""``python -m benchmarks.small_calls``: one call of relift.solve on small programs of all kinds, against the solver.

CPU milliseconds, the smallest of many repeats, in turns. *Direct* is the solver's own object, made of ready arrays, and
run; *backend* is relift's call of it, which also checks the answer, finds rays and adds digits. What is left is
lifting, expansion and certificate.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import clarabel
import numpy as np
from rich.console import Console
from rich.table import Table

import relift
from relift.program.cones import Exponential, Power, SecondOrder, Semidefinite
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.settings import SolverSettings
from relift.solvers.clarabel_ import _Form
from relift.solvers.highs_ import load
from relift.solvers.registry import backends_to_try

Make = Callable[[], Program]


def cases(n: int) -> Iterator[tuple[str, Make]]:
    """Name, and what makes the program: measured numbers, so that nothing is merged."""
    random = np.random.default_rng(n)
    A, q, l = random.uniform(0, 1, (n // 2, n)), random.uniform(1, 2, n), random.uniform(1, 2, n // 2)
    root = random.normal(size=(n, n))
    P, eye = root @ root.T + np.eye(n), np.eye(n)
    keep = random.uniform(size=A.shape) < 0.3
    keep[np.arange(n) % (n // 2), np.arange(n)] = True
    made = {
        "LP": Program(q=q, A=A, l=l, lb=0),
        "LP, sparse": Program(q=q, A=np.where(keep, A, 0.0), l=l, lb=0),
        "LP, equalities": Program(q=q, A=A, l=A @ np.ones(n), u=A @ np.ones(n), lb=0),
        "LP, bounds on both sides": Program(q=random.normal(size=n), A=A, u=l + 2, lb=-1, ub=random.uniform(1, 2, n)),
        "LP, maximise": Program(q=q, A=A, u=l, lb=0, sense="max"),
        "LP, all alike": Program(q=np.ones(n), A=eye + np.roll(eye, 1, axis=1), l=np.ones(n), lb=0),
        "LP, infeasible": Program(q=q, A=A, u=-l, lb=0),
        "LP, infeasible equalities": Program(q=q, A=np.vstack([A, A[:1]]), l=np.r_[l, 9.0], u=np.r_[l, 9.0], lb=0),
        "LP, unbounded": Program(q=-q, A=A, l=l, lb=0),
        "LP, unbounded equalities": Program(q=-q, A=A - 0.5, l=np.zeros(n // 2), u=np.zeros(n // 2)),
        "QP": Program(P, q, A, l, lb=0),
        "QP, diagonal": Program(np.diag(q), -q, A, u=l, lb=0),
        "QP, equalities": Program(P, q, A, l, l),
        "QP, box": Program(P, -10 * q, lb=-1, ub=1),
        "QP, free": Program(P, q),
        "QP, all alike": Program(3 * eye - np.roll(eye, 1, axis=1) - np.roll(eye, 1, axis=0), -np.ones(n), lb=0, ub=9),
        "QP, infeasible": Program(P, q, A, u=-l, lb=0),
        "QP, unbounded": Program(np.diag(np.r_[np.ones(n - 1), 0.0]), -q, A, l, lb=0),
        "QP, of rank one": Program(np.outer(q, q), q, A, l, lb=0),
        "SOCP": Program(
            q=q,
            A=A,
            l=0.2 * l,
            conic=ConicRows(np.vstack([0 * q[None], -eye]), np.r_[3.0, 0 * q], [SecondOrder(n + 1)]),
        ),
        "SOCP, infeasible": Program(
            q=q, A=A, l=50 * l, conic=ConicRows(np.vstack([0 * q[None], -eye]), np.r_[3.0, 0 * q], [SecondOrder(n + 1)])
        ),
        "SOCP, five cones": five_cones(random, n),
        "quadratic constraint": Program(q=q, quadratic=[(P, random.normal(size=n), 1.0)]),
        "quadratic constraint, rows": Program(q=q, A=A, l=0.02 * l, quadratic=[(P, random.normal(size=n), 9.0)]),
        "two quadratic constraints": Program(np.eye(n), q, quadratic=[(P, -q, 1.0), (np.diag(q), q, 0.7)]),
        "entropies": entropies(random, n),
        "logistic": logistic(random, n),
        "power cone": power(random, n),
        "semidefinite cone": semidefinite(random, n),
        **as_users_vary_them(np.random.default_rng(n + 1), n),
    }
    for name, program in made.items():
        yield name, partial(_itself, program)
    rows = (A.tolist(), l.tolist(), q.tolist())
    yield "LP from lists", lambda: Program(q=rows[2], A=rows[0], l=rows[1], lb=0)
    yield "LP from arrays", lambda: Program(q=q, A=A, l=l, lb=0)
    yield "QP from arrays", lambda: Program(P, q, A, l, lb=0)


def as_users_vary_them(random: np.random.Generator, n: int) -> dict[str, Program]:
    """Free, fixed and repeated variables, bands, and cones of several kinds in one program."""
    m, half = n // 2, n // 2
    A, q, l = random.uniform(0, 1, (m, n)), random.uniform(1, 2, n), random.uniform(1, 2, m)
    root = random.normal(size=(n, n))
    P, ones = root @ root.T + np.eye(n), np.ones(n)
    free, fixed = np.where(np.arange(n) % 2, 0.0, -np.inf), np.arange(n) % 3 == 1
    low, high = np.where(fixed, 0.5, 0.0), np.where(fixed, 0.5, np.inf)
    twice, once = np.eye(2), (random.uniform(0, 1, (half // 2, half)), random.uniform(1, 2, half))
    repeated = (np.tile(once[1], 2), np.kron(twice, once[0]), np.ones(2 * (half // 2)))
    band = 3 * np.eye(n) - np.diag(ones[1:], 1) - np.diag(ones[1:], -1)
    ball = ConicRows(np.vstack([0 * q[None], -np.eye(n)]), np.r_[3.0, 0 * q], [SecondOrder(n + 1)])
    return {
        "LP, free variables": Program(q=A.T @ random.uniform(0, 1, m), A=A, l=l, lb=free),
        "LP, fixed variables": Program(q=q, A=A, l=l, lb=low, ub=high),
        "LP, rows of one entry": Program(q=q, A=np.vstack([A, np.eye(n)[:3]]), l=np.r_[l, 0.1, 0.2, 0.3], lb=0),
        "LP, equal halves": Program(q=repeated[0], A=repeated[1], l=repeated[2], lb=0),
        "LP, whole numbers": Program(
            q=random.integers(1, 9, n), A=random.integers(0, 4, (m, n)), l=random.integers(1, 9, m), lb=0, ub=9
        ),
        "QP, free variables": Program(P, q, A, l, lb=free),
        "QP, fixed variables": Program(P, q, A, l, lb=low, ub=high),
        "QP, equal halves": Program(np.kron(twice, P[:half, :half]), *repeated, lb=0),
        "QP, band": Program(band, q, A, l, lb=0),
        "QP, portfolio": Program(P, -q, ones[None], [1.0], [1.0], lb=0),
        "SOCP, all alike": Program(q=ones, A=ones[None], l=[-1.0], conic=ball),
        "mixed cones": mixed_cones(random, max(n, 12)),
        **{f"semidefinite cones of order {orders}": of_matrices(random, orders) for orders in ((2,), (2, 2), (10,))},
    }


def mixed_cones(random: np.random.Generator, n: int) -> Program:
    """A second-order, an exponential, a semidefinite and a power cone over the first twelve variables."""
    C, b = np.zeros((13, n)), np.zeros(13)
    for row, column in ((1, 0), (2, 1), (3, 2), (4, 3), (6, 4), (7, 5), (8, 6), (9, 7), (10, 8), (11, 9), (12, 10)):
        C[row, column] = -1.0
    b[0], b[5], b[12] = 3.0, 1.0, 0.1
    cones = [SecondOrder(4), Exponential(), Semidefinite(2), Power(0.4)]
    A = random.uniform(0, 1, (3, n))
    return Program(q=random.uniform(1, 2, n), A=A, l=[0.1, 0.2, 0.3], lb=-2, ub=9, conic=ConicRows(C, b, cones))


def of_matrices(random: np.random.Generator, orders: tuple[int, ...]) -> Program:
    """Measured costs over matrices of a common trace, with two more variables."""
    sizes = [k * (k + 1) // 2 for k in orders]
    size = sum(sizes)
    trace, q = np.ones(size + 2), np.r_[random.normal(size=size), 1.0, 1.0]
    trace[:size] = np.concatenate([np.isin(np.arange(k), np.cumsum(np.arange(1, k + 1)) - 1) for k in sizes])
    A = np.vstack([random.uniform(0, 1, (2, size + 2)), trace])
    return Program(
        q=q, A=A, l=[0.1, 0.1, 1.0], u=[np.inf, np.inf, 1.0], lb=np.r_[np.full(size, -np.inf), 0.0, 0.0],
        conic=ConicRows(-np.eye(size, size + 2), np.zeros(size), [Semidefinite(k) for k in orders]),
    )  # fmt: skip


def five_cones(random: np.random.Generator, n: int) -> Program:
    C = np.zeros((3 * 5, n))
    for k in range(5):
        C[3 * k + 1, 2 * k % n] = C[3 * k + 2, (2 * k + 1) % n] = -1.0
    b = np.zeros(15)
    b[::3] = random.uniform(1, 2, 5)
    conic = ConicRows(C, b, [SecondOrder(3)] * 5)
    return Program(q=random.uniform(1, 2, n), conic=conic, lb=-3)


def entropies(random: np.random.Generator, n: int) -> Program:
    """Minimise the negative entropy of x with costs, x on a simplex; (-t, x, 1) in the cone, k = n / 2 of them."""
    k = n // 2
    C, b = np.zeros((3 * k, 2 * k)), np.zeros(3 * k)
    for i in range(k):
        C[3 * i, k + i], C[3 * i + 1, i] = 1.0, -1.0
        b[3 * i + 2] = 1.0
    C[2::3] = 0.0
    # x exp(-t / x) <= 1: (t', x, 1) with t' = -t
    q = np.r_[random.uniform(0, 1, k), np.ones(k)]
    A = np.r_[np.ones(k), np.zeros(k)][None]
    return Program(q=q, A=A, l=[1.0], u=[1.0], conic=ConicRows(C, b, [Exponential()] * k))


def logistic(random: np.random.Generator, n: int) -> Program:
    """Minimise sum t with exp(a'x) <= t, x in a box."""
    k = n // 2
    C, b, a = np.zeros((3 * k, n)), np.zeros(3 * k), random.normal(size=(k, n - k))
    for i in range(k):
        C[3 * i, : n - k], C[3 * i + 2, n - k + i] = -a[i], -1.0
        b[3 * i + 1] = 1.0
    return Program(
        q=np.r_[random.normal(size=n - k), np.ones(k)], lb=np.r_[-np.ones(n - k), np.zeros(k)],
        ub=np.r_[np.ones(n - k), np.full(k, np.inf)], conic=ConicRows(C, b, [Exponential()] * k),
    )  # fmt: skip


def power(random: np.random.Generator, n: int) -> Program:
    C, b = np.zeros((3, n)), np.array([0.0, 0.0, 1.0])
    C[0, 0] = C[1, 1] = -1.0
    return Program(
        q=random.uniform(1, 2, n), A=random.uniform(0, 1, (2, n)), l=[1, 1], lb=0, conic=ConicRows(C, b, [Power(0.3)])
    )


def semidefinite(random: np.random.Generator, n: int) -> Program:
    order = next(k for k in range(1, n) if k * (k + 1) // 2 > n) - 1
    size = order * (order + 1) // 2
    C = np.zeros((size, n))
    C[:, :size] = -np.eye(size)
    A = random.uniform(0, 1, (2, n))
    ones = np.zeros(n)
    step = np.cumsum(np.arange(1, order + 1)) - 1
    ones[step] = 1.0
    ones[size:] = 1.0
    q = random.normal(size=n)
    q[size:] = 1.0
    return Program(
        q=q, A=np.vstack([A, ones]), l=np.r_[0.1, 0.1, 1.0], u=np.r_[np.inf, np.inf, 1.0],
        lb=np.r_[np.full(size, -np.inf), np.zeros(n - size)], conic=ConicRows(C, np.zeros(size), [Semidefinite(order)]),
    )  # fmt: skip


def direct_call(program: Program) -> Callable[[], object]:
    """The solver's own object, made and run, for a program that is a minimisation by columns."""
    if program.is_linear:

        def by_highs() -> object:
            highs: Any = load(program, SolverSettings())
            return highs.run()

        return by_highs
    form = _Form.of(program)
    own = clarabel.DefaultSettings()
    own.verbose = False
    cones = form.cones(clarabel)
    return lambda: clarabel.DefaultSolver(form.P, program.q, form.conic.K, form.b, cones, own).solve()


def _itself(program: Program) -> Program:
    return program


def _solved(make: Make) -> object:
    return relift.solve(make())


def smallest(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    """CPU milliseconds of each call, the smallest of many, in turns."""
    best = [float("inf")] * len(calls)
    for call in calls:
        call()
    for _ in range(repeats):
        for place, call in enumerate(calls):
            start = process_time()
            call()
            best[place] = min(best[place], 1e3 * (process_time() - start))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_calls", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--sizes", default="10,50,100", help="variables")
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--out", type=Path, help="file for the figures, as JSON")
    arguments = parser.parse_args()
    lines = []
    table = Table(title="CPU milliseconds, smallest")
    for column in ("case", "variables", "direct", "backend", "relift", "over direct", "over backend", "status"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for n in map(int, arguments.sizes.split(",")):
        for name, make in cases(n):
            if arguments.only not in name:
                continue
            program = make().minimisation()
            backend, settings = next(iter(backends_to_try(program))), SolverSettings()
            repeats = max(10, arguments.repeats * 10 // n)
            calls: list[Callable[[], object]] = [
                direct_call(program),
                partial(backend.solve, program, settings),
                partial(_solved, make),
            ]
            times = smallest(calls, repeats)
            status = str(relift.solve(make()).status)
            over = (f"{times[2] - times[0]:+.2f}", f"{times[2] - times[1]:+.2f}")
            lines.append({"case": name, "variables": n, "direct": times[0], "backend": times[1], "relift": times[2]})
            table.add_row(name, str(n), *(f"{time:.2f}" for time in times), *over, status)
    Console(width=130).print(table)
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
