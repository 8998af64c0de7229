r"""One large semidefinite cone as a few small ones: block diagonal form of matrices that are constant on classes.

Let the classes E of the entries of an n x n matrix be closed under squaring
(:mod:`relift.symmetry.semidefinite_classes`), and :math:`M = \sum_E t_E B_E`. The algebra that the :math:`B_E` generate
splits :math:`R^n` into invariant subspaces, many of them equivalent. M is semidefinite exactly if it is on one of each
kind: with an orthonormal basis U of such a subspace,

.. math:: U^\top M U = \sum_E t_E\, U^\top B_E U \succeq 0,

a cone as large as the subspace, and a linear map of the :math:`t_E`. A dual value V of the small cone belongs to
:math:`U V U^\top`, whose products with the :math:`B_E` are those of V with :math:`U^\top B_E U`; averaged over classes
it is semidefinite again.

Subspaces are found as by Murota, Kanno, Kojima and Kojima (2010) and by de Klerk, Dobre and Pasechnik (2011): the
eigenspaces of a random element, each inside one kind; from a vector of one, all that random elements make of it. That
is an irreducible subspace, of complex and quaternionic kinds too. Bases are floats: another random element must have
the same eigenvalues before and after, or nothing is split; and every answer is certified on the original cone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, Labels, Matrix, SparseMatrix, Vector
from relift.program.cones import Cone, SecondOrder, Semidefinite
from relift.program.symmetric_matrices import ROOT, upper_triangle, with_entries

SPLIT = 1e-8
"""Eigenvalues that differ by more than this, relative to the largest, are different."""

GROWN = 1e-8
"""A part of a vector is new if it is longer than this, relative to the random matrix that made it."""

FITS = 1e-9
"""Eigenvalues before and after may differ by so much, relative to the largest."""

MAKERS = 4
"""Random elements that make a subspace of a vector; quaternions need three to be generated."""

TRIES = 3
"""Random elements that are tried before a cone is left whole."""

CANCELLED = 1e-12
"""A sum this small against its terms is a zero that rounding left over."""


@final
@dataclass(frozen=True, eq=False)
class Blocks:
    """The small cones that stand for a large one.

    Parameters
    ----------
    cones
        Half lines for subspaces of one dimension.
    rows
        From the common values of the classes, as they stand in the rows of the large cone, to the rows of the cones.
    """

    cones: tuple[Cone, ...]
    rows: SparseMatrix


def blocks_of(labels: Labels) -> Blocks:
    """Split a semidefinite cone whose rows are constant on classes that are closed under squaring.

    Parameters
    ----------
    labels
        The class of each row of the cone: 0, 1, ...

    Examples
    --------
    A 3 x 3 matrix with a on its diagonal and b off it has the eigenvalues a + 2b and, twice, a - b:

    >>> blocks = blocks_of(np.array([0, 1, 0, 1, 1, 0]))
    >>> blocks.cones
    (SecondOrder(size=1), SecondOrder(size=1))
    >>> sorted((blocks.rows @ np.array([1.0, 2**0.5])).round(9).tolist())
    [0.0, 3.0]
    """
    return _blocks(np.ascontiguousarray(labels, np.int64).tobytes())


@lru_cache(maxsize=16)  # re-solves with other numbers have the same classes
def _blocks(stored: bytes) -> Blocks:
    labels = np.frombuffer(stored, np.int64)
    side = int((np.sqrt(8 * labels.size + 1) - 1) // 2)
    L = with_entries(labels.astype(np.float64), side).astype(np.int64)
    for seed in range(TRIES):
        bases = _irreducible(L, np.random.default_rng(seed))
        if bases is not None:
            return _small_cones(L, bases)
    one = np.ones(labels.size), labels, np.arange(labels.size + 1)
    return Blocks((Semidefinite(side),), sparse.csr_array(one, shape=(labels.size, int(labels.max()) + 1)))


@final
@dataclass(frozen=True, eq=False)
class _Basis:
    """Orthonormal vectors of an invariant subspace, each with entries in one fibre only.

    Parameters
    ----------
    fibres
        The fibre of each vector: the indices whose diagonal entries are of one class.
    vectors
        Their entries there.
    """

    fibres: list[Indices]
    vectors: list[Vector]

    def restrict(self, element: Matrix) -> Matrix:
        """A matrix in coordinates of the subspace."""
        whole = np.zeros((element.shape[0], len(self.vectors)))
        for k, (fibre, vector) in enumerate(zip(self.fibres, self.vectors, strict=True)):
            whole[fibre, k] = vector
        return np.asarray(whole.T @ element @ whole, np.float64)


def _irreducible(L: Labels, random: np.random.Generator) -> list[_Basis] | None:
    """A basis of one invariant subspace of each kind; None if they fail their check.

    The diagonal matrices of the classes of the diagonal are in the algebra, so that a subspace is the sum of its parts
    in the fibres, and eigenspaces are looked for fibre by fibre: bases, and rows of the blocks, have few entries.
    """
    first, *others, last = _random_elements(L, MAKERS + 2, random)
    vectors, spaces = np.zeros(first.shape), list[tuple[Indices, slice]]()
    for label in np.unique(L.diagonal()).tolist():
        fibre = np.flatnonzero(L.diagonal() == label)
        values, own = np.linalg.eigh(first[np.ix_(fibre, fibre)])
        gaps = np.flatnonzero(np.diff(values) > SPLIT * np.abs(values).max(initial=0.0)) + 1
        begin = spaces[-1][1].stop if spaces else 0
        vectors[fibre, begin : begin + fibre.size] = own
        ends = [0, *gaps.tolist(), fibre.size]
        spaces += [(fibre, slice(begin + one, begin + other)) for one, other in pairwise(ends)]
    makers = [vectors.T @ element @ vectors for element in others]
    starts = np.array([span.start for _, span in spaces] + [L.shape[0]])
    done, bases, left = np.zeros(len(spaces), bool), list[_Basis](), list[Vector]()
    for space, (_, span) in enumerate(spaces):
        if done[space]:
            continue
        grown = _grown(space, starts, makers)
        done[list(grown)] = True
        fibres, own_vectors = list[Indices](), list[Vector]()
        for k in sorted(grown):
            fibre, columns = spaces[k]
            own_vectors += list((vectors[fibre, columns] @ grown[k]).T)
            fibres += [fibre] * grown[k].shape[1]
        copies, rest = divmod(span.stop - span.start, grown[space].shape[1])
        if rest:
            return None
        bases.append(_Basis(fibres, own_vectors))
        left.append(np.repeat(np.linalg.eigvalsh(bases[-1].restrict(last)), copies))
    found, wanted = np.sort(np.concatenate(left)), np.linalg.eigvalsh(last)
    if found.size != wanted.size or np.abs(found - wanted).max(initial=0.0) > FITS * np.abs(wanted).max(initial=0.0):
        return None
    return bases


def _random_elements(L: Labels, count: int, random: np.random.Generator) -> list[Matrix]:
    """Random matrices of the span, in which no class outweighs the others."""
    n_classes, side = int(L.max()) + 1, L.shape[0]
    keys, in_row = np.unique(L + np.arange(side)[:, None] * n_classes, return_counts=True)
    most = np.zeros(n_classes, np.int64)
    np.maximum.at(most, keys % n_classes, in_row)
    return [(random.standard_normal(n_classes) / most)[L] for _ in range(count)]


def _grown(space: int, starts: Indices, makers: list[Matrix]) -> dict[int, Matrix]:
    """What random elements make of a vector of an eigenspace: orthonormal vectors in each eigenspace that they reach.

    Parameters
    ----------
    space
        The eigenspace.
    starts
        Where eigenspaces begin, in coordinates of eigenvectors.
    makers
        Random elements, in these coordinates.
    """
    vector = np.zeros((int(starts[space + 1] - starts[space]), 1))
    vector[0] = 1.0
    found, queue = {space: vector}, [(space, vector[:, 0])]
    least = [GROWN * float(np.abs(maker).sum(axis=0).max()) for maker in makers]
    while queue:
        k, vector = queue.pop()
        for maker, smallest in zip(makers, least, strict=True):
            image = maker[:, starts[k] : starts[k + 1]] @ vector
            lengths = np.sqrt(np.add.reduceat(image**2, starts[:-1]))
            for other in np.flatnonzero(lengths > smallest).tolist():
                part = image[starts[other] : starts[other + 1]]
                known = found.get(other, np.zeros((part.size, 0)))
                for _ in range(2):  # once more, since the first time leaves rounding behind
                    part = part - known @ (known.T @ part)
                length = float(np.linalg.norm(part))
                if length > smallest and known.shape[1] < part.size:
                    part = part / length
                    found[other] = np.column_stack([known, part])
                    queue.append((other, part))
    return found


def _small_cones(L: Labels, bases: list[_Basis]) -> Blocks:
    """Each subspace as a cone, and the rows of all of them as a linear map of the values of the classes."""
    n_classes, cones = int(L.max()) + 1, list[Cone]()
    in_rows = np.where(np.bincount(L.diagonal(), minlength=n_classes) > 0, 1.0, 1.0 / ROOT)
    between: dict[tuple[int, int], tuple[Labels, Labels]] = {}
    data, classes, ends = list[Vector](), list[Labels](), [0]
    for basis in sorted(bases, key=lambda basis: len(basis.vectors)):
        size = len(basis.vectors)
        cones.append(SecondOrder(1) if size == 1 else Semidefinite(size))
        for i, j in zip(*upper_triangle(size), strict=True):
            key = int(basis.fibres[i][0]), int(basis.fibres[j][0])
            if key not in between:
                between[key] = np.unique(L[np.ix_(basis.fibres[i], basis.fibres[j])], return_inverse=True)
            own, inverse = between[key]
            products = np.multiply.outer(basis.vectors[i], basis.vectors[j]).ravel()
            sums = np.bincount(inverse.ravel(), products, own.size)
            stays = np.abs(sums) > CANCELLED * np.bincount(inverse.ravel(), np.abs(products), own.size)
            data.append(np.asarray(sums[stays] * in_rows[own[stays]] * (1.0 if i == j else ROOT), np.float64))
            classes.append(own[stays])
            ends.append(ends[-1] + data[-1].size)
    parts = np.concatenate(data), np.concatenate(classes), np.array(ends)
    return Blocks(tuple(cones), sparse.csr_array(parts, shape=(len(ends) - 1, n_classes)))
