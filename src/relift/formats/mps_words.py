"""The words of an MPS file, line by line; comments and empty lines are gone here, once for all sections.

Blanks are those of ASCII and lines end in LF, CR LF or CR: other alphabets have further signs that Python takes for
blanks or ends of lines, and they may be part of a name.

A comment is a line whose first sign that is no blank is ``*``, and whatever follows a word that begins with ``$`` after
the first word of a line, unless that word is the name of a row or variable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells

_IS_BLANK = np.zeros(256, dtype=bool)
_IS_BLANK[np.frombuffer(b" \t\n\r\f\v", np.uint8)] = True
_STAR, _DOLLAR, _LINE_FEED = b"*$\n"

# The fields of the fixed format, and what must be blank between them.
_FIELDS = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))
_GAPS = ((0, 1), (3, 4), (12, 14), (22, 24), (36, 39), (47, 49))
_REMARKS_FROM = (14, 39)
"""Where the third and the fifth field begin: a ``$`` there makes the rest of the line a comment."""


@final
class LineError(Exception):
    """What is wrong with one line; line 0 is the file as a whole."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        self.reason = reason


def shown(word: bytes) -> str:
    """A word as messages quote it: in quotes, with what cannot be printed escaped, and never endless."""
    text = word.decode("utf-8", "replace")
    return repr(text if len(text) <= 60 else text[:57] + "...")


def number(word: bytes, line: int) -> float:
    """The number that a word stands for; Fortran's exponents (1.5D+03) are read too.

    Examples
    --------
    >>> number(b"1.5D+03", 1), number(b"-inf", 1)
    (1500.0, -inf)
    """
    if b"_" not in word:  # Python's own way to write large numbers
        for spelling in (word, word.replace(b"D", b"E").replace(b"d", b"e")):
            try:
                return float(spelling)
            except ValueError:
                continue
    raise LineError(line, f"{shown(word)} is not a number.")


@final
@dataclass(frozen=True, eq=False)
class Lines:
    """The lines that say something, each as a run of words.

    Parameters
    ----------
    text
        The whole file.
    words, initials
        All words of all lines, comments included, and the first byte of each.
    first, counts
        For each line that is kept, where its words begin and how many there are.
    numbers
        The number of each kept line in the file, counted from 1.
    is_indented
        Whether a kept line begins with a blank, as data do and headings do not.
    n_lines
        Lines of the file, those that are left out too.
    """

    text: bytes
    words: list[bytes]
    initials: NDArray[np.uint8]
    first: NDArray[np.int64]
    counts: NDArray[np.int64]
    numbers: NDArray[np.int64]
    is_indented: NDArray[np.bool_]
    n_lines: int

    @classmethod
    def of(cls, text: str) -> Lines:
        r"""Cut a text into words.

        Examples
        --------
        >>> lines = Lines.of("ROWS\n\n* all of them\n N  COST\r\n")
        >>> [lines.fields(k) for k in range(len(lines))], lines.numbers.tolist()
        ([[b'ROWS'], [b'N', b'COST']], [1, 4])
        """
        data = text.encode("utf-8", "surrogatepass")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        words = data.split()
        letters = np.frombuffer(data, np.uint8)
        is_blank = _IS_BLANK[letters]
        begins = ~is_blank
        begins[1:] &= is_blank[:-1]
        starts = np.flatnonzero(begins)
        line_ends = np.append(np.flatnonzero(letters == _LINE_FEED), letters.size)
        line_starts = np.concatenate([[0], line_ends[:-1] + 1])
        counts = np.diff(np.searchsorted(starts, line_ends), prepend=0)
        first = np.cumsum(counts) - counts
        kept = np.flatnonzero(counts)
        is_comment = letters[starts[first[kept]]] == _STAR
        is_indented = starts[first[kept]] != line_starts[kept]
        for k in np.flatnonzero(is_comment & is_indented).tolist():
            _refuse_hidden_data(words[first[kept[k]] : first[kept[k]] + counts[kept[k]]], int(kept[k]) + 1)
        kept, is_indented = kept[~is_comment], is_indented[~is_comment]
        return cls(data, words, letters[starts], first[kept], counts[kept], kept + 1, is_indented, line_ends.size)

    def __len__(self) -> int:
        return int(self.first.size)

    def fields(self, k: int) -> list[bytes]:
        """The words of a kept line."""
        begin = self.first[k]
        return self.words[begin : begin + self.counts[k]]

    @cached_property
    def word_array(self) -> Cells:
        """All words as an array of objects, so that many can be taken at once."""
        held = np.empty(len(self.words), dtype=object)
        held[:] = self.words
        return held

    @cached_property
    def has_dollars(self) -> bool:
        """Whether a word somewhere begins with ``$``."""
        return b"$" in self.text and bool((self.initials == _DOLLAR).any())

    def counts_without_comments(self, start: int, stop: int, is_name: Callable[[bytes], bool]) -> NDArray[np.int64]:
        """How many words the lines ``start .. stop - 1`` have before a comment that begins with ``$``."""
        counts = self.counts[start:stop].copy()
        if self.has_dollars:
            lines = np.searchsorted(self.first, np.flatnonzero(self.initials == _DOLLAR), "right") - 1
            for k in np.unique(lines[(lines >= start) & (lines < stop)]).tolist():
                counts[k - start] = len(without_comment(self.fields(k), is_name))
        return counts

    @cached_property
    def raw(self) -> list[str]:
        """The lines of the file as they are, for the fixed format, which counts characters."""
        return self.text.decode("utf-8", "surrogatepass").split("\n")

    def fixed_fields(self, k: int) -> list[bytes]:
        """The fields of a kept line by its columns; by words where something stands between the columns.

        No word is ever cut in two: what must be blank is looked at.
        """
        line = self.raw[int(self.numbers[k]) - 1].expandtabs(8).rstrip()
        for column in _REMARKS_FROM:
            if line[column : column + 1] == "$":
                line = line[:column].rstrip()
        if line[61:].strip() or any(line[begin:end].strip() for begin, end in _GAPS):
            return line.encode("utf-8", "surrogatepass").split()
        fields = [line[begin:end].strip().encode("utf-8", "surrogatepass") for begin, end in _FIELDS]
        if fields[2].upper() == b"'MARKER'":
            return [field for field in fields if field]
        while fields and not fields[-1]:
            fields.pop()
        return fields if fields and fields[0] else fields[1:]


def without_comment(fields: list[bytes], is_name: Callable[[bytes], bool], start: int = 1) -> list[bytes]:
    """The fields before a comment that begins with ``$``.

    Examples
    --------
    >>> without_comment([b"X", b"COST", b"1", b"$", b"dollars"], lambda word: False)
    [b'X', b'COST', b'1']
    """
    for k in range(start, len(fields)):
        if fields[k][:1] == b"$" and not is_name(fields[k]):
            return fields[:k]
    return fields


def _refuse_hidden_data(fields: list[bytes], line: int) -> None:
    """An indented ``*X COST 1`` is a comment to some readers and an entry of ``*X`` to others; so is ``* COST 1``."""
    if len(fields) not in (3, 5):
        return
    try:
        for word in fields[2::2]:
            number(word, line)
    except LineError:
        return
    raise LineError(
        line,
        f"this is a comment to some readers and data of {shown(fields[0])} to others."
        " A comment has its * in the first column; a name should not begin with one.",
    )
