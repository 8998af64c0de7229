"""What is left after the passes of presolve: of rows that are multiples one stays; matrices are cut at the end."""

from __future__ import annotations

import numpy as np

from relift.arrays import FieldElements, Flags, Indices, SparseMatrix, Vector
from relift.lifting.duplicate_rows import ROUNDING, Duplicates, find_duplicates
from relift.lifting.reduction import Reduction, trivial_reduction
from relift.lifting.substitution import Substitution
from relift.lifting.tightest_bounds import NO_ROW, BoundingRows, BoundsOfRows, ExactSides, ScaledBounds
from relift.program.equal_numbers import some_of
from relift.program.index_sets import constant, numbered_among, taken, where
from relift.program.passes import product, scan_rows, submatrix
from relift.program.program import Program
from relift.symmetry import finite_field as exact
from relift.symmetry.exact_vectors import VectorImages


def finish(work: Substitution) -> Reduction:
    """Merge rows that are multiples of each other, and cut what is left out of matrices and vectors."""
    program, A = work.program, work.program.A
    variables, rows = where(work.variable_alive), where(work.row_alive)
    # Those of the earlier program if they are equal, here and below: then all that is made of them is found without
    # comparing.
    variables = work.cuts.made("variables", A, None, variables, lambda: variables)
    (duplicates, have_entries, are_apart), cut = _duplicates(work, rows, variables)
    factor = constant(1.0, program.n_rows)
    lower_row = upper_row = rows
    if duplicates is not None and duplicates.member.size:
        n_before, cut = rows.size, None
        rows, lower_row, upper_row, factor, differ = _merge(work, duplicates)
        are_apart = are_apart and (differ or rows.size == n_before - duplicates.member.size)
    if not work.has_changed and rows.size == program.n_rows:
        work.cuts.close()
        return trivial_reduction(
            program, work.images, work.scan, work.cuts, rows_are_apart=are_apart, rows_have_entries=have_entries
        )
    work.change()
    found = rows
    rows = work.cuts.made("rows", A, found, None, lambda: found)
    lower_row, upper_row = (rows if of is found else of for of in (lower_row, upper_row))
    if rows.size < program.n_rows or variables.size < program.n_variables:
        made = cut
        A = work.cuts.made(
            "A", A, *_some(work, rows, variables),
            lambda: submatrix(program.A, rows, variables, shares_values=True) if made is None else made,
        )  # fmt: skip
    P = program.P
    if P is not None and variables.size < program.n_variables:
        whole = P
        P = work.cuts.made("P", whole, variables, variables, lambda: submatrix(whole, variables, variables))
        P = None if P.nnz == 0 else P
    linear, quadratic = _constant(work, variables) if work.fixed else (0.0, 0.0)
    q, lb, ub = (_part(work, name, variables, program.n_variables) for name in ("q", "lb", "ub"))
    l = _part(work, "l", rows, program.n_rows)
    is_one = work.u is work.l and work.u_image is work.l_image
    u = l if is_one else _part(work, "u", rows, program.n_rows)
    none = constant(NO_ROW, program.n_variables)
    lower, upper = (none if source is None else source for source in (work.lower_source, work.upper_source))
    work.cuts.close()
    reduced = Program.trusted(
        P, q[0], A, l[0], u[0], lb[0], ub[0], program.r + linear + quadratic,
        quadratic=program.quadratic.on_variables(variables), conic=program.conic.on_variables(variables, work.b),
    )  # fmt: skip
    images = VectorImages(q[1], l[1], u[1], lb[1], ub[1], work.b_image)
    return Reduction(
        program, reduced, images, variables, rows, lower, upper, *work.entries_of_sources(),
        tuple(work.fixed), lower_row, upper_row, factor, work.scan, work.cuts, work.q is not program.q, quadratic,
        are_apart, have_entries, work.are_given,
    )  # fmt: skip


def _part(work: Substitution, name: str, kept: Indices, size: int) -> tuple[Vector, FieldElements]:
    """What is left of one of the vectors, floats and exact; the vector itself where all is kept."""
    vector, image = getattr(work, name), getattr(work, f"{name}_image")
    if kept.size == size:
        return vector, image

    def make() -> tuple[Vector, FieldElements]:
        return some_of(vector, kept), taken(image, kept)

    if name in work.own:  # it was made for this program, so that no other one can have the same
        return make()
    # Images are taken over from the earlier program where the floats are equal, and only there.
    return work.cuts.made(f"part of {name}", work.program.A, None, kept, make, objects=(image,))


def _values(work: Substitution) -> Vector:
    """The value of each substituted variable, 0 elsewhere."""
    values = np.zeros(work.program.n_variables)
    for step in work.fixed:
        values[step.indices] = step.values
    return values


def _constant(work: Substitution, variables: Indices) -> tuple[float, float]:
    """The linear and the quadratic part of the objective where others than substituted variables are 0."""
    program = work.program

    def make() -> tuple[float, float]:
        values = _values(work)
        curvature = 0.0 if program.P is None else 0.5 * float(values @ product(program.P, values))
        return float(program.q @ values), curvature

    objects = (program.q, program.P, *work.shifts)
    return work.cuts.made("constant", program.A, None, variables, make, objects=objects)


