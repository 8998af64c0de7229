"""What is not a program is refused by its type, with what to write instead."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relift
from relift.errors import NotAProgramError

MODELS = {
    "cvxpy": ("cvxpy", lambda m: m.Problem(m.Minimize(m.Variable())), 'problem.solve(solver="RELIFT")'),
    "highspy": ("highspy", lambda m: m.Highs(), "relift.highs.solve(h)"),
    "linopy": ("linopy", lambda m: m.Model(), 'model.solve(solver_name="relift")'),
    "pypsa": ("pypsa", lambda m: m.Network(), 'network.optimize(solver_name="relift")'),
    "pyomo": ("pyomo.environ", lambda m: m.ConcreteModel(), 'SolverFactory("relift").solve(model)'),
    "pulp": ("pulp", lambda m: m.LpProblem(), "problem.solve(relift.pulp.RELIFT())"),
    "qpsolvers": ("qpsolvers", lambda m: m.Problem(np.eye(1), np.ones(1)), 'solver="relift"'),
    "scipy": ("scipy.sparse", lambda m: m.eye_array(2), "relift.Program(P, q, A, l, u, lb, ub)"),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("call", ["solve", "lift"])
def test_a_model_of_another_tool_is_answered_with_what_to_write(name: str, call: str) -> None:
    module, make, words = MODELS[name]
    model = make(pytest.importorskip(module))
    with pytest.raises(NotAProgramError) as caught:
        getattr(relift, call)(model)
    assert f"relift.{call} takes a relift.Program" in str(caught.value)
    assert f"got a {name}.{type(model).__name__}." in str(caught.value)
    assert words in str(caught.value)


def test_a_model_of_ortools_is_answered_with_what_to_write() -> None:
    # OR-Tools itself cannot be imported here, since it and highspy cannot share a process.
    model = type("Model", (), {"__module__": "ortools.math_opt.python.model"})()
    with pytest.raises(NotAProgramError, match=r"got an ortools\.Model\. Write: relift\.ortools\.solve\(model\)\."):
        relift.solve(model)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "model.mps",
            "relift.solve takes a relift.Program or a relift.Lifting; got the str 'model.mps'. "
            "Read the file first: relift.solve(relift.read_program('model.mps')).",
        ),
        (
            Path("plan.rlp"),
            "relift.solve takes a relift.Program or a relift.Lifting; got the PosixPath PosixPath('plan.rlp'). "
            "A model over tables: relift.Model.from_file(path).solve(data=...).",
        ),
        (np.eye(2), "got a numpy.ndarray. Give the matrices: relift.Program(P, q, A, l, u, lb, ub)."),
        (3, "got an int. Models of CVXPY"),
        (None, "got a NoneType. Models of CVXPY, highspy, linopy, PyPSA, Pyomo, PuLP, OR-Tools and qpsolvers go"),
        ({"q": [1]}, "got a dict. Models of CVXPY"),
    ],
    ids=["path", "rlp", "array", "int", "None", "dict"],
)
def test_paths_arrays_and_other_things_are_answered_with_what_to_write(given: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        relift.solve(given)
    assert message in str(caught.value)


def test_a_model_over_tables_has_its_own_solve() -> None:
    with pytest.raises(NotAProgramError, match=r"A relift\.Model has a method solve of its own\."):
        relift.solve(relift.Model.from_text("var x >= 0; minimize: x;"))  # type: ignore[arg-type]


def test_every_module_that_is_named_exists() -> None:
    for name in ("cvxpy", "highs", "linopy", "ortools", "pulp", "pyomo", "qpsolvers"):
        if name == "highs":
            assert hasattr(importlib.import_module("relift.highs"), "solve")
        else:
            assert (Path(relift.__file__).parent / f"{name}.py").exists()
