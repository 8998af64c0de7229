"""The vectors of a program as exact field elements, carried beside the floats where floats would round.

Of a large program each vector is read when its images are first asked for: most programs show in floats that nothing is
equivalent, and to read a number exactly takes longer than to look at it. Whether a number is 0 or infinite, and which
are equal, floats tell as well where images are those of the floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from operator import is_
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, ScalarT, Vector
from relift.program.equal_numbers import is_constant
from relift.program.index_sets import constant_words, shortened
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry import finite_field as field

SMALL = 4096
"""Vectors of so many numbers together are read in one go: to begin takes longer than to read them."""


@final
class GivenVector:
    """A vector whose images are those of its floats, read when they are first asked for.

    Parameters
    ----------
    vector
        Numbers that do not change.
    reading
        How floats are read.

    Examples
    --------
    >>> vector = GivenVector(np.array([0.5, 1.0]), "decimal")
    >>> vector.words is vector.words, GivenVector(np.zeros(9999), "decimal").words.strides
    (True, (0,))
    """

    def __init__(self, vector: Vector, reading: Reading) -> None:
        self.reading = reading
        self.is_one = vector.size > SMALL and is_constant(vector)
        """Whether it is long and all its numbers are equal: then its images take no memory."""
        self._vector: Vector | None = vector

    @property
    def words(self) -> FieldElements:
        """The images; threads that ask at the same time get the same ones."""
        vector: Vector | None = self._vector  # asked for first: it is let go after the images have come
        words: FieldElements | None = self.__dict__.get("_words")
        if words is None:
            assert vector is not None, "there are neither images nor numbers to be read"
            words = self.__dict__.setdefault("_words", self._read(vector))
            self._vector = None
        return words

    def _read(self, vector: Vector) -> FieldElements:
        """Images of numbers; those that are all equal, as bounds often are, take no memory."""
        if self.is_one:
            return constant_words(int(field.images(vector[:1], self.reading)[0]), vector.size)
        return field.images(vector, self.reading)


Exact: TypeAlias = FieldElements | GivenVector
"""Images, or the vector that they are to be read of."""


def words_of(exact: Exact) -> FieldElements:
    """Images, read now where they have not been.

    Parameters
    ----------
    exact
        Images, or a vector that they are to be read of.
    """
    return exact.words if isinstance(exact, GivenVector) else exact


def short_of(vector: NDArray[ScalarT], exact: Exact) -> NDArray[ScalarT]:
    """A vector, of which one number is enough if its images are one word that stands for all; contiguous.

    Parameters
    ----------
    vector
        Its floats.
    exact
        Its images, or the vector that they are to be read of.
    """
    if isinstance(exact, GivenVector):
        return vector[:1] if exact.is_one else np.ascontiguousarray(vector)
    return shortened(vector, exact)


def read_later(instance: object, name: str) -> FieldElements:
    """Images that an object does not have yet, read of the vector that it has in ``given``; they stay in the object.

    Parameters
    ----------
    instance
        The object.
    name
        The name of the attribute.

    Raises
    ------
    AttributeError
        If it has no such vector.
    """
    own = instance.__dict__
    given: Mapping[str, GivenVector] = own.get("given", {})
    if name not in given:
        raise AttributeError(f"{type(instance).__name__!r} object has no attribute {name!r}")
    words = own[name] = given[name].words
    return words


NOTHING_GIVEN: Mapping[str, GivenVector] = MappingProxyType({})
"""All images are there."""


LookedAt: TypeAlias = tuple[
    Vector, Vector, Vector | None, FieldElements | None, FieldElements | None, FieldElements | None
]
"""Bounds on both sides, and costs, for compiled looks: floats, then images, None where floats tell the same."""


class VectorImages:
    """Images of q, l, u, lb, ub and of b of the conic rows (:mod:`relift.symmetry.finite_field`).

    Substituting a fixed variable adds multiples of its column to l, u and b. In floats, equal sums in another order
    differ; their images do not, so symmetry is looked for in these.

    Parameters
    ----------
    q, l, u, lb, ub, b
        The images.
    """

    q: FieldElements
    l: FieldElements
    u: FieldElements
    lb: FieldElements
    ub: FieldElements
    b: FieldElements
    given: Mapping[str, GivenVector] = NOTHING_GIVEN
    """The vectors whose images are known to be those of their floats; these may not have been read yet."""

    def __init__(
        self,
        q: FieldElements,
        l: FieldElements,
        u: FieldElements,
        lb: FieldElements,
        ub: FieldElements,
        b: FieldElements,
    ) -> None:
        self.__dict__.update(q=q, l=l, u=u, lb=lb, ub=ub, b=b)

    @classmethod
    def of(cls, program: Program, reading: Reading, known: tuple[Program, VectorImages] | None = None) -> VectorImages:
        """Read the floats of a program, those of a large one when they are asked for.

        Parameters
        ----------
        program
            Any program.
        reading
            How floats are read.
        known
            A program and its images by the same reading: vectors that are equal are not read again.

        Examples
        --------
        >>> program = Program(q=[1.0, 0.5], lb=0)
        >>> images = VectorImages.of(program, "decimal")
        >>> again = VectorImages.of(program.replace(q=[1.0, 0.25]), "decimal", (program, images))
        >>> again.lb is images.lb, again.q is images.q
        (True, False)
        """
        vectors = vectors_of(program)
        if known is None:
            sizes = [vector.size for vector in vectors]
            if sum(sizes) <= SMALL:
                words = field.images(np.concatenate(vectors), reading)
                return cls(*(words[end - size : end] for end, size in zip(accumulate(sizes), sizes, strict=True)))
            exact: dict[str, Exact] = {
                name: GivenVector(vector, reading) for name, vector in zip(NAMES, vectors, strict=True)
            }
            if np.array_equal(program.l, program.u):  # many programs have equations alone
                exact["u"] = exact["l"]
            return cls._of(exact)
        old, images = known
        before = vectors_of(old)
        if not images.given:
            known_words = (images.q, images.l, images.u, images.lb, images.ub, images.b)
            return cls(
                *(
                    found if vector is other or np.array_equal(vector, other) else field.images(vector, reading)
                    for vector, other, found in zip(vectors, before, known_words, strict=True)
                )
            )
        exact = {}
        for name, vector, other in zip(NAMES, vectors, before, strict=True):
            is_known = vector is other or np.array_equal(vector, other)
            exact[name] = images.exact(name) if is_known else GivenVector(vector, reading)
        return cls._of(exact)

    @classmethod
    def _of(cls, exact: Mapping[str, Exact]) -> VectorImages:
        made = _ReadLater.__new__(_ReadLater)
        made.__dict__.update((name, words) for name, words in exact.items() if not isinstance(words, GivenVector))
        made.__dict__["given"] = {name: vector for name, vector in exact.items() if isinstance(vector, GivenVector)}
        return made

    def exact(self, name: str) -> Exact:
        """One of the vectors exactly, but not read for that."""
        vector = self.given.get(name)
        if vector is not None:
            return vector
        words: FieldElements = self.__dict__[name]
        return words

    def but(self, **others: Exact) -> VectorImages:
        """The same with others for some of them.

        Parameters
        ----------
        **others
            Images by name, or vectors of which they are to be read.
        """
        if self.given or GivenVector in map(type, others.values()):
            return self._of({name: others[name] if name in others else self.exact(name) for name in NAMES})
        made = VectorImages.__new__(VectorImages)
        made.__dict__.update(self.__dict__)
        made.__dict__.update(others)
        return made

    def shares(self, other: VectorImages, *names: str) -> bool:
        """Whether another program has the very same ones of some of the vectors.

        Parameters
        ----------
        other
            Images of the other program.
        *names
            Names of vectors.
        """
        if self.given:
            return all(self.exact(name) is other.exact(name) for name in names)
        return all(map(is_, map(self.__dict__.get, names), map(other.__dict__.get, names)))

    def short(self, name: str, vector: Vector) -> Vector:
        """One of the vectors, of which one number is enough if its images are one word that stands for all; contiguous.

        Parameters
        ----------
        name
            The name of the vector.
        vector
            Its floats.
        """
        return short_of(vector, self.exact(name)) if self.given else shortened(vector, self.__dict__[name])

    def numbers_of(self, program: Program) -> tuple[LookedAt, LookedAt]:
        """Bounds and costs of variables, and bounds of rows, for looks in floats.

        Parameters
        ----------
        program
            The program whose images these are.
        """
        given = self.given
        if given and all(name in given for name in NAMES):
            return (program.lb, program.ub, program.q, None, None, None), (program.l, program.u, None, None, None, None)
        return (program.lb, program.ub, program.q, self.lb, self.ub, self.q), (
            program.l,
            program.u,
            None,
            self.l,
            self.u,
            None,
        )


@final
class _ReadLater(VectorImages):
    """The same with vectors that are read when they are asked for: a class of its own, whose attributes take longer."""

    if not TYPE_CHECKING:  # else any name would pass for an attribute
        __getattr__ = read_later


NAMES = ("q", "l", "u", "lb", "ub", "b")
"""Vectors of a program, in the order in which they are given."""


def vectors_of(program: Program) -> tuple[Vector, ...]:
    """Vectors of a program in that order.

    Parameters
    ----------
    program
        Any program.
    """
    return program.q, program.l, program.u, program.lb, program.ub, program.conic.b
