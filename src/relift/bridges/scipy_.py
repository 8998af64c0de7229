r"""``scipy.optimize.linprog`` with lifting: the same signature, the same result.

A SciPy program ``min c'x, A_ub x <= b_ub, A_eq x = b_eq`` is the relift program with both blocks stacked.
SciPy's *marginals* are derivatives of the optimum by right-hand sides and bounds; with relift's dual values
(``Px + q + A'y + w = 0``) :math:`\partial f/\partial b = -y`, :math:`\partial f/\partial lb = \max(-w, 0)`,
:math:`\partial f/\partial ub = -\max(w, 0)`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relift.arrays import Array, Double, Flags, Matrix, MatrixLike, SparseMatrix, Vector, is_sparse
from relift.errors import NotANumberError, NotNumbersError, OptionError, ShapeError, UnsupportedError
from relift.program.program import Program
from relift.program.solution import Status
from relift.program.sparse_structure import checked_sparse
from relift.settings import LiftMethod, Reading, check_choice, suggests_options
from relift.solvers.highs_ import refused_options

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from relift.approximate.options import Approximation
    from relift.result import Result
    from relift.symmetry.partition import Partition

_METHODS = {"highs": {}, "highs-ds": {"solver": "simplex"}, "highs-ipm": {"solver": "ipm"}}
_WORDS = {"maxiter": "iteration_limit", "time_limit": "time_limit", "disp": "verbose", "tol": "tolerance"}
_PRESOLVE = {True: "on", False: "off"}
_EDGE_WEIGHTS = {"dantzig": 0, "devex": 1, "steepest-devex": -1, "steepest": 2}
_CODES = {
    Status.OPTIMAL: (0, "Optimization terminated successfully."),
    Status.OPTIMAL_WITHIN_GAP: (0, "Optimization terminated within the gap asked for, which is proved."),
    Status.ITERATION_LIMIT: (1, "Iteration limit reached."),
    Status.TIME_LIMIT: (1, "Time limit reached."),
    Status.INFEASIBLE: (2, "The problem is infeasible."),
    Status.UNBOUNDED: (3, "The problem is unbounded."),
    Status.OPTIMAL_INACCURATE: (4, "The answer does not pass its check."),
    Status.FAILURE: (4, "Numerical difficulties encountered."),
}


@suggests_options
def linprog(
    c: ArrayLike,
    A_ub: MatrixLike | None = None,
    b_ub: ArrayLike | None = None,
    A_eq: MatrixLike | None = None,
    b_eq: ArrayLike | None = None,
    bounds: Sequence[object] | Array | None = (0, None),
    method: str = "highs",
    callback: object = None,
    options: Mapping[str, object] | None = None,
    x0: object = None,
    integrality: ArrayLike | None = None,
    *,
    lift: LiftMethod = "equitable",
    values: Reading = "decimal",
    digits: int | None = None,
    scale_rows: bool = True,
    reduce: bool = True,
    sizes: bool = True,
    signs: bool = True,
    approximate: Approximation | Partition | float | None = None,
    backend: str = "auto",
) -> OptimizeResult:
    """Minimise a linear objective, as :func:`scipy.optimize.linprog` does, after merging what is symmetric.

    Parameters
    ----------
    c
        Costs.
    A_ub, b_ub
        Rows ``A_ub @ x <= b_ub``.
    A_eq, b_eq
        Rows ``A_eq @ x == b_eq``.
    bounds
        One pair ``(min, max)`` for all variables or one for each; None means no bound. The default is ``(0,
        None)``.
    method
        ``"highs"`` (the backend's own choice), ``"highs-ds"`` or ``"highs-ipm"``; see `backend` for other
        solvers.
    callback
        Not supported, as with SciPy's HiGHS methods.
    options
        ``maxiter``, ``time_limit``, ``disp``, ``tol``; all others are passed to the backend by its own names. What
        HiGHS does not take is left out with a warning, as in SciPy.
    x0
        Not used, as with SciPy's HiGHS methods.
    integrality
        Must be zero: relift solves continuous programs.
    lift, values, digits, scale_rows, reduce, sizes, signs
        How symmetry is looked for, as in :func:`relift.solve`; ``lift="none"`` switches it off.
    approximate
        Merge what is nearly equal and stop at a proved gap, as in :func:`relift.solve`; ``result.relift.gap`` says
        which was reached.
    backend
        The solver of the small program.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x, fun, slack, con, status, success, message, nit, crossover_nit`` and ``ineqlin, eqlin, lower, upper`` with
        ``residual`` and ``marginals``, as SciPy, and its fields of integer programs, which are zero; in ``relift`` the
        :class:`relift.Result` with its certificate. The point is usually not a vertex. Status 0 is only given to an
        answer that passed its check on the full program.

    Raises
    ------
    ProgramError
        If the arrays do not fit, or hold NaN. It is also a ValueError, as SciPy raises.
    OptionError
        If an argument asks for what relift does not do.

    Examples
    --------
    >>> result = linprog([-1, -1], A_ub=[[1, 2], [2, 1]], b_ub=[3, 3])
    >>> result.status, result.x.round(6).tolist(), round(result.fun, 6)
    (0, [1.0, 1.0], -2.0)
    >>> result.ineqlin.marginals.round(6).tolist()
    [-0.333333, -0.333333]
    >>> result.relift.lifting.small.n_variables
    1
    """
    check_choice("method", method, tuple(_METHODS))
    if callback is not None:
        raise UnsupportedError("callback is not supported.", "Use relift.solve(..., progress=...) to follow long work.")
    if integrality is not None and np.any(np.asarray(integrality) != 0):
        raise OptionError(
            "integrality is not zero everywhere.",
            "relift solves continuous programs; remove it to solve the relaxation.",
        )
    if x0 is not None:
        _warn("x0 is not used.")
    crossed, program, n_inequalities = _program(c, A_ub, b_ub, A_eq, b_eq, bounds)
    if crossed:
        return _scipy_result(Status.INFEASIBLE, crossed, program, None, n_inequalities)
    given: dict[str, Any] = {name: value for name, value in (options or {}).items() if value is not None}
    for name in [name for name, value in given.items() if not _fits(name, value)]:
        _warn(f"{name}={given.pop(name)!r} is not what {name} can be, and is left out.")
    settings = {_WORDS[name]: given.pop(name) for name in list(given) if name in _WORDS}
    given = {name: _in_words_of_highs(name, value) for name, value in given.items()}
    if backend in {"auto", "highs"}:
        for name in refused_options(given):
            _warn(f"HiGHS does not take {name}={given.pop(name)!r}, and it is left out.")
    if _METHODS[method]:
        backend = "highs" if backend == "auto" else backend
        given = {**_METHODS[method], **given}
    from relift.pipeline import solve

    result = solve(
        program, lift=lift, values=values, digits=digits, scale_rows=scale_rows, reduce=reduce, sizes=sizes,
        signs=signs, approximate=approximate, backend=backend, backend_options=given or None, **settings,
    )  # fmt: skip
    return _scipy_result(result.status, result.message, program, result, n_inequalities)


def _warn(message: str) -> None:
    from scipy.optimize import OptimizeWarning

    warnings.warn(message, OptimizeWarning, stacklevel=3)


def _fits(name: str, value: object) -> bool:
    """Whether one of SciPy's own options has a value that it can have; the backend judges the others."""
    match name:
        case "maxiter":
            return isinstance(value, (int, np.integer)) and bool(value > 0)
        case "time_limit" | "tol":
            return isinstance(value, (int, float, np.number)) and bool(value > 0)
        case "disp":
            return isinstance(value, (bool, np.bool_))
    return True


def _in_words_of_highs(name: str, value: object) -> object:
    """SciPy has words of its own for two options of HiGHS."""
    if name == "presolve" and isinstance(value, (bool, np.bool_)):
        return _PRESOLVE[bool(value)]
    if name == "simplex_dual_edge_weight_strategy" and value in _EDGE_WEIGHTS:
        return _EDGE_WEIGHTS[value]
    return value


def _program(
    c: object, A_ub: object, b_ub: object, A_eq: object, b_eq: object, bounds: object
) -> tuple[str, Program, int]:
    """Find crossed bounds (to SciPy: infeasible), the program, and its number of inequalities."""
    costs = np.atleast_1d(np.squeeze(_numbers("c", c)))
    if costs.ndim != 1:
        raise ShapeError(f"c has {costs.ndim} dimensions.", "Give one cost for each variable.", "c")
    _check_entries("c", costs, np.isfinite(costs))
    n = costs.size
    upper, right = _rows("A_ub", "b_ub", A_ub, b_ub, n)
    equal, values = _rows("A_eq", "b_eq", A_eq, b_eq, n)
    _check_entries("b_ub", right, right > -np.inf)  # one that is infinite above is no constraint
    _check_entries("b_eq", values, np.isfinite(values))
    lb, ub = _bounds(bounds, n)
    A = (
        sparse.vstack([upper, equal], format="csc")
        if equal.shape[0] and upper.shape[0]
        else (upper if upper.shape[0] else equal)
    )
    l = np.concatenate([np.full(right.size, -np.inf), values])
    crossed = ""
    empty = (lb > ub) | np.isposinf(lb) | np.isneginf(ub)
    if np.any(empty):
        j = int(np.argmax(empty))
        crossed = f"bounds[{j}] is ({lb[j]:.17g}, {ub[j]:.17g}), which leaves no value"
        lb, ub = np.full(n, -np.inf), np.full(n, np.inf)
    return crossed, Program(None, costs, A, l, np.concatenate([right, values]), lb, ub), right.size


def _numbers(name: str, given: object) -> Double:
    if np.ma.is_masked(given):
        raise NotNumbersError(f"{name} has masked entries.", "Fill them with numbers.", name)
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotNumbersError(f"{name} cannot be read as an array of numbers: {error}.", argument=name) from error


def _check_entries(name: str, values: Double, is_good: Flags) -> None:
    """Refuse NaN and infinities by SciPy's name of the argument."""
    if not is_good.all():
        at = tuple(int(i) for i in np.argwhere(~is_good)[0])
        place = ", ".join(map(str, at))
        raise NotANumberError(f"{name}[{place}] is {values[at]}.", "Every entry must be a finite number.", name, at)


def _rows(matrix_name: str, vector_name: str, matrix: object, vector: object, n: int) -> tuple[SparseMatrix, Vector]:
    is_empty = matrix is None or (not sparse.issparse(matrix) and np.asarray(matrix).size == 0)
    right = np.zeros(0) if vector is None else np.atleast_1d(np.squeeze(_numbers(vector_name, vector)))
    if is_empty:
        if right.size:
            raise ShapeError(f"{vector_name} is given, but {matrix_name} is not.", "Give both or none.", matrix_name)
        return sparse.csc_array((0, n)), np.zeros(0)
    block: SparseMatrix | Matrix
    if is_sparse(matrix):
        block = checked_sparse(matrix_name, matrix)
    else:
        block = np.atleast_2d(_numbers(matrix_name, matrix))
        _check_entries(matrix_name, block, np.isfinite(block))
    if len(block.shape) != 2 or block.shape[1] != n:
        raise ShapeError(
            f"{matrix_name} must have {n} columns, as c has entries; its shape is {block.shape}.",
            "",
            matrix_name,
        )
    if right.shape != (block.shape[0],):
        raise ShapeError(
            f"{vector_name} has {right.size} entries, but {matrix_name} has {block.shape[0]} rows.",
            "",
            vector_name,
        )
    return sparse.csc_array(block), right


def _bounds(bounds: object, n: int) -> tuple[Vector, Vector]:
    if bounds is None or np.size(np.asarray(bounds, dtype=object)) == 0:
        bounds = (0, None)
    try:
        pairs = np.array(bounds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ShapeError("bounds is neither one pair (min, max) nor one for each variable.", "", "bounds") from error
    if pairs.shape in {(2,), (1, 2)}:
        pairs = np.tile(pairs.reshape(1, 2), (n, 1))
    if pairs.shape != (n, 2):
        raise ShapeError(
            f"bounds has shape {pairs.shape}.",
            f"Give one pair (min, max), or {n} pairs, one for each variable.",
            "bounds",
        )
    # None has become NaN: no bound.
    lb = np.where(np.isnan(pairs[:, 0]), -np.inf, pairs[:, 0])
    ub = np.where(np.isnan(pairs[:, 1]), np.inf, pairs[:, 1])
    return lb, ub


def _scipy_result(
    status: Status, note: str, program: Program, result: Result | None, n_inequalities: int
) -> OptimizeResult:
    code, message = _CODES.get(status, _CODES[Status.FAILURE])
    x = y = w = None
    if result is not None and status.has_point:
        # Copies: the arrays of a result are read-only, those of SciPy are not.
        x, y, w = (None if vector is None else np.array(vector) for vector in (result.x, result.y, result.w))
    activity = None if x is None else np.asarray(program.A @ x)
    slack = None if activity is None else program.u[:n_inequalities] - activity[:n_inequalities]
    con = None if activity is None else program.u[n_inequalities:] - activity[n_inequalities:]

    def side(residual: Vector | None, marginals: Vector | None) -> OptimizeResult:
        return _mapping(residual=residual, marginals=marginals)

    # SciPy tells these of every program that has a point.
    of_integers = {} if x is None else {"mip_node_count": 0, "mip_dual_bound": 0.0, "mip_gap": 0.0}
    return _mapping(
        x=x,
        fun=None if x is None else float(program.q @ x),
        slack=slack,
        con=con,
        status=code,
        success=code == 0,
        message=f"{message} ({note})" if note else message,
        nit=0 if result is None else result.iterations or 0,
        crossover_nit=0 if result is None else result.solution.statistics.get("crossover_iterations", 0),
        ineqlin=side(slack, None if y is None else 0.0 - y[:n_inequalities]),
        eqlin=side(con, None if y is None else 0.0 - y[n_inequalities:]),
        lower=side(None if x is None else x - program.lb, _of_bounds(w, program.lb, 1.0)),
        upper=side(None if x is None else program.ub - x, _of_bounds(w, program.ub, -1.0)),
        relift=result,
        **of_integers,
    )


def _mapping(**entries: object) -> OptimizeResult:
    from scipy.optimize import OptimizeResult

    result = OptimizeResult()
    result.update(entries)
    return result


def _of_bounds(w: Vector | None, bound: Vector, sign: float) -> Vector | None:
    """Marginals of the lower (sign 1) or upper bounds (sign -1); a bound that is not there has none."""
    return None if w is None else sign * np.where(np.isfinite(bound), np.maximum(-sign * w, 0.0), 0.0) + 0.0
