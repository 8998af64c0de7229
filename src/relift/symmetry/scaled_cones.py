r"""Cones in the search for classes up to scale.

Rows :math:`s = b - Cx` of cone k may be :math:`\tau_i \omega_k` times those of the representative of their class,
with one size :math:`\omega_k > 0` for all rows of a cone: a cone holds the multiples of its members. The sign
:math:`\tau_i` is 1, but for rows whose sign the cone does not see: tails of second-order cones and the last rows of
power cones. Such a row may also be at rest, :math:`s_i = 0`. A cone at rest holds the vector 0.

As in :mod:`~relift.symmetry.cone_refinement` each cone is a column, joined to its rows by entries 1; its scale is
:math:`\omega_k`. Equal sums along these entries are what makes all sizes in a cone agree. Entries of rows whose sign is
open are *links*: they count once the row is awake, with its sign. All rows of a cone have the mass of the cone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, Flags, Indices, Vector
from relift.program.program import Program
from relift.records import cached_property, quick
from relift.settings import LiftSettings
from relift.symmetry import finite_field as field
from relift.symmetry.cone_refinement import PRODUCT, StackedCones
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.masses import best_places
from relift.symmetry.own_scales import OPEN_SIGN, OPEN_SIZE, RESTS, Intervals, Masses, OwnScales
from relift.symmetry.partition import KEPT_SIZE, Partition

if field.CORE_IS_COMPILED:
    from relift import _core


@final
@quick
@dataclass(frozen=True, eq=False)
class ScaledCones:
    """The columns and rows that cones add to a program, with what is known of their scales.

    Parameters
    ----------
    stacked
        The program with these columns and rows.
    cones, rows
        Scales of the columns and of the rows that were added.
    links
        For each row of the stacked program its link, or -1.
    cone_of_row
        The cone of each conic row.
    """

    stacked: StackedCones
    cones: OwnScales
    rows: OwnScales
    links: Indices
    cone_of_row: Indices

    @classmethod
    def of(
        cls, program: Program, vectors: VectorImages, settings: LiftSettings, like: StackedCones | None = None
    ) -> ScaledCones:
        """Stack the cones of a program; its matrices are those that were stacked before, if these are given."""
        stacked, conic = StackedCones.of(program, settings.values, like), program.conic
        has_open_sign = np.zeros(conic.n_rows, bool)
        if settings.signs:
            has_open_sign[conic.layout.tails] = has_open_sign[conic.layout.products] = True
        rows = scales_of_conic_rows(conic.b, vectors.b, has_open_sign, sizes=settings.sizes)
        m, n_cones = program.n_rows, len(conic)
        cones = (_kept_scales if n_cones <= KEPT_SIZE else _scales_of_cones)(n_cones, settings.sizes)
        links = np.full(m + conic.n_rows, -1, np.int64)
        np.subtract(stacked.program.A.indptr[m + 1 :], 1, out=links[m:], where=has_open_sign)  # cones come last
        return cls(stacked, cones, rows, links, conic.cone_of_row)

    @cached_property
    def told(self) -> tuple[Indices, FieldElements, NDArray[np.uint8]]:
        """Of each conic row its cone, its kind and position as one word, and whether its sign is open."""
        m = self.stacked.n_rows
        kind, position = self.stacked.kind_of_row[m:], self.stacked.position_of_row[m:]
        words = position * np.uint64(2 * PRODUCT + 1) + kind  # different ones for different pairs: the factor is odd
        return self.cone_of_row, words, (self.links[m:] >= 0).view(np.uint8)

    def vectors(self, vectors: VectorImages) -> VectorImages:
        """Images of the vectors of the stacked program: cones have no cost and no bounds."""
        n_cones = self.cones.floats.size
        nothing, free = np.zeros(n_cones, np.uint64), np.full(n_cones, field.PLUS_INFINITY, np.uint64)
        unbounded = np.full(n_cones, field.MINUS_INFINITY, np.uint64)
        return VectorImages(
            np.concatenate([vectors.q, nothing]),
            np.concatenate([vectors.l, vectors.b]),
            np.concatenate([vectors.u, vectors.b]),
            np.concatenate([vectors.lb, unbounded]),
            np.concatenate([vectors.ub, free]),
            vectors.b,
        )

    def with_cones(self, of_variables: OwnScales) -> OwnScales:
        """Scales of variables, then of cones."""
        return _joined(of_variables, self.cones)

    def with_rows(self, of_rows: OwnScales) -> OwnScales:
        """Scales of rows, then of conic rows."""
        return _joined(of_rows, self.rows)

    def equalised(self, masses: Masses, variables: Partition) -> Masses:
        """One mass for each cone and all its rows: the least of its class.

        Parameters
        ----------
        masses
            Of the stacked program.
        variables
            Classes of its columns, inside which cones must have equal masses.
        """
        first_row, first_cone = self.stacked.n_rows, self.stacked.n_variables
        if not field.CORE_IS_COMPILED:
            return self.equalised_slowly(masses, Partition.from_labels(variables.labels[first_cone:]))
        floats, images = masses.variables.copy(), masses.variable_images.copy()
        row_floats, row_images = masses.rows.copy(), masses.row_images.copy()
        _core.equalise_masses(
            variables.labels[first_cone:], self.cone_of_row, variables.n_classes, floats[first_cone:],
            images[first_cone:], row_floats[first_row:], row_images[first_row:],
        )  # fmt: skip
        return Masses(floats, images, row_floats, row_images)

    def equalised_slowly(self, masses: Masses, cones: Partition) -> Masses:
        """The same as :meth:`equalised` in NumPy, from classes of cones: the twin of the compiled kernel."""
        first_row, first_cone = self.stacked.n_rows, self.stacked.n_variables
        label = cones.labels[self.cone_of_row]
        # Every cone has rows.
        least = first_row + best_places(masses.rows[first_row:], label, cones.n_classes, least=True)
        floats, images = masses.rows[least], masses.row_images[least]
        return Masses(
            np.concatenate([masses.variables[:first_cone], floats[cones.labels]]),
            np.concatenate([masses.variable_images[:first_cone], images[cones.labels]]),
            np.concatenate([masses.rows[:first_row], floats[label]]),
            np.concatenate([masses.row_images[:first_row], images[label]]),
        )


def _scales_of_cones(n_cones: int, sizes: bool) -> OwnScales:
    """Of columns without bounds and costs: they rest, and rows tell their sizes."""
    state, nothing = RESTS + (OPEN_SIZE if sizes else 0), np.zeros(n_cones, np.uint64)
    return OwnScales(
        np.ones(n_cones), np.ones(n_cones, np.uint64), np.full(n_cones, state, np.uint8), (nothing,) * 3
    )  # fmt: skip


_kept_scales = lru_cache(maxsize=KEPT_SIZE)(_scales_of_cones)


def scales_of_conic_rows(b: Vector, image: FieldElements, has_open_sign: Flags, *, sizes: bool) -> OwnScales:
    """Scales of conic rows: the sizes of right-hand sides, with their signs where these are open; ±1 without sizes.

    What is left of a right-hand side after division is 1, or -1 where it is negative and its sign is not open.

    Parameters
    ----------
    b, image
        Right-hand sides, and exactly.
    has_open_sign
        Whether the cone does not see the sign of the row.
    sizes
        Whether sizes other than 1 are looked for.

    Examples
    --------
    >>> b = np.array([2.0, -3.0, -5.0, 0.0])
    >>> own = scales_of_conic_rows(b, field.images(b), np.array([False, False, True, True]), sizes=True)
    >>> own.floats.tolist(), own.states.tolist()
    ([2.0, 3.0, -5.0, 1.0], [0, 0, 0, 7])
    """
    if not field.CORE_IS_COMPILED:
        return scales_of_conic_rows_slowly(b, image, has_open_sign, sizes=sizes)
    k = b.size
    floats, images, states, word = np.empty(k), np.empty(k, np.uint64), np.empty(k, np.uint8), np.empty(k, np.uint64)
    given = (np.ascontiguousarray(b), np.ascontiguousarray(image), has_open_sign.view(np.uint8))
    _core.conic_scales(*given, sizes, floats, images, states, word)
    return OwnScales(floats, images, states, (word, word))


def scales_of_conic_rows_slowly(b: Vector, image: FieldElements, has_open_sign: Flags, *, sizes: bool) -> OwnScales:
    """The same as :func:`scales_of_conic_rows` in NumPy: the twin of the compiled kernel."""
    rests, is_negative = image == 0, b < 0
    is_turned = has_open_sign & is_negative
    minus_one = np.uint64(field.MODULUS - 1)
    floats, images = np.where(is_turned, -1.0, 1.0), np.where(is_turned, minus_one, np.uint64(1))
    if sizes:
        keeps_sign = is_negative & ~has_open_sign
        image_of_size = np.where(keeps_sign, field.negate(image), image) if keeps_sign.any() else image
        floats = np.where(rests, floats, np.where(keeps_sign, -b, b))
        images = np.where(rests, images, image_of_size)
        word = np.where(keeps_sign, minus_one, np.uint64(1))
        word[rests] = 0
    else:
        word = np.where(is_turned, field.negate(image), image) if is_turned.any() else image
    states = np.where(has_open_sign, np.uint8(RESTS + OPEN_SIGN), np.uint8(RESTS))
    if sizes:
        states += np.uint8(OPEN_SIZE)
    states[~rests] = 0
    return OwnScales(floats, images, states, (word, word))


def _joined(first: OwnScales, second: OwnScales) -> OwnScales:
    words = tuple(np.concatenate(pair) for pair in zip(first.words, second.words, strict=True))
    return OwnScales(
        np.concatenate([first.floats, second.floats]),
        np.concatenate([first.images, second.images]),
        np.concatenate([first.states, second.states]),
        words,
    )


def rigid(own: OwnScales, which: Flags, original: tuple[FieldElements, ...]) -> OwnScales:
    """Scales in which some variables are compared as they are given, and never rest.

    Parameters
    ----------
    own
        Scales.
    which
        Which variables.
    original
        The words that tell these apart: images of bounds and costs as they are.
    """
    words = tuple(np.where(which, given, word) for given, word in zip(original, own.words, strict=True))
    return replace(
        own,
        floats=np.where(which, 1.0, own.floats),
        images=np.where(which, np.uint64(1), own.images),
        states=np.where(which, 0, own.states).astype(np.uint8),
        words=words,
    )


def intervals_of(program: Program, vectors: VectorImages) -> tuple[Intervals, Intervals]:
    """Bounds of variables and of rows, floats and exact."""
    if not vectors.given:
        return (
            Intervals(program.lb, program.ub, vectors.lb, vectors.ub),
            Intervals(program.l, program.u, vectors.l, vectors.u),
        )
    return (
        Intervals.of_vectors(program.lb, program.ub, vectors, "lb", "ub"),
        Intervals.of_vectors(program.l, program.u, vectors, "l", "u"),
    )
