"""Any solver that qpsolvers has installed, as ``qpsolvers:<name>``.

qpsolvers writes ``Gx <= h, Ax = b, lb <= x <= ub`` with ``Px + q + G'z + A'y + z_box = 0``, which fits the
signs of relift once ranges are split. It reports no rays, and a status only if the solver leaves one.
"""

from __future__ import annotations

import difflib
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, final

import numpy as np
from scipy import sparse

from relift.arrays import Matrix, SparseMatrix
from relift.errors import BackendError, OptionError
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.forms import (
    csc,
    infeasible,
    missing_package,
    option_refused,
    quadratic_part,
    unbounded,
    with_point,
)
from relift.solvers.osqp_library import load, load_quietly
from relift.solvers.pass_through import options_in_own_words, own_words, status_from_words

if TYPE_CHECKING:
    from qpsolvers import Problem
    from qpsolvers import Solution as QPSolution


@final
class QpsolversBackend(Backend):
    """A solver behind qpsolvers.

    Parameters
    ----------
    solver
        Its name there, for example ``"piqp"``; empty to ask for the version of qpsolvers only.
    """

    package = "qpsolvers"
    solves_quadratic = True
    uses_warm_start = True

    def __init__(self, solver: str) -> None:
        available = list(_qpsolvers().available_solvers)
        if solver and solver not in available:
            near = difflib.get_close_matches(solver.lower(), available, n=1)
            hint = f"Did you mean 'qpsolvers:{near[0]}'? " if near else ""
            raise OptionError(
                f"qpsolvers has no solver {solver!r} installed.", f"{hint}Installed: {', '.join(available)}."
            )
        self.solver = solver
        self.name = f"qpsolvers:{solver}"
        self.is_first_order = own_words(solver).is_first_order

    def version(self) -> str:
        """Return the version of qpsolvers."""
        return str(_qpsolvers().__version__)

    def solve_form(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        """Solve a minimisation."""
        qpsolvers = _qpsolvers()
        if self.solver == "osqp":
            load()
        options = options_in_own_words(self.name, self.solver, settings)
        rows = program.A.tocsr()
        is_equal = program.l == program.u
        equal = np.flatnonzero(is_equal)
        upper = np.flatnonzero(np.isfinite(program.u) & ~is_equal)
        lower = np.flatnonzero(np.isfinite(program.l) & ~is_equal)
        has_bounds = np.any(np.isfinite(program.lb)) or np.any(np.isfinite(program.ub))
        convert = csc if self.solver in qpsolvers.sparse_solvers else _dense
        problem = qpsolvers.Problem(
            convert(quadratic_part(program)),
            program.q.copy(),
            convert(sparse.vstack([rows[upper], -rows[lower]])) if upper.size + lower.size else None,
            np.concatenate([program.u[upper], -program.l[lower]]) if upper.size + lower.size else None,
            convert(rows[equal]) if equal.size else None,
            program.u[equal] if equal.size else None,
            program.lb.copy() if has_bounds else None,
            program.ub.copy() if has_bounds else None,
        )
        found = self._run(qpsolvers, problem, settings, options, warm_start)
        message = _own_status(found)
        if not found.found or found.x is None:
            match status_from_words(message):
                case Status.INFEASIBLE:
                    return infeasible(program, self.name, None, message=message)
                case Status.UNBOUNDED:
                    return unbounded(self.name, None, message=message)
                case status:
                    return Solution(status, backend=self.name, message=message)
        y, w = np.zeros(program.n_rows), np.zeros(program.n_variables)
        z = found.z if found.z is not None and np.size(found.z) else np.zeros(upper.size + lower.size)
        if equal.size and found.y is not None:
            y[equal] = found.y
        y[upper] += z[: upper.size]
        y[lower] -= z[upper.size :]
        if has_bounds and found.z_box is not None and np.size(found.z_box):
            w += found.z_box
        return with_point(program, self.name, Status.OPTIMAL, found.x, y, w, message=message)

    def _run(
        self,
        qpsolvers: ModuleType,
        problem: Problem,
        settings: SolverSettings,
        options: dict[str, object],
        warm_start: Solution | None,
    ) -> QPSolution:
        start = None if warm_start is None or warm_start.x is None else warm_start.x.copy()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found: QPSolution = qpsolvers.solve_problem(
                    problem, self.solver, initvals=start, verbose=bool(settings.verbose), **options
                )
                return found
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            if settings.options:
                raise option_refused(self.name, "options", dict(settings.options), error) from error
            raise BackendError(f"{self.name} stopped: {error}.") from error
        except Exception as error:
            if "unbounded below" in str(error):
                unbounded: QPSolution = qpsolvers.Solution(problem, extras={"status": "unbounded"}, found=False)
                return unbounded
            raise BackendError(f"{self.name} stopped: {error}.") from error


def _own_status(found: QPSolution) -> str:
    extras = found.extras or {}
    for source in (extras, extras.get("info")):
        for key in ("status", "model_status"):
            value = source.get(key) if isinstance(source, dict) else getattr(source, key, None)
            if value is not None:
                return str(getattr(value, "name", value))
    return "found" if found.found else "not found"


def _dense(matrix: SparseMatrix) -> Matrix:
    return np.asarray(matrix.toarray(), dtype=np.float64)


def _qpsolvers() -> ModuleType:
    load_quietly()  # qpsolvers imports OSQP
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import qpsolvers
    except ImportError as error:
        raise missing_package("qpsolvers", "qpsolvers", "backends") from error
    return qpsolvers
