"""The conformance suite of engines: small named cases that each of them must pass.

An engine of one's own is tested by

>>> from relift.tables.duckdb.engine import DuckDBEngine
>>> check_engine(DuckDBEngine)
{}

or, with one test for each case, by ``pytest.mark.parametrize("case", CASES, ids=str)`` and ``case.check(engine)``. Each
case gets an engine of its own. What an engine cannot do is passed to :func:`check_engine` with a reason; a case
marked so that passes all the same is a failure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from relift.errors import DataError, EngineError, ReliftError, SizeLimitError
from relift.tables.algebra import (
    Aggregate,
    AggregateFunction,
    Column,
    Distinct,
    Filter,
    Join,
    Limit,
    Number,
    Plan,
    Project,
    Scalar,
    Scan,
    Type,
    Union,
    Unit,
    call,
    extend,
    literal,
    project,
)
from relift.tables.engine import Engine, Row
from relift.tables.load import load_table
from relift.tables.sources.table import TableLike, source_from_data
from relift.testing.conformance import Case

STRANGE = [
    "it's",
    'say "hi"',
    "'; DROP TABLE numbers; --",
    "a\\b",
    "tab\there",
    "Ünï 雪",
    "",
    " ",
    "%s {x}",
    "$1",
    "null",
]


CASES: list[Case[Engine]] = []


def check_engine(make: Callable[[], Engine], cannot: Mapping[str, str] | None = None) -> dict[str, str]:
    """Run every case on a fresh engine; what failed, with the reason.

    Parameters
    ----------
    make
        Makes an engine.
    cannot
        Cases that it is known to fail, with the reason.
    """
    cannot = cannot or {}
    failed = {}
    for case in CASES:
        try:
            with make() as engine:
                case.check(engine)
        except (AssertionError, ReliftError) as error:
            if case.name not in cannot:
                failed[case.name] = f"{type(error).__name__}: {error}"
        else:
            if case.name in cannot:
                failed[case.name] = f"passes, although it is marked: {cannot[case.name]}"
    return failed


def _case(function: Callable[[Engine], None]) -> Callable[[Engine], None]:
    CASES.append(Case(function.__name__.removeprefix("_check_").replace("_", " "), function))
    return function


def _table(engine: Engine, name: str, rows: TableLike, columns: str) -> Scan:
    types = engine.attach(name, source_from_data(name, rows))
    return Scan(name, dict(zip(columns, types.items(), strict=True)))


def _rows(engine: Engine, plan: Plan) -> list[Row]:
    columns = [column.tolist() for column in engine.fetch(plan).values()]
    return sorted(zip(*columns, strict=True), key=repr)


def _error_of(call: Callable[[], object]) -> ReliftError | None:
    try:
        call()
    except ReliftError as error:
        return error
    return None


def _numbers(engine: Engine, name: str = "numbers") -> Scan:
    return _table(engine, name, [(1, 10), (2, 20), (2, 21), (3, 30)], "XY")


@_case
def _check_types_arrive_as_numpy(engine: Engine) -> None:
    table = _table(engine, "t", {"a": np.arange(3), "b": [0.5, 1.0, 2.0], "c": ["x", "y", "z"]}, "ABC")
    assert list(table.columns.values()) == [Type.INTEGER, Type.REAL, Type.TEXT]
    found = engine.fetch(extend(table, {"N": call("number of row", Column("A"))}))
    assert [found[c].dtype for c in "ABCN"] == [np.int64, np.float64, np.dtype(object), np.int32]
    assert sorted(found["C"].tolist()) == ["x", "y", "z"]


@_case
def _check_strange_texts_are_only_texts(engine: Engine) -> None:
    numbers = _numbers(engine)
    table = _table(engine, "texts", [(text, k) for k, text in enumerate(STRANGE)], "TK")
    assert sorted(engine.fetch(table)["T"].tolist()) == sorted(STRANGE)
    for position, text in enumerate(STRANGE):
        found = engine.fetch(Filter(table, call("=", Column("T"), literal(text))))
        assert found["K"].tolist() == [position], text
        assert engine.fetch(Project(Unit(), {"T": literal(text)}))["T"].tolist() == [text]
    assert engine.count(numbers, 10) == 4


@_case
def _check_constants_keep_every_bit(engine: Engine) -> None:
    values = [0.1, -0.1, 1 / 3, 1e300, 5e-324, 2.0**53 + 2, -0.0, 123456789.123456789, float("inf")]
    plan = Project(Unit(), {f"c{k}": literal(v) for k, v in enumerate(values)})
    assert [column[0] for column in engine.fetch(plan).values()] == values
    whole = [0, -1, 2**62, -(2**62)]
    plan = Project(Unit(), {f"c{k}": literal(v) for k, v in enumerate(whole)})
    assert [int(column[0]) for column in engine.fetch(plan).values()] == whole


@_case
def _check_joins(engine: Engine) -> None:
    left = _numbers(engine)
    right = _table(engine, "more", [(2, "a"), (3, "b"), (4, "c")], "XZ")
    assert _rows(engine, Join(left, right)) == [(2, 20, "a"), (2, 21, "a"), (3, 30, "b")]
    assert _rows(engine, Join(left, right, "semi")) == [(2, 20), (2, 21), (3, 30)]
    assert _rows(engine, Join(left, right, "anti")) == [(1, 10)]
    found = engine.fetch(Join(left, project(right, "X", V=call("real", literal(1))), "left"))
    assert np.isnan(found["V"][found["X"] == 1]).all()
    assert found["X"].size == 4
    other = Project(right, {"W": Column("X")})
    assert engine.count(Join(left, other), 100) == 12
    assert engine.count(Join(left, Filter(other, literal(False)), "anti"), 100) == 4
    assert engine.count(Join(left, other, "semi"), 100) == 4


@_case
def _check_unions_and_distinct(engine: Engine) -> None:
    numbers = _numbers(engine)
    xs = project(numbers, "X")
    halves = Project(numbers, {"X": call("/", Column("X"), literal(2))})
    assert _rows(engine, Distinct(xs)) == [(1,), (2,), (3,)]
    both = Union((xs, halves))
    assert both.columns == {"X": Type.REAL}
    assert sorted(engine.fetch(both)["X"].tolist()) == [0.5, 1, 1, 1, 1.5, 2, 2, 3]
    assert engine.count(Distinct(Union((project(numbers), project(numbers)))), 10) == 1


@_case
def _check_aggregates(engine: Engine) -> None:
    numbers = _numbers(engine)
    outputs: dict[str, tuple[AggregateFunction, Scalar]] = {
        "n": ("count", literal(1)),
        "s": ("sum", Column("Y")),
        "lo": ("min", Column("Y")),
        "hi": ("max", Column("Y")),
    }
    assert _rows(engine, Aggregate(numbers, ("X",), outputs)) == [
        (1, 1, 10, 10, 10),
        (2, 2, 41, 20, 21),
        (3, 1, 30, 30, 30),
    ]
    nothing = Filter(numbers, literal(False))
    assert engine.fetch(Aggregate(nothing, (), {"n": ("count", literal(1))}))["n"].tolist() == [0]
    assert engine.count(Aggregate(nothing, ("X",), outputs), 10) == 0


@_case
def _check_sums_do_not_depend_on_the_order(engine: Engine) -> None:
    random = np.random.default_rng(0)
    values = random.standard_normal(500) * 10.0 ** random.integers(-8, 8, 500)
    rows = [(group, v) for group in range(4) for v in random.permutation(values).tolist()]
    rows += [(group + 4, -v) for group, v in rows]
    table = _table(engine, "t", {"g": [g for g, _ in rows], "v": [v for _, v in rows]}, "GV")
    found = engine.fetch(Aggregate(table, ("G",), {"S": ("sum", Column("V"))}))
    by_group = dict(zip(found["G"].tolist(), found["S"].tolist(), strict=True))
    assert len({by_group[g] for g in range(4)}) == 1
    assert {by_group[g] for g in range(4, 8)} == {-by_group[0]}


@_case
def _check_arithmetic(engine: Engine) -> None:
    def value(scalar: Scalar) -> float:
        return float(engine.fetch(Project(Unit(), {"v": call("real", scalar)}))["v"][0])

    two, three = literal(2), literal(3)
    assert value(call("-", two, call("-", three, literal(4)))) == 3
    assert value(call("/", literal(7), two)) == 3.5
    assert value(call("**", call("negative", two), three)) == -8
    assert value(call("least", two, three)) == 2
    assert value(call("greatest", two, literal(2.5))) == 2.5
    assert value(call("abs", literal(-1.5))) == 1.5
    assert value(call("sqrt", literal(16))) == 4
    assert abs(value(call("log", call("exp", two))) - 2) < 1e-14
    for undefined in (
        call("/", two, literal(0)),
        call("log", literal(0)),
        call("sqrt", literal(-1)),
        call("**", literal(-2), literal(0.5)),
        call("**", literal(0), literal(-1)),
    ):
        assert np.isnan(value(undefined)), undefined
    assert value(call("coalesce", call("/", two, literal(0)), three)) == 3


@_case
def _check_truth_values(engine: Engine) -> None:
    def holds(scalar: Scalar) -> bool:
        return engine.count(Filter(Unit(), scalar), 2) == 1

    yes, no = literal(True), literal(False)
    assert holds(call("not", call("or", no, no)))
    assert not holds(call("not", call("or", no, yes)))
    assert holds(call("and", yes, call("not", call("and", yes, no))))
    assert holds(call("=", literal(1), literal(1.0)))
    assert holds(call("!=", literal("a"), literal("A")))
    assert holds(call("<", literal("B"), literal("a")))
    assert holds(call("is finite", literal(1.0)))
    assert not holds(call("is finite", literal(float("inf"))))
    assert not holds(call("is finite", literal(float("nan"))))
    assert holds(call("is whole", literal(-3.0)))
    assert not holds(call("is whole", literal(0.5)))
    assert holds(call("is null", call("/", literal(1), literal(0))))


@_case
def _check_numbers_are_dense_and_in_order(engine: Engine) -> None:
    random = np.random.default_rng(1)
    keys = random.permutation(50_000)
    texts = [f"k{k:06d}" for k in keys]
    table = _table(engine, "t", {"a": keys % 7, "b": texts}, "AB")
    assert engine.create("numbered", table, number=("number", ("A", "B"))) == 50_000
    plan = Scan("numbered", {"A": ("A", Type.INTEGER), "B": ("B", Type.TEXT), "N": ("number", Type.INTEGER)})
    found = engine.fetch(plan)
    order = np.argsort(found["N"])
    assert found["N"][order].tolist() == list(range(50_000))
    pairs = list(zip(found["A"][order].tolist(), found["B"][order].tolist(), strict=True))
    assert pairs == sorted(pairs)
    assert engine.count(Number(table, "N"), 10**6) == 50_000


@_case
def _check_texts_are_ordered_by_code_point(engine: Engine) -> None:
    words = ["a", "B", "Z", "b", "é", "雪", "_", "10", "9"]
    table = _table(engine, "t", words, "W")
    engine.create("ordered", table, number=("number", ("W",)))
    found = engine.fetch(Scan("ordered", {"W": ("W", Type.TEXT), "N": ("number", Type.INTEGER)}))
    assert [word for _, word in sorted(zip(found["N"], found["W"], strict=True))] == sorted(words)


@_case
def _check_budgets_and_bounded_counts(engine: Engine) -> None:
    table = _table(engine, "t", np.arange(200_000), "X")
    product = Join(table, Project(table, {"Y": Column("X")}))
    start = time.perf_counter()
    assert engine.count(product, 1_000_000) == 1_000_000
    assert time.perf_counter() - start < 30
    for refuse in (lambda: engine.create("big", table, budget=1000), lambda: engine.fetch(table, budget=1000)):
        error = _error_of(refuse)
        assert isinstance(error, SizeLimitError)
        assert error.limit == 1000
    assert engine.create("big", table, budget=200_000) == 200_000
    engine.drop("big")
    engine.drop("big")
    assert engine.fetch(Limit(table, 3, ("X",)))["X"].tolist() == [0, 1, 2]


@_case
def _check_tables_grow_by_append(engine: Engine) -> None:
    numbers = _numbers(engine)
    engine.create("grown", numbers)
    grown = Scan("grown", {"X": ("X", Type.INTEGER), "Y": ("Y", Type.INTEGER)})
    assert engine.append("grown", Filter(numbers, call("=", Column("X"), literal(2)))) == 2
    assert engine.count(grown, 100) == 6


@_case
def _check_relations_without_columns(engine: Engine) -> None:
    engine.create("truth", Unit())
    engine.create("falsehood", Filter(Unit(), literal(False)))
    assert engine.count(Scan("truth", {}), 5) == 1
    assert engine.count(Scan("falsehood", {}), 5) == 0
    numbers = _numbers(engine)
    assert engine.count(Join(numbers, Scan("falsehood", {}), "anti"), 9) == 4
    assert engine.count(Join(numbers, Scan("falsehood", {})), 9) == 0


@_case
def _check_missing_entries_come_through_and_are_refused(engine: Engine) -> None:
    for k, rows in enumerate(([("a", 1.0), (None, 2.0)], [("a", 1.0), ("b", float("nan"))])):
        source = source_from_data("t", rows)
        error = _error_of(partial(load_table, engine, f"t{k}", source, 1, has_value=True))
        assert isinstance(error, DataError)
        assert "row 1" in str(error)


@_case
def _check_empty_tables_fit_everything(engine: Engine) -> None:
    numbers = _numbers(engine)
    empty = load_table(engine, "empty", source_from_data("empty", []), 2, has_value=False)
    assert engine.count(Join(numbers, empty.scan(["X", "Z"])), 9) == 0
    texts = _table(engine, "texts", ["a", "b"], "Z")
    assert engine.count(Union((project(empty.scan(["X", "Z"]), "Z"), texts)), 9) == 2
    assert engine.count(Join(texts, project(empty.scan(["X", "Z"]), "Z"), "anti"), 9) == 2


@_case
def _check_shared_parts_are_written_once(engine: Engine) -> None:
    plan: Plan = _numbers(engine)
    for level in range(25):  # 2**25 paths
        flagged = extend(Distinct(project(plan, "X")), {f"f{level}": literal(1)})
        plan = project(Join(plan, flagged, "left"), "X", "Y")
    assert engine.count(plan, 100) == 4
    assert len(engine.explain(plan)) < 100_000


@_case
def _check_rows_that_a_table_lacks_are_added(engine: Engine) -> None:
    known = load_table(engine, "known", source_from_data("known", [(1, "a"), (2, "b")]), 2, has_value=False)
    more = load_table(engine, "more", source_from_data("more", [(2, "b"), (3, "a"), (3, "a")]), 2, has_value=False)
    scan = known.scan(["c0", "c1"])
    assert engine.add_new("first", more.scan(["c0", "c1"]), scan) == 1
    assert engine.add_new("second", more.scan(["c0", "c1"]), scan) == 0
    assert engine.count(scan, 9) == 3
    assert engine.fetch(Scan("first", {"c0": ("c0", Type.INTEGER)}))["c0"].tolist() == [3]
    assert engine.count(Scan("second", {"c0": ("c0", Type.INTEGER)}), 9) == 0


@_case
def _check_a_sealed_engine_still_reads_tables(engine: Engine) -> None:
    engine.seal()
    engine.seal()
    assert engine.count(_numbers(engine), 100) == 4


@_case
def _check_interruption(engine: Engine) -> None:
    table = _table(engine, "t", np.arange(100_000), "X")
    heavy = Join(table, Project(table, {"Y": Column("X")}))
    odd = Filter(heavy, call("=", call("*", Column("X"), Column("Y")), literal(7)))
    timer = threading.Timer(0.5, engine.interrupt)
    timer.start()
    start = time.perf_counter()
    try:
        engine.count(odd, 10)
    except (KeyboardInterrupt, EngineError):  # a quick engine may even have ended
        assert time.perf_counter() - start < 30
    finally:
        timer.cancel()
    assert engine.count(table, 10) == 10


@_case
def _check_closing(engine: Engine) -> None:
    table = _numbers(engine)
    engine.close()
    engine.close()
    try:
        engine.count(table, 1)
    except EngineError:
        return
    raise AssertionError("a closed engine answered")
