"""Tables that try to break grounding: both embedded engines must read the same from them, or refuse them alike."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.grounding.same_program import PROGRAMS, assert_same_program

from relift.errors import DataError, OptionError, ReliftError, SizeLimitError
from relift.grounding.ground import GroundProgram, ground
from relift.language.checks.check_model import check_text
from relift.tables import compiled as kernels
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.memory import string_ids as texts
from relift.tables.memory.engine import MemoryEngine

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

MODEL = check_text(
    """relation p/1, s/1; var x(I) in p(I) >= 0; minimize: sum{I in p(I)} x(I);
    subject to both forall {I in p(I) & s(I)}: x(I) >= 1;
    subject to one forall {I in p(I) & !s(I)}: x(I) >= 2;
    subject to order forall {I,J in p(I) & p(J) & I < J}: x(I) + x(J) >= 1;"""
)
HALVES = np.array([1.0, 2.5])
COLUMNS: dict[str, tuple[Callable[[], Any], Any]] = {
    "whole reals": (lambda: np.array([1.0, 2.0, 3.0]), [1, 2]),
    "zero of both signs": (lambda: np.array([-0.0, 0.0, 1.0]), [0]),
    "beyond 2**53": (lambda: np.array([2**53, 2**53 + 1, 2**63 - 1, -(2**63)]), [2**53 + 1]),
    "reals beyond 2**63": (lambda: np.array([2.0**63, 1.0]), HALVES),
    "smallest reals": (lambda: np.array([5e-324, 1e-310]), HALVES),
    "NaN": (lambda: np.array([1.0, np.nan]), HALVES),
    "infinity": (lambda: np.array([1.0, -np.inf]), HALVES),
    "too long": (lambda: np.array([2**63 + 5, 1], np.uint64), [1]),
    "far too long": (lambda: [2**70, 1], [1]),
    "given twice": (lambda: [1, 1, 2], [1]),
    "1 and 1.0": (lambda: np.array([1, 1.0, 2], object), [1]),
    "number and text": (lambda: [1, "1"], ["1"]),
    "number meets text": (lambda: [1, 2], ["1"]),
    "None": (lambda: ["a", None], ["a"]),
    "truth values": (lambda: np.array([True, False]), [1]),
    "Unicode": (lambda: ["b", "é", "e\u0301", "\U0001f600", "\uffff", "Z", "", " ", "a\0b", "a\0", "a"], ["e\u0301"]),
    "long texts": (lambda: ["x" * 100_000, "y" * 99_999 + "z", "y" * 99_999], ["y" * 99_999]),
    "bytes": (lambda: np.array([b"a", b"b"]), ["a"]),
    "dates": (lambda: [dt.date(2020, 1, 2), dt.date(2019, 1, 1)], ["2019-01-01"]),
    "decimals": (lambda: [decimal.Decimal("1.5"), decimal.Decimal(2)], HALVES),
    "complex": (lambda: np.array([1j]), [1]),
    "read-only": (lambda: np.frombuffer(np.array([3, 1, 2]).tobytes(), np.int64), [1]),
    "every third": (lambda: np.arange(10)[::3], [3]),
    "backwards": (lambda: np.arange(4)[::-1], [3]),
    "big-endian": (lambda: np.array([3, 1], ">i8"), [3]),
    "half precision": (lambda: np.array([0.1, 2], np.float16), HALVES),
    "masked": (lambda: np.ma.masked_array([1, 2, 3], [False, True, False]), [1]),
    "empty": (lambda: np.array([]), ["a"]),
    "pandas Int64": (lambda: pd.DataFrame({"a": pd.array([2**53 + 1, 2**53], dtype="Int64")}), [2**53]),
    "pandas Int64 with a gap": (lambda: pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), [1]),
    "pandas objects": (lambda: pd.DataFrame({"a": np.array(["a", np.nan], object)}), ["a"]),
    "categories": (lambda: pd.DataFrame({"a": pd.Categorical(["b", "a", "b"])}), ["a"]),
    "long categories": (lambda: pd.DataFrame({"a": pd.Categorical([2**53 + 1, 2**53])}), [2**53]),
    "categories that are dates": (lambda: pd.DataFrame({"a": pd.Categorical(pd.to_datetime(["2020-01-01"]))}), ["a"]),
    "categories with a gap": (lambda: pd.DataFrame({"a": pd.Categorical(["b", None])}), ["a"]),
    "Arrow, part of an array": (lambda: pa.table({"a": pa.array([None, "z", "b", "c"])[1:3]}), ["b"]),
    "Arrow, part with a gap": (lambda: pa.table({"a": pa.array(["z", None, "b"])[1:3]}), ["b"]),
    "Arrow chunks": (lambda: pa.table({"a": pa.chunked_array([["a", "b"], [], ["c"]])}), ["c"]),
    "Arrow no chunk": (lambda: pa.table({"a": pa.chunked_array([], pa.int64())}), [1]),
    "Arrow dictionary": (lambda: pa.table({"a": pa.array(["a", "b", "a"]).dictionary_encode()}), ["a"]),
    "Arrow string view": (lambda: pa.table({"a": pa.array(["a", "b" * 30]).cast(pa.string_view())}), ["a"]),
    "Arrow decimals": (lambda: pa.table({"a": pa.array([decimal.Decimal("1.50")])}), HALVES),
    "Arrow dates": (lambda: pa.table({"a": pa.array([dt.date(2020, 1, 1)])}), ["a"]),
    "Arrow lists": (lambda: pa.table({"a": pa.array([[1]])}), [1]),
    "Arrow names twice": (lambda: pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), [1]),
    "Arrow without UTF-8": (lambda: _no_utf8(), ["a"]),
    "Polars categories": (lambda: pl.DataFrame({"a": pl.Series(["a", "b"], dtype=pl.Categorical)}), ["a"]),
    "Polars too long": (lambda: pl.DataFrame({"a": pl.Series([2**63 + 1], dtype=pl.UInt64)}), [1]),
    "Polars gap": (lambda: pl.DataFrame({"a": ["a", None]}), ["a"]),
}


def _no_utf8() -> Any:
    starts = pa.py_buffer(np.array([0, 2], np.int32).tobytes())
    return pa.table({"a": pa.Array.from_buffers(pa.string(), 1, [None, starts, pa.py_buffer(b"\xff\xfe")])})


def _outcome(engine: Engine, data: dict[str, Any]) -> GroundProgram | str:
    try:
        return ground(MODEL, data, engine=engine)
    except ReliftError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("given", COLUMNS)
def test_a_column_means_the_same_in_both_embedded_engines(given: str) -> None:
    make, others = COLUMNS[given]
    memory = _outcome(MemoryEngine(), {"p": make(), "s": others})
    duckdb = _outcome(DuckDBEngine(threads=1), {"p": make(), "s": others})
    if isinstance(memory, str) or isinstance(duckdb, str):
        assert memory == duckdb
    else:
        assert_same_program(memory, duckdb)


def test_dates_and_long_numbers_in_categories_keep_their_value() -> None:
    dates = ground(MODEL, {"p": COLUMNS["categories that are dates"][0](), "s": []})
    assert list(dates.program.variable_names) == ['x("2020-01-01")']
    numbers = ground(MODEL, {"p": COLUMNS["long categories"][0](), "s": []})
    assert list(numbers.program.variable_names) == [f"x({2**53})", f"x({2**53 + 1})"]


@pytest.mark.parametrize(
    ("expression", "values", "is_refused"),
    [
        ("-w(I)", [-(2**63)], True),
        ("abs(w(I))", [-(2**63)], True),
        ("w(I)*1", [2**63 - 1], False),
        ("w(I)*2", [2**62], True),
        ("w(I)*(-2)", [2**62], False),
        ("w(I)+1", [2**63 - 1], True),
        ("w(I)-1", [-(2**63)], True),
        ("sum{J in w(J)} w(J)", [2**63 - 1, 5, -7], False),
        ("sum{J in w(J)} w(J)", [-(2**63), 2**63 - 1], False),
        ("sum{J in w(J)} w(J)", [2**62, 2**62], True),
    ],
)
def test_whole_numbers_of_more_than_64_bits_are_refused_and_no_others(
    expression: str, values: list[int], is_refused: bool
) -> None:
    model = check_text(f"param w/1; r(I,X) if w(I) & X = {expression}; var v(I,X) in r(I,X); minimize: 0;")
    data = {"w": dict(enumerate(values))}
    found = []
    for engine in (MemoryEngine(), DuckDBEngine(threads=1)):
        if is_refused:
            with pytest.raises(DataError, match="a whole number of more than 64 bits was calculated"):
                ground(model, data, engine=engine)
        else:
            found.append(list(ground(model, data, engine=engine).program.variable_names))
    assert is_refused or (found[0] == found[1] and found[0])


def test_later_changes_of_the_users_columns_change_nothing() -> None:
    model = check_text(
        """relation p/1; param c/1, b/1; var x(I) in p(I) >= b(I); minimize: sum{I in p(I)} c(I)*x(I);
        subject to k forall {I in p(I)}: x(I) <= c(I) + 9;"""
    )
    keys, costs, least = np.arange(5), np.arange(5.0), np.arange(5.0) - 2
    data: dict[str, dict[str, Any]] = {"p": {"i": keys}, "c": {"i": keys, "v": costs}, "b": {"i": keys, "v": least}}
    expected = ground(model, {name: {k: v.copy() for k, v in table.items()} for name, table in data.items()})
    grounded = ground(model, data)
    keys[:], costs[:], least[:] = [9, 8, 7, 6, 5], -1, 77
    assert_same_program(grounded, expected)
    other = {"c": {"i": np.arange(5), "v": np.ones(5)}}
    assert_same_program(ground(model, other, previous=grounded), ground(model, other, previous=expected))


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("var x(I,J) in p(I,_) & p(J,_); minimize: 0;", "the variable 'x'"),
        ("r(I,J) if p(I,Y) & p(J,Y); var x(I) in r(I,_); minimize: 0;", "the rules of 'r'"),
        ("var x(I) in p(I,_); minimize: (sum{I in p(I,_)} x(I))**2;", "the objective 'objective'"),
        ("var x(I) in p(I,_); minimize: 0; subject to c: (sum{I in p(I,_)} x(I))**2 <= 1;", "the constraint 'c'"),
    ],
)
def test_explosions_are_refused_by_their_size(text: str, statement: str) -> None:
    numbers = np.arange(200_000)
    with pytest.raises(SizeLimitError) as caught:
        ground(check_text(f"relation p/2; {text}"), {"p": {"i": numbers, "j": numbers * 0}})
    assert caught.value.statement == statement
    assert caught.value.rows == numbers.size**2


def test_models_ground_at_the_same_time() -> None:
    chosen = [PROGRAMS[name] for name in ("tc_qp_svm", "max_flow", "map_lp")] * 6
    expected = [ground(check_text(text), data) for text, data in chosen]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda program: ground(check_text(program[0]), program[1]), chosen))
    for one, other in zip(found, expected, strict=True):
        assert_same_program(one, other)


@pytest.mark.parametrize("name", ["tc_qp_svm", "max_flow", "mdp"])
def test_without_the_compiled_kernels_the_program_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, data = PROGRAMS[name]
    expected = ground(check_text(text), data)
    names = list(expected.program.variable_names)
    monkeypatch.setattr(kernels, "CORE_IS_COMPILED", False)
    monkeypatch.setattr(texts, "CORE_IS_COMPILED", False)
    found = ground(check_text(text), data)
    assert_same_program(found, expected)
    assert list(found.program.variable_names) == names
    with pytest.raises(DataError, match="no valid Unicode"):
        ground(MODEL, {"p": ["\ud800"], "s": []})


@pytest.mark.parametrize("engine", [MemoryEngine, DuckDBEngine])
def test_atoms_that_cannot_be_there_are_not_there(engine: Callable[[], Engine]) -> None:
    grounded = ground(MODEL, {"p": [1, 2**63 - 1], "s": []}, engine=engine())
    assert [grounded.atoms.number("x", key) for key in (1, 1.0, True, np.int64(1), 2**63 - 1)] == [0, 0, 0, 0, 1]  # type: ignore[arg-type]
    for key in ("a", 2**70, -(2**63), 2**63 - 2, 0.5):
        with pytest.raises(OptionError, match="there is no x"):
            grounded.atoms.number("x", key)
