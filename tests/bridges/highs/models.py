"""Random models in ``highspy.Highs`` objects, and what an answer must satisfy in HiGHS's signs."""

from __future__ import annotations

from typing import Any, Literal

import highspy
import numpy as np
from scipy import sparse

from relift import Program
from relift.testing.random_programs import symmetric_program


def highs_of(program: Program, *, row_wise: bool = False, integers: Any = None) -> Any:
    """A silent ``highspy.Highs`` with the model."""
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    n, m = program.n_variables, program.n_rows
    A = sparse.csr_array(program.A) if row_wise else sparse.csc_array(program.A)
    kinds = np.zeros(n, dtype=np.int32) if integers is None else np.asarray(integers, dtype=np.int32)
    sense = 1 if program.sense == "min" else -1
    h.passModel(
        n, m, A.nnz, 2 if row_wise else 1, sense, program.r, program.q.copy(), program.lb.copy(), program.ub.copy(),
        program.l.copy(), program.u.copy(), A.indptr, A.indices, A.data, kinds,
    )  # fmt: skip
    if program.P is not None:
        lower = sparse.csc_array(sparse.tril(program.P))
        h.passHessian(n, lower.nnz, 1, lower.indptr, lower.indices, lower.data)
    return h


def random_model(seed: int) -> Program:
    """A small model of any kind: of both senses, with ranges, free rows, fixed, free and boxed variables.

    Some are infeasible, some unbounded. The data are generic, so that an optimum and its dual values are mostly unique.
    """
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 7)), int(random.integers(0, 6))
    A = np.where(random.random((m, n)) < 0.7, random.standard_normal((m, n)).round(3), 0.0)
    point = random.standard_normal(n).round(3)
    width = random.random((4, max(n, m, 1))).round(3) + 0.01
    kind = random.integers(0, 6, m)
    activity = A @ point + (random.standard_normal(m) * 5 if random.random() < 0.2 else 0)
    l = np.where((kind == 1) | (kind == 5), -np.inf, np.where(kind == 3, activity, activity - width[0, :m]))
    u = np.where((kind == 2) | (kind == 5), np.inf, np.where(kind == 3, activity, activity + width[1, :m]))
    bound = random.integers(0, 6, n)
    lb = np.where((bound == 0) | (bound == 1), -np.inf, np.where(bound == 5, point, point - width[2, :n]))
    ub = np.where((bound == 0) | (bound == 2), np.inf, np.where(bound == 5, point, point + width[3, :n]))
    sense: Literal["min", "max"] = "max" if random.random() < 0.5 else "min"
    P = None
    if random.random() < 0.4:
        factor = random.standard_normal((n, n)).round(3)
        P = (factor.T @ factor).round(6) + np.eye(n) * 0.5
        P = (P + P.T) / 2 * (-1 if sense == "max" else 1)
    q = random.standard_normal(n).round(3)
    offset = float(random.choice([0.0, -2.5]))
    A = sparse.csc_array(A)
    return Program(None if P is None else sparse.csc_array(P), q, A, l, u, lb, ub, offset, sense=sense)


def repeated_model(seed: int) -> Program:
    """A feasible, bounded model with symmetry, of both senses."""
    random = np.random.default_rng(seed)
    quadratic = bool(random.random() < 0.4)
    program = symmetric_program(seed, quadratic=quadratic, scaled_rows=bool(seed % 2), disguised=bool(seed % 3 == 0))
    if random.random() < 0.5:
        return program.program
    minimised = program.program
    P = None if minimised.P is None else -minimised.P
    return Program(P, -minimised.q, minimised.A, minimised.l, minimised.u, minimised.lb, minimised.ub, sense="max")


def kkt_residual(program: Program, solution: Any) -> float:
    """The worst residual of a ``HighsSolution``: rows, bounds, stationarity, complementarity, in HiGHS's signs."""
    x, activity = np.array(solution.col_value), np.array(solution.row_value)
    row_dual, col_dual = np.array(solution.row_dual), np.array(solution.col_dual)
    gradient = program.q + (0 if program.P is None else program.P @ x)
    parts = [
        np.abs(program.A @ x - activity),
        np.abs(gradient - program.A.T @ row_dual - col_dual),
        *_sides(activity, program.l, program.u, row_dual, program.sense),
        *_sides(x, program.lb, program.ub, col_dual, program.sense),
    ]
    size = 1 + max(float(np.max(np.abs(part), initial=0)) for part in (x, row_dual, col_dual, gradient))
    return max(float(np.max(part, initial=0)) for part in parts) / size


def _sides(value: Any, lower: Any, upper: Any, dual: Any, sense: str) -> list[Any]:
    """How far a value leaves its range, and how much dual value presses on a side that it does not touch.

    Minimising, a positive dual value belongs to the lower side; maximising, to the upper side.
    """
    pressing = dual if sense == "min" else -dual
    on_lower, on_upper = np.maximum(pressing, 0), np.maximum(-pressing, 0)
    gap_lower = np.where(np.isfinite(lower), value - np.where(np.isfinite(lower), lower, 0), np.inf)
    gap_upper = np.where(np.isfinite(upper), np.where(np.isfinite(upper), upper, 0) - value, np.inf)
    return [
        np.maximum(-gap_lower, 0),
        np.maximum(-gap_upper, 0),
        np.minimum(on_lower, np.abs(gap_lower)),
        np.minimum(on_upper, np.abs(gap_upper)),
    ]


def has_unique_duals(program: Program, x: Any) -> bool:
    """Whether the gradients of the rows and bounds that the point touches are linearly independent."""
    activity = program.A @ x
    touches = (activity - program.l <= 1e-6) | (program.u - activity <= 1e-6)
    at_bound = (x - program.lb <= 1e-6) | (program.ub - x <= 1e-6)
    gradients = np.vstack([program.A.toarray()[touches], np.eye(x.size)[at_bound]])
    return bool(np.linalg.matrix_rank(gradients, tol=1e-6) == len(gradients))
