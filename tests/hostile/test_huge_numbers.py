"""Bounds that mean infinity and costs that forbid: programs that any solver solves, and that ended as failures."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import relift.cvxpy
from relift import Program, Solution, Status, certify, solve
from relift.errors import BackendError
from relift.lifting.lifting import lift
from relift.program.huge_bounds import NO_BOUND
from relift.settings import LiftSettings, SolverSettings
from relift.solvers.highs_ import HighsBackend
from relift.solvers.huge_numbers import DETERRENT, GAP_OF_BOUNDS, GAP_OF_COSTS, LARGE_BOUND, without_huge_numbers
from relift.symmetry import centres

INF = np.inf


def drawn(seed: int, huge: float, *, is_curved: bool) -> Program:
    """A feasible program of measured numbers, with bounds that mean infinity."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 12)), int(random.integers(1, 7))
    A, point = random.normal(size=(m, n)), random.random(n)
    l = np.where(random.random(m) < 0.5, A @ point, -huge)
    u = np.where(random.random(m) < 0.5, A @ point + 0.1, huge)
    root = random.normal(size=(n, n))
    P = root @ root.T + np.eye(n) if is_curved else None
    q = random.normal(size=n) if is_curved else random.random(n)
    return Program(P, q, A, l, u, -huge if is_curved and seed % 2 else 0.0, huge)


def without(program: Program, huge: float) -> Program:
    """The same with infinite bounds."""
    sides = {name: getattr(program, name) for name in ("l", "u", "lb", "ub")}
    return program.replace(
        **{name: np.where(abs(side) >= huge, np.copysign(INF, side), side) for name, side in sides.items()}
    )


@pytest.mark.parametrize("huge", [1e9, 1e12, 1e20, 1e30, sys.float_info.max])
@pytest.mark.parametrize("is_curved", [False, True])
def test_a_bound_that_means_infinity_changes_nothing(huge: float, is_curved: bool) -> None:
    for seed in range(1000, 1012):  # where more rows are active than there are variables, last digits are not found
        program = drawn(seed, huge, is_curved=is_curved)
        result, plain = solve(program), solve(without(program, huge))
        assert result.status == plain.status == Status.OPTIMAL
        assert result.objective == pytest.approx(plain.objective, rel=1e-6, abs=1e-6)


def test_bounds_that_no_solver_can_hold_are_infinite() -> None:
    huge, large = 1e31, 9.9e30
    program = Program(q=[1, 1], A=np.eye(2), l=[-huge, -large], u=[large, huge], lb=[-large, -huge], ub=[huge, large])
    assert program.l.tolist() == [-INF, -large]
    assert program.u.tolist() == [large, INF]
    assert program.lb.tolist() == [-large, -INF]
    assert program.ub.tolist() == [INF, large]
    assert program.replace(lb=-sys.float_info.max).lb.tolist() == [-INF, -INF]
    with pytest.raises(relift.errors.BoundsError, match=r"lb\[0\] = inf and ub\[0\] = inf are infeasible bounds"):
        program.replace(lb=huge, ub=huge)


@pytest.mark.parametrize(("bound", "passes"), [(9.9e19, False), (1e20, True), (1e30, True)])
def test_a_gradient_of_nearly_nothing_may_lead_to_a_bound_that_means_infinity(bound: float, passes: bool) -> None:
    program = Program(q=[1.0], A=[[1.0]], l=[2.0], lb=-bound, ub=bound)
    answer = Solution(Status.OPTIMAL, x=np.array([2.0]), y=np.array([-1 + 1e-12]), w=np.zeros(1))
    assert certify(program, answer).is_optimal == passes


@pytest.mark.parametrize(("bound", "passes"), [(9.9e19, False), (1e20, True), (1e30, True)])
def test_a_proof_of_infeasibility_may_lean_on_a_bound_that_means_infinity_by_nearly_nothing(
    bound: float, passes: bool
) -> None:
    program = Program(q=[1.0, 1.0], A=np.ones((2, 2)), l=[2.0, -INF], u=[INF, 1.0], lb=-bound, ub=bound)
    claim = Solution(Status.INFEASIBLE, ray_y=np.array([-1, 1 + 1e-7]), ray_w=np.full(2, -1e-7))
    assert certify(program, claim).is_proved == passes


def test_an_optimum_without_huge_bounds_has_to_keep_them() -> None:
    program = Program(q=[1.0], A=[[1e-10]], l=[-3e10], lb=-1e20)  # the row lets x go to -3e20
    answer = Solution(Status.OPTIMAL, x=np.array([-3e20]), y=np.array([-1e10]), w=np.zeros(1))
    assert certify(program, answer).primal_residual == pytest.approx(2 / 3)
    assert solve(program).x == pytest.approx([-1e20])


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5])
def test_rows_that_exclude_each_other_are_infeasible_whatever_bound_means_infinity(seed: int) -> None:
    random = np.random.default_rng(seed)
    A = random.normal(size=(3, 4)).round(2)
    y, x = random.random(3) + 0.1, random.random(4)
    rows, l, u = np.vstack([A, y @ A]), np.r_[A @ x, -INF], np.r_[np.full(3, INF), y @ (A @ x) - 1]
    result = solve(Program(q=random.normal(size=4), A=rows, l=l, u=u, lb=-1e20, ub=1e20))
    assert result.status == Status.INFEASIBLE
    assert result.certificate.is_proved
    assert certify(result.program, result.solution).is_proved
    assert any("without bounds of 1e20" in each.message for each in result.attempts)


