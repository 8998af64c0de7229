"""Options of approximate lifting, and the lifting that they ask for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal, final, get_args

import numpy as np
from numpy.typing import ArrayLike

from relift.approximate.first_classes import COARSEST, first_classes, labels_of
from relift.approximate.near_equal import Clusterer
from relift.approximate.restriction import restrict
from relift.errors import OptionError
from relift.lifting.lifting import Lifting
from relift.lifting.presolve import reduce, unreduced
from relift.lifting.quotient import quotient
from relift.program.program import Program
from relift.settings import LiftSettings, ProgressCallback, check_choice
from relift.stages import Clock
from relift.symmetry.find import no_symmetry
from relift.symmetry.partition import Partition

RowHandling = Literal["auto", "keep", "average"]
Finish = Literal["gap", "ground"]


@final
@dataclass(frozen=True, eq=False)
class Approximation:
    """How to lift what is only nearly symmetric, and how good the answer must be.

    Parameters
    ----------
    gap
        The proved gap at which to stop: (upper - lower) / ``max(1, |upper|)``.
    tolerance
        Numbers that differ by no more than this, relatively, count as equal in the search for the first classes; None
        for ten times ``gap``, and more where that finds little.
    classes
        Start from about so many classes of variables, found by clustering signatures, in place of a tolerance.
    clusterer
        Anything with ``fit_predict``, such as ``sklearn.cluster.KMeans(50)``: it clusters the signatures.
    partition
        Start from these classes: a :class:`~relift.Partition` or one label for each variable.
    rows
        ``"keep"`` keeps all distinct rows, ``"average"`` merges the rows of a class and repairs the point afterwards,
        ``"auto"`` keeps them as long as the small program then is feasible and has not far more rows than classes.
    max_classes
        Never split beyond this; None for no limit.
    max_rounds
        Never take more rounds than this.
    radius
        What you know the magnitude of variables without any bound to be at most. None: only where rounding parts the
        dual values from a proof, such variables are taken to lie within 10⁴ times the largest entry of the point found,
        and the report says so. ``math.inf``: no assumption at all.
    budget
        What approximate lifting may take at most, as a share of the time that solving the program without it has taken
        so far: then it is given up, and the program is solved without it. ``math.inf``: take whatever the gap needs.
    finish
        ``"gap"`` ends with the proved gap; ``"ground"`` then solves the program directly, started from that point.

    Examples
    --------
    >>> Approximation(gap=1e-4).tolerance_in_use
    0.001
    >>> Approximation(gap=0.0)
    Traceback (most recent call last):
    relift.errors.OptionError: gap=0.0 is out of range. Give a positive number, such as 1e-3.
    """

    gap: float = 1e-3
    tolerance: float | None = None
    classes: int | None = None
    clusterer: Clusterer | None = None
    partition: Partition | ArrayLike | None = None
    rows: RowHandling = "auto"
    max_classes: int | None = None
    max_rounds: int = 50
    radius: float | None = None
    finish: Finish = "gap"
    budget: float = 0.35

    def __post_init__(self) -> None:
        check_choice("rows", self.rows, get_args(RowHandling))
        check_choice("finish", self.finish, get_args(Finish))
        for name in ("gap", "tolerance", "classes", "max_classes", "max_rounds", "radius", "budget"):
            value = getattr(self, name)
            is_number = isinstance(value, Real) and not isinstance(value, bool)
            is_optional = name not in {"gap", "max_rounds", "budget"}
            _check(is_number or (value is None and is_optional), name, value, "a number")
        _check(self.gap > 0 and math.isfinite(self.gap), "gap", self.gap, "a positive number, such as 1e-3")
        _check(
            self.tolerance is None or 0 < self.tolerance < 1,
            "tolerance", self.tolerance, "a number between 0 and 1, such as 1e-2",
        )  # fmt: skip
        for name in ("classes", "max_classes"):
            value = getattr(self, name)
            _check(value is None or (value == int(value) and value >= 1), name, value, "a positive whole number")
        _check(self.max_rounds >= 1, "max_rounds", self.max_rounds, "a positive whole number")
        _check(self.budget > 0, "budget", self.budget, "a positive number, such as 0.35, or math.inf")
        _check(self.radius is None or self.radius > 0, "radius", self.radius, "a positive number, or math.inf")
        ways = [name for name in ("tolerance", "classes", "partition") if getattr(self, name) is not None]
        if len(ways) > 1:
            raise OptionError(f"{' and '.join(ways)} are given together.", "Each is a way to find the first classes.")

    @property
    def tolerance_in_use(self) -> float:
        """The tolerance of the search: as given, or ten times the gap."""
        return self.tolerance if self.tolerance is not None else min(COARSEST, 10.0 * self.gap)

    def lift(
        self, program: Program, settings: LiftSettings | None = None, progress: ProgressCallback | None = None
    ) -> Lifting:
        """Merge what is nearly equivalent: a restriction, whose optimum is an upper bound, and no more.

        Parameters
        ----------
        program
            The original program.
        settings
            How floats are read, and whether to presolve.
        progress
            Progress callback, called once per stage.

        Raises
        ------
        OptionError
            If the program has quadratic constraints or cones.

        Examples
        --------
        >>> program = Program(q=[1, 1.001, 0.999], A=[[1, 1, 1]], l=[3], lb=0)
        >>> Approximation().lift(program).small.n_variables
        1
        """
        settings, clock = settings or LiftSettings(), Clock(progress)
        presolved = self.presolved(program, settings, clock)
        reduction = presolved.reduction
        with clock.stage("find classes"):
            symmetry = first_classes(reduction.program, self, reduction.variables, program.n_variables)
        with clock.stage("quotient"):
            small = restrict(reduction.program, symmetry)
        note = f"approximate classes ({symmetry.method}): all distinct rows are kept, so the optimum is an upper bound."
        return Lifting(program, reduction, small, settings, clock.seconds, None, (note,), self)

    def presolved(self, program: Program, settings: LiftSettings, clock: Clock | None = None) -> Lifting:
        """Return the program after exact presolve, before classes are looked for.

        Parameters
        ----------
        program
            The original program.
        settings
            How floats are read, and whether to presolve.
        clock
            Times the stage.
        """
        self.check(program)
        clock = clock or Clock()
        with clock.stage("presolve"):
            change = reduce if settings.reduce else unreduced
            reduction = change(program.minimisation(), settings.values)
        alone = quotient(reduction.program, no_symmetry(reduction.program))
        return Lifting(program, reduction, alone, settings, clock.seconds, approximation=self)

    def check(self, program: Program) -> None:
        """Refuse programs that approximate lifting does not take, and classes that do not fit.

        Raises
        ------
        OptionError
            If the program has quadratic constraints or cones.
        PartitionError
            If a partition of another size than the program was given.
        """
        if len(program.quadratic):
            raise OptionError("approximate lifting does not take quadratic constraints.", "Remove approximate.")
        if len(program.conic):
            raise OptionError("approximate lifting does not take cones.", "Remove approximate.")
        if self.partition is not None:
            labels_of(self.partition, program.n_variables)


def approximation_from(given: object) -> Approximation:
    """Read the argument ``approximate``: options, a gap, or classes.

    Examples
    --------
    >>> approximation_from(1e-2).gap
    0.01
    >>> approximation_from("a little")
    Traceback (most recent call last):
    relift.errors.OptionError: approximate must be a positive number (the gap), a Partition or an Approximation; got
    'a little'. For example: approximate=1e-3.
    """
    if isinstance(given, Approximation):
        return given
    if given is True:
        return Approximation()
    if isinstance(given, Partition):
        return Approximation(partition=given)
    if isinstance(given, (int, float, np.floating)) and not isinstance(given, bool):
        return Approximation(gap=float(given))
    raise OptionError(
        f"approximate must be a positive number (the gap), a Partition or an Approximation; got {given!r}.",
        "For example: approximate=1e-3.",
    )


def _check(is_right: bool, name: str, value: object, wanted: str) -> None:
    if not is_right:
        raise OptionError(f"{name}={value!r} is out of range.", f"Give {wanted}.")
