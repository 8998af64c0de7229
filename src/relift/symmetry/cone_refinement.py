r"""Cones in the search for classes: each cone is a vertex of its own, joined to its rows.

Rows :math:`b - Cx \in K` may be averaged over classes only if the average leads from the cones into the cones. That is
so if

1. rows of a class have equal :math:`b_i` and equal sums of C into each class of variables, and the other way round, as
   for ordinary rows;
2. rows of a class stand in cones of one class and in one *position*: heads of second-order cones, their tails, each of
   the three rows of an exponential cone, arguments of power cones with one exponent, their last rows, each row of a
   semidefinite cone (unless its entries are merged, :mod:`relift.symmetry.semidefinite_classes`);
3. all cones of a class have equally many rows of each class.

Leaving the third out gives wrong optima: rows that look equal may be in cones that differ. The refinement of
:mod:`relift.symmetry.colour_refinement` yields all three when it is given the matrix

.. math:: \begin{pmatrix} A & 0 \\ C & E \end{pmatrix}, \qquad E_{ik} = 1 \text{ if row i stands in cone k},

a column for each cone, coloured by kind, and conic rows coloured by position. Scaling of rows does no harm: a row
divided by T has 1/T in E, so rows of one class have been divided by the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import FieldElements, SparseMatrix
from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder, Semidefinite
from relift.program.conic_passes import stacked as stacked_rows
from relift.program.conic_rows import KEPT_ROWS, ConicRows, rows_of_cones
from relift.program.other_order import by_columns
from relift.program.program import Program
from relift.program.sparse_structure import unchecked
from relift.records import quick
from relift.settings import Reading
from relift.symmetry import finite_field as field

KINDS: dict[type, int] = {SecondOrder: 1, Exponential: 2, Power: 3, PowerND: 3, Semidefinite: 4}
"""Power cones of both forms are one kind: they are the same sets."""

PRODUCT = 5
"""The kind of the last row of a power cone; its arguments have the number of the cone's kind."""


@final
@quick
@dataclass(frozen=True, eq=False)
class StackedCones:
    """A program with a column for each cone and a row for each conic row, and the words that part them.

    Parameters
    ----------
    program
        The program with these columns and rows, and no cones.
    n_variables, n_rows
        Of the program itself.
    kind_of_column
        0 for variables, the kind for cones.
    kind_of_row, position_of_row
        0 for ordinary rows.
    """

    program: Program
    n_variables: int
    n_rows: int
    kind_of_column: FieldElements
    kind_of_row: FieldElements
    position_of_row: FieldElements

    @classmethod
    def of(cls, program: Program, reading: Reading, like: StackedCones | None = None) -> StackedCones:
        """Stack the cones of a program; its matrices are those that were stacked before, if these are given."""
        rows = program.conic
        n, m = program.n_variables, program.n_rows
        if like is not None:
            P, A = like.program.P, like.program.A
        else:
            P = None if program.P is None else _widened(program.P, n + len(rows))
            A = stacked_rows(program.A, rows)
        nothing, free = np.zeros(len(rows)), np.full(len(rows), np.inf)
        stacked = Program.trusted(
            P, np.concatenate([program.q, nothing]), A,
            np.concatenate([program.l, rows.b]), np.concatenate([program.u, rows.b]),
            np.concatenate([program.lb, -free]), np.concatenate([program.ub, free]),
        )  # fmt: skip
        kinds = (
            _kept_kinds(rows.cones, reading, n, m) if n + m + rows.n_rows <= KEPT_ROWS else _kinds(rows, reading, n, m)
        )
        return cls(stacked, n, m, *kinds)

    def words_of_columns(
        self, of_variables: Sequence[FieldElements], of_cones: Sequence[FieldElements] = ()
    ) -> list[FieldElements]:
        """FieldElements of variables, zero for cones; then the kinds; then words of cones, zero for variables."""
        n_cones = self.kind_of_column.size - self.n_variables
        return [
            *(np.concatenate([words, np.zeros(n_cones, np.uint64)]) for words in of_variables),
            self.kind_of_column,
            *(np.concatenate([np.zeros(self.n_variables, np.uint64), words]) for words in of_cones),
        ]

    def words_of_rows(
        self, of_rows: Sequence[FieldElements], of_conic_rows: Sequence[FieldElements] = ()
    ) -> list[FieldElements]:
        """FieldElements of ordinary rows, zero for conic ones; then kinds and positions; then words of conic rows."""
        n_conic = self.kind_of_row.size - self.n_rows
        return [
            *(np.concatenate([words, np.zeros(n_conic, np.uint64)]) for words in of_rows),
            self.kind_of_row,
            self.position_of_row,
            *(np.concatenate([np.zeros(self.n_rows, np.uint64), words]) for words in of_conic_rows),
        ]