def test_highs_gets_no_bounds_on_which_it_crashes() -> None:
    def status(bound: float) -> Status:
        sides, ends = (np.zeros(0), np.zeros(0)), (np.full(1, -bound), np.full(1, INF))
        made = Program.trusted(None, np.ones(1), Program(q=[1.0]).A, *sides, *ends)  # as other units make them
        return HighsBackend().solve(made, SolverSettings()).status

    assert status(1e30) == Status.OPTIMAL
    assert status(1e31) == Status.UNBOUNDED


@pytest.mark.parametrize("forbidden", [1e12, 1e20, 1e30, 1e100])
@pytest.mark.parametrize("is_curved", [False, True])
def test_a_cost_that_forbids_a_variable_leaves_the_others_their_digits(forbidden: float, is_curved: bool) -> None:
    random = np.random.default_rng(3)
    A = random.random((4, 6)).round(2) + 0.1
    q = random.random(6).round(2) + 0.5
    P = np.diag([2.0, 3, 1, 4, 2, 1]) if is_curved else None
    program = Program(P, np.append(forbidden, q[1:]), A, A @ np.ones(6), lb=0, ub=50)
    expected = solve(program.replace(ub=[0.0, *[50.0] * 5], q=np.append(1.0, q[1:]))).objective
    result = solve(program)
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(expected, rel=1e-6)
    assert certify(program, result.solution).is_optimal


def test_what_a_cost_has_lost_is_a_dual_value_of_its_bound() -> None:
    program = Program(q=[1, 2, 1e20], A=[[1, 1, 1]], l=[3], lb=0, ub=[2, INF, INF])
    moderate = without_huge_numbers(program)
    assert moderate is not None
    assert moderate.program.q.tolist() == [1, 2, 2 * DETERRENT]
    y, w = np.array([-2.0]), np.array([1.0, 0.0, 2.0 - 2 * DETERRENT])
    small = Solution(Status.OPTIMAL, x=np.array([2.0, 1.0, 0.0]), y=y, w=w)
    assert certify(moderate.program, small).is_optimal
    expanded = moderate.expand(small)
    assert certify(program, expanded).is_optimal
    assert moderate.restrict(expanded).w == pytest.approx(w, rel=1e-3)  # of 1e20 no more is left


def test_what_is_huge_and_what_is_not() -> None:
    def bounds(*ub: float) -> list[float] | None:
        found = without_huge_numbers(Program(q=np.ones(len(ub)), lb=0, ub=ub))
        return None if found is None else found.program.ub.tolist()

    assert bounds(5, LARGE_BOUND) == [5, INF]
    assert bounds(5, 0.99 * LARGE_BOUND) is None
    assert bounds(LARGE_BOUND / GAP_OF_BOUNDS * 1.01, LARGE_BOUND) is None  # another bound comes near
    assert bounds(1e18, NO_BOUND) == [1e18, INF]
    assert bounds(1e18, 0.99 * NO_BOUND) is None
    assert bounds(1e12, 1e12) is None  # all in one unit
    must = Program(q=[1.0, 1.0], lb=[1e25, 0], ub=[INF, 1])
    assert without_huge_numbers(must) is None  # a demand, not a missing bound

    def costs(*q: float) -> list[float] | None:
        found = without_huge_numbers(Program(q=q, lb=0))
        return None if found is None else found.program.q.tolist()

    assert costs(1, -GAP_OF_COSTS) == [1, -DETERRENT]
    assert costs(1, 0.99 * GAP_OF_COSTS) is None
    assert costs(1e20, 2e20) is None


@pytest.mark.parametrize("huge", [1e15, 1e20])
def test_an_empty_row_is_judged_by_its_own_side(huge: float) -> None:
    for l, u in ((4.0, huge), (-huge, -4.0)):
        program = Program(q=[-1.0], A=[[0.0]], l=[l], u=[u], lb=0, ub=10)
        result = solve(program)
        assert lift(program).small.n_rows == 1
        assert result.status == Status.INFEASIBLE  # it was dropped, as if 4 were rounding beside 1e15
        assert result.certificate.is_proved


def test_an_empty_row_that_rounding_has_broken_holds() -> None:
    fixed = np.array([1e9, 0.1, 0.2, -1e9 - 0.3])
    program = Program(q=np.ones(5), A=[[1, 1, 1, 1, 0]], l=[0], u=[0], lb=[*fixed, 1], ub=[*fixed, 2])
    assert fixed.sum() != 0
    assert solve(program).status == Status.OPTIMAL


