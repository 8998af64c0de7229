"""Answers in the words of the model: values, duals, explanations, and solving again."""

from __future__ import annotations

import numpy as np
import pytest
from tests.grounding import programs as p

import relift
from relift.errors import DataError, MissingPackageError, OptionError
from relift.modelling import result_table

SHOPS = """
    param need/1, price/1, budget = 100;
    var buy(I) in need(I) >= 0;
    minimize cost: sum{I in need(I)} price(I)*buy(I);
    subject to met forall {I in need(I)}: buy(I) >= need(I);
    subject to paid: sum{I in need(I)} price(I)*buy(I) <= budget;
"""
TABLES = {"need": {"tea": 3, "milk": 2, "it's": 1}, "price": {"tea": 2, "milk": 1, "it's": 1}}

# --- values ----------------------------------------------------------------------------------------------------------


def test_values_are_tables_by_predicate() -> None:
    answer = relift.solve_model(p.MAX_FLOW + p.MAX_FLOW_FACTS)
    flow = answer["flow"]
    assert list(flow) == ["X", "Y", "value"]
    assert (flow.key_names, flow.n_rows, len(flow)) == (("X", "Y"), 10, 3)
    assert answer.value("flow", "a", "b") == flow.to_dict()["a", "b"]
    assert repr(flow).splitlines()[0].split() == ["X", "Y", "value"]
    assert repr(answer).startswith("ModelResult(optimal, total=130, 10 unknowns, 5 rows)")


def test_an_unknown_without_arguments_is_a_number() -> None:
    answer = relift.solve_model("var x >= 2; minimize: x;")
    assert float(answer["x"]) == answer.value("x") == 2
    with pytest.raises(TypeError, match="10 rows"):
        float(relift.solve_model(p.MAX_FLOW + p.MAX_FLOW_FACTS)["flow"])


def test_tables_turn_into_data_frames_that_join_back() -> None:
    pandas = pytest.importorskip("pandas")
    shops = pandas.DataFrame({"item": [7, 9], "need": [1.5, 2.5], "shop": ["a", "b"]})
    text = "param need/1; var x(I) in need(I) >= need(I); minimize: sum{I in need(I)} x(I);"
    answer = relift.solve_model(text, {"need": shops[["item", "need"]]})
    joined = shops.merge(answer["x"].named("item").to_pandas(), on="item")
    assert joined["value"].tolist() == [1.5, 2.5]
    assert joined["item"].dtype == np.int64
    with pytest.raises(OptionError, match="one new name for each"):
        answer["x"].named("a", "b")


def test_tables_turn_into_polars_and_arrow() -> None:
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    flow = relift.solve_model(p.MAX_FLOW + p.MAX_FLOW_FACTS)["flow"]
    assert flow.to_polars()["X"].to_list() == flow.to_arrow()["X"].to_pylist() == flow["X"].tolist()
    assert polars.DataFrame(arrow.table(flow))["value"].sum() == pytest.approx(flow["value"].sum())


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(result_table, "import_module", missing)
    with pytest.raises(MissingPackageError, match="pip install polars"):
        relift.solve_model("var x >= 2; minimize: x;")["x"].to_polars()


def test_unknown_names_are_refused_with_the_nearest_one() -> None:
    answer = relift.solve_model(p.MAX_FLOW + p.MAX_FLOW_FACTS)
    with pytest.raises(
        OptionError, match=r"there is no variable, definition or constraint 'flw'\. Did you mean 'flow'\?"
    ):
        answer["flw"]
    with pytest.raises(OptionError, match=r"there is no constraint 'x'\. Expected one of: balance\."):
        answer.duals("x")
    with pytest.raises(OptionError, match="there is no flow"):
        answer.value("flow", "a", "z")
    with pytest.raises(KeyError, match="columns are X, Y, value"):
        answer["flow"]["Z"]


# --- constraints -----------------------------------------------------------------------------------------------------


def test_constraints_tell_activity_slack_and_dual() -> None:
    answer = relift.solve_model(SHOPS, TABLES)
    met = answer.constraint("met")
    assert list(met) == ["I", "activity", "lower", "upper", "slack", "dual"]
    assert answer.duals("met").to_dict() == pytest.approx({"it's": -1, "milk": -1, "tea": -2})
    assert answer.slacks("paid").to_dict() == pytest.approx({(): 91})
    assert answer.bounds("buy").to_dict("value") == pytest.approx({"it's": 1, "milk": 2, "tea": 3})


