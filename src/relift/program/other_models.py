"""What to write for a model of another tool, when it is given where a program is needed."""

from __future__ import annotations

from pathlib import PurePath

from relift.errors import NotAProgramError

_WAYS = {
    "cvxpy": 'Write: import relift.cvxpy; problem.solve(solver="RELIFT").',
    "gurobipy": "Write it as a file, model.write('model.mps'), and read it: relift.read_program('model.mps').",
    "highspy": "Write: relift.highs.solve(h).",
    "jax": "Give the matrices: relift.Program(P, q, A, l, u, lb, ub).",
    "linopy": 'Write: import relift.linopy; model.solve(solver_name="relift").',
    "numpy": "Give the matrices: relift.Program(P, q, A, l, u, lb, ub).",
    "ortools": "Write: relift.ortools.solve(model).",
    "pulp": "Write: problem.solve(relift.pulp.RELIFT()).",
    "pyomo": 'Write: import relift.pyomo; pyomo.environ.SolverFactory("relift").solve(model).',
    "pypsa": 'Write: import relift.linopy; network.optimize(solver_name="relift").',
    "qpsolvers": 'Write: import relift.qpsolvers; qpsolvers.solve_problem(problem, solver="relift").',
    "scipy": "Give the matrices: relift.Program(P, q, A, l, u, lb, ub); relift.linprog has SciPy's arguments.",
    "sklearn": "relift.ml has estimators with scikit-learn's names.",
}
"""By the package that the type of the model comes from, or one of its bases."""
_ALL = (
    "Models of CVXPY, highspy, linopy, PyPSA, Pyomo, PuLP, OR-Tools and qpsolvers go through relift.cvxpy, relift.highs"
    " and so on; files through relift.read_program; models over tables through relift.Model."
)


def other_model_error(call: str, given: object) -> NotAProgramError:
    """Make the error for something that is not a program, with what to write for it.

    Parameters
    ----------
    call
        The function it was given to.
    given
        What was given.

    Examples
    --------
    >>> print(other_model_error("relift.solve", "model.mps"))
    relift.solve takes a relift.Program or a relift.Lifting; got the str 'model.mps'. Read the file first:
    relift.solve(relift.read_program('model.mps')).
    """
    kind = type(given)
    what = f"the {kind.__name__} {given!r}"[:90] if isinstance(given, (str, PurePath)) else _full_name(kind)
    taken = "a relift.Program or a relift.Lifting" if call == "relift.solve" else "a relift.Program"
    return NotAProgramError(f"{call} takes {taken}; got {what}.", _what_to_write(call, given))


def _what_to_write(call: str, given: object) -> str:
    if isinstance(given, (str, PurePath)):
        if str(given).endswith(".rlp"):
            return "A model over tables: relift.Model.from_file(path).solve(data=...)."
        return f"Read the file first: {call}(relift.read_program({str(given)[:60]!r}))."
    packages = [base.__module__.partition(".")[0] for base in type(given).__mro__]
    if packages[0] == "relift":
        # A model in relift's own language, or a result.
        return "A relift.Model has a method solve of its own." if type(given).__name__ == "Model" else _ALL
    return next((_WAYS[package] for package in packages if package in _WAYS), _ALL)


def _full_name(kind: type) -> str:
    """The name of a type after its article."""
    package = kind.__module__.partition(".")[0]
    return with_article(kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}")


def with_article(name: str) -> str:
    """Write the name of a type after its article.

    Examples
    --------
    >>> with_article("int"), with_article("Model")
    ('an int', 'a Model')
    """
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"
