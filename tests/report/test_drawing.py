"""Drawings: as wide as the terminal, coloured only on one, and the same text by rich."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from relift.report.drawing import Drawing, shows_colours, table

PARTS = st.lists(
    st.lists(st.sampled_from(["a", "bb ccc", " ", "word ", "x" * 30]), max_size=8).map("".join), max_size=4
)


@given(PARTS, st.integers(4, 40))
def test_wrapping_keeps_every_word_and_the_width(parts: list[str], width: int) -> None:
    drawn = Drawing(*parts).text(width)
    assert all(len(line) <= width for line in drawn.splitlines())
    assert "".join(drawn.split()) == "".join("".join(parts).split())
    words = [word for part in parts for word in part.split()]
    if all(len(word) <= width for word in words):
        assert drawn.split() == words


@given(PARTS)
def test_colours_change_nothing_but_colours(parts: list[str]) -> None:
    drawing = Drawing([(part, "bold green") for part in parts])
    coloured = drawing.text(20, is_coloured=True)
    assert coloured.replace("\x1b[1;32m", "").replace("\x1b[0m", "") == drawing.text(20)


def test_a_table_keeps_its_lines_together() -> None:
    drawing = table(("stage", "seconds"), [("a rather long name", "1.0"), ("total", "1.0")], frozenset({"total"}))
    assert drawing.text(10) == (
        "stage                 seconds\n"
        "─────────────────────────────\n"
        "a rather long name        1.0\n"
        "total                     1.0\n"
    )
    assert "\x1b[1;36mtotal" in drawing.text(is_coloured=True)


def test_text_is_escaped_and_codes_are_not() -> None:
    drawing = Drawing([("\x1b[2J", "red")])
    assert drawing.text(is_coloured=True, escape=lambda text: text.replace("\x1b", "?")) == "\x1b[31m?[2J\x1b[0m\n"


def test_rich_prints_the_same() -> None:
    drawing = Drawing("one", [("two", "bold"), (" three", "")], table(("", "b"), [("c", "d")]))
    file = io.StringIO()
    Console(file=file, width=80).print(drawing)
    assert file.getvalue() == str(drawing)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "is_coloured"),
    [
        (Terminal(), {"TERM": "xterm"}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (io.StringIO(), {"TERM": "xterm"}, False),
    ],
)
def test_colours_are_for_terminals(stream: io.StringIO, environment: dict[str, str], is_coloured: bool) -> None:
    assert shows_colours(stream, environment) is is_coloured
