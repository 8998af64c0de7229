r"""The answer on the ground program, expanded and certified where the ground program is.

Expansion: :math:`x = Sz`, and multipliers are shared by class size, :math:`y_i = \hat y\, f_i / (f_r |class|)` where
rows are compared after multiplication by f. The residuals are those of :mod:`relift.lifting.certificate`, formula by
formula: products with A, its transpose and P are three aggregations over the entries, and what is fetched is one row
of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from relift.engine_lifting.program_tables import EngineProgram
from relift.engine_lifting.scratch import Scratch
from relift.engine_lifting.verify import LabelledClasses
from relift.lifting.certificate import ROUNDING, Certificate
from relift.program.solution import Solution, Status
from relift.tables.algebra import Aggregate, Column, Join, Plan, Project, Scalar, all_of, any_of, call, literal, project

Vector = NDArray[np.float64]
ZERO = literal(0.0)
ONE = literal(1.0)


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
    check = _Check(program, scratch, expanded)
    if solution.status == Status.INFEASIBLE:
        return Certificate(tolerance, ray_residual=check.infeasibility() if solution.ray_y is not None else np.inf)
    if solution.status == Status.UNBOUNDED:
        return Certificate(tolerance, ray_residual=check.unboundedness() if solution.ray_x is not None else np.inf)
    if solution.x is None:
        return Certificate(tolerance)
    sign = 1.0 if program.sense == "min" else -1.0
    primal, dual, gap, objective = check.point()
    if solution.y is None or solution.w is None:
        return Certificate(tolerance, primal, objective=sign * objective)
    return Certificate(tolerance, primal, dual, gap, objective=sign * objective)


class _Check:
    def __init__(self, program: EngineProgram, scratch: Scratch, expanded: ExpandedTables) -> None:
        self.program, self.engine, self.scratch = program, program.engine, scratch
        self.x, self.y = expanded.columns, expanded.rows

    def point(self) -> tuple[float, float, float, float]:
        """Primal residual, dual residual, duality gap and objective."""
        rows, columns = self.rows("rows_at_x"), self.columns("columns_at_x")
        l, u, Ax, y = (Column(c) for c in ("l", "u", "Ax", "y"))
        x, w, q, lb, ub = (Column(c) for c in ("x", "w", "q", "lb", "ub"))
        Px, Aty = Column("Px"), Column("Aty")
        rho = call("+", call("+", Px, q), call("+", Aty, w))
        end = call("if", call(">", rho, ZERO), lb, ub)
        distance = call("if", _is_finite(end), call("-", x, end), x)
        of_rows = self.summary(rows, {
            "primal": ("max", call("greatest", _below(Ax, l), _above(Ax, u))),
            "loose": ("max", _pressing_on_nothing(y, l, u)),
            "gap": ("quick sum", _slackness(y, Ax, l, u)),
            "finite": ("min", _one_if(call("and", call("is finite", Ax), call("is finite", y)))),
        })  # fmt: skip
        half = call("*", literal(0.5), call("*", x, Px))
        of_columns = self.summary(columns, {
            "primal": ("max", call("greatest", _below(x, lb), _above(x, ub))),
            "loose": ("max", _pressing_on_nothing(w, lb, ub)),
            "gap": ("quick sum", call("+", _slackness(w, x, lb, ub), call("abs", call("*", rho, distance)))),
            "rho": ("max", call("abs", rho)),
            "size": ("max", call("greatest", *(call("abs", term) for term in (Px, q, Aty, w)))),
            "objective": ("quick sum", call("+", half, call("*", q, x))),
            "finite": ("min", _one_if(call("and", call("is finite", x), call("is finite", rho)))),
        })  # fmt: skip
        self.scratch.drop("rows_at_x", "columns_at_x")
        objective = of_columns["objective"] + self.program.r
        if of_rows["finite"] < 1 or of_columns["finite"] < 1:
            return np.inf, np.inf, np.inf, objective
        size = 1.0 + of_columns["size"]
        dual = max(of_columns["rho"], of_columns["loose"], of_rows["loose"]) / size
        gap = (of_rows["gap"] + of_columns["gap"]) / (1.0 + abs(objective))
        return max(of_rows["primal"], of_columns["primal"]), dual, gap, objective

    def infeasibility(self) -> float:
        """How far y is from a proof that no point is feasible; see :func:`relift.lifting.certificate`."""
        l, u, y = Column("l"), Column("u"), Column("y")
        kept = call("if", any_of([
            all_of([call(">", y, ZERO), call("=", u, literal(np.inf))]),
            all_of([call("<", y, ZERO), call("=", l, literal(-np.inf))]),
        ]), ZERO, y)  # fmt: skip
        settled = Project(Join(self.program.rows, self.y), {"row": Column("row"), "y": kept, "l": l, "u": u})
        ray = self.scratch.store("ray_y", settled)
        columns = self.columns("columns_at_y", project(ray, "row", "y"))
        w = call("negative", Column("Aty"))
        lb, ub = Column("lb"), Column("ub")
        is_loose = any_of([
            all_of([call(">", w, ZERO), call("=", ub, literal(np.inf))]),
            all_of([call("<", w, ZERO), call("=", lb, literal(-np.inf))]),
        ])  # fmt: skip
        held = call("if", is_loose, ZERO, w)
        left = call("if", is_loose, call("abs", w), ZERO)
        of_rows = self.summary(ray, {
            "support": ("quick sum", _support(y, l, u)), "terms": ("quick sum", call("abs", _support(y, l, u))),
            "largest": ("max", call("abs", y)),
        })  # fmt: skip
        per_size = call("if", call(">", left, ZERO), call("/", left, Column("largest_entry")), ZERO)
        of_columns = self.summary(columns, {
            "support": ("quick sum", _support(held, lb, ub)),
            "terms": ("quick sum", call("abs", _support(held, lb, ub))),
            "left": ("max", left), "per_size": ("max", per_size),
        })  # fmt: skip
        self.scratch.drop("ray_y", "columns_at_y")
        beta = -(of_rows["support"] + of_columns["support"])
        if not beta > ROUNDING * (of_rows["terms"] + of_columns["terms"]):
            return np.inf
        largest = of_rows["largest"]
        return max(of_columns["left"] / beta, of_columns["per_size"] / largest if largest else 0.0)

    def unboundedness(self) -> float:
        """How far x is from a direction in which the objective falls for ever."""
        rows, columns = self.rows("rows_at_x"), self.columns("columns_at_x")
        x, q, Px = Column("x"), Column("q"), Column("Px")
        outwards = _outwards(Column("Ax"), Column("l"), Column("u"))
        per_size = call("if", call(">", outwards, ZERO), call("/", outwards, Column("largest_entry")), ZERO)
        of_rows = self.summary(rows, {"out": ("max", outwards), "per_size": ("max", per_size)})
        bent = call("abs", Px)
        bent_per_size = call("if", call(">", bent, ZERO), call("/", bent, Column("largest_in_P")), ZERO)
        of_columns = self.summary(columns, {
            "fall": ("quick sum", call("negative", call("*", q, x))),
            "terms": ("quick sum", call("abs", call("*", q, x))),
            "out": ("max", _outwards(x, Column("lb"), Column("ub"))), "length": ("max", call("abs", x)),
            "bent": ("max", bent), "bent_per_size": ("max", bent_per_size),
        })  # fmt: skip
        self.scratch.drop("rows_at_x", "columns_at_x")
        fall, length = of_columns["fall"], of_columns["length"]
        if not fall > ROUNDING * of_columns["terms"]:
            return np.inf
        wrong = max(of_rows["out"], of_columns["out"], of_columns["bent"]) / fall
        relative = max(of_rows["per_size"], of_columns["out"], of_columns["bent_per_size"]) / length
        return float(max(wrong, relative))

    # --- products ---------------------------------------------------------------------------------------------------

    def rows(self, name: str) -> Plan:
        """Rows with Ax, y and their largest entry."""
        point = project(self.x, "column", "x")
        terms = Project(Join(self.program.nonzeros, point), {
            "row": Column("row"), "term": call("*", Column("value"), Column("x")), "size": call("abs", Column("value")),
        })  # fmt: skip
        sums = Aggregate(
            terms, ("row",), {"Ax": ("quick sum", Column("term")), "largest_entry": ("max", Column("size"))}
        )
        joined = Join(Join(self.program.rows, self.y), sums, "left")
        return self.scratch.store(name, _filled(joined, "Ax", "largest_entry"))

    def columns(self, name: str, y: Plan | None = None) -> Plan:
        """Columns with x, w, A'y, Px and their largest entries."""
        y = self.y if y is None else y
        terms = Project(Join(self.program.nonzeros, y), {
            "column": Column("column"), "term": call("*", Column("value"), Column("y")),
            "size": call("abs", Column("value")),
        })  # fmt: skip
        sums = Aggregate(terms, ("column",), {
            "Aty": ("quick sum", Column("term")), "largest_entry": ("max", Column("size")),
        })  # fmt: skip
        joined = Join(Join(self.program.columns, self.x), sums, "left")
        names = ["Aty", "largest_entry", "Px", "largest_in_P"]
        if self.program.quadratic_nonzeros is None:
            nothing = {c: Column(c) for c in joined.columns} | {"Px": ZERO, "largest_in_P": ZERO}
            return self.scratch.store(name, _filled(Project(joined, nothing), *names))
        point = Project(self.x, {"second": Column("column"), "x": Column("x")})
        terms = Project(Join(self.program.quadratic_nonzeros, point), {
            "column": Column("first"), "term": call("*", Column("value"), Column("x")),
            "size": call("abs", Column("value")),
        })  # fmt: skip
        sums = Aggregate(terms, ("column",), {
            "Px": ("quick sum", Column("term")), "largest_in_P": ("max", Column("size")),
        })  # fmt: skip
        return self.scratch.store(name, _filled(Join(joined, sums, "left"), *names))

    def summary(self, table: Plan, outputs: dict[str, Any]) -> dict[str, float]:
        """One row of numbers; of an empty table zeros, and all of it is finite."""
        values = {name: scalar for name, (_, scalar) in outputs.items()}
        aggregated = Aggregate(
            Project(table, values), (), {name: (function, Column(name)) for name, (function, _) in outputs.items()}
        )
        found = self.engine.fetch(aggregated)
        is_empty = self.engine.count(table, 1) == 0
        return {name: (1.0 if name == "finite" else 0.0) if is_empty else float(found[name][0]) for name in outputs}


