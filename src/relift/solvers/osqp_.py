"""OSQP, an operator splitting method (ADMM) on ``l <= Gx <= u`` with the bounds of variables as rows of G.

A first-order method: fast iterations, slow convergence. Tolerances stop at 1e-9. Its polishing step is off: it
writes to standard output even when silent, and at these tolerances it changes little. Its limit of 4000
iterations is raised, since relift asks for more digits than OSQP's default 1e-3.
"""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.errors import BackendError
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.forms import (
    Facts,
    Stacked,
    check_option_names,
    csc,
    infeasible,
    option_refused,
    quadratic_part,
    unbounded,
    with_point,
)
from relift.solvers.kept import KeptSolver, has_same_structure
from relift.solvers.osqp_library import load, load_quietly

if TYPE_CHECKING:
    from osqp import OSQP

_STATUS = {
    "OSQP_SOLVED": Status.OPTIMAL,
    "OSQP_SOLVED_INACCURATE": Status.OPTIMAL_INACCURATE,
    "OSQP_PRIMAL_INFEASIBLE": Status.INFEASIBLE,
    "OSQP_DUAL_INFEASIBLE": Status.UNBOUNDED,
    "OSQP_MAX_ITER_REACHED": Status.ITERATION_LIMIT,
    "OSQP_TIME_LIMIT_REACHED": Status.TIME_LIMIT,
}

_LIMITS, _NO_LIMIT = ("max_iter", "time_limit"), 1e10
"""What a kept object is told anew each time, and what OSQP itself takes for no limit of time."""

LEAST_TOLERANCE = 1e-9
"""It is asked for no more digits than this."""

_ENOUGH = 4000
"""So many iterations a kept object may take in any case, before a fresh one is tried."""


class _Info(Protocol):
    status_val: int
    status: str
    iter: int


class _Results(Protocol):
    """What OSQP returns, as far as it is read."""

    x: ArrayLike
    y: ArrayLike
    prim_inf_cert: ArrayLike
    dual_inf_cert: ArrayLike
    info: _Info


