r"""Which points does a kernel not tell apart? Counting partitions of kernel matrices, found without rounding.

The counting partition of :math:`Q = XX^\top` is a counting partition of every kernel matrix whose entries are equal
wherever those of Q (and its diagonal) are: polynomial, :math:`K_{ij} = (\gamma\langle x_i, x_j\rangle + c)^g`, and RBF,
:math:`K_{ij} = \exp(-\gamma\|x_i - x_j\|^2)` with :math:`\|x_i - x_j\|^2 = Q_{ii} - 2Q_{ij} + Q_{jj}`. Sum-based
(equitable) partitions are *not* preserved: sums of equal size may have different terms, and powers of them differ.

**How equality is decided.** Kernel values in floats differ by rounding where they are mathematically equal: a point set
turned by 90° already suffers. So not K but the exact inner products (linear, polynomial, sigmoid) or squared distances
(RBF) are compared: coordinates are read as exact rationals (shortest decimals by default, see
:mod:`relift.symmetry.finite_field`), multiplied and added in the field of 2^61 - 1 elements, where equal numbers have
equal words whatever the order of the sum. These kernels are functions of them, so equal words give equal kernel values;
for an even power, where :math:`\pm` collide, the classes may be finer than those of K, never coarser. Data that is
symmetric only up to rounding (rotated by 45°, say) is compared after ``digits`` merged what lies closer than
:math:`10^{-digits}` relatively. A callable gives floats: it is evaluated and its values are compared the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from relift.arrays import FieldElements, Matrix, MatrixLike, is_sparse
from relift.errors import NotANumberError, OptionError, ShapeError
from relift.program.arrays import as_floats
from relift.program.sparse_structure import checked_sparse
from relift.settings import Reading, check_choice
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import colour_refinement
from relift.symmetry.partition import Partition
from relift.symmetry.snapping import snap_values

Kernel = Literal["rbf", "poly", "linear", "sigmoid"]

SHIFT = 0.5
"""Added to the numbers that stand for entries, so that none is a zero that a sparse matrix would drop."""


def kernel_partition(
    X: MatrixLike,
    kernel: Kernel | Callable[[Matrix], ArrayLike] = "rbf",
    *,
    labels: ArrayLike | None = None,
    gamma: float = 1.0,
    degree: int = 3,
    coef0: float = 1.0,
    values: Reading = "decimal",
    digits: int | None = None,
) -> Partition:
    r"""Classes of points that a kernel, with their labels, does not tell apart: the counting partition of K.

    Parameters
    ----------
    X
        Points, one in each row.
    kernel
        ``"rbf"``, ``exp(-gamma |x - y|²)``; ``"poly"``, (gamma <x, y> + coef0)^degree; ``"linear"``; ``"sigmoid"``; or
        a function that takes X and returns the symmetric kernel matrix.
    labels
        Points of different labels are never in one class.
    gamma, degree, coef0
        Of the kernel. Only whether gamma and degree are 0 matters for the classes: then all points are equal.
    values
        How coordinates are read: ``"decimal"``, so that .1 + .2 = .3, or ``"bits"``.
    digits
        Inner products or distances closer than ``10**-digits`` relatively count as equal: for data that is symmetric up
        to rounding only.

    Raises
    ------
    ShapeError
        If X is not a matrix, labels do not fit, or the function gives no symmetric matrix of the right size.
    NotANumberError
        If a coordinate is not a finite number.

    Examples
    --------
    The corners of a square are equivalent, and the centre is not:

    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0.5]]
    >>> kernel_partition(square, "rbf").labels.tolist()
    [0, 0, 0, 0, 1]

    A linear kernel also sees the origin:

    >>> kernel_partition(square, "linear").labels.tolist()
    [0, 1, 1, 2, 3]

    Labels part them further:

    >>> kernel_partition(square, "rbf", labels=[1, 1, -1, -1, 1]).labels.tolist()
    [0, 0, 1, 1, 2]
    """
    points = _as_points(X)
    n = len(points)
    if labels is not None and np.shape(labels) != (n,):
        raise ShapeError(f"labels have {np.size(labels)} entries for {n} points.", "Give one for each.", "labels")
    colours = None if labels is None else np.unique(np.asarray(labels), return_inverse=True)[1]
    if callable(kernel):
        K = _kernel_values(kernel, points)
        numbers = _numbered(K if digits is None else snap_values(K.ravel(), digits)[0].reshape(K.shape), values)
    else:
        check_choice("kernel", kernel, get_args(Kernel))
        if not (np.isfinite(gamma) and np.isfinite(coef0)):
            raise OptionError(f"gamma={gamma!r} and coef0={coef0!r} must be finite.")
        if kernel != "linear" and (gamma == 0 or (kernel == "poly" and degree == 0)):
            return Partition.one_class(n) if colours is None else Partition.from_labels(colours)
        numbers = _exact_numbers(points, kernel, values, digits)
    found = colour_refinement(sparse.csr_array(numbers), colours=colours, mode="counting")
    assert isinstance(found, Partition)
    return found


def gram_words(points: MatrixLike, values: Reading = "decimal") -> NDArray[np.uint64]:
    """Return exact inner products of all pairs of points, as field elements: equal products have equal words.

    Parameters
    ----------
    points
        One point in each row.
    values
        How coordinates are read.

    Examples
    --------
    >>> words = gram_words([[0.1, 0.2], [0.3, 0.1], [0.1, 0.3]])
    >>> bool(words[0, 1] == field.images(0.05)), bool(words[1, 1] == words[2, 2])
    (True, True)
    """
    coordinates = field.images(_as_points(points), values)
    total = np.zeros((len(coordinates), len(coordinates)), np.uint64)
    for column in coordinates.T:
        total = field.add(total, field.multiply(column[:, None], column[None, :]))
    return total


def _exact_numbers(points: Matrix, kernel: str, values: Reading, digits: int | None) -> Matrix:
    if digits is not None:
        gram = points @ points.T
        if kernel == "rbf":
            norms = np.diag(gram)
            gram = norms[:, None] - 2 * gram + norms[None, :]
            # What cancels to rounding is zero; relative comparison cannot see that.
            gram[gram <= 10.0**-digits * (norms[:, None] + norms[None, :])] = 0.0
        else:
            lengths = np.sqrt(np.diag(gram))
            gram[np.abs(gram) <= 10.0**-digits * np.outer(lengths, lengths)] = 0.0
        gram = (gram + gram.T) / 2
        return _numbered(snap_values(gram.ravel(), digits)[0].reshape(gram.shape), "bits")
    words = gram_words(points, values)
    if kernel == "rbf":
        norms = np.diag(words)
        words = field.subtract(field.add(norms[:, None], norms[None, :]), field.add(words, words))
    return _renumbered(words)


def _kernel_values(kernel: Callable[[Matrix], ArrayLike], points: Matrix) -> Matrix:
    K = np.asarray(kernel(points), dtype=np.float64)
    if K.shape != (len(points), len(points)):
        raise ShapeError(f"the kernel gave a matrix of shape {K.shape} for {len(points)} points.")
    if not np.isfinite(K).all():
        raise NotANumberError("the kernel gave a value that is not a finite number.")
    if not np.allclose(K, K.T, rtol=1e-9, atol=1e-12 * max(1.0, float(np.abs(K).max(initial=0.0)))):
        raise ShapeError("the kernel gave a matrix that is not symmetric.")
    return np.asarray((K + K.T) / 2, dtype=np.float64)


def _numbered(K: Matrix, values: Reading) -> Matrix:
    return _renumbered(field.images(K, values))


def _renumbered(words: FieldElements) -> Matrix:
    """Small numbers in place of words: equal for equal, never zero, exact as floats."""
    numbers = np.unique(words, return_inverse=True)[1].reshape(words.shape)
    return np.asarray(numbers + SHIFT, dtype=np.float64)


def _as_points(X: MatrixLike) -> Matrix:
    points = checked_sparse("X", X).toarray() if is_sparse(X) else as_floats("X", X)
    if points.ndim != 2:
        raise ShapeError(f"X has {points.ndim} dimensions.", "Give a matrix with one point in each row.", "X")
    if not np.isfinite(points).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(points))[0])
        raise NotANumberError(f"X[{i}, {j}] is {points[i, j]}.", "Every coordinate must be finite.", "X", (i, j))
    return points
