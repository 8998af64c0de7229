"""Options and tolerances: frozen, with every default in this one place."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Literal, final, get_args

from relift.errors import OptionError

LiftMethod = Literal["equitable", "counting", "orbits", "none"]
"""How variables are compared: by sums, by multisets, by the automorphism group, or not at all."""

Reading = Literal["decimal", "bits"]
"""What a float stands for: the shortest decimal that prints it, or its exact binary value."""


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of the choices, and list them.

    Examples
    --------
    >>> check_choice("lift", "equitble", ("equitable", "none"))
    Traceback (most recent call last):
    relift.errors.OptionError: lift='equitble' is not known. Choose one of: equitable, none.
    """
    if value not in choices:
        raise OptionError(f"{name}={value!r} is not known.", f"Choose one of: {', '.join(choices)}.")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


@final
@dataclass(frozen=True)
class LiftSettings:
    """How symmetry is looked for.

    Parameters
    ----------
    lift
        ``"equitable"`` (sums, the coarsest), ``"counting"`` (multisets), ``"orbits"`` (automorphisms) or ``"none"``.
    values
        How a float is read: ``"decimal"``, so that .1 + .2 = .3, or ``"bits"``.
    digits
        If given, numbers closer than ``10**-digits`` relative count as one; what was merged is reported.
    scale_rows
        Compare rows up to a factor, so that ``2x <= 2`` equals ``x <= 1``.
    reduce
        Substitute fixed variables, singleton rows and duplicate rows first; symmetry hides behind them.
    seed
        Seed of the random words; the classes found do not depend on it.
    """

    lift: LiftMethod = "equitable"
    values: Reading = "decimal"
    digits: int | None = None
    scale_rows: bool = True
    reduce: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("lift", self.lift, get_args(LiftMethod))
        check_choice("values", self.values, get_args(Reading))
        if self.digits is not None and not (_is_whole(self.digits) and 1 <= self.digits <= 15):
            raise OptionError(f"digits={self.digits!r} is out of range.", "Give a whole number from 1 to 15.")


@final
@dataclass(frozen=True)
class SolverSettings:
    """What every backend is told, the same words for all.

    Parameters
    ----------
    tolerance
        The largest relative residual of an answer that may be called optimal; backends are asked for more.
    time_limit
        Seconds of wall-clock time, or None.
    iteration_limit
        Iterations of the backend, or None for its own limit.
    threads
        Threads of the backend, or None for its own choice.
    verbose
        Let the backend print its log.
    options
        Handed to the backend as they are, by its own names; they win over the words above.
    interrupt
        Called by HiGHS (linear programs) and Clarabel between iterations; returning True ends the solve. Other backends
        do not call it.
    """

    tolerance: float = 1e-6
    time_limit: float | None = None
    iteration_limit: int | None = None
    threads: int | None = None
    verbose: bool = False
    options: Mapping[str, object] = field(default_factory=dict)
    interrupt: Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        if not (_is_number(self.tolerance) and 0 < self.tolerance < 1):
            raise OptionError(
                f"tolerance={self.tolerance!r} is out of range.",
                "Give a number between 0 and 1, such as 1e-6.",
            )
        if self.time_limit is not None and not (_is_number(self.time_limit) and self.time_limit > 0):
            raise OptionError(
                f"time_limit={self.time_limit!r} is out of range.", "Give a positive number of seconds, or None."
            )
        for name in ("iteration_limit", "threads"):
            value = getattr(self, name)
            if value is not None and not (_is_whole(value) and value >= 1):
                raise OptionError(f"{name}={value!r} is out of range.", "Give a positive whole number, or None.")


@final
@dataclass(frozen=True)
class Progress:
    """What long work tells about itself while it runs.

    Parameters
    ----------
    stage
        Where in the pipeline: ``"ground"``, the name of one of :data:`relift.pipeline.STAGES`, or
        ``"approximate"``.
    message
        What happens there.
    round, classes
        For refinement: how many rounds or splitters are done and how many classes are known.
    lower, upper, gap
        For approximate lifting: what is proved of the optimum after this round; NaN elsewhere.
    """

    stage: str
    message: str = ""
    round: int = 0
    classes: int = 0
    lower: float = math.nan
    upper: float = math.nan
    gap: float = math.nan


ProgressCallback = Callable[[Progress], None]
