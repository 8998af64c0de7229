from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relift.errors import FactError
from relift.language import checked_model as c
from relift.language.checks.check_model import check_text
from relift.language.checks.convexity import sign_of
from relift.language.checks.walk import variables_of

GOLDEN = {path.stem: path.read_text("utf-8") for path in sorted((Path(__file__).parents[2] / "golden").glob("*.rlp"))}
HEAD = "relation p/1, q/2; param a/1, d/1 default 0, c; var x(I) in p(I), y; "
I, J, X, Y = map(c.LogicVariable, "IJXY")
ONE = c.Constant(1)


def objective(text: str, head: str = HEAD) -> tuple[c.Term, ...]:
    model = check_text(f"{head}minimize: {text};")
    assert model.objective is not None
    return model.objective.expression.terms


def rule(text: str) -> c.Rule:
    (found,) = check_text(f"{HEAD}{text};").strata[-1].rules
    return found


def unknown(name: str, *arguments: c.DataExpression) -> c.UnknownAtom:
    return c.UnknownAtom(name, arguments)


def test_a_sum_lists_counts_each_value_once_and_names_the_rest_existential() -> None:
    (term,) = objective("sum{J in q(I, J)} x(J)")
    assert term == c.LinearTerm((c.Scope(("J",), c.Holds("q", (I, J)), (), ("I",)),), ONE, unknown("x", J))


def test_the_same_sum_below_forall_sees_the_outer_variable() -> None:
    (row,) = check_text(HEAD + "subject to forall {I in p(I)}: sum{J in q(I, J)} x(J) >= 1;").constraints
    (term,) = row.body.terms
    assert term.scopes[0].outer == ("I",)
    assert term.scopes[0].existential == ()
    assert (row.variables, row.lower, row.upper) == (("I",), ONE, None)


def test_an_inlined_definition_gets_fresh_variables() -> None:
    model = check_text(
        HEAD + "def f(I) = sum{J in q(I, J)} x(J) + y; subject to forall {J in p(J)}: sum{I in q(I, J)} f(I)*a(J) <= 1;"
    )
    linear, constant = model.constraints[0].body.terms
    assert [s.variables for s in linear.scopes] == [("I",), ("J_2",)]
    assert linear.scopes[1].formula == c.Holds("q", (I, c.LogicVariable("J_2")))
    assert isinstance(linear, c.LinearTerm)
    assert linear.unknown == unknown("x", c.LogicVariable("J_2"))
    assert linear.coefficient == c.ParameterValue("a", (J,))
    assert isinstance(constant, c.LinearTerm)
    assert constant.unknown == unknown("y")


def test_products_are_distributed_and_squares_are_kept() -> None:
    terms = objective("(x(1) + 2)*(y - 3) + (x(1) - y)**2 + c*y*y + max(0, 1 - y)**2 + abs(y)/2")
    kinds = [type(term).__name__ for term in terms]
    assert kinds == [
        "ProductTerm", "LinearTerm", "LinearTerm", "ConstantTerm",
        "SquareTerm", "SquareTerm", "HingeTerm", "AbsoluteTerm",
    ]  # fmt: skip
    square, scaled, hinge, absolute = terms[4:]
    assert isinstance(square, c.SquareTerm)
    assert [t.coefficient for t in square.inner.terms] == [ONE, c.Constant(-1)]
    assert square.needs is None
    assert isinstance(scaled, c.SquareTerm)
    assert scaled.needs == "nonnegative"  # only data tell the sign of c
    assert isinstance(hinge, c.HingeTerm)
    assert hinge.power == 2
    assert absolute.coefficient == c.Arithmetic("/", ONE, c.Constant(2))


def test_data_stay_data() -> None:
    (term,) = objective("(sum{I in a(I)} a(I)**2)*y*[p(b) & !q(b, _)]")
    assert isinstance(term, c.LinearTerm)
    assert isinstance(term.coefficient, c.Arithmetic)
    aggregate = term.coefficient.left
    assert isinstance(term.coefficient.right, c.DataAggregate) or isinstance(aggregate, c.DataAggregate)


def test_a_compared_param_without_default_must_have_a_value_and_binds() -> None:
    assert rule("r(X) if a(X) > 2").body == c.And(
        (c.Holds("a", (X,)), c.Comparison(">", c.ParameterValue("a", (X,)), c.Constant(2)))
    )
    with_default = rule("r(X) if d(X) > 2 & p(X)").body
    assert with_default == c.And((c.Holds("p", (X,)), c.Comparison(">", c.ParameterValue("d", (X,)), c.Constant(2))))


def test_conjunctions_are_put_into_evaluation_order() -> None:
    body = rule("r(X, Y) if !q(X, Y) & Y = X + 1 & (p(X) | q(_, X)) & X > 0").body
    assert isinstance(body, c.And)
    assert [type(part).__name__ for part in body.parts] == ["Or", "Comparison", "Not", "Comparison"]
    assert body.parts[1] == c.Comparison("=", Y, c.Arithmetic("+", X, ONE), binds="Y")


