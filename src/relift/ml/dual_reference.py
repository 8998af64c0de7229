"""The solver of :mod:`relift.ml.dual_machine`, slow and obvious: for the tests, and where there is no compiler."""

from __future__ import annotations

from time import process_time
from typing import final

import numpy as np

from relift.arrays import Double
from relift.ml.kernels import KernelSource
from relift.ml.small_dual import best_bias_of, gap_terms

CHECK_EVERY = 64


@final
class ReferenceMachine:
    """Sequential minimal optimisation on the whole kernel matrix.

    Parameters
    ----------
    source
        The kernel; its matrix is computed at once.
    """

    def __init__(self, source: KernelSource) -> None:
        everything = np.arange(source.size)
        K = source.block(everything, everything)
        self.K = 0.5 * (K + K.T)

    def solve(
        self,
        c: Double,
        lo: Double,
        hi: Double,
        epsilon: float,
        beta: Double,
        v: Double,
        is_v_given: bool,
        tol_gap: float,
        enough: float,
        floor: float,
        most_steps: int,
        most_seconds: float,
    ) -> tuple[int, int, int, float, float, float, float, float, float]:
        """As ``solve_dual`` of the compiled part."""
        K, diagonal, start = self.K, np.diagonal(self.K), process_time()
        if not is_v_given:
            v[:] = c - K @ beta
        taken = 0
        while True:
            up = v + np.where(beta < 0, epsilon, np.where(beta < hi, -epsilon, -np.inf))
            down = v + np.where(beta > 0, -epsilon, np.where(beta > lo, epsilon, np.inf))
            i = int(np.argmax(up))
            is_open = np.isfinite(up[i]) and np.isfinite(down.min())
            violation = max(0.0, float(up[i] - down.min())) if is_open else 0.0
            is_late = process_time() - start > most_seconds
            if violation <= floor or taken >= most_steps or taken % CHECK_EVERY == 0 or is_late:
                value = float(0.5 * beta @ (c + v) - epsilon * np.abs(beta).sum())
                bias = best_bias_of(v, lo, hi, epsilon)
                total = max(0.0, float(gap_terms(v, bias, beta, lo, hi, epsilon).sum()))
                gap = total / max(abs(value), 1e-12)
                is_reached = gap <= tol_gap and violation <= enough
                if is_reached or violation <= floor or taken >= most_steps or is_late:
                    status = 0 if is_reached else 1 if violation <= floor else 2 if taken >= most_steps else 3
                    return status, taken, K.size, gap, bias, value, total, violation, 1.0
            difference = up[i] - down
            curvature = np.maximum(diagonal + diagonal[i] - 2 * K[i], 1e-12)
            j = int(np.argmax(np.where(difference > 0, difference**2 / curvature, -1.0)))
            end_i = 0.0 if beta[i] < 0 < epsilon else hi[i]
            end_j = 0.0 if beta[j] > 0 and epsilon > 0 else lo[j]
            moved = min(difference[j] / curvature[j], end_i - beta[i], beta[j] - end_j)
            beta[i] = end_i if moved == end_i - beta[i] else beta[i] + moved
            beta[j] = end_j if moved == beta[j] - end_j else beta[j] - moved
            v -= moved * (K[i] - K[j])
            taken += 1
