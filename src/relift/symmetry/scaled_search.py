"""Classes up to size, unit and sign: one search, then others that could find fewer.

First with equal masses. Then, where rows look alike up to size, with masses from sizes and prices
(:mod:`~relift.symmetry.masses`); and both from the middles of bounds, where right-hand sides would be equal then
(:mod:`~relift.symmetry.centres`). The fewest classes win; each search finds at most as many as the equitable ones. What
can find nothing is not tried (:mod:`~relift.symmetry.likeness`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from relift.arrays import FieldElements, Flags, Indices, Labels, Vector
from relift.program.program import Program
from relift.settings import LiftSettings, ProgressCallback
from relift.symmetry.centres import Centres, centred_program, centres_of, may_be_equal_up_to_reflection, uncentred
from relift.symmetry.colour_refinement import Progress as Teller
from relift.symmetry.colour_refinement import Refinement, RefinementStatistics, refine
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.find import Images, ScaleImages, Symmetry, costs_of, find_symmetry, teller
from relift.symmetry.likeness import Colours, looks_repeated, speaks_for_masses
from relift.symmetry.masses import masses_of
from relift.symmetry.merged_program import MergedProgram, relative_row_scales
from relift.symmetry.own_scales import Masses, OwnScales, scales_of_rows, scales_of_variables
from relift.symmetry.partition import Partition
from relift.symmetry.proportional_bounds import proportional_images
from relift.symmetry.quadratic_refinement import refine_with_quadratic_rows
from relift.symmetry.rounded_refinement import refine_up_to_rounding
from relift.symmetry.scaled_cones import ScaledCones, intervals_of, rigid
from relift.symmetry.scaled_refinement import ClassScales, ScaledRefinement, refine_up_to_scale

SMALL = 10_000
"""Up to so many entries masses are tried without a look at some rows first, and nothing is merged for the search."""

WORTH_MERGING = 0.5
"""Equitable classes are merged for the search where they are at most this share of variables and rows."""

_NONE = Partition.discrete(0)


@final
@dataclass(frozen=True, eq=False)
class Found:
    """Classes, and what is at rest beside them.

    Parameters
    ----------
    symmetry
        The classes of what is not at rest.
    variables, rows, conic_rows, cones
        Which of each are at rest; None if none is.
    centres
        Where variables are measured from, and rest; None if all from 0.
    """

    symmetry: Symmetry
    variables: Flags | None = None
    rows: Flags | None = None
    conic_rows: Flags | None = None
    cones: Flags | None = None
    centres: Centres | None = None


def find_up_to_scale(
    program: Program,
    images: Images,
    settings: LiftSettings,
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
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

    Examples
    --------
    >>> program = Program(q=[1, 2], A=[[1, 2]], l=[4], lb=0)
    >>> found = find_up_to_scale(program, Images(VectorImages.of(program, "decimal")), LiftSettings())
    >>> found.symmetry.variables.labels.tolist(), found.symmetry.w.tolist()
    ([0, 0], [1.0, 0.5])
    """
    search = _Search(program, images, settings, seed, teller(progress))
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
    return best.without_rest(centres)


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
    ) -> None:
        self.program, self.images, self.settings, self.seed, self.tell = program, images, settings, seed, tell
        self.small = small  # what equitable classes were merged into: for a search in it, the program itself
        self.bounds, self.rows = intervals_of(program, images.vectors)
        self.cones = ScaledCones.of(program, images.vectors, settings) if len(program.conic) else None
        self.is_rigid = np.zeros(program.n_variables, bool)  # variables of quadratic constraints
        if len(program.quadratic):
            self.is_rigid[program.quadratic.variables] = True
        self.is_linear = self.cones is None and len(program.quadratic) == 0
        self.plain: Refinement | None = None

    @cached_property
    def colours(self) -> Colours:
        """What kinds of variables there are; for programs without cones and quadratic constraints."""
        program = self.program if self.small is None else self.small.member
        q_image = self.images.vectors.q if self.small is None else self.small.q_image
        settings = self.settings
        return Colours.of(self.bounds, program.q, q_image, sizes=settings.sizes, signs=settings.signs)

    @property
    def n_vertices(self) -> int:
        return self.program.n_variables + self.program.n_rows

    def merged(self) -> _Search | None:
        """The same search in a program with equitable classes merged; None where that promises nothing."""
        settings = self.settings
        if not self.is_linear or not settings.scale_rows or settings.digits is not None or self.n_entries <= SMALL:
            return None
        if self.colours.may_merge and not looks_repeated(self.program, self.colours):
            return None
        plain = self.refine_plainly()
        if plain.variables.n_classes + plain.rows.n_classes > WORTH_MERGING * self.n_vertices:
            return None
        self.small = MergedProgram.of(self.program, self.images, plain, settings.values)
        return None if self.small is None else self.within(self.small)

    def within(self, small: MergedProgram) -> _Search:
        return _Search(small.program, small.images, self.settings, self.seed, self.tell, small)

    def with_vectors(self, vectors: VectorImages) -> _Search:
        """The same search with bounds that are read in another way."""
        if self.small is not None:
            return self.within(self.small.with_vectors(vectors))
        images = replace(self.images, vectors=vectors)
        return _Search(self.program, images, self.settings, self.seed, self.tell)

    def from_centres(self, centres: Centres) -> _Search:
        """The same search with variables measured from their centres."""
        if self.small is not None:
            return self.within(self.small.centred(centres, self.settings.values))
        program, vectors = centred_program(self.program, self.images.vectors, centres, self.settings.values)
        images = replace(self.images, vectors=vectors)
        return _Search(program, images, self.settings, self.seed, self.tell)

    def best_of_all(self) -> tuple[_Candidate, Centres | None]:
        """The fewest classes, also with bounds read as proportional, and with variables measured from centres."""
        search, best, settings = self, self.best(), self.settings
        again = None
        if settings.sizes and best.n_classes > 2:
            again = proportional_images(self.program, self.images.vectors)
        if again is not None:
            other_search = self.with_vectors(again)
            other = other_search.exact()
            if other.n_classes < best.n_classes:
                search, best = other_search, other
        if not settings.signs or best.n_classes <= 2:
            return best, None
        centres = centres_of(self.program, search.bounds)
        member = self.program if self.small is None else self.small.member
        if centres is not None and may_be_equal_up_to_reflection(member, centres):
            other = search.from_centres(centres).exact()
            if other.n_classes < best.n_classes:
                return other, centres
        return best, None

    def best(self) -> _Candidate:
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

    def up_to_rounding(self, digits: int) -> Iterator[_Candidate]:
        """Classes in floats, with equal masses and with those of sizes and prices."""
        program = self.program
        rows = scales_of_rows(self.rows, sizes=self.settings.scale_rows, signs=self.settings.signs)
        masses: Masses | None = None
        for _ in range(2):
            found = refine_up_to_rounding(
                program.P, program.A, program.q, self.bounds, self.rows, self.scales_of_variables(masses), rows,
                masses, digits,
            )  # fmt: skip
            if found is None:
                return
            classes = ScaledRefinement(
                _rounded_scales(found.variables, found.variable_scales),
                _rounded_scales(found.rows, found.row_scales),
                RefinementStatistics("numpy", 0, 0, 0, 0.0),
            )
            yield _Candidate(self, classes, masses, Partition.discrete(0), is_exact=False)
            masses = self.masses(classes) if self.settings.sizes and masses is None else None
            if masses is None:
                return

    def exact(self) -> _Candidate:
        """Classes with equal masses, or with those of sizes and prices if they are fewer."""
        candidate = None
        if self.is_linear and self.settings.scale_rows and not self.colours.may_merge:
            candidate = self.equitable()
        if candidate is None:
            candidate = self.refine(None)
        # Quadratic constraints are compared with equal masses only.
        may_merge = self.cones is not None or (self.is_linear and self.colours.may_merge_with_masses)
        if not self.settings.sizes or not may_merge:
            return candidate
        if self.n_entries > SMALL and not self.speaks_for_masses(candidate.found):
            return candidate
        masses = self.masses(candidate.found)
        if masses is not None:
            with_masses = self.refine(masses)
            if with_masses.n_classes < candidate.n_classes:
                return with_masses
        return candidate

    @property
    def n_entries(self) -> int:
        """Entries of all matrices."""
        program = self.program
        return program.A.nnz + program.conic.A.nnz + (0 if program.P is None else program.P.nnz)

    def refine_plainly(self) -> Refinement:
        """The equitable classes of a program without cones and quadratic constraints."""
        if self.plain is None:
            program, vectors, images = self.program, self.images.vectors, self.images
            self.plain = refine(
                program.P, program.A, (vectors.q, vectors.lb, vectors.ub, *images.variables), vectors.l, vectors.u,
                program.l, program.u, reading=self.settings.values, row_extra=list(images.rows), seed=self.seed,
                progress=self.tell,
            )  # fmt: skip
        return self.plain

    def equitable(self) -> _Candidate | None:
        """The equitable classes; None where some row has no scale, so that they may depend on its factor."""
        found = self.refine_plainly() if self.small is None else self.small.found
        if found.statistics.rows_without_scale:
            return None
        if self.small is not None:
            return self.as_merged()
        variables, rows = found.variables, found.rows
        if variables.is_discrete and rows.is_discrete:
            scales = _as_given(rows)
        else:
            first = rows.representatives
            scales = ClassScales(
                rows, found.row_scales / found.row_scales[first][rows.labels], relative_row_scales(found)
            )
        return _Candidate(self, ScaledRefinement(_as_given(variables), scales, found.statistics), None, _NONE)

    def as_merged(self) -> _Candidate:
        """The equitable classes that were merged, each by itself."""
        assert self.small is not None, "nothing was merged"
        n, m, found = self.program.n_variables, self.program.n_rows, self.small.found
        classes = _as_given(Partition.discrete(n)), _as_given(Partition.discrete(m))
        return _Candidate(self, ScaledRefinement(*classes, found.statistics), None, _NONE)

    def expanded(self, merged: _Candidate) -> _Candidate:
        """The same classes in the program before equitable classes were merged."""
        assert self.small is not None, "nothing was merged"
        masses = None if merged.masses is None else self.small.of_members(merged.masses)
        return _Candidate(self, self.small.expand(merged.found), masses, merged.quadratic)

    def refine(self, masses: Masses | None) -> _Candidate:
        quadratic = Partition.discrete(0)
        if len(self.program.quadratic) == 0:
            found = self.refine_linear(masses)
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
        return _Candidate(self, found, masses, quadratic)

    def refine_linear(self, masses: Masses | None, extra: Sequence[FieldElements] = ()) -> ScaledRefinement:
        settings, whole, images = self.settings, self.program, self.images
        if masses is None and self.small is not None:
            masses = self.small.masses
        n, m = whole.n_variables, whole.n_rows
        own = None if masses is None else Masses(
            masses.variables[:n], masses.variable_images[:n], masses.rows[:m], masses.row_images[:m]
        )  # fmt: skip
        variables = self.scales_of_variables(own)
        rows = scales_of_rows(self.rows, sizes=settings.scale_rows, signs=settings.signs)
        words = [*images.variables, self.is_rigid.astype(np.uint64)] if self.is_rigid.any() else images.variables
        of_variables, of_rows, links = list(words), list(images.rows), None
        if self.cones is not None:
            stacked = self.cones.stacked
            whole, links = stacked.program, self.cones.links
            variables, rows = self.cones.with_cones(variables), self.cones.with_rows(rows)
            of_variables = stacked.words_of_columns(words, images.cones)
            of_rows = stacked.words_of_rows(images.rows, images.conic_rows)
        return refine_up_to_scale(
            whole.P, whole.A, variables, rows, masses=masses, links=links, reading=settings.values,
            variable_extra=[*of_variables, *extra], row_extra=of_rows, seed=self.seed, progress=self.tell,
        )  # fmt: skip

    def scales_of_variables(self, masses: Masses | None) -> OwnScales:
        vectors = self.images.vectors
        own = scales_of_variables(
            self.bounds, self.program.q, vectors.q, sizes=self.settings.sizes, signs=self.settings.signs, masses=masses
        )
        if len(self.program.quadratic) == 0:
            return own
        return rigid(own, self.is_rigid, (vectors.lb, vectors.ub, vectors.q))

    def speaks_for_masses(self, found: ScaledRefinement) -> bool:
        labels = found.variables.classes.labels, found.rows.classes.labels
        return speaks_for_masses(self.program_of_all(), self.vectors_of_all(), *labels)

    def masses(self, found: ScaledRefinement) -> Masses | None:
        program, vectors = self.program_of_all(), self.vectors_of_all()
        bounds, rows = intervals_of(program, vectors)
        variables, row_classes = found.variables.classes, found.rows.classes
        masses = masses_of(program, bounds, rows, vectors.q, variables, row_classes, self.settings.values)
        if masses is None:
            return None
        if self.small is not None:
            return self.small.times_sizes(masses)
        if self.cones is None:
            return masses
        cones = Partition.from_labels(variables.labels[self.program.n_variables :])
        return self.cones.equalised(masses, cones)

    def program_of_all(self) -> Program:
        if self.small is not None:
            return self.small.member
        return self.program if self.cones is None else self.cones.stacked.program

    def vectors_of_all(self) -> VectorImages:
        vectors = self.images.vectors
        if self.small is not None:
            return replace(vectors, q=self.small.q_image)
        return vectors if self.cones is None else self.cones.vectors(vectors)


