"""The conformance suite of backends: small named cases that each of them must pass.

A backend of one's own is tested by

>>> from relift.solvers.registry import get_backend
>>> check_backend(get_backend("clarabel")).failed
{}

or, with one test for each case, by ``pytest.mark.parametrize("case", CASES, ids=str)`` and :func:`run_case`.
What a backend cannot do is written in :data:`CANNOT` with the reason; a case marked so that passes all the same
is a failure.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from scipy import sparse

from relift.errors import OptionError, ReliftError
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.testing.asserts import assert_infeasible, assert_optimal, assert_unbounded
from relift.testing.conformance import Case

INF = float("inf")


@final
@dataclass(frozen=True)
class Conformance:
    """Outcome of the suite.

    Parameters
    ----------
    passed
        Names of the cases passed.
    cannot
        Cases that failed as was expected, with the reason.
    failed
        Cases that failed, with the message, and cases marked as impossible that passed.
    """

    passed: tuple[str, ...]
    cannot: Mapping[str, str]
    failed: Mapping[str, str]


def run_case(backend: Backend, case: Case[Backend], cannot: Mapping[str, str] | None = None) -> str:
    """Run one case; return the reason if it fails as expected, an empty text if it passes.

    Parameters
    ----------
    backend
        The backend under test.
    case
        One of :data:`CASES`.
    cannot
        Cases it is excused from, with reasons; those of :data:`CANNOT` if not given.

    Raises
    ------
    AssertionError
        If the case fails, or passes although it is excused.
    """
    reason = (CANNOT.get(backend.name, {}) if cannot is None else cannot).get(case.name, "")
    try:
        case.check(backend)
    except (AssertionError, ReliftError):
        if reason:
            return reason
        raise
    if reason:
        raise AssertionError(f"{backend.name} passes {case.name}, which it is said to fail ({reason})")
    return ""


def check_backend(backend: Backend, cannot: Mapping[str, str] | None = None) -> Conformance:
    """Run every case.

    Parameters
    ----------
    backend
        The backend under test.
    cannot
        Cases it is excused from, with reasons; those of :data:`CANNOT` if not given.
    """
    passed, excused, failed = [], {}, {}
    for case in CASES:
        try:
            reason = run_case(backend, case, cannot)
        except (AssertionError, ReliftError) as error:
            failed[case.name] = str(error)
        else:
            if reason:
                excused[case.name] = reason
            else:
                passed.append(case.name)
    return Conformance(tuple(passed), excused, failed)


def tolerance_of(backend: Backend) -> float:
    """Return what an answer must meet: less for first-order methods."""
    return 1e-5 if backend.is_first_order else 1e-6


# --- programs with a known optimum


def _small_qp() -> Program:
    """Build an optimum at (0, 1), value -4, on an equality, a one-sided row and a bound."""
    return Program(P=[[2, 0], [0, 2]], q=[-2, -5], A=[[1, 2], [3, 0], [1, 1]], l=[-INF, 0, 1], u=[2, INF, 1], lb=0)


def _badly_scaled() -> Program:
    """Min ½(1e-4 a² + 1e4 b²) - a - b  s.t.  1e3 a + 1e-3 b <= 2e6: a = 2000 - 1e-10, b = 1e-4."""
    return Program(P=[[1e-4, 0], [0, 1e4]], q=[-1, -1], A=[[1e3, 1e-3]], u=[2e6])


OPTIMAL: dict[str, tuple[Callable[[], Program], float]] = {
    "lp": (lambda: Program(q=[1, 1], A=[[1, 2], [2, 1]], l=[2, 2], lb=0), 4 / 3),
    "lp_with_free_variables": (lambda: Program(q=[1, 1], A=[[1, 2], [2, 1], [1, -1]], l=[2, 2, 0]), 4 / 3),
    "qp": (_small_qp, -4.0),
    "qp_with_bounds_only": (lambda: Program(P=np.eye(2), q=[-3, 1], lb=0, ub=2), -4.0),
    "qp_without_constraints": (lambda: Program(P=[[2, 1], [1, 2]], q=[-3, -3]), -3.0),
    "equality_rows": (lambda: Program(P=np.eye(2), A=[[1, 1]], l=1, u=1), 0.25),
    "range_rows": (lambda: Program(P=np.eye(2), q=[-3, 0], A=[[1, -1]], l=-1, u=1), -3.5),
    "one_sided_rows": (lambda: Program(P=np.eye(2), A=[[1, 1], [1, -1]], l=[2, -INF], u=[INF, -1]), 1.25),
    "free_rows": (lambda: Program(P=np.eye(2), A=[[1, 1], [5, 7]], l=[1, -INF], u=[1, INF]), 0.25),
    "only_free_rows": (lambda: Program(q=[1, -1], A=[[1, 1]], lb=-1, ub=2), -3.0),
    "degenerate": (lambda: Program(q=[-1, -1], A=[[1, 0], [0, 1], [1, 1], [2, 1]], u=[1, 1, 2, 3], lb=0), -2.0),
    "redundant_rows": (
        lambda: Program(P=np.eye(3), A=[[1, 1, 1], [1, 1, 1], [2, 2, 2], [1, 0, 0]], l=[3, 3, 6, 0], u=[3, 3, 6, 9]),
        1.5,
    ),
    "no_rows": (lambda: Program(q=[1, -1, 0], lb=-1, ub=2), -3.0),
    "empty_rows": (lambda: Program(q=[1, 1], A=[[0, 0], [1, 1], [0, 0]], l=[-1, 1, 0], u=[0, 2, 0], lb=0), 1.0),
    "no_variables": (lambda: Program(A=np.zeros((2, 0)), l=[-1, 0], u=[1, 0], r=2.5), 2.5),
    "fixed_variables": (lambda: Program(P=np.eye(3), A=[[1, 1, 1]], l=4, u=4, lb=[1, -9, 0], ub=[1, 9, 0]), 5.0),
    "all_variables_fixed": (lambda: Program(q=[1, 2], A=[[1, 1]], u=4, lb=[1, 2], ub=[1, 2]), 5.0),
    "zero_objective": (lambda: Program(A=[[1, 2]], l=3, u=3, lb=0, ub=5), 0.0),
    "constant": (lambda: Program(P=[[2]], q=[-2], r=10), 9.0),
    "singular_P": (
        lambda: Program(P=[[1, 0, 0], [0, 0, 0], [0, 0, 0]], q=[-1, 1, 0], lb=[-INF, 2, 0], ub=[5, 9, 1]),
        1.5,
    ),
    "dense_P": (lambda: Program(P=np.ones((3, 3)), q=[-1, -1, -1], lb=0, ub=1), -0.5),
    "badly_scaled": (_badly_scaled, 200.0 - 2000.0 - 0.5e-4),
}

INFEASIBLE: dict[str, Callable[[], Program]] = {
    "infeasible_rows": lambda: Program(q=[1, 1], A=[[1, 1], [1, 1]], l=[-INF, 3], u=[1, INF]),
    "infeasible_with_bounds": lambda: Program(q=[1, 1], A=[[1, 1]], u=-1, lb=0),
    "infeasible_equalities": lambda: Program(q=[0, 0], A=[[1, 1], [1, 1]], l=[1, 2], u=[1, 2], lb=-9, ub=9),
    "infeasible_qp": lambda: Program(P=np.eye(2), A=[[1, 1]], l=5, lb=0, ub=1),
    "infeasible_empty_row": lambda: Program(q=[1, 1], A=[[0, 0], [1, 1]], l=[1, 0], lb=0),
    "infeasible_without_variables": lambda: Program(A=np.zeros((2, 0)), l=[-1, 1], u=[1, 2]),
    "infeasible_and_dual_infeasible": lambda: Program(q=[-1, -1], A=[[1, 0], [1, 0]], l=[1, -INF], u=[INF, 0]),
}

UNBOUNDED: dict[str, Callable[[], Program]] = {
    "unbounded_lp": lambda: Program(q=[-1, 0], A=[[-1, 1]], u=1, lb=0),
    "unbounded_lp_without_rows": lambda: Program(q=[0, 1, 0], ub=[1, 1, 1]),
    "unbounded_qp": lambda: Program(P=[[1, 0], [0, 0]], q=[0, -1], A=[[1, -1]], u=1),
    "unbounded_qp_without_rows": lambda: Program(P=[[1, -1], [-1, 1]], q=[-1, -1]),
}


def _check_optimal(build: Callable[[], Program], value: float, backend: Backend) -> None:
    program = build()
    solution = backend.solve(program, SolverSettings())
    assert_optimal(program, solution, tolerance_of(backend))
    if abs(solution.objective - value) > tolerance_of(backend) * (1 + abs(value)):
        raise AssertionError(f"the optimum is {value:.9g}, not {solution.objective:.9g}")
    if solution.backend != backend.name:
        raise AssertionError(f"the answer says it is from {solution.backend!r}, not {backend.name!r}")


def _check_infeasible(build: Callable[[], Program], needs_ray: bool, backend: Backend) -> None:
    program = build()
    solution = backend.solve(program, SolverSettings())
    assert_infeasible(program, solution, tolerance_of(backend), needs_ray=needs_ray)
    if solution.objective != INF:
        raise AssertionError(f"the objective of an infeasible program is {solution.objective}, not inf")


def _check_unbounded(build: Callable[[], Program], needs_ray: bool, backend: Backend) -> None:
    program = build()
    solution = backend.solve(program, SolverSettings())
    assert_unbounded(program, solution, tolerance_of(backend), needs_ray=needs_ray)
    if solution.objective != -INF:
        raise AssertionError(f"the objective of an unbounded program is {solution.objective}, not -inf")


# --- limits, formats, habits


def _larger(seed: int = 0, n: int = 120) -> Program:
    """Build a feasible, bounded QP with dense rows, too large for one iteration or a millisecond."""
    random = np.random.default_rng(seed)
    B = random.standard_normal((n, n // 2))
    A = random.standard_normal((n, n))
    centre = A @ random.standard_normal(n)
    return Program(
        P=B @ B.T / n,
        q=random.standard_normal(n),
        A=A,
        l=centre - 1,
        u=centre + 1,
        lb=-9,
        ub=9,
        assume_convex=True,
    )


def _larger_lp() -> Program:
    return _larger().replace(P=None)


def _limited_or_right(program: Program, solution: Solution, backend: Backend) -> None:
    if solution.status in {Status.TIME_LIMIT, Status.ITERATION_LIMIT}:
        return
    assert_optimal(program, solution, 10 * tolerance_of(backend))


def _check_time_limit(build: Callable[[], Program], backend: Backend) -> None:
    program = build()
    start = time.perf_counter()
    solution = backend.solve(program, SolverSettings(time_limit=1e-3))
    seconds = time.perf_counter() - start
    if seconds > 10:
        raise AssertionError(f"a solve with a limit of 0.001 seconds took {seconds:.1f}")
    _limited_or_right(program, solution, backend)


def _check_iteration_limit(build: Callable[[], Program], backend: Backend) -> None:
    program = build()
    _limited_or_right(program, backend.solve(program, SolverSettings(iteration_limit=1)), backend)


def _reversed_columns(matrix: sparse.csc_array) -> sparse.csc_array:
    """Store the entries of each column from the last row to the first."""
    order = np.concatenate(
        [np.arange(a, b)[::-1] for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)]
    ).astype(np.int64)
    parts = (matrix.data[order], matrix.indices[order], matrix.indptr)
    return sparse.csc_array(parts, shape=matrix.shape)


def _check_format(change: str, backend: Backend) -> None:
    plain = _larger(n=20)
    P, A = sparse.csc_array(plain.P), sparse.csc_array(plain.A)
    match change:
        case "unsorted":
            P, A = _reversed_columns(P), _reversed_columns(A)
        case "csr":
            A = A.tocsr()
        case _:
            for matrix in (P, A):
                matrix.indices, matrix.indptr = (
                    matrix.indices.astype(np.int64),
                    matrix.indptr.astype(np.int64),
                )
    program = Program.trusted(P, plain.q, A, plain.l, plain.u, plain.lb, plain.ub)
    expected, solution = (backend.solve(each, SolverSettings()) for each in (plain, program))
    assert_optimal(plain, solution, tolerance_of(backend))
    if abs(expected.objective - solution.objective) > tolerance_of(backend) * (1 + abs(expected.objective)):
        raise AssertionError(f"{change} input moves the optimum from {expected.objective} to {solution.objective}")


def _check_no_state(backend: Backend) -> None:
    program = _small_qp()
    fresh = type(backend)(backend.solver) if hasattr(backend, "solver") else type(backend)()  # type: ignore[call-arg]
    expected = fresh.solve(program, SolverSettings())
    backend.solve(program, SolverSettings(tolerance=1e-3, iteration_limit=1))
    after = backend.solve(program, SolverSettings())
    if expected.x is None or after.x is None or not np.array_equal(expected.x, after.x):
        raise AssertionError(f"after a loose solve the answer is {after.x}, in a fresh backend {expected.x}")


def printed_by(call: Callable[[], object]) -> str:
    """Return what a call prints, from Python or from C, on standard output and error."""
    libc = ctypes.CDLL(None)
    from_python = io.StringIO()
    sys.stdout.flush()
    sys.stderr.flush()
    libc.fflush(None)
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as file:
        try:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            # Several solvers write through sys.stdout, which need not be descriptor 1.
            with contextlib.redirect_stdout(from_python), contextlib.redirect_stderr(from_python):
                call()
            libc.fflush(None)
        finally:
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)
        file.seek(0)
        return from_python.getvalue() + file.read().decode(errors="replace")


def _check_silent(backend: Backend) -> None:
    builders = (*(build for build, _ in OPTIMAL.values()), *INFEASIBLE.values(), *UNBOUNDED.values())

    def solve_all() -> None:
        for build in builders:
            backend.solve(build(), SolverSettings())
        backend.solve(_small_qp(), SolverSettings(iteration_limit=1))

    text = printed_by(solve_all)
    if text:
        raise AssertionError(f"it prints without verbose=True: {text[:200]!r}")


def _check_unknown_option(backend: Backend) -> None:
    try:
        backend.solve(_small_qp(), SolverSettings(options={"no_such_option": 1}))
    except OptionError as error:
        if "no_such_option" not in str(error):
            raise AssertionError(f"the message does not name the option: {error}") from error
        return
    raise AssertionError("an option that does not exist was taken without a word")


def _check_warm_start(backend: Backend) -> None:
    for build in (OPTIMAL["lp"][0], _small_qp, partial(_larger, n=20)):
        program = build()
        first = backend.solve(program, SolverSettings())
        starts = (
            Solution(Status.OPTIMAL, first.x, first.y, first.w),
            Solution(Status.OPTIMAL, first.x),
            Solution(
                Status.OPTIMAL, np.ones(program.n_variables), np.ones(program.n_rows), -np.ones(program.n_variables)
            ),
        )
        for start in starts:
            again = backend.solve(program, SolverSettings(), start)
            assert_optimal(program, again, tolerance_of(backend))


def _check_one_thread(backend: Backend) -> None:
    assert_optimal(_small_qp(), backend.solve(_small_qp(), SolverSettings(threads=1)), tolerance_of(backend))
    assert_optimal(_small_qp(), backend.solve(_small_qp(), SolverSettings(threads=2)), tolerance_of(backend))


def _check_tolerances(backend: Backend) -> None:
    program = _larger(n=20)
    for tolerance in (1e-3, 1e-8):
        solution = backend.solve(program, SolverSettings(tolerance=tolerance))
        assert_optimal(program, solution, max(tolerance, tolerance_of(backend)))


def _check_version(backend: Backend) -> None:
    if not backend.version()[:1].isdigit():
        raise AssertionError(f"version is {backend.version()!r}")


CASES: tuple[Case[Backend], ...] = (
    *(Case(name, partial(_check_optimal, *parts)) for name, parts in OPTIMAL.items()),
    *(Case(name, partial(_check_infeasible, build, False)) for name, build in INFEASIBLE.items()),
    *(Case(f"{name}:ray", partial(_check_infeasible, build, True)) for name, build in INFEASIBLE.items()),
    *(Case(name, partial(_check_unbounded, build, False)) for name, build in UNBOUNDED.items()),
    *(Case(f"{name}:ray", partial(_check_unbounded, build, True)) for name, build in UNBOUNDED.items()),
    Case("time_limit_lp", partial(_check_time_limit, _larger_lp)),
    Case("time_limit_qp", partial(_check_time_limit, _larger)),
    Case("iteration_limit_lp", partial(_check_iteration_limit, _larger_lp)),
    Case("iteration_limit_qp", partial(_check_iteration_limit, _larger)),
    Case("unsorted_indices", partial(_check_format, "unsorted")),
    Case("csr_input", partial(_check_format, "csr")),
    Case("int64_indices", partial(_check_format, "int64")),
    Case("no_state_between_solves", _check_no_state),
    Case("silent", _check_silent),
    Case("unknown_option_refused", _check_unknown_option),
    Case("warm_start", _check_warm_start),
    Case("threads", _check_one_thread),
    Case("tolerances", _check_tolerances),
    Case("version", _check_version),
)
"""Every case, in the order in which to read them."""

_NO_RAYS = "it hands over no rays"
_EITHER = "the program has both rays, and it finds the one of dual infeasibility first"
_UNTOLD = "qpsolvers reports the iteration limit, at which PIQP ends without a verdict"
_DROPPED = "the library in between drops unknown options in silence"


def _without_rays(*kinds: Mapping[str, object]) -> dict[str, str]:
    names = [name for kind in kinds for name in kind if "without_variables" not in name]
    return {f"{name}:ray": _NO_RAYS for name in names}


_BOTH = dict.fromkeys(("infeasible_and_dual_infeasible", "infeasible_and_dual_infeasible:ray"), _EITHER)
_NO_TIME = dict.fromkeys(("time_limit_lp", "time_limit_qp"), "PIQP cannot be stopped by time")

CANNOT: dict[str, dict[str, str]] = {
    "osqp": {**_BOTH},
    "scs": {**_BOTH},
    "piqp": {**_BOTH, **_NO_TIME, "infeasible_rows:ray": "it stops before its duals are a ray"},
    "qpsolvers:clarabel": _without_rays(INFEASIBLE, UNBOUNDED),
    "qpsolvers:piqp": {
        **_without_rays(INFEASIBLE, UNBOUNDED),
        **_BOTH,
        **_NO_TIME,
        "infeasible_with_bounds": _UNTOLD,
        "infeasible_equalities": _UNTOLD,
        "unknown_option_refused": _DROPPED,
    },
    "cvxpy:CLARABEL": _without_rays(UNBOUNDED),
    "cvxpy:OSQP": {
        **_without_rays(UNBOUNDED),
        **dict.fromkeys(("infeasible_empty_row:ray", "infeasible_and_dual_infeasible:ray"), "its ray proves nothing"),
        "unknown_option_refused": _DROPPED,
    },
}
"""By backend and case: why not."""
