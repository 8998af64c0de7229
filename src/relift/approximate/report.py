"""What approximate lifting did and proved, round by round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from relift.program.solution import Status


@final
@dataclass(frozen=True)
class Round:
    """One round of approximate lifting.

    Parameters
    ----------
    kind
        ``"restriction"`` (all rows kept), ``"averages"`` (rows averaged, point repaired) or ``"ground"``: the program
        itself, solved as without ``approximate``.
    classes, rows
        Variables and rows of the small program.
    status
        How it was solved.
    lower, upper, gap
        What is known of the optimum after this round, in the sense of the program.
    seconds
        Since the start.
    """

    kind: str
    classes: int
    rows: int
    status: Status
    lower: float
    upper: float
    gap: float
    seconds: float


@final
@dataclass(frozen=True)
class ApproximationReport:
    """What approximate lifting proved.

    Parameters
    ----------
    lower_bound, upper_bound
        They enclose the optimum of the original program, in its own sense. The bound that no point can beat is proved,
        rounding included; the other is what :mod:`relift.approximate.upper_bound` says of a point. Infinite where the
        plain solve answered so quickly that a proof would have taken longer than the budget allows.
    gap
        Their distance relative to max(1, |objective|).
    asked
        The gap that was asked for.
    rounds
        What each round reached.
    radius
        Infinite if the proof needs no assumption; else it holds for points whose variables without any bound lie in
        [-radius, radius].
    method
        How the first classes were found; empty if none were looked for.
    point_is_proved
        Whether the bound that comes from a point is proved too: the point, or one that is proved to be near, keeps all
        rows and bounds exactly. Otherwise it includes a price for the violation, which holds if no optimal dual value
        is more than ten times as large as those found.
    given_up
        Why approximate lifting was given up and the program solved without it; empty if it was not.
    """

    lower_bound: float
    upper_bound: float
    gap: float
    asked: float
    rounds: tuple[Round, ...]
    radius: float
    method: str
    point_is_proved: bool = False
    given_up: str = ""

    @property
    def is_reached(self) -> bool:
        """Whether the gap is what was asked for."""
        return self.gap <= self.asked

    def __str__(self) -> str:
        last = f"{self.rounds[-1].classes} classes" if self.rounds else "no round"
        text = f"[{self.lower_bound:.9g}, {self.upper_bound:.9g}], gap {self.gap:.2g}"
        if math.isinf(self.lower_bound) and math.isinf(self.upper_bound) and self.lower_bound < self.upper_bound:
            text = "no bounds"
        text = f"{text}, {len(self.rounds)} rounds, {last}"
        return f"{text}; approximation given up: {self.given_up}" if self.given_up else text


def relative_gap(lower: float, upper: float) -> float:
    """Distance of two bounds relative to the upper one, floor 1.

    Examples
    --------
    >>> relative_gap(99.0, 100.0), relative_gap(-0.25, 0.25), relative_gap(-math.inf, 3.0)
    (0.01, 0.5, inf)
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return math.inf
    return max(0.0, upper - lower) / max(1.0, abs(upper))
