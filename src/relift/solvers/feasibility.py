"""The two programs that turn a solver's claim into a proof.

A program is infeasible if and only if the same rows and bounds with a zero objective are; a convex program with a
feasible point is unbounded if and only if some direction d with Pd = 0 keeps all finite bounds and has q'd < 0.
HiGHS solves both, unless there are quadratic constraints, for which Clarabel looks for the feasible point, or cones,
for which it does both: a direction d must have -Cd in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from relift.program.conic_rows import ConicRows
from relift.program.magnitudes import largest_of_rows
from relift.program.program import Program
from relift.program.solution import Solution, Status, Vector
from relift.settings import SolverSettings
from relift.solvers.registry import get_backend


def find_point_or_proof(program: Program, settings: SolverSettings) -> Solution:
    """A feasible point of the program, or a ray that proves that there is none."""
    nothing = np.zeros(program.n_variables)
    rest = Program.trusted(
        None, nothing, program.A, program.l, program.u, program.lb, program.ub,
        quadratic=program.quadratic, conic=program.conic,
    )  # fmt: skip
    is_curved = len(program.quadratic) or len(program.conic)
    return get_backend("clarabel" if is_curved else "highs").solve(rest, settings)


def find_recession_direction(program: Program, settings: SolverSettings) -> Vector | None:
    """A direction along which a feasible program's objective falls for ever, or None."""
    A, l, u = program.A, _without_offset(program.l), _without_offset(program.u)
    if program.P is not None:
        A = sparse.vstack([A, program.P]).tocsc()
        flat = np.zeros(program.n_variables)
        l, u = np.concatenate([l, flat]), np.concatenate([u, flat])
    if len(program.quadratic):
        flat = program.quadratic.stacked_matrices()
        A = sparse.vstack([A, flat, program.quadratic.q]).tocsc()
        zeros, never = np.zeros(flat.shape[0]), np.full(len(program.quadratic), -np.inf)
        l, u = np.concatenate([l, zeros, never]), np.concatenate([u, zeros, np.zeros(never.size)])
    A = _with_rows_of_size_one(A)
    lb, ub = np.maximum(_without_offset(program.lb), -1.0), np.minimum(_without_offset(program.ub), 1.0)
    rows = program.conic
    conic = ConicRows.trusted(rows.A, np.zeros(rows.n_rows), rows.cones)
    outwards = Program.trusted(None, program.q, A, l, u, lb, ub, conic=conic)
    found = get_backend("clarabel" if len(rows) else "highs").solve(outwards, settings)
    return found.x if found.status == Status.OPTIMAL else None


def _with_rows_of_size_one(A: Any) -> Any:
    """Each row divided by its largest entry; bounds that are 0 or infinite stay, and no row is lost in a tolerance."""
    sizes = largest_of_rows(A)
    return (sparse.diags_array(1.0 / np.where(sizes > 0, sizes, 1.0)) @ A).tocsc()


def _without_offset(bounds: Vector) -> Vector:
    """Every finite bound replaced by 0: what it asks of a direction."""
    return np.where(np.isfinite(bounds), 0.0, bounds)
