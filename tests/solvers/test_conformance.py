"""Every installed backend passes the conformance suite, and all of them agree on random programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.errors import OptionError
from relift.program import Program, Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.registry import backend_names, get_backend
from relift.testing.asserts import assert_optimal
from relift.testing.conformance import Case
from relift.testing.conformance_backend import (
    CANNOT,
    CASES,
    OPTIMAL,
    check_backend,
    printed_by,
    run_case,
    tolerance_of,
)


def installed() -> tuple[str, ...]:
    names = list(backend_names(installed=True))
    try:
        import qpsolvers

        names += [f"qpsolvers:{name}" for name in ("clarabel", "piqp") if name in qpsolvers.available_solvers]
    except ImportError:
        pass
    try:
        import cvxpy

        names += [f"cvxpy:{name}" for name in ("CLARABEL", "OSQP") if name in cvxpy.installed_solvers()]
    except ImportError:
        pass
    return tuple(names)


BACKENDS = installed()


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_backend_conforms(name: str, case: Case) -> None:
    reason = run_case(get_backend(name), case)
    if reason:
        pytest.xfail(reason)


def test_excuses_name_real_backends_and_cases() -> None:
    names = {case.name for case in CASES}
    assert all(set(excuses) <= names for excuses in CANNOT.values())


def test_case_that_passes_against_its_excuse_fails() -> None:
    lp = next(case for case in CASES if case.name == "lp")
    with pytest.raises(AssertionError, match="clarabel passes lp, which it is said to fail"):
        run_case(get_backend("clarabel"), lp, cannot={"lp": "no reason"})


def test_whole_suite_sums_up() -> None:
    outcome = check_backend(get_backend("highs"))
    assert not outcome.failed
    assert len(outcome.passed) + len(outcome.cannot) == len(CASES)


@pytest.mark.parametrize("name", ["highs", "clarabel", *(n for n in ("osqp", "piqp", "scs") if n in BACKENDS)])
def test_verbose_prints_a_log(name: str) -> None:
    program = OPTIMAL["qp"][0]()
    assert printed_by(lambda: get_backend(name).solve(program, SolverSettings(verbose=True)))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("highs", {"simplex_iteration_limit": 0, "presolve": "off"}),
        ("clarabel", {"max_iter": 1}),
        ("osqp", {"max_iter": 1}),
        ("piqp", {"max_iter": 1}),
        ("scs", {"max_iters": 1}),
        ("qpsolvers:clarabel", {"max_iter": 1}),
        ("cvxpy:CLARABEL", {"max_iter": 1}),
    ],
)
def test_own_options_win_over_the_common_words(name: str, options: dict[str, object]) -> None:
    if name not in BACKENDS:
        pytest.skip(f"{name} is not installed")
    program = OPTIMAL["lp"][0]()
    solution = get_backend(name).solve(program, SolverSettings(iteration_limit=500, options=options))
    assert not solution.status.has_point


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("highs", {"presolv": "off"}, "highs has no option 'presolv'. Did you mean 'presolve'?"),
        ("highs", {"presolve": "sometimes"}, "highs refuses presolve='sometimes'"),
        ("clarabel", {"max_iters": 3}, "clarabel has no option 'max_iters'. Did you mean 'max_iter'?"),
        ("clarabel", {"max_iter": "many"}, "clarabel refuses max_iter='many'"),
        ("osqp", {"eps": 1e-3}, "osqp has no option 'eps'. Did you mean 'eps_rel'?"),
        ("piqp", {"maxiter": 3}, "piqp has no option 'maxiter'. Did you mean 'max_iter'?"),
        ("scs", {"max_iter": 3}, "scs has no option 'max_iter'. Did you mean 'max_iters'?"),
    ],
)
def test_wrong_option_is_named_with_the_nearest(name: str, options: dict[str, object], message: str) -> None:
    if name not in BACKENDS:
        pytest.skip(f"{name} is not installed")
    with pytest.raises(OptionError) as caught:
        get_backend(name).solve(OPTIMAL["qp"][0](), SolverSettings(options=options))
    assert message in str(caught.value)


def test_highs_starts_from_a_basis() -> None:
    random = np.random.default_rng(3)
    A = random.random((60, 80))
    program = Program(q=-random.random(80), A=A, u=A.sum(axis=1), lb=0, ub=3)
    backend = get_backend("highs")
    cold = backend.solve(program, SolverSettings(options={"presolve": "off"}))
    start = Solution(Status.OPTIMAL, cold.x, cold.y, cold.w)
    warm = backend.solve(program, SolverSettings(options={"presolve": "off"}), start)
    assert_optimal(program, warm)
    assert cold.iterations is not None
    assert warm.iterations is not None
    assert warm.iterations < cold.iterations / 4


@pytest.mark.parametrize("name", [n for n in ("osqp", "scs") if n in BACKENDS])
def test_first_order_backends_gain_from_a_warm_start(name: str) -> None:
    random = np.random.default_rng(4)
    B = random.standard_normal((30, 30))
    program = Program(P=B @ B.T, q=random.standard_normal(30), lb=0, ub=1, assume_convex=True)
    backend = get_backend(name)
    cold = backend.solve(program, SolverSettings())
    warm = backend.solve(program, SolverSettings(), Solution(Status.OPTIMAL, cold.x, cold.y, cold.w))
    assert cold.iterations is not None
    assert warm.iterations is not None
    assert warm.iterations < cold.iterations


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Feasible (at a drawn point), bounded (by a box), convex."""
    n, m = draw(st.integers(1, 6)), draw(st.integers(0, 6))
    numbers = st.integers(-3, 3)
    vector = lambda size: np.array(draw(st.lists(numbers, min_size=size, max_size=size)), dtype=float)  # noqa: E731
    A = vector(m * n).reshape(m, n)
    inside, q = vector(n), vector(n)
    below, above = np.abs(vector(m)), np.abs(vector(m))
    l, u = A @ inside - below, A @ inside + above
    l[draw(st.lists(st.booleans(), min_size=m, max_size=m))] = -np.inf
    P = None
    if draw(st.booleans()):
        B = vector(n * n).reshape(n, n)
        P = B @ B.T
    return Program(P=P, q=q, A=A, l=l, u=u, lb=inside - 4, ub=inside + 4, assume_convex=True)


DIRECT: list[Backend] = [get_backend(name) for name in backend_names(installed=True)]


@settings(max_examples=80, deadline=None)
@given(program=programs())
def test_backends_agree_on_feasible_bounded_programs(program: Program) -> None:
    values = {}
    for backend in DIRECT:
        if backend.name == "highs" and not program.is_linear:
            limits = SolverSettings(time_limit=5.0)
        else:
            limits = SolverSettings()
        solution = backend.solve(program, limits)
        if backend.name == "highs" and not program.is_linear and solution.status is not Status.OPTIMAL:
            continue  # its active-set QP method is known to fail now and then; what matters is that it says so
        if backend.is_first_order and solution.status is Status.ITERATION_LIMIT:
            continue  # some degenerate linear programs take a first-order method for ever
        assert_optimal(program, solution, tolerance_of(backend))
        values[backend.name] = solution.objective
    spread = max(values.values()) - min(values.values())
    assert spread <= 2e-5 * (1 + abs(values["clarabel"])), values
