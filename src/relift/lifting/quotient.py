r"""From a program and its classes to the smaller program, and back.

Let variable j be :math:`w_j` times the representative of its class and row i :math:`v_i` times its own (all 1 unless
classes were looked for up to scale), and let S have the entry :math:`w_j` in row j and the column of its class:

.. math:: \hat P = S^\top P S,\quad \hat q = S^\top q,\quad \hat A_r = (A S)_r,\quad \hat l, \hat u, \hat{lb}, \hat{ub}
   \text{ those of the representatives}

.. math:: x = S z, \qquad y_i = \hat y_r \, \frac{\mu_i}{v_i \sum_k \mu_k}, \qquad
   \omega_j = \hat\omega \, \frac{m_j}{w_j \sum_k m_k}

with sums over the class, and masses :math:`m, \mu` that are 1 unless members count differently. Cones are lifted by
their own rules (:mod:`~relift.lifting.conic_quotient`). These solve the original program if z and its dual values solve
the quotient (``docs/mathematics.md``; with w = v = 1 it is Theorem 1 of Mladenov, Kleinhans, Kersting, 2016, with dual
values shared, not copied). First-order solvers get the *isometric* form, in which lengths are those of the
original program: variables :math:`\sqrt{\sum_j w_j^2}\, z`, rows of :math:`\hat A` multiplied by
:math:`\sqrt{\sum_i v_i^2}`, which are :math:`\sqrt{|class|}` where members are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Integers, SparseMatrix, Vector
from relift.errors import PartitionError
from relift.lifting.conic_quotient import ConicQuotient
from relift.lifting.summed_entries import are_few, summed, with_merged_columns
from relift.program.conic_rows import ConicRows
from relift.program.equal_numbers import some_of
from relift.program.index_sets import all_of, lengths
from relift.program.other_order import by_rows
from relift.program.passes import entries_of, submatrix
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.program.solution import Solution
from relift.program.sparse_structure import csc_from_dense, index_type, unchecked
from relift.records import cached_property, quick
from relift.symmetry.find import Symmetry
from relift.symmetry.partition import Partition

CANCELLED = 1e-14
"""A sum this small against its terms is a zero that rounding left over."""

CANCELLED_WITH_SCALES = 1e-12
"""The same where terms were multiplied by scales, which are rounded themselves."""

FEW_ROWS = 1 / 32
"""Up to this share of the rows their entries are listed, where more would be copied as a matrix."""

FEW_CLASSES = 64
"""Up to so many the quotient of P is made symmetric as a dense matrix."""


@final
@quick
@dataclass(frozen=True, eq=False)
class Quotient:
    """The small program with the expansion to the program it came from.

    Parameters
    ----------
    ground
        The program before.
    symmetry
        Its classes.
    program
        The small program.
    """

    ground: Program
    symmetry: Symmetry
    program: Program

    @cached_property
    def cones(self) -> ConicQuotient:
        """The lifted cones, and how their dual values are shared."""
        return ConicQuotient.of(self.ground.conic, self.symmetry)

    def expand(self, solution: Solution) -> Solution:
        """From an answer for the small program to one for the program it came from."""
        if self.symmetry.is_discrete:
            return solution
        row_share, variable_share = self.symmetry.row_shares, self.symmetry.variable_shares
        rows, variables, w = self.symmetry.rows.labels, self.symmetry.variables.labels, self.symmetry.variable_scales

        def spread(point: Vector | None) -> Vector | None:
            if point is None:
                return None
            return point[variables] if w is None else point[variables] * self.symmetry.w

        def share_rows(duals: Vector | None) -> Vector | None:
            return None if duals is None else duals[rows] * row_share

        def share_bounds(duals: Vector | None) -> Vector | None:
            return None if duals is None else duals[variables] * variable_share

        def share_quadratic(duals: Vector | None) -> Vector | None:
            classes = self.symmetry.quadratic
            return None if duals is None else (duals / classes.class_sizes)[classes.labels]

        def share_conic(duals: Vector | None) -> Vector | None:
            if duals is None or duals.size == 0:
                return duals
            if self.cones.blocks is not None:
                duals = self.cones.blocks.T @ duals
            return duals[self.symmetry.conic_rows.labels] * self.cones.share

        return solution.but(
            x=spread(solution.x),
            y=share_rows(solution.y),
            w=share_bounds(solution.w),
            z=share_quadratic(solution.z),
            v=share_conic(solution.v),
            ray_z=share_quadratic(solution.ray_z),
            ray_v=share_conic(solution.ray_v),
            ray_x=spread(solution.ray_x),
            ray_y=share_rows(solution.ray_y),
            ray_w=share_bounds(solution.ray_w),
        )

    def restrict(self, solution: Solution) -> Solution:
        """From a point of the original program to one of the small program, by class averages: for a warm start."""
        if self.symmetry.is_discrete:
            return solution
        symmetry, variables = self.symmetry, self.symmetry.variables

        def mean(point: Vector | None) -> Vector | None:
            return None if point is None else _class_sums(point * symmetry.variable_shares, variables)

        def total(duals: Vector | None) -> Vector | None:
            return None if duals is None else _class_sums(duals * symmetry.w, variables)

        y = solution.y
        if y is not None:
            y = _class_sums(y * symmetry.v, symmetry.rows)
        v = solution.v
        if v is not None:  # which dual values of small blocks add up to one of a large cone is not told
            v = _class_sums(v * symmetry.conic_v, symmetry.conic_rows) / self.cones.factor
            v = v if self.cones.blocks is None else None
        return solution.but(x=mean(solution.x), y=y, w=total(solution.w), v=v)


def quotient(program: Program, symmetry: Symmetry, old: Quotient | None = None) -> Quotient:
    """Merge each class of variables and each class of rows into one, in O(nnz).

    Parameters
    ----------
    program
        The original program, a minimisation.
    symmetry
        Classes of its columns and of its rows; that they are equitable is the caller's promise
        (:func:`relift.symmetry.equitable.distance_from_equitable` checks it).
    old
        The quotient by the same classes of a program with the same matrices: only vectors are made anew.

    Raises
    ------
    PartitionError
        If a partition has another size than the program.

    Examples
    --------
    >>> program = Program(P=[[2, 0], [0, 2]], q=[-2, -2], A=[[1, 1]], u=[1])
    >>> classes = Symmetry(Partition.one_class(2), Partition.one_class(1), np.ones(1), "by hand")
    >>> small = quotient(program, classes).program
    >>> small.P.toarray().tolist(), small.q.tolist(), small.A.toarray().tolist(), small.u.tolist()
    ([[4.0]], [-4.0], [[2.0]], [1.0])
    """
    variables, rows = symmetry.variables, symmetry.rows
    if (variables.size, rows.size) != (program.n_variables, program.n_rows):
        raise PartitionError(
            f"classes of {variables.size} variables and {rows.size} rows do not fit a program with "
            f"{program.n_variables} variables and {program.n_rows} rows."
        )
    if (symmetry.conic_rows.size, symmetry.cones.size) != (program.conic.n_rows, len(program.conic)):
        raise PartitionError(
            f"classes of {symmetry.conic_rows.size} conic rows and {symmetry.cones.size} cones do not fit a program "
            f"with {program.conic.n_rows} and {len(program.conic)}."
        )
    if symmetry.is_discrete:
        return Quotient(program, symmetry, program)
    j, i = variables.representatives, rows.representatives
    lifted = ConicQuotient.of(program.conic, symmetry) if len(program.conic) else None
    small = Program.trusted(
        old.program.P if old is not None else None if program.P is None else _quotient_of_P(program.P, symmetry),
        program.q[j] * symmetry.class_masses,
        old.program.A
        if old is not None
        else _quotient_of_A(program.A, rows, variables, None if symmetry.variable_scales is None else symmetry.w),
        some_of(program.l, i),
        some_of(program.u, i),
        some_of(program.lb, j),
        some_of(program.ub, j),
        program.r,
        quadratic=_quotient_of_quadratic_rows(program.quadratic, symmetry.quadratic, variables),
        conic=None if lifted is None else _quotient_of_conic_rows(program.conic, symmetry, lifted),
    )
    merged = Quotient(program, symmetry, small)
    if lifted is not None:
        vars(merged)["cones"] = lifted  # it is there already
    return merged


def _quotient_of_conic_rows(rows: ConicRows, symmetry: Symmetry, lifted: ConicQuotient) -> ConicRows:
    """The representatives' rows, multiplied by their factors, in the lifted cones."""
    w = None if symmetry.variable_scales is None else symmetry.w
    A = by_rows(_quotient_of_A(rows.A, symmetry.conic_rows, symmetry.variables, w))
    chosen = symmetry.conic_rows.representatives
    factor = np.where(symmetry.conic_v[chosen] == 0, 0.0, lifted.factor)  # a row at rest is 0, but for rounding
    A.data = A.data * factor.repeat(lengths(A.indptr))
    b = rows.b[chosen] * factor
    if lifted.blocks is not None:
        A, b = (lifted.blocks @ A).tocsr(), lifted.blocks @ b
    if not A.data.all():
        A.eliminate_zeros()
    return ConicRows.trusted(A, b, lifted.cones)


