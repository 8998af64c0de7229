"""Memory that one refinement frees and the next one takes: to map new pages costs as much as a pass over them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from relift.symmetry import finite_field as field

if field.CORE_IS_COMPILED:
    from relift import _core


@contextmanager
def memory_kept() -> Iterator[None]:
    """Until the end of the block this thread keeps what the kernels free, at most as much as they had in use."""
    if not field.CORE_IS_COMPILED:
        yield
        return
    _core.keep_memory(True)
    try:
        yield
    finally:
        _core.keep_memory(False)
