"""The stored table of the grammar, against Lark, which made it."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from relift.language.syntax import grammar_table
from relift.language.syntax.lalr import UnexpectedCharacterError, UnexpectedTokenError

TESTS = Path(__file__).parents[2]
MODELS = sorted([*(TESTS / "golden").glob("*.rlp"), *(TESTS.parent / "examples" / "models").glob("*.rlp")])
WORDS = [
    "relation", "param", "var", "x", "p", "I", "J", "(", ")", "{", "}", "[", "]", ",", ";", ":", ":=", "=", "<=", "==",
    "1", "2.5", ".5", "..", "*", "**", "^", "+", "-", "/", "&", "|", "!", "not", "sum", "count", "max", "minimize",
    "subject", "to", "forall", "in", "if", "def", "rule", "->", ".", "'a'", '"b c"', "true", "_", "given", "from",
    "default", "ordered", "integer", "# end\n", "\n", "?", "à", "'open", "norm", "exp", "1 ordered", "given x;",
]  # fmt: skip


@cache
def lark() -> Lark:
    return Lark(
        (grammar_table.FOLDER / "grammar.lark").read_text("utf-8"), start="program", parser="lalr", lexer="basic"
    )


class Trees:
    """Makes the tree of a text, whatever the rules are."""

    def __getattr__(self, name: str) -> Callable[[list[Any]], Any]:
        return lambda children: (name, tuple(map(plain, children)))


def plain(child: Any) -> Any:
    if isinstance(child, Tree):
        return (str(child.data), tuple(map(plain, child.children)))
    if isinstance(child, Token):
        return (child.type, str(child), child.start_pos, child.end_pos)
    if hasattr(child, "kind"):
        return (child.kind, str(child), child.start_pos, child.end_pos)
    return child


def read_by_lark(text: str) -> Any:
    try:
        return plain(lark().parse(text))
    except UnexpectedCharacters as error:
        return error.pos_in_stream
    except UnexpectedToken as error:
        is_end = error.token.type == "$END"
        return error.token.type, None if is_end else error.token.start_pos, error.accepts


def read_by_table(text: str) -> Any:
    try:
        return grammar_table.grammar_table().parse(text, Trees())
    except UnexpectedCharacterError as error:
        return error.place
    except UnexpectedTokenError as error:
        is_end = error.token.kind == "$END"
        return error.token.kind, None if is_end else error.token.start_pos, error.accepted


def test_the_stored_table_is_that_of_the_grammar() -> None:
    assert grammar_table.STORED.read_text("utf-8") == grammar_table.stored_text(), (
        "run: python -m relift.language.syntax.grammar_table"
    )


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_is_read_as_lark_reads_it(path: Path) -> None:
    text = path.read_text("utf-8")
    read = read_by_table(text)
    assert read[0] == "program"
    assert read == read_by_lark(text)


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_any_words_are_read_or_refused_as_lark_does(text: str) -> None:
    assert read_by_table(text) == read_by_lark(text)


def test_models_with_changed_words_are_read_or_refused_as_lark_does() -> None:
    draw, refused = random.Random(1), 0
    for path in MODELS * 6:
        text = path.read_text("utf-8")
        place = draw.randrange(len(text))
        changed = text[:place] + draw.choice(WORDS) + text[place + draw.randrange(3) :]
        read = read_by_table(changed)
        assert read == read_by_lark(changed)
        refused += not (isinstance(read, tuple) and read[0] == "program")
    assert refused > 50


@pytest.mark.parametrize("content", [None, "no JSON", "[]", '{"made_from": "1 of another grammar"}'])
def test_a_table_that_does_not_fit_is_built_anew(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = grammar_table.grammar_table()
    if content is not None:
        (tmp_path / "table.json").write_text(content)
    monkeypatch.setattr(grammar_table, "STORED", tmp_path / "table.json")
    assert grammar_table.grammar_table.__wrapped__() == stored
    assert {path.name for path in tmp_path.iterdir()} <= {"table.json"}  # nothing is written in secret


def test_a_fresh_table_needs_no_lark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lark", None)
    assert grammar_table.grammar_table.__wrapped__().states


def test_the_table_follows_the_grammar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = (grammar_table.FOLDER / "grammar.lark").read_text("utf-8")
    changed = grammar.replace('SUBJECT: "subject"', 'SUBJECT: "such"')
    document = grammar_table.json_from_grammar(changed)
    assert document["made_from"] != json.loads(grammar_table.STORED.read_text("utf-8"))["made_from"]
    (tmp_path / "grammar.lark").write_text(changed, "utf-8")
    monkeypatch.setattr(grammar_table, "FOLDER", tmp_path)
    table = grammar_table.grammar_table.__wrapped__()
    assert table.reserved["NAME"]["such"] == "SUBJECT"
    assert table.parse("such to: x >= 1;", Trees())[0] == "program"
