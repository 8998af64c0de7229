"""Programs with cones and without variables: solvers get one variable that does nothing.

Presolve can leave nothing but right-hand sides; whether they lie in their cones, and what proves that they do not,
is then still to be answered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import sparse

from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.program.solution import Solution


@final
@dataclass(frozen=True, eq=False)
class DummyVariable:
    """A program without variables, with one that is fixed at 0 and occurs nowhere.

    Parameters
    ----------
    program
        The program with that variable.
    """

    program: Program

    @classmethod
    def of(cls, program: Program) -> DummyVariable:
        """Add the variable to a program that has none."""
        conic = ConicRows.trusted(sparse.csr_array((program.conic.n_rows, 1)), program.conic.b, program.conic.cones)
        A = sparse.csc_array((program.n_rows, 1))
        zero = np.zeros(1)
        quadratic = QuadraticRows.from_matrices([(None, None, float(r)) for r in program.quadratic.r], 1)
        wide = Program.trusted(None, zero, A, program.l, program.u, zero, zero, program.r, "min", quadratic, conic)
        return cls(wide)

    def expand(self, solution: Solution) -> Solution:
        """Drop the variable from an answer."""
        return _with_entries(solution, np.zeros(0))

    def restrict(self, solution: Solution) -> Solution:
        """Give the variable its value, 0."""
        return _with_entries(solution, np.zeros(1))


def _with_entries(solution: Solution, entries: np.ndarray) -> Solution:
    changes = {name: entries for name in ("x", "w", "ray_x", "ray_w") if getattr(solution, name) is not None}
    return replace(solution, **changes)  # type: ignore[arg-type]
