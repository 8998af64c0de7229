"""The bytes of a file, of a regular one alone, and no more of them than were asked for."""

from __future__ import annotations

import errno
import os
import stat
import zlib
from pathlib import Path
from typing import IO

from relift.errors import FileFormatError, OptionError

MOST_BYTES = 2**31
"""So many bytes are read from a file, and made from a compressed one, unless ``max_bytes`` says otherwise."""

MOST_GROWTH = 250
"""A compressed file may hold so many times its size; models of numbers hold five to fifty times."""

FREE_GROWTH = 2**26
"""What is smaller than this may grow as it likes."""

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 2**20


def checked_limit(max_bytes: int | None) -> int:
    """The limit that is meant: a whole number, or the default for None.

    Examples
    --------
    >>> checked_limit(None) == MOST_BYTES, checked_limit(10)
    (True, 10)
    >>> checked_limit(0)
    Traceback (most recent call last):
    relift.errors.OptionError: max_bytes is 0. It must be a whole number of bytes above zero.
    """
    if max_bytes is None:
        return MOST_BYTES
    if not isinstance(max_bytes, int) or isinstance(max_bytes, bool) or max_bytes < 1:
        raise OptionError(f"max_bytes is {max_bytes!r}.", "It must be a whole number of bytes above zero.")
    return max_bytes


def read_bytes(path: str | Path, max_bytes: int | None = None) -> bytes:
    """Read a regular file as a whole.

    Parameters
    ----------
    path
        The file. Links are followed; a folder, a device, a pipe or a socket is refused without waiting for it.
    max_bytes
        How large it may be; None for :data:`MOST_BYTES`.

    Raises
    ------
    FileFormatError
        If it is not a regular file, or larger.
    OSError
        If there is no such file, it is a folder, or it may not be read.

    Examples
    --------
    >>> read_bytes("/dev/zero")
    Traceback (most recent call last):
    relift.errors.FileFormatError: /dev/zero is a device, a pipe or a socket, not a file. Copy its content to a file.
    """
    limit = checked_limit(max_bytes)
    try:
        name = os.fspath(path)
        handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError:  # a zero byte in the name
        raise FileNotFoundError(errno.ENOENT, "no such file or folder", str(path)) from None
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, or a pipe that nobody writes to
            raise _not_regular(path) from None
        raise
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
        raise _not_regular(path)
    with open(handle, "rb") as file:
        size = about.st_size
        # The size is not trusted: a file may grow while it is read, and those of /proc have none.
        data = b"" if size > limit else file.read(limit + 1)
    if size > limit or len(data) > limit:
        raise too_large(str(path), limit, "The file")
    return data


def decompressed(data: bytes, source: str, max_bytes: int | None = None) -> bytes:
    """What gzip has compressed, if it is not too much.

    Parameters
    ----------
    data
        The compressed bytes: one or more members of gzip.
    source
        How to call the file in messages.
    max_bytes
        How much it may become. None for :data:`MOST_BYTES`; what then grows to more than :data:`MOST_GROWTH` times its
        size (and more than :data:`FREE_GROWTH`) is refused too, since it is made to fill the memory.

    Raises
    ------
    FileFormatError
        If it is not compressed by gzip, is cut off or damaged, or becomes too much.
    """
    limit = checked_limit(max_bytes)
    if not data.startswith(_GZIP_MAGIC):
        raise FileFormatError(f"{source} is not compressed by gzip, although its name ends in .gz.", "Rename the file.")
    growth = Growth(source, len(data), limit, is_default=max_bytes is None)
    parts: list[bytes] = []
    at = 0
    try:
        while at < len(data):
            if not data.startswith(_GZIP_MAGIC, at):
                raise EOFError("other data follow the compressed ones")
            at = _decompress_member(data, at, growth, parts)
            while data[at : at + 1] == b"\0":  # tapes pad with zeros
                at += 1
    except (EOFError, zlib.error) as error:
        raise damaged(source, str(error)) from None
    return b"".join(parts)


def _decompress_member(data: bytes, at: int, growth: Growth, parts: list[bytes]) -> int:
    """Decompress one member of gzip, a little at a time; return where it ends."""
    member = zlib.decompressobj(wbits=31)
    while not member.eof:
        given = member.unconsumed_tail or data[at : at + _CHUNK // 16]
        at += 0 if member.unconsumed_tail else len(given)
        part = member.decompress(given, _CHUNK)
        if not given and not part and not member.eof:
            raise EOFError("it ends before its end-of-stream marker")
        growth.add(len(part))
        parts.append(part)
    return at - len(member.unused_data)


class Growth:
    """How much compressed data have become so far; too much is refused.

    Parameters
    ----------
    source
        How to call the file in messages.
    n_compressed
        The size of the file.
    limit
        How much it may become.
    is_default
        Whether nobody chose that limit, so that also the growth is looked at.
    """

    def __init__(self, source: str, n_compressed: int, limit: int, is_default: bool) -> None:
        self.source, self.limit, self.n_bytes = source, limit, 0
        self.most = max(FREE_GROWTH, MOST_GROWTH * n_compressed) if is_default else limit

    def add(self, n_bytes: int) -> None:
        """Count some bytes more."""
        self.n_bytes += n_bytes
        if self.n_bytes > self.limit:
            raise too_large(self.source, self.limit, "What it decompresses to")
        if self.n_bytes > self.most:
            raise FileFormatError(
                f"{self.source} decompresses to more than {MOST_GROWTH} times its size.",
                "Files of numbers do not; if you trust it, say how large it may become with max_bytes"
                " (on the command line: --max-bytes).",
            )

    def read(self, file: IO[bytes]) -> bytes:
        """Read a compressed file to its end."""
        parts = []
        while part := file.read(_CHUNK):
            self.add(len(part))
            parts.append(part)
        return b"".join(parts)


def brief(error: Exception) -> str:
    """What another module says is wrong, in one line that is not endless: some quote all that they have read."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else f"{text[:157]}..."


def damaged(source: str, reason: str) -> FileFormatError:
    """The error for a file that was once right."""
    return FileFormatError(f"{source} is cut off or damaged ({reason}).", "Copy or write the file again.")


def too_large(source: str, limit: int, what: str) -> FileFormatError:
    """The error for a file, or its content, beyond the limit."""
    return FileFormatError(
        f"{source} is too large. {what} has more than {limit:,} bytes.",
        "If that is meant, raise the limit with max_bytes (on the command line: --max-bytes).",
    )


def _not_regular(path: str | Path) -> FileFormatError:
    return FileFormatError(f"{path} is a device, a pipe or a socket, not a file.", "Copy its content to a file.")
