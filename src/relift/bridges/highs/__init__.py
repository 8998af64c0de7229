"""A built ``highspy.Highs`` in, its answer set in place.

- :mod:`~relift.bridges.highs.read` makes a program of the model that it holds;
- :mod:`~relift.bridges.highs.options` makes settings of relift of its options;
- :mod:`~relift.bridges.highs.write` puts an answer into it;
- :mod:`~relift.bridges.highs.files` writes the files that its options name;
- :mod:`~relift.bridges.highs.solve` does these in order.
"""

from relift.bridges.highs.read import program_from_highs
from relift.bridges.highs.solve import Integers, Outcome, solve

__all__ = ["Integers", "Outcome", "program_from_highs", "solve"]
