"""How many threads the compiled passes over large matrices may use.

``threads=`` of :func:`relift.solve` and :func:`relift.lift` is meant for everything that a call does, so it is not
handed from function to function but holds for all that runs inside a ``with`` block (of this thread of Python, or of
this asynchronous task). The results do not depend on it, and programs of less than a few hundred thousand entries use
one thread in any case.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from typing import final

_chosen: ContextVar[int | None] = ContextVar("relift_threads", default=None)


def using_threads(number: int | None) -> AbstractContextManager[None]:
    """Let the compiled passes inside the block use this many threads; None changes nothing.

    Examples
    --------
    >>> with using_threads(3):
    ...     threads_in_use()
    3
    """
    return _Using(number)


@final
class _Using:
    """A block with so many threads; not by ``contextmanager``, which takes longer than the smallest liftings."""

    def __init__(self, number: int | None) -> None:
        self.number = number
        self.token: Token[int | None] | None = None

    def __enter__(self) -> None:
        if self.number is not None:
            self.token = _chosen.set(self.number)

    def __exit__(self, *error: object) -> None:
        if self.token is not None:
            _chosen.reset(self.token)


LEAST_ENTRIES = 1 << 18
"""Passes over fewer entries than that are not shared: twice what the core gives to a thread at least."""


def threads_for(n_entries: int) -> int:
    """How many threads a pass over so many entries may use.

    Examples
    --------
    >>> threads_for(1000)
    1
    """
    return 1 if n_entries < LEAST_ENTRIES else threads_in_use()


def threads_in_use() -> int:
    """The number that was chosen, or as many as there are cores that this process may use."""
    chosen = _chosen.get()
    return available_cores() if chosen is None else chosen


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