def test_duals_press_on_the_side_that_is_written() -> None:
    below = relift.solve_model("var x; minimize: 2*x; subject to low: x >= 3;")
    above = relift.solve_model("var x; maximize: 2*x; subject to top: 3 >= x;")
    curved = relift.solve_model("var x; maximize: 2*x; subject to top: x**2 <= 1;")
    turned = relift.solve_model("var x; maximize: 2*x; subject to top: -x**2 >= -1;")
    found = [float(a.duals(n)) for a, n in ((below, "low"), (above, "top"), (curved, "top"), (turned, "top"))]
    assert found == pytest.approx([-2, 2, 1, -1], abs=1e-6)


def test_both_halves_of_a_range_are_in_one_table() -> None:
    answer = relift.solve_model(p.LASSO + p.REGRESSION_FACTS)
    duals = answer.duals("absval")
    assert duals.key_names == ("J", "part")
    assert set(duals["part"]) == {"lower", "upper"}
    assert answer.duals("absval.upper").to_dict() == {
        j: dual for (j, part), dual in duals.to_dict().items() if part == "upper"
    }


def test_slacks_of_convex_terms_can_be_looked_at() -> None:
    answer = relift.solve_model("var x; minimize loss: max(0, 3 - x)**2 + x**2;")
    assert (answer.variables, answer.helpers) == (("x",), ("loss.max1",))
    assert float(answer["loss.max1"]) == pytest.approx(1.5, abs=1e-5)


# --- explanations ----------------------------------------------------------------------------------------------------


def test_explain_counts_rows_nonzeros_classes_and_activity() -> None:
    report = relift.solve_model(p.TC_QP_SVM + p.TC_QP_SVM_FACTS, sizes=False, signs=False).explain()
    margin, weight = report["margin"], report["weight"]
    assert (margin.rows, margin.nonzeros, margin.classes, margin.active) == (4, 16, 2, 4)
    assert (weight.kind, weight.rows, weight.classes, weight.substituted) == ("variable", 6, 4, 0)
    lines = str(report).splitlines()
    assert lines[0] == "optimal, objective 3.5: 17 unknowns and 10 rows, 11 and 6 after lifting"
    assert lines[2].split()[:7] == ["statement", "kind", "rows", "nonzeros", "classes", "known", "active"]
    with pytest.raises(KeyError, match="margin"):
        report["margins"]


def test_an_infeasible_model_names_the_constraints_of_the_proof() -> None:
    text = """
        relation n/1; n := {1..3}; var x(I) in n(I) >= 0;
        minimize: sum{I in n(I)} x(I);
        subject to innocent forall {I in n(I)}: x(I) <= 100;
        subject to small: 10*sum{I in n(I)} x(I) <= 10;
        subject to large: x(1) + x(2) >= 2;
    """
    answer = relift.solve_model(text)
    assert answer.status == "infeasible"
    found = {c.name: c for c in answer.conflict()}
    assert {"small", "large"} <= set(found)
    assert "innocent" not in found
    assert sum(c.weight for c in found.values()) == pytest.approx(1)
    assert found["large"].examples == ("large",)
    assert "These cannot hold together" in str(answer.explain())
    assert np.abs(answer.rays("innocent")["ray"]).max() == 0
    with pytest.raises(OptionError, match="there are no values: the model is infeasible"):
        answer["x"]
    assert relift.solve_model("var x >= 1; minimize: x;").conflict() == ()


def test_bounds_can_be_part_of_the_proof() -> None:
    answer = relift.solve_model("var x >= 0 <= 1, y >= 0 <= 1; minimize: x; subject to c: x + y >= 3;")
    assert {(c.kind, c.name) for c in answer.conflict()} == {("constraint", "c"), ("bounds", "x"), ("bounds", "y")}


def test_an_unbounded_model_says_so() -> None:
    assert relift.solve_model("var x; minimize: x;").status == "unbounded"


# --- solving again ---------------------------------------------------------------------------------------------------


def test_a_changed_param_grounds_only_what_reads_it() -> None:
    first = relift.solve_model(SHOPS, TABLES)
    second = first.resolve(params={"budget": 8})
    assert second.status == "infeasible"
    report = second.explain()
    assert {line.name: line.is_reused for line in report.statements} == {
        "buy": True, "met": True, "paid": False, "cost": True,
    }  # fmt: skip
    third = second.resolve(params={"budget": 20}, data={"need": {"tea": 1, "milk": 2, "it's": 1}})
    assert third.objective == pytest.approx(5)
    assert not third.explain()["met"].is_reused


