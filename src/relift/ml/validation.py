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


def read_examples(estimator: Any, X: Any, y: Any = "no_validation", *, order: str | None = "C", **words: Any) -> Any:
    """Read examples, and labels if there are any, as every machine wants them: floats, or CSR without stored zeros.

    Parameters
    ----------
    estimator
        The estimator; if its kernel is ``"precomputed"``, X must be square.
    X, y
        Examples and labels.
    order
        Order of a dense X in memory; None for any.
    **words
        What else scikit-learn takes.

    Raises
    ------
    ValueError
        If scikit-learn refuses them, or a precomputed kernel is not square.
    """
    words = {"dtype": (np.float64,), "order": order, "accept_sparse": "csr", "accept_large_sparse": False} | words
    found = validate_data(estimator, X, y, **words)
    X = found[0] if isinstance(found, tuple) else found
    if getattr(estimator, "kernel", None) == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
    if sparse.issparse(X):
        X.sum_duplicates()
        X.eliminate_zeros()
    return found


def labels_and_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct labels, and the number of the label of each example.

    Parameters
    ----------
    y
        Labels, one for each example, as scikit-learn has read them.

    Raises
    ------
    ValueError
        If these are not labels, or there is only one.
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


class SparseInput:
    """An estimator that takes sparse examples."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


class KernelInput:
    """An estimator that takes sparse examples, or the matrix of a precomputed kernel."""

    kernel: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class NamedParameters:
    """Parameters whose names are read from the signature once for each class, not several times in each fit."""

    _names: ClassVar[dict[type, list[str]]] = {}

    @classmethod
    def _get_param_names(cls) -> list[str]:
        if cls not in cls._names:
            cls._names[cls] = super()._get_param_names()  # type: ignore[misc]
        return cls._names[cls]