@final
@dataclass(frozen=True, eq=False)
class _Candidate:
    """What one search found."""

    search: _Search
    found: ScaledRefinement
    masses: Masses | None
    quadratic: Partition
    is_exact: bool = True

    @property
    def n_classes(self) -> int:
        return self.found.variables.classes.n_classes + self.found.rows.classes.n_classes + self.quadratic.n_classes

    def without_rest(self, centres: Centres | None) -> Found:
        """The classes of what is not at rest; where all classes are discrete nothing is scaled, and nothing rests."""
        program, method, found = self.search.program, self.search.settings.lift, self.found
        n, m = program.n_variables, program.n_rows
        statistics = costs_of(found.statistics)
        discrete = (found.variables.classes.is_discrete, found.rows.classes.is_discrete, self.quadratic.is_discrete)
        if all(discrete):
            return Found(
                Symmetry(
                    Partition.discrete(n), Partition.discrete(m), np.ones(m), method, self.quadratic,
                    Partition.discrete(program.conic.n_rows), Partition.discrete(len(program.conic)), statistics,
                )
            )  # fmt: skip
        variables, cones = _parts(found.variables, n)
        rows, conic_rows = _parts(found.rows, m)
        awake, active = variables.floats != 0, rows.floats != 0
        in_use, kept = self._conic_rest(conic_rows, cones)
        masses = self.masses
        symmetry = Symmetry(
            _of_some(variables.classes, awake),
            _of_some(rows.classes, active),
            rows.floats[active],
            method,
            self.quadratic,
            Partition.from_labels(_apart(conic_rows, cones.classes.labels[program.conic.cone_of_row])[kept]),
            _of_some(cones.classes, in_use),
            statistics,
            variable_scales=_unless_ones(variables.floats[awake]),
            variable_masses=None if masses is None else masses.variables[:n][awake],
            row_masses=None if masses is None else masses.rows[:m][active],
            conic_scales=_unless_ones(conic_rows.floats[kept]),
            conic_masses=None if masses is None else masses.rows[m:][kept],
            scale_images=ScaleImages(
                variables.images[awake],
                rows.images[active],
                conic_rows.images[kept],
                None if masses is None else masses.variable_images[:n][awake],
            )
            if self.is_exact
            else None,
        )
        still, held, held_cones, empty = (None if mask.all() else ~mask for mask in (awake, active, kept, in_use))
        return Found(symmetry, still, held, held_cones, empty, centres)

    def _conic_rest(self, conic_rows: ClassScales, cones: ClassScales) -> tuple[Flags, Flags]:
        """Which cones, and which conic rows, stay: without cones at rest, and without tails at rest."""
        conic = self.search.program.conic
        in_use = cones.floats != 0
        kept = in_use[conic.cone_of_row]
        tails = conic.layout.tails
        kept[tails] &= conic_rows.floats[tails] != 0
        return in_use, kept


