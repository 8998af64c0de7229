"""A small program is given to backends until an answer passes its check on the ground program (stages 5 to 7).

The default backend first; then the same one in other units (:mod:`relift.solvers.rescaling`) and with harder settings;
then others. The status of the answer is ours: what the certificate proves, not what a backend says. Whatever goes wrong
in a backend is a failure of that backend (:mod:`relift.solvers.answers`), and the next one is asked.

Of a time limit the first backend gets half, as long as there are others to turn to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import final

import numpy as np

from relift.lifting.certificate import Certificate, certify
from relift.lifting.lifting import Lifting
from relift.lifting.quotient import IsometricForm
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import Progress, ProgressCallback, SolverSettings
from relift.solvers.answers import ask, words_of
from relift.solvers.backend import Backend, WarmStart
from relift.solvers.crossover import vertex_solution
from relift.solvers.feasibility import find_recession_direction, points_or_proofs
from relift.solvers.registry import backend_names, get_backend
from relift.solvers.rescaling import Rescaled, rescaled

RESERVE_SECONDS = 30.0
"""A backend that is only tried because others failed may take this long, or ten times what they took."""

CEILING = 1e-3
"""A point with a larger residual than this is not called optimal_inaccurate: it is no answer."""

_CLAIMS = {Status.INFEASIBLE, Status.UNBOUNDED}


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

    def __str__(self) -> str:
        residual = "" if np.isnan(self.residual) else f", residual {self.residual:.2g}"
        return f"{self.backend} said {self.status}{residual}" + (f" ({self.message})" if self.message else "")


@dataclass(frozen=True)
class _Step:
    """One entry of the plan: whom to ask, how, and in which units if not in those of the program."""

    backend: Backend
    settings: SolverSettings
    units: Rescaled | None = None


class CertifiedSolve:
    """One solve: asks backends until an answer passes its check.

    Parameters
    ----------
    lifting
        The small program and the way back.
    settings
        What backends are told; the time limit is for everything since ``start``.
    start
        When the solve began, by ``perf_counter``.
    progress
        Told about each call.
    """

    def __init__(
        self, lifting: Lifting, settings: SolverSettings, start: float, progress: ProgressCallback | None
    ) -> None:
        self.lifting, self.settings, self.start, self.progress = lifting, settings, start, progress
        self.attempts: list[Attempt] = []
        self.seconds: dict[str, float] = {"solve": 0.0, "expand": 0.0, "check": 0.0}
        self.certificate = Certificate(settings.tolerance)

    def best_answer(self, chosen: Backend | None, start_point: Solution | None) -> Solution:
        """The first answer that is proved, or the best that was given; :attr:`certificate` is that of the answer."""
        best = Solution(Status.TIME_LIMIT, message="the time limit ended before a backend was called")
        best_certificate = self.certificate
        for step in self._plan(chosen):
            left = self._time_left()
            if left is not None and left <= 0:
                break
            if self.attempts and self.settings.interrupt is not None and self.settings.interrupt():
                break
            limit = _least(left, step.settings.time_limit)
            answer, certificate = self._ask(
                replace(step, settings=replace(step.settings, time_limit=limit)), start_point
            )
            if len(self.attempts) == 1 or _is_better(answer, certificate, best, best_certificate):
                best, best_certificate = answer, certificate
            if self._is_final(best):
                break
        self.certificate = best_certificate
        if best.status == Status.FAILURE:
            words = "; ".join(dict.fromkeys(map(str, self.attempts)))
            best = replace(best, message=f"no answer passed its check: {words}")
        return best

    def _is_final(self, answer: Solution) -> bool:
        """Whether the answer is proved, or the user's own limit ended the search for one."""
        if answer.status == Status.ITERATION_LIMIT:
            return self.settings.iteration_limit is not None
        if answer.status == Status.TIME_LIMIT:
            left = self._time_left()
            return left is not None and left <= 0
        return answer.status not in {Status.FAILURE, Status.OPTIMAL_INACCURATE}

    def _plan(self, chosen: Backend | None) -> Iterator[_Step]:
        """The backend with its settings, in other units, with harder settings, then the others (only for ``"auto"``).

        One that ran out of time is not asked again.
        """
        backends = [chosen] if chosen is not None else _backends_in_order(self.lifting.small)
        for position, backend in enumerate(backends):
            settings = self.settings
            left = self._time_left()
            share = None if left is None or position + 1 == len(backends) else perf_counter() + 0.5 * left
            if position:
                if settings.time_limit is not None and not backend.has_time_limit:
                    continue
                spent = perf_counter() - self.start
                reserve = max(RESERVE_SECONDS, 10 * spent) if backend.has_time_limit else None
                settings = replace(settings, options={}, time_limit=reserve)
            for step in self._steps(backend, settings):
                of_share = None if share is None else share - perf_counter()
                if of_share is not None and of_share <= 0:
                    break
                limit = _least(of_share, step.settings.time_limit)
                yield replace(step, settings=replace(step.settings, time_limit=limit))
                if self.attempts[-1].status == Status.TIME_LIMIT:
                    break

    def _steps(self, backend: Backend, settings: SolverSettings) -> Iterator[_Step]:
        """How one backend is asked: as it is, in the program's own units if these are others, with harder settings."""
        yield _Step(backend, settings)
        isometric = self._isometric(backend)
        units = rescaled(self.lifting.small if isometric is None else isometric.program)
        if units is not None:
            yield _Step(backend, settings, units)
        attempt = 1
        while (harder := backend.harder(settings, attempt)) is not None:
            yield _Step(backend, harder)
            attempt += 1

    def _isometric(self, backend: Backend) -> IsometricForm | None:
        """The form of the small program on which first-order methods behave as on the original; None for others."""
        is_wanted = backend.is_first_order and not self.lifting.symmetry.is_discrete
        return self.lifting.isometric() if is_wanted else None

    def _ask(self, step: _Step, start_point: Solution | None) -> tuple[Solution, Certificate]:
        """One call of a backend, expanded and certified; the status is ours, not the backend's."""
        backend, settings, units = step.backend, step.settings, step.units
        small = self.lifting.small
        start = perf_counter()
        isometric = self._isometric(backend)
        program = small if isometric is None else isometric.program
        if units is not None:
            program = units.program
        if self.progress is not None:
            self.progress(Progress("solve", f"{backend.name}: {small.n_variables} variables, {small.n_rows} rows"))
        answer = ask(backend, program, settings, self._warm_start(start_point, isometric, units))
        if units is not None:
            answer = units.to_original(answer)
        if isometric is not None:
            answer = isometric.to_plain(answer)
        said = answer.status
        if said in _CLAIMS:
            answer = self._with_proof(answer, settings)
        self.seconds["solve"] += (solved := perf_counter()) - start
        expanded = self.lifting.expand(answer)
        self.seconds["expand"] += (spread := perf_counter()) - solved
        certificate = certify(self.lifting.program, expanded, settings.tolerance)
        judged = self._judge(expanded, certificate)
        self.seconds["check"] += perf_counter() - spread
        residual = certificate.ray_residual if said in _CLAIMS else certificate.worst_residual
        note = answer.message if units is None else f"in other units: {answer.message}"
        self.attempts.append(Attempt(backend.name, said, solved - start, residual, note))
        return judged, certificate

    def _warm_start(
        self, point: Solution | None, isometric: IsometricForm | None, units: Rescaled | None
    ) -> WarmStart | None:
        if point is None or point.x is None:
            return None
        small = self.lifting.restrict(point)
        if isometric is not None:
            small = isometric.from_plain(small)
        start = WarmStart(small.x, small.y, small.w, small.v)
        return start if units is None else units.from_original(start)

    def _time_left(self) -> float | None:
        limit = self.settings.time_limit
        return None if limit is None else limit - (perf_counter() - self.start)

    def _with_proof(self, answer: Solution, settings: SolverSettings) -> Solution:
        """Complete a claim of infeasibility or unboundedness by the ray and the point that prove it."""
        small, tolerance = self.lifting.small, settings.tolerance
        if answer.status == Status.INFEASIBLE and certify(small, answer, tolerance).is_proved:
            return answer
        left = self._time_left()
        if left is not None and left <= 0:
            return answer
        settings = replace(settings, options={}, time_limit=_least(left, settings.time_limit))
        point = None
        for found in self._points_or_proofs(settings):
            if found.status == Status.INFEASIBLE and certify(small, found, tolerance).is_proved:
                rays = {name: getattr(found, name) for name in ("ray_y", "ray_w", "ray_z", "ray_v")}
                return replace(answer, status=Status.INFEASIBLE, x=None, ray_x=None, **rays)
            if found.x is not None and certify(small, Solution(Status.FAILURE, x=found.x), tolerance).is_feasible:
                point = found.x
                break
        if answer.status == Status.INFEASIBLE:
            if point is None:
                return answer
            said = f"{answer.message}: {answer.backend} called a program with a feasible point infeasible"
            return Solution(Status.FAILURE, iterations=answer.iterations, backend=answer.backend, message=said)
        answer = replace(answer, x=point)
        if certify(small, answer, tolerance).is_proved:
            return answer
        answer = replace(answer, ray_x=find_recession_direction(small, settings))
        if certify(small, answer, tolerance).is_proved or (units := rescaled(small)) is None:
            return answer
        direction = find_recession_direction(units.program, settings)
        return answer if direction is None else replace(answer, ray_x=direction * units.columns)

    def _points_or_proofs(self, settings: SolverSettings) -> Iterator[Solution]:
        """Points, or rays that say that there is none, that the small program may have: found in other units, too."""
        yield from points_or_proofs(self.lifting.small, settings)
        if (units := rescaled(self.lifting.small)) is not None:
            yield from map(units.to_original, points_or_proofs(units.program, settings))

    def _judge(self, answer: Solution, certificate: Certificate) -> Solution:
        """Give the answer the status that its certificate deserves."""
        best_of_all = -np.inf if self.lifting.program.sense == "min" else np.inf
        if answer.status == Status.INFEASIBLE:
            if certificate.is_proved:
                return replace(answer, objective=-best_of_all)
            return self._not_proved(answer, "infeasibility")
        if answer.status == Status.UNBOUNDED:
            if certificate.is_proved and certificate.is_feasible:
                return replace(answer, objective=best_of_all)
            return self._not_proved(answer, "unboundedness")
        if answer.x is None:
            return answer
        if certificate.is_optimal:
            return replace(answer, status=Status.OPTIMAL)
        if answer.status == Status.TIME_LIMIT or (
            answer.status == Status.ITERATION_LIMIT and self.settings.iteration_limit is not None
        ):
            return answer
        if certificate.worst_residual <= CEILING:
            note = f"worst relative residual {certificate.worst_residual:.2g} on the original program"
            return replace(answer, status=Status.OPTIMAL_INACCURATE, message=f"{answer.message}; {note}".strip("; "))
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
    names = ["highs", "clarabel"] if program.is_linear else ["clarabel", "piqp", "highs"]
    if len(program.conic):
        names = ["clarabel", "scs"]
    backends = [get_backend(name) for name in names if name in backend_names(installed=True)]
    return [
        backend
        for backend in backends
        if (len(program.quadratic) == 0 or backend.solves_quadratic_rows)
        and (len(program.conic) == 0 or backend.solves_cones)
    ]


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


def _least(*limits: float | None) -> float | None:
    given = [limit for limit in limits if limit is not None]
    return min(given) if given else None
