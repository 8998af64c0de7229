"""PuLP solves through relift by a solver class of its own, and reads its answers as those of HiGHS."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bridges.highs.models import has_unique_duals, random_model

from relift.errors import OptionError, UnsupportedError

pulp = pytest.importorskip("pulp")
bridge = pytest.importorskip("relift.pulp")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:pulp")


def problem_of(program: Any) -> tuple[Any, list[Any], list[Any]]:
    """The program as a problem of PuLP, with its variables and constraints; a row with two sides becomes two."""
    problem = pulp.LpProblem("random", pulp.LpMinimize if program.sense == "min" else pulp.LpMaximize)
    sides = [[None if np.isinf(value) else float(value) for value in bound] for bound in (program.lb, program.ub)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        x = [pulp.LpVariable(f"x{j:02}", lb, ub) for j, (lb, ub) in enumerate(zip(*sides, strict=True))]
    problem += pulp.lpSum(float(c) * v for c, v in zip(program.q, x, strict=True)) + program.r
    rows: list[Any] = []
    for i, row in enumerate(program.A.toarray()):
        expression = pulp.lpSum(float(a) * v for a, v in zip(row, x, strict=True))
        if program.l[i] == program.u[i]:
            rows.append(expression == float(program.u[i]))
        else:
            rows += [expression >= float(program.l[i])] if np.isfinite(program.l[i]) else []
            rows += [expression <= float(program.u[i])] if np.isfinite(program.u[i]) else []
    for i, row in enumerate(rows):
        problem += row, f"row{i}"
    return problem, x, rows


@settings(max_examples=100)
@given(seed=st.integers(0, 10**9))
def test_status_objective_values_and_duals_are_those_of_highs(seed: int) -> None:
    program = random_model(seed).replace(P=None)
    (theirs, x, rows), (ours, own_x, own_rows) = problem_of(program), problem_of(program)
    theirs.solve(pulp.HiGHS(msg=False))
    ours.solve(bridge.RELIFT(msg=False))
    if ours.status != theirs.status:  # HiGHS 1.15 calls some unbounded models infeasible in its presolve
        theirs.solve(pulp.HiGHS(msg=False, presolve="off"))
    assert (ours.status, ours.sol_status) == (theirs.status, theirs.sol_status)
    if ours.status != pulp.LpStatusOptimal:
        return
    assert pulp.value(ours.objective) == pytest.approx(pulp.value(theirs.objective), rel=1e-6, abs=1e-6)
    point = np.array([v.varValue for v in x])
    assert [v.varValue for v in own_x] == pytest.approx(point, rel=1e-5, abs=1e-5)
    if has_unique_duals(program, point):
        assert [c.pi for c in own_rows] == pytest.approx([c.pi for c in rows], rel=1e-5, abs=1e-5)
        assert [c.slack for c in own_rows] == pytest.approx([c.slack for c in rows], rel=1e-5, abs=1e-5)
        assert [v.dj for v in own_x] == pytest.approx([v.dj for v in x], rel=1e-5, abs=1e-5)


def knapsack() -> Any:
    problem = pulp.LpProblem("knapsack", pulp.LpMaximize)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        x = [pulp.LpVariable(f"take{j}", cat="Binary") for j in range(3)]
    problem += 3 * x[0] + 2 * x[1] + 2 * x[2]
    problem += 2 * x[0] + 1.5 * x[1] + 1.5 * x[2] <= 3.2
    return problem


def test_integer_problems_are_refused_or_passed_whole_or_relaxed() -> None:
    with pytest.raises(UnsupportedError) as caught:
        knapsack().solve(bridge.RELIFT(msg=False))
    assert str(caught.value) == (
        "the model has 3 integer or semi-continuous variables, the first is 'take0'; relift solves continuous programs."
        ' integers="pass" passes the whole model to HiGHS, without lifting.'
    )
    problem, solver = knapsack(), bridge.RELIFT(msg=False, integers="pass")
    problem.solve(solver)
    assert (pulp.value(problem.objective), solver.outcome.is_lifted) == (4.0, False)
    problem, solver = knapsack(), bridge.RELIFT(msg=False, mip=False)
    problem.solve(solver)
    assert pulp.value(problem.objective) == pytest.approx(4.6)
    assert solver.outcome.is_lifted


def test_options_of_relift_and_of_highs_are_taken_and_others_refused() -> None:
    problem = problem_of(random_model(3).replace(P=None))[0]
    solver = bridge.RELIFT(msg=False, lift="none", presolve="off", timeLimit=60, threads=1)
    problem.solve(solver)
    assert solver.outcome.result.lifting.settings.lift == "none"
    assert problem.solverModel.getOptionValue("presolve")[1] == "off"
    with pytest.raises(OptionError, match="neither relift nor HiGHS has an option 'presolv'"):
        problem.solve(bridge.RELIFT(msg=False, presolv="off"))


def test_pulp_makes_the_solver_by_its_name_and_from_its_dictionary() -> None:
    assert "RELIFT" in pulp.listSolvers(onlyAvailable=True)
    solver = pulp.getSolver("RELIFT", msg=False, integers="pass", lift="counting", timeLimit=5, threads=2)
    again = pulp.getSolverFromDict(solver.toDict())
    assert solver.toDict() == again.toDict() == solver.to_dict()
    assert (again.words, again.integers, again.timeLimit, again.threads) == ({"lift": "counting"}, "pass", 5, 2)


def test_registering_twice_lists_the_name_once_and_unregistering_takes_it_out() -> None:
    bridge.register()
    bridge.register()
    assert pulp.listSolvers().count("RELIFT") == 1
    bridge.unregister()
    try:
        assert "RELIFT" not in pulp.listSolvers()
    finally:
        bridge.register()
