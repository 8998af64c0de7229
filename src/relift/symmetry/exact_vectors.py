"""The vectors of a program as exact field elements, carried beside the floats where floats would round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from relift.arrays import FieldElements
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry import finite_field as field


@final
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
    def of(cls, program: Program, reading: Reading) -> VectorImages:
        """Read the floats of a program."""
        vectors = (program.q, program.l, program.u, program.lb, program.ub, program.conic.b)
        return cls(*(field.images(vector, reading) for vector in vectors))
