r"""Approximate lifting: solve over classes, prove how good that is, split what costs most, until it is good enough.

::

    classes ─ restriction x = Sz ─ solve ─▶ point, upper bound ─┐
      ▲            └ infeasible? averages of rows, repaired     ├─▶ gap ≤ asked: done
      └────────── split the worst classes ◀── multipliers, lower bound (proved)

Every round works on the ground program (after exact substitutions): the upper bound is the objective at a point whose
rows and bounds were checked there, the lower bound is proved by :mod:`relift.approximate.lower_bound`. So
classes may come from anywhere, and at worst all of them are split and the round is the ground program itself.

An infeasible restriction does not mean an infeasible program. Its ray is tried as a proof on the ground program; where
it is none, rows of a class are averaged and the point is repaired, and classes are split along the ray.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import final

import numpy as np

from relift.approximate.dual_ascent import ascend
from relift.approximate.lower_bound import EPSILON, BoundProver, LowerBound
from relift.approximate.options import Approximation
from relift.approximate.repair import repaired_multipliers, repaired_point, violation
from relift.approximate.restriction import Restriction, averaged, bound_multipliers, restrict
from relift.approximate.splitting import split_rows_by_variables, split_worst
from relift.lifting.certificate import certify
from relift.lifting.lifting import Lifting
from relift.lifting.quotient import Quotient, quotient
from relift.program.program import Program
from relift.program.solution import Solution, Status, Vector
from relift.settings import Progress, ProgressCallback
from relift.symmetry.find import Symmetry, no_symmetry

SmallSolver = Callable[[Program, Solution | None], Solution]
"""Solves a minimisation, warm where it can; its answers are certified on the program that it was given."""

DISCRETE = 0.5
"""Once this part of the variables is a class by itself, the next round is the ground program."""

CORRECTIONS = 3
"""How often multipliers are corrected by least squares in a round."""

WORTHWHILE = 1e4
"""Multipliers are corrected only if the gap is within this multiple of the one asked for."""

PATIENCE = 3
"""Rounds in which the gap must halve, or the ground program is solved."""

MANY_ROWS = 1000
"""From so many rows on those of a quadratic program are averaged first, if their classes are far fewer."""

RADIUS = 1e4
"""Variables without any bound are taken to lie within this multiple of the largest entry of the point found."""


@final
@dataclass(frozen=True)
class Round:
    """One round of approximate lifting.

    Parameters
    ----------
    kind
        ``"restriction"`` (all rows kept), ``"averages"`` (rows averaged, point repaired) or ``"ground"``.
    classes, rows
        Variables and rows of the small program.
    status
        How it was solved.
    lower, upper, gap
        What is proved of the ground optimum after this round, in the sense of the program.
    seconds
        Since the start.
    """

    kind: str
    classes: int
    rows: int
    status: Status
    lower: float
    upper: float
    gap: float
    seconds: float


@final
@dataclass(frozen=True)
class ApproximationReport:
    """What approximate lifting proved.

    Parameters
    ----------
    lower_bound, upper_bound
        They enclose the optimum of the ground program, in its own sense. The bound that no point can beat is proved,
        rounding included; the other is the objective of a point that keeps rows and bounds within the tolerance.
    gap
        Their distance relative to max(1, |objective|).
    asked
        The gap that was asked for.
    rounds
        What each round reached.
    radius
        Infinite if the proof needs no assumption; else it holds for points whose variables without any bound lie in
        [-radius, radius].
    method
        How the first classes were found.
    """

    lower_bound: float
    upper_bound: float
    gap: float
    asked: float
    rounds: tuple[Round, ...]
    radius: float
    method: str

    @property
    def is_reached(self) -> bool:
        """Whether the gap is what was asked for."""
        return self.gap <= self.asked

    def __str__(self) -> str:
        last = f"{self.rounds[-1].classes} classes" if self.rounds else "no round"
        return (
            f"[{self.lower_bound:.9g}, {self.upper_bound:.9g}], gap {self.gap:.2g}, {len(self.rounds)} rounds, {last}"
        )


@final
@dataclass(frozen=True, eq=False)
class ApproximateAnswer:
    """The answer for the ground program with its classes and bounds.

    Parameters
    ----------
    solution
        For the ground program; its status is given by the bounds, or by the solver where the last round was exact.
    lifting
        The classes of the last round.
    report
        What was proved.
    """

    solution: Solution
    lifting: Lifting
    report: ApproximationReport


def relative_gap(lower: float, upper: float) -> float:
    """Distance of two bounds relative to the upper one, floor 1.

    Examples
    --------
    >>> relative_gap(99.0, 100.0), relative_gap(-0.25, 0.25), relative_gap(-math.inf, 3.0)
    (0.01, 0.5, inf)
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return math.inf
    return max(0.0, upper - lower) / max(1.0, abs(upper))


