r"""Colour refinement as relational rounds: two vertices part when their sums over changed neighbours differ.

Every class k has two hashes h(k) of its number. When a vertex moves from class k to k', each
neighbour sees its signature :math:`\sum_j h(k_j) w_{ij}` change by :math:`(h(k') - h(k)) w`. Members of one class had
equal signatures before, so only the *changes* need to be compared, and only where something changed:

1. entries of changed vertices are joined and added up by their other end (one pass over the entry table);
2. members of a class are grouped by what was added, those that nothing touched being a group with 0;
3. of the groups of a class the largest keeps its number, all others get new numbers: these are the changed vertices
   of the next half round. That is Hopcroft's rule, *process the smaller half*: a vertex changes at most log n times.

Sums are exact (:mod:`~relift.in_database.exact_weights`), so different sums are a proof that vertices differ, and a
class is never split wrongly. Equal sums of different vertices are possible, if hashes collide; that is what the check
of :mod:`~relift.in_database.verify` is for.

New numbers are larger than all before, so the class of a vertex is the largest one that was ever noted for it:
classes are kept as a table that is only appended to, and copied now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from relift.in_database.exact_weights import ExactWeights, residue
from relift.in_database.temporary_tables import TemporaryTables
from relift.tables.algebra import (
    Aggregate,
    Column,
    Filter,
    Join,
    Plan,
    Project,
    Scalar,
    Type,
    Union,
    all_of,
    call,
    literal,
    project,
)

Side = Literal["rows", "columns"]
N_WORDS = 2
COPY_SHARE = 0.5
"""Classes are copied into a new table when the noted changes are so many against the vertices."""


@final
@dataclass
class RoundReport:
    """What a round did: its number, the classes after it, and how many vertices changed their class."""

    round: int
    row_classes: int
    column_classes: int
    changed: int


@final
class Classes:
    """The classes of the vertices of one side: a table of all, and a list of later changes that grows.

    Parameters
    ----------
    temporary
        Where tables are kept.
    side
        Whose classes.
    kinds
        Plan (``id``, ``class``) of the classes to start from.
    size
        How many vertices there are.
    n_classes
        How many classes.
    """

    def __init__(self, temporary: TemporaryTables, side: Side, kinds: Plan, size: int, n_classes: int) -> None:
        self.temporary, self.side, self.size, self.n_classes = temporary, side, size, n_classes
        self.n_noted = 0
        self._start(kinds)

    def _start(self, kinds: Plan) -> None:
        self.base = self.temporary.store(f"{self.side}_base", project(kinds, "id", "class"), is_saved=True)
        nothing = Filter(self.base, literal(False))
        self.noted = self.temporary.store(f"{self.side}_noted", nothing)
        counted = Aggregate(self.base, ("class",), {"size": ("count", literal(1))})
        self.sizes = self.temporary.store(f"{self.side}_sizes", counted)
        self.n_noted = 0

    @property
    def current(self) -> Plan:
        """The class of each vertex: ``id``, ``class``."""
        if not self.n_noted:
            return self.base
        return self._latest(self.base)

    def _latest(self, some: Plan) -> Plan:
        """The class of some vertices of the base table, whatever other columns they have."""
        later = Aggregate(self.noted, ("id",), {"later": ("max", Column("class"))})
        latest = call("coalesce", Column("later"), Column("class"))
        outputs = {c: Column(c) if c != "class" else latest for c in some.columns}
        return Project(Join(some, later, "left"), outputs)

    def of(self, some: Plan) -> Plan:
        """Some vertices (``id`` and other columns) with their classes."""
        joined = Join(some, self.base)
        if not self.n_noted:
            return joined
        noted = Join(self.noted, project(some, "id"), "semi")
        later = Aggregate(noted, ("id",), {"later": ("max", Column("class"))})
        latest = call("coalesce", Column("later"), Column("class"))
        return Project(Join(joined, later, "left"), {c: Column(c) for c in some.columns} | {"class": latest})

    def sizes_of(self, some: Plan) -> Plan:
        """Some classes (``class`` and other columns, a set) with their sizes."""
        joined = Join(some, self.sizes)
        return Aggregate(joined, tuple(some.columns), {"size": ("sum", Column("size"))})

    def note(self, changed: Plan, n_changed: int, n_new: int) -> None:
        """Take over changes (``id``, ``old``, ``new``)."""
        engine = self.temporary.engine
        engine.append(self.noted.table, Project(changed, {"id": Column("id"), "class": Column("new")}))
        if engine.is_persistent:
            engine.save(self.noted.table)
        counted = Aggregate(changed, ("old", "new"), {"size": ("count", literal(1))})
        gained = Project(counted, {"class": Column("new"), "size": Column("size")})
        lost = Project(counted, {"class": Column("old"), "size": call("negative", Column("size"))})
        engine.append(self.sizes.table, Union((gained, lost)))
        self.n_noted += n_changed
        self.n_classes += n_new
        if self.n_noted > COPY_SHARE * self.size + 1000:
            self._start(self.current)


@final
class Refiner:
    """Runs rounds until nothing changes.

    Parameters
    ----------
    temporary
        Where tables are kept.
    weights
        The entries.
    rows, columns
        Where to start.
    next_class
        A number larger than those of all classes.
    seed
        Seed of the hashes of classes.
    word_bits
        Bits of these hashes; fewer than ``weights.word_bits`` only to provoke collisions in tests.
    """

    def __init__(
        self,
        temporary: TemporaryTables,
        weights: ExactWeights,
        rows: Classes,
        columns: Classes,
        next_class: int,
        seed: int,
        word_bits: int | None = None,
    ) -> None:
        self.temporary, self.engine, self.weights = temporary, temporary.engine, weights
        self.classes: dict[Side, Classes] = {"rows": rows, "columns": columns}
        self.next_class = next_class
        random = np.random.default_rng([seed, 0x6C696674])
        self.seeds = [int(word) for word in random.integers(1, 1 << 61, N_WORDS)]
        self.word_bits = min(word_bits or weights.word_bits, weights.word_bits)

    def run(self, after_round: Callable[[RoundReport], None]) -> int:
        """Refine until nothing changes; the number of rounds.

        Parameters
        ----------
        after_round
            Called after each round; what it raises ends the refinement between two rounds.
        """
        rounds = 0
        changed_columns: Plan | None = self._all("columns")
        changed_rows: Plan | None = None
        n_columns = self.classes["columns"].size
        is_first = True
        while changed_columns is not None or changed_rows is not None:
            rounds += 1
            changed_rows, n_rows = self._split("rows", {"columns": changed_columns})
            if is_first:
                changed_rows = self._all("rows")
            changed_columns, n_columns = self._split("columns", {"rows": changed_rows, "columns": changed_columns})
            changed_rows, is_first = None, False
            rows, columns = self.classes["rows"].n_classes, self.classes["columns"].n_classes
            after_round(RoundReport(rounds, rows, columns, n_rows + n_columns))
        self.temporary.drop("rows_changed", "columns_changed")
        return rounds

    def _word(self, number: Scalar, position: int) -> Scalar:
        return call("hash", number, literal(self.seeds[position]), literal(self.word_bits))

    def _all(self, side: Side) -> Plan:
        """Every vertex of a side as one that changed from nothing."""
        current = self.classes[side].current
        words: dict[str, Scalar] = {f"h{k}": self._word(Column("class"), k) for k in range(N_WORDS)}
        return Project(current, {"id": Column("id")} | words)

    def _words_of_changed(self, changed: Plan) -> Plan:
        new, old = Column("new"), Column("old")
        words: dict[str, Scalar] = {f"h{k}": call("-", self._word(new, k), self._word(old, k)) for k in range(N_WORDS)}
        return Project(changed, {"id": Column("id")} | words)

    def _touched(self, side: Side, changed: dict[Side, Plan | None]) -> Plan | None:
        """What changed neighbours add to the signature of each vertex that they touch: ``id``, ``d0``, ``d1``."""
        parts = self.weights.parts
        seen: list[Plan] = []
        for source, some in changed.items():
            if some is None:
                continue
            if source == side:
                if self.weights.quadratic is None:
                    continue
                edges, here, there = self.weights.quadratic, "first", "second"
            else:
                edges, here, there = self.weights.entries, side[:-1], source[:-1]
            ends = Project(edges, {"target": Column(here), "id": Column(there)} | {w: Column(w) for w in parts})
            terms: dict[str, Scalar] = {"target": Column("target")}
            for k in range(N_WORDS):
                for w in parts:
                    terms[f"d{k}{w}"] = call("*", Column(f"h{k}"), Column(w))
            seen.append(Project(Join(ends, some), terms))
        if not seen:
            return None
        union = seen[0] if len(seen) == 1 else Union(tuple(seen))
        names = [f"d{k}{w}" for k in range(N_WORDS) for w in parts]
        sums = Aggregate(union, ("target",), {name: ("wide sum", Column(name)) for name in names})
        outputs: dict[str, Scalar] = {"id": Column("target")}
        for k in range(N_WORDS):
            found: list[Scalar] = [Column(f"d{k}{w}") for w in parts]
            outputs[f"d{k}"] = found[0] if len(found) == 1 else residue(found)
        is_zero = [call("=", Column(f"d{k}"), literal(0)) for k in range(N_WORDS)]
        return Filter(Project(sums, outputs), call("not", all_of(is_zero)))

    def _split(self, side: Side, changed: dict[Side, Plan | None]) -> tuple[Plan | None, int]:
        """Split the classes of a side; the changed vertices with their hashes (None if there are none), how many."""
        touched = self._touched(side, changed)
        if touched is None:
            return None, 0
        classes, temporary = self.classes[side], self.temporary
        touched = temporary.store("touched", classes.of(touched))
        if not temporary.rows["touched"]:
            return None, 0
        words = tuple(f"d{k}" for k in range(N_WORDS))
        grouped = Aggregate(touched, ("class", *words), {"n": ("count", literal(1))})
        groups, _ = temporary.numbered("groups", grouped, "group", ())
        movers, n_movers = temporary.numbered("movers", self._movers(classes, groups), "position", ())
        if not n_movers:
            return None, 0
        parts: list[Plan] = []
        for is_rest in (0, 1):
            some = Filter(movers, call("=", Column("is_rest"), literal(is_rest)))
            if not self.engine.count(some, 1):
                continue
            if is_rest:
                members = Join(classes.current, project(touched, "id"), "anti")
                parts.append(self._moved(Join(members, project(some, "class", "position"))))
            else:
                parts.append(self._moved(Join(touched, project(some, "class", *words, "position"))))
        stored = temporary.store(f"{side}_changed", parts[0] if len(parts) == 1 else Union(tuple(parts)))
        n_changed = temporary.rows[f"{side}_changed"]
        self.next_class += n_movers
        classes.note(stored, n_changed, n_movers)
        return self._words_of_changed(stored), n_changed

    def _movers(self, classes: Classes, groups: Plan) -> Plan:
        """Groups, and untouched rests of classes (``is_rest``), that leave their class: all of it but the largest."""
        words = [f"d{k}" for k in range(N_WORDS)]
        summed = Aggregate(groups, ("class",), {"seen": ("sum", Column("n")), "largest": ("max", Column("n"))})
        sized = classes.sizes_of(summed)
        rest = call("-", Column("size"), Column("seen"))
        totals = Project(sized, {"class": Column("class"), "largest": Column("largest"), "rest": rest})
        is_largest = [call("=", Column("n"), Column("largest")), call("<", Column("rest"), Column("largest"))]
        keepers = Aggregate(
            Filter(Join(groups, totals), all_of(is_largest)), ("class",), {"group": ("min", Column("group"))}
        )
        moving = Join(groups, project(keepers, "group"), "anti")
        remaining = Filter(totals, all_of([
            call(">", Column("rest"), literal(0)), call("<", Column("rest"), Column("largest")),
        ]))  # fmt: skip
        is_residue = groups.columns["d0"] == Type.INTEGER
        zero: Scalar = literal(0) if is_residue else call("wide integer", literal(0))
        plain: dict[str, Scalar] = {"class": Column("class"), "is_rest": literal(0)}
        plain |= {word: Column(word) for word in words}
        nothing: dict[str, Scalar] = {"class": Column("class"), "is_rest": literal(1)}
        nothing |= dict.fromkeys(words, zero)
        return Union((
            Project(moving, plain),
            Project(remaining, nothing),
        ))  # fmt: skip

    def _moved(self, members: Plan) -> Plan:
        new = call("+", Column("position"), literal(self.next_class))
        return Project(members, {"id": Column("id"), "old": Column("class"), "new": new})
