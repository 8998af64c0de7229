"""``qpsolvers.solve_qp`` with lifting: the same signature, the same answer; qpsolvers itself is not needed.

Signs of dual values agree: ``Px + q + G'z + A'y + z_box = 0`` here and there.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from relift.arrays import MatrixLike, Vector
from relift.errors import MissingPackageError
from relift.formats.npz import program_from_parts
from relift.program.arrays import as_floats
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import OWN_OPTIONS

if TYPE_CHECKING:
    import qpsolvers

    from relift.result import Result

_OWN_WORDS = tuple(name for name in OWN_OPTIONS if name not in {"backend", "verbose", "warm_start"})
"""Keywords of :func:`relift.solve` that keep their names here; the others are ``solver``, ``verbose``, ``initvals``."""
_FOUND = (Status.OPTIMAL, Status.OPTIMAL_WITHIN_GAP)


def solve_qp(
    P: MatrixLike | None,
    q: ArrayLike,
    G: MatrixLike | None = None,
    h: ArrayLike | None = None,
    A: MatrixLike | None = None,
    b: ArrayLike | None = None,
    lb: ArrayLike | None = None,
    ub: ArrayLike | None = None,
    solver: str | None = None,
    initvals: ArrayLike | None = None,
    verbose: bool = False,
    **kwargs: object,
) -> Vector | None:
    """Minimise ``½x'Px + q'x`` with ``Gx <= h``, ``Ax = b``, ``lb <= x <= ub``, as qpsolvers, after lifting.

    Parameters
    ----------
    P, q
        Symmetric cost matrix, dense or sparse, and cost vector. An asymmetric P is an error.
    G, h
        Inequalities.
    A, b
        Equalities.
    lb, ub
        Bounds of the variables; infinite entries mean no bound.
    solver
        A backend of relift, such as ``"clarabel"``, or any solver of qpsolvers, if that is installed. None
        leaves the choice to relift.
    initvals
        A point to start from, for the backends that use one.
    verbose
        Let the backend print its log.
    **kwargs
        Keywords of :func:`relift.solve`, such as ``lift``, ``tolerance`` or ``approximate``; all others are passed to
        the backend.

    Returns
    -------
    ndarray or None
        The optimum; None if there is none, or none was found that passes its check on the full program.

    Raises
    ------
    ProgramError
        If the arrays do not fit, hold NaN, or P is asymmetric or not convex. It is also a ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> x = solve_qp(np.eye(3), -np.ones(3), G=np.ones((1, 3)), h=np.array([1.5]))
    >>> x.round(6).tolist()
    [0.5, 0.5, 0.5]
    >>> solve_qp(np.eye(1), np.zeros(1), lb=np.array([1.0]), G=np.eye(1), h=np.zeros(1)) is None
    True
    """
    result = _solve(program_from_parts(P, q, G, h, A, b, lb, ub), solver, initvals, verbose, kwargs)
    if result.status == Status.OPTIMAL_INACCURATE:
        warnings.warn(f"no answer passed its check: {result.message or result.certificate}", stacklevel=2)
    return np.array(result.x) if result.status in _FOUND else None


def _solve(
    program: Program, solver: str | None, initvals: ArrayLike | None, verbose: bool, words: dict[str, Any]
) -> Result:
    from relift.pipeline import solve

    own = {name: words.pop(name) for name in _OWN_WORDS if name in words}
    if words:
        own["backend_options"] = {**(own.get("backend_options") or {}), **words}
    if initvals is not None:
        own["warm_start"] = Solution(Status.OPTIMAL_INACCURATE, x=as_floats("initvals", initvals).ravel())
    return solve(program, backend=_backend_name(solver), verbose=verbose, **own)


def _backend_name(solver: str | None) -> str:
    """Find the backend of relift by that name, else the solver of qpsolvers."""
    from relift.solvers.registry import backend_names

    if solver is None or solver == "auto":
        return "auto"
    return solver if ":" in solver or solver in backend_names() else f"qpsolvers:{solver}"


def program_from_qpsolvers(problem: qpsolvers.Problem) -> Program:
    """Make the program of a ``qpsolvers.Problem``: the rows of G first, then those of A.

    Parameters
    ----------
    problem
        With attributes ``P, q, G, h, A, b, lb, ub``.
    """
    return program_from_parts(*(getattr(problem, name) for name in ("P", "q", "G", "h", "A", "b", "lb", "ub")))


def solve_problem(
    problem: qpsolvers.Problem,
    solver: str | None = None,
    initvals: ArrayLike | None = None,
    verbose: bool = False,
    **kwargs: object,
) -> qpsolvers.Solution:
    """Solve a ``qpsolvers.Problem`` into a ``qpsolvers.Solution``, with dual values, after lifting.

    Parameters
    ----------
    problem
        What to solve.
    solver, initvals, verbose
        As in :func:`solve_qp`.
    **kwargs
        As in :func:`solve_qp`.

    Returns
    -------
    qpsolvers.Solution
        ``extras["relift"]`` is the :class:`relift.Result`.

    Raises
    ------
    MissingPackageError
        If qpsolvers is not installed.
    """
    try:
        import qpsolvers
    except ImportError:
        raise MissingPackageError(
            "solve_problem needs qpsolvers.", "Install it: pip install 'relift[backends]'."
        ) from None
    result = _solve(program_from_qpsolvers(problem), solver, initvals, verbose, kwargs)
    solution = qpsolvers.Solution(problem, extras={"relift": result}, found=result.status in _FOUND)
    if not solution.found:
        return solution
    n_inequalities = 0 if problem.G is None else int(result.program.n_rows - _n_equalities(problem))
    y: Vector | None = result.y
    # Copies: the arrays of a result are read-only, those of qpsolvers are not.
    solution.x, solution.obj = np.array(result.x), result.objective
    solution.z_box = None if result.w is None else np.array(result.w)
    if y is not None:
        solution.z, solution.y = np.array(y[:n_inequalities]), np.array(y[n_inequalities:])
    solution.solve_time = result.timings.get("solve")
    solution.build_time = sum(result.timings.values()) - result.timings.get("solve", 0.0)
    return solution


def _n_equalities(problem: qpsolvers.Problem) -> int:
    return 0 if problem.b is None else int(problem.b.size)
