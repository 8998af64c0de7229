"""Convex and concave functions of unknowns: the optimum is that of the same problem in CVXPY."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings

cp = pytest.importorskip("cvxpy")

from tests.grounding.conic_expressions import NothingThere, conic_models, value  # noqa: E402

import relift  # noqa: E402
from relift.errors import DataError  # noqa: E402


@settings(max_examples=60, deadline=None, phases=[Phase.reuse, Phase.generate], suppress_health_check=list(HealthCheck))
@given(drawn=conic_models())
def test_random_models_have_the_optimum_that_cvxpy_finds(drawn: Any) -> None:
    text, tables, make = drawn
    try:
        problem, _, _ = make()
    except NothingThere:
        event("nothing there")
        with pytest.raises(DataError, match="of nothing at"):
            relift.solve_model(text, tables)
        return
    wanted = value(problem)
    answer = relift.solve_model(text, tables)
    event(str(answer.status))
    if np.isinf(wanted):
        assert answer.status == "infeasible"
        return
    # A norm of squares that vanish has no dual values: no solver can prove such an optimum.
    assert answer.status in {"optimal", "optimal_inaccurate"}
    assert answer.objective == pytest.approx(wanted, rel=2e-5, abs=2e-5)


# --- each function by itself, written by hand in both languages ---

ROOM = "relation n/1; n := {1..3}; param c/1; c := {1: 0.5, 2: -1, 3: 2}; var x(I) in n(I) >= 0.1 <= 3, t >= 0.5 <= 2;"
ALONE = {
    "abs(x(1) - t)": lambda x, t: cp.abs(x[0] - t),
    "max(x(1), t, 1.5)": lambda x, t: cp.maximum(x[0], t, 1.5),
    "max{I in n(I)} c(I)*x(I)": lambda x, t: cp.max(cp.multiply([0.5, -1, 2], x)),
    "norm1{I in n(I)} (x(I) - t)": lambda x, t: cp.norm1(x - t),
    "norm1(x(1) - 1, t)": lambda x, t: cp.norm1(cp.hstack([x[0] - 1, t])),
    "norminf{I in n(I)} (x(I) - t)": lambda x, t: cp.norm_inf(x - t),
    "norm{I in n(I)} (x(I) - c(I))": lambda x, t: cp.norm(x - np.array([0.5, -1, 2])),
    "norm(x(1) - 2, t, 1)": lambda x, t: cp.norm(cp.hstack([x[0] - 2, t, 1])),
    "huber(x(1) - 3, 0.7)": lambda x, t: cp.huber(x[0] - 3, 0.7),
    "quad_over_lin{I in n(I)} (x(I) - 1, t)": lambda x, t: cp.quad_over_lin(x - 1, t),
    "quad_over_lin(x(1), x(2) - 1, t)": lambda x, t: cp.quad_over_lin(cp.hstack([x[0], x[1] - 1]), t),
    "inv(t - 0.3)": lambda x, t: cp.inv_pos(t - 0.3),
    "(x(1) - 2)**4": lambda x, t: cp.power(x[0] - 2, 4),
    "t**2.5": lambda x, t: cp.power(t, 2.5),
    "t**-1": lambda x, t: cp.power(t, -1),
    "t**(-1/3)": lambda x, t: cp.power(t, -1 / 3, approx=False),
    "exp(x(1) - t)": lambda x, t: cp.exp(x[0] - t),
    "log_sum_exp{I in n(I)} c(I)*x(I)": lambda x, t: cp.log_sum_exp(cp.multiply([0.5, -1, 2], x)),
    "log_sum_exp(x(1), t, 0)": lambda x, t: cp.log_sum_exp(cp.hstack([x[0], t, 0])),
    "kl(x(1), t)": lambda x, t: cp.kl_div(x[0], t),
    "-min(x(1), t)": lambda x, t: -cp.minimum(x[0], t),
    "-(min{I in n(I)} x(I))": lambda x, t: -cp.min(x),
    "-sqrt(t)": lambda x, t: -cp.sqrt(t),
    "-t**0.4": lambda x, t: -cp.power(t, 0.4),
    "-t**0.5": lambda x, t: -cp.sqrt(t),
    "-(geo_mean{I in n(I)} x(I))": lambda x, t: -cp.geo_mean(x),
    "-geo_mean(t)": lambda x, t: -t,
    "-log(t)": lambda x, t: -cp.log(t),
    "-entropy(t)": lambda x, t: -cp.entr(t),
}


def both(text: str, build: Any) -> tuple[relift.ModelResult, Any]:
    x, t = cp.Variable(3), cp.Variable()
    bounds = [x >= 0.1, x <= 3, t >= 0.5, t <= 2]
    return relift.solve_model(ROOM + text), build(x, t, bounds)


@pytest.mark.parametrize("written", ALONE)
def test_a_function_may_be_minimised(written: str) -> None:
    tilt = "0.3*t - 0.2*sum{I in n(I)} x(I)"
    answer, problem = both(
        f"minimize: {written} + {tilt};",
        lambda x, t, rows: cp.Problem(cp.Minimize(ALONE[written](x, t) + 0.3 * t - 0.2 * cp.sum(x)), rows),
    )
    assert answer.status == "optimal"
    assert answer.objective == pytest.approx(value(problem), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("written", ALONE)
def test_a_function_may_be_bounded(written: str) -> None:
    text = f"maximize: sum{{I in n(I)}} x(I) - 0.7*t; subject to limit: {written} <= 0.9;"
    answer, problem = both(
        text,
        lambda x, t, rows: cp.Problem(cp.Maximize(cp.sum(x) - 0.7 * t), [*rows, ALONE[written](x, t) <= 0.9]),
    )
    wanted = value(problem)
    if np.isinf(wanted):
        assert answer.status == "infeasible"
        assert "limit" in {found.name for found in answer.conflict()}
    else:
        assert answer.objective == pytest.approx(wanted, rel=1e-5, abs=1e-5)
        price = float(answer.duals("limit"))
        assert price == pytest.approx(np.asarray(problem.constraints[-1].dual_value).item(), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("written", ALONE)
def test_a_function_of_data_is_a_number(written: str) -> None:
    known = (
        "param x/1, t = 0.8, c/1; x := {1: 0.5, 2: 1.25, 3: 2}; c := {1: 0.5, 2: -1, 3: 2}; relation n/1; n := {1..3};"
    )
    answer = relift.solve_model(known + f"var z; minimize: z; subject to: z >= {written};")
    wanted = ALONE[written](cp.Constant([0.5, 1.25, 2]), cp.Constant(0.8)).value
    assert answer.objective == pytest.approx(float(wanted), rel=1e-9)


def test_zeros_of_data_have_a_logarithm_where_it_does_not_count() -> None:
    text = "param p/1; p := {1: 0, 2: 4}; var z; minimize: z; subject to: z = "
    for written, wanted in [
        ("entropy(p(1))", 0.0),
        ("kl(p(1), p(2))", 4.0),
        ("geo_mean{I in p(I)} p(I)", 0.0),
        ("norm{I in p(I) & I > 5} p(I)", 0.0),
        ("quad_over_lin{I in p(I)} (p(I), 2)", 8.0),
    ]:
        assert relift.solve_model(f"{text} {written};").objective == pytest.approx(wanted, abs=1e-12)


def test_a_predicate_takes_the_place_of_a_function_of_its_name() -> None:
    answer = relift.solve_model("param norm/2, a = 7; norm := {(a, b): 3}; var z >= norm(a, b); minimize: z;")
    assert answer.objective == 3
    assert relift.solve_model("var inv >= 2; minimize inv: inv;").objective == 2


def test_definitions_may_have_functions() -> None:
    text = "def size = norm{I in n(I)} x(I); def gain(I) = log(x(I)); minimize: size - sum{I in n(I)} gain(I);"
    answer, problem = both(text, lambda x, t, rows: cp.Problem(cp.Minimize(cp.norm(x) - cp.sum(cp.log(x))), rows))
    assert answer.objective == pytest.approx(value(problem), rel=1e-6)


def test_equal_unknowns_under_a_norm_are_merged() -> None:
    start = "relation n/1; n := {1..50}; var x(I) in n(I); minimize: norm{I in n(I)} x(I);"
    answer = relift.solve_model(start + "subject to: sum{I in n(I)} x(I) = 10;")
    assert answer.result.lifting.small.n_variables == 2
    assert answer.objective == pytest.approx(10 / np.sqrt(50), rel=1e-6)


def test_cones_are_taken_over_when_other_data_change() -> None:
    text = """
    param w/1, need = 3, more/1;  var y(I) in more(I) >= more(I), x(I) in w(I) >= 0;
    minimize: norm{I in w(I)} w(I)*x(I) + sum{I in w(I)} exp(x(I)) + sum{I in more(I)} y(I);
    subject to enough: sum{I in w(I)} x(I) >= need;
    """
    before = relift.solve_model(text, {"w": {1: 1, 2: 2}, "more": {1: 1}})
    changed = {"more": {1: 1, 2: 5}, "need": 4}
    after = before.resolve(data={"more": changed["more"]}, params={"need": 4})
    fresh = relift.solve_model(text, {"w": {1: 1, 2: 2}, **changed})
    assert after.grounded.program == fresh.grounded.program
    assert after.objective == pytest.approx(fresh.objective, rel=1e-8)
    assert {s.name for s in after.grounded.statements if s.kind == "cone" and s.is_reused} == {
        "objective.norm1",
        "objective.exp1",
    }
    with_helpers = text + "subject to near forall {I in w(I)}: abs(x(I) - 2) + norm(x(I), 1) <= 4;"
    again = relift.solve_model(with_helpers, {"w": {1: 1, 2: 2}, "more": {1: 1}}).resolve(data={"more": {1: 1, 2: 5}})
    fresh = relift.solve_model(with_helpers, {"w": {1: 1, 2: 2}, "more": {1: 1, 2: 5}})
    assert again.explain()["near"].is_reused
    assert again.grounded.program == fresh.grounded.program
    heavier = after.resolve(data={"w": {1: 1, 2: 3, 3: 1}})
    assert heavier.grounded.program == relift.solve_model(text, {"w": {1: 1, 2: 3, 3: 1}, **changed}).grounded.program


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_cones_are_the_same_in_every_engine(engine: str) -> None:
    tables = {"n": [3, 1, 2], "q": [(1, 2), (3, 1), (1, 1)], "a": {1: 1.0, 2: 0.5, 3: 2.0}}
    text = """
    relation n/1, q/2; param a/1; var x(I) in n(I) >= 0;
    minimize: sum{I in n(I)} norm{J in q(I, J)} a(J)*(x(J) - I) + log_sum_exp{I in n(I)} x(I);
    """
    program = relift.ground_model(text, tables, engine=engine).program
    assert program == relift.ground_model(text, tables).program
    assert [cone.n_rows for cone in program.conic.cones] == [3, 1, 2, 3, 3, 3]


def test_helpers_stay_out_of_the_names_of_the_model() -> None:
    answer, _ = both("minimize: exp(t) + abs(x(1) - t); subject to limit: norm(t, x(2)) <= 2;", lambda *_: None)
    assert answer.variables == ("x", "t")
    assert answer.constraints == ("limit",)
    assert set(answer.helpers) == {"objective.exp1", "objective.abs1", "limit.norm1"}
    assert float(answer["objective.exp1"]) == pytest.approx(np.exp(answer.value("t")), rel=1e-6)


def test_a_data_weight_of_the_wrong_sign_is_refused_with_its_tuple() -> None:
    text = "param w/1; var x(I) in w(I) >= 1 <= 2; minimize: sum{I in w(I)} w(I)*log(x(I));"
    assert relift.solve_model(text, {"w": {"a": -1, "b": 0}}).status == "optimal"
    with pytest.raises(DataError, match=r"the coefficient of a concave term is positive at \(b\), which makes it"):
        relift.solve_model(text, {"w": {"a": -1, "b": 1}})
    inside = "param w/1; var x(I) in w(I) >= 1 <= 2; minimize: max{I in w(I)} (3 + w(I)*exp(x(I)));"
    with pytest.raises(DataError, match=r"the coefficient of a convex term is negative at \(a\)"):
        relift.solve_model(inside, {"w": {"a": -1, "b": 1}})
    with pytest.raises(DataError, match=r"the threshold of huber\(..\) is negative at \(a\)"):
        relift.solve_model(
            "param w/1; var x(I) in w(I); minimize: sum{I in w(I)} huber(x(I), w(I));", {"w": {"a": -1, "b": 1}}
        )


def test_functions_of_nothing_without_a_value_are_refused_with_their_tuple() -> None:
    start = "relation n/1, q/2; n := {1..2}; q(1, 1); var x(I) in n(I) >= 1 <= 2;"
    for name in ("max", "log_sum_exp"):
        with pytest.raises(DataError, match=rf"objective: {name}\{{...\}} of nothing at \(2\)"):
            relift.solve_model(start + f"minimize: sum{{I in n(I)}} {name}{{J in q(I, J)}} x(J);")
    for name in ("min", "geo_mean"):
        with pytest.raises(DataError, match=rf"objective: {name}\{{...\}} of nothing at \(2\)"):
            relift.solve_model(start + f"maximize: sum{{I in n(I)}} {name}{{J in q(I, J)}} x(J);")


def test_the_same_in_python() -> None:
    m = relift.Model()
    (I,) = m.indices("I")
    n, t = m.relation("n", 1), m.var("t", lower=0.5, upper=2)
    m.facts(n, range(1, 4))
    x = m.var("x", I, where=n(I), lower=0.1, upper=3)
    over = {"over": I, "where": n(I)}
    m.minimise(
        relift.norm_(x(I), **over) + relift.norm1_(x(I) - 1, **over) + relift.norminf_(x(I), **over)
        + relift.log_sum_exp_(x(I), **over) - relift.geo_mean_(x(I), **over)
        + relift.quad_over_lin_(x(I), t, **over) + relift.max_(x(I), **over) - relift.min_(x(I), **over)
        + relift.norm(x(1), t) + relift.norm1(t - 1) + relift.norminf(t, x(2)) + relift.log_sum_exp(t, x(1))
        - relift.geo_mean(t, x(1)) + relift.quad_over_lin(x(1), x(2), t) + relift.huber(t - 1, 0.5) + relift.inv(t)
        - relift.entropy(t) + relift.kl(t, x(3)) + relift.exp(t) - relift.log(t) - relift.sqrt(t) + t**1.5
        + relift.maximum(t, x(1)) - relift.minimum(t, x(1))
    )  # fmt: skip
    answer = m.solve()
    assert answer.status == "optimal"
    assert relift.solve_model(str(m)).objective == pytest.approx(answer.objective, rel=1e-9)
    assert "norm(x(1), t) + norm1(t - 1)" in " ".join(str(m).split())
