"""The model that a ``highspy.Highs`` holds, as a program.

HiGHS keeps ``½x'Qx + c'x + offset`` with rows and bounds of two sides, which is the form of
:class:`~relift.program.program.Program`; only the storage differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from relift.arrays import Integers, SparseMatrix, Vector
from relift.errors import NotAProgramError
from relift.program.other_models import with_article
from relift.program.program import Program

if TYPE_CHECKING:
    from highspy import Highs, HighsSparseMatrix, HighsVarType


def program_from_highs(highs: Highs) -> Program:
    """Make the program of the model that a ``highspy.Highs`` holds; whether columns are integer makes no difference.

    Parameters
    ----------
    highs
        A ``highspy.Highs``.

    Raises
    ------
    ProgramError
        If the numbers make no convex program; a BoundsError if a lower bound lies above its upper bound.
    NotAProgramError
        If it is not a ``highspy.Highs``.

    Examples
    --------
    >>> import highspy
    >>> h = highspy.Highs()
    >>> h.silent()
    >>> x, y = h.addVariable(ub=4), h.addVariable(ub=4)
    >>> _ = h.addConstr(x + y <= 5)
    >>> _ = h.setObjective(x + 2 * y, highspy.ObjSense.kMaximize)
    >>> program_from_highs(h)
    Program(LP, max, 2 variables, 1 rows, 2 nonzeros)
    """
    check_is_highs(highs)
    lp = highs.getLp()
    n, m = int(lp.num_col_), int(lp.num_row_)
    return Program(
        _hessian(highs, n),
        _floats(lp.col_cost_),
        _matrix(lp.a_matrix_, m, n),
        _floats(lp.row_lower_),
        _floats(lp.row_upper_),
        _floats(lp.col_lower_),
        _floats(lp.col_upper_),
        float(lp.offset_),
        sense="max" if lp.sense_.name == "kMaximize" else "min",
        variable_names=_names(lp.col_names_, n),
        row_names=_names(lp.row_names_, m),
    )


def check_is_highs(highs: Highs) -> None:
    """Refuse what is not a ``highspy.Highs``.

    Examples
    --------
    >>> check_is_highs("model.mps")
    Traceback (most recent call last):
    relift.errors.NotAProgramError: relift.highs.solve takes a highspy.Highs; got a str. ...
    """
    import highspy

    if not isinstance(highs, highspy.Highs):
        raise NotAProgramError(
            f"relift.highs.solve takes a highspy.Highs; got {with_article(type(highs).__name__)}.",
            "A relift.Program is solved by relift.solve; a model file is read by relift.read_program.",
        )


def discrete_columns(highs: Highs) -> NDArray[np.int64]:
    """Numbers of the columns that are not continuous: integer, semi-continuous or semi-integer."""
    import highspy

    kinds: Sequence[HighsVarType] = highs.getLp().integrality_
    continuous = highspy.HighsVarType.kContinuous
    if set(kinds) <= {continuous}:  # ten times as quick as to look at each
        return np.zeros(0, dtype=np.int64)
    return np.array([j for j, kind in enumerate(kinds) if kind != continuous], dtype=np.int64)


def name_of_column(highs: Highs, j: int) -> str:
    """The name of a column, ``x[j]`` if it has none."""
    names = highs.getLp().col_names_
    return str(names[j]) if j < len(names) and names[j] else f"x[{j}]"


def _floats(values: ArrayLike) -> NDArray[np.float64]:
    """A copy: highspy shows its own memory, which is gone or changed later."""
    return np.array(values, dtype=np.float64)


def _matrix(held: HighsSparseMatrix, m: int, n: int) -> SparseMatrix:
    parts = (np.array(held.value_, np.float64), np.array(held.index_, np.int32), np.array(held.start_, np.int32))
    if held.format_.name == "kColwise":
        matrix: SparseMatrix = sparse.csc_array(_complete(parts, n), shape=(m, n))
    else:
        matrix = sparse.csr_array(_complete(parts, m), shape=(m, n))
    return matrix


def _complete(parts: tuple[Vector, Integers, Integers], size: int) -> tuple[Vector, Integers, Integers]:
    """An empty matrix may come without its starts."""
    values, indices, starts = parts
    if starts.size == size + 1:
        return parts
    return values, indices, np.append(starts[:size], np.full(size + 1 - starts[:size].size, values.size, np.int32))


def _hessian(highs: Highs, n: int) -> SparseMatrix | None:
    if highs.getHessianNumNz() == 0:
        return None
    held = highs.getModel().hessian_
    size = int(held.dim_)
    parts = (np.array(held.value_, np.float64), np.array(held.index_, np.int32), np.array(held.start_, np.int32))
    half: SparseMatrix = sparse.csc_array(_complete(parts, size), shape=(size, size))
    if size < n:  # columns were added after the Hessian
        half = sparse.csc_array(sparse.block_diag([half, sparse.csc_array((n - size, n - size))]))
    if held.format_.name == "kTriangular":
        half = sparse.csc_array(half + sparse.tril(half, k=-1).T)
    return half


def _names(names: Sequence[str], size: int) -> list[str] | None:
    return list(names) if len(names) == size and size and all(names) else None
