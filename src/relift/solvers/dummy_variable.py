"""Programs with cones and without variables: solvers get one variable that does nothing.

Substitution can leave nothing but right-hand sides; whether they lie in their cones, and what proves that they do not,
is then still to be answered.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.program.solution import Solution


def with_dummy(program: Program) -> Program:
    """A program without variables, with one that is fixed at 0 and occurs nowhere."""
    conic = ConicRows.trusted(sparse.csr_array((program.conic.n_rows, 1)), program.conic.b, program.conic.cones)
    A = sparse.csc_array((program.n_rows, 1))
    zero = np.zeros(1)
    quadratic = QuadraticRows.from_matrices([(None, None, float(r)) for r in program.quadratic.r], 1)
    return Program.trusted(None, zero, A, program.l, program.u, zero, zero, program.r, "min", quadratic, conic)


def without_dummy(answer: Solution) -> Solution:
    """The answer without that variable."""
    empty = np.zeros(0)
    changes = {name: empty for name in ("x", "w", "ray_x", "ray_w") if getattr(answer, name) is not None}
    return replace(answer, **changes)  # type: ignore[arg-type]
