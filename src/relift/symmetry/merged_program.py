r"""A program in which each equitable class is one variable or one row: the place to look for classes up to scale.

Classes up to scale are never finer than the equitable ones, so these can be merged first. What is left is often a small
part of the program, and a search in it costs next to nothing. Let C and R be equitable classes. Every row of R has the
same sum :math:`a_{RC}` of entries in C, up to its own factor, and every column of C the same sum :math:`b_{RC}` over R,
so that :math:`|R| a_{RC} = |C| b_{RC}`; with masses multiplied by the sizes of classes,

.. math:: \sum_{j \in C} a_{ij} w_j = a_{RC} w_C, \qquad
          \sum_{i \in R} \frac{\mu_i}{v_i} a_{ij} = \frac{1}{|C|} \frac{|R| \mu_R}{v_R} a_{RC}, \qquad
          \sum_{k \in D} P_{jk} w_k = \frac{1}{|C|} P_{CD} w_D, \quad P_{CD} = |C| \sum_{k \in D} P_{jk}

for scales and masses that are equal inside the classes: the conditions of :mod:`~relift.symmetry.scaled_refinement` on
the program and on the merged one, with costs |C| q, are the same. Sums are not taken in floats, which would round them:
the entries of one row of each class stay, several of them for one variable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import FieldElements, Indices, Integers, SparseMatrix, Vector
from relift.program.index_sets import constant, constant_words
from relift.program.passes import submatrix
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.centres import Centres, centred_program, to_fifteen_digits
from relift.symmetry.colour_refinement import Refinement
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.find import Images
from relift.symmetry.own_scales import Masses
from relift.symmetry.partition import Partition
from relift.symmetry.scaled_refinement import ClassScales, ScaledRefinement


@final
@dataclass(frozen=True, eq=False)
class MergedProgram:
    """One variable and one row for each equitable class.

    Parameters
    ----------
    found
        The equitable classes.
    program
        The merged program; its matrices have several entries in one place.
    member
        The same with the costs and the curvature of one member of each class of variables.
    images
        Words of the merged variables and rows.
    q_image
        Exact costs of one member.
    masses
        The sizes of the classes, divided by a common factor of those of variables.
    """

    found: Refinement
    program: Program
    member: Program
    images: Images
    q_image: FieldElements
    masses: Masses

    @classmethod
    def of(cls, program: Program, images: Images, found: Refinement, reading: Reading) -> MergedProgram | None:
        """Merge the equitable classes of a program without quadratic constraints and cones.

        None if P has many entries, and multiples of them cannot be written as floats.

        Parameters
        ----------
        program
            A minimisation.
        images
            Words of its variables and rows, equal inside the classes; those of rows up to their factors.
        found
            Its equitable classes.
        reading
            How floats are read.

        Examples
        --------
        >>> from relift.symmetry.colour_refinement import refine
        >>> program = Program(q=[1, 1, 2], A=[[0.1, 0.2, 0], [0.4, 0.2, 0]], l=[1, 2], lb=0)
        >>> vectors = VectorImages.of(program, "decimal")
        >>> found = refine(None, program.A, [vectors.q], vectors.l, vectors.u, program.l, program.u)
        >>> merged = MergedProgram.of(program, Images(vectors), found, "decimal").program
        >>> merged.q.tolist(), merged.A.indices.tolist(), merged.A.data.tolist()
        ([2.0, 2.0], [0, 0], [0.1, 0.2])
        """
        columns, rows, vectors = found.variables, found.rows, images.vectors
        first, first_row = columns.representatives, rows.representatives
        # A common factor of all sizes changes nothing, and P times one is P.
        common = int(np.gcd.reduce(columns.class_sizes)) if columns.n_classes else 1
        sizes, row_sizes = columns.class_sizes // common, rows.class_sizes
        l, u, lb, ub = program.l[first_row], program.u[first_row], program.lb[first], program.ub[first]
        q, q_image = program.q[first], vectors.q[first]
        P = total = None
        if program.P is not None:
            P = _merged_rows(_transposed(program.P), first, columns)  # which is symmetric
            total = _times_sizes(P, sizes, reading)
            if total is None and program.P.nnz > program.A.nnz:
                return None
            if total is None:
                total = _all_rows(program.P, columns)
                sizes, common = columns.class_sizes, 1
        A = _merged_rows(program.A, first_row, columns)
        return cls(
            found,
            Program.trusted(total, q * sizes, A, l, u, lb, ub),
            Program.trusted(P, q, A, l, u, lb, ub),
            Images(
                VectorImages(
                    field.multiply(q_image, sizes.astype(np.uint64)), vectors.l[first_row], vectors.u[first_row],
                    vectors.lb[first], vectors.ub[first], vectors.b,
                ),
                [words[first] for words in images.variables],
                [words[first_row] for words in images.rows],
            ),
            q_image,
            Masses(
                sizes.astype(np.float64), sizes.astype(np.uint64), row_sizes / common,
                field.multiply(row_sizes.astype(np.uint64), field.inverse(common)),
            ),
        )  # fmt: skip

    def centred(self, centres: Centres, reading: Reading) -> MergedProgram:
        """The same with variables measured from their centres."""
        vectors = self.images.vectors
        program, moved = centred_program(self.program, vectors, centres, reading)
        member, of_member = centred_program(self.member, vectors.but(q=self.q_image), centres, reading)
        return replace(
            self, program=program, member=member, images=replace(self.images, vectors=moved), q_image=of_member.q
        )

    def with_vectors(self, vectors: VectorImages, q_image: FieldElements) -> MergedProgram:
        """The same with bounds, and costs of one member of each class, that are read in another way."""
        of_all = field.multiply(q_image, self.masses.variable_images)
        return replace(self, images=replace(self.images, vectors=vectors.but(q=of_all)), q_image=q_image)

    def times_sizes(self, masses: Masses) -> Masses:
        """Masses of merged variables and rows, from those of members."""
        sizes = self.masses
        return Masses(
            masses.variables * sizes.variables, field.multiply(masses.variable_images, sizes.variable_images),
            masses.rows * sizes.rows, field.multiply(masses.row_images, sizes.row_images),
        )  # fmt: skip

    def over_sizes(self, masses: Masses) -> tuple[FieldElements, FieldElements]:
        """Exact masses of one member of each merged variable and row."""
        sizes = self.masses
        return (
            field.multiply(masses.variable_images, field.inverse(sizes.variable_images)),
            field.multiply(masses.row_images, field.inverse(sizes.row_images)),
        )

    def of_members(self, masses: Masses) -> Masses:
        """Masses of all variables and rows, from those of merged ones."""
        columns, rows, sizes = self.found.variables.labels, self.found.rows.labels, self.masses
        variable_images, row_images = self.over_sizes(masses)
        return Masses(
            (masses.variables / sizes.variables)[columns], variable_images[columns],
            (masses.rows / sizes.rows)[rows], row_images[rows],
        )  # fmt: skip

    def expand_centres(self, centres: Centres) -> Centres:
        """Centres of all variables."""
        labels = self.found.variables.labels
        return Centres(centres.floats[labels], centres.images[labels])

    def expand(self, small: ScaledRefinement) -> ScaledRefinement:
        """Classes and scales of all variables and rows, from those of merged ones."""
        found = self.found
        scales, relative = found.row_scales, relative_row_scales(found)
        rows = _expanded(small.rows, found.rows)
        floats = scales / scales[found.rows.representatives][found.rows.labels]
        statistics = replace(found.statistics, rows_without_scale=small.statistics.rows_without_scale)
        return ScaledRefinement(
            _expanded(small.variables, found.variables),
            ClassScales(rows.classes, rows.floats * floats, field.multiply(rows.images, relative)),
            statistics,
        )


def relative_row_scales(found: Refinement) -> FieldElements:
    """Exact scales of rows, relative to the representatives of their equitable classes."""
    rows = found.rows
    return field.multiply(
        found.row_scale_images, field.inverse(found.row_scale_images[rows.representatives])[rows.labels]
    )


def _expanded(small: ClassScales, classes: Partition) -> ClassScales:
    if small.classes.is_discrete and bool(np.all(small.images == 1)):
        return ClassScales(classes, constant(1.0, classes.size), constant_words(1, classes.size))
    labels = classes.labels  # numbered by smallest member, and so is what they are merged into
    return ClassScales(
        Partition.trusted(small.classes.labels[labels], small.classes.n_classes),
        small.floats[labels],
        small.images[labels],
    )


def _merged_rows(matrix: SparseMatrix, rows: Indices, columns: Partition) -> SparseMatrix:
    """Some rows, with the class of each entry in place of its column; double entries stay apart."""
    part = submatrix(matrix, rows if rows.size < matrix.shape[0] else None, None)
    shape = (rows.size, columns.n_classes)
    if part.format == "csr":
        return _csr(part.data, columns.labels[part.indices], part.indptr, shape)
    column = np.repeat(np.arange(matrix.shape[1]), np.diff(part.indptr))
    order = np.argsort(part.indices, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(part.indices, minlength=rows.size))])
    return _csr(part.data[order], columns.labels[column[order]], offsets, shape)


def _transposed(matrix: SparseMatrix) -> SparseMatrix:
    """The transpose of a CSC array, in CSR; a CSR array as it is."""
    return matrix if matrix.format == "csr" else matrix.T


def _times_sizes(merged: SparseMatrix, sizes: Indices, reading: Reading) -> SparseMatrix | None:
    """Rows times the sizes of their classes; None where floats would round."""
    if np.all(sizes == 1):
        return merged
    factors = np.repeat(sizes, np.diff(merged.indptr))
    product = to_fifteen_digits(merged.data * factors)
    exact = field.multiply(field.images(merged.data, reading), factors.astype(np.uint64))
    if not np.array_equal(field.images(product, reading), exact):
        return None
    return _csr(product, merged.indices, merged.indptr, merged.shape)


def _all_rows(P: SparseMatrix, columns: Partition) -> SparseMatrix:
    """The entries of all rows of each class: their sums are those of one row times the size of the class."""
    order = np.argsort(columns.labels, kind="stable")
    lengths = np.diff(P.indptr)[order]  # P is symmetric: its columns are its rows
    ends = np.cumsum(lengths)
    place = np.arange(P.nnz) + np.repeat(P.indptr[:-1][order] - (ends - lengths), lengths)
    offsets = np.concatenate([[0], ends])[np.concatenate([[0], np.cumsum(columns.class_sizes)])]
    shape = (columns.n_classes, columns.n_classes)
    return _csr(P.data[place], columns.labels[P.indices[place]], offsets, shape)


def _csr(data: Vector, indices: Integers, offsets: Integers, shape: tuple[int, int]) -> SparseMatrix:
    narrow = np.int32 if max(data.size, *shape) < 2**31 else np.int64
    matrix: SparseMatrix = sparse.csr_array(
        (data, indices.astype(narrow, copy=False), offsets.astype(narrow, copy=False)), shape=shape
    )
    return matrix
