"""relift: lifted convex optimisation.

Finds equivalent variables and rows of a linear, convex quadratic or conic program, solves the smaller equivalent
program with any solver, and returns the full answer, primal and dual, with a check computed on the original program.

>>> import relift
>>> program = relift.Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0)
>>> relift.solve(program)
Result(optimal, objective=1.5, 3 -> 1 variables, 3 -> 1 rows, backend=highs)

Models over tables are written in a small modelling language, as text or in Python:

>>> model = relift.Model.from_text("param need/1; var x(I) in need(I) >= need(I); minimize: sum{I in need(I)} x(I);")
>>> model.solve(data={"need": {"a": 1, "b": 2}})["x"].to_dict()
{'a': 1.0, 'b': 2.0}
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module

__version__ = "0.1.0"

logging.getLogger("relift").addHandler(logging.NullHandler())  # silent until the caller asks for more

_PARTS = ("cvxpy", "errors", "highs", "linopy", "ml", "ortools", "pulp", "pyomo", "qpsolvers")
"""Modules that are asked for by name, such as ``relift.errors.BoundsError``; most need other packages."""


@cache
def _homes() -> dict[str, str]:
    """Read which module each public name comes from in ``__init__.pyi``, so that they are listed once."""
    import ast
    from importlib import resources

    stub = ast.parse(resources.files("relift").joinpath("__init__.pyi").read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def __getattr__(name: str) -> object:
    # Imported when first used: `import relift` and `relift --help` stay quick. The command line asks for no name.
    if name == "__all__":
        return sorted(_homes())
    if name in _PARTS:
        return import_module(f"relift.{name}")
    if not name.startswith("_") and name in _homes():
        value: object = getattr(import_module(_homes()[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'relift' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes()})
