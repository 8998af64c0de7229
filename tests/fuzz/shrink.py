"""Make a failing program small: rows, columns, cones and entries go, numbers become simple, while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from tests.fuzz.draft import Draft

MOST_TRIALS = 300


def shrunk(draft: Draft, fails: Callable[[Draft], bool]) -> Draft:
    """The smallest program found that still fails."""
    trials = 0
    while True:
        for smaller in _smaller(draft):
            trials += 1
            if trials > MOST_TRIALS:
                return draft
            if fails(smaller):
                draft = smaller
                break
        else:
            return draft


def _smaller(draft: Draft) -> Iterator[Draft]:
    for size in (draft.m // 2, 1):
        for begin in range(0, draft.m, max(size, 1)):
            if size:
                yield draft.with_rows(np.delete(np.arange(draft.m), slice(begin, begin + size)))
    for size in (draft.n // 2, 1):
        for begin in range(0, draft.n, max(size, 1)):
            if 0 < size < draft.n:
                yield draft.with_columns(np.delete(np.arange(draft.n), slice(begin, begin + size)))
    for k in range(len(draft.cones)):
        yield replace(draft, cones=draft.cones[:k] + draft.cones[k + 1 :])
    for k in range(len(draft.quadratic)):
        yield replace(draft, quadratic=draft.quadratic[:k] + draft.quadratic[k + 1 :])
    if draft.P is not None:
        yield replace(draft, P=None)
        for j in np.flatnonzero(draft.P.any(0)):
            P = draft.P.copy()
            P[j], P[:, j] = 0.0, 0.0
            yield replace(draft, P=P if P.any() else None)
    if draft.sense == "max":
        yield replace(draft, sense="min", q=-draft.q, P=None if draft.P is None else -draft.P, r=-draft.r)
    if draft.r:
        yield replace(draft, r=0.0)
    yield from _with_simpler_numbers(draft)


def _with_simpler_numbers(draft: Draft) -> Iterator[Draft]:
    for name, nothing in (("lb", -np.inf), ("ub", np.inf), ("l", -np.inf), ("u", np.inf)):
        values = getattr(draft, name)
        for k in np.flatnonzero(np.isfinite(values)):
            yield _changed(draft, name, k, nothing)
            if values[k] not in (0.0, 1.0, -1.0):
                for simple in (0.0, 1.0, float(f"{values[k]:.1g}")):
                    if simple != values[k]:
                        yield _changed(draft, name, k, simple)
    for name in ("q", "A"):
        values = getattr(draft, name)
        for at in zip(*np.nonzero(values), strict=True):
            yield _changed(draft, name, at, 0.0)
            if values[at] != 1.0:
                for simple in (1.0, float(f"{values[at]:.1g}")):
                    if simple not in (values[at], 0.0) and abs(values[at]) != 1.0:
                        yield _changed(draft, name, at, simple)


def _changed(draft: Draft, name: str, at: Any, value: float) -> Draft:
    change: dict[str, Any] = {name: _with(getattr(draft, name), at, value)}
    return replace(draft, **change)


def _with(values: np.ndarray, at: Any, value: float) -> np.ndarray:
    changed = values.copy()
    changed[at] = value
    return changed
