"""Any solver that CVXPY has installed, as ``cvxpy:<NAME>``.

The rows are passed as equalities, upper and lower bounds; CVXPY's dual values are those of ``lhs - rhs``
for ``==`` and ``<=`` and of ``rhs - lhs`` for ``>=``, which are relift's up to the sign of the last. Cones, and
quadratic constraints as second-order cones, follow (:mod:`relift.solvers.cvxpy_cones`). Where CVXPY keeps the
dual values of an infeasible problem, they are the ray; there is none for unbounded problems. Power cones of many
arguments are passed as trees (:mod:`relift.solvers.power_trees`).
"""

from __future__ import annotations

import dataclasses
import difflib
import warnings
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, final

import numpy as np
from scipy import sparse

from relift.arrays import Vector
from relift.errors import BackendError, OptionError
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.clarabel_ import ClarabelBackend
from relift.solvers.cvxpy_cones import CvxpyCones
from relift.solvers.forms import (
    Facts,
    Stacked,
    csc,
    infeasible,
    is_proof,
    missing_package,
    option_refused,
    unbounded,
    with_point,
)
from relift.solvers.osqp_library import load, load_quietly
from relift.solvers.pass_through import options_in_own_words, own_words
from relift.solvers.second_order import SecondOrderCones

if TYPE_CHECKING:
    from cvxpy import Constraint, Problem

_STATUS = {
    "optimal": Status.OPTIMAL,
    "optimal_inaccurate": Status.OPTIMAL_INACCURATE,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
}


