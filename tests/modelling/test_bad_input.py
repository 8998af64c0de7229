"""Bad input gets a clear error, and nothing is lost or guessed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import relift
from relift.errors import (
    ArityError,
    BoundsError,
    ConvexityError,
    DataError,
    EncodingError,
    KindError,
    LanguageError,
    NonConvexError,
    SafetyError,
    SizeLimitError,
    UnknownNameError,
)

ITEMS = "relation item/1; var x(I) in item(I) >= 0; minimize total: sum{I in item(I)} x(I);"
ENOUGH = "subject to enough forall {I in item(I)}: x(I) >= 1;"
NASTY = ["New York", "it's", 'say "hi"', "雪", "a;b", "x'; DROP TABLE item; --", "tab\tnew\nline", "%s {} \\", ""]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("var x; minimize: y;", UnknownNameError, "y is not declared"),
        ("var weight; minimize: wieght;", UnknownNameError, "Did you mean 'weight'"),
        (f"{ITEMS} subject to c: x(1, 2) >= 1;", ArityError, "x has 1 argument, not 2"),
        (f"{ITEMS} subject to c: x(I) >= 1;", SafetyError, "I"),
        ("relation p/1; var x(I) in !p(I); minimize: 1;", SafetyError, "I"),
        ("var x; minimize: -x**2;", ConvexityError, "not be convex"),
        ("var x; maximize: x**2;", ConvexityError, "not be convex"),
        ("var x; minimize: x; subject to c: x**2 = 1;", ConvexityError, "equality must be linear"),
        ("relation p/1; var x; minimize: p(1)*x;", KindError, "p"),
        ("binary var x; minimize: x;", LanguageError, "binary"),
    ],
)
def test_wrong_models_are_refused_before_data_are_read(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        relift.solve_model(text, {"item": "no such file.csv"} if "item" in text else None)


def test_products_that_are_not_convex_are_refused() -> None:
    with pytest.raises(NonConvexError, match="the objective 'objective' is not convex"):
        relift.solve_model("var x, y; minimize: x*y;")


def test_a_model_file_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "bad.rlp").write_bytes("var größe; minimize: größe;".encode("latin-1"))
    with pytest.raises(EncodingError, match="not UTF-8"):
        relift.solve_model(tmp_path / "bad.rlp")


def test_a_table_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "item.csv").write_bytes("I\nKöln\nBonn\n".encode("latin-1"))
    with pytest.raises(DataError, match="UTF-8"):
        relift.solve_model(ITEMS, tmp_path)


def test_a_csv_with_missing_columns(tmp_path: Path) -> None:
    (tmp_path / "need.csv").write_text("I\na\nb\n")
    with pytest.raises(DataError, match=r"need\.csv.* has 1 columns, but 2 are needed"):
        relift.solve_model("param need/1; var x(I) in need(I) >= need(I); minimize: sum{I in need(I)} x(I);", tmp_path)
    with pytest.raises(DataError, match="has no column 'amount'"):
        relift.solve_model(ITEMS, {"item": relift.Table(tmp_path / "need.csv", ["amount"])})


def test_doubled_and_missing_values_name_the_tuple() -> None:
    text = "param need/1; relation item/1; var x(I) in item(I); minimize: sum{I in item(I)} need(I)*x(I);"
    with pytest.raises(DataError, match=r"2 values for the tuple \(a\)"):
        relift.solve_model(text, {"item": ["a"], "need": [("a", 1), ("a", 2)]})
    with pytest.raises(DataError, match="need") as caught:
        relift.solve_model(text, {"item": ["a", "b"], "need": {"a": 1}})
    assert caught.value.entry == ("b",)
    assert "^" in str(caught.value)


@pytest.mark.parametrize("empty", [[], {"I": np.empty(0, object)}, {"I": []}])
def test_empty_tables_add_nothing(empty: object) -> None:
    answer = relift.solve_model(ITEMS + ENOUGH, {"item": empty})
    assert (answer.status, answer.objective) == ("optimal", 0)
    assert (answer["x"].n_rows, answer.duals("enough").n_rows) == (0, 0)
    assert answer.explain()["enough"].rows == 0


def test_an_empty_csv_is_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "item.csv").write_text("I\n")
    assert relift.solve_model(ITEMS + ENOUGH, tmp_path)["x"].n_rows == 0


def test_zero_equals_one_is_infeasible_and_not_dropped() -> None:
    text = "relation n/1; var x >= 0; minimize: x; subject to odd: sum{I in n(I)} x = 1; subject to even: x >= 0;"
    answer = relift.solve_model(text, {"n": []})
    assert answer.status == "infeasible"
    assert [c.name for c in answer.conflict()] == ["odd"]
    assert relift.solve_model("var x >= 0; minimize: x; subject to odd: 0 = 1;").status == "infeasible"


def test_a_model_without_unknowns_or_objective() -> None:
    assert relift.solve_model("relation p/1; p := {1}; minimize: sum{I in p(I)} 2;").objective == 2
    assert relift.solve_model("var x >= 3 <= 4;").status == "optimal"


def test_any_text_is_a_key_and_nothing_else() -> None:
    answer = relift.solve_model(ITEMS + ENOUGH, {"item": NASTY})
    assert answer["x"].to_dict() == dict.fromkeys(NASTY, 1.0)
    assert answer.duals("enough").to_dict() == pytest.approx(dict.fromkeys(NASTY, -1.0))
    assert answer.value("x", NASTY[5]) == 1
    names = list(answer.result.program.variable_names)
    assert 'x("New York")' in names
    assert len(set(names)) == len(NASTY)


def test_crossing_bounds_name_the_unknown() -> None:
    text = "param low/1, top/1; var x(I) in low(I) >= low(I) <= top(I); minimize: sum{I in low(I)} x(I);"
    with pytest.raises(BoundsError, match=r"x\(a\)|x\[0\]"):
        relift.solve_model(text, {"low": {"a": 3}, "top": {"a": 2}})


def test_data_for_unknown_names_are_refused() -> None:
    with pytest.raises(DataError, match="data are given for 'itme', which the model does not declare"):
        relift.solve_model(ITEMS, {"itme": [1]})
    with pytest.raises(DataError, match="which is a variable"):
        relift.solve_model(ITEMS, {"item": [1], "x": {1: 2}})
    with pytest.raises(DataError, match="no table is loaded for the relation 'item'"):
        relift.solve_model(ITEMS)


def test_an_explosion_is_refused_and_the_statement_named() -> None:
    text = """relation p/1; p := {1..3000}; var x(I) in p(I); minimize: x(1);
        subject to all forall {I,J in p(I) & p(J)}: x(I) >= x(J);"""
    with pytest.raises(SizeLimitError, match="the constraint 'all' would have") as caught:
        relift.solve_model(text, limit=1_000_000)
    assert caught.value.statement == "the constraint 'all'"


# --- folders of tables -----------------------------------------------------------------------------------------------

NEEDS = "param need/1, price = 2; var x(I) in need(I) >= need(I); minimize: sum{I in need(I)} price*x(I);"


def test_a_folder_gives_tables_and_numbers(tmp_path: Path) -> None:
    (tmp_path / "need.csv").write_text("item,amount\na,1\nb,2\n")
    (tmp_path / "notes.txt").write_text("nothing to do with it")
    assert relift.solve_model(NEEDS, tmp_path).objective == 6
    (tmp_path / "params.csv").write_text("name,value\nprice,3\n")
    assert relift.solve_model(NEEDS, str(tmp_path)).objective == 9
    assert relift.solve_model(NEEDS, tmp_path, {"price": 1}).objective == 3


def test_wrong_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        relift.solve_model(NEEDS, tmp_path / "none")
    (tmp_path / "needs.csv").write_text("item,amount\na,1\n")
    with pytest.raises(DataError, match=r"there is no table for the param 'need' in (.|\n)*Did you mean it by 'needs'"):
        relift.solve_model(NEEDS, tmp_path)
    (tmp_path / "need.csv").write_text("item,amount\na,1\n")
    (tmp_path / "need.tsv").write_text("item\tamount\na\t1\n")
    with pytest.raises(DataError, match=r"need\.csv and need\.tsv in .* both give the table of 'need'"):
        relift.solve_model(NEEDS, tmp_path)
    (tmp_path / "need.tsv").unlink()
    for text, message in (
        ("name,value\nprice,cheap\n", "line 2: price is 'cheap', which is not a number"),
        ("name,value\nprice,1\nprice,2\n", "line 3: 'price' has a value already"),
        ("name,value\nprice\n", "line 2: 1 entries"),
    ):
        (tmp_path / "params.csv").write_text(text)
        with pytest.raises(DataError, match=message):
            relift.solve_model(NEEDS, tmp_path)


def test_files_named_in_a_model_begin_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "need.csv").write_text("item,amount\na,1\n")
    (tmp_path / "deep" / "model.rlp").write_text(NEEDS.replace("need/1,", 'need/1 from "need.csv",'))
    monkeypatch.chdir(tmp_path)
    assert relift.Model.from_file("deep/model.rlp").solve().objective == 2
    assert relift.solve_model(Path("deep/model.rlp")).objective == 2
