"""Files that appear all at once, or not at all: everything that relift writes goes through here."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from io import BufferedWriter
from pathlib import Path
from typing import BinaryIO, cast

_OF_WRITING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EBADF}
"""What can go wrong when bytes are written to a file that is open."""
_STREAM = re.compile(r"/dev/(stdout|stderr)\Z|/(?:dev|proc/self)/fd/(\d+)\Z")
"""A stream of this process: a file behind it must not be replaced, since the stream would go on in the old one."""


@contextlib.contextmanager
def write_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """Write beside the target and rename at the end; on any failure the target stays as it was.

    Errors of the file system (no space left, a quota, a size limit) name the target. A process that is killed leaves
    the old file or the new one; what it had written so far stays beside it as ``.<name>.<letters>.part``.

    Parameters
    ----------
    path
        The target. A link is followed; a device is written directly, and so is an open stream such as
        ``/dev/stdout``, whatever file or pipe it leads to.

    Examples
    --------
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "answer.txt")
    >>> with write_atomically(path) as file:
    ...     _ = file.write(b"42")
    >>> path.read_text(), sorted(p.name for p in Path(folder.name).iterdir())
    ('42', ['answer.txt'])
    >>> folder.cleanup()
    """
    if (stream := _STREAM.match(os.path.abspath(path))) is not None:
        with _naming(path), _opened_again(stream) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if target.exists() and not target.is_file():
        with _naming(path), target.open("wb") as file:
            yield cast("BinaryIO", file)
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    with _naming(path):
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield cast("BinaryIO", file)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, mode)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def _opened_again(stream: re.Match[str]) -> BufferedWriter:
    """Open a stream of this process a second time, such that both go on where the other one has ended."""
    for buffered in (sys.stdout, sys.stderr):
        if buffered is not None:
            buffered.flush()
    number = int(stream[2]) if stream[2] else ("stdout", "stderr").index(stream[1]) + 1
    return open(os.dup(number), "wb")


@contextlib.contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Let errors of the file system name the file that was asked for, not the one beside it or none."""
    try:
        yield
    except OSError as error:
        is_ours = isinstance(error.filename, str) and error.filename.endswith(".part")
        if not is_ours and (error.filename is not None or error.errno not in _OF_WRITING):
            raise  # of something else that was done in the meantime
        raise type(error)(error.errno, error.strerror, str(path)) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
