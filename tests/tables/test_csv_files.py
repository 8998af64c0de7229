"""Text files: no line is lost or made up, whatever they look like; what is not clear is refused with what to say."""

from __future__ import annotations

import csv
import io
import itertools
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relift
from relift.cli.run import run
from relift.errors import DataError
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.load import load_table
from relift.tables.memory.engine import MemoryEngine
from relift.tables.sources.match_columns import Wanted
from relift.tables.sources.table import Table, source_from_data

NAMES = ("I", "J", "K")
NUMBERS = itertools.count()
UNCLEAR = "may hold names of columns, or data"


def wanted(arity: int, has_value: bool) -> Wanted:
    return Wanted(arity, has_value, (NAMES[:arity],), frozenset({"t", "value"} if has_value else {"t"}))


@cache
def engines() -> tuple[Engine, ...]:
    """Opened once: hundreds of small files are read."""
    return MemoryEngine(), DuckDBEngine(threads=1)


def rows_of(engine: Engine, data: Any, arity: int, has_value: bool) -> list[tuple[Any, ...]]:
    source = source_from_data("t", data, wanted=wanted(arity, has_value))
    table = load_table(engine, f"t{next(NUMBERS)}", source, arity, has_value)
    found = engine.fetch(table.scan([f"k{k}" for k in range(arity)], "v" if has_value else None))
    engine.drop(table.name)
    return sorted(zip(*(column.tolist() for column in found.values()), strict=True))


def read(data: Any, arity: int, has_value: bool = False) -> list[tuple[Any, ...]]:
    """What arrives; both embedded engines must agree on it, or on the error."""
    outcomes: list[Any] = []
    for engine in engines():
        try:
            outcomes.append(rows_of(engine, data, arity, has_value))
        except DataError as error:
            outcomes.append(error)
    assert str(outcomes[0]) == str(outcomes[1])
    if isinstance(outcomes[0], DataError):
        raise outcomes[0]
    return outcomes[0]


def file(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- headers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "arity", "has_value", "found"),
    [
        ("item,amount\ntea,3\nmilk,2\n", 1, True, [("milk", 2), ("tea", 3)]),
        ("I,J\na,b\nc,d\n", 2, False, [("a", "b"), ("c", "d")]),
        ("t\na\nb\n", 1, False, [("a",), ("b",)]),
        ("id\n4\n5\n", 1, False, [(4,), (5,)]),
        ("when,who\n2026-01-02,x\n2026-01-03,y\n", 2, False, [("2026-01-02", "x"), ("2026-01-03", "y")]),
        ("day,v\n2026-01-02,1\n", 1, True, [("2026-01-02", 1)]),
        ("item,amount\n", 1, True, []),
        ("I,J\n", 2, False, []),
        ("4,5\n6,7\n", 2, False, [(4, 5), (6, 7)]),
        ("4,5\n", 2, False, [(4, 5)]),
        ("3\n1\n2\n", 1, False, [(1,), (2,), (3,)]),
        ("2.5,1e3\n-1,+7\n", 2, False, [(-1.0, 7), (2.5, 1000)]),
    ],
)
def test_headers_that_are_clear_are_found(
    content: str, arity: int, has_value: bool, found: list[Any], tmp_path: Path
) -> None:
    assert read(file(tmp_path, content), arity, has_value) == found


