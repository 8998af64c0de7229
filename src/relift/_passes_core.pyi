import numpy as np
from numpy.typing import NDArray

_Vector = NDArray[np.float64]
_Places = NDArray[np.int64]
_Counts = NDArray[np.int32]
_Words = NDArray[np.uint64]
_Parts = tuple[NDArray[np.integer], NDArray[np.integer], _Vector]
# What is called a bytearray is, from some megabytes on, another object with a buffer.
_Arrays = tuple[bytearray, bytearray, bytearray]

def products_and_sizes(
    matrix: _Parts,
    of_majors: _Vector,
    of_minors: _Vector,
    minor_sums: _Vector,
    minor_sizes: _Vector,
    major_sums: _Vector,
    major_sizes: _Vector,
    threads: int,
    /,
) -> None: ...
def quadratic_values(entries: tuple[_Places, _Places, _Places, _Vector], x: _Vector, sums: _Vector, /) -> None: ...
def quadratic_largest(
    entries: tuple[_Places, _Places, _Places, _Vector], sizes: _Vector, largest: _Vector, /
) -> None: ...
def quadratic_gradient(
    entries: tuple[_Places, _Places, _Places, _Vector], x: _Vector, z: _Vector, sums: _Vector, largest: _Vector, /
) -> None: ...
def residuals(
    A: _Parts,
    is_by_rows: bool,
    P: _Parts | None,
    vectors: tuple[_Vector, ...],
    r: float,
    point: tuple[_Vector | None, ...],
    more: tuple[_Vector | None, ...],
    out: tuple[_Vector | None, ...],
    threads: int,
    /,
) -> tuple[int, int, int, float, float, float, float, float, float]: ...
def scan_rows(A: _Parts, is_by_rows: bool, n: int, least: int, counts: _Counts, threads: int, /) -> bytearray: ...
def count_rows(A: _Parts, is_by_rows: bool, n: int, counts: _Counts, /) -> None: ...
def merge_columns(
    A: _Parts, rows: _Places, labels: _Places, n_classes: int, w: _Vector | None, cancelled: float, threads: int, /
) -> tuple[bytearray, bytearray, bytearray, int]: ...
def submatrix(
    matrix: _Parts,
    n_minor: int,
    majors: _Places | None,
    minors: _Places | None,
    threads: int,
    shares_values: bool = False,
    /,
) -> tuple[bytearray, bytearray, bytearray | None]: ...
def entries_of_minors(matrix: _Parts, n_minor: int, minors: _Places, threads: int, /) -> _Arrays: ...
def entries_of_majors(matrix: _Parts, n_minor: int, majors: _Places, /) -> _Arrays: ...
def remaining_entries(
    A: _Parts,
    is_by_rows: bool,
    m: int,
    rows: _Places,
    is_left: NDArray[np.bool_],
    columns: _Places,
    entries: _Vector,
    /,
) -> None: ...
def bounds_of_rows(
    by: tuple[_Places, _Places, _Vector, _Words],
    of_rows: tuple[_Vector, _Vector, _Words, _Words],
    m: int,
    own: tuple[_Vector, _Vector, _Words, _Words],
    n: int,
    rounding: float,
    is_kept: NDArray[np.bool_],
    /,
) -> tuple[bytearray, tuple[bytearray, bytearray, bytearray, bool], tuple[bytearray, bytearray, bytearray, bool]]: ...
def add_columns(
    entries: tuple[_Places, _Places, _Vector],
    values: _Vector | None,
    images: _Words | None,
    is_decimal: bool,
    n_rows: int,
    /,
) -> tuple[bytearray, bytearray, bytearray, bytearray, bytearray]: ...
def rows_touched(
    what: tuple[_Places, _Places, _Vector | None],
    counts: _Counts,
    terms: _Vector,
    is_left: NDArray[np.bool_],
    is_left_alone: NDArray[np.bool_],
    /,
) -> bytearray: ...
def moved_entries(
    vector: _Vector,
    words: _Words,
    what: tuple[_Places, _Vector, _Words],
    is_taken: bool,
    terms: _Vector,
    is_left: NDArray[np.bool_] | None,
    is_decimal: bool,
    rounding: float,
    /,
) -> tuple[bytearray, bytearray, bytearray, bytearray] | None: ...
def conic_form(
    A: _Parts, is_by_rows: bool, bounds: tuple[_Vector, ...], more: _Parts | None, n_more: int, threads: int, /
) -> tuple[int, int, int, bytearray, bytearray, bytearray, bytearray, bytearray]: ...
def terms_of_second_order(
    heads: _Places, lengths: _Places, slack: _Vector, rooms: _Vector, v: _Vector, scale: float, /
) -> tuple[float, float, float]: ...
def first_members(labels: _Places, members: _Places, /) -> None: ...
def class_sizes(labels: _Places, sizes: _Places, threads: int, /) -> None: ...
def are_one_number(vector: _Vector, by_bits: bool, threads: int, /) -> bool: ...
def are_finite(*vectors: NDArray[np.generic]) -> bool | None: ...
def largest(*vectors: NDArray[np.generic]) -> float | None: ...
def extremes(*vectors: _Vector) -> tuple[float, float] | None: ...
def fit(vectors: tuple[object, ...], sizes: tuple[int, ...], kind: type, are_finite: bool, /) -> bool: ...
def product(matrix: _Parts, is_by_rows: bool, x: _Vector, out: _Vector, /) -> None: ...
def expand_duals(values: _Vector, owner: NDArray[np.int32], n_first: int, full: _Vector, /) -> None: ...
def triangle(P: _Parts, n: int, is_upper: bool, /) -> _Arrays: ...
def spread(vector: _Vector, sizes: _Vector, representatives: _Places, labels: _Places, threads: int, /) -> float: ...
def numbers_of_classes(labels: _Places, threads: int, /) -> bytearray: ...
def count_kinds(
    q: _Words, lb: _Words, ub: _Words, low: _Words, high: _Words, cost: _Words, /
) -> tuple[int, int, int]: ...
def admitted_sizes(
    A: _Parts,
    is_by_rows: bool,
    n: int,
    rows: tuple[_Vector, _Vector],
    m: int,
    variables: _Places,
    sizes: _Vector,
    /,
) -> None: ...

