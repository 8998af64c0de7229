"""Vectors of which all numbers are one, as bounds and scales often are: what one number tells is not told for each."""

from __future__ import annotations

from relift.arrays import Indices, Vector
from relift.program.index_sets import KEPT_SIZE
from relift.program.passes import are_one_number

LOOKED_AT = 64
"""Most vectors show by their first numbers that these differ."""


def some_of(vector: Vector, places: Indices) -> Vector:
    """Some numbers of a vector; where all are the same, the first ones without a copy.

    Examples
    --------
    >>> import numpy as np
    >>> ones, some = np.ones(5000), np.array([1, 3])
    >>> np.shares_memory(some_of(ones, some), ones), some_of(np.arange(5000.0), some).tolist()
    (True, [1.0, 3.0])
    """
    if KEPT_SIZE < vector.size >= places.size and _are_same(vector):
        return vector[: places.size]
    return vector.take(places)


def _are_same(vector: Vector) -> bool:
    """Whether all numbers of a long vector are one to the last bit: zeros of different signs are not the same."""
    if not are_one_number(vector[:LOOKED_AT], by_bits=True):
        return False
    return vector.strides == (0,) or are_one_number(vector, by_bits=True)


def is_constant(vector: Vector) -> bool:
    """Whether all numbers are equal.

    Examples
    --------
    >>> import numpy as np
    >>> is_constant(np.ones(3)), is_constant(np.arange(3.0)), is_constant(np.empty(0))
    (True, False, False)
    """
    if vector.size == 0 or not are_one_number(vector[:LOOKED_AT]):
        return False
    return vector.size <= LOOKED_AT or vector.strides == (0,) or are_one_number(vector)
