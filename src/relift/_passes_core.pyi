from typing import Any

def products_and_sizes(
    matrix: Any,
    of_majors: Any,
    of_minors: Any,
    minor_sums: Any,
    minor_sizes: Any,
    major_sums: Any,
    major_sizes: Any,
    /,
) -> None: ...
def residuals(
    A: Any, is_by_rows: bool, P: Any, vectors: Any, r: float, point: Any, more: Any, out: Any, /
) -> tuple[int, int, float, float, float, float, float, float]: ...
def scan_rows(A: Any, is_by_rows: bool, n: int, least: int, counts: Any, /) -> bytearray: ...
def submatrix(matrix: Any, n_minor: int, majors: Any, place: Any, /) -> tuple[bytearray, bytearray, bytearray]: ...
def conic_form(
    A: Any, bounds: Any, more: Any, n_more: int, /
) -> tuple[int, int, int, bytearray, bytearray, bytearray, bytearray, bytearray]: ...
def triangle(P: Any, n: int, is_upper: bool, /) -> tuple[bytearray, bytearray, bytearray]: ...
