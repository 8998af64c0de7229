"""The residuals of a point on its program, compiled: a pass over A, one over P, one over variables and one over rows.

A is passed over again where gradients lead to where no own bound is, since rows may imply one there, and by columns,
where products of broken rows were found with other sizes than those in the end.

Where there is no compiled core, :mod:`~relift.lifting.residuals_reference` does the same; the formulas are explained in
:mod:`~relift.lifting.certificate`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np

from relift.arrays import Vector
from relift.lifting.cone_residuals import Duals, ScaledPoint
from relift.lifting.residuals_reference import SlowPoint
from relift.program.conic_passes import column_sums
from relift.program.passes import core_for, parts_of
from relift.program.program import Program
from relift.program.quadratic_passes import columns_of_constraints
from relift.records import quick
from relift.threads import threads_for

__all__ = ["Duals", "PointResiduals", "point_residuals"]


@final
@quick
@dataclass(frozen=True)
class PointResiduals:
    """All relative; dual residual and gap NaN where there are no dual values.

    Parameters
    ----------
    primal, dual, gap
        The residuals.
    Px
        The product of P with the point, where it was computed on the way; None without P and where it was not.
    """

    primal: float
    dual: float = float("nan")
    gap: float = float("nan")
    Px: Vector | None = field(default=None, repr=False, compare=False)


def point_residuals(program: Program, x: Vector, duals: Duals | None = None) -> PointResiduals:
    """How far a point, and the dual values if given, are from an optimum.

    Parameters
    ----------
    program
        A minimisation.
    x
        The point.
    duals
        Dual values of everything.

    Examples
    --------
    >>> program = Program(q=[1.0], lb=[2.0])
    >>> point_residuals(program, np.array([2.0]), Duals(np.zeros(0), np.array([-1.0]), np.zeros(0), np.zeros(0)))
    PointResiduals(primal=0.0, dual=0.0, gap=0.0)
    """
    compiled = core_for(program.A, program.P)
    if compiled is None:
        return residuals_slowly(program, x, duals)
    has_more = bool(len(program.quadratic) or len(program.conic))
    y = w = None
    if duals is not None:
        y, w, z = np.ascontiguousarray(duals.y), np.ascontiguousarray(duals.w), np.maximum(duals.z, 0.0)
    more = _of_constraints(program, x, duals) if has_more else _NOTHING_MORE
    sizes = np.empty(program.n_variables) if has_more else None
    Px = None if program.P is None else np.empty(program.n_variables)
    is_in_range, is_finite, duals_are_finite, common, scale, primal, dual, gap, may_fall = compiled.residuals(
        parts_of(program.A, program.P), program.A.format == "csr",
        None if program.P is None else parts_of(program.P, program.A),
        tuple(
            np.ascontiguousarray(vector, np.float64)  # parts of other programs may be slices
            for vector in (program.q, program.l, program.u, program.lb, program.ub)
        ),
        program.r,
        (np.ascontiguousarray(x), y, w), more, (sizes, Px),
        threads_for(program.A.indices.size + (0 if program.P is None else program.P.indices.size)),
    )  # fmt: skip
    if not is_in_range:
        return residuals_slowly(program, x, duals)
    if not is_finite:
        return PointResiduals(np.inf) if duals is None else PointResiduals(np.inf, np.inf, np.inf)
    usable = duals if duals is not None and duals_are_finite and (not has_more or duals.are_finite) else None
    if sizes is not None:
        at = ScaledPoint(program, x, sizes, scale, common)
        pushed, off_cones, of_cones = at.terms_of_cones(None if usable is None else usable.v)
        primal = max(primal, at.excess_of_quadratic_rows(), pushed)
        if usable is not None:
            dual, gap = max(dual, off_cones), gap + of_cones + at.gap_of_quadratic_rows(z)
    if duals is None:
        return PointResiduals(primal, Px=Px)
    if usable is None:
        return PointResiduals(primal, np.inf, np.inf, Px)
    return PointResiduals(primal, dual, (gap + may_fall) / scale, Px)


More: TypeAlias = tuple[Vector | None, Vector | None, Vector | None, Vector | None, Vector | None]
"""Of quadratic constraints and cones, for each variable: its :math:`N_j`, the largest term of the gradient, the
gradient, and whether it is held on the way down and on the way up."""

_NOTHING_MORE: More = (None,) * 5


def _of_constraints(program: Program, x: Vector, duals: Duals | None) -> More:
    found = column_sums(program.conic, None if duals is None else duals.v)
    more = (found.natural, found.terms, found.sums, found.marks, found.marks)
    if len(program.quadratic):
        z = None if duals is None else np.maximum(duals.z, 0.0)
        more = columns_of_constraints(program.quadratic.parts, x, z, (*more[:4], found.marks.copy()))
    return (more[0], None, None, None, None) if duals is None else more


def residuals_slowly(program: Program, x: Vector, duals: Duals | None = None) -> PointResiduals:
    """The same by whole arrays."""
    point = SlowPoint(program, x, duals)
    if duals is None:
        return PointResiduals(point.primal_residual())
    return PointResiduals(point.primal_residual(), *point.dual_residual_and_gap(duals))
