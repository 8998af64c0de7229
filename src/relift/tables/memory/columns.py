"""Columns in memory: typed arrays that may have gaps, and relations made of them.

A column that comes out of a join is only remembered as its origin and the rows to take; the values are gathered when
they are looked at, so what a query drops is never copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Cells, Flags, Integers
from relift.tables import compiled
from relift.tables.algebra import NO_KEYS, Keys, Type

ARRAY_OF: Mapping[Type, np.dtype[np.generic]] = {
    Type.INTEGER: np.dtype(np.int64),
    Type.REAL: np.dtype(np.float64),
    Type.TEXT: np.dtype(np.int32),
    Type.BOOLEAN: np.dtype(np.bool_),
    Type.NUMBER_OF_ROW: np.dtype(np.int32),
    Type.NOTHING: np.dtype(np.int64),
}
"""How values are kept; a text is kept as its number in the dictionary of the engine."""


@final
class Vector:
    """The values of a column.

    Parameters
    ----------
    type
        What it holds.
    data
        The values; one value stands for any number of equal ones.
    missing
        Where there is no value; None if there is one everywhere.
    """

    __slots__ = ("_data", "_limits", "_missing", "_origin", "is_count", "type")

    def __init__(self, type: Type, data: Cells | None, missing: Flags | None = None) -> None:
        self.type = type
        self._data = data
        self._missing = missing
        self._origin: tuple[Vector, Integers, bool] | None = None
        self._limits: tuple[int, int] | None = None
        self.is_count = False

    @classmethod
    def count(cls, size: int) -> Vector:
        """The numbers 0, 1, 2, ...; taking some of them needs no look at the values."""
        vector = cls(Type.INTEGER, np.arange(size))
        vector.is_count = True
        vector._limits = (0, max(size - 1, 0))
        return vector

    @property
    def data(self) -> Cells:
        """The values; whatever where they are missing."""
        return self._gathered()[0]

    @property
    def missing(self) -> Flags | None:
        """Where there is no value."""
        return self._gathered()[1]

    def _gathered(self) -> tuple[Cells, Flags | None]:
        waiting = self._origin
        if waiting is not None:  # two threads may both come here: they find the same
            self._data, self._missing = _taken(*waiting)
            self._origin = None
        assert self._data is not None
        return self._data, self._missing

    def take(self, rows: Integers, has_gaps: bool = False) -> Vector:
        """The values at some rows; with gaps, the row -1 has none."""
        vector = Vector(self.type, None)
        vector._origin = (self, rows, has_gaps)
        if not has_gaps:
            vector._limits = self._limits
        return vector

    def full(self, size: int) -> Vector:
        """As many values as there are rows."""
        if self.data.ndim:
            return self
        missing = None if self.missing is None or not self.missing else np.ones(size, np.bool_)
        return Vector(self.type, np.full(size, self.data, ARRAY_OF[self.type]), missing)

    def cast(self, kind: Type) -> Vector:
        """The same values as another type of numbers."""
        if self.type == kind:
            return self
        waiting = self._origin
        if kind == Type.NUMBER_OF_ROW and waiting is not None and waiting[0].is_count:
            _, rows, has_gaps = waiting
            gaps = rows < 0 if has_gaps else np.empty(0, np.bool_)
            return Vector(kind, rows.astype(np.int32, copy=False), gaps if gaps.any() else None)
        data, missing = self.data, self.missing
        wanted = ARRAY_OF[kind]
        if self.type == Type.NOTHING:
            return Vector(kind, np.zeros(data.shape, wanted), np.ones(data.shape, np.bool_))
        if self.type == Type.REAL and wanted.kind == "i":
            data = np.rint(data)
        if data.dtype != wanted:
            with np.errstate(invalid="ignore"):
                data = data.astype(wanted)
        return Vector(kind, data, missing)

    def limits(self) -> tuple[int, int]:
        """Bounds of the values of a column of whole numbers; not always the closest ones."""
        if self._limits is None:
            data = self.data
            self._limits = (int(data.min()), int(data.max())) if data.size else (0, 0)
        return self._limits


def _taken(origin: Vector, rows: Integers, has_gaps: bool) -> tuple[Cells, Flags | None]:
    data, missing = origin.data, origin.missing
    found = rows.astype(np.int64) if origin.is_count else compiled.gather(data, rows)
    if not has_gaps:
        return found, None if missing is None else compiled.gather(missing, rows)
    gaps = rows < 0
    if missing is not None:
        gaps |= compiled.gather(missing, rows)
    return found, gaps if gaps.any() else None


@final
@dataclass(eq=False)
class Relation:
    """Columns of one length.

    Parameters
    ----------
    columns
        By name.
    size
        How many rows there are.
    keys
        Sets of columns no two rows agree on.
    """

    columns: Mapping[str, Vector]
    size: int
    keys: Keys = NO_KEYS

    def take(self, rows: Integers, keys: Keys = NO_KEYS) -> Relation:
        """The relation of some of the rows, by their numbers."""
        return Relation({name: vector.take(rows) for name, vector in self.columns.items()}, int(rows.size), keys)

    def where(self, condition: Vector) -> Relation:
        """The rows for which a condition is true."""
        condition = condition.full(self.size)
        is_true = condition.data if condition.missing is None else condition.data & ~condition.missing
        if is_true.all():
            return self
        return self.take(np.flatnonzero(is_true), self.keys)
