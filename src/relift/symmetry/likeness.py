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

from relift.arrays import FieldElements, Indices, Vector
from relift.program import passes
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import core_arrays, index_type_of
from relift.symmetry.exact_vectors import Exact, VectorImages, words_of
from relift.symmetry.own_scales import Intervals, numbers_of_variables, scales_of_variables
from relift.symmetry.told_apart import FloatKinds
from relift.threads import threads_for

if field.CORE_IS_COMPILED:
    from relift import _core

SAMPLE = 4096
"""Up to so many variables all colours are compared."""

REPEATED, FEW, GROWS, MOST_ROUNDS = 0.5, 0.05, 1.5, 4
"""A program looks as if it repeated itself where at most this share of its variables and rows is different; where so
few are, or where their number does not grow by this factor, they are not looked at again, and never more often."""


@final
@dataclass(frozen=True)
class Colours:
    """How many kinds of variables there are before any sum is taken.

    Parameters
    ----------
    given, up_to_units, up_to_sizes
        As they are given; up to units and signs; and up to sizes too. The latter two are not counted if one rests.
    rests
        Whether some variable has no cost and may be 0.
    lacks_size
        Whether some variable has no bound other than 0, so that rows may tell its size.
    """

    given: int
    up_to_units: int
    up_to_sizes: int
    rests: bool
    lacks_size: bool = False

    @classmethod
    def of(
        cls,
        bounds: Intervals,
        q: Vector,
        q_exact: Exact,
        *,
        sizes: bool,
        signs: bool,
        reading: Reading = "decimal",
    ) -> Colours:
        """Count the colours of variables, or of a sample of them.

        Parameters
        ----------
        bounds
            Bounds of the variables.
        q, q_exact
            Their costs.
        sizes, signs
            Whether sizes and signs may differ.
        reading
            How floats are read where images are those of floats, and were not read yet.

        Examples
        --------
        >>> low, high, q = np.zeros(3), np.array([1.0, 2.0, 2.0]), np.array([2.0, 1.0, 3.0])
        >>> bounds = Intervals(low, high, field.images(low), field.images(high))
        >>> Colours.of(bounds, q, field.images(q), sizes=True, signs=True)
        Colours(given=3, up_to_units=2, up_to_sizes=1, rests=False, lacks_size=False)
        """
        if passes.core is None or q.size > passes.MOST_VERTICES:
            return cls.slowly(bounds, q, words_of(q_exact), sizes=sizes, signs=signs)
        numbers = numbers_of_variables(bounds, q, q_exact)
        return cls(*passes.core.look_at_colours(numbers, q.size, SAMPLE, reading == "decimal", sizes, signs))

    @classmethod
    def slowly(cls, bounds: Intervals, q: Vector, q_image: FieldElements, *, sizes: bool, signs: bool) -> Colours:
        """The same as :meth:`of` in NumPy: the twin of the compiled look."""
        is_free_of_charge = q_image == 0
        rests = bool(is_free_of_charge.any()) and bool(np.any(is_free_of_charge & bounds.admits_zero))
        if q.size > SAMPLE:
            some = np.arange(SAMPLE) * (q.size - 1) // (SAMPLE - 1)
            q, q_image = q[some], q_image[some]
            bounds = bounds.of(some)
        lacks_size = bool(np.any(~bounds.largest()[2]))
        if rests:
            given = passes.count_kinds(q_image, bounds.low_image, bounds.high_image, *(q_image,) * 3)[0]
            return cls(given, given, given, rests, lacks_size)
        own = scales_of_variables(bounds, q, q_image, sizes=sizes, signs=signs)
        counts = passes.count_kinds(q_image, bounds.low_image, bounds.high_image, *own.words)
        return cls(*counts, rests, lacks_size)

    @property
    def may_merge(self) -> bool:
        """Whether classes up to units and signs may be other than the equitable ones, where rows have scales."""
        return self.rests or self.up_to_units < self.given

    @property
    def may_merge_with_masses(self) -> bool:
        """Whether variables may be of one kind and many sizes."""
        return self.rests or self.up_to_sizes < self.up_to_units


