"""The compiled part of relift.ml: kernels, SMO, k-means, signatures of points (``core/bindings/ml_module.cpp``)."""

import numpy as np
from numpy.typing import NDArray

_Single = NDArray[np.float32]
_Double = NDArray[np.float64]
_Real = NDArray[np.float32] | NDArray[np.float64]
_Labels = NDArray[np.int32]

def kernel_sums(
    X: _Single, S: _Single, weights: _Double, kind: int, gamma: float, coef0: float, degree: int, out: _Double, /
) -> None: ...
def kernel_values(
    X: _Single, S: _Single, kind: int, gamma: float, coef0: float, degree: int, out: _Single, /
) -> None: ...
def class_sums(
    X: _Single,
    S: _Single,
    weights: _Double,
    labels: _Labels,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    out: _Double,
    /,
) -> None: ...
def smo(
    K: _Real, lo: _Real, hi: _Real, beta: _Real, v: _Real, tolerance: float, most_steps: int, /
) -> tuple[int, float]: ...
def nearest(X: _Single, centres: _Single, labels: _Labels, squares: _Single, /) -> None: ...
def lloyd(X: _Single, centres: _Single, rounds: int, /) -> None: ...
def coordinate_ascent(
    Z: _Real,
    extra: _Real,
    c: _Real,
    lo: _Real,
    hi: _Real,
    order: _Labels,
    beta: _Real,
    w: _Real,
    tolerance: float,
    most_passes: int,
    seed: int,
    /,
) -> tuple[int, float]: ...
def pivoted_cholesky(K: _Double, tolerance: float, pivots: _Labels, factor: _Double, /) -> int: ...
def label_by_signature(X: _Single, anchors: _Single, centres: _Double, labels: _Labels, /) -> int: ...
