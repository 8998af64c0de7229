"""Independent routes: other solvers, called directly on the original program, scaled by powers of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from tests.fuzz.draft import Array, Draft

from relift.program.cones import Exponential, Power, PowerND, SecondOrder

HUGE = 1e15
"""Bounds from here on are left out: a point that keeps away from them is as good without them."""


@dataclass(frozen=True)
class Found:
    """What a route says: ``optimal``, ``infeasible``, ``unbounded``, or nothing that can be used."""

    route: str
    status: str
    objective: float = float("nan")
    x: Array | None = None

    @property
    def is_decided(self) -> bool:
        return self.status in {"optimal", "infeasible", "unbounded"}


Route = Callable[[Draft], Found]


def routes_for(draft: Draft) -> list[Route]:
    """The routes for a program, the most reliable first; those whose package is missing are left out."""
    routes: list[Route] = (
        [highs_simplex, clarabel, piqp] if (draft.n + draft.m) % 2 else [clarabel, highs_simplex, piqp]
    )
    if draft.cones or draft.quadratic:
        routes = [clarabel, scs]
    elif draft.P is not None:
        routes = [clarabel, piqp, highs_simplex, scs]
    return [route for route in routes if route not in (piqp, scs) or find_spec(route.__name__) is not None]


@dataclass(frozen=True)
class _Scaled:
    """The minimisation with x = columns * x', rows multiplied by powers of two; without huge bounds."""

    P: Array
    q: Array
    A: Array
    l: Array
    u: Array
    lb: Array
    ub: Array
    columns: Array


def _scaled(draft: Draft) -> _Scaled:
    sign = -1.0 if draft.sense == "max" else 1.0
    P = np.zeros((draft.n, draft.n)) if draft.P is None else sign * draft.P
    q, A = sign * draft.q, draft.A
    rows, columns = np.ones(draft.m), np.ones(draft.n)
    for _ in range(3 if draft.is_linear else 1):
        rows = rows * _power_of_two(np.abs(A) * rows[:, None] * columns, 1)
        if draft.is_linear:
            columns = columns * _power_of_two(np.vstack([np.abs(A) * rows[:, None], np.abs(q)]) * columns, 0)
    l, u = _without_huge(draft.l), _without_huge(draft.u)
    lb, ub = _without_huge(draft.lb), _without_huge(draft.ub)
    return _Scaled(
        P * columns * columns[:, None], q * columns, A * rows[:, None] * columns, l * rows, u * rows,
        lb / columns, ub / columns, columns,
    )  # fmt: skip


def _power_of_two(sizes: Array, axis: int) -> Array:
    """What brings the geometric middle of the largest and the smallest entry to about one."""
    if sizes.size == 0:
        return np.ones(sizes.shape[1 - axis])
    largest = sizes.max(axis)
    smallest = np.where(sizes > 0, sizes, np.inf).min(axis)
    middle = np.where(largest > 0, np.sqrt(np.where(largest > 0, largest, 1.0) * np.where(largest > 0, smallest, 1)), 1)
    return np.asarray(2.0 ** -np.round(np.log2(middle)), dtype=np.float64)


def _without_huge(bound: Array) -> Array:
    return np.where(np.abs(bound) >= HUGE, np.copysign(np.inf, bound), bound)


def _found(draft: Draft, route: str, status: str, x: Any = None, columns: Any = 1.0) -> Found:
    if status != "optimal":
        return Found(route, status)
    point = np.asarray(x, dtype=float) * columns
    value = draft.q @ point + (0.0 if draft.P is None else 0.5 * point @ draft.P @ point)
    if not np.isfinite(value) or np.abs(point).max(initial=0.0) > 1e12:
        return Found(route, "undecided")
    return Found(route, "optimal", float(value), point)


def highs_simplex(draft: Draft) -> Found:
    """HiGHS without presolve: simplex for linear programs, active set for quadratic ones."""
    import highspy

    s = _scaled(draft)
    highs = highspy.Highs()
    for name, value in _HIGHS_OPTIONS.items():
        highs.setOptionValue(name, value)
    A = sparse.csc_matrix(s.A)
    n, m = draft.n, draft.m
    status = highs.passModel(
        n, m, A.nnz, 1, 1, 0.0, s.q.copy(), s.lb.copy(), s.ub.copy(), s.l.copy(), s.u.copy(),
        A.indptr, A.indices, A.data, np.zeros(n, dtype=np.int32),
    )  # fmt: skip
    if draft.P is not None:
        L = sparse.csc_matrix(np.tril(s.P))
        status = highs.passHessian(n, L.nnz, 1, L.indptr, L.indices, L.data)
    if status == highspy.HighsStatus.kError:  # to run it then would be a crash
        return Found("highs", "undecided")
    highs.run()
    said = {"kOptimal": "optimal", "kInfeasible": "infeasible", "kUnbounded": "unbounded"}
    word = said.get(str(highs.getModelStatus().name), "undecided")
    return _found(draft, "highs", word, highs.getSolution().col_value, s.columns)


_HIGHS_OPTIONS: dict[str, Any] = {
    "output_flag": False, "presolve": "off", "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10, "small_matrix_value": 1e-12, "threads": 1,
    "large_matrix_value": float("inf"),
    "simplex_iteration_limit": 10_000, "qp_iteration_limit": 10_000,
}  # fmt: skip


