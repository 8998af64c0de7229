"""Memory that one refinement frees and the next one takes: to map new pages costs as much as a pass over them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import final

from relift.symmetry import finite_field as field

if field.CORE_IS_COMPILED:
    from relift import _core


def memory_kept() -> AbstractContextManager[None]:
    """Until the end of the block this thread keeps what the kernels free, at most as much as they had in use."""
    return _KEPT


@final
class _Kept:
    """A block in which memory is kept; blocks may stand in each other."""

    def __enter__(self) -> None:
        if field.CORE_IS_COMPILED:
            _core.keep_memory(True)

    def __exit__(self, *error: object) -> None:
        if field.CORE_IS_COMPILED:
            _core.keep_memory(False)


_KEPT = _Kept()
