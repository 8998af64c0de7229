"""The vectors of a program as exact field elements, carried beside the floats where floats would round."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import final

import numpy as np

from relift.arrays import FieldElements, Vector
from relift.program.index_sets import constant_words, is_constant
from relift.program.program import Program
from relift.records import quick
from relift.settings import Reading
from relift.symmetry import finite_field as field

SMALL = 4096
"""Vectors of so many numbers together are read in one go: to begin takes longer than to read them."""


@final
@quick
@dataclass(frozen=True, eq=False)
class VectorImages:
    """Images of q, l, u, lb, ub and of b of the conic rows (:mod:`relift.symmetry.finite_field`).

    Substituting a fixed variable adds multiples of its column to l, u and b. In floats, equal sums in another order
    differ; their images do not, so symmetry is looked for in these.
    """

    q: FieldElements
    l: FieldElements
    u: FieldElements
    lb: FieldElements
    ub: FieldElements
    b: FieldElements

    @classmethod
    def of(cls, program: Program, reading: Reading, known: tuple[Program, VectorImages] | None = None) -> VectorImages:
        """Read the floats of a program.

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
        if known is None:
            vectors = _vectors(program)
            sizes = [vector.size for vector in vectors]
            if sum(sizes) > SMALL:
                q, l, u, lb, ub, b = vectors
                low, lowest = _read(l, reading), _read(lb, reading)
                high = low if np.array_equal(l, u) else _read(u, reading)  # many programs have equations alone
                return cls(_read(q, reading), low, high, lowest, _read(ub, reading), _read(b, reading))
            words = field.images(np.concatenate(vectors), reading)
            return cls(*(words[end - size : end] for end, size in zip(accumulate(sizes), sizes, strict=True)))
        old, images = known
        read = (images.q, images.l, images.u, images.lb, images.ub, images.b)
        return cls(
            *(
                words if vector is before or np.array_equal(vector, before) else _read(vector, reading)
                for vector, before, words in zip(_vectors(program), _vectors(old), read, strict=True)
            )
        )


def _vectors(program: Program) -> tuple[Vector, ...]:
    return program.q, program.l, program.u, program.lb, program.ub, program.conic.b


def _read(vector: Vector, reading: Reading) -> FieldElements:
    """Images of many numbers; those that are all equal, as bounds often are, take no memory."""
    if vector.size <= SMALL or not is_constant(vector):
        return field.images(vector, reading)
    return constant_words(int(field.images(vector[:1], reading)[0]), vector.size)
