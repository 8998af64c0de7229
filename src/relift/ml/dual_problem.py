r"""The dual of a support vector machine, how it is to be solved, and what an answer says.

In signed form (beta = y alpha for a classifier) the original dual, over all examples, is

.. math:: D(\beta) = \max\; c^\top\beta - \varepsilon\|\beta\|_1 - \tfrac12\beta^\top K\beta,\quad l \le \beta \le u,\;
   \textstyle\sum\beta_i = 0 .

Classifiers have c = y, epsilon = 0 and bounds of one sign for each example; regression has the targets for c and
bounds of both signs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells, Codes, Double, Indices
from relift.ml.dual_machine import DualLimits
from relift.ml.kernels import KernelSource
from relift.ml.landmarks import Landmarks


@final
@dataclass(frozen=True, eq=False)
class SharedClasses:
    """Classes and landmarks that several duals have in common.

    Parameters
    ----------
    labels
        The first class of each example.
    landmarks
        Landmarks, by their numbers in the source; they may stand behind the examples of the dual.
    """

    labels: Codes
    landmarks: Landmarks


@final
@dataclass(frozen=True, eq=False)
class DualProblem:
    """The original dual.

    Parameters
    ----------
    source
        The kernel between the examples.
    c, lo, hi
        Linear term and box, which contains 0.
    places
        float32 coordinates in which near examples are equal; classes are looked for in them. None: those of the source.
    epsilon
        Weight of the absolute values of beta.
    shared
        Classes and landmarks to start from, if there are some already.
    """

    source: KernelSource
    c: Double
    lo: Double
    hi: Double
    places: NDArray[np.float32] | None
    epsilon: float = 0.0
    shared: SharedClasses | None = None


@final
@dataclass(frozen=True)
class LiftOptions:
    """How the dual is lifted and when it is good enough.

    Parameters
    ----------
    n_classes
        Classes for each side (label) to start from; None: classes only where they pay.
    n_landmarks
        At most so many landmarks.
    tol_gap
        Relative gap to reach.
    solver
        Of the small dual, see :func:`relift.ml.small_dual.solve_small`.
    tolerance
        Of the small dual and of the original one: what two entries of v may differ by.
    most_rounds
        Rounds of splitting.
    max_steps
        Steps over the examples at most; -1: no limit.
    max_seconds
        Processor time of these steps at most.
    cache_bytes
        Memory for kernel rows; None: as :func:`relift.ml.dual_machine.default_cache_bytes`.
    expansion
        ``"support"``, ``"landmarks"`` or ``"auto"``: what the decision function is made of.
    lift_is_exact
        Approximate classes are not allowed.
    seed
        Of all that is drawn.
    """

    n_classes: int | None = None
    n_landmarks: int = 256
    tol_gap: float = 1e-2
    solver: str = "smo"
    tolerance: float = 1e-3
    most_rounds: int = 6
    max_steps: int = -1
    max_seconds: float = np.inf
    cache_bytes: int | None = None
    expansion: str = "auto"
    lift_is_exact: bool = False
    seed: int = 0

    def limits(self) -> DualLimits:
        """The limits of a solve over the examples."""
        return DualLimits(self.tol_gap, self.tolerance, 1e-11, self.max_steps, self.max_seconds)


@final
@dataclass(eq=False)
class DualAnswer:
    """A feasible point of the original dual with its proof.

    Parameters
    ----------
    beta
        The point.
    bias
        The b of the decision function f + b.
    gap
        Proved relative distance from the optimum: (primal value - dual value) / abs(dual value).
    dual_value, primal_value
        The two sides; the primal one is that of scale (f + b).
    labels
        The class of each example, 0 .. n_classes-1, at the end.
    iterations
        Steps of all solvers together.
    landmarks, coefficients
        Numbers of the landmarks and their coefficients, if the decision function is expanded in them.
    rounds
        One line for each round: classes, gap, seconds.
    scale
        The number near 1 for which scale (f + b) proves most.
    is_limited
        A limit of the caller ended the work before the gap was reached.
    """

    beta: Double
    bias: float
    gap: float
    dual_value: float
    primal_value: float
    labels: Codes
    iterations: int
    landmarks: Indices | None = None
    coefficients: Double | None = None
    rounds: list[dict[str, Any]] = field(default_factory=list)
    scale: float = 1.0
    is_limited: bool = False


def class_totals(labels: Cells, values: Double, n_classes: int) -> Double:
    """Sums of values over classes."""
    return np.bincount(labels, values, n_classes).astype(np.float64, copy=False)