def test_an_equality_binds_from_either_side() -> None:
    body = rule("r(Y) if a(X) * 2 = Y").body
    assert isinstance(body, c.And)
    assert body.parts[1] == c.Comparison(
        "=", Y, c.Arithmetic("*", c.ParameterValue("a", (X,)), c.Constant(2)), binds="Y"
    )


def test_a_disjunction_may_have_existential_variables_of_its_own() -> None:
    found = rule("r(X) if p(X) & (q(X, Y) | q(Z, X))")
    assert set(found.existential) == {"Y", "Z"}


def test_recursion_is_one_stratum_after_what_it_needs() -> None:
    model = check_text(
        "relation edge/2; odd(X, Y) if edge(X, Y) | edge(X, Z) & even(Z, Y); even(X, Y) if edge(X, Z) & odd(Z, Y);"
        "far(X, Y) if node(X) & node(Y) & !odd(X, Y); node(X) if edge(X, _); "
        "up(X) if X = 1; up(Y) if up(X) & Y = X + 1;"
    )
    order = [set(stratum.predicates) for stratum in model.strata]
    assert {"odd", "even"} in order
    assert order.index({"far"}) > order.index({"odd", "even"})
    recursive = {tuple(s.predicates): (s.is_recursive, s.creates_values) for s in model.strata}
    assert recursive[("odd", "even")] == (True, False)
    assert recursive[("up",)] == (True, True)
    assert recursive[("far",)] == (False, False)


def test_a_relation_may_have_data_and_rules() -> None:
    model = check_text("relation edge/2; edge := {(a, b)}; edge(X, Y) if edge(Y, X);")
    assert model.facts["edge"].rows == (("a", "b"),)
    assert model.strata[0].predicates == {"edge": 2}


@pytest.mark.parametrize(
    ("text", "lower", "upper", "part"),
    [
        ("y >= 1", 1, None, ""),
        ("1 <= y", 1, None, ""),
        ("y <= 1", None, 1, ""),
        ("y = 1", 1, 1, ""),
        ("y >= x(1)", 0, None, ""),
        ("0 <= y <= 1", 0, 1, ""),
        ("1 >= y >= 0", 0, 1, ""),
        ("0 = 1", 1, 1, ""),
        ("y**2 + 2*y <= 4", None, 4, ""),
        ("4 >= y**2", None, 4, ""),
        ("-y**2 >= -4", None, 4, ""),
    ],
)
def test_the_normal_form_of_a_constraint(text: str, lower: int | None, upper: int | None, part: str) -> None:
    (row,) = check_text(f"{HEAD}subject to: {text};").constraints
    bounds = [None if b is None else b.value for b in (row.lower, row.upper) if b is None or isinstance(b, c.Constant)]
    assert bounds == [lower, upper]
    assert row.part == part
    assert row.is_convex == ("**" in text)


def test_a_range_with_unknown_ends_becomes_two_constraints() -> None:
    low, high = check_text(HEAD + "subject to r forall {I in p(I)}: -y <= x(I) <= y;").constraints
    assert [(k.name, k.part) for k in (low, high)] == [("r", "lower"), ("r", "upper")]
    assert [t.coefficient for t in low.body.terms] == [c.Constant(-1), c.Constant(-1)]
    assert [t.coefficient for t in high.body.terms] == [ONE, c.Constant(-1)]
    assert low.upper == high.upper == c.Constant(0)


def test_a_constraint_on_the_greater_side_is_negated_to_become_convex() -> None:
    (row,) = check_text(HEAD + "subject to: y >= sum{I in p(I)} x(I)**2;").constraints
    assert row.negated
    assert row.lower is None
    assert [type(t).__name__ for t in row.body.terms] == ["LinearTerm", "SquareTerm"]
    assert [t.coefficient for t in row.body.terms] == [c.Constant(-1), ONE]


def test_facts_are_gathered_by_name() -> None:
    model = check_text(
        "param w/1, k; relation e/2, n/1, flag/0; w(a) = 2; w := {b: -1, 5..7: 0.5}; k = 3; "
        "e(a, -1); n := {1..9, x}; flag;"
    )
    assert model.facts["w"] == c.Facts("w", 1, (("a",), ("b",)), (2, -1), (c.FactRange(5, 7, 0.5),))
    assert model.facts["k"] == c.Facts("k", 0, ((),), (3,))
    assert model.facts["e"].rows == (("a", -1),)
    assert model.facts["n"] == c.Facts("n", 1, (("x",),), (), (c.FactRange(1, 9),))
    assert model.facts["flag"].rows == ((),)


@pytest.mark.parametrize("table", ["{1..5: 0, 3: 1}", "{3: 1, 1..5: 0}", "{1..5: 0, 5..9: 0}", "{5: 1, 5.0: 1}"])
def test_two_values_for_one_tuple_are_found_in_ranges_too(table: str) -> None:
    with pytest.raises(FactError, match="has two values"):
        check_text(f"param w/1; w := {table};")


def test_a_number_between_the_whole_numbers_of_a_range_is_not_in_it() -> None:
    assert check_text("param w/1; w := {1..5: 0, 2.5: 1, 6..8: 0, a: 3};").facts["w"].values == (1, 3)


