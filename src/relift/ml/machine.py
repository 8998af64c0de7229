"""What the kernel machines share: from arrays to a dual, and from its answer to a decision function."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from relift.ml.dual import DualAnswer, DualProblem, LiftOptions, solve_lifted
from relift.ml.exact import solve_exact
from relift.ml.kernels import (
    KERNELS,
    FunctionKernel,
    KernelSource,
    MatrixKernel,
    PointKernel,
    dense_function,
)
from relift.ml.merging import Merged, merge_equal
from relift.ml.small_dual import check_solver

Double = NDArray[np.float64]
Index = NDArray[np.int64]

SMALL = 512
"""Examples up to which kernels are evaluated in double precision: it costs nothing there."""

SINGLE_RANGE = 300.0
"""Largest range of features, in widths of the kernel, for which single precision is enough."""


def number_for_gamma(gamma: str | float, X: Any) -> float:
    """The number that ``gamma="scale"`` or ``"auto"`` stands for, as in scikit-learn: weights do not count."""
    if gamma == "scale":
        if sparse.issparse(X):
            variance = float(X.multiply(X).mean()) - float(X.mean()) ** 2
        else:
            variance = float(X.var())
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
    if gamma == "auto":
        return float(1.0 / X.shape[1])
    return float(gamma)


class KernelView:
    """A kernel as an estimator is told it, ready for training points and for new ones.

    Parameters
    ----------
    kernel
        A name, ``"precomputed"`` or a callable.
    gamma, coef0, degree
        Its parameters; gamma is a number.
    X
        The training points (or the training kernel matrix).
    """

    def __init__(self, kernel: Any, gamma: float, coef0: float, degree: int, X: Any) -> None:
        self.kernel, self.parameters = kernel, (gamma, coef0, degree)
        self.shift: Double | None = None
        self.is_single = False
        if kernel in KERNELS and not sparse.issparse(X) and X.shape[0] > SMALL:
            shift = X.mean(axis=0) if kernel == "rbf" else np.zeros(X.shape[1])
            extent = float(np.abs(X - shift).max(initial=0.0))
            width = extent * np.sqrt(gamma) if kernel == "rbf" else 1.0
            if width <= SINGLE_RANGE and extent < 1e9:
                self.is_single, self.shift = True, shift

    def single(self, X: Any) -> NDArray[np.float32]:
        """Points as the compiled part takes them."""
        return np.ascontiguousarray(X - self.shift, dtype=np.float32)

    def source(self, X: Any) -> KernelSource:
        """The kernel among training points."""
        if self.kernel == "precomputed":
            return MatrixKernel(X.toarray() if sparse.issparse(X) else X)
        if self.is_single:
            return PointKernel(self.single(X), self.kernel, *self.parameters)
        return FunctionKernel(X, self.function())

    def function(self) -> Any:
        """The kernel as a function of two lists of points, in double precision."""
        return self.kernel if callable(self.kernel) else dense_function(self.kernel, *self.parameters)

    def sums(self, X: Any, support: Any, weights: Double, columns: NDArray[Any] | None = None) -> Double:
        """Decision values without bias: sums over support vectors; ``columns`` of a precomputed kernel."""
        if self.kernel == "precomputed":
            part = X[:, columns]
            return np.asarray(part @ weights).ravel()
        if self.is_single and not sparse.issparse(X) and not sparse.issparse(support):
            from relift.ml import compiled

            return compiled.kernel_sums(
                self.single(X), self.single(support), np.ascontiguousarray(weights), self.kernel, *self.parameters
            )
        out = np.zeros(X.shape[0])
        if not len(weights):
            return out
        size = max(1, (1 << 21) // len(weights))
        function = self.function()
        for begin in range(0, X.shape[0], size):
            out[begin : begin + size] = np.asarray(function(X[begin : begin + size], support)) @ weights
        return out


def solve_machine(
    view: KernelView, X: Any, c: Double, lo: Double, hi: Double, lift: str, options: LiftOptions, places: Any = None
) -> tuple[DualAnswer, Merged]:
    """Merge equal examples, solve the dual lifted, and return the answer for the merged ones with the merging.

    Parameters
    ----------
    view
        The kernel.
    X
        The examples; for a precomputed kernel its matrix.
    c, lo, hi
        Linear term and box of each example.
    lift
        ``"approximate"``, ``"exact"`` or ``"none"``.
    options
        Of the lifting.
    places
        Coordinates for classes; the points themselves if None.
    """
    check_solver(options.solver)
    side = (hi > 0).astype(np.int64)
    if view.kernel == "precomputed" or lift == "none":
        everything = np.arange(len(c))
        merged = Merged(everything, everything)
    else:
        merged = merge_equal(X, [c, side])
    first = merged.first
    small_c, small_lo, small_hi = c[first], merged.total(lo), merged.total(hi)
    if view.kernel == "precomputed":
        source: KernelSource = MatrixKernel(X.toarray() if sparse.issparse(X) else X)
    else:
        source = view.source(X[first])
    coordinates = None if places is None else np.ascontiguousarray(places[first], dtype=np.float32)
    if coordinates is None and isinstance(source, PointKernel):
        coordinates = source.points
    elif coordinates is None and isinstance(source, FunctionKernel) and isinstance(source.points, np.ndarray):
        coordinates = _standard(source.points)
    problem = DualProblem(source, small_c, small_lo, small_hi, coordinates)
    if lift == "exact":
        return solve_exact(problem, options), merged
    return solve_lifted(problem, options), merged


def _standard(points: Double) -> NDArray[np.float32]:
    """Points moved and scaled into the range of single precision."""
    middle = points.mean(axis=0)
    scale = float(np.abs(points - middle).max(initial=0.0)) or 1.0
    return np.ascontiguousarray((points - middle) / scale, dtype=np.float32)


def spread_over_members(beta: Double, merged: Merged, bound: Double) -> Double:
    """The dual variables of the examples from those of the merged ones: shared in proportion to their bounds."""
    total = merged.total(bound)
    share = np.divide(beta, total, out=np.zeros_like(beta), where=total > 0)
    return np.asarray(share[merged.labels] * bound)


def warn_if_open(gap: float, tol_gap: float, name: str) -> None:
    """Tell that the proved gap is larger than asked for."""
    if gap > tol_gap:
        warnings.warn(
            f"{name}: the proved gap is {gap:.3g}, not {tol_gap:.3g}. Raise max_blocks, n_landmarks or tol_gap, "
            "or scale the features.",
            ConvergenceWarning,
            stacklevel=3,
        )
