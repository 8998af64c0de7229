r"""How strongly a convex quadratic objective bends: a vector :math:`\mu` with :math:`P \succeq \mathrm{diag}(\mu)`.

Diagonal dominance proves it without any work. Otherwise the smallest eigenvalue of a connected part of P, scaled to
unit diagonal, is computed or estimated, and what is claimed is a little less, by more than rounding can do.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from relift.approximate.rounding import EPSILON, gamma
from relift.arrays import Matrix, SparseMatrix, Vector

DENSE_SIZE = 400
"""Up to this size the curvature of a connected part of P is found by a dense eigenvalue routine."""

SPARSE_SIZE = 20_000
"""Up to this size a factorisation may be spent on it."""

LARGEST = 2e10
"""Operations that a factorisation may take at most: a few seconds."""


def curvature(P: SparseMatrix | None, n: int, flops: float = math.inf) -> Vector:
    r"""A vector :math:`\mu \ge 0` with :math:`P \succeq \mathrm{diag}(\mu)`, as large as is easy to prove.

    Each connected part of P by itself: the slack of diagonal dominance where all of it is dominant, else the smallest
    eigenvalue after scaling to unit diagonal if the part is small, else 0 (see :func:`curvature_by_factorisation`).

    Parameters
    ----------
    P
        Symmetric CSC array, or None.
    n
        Its size.
    flops
        Operations that may be spent on eigenvalues, about.

    Examples
    --------
    >>> curvature(sparse.csc_array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 5.0]]), 3).round(9).tolist()
    [1.0, 1.0, 5.0]
    """
    if P is None:
        return np.zeros(n)
    diagonal = P.diagonal()
    row_sums = np.bincount(P.indices, weights=np.abs(P.data), minlength=n)
    slack = diagonal - (row_sums - np.abs(diagonal))
    slack -= gamma(int(np.diff(P.indptr).max(initial=0)) + 2) * row_sums
    n_parts, part = csgraph.connected_components(P, directed=False)
    worst = np.full(n_parts, np.inf)
    np.minimum.at(worst, part, np.where(row_sums > 0, slack, 0.0))
    mu = np.where(worst[part] >= 0, np.maximum(slack, 0.0), 0.0)
    sizes = np.bincount(part, minlength=n_parts)
    order = np.argsort(part, kind="stable")
    starts = np.cumsum(sizes) - sizes
    for k in np.flatnonzero((worst < 0) & (sizes <= DENSE_SIZE) & (sizes > 1)):
        flops -= 2.0 * float(sizes[k]) ** 3
        if flops < 0:
            break
        members = order[starts[k] : starts[k] + sizes[k]]
        scale = np.sqrt(np.maximum(diagonal[members], 1e-300))
        block = P[members][:, members].toarray() / scale[:, None] / scale[None, :]
        smallest = float(linalg.eigvalsh(block, subset_by_index=[0, 0])[0])
        mu[members] = max(0.0, smallest - 8 * sizes[k] * EPSILON * float(np.abs(block).sum(axis=1).max()))
        mu[members] *= diagonal[members]
    return mu


def curvature_by_factorisation(P: SparseMatrix, known: Vector, flops: float = math.inf) -> Vector:
    r"""More of the same for variables whose curvature is not known yet: a multiple of the diagonal of P.

    The smallest eigenvalue after scaling to unit diagonal is estimated by Lanczos' method; that P minus a little less
    of its diagonal is positive definite is then proved by one Cholesky factorisation, dense or banded, whose cost is
    known before it is made: it runs to its end only if the matrix is positive definite, up to rounding.

    Parameters
    ----------
    P
        Symmetric CSC array.
    known
        What :func:`curvature` found.
    flops
        Operations that may be spent on it, about.

    Examples
    --------
    >>> P = sparse.csc_array([[1.0, 0.9, 0.9], [0.9, 1.0, 0.9], [0.9, 0.9, 1.0]])
    >>> mu = curvature_by_factorisation(P, np.zeros(3))
    >>> bool(0.08 < mu[0] < 0.1)
    True
    """
    diagonal = P.diagonal()
    members = np.flatnonzero((known == 0) & (diagonal > 0))
    found = np.zeros_like(known)
    if not 2 <= members.size <= SPARSE_SIZE:
        return found
    # Variables outside have curvature of their own, or are connected with none of these: P splits, or all stay at 0.
    part = P[members][:, members]
    if part.nnz != P[:, members].nnz:
        return found
    order = csgraph.reverse_cuthill_mckee(part.tocsr(), symmetric_mode=True)
    part = part[order][:, order].tocsc()
    width = bandwidth(part)
    if members.size * float(width + 1) ** 2 + 200.0 * part.nnz > min(flops, LARGEST):
        return found
    scale = sparse.diags_array(1.0 / np.sqrt(diagonal[members][order]))
    M = (scale @ part @ scale).tocsc()
    try:
        start = np.random.default_rng(0).standard_normal(members.size)
        smallest = float(eigsh(M, k=1, which="SA", v0=start, tol=1e-2, maxiter=100, return_eigenvectors=False)[0])
    except (ArpackNoConvergence, ValueError, TypeError):
        return found
    share = 0.9 * smallest
    # What a factorisation in floats that runs to its end leaves open, for a matrix of unit diagonal (Rump, 2006), and
    # what scaling to it rounded.
    margin = 8 * EPSILON * (width + 3) * (2 * width + 2)
    if share > 2 * margin and is_positive_definite((M - share * sparse.eye_array(members.size)).tocsc(), width):
        found[members] = (share - margin) * diagonal[members] * (1.0 - 1e-12)
    return found


def bandwidth(matrix: SparseMatrix) -> int:
    """How far the entries of a CSC array lie from its diagonal.

    Examples
    --------
    >>> bandwidth(sparse.csc_array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [2.0, 0.0, 1.0]]))
    2
    """
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    return int(np.abs(matrix.indices - columns).max(initial=0))


def is_positive_definite(matrix: SparseMatrix, width: int) -> bool:
    """Whether a symmetric CSC array of this bandwidth has a Cholesky factor.

    Examples
    --------
    >>> [is_positive_definite(sparse.csc_array([[1.0, a], [a, 1.0]]), 1) for a in (0.9, 1.1)]
    [True, False]
    """
    n = matrix.shape[0]
    try:
        if 2 * width > n:
            linalg.cholesky(matrix.toarray(), lower=True, overwrite_a=True, check_finite=False)
        else:
            linalg.cholesky_banded(lower_band(matrix, width), lower=True, overwrite_ab=True, check_finite=False)
    except linalg.LinAlgError:
        return False
    return True


def lower_band(matrix: SparseMatrix, width: int) -> Matrix:
    """The lower half of a symmetric CSC array, diagonal by diagonal, as LAPACK wants it.

    Examples
    --------
    >>> lower_band(sparse.csc_array([[1.0, 2.0], [2.0, 3.0]]), 1).tolist()
    [[1.0, 3.0], [2.0, 0.0]]
    """
    n = matrix.shape[0]
    columns = np.repeat(np.arange(n), np.diff(matrix.indptr))
    offset = matrix.indices - columns
    below = offset >= 0
    band = np.zeros((width + 1, n))
    band[offset[below], columns[below]] = matrix.data[below]
    return band
