from __future__ import annotations

import cProfile
import re
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relift.errors import LanguageError
from relift.language.checks.check_model import check_model, check_text
from relift.language.syntax import nodes as n
from relift.language.syntax.parser import decode, parse_text
from relift.language.syntax.printer import print_model
from relift.language.syntax.syntax_errors import RESERVED

GOLDEN = {path.stem: path.read_text("utf-8") for path in sorted((Path(__file__).parents[2] / "golden").glob("*.rlp"))}
slow = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def body(text: str) -> n.Node:
    statement = parse_text(f"minimize: {text};").statements[0]
    assert isinstance(statement, n.ObjectiveStatement)
    return statement.body


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("sum{I in p(I)} a*b + c", "(sum{I in p(I)} (a*b)) + c"),
        ("sum{I in p(I)} a*sum{J in p(J)} b*c", "sum{I in p(I)} (a*(sum{J in p(J)} (b*c)))"),
        ("2*sum{I in p(I)} a/b - c", "(2*(sum{I in p(I)} (a/b))) - c"),
        ("-sum{I in p(I)} a*b", "-(sum{I in p(I)} (a*b))"),
        ("-x**2", "-(x**2)"),
        ("-x*y", "(-x)*y"),
        ("a**b**c", "a**(b**c)"),
        ("a^2", "a**2"),
        ("a/b/c*d", "((a/b)/c)*d"),
        ("a - b + c", "a - b + (c)"),
        ("2**-1", "2**(-1)"),
        ("+x", "x"),
        ("[a & !b | c = d]", "[((a & (!b)) | (c == d))]"),
        ("[not a = b & ~c]", "[(!(a = b)) & (!c)]"),
        ("count{X in p(X)}*2", "(count{X in p(X)})*2"),
        ("max(0, x)**2", "(max((0), x))**(2)"),
        ('p(a, "a", \'b c\', "\\u00e9")', 'p("a", a, "b c", "é")'),
    ],
)
def test_operators_bind_as_they_should(text: str, same: str) -> None:
    assert body(text) == body(same)


def test_a_bare_name_as_an_argument_is_a_constant_and_elsewhere_it_is_not() -> None:
    assert body("p(a, a(), a + 1)") == n.Atom(
        "p", (n.Text("a"), n.Atom("a"), n.Sum((n.Atom("a"), n.Number("1")), ("+",)))
    )


def test_numbers_are_kept_exactly() -> None:
    number = body("0.10000000000000000000000001")
    assert number == n.Number("0.10000000000000000000000001")
    assert [body(text).value for text in ("7", "7.0", "1e3", ".5", "12345678901234567890")] == [  # type: ignore[union-attr]
        7, 7.0, 1000.0, 0.5, 12345678901234567890,
    ]  # fmt: skip


def test_tables_have_tuples_ranges_and_values() -> None:
    table = parse_text('p := {a, "b c", -1.5, (x, 2), 1..9, -3..3: 0.5, (y, +1): -2e3};').statements[0]
    assert isinstance(table, n.Table)
    assert table.entries == (
        n.Entry((n.Text("a"),)),
        n.Entry((n.Text("b c"),)),
        n.Entry((n.Number("-1.5"),)),
        n.Entry((n.Text("x"), n.Number("2"))),
        n.Entry((n.Number("1"),), None, n.Number("9")),
        n.Entry((n.Number("-3"),), n.Number("0.5"), n.Number("3")),
        n.Entry((n.Text("y"), n.Number("1")), n.Number("-2e3")),
    )


def test_words_that_only_begin_like_keywords_are_names() -> None:
    model = parse_text("relation summary/1, iffy/2, notable/1, integers/1; inner(X) if summary(X) & notable(X);")
    assert len(model.statements) == 2


def test_every_word_of_the_grammar_is_reserved_and_the_other_way_round() -> None:
    grammar = files("relift.language.syntax").joinpath("grammar.lark").read_text("utf-8")
    words = set(re.findall(r'"([a-z]+)"', grammar))
    assert words | {"integer", "binary"} == RESERVED
    for word in RESERVED:
        with pytest.raises(LanguageError):
            parse_text(f"relation {word}/1;")
        assert parse_text(f'p("{word}");') == parse_text(print_model(parse_text(f"p('{word}');")))


def test_spans_cover_what_they_stand_for() -> None:
    text = "subject to k: 3*(x(A) + y) >= sum{I in p(I)} z(I)**2;"
    statement = parse_text(text).statements[0]
    assert isinstance(statement, n.ConstraintStatement)
    assert isinstance(statement.body, n.Compare)
    shown = [text[part.span.start : part.span.stop] for part in (statement, *statement.body.parts)]
    assert shown == [text[:-1], "3*(x(A) + y)", "sum{I in p(I)} z(I)**2"]


