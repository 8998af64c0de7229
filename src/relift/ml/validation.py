"""Examples and labels from outside: scikit-learn checks them, and here what it leaves out or does at length.

A fit of a hundred examples takes less time than the checks around it; those that cannot fail are left out.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
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


def labels_and_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct labels, and the number of the label of each example.

    Parameters
    ----------
    y
        Labels, one for each example, as scikit-learn has read them.

    Raises
    ------
    ValueError
        If these are no labels, or there is only one.
    """
    is_whole = y.ndim == 1 and y.dtype.kind in "biu"
    if not is_whole:
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if is_whole and 2 * len(classes) > len(y):  # scikit-learn warns if there are too many labels
        check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
    return classes, codes


class NamedParameters:
    """Parameters whose names are read from the signature once for each class, not several times in each fit."""

    _names: ClassVar[dict[type, list[str]]] = {}

    @classmethod
    def _get_param_names(cls) -> list[str]:
        if cls not in cls._names:
            cls._names[cls] = super()._get_param_names()  # type: ignore[misc]
        return cls._names[cls]
