"""The program: the one form that every other part of relift speaks (stage 1)."""

from relift.program.program import Program, Sense
from relift.program.solution import Solution, Status

__all__ = ["Program", "Sense", "Solution", "Status"]
