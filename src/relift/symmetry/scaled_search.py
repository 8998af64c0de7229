"""Classes up to size, unit and sign: one search, then others that could find fewer.

First with equal masses. Then, where rows look alike up to size, with masses from sizes and prices
(:mod:`~relift.symmetry.masses`); and both from the middles of bounds, where right-hand sides would be equal then
(:mod:`~relift.symmetry.centres`). The fewest classes win; each search finds at most as many as the equitable ones. What
can find nothing is not tried (:mod:`~relift.symmetry.likeness`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from typing import ParamSpec, TypeVar, final

import numpy as np

from relift.arrays import FieldElements, Flags, Indices
from relift.program.program import Program
from relift.records import cached_property
from relift.settings import LiftSettings, ProgressCallback
from relift.symmetry.centres import (
    Centres,
    centred_program,
    centres_of,
    may_be_equal_up_to_reflection,
    only_moves,
    sharpened,
    uncentred,
)
from relift.symmetry.colour_refinement import (
    KeptValues,
    Refinement,
    RefinementStatistics,
    Start,
    refine,
    start_in_floats,
)
from relift.symmetry.colour_refinement import Progress as Teller
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.few_left import refine_what_is_left
from relift.symmetry.find import Images, Symmetry, find_symmetry, teller
from relift.symmetry.likeness import Colours, Likeness, looks_repeated
from relift.symmetry.masses import is_uniform, masses_of
from relift.symmetry.merged_program import MergedProgram
from relift.symmetry.own_scales import Masses, OwnScales, scales_of_rows, scales_of_variables
from relift.symmetry.partition import Partition
from relift.symmetry.proportional_bounds import proportional_images
from relift.symmetry.proportional_costs import Curvatures, proportional_costs
from relift.symmetry.quadratic_refinement import refine_with_quadratic_rows
from relift.symmetry.rounded_refinement import MOST_ROUNDS, ROUNDS_OF_A_LOOK, refine_up_to_rounding
from relift.symmetry.scaled_candidate import NONE, Candidate, Found, as_given, rounded_scales
from relift.symmetry.scaled_cones import ScaledCones, intervals_of, rigid
from relift.symmetry.scaled_refinement import ScaledRefinement, refine_up_to_scale
from relift.symmetry.spare_memory import memory_kept
from relift.symmetry.told_apart import FloatKinds, kinds_in_floats

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

SMALL = 10_000
"""Up to so many entries masses are tried without a look at some rows first, floats are asked first in any case, and
nothing is merged for the search."""

ASKING_AGAIN = 200_000
"""From so many entries on floats are asked what masses, or centres, can find beyond the classes that are known: below,
the search with them costs little more than to ask."""

LITTLE = 0.02
"""Masses of sizes and prices, and numbers read as proportional, are not tried where nothing is equivalent without them
and floats show that at most this share of the variables, and of the rows, is with them; in small programs none. Where
something is equivalent they are not tried, in large programs, if at most this share of classes can come together."""

WORTH_MERGING = 0.5
"""Equitable classes are merged for the search where they are at most this share of variables and rows."""


def _quietly(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Floats only steer the search: what leaves their range is told apart by exact numbers, and checked afterwards."""

    @wraps(function)
    def call(*args: Given.args, **options: Given.kwargs) -> Returned:
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            return function(*args, **options)

    return call


