"""A solve with ``approximate=``: rounds over classes beside the solve without them, whichever answers first.

The plain solve, with exact lifting and everything else that :func:`relift.solve` does, is what the caller would have
had. Rounds of approximate lifting (:mod:`relift.approximate.rounds`) are worked on between its iterations, as far as
they have earned time (:mod:`relift.approximate.budget`). A proved gap interrupts the plain solve; otherwise its answer
is returned, ``optimal`` with its certificate, and the report says why approximation was given up.

With ``budget=math.inf`` rounds come first, however long they take, and the plain solve is started, from the best point
that they found, only where they give up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter, thread_time
from typing import final

from relift.approximate.budget import Attempt as Steps
from relift.approximate.options import Approximation
from relift.approximate.report import ApproximationReport
from relift.approximate.restriction import Restriction
from relift.approximate.rounds import ApproximateAnswer, Rounds
from relift.certified_solve import Attempt, CertifiedSolve
from relift.lifting.certificate import Certificate, certify
from relift.lifting.lifting import Lifting, lift
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import LiftSettings, ProgressCallback, SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.registry import get_backend

PROOFS = {Status.OPTIMAL, Status.OPTIMAL_WITHIN_GAP, Status.INFEASIBLE, Status.UNBOUNDED}
"""What the rounds may end with so that the plain solve need not go on."""

UNTRIED = 0.5
"""The part of the budget that may be spent before classes are known to be few, and where they are not."""

FEWEST_ITERATIONS = 8
"""Interior-point methods hardly ever take fewer, each as long as the one before."""

FEWEST_SIMPLEX_ITERATIONS = 0.25
"""Simplex hardly ever takes fewer, as a part of the smaller of rows and variables."""

SIMPLEX_ITERATIONS = 8
"""The clock is looked at once in so many of them."""

ENDED_FIRST = "the solve without it ended first"


@final
@dataclass(frozen=True, eq=False)
class ApproximateResult:
    """The answer with everything that a result of :func:`relift.solve` tells of it."""

    solution: Solution
    certificate: Certificate
    lifting: Lifting
    timings: dict[str, float]
    attempts: tuple[Attempt, ...]
    report: ApproximationReport


@final
class ApproximateSolve:
    """One solve with ``approximate=``.

    Parameters
    ----------
    given
        The program, or a lifting of it that :func:`relift.lift` made with ``approximate=``.
    approximation
        How good, and how far to go.
    lift_settings
        How the plain solve looks for exact classes.
    settings
        What backends are told; the time limit is for everything since ``start``.
    backend
        The one chosen, or None for the default and those after it.
    start
        When the solve began, by ``perf_counter``.
    warm_start
        A point that the caller has.
    progress
        Progress callback.
    """

    def __init__(
        self,
        given: Program | Lifting,
        approximation: Approximation,
        lift_settings: LiftSettings,
        settings: SolverSettings,
        backend: Backend | None,
        start: float,
        warm_start: Solution | None,
        progress: ProgressCallback | None,
    ) -> None:
        self.program = given.program if isinstance(given, Lifting) else given
        self.options, self.lift_settings, self.settings = approximation, lift_settings, settings
        self.backend, self.start, self.given_point, self.progress = backend, start, warm_start, progress
        approximation.check(self.program)
        self.attempts: list[Attempt] = []
        self.began = thread_time()
        self.earned = math.inf
        self.next_step_at = -math.inf
        self.asked, self.fewest_iterations, self.is_interior_point = 0, 0.0, False
        self.first_iteration: float | None = None
        self.foreseen = 0.0
        self.error: BaseException | None = None
        self.exact = None if math.isinf(approximation.budget) else self._exact_lifting()
        self.rounds = Rounds(
            self._base(given), approximation, self._solve_small,
            tolerance=settings.tolerance, time_left=self._time_left, allowance=self._allowance, progress=progress,
        )  # fmt: skip
        self.steps = Steps(self.rounds.steps(), must_stop=self._is_late)

    def run(self) -> ApproximateResult:
        """Return the answer of whichever is first."""
        if self.exact is None:
            self.steps.advance(math.inf)
            answer = self.steps.outcome
            if not self.steps.is_finished:
                self.steps.close()
                answer = self.rounds.stopped(Status.TIME_LIMIT, "the time limit ended before the gap was reached")
            if answer is not None and (self.options.finish == "gap" or self._is_late()):
                return self._of_rounds(answer)
            return self._plain(self.rounds.warm_start())
        self._advance()
        if self._may_interrupt():
            assert self.steps.outcome is not None
            return self._of_rounds(self.steps.outcome)
        return self._plain(self.rounds.warm_start())

    # The plain solve, and the rounds between its iterations

    def _plain(self, point: Solution | None) -> ApproximateResult:
        beside = self.exact is not None and not self.steps.is_finished
        lifting = self._exact_lifting() if self.exact is None else self.exact
        small = lifting.small
        self.is_interior_point = not small.is_linear and (self.backend is None or self.backend.name == "clarabel")
        self.fewest_iterations = FEWEST_SIMPLEX_ITERATIONS * min(small.n_variables, small.n_rows)
        if self.is_interior_point:
            self.fewest_iterations = FEWEST_ITERATIONS
        settings = replace(self.settings, interrupt=self._interrupt) if beside else self.settings
        run = CertifiedSolve(lifting, settings, self.start, self.progress)
        solution = run.best_answer(self.backend, self.given_point if self.given_point is not None else point)
        self.attempts += run.attempts
        self.foreseen = 0.0
        if self.error is not None:
            raise self.error
        if beside and self._may_interrupt() and solution.status not in PROOFS:
            assert self.steps.outcome is not None
            return self._of_rounds(self.steps.outcome, run.seconds)
        self.steps.close()
        if solution.status == Status.TIME_LIMIT and self.rounds.state.x is not None:
            return self._of_rounds(self.rounds.stopped(Status.TIME_LIMIT, solution.message), run.seconds)
        if not self._is_answered():
            self.rounds.given_up = self._why_given_up(solution)
        self._earn(self.options.budget)
        answer = self.rounds.solved_without(solution, lifting, run.certificate.is_feasible)
        return ApproximateResult(
            solution, run.certificate, answer.lifting, self._timings(lifting, run.seconds), tuple(self.attempts),
            answer.report,
        )  # fmt: skip

    def _interrupt(self) -> bool:
        """Called by the backend between iterations: take the steps that were earned; whether they gave the answer."""
        if self.error is None and not self.steps.is_finished:
            self.asked += 1
            if not self.is_interior_point and self.asked % SIMPLEX_ITERATIONS:  # they are many and short
                return False
            try:
                self._foresee()
                if thread_time() >= self.next_step_at:
                    self._advance()
            except BaseException as error:  # noqa: BLE001 (no exception may travel through the code of a solver)
                self.error = error
        return self.error is not None or self._may_interrupt()

    def _advance(self) -> None:
        """Take the steps that the plain solve so far allows, and work out when the next one will be."""
        while not self.steps.is_finished:
            share = self._share()
            self._earn(share)
            self.steps.advance(self.earned)
            plain = self.steps.cost_so_far_and_next / share - self.foreseen
            self.next_step_at = self.began + self.steps.spent + plain
            if self._share() == share:
                break

    def _share(self) -> float:
        """How much of the time of the plain solve the rounds may take now."""
        return self.options.budget * (1.0 if self.rounds.is_promising else UNTRIED)

    def _earn(self, share: float) -> None:
        if math.isfinite(share):
            self.earned = share * (self._plain_seconds() + self.foreseen)

    def _plain_seconds(self) -> float:
        """What the plain solve has taken so far."""
        return max(0.0, thread_time() - self.began - self.steps.spent)

    def _foresee(self) -> None:
        """Foresee how long iterations to come will take at least, from those that were."""
        now = self._plain_seconds()
        if self.first_iteration is None:
            self.first_iteration, self.asked = now, 1
        elif self.asked > self.fewest_iterations:
            self.foreseen = 0.0
        else:
            each = (now - self.first_iteration) / (self.asked - 1)
            before, self.foreseen = self.foreseen, (self.fewest_iterations - self.asked + 1) * each
            self.next_step_at += before - self.foreseen

    def _allowance(self) -> float:
        return self.earned - self.steps.spent

    def _is_answered(self) -> bool:
        """Whether the rounds have an answer that stands by itself."""
        outcome = self.steps.outcome
        return outcome is not None and outcome.solution.status in PROOFS

    def _may_interrupt(self) -> bool:
        """Whether the plain solve need not go on."""
        return self._is_answered() and self.options.finish == "gap"

    def _why_given_up(self, plain: Solution) -> str:
        outcome = self.steps.outcome
        if outcome is not None:
            return outcome.solution.message
        late = "the time limit ended first" if plain.status == Status.TIME_LIMIT else ENDED_FIRST
        return self.rounds.given_up or late

    # Parts

    def _exact_lifting(self) -> Lifting:
        return lift(self.program, self.lift_settings, self.progress)

    def _base(self, given: Program | Lifting) -> Lifting:
        """What the rounds work on: classes that were found before, or the presolved program without any."""
        if isinstance(given, Lifting) and isinstance(given.quotient, Restriction):
            return given
        if self.exact is not None and self.exact.snapped is None and self.lift_settings.lift != "none":
            return self.exact
        settings = replace(self.lift_settings, lift="equitable", digits=None)
        return self.options.presolved(self.program, settings)

    def _solve_small(self, small: Program, warm_start: Solution | None, seconds: float) -> Solution:
        left = self._time_left()
        limits = [limit for limit in (left, seconds) if limit is not None and math.isfinite(limit)]
        settings = replace(
            self.settings,
            time_limit=max(min(limits), 1e-3) if limits else None,
            threads=None,  # HiGHS has one pool of threads, which a solve that is going on may be using
            interrupt=None,
        )
        unlifted = lift(small, LiftSettings(lift="none", reduce=False))
        run = CertifiedSolve(unlifted, settings, perf_counter(), None)
        backend = self.backend
        if backend is None and math.isfinite(self.options.budget):
            backend = get_backend("highs" if small.is_linear else "clarabel")  # no time to try one after the other
        solution = run.best_answer(backend, warm_start)
        self.attempts += run.attempts
        return solution

    def _time_left(self) -> float | None:
        limit = self.settings.time_limit
        return None if limit is None else limit - (perf_counter() - self.start)

    def _is_late(self) -> bool:
        left = self._time_left()
        return left is not None and left <= 0

    def _of_rounds(self, answer: ApproximateAnswer, seconds: dict[str, float] | None = None) -> ApproximateResult:
        certificate = certify(self.program, answer.solution, self.settings.tolerance)
        timings = self._timings(answer.lifting, seconds or {})
        return ApproximateResult(
            answer.solution, certificate, answer.lifting, timings, tuple(self.attempts), answer.report
        )

    def _timings(self, lifting: Lifting, seconds: dict[str, float]) -> dict[str, float]:
        return lifting.timings | seconds | {"approximate": self.steps.spent}
