"""The way of a program through the house, in order: read this file to understand relift.

::

    Program ─ reduce ─ find classes, check them ─ quotient ─▶ small Program ─ backend ─┐
    Result  ◀─ certify on the ground program ◀─ restore ◀─ expand ◀────────────────────┘

1. ``lift`` (:mod:`relift.lifting.lifting`): what is known is substituted (:mod:`~relift.lifting.reduction`),
   indistinguishable variables and rows are found (:mod:`relift.symmetry.find`), checked independently
   (:mod:`relift.symmetry.equitable`) and merged (:mod:`~relift.lifting.quotient`).
2. A backend (:mod:`relift.solvers`) solves the small program, without knowing that it is one.
3. Its answer is expanded to the ground program: point, multipliers, rays.
4. The answer is certified on the ground program (:mod:`~relift.lifting.certificate`). If it fails, the backend is asked
   again with harder settings, then another one is. What no backend can certify is called ``optimal_inaccurate`` or
   ``failure``, never ``optimal``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, final

import numpy as np

from relift.approximation import ApproximationReport, Round, solve_approximately
from relift.errors import BackendError, OptionError
from relift.lifting.approximate import Approximation, approximation_from
from relift.lifting.certificate import Certificate, certify
from relift.lifting.lifting import Lifting, lift_approximately
from relift.lifting.lifting import lift as lift_with_settings
from relift.program.program import Program
from relift.program.solution import Solution, Status, Vector
from relift.settings import LiftMethod, LiftSettings, Progress, ProgressCallback, Reading, SolverSettings
from relift.solvers.backend import Backend, WarmStart
from relift.solvers.crossover import vertex_solution
from relift.solvers.feasibility import find_point_or_proof, find_recession_direction
from relift.solvers.registry import backend_names, get_backend
from relift.symmetry.partition import Partition

RESERVE_SECONDS = 30.0
"""A backend that is only tried because others failed may take this long, or ten times what they took."""


@final
@dataclass(frozen=True)
class Attempt:
    """One call of a backend.

    Parameters
    ----------
    backend
        Which one.
    status
        What it said.
    seconds
        How long it took.
    residual
        The worst residual of its answer on the ground program.
    message
        The backend's own words.
    """

    backend: str
    status: Status
    seconds: float
    residual: float
    message: str = ""


@final
@dataclass(frozen=True, eq=False)
class Result:
    """The answer for the ground program, with its certificate and how it was reached.

    Parameters
    ----------
    program
        The ground program.
    solution
        Point, multipliers and rays; see :class:`~relift.program.solution.Solution` for their signs.
    certificate
        Residuals on the ground program.
    lifting
        Classes, small program, and the way back.
    timings
        Seconds of each stage.
    attempts
        Every call of a backend, in order.
    approximation
        What approximate lifting proved, round by round; None after exact lifting.
    """

    program: Program
    solution: Solution
    certificate: Certificate
    lifting: Lifting
    timings: dict[str, float] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    approximation: ApproximationReport | None = None

    @property
    def lower_bound(self) -> float:
        """Proved lower bound on the optimum, of approximate lifting; NaN otherwise."""
        return float("nan") if self.approximation is None else self.approximation.lower_bound

    @property
    def upper_bound(self) -> float:
        """Proved upper bound on the optimum, of approximate lifting; NaN otherwise."""
        return float("nan") if self.approximation is None else self.approximation.upper_bound

    @property
    def gap(self) -> float:
        """The distance of the two bounds, relative to max(1, |objective|); NaN otherwise."""
        return float("nan") if self.approximation is None else self.approximation.gap

    @property
    def rounds(self) -> tuple[Round, ...]:
        """What each round of approximate lifting reached."""
        return () if self.approximation is None else self.approximation.rounds

    @property
    def status(self) -> Status:
        """How the solve ended; ``optimal`` only with a certificate that passes."""
        return self.solution.status

    @property
    def x(self) -> Vector | None:
        """The point, or None."""
        return self.solution.x

    @property
    def y(self) -> Vector | None:
        """Multipliers of the rows, or None."""
        return self.solution.y

    @property
    def w(self) -> Vector | None:
        """Multipliers of the variable bounds, or None."""
        return self.solution.w

    @property
    def z(self) -> Vector | None:
        """Multipliers of the quadratic constraints, or None."""
        return self.solution.z

    @property
    def objective(self) -> float:
        """The objective at x, in the sense of the program; an infinity for infeasible and unbounded programs."""
        return self.solution.objective

    @property
    def ray_x(self) -> Vector | None:
        """Direction along which the objective improves for ever, or None."""
        return self.solution.ray_x

    @property
    def ray_y(self) -> Vector | None:
        """Multipliers of the rows that prove infeasibility, or None."""
        return self.solution.ray_y

    @property
    def ray_w(self) -> Vector | None:
        """Multipliers of the variable bounds that prove infeasibility, or None."""
        return self.solution.ray_w

    @property
    def backend(self) -> str:
        """Name of the backend that gave the answer."""
        return self.solution.backend

    @property
    def iterations(self) -> int | None:
        """Iterations of that backend, if it tells them."""
        return self.solution.iterations

    @property
    def message(self) -> str:
        """Anything worth telling."""
        return self.solution.message

    def __repr__(self) -> str:
        ground, small = self.program, self.lifting.small
        sizes = f"{ground.n_variables} -> {small.n_variables} variables, {ground.n_rows} -> {small.n_rows} rows"
        return f"Result({self.status}, objective={self.objective:.9g}, {sizes}, backend={self.backend})"


def lift(
    program: Program,
    *,
    method: LiftMethod = "equitable",
    values: Reading = "decimal",
    digits: int | None = None,
    scale_rows: bool = True,
    reduce: bool = True,
    approximate: Approximation | Partition | float | None = None,
    progress: ProgressCallback | None = None,
) -> Lifting:
    """Find what is indistinguishable in a program and merge it.

    Parameters
    ----------
    program
        The ground program.
    method
        ``"equitable"`` compares sums and gives the fewest classes, ``"counting"`` multisets, ``"orbits"``
        the automorphism group; ``"none"`` merges nothing.
    values
        How floats are read: ``"decimal"``, so that .1 + .2 = .3, or ``"bits"``.
    digits
        Treat numbers closer than ``10**-digits`` relatively as one; ``lifting.snapped`` reports what was merged.
    scale_rows
        Compare rows up to a factor.
    reduce
        Substitute fixed variables, singleton rows and duplicate rows first.
    approximate
        Merge what is nearly alike: a gap to aim at, classes, or an :class:`~relift.Approximation`. The small program is
        then a restriction; :func:`solve` of the lifting proves how good it is, and splits classes where needed.
    progress
        Told about stages, rounds and classes.

    Examples
    --------
    >>> program = Program(P=[[2, 1], [1, 2]], q=[-1, -1], A=[[1, 1]], u=[4], lb=0)
    >>> lift(program).small
    Program(QP, min, 1 variables, 1 rows, 2 nonzeros)
    """
    settings = LiftSettings(method, values, digits, scale_rows, reduce)
    if approximate is not None:
        return lift_approximately(program, approximation_from(approximate), settings, progress)
    return lift_with_settings(program, settings, progress)


def solve(
    program: Program | Lifting,
    *,
    lift: LiftMethod = "equitable",
    values: Reading = "decimal",
    digits: int | None = None,
    scale_rows: bool = True,
    reduce: bool = True,
    approximate: Approximation | Partition | float | None = None,
    backend: str = "auto",
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    iteration_limit: int | None = None,
    threads: int | None = None,
    verbose: bool = False,
    backend_options: Mapping[str, Any] | None = None,
    vertex: bool = False,
    warm_start: Result | Solution | None = None,
    progress: ProgressCallback | None = None,
) -> Result:
    """Lift a program, solve the small one, and return the certified answer for the ground program.

    Parameters
    ----------
    program
        The ground program, or a lifting of it made before (then the options of lifting are those of that call).
    lift, values, digits, scale_rows, reduce
        How classes are looked for; see :func:`lift`.
    approximate
        Merge what is nearly alike and stop at a proved gap: a gap such as 1e-3, classes to start from, or an
        :class:`~relift.Approximation`. ``result.lower_bound`` and ``result.upper_bound`` enclose the optimum.
    backend
        ``"auto"`` (HiGHS for LPs, Clarabel for QPs, others if these fail), or a name of ``relift backends``.
    tolerance
        The largest relative residual on the ground program that may be called optimal.
    time_limit
        Seconds for everything.
    iteration_limit, threads, verbose
        Told to the backend.
    backend_options
        Handed to the backend as they are, by its own names.
    vertex
        For linear programs: move the expanded point, which is not a vertex in general, to one (crossover).
    warm_start
        An earlier answer for a program of the same size.
    progress
        Told about the stages.

    Returns
    -------
    Result
        Status ``optimal`` only if point and multipliers passed their check on the ground program; ``infeasible`` and
        ``unbounded`` only with a ray that did; ``optimal_within_gap``, only with ``approximate``, if the point did and
        is proved to be within the gap.

    Examples
    --------
    >>> result = solve(Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0))
    >>> str(result.status), round(result.objective, 9), result.x.round(9).tolist(), result.lifting.small.n_variables
    ('optimal', 1.5, [0.5, 0.5, 0.5], 1)
    """
    start = perf_counter()
    settings = SolverSettings(tolerance, time_limit, iteration_limit, threads, verbose, dict(backend_options or {}))
    chosen = None if backend == "auto" else get_backend(backend)
    if approximate is not None and not isinstance(program, Lifting):
        options = LiftSettings(lift, values, digits, scale_rows, reduce)
        program = lift_approximately(program, approximation_from(approximate), options, progress)
    if isinstance(program, Lifting) and program.approximation is not None:
        return _solve_approximately(program, program.approximation, settings, backend, start, vertex, progress)
    if isinstance(program, Lifting):
        lifting = program
    else:
        lifting = lift_with_settings(program, LiftSettings(lift, values, digits, scale_rows, reduce), progress)
    if vertex and not lifting.program.is_linear:
        raise OptionError("vertex=True is for linear programs, and this one is quadratic.", "Leave it out.")
    if chosen is not None and len(lifting.program.quadratic) and not chosen.solves_quadratic_rows:
        raise OptionError(f"{chosen.name} does not take quadratic constraints.", "Use clarabel, or leave backend= out.")
    run = _Run(lifting, settings, start, progress)
    start_point = warm_start.solution if isinstance(warm_start, Result) else warm_start
    solution = run.best_answer(chosen, start_point)
    if vertex and solution.status == Status.OPTIMAL:
        solution = run.at_a_vertex(solution)
    return Result(
        lifting.program,
        solution,
        run.certificate,
        lifting,
        lifting.timings | run.seconds,
        tuple(run.attempts),
    )


def _solve_approximately(
    lifting: Lifting,
    approximation: Approximation,
    settings: SolverSettings,
    backend: str,
    start: float,
    vertex: bool,
    progress: ProgressCallback | None,
) -> Result:
    """Approximate lifting, with this very pipeline as the solver of the small programs."""
    if vertex:
        raise OptionError("vertex=True does not go with approximate lifting.", "Leave one of them out.")
    attempts: list[Attempt] = []
    solving = 0.0

    def time_left() -> float | None:
        return None if settings.time_limit is None else settings.time_limit - (perf_counter() - start)

    def solve_small(small: Program, warm_start: Solution | None) -> Solution:
        nonlocal solving
        left = time_left()
        begin = perf_counter()
        found = solve(
            small, lift="none", reduce=False, backend=backend, tolerance=settings.tolerance,
            time_limit=None if left is None else max(left, 1e-3), iteration_limit=settings.iteration_limit,
            threads=settings.threads, verbose=settings.verbose, backend_options=settings.options, warm_start=warm_start,
        )  # fmt: skip
        attempts.extend(found.attempts)
        solving += perf_counter() - begin
        return found.solution

    begin = perf_counter()
    answer = solve_approximately(
        lifting, approximation, solve_small, tolerance=settings.tolerance, time_left=time_left, progress=progress
    )
    proving = perf_counter() - begin - solving
    certificate = certify(lifting.program, answer.solution, settings.tolerance)
    seconds = lifting.timings | {"solve": solving, "check": proving}
    return Result(
        lifting.program, answer.solution, certificate, answer.lifting, seconds, tuple(attempts), answer.report
    )


class _Run:
    """One solve: asks backends until an answer passes its check."""

    def __init__(
        self, lifting: Lifting, settings: SolverSettings, start: float, progress: ProgressCallback | None
    ) -> None:
        self.lifting, self.settings, self.start, self.progress = lifting, settings, start, progress
        self.attempts: list[Attempt] = []
        self.seconds: dict[str, float] = {"solve": 0.0, "expand": 0.0, "check": 0.0}
        self.certificate = Certificate(settings.tolerance)

    def best_answer(self, chosen: Backend | None, start_point: Solution | None) -> Solution:
        best = Solution(Status.TIME_LIMIT, message="the time limit ended before a backend was called")
        best_certificate = self.certificate
        for backend, settings in self._plan(chosen):
            left = self._time_left()
            if left is not None and left <= 0:
                break
            answer, certificate = self._ask(
                backend, replace(settings, time_limit=_least(left, settings.time_limit)), start_point
            )
            if not self.attempts[1:] or _is_better(answer, certificate, best, best_certificate):
                best, best_certificate = answer, certificate
            if self._is_final(best):
                break
        self.certificate = best_certificate
        return best

    def _is_final(self, answer: Solution) -> bool:
        """Whether the answer is proved, or the user's own limit ended the search for one."""
        if answer.status == Status.ITERATION_LIMIT:
            return self.settings.iteration_limit is not None
        if answer.status == Status.TIME_LIMIT:
            left = self._time_left()
            return left is not None and left <= 0
        return answer.status not in {Status.FAILURE, Status.OPTIMAL_INACCURATE}

    def _plan(self, chosen: Backend | None) -> Iterator[tuple[Backend, SolverSettings]]:
        """The backend with its settings, then with harder ones, then the other backends (only for ``"auto"``)."""
        program = self.lifting.small
        backends = [chosen] if chosen is not None else _backends_in_order(program)
        for position, backend in enumerate(backends):
            settings = self.settings
            if position:
                if settings.time_limit is not None and not backend.has_time_limit:
                    continue
                spent = perf_counter() - self.start
                reserve = max(RESERVE_SECONDS, 10 * spent) if backend.has_time_limit else None
                settings = replace(settings, options={}, time_limit=reserve)
            yield backend, settings
            attempt = 1
            while (harder := backend.harder(settings, attempt)) is not None:
                yield backend, harder
                attempt += 1

    def _ask(
        self, backend: Backend, settings: SolverSettings, start_point: Solution | None
    ) -> tuple[Solution, Certificate]:
        """One call of a backend, expanded and certified; the status is ours, not the backend's."""
        small, isometric = self.lifting.small, None
        if self.progress is not None:
            self.progress(Progress("solve", f"{backend.name}: {small.n_variables} variables, {small.n_rows} rows"))
        start = perf_counter()
        if backend.is_first_order and not self.lifting.symmetry.is_discrete:
            isometric = self.lifting.isometric()
        try:
            answer = backend.solve(
                small if isometric is None else isometric.program,
                settings,
                self._warm_start(start_point, isometric),
            )
        except BackendError as error:
            answer = Solution(Status.FAILURE, backend=backend.name, message=str(error))
        if isometric is not None:
            answer = isometric.to_plain(answer)
        said = answer.status
        if said in {Status.INFEASIBLE, Status.UNBOUNDED}:
            answer = _with_proof(small, answer, settings)
        self.seconds["solve"] += (solved := perf_counter()) - start
        expanded = self.lifting.expand(replace(answer, backend=answer.backend or backend.name))
        self.seconds["expand"] += (spread := perf_counter()) - solved
        certificate = certify(self.lifting.program, expanded, settings.tolerance)
        judged = _judge(expanded, certificate, settings, self.lifting.program)
        self.seconds["check"] += perf_counter() - spread
        residual = (
            certificate.ray_residual if said in {Status.INFEASIBLE, Status.UNBOUNDED} else certificate.worst_residual
        )
        self.attempts.append(Attempt(backend.name, said, solved - start, residual, answer.message))
        return judged, certificate

    def _warm_start(self, point: Solution | None, isometric: Any) -> WarmStart | None:
        if point is None or point.x is None:
            return None
        small = self.lifting.restrict(point)
        if isometric is not None:
            small = isometric.from_plain(small)
        return WarmStart(small.x, small.y, small.w)

    def _time_left(self) -> float | None:
        limit = self.settings.time_limit
        return None if limit is None else limit - (perf_counter() - self.start)

    def at_a_vertex(self, solution: Solution) -> Solution:
        """Crossover of an optimal point of a linear program; the answer is certified again."""
        start = perf_counter()
        ground = self.lifting.program
        settings = replace(self.settings, time_limit=self._time_left(), options={})
        moved = vertex_solution(ground.minimisation(), solution, settings)
        if moved.x is not None:
            moved = replace(moved, objective=ground.objective(moved.x))
        self.seconds["vertex"] = perf_counter() - start
        certificate = certify(ground, moved, self.settings.tolerance)
        if moved.status.has_point and certificate.is_optimal:
            self.certificate = certificate
            return replace(moved, backend=f"{solution.backend}, crossover by highs")
        return replace(
            solution,
            message=f"{solution.message}; crossover did not reach a certified vertex: {moved.message}",
        )


