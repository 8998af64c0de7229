"""Classes that were found for one problem serve the next solve of it, where its new numbers allow.

A parametrised problem is compiled into arrays of the same shape each time. The old classes are *verified* on the new
numbers (a pass over the nonzeros, no refinement) and kept if they hold and no more numbers are equal than before:
fewer distinct values may mean larger classes, and then they are looked for anew. Verified classes are right; they need
not be the coarsest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Vector
from relift.lifting.lifting import Lifting, lift
from relift.program.program import Program
from relift.settings import LiftSettings


@final
@dataclass(frozen=True, eq=False)
class Kept:
    """A lifting, and how many distinct numbers its program had when the classes were found.

    Parameters
    ----------
    lifting
        The lifting.
    n_distinct
        Distinct numbers in each array, in the order of :func:`distinct_values`.
    """

    lifting: Lifting
    n_distinct: tuple[int, ...]


def lift_or_reuse(program: Program, settings: LiftSettings, kept: Kept | None) -> tuple[Kept, str]:
    """The lifting of a program, with the classes kept from before where they hold; and a word on how it was made.

    Parameters
    ----------
    program
        The problem with its numbers of today.
    settings
        How to look for classes.
    kept
        What the last solve found, or None.

    Returns
    -------
    tuple
        The lifting to keep, and ``"found"``, ``"kept"`` (verified on new numbers) or ``"same"`` (nothing has changed).

    Examples
    --------
    >>> first, how = lift_or_reuse(Program(q=[1, 1], A=[[1, 1]], l=[2], lb=0), LiftSettings(), None)
    >>> second, how = lift_or_reuse(Program(q=[3, 3], A=[[2, 2]], l=[5], lb=0), LiftSettings(), first)
    >>> how, second.lifting.small.n_variables
    ('kept', 1)
    >>> third, how = lift_or_reuse(Program(q=[3, 4], A=[[2, 2]], l=[5], lb=0), LiftSettings(), second)
    >>> how, third.lifting.small.n_variables
    ('found', 2)
    """
    if kept is not None and kept.lifting.settings == settings and _same_shape(program, kept.lifting.program):
        if program == kept.lifting.program:
            kept.lifting.solvers.is_wanted = True
            return kept, "same"
        if _has_no_more_equal_numbers(program, kept):
            again = kept.lifting.with_values_of(program)
            if again is not None:
                return Kept(again, kept.n_distinct), "kept"
    return Kept(lift(program, settings), distinct_values(program)), "found"


def _has_no_more_equal_numbers(program: Program, kept: Kept) -> bool:
    """Whether each array has as many distinct numbers as when the classes were found; those of last time have."""
    old = _arrays(kept.lifting.program)
    return all(
        _are_same(arrays, before) or _count(*arrays) >= n_distinct
        for arrays, before, n_distinct in zip(_arrays(program), old, kept.n_distinct, strict=True)
    )


def _are_same(arrays: tuple[Vector, ...], before: tuple[Vector, ...]) -> bool:
    return all(one is other or np.array_equal(one, other) for one, other in zip(arrays, before, strict=True))


def distinct_values(program: Program) -> tuple[int, ...]:
    """How many distinct numbers each array of a program holds."""
    return tuple(_count(*arrays) for arrays in _arrays(program))


def _count(*arrays: Vector) -> int:
    in_order = np.sort(np.concatenate(arrays) if len(arrays) > 1 else arrays[0])
    return int(np.count_nonzero(in_order[1:] != in_order[:-1])) + (in_order.size > 0)


def _arrays(program: Program) -> list[tuple[Vector, ...]]:
    """The numbers of a program; those of one tuple are counted together."""
    P = np.zeros(0) if program.P is None else program.P.data
    curved, conic = program.quadratic, program.conic
    return [
        (program.q,), (program.A.data,), (program.l, program.u), (program.lb,), (program.ub,), (P,),
        (curved.values,), (curved.q.data,), (curved.r,), (conic.A.data,), (conic.b,),
    ]  # fmt: skip


def _same_shape(program: Program, other: Program) -> bool:
    sizes = (program.n_variables, program.n_rows, len(program.quadratic))
    same_sizes = sizes == (other.n_variables, other.n_rows, len(other.quadratic))
    return same_sizes and program.conic.cones == other.conic.cones
