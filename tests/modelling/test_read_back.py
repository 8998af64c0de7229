"""Definitions, bodies, expressions, ranges and rays are read from an answer by the names of the model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import relift
from relift.errors import DataError, KindError, LanguageError, OptionError, UnknownNameError

TEXT = """
    param cap/2, weight/1 default 2;
    node(X) if cap(X,_) | cap(_,X);
    def out(X) = sum{Y in cap(X,Y)} flow(X,Y);
    def spare(X,Y) = cap(X,Y) - flow(X,Y);
    def length = norm{X,Y in cap(X,Y)} flow(X,Y);
    var flow(X,Y) in cap(X,Y) >= 0 <= cap(X,Y);
    maximize total: out(s) - 0.001*sum{X,Y in cap(X,Y)} flow(X,Y);
    subject to balance forall {Z in cap(_,Z) & cap(Z,_)}: sum{X in cap(X,Z)} flow(X,Z) = out(Z);
    subject to bent: sum{X,Y in cap(X,Y)} flow(X,Y)**2 <= 40;
    subject to window forall {X in cap(X,_)}: 0 <= out(X) <= 10*weight(X);
"""
CAP = {("s", "a"): 3, ("s", "b"): 2, ("a", "t"): 2, ("b", "t"): 4}


@pytest.fixture(scope="module", params=["memory", "duckdb"])
def result(request: pytest.FixtureRequest) -> Any:
    return relift.solve_model(TEXT, {"cap": CAP, "weight": {"s": 1}}, engine=request.param)


def test_definitions_have_values_at_their_tuples(result: Any) -> None:
    flow = result["flow"].to_dict()
    assert result["out"].to_dict() == pytest.approx(
        {"a": flow["a", "t"], "b": flow["b", "t"], "s": flow["s", "a"] + flow["s", "b"]}
    )
    assert result["spare"].to_dict() == pytest.approx({key: CAP[key] - flow[key] for key in sorted(CAP)})
    assert float(result["length"]) == pytest.approx(math.sqrt(sum(value**2 for value in flow.values())))
    assert result.value("out", "s") == pytest.approx(4)
    assert result.value("out", "t") == 0


def test_bodies_of_constraints_and_the_objective_have_values(result: Any) -> None:
    assert result["balance"].to_dict() == pytest.approx({"a": 0, "b": 0}, abs=1e-7)
    assert result.value("bent") == pytest.approx(16, rel=1e-5)
    assert result["window"].to_dict() == result["out"].to_dict()
    assert result.value("total") == pytest.approx(result.objective)
    assert float(result["total"]) == pytest.approx(result.objective)


def test_any_expression_of_the_model_can_be_asked_for(result: Any) -> None:
    assert result.eval("max{X,Y in cap(X,Y)} flow(X,Y)/cap(X,Y)") == pytest.approx(1)
    assert result.eval("count{X in node(X)}") == 4
    assert result.eval("flow(s,*) + weight(a);") == pytest.approx(6)
    table = result.eval("{X in node(X) & out(X) > 3.9} out(X)**2 + weight(X)")
    assert table.to_dict() == pytest.approx({"s": 17})


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (
            lambda r: r["outt"],
            OptionError,
            "there is no variable, definition or constraint 'outt'. Did you mean 'out'?",
        ),
        (lambda r: r.value("out"), OptionError, "out has 1 arguments, and 0 were given"),
        (lambda r: r.value("balance", "s"), OptionError, r"balance\(s\) does not exist"),
        (lambda r: r.eval("flow(s,t)"), DataError, r"flow\(s, t\) has no value"),
        (lambda r: r.eval("flow(s,a"), LanguageError, "the text ends in the middle|unexpected"),
        (lambda r: r.eval("foo(1)"), UnknownNameError, "foo is not declared"),
        (lambda r: r.eval("node(s)"), KindError, "node is true or false, and a number is needed here"),
        (lambda r: r.ray(), OptionError, "there is no ray: the model is optimal"),
        (lambda r: r.ranging(), OptionError, "for linear models"),
    ],
)
def test_what_cannot_be_read_is_explained(result: Any, ask: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        ask(result)


def test_without_a_point_there_is_nothing_to_read() -> None:
    wrong = relift.solve_model("var x >= 1; def f = 2*x; minimize: f; subject to c: x <= 0;")
    with pytest.raises(OptionError, match="there are no values: the model is infeasible"):
        wrong["f"]
    with pytest.raises(OptionError, match="there are no values: the model is infeasible"):
        wrong.eval("f")


def test_observed_atoms_count_in_expressions() -> None:
    text = """
        relation p/1; p := {a, b}; param seen/1; seen := {a: 0.75};
        var x(I) in p(I) >= 0 <= 1 given seen;  rule 1: x(I) -> x(J) ^2;
    """
    with pytest.raises(relift.errors.LanguageError):
        relift.solve_model(text)
    result = relift.solve_model(text.replace("x(I) -> x(J)", "p(J) & x(I) -> x(J)"))
    assert result.eval("sum{I in p(I)} x(I)") == pytest.approx(1.5, abs=1e-4)


def test_all_dual_values_come_at_once(result: Any) -> None:
    duals = result.duals()
    assert list(duals) == list(result.constraints)
    assert duals["balance"].to_dict() == result.duals("balance").to_dict()


def test_the_ray_of_an_unbounded_model_names_its_unknowns() -> None:
    text = """
        relation n/1; n := {1..4}; var x(I) in n(I) >= 0, y >= 0 <= 3;
        maximize: sum{I in n(I) & I <= 2} x(I) + y; subject to c: x(1) + x(3) <= x(2) + 5;
    """
    result = relift.solve_model(text)
    rays = result.ray()
    assert list(rays) == ["x"]
    moved = rays["x"].to_dict()
    assert moved[2] > 0
    assert set(moved) <= {1, 2, 3}
    assert max(moved.values()) == pytest.approx(1)


def test_within_its_range_a_cost_changes_the_objective_by_the_value() -> None:
    rng = np.random.default_rng(5)
    text = """
        param a/2, b/1, c/1; var x(J) in c(J) >= 0 <= 9; SENSE: sum{J in c(J)} c(J)*x(J);
        subject to rows forall {I in b(I)}: sum{J in a(I,J)} a(I,J)*x(J) SIGN b(I);
    """
    for sense, sign in (("maximize", "<="), ("minimize", ">=")):
        for _ in range(4):
            tables: dict[str, dict[Any, int]] = {
                "a": {(i, j): int(rng.integers(1, 9)) for i in range(3) for j in range(4)},
                "b": {i: int(rng.integers(10, 40)) for i in range(3)},
                "c": {j: int(rng.integers(1, 9)) for j in range(4)},
            }
            model = relift.Model.from_text(text.replace("SENSE", sense).replace("SIGN", sign))
            result = model.solve(tables)
            if str(result.status) != "optimal":
                continue
            ranges = result.ranging()
            for j, value, cost, low, high in ranges["x"].rows():
                assert low <= cost + 1e-9
                assert cost <= high + 1e-9
                for other in (cost + 0.9 * (min(high, cost + 2) - cost), cost + 0.9 * (max(low, cost - 2) - cost)):
                    changed = model.solve({**tables, "c": {**tables["c"], j: other}})
                    assert changed.objective == pytest.approx(result.objective + (other - cost) * value, abs=1e-6)
            side = "upper" if sign == "<=" else "lower"
            for row in zip(
                *(ranges["rows"][k].tolist() for k in ("I", side, f"{side}_from", f"{side}_to", "dual")), strict=True
            ):
                i, now, low, high, dual = row
                worth = dual if sense == "maximize" else -dual
                for other in (now + 0.9 * (min(high, now + 3) - now), now + 0.9 * (max(low, now - 3) - now)):
                    changed = model.solve({**tables, "b": {**tables["b"], i: other}})
                    assert changed.objective == pytest.approx(result.objective + (other - now) * worth, abs=1e-6)


def test_within_their_range_all_costs_or_sides_of_a_class_change_the_objective_as_the_lifted_program_says() -> None:
    rng = np.random.default_rng(7)
    text = """
        param a/3, b/2, c/2; var x(J, S) in c(J, S) >= 0 <= 9; SENSE: sum{J, S in c(J, S)} c(J, S)*x(J, S);
        subject to rows forall {I, S in b(I, S)}: sum{J in a(I, J, S)} a(I, J, S)*x(J, S) SIGN b(I, S);
        subject to shared: sum{J, S in c(J, S)} x(J, S) SIGN LIMIT;
    """
    seen = 0
    for sense, sign, limit in (("maximize", "<=", "20"), ("minimize", ">=", "7")):
        for _ in range(3):
            a, b, c = rng.integers(1, 9, (2, 3)), rng.integers(10, 40, 2), rng.integers(1, 9, 3)
            copies = range(4)
            tables: dict[str, dict[Any, float]] = {
                "a": {(i, j, s): int(a[i, j]) for i in range(2) for j in range(3) for s in copies},
                "b": {(i, s): int(b[i]) for i in range(2) for s in copies},
                "c": {(j, s): int(c[j]) for j in range(3) for s in copies},
            }
            model = relift.Model.from_text(text.replace("SENSE", sense).replace("SIGN", sign).replace("LIMIT", limit))
            result = model.solve(tables)
            if str(result.status) != "optimal":
                continue
            ranges = result.ranging(together=True)
            assert "classes together" in repr(ranges)
            assert set(ranges["shared"]["members"].tolist()) == {1}
            for j, copy, members, value, cost, low, high in ranges["x"].rows():
                if copy > 0:
                    continue
                assert low <= cost + 1e-9 <= high + 2e-9
                for other in (cost + 0.9 * (min(high, cost + 2) - cost), cost + 0.9 * (max(low, cost - 2) - cost)):
                    alike = [
                        key
                        for key in tables["c"]
                        if tables["c"][key] == c[j] and a[:, key[0]].tolist() == a[:, j].tolist()
                    ]
                    assert len(alike) == members
                    changed = model.solve({**tables, "c": tables["c"] | dict.fromkeys(alike, other)}, lift="none")
                    expected = result.objective + (other - cost) * members * value
                    assert changed.objective == pytest.approx(expected, abs=1e-5)
                    seen += 1
            side = "upper" if sign == "<=" else "lower"
            keys = ("I", "S", "members", side, f"{side}_from", f"{side}_to", "dual")
            for i, copy, members, now, low, high, dual in zip(*(ranges["rows"][k].tolist() for k in keys), strict=True):
                if copy > 0 or b[0] == b[1]:
                    continue
                worth = dual if sense == "maximize" else -dual
                assert members == 4
                for other in (now + 0.9 * (min(high, now + 3) - now), now + 0.9 * (max(low, now - 3) - now)):
                    sides = tables["b"] | {(i, s): other for s in copies}
                    changed = model.solve({**tables, "b": sides}, lift="none")
                    expected = result.objective + (other - now) * members * worth
                    assert changed.objective == pytest.approx(expected, abs=1e-5)
                    seen += 1
    assert seen > 20


def test_the_range_of_one_member_is_not_that_of_its_class() -> None:
    text = "relation n/1; n := {1..3}; var x(I) in n(I) >= 0; minimize: sum{I in n(I)} 2*x(I);"
    result = relift.solve_model(text + "subject to c: sum{I in n(I)} x(I) >= 6;")
    together, alone = result.ranging(together=True)["x"], result.ranging()["x"]
    assert together["cost_to"].tolist() == [np.inf] * 3  # all dearer: nothing else can be chosen
    used = alone["value"] > 0
    assert used.sum() == 1  # a vertex
    assert alone["cost_to"][used].tolist() == [2.0]  # one dearer: another one takes over at once
    assert "members" not in alone


def test_results_tables_and_models_show_themselves_in_notebooks(result: Any) -> None:
    assert "<td>flow</td>" in result._repr_html_()
    assert result["flow"]._repr_html_().startswith("<table><thead><tr><th>X</th><th>Y</th><th>value</th>")
    model = relift.Model.from_text("var x >= 1; minimize: x; subject to c: x <= 3;")
    assert model._repr_html_().startswith("<pre>var x &gt;= 1;")
    long = relift.solve_model("var x(I) in 1..30 >= I; minimize: x(*);")["x"]
    assert "<p>30 rows</p>" in long._repr_html_()


def test_a_copied_answer_reads_its_own_values(result: Any) -> None:
    halved = replace(
        result, result=replace(result.result, solution=replace(result.result.solution, x=result.result.x / 2))
    )
    assert halved.value("out", "s") == pytest.approx(result.value("out", "s") / 2)
