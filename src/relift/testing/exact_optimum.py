r"""The optimum of a small program as a rational number: what bounds are compared with, without any tolerance.

A float solution, however found, says which rows and bounds are active and which dual values are not zero. The
conditions of optimality are then linear equations,

.. math:: Px + A_D^\top \lambda = -q, \qquad a_i x = b_i \;\; (i \in W \supseteq D),

solved in rational arithmetic. If the solution keeps every row and bound *exactly*, and every dual value has its sign,
it is optimal, and the objective there is the optimum of the program whose numbers are the binary values of its floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from scipy import optimize, sparse

from relift.arrays import Vector
from relift.program.program import Program

THRESHOLDS = (1e-9, 1e-7, 1e-5)
"""How small a slack or dual value is taken for zero, relative to the sizes around it."""


@final
@dataclass(frozen=True)
class Optimum:
    """The optimum of a small program, in the sense of the program.

    Parameters
    ----------
    value
        The optimum; an infinity for infeasible and unbounded programs, NaN if it could not be found.
    exact
        The same as a rational number where optimality was verified in rational arithmetic; None elsewhere.
    """

    value: float
    exact: Fraction | None = None


def exact_optimum(program: Program) -> Optimum:
    """Return the optimum of a small linear or convex quadratic program, as a rational number where possible.

    Parameters
    ----------
    program
        A few dozen variables and rows at most.

    Examples
    --------
    >>> exact_optimum(Program(q=[1.0, 1.0], A=[[3.0, 1.0], [1.0, 3.0]], l=[1.0, 1.0], lb=0)).exact
    Fraction(1, 2)
    """
    minimisation = program.minimisation()
    scaled, rows = _equilibrated(minimisation)
    sign = 1 if program.sense == "min" else -1
    verdict = float("nan")
    for status, x, y in _float_solutions(scaled):
        if status in {"infeasible", "unbounded"}:
            verdict = np.inf if status == "infeasible" else -np.inf
            break
        exact = _verified(minimisation, x, y * rows)
        if exact is not None:
            return Optimum(sign * float(exact), sign * exact)
        if np.isnan(verdict):
            verdict = minimisation.objective(x)
    return Optimum(sign * verdict)


def _equilibrated(program: Program) -> tuple[Program, Vector]:
    """The program with rows divided by their largest entry, up to a power of two: no rounding."""
    largest = abs(program.A).max(axis=1).toarray().ravel() if program.n_rows else np.zeros(0)
    scale = np.exp2(-np.round(np.log2(np.where(largest > 0, largest, 1.0))))
    A = (sparse.diags_array(scale) @ program.A).tocsc()
    with np.errstate(invalid="ignore"):
        l, u = program.l * scale, program.u * scale
    return Program.trusted(program.P, program.q, A, l, u, program.lb, program.ub, program.r), scale


def _float_solutions(program: Program) -> Iterator[tuple[str, Vector, Vector]]:
    if program.is_linear:
        yield from _by_linprog(program)
    else:
        yield from _by_clarabel(program)


def _by_linprog(program: Program) -> Iterator[tuple[str, Vector, Vector]]:
    m = program.n_rows
    above, below = np.isfinite(program.u), np.isfinite(program.l)
    rows = sparse.vstack([program.A[above], -program.A[below]]) if m else None
    sides = np.concatenate([program.u[above], -program.l[below]])
    bounds = np.column_stack([program.lb, program.ub])
    size = float(np.abs(program.q).max(initial=0.0)) or 1.0
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for method, presolve in (("highs-ds", True), ("highs-ds", False), ("highs-ipm", True)):
        found = optimize.linprog(
            program.q / size, rows if sides.size else None, sides if sides.size else None, bounds=bounds,
            method=method, options={"presolve": presolve, **tight},
        )  # fmt: skip
        if found.status in {2, 3}:
            if presolve:
                continue
            yield ("infeasible" if found.status == 2 else "unbounded"), np.zeros(0), np.zeros(0)
            return
        if found.status == 0:
            y = np.zeros(m)
            if sides.size:
                of_above, of_below = np.split(-found.ineqlin.marginals * size, [int(above.sum())])
                y[above] += of_above
                y[below] -= of_below
            yield "optimal", found.x, y


def _by_clarabel(program: Program) -> Iterator[tuple[str, Vector, Vector]]:
    import clarabel

    n, m = program.n_variables, program.n_rows
    parts, sides = [], []
    eye = sparse.eye_array(n, format="csr")
    A = program.A.tocsr()
    masks = [np.isfinite(side) for side in (program.u, program.l, program.ub, program.lb)]
    for matrix, mask, side, sign in zip(
        (A, A, eye, eye), masks, (program.u, program.l, program.ub, program.lb), (1, -1, 1, -1), strict=True
    ):
        parts.append(sign * matrix[mask])
        sides.append(sign * side[mask])
    K = sparse.vstack(parts).tocsc()
    b = np.concatenate(sides)
    for tolerance in (1e-12, 1e-10):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.static_regularization_constant = 1e-12
        P = sparse.csc_matrix(sparse.triu(program.P))
        cones = [clarabel.NonnegativeConeT(b.size)] if b.size else []
        found = clarabel.DefaultSolver(P, program.q, sparse.csc_matrix(K), b, cones, settings).solve()
        status = str(found.status)
        if status == "PrimalInfeasible":
            yield "infeasible", np.zeros(0), np.zeros(0)
            return
        if status == "DualInfeasible":
            yield "unbounded", np.zeros(0), np.zeros(0)
            return
        z = np.asarray(found.z)
        y = np.zeros(m)
        ends = np.cumsum([int(mask.sum()) for mask in masks])
        y[masks[0]] += z[: ends[0]]
        y[masks[1]] -= z[ends[0] : ends[1]]
        if status == "Solved":
            yield "optimal", np.asarray(found.x), y


Rows: TypeAlias = list[list[Fraction]]
Active: TypeAlias = tuple[int, int, float, bool]
"""Row or -1, variable or -1, bound, and whether it has a dual value."""


def _verified(program: Program, x: Vector, y: Vector) -> Fraction | None:
    """The exact optimum, if the active set of a float solution is one."""
    n = program.n_variables
    A = [[Fraction(float(a)) for a in row] for row in program.A.toarray()]
    P = None if program.P is None else [[Fraction(float(a)) for a in row] for row in program.P.toarray()]
    q = [Fraction(float(a)) for a in program.q]
    Ax = program.A @ x
    gradient = program.q + program.A.T @ y + (0.0 if program.P is None else program.P @ x)
    sizes = np.abs(program.q) + abs(program.A).T @ np.abs(y)
    row_sizes = abs(program.A) @ np.abs(x)
    largest = float(np.abs(y * row_sizes).max(initial=0.0)) + float(np.abs(program.q * x).max(initial=0.0))
    for threshold in THRESHOLDS:
        active: list[Active] = []
        for i in range(program.n_rows):
            for bound, sign in ((program.l[i], -1), (program.u[i], 1)):
                is_tight = np.isfinite(bound) and abs(Ax[i] - bound) <= threshold * (row_sizes[i] + abs(bound))
                if is_tight:
                    pays = sign * y[i] > 0 and abs(y[i]) * (row_sizes[i] + abs(bound)) > threshold * largest
                    active.append((i, -1, float(bound), pays or program.l[i] == program.u[i]))
                    break
        for j in range(n):
            for bound, sign in ((program.lb[j], -1), (program.ub[j], 1)):
                room = threshold * (1e-3 * float(np.abs(x).max(initial=0.0)) + abs(x[j]) + abs(bound))
                if np.isfinite(bound) and abs(x[j] - bound) <= room:
                    pays = -sign * gradient[j] > threshold * sizes[j]
                    active.append((-1, j, float(bound), pays or program.lb[j] == program.ub[j]))
                    break
        found = _solved(A, P, q, active, x)
        if found is not None and _is_optimal(program, A, P, q, active, *found):
            at = found[0]
            value = sum((q[j] * at[j] for j in range(n)), Fraction(float(program.r)))
            if P is not None:
                value += sum((P[i][j] * at[i] * at[j] for i in range(n) for j in range(n)), Fraction(0)) / 2
            return value
    return None


def _solved(
    A: Rows, P: Rows | None, q: list[Fraction], active: list[Active], x: Vector
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Point and dual values of the equations; where they leave freedom, entries of the float point."""
    n = len(q)
    paying = [k for k, entry in enumerate(active) if entry[3]]
    width = n + len(paying)
    system: list[list[Fraction]] = []
    for i, j, bound, _ in active:
        row = A[i] if i >= 0 else [Fraction(int(k == j)) for k in range(n)]
        system.append([*row, *([Fraction(0)] * len(paying)), Fraction(bound)])
    for k in range(n):
        line = [Fraction(0)] * n if P is None else list(P[k])
        for entry in paying:
            i, j, _, _ = active[entry]
            line.append(A[i][k] if i >= 0 else Fraction(int(j == k)))
        system.append([*line, -q[k]])
    guess = [Fraction(float(v)).limit_denominator(10**6) for v in x] + [Fraction(0)] * len(paying)
    solution = _gauss(system, width, guess)
    if solution is None:
        return None
    duals = [Fraction(0)] * len(active)
    for position, entry in enumerate(paying):
        duals[entry] = solution[n + position]
    return solution[:n], duals


