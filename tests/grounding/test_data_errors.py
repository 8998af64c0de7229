"""Bad data is refused with the tuple and the place; nothing vanishes in silence."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import relift
from relift.errors import DataError, OptionError
from relift.grounding.ground import ground
from relift.language.checks.check_model import check_text


def message(text: str, data: dict[str, Any] | None = None) -> str:
    with pytest.raises(DataError) as caught:
        ground(check_text(text), data)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return str(caught.value)


def test_a_missing_value_names_the_tuple_and_the_statement() -> None:
    text = "relation n/1; param w/1; var x(I) in n(I);\nsubject to c forall {I in n(I)}: x(I) >= w(I);\nminimize: x(1);"
    assert message(text, {"n": [1, 2, 3], "w": {1: 1, 2: 5}}) == (
        "w(3) has no value.\n"
        "  <model>:2:44\n"
        "    2 | subject to c forall {I in n(I)}: x(I) >= w(I);\n"
        "      |                                          ^^^^\n"
        "Add the tuple to 'w', or declare a default."
    ).replace("2:44", "2:42")


def test_a_default_fills_in() -> None:
    text = (
        "relation n/1; "
        "param w/1 default 7; "
        "var x(I) in n(I); "
        "subject to c forall {I in n(I)}: x(I) >= w(I); "
        "minimize: x(1);"
    )
    assert ground(check_text(text), {"n": [1, 2], "w": {1: 1}}).program.l.tolist() == [1, 7]


def test_two_values_for_one_tuple_are_refused() -> None:
    text = "param w/1; var x; minimize: sum{I in w(I)} w(I)*x;"
    rows = [("a", 2.0), ("b", 1.0), ("a", 5.0)]
    assert "'w' gives 2 values for the tuple (a)." in message(text, {"w": rows})


@pytest.mark.parametrize("bad", [float("nan"), None])
def test_nan_and_none_are_refused_by_table_column_and_row(bad: Any) -> None:
    text = "param w/1; var x; minimize: sum{I in w(I)} w(I)*x;"
    found = message(text, {"w": [("a", 2.0), ("b", bad)]})
    assert "the table of 'w': its value is missing in row 1 (counted from 0), beside (b)." in found
    relation = "relation n/2; var x; minimize: sum{I in n(I,_)} x;"
    assert "column 2 is missing in row 1" in message(relation, {"n": [(1, 2.0), (1, bad)]})
    assert "column 1 is missing in row 0" in message(relation, {"n": [(bad, "a"), ("b", "c")]})


def test_an_unknown_outside_of_its_domain_is_refused() -> None:
    text = "relation n/1, m/1; var x(I) in n(I); minimize: sum{I in m(I)} x(I);"
    assert "x(3) is used, but lies outside of the domain of 'x'." in message(text, {"n": [1, 2], "m": [2, 3]})


def test_no_table_wrong_names_and_wrong_widths() -> None:
    text = "relation cite/2; var x; minimize: sum{I in cite(I,_)} x;"
    assert "no table is loaded for the relation 'cite'." in message(text)
    assert "Did you mean 'cite'? Declared: cite/2." in message(text, {"cites": []})
    assert "has 3 columns, but 2 are needed: 2 for its arguments." in message(text, {"cite": [(1, 2, 3)]})
    assert "row 1 has 1 entries and row 0 has 2" in message(text, {"cite": [(1, 2), (1,)]})


def test_text_never_meets_a_number() -> None:
    text = "relation n/1, m/1; var x; minimize: sum{I in n(I) & m(I)} x;"
    assert "text meets a number" in message(text, {"n": [1], "m": ["1"]}) or "a number meets text" in message(
        text, {"n": [1], "m": ["1"]}
    )
    assert "mixes entries of different kinds" in message(text, {"n": [1, "a"], "m": [1]})


def test_division_by_zero_counts_only_where_it_is_reached() -> None:
    text = "param w/1; relation n/1; var x(I) in n(I); minimize: sum{I in n(I) & w(I) != 0} x(I)/w(I);"
    grounded = ground(check_text(text), {"n": [1, 2], "w": {1: 0, 2: 4}})
    assert grounded.program.q.tolist() == [0, 0.25]
    unguarded = text.replace(" & w(I) != 0", "")
    assert "division by zero at (1)" in message(unguarded, {"n": [1, 2], "w": {1: 0, 2: 4}})
    in_query = "param w/1; var x; minimize: sum{I in w(I) & 1/w(I) > 0} x;"
    assert "division by zero" in message(in_query, {"w": {1: 0, 2: 4}})


def test_the_smallest_of_nothing_is_refused() -> None:
    text = (
        "relation n/1, e/2; "
        "var x(I) in n(I); "
        "subject to c forall {I in n(I)}: x(I) >= min{J in e(I,J)} J; "
        "minimize: x(1);"
    )
    assert ground(check_text(text), {"n": [1], "e": [(1, 4), (1, 3)]}).program.l.tolist() == [3]
    assert "min{...} of nothing at (2)" in message(text, {"n": [1, 2], "e": [(1, 4)]})
    for function in ("max{J in e(1,J)} x(J)", "x(1) + max{J in e(1,J)} J"):  # where there is no tuple to name
        text = f"relation n/1, e/2; var x(I) in n(I); minimize: {function};"
        assert "max{...} of nothing.\n" in message(text, {"n": [1], "e": []})


def test_a_negative_weight_of_a_square_is_refused_with_its_tuple() -> None:
    text = "param w/1; var x(I) in w(I); minimize: sum{I in w(I)} w(I)*x(I)**2;"
    assert "the coefficient of a convex term is negative at (b)" in message(text, {"w": {"a": 1, "b": -1}})
    assert ground(check_text(text), {"w": {"a": 1, "b": 0.5}}).program.P.diagonal().tolist() == [2, 1]


def test_infinite_values_bound_but_do_not_multiply() -> None:
    text = "param cap/1; var x(I) in cap(I) >= 0 <= cap(I); maximize: -sum{I in cap(I)} x(I);"
    assert ground(check_text(text), {"cap": {1: np.inf, 2: 3}}).program.ub.tolist() == [np.inf, 3]
    assert "not a finite number" in message(text.replace("x(I);", "cap(I)*x(I);"), {"cap": {1: np.inf, 2: 3}})


def test_a_param_without_arguments() -> None:
    text = "param c; var x >= 0; minimize: c*x; subject to a: x >= 1;"
    assert "the param 'c' has no value." in message(text)
    for given in (2, 2.0, np.float64(2), np.array(2), [2]):
        assert ground(check_text(text), {"c": given}).program.q.tolist() == [2]
    assert "Give one number." in message(text, {"c": [1, 2]})


def test_empty_tables_give_empty_sums_and_no_rows() -> None:
    text = """
    relation n/1, e/2; param w/2; var x(I) in n(I) >= 0, y;
    minimize: sum{I in n(I)} x(I) + y**2 + sum{I,J in w(I,J)} w(I,J)*x(I);
    subject to none forall {I,J in e(I,J)}: x(I) <= x(J);
    subject to odd: sum{I in n(I)} x(I) = 1;
    """
    grounded = ground(check_text(text), {"n": [], "e": [], "w": {}})
    program = grounded.program
    assert (program.n_variables, program.n_rows, program.A.nnz) == (1, 1, 0)
    assert relift.solve(program).status == "infeasible"
    assert list(program.row_names) == ["odd"]
    with pytest.raises(OptionError):
        grounded.atoms.block("z")


def test_a_model_without_unknowns() -> None:
    program = ground(check_text("relation n/1; n := {}; var x(I) in n(I); minimize: sum{I in n(I)} x(I) + 3;")).program
    assert program.n_variables == 0
    assert program.r == 3
