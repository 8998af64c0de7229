"""CVXPY problems with a hundred small norms and no symmetry: what looking for it costs.

``python -m benchmarks.small_norms``. CPU seconds of one process for problems that were never solved before, compiling
included; answers are compared.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import cvxpy as cp
import numpy as np

import relift.cvxpy  # noqa: F401 - makes the name RELIFT known


def problem(seed: int, norms: int = 100, n: int = 20) -> Any:
    """Sums of norms of random affine functions, in a box."""
    random = np.random.default_rng(seed)
    x = cp.Variable(n)
    terms = [cp.norm(random.standard_normal((4, n)) @ x - random.standard_normal(4)) for _ in range(norms)]
    return cp.Problem(cp.Minimize(sum(terms) + 0.1 * cp.sum_squares(x)), [x >= -1, x <= 1])


def seconds(seed: int, solver: str) -> tuple[float, float]:
    """CPU seconds and objective of a problem that is made anew."""
    model = problem(seed)
    start = process_time()
    value = model.solve(solver=solver)
    return process_time() - start, float(value)


def main(count: int = 8) -> None:
    for solver in ("CLARABEL", "RELIFT"):
        seconds(0, solver)  # load what it needs
    plain, lifted = (np.array([seconds(seed, solver) for seed in range(count)]) for solver in ("CLARABEL", "RELIFT"))
    ratio = float(np.median(lifted[:, 0] / plain[:, 0]))
    worst = float(np.max(np.abs(lifted[:, 1] - plain[:, 1])))
    plain_seconds, lifted_seconds = np.median(plain[:, 0]), np.median(lifted[:, 0])
    print(f"plain {plain_seconds:.3f} s, relift {lifted_seconds:.3f} s, medians of {count}: {ratio:.2f} times as long")
    print(f"answers differ by {worst:.1g}")


if __name__ == "__main__":
    main()
