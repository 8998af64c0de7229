"""What is left of a lifting that was cut off, and whether it belongs to the same program.

Classes only ever split, and every split is proved by different exact sums. So whatever classes a run had noted before
it was killed lie between those at the start and those at the end, and refinement can go on from them after one pass
over all entries. What must not happen is going on with classes of *another* program: a fingerprint of everything that
refinement reads is kept beside them.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import final

import numpy as np

from relift.errors import EngineError
from relift.in_database.exact_weights import ExactWeights, residue
from relift.in_database.program_tables import EngineProgram
from relift.in_database.rounds import RoundReport, Side
from relift.in_database.temporary_tables import TemporaryTables, drop_surely
from relift.symmetry import finite_field as field
from relift.tables.algebra import Aggregate, Column, Filter, Limit, Project, Scan, Type, Union, call, literal
from relift.tables.engine import Engine
from relift.tables.sources.table import Columns, Source

SEED = 0x5EED5EED
_JOURNAL = dict.fromkeys(("round", "rows", "columns", "fingerprint"), Type.INTEGER)


@final
class State:
    """The journal of one lifting in a persistent engine.

    Parameters
    ----------
    engine
        Where it is kept.
    prefix
        Names of all its tables begin so.
    """

    def __init__(self, engine: Engine, prefix: str) -> None:
        self.engine, self.prefix = engine, prefix
        self.journal = f"{prefix}_journal"
        self.fingerprint = 0
        self.first_round = 0

    def leftovers(self) -> list[str]:
        """Tables of an earlier run."""
        return [name for name in self.engine.tables() if name.startswith(f"{self.prefix}_")]

    def set_aside(self) -> dict[Side, Scan]:
        """Classes of an earlier run, under names that this run does not use; all its other tables are dropped.

        Returns
        -------
        dict
            Plans (``id``, ``class``) for both sides; empty if there are none.
        """
        found = self.leftovers()
        if self.journal not in found:
            self.drop()
            return {}
        kept: dict[Side, Scan] = {}
        sides: tuple[Side, Side] = ("rows", "columns")
        for side in sides:
            names = [n for n in found if re.fullmatch(rf"{re.escape(self.prefix)}_{side}_(base|noted|kept)_\d+", n)]
            if not any(f"_{side}_base_" in n or f"_{side}_kept_" in n for n in names):
                self.drop()
                return {}
            tables = [Scan(n, {c: (c, Type.INTEGER) for c in ("id", "class")}) for n in names]
            latest = Aggregate(Union(tuple(tables)), ("id",), {"class": ("max", Column("class"))})
            version = 1 + max(int(n.rpartition("_")[2]) for n in names)
            stored = f"{self.prefix}_{side}_kept_{version}"
            self.engine.create(stored, latest)
            self.engine.save(stored)
            kept[side] = Scan(stored, {c: (c, Type.INTEGER) for c in ("id", "class")}, frozenset([frozenset(["id"])]))
        wanted = {self.journal, *(plan.table for plan in kept.values())}
        for name in found:
            if name not in wanted:
                self.engine.drop(name)
        return kept

    def check(self, fingerprint: int) -> None:
        """Refuse to go on if the program is another one.

        Raises
        ------
        EngineError
            If it is.
        """
        last = self._last()
        if last["fingerprint"] != fingerprint:
            raise EngineError(
                "the program, or how it is compared, has changed since the lifting that is to be resumed.",
                "Run without resume to start afresh.",
            )
        self.first_round = last["round"]

    def _last(self) -> dict[str, int]:
        scan = Scan(self.journal, {name: (f"c{k}", Type.INTEGER) for k, name in enumerate(_JOURNAL)})
        latest = Aggregate(scan, (), {"round": ("max", Column("round")), "fingerprint": ("max", Column("fingerprint"))})
        found = self.engine.fetch(Limit(latest, 1))
        return {name: int(column[0]) for name, column in found.items()}

    def begin(self, fingerprint: int) -> None:
        """Start the journal."""
        self.fingerprint = fingerprint
        row = {name: np.zeros(1, np.int64) for name in _JOURNAL}
        row["fingerprint"][0] = fingerprint
        self.engine.attach(self.journal, Source("the journal", Columns(row)))
        self.engine.save(self.journal)

    def note(self, report: RoundReport) -> None:
        """Write a round down."""
        numbers = (report.round + self.first_round, report.row_classes, report.column_classes, self.fingerprint)
        one = Scan(self.journal, {"round": ("c0", Type.INTEGER)})
        start = Limit(Filter(one, call("=", Column("round"), literal(0))), 1)
        row = Project(start, {f"c{k}": literal(number) for k, number in enumerate(numbers)})
        self.engine.append(self.journal, row)
        self.engine.save(self.journal)

    def drop(self) -> None:
        """Forget everything."""
        drop_surely(self.engine, self.leftovers())


def fingerprint(program: EngineProgram, temporary: TemporaryTables, weights: ExactWeights, digest: bytes) -> int:
    """A number of 61 bits for all that refinement reads: sizes, options, values, and where each entry stands."""
    parts: list[int] = [program.n_variables, program.n_rows]
    width = max(program.n_variables, program.n_rows) + 1
    tables = [(weights.entries, "row", "column"), (weights.row_kinds, "id", "class")]
    tables.append((weights.column_kinds, "id", "class"))
    if weights.quadratic is not None:
        tables.append((weights.quadratic, "first", "second"))
    for table, first, second in tables:
        place = call("+", call("*", call("integer", Column(first)), literal(width)), Column(second))
        word = call("hash", place, literal(SEED), literal(min(weights.word_bits, 40)))
        names = [w for w in weights.parts if w in table.columns] or ["one"]
        source = (
            table if names != ["one"] else Project(table, {c: Column(c) for c in (first, second)} | {"one": literal(1)})
        )
        terms = {w: call("*", word, Column(w)) for w in names}
        sums = Aggregate(Project(source, terms), (), {w: ("wide sum", Column(w)) for w in names})
        filled = Project(sums, {w: call("coalesce", Column(w), literal(0)) for w in names})
        found = temporary.engine.fetch(Project(filled, {"word": residue([Column(w) for w in names])}))
        parts.append(int(found["word"][0]))
    whole = sha256(digest + repr(parts).encode()).digest()
    return int.from_bytes(whole[:8], "big") % field.MODULUS
