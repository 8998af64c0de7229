r"""Classes of variables and rows that are *nearly* equivalent: where data is noisy, exact refinement finds nothing.

Two ways, neither of which proves anything (:mod:`relift.approximate.lower_bound` does that afterwards):

*By tolerance.* The sorted magnitudes of each array are cut into cells no wider than a relative tolerance, every number
is replaced by the middle of its cell, and the resulting program is refined exactly. Neighbours that are closer than the
tolerance share a cell as long as the whole chain of them does; a wider chain is cut at equal ratios, which is arbitrary
but costs no correctness.

*By signature.* A few rounds of refinement with floats: each variable starts from (q, lb, ub, diagonal of P), each row
from (l, u); then both add up what their neighbours have,

.. math:: F_{rows} \leftarrow \tanh\big([F_{rows},\, A F_{variables}]\, W\big),\qquad
   F_{variables} \leftarrow \tanh\big([F_{variables},\, A^\top F_{rows},\, P F_{variables}]\, W'\big)

with fixed random W. Equal neighbourhoods give equal signatures and near ones near signatures, whatever the order of
variables and rows. Any clusterer with ``fit_predict`` groups them; the default is Lloyd's k-means.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Integers, Matrix, SparseMatrix, Vector
from relift.errors import OptionError
from relift.program.program import Program
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import refine
from relift.symmetry.find import Symmetry
from relift.symmetry.partition import Partition

WIDTH = 12
"""How many numbers a signature has."""


class Clusterer(Protocol):
    """Anything with the clustering interface of scikit-learn."""

    def fit_predict(self, X: Matrix) -> Integers:
        """One label for each row of X."""
        ...


def coarsened(values: Vector, tolerance: float) -> Vector:
    """Every value replaced by the middle of its cell of nearly equal magnitudes; signs and infinities stay.

    Parameters
    ----------
    values
        Any floats, infinities included.
    tolerance
        The relative width of a cell. Magnitudes below this part of the median nonzero magnitude become zero.

    Examples
    --------
    >>> coarsened(np.array([1.0, 3.0, -1.002, -np.inf, 1e-9]), 0.01).round(9).tolist()
    [1.001, 3.0, -1.001, -inf, 0.0]
    """
    magnitude = np.abs(values)
    nonzero = magnitude[np.isfinite(values) & (magnitude > 0)]
    if nonzero.size == 0:
        return values
    floor = tolerance * float(np.median(nonzero))
    ordinary = np.isfinite(values) & (magnitude > floor)
    distinct, inverse = np.unique(magnitude[ordinary], return_inverse=True)
    logarithm, width = np.log(distinct), np.log1p(tolerance)
    begins = np.r_[True, np.diff(logarithm) > width]
    chain, starts = np.cumsum(begins) - 1, np.flatnonzero(begins)
    span = logarithm[np.r_[starts[1:], distinct.size] - 1] - logarithm[starts]
    pieces = np.maximum(1, np.ceil(span / width * (1 - 1e-12)).astype(np.int64))
    piece = np.floor((logarithm - logarithm[starts][chain]) / np.maximum(span, 1e-300)[chain] * pieces[chain])
    cell = (np.cumsum(pieces) - pieces)[chain] + np.minimum(piece.astype(np.int64), pieces[chain] - 1)
    begins = np.r_[True, np.diff(cell) > 0]
    starts = np.flatnonzero(begins)
    middle = 0.5 * (distinct[starts] + distinct[np.r_[starts[1:], distinct.size] - 1])
    result = np.where(np.isinf(values), values, 0.0)
    result[ordinary] = np.copysign(middle[np.cumsum(begins) - 1][inverse], values[ordinary])
    return result


def near_equal_classes(program: Program, tolerance: float) -> Symmetry:
    """Classes of variables and rows once numbers within a relative tolerance count as equal.

    Parameters
    ----------
    program
        A minimisation.
    tolerance
        Between 0 and 1; what differs by more parts variables and rows.

    Examples
    --------
    >>> program = Program(q=[1.0, 1.0004, 0.9998], A=[[1.0001, 1.0, 0.9999]], l=[3.0], lb=0)
    >>> near_equal_classes(program, 0.01).variables.n_classes, near_equal_classes(program, 1e-6).variables.n_classes
    (1, 3)
    """
    if not 0 < tolerance < 1:
        raise OptionError(f"tolerance={tolerance!r} is out of range.", "Give a number between 0 and 1, such as 1e-2.")
    rows_l, rows_u = np.split(coarsened(np.concatenate([program.l, program.u]), tolerance), 2)
    lower, upper = np.split(coarsened(np.concatenate([program.lb, program.ub]), tolerance), 2)
    images = [field.images(vector) for vector in (coarsened(program.q, tolerance), lower, upper)]
    found = refine(
        None if program.P is None else _coarsened_matrix(program.P, tolerance),
        _coarsened_matrix(program.A, tolerance),
        images,
        field.images(rows_l),
        field.images(rows_u),
        rows_l,
        rows_u,
        # Sums of middles of cells compare as multisets would, except where they add up by accident.
        mode="equitable",
    )
    return Symmetry(found.variables, found.rows, found.row_scales, f"tolerance {tolerance:g}")


def signatures(program: Program, rounds: int = 3, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Signatures of the variables and of the rows after some rounds of refinement with floats.

    Parameters
    ----------
    program
        A minimisation.
    rounds
        How far a signature sees.
    seed
        Of the random mixing.

    Examples
    --------
    >>> program = Program(q=[1, 1, 2], A=[[1, 1, 1]], l=[3], lb=0)
    >>> of_variables, of_rows = signatures(program)
    >>> bool(np.allclose(of_variables[0], of_variables[1])), bool(np.allclose(of_variables[0], of_variables[2]))
    (True, False)
    """
    random = np.random.default_rng(seed)
    A, P = program.A, program.P
    diagonal = np.zeros(program.n_variables) if P is None else P.diagonal()
    variables = _features(program.q, program.lb, program.ub, diagonal)
    rows = _features(program.l, program.u)
    A = _normalised(A)
    P = None if P is None else _normalised(P)
    for _ in range(rounds):
        rows = _mixed(random, rows, A @ variables)
        parts = [variables, A.T @ rows]
        variables = _mixed(random, *(parts if P is None else [*parts, P @ variables]))
    return variables, rows


