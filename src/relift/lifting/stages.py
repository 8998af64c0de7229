"""The stages of lifting: each makes a smaller program of the one before, or decides how.

::

    snap ─▶ presolve ─▶ find classes ─▶ verify ─▶ quotient          second look, when it is asked for

Finding classes also finds what is at rest: variables that stay where they are by symmetry, and rows that hold then
(:mod:`~relift.lifting.settling`).

A partition that fails the independent check of ``verify`` is never used: hashes of 61 bits can collide in principle,
and a number can be a multiple of the modulus. Then another seed is tried, then equal scales, then counting, which
compares values by other hashes; then nothing is merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from relift.arrays import FieldElements, Flags, Indices, SparseMatrix
from relift.lifting.presolve import reduce, unreduced
from relift.lifting.quotient import Quotient, quotient
from relift.lifting.reduction import Reduction
from relift.lifting.second_look import (
    DIGITS,
    DIGITS_WRITTEN,
    LITTLE,
    MUCH_SMALLER,
    RoundingHint,
    has_more_digits,
    has_nearly_equal_numbers,
    may_be_rounded,
)
from relift.lifting.settling import AtRest, Settled, settle
from relift.program.program import Program
from relift.records import cached_property
from relift.settings import LiftSettings, ProgressCallback, Reading
from relift.stages import Stage, stage
from relift.symmetry import finite_field as field_
from relift.symmetry.centres import centres_of
from relift.symmetry.equitable import (
    TOLERANCE,
    distance_from_equitable,
    distance_of_conic_rest,
    distance_of_conic_rows,
    distance_of_quadratic_rows,
    distance_of_rest,
    is_constant_on_classes,
)
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.find import Images, Symmetry, find_symmetry, no_symmetry
from relift.symmetry.likeness import Likeness
from relift.symmetry.own_scales import Intervals
from relift.symmetry.partition import Partition
from relift.symmetry.rounded_refinement import width_of_zero
from relift.symmetry.scaled_candidate import Found
from relift.symmetry.scaled_search import find_up_to_rounding, find_up_to_scale
from relift.symmetry.semidefinite_classes import find_with_entries
from relift.symmetry.snapping import Snapped
from relift.symmetry.snapping import snap as snap_numbers

MANY_MERGED = 0.1
"""Where entries of semidefinite cones are merged, and no more classes than this share are left, sizes and signs are not
looked for as well."""


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
        Presolve, what was at rest, and quotient of an earlier lifting of the same matrices, to be kept where they still
        hold.
    most_rounded
        Classes up to rounding are of use only if they are no more than so many.
    """

    program: Program
    settings: LiftSettings
    progress: ProgressCallback | None = None
    earlier: tuple[Reduction, Settled, Quotient] | None = None
    most_rounded: float = np.inf
    snapped: Snapped | None = None
    notes: list[str] = field(default_factory=list)
    is_verified: bool = False
    hint: RoundingHint | None = None
    _reduction: Reduction | None = None
    _settled: Settled | None = None
    _symmetry: Symmetry | None = None
    _quotient: Quotient | None = None
    _look: Likeness | None = None

    @classmethod
    def done(
        cls,
        program: Program,
        settings: LiftSettings,
        reduction: Reduction,
        settled: Settled,
        quotient: Quotient,
        look: Likeness | None,
    ) -> LiftWork:
        """What the stages have left behind, for a second look.

        Parameters
        ----------
        program, settings
            The original program, and how classes were looked for.
        reduction, settled, quotient
            What was made of it.
        look
            What the search has seen of the rows, if it looked.
        """
        work = cls(program, settings, is_verified=True)
        work._reduction, work._settled, work._symmetry, work._quotient = reduction, settled, quotient.symmetry, quotient
        work._look = look
        return work

    @property
    def reduction(self) -> Reduction:
        """The program after presolve."""
        assert self._reduction is not None, "presolve comes first"
        return self._reduction

    @property
    def settled(self) -> Settled:
        """The program without what is at rest."""
        assert self._settled is not None, "classes are found first"
        return self._settled

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

    @cached_property
    def kept(self) -> tuple[Settled, Symmetry] | None:
        """What was at rest, and the classes, of the earlier lifting, if presolve left the same variables and rows."""
        if self.earlier is None or not has_same_reduction(self.reduction, self.earlier[0]):
            return None
        return self.earlier[1], self.earlier[2].symmetry

    @cached_property
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
    earlier = None if work.earlier is None else work.earlier[0]
    work._reduction = (reduce if is_wanted else unreduced)(program, work.settings.values, earlier)


