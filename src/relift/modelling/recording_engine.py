"""An engine that records the queries behind each statement, for ``relift show --sql``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from relift.tables.algebra import Plan, Scan
from relift.tables.delegating_engine import DelegatingEngine
from relift.tables.engine import Arrays, Engine
from relift.tables.recursion import RecursiveRules

STATEMENT_STARTS = ("the constraint", "the objective", "the rules", "the variable")
"""How progress messages begin that say that grounding has come to the next statement."""


@final
class RecordingEngine(DelegatingEngine):
    """An engine that delegates everything to another one, and records which queries each statement asked.

    Parameters
    ----------
    inner
        The engine that does the work.
    """

    def __init__(self, inner: Engine) -> None:
        super().__init__(inner)
        self.recorded: list[tuple[str, list[str]]] = [("tables", [])]

    def tell(self, stage: str, message: str) -> None:
        """Record where a statement begins, and delegate."""
        if message.startswith(STATEMENT_STARTS):
            self.recorded.append((message, []))
        super().tell(stage, message)

    def _record(self, plan: Plan) -> None:
        self.recorded[-1][1].append(self.inner.explain(plan))

    def create(
        self, name: str, plan: Plan, *, number: tuple[str, tuple[str, ...]] | None = None, budget: int | None = None
    ) -> int:
        """Record the query, and delegate."""
        self._record(plan)
        return super().create(name, plan, number=number, budget=budget)

    def append(self, name: str, plan: Plan) -> int:
        """Record the query, and delegate."""
        self._record(plan)
        return super().append(name, plan)

    def add_new(self, name: str, plan: Plan, known: Scan) -> int:
        """Record the query, and delegate."""
        self._record(plan)
        return super().add_new(name, plan, known)

    def close_rules(self, rules: RecursiveRules, names: Mapping[str, str], most: int) -> list[int] | None:
        """Record the queries, and delegate."""
        for rule in rules.rules:
            self._record(rule.rest)
        return super().close_rules(rules, names, most)

    def fetch(self, plan: Plan, *, budget: int | None = None) -> Arrays:
        """Record the query, and delegate."""
        self._record(plan)
        return super().fetch(plan, budget=budget)
