"""The same program with every inequality a little wider or narrower: what only holds there is borderline, not wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from tests.fuzz.draft import Draft

from relift.program.cones import Exponential, SecondOrder


def with_margin(draft: Draft, share: float) -> Draft:
    """Rows, bounds and cones wider by that share of their numbers; narrower if it is negative.

    Equalities become wider, but never narrower; bounds that would cross meet in the middle.
    """
    largest = np.abs(draft.A).max(1, initial=0.0)
    l, u = _moved(draft.l, draft.u, share, largest)
    lb, ub = _moved(draft.lb, draft.ub, share, np.ones(draft.n))
    quadratic = tuple((P, q, r + share * max(1.0, abs(r))) for P, q, r in draft.quadratic)
    cones = tuple((cone, C, b + share * _outwards(cone) * np.maximum(1.0, np.abs(b))) for cone, C, b in draft.cones)
    return replace(draft, l=l, u=u, lb=lb, ub=ub, quadratic=quadratic, cones=cones)


FAR = 1e10
"""Whether there are points so many times as far away as its numbers say is decided by how coefficients were rounded."""


def within_reach(draft: Draft) -> Draft:
    """The same program with bounds on every variable, far away: a last digit of a coefficient, times such a variable,
    is as large as what a row may be off by.
    """
    sides = np.maximum(_finite(draft.l), _finite(draft.u))
    coefficients = np.abs(draft.A)
    sizes = np.divide(sides[:, None], coefficients, out=np.zeros_like(coefficients), where=coefficients > 0)
    own = np.maximum(np.maximum(_finite(draft.lb), _finite(draft.ub)), 1.0)
    far = FAR * np.maximum(sizes.max(0, initial=0.0), own)
    return replace(draft, lb=np.maximum(draft.lb, -far), ub=np.minimum(draft.ub, far))


def with_other_digits(draft: Draft) -> Iterator[Draft]:
    """The same program with every coefficient of its rows a little larger or smaller, in eight ways.

    The certificate allows a millionth of the largest product of a row.
    """
    for seed, share in enumerate([1e-9] * 4 + [3e-7] * 4):
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], draft.A.shape)
        yield replace(draft, A=draft.A * (1.0 + share * signs))


def _moved(lower: Any, upper: Any, share: float, sizes: Any) -> tuple[Any, Any]:
    room = share * np.maximum(np.maximum(_finite(lower), _finite(upper)), sizes)
    if share < 0:
        room = np.where(lower == upper, 0.0, room)
    low, high = lower - room, upper + room
    crossed = low > high
    middle = np.where(crossed, 0.5 * (np.where(crossed, lower, 0.0) + np.where(crossed, upper, 0.0)), 0.0)
    return np.where(crossed, middle, low), np.where(crossed, middle, high)


def _finite(values: Any) -> Any:
    return np.where(np.isfinite(values), np.abs(values), 0.0)


def _outwards(cone: Any) -> Any:
    """Where the slack of a cone must go to be further inside."""
    direction = np.zeros(cone.n_rows)
    if isinstance(cone, SecondOrder):
        direction[0] = 1.0
    elif isinstance(cone, Exponential):
        direction[2] = 1.0
    else:
        direction[:-1] = 1.0
    return direction