def clustered_classes(
    program: Program, n_classes: int, clusterer: Clusterer | None = None, rounds: int = 3, seed: int = 0
) -> Symmetry:
    """Classes of variables and rows by clustering their signatures.

    Parameters
    ----------
    program
        A minimisation.
    n_classes
        How many classes of variables to aim at; rows get as many in proportion. A clusterer of your own decides itself.
    clusterer
        Anything with ``fit_predict``, for example ``sklearn.cluster.KMeans(8)``; k-means if None.
    rounds, seed
        See :func:`signatures`.

    Examples
    --------
    >>> program = Program(q=[1.0, 1.0004, 2.0, 2.001], A=[[1, 1, 1, 1]], l=[3], lb=0)
    >>> clustered_classes(program, 2).variables.labels.tolist()
    [0, 0, 1, 1]
    """
    if n_classes < 1:
        raise OptionError(f"classes={n_classes!r} is out of range.", "Give a positive whole number.")
    of_variables, of_rows = signatures(program, rounds, seed)
    n, m = program.n_variables, program.n_rows
    for_rows = max(1, min(m, round(n_classes * m / max(n, 1))))
    variables = _clusters(of_variables, min(n_classes, max(n, 1)), clusterer, seed)
    rows = _clusters(of_rows, for_rows, clusterer, seed)
    return Symmetry(variables, rows, np.ones(m), f"clustering into {variables.n_classes}")


