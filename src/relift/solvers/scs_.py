"""SCS, an operator splitting method on the homogeneous embedding of ``Kx + s = b``, s in a cone.

A first-order method. Its certificates of infeasibility (y) and of unboundedness (x) are returned as rays.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy import sparse

from relift.errors import BackendError
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend, WarmStart
from relift.solvers.forms import (
    Conic,
    check_option_names,
    csc,
    infeasible,
    missing_package,
    option_refused,
    quadratic_part,
    solution_without_variables,
    unbounded,
    with_point,
)

_OPTIONS = (
    "acceleration_interval",
    "acceleration_lookback",
    "adaptive_scale",
    "alpha",
    "eps_abs",
    "eps_infeas",
    "eps_rel",
    "linear_solver",
    "log_csv_filename",
    "max_iters",
    "normalize",
    "rho_x",
    "scale",
    "time_limit_secs",
    "verbose",
    "write_data_filename",
)


@final
class ScsBackend(Backend):
    """SCS."""

    name = "scs"
    package = "scs"
    solves_quadratic = True
    is_first_order = True
    uses_warm_start = True

    def version(self) -> str:
        """Return the version of SCS."""
        return str(_scs().__version__)

    def solve(self, program: Program, settings: SolverSettings, warm_start: WarmStart | None = None) -> Solution:
        """Solve a minimisation."""
        answer = solution_without_variables(program, self.name)
        if answer is not None:
            return answer
        scs = _scs()
        conic = Conic.from_program(program)
        K, b, n_inequalities = conic.K, conic.b, conic.n_inequalities
        if b.size == 0:
            # SCS wants at least one row: 0 <= 1.
            K, b, n_inequalities = sparse.csc_matrix((1, program.n_variables)), np.ones(1), 1
        data = {"P": csc(sparse.triu(quadratic_part(program))), "A": K, "b": b, "c": program.q.copy()}
        cone = {"z": conic.n_equalities, "l": n_inequalities}
        try:
            solver = scs.SCS(data, cone, **_options(settings))
        except (TypeError, ValueError) as error:
            if settings.options:
                raise option_refused(self.name, "options", dict(settings.options), error) from error
            raise BackendError(f"SCS refuses the program: {error}.") from error
        start: dict[str, Any] = {}
        if warm_start is not None and warm_start.x is not None and conic.b.size:
            y = conic.joined(warm_start.y, warm_start.w)
            slack = b - K @ warm_start.x
            slack[: conic.n_equalities] = 0.0
            start = {"x": warm_start.x.copy(), "s": np.maximum(slack, 0.0)}
            start |= {} if y is None else {"y": y}
        try:
            found = solver.solve(warm_start=bool(start), **start)
        except (TypeError, ValueError, RuntimeError) as error:
            raise BackendError(f"SCS stopped: {error}.") from error
        return self._answer(scs, program, settings, conic, found)

    def _answer(self, scs: Any, program: Program, settings: SolverSettings, conic: Conic, found: Any) -> Solution:
        info, n = found["info"], program.n_variables
        code = int(info["status_val"])
        facts: dict[str, Any] = {"iterations": int(info["iter"]), "message": str(info["status"])}
        if code == scs.INFEASIBLE:
            return infeasible(program, self.name, conic.split(found["y"][: conic.b.size], n), **facts)
        if code == scs.UNBOUNDED:
            return unbounded(self.name, found["x"], **facts)
        status = Status.OPTIMAL if code == scs.SOLVED else Status.FAILURE
        if code in {scs.SOLVED_INACCURATE, scs.INFEASIBLE_INACCURATE, scs.UNBOUNDED_INACCURATE}:
            # SCS says "inaccurate" only when a limit ended it.
            by_time = "time_limit" in str(info["status"])
            status = Status.TIME_LIMIT if by_time else Status.ITERATION_LIMIT
        if code in {scs.INFEASIBLE_INACCURATE, scs.UNBOUNDED_INACCURATE}:
            return Solution(status, backend=self.name, **facts)
        y, w = conic.split(found["y"][: conic.b.size], n)
        return with_point(program, self.name, status, found["x"], y, w, **facts)


def _options(settings: SolverSettings) -> dict[str, Any]:
    tolerance = max(1e-9, min(1e-6, settings.tolerance * 1e-2))
    values: dict[str, Any] = {
        "verbose": bool(settings.verbose),
        "eps_abs": tolerance,
        "eps_rel": tolerance,
        "eps_infeas": 1e-8,
        "max_iters": 200_000,
    }
    if settings.time_limit is not None:
        values["time_limit_secs"] = float(settings.time_limit)
    if settings.iteration_limit is not None:
        values["max_iters"] = int(settings.iteration_limit)
    check_option_names("scs", settings.options, _OPTIONS)
    return {**values, **settings.options}


def _scs() -> Any:
    try:
        import scs
    except ImportError as error:
        raise missing_package("scs", "scs", "backends") from error
    return scs
