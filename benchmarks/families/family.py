"""What a family of programs is, and how its members are told apart or made alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from relift.program.program import Program

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Family:
    """One family of programs.

    Parameters
    ----------
    name
        What it is called in tables.
    area
        Where such programs come from.
    kind
        LP, QP or SOCP.
    build
        Makes the program of a size.
    sizes
        The sizes that are measured unless others are asked for.
    is_symmetric
        Whether things in it are alike by the way it is built. Half of the families are built of random real numbers
        instead, where nothing is.
    """

    name: str
    area: Literal["learning", "operations", "control", "finance", "games", "random"]
    kind: Literal["LP", "QP", "SOCP"]
    build: Callable[[int], Program]
    sizes: tuple[int, ...]
    is_symmetric: bool


def kinds(random: np.random.Generator, n: int, n_kinds: int, alike: bool) -> NDArray[np.int64]:
    """The kind of each of n things: a few kinds if they are to be alike, otherwise each is of its own."""
    return random.integers(0, n_kinds, n) if alike else np.arange(n)


def values(random: np.random.Generator, kind: NDArray[np.int64], low: float, high: float, alike: bool) -> Vector:
    """A number for each thing, drawn for its kind; with two decimals where things are alike, as catalogues have."""
    drawn = random.uniform(low, high, int(kind.max()) + 1)
    return (drawn.round(2) if alike else drawn)[kind]
