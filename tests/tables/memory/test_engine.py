from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.errors import DataError, EngineError, SizeLimitError
from relift.tables import compiled as kernels
from relift.tables.algebra import (
    Aggregate,
    Column,
    Distinct,
    Filter,
    Join,
    Limit,
    Literal,
    Plan,
    Project,
    Scan,
    Type,
    Union,
    call,
    literal,
)
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.memory.engine import MemoryEngine
from relift.tables.sources.table import source_from_data
from relift.testing.conformance import Case
from relift.testing.conformance_engine import CASES

NAMES = "XYZW"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_memory_conforms(case: Case[Engine]) -> None:
    with MemoryEngine() as engine:
        case.check(engine)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_memory_that_hands_everything_to_duckdb_conforms(case: Case[Engine]) -> None:
    with MemoryEngine(most_rows=0) as engine:
        case.check(engine)


# --- random plans, against DuckDB --------------------------------------------------------------------------------

TABLES: dict[str, tuple[Any, list[Type]]] = {
    "a": ([(1, 2), (2, 2), (3, 1), (-4, 10**17)], [Type.INTEGER, Type.INTEGER]),
    "b": ([(1, 0.5), (2, 2.0), (2, -1.5), (7, 1e18)], [Type.INTEGER, Type.REAL]),
    "c": ([("x", 1), ("y", 2), ("x", 3)], [Type.TEXT, Type.INTEGER]),
    "d": ([("y", "x"), ("x", "x"), ("z", "y")], [Type.TEXT, Type.TEXT]),
    "e": ([(10**18, 1), (-(10**18), 2), (5, 3)], [Type.INTEGER, Type.INTEGER]),
}


@st.composite
def scans(draw: st.DrawFn) -> Plan:
    table = draw(st.sampled_from(sorted(TABLES)))
    names = draw(st.permutations(NAMES))[:2]
    types = TABLES[table][1]
    return Scan(table, {name: (f"c{k}", types[k]) for k, name in enumerate(names)}, frozenset([frozenset(names)]))


def _is_number(plan: Plan, name: str) -> bool:
    return plan.columns[name] in {Type.INTEGER, Type.REAL}


@st.composite
def plans(draw: st.DrawFn, depth: int = 3) -> Plan:
    """Plans whose joins and unions fit by type; others are drawn again as a scan."""
    if depth == 0:
        return draw(scans())
    kind = draw(
        st.sampled_from(["scan", "join", "join", "join", "filter", "project", "union", "distinct", "aggregate"])
    )
    if kind == "scan":
        return draw(scans())
    inner = draw(plans(depth - 1))
    names = list(inner.columns)
    if kind == "join":
        other = draw(plans(depth - 1))
        if any(_is_number(inner, c) != _is_number(other, c) for c in names if c in other.columns):
            return inner
        how: Any = draw(st.sampled_from(["inner", "inner", "left", "semi", "anti"]))
        return Join(inner, other, how)
    if kind == "filter":
        one, two = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        if _is_number(inner, one) != _is_number(inner, two):
            return Filter(inner, call("=", Column(one), literal("x") if not _is_number(inner, one) else literal(2)))
        return Filter(inner, call(draw(st.sampled_from(["=", "<", "!=", ">="])), Column(one), Column(two)))
    if kind == "project":
        kept = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
        new = draw(st.permutations(NAMES))[: len(kept)]
        outputs: dict[str, Any] = {n: Column(k) for n, k in zip(new, kept, strict=True)}
        numbers = [k for k in kept if _is_number(inner, k)]
        if numbers and len(new) < len(NAMES):
            spare = next(n for n in NAMES if n not in outputs)
            chosen = draw(st.sampled_from(["/", "coalesce", "if", "least"]))
            value = Column(numbers[0])
            outputs[spare] = {
                "/": call("/", value, call("real", literal(2))),
                "coalesce": call("coalesce", call("/", literal(1), value), literal(0.25)),
                "if": call("if", call(">", value, literal(1)), value, Literal(None, inner.columns[numbers[0]])),
                "least": call("least", value, literal(2)),
            }[chosen]
        return Project(inner, outputs)
    if kind == "union":
        return Union((inner, Filter(inner, literal(draw(st.booleans())))))
    if kind == "distinct":
        return Distinct(inner)
    by = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    name = draw(st.sampled_from(names))
    outputs = {"n": ("count", literal(1)), "lo": ("min", Column(name)), "hi": ("max", Column(name))}
    if _is_number(inner, name) and inner.columns[name] == Type.REAL:
        outputs["s"] = ("sum", Column(name))
    found = Aggregate(inner, tuple(by), outputs)
    return Project(found, {n: Column(c) for n, c in zip(NAMES, found.columns, strict=False)})


