import numpy as np
from numpy.typing import NDArray

_Double = NDArray[np.float64]
_Labels = NDArray[np.int32]

def by_matrix(
    G: _Double, l1: _Double, is_positive: bool, w: _Double, g: _Double, tolerance: float, most: int, /
) -> tuple[int, float]: ...
def by_columns(
    starts: _Labels,
    rows: _Labels,
    values: _Double,
    h: _Double,
    l1: _Double,
    l2: _Double,
    has_intercept: bool,
    is_positive: bool,
    w: _Double,
    r: _Double,
    tolerance: float,
    most: int,
    /,
) -> tuple[int, float, float]: ...
def group_smo(
    K: _Double,
    example: _Labels,
    sign: _Double,
    group: _Labels,
    u: _Double,
    n_groups: int,
    a: _Double,
    v: _Double,
    tolerance: float,
    most: int,
    /,
) -> tuple[int, float]: ...
