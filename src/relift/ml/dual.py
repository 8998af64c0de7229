"""The dual of a support vector machine, solved up to a proved gap: by classes where they pay, then over the examples.

Up to a few thousand distinct examples, and wherever classes say too little, the dual is solved over the examples by
:mod:`relift.ml.dual_machine`. Many examples in few dimensions are first solved by classes
(:mod:`relift.ml.class_rounds`); what these leave open is closed over the examples, from where the classes ended. Linear
kernels that sequential minimal optimisation does not finish soon go to the interior point method of
:mod:`relift.ml.linear_dual`.

**Proof.** The gap compares both sides on all examples with the kernel itself, whatever was approximated before.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Codes, Double, Indices
from relift.ml.class_rounds import ClassAnswer, solve_classes
from relift.ml.dual_machine import NO_VIOLATION, REACHED, STEP_LIMIT, DualLimits, DualMachine, DualOutcome, machine_of
from relift.ml.dual_problem import DualAnswer, DualProblem, LiftOptions
from relift.ml.kernels import KernelSource, PointKernel
from relift.ml.landmarks import Landmarks
from relift.ml.linear_dual import linear_points, low_rank_features, solve_linear
from relift.ml.small_dual import balanced, best_bias, best_bias_of, gap_terms

CLASSES_FROM = 8_000
"""Distinct examples from which on classes are tried: solving over the examples grows with the square."""

FEATURES_LIMIT = 12
"""Features up to which they are tried: with more hardly any two examples are equal."""

SUPPORT_WORK = 2.5e8
"""Kernel values up to which the decision function is expanded in support vectors rather than landmarks."""

LINEAR_STEPS = 3
"""Steps for each example after which a linear kernel is passed to the interior point method."""

MANY_STEPS = 1000
"""The same for other kernels, if their matrix has low rank."""


def solve_lifted(problem: DualProblem, options: LiftOptions, machine: DualMachine | None = None) -> DualAnswer:
    """Solve the original dual up to the gap that is asked for, or up to the limits of the caller.

    Parameters
    ----------
    problem
        The dual.
    options
        How it is solved.
    machine
        A machine over the examples of the problem, if there is one already.

    Examples
    --------
    >>> from relift.ml.kernels import PointKernel
    >>> points = np.array([[0.0], [0.1], [2.0], [2.1]], dtype=np.float32)
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> problem = DualProblem(PointKernel(points, "linear", 1.0, 0.0, 3), y, np.minimum(y, 0), np.maximum(y, 0), points)
    >>> answer = solve_lifted(problem, LiftOptions(n_classes=1, tol_gap=1e-3))
    >>> answer.gap <= 1e-3, bool(abs(answer.beta.sum()) < 1e-12)
    (True, True)
    """
    if not (problem.lo < 0).any() or not (problem.hi > 0).any():
        return _nothing_to_solve(problem)
    start = _by_classes(problem, options) if uses_classes(problem, options) else None
    if isinstance(start, DualAnswer):
        return start
    return _over_examples(problem, options, start, machine)


def uses_classes(problem: DualProblem, options: LiftOptions) -> bool:
    """Whether classes are tried: asked for by the options, or many examples with few features."""
    return uses_classes_for(problem.source, len(problem.c), options)


def uses_classes_for(source: KernelSource, size: int, options: LiftOptions) -> bool:
    """The same for so many examples of a source."""
    if options.n_classes is not None or options.solver != "smo" or options.expansion == "landmarks":
        return True
    if size < CLASSES_FROM or options.lift_is_exact or getattr(source, "kernel", None) == "linear":
        return False
    points = getattr(source, "points", None)
    return isinstance(points, np.ndarray) and points.shape[1] <= FEATURES_LIMIT


def solve_one(machine: DualMachine, c: Double, lo: Double, hi: Double, limits: DualLimits) -> DualAnswer:
    """Solve over the examples of a machine, from zero."""
    begun, beta = perf_counter(), np.zeros(len(c))
    outcome, _ = machine.solve(c, lo, hi, 0.0, beta, c.copy(), limits)
    line = _line("examples", len(c), outcome.gap, perf_counter() - begun)
    return answer_of(outcome, beta, np.arange(len(c), dtype=np.int32), outcome.steps, [line])


def _nothing_to_solve(problem: DualProblem) -> DualAnswer:
    nothing = np.zeros(len(problem.c))
    bias = best_bias_of(problem.c, problem.lo, problem.hi, problem.epsilon)
    total = float(gap_terms(problem.c, bias, nothing, problem.lo, problem.hi, problem.epsilon).sum())
    labels = np.arange(len(nothing), dtype=np.int32)
    return DualAnswer(nothing, bias, 0.0 if total <= 0 else 1.0, 0.0, total, labels, 0)


# ---- by classes ----


def _by_classes(problem: DualProblem, options: LiftOptions) -> ClassAnswer | DualAnswer | None:
    """Where the classes end; an answer if their decision function in landmarks is proved already."""
    size = len(problem.c)
    if problem.places is None:
        problem = replace(problem, places=places_of(problem.source))
    given = problem if problem.epsilon == 0.0 else _twice(problem)
    found = solve_classes(given, options)
    if found is None:
        return None
    support = np.flatnonzero(found.beta)
    work = float(len(support)) * size
    wants_landmarks = options.expansion == "landmarks" or (options.expansion == "auto" and work > SUPPORT_WORK)
    if wants_landmarks and found.landmarks is not None and found.coefficients is not None and found.v is not None:
        answer = _proof_by_landmarks(given, found, found.landmarks, found.coefficients, found.v)
        if answer.gap <= options.tol_gap:
            return answer if given is problem else _folded(answer, size)
    if given is not problem:
        found.beta = found.beta[:size] + found.beta[size:]
        found.labels = np.unique(found.labels[:size], return_inverse=True)[1].astype(np.int32)
    return found


def places_of(source: KernelSource) -> NDArray[np.float32] | None:
    """Dense points, moved and scaled into the range of single precision; None if the source has no such points."""
    points = getattr(source, "points", None)
    if not isinstance(points, np.ndarray):
        return None
    if points.dtype == np.float32:
        return points
    middle = points.mean(axis=0)
    scale = float(np.abs(points - middle).max(initial=0.0)) or 1.0
    return np.ascontiguousarray((points - middle) / scale, dtype=np.float32)


def _twice(problem: DualProblem) -> DualProblem:
    """Every example twice, once for each sign of beta: then epsilon is part of the linear term."""
    both = np.concatenate([np.arange(len(problem.c))] * 2)
    nothing = np.zeros(len(problem.c))
    return DualProblem(
        problem.source.subset(both),
        np.concatenate([problem.c - problem.epsilon, problem.c + problem.epsilon]),
        np.concatenate([nothing, problem.lo]),
        np.concatenate([problem.hi, nothing]),
        None if problem.places is None else np.ascontiguousarray(problem.places[both]),
    )


def _folded(answer: DualAnswer, size: int) -> DualAnswer:
    answer.beta = answer.beta[:size] + answer.beta[size:]
    answer.labels = np.unique(answer.labels[:size], return_inverse=True)[1].astype(np.int32)
    if answer.landmarks is not None:
        answer.landmarks = answer.landmarks % size
    return answer


def _proof_by_landmarks(
    problem: DualProblem, found: ClassAnswer, landmarks: Landmarks, a: Double, v: Double
) -> DualAnswer:
    """Primal value of the combination of landmarks, dual value of beta, both with the true kernel."""
    beta = balanced(found.beta)
    support: Indices = np.flatnonzero(beta)
    bias = best_bias(v, problem.lo, problem.hi)
    push = v - bias
    # Coefficients of landmarks are large and cancel: their few kernel values are computed in double precision.
    K = _precise(problem.source, landmarks.index)
    primal = 0.5 * float(a @ (K @ a)) + float(np.maximum(problem.hi * push, problem.lo * push).sum())
    square = float(beta[support] @ problem.source.sums(support, support, beta[support]))
    dual = float(problem.c @ beta) - 0.5 * square
    gap = (primal - dual) / max(abs(dual), 1e-12)
    seconds = found.rounds[-1]["seconds"] if found.rounds else 0.0
    line = _line("proof", int(found.labels.max()) + 1, gap, seconds)
    return DualAnswer(
        beta, bias, gap, dual, primal, found.labels, found.iterations, landmarks.index, a, [*found.rounds, line]
    )


def _precise(source: KernelSource, index: Indices) -> Double:
    if isinstance(source, PointKernel):
        source, index = PointKernel(source.points[index].astype(np.float64), *source.parameters), np.arange(len(index))
    return source.block(index, index)


# ---- over the examples ----


def _over_examples(
    problem: DualProblem, options: LiftOptions, start: ClassAnswer | None, machine: DualMachine | None
) -> DualAnswer:
    begun, size = perf_counter(), len(problem.c)
    rounds = [] if start is None else start.rounds
    labels = np.arange(size, dtype=np.int32) if start is None else start.labels
    beta = np.zeros(size) if start is None else balanced(start.beta)
    limits = options.limits()
    if start is not None:
        # Members of a class share their beta: moving them one by one to where slopes agree would undo the lifting.
        limits = DualLimits(limits.tol_gap, np.inf, limits.floor, limits.max_steps, limits.max_seconds)
    before = beta.copy()
    solver = machine_of(problem.source, options.cache_bytes) if machine is None else machine
    first = _with_steps(limits, first_steps(problem.source, size))
    v = problem.c.copy() if start is None else None
    outcome, _ = solver.solve(problem.c, problem.lo, problem.hi, problem.epsilon, beta, v, first)
    steps = outcome.steps
    if outcome.status == STEP_LIMIT and _is_unlimited(limits, steps):
        found = _by_interior_points(problem, limits, solver)
        if found is not None and found.gap < outcome.gap:
            line = _line("interior point", size, found.gap, perf_counter() - begun)
            found.labels, found.rounds = np.arange(size, dtype=np.int32), [*rounds, line]
            found.iterations += steps
            if found.gap <= limits.tol_gap:
                return found
            beta = found.beta
        outcome, _ = solver.solve(problem.c, problem.lo, problem.hi, problem.epsilon, beta, None, limits)
        steps += outcome.steps
    if start is not None:
        labels = _own_classes(labels, beta != before)
    seconds = perf_counter() - begun + (rounds[-1]["seconds"] if rounds else 0.0)
    rounds = [*rounds, _line("examples", int(labels.max()) + 1, outcome.gap, seconds)]
    iterations = steps + (0 if start is None else start.iterations)
    return answer_of(outcome, beta, labels, iterations, rounds)


def first_steps(source: KernelSource, size: int) -> int:
    """Steps after which it is time to try the interior point method."""
    if getattr(source, "kernel", None) == "linear":
        return LINEAR_STEPS * size + 2000
    return MANY_STEPS * size + 100_000


def _by_interior_points(problem: DualProblem, limits: DualLimits, machine: DualMachine) -> DualAnswer | None:
    """The dual in as many features as the kernel has rank; None if these are too many."""
    points = linear_points(problem.source)
    if points is not None:
        return solve_linear(points, problem, limits)
    features = low_rank_features(problem.source)
    if features is None:
        return None
    # The features leave a little of the kernel, and the machine that is at hand says what the point is worth with it.
    found = solve_linear(features, problem, replace(limits, tol_gap=0.01 * limits.tol_gap))
    if found is None:
        return None
    nothing = replace(limits, max_steps=0)
    outcome, _ = machine.solve(problem.c, problem.lo, problem.hi, problem.epsilon, found.beta, None, nothing)
    return answer_of(outcome, found.beta, found.labels, found.iterations, [])


def answer_of(
    outcome: DualOutcome, beta: Double, labels: Codes, iterations: int, rounds: list[dict[str, Any]]
) -> DualAnswer:
    """The outcome of a machine as an answer."""
    return DualAnswer(
        beta, outcome.bias, outcome.gap, outcome.dual_value, outcome.dual_value + outcome.total, labels, iterations,
        rounds=rounds, scale=outcome.scale, is_limited=outcome.status not in (REACHED, NO_VIOLATION),
    )  # fmt: skip


def answer_over_examples(outcome: DualOutcome, labels: Codes, seconds: float) -> DualAnswer:
    """The outcome of one of many machines; the caller has the point, and beta is left empty."""
    line = _line("examples", len(labels), outcome.gap, seconds)
    return answer_of(outcome, np.empty(0), labels, outcome.steps, [line])


def _with_steps(limits: DualLimits, steps: int) -> DualLimits:
    most = steps if limits.max_steps < 0 else min(steps, limits.max_steps)
    return DualLimits(limits.tol_gap, limits.enough, limits.floor, most, limits.max_seconds)


def _is_unlimited(limits: DualLimits, steps: int) -> bool:
    return limits.max_steps < 0 or steps < limits.max_steps


def _own_classes(labels: Codes, is_own: NDArray[np.bool_]) -> Codes:
    """Examples that moved by themselves leave their classes."""
    if not is_own.any():
        return labels
    labels = labels.copy()
    labels[is_own] = int(labels.max()) + 1 + np.arange(int(is_own.sum()), dtype=np.int32)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _line(stage: str, n_classes: int, gap: float, seconds: float) -> dict[str, Any]:
    return {"stage": stage, "classes": n_classes, "gap": gap, "proved": True, "seconds": seconds}