_LookedAt = tuple[_Vector, _Vector, _Vector, _Words | None, _Words | None, _Words | None]

def look_at_colours(
    variables: _LookedAt, n: int, most: int, decimal: bool, sizes: bool, signs: bool, /
) -> tuple[int, int, int, bool, bool]: ...
def only_moves(variables: _LookedAt, n: int, /) -> bool: ...
def look_computed(
    bounds: tuple[_Vector, _Vector],
    n: int,
    rows: tuple[_Vector, _Vector],
    m: int,
    most: int,
    digits: int,
    smallest: float,
    share: float,
    /,
) -> bool: ...
def count_links(
    A: _Parts,
    is_by_rows: bool,
    variables: tuple[_Vector, _Vector, _Words, _Words],
    rows: tuple[_Vector, _Vector, _Words, _Words],
    step: int,
    largest: float,
    rounding: float,
    /,
) -> int: ...
def count_shared_ratios(
    A: _Parts,
    is_by_rows: bool,
    variables: tuple[_Vector, _Vector, _Words, _Words],
    rows: tuple[_Vector, _Vector, _Words, _Words],
    step: int,
    different: float,
    largest: float,
    rounding: float,
    /,
) -> tuple[int, int]: ...
def may_be_reflected(
    A: _Parts,
    is_by_rows: bool,
    P: _Parts | None,
    variables: tuple[_Vector, _Vector, _Vector],
    n: int,
    rows: tuple[_Vector, _Vector],
    m: int,
    is_rigid: NDArray[np.uint8] | None,
    most: int,
    /,
) -> bool: ...
def numbered(labels: _Places, numbers: _Places, /) -> int: ...
def simple_fractions(
    values: _Vector, largest: float, rounding: float, numerators: _Places, denominators: _Places, /
) -> None: ...
def has_longer(values: _Vector, digits: int, /) -> bool: ...
def count_shapes(low: _Vector, high: _Vector, cost: _Vector, /) -> int: ...
def grouped_sums(target: _Places, terms: _Words, sums: _Words, /) -> None: ...
def links_change_nothing(
    A: _Parts,
    is_by_rows: bool,
    variables: tuple[_Vector, _Vector, _Words, _Words],
    rows: tuple[_Vector, _Vector, _Words, _Words],
    largest: float,
    rounding: float,
    /,
) -> bool: ...
def count_simple_costs(
    A: _Parts,
    is_by_rows: bool,
    m: int,
    q: _Vector,
    step: int,
    digits: int,
    different: float,
    largest: float,
    rounding: float,
    /,
) -> tuple[int, int, int]: ...
def transpose(matrix: _Parts, n_minor: int, /) -> _Arrays: ...
def stack(above: _Parts, below: _Parts, n: int, owner: _Places, n_cones: int, /) -> _Arrays: ...
def sums_of_columns(
    C: _Parts, b: _Vector, v: _Vector | None, out: tuple[_Vector, _Vector, _Vector, _Vector], /
) -> None: ...
def slack_and_rooms(
    C: _Parts, vectors: tuple[_Vector, _Vector, _Vector, _Places], common: float, out: tuple[_Vector, _Vector], /
) -> None: ...
def push_heads(heads: _Places, lengths: _Places, room: _Vector, s: _Vector, push: _Vector, /) -> None: ...
def push_exponential(at: _Places, s: _Vector, room: _Vector, dual: bool, push: _Vector, moved: _Vector, /) -> None: ...
def push_power(
    cones: tuple[_Places, _Places, _Vector, _Places],
    s: _Vector,
    room: _Vector,
    dual: bool,
    push: _Vector,
    moved: _Vector,
    /,
) -> None: ...
