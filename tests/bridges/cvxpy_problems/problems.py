"""Problems of CVXPY for tests: each kind of cone, with or without symmetry, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cvxpy import Problem

cp = pytest.importorskip("cvxpy")

Random = np.random.Generator


def tied(random: Random, n: int, n_kinds: int) -> NDArray[np.float64]:
    """Numbers of which many are equal; a decimal each, so that sums are exact as they are read."""
    return np.round(random.uniform(0.5, 2.0, n_kinds), 2)[random.integers(0, n_kinds, n)]


def ring(n: int) -> NDArray[np.float64]:
    """A positive definite matrix that every turn of the ring leaves as it is."""
    return 3 * np.eye(n) - np.roll(np.eye(n), 1, axis=1) - np.roll(np.eye(n), -1, axis=1)


def linear(random: Random, n: int, kinds: int) -> Problem:
    x = cp.Variable(n, nonneg=True)
    weights = tied(random, n, kinds)
    return cp.Problem(cp.Minimize(tied(random, n, kinds) @ x), [weights @ x >= 1, cp.sum(x) <= 40, x <= 2])


def quadratic(random: Random, n: int, kinds: int) -> Problem:
    x = cp.Variable(n)
    objective = cp.sum_squares(x - tied(random, n, kinds)) + tied(random, n, kinds) @ x
    return cp.Problem(cp.Minimize(objective), [cp.sum(x) == 1, x <= 0.6, tied(random, n, kinds) @ x >= -1])


def second_order(random: Random, n: int, kinds: int) -> Problem:
    x = cp.Variable(n)
    near = cp.norm(cp.multiply(tied(random, n, kinds), x) - 1) + 0.1 * cp.sum(x) <= 3
    return cp.Problem(cp.Minimize(tied(random, n, kinds) @ x + 0.1 * cp.sum_squares(x)), [near, cp.SOC(x[0] + 8, x)])


def exponential(random: Random, n: int, kinds: int) -> Problem:
    x = cp.Variable(n)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) + tied(random, n, kinds) @ x), [cp.sum(x) == 2, x <= 1.5])


def power(random: Random, n: int, kinds: int) -> Problem:
    x, y, z = cp.Variable(n), cp.Variable(n), cp.Variable(n)
    cone = cp.PowCone3D(x, y, z, np.where(tied(random, n, kinds) > 1.2, 0.3, 0.6))
    return cp.Problem(cp.Maximize(tied(random, n, kinds) @ z - 0.1 * cp.sum_squares(z)), [cone, x + y <= 2, x <= 1.5])


def power_nd(random: Random, n: int, kinds: int) -> Problem:
    x, z = cp.Variable(n), cp.Variable()
    alphas = np.ones(n) / n
    return cp.Problem(cp.Maximize(z), [cp.PowConeND(x, z, alphas), tied(random, n, kinds) @ x <= 5, x <= 3])


def semidefinite(random: Random, n: int, kinds: int) -> Problem:
    n = min(n, 5)
    X = cp.Variable((n, n), symmetric=True)
    C = random.normal(size=(n, n))
    return cp.Problem(cp.Minimize(cp.trace((C + C.T) @ X)), [X >> 0, cp.trace(X) == 1, X[0, 0] <= 0.2])


def curved(random: Random, n: int, kinds: int) -> Problem:
    x = cp.Variable(n)
    limits = [cp.quad_form(x, ring(n)) + cp.sum(x) <= 2, cp.sum_squares(x - 0.1) <= 4, cp.norm(x) <= 3]
    return cp.Problem(cp.Minimize(tied(random, n, kinds) @ x), limits)


def mean(random: Random, n: int, kinds: int) -> Problem:
    x = cp.Variable(n)
    return cp.Problem(cp.Maximize(cp.geo_mean(x)), [tied(random, n, kinds) @ x <= 5, x <= 2])


KINDS: dict[str, Callable[[Random, int, int], Problem]] = {
    make.__name__: make
    for make in (linear, quadratic, second_order, exponential, power, power_nd, semidefinite, curved, mean)
}


def duals(problem: Problem) -> NDArray[Any]:
    """All duals of a problem in one vector."""
    return np.concatenate(
        [np.ravel(dual.value, order="F") for constraint in problem.constraints for dual in constraint.dual_variables]
    )


def violation(problem: Problem) -> float:
    """The largest violation of a constraint, by CVXPY's own account."""
    return max(float(np.max(constraint.violation())) for constraint in problem.constraints)
