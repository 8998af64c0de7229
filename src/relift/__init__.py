"""relift: lifted convex optimisation.

Finds indistinguishable variables and rows of a linear or convex quadratic program, solves the small quotient with any
solver, and returns the full answer, primal and dual, with a certificate checked on the original program.

>>> import relift
>>> program = relift.Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0)
>>> relift.solve(program)
Result(optimal, objective=1.5, 3 -> 1 variables, 3 -> 1 rows, backend=highs)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relift.adapters.files import read_program, write_program
    from relift.adapters.linprog import linprog
    from relift.adapters.solve_qp import solve_qp
    from relift.lifting.approximate import Approximation
    from relift.lifting.certificate import Certificate, certify
    from relift.lifting.lifting import Lifting
    from relift.pipeline import Result, lift, solve
    from relift.program.program import Program
    from relift.program.solution import Solution, Status
    from relift.symmetry.colour_refinement import colour_refinement
    from relift.symmetry.geometry import PointSymmetry, commuting_factor, point_symmetries, semidefinite_factor
    from relift.symmetry.kernels import kernel_partition
    from relift.symmetry.partition import Partition

__version__ = "0.1.0"

_HOME = {
    "Approximation": "lifting.approximate",
    "Certificate": "lifting.certificate",
    "Lifting": "lifting.lifting",
    "Partition": "symmetry.partition",
    "PointSymmetry": "symmetry.geometry",
    "Program": "program.program",
    "Result": "pipeline",
    "Solution": "program.solution",
    "Status": "program.solution",
    "certify": "lifting.certificate",
    "commuting_factor": "symmetry.geometry",
    "colour_refinement": "symmetry.colour_refinement",
    "kernel_partition": "symmetry.kernels",
    "lift": "pipeline",
    "linprog": "adapters.linprog",
    "point_symmetries": "symmetry.geometry",
    "read_program": "adapters.files",
    "semidefinite_factor": "symmetry.geometry",
    "solve": "pipeline",
    "solve_qp": "adapters.solve_qp",
    "write_program": "adapters.files",
}

__all__ = [
    "Approximation",
    "Certificate",
    "Lifting",
    "Partition",
    "PointSymmetry",
    "Program",
    "Result",
    "Solution",
    "Status",
    "certify",
    "colour_refinement",
    "commuting_factor",
    "kernel_partition",
    "lift",
    "linprog",
    "point_symmetries",
    "read_program",
    "semidefinite_factor",
    "solve",
    "solve_qp",
    "write_program",
]


def __getattr__(name: str) -> Any:
    # Imported when first used: `import relift` and `relift --help` stay quick.
    if name in _HOME:
        value = getattr(import_module(f"relift.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'relift' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
