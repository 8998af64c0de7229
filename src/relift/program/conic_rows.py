r"""Conic constraints, all of them in one stacked form.

.. math:: b - A x \in K_1 \times K_2 \times \dots

The rows of each cone stand together, in the order of its definition (:mod:`relift.program.cones`). Equalities and
inequalities are not cones here: they stay ordinary rows of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relift.arrays import Indices, MatrixLike, SparseMatrix, Vector
from relift.errors import ConeError, ShapeError
from relift.program.arrays import as_matrix, as_vector, freeze_matrix, frozen
from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder, Semidefinite
from relift.program.other_order import by_rows
from relift.program.passes import submatrix
from relift.records import cached_property

KEPT_ROWS = 256
"""Up to so many rows, what cones alone decide is kept for other programs with the same cones."""


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class ConicRows:
    r"""The constraints :math:`b - Ax \in K_1 \times K_2 \times \dots`; arrays are read-only.

    Parameters
    ----------
    A
        Matrix of the rows, k x n; kept as CSR.
    b
        Right-hand sides, length k.
    cones
        The cones, in the order of their rows; together they take k rows.

    Raises
    ------
    ProgramError
        If sizes do not fit together or a number is not finite.

    Examples
    --------
    The point (x0, x1) lies in the unit disc:

    >>> rows = ConicRows([[0, 0], [-1, 0], [0, -1]], [1, 0, 0], [SecondOrder(3)])
    >>> len(rows), rows.n_rows, rows.slack(np.array([0.6, 0.8])).tolist()
    (1, 3, [1.0, 0.6, 0.8])
    >>> ConicRows([[1.0]], [0.0], [Exponential()])
    Traceback (most recent call last):
    relift.errors.ShapeError: the cones take 3 rows, but A of the conic rows has 1. Each row of A is a row of one cone.
    """

    A: SparseMatrix
    b: Vector
    cones: tuple[Cone, ...]

    def __init__(self, A: MatrixLike, b: ArrayLike, cones: Iterable[Cone]) -> None:
        matrix = by_rows(as_matrix("A of the conic rows", A))
        if isinstance(cones, Cone) or not isinstance(cones, Iterable):
            raise ConeError(f"cones is {cones!r}.", "Give a list of cones, such as [SecondOrder(3)].", "cones")
        listed = tuple(cones)
        for k, cone in enumerate(listed):
            if not isinstance(cone, Cone):
                raise ConeError(f"cones[{k}] is {cone!r}.", "Give SecondOrder(3), Exponential() and so on.", "cones")
        wanted = sum(cone.n_rows for cone in listed)
        if wanted != matrix.shape[0]:
            raise ShapeError(
                f"the cones take {wanted} rows, but A of the conic rows has {matrix.shape[0]}.",
                "Each row of A is a row of one cone.",
                "conic",
            )
        self._fill(matrix, as_vector("b of the conic rows", b, wanted, finite=True), listed)

    @classmethod
    def trusted(cls, A: SparseMatrix, b: Vector, cones: Sequence[Cone]) -> ConicRows:
        """Rows from parts known to be right: no check, no copy."""
        rows = object.__new__(cls)
        rows._fill(A, b, tuple(cones))
        return rows

    @classmethod
    @lru_cache(maxsize=32)
    def none(cls, n_variables: int) -> ConicRows:
        """Conic rows of a program without cones; one and the same each time, since it never changes."""
        return cls.trusted(sparse.csr_array((0, n_variables)), np.zeros(0), ())

    def _fill(self, A: SparseMatrix, b: Vector, cones: tuple[Cone, ...]) -> None:
        freeze_matrix(A)
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", frozen(b))
        object.__setattr__(self, "cones", cones)

    def __reduce__(self) -> tuple[object, ...]:
        return ConicRows.trusted, (self.A, self.b, self.cones)

    def __len__(self) -> int:
        return len(self.cones)

    @property
    def n_rows(self) -> int:
        """Rows of all cones together."""
        return int(self.b.size)

    @property
    def n_variables(self) -> int:
        """How many variables the rows have: the columns of A."""
        return int(self.A.shape[1])

    @property
    def n_nonzeros(self) -> int:
        """Stored entries of A."""
        return int(self.A.nnz)

    def slack(self, x: Vector) -> Vector:
        """The point b - Ax that must lie in the cones."""
        return np.asarray(self.b - self.A @ x, dtype=np.float64)

    def on_variables(self, kept: Indices, b: Vector) -> ConicRows:
        """The same rows on the kept variables, with the right-hand sides that are left."""
        if not len(self):
            return ConicRows.none(kept.size)
        return ConicRows.trusted(submatrix(self.A, None, kept), b, self.cones)

    def with_values(self, A: SparseMatrix, b: Vector) -> ConicRows:
        """Rows of the same cones with other numbers, known to be right: where which cones stand is taken over.

        Parameters
        ----------
        A, b
            As many rows as before.

        Examples
        --------
        >>> rows = ConicRows([[1.0], [2.0]], [0.0, 0.0], [SecondOrder(2)])
        >>> other = rows.with_values(rows.A, np.ones(2))
        >>> other == ConicRows([[1.0], [2.0]], [1.0, 1.0], [SecondOrder(2)]), other.layout is rows.layout
        (True, True)
        """
        rows = ConicRows.trusted(A, b, self.cones)
        rows.__dict__.update(sizes=self.sizes, starts=self.starts, cone_of_row=self.cone_of_row, layout=self.layout)
        return rows

    @cached_property
    def sizes(self) -> Indices:
        """How many rows each cone takes."""
        return np.fromiter((cone.n_rows for cone in self.cones), np.int64, len(self.cones))

    @cached_property
    def starts(self) -> Indices:
        """The first row of each cone."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def cone_of_row(self) -> Indices:
        """The cone that each row belongs to."""
        return np.repeat(np.arange(len(self.cones)), self.sizes)

    @cached_property
    def layout(self) -> ConeLayout:
        """Where which cones stand, kind by kind."""
        return _kept_layout(self.cones) if self.n_rows <= KEPT_ROWS else ConeLayout.of(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConicRows) or self.A.shape != other.A.shape or self.cones != other.cones:
            return False
        if not np.array_equal(self.b, other.b):
            return False
        A, B = self.A, other.A
        if A is B or (np.array_equal(A.indptr, B.indptr) and np.array_equal(A.indices, B.indices)):
            return np.array_equal(A.data, B.data)
        return (A != B).nnz == 0

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ConicRows({len(self)} cones, {self.n_rows} rows, {self.n_nonzeros} nonzeros)"


