"""Recursive rules: what is derived is what nested loops, networkx and a recursive query find, in every way there is."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from tests.grounding.slow_evaluator import SlowEvaluator

from relift.errors import SizeLimitError
from relift.grounding import derive
from relift.grounding.ground import ground
from relift.language.checks.check_model import check_text
from relift.tables import compiled as kernels
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.memory import string_ids
from relift.tables.memory.engine import MemoryEngine

START = "relation edge/2, good/1; param w/1;\n"
RULES = [
    "reach(X,Y) if edge(X,Y);  reach(X,Z) if reach(X,Y) & edge(Y,Z);",
    "reach(X,Y) if edge(X,Y);  reach(X,Z) if edge(X,Y) & reach(Y,Z) & X != Z;",
    "reach(X,Y) if edge(X,Y);  reach(X,Z) if reach(X,Y) & edge(Y,Z) & X < Z;",
    "reach(X,Y) if edge(X,Y);  reach(X,Z) if reach(X,Y) & reach(Y,Z);",
    "reach(X,X) if good(X);  reach(Y,X) if reach(X,Y) & good(Y);  reach(X,Z) if reach(X,Y) & edge(Y,Z) & !good(Z);",
    "even(X) if good(X);  odd(Y) if even(X) & edge(X,Y);  even(Y) if odd(X) & edge(X,Y);"
    "reach(X,Y) if even(X) & odd(Y);",
    "reach(1,Y) if edge(1,Y);  reach(X,3) if reach(X,X);  reach(X,Y) if reach(X,2) & edge(_,Y);",
    "reach(X,Y) if edge(X,Y);  reach(X,X) if reach(X,_);  reach(Y,2) if reach(_,Y) & (good(Y) | edge(Y,Y));",
    "far(X,0) if good(X);  far(Y,D2) if far(X,D) & edge(X,Y) & D2 = D+1 & D2 < 4;  reach(X,Y) if far(X,Y);",
    "reach(X,Y) if edge(X,Y);  reach(X,Z) if reach(X,Y) & edge(Y,Z) & X + Z > 2;",
    "reach(X,Y) if edge(X,Y);  reach(X,Z) if reach(X,Y) & edge(Y,Z) & w(X) >= 1;",
    "reach(0.5,X) if good(X);  reach(Y,X) if reach(X,Y);  reach(X,Y) if reach(X,Z) & edge(Z,Y);",
]
REST = "var x(A,B) in reach(A,B) >= 0; minimize: sum{A,B in reach(A,B)} x(A,B);"
pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def derived(text: str, tables: dict[str, Any], engine: Engine) -> set[tuple[Any, ...]]:
    with ground(check_text(text), tables, engine=engine) as grounded:
        columns = grounded.table("reach")
        return set(zip(*(column.tolist() for column in columns.values()), strict=True))


@settings(max_examples=60, deadline=None, phases=[Phase.reuse, Phase.generate], suppress_health_check=list(HealthCheck))
@given(rules=st.sampled_from(RULES), edges=pairs, good=st.lists(st.integers(0, 4), max_size=3), way=st.integers(0, 3))
def test_all_ways_derive_what_nested_loops_do(rules: str, edges: Any, good: list[int], way: int) -> None:
    text = START + rules + REST
    tables = {"edge": edges, "good": [(g,) for g in good], "w": {(k,): 1 for k in range(5)}}
    expected = {tuple(map(float, row)) for row in SlowEvaluator(check_text(text), tables).relations["reach"]}
    with pytest.MonkeyPatch.context() as patch:
        if way == 1:
            patch.setattr(derive, "linear_rules", lambda *_: None)
        if way == 2:
            for module in (kernels, string_ids):
                patch.setattr(module, "CORE_IS_COMPILED", False)
        engine: Engine = DuckDBEngine(threads=1) if way == 3 else MemoryEngine()
        found = derived(text, tables, engine)
    event(f"{len(expected)} tuples")
    assert {tuple(map(float, row)) for row in found} == expected


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(edges=st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), min_size=1, max_size=14))
def test_reachability_is_that_of_networkx_and_of_a_recursive_query(edges: list[tuple[str, str]]) -> None:
    networkx = pytest.importorskip("networkx")
    closed = networkx.transitive_closure(networkx.DiGraph(edges), reflexive=False)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE e(a VARCHAR, b VARCHAR)")
        connection.executemany("INSERT INTO e VALUES (?, ?)", edges)
        query = "WITH RECURSIVE r AS (SELECT * FROM e UNION SELECT r.a, e.b FROM r JOIN e ON r.b = e.a) SELECT * FROM r"
        wanted = set(connection.execute(query).fetchall())
    assert set(closed.edges) == wanted
    text = START + RULES[0] + REST
    for engine in (MemoryEngine(), DuckDBEngine(threads=1)):
        assert derived(text, {"edge": edges, "good": [], "w": {}}, engine) == wanted


def test_a_long_chain_is_closed_without_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derive, "_round", None)
    edges = [(k, k + 1) for k in range(300)]
    for engine in (MemoryEngine(), DuckDBEngine(threads=1)):
        assert len(derived(START + RULES[0] + REST, {"edge": edges, "good": [], "w": {}}, engine)) == 300 * 301 // 2


def test_a_recursion_that_grows_beyond_the_limit_is_refused() -> None:
    model = check_text(START + RULES[0] + REST)
    tables = {"edge": [(k, k + 1) for k in range(100)], "good": [], "w": {}}
    with pytest.raises(SizeLimitError, match=r"the rule of 'reach' has 1,\d\d\d rows and goes on; the limit is 1,000"):
        ground(model, tables, limit=1000)


def test_rules_over_text_and_numbers_keep_their_types() -> None:
    text = """
    relation step/3;  at(N, S) if start(N, S);  relation start/2;
    at(M, S) if at(N, S) & step(N, M, _);
    var x(N, S) in at(N, S) >= 0; minimize: sum{N, S in at(N, S)} x(N, S);
    """
    tables = {"start": [("a", 0.5), ("b", 2.0)], "step": [("a", "b", 1), ("b", "ü", 2)]}
    with ground(check_text(text), tables) as grounded:
        assert sorted(zip(*(c.tolist() for c in grounded.table("at").values()), strict=True)) == [
            ("a", 0.5), ("b", 0.5), ("b", 2.0), ("ü", 0.5), ("ü", 2.0),
        ]  # fmt: skip
