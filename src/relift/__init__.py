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
    from relift.symmetry.partition import Partition

__version__ = "0.1.0"

_HOME = {
    "Approximation": "lifting.approximate",
    "Certificate": "lifting.certificate",
    "Lifting": "lifting.lifting",
    "Partition": "symmetry.partition",
    "Program": "program.program",
    "Result": "pipeline",
    "Solution": "program.solution",
    "Status": "program.solution",
    "certify": "lifting.certificate",
    "colour_refinement": "symmetry.colour_refinement",
    "lift": "pipeline",
    "linprog": "adapters.linprog",
    "read_program": "adapters.files",
    "solve": "pipeline",
    "solve_qp": "adapters.solve_qp",
    "write_program": "adapters.files",
}

__all__ = [
    "Approximation",
    "Certificate",
    "Lifting",
    "Partition",
    "Program",
    "Result",
    "Solution",
    "Status",
    "certify",
    "colour_refinement",
    "lift",
    "linprog",
    "read_program",
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
