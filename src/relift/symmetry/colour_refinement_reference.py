r"""Colour refinement, slow and obvious: the twin of the compiled core, and what runs where there is none.

Variables j and rows i carry colours. A round replaces each colour by itself and a signature of the
neighbours,

.. math:: \sigma_i = \sum_j h(c_j)\, a_{ij}, \qquad \sigma_j = \sum_i h(c_i)\, a_{ij}, \qquad
          \tau_j = \sum_k h(c_k)\, P_{jk} \pmod p,

with a random field element h for each colour: two signatures agree (but for a chance of 1 in 2^61) exactly
when the sums into every class agree. Rounds are made until no class splits; the result is the coarsest
equitable partition [1]_. In counting mode each distinct value is first replaced by a random element, so that
multisets of values are compared instead of sums, and the diagonal of P is a colour, not an entry.

.. [1] Grohe, Kersting, Mladenov, Selman: Dimension Reduction via Colour Refinement, 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Array, FieldElements, Labels, SparseMatrix, Vector
from relift.settings import Reading
from relift.symmetry import finite_field as field

Mode = Literal["equitable", "counting"]

SMALLEST_SHARE = 1e-6
"""A row is divided by its weighted sum only if this is at least such a share of its absolute values."""


@final
@dataclass(frozen=True)
class ReferenceResult:
    """Labels in order of first occurrence, the scales of the rows, and the rounds that were made."""

    variable_labels: Labels
    row_labels: Labels
    row_scales: NDArray[np.float64]
    row_scale_images: FieldElements
    rounds: int
    rows_without_scale: int


class Entries(NamedTuple):
    """The entries of a sparse matrix, one by one: where, the word that is added up, and the float."""

    row: Labels
    column: Labels
    word: FieldElements
    value: Vector


class Scales(NamedTuple):
    """What each row is divided by: as floats, and exactly."""

    floats: NDArray[np.float64]
    images: FieldElements
    n_without: int = 0


def refine_slowly(
    P: SparseMatrix | None,
    A: SparseMatrix,
    variable_images: Sequence[FieldElements],
    row_lower_image: FieldElements,
    row_upper_image: FieldElements,
    l: NDArray[np.float64],
    u: NDArray[np.float64],
    *,
    mode: Mode,
    reading: Reading,
    scale_rows: bool,
    row_extra: Sequence[FieldElements] = (),
    seed: int = 0,
    progress: Callable[[str, int, int], object] | None = None,
) -> ReferenceResult:
    """Find the coarsest equitable (or counting) partition by naive rounds, each O(nnz log n).

    The arguments are those of :func:`relift.symmetry.colour_refinement.refine`.
    """
    n_rows, n_variables = A.shape
    entries_A, entries_P = entries_of(A, reading), None if P is None else entries_of(P, reading)
    scales = _no_scales(n_rows)
    if scale_rows:
        scales = _scales_of_rows(A, entries_A, variable_images, row_upper_image, row_lower_image, l, u)
        entries_A = entries_A._replace(word=field.multiply(entries_A.word, field.inverse(scales.images)[entries_A.row]))
    row_colours = [*scaled_bounds(row_lower_image, row_upper_image, scales), *row_extra]
    variable_colours = list(variable_images)
    random = np.random.default_rng(seed)
    if mode == "counting":
        entries_A = _words_for_values(entries_A, random)
        if entries_P is not None:
            on_diagonal = entries_P.row == entries_P.column
            loops = Entries(*(part[on_diagonal] for part in entries_P))
            variable_colours.append(field.grouped_sums(loops.row, loops.word, n_variables))
            entries_P = _words_for_values(Entries(*(part[~on_diagonal] for part in entries_P)), random)

    variables = classes_of(n_variables, variable_colours)
    rows = classes_of(n_rows, row_colours)
    rounds = 0
    while True:
        rounds += 1
        n_before = n_classes_of(variables) + n_classes_of(rows)
        word_of_variable = _random_words(random, n_classes_of(variables))[variables]
        word_of_row = _random_words(random, n_classes_of(rows))[rows]
        into_rows = field.grouped_sums(
            entries_A.row, field.multiply(word_of_variable[entries_A.column], entries_A.word), n_rows
        )
        into_variables = field.grouped_sums(
            entries_A.column, field.multiply(word_of_row[entries_A.row], entries_A.word), n_variables
        )
        signatures = [variables, into_variables]
        if entries_P is not None:
            signatures.append(
                field.grouped_sums(
                    entries_P.row, field.multiply(word_of_variable[entries_P.column], entries_P.word), n_variables
                )
            )
        variables, rows = classes_of(n_variables, signatures), classes_of(n_rows, [rows, into_rows])
        n_after = n_classes_of(variables) + n_classes_of(rows)
        if progress is not None:
            progress("rounds", rounds, n_after)
        if n_after == n_before:
            break
    return ReferenceResult(variables, rows, scales.floats, scales.images, rounds, scales.n_without)


def variable_weights(n_variables: int, variable_images: Sequence[FieldElements]) -> Labels:
    """Give each variable a small positive integer that depends on its initial colour alone.

    The images of a variable are mixed by the finaliser of splitmix64, one after the other; the top 20 bits of
    the result, plus one, are the weight.
    """
    mixed = np.zeros(n_variables, dtype=np.uint64)
    for words in variable_images:
        mixed = mixed ^ np.asarray(words, dtype=np.uint64)
        mixed = mixed + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed >> np.uint64(44)).astype(np.int64) + 1


def entries_of(matrix: SparseMatrix, reading: Reading) -> Entries:
    """List the nonzero entries with the images of their values."""
    listed = matrix.tocoo()
    nonzero = listed.data != 0
    return Entries(
        listed.row[nonzero].astype(np.int64),
        listed.col[nonzero].astype(np.int64),
        field.images(listed.data[nonzero], reading),
        listed.data[nonzero],
    )


def _no_scales(n_rows: int) -> Scales:
    return Scales(np.ones(n_rows), np.ones(n_rows, dtype=np.uint64))


def _scales_of_rows(
    A: SparseMatrix,
    entries: Entries,
    variable_images: Sequence[FieldElements],
    row_upper_image: FieldElements,
    row_lower_image: FieldElements,
    l: NDArray[np.float64],
    u: NDArray[np.float64],
) -> Scales:
    r"""Choose what each row is divided by so that rows that say the same look the same.

    The scale is :math:`T_i = \sum_j a_{ij} \omega_j` with weights :math:`\omega_j` that depend on the initial
    colour of variable j, or are 1 where no two entries have different signs, so that no sum cancels. T is the same for
    all rows of a class of any equitable partition, so dividing by it merges classes but splits none. Where T vanishes,
    or is lost in cancellation, the finite bound of the row of largest size takes its place, with its sign, and 1 where
    there is none.
    """
    n_rows, n_variables = A.shape
    weights = variable_weights(n_variables, variable_images)
    if (A.data >= 0).all() or (A.data <= 0).all():
        weights = np.ones(n_variables, np.int64)
    exact = field.grouped_sums(
        entries.row, field.multiply(weights.astype(np.uint64)[entries.column], entries.word), n_rows
    )
    listed = A.tocoo()
    terms = listed.data.astype(np.longdouble) * weights[listed.col]
    total, size = np.zeros(n_rows, dtype=np.longdouble), np.zeros(n_rows, dtype=np.longdouble)
    np.add.at(total, listed.row, terms)
    np.add.at(size, listed.row, np.abs(terms))
    by_total = (exact != 0) & (np.abs(total) >= SMALLEST_SHARE * size)

    floats, images = np.ones(n_rows), np.ones(n_rows, dtype=np.uint64)
    largest = np.zeros(n_rows)
    for bound, image in ((u, row_upper_image), (l, row_lower_image)):
        usable = np.isfinite(bound) & (image != 0) & (np.abs(bound) > largest)
        floats, images = np.where(usable, bound, floats), np.where(usable, image, images)
        largest = np.where(usable, np.abs(bound), largest)
    floats, images = np.where(by_total, total.astype(np.float64), floats), np.where(by_total, exact, images)
    return Scales(floats, images, int(np.count_nonzero(~by_total)))


def scaled_bounds(lower: FieldElements, upper: FieldElements, scales: Scales) -> tuple[FieldElements, FieldElements]:
    """Divide the bounds by the scales; a negative scale exchanges the two, and the infinities."""
    reciprocal, is_negative = field.inverse(scales.images), scales.floats < 0

    def divided(image: FieldElements) -> FieldElements:
        is_finite = image < field.MODULUS
        finite = field.multiply(np.where(is_finite, image, np.uint64(0)), reciprocal)
        return np.where(is_finite, finite, np.where(is_negative, field.negate(image), image))

    lower, upper = divided(lower), divided(upper)
    return np.where(is_negative, upper, lower), np.where(is_negative, lower, upper)


def _words_for_values(entries: Entries, random: np.random.Generator) -> Entries:
    """Replace each distinct value by a random word: sums of such words tell multisets apart."""
    distinct, which = np.unique(entries.word, return_inverse=True)
    return entries._replace(word=_random_words(random, distinct.size)[which])


def _random_words(random: np.random.Generator, size: int) -> FieldElements:
    return random.integers(1, field.MODULUS, size=size, dtype=np.uint64)


def classes_of(size: int, columns: Sequence[Array]) -> Labels:
    """Label equal tuples, numbered by smallest member."""
    labels = np.zeros(size, dtype=np.int64)
    for column in columns:
        _, which = np.unique(column, return_inverse=True)
        n_values = int(which.max()) + 1 if size else 1
        _, first, labels = np.unique(labels * n_values + which, return_index=True, return_inverse=True)
        rank = np.empty(first.size, dtype=np.int64)
        rank[np.argsort(first)] = np.arange(first.size)
        labels = rank[labels]
    return labels


def n_classes_of(labels: Labels) -> int:
    """How many classes labels name that are numbered from 0."""
    return int(labels.max()) + 1 if labels.size else 0
