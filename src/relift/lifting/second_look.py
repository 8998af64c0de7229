r"""A cheap second look after an exact lifting, whether classes would be much fewer if rounding did not count.

Data that passed through a computation often has numbers that are meant to be equal and differ in the last bits. Whether
there are any is found by comparing bits, without those of the last digits, for a part of the numbers; only if so the
classes are looked for again, with numbers that agree to :data:`DIGITS` digits made equal. The same where rows that are
in proportion to ten digits stand apart, if rounding can be the reason: not where all numbers have few digits. One of at
most nine was either meant as it stands, and is read so, or has been rounded by much more than 10^-11, so that
``digits`` would not undo it; sums and ratios of exact numbers that agree to eleven digits are equal, unless by chance.

Nothing is changed by a second look: the answer is that of the exact classes, and a note says which option to type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Indices, Vector
from relift.program.passes import count_near, has_longer
from relift.program.program import Program

DIGITS = 11
"""Numbers closer than 10^-DIGITS, relatively, are made equal for the second look."""

DIGITS_WRITTEN = 12
"""Many tools write so many digits into a file: ratios of two such numbers agree to two digits less."""

MUCH_SMALLER = 0.8
"""A small program is told of if it has at most this part of the variables and rows."""

LITTLE = 0.1
"""Where exact classes leave at most this part of variables and rows, there is no second look."""

FEW_DIGITS = 9
"""Numbers of no more significant digits were not rounded, or by much more than the second look makes equal."""

_FEWEST = 0.01
"""The share of the numbers of an array that must be nearly equal to others."""

_LAST_BITS = 16
"""Bits of a float that differences of 10^-11 are made of."""

_SAMPLE, _SLICE = 65_536, 4096
"""Of so many numbers of an array, at most, those with about so many different values are compared."""


@final
@dataclass(frozen=True)
class RoundingHint:
    """What ``digits`` would find.

    Parameters
    ----------
    digits
        The option to type.
    variables, rows
        How large the small program would be.
    """

    digits: int
    variables: int
    rows: int

    def __str__(self) -> str:
        return (
            f"numbers that differ only by rounding keep variables apart: digits={self.digits} (--digits {self.digits}) "
            f"would leave {_counted(self.variables, 'variable')} and {_counted(self.rows, 'row')}."
        )


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def has_nearly_equal_numbers(program: Program) -> bool:
    """Whether numbers of one array differ in their last bits only; in large arrays some of them are looked at.

    Parameters
    ----------
    program
        Any program.

    Examples
    --------
    >>> has_nearly_equal_numbers(Program(q=[0.3, 0.1 + 0.2], lb=0)), has_nearly_equal_numbers(Program(q=[0.3, 0.4]))
    (True, False)
    """
    matrices = (program.A, program.P, program.conic.A)
    arrays = [matrix.data for matrix in matrices if matrix is not None]
    vectors = ((program.q,), (program.l, program.u), (program.lb, program.ub), (program.conic.b,))
    return any(_has_near_misses(*parts) for parts in (*((values,) for values in arrays), *vectors))


def may_be_rounded(program: Program) -> bool:
    """Whether some number of a program without cones and quadratic constraints has more than :data:`FEW_DIGITS`.

    Parameters
    ----------
    program
        The original program: presolve may round what it computes, but knows it exactly.

    Examples
    --------
    >>> may_be_rounded(Program(q=[0.3, 1.25], lb=0)), may_be_rounded(Program(q=[0.3 / 0.7, 1.25], lb=0))
    (False, True)
    """
    return has_more_digits(program, FEW_DIGITS)


def has_more_digits(program: Program, digits: int) -> bool:
    """Whether some number, outside cones and quadratic constraints, has more than so many significant digits.

    Examples
    --------
    >>> program = Program(q=[1.23456789012], lb=0)
    >>> has_more_digits(program, 11), has_more_digits(program, 12)
    (True, False)
    """
    matrices = [matrix.data for matrix in (program.A, program.P) if matrix is not None]
    vectors = (program.q, program.l, program.u, program.lb, program.ub)
    return any(has_longer(values, digits) for values in (*vectors, *matrices))


def _has_near_misses(*parts: Vector) -> bool:
    size = sum(part.size for part in parts)
    if size < 2:
        return False
    if size > _SAMPLE:  # at random: what is nearly equal may lie at regular distances
        values = _at(parts, np.random.default_rng(0).integers(size, size=_SAMPLE))
    else:
        values = parts[0] if len(parts) == 1 else np.concatenate(parts)
    n_slices = values.size // _SLICE if values.size > 2 * _SLICE else 1
    # Numbers on the two sides of an edge are not compared: one pair that is found is enough.
    n_numbers, n_keys = count_near(values, _LAST_BITS, n_slices)
    return n_numbers > (1.0 + _FEWEST) * n_keys


def _at(parts: tuple[Vector, ...], places: Indices) -> Vector:
    """Numbers at some places of vectors that follow each other, without a copy of them all."""
    values, first = np.zeros(0), 0
    for part in parts:
        if part.size:
            here = part.take(places - first, mode="clip")
            values = here if first == 0 else np.where(places < first, values, here)
            first += part.size
    return values
