"""Which variables and rows are indistinguishable, by the method that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from relift.arrays import FieldElements, Vector
from relift.errors import OptionError
from relift.program import formulas
from relift.program.index_sets import constant
from relift.program.program import Program
from relift.records import cached_property, quick
from relift.settings import LiftSettings, Progress, ProgressCallback
from relift.symmetry import finite_field as field_
from relift.symmetry.colour_refinement import Progress as Teller
from relift.symmetry.colour_refinement import Refinement, RefinementStatistics, refine
from relift.symmetry.cone_refinement import StackedCones
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.orbits import orbits
from relift.symmetry.partition import Partition
from relift.symmetry.quadratic_refinement import refine_with_quadratic_rows


@final
@quick
@dataclass(frozen=True, eq=False)
class Symmetry:
    """Classes of variables and of rows, and how they were found.

    Parameters
    ----------
    variables, rows
        The classes.
    row_scales
        Row i divided by ``row_scales[i]`` equals the other rows of its class, in sum.
    method
        How they were found.
    variable_scales
        Variable j stands for ``variable_scales[j]`` times the representative of its class, with its bounds; None if all
        are 1. Negative scales exchange bounds.
    variable_masses, row_masses
        How much each member counts in its class; None if all count equally much.
    conic_scales, conic_masses
        The same for conic rows; 0 is the scale of a row of a power cone that is at rest.
    scale_images
        The scales and masses exactly, where they are not 1; see :class:`ScaleImages`.
    row_scale_images
        ``row_scales`` exactly, where nothing else has a scale and ``scale_images`` are not given.
    quadratic
        Classes of the quadratic constraints.
    conic_rows, cones
        Classes of the conic rows and of the cones.
    statistics
        What it cost, by name.
    """

    variables: Partition
    rows: Partition
    row_scales: Vector
    method: str
    quadratic: Partition = field(default_factory=lambda: Partition.discrete(0))
    conic_rows: Partition = field(default_factory=lambda: Partition.discrete(0))
    cones: Partition = field(default_factory=lambda: Partition.discrete(0))
    statistics: dict[str, object] = field(default_factory=dict)
    variable_scales: Vector | None = None
    variable_masses: Vector | None = None
    row_masses: Vector | None = None
    conic_scales: Vector | None = None
    conic_masses: Vector | None = None
    scale_images: ScaleImages | None = None
    row_scale_images: FieldElements | None = None

    @cached_property
    def exact_scales(self) -> ScaleImages | None:
        """All scales exactly; None if they are known in floats alone."""
        if self.scale_images is not None or self.row_scale_images is None:
            return self.scale_images
        first = self.row_scale_images[self.rows.representatives]
        relative = field_.multiply(self.row_scale_images, field_.inverse(first)[self.rows.labels])
        of_variables, of_cones = np.ones(self.variables.size, np.uint64), np.ones(self.conic_rows.size, np.uint64)
        return ScaleImages(of_variables, relative, of_cones)

    @cached_property
    def w(self) -> Vector:
        """What part of its class each variable is, relative to the representative: 1 unless scales differ."""
        return _relative(self.variable_scales, self.variables)

    @cached_property
    def v(self) -> Vector:
        """By which factor each row exceeds the representative of its class."""
        return _relative(self.row_scales, self.rows)

    @cached_property
    def variable_shares(self) -> Vector:
        """What part of the dual value of its class's bounds each variable gets: m / (w sum of m)."""
        return _shares(self.variable_masses, self.variables) / self.w

    @cached_property
    def row_shares(self) -> Vector:
        """What part of the dual value of its class each row gets: m / (v sum of m)."""
        if self.row_masses is None:
            sizes = self.rows.class_sizes[self.rows.labels].astype(np.float64)
            return formulas.row_share(self.v, np.ones(sizes.size), sizes)
        return _shares(self.row_masses, self.rows) / self.v

    @cached_property
    def conic_v(self) -> Vector:
        """By which factor each conic row exceeds the representative of its class; 0 at rest."""
        scales = np.ones(self.conic_rows.size) if self.conic_scales is None else self.conic_scales
        first = scales[self.conic_rows.representatives][self.conic_rows.labels]
        return np.divide(scales, first, out=np.zeros(scales.size), where=first != 0)

    @cached_property
    def conic_shares(self) -> Vector:
        """What part of the dual value of its class each conic row gets; nothing at rest."""
        shares, v = _shares(self.conic_masses, self.conic_rows), self.conic_v
        return np.divide(shares, v, out=np.zeros(v.size), where=v != 0)

    @cached_property
    def class_masses(self) -> Vector:
        """How often the representative of each class of variables would have to be there to count as much."""
        if self.variable_masses is None:
            return self.variables.class_sizes.astype(np.float64)
        total = np.bincount(self.variables.labels, self.variable_masses, self.variables.n_classes)
        return np.asarray(total / self.variable_masses[self.variables.representatives], np.float64)

    @cached_property
    def is_discrete(self) -> bool:
        """Whether no two variables and no two rows are equivalent."""
        return (
            self.variables.is_discrete and self.rows.is_discrete and self.quadratic.is_discrete
            and self.conic_rows.is_discrete and self.cones.is_discrete
        )  # fmt: skip


