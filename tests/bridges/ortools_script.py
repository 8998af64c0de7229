"""Run by ``test_ortools.py`` in a process of its own, since OR-Tools and highspy cannot share one.

Solves random models by GLOP and by relift, through MathOpt and through pywraplp, and stops at the first difference.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from ortools.linear_solver import pywraplp
from ortools.math_opt.python import mathopt

import relift.ortools
from relift.errors import NotAProgramError, UnsupportedError


def parts(seed: int) -> tuple[Any, ...]:
    """Costs, matrix, row bounds and variable bounds with generic numbers; some infeasible, some unbounded."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 6)), int(random.integers(1, 5))
    A = np.where(random.random((m, n)) < 0.8, random.standard_normal((m, n)).round(3), 0.0)
    point = random.standard_normal(n).round(3)
    activity = A @ point + (random.standard_normal(m) * 3 if random.random() < 0.2 else 0)
    kind = random.integers(0, 4, m)
    l = np.where(kind == 1, -np.inf, np.where(kind == 3, activity, activity - random.random(m)))
    u = np.where(kind == 2, np.inf, np.where(kind == 3, activity, activity + random.random(m)))
    box = random.integers(0, 4, n)
    lb = np.where(box == 1, -np.inf, point - random.random(n))
    ub = np.where(box == 2, np.inf, point + random.random(n))
    return random.standard_normal(n).round(3), A, l, u, lb, ub, bool(random.random() < 0.5)


def mathopt_model(seed: int) -> Any:
    q, A, l, u, lb, ub, is_max = parts(seed)
    model = mathopt.Model()
    gone = model.add_variable(name="gone")  # ids with a gap
    x = [model.add_variable(lb=lb[j], ub=ub[j], name=f"x{j}") for j in range(q.size)]
    model.delete_variable(gone)
    for i in range(l.size):
        row = model.add_linear_constraint(lb=l[i], ub=u[i])
        for j in np.flatnonzero(A[i]):
            row.set_coefficient(x[j], A[i, j])
    objective = sum(q[j] * x[j] for j in range(q.size)) + 1.5
    model.maximize(objective) if is_max else model.minimize(objective)
    return model


def pywraplp_model(seed: int) -> Any:
    q, A, l, u, lb, ub, is_max = parts(seed)
    solver = pywraplp.Solver.CreateSolver("GLOP")
    x = [solver.NumVar(lb[j], ub[j], f"x{j}") for j in range(q.size)]
    for i in range(l.size):
        row = solver.Constraint(l[i], u[i])
        for j in np.flatnonzero(A[i]):
            row.SetCoefficient(x[j], A[i, j])
    objective = sum(q[j] * x[j] for j in range(q.size)) + 1.5
    solver.Maximize(objective) if is_max else solver.Minimize(objective)
    return solver


def check_mathopt(seed: int) -> str:
    model = mathopt_model(seed)
    theirs, ours = mathopt.solve(model, mathopt.SolverType.GLOP), relift.ortools.solve(model)
    reason = theirs.termination.reason
    if reason == mathopt.TerminationReason.INFEASIBLE_OR_UNBOUNDED:
        assert ours.termination.reason.name in {"INFEASIBLE", "UNBOUNDED"}, seed
        return reason.name
    assert ours.termination.reason == reason, (seed, ours.termination, reason)
    if reason == mathopt.TerminationReason.OPTIMAL:
        assert np.isclose(ours.objective_value(), theirs.objective_value(), rtol=1e-6, atol=1e-6), seed
        for name in ("variable_values", "dual_values", "reduced_costs"):
            mine, other = getattr(ours, name)(), getattr(theirs, name)()
            assert np.allclose([mine[k] for k in other], list(other.values()), rtol=1e-5, atol=1e-5), (seed, name)
    return reason.name


def check_pywraplp(seed: int) -> str:
    theirs, ours = pywraplp_model(seed), pywraplp_model(seed)
    status, own = theirs.Solve(), relift.ortools.solve(ours)
    if status == pywraplp.Solver.INFEASIBLE and own == pywraplp.Solver.UNBOUNDED:
        # pywraplp has no word for "infeasible or unbounded", and says infeasible.
        assert check_mathopt(seed) in {"INFEASIBLE_OR_UNBOUNDED", "UNBOUNDED"}, seed
        return "infeasible or unbounded"
    assert own == status, (seed, own, status)
    if status == pywraplp.Solver.OPTIMAL:
        assert np.isclose(ours.Objective().Value(), theirs.Objective().Value(), rtol=1e-6, atol=1e-6), seed
        for mine, other in zip(ours.variables(), theirs.variables(), strict=True):
            assert np.isclose(mine.solution_value(), other.solution_value(), rtol=1e-5, atol=1e-5), seed
            assert np.isclose(mine.reduced_cost(), other.reduced_cost(), rtol=1e-5, atol=1e-5), seed
        for mine, other in zip(ours.constraints(), theirs.constraints(), strict=True):
            assert np.isclose(mine.dual_value(), other.dual_value(), rtol=1e-5, atol=1e-5), seed
    return str(status)


def check_quadratic() -> None:
    model = mathopt.Model()
    x = [model.add_variable(lb=0, ub=3) for _ in range(4)]
    demand = model.add_linear_constraint(sum(x) >= 6)
    model.minimize(sum(v * v for v in x) + x[0] * x[1] + 2)
    result = relift.ortools.solve(model)
    values = result.variable_values()
    assert result.termination.reason == mathopt.TerminationReason.OPTIMAL
    gradient = 2 * values[x[2]]
    assert np.isclose(result.dual_values()[demand], gradient, atol=1e-5)
    assert np.isclose(2 * values[x[0]] + values[x[1]], gradient, atol=1e-5)
    assert "relift: 4 -> 2 variables" in result.termination.detail


def check_refusals() -> None:
    model = mathopt.Model()
    whole = model.add_integer_variable(lb=0, ub=5, name="whole")
    model.maximize(2 * whole)
    with pytest.raises(UnsupportedError, match="the model has 1 integer variables, the first is 'whole'"):
        relift.ortools.solve(model)
    assert relift.ortools.solve(model, integers="pass").objective_value() == 10.0
    with pytest.raises(NotAProgramError, match=r"takes a mathopt\.Model or a pywraplp\.Solver; got a str"):
        relift.ortools.solve("model.mps")


if __name__ == "__main__":
    seen = [check_mathopt(seed) for seed in range(int(sys.argv[1]))]
    seen += [check_pywraplp(seed) for seed in range(int(sys.argv[1]))]
    check_quadratic()
    check_refusals()
    print(sorted(set(seen)))
