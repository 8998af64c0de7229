"""Which variables and rows are indistinguishable, by the method that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements
from relift.errors import OptionError
from relift.program.program import Program
from relift.settings import LiftSettings, Progress, ProgressCallback
from relift.symmetry.colour_refinement import Refinement, refine
from relift.symmetry.cone_refinement import StackedCones
from relift.symmetry.orbits import orbits
from relift.symmetry.partition import Partition
from relift.symmetry.quadratic_refinement import refine_with_quadratic_rows


@final
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
    quadratic
        Classes of the quadratic constraints.
    conic_rows, cones
        Classes of the conic rows and of the cones.
    statistics
        What it cost, by name.
    """

    variables: Partition
    rows: Partition
    row_scales: NDArray[np.float64]
    method: str
    quadratic: Partition = field(default_factory=lambda: Partition.discrete(0))
    conic_rows: Partition = field(default_factory=lambda: Partition.discrete(0))
    cones: Partition = field(default_factory=lambda: Partition.discrete(0))
    statistics: dict[str, object] = field(default_factory=dict)

    @property
    def is_discrete(self) -> bool:
        """Whether no two variables and no two rows are equivalent."""
        every = (self.variables, self.rows, self.quadratic, self.conic_rows, self.cones)
        return all(classes.is_discrete for classes in every)


def no_symmetry(program: Program) -> Symmetry:
    """Every variable and every row in a class of its own."""
    n, m = program.n_variables, program.n_rows
    return Symmetry(
        Partition.discrete(n),
        Partition.discrete(m),
        np.ones(m),
        "none",
        Partition.discrete(len(program.quadratic)),
        Partition.discrete(program.conic.n_rows),
        Partition.discrete(len(program.conic)),
    )


@final
@dataclass(frozen=True, eq=False)
class Images:
    """Exact words of what parts things from the start.

    Parameters
    ----------
    variables
        Images of q, lb and ub, and further words.
    l, u
        Images of the bounds of the rows.
    rows
        Further words of the rows.
    b
        Images of the right-hand sides of the conic rows.
    conic_rows, cones
        Further words of conic rows and of cones.
    """

    variables: Sequence[FieldElements]
    l: FieldElements
    u: FieldElements
    rows: Sequence[FieldElements] = ()
    b: FieldElements = field(default_factory=lambda: np.zeros(0, np.uint64))
    conic_rows: Sequence[FieldElements] = ()
    cones: Sequence[FieldElements] = ()


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
    tell = None
    if progress is not None:

        def tell(phase: str, rounds: int, classes: int) -> None:
            progress(Progress("find classes", phase, rounds, classes))

    if len(program.conic) == 0:
        stacked, whole, l, u = None, program, images.l, images.u
        variable_words, row_words = list(images.variables), list(images.rows)
    else:
        stacked = StackedCones.of(program, settings.values)
        whole, l, u = stacked.program, np.concatenate([images.l, images.b]), np.concatenate([images.u, images.b])
        variable_words = stacked.words_of_columns(images.variables, images.cones)
        row_words = stacked.words_of_rows(images.rows, images.conic_rows)

    def refine_all(extra: Sequence[FieldElements] = ()) -> Refinement:
        return refine(
            whole.P, whole.A, [*variable_words, *extra], l, u, whole.l, whole.u,
            mode="equitable" if settings.lift == "equitable" else "counting",
            reading=settings.values, scale_rows=settings.scale_rows, row_extra=row_words, seed=seed, progress=tell,
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
    cost = found.statistics
    statistics = {
        "engine": cost.engine,
        "rounds": cost.rounds,
        "splitters": cost.splitters,
        "extra_bytes": cost.extra_bytes,
    }
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