@final
@dataclass(frozen=True, eq=False)
class ScaleImages:
    """Scales of variables and rows as field elements, relative to the representatives of their classes, and masses."""

    variables: FieldElements
    rows: FieldElements
    conic_rows: FieldElements
    variable_masses: FieldElements | None = None


def _relative(scales: Vector | None, classes: Partition) -> Vector:
    if scales is None or classes.is_discrete:
        return constant(1.0, classes.size)
    return scales / scales[classes.representatives][classes.labels]


def _shares(masses: Vector | None, classes: Partition) -> Vector:
    if masses is None:
        return formulas.variable_share(classes.class_sizes[classes.labels].astype(np.float64))
    total = np.bincount(classes.labels, masses, classes.n_classes)
    return np.asarray(masses / total[classes.labels], np.float64)


def no_symmetry(program: Program) -> Symmetry:
    """Every variable and every row in a class of its own."""
    n, m = program.n_variables, program.n_rows
    return Symmetry(
        Partition.discrete(n),
        Partition.discrete(m),
        constant(1.0, m),
        "none",
        Partition.discrete(len(program.quadratic)),
        Partition.discrete(program.conic.n_rows),
        Partition.discrete(len(program.conic)),
    )


@final
@quick
@dataclass(frozen=True, eq=False)
class Images:
    """Exact words of what parts things from the start.

    Parameters
    ----------
    vectors
        Images of the vectors.
    variables, rows, conic_rows, cones
        Further words of each.
    rows_are_apart
        Whether it is known that no row is a multiple of another with its bounds, and at most one is 0.
    rows_have_entries
        Whether it is known that none is 0.
    are_given
        Whether the vectors are as they were given, or divided: nothing has cancelled where they were computed.
    """

    vectors: VectorImages
    variables: Sequence[FieldElements] = ()
    rows: Sequence[FieldElements] = ()
    conic_rows: Sequence[FieldElements] = ()
    cones: Sequence[FieldElements] = ()
    rows_are_apart: bool = False
    rows_have_entries: bool = False
    are_given: bool = False


def find_symmetry(
    program: Program,
    images: Images,
    settings: LiftSettings,
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Symmetry:
    """The coarsest classes of the asked kind.

    Parameters
    ----------
    program
        A minimisation.
    images
        What parts variables, rows and cones from the start.
    settings
        Method and reading of floats.
    seed
        Seed of the random words.
    progress
        Progress callback, called once per round of refinement.
    """
    if settings.lift == "none":
        return no_symmetry(program)
    tell = teller(progress)
    vectors = images.vectors
    of_variables = (vectors.q, vectors.lb, vectors.ub, *images.variables)
    if len(program.conic) == 0:
        stacked, whole, l, u = None, program, vectors.l, vectors.u
        variable_words, row_words = list(of_variables), list(images.rows)
    else:
        stacked = StackedCones.of(program, settings.values)
        whole, l, u = stacked.program, np.concatenate([vectors.l, vectors.b]), np.concatenate([vectors.u, vectors.b])
        variable_words = stacked.words_of_columns(of_variables, images.cones)
        row_words = stacked.words_of_rows(images.rows, images.conic_rows)

    def refine_all(extra: Sequence[FieldElements] = ()) -> Refinement:
        return refine(
            whole.P, whole.A, [*variable_words, *extra], l, u, whole.l, whole.u,
            mode="equitable" if settings.lift == "equitable" else "counting",
            reading=settings.values, scale_rows=settings.scale_rows, row_extra=row_words, seed=seed, progress=tell,
            rows_are_apart=stacked is None and images.rows_are_apart,
        )  # fmt: skip

    quadratic = Partition.discrete(0)
    if len(program.quadratic) == 0:
        found = refine_all()
    elif settings.lift == "orbits":
        raise OptionError("orbits are not offered for programs with quadratic constraints.", "Use lift='counting'.")
    else:
        found, quadratic = refine_with_quadratic_rows(
            program.quadratic,
            refine_all,
            reading=settings.values,
            is_counting=settings.lift == "counting",
            seed=seed,
        )
    statistics = costs_of(found.statistics)
    columns, rows, scales = found.variables, found.rows, found.row_scales
    if settings.lift == "orbits":
        columns, rows = orbits(whole, found, settings.values)
    if stacked is None:
        return Symmetry(columns, rows, scales, settings.lift, quadratic, statistics=statistics)
    n, m = program.n_variables, program.n_rows
    return Symmetry(
        Partition(columns.labels[:n]),  # numbered by smallest member, so the first labels are classes of their own
        Partition(rows.labels[:m]),
        scales[:m],
        settings.lift,
        quadratic,
        Partition.from_labels(rows.labels[m:]),
        Partition.from_labels(columns.labels[n:]),
        statistics,
    )


def teller(progress: ProgressCallback | None) -> Teller | None:
    """Wrap a progress callback for the kernels."""
    if progress is None:
        return None

    def tell(phase: str, rounds: int, classes: int) -> None:
        progress(Progress("find classes", phase, rounds, classes))

    return tell


def costs_of(cost: RefinementStatistics) -> dict[str, object]:
    """What a refinement cost, by name."""
    return {
        "engine": cost.engine,
        "rounds": cost.rounds,
        "splitters": cost.splitters,
        "extra_bytes": cost.extra_bytes,
        "rows_without_scale": cost.rows_without_scale,
    }
