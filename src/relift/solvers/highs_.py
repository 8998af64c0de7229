"""HiGHS by highspy: simplex for linear programs (their default backend), active set for quadratic ones.

Where simplex is slow, interior point runs beside it, or takes turns with it where there is one thread only
(:mod:`~relift.solvers.highs_race`).

HiGHS writes stationarity as ``Px + q - A'row_dual - col_dual = 0``, so both dual values change sign here.
Rays come from simplex without presolve only, hence a second run when a linear program turns out infeasible, or
unbounded without a ray.

Its regularisation of QPs can hold a point that would run off to infinity, and it then says optimal; such an answer
is recognised and called unbounded.

It also calls some points optimal that are far from stationary; their status becomes ``optimal_inaccurate``.

Its active-set QP method is exact but can take very long (on some programs of a thousand variables it does not end
in minutes), and on badly scaled ones it cycles; so does interior point on some bounds of 1e30. Unless an
``iteration_limit`` is given both end as a failure, after :func:`qp_iterations` and :data:`IPM_ITERATIONS`. Active
sets look at the clock between iterations only, the first of which factorises a dense matrix of the size of the
null space. Clarabel is the default for QPs.

On a few QPs it crashes, so it runs in another process (:mod:`~relift.solvers.separate_process`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, final

import numpy as np
from scipy import sparse

from relift.arrays import Vector
from relift.errors import BackendError
from relift.program.magnitudes import transposed_product
from relift.program.passes import are_finite, extremes
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.forms import (
    Facts,
    check_option_names,
    csc,
    direction_of_divergence,
    farkas_value,
    infeasible,
    is_proof,
    missing_package,
    option_refused,
    triangle_of_P,
    unbounded,
    with_point,
)
from relift.solvers.highs_race import NOBODY, head_start, may_run_both, run_both, works_together
from relift.solvers.highs_rounds import Highs, TakesBasis, TimedInterrupt, first_budget, run_in_rounds
from relift.solvers.kept import KeptSolver, has_same_structure, with_time_left
from relift.solvers.separate_process import StoppedError, call_apart
from relift.solvers.short_factors import clarabel_beside

if TYPE_CHECKING:
    from highspy import HighsBasisStatus
    from highspy.cb import HighsCallbackInput

SMALL_ENTRY, LARGE_BOUND = 1e-9, 1e20
"""Unless told otherwise HiGHS drops coefficients up to the one, and takes bounds from the other on for infinite."""

LARGE_ENTRY = 1e200
"""Larger coefficients HiGHS is told to refuse: from 1e300 on it crashes. By default it refuses those from 1e15 on."""

NO_BOUND = 1e31
"""Bounds from here on are infinite for HiGHS, which crashes on some of 1e36; other units make such of smaller ones."""

IPM_ITERATIONS = 1000
"""After so many iterations interior point has failed: it takes some dozens."""

_LIMITS = ("simplex_iteration_limit", "ipm_iteration_limit", "pdlp_iteration_limit", "qp_iteration_limit")

_NOT_KEPT = {"solver", "run_crossover", "time_limit"}
"""Options of the user with which an object is not kept: it would not go on by simplex, or not for as long as it may."""

_COUNTS = ("simplex_iteration_count", "ipm_iteration_count", "qp_iteration_count", "pdlp_iteration_count")

_WITHOUT_SOLUTION = {"kInfeasible", "kUnbounded", "kUnboundedOrInfeasible"}

GRACE = 2.0
"""Seconds beyond the time limit after which active sets, which look at the clock between iterations, are stopped."""

_ENOUGH = 1000
"""So many iterations a kept object may take in any case, before a fresh one is tried."""

MODEL_STATUSES = {
    "kOptimal": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kTimeLimit": Status.TIME_LIMIT,
    "kIterationLimit": Status.ITERATION_LIMIT,
    "kInterrupt": Status.TIME_LIMIT,
}
"""What the model status of HiGHS means; all others are failures."""


@final
class HighsBackend(Backend):
    """The backend that calls HiGHS."""

    name = "highs"
    package = "highspy"
    solves_quadratic = True
    uses_warm_start = True
    keeps_solver = True

    def version(self) -> str:
        """Return the version of HiGHS."""
        return str(_highs().version())

    def solve_form(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        """Solve a minimisation; infeasible and unbounded are told apart, with a ray for linear programs."""
        return self.solve_and_keep(program, settings, warm_start)[0]

    def solve_and_keep(
        self, program: Program, settings: SolverSettings, warm_start: Solution | None
    ) -> tuple[Solution, KeptSolver | None]:
        """Solve a minimisation, and return the object if it holds an optimal basis."""
        start = perf_counter()
        if not program.is_linear:
            return self._quadratic(program, settings, start), None
        highs, status, is_simplex = _linear(program, settings, warm_start, self.may_ask_others)
        if isinstance(highs, Solution):
            return highs, None
        answer = self._answer(highs, status, program, settings, start)
        has_basis = is_simplex and status == "kOptimal"
        if not has_basis or settings.threads is not None or _NOT_KEPT & set(settings.options):
            return answer, None
        return answer, _KeptHighs(settings, answer.iterations, highs, program)

    def _answer(self, highs: Highs, status: str, program: Program, settings: SolverSettings, start: float) -> Solution:
        """What a run has found; where it says that there is no solution, a second one has the ray."""
        if status in _WITHOUT_SOLUTION:
            return _with_ray(highs, program, status, with_time_left(settings, start))
        answer = _unless_given_up(solution_of(highs, program, self.name, status), status, settings)
        if answer.status in {Status.FAILURE, Status.OPTIMAL_INACCURATE}:
            return _infeasible_if_proved(highs, program, answer)
        return answer

    def _quadratic(self, program: Program, settings: SolverSettings, start: float) -> Solution:
        """Solve a QP by active sets, in a process of its own."""
        if program.n_rows == 0:
            return self._quadratic_without_rows(program, settings)
        limit, there = settings.time_limit, dataclasses.replace(settings, interrupt=None)
        try:
            status, answer = call_apart(
                "HiGHS", solve_quadratic, program, there,
                seconds=None if limit is None else limit + GRACE, interrupt=settings.interrupt, prints=settings.verbose,
            )  # fmt: skip
        except StoppedError:
            return Solution(Status.TIME_LIMIT, backend=self.name, message="stopped between two looks at the clock")
        if status in _WITHOUT_SOLUTION - {"kUnbounded"}:
            # Feasibility does not depend on the objective: a linear program decides and gives the ray.
            return self._quadratic_without_solution(program, with_time_left(settings, start), status)
        return _unless_far_from_stationary(program, _unless_given_up(answer, status, settings), settings.tolerance)

    def _quadratic_without_rows(self, program: Program, settings: SolverSettings) -> Solution:
        """Solve with a row that says nothing: without one, the active-set method is wrong six times as often."""
        n = program.n_variables
        free = (sparse.csc_array((1, n)), np.full(1, -np.inf), np.full(1, np.inf))
        answer = self.solve(Program.trusted(program.P, program.q, *free, program.lb, program.ub, program.r), settings)
        return dataclasses.replace(answer, y=None if answer.y is None else np.zeros(0), ray_y=None, ray_w=None)

    def _quadratic_without_solution(self, program: Program, settings: SolverSettings, status: str) -> Solution:
        feasibility = _feasibility_program(program)
        linear_options = {key: value for key, value in settings.options.items() if key not in {"solver"}}
        found = self.solve(feasibility, dataclasses.replace(settings, options=linear_options))
        if found.status is Status.OPTIMAL:
            if status == "kInfeasible":
                return Solution(Status.FAILURE, backend=self.name, message="kInfeasible, yet a feasible point exists")
            return unbounded(self.name, None, iterations=found.iterations, message=status)
        return dataclasses.replace(found, message=f"{status}; {found.message}")

    def harder(self, settings: SolverSettings, attempt: int) -> SolverSettings | None:
        """Tighter tolerances without presolve and HiGHS's own regularisation of QPs; then interior point."""
        tight = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
        steps: tuple[dict[str, object], ...] = (
            {**tight, "presolve": "off", "qp_regularization_value": 1e-7},
            {**tight, "solver": "ipm", "run_crossover": "on", "ipm_optimality_tolerance": 1e-11},
        )
        if not 1 <= attempt <= len(steps):
            return None
        return dataclasses.replace(settings, options={**steps[attempt - 1], **settings.options})