def _quotient_of_quadratic_rows(rows: QuadraticRows, constraints: Partition, variables: Partition) -> QuadraticRows:
    """One constraint for each class, with x = Sz put in: S'P_kS, S'q_k, r_k of the representative."""
    if not len(rows):
        return QuadraticRows.none(variables.n_classes)
    position = np.full(len(rows), -1, np.int64)
    position[constraints.representatives] = np.arange(constraints.n_classes)
    kept = position[rows.owner] >= 0
    size = variables.n_classes
    key = (position[rows.owner[kept]] * size + variables.labels[rows.first[kept]]) * size
    key += variables.labels[rows.second[kept]]
    distinct, inverse = np.unique(key, return_inverse=True)
    sums = np.asarray(np.bincount(inverse, rows.values[kept], distinct.size), dtype=np.float64)
    terms = np.bincount(inverse, np.abs(rows.values[kept]), distinct.size)
    real = np.abs(sums) > CANCELLED * terms
    distinct, sums = distinct[real], sums[real]
    q = rows.q[constraints.representatives].tocoo()
    shape = (constraints.n_classes, size)
    linear = by_rows(summed(q.coords[0], variables.labels[q.coords[1]], q.data, shape, CANCELLED))
    return QuadraticRows(
        distinct // (size * size),
        distinct // size % size,
        distinct % size,
        sums,
        linear,
        rows.r[constraints.representatives],
    )