@final
class CvxpyBackend(Backend):
    """A solver behind CVXPY.

    Parameters
    ----------
    solver
        Its name there, for example ``"CLARABEL"``; empty to ask for the version of CVXPY only.
    """

    package = "cvxpy"
    solves_quadratic = True
    solves_quadratic_rows = True
    solves_cones = True

    def __init__(self, solver: str) -> None:
        available = [name for name in _cvxpy().installed_solvers() if name != "RELIFT"]
        if solver.upper() == "RELIFT":
            raise OptionError(
                "relift cannot be its own backend.", "Name the solver that the small problem is given to."
            )
        if solver and solver not in available:
            near = difflib.get_close_matches(solver.upper(), available, n=1)
            hint = f"Did you mean 'cvxpy:{near[0]}'? " if near else ""
            raise OptionError(f"CVXPY has no solver {solver!r} installed.", f"{hint}Installed: {', '.join(available)}.")
        self.solver = solver
        self.name = f"cvxpy:{solver}"
        self.is_first_order = own_words(solver).is_first_order

    def version(self) -> str:
        """Return the version of CVXPY."""
        return str(_cvxpy().__version__)

    def solve(self, program: Program, settings: SolverSettings, warm_start: Solution | None = None) -> Solution:
        """Solve a minimisation; cones without variables, which most solvers refuse, are given to Clarabel."""
        if program.n_variables == 0 and len(program.conic):
            return dataclasses.replace(ClarabelBackend().solve(program, _without_options(settings)), backend=self.name)
        return super().solve(program, settings, warm_start)

    def solve_form(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        """Solve a minimisation; a warm start is not passed on, as CVXPY's solvers start from runs of their own only."""
        cvxpy = _cvxpy()
        if self.solver == "OSQP":
            load()
        options = self._options(settings)
        stacked = Stacked.from_program(program)
        rows = stacked.G.tocsr()
        is_equal = stacked.l == stacked.u
        equal = np.flatnonzero(is_equal)
        upper = np.flatnonzero(np.isfinite(stacked.u) & ~is_equal)
        lower = np.flatnonzero(np.isfinite(stacked.l) & ~is_equal)
        x = cvxpy.Variable(program.n_variables)
        used: dict[
            str, Constraint
        ] = {}  # only what there is: older versions of CVXPY take no expressions without entries
        if equal.size:
            used["equal"] = csc(rows[equal]) @ x == stacked.u[equal]
        if upper.size:
            used["upper"] = csc(rows[upper]) @ x <= stacked.u[upper]
        if lower.size:
            used["lower"] = csc(rows[lower]) @ x >= stacked.l[lower]
        curved = SecondOrderCones.from_program(program)
        cones = CvxpyCones.from_rows(x, with_curved_rows(program, curved))
        objective = program.q @ x
        if program.P is not None:
            objective = objective + 0.5 * cvxpy.quad_form(x, cvxpy.psd_wrap(csc(program.P)))
        asked = [*used.values(), *cones.constraints]
        problem = cvxpy.Problem(cvxpy.Minimize(objective), asked or [cvxpy.Variable() >= 0])
        begin = perf_counter()
        failure = self._run(cvxpy, problem, settings, options)
        seconds = perf_counter() - begin
        status = str(problem.status)
        facts: Facts = {"message": failure or status}
        statistics = problem.solver_stats
        if statistics is not None and isinstance(statistics.num_iters, int):
            facts["iterations"] = statistics.num_iters
        if statistics is not None and statistics.extra_stats is not None:
            facts["statistics"] = {"extra_stats": statistics.extra_stats}
        answered = _STATUS.get(status, Status.FAILURE)
        limit = _limit_reached(settings, seconds, facts.get("iterations"))
        if status == "user_limit":
            answered = limit or Status.ITERATION_LIMIT  # of the solver's own, if not of the caller's
        elif limit is not None and (failure or answered is Status.OPTIMAL_INACCURATE):
            answered = limit
        y = w = z = v = None
        if all(constraint.dual_value is not None for constraint in used.values()) and cones.have_duals:
            duals = np.zeros(stacked.l.size)
            for key, at, sign in (("equal", equal, 1.0), ("upper", upper, 1.0), ("lower", lower, -1.0)):
                if key in used:
                    duals[at] += sign * np.asarray(used[key].dual_value, dtype=np.float64).ravel()
            y, w = stacked.expand(duals, program.n_variables)
            of_curved, v = np.split(cones.duals(), [curved.b.size])
            z = curved.expand(of_curved)
        if answered is Status.INFEASIBLE:
            ray = None if y is None or w is None else (y, w)
            return _if_proved(program, infeasible(program, self.name, ray, v, **facts), z)
        if answered is Status.UNBOUNDED:
            return unbounded(self.name, None, **facts)
        if failure or x.value is None:
            return Solution(Status.FAILURE if answered.has_point else answered, backend=self.name, **facts)
        answer = with_point(program, self.name, answered, x.value, y, w, **facts)
        return dataclasses.replace(answer, z=z, v=v) if answer.x is not None else answer

    def _options(self, settings: SolverSettings) -> dict[str, object]:
        """What the solver is told; HiGHS takes options in a dictionary of their own too, and none in both places."""
        options = options_in_own_words(self.name, self.solver, settings)
        apart = settings.options.get("highs_options")
        if self.solver == "HIGHS" and isinstance(apart, dict):
            options = {k: v for k, v in options.items() if k not in apart or k in settings.options}
        return options

    def _run(self, cvxpy: ModuleType, problem: Problem, settings: SolverSettings, options: dict[str, object]) -> str:
        """Solve; return the message if the solver failed, an empty text if not."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data, chain, inverse = problem.get_problem_data(self.solver, solver_opts=options)
                found = chain.solve_via_data(problem, data, False, bool(settings.verbose), options)
                problem.unpack_results(found, chain, inverse)
        except cvxpy.error.SolverError as error:
            return str(error)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            if settings.options:
                raise option_refused(self.name, "options", dict(settings.options), error) from error
            raise BackendError(f"{self.name} stopped: {error}.") from error
        except Exception as error:
            raise BackendError(f"{self.name} stopped: {error}.") from error
        return ""


def _limit_reached(settings: SolverSettings, seconds: float, iterations: int | None) -> Status | None:
    """Which limit of the caller may have ended a solve: CVXPY calls an answer cut short inaccurate like any other."""
    if settings.time_limit is not None and seconds >= 0.9 * settings.time_limit:
        return Status.TIME_LIMIT
    if settings.iteration_limit is not None and (iterations is None or iterations >= settings.iteration_limit):
        return Status.ITERATION_LIMIT
    return None


def _if_proved(program: Program, claim: Solution, ray_z: Vector | None) -> Solution:
    """A claim without its ray, if that proves nothing; with quadratic constraints only the certificate can tell."""
    y, w = claim.ray_y, claim.ray_w
    if y is None or w is None:
        return claim
    if len(program.quadratic):
        return dataclasses.replace(claim, ray_z=ray_z)
    if is_proof(program, y, w, 1e-6, claim.ray_v):
        return claim
    return dataclasses.replace(claim, ray_y=None, ray_w=None, ray_v=None)


def with_curved_rows(program: Program, curved: SecondOrderCones) -> ConicRows:
    """The cones that stand for quadratic constraints, then the cones of the program."""
    A = sparse.vstack([sparse.csr_array(curved.K), program.conic.A]).tocsr()
    cones = [*(SecondOrder(size) for size in curved.sizes), *program.conic.cones]
    return ConicRows.trusted(A, np.concatenate([curved.b, program.conic.b]), cones)


def _without_options(settings: SolverSettings) -> SolverSettings:
    return dataclasses.replace(settings, options={})


def _cvxpy() -> ModuleType:
    load_quietly()  # CVXPY imports OSQP
    try:
        import cvxpy
    except ImportError as error:
        raise missing_package("cvxpy", "cvxpy", "cvxpy") from error
    return cvxpy
