"""What a solver, and relift as a whole, answers: a status, a point, its dual values, or a ray."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TypedDict, Unpack, final

import numpy as np

from relift.arrays import Vector
from relift.program.arrays import kept
from relift.records import quick


@final
class Status(StrEnum):
    """How a solve ended.

    ``optimal`` means that the certificate passed; ``optimal_within_gap``, of approximate lifting only, that the point
    is feasible and proved to be within the gap that was asked for.
    """

    OPTIMAL = "optimal"
    OPTIMAL_WITHIN_GAP = "optimal_within_gap"
    OPTIMAL_INACCURATE = "optimal_inaccurate"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    FAILURE = "failure"

    @property
    def has_point(self) -> bool:
        """Whether a point comes with it that may be read as an answer."""
        return self in {Status.OPTIMAL, Status.OPTIMAL_WITHIN_GAP, Status.OPTIMAL_INACCURATE}


class SolutionParts(TypedDict, total=False):
    """What :meth:`Solution.but` changes, by name."""

    status: Status
    x: Vector | None
    y: Vector | None
    w: Vector | None
    objective: float
    z: Vector | None
    v: Vector | None
    ray_y: Vector | None
    ray_w: Vector | None
    ray_z: Vector | None
    ray_v: Vector | None
    ray_x: Vector | None
    iterations: int | None
    backend: str
    message: str
    statistics: dict[str, object]


@final
@quick
@dataclass(frozen=True, eq=False)
class Solution:
    """A point with its dual values, or a ray that proves that there is none; arrays are copied, and read-only.

    Signs: for the minimisation form, stationarity reads ``Px + q + A'y + w = 0``; ``y[i] > 0`` where the upper bound of
    row i is active, ``y[i] < 0`` where the lower one is, and w does the same for the bounds of the variables. When
    maximising, y and w belong to the equivalent minimisation of the negated objective, so their signs mean the same.

    Parameters
    ----------
    status
        How the solve ended.
    x, y, w
        Primal point, dual values of the rows and of the variable bounds; None if there are none.
    objective
        Value of the objective at x, in the sense of the program; infinite for infeasible and unbounded programs.
    z
        Dual values of the quadratic constraints, z >= 0; they add ``sum_k z_k (P_k x + q_k)`` to stationarity.
    v
        Dual values of the conic rows ``s = b - Cx``, in the dual cones; they add ``C'v`` to stationarity, and v's = 0.
    ray_y, ray_w, ray_z, ray_v
        For an infeasible program: ``A'y + w + C'v = 0`` and ``u'y⁺ - l'y⁻ + ub'w⁺ - lb'w⁻ + b'v < 0``, v in the dual
        cones; with quadratic constraints, see :func:`relift.lifting.certificate.infeasibility_residual`.
    ray_x
        For an unbounded program: a direction d that keeps feasibility (-Cd in the cones), with ``Pd = 0`` and
        ``q'd < 0`` (minimising).
    iterations
        Iterations of the backend, if it tells them.
    backend
        Name of the backend that answered.
    message
        The backend's own word for its status, and anything worth telling.
    statistics
        Further facts by name.
    """

    status: Status
    x: Vector | None = None
    y: Vector | None = None
    w: Vector | None = None
    objective: float = float("nan")
    z: Vector | None = None
    v: Vector | None = None
    ray_y: Vector | None = None
    ray_w: Vector | None = None
    ray_z: Vector | None = None
    ray_v: Vector | None = None
    ray_x: Vector | None = None
    iterations: int | None = None
    backend: str = ""
    message: str = ""
    statistics: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A certificate speaks of the numbers as they were: nobody may change them afterwards.
        parts = vars(self)
        for name in VECTORS:
            vector = parts[name]
            if type(vector) is np.ndarray:
                parts[name] = kept(vector)

    def but(self, **changes: Unpack[SolutionParts]) -> Solution:
        """The same answer with some parts changed; quicker than ``dataclasses.replace``, since the rest is kept.

        Examples
        --------
        >>> answer = Solution(Status.OPTIMAL, x=np.ones(2), message="Solved")
        >>> other = answer.but(status=Status.FAILURE)
        >>> str(other.status), other.message, other.x is answer.x
        ('failure', 'Solved', True)
        """
        other = object.__new__(Solution)
        parts = vars(other)
        parts.update(vars(self))
        if not changes.keys() <= parts.keys():
            raise TypeError(f"a Solution has no {', '.join(changes.keys() - parts.keys())}")
        parts.update(changes)
        for name in changes:
            vector = parts[name]
            if type(vector) is np.ndarray:
                parts[name] = kept(vector)
        return other

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor: a restored array could be written.
        return Solution, tuple(getattr(self, part.name) for part in fields(self))


VECTORS = ("x", "y", "w", "z", "v", "ray_y", "ray_w", "ray_z", "ray_v", "ray_x")
"""The parts of a solution that are vectors."""
