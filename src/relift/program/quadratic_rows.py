r"""Convex quadratic constraints, all of them in one stacked form.

.. math:: f_k(x) = \tfrac12 x^\top P_k x + q_k^\top x \le r_k, \qquad k = 1, \dots, K

The entries of all :math:`P_k` stand in one list of (k, i, j, value), so that thousands of small constraints cost a few
array operations and no Python loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relift.arrays import Double, Indices, Integers, MatrixLike, SparseLike, SparseMatrix, Vector, is_sparse
from relift.errors import AsymmetricError, NonConvexError, NotANumberError, ShapeError
from relift.program.arrays import as_floats, as_matrix, as_vector, kept
from relift.program.convexity import direction_of_negative_curvature
from relift.program.magnitudes import transposed_product
from relift.program.passes import is_symmetric
from relift.program.quadratic_passes import sums_of_constraints, sums_of_variables
from relift.program.quadratic_passes_reference import Constraints, Entries
from relift.program.sparse_structure import checked_sparse, csr_of_rows, index_type, no_rows, unchecked
from relift.records import cached_property

FEW_PLACES = 10_000
"""Up to so many variables of all constraints together, those that occur are marked rather than sorted."""

WANTED = "Give a list of triples (P, q, r), one for each constraint ½x'Px + q'x <= r; P or q may be None."
"""What is wanted where quadratic constraints are no triples."""

QuadraticConstraint: TypeAlias = tuple[MatrixLike | None, ArrayLike | SparseLike | None, float]
"""P, q and r of one constraint as users give it; None stands for zeros."""


@final
@dataclass(frozen=True, eq=False)
class QuadraticRows:
    """The constraints ½x'P_kx + q_k'x <= r_k; every P_k symmetric and positive semidefinite.

    Parameters
    ----------
    owner, first, second, values
        Entry ``values[e]`` stands in P of constraint ``owner[e]``, at row ``first[e]`` and column ``second[e]``; both
        triangles are listed.
    q
        CSR array, one row for each constraint.
    r
        The right-hand sides.

    Arrays of the caller are copied, unless they are read-only and own their data, and are read-only here.

    Raises
    ------
    ProgramError
        If the arrays do not fit together, or an entry lies outside. Whether all numbers are finite and each P_k is
        symmetric and positive semidefinite is asked by :meth:`check`, which a program made of them calls.

    Examples
    --------
    >>> rows = QuadraticRows.from_matrices([(2 * np.eye(2), None, 1.0)], 2)      # x0² + x1² <= 1
    >>> rows.values_at(np.array([0.6, 0.8])).round(12).tolist(), len(rows)
    ([1.0], 1)
    """

    owner: Indices
    first: Indices
    second: Indices
    values: Vector
    q: SparseMatrix
    r: Vector

    _has_passed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        r = as_vector("r of the quadratic constraints", self.r, np.size(self.r))
        q = as_matrix("q of the quadratic constraints", self.q).tocsr()
        values = as_vector("values of the quadratic constraints", self.values, np.size(self.values))
        if q.shape[0] != r.size:
            raise ShapeError(f"q has {q.shape[0]} rows for {r.size} quadratic constraints.", "", "quadratic")
        for part in ("data", "indices", "indptr"):
            setattr(q, part, kept(getattr(q, part), is_ours=True))
        checked = {"values": values, "q": q, "r": r}
        for name, size in (("owner", r.size), ("first", q.shape[1]), ("second", q.shape[1])):
            checked[name] = _places(name, getattr(self, name), values.size, size)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor: a restored array could be written.
        return QuadraticRows, (self.owner, self.first, self.second, self.values, self.q, self.r)

    @classmethod
    @lru_cache(maxsize=32)
    def none(cls, n_variables: int) -> QuadraticRows:
        """No constraint at all; one and the same each time, since most programs have none and it never changes."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, nothing, np.zeros(0), sparse.csr_array((0, n_variables)), np.zeros(0))

    @classmethod
    def from_matrices(
        cls, constraints: Sequence[QuadraticConstraint], n_variables: int, *, assume_convex: bool = False
    ) -> QuadraticRows:
        """Stack triples (P_k, q_k, r_k); P_k or q_k may be None.

        Parameters
        ----------
        constraints
            The triples.
        n_variables
            Size of each P_k.
        assume_convex
            Skip the check that each P_k is positive semidefinite.

        Raises
        ------
        ProgramError
            If a constraint has another size, a number that is not finite, or a P that is not symmetric or not positive
            semidefinite; the message names it.
        """
        owners, firsts, seconds, values, linear, right = [], [], [], [], [], []
        for k, given in enumerate(_listed(constraints)):
            name = f"quadratic[{k}]"
            P, q, right_side = _triple(name, given)
            matrix = no_rows(n_variables, n_variables) if P is None else as_matrix(f"P of {name}", P)
            if matrix.shape != (n_variables, n_variables):
                shape = " x ".join(map(str, matrix.shape))
                raise ShapeError(f"P of {name} is {shape}.", f"It must be {n_variables} x {n_variables}.", name)
            row = np.zeros((1, n_variables)) if q is None else np.atleast_2d(_dense(name, q))
            if row.ndim != 2 or row.shape != (1, n_variables):
                raise ShapeError(f"q of {name} has {row.shape[1]} entries, but {n_variables} are needed.", "", name)
            if not (np.isfinite(matrix.data).all() and np.isfinite(row).all() and np.isfinite(right_side)):
                raise _not_finite(name)
            major = np.arange(n_variables).repeat(np.diff(matrix.indptr))
            owners.append(np.full(major.size, k))
            firsts.append(major if matrix.format == "csr" else matrix.indices)
            seconds.append(matrix.indices if matrix.format == "csr" else major)
            values.append(matrix.data)
            linear.append(row)
            right.append(right_side)
        if not owners:
            return cls.none(n_variables)
        owner, first, second = (np.concatenate(each).astype(np.int64, copy=False) for each in (owners, firsts, seconds))
        q = csr_of_rows(linear, n_variables)
        rows = cls(owner, first, second, np.concatenate(values), q, np.array(right))
        rows.check(assume_convex=assume_convex)
        return rows

    def check(self, *, assume_convex: bool = False) -> None:
        """Refuse what is not finite, and a P_k that is not symmetric or, unless told otherwise, not semidefinite.

        What has passed is not looked at again.
        """
        if not self._has_passed:
            self._check(assume_convex=assume_convex)
            self.known_to_be_right()

    def known_to_be_right(self) -> QuadraticRows:
        """The same rows, of which :meth:`check` asks nothing more: made of others that passed it."""
        object.__setattr__(self, "_has_passed", True)
        return self

    def _check(self, *, assume_convex: bool) -> None:
        for owner, numbers in ((self.owner, self.values), (np.arange(len(self)), self.r)):
            if not np.isfinite(numbers).all():
                raise _not_finite(f"quadratic[{owner[np.argmin(np.isfinite(numbers))]}]")
        blocks, owner_of, variable_of = self._blocks
        difference = None if is_symmetric(blocks) else abs(blocks - blocks.T).tocoo()
        if difference is not None and difference.nnz and difference.data.max() > 0:
            worst = int(np.argmax(difference.data))
            i, j = (int(c[worst]) for c in difference.coords)
            name = f"quadratic[{owner_of[i]}]"
            raise AsymmetricError(
                f"P of {name} is not symmetric at ({variable_of[i]}, {variable_of[j]}).", "Pass (P + P.T) / 2.", name
            )
        direction = None if assume_convex else direction_of_negative_curvature(blocks)
        if direction is not None:
            indices, _ = direction
            name = f"quadratic[{owner_of[indices[0]]}]"
            shown = ", ".join(f"x[{variable_of[i]}]" for i in indices[:4])
            raise NonConvexError(
                f"P of {name} is not positive semidefinite: its curvature is negative along {shown}.",
                "A constraint f(x) <= r needs a convex f.",
                name,
            )

    @cached_property
    def _blocks(self) -> tuple[SparseMatrix, Indices, Indices]:
        """All P_k on one diagonal, each on the variables it touches, and what each row of that matrix stands for."""
        size = int(self.q.shape[1])
        of_rows, of_columns = self.owner * size + self.first, self.owner * size + self.second
        if len(self) * size <= FEW_PLACES:
            is_there = np.zeros(len(self) * size, bool)
            is_there[of_rows] = is_there[of_columns] = True
            keys, numbers = np.flatnonzero(is_there), is_there.cumsum() - 1
            i, j = numbers[of_rows], numbers[of_columns]
        else:
            keys = np.unique(np.concatenate([of_rows, of_columns]))
            i, j = np.searchsorted(keys, of_rows), np.searchsorted(keys, of_columns)
        return _by_columns(self.values, i, j, keys.size), keys // max(size, 1), keys % max(size, 1)

    def __len__(self) -> int:
        return int(self.r.size)

    @property
    def n_nonzeros(self) -> int:
        """Stored entries of all P_k and q_k."""
        return int(self.values.size + self.q.nnz)

    @cached_property
    def variables(self) -> Indices:
        """The variables that occur in some constraint."""
        return np.unique(np.concatenate([self.first, self.second, self.q.indices])).astype(np.int64)

    @property
    def entries(self) -> Entries:
        """Owners, rows, columns and values of all entries."""
        return self.owner, self.first, self.second, self.values

    @property
    def parts(self) -> Constraints:
        """All numbers, as single passes take them."""
        return self.entries, self.q, self.r

    def values_at(self, x: Vector) -> Vector:
        """The values of all constraint functions at a point."""
        return np.asarray(0.5 * sums_of_constraints(self.entries, x, len(self)) + self.q @ x)

    def gradient(self, x: Vector, z: Vector) -> Vector:
        """The sum over k of z_k (P_k x + q_k)."""
        return sums_of_variables(self.entries, x, z)[0] + transposed_product(self.q, z)

    def bend(self, d: Vector) -> float:
        """The largest entry of any P_k d: zero for a direction along which no constraint curves."""
        blocks, _, variable_of = self._blocks
        return float(np.abs(blocks @ d[variable_of]).max(initial=0.0))

    def hessian(self, z: Vector) -> SparseMatrix:
        """The sum over k of z_k P_k, as CSC."""
        size = int(self.q.shape[1])
        entries = z[self.owner] * self.values
        summed: SparseMatrix = sparse.coo_array((entries, (self.first, self.second)), shape=(size, size)).tocsc()
        return summed

    def stacked_matrices(self) -> SparseMatrix:
        """All rows of all P_k below each other, as CSR; a direction d is flat if this times d vanishes."""
        blocks, _, variable_of = self._blocks
        entries = blocks.tocoo()
        shape = (blocks.shape[0], self.q.shape[1])
        stacked: SparseMatrix = sparse.coo_array(
            (entries.data, (entries.coords[0], variable_of[entries.coords[1]])), shape=shape
        ).tocsr()
        return stacked

    def matrix(self, k: int) -> SparseMatrix:
        """P_k alone, as CSC."""
        size = int(self.q.shape[1])
        mine = self.owner == k
        entries = self.values[mine], (self.first[mine], self.second[mine])
        matrix: SparseMatrix = sparse.coo_array(entries, shape=(size, size)).tocsc()
        return matrix

    def on_variables(self, kept: Indices) -> QuadraticRows:
        """The same constraints on the kept variables, which must include all that occur."""
        if kept.size == self.q.shape[1]:
            return self
        if not len(self):
            return QuadraticRows.none(kept.size)
        position = np.full(self.q.shape[1], -1, np.int64)
        position[kept] = np.arange(kept.size)
        return QuadraticRows(
            self.owner, position[self.first], position[self.second], self.values, self.q[:, kept].tocsr(), self.r
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QuadraticRows) or self.q.shape != other.q.shape:
            return False
        if self is other or not len(self):
            return True
        if not np.array_equal(self.r, other.r) or (self.q != other.q).nnz:
            return False
        here, there = self._blocks, other._blocks
        same_support = np.array_equal(here[1], there[1]) and np.array_equal(here[2], there[2])
        return same_support and (here[0] != there[0]).nnz == 0

    __hash__ = None  # type: ignore[assignment]


