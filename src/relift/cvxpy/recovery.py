"""What CVXPY has hidden in cones, found again where that lets more variables merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.cvxpy.hidden_means import HiddenMeans, find_means
from relift.cvxpy.hidden_quadratics import HiddenQuadratics, find_quadratics
from relift.lifting.lifting import Lifting
from relift.program.program import Program
from relift.program.solution import Solution


@final
@dataclass(frozen=True, eq=False)
class Recovered:
    """The program that was meant, in place of the cones that CVXPY has made of it.

    Parameters
    ----------
    steps
        What was turned back, in order.
    """

    steps: tuple[HiddenQuadratics | HiddenMeans, ...]

    @property
    def source(self) -> Program:
        """The program with cones."""
        return self.steps[0].source

    @property
    def program(self) -> Program:
        """The program that was meant."""
        return self.steps[-1].program

    def restore(self, answer: Solution) -> Solution:
        """An answer for the program with cones."""
        for step in reversed(self.steps):
            answer = step.restore(answer)
        return answer

    def merges_more(self, recovered: Lifting, direct: Lifting) -> bool:
        """Whether the variables that both programs have fall into fewer classes than without.

        Parameters
        ----------
        recovered, direct
            Liftings of this program and of its source.
        """
        kept = np.arange(self.source.n_variables)
        for step in self.steps:
            kept = kept[step.kept]
        labels = direct.class_of_variable[kept]
        n_direct = np.unique(labels[labels >= 0]).size + int(np.count_nonzero(labels < 0))
        labels = recovered.class_of_variable
        return bool(np.unique(labels[labels >= 0]).size + np.count_nonzero(labels < 0) < n_direct)

    def __str__(self) -> str:
        words = []
        for step in self.steps:
            kind = "cones as quadratic constraints" if isinstance(step, HiddenQuadratics) else "geometric means"
            words.append(f"{len(step)} {kind}")
        return ", ".join(words)


def recover(program: Program) -> Recovered | None:
    """Look for quadratic constraints, then for geometric means; None if there is nothing to be found.

    Parameters
    ----------
    program
        A minimisation with conic rows.
    """
    steps: list[HiddenQuadratics | HiddenMeans] = []
    if (quadratics := find_quadratics(program)) is not None:
        steps.append(quadratics)
        program = quadratics.program
    if (means := find_means(program)) is not None:
        steps.append(means)
    return Recovered(tuple(steps)) if steps else None