def _filled(joined: Plan, *names: str) -> Plan:
    return Project(joined, {c: call("coalesce", Column(c), ZERO) if c in names else Column(c) for c in joined.columns})


def _one_if(condition: Scalar) -> Scalar:
    return call("if", condition, ONE, ZERO)


def _is_finite(bound: Scalar) -> Scalar:
    return call("is finite", bound)


def _below(value: Scalar, lower: Scalar) -> Scalar:
    excess = call("greatest", call("-", lower, value), ZERO)
    return call("if", _is_finite(lower), call("/", excess, call("+", ONE, call("abs", lower))), ZERO)


def _above(value: Scalar, upper: Scalar) -> Scalar:
    excess = call("greatest", call("-", value, upper), ZERO)
    return call("if", _is_finite(upper), call("/", excess, call("+", ONE, call("abs", upper))), ZERO)


def _pressed(multiplier: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    return call("if", call(">", multiplier, ZERO), upper, lower)


def _pressing_on_nothing(multiplier: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    return call("if", _is_finite(_pressed(multiplier, lower, upper)), ZERO, call("abs", multiplier))


def _slackness(multiplier: Scalar, value: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    bound = _pressed(multiplier, lower, upper)
    return call("if", _is_finite(bound), call("abs", call("*", multiplier, call("-", value, bound))), ZERO)


def _support(multiplier: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    bound = _pressed(multiplier, lower, upper)
    return call("if", call("=", multiplier, ZERO), ZERO, call("*", multiplier, bound))


def _outwards(direction: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    above = call("if", _is_finite(upper), call("greatest", direction, ZERO), ZERO)
    below = call("if", _is_finite(lower), call("greatest", call("negative", direction), ZERO), ZERO)
    return call("+", above, below)
