"""Text for a terminal: lines and tables with a few colours, drawn without a library.

Everything fits 80 columns. The import of rich takes longer than a small program needs to be solved, so what ``relift
solve`` prints is drawn here; rich prints a drawing too, where it is used for more.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO, final

if TYPE_CHECKING:
    from rich.text import Text

Piece = tuple[str, str]
"""A text and its style: words such as ``bold green``, or empty."""

_CODES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}


@final
class Drawing:
    """Lines of styled text.

    Parameters
    ----------
    *parts
        Lines: a plain text, a list of pieces, or another drawing.
    is_table
        Whether lines keep together; other lines are wrapped between words.
    """

    def __init__(self, *parts: str | Sequence[Piece] | Drawing, is_table: bool = False) -> None:
        self.lines: list[tuple[list[Piece], bool]] = []
        for part in parts:
            if isinstance(part, Drawing):
                self.lines += part.lines
            elif isinstance(part, str):
                self.lines += [([(line, "")], is_table) for line in part.split("\n")]
            else:
                self.lines.append((list(part), is_table))

    def text(self, width: int = 80, is_coloured: bool = False, escape: Callable[[str], str] = lambda text: text) -> str:
        """Draw it.

        Parameters
        ----------
        width
            Columns of the terminal, at which lines that are not of a table are wrapped.
        is_coloured
            Whether styles are drawn too.
        escape
            What is done to the text, but not to the codes of its style.
        """
        drawn = list[str]()
        for pieces, is_table in self.lines:
            escaped = [(escape(text), style) for text, style in pieces]
            for line in [escaped] if is_table else _wrapped(escaped, width):
                drawn.append("".join(_styled(text, style) if is_coloured else text for text, style in line))
        return "".join(f"{line}\n" for line in drawn)

    def __str__(self) -> str:
        return self.text()

    def __rich__(self) -> Text:
        from rich.text import Text

        whole = Text()
        for number, (pieces, _) in enumerate(self.lines):
            whole.append("\n" if number else "")
            for text, style in pieces:
                whole.append(text, style or None)
        return whole


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], bold_rows: frozenset[str] = frozenset()) -> Drawing:
    """Draw a table: the first column to the left, all others to the right, a line below the headings.

    Parameters
    ----------
    headings
        One for each column.
    rows
        The cells.
    bold_rows
        Rows, by their first cell, that stand out.
    """
    cells = [list(row) for row in rows]
    columns = list(zip(headings, *cells, strict=True))
    widths = [max(9 if k == 0 else 8, *map(_columns, column)) for k, column in enumerate(columns)]

    def line(row: Sequence[str], first: str, other: str) -> list[Piece]:
        pieces = [(row[0] + " " * (widths[0] - _columns(row[0])), first)]
        for cell, width in zip(row[1:], widths[1:], strict=True):
            pieces.append((" " * (3 + width - _columns(cell)) + cell, other))
        return pieces

    rule = "─" * (sum(widths) + 3 * (len(widths) - 1))
    body = [line(row, *(("bold cyan", "bold") if row[0] in bold_rows else ("cyan", ""))) for row in cells]
    return Drawing(line(headings, "bold", "bold"), [(rule, "")], *body, is_table=True)


def shows_colours(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether colours are drawn: on a terminal that has them, unless ``NO_COLOR`` is set.

    Parameters
    ----------
    stream
        Where the text goes.
    environment
        The environment of the process.
    """
    if environment.get("NO_COLOR"):
        return False
    return stream.isatty() and environment.get("TERM", "").lower() not in {"dumb", "unknown"}


def _styled(text: str, style: str) -> str:
    codes = ";".join(_CODES[word] for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def _columns(text: str) -> int:
    """How many columns of a terminal a text fills."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _wrapped(pieces: Sequence[Piece], width: int) -> list[list[Piece]]:
    """Break a line between words where it is too long, and within a word that is longer than a line."""
    text = "".join(text for text, _ in pieces)
    if _columns(text) <= width:
        return [list(pieces)]
    lines, start = list[list[Piece]](), 0
    while start < len(text):
        stop, used = start, 0
        while stop < len(text) and used + _columns(text[stop]) <= max(width, 2):
            used += _columns(text[stop])
            stop += 1
        blank = text.rfind(" ", start, stop + 1)
        if stop < len(text) and blank >= start:
            lines += [_slice(pieces, start, blank)] if blank > start else []
            start = blank + 1
        else:
            lines.append(_slice(pieces, start, stop))
            start = stop
    return lines


def _slice(pieces: Sequence[Piece], start: int, stop: int) -> list[Piece]:
    cut, place = list[Piece](), 0
    for text, style in pieces:
        inside = text[max(0, start - place) : max(0, stop - place)]
        if inside:
            cut.append((inside, style))
        place += len(text)
    return cut