def _class_sums(vector: Vector, partition: Partition) -> Vector:
    return np.asarray(np.bincount(partition.labels, vector, partition.n_classes), dtype=np.float64)


def _quotient_of_A(A: SparseMatrix, rows: Partition, variables: Partition, w: Vector | None = None) -> SparseMatrix:
    """The representatives' rows, with entries of one variable class added."""
    labels, n_classes = variables.labels, variables.n_classes
    shape = rows.n_classes, n_classes
    if A.format == "csr":
        return with_merged_columns(A, rows.representatives, labels, n_classes, w, _cancelled(w))
    if rows.n_classes <= FEW_ROWS * rows.size:
        some = entries_of(A, rows.representatives, None)  # nothing is made for columns without any
        of_entries = labels[some.column]
        if not are_few(np.bincount(of_entries)):
            data = some.value if w is None else some.value * w[some.column]
            narrow = index_type(data.size, shape)
            return summed(some.row.astype(narrow), of_entries.astype(narrow), data, shape, _cancelled(w))
    part = submatrix(A, rows.representatives, None)  # the rest is never looked at
    counts = lengths(part.indptr)
    if are_few(np.bincount(labels, counts)):
        return with_merged_columns(by_rows(part), all_of(rows.n_classes), labels, n_classes, w, _cancelled(w))
    data = part.data if w is None else part.data * w.repeat(counts)
    narrow = index_type(part.nnz, shape)
    owner: Integers = part.indices.astype(narrow, copy=False)
    of_columns: Integers = labels.astype(narrow, copy=False)
    return summed(owner, of_columns.repeat(counts), data, shape, _cancelled(w))