@pytest.mark.parametrize(
    ("content", "arity", "has_value"),
    [
        ("a,b\nc,d\n", 2, False),  # all text
        ("from,to\na,b\n", 2, False),
        ("paper\np1\np2\n", 1, False),  # one column
        ("i,j\na,b\n", 2, False),  # names in other capitals may be keys
        ("I,J\nI,b\n", 2, False),  # a name of the model that comes again below is perhaps a key
        ("a,b\na,c\n", 2, False),  # the first line repeats a value of later ones
        ("tea,3\nmilk,2\n", 1, True),  # or a header with a year as a name
        ("city,2020\nparis,5\n", 1, True),
        ("tea,3\n", 1, True),
        ("n/a,3\n4,2\n", 1, True),
        ("0,1\n4,5\n", 2, False),  # what a data frame without names writes
        ("0\n4\n", 1, False),
        ("1,2,3\n4,5,6\n", 2, True),  # or a matrix
        ("12a,x\n13,y\n", 2, False),  # the only key with a letter
        ("a,x\nb,3\nc,n/a\n", 2, False),
        ("a\n", 1, False),
    ],
)
def test_headers_that_are_not_clear_are_refused_with_both_ways_to_say_it(
    content: str, arity: int, has_value: bool, tmp_path: Path
) -> None:
    path = file(tmp_path, content)
    with pytest.raises(DataError, match=UNCLEAR) as caught:
        read(path, arity, has_value)
    for words in ("header=True or header=False", 'from "file" (header = true)', "--header yes or --header no"):
        assert words in caught.value.hint
    lines = content.splitlines()
    assert len(read(Table(path, header=False), arity, has_value and lines[0][-1].isdigit())) == len(lines)
    if len(lines) > 1 and "n/a" not in content:
        columns = range(arity + has_value)  # said too, since names that are numbers look like those of a wide table
        assert len(read(Table(path, columns, header=True), arity, has_value)) == len(lines) - 1


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_line_of_a_file_without_a_header_is_lost(data: Any, tmp_path: Path) -> None:
    """Whatever the entries are: either all lines arrive, or the file is refused."""
    entry = st.sampled_from(["a", "b", "I", "J", "t", "value", "x1", "1", "2", "3.5", "2026-01-02", "true", "007", "0"])
    width = data.draw(st.integers(1, 3))
    rows = data.draw(st.lists(st.tuples(*[entry] * width), min_size=1, max_size=4, unique=True))
    has_value = width > 1 and data.draw(st.booleans())
    path = file(tmp_path, "".join(",".join(row) + "\n" for row in rows))
    is_named = all(e in {*NAMES[: width - has_value], "t", "value"} for e in rows[0])
    try:
        found = read(path, width - has_value, has_value)
    except DataError:
        return
    is_header = len(found) < len({tuple(map(_plain, row)) for row in rows})
    if is_header:  # then there was a reason to take the first line for names
        others = list(zip(*rows[1:], strict=True)) or [()] * width
        reasons = [
            not _is_typed(name) and (all(map(_is_typed, below)) if below else has_value and k == width - 1)
            for k, (name, below) in enumerate(zip(rows[0], others, strict=True))
        ]
        assert is_named or any(reasons)


def _is_typed(text: str) -> bool:
    return text in {"1", "2", "3.5", "2026-01-02", "true", "0"}


def _plain(text: str) -> Any:
    return {"true": 1, "1": 1, "0": 0, "2": 2}.get(text, text)


def test_a_header_that_is_said_is_believed(tmp_path: Path) -> None:
    path = file(tmp_path, "tea,3\nmilk,2\n")
    assert read(Table(path, header=False), 1, True) == [("milk", 2), ("tea", 3)]
    assert read(Table(path, header=True), 1, True) == [("milk", 2)]
    assert read(Table(path, ["item", "amount"], header=False), 1, True) == [("milk", 2), ("tea", 3)]
    assert read(Table(path, [1, 0], header=False), 2) == [(2, "milk"), (3, "tea")]
    with pytest.raises(DataError, match="has 2 columns without names, and 1 names are given"):
        read(Table(path, ["item"], header=False), 1)
    with pytest.raises(DataError, match="header= and delimiter= apply to CSV files"):
        read(Table([1, 2], header=True), 1)


def test_chosen_names_say_that_there_is_a_header(tmp_path: Path) -> None:
    path = file(tmp_path, "to,from,more\na,b,c\n")
    assert read(Table(path, ["from", "to"]), 2) == [("b", "a")]
    with pytest.raises(DataError, match=UNCLEAR):
        read(Table(path, ["from", "too"]), 2)


def test_columns_without_a_name_or_with_the_same_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="column 1 has no name in the first line; it may be the index of a data frame"):
        read(file(tmp_path, ",amount\n0,3\n1,2\n"), 1, True)
    with pytest.raises(DataError, match="two columns of the same name"):
        read(file(tmp_path, "x,x\n0,3\n1,2\n"), 2)


