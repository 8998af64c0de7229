"""What presolve has cut out of the matrices of one program, for the next program with the same ones.

Other bounds or right-hand sides mostly fix the same variables and drop the same rows. Then the same parts of the
matrices are wanted, and are taken over instead of being cut again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, final

import numpy as np

from relift.arrays import Indices, SparseMatrix

Part = TypeVar("Part")
"""What is made of a matrix."""


@final
@dataclass(frozen=True, eq=False)
class Cut(Generic[Part]):
    """A part of a matrix: which rows and columns it was made of, None for all."""

    matrix: SparseMatrix
    rows: Indices | None
    columns: Indices | None
    part: Part

    def is_of(self, matrix: SparseMatrix, rows: Indices | None, columns: Indices | None) -> bool:
        """Whether it is what would be made of these; a matrix is compared as an object, since it never changes."""
        return self.matrix is matrix and _is_same(self.rows, rows) and _is_same(self.columns, columns)


@final
class Cuts:
    """Parts by name.

    Parameters
    ----------
    earlier
        Those of an earlier program, if there was one.

    Examples
    --------
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
        rows: Indices | None,
        columns: Indices | None,
        make: Callable[[], Part],
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
        """
        old = self._old.get(name)
        found = old if old is not None and old.is_of(matrix, rows, columns) else None
        if found is None:
            found = Cut(matrix, rows, columns, make())
        self._new[name] = found
        return found.part  # type: ignore[return-value]

    def close(self) -> None:
        """Let go of the earlier program."""
        self._old = {}


def _is_same(one: Indices | None, other: Indices | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or np.array_equal(one, other)