def _stacked(draft: Draft) -> tuple[_Scaled, Any, Array, int, int, list[int]]:
    """Rows Kx + s = b: equalities, inequalities, cones of quadratic rows, own cones."""
    s = _scaled(draft)
    eye = np.eye(draft.n)
    A, l, u = np.vstack([s.A, eye]), np.concatenate([s.l, s.lb]), np.concatenate([s.u, s.ub])
    equal, upper, lower = l == u, (l != u) & np.isfinite(u), (l != u) & np.isfinite(l)
    blocks, sides = [A[equal], A[upper], -A[lower]], [u[equal], u[upper], -l[lower]]
    sizes = []
    for P_k, q_k, r_k in draft.quadratic:
        values, vectors = np.linalg.eigh(P_k)
        F = (np.sqrt(np.maximum(values, 0.0)) * vectors).T[values > 1e-12 * max(1.0, values.max(initial=0.0))]
        # |Fx|^2 <= t with t = 2(r - q'x)  <=>  |(2Fx, t - 1)| <= t + 1
        blocks += [2 * q_k[None, :], -2 * F, 2 * q_k[None, :]]
        sides += [np.array([2 * r_k + 1]), np.zeros(len(F)), np.array([2 * r_k - 1])]
        sizes.append(len(F) + 2)
    for _, C, b in draft.cones:
        blocks.append(C)
        sides.append(b)
    n_inequalities = int(upper.sum() + lower.sum())
    return s, sparse.csc_matrix(np.vstack(blocks)), np.concatenate(sides), int(equal.sum()), n_inequalities, sizes


def clarabel(draft: Draft) -> Found:
    import clarabel

    s, K, b, n_equal, n_inequal, sizes = _stacked(draft)
    cones: list[Any] = [clarabel.ZeroConeT(n_equal)] if n_equal else []
    cones += [clarabel.NonnegativeConeT(n_inequal)] if n_inequal else []
    cones += [clarabel.SecondOrderConeT(size) for size in sizes]
    for cone, _, _ in draft.cones:
        if isinstance(cone, SecondOrder):
            cones.append(clarabel.SecondOrderConeT(cone.size))
        elif isinstance(cone, Exponential):
            cones.append(clarabel.ExponentialConeT())
        elif isinstance(cone, Power):
            cones.append(clarabel.PowerConeT(cone.alpha))
        elif isinstance(cone, PowerND):
            cones.append(clarabel.GenPowerConeT(list(cone.alphas), 1))
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.presolve_enable = False, 1, False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    try:
        found = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(s.P)), s.q, K, b, cones, settings).solve()
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # an assertion of its code in Rust
            raise
        return Found("clarabel", "undecided")
    said = {"Solved": "optimal", "PrimalInfeasible": "infeasible", "DualInfeasible": "unbounded"}
    return _found(draft, "clarabel", said.get(str(found.status), "undecided"), found.x, s.columns)


def scs(draft: Draft) -> Found:
    import scs

    s, K, b, n_equal, n_inequal, sizes = _stacked(draft)
    if any(isinstance(cone, PowerND) for cone, _, _ in draft.cones):
        return Found("scs", "undecided")
    own: dict[str, list[Any]] = {"q": [], "ep": [], "p": []}
    begin = n_equal + n_inequal + sum(sizes)
    rows: dict[str, list[int]] = {"q": [], "ep": [], "p": []}
    for cone, _, _ in draft.cones:
        name = "q" if isinstance(cone, SecondOrder) else "ep" if isinstance(cone, Exponential) else "p"
        own[name].append(cone.alpha if isinstance(cone, Power) else cone.n_rows)
        rows[name] += range(begin, begin + cone.n_rows)
        begin += cone.n_rows
    order = [*range(n_equal + n_inequal + sum(sizes)), *rows["q"], *rows["ep"], *rows["p"]]
    if not order:
        return Found("scs", "undecided")
    kinds = {"z": n_equal, "l": n_inequal, "q": sizes + own["q"], "ep": len(own["ep"]), "p": own["p"]}
    data = {"P": sparse.csc_matrix(np.triu(s.P)), "A": sparse.csc_matrix(K[order]), "b": b[order], "c": s.q}
    found = scs.SCS(data, kinds, verbose=False, eps_abs=1e-9, eps_rel=1e-9, eps_infeas=1e-9, max_iters=20000).solve()
    said = {scs.SOLVED: "optimal", scs.INFEASIBLE: "infeasible", scs.UNBOUNDED: "unbounded"}
    return _found(draft, "scs", said.get(int(found["info"]["status_val"]), "undecided"), found["x"], s.columns)


def piqp(draft: Draft) -> Found:
    import piqp

    s = _scaled(draft)
    equal = s.l == s.u
    fixed = s.lb == s.ub
    A = np.vstack([s.A[equal], np.eye(draft.n)[fixed]])
    solver = piqp.DenseSolver()
    solver.settings.eps_abs, solver.settings.eps_rel, solver.settings.max_iter = 1e-10, 1e-10, 500
    solver.setup(
        s.P, s.q, A, np.concatenate([s.l[equal], s.lb[fixed]]), s.A[~equal], s.l[~equal], s.u[~equal],
        np.where(fixed, -np.inf, s.lb), np.where(fixed, np.inf, s.ub),
    )  # fmt: skip
    status = str(solver.solve()).rsplit(".", 1)[-1]
    said = {"PIQP_SOLVED": "optimal", "PIQP_PRIMAL_INFEASIBLE": "infeasible", "PIQP_DUAL_INFEASIBLE": "unbounded"}
    return _found(draft, "piqp", said.get(status, "undecided"), solver.result.x, s.columns)
