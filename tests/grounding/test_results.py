from __future__ import annotations

import numpy as np
import pytest
from tests.grounding import programs as p

import relift
from relift.errors import OptionError
from relift.grounding.ground import ground
from relift.grounding.results import ModelResult
from relift.language.check_model import check_text


def solved(text: str, data: dict | None = None) -> ModelResult:
    grounded = ground(check_text(text), data)
    return ModelResult(grounded, relift.solve(grounded.program))


def test_values_are_tables_by_predicate() -> None:
    answer = solved(p.MAX_FLOW + p.MAX_FLOW_FACTS)
    flow = answer["flow"]
    assert list(flow) == ["X", "Y", "value"]
    assert flow.n_rows == 10
    assert answer.value("flow", "a", "b") == flow.to_dict()["a", "b"]
    assert "flow(a,b) = " in repr(flow)
    frame = flow.to_pandas()
    assert frame["value"].sum() == pytest.approx(flow["value"].sum())
    assert flow.to_polars()["X"].to_list() == frame["X"].tolist()
    assert flow.to_arrow().num_rows == 10


def test_duals_have_the_sign_of_the_constraint_as_written() -> None:
    text = "var x >= 0; maximize: 2*x; subject to {name}: {body};"
    for body in ("x <= 3", "3 >= x"):
        answer = solved(text.format(name="top", body=body))
        assert abs(answer.duals("top")["dual"][0]) == pytest.approx(2)
    below = solved("var x; minimize: 2*x; subject to low: x >= 3;")
    above = solved("var x; minimize: 2*x; subject to low: 3 <= x;")
    assert below.duals("low")["dual"][0] == pytest.approx(-2)
    assert abs(above.duals("low")["dual"][0]) == pytest.approx(2)
    assert below.slacks("low")["slack"][0] == pytest.approx(0, abs=1e-9)


def test_explain_counts_rows_classes_and_activity() -> None:
    answer = solved(p.TC_QP_SVM + p.TC_QP_SVM_FACTS)
    by_name = {a.name: a for a in answer.explain()}
    assert by_name["margin"].rows == 4
    assert by_name["margin"].classes == 2
    assert by_name["weight"].classes == 4
    assert by_name["margin"].weight > 0
    assert by_name["loss"].classes is None


def test_conflict_names_the_constraints_of_the_proof() -> None:
    text = """
    relation n/1; n := {1..3}; var x(I) in n(I) >= 0;
    minimize: sum{I in n(I)} x(I);
    subject to innocent forall {I in n(I)}: x(I) <= 100;
    subject to small: sum{I in n(I)} x(I) <= 1;
    subject to large: x(1) + x(2) >= 2;
    """
    answer = solved(text)
    assert answer.status == "infeasible"
    shares = answer.conflict()
    assert {"small", "large"} <= set(shares)
    assert "innocent" not in shares
    assert sum(shares.values()) == pytest.approx(1)
    with pytest.raises(OptionError, match="no point"):
        answer["x"]
    with pytest.raises(OptionError, match="not infeasible"):
        solved(p.MAX_FLOW + p.MAX_FLOW_FACTS).conflict()


def test_zero_equals_one_is_infeasible_and_blamed() -> None:
    answer = solved(
        "relation n/1; n := {}; var x; minimize: x; subject to odd: sum{I in n(I)} x = 1; subject to b: x >= 0;"
    )
    assert answer.status == "infeasible"
    assert set(answer.conflict()) == {"odd"}


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    answer = solved(p.MAX_FLOW + p.MAX_FLOW_FACTS)
    with pytest.raises(OptionError, match=r"there is no 'flw'.*flow"):
        answer["flw"]
    with pytest.raises(OptionError, match="there is no flow"):
        answer.value("flow", "a", "z")


def test_results_join_back_to_user_tables() -> None:
    answer = solved(p.LASSO + p.REGRESSION_FACTS)
    frame = answer["w"].to_pandas().set_index("J")["value"]
    np.testing.assert_allclose(frame.loc[["a", "b"]], [0.5588235, 0.8529412], atol=1e-5)
    assert answer.duals("absval.lower").n_rows == 2
