"""The stages of an answer: ask a backend, expand what it says, certify it on the original program; until one passes.

::

    solve ─▶ expand ─▶ certify

The default backend first (before it PIQP or OSQP, and after it PIQP, where :mod:`relift.solvers.quadratic_choice` says
so); then the same one in other units (:mod:`relift.solvers.rescaling`), without numbers that are out of all proportion
(:mod:`relift.solvers.huge_numbers`), and with harder settings; then others
(:data:`relift.solvers.registry.ORDER`). The status of the answer is ours: what the certificate proves, not
what a backend says. Whatever goes wrong in a backend is a failure of that backend (:mod:`relift.solvers.answers`), and
the next one is asked.

Of a time limit the first backend gets half, as long as there are others to turn to.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import final

import numpy as np

from relift.kept_solvers import KeptSolvers
from relift.lifting.certificate import Certificate
from relift.lifting.certificate import certify_as_written as certify
from relift.lifting.lifting import Lifting
from relift.lifting.quotient import IsometricForm
from relift.program.held import free_fall
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.program.step import Step, expand_through, restrict_through
from relift.records import quick
from relift.settings import ProgressCallback, SolverSettings
from relift.solvers.answers import ask, words_of
from relift.solvers.backend import Backend
from relift.solvers.crossover import vertex_solution
from relift.solvers.feasibility import find_recession_direction, point_along, points_or_proofs
from relift.solvers.huge_numbers import without_huge_numbers, words_on_magnitudes
from relift.solvers.kept import KEPT
from relift.solvers.newton_polish import polished
from relift.solvers.quadratic_choice import FEWEST_PROXIMAL, FirstTry, first_tries, second_tries
from relift.solvers.registry import backends_to_try, get_backend
from relift.solvers.rescaling import rescaled
from relift.stages import Clock, Stage, run_stages, stage

RESERVE_SECONDS = 30.0
"""A backend that is only tried because others failed may take this long, or ten times what they took."""

CEILING = 1e-3
"""A point with a larger residual than this is not called optimal_inaccurate: it is not an answer."""

DUST_OF_DIRECTIONS = 1e-6
"""Entries this small against the largest of a direction may be nothing but what an interior-point method left there."""

MOST_POLISHED = 50_000
"""Up to so many nonzeros of the small program Newton's method is tried on an answer that does not pass."""

_log = logging.getLogger("relift")
_CLAIMS = {Status.INFEASIBLE, Status.UNBOUNDED}
_NO_ANSWER, _NO_CERTIFICATE = Solution(Status.FAILURE), Certificate(0.0)


