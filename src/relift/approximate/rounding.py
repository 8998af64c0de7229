"""How far sums of floats can be from the sums of the numbers that they stand for."""

from __future__ import annotations

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)
"""The distance from 1 to the next float: twice the largest relative error of one operation."""


def gamma(operations: int) -> float:
    """What so many roundings can do, relatively.

    Examples
    --------
    >>> gamma(4) == 4 * EPSILON / (1 - 4 * EPSILON)
    True
    """
    return operations * EPSILON / (1.0 - operations * EPSILON)
