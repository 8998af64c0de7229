"""Conic rows as constraints of CVXPY, and their dual values back; cones of one kind and size share a constraint.

Power cones have two arguments here: larger ones have been taken apart (:mod:`relift.solvers.power_trees`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.program.cones import Cone, Exponential, Power, SecondOrder, Semidefinite
from relift.program.conic_rows import ConicRows

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression, Variable


Reader: TypeAlias = "Callable[[Constraint, Vector], None]"
"""Puts the dual values of a solved constraint where they belong."""


@final
@dataclass(frozen=True, eq=False)
class CvxpyCones:
    """Constraints of CVXPY that say ``b - Ax`` lies in cones.

    Parameters
    ----------
    constraints
        They.
    readers
        For each constraint: reads its dual values into a vector over all rows.
    n_rows
        Rows of all cones.
    """

    constraints: tuple[Constraint, ...]
    readers: tuple[Reader, ...]
    n_rows: int

    @classmethod
    def from_rows(cls, x: Variable, rows: ConicRows) -> CvxpyCones:
        """One constraint for all cones of one kind and size.

        Parameters
        ----------
        x
            The variable of CVXPY.
        rows
            The cones.
        """
        groups: dict[tuple[str, int], list[int]] = {}
        for k, cone in enumerate(rows.cones):
            groups.setdefault(_kind(cone), []).append(k)
        constraints, readers = [], []
        for members in groups.values():
            table = np.stack([np.arange(rows.starts[k], rows.starts[k] + rows.sizes[k]) for k in members], axis=1)
            for constraint, reader in _made(x, rows, [rows.cones[k] for k in members], table):
                constraints.append(constraint)
                readers.append(reader)
        return cls(tuple(constraints), tuple(readers), rows.n_rows)

    @property
    def have_duals(self) -> bool:
        """Whether CVXPY has given all of them."""
        return all(dual.value is not None for constraint in self.constraints for dual in constraint.dual_variables)

    def duals(self) -> Vector:
        """The dual values of all rows."""
        found = np.zeros(self.n_rows)
        for constraint, reader in zip(self.constraints, self.readers, strict=True):
            reader(constraint, found)
        return found


def _kind(cone: Cone) -> tuple[str, int]:
    if isinstance(cone, SecondOrder):
        return "second order", cone.size
    return (type(cone).__name__, cone.n_rows)


def _made(x: Variable, rows: ConicRows, cones: list[Cone], table: Indices) -> list[tuple[Constraint, Reader]]:
    """The constraints for cones of one kind; column k of the table lists the rows of cone k."""
    cvxpy = importlib.import_module("cvxpy")  # it tells its types only in part

    def expression(which: Indices) -> Expression:
        slack: Expression = rows.b[which] - sparse.csc_matrix(rows.A[which]) @ x
        return slack

    match cones[0]:
        case SecondOrder(size=1):
            return [(expression(table[0]) >= 0, _reader([table[0]]))]
        case SecondOrder():
            shape = (table.shape[0] - 1, table.shape[1])
            tails = cvxpy.reshape(expression(table[1:].ravel(order="F")), shape, order="F")
            return [(cvxpy.SOC(expression(table[0]), tails), _reader([table[0], table[1:]]))]
        case Exponential():
            return [(cvxpy.ExpCone(*(expression(row) for row in table)), _reader(list(table)))]
        case Power():
            alphas = np.array([cone.alpha for cone in cones if isinstance(cone, Power)])
            return [(cvxpy.PowCone3D(*(expression(row) for row in table), alphas), _reader(list(table)))]
        case Semidefinite(n=n):
            unfold, fold = _triangle(n)
            made = []
            for own in table.T:
                matrix = cvxpy.reshape(unfold @ expression(own), (n, n), order="F")
                made.append((cvxpy.PSD(matrix), _semidefinite_reader(own, fold)))
            return made
    raise AssertionError(cones[0])


def _reader(parts: list[Indices]) -> Reader:
    """Reads one dual variable for each part; matrices column by column, as they were made."""

    def read(constraint: Constraint, found: Vector) -> None:
        for dual, which in zip(constraint.dual_variables, parts, strict=True):
            value = np.asarray(dual.value, dtype=np.float64)
            found[which] = value.reshape(which.shape, order="F")

    return read


def _semidefinite_reader(own: Indices, fold: SparseMatrix) -> Reader:
    def read(constraint: Constraint, found: Vector) -> None:
        value = np.asarray(constraint.dual_variables[0].value, dtype=np.float64)
        found[own] = fold @ ((value + value.T) / 2).ravel(order="F")

    return read


def _triangle(n: int) -> tuple[SparseMatrix, SparseMatrix]:
    """From the scaled upper triangle to all entries column by column, and from those of a symmetric matrix back.

    Examples
    --------
    >>> unfold, fold = _triangle(2)
    >>> (fold @ unfold).toarray().round(12).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    j = np.repeat(np.arange(n), np.arange(1, n + 1))
    i = np.arange(j.size) - j * (j + 1) // 2
    at, off = np.arange(j.size), i != j
    scale = np.where(off, np.sqrt(0.5), 1.0)
    entries = np.concatenate([scale, scale[off]])
    places = np.concatenate([i + n * j, (j + n * i)[off]])
    unfold = sparse.csc_matrix((entries, (places, np.concatenate([at, at[off]]))), shape=(n * n, j.size))
    return unfold, unfold.T.tocsc()