def _linear(
    program: Program, settings: SolverSettings, warm_start: Solution | None, may_ask_others: bool
) -> tuple[Highs | Solution, str, bool]:
    """Run one method or both: the object that has the answer, its status, and whether it has the basis of simplex.

    In the place of the object, the answer of another solver.
    """

    def load_with(other: SolverSettings) -> Highs:
        return load(program, other)

    def start_from(highs: Highs) -> None:
        if warm_start is not None and warm_start.x is not None:
            set_basis(highs, program, warm_start)

    has_choice = "solver" not in settings.options and settings.iteration_limit is None
    n_entries = _n_entries(program)
    if has_choice and may_run_both(settings, n_entries) and _callback_kinds() is not None:
        together = works_together(settings)
        other = clarabel_beside(program) if may_ask_others and not settings.options else NOBODY
        head = head_start(n_entries, together=together)
        return run_both(load_with, run, settings, start_from, head, together, other)
    timed = None if settings.interrupt is None else TimedInterrupt(settings.interrupt)
    if timed is not None:
        settings = dataclasses.replace(settings, interrupt=timed)
    simplex = load(program, settings)
    start_from(simplex)
    if not has_choice:
        return simplex, run(simplex), True
    budget = first_budget(n_entries)
    highs, status = run_in_rounds(
        load_with, run, settings, budget, simplex, elsewhere=lambda: 0.0 if timed is None else timed.seconds
    )
    return highs, status, highs is simplex


