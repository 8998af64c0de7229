r"""Approximate lifting: solve over classes, prove how good that is, split what costs most, until it is good enough.

::

    classes ─ restriction x = Sz ─ solve ─▶ point, upper bound ─┐
      ▲            └ infeasible? averages of rows, repaired     ├─▶ gap ≤ asked: done
      └────────── split the worst classes ◀── dual values, lower bound (proved)

Every round works on the original program (after exact presolve): the upper bound comes from a point whose rows and
bounds were checked there (:mod:`~relift.approximate.upper_bound`), the lower bound is proved from any dual values
(:mod:`~relift.approximate.lower_bound`). So classes may come from anywhere. Where they are so poor that solving the
program without them is the shorter way, the rounds say so and end.

An infeasible restriction does not mean an infeasible program. Its ray is tried as a proof on the original program;
where it is not one, rows of a class are averaged and the point is repaired, and classes are split along the ray.

All work is done in steps (:mod:`~relift.approximate.budget`), so that it can wait for time that it has not earned yet.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import final

import numpy as np

from relift.approximate.budget import Steps
from relift.approximate.dual_ascent import ascend
from relift.approximate.first_classes import search_first_classes
from relift.approximate.lower_bound import BoundProver, LowerBound
from relift.approximate.options import Approximation
from relift.approximate.repair import FLOPS, repaired_duals, repaired_point, violation
from relift.approximate.report import ApproximationReport, Round, relative_gap
from relift.approximate.restriction import Restriction, averaged, bound_duals, restrict
from relift.approximate.rounding import EPSILON
from relift.approximate.splitting import split_rows_by_variables, split_worst
from relift.approximate.upper_bound import FEASIBLE, FEW_ROWS, UpperBound, upper_bound
from relift.arrays import Vector
from relift.lifting.certificate import certify
from relift.lifting.lifting import Lifting
from relift.lifting.quotient import quotient
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import Progress, ProgressCallback
from relift.symmetry.find import Symmetry, no_symmetry

SmallSolver = Callable[[Program, Solution | None, float], Solution]
"""Solves a minimisation, warm where it can, in so many seconds; its answers are certified on that program."""

DISCRETE = 0.5
"""Once this part of the variables is a class by itself, the program itself is the shorter way."""

MANY = 0.25
"""With a budget, this part is enough."""

FEW = 0.1
"""Classes are so few, against the variables, that a round is likely to pay."""

CORRECTIONS = 3
"""How often dual values are corrected by least squares in a round."""

WORTHWHILE = 1e4
"""Dual values are corrected only if the gap is within this multiple of the one asked for."""

HOPELESS = 100.0
"""With a budget, a first gap beyond this multiple of the one asked for ends the rounds."""

PATIENCE = 3
"""Rounds in which the gap must halve, or the program is solved without classes."""

MANY_ROWS = 1000
"""From so many rows on those of a quadratic program are averaged first, if their classes are far fewer."""

RADIUS = 1e4
"""Variables without any bound are taken to lie within this multiple of the largest entry of the point found."""

PASS_SECONDS = 1e-8
"""What one pass of NumPy over the entries of a program takes for each of them; estimates correct themselves."""

CALL_SECONDS = 5e-4
"""What a step takes on the smallest program."""

FIRST_ROUND_CALLS = 8
"""How many steps the first round has."""

BOUNDS_SECONDS = 2e-3
"""What the bounds of the plain answer take on the smallest program."""

FLOPS_PER_SECOND = 1e9
"""Of factorisations, at least."""


@final
@dataclass(frozen=True, eq=False)
class ApproximateAnswer:
    """The answer for the original program with its classes and bounds.

    Parameters
    ----------
    solution
        For the original program; its status is given by the bounds.
    lifting
        The classes of the last round.
    report
        What was proved.
    """

    solution: Solution
    lifting: Lifting
    report: ApproximationReport


@dataclass
class _State:
    """The best that is known, on the presolved program."""

    point: UpperBound | None = None
    lower: LowerBound | None = None
    rounds: list[Round] = field(default_factory=list)

    @property
    def x(self) -> Vector | None:
        return None if self.point is None else self.point.x

    @property
    def upper(self) -> float:
        return math.inf if self.point is None else self.point.value

    @property
    def lower_value(self) -> float:
        return -math.inf if self.lower is None else self.lower.value

    @property
    def gap(self) -> float:
        return relative_gap(self.lower_value, self.upper)


@final
class Rounds:
    """Rounds until the proved gap is the one asked for, or nothing is to be hoped for; one object for one solve.

    Parameters
    ----------
    lifting
        The program and its presolve; with classes, if they were found before.
    approximation
        How good, and how far to go.
    solve_small
        Solves the small programs.
    tolerance
        What a point may break rows and bounds by, relatively; see :func:`~relift.approximate.repair.violation`.
    time_left
        Returns the seconds that are left, or None.
    allowance
        Returns the seconds that the current step may take; infinite without a budget.
    progress
        Progress callback, called once per round.
    """

    def __init__(
        self,
        lifting: Lifting,
        approximation: Approximation,
        solve_small: SmallSolver,
        *,
        tolerance: float = 1e-6,
        time_left: Callable[[], float | None] = lambda: None,
        allowance: Callable[[], float] = lambda: math.inf,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.lifting, self.options, self.solve_small = lifting, approximation, solve_small
        self.tolerance, self.time_left, self.allowance = tolerance, time_left, allowance
        self.progress = progress
        self.program = lifting.reduction.program
        self.symmetry = lifting.symmetry
        self.has_classes = isinstance(lifting.quotient, Restriction)
        self.given_up = ""
        self.method = ""
        self.state = _State()
        self.start = perf_counter()
        self.current: Restriction | None = None
        self.averages_only = approximation.rows == "average"
        self.backend = ""
        self.next_correction = 0.0
        self.split_values: Vector | None = None
        self.split_scores: Vector | None = None
        self.row_scores: Vector | None = None
        self._prover: BoundProver | None = None

    @property
    def has_budget(self) -> bool:
        """Whether the plain solve sets a limit."""
        return math.isfinite(self.options.budget)

    @property
    def is_promising(self) -> bool:
        """Whether classes were found, and are few."""
        variables = self.symmetry.variables
        return self.has_classes and variables.n_classes <= FEW * variables.size

    @property
    def prover(self) -> BoundProver:
        """The prover of lower bounds, made when it is first needed."""
        if self._prover is None:
            if self.has_budget:  # the rest when it pays: see _corrected
                self._prover = BoundProver(self.program, passes=2, flops=self._flops(0.2))
            else:
                self._prover = BoundProver(self.program)
        return self._prover

    def steps(self) -> Steps[ApproximateAnswer | None]:
        """Rounds, in steps; None if the program should be solved without classes, and :attr:`given_up` says why."""
        # Nothing is begun that could not end: classes, a small program, a point and a bound. Half of what these take is
        # enough to begin with, since few classes double what is earned.
        yield 0.5 * (FIRST_ROUND_CALLS * CALL_SECONDS + self.estimated_seconds(100))
        if not self.has_classes:
            self.symmetry = yield from search_first_classes(
                self.program, self.options, self.lifting.reduction.variables, self.lifting.program.n_variables,
                self.estimated_seconds(25),
            )  # fmt: skip
            self.has_classes = True
        self.method = self.symmetry.method
        for number in range(1, self.options.max_rounds + 1):
            if self._is_late():
                return self.stopped(Status.TIME_LIMIT, "the time limit ended before the gap was reached")
            if self._is_nearly_discrete():
                self.given_up = "hardly any two variables are nearly equal"
                return None
            final_answer = yield from self._round(number)
            if final_answer is not None:
                return final_answer
            if self.state.gap <= self.options.gap:
                yield self.estimated_seconds(40)
                return self.stopped(Status.OPTIMAL_WITHIN_GAP, "")
            if self.has_budget and number == 1 and self._is_hopeless():
                self.given_up = self._hopeless_words()
                return None
            before = self.symmetry
            limit = self.options.max_classes
            if limit is not None and self.symmetry.variables.n_classes >= limit:
                return self.stopped(Status.ITERATION_LIMIT, f"max_classes={limit} was reached before the gap")
            if limit is None and self._is_stalled():
                self.given_up = "splitting classes no longer helps"
                return None
            yield self.estimated_seconds(10)
            self._split()
            if self._is_same(before):
                if limit is not None:
                    return self.stopped(Status.ITERATION_LIMIT, f"nothing is left to split within max_classes={limit}")
                self.given_up = "no class that costs anything can be split"
                return None
        return self.stopped(
            Status.ITERATION_LIMIT, f"max_rounds={self.options.max_rounds} ended before the gap was reached"
        )

    def estimated_seconds(self, passes: float) -> float:
        """Estimate the seconds of so many passes over the program."""
        P, A = self.program.P, self.program.A
        entries = int(A.nnz + (0 if P is None else P.nnz) + A.shape[0] + A.shape[1])
        return CALL_SECONDS + passes * PASS_SECONDS * entries

    def _flops(self, share: float) -> float:
        """How many operations fit into a share of what this step may take."""
        return max(0.0, share * self.allowance() * FLOPS_PER_SECOND)

    def _is_late(self) -> bool:
        left = self.time_left()
        return left is not None and left <= 0

    def _is_nearly_discrete(self) -> bool:
        """Whether classes are so many that the program itself is the shorter way."""
        variables = self.symmetry.variables
        if self.has_budget:
            return variables.n_classes > MANY * variables.size
        if self.options.max_classes is None and self.state.rounds:
            return variables.n_classes > DISCRETE * variables.size
        return variables.is_discrete

    def _is_hopeless(self) -> bool:
        return not self.state.gap <= HOPELESS * self.options.gap

    def _hopeless_words(self) -> str:
        if self.state.point is None:
            return "the first round found no feasible point"
        if self.state.lower is None or math.isinf(self.state.lower.value):
            return "the first round proved no lower bound"
        return f"the first round left a gap of {self.state.gap:.1g}, more than {HOPELESS:g} times the one asked for"

    # One round

    def _round(self, number: int) -> Steps[ApproximateAnswer | None]:
        """Solve over the classes; a final answer only if the program is proved infeasible or unbounded."""
        self.split_values = self.split_scores = self.row_scores = None
        answer: Solution | None = None
        kinds, tried = self._kinds(), ""
        for kind in kinds:
            build = averaged if kind == "averages" else restrict
            yield self.estimated_seconds(40)
            small = build(self.program, self.symmetry)
            if kind == "restriction" and len(kinds) > 1 and self._is_overdetermined(small):
                continue
            self.current, tried = small, kind
            answer = yield from self._solve(small)
            final_answer = yield from self._use(answer, number, kind)
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

    def _solve(self, restriction: Restriction) -> Steps[Solution]:
        """Solve a small program; one that takes longer than is allowed is solved again with twice the time."""
        state = self.state
        warm = None
        if state.x is not None and state.lower is not None:
            w = bound_duals(self.program, state.x, state.lower.y)
            warm = restriction.restrict(Solution(Status.OPTIMAL, x=state.x, y=state.lower.y, w=w))
        small = restriction.program
        entries = small.A.nnz + (0 if small.P is None else small.P.nnz) + small.n_variables + small.n_rows
        cost = 2 * CALL_SECONDS + 200 * PASS_SECONDS * entries
        while True:
            yield cost
            allowed = self.allowance()
            answer = self.solve_small(small, warm, allowed)
            if answer.status != Status.TIME_LIMIT or self._is_late() or math.isinf(allowed):
                break
            cost = 2.0 * max(allowed, cost)
        self.backend = answer.backend or self.backend
        return restriction.expand(answer)

    def _use(self, answer: Solution, number: int, kind: str) -> Steps[ApproximateAnswer | None]:
        """Take bounds from the answer of a round, and what to split by."""
        assert self.current is not None
        yield self.estimated_seconds(10)
        if answer.status == Status.INFEASIBLE and answer.ray_y is not None:
            if certify(self.program, answer, self.tolerance).is_proved:
                self._note(number, kind, self.current.program, answer.status)
                return self.proved(answer)
            spread = self.program.A.T @ answer.ray_y
            self.split_values, self.split_scores = spread, self._distance_from_class_mean(spread)
            return None
        if answer.status == Status.UNBOUNDED and answer.x is not None and answer.ray_x is not None:
            proof = certify(self.program, answer, self.tolerance)
            if proof.is_proved and proof.is_feasible:
                self._note(number, kind, self.current.program, answer.status)
                return self.proved(answer)
        if answer.x is None:
            return None
        x = yield from self._feasible_point(answer)
        self._take_point(x, answer.y)
        if answer.y is not None:
            yield from self._prove(x, answer.y)
        return None

    def _feasible_point(self, answer: Solution) -> Steps[Vector]:
        """The point of an answer, moved to feasibility where it breaks rows; where that fails, what to split by."""
        x = answer.x
        assert x is not None
        if violation(self.program, x) <= self.tolerance:
            found = upper_bound(self.program, x, answer.y)
            if relative_gap(self.program.objective(x), found.value) <= 0.1 * self.options.gap:
                return x  # what is still broken costs next to nothing
        yield self.estimated_seconds(40)
        repaired = repaired_point(self.program, x, FEASIBLE, self._flops(0.5) if self.has_budget else FLOPS)
        if repaired is not None:
            return repaired
        broken = self.program.A @ x
        broken -= np.clip(broken, self.program.l, self.program.u)
        wish = self.program.A.T @ broken
        self.split_values, self.split_scores = wish, self._distance_from_class_mean(wish)
        self.row_scores = np.abs(broken)
        return x

    def _take_point(self, x: Vector, y: Vector | None) -> None:
        """Keep a point if it is feasible and its bound is better than the best."""
        if violation(self.program, x) <= self.tolerance:
            found = upper_bound(self.program, x, y)
            if found.value < self.state.upper:
                self.state.point = found

    def _prove(self, v: Vector, y: Vector) -> Steps[None]:
        """Try the dual values as they are, averaged over row classes, and repaired; keep the best bound."""
        state = self.state
        candidates = [y]
        rows, scales = self.symmetry.rows, self.symmetry.row_scales
        if not rows.is_discrete:
            totals = np.bincount(rows.labels, y * scales, rows.n_classes)
            candidates.append(totals[rows.labels] / (scales * rows.class_sizes[rows.labels]))
        yield self.estimated_seconds(60 if self._prover is None else 15)
        best = self._bound(v, candidates[-1])
        if len(candidates) > 1 and not self._is_enough(best):
            yield self.estimated_seconds(15)
            best = max(best, self._bound(v, candidates[0]), key=lambda bound: bound.value)
        before = best.value
        gap = relative_gap(best.value, state.upper)
        # Corrections remove what noise left, not what classes that are much too coarse did.
        is_near = gap <= WORTHWHILE * self.options.gap or (math.isinf(gap) and math.isfinite(state.upper))
        if is_near and self.symmetry.variables.n_classes >= self.next_correction:
            best = yield from self._corrected(v, best)
        if not is_near or (best.value > before and best.value >= state.lower_value):
            self.next_correction = 0.0
        else:  # it does not pay now: wait until there are half as many classes again
            self.next_correction = 1.5 * self.symmetry.variables.n_classes
        if state.lower is None or best.value > state.lower.value:
            state.lower = best
        if self.split_values is None:
            self.split_values, self.split_scores, self.row_scores = best.gradient, best.variable_gap, best.row_gap

    def _corrected(self, v: Vector, best: LowerBound) -> Steps[LowerBound]:
        """The best bound that corrections of the dual values reach: by least squares, then by first-order steps."""
        state = self.state
        if not self._is_enough(best):
            yield self.estimated_seconds(120)
            if self.prover.sharpen(self._flops(0.5)):
                best = max(best, self._bound(v, best.y), key=lambda bound: bound.value)
        best = yield from self._repaired(v, best)
        if not self._is_enough(best):
            per_step = 1.5
            lengths = (10, 30, 90)
            stretches = ascend(self.program, v, best.y, *self.prover.box(state.upper), lengths)
            for length in lengths:
                yield self.estimated_seconds(per_step * length + 20)
                point, duals = next(stretches)
                best = max(best, self._bound(point, duals), key=lambda bound: bound.value)
                if self._is_enough(best):
                    break
            best = yield from self._repaired(v, best)
        return best

    def _repaired(self, v: Vector, bound: LowerBound) -> Steps[LowerBound]:
        """The best bound that a few corrections of the dual values reach; they may overshoot, so all are proved."""
        best = current = bound
        for _ in range(CORRECTIONS):
            if self._is_enough(best):
                break
            yield self.estimated_seconds(100)
            box = self.prover.box(self.state.upper)
            y = repaired_duals(self.program, v, current, *box, self.prover.curvature)
            tried = [self._bound(v, t * y + (1 - t) * current.y) for t in (1.0, 0.3)]
            current = max(tried, key=lambda bound: bound.value)
            best = max(best, current, key=lambda bound: bound.value)
        return best

    def _is_enough(self, bound: LowerBound) -> bool:
        """Whether the bound closes the gap, with a little to spare for the presolve."""
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

    def _is_same(self, before: Symmetry) -> bool:
        same_rows = self.symmetry.rows.n_classes == before.rows.n_classes
        return self.symmetry.variables.n_classes == before.variables.n_classes and same_rows

    def _is_stalled(self) -> bool:
        """Whether the last rounds did not even halve the gap: then the original program itself is the shorter way."""
        rounds = self.state.rounds
        if len(rounds) <= PATIENCE:
            return False
        return math.isinf(rounds[-1].gap) or rounds[-1].gap > 0.5 * rounds[-1 - PATIENCE].gap

    # Ends

    def proved(self, answer: Solution) -> ApproximateAnswer:
        """A proof, on the presolved program, that it is infeasible or unbounded."""
        self.backend = answer.backend or self.backend
        restored = self.lifting.reduction.expand(answer)
        optimum = math.inf if answer.status == Status.INFEASIBLE else -math.inf
        restored = replace(restored, objective=self._in_sense(optimum))
        return self._answer(restored, optimum, UpperBound(optimum, np.zeros(0), 0.0, True), math.inf)

    def stopped(self, status: Status, message: str) -> ApproximateAnswer:
        """The best point with its bounds, recomputed on the original program."""
        state = self.state
        if state.x is None:
            return self._answer(
                Solution(status, backend=self.backend, message=f"{message}; no feasible point was found".strip("; ")),
                state.lower_value, None, math.inf if state.lower is None else state.lower.radius,
            )  # fmt: skip
        restored = self.warm_start(status, message)
        assert restored is not None
        lower, point, radius = self._bounds_on_the_ground()
        restored = replace(restored, x=point.x, objective=self.lifting.program.objective(point.x))
        if status is Status.OPTIMAL_WITHIN_GAP and relative_gap(lower, point.value) > self.options.gap:
            restored = replace(restored, status=Status.OPTIMAL_INACCURATE, message="presolve cost the proved gap")
        if certify(self.lifting.program, restored, self.tolerance).is_optimal:
            restored = replace(restored, status=Status.OPTIMAL, message="")
        return self._answer(restored, lower, point, radius)

    def warm_start(self, status: Status = Status.OPTIMAL, message: str = "") -> Solution | None:
        """The best point and dual values for the original program, or None if there is no point."""
        state = self.state
        if state.x is None:
            return None
        y = np.zeros(self.program.n_rows) if state.lower is None else state.lower.y
        w = bound_duals(self.program, state.x, y)
        point = Solution(status, x=state.x, y=y, w=w, backend=self.backend, message=message)
        return self.lifting.reduction.expand(point)

    def solved_without(self, answer: Solution, lifting: Lifting, is_feasible: bool) -> ApproximateAnswer:
        """The answer of the plain solve, with the bounds that follow from it and from the rounds before.

        Parameters
        ----------
        answer
            For the original program.
        lifting
            The exact lifting that it came from.
        is_feasible
            Whether its certificate says that the point keeps rows and bounds.
        """
        lower, point, radius = -math.inf, None, math.inf
        if answer.status == Status.INFEASIBLE:
            lower, point = math.inf, UpperBound(math.inf, np.zeros(0), 0.0, True)
        elif answer.status == Status.UNBOUNDED:
            point = UpperBound(-math.inf, np.zeros(0), 0.0, True)
        elif answer.x is not None and answer.y is not None and self._may_bound():
            found, point = self._bounds_of(answer.x, answer.y, is_feasible)
            lower, radius = found.value, found.radius
        if self.state.lower is not None and self.lifting.reduction.is_trivial and self.state.lower.value > lower:
            lower, radius = self.state.lower.value, self.state.lower.radius
        upper = math.inf if point is None else point.value
        self._note(len(self.state.rounds) + 1, "ground", lifting.small, answer.status, (lower, upper))
        report = self._report(lower, point, radius)
        return ApproximateAnswer(answer, replace(lifting, approximation=self.options), report)

    def _may_bound(self) -> bool:
        return self.allowance() > BOUNDS_SECONDS + self.estimated_seconds(20)

    def _bounds_of(self, x: Vector, y: Vector, is_feasible: bool) -> tuple[LowerBound, UpperBound | None]:
        """What point and dual values of the original program prove; more of it where there is time."""
        ground = self.lifting.program.minimisation()
        has_time = self.allowance() > FIRST_ROUND_CALLS * CALL_SECONDS + self.estimated_seconds(100)
        point = None
        if is_feasible:
            point = upper_bound(ground, x, y, search=has_time and self._may_search())
            if math.isinf(point.value) and has_time:
                flops = self._flops(0.3) if self.has_budget else FLOPS
                repaired = repaired_point(ground, x, FEASIBLE, flops)
                if repaired is not None:
                    point = upper_bound(ground, repaired, y, search=self._may_search())
        prover = BoundProver(ground, passes=2 if has_time else 0, flops=self._flops(0.3) if has_time else 1e6)
        # The cutoff makes boxes smaller, which costs more than all the rest.
        upper = math.inf if point is None or not has_time else point.value
        known = self.options.radius is not None
        found = prover.prove(x, y, upper, self._radius(x), radius_is_known=known)
        if point is not None and found.value > point.value:
            if found.is_unconditional and not point.is_proved:  # what is proved refutes the prices
                point = replace(point, value=math.inf)
            else:
                found = replace(found, value=point.value)
        return found, point

    def _bounds_on_the_ground(self) -> tuple[float, UpperBound, float]:
        """Lower and upper bound, proved again on the program as given if presolve changed anything."""
        state, reduction = self.state, self.lifting.reduction
        assert state.point is not None
        ground = reduction.ground
        y = None if state.lower is None else state.lower.y
        if reduction.is_trivial:
            point = upper_bound(ground, state.point.x, y, search=self._may_search())
            point = point if point.value < state.upper or point.is_proved else state.point
            lower = state.lower
            return state.lower_value, point, math.inf if lower is None else lower.radius
        w = bound_duals(self.program, state.point.x, np.zeros(self.program.n_rows) if y is None else y)
        restored = reduction.expand(Solution(Status.OPTIMAL, x=state.point.x, y=y, w=None if y is None else w))
        assert restored.x is not None
        point = upper_bound(ground, restored.x, restored.y, search=self._may_search())
        if violation(ground, point.x) > self.tolerance:
            point = replace(point, value=math.inf)
        if state.lower is None:
            return -math.inf, point, math.inf
        best = self._lower_bound_on_the_ground(state.lower, state.point.x, point.value)
        return best.value, point, best.radius

    def _may_search(self) -> bool:
        """Whether a dense eigenvalue may be spent on the proof of a feasible point nearby."""
        return self.allowance() > 0.1 or self.program.n_rows <= FEW_ROWS // 10

    def _lower_bound_on_the_ground(self, lower: LowerBound, x: Vector, upper: float) -> LowerBound:
        reduction = self.lifting.reduction
        ground = reduction.ground
        curvature = np.zeros(ground.n_variables)
        curvature[reduction.variables] = self.prover.curvature
        is_fixed = np.ones(ground.n_variables, bool)
        is_fixed[reduction.variables] = False
        # Where fixed variables are exactly fixed, only the others move, and their curvature is known.
        exactly = bool(np.all(ground.lb[is_fixed] == ground.ub[is_fixed]))
        below, above = np.full(ground.n_variables, -np.inf), np.full(ground.n_variables, np.inf)
        box = self.prover.box(self.state.upper)
        # Bounds that substituted rows implied were rounded once.
        below[reduction.variables] = box[0] - 4 * EPSILON * np.abs(box[0])
        above[reduction.variables] = box[1] + 4 * EPSILON * np.abs(box[1])
        prover = BoundProver(ground, curvature if exactly else None, (below, above), passes=2, flops=1e8)
        known = self.options.radius is not None
        # The box holds for points that are no worse than the best one of the presolved program.
        upper = min(upper, self.state.upper)
        bounds: list[LowerBound] = []
        # Dual values of bounds that rows implied are left to the boxes that follow from the rows, or go to these rows.
        w = bound_duals(self.program, x, lower.y)
        for of_bounds in (np.zeros_like(w), w):
            restored = reduction.expand(Solution(Status.OPTIMAL, x=lower.v, y=lower.y, w=of_bounds))
            assert restored.x is not None
            assert restored.y is not None
            for search in (False, True):
                bounds.append(
                    prover.prove(
                        restored.x, restored.y, upper, self._radius(x), radius_is_known=known, search_multiple=search
                    )
                )
                if relative_gap(bounds[-1].value, upper) <= max(self.options.gap, self.state.gap):
                    return bounds[-1]
            prover.sharpen()
        return max(bounds, key=lambda bound: bound.value)

    def _answer(self, solution: Solution, lower: float, point: UpperBound | None, radius: float) -> ApproximateAnswer:
        small = quotient(self.program, no_symmetry(self.program)) if self.current is None else self.current
        lifting = replace(self.lifting, quotient=small, approximation=self.options)
        return ApproximateAnswer(solution, lifting, self._report(lower, point, radius))

    def _report(self, lower: float, point: UpperBound | None, radius: float) -> ApproximationReport:
        upper = math.inf if point is None else point.value
        gap = relative_gap(lower, upper)
        if math.isinf(lower) and lower == upper:
            gap = 0.0
        ends = sorted((self._in_sense(lower), self._in_sense(upper)))
        return ApproximationReport(
            ends[0], ends[1], gap, self.options.gap, tuple(self.state.rounds), radius, self.method,
            point is not None and point.is_proved, self.given_up,
        )  # fmt: skip

    def _in_sense(self, value: float) -> float:
        return value if self.lifting.program.sense == "min" else -value

    def _note(
        self, number: int, kind: str, small: Program, status: Status, bounds: tuple[float, float] | None = None
    ) -> None:
        state = self.state
        low, high = (state.lower_value, state.upper) if bounds is None else bounds
        gap = relative_gap(low, high)
        lower, upper = sorted((self._in_sense(low), self._in_sense(high)))
        seconds = perf_counter() - self.start
        state.rounds.append(Round(kind, small.n_variables, small.n_rows, status, lower, upper, gap, seconds))
        if self.progress is not None:
            words = f"{kind}: {status}, [{lower:.6g}, {upper:.6g}], gap {gap:.2g}"
            if kind == "restriction" and status == Status.INFEASIBLE:
                words = "restriction: infeasible over these classes, which says nothing of the program; splitting"
            if kind == "ground" and self.given_up:
                words = f"{words}; approximation given up: {self.given_up}"
            classes = small.n_variables if kind == "ground" else self.symmetry.variables.n_classes
            self.progress(Progress("approximate", words, number, classes, lower, upper, gap))
