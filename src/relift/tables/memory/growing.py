"""Tables that grow by what they lack: columns with room to spare, and a hash of all tuples that is kept.

Values are looked up as whole numbers: texts by their number in the dictionary, reals by their bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells
from relift.tables.algebra import Type
from relift.tables.compiled import TupleSet
from relift.tables.memory.columns import ARRAY_OF, Relation, Vector


def numbers_of(rows: Relation, columns: tuple[tuple[str, Type], ...]) -> NDArray[np.int64]:
    """Columns as whole numbers, one row for each row: equal exactly where values of these types are."""
    if not columns:  # whether there is a row at all
        return np.zeros((min(rows.size, 1), 1), np.int64)
    found = np.empty((rows.size, len(columns)), np.int64)
    for k, (name, kind) in enumerate(columns):
        data = rows.columns[name].cast(kind).data
        found[:, k] = (data + 0.0).view(np.int64) if kind == Type.REAL else data  # -0.0 and 0.0 are equal
    return found


def vector_of(kind: Type, numbers: NDArray[np.int64]) -> Vector:
    """The column behind such numbers."""
    data: Cells = np.ascontiguousarray(numbers)
    return Vector(kind, data.view(np.float64) if kind == Type.REAL else data.astype(ARRAY_OF[kind], copy=False))


@final
class GrowingTable:
    """A table of distinct tuples.

    Parameters
    ----------
    types
        Its columns, in order.
    start
        What it begins with.
    """

    def __init__(self, types: Mapping[str, Type], start: Relation) -> None:
        self.types = tuple(types.items())
        self.size = 0
        self._room: dict[str, Cells] = {name: np.empty(1024, ARRAY_OF[kind]) for name, kind in self.types}
        self._known = TupleSet(len(self.types))
        self.add(start)

    def add(self, rows: Relation) -> Relation:
        """Add the tuples that are not there yet, and return them; columns are taken in order."""
        found = dict(zip((name for name, _ in self.types), rows.columns.values(), strict=True))
        named = Relation({name: found[name].cast(kind) for name, kind in self.types}, rows.size)
        is_new = self._known.add(numbers_of(named, self.types))
        new = named if is_new.all() else named.take(np.flatnonzero(is_new).astype(np.int32))
        for name, _ in self.types:
            self._append(name, new.columns[name].data)
        self.size += new.size
        return new

    def _append(self, name: str, data: Cells) -> None:
        room, wanted = self._room[name], self.size + data.size
        if wanted > room.size:
            larger = np.empty(max(wanted, 2 * room.size), room.dtype)
            larger[: self.size] = room[: self.size]
            self._room[name] = room = larger
        room[self.size : wanted] = data

    def relation(self) -> Relation:
        """All tuples so far."""
        columns = {name: Vector(kind, self._room[name][: self.size]) for name, kind in self.types}
        return Relation(columns, self.size)
