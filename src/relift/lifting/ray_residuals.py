r"""How far a ray is from a proof that a program is infeasible, or unbounded.

For an infeasible program, v is pushed into the dual cones and w is set to :math:`-A^\top y - C^\top v`
where the bounds allow it; then
:math:`\beta = -(u^\top y^+ - l^\top y^- + ub^\top w^+ - lb^\top w^- + b^\top v) > 0` is a proof, up to the *ray
residual*: what w could not take, divided by β, and by the largest product that could stand in it,
:math:`\max_i |a_{ij}| / d_i \cdot \max_i |d_i y_i|` with :math:`d_i` the largest entry of row i, so that no row is
weighed by the factor it was multiplied with.
A feasible point would need a 1-norm of at least 1 / residual; and columns of small entries, whose w is small for that
reason alone, prove nothing. Solvers leave dust on dual values that have no part in the proof, and dust divided by dust
is no small number: the ray without its dust is tried by the same test (every ray that passes is a proof).

For an unbounded one, d must keep rows, bounds and cones (-Cd in K), Pd = 0 and q'd < 0: each up to what is small
beside the largest product in its row, and beside :math:`|q^\top d|` relative to the largest product in it. It is tried
without its dust, too.

β and q'd must be more than what rounding leaves of their terms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from relift.arrays import SparseMatrix, Vector
from relift.program import formulas
from relift.program.cone_distance import largest_of_cones, pushed_into
from relift.program.formulas import ARRAYS
from relift.program.magnitudes import largest_of_columns, largest_of_rows, transposed_product
from relift.program.passes import core_for, parts_of, product
from relift.program.program import Program

if TYPE_CHECKING:
    from types import ModuleType

DUST_OF_RAYS = 1e-8
"""Dual values this small against the largest of a ray may be nothing but what a solver has left there."""

SMALL = 250
"""Up to so many variables the point of quadratic constraints is first looked for with a dense factor: quicker, and
exact where steps end before they are at it."""

FOUND = 1e-11
"""A proof with this residual needs no other point."""


def infeasibility_residual(
    program: Program,
    ray_y: Vector | None,
    ray_z: Vector | None = None,
    ray_w: Vector | None = None,
    ray_v: Vector | None = None,
) -> float:
    """How far dual values are from a proof that no point is feasible; infinite if they prove nothing.

    With quadratic constraints, M = sum_k z_k P_k and c = A'y + C'v + sum_k z_k q_k: for every point p, a feasible x has
    (Mp + c + w)'x - ½p'Mp <= support, so that w = -(Mp + c) and support + ½p'Mp < 0 is a proof.
    """
    if ray_y is None:
        return float("inf")
    v = np.zeros(program.conic.n_rows) if ray_v is None else ray_v
    z = np.zeros(len(program.quadratic)) if ray_z is None else np.maximum(ray_z, 0.0)
    if not all(np.isfinite(part).all() for part in (ray_y, v, z)):
        return float("inf")
    measures = _Measures.of(program)
    as_given = _residual_of_ray(program, measures, ray_y, z, ray_w, v)
    if as_given == 0.0:
        return as_given
    sizes = _sizes_of_duals(program, measures, ray_y, z, v)
    dust = DUST_OF_RAYS * max(_largest(part) for part in sizes)
    cleared = [np.where(size <= dust, 0.0, part) for part, size in zip((ray_y, z, v), sizes, strict=True)]
    if all(map(np.array_equal, cleared, (ray_y, z, v))):  # there is no dust
        return as_given
    return min(as_given, _residual_of_ray(program, measures, cleared[0], cleared[1], ray_w, cleared[2]))


class _Measures(NamedTuple):
    """What dual values are measured by.

    Parameters
    ----------
    rows, columns
        The largest entry of each row of A, 1 where there is none; and of each column with rows divided by that.
    conic_rows, conic_columns
        The same of conic rows, by the largest entry of the cone.
    """

    rows: Vector
    columns: Vector
    conic_rows: Vector
    conic_columns: Vector

    @classmethod
    def of(cls, program: Program) -> _Measures:
        rows, columns = measures_of_rows(program.A)
        conic_rows = _row_sizes_of_cones(program)
        of_cones = largest_of_columns(program.conic.A, 1.0 / conic_rows) if len(program.conic) else conic_rows
        return cls(rows, columns, conic_rows, of_cones)


def measures_of_rows(A: SparseMatrix) -> tuple[Vector, Vector]:
    """The largest entry of each row, 1 where there is none; and of each column, with rows divided by that.

    Examples
    --------
    >>> from scipy import sparse
    >>> [part.tolist() for part in measures_of_rows(sparse.csr_array([[2.0, -4.0], [0.0, 0.0]]))]
    [[4.0, 1.0], [0.5, 1.0]]
    """
    core = core_for(A)
    if core is None:
        rows = _or_one(largest_of_rows(A))
        return rows, largest_of_columns(A, 1.0 / rows)
    rows, columns = np.empty(A.shape[0]), np.empty(A.shape[1])
    core.ray_measures(parts_of(A), A.format == "csr", rows, columns)
    return rows, columns


def _sizes_of_duals(
    program: Program, measures: _Measures, y: Vector, z: Vector, v: Vector
) -> tuple[Vector, Vector, Vector]:
    """Each dual value times the largest entry of its row, quadratic constraint or cone."""
    rows, conic = program.quadratic, program.conic
    of_curved = z
    if len(rows):
        of_curved = z * _or_one(np.maximum(largest_of_rows(rows.q), _largest_of_matrices(program)))
    of_cone = largest_of_cones(conic, measures.conic_rows * np.abs(v))[conic.cone_of_row] if len(conic) else v
    return np.abs(y) * measures.rows, of_curved, of_cone


def _largest_of_matrices(program: Program) -> Vector:
    largest = np.zeros(len(program.quadratic))
    np.maximum.at(largest, program.quadratic.owner, np.abs(program.quadratic.values))
    return largest


def _row_sizes_of_cones(program: Program) -> Vector:
    """The largest entry of the cone that each conic row belongs to; 1 where there is none."""
    rows = program.conic
    if not len(rows):
        return np.zeros(0)
    return _or_one(largest_of_cones(rows, largest_of_rows(rows.A))[rows.cone_of_row])


def _residual_of_ray(
    program: Program, measures: _Measures, ray_y: Vector, z: Vector, ray_w: Vector | None, v: Vector
) -> float:
    if not len(program.conic) and not np.any(z > 0) and (core := core_for(program.A)) is not None:
        return _residual_of_rows_and_bounds(core, program, measures, ray_y)
    return residual_slowly(program, measures, ray_y, z, ray_w, v)


def _residual_of_rows_and_bounds(core: ModuleType, program: Program, measures: _Measures, ray_y: Vector) -> float:
    """The same where no cone or quadratic constraint takes part, in one compiled pass."""
    terms = np.zeros(program.n_rows + program.n_variables + 2)  # as many as there, so that sums are the same
    sides = tuple(np.ascontiguousarray(side) for side in (program.l, program.u, program.lb, program.ub))
    remainder, ratio = core.ray_terms(
        parts_of(program.A), program.A.format == "csr", sides, (measures.rows, measures.columns),
        np.ascontiguousarray(ray_y, np.float64), terms,
    )  # fmt: skip
    beta = -float(terms.sum())
    if not beta > formulas.ROUNDING * float(np.abs(terms).sum()):
        return float("inf")
    return float(max(remainder / beta, ratio))


def residual_slowly(
    program: Program, measures: _Measures, ray_y: Vector, z: Vector, ray_w: Vector | None, v: Vector
) -> float:
    """The same by whole arrays, formula by formula."""
    if not np.any(z > 0):
        return _residual_beside(program, measures, ray_y, ray_w, v, None, z)
    M, best = program.quadratic.hessian(z), float("inf")
    for solve in (_solved_by_factors, _solved_by_steps):
        best = min(best, _residual_beside(program, measures, ray_y, ray_w, v, (M, solve), z))
        if best <= FOUND:
            break
    return best


def _solved_by_factors(M: SparseMatrix, right: Vector) -> Vector | None:
    """The point p with Mp = right, where M is small and has full rank."""
    if not 0 < M.shape[0] <= SMALL:
        return None
    from scipy.linalg import lapack

    factor, failed = lapack.dpotrf(M.toarray(order="F"), lower=1, overwrite_a=1)
    if failed:
        return None
    point: Vector = lapack.dpotrs(factor, right, lower=1)[0]
    return point if np.isfinite(point).all() else None


def _solved_by_steps(M: SparseMatrix, right: Vector) -> Vector:
    """The smallest point p for which Mp is nearest to right."""
    from scipy.sparse import linalg as sparse_linalg

    point: Vector = sparse_linalg.lsqr(M, right, atol=1e-14, btol=1e-14)[0]
    return point


def _residual_beside(
    program: Program,
    measures: _Measures,
    ray_y: Vector,
    ray_w: Vector | None,
    v: Vector,
    curved: tuple[SparseMatrix, Callable[[SparseMatrix, Vector], Vector | None]] | None,
    z: Vector,
) -> float:
    """The residual with the point that is found for the quadratic constraints, if these take part."""
    y = formulas.admissible(ARRAYS, ray_y, program.l, program.u)
    slope, bend, right, inside = transposed_product(program.A, y), 0.0, 0.0, 0.0
    products = measures.columns * _largest(y * measures.rows)
    if len(program.conic):
        of_cones = measures.conic_rows
        _, v = pushed_into(program.conic, v, 1.0 / of_cones, dual=True)
        slope = slope + transposed_product(program.conic.A, v)
        products = np.maximum(products, measures.conic_columns * _largest(v * of_cones))
    if curved is not None:
        M, solve = curved
        slope = slope + transposed_product(program.quadratic.q, z)
        point = solve(M, -(slope + (0.0 if ray_w is None else ray_w)))
        if point is None:
            return float("inf")
        products = np.maximum(products, largest_of_columns(program.quadratic.q, z))
        products = np.maximum(products, largest_of_columns(M) * _largest(point))
        slope, bend, right = slope + M @ point, 0.5 * float(point @ (M @ point)), float(z @ program.quadratic.r)
        inside = 0.5 * float(np.abs(point) @ (abs(M) @ np.abs(point)))  # what may have cancelled in p'Mp
    w = formulas.admissible(ARRAYS, -slope, program.lb, program.ub)
    remainder = np.abs(-slope - w)
    of_rows = formulas.support(ARRAYS, y, program.l, program.u)
    of_bounds = formulas.support(ARRAYS, w, program.lb, program.ub)
    terms = np.concatenate([of_rows, of_bounds, program.conic.b * v, [right, bend]])
    beta = -float(terms.sum())
    if not beta > formulas.ROUNDING * (float(np.abs(terms).sum()) + inside):
        return float("inf")
    return max(_largest(remainder) / beta, _worst_ratio(remainder, products))


def unboundedness_residual(program: Program, ray_x: Vector | None) -> float:
    """How far a direction is from a proof that the objective is unbounded; infinite if it proves nothing."""
    if ray_x is None or not np.isfinite(ray_x).all():
        return float("inf")
    as_given = _residual_of_direction(program, ray_x)
    if as_given == 0.0:
        return as_given
    cleared = np.where(np.abs(ray_x) <= DUST_OF_RAYS * _largest(ray_x), 0.0, ray_x)
    if np.array_equal(cleared, ray_x):  # there is no dust
        return as_given
    return min(as_given, _residual_of_direction(program, cleared))


def _residual_of_direction(program: Program, ray_x: Vector) -> float:
    terms = np.abs(program.q * ray_x)
    fall = -float(program.q @ ray_x)
    if not fall > formulas.ROUNDING * float(terms.sum()):
        return float("inf")
    lengths, rows = np.abs(ray_x), program.quadratic
    along_rows = product(program.A, ray_x)
    parts = [
        (formulas.outwards(ARRAYS, along_rows, program.l, program.u), largest_of_rows(program.A, lengths)),
        (formulas.outwards(ARRAYS, ray_x, program.lb, program.ub), lengths),
    ]
    if len(rows):
        parts.append((np.maximum(product(rows.q, ray_x), 0.0), largest_of_rows(rows.q, lengths)))
    if len(program.conic):
        along = -product(program.conic.A, ray_x)
        push, _ = pushed_into(program.conic, along, np.ones(along.size))
        parts.append((push, largest_of_cones(program.conic, largest_of_rows(program.conic.A, lengths))))
    for curved in (program.P, rows.stacked_matrices() if len(rows) else None):
        if curved is not None:
            parts.append((np.abs(product(curved, ray_x)), largest_of_rows(curved, lengths)))
    worst = max(_worst_ratio(wrong, products) for wrong, products in parts)
    return worst * max(1.0, _largest(terms) / fall)


def _or_one(sizes: Vector) -> Vector:
    return np.where(sizes > 0, sizes, 1.0)


def _largest(vector: Vector) -> float:
    return float(np.abs(vector).max(initial=0.0))


def _worst_ratio(wrong: Vector, sizes: Vector) -> float:
    return float(formulas.ratio(ARRAYS, wrong, sizes).max(initial=0.0))