@_quietly
def find_up_to_scale(
    program: Program,
    images: Images,
    settings: LiftSettings,
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    most_rounded: float = np.inf,
) -> Found:
    """The coarsest equitable classes of which members may differ in size, unit and sign.

    Parameters
    ----------
    program
        A minimisation.
    images
        What parts variables, rows and cones from the start.
    settings
        Whether sizes and signs may differ, and how floats are read.
    seed
        Seed of the random words.
    progress
        Progress callback, called once per round.
    most_rounded
        Classes up to rounding are of use only if they are no more than so many.

    Examples
    --------
    >>> program = Program(q=[1, 2], A=[[1, 2]], l=[4], lb=0)
    >>> found = find_up_to_scale(program, Images(VectorImages.of(program, "decimal")), LiftSettings())
    >>> found.symmetry.variables.labels.tolist(), found.symmetry.w.tolist()
    ([0, 0], [1.0, 0.5])
    """
    search = _Search(program, images, settings, seed, teller(progress))
    search.most_rounded = most_rounded
    search.ask_floats()
    merged = search.merged()
    best, centres = (search if merged is None else merged).best_of_all()
    if centres is None and best.found.statistics.rows_without_scale:
        # Some scale was lost in cancellation: classes may be too many.
        if merged is None:
            plain = find_symmetry(program, images, settings, seed=seed, progress=progress)
            if _n_classes(plain) < best.n_classes:
                return Found(plain)
        elif merged.n_vertices < best.n_classes:
            best = merged.as_merged()
    if merged is not None:
        best = search.expanded(best)
        centres = None if centres is None or search.small is None else search.small.expand_centres(centres)
    if centres is not None:
        classes, n = best.found.variables, program.n_variables
        here = Partition.from_labels(classes.classes.labels[:n])
        centres = uncentred(centres, here, classes.images[:n])
    found = best.without_rest(settings.lift, centres)
    if search.look is None or merged is not None or not found.symmetry.is_discrete:
        return found
    return found.seen(search.look)


@_quietly
def find_up_to_rounding(program: Program, images: Images, settings: LiftSettings, most_classes: float) -> Found | None:
    """The classes that ``digits`` adds to the exact ones, without a search for these; None if they are too many.

    Parameters
    ----------
    program
        A linear or quadratic minimisation.
    images
        Exact images of its vectors.
    settings
        With ``digits``.
    most_classes
        More classes are of no use.

    Examples
    --------
    >>> size = np.array([0.7, 1.3, 2.9])
    >>> program = Program(q=np.ones(3), A=np.eye(3), l=0.6 * size, lb=0, ub=3.1 * size)
    >>> settings = LiftSettings(digits=11)
    >>> found = find_up_to_rounding(program, Images(VectorImages.of(program, "decimal")), settings, 2)
    >>> found.symmetry.variables.labels.tolist(), found.symmetry.rows.labels.tolist()
    ([0, 0, 0], [0, 0, 0])
    """
    assert settings.digits is not None, "rounding needs a number of digits"
    search = _Search(program, images, settings, settings.seed, None)
    search.most_rounded = most_classes
    found = list(search.up_to_rounding(settings.digits))
    return min(found, key=lambda each: each.n_classes).without_rest(settings.lift, None) if found else None


def _n_classes(found: Symmetry) -> int:
    every = (found.variables, found.rows, found.quadratic, found.conic_rows, found.cones)
    return sum(classes.n_classes for classes in every)


