"""A small program is given to backends until an answer passes its check on the ground program (stages 5 to 7).

The default backend first; then the same one with harder settings; then others. The status of the answer is ours: what
the certificate proves, not what a backend says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import final

import numpy as np

from relift.errors import BackendError
from relift.lifting.certificate import Certificate, certify
from relift.lifting.lifting import Lifting
from relift.lifting.quotient import IsometricForm
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import Progress, ProgressCallback, SolverSettings
from relift.solvers.backend import Backend, WarmStart
from relift.solvers.crossover import vertex_solution
from relift.solvers.feasibility import find_point_or_proof, find_recession_direction
from relift.solvers.registry import backend_names, get_backend

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
        for backend, settings in self._plan(chosen):
            left = self._time_left()
            if left is not None and left <= 0:
                break
            if self.attempts and self.settings.interrupt is not None and self.settings.interrupt():
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

    def _warm_start(self, point: Solution | None, isometric: IsometricForm | None) -> WarmStart | None:
        if point is None or point.x is None:
            return None
        small = self.lifting.restrict(point)
        if isometric is not None:
            small = isometric.from_plain(small)
        return WarmStart(small.x, small.y, small.w, small.v)

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


def _with_proof(small: Program, answer: Solution, settings: SolverSettings) -> Solution:
    """Complete a claim of infeasibility or unboundedness by the ray and the point that prove it."""
    settings = replace(settings, options={})
    if answer.status == Status.INFEASIBLE:
        if certify(small, answer, settings.tolerance).is_proved:
            return answer
        found = find_point_or_proof(small, settings)
        if found.status == Status.INFEASIBLE:
            return replace(answer, ray_y=found.ray_y, ray_w=found.ray_w, ray_z=found.ray_z, ray_v=found.ray_v)
        return replace(
            answer,
            status=Status.FAILURE,
            objective=float("nan"),
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
        return _not_proved(answer, "infeasibility")
    if answer.status == Status.UNBOUNDED:
        if certificate.is_proved and certificate.is_feasible:
            return replace(answer, objective=improves_for_ever)
        return _not_proved(answer, "unboundedness")
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


def _not_proved(answer: Solution, claim: str) -> Solution:
    message = f"{claim} is not proved: {answer.message}"
    return replace(answer, status=Status.FAILURE, objective=float("nan"), message=message)


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