# --- what files look like --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_every_common_form_gives_the_same_tuples(
    bom: bytes, end: str, delimiter: str, quoting: Any, tmp_path: Path
) -> None:
    is_quoted = quoting == csv.QUOTE_ALL or "\n" in end  # Python's writer quotes only the line ends that it uses
    rows = [
        ("a, b", "x;y", 1),
        ('say "hi"', "tab\there", 2),
        ("line\nbreak" if is_quoted else "-", "b|ar", 3),
        ("# no remark", "é", 4),
    ]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows([("I", "J", "value"), *rows])
    path = file(tmp_path, bom + text.getvalue().encode())
    assert read(path, 2, True) == sorted(rows)
    assert read(Table(path, delimiter=delimiter), 2, True) == sorted(rows)


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), max_size=6).filter(str.strip)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6),
    delimiter=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_text_comes_through_a_file(rows: list[tuple[str, str]], delimiter: str, end: str, tmp_path: Path) -> None:
    """Quoted cells hold anything; read with the delimiter said, since texts are full of others."""
    cells = [(f"x{a}", f"x{b}") for a, b in rows]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(cells)
    path = file(tmp_path, text.getvalue())
    assert read(Table(path, header=False, delimiter=delimiter), 2) == sorted(set(cells))


def test_a_separator_that_is_not_clear_is_refused(tmp_path: Path) -> None:
    path = file(tmp_path, "a;1,5\nb;2,5\n")
    with pytest.raises(DataError, match=r"may be cut at ',' or at ';'\. Say which: relift\.Table\('t\.csv', delimiter"):
        read(Table(path, header=False), 1, True)
    assert read(Table(path, header=False, delimiter=";"), 2) == [("a", "1,5"), ("b", "2,5")]
    assert read(Table(path, header=False, delimiter=","), 2) == [("a;1", 5), ("b;2", 5)]
    for wrong in ("", ",,", '"'):
        with pytest.raises(DataError, match="is not one character"):
            read(Table(path, header=False, delimiter=wrong), 2)


def test_lines_of_another_length_are_refused_with_their_number(tmp_path: Path) -> None:
    for content in ("I,J\na,b\nc\n", "I,J\na,b\nc,d,e\n"):
        with pytest.raises(DataError, match=r"line 3 has . entries, and the first line has 2"):
            read(file(tmp_path, content), 2)
    with pytest.raises(DataError, match="a quotation mark is not closed"):
        read(file(tmp_path, 'I,J\na,"b\nc,d\n'), 2)


def test_a_title_above_the_header_is_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"entries, and the first line has"):
        read(file(tmp_path, "My table\nI,J\na,b\n"), 2)


def test_empty_lines_are_no_tuples(tmp_path: Path) -> None:
    assert read(file(tmp_path, "\n\nI,J\na,b\n\nc,d\n\n"), 2) == [("a", "b"), ("c", "d")]
    assert read(file(tmp_path, "\nI\na\n\nb\n\n"), 1) == [("a",), ("b",)]


def test_an_empty_file_is_refused_unless_it_is_said_to_have_no_header(tmp_path: Path) -> None:
    for content in (b"", b"\n\n", b"\xef\xbb\xbf"):
        path = file(tmp_path, content)
        with pytest.raises(DataError, match="the file is empty"):
            read(path, 2)
        assert read(Table(path, header=False), 2) == []


def test_files_that_are_no_utf8_are_refused(tmp_path: Path) -> None:
    for content in ("I\nKöln\n".encode("latin-1"), "I\nKöln\n".encode("utf-16")):
        with pytest.raises(DataError, match="is not UTF-8 text"):
            read(file(tmp_path, content), 1)


def test_numbers_dates_and_truths_are_read_as_such_where_all_entries_are(tmp_path: Path) -> None:
    content = "I,J,value\n007,true,1\n7,False,2\n"
    assert read(file(tmp_path, content), 2, True) == [("007", 1, 1), ("7", 0, 2)]
    content = "I,J,value\n2026-01-02,08:30,1\n2026-02-30,09:00,2\n"
    assert read(file(tmp_path, content), 2, True) == [("2026-01-02", "08:30", 1), ("2026-02-30", "09:00", 2)]
    content = "I,J,value\n2026-01-02T00:00:00,x,1\n2026-01-02T10:00:00.250,y,2\n"
    assert read(file(tmp_path, content), 2, True) == [("2026-01-02", "x", 1), ("2026-01-02 10:00:00.25", "y", 2)]