def test_bounds_of_variables() -> None:
    model = check_text("param cap/2; var f(X, Y) in cap(X, Y) >= 0 <= cap(X, Y) <= 9, g = 3, h/2 >= -1;")
    f, g, h = model.variables.values()
    assert f.parameters == ("X", "Y")
    assert f.lower == (c.Constant(0),)
    assert f.upper == (c.ParameterValue("cap", (X, Y)), c.Constant(9))
    assert (g.lower, g.upper) == ((c.Constant(3),), (c.Constant(3),))
    assert (h.domain, h.arity, h.lower) == (None, 2, (c.Constant(-1),))


def test_what_a_statement_rests_on_goes_through_rules_and_domains() -> None:
    model = check_text(GOLDEN["tc_qp_svm"])
    margin, collective = model.constraints
    assert margin.reads == {"label", "word", "weight", "bias", "slack"}
    assert margin.rests_on == {"label", "word"}
    assert collective.rests_on == {"label", "word", "cite", "query"}
    assert model.objective is not None
    assert model.objective.rests_on == {"label", "word", "cite", "query", "c1", "c2"}


def test_a_model_without_objective_is_a_question_of_feasibility() -> None:
    assert check_text("var x; subject to: x >= 1;").objective is None


def test_unnamed_constraints_are_counted() -> None:
    model = check_text("var x; subject to: x >= 1; subject to k: x >= 2; subject to: x >= 3;")
    assert [k.name for k in model.constraints] == ["constraint_1", "k", "constraint_3"]


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("3", "nonnegative"), ("-3", "nonpositive"), ("0", "zero"), ("c", "unknown"), ("c**2", "nonnegative"),
        ("-exp(c)", "nonpositive"), ("2*abs(c) + 1", "nonnegative"), ("1 - exp(c)", "unknown"),
        ("count{X in p(X)}", "nonnegative"), ("-[p(1)]", "nonpositive"), ("sum{X in p(X)} sqrt(X)/2", "nonnegative"),
        ("max(0, c)", "nonnegative"), ("exp(c)*-2", "nonpositive"),
    ],
)  # fmt: skip
def test_signs_that_the_text_shows(text: str, sign: str) -> None:
    (term,) = objective(f"({text})")
    assert sign_of(term.coefficient) == sign


@pytest.mark.parametrize("name", GOLDEN)
def test_names_are_unique_where_they_meet(name: str) -> None:
    model = check_text(GOLDEN[name])

    def walk(part: Any, bound: frozenset[str]) -> None:
        if isinstance(part, (c.LinearTerm, c.ConstantTerm, c.ProductTerm, c.SquareTerm, c.HingeTerm, c.AbsoluteTerm)):
            for scope in part.scopes:
                assert not bound & {*scope.variables, *scope.existential}
                assert set(variables_of(scope.formula)) <= bound | {*scope.variables, *scope.existential}
                assert set(scope.outer) <= bound
                bound = bound | {*scope.variables}
            if hasattr(part, "inner"):
                walk(part.inner, bound)
            assert set(variables_of(part.coefficient)) <= bound
        elif is_dataclass(part):
            for field in fields(part):
                walk(getattr(part, field.name), bound)
        elif isinstance(part, tuple):
            for item in part:
                walk(item, bound)

    for row in model.constraints:
        walk(row.body, frozenset(row.variables))
    assert model.objective is not None
    walk(model.objective.expression, frozenset())


numbers = st.integers(-3, 3).map(c.Constant)


def _extend(inner: st.SearchStrategy[c.DataExpression]) -> st.SearchStrategy[c.DataExpression]:
    return st.one_of(
        st.builds(c.Negative, inner),
        st.builds(c.Arithmetic, st.sampled_from(["+", "-", "*", "/"]), inner, inner),
        st.builds(c.Arithmetic, st.just("**"), inner, st.just(c.Constant(2))),
        st.builds(c.Function, st.sampled_from(["abs", "exp"]), inner.map(lambda e: (e,))),
        st.builds(c.Function, st.sampled_from(["min", "max"]), st.tuples(inner, inner)),
    )


def value(data: c.DataExpression) -> float:
    match data:
        case c.Constant():
            return float(data.value)
        case c.Negative():
            return -value(data.part)
        case c.Arithmetic():
            left, right = value(data.left), value(data.right)
            operations: dict[str, Callable[[float, float], float]] = {
                "+": operator.add,
                "-": operator.sub,
                "*": operator.mul,
                "/": operator.truediv,
                "**": pow,
            }
            return float(operations[data.op](left, right))
        case c.Function():
            functions: dict[str, Any] = {"abs": abs, "exp": math.exp, "min": min, "max": max}
            return float(functions[data.name](*map(value, data.arguments)))
    raise AssertionError


@given(st.recursive(numbers, _extend, max_leaves=8))
def test_a_sign_that_is_claimed_is_the_sign(data: c.DataExpression) -> None:
    try:
        number = value(data)
    except (ZeroDivisionError, OverflowError):
        return
    sign = sign_of(data)
    assert sign != "zero" or number == 0
    assert sign != "nonnegative" or number >= 0
    assert sign != "nonpositive" or number <= 0
