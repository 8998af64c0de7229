from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grounding import programs as p

import relift
from relift.errors import DataError, SizeLimitError
from relift.grounding.ground import ground
from relift.language.checks.check_model import check_text
from relift.tables.memory.engine import MemoryEngine

# --- names ---------------------------------------------------------------------------------------------------------

NASTY = [
    "it's",
    'say "hi"',
    "'; DROP TABLE t1_n; --",
    "tab\there",
    "Ünï-cødé 雪",
    "a(b),c",
    "\\",
    "%s",
    "",
    " ",
    "null",
    "NaN",
]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12),  # type: ignore[arg-type]
        min_size=1,
        max_size=6,
        unique=True,
    )
)
def test_any_text_is_a_harmless_key(names: list[str]) -> None:
    text = "relation n/1; var x(I) in n(I); minimize: sum{I in n(I)} x(I); subject to c forall {I in n(I)}: x(I) >= 1;"
    with ground(check_text(text), {"n": names}) as grounded:
        assert sorted(grounded.atoms.table("x")["I"]) == sorted(names)
        assert grounded.program.n_rows == len(names)
        for name in names:
            assert grounded.atoms.number("x", name) >= 0


def test_nasty_constants_in_the_model_are_only_constants() -> None:
    for name in NASTY:
        written = name.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        text = f'relation n/1; var x(I) in n(I); minimize: sum{{I in n(I) & I != "{written}"}} x(I);'
        with ground(check_text(text), {"n": [*NASTY, "other"]}) as grounded:
            assert grounded.program.q.sum() == len(NASTY)


def test_columns_of_any_name_are_read() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({'a"; drop table x; --': [1, 2], "b'": [3, 4]})
    text = "relation e/2; var x(I) in e(I,_); minimize: sum{I in e(I,_)} x(I);"
    assert ground(check_text(text), {"e": frame}).program.n_variables == 2


def test_variables_that_differ_in_case_only() -> None:
    text = "relation e/2; var x(Ab,AB) in e(Ab,AB); minimize: sum{Ab,AB in e(Ab,AB)} Ab*x(Ab,AB);"
    assert ground(check_text(text), {"e": [(1, 2), (3, 4)]}).program.q.tolist() == [1, 3]


def test_names_are_made_one_by_one() -> None:
    grounded = ground(check_text(p.MAP_LP), {"edge": [("x", "y"), ("y", "New York")], "theta2": {}})
    names = grounded.program.variable_names
    assert names[0] == 'mu("New York",0)'
    assert list(names)[:2] == ['mu("New York",0)', 'mu("New York",1)']
    assert names[-1] == 'nu(y,"New York",1,1)'
    assert [grounded.atoms.number("mu", "x", 1), names[3]] == [3, "mu(x,1)"]


# --- recursion -----------------------------------------------------------------------------------------------------


def test_recursion_that_is_not_linear() -> None:
    text = (
        "relation e/2; "
        "path(X,Y) if e(X,Y); "
        "path(X,Z) if path(X,Y) & path(Y,Z); "
        "var x(I,J) in path(I,J); "
        "minimize: sum{I,J in path(I,J)} x(I,J);"
    )
    ring = [(i, (i + 1) % 7) for i in range(7)]
    assert ground(check_text(text), {"e": ring}).program.n_variables == 49


def test_mutual_recursion_and_strata() -> None:
    text = """
    relation e/2, start/1;
    even(X) if start(X);  even(Y) if odd(X) & e(X,Y);  odd(Y) if even(X) & e(X,Y);
    both(X) if even(X) & odd(X);  never(X) if e(X,_) & !both(X);
    var x(I) in never(I), y(I) in both(I); minimize: sum{I in never(I)} x(I) + sum{I in both(I)} y(I);
    """
    chain = ground(check_text(text), {"e": [(i, i + 1) for i in range(6)], "start": [0]})
    assert (chain.atoms.block("x").size, chain.atoms.block("y").size) == (6, 0)
    ring = ground(check_text(text), {"e": [(i, (i + 1) % 5) for i in range(5)], "start": [0]})
    assert (ring.atoms.block("x").size, ring.atoms.block("y").size) == (0, 5)


def test_recursion_that_counts_ends_where_a_relation_bounds_it() -> None:
    text = (
        "relation n/1; "
        "n := {1..50}; "
        "up(1); "
        "up(Y) if up(X) & Y = X + 1 & n(Y); "
        "var x(I) in up(I); "
        "minimize: sum{I in up(I)} x(I);"
    )
    assert ground(check_text(text)).program.n_variables == 50


# --- sizes ---------------------------------------------------------------------------------------------------------


