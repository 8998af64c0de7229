"""Engines that nobody has closed are closed before the interpreter takes itself apart.

What an engine needs to close (modules, sessions, folders) is gone by the time that its last reference may go: its
folder stayed behind, and Python showed a traceback.
"""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from typing import Protocol
from weakref import WeakKeyDictionary


class Closable(Protocol):
    """What has something to give back; closing it twice does no harm."""

    def close(self) -> None:
        """Give it back."""


_open: WeakKeyDictionary[Closable, int] = WeakKeyDictionary()
"""What is to be closed, and the process that has opened it: a forked one leaves it alone."""


def close_at_exit(engine: Closable) -> None:
    """Close something when the interpreter ends, if it is still there.

    Parameters
    ----------
    engine
        What has just been opened.
    """
    _open[engine] = os.getpid()


@atexit.register
def _close_all() -> None:
    for engine, process in list(_open.items()):
        if process == os.getpid():
            with suppress(Exception):  # nobody is left to read it
                engine.close()
