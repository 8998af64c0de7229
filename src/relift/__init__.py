"""relift: lifted convex optimisation.

Finds indistinguishable variables and rows of a linear, convex quadratic or conic program, solves the small quotient
with any solver, and returns the full answer, primal and dual, with a certificate checked on the original program.

>>> import relift
>>> program = relift.Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0)
>>> relift.solve(program)
Result(optimal, objective=1.5, 3 -> 1 variables, 3 -> 1 rows, backend=highs)

Models over tables are written in a small relational language, as text or in Python:

>>> model = relift.Model.from_text("param need/1; var x(I) in need(I) >= need(I); minimize: sum{I in need(I)} x(I);")
>>> model.solve(data={"need": {"a": 1, "b": 2}})["x"].to_dict()
{'a': 1.0, 'b': 2.0}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relift.adapters.files import read_program, write_program
    from relift.adapters.linprog import linprog
    from relift.adapters.solve_qp import solve_qp
    from relift.approximate.options import Approximation
    from relift.language.expressions_in_python import (
        between,
        count_,
        exp,
        indicator,
        indices,
        log,
        max_,
        maximum,
        min_,
        minimum,
        sqrt,
        sum_,
    )
    from relift.lifting.certificate import Certificate, certify
    from relift.lifting.lifting import Lifting
    from relift.ml.point_signatures import approximate_orbits
    from relift.modelling.model import Model
    from relift.modelling.model_result import ModelResult
    from relift.modelling.server_tables import ServerTables
    from relift.modelling.solve_in_engine import EngineModelResult
    from relift.modelling.solve_model import ground_model, solve_model, solve_model_in_engine
    from relift.pipeline import Result, lift, solve
    from relift.program.cones import Exponential, Power, PowerND, SecondOrder, Semidefinite
    from relift.program.conic_rows import ConicRows
    from relift.program.program import Program
    from relift.program.solution import Solution, Status
    from relift.symmetry.colour_refinement import colour_refinement
    from relift.symmetry.geometry import PointSymmetry, commuting_factor, point_symmetries, semidefinite_factor
    from relift.symmetry.kernels import kernel_partition
    from relift.symmetry.partition import Partition
    from relift.tables.file_patterns import files
    from relift.tables.matrix import matrix
    from relift.tables.open_engine import open_engine
    from relift.tables.sources import Table

__version__ = "0.1.0"

_HOME = {
    "Approximation": "approximate.options",
    "Certificate": "lifting.certificate",
    "ConicRows": "program.conic_rows",
    "EngineModelResult": "modelling.solve_in_engine",
    "Exponential": "program.cones",
    "Lifting": "lifting.lifting",
    "Model": "modelling.model",
    "ModelResult": "modelling.model_result",
    "Partition": "symmetry.partition",
    "PointSymmetry": "symmetry.geometry",
    "Power": "program.cones",
    "PowerND": "program.cones",
    "Program": "program.program",
    "Result": "pipeline",
    "SecondOrder": "program.cones",
    "Semidefinite": "program.cones",
    "ServerTables": "modelling.server_tables",
    "Solution": "program.solution",
    "Status": "program.solution",
    "approximate_orbits": "ml.point_signatures",
    "Table": "tables.sources",
    "between": "language.expressions_in_python",
    "certify": "lifting.certificate",
    "colour_refinement": "symmetry.colour_refinement",
    "commuting_factor": "symmetry.geometry",
    "count_": "language.expressions_in_python",
    "exp": "language.expressions_in_python",
    "files": "tables.file_patterns",
    "ground_model": "modelling.solve_model",
    "indicator": "language.expressions_in_python",
    "indices": "language.expressions_in_python",
    "kernel_partition": "symmetry.kernels",
    "lift": "pipeline",
    "linprog": "adapters.linprog",
    "log": "language.expressions_in_python",
    "matrix": "tables.matrix",
    "max_": "language.expressions_in_python",
    "maximum": "language.expressions_in_python",
    "min_": "language.expressions_in_python",
    "minimum": "language.expressions_in_python",
    "open_engine": "tables.open_engine",
    "point_symmetries": "symmetry.geometry",
    "read_program": "adapters.files",
    "semidefinite_factor": "symmetry.geometry",
    "solve": "pipeline",
    "solve_model": "modelling.solve_model",
    "solve_model_in_engine": "modelling.solve_model",
    "solve_qp": "adapters.solve_qp",
    "sqrt": "language.expressions_in_python",
    "sum_": "language.expressions_in_python",
    "write_program": "adapters.files",
}

__all__ = [
    "Approximation",
    "Certificate",
    "ConicRows",
    "EngineModelResult",
    "Exponential",
    "Lifting",
    "Model",
    "ModelResult",
    "Partition",
    "PointSymmetry",
    "Power",
    "PowerND",
    "Program",
    "Result",
    "SecondOrder",
    "Semidefinite",
    "ServerTables",
    "Solution",
    "Status",
    "Table",
    "approximate_orbits",
    "between",
    "certify",
    "colour_refinement",
    "commuting_factor",
    "count_",
    "exp",
    "files",
    "ground_model",
    "indicator",
    "indices",
    "kernel_partition",
    "lift",
    "linprog",
    "log",
    "matrix",
    "max_",
    "maximum",
    "min_",
    "minimum",
    "open_engine",
    "point_symmetries",
    "read_program",
    "semidefinite_factor",
    "solve",
    "solve_model",
    "solve_model_in_engine",
    "solve_qp",
    "sqrt",
    "sum_",
    "write_program",
]


_PARTS = ("cvxpy", "ml", "qpsolvers")
"""Packages that need others to be installed; ``relift.cvxpy.Lifted`` imports them."""


def __getattr__(name: str) -> Any:
    # Imported when first used: `import relift` and `relift --help` stay quick.
    if name in _HOME:
        value = getattr(import_module(f"relift.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _PARTS:
        return import_module(f"relift.{name}")
    raise AttributeError(f"module 'relift' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
