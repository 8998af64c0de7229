"""Examples from outside: scikit-learn checks their numbers, and here the structure of sparse ones is checked first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data as _validate_data

from relift.arrays import Cells, Examples, MatrixLike, is_sparse
from relift.program.sparse_structure import checked_sparse

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


RandomState: TypeAlias = "int | np.random.RandomState | None"
"""A seed, a generator, or None, as scikit-learn takes it."""

ClassWeight: TypeAlias = "Mapping[Any, float] | Literal['balanced'] | None"
"""Weights by label, or the word for weights that make up for the numbers of examples."""


@overload
def validate_data(estimator: BaseEstimator, X: MatrixLike, **words: object) -> Examples: ...
@overload
def validate_data(
    estimator: BaseEstimator, X: MatrixLike, y: ArrayLike | None, **words: object
) -> tuple[Examples, Cells]: ...
def validate_data(
    estimator: BaseEstimator, X: MatrixLike, *rest: object, **words: object
) -> Examples | tuple[Examples, Cells]:
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
    if is_sparse(X) and len(X.shape) == 2:
        checked_sparse("X", X)
    found: Examples | tuple[Examples, Cells] = _validate_data(estimator, X, *rest, **words)
    return found
