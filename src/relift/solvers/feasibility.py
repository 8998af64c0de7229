"""The programs that turn a solver's claim into a proof.

A program is infeasible if and only if the same rows and bounds with a zero objective are, and if and only if its rows
cannot be met by adding slacks that cost something and end at 0: that *elastic* program always has an optimum, where
simplex can be at a loss, and its dual values are the ray. A convex program with a feasible point is unbounded if and
only if some direction d with Pd = 0 keeps all finite bounds and has q'd < 0.
HiGHS solves them, unless there are quadratic constraints, for which Clarabel looks for the feasible point, or cones,
for which it does both: a direction d must have -Cd in them.

None of what is found here is trusted: the caller certifies it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.program.conic_rows import ConicRows
from relift.program.magnitudes import largest_of_rows
from relift.program.other_order import by_columns, by_rows
from relift.program.passes import product
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.program.sparse_structure import unchecked
from relift.settings import SolverSettings
from relift.solvers.answers import ask
from relift.solvers.forms import infeasible
from relift.solvers.registry import get_backend

FARTHEST = 1e4
"""A point is looked for along a ray up to so many times its length, where rows are still met by more than rounding."""


def points_or_proofs(program: Program, settings: SolverSettings) -> Iterator[Solution]:
    """Look for a feasible point, or a ray that proves that there is none, in one way after the other.

    Parameters
    ----------
    program
        A minimisation.
    settings
        For the backends; options of another backend must not be among them.

    Yields
    ------
    Solution
        A claim: a point, or a ray, that may or may not be what it should.
    """
    nothing = np.zeros(program.n_variables)
    rest = Program.trusted(
        None, nothing, program.A, program.l, program.u, program.lb, program.ub,
        quadratic=program.quadratic, conic=program.conic,
    )  # fmt: skip
    is_curved = len(program.quadratic) or len(program.conic)
    yield ask(get_backend("clarabel" if is_curved else "highs"), rest, settings)
    if not is_curved:
        yield _of_elastic_program(program, settings)


def _of_elastic_program(program: Program, settings: SolverSettings) -> Solution:
    """A point whose rows are met with the least slack, or dual values that say why some slack is needed."""
    n, sizes = program.n_variables, largest_of_rows(program.A)
    sizes = np.where(sizes > 0, sizes, 1.0)
    columns = [program.A]
    for side, sign in ((program.l, 1.0), (program.u, -1.0)):
        rows = np.flatnonzero(np.isfinite(side))
        entries = (sign * sizes[rows], (rows, np.arange(rows.size)))
        columns.append(sparse.csc_array(entries, shape=(program.n_rows, rows.size)))
    A = sparse.hstack(columns).tocsc()
    n_slacks = A.shape[1] - n
    elastic = Program.trusted(
        None, np.concatenate([np.zeros(n), np.ones(n_slacks)]), A, program.l, program.u,
        np.concatenate([program.lb, np.zeros(n_slacks)]), np.concatenate([program.ub, np.full(n_slacks, np.inf)]),
    )  # fmt: skip
    found = ask(get_backend("highs"), elastic, settings)
    if found.x is None or found.y is None or not found.status.has_point:
        return Solution(Status.FAILURE, backend=found.backend, message=found.message)
    if float(found.x[n:].sum()) <= 0.0:
        return replace(found, x=found.x[:n], w=None if found.w is None else found.w[:n], objective=0.0)
    claim = infeasible(program, found.backend, (found.y, -(program.A.T @ found.y)), message=found.message)
    return replace(claim, x=found.x[:n])


def point_along(program: Program, direction: Vector) -> Vector | None:
    """A point that meets rows and bounds, from the point of the bounds that is nearest to 0 along a ray; None without.

    Rows that are met stay so along a ray, and the others are met one after the other. Whether quadratic constraints and
    cones are met as well is not asked here: where 0 meets them, as it often does, the point does.

    Examples
    --------
    >>> point_along(Program(q=[-1, 0], A=[[2, 1]], l=[3], lb=1), np.array([1.0, 0.0]))
    array([1., 1.])
    >>> point_along(Program(q=[-1, 0], A=[[2, 1]], l=[9], lb=1), np.array([1.0, 0.0]))
    array([4., 1.])
    """
    start: Vector = np.clip(0.0, program.lb, program.ub)
    at, along = product(program.A, start), product(program.A, direction)
    missing = np.maximum(program.l - at, at - program.u)
    places = np.flatnonzero(missing > 0)
    if not places.size:
        return start
    speed = np.where(program.l[places] > at[places], along[places], -along[places])
    if not speed.min() * FARTHEST > missing[places].max():
        return None
    found: Vector = start + float((missing[places] / speed).max()) * direction
    return found


def find_recession_direction(program: Program, settings: SolverSettings) -> Vector | None:
    """A direction that proves that a feasible program is unbounded, or None."""
    A, l, u = program.A, _without_offset(program.l), _without_offset(program.u)
    if program.P is not None:
        A = _stacked(A, program.P)
        flat = np.zeros(program.n_variables)
        l, u = np.concatenate([l, flat]), np.concatenate([u, flat])
    if len(program.quadratic):
        curved = program.quadratic.stacked_matrices()
        A = _stacked(A, curved, program.quadratic.q)
        zeros, never = np.zeros(curved.shape[0]), np.full(len(program.quadratic), -np.inf)
        l, u = np.concatenate([l, zeros, never]), np.concatenate([u, zeros, np.zeros(never.size)])
    A = _with_rows_of_size_one(A)
    lb, ub = np.maximum(_without_offset(program.lb), -1.0), np.minimum(_without_offset(program.ub), 1.0)
    rows = program.conic
    conic = ConicRows.trusted(rows.A, np.zeros(rows.n_rows), rows.cones)
    outwards = Program.trusted(None, program.q, A, l, u, lb, ub, conic=conic)
    found = ask(get_backend("clarabel" if len(rows) else "highs"), outwards, settings)
    return found.x if found.status == Status.OPTIMAL else None


def _with_rows_of_size_one(A: SparseMatrix) -> SparseMatrix:
    """Each row divided by its largest entry; bounds that are 0 or infinite stay, and no row is lost in a tolerance."""
    sizes = largest_of_rows(A)
    factors = 1.0 / np.where(sizes > 0, sizes, 1.0)
    if A.format == "csc" and A.has_sorted_indices and A.data.all():  # quicker; a product leaves out what is 0
        return unchecked(sparse.csc_array, A.data * factors[A.indices], A.indices, A.indptr, A.shape)
    divided: SparseMatrix = (sparse.diags_array(factors) @ A).tocsc()
    return divided


def _stacked(*matrices: SparseMatrix) -> SparseMatrix:
    """The rows of one matrix after those of another, by columns."""
    rows = [by_rows(matrix) for matrix in matrices]
    before = np.cumsum([0, *(matrix.nnz for matrix in rows)])
    offsets = [rows[0].indptr[:1], *(matrix.indptr[1:] + start for matrix, start in zip(rows, before, strict=False))]
    shape = (sum(matrix.shape[0] for matrix in rows), rows[0].shape[1])
    kind = np.int32 if max(before[-1], *shape) < 2**31 else np.int64
    stacked = unchecked(
        sparse.csr_array, np.concatenate([matrix.data for matrix in rows]),
        np.concatenate([matrix.indices for matrix in rows]).astype(kind), np.concatenate(offsets).astype(kind), shape,
    )  # fmt: skip
    return by_columns(stacked)


def _without_offset(bounds: Vector) -> Vector:
    """Every finite bound replaced by 0: what it asks of a direction."""
    return np.where(np.isfinite(bounds), 0.0, bounds)
