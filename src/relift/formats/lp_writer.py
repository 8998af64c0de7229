"""A program to the text of a file in LP format; :mod:`relift.formats.lp_reader` is the inverse.

A row with two sides, ``1 <= x + y <= 2``, is written as two rows, ``name.lower`` and ``name.upper``: not every reader
takes it as one (HiGHS does not).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy import sparse

from relift.formats.mps_writer import decimal
from relift.formats.names import FileNames
from relift.program.program import Program


def lp_lines(program: Program, names: FileNames) -> Iterator[str]:
    r"""Write the lines of a file in LP format.

    Examples
    --------
    >>> from relift.formats.names import names_for_lp
    >>> program = Program(P=[[2, 1], [1, 2]], q=[1, 0], A=[[1, -3]], u=[2], lb=[0, -1], r=5)
    >>> print(*lp_lines(program, names_for_lp(program)), sep="")
    minimize
     objective: + 1 x0 + 0 x1
     + [ + 2 x0 ^ 2 + 2 x0 * x1 + 2 x1 ^ 2 ] / 2
     + 5
    subject to
     c0: + 1 x0 - 3 x1 <= 2
    bounds
     -1 <= x1 <= inf
    end
    """
    yield from (f"\\ {note}\n" for note in names.comments)
    yield "maximize\n" if program.sense == "max" else "minimize\n"
    yield f" {names.objective}: " + _terms(program.q.tolist(), names.variables) + "\n"
    if program.P is not None:
        yield " + [ " + _quadratic_terms(program, names) + " ] / 2\n"
    if program.r != 0:
        yield f" {_signed(program.r)}\n"
    yield "subject to\n"
    A = program.A.tocsr()
    for i, name in enumerate(names.rows):
        part = slice(A.indptr[i], A.indptr[i + 1])
        values, columns = A.data[part].tolist(), A.indices[part].tolist()
        # A row without entries still needs a term.
        left = _terms(values, [names.variables[j] for j in columns]) if columns else f"+ 0 {names.variables[0]}"
        l, u = float(program.l[i]), float(program.u[i])
        if l == u:
            yield f" {name}: {left} = {decimal(l)}\n"
        elif np.isfinite(l) and np.isfinite(u):
            yield f" {name}.lower: {left} >= {decimal(l)}\n"
            yield f" {name}.upper: {left} <= {decimal(u)}\n"
        elif np.isfinite(u):
            yield f" {name}: {left} <= {decimal(u)}\n"
        else:
            yield f" {name}: {left} >= {decimal(l) if np.isfinite(l) else '-1e30'}\n"
    yield "bounds\n"
    for name, low, high in zip(names.variables, program.lb.tolist(), program.ub.tolist(), strict=True):
        if low == high:
            yield f" {name} = {decimal(low)}\n"
        elif np.isinf(low) and np.isinf(high):
            yield f" {name} free\n"
        elif low != 0 or np.isfinite(high):
            yield f" {decimal(low)} <= {name} <= {decimal(high)}\n"
    yield "end\n"


def _signed(value: float) -> str:
    return f"- {decimal(-value)}" if value < 0 else f"+ {decimal(value + 0.0)}"


def _terms(values: list[float], names: Iterable[str]) -> str:
    terms = [f"{_signed(value)} {name}" for value, name in zip(values, names, strict=True)]
    return "\n  ".join(" ".join(terms[k : k + 8]) for k in range(0, len(terms), 8))


def _quadratic_terms(program: Program, names: FileNames) -> str:
    P = sparse.tril(program.P).tocoo()
    terms = []
    for i, j, value in zip(P.coords[0].tolist(), P.coords[1].tolist(), P.data.tolist(), strict=True):
        first, second = names.variables[j], names.variables[i]
        terms.append(f"{_signed(value)} {first} ^ 2" if i == j else f"{_signed(2 * value)} {first} * {second}")
    return "\n  ".join(" ".join(terms[k : k + 6]) for k in range(0, len(terms), 6))
