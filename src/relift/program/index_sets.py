"""Index vectors that say "all of them", and vectors of one number, without a copy for everyone who holds one.

Most programs lose nothing to presolve and have nothing at rest, and every step on the way says so by a vector of its
own. These are read-only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import overload
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, Flags, Indices, Integers, ScalarT, Vector

_held: WeakValueDictionary[int, Indices] = WeakValueDictionary()

KEPT_SIZE = 256
"""Vectors of up to so many numbers are made once and stay."""

FEW, SHORT = 1 / 32, 4096
"""Fewer numbers than this share of all that there may be, of so many at least, are sorted; others are marked."""

KEPT_VECTORS = 64
"""So many vectors of one number are kept: they take no memory, and longer to make than to find again."""


def all_of(size: int) -> Indices:
    """The numbers from 0 on, in order: one vector for all who hold it at the same time.

    Examples
    --------
    >>> first = all_of(3)
    >>> first.tolist(), all_of(3) is first
    ([0, 1, 2], True)
    """
    if size <= KEPT_SIZE:
        return _few(size)
    found = _held.get(size)
    if found is None:
        found = _held[size] = _in_order(size)
    return found


@lru_cache(maxsize=KEPT_SIZE + 1)
def _few(size: int) -> Indices:
    return _in_order(size)


def _in_order(size: int) -> Indices:
    made = np.arange(size, dtype=np.int64)
    made.flags.writeable = False
    return made


def where(flags: Flags) -> Indices:
    """Where flags are set, ascending.

    Examples
    --------
    >>> where(np.array([True, False, True])).tolist()
    [0, 2]
    """
    return all_of(flags.size) if flags.all() else np.flatnonzero(flags)


def lengths(offsets: Integers) -> Integers:
    """How much lies between offsets that follow one another.

    ``np.diff`` takes longer over what a small program has.

    Examples
    --------
    >>> lengths(np.array([0, 2, 5])).tolist()
    [2, 3]
    """
    return offsets[1:] - offsets[:-1]


def distinct(places: Integers, size: int) -> Indices:
    """Distinct numbers below a size, ascending, without sorting them where they are many.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3]), 5).tolist()
    [1, 3]
    """
    if _are_few(places, size):
        ordered = np.sort(places).astype(np.int64, copy=False)
        return ordered[np.diff(ordered, prepend=-1) > 0]
    mask = np.zeros(size, bool)
    mask[places] = True
    return np.flatnonzero(mask)


def _are_few(places: Integers, size: int) -> bool:
    return size > SHORT and places.size < FEW * size


def numbered_among(places: Integers, size: int) -> tuple[Indices, Indices]:
    """Distinct numbers below a size, ascending, and which of these each number is.

    Examples
    --------
    >>> found, which = numbered_among(np.array([3, 1, 3]), 5)
    >>> found.tolist(), which.tolist()
    ([1, 3], [1, 0, 1])
    """
    found = distinct(places, size)
    if _are_few(places, size):
        return found, np.searchsorted(found, places)
    position = np.empty(size, np.int64)
    position[found] = np.arange(found.size)
    return found, position[places]


@overload
def constant(value: int, size: int) -> Indices: ...
@overload
def constant(value: float, size: int) -> Vector: ...
def constant(value: float, size: int) -> Indices | Vector:
    """A vector of one number that takes no memory.

    Examples
    --------
    >>> constant(2.0, 3).tolist(), constant(-1, 2).dtype.name
    ([2.0, 2.0, 2.0], 'int64')
    """
    # A zero may have a sign, by which a cache does not tell it from another one.
    return _kept_of(value, size) if value or isinstance(value, int) or str(value) == "0.0" else _made_of(value, size)


@lru_cache(maxsize=KEPT_VECTORS, typed=True)
def _kept_of(value: float, size: int) -> Indices | Vector:
    """Every lifting asks several times for the same ones."""
    return _made_of(value, size)


def _made_of(value: float, size: int) -> Indices | Vector:
    one = np.array([value], np.int64 if isinstance(value, int) else np.float64)
    one.flags.writeable = False
    return np.ndarray((size,), one.dtype, one, 0, (0,))


@lru_cache(maxsize=KEPT_VECTORS)
def constant_words(word: int, size: int) -> FieldElements:
    """The same of one word; the compiled core reads it without a copy for each element.

    Examples
    --------
    >>> constant_words(7, 2).tolist(), constant_words(7, 2).strides
    ([7, 7], (0,))
    """
    return np.broadcast_to(np.uint64(word), (size,))


def taken(words: FieldElements, places: Indices) -> FieldElements:
    """Some of many words; of one word that stands for all, as many.

    Examples
    --------
    >>> taken(constant_words(7, 5), np.array([1, 3])).strides, taken(np.arange(5, dtype=np.uint64), np.array([1, 3]))
    ((0,), array([1, 3], dtype=uint64))
    """
    if words.strides == (0,) and words.size:
        return constant_words(int(words[0]), places.size)
    return words.take(places)


def shortened(vector: NDArray[ScalarT], words: FieldElements) -> NDArray[ScalarT]:
    """A vector, of which one number is enough where its words are one word that stands for all; contiguous.

    Parameters
    ----------
    vector
        Numbers that are equal if their words are held as one.
    words
        What the numbers stand for, or the same as the vector.

    Examples
    --------
    >>> [shortened(np.ones(3), words).tolist() for words in (constant_words(1, 3), np.ones(3, np.uint64))]
    [[1.0], [1.0, 1.0, 1.0]]
    """
    return vector[:1] if words.strides == (0,) else np.ascontiguousarray(vector)
