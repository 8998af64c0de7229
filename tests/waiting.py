"""Waiting for something to be so, as long as it takes: the end is only against waiting for ever."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 600.0


def wait_until(is_true: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Wait until something is true; False if it did not become so.

    Parameters
    ----------
    is_true
        What is waited for.
    seconds
        Against waiting for ever.
    """
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
