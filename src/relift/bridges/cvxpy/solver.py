"""``Lifted``: a conic solver of CVXPY that solves the lifted problem with any other solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from cvxpy import settings as words
from cvxpy.constraints.exponential import ExpCone
from cvxpy.constraints.power import PowCone3D, PowConeND
from cvxpy.constraints.psd import SvecPSD
from cvxpy.constraints.second_order import SOC
from cvxpy.error import SolverError
from cvxpy.reductions.solution import Solution as CvxpySolution
from cvxpy.reductions.solution import failure_solution
from cvxpy.reductions.solvers import utilities
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver
from cvxpy.utilities.psd_utils import TriangleKind

from relift.approximate.options import Approximation
from relift.bridges.cvxpy.compiled import Compiled, ConicData, duals_of
from relift.bridges.cvxpy.copies import compile_anew, forget_forms, is_of_other_variables
from relift.bridges.cvxpy.options import LiftedOptions
from relift.bridges.cvxpy.solve import Memory, Outcome, solve_compiled
from relift.program.solution import Status
from relift.settings import LiftMethod, Reading
from relift.symmetry.partition import Partition

NAME = "RELIFT"
"""What CVXPY calls the solver."""

_STATUS = {
    Status.OPTIMAL: words.OPTIMAL,
    Status.OPTIMAL_WITHIN_GAP: words.OPTIMAL,
    Status.OPTIMAL_INACCURATE: words.OPTIMAL_INACCURATE,
    Status.INFEASIBLE: words.INFEASIBLE,
    Status.UNBOUNDED: words.UNBOUNDED,
    Status.TIME_LIMIT: words.USER_LIMIT,
    Status.ITERATION_LIMIT: words.USER_LIMIT,
    Status.FAILURE: words.SOLVER_ERROR,
}
_UNPROVED = {Status.INFEASIBLE: words.INFEASIBLE_INACCURATE, Status.UNBOUNDED: words.UNBOUNDED_INACCURATE}


class Lifted(ConicSolver):
    """A solver for ``problem.solve(solver=relift.cvxpy.Lifted(...))``.

    The problem is compiled by CVXPY into a conic program with a quadratic objective, lifted, solved by the backend,
    expanded, and checked as compiled. Two instances with equal options are equal, so that CVXPY compiles a problem once
    for all of them. An instance keeps nothing between solves; what is re-used lies with the problem.

    Parameters
    ----------
    lift
        ``"equitable"``, ``"counting"``, ``"orbits"`` or ``"none"``; see :func:`relift.lift`.
    backend
        ``"auto"``, a backend of relift such as ``"clarabel"``, or any solver that CVXPY has installed, such as
        ``"SCS"``.
    values, digits, scale_rows, reduce, sizes, signs
        How numbers are compared; see :func:`relift.lift`.
    approximate
        Merge what is nearly equal and stop at a proved gap, as in :func:`relift.solve`: for problems without cones.
        ``extra_stats["gap"]`` says which was reached.
    tolerance
        The largest relative residual, on the problem as compiled, of an answer called optimal. None: 1e-6, or ten times
        what the backend is asked for by its own options, if that is looser.
    time_limit
        Seconds for lifting and solving together.
    iteration_limit, threads
        Told to the backend.
    recover
        Look for the quadratic constraints and geometric means that CVXPY has hidden in second-order cones.
    backend_options
        Handed to the backend by its own names.

    Notes
    -----
    Every option can also be a keyword of ``problem.solve``, for that solve alone; keywords that are none of these are
    passed to the backend.

    Examples
    --------
    >>> import cvxpy as cp
    >>> x = cp.Variable(50, nonneg=True)
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 5])
    >>> value = problem.solve(solver=Lifted())
    >>> problem.status, round(value, 6), x.value.round(6)[:2].tolist()
    ('optimal', 0.5, [0.1, 0.1])
    >>> report = problem.solver_stats.extra_stats
    >>> report["ground"]["variables"], report["small"]["variables"]
    (50, 1)
    >>> Lifted() == Lifted(lift="equitable"), hash(Lifted()) == hash(Lifted()), Lifted() == Lifted(lift="none")
    (True, True, False)
    """

    MIP_CAPABLE = False
    BOUNDED_VARIABLES = False
    REQUIRES_CONSTR = False
    SUPPORTED_CONSTRAINTS: Any = (*ConicSolver.SUPPORTED_CONSTRAINTS, SOC, ExpCone, PowCone3D, PowConeND, SvecPSD)
    # The forms of relift.program.cones, which are Clarabel's.
    EXP_CONE_ORDER: Any = (0, 1, 2)
    PSD_TRIANGLE_KIND: Any = TriangleKind.UPPER
    PSD_SQRT2_SCALING: Any = True

    def __init__(
        self,
        lift: LiftMethod = "equitable",
        backend: str = "auto",
        *,
        values: Reading = "decimal",
        digits: int | None = None,
        scale_rows: bool = True,
        reduce: bool = True,
        sizes: bool = True,
        signs: bool = True,
        approximate: Approximation | Partition | float | None = None,
        tolerance: float | None = None,
        time_limit: float | None = None,
        iteration_limit: int | None = None,
        threads: int | None = None,
        recover: bool = True,
        backend_options: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__()
        self.options = LiftedOptions(
            lift, values, digits, scale_rows, reduce, sizes, signs, backend, tolerance, time_limit, iteration_limit,
            threads, recover, approximate, backend_options or {},
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.options == other.options

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.options))

    def __repr__(self) -> str:
        default = LiftedOptions()
        changed = {name: value for name, value in vars(self.options).items() if value != getattr(default, name)}
        return f"Lifted({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def name(self) -> str:
        """The name by which CVXPY knows the solver."""
        return NAME

    def import_solver(self) -> None:
        """Nothing is to be imported: relift is here."""

    def supports_quad_obj(self) -> bool:
        """A quadratic objective is allowed with every cone."""
        return True

    def apply(self, problem: Any) -> tuple[Any, Any]:
        """CVXPY's own arrays of a compiled problem; deep copies of its variables stay usable.

        Parameters
        ----------
        problem
            A parametrised program of CVXPY.
        """
        forget_forms(problem)
        arrays: tuple[Any, Any] = super().apply(problem)
        return arrays

    def update_parameters(self, problem: Any) -> None:
        """Compile a deep copy of a problem anew; CVXPY calls this before it uses what it has compiled before.

        Parameters
        ----------
        problem
            The problem that is about to be solved.
        """
        if is_of_other_variables(problem._cache.param_prog):
            compile_anew(problem)

    def solve_via_data(
        self,
        data: ConicData,
        warm_start: bool,
        verbose: bool,
        solver_opts: dict[str, object],
        solver_cache: dict[str, object] | None = None,
    ) -> Outcome:
        """Lift, solve, expand and check what CVXPY has compiled.

        Parameters
        ----------
        data
            Arrays and cones.
        warm_start
            Start from the last answer for the same problem.
        verbose
            Tell what happens, and let the backend print its log.
        solver_opts
            Options for this solve alone.
        solver_cache
            Where the problem keeps what can be re-used.
        """
        options = self.options.with_solve_options(solver_opts)
        kept = None if solver_cache is None else solver_cache.get(self.name())
        memory = kept if isinstance(kept, Memory) else None
        outcome = solve_compiled(
            Compiled.from_data(data, None if memory is None else memory.layout, again=memory is not None),
            options,
            memory,
            warm_start=warm_start,
            verbose=verbose,
        )
        if solver_cache is not None:
            solver_cache[self.name()] = outcome.memory
        return outcome

    def invert(self, solution: Outcome, inverse_data: Mapping[str, Any]) -> CvxpySolution:
        """CVXPY's own form of an answer.

        Parameters
        ----------
        solution
            What :meth:`solve_via_data` returned.
        inverse_data
            What CVXPY needs to find its constraints again.

        Raises
        ------
        SolverError
            If there is no answer; with the reason.
        """
        outcome, answer = solution, solution.answer
        attributes = {
            words.SOLVE_TIME: outcome.solve_seconds,
            words.SETUP_TIME: outcome.lift_seconds,
            words.NUM_ITERS: answer.iterations,
            words.EXTRA_STATS: outcome.report,
        }
        status = _STATUS[answer.status]
        if answer.status is Status.FAILURE and outcome.claim in _UNPROVED:
            status = _UNPROVED[outcome.claim]
        if status == words.USER_LIMIT and answer.x is None:
            # CVXPY asks for a point with this status; where there is none, every value is NaN.
            nothing = np.full(outcome.compiled.program.n_variables, np.nan)
            return CvxpySolution(status, np.nan, {inverse_data[self.VAR_ID]: nothing}, {}, attributes)
        if status in words.ERROR or (status in words.SOLUTION_PRESENT and answer.x is None):
            raise SolverError(f"{self.name()} found no answer: {answer.message or answer.status}.")
        duals = self._dual_values(outcome, inverse_data)
        if status in words.SOLUTION_PRESENT and answer.x is not None:
            value = answer.objective + inverse_data[words.OFFSET]
            return CvxpySolution(status, value, {inverse_data[self.VAR_ID]: answer.x.copy()}, duals, attributes)
        failure = failure_solution(status, attributes)
        failure.dual_vars = duals
        return failure

    def _dual_values(self, outcome: Outcome, inverse_data: Mapping[str, Any]) -> dict[int, Any]:
        duals = duals_of(outcome.compiled, outcome.answer)
        if duals is None:
            return {}
        zero = inverse_data[ConicSolver.DIMS].zero
        read = utilities.extract_dual_value
        equalities = utilities.get_dual_values(duals[:zero], read, inverse_data[self.EQ_CONSTR])
        others = utilities.get_dual_values(duals[zero:], read, inverse_data[self.NEQ_CONSTR])
        return {**equalities, **others}

    def cite(self, data: ConicData) -> str:
        """Return a BibTeX entry for what the solver does.

        Parameters
        ----------
        data
            Not looked at.
        """
        return _CITATION


_CITATION = """@article{mladenov2016lifted,
  author = {Martin Mladenov and Leonard Kleinhans and Kristian Kersting},
  title = {Lifted Convex Quadratic Programming},
  note = {arXiv preprint},
  year = {2016}
}
"""
