"""What the conformance suites of backends and of engines share: a case with a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar, final

T = TypeVar("T")
"""What is tested."""


@final
@dataclass(frozen=True)
class Case(Generic[T]):
    """One thing that a backend, or an engine, must get right.

    Parameters
    ----------
    name
        What it is.
    check
        Raises AssertionError if it does not.
    """

    name: str
    check: Callable[[T], None] = field(repr=False)

    def __str__(self) -> str:
        return self.name
