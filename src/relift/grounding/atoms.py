"""Which number stands for which ground atom: unknowns by predicate and tuple, rows by constraint and tuple.

Tuples stay in the engine. Names such as ``flow(a,b)`` are made when they are asked for, one by one or all at once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import SupportsFloat, final, overload

import numpy as np

from relift.arrays import Cells, Indices
from relift.errors import DataError, OptionError
from relift.tables.algebra import Column, Filter, Limit, Plan, TypeClashError, call, literal
from relift.tables.engine import Engine
from relift.tables.load import StoredTable

_PLAIN = re.compile(r"[a-z][A-Za-z0-9_]*")


@final
@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive numbers that belong to one predicate or constraint.

    Parameters
    ----------
    name
        The predicate or constraint.
    start, size
        Its first number, and how many there are.
    keys
        Names of the arguments.
    table
        Where their tuples are stored; None for a block without arguments.
    part
        ``"lower"`` or ``"upper"`` for the halves of a range with unknowns on its sides, else empty.
    picked
        Which of the stored tuples they are, in increasing order; None if they are all.
    """

    name: str
    start: int
    size: int
    keys: tuple[str, ...] = ()
    table: StoredTable | None = None
    part: str = ""
    picked: Indices | None = None

    @property
    def stop(self) -> int:
        """One more than the last number."""
        return self.start + self.size

    @property
    def label(self) -> str:
        """The name of the block, with its part if it is half of a range."""
        return f"{self.name}.{self.part}" if self.part else self.name


@final
@dataclass(frozen=True, eq=False)
class AtomIndex:
    """Numbers ``0 .. size-1`` and the ground atoms behind them; also used for rows.

    Parameters
    ----------
    blocks
        In the order of their numbers.
    engine
        Holds the tuples.
    """

    blocks: tuple[Block, ...]
    engine: Engine = field(repr=False)
    _cache: dict[str, dict[str, Cells]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.blocks[-1].stop if self.blocks else 0

    @property
    def predicates(self) -> tuple[str, ...]:
        """Names of the blocks."""
        return tuple(dict.fromkeys(block.name for block in self.blocks))

    def block(self, name: str, part: str = "") -> Block:
        """The block of a predicate or constraint.

        Raises
        ------
        OptionError
            If there is none of that name.
        """
        for block in self.blocks:
            if block.label == name or (block.name == name and (not part or block.part == part)):
                return block
        raise OptionError(
            f"there is no {name!r}.", f"Expected one of: {', '.join(b.label for b in self.blocks) or 'none'}."
        )

    def table(self, name: str, part: str = "") -> dict[str, Cells]:
        """The tuples of a block as columns by argument name, in the order of their numbers."""
        block = self.block(name, part)
        if block.label not in self._cache:
            self._cache[block.label] = self._fetch(block)
        return self._cache[block.label]

    def _fetch(self, block: Block) -> dict[str, Cells]:
        if block.table is None or not block.keys:
            return {}
        columns = self.engine.fetch(self._scan(block))
        numbers = columns.pop("#number")
        order = np.empty(numbers.size, dtype=np.int64)
        order[numbers] = np.arange(numbers.size)
        rows = order if block.picked is None else order[block.picked]
        found = list(columns.values())
        return {key: column[rows] for key, column in zip(block.keys, found, strict=True)}

    def _scan(self, block: Block) -> Plan:
        assert block.table is not None
        return block.table.scan([f"#{k}" for k in range(len(block.keys))], "#number")

    def name(self, j: int) -> str:
        """The name of a ground atom, for example ``flow(a,b)``.

        Raises
        ------
        IndexError
            If there is no such number.
        """
        if not 0 <= j < len(self):
            raise IndexError(f"there are {len(self)} atoms, and {j} is not one of them")
        block = self.blocks[bisect_right([b.start for b in self.blocks], j) - 1]
        while block.size == 0 or j >= block.stop:  # empty blocks share their start with the next one
            block = self.blocks[self.blocks.index(block) + 1]
        if not block.keys:
            return block.label
        if block.label in self._cache:
            entry = [column[j - block.start] for column in self._cache[block.label].values()]
        else:
            number = j - block.start if block.picked is None else int(block.picked[j - block.start])
            wanted = Filter(self._scan(block), call("=", Column("#number"), literal(number)))
            row = self.engine.fetch(Limit(wanted, 1))
            entry = [column[0] for name, column in row.items() if name != "#number"]
        return atom_name(block.label, entry)

    def names(self) -> Iterator[str]:
        """All names in order; the tuples of one block are in memory at a time."""
        for block in self.blocks:
            if not block.keys:
                yield from [block.label] * block.size
                continue
            columns = self._cache[block.label] if block.label in self._cache else self._fetch(block)
            for entry in zip(*columns.values(), strict=True):
                yield atom_name(block.label, entry)

    def number(self, name: str, *entry: str | float) -> int:
        """The number of a ground atom.

        Raises
        ------
        OptionError
            If there is no such atom.
        """
        block = self.block(name)
        if len(entry) != len(block.keys):
            raise OptionError(f"{name!r} has {len(block.keys)} arguments, and {len(entry)} are given.")
        if not block.keys:
            return block.start
        plan = self._scan(block)
        try:
            for k, value in enumerate(entry):
                wanted = literal(int(value) if isinstance(value, bool) else value)
                plan = Filter(plan, call("=", Column(f"#{k}"), wanted))
            found = self.engine.fetch(Limit(plan, 1))["#number"]
        except (TypeClashError, DataError) as error:  # a text where numbers are, or more than 64 bits
            raise OptionError(f"there is no {atom_name(name, entry)}.") from error
        if not found.size:
            raise OptionError(f"there is no {atom_name(name, entry)}.")
        if block.picked is None:
            return block.start + int(found[0])
        place = int(np.searchsorted(block.picked, found[0]))
        if place == block.size or block.picked[place] != found[0]:
            raise OptionError(f"there is no {atom_name(name, entry)}.", "Presolve has decided it.")
        return block.start + place


def atom_name(name: str, entry: Sequence[object]) -> str:
    """A predicate and its arguments, as in the language.

    Examples
    --------
    >>> atom_name("flow", ["a", 3]), atom_name("at", ["New York"])
    ('flow(a,3)', 'at("New York")')
    """
    return f"{name}({','.join(map(_argument, entry))})" if len(entry) else name


def _argument(value: object) -> str:
    if isinstance(value, str):
        if _PLAIN.fullmatch(value):
            return value
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, int | np.integer):
        return str(int(value))  # a real would not hold more than 53 bits
    assert isinstance(value, SupportsFloat)
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2**63 else repr(number)


@final
class LazyNames(Sequence[str]):
    """All names of an index as a sequence, made when they are looked at."""

    def __init__(self, index: AtomIndex) -> None:
        self._index = index

    def __len__(self) -> int:
        return len(self._index)

    def __iter__(self) -> Iterator[str]:
        return self._index.names()

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> list[str]: ...
    def __getitem__(self, position: int | slice) -> str | list[str]:
        if isinstance(position, slice):
            return list(self)[position]
        return self._index.name(position + len(self) if position < 0 else position)

    def __reduce__(self) -> tuple[object, ...]:
        return list, (list(self),)
