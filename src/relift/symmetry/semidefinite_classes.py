r"""Classes of entries of semidefinite cones: which entries of a matrix may be averaged.

The rows of a semidefinite cone are the entries of a symmetric matrix. Averages over classes E of entries lead from
semidefinite matrices to semidefinite ones if the span of the 0/1 matrices :math:`B_E` is closed under squaring (a
*Jordan algebra*): the idempotents of an average M lie in the span, so :math:`\lambda_i \operatorname{tr} E_i = \langle
\bar M, E_i\rangle = \langle M, E_i\rangle \ge 0` (Permenter and Parrilo 2019). So the classes are those of
:mod:`~relift.symmetry.colour_refinement` for variables, rows and entries together, refined by the entries of
:math:`X^2` for a random X of the span, in turns, until neither splits any class. Squares are exact: X has whole numbers
so small that floats hold every sum.

Entries off the diagonal stand times :math:`\sqrt2` in their rows, of which no sum of decimals is exact. They are read
divided by it where that gives decimals of at most 15 digits; a row in which some number is no such product is read as
it is, and kept apart from the others.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from relift.arrays import FieldElements, Flags, Indices, Labels, Vector
from relift.program.conic_rows import ConicRows
from relift.program.passes import numbered
from relift.program.program import Program
from relift.program.sparse_structure import unchecked
from relift.program.symmetric_matrices import ROOT, cones_by_side, is_off_diagonal, upper_triangle, with_entries
from relift.settings import LiftSettings, ProgressCallback
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import Refinement, refine
from relift.symmetry.cone_refinement import StackedCones
from relift.symmetry.find import Images, Symmetry, costs_of, teller
from relift.symmetry.partition import Partition
from relift.symmetry.scaled_candidate import Found

WORTH = 0.8
"""Classes of entries are of use where they are at most this share of the entries."""

SAME_ROUNDS = 2
"""So many squares of independent random matrices must split nothing before classes count as closed."""

_NOTHING = np.zeros(0, np.int64)


def find_with_entries(
    program: Program,
    images: Images,
    settings: LiftSettings,
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Found | None:
    """The coarsest equitable classes in which entries of semidefinite cones are merged; None if few of them can be.

    Rows whose interval is symmetric about 0 are compared up to sign, where ``signs`` allows it: each stands there
    twice, once turned. A row that meets itself turned is 0, and at rest.

    Parameters
    ----------
    program
        A minimisation.
    images
        What parts variables, rows and cones from the start.
    settings
        How floats are read, and whether signs of rows count.
    seed
        Seed of the random words.
    progress
        Progress callback, called once per round of refinement.

    Examples
    --------
    The entries of a 3 x 3 matrix with equal costs on its diagonal are of two classes:

    >>> from relift.program.cones import Semidefinite
    >>> from relift.symmetry.exact_vectors import VectorImages
    >>> root = 2**0.5
    >>> rows = ConicRows(-np.diag([1, root, 1, root, root, 1]), np.zeros(6), [Semidefinite(3)])
    >>> program = Program(q=[1, 0, 1, 0, 0, 1], A=[[0, 1, 0, 1, 1, 0]], l=[1], conic=rows)
    >>> found = find_with_entries(program, Images(VectorImages.of(program, "decimal")), LiftSettings()).symmetry
    >>> found.conic_rows.labels.tolist(), found.variables.labels.tolist()
    ([0, 1, 0, 1, 1, 0], [0, 1, 0, 1, 1, 0])
    """
    rows = program.conic
    entries = _entries(rows)
    if entries.size == 0 or len(program.quadratic) or _are_told_apart(rows, entries, images.vectors.q):
        return None
    halved, is_halved = _divided_by_root(rows)
    stacked = StackedCones.of(_with_conic(program, halved), settings.values)
    b = field.images(halved.b, settings.values) if is_halved.any() else images.vectors.b
    b = np.where(is_halved, b, images.vectors.b)
    n, m, vectors, whole = program.n_variables, program.n_rows, images.vectors, stacked.program
    turned = np.flatnonzero((program.l == -program.u) & np.isfinite(program.u)) if settings.signs else _NOTHING
    again = np.concatenate([np.arange(m + rows.n_rows), turned])
    A = sparse.vstack([whole.A, -whole.A.tocsr()[turned]], format="csr") if turned.size else whole.A
    l, u = np.concatenate([vectors.l, b])[again], np.concatenate([vectors.u, b])[again]
    columns = stacked.words_of_columns((vectors.q, vectors.lb, vectors.ub, *images.variables), images.cones)
    of_rows = stacked.words_of_rows(images.rows, images.conic_rows)
    of_rows[len(images.rows) + 1] = _positions(stacked, entries, _is_off_diagonal(rows), is_halved)
    words = [word[again] for word in of_rows]
    classes, known = np.zeros(rows.n_rows, np.uint64), np.zeros(n + len(rows), np.uint64)
    while True:
        of_entries = np.concatenate([np.zeros(m, np.uint64), classes])[again]
        found = refine(
            whole.P, A, [*columns, known], l, u, whole.l[again], whole.u[again], reading=settings.values,
            scale_rows=settings.scale_rows, row_extra=[*words, of_entries], seed=seed, progress=teller(progress),
        )  # fmt: skip
        labels = found.rows.labels[m : m + rows.n_rows]
        closed = closed_classes(rows, labels, seed, WORTH * entries.size)
        if closed is None:
            return None
        if _n_classes(closed[entries]) == _n_classes(labels[entries]):
            return _found(found, n, m, rows.n_rows, turned, settings)
        classes, known = closed.astype(np.uint64), found.variables.labels.astype(np.uint64)


def closed_classes(rows: ConicRows, labels: Labels, seed: int, most: float = np.inf) -> Labels | None:
    """Split classes of entries until the span of their matrices is closed under squaring; None if they are too many.

    Parameters
    ----------
    rows
        Conic rows; those of other cones keep their labels.
    labels
        Classes of all rows, in which no entry on the diagonal meets one off it.
    seed
        Seed of the random matrices.
    most
        More classes than this are of no use.

    Examples
    --------
    On a path of three vertices the middle one, and the pair of ends, are told apart:

    >>> from relift.program.cones import Semidefinite
    >>> rows = ConicRows(np.zeros((6, 1)), np.zeros(6), [Semidefinite(3)])
    >>> closed_classes(rows, np.array([0, 1, 0, 2, 1, 0]), 0).tolist()
    [0, 2, 1, 3, 2, 0]
    """
    entries, by_side = _entries(rows), cones_by_side(rows)
    n_before = _n_classes(labels[entries])
    if n_before > most:
        return None
    random, largest = np.random.default_rng(seed), int(np.sqrt(2.0**52 / max(side for side, _ in by_side)))
    labels, same = np.unique(labels, return_inverse=True)[1], 0
    while same < SAME_ROUNDS:
        if n_before > most:
            return None
        drawn = random.integers(1, largest, int(labels.max(initial=0)) + 1).astype(np.float64)
        squares = np.zeros(rows.n_rows)
        for side, where in by_side:
            X = with_entries(drawn[labels[where]], side)
            squares[where] = (X @ X)[:, *upper_triangle(side)]
        labels = np.unique(_pairs(labels, squares), return_inverse=True)[1]
        n_now = _n_classes(labels[entries])
        same = same + 1 if n_now == n_before else 0
        n_before = n_now
    return labels


def _entries(rows: ConicRows) -> Indices:
    """The rows of semidefinite cones of more than one row."""
    every = [where.ravel() for side, where in cones_by_side(rows) if side > 1]
    return np.concatenate(every) if every else np.zeros(0, np.int64)


def _are_told_apart(rows: ConicRows, entries: Indices, costs: FieldElements) -> bool:
    """Whether costs alone leave too many classes of entries: rows that begin at variables of own costs are apart."""
    A = rows.A
    if not A.has_sorted_indices or not A.data.all():
        return False
    kinds, n_kinds = numbered(np.minimum(costs, field.negate(costs)).view(np.int64))  # up to sign
    is_alone = (np.bincount(kinds, minlength=n_kinds) == 1)[kinds]
    starts = A.indptr[entries]
    first = A.indices[starts[A.indptr[entries + 1] > starts]]
    return int(np.count_nonzero(np.bincount(first[is_alone[first]]))) > WORTH * entries.size


def _positions(stacked: StackedCones, entries: Indices, is_off: Flags, is_halved: Flags) -> FieldElements:
    """Positions of rows in their cones: entries are on the diagonal, or off it and divided by the root, or not."""
    positions, m = stacked.position_of_row.copy(), stacked.n_rows
    positions[m + entries] = 0
    positions[m:][is_off] = 1
    positions[m:][is_halved] = 2
    return positions


def _is_off_diagonal(rows: ConicRows) -> Flags:
    is_off = np.zeros(rows.n_rows, bool)
    for side, where in cones_by_side(rows):
        is_off[where] = is_off_diagonal(side)
    return is_off


def _divided_by_root(rows: ConicRows) -> tuple[ConicRows, Flags]:
    """The rows with those off the diagonal divided by the root of 2, where all their numbers are such products."""
    is_off, A = _is_off_diagonal(rows), rows.A
    owner = np.repeat(np.arange(rows.n_rows), np.diff(A.indptr))
    inside = is_off[owner]
    data, b, n_inside = A.data.copy(), rows.b.copy(), int(np.count_nonzero(inside))
    decimals, fit = _decimals(np.concatenate([A.data[inside], rows.b[is_off]]))
    data[inside], fits = decimals[:n_inside], fit[:n_inside]
    b[is_off], b_fits = decimals[n_inside:], fit[n_inside:]
    is_halved = is_off.copy()
    is_halved[is_off] = b_fits
    is_halved[owner[inside][~fits]] = False
    as_given = ~is_halved[owner]
    data[as_given] = A.data[as_given]
    b[~is_halved] = rows.b[~is_halved]
    return ConicRows.trusted(unchecked(type(A), data, A.indices, A.indptr, A.shape), b, rows.cones), is_halved


def _decimals(products: Vector) -> tuple[Vector, Flags]:
    """Decimals of at most 15 digits whose product with the root of 2 is a float, up to its last place; and where."""
    values, inverse = np.unique(products, return_inverse=True)
    decimals = np.array([float(f"{value / ROOT:.15g}") for value in values.tolist()], np.float64)
    fits = np.abs(decimals * ROOT - values) <= np.spacing(np.abs(values))
    return decimals[inverse], fits[inverse]


def _with_conic(program: Program, conic: ConicRows) -> Program:
    return Program.trusted(
        program.P, program.q, program.A, program.l, program.u, program.lb, program.ub, program.r, conic=conic
    )


def _pairs(labels: Labels, squares: Vector) -> Labels:
    """One number for each pair of a label and a square."""
    values, place = np.unique(squares, return_inverse=True)
    return np.asarray(labels * values.size + place, np.int64)


def _n_classes(labels: Labels) -> int:
    return numbered(labels)[1]


def _found(found: Refinement, n: int, m: int, n_conic: int, turned: Indices, settings: LiftSettings) -> Found:
    """The classes of a refinement in which some rows stand twice, the second time turned."""
    columns, labels, scales = found.variables.labels, found.rows.labels, found.row_scales
    own, own_scales = labels[:m].copy(), scales[:m].copy()
    others, other_scales = labels[m + n_conic :], scales[m + n_conic :]
    rests = np.zeros(m, bool)
    # Scales of which the sign is known turn both the same way: only rows without one can meet themselves turned.
    rests[turned] = (own[turned] == others) & (own_scales[turned] * other_scales > 0)
    is_other = others < own[turned]
    own[turned[is_other]], own_scales[turned[is_other]] = others[is_other], -other_scales[is_other]
    symmetry = Symmetry(
        Partition(columns[:n]),  # numbered by smallest member, so the first labels are classes of their own
        Partition.from_labels(own[~rests]),
        own_scales[~rests],
        settings.lift,
        Partition.discrete(0),
        Partition.from_labels(labels[m : m + n_conic]),
        Partition.from_labels(columns[n:]),
        costs_of(found.statistics),
    )
    return Found(symmetry, rows=rests if rests.any() else None)
