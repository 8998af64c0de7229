"""The stages of lifting: each makes a smaller program of the one before, or decides how.

::

    snap ─▶ presolve ─▶ find classes ─▶ verify ─▶ quotient

A partition that fails the independent check of ``verify`` is never used: hashes of 61 bits can collide in principle,
and a number can be a multiple of the modulus. Then another seed is tried, then counting, which compares values by other
hashes; then nothing is merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from relift.arrays import SparseMatrix
from relift.lifting.quotient import Quotient, quotient
from relift.lifting.reduction import Reduction, reduce, unreduced
from relift.program.program import Program
from relift.settings import LiftSettings, ProgressCallback
from relift.stages import Stage, stage
from relift.symmetry.equitable import (
    TOLERANCE,
    distance_from_equitable,
    distance_of_conic_rows,
    distance_of_quadratic_rows,
)
from relift.symmetry.find import Images, Symmetry, find_symmetry, no_symmetry
from relift.symmetry.snapping import Snapped
from relift.symmetry.snapping import snap as snap_numbers


@final
@dataclass(eq=False)
class LiftWork:
    """What the stages of one lifting read and write.

    Parameters
    ----------
    program
        The original program.
    settings
        How to look for classes.
    progress
        Progress callback, called once per round of refinement.
    earlier
        Presolve and quotient of an earlier lifting of the same matrices, to be kept where they still hold.
    """

    program: Program
    settings: LiftSettings
    progress: ProgressCallback | None = None
    earlier: tuple[Reduction, Quotient] | None = None
    snapped: Snapped | None = None
    notes: list[str] = field(default_factory=list)
    is_verified: bool = False
    _reduction: Reduction | None = None
    _symmetry: Symmetry | None = None
    _quotient: Quotient | None = None

    @property
    def reduction(self) -> Reduction:
        """The program after presolve."""
        assert self._reduction is not None, "presolve comes first"
        return self._reduction

    @property
    def symmetry(self) -> Symmetry:
        """The classes that were found."""
        assert self._symmetry is not None, "classes are found first"
        return self._symmetry

    @property
    def quotient(self) -> Quotient:
        """The small program."""
        assert self._quotient is not None, "the quotient is made last"
        return self._quotient

    @property
    def kept(self) -> Symmetry | None:
        """The classes of the earlier lifting, if presolve left the same variables and rows."""
        if self.earlier is None or not has_same_reduction(self.reduction, self.earlier[0]):
            return None
        return self.earlier[1].symmetry

    @property
    def has_old_matrices(self) -> bool:
        """Whether presolve left the very matrices of the earlier lifting: what holds for these was checked then."""
        return self.earlier is not None and has_same_matrices(self.reduction.program, self.earlier[0].program)


def _has_digits(work: LiftWork) -> bool:
    return work.settings.digits is not None


@stage("snap", applies=_has_digits)
def snap(work: LiftWork) -> None:
    """Make numbers equal that differ in their last digits, where ``digits`` asks for it."""
    assert work.settings.digits is not None
    work.snapped = snap_numbers(work.program.minimisation(), work.settings.digits)


@stage("presolve")
def presolve(work: LiftWork) -> None:
    """Substitute fixed variables, singleton rows, empty rows and duplicate rows, exactly."""
    program = work.program.minimisation() if work.snapped is None else work.snapped.program
    is_wanted = work.settings.reduce and work.settings.lift != "none"
    work._reduction = (reduce if is_wanted else unreduced)(program, work.settings.values)


@stage("find classes")
def find_classes(work: LiftWork) -> None:
    """Find the equivalent variables, rows and cones; keep those of an earlier lifting where they still hold."""
    if work.kept is not None and classes_hold(work.reduction, work.kept, is_known=work.has_old_matrices):
        work._symmetry, work.is_verified = work.kept, True
    else:
        work._symmetry = _find(work, work.settings, 0)


def _is_open(work: LiftWork) -> bool:
    return not work.is_verified


@stage("verify", applies=_is_open)
def verify(work: LiftWork) -> None:
    """Check the classes on the floats, by code that shares nothing with the search; try others if they fail."""
    for attempt, how in _ways(work.settings):
        if attempt:
            work._symmetry = _find(work, how, attempt)
        if work.symmetry.is_discrete:
            return
        distance = distance_of(work.reduction.program, work.symmetry)
        if distance <= TOLERANCE:
            return
        seed = work.settings.seed + attempt
        work.notes.append(f"classes found by {how.lift} with seed {seed} failed their check ({distance:.1g}).")
    work.notes.append("no classes passed their check: the program is solved directly.")
    work._symmetry = no_symmetry(work.reduction.program)


@stage("quotient")
def merge(work: LiftWork) -> None:
    """Merge each class into one variable, row or cone."""
    old = None
    if work.earlier is not None and work.symmetry is work.earlier[1].symmetry and work.has_old_matrices:
        old = work.earlier[1]
    work._quotient = quotient(work.reduction.program, work.symmetry, old)


LIFTING: tuple[Stage[LiftWork], ...] = (snap, presolve, find_classes, verify, merge)
"""From the original program to the small one."""


def _ways(settings: LiftSettings) -> Iterator[tuple[int, LiftSettings]]:
    """The search as asked for, with another seed, and by counting."""
    counting = replace(settings, lift="counting") if settings.lift == "equitable" else settings
    yield from enumerate((settings, settings, counting))


def _find(work: LiftWork, how: LiftSettings, attempt: int) -> Symmetry:
    seed = work.settings.seed + attempt
    images = _images(work.reduction, work.kept)
    return find_symmetry(work.reduction.program, images, how, seed=seed, progress=work.progress)


def _images(reduction: Reduction, old: Symmetry | None) -> Images:
    """What tells things apart from the start: the vectors, and the classes of an earlier lifting."""
    images = reduction.images
    of_variables = (images.q, images.lb, images.ub)
    if old is None:
        return Images(of_variables, images.l, images.u, b=images.b)
    variables, rows, conic_rows, cones = (
        classes.labels.astype(np.uint64) for classes in (old.variables, old.rows, old.conic_rows, old.cones)
    )
    return Images((*of_variables, variables), images.l, images.u, (rows,), images.b, (conic_rows,), (cones,))


def distance_of(program: Program, symmetry: Symmetry) -> float:
    """How far the classes are from the conditions of lifting."""
    return max(
        distance_from_equitable(program, symmetry.variables, symmetry.rows, symmetry.row_scales),
        distance_of_quadratic_rows(program.quadratic, symmetry.variables, symmetry.quadratic),
        distance_of_conic_rows(program.conic, symmetry.variables, symmetry.conic_rows, symmetry.cones),
    )


def has_same_reduction(new: Reduction, old: Reduction) -> bool:
    """Whether the same variables and rows are left, so that the matrices are the same."""
    return np.array_equal(new.variables, old.variables) and np.array_equal(new.rows, old.rows)


def has_same_cones(new: Reduction, old: Reduction) -> bool:
    """Whether cones and quadratic constraints are as many, and of the same kinds."""
    here, there = new.program, old.program
    return here.conic.cones == there.conic.cones and len(here.quadratic) == len(there.quadratic)


def has_same_matrices(new: Program, old: Program) -> bool:
    """Whether two programs have the same matrices, number by number, and no quadratic constraints or cones."""
    if len(new.quadratic) or len(old.quadratic) or len(new.conic) or len(old.conic):
        return False
    return _is_same(new.A, old.A) and _is_same(new.P, old.P)


def _is_same(one: SparseMatrix | None, other: SparseMatrix | None) -> bool:
    if one is None or other is None:
        return one is other
    parts = ("indptr", "indices", "data")
    return one.format == other.format and all(np.array_equal(getattr(one, p), getattr(other, p)) for p in parts)


def classes_hold(reduction: Reduction, symmetry: Symmetry, *, is_known: bool = False) -> bool:
    """Whether classes of an earlier program hold for the numbers of this one.

    Parameters
    ----------
    reduction
        The program after presolve.
    symmetry
        The classes.
    is_known
        Whether they are known to hold for its matrices, so that only its vectors are to be looked at.
    """
    if symmetry.method == "none" or symmetry.is_discrete:
        return True
    if not is_known and distance_of(reduction.program, symmetry) > TOLERANCE:
        return False
    return _is_exactly_constant(reduction, symmetry)


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
