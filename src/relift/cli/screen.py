"""What is shown: text from names, files and servers is escaped where a terminal would obey it."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from relift.errors import printable
from relift.report.drawing import Drawing, shows_colours

if TYPE_CHECKING:
    from rich.console import Console


class EscapedStream:
    """A stream of text that escapes control characters.

    Parameters
    ----------
    stream
        Where the text goes.
    """

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        """Write escaped text."""
        self.unfiltered.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write escaped lines."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


@contextlib.contextmanager
def escaped_output() -> Iterator[None]:
    """Escape what is printed on stdout and stderr."""
    before = sys.stdout, sys.stderr
    streams: Any = [
        stream if stream is None or isinstance(stream, EscapedStream) else EscapedStream(stream) for stream in before
    ]
    sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def print_source(text: str) -> None:
    """Print a text that is read again by machines: as it is, but on a terminal."""
    stream = sys.stdout if sys.stdout.isatty() else getattr(sys.stdout, "unfiltered", sys.stdout)
    stream.write(text)


def show(*parts: Drawing | str) -> None:
    """Print drawings on stdout, with colours on a terminal; what a terminal would obey in their text is escaped.

    Parameters
    ----------
    *parts
        Drawings, and lines of text.
    """
    stream = getattr(sys.stdout, "unfiltered", sys.stdout)
    text = Drawing(*parts).text(shutil.get_terminal_size().columns, shows_colours(stream), printable)
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:  # a terminal without the line below headings
        text = text.replace("─", "-")
    stream.write(text)


def escaped_console(stderr: bool = False) -> Console:
    """Make a console for tables: plain when that is not a terminal; its own colours pass, those in the data do not.

    Parameters
    ----------
    stderr
        Whether it writes to stderr instead of stdout.
    """
    from rich.console import Console
    from rich.segment import Segment

    class EscapedConsole(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(printable(segment.text), segment.style)

    stream = sys.stderr if stderr else sys.stdout
    return EscapedConsole(
        file=getattr(stream, "unfiltered", stream), stderr=stderr, highlight=False, markup=False, soft_wrap=False
    )
