"""One thread for BLAS inside small fits.

A fit makes thousands of products of small matrices. Shared out among threads, each of these waits for the slowest one,
and on a machine that has other work, as in a grid search with several jobs, that takes many times as long as the
product itself. Large products are left to BLAS.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController

LARGE = 10_000_000
"""Entries of a matrix from which on its products may use all threads."""


def one_blas_thread() -> AbstractContextManager[object]:
    """Let BLAS use one thread inside a block.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    limits: AbstractContextManager[object] = _controller().limit(limits=1)
    return limits


@cache
def _controller() -> ThreadpoolController:
    """The BLAS libraries of this process; it takes a millisecond to search for them."""
    found: ThreadpoolController = ThreadpoolController().select(user_api="blas")
    return found
