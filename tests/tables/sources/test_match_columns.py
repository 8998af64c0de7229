"""Which column is which argument: by the model's names, by position where these do not contradict, else refused."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.errors import DataError
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.load import load_table
from relift.tables.memory.engine import MemoryEngine
from relift.tables.sources.contents import Shape
from relift.tables.sources.match_columns import Wanted, order_of_columns
from relift.tables.sources.table import source_from_data

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

DIST = Wanted(2, True, (("I", "J"),), frozenset({"dist", "value"}))
PAIR = Wanted(2, False, (("A", "B"),), frozenset({"pair"}))
WEIGHT = Wanted(1, True, (("I",),), frozenset({"w", "value"}))
EXPECTED = {(1, 7): 0.5, (2, 8): 1.5}
IN_ORDER = {"I": [1, 2], "J": [7, 8], "dist": [0.5, 1.5]}
NUMBERS = itertools.count()


@cache
def engines() -> tuple[Engine, ...]:
    return MemoryEngine(), DuckDBEngine(threads=1)


def read(data: Any, wanted: Wanted = DIST) -> Any:
    """What arrives, by tuple; both embedded engines must agree on it, or on the error."""
    outcomes: list[Any] = []
    for engine in engines():
        try:
            source = source_from_data("t", data, wanted=wanted)
            table = load_table(engine, f"t{next(NUMBERS)}", source, wanted.arity, wanted.has_value)
            names = [f"k{k}" for k in range(wanted.arity)]
            found = engine.fetch(table.scan(names, "v" if wanted.has_value else None))
            keys = list(zip(*(found[name].tolist() for name in names), strict=True))
            outcomes.append(dict(zip(keys, found["v"].tolist(), strict=True)) if wanted.has_value else sorted(keys))
            engine.drop(table.name)
        except DataError as error:
            outcomes.append(error)
    assert str(outcomes[0]) == str(outcomes[1])
    if isinstance(outcomes[0], DataError):
        raise outcomes[0]
    return outcomes[0]


def tables(columns: dict[str, list[Any]], folder: Path) -> dict[str, Any]:
    """The same columns in every kind of table that has names."""
    frame = pd.DataFrame(columns)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    connection = duckdb.connect()
    connection.register("given", frame)
    connection.execute("CREATE TABLE t AS FROM given")
    rows = list(zip(*columns.values(), strict=True))
    return {
        "pandas": frame,
        "index": frame.set_index(list(columns)[:2]),
        "series": frame.set_index(list(columns)[:2]).iloc[:, 0],
        "dict": columns,
        "Polars": pl.DataFrame(columns),
        "Arrow": pa.table(columns),
        "structured": np.array(rows, dtype=[(name, float) for name in columns]),
        "CSV": folder / "t.csv",
        "Parquet": folder / "t.parquet",
        "DuckDB": (connection, "t"),
        "relation": connection.table("t"),
    }


@pytest.mark.parametrize("order", list(itertools.permutations(IN_ORDER)), ids="".join)
@pytest.mark.parametrize("fold", [str, str.swapcase], ids=["as written", "other case"])
def test_names_of_the_model_are_found_in_any_order_and_source(
    order: tuple[str, ...], fold: Any, tmp_path: Path
) -> None:
    columns: dict[str, Any] = {fold(name): IN_ORDER[name] for name in order}
    for kind, data in tables(columns, tmp_path).items():
        assert read(data) == EXPECTED, kind


@pytest.mark.parametrize("value", ["value", "dist", "km"])
def test_one_column_may_have_a_name_of_its_own(value: str) -> None:
    assert read({"J": [7, 8], "I": [1, 2], value: [0.5, 1.5]}) == EXPECTED
    assert read({value: [0.5, 1.5], "J": [7, 8], "I": [1, 2]}) == EXPECTED


@pytest.mark.parametrize("names", [["from", "to", "km"], ["I", "to", "km"], ["from", "J", "value"], ["a", "b", "dist"]])
def test_names_that_do_not_contradict_are_taken_in_their_order(names: list[str], tmp_path: Path) -> None:
    columns: dict[str, Any] = dict(zip(names, IN_ORDER.values(), strict=True))
    for kind, data in tables(columns, tmp_path).items():
        assert read(data) == EXPECTED, kind


@pytest.mark.parametrize(
    "names", [["J", "to", "km"], ["dist", "from", "to"], ["from", "value", "to"], ["to", "I", "km"]]
)
def test_names_that_contradict_and_do_not_settle_it_are_refused(names: list[str], tmp_path: Path) -> None:
    columns: dict[str, Any] = dict(zip(names, [[1.0, 2.0], [7.0, 8.0], [3.0, 4.0]], strict=True))
    for data in tables(columns, tmp_path).values():
        with pytest.raises(DataError, match=r"calls its arguments \(I, J\) and a value.*relift\.Table\(data, \["):
            read(data)


def test_an_explicit_order_counts_more_than_names() -> None:
    columns = {"J": [1, 2], "I": [7, 8], "dist": [0.5, 1.5]}
    assert read(relift.Table(columns, ["J", "I", "dist"])) == EXPECTED
    assert read(relift.Table(columns, [0, 1, 2])) == EXPECTED
    with pytest.raises(DataError, match=r"has no column 3\. Its columns are 0 to 2"):
        read(relift.Table(columns, [0, 1, 3]))
    with pytest.raises(DataError, match=r"columns='JI' is one text"):
        read(relift.Table(columns, "JI"))


def test_a_model_gives_its_names_to_its_tables() -> None:
    text = """param dist/2; var x(I,J) in dist(I,J) >= dist(I,J); minimize: sum{I,J in dist(I,J)} x(I,J);
        subject to same forall {I,J in dist(I,J) & dist(J,I)}: x(I,J) = x(J,I);"""
    for columns in (IN_ORDER, {"J": [7, 8], "I": [1, 2], "dist": [0.5, 1.5]}):
        for engine in ("memory", "duckdb"):
            assert relift.solve_model(text, {"dist": columns}, engine=engine)["x"].to_dict() == EXPECTED


def test_names_of_several_atoms_do_not_contradict_each_other() -> None:
    several = Wanted(2, False, (("I", "Y"), ("J", "Y")))
    assert read({"i": [1, 2], "j": [9, 9]}, several) == [(1, 9), (2, 9)]
    swapped = Wanted(2, True, (("I", "J"), ("J", "I")), frozenset({"dist"}))
    assert read({"J": [7, 8], "I": [1, 2], "dist": [0.5, 1.5]}, swapped) == EXPECTED
    assert read(IN_ORDER, swapped) == EXPECTED


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_no_other_order_puts_more_names_where_the_model_has_them(data: Any) -> None:
    """Against all permutations: the order that is found explains most names, unless the first atom names all."""
    arity = data.draw(st.integers(1, 3))
    name = st.sampled_from(["I", "J", "K", None])
    uses = tuple(data.draw(st.lists(st.tuples(*[name] * arity), max_size=3)))
    names = st.sampled_from(["I", "J", "K", "value", "x", "y", "z"])
    found = data.draw(st.lists(names, min_size=arity + 1, max_size=arity + 1, unique=True))
    wanted = Wanted(arity, True, uses, frozenset({"value"}))

    def explained(order: tuple[int, ...]) -> int:
        return sum(position in wanted.places(found[column]) for position, column in enumerate(order))

    orders = list(itertools.permutations(range(arity + 1)))
    best = max(map(explained, orders))
    try:
        order = tuple(order_of_columns("t", found, Shape(), wanted))
    except DataError:
        assert explained(orders[0]) < best
        return
    first = next((use for use in uses if None not in use and len(set(use)) == arity), None)
    if first is not None and set(first) <= set(found):
        assert tuple(found[column] for column in order[:arity]) == first
    else:
        assert explained(order) == best


# --- matrices --------------------------------------------------------------------------------------------------------

DENSE = np.array([[0.0, 5.0, 3.0], [2.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    "data",
    [DENSE, DENSE.astype(int), DENSE.tolist(), pd.DataFrame(DENSE), pl.DataFrame(DENSE), DENSE.astype(object)],
    ids=["floats", "ints", "nested list", "pandas", "Polars", "objects"],
)
def test_an_array_that_may_be_a_matrix_is_refused_for_two_arguments(data: Any) -> None:
    ways = r"or the array a matrix .*relift\.Table\(data, \[0, 1, 2\]\).*relift\.matrix\(data\)"
    with pytest.raises(DataError, match=ways):
        read(data)
    assert read(relift.Table(data, [0, 1, 2])) == {(0, 5): 3, (2, 0): 1}
    cells = {(i, j): DENSE[i, j] for i in range(2) for j in range(3)}
    labels: dict[str, Any] = {} if not isinstance(data, pl.DataFrame) else {"columns": range(3)}
    assert read(relift.matrix(data, **labels)) == cells


def test_arrays_that_cannot_be_matrices_are_tuples() -> None:
    assert read(np.array([[1, 5], [2, 6]]), WEIGHT) == {(1,): 5, (2,): 6}
    assert read(np.array([[1, 5], [2, 6]]), PAIR) == [(1, 5), (2, 6)]
    assert read([["a", "b"], ["b", "c"]], PAIR) == [("a", "b"), ("b", "c")]
    assert read([("a", "b", 1), ("b", "c", 2)]) == {("a", "b"): 1, ("b", "c"): 2}
    assert read([(1, 2, 1), (2, 3, 2)]) == {(1, 2): 1, (2, 3): 2}
    assert read(sparse.csr_array(DENSE)) == {(0, 1): 5, (0, 2): 3, (1, 0): 2, (1, 2): 1}
    with pytest.raises(DataError, match="each row may be a pair, or the array a matrix"):
        read(np.array([[0, 1], [1, 0]]), PAIR)
    assert read(relift.matrix(np.array([[0, 1], [1, 0]])), PAIR) == [(0, 1), (1, 0)]


def test_wide_tables_are_refused_and_read_as_matrices() -> None:
    wide = pd.DataFrame([[5.0, 3.0], [2.0, 1.0]], index=["p", "q"], columns=["u", "v"])
    cells = {("p", "u"): 5, ("p", "v"): 3, ("q", "u"): 2, ("q", "v"): 1}
    assert read(relift.matrix(wide)) == cells
    assert read(relift.matrix(pl.DataFrame({"plant": ["p", "q"], "u": [5, 2], "v": [3, 1]}))) == cells
    assert read(relift.matrix(wide.to_numpy(), ["p", "q"], ["u", "v"])) == cells
    for frame, message in (
        (wide.assign(w=1.0), "whose index has labels ('p', ...) but no name"),
        (wide.rename_axis("plant"), "has the index 'plant' and 2 columns of numbers"),
        (wide.rename_axis("plant").rename_axis("city", axis=1).reset_index(), "columns that are labels of 'city'"),
        (wide.set_axis([2020, 2021], axis=1).rename_axis("plant").reset_index(), "called by numbers (2020, 2021)"),
        (pl.DataFrame({"plant": ["p"], "2020": [1.0], "2021": [2.0]}), "called by numbers (2020, 2021)"),
    ):
        with pytest.raises(DataError) as caught:
            read(frame)
        assert message in str(caught.value)
        assert "relift.matrix(" in caught.value.hint
    long = pd.DataFrame({"I": [1, 2], "J": [7, 8], "dist": [0.5, 1.5]})
    assert read(long[long.dist > 0]) == EXPECTED  # an index of numbers without a name is no column
    assert read(long.set_index("J")) == EXPECTED
    assert read(long.rename_axis("things", axis=1)) == EXPECTED


def test_matrices_with_gaps_labels_and_wrong_shapes() -> None:
    gaps = pd.DataFrame([[5.0, np.nan]], index=["p"], columns=["u", "v"])
    with pytest.raises(DataError, match="its value is missing in row 1"):
        read(relift.matrix(gaps))
    assert read(relift.matrix(gaps, missing="skip")) == {("p", "u"): 5}
    days = pd.DataFrame([[1.0]], index=pd.to_datetime(["2026-01-02"]), columns=["u"])
    assert read(relift.matrix(days)) == {("2026-01-02", "u"): 1}
    cases: tuple[tuple[Any, dict[str, Any], str], ...] = (
        (DENSE, {"rows": ["a"]}, "has 2 rows and 1 labels for them"),
        (DENSE, {"columns": ["a", "b", "a"]}, "has two columns with the label a"),
        (np.zeros(3), {}, "is an array of 1 dimensions"),
        ([[1], [1, 2]], {}, "must have one length"),
    )
    for data, options, message in cases:
        with pytest.raises(DataError, match=message):
            read(relift.matrix(data, **options))
    with pytest.raises(DataError, match="other entries than 0 and 1"):
        read(relift.matrix(DENSE), PAIR)
    with pytest.raises(relift.errors.OptionError, match="missing"):
        relift.matrix(DENSE, missing="drop")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"4 columns, but 3 are needed.*relift\.matrix\(data\)"):
        read(np.ones((2, 4)))