def solve_approximately(
    lifting: Lifting,
    approximation: Approximation,
    solve_small: SmallSolver,
    *,
    tolerance: float = 1e-6,
    time_left: Callable[[], float | None] = lambda: None,
    progress: ProgressCallback | None = None,
) -> ApproximateAnswer:
    """Run rounds until the proved gap is the one asked for, or the budget ends.

    Parameters
    ----------
    lifting
        The program, its exact substitutions, and the first classes.
    approximation
        How good, and how far to go.
    solve_small
        Solves the small programs.
    tolerance
        What a point may break rows and bounds by, relative to 1 + the bound.
    time_left
        Tells the seconds that are left, or None.
    progress
        Told about every round.
    """
    return _Rounds(lifting, approximation, solve_small, tolerance, time_left, progress).run()


@dataclass
class _State:
    """The best that is known, on the reduced program."""

    x: Vector | None = None
    upper: float = math.inf
    lower: LowerBound | None = None
    rounds: list[Round] = field(default_factory=list)

    @property
    def lower_value(self) -> float:
        return -math.inf if self.lower is None else self.lower.value

    @property
    def gap(self) -> float:
        return relative_gap(self.lower_value, self.upper)


class _Rounds:
    """The loop; one object for one solve."""

    def __init__(
        self,
        lifting: Lifting,
        approximation: Approximation,
        solve_small: SmallSolver,
        tolerance: float,
        time_left: Callable[[], float | None],
        progress: ProgressCallback | None,
    ) -> None:
        self.lifting, self.options, self.solve_small = lifting, approximation, solve_small
        self.tolerance, self.time_left, self.progress = tolerance, time_left, progress
        self.program = lifting.reduction.program
        self.symmetry = lifting.symmetry
        self.prover = BoundProver(self.program)
        self.state = _State()
        self.start = perf_counter()
        self.current: Restriction | None = None
        self.averages_only = approximation.rows == "average"
        self.backend = ""
        self.next_correction = 0.0
        self.split_values: Vector | None = None
        self.split_scores: Vector | None = None
        self.row_scores: Vector | None = None

    def run(self) -> ApproximateAnswer:
        """Rounds, then the verdict on the ground program."""
        for number in range(1, self.options.max_rounds + 1):
            left = self.time_left()
            if left is not None and left <= 0:
                return self._finish(Status.TIME_LIMIT, "the time limit ended before the gap was reached")
            if self.symmetry.variables.is_discrete:
                return self._ground_round(number)
            final_answer = self._round(number)
            if final_answer is not None:
                return final_answer
            if self.state.gap <= self.options.gap:
                return self._finish(Status.OPTIMAL_WITHIN_GAP, "")
            before = self.symmetry
            limit = self.options.max_classes
            if limit is not None and self.symmetry.variables.n_classes >= limit:
                return self._finish(Status.ITERATION_LIMIT, f"max_classes={limit} was reached before the gap")
            if limit is None and self._is_stalled():
                self._go_discrete()
                continue
            self._split()
            if self._is_same(before):
                if limit is not None:
                    return self._finish(Status.ITERATION_LIMIT, f"nothing is left to split within max_classes={limit}")
                self._go_discrete()
        return self._finish(
            Status.ITERATION_LIMIT, f"max_rounds={self.options.max_rounds} ended before the gap was reached"
        )

    # One round

    def _round(self, number: int) -> ApproximateAnswer | None:
        """Solve over the classes; a final answer only if the program is proved infeasible or unbounded."""
        self.split_values = self.split_scores = self.row_scores = None
        answer: Solution | None = None
        kinds, tried = self._kinds(), ""
        for kind in kinds:
            build = averaged if kind == "averages" else restrict
            small = build(self.program, self.symmetry)
            if kind == "restriction" and len(kinds) > 1 and self._is_overdetermined(small):
                continue
            self.current, tried = small, kind
            answer = self._solve(self.current)
            final_answer = self._use(answer, number, kind)
            if final_answer is not None:
                return final_answer
            if answer.status == Status.OPTIMAL and math.isfinite(self.state.upper):
                # Where averages gave a point and rows as they are did not, the next rounds need not try these.
                self.averages_only |= kind == "averages" and self.options.rows == "auto"
                break
        assert answer is not None
        assert self.current is not None
        self._note(number, tried, self.current.program, answer.status)
        return None

    def _kinds(self) -> tuple[str, ...]:
        """What to try in this round, in order: rows as they are, or averaged where that leaves far fewer of them."""
        if self.options.rows == "keep":
            return ("restriction",)
        if self.averages_only:
            return ("averages",)
        is_large = self.program.n_rows > max(MANY_ROWS, 4 * self.symmetry.rows.n_classes)
        if is_large and not self.program.is_linear:  # simplex does not mind many rows over few variables
            return ("averages", "restriction")
        return ("restriction", "averages")

    @staticmethod
    def _is_overdetermined(restriction: Restriction) -> bool:
        """More distinct equalities than unknowns: hardly ever feasible, and simplex need not find out."""
        small = restriction.program
        return int((small.l == small.u).sum()) > small.n_variables

    def _solve(self, restriction: Restriction) -> Solution:
        state = self.state
        warm = None
        if state.x is not None and state.lower is not None:
            w = bound_multipliers(self.program, state.x, state.lower.y)
            warm = restriction.average(Solution(Status.OPTIMAL, x=state.x, y=state.lower.y, w=w))
        answer = self.solve_small(restriction.program, warm)
        self.backend = answer.backend or self.backend
        return restriction.expand(answer)

    def _use(self, answer: Solution, number: int, kind: str) -> ApproximateAnswer | None:
        """Take bounds from the answer of a round, and what to split by."""
        assert self.current is not None
        if answer.status == Status.INFEASIBLE and answer.ray_y is not None:
            if certify(self.program, answer, self.tolerance).is_proved:
                self._note(number, kind, self.current.program, answer.status)
                return self._proved(answer)
            spread = self.program.A.T @ answer.ray_y
            self.split_values, self.split_scores = spread, self._distance_from_class_mean(spread)
            return None
        if answer.status == Status.UNBOUNDED and answer.x is not None and answer.ray_x is not None:
            proof = certify(self.program, answer, self.tolerance)
            if proof.is_proved and proof.is_feasible:
                self._note(number, kind, self.current.program, answer.status)
                return self._proved(answer)
        if answer.x is None:
            return None
        x = answer.x
        if violation(self.program, x) > self.tolerance:
            broken = self.program.A @ x
            broken -= np.clip(broken, self.program.l, self.program.u)
            repaired = repaired_point(self.program, x, 0.1 * self.tolerance)
            if repaired is None:
                wish = self.program.A.T @ broken
                self.split_values, self.split_scores = wish, self._distance_from_class_mean(wish)
                self.row_scores = np.abs(broken)
            else:
                x = repaired
        self._take_point(x)
        if answer.y is not None:
            self._prove(x, answer.y)
        return None

    def _take_point(self, x: Vector) -> None:
        """Keep a point if it is feasible and better than the best."""
        if violation(self.program, x) <= self.tolerance:
            value = self.program.objective(x)
            if value < self.state.upper:
                self.state.upper, self.state.x = value, x

    def _prove(self, v: Vector, y: Vector) -> None:
        """Try the multipliers as they are, averaged over row classes, and repaired; keep the best bound."""
        state = self.state
        candidates = [y]
        rows, scales = self.symmetry.rows, self.symmetry.row_scales
        if not rows.is_discrete:
            totals = np.bincount(rows.labels, y * scales, rows.n_classes)
            candidates.append(totals[rows.labels] / (scales * rows.class_sizes[rows.labels]))
        best = self._bound(v, candidates[-1])
        if len(candidates) > 1 and not self._is_enough(best):
            best = max(best, self._bound(v, candidates[0]), key=lambda bound: bound.value)
        before = best.value
        gap = relative_gap(best.value, state.upper)
        # Corrections remove what noise left, not what classes that are much too coarse did.
        is_near = gap <= WORTHWHILE * self.options.gap or (math.isinf(gap) and math.isfinite(state.upper))
        if is_near and self.symmetry.variables.n_classes >= self.next_correction:
            best = self._corrected(v, best)
        if not is_near or (best.value > before and best.value >= state.lower_value):
            self.next_correction = 0.0
        else:  # it does not pay now: wait until there are half as many classes again
            self.next_correction = 1.5 * self.symmetry.variables.n_classes
        if state.lower is None or best.value > state.lower.value:
            state.lower = best
        if self.split_values is None:
            self.split_values, self.split_scores, self.row_scores = best.gradient, best.variable_gap, best.row_gap

    def _corrected(self, v: Vector, best: LowerBound) -> LowerBound:
        """The best bound that corrections of the multipliers reach: by least squares, then by first-order steps."""
        state = self.state
        if not self._is_enough(best) and self.prover.sharpen():
            best = max(best, self._bound(v, best.y), key=lambda bound: bound.value)
        best = self._repaired(v, best)
        if not self._is_enough(best):
            for point, multipliers in ascend(self.program, v, best.y, *self.prover.box(state.upper)):
                best = max(best, self._bound(point, multipliers), key=lambda bound: bound.value)
                if self._is_enough(best):
                    break
            best = self._repaired(v, best)
        return best

    def _repaired(self, v: Vector, bound: LowerBound) -> LowerBound:
        """The best bound that a few corrections of the multipliers reach; they may overshoot, so all are proved."""
        best = current = bound
        for _ in range(CORRECTIONS):
            if self._is_enough(best):
                break
            box = self.prover.box(self.state.upper)
            y = repaired_multipliers(self.program, v, current, *box, self.prover.curvature)
            tried = [self._bound(v, t * y + (1 - t) * current.y) for t in (1.0, 0.3)]
            current = max(tried, key=lambda bound: bound.value)
            best = max(best, current, key=lambda bound: bound.value)
        return best

    def _is_enough(self, bound: LowerBound) -> bool:
        """Whether the bound closes the gap, with a little to spare for the substitutions."""
        return relative_gap(bound.value, self.state.upper) <= 0.9 * self.options.gap

    def _bound(self, v: Vector, y: Vector) -> LowerBound:
        known = self.options.radius is not None
        plain = self.prover.prove(v, y, self.state.upper, self._radius(v), radius_is_known=known)
        if self._is_enough(plain):
            return plain
        return self.prover.prove(v, y, self.state.upper, self._radius(v), radius_is_known=known, search_multiple=True)

    def _radius(self, v: Vector) -> float:
        if self.options.radius is not None:
            return self.options.radius
        return RADIUS * (1.0 + float(np.abs(v).max(initial=0.0)))

    def _distance_from_class_mean(self, values: Vector) -> Vector:
        variables = self.symmetry.variables
        means = np.bincount(variables.labels, values, variables.n_classes) / variables.class_sizes
        return np.abs(values - means[variables.labels])

    # Splitting

    def _split(self) -> None:
        variables, rows = self.symmetry.variables, self.symmetry.rows
        limit = self.options.max_classes
        if self.split_values is not None and self.split_scores is not None:
            variables = split_worst(variables, self.split_values, self.split_scores, limit)
        if self.row_scores is not None and not rows.is_discrete:
            rows = split_worst(rows, self.row_scores, self.row_scores)
        tolerance = self.options.tolerance_in_use
        rows = split_rows_by_variables(self.program.A, rows, variables, self.symmetry.row_scales, tolerance)
        self.symmetry = Symmetry(variables, rows, self.symmetry.row_scales, self.symmetry.method)
        if limit is None and variables.n_classes > DISCRETE * variables.size:
            self._go_discrete()

    def _is_same(self, before: Symmetry) -> bool:
        same_rows = self.symmetry.rows.n_classes == before.rows.n_classes
        return self.symmetry.variables.n_classes == before.variables.n_classes and same_rows

    def _is_stalled(self) -> bool:
        """Whether the last rounds did not even halve the gap: then the ground program itself is the shorter way."""
        rounds = self.state.rounds
        if len(rounds) <= PATIENCE:
            return False
        return math.isinf(rounds[-1].gap) or rounds[-1].gap > 0.5 * rounds[-1 - PATIENCE].gap

    def _go_discrete(self) -> None:
        self.symmetry = replace(no_symmetry(self.program), method=self.symmetry.method)

    # Ends

    def _ground_round(self, number: int) -> ApproximateAnswer:
        """All classes are single: the program as it is, whose answer is certified like any other."""
        self.symmetry = no_symmetry(self.program)
        self.current = None
        answer = self._ground_answer()
        if answer.x is not None and answer.y is not None and answer.status not in {Status.INFEASIBLE, Status.UNBOUNDED}:
            self.split_values = self.split_scores = self.row_scores = None
            self._take_point(answer.x)
            self._prove(answer.x, answer.y)
        self._note(number, "ground", self.program, answer.status)
        return self._proved(answer)

    def _ground_answer(self) -> Solution:
        warm = None
        if self.state.x is not None and self.state.lower is not None:
            y = self.state.lower.y
            warm = Solution(Status.OPTIMAL, x=self.state.x, y=y, w=bound_multipliers(self.program, self.state.x, y))
        return self.solve_small(self.program, warm)

    def _proved(self, answer: Solution) -> ApproximateAnswer:
        """An answer of the reduced program that stands by its own certificate."""
        self.backend = answer.backend or self.backend
        restored = self.lifting.reduction.restore(answer)
        has_point = restored.x is not None and answer.status not in {Status.INFEASIBLE, Status.UNBOUNDED}
        if restored.x is not None and has_point:
            restored = replace(restored, objective=self.lifting.program.objective(restored.x))
        if answer.status == Status.INFEASIBLE:
            restored = replace(restored, objective=self._in_sense(math.inf))
            return self._answer(restored, math.inf, math.inf, math.inf)
        if answer.status == Status.UNBOUNDED:
            restored = replace(restored, objective=self._in_sense(-math.inf))
            return self._answer(restored, -math.inf, -math.inf, math.inf)
        lower, upper, radius = self._bounds_on_the_ground()
        return self._answer(restored, lower, upper, radius)

    def _finish(self, status: Status, message: str) -> ApproximateAnswer:
        """The best point with its bounds, recomputed on the ground program."""
        state = self.state
        if self.options.finish == "ground" and status is not Status.TIME_LIMIT:
            answer = self._ground_answer()
            self._note(len(state.rounds) + 1, "ground", self.program, answer.status)
            if answer.status == Status.OPTIMAL:
                if answer.x is not None and answer.y is not None:
                    state.x, state.upper = answer.x, min(state.upper, self.program.objective(answer.x))
                    self._prove(answer.x, answer.y)
                self.symmetry, self.current = no_symmetry(self.program), None
                return self._proved(answer)
        if state.x is None:
            return self._answer(
                Solution(status, backend=self.backend, message=f"{message}; no feasible point was found".strip("; ")),
                state.lower_value, math.inf, math.inf if state.lower is None else state.lower.radius,
            )  # fmt: skip
        y = np.zeros(self.program.n_rows) if state.lower is None else state.lower.y
        w = bound_multipliers(self.program, state.x, y)
        point = Solution(status, x=state.x, y=y, w=w, backend=self.backend, message=message)
        restored = self.lifting.reduction.restore(point)
        assert restored.x is not None
        restored = replace(restored, objective=self.lifting.program.objective(restored.x))
        lower, upper, radius = self._bounds_on_the_ground()
        if status is Status.OPTIMAL_WITHIN_GAP and relative_gap(lower, upper) > self.options.gap:
            restored = replace(restored, status=Status.OPTIMAL_INACCURATE, message="substitutions cost the proved gap")
        if certify(self.lifting.program, restored, self.tolerance).is_optimal:
            restored = replace(restored, status=Status.OPTIMAL, message="")
        return self._answer(restored, lower, upper, radius)

    def _bounds_on_the_ground(self) -> tuple[float, float, float]:
        """Lower and upper bound, proved again on the program as given if anything was substituted."""
        state, reduction = self.state, self.lifting.reduction
        if state.x is None or state.lower is None:
            return state.lower_value, state.upper, math.inf if state.lower is None else state.lower.radius
        if reduction.is_trivial:
            return state.lower.value, state.upper, state.lower.radius
        ground = reduction.ground
        curvature = np.zeros(ground.n_variables)
        curvature[reduction.variables] = self.prover.curvature
        is_fixed = np.ones(ground.n_variables, bool)
        is_fixed[reduction.variables] = False
        # Where fixed variables are exactly fixed, only the others move, and their curvature is known.
        exactly = bool(np.all(ground.lb[is_fixed] == ground.ub[is_fixed]))
        below, above = np.full(ground.n_variables, -np.inf), np.full(ground.n_variables, np.inf)
        box = self.prover.box(state.upper)
        # Bounds that substituted rows implied were rounded once.
        below[reduction.variables] = box[0] - 4 * EPSILON * np.abs(box[0])
        above[reduction.variables] = box[1] + 4 * EPSILON * np.abs(box[1])
        prover = BoundProver(ground, curvature if exactly else None, (below, above))
        known = self.options.radius is not None
        point = reduction.restore(Solution(Status.OPTIMAL, x=state.x)).x
        assert point is not None
        upper = ground.objective(point)
        bounds: list[LowerBound] = []
        # Multipliers of bounds that rows implied are left to the boxes that follow from the rows, or go to these rows.
        w = bound_multipliers(self.program, state.x, state.lower.y)
        for of_bounds in (np.zeros_like(w), w):
            restored = reduction.restore(Solution(Status.OPTIMAL, x=state.lower.v, y=state.lower.y, w=of_bounds))
            assert restored.x is not None
            assert restored.y is not None
            for search in (False, True):
                bounds.append(
                    prover.prove(
                        restored.x, restored.y, upper, self._radius(state.x),
                        radius_is_known=known, search_multiple=search,
                    )
                )  # fmt: skip
                if relative_gap(bounds[-1].value, upper) <= max(self.options.gap, state.gap):
                    return bounds[-1].value, upper, bounds[-1].radius
            prover.sharpen()
        best = max(bounds, key=lambda bound: bound.value)
        return best.value, upper, best.radius

    def _answer(self, solution: Solution, lower: float, upper: float, radius: float) -> ApproximateAnswer:
        gap = relative_gap(lower, upper)
        if math.isinf(lower) and lower == upper:
            gap = 0.0
        ends = sorted((self._in_sense(lower), self._in_sense(upper)))
        report = ApproximationReport(
            ends[0], ends[1], gap, self.options.gap, tuple(self.state.rounds), radius, self.symmetry.method
        )
        if self.symmetry.is_discrete:
            small: Quotient | Restriction = quotient(self.program, self.symmetry)
        else:
            small = self.current or restrict(self.program, self.symmetry)
        return ApproximateAnswer(solution, replace(self.lifting, quotient=small), report)

    def _in_sense(self, value: float) -> float:
        return value if self.lifting.program.sense == "min" else -value

    def _note(self, number: int, kind: str, small: Program, status: Status) -> None:
        state = self.state
        lower, upper = sorted((self._in_sense(state.lower_value), self._in_sense(state.upper)))
        seconds = perf_counter() - self.start
        done = Round(kind, small.n_variables, small.n_rows, status, lower, upper, state.gap, seconds)
        state.rounds.append(done)
        if self.progress is not None:
            words = f"{kind}: {status}, [{lower:.6g}, {upper:.6g}], gap {state.gap:.2g}"
            if kind == "restriction" and status == Status.INFEASIBLE:
                words = "restriction: infeasible over these classes, which says nothing of the program; splitting"
            classes = self.symmetry.variables.n_classes
            self.progress(Progress("approximate", words, number, classes, lower, upper, state.gap))
