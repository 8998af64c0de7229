r"""Probabilities for support vector machines: a sigmoid for each pair of labels, and their coupling.

Decision values are taken from a cross-validation in five folds; a sigmoid :math:`1 / (1 + e^{Af + B})` is fitted to
them for each pair of labels [1]_, by Newton's method [2]_; and the probabilities of several labels are those that agree
best with all pairs [3]_. As in LIBSVM, labels of largest probability need not be those of ``predict``.

.. [1] Platt: Probabilistic Outputs for Support Vector Machines, 1999.
.. [2] Lin, Lin, Weng: A Note on Platt's Probabilistic Outputs for Support Vector Machines, 2007.
.. [3] Wu, Lin, Weng: Probability Estimates for Multi-class Classification by Pairwise Coupling, 2004.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from relift.arrays import Double

FOLDS = 5


def fit_sigmoid(values: Double, is_positive: NDArray[np.bool_], weights: Double) -> tuple[float, float]:
    """A and B of the sigmoid that turns decision values into the probability of the positive label.

    Parameters
    ----------
    values
        Decision values.
    is_positive
        The labels.
    weights
        How often each counts.

    Examples
    --------
    >>> A, B = fit_sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, False, True, True]), np.ones(4))
    >>> A < 0, abs(B) < 1e-6
    (True, True)
    """
    n_up, n_down = float(weights[is_positive].sum()), float(weights[~is_positive].sum())
    # Targets short of 0 and 1 keep the sigmoid from overfitting.
    target = np.where(is_positive, (n_up + 1.0) / (n_up + 2.0), 1.0 / (n_down + 2.0))
    A, B = 0.0, float(np.log((n_down + 1.0) / (n_up + 1.0)))

    def cost(A: float, B: float) -> float:
        z = A * values + B
        return float(weights @ (target * z + np.logaddexp(0.0, -z)))

    now = cost(A, B)
    for _ in range(100):
        p = expit(-(A * values + B))
        slope, bend = weights * (target - p), weights * p * (1.0 - p)
        g = np.array([float(slope @ values), float(slope.sum())])
        H = np.array([[float(bend @ values**2), float(bend @ values)], [0.0, float(bend.sum())]]) + 1e-12 * np.eye(2)
        H[1, 0] = H[0, 1]
        if np.abs(g).max() < 1e-5 * max(1.0, float(weights.sum()) * 1e-5):
            break
        direction = -np.linalg.solve(H, g)
        step, down = 1.0, float(g @ direction)
        while step >= 1e-10:
            then = cost(A + step * direction[0], B + step * direction[1])
            if then < now + 1e-4 * step * down:
                A, B, now = A + step * float(direction[0]), B + step * float(direction[1]), then
                break
            step *= 0.5
        else:
            break
    return A, B


def coupled(pairwise: NDArray[np.float64]) -> Double:
    """Probabilities of the labels from those of the pairs, by Wu, Lin and Weng's second method.

    Parameters
    ----------
    pairwise
        For each row a matrix: entry (i, j) is the probability of label i against label j.

    Examples
    --------
    >>> r = np.array([[[0.0, 0.9, 0.9], [0.1, 0.0, 0.5], [0.1, 0.5, 0.0]]])
    >>> coupled(r).round(2).tolist()
    [[0.82, 0.09, 0.09]]
    """
    n, k = pairwise.shape[:2]
    # Minimise sum_ij (r_ji p_i - r_ij p_j)^2 over the simplex: a linear system in p and the multiplier of the sum.
    Q = -pairwise * np.swapaxes(pairwise, 1, 2)
    at = np.arange(k)
    squares = np.swapaxes(pairwise, 1, 2) ** 2
    squares[:, at, at] = 0.0
    Q[:, at, at] = squares.sum(axis=2)
    system = np.zeros((n, k + 1, k + 1))
    system[:, :k, :k], system[:, :k, k], system[:, k, :k] = Q, 1.0, 1.0
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    p = np.clip(np.linalg.solve(system, right)[:, :k, 0], 0.0, None)
    return np.asarray(p / p.sum(axis=1, keepdims=True))