@stage("find classes")
def find_classes(work: LiftWork) -> None:
    """Find the equivalent variables, rows and cones; keep those of an earlier lifting where they still hold."""
    if work.kept is not None:
        settled, symmetry = settled_alike(work.reduction, work.kept[0], work.settings.values), work.kept[1]
        known = work.kept[0].images if work.has_old_matrices else None
        if classes_hold(settled, symmetry, known):
            work._settled, work._symmetry, work.is_verified = settled, symmetry, True
            return
    _find(work, work.settings, 0)


def _tolerance(settings: LiftSettings) -> float:
    """The largest difference inside a class that passes as rounding: with digits, that of numbers in proportion."""
    return TOLERANCE if settings.digits is None else max(TOLERANCE, width_of_zero(settings.digits))


def _is_open(work: LiftWork) -> bool:
    return not work.is_verified


@stage("verify", applies=_is_open)
def verify(work: LiftWork) -> None:
    """Check the classes on the floats, by code that shares nothing with the search; try others if they fail."""
    for attempt, how in _ways(work.settings):
        if attempt:
            _find(work, how, attempt)
        if work.symmetry.is_discrete and work.settled.is_trivial:
            return
        distance = distance_of(work.settled, work.symmetry)
        if distance <= _tolerance(work.settings):
            return
        seed = work.settings.seed + attempt
        work.notes.append(f"classes found by {how.lift} with seed {seed} failed their check ({distance:.1g}).")
    work.notes.append("no classes passed their check: the program is solved directly.")
    work._settled = settle(work.reduction.program, work.reduction.images, AtRest())
    work._symmetry = no_symmetry(work.reduction.program)


@stage("quotient")
def merge(work: LiftWork) -> None:
    """Merge each class into one variable, row or cone."""
    old = None
    if work.earlier is not None and work.symmetry is work.earlier[2].symmetry and work.has_old_matrices:
        old = work.earlier[2]
    work._quotient = quotient(work.settled.program, work.symmetry, old)


def _may_be_rounded(work: LiftWork) -> bool:
    if work.settings.digits is not None or work.settings.lift != "equitable" or work.earlier is not None:
        return False
    program, size = work.reduction.program, sum(_small_size(work))
    if size <= max(2, LITTLE * (program.n_variables + program.n_rows + program.conic.n_rows)):
        return False
    return has_nearly_equal_numbers(work.program) or _is_nearly_in_proportion(work)


def _is_nearly_in_proportion(work: LiftWork) -> bool:
    """Whether rows in proportion to ten digits stand apart, and rounding can be the reason."""
    program, settled, symmetry = work.reduction.program, work.settled, work.symmetry
    if not work.settings.sizes or len(program.conic) or len(program.quadratic):
        return False
    if work._look is not None:
        return work._look.is_nearly_in_proportion and may_be_rounded(work.program)
    if symmetry.rows.n_classes < 2 or not may_be_rounded(work.program):
        return False
    variables = _labels_with_rest(symmetry.variables, settled.variables, program.n_variables)
    rows = _labels_with_rest(symmetry.rows, settled.rows, program.n_rows)
    labels = variables.view(np.int64), rows.view(np.int64)
    look = Likeness.of(program, work.reduction.images, *labels, only_in_proportion=True)
    return look.is_nearly_in_proportion


