"""What an engine must be able to do: five things, none of which knows SQL or formulas.

An engine holds tables under names that relift chooses (letters, digits and underscores only) and evaluates plans over
them. Everything that grounding needs, recursion included, is written once on top of these methods; a further engine
is one file that passes :mod:`relift.testing.conformance_engine`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import count
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np

from relift.arrays import Cells
from relift.errors import SizeLimitError
from relift.settings import Progress, ProgressCallback
from relift.tables.algebra import Distinct, Join, Plan, Scan, Type
from relift.tables.recursion import RecursiveRules
from relift.tables.sources.table import Source

Arrays: TypeAlias = dict[str, Cells]
"""Columns by name: int64, float64, bool, int32 for numbers of rows, and object (of str) for text."""

Row: TypeAlias = tuple[Any, ...]
"""What a query answers in a row; its text says of which types."""

ARRAY_TYPES: Mapping[Type, np.dtype[np.generic]] = {
    Type.INTEGER: np.dtype(np.int64),
    Type.REAL: np.dtype(np.float64),
    Type.TEXT: np.dtype(object),
    Type.BOOLEAN: np.dtype(np.bool_),
    Type.NUMBER_OF_ROW: np.dtype(np.int32),
    Type.NOTHING: np.dtype(np.int64),
}


class Engine(ABC):
    """Holds tables and evaluates plans; used as a context manager, or closed.

    Parameters
    ----------
    progress
        Progress callback.
    """

    name: str = ""
    knows_tables: bool = False
    """Whether the engine is a server with tables of the user's, which can be given by name: ``"schema.table"``."""

    most_work: int | None = None
    """A query that is found to pass through more rows than that may be refused by a `SizeLimitError`."""

    is_persistent: bool = False
    """Whether tables outlive the process, so that work that was cut off can go on."""

    def __init__(self, progress: ProgressCallback | None = None) -> None:
        self.progress = progress
        self.numbers = count(1)  # of tables: models that share an engine must not share names

    @abstractmethod
    def attach(self, name: str, source: Source) -> dict[str, Type]:
        """Make a user's table known under a name, one column for each of the source, until `drop`.

        Missing entries (None, NaN in a column of text) come through as NULL; the caller checks.

        Returns
        -------
        dict
            The columns as ``c0, c1, ...`` with the types found.

        Raises
        ------
        DataError
            If the source cannot be read, or holds something that is neither number nor text.
        """

    @abstractmethod
    def create(
        self, name: str, plan: Plan, *, number: tuple[str, tuple[str, ...]] | None = None, budget: int | None = None
    ) -> int:
        """Store the rows of a plan as a new table.

        Parameters
        ----------
        name
            Name of the table; it must not exist.
        plan
            What to store.
        number
            ``(column, order)``: add an integer column that numbers the rows from 0 in that order (ties, or an
            empty order: in any order, but the numbers stay as they are stored).
        budget
            The most rows that may be stored.

        Returns
        -------
        int
            How many rows there are.

        Raises
        ------
        SizeLimitError
            If there are more than `budget`; nothing is left behind then.
        """

    @abstractmethod
    def append(self, name: str, plan: Plan) -> int:
        """Add the rows of a plan, which has the columns of the table in their order, to a stored table; how many."""

    def add_new(self, name: str, plan: Plan, known: Scan) -> int:
        """Store the distinct rows of a plan that a stored table lacks, and add them to that table; how many.

        Parameters
        ----------
        name
            Name of a new table for them.
        plan
            The rows, with the columns of the other table in their order.
        known
            All of the other table.
        """
        rows = self.create(name, Join(Distinct(plan), known, "anti"))
        if rows:
            columns = {column: (column, kind) for column, kind in plan.columns.items()}
            self.append(known.table, Scan(name, columns))
        return rows

    def close_rules(self, rules: RecursiveRules, names: Mapping[str, str], most: int) -> list[int] | None:
        """Store all tuples of a recursion, if the engine has a quicker way than rounds.

        Parameters
        ----------
        rules
            The recursion.
        names
            For each predicate the name of a new table for its tuples, with columns ``c0, c1, ...``.
        most
            The most tuples that a predicate may have.

        Returns
        -------
        list of int or None
            How often each rule applied; None if nothing was done.
        """
        del rules, names, most
        return None

    @abstractmethod
    def count(self, plan: Plan, cap: int) -> int:
        """How many rows a plan has, counting no further than `cap`."""

    @abstractmethod
    def fetch(self, plan: Plan, *, budget: int | None = None) -> Arrays:
        """The rows of a plan as NumPy columns. NULL becomes NaN in reals, -1 in numbers of rows, None in text.

        Raises
        ------
        SizeLimitError
            If there are more rows than `budget`.
        """

    def is_set(self, plan: Plan) -> bool:
        """Whether no row of a plan comes twice."""
        rows = self.count(plan, 2**62)
        return rows < 2 or self.count(Distinct(plan), rows) == rows

    @abstractmethod
    def drop(self, name: str) -> None:
        """Forget a table; nothing happens if there is none."""

    @abstractmethod
    def explain(self, plan: Plan) -> str:
        """What the engine will be asked, for people."""

    @abstractmethod
    def interrupt(self) -> None:
        """Stop what is running; may be called from another thread."""

    @abstractmethod
    def close(self) -> None:
        """Give everything back. Closing twice is harmless."""

    @abstractmethod
    def seal(self) -> None:
        """Loading is over for now: whatever can be forbidden to queries is forbidden."""

    def let_go(self) -> None:  # noqa: B027 - engines that copy what they read have nothing to do
        """Grounding is over: from here on nothing may be read from memory of the user's, who may change it."""

    def table_names(self, schema: str | None = None) -> list[str]:
        """Names of the user's tables, if the engine is a server: in one schema, or in those it looks into by itself."""
        del schema
        return []

    def cluster(self, name: str, by: tuple[str, ...]) -> None:  # noqa: B027 - advice may be passed over
        """Advice: a table will be joined or grouped by these columns again and again. Its rows stay the same."""

    def save(self, name: str) -> None:  # noqa: B027 - advice may be passed over
        """Advice: a table was expensive to make and should outlive the loss of a worker. Its rows stay the same."""

    def tables(self) -> list[str]:
        """Names of tables that are stored, those of an earlier process included; empty if none can outlive it."""
        return []

    def tell(self, stage: str, message: str) -> None:
        """Report progress, if someone listens."""
        if self.progress is not None:
            self.progress(Progress(stage, message))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def refuse_rows(what: str, rows: int, budget: int) -> SizeLimitError:
    """The error of a result that is larger than allowed."""
    return SizeLimitError(
        f"{what} has {rows:,} rows or more, and the limit is {budget:,}.",
        "Narrow its query, or raise the limit.",
        rows=rows,
        limit=budget,
    )
