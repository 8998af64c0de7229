"""One lifted solve of a compiled problem: lift or re-use the classes, solve, and check the answer as compiled."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, final

import relift.pipeline as pipeline
from relift.cvxpy.backends import backend_for
from relift.cvxpy.compiled import Compiled
from relift.cvxpy.options import LiftedOptions
from relift.cvxpy.reports import report
from relift.cvxpy.reuse import Kept, lift_or_reuse
from relift.lifting.lifting import Lifting
from relift.pipeline import Result
from relift.program.solution import Solution, Status
from relift.settings import Progress


@final
@dataclass(frozen=True, eq=False)
class Memory:
    """What a problem keeps from one solve to the next.

    Parameters
    ----------
    ground
        Classes of the problem as compiled.
    answer
        The last answer for the problem as compiled, to start from.
    """

    ground: Kept
    answer: Solution | None = None


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """An answer for a compiled problem.

    Parameters
    ----------
    compiled
        The problem.
    answer
        Point and multipliers of the problem as compiled, or a proof that there is none.
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
    report: dict[str, Any]
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
        Start from the last answer.
    verbose
        Print what happens.
    """
    start = perf_counter()
    kept, how = lift_or_reuse(compiled.program, options.lift_settings(), memory.ground if memory else None)
    lift_seconds = perf_counter() - start
    last = memory.answer if memory is not None and warm_start else None
    result = _solve(kept.lifting, options, last, start, verbose)
    lifting, answer, certificate = kept.lifting, result.solution, result.certificate
    claim = result.attempts[-1].status if result.attempts else answer.status
    facts = report(compiled.program, lifting, result, certificate, how=how, lift_seconds=lift_seconds)
    solve_seconds = perf_counter() - start - lift_seconds
    keep = answer if answer.status is Status.OPTIMAL else None
    return Outcome(compiled, answer, claim, facts, lift_seconds, solve_seconds, Memory(kept, keep))


def _solve(lifting: Lifting, options: LiftedOptions, last: Solution | None, start: float, verbose: bool) -> Result:
    limit = options.time_limit
    return pipeline.solve(
        lifting,
        backend=backend_for(options.backend),
        tolerance=options.certificate_tolerance,
        time_limit=None if limit is None else max(limit - (perf_counter() - start), 1e-3),
        iteration_limit=options.iteration_limit,
        threads=options.threads,
        verbose=verbose,
        backend_options=options.backend_options,
        warm_start=last,
        progress=_print_progress if verbose else None,
    )


def _print_progress(step: Progress) -> None:
    if step.stage == "solve":
        print(f"relift: {step.message}")