@stage("second look", applies=_may_be_rounded)
def look_again(work: LiftWork) -> None:
    """See whether numbers that differ by rounding alone keep many variables apart, and say so."""
    size = sum(_small_size(work))
    most = MUCH_SMALLER * size
    for digits in (DIGITS,) if has_more_digits(work.program, DIGITS_WRITTEN) else (DIGITS, DIGITS_WRITTEN - 2):
        found = _classes_up_to_rounding(work, size, most, digits)
        if found is None:
            continue
        variables, rows, conic = found.variables.n_classes, found.rows.n_classes, found.conic_rows.n_classes
        if variables + rows + conic <= most:
            work.hint = RoundingHint(digits, variables, rows)
            return


def _classes_up_to_rounding(work: LiftWork, size: int, most: float, digits: int) -> Symmetry | None:
    """What ``digits`` would find; None if that is too much to be of use."""
    snapped = snap_numbers(work.program.minimisation(), digits)
    if not _is_nearly_in_proportion(work):  # equal numbers are enough: to compare sums up to rounding takes longer
        other = LiftWork(snapped.program, work.settings)
    else:
        settings = replace(work.settings, digits=digits)
        # The program as it is has been searched exactly. All that rests is at most two classes, which do not count.
        if snapped.report.n_values_merged == 0 and most + 2 < size:
            reduction = work.reduction
            found = find_up_to_rounding(reduction.program, Images(reduction.images), settings, most)
            return None if found is None else found.symmetry
        other = LiftWork(work.program, settings, most_rounded=most, snapped=snapped)
    steps: tuple[Stage[LiftWork], ...] = (presolve, find_classes)
    for step in steps:
        step.run(other)
    return other.symmetry


def _small_size(work: LiftWork) -> tuple[int, int, int]:
    small = work.quotient.program
    return small.n_variables, small.n_rows, small.conic.n_rows


LIFTING: tuple[Stage[LiftWork], ...] = (snap, presolve, find_classes, verify, merge)
"""From the original program to the small one."""

LOOKING: tuple[Stage[LiftWork], ...] = (look_again,)
"""What rounding keeps apart in the small one."""


def _ways(settings: LiftSettings) -> Iterator[tuple[int, LiftSettings]]:
    """The search as asked for, with another seed, with equal scales, and by counting."""
    yield 0, settings
    yield 1, settings
    plain = replace(settings, sizes=False, signs=False)
    counting = replace(settings, lift="counting") if settings.lift == "equitable" else settings
    yield from enumerate((plain, counting) if plain != settings else (counting,), 2)


def _find(work: LiftWork, how: LiftSettings, attempt: int) -> None:
    seed = work.settings.seed + attempt
    program, images = work.reduction.program, _images(work.reduction, work.kept)
    entries = None
    if how.lift == "equitable" and program.conic.layout.semidefinite.size:
        entries = find_with_entries(program, images, how, seed=seed, progress=work.progress)
    size = program.n_variables + program.n_rows + program.conic.n_rows
    if entries is not None and _n_classes(entries.symmetry) <= MANY_MERGED * size:
        found = entries
    elif how.is_up_to_scale:
        found = find_up_to_scale(
            program, images, how, seed=seed, progress=work.progress, most_rounded=work.most_rounded
        )
    else:
        found = Found(find_symmetry(program, images, how, seed=seed, progress=work.progress))
    if entries is not None and _n_classes(entries.symmetry) < _n_classes(found.symmetry):
        found = entries
    work._symmetry, work._look = found.symmetry, found.look
    rest = AtRest(found.variables, found.rows, found.conic_rows, found.cones, found.centres)
    work._settled = settle(program, work.reduction.images, rest, how.values)


def _n_classes(symmetry: Symmetry) -> int:
    """How many variables, rows and conic rows are left, at most."""
    return sum(classes.n_classes for classes in (symmetry.variables, symmetry.rows, symmetry.conic_rows))