def looks_repeated(program: Program, colours: Colours, kinds: FloatKinds | None = None) -> bool:
    """Whether a program seems to have few equitable classes, of rows too: by its colours, then by rounds in floats.

    It decides what is looked for first, and nothing else.

    Parameters
    ----------
    program
        A linear or quadratic program.
    colours
        Those of its variables.
    kinds
        How much floats tell apart up to size and sign, if they were asked: not more than without.

    Examples
    --------
    >>> same, other = Program(q=np.ones(99), A=np.eye(99), l=1), Program(q=np.ones(99), A=np.eye(99), l=np.arange(99.0))
    >>> colours = Colours(1, 1, 1, False)
    >>> looks_repeated(same, colours), looks_repeated(other, colours)
    (True, False)
    """
    A, (m, n) = program.A, program.A.shape
    if colours.given > REPEATED * min(n, SAMPLE):
        return False
    if kinds is not None:
        return kinds.variables <= REPEATED * n and kinds.rows <= REPEATED * m
    of_variables, of_rows = _one_number(program.q, program.lb, program.ub), _one_number(program.l, program.u)
    n_before = 1
    for _ in range(MOST_ROUNDS):
        of_rows = A @ _hashed(of_variables) + of_rows
        if _n_kinds(of_rows) > REPEATED * m:
            return False
        curved = 0.0 if program.P is None else program.P @ _hashed(of_variables)
        of_variables = A.T @ _hashed(of_rows) + of_variables + curved
        n_kinds = _n_kinds(of_variables)
        if n_kinds > REPEATED * n:
            return False
        if n_kinds < max(FEW * n, GROWS * n_before):
            return True
        n_before = n_kinds
    return True


def _keys(values: Vector) -> Indices:
    """Nine digits of numbers; what is not finite has none."""
    largest = float(np.abs(values).max(initial=0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.rint(values * (1e9 / largest if 0 < largest < np.inf else 0.0)).astype(np.int64)


def _hashed(values: Vector) -> Vector:
    """Numbers between 1 and 2 that are equal where others agree to nine digits."""
    return 1.0 + (field.mixed(_keys(values).view(np.uint64)) >> np.uint64(12)).astype(np.float64) * 2.0**-52


def _n_kinds(values: Vector) -> int:
    """About how many there are that do not agree to nine digits."""
    keys, share = _keys(values), max(1, values.size // SAMPLE)  # of equal ones all are counted, or none
    chosen = keys[field.mixed(keys.view(np.uint64)) % np.uint64(share) == 0] if share > 1 else keys
    return passes.numbered(chosen)[1] * share


def _one_number(*columns: Vector) -> Vector:
    """One number for each tuple, equal for equal ones."""
    total = np.zeros(columns[0].size)
    for factor, floats in zip((0.7548776662466927, 0.5698402909980532, 0.3247179572447461), columns, strict=False):
        total += factor * np.where(np.isfinite(floats), floats, factor)
    return total


@final
@dataclass(frozen=True)
class Likeness:
    """What a look at some rows tells about those that stand in different classes.

    Parameters
    ----------
    speaks_for_masses
        Some are of one kind, up to size.
    is_nearly_in_proportion
        Some are of one kind to ten digits, right-hand sides and all.
    """

    speaks_for_masses: bool
    is_nearly_in_proportion: bool

    @classmethod
    def of(
        cls,
        program: Program,
        vectors: VectorImages,
        variables: Indices,
        rows: Indices,
        *,
        only_in_proportion: bool = False,
    ) -> Likeness:
        """Look at a sample of rows.

        Parameters
        ----------
        program
            A linear or quadratic program.
        vectors
            Exact images of its vectors.
        variables, rows
            The class of each variable and row, as found with equal masses.
        only_in_proportion
            Whether nothing is asked but the second; the first is then not to be read.

        Examples
        --------
        >>> def look(q: list[float], ub: list[float]) -> Likeness:
        ...     program = Program(q=q, A=[[1, 1]], l=[1], lb=0, ub=ub)
        ...     return Likeness.of(program, VectorImages.of(program, "decimal"), np.arange(2), np.arange(1))
        >>> look([2, 2], [1, 3]).speaks_for_masses, look([2, 3], [1, 1]).speaks_for_masses
        (True, False)
        >>> size = np.array([0.7, 1.3, 2.9])
        >>> program = Program(q=np.ones(3), A=np.eye(3), l=0.6 * size, lb=0, ub=3.1 * size)
        >>> Likeness.of(program, VectorImages.of(program, "decimal"), np.arange(3), np.arange(3))
        Likeness(speaks_for_masses=True, is_nearly_in_proportion=True)
        """
        if not field.CORE_IS_COMPILED:
            return cls(True, False)
        return cls(*_core.likeness(
            core_arrays(program.A, index_type_of(program.A)), program.A.format == "csr",
            program.n_variables, program.n_rows,
            *vectors.numbers_of(program), variables, rows, only_in_proportion,
            threads_for(program.A.indices.size),
        ))  # fmt: skip
