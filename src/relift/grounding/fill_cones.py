"""Cones: every statement becomes one cone for each answer of its query, stacked as rows b - Ax.

The rows of a cone are parts in a fixed order. A part is one row, or (the tail of a norm) one for each answer of an
inner query, in the order of their keys; so cones of one statement may have different sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.grounding.fill_constraints import Rows, constant_column, linear_blocks, store_rows, wanted_values
from relift.grounding.fill_quadratic import beside, owned_factors, starts_of
from relift.grounding.queries_from_model import Queries
from relift.grounding.workspace import Workspace
from relift.language.checked_model import ConeConstraint, ConePart, ConstantTerm, LinearTerm
from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder
from relift.program.conic_rows import ConicRows
from relift.tables.load import StoredTable


@final
@dataclass(frozen=True, eq=False)
class ConeRows:
    """The cones of one statement.

    Parameters
    ----------
    rows
        The tuples of the cones and their numbers.
    stacked
        The cones, over all unknowns.
    """

    rows: Rows
    stacked: ConicRows

    @property
    def n_nonzeros(self) -> int:
        """Stored entries."""
        return self.stacked.n_nonzeros


def ground_cones(work: Workspace, constraint: ConeConstraint) -> ConeRows:
    """All cones of a statement.

    Raises
    ------
    DataError
        If a value is missing or is not finite.
    """
    statement = f"the cones of {constraint.name!r}"
    queries = work.queries()
    terms = [term for part in constraint.parts for term in part.body.terms]
    queries.wanted = wanted_values([term.coefficient for term in terms])
    rows = store_rows(work, queries, constraint.variables, constraint.formula, statement)
    found = [_part(work, queries, rows, part, statement) for part in constraint.parts]
    sizes = np.stack([np.bincount(part.owner, minlength=rows.size) for part in found])
    places = _places([part.owner for part in found], sizes)
    matrix = sparse.vstack([part.matrix for part in found], format="csr")
    order = np.argsort(np.concatenate(places), kind="stable")
    constants = np.concatenate([part.constants for part in found])
    A, b = (-matrix[order]).tocsr(), constants[order]
    A.sort_indices()
    for part in found:
        if part.table is not None:
            work.drop(part.table)
    cones = _cones(constraint, sizes)
    work.engine.tell("ground", f"{constraint.name}: {rows.size:,} cones, {A.nnz:,} nonzeros")
    return ConeRows(rows, ConicRows(A, b, cones))


@final
@dataclass(frozen=True, eq=False)
class _Part:
    """Rows Bx + d of one part of all cones, with the number of the cone of each."""

    owner: Indices
    matrix: SparseMatrix
    constants: Vector
    table: StoredTable | None = None


def _part(work: Workspace, queries: Queries, rows: Rows, part: ConePart, statement: str) -> _Part:
    terms = part.body.terms
    factors, owner = owned_factors(work, queries, rows, part.scopes, statement)
    blocks = linear_blocks(work, queries, factors, [t for t in terms if isinstance(t, LinearTerm)], statement)
    constants = constant_column(work, queries, factors, [t for t in terms if isinstance(t, ConstantTerm)], statement)
    table = factors.table if part.scopes else None
    return _Part(owner, beside(blocks, starts_of(work), factors.size), constants, table)


def _places(owners: Sequence[Indices], sizes: Indices) -> list[Indices]:
    """Where the rows of each part stand among the rows of all cones."""
    before = np.cumsum(sizes, axis=0) - sizes
    starts = np.cumsum(sizes.sum(axis=0)) - sizes.sum(axis=0)
    places = []
    for owner, offset, size in zip(owners, before, sizes, strict=True):
        order = np.argsort(owner, kind="stable")
        rank = np.empty(owner.size, np.int64)
        rank[order] = np.arange(owner.size) - np.repeat(np.cumsum(size) - size, size)
        places.append(starts[owner] + offset[owner] + rank)
    return places


def _cones(constraint: ConeConstraint, sizes: Indices) -> list[Cone]:
    totals = sizes.sum(axis=0).tolist()
    match constraint.cone:
        case "second-order":
            known: dict[int, Cone] = {size: SecondOrder(size) for size in set(totals)}
            return [known[size] for size in totals]
        case "geometric":
            means = {size: _geometric(size - 1) for size in set(totals)}
            return [means[size] for size in totals]
        case "exponential":
            return [Exponential()] * len(totals)
        case "power":
            return [Power(constraint.exponent)] * len(totals)


def _geometric(count: int) -> Cone:
    """The cone of a geometric mean; that of one number is |z| <= x."""
    return PowerND((1 / count,) * count) if count > 1 else SecondOrder(2)


def stacked_cones(parts: Sequence[ConicRows], n_unknowns: int) -> ConicRows:
    """All cones in one."""
    if not parts:
        return ConicRows.none(n_unknowns)
    A = sparse.vstack([part.A for part in parts], format="csr")
    return ConicRows(A, np.concatenate([part.b for part in parts]), [cone for part in parts for cone in part.cones])


def cut_cones(found: ConicRows, start: int, stop: int) -> ConicRows:
    """Some consecutive cones."""
    first = int(found.starts[start]) if start < len(found) else found.n_rows
    last = first + int(found.sizes[start:stop].sum())
    return ConicRows(found.A[first:last], found.b[first:last], found.cones[start:stop])


def moved_cones(found: ConicRows, position: Indices, n_unknowns: int) -> ConicRows:
    """The same cones when unknowns have other numbers: ``position`` of each old one, or -1."""
    A = found.A.tocoo()
    rows, columns = A.coords
    matrix = sparse.csr_array((A.data, (rows, position[columns])), shape=(found.n_rows, n_unknowns))
    return ConicRows(matrix, found.b, found.cones)


def widened_cones(found: ConicRows, n_unknowns: int) -> ConicRows:
    """The same cones when there are further unknowns behind the others."""
    A = sparse.csr_array((found.A.data, found.A.indices, found.A.indptr), shape=(found.n_rows, n_unknowns))
    return ConicRows(A, found.b, found.cones)
