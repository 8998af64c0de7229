"""The compiled core: exact field arithmetic and colour refinement (``core/bindings/module.cpp``)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_Words = NDArray[np.uint64]
_Floats = NDArray[np.float64]
_Compressed = tuple[NDArray[np.integer], NDArray[np.integer], _Floats]

def images(values: _Floats, decimal: bool, out: _Words, /) -> None: ...
def multiply(left: _Words, right: _Words, out: _Words, /) -> None: ...
def inverse(values: _Words, out: _Words, /) -> None: ...
def refine(
    P: _Compressed | None,
    A: _Compressed,
    A_is_csr: bool,
    n_variables: int,
    n_rows: int,
    variable_images: tuple[_Words, ...],
    row_images: tuple[_Words, ...],
    row_bounds: tuple[_Floats, _Floats],
    counting: bool,
    decimal: bool,
    scale_rows: bool,
    seed: int,
    progress: Callable[[str, int, int], object] | None,
    variable_labels: NDArray[np.int64],
    row_labels: NDArray[np.int64],
    row_scales: _Floats,
    row_scale_images: _Words,
    /,
) -> tuple[int, int, int]: ...
def predicted_fill(
    offsets: NDArray[np.integer], indices: NDArray[np.int32], most: float, /
) -> tuple[float, float, bool]: ...
