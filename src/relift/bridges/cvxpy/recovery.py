"""What CVXPY has hidden in cones, found again where that lets more variables merge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from relift.bridges.cvxpy.hidden_means import HiddenMeans, find_means
from relift.bridges.cvxpy.hidden_norms import HiddenNorms, find_norms
from relift.bridges.cvxpy.hidden_quadratics import HiddenQuadratics, find_quadratics
from relift.lifting.lifting import Lifting
from relift.program.program import Program
from relift.program.solution import Solution
from relift.program.step import expand_through, restrict_through

Hidden = HiddenQuadratics | HiddenMeans | HiddenNorms


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
            for step in self.steps:
                labels = labels[step.kept]
        return int(np.unique(labels[labels >= 0]).size + np.count_nonzero(labels < 0))

    def __str__(self) -> str:
        kinds = {
            HiddenQuadratics: "cones as quadratic constraints",
            HiddenMeans: "geometric means",
            HiddenNorms: "norms by symmetric factors",
        }
        return ", ".join(f"{len(step)} {kinds[type(step)]}" for step in self.steps)


def recover(
    program: Program, *, quadratics: bool = True, is_late: Callable[[], bool] | None = None
) -> tuple[Recovered, ...]:
    """What can be taken in place of the program: with quadratic constraints and means; and with other norms, too.

    Which of them lets most variables merge is for their liftings to say.

    Parameters
    ----------
    program
        A minimisation with conic rows.
    quadratics
        Whether quadratic constraints may be made.
    is_late
        Asked before each step; nothing more is looked for once it says so.
    """
    steps: list[Hidden] = []
    found: list[Recovered] = []
    for find in (find_quadratics, find_means, find_norms):
        if is_late is not None and is_late():
            return ()
        if find is find_quadratics and not quadratics:
            continue
        if find is find_norms and steps:
            found.append(Recovered(tuple(steps)))
        step = find(program)
        if step is not None:
            steps.append(step)
            program = step.program
            if find is find_norms:
                found.append(Recovered(tuple(steps)))
    return tuple(found)
