"""The program: the one form that every other part of relift speaks."""

from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder, Semidefinite
from relift.program.conic_rows import ConicRows
from relift.program.program import Program, Sense
from relift.program.solution import Solution, Status

__all__ = [
    "Cone",
    "ConicRows",
    "Exponential",
    "Power",
    "PowerND",
    "Program",
    "SecondOrder",
    "Semidefinite",
    "Sense",
    "Solution",
    "Status",
]
