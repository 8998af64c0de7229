"""Examples and labels from outside: scikit-learn checks them, and here what it leaves out or does at length.

A fit of a hundred examples takes less time than the checks around it; those that cannot fail are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data as _validate_data

from relift.arrays import Cells, Double, Examples, Indices, MatrixLike, is_sparse
from relift.program.sparse_structure import checked_sparse

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.utils import Tags

    from relift.ml.kernels import Kernel


Order: TypeAlias = Literal["C", "F"] | None
"""How a dense matrix lies in memory; None if it does not matter."""

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


@overload
def read_examples(estimator: BaseEstimator, X: MatrixLike, *, order: Order = "C", **words: object) -> Examples: ...
@overload
def read_examples(
    estimator: BaseEstimator, X: MatrixLike, y: ArrayLike | None, *, order: Order = "C", **words: object
) -> tuple[Examples, Cells]: ...
def read_examples(
    estimator: BaseEstimator, X: MatrixLike, *rest: object, order: Order = "C", **words: object
) -> Examples | tuple[Examples, Cells]:
    """Read examples, and labels if there are any, as every machine wants them: floats, or CSR without stored zeros.

    Parameters
    ----------
    estimator
        The estimator; if its kernel is ``"precomputed"``, X must be square.
    X
        The examples, one in each row.
    *rest
        The labels, if there are any.
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
    found: Examples | tuple[Examples, Cells] = validate_data(estimator, X, *rest, **words)
    examples = found[0] if isinstance(found, tuple) else found
    n_rows, n_columns = examples.shape
    if getattr(estimator, "kernel", None) == "precomputed" and n_rows != n_columns:
        raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {n_rows}x{n_columns} matrix.")
    if is_sparse(examples):
        examples.sum_duplicates()
        examples.eliminate_zeros()
    return found


def labels_and_codes(y: Cells) -> tuple[Cells, Indices]:
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


def label_weights(class_weight: ClassWeight, classes: Cells, y: Cells, sample_weight: Double | None = None) -> Double:
    """The weight of each label by ``class_weight``, as scikit-learn counts it, if it can weigh an example.

    Parameters
    ----------
    class_weight
        None, a mapping or ``"balanced"``.
    classes
        The distinct labels.
    y
        The label of each example.
    sample_weight
        Weights of examples that ``"balanced"`` shall count with; a label that has none of them gets the weight 0.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, or none is positive: nothing would be proved then.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(
            compute_class_weight(class_weight, classes=classes, y=y, sample_weight=sample_weight), dtype=np.float64
        )
    if class_weight == "balanced":
        found = np.where(np.isfinite(found), found, 0.0)
    check_label_weights(found, classes)
    if not found.any():
        raise ValueError("class_weight leaves no label with weight: at least one needs a positive one.")
    return found


def check_label_weights(weights: Double, classes: Cells) -> None:
    """Refuse weights of labels that no example can have.

    Parameters
    ----------
    weights
        The weight of each label.
    classes
        The labels.

    Raises
    ------
    ValueError
        If one is negative or not finite.
    """
    is_wrong = ~((weights >= 0) & np.isfinite(weights))
    if is_wrong.any():
        first = int(np.argmax(is_wrong))
        raise ValueError(
            f"class_weight[{classes.tolist()[first]!r}] is {weights[first]:g}. "
            "The weight of a label is a finite number that is not negative."
        )


class SparseInput:
    """An estimator that takes sparse examples."""

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


class KernelInput:
    """An estimator that takes sparse examples, or the matrix of a precomputed kernel."""

    kernel: Kernel

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
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
