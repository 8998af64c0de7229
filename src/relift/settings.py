"""Options and tolerances: frozen, with every default in this one place."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from numbers import Integral, Real
from typing import Literal, ParamSpec, TypeVar, final, get_args

import numpy as np

from relift.errors import OptionError, UnknownOptionError
from relift.records import quick

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

LiftMethod = Literal["equitable", "counting", "orbits", "none"]
"""How variables are compared: by sums, by multisets, by the automorphism group, or not at all."""

Reading = Literal["decimal", "bits"]
"""What a float stands for: the shortest decimal that prints it, or its exact binary value."""

_LIFT_METHODS, _READINGS = get_args(LiftMethod), get_args(Reading)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the choices, and list them.

    Examples
    --------
    >>> check_choice("lift", "equitble", ("equitable", "none"))
    Traceback (most recent call last):
    relift.errors.OptionError: lift='equitble' is not valid. Expected one of: equitable, none.
    """
    if value not in choices:
        raise OptionError(f"{name}={value!r} is not valid.", f"Expected one of: {', '.join(map(str, choices))}.")


OWN_OPTIONS = (
    "lift", "values", "digits", "scale_rows", "reduce", "sizes", "signs", "approximate", "backend", "tolerance",
    "time_limit", "iteration_limit", "threads", "verbose", "backend_options", "vertex", "warm_start", "progress",
)  # fmt: skip
"""The options of :func:`relift.solve`, by the names that they have everywhere: in Python, in bridges and in models."""

_ELSEWHERE = {
    "eps": "tolerance", "gap": "approximate", "max_iter": "iteration_limit", "maxiter": "iteration_limit",
    "method": "lift", "n_threads": "threads", "options": "backend_options", "presolve": "reduce", "solver": "backend",
    "solver_options": "backend_options", "timeout": "time_limit", "tol": "tolerance", "x0": "warm_start",
}  # fmt: skip
"""What other libraries call these options."""


def near_own_option(name: str, cutoff: float = 0.75) -> str:
    """The option of relift that is spelt nearly so; empty if there is none.

    Examples
    --------
    >>> near_own_option("tolerence"), near_own_option("tol_gap_abs")
    ('tolerance', '')
    """
    import difflib

    return next(iter(difflib.get_close_matches(name, OWN_OPTIONS, n=1, cutoff=cutoff)), "")


def unknown_option(name: str, known: Iterable[str] = OWN_OPTIONS) -> UnknownOptionError:
    """The error for an option that a function does not have, with the one that is probably meant.

    Parameters
    ----------
    name
        What was given.
    known
        The options that there are.

    Examples
    --------
    >>> print(unknown_option("tolerence"))
    unknown option 'tolerence'. Did you mean 'tolerance'?
    >>> print(unknown_option("colour", ("lift", "backend")))
    unknown option 'colour'. Expected one of: backend, lift.
    """
    names = list(known)
    elsewhere = _ELSEWHERE.get(name, "")
    import difflib

    if name in _OF_OTHER_FUNCTIONS:
        return UnknownOptionError(f"unknown option {name!r}.", _OF_OTHER_FUNCTIONS[name])
    near = [elsewhere] if elsewhere in names else difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Expected one of: {', '.join(sorted(names))}."
    return UnknownOptionError(f"unknown option {name!r}.", hint)


_SCIPY = "SciPy's names are those of relift.linprog; relift.Program has costs q and rows l <= A x <= u."
_QPSOLVERS = "These names are those of relift.solve_qp; relift.Program has rows l <= A x <= u."
_OF_OTHER_FUNCTIONS = {
    **dict.fromkeys(("c", "A_ub", "b_ub", "A_eq", "b_eq", "bounds"), _SCIPY),
    **dict.fromkeys(("G", "h", "b"), _QPSOLVERS),
    "maximize": "A maximisation is relift.Program(..., sense='max').",
    "minimize": "A minimisation is relift.Program(..., sense='min'), the default.",
}
"""What other tools call parts of a program, and what to do."""

