"""OSQP, an operator splitting method (ADMM) on ``l <= Gx <= u`` with the bounds of variables as rows of G.

A first-order method: fast iterations, slow convergence. Tolerances stop at 1e-9. Its polishing step is off: it
writes to standard output even when silent, and at these tolerances it changes little. Its limit of 4000
iterations is raised, since relift asks for more digits than OSQP's default 1e-3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from scipy import sparse

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


@final
class OsqpBackend(Backend):
    """The backend that calls OSQP."""

    name = "osqp"
    package = "osqp"
    extra = "backends"
    solves_quadratic = True
    is_first_order = True
    uses_warm_start = True

    def solve_form(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        """Solve a minimisation."""
        osqp = self.module()
        stacked = Stacked.from_program(program)
        P = csc(sparse.triu(quadratic_part(program)))
        solver = osqp.OSQP(algebra="builtin")
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
        status = osqp.SolverStatus(found.info.status_val).name
        n = program.n_variables
        facts: Facts = {"iterations": int(found.info.iter), "message": str(found.info.status)}
        match _STATUS.get(status, Status.FAILURE):
            case Status.INFEASIBLE:
                return infeasible(program, self.name, stacked.expand(found.prim_inf_cert, n), **facts)
            case Status.UNBOUNDED:
                return unbounded(self.name, found.dual_inf_cert, **facts)
            case answered:
                y, w = stacked.expand(found.y, n)
                return with_point(program, self.name, answered, found.x, y, w, **facts)


def _options(solver: OSQP, settings: SolverSettings) -> dict[str, object]:
    tolerance = max(1e-9, min(1e-6, settings.tolerance * 1e-2))
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
