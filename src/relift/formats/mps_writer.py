"""A program to the text of an MPS file.

Every number is printed as the shortest decimal that reads back to the same float, so symmetry survives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from relift.arrays import Vector
from relift.formats.mps_quadratic import names_of_curved_rows, section_lines
from relift.formats.names import FileNames
from relift.program.program import Program


def mps_lines(program: Program, names: FileNames) -> Iterator[str]:
    """Write the lines of a free-format MPS file, with ``QUADOBJ`` for P and ``QCMATRIX`` for quadratic constraints.

    Examples
    --------
    >>> from relift.formats.names import names_for_mps
    >>> program = Program(q=[1, 0], A=[[1, 3]], l=[1], u=[2], lb=[0, -1], r=5)
    >>> print(*mps_lines(program, names_for_mps(program)), sep="")
    NAME relift
    ROWS
     N objective
     G c0
    COLUMNS
     x0 objective 1 c0 1
     x1 c0 3
    RHS
     RHS objective -5
     RHS c0 1
    RANGES
     RANGES c0 1
    BOUNDS
     LO BOUNDS x1 -1
    ENDATA
    """
    yield from (f"* {note}\n" for note in names.comments)
    yield "NAME relift\n"
    if program.sense == "max":
        yield "OBJSENSE\n    MAX\n"
    kinds = [_row_kind(l, u) for l, u in zip(program.l.tolist(), program.u.tolist(), strict=True)]
    yield f"ROWS\n N {names.objective}\n"
    yield from (f" {kind} {name}\n" for (kind, _, _), name in zip(kinds, names.rows, strict=True))
    curved = names_of_curved_rows(program, names)
    yield from (f" L {name}\n" for name in curved)
    yield "COLUMNS\n"
    yield from _column_lines(program, names, curved)
    yield "RHS\n"
    if program.r != 0:
        yield f" RHS {names.objective} {decimal(-program.r)}\n"
    yield from (
        f" RHS {name} {decimal(right)}\n" for (_, right, _), name in zip(kinds, names.rows, strict=True) if right != 0
    )
    rights = zip(program.quadratic.r.tolist(), curved, strict=True)
    yield from (f" RHS {name} {decimal(right)}\n" for right, name in rights if right != 0)
    if any(width is not None for _, _, width in kinds):
        yield "RANGES\n"
        for (_, _, width), name in zip(kinds, names.rows, strict=True):
            if width is not None:
                yield f" RANGES {name} {decimal(width)}\n"
    yield "BOUNDS\n"
    for name, low, high in zip(names.variables, program.lb.tolist(), program.ub.tolist(), strict=True):
        yield from (f" {kind} BOUNDS {name}{number}\n" for kind, number in _bounds(low, high))
    if program.P is not None:
        yield "QUADOBJ\n"
        P = sparse.tril(program.P).tocsc()
        for j, name in enumerate(names.variables):
            for k in range(P.indptr[j], P.indptr[j + 1]):
                yield f" {name} {names.variables[P.indices[k]]} {decimal(P.data[k])}\n"
    yield from section_lines(program.quadratic, curved, names.variables, decimal)
    yield "ENDATA\n"


def _column_lines(program: Program, names: FileNames, curved: list[str]) -> Iterator[str]:
    A = sparse.vstack([program.A, program.quadratic.q]).tocsc() if curved else program.A.tocsc()
    row_names = [*names.rows, *curved]
    starts, rows, words, q = A.indptr.tolist(), A.indices.tolist(), decimals(A.data), program.q.tolist()
    for j, name in enumerate(names.variables):
        cells = [f"{row_names[rows[k]]} {words[k]}" for k in range(starts[j], starts[j + 1])]
        if q[j] != 0 or not cells:
            cells.insert(0, f"{names.objective} {decimal(q[j])}")
        for k in range(0, len(cells), 2):
            yield f" {name} {' '.join(cells[k : k + 2])}\n"


def _row_kind(l: float, u: float) -> tuple[str, float, float | None]:
    """Find type, right-hand side, range of a row; a free row becomes ``>= -1e30``, which means no bound."""
    if l == u:
        return "E", l, None
    if math.isinf(l):
        return ("G", -1e30, None) if math.isinf(u) else ("L", u, None)
    if math.isinf(u):
        return "G", l, None
    # Readers find the other end by an addition: take a width that gives it back exactly, if there is one.
    widths = (u - l, math.nextafter(u - l, math.inf), math.nextafter(u - l, 0.0))
    for width in widths:
        if l + width == u:
            return "G", l, width
    for width in widths:
        if u - width == l:
            return "L", u, width
    return "G", l, u - l


def count_rounded_ranges(program: Program) -> int:
    """How many rows with two sides read back with one of them changed, since no width of a range gives it exactly.

    Examples
    --------
    >>> count_rounded_ranges(Program(A=[[1], [1]], l=[-2.7, 0], u=[3.3000000000000003, 1]))
    1
    """
    two_sided = np.isfinite(program.l) & np.isfinite(program.u) & (program.l != program.u)
    n_rounded = 0
    for l, u in zip(program.l[two_sided].tolist(), program.u[two_sided].tolist(), strict=True):
        kind, right, width = _row_kind(l, u)
        n_rounded += width is not None and (right + width != u if kind == "G" else right - width != l)
    return n_rounded


def _bounds(low: float, high: float) -> Iterator[tuple[str, str]]:
    if low == high:
        yield "FX", f" {decimal(low)}"
    elif math.isinf(low) and math.isinf(high):
        yield "FR", ""
    else:
        if math.isinf(low):
            yield "MI", ""
        elif low != 0:
            yield "LO", f" {decimal(low)}"
        if not math.isinf(high):
            yield "UP", f" {decimal(high)}"


def decimal(value: float) -> str:
    """Write the shortest decimal that reads back as the same float.

    Examples
    --------
    >>> decimal(0.1), decimal(3.0), decimal(1e30)
    ('0.1', '3', '1e+30')
    """
    text = repr(float(value))
    return text.removesuffix(".0")


def decimals(values: Vector) -> list[str]:
    """The shortest decimals of many numbers, each distinct one written once."""
    distinct, places = np.unique(values, return_inverse=True)
    words = [decimal(value) for value in distinct.tolist()]
    return [words[k] for k in places.ravel().tolist()]