@final
class OsqpBackend(Backend):
    """The backend that calls OSQP."""

    name = "osqp"
    package = "osqp"
    extra = "backends"
    solves_quadratic = True
    is_first_order = True
    leaves_idle_bounds_out = True
    uses_warm_start = True
    keeps_solver = True

    def module(self) -> ModuleType:
        """Import OSQP."""
        load_quietly()
        return super().module()

    def solve_form(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        """Solve a minimisation."""
        return self.solve_and_keep(program, settings, warm_start)[0]

    def harder(self, settings: SolverSettings, attempt: int) -> SolverSettings | None:
        """Smaller tolerances: they are absolute in part, and too large where all numbers of a program are small."""
        if attempt > 1:
            return None
        tight = dict.fromkeys(("eps_abs", "eps_rel"), LEAST_TOLERANCE)
        return dataclasses.replace(settings, options={**tight, **settings.options})

    def solve_and_keep(
        self, program: Program, settings: SolverSettings, warm_start: Solution | None
    ) -> tuple[Solution, KeptSolver | None]:
        """Solve a minimisation, and return the object that did."""
        osqp = self.module()
        load()
        solver = osqp.OSQP(algebra="builtin")
        stacked = Stacked.from_program(program)
        P = csc(sparse.triu(quadratic_part(program)))
        options = _options(solver, settings)
        try:
            solver.setup(P, program.q.copy(), stacked.G, stacked.l, stacked.u, **options)
            if warm_start is not None:
                solver.warm_start(x=warm_start.x, y=stacked.restrict(warm_start.y, warm_start.w))
            found = solver.solve(raise_error=False)
        except (TypeError, AssertionError) as error:
            raise option_refused(self.name, "options", dict(settings.options), error) from error
        except Exception as error:
            raise BackendError(f"OSQP stopped: {error or type(error).__name__}.") from error
        answer = _answer(osqp, program, stacked, found)
        return answer, _KeptOsqp(settings, answer.iterations, osqp, solver, P, stacked, program.q)


class _KeptOsqp(KeptSolver):
    """An object of OSQP, with what it holds; it starts from its last point, or from the one that it is given."""

    def __init__(
        self,
        settings: SolverSettings,
        iterations: int | None,
        osqp: ModuleType,
        solver: OSQP,
        P: SparseMatrix,
        stacked: Stacked,
        q: Vector,
    ) -> None:
        super().__init__(settings, iterations)
        self.osqp, self.solver, self.P, self.stacked, self.q = osqp, solver, P, stacked, q

    def solve_again(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution | None:
        """Update what has changed, and go on from the last point."""
        stacked, old = Stacked.from_program(program), self.stacked
        P = csc(sparse.triu(quadratic_part(program)))
        if not np.array_equal(stacked.bounded, old.bounded):
            return None
        if not has_same_structure(P, self.P) or not has_same_structure(stacked.G, old.G):
            return None
        self.solver.update_settings(**self._limits(settings))
        new = {"q": program.q, "l": stacked.l, "u": stacked.u, "Px": P.data, "Ax": stacked.G.data}
        held = {"q": self.q, "l": old.l, "u": old.u, "Px": self.P.data, "Ax": old.G.data}
        changed = {name: vector.copy() for name, vector in new.items() if not np.array_equal(vector, held[name])}
        if changed.keys() & {"l", "u"}:  # together: one alone could lie beyond the old other one
            changed |= {"l": stacked.l.copy(), "u": stacked.u.copy()}
        if changed:
            self.solver.update(**changed)
        self.P, self.stacked, self.q = P, stacked, program.q
        if warm_start is not None:
            self.solver.warm_start(x=warm_start.x, y=stacked.restrict(warm_start.y, warm_start.w))
        return _answer(self.osqp, program, stacked, self.solver.solve(raise_error=False))

    def _limits(self, settings: SolverSettings) -> dict[str, object]:
        """Limits of a solve again: where it is slow, a fresh object has the time that the user allows."""
        options = _options(self.solver, settings)
        limits = {"time_limit": _NO_LIMIT, **{name: options[name] for name in _LIMITS if name in options}}
        most = limits["max_iter"]
        if isinstance(most, int):
            limits["max_iter"] = min(most, max(_ENOUGH, 3 * self.iterations))
        return limits


def _answer(osqp: ModuleType, program: Program, stacked: Stacked, found: _Results) -> Solution:
    status = osqp.SolverStatus(found.info.status_val).name
    n = program.n_variables
    facts: Facts = {"iterations": int(found.info.iter), "message": str(found.info.status)}
    match _STATUS.get(status, Status.FAILURE):
        case Status.INFEASIBLE:
            return infeasible(program, "osqp", stacked.expand(found.prim_inf_cert, n), **facts)
        case Status.UNBOUNDED:
            return unbounded("osqp", found.dual_inf_cert, **facts)
        case answered:
            y, w = stacked.expand(found.y, n)
            return with_point(program, "osqp", answered, found.x, y, w, **facts)


def _options(solver: OSQP, settings: SolverSettings) -> dict[str, object]:
    tolerance = max(LEAST_TOLERANCE, min(1e-6, settings.tolerance * 1e-2))
    values: dict[str, object] = {
        "verbose": bool(settings.verbose),
        "eps_abs": tolerance,
        "eps_rel": tolerance,
        "eps_prim_inf": 1e-7,
        "eps_dual_inf": 1e-7,
        "max_iter": 200_000,
    }
    if settings.time_limit is not None:
        values["time_limit"] = float(settings.time_limit)
    if settings.iteration_limit is not None:
        values["max_iter"] = int(settings.iteration_limit)
    known = [name for name in vars(solver.ext.OSQPSettings) if not name.startswith("_")]
    check_option_names("osqp", settings.options, [*known, "solver_type", "cg_preconditioner"])
    return {**values, **settings.options}
