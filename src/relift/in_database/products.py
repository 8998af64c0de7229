"""Sums and largest products over the entries of a program in an engine: what residuals are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from relift.in_database.program_tables import EngineProgram
from relift.in_database.table_expressions import Expression, column
from relift.in_database.temporary_tables import TemporaryTables
from relift.tables.algebra import Aggregate, AggregateFunction, Column, Join, Plan, Project, Scalar, call, literal

Outputs: TypeAlias = Mapping[str, tuple[AggregateFunction, Expression]]


class TableSums:
    """Aggregations over the entries of a program and over tables of its rows and columns.

    Parameters
    ----------
    program
        Where the entries are.
    temporary
        Where to keep tables.
    """

    def __init__(self, program: EngineProgram, temporary: TemporaryTables) -> None:
        self.program, self.engine, self.temporary = program, program.engine, temporary

    def over_entries(self, other: Plan, by: str, outputs: Outputs, further: Plan | None = None) -> Plan:
        """For each ``row`` or ``column``, aggregations over its entries of A, joined with one or two other tables."""
        joined = Join(self.program.nonzeros, other)
        return self._over(joined if further is None else Join(joined, further), by, outputs)

    def largest_entries_of_rows(self) -> Plan:
        """For each ``row``, its ``largest_entry`` in absolute value."""
        return self._over(
            self.program.nonzeros, "row", {"largest_entry": ("max", Expression(call("abs", Column("value"))))}
        )

    def over_quadratic(self, point: Plan, outputs: Outputs) -> Plan | None:
        """For each ``column``, aggregations over its entries of P, joined with the table of the other column."""
        if self.program.quadratic_nonzeros is None:
            return None
        names = {name: Column(name) for name in point.columns if name != "column"}
        seconds = Project(point, {"second": Column("column"), **names})
        firsts = {"column": Column("first"), "second": Column("second"), "value": Column("value")}
        return self._over(Join(Project(self.program.quadratic_nonzeros, firsts), seconds), "column", outputs)

    def _over(self, joined: Plan, by: str, outputs: Outputs) -> Plan:
        terms = Project(
            joined, {by: Column(by), **{name: expression.scalar for name, (_, expression) in outputs.items()}}
        )
        return Aggregate(terms, (by,), {name: (function, Column(name)) for name, (function, _) in outputs.items()})

    def summary(self, table: Plan, outputs: Outputs) -> dict[str, float]:
        """One row of numbers; zeros for an empty table."""
        values = {name: expression.scalar for name, (_, expression) in outputs.items()}
        aggregated = Aggregate(
            Project(table, values), (), {name: (function, Column(name)) for name, (function, _) in outputs.items()}
        )
        if self.engine.count(table, 1) == 0:
            return dict.fromkeys(outputs, 0.0)
        found = self.engine.fetch(aggregated)
        return {name: float(found[name][0]) for name in outputs}


def with_columns(table: Plan, added: Mapping[str, Expression]) -> Project:
    """A table with further columns, or others in place of those of the same names."""
    kept: dict[str, Scalar] = {name: Column(name) for name in table.columns}
    return Project(table, kept | {name: expression.scalar for name, expression in added.items()})


def joined_or(table: Plan, sums: Plan | None, defaults: Mapping[str, float]) -> Plan:
    """A table with the columns of sums where they have a row for it, and with defaults elsewhere."""
    if sums is None:
        return with_columns(table, {name: Expression(literal(value)) for name, value in defaults.items()})
    joined = Join(table, sums, "left")
    filled = {name: Expression(call("coalesce", Column(name), literal(value))) for name, value in defaults.items()}
    return with_columns(joined, filled)


VALUE = column("value")
"""The value of an entry."""
