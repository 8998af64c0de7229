"""SCS, an operator splitting method on the homogeneous embedding of ``Kx + s = b``, s in a cone.

A first-order method. Its certificates of infeasibility (y) and of unboundedness (x) are returned as rays. Cones stand
in SCS's order of kinds; semidefinite ones as the lower triangle column by column, and power cones of more than two
arguments are taken apart (:mod:`~relift.solvers.power_trees`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, Vector
from relift.errors import BackendError
from relift.program.cones import Exponential, Power, SecondOrder, Semidefinite
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.forms import (
    Conic,
    Facts,
    check_option_names,
    csc,
    infeasible,
    option_refused,
    triangle_of_P,
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
    """The backend that calls SCS."""

    name = "scs"
    package = "scs"
    extra = "backends"
    solves_quadratic = True
    solves_cones = True
    is_first_order = True
    uses_warm_start = True

    def solve_form(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        """Solve a minimisation."""
        scs = self.module()
        conic = Conic.from_program(program)
        K, b, n_inequalities = conic.K, conic.b, conic.n_inequalities
        own = _OwnCones.of(program.conic)
        if len(program.conic):
            K = csc(sparse.vstack([K, program.conic.A[own.order]]))
            b = np.concatenate([b, program.conic.b[own.order]])
        if b.size == 0:
            # SCS wants at least one row: 0 <= 1.
            K, b, n_inequalities = sparse.csc_matrix((1, program.n_variables)), np.ones(1), 1
        data = {"P": triangle_of_P(program, upper=True), "A": K, "b": b, "c": program.q.copy()}
        cone = {"z": conic.n_equalities, "l": n_inequalities, **own.sizes}
        try:
            solver = scs.SCS(data, cone, **_options(settings))
        except (TypeError, ValueError) as error:
            if settings.options:
                raise option_refused(self.name, "options", dict(settings.options), error) from error
            raise BackendError(f"SCS refuses the program: {error}.") from error
        start: dict[str, Vector] = {}
        if warm_start is not None and warm_start.x is not None and b.size == conic.b.size + program.conic.n_rows:
            y, v = conic.restrict(warm_start.y, warm_start.w), warm_start.v
            slack = b - K @ warm_start.x
            slack[: conic.n_equalities] = 0.0
            slack[: conic.b.size] = np.maximum(slack[: conic.b.size], 0.0)
            start = {"x": warm_start.x.copy(), "s": slack}
            if y is not None and (v is not None or len(program.conic) == 0):
                start["y"] = np.concatenate([y, np.zeros(0) if v is None else v[own.order]])
        try:
            found = solver.solve(warm_start=bool(start), **start)
        except (TypeError, ValueError, RuntimeError) as error:
            raise BackendError(f"SCS stopped: {error}.") from error
        return self._answer(scs, program, conic, own, found)

    def _answer(
        self, scs: ModuleType, program: Program, conic: Conic, own: _OwnCones, found: Mapping[str, Any]
    ) -> Solution:
        duals = np.asarray(found["y"], dtype=np.float64)
        y, w = conic.expand(duals[: conic.b.size], program.n_variables)
        v = own.in_given_order(duals[conic.b.size :]) if len(program.conic) else np.zeros(0)
        info = found["info"]
        code = int(info["status_val"])
        facts: Facts = {"iterations": int(info["iter"]), "message": str(info["status"])}
        if code == scs.INFEASIBLE:
            return infeasible(program, self.name, (y, w), v, **facts)
        if code == scs.UNBOUNDED:
            return unbounded(self.name, found["x"], **facts)
        status = Status.OPTIMAL if code == scs.SOLVED else Status.FAILURE
        if code in {scs.SOLVED_INACCURATE, scs.INFEASIBLE_INACCURATE, scs.UNBOUNDED_INACCURATE}:
            # SCS says "inaccurate" only when a limit ended it.
            by_time = "time_limit" in str(info["status"])
            status = Status.TIME_LIMIT if by_time else Status.ITERATION_LIMIT
        if code in {scs.INFEASIBLE_INACCURATE, scs.UNBOUNDED_INACCURATE}:
            return Solution(status, backend=self.name, **facts)
        return replace(with_point(program, self.name, status, found["x"], y, w, **facts), v=v)


@dataclass(frozen=True, eq=False)
class _OwnCones:
    """The cones as SCS counts them, and the order of conic rows that it wants."""

    sizes: dict[str, list[int] | list[float] | int]
    order: Indices

    @classmethod
    def of(cls, rows: ConicRows) -> _OwnCones:
        kinds: tuple[type, ...] = (SecondOrder, Semidefinite, Exponential, Power)
        spans: dict[type, list[Indices]] = {kind: [] for kind in kinds}
        for start, cone in zip(rows.starts.tolist(), rows.cones, strict=True):
            span = start + np.arange(cone.n_rows)
            spans[type(cone)].append(span[_by_columns(cone.n)] if isinstance(cone, Semidefinite) else span)
        listed = [span for kind in kinds for span in spans[kind]]
        sizes: dict[str, list[int] | list[float] | int] = {
            "q": [cone.size for cone in rows.cones if isinstance(cone, SecondOrder)],
            "s": [cone.n for cone in rows.cones if isinstance(cone, Semidefinite)],
            "ep": len(spans[Exponential]),
            "p": [cone.alpha for cone in rows.cones if isinstance(cone, Power)],
        }
        order = np.concatenate(listed) if listed else np.zeros(0, np.int64)
        return cls({name: size for name, size in sizes.items() if size}, order)

    def in_given_order(self, duals: Vector) -> Vector:
        v = np.empty_like(duals)
        v[self.order] = duals
        return v


def _by_columns(n: int) -> Indices:
    """Where the lower triangle, column by column, stands in the lower triangle row by row."""
    i, j = np.tril_indices(n)
    return np.lexsort((i, j))


def _options(settings: SolverSettings) -> dict[str, object]:
    tolerance = max(1e-9, min(1e-6, settings.tolerance * 1e-2))
    values: dict[str, object] = {
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