def _backends_in_order(program: Program) -> list[Backend]:
    """The default backend, then those to turn to when its answers fail."""
    names = ("highs", "clarabel") if program.is_linear else ("clarabel", "piqp", "highs")
    backends = [get_backend(name) for name in names if name in backend_names(installed=True)]
    return [backend for backend in backends if len(program.quadratic) == 0 or backend.solves_quadratic_rows]


def _with_proof(small: Program, answer: Solution, settings: SolverSettings) -> Solution:
    """Complete a claim of infeasibility or unboundedness by the ray and the point that prove it."""
    settings = replace(settings, options={})
    if answer.status == Status.INFEASIBLE:
        if certify(small, answer, settings.tolerance).is_proved:
            return answer
        found = find_point_or_proof(small, settings)
        if found.status == Status.INFEASIBLE:
            return replace(answer, ray_y=found.ray_y, ray_w=found.ray_w)
        return replace(
            answer,
            status=Status.FAILURE,
            message=f"{answer.backend} called a program with a feasible point infeasible",
        )
    found = find_point_or_proof(small, settings)
    if found.status == Status.INFEASIBLE:
        return replace(found, backend=answer.backend)
    if certify(small, answer, settings.tolerance).is_proved:
        return replace(answer, x=found.x)
    return replace(answer, x=found.x, ray_x=find_recession_direction(small, settings))