def test_a_large_file_arrives_whole_and_in_one_order(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("w") as out:
        out.write("I,value\n")
        out.writelines(f"k{n},{n}\n" for n in range(300_000))
    with DuckDBEngine() as engine:
        table = load_table(engine, "t", source_from_data("t", path, wanted=wanted(1, True)), 1, True)
        found = engine.fetch(table.scan(["k"], "v"))
    assert found["v"].tolist() == list(range(300_000))
    assert found["k"][:2].tolist() == ["k0", "k1"]


# --- in models and on the command line -------------------------------------------------------------------------------

MODEL = "param need/1{source}; var buy(I) in need(I) >= need(I); minimize cost: sum{{I in need(I)}} buy(I);"


def test_a_model_says_whether_its_files_have_headers(tmp_path: Path) -> None:
    file(tmp_path, "tea,3\nmilk,2\n", "need.csv")
    for words, total in (("(header = false)", 5), ("(header = true)", 2), ("( header=false )", 5)):
        (tmp_path / "m.rlp").write_text(MODEL.format(source=f' from "need.csv" {words}'))
        assert relift.solve_model(tmp_path / "m.rlp").objective == total
        assert relift.Model.from_file(tmp_path / "m.rlp").solve().objective == total
    (tmp_path / "m.rlp").write_text(MODEL.format(source=' from "need.csv"'))
    with pytest.raises(DataError, match=UNCLEAR):
        relift.solve_model(tmp_path / "m.rlp")
    model = relift.Model()
    (item,) = model.indices("I")
    need = model.param("need", 1, source="need.csv", header=False)
    buy = model.var("buy", item, where=need(item), lower=need(item))
    model.minimise(relift.sum_(buy(item), over=item, where=need(item)))
    assert 'param need/1 from "need.csv" (header = false);' in str(model)
    assert model.solve(folder=tmp_path).objective == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("(head = false)", "head is not a word about a file"),
        ("(header = maybe)", "header is true or false, not maybe"),
    ],
)
def test_wrong_words_about_a_file_are_refused(words: str, message: str) -> None:
    with pytest.raises(relift.errors.LanguageError, match=message):
        relift.Model.from_text(MODEL.format(source=f' from "need.csv" {words}')).check()


def test_the_command_line_says_whether_files_have_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.rlp").write_text(MODEL.format(source="").replace("param need/1", "param need/1, more = 0"))
    (tmp_path / "data").mkdir()
    file(tmp_path / "data", "tea,3\nmilk,2\n", "need.csv")
    model, data = str(tmp_path / "m.rlp"), str(tmp_path / "data")
    assert run(["solve", model, "--data", data]) == 2
    assert "--header yes or --header no" in capsys.readouterr().err
    for words, total in ((["no"], 5), (["yes"], 2), (["need=no"], 5), (["yes", "need=no"], 5)):
        options = list(itertools.chain.from_iterable(("--header", word) for word in words))
        assert run(["solve", model, "--data", data, *options]) == 0
        assert f"objective {total}" in capsys.readouterr().out
        assert run(["check", model, "--data", data, *options]) == 0
        assert run(["ground", model, "--data", data, *options]) == 0
        assert run(["show", model, "--data", data, *options]) == 0
        assert run(["solve", model, "--data", data, "--lift-in-engine", *options]) == 0
        capsys.readouterr()
    file(tmp_path / "data", "more,3\n", "params.csv")
    assert run(["solve", model, "--data", data, "--header", "need=no"]) == 2
    assert "params.csv: its first line (more, 3) may hold names of columns, or data." in capsys.readouterr().err
    assert run(["solve", model, "--data", data, "--header", "no"]) == 0
    for wrong in (["--header", "perhaps"], ["--header", "no", "--header", "yes"], ["--header", "nothing=yes"]):
        assert run(["solve", model, "--data", data, *wrong]) == 2
    assert run(["solve", model, "--header", "no"]) == 2
