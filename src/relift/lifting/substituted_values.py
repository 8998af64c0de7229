"""What values of variables add to the rows of a matrix, and floats that stand for one exact number made equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import FieldElements, Indices, Integers, Vector
from relift.lifting.duplicate_rows import ROUNDING
from relift.program.index_sets import constant, constant_words, numbered_among
from relift.program.passes import Entries
from relift.settings import Reading
from relift.symmetry import finite_field as exact


@final
@dataclass(frozen=True, eq=False)
class Shift:
    """What values of variables add to the rows of a matrix, for those rows that have an entry of one of them.

    Parameters
    ----------
    touched
        These rows, ascending.
    floats, images
        The sums, in floats and exactly; read-only where all are 0.
    sizes
        The sums of the sizes of their terms.
    counts
        How many entries that are not 0 each has.
    """

    touched: Indices
    floats: Vector
    images: FieldElements
    sizes: Vector
    counts: Indices

    @classmethod
    def of(
        cls, columns: Entries, images: FieldElements, value: Vector, value_image: FieldElements, n_rows: int
    ) -> Shift:
        """Add up some columns times their values."""
        touched, at = numbered_among(columns.row, n_rows)
        size, column = touched.size, columns.column
        counts = np.bincount(at[columns.value != 0], minlength=size)
        if not value.any() and not value_image.any():  # as most are that a program switches off: nothing to add or hold
            nothing = constant(0.0, size)
            return cls(touched, nothing, constant_words(0, size), nothing, counts)
        product = columns.value * value[column]
        floats = np.asarray(np.bincount(at, weights=product, minlength=size), np.float64)
        sizes = np.asarray(np.bincount(at, weights=np.abs(product), minlength=size), np.float64)
        terms = exact.multiply(images, value_image[column])
        return cls(touched, floats, exact.grouped_sums(at, terms, size), sizes, counts)


@final
@dataclass(frozen=True, eq=False)
class Moved:
    """Entries of a vector after a shift, in floats and exactly, and which of them may have cancelled."""

    values: Vector
    images: FieldElements
    cancelled: Indices


def settle_floats(values: Vector, images: FieldElements, moved: Integers, terms: Vector, reading: Reading) -> None:
    """Make floats equal that stand for one exact number: .3 - .1 - .1 - .1 and .3 - .3 are both 0.

    Where terms cancel, what rounding left is large against the rest, and classes that are right in exact numbers
    would fail their check in floats. Of equal numbers, the float that reads as the exact one is taken, if any.
    """
    if moved.size == 0:
        return
    floats, words = values[moved], images[moved]
    is_read = exact.images(floats, reading) == words
    if is_read.all():  # what is equal exactly is equal in floats
        values[moved] = floats + 0.0  # -0.0 is 0.0
        return
    order = np.lexsort((~is_read, words))
    in_order, first = words[order], np.ones(moved.size, bool)
    np.not_equal(in_order[1:], in_order[:-1], out=first[1:])
    chosen = np.empty(moved.size)
    chosen[order] = floats[order][first][np.cumsum(first) - 1]
    chosen[words == 0] = 0.0
    is_rounding = np.abs(chosen - floats) <= ROUNDING * (np.abs(floats) + terms[moved])
    values[moved] = np.where(is_rounding, chosen, floats)


def cancelled(values: Vector, images: FieldElements, moved: Indices, terms: Vector, reading: Reading) -> Indices:
    """Which moved floats may differ from their exact numbers by more than few roundings of their own size.

    Rounding errors are small beside the terms that were added: no float does that is as large as these, and none that
    reads as its exact number.

    Examples
    --------
    >>> words = exact.images(np.array([0.1, 2.2]), "decimal")
    >>> cancelled(np.array([0.3 - 0.2, 2.5 - 0.3]), words, np.arange(2), np.array([0.2, 0.3]), "decimal").tolist()
    [0]
    """
    suspects = moved[np.abs(values[moved]) < terms[moved]]
    return suspects.compress(exact.images(values[suspects], reading) != images[suspects])
