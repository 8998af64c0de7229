"""Models of OR-Tools through relift: the public name of :mod:`relift.bridges.ortools_`."""

from relift.bridges.ortools_ import Integers, program_from_mathopt, program_from_pywraplp, solve

__all__ = ["Integers", "program_from_mathopt", "program_from_pywraplp", "solve"]
