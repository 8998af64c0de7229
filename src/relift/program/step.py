"""The one interface of everything that turns a program into another one.

Presolve, the quotient by classes, the restriction to approximate classes, the isometric form for first-order solvers,
cones that were recovered from a canonical form, power-cone trees, bounds that are left out and the dummy variable of a
program without variables: each is a :class:`Step`. A chain of steps is undone last first (:func:`expand_through`), and
a starting point travels along it first to last (:func:`restrict_through`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from relift.program.program import Program
from relift.program.solution import Solution


class Step(Protocol):
    """A program made from another one, with the way answers travel between the two."""

    @property
    def program(self) -> Program:
        """The program after this step."""

    def expand(self, solution: Solution) -> Solution:
        """Carry an answer for :attr:`program` back to the program before this step: point, dual values, rays."""

    def restrict(self, solution: Solution) -> Solution:
        """Carry a point of the program before this step forward, for a warm start; what has no counterpart is None."""


def expand_through(steps: Sequence[Step], solution: Solution) -> Solution:
    """Carry an answer for the program after the last step back to the program before the first."""
    for step in reversed(steps):
        solution = step.expand(solution)
    return solution


def restrict_through(steps: Sequence[Step], solution: Solution) -> Solution:
    """Carry a point of the program before the first step forward to the program after the last."""
    for step in steps:
        solution = step.restrict(solution)
    return solution
