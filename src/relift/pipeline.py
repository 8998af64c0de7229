"""The way of a program through the house, in order: read this file to understand relift.

::

    Program ─ reduce ─ find classes, check them ─ quotient ─▶ small Program ─ backend ─┐
    Result  ◀─ certify on the ground program ◀─ restore ◀─ expand ◀────────────────────┘

1. ``lift`` (:mod:`relift.lifting.lifting`): what is known is substituted (:mod:`~relift.lifting.reduction`),
   indistinguishable variables, rows, quadratic constraints and cones are found (:mod:`relift.symmetry.find`), checked
   independently (:mod:`relift.symmetry.equitable`) and merged (:mod:`~relift.lifting.quotient`).
2. A backend (:mod:`relift.solvers`) solves the small program, without knowing that it is one
   (:mod:`relift.certified_solve` asks it).
3. Its answer is expanded to the ground program: point, multipliers, rays.
4. The answer is certified on the ground program (:mod:`~relift.lifting.certificate`). If it fails, the backend is asked
   again in other units and with harder settings, then another one is. What no backend can certify is called
   ``optimal_inaccurate`` (residuals up to 1e-3) or ``failure``, never ``optimal``.

With ``approximate=`` nearly indistinguishable variables are merged too, and split again until the gap between proved
bounds is small (:mod:`relift.approximate_solve`). Models over tables are grounded into programs first
(:mod:`relift.modelling`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, final

from relift.approximate.options import Approximation, approximation_from
from relift.approximate.report import ApproximationReport, Round
from relift.approximate_solve import ApproximateSolve
from relift.certified_solve import Attempt, CertifiedSolve
from relift.errors import OptionError
from relift.lifting.certificate import Certificate
from relift.lifting.lifting import Lifting
from relift.lifting.lifting import lift as lift_with_settings
from relift.program.program import Program
from relift.program.solution import Solution, Status, Vector
from relift.settings import LiftMethod, LiftSettings, ProgressCallback, Reading, SolverSettings
from relift.solvers.registry import get_backend
from relift.symmetry.partition import Partition


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
        """Lower bound on the optimum, of approximate lifting; NaN otherwise."""
        return float("nan") if self.approximation is None else self.approximation.lower_bound

    @property
    def upper_bound(self) -> float:
        """Upper bound on the optimum, of approximate lifting; NaN otherwise."""
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
    def v(self) -> Vector | None:
        """Multipliers of the conic rows, in the dual cones, or None."""
        return self.solution.v

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
    def ray_v(self) -> Vector | None:
        """Multipliers of the conic rows that prove infeasibility, or None."""
        return self.solution.ray_v

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
        return approximation_from(approximate).lift(program, settings, progress)
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
        Merge what is nearly equal and stop at a proved gap: a gap such as 1e-3, classes to start from, or an
        :class:`~relift.Approximation`. ``result.lower_bound`` and ``result.upper_bound`` enclose the optimum. Where
        this takes more than a share of the plain solve, the plain answer is returned, and
        ``result.approximation.given_up`` says why.
    backend
        ``"auto"`` (HiGHS for LPs, Clarabel for QPs and cones, others if these fail), or a name of ``relift backends``.
    tolerance
        The largest relative residual on the ground program that may be called optimal.
    time_limit
        Seconds of wall-clock time. Backends are told what lifting has left of it, the first one half of that; most look
        at the clock between iterations only, so that a large factorisation can overrun it.
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
        Status ``optimal`` only if point and multipliers passed their check on the ground program;
        ``optimal_inaccurate`` if the best residual is at most 1e-3, ``failure`` without a point otherwise;
        ``infeasible`` and ``unbounded`` only with a ray that did; ``optimal_within_gap``, only with
        ``approximate``, if the point did and is proved to be within the gap.

    Examples
    --------
    >>> result = solve(Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0))
    >>> str(result.status), round(result.objective, 9), result.x.round(9).tolist(), result.lifting.small.n_variables
    ('optimal', 1.5, [0.5, 0.5, 0.5], 1)
    """
    start = perf_counter()
    settings = SolverSettings(tolerance, time_limit, iteration_limit, threads, verbose, dict(backend_options or {}))
    chosen = None if backend == "auto" else get_backend(backend)
    start_point = warm_start.solution if isinstance(warm_start, Result) else warm_start
    approximation = None if approximate is None else approximation_from(approximate)
    if isinstance(program, Lifting):
        approximation = program.approximation
    if approximation is not None:
        if vertex:
            raise OptionError("vertex=True does not go with approximate lifting.", "Leave one of them out.")
        how = LiftSettings(lift, values, digits, scale_rows, reduce)
        how = program.settings if isinstance(program, Lifting) else how
        found = ApproximateSolve(program, approximation, how, settings, chosen, start, start_point, progress).run()
        original = program.program if isinstance(program, Lifting) else program
        return Result(
            original, found.solution, found.certificate, found.lifting, found.timings, found.attempts, found.report
        )
    if isinstance(program, Lifting):
        lifting = program
    else:
        lifting = lift_with_settings(program, LiftSettings(lift, values, digits, scale_rows, reduce), progress)
    if vertex and not lifting.program.is_linear:
        kind = "conic" if len(lifting.program.conic) else "quadratic"
        raise OptionError(f"vertex=True is for linear programs, and this one is {kind}.", "Leave it out.")
    if chosen is not None and len(lifting.program.quadratic) and not chosen.solves_quadratic_rows:
        raise OptionError(f"{chosen.name} does not take quadratic constraints.", "Use clarabel, or leave backend= out.")
    if chosen is not None and len(lifting.program.conic) and not chosen.solves_cones:
        raise OptionError(f"{chosen.name} does not take cones.", "Use clarabel or scs, or leave backend= out.")
    run = CertifiedSolve(lifting, settings, start, progress)
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