def test_an_explosion_is_refused_before_it_is_stored_and_names_its_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "relation n/1, m/1; var x(I) in n(I); minimize: x(1); subject to huge forall {I,J in n(I) & m(J)}: x(I) >= J;"
    )
    data = {"n": np.arange(1, 160_001), "m": np.arange(162_500)}
    engine, rows = MemoryEngine(), list[int]()
    create = engine.create

    def counted(*given: Any, **options: Any) -> int:
        rows.append(create(*given, **options))
        return rows[-1]

    monkeypatch.setattr(engine, "create", counted)
    with pytest.raises(
        SizeLimitError, match=r"the constraint 'huge' would pass through 26,000,000,000 combinations"
    ) as caught:
        ground(check_text(text), data, engine=engine)
    assert caught.value.statement == "the constraint 'huge'"
    assert caught.value.rows == 26_000_000_000
    assert max(rows) <= 162_500


def test_an_explosion_behind_a_comparison_or_in_a_rule_is_refused_too() -> None:
    data = {"n": np.arange(1, 160_001)}
    text = "relation n/1; var x; minimize: sum{I,J in n(I) & n(J) & I*J = 7} x;"
    with pytest.raises(SizeLimitError, match="the objective"):
        ground(check_text(text), data)
    rule = "relation n/1; big(I,J) if n(I) & n(J) & I < J; var x(I,J) in big(I,J); minimize: x(1,2);"
    with pytest.raises(SizeLimitError, match="big"):
        ground(check_text(rule), data)


def test_a_skewed_join_is_counted_before_it_is_built() -> None:
    text = "relation e/2; var x; subject to c forall {I,J in e(K,I) & e(K,J)}: x >= 1; minimize: x;"
    star = [(0, i) for i in range(2000)]
    with pytest.raises(SizeLimitError, match="more than 100,000 rows"):
        ground(check_text(text), {"e": star}, limit=100_000)
    assert ground(check_text(text), {"e": star[:100]}, limit=100_000).program.n_rows == 10_000


def test_the_number_of_nonzeros_is_limited() -> None:
    text = (
        "relation n/1; "
        "var x(I) in n(I) >= 0; "
        "subject to c forall {I in n(I)}: sum{J in n(J)} x(J) >= I; "
        "minimize: x(1);"
    )
    with pytest.raises(SizeLimitError, match="the constraint 'c' would have 1,000,000 nonzeros"):
        ground(check_text(text), {"n": np.arange(1, 1001)}, limit=10_000)


def test_ten_million_rows_attach_and_ground() -> None:
    size = 10_000_000
    rng = np.random.default_rng(0)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"paper": np.arange(size) // 10, "word": rng.integers(0, 1000, size), "value": 1.0})
    frame = frame.drop_duplicates(["paper", "word"])
    text = (
        "param x/2; "
        "word(J) if x(_,J); "
        "var w(J) in word(J); "
        "minimize: sum{J in word(J)} w(J)**2 + sum{I,J in x(I,J)} x(I,J)*w(J);"
    )
    grounded = ground(check_text(text), {"x": frame})
    assert grounded.program.n_variables == 1000
    assert grounded.program.q.sum() == len(frame)


# --- slacks --------------------------------------------------------------------------------------------------------


def test_hinges_and_absolute_values_become_slacks() -> None:
    text = """
    param y/1; var x, t(I) in y(I);
    minimize: sum{I in y(I)} max(0, y(I) - x)**2 + sum{I in y(I)} abs(x - y(I)) + 0.5*max(0, x - 10);
    """
    grounded = ground(check_text(text), {"y": {1: 0, 2: 1, 3: 5}})
    result = relift.solve(grounded.program)
    grid = np.linspace(-1, 11, 120001)
    y = np.array([0, 1, 5])[:, None]
    best = (np.maximum(0, y - grid) ** 2).sum(0) + np.abs(grid - y).sum(0) + 0.5 * np.maximum(0, grid - 10)
    assert result.objective == pytest.approx(best.min(), abs=1e-4)
    assert {"objective.max1", "objective.abs1", "objective.max2"} <= set(grounded.atoms.predicates)


def test_convex_terms_in_constraints() -> None:
    text = "var x, y; maximize: x + y; subject to ball: abs(x) + abs(y) <= 2; subject to hinge: max(0, x - 1) <= 0.25;"
    result = relift.solve(ground(check_text(text)).program)
    assert result.objective == pytest.approx(2)
    assert abs(result.x[:2]).sum() == pytest.approx(2, abs=1e-6)
    assert result.x[0] <= 1.25 + 1e-6


# --- exact numbers -------------------------------------------------------------------------------------------------


