"""``python -m benchmarks.certificates``: what certificates of large programs cost, in pairs of products.

Of a random point, for which bounds that rows imply are looked for, and of what a solver leaves: an optimum that was
planted, with relative errors of 1e-9 in point and dual values. Structure, bounds and kinds of rows are those of
:mod:`benchmarks.large_programs`; sides and costs are such that the point is optimal. CPU time of one process, the
smallest of several repeats; families with cones have a random point alone.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from benchmarks.large_programs import FAMILIES, MORE_FAMILIES, TELLING_FAMILIES
from benchmarks.pairs import smallest
from relift.lifting.certificate import certify
from relift.program.program import Program
from relift.program.solution import Solution, Status


def random_answer(program: Program) -> Solution:
    """A point between its bounds, and dual values, that have nothing to do with each other."""
    random = np.random.default_rng(0)
    n, m, n_conic = program.n_variables, program.n_rows, program.conic.n_rows
    x = np.clip(random.normal(size=n), program.lb, program.ub)
    v = random.normal(size=n_conic) if n_conic else None
    return Solution(Status.OPTIMAL, x, random.normal(size=m), random.normal(size=n), v=v)


def planted_optimum(program: Program, error: float = 1e-9) -> tuple[Program, Solution]:
    """A program without cones of the same structure, and an optimum of it up to a relative error in x and y."""
    random = np.random.default_rng(1)
    n, m, lb, ub, A = program.n_variables, program.n_rows, program.lb, program.ub, program.A
    x, place = np.clip(random.uniform(0, 2, n), lb, ub), random.random(n)
    below, above = (place < 0.5) & np.isfinite(lb), (place > 0.9) & np.isfinite(ub)
    x = np.where(below, lb, np.where(above, ub, x))
    w = random.exponential(size=n) * np.where(below, -1.0, np.where(above, 1.0, 0.0))
    Ax, room = A @ x, random.exponential(size=m)
    equal, pressed = program.l == program.u, random.random(m) < 0.5
    has_lower, has_upper = np.isfinite(program.l), np.isfinite(program.u)
    to_upper, to_lower = pressed & has_upper & ~equal, pressed & has_lower & ~has_upper
    u = np.where(equal | to_upper, Ax, np.where(has_upper, Ax + room, np.inf))
    l = np.where(equal | to_lower, Ax, np.where(has_lower, Ax - room, -np.inf))
    y = random.exponential(size=m) * np.where(to_upper, 1.0, np.where(to_lower, -1.0, 0.0))
    y = np.where(equal, random.normal(size=m), y)
    q = -(A.T @ y + w) - (0.0 if program.P is None else program.P @ x)
    x, y = (each * (1 + error * random.normal(size=each.size)) for each in (x, y))
    return Program(program.P, q, A, l, u, lb, ub), Solution(Status.OPTIMAL, np.clip(x, lb, ub), y, w)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificates", description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="1000000", help="nonzeros")
    parser.add_argument("--families", default="", help="only families whose name contains one of these")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    wanted = [part.strip() for part in arguments.families.split(",") if part.strip()]
    print("| program | nonzeros | pair ms | random point ms | pairs | optimum ms | pairs | its worst residual |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, build in {**FAMILIES, **MORE_FAMILIES, **TELLING_FAMILIES}.items():
        if wanted and not any(part in name for part in wanted):
            continue
        program = build(int(float(arguments.size)))
        answer = random_answer(program)

        def products(program: Program = program, answer: Solution = answer) -> None:
            for matrix, dual in ((program.A, answer.y), (program.conic.A, answer.v)):
                if matrix.nnz:
                    matrix @ answer.x
                    matrix.T @ dual
            if program.P is not None:
                program.P @ answer.x

        pair = smallest(products, 3 * arguments.repeats)
        cases = [(program, answer)] if program.conic.n_rows else [(program, answer), planted_optimum(program)]
        cells = [f"{1e3 * pair:.2f}"]
        for case in cases:
            seconds = smallest(partial(certify, *case), arguments.repeats)
            cells += [f"{1e3 * seconds:.2f}", f"{seconds / pair:.1f}"]
        worst = "" if program.conic.n_rows else f"{certify(*cases[-1]).worst_residual:.0e}"
        cells += ["", ""] * (2 - len(cases)) + [worst]
        print(f"| {name} | {program.n_nonzeros:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