def _images(reduction: Reduction, kept: tuple[Settled, Symmetry] | None) -> Images:
    """What tells things apart from the start: the vectors, and the classes of an earlier lifting."""
    images = Images(
        reduction.images, rows_are_apart=reduction.rows_are_apart, rows_have_entries=reduction.rows_have_entries,
        are_given=reduction.vectors_are_given,
    )  # fmt: skip
    if kept is None:
        return images
    settled, old = kept
    variables = _labels_with_rest(old.variables, settled.variables, reduction.program.n_variables)
    rows = _labels_with_rest(old.rows, settled.rows, reduction.program.n_rows)
    conic = reduction.program.conic
    conic_rows = _labels_with_rest(old.conic_rows, settled.conic_rows, conic.n_rows)
    cones = _labels_with_rest(old.cones, settled.cones, len(conic))
    return replace(images, variables=(variables,), rows=(rows,), conic_rows=(conic_rows,), cones=(cones,))


def _labels_with_rest(classes: Partition, kept: Indices, size: int) -> FieldElements:
    """Labels of all members, where one more class is at rest."""
    if classes.size == size:
        return classes.labels.view(np.uint64)
    labels = np.full(size, classes.n_classes, np.uint64)
    labels[kept] = classes.labels
    return labels


def distance_of(settled: Settled, symmetry: Symmetry) -> float:
    """How far the classes, and what is at rest, are from the conditions of lifting."""
    program = settled.program
    distance = max(
        distance_from_equitable(
            program, symmetry.variables, symmetry.rows, symmetry.row_scales, symmetry.variable_scales,
            symmetry.variable_masses, symmetry.row_masses,
        ),
        distance_of_quadratic_rows(program.quadratic, symmetry.variables, symmetry.quadratic),
        distance_of_conic_rows(
            program.conic, symmetry.variables, symmetry.conic_rows, symmetry.cones, symmetry.variable_scales,
            symmetry.variable_masses, symmetry.conic_scales, symmetry.conic_masses,
        ),
    )  # fmt: skip
    whole = settled.centred
    if program is whole:
        return distance
    conic = whole.conic
    w, price, conic_price = np.zeros(whole.n_variables), np.zeros(whole.n_rows), np.zeros(conic.n_rows)
    w[settled.variables], price[settled.rows] = symmetry.w, symmetry.row_shares
    conic_price[settled.conic_rows] = symmetry.conic_shares
    classes = (
        _labels_with_rest(symmetry.variables, settled.variables, w.size),
        _labels_with_rest(symmetry.rows, settled.rows, price.size),
        _labels_with_rest(symmetry.conic_rows, settled.conic_rows, conic.n_rows),
    )
    variables, rows, conic_rows = (Partition.from_labels(labels) for labels in classes)
    linear = distance_of_rest(whole, w, price, variables, rows)
    held = np.ones(conic.n_rows, bool)
    held[settled.conic_rows] = symmetry.conic_v == 0
    return max(distance, linear, distance_of_conic_rest(conic, w, conic_price, held, variables, conic_rows))


def settled_alike(reduction: Reduction, old: Settled, reading: Reading) -> Settled:
    """The reduced program without what was at rest earlier, measured from the centres of its own bounds."""
    program = reduction.program
    sizes = _sizes(program)
    if old.is_trivial and sizes == _sizes(old.program):
        return Settled(program, program, program, reduction.images, old.centre)
    centres, was_centred = None, old.centre != 0
    if was_centred.any():
        bounds = Intervals.of_vectors(program.lb, program.ub, reduction.images, "lb", "ub")
        centres = centres_of(program, bounds)
        if centres is not None:
            centres = centres.only(was_centred)
    kept = (old.variables, old.rows, old.conic_rows, old.cones)
    variables, rows, conic_rows, cones = (_mask_without(where, size) for where, size in zip(kept, sizes, strict=True))
    return settle(program, reduction.images, AtRest(variables, rows, conic_rows, cones, centres), reading)


