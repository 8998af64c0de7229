r"""The quotient by GROUP BY: what leaves the engine is as large as the small program, and no larger.

.. math:: \hat P = S^\top P S,\quad \hat q = S^\top q,\quad \hat A_r = (A S)_r

As in :mod:`relift.lifting.quotient`, from the smallest member of each class alone. Equal values are counted in the
engine and multiplied here, and their sums are rounded once; so an entry is the float nearest to the exact sum of
floats.
"""

from __future__ import annotations

from fractions import Fraction
from math import fsum

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.in_database.program_tables import EngineProgram
from relift.in_database.verify import LabelledClasses
from relift.lifting.quotient import CANCELLED
from relift.program.program import Program
from relift.tables.algebra import Aggregate, Column, Join, Plan, Project, literal, project
from relift.tables.engine import Arrays


def quotient_from_tables(program: EngineProgram, rows: LabelledClasses, columns: LabelledClasses) -> Program:
    """Fetch the small program of a pair of equitable classes."""
    engine = program.engine
    column_leaders = Project(columns.leaders, {c: Column(s) for c, s in _AS_COLUMN.items()})
    row_leaders = Project(rows.leaders, {"row": Column("leader"), "label": Column("label")})
    fetched = engine.fetch(project(Join(program.columns, column_leaders), "label", "size", "q", "lb", "ub"))
    order = np.argsort(fetched["label"])
    q, lb, ub, sizes = (fetched[c][order] for c in ("q", "lb", "ub", "size"))
    fetched = engine.fetch(project(Join(program.rows, row_leaders), "label", "l", "u"))
    order = np.argsort(fetched["label"])
    l, u = fetched["l"][order], fetched["u"][order]
    of_column = Project(columns.labels, {"column": Column("id"), "class": Column("label")})
    of_leaders = Join(program.nonzeros, row_leaders)
    A = _matrix(engine.fetch(_counted(Join(of_leaders, of_column))), (rows.n_classes, columns.n_classes))
    P = None
    if program.quadratic_nonzeros is not None:
        second = Project(columns.leaders, {"second": Column("leader"), "class": Column("label")})
        first = Project(columns.labels, {"first": Column("id"), "label": Column("label")})
        found = engine.fetch(_counted(Join(Join(program.quadratic_nonzeros, second), first)))
        P = _matrix(found, (columns.n_classes, columns.n_classes), sizes)
        P = None if P.nnz == 0 else _symmetric(P)
    return Program.trusted(P, q * sizes, A, l, u, lb, ub, program.r)


_AS_COLUMN = {"column": "leader", "label": "label", "size": "size"}


def _counted(entries: Plan) -> Plan:
    return Aggregate(
        project(entries, "label", "class", "value"), ("label", "class", "value"), {"n": ("count", literal(1))}
    )


def _matrix(found: Arrays, shape: tuple[int, int], column_sizes: Indices | None = None) -> SparseMatrix:
    """The sums of equal places, each rounded once, without those that cancelled to rounding."""
    label, column, value, n = found["label"], found["class"], found["value"], found["n"].astype(np.float64)
    if column_sizes is not None:
        n = n * column_sizes[column]
    order = np.lexsort((value, label, column))
    label, column, value, n = label[order], column[order], value[order], n[order]
    begins = np.flatnonzero(np.r_[True, (np.diff(label) != 0) | (np.diff(column) != 0)]) if label.size else label
    ends = np.append(begins[1:], label.size)
    products = value * n
    data = products[begins] if label.size else products
    for k in np.flatnonzero(ends - begins > 1):
        part = slice(begins[k], ends[k])
        data[k] = _sum(value[part], n[part])
        if abs(data[k]) <= CANCELLED * np.abs(products[part]).sum():
            data[k] = 0.0
    matrix: SparseMatrix = sparse.coo_array((data, (label[begins], column[begins])), shape=shape).tocsc()
    matrix.eliminate_zeros()
    return matrix


def _sum(values: Vector, counts: Vector) -> float:
    """The sum of counts times values, rounded once."""
    if values.size <= 16:
        return float(sum(Fraction(v) * Fraction(c) for v, c in zip(values.tolist(), counts.tolist(), strict=True)))
    return fsum((values * counts).tolist())


def _symmetric(P: SparseMatrix) -> SparseMatrix:
    symmetric = ((P + P.T) * 0.5).tocsc()
    symmetric.sort_indices()
    return symmetric
