"""What values of variables add to the rows of a matrix, and floats that stand for one exact number made equal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from relift.arrays import FieldElements, Indices, Integers, Vector
from relift.lifting.duplicate_rows import ROUNDING
from relift.program.index_sets import constant, constant_words, distinct
from relift.program.passes import Entries
from relift.settings import Reading
from relift.symmetry import finite_field as exact


@final
@dataclass(frozen=True, eq=False)
class Shift:
    """What values of variables add to the rows of a matrix.

    Parameters
    ----------
    floats, images
        The sums, in floats and exactly.
    sizes
        The sums of the sizes of their terms.
    touched
        Rows that have an entry of one of these variables, ascending.
    entries
        The entries of these variables.
    """

    floats: Vector
    images: FieldElements
    sizes: Vector
    touched: Indices
    entries: Entries

    @classmethod
    def of(
        cls, columns: Entries, images: FieldElements, value: Vector, value_image: FieldElements, n_rows: int
    ) -> Shift:
        """Add up some columns times their values."""
        rows, column = columns.row, columns.column
        if not value.any() and not value_image.any():  # as most are that a program switches off: nothing to add or hold
            nothing = constant(0.0, n_rows)
            return cls(nothing, constant_words(0, n_rows), nothing, distinct(rows, n_rows), columns)
        product = columns.value * value[column]
        floats = np.asarray(np.bincount(rows, weights=product, minlength=n_rows), np.float64)
        sizes = np.asarray(np.bincount(rows, weights=np.abs(product), minlength=n_rows), np.float64)
        terms = exact.multiply(images, value_image[column])
        return cls(floats, exact.grouped_sums(rows, terms, n_rows), sizes, distinct(rows, n_rows), columns)

    @cached_property
    def counts(self) -> Indices:
        """How many entries that are not 0 each row has."""
        return np.bincount(self.entries.row[self.entries.value != 0], minlength=self.floats.size)


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