def _gauss(system: list[list[Fraction]], width: int, guess: list[Fraction]) -> list[Fraction] | None:
    """One solution of a rational system, unknowns without a pivot as guessed; None if it has no solution."""
    pivots: list[tuple[int, int]] = []
    row = 0
    for column in range(width):
        best = next((k for k in range(row, len(system)) if system[k][column]), None)
        if best is None:
            continue
        system[row], system[best] = system[best], system[row]
        head = system[row]
        inverse = 1 / head[column]
        head = system[row] = [value * inverse if value else value for value in head]
        for k in range(len(system)):
            factor = system[k][column]
            if k != row and factor:
                system[k] = [a - factor * b if b else a for a, b in zip(system[k], head, strict=True)]
        pivots.append((row, column))
        row += 1
    if any(line[width] for line in system[row:]):
        return None
    solution = list(guess)
    taken = {column for _, column in pivots}
    free = [column for column in range(width) if column not in taken]
    for k, column in pivots:
        line = system[k]
        solution[column] = line[width] - sum((line[f] * guess[f] for f in free if line[f]), Fraction(0))
    return solution


def _is_optimal(
    program: Program,
    A: Rows,
    P: Rows | None,
    q: list[Fraction],
    active: list[Active],
    x: list[Fraction],
    duals: list[Fraction],
) -> bool:
    """Whether point and dual values keep every condition of optimality, exactly."""
    n = len(q)
    for j in range(n):
        if x[j] < _limit(program.lb[j], -1) or x[j] > _limit(program.ub[j], 1):
            return False
    for i in range(program.n_rows):
        value = sum((a * b for a, b in zip(A[i], x, strict=True) if a), Fraction(0))
        if value < _limit(program.l[i], -1) or value > _limit(program.u[i], 1):
            return False
    rest = list(q)
    if P is not None:
        rest = [rest[i] + sum((P[i][j] * x[j] for j in range(n) if P[i][j]), Fraction(0)) for i in range(n)]
    for (i, j, bound, _), dual in zip(active, duals, strict=True):
        lower, upper = (program.l[i], program.u[i]) if i >= 0 else (program.lb[j], program.ub[j])
        if (dual > 0 and bound != upper) or (dual < 0 and bound != lower):
            return False
        for k in range(n):
            rest[k] += dual * (A[i][k] if i >= 0 else Fraction(int(k == j)))
    return not any(rest)


def _limit(bound: float, direction: int) -> Fraction | float:
    return direction * np.inf if np.isinf(bound) else Fraction(float(bound))
