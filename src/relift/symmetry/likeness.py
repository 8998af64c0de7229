"""Cheap looks at what a search up to size, unit and sign could find, before it is made.

- *Colours*: where every variable has a cost, or must not be 0, and no two kinds of variables become one up to units
  and signs, the classes up to scale are the equitable ones (``docs/mathematics.md``), and these are cheaper to find.
- *Rows*: in large programs some rows are looked at by the compiled core (``core/include/relift/likeness.hpp``). Rows
  that are equal up to factors, units and signs, and stand in different classes, speak for masses that differ.

In programs with many variables a sample is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import FieldElements
from relift.program.program import Program
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import core_arrays, index_type_of
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.own_scales import OwnScales
from relift.symmetry.partition import Partition

if field.CORE_IS_COMPILED:
    from relift import _core

SAMPLE = 4096
"""Up to so many variables all colours are compared."""


@final
@dataclass(frozen=True)
class Colours:
    """How many kinds of variables there are before any sum is taken.

    Parameters
    ----------
    given, up_to_units, up_to_sizes
        As they are given; up to units and signs; and up to sizes too.
    rests
        Whether some variable has no cost and may be 0.
    """

    given: int
    up_to_units: int
    up_to_sizes: int
    rests: bool

    @classmethod
    def of(cls, vectors: VectorImages, own: OwnScales) -> Colours:
        """Count the colours of variables, or of a sample of them.

        Parameters
        ----------
        vectors
            Exact images of costs and bounds.
        own
            Scales with equal masses.
        """
        n = vectors.q.size
        some = slice(None) if n <= SAMPLE else np.linspace(0, n - 1, SAMPLE).astype(np.int64)
        low, high, cost = (words[some] for words in own.words)
        has_cost = (cost != 0).astype(np.uint64)
        return cls(
            _n_distinct(vectors.q[some], vectors.lb[some], vectors.ub[some]),
            _n_distinct(low, high, cost),
            _n_distinct(low, high, has_cost),
            bool(np.any(own.states)),
        )

    @property
    def may_merge(self) -> bool:
        """Whether classes up to units and signs may be other than the equitable ones, where rows have scales."""
        return self.rests or self.up_to_units < self.given

    @property
    def may_merge_with_masses(self) -> bool:
        """Whether variables may be of one kind and many sizes."""
        return self.rests or self.up_to_sizes < self.up_to_units


def _n_distinct(*columns: FieldElements) -> int:
    if all(words.size == 0 or np.all(words == words[0]) for words in columns):
        return min(1, columns[0].size)
    mixed = np.zeros(columns[0].size, np.uint64)
    for words in columns:
        mixed = field.mixed(mixed ^ words)
    return int(np.unique(mixed).size)


def speaks_for_masses(program: Program, vectors: VectorImages, variables: Partition, rows: Partition) -> bool:
    """Whether some rows are of one kind, up to size, and in different classes; a sample of rows is looked at.

    Parameters
    ----------
    program
        A linear or quadratic program.
    vectors
        Exact images of its vectors.
    variables, rows
        Classes that were found with equal masses.

    Examples
    --------
    >>> def speaks(q: list[float], ub: list[float]) -> bool:
    ...     program = Program(q=q, A=[[1, 1]], l=[1], lb=0, ub=ub)
    ...     vectors = VectorImages.of(program, "decimal")
    ...     return speaks_for_masses(program, vectors, Partition.discrete(2), Partition.discrete(1))
    >>> speaks([2, 2], [1, 3]), speaks([2, 3], [1, 1])
    (True, False)
    """
    return _look(program, vectors, variables, rows)[0] if field.CORE_IS_COMPILED else True


def is_nearly_in_proportion(program: Program, vectors: VectorImages, variables: Partition, rows: Partition) -> bool:
    """Whether some rows are of one kind to ten digits, right-hand sides and all, and in different classes.

    Parameters
    ----------
    program, vectors, variables, rows
        As in :func:`speaks_for_masses`.

    Examples
    --------
    >>> size = np.array([0.7, 1.3, 2.9])
    >>> program = Program(q=np.ones(3), A=np.eye(3), l=0.6 * size, lb=0, ub=3.1 * size)
    >>> vectors = VectorImages.of(program, "decimal")
    >>> is_nearly_in_proportion(program, vectors, Partition.discrete(3), Partition.discrete(3))
    True
    """
    return _look(program, vectors, variables, rows)[1] if field.CORE_IS_COMPILED else False


def _look(program: Program, vectors: VectorImages, variables: Partition, rows: Partition) -> tuple[bool, bool]:
    return _core.likeness(
        core_arrays(program.A, index_type_of(program.A)), program.A.format == "csr",
        program.n_variables, program.n_rows,
        (program.lb, program.ub, program.q, vectors.lb, vectors.ub, vectors.q),
        (program.l, program.u, None, vectors.l, vectors.u, None), variables.labels, rows.labels,
    )  # fmt: skip