def _sizes(program: Program) -> tuple[int, int, int, int]:
    """How many variables, rows, conic rows and cones there are."""
    return program.n_variables, program.n_rows, program.conic.n_rows, len(program.conic)


def _mask_without(where: Indices, size: int) -> Flags | None:
    if where.size == size:
        return None
    mask = np.ones(size, bool)
    mask[where] = False
    return mask


def has_same_reduction(new: Reduction, old: Reduction) -> bool:
    """Whether the same variables and rows are left, so that the matrices are the same."""
    pairs = ((new.variables, old.variables), (new.rows, old.rows))
    return all(one is other or np.array_equal(one, other) for one, other in pairs)


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
    pairs = ((getattr(one, part), getattr(other, part)) for part in parts)
    return one.format == other.format and all(here is there or np.array_equal(here, there) for here, there in pairs)


def classes_hold(settled: Settled, symmetry: Symmetry, known: VectorImages | None = None) -> bool:
    """Whether classes of an earlier program, and what was at rest there, hold for the numbers of this one.

    Parameters
    ----------
    settled
        The program without what was at rest.
    symmetry
        The classes.
    known
        Images of the vectors of an earlier program with the same matrices, for which the classes hold; None if there is
        none.
    """
    if symmetry.method == "none" or (symmetry.is_discrete and settled.is_trivial):
        return True
    if not (known is not None and settled.is_trivial) and distance_of(settled, symmetry) > TOLERANCE:
        return False
    return _is_exactly_constant(settled, symmetry, known)


def _is_exactly_constant(settled: Settled, symmetry: Symmetry, known: VectorImages | None) -> bool:
    """Whether images, divided by the scales, are constant on classes; those that are known to be are not looked at."""
    images, variables, rows = settled.images, symmetry.variables, symmetry.rows
    exact = symmetry.exact_scales
    if exact is None:  # rows were scaled by floats alone: where scales differ, nothing is known exactly
        if symmetry.variable_scales is not None or not is_constant_on_classes(symmetry.row_scales, rows):
            return False
        return _are_constant(images, symmetry, known)
    if known is None or not images.shares(known, "q"):
        cost = images.q if np.all(exact.variables == 1) else field_.multiply(images.q, exact.variables)
        if exact.variable_masses is not None:
            cost = field_.multiply(cost, field_.inverse(exact.variable_masses))
        if not is_constant_on_classes(cost, variables):
            return False
    program = settled.program
    if known is None or not images.shares(known, "lb", "ub"):
        bounds = Intervals(program.lb, program.ub, images.lb, images.ub).divided(symmetry.w, exact.variables)
        if not all(is_constant_on_classes(words, variables) for words in bounds):
            return False
    if known is None or not images.shares(known, "l", "u"):
        bounds = Intervals(program.l, program.u, images.l, images.u).divided(symmetry.v, exact.rows)
        if not all(is_constant_on_classes(words, rows) for words in bounds):
            return False
    if known is not None and images.shares(known, "b"):
        return True
    return is_constant_on_classes(field_.multiply(images.b, field_.inverse(exact.conic_rows)), symmetry.conic_rows)


def _are_constant(images: VectorImages, symmetry: Symmetry, known: VectorImages | None) -> bool:
    """Whether images are constant on classes where all scales are 1; those that are known to be are not looked at."""
    variables, rows, conic_rows = symmetry.variables, symmetry.rows, symmetry.conic_rows
    of_classes = (
        ("q", variables), ("lb", variables), ("ub", variables), ("l", rows), ("u", rows), ("b", conic_rows),
    )  # fmt: skip
    return all(
        (known is not None and images.shares(known, name)) or is_constant_on_classes(getattr(images, name), classes)
        for name, classes in of_classes
    )
