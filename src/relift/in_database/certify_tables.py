r"""The answer on the ground program, expanded and certified where the ground program is.

Expansion: :math:`x = Sz`, and multipliers are shared by class size, :math:`y_i = \hat y\, f_i / (f_r |class|)` where
rows are compared after multiplication by f. The residuals are those of :mod:`relift.lifting.certificate`, by the same
functions (:mod:`relift.lifting.certificate_formulas`), here applied to columns of tables: sums and largest products
over A, its transpose and P are aggregations over the entries, and what is fetched is a few rows of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Vector
from relift.in_database.point_check import PointCheck
from relift.in_database.program_tables import EngineProgram
from relift.in_database.ray_check import RayCheck
from relift.in_database.scratch import Scratch
from relift.in_database.verify import LabelledClasses
from relift.lifting.certificate import Certificate
from relift.program.solution import Solution, Status
from relift.tables.algebra import Column, Join, Plan, Project, Scalar, call, project


@final
@dataclass(frozen=True, eq=False)
class ExpandedTables:
    """Point and multipliers (or a ray) as tables: ``column``, ``x``, ``w`` and ``row``, ``y``."""

    columns: Plan
    rows: Plan


def expand_tables(
    scratch: Scratch,
    row_factors: Plan | None,
    rows: LabelledClasses,
    columns: LabelledClasses,
    x: Vector | None,
    y: Vector | None,
    w: Vector | None,
) -> ExpandedTables:
    """Store what the small program's answer means for every variable and row; vectors that are missing are zeros."""
    sizes = scratch.engine.fetch(project(columns.leaders, "label", "size"))
    column_size = np.zeros(columns.n_classes)
    column_size[sizes["label"]] = sizes["size"]
    sizes = scratch.engine.fetch(project(rows.leaders, "label", "size"))
    row_size = np.zeros(rows.n_classes)
    row_size[sizes["label"]] = sizes["size"]
    x = np.zeros(columns.n_classes) if x is None else x
    w = np.zeros(columns.n_classes) if w is None else w / column_size
    y = np.zeros(rows.n_classes) if y is None else y / row_size
    values = scratch.attach("class_x", {"label": np.arange(x.size), "x": x, "w": w})
    named = Project(Join(columns.labels, values), {"column": Column("id"), "x": Column("x"), "w": Column("w")})
    point = scratch.store("x", named)
    shares = scratch.attach("class_y", {"label": np.arange(y.size), "y": y})
    of_row: Plan = Join(rows.labels, shares)
    share: Scalar = Column("y")
    if row_factors is not None:
        leaders = Project(rows.leaders, {"label": Column("label"), "id": Column("leader")})
        of_leader = Project(Join(leaders, row_factors), {"label": Column("label"), "of_leader": Column("factor")})
        of_row = Join(Join(of_row, row_factors), of_leader)
        share = call("*", share, call("/", Column("factor"), Column("of_leader")))
    multipliers = scratch.store("y", Project(of_row, {"row": Column("id"), "y": share}))
    scratch.drop("class_x", "class_y")
    return ExpandedTables(point, multipliers)


def certify_tables(
    program: EngineProgram, scratch: Scratch, solution: Solution, expanded: ExpandedTables, tolerance: float
) -> Certificate:
    """Check an expanded answer on the ground program, in the engine.

    Parameters
    ----------
    program
        The ground program.
    scratch
        Where to keep tables.
    solution
        The answer of the small program; only its status, and which vectors it has, are read.
    expanded
        The same on the ground program.
    tolerance
        The largest relative residual that passes.
    """
    if solution.status == Status.INFEASIBLE:
        residual = (
            RayCheck(program, scratch, expanded.columns, expanded.rows).infeasibility()
            if solution.ray_y is not None
            else np.inf
        )
        return Certificate(tolerance, ray_residual=residual)
    if solution.status == Status.UNBOUNDED:
        residual = (
            RayCheck(program, scratch, expanded.columns, expanded.rows).unboundedness()
            if solution.ray_x is not None
            else np.inf
        )
        return Certificate(tolerance, ray_residual=residual)
    if solution.x is None:
        return Certificate(tolerance)
    sign = 1.0 if program.sense == "min" else -1.0
    has_multipliers = solution.y is not None and solution.w is not None
    primal, dual, gap, objective = PointCheck(
        program, scratch, expanded.columns, expanded.rows, has_multipliers=has_multipliers
    ).residuals()
    if not has_multipliers:
        return Certificate(tolerance, primal, objective=sign * objective)
    return Certificate(tolerance, primal, dual, gap, objective=sign * objective)
