"""An engine that delegates every member to another one: the base of engines that watch what another engine is asked.

Each member of :class:`~relift.tables.engine.Engine` is written out; a test goes through the members of `Engine` and
fails for one that is missing here, because a missing one would quietly keep the default of the base class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from relift.settings import ProgressCallback
from relift.tables.algebra import Plan, Scan, Type
from relift.tables.engine import Arrays, Engine
from relift.tables.recursion import RecursiveRules
from relift.tables.sources.table import Source, Stored


class DelegatingEngine(Engine):
    """An engine whose every member is that of another engine.

    Parameters
    ----------
    inner
        The engine that does the work.
    """

    def __init__(self, inner: Engine) -> None:  # the base class would give it a state of its own
        self.inner = inner

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the inner engine."""
        return self.inner.name

    @property
    def knows_tables(self) -> bool:  # type: ignore[override]
        """Whether the inner engine is a server with tables of the user."""
        return self.inner.knows_tables

    @property
    def is_persistent(self) -> bool:  # type: ignore[override]
        """Whether tables of the inner engine outlive the process."""
        return self.inner.is_persistent

    @property
    def most_work(self) -> int | None:
        """The limit on rows that a query of the inner engine may pass through."""
        return self.inner.most_work

    @most_work.setter
    def most_work(self, rows: int | None) -> None:
        self.inner.most_work = rows

    @property
    def progress(self) -> ProgressCallback | None:
        """The progress callback of the inner engine."""
        return self.inner.progress

    @progress.setter
    def progress(self, callback: ProgressCallback | None) -> None:
        self.inner.progress = callback

    @property
    def numbers(self) -> Iterator[int]:  # type: ignore[override]
        """The numbers from which the inner engine names tables."""
        return cast(Iterator[int], self.inner.numbers)

    def attach(self, name: str, source: Source) -> dict[str, Type]:
        """Delegate to the inner engine; a table on the server of this engine is one on the server of the inner one."""
        content = source.content
        if isinstance(content, Stored) and content.connection is self:
            source = replace(source, content=Stored(self.inner, content.name))
        return self.inner.attach(name, source)

    def create(
        self, name: str, plan: Plan, *, number: tuple[str, tuple[str, ...]] | None = None, budget: int | None = None
    ) -> int:
        """Delegate to the inner engine."""
        return self.inner.create(name, plan, number=number, budget=budget)

    def append(self, name: str, plan: Plan) -> int:
        """Delegate to the inner engine."""
        return self.inner.append(name, plan)

    def add_new(self, name: str, plan: Plan, known: Scan) -> int:
        """Delegate to the inner engine."""
        return self.inner.add_new(name, plan, known)

    def close_rules(self, rules: RecursiveRules, names: Mapping[str, str], most: int) -> list[int] | None:
        """Delegate to the inner engine."""
        return self.inner.close_rules(rules, names, most)

    def count(self, plan: Plan, cap: int) -> int:
        """Delegate to the inner engine."""
        return self.inner.count(plan, cap)

    def fetch(self, plan: Plan, *, budget: int | None = None) -> Arrays:
        """Delegate to the inner engine."""
        return self.inner.fetch(plan, budget=budget)

    def is_set(self, plan: Plan) -> bool:
        """Delegate to the inner engine."""
        return self.inner.is_set(plan)

    def drop(self, name: str) -> None:
        """Delegate to the inner engine."""
        self.inner.drop(name)

    def explain(self, plan: Plan) -> str:
        """Delegate to the inner engine."""
        return self.inner.explain(plan)

    def interrupt(self) -> None:
        """Delegate to the inner engine."""
        self.inner.interrupt()

    def close(self) -> None:
        """Delegate to the inner engine."""
        self.inner.close()

    def seal(self) -> None:
        """Delegate to the inner engine."""
        self.inner.seal()

    def let_go(self) -> None:
        """Delegate to the inner engine."""
        self.inner.let_go()

    def table_names(self, schema: str | None = None) -> list[str]:
        """Delegate to the inner engine."""
        return self.inner.table_names(schema)

    def cluster(self, name: str, by: tuple[str, ...]) -> None:
        """Delegate to the inner engine."""
        self.inner.cluster(name, by)

    def save(self, name: str) -> None:
        """Delegate to the inner engine."""
        self.inner.save(name)

    def tables(self) -> list[str]:
        """Delegate to the inner engine."""
        return self.inner.tables()

    def tell(self, stage: str, message: str) -> None:
        """Delegate to the inner engine."""
        self.inner.tell(stage, message)
