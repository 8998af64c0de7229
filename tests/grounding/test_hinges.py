"""Presolve of hinges changes no value within the bounds, and what is left is what must be left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.errors import OptionError
from relift.grounding.ground import ground
from relift.grounding.hinges import SHORT, Hinges, Presolved, presolve
from relift.language.checks.check_model import check_text

NUMBERS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0])


def values(hinges: Hinges, x: Any) -> Any:
    return hinges.weights * np.maximum(0.0, hinges.B @ x + hinges.d) ** hinges.power


def value(found: Presolved, x: Any) -> float:
    lines = found.lines.weights @ (found.lines.B @ x + found.lines.d)
    squares = found.squares.weights @ (found.squares.B @ x + found.squares.d) ** 2
    return float(values(found.hinges, x).sum() + lines + squares + found.constant)


def made(rows: list[list[float]], d: list[float], w: list[float], power: list[int]) -> Hinges:
    B = sparse.csr_array(np.array(rows, float).reshape(len(rows), -1))
    B.eliminate_zeros()
    return Hinges(B, np.array(d, float), np.array(w, float), np.array(power, np.int8), np.arange(len(rows)))


@st.composite
def drawn(draw: Any) -> tuple[Hinges, Any, Any]:
    n, k = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    rows = [[draw(NUMBERS) for _ in range(n)] for _ in range(k)]
    for i in range(1, k):
        if draw(st.booleans()):  # equal and opposite ones
            sign, other = draw(st.sampled_from([1.0, -1.0])), draw(st.integers(0, i - 1))
            rows[i] = [sign * v + 0.0 for v in rows[other]]
    d = [draw(st.sampled_from([-1.0, 0.0, 0.0, 0.5, 1.0])) for _ in range(k)]
    hinges = made(
        rows,
        d,
        [draw(st.sampled_from([0.1, 1.0, 3.0])) for _ in range(k)],
        [draw(st.sampled_from([1, 2])) for _ in range(k)],
    )
    lower = np.array([draw(st.sampled_from([0.0, -1.0, -np.inf])) for _ in range(n)])
    upper = np.array([draw(st.sampled_from([1.0, 2.0, np.inf])) for _ in range(n)])
    return hinges, lower, upper


@settings(max_examples=200, deadline=None)
@given(given_=drawn(), seed=st.integers(0, 99))
def test_values_stay_as_they_were_within_the_bounds(given_: tuple[Hinges, Any, Any], seed: int) -> None:
    hinges, lower, upper = given_
    found = presolve(hinges, lower, upper)
    random = np.random.default_rng(seed)
    low, high = np.maximum(lower, -3.0), np.minimum(upper, 3.0)
    for x in [*random.uniform(low, high, (5, low.size)), low, high]:
        assert value(found, x) == pytest.approx(float(values(hinges, x).sum()), rel=1e-12, abs=1e-12)
    assert (found.hinges.weights > 0).all()
    assert found.given == found.n_constant + found.never + found.always + found.merged + len(found.hinges)
    again = presolve(found.hinges, lower, upper)
    assert len(again.hinges) == len(found.hinges)


def test_each_kind_is_decided() -> None:
    rows: list[list[float]] = [[0, 0], [1, -1], [-1, -1], [1, 1], [1, 1], [1, -2], [1, -2], [-1, 2]]
    hinges = made(rows, [0.5, -3, 0, 0, 0, 0, 0, 0], [2.0] * 8, [2, 1, 2, 1, 2, 1, 1, 1])
    found = presolve(hinges, np.zeros(2), np.ones(2))
    assert (found.n_constant, found.never, found.always, found.merged) == (1, 2, 2, 2)
    assert found.constant == 0.5
    # 4 max(0, e) + 2 max(0, -e) is 6 max(0, e) - 2 e.
    assert found.hinges.weights.tolist() == [6.0]
    assert found.lines.weights.tolist() == [2.0, -2.0]
    assert found.squares.B.toarray().tolist() == [[1.0, 1.0]]
    assert str(found) == "8 hinges: 1 without unknowns, 2 never positive, 2 never negative, 2 merged, 1 left"


def test_squares_of_long_sums_stay_hinges() -> None:
    long, short = [1.0] * (SHORT + 1), [1.0] * SHORT + [0.0]
    bounds = np.zeros(SHORT + 1), np.full(SHORT + 1, 9.0)
    assert len(presolve(made([long], [0], [1], [2]), *bounds).hinges) == 1
    assert len(presolve(made([short], [0], [1], [2]), *bounds).hinges) == 0
    both = made([long, [-v for v in long]], [-1, 1], [1, 1], [2, 2])
    assert len(presolve(both, *bounds).hinges) == 2


def test_decimals_decide_exactly() -> None:
    """0.1 + 0.2 - 0.3 is never positive, which floats do not see."""
    hinges = made([[0.1, 0.2]], [-0.3], [1.0], [1])
    assert presolve(hinges, np.zeros(2), np.ones(2)).never == 1


TEXT = """
param a/1, c = 1;
var x(I) in a(I) >= 0 <= 1;
minimize loss: sum{I in a(I)} max(0, a(I) - x(I))**2 + sum{I in a(I)} 0.3*abs(x(I) - 0.5)
    + c*sum{I,J in a(I) & a(J)} max(0, x(I) - x(J))
    + sum{I in a(I)} max(0, x(I) + 0.2)**2 + max(0, 7);
