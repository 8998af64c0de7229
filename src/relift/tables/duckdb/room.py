"""How much memory is left under a limit on the address space (``ulimit -v``).

Threads of DuckDB abort the process where an allocation of their own fails, so that DuckDB must keep well below such a
limit by itself: its own limit is an error that can be told.
"""

from __future__ import annotations

import os
from pathlib import Path

from relift.errors import EngineError

SHARE = 0.5
"""What DuckDB may use of the room that is left; the rest is for stacks, for Arrow and for our own arrays."""

LEAST = 768 << 20
"""With less room DuckDB ends the process here and there, even for small tables: its allocator reserves much more."""


def memory_under_limit() -> int | None:
    """Bytes that DuckDB may use under a limit on the address space; None where there is no such limit.

    Raises
    ------
    EngineError
        If the limit leaves so little that DuckDB could end the process.

    Examples
    --------
    >>> found = memory_under_limit()
    >>> found is None or found >= SHARE * LEAST
    True
    """
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    room = limit - _used()
    if room < LEAST:
        raise EngineError(
            f"the limit on the address space leaves {max(0, room) >> 20} MB, and DuckDB needs {LEAST >> 20} MB.",
            "Raise the limit (ulimit -v).",
        )
    return int(SHARE * room)


def _used() -> int:
    """Bytes of the address space that this process has; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
