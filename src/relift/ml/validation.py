"""Examples from outside: scikit-learn checks their numbers, and here the structure of sparse ones is checked first."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.utils.validation import validate_data as _validate_data

from relift.program.sparse_structure import checked_sparse


def validate_data(estimator: Any, X: Any, *rest: Any, **words: Any) -> Any:
    """As :func:`sklearn.utils.validation.validate_data`, which believes the indices of a sparse matrix.

    Parameters
    ----------
    estimator
        The estimator.
    X
        The examples, one in each row.
    *rest
        The labels.
    **words
        What else scikit-learn takes.

    Raises
    ------
    ShapeError
        If an index of X lies outside of it, or its parts do not fit together. It is a ValueError.
    """
    if sparse.issparse(X) and X.ndim == 2:
        checked_sparse("X", X)
    return _validate_data(estimator, X, *rest, **words)