_OF_PROGRAM = frozenset(
    {"P", "q", "A", "l", "u", "lb", "ub", "r", "sense", "triangle", "quadratic", "conic", "assume_convex"}
)
"""What :class:`relift.Program` takes."""


def suggests_options(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Make a function name the nearest of its options when it is called with one that it does not have.

    Examples
    --------
    >>> @suggests_options
    ... def solve(program: object, *, tolerance: float = 1e-6) -> None: ...
    >>> solve(None, tolerence=1e-3)
    Traceback (most recent call last):
    relift.errors.UnknownOptionError: unknown option 'tolerence'. Did you mean 'tolerance'?
    """
    known = tuple(inspect.signature(function).parameters)
    takes_program = known[:1] == ("program",)

    @wraps(function)
    def call(*args: Given.args, **options: Given.kwargs) -> Returned:
        for name in options:
            if name not in known and takes_program and name in _OF_PROGRAM:
                raise UnknownOptionError(
                    f"{name} belongs to a program.",
                    f"Make one first: relift.{function.__name__}(relift.Program({name}=..., ...)).",
                )
            if name not in known:
                raise unknown_option(name, known[takes_program:])
        return function(*args, **options)

    return call


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_positive(name: str, value: int | None) -> None:
    """Refuse an option that is neither a positive whole number nor None.

    Examples
    --------
    >>> check_positive("threads", 2)
    >>> check_positive("threads", 0)
    Traceback (most recent call last):
    relift.errors.OptionError: threads=0 is out of range. Give a positive whole number, or None.
    """
    if value is not None and not (_is_whole(value) and value >= 1):
        raise OptionError(f"{name}={value!r} is out of range.", "Give a positive whole number, or None.")


def check_switch(name: str, value: object) -> None:
    """Refuse an option that is neither True nor False: the text "no" would count as yes.

    Examples
    --------
    >>> check_switch("sizes", "no")
    Traceback (most recent call last):
    relift.errors.OptionError: sizes='no' is not valid. Give True or False.
    """
    if value is not True and value is not False and not isinstance(value, (np.bool_, int)):
        raise OptionError(f"{name}={value!r} is not valid.", "Give True or False.")


def _is_number(value: object) -> bool:
    return type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))


@final
@quick
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
    sizes
        Merge variables and rows that are equal up to their size or their unit (``"equitable"`` only).
    signs
        Merge variables and rows that are equal up to their sign (``"equitable"`` only).
    seed
        Seed of the hashes; the classes found do not depend on it.
    """

    lift: LiftMethod = "equitable"
    values: Reading = "decimal"
    digits: int | None = None
    scale_rows: bool = True
    reduce: bool = True
    sizes: bool = True
    signs: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("lift", self.lift, _LIFT_METHODS)
        check_choice("values", self.values, _READINGS)
        if self.digits is not None and not (_is_whole(self.digits) and 1 <= self.digits <= 15):
            raise OptionError(f"digits={self.digits!r} is out of range.", "Give a whole number from 1 to 15.")
        for name in ("scale_rows", "reduce", "sizes", "signs"):
            check_switch(name, getattr(self, name))

    @property
    def is_up_to_scale(self) -> bool:
        """Whether members of a class may differ by a factor: their size, or their sign."""
        return self.lift == "equitable" and (self.sizes or self.signs)


@final
@quick
@dataclass(frozen=True)
class SolverSettings:
    """What every backend is told, the same options for all.

    Parameters
    ----------
    tolerance
        The largest relative residual of an answer that may be called optimal; backends are asked for more.
    time_limit
        Seconds of wall-clock time, or None.
    iteration_limit
        Iterations of the backend, or None for its own limit.
    threads
        Threads of the backend, or None for its own choice; relift's own passes keep to it too
        (:mod:`relift.threads`).
    verbose
        Let the backend print its log.
    options
        Handed to the backend as they are, by its own names; they win over the options above.
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
        check_positive("iteration_limit", self.iteration_limit)
        check_positive("threads", self.threads)


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
