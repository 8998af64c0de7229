"""Rows of a predicate are the same whether they are read all at once or one by one, and so is what is said of them."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import relift
from relift.bridges.psl.rows import Rows, add_row, add_rows, no_collection
from relift.errors import DataError, FileFormatError

words = st.sampled_from(["a", "b", "7", "+7", "-1", "1_0", " 7", "٣", "", "True", "nan"])
numbers = st.sampled_from(
    ["0", "1", "0.5", "1e-3", "2", "-0.0", "nan", "inf", "x", "", 0, 1, 0.5, 2.0, True, None, float("nan")]
)
constants = st.one_of(words, st.sampled_from([7, 1.0, True, None]))


def one_by_one(rows: Rows, types: list[str], given_rows: list[list[object]]) -> None:
    for k, row in enumerate(given_rows):
        add_row(rows, "P", types, [str(word) for word in row], lambda k=k: f"row {k}")  # type: ignore[misc]


@given(
    types=st.lists(st.sampled_from(["text", "int"]), min_size=1, max_size=2),
    batches=st.lists(
        st.lists(st.tuples(st.lists(constants, min_size=1, max_size=2), st.lists(numbers, max_size=1)), max_size=4),
        max_size=3,
    ),
)
@example(types=["text"], batches=[[(["a"], ["0.5"])], [(["a"], [])]])
@example(types=["text"], batches=[[(["a"], ["0.5"]), (["a"], ["1"])]])
@example(types=["int"], batches=[[(["7"], []), (["+7"], [])]])
def test_rows_are_the_same_all_at_once_and_one_by_one(
    types: list[str], batches: list[list[tuple[list[object], list[object]]]]
) -> None:
    at_once: Rows = {}
    slowly: Rows = {}
    for batch in batches:
        rows = [[*key, *value] for key, value in batch]
        said = []
        for add in (lambda: add_rows(at_once, "P", types, rows, lambda k: f"row {k}"),  # noqa: B023
                    lambda: one_by_one(slowly, types, rows)):  # fmt: skip  # noqa: B023
            try:
                add()
                said.append("")
            except DataError as error:
                said.append(str(error))
        assert said[0] == said[1]
        assert list(at_once.items()) == list(slowly.items())
        assert [type(word) for key in at_once for word in key] == [type(word) for key in slowly for word in key]


def test_many_usual_rows_are_read_all_at_once() -> None:
    rows: Rows = {}
    add_rows(rows, "P", ["text", "int"], [[f"n{k}", str(k), k / 1000] for k in range(1000)], str)
    assert rows == {(f"n{k}", k): k / 1000 for k in range(1000)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\n\nb\tc\t0.5\nb\tc", "data.txt:4: Knows(b, c) has the values 0.5 and 1."),
        ("a\tb\n\na\n", "data.txt:3: this row has 1 columns."),
        ("a\tb\t0.5\na\tc\t1.5\n", "data.txt:2: the value 1.5 does not lie between 0 and 1."),
        ("a\tb\t0.5\n\n\na\tc\tnan\n", "data.txt:4: the value nan does not lie between 0 and 1."),
        ("a\tb\t0.5\na\tc\tmany\n", "data.txt:2: the value 'many' is not a number."),
    ],
)
def test_a_wrong_row_of_a_file_is_named_by_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "data.txt").write_text(text)
    (tmp_path / "project.json").write_text(
        '{"predicates": {"Knows/2": {"observations": ["data.txt"]}, "Cat/1": {"targets": [["a"]]}},'
        ' "rules": ["1: Knows(A, B) -> Cat(A)"]}'
    )
    with pytest.raises(DataError) as caught:
        relift.read_psl(tmp_path / "project.json")
    assert str(caught.value).startswith(str(tmp_path / message))


def test_files_and_rows_may_alternate_and_a_dict_may_hold_tuples(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("b\tc\t0.5\nc\td\t1\n")
    observations = [["a", "b"], ("b", "a", 0.25), str(tmp_path / "data.txt"), ["d", "a"]]
    project = {
        "predicates": {"Knows/2": {"observations": observations}, "Cat/1": {"targets": (("a",), ["b"])}},
        "rules": ("1: Knows(A, B) -> Cat(A)",),
    }
    read = relift.read_psl(project)
    assert read.project.predicates["knows"].of("observations") == {
        ("a", "b"): 1.0, ("b", "a"): 0.25, ("b", "c"): 0.5, ("c", "d"): 1.0, ("d", "a"): 1.0,
    }  # fmt: skip
    assert list(read.project.predicates["cat"].of("targets")) == [("a",), ("b",)]


def test_what_is_neither_a_file_nor_a_row_is_refused() -> None:
    project = {"predicates": {"Cat/1": {"targets": [["a"], 7]}}, "rules": ["1: Cat(A)"]}
    with pytest.raises(FileFormatError, match="targets of Cat hold 7"):
        relift.read_psl(project)


def test_the_garbage_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    with no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), no_collection():
        _ = 1 / 0
    assert gc.isenabled()
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
