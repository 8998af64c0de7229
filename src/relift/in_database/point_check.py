"""The residuals of a point and its dual values, computed in the engine (see :mod:`relift.lifting.certificate`)."""

from __future__ import annotations

from typing import final

import numpy as np

from relift.in_database.products import VALUE, Outputs, TableSums, joined_or, with_columns
from relift.in_database.program_tables import EngineProgram
from relift.in_database.table_expressions import EXPRESSIONS as OPS
from relift.in_database.table_expressions import Expression, column
from relift.in_database.temporary_tables import TemporaryTables
from relift.program import formulas
from relift.program.units import common_unit
from relift.tables.algebra import Join, Plan, project

_X, _W, _Y, _Q = column("x"), column("w"), column("y"), column("q")
_LB, _UB, _L, _U = column("lb"), column("ub"), column("l"), column("u")
_RHO = column("rho")


@final
class PointCheck:
    """A point with its dual values, on the program in the engine.

    Parameters
    ----------
    program
        The original program.
    temporary
        Where to keep tables.
    columns, rows
        The answer: ``column``, ``x``, ``w`` and ``row``, ``y``.
    has_duals
        Whether w and y mean anything.
    """

    def __init__(
        self, program: EngineProgram, temporary: TemporaryTables, columns: Plan, rows: Plan, *, has_duals: bool
    ) -> None:
        self.program, self.temporary, self.has_duals = program, temporary, has_duals
        self.sums = TableSums(program, temporary)
        self.point, self.duals = columns, rows

    def residuals(self) -> tuple[float, float, float, float]:
        """Primal residual, dual residual, duality gap and objective of the minimisation."""
        columns, common, scale, objective = self._columns_with_sizes()
        rows = self._rows(columns)
        of_rows = self.sums.summary(rows, {
            "primal": ("max", formulas.violation(OPS, column("Ax"), _L, _U, _or(column("products"), common))),
            "gap": ("quick sum", formulas.slackness(OPS, column("kept"), column("Ax"), _L, _U)),
            "broken": ("max", _one_unless(OPS.is_finite(column("Ax")) & OPS.is_finite(_Y))),
        })  # fmt: skip
        columns = self._columns_with_reach(self._columns_with_gradient(columns, rows), rows)
        of_columns = self.sums.summary(columns, {
            "primal": ("max", formulas.violation(OPS, _X, _LB, _UB, column("size"))),
            "dual": ("max", formulas.stationarity(OPS, _RHO, column("terms"), column("size"), scale)),
            "gap": ("quick sum", formulas.slackness(OPS, column("kept"), _X, _LB, _UB)),
            "fall": ("quick sum", formulas.possible_fall(
                OPS, _RHO, column("terms"), _X, column("lower"), column("upper"), column("size"),
                column("without_end"),
            )),
            "broken": ("max", _one_unless(OPS.is_finite(_X) & OPS.is_finite(_RHO) & OPS.is_finite(column("terms")))),
        })  # fmt: skip
        self.temporary.drop("columns_at_x", "rows_at_x", "gradient_at_x", "columns_in_reach")
        if of_rows["broken"] > 0 or of_columns["broken"] > 0 or not np.isfinite(objective):
            return np.inf, np.inf, np.inf, objective
        gap = (of_rows["gap"] + of_columns["gap"] + of_columns["fall"]) / scale
        return max(of_rows["primal"], of_columns["primal"]), of_columns["dual"], gap, objective

    def _columns_with_sizes(self) -> tuple[Plan, float, float, float]:
        """Columns with Px, its largest term and the sizes of variables; the common unit, S, the objective."""
        rows = with_columns(self.program.rows, {"right": formulas.largest_bound(OPS, _L, _U)})
        ratios = self.sums.over_entries(
            project(rows, "row", "right"), "column", {"ratio": ("max", column("right") / OPS.absolute(VALUE))}
        )
        columns: Plan = joined_or(Join(self.program.columns, self.point), ratios, {"ratio": 0.0})
        natural = OPS.maximum(formulas.largest_bound(OPS, _LB, _UB), column("ratio"))
        columns = with_columns(columns, {"natural": natural})
        common = common_unit(self.sums.summary(columns, {"largest": ("max", column("natural"))})["largest"])
        fixed = OPS.where(_LB == _UB, _X, 0.0)
        columns = with_columns(columns, {"unit": formulas.unit(OPS, column("natural"), common), "fixed": fixed})
        of_P = self.sums.over_quadratic(project(columns, "column", "x", "fixed", "unit"), {
            "Px": ("quick sum", VALUE * _X), "of_fixed": ("quick sum", VALUE * column("fixed")),
            "largest_in_Px": ("max", OPS.absolute(VALUE * _X)),
            "curvature": ("max", OPS.absolute(VALUE * column("unit"))),
        })  # fmt: skip
        stored = self.temporary.store(
            "columns_at_x",
            joined_or(columns, of_P, {"Px": 0.0, "of_fixed": 0.0, "largest_in_Px": 0.0, "curvature": 0.0}),
        )
        gradient = OPS.maximum(OPS.maximum(OPS.absolute(_Q), OPS.absolute(column("Px"))), column("curvature"))
        terms = OPS.where(_LB == _UB, 0.0, gradient * formulas.size(OPS, _X, column("unit")))
        found = self.sums.summary(stored, {
            "objective": ("quick sum", _X * (0.5 * column("Px") + _Q)),
            "of_fixed": ("quick sum", column("fixed") * (0.5 * column("of_fixed") + _Q)),
            "largest": ("max", terms),
        })  # fmt: skip
        value, constant = found["objective"] - found["of_fixed"], found["of_fixed"] + self.program.r
        scale = formulas.scale_of_objective(value, constant, found["largest"])
        own = column("unit")
        if self.has_duals:
            own = formulas.affordable_unit(OPS, own, OPS.where(OPS.is_finite(_W), _W, 0.0), scale)
        with_sizes = with_columns(stored, {"size": formulas.size(OPS, _X, own)})
        return with_sizes, common, scale, found["objective"] + self.program.r

    def _rows(self, columns: Plan) -> Plan:
        """Rows with Ax, their largest product, and the dual value as far as it belongs to a finite bound."""
        sums = self.sums.over_entries(project(columns, "column", "x", "size"), "row", {
            "Ax": ("quick sum", VALUE * _X), "products": ("max", OPS.absolute(VALUE) * column("size")),
        })  # fmt: skip
        rows = joined_or(Join(self.program.rows, self.duals), sums, {"Ax": 0.0, "products": 0.0})
        return self.temporary.store("rows_at_x", with_columns(rows, {"kept": formulas.admissible(OPS, _Y, _L, _U)}))

    def _columns_with_gradient(self, columns: Plan, rows: Plan) -> Plan:
        """Columns with the gradient and the largest term in it."""
        sums = self.sums.over_entries(project(rows, "row", "kept"), "column", {
            "Aty": ("quick sum", VALUE * column("kept")),
            "largest_in_Aty": ("max", OPS.absolute(VALUE * column("kept"))),
        })  # fmt: skip
        columns = joined_or(columns, sums, {"Aty": 0.0, "largest_in_Aty": 0.0})
        columns = with_columns(columns, {"kept": formulas.admissible(OPS, _W, _LB, _UB)})
        own = OPS.maximum(OPS.absolute(_Q), OPS.absolute(column("kept")))
        products = OPS.maximum(column("largest_in_Px"), column("largest_in_Aty"))
        columns = with_columns(columns, {"terms": OPS.maximum(own, products)})
        columns = with_columns(columns, {"kept": formulas.unless_rounding(OPS, column("kept"), column("terms"))})
        rho = column("Px") + _Q + column("Aty") + column("kept")
        return self.temporary.store("gradient_at_x", with_columns(columns, {"rho": rho}))

    def _columns_with_reach(self, columns: Plan, rows: Plan) -> Plan:
        """Columns with the bounds up to which they may go; implied ones only where a gradient asks for them."""
        end = OPS.where(_RHO > 0.0, _LB, _UB)
        asks = ~OPS.is_finite(end) & (OPS.absolute(_RHO) > formulas.ROUNDED * column("terms"))
        if self.sums.summary(columns, {"asks": ("max", _one_unless(~asks))})["asks"] == 0:
            return joined_or(with_columns(columns, {"lower": _LB, "upper": _UB}), None, {"without_end": 0.0})
        bounds = self._implied_bounds(project(columns, "column", "lb", "ub"), project(rows, "row", "l", "u"))
        nothing = {"implied_lower": -np.inf, "implied_upper": np.inf, "stops_below": 0.0, "stops_above": 0.0}
        joined = joined_or(columns, bounds, nothing)
        curvature: Outputs = {"curved": ("max", _one_unless(VALUE == 0.0))}
        joined = joined_or(
            joined, self.sums.over_quadratic(project(columns, "column", "x"), curvature), {"curved": 0.0}
        )
        lower = OPS.where(asks, OPS.maximum(_LB, column("implied_lower")), _LB)
        upper = OPS.where(asks, OPS.minimum(_UB, column("implied_upper")), _UB)
        held = [
            OPS.maximum(_one_unless(~OPS.is_finite(bound)), OPS.maximum(column(stops), column("curved")))
            for bound, stops in ((_LB, "stops_below"), (_UB, "stops_above"))
        ]
        without_end = formulas.falls_without_end(OPS, _Q, *held)
        return self.temporary.store(
            "columns_in_reach", with_columns(joined, {"lower": lower, "upper": upper, "without_end": without_end})
        )

    def _implied_bounds(self, columns: Plan, rows: Plan) -> Plan:
        """Bounds that follow from one row and the bounds of the others in it (:mod:`relift.program.implied_bounds`).

        And whether a row stops the variable on its way at all (:mod:`relift.program.held`).
        """
        largest, smallest = formulas.extreme_products(OPS, VALUE, _LB, _UB)
        sums = self.sums.over_entries(columns, "row", {
            "largest": ("quick sum", _or(largest, 0.0, OPS.is_finite(largest))),
            "smallest": ("quick sum", _or(smallest, 0.0, OPS.is_finite(smallest))),
            "no_largest": ("quick sum", _one_unless(OPS.is_finite(largest))),
            "no_smallest": ("quick sum", _one_unless(OPS.is_finite(smallest))),
        })  # fmt: skip
        from_lower, by_lower = formulas.implied_bound(OPS, VALUE, _L, largest, column("largest"), column("no_largest"))
        from_upper, by_upper = formulas.implied_bound(
            OPS, VALUE, _U, smallest, column("smallest"), column("no_smallest")
        )
        up, down = VALUE > 0.0, VALUE < 0.0
        at_least = OPS.maximum(_or(from_lower, -np.inf, by_lower & up), _or(from_upper, -np.inf, by_upper & down))
        at_most = OPS.minimum(_or(from_lower, np.inf, by_lower & down), _or(from_upper, np.inf, by_upper & up))
        has_l, has_u = OPS.is_finite(_L), OPS.is_finite(_U)
        outputs: Outputs = {
            "implied_lower": ("max", at_least), "implied_upper": ("min", at_most),
            "stops_below": ("max", _one_unless(~(up & has_l | down & has_u))),
            "stops_above": ("max", _one_unless(~(up & has_u | down & has_l))),
        }  # fmt: skip
        return self.sums.over_entries(Join(rows, sums), "column", outputs, columns)


def _or(value: Expression, otherwise: float, condition: Expression | None = None) -> Expression:
    """A value where a condition holds (unless told otherwise, that it is positive), else another one."""
    chosen: Expression = OPS.where(value > 0.0 if condition is None else condition, value, otherwise)
    return chosen


def _one_unless(condition: Expression) -> Expression:
    one: Expression = OPS.where(condition, 0.0, 1.0)
    return one
