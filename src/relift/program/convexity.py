r"""Is P positive semidefinite? A real check, sparse, cheapest test first, and a direction as proof when it is not.

After scaling to unit diagonal, :math:`M = D^{-1/2} P D^{-1/2}`:

1. a negative diagonal entry, or a zero one with anything beside it, is a proof of non-convexity;
2. rows that are diagonally dominant (Gershgorin) need nothing more, if their whole component is;
3. the rest is factorised: :math:`M + \delta I = L D L^\top` has only positive pivots if and only if
   :math:`\lambda_{\min}(M) > -\delta`, up to rounding. :math:`\delta` is :data:`TOLERANCE`: what rounding of the
   entries can do, and no more.

Only when a pivot fails is a direction computed, to name the variables at fault: the factors up to that pivot give one
with negative curvature in one solve, and a few Lanczos steps, or a dense routine for small parts, improve it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.errors import NonConvexError

TOLERANCE = 1e-11
"""The most negative eigenvalue, after scaling to unit diagonal, that passes as rounding."""

SMALL_SIZE = 200
"""Up to this size a dense factorisation is tried first: it takes less than looking for what is connected."""

DENSE_SIZE = 1500
"""Up to this size an eigenvector is computed by a dense routine."""


def check_convex(P: SparseMatrix, sense: str = "min", names: Sequence[str] | None = None) -> None:
    """Refuse a P with a direction of negative curvature (positive, when maximising), and name its variables.

    Parameters
    ----------
    P
        Symmetric CSC array.
    sense
        ``"min"`` asks for a positive, ``"max"`` for a negative semidefinite P.
    names
        Names of the variables, for the message.

    Raises
    ------
    NonConvexError
        With the variables of a direction along which the curvature has the wrong sign.

    Examples
    --------
    >>> check_convex(sparse.csc_array([[1.0, 1.0], [1.0, 1.0]]))
    >>> check_convex(sparse.csc_array([[1.0, 2.0], [2.0, 1.0]]))
    Traceback (most recent call last):
    relift.errors.NonConvexError: P is not positive semidefinite: along x[0] = 0.707, x[1] = -0.707 the curvature is
    -1. ...
    """
    direction = direction_of_negative_curvature(P if sense == "min" else -P)
    if direction is None:
        return
    indices, values = direction
    curvature = float(values @ (P[indices][:, indices] @ values))
    largest = np.argsort(-np.abs(values), kind="stable")[:4]
    shown = ", ".join(
        f"{f'x[{indices[k]}]' if names is None else names[indices[k]]} = {values[k]:.3g}" for k in np.sort(largest)
    )
    more = f" (and {values.size - 4} more variables)" if values.size > 4 else ""
    wanted = "positive" if sense == "min" else "negative"
    raise NonConvexError(
        f"P is not {wanted} semidefinite: along {shown}{more} the curvature is {curvature:.6g}.",
        f"A {sense}imisation needs a {wanted} semidefinite P; "
        "if this is rounding in your data, repair P or pass assume_convex=True.",
        "P",
        tuple(int(indices[k]) for k in np.sort(largest)),
    )


def direction_of_negative_curvature(P: SparseMatrix) -> tuple[Indices, Vector] | None:
    """Variables and a unit vector v on them with v'Pv < 0, or None if P is positive semidefinite up to rounding."""
    diagonal = P.diagonal()
    row_sums = np.bincount(P.indices, weights=np.abs(P.data), minlength=diagonal.size)
    beside = row_sums - np.abs(diagonal)
    if np.all(diagonal >= beside):
        return None
    if diagonal.min() < 0:
        return np.array([int(np.argmin(diagonal))]), np.array([1.0])
    empty = np.flatnonzero((diagonal == 0) & (beside > 0))
    if empty.size:
        return _direction_through_zero_diagonal(P, diagonal, int(empty[0]))
    if diagonal.size <= SMALL_SIZE and _has_dense_factor(P, diagonal):
        return None
    doubtful = _components_of(P, np.flatnonzero(diagonal < beside * (1 - 1e-14)))
    doubtful = doubtful[diagonal[doubtful] > 0]  # explicit zeros may have led to variables without any curvature
    if doubtful.size == 0:
        return None
    scale = 1.0 / np.sqrt(diagonal[doubtful])
    part = P if doubtful.size == diagonal.size else P[doubtful][:, doubtful]
    M = (sparse.diags_array(scale) @ part @ sparse.diags_array(scale)).tocsc()
    failed = _direction_of_failed_pivot(M, max(TOLERANCE, 4 * np.finfo(float).eps * doubtful.size))
    if failed is None:
        return None
    value, vector = _smallest_eigenpair(M, failed)
    if value >= -TOLERANCE:
        return None
    vector *= scale
    support = np.flatnonzero(np.abs(vector) > 1e-8 * np.abs(vector).max())
    return doubtful[support], vector[support] / np.linalg.norm(vector[support])


