"""Solver objects that a lifting and its updates keep from one solve to the next.

They belong to one lifting and all that :meth:`~relift.lifting.lifting.Lifting.update` makes of it, and are freed with
the last of these. Nothing is kept before the first update: whoever solves once pays no memory. Two threads that solve
liftings of one family at the same time are safe: one of them gets the kept objects, the other a fresh solver.

What the objects are, and when they are used, is up to :mod:`relift.solvers.kept`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import final


@final
class KeptSolvers:
    """Solver objects by the name of their backend.

    Parameters
    ----------
    is_wanted
        Whether anything is to be kept: whether the program is solved with other numbers, too.

    Examples
    --------
    >>> kept = KeptSolvers(is_wanted=True)
    >>> with kept.lent() as objects:
    ...     objects["highs"] = "an object"
    ...     with kept.lent() as others:  # another thread
    ...         print(others)
    None
    >>> kept.names
    ('highs',)
    """

    def __init__(self, *, is_wanted: bool = False) -> None:
        self.is_wanted = is_wanted
        self._objects: dict[str, object] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[object, ...]:
        # A copy, or another process, begins with no objects: solvers can neither be copied nor shared.
        return _empty, (self.is_wanted,)

    @property
    def names(self) -> tuple[str, ...]:
        """The backends of which an object is kept."""
        return tuple(self._objects)

    @contextmanager
    def lent(self) -> Iterator[dict[str, object] | None]:
        """The objects, for this thread alone; None while another one has them, or if none are wanted."""
        if not self.is_wanted or not self._lock.acquire(blocking=False):
            yield None
            return
        try:
            yield self._objects
        finally:
            self._lock.release()

    def forget(self, name: str) -> None:
        """Free the object of a backend, unless a thread is using it."""
        with self.lent() as objects:
            if objects is not None:
                objects.pop(name, None)


def _empty(is_wanted: bool) -> KeptSolvers:
    return KeptSolvers(is_wanted=is_wanted)
