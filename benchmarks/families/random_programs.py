"""Programs of random numbers without any structure."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from benchmarks.families.family import Family
from relift.program.program import Program


def random_lp(n: int) -> Program:
    """A sparse random linear program, feasible and bounded."""
    random = np.random.default_rng(5)
    m = max(n // 2, 1)
    A = sparse.random_array((m, n), density=min(8 / m, 1.0), rng=random, data_sampler=random.standard_normal).tocsc()
    x = random.random(n)
    return Program(q=random.random(n), A=A, l=A @ x - 0.1, u=A @ x + 0.1, lb=0, ub=2)


def random_qp(n: int) -> Program:
    """Sparse least squares with random rows."""
    random = np.random.default_rng(6)
    B = sparse.random_array((n, n), density=min(4 / n, 1.0), rng=random, data_sampler=random.standard_normal).tocsc()
    A = sparse.random_array(
        (n // 4, n), density=min(6 / n, 1.0), rng=random, data_sampler=random.standard_normal
    ).tocsc()
    x = random.standard_normal(n)
    P = (B.T @ B + 0.01 * sparse.eye_array(n)).tocsc()
    return Program(P=(P + P.T) / 2, q=random.standard_normal(n), A=A, l=A @ x - 0.5, u=A @ x + 0.5)


FAMILIES = (
    Family("random LP", "random", "LP", random_lp, (1500,), False),
    Family("random QP", "random", "QP", random_qp, (2000,), False),
)
