"""One lifted solve of a compiled problem: lift or re-use the classes, solve, and check the answer as compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Unpack, final

import relift.pipeline as pipeline
from relift.arrays import Labels
from relift.bridges.cvxpy.backends import backend_for
from relift.bridges.cvxpy.compiled import Compiled, Layout
from relift.bridges.cvxpy.options import LiftedOptions
from relift.bridges.cvxpy.recovery import Recovered, recover
from relift.bridges.cvxpy.reports import report
from relift.bridges.cvxpy.reuse import Kept, lift_or_reuse
from relift.certified_solve import Attempt
from relift.kept_solvers import KeptSolvers
from relift.lifting.certificate import Certificate, certify
from relift.lifting.lifting import Lifting
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.result import Result
from relift.solvers.registry import get_backend


@final
@dataclass(frozen=True, eq=False)
class Memory:
    """What a problem keeps from one solve to the next.

    Parameters
    ----------
    ground
        Classes of the problem as compiled.
    recovered
        Which reading of the cones was used, if any, and its classes.
    fruitless
        The options with which reading the cones otherwise was tried on these classes and gained nothing, if it was.
    answer
        The last answer for the problem as compiled, to start from.
    layout
        Where the numbers of the problem stand in the arrays of CVXPY.
    """

    ground: Kept | None = None
    recovered: tuple[int, Kept] | None = None
    fruitless: LiftedOptions | None = None
    answer: Solution | None = None
    layout: Layout | None = None


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """An answer for a compiled problem.

    Parameters
    ----------
    compiled
        The problem.
    answer
        Point and dual values of the problem as compiled, or a proof that there is none.
    claim
        What the backend said last, proved or not.
    report
        Sizes, classes, seconds, residuals: what ``solver_stats.extra_stats`` shows.
    lift_seconds, solve_seconds
        Where the time went.
    memory
        For the next solve.
    """

    compiled: Compiled
    answer: Solution
    claim: Status
    report: dict[str, object]
    lift_seconds: float
    solve_seconds: float
    memory: Memory


def solve_compiled(
    compiled: Compiled, options: LiftedOptions, memory: Memory | None, *, warm_start: bool, verbose: bool
) -> Outcome:
    """Solve a compiled problem through its quotient.

    Parameters
    ----------
    compiled
        The problem.
    options
        How.
    memory
        What the last solve of the same problem left.
    warm_start
        Start from the last answer, with the solver object of the last time where it fits.
    verbose
        Print what happens.
    """
    run = _Run(compiled, options, memory or Memory(), warm_start, verbose)
    if options.approximate is not None:
        return run.approximately()
    found = run.through_recovery() if options.recover and options.lift != "none" else None
    return found or run.directly()


class _Run:
    """One solve: what it was asked, and since when."""

    def __init__(
        self, compiled: Compiled, options: LiftedOptions, memory: Memory, warm_start: bool, verbose: bool
    ) -> None:
        self.compiled, self.options, self.memory, self.verbose = compiled, options, memory, verbose
        self.last = memory.answer if warm_start else None
        self.may_go_on = warm_start
        self.backend = backend_for(options.backend)
        self.start = perf_counter()
        self.lift_seconds = 0.0
        self.ground: tuple[Kept, str] | None = None
        self.is_fruitless = False
        self.attempts: tuple[Attempt, ...] = ()

    def approximately(self) -> Outcome:
        """Merge what is nearly equal in the problem as it was compiled, to a proved gap."""
        settings = self.options.lift_settings()
        result = self._solve(
            self.compiled.program, self.last, lift=settings.lift, values=settings.values, digits=settings.digits,
            scale_rows=settings.scale_rows, reduce=settings.reduce, sizes=settings.sizes, signs=settings.signs,
            approximate=self.options.approximate,
        )  # fmt: skip
        return self._outcome(result, result.solution, result.certificate, "approximate", Memory())

    def directly(self) -> Outcome:
        """Lift and solve the problem as it was compiled."""
        kept, how = self._lift_ground()
        result = self._solve(kept.lifting, self.last)
        if result.lifting.is_trivial and not kept.lifting.is_trivial:  # the small problem had no answer, the whole has
            how = "not used"
        return self._outcome(result, result.solution, result.certificate, how, self._memory_without_recovery(kept))

    def _memory_without_recovery(self, kept: Kept) -> Memory:
        """What the next solve may know of reading the cones otherwise: what this one found, or one before it."""
        if self.is_fruitless:
            return Memory(kept, fruitless=self.options)
        are_old_classes = self._lift_ground()[1] != "found"
        return Memory(kept, self.memory.recovered, self.memory.fruitless if are_old_classes else None)

    def through_recovery(self) -> Outcome | None:
        """Lift and solve what CVXPY has hidden in cones; None if nothing is gained, or the answer is not proved."""
        ground = self.compiled.program
        chosen = self._best_recovery()
        if chosen is None:
            return None
        recovered, number, kept, how = chosen
        self.is_fruitless = True  # until its answer has passed
        result = self._solve(kept.lifting, None if self.last is None else recovered.restrict(self.last))
        self.attempts = result.attempts
        if result.status is not Status.OPTIMAL:
            return None
        answer = recovered.expand(result.solution)
        certificate = certify(ground, answer, self.options.certificate_tolerance)
        if not certificate.is_optimal:
            return None
        old = self.ground[0] if self.ground is not None else self.memory.ground
        return self._outcome(result, answer, certificate, how, Memory(old, (number, kept)), str(recovered))

    def _best_recovery(self) -> tuple[Recovered, int, Kept, str] | None:
        """The way of reading the problem that lets most variables merge, or that is much shorter; None to leave it."""
        ground = self.compiled.program
        if len(ground.conic) == 0 and ground.P is None:
            return None
        if self.memory.fruitless == self.options and self._lift_ground()[1] != "found":
            self.is_fruitless = True  # as the last time: the classes are still the same
            return None
        begin, before = perf_counter(), self.lift_seconds
        found, best = self._recovered(), None
        if self.memory.recovered is not None:
            number, kept = self.memory.recovered
            if number < len(found):
                kept, how = lift_or_reuse(found[number].program, self.options.lift_settings(), kept)
                best = (found[number], number, kept, how) if how != "found" else None
        if best is None and found:
            best = self._much_shorter(found) or self._best_of(found)
        self.lift_seconds = before + perf_counter() - begin
        self.is_fruitless = best is None and not self._is_late()
        return best

    def _recovered(self) -> tuple[Recovered, ...]:
        """All ways of reading the problem."""
        # Orbits are not offered for quadratic constraints; means and norms can be turned back all the same.
        quadratics = self.options.lift != "orbits" and self._takes_quadratics()

        def labels() -> Labels:
            old = self.memory.ground
            if old is not None and old.lifting.program.n_variables == self.compiled.program.n_variables:
                return old.lifting.class_of_variable  # good enough to guess what is worth looking for
            return self._lift_ground()[0].lifting.class_of_variable

        return recover(self.compiled.program, quadratics=quadratics, is_late=self._is_late, labels=labels)

    def _much_shorter(self, found: Sequence[Recovered]) -> tuple[Recovered, int, Kept, str] | None:
        """The last way, if it leaves a tenth of the problem or less: the problem as compiled need not be lifted."""
        number, one = len(found) - 1, found[-1]
        if self.ground is not None or not one.is_shorter(one.program, self.compiled.program, 0.1):
            return None
        return one, number, *lift_or_reuse(one.program, self.options.lift_settings(), None)

    def _best_of(self, found: Sequence[Recovered]) -> tuple[Recovered, int, Kept, str] | None:
        best, smallest = None, self._lift_ground()[0].lifting.small
        fewest = min(one.n_classes(self._lift_ground()[0].lifting) for one in found)
        for number, one in enumerate(found):
            if self._is_late():
                return None
            kept, how = lift_or_reuse(one.program, self.options.lift_settings(), None)
            n_classes, small = one.n_classes(kept.lifting), kept.lifting.small
            if n_classes < fewest or (n_classes == fewest and one.is_shorter(small, smallest)):
                best, fewest, smallest = (one, number, kept, how), n_classes, small
        return best

    def _is_late(self) -> bool:
        limit = self.options.time_limit
        return limit is not None and perf_counter() - self.start >= limit

    def _takes_quadratics(self) -> bool:
        return self.backend == "auto" or get_backend(self.backend).solves_quadratic_rows

    def _lift_ground(self) -> tuple[Kept, str]:
        if self.ground is None:
            begin = perf_counter()
            self.ground = lift_or_reuse(self.compiled.program, self.options.lift_settings(), self.memory.ground)
            self.lift_seconds += perf_counter() - begin
        return self.ground

    def _solve(
        self, given: Program | Lifting, last: Solution | None, **how: Unpack[pipeline.ApproximateLiftOptions]
    ) -> Result:
        limit, options = self.options.time_limit, self.options
        if isinstance(given, Lifting) and not self.may_go_on:  # nothing of the last solve, the solver object included
            given = replace(given, solvers=KeptSolvers())
        if self.verbose and isinstance(given, Lifting):
            print(f"relift: {_shown(given.program)} -> {_shown(given.small)}")
        return pipeline.solve(
            given,
            backend=self.backend,
            tolerance=options.certificate_tolerance,
            time_limit=None if limit is None else max(limit - (perf_counter() - self.start), 1e-9),
            iteration_limit=options.iteration_limit,
            threads=options.threads,
            verbose=self.verbose,
            backend_options=options.backend_options,
            warm_start=last,
            **how,
        )

    def _outcome(
        self, result: Result, answer: Solution, certificate: Certificate, how: str, memory: Memory, recovered: str = ""
    ) -> Outcome:
        attempts = result.attempts if recovered else (*self.attempts, *result.attempts)
        claim = attempts[-1].status if attempts else answer.status
        facts = report(
            self.compiled.program, result, certificate, attempts,
            how=how, recovered=recovered, lift_seconds=self.lift_seconds,
        )  # fmt: skip
        if answer.status is Status.UNBOUNDED and answer.ray_x is not None:
            facts["direction"] = answer.ray_x.tolist()
        if self.verbose:
            is_ray = answer.status in {Status.INFEASIBLE, Status.UNBOUNDED}
            residual = certificate.ray_residual if is_ray else certificate.worst_residual
            print(f"relift: {answer.status}, worst residual {residual:.1g} on the problem as compiled")
        seconds = perf_counter() - self.start - self.lift_seconds
        is_found = answer.status in {Status.OPTIMAL, Status.OPTIMAL_WITHIN_GAP}
        memory = replace(memory, answer=answer if is_found else None, layout=self.compiled.layout)
        return Outcome(self.compiled, answer, claim, facts, self.lift_seconds, seconds, memory)


def _shown(program: Program) -> str:
    parts = [f"{program.n_variables} variables", f"{program.n_rows} rows"]
    if len(program.conic):
        parts.append(f"{len(program.conic)} cones")
    if len(program.quadratic):
        parts.append(f"{len(program.quadratic)} quadratic constraints")
    return ", ".join(parts)