def test_variables_are_not_measured_from_the_middle_of_a_bound_that_means_infinity() -> None:
    program = Program(q=[2, 2, -2], A=[[-1, -2, 1]], u=[-150], lb=0, ub=[1e25, 1, 1])
    result = solve(program)
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(298)
    assert len(result.attempts) == 1
    assert lift(program).small.n_variables == 3
    boxes = Program(q=[1, -1], A=[[1, -1]], l=[-1e12], lb=0, ub=1e12)
    assert lift(boxes).small.n_variables == 1  # all in one unit: reflected as ever


@pytest.mark.parametrize(("width", "is_centred"), [(1.9, True), (2.1, False)])
def test_the_largest_centre(width: float, is_centred: bool) -> None:
    from relift.symmetry import finite_field as field
    from relift.symmetry.own_scales import Intervals

    low, high = np.zeros(2), np.array([1.0, width * centres.LARGEST_CENTRE])
    program = Program(q=[1, 1], lb=low, ub=high)
    found = centres.centres_of(program, Intervals(low, high, field.images(low), field.images(high)))
    assert found is not None
    assert found.floats.tolist() == [0.5, width * centres.LARGEST_CENTRE / 2 if is_centred else 0.0]
    assert (found.images[1] != 0) == is_centred


def test_a_program_that_is_harder_lifted_is_solved_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from relift import certified_solve
    from relift.solvers.answers import ask

    program = Program(P=np.eye(3), q=-np.ones(3), A=np.ones((1, 3)), u=[1.0], lb=0)

    def fails_if_small(backend: object, small: Program, *rest: object) -> Solution:
        if small.n_variables < program.n_variables:
            return Solution(Status.FAILURE, message="too small")
        return ask(backend, small, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(certified_solve, "ask", fails_if_small)
    result = solve(program)
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(-5 / 6)
    assert result.lifting.is_trivial
    assert "too small" in result.attempts[0].message
    assert result.attempts[-1].message.startswith("without lifting: ")
    cp = pytest.importorskip("cvxpy")
    x = cp.Variable(3, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) - cp.sum(x)), [cp.sum(x) <= 1])
    problem.solve(solver=relift.cvxpy.Lifted(recover=False))
    assert problem.solver_stats.extra_stats["classes"] == "not used"


def test_where_nothing_passes_the_answer_is_that_of_the_lifted_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from relift import certified_solve

    monkeypatch.setattr(certified_solve, "ask", lambda *_: Solution(Status.FAILURE, message="nothing"))
    program = Program(q=np.ones(3), A=np.ones((1, 3)), l=[1.0], lb=0)
    result = solve(program)
    assert result.status == Status.FAILURE
    assert result.lifting.small.n_variables == 1
    assert {each.message for each in result.attempts} == {"nothing", "without lifting: nothing"}
    whole = solve(lift(program, LiftSettings("none", reduce=False)))
    assert not any("without lifting" in each.message for each in whole.attempts)


def test_a_failure_says_that_numbers_are_too_far_apart() -> None:
    measured = np.array([0.31, 0.77, 1.13])
    program = Program(q=1e200 * measured, A=[measured], l=[1.7], lb=0)
    result = solve(program)
    assert result.status == Status.FAILURE
    assert "The costs reach from 3.1e+199 to 1.13e+200; write numbers in units nearer to each other" in result.message


def test_a_solver_that_cannot_be_stopped_is_not_given_a_time_limit_of_ours() -> None:
    pytest.importorskip("piqp")
    falls = Program(
        P=np.diag([0, 0, 0, 0, 1.5, 1.5]), q=[-2, 1, 0, -2, 1, 1], A=[[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0]],
        l=[9, -4], u=[INF, 6], lb=[-INF, -3, -INF, 2, -3, -3], ub=[0, 3, INF, 2.5, INF, 3],
    )  # fmt: skip
    result = solve(falls, backend="piqp")
    assert result.status == Status.FAILURE
    assert any("without lifting" in each.message for each in result.attempts)


@pytest.mark.parametrize("factor", [1e16, 1e199, 1e201, 1e300, 1e305])
def test_coefficients_near_the_largest_float_do_not_crash_highs(factor: float) -> None:
    program = Program(q=[1.0, 1.0, 1.0], A=np.array([[1.0, 2, 3], [4, 5, 6]]) * factor, l=1.0, lb=0.0, ub=10.0)
    if factor <= 1e199:
        assert HighsBackend().solve(program, SolverSettings()).status is Status.OPTIMAL
    else:
        with pytest.raises(BackendError, match="HiGHS refuses the program"):
            HighsBackend().solve(program, SolverSettings())
    result = solve(program)
    assert result.status is Status.OPTIMAL
    assert certify(program, result.solution).is_optimal
