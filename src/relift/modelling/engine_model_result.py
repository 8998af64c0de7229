"""The answer for a model that was lifted inside an engine: values stay there until they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, final

import numpy as np

from relift.errors import OptionError
from relift.grounding.atoms import AtomIndex, Block
from relift.in_database.ground_tables import GroundTables
from relift.in_database.lift_tables import EngineLifting, EngineResult
from relift.modelling.model_answer import ModelAnswer, block_of, stacked
from relift.modelling.result_table import ResultTable
from relift.program.solution import Status
from relift.tables.algebra import Column, Filter, Join, Plan, Project, Scalar, Unit, all_of, any_of, call, literal

BATCH = 1_000_000
"""Rows of a result that are fetched at a time."""
SMALLEST_MOVE = 1e-9
"""Relative to the largest move in a ray; what moves less stands still."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class EngineModelResult(ModelAnswer):
    """The answer for a model that was lifted inside an engine; values stay there until they are asked for.

    Parameters
    ----------
    grounded
        The original program, as tables.
    result
        The certified answer.
    seconds
        How long grounding took.
    """

    grounded: GroundTables
    result: EngineResult
    seconds: float = 0.0
    owns_engine: bool = False

    def _sizes(self) -> str:
        program = self.grounded.program
        sizes = f"{program.n_variables:,} unknowns, {program.n_rows:,} rows, {self.grounded.n_nonzeros:,} nonzeros"
        return f"{sizes} in {program.engine.name}"

    @property
    def lifting(self) -> EngineLifting:
        """The classes, and the small program."""
        return self.result.lifting

    # --- values

    def values(self, name: str) -> ResultTable:
        """The values of a variable: its key columns, then ``value``; all of them are fetched.

        Raises
        ------
        OptionError
            If there is no such variable, or the solve gave no point.
        """
        return _joined(list(self.batches(name)), self._variable(name))

    def batches(self, name: str, rows: int = BATCH) -> Iterator[ResultTable]:
        """The same, so many rows at a time.

        Parameters
        ----------
        name
            The variable.
        rows
            Rows of a batch.
        """
        block = self._variable(name)
        for start in range(0, max(block.size, 1), rows):
            yield self._fetched(self._plan(self.grounded.atoms, block, "x", start, rows), block, "value")

    def value(self, name: str, *entry: str | float) -> float:
        """The value of one unknown; nothing else is fetched.

        Raises
        ------
        OptionError
            If there is no such unknown, or no point.
        """
        self._variable(name)
        number = self.grounded.atoms.number(name, *entry)
        point = self.result.expanded.columns
        found = self.grounded.engine.fetch(Filter(point, call("=", Column("column"), literal(number))))
        return float(found["x"][0])

    def duals(self, name: str) -> ResultTable:
        """The dual values of a constraint: keys, then ``dual``; all of them are fetched."""
        blocks = block_of(self.grounded.rows, name, "constraint")
        tables = [self._fetched(self._plan(self.grounded.rows, b, "y", 0, max(b.size, 1)), b, "dual") for b in blocks]
        columns = stacked([dict(table) for table in tables], blocks)
        dual = columns.pop("dual")
        return ResultTable({**columns, "dual": dual}, len(columns))

    def ray(self) -> dict[str, ResultTable]:
        """The direction in which an unbounded model improves: for each variable the unknowns that move in it.

        Only these are fetched.

        Raises
        ------
        OptionError
            If the model is not unbounded.
        """
        ray = self.result.small.ray_x
        if self.status != Status.UNBOUNDED or ray is None:
            raise OptionError(
                f"there is no ray: the model is {str(self.status).replace('_', ' ')}.", "Unbounded models have one."
            )
        largest, found = float(np.abs(ray).max()), dict[str, ResultTable]()
        x, least = Column("x"), SMALLEST_MOVE * largest
        moves = any_of([call(">", x, literal(least)), call("<", x, literal(-least))])
        for name in self.variables:
            (block,) = block_of(self.grounded.atoms, name, "variable")
            plan = Filter(self._plan(self.grounded.atoms, block, "x", 0, max(block.size, 1)), moves)
            table = self._fetched(plan, block, "ray")
            if table.n_rows:
                found[name] = ResultTable({**table, "ray": table["ray"] / largest}, len(block.keys))
        return found

    def eval(self, expression: str) -> NoReturn:
        """Refused: expressions are evaluated where the values are.

        Raises
        ------
        OptionError
            Always, with what to do instead.
        """
        raise OptionError(
            f"eval({expression!r}) is not for models that were lifted inside an engine: their values stay there.",
            "Keep the values of a variable as a table with store(name, table) and query that, or solve the model"
            " without lift_in_engine.",
        )

    def ranging(self) -> NoReturn:
        """Refused: ranges need the original program here.

        Raises
        ------
        OptionError
            Always, with what to do instead.
        """
        raise OptionError(
            "ranging() is not for models that were lifted inside an engine: it needs the original program here.",
            "Solve the model without lift_in_engine.",
        )

    def store(self, name: str, table: str) -> int:
        """Keep the values of a variable as a table of the engine: columns ``c0, c1, ...``, then ``value``; how many.

        Parameters
        ----------
        name
            The variable.
        table
            Name of the new table.
        """
        block = self._variable(name)
        plan = self._plan(self.grounded.atoms, block, "x", 0, max(block.size, 1))
        outputs: dict[str, Scalar] = {f"c{k}": Column(f"#{k}") for k in range(len(block.keys))}
        return self.grounded.engine.create(table, Project(plan, outputs | {"value": Column("x")}))

    def _plan(self, index: AtomIndex, block: Block, value: str, start: int, rows: int) -> Plan:
        """Tuples of a block with a column of the answer."""
        key, table = ("column", self.result.expanded.columns) if value == "x" else ("row", self.result.expanded.rows)
        first = block.start + start
        inside = all_of([
            call(">=", Column(key), literal(first)),
            call("<", Column(key), literal(min(first + rows, block.stop))),
        ])  # fmt: skip
        some = Filter(table, inside)
        number = call("integer", call("-", Column(key), literal(block.start)))
        numbered = Project(some, {"#number": number, value: Column(value)})
        if block.table is None or not block.keys:
            return Join(Project(Unit(), {"#number": literal(0)}), numbered)
        return Join(block.table.scan([f"#{k}" for k in range(len(block.keys))], "#number"), numbered)

    def _fetched(self, plan: Plan, block: Block, name: str) -> ResultTable:
        found = self.grounded.engine.fetch(plan)
        order = np.argsort(found["#number"], kind="stable")
        values = found["x" if "x" in found else "y"][order]
        keys = {key: found[f"#{k}"][order] for k, key in enumerate(block.keys)}
        return ResultTable({**keys, name: values}, len(keys))

    def close(self) -> None:
        """Give the tables back: nothing can be fetched any more."""
        if self.owns_engine and not self.grounded.engine.is_persistent:
            self.grounded.engine.close()
            return
        self.lifting.close()
        self.grounded.drop()
        if self.owns_engine:
            self.grounded.engine.close()


def _joined(tables: list[ResultTable], block: Block) -> ResultTable:
    if len(tables) == 1:
        return tables[0]
    return ResultTable({key: np.concatenate([t[key] for t in tables]) for key in tables[0]}, len(block.keys))
