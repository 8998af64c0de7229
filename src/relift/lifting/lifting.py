"""A lifted program: what was substituted, which classes were found, the small program, and the way back.

The stages, each with its inverse: snap (only with ``digits``) -> reduce -> find classes, checked -> quotient.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relift.errors import PartitionError, ShapeError
from relift.lifting.quotient import IsometricForm, Quotient, quotient
from relift.lifting.reduction import Reduction, reduce, unreduced
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import LiftSettings, Progress, ProgressCallback
from relift.symmetry.equitable import (
    TOLERANCE,
    distance_from_equitable,
    distance_of_conic_rows,
    distance_of_quadratic_rows,
)
from relift.symmetry.find import Images, Symmetry, find_symmetry, no_symmetry
from relift.symmetry.partition import Partition
from relift.symmetry.snapping import SnapReport, snap

if TYPE_CHECKING:
    from relift.approximate.options import Approximation
    from relift.approximate.restriction import Restriction


@final
@dataclass(frozen=True, eq=False)
class Lifting:
    """A program together with its small quotient and the way back.

    Parameters
    ----------
    program
        The ground program, as given.
    reduction
        What was substituted before classes were looked for.
    quotient
        The classes and the small program.
    settings
        How classes were looked for.
    timings
        Seconds of each stage.
    snapped
        What ``digits`` made equal, or None.
    notes
        Anything out of the ordinary, in sentences.
    approximation
        How classes that are not equitable were found, and how good the answer must be; None for exact lifting.
    """

    program: Program
    reduction: Reduction
    quotient: Quotient | Restriction
    settings: LiftSettings
    timings: dict[str, float] = field(default_factory=dict)
    snapped: SnapReport | None = None
    notes: tuple[str, ...] = ()
    approximation: Approximation | None = None

    @property
    def small(self) -> Program:
        """The small program, a minimisation."""
        return self.quotient.program

    @property
    def symmetry(self) -> Symmetry:
        """The classes of the reduced program."""
        return self.quotient.symmetry

    @property
    def variables(self) -> Partition:
        """Classes of the variables that were not substituted (``reduction.variables`` names them)."""
        return self.symmetry.variables

    @property
    def rows(self) -> Partition:
        """Classes of the rows that were not substituted (``reduction.rows`` names them)."""
        return self.symmetry.rows

    @property
    def conic_rows(self) -> Partition:
        """Classes of the conic rows."""
        return self.symmetry.conic_rows

    @property
    def cones(self) -> Partition:
        """Classes of the cones."""
        return self.symmetry.cones

    @property
    def class_of_variable(self) -> NDArray[np.int64]:
        """For each ground variable its class, which is its number in the small program; -1 where substituted."""
        labels = self.variables.labels if isinstance(self.quotient, Quotient) else self.quotient.class_of_variable
        return _ground_labels(self.program.n_variables, self.reduction.variables, labels)

    @property
    def class_of_row(self) -> NDArray[np.int64]:
        """For each ground row its class, which is its number in the small program; -1 where substituted."""
        labels = self.rows.labels if isinstance(self.quotient, Quotient) else self.quotient.class_of_row
        return _ground_labels(self.program.n_rows, self.reduction.rows, labels)

    @property
    def is_trivial(self) -> bool:
        """Whether the small program is as large as the ground program."""
        return self.reduction.is_trivial and self.symmetry.is_discrete

    def isometric(self) -> IsometricForm:
        """The small program in the coordinates that first-order solvers should get."""
        if not isinstance(self.quotient, Quotient):
            raise PartitionError("approximate classes have no isometric form.", "Solve the small program as it is.")
        return IsometricForm.of(self.quotient)

    def expand(self, solution: Solution) -> Solution:
        """From an answer for the small program to one for the ground program: points, multipliers and rays."""
        expanded = self.reduction.restore(self.quotient.expand(solution))
        if expanded.x is not None and expanded.status not in {Status.INFEASIBLE, Status.UNBOUNDED}:
            expanded = replace(expanded, objective=self.program.objective(expanded.x))
        return expanded

    def restrict(self, solution: Solution) -> Solution:
        """From a point of the original program to one of the small program, by averages: for a warm start.

        Rays and the dual values of quadratic constraints are left out: no backend starts from them.
        """
        n, m, k = self.program.n_variables, self.program.n_rows, self.program.conic.n_rows
        given = (("x", solution.x, n), ("y", solution.y, m), ("w", solution.w, n), ("v", solution.v, k))
        for name, vector, size in given:
            if vector is not None and vector.shape != (size,):
                raise ShapeError(
                    f"{name} of the warm start has {vector.size} entries, but {size} are needed.", "", name
                )
        point = Solution(solution.status, solution.x, solution.y, solution.w, solution.objective, v=solution.v)
        return self.quotient.average(self.reduction.restrict(point))

    def update(
        self,
        *,
        q: ArrayLike | None = None,
        l: ArrayLike | None = None,
        u: ArrayLike | None = None,
        lb: ArrayLike | None = None,
        ub: ArrayLike | None = None,
        r: float | None = None,
        b: ArrayLike | None = None,
        progress: ProgressCallback | None = None,
    ) -> Lifting:
        """The lifting of the same program with other vectors; matrices, and classes where they still hold, are re-used.

        New vectors are checked, substituted and compared with the classes in O(nnz). Where they are constant on the
        classes, these stay and only the vectors of the small program are made anew; where not, the classes are refined
        from where they stand. Classes never grow coarser by an update: call :func:`lift` for the coarsest ones.

        Parameters
        ----------
        q, l, u, lb, ub, r
            What changes; the rest stays.
        b
            New right-hand sides of the conic rows.
        progress
            Told about the stages.

        Examples
        --------
        >>> program = Program(q=[1, 1, 1], A=[[1, 1, 1]], l=[3], lb=0)
        >>> lifting = lift(program)
        >>> lifting.small.n_variables, lifting.update(l=[6]).small.l.tolist()
        (1, [6.0])
        >>> lifting.update(q=[1, 1, 2]).small.n_variables
        2
        """
        changes: dict[str, Any] = {"q": q, "l": l, "u": u, "lb": lb, "ub": ub, "r": r}
        if b is not None:
            changes["conic"] = ConicRows(self.program.conic.A, b, self.program.conic.cones)
        changed = self.program.replace(**{name: value for name, value in changes.items() if value is not None})
        if self.approximation is not None:
            return self.approximation.lift(changed, self.settings, progress)
        return _lift(changed, self.settings, progress, previous=self)

    def with_values_of(self, program: Program) -> Lifting | None:
        """The same classes for another program of the same shape, or None if they do not hold there.

        Nothing is refined: the classes are checked on all numbers of the new program, matrices included, in O(nnz).
        They may be finer than those that :func:`lift` would find.

        Parameters
        ----------
        program
            As many variables, rows and cones of the same kinds, with other numbers.

        Examples
        --------
        >>> lifting = lift(Program(q=[1, 1], A=[[1, 1]], l=[3], lb=0))
        >>> lifting.with_values_of(Program(q=[2, 2], A=[[5, 5]], l=[4], lb=0)).small.A.toarray().tolist()
        [[10.0]]
        >>> lifting.with_values_of(Program(q=[2, 2], A=[[5, 6]], l=[4], lb=0)) is None
        True
        """
        if self.approximation is not None or self.snapped is not None:
            return None
        clock = StageClock(None)
        reduction, _ = _reduced(program, self.settings, clock)
        if not (_has_same_reduction(reduction, self.reduction) and _has_same_cones(reduction, self.reduction)):
            return None
        with clock.stage("refine"):
            symmetry = _kept_symmetry(reduction, self)
        if symmetry is None:
            return None
        with clock.stage("quotient"):
            merged = quotient(reduction.program, symmetry)
        return Lifting(program, reduction, merged, self.settings, clock.seconds)


def lift(program: Program, settings: LiftSettings | None = None, progress: ProgressCallback | None = None) -> Lifting:
    """Find what is indistinguishable in a program and merge it.

    Parameters
    ----------
    program
        The ground program.
    settings
        How to look; see :class:`~relift.settings.LiftSettings`.
    progress
        Told about stages, rounds and classes.

    Examples
    --------
    >>> program = Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0)
    >>> lifting = lift(program)
    >>> lifting.small, lifting.class_of_variable.tolist()
    (Program(LP, min, 1 variables, 1 rows, 1 nonzeros), [0, 0, 0])
    """
    return _lift(program, settings or LiftSettings(), progress)


def _lift(
    program: Program,
    settings: LiftSettings,
    progress: ProgressCallback | None,
    previous: Lifting | None = None,
) -> Lifting:
    clock = StageClock(progress)
    reduction, report = _reduced(program, settings, clock)
    old = previous if previous is not None and _has_same_reduction(reduction, previous.reduction) else None
    notes: list[str] = []
    with clock.stage("refine"):
        symmetry = _kept_symmetry(reduction, old) if old is not None else None
        if symmetry is None:
            symmetry = _checked_symmetry(reduction, settings, notes, progress, old)
    with clock.stage("quotient"):
        merged = quotient(reduction.program, symmetry)
    return Lifting(program, reduction, merged, settings, clock.seconds, report, tuple(notes))


def _reduced(program: Program, settings: LiftSettings, clock: StageClock) -> tuple[Reduction, SnapReport | None]:
    """Snap, where asked for, and substitute."""
    minimisation, report = program.minimisation(), None
    if settings.digits is not None:
        with clock.stage("snap"):
            minimisation, report = snap(minimisation, settings.digits)
    with clock.stage("reduce"):
        is_wanted = settings.reduce and settings.method != "none"
        reduction = reduce(minimisation, settings.values) if is_wanted else unreduced(minimisation, settings.values)
    return reduction, report


def _checked_symmetry(
    reduction: Reduction,
    settings: LiftSettings,
    notes: list[str],
    progress: ProgressCallback | None,
    old: Lifting | None = None,
) -> Symmetry:
    """Classes that passed the independent check; a partition that fails it is never used.

    Words of 61 bits can collide in principle, and a number can be a multiple of the modulus. Then another seed is
    tried, then counting, which compares values by other words; then nothing is merged.
    """
    program, images = reduction.program, _images(reduction, old)
    counting = replace(settings, method="counting") if settings.method == "equitable" else settings
    for attempt, how in enumerate((settings, settings, counting)):
        symmetry = find_symmetry(program, images, how, seed=settings.seed + attempt, progress=progress)
        if symmetry.is_discrete:
            return symmetry
        distance = _distance(program, symmetry)
        if distance <= TOLERANCE:
            return symmetry
        notes.append(
            f"classes found by {how.method} with seed {settings.seed + attempt} failed their check ({distance:.1g})."
        )
    notes.append("no classes passed their check: the program is solved as it is.")
    return no_symmetry(program)


def _images(reduction: Reduction, old: Lifting | None) -> Images:
    """What parts things from the start: the vectors, and the classes of an earlier lifting."""
    images = reduction.images
    of_variables = (images.q, images.lb, images.ub)
    if old is None:
        return Images(of_variables, images.l, images.u, b=images.b)
    symmetry = old.symmetry
    variables, rows, conic_rows, cones = (
        classes.labels.astype(np.uint64)
        for classes in (symmetry.variables, symmetry.rows, symmetry.conic_rows, symmetry.cones)
    )
    return Images((*of_variables, variables), images.l, images.u, (rows,), images.b, (conic_rows,), (cones,))


def _distance(program: Program, symmetry: Symmetry) -> float:
    """How far the classes are from the conditions of lifting."""
    return max(
        distance_from_equitable(program, symmetry.variables, symmetry.rows, symmetry.row_scales),
        distance_of_quadratic_rows(program.quadratic, symmetry.variables, symmetry.quadratic),
        distance_of_conic_rows(program.conic, symmetry.variables, symmetry.conic_rows, symmetry.cones),
    )


def _has_same_reduction(new: Reduction, old: Reduction) -> bool:
    """Whether the same variables and rows are left, so that the matrices are the same."""
    return np.array_equal(new.variables, old.variables) and np.array_equal(new.rows, old.rows)


def _has_same_cones(new: Reduction, old: Reduction) -> bool:
    """Whether cones and quadratic constraints are as many, and of the same kinds."""
    here, there = new.program, old.program
    return here.conic.cones == there.conic.cones and len(here.quadratic) == len(there.quadratic)


def _kept_symmetry(reduction: Reduction, old: Lifting) -> Symmetry | None:
    """The old classes, if the new vectors are constant on them."""
    symmetry = old.symmetry
    if symmetry.method == "none" or symmetry.is_discrete:
        return symmetry
    distance = _distance(reduction.program, symmetry)
    return symmetry if distance <= TOLERANCE and _is_exactly_constant(reduction, symmetry) else None


def _is_exactly_constant(reduction: Reduction, symmetry: Symmetry) -> bool:
    """Whether images are constant on classes; rows of one class with different scales count as not constant."""
    images, variables, rows = reduction.images, symmetry.variables, symmetry.rows
    vectors = (
        (images.q, variables),
        (images.lb, variables),
        (images.ub, variables),
        (images.l, rows),
        (images.u, rows),
        (images.b, symmetry.conic_rows),
    )
    vectors += ((symmetry.row_scales, rows),)  # type: ignore[assignment]
    return all(np.array_equal(v, v[classes.representatives][classes.labels]) for v, classes in vectors)


def _ground_labels(size: int, kept: NDArray[np.int64], of_kept: NDArray[np.int64]) -> NDArray[np.int64]:
    labels = np.full(size, -1, np.int64)
    labels[kept] = of_kept
    return labels


class StageClock:
    """Times stages and announces them."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what runs inside, and tell the progress callback that it begins."""
        if self.progress is not None:
            self.progress(Progress(name))
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