def test_solving_again_gives_the_program_of_a_fresh_start() -> None:
    first = relift.solve_model(p.TC_QP_SVM + p.TC_QP_SVM_FACTS)
    again = first.resolve(params={"c2": 5})
    fresh = relift.solve_model(p.TC_QP_SVM + p.TC_QP_SVM_FACTS, params={"c2": 5})
    assert again.result.program == fresh.result.program
    assert again.objective == pytest.approx(14, abs=1e-5)
    assert again.explain()["collective"].is_reused
    moved = again.resolve(data={"query": ["q1", "q5"], "cite": [("p1", "q1"), ("q5", "p3")]})
    direct = relift.solve_model(
        p.TC_QP_SVM + p.TC_QP_SVM_FACTS,
        {"query": ["q1", "q5"], "cite": [("p1", "q1"), ("q5", "p3")]}, {"c2": 5},
    )  # fmt: skip
    assert moved.objective == pytest.approx(direct.objective, abs=1e-6)
    assert moved["coslack"].n_rows == 2


@pytest.mark.parametrize(
    "term", ["norm{I in hard(I)} x(I)", "sum{I in hard(I)} exp(x(I))", "max{I in hard(I)} (x(I))", "0"]
)
def test_cones_and_rows_may_come_and_go_where_the_variables_stay(term: str) -> None:
    text = f"""
        relation item/1, hard/1;  item := {{1..4}};
        var x(I) in item(I) >= 0;
        minimize cost: sum{{I in item(I)}} I*x(I) + {term};
        subject to all: sum{{I in item(I)}} x(I) >= 3;
        subject to some forall {{I in hard(I)}}: x(I)**2 <= 4;
    """
    answer = relift.solve_model(text, {"hard": [1, 2]})
    for hard in ([1, 2, 3, 4], [1], [2, 3], [1, 2, 3]):
        answer = answer.resolve(data={"hard": hard})
        fresh = relift.solve_model(text, {"hard": hard})
        assert answer.status == fresh.status == "optimal"
        assert answer.objective == pytest.approx(fresh.objective, rel=1e-5, abs=1e-5)


def test_one_answer_can_be_solved_again_many_times() -> None:
    first = relift.solve_model(p.TC_QP_SVM + p.TC_QP_SVM_FACTS)
    found = [first.resolve(params={"c2": c2}).objective for c2 in (5, 0.5, 5)]
    assert found == pytest.approx([14, 3.5, 14], abs=1e-5)
    assert first["weight"].n_rows == 6


def test_classes_are_kept_when_only_vectors_change() -> None:
    text = """relation n/1; param top = 4; n := {1..6}; var x(I) in n(I) >= 0;
        maximize: sum{I in n(I)} x(I); subject to c: sum{I in n(I)} x(I) <= top;"""
    first = relift.solve_model(text)
    second = first.resolve(params={"top": 5})
    assert second.result.lifting.symmetry.variables is first.result.lifting.symmetry.variables
    assert second["x"]["value"] == pytest.approx(np.full(6, 5 / 6))
    assert second.result.program.variable_names[0] == "x(1)"


def test_options_can_change_too() -> None:
    first = relift.solve_model(SHOPS, TABLES, lift="none")
    assert first.result.lifting.symmetry.method == "none"
    assert first.resolve().result.lifting.symmetry.method == "none"
    assert first.resolve(lift="counting").result.lifting.symmetry.method == "counting"
    with pytest.raises(OptionError, match=r"unknown option 'lifting'\. Did you mean 'lift'"):
        first.resolve(lifting="none")  # type: ignore[call-arg]


# --- data and options ------------------------------------------------------------------------------------------------


def test_numbers_and_tables_do_not_mix() -> None:
    with pytest.raises(DataError, match="'budget' is given both in data and in params"):
        relift.solve_model(SHOPS, {**TABLES, "budget": 3}, {"budget": 4})
    with pytest.raises(DataError, match="the param 'need' has arguments"):
        relift.solve_model(SHOPS, {}, {"need": 4})
    with pytest.raises(OptionError, match="a model cannot be given as int"):
        relift.solve_model(3)  # type: ignore[arg-type]


def test_tables_attached_to_a_model_are_used() -> None:
    model = relift.Model.from_text(SHOPS).data(**TABLES)
    assert model.solve(params={"budget": 50}).objective == pytest.approx(9)
    assert model.solve(data={"price": {"tea": 1, "milk": 1, "it's": 1}}).objective == pytest.approx(6)
    assert model.ground().program.n_rows == 4


def test_the_same_model_in_python_and_as_text() -> None:
    m = relift.Model()
    (I,) = m.indices("I")
    need, price = m.param("need", 1), m.param("price", 1)
    budget = m.param("budget", value=100)
    buy = m.var("buy", I, where=need(I), lower=0)
    m.minimise(relift.sum_(price(I) * buy(I), over=I, where=need(I)), name="cost")
    m.subject_to(buy(I) >= need(I), forall=I, where=need(I), name="met")
    m.subject_to(relift.sum_(price(I) * buy(I), over=I, where=need(I)) <= budget, name="paid")
    assert m.solve(data=TABLES).result.program == relift.solve_model(SHOPS, TABLES).result.program
