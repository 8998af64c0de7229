"""Quadratic constraints of the language: grounded as they should be, solved, and compared with another modeller."""

from __future__ import annotations

import numpy as np
import pytest

import relift
from relift.errors import ConvexityError, DataError, NonConvexError, SizeLimitError

ITEMS = "relation item/1; item := {1..3}; var x(I) in item(I);"


def matrices(answer: relift.ModelResult) -> list[tuple[np.ndarray, np.ndarray, float]]:
    rows = answer.result.program.quadratic
    return [(rows.matrix(k).toarray(), rows.q.toarray()[k], rows.r[k]) for k in range(len(rows))]


def test_a_ball() -> None:
    answer = relift.solve_model(
        f"{ITEMS} maximize: sum{{I in item(I)}} x(I); subject to ball: sum{{I in item(I)}} x(I)**2 <= 3;"
    )
    [(P, q, r)] = matrices(answer)
    np.testing.assert_array_equal(P, 2 * np.eye(3))
    assert (q.tolist(), r) == ([0, 0, 0], 3)
    assert answer.objective == pytest.approx(3)
    assert answer.explain()["ball"].classes == 1
    assert answer.result.lifting.small.n_variables == 1
    assert float(answer.duals("ball")) == pytest.approx(0.5, abs=1e-6)


def test_squares_of_sums_constants_and_weights_are_multiplied_out_by_row() -> None:
    answer = relift.solve_model(
        """
        param w/2, d/1, r/1;   row(K) if r(K);   var x(I) in d(I), y(K) in row(K);
        minimize: sum{K in row(K)} y(K) + sum{I in d(I)} x(I);
        subject to c forall {K in row(K)}:
            0.5*sum{I in d(I)} w(K,I)*(x(I) - 2*y(K) + d(I))**2 + 3*y(K) + 1 <= r(K)**2;
        w := {(a,1):1, (a,2):2, (b,1):0.1, (b,2):0.3};   d := {1:0.1, 2:-1};   r := {a:2, b:3};
        """
    )
    w = {"a": [1.0, 2.0], "b": [0.1, 0.3]}
    for k, (P, q, r) in zip("ab", matrices(answer), strict=True):
        wanted_P, wanted_q, wanted_r = np.zeros((4, 4)), np.zeros(4), {"a": 4.0, "b": 9.0}[k] - 1
        for i, constant in enumerate((0.1, -1)):
            b = np.zeros(4)
            b[i], b[2 + "ab".index(k)] = 1, -2
            weight = 0.5 * w[k][i]
            wanted_P += 2 * weight * np.outer(b, b)
            wanted_q += 2 * weight * constant * b
            wanted_r -= weight * constant**2
        wanted_q[2 + "ab".index(k)] += 3
        np.testing.assert_allclose(P, wanted_P, rtol=1e-15)
        np.testing.assert_allclose(q, wanted_q, rtol=1e-15)
        assert r == pytest.approx(wanted_r, rel=1e-15)


def test_points_and_dual_values_agree_with_cvxpy() -> None:
    cp = pytest.importorskip("cvxpy")
    answer = relift.solve_model(
        """
        relation item/1; item := {1..3}; param c/1; c := {1:1,2:2,3:3}; param rad/1; rad := {a:2, b:1};
        var x(I) in item(I), y(K) in rad(K);
        maximize: sum{I in item(I)} c(I)*x(I) + sum{K in rad(K)} y(K);
        subject to ball: sum{I in item(I)} x(I)**2 + x(1)*x(2) <= 4;
        subject to two forall {K in rad(K)}: rad(K)**2 >= (x(1) - 1)**2 + y(K)**2;
        """
    )
    x, y = cp.Variable(3), cp.Variable(2)
    M = np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    constraints = [cp.quad_form(x, M) <= 4, *((x[0] - 1) ** 2 + y[k] ** 2 <= (4, 1)[k] for k in (0, 1))]
    problem = cp.Problem(cp.Maximize(np.array([1, 2, 3]) @ x + cp.sum(y)), constraints)
    problem.solve(solver="CLARABEL")
    assert answer.objective == pytest.approx(problem.value, rel=1e-6)
    np.testing.assert_allclose(answer["x"]["value"], x.value, atol=1e-4)
    np.testing.assert_allclose(answer["y"]["value"], y.value, atol=1e-4)
    np.testing.assert_allclose(answer.duals("ball")["dual"], constraints[0].dual_value, atol=1e-4)
    np.testing.assert_allclose(answer.duals("two")["dual"], [c.dual_value for c in constraints[1:]], atol=1e-4)
    assert answer.slacks("two").to_dict() == pytest.approx({"a": 0, "b": 0}, abs=1e-6)


def test_squared_hinges_may_be_bounded() -> None:
    answer = relift.solve_model("var x, y; maximize: x + y; subject to c: max(0, x - 1)**2 + max(0, y)**2 <= 2;")
    assert answer["x"]["value"][0] == pytest.approx(2, abs=1e-4)
    assert answer["y"]["value"][0] == pytest.approx(1, abs=1e-4)


def test_products_that_are_not_convex_are_refused_by_the_row() -> None:
    text = (
        f"{ITEMS} param r/1; r := {{1:1,2:1}}; minimize: x(1); subject to c forall {{I in r(I)}}: x(I)*x(I+1) <= r(I);"
    )
    with pytest.raises(NonConvexError, match=r"the constraint c\(1\) is not convex"):
        relift.solve_model(text)


def test_a_negative_weight_that_only_the_data_show_is_refused_with_its_tuple() -> None:
    text = f"{ITEMS} param w/1; minimize: x(1); subject to c: sum{{I in w(I)}} w(I)*x(I)**2 <= 1;"
    with pytest.raises(DataError, match=r"negative at \(2\)"):
        relift.solve_model(text, {"w": {1: 1, 2: -1}})


def test_the_large_side_of_an_inequality_is_refused() -> None:
    with pytest.raises(ConvexityError):
        relift.solve_model("var x; minimize: x; subject to c: x**2 >= 1;")


def test_squares_of_long_sums_are_refused_before_they_are_multiplied_out() -> None:
    text = """relation item/1; item := {1..2000}; var x(I) in item(I);
        minimize: x(1); subject to c: (sum{I in item(I)} x(I))**2 <= 1;"""
    with pytest.raises(SizeLimitError, match=r"Name the sum by an unknown"):
        relift.solve_model(text, limit=1_000_000)


def test_an_empty_sum_of_squares_that_cannot_hold_is_infeasible() -> None:
    answer = relift.solve_model(
        """relation p/1; p := {}; var x(I) in p(I), y >= 0;
        minimize: y; subject to c: sum{I in p(I)} x(I)**2 + y**2 <= -1;"""
    )
    assert answer.status == "infeasible"
    assert answer.conflict()[0].name == "c"


def test_changing_a_radius_grounds_only_the_rows_that_read_it() -> None:
    text = f"""{ITEMS} param r = 1, s = 2;  var y <= 5;
        maximize: sum{{I in item(I)}} x(I) + y;
        subject to ball: sum{{I in item(I)}} x(I)**2 <= r;   subject to other: y**2 <= s;"""
    first = relift.solve_model(text)
    second = first.resolve(params={"r": 3})
    assert second.objective == pytest.approx(3 + 2**0.5, rel=1e-6)
    assert second.explain()["other"].is_reused
    assert not second.explain()["ball"].is_reused
    fresh = relift.solve_model(text, params={"r": 3})
    assert fresh.result.program == second.result.program
