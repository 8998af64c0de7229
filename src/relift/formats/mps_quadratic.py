"""Quadratic constraints in MPS files: the sections ``QCMATRIX row`` of CPLEX, Gurobi and Mosek.

A row of type L (or G) with such a section reads ``a'x + x'Qx <= b``. Q is listed with both triangles, and without
the factor ½ that the objective has; so ½x'Px + q'x <= r is written with Q = P / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.formats.names import FileNames
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows

SECTION = "QCMATRIX"


@final
@dataclass
class CurvedRow:
    """The entries of one section while it is read, with the lines that they came from."""

    line: int
    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def fault(self) -> tuple[int, str] | None:
        """The line and what is wrong with it: Q must be finite and symmetric, each entry given once."""
        seen: dict[tuple[int, int], float] = {}
        for i, j, value, line in zip(self.first, self.second, self.values, self.lines, strict=True):
            if not np.isfinite(value):
                return line, f"the coefficient is {value}. It must be a finite number."
            if (i, j) in seen:
                return line, f"the entry of {SECTION} is given twice."
            seen[i, j] = value
        for (i, j), value in seen.items():
            if seen.get((j, i)) != value:
                return self.line, f"this {SECTION} is not symmetric; both triangles are listed."
        return None


def parted(
    A: SparseMatrix, l: Vector, u: Vector, curved: Mapping[int, CurvedRow]
) -> tuple[SparseMatrix, Vector, Vector, QuadraticRows, list[int]]:
    """Rows with sections taken out of the others: A, l, u, the quadratic constraints, and the rows that are left."""
    m, n = A.shape
    left = [i for i in range(m) if i not in curved]
    numbers = [i for i in sorted(curved) if np.isfinite(u[i]) or np.isfinite(l[i])]  # without a side: nothing to keep
    if not numbers:
        return A.tocsr()[left].tocsc(), l[left], u[left], QuadraticRows.none(n), left
    is_upper = np.isfinite(u[numbers])
    sign = np.where(is_upper, 1.0, -1.0)  # a'x + x'Qx >= b is the other way round
    owner = np.concatenate([np.full(len(curved[i].values), k) for k, i in enumerate(numbers)]).astype(np.int64)
    first, second = (
        np.concatenate([np.asarray(part, np.int64) for part in parts])
        for parts in ([curved[i].first for i in numbers], [curved[i].second for i in numbers])
    )
    values = np.concatenate([2.0 * s * np.asarray(curved[i].values) for i, s in zip(numbers, sign, strict=True)])
    rows = A.tocsr()
    q = (sparse.diags_array(sign) @ rows[numbers]).tocsr()
    r = np.where(is_upper, u[numbers], -l[numbers])
    return rows[left].tocsc(), l[left], u[left], QuadraticRows(owner, first, second, values, q, r), left


def names_of_curved_rows(program: Program, names: FileNames) -> list[str]:
    """A name for each quadratic constraint that no row has."""
    taken = {*names.rows, names.objective}
    prefix = "qc"
    while any(f"{prefix}{k}" in taken for k in range(len(program.quadratic))):
        prefix += "_"
    return [f"{prefix}{k}" for k in range(len(program.quadratic))]


def section_lines(
    quadratic: QuadraticRows, rows: Sequence[str], variables: Sequence[str], decimal: Callable[[float], str]
) -> Iterator[str]:
    """The sections of all quadratic constraints."""
    order = np.lexsort((quadratic.second, quadratic.first, quadratic.owner))
    ends = np.searchsorted(quadratic.owner[order], np.arange(len(rows) + 1))
    for k, row in enumerate(rows):
        yield f"{SECTION} {row}\n"  # also for one without entries, or it would come back as a linear row
        for e in order[ends[k] : ends[k + 1]].tolist():
            one, other = variables[int(quadratic.first[e])], variables[int(quadratic.second[e])]
            yield f" {one} {other} {decimal(quadratic.values[e] / 2)}\n"