def _n_entries(program: Program) -> int:
    return int(program.n_variables + program.n_rows + program.A.nnz)


def solve_quadratic(program: Program, settings: SolverSettings) -> tuple[str, Solution]:
    """Solve a QP here: the model status of HiGHS, and the point that it holds.

    Parameters
    ----------
    program
        A minimisation with rows.
    settings
        Without an interrupt.
    """
    highs = load(program, settings)
    status = run(highs)
    return status, solution_of(highs, program, HighsBackend.name, status)


def _unless_given_up(answer: Solution, status: str, settings: SolverSettings) -> Solution:
    """A failure where the limit of iterations was ours, and not the caller's."""
    if status != "kIterationLimit" or _has_own_limit(settings):
        return answer
    said = f"{status}: no answer after {answer.iterations:,} iterations"
    return dataclasses.replace(answer, status=Status.FAILURE, message=said)


def qp_iterations(program: Program) -> int:
    """After how many iterations the active-set method has failed: far more than it takes where it does not cycle."""
    return 100_000 + 200 * (program.n_variables + program.n_rows)


def _has_own_limit(settings: SolverSettings) -> bool:
    return settings.iteration_limit is not None or any(name in settings.options for name in _LIMITS)


def _unless_far_from_stationary(program: Program, answer: Solution, tolerance: float) -> Solution:
    """Take back the word optimal where it is plainly wrong: about one in a hundred small QPs is (HiGHS 1.15)."""
    if answer.status is not Status.OPTIMAL or answer.x is None or answer.y is None or answer.w is None:
        return answer
    curvature = np.zeros_like(answer.x) if program.P is None else program.P @ answer.x
    parts = (curvature, program.q, transposed_product(program.A, answer.y), answer.w)
    residual = np.max(np.abs(sum(parts))) / (1.0 + max(float(np.max(np.abs(part))) for part in parts))
    if residual <= tolerance:
        return answer
    message = f"{answer.message}, yet the gradient is {residual:.2g} relative"
    return dataclasses.replace(answer, status=Status.OPTIMAL_INACCURATE, message=message)


