"""relift as a solver of qpsolvers: ``import relift.qpsolvers``, then ``solve_qp(..., solver="relift")``.

Importing this module adds ``"relift"`` to the solvers that qpsolvers knows, dense and sparse. Keywords are those of
:func:`relift.solve`; ``backend`` names the solver of the small program, one of relift or any other of qpsolvers.

>>> import numpy as np, qpsolvers, relift.qpsolvers
>>> x = qpsolvers.solve_qp(np.eye(3), -np.ones(3), G=np.ones((1, 3)), h=np.array([1.5]), solver="relift")
>>> x.round(6).tolist()
[0.5, 0.5, 0.5]
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from relift.bridges.solve_qp import solve_problem
from relift.errors import MissingPackageError, OptionError
from relift.solvers.osqp_library import load_quietly

if TYPE_CHECKING:
    import qpsolvers

NAME = "relift"
"""What qpsolvers calls the solver."""


def relift_solve_problem(
    problem: qpsolvers.Problem,
    initvals: ArrayLike | None = None,
    verbose: bool = False,
    *,
    backend: str | None = None,
    **options: object,
) -> qpsolvers.Solution:
    """Solve a problem of qpsolvers after lifting; this is what ``solver="relift"`` calls.

    Parameters
    ----------
    problem
        What to solve.
    initvals
        A point to start from, for the backends that use one.
    verbose
        Let the backend print its log.
    backend
        The solver of the small program: a backend of relift, or another solver of qpsolvers; None for relift's choice.
    **options
        Keywords of :func:`relift.solve`, such as ``lift`` or ``approximate``; all others are passed to the backend.

    Returns
    -------
    qpsolvers.Solution
        ``extras["relift"]`` is the :class:`relift.Result`, with classes and certificate.

    Raises
    ------
    OptionError
        If `backend` is relift itself.

    Examples
    --------
    >>> import numpy as np, qpsolvers
    >>> problem = qpsolvers.Problem(np.eye(2), -np.ones(2), lb=np.zeros(2))
    >>> solution = qpsolvers.solve_problem(problem, solver="relift", backend="clarabel")
    >>> solution.found, solution.extras["relift"].lifting.small.n_variables
    (True, 1)
    """
    if backend is not None and backend.removeprefix("qpsolvers:").lower() == NAME:
        raise OptionError("relift cannot be its own backend.", "Name another solver, or remove backend=.")
    return solve_problem(problem, backend, initvals, verbose, **options)


def register() -> None:
    """Add ``"relift"`` to the solvers of qpsolvers; once more changes nothing."""
    tables = _tables()
    tables.solve_function[NAME] = relift_solve_problem
    for names in (tables.available_solvers, tables.dense_solvers, tables.sparse_solvers):
        if NAME not in names:
            names.append(NAME)


def unregister() -> None:
    """Take ``"relift"`` out of the solvers of qpsolvers again."""
    tables = _tables()
    tables.solve_function.pop(NAME, None)
    for names in (tables.available_solvers, tables.dense_solvers, tables.sparse_solvers):
        if NAME in names:
            names.remove(NAME)


def _tables() -> ModuleType:
    """The module of qpsolvers that holds its lists of solvers."""
    load_quietly()  # qpsolvers imports OSQP
    try:
        from qpsolvers import solvers
    except ImportError:
        raise MissingPackageError(
            "relift.qpsolvers needs qpsolvers.", "Install it: pip install 'relift[backends]'."
        ) from None
    return solvers


register()
