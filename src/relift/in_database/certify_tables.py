r"""The answer on the original program, expanded and certified where the original program is.

Expansion: :math:`x = Sz`, and dual values are shared as in :mod:`relift.lifting.quotient`. The residuals are those of
:mod:`relift.lifting.certificate`, by the same functions (:mod:`relift.program.formulas`), here applied to columns of
tables: sums and largest products over A, its transpose and P are aggregations over the entries, and what is fetched is
a few rows of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Vector
from relift.in_database.point_check import PointCheck
from relift.in_database.program_tables import EngineProgram
from relift.in_database.ray_check import RayCheck
from relift.in_database.table_expressions import column
from relift.in_database.temporary_tables import TemporaryTables
from relift.in_database.verify import LabelledClasses
from relift.lifting.certificate import Certificate
from relift.program import formulas
from relift.program.solution import Solution, Status
from relift.tables.algebra import Column, Join, Plan, Project, project


@final
@dataclass(frozen=True, eq=False)
class ExpandedTables:
    """Point and dual values (or a ray) as tables: ``column``, ``x``, ``w`` and ``row``, ``y``."""

    columns: Plan
    rows: Plan


def expand_tables(
    temporary: TemporaryTables,
    row_factors: Plan | None,
    rows: LabelledClasses,
    columns: LabelledClasses,
    x: Vector | None,
    y: Vector | None,
    w: Vector | None,
) -> ExpandedTables:
    """Store what the small program's answer means for every variable and row; vectors that are missing are zeros."""
    point = temporary.store("x", Project(_of_members(temporary, "class_x", columns, x=x, w=w), {
        "column": Column("id"),
        "x": Column("x"),
        "w": (column("w") * formulas.variable_share(column("size"))).scalar,
    }))  # fmt: skip
    of_rows = _of_members(temporary, "class_y", rows, y=y)
    share = formulas.variable_share(column("size"))  # all factors are 1
    if row_factors is not None:
        leaders = Project(rows.leaders, {"label": Column("label"), "id": Column("leader")})
        of_leaders = Project(Join(leaders, row_factors), {"label": Column("label"), "of_leader": Column("factor")})
        of_rows = Join(Join(of_rows, row_factors), of_leaders)
        share = formulas.row_share(column("of_leader"), column("factor"), column("size"))
    duals = temporary.store("y", Project(of_rows, {"row": Column("id"), "y": (column("y") * share).scalar}))
    temporary.drop("class_x", "class_y")
    return ExpandedTables(point, duals)


def _of_members(temporary: TemporaryTables, name: str, classes: LabelledClasses, **vectors: Vector | None) -> Plan:
    """Each member (``id``) with the values and the ``size`` of its class; vectors that are missing are zeros."""
    n = classes.n_classes
    values = {key: np.zeros(n) if vector is None else vector for key, vector in vectors.items()}
    of_classes = temporary.attach(name, {"label": np.arange(n), **values})
    return Join(classes.labels, Join(of_classes, project(classes.leaders, "label", "size")))


def certify_tables(
    program: EngineProgram, temporary: TemporaryTables, solution: Solution, expanded: ExpandedTables, tolerance: float
) -> Certificate:
    """Check an expanded answer on the original program, in the engine.

    Parameters
    ----------
    program
        The original program.
    temporary
        Where to keep tables.
    solution
        The answer of the small program; only its status, and which vectors it has, are read.
    expanded
        The same on the original program.
    tolerance
        The largest relative residual that passes.
    """
    if solution.status == Status.INFEASIBLE:
        residual = (
            RayCheck(program, temporary, expanded.columns, expanded.rows).infeasibility()
            if solution.ray_y is not None
            else np.inf
        )
        return Certificate(tolerance, ray_residual=residual)
    if solution.status == Status.UNBOUNDED:
        residual = (
            RayCheck(program, temporary, expanded.columns, expanded.rows).unboundedness()
            if solution.ray_x is not None
            else np.inf
        )
        return Certificate(tolerance, ray_residual=residual)
    if solution.x is None:
        return Certificate(tolerance)
    sign = 1.0 if program.sense == "min" else -1.0
    has_duals = solution.y is not None and solution.w is not None
    primal, dual, gap, objective = PointCheck(
        program, temporary, expanded.columns, expanded.rows, has_duals=has_duals
    ).residuals()
    if not has_duals:
        return Certificate(tolerance, primal, objective=sign * objective)
    return Certificate(tolerance, primal, dual, gap, objective=sign * objective)