def k_means(points: Matrix, n_clusters: int, seed: int = 0, iterations: int = 25) -> NDArray[np.int64]:
    """Lloyd's k-means from k-means++ seeds, enough for signatures: one label for each point.

    Examples
    --------
    >>> k_means(np.array([[0.0], [0.1], [5.0], [5.1]]), 2).tolist()
    [0, 0, 1, 1]
    """
    distinct, inverse = np.unique(points, axis=0, return_inverse=True)
    if len(distinct) <= n_clusters:
        return Partition.from_labels(inverse.ravel()).labels
    random = np.random.default_rng(seed)
    centres = np.empty((n_clusters, points.shape[1]))
    centres[0] = points[random.integers(len(points))]
    nearest = np.full(len(points), np.inf)
    for k in range(1, n_clusters):
        nearest = np.minimum(nearest, np.square(points - centres[k - 1]).sum(axis=1))
        total = nearest.sum()
        centres[k] = points[random.choice(len(points), p=nearest / total) if total > 0 else 0]
    squares = np.square(points).sum(axis=1)
    labels = np.full(len(points), -1, np.int64)
    for _ in range(iterations):
        before = labels
        labels = _nearest(points, squares, centres)
        if np.array_equal(labels, before):
            break
        counts = np.bincount(labels, minlength=n_clusters)
        indicator = sparse.csr_array((np.ones(len(points)), labels, np.arange(len(points) + 1)))
        totals = np.zeros_like(centres)
        totals[: indicator.shape[1]] = indicator.T @ points
        centres = np.where(counts[:, None] > 0, totals / np.maximum(counts, 1)[:, None], centres)
    return Partition.from_labels(labels).labels


def _nearest(points: Matrix, squares: Vector, centres: Matrix) -> NDArray[np.int64]:
    """The nearest centre of each point, in blocks that fit the cache."""
    labels = np.empty(len(points), np.int64)
    of_centres = np.square(centres).sum(axis=1)
    block = max(1, 2**20 // len(centres))
    for start in range(0, len(points), block):
        part = slice(start, start + block)
        labels[part] = np.argmin(squares[part, None] - 2 * points[part] @ centres.T + of_centres, axis=1)
    return labels


def _clusters(points: Matrix, n_clusters: int, clusterer: Clusterer | None, seed: int) -> Partition:
    if len(points) < 2:
        return Partition.discrete(len(points))
    if clusterer is None:
        return Partition(k_means(points, n_clusters, seed))
    labels = np.asarray(clusterer.fit_predict(points))
    if labels.shape != (len(points),):
        raise OptionError(
            f"the clusterer gave {labels.size} labels for {len(points)} signatures.", "It must give one for each."
        )
    noise = np.flatnonzero(labels < 0)  # scikit-learn's mark of points in no cluster: each stays alone
    labels = labels.astype(np.int64)
    labels[noise] = labels.max(initial=0) + 1 + np.arange(noise.size)
    return Partition.from_labels(labels)


def _features(*vectors: Vector) -> Matrix:
    """Columns on one scale; an infinite entry is a mark of its own."""
    columns: list[Vector] = []
    for vector in vectors:
        finite = np.isfinite(vector)
        inside = np.where(finite, vector, 0.0)
        scale = float(np.median(np.abs(inside[inside != 0]))) if inside.any() else 1.0
        columns += [np.arcsinh(inside / scale), np.where(finite, 0.0, np.sign(vector))]
    return np.column_stack(columns)


def _normalised(matrix: SparseMatrix) -> SparseMatrix:
    """Divided by the median magnitude of entries and the root of the mean number of entries in a line."""
    if matrix.nnz == 0:
        return matrix
    lines = matrix.nnz / max(1, min(matrix.shape))
    return matrix / (float(np.median(np.abs(matrix.data))) * float(np.sqrt(max(1.0, lines))))


def _mixed(random: np.random.Generator, *parts: Matrix) -> Matrix:
    joined = np.hstack(parts)
    weights = random.standard_normal((joined.shape[1], WIDTH)) / np.sqrt(joined.shape[1])
    return np.asarray(np.tanh(joined @ weights))


def _coarsened_matrix(matrix: SparseMatrix, tolerance: float) -> SparseMatrix:
    make = sparse.csr_array if matrix.format == "csr" else sparse.csc_array
    parts = coarsened(matrix.data, tolerance), matrix.indices, matrix.indptr
    coarse: SparseMatrix = make(parts, shape=matrix.shape)
    return coarse
