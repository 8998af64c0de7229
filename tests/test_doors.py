"""Every door of relift has the same options by the same names, or says what to do instead."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relift
from relift.cli.run import run
from relift.errors import OptionError, UnknownOptionError
from relift.settings import OWN_OPTIONS

LIFTING = ("lift", "values", "digits", "scale_rows", "reduce", "sizes", "signs", "approximate")
"""The options that say how a program is lifted; they are the same in every door."""
N = 12
COSTS = 1.0 + 1e-4 * np.arange(N)
"""Nearly equal, so that only approximate lifting merges anything."""
MODEL = "param cost/1; var x(I) in cost(I) >= 0 <= 1; minimize c: sum{I in cost(I)} cost(I)*x(I); \
subject to all: sum{I in cost(I)} x(I) >= 6;"
DATA = {"cost": {f"i{k}": float(cost) for k, cost in enumerate(COSTS)}}
GAP = relift.Approximation(gap=1e-2, budget=math.inf)
"""However long it takes, so that the solve without it is never first."""
OPTIMUM = float(np.sort(COSTS)[:6].sum())


def program(quadratic: bool = False) -> relift.Program:
    P = 1e-6 * np.eye(N) if quadratic else None
    return relift.Program(P, COSTS, np.ones((1, N)), l=[6.0], lb=0, ub=1)


def through_solve(**options: Any) -> relift.Result:
    return relift.solve(program(), **options)


def through_lift(**options: Any) -> relift.Result:
    return relift.solve(relift.lift(program(), **options))


def through_linprog(**options: Any) -> relift.Result:
    answer = relift.linprog(COSTS, A_ub=-np.ones((1, N)), b_ub=[-6.0], bounds=(0, 1), **options)
    assert answer.success
    return answer.relift


def through_solve_qp(**options: Any) -> relift.Result:
    found: list[Any] = []
    x = relift.solve_qp(
        1e-6 * np.eye(N), COSTS, G=-np.ones((1, N)), h=np.array([-6.0]), lb=np.zeros(N), ub=np.ones(N),
        progress=found.append, **options,
    )  # fmt: skip
    assert x is not None
    return relift.solve(program(quadratic=True), **options)


def through_qpsolvers(**options: Any) -> relift.Result:
    qpsolvers = pytest.importorskip("qpsolvers")
    import_module("relift.qpsolvers")  # registers the solver

    problem = qpsolvers.Problem(
        1e-6 * np.eye(N), COSTS, G=-np.ones((1, N)), h=np.array([-6.0]), lb=np.zeros(N), ub=np.ones(N)
    )
    answer = qpsolvers.solve_problem(problem, solver="relift", **options)
    assert answer.found
    return answer.extras["relift"]


def cvxpy_problem() -> Any:
    cp = pytest.importorskip("cvxpy")
    import_module("relift.cvxpy")  # registers the solver

    x = cp.Variable(N, nonneg=True)
    return cp.Problem(cp.Minimize(COSTS @ x), [cp.sum(x) >= 6, x <= 1])


def through_model(**options: Any) -> relift.Result:
    return relift.solve_model(MODEL, DATA, **options).result


def through_highs(**options: Any) -> relift.Result:
    highspy = pytest.importorskip("highspy")
    from relift.bridges.highs import solve

    h = highspy.Highs()
    h.silent()
    x = [h.addVariable(lb=0, ub=1, obj=cost) for cost in COSTS]
    h.addConstr(sum(x) >= 6)
    return solve(h, **options).result


def through_pulp(**options: Any) -> relift.Result:
    pulp = pytest.importorskip("pulp")
    solver = import_module("relift.pulp").RELIFT(msg=False, **options)
    problem = pulp.LpProblem("doors", pulp.LpMinimize)
    x = [pulp.LpVariable(f"x{k}", 0, 1) for k in range(N)]
    problem += pulp.lpSum(float(cost) * each for cost, each in zip(COSTS, x, strict=True))
    problem += pulp.lpSum(x) >= 6
    problem.solve(solver)
    return solver.outcome.result


def through_pyomo(**options: Any) -> relift.Result:
    pyo = pytest.importorskip("pyomo.environ")
    import_module("relift.pyomo")
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(N), bounds=(0, 1))
    model.c = pyo.Objective(expr=sum(float(COSTS[k]) * model.x[k] for k in range(N)))
    model.r = pyo.Constraint(expr=sum(model.x[k] for k in range(N)) >= 6)
    solver = pyo.SolverFactory("relift")
    solver.solve(model, options=options)
    return solver.outcome.result


DOORS: dict[str, Callable[..., relift.Result]] = {
    "solve": through_solve,
    "lift": through_lift,
    "linprog": through_linprog,
    "solve_qp": through_solve_qp,
    "qpsolvers": through_qpsolvers,
    "solve_model": through_model,
    "highspy": through_highs,
    "pulp": through_pulp,
    "pyomo": through_pyomo,
}


def test_the_options_are_those_of_solve() -> None:
    assert tuple(inspect.signature(relift.solve).parameters)[1:] == OWN_OPTIONS
    named = [name for name in inspect.signature(relift.lift).parameters if name in OWN_OPTIONS]
    assert tuple(named) == (*LIFTING, "threads", "progress")


@pytest.mark.parametrize("door", sorted(DOORS))
def test_approximate_proves_a_gap_through_every_door(door: str) -> None:
    result = DOORS[door](approximate=GAP)
    assert result.status == "optimal_within_gap"
    assert result.gap <= 1e-2
    assert result.lower_bound <= OPTIMUM + 1e-4
    assert result.upper_bound >= OPTIMUM - 1e-4


@pytest.mark.parametrize("door", sorted(DOORS))
def test_wrong_values_of_approximate_are_refused_through_every_door(door: str) -> None:
    with pytest.raises(OptionError, match=r"approximate must be a positive number .*; got 'a little'"):
        DOORS[door](approximate="a little")


@pytest.mark.parametrize("door", sorted(DOORS))
@pytest.mark.parametrize("options", [{"lift": "none"}, {"lift": "counting", "digits": 3}, {"reduce": False}])
def test_options_of_lifting_are_the_same_through_every_door(door: str, options: dict[str, Any]) -> None:
    result = DOORS[door](**options)
    settings = result.lifting.settings
    assert {name: getattr(settings, name) for name in options} == options


def test_cvxpy_takes_approximate_and_says_which_gap_was_reached() -> None:
    problem = cvxpy_problem()
    value = problem.solve(solver="RELIFT", approximate=GAP)
    assert problem.status == "optimal"
    assert value == pytest.approx(OPTIMUM, rel=1e-2)
    facts = problem.solver_stats.extra_stats
    assert facts["classes"] == "approximate"
    assert facts["gap"] <= 1e-2
    with pytest.raises(OptionError, match="approximate must be a positive number"):
        cvxpy_problem().solve(solver="RELIFT", approximate="a little")


def test_approximate_is_refused_where_cones_are() -> None:
    cp = pytest.importorskip("cvxpy")
    import_module("relift.cvxpy")  # registers the solver

    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) >= 1])
    with pytest.raises(OptionError, match=r"approximate lifting does not take cones\. Remove approximate\."):
        problem.solve(solver="RELIFT", approximate=1e-2)


def test_lifting_in_the_database_refuses_approximate_and_says_what_to_do() -> None:
    with pytest.raises(OptionError, match=r"approximate cannot be combined with lift_in_engine.* Remove lift_in"):
        relift.Model.from_text(MODEL).solve(data=DATA, lift_in_engine=True, approximate=1e-2)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    relift.write_program(program(), tmp_path / "m.mps")
    (tmp_path / "m.rlp").write_text(MODEL)
    (tmp_path / "cost.csv").write_text("item,cost\n" + "".join(f"{k},{v}\n" for k, v in DATA["cost"].items()))
    return str(tmp_path / "m.mps"), str(tmp_path / "m.rlp"), str(tmp_path)


def test_the_command_line_takes_approximate_for_files_and_models(
    files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", files[0], "--approximate", "1e-2"]) == 0
    assert "proved:" in capsys.readouterr().out
    assert run(["solve", files[1], "--data", files[2], "--approximate", "1e-2"]) == 0
    assert "proved:" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["lift", "inspect"])
def test_other_commands_refuse_approximate_and_name_the_one_that_takes_it(
    command: str, files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, files[0], "--approximate", "1e-2"]) == 2
    errors = capsys.readouterr().err
    assert errors == (
        f"relift: relift {command} does not take --approximate: a gap is proved while a program is solved."
        " Use `relift solve MODEL --approximate GAP`.\n"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: relift.solve(program(), tolerence=1e-3), "unknown option 'tolerence'. Did you mean 'tolerance'?"),  # type: ignore[call-arg]
        (lambda: relift.solve(program(), method="none"), "unknown option 'method'. Did you mean 'lift'?"),  # type: ignore[call-arg]
        (lambda: relift.lift(program(), digit=9), "unknown option 'digit'. Did you mean 'digits'?"),  # type: ignore[call-arg]
        (lambda: relift.linprog(COSTS, lft="none"), "unknown option 'lft'. Did you mean 'lift'?"),  # type: ignore[call-arg]
        (lambda: relift.solve_model(MODEL, DATA, solver="highs"), "unknown option 'solver'. Did you mean 'backend'?"),  # type: ignore[call-arg]
        (
            lambda: relift.solve_qp(np.eye(2), np.ones(2), tolerence=1e-3),
            "clarabel has no option 'tolerence'. Did you mean relift's own option 'tolerance'?",
        ),
        (
            lambda: relift.solve(program(), backend="highs", backend_options={"aproximate": 1e-3}),
            "highs has no option 'aproximate'. Did you mean relift's own option 'approximate'?",
        ),
        (
            lambda: relift.solve(program(), backend="highs", backend_options={"scale_rows": False}),
            "highs has no option 'scale_rows'. It is an option of relift itself: give it to relift, not to the "
            "backend.",
        ),
        (
            lambda: cvxpy_problem().solve(solver="RELIFT", tolerence=1e-3, backend="clarabel"),
            "clarabel has no option 'tolerence'. Did you mean relift's own option 'tolerance'?",
        ),
    ],
)
def test_unknown_options_are_refused_with_relifts_own_names_first(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(UnknownOptionError) as caught:
        call()
    assert str(caught.value) == message
    assert isinstance(caught.value, TypeError)


def test_an_option_like_no_other_lists_relifts_own_before_the_many_of_a_backend() -> None:
    with pytest.raises(UnknownOptionError) as caught:
        relift.solve(program(), backend="highs", backend_options={"zzz": 1})
    text = str(caught.value)
    assert text.startswith(f"highs has no option 'zzz'. relift has the options {', '.join(OWN_OPTIONS)}; highs has ")
    assert text.endswith("options; see its documentation.")


def test_unknown_options_of_the_command_line_name_the_nearest(
    files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", files[0], "--aproximate", "1e-3"]) == 2
    assert "--approximate" in capsys.readouterr().err
    assert run(["solve", files[0], "--tolerance", "1e-3"]) == 0
