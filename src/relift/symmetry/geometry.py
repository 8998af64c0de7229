r"""Symmetry of a quadratic form seen as geometry: the rows of B with :math:`Q = BB^\top` are points.

Theorem 2 of Mladenov, Kleinhans and Kersting (2016), in the form that holds: for Q = BB' and a symmetric X,

.. math:: XQ = QX \iff XB = BR \text{ with } R \text{ symmetric}, \qquad R = B^+ X B

(full column rank of B and idempotence of X, which the paper asks for, are not needed). For a permutation Π of the rows:

- :math:`\Pi Q \Pi^\top = Q` (a renaming) if and only if :math:`\Pi B = BO` with O orthogonal: a *rotation* or
  reflection of the points that carries the set onto itself;
- :math:`\Pi B = BM` with any M if and only if Π preserves the column space of B, that is, commutes with the projection
  :math:`BB^+`. Such a *rescaling* need be no renaming of Q; averages over a group of them still commute with Q if the
  average of the M is symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relift.arrays import Indices, Matrix, MatrixLike, is_sparse
from relift.errors import (
    AsymmetricError,
    MissingPackageError,
    NonConvexError,
    NotANumberError,
    PartitionError,
    ShapeError,
)
from relift.program.arrays import as_floats
from relift.program.sparse_structure import checked_sparse
from relift.settings import check_choice
from relift.symmetry.colour_refinement import colour_refinement
from relift.symmetry.partition import Partition
from relift.symmetry.snapping import snap_values

Kind = Literal["rotation", "linear"]


@final
@dataclass(frozen=True, eq=False)
class CommutingFactor:
    """The matrix R with XB = BR, as good as there is one.

    Parameters
    ----------
    matrix
        R = B⁺XB.
    residual
        The largest entry of XB - BR relative to that of B: 0 up to rounding if X keeps the column space of B.
    asymmetry
        The largest entry of R - R': 0 up to rounding, together with the residual, if and only if X commutes with BB'.
    """

    matrix: Matrix
    residual: float
    asymmetry: float

    @property
    def commutes(self) -> bool:
        """Whether X commutes with BB', up to rounding."""
        return max(self.residual, self.asymmetry) <= 1e-9


@final
@dataclass(frozen=True, eq=False)
class PointSymmetry:
    """A permutation of the rows of B that a matrix carries out: B[permutation] = B M.

    Parameters
    ----------
    permutation
        Row i goes to where row ``permutation[i]`` was.
    matrix
        M: orthogonal for a rotation or reflection.
    residual
        The largest entry of B[permutation] - BM relative to that of B.
    """

    permutation: Indices
    matrix: Matrix
    residual: float

    @property
    def is_orthogonal(self) -> bool:
        """Whether M keeps lengths and angles, up to rounding."""
        M = self.matrix
        return bool(np.allclose(M @ M.T, np.eye(len(M)), atol=1e-9))


def semidefinite_factor(Q: MatrixLike, tolerance: float | None = None) -> Matrix:
    """Factor a positive semidefinite matrix: B with BB' = Q and as many columns as Q has rank.

    Parameters
    ----------
    Q
        Symmetric positive semidefinite, dense or sparse.
    tolerance
        Eigenvalues below this part of the largest count as 0; None for what rounding can do.

    Raises
    ------
    AsymmetricError
        If Q differs from its transpose.
    NonConvexError
        If an eigenvalue is negative by more than the tolerance.

    Examples
    --------
    >>> B = semidefinite_factor([[1, 0, -1], [0, 2, 0], [-1, 0, 1]])
    >>> B.shape, bool(np.allclose(B @ B.T, [[1, 0, -1], [0, 2, 0], [-1, 0, 1]]))
    ((3, 2), True)
    """
    dense = _matrix(Q, "Q")
    if dense.shape[0] != dense.shape[1]:
        raise ShapeError(f"Q is {dense.shape[0]} x {dense.shape[1]}.", "It must be square.", "Q")
    if dense.size == 0:
        return np.zeros((0, 0))
    if not np.allclose(dense, dense.T, rtol=1e-12, atol=1e-12 * float(np.abs(dense).max())):
        i, j = (int(k) for k in np.argwhere(np.abs(dense - dense.T) > 0)[0])
        raise AsymmetricError(f"Q[{i}, {j}] = {dense[i, j]:g}, but Q[{j}, {i}] = {dense[j, i]:g}.", "", "Q", (i, j))
    values, vectors = np.linalg.eigh((dense + dense.T) / 2)
    largest = max(float(np.abs(values).max()), np.finfo(float).tiny)
    cut = (len(dense) * 4 * np.finfo(float).eps if tolerance is None else tolerance) * largest
    if values[0] < -max(cut, 1e-10 * largest):
        raise NonConvexError(f"Q has the eigenvalue {values[0]:.6g}.", "Only semidefinite matrices have a factor.", "Q")
    kept = values > cut
    B = vectors[:, kept][:, ::-1] * np.sqrt(values[kept][::-1])
    signs = np.sign(B[np.argmax(np.abs(B) > 1e-8 * np.sqrt(largest), axis=0), np.arange(B.shape[1])])
    return np.asarray(B * np.where(signs == 0, 1.0, signs))


