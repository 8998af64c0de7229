r"""What factorisations of a quadratic program will cost: entries and operations of the factor, counted beforehand.

Interior point methods factor the matrix

.. math:: \begin{pmatrix} P + D & A^\top \\ A & -E \end{pmatrix}

with other diagonals D and E in each of their 10 to 30 iterations, ADMM (OSQP) factors it once or a few times and solves
with the factor in each of its hundreds of iterations. The structure of the factor is the same. It is counted by
eliminating the nodes of the graph by minimum degree, which costs a small part of one factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.program.program import Program

try:
    from relift import _core as core

    CORE_IS_COMPILED = True
except ImportError:  # pragma: no cover - depends on the install
    CORE_IS_COMPILED = False


EFFORT = 120.0
"""Entries are looked at so often on average where it is worth while; what is left then is taken for one dense block."""


@final
@dataclass(frozen=True)
class Fill:
    """What a factorisation costs.

    Parameters
    ----------
    entries
        Of the factor, below its diagonal.
    operations
        The sum of the squares of the lengths of its columns.
    is_whole
        Whether all of it was counted; otherwise the numbers are bounds, which the factor does not exceed.
    """

    entries: float
    operations: float
    is_whole: bool = True


def predicted_fill(program: Program, effort: float = EFFORT) -> Fill | None:
    """Count the factor of the optimality conditions of a program, or bound it where that takes long.

    None if nothing is compiled.

    Parameters
    ----------
    program
        A linear or quadratic program.
    effort
        How often each entry may be looked at, on average, before the rest is taken for dense.

    Examples
    --------
    >>> chain = Program(P=2 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1), q=np.zeros(4))
    >>> predicted_fill(chain)
    Fill(entries=3.0, operations=3.0, is_whole=True)
    """
    if not CORE_IS_COMPILED:
        return None
    n, m = program.n_variables, program.n_rows
    A = program.A.tocoo()
    rows, columns = A.coords
    pairs = [(rows + n, columns), (columns, rows + n)]
    if program.P is not None:
        P = program.P.tocoo()
        i, j = P.coords
        off = i != j
        pairs.append((i[off], j[off]))
    first, second = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    graph = sparse.csr_array((np.ones(first.size, np.int8), (first, second)), shape=(n + m, n + m))
    most = effort * (graph.nnz + n + m)
    return Fill(*core.predicted_fill(graph.indptr, graph.indices.astype(np.int32), most))