def _as_given(classes: Partition) -> ClassScales:
    """Classes of which all members have the scale 1."""
    return ClassScales(classes, np.ones(classes.size), np.ones(classes.size, np.uint64))


def _rounded_scales(labels: Labels, scales: Vector) -> ClassScales:
    """Scales relative to the representatives, without exact ones; all that rests is one class."""
    classes = Partition.from_labels(np.where(scales == 0, -1, labels))
    first = scales[classes.representatives][classes.labels]
    relative = np.divide(scales, first, out=np.zeros(scales.size), where=scales != 0)
    return ClassScales(classes, relative, np.zeros(scales.size, np.uint64))


def _parts(of_all: ClassScales, n: int) -> tuple[ClassScales, ClassScales]:
    """Classes and scales of the first n, and of the others."""
    labels = of_all.classes.labels
    if n == labels.size:
        return of_all, ClassScales(_NONE, of_all.floats[n:], of_all.images[n:])
    return (
        ClassScales(Partition.from_labels(labels[:n]), of_all.floats[:n], of_all.images[:n]),
        ClassScales(Partition.from_labels(labels[n:]), of_all.floats[n:], of_all.images[n:]),
    )


def _of_some(classes: Partition, which: Flags) -> Partition:
    return classes if which.all() else Partition.from_labels(classes.labels[which])


def _apart(rows: ClassScales, cone_class: Indices) -> Indices:
    """Labels in which rows at rest are told apart by the classes of their cones."""
    return np.where(rows.floats != 0, rows.classes.labels, rows.classes.n_classes + cone_class)


def _unless_ones(scales: Vector) -> Vector | None:
    return None if np.all(scales == 1.0) else scales
