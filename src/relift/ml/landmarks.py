r"""Nyström features: the kernel, projected on the span of a few points.

For landmarks :math:`x_l` with kernel :math:`K_{LL} = R^\top R`, the features :math:`z(x) = R^{-\top} k_L(x)` have
:math:`z(x)^\top z(y) = k_L(x)^\top K_{LL}^{-1} k_L(y)`: the kernel of the projections of x and y on the span of the
landmarks. These are picked from a sample by Cholesky with pivoting, the worst represented point next, until each of the
sample is represented up to a tolerance: kernels that are smooth for the data need few.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Double, Indices, Reals
from relift.ml import compiled
from relift.ml.kernels import KernelSource

TOLERANCE = 1e-6
"""Relative squared distance from the span that is as good as none; smaller ones would be rounding."""


@final
@dataclass(frozen=True, eq=False)
class Landmarks:
    """Points that span the features, and the triangle that turns kernel rows into features.

    Parameters
    ----------
    index
        Numbers of the landmarks.
    R
        Upper triangular, R'R = kernel matrix of the landmarks.
    """

    index: Indices
    R: Double

    @cached_property
    def inverse(self) -> Double:
        """The inverse of R: features are kernel rows times it."""
        return _inverse_of_triangle(self.R)

    @cached_property
    def single_inverse(self) -> NDArray[np.float32]:
        """The same in single precision."""
        return self.inverse.astype(np.float32)

    def features(self, kernel_rows: Reals) -> Reals:
        """Features, one in each row, from rows of the kernel between points (or means of points) and landmarks."""
        inverse = self.single_inverse if kernel_rows.dtype == np.float32 else self.inverse
        return np.asarray(kernel_rows @ inverse)

    def coefficients(self, w: Double) -> Double:
        """The combination of landmarks that a vector of features stands for: w'z(x) = sum_l a_l k(x_l, x)."""
        return np.asarray(self.inverse @ w)

    def rest(self, source: KernelSource, points: Indices) -> Double:
        """The squared distances of points from the span."""
        features = self.features(source.block(points, self.index))
        return np.asarray(np.maximum(source.diagonal()[points] - (features**2).sum(axis=1), 0.0))

    def extended(self, source: KernelSource, candidates: Indices, most: int, tolerance: float = TOLERANCE) -> Landmarks:
        """Add those candidates that the span represents worst."""
        rows = source.block(candidates, self.index)
        features = self.features(rows)
        diagonal = source.diagonal()[candidates]
        rest = diagonal - (features**2).sum(axis=1)
        worst = np.argsort(-rest)[:600]
        K = source.block(candidates[worst], candidates[worst]) - features[worst] @ features[worst].T
        largest = float(diagonal.max(initial=0.0))
        pivots, factor = compiled.pivoted_cholesky(0.5 * (K + K.T), min(most, len(worst)), tolerance * largest)
        if not len(pivots):
            return self
        added = worst[pivots]
        R = np.block([[self.R, features[added].T], [np.zeros((len(added), len(self.R))), np.triu(factor[:, pivots])]])
        return Landmarks(np.concatenate([self.index, candidates[added]]), R)


def choose_landmarks(
    source: KernelSource, random: np.random.Generator, most: int, sample: int = 800, tolerance: float = TOLERANCE
) -> Landmarks:
    """Pick landmarks from a sample of the points.

    Parameters
    ----------
    source
        The kernel.
    random
        Draws the sample.
    most
        Not more landmarks than this.
    sample
        How many points are looked at.
    tolerance
        Stop when the squared distance of every point from the span is below this share of the largest.

    Examples
    --------
    >>> from relift.ml.kernels import PointKernel
    >>> line = np.linspace(0, 1, 50, dtype=np.float32)[:, None]
    >>> len(choose_landmarks(PointKernel(line, "linear", 1.0, 0.0, 3), np.random.default_rng(0), 20).index)
    1
    """
    chosen = np.sort(random.permutation(source.size)[:sample])
    K = source.block(chosen, chosen)
    K = 0.5 * (K + K.T)
    largest = float(np.diagonal(K).max(initial=0.0))
    if not largest > 0:
        return Landmarks(chosen[:0], np.zeros((0, 0)))
    pivots, factor = compiled.pivoted_cholesky(K, min(most, len(chosen)), tolerance * largest)
    return Landmarks(chosen[pivots], np.triu(factor[:, pivots]))


def _inverse_of_triangle(R: Double) -> Double:
    """By halves: the inverse of [[A, B], [0, D]] is [[A^-1, -A^-1 B D^-1], [0, D^-1]]."""
    size = len(R)
    if size <= 32:
        return np.asarray(np.triu(np.linalg.inv(R)))
    half = size // 2
    inverse = np.zeros_like(R)
    upper, lower = _inverse_of_triangle(R[:half, :half]), _inverse_of_triangle(R[half:, half:])
    inverse[:half, :half], inverse[half:, half:] = upper, lower
    inverse[:half, half:] = -(upper @ R[:half, half:]) @ lower
    return inverse


def padded(features: Any, extra_columns: int = 0, dtype: Any = np.float32) -> Reals:
    """A copy with columns of zeros appended up to a multiple of 16, after room for extra ones."""
    n_rows, n_columns = features.shape
    stride = -(-(n_columns + extra_columns) // 16) * 16
    out = np.zeros((n_rows, stride), dtype=dtype)
    out[:, :n_columns] = features
    return out
