"""Which variables and rows are indistinguishable, by the method that was asked for (stage 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from relift.errors import OptionError
from relift.program.program import Program
from relift.settings import LiftSettings, Progress, ProgressCallback
from relift.symmetry.colour_refinement import Refinement, refine
from relift.symmetry.field import Words
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
    statistics
        What it cost, by name.
    """

    variables: Partition
    rows: Partition
    row_scales: NDArray[np.float64]
    method: str
    quadratic: Partition = field(default_factory=lambda: Partition.discrete(0))
    statistics: dict[str, Any] = field(default_factory=dict)

    @property
    def is_discrete(self) -> bool:
        """Whether no two things were found alike."""
        return self.variables.is_discrete and self.rows.is_discrete and self.quadratic.is_discrete


def no_symmetry(program: Program) -> Symmetry:
    """Every variable and every row for itself."""
    n, m = program.n_variables, program.n_rows
    return Symmetry(
        Partition.discrete(n), Partition.discrete(m), np.ones(m), "none", Partition.discrete(len(program.quadratic))
    )


def find_symmetry(
    program: Program,
    variable_images: Sequence[Words],
    row_images: tuple[Words, Words],
    settings: LiftSettings,
    *,
    row_extra: Sequence[Words] = (),
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Symmetry:
    """The coarsest classes of the asked kind.

    Parameters
    ----------
    program
        A minimisation.
    variable_images, row_images
        Exact images of (q, lb, ub) and of (l, u); they part variables and rows from the start.
    settings
        Method and reading of floats.
    row_extra
        Further words that part rows from the start.
    seed
        Seed of the random words.
    progress
        Told about rounds and classes.
    """
    if settings.method == "none":
        return no_symmetry(program)
    tell = None
    if progress is not None:

        def tell(phase: str, rounds: int, classes: int) -> None:
            progress(Progress("refine", phase, rounds, classes))

    def refine_linear(extra: Sequence[Words] = ()) -> Refinement:
        return refine(
            program.P, program.A, [*variable_images, *extra], *row_images, program.l, program.u,
            mode="equitable" if settings.method == "equitable" else "counting",
            reading=settings.values, scale_rows=settings.scale_rows, row_extra=row_extra, seed=seed, progress=tell,
        )  # fmt: skip

    quadratic = Partition.discrete(0)
    if len(program.quadratic) == 0:
        found = refine_linear()
    elif settings.method == "orbits":
        raise OptionError("orbits are not offered for programs with quadratic constraints.", "Use lift='counting'.")
    else:
        found, quadratic = refine_with_quadratic_rows(
            program.quadratic,
            refine_linear,
            reading=settings.values,
            is_counting=settings.method == "counting",
            seed=seed,
        )
    cost = found.statistics
    statistics = {
        "engine": cost.engine,
        "rounds": cost.rounds,
        "splitters": cost.splitters,
        "extra_bytes": cost.extra_bytes,
    }
    variables, rows = found.variables, found.rows
    if settings.method == "orbits":
        variables, rows = orbits(program, found, settings.values)
    return Symmetry(variables, rows, found.row_scales, settings.method, quadratic, statistics)
