"""Program families whose size can be dialled, from learning, operations, control, finance and games.

Half of them are built of random real numbers, where nothing is alike. Default sizes are such that a ground solve takes
between a twentieth of a second and a few seconds.
"""

from __future__ import annotations

from benchmarks.families import control, finance_and_games, learning, operations, random_programs
from benchmarks.families.family import Family

FAMILIES: tuple[Family, ...] = (
    *learning.FAMILIES,
    *operations.FAMILIES,
    *control.FAMILIES,
    *finance_and_games.FAMILIES,
    *random_programs.FAMILIES,
)

__all__ = ["FAMILIES", "Family"]