@final
@dataclass(frozen=True, eq=False)
class ConeLayout:
    """The rows of all cones sorted by kind, so that each kind costs a few array operations.

    Parameters
    ----------
    second_order
        The numbers of the second-order cones.
    heads, tails, tail_owner
        Their head rows, their tail rows, and for each tail the position of its cone in ``second_order``.
    exponential
        The numbers of the exponential cones.
    exponential_rows
        Their rows, one line of three each.
    power
        The numbers of the power cones, both kinds.
    arguments, argument_owner, exponents
        Rows of their arguments, the position of the cone of each in ``power``, its exponent (they add up to 1).
    n_arguments
        How many each of them has.
    products
        For each of them the row that the product bounds.
    semidefinite
        The numbers of the semidefinite cones.
    """

    second_order: Indices
    heads: Indices
    tails: Indices
    tail_owner: Indices
    exponential: Indices
    exponential_rows: Indices
    power: Indices
    arguments: Indices
    argument_owner: Indices
    exponents: Vector
    n_arguments: Indices
    products: Indices
    semidefinite: Indices

    @classmethod
    def of(cls, rows: ConicRows) -> ConeLayout:
        """Sort the cones of these rows."""
        kinds: dict[type, list[int]] = {SecondOrder: [], Exponential: [], PowerND: [], Semidefinite: []}
        for k, cone in enumerate(rows.cones):
            kinds[PowerND if type(cone) is Power else type(cone)].append(k)
        second_order, exponential, power, semidefinite = (np.array(found, np.int64) for found in kinds.values())
        starts, sizes = rows.starts, rows.sizes
        tails, tail_owner = _spans(starts[second_order] + 1, sizes[second_order] - 1)
        arguments, argument_owner = _spans(starts[power], sizes[power] - 1)
        exponents = np.array([alpha for k in power.tolist() for alpha in exponents_of(rows.cones[k])], np.float64)
        totals = np.bincount(argument_owner, exponents, power.size)
        return cls(
            second_order, starts[second_order], tails, tail_owner,
            exponential, starts[exponential][:, None] + np.arange(3),
            power, arguments, argument_owner, exponents / totals[argument_owner],
            sizes[power] - 1, starts[power] + sizes[power] - 1, semidefinite,
        )  # fmt: skip


@lru_cache(maxsize=64)
def _kept_layout(cones: tuple[Cone, ...]) -> ConeLayout:
    layout = ConeLayout.of(rows_of_cones(cones))
    for array in vars(layout).values():
        array.flags.writeable = False
    return layout


def rows_of_cones(cones: tuple[Cone, ...]) -> ConicRows:
    """Rows without variables, for what depends on the cones alone."""
    n_rows = sum(cone.n_rows for cone in cones)
    return ConicRows.trusted(sparse.csr_array((n_rows, 0)), np.zeros(n_rows), cones)


def exponents_of(cone: Cone) -> tuple[float, ...]:
    """The exponents of a power cone of either kind."""
    if isinstance(cone, Power):
        return (cone.alpha, 1.0 - cone.alpha)
    assert isinstance(cone, PowerND)
    return cone.alphas


def diagonal_of(n: int) -> Indices:
    """The rows of a semidefinite cone that hold the diagonal.

    Examples
    --------
    >>> diagonal_of(3).tolist()
    [0, 2, 5]
    """
    return np.cumsum(np.arange(1, n + 1)) - 1


def _spans(first: Indices, lengths: Indices) -> tuple[Indices, Indices]:
    """All rows first[k] .. first[k] + lengths[k] - 1, and k for each."""
    owner = np.repeat(np.arange(first.size), lengths)
    offset = np.arange(owner.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return first[owner] + offset, owner