Kinds: TypeAlias = tuple[FieldElements, FieldElements, FieldElements]
"""The kinds of columns and of rows, and the positions of rows, of a program with stacked cones."""


def _kinds(rows: ConicRows, reading: Reading, n: int, m: int) -> Kinds:
    kind, position = positions(rows, reading)
    of_cone = np.array([KINDS[type(cone)] for cone in rows.cones], np.uint64)
    of_rows = np.zeros(m, np.uint64)
    return (
        np.concatenate([np.zeros(n, np.uint64), of_cone]),
        np.concatenate([of_rows, kind]),
        np.concatenate([of_rows, position]),
    )


@lru_cache(maxsize=64)
def _kept_kinds(cones: tuple[Cone, ...], reading: Reading, n: int, m: int) -> Kinds:
    kinds = _kinds(rows_of_cones(cones), reading, n, m)
    for array in kinds:
        array.flags.writeable = False
    return kinds


def positions(rows: ConicRows, reading: Reading) -> tuple[FieldElements, FieldElements]:
    """The kind and the position of each conic row: only rows equal in both may be merged.

    Examples
    --------
    >>> rows = ConicRows(np.zeros((7, 1)), np.zeros(7), [SecondOrder(3), PowerND([0.25, 0.25, 0.5])])
    >>> kind, position = positions(rows, "decimal")
    >>> kind.tolist(), position[1] == position[2], position[3] == position[4], position[4] == position[5]
    ([1, 1, 1, 3, 3, 3, 5], np.True_, np.True_, np.False_)
    """
    kind, position = np.zeros(rows.n_rows, np.uint64), np.zeros(rows.n_rows, np.uint64)
    layout = rows.layout
    kind[layout.heads] = kind[layout.tails] = KINDS[SecondOrder]
    position[layout.tails] = 1
    if layout.exponential.size:
        kind[layout.exponential_rows] = KINDS[Exponential]
        position[layout.exponential_rows] = np.arange(3, dtype=np.uint64)
    if layout.power.size:
        kind[layout.arguments] = KINDS[PowerND]
        kind[layout.products] = PRODUCT
        position[layout.arguments] = exponent_images(rows, reading)
    for k in layout.semidefinite.tolist():
        span = slice(rows.starts[k], rows.starts[k] + rows.sizes[k])
        kind[span] = KINDS[Semidefinite]
        position[span] = np.arange(rows.sizes[k], dtype=np.uint64)
    return kind, position


def exponent_images(rows: ConicRows, reading: Reading) -> FieldElements:
    """The exponents of all arguments of power cones, exactly: 1 - .9 is .1."""
    given: list[float] = []
    is_rest: list[bool] = []
    for k in rows.layout.power.tolist():
        cone = rows.cones[k]
        if isinstance(cone, Power):
            given += [cone.alpha, cone.alpha]
            is_rest += [False, True]
        elif isinstance(cone, PowerND):
            given += cone.alphas
            is_rest += [False] * len(cone.alphas)
    words = field.images(np.array(given, np.float64), reading)
    rest: NDArray[np.uint64] = field.subtract(np.ones(words.size, np.uint64), words)
    return np.where(np.array(is_rest, bool), rest, words)


def _widened(P: SparseMatrix, size: int) -> SparseMatrix:
    """The same entries in a larger square matrix."""
    columns = by_columns(P)
    offsets = np.concatenate([columns.indptr, np.full(size - P.shape[1], columns.indptr[-1], columns.indptr.dtype)])
    return unchecked(sparse.csc_array, columns.data, columns.indices, offsets, (size, size))
