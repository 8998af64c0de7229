"""The residuals of a ray, computed in the engine (see :mod:`relift.lifting.ray_residuals`)."""

from __future__ import annotations

from typing import final

from relift.in_database.products import VALUE, Outputs, TableSums, joined_or, with_columns
from relift.in_database.program_tables import EngineProgram
from relift.in_database.table_expressions import EXPRESSIONS as OPS
from relift.in_database.table_expressions import column
from relift.in_database.temporary_tables import TemporaryTables
from relift.lifting.ray_residuals import DUST_OF_RAYS
from relift.program import formulas
from relift.tables.algebra import Join, Plan, project

_X, _Y, _Q = column("x"), column("y"), column("q")
_LB, _UB, _L, _U = column("lb"), column("ub"), column("l"), column("u")
_ENTRY = column("largest_entry")


@final
class RayCheck:
    """A ray on the program in the engine.

    Parameters
    ----------
    program
        The original program.
    temporary
        Where to keep tables.
    columns, rows
        The ray: ``column``, ``x`` and ``row``, ``y``.
    """

    def __init__(self, program: EngineProgram, temporary: TemporaryTables, columns: Plan, rows: Plan) -> None:
        self.program, self.temporary = program, temporary
        self.sums = TableSums(program, temporary)
        self.direction, self.duals = project(columns, "column", "x"), project(rows, "row", "y")

    def infeasibility(self) -> float:
        """How far y is from a proof that no point is feasible, as it is or without its dust."""
        sizes = self.sums.largest_entries_of_rows()
        rows = joined_or(Join(self.program.rows, self.duals), sizes, {"largest_entry": 1.0})
        rows = self.temporary.store("ray_y", rows)
        largest = self.sums.summary(rows, {"size": ("max", OPS.absolute(_Y) * _ENTRY)})["size"]
        as_given = self._infeasibility(rows, 0.0)
        cleared = as_given if as_given == 0.0 else self._infeasibility(rows, DUST_OF_RAYS * largest)
        self.temporary.drop("ray_y", "kept_ray_y", "columns_at_y")
        return min(as_given, cleared)

    def _infeasibility(self, rows: Plan, dust: float) -> float:
        y = formulas.admissible(OPS, _Y, _L, _U)
        y = OPS.where(OPS.absolute(_Y) * _ENTRY <= dust, 0.0, y)
        ray = self.temporary.store("kept_ray_y", with_columns(rows, {"y": y}))
        of_rows = self.sums.summary(ray, {
            "support": ("quick sum", formulas.support(OPS, _Y, _L, _U)),
            "terms": ("quick sum", OPS.absolute(formulas.support(OPS, _Y, _L, _U))),
            "largest": ("max", OPS.absolute(_Y) * _ENTRY),
        })  # fmt: skip
        sums = self.sums.over_entries(project(ray, "row", "y", "largest_entry"), "column", {
            "Aty": ("quick sum", VALUE * _Y), "largest_share": ("max", OPS.absolute(VALUE) / _ENTRY),
        })  # fmt: skip
        columns = joined_or(self.program.columns, sums, {"Aty": 0.0, "largest_share": 0.0})
        columns = self.temporary.store("columns_at_y", with_columns(columns, {"w": -column("Aty")}))
        held = formulas.admissible(OPS, column("w"), _LB, _UB)
        left = OPS.absolute(column("w") - held)
        of_columns = self.sums.summary(columns, {
            "support": ("quick sum", formulas.support(OPS, held, _LB, _UB)),
            "terms": ("quick sum", OPS.absolute(formulas.support(OPS, held, _LB, _UB))),
            "left": ("max", left), "per_size": ("max", formulas.ratio(OPS, left, column("largest_share"))),
        })  # fmt: skip
        beta = -(of_rows["support"] + of_columns["support"])
        if not beta > formulas.ROUNDING * (of_rows["terms"] + of_columns["terms"]):
            return float("inf")
        largest = of_rows["largest"]
        return max(of_columns["left"] / beta, of_columns["per_size"] / largest if largest else 0.0)

    def unboundedness(self) -> float:
        """How far x is from a direction in which the objective is unbounded, as it is or without its dust."""
        as_given = self._unboundedness(self.direction)
        if as_given == 0.0:
            return as_given
        length = self.sums.summary(self.direction, {"length": ("max", OPS.absolute(_X))})["length"]
        cleared = OPS.where(OPS.absolute(_X) <= DUST_OF_RAYS * length, 0.0, _X)
        return min(as_given, self._unboundedness(with_columns(self.direction, {"x": cleared})))

    def _unboundedness(self, direction: Plan) -> float:
        products: Outputs = {"along": ("quick sum", VALUE * _X), "largest": ("max", OPS.absolute(VALUE * _X))}
        nothing = {"along": 0.0, "largest": 0.0}
        rows = joined_or(self.program.rows, self.sums.over_entries(direction, "row", products), nothing)
        leaves = formulas.ratio(OPS, formulas.outwards(OPS, column("along"), _L, _U), column("largest"))
        of_rows = self.sums.summary(rows, {"out": ("max", leaves)})
        of_P = self.sums.over_quadratic(direction, products)
        columns = joined_or(Join(self.program.columns, direction), of_P, nothing)
        of_columns = self.sums.summary(columns, {
            "fall": ("quick sum", -(_Q * _X)), "terms": ("quick sum", OPS.absolute(_Q * _X)),
            "largest": ("max", OPS.absolute(_Q * _X)),
            "out": ("max", formulas.ratio(OPS, formulas.outwards(OPS, _X, _LB, _UB), OPS.absolute(_X))),
            "bent": ("max", formulas.ratio(OPS, OPS.absolute(column("along")), column("largest"))),
        })  # fmt: skip
        fall = of_columns["fall"]
        if not fall > formulas.ROUNDING * of_columns["terms"]:
            return float("inf")
        worst = max(of_rows["out"], of_columns["out"], of_columns["bent"])
        return float(worst * max(1.0, of_columns["largest"] / fall))
