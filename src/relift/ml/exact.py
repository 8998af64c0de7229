r"""Exact lifting of the dual of a support vector machine: the counting partition of the labelled kernel.

Examples that no multiset of kernel values tells apart, given their bounds and targets, can share their dual variable:
the counting partition of K is equitable, so averaging over its classes keeps feasibility and does not worsen the
objective (Theorem 1 of [1]_). Duplicates are merged before; what is found here are symmetries of the set of examples.

Kernel values are compared after rounding to ten significant digits, so that equal distances computed in different order
are equal. The gap of the answer is proved on the ground dual, independent of that.

.. [1] Mladenov, Kleinhans, Kersting: Lifted Convex Quadratic Programming, 2016.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Double
from relift.ml.dual import solve_lifted
from relift.ml.dual_machine import STEP_LIMIT, machine_of_matrix
from relift.ml.dual_problem import DualAnswer, DualProblem, LiftOptions, class_totals
from relift.ml.small_dual import balanced, best_bias_of, gap_terms, solve_small
from relift.symmetry.colour_refinement import colour_refinement
from relift.symmetry.partition import Partition

KERNEL_LIMIT = 3000
"""Examples up to which the kernel matrix is formed to look for symmetry beyond duplicates."""

DIGITS = 10


def solve_exact(problem: DualProblem, options: LiftOptions) -> DualAnswer:
    """Solve the ground dual by the classes of its labelled kernel, to the tolerance of the small solver.

    Examples
    --------
    Four corners of a square, labelled by their first coordinate: mirror images share a class.

    >>> from relift.ml.kernels import FunctionKernel, dense_function
    >>> corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> source = FunctionKernel(corners, dense_function("rbf", 1.0, 0.0, 3))
    >>> answer = solve_exact(DualProblem(source, y, np.minimum(y, 0), np.maximum(y, 0), None), LiftOptions())
    >>> answer.labels.tolist(), answer.gap < 1e-6
    ([0, 0, 1, 1], True)
    """
    size = len(problem.c)
    if size > KERNEL_LIMIT:
        # Every example its own class.
        return solve_lifted(problem, options)
    everything = np.arange(size)
    K = problem.source.block(everything, everything)
    K = 0.5 * (K + K.T)
    labels = _classes(K, problem)
    n_classes = int(labels.max()) + 1 if size else 0
    counts = np.bincount(labels, minlength=n_classes).astype(np.float64)
    rows = np.zeros((n_classes, size))
    np.add.at(rows, labels, K)
    small = np.zeros((n_classes, n_classes))
    np.add.at(small, labels, rows.T)
    means = (small / counts).T / counts
    lo, hi = class_totals(labels, problem.lo, n_classes), class_totals(labels, problem.hi, n_classes)
    c = np.bincount(labels, problem.c) / counts
    means = np.ascontiguousarray(0.5 * (means + means.T))
    if options.solver == "smo":
        found, limits = np.zeros(n_classes), options.limits()
        if getattr(problem.source, "kernel", None) == "linear":
            limits = replace(limits, max_steps=min(limits.max_steps % 2**62, 100 * n_classes + 20_000))
        outcome, _ = machine_of_matrix(means, None).solve(c, lo, hi, problem.epsilon, found, None, limits)
        steps = outcome.steps
        if outcome.status == STEP_LIMIT and steps != options.max_steps:
            return solve_lifted(problem, options)
    else:
        if problem.epsilon:
            raise ValueError(
                f"solver={options.solver!r} cannot be combined with lift='exact' in regression; use 'smo'."
            )
        found, steps = solve_small(
            means, c, lo, hi, np.zeros(n_classes), options.solver, options.tolerance, options.seed
        )
    beta = balanced((found / counts)[labels])
    v = problem.c - K @ beta
    bias = best_bias_of(v, problem.lo, problem.hi, problem.epsilon)
    terms = gap_terms(v, bias, beta, problem.lo, problem.hi, problem.epsilon)
    total = max(0.0, float(terms.sum()))
    dual = 0.5 * float(beta @ (problem.c + v)) - problem.epsilon * float(np.abs(beta).sum())
    gap = total / max(abs(dual), 1e-12)
    line = {"stage": "exact", "classes": n_classes, "gap": gap, "proved": True, "seconds": 0.0}
    return DualAnswer(beta, bias, gap, dual, dual + total, labels.astype(np.int32), steps, rounds=[line])


def _classes(K: Double, problem: DualProblem) -> NDArray[np.int64]:
    """The counting partition; every example alone if its kernel matrix is not stable under it."""
    size = len(K)
    if size == 0:
        return np.zeros(0, dtype=np.int64)
    scale = max(float(np.abs(K).max()), 1e-300)
    rounded = np.round(K / scale, DIGITS) + 0.0
    columns = np.stack([problem.c, problem.lo, problem.hi], axis=1)
    colours = np.unique(np.round(columns / max(float(np.abs(columns).max()), 1e-300), 12), axis=0, return_inverse=True)[
        1
    ]
    found = colour_refinement(rounded, colours=colours.ravel(), mode="counting", values="bits")
    assert isinstance(found, Partition)  # K is square
    labels = np.asarray(found.labels)
    n_classes = int(labels.max()) + 1
    if n_classes == size:
        return np.arange(size)
    # Equitable on the true values? Sums into classes, weighted at random, must agree inside each class.
    weights = np.random.default_rng(1).uniform(1.0, 2.0, n_classes)
    sums = K @ weights[labels]
    first = np.full(n_classes, -1, dtype=np.int64)
    first[labels[::-1]] = np.arange(size - 1, -1, -1)
    is_stable = np.abs(sums - sums[first][labels]).max() <= 1e-8 * scale * size
    return labels if is_stable else np.arange(size)
