"""One thread for BLAS inside small fits.

A fit makes thousands of products of small matrices. Shared out among threads, each of these waits for the slowest one,
and on a machine that has other work, as in a grid search with several jobs, that takes a hundred times as long as the
product. One thread also means that answers do not depend on how many there are. Large products are left to BLAS.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from threading import Lock
from types import TracebackType
from typing import Any, ClassVar, final

LARGE = 10_000_000
"""Entries of a matrix from which on its products may use all threads."""


@final
class OneBlasThread(AbstractContextManager["OneBlasThread"]):
    """A block in which BLAS uses one thread, in the whole process; blocks of several threads may overlap.

    The first one that is entered changes the number of threads, and the last one that is left restores it.

    Examples
    --------
    >>> with OneBlasThread():
    ...     pass
    """

    _lock: ClassVar[Lock] = Lock()
    _depth: ClassVar[int] = 0
    _limits: ClassVar[Any] = None
    _controller: ClassVar[Any] = None

    def __enter__(self) -> OneBlasThread:
        cls = OneBlasThread
        with cls._lock:
            if cls._controller is None:  # searching the process for libraries takes a millisecond
                from threadpoolctl import ThreadpoolController

                cls._controller = ThreadpoolController().select(user_api="blas")
            if cls._depth == 0:
                cls._limits = cls._controller.limit(limits=1)
            cls._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        cls = OneBlasThread
        with cls._lock:
            cls._depth -= 1
            if cls._depth == 0:
                cls._limits.restore_original_limits()
                cls._limits = None