@final
@quick
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
        The worst residual of its answer on the original program.
    message
        The backend's own message.
    """

    backend: str
    status: Status
    seconds: float
    residual: float
    message: str = ""

    def __str__(self) -> str:
        residual = "" if np.isnan(self.residual) else f", residual {self.residual:.2g}"
        return f"{self.backend} said {self.status}{residual}" + (f" ({self.message})" if self.message else "")


@final
@dataclass(eq=False)
class AnswerWork:
    """One entry of the plan, and what its stages make of it.

    Parameters
    ----------
    run
        The solve that it belongs to.
    backend, settings
        Whom to ask, and how.
    forms
        What the small program is turned into before it is solved: other units, without huge numbers.
    note
        What that is called in messages.
    kept
        Solver objects of earlier solves, if one may be used.
    start_point
        A point of the original program to start from.
    is_first_try
        Whether it is asked in the hope that it is quicker than the default backend, to which a claim without a proof is
        left then.
    """

    run: CertifiedSolve
    backend: Backend
    settings: SolverSettings
    forms: tuple[Step, ...] = ()
    note: str = ""
    kept: KeptSolvers | None = None
    start_point: Solution | None = None
    is_first_try: bool = False
    answer: Solution = _NO_ANSWER
    small_answer: Solution = _NO_ANSWER
    certificate: Certificate = _NO_CERTIFICATE
    said: Status = Status.FAILURE
    is_from_kept: bool = False
    seconds: float = 0.0

    @property
    def attempt(self) -> Attempt:
        """What happened, for the record."""
        residual = self.certificate.ray_residual if self.said in _CLAIMS else self.certificate.worst_residual
        message = f"{self.note}: {self.answer.message}" if self.note else self.answer.message
        return Attempt(self.answer.backend or self.backend.name, self.said, self.seconds, residual, message)


def _who_solves_what(work: AnswerWork) -> str:
    return f"{work.backend.name}: {work.run.lifting.small}"


@stage("solve", says=_who_solves_what)
def solve_small(work: AnswerWork) -> None:
    """Ask a backend to solve the small program; complete a claim of infeasibility by the ray that proves it."""
    run, start = work.run, perf_counter()
    forms: list[Step] = []
    if (isometric := run.isometric(work.backend)) is not None:
        forms.append(isometric)
    forms += work.forms
    point = None if work.start_point is None or work.start_point.x is None else work.start_point
    if point is not None and work.backend.uses_warm_start:
        point = restrict_through(forms, run.lifting.restrict(point))
    elif point is not None:
        run.lifting.check_shapes(point)
        point = None
    program = forms[-1].program if forms else run.lifting.small
    answer = expand_through(forms, ask(work.backend, program, work.settings, point, work.kept))
    work.said, work.is_from_kept = answer.status, bool(answer.statistics.get(KEPT))
    is_to_be_proved = work.said in _CLAIMS and not work.is_first_try
    work.answer = work.small_answer = run.with_proof(answer, work.settings) if is_to_be_proved else answer
    work.seconds = perf_counter() - start


@stage("expand")
def expand(work: AnswerWork) -> None:
    """Carry the answer back to the original program: point, dual values, rays."""
    work.answer = expand_through(work.run.lifting.steps, work.answer)


def take_newton_steps(work: AnswerWork) -> None:
    """Find the last digits of a quadratic program where the certificate asks for them, if Newton's method does.

    A slope of 1e-10 counts for much where the next bound is 1e9 away.
    """
    run, answer = work.run, work.small_answer
    small = run.lifting.small
    if small.P is None or len(small.conic) or small.n_nonzeros > MOST_POLISHED:
        return
    better = polished(small, answer)
    if better is answer:
        return
    better = expand_through(run.lifting.steps, better)
    certificate = run.certified(run.lifting.program, better, work.settings.tolerance)
    if certificate.worst_residual < work.certificate.worst_residual:
        work.answer, work.certificate = better, certificate


@stage("certify")
def certify_answer(work: AnswerWork) -> None:
    """Compute the residuals of the answer on the original program, and give it the status that they deserve."""
    program, tolerance = work.run.lifting.program, work.settings.tolerance
    work.certificate = work.run.certified(program, work.answer, tolerance)
    if work.said.has_point and not work.certificate.is_optimal and not work.is_first_try:
        take_newton_steps(work)
    objective = work.certificate.objective  # of the original program; NaN where there is no point
    if objective == objective and objective != work.answer.objective:
        work.answer = work.answer.but(objective=objective)
    attempt = work.attempt
    work.run.attempts.append(attempt)
    _log.info("%s", attempt)
    if work.certificate.duality_gap == np.inf and work.certificate.is_feasible:
        direction = free_fall(program.minimisation())
        if direction is not None:
            work.answer = work.answer.but(status=Status.UNBOUNDED, y=None, w=None, ray_x=direction)
            work.certificate = certify(program, work.answer, tolerance)
    work.answer = work.run.judged(work.answer, work.certificate)


ANSWERING: tuple[Stage[AnswerWork], ...] = (solve_small, expand, certify_answer)
"""From the small program to an answer for the original one."""


class CertifiedSolve:
    """One solve: asks backends until an answer passes its check.

    Parameters
    ----------
    lifting
        The small program, and the expansion of answers.
    settings
        What backends are told; the time limit is for everything since ``start``.
    start
        When the solve began, by ``perf_counter``.
    progress
        Progress callback, called for each call of a backend.
    """

    def __init__(
        self, lifting: Lifting, settings: SolverSettings, start: float, progress: ProgressCallback | None
    ) -> None:
        self.lifting, self.settings, self.start, self.progress = lifting, settings, start, progress
        self.attempts: list[Attempt] = []
        self.clock = Clock(progress)
        self.certificate = Certificate(settings.tolerance)
        self._last_check: tuple[Program, Solution, Certificate] | None = None

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of each stage."""
        return self.clock.seconds

    def best_answer(self, chosen: Backend | None, start_point: Solution | None) -> Solution:
        """The first answer that is proved, or the best that was given; :attr:`certificate` is that of the answer."""
        best = Solution(Status.TIME_LIMIT, message="the time limit ended before a backend was called")
        best_certificate = self.certificate
        for work in self._plan(chosen):
            left = self._time_left()
            if left is not None and left <= 0:
                break
            if self.attempts and self.settings.interrupt is not None and self.settings.interrupt():
                break
            if work.backend.has_time_limit or not work.is_first_try:
                work.settings = _limited(work.settings, left)
            work.start_point = start_point
            run_stages(ANSWERING, work, self.clock)
            answer, certificate = work.answer, work.certificate
            if len(self.attempts) == 1 or _is_better(answer, certificate, best, best_certificate):
                best, best_certificate = answer, certificate
            if self._is_final(best):
                break
        self.certificate = best_certificate
        if best.status == Status.FAILURE:
            words = "; ".join(dict.fromkeys(map(str, self.attempts)))
            if spread := words_on_magnitudes(self.lifting.program):
                words = f"{words}. The {spread}"
            best = best.but(message=f"no answer passed its check: {words}")
        return best

    def _is_final(self, answer: Solution) -> bool:
        """Whether the answer is proved, or the user's own limit ended the search for one."""
        if answer.status == Status.ITERATION_LIMIT:
            return self.settings.iteration_limit is not None
        if answer.status == Status.TIME_LIMIT:
            left = self._time_left()
            return left is not None and left <= 0
        return answer.status not in {Status.FAILURE, Status.OPTIMAL_INACCURATE}

    def _plan(self, chosen: Backend | None) -> Iterator[AnswerWork]:
        """The backend with its settings, in other units, with harder settings, then the others (only for ``"auto"``).

        One that ran out of time is not asked again. Before them come those that are predicted to be quicker.
        """
        if chosen is None:
            yield from self._tries(first_tries)
        backends: Iterable[Backend] = [chosen] if chosen is not None else backends_to_try(self.lifting.small)
        if self.settings.time_limit is not None:  # it is shared, so that it matters how many there are
            backends = list(backends)
        for position, backend in enumerate(backends):
            settings = self.settings
            left = self._time_left()
            is_last = isinstance(backends, list) and position + 1 == len(backends)
            share = None if left is None or is_last else perf_counter() + 0.5 * left
            if position:
                if settings.time_limit is not None and not backend.has_time_limit:
                    continue
                spent = perf_counter() - self.start
                reserve = max(RESERVE_SECONDS, 10 * spent) if backend.has_time_limit else None
                settings = replace(settings, options={}, time_limit=reserve)
            for way, work in enumerate(self._ways(backend, settings)):
                of_share = None if share is None else share - perf_counter()
                if of_share is not None and of_share <= 0:
                    break
                work.settings = _limited(work.settings, of_share)
                yield work
                if self.attempts[-1].status == Status.TIME_LIMIT:
                    break
                if chosen is None and not position and not way:
                    yield from self._tries(second_tries)

    def _tries(self, of: Callable[[Program], tuple[FirstTry, ...]]) -> Iterator[AnswerWork]:
        """Solvers with a limit on their iterations that promise to be quicker than the default backend.

        Options and limits of the user are meant for the default one. None is asked twice.
        """
        if self.settings.options or self.settings.iteration_limit is not None:
            return
        asked = {attempt.backend for attempt in self.attempts}
        for first in of(self.lifting.small):
            if first.backend in asked:
                continue
            backend, left = get_backend(first.backend), self._time_left()
            iterations, limit = first.iterations, None if left is None else 0.5 * left
            if not backend.has_time_limit:
                iterations, limit = self._iterations_in_time(first), None
                if iterations < min(FEWEST_PROXIMAL, first.iterations):
                    continue
            settings = replace(self.settings, options={"max_iter": iterations}, time_limit=limit)
            work = AnswerWork(self, backend, settings, kept=self.lifting.solvers, is_first_try=True)
            yield work
            harder = backend.harder(settings, 1)
            if harder is not None and work.said is Status.OPTIMAL and work.certificate.worst_residual <= CEILING:
                yield AnswerWork(self, backend, harder, is_first_try=True)

    def _iterations_in_time(self, first: FirstTry) -> int:
        """The iterations that a solver that cannot be stopped is granted; none where one that can be kept is wanted."""
        if self.settings.interrupt is not None or self.lifting.solvers.is_wanted:
            return 0
        left, limit = self._time_left(), self.settings.time_limit
        if left is None or limit is None:
            return first.iterations
        return int(first.iterations * min(1.0, min(0.5 * limit, left) / first.seconds))

    def _ways(self, backend: Backend, settings: SolverSettings) -> Iterator[AnswerWork]:
        """How one backend is asked: as it is, for more digits, without huge numbers, in other units, and harder."""
        first = AnswerWork(self, backend, settings, kept=self.lifting.solvers)
        yield first
        if first.is_from_kept:  # what was solved before must not decide: a fresh solver is asked
            self.lifting.solvers.forget(backend.name)
            yield AnswerWork(self, backend, settings)
        more_digits = backend.with_more_digits(self.lifting.small, settings)
        if more_digits is not None:
            yield AnswerWork(self, backend, more_digits)
        isometric = self.isometric(backend)
        program = self.lifting.small if isometric is None else isometric.program
        if (moderate := without_huge_numbers(program)) is not None:
            yield AnswerWork(self, backend, settings, (moderate,), "without huge numbers")
            if (units := rescaled(moderate.program)) is not None:
                yield AnswerWork(self, backend, settings, (moderate, units), "without huge numbers, in other units")
        if (units := rescaled(program)) is not None:
            yield AnswerWork(self, backend, settings, (units,), "in other units")
        attempt = 1
        while (harder := backend.harder(settings, attempt)) is not None:
            yield AnswerWork(self, backend, harder)
            attempt += 1

    def isometric(self, backend: Backend) -> IsometricForm | None:
        """The form of the small program on which first-order methods behave as on the original; None for others."""
        is_wanted = backend.is_first_order and not self.lifting.symmetry.is_discrete
        return self.lifting.isometric() if is_wanted else None

    def _time_left(self) -> float | None:
        limit = self.settings.time_limit
        return None if limit is None else limit - (perf_counter() - self.start)

    def with_proof(self, answer: Solution, settings: SolverSettings) -> Solution:
        """Complete a claim of infeasibility or unboundedness by the ray and the point that prove it."""
        small, tolerance = self.lifting.small, settings.tolerance
        if answer.status == Status.INFEASIBLE and self.certified(small, answer, tolerance).is_proved:
            return answer
        if answer.status == Status.UNBOUNDED and (proved := self._with_own_ray(answer, tolerance)) is not None:
            return proved
        left = self._time_left()
        if left is not None and left <= 0:
            return answer
        settings = replace(settings, options={}, time_limit=_least(left, settings.time_limit))
        is_infeasible, point = answer.status == Status.INFEASIBLE, None
        for found in self._points_or_proofs(settings):
            if found.status == Status.INFEASIBLE and certify(small, found, tolerance).is_proved:
                return answer.but(
                    status=Status.INFEASIBLE, x=None, ray_x=None, ray_y=found.ray_y, ray_w=found.ray_w,
                    ray_z=found.ray_z, ray_v=found.ray_v,
                )  # fmt: skip
            if found.x is None:
                continue
            # The certificate of a direction measures the point as well.
            claim = Solution(Status.FAILURE, x=found.x) if is_infeasible else answer.but(x=found.x)
            if self.certified(small, claim, tolerance).is_feasible:
                point = claim
                break
        if is_infeasible:
            if point is None:
                return answer
            said = f"{answer.message}: {answer.backend} called a program with a feasible point infeasible"
            return Solution(Status.FAILURE, iterations=answer.iterations, backend=answer.backend, message=said)
        answer = answer.but(x=None) if point is None else point
        if self.certified(small, answer, tolerance).is_proved:
            return answer
        answer = answer.but(ray_x=find_recession_direction(small, settings))
        if self.certified(small, answer, tolerance).is_proved or (units := rescaled(small)) is None:
            return answer
        direction = find_recession_direction(units.program, settings)
        return answer if direction is None else answer.but(ray_x=direction * units.columns)

    def _with_own_ray(self, answer: Solution, tolerance: float) -> Solution | None:
        """A claim of unboundedness with the ray of the backend, if it proves it, with its point or one along the ray.

        Interior-point methods leave dust on rays: the ray is tried without it, too.
        """
        small, ray = self.lifting.small, answer.ray_x
        if ray is None:
            return None
        cleared = np.where(np.abs(ray) <= DUST_OF_DIRECTIONS * float(np.abs(ray).max(initial=0.0)), 0.0, ray)
        for direction in (ray, cleared) if not np.array_equal(ray, cleared) else (ray,):
            x = answer.x if answer.x is not None else point_along(small, direction)
            if x is None:
                continue
            claim = answer if x is answer.x and direction is ray else answer.but(x=x, ray_x=direction)
            certificate = self.certified(small, claim, tolerance)
            if certificate.is_proved and certificate.is_feasible:
                return claim
        return None

    def certified(self, program: Program, answer: Solution, tolerance: float) -> Certificate:
        """The certificate of an answer; where nothing was merged, a claim is proved on the original program itself."""
        last = self._last_check
        if last is not None and last[0] is program and last[1] is answer and last[2].tolerance == tolerance:
            return last[2]
        certificate = certify(program, answer, tolerance)
        self._last_check = (program, answer, certificate)
        return certificate

    def _points_or_proofs(self, settings: SolverSettings) -> Iterator[Solution]:
        """Points, or rays that say that there is none, that the small program may have: found in other units, too."""
        yield from points_or_proofs(self.lifting.small, settings)
        if (units := rescaled(self.lifting.small)) is not None:
            yield from map(units.expand, points_or_proofs(units.program, settings))

    def judged(self, answer: Solution, certificate: Certificate) -> Solution:
        """Give the answer the status that its certificate deserves."""
        best_of_all = -np.inf if self.lifting.program.sense == "min" else np.inf
        if answer.status == Status.INFEASIBLE:
            if certificate.is_proved:
                return answer.but(objective=-best_of_all)
            return self._not_proved(answer, "infeasibility")
        if answer.status == Status.UNBOUNDED:
            if certificate.is_proved and certificate.is_feasible:
                return answer.but(objective=best_of_all)
            return self._not_proved(answer, "unboundedness")
        if answer.x is None:
            return answer
        if certificate.is_optimal:
            return answer if answer.status is Status.OPTIMAL else answer.but(status=Status.OPTIMAL)
        if answer.status == Status.TIME_LIMIT or (
            answer.status == Status.ITERATION_LIMIT and self.settings.iteration_limit is not None
        ):
            return answer
        if certificate.worst_residual <= CEILING:
            note = f"worst relative residual {certificate.worst_residual:.2g} on the original program"
            return answer.but(status=Status.OPTIMAL_INACCURATE, message=f"{answer.message}; {note}".strip("; "))
        return _without_point(answer, Status.FAILURE, answer.message)

    def _not_proved(self, answer: Solution, claim: str) -> Solution:
        left = self._time_left()
        status = Status.TIME_LIMIT if left is not None and left <= 0 else Status.FAILURE
        return _without_point(answer, status, f"{claim} is not proved: {answer.message}")

    def at_a_vertex(self, solution: Solution) -> Solution:
        """Crossover of an optimal point of a linear program; the answer is certified again."""
        start = perf_counter()
        ground, left = self.lifting.program, self._time_left()
        if left is not None and left <= 0:
            return replace(solution, message=f"{solution.message}; no time was left for crossover")
        settings = replace(self.settings, time_limit=left, options={})
        try:
            moved = vertex_solution(ground.minimisation(), solution, settings)
        except Exception as error:  # noqa: BLE001 - the optimal point is there, whatever happens on the way from it
            moved = Solution(Status.FAILURE, message=words_of(error))
        if moved.x is not None:
            moved = replace(moved, objective=ground.objective(moved.x))
        self.clock.seconds["vertex"] = perf_counter() - start
        certificate = certify(ground, moved, self.settings.tolerance)
        if moved.status.has_point and certificate.is_optimal:
            self.certificate = certificate
            return replace(moved, backend=f"{solution.backend}, crossover by highs")
        return replace(
            solution,
            message=f"{solution.message}; crossover did not reach a certified vertex: {moved.message}",
        )


def _without_point(answer: Solution, status: Status, message: str) -> Solution:
    return Solution(status, iterations=answer.iterations, backend=answer.backend, message=message)


def _is_better(answer: Solution, certificate: Certificate, best: Solution, best_certificate: Certificate) -> bool:
    rank = {Status.FAILURE: 3, Status.ITERATION_LIMIT: 2, Status.TIME_LIMIT: 2, Status.OPTIMAL_INACCURATE: 1}
    new, old = rank.get(answer.status, 0), rank.get(best.status, 0)
    if new != old:
        return new < old
    return bool(
        np.nan_to_num(certificate.worst_residual, nan=np.inf)
        < np.nan_to_num(best_certificate.worst_residual, nan=np.inf)
    )


def _limited(settings: SolverSettings, limit: float | None) -> SolverSettings:
    """The settings with no more time than that."""
    return settings if limit is None else replace(settings, time_limit=_least(limit, settings.time_limit))


def _least(*limits: float | None) -> float | None:
    given = [limit for limit in limits if limit is not None]
    return min(given) if given else None
