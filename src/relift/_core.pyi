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
    threads: int,
    progress: Callable[[str, int, int], object] | None,
    variable_labels: NDArray[np.int64],
    row_labels: NDArray[np.int64],
    row_scales: _Floats,
    row_scale_images: _Words,
    kept: object = None,
    needs_scales: bool = False,
    rows_are_apart: bool = False,
    most_classes: int = ...,
    some_start_alike: bool = False,
    /,
) -> tuple[int, int, int, int, bool, float | None, int]: ...
def refine_up_to_multipliers(
    P: _Compressed | None,
    A: _Compressed,
    A_is_csr: bool,
    n_variables: int,
    n_rows: int,
    variable_words: tuple[_Words, ...],
    row_words: tuple[_Words, ...],
    decimal: bool,
    seed: int,
    threads: int,
    progress: Callable[[str, int, int], object] | None,
    variable_labels: NDArray[np.int64],
    row_labels: NDArray[np.int64],
    multipliers: _Floats,
    multiplier_images: _Words,
    states: NDArray[np.uint8],
    masses: _Floats | None,
    mass_images: _Words | None,
    links: NDArray[np.int64] | None,
    kept: object = None,
    rows_are_apart: bool = False,
    relative_masses: _Words | None = None,
    /,
) -> tuple[int, int, int, int]: ...
def keep_memory(is_open: bool, /) -> None: ...
def kept_weights() -> object: ...

_Numbers = tuple[_Floats, _Floats, _Floats | None, _Words, _Words, _Words | None]
_LookedAt = tuple[_Floats, _Floats, _Floats | None, _Words | None, _Words | None, _Words | None]

def starts_apart(
    P: _Compressed | None,
    A: _Compressed,
    A_is_csr: bool,
    n_variables: int,
    n_rows: int,
    variables: tuple[_Floats, ...],
    threads: int,
    /,
) -> int: ...
def kinds_in_floats(
    P: _Compressed | None,
    A: _Compressed,
    A_is_csr: bool,
    n_variables: int,
    n_rows: int,
    variables: _LookedAt,
    rows: _LookedAt,
    sizes: bool,
    signs: bool,
    scales_rows: bool,
    has_masses: bool,
    may_stay: float,
    looks: bool,
    n_threads: int,
    conic: tuple[NDArray[np.int64], _Words, NDArray[np.uint8]] | None = None,
    /,
) -> tuple[bool, int, int, bool, tuple[bytes, bytes] | None]: ...
def likeness(
    A: _Compressed,
    A_is_csr: bool,
    n_variables: int,
    n_rows: int,
    variables: _LookedAt,
    rows: _LookedAt,
    labels: NDArray[np.int64],
    row_labels: NDArray[np.int64],
    only_in_proportion: bool,
    n_threads: int = 1,
    /,
) -> tuple[bool, bool]: ...
def masses_speak(
    P: _Compressed | None,
    A: _Compressed,
    A_is_csr: bool,
    n_variables: int,
    n_rows: int,
    variables: _Numbers,
    rows: _Numbers,
    conic: tuple[NDArray[np.int64], _Words, NDArray[np.uint8]] | None = None,
    /,
) -> bool: ...
def masses(
    P: _Compressed | None,
    A: _Compressed,
    A_is_csr: bool,
    n_variables: int,
    n_rows: int,
    decimal: bool,
    variables: _Numbers,
    rows: _Numbers,
    labels: NDArray[np.int64],
    row_labels: NDArray[np.int64],
    n_classes: int,
    n_row_classes: int,
    floats: _Floats,
    images: _Words,
    row_floats: _Floats,
    row_images: _Words,
    kept: object = None,
    looks: bool = False,
    n_threads: int = 1,
    /,
) -> bool: ...
def own_scales(
    low: _Floats,
    high: _Floats,
    cost: _Floats | None,
    mass: _Floats | None,
    low_image: _Words,
    high_image: _Words,
    cost_image: _Words | None,
    mass_image: _Words | None,
    sizes: bool,
    signs: bool,
    floats: _Floats,
    images: _Words,
    states: NDArray[np.uint8],
    low_word: _Words,
    high_word: _Words,
    cost_word: _Words | None,
    n_threads: int,
    /,
) -> None: ...
def equalise_masses(
    labels: NDArray[np.int64],
    cone_of_row: NDArray[np.int64],
    n_classes: int,
    floats: _Floats,
    images: _Words,
    row_floats: _Floats,
    row_images: _Words,
    /,
) -> None: ...
def conic_scales(
    b: _Floats,
    image: _Words,
    has_open_sign: NDArray[np.uint8],
    sizes: bool,
    floats: _Floats,
    images: _Words,
    states: NDArray[np.uint8],
    word: _Words,
    /,
) -> None: ...
def relative_scales(
    labels: NDArray[np.int64],
    states: NDArray[np.uint8],
    n_classes: int,
    floats: _Floats,
    images: _Words,
    threads: int,
    /,
) -> None: ...
def sharpen(
    floats: _Floats, images: _Words, powers: tuple[_Floats, _Floats], decimal: bool, threads: int, /
) -> bool: ...
def predicted_fill(
    offsets: NDArray[np.integer], indices: NDArray[np.int32], most: float, /
) -> tuple[float, float, bool]: ...
