"""Tables of one lifting inside an engine: named under one prefix, replaced by later versions, dropped at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import final
from uuid import uuid4

from relift.arrays import Cells
from relift.errors import OptionError
from relift.tables.algebra import Plan, Scan, Type
from relift.tables.engine import Engine
from relift.tables.sources.table import Columns, Source

MOST_INTERRUPTS = 100


def own_prefix(engine: Engine, name: str) -> str:
    """A beginning of table names: the same for every run in an engine that keeps them, else one for each run."""
    return name if engine.is_persistent else f"{name}_{uuid4().hex[:8]}"


def check_engine(engine: Engine) -> None:
    """Refuse an engine that has no words for exact sums and hashes.

    Raises
    ------
    OptionError
        If it is the one of NumPy columns.
    """
    if engine.name == "memory":
        raise OptionError(
            "lifting inside of an engine is not done in NumPy columns.", "Choose duckdb, or lift locally."
        )


def drop_surely(engine: Engine, names: Iterable[str]) -> None:
    """Drop tables, however often they are interrupted: whoever waits for the end of the work asks again and again."""
    for name in names:
        for _ in range(MOST_INTERRUPTS):
            try:
                engine.drop(name)
                break
            except KeyboardInterrupt:
                continue


@final
class TemporaryTables:
    """Stores plans under names of its own.

    Parameters
    ----------
    engine
        Where to.
    prefix
        All names begin so.

    Examples
    --------
    >>> import numpy as np
    >>> from relift.tables.duckdb.engine import DuckDBEngine
    >>> with DuckDBEngine() as engine:
    ...     temporary = TemporaryTables(engine, "mine")
    ...     engine.count(temporary.attach("numbers", {"n": np.arange(3)}), 10)
    3
    """

    def __init__(self, engine: Engine, prefix: str) -> None:
        self.engine, self.prefix = engine, prefix
        self.names: dict[str, str] = {}
        self.rows: dict[str, int] = {}
        self._versions: dict[str, int] = {}
        self._stored: dict[str, None] = {}  # whatever may be there, also between two steps of an interrupted call

    def _fresh(self, name: str) -> str:
        version = self._versions.get(name, 0) + 1
        self._versions[name] = version
        stored = f"{self.prefix}_{name}_{version}"
        self._stored[stored] = None
        return stored

    def _drop(self, stored: str) -> None:
        self.engine.drop(stored)
        self._stored.pop(stored, None)

    def store(
        self, name: str, plan: Plan, number: tuple[str, tuple[str, ...]] | None = None, is_saved: bool = False
    ) -> Scan:
        """Store a plan; an older table of this name is dropped afterwards, so that the plan may read it."""
        stored, old = self._fresh(name), self.names.get(name)
        self.names[name] = stored
        self.rows[name] = self.engine.create(stored, plan, number=number)
        if is_saved:
            self.engine.save(stored)
        if old is not None:
            self._drop(old)
        columns = dict(plan.columns)
        if number is not None:
            columns[number[0]] = Type.INTEGER
        return Scan(stored, {column: (column, kind) for column, kind in columns.items()}, plan.keys)

    def numbered(self, name: str, plan: Plan, column: str, order: tuple[str, ...]) -> tuple[Scan, int]:
        """Store a plan with a column of numbers from 0, and say how many rows there are."""
        scan = self.store(name, plan, (column, order))
        return scan, self.rows[name]

    def attach(self, name: str, columns: Mapping[str, Cells]) -> Scan:
        """Store NumPy columns."""
        stored, old = self._fresh(name), self.names.get(name)
        self.names[name] = stored
        found = self.engine.attach(stored, Source(f"the table {name!r}", Columns(columns)))
        self.rows[name] = len(next(iter(columns.values())))
        if old is not None:
            self._drop(old)
        kinds = {"i": Type.INTEGER, "u": Type.INTEGER, "f": Type.REAL}
        types = [kinds[array.dtype.kind] for array in columns.values()]
        return Scan(stored, {c: (s, kind) for c, s, kind in zip(columns, found, types, strict=True)})

    def drop(self, *names: str) -> None:
        """Drop tables by their names here."""
        for name in names:
            stored = self.names.pop(name, None)
            if stored is not None:
                self._drop(stored)

    def close(self) -> None:
        """Drop all tables."""
        self.names.clear()
        drop_surely(self.engine, list(self._stored))
        self._stored.clear()
