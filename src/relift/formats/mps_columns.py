"""The section COLUMNS of an MPS file, the one that is long: many lines by a few calls, or line by line.

Both ways append to the same lists, so that a section may be read in any number of parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np

from relift.arrays import Flags, Indices, Vector
from relift.formats.mps_words import LineError, Lines, number, shown, without_comment

_MARKER = b"'MARKER'"
_QUOTE = ord("'")
FEW = 32
"""So many lines are read one by one: calls on arrays would not pay."""


@final
@dataclass(eq=False)
class Columns:
    """Variables and the entries of their columns, with the lines that they came from."""

    number_of: dict[bytes, int] = field(default_factory=dict)
    integer: set[int] = field(default_factory=set)
    """Variables between markers."""
    is_integer: bool = False
    """Whether the last marker was INTORG."""
    parts: list[tuple[Indices, Indices, Vector, Indices]] = field(default_factory=list)
    """Rows, columns, values and lines of entries."""

    def entries(self) -> tuple[Indices, Indices, Vector, Indices]:
        """All entries: rows, columns, values and lines."""
        empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))
        rows, columns, values, lines = (np.concatenate(part) for part in zip(empty, *self.parts, strict=True))
        return rows, columns, values, lines

    def read(self, lines: Lines, start: int, stop: int, row_number: Mapping[bytes, int], fixed: bool) -> None:
        """Read the kept lines ``start .. stop - 1``.

        Parameters
        ----------
        lines
            The file.
        start, stop
            Which of its lines.
        row_number
            The number of each row.
        fixed
            Whether fields are told by their columns.
        """
        if fixed or stop - start < FEW or not self._read_at_once(lines, start, stop, row_number):
            self.read_one_by_one(lines, start, stop, row_number, fixed)

    def read_one_by_one(
        self, lines: Lines, start: int, stop: int, row_number: Mapping[bytes, int], fixed: bool
    ) -> None:
        """Read line by line, as the format is defined; the words for what is wrong are found here."""
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        origins: list[int] = []
        for k in range(start, stop):
            line = int(lines.numbers[k])
            fields = lines.fixed_fields(k) if fixed else lines.fields(k)
            fields = without_comment(fields, row_number.__contains__)
            if len(fields) not in (3, 5):
                raise LineError(line, f"a line of COLUMNS has 3 or 5 fields, this one has {len(fields)}.")
            if fields[1].upper() == _MARKER:
                self._mark(fields, line)
                continue
            column = self._column(fields[0])
            for name, word in zip(fields[1::2], fields[2::2], strict=True):
                row = row_number.get(name)
                if row is None:
                    raise LineError(line, f"row {shown(name)} is not declared in ROWS.")
                rows.append(row)
                columns.append(column)
                values.append(number(word, line))
                origins.append(line)
        places = (np.array(rows, np.int64), np.array(columns, np.int64))
        self.parts.append((*places, np.array(values, np.float64), np.array(origins, np.int64)))

    def _read_at_once(self, lines: Lines, start: int, stop: int, row_number: Mapping[bytes, int]) -> bool:
        """Convert whole columns of words by one call each, if nothing is wrong; else change nothing and say so."""
        words, first = lines.word_array, lines.first[start:stop]
        counts = lines.counts_without_comments(start, stop, row_number.__contains__)
        origins = lines.numbers[start:stop]
        is_long = counts == 5
        if not (is_long | (counts == 3)).all():
            return False
        is_marker = lines.initials[first + 1] == _QUOTE
        is_marker[is_marker] = [word.upper() == _MARKER for word in words[first[is_marker] + 1]]
        kept = ~is_marker
        found = []
        try:
            for k, chosen in ((1, kept), (3, kept & is_long)):
                rows = np.array(list(map(row_number.__getitem__, words[first[chosen] + k].tolist())), np.int64)
                tokens = words[first[chosen] + k + 1].tolist()
                found.append((rows, chosen, _numbers(tokens)))
        except (KeyError, ValueError):
            return False
        is_integer = self._integer_lines(lines, start, is_marker)
        if is_integer is None:
            return False
        names = words[first[kept]].tolist()
        number_of = self.number_of
        for name in dict.fromkeys(names):
            number_of.setdefault(name, len(number_of))
        column = np.full(first.size, -1, np.int64)
        column[kept] = np.fromiter(map(number_of.__getitem__, names), np.int64, len(names))
        self.integer.update(np.unique(column[kept & is_integer]).tolist())
        self.is_integer = bool(is_integer[-1])
        self.parts += [(rows, column[chosen], values, origins[chosen]) for rows, chosen, values in found]
        return True

    def _integer_lines(self, lines: Lines, start: int, is_marker: Flags) -> Flags | None:
        """Which lines stand between INTORG and INTEND; None if the markers do not take turns."""
        is_integer: Flags = (np.cumsum(is_marker) % 2 == 1) ^ self.is_integer
        for k in np.flatnonzero(is_marker).tolist():
            if lines.fields(start + k)[2].strip(b"'").upper() != (b"INTORG" if is_integer[k] else b"INTEND"):
                return None
        return is_integer

    def _column(self, name: bytes) -> int:
        column = self.number_of.setdefault(name, len(self.number_of))
        if self.is_integer:
            self.integer.add(column)
        return column

    def _mark(self, fields: list[bytes], line: int) -> None:
        kind = fields[2].strip(b"'").upper().decode("utf-8", "replace")
        if kind not in {"INTORG", "INTEND"}:
            what = "special ordered sets" if kind.startswith("SOS") else f"a marker {kind!r}"
            raise LineError(line, f"it has {what}, which relift does not take.")
        if (kind == "INTORG") == self.is_integer:
            raise LineError(line, f"the marker {kind} comes twice in a row.")
        self.is_integer = not self.is_integer


def _numbers(words: list[bytes]) -> Vector:
    """Many numbers at once; ValueError if a word is not a number."""
    if b"_" in b"".join(words):
        raise ValueError
    try:
        return np.array(list(map(float, words)))
    except ValueError:
        return np.array([float(word.replace(b"D", b"E").replace(b"d", b"e")) for word in words])
