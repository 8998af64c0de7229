"""What presolve has cut out of the matrices and vectors of one program, for the next program with the same ones.

Other bounds or right-hand sides mostly fix the same variables at the same values and drop the same rows. Then the same
parts are wanted, and are taken over instead of being made again. No part is ever changed after it was made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import is_
from typing import Generic, TypeVar, final

from relift.arrays import Array, SparseMatrix
from relift.records import quick

Part = TypeVar("Part")
"""What is made of a matrix."""


@final
@quick
@dataclass(frozen=True, eq=False)
class Cut(Generic[Part]):
    """A part of a matrix: which rows and columns it was made of, or flags that tell, None for all, and of what else."""

    matrix: SparseMatrix
    rows: Array | None
    columns: Array | None
    part: Part
    objects: tuple[object, ...] = ()
    numbers: tuple[Array, ...] = ()

    def is_of(
        self,
        matrix: SparseMatrix,
        rows: Array | None,
        columns: Array | None,
        objects: tuple[object, ...],
        numbers: tuple[Array, ...],
    ) -> bool:
        """Whether it is made of the same; matrices and objects are compared as such, since they never change."""
        if self.matrix is not matrix or len(self.objects) != len(objects):
            return False
        if not all(map(is_, self.objects, objects)):
            return False
        if not (_is_same(self.rows, rows) and _is_same(self.columns, columns)):
            return False
        return all(map(_is_same, self.numbers, numbers))


@final
class Cuts:
    """Parts by name.

    Parameters
    ----------
    earlier
        Those of an earlier program, if there was one.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> matrix, first = sparse.csc_array([[1.0, 2.0]]), Cuts()
    >>> one = first.made("A", matrix, None, np.array([1]), lambda: matrix[:, [1]])
    >>> again = Cuts(first)
    >>> again.made("A", matrix, None, np.array([1]), lambda: matrix[:, [1]]) is one
    True
    >>> again.made("A", matrix, None, np.array([0]), lambda: matrix[:, [0]]) is one
    False
    """

    def __init__(self, earlier: Cuts | None = None) -> None:
        self._old: dict[str, Cut[object]] = {} if earlier is None else earlier._new
        self._new: dict[str, Cut[object]] = {}

    def made(
        self,
        name: str,
        matrix: SparseMatrix,
        rows: Array | None,
        columns: Array | None,
        make: Callable[[], Part],
        objects: tuple[object, ...] = (),
        numbers: tuple[Array, ...] = (),
    ) -> Part:
        """The part of the earlier program if it is the same, else a new one.

        Parameters
        ----------
        name
            What it is for; parts of other names are never mistaken for it.
        matrix, rows, columns
            What it is made of.
        make
            Makes it.
        objects
            What else it is made of, and never changes: it must be the very same.
        numbers
            What else it is made of: it must be equal.
        """
        old = self._old.get(name)
        if old is not None and old.is_of(matrix, rows, columns, objects, numbers):
            self._new[name] = old
            return old.part  # type: ignore[return-value]
        part = make()
        self._new[name] = Cut(matrix, rows, columns, part, objects, numbers)
        return part

    def close(self) -> None:
        """Let go of the earlier program."""
        self._old = {}


def _is_same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or (one.shape == other.shape and bool((one == other).all()))
