r"""Numbers that can be added exactly: rationals read into the field of p = 2^61 - 1 elements.

Sums of floats depend on their order, so classes found by comparing them do too. Here every coefficient is
read as an exact rational a/b and stands for a b^{-1} mod p; 2 and 10 are invertible, so each float has an
image:

.. math:: \iota(x + y) = \iota(x) + \iota(y), \qquad \iota(x y) = \iota(x)\,\iota(y) \pmod p

Two readings of a float are offered. ``"decimal"`` takes the shortest decimal that prints it, so that the
image of .1 plus that of .2 is that of .3; ``"bits"`` takes its exact binary value, for which this is false.

Infinities are not field elements. They get two words of their own, p + 1 and p + 2, which no sum or product
can yield; :func:`negate` exchanges them, and no other operation here may be given them.

The compiled core does this work when it is installed; the same functions in NumPy stand below.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relift.arrays import FieldElements, Integers, SparseMatrix
from relift.errors import NotANumberError
from relift.program import passes
from relift.settings import Reading

try:
    from relift import _core

    CORE_IS_COMPILED = True
except ImportError:  # no compiler at install: the NumPy functions below do everything
    CORE_IS_COMPILED = False


MODULUS = (1 << 61) - 1
"""The number of elements, a Mersenne prime."""

PLUS_INFINITY = MODULUS + 1
"""The word that stands for +infinity."""

MINUS_INFINITY = MODULUS + 2
"""The word that stands for -infinity."""

_P = np.uint64(MODULUS)


def images(values: ArrayLike, reading: Reading = "decimal") -> FieldElements:
    """Read each float as an exact rational and give its field element.

    Parameters
    ----------
    values
        Floats of any shape; infinities become the two reserved words, -0.0 is 0.0.
    reading
        ``"decimal"``: the shortest decimal that prints the float; ``"bits"``: its exact binary value.

    Raises
    ------
    NotANumberError
        If a value is NaN.

    Examples
    --------
    >>> a, b, c = images([0.1, 0.2, 0.3])
    >>> bool(add(a, b) == c)
    True
    >>> a, b, c = images([0.1, 0.2, 0.3], "bits")
    >>> bool(add(a, b) == c)
    False
    """
    floats = np.asarray(values, dtype=np.float64)
    if np.isnan(floats).any():
        raise NotANumberError("a value to be compared exactly is NaN.", "Replace it by a number or drop it.")
    if not CORE_IS_COMPILED:
        return _images_in_numpy(floats, reading)
    flat = np.ascontiguousarray(floats).ravel()
    words = np.empty(flat.size, dtype=np.uint64)
    _core.images(flat, reading == "decimal", words)
    return words.reshape(floats.shape)


def add(left: ArrayLike, right: ArrayLike) -> FieldElements:
    """Add, element by element.

    Examples
    --------
    >>> int(add(MODULUS - 1, 3))
    2
    """
    return _reduced(_words(left) + _words(right))


def subtract(left: ArrayLike, right: ArrayLike) -> FieldElements:
    """Subtract, element by element.

    Examples
    --------
    >>> int(subtract(2, 3)) == MODULUS - 1
    True
    """
    return _reduced(_words(left) + (_P - _words(right)))


def negate(values: ArrayLike) -> FieldElements:
    """Change the sign, element by element; +infinity and -infinity change places.

    Examples
    --------
    >>> negate([0, 1, PLUS_INFINITY]).tolist() == [0, MODULUS - 1, MINUS_INFINITY]
    True
    """
    words = _words(values)
    negated = np.asarray(_P - words)
    negated[words == 0] = 0
    is_special = words > _P
    if is_special.any():
        special = words[is_special]
        both = np.uint64(PLUS_INFINITY + MINUS_INFINITY)
        negated[is_special] = np.where(special <= MINUS_INFINITY, both - special, special)
    return negated


def multiply(left: ArrayLike, right: ArrayLike) -> FieldElements:
    """Multiply, element by element.

    Examples
    --------
    >>> tenth, third = images([0.1, 0.3])
    >>> bool(multiply(tenth, 3) == third)
    True
    """
    a, b = _words(left), _words(right)
    if a.shape != b.shape:
        a, b = np.broadcast_arrays(a, b)
    if not CORE_IS_COMPILED:
        return _product_in_numpy(a, b)
    product = np.empty(a.size, dtype=np.uint64)
    _core.multiply(np.ascontiguousarray(a).ravel(), np.ascontiguousarray(b).ravel(), product)
    return product.reshape(a.shape)


def inverse(values: ArrayLike) -> FieldElements:
    """Invert, element by element; 0 has no inverse and gives 0.

    Examples
    --------
    >>> int(multiply(inverse(7), 7)), int(inverse(0))
    (1, 0)
    """
    words = _words(values)
    if not CORE_IS_COMPILED:
        return _inverse_in_numpy(words)
    reciprocal = np.empty(words.size, dtype=np.uint64)
    _core.inverse(np.ascontiguousarray(words).ravel(), reciprocal)
    return reciprocal.reshape(words.shape)


def grouped_sums(target: Integers, terms: FieldElements, size: int) -> FieldElements:
    """Sums of field elements by target, exactly.

    Parameters
    ----------
    target
        Where each term belongs, 0 .. size - 1.
    terms
        Field elements.
    size
        Number of sums.

    Examples
    --------
    >>> grouped_sums(np.array([0, 2, 0]), np.array([1, 2, 3], np.uint64), 3).tolist()
    [4, 0, 2]
    """
    if passes.core is not None:
        total = np.empty(size, np.uint64)
        passes.core.grouped_sums(np.ascontiguousarray(target, np.int64), np.ascontiguousarray(terms), total)
        return total
    return grouped_sums_in_numpy(target, terms, size)


def grouped_sums_in_numpy(target: Integers, terms: FieldElements, size: int) -> FieldElements:
    """The same: two halves of 31 and 30 bits are added as integers, then joined."""
    order = np.argsort(target, kind="stable")
    starts = np.searchsorted(target[order], np.arange(size + 1))
    sums = []
    for half in (terms & np.uint64((1 << 31) - 1), terms >> np.uint64(31)):
        running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(half[order], dtype=np.uint64)])
        sums.append((running[starts[1:]] - running[starts[:-1]]) % _P)
    low, high = sums
    return add(low, multiply(high, np.full(size, 1 << 31, np.uint64)))


def product(matrix: SparseMatrix, words: FieldElements, reading: Reading = "decimal") -> FieldElements:
    """Multiply a matrix of floats, read exactly, by a vector of field elements.

    Parameters
    ----------
    matrix
        CSR or CSC array.
    words
        Field elements, one for each column.
    reading
        How the entries are read.

    Examples
    --------
    >>> from scipy import sparse
    >>> product(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]), np.array([5, 7], np.uint64)).tolist()
    [19, 21]
    """
    compiled = passes.core_for(matrix)
    if compiled is None or matrix.shape[1] == 0:
        return product_in_numpy(matrix, words, reading)
    total = np.empty(matrix.shape[0], np.uint64)
    by_rows = matrix.format == "csr"
    compiled.field_product(passes.parts_of(matrix), by_rows, np.ascontiguousarray(words), reading == "decimal", total)
    return total


def product_in_numpy(matrix: SparseMatrix, words: FieldElements, reading: Reading = "decimal") -> FieldElements:
    """The same, entry by entry."""
    listed = matrix.tocoo()
    used = words[listed.coords[1]] != 0  # mostly few
    terms = multiply(images(listed.data[used], reading), words[listed.coords[1][used]])
    return grouped_sums(listed.coords[0][used].astype(np.int64), terms, matrix.shape[0])


def mixed(words: FieldElements) -> FieldElements:
    """FieldElements that look random, by the finaliser of splitmix64; different words stay different.

    Examples
    --------
    >>> mixed(np.array([1, 2], np.uint64)).tolist()
    [10451216379200822465, 10905525725756348110]
    """
    result = words + np.uint64(0x9E3779B97F4A7C15)
    result = (result ^ (result >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    result = (result ^ (result >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return result ^ (result >> np.uint64(31))


def _words(values: ArrayLike) -> FieldElements:
    return np.asarray(values, dtype=np.uint64)


def _reduced(words: FieldElements) -> FieldElements:
    """Reduce 64-bit words mod p: 2^61 = 1, so the upper bits are added to the lower ones."""
    folded = np.asarray((words & _P) + (words >> np.uint64(61)))
    np.subtract(folded, _P, out=folded, where=folded >= _P)
    return folded


def _images_in_numpy(floats: NDArray[np.float64], reading: Reading) -> FieldElements:
    """Take every distinct value through a fraction; slow when all values differ."""
    distinct, where = np.unique(floats + 0.0, return_inverse=True)
    words = np.array([_image_of(value, reading) for value in distinct.tolist()], dtype=np.uint64)
    return words[where].reshape(floats.shape)


def _image_of(value: float, reading: Reading) -> int:
    if value in (np.inf, -np.inf):
        return PLUS_INFINITY if value > 0 else MINUS_INFINITY
    exact = Fraction(repr(value)) if reading == "decimal" else Fraction(value)
    return exact.numerator * pow(exact.denominator, -1, MODULUS) % MODULUS


def _product_in_numpy(a: FieldElements, b: FieldElements) -> FieldElements:
    """Multiply by 32-bit limbs: with 2^64 = 8 and 2^61 = 1 every part stays below 2^64."""
    low_bits, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a_high, a_low, b_high, b_low = a >> half, a & low_bits, b >> half, b & low_bits
    middle = a_high * b_low + a_low * b_high
    middle_high, middle_low = middle >> np.uint64(29), middle & np.uint64((1 << 29) - 1)
    low = a_low * b_low
    folded = (low & _P) + (low >> np.uint64(61)) + middle_high + (middle_low << half)
    return _reduced(folded + (a_high * b_high << np.uint64(3)))


def _inverse_in_numpy(words: FieldElements) -> FieldElements:
    """Raise to the power p - 2 (Fermat)."""
    power, result = words, np.ones_like(words)
    for bit in range(61):
        if (MODULUS - 2) >> bit & 1:
            result = _product_in_numpy(result, power)
        power = _product_in_numpy(power, power)
    return np.where(words == 0, np.uint64(0), result)
