"""What all steps of grounding share: the engine, the tables so far, the limits, and the checks around every query."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import final

from relift.errors import DataError, SizeLimitError
from relift.grounding.empty_joins import EmptyJoins
from relift.grounding.queries_from_model import Demand, Queries
from relift.language.checked_model import CheckedModel
from relift.tables.algebra import Filter, Join, Limit, Plan, Project, Scan, components, passes_columns
from relift.tables.engine import Arrays, Engine
from relift.tables.load import StoredTable
from relift.tables.row_bounds import row_bounds

DEFAULT_LIMIT = 50_000_000
WORK_FACTOR = 20
"""A query may pass through so many times more rows than its answer may have."""


@final
@dataclass
class Workspace:
    """The state of grounding.

    Parameters
    ----------
    engine
        Where the tables are.
    model
        The model.
    limit
        The most rows that any result may have, and the most nonzeros of the program.
    tables, scalars, unknowns
        What the names of the model stand for: stored tables, values of params without arguments, and tables that number
        the unknowns.
    sizes
        Rows of stored tables, by their name in the engine.
    scales
        How many decimals the values of params have, by the name of their table in the engine.
    prefix
        Names of new tables begin so; empty in an engine that forgets them with the session.
    joins
        What was told of joins that find nothing.
    replaced
        Names whose data in the model have been replaced by others.
    """

    engine: Engine
    model: CheckedModel
    limit: int = DEFAULT_LIMIT
    tables: dict[str, StoredTable] = field(default_factory=dict)
    scalars: dict[str, float | int] = field(default_factory=dict)
    unknowns: dict[str, StoredTable] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    scales: dict[str, int | None] = field(default_factory=dict)
    prefix: str = ""
    joins: EmptyJoins = field(default_factory=EmptyJoins)
    replaced: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.engine.most_work = self.limit * WORK_FACTOR

    def fresh_name(self, hint: str) -> str:
        """A new name for a table: nothing of the user's name but its letters and digits gets through."""
        letters = "".join(c for c in hint.lower() if c.isascii() and c.isalnum())[:30]
        return f"{self.prefix}t{next(self.engine.numbers)}_{letters}"

    def queries(self) -> Queries:
        """A translator for one statement."""
        return Queries(self.tables, self.model.parameters, self.scalars, self.unknowns, self.model.source)

    def store(self, table: StoredTable) -> StoredTable:
        """Remember the size of a table."""
        self.sizes[table.name] = table.rows
        return table

    def drop(self, table: StoredTable) -> None:
        """Forget a table."""
        self.engine.drop(table.name)
        self.sizes.pop(table.name, None)

    def create(
        self,
        name: str,
        plan: Plan,
        queries: Queries,
        statement: str,
        number: tuple[str, tuple[str, ...]] | None = None,
        is_last: bool = True,
    ) -> int:
        """Store a plan, after its demands and its size have been checked.

        Parameters
        ----------
        name
            Of the new table.
        plan
            What to store.
        queries
            The translator that made it.
        statement
            What asks for it.
        number
            As in `Engine.create`.
        is_last
            Whether it is the whole answer, so that an empty join is worth telling; a round of a recursion is not.
        """
        self.check(queries, statement)
        budget = self.forecast(plan, statement)
        rows = self.engine.create(name, plan, number=number, budget=budget)
        self.sizes[name] = rows
        if is_last:
            self.joins.look(self, plan, statement, not rows)
        return rows

    def fetch(self, plan: Plan, queries: Queries, statement: str) -> Arrays:
        """The rows of a plan, after its demands and its size have been checked."""
        self.check(queries, statement)
        found = self.engine.fetch(plan, budget=self.forecast(plan, statement))
        self.joins.look(self, plan, statement, bool(found) and not next(iter(found.values())).size)
        return found

    # --- demands ----------------------------------------------------------------------------------------------------

    def check(self, queries: Queries, statement: str = "") -> None:
        """Check what must hold before the plans of a statement are run, once.

        Parameters
        ----------
        queries
            The translator that made the plans.
        statement
            What asks, for messages.

        Raises
        ------
        DataError
            If some tuple violates it.
        """
        pending, queries.before[:] = list(queries.before), []
        for demand in pending:
            self._check(queries, demand)
        lookups, queries.lookups[:] = list(queries.lookups), []
        for lookup in lookups:
            self.joins.look_up(self, lookup, statement)

    def explain_missing(self, queries: Queries, statement: str) -> DataError:
        """Find the tuple behind a missing value."""
        for demand in queries.afterwards:
            try:
                self._check(queries, demand)
            except DataError as error:
                return error
        return DataError(f"{statement}: a coefficient is not a finite number.", "Look for infinities or overflow.")

    def _check(self, queries: Queries, demand: Demand) -> None:
        violating = Filter(demand.plan, demand.is_violated)
        if not self.engine.count(violating, 1):
            return
        names = {f"#shown{k}": scalar for k, scalar in enumerate(demand.shown)}
        row = self.engine.fetch(Limit(Project(violating, names), 1, tuple(names))) if names else {}
        entry = tuple(_plain(row[name][0]) for name in names)
        what = demand.what if entry else demand.what.replace(" at {}", "")
        shown = f"({', '.join(map(str, entry))})" if entry else ""
        raise queries.error(what.format(shown), demand.hint, demand.span, demand.table, entry)

    # --- sizes ------------------------------------------------------------------------------------------------------

    def forecast(self, plan: Plan, statement: str) -> int | None:
        """Refuse a plan with too many rows before it is run, by counting no further than the limit.

        Counting is left out where sizes and keys of the tables bound the answer.

        Returns
        -------
        int or None
            The limit to run it under; None if it is known to be kept.

        Raises
        ------
        SizeLimitError
            If it has more rows than the limit, or passes through far more.
        """
        bounds = row_bounds(plan, self.sizes)
        for node in _tops_of_joins(plan):
            if bounds[id(node)] > self.limit * WORK_FACTOR:
                self._refuse_product(node, statement)
        if bounds[id(plan)] <= self.limit:
            return None
        rows = self.engine.count(plan, self.limit + 1)
        if rows > self.limit:
            raise SizeLimitError(
                f"{statement} would have more than {self.limit:,} rows, which is the limit.",
                "Narrow its query (is a condition missing that links its parts?), or raise the limit.",
                statement,
                rows,
                self.limit,
            )
        return self.limit

    def _refuse_product(self, plan: Plan, statement: str) -> None:
        """Refuse joins that nothing links, if their product is far larger than any result may be."""
        parts = components(plan)
        if len(parts) < 2 and not any(component.is_product for component in parts):
            return
        allowed = self.limit * WORK_FACTOR
        total = 1
        for component in parts:
            joined = reduce(Join, component.parts)
            is_stored = isinstance(joined, Scan)
            total *= (
                int(row_bounds(joined, self.sizes)[id(joined)]) if is_stored else self.engine.count(joined, allowed + 1)
            )
        if total > allowed:
            raise SizeLimitError(
                f"{statement} would pass through {total:,} combinations; the limit is {allowed:,}.",
                "A condition is missing that links its parts by an equality or a common relation; or raise the limit.",
                statement,
                total,
                allowed,
            )


def _tops_of_joins(plan: Plan) -> list[Plan]:
    """Inner joins, with the filters and projections above them, that stand under no other inner join."""
    tops: list[Plan] = []
    stack: list[tuple[Plan, bool]] = [(plan, False)]
    while stack:
        node, is_inside = stack.pop()
        is_inner = (isinstance(node, Join) and node.kind == "inner") or passes_columns(node)
        if is_inner and not is_inside:
            tops.append(node)
        stack.extend((part, is_inner) for part in node.inputs)
    return tops


def for_statement(error: SizeLimitError, statement: str) -> SizeLimitError:
    """The same error, with the statement that caused it."""
    if error.statement:
        return error
    return SizeLimitError(f"{statement}: {error.message}", error.hint, statement, error.rows, error.limit)


def _plain(value: object) -> str | int | float:
    return value.item() if hasattr(value, "item") else value  # type: ignore[return-value]
