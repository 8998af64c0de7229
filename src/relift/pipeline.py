"""The stages from a program to its certified answer, in order: read this file to understand relift.

::

    Program ─ snap ─ presolve ─ find classes ─ verify ─ quotient ─▶ small Program
                                                                         │ solve (any backend)
    Result ◀─ certify on the original program ◀─ expand ◀────────────────┘

:data:`STAGES` lists them; :func:`relift.stages.run_stages` is the loop that runs, times and announces each. The first
five make a :class:`~relift.lifting.lifting.Lifting` (:mod:`relift.lifting.stages`); the last three are repeated, with
harder settings and other backends, until an answer passes its check (:mod:`relift.certified_solve`). What no backend
can certify is solved once more as it was given, without lifting; what does not pass then is ``optimal_inaccurate``
(residuals up to 1e-3) or ``failure``, never ``optimal``. Every program on the way is a
:class:`~relift.program.step.Step`: it knows how answers are expanded to the program before it.

What joins here:

- *Models over tables* are grounded into a program before the first stage (:mod:`relift.modelling`,
  :mod:`relift.grounding`).
- *Approximate lifting* (``approximate=``) merges nearly equal variables between the iterations of this very pipeline,
  and splits them until a proved gap is reached (:mod:`relift.approximate_solve`).
- *In-database lifting* (:mod:`relift.in_database`) finds classes and makes the quotient where the tables are, hands the
  small program to :func:`solve`, and certifies the expanded answer there with the same formulas.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, TypedDict

from relift.certified_solve import ANSWERING, RESERVE_SECONDS, AnswerWork, CertifiedSolve
from relift.errors import OptionError
from relift.lifting.certificate import certify
from relift.lifting.lifting import Lifting
from relift.lifting.lifting import lift as lift_with_settings
from relift.lifting.stages import LIFTING, LiftWork
from relift.program.huge_bounds import without_huge_bounds
from relift.program.other_models import other_model_error
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.result import Result
from relift.settings import (
    LiftMethod,
    LiftSettings,
    ProgressCallback,
    Reading,
    SolverSettings,
    check_positive,
    check_switch,
    suggests_options,
)
from relift.solvers.backend import Backend
from relift.solvers.registry import get_backend
from relift.stages import Stage
from relift.symmetry.partition import Partition
from relift.threads import using_threads

if TYPE_CHECKING:
    from relift.approximate.options import Approximation

_log = logging.getLogger("relift")

STAGES: tuple[Stage[LiftWork] | Stage[AnswerWork], ...] = (*LIFTING, *ANSWERING)
"""snap, presolve, find classes, verify, quotient; then solve, expand, certify, repeated until an answer passes."""

UNPROVED = frozenset({Status.FAILURE, Status.OPTIMAL_INACCURATE})
"""With these the original program is solved as it is, too."""

LIMITS = frozenset({Status.TIME_LIMIT, Status.ITERATION_LIMIT})


class LiftOptions(TypedDict, total=False):
    """How :func:`lift` and :func:`solve` look for classes, by name."""

    lift: LiftMethod
    values: Reading
    digits: int | None
    scale_rows: bool
    reduce: bool
    sizes: bool
    signs: bool


class ApproximateLiftOptions(LiftOptions, total=False):
    """Options of :func:`lift` by name."""

    approximate: Approximation | Partition | float | None


class SmallSolveOptions(ApproximateLiftOptions, total=False):
    """Options of :func:`solve` by name, for functions that pass them on and have a tolerance of their own."""

    backend: str
    time_limit: float | None
    iteration_limit: int | None
    threads: int | None
    verbose: bool
    backend_options: Mapping[str, object] | None
    vertex: bool


class SolveOptions(SmallSolveOptions, total=False):
    """Options of :func:`solve` by name, for functions that pass them on."""

    tolerance: float


@suggests_options
def lift(
    program: Program,
    *,
    lift: LiftMethod = "equitable",
    values: Reading = "decimal",
    digits: int | None = None,
    scale_rows: bool = True,
    reduce: bool = True,
    sizes: bool = True,
    signs: bool = True,
    approximate: Approximation | Partition | float | None = None,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
    method: LiftMethod | None = None,
) -> Lifting:
    """Find the equivalent variables and rows of a program and merge them.

    Parameters
    ----------
    program
        The original program.
    lift
        ``"equitable"`` compares sums and gives the fewest classes, ``"counting"`` multisets, ``"orbits"``
        the automorphism group; ``"none"`` merges nothing.
    values
        How floats are read: ``"decimal"``, so that .1 + .2 = .3, or ``"bits"``.
    digits
        Treat numbers closer than ``10**-digits`` relatively as one; ``lifting.snapped`` reports what was merged.
    scale_rows
        Compare rows up to a factor.
    reduce
        Presolve: substitute fixed variables, singleton rows and duplicate rows first.
    sizes
        Merge what is equal up to size or unit: x in kW and in MW, batteries of different capacities.
    signs
        Merge what is equal up to sign: flows whose direction was chosen at random, differences.
    approximate
        Merge what is nearly equal: a gap to aim at, classes, or an :class:`~relift.Approximation`. The small program is
        then a restriction; :func:`solve` of the lifting proves how good it is, and splits classes where needed.
    threads
        The most that passes over large matrices use; None for all cores. Classes do not depend on it.
    progress
        Callback, called when a stage begins and once per round of refinement.
    method
        The former name of ``lift``; deprecated.

    Examples
    --------
    >>> program = Program(P=[[2, 1], [1, 2]], q=[-1, -1], A=[[1, 1]], u=[4], lb=0)
    >>> lift(program).small
    Program(QP, min, 1 variables, 1 rows, 2 nonzeros)
    """
    if method is not None:
        warnings.warn("lift(method=...) is now lift(lift=...).", DeprecationWarning, stacklevel=2)
        lift = method
    if not isinstance(program, Program):
        raise other_model_error("relift.lift", program)
    settings = LiftSettings(lift, values, digits, scale_rows, reduce, sizes, signs)
    check_positive("threads", threads)
    with using_threads(threads):
        if approximate is not None:
            from relift.approximate.options import approximation_from

            return approximation_from(approximate).lift(program, settings, progress)
        return lift_with_settings(program, settings, progress)


@suggests_options
def solve(
    program: Program | Lifting,
    *,
    lift: LiftMethod = "equitable",
    values: Reading = "decimal",
    digits: int | None = None,
    scale_rows: bool = True,
    reduce: bool = True,
    sizes: bool = True,
    signs: bool = True,
    approximate: Approximation | Partition | float | None = None,
    backend: str = "auto",
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    iteration_limit: int | None = None,
    threads: int | None = None,
    verbose: bool = False,
    backend_options: Mapping[str, object] | None = None,
    vertex: bool = False,
    warm_start: Result | Solution | None = None,
    progress: ProgressCallback | None = None,
) -> Result:
    """Lift a program, solve the small one, and return the certified answer for the original program.

    Parameters
    ----------
    program
        The original program, or a lifting of it made before (then the options of lifting are those of that call).
    lift, values, digits, scale_rows, reduce, sizes, signs
        How classes are looked for; see :func:`lift`.
    approximate
        Merge what is nearly equal and stop at a proved gap: a gap such as 1e-3, classes to start from, or an
        :class:`~relift.Approximation`. ``result.lower_bound`` and ``result.upper_bound`` enclose the optimum.
    backend
        ``"auto"`` (HiGHS for LPs, Clarabel for QPs and cones, others if these fail), or a name of ``relift backends``.
    tolerance
        The largest relative residual on the original program that may be called optimal.
    time_limit
        Seconds of wall-clock time. Backends are told what lifting has left of it, the first one half of that; most look
        at the clock between iterations only, so that a large factorisation can overrun it.
    iteration_limit, verbose
        Passed to the backend.
    threads
        Passed to the backend, and the most that relift's own passes over large matrices use; None leaves the choice to
        the backend, and all cores to relift. Classes and residuals do not depend on it.
    backend_options
        Options of the backend, by its own names.
    vertex
        For linear programs: move the expanded point, which is not a vertex in general, to one (crossover).
    warm_start
        An earlier answer for a program of the same size.
    progress
        Callback, called when a stage begins and once per round of refinement.

    Returns
    -------
    Result
        Status ``optimal`` only if point and dual values passed their check on the original program;
        ``optimal_inaccurate`` if the best residual is at most 1e-3, ``failure`` without a point otherwise;
        ``infeasible`` and ``unbounded`` only with a ray that did; ``optimal_within_gap``, only with
        ``approximate``, if the point did and is proved to be within the gap.

    Raises
    ------
    NotAProgramError
        If it is neither; the message says what to write for a model of another tool.

    Examples
    --------
    >>> result = solve(Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0))
    >>> str(result.status), round(result.objective, 9), result.x.round(9).tolist(), result.lifting.small.n_variables
    ('optimal', 1.5, [0.5, 0.5, 0.5], 1)
    """
    start = perf_counter()
    if not isinstance(program, (Program, Lifting)):
        raise other_model_error("relift.solve", program)
    check_kinds(warm_start, progress, backend_options)
    check_switch("vertex", vertex)
    settings = SolverSettings(tolerance, time_limit, iteration_limit, threads, verbose, dict(backend_options or {}))
    chosen = None if backend == "auto" else get_backend(backend)
    point = warm_start.solution if isinstance(warm_start, Result) else warm_start
    how = LiftSettings(lift, values, digits, scale_rows, reduce, sizes, signs)
    how = program.settings if isinstance(program, Lifting) else how
    original = program.program if isinstance(program, Lifting) else program
    _refuse_what_does_not_fit(original, chosen, vertex=vertex)

    approximation = None
    if approximate is not None:
        from relift.approximate.options import approximation_from

        approximation = approximation_from(approximate)
    if isinstance(program, Lifting):
        approximation = program.approximation
    with using_threads(threads):
        if approximation is not None:
            if vertex:
                raise OptionError("vertex=True cannot be combined with approximate lifting.", "Remove one of them.")
            from relift.approximate_solve import ApproximateSolve

            found = ApproximateSolve(program, approximation, how, settings, chosen, start, point, progress).run()
            return _logged(
                Result(
                    original, found.solution, found.certificate, found.lifting, found.timings, found.attempts,
                    found.report,
                )
            )  # fmt: skip
        return _logged(_solve_exactly(program, how, settings, chosen, start, point, progress, vertex=vertex))


def _solve_exactly(
    program: Program | Lifting,
    how: LiftSettings,
    settings: SolverSettings,
    chosen: Backend | None,
    start: float,
    point: Solution | None,
    progress: ProgressCallback | None,
    *,
    vertex: bool,
) -> Result:
    lifting = first = program if isinstance(program, Lifting) else lift_with_settings(program, how, progress)
    if settings.verbose and lifting.hint is not None:
        print(f"relift: {lifting.hint}")
    run = CertifiedSolve(lifting, settings, start, progress)
    solution = run.best_answer(chosen, point)
    attempts, seconds = tuple(run.attempts), run.seconds
    if solution.status in UNPROVED and not lifting.is_original:
        unlifted = LiftSettings("none", reduce=False)
        whole, found = _another_way(lifting.program, unlifted, settings, chosen, start, point, progress)
        attempts += tuple(replace(each, message=f"without lifting: {each.message}") for each in whole.attempts)
        seconds = seconds | {name: seconds.get(name, 0.0) + more for name, more in whole.seconds.items()}
        if found.status not in UNPROVED and found.status not in LIMITS:
            run, lifting, solution = whole, whole.lifting, found
    plainer = without_huge_bounds(lifting.program) if solution.status in UNPROVED else None
    if plainer is not None:
        other, found = _another_way(plainer, how, settings, chosen, start, point, progress)
        attempts += tuple(replace(each, message=f"without bounds of 1e20: {each.message}") for each in other.attempts)
        certificate = certify(lifting.program, found, settings.tolerance)
        if certificate.is_optimal or (found.status == Status.INFEASIBLE and certificate.is_proved):
            run, solution, other.certificate = other, found, certificate
    if vertex and solution.status == Status.OPTIMAL:
        solution = run.at_a_vertex(solution)
        seconds["vertex"] = run.seconds["vertex"]
    return Result(lifting.program, solution, run.certificate, lifting, first.timings | seconds, attempts)


def _another_way(
    program: Program,
    how: LiftSettings,
    settings: SolverSettings,
    chosen: Backend | None,
    start: float,
    point: Solution | None,
    progress: ProgressCallback | None,
) -> tuple[CertifiedSolve, Solution]:
    """Solve the original program without lifting, or without bounds of 1e20: none is to be harder because of these.

    Sizes that are far apart, and values that were substituted, can cost digits. Without a time limit this may take half
    a minute, or twice as long as all that was tried before.
    """
    whole = lift_with_settings(program, how)
    if settings.time_limit is None and (chosen is None or chosen.has_time_limit):
        reserve = max(RESERVE_SECONDS, 2 * (perf_counter() - start))
        settings, start = replace(settings, time_limit=reserve), perf_counter()
    run = CertifiedSolve(whole, settings, start, progress)
    return run, run.best_answer(chosen, point)


def _logged(result: Result) -> Result:
    _log.info("%r in %.3f s", result, sum(result.timings.values()))
    return result


def check_kinds(warm_start: object, progress: object, backend_options: object) -> None:
    """Refuse arguments that would end in an error of Python somewhere else."""
    if warm_start is not None and not isinstance(warm_start, (Result, Solution)):
        raise OptionError(
            f"warm_start is a {type(warm_start).__name__}.",
            "Give an earlier result, or relift.Solution(relift.Status.OPTIMAL, x=...).",
        )
    if progress is not None and not callable(progress):
        raise OptionError(f"progress={progress!r} cannot be called.", "Give a function of one argument.")
    if backend_options is not None and not isinstance(backend_options, Mapping):
        raise OptionError(
            f"backend_options is a {type(backend_options).__name__}.", "Give a mapping of names to values."
        )


def _refuse_what_does_not_fit(program: Program, backend: Backend | None, *, vertex: bool) -> None:
    if vertex and not program.is_linear:
        kind = "conic" if len(program.conic) else "quadratic"
        raise OptionError(f"vertex=True is for linear programs, and this one is {kind}.", "Remove it.")
    if backend is not None and len(program.quadratic) and not backend.solves_quadratic_rows:
        raise OptionError(f"{backend.name} does not take quadratic constraints.", "Use clarabel, or remove backend=.")
    if backend is not None and len(program.conic) and not backend.solves_cones:
        raise OptionError(f"{backend.name} does not take cones.", "Use clarabel or scs, or remove backend=.")
