r"""Where kernel values come from: points, a matrix, or a function; asked for in blocks, never all at once.

A :class:`KernelSource` knows a fixed list of points by number. Solvers ask it for blocks of the kernel matrix between
numbered points, for sums :math:`\sum_j w_j k(x_i, x_j)`, and for such sums added up over classes. Points with a
kernel of scikit-learn's names are evaluated in single precision by the compiled part; a callable, a precomputed
matrix and sparse points go through NumPy, block by block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Double, Examples, Indices, Reals, is_sparse
from relift.ml import compiled
from relift.ml.kernels_reference import BLOCK, kernel_values

KernelFunction: TypeAlias = Callable[[Examples, Examples], Double]
"""The kernel between two lists of points."""

Kernel: TypeAlias = str | KernelFunction
"""A kernel as estimators are told it: a name of scikit-learn, ``"precomputed"``, or a function."""

KERNELS = ("rbf", "poly", "linear", "sigmoid")


class KernelSource(ABC):
    """The kernel between points that are known by number."""

    size: int

    @abstractmethod
    def block(self, rows: Indices, columns: Indices) -> Double:
        """The kernel between two lists of points, in double precision as far as the source has it."""

    @abstractmethod
    def diagonal(self) -> Double:
        """The kernel of each point with itself."""

    @abstractmethod
    def subset(self, index: Indices) -> KernelSource:
        """The same kernel on some of the points, numbered anew."""

    def single_block(self, rows: Indices, columns: Indices) -> NDArray[np.float32]:
        """The same block in single precision."""
        return self.block(rows, columns).astype(np.float32)

    def sums(self, rows: Indices | None, columns: Indices, weights: Double) -> Double:
        """For each row point the sum over the column points of weight times kernel; None means all rows."""
        wanted = np.arange(self.size) if rows is None else rows
        out = np.empty(len(wanted))
        size = max(1, BLOCK // max(1, len(columns)))
        for begin in range(0, len(wanted), size):
            out[begin : begin + size] = self.block(wanted[begin : begin + size], columns) @ weights
        return out

    def class_sums(
        self, rows: Indices, columns: Indices, weights: Double, labels: NDArray[np.int32], n_classes: int
    ) -> Double:
        """Rows of the kernel matrix, weighted and added up over classes: n_classes x columns."""
        out = np.zeros((n_classes, len(columns)))
        size = max(1, BLOCK // max(1, len(columns)))
        for begin in range(0, len(rows), size):
            part = slice(begin, begin + size)
            members = sparse.csr_array(
                (weights[part], (labels[part], np.arange(len(labels[part])))), shape=(n_classes, len(labels[part]))
            )
            out += members @ self.block(rows[part], columns)
        return out


@final
class PointKernel(KernelSource):
    """A kernel of scikit-learn's names on dense points, in the precision of the points.

    Parameters
    ----------
    points
        float32 or float64, one point in each row.
    kernel, gamma, coef0, degree
        As in ``sklearn.svm.SVC``; gamma is a number here.

    Examples
    --------
    >>> source = PointKernel(np.array([[0.0], [1.0]], dtype=np.float32), "rbf", 1.0, 0.0, 3)
    >>> source.sums(None, np.array([0, 1]), np.array([1.0, -1.0])).round(6).tolist()
    [0.632121, -0.632121]
    """

    def __init__(self, points: Reals, kernel: str, gamma: float, coef0: float, degree: int) -> None:
        precision = np.float64 if points.dtype == np.float64 else np.float32
        self.points: Reals = np.ascontiguousarray(points, dtype=precision)
        self.size = len(self.points)
        self.kernel = kernel
        self.parameters = (kernel, float(gamma), float(coef0), int(degree))

    def numbers(self) -> tuple[int, float, float, int]:
        """The kernel as the compiled part takes it."""
        return (compiled.KINDS[self.kernel], *self.parameters[1:])

    def block(self, rows: Indices, columns: Indices) -> Double:
        """The kernel between two lists of points."""
        return compiled.kernel_values(self.points[rows], self.points[columns], *self.parameters).astype(np.float64)

    def single_block(self, rows: Indices, columns: Indices) -> NDArray[np.float32]:
        """The same block in single precision."""
        values = compiled.kernel_values(self.points[rows], self.points[columns], *self.parameters)
        return values.astype(np.float32, copy=False)

    def diagonal(self) -> Double:
        """The kernel of each point with itself."""
        if self.kernel == "rbf":
            return np.ones(self.size)
        name, gamma, coef0, degree = self.parameters
        inner = (self.points.astype(np.float64) ** 2).sum(axis=1)
        if name == "linear":
            return np.asarray(inner)
        inner = gamma * inner + coef0
        return np.asarray(inner**degree if name == "poly" else np.tanh(inner), dtype=np.float64)

    def subset(self, index: Indices) -> PointKernel:
        """The same kernel on some of the points."""
        return PointKernel(self.points[index], *self.parameters)

    def sums(self, rows: Indices | None, columns: Indices, weights: Double) -> Double:
        """For each row point the sum over the column points of weight times kernel."""
        points = self.points if rows is None else self.points[rows]
        return compiled.kernel_sums(points, self.points[columns], np.ascontiguousarray(weights), *self.parameters)

    def class_sums(
        self, rows: Indices, columns: Indices, weights: Double, labels: NDArray[np.int32], n_classes: int
    ) -> Double:
        """Rows of the kernel matrix, weighted and added up over classes."""
        points = self.points if len(rows) == self.size else self.points[rows]
        points, others = (array.astype(np.float32, copy=False) for array in (points, self.points[columns]))
        return compiled.class_sums(points, others, np.ascontiguousarray(weights), labels, n_classes, *self.parameters)


@final
class MatrixKernel(KernelSource):
    """A precomputed kernel matrix, square."""

    def __init__(self, matrix: Reals) -> None:
        self.matrix = matrix
        self.size = len(matrix)

    def block(self, rows: Indices, columns: Indices) -> Double:
        """The kernel between two lists of points."""
        return np.asarray(self.matrix[np.ix_(rows, columns)], dtype=np.float64)

    def diagonal(self) -> Double:
        """The kernel of each point with itself."""
        return np.diagonal(self.matrix).astype(np.float64)

    def subset(self, index: Indices) -> MatrixKernel:
        """The same kernel on some of the points."""
        return MatrixKernel(self.matrix[np.ix_(index, index)])


@final
class SparseKernel(KernelSource):
    """A kernel of scikit-learn's names on sparse points, in canonical CSR form."""

    def __init__(self, points: Examples, kernel: str, gamma: float, coef0: float, degree: int) -> None:
        self.points = sparse.csr_matrix(points)
        self.size = points.shape[0]
        self.kernel = kernel
        self.parameters = (kernel, float(gamma), float(coef0), int(degree))
        self.function = dense_function(*self.parameters)

    def numbers(self) -> tuple[int, float, float, int]:
        """The kernel as the compiled part takes it."""
        return (compiled.KINDS[self.kernel], *self.parameters[1:])

    def block(self, rows: Indices, columns: Indices) -> Double:
        """The kernel between two lists of points."""
        return self.function(self.points[rows], self.points[columns])

    def diagonal(self) -> Double:
        """The kernel of each point with itself."""
        name, gamma, coef0, degree = self.parameters
        squares = np.asarray(self.points.multiply(self.points).sum(axis=1), dtype=np.float64).ravel()
        if name == "rbf":
            return np.ones(self.size)
        if name == "linear":
            return squares
        inner = gamma * squares + coef0
        return np.asarray(inner**degree if name == "poly" else np.tanh(inner))

    def subset(self, index: Indices) -> SparseKernel:
        """The same kernel on some of the points."""
        return SparseKernel(self.points[index], *self.parameters)


