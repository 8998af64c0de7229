"""Single passes over conic rows, compiled, and matrices in the other order; the same in NumPy where there is no core.

Like :mod:`relift.program.passes`: what takes NumPy and SciPy a dozen calls is done in one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.program import conic_passes_reference
from relift.program.conic_rows import ConeLayout, ConicRows
from relift.program.other_order import by_rows
from relift.program.passes import MOST_ENTRIES, core, core_for, parts_of
from relift.program.sparse_structure import unchecked
from relift.records import quick


def stacked(A: SparseMatrix, rows: ConicRows) -> SparseMatrix:
    """The rows of A, then conic rows, each with an entry 1 in a column of its cone, which comes last; as CSR.

    Examples
    --------
    >>> from relift.program.cones import SecondOrder
    >>> rows = ConicRows([[5.0], [6.0]], [0.0, 0.0], [SecondOrder(2)])
    >>> stacked(sparse.csc_array([[4.0]]), rows).toarray().tolist()
    [[4.0, 0.0], [5.0, 1.0], [6.0, 1.0]]
    """
    above, below = by_rows(A), by_rows(rows.A)
    compiled = core_for(above, below)
    shape = (A.shape[0] + rows.n_rows, A.shape[1] + len(rows))
    is_narrow = above.nnz + below.nnz + rows.n_rows < 2**31 and max(shape) < 2**31
    if compiled is None or not is_narrow:
        return conic_passes_reference.stacked(above, below, rows.cone_of_row, len(rows))
    parts = parts_of(above, below)
    offsets, indices, values = compiled.stack(
        parts, parts_of(below, above), A.shape[1], rows.cone_of_row, len(rows)
    )  # fmt: skip
    kind = parts[0].dtype
    return unchecked(
        sparse.csr_array, np.frombuffer(values), np.frombuffer(indices, kind), np.frombuffer(offsets, kind), shape
    )


@final
@quick
@dataclass(frozen=True, eq=False)
class ColumnSums:
    """What conic rows b - Cx say about each variable.

    Parameters
    ----------
    natural
        The largest :math:`|b_i| / |c_{ij}|`.
    terms, sums
        The largest :math:`|c_{ij} v_i|`, and the sum of :math:`c_{ij} v_i`; 0 without dual values.
    marks
        1.0 if it is in some row.
    """

    natural: Vector
    terms: Vector
    sums: Vector
    marks: Vector


def column_sums(rows: ConicRows, v: Vector | None) -> ColumnSums:
    """Look at all entries once.

    Parameters
    ----------
    rows
        The conic rows.
    v
        Their dual values, or None.

    Examples
    --------
    >>> from relift.program.cones import SecondOrder
    >>> rows = ConicRows([[5.0, 0.0], [-2.0, 0.0]], [10.0, 0.0], [SecondOrder(2)])
    >>> found = column_sums(rows, np.array([1.0, 4.0]))
    >>> [part.tolist() for part in (found.natural, found.terms, found.sums, found.marks)]
    [[2.0, 0.0], [8.0, 0.0], [-3.0, 0.0], [1.0, 0.0]]
    """
    compiled = core_for(rows.A)
    if compiled is None:
        return ColumnSums(*conic_passes_reference.column_sums(rows, v))
    n = rows.n_variables
    out = (np.empty(n), np.empty(n), np.empty(n), np.empty(n))
    b, duals = np.ascontiguousarray(rows.b), None if v is None else np.ascontiguousarray(v, np.float64)
    compiled.sums_of_columns(parts_of(rows.A), b, duals, out)
    return ColumnSums(*out)


def slack_and_rooms(rows: ConicRows, x: Vector, sizes: Vector, common: float) -> tuple[Vector, Vector]:
    """The vector b - Cx, and what each entry is measured by: the largest product or right-hand side of its row.

    Parameters
    ----------
    rows
        The conic rows.
    x
        A point.
    sizes
        How large its entries count.
    common
        What rows of cones without any product and right-hand side are measured by; others take that of their cone.

    Examples
    --------
    >>> from relift.program.cones import SecondOrder
    >>> rows = ConicRows([[5.0], [0.0]], [10.0, 0.0], [SecondOrder(2)])
    >>> [part.tolist() for part in slack_and_rooms(rows, np.array([3.0]), np.array([3.0]), 1.0)]
    [[-5.0, 0.0], [15.0, 15.0]]
    """
    compiled = core_for(rows.A)
    if compiled is None:
        return conic_passes_reference.slack_and_rooms(rows, x, sizes, common)
    out = (np.empty(rows.n_rows), np.empty(rows.n_rows))
    vectors = tuple(np.ascontiguousarray(vector) for vector in (rows.b, x, sizes, rows.starts))
    compiled.slack_and_rooms(parts_of(rows.A), vectors, common, out)
    return out


def push_heads(heads: Indices, lengths: Indices, room: Vector, s: Vector) -> Vector:
    """How far second-order cones must be pushed, relative to their largest room; their heads are moved in s.

    Parameters
    ----------
    heads, lengths
        The first row of each cone, and how many it has.
    room
        What each entry is measured by.
    s
        The vector; heads are changed.

    Examples
    --------
    >>> s = np.array([4.0, 3.0, 4.0])
    >>> push_heads(np.array([0]), np.array([3]), np.full(3, 2.0), s).tolist(), s.tolist()
    ([0.5], [5.0, 3.0, 4.0])
    """
    if core is None or s.size >= MOST_ENTRIES:
        return conic_passes_reference.push_heads(heads, lengths, room, s)
    push = np.empty(heads.size)
    core.push_heads(np.ascontiguousarray(heads), np.ascontiguousarray(lengths), np.ascontiguousarray(room), s, push)
    return push


def push_exponential(at: Indices, s: Vector, room: Vector, moved: Vector, *, dual: bool) -> Vector:
    """How far exponential cones must be pushed, to six digits and never too little; their rows are moved.

    Parameters
    ----------
    at
        The rows of each cone, one line of three each.
    s, room
        The vector, and by how much each entry may move for a push of 1.
    moved
        The vector again; it is changed.
    dual
        Take the dual cones.

    Examples
    --------
    >>> s = np.array([0.0, -1.0, 2.0])
    >>> push_exponential(np.array([[0, 1, 2]]), s, np.ones(3), s.copy(), dual=False).tolist()
    [1.0]
    """
    if core is None or s.size >= MOST_ENTRIES:
        return conic_passes_reference.push_exponential(at, s, room, moved, dual=dual)
    push = np.empty(at.shape[0])
    rows = np.ascontiguousarray(at)
    core.push_exponential(rows, np.ascontiguousarray(s), np.ascontiguousarray(room), dual, push, moved)
    return push


def push_power(layout: ConeLayout, s: Vector, room: Vector, moved: Vector, *, dual: bool) -> Vector:
    """How far power cones must be pushed, to six digits and never too little; their arguments are moved.

    Parameters
    ----------
    layout
        Where the cones are.
    s, room
        The vector, and by how much each entry may move for a push of 1.
    moved
        The vector again; it is changed.
    dual
        Take the dual cones.

    Examples
    --------
    >>> from relift.program.cones import Power
    >>> s = np.array([1.0, 1.0, -2.0])
    >>> layout = ConicRows(np.zeros((3, 1)), np.zeros(3), [Power(0.5)]).layout
    >>> push_power(layout, s, np.ones(3), s.copy(), dual=False).round(5).tolist()
    [1.0]
    """
    if core is None or s.size >= MOST_ENTRIES:
        return conic_passes_reference.push_power(layout, s, room, moved, dual=dual)
    push = np.empty(layout.power.size)
    cones = (layout.arguments, layout.n_arguments, layout.exponents, layout.products)
    core.push_power(cones, np.ascontiguousarray(s), np.ascontiguousarray(room), dual, push, moved)
    return push


def terms_of_second_order(
    heads: Indices, lengths: Indices, slack: Vector, rooms: Vector, v: Vector, scale: float
) -> tuple[float, float, float] | None:
    """How far slack and dual values are from second-order cones, and their gap; None without the compiled core.

    Parameters
    ----------
    heads, lengths
        The first row of each cone, and how many it has; every row is in one.
    slack, rooms
        The slack, and what each entry is measured by.
    v
        The dual values, measured by themselves or by the scale over the rooms.
    scale
        That of the objective.

    Examples
    --------
    >>> slack, v = np.array([4.0, 3.0, 4.0]), np.array([1.0, 0.0, -1.0])
    >>> terms_of_second_order(np.array([0]), np.array([3]), slack, np.full(3, 2.0), v, 1.0)
    (0.5, 0.0, 1.0)
    """
    if core is None or slack.size >= MOST_ENTRIES:
        return None
    given = (heads, lengths, slack, rooms, v)
    terms: tuple[float, float, float] = core.terms_of_second_order(*map(np.ascontiguousarray, given), scale)
    return terms