def _has_dense_factor(P: SparseMatrix, diagonal: Vector) -> bool:
    """Whether the whole of P, scaled to unit diagonal and shifted as below, has only positive pivots."""
    from scipy.linalg import lapack

    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    dense = P.toarray(order="F")
    dense *= scale
    dense *= scale[:, None]
    dense[np.diag_indices(diagonal.size)] += TOLERANCE
    return bool(lapack.dpotrf(dense, lower=1, overwrite_a=1)[1] == 0)


def _direction_through_zero_diagonal(P: SparseMatrix, diagonal: Vector, i: int) -> tuple[Indices, Vector]:
    """With P[i,i] = 0 and P[i,j] = a, the 2 x 2 block on i and j has determinant -a² < 0."""
    column = slice(P.indptr[i], P.indptr[i + 1])
    j = int(P.indices[column][np.argmax(np.abs(P.data[column]))])
    block = np.array([[0.0, P[i, j]], [P[i, j], diagonal[j]]])
    vector = np.linalg.eigh(block)[1][:, 0]
    order = np.argsort([i, j])
    if vector[order[0]] < 0:
        vector = -vector
    return np.array([i, j])[order], vector[order]


def _components_of(P: SparseMatrix, rows: Indices) -> Indices:
    """All variables that are connected with the given ones."""
    from scipy.sparse import csgraph

    if rows.size == 0:
        return rows
    _, component = csgraph.connected_components(P, directed=False)
    return np.flatnonzero(np.isin(component, np.unique(component[rows])))


def _direction_of_failed_pivot(M: SparseMatrix, shift: float) -> Vector | None:
    r"""Factorise M + shift I; None if all pivots are positive, else v with :math:`v^\top (M + shift\,I)\, v < 0`.

    If the first bad pivot is the k-th, then with M11 the leading block before it and m the column beside that block,
    :math:`v = (-M_{11}^{-1} m, 1)` has exactly this pivot as its curvature.
    """
    from scipy import linalg
    from scipy.sparse import linalg as sparse_linalg

    size = M.shape[0]
    if M.nnz > 0.1 * size * size and size > 32:
        dense = M.toarray(order="F")
        dense[np.diag_indices(size)] += shift
        k = int(linalg.lapack.dpotrf(dense, lower=1)[1]) - 1
        if k < 0:
            return None
        vector = np.zeros(size)
        vector[k] = 1.0
        if k:
            vector[:k] = -linalg.cho_solve(linalg.cho_factor(dense[:k, :k], lower=True), dense[:k, k])
        return vector
    for attempt in range(4):
        try:
            factor = sparse_linalg.splu(
                (M + shift * (1 + attempt / 16) * sparse.eye_array(size)).tocsc(),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:  # exactly singular: a pivot was zero; a little more shift moves it
            continue
        if not np.array_equal(factor.perm_r, factor.perm_c):  # rows were exchanged, for the same reason
            continue
        bad = np.flatnonzero(factor.U.diagonal() <= 0)
        if bad.size == 0:
            return None
        k = int(bad[0])
        unit = np.zeros(k + 1)
        unit[k] = 1.0
        leading = factor.L.tocsc()[: k + 1, : k + 1].T.tocsr()
        permuted = np.zeros(size)
        permuted[: k + 1] = sparse_linalg.spsolve_triangular(leading, unit, lower=False, unit_diagonal=True)
        return np.asarray(permuted[factor.perm_c], np.float64)
    return np.asarray(np.random.default_rng(0).standard_normal(size), np.float64)


def _smallest_eigenpair(M: SparseMatrix, start: Vector) -> tuple[float, Vector]:
    """The smallest eigenvalue with its vector; for large M what a few steps from the start can reach."""
    from scipy import linalg
    from scipy.sparse import linalg as sparse_linalg

    if M.shape[0] <= DENSE_SIZE:
        vector = linalg.eigh(M.toarray(), subset_by_index=[0, 0])[1][:, 0]
    else:
        vector = start / np.linalg.norm(start)
        try:
            better = sparse_linalg.eigsh(M, k=1, which="SA", v0=vector, tol=1e-3, maxiter=20)[1][:, 0]
            vector = min(vector, better, key=lambda v: float(v @ (M @ v)))
        except sparse_linalg.ArpackError:  # not converged: the start is proof enough
            pass
    vector = vector * np.sign(vector[np.argmax(np.abs(vector) > 1e-8)])
    return float(vector @ (M @ vector)), vector