def commuting_factor(B: MatrixLike, partition: Partition) -> CommutingFactor:
    """Return R with XB = BR, where X averages over the classes of a partition of the rows of B.

    Parameters
    ----------
    B
        One point in each row.
    partition
        Classes of the rows.

    Raises
    ------
    PartitionError
        If the partition has another size than B.

    Examples
    --------
    >>> B = [[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]]
    >>> factor = commuting_factor(B, Partition.from_labels([0, 0, 1, 1]))
    >>> factor.commutes, factor.matrix.round(9).tolist()
    (True, [[0.0, 0.0], [0.0, 0.0]])
    >>> commuting_factor(B, Partition.from_labels([0, 1, 0, 1])).commutes
    False
    """
    points = _matrix(B, "B")
    if partition.size != len(points):
        raise PartitionError(f"classes of {partition.size} rows do not fit a matrix with {len(points)} rows.")
    S = partition.indicator
    averaged = S @ ((S.T @ points) / partition.class_sizes[:, None])
    R = np.linalg.pinv(points) @ averaged
    residual = float(np.abs(averaged - points @ R).max(initial=0.0)) / _largest(points)
    return CommutingFactor(R, residual, float(np.abs(R - R.T).max(initial=0.0)))


def linear_symmetry(B: MatrixLike, permutation: ArrayLike) -> PointSymmetry:
    """Return the matrix M with B[permutation] = BM, and how well it does.

    Parameters
    ----------
    B
        One point in each row.
    permutation
        Which row each row is to become.

    Raises
    ------
    PartitionError
        If it is not a permutation of the rows.

    Examples
    --------
    >>> turned = linear_symmetry([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [1, 2, 3, 0])
    >>> turned.matrix.round(9).tolist(), turned.is_orthogonal
    ([[0.0, 1.0], [-1.0, 0.0]], True)
    """
    points, order = _matrix(B, "B"), np.asarray(permutation, dtype=np.int64)
    if not np.array_equal(np.sort(order), np.arange(len(points))):
        raise PartitionError(f"not a permutation of {len(points)} rows.", f"Give each of 0 .. {len(points) - 1} once.")
    inverse = np.linalg.pinv(points)
    beside = np.eye(points.shape[1]) - inverse @ points  # directions in which no point lies stay as they are
    M = inverse @ points[order] + beside
    residual = float(np.abs(points[order] - points @ M).max(initial=0.0)) / _largest(points)
    return PointSymmetry(order, M, residual)


def point_symmetries(B: MatrixLike, kind: Kind = "rotation", digits: int = 9) -> tuple[PointSymmetry, ...]:
    """Generators of all symmetries of a point set: rotations and reflections, or all linear maps.

    Parameters
    ----------
    B
        One point in each row; up to a few hundred points.
    kind
        ``"rotation"``: orthogonal maps, which are the renamings of BB'. ``"linear"``: any matrices, which are the
        renamings of the projection BB⁺; rescalings are among them.
    digits
        Entries of that matrix closer than ``10**-digits`` relatively count as equal; each generator is checked.

    Raises
    ------
    MissingPackageError
        If igraph is not installed.

    Examples
    --------
    >>> generators = point_symmetries([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> all(g.is_orthogonal and g.residual < 1e-9 for g in generators)
    True
    """
    check_choice("kind", kind, get_args(Kind))
    points = _matrix(B, "B")
    gram = points @ points.T if kind == "rotation" else points @ np.linalg.pinv(points)
    found = (linear_symmetry(points, order) for order in _automorphisms(_numbered(gram, digits)))
    return tuple(symmetry for symmetry in found if symmetry.residual <= 10.0 ** (2 - digits))