@pytest.mark.parametrize("name", GOLDEN)
def test_every_golden_program_is_accepted(name: str) -> None:
    checked = check_text(GOLDEN[name], f"{name}.rlp")
    assert checked.objective is not None
    assert checked.constraints


def check_anything(text: str) -> None:
    """Whatever the text, nothing but a LanguageError comes out."""
    try:
        model = parse_text(text)
    except LanguageError:
        return
    assert parse_text(print_model(model)) == model
    try:
        check_model(model)
    except LanguageError:
        return


@slow
@given(st.binary(max_size=200))
def test_random_bytes_raise_nothing_but_language_errors(content: bytes) -> None:
    try:
        text = decode(content)
    except LanguageError:
        return
    check_anything(text)


@slow
@given(st.text(alphabet="abXY_01(){}[],;:=<>!&|~+-*/^.\"'# \n", max_size=80))
def test_random_characters_raise_nothing_but_language_errors(text: str) -> None:
    check_anything(text)


WORDS = (
    "relation param var minimize maximize subject to forall in if def sum min max count abs exp from default not true "
    "integer ( ) { } [ ] , ; : := = <= >= < > != & | ! + - * / ** .. _ X Y I J node edge cap x y c 0 1 2.5 'a' #"
)


@slow
@given(st.lists(st.sampled_from(WORDS.split(" ")), max_size=40))
def test_random_words_raise_nothing_but_language_errors(words: list[str]) -> None:
    check_anything("relation node/1, edge/2; param cap/2, c; var x(I) in node(I), y; " + " ".join(words))


@slow
@given(st.sampled_from(sorted(GOLDEN)), st.data())
def test_mutated_programs_raise_nothing_but_language_errors(name: str, data: st.DataObject) -> None:
    text = GOLDEN[name]
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 12)))
        other = GOLDEN[data.draw(st.sampled_from(sorted(GOLDEN)))]
        source = data.draw(st.integers(0, len(other)))
        text = text[:start] + other[source : source + data.draw(st.integers(0, 15))] + text[stop:]
    check_anything(text)


@pytest.mark.parametrize(
    "text",
    [
        "minimize: " + "-" * 5000 + "x; var x;",
        "minimize: " + "(" * 5000 + "x" + ")" * 5000 + "; var x;",
        "minimize: " + "abs(" * 3000 + "x" + ")" * 3000 + "; var x;",
        "p(X) if " + "!" * 3000 + "q(X); relation q/1;",
        "minimize: x" + "*2" * 5000 + "; var x;",
        "minimize: x" + " + x" * 20000 + "; var x;",
        "p(X) if " + " & ".join(["q(X)"] * 5000) + "; relation q/1;",
        "var x; def d0 = x; " + " ".join(f"def d{k + 1} = d{k} + d{k};" for k in range(60)) + " minimize: d60;",
        "var x; def d0 = x + 1; " + " ".join(f"def d{k + 1} = d{k} + 1;" for k in range(2000)) + " minimize: d2000;",
    ],
    ids=["minus", "parentheses", "abs", "not", "product", "sum", "and", "doubling", "chain"],
)
def test_deep_or_long_statements_end_in_an_answer_or_an_error(text: str) -> None:
    try:
        checked = check_text(text)
    except LanguageError:
        return
    assert checked.objective is not None or checked.strata


def many_statements(n: int) -> str:
    lines = ["relation node/1, edge/2; param cost/2; var flow(X, Y) in edge(X, Y) >= 0;"]
    for k in range(n):
        lines.append(f"p{k}(X, Y) if edge(X, Y) & !node(X) & (edge(Y, X) | Y != 'a{k}') & cost(X, Y) > {k};")
        lines.append(f"subject to k{k} forall {{X in node(X)}}: sum{{Y in p{k}(X, Y)}} cost(X, Y)*flow(X, Y) <= {k};")
    return "\n".join(lines)


def test_twice_as_many_statements_take_twice_as_much_work_to_read_and_check() -> None:
    def calls(n: int) -> int:
        profile = cProfile.Profile()
        checked = profile.runcall(check_text, many_statements(n))
        assert len(checked.constraints) == len(checked.strata) == n
        return sum(entry.callcount for entry in profile.getstats())

    calls(1)  # what is made once
    assert calls(400) < 2.2 * calls(200)
