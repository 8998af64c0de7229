"""PSL projects as they are: JSON and ``.psl`` + ``.data``, their files, their results, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import relift
from relift.bridges.psl.evaluate import evaluations_of
from relift.bridges.psl.project import Predicate
from relift.cli.run import run
from relift.errors import DataError, FileFormatError, LanguageError, OptionError

RULES = """
// Neighbours agree.
2: Near(A, B) & Good(A) & (A != B) >> Good(B) ^2
1: ~Good(A) ^2   # a prior
/* nobody is
   perfect */
Good(A) <= 0.9 .
"""
DATA = """
predicates:
   Near/2: closed
   Good:
     - open
     - types:
        - UniqueStringID
observations:
   Near: data/near.txt     # pairs, some with a value
   Good: data/seen.txt
targets:
   Good:
     - data/first.txt
     - data/second.txt
truth:
   Good: data/truth.txt
"""
JSON = """
{
    # Comments and trailing commas are PSL's own.
    "rules": [
        "2: Near(A, B) & Good(A) & (A != B) -> Good(B) ^2",
        '1: !Good(A) ^2',
        "Good(A) <= 0.9 .",   // hard
    ],
    "predicates": {
        "Near/2": {"observations": {"learn": ["data/none.txt"], "infer": ["data/near.txt"]}},
        "Good/1": {
            "evaluations": [{"evaluator": "DiscreteEvaluator", "options": {"discreteevaluator.threshold": 0.65}}],
            "observations": [["a"]],
            "targets": ["data/first.txt", ["d"]],
            "truth": ["data/truth.txt"],
        },
    },
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    files = {
        "near.txt": "a\tb\nb\tc\t0.5\n\na\td\n",
        "seen.txt": "a\t1\n",
        "first.txt": "b\nc\n",
        "second.txt": "d",
        "truth.txt": "b\t1\nc\t0\nd\t1\n",
    }
    for name, text in files.items():
        (tmp_path / "data" / name).write_text(text)
    (tmp_path / "good.psl").write_text(RULES)
    (tmp_path / "good.data").write_text(DATA)
    (tmp_path / "good.json").write_text(JSON)
    return tmp_path


def test_json_and_data_files_are_the_same_project(folder: Path) -> None:
    new, old = relift.read_psl(folder / "good.json"), relift.read_psl(folder / "good.psl")
    first, second = new.solve(), old.solve()
    assert first.grounded.program == second.grounded.program
    # 1 for the observed a, 2 (1 - d)² + d², and 2 (1 - b)² + b² + 2 max(0, b - 0.5 - c)² + c²: d = 2/3, b = 7/11.
    assert first.value("good", "b") == pytest.approx(7 / 11, abs=1e-6)
    assert first.value("good", "d") == pytest.approx(2 / 3, abs=1e-6)
    assert first.objective == pytest.approx(2.3484848, abs=1e-6)
    assert new.notes == ("weights are taken as they stand in the rules; none are learned",)
    assert old.notes == ()


def test_a_rule_about_observed_atoms_alone_is_left_out_with_a_note(folder: Path) -> None:
    (folder / "more.psl").write_text(RULES + "\nNear(A, B) = Near(B, A) .\n3: Near(A, B) & Near(B, C) -> Near(A, C)\n")
    alone, more = relift.read_psl(folder / "good.psl"), relift.read_psl(folder / "more.psl", folder / "good.data")
    assert more.solve().grounded.program == alone.solve().grounded.program
    sentence = "a rule about observed atoms alone is left out, there is nothing to infer: "
    assert more.notes == (
        sentence + "Near(A, B) = Near(B, A) .",
        sentence + "3: Near(A, B) & Near(B, C) -> Near(A, C)",
    )


def test_a_project_is_printed_as_a_model_of_the_language(folder: Path) -> None:
    project = relift.read_psl(folder / "good.psl")
    assert str(project).splitlines()[-4:] == [
        "var good(A1) in good_targets(A1) >= 0 <= 1 given good_observed;",
        "rule 2: near(A, B) & good(A) & A != B -> good(B) ^2;",
        "rule 1: !good(A) ^2;",
        "rule good(A) <= 0.9 .;",
    ]
    again = relift.solve_model(str(project), project.data())
    assert again.grounded.program == project.solve().grounded.program


def test_relift_runs_a_project(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([str(folder / "good.json"), "--out", str(folder / "out")]) == 0
    output = capsys.readouterr().out
    assert output.startswith("optimal, objective 2.348484848")
    assert "  d: 0.66666667" in output
    assert "Good (discrete): accuracy 0.666667, F1 0.666667, precision 1.000000, recall 0.500000" in output
    lines = [line.split("\t") for line in (folder / "out" / "GOOD.txt").read_text().splitlines()]
    assert [key for key, _ in lines] == ["b", "c", "d"]
    assert float(lines[2][1]) == pytest.approx(2 / 3, abs=1e-6)
    assert sorted(p.name for p in (folder / "out").iterdir()) == ["GOOD.txt", "solution.json"]
    written = json.loads((folder / "out" / "solution.json").read_text())
    assert written["evaluations"][0]["figures"]["accuracy"] == pytest.approx(2 / 3)


def test_relift_runs_rules_and_data_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([str(folder / "good.psl")]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert run(["solve", str(folder / "good.psl"), "--data", str(folder / "good.data")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == first
    assert run(["check", str(folder / "good.psl")]) == 0
    assert capsys.readouterr().out.startswith(f"{folder / 'good.psl'}: valid")
    assert run(["ground", str(folder / "good.psl"), "-o", str(folder / "good.mps")]) == 0
    assert relift.solve(relift.read_program(folder / "good.mps")).objective == pytest.approx(2.3484848, abs=1e-6)


def test_constants_are_whole_numbers_where_types_say_so() -> None:
    project = relift.read_psl({
        "options": {"runtime.db.intids": True},
        "rules": [
            "1: Near(A, B) & (A % B) -> Good(B) ^2", "2: (A != '7') & Good(A) -> Good('07') ^2", "1: !Good(A) ^2"
        ],
        "predicates": {
            "Near/2": {"observations": [["9", "10"], [7, "08"], ["10", "9"]]},
            "Good/1": {"targets": [["7"], ["8"], ["9"], ["010"]]},
        },
    })  # fmt: skip
    assert "rule 2: A != 7 & good(A) -> good(7) ^2;" in str(project)
    found = project.inferred(project.solve())["Good"]
    assert set(found) == {(7,), (8,), (9,), (10,)}
    assert found[9,] == pytest.approx(0, abs=1e-5)  # 10 % 9 is false, for numbers
    assert found[10,] == pytest.approx(found[8,], abs=1e-5)


def test_case_does_not_count_in_names_of_predicates() -> None:
    project = relift.read_psl(
        {
            "rules": ["1: NEAR(a, b) & good(a) -> Good(b) ^2", "1: !GOOD(A) ^2"],
            "predicates": {
                "Near/2": {"observations": [["x", "y"]]},
                "Good/1": {"targets": [["x"], ["y"]]},
                "Sum/1": {},
            },
        }
    )
    assert "rule 1: near(Va, Vb) & good(Va) -> good(Vb) ^2;" in str(project)
    assert "param sum_/1;" in str(project)
    assert project.solve().objective == pytest.approx(0, abs=1e-9)


def test_rules_end_where_the_next_one_begins(tmp_path: Path) -> None:
    (tmp_path / "r.psl").write_text("1: P(A) -> Q(A)\n2: Q(A) -> P(A) ^2\nQ(A) >= 0.5 .\nP(A) = Q(A) .\n3: Q(A) = 1\n")
    (tmp_path / "r.data").write_text("predicates:\n  P/1: open\n  Q/1: open\ntargets:\n  P: t.txt\n  Q: t.txt\n")
    (tmp_path / "t.txt").write_text("a\n")
    project = relift.read_psl(tmp_path / "r.psl")
    rules = [line for line in str(project).splitlines() if line.startswith("rule")]
    assert rules == [
        "rule 1: p(A) -> q(A);",
        "rule 2: q(A) -> p(A) ^2;",
        "rule q(A) >= 0.5 .;",
        "rule p(A) = q(A) .;",
        "rule 3: q(A) = 1;",
    ]


def test_arithmetic_of_psl_is_read() -> None:
    project = relift.read_psl(
        {
            "rules": [
                "1: 2 P(A, B) + 0.5 * Q(A) / 2 - @Max[1, 0.5] >= -1.5 ^2",
                "P(A, +B) <= |B| / 2 . {B: R(B) && !S(A, B)}",
                "1: (P(+A, +B) - Q(+C)) / 3 = @Min(2, |A|)",
            ],
            "predicates": {
                "P/2": {"targets": [["a", "b"], ["a", "c"]]},
                "Q/1": {"targets": [["a"]]},
                "R/1": {"observations": [["b"], ["c", "0"]]},
                "S/2": {"observations": [["a", "z"]]},
            },
        }
    )
    assert [line for line in str(project).splitlines() if line.startswith("rule")] == [
        "rule 1: 2*p(A, B) + 0.5*q(A)/2 - max(1, 0.5) >= -1.5 ^2;",
        "rule p(A, +B) <= |B|/2 . {B: r(B) & !s(A, B)};",
        "rule 1: (p(+A, +B) - q(+C))/3 = min(2, |A|);",
    ]
    answer = project.solve()
    assert answer.status == "optimal"
    assert answer.value("p", "a", "b") <= 0.5 + 1e-6  # only b passes the filter


@pytest.mark.parametrize(
    ("project", "kind", "message"),
    [
        ({"rules": []}, FileFormatError, "<project> is not a PSL project."),
        ({"predicates": {"P": {}}}, FileFormatError, "the predicate P has no number of arguments"),
        ({"predicates": {"P/2": {"types": ["String"]}}}, FileFormatError, "the predicate P has 1 and 2 arguments"),
        ({"predicates": {"P": {"arity": "two"}}}, FileFormatError, "the arity of P is 'two'"),
        ({"predicates": {"P/1": {}, "p/1": {}}}, FileFormatError, "the predicate p is there twice"),
        ({"predicates": {"P/1": {"types": ["Blob"]}}}, FileFormatError, "Blob is not a type of P/1"),
        ({"predicates": {"P/1": {"function": "org.x.Y"}}}, OptionError, "P/1 is computed by org.x.Y"),
        ({"predicates": {"P/1": {"observations": ["no.txt"]}}}, FileFormatError, "there is no file no.txt"),
        ({"predicates": {"P/1": {"observations": [["a", "b", "c"]]}}}, DataError, "this row has 3 columns"),
        ({"predicates": {"P/1": {"observations": [["a", "b"]]}}}, DataError, "the value 'b' is not a number"),
        ({"predicates": {"P/1": {"observations": [["a", 2]]}}}, DataError, "the value 2 does not lie between 0 and 1"),
        ({"predicates": {"P/1": {"observations": [["a", 1], ["a", 0]]}}}, DataError, "has the values 1 and 0"),
        ({"predicates": {"P/1": {"targets": {"test": []}}}}, FileFormatError, "targets of P/1 have a part 'test'"),
        ({"predicates": {"P/1": {"evaluations": [3]}}}, FileFormatError, "an evaluation of P/1 is not valid"),
        ({"predicates": {}, "options": {"runtime.learn": True}}, OptionError, "asks for weights to be learned"),
        ({"predicates": {"P/1": {"targets": {"learn": [["a"]]}}}}, OptionError, "asks for weights to be learned"),
        ({"predicates": {"P/1": {}}, "rules": ["1: Q(A)"]}, LanguageError, "Q is not a predicate of the project"),
        ({"predicates": {"P/1": {}}, "rules": ["1: P(A, B)"]}, LanguageError, "P has 1 arguments, not 2"),
        ({"predicates": {"P/1": {}}, "rules": ["P(A)"]}, LanguageError, "neither a weight nor a full stop"),
        ({"predicates": {"P/1": {}}, "rules": ["1: P(A) ^3"]}, LanguageError, "the exponent of a rule is 1 or 2"),
        ({"predicates": {"P/1": {}}, "rules": ["1: P(A) ? P(B)"]}, LanguageError, r"the character \? has no meaning"),
        ({"predicates": {"P/1": {}}, "rules": ["1: P(A) -> "]}, LanguageError, "unexpected the end"),
        ({"predicates": {"P/1": {}}, "rules": ["1: P(A) -> P(A) P(B)"]}, LanguageError, "The rule is complete before"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_project_is_said(project: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        relift.read_psl(project)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("predicates:\n  P/1: half", "P/1 is 'half'"),
        ("predicates:\n  P/1: block", "P/1 is neither open nor closed"),
        ("predicates:\n  P/1: open\nobservation:\n  P: a.txt", "has a section 'observation'"),
        ("predicates:\n  P/1: open\ntargets:\n  Q: a.txt", "targets are given for Q, which is not a predicate"),
        ("predicates:\n\tP/1: open", ":2: a tab stands where blanks indent"),
        ("predicates:\n  P/1 open", ":2: 'P/1 open' is not of the form key: value"),
        ("predicates:\n  P/1: open\n     Q/1: open", ":3: this line is indented further"),
        ("predicates:\n  P/1: {open}", "is YAML that PSL's data files do not need"),
        ("predicates:\n  P/1: open\n  P/1: open", "P/1 is there twice"),
    ],
)
def test_what_is_wrong_with_a_data_file_is_said(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.psl").write_text("1: P(A)")
    (tmp_path / "x.data").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        relift.read_psl(tmp_path / "x.psl")


def test_a_broken_project_is_one_sentence_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "good.json").write_text('{"rules": [}')
    assert run([str(folder / "good.json")]) == 2
    assert capsys.readouterr().err.endswith("good.json:1:12: this is not JSON: Expecting value.\n")
    (folder / "more.data").write_text(DATA)
    (folder / "good.psl").rename(folder / "rules.psl")
    assert run([str(folder / "rules.psl")]) == 2
    assert "Give it as --data FILE. There are good.data, more.data." in capsys.readouterr().err
    (folder / "data" / "near.txt").write_text("a\tb\nb\n")
    assert run([str(folder / "rules.psl"), "--data", str(folder / "good.data")]) == 2
    assert "near.txt:2: this row has 1 columns." in capsys.readouterr().err


def test_evaluators_count_as_psl_does() -> None:
    truth: dict[tuple[str | int, ...], float] = {("a", "u"): 1.0, ("a", "v"): 0.0, ("b", "u"): 0.0, ("b", "v"): 1.0}
    inferred: dict[tuple[str | int, ...], float] = {
        ("a", "u"): 0.9, ("a", "v"): 0.4, ("b", "u"): 0.6, ("b", "v"): 0.5, ("c", "u"): 1.0,
    }  # fmt: skip
    found = {
        e.evaluator: e.figures
        for e in evaluations_of(Predicate("P", 2, ("text",) * 2, True, {"truth": truth}), inferred)
    }
    assert found["continuous"]["MAE"] == pytest.approx((0.1 + 0.4 + 0.6 + 0.5) / 4)
    assert found["continuous"]["MSE"] == pytest.approx((0.01 + 0.16 + 0.36 + 0.25) / 4)
    assert found["discrete"]["accuracy"] == 3 / 4
    assert found["discrete"]["precision"] == 2 / 3
    assert found["discrete"]["recall"] == 1
    assert found["categorical"]["accuracy"] == 1 / 2
    named = Predicate("P", 2, ("text",) * 2, True, {"truth": truth}, [("RankingEvaluator", {})])
    with pytest.raises(OptionError, match="the evaluator RankingEvaluator of P is not one that relift has"):
        evaluations_of(named, inferred)
    odd = Predicate(
        "P", 2, ("text",) * 2, True, {"truth": truth}, [("Discrete", {"DiscreteEvaluator.threshold": "half"})]
    )
    with pytest.raises(OptionError, match="threshold='half' of P is not a number"):
        evaluations_of(odd, inferred)
