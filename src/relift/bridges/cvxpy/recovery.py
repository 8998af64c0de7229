"""What CVXPY has hidden in cones, found again where that lets more variables merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Labels
from relift.bridges.cvxpy.hidden_means import HiddenMeans, find_means
from relift.bridges.cvxpy.hidden_norms import HiddenNorms, find_norms, norm_candidates
from relift.bridges.cvxpy.hidden_quadratics import HiddenQuadratics, find_quadratics
from relift.bridges.cvxpy.hidden_residuals import HiddenResiduals, find_residuals
from relift.bridges.cvxpy.norm_promise import count_classes, promising_norms
from relift.lifting.lifting import Lifting
from relift.program.program import Program
from relift.program.solution import Solution
from relift.program.step import expand_through, restrict_through

Hidden = HiddenQuadratics | HiddenMeans | HiddenNorms | HiddenResiduals

SHORTER = 0.5
"""A program of this share of the rows and entries is a gain, even if no further variables merge."""


@final
@dataclass(frozen=True, eq=False)
class Recovered:
    """The program that was meant, in place of the cones that CVXPY has made of it.

    Parameters
    ----------
    steps
        What was turned back, in order.
    """

    steps: tuple[Hidden, ...]

    @property
    def source(self) -> Program:
        """The program with cones."""
        return self.steps[0].source

    @property
    def program(self) -> Program:
        """The program that was meant."""
        return self.steps[-1].program

    def expand(self, answer: Solution) -> Solution:
        """Carry an answer back to the program with cones."""
        return expand_through(self.steps, answer)

    def restrict(self, solution: Solution) -> Solution:
        """Carry a point of the program with cones to the program that was meant."""
        return restrict_through(self.steps, solution)

    def n_classes(self, lifting: Lifting) -> int:
        """Into how many classes the variables fall that all steps have left.

        Parameters
        ----------
        lifting
            Of this program, or of its source.
        """
        labels = np.where(lifting.at_rest, lifting.program.n_variables, lifting.class_of_variable)
        if lifting.program.n_variables != self.program.n_variables:
            labels = labels_after(self.steps, labels)
        return count_classes(labels)

    def is_shorter(self, program: Program, other: Program, share: float = SHORTER) -> bool:
        """Whether residuals or tall norms make a program much smaller than another one.

        Parameters
        ----------
        program, other
            This program and its source, or the small programs of both.
        share
            How much of the rows and of the entries may be left.
        """
        if not any(isinstance(step, HiddenNorms | HiddenResiduals) for step in self.steps):
            return False  # quadratic constraints are cones again in the end
        rows, other_rows = (each.n_rows + each.conic.n_rows for each in (program, other))
        return rows <= share * other_rows and program.n_nonzeros <= share * other.n_nonzeros

    def __str__(self) -> str:
        kinds = {
            HiddenQuadratics: "cones as quadratic constraints",
            HiddenMeans: "geometric means",
            HiddenNorms: "norms by symmetric factors",
            HiddenResiduals: "residuals in the objective",
        }
        return ", ".join(f"{len(step)} {kinds[type(step)]}" for step in self.steps)


def labels_after(steps: Sequence[Hidden], labels: Labels) -> Labels:
    """The classes of the variables that all steps have left.

    Parameters
    ----------
    steps
        What was turned back, in order.
    labels
        Classes of the variables before the first step.
    """
    for step in steps:
        labels = labels[step.kept]
    return labels


def recover(
    program: Program,
    *,
    quadratics: bool = True,
    is_late: Callable[[], bool] | None = None,
    labels: Callable[[], Labels] | None = None,
) -> tuple[Recovered, ...]:
    """What can be taken in place of the program: without residuals; with quadratic constraints and means; other norms.

    Which of them lets most variables merge is for their liftings to say.

    Parameters
    ----------
    program
        A minimisation.
    quadratics
        Whether quadratic constraints may be made.
    is_late
        Asked before each step; nothing more is looked for once it says so.
    labels
        Asked for the classes of the program's variables as it is, where these decide what is worth looking for; None
        to look for everything.
    """
    steps: list[Hidden] = []
    found: list[Recovered] = []

    def find_promising_norms(program: Program) -> HiddenNorms | None:
        if labels is None:
            return find_norms(program)
        chosen = promising_norms(program, norm_candidates(program.conic), lambda: labels_after(steps, labels()))
        return find_norms(program, chosen)

    # Each with whether the program is one to choose from after it.
    ways: list[tuple[Callable[[Program], Hidden | None], bool]] = [(find_residuals, True)]
    if len(program.conic):
        ways += [(find_quadratics, False)] if quadratics else []
        ways += [(find_means, True), (find_promising_norms, True)]
    for find, is_complete in ways:
        if is_late is not None and is_late():
            return ()
        step = find(program)
        if step is not None:
            steps.append(step)
            program = step.program
        if is_complete and steps and (not found or len(found[-1].steps) < len(steps)):
            found.append(Recovered(tuple(steps)))
    return tuple(found)