def _answer(engine: Engine, plan: Plan) -> list[str]:
    for name, (rows, _) in TABLES.items():
        engine.attach(name, source_from_data(name, rows))
    found = engine.fetch(plan)
    return sorted(repr(row) for row in zip(*(column.tolist() for column in found.values()), strict=True))


@settings(max_examples=150, deadline=None)
@given(plan=plans())
def test_random_plans_have_the_answers_of_duckdb(plan: Plan) -> None:
    with MemoryEngine() as memory, DuckDBEngine(threads=1) as duckdb:
        assert _answer(memory, plan) == _answer(duckdb, plan)


# --- single points -----------------------------------------------------------------------------------------------


def test_unlinked_parts_are_joined_through_what_links_them() -> None:
    with MemoryEngine(most_rows=100_000) as engine:
        for name, rows in (("p", np.arange(50_000)), ("q", np.arange(50_000))):
            engine.attach(name, source_from_data(name, rows))
        engine.attach("r", source_from_data("r", np.stack([np.arange(50_000), np.arange(50_000)[::-1]], axis=1)))
        p = Scan("p", {"X": ("c0", Type.INTEGER)}, frozenset([frozenset("X")]))
        q = Scan("q", {"Y": ("c0", Type.INTEGER)}, frozenset([frozenset("Y")]))
        r = Scan("r", {"X": ("c0", Type.INTEGER), "Y": ("c1", Type.INTEGER)}, frozenset([frozenset("XY")]))
        assert engine.count(Join(Join(p, q), r), 10**6) == 50_000
        shifted = Filter(Join(p, q), call("=", Column("X"), call("+", Column("Y"), literal(1))))
        assert engine.count(shifted, 10**6) == 49_999
        assert engine._other is None  # nothing was handed over


def test_columns_of_the_user_are_not_copied() -> None:
    numbers = np.arange(1000)
    with MemoryEngine() as engine:
        engine.attach("t", source_from_data("t", {"a": numbers}))
        found = engine.fetch(Scan("t", {"A": ("c0", Type.INTEGER)}))
    assert np.shares_memory(found["A"], numbers)
    assert not found["A"].flags.writeable


@pytest.mark.parametrize("operation", ["+", "*"])
def test_whole_numbers_do_not_wrap_around(operation: Any) -> None:
    with MemoryEngine() as engine:
        engine.attach("t", source_from_data("t", {"a": np.array([2**62])}))
        plan = Project(Scan("t", {"A": ("c0", Type.INTEGER)}), {"B": call(operation, Column("A"), Column("A"))})
        with pytest.raises(DataError, match="64 bits"):
            engine.fetch(plan)


def test_the_first_rows_of_an_order_may_hold_gaps_last() -> None:
    with MemoryEngine() as engine:
        engine.attach("t", source_from_data("t", [(3,), (1,), (2,)]))
        one = literal(1)
        value = call("if", call("=", Column("A"), one), Literal(None, Type.INTEGER), Column("A"))
        plan = Project(Scan("t", {"A": ("c0", Type.INTEGER)}), {"A": Column("A"), "B": value})
        assert engine.fetch(Limit(plan, 2, ("B",)))["A"].tolist() == [2, 3]


def test_interruption_before_a_query_does_not_stop_it() -> None:
    with MemoryEngine() as engine:
        engine.attach("t", source_from_data("t", [(1,), (2,)]))
        thread = threading.Thread(target=engine.interrupt)
        thread.start()
        thread.join()
        assert engine.count(Scan("t", {"A": ("c0", Type.INTEGER)}), 9) == 2


def test_a_join_of_too_many_rows_waits_for_others() -> None:
    numbers = np.arange(3000)
    with MemoryEngine(most_rows=100_000) as engine:
        engine.attach("one", source_from_data("one", {"a": numbers, "b": numbers * 0}))
        engine.attach("link", source_from_data("link", {"a": np.tile(numbers, 2), "c": np.repeat(numbers, 2)}))
        left = Scan("one", {"X": ("c0", Type.INTEGER), "Y": ("c1", Type.INTEGER)})
        right = Scan("one", {"Z": ("c0", Type.INTEGER), "Y": ("c1", Type.INTEGER)})
        link = Scan("link", {"X": ("c0", Type.INTEGER), "Z": ("c1", Type.INTEGER)})
        assert engine.count(Join(Join(left, right), link), 10**6) == 6000
        assert engine._other is None  # nothing was handed over
        engine.most_work = 10**6
        with pytest.raises(SizeLimitError, match="9,000,000 combinations"):
            engine.count(Distinct(Join(left, right)), 10**6)


def test_too_little_memory_is_an_error_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: Any) -> Any:
        raise MemoryError

    with MemoryEngine() as engine:
        engine.attach("t", source_from_data("t", [(1,), (2,)]))
        monkeypatch.setattr(kernels, "group", no_memory)
        with pytest.raises(EngineError, match="not enough memory"):
            engine.count(Distinct(Scan("t", {"A": ("c0", Type.INTEGER)})), 9)