def _judge(answer: Solution, certificate: Certificate, settings: SolverSettings, program: Program) -> Solution:
    """Give the answer the status that its certificate deserves."""
    improves_for_ever = -np.inf if program.sense == "min" else np.inf
    if answer.status == Status.INFEASIBLE:
        if certificate.is_proved:
            return replace(answer, objective=-improves_for_ever)
        return replace(answer, status=Status.FAILURE, message=f"infeasibility is not proved: {answer.message}")
    if answer.status == Status.UNBOUNDED:
        if certificate.is_proved and certificate.is_feasible:
            return replace(answer, objective=improves_for_ever)
        return replace(answer, status=Status.FAILURE, message=f"unboundedness is not proved: {answer.message}")
    if answer.x is None:
        return answer
    if certificate.is_optimal:
        return replace(answer, status=Status.OPTIMAL)
    stopped = answer.status == Status.TIME_LIMIT or (
        answer.status == Status.ITERATION_LIMIT and settings.iteration_limit is not None
    )
    if stopped:
        return answer
    note = f"worst relative residual {certificate.worst_residual:.2g} on the ground program"
    return replace(answer, status=Status.OPTIMAL_INACCURATE, message=f"{answer.message}; {note}".strip("; "))


def _is_better(answer: Solution, certificate: Certificate, best: Solution, best_certificate: Certificate) -> bool:
    rank = {Status.FAILURE: 3, Status.ITERATION_LIMIT: 2, Status.TIME_LIMIT: 2, Status.OPTIMAL_INACCURATE: 1}
    new, old = rank.get(answer.status, 0), rank.get(best.status, 0)
    if new != old:
        return new < old
    return bool(
        np.nan_to_num(certificate.worst_residual, nan=np.inf)
        < np.nan_to_num(best_certificate.worst_residual, nan=np.inf)
    )


def _least(*limits: float | None) -> float | None:
    given = [limit for limit in limits if limit is not None]
    return min(given) if given else None