"""


def test_a_model_keeps_the_hinges_that_are_left_and_their_names() -> None:
    answer = relift.solve_model(TEXT, {"a": {"p": 0.9, "q": 0.1, "r": -1, "s": 2}})
    hinges = answer.grounded.hinges
    assert str(hinges) == "32 hinges: 4 without unknowns, 1 never positive, 5 never negative, 10 merged, 12 left"
    assert answer.helpers == ("loss.max1", "loss.abs1", "loss.max2")
    assert answer["loss.max1"].to_dict() == pytest.approx(
        {"p": 0.9 - answer.value("x", "p"), "q": max(0, 0.1 - answer.value("x", "q"))}, abs=1e-5
    )
    assert set(answer["loss.max2"].to_dict()) == {
        ("p", "q"),
        ("p", "r"),
        ("p", "s"),
        ("q", "r"),
        ("q", "s"),
        ("r", "s"),
    }
    names = list(answer.grounded.program.variable_names)
    number = answer.grounded.atoms.number("loss.max2", "q", "s")
    assert names[number] == answer.grounded.atoms.name(number) == "loss.max2(q,s)"
    with pytest.raises(OptionError, match=r"there is no loss.max2\(s,q\). Presolve has decided it."):
        answer.value("loss.max2", "s", "q")
    assert "32 hinges" in str(answer.explain())


def test_a_maximised_objective_is_the_mirror_image() -> None:
    text = TEXT.replace("minimize loss: ", "maximize loss: -(").replace("max(0, 7);", "max(0, 7));")
    data = {"a": {"p": 0.9, "q": 0.1, "r": -1, "s": 2}}
    found, mirrored = relift.solve_model(text, data), relift.solve_model(TEXT, data)
    assert found.objective == pytest.approx(-mirrored.objective, abs=1e-6)
    assert found.grounded.program.minimisation() == mirrored.grounded.program.replace(
        variable_names=None, row_names=None
    )


def test_the_optimum_is_that_of_the_model_with_slacks() -> None:
    data = {"a": {"p": 0.9, "q": 0.1, "r": -1, "s": 2}}
    with relift.Model.from_text(TEXT).solve(data, lift_in_engine=True) as slacks:  # which has no presolve
        assert relift.solve_model(TEXT, data).objective == pytest.approx(slacks.objective, abs=1e-5)


def test_resolve_presolves_again_where_bounds_change() -> None:
    text = """
    param a/1, top/1, k = 1;  var x(I) in a(I) >= 0 <= top(I);
    minimize: sum{I in a(I)} max(0, x(I) - a(I)) - k*sum{I in a(I)} 0.5*x(I);
    """
    first = relift.solve_model(text, {"a": {1: 1, 2: 2}, "top": {1: 1, 2: 2}})
    assert len(first.grounded.hinges.presolved.hinges) == 0
    for data, params in (({"top": {1: 3, 2: 2}}, {}), ({"a": {1: 0.5, 2: 2}}, {}), ({}, {"k": 2})):
        again = first.resolve(data=data, params=params)
        fresh = relift.solve_model(text, {"a": {1: 1, 2: 2}, "top": {1: 1, 2: 2}, **data, **params})
        assert again.grounded.program == fresh.grounded.program
        assert again.objective == pytest.approx(fresh.objective, abs=1e-6)
    second = first.resolve(data={"top": {1: 3, 2: 2}})
    third = second.resolve(params={"k": 1})
    assert third.grounded.program == second.grounded.program


def test_hinges_are_the_same_in_every_engine() -> None:
    from relift.tables.duckdb.engine import DuckDBEngine

    data = {"a": {"p": 0.9, "q": 0.1, "r": -1, "s": 2}}
    with ground(check_text(TEXT), data, engine=DuckDBEngine(threads=1)) as other:
        assert other.program == ground(check_text(TEXT), data).program
