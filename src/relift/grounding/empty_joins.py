"""Joins that find nothing although both sides have rows: mostly keys that are written in two ways.

Such a query is right by the letter, and the model is then solved without the statement that it belongs to: a shipping
model whose demands match no day is "optimal, 0". So it is told, with a key of each side. Three places are looked at:

- a query without answers: its lowest join that is empty while both sides are not;
- a sum over data, or a lookup with a default, that finds nothing for any row;
- nothing else: a query that has answers has no empty join, and an exclusion (``!p(X)``) that excludes nobody is common;
  so is a statement without an observed value of a variable (``given``).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, final

from relift.errors import EmptyJoinWarning
from relift.tables.algebra import Aggregate, Join, Limit, Plan, Scan, nodes, project

if TYPE_CHECKING:
    from relift.grounding.workspace import Workspace


@final
class EmptyJoins:
    """Looks for empty joins in the plans of statements, and keeps what it has told.

    Parameters
    ----------
    notes
        What was told before, by statement.
    observed
        Params that give values of variables.
    """

    def __init__(self, notes: dict[str, tuple[str, ...]] | None = None, observed: frozenset[str] = frozenset()) -> None:
        self.notes: dict[str, tuple[str, ...]] = dict(notes or {})
        self.observed = observed

    def forget(self, statement: str) -> None:
        """A statement is looked at again."""
        self.notes.pop(statement, None)

    @staticmethod
    def is_worth_a_look(plan: Plan) -> bool:
        """Whether a plan has a join that may be empty."""
        return bool(_joins(plan))

    def look(self, work: Workspace, plan: Plan, statement: str, is_empty: bool) -> None:
        """Look at the plan of a statement.

        Parameters
        ----------
        work
            The tables.
        plan
            What was asked.
        statement
            What asks, for the message.
        is_empty
            Whether it had no answers.
        """
        if is_empty and (found := _lowest(work, plan)) is not None:
            self._tell(work, statement, found)
        for part in _hanging(plan):
            if not work.engine.count(part, 1) and (found := _lowest(work, part)) is not None:
                self._tell(work, statement, found)

    def look_up(self, work: Workspace, lookup: Join, statement: str) -> None:
        """Look at a lookup with a default: whether it finds a value for any row.

        Parameters
        ----------
        work
            The tables.
        lookup
            The rows that look, and the table that is looked into.
        statement
            What asks, for the message.
        """
        found = Join(lookup.left, lookup.right, "semi")
        if _is_empty_join(work, found):
            self._tell(work, statement, found, "the default is taken everywhere")

    def _tell(self, work: Workspace, statement: str, join: Join, so: str = "it finds nothing") -> None:
        left, right = (_names(work, side, join.on) for side in (join.left, join.right))
        if not left or not right or left == right or right.strip("'") in self.observed:
            return
        columns = [name for name in join.on if not name.startswith("#")]
        on = f" on {', '.join(columns)}" if columns else ""
        examples = " and ".join(
            f"{names} has {_example(work, side, join.on)}" for names, side in ((left, join.left), (right, join.right))
        )
        note = f"{statement}: no tuple of {left} agrees with one of {right}{on}, so that {so} ({examples})."
        if note not in self.notes.get(statement, ()):
            self.notes[statement] = (*self.notes.get(statement, ()), note)
            warnings.warn(note, EmptyJoinWarning, stacklevel=2)


def _joins(plan: Plan) -> list[Join]:
    """Joins that leave out what finds no partner, those below others first; not those that an exclusion asks for."""
    asked: set[int] = set()
    stack: list[Plan] = [plan]
    while stack:
        node = stack.pop()
        if id(node) not in asked:
            asked.add(id(node))
            stack.extend((node.left,) if isinstance(node, Join) and node.kind == "anti" else node.inputs)
    joins = (node for node in nodes(plan) if isinstance(node, Join) and node.kind in {"inner", "semi"} and node.on)
    return [join for join in joins if id(join) in asked]


def _lowest(work: Workspace, plan: Plan) -> Join | None:
    return next((join for join in _joins(plan) if _is_empty_join(work, join)), None)


def _is_empty_join(work: Workspace, join: Join) -> bool:
    count = work.engine.count
    return not count(join, 1) and bool(count(join.left, 1)) and bool(count(join.right, 1))


def _hanging(plan: Plan) -> Iterator[Plan]:
    """Parts that may find nothing without the query being empty: sums over data, and lookups with a default."""
    for node in nodes(plan):
        if isinstance(node, Join) and node.kind == "left" and _joins(node.right):
            yield node.right
        if isinstance(node, Aggregate) and not node.by and _joins(node.input):
            yield node.input


def _names(work: Workspace, plan: Plan, on: tuple[str, ...]) -> str:
    """What the model calls the tables whose columns are compared."""
    scans = [node for node in nodes(plan) if isinstance(node, Scan)]
    for tables in (work.tables, work.unknowns):
        known = {table.name: name for name, table in tables.items()}
        named = [scan for scan in scans if scan.table in known]
        compared = [scan for scan in named if not scan.columns.keys().isdisjoint(on)]
        if named:
            return " and ".join(repr(known[scan.table]) for scan in compared or named)
    return ""


def _example(work: Workspace, plan: Plan, on: tuple[str, ...]) -> str:
    row = work.engine.fetch(Limit(project(plan, *on), 1, on))
    return f"({', '.join(str(row[name][0]) for name in on)})"
