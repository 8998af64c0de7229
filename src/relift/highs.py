"""A built ``highspy.Highs`` through relift: the public name of :mod:`relift.bridges.highs`."""

from relift.bridges.highs import Integers, Outcome, program_from_highs, solve

__all__ = ["Integers", "Outcome", "program_from_highs", "solve"]