@final
class FunctionKernel(KernelSource):
    """A function of two lists of points (dense or sparse rows) that returns their kernel matrix."""

    def __init__(self, points: Examples, function: KernelFunction) -> None:
        self.points = points
        self.function = function
        self.size = points.shape[0]

    def block(self, rows: Indices, columns: Indices) -> Double:
        """The kernel between two lists of points."""
        return np.asarray(self.function(self.points[rows], self.points[columns]), dtype=np.float64)

    def diagonal(self) -> Double:
        """The kernel of each point with itself."""
        out = np.empty(self.size)
        for begin in range(0, self.size, 64):
            rows = np.arange(begin, min(begin + 64, self.size))
            out[rows] = np.diagonal(self.block(rows, rows))
        return out

    def subset(self, index: Indices) -> FunctionKernel:
        """The same kernel on some of the points."""
        return FunctionKernel(self.points[index], self.function)


def dense_function(kernel: str, gamma: float, coef0: float, degree: int) -> KernelFunction:
    """A kernel of scikit-learn's names as a function of dense or sparse points, in double precision."""

    def function(X: Examples, Y: Examples) -> Double:
        if not is_sparse(X) and not is_sparse(Y):
            return kernel_values(X, Y, kernel, gamma, coef0, degree, np.float64)
        from sklearn.metrics.pairwise import pairwise_kernels

        parameters: dict[str, float] = {} if kernel == "linear" else {"gamma": gamma}
        if kernel in ("poly", "sigmoid"):
            parameters["coef0"] = coef0
        if kernel == "poly":
            parameters["degree"] = degree
        return np.asarray(pairwise_kernels(X, Y, metric=kernel, **parameters), dtype=np.float64)

    return function
