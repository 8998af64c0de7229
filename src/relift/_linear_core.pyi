from typing import Any

def by_matrix(
    G: Any, l1: Any, is_positive: bool, w: Any, g: Any, tolerance: float, most: int, /
) -> tuple[int, float]: ...
def by_columns(
    starts: Any,
    rows: Any,
    values: Any,
    h: Any,
    l1: Any,
    l2: Any,
    has_intercept: bool,
    is_positive: bool,
    w: Any,
    r: Any,
    tolerance: float,
    most: int,
    /,
) -> tuple[int, float, float]: ...
def group_smo(
    K: Any,
    example: Any,
    sign: Any,
    group: Any,
    u: Any,
    n_groups: int,
    a: Any,
    v: Any,
    tolerance: float,
    most: int,
    /,
) -> tuple[int, float]: ...
