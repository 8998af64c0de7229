"""Noise that destroys an exact symmetry and leaves an approximate one."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from relift.arrays import Vector
from relift.program.program import Program


def with_noise(program: Program, level: float, seed: int = 0) -> Program:
    """The program with every number multiplied by 1 + level * uniform(-1, 1); zeros, infinities and convexity stay.

    Parameters
    ----------
    program
        The program; equalities stay equalities.
    level
        The largest relative change.
    seed
        Of the random numbers.

    Examples
    --------
    >>> noisy = with_noise(Program(q=[1.0, 1.0], lb=0), 0.01)
    >>> bool(np.all(np.abs(noisy.q - 1) <= 0.01)), bool(noisy.q[0] != noisy.q[1]), noisy.lb.tolist()
    (True, True, [0.0, 0.0])
    """
    random = np.random.default_rng(seed)

    def noisy(values: Vector) -> Vector:
        factor = 1.0 + level * random.uniform(-1, 1, values.size)
        return np.where(np.isfinite(values), values * factor, values)

    def pair(lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
        below = noisy(lower)
        above = np.where(lower == upper, below, noisy(upper))
        return np.minimum(below, above), np.maximum(below, above)

    make = sparse.csr_array if program.A.format == "csr" else sparse.csc_array
    A = make((noisy(program.A.data), program.A.indices, program.A.indptr), shape=program.A.shape)
    P = program.P
    if P is not None:
        scale = sparse.diags_array(1.0 + level * random.uniform(-1, 1, program.n_variables))
        P = (scale @ P @ scale).tocsc()
        P = ((P + P.T) * 0.5).tocsc()
    (l, u), (lb, ub) = pair(program.l, program.u), pair(program.lb, program.ub)
    return Program(P, noisy(program.q), A, l, u, lb, ub, program.r, sense=program.sense, assume_convex=True)
