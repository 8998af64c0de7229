"""Cutting planes and stochastic gradients on the quotient beside ``relift.solve``: ``python -m benchmarks.hinge``.

Programs with hinge structure and repeated rows: a ranking machine and one with absolute errors. CPU seconds of one
thread, lifting included; the objective of each route is compared with that of the generic one.
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

import relift
from relift.ml.hinge import solve_hinge


def ranking(n_pairs: int, n_weights: int, copies: int) -> relift.Program:
    """Pairs of items, of which one should score higher by 1; each pair occurs several times."""
    random = np.random.default_rng(0)
    Z = random.integers(-1, 2, (n_pairs, n_weights)).astype(float)
    Z *= np.where(Z @ random.standard_normal(n_weights) + random.standard_normal(n_pairs) > 0, 1.0, -1.0)[:, None]
    return _program(np.repeat(Z, copies, axis=0), np.ones(n_pairs * copies), 1e-2)


def absolute_errors(n_rows: int, n_weights: int, copies: int) -> relift.Program:
    """Least absolute errors with a ridge: two hinges for each row."""
    random = np.random.default_rng(1)
    X = random.integers(0, 3, (n_rows, n_weights)).astype(float)
    y = X @ random.standard_normal(n_weights) + random.integers(-2, 3, n_rows)
    X, y = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    return _program(np.vstack([X, -X]), np.concatenate([y, -y]), 1e-2)


def _program(rows: np.ndarray, bound: np.ndarray, price: float) -> relift.Program:
    m, n = rows.shape
    return relift.Program(
        P=sparse.diags_array(np.concatenate([np.ones(n), np.zeros(m)])).tocsc(),
        q=np.concatenate([np.zeros(n), np.full(m, price)]),
        A=sparse.hstack([sparse.csr_array(rows), sparse.eye_array(m)]),
        l=bound,
        lb=np.concatenate([np.full(n, -np.inf), np.zeros(m)]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000, help="distinct rows")
    parser.add_argument("--weights", type=int, default=30)
    parser.add_argument("--copies", type=int, default=10)
    arguments = parser.parse_args()
    sizes = (arguments.rows, arguments.weights, arguments.copies)
    print(
        "| program | route | CPU s | objective above the generic one | proved gap | rounds |\n|---|---|---|---|---|---|"
    )
    with threadpool_limits(1):
        for name, program in (("ranking", ranking(*sizes)), ("absolute errors", absolute_errors(*sizes))):
            start = process_time()
            generic = relift.solve(program)
            best = float(generic.objective)
            residual = generic.certificate.worst_residual
            print(
                f"| {name} | relift.solve | {process_time() - start:.2f} | 0 | residual {residual:.0e} | – |",
                flush=True,
            )
            ways: tuple[tuple[str, dict[str, Any]], ...] = (
                ("cutting planes, lifted", {"method": "cutting_plane", "tol_gap": 1e-3}),
                ("cutting planes, not lifted", {"method": "cutting_plane", "tol_gap": 1e-3, "lifted": False}),
                ("stochastic gradients, lifted", {"method": "sgd", "tol_gap": 1e-2, "max_rounds": 300}),
            )
            for label, options in ways:
                start = process_time()
                found = solve_hinge(program, **options)
                seconds = process_time() - start
                above = (found.objective - best) / max(1.0, abs(best))
                print(
                    f"| {name} | {label} | {seconds:.2f} | {above:.0e} | {found.gap:.0e} | {len(found.rounds)} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
