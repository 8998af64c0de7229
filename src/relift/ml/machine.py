"""What the kernel machines share: from arrays to a dual, and from its answer to a decision function."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from relift.arrays import Cells, Double, Examples, Reals, Single, is_sparse
from relift.ml import compiled, device_kernels
from relift.ml.dual import solve_lifted
from relift.ml.dual_machine import DualMachine
from relift.ml.dual_problem import DualAnswer, DualProblem, LiftOptions
from relift.ml.exact import solve_exact
from relift.ml.kernels import (
    KERNELS,
    FunctionKernel,
    Kernel,
    KernelFunction,
    KernelSource,
    MatrixKernel,
    PointKernel,
    SparseKernel,
    dense_function,
)
from relift.ml.merging import Merged, merge_equal
from relift.ml.small_dual import check_solver
from relift.ml.torch_device import import_torch

SMALL = 512
"""Examples up to which kernels are evaluated in double precision: it costs nothing there."""

SINGLE_RANGE = 300.0
"""Largest range of features, in widths of the kernel, for which single precision is enough."""


def number_for_gamma(gamma: str | float, X: Examples) -> float:
    """The number that ``gamma="scale"`` or ``"auto"`` stands for, as in scikit-learn: weights do not count."""
    if gamma == "scale":
        if is_sparse(X):
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
    device
        The PyTorch device on which sums of kernel values of dense points are computed; None: the CPU, compiled. Kernel
        matrices stay on the CPU: fetching them takes as long as computing them.
    """

    def __init__(
        self, kernel: Kernel, gamma: float, coef0: float, degree: int, X: Examples, device: str | None = None
    ) -> None:
        self.kernel, self.parameters = kernel, (gamma, coef0, degree)
        self.device = device
        if device is not None:
            import_torch(device)
        self.name = kernel if isinstance(kernel, str) else ""
        self.is_pointwise = False
        self.shift: Double | None = None
        self.dtype: type[np.float32] | type[np.float64] = np.float64
        if self.name in KERNELS and not is_sparse(X):
            self.is_pointwise = True
            # The middle of the range does not depend on how often an example is given, nor on the order.
            self.shift = 0.5 * (X.min(axis=0) + X.max(axis=0)) if kernel == "rbf" else None
            if X.shape[0] > SMALL and kernel != "linear":
                extent = float(np.abs(X if self.shift is None else X - self.shift).max(initial=0.0))
                width = extent * np.sqrt(gamma) if kernel == "rbf" else 1.0
                if width <= SINGLE_RANGE and extent < 1e9:
                    self.dtype = np.float32

    def placed(self, X: Double) -> Reals:
        """Points as the compiled part takes them."""
        return np.ascontiguousarray(X if self.shift is None else X - self.shift, dtype=self.dtype)

    def source(self, X: Examples) -> KernelSource:
        """The kernel among training points."""
        if self.kernel == "precomputed":
            return MatrixKernel(X.toarray() if is_sparse(X) else X)
        if self.is_pointwise and not is_sparse(X):
            return PointKernel(self.placed(X), self.name, *self.parameters)
        if is_sparse(X) and not callable(self.kernel):
            return SparseKernel(X, self.kernel, *self.parameters)
        return FunctionKernel(X, self.function())

    def function(self) -> KernelFunction:
        """The kernel as a function of two lists of points, in double precision."""
        return self.kernel if callable(self.kernel) else dense_function(self.kernel, *self.parameters)

    def values(self, X: Examples, others: Examples) -> Reals:
        """The kernel between new points and training points, in the precision of the machine."""
        if self.is_pointwise and not is_sparse(X) and not is_sparse(others):
            return compiled.kernel_values(self.placed(X), self.placed(others), self.name, *self.parameters)
        return np.asarray(self.function()(X, others))

    @property
    def is_on_device(self) -> bool:
        """Whether sums of kernel values come from a device."""
        return self.device is not None and self.is_pointwise

    @property
    def has_values(self) -> bool:
        """Whether decision values are sums of kernel values that are computed: not where there is a quicker way."""
        return self.name not in ("linear", "precomputed")

    def sums(self, X: Examples, support: Examples | None, weights: Double, columns: Cells | None = None) -> Double:
        """Decision values without bias: sums over support vectors; ``columns`` of a precomputed kernel.

        On a device, ``weights`` may have several columns.
        """
        if self.kernel == "precomputed":
            assert columns is not None
            part = X[:, columns]
            return np.asarray(part @ weights).ravel()
        if not len(weights):
            return np.zeros(X.shape[0])
        assert support is not None
        if self.kernel == "linear":
            return np.asarray(X @ np.asarray(support.T @ weights).ravel()).ravel()
        if self.is_pointwise and not is_sparse(X) and not is_sparse(support):
            arguments = (self.placed(X), self.placed(support), np.ascontiguousarray(weights), self.name)
            if self.device is not None:
                return device_kernels.kernel_sums(*arguments, *self.parameters, self.device)
            return compiled.kernel_sums(*arguments, *self.parameters)
        out = np.zeros(X.shape[0])
        size = max(1, (1 << 21) // len(weights))
        function = self.function()
        for begin in range(0, X.shape[0], size):
            out[begin : begin + size] = np.asarray(function(X[begin : begin + size], support)) @ weights
        return out


def merge_examples(view: KernelView, X: Examples, lift: str, colours: Sequence[Cells], size: int) -> Merged:
    """Merge equal examples of equal colours, unless the kernel is a matrix or nothing is to be lifted."""
    if view.kernel == "precomputed" or lift == "none":
        everything = np.arange(size)
        return Merged(everything, everything)
    return merge_equal(X, colours)


def solve_machine(
    view: KernelView,
    X: Examples,
    c: Double,
    lo: Double,
    hi: Double,
    lift: str,
    options: LiftOptions,
    places: Single | None = None,
    epsilon: float = 0.0,
) -> tuple[DualAnswer, Merged]:
    """Merge equal examples and solve the dual over them; see :func:`solve_merged`."""
    merged = merge_examples(view, X, lift, [c, (hi > 0).astype(np.int64)], len(c))
    return solve_merged(view, X, merged, c, lo, hi, lift, options, places, epsilon), merged


def solve_merged(
    view: KernelView,
    X: Examples,
    merged: Merged,
    c: Double,
    lo: Double,
    hi: Double,
    lift: str,
    options: LiftOptions,
    places: Single | None = None,
    epsilon: float = 0.0,
) -> DualAnswer:
    """Solve the dual over merged examples.

    Parameters
    ----------
    view
        The kernel.
    X
        The examples; for a precomputed kernel its matrix.
    merged
        Which of them are one.
    c, lo, hi
        Linear term and box of each example.
    lift
        ``"approximate"``, ``"exact"`` or ``"none"``.
    options
        Of the lifting.
    places
        Coordinates for classes; the points themselves if None.
    epsilon
        Weight of the absolute values of the dual variables.
    """
    check_solver(options.solver)
    first = merged.first
    if view.kernel == "precomputed":
        source: KernelSource = MatrixKernel(X.toarray() if is_sparse(X) else X)
    else:
        source = view.source(X[first])
    coordinates = None if places is None else np.ascontiguousarray(places[first], dtype=np.float32)
    return solve_over(source, c[first], merged.total(lo), merged.total(hi), lift, options, coordinates, epsilon)


def solve_over(
    source: KernelSource,
    c: Double,
    lo: Double,
    hi: Double,
    lift: str,
    options: LiftOptions,
    places: NDArray[np.float32] | None = None,
    epsilon: float = 0.0,
    machine: DualMachine | None = None,
) -> DualAnswer:
    """Solve the dual over the examples of a kernel source; a machine over them may be there already."""
    problem = DualProblem(source, c, lo, hi, places, epsilon)
    if lift == "exact":
        return solve_exact(problem, options)
    return solve_lifted(problem, options, machine)


def spread_over_members(beta: Double, merged: Merged, bound: Double) -> Double:
    """The dual variables of the examples from those of the merged ones: shared in proportion to their bounds."""
    total = merged.total(bound)
    share = np.divide(beta, total, out=np.zeros_like(beta), where=total > 0)
    return np.asarray(share[merged.labels] * bound)


def warn_if_open(gap: float, tol_gap: float, name: str) -> None:
    """Tell that the proved gap is larger than asked for."""
    if gap > tol_gap:
        warnings.warn(
            f"{name}: the proved gap is {gap:.3g}, not {tol_gap:.3g}. Raise max_iter or tol_gap, or scale the "
            "features.",
            ConvergenceWarning,
            stacklevel=3,
        )