@final
class _Search:
    """One program, refined up to scale with one or another choice of masses."""

    def __init__(
        self,
        program: Program,
        images: Images,
        settings: LiftSettings,
        seed: int,
        tell: Teller | None,
        small: MergedProgram | None = None,
        like: _Search | None = None,  # a search in the same matrices
    ) -> None:
        self.program, self.images, self.settings, self.seed, self.tell = program, images, settings, seed, tell
        self.small = small  # what equitable classes were merged into: for a search in it, the program itself
        self.bounds, self.rows = intervals_of(program, images.vectors)
        self.cones = self.stacked_cones(like) if len(program.conic) else None
        self.is_linear = self.cones is None and len(program.quadratic) == 0
        self.plain: Refinement | None = None
        self.most_rounded = np.inf
        self.look: Likeness | None = None  # at the program without any classes
        searched = program if self.cones is None else self.cones.stacked.program
        kept: KeptValues | None = None if like is None else like.kept
        if kept is None or kept.P is not searched.P or kept.A is not searched.A:
            rows_are_apart = images.rows_are_apart and images.rows_have_entries and self.cones is None
            kept = KeptValues(searched.P, searched.A, rows_are_apart=rows_are_apart)
        self.kept: KeptValues = kept
        self.reads_curvatures = False  # as proportional
        self.kinds: FloatKinds | None = None  # with equal masses, where floats were asked and could count them
        self.left: tuple[Indices, Indices] | None = None  # all others are alone with equal masses
        self.mass_kinds: FloatKinds | None = None  # with masses of sizes and prices
        self.floats_tell = True  # about as much as the exact search, where both have looked
        self.is_alone = False  # everything, with equal masses
        self.is_told_apart = False  # with other masses too, but for little

    def stacked_cones(self, like: _Search | None) -> ScaledCones:
        """The cones stacked, or those of a search in the same matrices, as far as numbers are the same."""
        if like is None or like.cones is None:
            return ScaledCones.of(self.program, self.images.vectors, self.settings)
        if like.program is self.program and like.images.vectors.shares(self.images.vectors, "b"):
            return like.cones
        return ScaledCones.of(self.program, self.images.vectors, self.settings, like.cones.stacked)

    @cached_property
    def is_rigid(self) -> Flags:
        """Which variables stand in quadratic constraints."""
        is_rigid = np.zeros(self.program.n_variables, bool)
        is_rigid[self.program.quadratic.variables] = True
        return is_rigid

    @cached_property
    def colours(self) -> Colours:
        """What kinds of variables there are; for programs without cones and quadratic constraints."""
        program = self.program if self.small is None else self.small.member
        q = self.images.vectors.exact("q") if self.small is None else self.small.q_image
        settings = self.settings
        return Colours.of(
            self.bounds, program.q, q, sizes=settings.sizes, signs=settings.signs, reading=settings.values
        )

    @property
    def n_vertices(self) -> int:
        return self.program.n_variables + self.program.n_rows

    def merged(self) -> _Search | None:
        """The same search in a program with equitable classes merged; None where that promises nothing."""
        settings = self.settings
        if not self.is_linear or not settings.scale_rows or settings.digits is not None or self.n_entries <= SMALL:
            return None
        colours = self.colours
        if not (colours.may_merge or (settings.sizes and colours.may_merge_with_masses)):
            return None  # what else there is to find is looked for by a sample
        if self.is_alone or self.left is not None:
            return None
        if colours.may_merge and not looks_repeated(self.program, colours, self.kinds):
            return None
        most = int(WORTH_MERGING * self.n_vertices)
        # Equitable classes that are not merged are looked for again only where they are the ones up to scale.
        plain = self.refine_plainly(most_classes=most if colours.may_merge else None)
        if plain.variables.n_classes + plain.rows.n_classes > most:
            return None
        self.small = MergedProgram.of(self.program, self.images, plain, settings.values)
        return None if self.small is None else self.within(self.small)

    def within(self, small: MergedProgram) -> _Search:
        return _Search(small.program, small.images, self.settings, self.seed, self.tell, small, self)

    def read_as_proportional(self) -> _Search | None:
        """The same search with bounds, costs and curvatures read as proportional where they are but for rounding."""
        vectors, new_costs, curved = proportional_images(self.program, self.images.vectors), None, False
        if vectors is None and not self.is_linear:
            return None
        program, costs = self.program_of_all(), self.vectors_of_all.q
        # Where all bounds and costs are alike there is nothing that costs and curvatures could be in proportion to.
        if self.is_linear and self.colours.given > 1:
            new_costs = proportional_costs(program, costs)
            if program.P is not None:
                curved = Curvatures.of(program.P).seem_proportional(program, self.bounds, costs)
        if vectors is None and new_costs is None and not curved:
            return None
        vectors = self.images.vectors if vectors is None else vectors
        costs = costs if new_costs is None else new_costs
        if self.small is not None:
            search = self.within(self.small.with_vectors(vectors, costs))
        else:
            vectors = vectors if new_costs is None else vectors.but(q=costs)
            images = replace(self.images, vectors=vectors)
            search = _Search(self.program, images, self.settings, self.seed, self.tell, like=self)
        search.reads_curvatures = curved
        return search

    def from_centres(self, centres: Centres) -> _Search:
        """The same search with variables measured from their centres."""
        if self.small is not None:
            search = self.within(self.small.centred(centres, self.settings.values))
        else:
            program, vectors = centred_program(self.program, self.images.vectors, centres, self.settings.values)
            may_tell = self.asks_again and self.floats_tell
            sharp = sharpened(program, vectors, self.settings.values) if may_tell else None
            program = program if sharp is None else sharp
            images = replace(self.images, vectors=vectors, are_given=sharp is not None)
            search = _Search(program, images, self.settings, self.seed, self.tell, like=self)
        search.reads_curvatures = self.reads_curvatures
        return search

    def best_of_all(self) -> tuple[Candidate, Centres | None]:
        """The fewest classes, also with numbers read as proportional, and with variables measured from centres."""
        settings = self.settings
        plain = self.plain
        if plain is not None and plain.variables.is_discrete and self.may_ask_floats and not self.colours.may_merge:
            self.is_alone = True
            self.is_told_apart = self.masses_find_little()
        search, best = self, self.alone if self.is_told_apart else self.best()
        is_read_otherwise = settings.sizes and best.n_classes > 2 and not self.is_told_apart
        # Colours in floats are those of numbers read in either way.
        is_read_otherwise = is_read_otherwise and not (self.has_asked and self.gains_little(best))
        other_search = self.read_as_proportional() if is_read_otherwise else None
        if other_search is not None:
            other = other_search.exact()
            if other.n_classes < best.n_classes:
                search, best = other_search, other
        if not settings.signs or best.n_classes <= 2:
            return best, None
        if not self.may_be_reflected():
            return best, None
        if search.only_moves(best):
            return best, None
        centres = centres_of(self.program, search.bounds)
        if centres is not None:
            centred = search.from_centres(centres)
            if search.floats_tell and centred.gains_little(best):
                return best, None
            other = centred.exact()
            if other.n_classes < best.n_classes:
                return other, centres
        return best, None

    @property
    def may_ask_floats(self) -> bool:
        """Whether rounds in floats can say that nothing is equivalent."""
        images, settings = self.images, self.settings
        is_asked = len(self.program.quadratic) == 0 and self.small is None and settings.digits is None
        is_plain = images.are_given and not any((images.variables, images.rows, images.conic_rows, images.cones))
        return is_asked and is_plain and images.rows_are_apart and images.rows_have_entries

    def ask_floats(self) -> None:
        """Find out by floats whether neither equal masses nor those of sizes and prices put anything into one class."""
        if not self.may_ask_floats:
            return
        if self.is_linear and self.n_entries > SMALL and not self.colours.may_merge:
            return  # the equitable classes are the ones, and costs and bounds may tell all apart at once
        with memory_kept():
            kinds = self.kinds_in_floats(masses=False)
            self.left = None if kinds is None else kinds.left
            self.kinds = None if kinds is None or not kinds.are_counted else kinds
            self.is_alone = self.kinds is not None and self.kinds.are_all_apart
            self.is_told_apart = self.is_alone and self.masses_find_little()

    @property
    def has_asked(self) -> bool:
        """Whether floats have told all that they can tell of equal masses and of others."""
        return self.kinds is not None and self.mass_kinds is not None

    def masses_find_little(self) -> bool:
        """Whether masses of sizes and prices put next to nothing into one class, where everything is alone without."""
        if not self.settings.sizes:
            return True
        # Kinds are counted exactly: numbers in proportion but for rounding are of one kind in floats alone.
        return (self.n_entries > SMALL and not self.tries_masses(self.alone.found)) or self.masses_tell_apart()

    def masses_tell_apart(self) -> bool:
        """Whether floats show that next to nothing is equivalent with masses of sizes and prices."""
        is_small, least = self.n_entries <= SMALL, 1.0 - LITTLE
        # Where floats were not asked, numbers may be in proportion but for rounding.
        may_stay, looks = 0.0 if is_small else LITTLE, not is_small and self.kinds is not None
        kinds = self.mass_kinds = self.kinds_in_floats(masses=True, may_stay=may_stay, looks=looks)
        if kinds is None or is_small:
            return kinds is not None and kinds.are_all_apart
        n, m = self.program.n_variables, self.program.n_rows + self.program.conic.n_rows
        return kinds.variables >= least * n and kinds.rows >= least * m

    @property
    def asks_again(self) -> bool:
        """Whether the program is so large that floats are asked what another search can find."""
        return self.n_entries >= ASKING_AGAIN and self.may_ask_floats

    def masses_gain_little(self, candidate: Candidate, *, looks: bool = True) -> bool:
        """Whether floats show that masses of sizes and prices put few of these classes together."""
        kinds = self.mass_kinds = self.kinds_in_floats(masses=True, may_stay=LITTLE, looks=looks)
        if kinds is None or not kinds.masses_are_idle:
            return self.are_about_as_many(kinds, candidate)
        # Exact searches part numbers that are in proportion but for rounding, which masses might make up for.
        return self.are_about_as_many(self.kinds, candidate)

    def are_about_as_many(self, kinds: FloatKinds | None, candidate: Candidate) -> bool:
        """Whether there are about as many kinds as classes: what is not of one kind is never of one class."""
        if kinds is None:
            return False
        variables, rows = candidate.found.variables.classes, candidate.found.rows.classes
        n_classes = (
            variables.n_classes if self.cones is None else int(variables.labels[: self.program.n_variables].max()) + 1
        )
        least = 1.0 - LITTLE
        return kinds.variables >= least * n_classes and kinds.rows >= least * rows.n_classes

    def gains_little(self, best: Candidate) -> bool:
        """Whether floats show that no search, with equal masses or others, finds clearly fewer classes."""
        if not self.asks_again:
            return False
        if self.kinds is None and not self.is_told_apart:
            self.kinds = self.kinds_in_floats(masses=False, may_stay=LITTLE)
        if not self.are_about_as_many(self.kinds, best):
            return False
        if self.mass_kinds is None and self.tries_masses(best.found):
            return self.masses_gain_little(best)
        return self.mass_kinds is None or self.are_about_as_many(self.mass_kinds, best)

    def kinds_in_floats(self, *, masses: bool, may_stay: float = 0.0, looks: bool = False) -> FloatKinds | None:
        """How much floats tell apart; see :func:`relift.symmetry.told_apart.kinds_in_floats`."""
        conic = None if self.cones is None else self.cones.told
        return kinds_in_floats(
            self.program_of_all(), self.vectors_of_all, self.settings, masses=masses, may_stay=may_stay, looks=looks,
            conic=conic,
        )  # fmt: skip

    @cached_property
    def alone(self) -> Candidate:
        """Every variable and every row by itself, and every cone and conic row."""
        searched = self.program if self.cones is None else self.cones.stacked.program
        n, m = searched.n_variables, searched.n_rows
        classes = as_given(Partition.discrete(n)), as_given(Partition.discrete(m))
        nothing = RefinementStatistics("compiled", 0, 0, 0, 0.0)
        return Candidate(self.program, ScaledRefinement(*classes, nothing), None, NONE)

    def may_be_reflected(self) -> bool:
        """Whether more may be equal where variables are measured from their centres."""
        if self.small is None:
            return may_be_equal_up_to_reflection(self.program, self.images.vectors)
        return may_be_equal_up_to_reflection(self.small.member, self.vectors_of_all)

    def only_moves(self, best: Candidate) -> bool:
        """Whether nothing can be found with variables measured from their centres that was not found without."""
        if self.program.P is not None or not self.is_linear or best.n_classes < self.n_vertices:
            return False
        # Sizes from the centres are half of those from 0: rows look the same, and speak for masses or do not.
        masses_are_out = self.n_entries > SMALL and self.look is not None and not self.look.speaks_for_masses
        if self.settings.sizes and not masses_are_out:
            return False
        return only_moves(self.program, self.bounds)

    def best(self) -> Candidate:
        """The classes that are the fewest: exactly, or, where digits are given, up to rounding."""
        candidate = self.exact()
        if self.settings.digits is None or self.cones is not None or len(self.program.quadratic):
            return candidate
        if self.images.variables or self.images.rows:  # an update: classes must not grow
            return candidate
        for rounded in self.up_to_rounding(self.settings.digits):
            if rounded.n_classes < candidate.n_classes:
                candidate = rounded
        return candidate

    def up_to_rounding(self, digits: int) -> Iterator[Candidate]:
        """Classes in floats, with equal masses and with those of sizes and prices."""
        program = self.program
        rows = self.scales_of_rows
        masses: Masses | None = None
        most_rounds = MOST_ROUNDS if np.isinf(self.most_rounded) else ROUNDS_OF_A_LOOK
        for _ in range(2):
            is_last = masses is not None or not self.settings.sizes  # masses are taken from the classes before
            found = refine_up_to_rounding(
                program.P, program.A, program.q, self.bounds, self.rows, self.scales_of_variables(masses), rows,
                masses, digits, self.most_rounded if is_last else np.inf, most_rounds,
            )  # fmt: skip
            if found is None:
                return
            classes = ScaledRefinement(
                rounded_scales(found.variables, found.variable_scales),
                rounded_scales(found.rows, found.row_scales),
                RefinementStatistics("numpy", 0, 0, 0, 0.0),
            )
            yield Candidate(self.program, classes, masses, Partition.discrete(0), is_exact=False)
            masses = self.masses(classes) if self.settings.sizes and masses is None else None
            if masses is None:
                return

    def exact(self) -> Candidate:
        """Classes with equal masses, or with those of sizes and prices if they are fewer."""
        candidate = self.alone if self.is_alone else None
        if candidate is None and self.is_linear and self.settings.scale_rows and not self.colours.may_merge:
            candidate = self.equitable()
        with memory_kept():
            if candidate is None and self.left is not None:
                candidate = self.among_few(self.left)
                if self.kinds is None and candidate.n_classes < self.alone.n_classes:
                    candidate = None  # many rounds in floats have told little: members' scales come from all numbers
            return self.with_masses(self.refine(None) if candidate is None else candidate)

    def among_few(self, left: tuple[Indices, Indices]) -> Candidate:
        """The classes for equal masses, where floats have told apart all but a few variables and rows."""
        found = refine_what_is_left(
            self.program, left, (self.scales_of_variables(None), self.scales_of_rows),
            reading=self.settings.values, seed=self.seed, progress=self.tell,
        )  # fmt: skip
        return Candidate(self.program, found, None, NONE)

    def with_masses(self, candidate: Candidate) -> Candidate:
        """The given classes, or those with masses of sizes and prices if they are fewer."""
        found = candidate.found
        if not self.tries_masses(found):
            return candidate
        asks = not self.is_alone and self.asks_again  # else they were asked before
        # Where floats tell much less than the exact search with equal masses did, so they mostly do of others.
        self.floats_tell = not asks or self.kinds is None or self.are_about_as_many(self.kinds, candidate)
        if asks and self.floats_tell and self.masses_gain_little(candidate):
            return candidate
        masses = self.masses(found, looks=self.mass_kinds is None or self.mass_kinds.masses_are_idle)
        if masses is None:
            return candidate
        are_apart = found.variables.classes.is_discrete and found.rows.classes.is_discrete
        if not self.floats_tell and are_apart and self.masses_gain_little(candidate, looks=False):
            return candidate
        with_masses = self.refine(masses, known=found)
        return with_masses if with_masses.n_classes < candidate.n_classes else candidate

    def tries_masses(self, found: ScaledRefinement) -> bool:
        """Whether masses of sizes and prices are worth a search, by kinds of variables and a look at some rows."""
        # Quadratic constraints are compared with equal masses only.
        may_merge = self.cones is not None or (self.is_linear and self.colours.may_merge_with_masses)
        by_rows = self.is_linear and self.colours.lacks_size  # sizes that rows tell show in rows alone
        if not self.settings.sizes or not (may_merge or by_rows):
            return False
        return (self.n_entries <= SMALL and may_merge) or self.speaks_for_masses(found)

    @property
    def n_entries(self) -> int:
        """Entries of all matrices."""
        program = self.program
        of_P = 0 if program.P is None else program.P.data.size
        return int(program.A.data.size + program.conic.A.data.size + of_P)

    def refine_plainly(self, *, needs_scales: bool = False, most_classes: int | None = None) -> Refinement:
        """The equitable classes of a program without cones and quadratic constraints."""
        found = self.plain
        if found is None:
            program, vectors, images = self.program, self.images.vectors, self.images
            start, found = self.start_in_floats()
            if found is not None:
                self.plain = found
                return found
            found = refine(
                program.P, program.A, (vectors.q, vectors.lb, vectors.ub, *images.variables), vectors.l, vectors.u,
                program.l, program.u, reading=self.settings.values, row_extra=list(images.rows), seed=self.seed,
                progress=self.tell, kept=self.kept, needs_scales=needs_scales, rows_are_apart=images.rows_are_apart,
                most_classes=most_classes, some_start_alike=start == Start.ALIKE,
            )  # fmt: skip
            if most_classes is not None and found.variables.n_classes + found.rows.n_classes > most_classes:
                return found  # it may have been left
            if not needs_scales or not found.statistics.rows_without_scale:
                self.plain = found
        return found

    def start_in_floats(self) -> tuple[Start, Refinement | None]:
        """Whether costs and bounds, as floats, tell everything apart, where images would be read for nothing."""
        program, images, given = self.program, self.images, self.images.vectors.given
        is_known = given and images.rows_are_apart and not images.variables and not images.rows
        if not is_known or not all(name in given for name in ("q", "lb", "ub")):
            return Start.OPEN, None
        numbers = [(program.q, given["q"]), (program.lb, given["lb"]), (program.ub, given["ub"])]
        return start_in_floats(program.P, program.A, numbers)

    def equitable(self) -> Candidate | None:
        """The equitable classes; None where some row has no scale, so that they may depend on its factor."""
        found = self.refine_plainly(needs_scales=True) if self.small is None else self.small.found
        if found.statistics.rows_without_scale:
            return None
        if self.small is not None:
            return self.as_merged()
        classes = ScaledRefinement(as_given(found.variables), as_given(found.rows), found.statistics)
        return Candidate(self.program, classes, None, NONE, plain=found)

    def as_merged(self) -> Candidate:
        """The equitable classes that were merged, each by itself."""
        assert self.small is not None, "nothing was merged"
        n, m, found = self.program.n_variables, self.program.n_rows, self.small.found
        classes = as_given(Partition.discrete(n)), as_given(Partition.discrete(m))
        return Candidate(self.program, ScaledRefinement(*classes, found.statistics), None, NONE)

    def expanded(self, merged: Candidate) -> Candidate:
        """The same classes in the program before equitable classes were merged."""
        assert self.small is not None, "nothing was merged"
        masses = None if merged.masses is None else self.small.of_members(merged.masses)
        return Candidate(self.program, self.small.expand(merged.found), masses, merged.quadratic)

    def refine(self, masses: Masses | None, known: ScaledRefinement | None = None) -> Candidate:
        """The classes for some masses; all alone where they are no fewer than those known for equal ones."""
        quadratic = Partition.discrete(0)
        if len(self.program.quadratic) == 0:
            # A curvature read as proportional is so but for rounding; a lost scale may have left too many classes.
            may_end = known is not None and not self.reads_curvatures and not known.statistics.rows_without_scale
            found = self.refine_linear(masses, may_end=may_end)
        else:
            results: list[ScaledRefinement] = []

            def refine_rest(extra: Sequence[FieldElements]) -> Refinement:
                results.append(self.refine_linear(masses, extra))
                last = results[-1]
                rows = last.rows
                return Refinement(last.variables.classes, rows.classes, rows.floats, rows.images, last.statistics)

            _, quadratic = refine_with_quadratic_rows(
                self.program.quadratic, refine_rest, reading=self.settings.values, is_counting=False, seed=self.seed
            )
            found = results[-1]
        return Candidate(self.program, found, masses, quadratic)

    def refine_linear(
        self, masses: Masses | None, extra: Sequence[FieldElements] = (), *, may_end: bool = False
    ) -> ScaledRefinement:
        settings, whole, images = self.settings, self.program, self.images
        relative: tuple[FieldElements, FieldElements] | None = None
        if may_end and masses is not None:
            relative = masses.variable_images, masses.row_images
            relative = relative if self.small is None else self.small.over_sizes(masses)
        if masses is None and self.small is not None:
            masses = self.small.masses
        n, m = whole.n_variables, whole.n_rows
        own = None if masses is None else Masses(
            masses.variables[:n], masses.variable_images[:n], masses.rows[:m], masses.row_images[:m]
        )  # fmt: skip
        variables = self.scales_of_variables(own)
        rows = self.scales_of_rows
        has_rigid = len(whole.quadratic) and bool(self.is_rigid.any())
        words = [*images.variables, self.is_rigid.astype(np.uint64)] if has_rigid else images.variables
        of_variables, of_rows, links, P = list(words), list(images.rows), None, whole.P
        if self.reads_curvatures and P is not None:
            P, word = Curvatures.of(P).parted(P, variables, own)
            of_variables.append(word)
        if self.cones is not None:
            stacked = self.cones.stacked
            whole, P, links = stacked.program, stacked.program.P, self.cones.links
            variables = self.cones.with_cones(variables)
            of_variables = stacked.words_of_columns(words, images.cones)
            of_rows = stacked.words_of_rows(images.rows, images.conic_rows)
        return refine_up_to_scale(
            P, whole.A, variables, rows, masses=masses, links=links, reading=settings.values,
            variable_extra=[*of_variables, *extra], row_extra=of_rows, seed=self.seed, progress=self.tell,
            kept=self.kept, relative_masses=relative,
        )  # fmt: skip

    @cached_property
    def scales_of_rows(self) -> OwnScales:
        """Those of rows, then of conic rows."""
        rows = scales_of_rows(self.rows, sizes=self.settings.scale_rows, signs=self.settings.signs)
        return rows if self.cones is None else self.cones.with_rows(rows)

    def scales_of_variables(self, masses: Masses | None) -> OwnScales:
        vectors = self.images.vectors
        own = scales_of_variables(
            self.bounds, self.program.q, vectors.q, sizes=self.settings.sizes, signs=self.settings.signs, masses=masses
        )
        if len(self.program.quadratic) == 0:
            return own
        return rigid(own, self.is_rigid, (vectors.lb, vectors.ub, vectors.q))

    def speaks_for_masses(self, found: ScaledRefinement) -> bool:
        variables, rows = found.variables.classes, found.rows.classes
        look = Likeness.of(self.program_of_all(), self.vectors_of_all, variables.labels, rows.labels)
        if variables.is_discrete and rows.is_discrete:
            self.look = look
        return look.speaks_for_masses

    def masses(self, found: ScaledRefinement, *, looks: bool = False) -> Masses | None:
        """Those of sizes and prices; None if they are equal, or seem to gain little in a program that is not small."""
        program, vectors = self.program_of_all(), self.vectors_of_all
        bounds, rows = intervals_of(program, vectors)
        variables, row_classes, costs = found.variables.classes, found.rows.classes, vectors.q
        if self.reads_curvatures and program.P is not None:
            q, costs = Curvatures.of(program.P).as_costs(bounds, program.q, costs)
            program = program.replace(q=q)
        looks = looks and self.n_entries > SMALL and self.cones is None and self.small is None
        masses = masses_of(
            program, bounds, rows, costs, variables, row_classes, self.settings.values, self.kept, looks=looks
        )
        if masses is None:
            return None
        if self.small is not None:
            return self.small.times_sizes(masses)
        if self.cones is None:
            return masses
        masses, n, m = self.cones.equalised(masses, variables), self.program.n_variables, self.program.n_rows
        of_variables, of_rows = masses.variable_images, masses.row_images
        # What is of different kinds never meets: one mass for each kind is no other than equal masses.
        is_plain = all(map(is_uniform, (of_variables[:n], of_variables[n:], of_rows[:m], of_rows[m:])))
        return None if is_plain else masses

    def program_of_all(self) -> Program:
        if self.small is not None:
            return self.small.member
        return self.program if self.cones is None else self.cones.stacked.program

    @cached_property
    def vectors_of_all(self) -> VectorImages:
        """Exact vectors of :meth:`program_of_all`."""
        vectors = self.images.vectors
        if self.small is not None:
            return vectors.but(q=self.small.q_image)
        return vectors if self.cones is None else self.cones.vectors(vectors)
