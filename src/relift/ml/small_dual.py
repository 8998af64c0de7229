r"""Solvers of the small dual: a concave quadratic, a box and one equality.

.. math:: \max_\beta\; c^\top\beta - \tfrac12 \beta^\top K \beta \quad\text{subject to}\quad
   l \le \beta \le u,\; \textstyle\sum_i \beta_i = 0.

Every solver is given a feasible point to start from and returns a feasible point; how good it is, is decided by the gap

.. math:: \sum_i \max\bigl(u_i (v_i - b),\, l_i (v_i - b)\bigr) - \beta_i (v_i - b), \qquad v = c - K\beta,

which bounds the distance from the optimum for every b, is a sum of nonnegative terms, and vanishes at the optimum for
the right b (the optimality conditions of the support vector machine).
"""

from __future__ import annotations

import numpy as np

from relift.arrays import Double
from relift.errors import OptionError
from relift.ml import compiled
from relift.pipeline import solve
from relift.program.program import Program
from relift.solvers.registry import get_backend

WINDOW_FROM = 4000
"""Entries from which on only some of them are sorted to find the bias."""

OWN_SOLVERS = ("smo", "cutting_plane", "sgd")


def best_bias(v: Double, lo: Double, hi: Double) -> float:
    """The b for which the sum of max(hi (v - b), lo (v - b)) is smallest; the middle, if many are.

    Examples
    --------
    >>> best_bias(np.array([1.0, -1.0]), np.array([0.0, -1.0]), np.array([1.0, 0.0]))
    0.0
    """
    bound = hi - lo
    everything, needed = float(bound.sum()), float(hi.sum())
    if not everything > 0:
        return 0.0
    below = 0.0
    if len(v) > WINDOW_FROM:
        # Only the entries around the answer need an order: a sample says where these are.
        sample = v[:: len(v) // 1000]
        middle = needed / everything
        least, most = np.quantile(sample, [max(0.0, middle - 0.08), min(1.0, middle + 0.08)])
        is_near = (v >= least) & (v <= most)
        outside = float(bound[v < least].sum())
        inside = float(bound[is_near].sum())
        if outside < needed - 1e-9 * everything and needed + 1e-9 * everything < outside + inside:
            v, bound, below = v[is_near], bound[is_near], outside
    order = np.argsort(v)
    climbed = below + np.cumsum(bound[order])
    slack = 1e-12 * everything
    at = min(int(np.searchsorted(climbed, needed - slack)), len(v) - 1)
    until = min(int(np.searchsorted(climbed, needed + slack, side="right")), len(v) - 1)
    return 0.5 * float(v[order[at]] + v[order[until]])


def best_bias_of(v: Double, lo: Double, hi: Double, epsilon: float) -> float:
    """The same with a band of width epsilon in which nothing is lost: max(0, hi (v - b - eps), lo (v - b + eps))."""
    if epsilon == 0.0:
        return best_bias(v, lo, hi)
    nothing = np.zeros_like(v)
    return best_bias(
        np.concatenate([v - epsilon, v + epsilon]), np.concatenate([nothing, lo]), np.concatenate([hi, nothing])
    )


def gap_terms(v: Double, bias: float, beta: Double, lo: Double, hi: Double, epsilon: float = 0.0) -> Double:
    """What each variable adds to the duality gap; never negative, up to rounding."""
    push = v - bias
    if epsilon == 0.0:
        return np.asarray(np.maximum(hi * push, lo * push) - beta * push)
    gain = np.maximum(np.maximum(hi * (push - epsilon), lo * (push + epsilon)), 0.0)
    return np.asarray(gain - beta * push + epsilon * np.abs(beta))


def balanced(beta: Double) -> Double:
    """Shrink the heavier side, so that the sum is zero; a point of a box that contains 0 stays in it.

    Examples
    --------
    >>> balanced(np.array([3.0, -1.0])).tolist()
    [1.0, -1.0]
    """
    above, below = float(beta[beta > 0].sum()), float(-beta[beta < 0].sum())
    if above == below:
        return beta
    if above > below:
        return np.where(beta > 0, beta * (below / above), beta)
    return np.where(beta < 0, beta * (above / below), beta)


def solve_small(
    K: Double, c: Double, lo: Double, hi: Double, start: Double, solver: str, tolerance: float, seed: int = 0
) -> tuple[Double, int]:
    """Solve the small dual and return a feasible point and the steps or iterations taken.

    Parameters
    ----------
    K, c, lo, hi
        The problem; K is symmetric and (nearly) positive semidefinite, and the box contains 0.
    start
        A feasible point.
    solver
        ``"smo"``, ``"cutting_plane"``, ``"sgd"`` or the name of a backend of :func:`relift.solve`.
    tolerance
        The largest difference of two entries of v that may still be exchanged (SMO); other solvers get as near as
        they get.
    seed
        Of the stochastic solver.

    Examples
    --------
    >>> K, c = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, -1.0])
    >>> lo, hi = np.array([0.0, -9.0]), np.array([9.0, 0.0])
    >>> [solve_small(K, c, lo, hi, np.zeros(2), name, 1e-6)[0].round(3).tolist() for name in ("smo", "clarabel")]
    [[2.0, -2.0], [2.0, -2.0]]
    """
    if solver == "smo":
        beta, v = start.copy(), c - K @ start
        steps, _ = compiled.smo(np.ascontiguousarray(K), lo, hi, beta, v, tolerance, 200 * len(c) + 100_000)
        return beta, steps
    if solver == "cutting_plane":
        return _cutting_planes(K, c, lo, hi, start, tolerance)
    if solver == "sgd":
        return _stochastic_gradient(K, c, lo, hi, seed)
    return _by_backend(K, c, lo, hi, solver)


def check_solver(solver: str) -> None:
    """Refuse the name of a solver that is neither one of this module nor a backend."""
    if solver not in OWN_SOLVERS:
        try:
            get_backend(solver)
        except OptionError as error:
            raise ValueError(
                f"solver={solver!r} is not valid. Expected one of: {', '.join(OWN_SOLVERS)}, or a backend. {error}"
            ) from error


def _by_backend(K: Double, c: Double, lo: Double, hi: Double, name: str) -> tuple[Double, int]:
    # Rounding may have left K with eigenvalues just below zero; solvers want none.
    shift = 1e-6 * max(float(np.abs(np.diagonal(K)).max(initial=0.0)), 1e-300)
    P = K + shift * np.eye(len(c))
    program = Program(P=P, q=-c, A=np.ones((1, len(c))), l=[0.0], u=[0.0], lb=lo, ub=hi, assume_convex=True)
    result = solve(program, backend=name, lift="none", reduce=False)
    if result.solution.x is None:
        return np.zeros_like(c), 0
    return balanced(np.clip(result.solution.x, lo, hi)), int(result.solution.iterations or 0)


def _corner(v: Double, lo: Double, hi: Double) -> Double:
    """The feasible point that v'beta likes best: hi above the best bias, lo below, something between at it."""
    order = np.argsort(-v, kind="stable")
    room = (hi - lo)[order]
    filled = np.clip(-lo.sum() - (np.cumsum(room) - room), 0.0, room)
    corner = lo.copy()
    corner[order] += filled
    return corner


def _cutting_planes(
    K: Double, c: Double, lo: Double, hi: Double, start: Double, tolerance: float, most: int = 400
) -> tuple[Double, int]:
    """Kelley's cutting planes for the primal, seen from the dual: a combination of corners, one more in each step.

    A plane below the sum of losses at the point where it touches is a corner of the dual's polytope; the master
    program over the weights of the corners has a box and one equality again, and is solved by SMO.
    """
    corners = [start]
    images = [K @ start]
    weights = np.ones(1)
    beta = start
    for step in range(most):
        v = c - K @ beta
        corner = _corner(v, lo, hi)
        gap = float(v @ (corner - beta))
        if gap <= tolerance * max(1.0, abs(float(c @ beta))) * 1e-1:
            return beta, step
        corners.append(corner)
        images.append(K @ corner)
        stacked, image = np.stack(corners), np.stack(images)
        small = np.ascontiguousarray(stacked @ image.T)
        weights = np.append(weights, 0.0)
        slope = stacked @ c - small @ weights
        scale = max(1.0, float(np.abs(slope).max()))
        compiled.smo(small, np.zeros_like(weights), np.ones_like(weights), weights, slope, 1e-9 * scale, 20_000)
        beta = weights @ stacked
        keep = weights > 0
        corners = [point for point, kept in zip(corners, keep, strict=True) if kept]
        images = [point for point, kept in zip(images, keep, strict=True) if kept]
        weights = weights[keep]
    return beta, most


def _stochastic_gradient(
    K: Double, c: Double, lo: Double, hi: Double, seed: int, epochs: int = 400
) -> tuple[Double, int]:
    """Pegasos on the classes: steps 1/t on batches, visited in a new order in each epoch.

    The iterate is w = sum beta_c phi_c with beta the average of the subgradients seen, so each beta_c is an average
    of bounds: whole epochs end inside the box.
    """
    random = np.random.default_rng(seed)
    size = len(c)
    batch = max(1, size // 16)
    total, f, bias, seen = np.zeros(size), np.zeros(size), 0.0, 0
    n_batches = -(-size // batch)
    for _ in range(epochs):
        for part in np.array_split(random.permutation(size), n_batches):
            push = c[part] - f[part] - bias
            corner = np.where(push > 0, hi[part], lo[part])
            total[part] += corner
            seen += 1
            # After t batches beta = total n_batches / t: an unbiased guess of the subgradient, averaged.
            rate = n_batches / seen
            f = f * ((seen - 1) / seen) + rate * (K[:, part] @ corner)
        bias = best_bias(c - f, lo, hi)
    return balanced(np.clip(total / epochs, lo, hi)), epochs