def test_short_decimals_stay_short() -> None:
    text = """
    param a/1, b/1; var x(I) in a(I);
    minimize: sum{I in a(I)} (a(I)*x(I))**2;
    subject to diff forall {I in a(I)}: x(I) - 0.9*x(I) >= a(I) + b(I);
    subject to prod forall {I in a(I)}: sum{J in b(J)} (a(I)*b(J))*x(J) >= 0;
    """
    program = ground(check_text(text), {"a": {1: 0.1, 2: 0.3}, "b": {1: 0.2, 2: 3}}).program
    assert set(program.A.tocsr()[:2].data) == {0.1}
    assert program.l[0] == 0.3
    assert program.A.tocsr()[2:].toarray().tolist() == [[0.02, 0.3], [0.06, 0.9]]
    assert program.P.diagonal().tolist() == [0.02, 0.18]


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False))
def test_sums_do_not_depend_on_the_order_of_the_tables(random: Any) -> None:
    text = (
        "param w/2; "
        "node(I) if w(I,_); "
        "var x(I) in node(I), z; "
        "minimize: z; "
        "subject to c forall {I in node(I)}: sum{J in w(I,J)} w(I,J)*z + x(I) >= sum{J in w(I,J)} w(I,J);"
    )
    values = [random.uniform(-1, 1) / 3 for _ in range(9)]
    rows = []
    for i in range(3):
        random.shuffle(values)
        rows += [(i, j, v) for j, v in enumerate(values)]
    random.shuffle(rows)
    program = ground(check_text(text), {"w": rows}).program
    z = program.A.tocsr()[:, [3]].toarray().ravel()
    assert len(set(z)) == 1
    assert len(set(program.l)) == 1


# --- grounding again -----------------------------------------------------------------------------------------------


def test_only_statements_that_read_a_change_are_grounded_again() -> None:
    model = check_text(p.TC_QP_SVM + p.TC_QP_SVM_FACTS)
    first = ground(model)
    second = ground(model, {"c2": 5}, previous=first)
    assert [s.name for s in second.statements if not s.is_reused] == ["loss"]
    assert second.program == ground(model, {"c2": 5}).program
    cites = [("p1", "q1"), ("q2", "p2"), ("p3", "q3")]
    third = ground(model, {"cite": cites}, previous=second)
    assert {s.name for s in third.statements if s.is_reused} == {"weight", "bias", "slack", "margin"}
    assert third.program == ground(model, {"cite": cites, "c2": 5}).program
    assert relift.solve(first.program).objective == pytest.approx(3.5)


def test_a_change_that_does_not_reach_a_derived_predicate_stops_there() -> None:
    model = check_text(p.MAX_FLOW + p.MAX_FLOW_FACTS)
    first = ground(model)
    caps = {
        key: 2 * v
        for key, v in zip(zip(*first.atoms.table("flow").values(), strict=True), first.program.ub, strict=True)
    }
    second = ground(model, {"cap": caps}, previous=first)
    assert {s.name for s in second.statements if s.is_reused} >= {"balance", "total"}
    assert relift.solve(second.program).objective == pytest.approx(260)
    fewer = {key: v for key, v in caps.items() if key != ("a", "b")}
    third = ground(model, {"cap": fewer}, previous=second)
    assert third.program == ground(model, {"cap": fewer}).program


def test_relations_with_rules_and_data_change_too() -> None:
    text = "relation e/2; e(Y,X) if e(X,Y); var x(I,J) in e(I,J); minimize: sum{I,J in e(I,J)} x(I,J);"
    model = check_text(text)
    first = ground(model, {"e": [(1, 2), (3, 3)]})
    assert first.program.n_variables == 3
    assert ground(model, {"e": [(1, 2), (2, 3)]}, previous=first).program.n_variables == 4


def test_another_model_is_refused() -> None:
    first = ground(check_text(p.MAX_FLOW + p.MAX_FLOW_FACTS))
    with pytest.raises(relift.errors.OptionError, match="another model"):
        ground(check_text(p.RIDGE + p.REGRESSION_FACTS), previous=first)


def test_engines_are_closed_after_errors_and_by_hand() -> None:
    grounded = ground(check_text(p.MAX_FLOW + p.MAX_FLOW_FACTS))
    grounded.close()
    grounded.close()
    with pytest.raises(relift.errors.EngineError, match="closed"):
        grounded.atoms.name(0)
    with pytest.raises(DataError):
        ground(check_text(p.MAX_FLOW), {})


def test_progress_is_told() -> None:
    events: list[Any] = []
    ground(check_text(p.MAX_FLOW + p.MAX_FLOW_FACTS), progress=events.append)
    told = [event.message for event in events]
    assert "flow: 10 unknowns" in told
    assert "balance: 5 rows, 16 nonzeros" in told
