"""Classes up to scale where floats have told next to all variables and rows apart: a search among the others.

All others are alone, as floats have proved (:mod:`relift.symmetry.told_apart`). So it is enough to search in the part
of the program that holds all entries of what is left: its columns, its rows, and what these meet. In that part what is
alone has a word of its own, and the scale 1.
"""

from __future__ import annotations

import numpy as np

from relift.arrays import FieldElements, Indices
from relift.program.index_sets import distinct
from relift.program.passes import entries_of, submatrix
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry.colour_refinement import Progress
from relift.symmetry.own_scales import OwnScales
from relift.symmetry.partition import Partition
from relift.symmetry.scaled_refinement import ClassScales, ScaledRefinement, refine_up_to_scale


def refine_what_is_left(
    program: Program,
    left: tuple[Indices, Indices],
    scales: tuple[OwnScales, OwnScales],
    *,
    reading: Reading = "decimal",
    seed: int = 0,
    progress: Progress | None = None,
) -> ScaledRefinement:
    """The coarsest partition up to scale, as :func:`~relift.symmetry.scaled_refinement.refine_up_to_scale` finds it.

    Parameters
    ----------
    program
        A linear or quadratic program.
    left
        Variables and rows, ascending; all others are alone.
    scales
        What is known of the scales of its variables and of its rows.
    reading
        How floats are read.
    seed
        Seed of the random words.
    progress
        Progress callback.

    Examples
    --------
    >>> from relift.symmetry.exact_vectors import VectorImages
    >>> from relift.symmetry.own_scales import scales_of_rows, scales_of_variables
    >>> from relift.symmetry.scaled_cones import intervals_of
    >>> program = Program(q=[1, 2, 7], A=[[1, 2, 3]], l=[4], lb=0)
    >>> vectors = VectorImages.of(program, "decimal")
    >>> bounds, rows = intervals_of(program, vectors)
    >>> scales = scales_of_variables(bounds, program.q, vectors.q), scales_of_rows(rows)
    >>> found = refine_what_is_left(program, (np.array([0, 1]), np.array([], np.int64)), scales)
    >>> found.variables.classes.labels.tolist(), found.variables.floats.tolist()
    ([0, 0, 1], [1.0, 0.5, 1.0])
    """
    (variables, rows), A, P = left, program.A, program.P
    m, n = A.shape
    met = distinct(np.concatenate([rows, entries_of(A, None, variables).row]), m)
    beside = [variables, entries_of(A, rows, None).column]
    if P is not None:
        beside.append(entries_of(P, None, variables).row)
    shown = distinct(np.concatenate(beside), n)
    found = refine_up_to_scale(
        None if P is None else submatrix(P, shown, shown), submatrix(A, met, shown),
        _alone_but(scales[0], shown, variables), _alone_but(scales[1], met, rows),
        variable_extra=[_words(shown, variables)], row_extra=[_words(met, rows)],
        reading=reading, seed=seed, progress=progress,
    )  # fmt: skip
    return ScaledRefinement(_among_all(found.variables, shown, n), _among_all(found.rows, met, m), found.statistics)


def _alone_but(scales: OwnScales, shown: Indices, left: Indices) -> OwnScales:
    """Those of what is shown: what is alone is awake, and of size 1, whatever the part of the program shows of it."""
    floats, images, states = scales.floats[shown], scales.images[shown], scales.states[shown]
    is_alone = np.isin(shown, left, assume_unique=True, invert=True)
    floats[is_alone], images[is_alone], states[is_alone] = 1.0, 1, 0
    return OwnScales(floats, images, states, tuple(words[shown] for words in scales.words))


def _words(shown: Indices, left: Indices) -> FieldElements:
    """0 for what is left, and words of their own for all others."""
    return np.where(np.isin(shown, left, assume_unique=True), 0, 1 + np.arange(shown.size)).astype(np.uint64)


def _among_all(part: ClassScales, shown: Indices, size: int) -> ClassScales:
    """The same among all, of which those that are not shown are alone."""
    labels, floats, images = np.arange(size), np.ones(size), np.ones(size, np.uint64)
    labels[shown] = size + part.classes.labels
    floats[shown], images[shown] = part.floats, part.images
    return ClassScales(Partition.from_labels(labels), floats, images)
