"""A lifted program: the steps from the original program to the small one, and the way answers travel between them.

The stages that make it stand in :mod:`~relift.lifting.stages`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relift.errors import PartitionError, ShapeError
from relift.kept_solvers import KeptSolvers
from relift.lifting.quotient import IsometricForm, Quotient
from relift.lifting.reduction import Reduction
from relift.lifting.second_look import RoundingHint
from relift.lifting.settling import Settled
from relift.lifting.stages import LIFTING, LOOKING, LiftWork, find_classes, has_same_cones, merge, presolve
from relift.program.conic_rows import ConicRows
from relift.program.program import Program, ProgramParts
from relift.program.solution import Solution, Status
from relift.program.step import Step, expand_through, restrict_through
from relift.records import cached_property
from relift.settings import LiftSettings, ProgressCallback
from relift.stages import Clock, run_stages
from relift.symmetry.find import Symmetry
from relift.symmetry.likeness import Likeness
from relift.symmetry.partition import Partition
from relift.symmetry.snapping import SnapReport

if TYPE_CHECKING:
    from relift.approximate.options import Approximation
    from relift.approximate.restriction import Restriction


@final
@dataclass(frozen=True, eq=False, repr=False)
class Lifting:
    """A program together with its quotient, and the expansion of answers.

    Parameters
    ----------
    program
        The original program, as given.
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
    own_notes
        Anything out of the ordinary in how classes were found, in sentences.
    approximation
        How classes that are not equitable were found, and how good the answer must be; None for exact lifting.
    settled
        What is at rest by symmetry, and left out; None for approximate lifting.
    looks_again
        Whether :attr:`hint` is worth a look: not after an update.
    likeness
        What the search has seen of the rows, for that look.
    solvers
        Solver objects of the small program, which this lifting shares with those that :meth:`update` makes of it.
    """

    program: Program
    reduction: Reduction
    quotient: Quotient | Restriction
    settings: LiftSettings
    timings: dict[str, float] = field(default_factory=dict)
    snapped: SnapReport | None = None
    own_notes: tuple[str, ...] = ()
    approximation: Approximation | None = None
    settled: Settled | None = None
    looks_again: bool = False
    likeness: Likeness | None = None
    solvers: KeptSolvers = field(default_factory=KeptSolvers)

    @classmethod
    def of(cls, work: LiftWork, clock: Clock, solvers: KeptSolvers | None = None) -> Lifting:
        """Collect what the stages of lifting have made."""
        report = None if work.snapped is None else work.snapped.report
        return cls(
            work.program, work.reduction, work.quotient, work.settings, clock.seconds, report, tuple(work.notes),
            settled=work.settled, looks_again=work.earlier is None, likeness=work._look,
            solvers=solvers or KeptSolvers(),
        )  # fmt: skip

    def __repr__(self) -> str:
        program, small = self.program, self.small
        sizes = f"{program.n_variables} -> {small.n_variables} variables, {program.n_rows} -> {small.n_rows} rows"
        if len(program.conic):
            sizes += f", {len(program.conic)} -> {len(small.conic)} cones"
        return f"Lifting({program.kind}, {sizes}, {'approximate' if self.approximation else self.settings.lift})"

    @cached_property
    def hint(self) -> RoundingHint | None:
        """What ``digits`` would find, where numbers that differ by rounding alone keep much apart; None otherwise.

        It is looked for when it is first asked for, since it takes a second search where there are such numbers.
        """
        if not self.looks_again or self.settled is None or not isinstance(self.quotient, Quotient):
            return None
        work = LiftWork.done(self.program, self.settings, self.reduction, self.settled, self.quotient, self.likeness)
        clock = Clock()
        run_stages(LOOKING, work, clock)
        self.timings.update(clock.seconds)
        return work.hint

    @property
    def notes(self) -> tuple[str, ...]:
        """Anything out of the ordinary, in sentences; the hint is the last of them."""
        return self.own_notes if self.hint is None else (*self.own_notes, str(self.hint))

    @property
    def steps(self) -> tuple[Step, ...]:
        """From the original program to the small one; answers are carried back last step first."""
        return (
            (self.reduction, self.quotient) if self.settled is None else (self.reduction, self.settled, self.quotient)
        )

    @property
    def small(self) -> Program:
        """The small program, a minimisation."""
        return self.quotient.program

    @property
    def symmetry(self) -> Symmetry:
        """The classes of the variables and rows that presolve and symmetry left over."""
        return self.quotient.symmetry

    @property
    def variables(self) -> Partition:
        """Classes of the variables that were not substituted (:attr:`kept_variables` names them)."""
        return self.symmetry.variables

    @property
    def rows(self) -> Partition:
        """Classes of the rows that were not substituted (:attr:`kept_rows` names them)."""
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
    def kept_variables(self) -> NDArray[np.int64]:
        """The original variables that were neither substituted by presolve nor are at rest."""
        kept = self.reduction.variables
        return kept if self.settled is None else kept[self.settled.variables]

    @property
    def kept_rows(self) -> NDArray[np.int64]:
        """The original rows that were neither substituted by presolve nor hold by symmetry."""
        kept = self.reduction.rows
        return kept if self.settled is None else kept[self.settled.rows]

    @property
    def at_rest(self) -> NDArray[np.bool_]:
        """Which original variables stay where they are by symmetry: at 0, or in the middle of their bounds."""
        at_rest = np.zeros(self.program.n_variables, bool)
        if self.settled is not None:
            at_rest[self.reduction.variables] = True
            at_rest[self.kept_variables] = False
        return at_rest

    @property
    def class_of_variable(self) -> NDArray[np.int64]:
        """For each original variable its class, which is its number in the small program; -1 where substituted."""
        labels = self.variables.labels if isinstance(self.quotient, Quotient) else self.quotient.class_of_variable
        return _ground_labels(self.program.n_variables, self.kept_variables, labels)

    @property
    def class_of_row(self) -> NDArray[np.int64]:
        """For each original row its class, which is its number in the small program; -1 where substituted."""
        labels = self.rows.labels if isinstance(self.quotient, Quotient) else self.quotient.class_of_row
        return _ground_labels(self.program.n_rows, self.kept_rows, labels)

    @property
    def is_trivial(self) -> bool:
        """Whether the small program is as large as the original program."""
        is_settled = self.settled is None or self.settled.is_trivial
        return self.reduction.is_trivial and is_settled and self.symmetry.is_discrete

    @property
    def is_original(self) -> bool:
        """Whether the small program is the original one: nothing is merged, and ``digits`` has changed no number."""
        return self.is_trivial and (self.snapped is None or self.snapped.n_values_merged == 0)

    def isometric(self) -> IsometricForm:
        """The small program in the coordinates that first-order solvers should get."""
        if not isinstance(self.quotient, Quotient):
            raise PartitionError("approximate classes have no isometric form.", "Solve the small program as it is.")
        return IsometricForm.of(self.quotient)

    def expand(self, solution: Solution) -> Solution:
        """From an answer for the small program to one for the original program: points, dual values and rays."""
        expanded = expand_through(self.steps, solution)
        if expanded.x is not None and expanded.status not in {Status.INFEASIBLE, Status.UNBOUNDED}:
            expanded = expanded.but(objective=self.program.objective(expanded.x))
        return expanded

    def restrict(self, solution: Solution) -> Solution:
        """From a point of the original program to one of the small program, by averages: for a warm start.

        Rays and the dual values of quadratic constraints are left out: no backend starts from them.
        """
        self.check_shapes(solution)
        point = Solution(solution.status, solution.x, solution.y, solution.w, solution.objective, v=solution.v)
        return restrict_through(self.steps, point)

    def check_shapes(self, solution: Solution) -> None:
        """Refuse a warm start that is not of the sizes of the original program.

        Raises
        ------
        ShapeError
            If a vector has another length.
        """
        n, m, k = self.program.n_variables, self.program.n_rows, self.program.conic.n_rows
        given = (("x", solution.x, n), ("y", solution.y, m), ("w", solution.w, n), ("v", solution.v, k))
        for name, vector, size in given:
            if vector is not None and vector.shape != (size,):
                raise ShapeError(
                    f"{name} of the warm start has {vector.size} entries, but {size} are needed.", "", name
                )

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
        """The lifting of the same program with new costs, right-hand sides or bounds; classes that hold are re-used.

        New vectors are checked, substituted and compared with the classes in O(nnz). Where they are constant on the
        classes, these stay and only the vectors of the small program are made anew; where not, the classes are refined
        from where they stand. Classes never grow coarser by an update: call :func:`lift` for the coarsest ones.

        From the first update on, the solver object of the small program is kept, and updated in its turn by the next
        solve: HiGHS goes on from its last basis, OSQP from its last point, Clarabel keeps its ordering. It is shared by
        a lifting and its updates, and freed with the last of them; threads that solve at the same time get fresh ones.

        Parameters
        ----------
        q, l, u, lb, ub, r
            What changes; the rest stays.
        b
            New right-hand sides of the conic rows.
        progress
            Progress callback, called when a stage begins.

        Examples
        --------
        >>> program = Program(q=[1, 1, 1], A=[[1, 1, 1]], l=[3], lb=0)
        >>> lifting = lift(program)
        >>> lifting.small.n_variables, lifting.update(l=[6]).small.l.tolist()
        (1, [6.0])
        >>> lifting.update(q=[1, 1, 2]).small.n_variables
        2
        """
        program = self.program
        changes: ProgramParts = {
            "q": program.q if q is None else q,
            "l": program.l if l is None else l,
            "u": program.u if u is None else u,
            "lb": program.lb if lb is None else lb,
            "ub": program.ub if ub is None else ub,
            "r": program.r if r is None else r,
        }
        if b is not None:
            changes["conic"] = ConicRows(program.conic.A, b, program.conic.cones)
        changed = program.replace(**changes)
        if self.approximation is not None:
            return self.approximation.lift(changed, self.settings, progress)
        return _lifted(LiftWork(changed, self.settings, progress, self._earlier()), progress, self._wanted_solvers())

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
        clock, work = Clock(), LiftWork(program, self.settings, earlier=self._earlier())
        run_stages((presolve,), work, clock)
        if work.kept is None or not has_same_cones(work.reduction, self.reduction):
            return None
        run_stages((find_classes,), work, clock)
        if not work.is_verified:
            return None
        run_stages((merge,), work, clock)
        return Lifting.of(work, clock, self._wanted_solvers())

    def _wanted_solvers(self) -> KeptSolvers:
        """The solver objects, to be kept from now on."""
        self.solvers.is_wanted = True
        return self.solvers

    def _earlier(self) -> tuple[Reduction, Settled, Quotient]:
        assert self.settled is not None, "approximate lifting is updated in its own way"
        assert isinstance(self.quotient, Quotient), "approximate classes are looked for anew"
        return self.reduction, self.settled, self.quotient


def lift(program: Program, settings: LiftSettings | None = None, progress: ProgressCallback | None = None) -> Lifting:
    """Find what is indistinguishable in a program and merge it.

    Parameters
    ----------
    program
        The original program.
    settings
        How to look; see :class:`~relift.settings.LiftSettings`.
    progress
        Progress callback, called when a stage begins and once per round of refinement.

    Examples
    --------
    >>> program = Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0)
    >>> lifting = lift(program)
    >>> lifting.small, lifting.class_of_variable.tolist()
    (Program(LP, min, 1 variables, 1 rows, 1 nonzeros), [0, 0, 0])
    """
    return _lifted(LiftWork(program, settings or LiftSettings(), progress), progress)


def _lifted(work: LiftWork, progress: ProgressCallback | None, solvers: KeptSolvers | None = None) -> Lifting:
    clock = Clock(progress)
    run_stages(LIFTING, work, clock)
    return Lifting.of(work, clock, solvers)


def _ground_labels(size: int, kept: NDArray[np.int64], of_kept: NDArray[np.int64]) -> NDArray[np.int64]:
    labels = np.full(size, -1, np.int64)
    labels[kept] = of_kept
    return labels