def _by_columns(values: Vector, i: Indices, j: Indices, size: int) -> SparseMatrix:
    """A square matrix of entries, those in one place added; they often come in its order."""
    places = j * size + i
    if not (places[1:] > places[:-1]).all():
        summed: SparseMatrix = sparse.coo_array((values, (i, j)), shape=(size, size)).tocsc()
        return summed
    kind = index_type(values.size, (size, size))
    offsets: Integers = np.zeros(size + 1, kind)
    np.cumsum(np.bincount(j, minlength=size), out=offsets[1:])
    return unchecked(sparse.csc_array, values, i.astype(kind), offsets, (size, size), is_canonical=True)


def _listed(constraints: object) -> list[object]:
    if isinstance(constraints, (str, bytes)) or not isinstance(constraints, Iterable):
        raise ShapeError(f"quadratic is a {type(constraints).__name__}.", WANTED, "quadratic")
    return list(constraints)


def _triple(name: str, given: object) -> tuple[MatrixLike | None, ArrayLike | SparseLike | None, float]:
    """P, q and r of one constraint; what is no triple is told, and r is one number."""
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)) or len(given) != 3:
        has = f"has {len(given)} parts" if isinstance(given, (tuple, list)) else f"is a {type(given).__name__}"
        raise ShapeError(f"{name} {has}.", WANTED, name)
    P, q, r = given
    right = as_floats(f"r of {name}", r)
    if right.size != 1:
        raise ShapeError(f"r of {name} has {right.size} entries.", "The right-hand side is one number.", name)
    return P, q, float(right.item())


def _not_finite(name: str) -> NotANumberError:
    return NotANumberError(f"{name} has an entry that is not a finite number.", "Remove or correct it.", name)


def _dense(name: str, q: ArrayLike | SparseLike) -> Double:
    return checked_sparse(f"q of {name}", q).toarray() if is_sparse(q) else as_floats(f"q of {name}", q)


def _places(name: str, given: object, n_entries: int, size: int) -> Indices:
    array = np.asarray(given)
    if array.shape != (n_entries,) or (array.dtype.kind not in "iu" and array.size):
        raise ShapeError(f"{name} of the quadratic constraints is not a list of {n_entries} indices.", "", "quadratic")
    if array.size and (array.min() < 0 or array.max() >= size):
        found = int(array[(array < 0) | (array >= size)][0])
        raise ShapeError(f"{name} of the quadratic constraints has the index {found} of {size}.", "", "quadratic")
    places: Indices = array.astype(np.int64, copy=False)
    return kept(places, is_ours=places is not given)
