"""Variables that are partly observed, and their domains in queries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relift
from relift.errors import DataError

TEXT = """
relation item/1, near/2; param seen/1, w/2 default 0.5;
var x(I) in item(I) >= 0 <= 1{given};
minimize: sum{{I,J in near(I,J)}} w(I,J)*(x(I) - x(J))**2 + sum{{I in item(I)}} (0.1*x(I) + abs(x(I) - 0.3))
    + sum{{I,J in near(I,J)}} 0.2*x(I)*x(J) + norm{{I in item(I)}} (2*x(I) - 0.5) + sum{{I in item(I)}} 2*x(I)**2;
subject to some forall {{I in near(I,_)}}: sum{{J in near(I,J)}} x(J) - 0.5*x(I) <= 1.2;
{more}
"""
ITEMS = ["a", "b", "c", "d"]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seen=st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([0.0, 0.25, 1.0]), max_size=3),
    near=st.lists(st.tuples(st.sampled_from(ITEMS), st.sampled_from(ITEMS)), max_size=5, unique=True),
)
def test_an_observed_variable_is_one_that_is_fixed(seen: dict[str, float], near: list[tuple[str, str]]) -> None:
    tables: dict[str, Any] = {"item": ITEMS, "near": near, "seen": seen, "w": {("a", "b"): 2.0}}
    fixed = relift.solve_model(
        TEXT.format(given="", more="subject to fix forall {I in seen(I)}: x(I) = seen(I);"), tables, tolerance=1e-7
    )
    answer = relift.solve_model(TEXT.format(given=" given seen", more=""), tables, tolerance=1e-7)
    assert answer.status == fixed.status
    if answer.status == "optimal":
        assert answer.objective == pytest.approx(fixed.objective, rel=1e-5, abs=1e-6)
        assert set(answer["x"].to_dict()) == set(ITEMS) - set(seen)


def test_the_unknowns_of_a_variable_without_a_domain_are_those_that_are_not_given() -> None:
    answer = relift.solve_model(
        "relation p/1; param t/1; p := {1..3}; t := {2: 5}; var x/1 >= 1 given t; minimize: sum{I in p(I)} x(I);"
    )
    assert answer.objective == 7
    assert answer["x"].to_dict() == {1: 1, 3: 1}


def test_a_query_may_ask_for_the_tuples_of_a_variable() -> None:
    text = """
    param cap/2, need/1; cap := {(a, u): 3, (a, v): 2, (b, v): 4}; need := {u: 2, v: 5};
    var ship(P, C) in cap(P, C) >= 0 <= cap(P, C);
    minimize: sum{P, C in ship(P, C)} ship(P, C)**2;
    subject to met forall {C in need(C)}: sum{P in ship(P, C)} ship(P, C) >= need(C);
    served(C) if ship(_, C);
    var extra(C) in served(C) & !ship(b, C) >= 1;
    subject to more: sum{C in extra(C)} extra(C) <= 1;
    """
    answer = relift.solve_model(text)
    assert answer["ship"].to_dict() == pytest.approx({("a", "u"): 2, ("a", "v"): 2, ("b", "v"): 3}, abs=1e-5)
    assert answer["extra"].to_dict() == pytest.approx({"u": 1}, abs=1e-6)


def test_observed_tuples_count_as_tuples_of_a_variable() -> None:
    start = "relation p/1; param t/1; p := {1..2}; t := {2: 5, 9: 7}; var x(I) in p(I) >= 1 given t;"
    assert relift.solve_model(start + "minimize: sum{I in x(I)} x(I);").objective == 13


def test_a_truth_value_outside_of_0_and_1_is_refused_with_its_tuple() -> None:
    text = "param near/2, t/1; var x(I) in near(I,_) | near(_,I) >= 0 <= 1 given t; rule 1: near(I,J) & x(I) -> x(J);"
    with pytest.raises(DataError, match=r"near\(a, b\) is a truth value of a rule, and does not lie between 0 and 1."):
        relift.solve_model(text, {"near": {("a", "b"): 1.5}, "t": {}})
    with pytest.raises(DataError, match=r"t\(a\) is a truth value of a rule"):
        relift.solve_model(text, {"near": {("a", "b"): 1}, "t": {"a": -0.5}})


def test_rules_add_to_an_objective_and_a_weight_may_be_data() -> None:
    text = """
    relation link/2; param w/1, t/1; link := {(a, b), (b, c)}; w := {a: 1, b: 3}; t := {a: 1};
    var good(I) in link(I,_) | link(_,I) >= 0 <= 1 given t;
    rule w(A): link(A, B) & good(A) -> good(B) ^2;
    minimize: 0.5*sum{I in good(I)} good(I);
    """
    # 0.5 (1 + b + c) + (1 - b)² + 3 max(0, b - c)²: c = b - 1/12, then b = 1/2.
    answer = relift.solve_model(text)
    assert answer["good"].to_dict() == pytest.approx({"b": 0.5, "c": 0.5 - 1 / 12}, abs=1e-5)
    with pytest.raises(DataError, match=r"the coefficient of a convex term is negative at \(a, b\)"):
        relift.solve_model(text, {"w": {"a": -1, "b": 3}})


def test_resolve_takes_other_observations() -> None:
    text = """
    relation link/2; param t/1; link := {(a, b), (b, c)};
    var good(I) in link(I,_) | link(_,I) >= 0 <= 1 given t;
    rule 2: link(A, B) & good(A) -> good(B) ^2;   rule 1: !good(A) ^2;   rule good(+A) >= 0.1 .;
    """
    before = relift.solve_model(text, {"t": {"a": 1}})
    for seen in ({"a": 0.5}, {"c": 1, "a": 1}, {}):
        after, fresh = before.resolve(data={"t": seen}), relift.solve_model(text, {"t": seen})
        assert after.grounded.program == fresh.grounded.program
        assert after.objective == pytest.approx(fresh.objective, abs=1e-6)
