"""How large the entries of a matrix are, by row or by column: what a sum of products is to be compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def largest_of_rows(matrix: Any) -> NDArray[np.float64]:
    """The largest absolute entry of each row of a sparse matrix, 0 where there is none.

    Examples
    --------
    >>> from scipy import sparse
    >>> largest_of_rows(sparse.csc_array([[1.0, -3.0], [0.0, 0.0]])).tolist()
    [3.0, 0.0]
    """
    entries = matrix.tocoo()
    largest = np.zeros(matrix.shape[0])
    np.maximum.at(largest, entries.coords[0], np.abs(entries.data))
    return largest


def largest_of_columns(matrix: Any) -> NDArray[np.float64]:
    """The largest absolute entry of each column of a sparse matrix, 0 where there is none."""
    return largest_of_rows(matrix.T)
