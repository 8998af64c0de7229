"""Output whose reader may go away (``relift ... | head``): what nobody reads is dropped, and the work goes on.

A model that was solved stays solved when the reader of its summary has seen enough: files asked for are still written,
and the exit code is that of the answer.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO, final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@final
class _Unbroken(io.FileIO):
    """A file descriptor that drops what is written to it after its reader has gone."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or drop.

        Parameters
        ----------
        data
            Bytes.
        """
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def survive_closed_pipes() -> None:
    """Replace stdout and stderr of this process by streams that never break; closed ones lead nowhere."""
    sys.stdout = _unbroken(sys.stdout, 1)
    sys.stderr = _unbroken(sys.stderr, 2)


def _unbroken(stream: TextIO | None, descriptor: int) -> TextIO:
    if stream is None:  # closed by the caller (`>&-`)
        return open(os.devnull, "w", encoding="utf-8")
    try:
        stream.flush()
        raw = _Unbroken(descriptor, "w", closefd=False)
    except (OSError, ValueError):  # not a file: somebody has replaced it, and knows what happens to it
        return stream
    is_terminal = raw.isatty()
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=is_terminal or descriptor == 2,
        write_through=descriptor == 2,
    )


def flush_or_drop() -> None:
    """Write what is left for stdout and stderr; drop it where there is no room, which has been told."""
    try:
        sys.stdout.flush()
    except OSError:  # pointed elsewhere, or Python complains when it flushes what is left
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if sys.stderr is not None:
        sys.stderr.flush()
