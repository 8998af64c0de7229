"""PIQP, a proximal interior-point method.

Equal bounds become equality rows, those of fixed variables too, since its box wants an interior. It gives no
rays, takes no warm start and cannot be stopped by time: a time limit is refused, an iteration limit obeyed.
On infeasible programs its dual values often diverge until the iteration limit; where they do so along a ray
that proves infeasibility, that is the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
from scipy import sparse

from relift.errors import BackendError, OptionError
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.forms import (
    Facts,
    check_option_names,
    csc,
    direction_of_divergence,
    infeasible,
    option_refused,
    quadratic_part,
    ray_of_divergence,
    unbounded,
    with_point,
)

if TYPE_CHECKING:
    from piqp import Settings

_STATUS = {
    "PIQP_SOLVED": Status.OPTIMAL,
    "PIQP_PRIMAL_INFEASIBLE": Status.INFEASIBLE,
    "PIQP_DUAL_INFEASIBLE": Status.UNBOUNDED,
    "PIQP_MAX_ITER_REACHED": Status.ITERATION_LIMIT,
}


@final
class PiqpBackend(Backend):
    """The backend that calls PIQP."""

    name = "piqp"
    package = "piqp"
    extra = "backends"
    solves_quadratic = True
    has_time_limit = False

    def solve_form(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        """Solve a minimisation."""
        solver = self.module().SparseSolver()
        _set_options(solver.settings, settings)
        n = program.n_variables
        equal = np.flatnonzero(program.l == program.u)
        ranged = np.flatnonzero((program.l != program.u) & (np.isfinite(program.l) | np.isfinite(program.u)))
        fixed = np.flatnonzero(program.lb == program.ub)
        rows = program.A.tocsr()
        pins = sparse.csr_array((np.ones(fixed.size), (np.arange(fixed.size), fixed)), shape=(fixed.size, n))
        lb, ub = program.lb.copy(), program.ub.copy()
        lb[fixed], ub[fixed] = -np.inf, np.inf
        b = np.concatenate([program.l[equal], program.lb[fixed]])
        try:
            solver.setup(
                csc(quadratic_part(program)),
                program.q.copy(),
                csc(sparse.vstack([rows[equal], pins], format="csc")),
                b,
                csc(rows[ranged]),
                program.l[ranged],
                program.u[ranged],
                lb,
                ub,
            )
            status = solver.solve().name
        except Exception as error:
            raise BackendError(f"PIQP stopped: {error}.") from error
        found = solver.result
        facts: Facts = {"iterations": int(found.info.iter), "message": status}
        y, w = np.zeros(program.n_rows), np.asarray(found.z_bu) - np.asarray(found.z_bl)
        duals = np.asarray(found.y)
        y[equal], w[fixed] = duals[: equal.size], duals[equal.size :]
        y[ranged] = np.asarray(found.z_u) - np.asarray(found.z_l)
        match _STATUS.get(status, Status.FAILURE):
            case Status.INFEASIBLE:
                return infeasible(program, self.name, ray_of_divergence(program, y, w), **facts)
            case Status.UNBOUNDED:
                return unbounded(self.name, direction_of_divergence(program, found.x), **facts)
            case answered:
                ray = None if answered is Status.OPTIMAL else ray_of_divergence(program, y, w)
                if ray is not None:
                    return infeasible(program, self.name, ray, **facts)
                return with_point(program, self.name, answered, found.x, y, w, **facts)


def _set_options(own: Settings, settings: SolverSettings) -> None:
    if settings.time_limit is not None:
        raise OptionError(
            "piqp cannot be stopped by time.", "Remove time_limit, give iteration_limit, or use clarabel."
        )
    tolerance = max(1e-11, min(1e-8, settings.tolerance * 1e-3))
    values: dict[str, object] = {
        "verbose": bool(settings.verbose),
        "eps_abs": tolerance,
        "eps_rel": tolerance * 0.1,
        "eps_duality_gap_abs": tolerance,
        "eps_duality_gap_rel": tolerance * 0.1,
    }
    if settings.iteration_limit is not None:
        values["max_iter"] = int(settings.iteration_limit)
    check_option_names("piqp", settings.options, [name for name in dir(own) if not name.startswith("_")])
    for option, value in {**values, **settings.options}.items():
        try:
            setattr(own, option, value)
        except (TypeError, ValueError) as error:
            raise option_refused("piqp", option, value) from error
