r"""The coarsest classes up to scale: colour refinement in which members of a class may differ by a factor.

Variable j stands for :math:`w_j z` and row i for :math:`v_i` times the row of its class. Scales that the numbers of a
variable or row itself do not tell (:mod:`relift.symmetry.own_scales`) are found on the way: such a vertex rests, with
the scale 0, until it meets a class into which its sum S is not 0, and that sum tells its scale. What never wakes is 0
in some optimum. The pair of partitions that comes out has, with :math:`w_j = 0`, :math:`1/v_i := 0` for what rests,

.. math:: \sum_{j \in C} a_{ij} w_j = v_i\,\alpha_{RC}, \qquad
          \sum_{i \in R} \frac{\mu_i}{v_i} a_{ij} = \frac{m_j}{w_j}\,\beta_{RC}, \qquad
          \sum_{k \in C'} P_{jk} w_k = \frac{m_j}{w_j}\,\pi_{CC'}

and sums 0 for what rests, and it is the coarsest of all that have, for the masses m and :math:`\mu` given (1 unless
stated). ``docs/mathematics.md`` has the proof. Costs and method are those of
:mod:`~relift.symmetry.colour_refinement`; without the compiled core the twin
:mod:`~relift.symmetry.scaled_refinement_reference` does the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, Indices, SparseMatrix, Vector
from relift.program.index_sets import constant
from relift.records import quick
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import (
    KeptValues,
    Progress,
    RefinementStatistics,
    capsule_of,
    core_arrays,
    index_type_of,
)
from relift.symmetry.own_scales import RESTS, Masses, OwnScales
from relift.symmetry.partition import KEPT_SIZE, Partition
from relift.symmetry.scaled_refinement_reference import refine_up_to_scale_slowly, sharpened_slowly
from relift.threads import threads_for

if field.CORE_IS_COMPILED:
    from relift import _core


@final
@quick
@dataclass(frozen=True, eq=False)
class ClassScales:
    """Classes with a scale for each member: 1 for the representative of its class, 0 for what rests.

    Parameters
    ----------
    classes
        The classes; all that rests is one of them.
    floats, images
        The scales of the members, relative to the representative.
    """

    classes: Partition
    floats: Vector
    images: FieldElements


@final
@quick
@dataclass(frozen=True, eq=False)
class ScaledRefinement:
    """Classes of variables and of rows up to scale, and what they cost."""

    variables: ClassScales
    rows: ClassScales
    statistics: RefinementStatistics


def refine_up_to_scale(
    P: SparseMatrix | None,
    A: SparseMatrix,
    variables: OwnScales,
    rows: OwnScales,
    *,
    masses: Masses | None = None,
    links: Indices | None = None,
    reading: Reading = "decimal",
    variable_extra: Sequence[FieldElements] = (),
    row_extra: Sequence[FieldElements] = (),
    seed: int = 0,
    progress: Progress | None = None,
    kept: KeptValues | None = None,
    relative_masses: tuple[FieldElements, FieldElements] | None = None,
) -> ScaledRefinement:
    """Find the coarsest partition of variables and rows up to scale.

    Parameters
    ----------
    P, A
        Compressed matrices, as in :func:`relift.symmetry.colour_refinement.refine`.
    variables, rows
        What is known of their scales, and the words that tell them apart.
    masses
        How much members count; None if equally much.
    links
        For each row of A, which must be CSR, an entry of the value 1 that joins the row to a column whatever its sign,
        or -1; None if there are none.
    reading
        How floats are read.
    variable_extra, row_extra
        Further words that tell variables and rows apart.
    seed
        Seed of the random words.
    progress
        Progress callback.
    kept
        Values of P and A that an earlier refinement has read, and where this one leaves them; None if nowhere.
    relative_masses
        Masses of variables and rows over those of a search that has found the coarsest classes for these. Classes are
        of use only if they are fewer, which they are not where relative masses are equal inside all of them
        (``docs/mathematics.md``, Masses): the compiled core ends there, and leaves everything alone.

    Examples
    --------
    x - y <= 0, 2y - 2z <= 0 and 4x - 4z >= 0 are a cycle of differences, up to factors of the rows:

    >>> from scipy import sparse
    >>> from relift.symmetry.own_scales import Intervals, scales_of_rows, scales_of_variables
    >>> A = sparse.csr_array([[1.0, -1, 0], [0, 2, -2], [4, 0, -4]])
    >>> none, free = np.zeros(3), np.full(3, np.inf)
    >>> l, u = np.array([-np.inf, -np.inf, 0]), np.array([0, 0, np.inf])
    >>> x = Intervals(none, free, field.images(none), field.images(free))
    >>> costs = np.ones(3)
    >>> found = refine_up_to_scale(
    ...     None, A, scales_of_variables(x, costs, field.images(costs)),
    ...     scales_of_rows(Intervals(l, u, field.images(l), field.images(u))),
    ... )
    >>> found.variables.classes.labels.tolist(), found.rows.floats.tolist()
    ([0, 0, 0], [0.0, 0.0, 0.0])
    """
    m, n = A.shape
    P = None if P is None or P.indices.size == 0 else P
    start = perf_counter()
    # Rows are multiplied by 1/v where variables are by w.
    images = np.concatenate([variables.images, rows.inverse_images])
    floats = np.concatenate([variables.floats, 1.0 / rows.floats])
    states = np.concatenate([variables.states, rows.states])
    of_variables = [np.ascontiguousarray(words) for words in variables.words]
    of_rows = [np.ascontiguousarray(words) for words in rows.words]
    of_variables += [np.ascontiguousarray(words, np.uint64) for words in variable_extra]
    of_rows += [np.ascontiguousarray(words, np.uint64) for words in row_extra]
    mass_floats = mass_images = None
    if masses is not None:
        mass_floats = np.concatenate([masses.variables, masses.rows])
        mass_images = np.concatenate([masses.variable_images, masses.row_images])
    if field.CORE_IS_COMPILED:
        relative = None if relative_masses is None else np.concatenate(relative_masses)
        variable_labels, row_labels = np.empty(n, np.int64), np.empty(m, np.int64)
        index_type, n_entries = index_type_of(A, P), A.indices.size + (0 if P is None else P.indices.size)
        n_passes, n_splitters, extra_bytes, n_lost = _core.refine_up_to_multipliers(
            None if P is None else core_arrays(P, index_type), core_arrays(A, index_type),
            A.format == "csr", n, m, tuple(of_variables), tuple(of_rows),
            reading == "decimal", seed & 0xFFFFFFFFFFFFFFFF, threads_for(n_entries), progress,
            variable_labels, row_labels, floats, images, states, mass_floats, mass_images, links,
            capsule_of(kept, P, A), kept is not None and kept.rows_are_apart and kept.A is A, relative,
        )  # fmt: skip
        cost = RefinementStatistics(
            "compiled", n_passes / (2 if m else 1), n_splitters, extra_bytes, perf_counter() - start, n_lost
        )
    else:
        of_variables.append(variables.states.astype(np.uint64))
        of_rows.append(rows.states.astype(np.uint64))
        slow = refine_up_to_scale_slowly(
            P, A, of_variables, of_rows, floats, images, states, mass_floats, mass_images, links,
            reading=reading, seed=seed, progress=progress,
        )  # fmt: skip
        variable_labels, row_labels, floats, images, states = slow[:5]
        cost = RefinementStatistics("numpy", slow.rounds, 0, 0, perf_counter() - start, slow.n_lost)
    return ScaledRefinement(
        _relative(variable_labels, floats[:n], images[:n], states[:n], reading),
        _relative(row_labels, floats[n:], images[n:], states[n:], reading, is_inverse=True),
        cost,
    )


def _made_alone(size: int) -> ClassScales:
    """Everything in a class of its own, with the scale 1; the arrays take no memory, or are kept."""
    one = np.array([1], np.uint64)
    one.flags.writeable = False
    return ClassScales(Partition.discrete(size), constant(1.0, size), np.ndarray((size,), one.dtype, one, 0, (0,)))


_alone = lru_cache(maxsize=KEPT_SIZE + 1)(_made_alone)


def _relative(
    labels: Indices,
    floats: Vector,
    images: FieldElements,
    states: NDArray[np.uint8],
    reading: Reading,
    *,
    is_inverse: bool = False,
) -> ClassScales:
    """Scales relative to the representatives; all that rests is one class, with the scale 0."""
    size, rests = labels.size, (states & RESTS) != 0
    if not rests.any():
        if size == 0 or labels[-1] == size - 1:  # numbered by first member: all alone
            return _alone(size) if size <= KEPT_SIZE else _made_alone(size)
        classes = Partition.trusted(labels)
    else:
        classes = Partition.from_labels(np.where(rests, -1, labels))
        if classes.is_discrete:
            whole = np.where(rests, 0, 1)
            return ClassScales(classes, whole.astype(np.float64), whole.astype(np.uint64))
    if is_inverse:
        floats, images = 1.0 / floats, field.inverse(images)
    if field.CORE_IS_COMPILED:
        if not is_inverse:  # parts of longer vectors, which are not kept
            floats, images = floats.copy(), images.copy()
        _core.relative_scales(classes.labels, states, classes.n_classes, floats, images, threads_for(size))
    else:
        first = classes.representatives
        images = field.multiply(images, field.inverse(images[first])[classes.labels])
        floats = floats / floats[first][classes.labels]
        floats, images = np.where(rests, 0.0, floats), np.where(rests, np.uint64(0), images)
    return ClassScales(classes, sharpened(floats, images, reading), images)


def sharpened(ratios: Vector, images: FieldElements, reading: Reading) -> Vector:
    """The decimals of twelve digits, in place of floats that came out of a computation, where they are meant.

    Parameters
    ----------
    ratios
        The floats; they may be written over.
    images
        What they are exactly.
    reading
        How floats are read.

    Examples
    --------
    >>> sharpened(np.array([0.1 + 0.2, 0.7]), field.images([0.3, 0.6]), "decimal").tolist()
    [0.3, 0.7]
    """
    is_decimal, n_threads = reading == "decimal", threads_for(ratios.size)
    if field.CORE_IS_COMPILED and _core.sharpen(ratios, images, _powers_of_ten(), is_decimal, n_threads):
        return ratios
    return sharpened_slowly(ratios, images, reading)  # which refuses what is no number


@lru_cache(maxsize=1)
def _powers_of_ten() -> tuple[Vector, Vector]:
    """10^k from k = -220 on, and the least numbers whose logarithm is at least k: as NumPy rounds them."""
    exponents = np.arange(-220, 221)
    powers = np.power(10.0, exponents.astype(np.float64))
    places_before = np.arange(-64, 9)  # by which floats near a power differ from it
    near = (powers.view(np.int64)[:, None] + places_before).view(np.float64)
    is_at_least = np.log10(near) >= exponents[:, None]
    return powers, near[np.arange(exponents.size), is_at_least.argmax(axis=1)].copy()
