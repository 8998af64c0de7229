"""Pyomo knows relift by name after ``import relift.pyomo``, and reads its answers as those of HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bridges.highs.models import has_unique_duals, random_model

import relift
from relift.errors import OptionError, UnsupportedError

pyo = pytest.importorskip("pyomo.environ")
bridge = pytest.importorskip("relift.pyomo")
factory = pytest.importorskip("pyomo.contrib.solver.common.factory").SolverFactory


def model_of(program: Any) -> Any:
    """The program as a model of Pyomo, with suffixes for dual values and reduced costs."""
    model = pyo.ConcreteModel()
    n = program.n_variables
    sides = [[None if np.isinf(v) else float(v) for v in bound] for bound in (program.lb, program.ub)]
    model.x = pyo.Var(range(n), bounds=lambda _, j: (sides[0][j], sides[1][j]))
    rows = program.A.toarray()
    model.rows = pyo.ConstraintList()
    for i in range(program.n_rows):
        ends = [None if np.isinf(v) else float(v) for v in (program.l[i], program.u[i])]
        if ends != [None, None] and np.any(rows[i]):
            model.rows.add((ends[0], sum(float(rows[i, j]) * model.x[j] for j in range(n) if rows[i, j]), ends[1]))
    objective = sum(float(program.q[j]) * model.x[j] for j in range(n)) + program.r
    if program.P is not None:
        P = program.P.toarray()
        objective += 0.5 * sum(float(P[j, k]) * model.x[j] * model.x[k] for j in range(n) for k in range(n))
    model.total = pyo.Objective(expr=objective, sense=pyo.minimize if program.sense == "min" else pyo.maximize)
    model.dual, model.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT), pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return model


def solved(program: Any, name: str, **options: Any) -> tuple[Any, Any]:
    """The model and what Pyomo says of its solve."""
    model = model_of(program)
    solver = factory(name)
    solver.config.load_solutions = solver.config.raise_exception_on_nonoptimal_result = False
    return model, solver.solve(model, solver_options=options)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9))
def test_status_objective_values_and_duals_are_those_of_highs(seed: int) -> None:
    program = random_model(seed).replace(P=None)
    (theirs, their_end), (ours, own_end) = solved(program, "highs"), solved(program, "relift")
    if own_end.termination_condition != their_end.termination_condition:
        # HiGHS 1.15 calls some unbounded models infeasible in its presolve.
        theirs, their_end = solved(program, "highs", presolve="off")
    assert own_end.termination_condition == their_end.termination_condition
    assert own_end.solution_status == their_end.solution_status
    if own_end.termination_condition.name != "convergenceCriteriaSatisfied":
        return
    assert own_end.incumbent_objective == pytest.approx(their_end.incumbent_objective, rel=1e-6, abs=1e-6)
    used = [j for j in range(program.n_variables) if theirs.x[j] in their_end.solution_loader.get_vars()]
    point = np.zeros(program.n_variables)
    point[used] = [their_end.solution_loader.get_vars()[theirs.x[j]] for j in used]
    values = own_end.solution_loader.get_vars()
    assert [values[ours.x[j]] for j in used] == pytest.approx(point[used], rel=1e-5, abs=1e-5)
    if has_unique_duals(program, point):
        pairs = ((ours, own_end.solution_loader), (theirs, their_end.solution_loader))
        duals = [[loader.get_duals()[row] for row in model.rows.values()] for model, loader in pairs]
        assert duals[0] == pytest.approx(duals[1], rel=1e-5, abs=1e-5)
        costs = [[loader.get_reduced_costs()[model.x[j]] for j in used] for model, loader in pairs]
        assert costs[0] == pytest.approx(costs[1], rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_quadratic_models_agree_with_highs(sense: str) -> None:
    found = []
    for name in ("highs", "relift"):
        model = pyo.ConcreteModel()
        sign = 1 if sense == "min" else -1
        model.x = pyo.Var(range(5), bounds=(0, 3))
        objective = sign * sum(model.x[j] ** 2 + 2 * model.x[j] for j in range(5)) + sign * model.x[0] * model.x[1]
        model.total = pyo.Objective(expr=objective, sense=pyo.minimize if sense == "min" else pyo.maximize)
        model.demand = pyo.Constraint(expr=sum(model.x[j] for j in range(5)) >= 4)
        model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
        results = pyo.SolverFactory(name).solve(model)
        assert str(results.solver.termination_condition) == "optimal"
        found.append([pyo.value(model.total), model.dual[model.demand], *(model.x[j].value for j in range(5))])
    assert found[1] == pytest.approx(found[0], rel=1e-5, abs=1e-5)


def test_a_model_that_is_changed_is_solved_again() -> None:
    model = pyo.ConcreteModel()
    model.need = pyo.Param(mutable=True, initialize=6.0)
    model.x = pyo.Var(range(3), bounds=(0, 5))
    model.total = pyo.Objective(expr=sum(model.x[j] for j in range(3)))
    model.demand = pyo.Constraint(expr=sum(model.x[j] for j in range(3)) >= model.need)
    solver = factory("relift")
    for need, status in ((6.0, "optimal"), (9.0, "optimal"), (16.0, "infeasible"), (3.0, "optimal")):
        model.need.set_value(need)
        solver.config.load_solutions = solver.config.raise_exception_on_nonoptimal_result = status == "optimal"
        solver.solve(model)
        assert str(solver.outcome.status) == status
        assert status == "infeasible" or pyo.value(model.total) == pytest.approx(need)


def test_a_parameter_that_becomes_zero_takes_its_coefficient_out() -> None:
    model = pyo.ConcreteModel()
    model.share = pyo.Param(mutable=True, initialize=2.0)
    model.x = pyo.Var(range(3), bounds=(0, 5))
    model.total = pyo.Objective(expr=model.x[0] + 2 * model.x[1] + 3 * model.x[2])
    model.demand = pyo.Constraint(expr=model.share * model.x[0] + model.x[1] + model.x[2] >= 6)
    solver = pyo.SolverFactory("relift")
    for share, total in ((2.0, 3.0), (0.0, 13.0), (1.0, 7.0)):
        model.share.set_value(share)
        solver.solve(model)
        assert pyo.value(model.total) == pytest.approx(total)


@pytest.mark.parametrize("seed", range(12))
def test_objectives_that_follow_each_other_leave_nothing_behind(seed: int) -> None:
    """Pyomo itself leaves the quadratic part of the last objective in the model where the next one has none."""
    random = np.random.default_rng(seed)
    model = pyo.ConcreteModel()
    model.x = x = pyo.Var(range(3), bounds=(0, 10))
    model.weight = pyo.Param(mutable=True, initialize=1.0)
    model.demand = pyo.Constraint(expr=x[0] + x[1] + x[2] >= 7)
    model.total = pyo.Objective(expr=x[0])
    model.y = pyo.Var(bounds=(-1, 3))
    objectives = [
        (pyo.minimize, x[0] + 2 * x[1] + 3 * x[2]),
        (pyo.minimize, x[0] + model.weight * x[1] ** 2),
        (pyo.maximize, x[0] + x[1]),
        (pyo.maximize, x[0] - model.weight * (x[2] - 2) ** 2),
        (pyo.minimize, (x[2] - 3) ** 2 + x[0] ** 2 + 0.5 * x[0] * x[1] + x[1] ** 2),
        (pyo.minimize, (model.y - 1) ** 2 + model.y + x[1]),
        (pyo.minimize, 5.0),
    ]
    kept = pyo.SolverFactory("relift")
    for number in random.permutation(len(objectives)):
        sense, expression = objectives[number]
        model.total.set_value(expression)
        model.total.sense = sense
        model.weight.set_value(float(random.integers(1, 4)))
        found = []
        for solver in (kept, pyo.SolverFactory("relift")):
            solver.solve(model)
            found.append(pyo.value(model.total))
        assert found[0] == pytest.approx(found[1], rel=1e-5, abs=1e-5)


def test_integer_models_are_refused_or_passed_whole() -> None:
    model = pyo.ConcreteModel()
    model.take = pyo.Var(range(3), domain=pyo.Binary)
    model.total = pyo.Objective(expr=3 * model.take[0] + 2 * model.take[1] + 2 * model.take[2], sense=pyo.maximize)
    model.room = pyo.Constraint(expr=2 * model.take[0] + 1.5 * model.take[1] + 1.5 * model.take[2] <= 3.2)
    solver = pyo.SolverFactory("relift")
    with pytest.raises(UnsupportedError) as caught:
        solver.solve(model)
    assert str(caught.value) == (
        "the model has 3 integer or semi-continuous variables, the first is 'take[0]'; relift solves continuous "
        'programs. integers="pass" passes the whole model to HiGHS, without lifting.'
    )
    solver.solve(model, options={"integers": "pass"})
    assert (pyo.value(model.total), solver.outcome.is_lifted) == (4.0, False)


def test_options_of_relift_and_of_highs_are_taken_and_others_refused() -> None:
    model = model_of(random_model(3).replace(P=None))
    solver = pyo.SolverFactory("relift")
    solver.options["lift"] = "none"
    solver.options["presolve"] = "off"
    solver.solve(model, timelimit=60)
    assert solver.outcome.result.lifting.settings.lift == "none"
    assert dict(solver.options.items()) == {"lift": "none", "presolve": "off"}
    with pytest.raises(OptionError, match="neither relift nor HiGHS has an option 'presolv'"):
        solver.solve(model, options={"presolv": "off"})


def test_unregistering_takes_the_name_out_of_both_factories() -> None:
    bridge.unregister()
    try:
        assert not pyo.SolverFactory("relift").available(exception_flag=False)
        assert "relift" not in factory
    finally:
        bridge.register()
    assert pyo.SolverFactory("relift").available()


def test_results_name_relift_and_its_version() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(1, 2))
    model.total = pyo.Objective(expr=model.x)
    results = factory("relift").solve(model)
    assert (results.solver_name, ".".join(map(str, results.solver_version))) == ("relift", relift.__version__)