def orbits_of(symmetries: tuple[PointSymmetry, ...], n_points: int) -> Partition:
    """Which points the symmetries carry into each other.

    Parameters
    ----------
    symmetries
        Generators, from :func:`point_symmetries`.
    n_points
        How many points there are.

    Examples
    --------
    >>> turned = linear_symmetry([[1.0], [-1.0], [0.0]], [1, 0, 2])
    >>> orbits_of((turned,), 3).labels.tolist()
    [0, 0, 1]
    """
    from scipy.sparse import csgraph

    ends = [np.column_stack([np.arange(n_points), symmetry.permutation]) for symmetry in symmetries]
    pairs = np.concatenate([*ends, np.zeros((0, 2), np.int64)])
    joined = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_points, n_points))
    return Partition.from_labels(csgraph.connected_components(joined, directed=False)[1])


def four_vectors() -> Matrix:
    """Return the four vectors of the paper's example: turning by 180° renames them, a rescaling too, in another order.

    Examples
    --------
    >>> B = four_vectors()
    >>> rescaling = linear_symmetry(B, [3, 0, 1, 2])
    >>> rescaling.residual < 1e-12, rescaling.is_orthogonal
    (True, False)
    >>> turning = linear_symmetry(B, [2, 3, 0, 1])
    >>> turning.residual < 1e-12, turning.is_orthogonal
    (True, True)
    """
    s = np.sqrt(0.5)
    return np.array([[s, s], [-1.0, 1.0], [-s, -s], [1.0, -1.0]])


def _automorphisms(numbers: Matrix) -> list[Indices]:
    """Permutations of the rows that keep a symmetric matrix: BLISS on the complete graph with coloured edges.

    Edges of the most frequent number are left out; every other pair is a vertex coloured by its number.
    """
    try:
        import igraph
    except ImportError as error:
        raise MissingPackageError(
            "symmetries of a point set need the package igraph.", 'Install it with: pip install "relift[graphs]"'
        ) from error
    n = len(numbers)
    if n < 2:
        return []
    classes = colour_refinement(sparse.csr_array(numbers), mode="counting")
    assert isinstance(classes, Partition)
    if classes.is_discrete:
        return []
    i, j = np.triu_indices(n, 1)
    _, kind, frequency = np.unique(numbers[i, j], return_inverse=True, return_counts=True)
    shown = kind != np.argmax(frequency)
    i, j, kind = i[shown], j[shown], kind[shown]
    middle = n + np.arange(kind.size)
    edges = np.concatenate([np.column_stack([i, middle]), np.column_stack([middle, j])])
    colours = np.concatenate([classes.labels, classes.n_classes + kind])
    graph = igraph.Graph(n=int(n + kind.size), edges=edges.tolist())
    generators = graph.automorphism_group(color=colours.tolist())
    return [np.asarray(generator[:n], dtype=np.int64) for generator in generators]


def _numbered(gram: Matrix, digits: int) -> Matrix:
    """Small numbers for entries that are equal to so many digits; never zero, exact as floats."""
    gram = (gram + gram.T) / 2
    gram[np.abs(gram) <= 10.0**-digits * _largest(gram)] = 0.0
    snapped = snap_values(gram.ravel(), digits)[0]
    return np.asarray(np.unique(snapped, return_inverse=True)[1].reshape(gram.shape) + 0.5, dtype=np.float64)


def _largest(values: Matrix) -> float:
    return max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)


def _matrix(given: MatrixLike, name: str) -> Matrix:
    dense = checked_sparse(name, given).toarray() if is_sparse(given) else as_floats(name, given)
    if dense.ndim != 2:
        raise ShapeError(f"{name} has {dense.ndim} dimensions.", "A matrix has two.", name)
    if not np.isfinite(dense).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(dense))[0])
        raise NotANumberError(f"{name}[{i}, {j}] is {dense[i, j]}.", "Every entry must be finite.", name, (i, j))
    return dense
