"""A text and places in it: what error messages point at.

>>> source = Source("edge(X) if node(X);", "graph.rlp")
>>> print(source.excerpt(Span(11, 15)))
  graph.rlp:1:12
    1 | edge(X) if node(X);
      |            ^^^^
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import final


@final
@dataclass(frozen=True, order=True)
class Span:
    """Characters ``start`` up to, but not including, ``stop`` of a source text.

    Parameters
    ----------
    start, stop
        Offsets in characters, from 0.
    """

    start: int
    stop: int

    def to(self, other: Span) -> Span:
        """From the beginning of this span to the end of the other.

        Examples
        --------
        >>> Span(2, 3).to(Span(7, 9))
        Span(start=2, stop=9)
        """
        return Span(self.start, max(self.stop, other.stop))


NOWHERE = Span(0, 0)
"""The span of what was not read from a text."""


@final
@dataclass(frozen=True)
class Source:
    """A model text and the name under which messages show it.

    Parameters
    ----------
    text
        The whole text.
    name
        A file name, or ``"<model>"``.
    """

    text: str = field(repr=False)
    name: str = "<model>"

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(i + 1 for i, character in enumerate(self.text) if character == "\n")
        return starts

    def place(self, offset: int) -> tuple[int, int]:
        r"""Line and column of a character, both counted from 1.

        Examples
        --------
        >>> Source("a;\nb;").place(3)
        (2, 1)
        """
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        start = self._line_starts[number - 1]
        stop = self._line_starts[number] - 1 if number < len(self._line_starts) else len(self.text)
        return self.text[start:stop].rstrip("\r")

    def excerpt(self, span: Span) -> str:
        """The place, its line, and carets below what is meant."""
        line_number, column = self.place(span.start)
        line = self.line(line_number)
        shown, lead, width = _window(line, column - 1, max(1, min(span.stop - span.start, len(line) - column + 1)))
        gutter = str(line_number)
        blank = " " * len(gutter)
        return f"  {self.name}:{line_number}:{column}\n    {gutter} | {shown}\n    {blank} | {lead}{'^' * width}"


def _window(line: str, start: int, length: int) -> tuple[str, str, int]:
    """The visible part of a line, what stands before the carets, and how many carets there are."""
    first, last = 0, len(line)
    if last > 150:  # a generated line may have millions of characters
        first = max(0, start - 60)
        last = min(last, first + 140)
    text = "".join(c if c == " " or c.isprintable() else " " for c in line[first:last])
    head = "..." if first else ""
    tail = "..." if last < len(line) else ""
    before = head + text[: start - first]
    marked = text[start - first : start - first + length]
    return head + text + tail, " " * _columns(before), max(1, _columns(marked))


def _columns(text: str) -> int:
    """How many columns of a terminal a text fills."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
