"""Files that appear all at once, or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast


@contextlib.contextmanager
def write_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """Write beside the target and rename at the end; on any failure the target stays as it was.

    Parameters
    ----------
    path
        The target. A link is followed; a device such as ``/dev/stdout`` is written directly.

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
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield cast("BinaryIO", file)
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
