"""What values of variables add to the rows of a matrix, and floats that stand for one exact number made equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Counts, FieldElements, Flags, Indices, Integers, Vector
from relift.lifting.duplicate_rows import ROUNDING
from relift.program import passes
from relift.program.index_sets import all_of, constant, constant_words, numbered_among, shortened
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

    @property
    def own_sizes(self) -> Vector | None:
        """The sizes; None where they are held as one 0 for all."""
        return None if self.sizes.strides == (0,) else self.sizes

    @property
    def is_zero(self) -> bool:
        """Whether it adds nothing."""
        return self.own_sizes is None or not (self.sizes.any() or self.images.any())

    @classmethod
    def of(cls, columns: Entries, value: Vector, value_image: FieldElements, n_rows: int, reading: Reading) -> Shift:
        """Add up some columns times their values."""
        # As most are that a program switches off: nothing to add or hold.
        are_zero = not value.any() and not value_image.any()
        if passes.core is None:
            return shift_slowly(columns, None if are_zero else (value, value_image), n_rows, reading)
        touched, counts, floats, images, sizes = passes.core.add_columns(
            (columns.row, columns.column, columns.value),
            None if are_zero else value, None if are_zero else np.ascontiguousarray(value_image),
            reading == "decimal", n_rows,
        )  # fmt: skip
        of_rows = np.frombuffer(touched, np.int64), np.frombuffer(counts, np.int64)
        if are_zero:
            return _zeros(*of_rows)
        sums = np.frombuffer(floats), np.frombuffer(images, np.uint64), np.frombuffer(sizes)
        return cls(of_rows[0], *sums, of_rows[1])


def _zeros(touched: Indices, counts: Indices) -> Shift:
    nothing = constant(0.0, touched.size)
    return Shift(touched, nothing, constant_words(0, touched.size), nothing, counts)


def shift_slowly(columns: Entries, values: tuple[Vector, FieldElements] | None, n_rows: int, reading: Reading) -> Shift:
    """The same by whole arrays; no values are zeros."""
    touched, at = numbered_among(columns.row, n_rows)
    size, column = touched.size, columns.column
    counts = np.bincount(at[columns.value != 0], minlength=size)
    if values is None:
        return _zeros(touched, counts)
    value, value_image = values
    product = columns.value * value[column]
    floats = np.asarray(np.bincount(at, weights=product, minlength=size), np.float64)
    sizes = np.asarray(np.bincount(at, weights=np.abs(product), minlength=size), np.float64)
    terms = exact.multiply(exact.images(columns.value, reading), value_image[column])
    return Shift(touched, floats, exact.grouped_sums(at, terms, size), sizes, counts)


@final
@dataclass(frozen=True, eq=False)
class RowsLeft:
    """What passes know of rows, and change.

    Parameters
    ----------
    counts
        How many entries each has left.
    terms
        Sizes of all that was added to each.
    is_left
        Whether it is still there.
    is_left_alone
        Whether nothing is done to it.
    """

    counts: Counts
    terms: Vector
    is_left: Flags
    is_left_alone: Flags

    def touch(self, shift: Shift) -> Indices:
        """Take what a pass substitutes from its rows; returns those of one entry or none that are next, ascending.

        A row that was left alone because it crossed a bound by rounding may hold now that nothing is left of it.
        """
        if passes.core is None:
            return self.touch_slowly(shift)
        what = shift.touched, shift.counts, shift.own_sizes
        return np.frombuffer(
            passes.core.rows_touched(what, self.counts, self.terms, self.is_left, self.is_left_alone), np.int64
        )

    def touch_slowly(self, shift: Shift) -> Indices:
        """The same by whole arrays."""
        rows = shift.touched
        if shift.own_sizes is not None:
            self.terms[rows] += shift.own_sizes
        left = self.counts[rows] - shift.counts
        self.counts[rows] = left
        self.is_left_alone[rows[left == 0]] = False
        return rows[(left < 2) & self.is_left[rows] & ~self.is_left_alone[rows]]


@final
@dataclass(frozen=True, eq=False)
class Moved:
    """Entries of a vector after a shift, in floats and exactly, and which of them may have cancelled."""

    places: Indices
    values: Vector
    images: FieldElements
    cancelled: Indices

    @classmethod
    def of(
        cls, shift: Shift, vector: Vector, words: FieldElements, some: Flags | None, terms: Vector, reading: Reading,
        *, is_taken: bool,
    ) -> Moved:  # fmt: skip
        """Add a shift to a vector, or take it from it.

        Parameters
        ----------
        shift
            What is added.
        vector, words
            Floats and images of the vector.
        some
            Which entries are moved at all; None for all that are finite.
        terms
            Sizes of all that was added so far to each entry.
        reading
            How floats are read.
        is_taken
            Whether it is taken away.
        """
        found = None
        if passes.core is not None:
            what = shift.touched, np.ascontiguousarray(shift.floats), np.ascontiguousarray(shift.images)
            found = passes.core.moved_entries(
                shortened(vector, words),
                shortened(words, words),
                what,
                is_taken,
                terms,
                some,
                reading == "decimal",
                ROUNDING,
            )
        if found is None:
            return moved_slowly(shift, vector, words, some, terms, reading, is_taken=is_taken)
        places, values, images, lost = found
        return cls(
            np.frombuffer(places, np.int64), np.frombuffer(values), np.frombuffer(images, np.uint64),
            np.frombuffer(lost, np.int64),
        )  # fmt: skip


def moved_slowly(
    shift: Shift, vector: Vector, words: FieldElements, some: Flags | None, terms: Vector, reading: Reading,
    *, is_taken: bool,
) -> Moved:  # fmt: skip
    """The same by whole arrays."""
    is_moved = np.isfinite(vector[shift.touched])
    if some is not None:
        is_moved &= some[shift.touched]
    places = shift.touched[is_moved]
    floats, parts = shift.floats[is_moved], shift.images[is_moved]
    values = vector[places] + (-floats if is_taken else floats)
    images = (exact.subtract if is_taken else exact.add)(words[places], parts)
    every, sizes = all_of(places.size), terms[places]
    settle_floats(values, images, every, sizes, reading)
    return Moved(places, values, images, places[cancelled(values, images, every, sizes, reading)])


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
