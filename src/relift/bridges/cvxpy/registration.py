"""``solver="RELIFT"`` and ``method="relift"``: entries in CVXPY's own tables, made on import and removable."""

from __future__ import annotations

from typing import Any

import cvxpy
from cvxpy.error import SolverError
from cvxpy.reductions.solvers import defines

from relift.bridges.cvxpy.options import OWN_WORDS
from relift.bridges.cvxpy.solver import NAME, Lifted
from relift.errors import OptionError

METHOD = "relift"


def register() -> None:
    """Make ``solver="RELIFT"`` and ``method="relift"`` known to CVXPY; doing it twice changes nothing.

    Importing ``relift.cvxpy`` does it.
    """
    if not isinstance(defines.SOLVER_MAP_CONIC.get(NAME), Lifted):
        defines.SOLVER_MAP_CONIC[NAME] = Lifted()
    for names in _lists_of_names():
        if NAME not in names:
            names.append(NAME)
    cvxpy.Problem.register_solve(METHOD, solve_lifted)


def unregister() -> None:
    """Take both names out of CVXPY's tables again; instances of ``Lifted`` go on working."""
    defines.SOLVER_MAP_CONIC.pop(NAME, None)
    for names in _lists_of_names():
        if NAME in names:
            names.remove(NAME)
    cvxpy.Problem.REGISTERED_SOLVE_METHODS.pop(METHOD, None)


def is_registered() -> bool:
    """Whether CVXPY knows both names."""
    return NAME in defines.SOLVER_MAP_CONIC and METHOD in cvxpy.Problem.REGISTERED_SOLVE_METHODS


def solve_lifted(problem: cvxpy.Problem, *args: Any, **options: Any) -> float | None:
    """What ``problem.solve(method="relift", ...)`` calls.

    Parameters
    ----------
    problem
        The problem.
    *args
        Positional arguments of ``problem.solve``: the solver first.
    **options
        Keywords of :class:`Lifted` and of ``problem.solve``. ``solver`` names the backend, or is a :class:`Lifted`,
        whose options the keywords replace for this solve.

    Raises
    ------
    SolverError
        If the problem has integer or boolean variables.
    OptionError
        If ``solver`` is neither, or names another backend than ``backend`` does.

    Examples
    --------
    >>> import cvxpy as cp
    >>> x = cp.Variable(3)
    >>> problem = cp.Problem(cp.Minimize(cp.norm1(x)), [cp.sum(x) >= 3])
    >>> float(problem.solve(method="relift", solver="CLARABEL").round(6))
    3.0
    >>> problem.solver_stats.extra_stats["backend"]
    'cvxpy:CLARABEL'
    """
    if problem.is_mixed_integer():
        raise SolverError(
            "relift does not take integer or boolean variables: averages of integers are not integers. "
            "Solve this problem with a mixed-integer solver, or relax it."
        )
    solver = args[0] if args else options.pop("solver", None)
    if isinstance(solver, Lifted):
        value: float | None = problem.solve(solver, *args[1:], **options)
        return value
    own = {name: options.pop(name) for name in list(options) if name in OWN_WORDS}
    if isinstance(solver, str):
        if own.setdefault("backend", solver) != solver:
            raise OptionError(
                f"solver={solver!r} and backend={own['backend']!r} name two solvers.", "Give one of them."
            )
    elif solver is not None:
        raise OptionError(f"solver={solver!r} is not a name.", "Give the name of a solver, or a relift.cvxpy.Lifted.")
    lifted: float | None = problem.solve(Lifted(**own), *args[1:], **options)
    return lifted


def _lists_of_names() -> list[list[str]]:
    """The lists that name solvers, in the versions of CVXPY that have them."""
    names = ("CONIC_SOLVERS", "INSTALLED_SOLVERS", "INSTALLED_CONIC_SOLVERS")
    return [getattr(defines, name) for name in names if hasattr(defines, name)]