def load(program: Program, settings: SolverSettings) -> Highs:
    """Make a fresh HiGHS object that holds the program and the settings."""
    highspy = _highspy()
    highs: Highs = highspy.Highs()
    highs.setOptionValue("output_flag", bool(settings.verbose))
    _set_options(highs, program, settings)
    n = program.n_variables
    try:
        status = _pass_linear(highs, program)
        if status != highspy.HighsStatus.kError and program.P is not None:
            L = triangle_of_P(program, upper=False)
            status = highs.passHessian(n, L.nnz, 1, L.indptr, L.indices, L.data)
    except (TypeError, ValueError, RuntimeError) as error:
        raise BackendError(f"HiGHS refuses the program: {error}.") from error
    if status == highspy.HighsStatus.kError:
        raise BackendError("HiGHS refuses the program.", "Pass verbose=True to read why.")
    if settings.interrupt is not None:
        _ask_between_iterations(highs, settings.interrupt)
    return highs


def _pass_linear(highs: Highs, program: Program) -> object:
    A, n, m = csc(program.A), program.n_variables, program.n_rows
    return highs.passModel(
        n, m, A.nnz, 1, 1, program.r, program.q.copy(), program.lb.copy(), program.ub.copy(),
        program.l.copy(), program.u.copy(), A.indptr, A.indices, A.data, np.zeros(n, dtype=np.int32),
    )  # fmt: skip


