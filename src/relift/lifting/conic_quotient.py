r"""The cones of the small program, and the expansion of their dual values.

Let a class hold m cones, each with :math:`n_r` rows of the row class r (:mod:`relift.symmetry.cone_refinement`), and
let :math:`\hat s_r` be the common value of :math:`b - Cx` on that class. The m cones hold the same vector, and it
lies in the cone exactly if the shorter one lies in the lifted cone:

- second order: :math:`\|t\|^2 = \sum_r n_r \hat s_r^2`, so the rows of the lifted cone are the head and
  :math:`\sqrt{n_r}\,\hat s_r`;
- power: :math:`\prod_i x_i^{\alpha_i} = \prod_r \hat s_r^{\,n_r \alpha_r}`: exponents add. If one argument is left, the
  cone is :math:`\hat s \ge |z|`, a second-order cone of two rows;
- semidefinite: the matrix is constant on classes of entries, and falls into small blocks whose rows are sums of those
  of the classes (:mod:`~relift.lifting.semidefinite_blocks`); where no entries are merged, nothing changes;
- exponential: all rows of a cone are in different classes, nothing changes.

With :math:`f_r` the factor of a row (:math:`\sqrt{n_r}` or 1), a dual value :math:`\hat v_r` of the lifted row is
shared by the :math:`m n_r` rows of its class:

.. math:: v_i = \hat v_r\, \frac{f_r}{m n_r}.

Cones that are :math:`\omega_k` times the representative of their class, with rows of signs :math:`\tau_i` and masses
:math:`M_k`, have :math:`v_i = \hat v_r f_r M_k / (\tau_i \omega_k n_r \sum_k M_k)`: the vector of each is that of equal
cones, multiplied by a positive number, and turned where the cone does not see it. In the isometric form the rows of a
lifted cone are multiplied by :math:`\sqrt{\sum_k \omega_k^2}`.

Then :math:`C^\top v` adds up to what :math:`\hat C^\top \hat v` was. v is in the dual cones: for second order
:math:`\sum_i v_i^2 = \sum_r n_r (\hat v_r / (m\sqrt{n_r}))^2 = \|\hat v\|^2 / m^2`; for power cones
:math:`\prod_r (v_r/\alpha_r)^{n_r\alpha_r} = \tfrac1m \prod_r (\hat v_r / (n_r \alpha_r))^{n_r\alpha_r}`, the
product of the lifted dual cone divided by m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.lifting.semidefinite_blocks import Blocks, blocks_of
from relift.program.cones import Cone, Power, PowerND, SecondOrder, Semidefinite
from relift.program.conic_rows import ConicRows, exponents_of
from relift.program.index_sets import lengths
from relift.program.sparse_structure import index_type, unchecked
from relift.symmetry.find import Symmetry
from relift.symmetry.partition import Partition


@final
@dataclass(frozen=True, eq=False)
class ConicQuotient:
    """The lifted cones, by which their rows were multiplied, and how dual values are shared.

    Parameters
    ----------
    cones
        One for each class of cones, or several for a semidefinite one.
    factor
        For each class of conic rows, by what the row of its representative is multiplied.
    share
        For each original row, its part of the dual value of its class.
    length
        For each row of the lifted cones, the root of the number of cones in the class of its cone, or of the sum of
        their squared sizes: by this all rows of a cone are multiplied in the isometric form.
    blocks
        From the rows of the classes to those of the lifted cones; None if they are the same.
    """

    cones: tuple[Cone, ...]
    factor: Vector
    share: Vector
    length: Vector
    blocks: SparseMatrix | None = None

    @classmethod
    def of(cls, rows: ConicRows, symmetry: Symmetry) -> ConicQuotient:
        """Lift the cones of some rows, given classes that keep the conditions."""
        conic_rows, cones = symmetry.conic_rows, symmetry.cones
        # Rows of a cone stand together and every cone of a class has rows of each of its row classes: the smallest
        # member of a row class stands in the smallest cone, and classes are in the order of cones and rows.
        chosen = conic_rows.representatives
        owner = rows.cone_of_row[chosen]
        n_cones = cones.class_sizes[cones.labels[owner]] if owner.size else np.zeros(0, np.int64)
        count = conic_rows.class_sizes // np.maximum(n_cones, 1)
        is_tail = np.zeros(rows.n_rows, bool)
        is_tail[rows.layout.tails] = True
        factor = np.where(is_tail[chosen], np.sqrt(count), 1.0)
        share = factor[conic_rows.labels] * symmetry.conic_shares
        squares = np.bincount(cones.labels, symmetry.conic_v[rows.starts] ** 2, cones.n_classes)
        length = np.sqrt(squares)
        lifted = _lifted_cones(rows, cones, chosen, count)
        split = _split_cones(rows, symmetry, lifted)
        if not split:
            return cls(lifted, factor, share, length[cones.labels[owner]] if owner.size else np.zeros(0))
        small: list[Cone] = []
        parts: list[SparseMatrix] = []
        for k, cone in enumerate(lifted):
            small += split[k].cones if k in split else [cone]
            parts.append(split[k].rows if k in split else _identity(cone.n_rows))
        n_rows = [part.shape[0] for part in parts]
        return cls(tuple(small), factor, share, np.repeat(length, n_rows), _in_blocks(parts))


def _identity(size: int) -> SparseMatrix:
    places = np.arange(size + 1, dtype=np.int32)
    return unchecked(sparse.csr_array, np.ones(size), places[:-1], places, (size, size))


def _in_blocks(parts: Sequence[SparseMatrix]) -> SparseMatrix:
    """Matrices by rows, one behind the other on the diagonal; SciPy takes longer than to solve what is left."""
    heights, widths = (np.array([part.shape[side] for part in parts]) for side in (0, 1))
    counts = np.concatenate([lengths(part.indptr) for part in parts])
    before = (widths.cumsum() - widths).tolist()
    kind = index_type(int(counts.sum()), (int(heights.sum()), int(widths.sum())))
    indices = np.concatenate([part.indices + first for part, first in zip(parts, before, strict=True)])
    offsets = np.zeros(counts.size + 1, kind)
    counts.cumsum(out=offsets[1:])
    values = np.concatenate([part.data for part in parts])
    shape = int(heights.sum()), int(widths.sum())
    return unchecked(sparse.csr_array, values, indices.astype(kind, copy=False), offsets, shape)


def _lifted_cones(rows: ConicRows, cones: Partition, chosen: Indices, count: Indices) -> tuple[Cone, ...]:
    """The cone of each class, from the rows that stand for classes and how many each stands for in its cone."""
    kept = [rows.cones[k] for k in cones.representatives.tolist()]
    n_left = np.bincount(cones.labels[rows.cone_of_row[chosen]], minlength=len(kept))
    ends = n_left.cumsum()
    for k in (n_left != rows.sizes[cones.representatives]).nonzero()[0].tolist():
        mine = slice(ends[k] - n_left[k], ends[k])
        if isinstance(kept[k], SecondOrder):
            kept[k] = SecondOrder(int(n_left[k]))
        elif not isinstance(kept[k], Semidefinite):
            places = chosen[mine][:-1] - rows.starts[cones.representatives[k]]
            kept[k] = _power_cone(np.array(exponents_of(kept[k]))[places] * count[mine][:-1])
    return tuple(kept)


def _split_cones(rows: ConicRows, symmetry: Symmetry, lifted: Sequence[Cone]) -> dict[int, Blocks]:
    """The blocks of each semidefinite cone in which entries are merged."""
    split: dict[int, Blocks] = {}
    if rows.layout.semidefinite.size == 0:
        return split
    for k in np.unique(symmetry.cones.labels[rows.layout.semidefinite]).tolist():
        first = int(symmetry.cones.representatives[k])
        labels = symmetry.conic_rows.labels[rows.starts[first] : rows.starts[first] + rows.sizes[first]]
        labels = labels - labels[0]  # the classes of one cone have numbers that follow one another
        if int(labels.max()) + 1 < lifted[k].n_rows:
            split[k] = blocks_of(labels)
    return split


def _power_cone(exponents: Vector) -> Cone:
    """The power cone with these exponents, in its simplest form."""
    alphas = (exponents / exponents.sum()).tolist()
    if len(alphas) == 1:
        return SecondOrder(2)
    return Power(alphas[0]) if len(alphas) == 2 else PowerND(tuple(alphas))
