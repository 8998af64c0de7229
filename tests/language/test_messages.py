"""Every message is pinned in golden/errors.txt; the slips of the paper's listing get messages that help."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from relift import errors as e
from relift.language.checks.check_model import check_text
from relift.language.syntax.parser import decode, parse_file, parse_text

GOLDEN = Path(__file__).parents[1] / "golden"
HEAD, *CASES = (GOLDEN / "errors.txt").read_text("utf-8").split("=== ")
PREAMBLE = HEAD.splitlines()[1].removeprefix("# ") + "\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.splitlines()[1][:60])
def test_a_mistake_gets_exactly_this_message(case: str) -> None:
    kind, rest = case.split("\n", 1)
    text, message = rest.split("\n---\n")
    with pytest.raises(e.LanguageError) as caught:
        check_text(PREAMBLE + text, "model.rlp")
    assert type(caught.value).__name__ == kind
    assert str(caught.value) == message.rstrip("\n")


def test_at_least_forty_kinds_of_mistakes_are_pinned() -> None:
    assert len(CASES) > 100
    kinds = {case.split("\n", 1)[0] for case in CASES}
    assert kinds >= {
        "ModelSyntaxError", "UnknownNameError", "DuplicateNameError", "ArityError", "KindError", "SafetyError",
        "StratificationError", "FactError", "DegreeError", "ConvexityError", "SeveralErrors",
    }  # fmt: skip


PAPER = """\
relation feature/2, cite/2, query/1; param labeled/1, c1, c2;
var weight/1, bias, slack/1, coslack/2;
linked(I1, I2) = label(I1) & query(I2) & (cite(I1, I2) | cite(I2, I1))
slacks = sum{I in labeled(I)} slack(I);
coslacks = sum{I1, I2 in linked(I1, I2)} slack(I1, I2);
minimize: sum{J in feature(I, J)} weight(J)**2 + c1 * slack + c2 * coslack;
subject to forall {I in labeled(I)}: labeled(I) * predict(I) >= 1 - slack(I);
subject to forall {I in labeled(I)}: slack(I) >= 0;
subject to forall {I1, I2 in linked(I1, I2)}: labeled(I1) * predict(I2) >= 1 - slack(I1, I2);
subject to forall {I1, I2 in linked(I1, I2)}: coslack(I1, I2) >= 0;
"""


def test_the_slips_of_the_paper_are_all_found_at_once() -> None:
    with pytest.raises(e.SeveralErrors) as caught:
        check_text(PAPER, "paper.rlp")
    found = [(error.line, error.message, error.hint) for error in caught.value.errors]
    assert found == [
        (3, "label is not declared", "Did you mean 'labeled'?"),
        (3, "a ';' is missing at the end of this statement", ""),
        (5, "slack has 1 argument, not 2", "It is declared in line 2 as slack/1. Did you mean 'coslack'?"),
        (6, "slack has 1 argument, not 0", "It is declared in line 2 as slack/1. Did you mean 'slacks'?"),
        (6, "coslack has 2 arguments, not 0", "It is declared in line 2 as coslack/2. Did you mean 'coslacks'?"),
        (7, "predict is not declared", "Declare it, or define it: def predict(..) = ..;"),
        (9, "predict is not declared", "Declare it, or define it: def predict(..) = ..;"),
        (9, "slack has 1 argument, not 2", "It is declared in line 2 as slack/1. Did you mean 'coslack'?"),
    ]


def test_undeclared_params_and_variables_of_the_paper_are_named() -> None:
    with pytest.raises(e.SeveralErrors) as caught:
        check_text(PAPER.split("\n", 2)[2].replace("I1))\n", "I1));\n"), "paper.rlp")
    missing = {error.message.split()[0] for error in caught.value.errors if isinstance(error, e.UnknownNameError)}
    assert missing == {
        "label",
        "query",
        "cite",
        "labeled",
        "slack",
        "feature",
        "weight",
        "c1",
        "c2",
        "coslack",
        "predict",
    }


def test_an_error_survives_pickling() -> None:
    with pytest.raises(e.LanguageError) as caught:
        check_text("minimize: x + y;", "a.rlp")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert [x.column for x in again.errors] == [11, 15]
    assert str(pickle.loads(pickle.dumps(again.errors[0]))) == str(again.errors[0])


def test_a_file_that_is_not_utf8_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "old.rlp"
    path.write_bytes("var x;\n# caf\xe9\n".encode("latin1"))
    with pytest.raises(e.EncodingError, match="byte 0xe9 at offset 12, in line 2") as caught:
        parse_file(path)
    assert (caught.value.line, caught.value.column) == (2, 6)
    with pytest.raises(e.EncodingError, match="UTF-16"):
        decode("var x;".encode("utf-16"))


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "windows.rlp"
    path.write_bytes(b"\xef\xbb\xbfvar x;\r\nminimize: x;\r\n")
    assert len(parse_file(path).statements) == 2


def test_several_syntax_errors_are_reported_together() -> None:
    with pytest.raises(e.SeveralErrors) as caught:
        parse_text("var x integer;\nvar y;\nminimize: y +;\nsubject to: y => 1;\n")
    assert [error.line for error in caught.value.errors] == [1, 3, 4]


def test_carets_stand_below_wide_and_accented_characters() -> None:
    with pytest.raises(e.LanguageError) as caught:
        check_text('relation p/1; p("漢字"); minimize: y;')
    text, carets = str(caught.value).splitlines()[2:4]
    assert carets.index("^") == text.index("y;") + 2  # the two wide characters fill two columns each


def test_a_very_long_line_is_cut_around_the_place() -> None:
    with pytest.raises(e.LanguageError) as caught:
        check_text("relation p/1; p := {" + ", ".join(f"a{k}" for k in range(5000)) + "}; minimize: y; var x;")
    assert max(map(len, str(caught.value).splitlines())) < 200
    assert "minimize: y" in str(caught.value)