class _KeptHighs(KeptSolver):
    """A HiGHS object with an optimal basis of a linear program, from which simplex goes on."""

    def __init__(self, settings: SolverSettings, iterations: int | None, highs: Highs, program: Program) -> None:
        super().__init__(settings, iterations)
        self.highs, self.program = highs, program
        self.options: dict[str, object] | None = None

    def solve_again(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution | None:
        """Put the numbers into the object, and run simplex from the last basis, for no longer than it is worth."""
        old, highs = self.program, self.highs
        if not program.is_linear or not has_same_structure(program.A, old.A):
            return None
        without_limit = dataclasses.replace(settings, time_limit=None)
        if self.options is None:
            self.options = _option_values(old, without_limit)
        if _option_values(program, without_limit) != self.options:
            return None
        budget = first_budget(_n_entries(program))
        highs.setOptionValue("time_limit", highs.getRunTime() + min(budget, settings.time_limit or budget))
        if "simplex_iteration_limit" not in settings.options:
            highs.setOptionValue("simplex_iteration_limit", max(_ENOUGH, 3 * self.iterations))
        if program.A.data is old.A.data or np.array_equal(program.A.data, old.A.data):
            said = self._put_vectors(program)
        else:
            basis = highs.getBasis()
            said = [_pass_linear(highs, program), highs.setBasis(basis)]
        if _highspy().HighsStatus.kError in said:
            return None
        self.program = program
        return solution_of(highs, program, HighsBackend.name, run(highs))

    def _put_vectors(self, program: Program) -> list[object]:
        """Change what has changed; what HiGHS says to each."""
        said: list[object] = []
        old, n, m = self.program, program.n_variables, program.n_rows
        columns, rows = np.arange(n, dtype=np.int32), np.arange(m, dtype=np.int32)
        if not np.array_equal(program.q, old.q):
            said.append(self.highs.changeColsCost(n, columns, program.q.copy()))
        if not (np.array_equal(program.lb, old.lb) and np.array_equal(program.ub, old.ub)):
            said.append(self.highs.changeColsBounds(n, columns, program.lb.copy(), program.ub.copy()))
        if m and not (np.array_equal(program.l, old.l) and np.array_equal(program.u, old.u)):
            said.append(self.highs.changeRowsBounds(m, rows, program.l.copy(), program.u.copy()))
        if program.r != old.r:
            said.append(self.highs.changeObjectiveOffset(program.r))
        return said


def _ask_between_iterations(highs: Highs, interrupt: Callable[[], bool]) -> None:
    """End the run when ``interrupt`` says so; versions of highspy without these callbacks run to the end."""

    # Not by highs.cbSimplexInterrupt, which takes as long as an iteration of a small program.
    def ask(kind: object, message: str, out: object, into: HighsCallbackInput | None, data: object) -> None:
        if into is not None:
            into.user_interrupt = interrupt()  # HiGHS remembers it, also in its next run

    kinds = _callback_kinds()
    if kinds is not None and highs.setCallback(ask, None) != _highspy().HighsStatus.kError:
        for name in ("kCallbackSimplexInterrupt", "kCallbackIpmInterrupt"):
            highs.startCallback(getattr(kinds, name))


def _callback_kinds() -> object | None:
    """The kinds of callbacks of this version of highspy; None if it has none, and cannot be stopped."""
    return getattr(getattr(_highspy(), "cb", None), "HighsCallbackType", None)


def run(highs: Highs) -> str:
    """Run HiGHS and return the name of its model status."""
    try:
        highs.run()
    except (RuntimeError, ValueError, MemoryError) as error:
        raise BackendError(f"HiGHS stopped: {error}.") from error
    return str(highs.getModelStatus().name)


def solution_of(highs: Highs, program: Program, name: str, status: str) -> Solution:
    """Read the point and dual values that HiGHS holds, in the signs of relift."""
    point = highs.getSolution()
    facts: Facts = {
        "iterations": _iterations(highs),
        "message": status,
        "statistics": {"crossover_iterations": _count(highs, "crossover_iteration_count")},
    }
    answer = MODEL_STATUSES.get(status, Status.FAILURE)
    if answer is Status.UNBOUNDED:
        direction = direction_of_divergence(program, point.col_value) if point.value_valid else None
        return unbounded(name, direction, **facts)
    if status == "kUnknown" and point.value_valid and point.dual_valid:
        # HiGHS ends so when its own check of the final residuals fails by a little; the certificate decides.
        answer = Status.OPTIMAL_INACCURATE
    if not point.value_valid or len(point.col_value) != program.n_variables:
        return Solution(Status.FAILURE if answer.has_point else answer, backend=name, **facts)
    y = w = None
    if point.dual_valid:
        y, w = -np.asarray(point.row_dual, dtype=np.float64), -np.asarray(point.col_dual, dtype=np.float64)
    return with_point(program, name, answer, point.col_value, y, w, **facts)


def set_basis(highs: TakesBasis, program: Program, point: Solution) -> None:
    """Give HiGHS a basis guessed from a point (at a bound: nonbasic); HiGHS repairs what is not a basis."""
    highspy = _highspy()
    status = highspy.HighsBasisStatus
    if point.x is None:
        return
    basis = highspy.HighsBasis()
    y = np.zeros(program.n_rows) if point.y is None else point.y
    w = np.zeros(program.n_variables) if point.w is None else point.w
    basis.col_status = _basis_status(status, point.x, w, program.lb, program.ub)
    basis.row_status = _basis_status(status, program.A @ point.x, y, program.l, program.u)
    basis.valid = True
    basis.alien = True
    highs.setBasis(basis)


def _basis_status(
    status: type[HighsBasisStatus], value: Vector, dual_value: Vector, lower: Vector, upper: Vector
) -> list[HighsBasisStatus]:
    near = 1e-6 * np.maximum(1.0, np.abs(value))
    at_lower = (value - lower <= near) & ~((lower < upper) & (dual_value > 1e-9) & (upper - value <= near))
    at_upper = (upper - value <= near) & ~at_lower
    codes = np.where(at_lower, 0, np.where(at_upper, 1, 2))
    names = (status.kLower, status.kUpper, status.kBasic)
    return [names[code] for code in codes]


def _with_ray(highs: Highs, program: Program, status: str, settings: SolverSettings) -> Solution:
    """Infeasible or unbounded, one of the two, with the ray that simplex without presolve leaves."""
    if status == "kUnbounded" and (answer := _unbounded_at_once(highs, program, status)) is not None:
        return answer
    for option, value in (("presolve", "off"), ("solver", "simplex")):
        highs.setOptionValue(option, value)
    again = run(highs)
    if again == "kUnboundedOrInfeasible":
        feasibility = load(_feasibility_program(program), settings)
        for option, value in (("presolve", "off"), ("solver", "simplex")):
            feasibility.setOptionValue(option, value)
        decided = run(feasibility)
        if decided == "kInfeasible":
            highs, again = feasibility, decided
        elif decided == "kOptimal":
            again = "kUnbounded"
    facts: Facts = {
        "iterations": _iterations(highs),
        "message": status if again == status else f"{status}, then {again} without presolve",
    }
    if again == "kInfeasible":
        return infeasible(program, "highs", _dual_ray(highs, program), **facts)
    if again == "kUnbounded":
        _, exists, ray = highs.getPrimalRay()
        return unbounded("highs", ray if exists else _ray_of_empty_column(program), **facts)
    if again in {"kTimeLimit", "kIterationLimit"}:
        # The first run has decided already; only the ray is missing.
        if status == "kInfeasible":
            return infeasible(program, "highs", None, **facts)
        if status == "kUnbounded":
            return unbounded("highs", None, **facts)
        return Solution(MODEL_STATUSES[again], backend="highs", **facts)
    answer = dataclasses.replace(solution_of(highs, program, "highs", again), message=facts["message"])
    if answer.status is Status.OPTIMAL:
        return answer
    if status == "kInfeasible":  # so the first run says: to be proved by other means
        return infeasible(program, "highs", _dual_ray(highs, program), **facts)
    return _infeasible_if_proved(highs, program, answer)


def _unbounded_at_once(highs: Highs, program: Program, status: str) -> Solution | None:
    """The ray and the feasible point that the run has left which found a program to be unbounded, if it has.

    Where presolve cannot decide, HiGHS has run simplex on the program itself.
    """
    _, exists, ray = highs.getPrimalRay()
    point = highs.getSolution()
    if not exists or not point.value_valid or not len(ray) == len(point.col_value) == program.n_variables:
        return None
    answer = unbounded("highs", ray, iterations=_iterations(highs), message=status)
    x = np.asarray(point.col_value, dtype=np.float64)
    return answer.but(x=x) if answer.ray_x is not None and are_finite(x) else None


def _infeasible_if_proved(highs: Highs, program: Program, answer: Solution) -> Solution:
    """An answer that HiGHS is not sure of, unless the ray that it holds proves that there is none."""
    ray = _dual_ray(highs, program)
    if ray is None:
        return answer
    claim = infeasible(program, "highs", ray, iterations=answer.iterations, message=answer.message)
    if claim.ray_y is None or claim.ray_w is None or not is_proof(program, claim.ray_y, claim.ray_w, 1e-9):
        return answer
    return claim


def _dual_ray(highs: Highs, program: Program) -> tuple[Vector, Vector] | None:
    _, exists, ray = highs.getDualRay()
    if not exists or len(ray) != program.n_rows:
        return _ray_of_empty_row(program)
    ray_y = -np.asarray(ray, dtype=np.float64)
    ray_w = -transposed_product(program.A, ray_y)
    size = max(np.max(np.abs(ray_y), initial=0.0), np.max(np.abs(ray_w), initial=0.0))
    # Cancellation in A'y leaves dust on columns without a bound; a proof cannot use those.
    missing = ((ray_w > 0) & ~np.isfinite(program.ub)) | ((ray_w < 0) & ~np.isfinite(program.lb))
    ray_w = np.where(missing & (np.abs(ray_w) <= 1e-9 * size), 0.0, ray_w)
    return (ray_y, ray_w) if farkas_value(program, ray_y, ray_w) < 0 else None


def _ray_of_empty_row(program: Program) -> tuple[Vector, Vector] | None:
    """Blame a row without entries whose bounds exclude 0; HiGHS sees it before it has a ray."""
    entries = np.diff(program.A.tocsr().indptr)
    wrong = np.flatnonzero((entries == 0) & ((program.l > 0) | (program.u < 0)))
    if not wrong.size:
        return None
    ray_y = np.zeros(program.n_rows)
    ray_y[wrong[0]] = -1.0 if program.l[wrong[0]] > 0 else 1.0
    return ray_y, np.zeros(program.n_variables)


def _ray_of_empty_column(program: Program) -> Vector | None:
    """Follow a variable that no row holds; HiGHS answers programs without rows before it has a ray."""
    entries = np.diff(program.A.tocsc().indptr)
    up = (entries == 0) & (program.q < 0) & np.isposinf(program.ub)
    down = (entries == 0) & (program.q > 0) & np.isneginf(program.lb)
    free = np.flatnonzero(up | down)
    if not free.size:
        return None
    ray = np.zeros(program.n_variables)
    ray[free[0]] = -np.sign(program.q[free[0]])
    return ray


def _feasibility_program(program: Program) -> Program:
    zeros = np.zeros(program.n_variables)
    return Program.trusted(None, zeros, program.A, program.l, program.u, program.lb, program.ub)


def _option_values(program: Program, settings: SolverSettings) -> dict[str, object]:
    """What HiGHS is told, but for the user's own options."""
    # The active-set QP method cycles more often with tighter tolerances than these.
    tolerance = max(1e-10, min(1e-7, settings.tolerance * (1e-2 if program.is_linear else 1e-1)))
    values: dict[str, object] = {
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
        "ipm_optimality_tolerance": max(1e-12, tolerance * 0.1),
        "large_matrix_value": LARGE_ENTRY,
        # HiGHS adds 1e-7 to the diagonal of P, so dual values are that much off and some optima by a percent;
        # with less it fails more often, but says so.
        "qp_regularization_value": 1e-11,
    }
    # Only where it is needed: with it, HiGHS stumbles over small infeasible programs that it decides at once otherwise.
    if extremes(program.A.data)[0] <= SMALL_ENTRY:
        values["small_matrix_value"] = 1e-12
    if extremes(program.l, program.u, program.lb, program.ub)[1] >= LARGE_BOUND:
        values["infinite_bound"] = NO_BOUND
    if settings.time_limit is not None:
        values["time_limit"] = float(settings.time_limit)
    values["ipm_iteration_limit"] = IPM_ITERATIONS
    if not program.is_linear:
        values["qp_iteration_limit"] = qp_iterations(program)
    if settings.iteration_limit is not None:
        values |= dict.fromkeys(_LIMITS, int(settings.iteration_limit))
    return values


def _set_options(highs: Highs, program: Program, settings: SolverSettings) -> None:
    highspy, values = _highspy(), _option_values(program, settings)
    if settings.threads is not None:
        # The pool of threads is global to the process and keeps its first size unless it is reset.
        highspy.Highs.resetGlobalScheduler(True)
        values["threads"] = int(settings.threads)
    if settings.options:
        check_option_names("highs", settings.options, _option_names(highs, settings.options))
    for option, value in {**values, **settings.options}.items():
        if highs.setOptionValue(option, value) == highspy.HighsStatus.kError and option in settings.options:
            raise option_refused("highs", option, value)


def refused_options(options: Mapping[str, object]) -> list[str]:
    """Names of those options that HiGHS does not know, or whose values it does not take."""
    highspy, highs = _highspy(), _highs()
    refused = []
    for name, value in options.items():
        try:
            status = highs.setOptionValue(name, value)
        except TypeError:
            status = highspy.HighsStatus.kError
        if status == highspy.HighsStatus.kError:
            refused.append(name)
    return refused


def _option_names(highs: Highs, wanted: Iterable[str]) -> list[str]:
    """Names that HiGHS knows: it is asked one by one, since highspy lists only some of them."""
    listed = [name for name in dir(highs.getOptions()) if not name.startswith("_")]
    highspy = _highspy()
    asked = [name for name in wanted if highs.getOptionType(name)[0] == highspy.HighsStatus.kOk]
    return [*listed, *asked]


def _iterations(highs: Highs) -> int:
    return sum(_count(highs, name) for name in _COUNTS)


def _count(highs: Highs, name: str) -> int:
    """A count of the last run; 0 where HiGHS does not know it, or has not counted."""
    _, value = highs.getInfoValue(name)  # one by one: all of them together take twenty times as long
    return max(0, int(value)) if isinstance(value, (int, float)) else 0


def _highspy() -> ModuleType:
    try:
        import highspy
    except ImportError as error:
        raise missing_package("highs", "highspy", "") from error
    return highspy


def _highs() -> Highs:
    highs: Highs = _highspy().Highs()
    highs.setOptionValue("output_flag", False)
    return highs