def _some(work: Substitution, rows: Indices, variables: Indices) -> tuple[Indices | None, Indices | None]:
    """The same rows and variables; None where they are all."""
    program = work.program
    return (
        None if rows.size == program.n_rows else rows,
        None if variables.size == program.n_variables else variables,
    )


def _duplicates(
    work: Substitution, rows: Indices, variables: Indices
) -> tuple[tuple[Duplicates | None, bool, bool], SparseMatrix | None]:
    """Multiples among the rows that are left, and the matrix that is left if it was made.

    With the multiples comes whether all rows have entries; and whether at most one has none, and there are no multiples
    once these are merged.
    """
    A, cut = work.program.A, None
    # Where variables were substituted, or rows of one entry stay, others than those of the scan may be multiples.
    is_scanned = variables.size == work.program.n_variables and not np.any(work.row_alive & (work.counts == 1))

    def look() -> tuple[Duplicates | None, bool, bool]:
        nonlocal cut
        if is_scanned:
            alike = work.scan.alike
            alike = alike if rows.size == A.shape[0] else alike.compress(work.row_alive[alike])
            found = find_duplicates(A, work.reading, alike)
            n_empty = int(np.count_nonzero(work.row_alive & (work.counts == 0)))
        else:
            cut = submatrix(A, rows, variables, shares_values=True)
            counts, alike = scan_rows(cut)
            found = find_duplicates(cut, work.reading, alike)
            found = None if found is None else found.of(rows)
            n_empty = counts.size - int(np.count_nonzero(counts))
        return found, n_empty == 0, n_empty < 2 and (found is None or found.is_complete)

    name = f"duplicates, {work.reading}, {'of the scan' if is_scanned else 'of the rest'}"
    # Of the rows flags are enough to know them again: all others are held by those who need them.
    alive = None if rows.size == A.shape[0] else np.packbits(work.row_alive)
    return work.cuts.made(name, A, alive, _some(work, rows, variables)[1], look), cut


def _merge(work: Substitution, duplicates: Duplicates) -> tuple[Indices, Indices, Indices, Vector, bool]:
    """Give the first of each group of multiples the tightest bounds of the group.

    Returns the rows that stay, those that their lower and their upper bounds came from, of which multiple of the row
    that stands for it each row is, and whether multiples that stay differ in their bounds.
    """
    i, ratio = duplicates.member, duplicates.ratio
    sides = ExactSides(work.l, work.u, work.l_image, work.u_image)
    # A group that leaves no value is kept as it is, the solver will prove it.
    found = BoundsOfRows.of(BoundingRows(i, duplicates.leader, ratio, duplicates.ratio_image), sides, sides)
    merged, heads = found.is_kept, found.targets
    differ = bool(merged.all()) or _differ(sides, duplicates, ~merged)
    work.row_alive[i[merged]] = False
    stays = where(work.row_alive)
    sources = [stays, stays]
    for place, (name, side) in enumerate((("l", found.lower), ("u", found.upper))):
        if not side.are_own:
            work.make_own(name)
            getattr(work, name)[heads], getattr(work, f"{name}_image")[heads] = side.values, side.images
        won = side.sources != NO_ROW
        if won.any():
            sources[place] = stays.copy()
            sources[place][np.searchsorted(stays, heads[won])] = side.sources[won]
    factor = constant(1.0, work.program.n_rows)
    if np.any(ratio[merged] != 1.0):
        factor = np.ones(factor.size)
        factor[i[merged]] = ratio[merged]
    return stays, sources[0], sources[1], factor, differ


def _differ(sides: ExactSides, duplicates: Duplicates, apart: Flags) -> bool:
    """Whether no two rows of a group that stays as it is have the same bounds, divided by the factors of the rows.

    What differs by rounding alone is the same, as it is where bounds are read as proportional.
    """
    i, ratio = duplicates.member[apart], duplicates.ratio[apart]
    heads, group = numbered_among(duplicates.leader[apart], sides.low.size)
    inverse = exact.inverse(duplicates.ratio_image[apart])
    bounds = ScaledBounds.of(sides.low[i], sides.high[i], sides.low_image[i], sides.high_image[i], ratio, inverse)
    group = np.concatenate([np.arange(heads.size), group])
    low = _runs(group, np.concatenate([sides.low[heads], bounds.low]))
    high = _runs(group, np.concatenate([sides.high[heads], bounds.high]))
    pairs = np.sort(low * group.size + high)  # each a number of its own
    return not np.any(pairs[1:] == pairs[:-1])


def _runs(groups: Indices, values: Vector) -> Indices:
    """The run of each value: those of a group that follow each other with gaps no larger than by rounding."""
    order = np.lexsort((values, groups))
    groups, values = groups[order], values[order]
    finite = np.isfinite(values)
    gaps = np.diff(np.where(finite, values, 0.0))
    is_near = (gaps <= ROUNDING * np.abs(np.where(finite, values, 0.0))[1:]) & finite[1:] & finite[:-1]
    is_same = (is_near | (values[1:] == values[:-1])) & (groups[1:] == groups[:-1])
    runs = np.empty(values.size, np.int64)
    runs[order] = np.concatenate([[0], np.cumsum(~is_same)])
    return runs