def _quotient_of_P(P: SparseMatrix, symmetry: Symmetry) -> SparseMatrix | None:
    """S'PS from the representatives' columns alone: the sum over a class is its mass times any member's column."""
    variables, w, n_classes = symmetry.variables, symmetry.variable_scales, symmetry.variables.n_classes
    part = submatrix(P, None, variables.representatives)
    counts = lengths(part.indptr)
    data = part.data * symmetry.class_masses.repeat(counts)
    if are_few(counts):
        turned = unchecked(sparse.csr_array, data, part.indices, part.indptr, part.shape[::-1])
        of_w = None if w is None else symmetry.w
        total = with_merged_columns(turned, all_of(n_classes), variables.labels, n_classes, of_w, _cancelled(w))
    else:
        if w is not None:
            data = data * symmetry.w[part.indices]
        column = np.repeat(np.arange(n_classes), counts)
        total = summed(variables.labels[part.indices], column, data, (n_classes, n_classes), _cancelled(w))
    if total.nnz == 0:
        return None
    if n_classes <= FEW_CLASSES:
        dense = total.toarray()
        return csc_from_dense((dense + dense.T) * 0.5)
    symmetric = ((total + total.T) * 0.5).tocsc()  # equal up to rounding already
    symmetric.sort_indices()
    return symmetric


def _cancelled(w: Vector | None) -> float:
    return CANCELLED if w is None else CANCELLED_WITH_SCALES


@final
@dataclass(frozen=True, eq=False)
class IsometricForm:
    """A quotient in coordinates in which lengths are those of the original program.

    Parameters
    ----------
    program
        What the first-order solver gets.
    variable_length, row_length, conic_length
        By which variables, rows and conic rows of the plain quotient were multiplied; one number for each cone.
    """

    program: Program
    variable_length: Vector
    row_length: Vector
    conic_length: Vector

    @classmethod
    def of(cls, quotient_: Quotient) -> IsometricForm:
        """Scale variables and rows by the length of their scales: √|class| where all are equal."""
        symmetry, small = quotient_.symmetry, quotient_.program
        length = np.sqrt(_class_sums(symmetry.w**2, symmetry.variables))
        row_length = np.sqrt(_class_sums(symmetry.v**2, symmetry.rows))
        shrink = sparse.diags_array(1.0 / length)
        conic, conic_length = small.conic, quotient_.cones.length
        curved = small.quadratic
        program = Program.trusted(
            None if small.P is None else (shrink @ small.P @ shrink).tocsc(),
            small.q / length,
            (sparse.diags_array(row_length) @ small.A @ shrink).tocsc(),
            small.l * row_length,
            small.u * row_length,
            small.lb * length,
            small.ub * length,
            small.r,
            # Quadratic constraints keep their scale, and so their dual values.
            quadratic=QuadraticRows(
                curved.owner,
                curved.first,
                curved.second,
                curved.values / (length[curved.first] * length[curved.second]),
                (curved.q @ shrink).tocsr(),
                curved.r,
            ),
            conic=ConicRows.trusted(
                (sparse.diags_array(conic_length) @ conic.A @ shrink).tocsr(), conic.b * conic_length, conic.cones
            ),
        )
        return cls(program, length, row_length, conic_length)

    def expand(self, solution: Solution) -> Solution:
        """From these coordinates to those of the plain quotient."""
        return _scaled(solution, 1.0 / self.variable_length, self.row_length, self.variable_length, self.conic_length)

    def restrict(self, solution: Solution) -> Solution:
        """From the coordinates of the plain quotient to these."""
        x, y, v = self.variable_length, 1.0 / self.row_length, 1.0 / self.conic_length
        return _scaled(solution, x, y, 1.0 / self.variable_length, v)


def _scaled(solution: Solution, x: Vector, y: Vector, w: Vector, v: Vector) -> Solution:
    def times(vector: Vector | None, factor: Vector) -> Vector | None:
        return None if vector is None else vector * factor

    return solution.but(
        x=times(solution.x, x),
        y=times(solution.y, y),
        w=times(solution.w, w),
        v=times(solution.v, v),
        ray_x=times(solution.ray_x, x),
        ray_y=times(solution.ray_y, y),
        ray_w=times(solution.ray_w, w),
        ray_v=times(solution.ray_v, v),
    )
