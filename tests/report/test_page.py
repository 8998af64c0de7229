"""The report is one page that stands alone, says what was merged and what was not, and opens in a browser."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from tests.report.test_nearest_misses import machines, planted

import relift
from relift import Program
from relift.cli.run import run
from relift.report.page import report_page

FLEET = Program(
    P=np.diag(np.r_[np.ones(20), np.full(6, 2.0)]), q=np.r_[np.ones(20), np.full(6, 3.0)],
    A=np.vstack([np.r_[np.ones(20), np.full(6, 4.0)], np.r_[np.zeros(20), np.ones(6)]]), l=[10, 1], lb=0, ub=2,
    variable_names=[*(f"car[{j}]" for j in range(20)), *(f"bus[{j}]" for j in range(6))], row_names=["seats", "buses"],
)  # fmt: skip
VOID = {"meta", "rect", "circle", "line", "br"}


class Balanced(HTMLParser):
    """Checks that every tag is closed in its order, and collects the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def text_of(page: str) -> str:
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    return " ".join(" ".join(parser.text).split())


def test_the_page_names_blocks_classes_and_what_they_share() -> None:
    text = text_of(report_page(relift.solve(FLEET), title="fleet"))
    for words in (
        "26 variables became 2; 2 rows became 2.",
        "car variables 20 1",
        "bus variables 6 1",
        "variables: car[0], car[1], car[2], car[3], car[4], car[5], car[6], car[7], … block car; cost 1, bounds [0, 2]",
        "All that the pattern allows is merged",
        "primal residual",
        "16 to 31 members",
        "Variables (circles) and rows (squares); equal colours are one class:",
        "relift.solve(program, lift='equitable', values='decimal', digits=None)",
        f"relift {relift.__version__}, python ",
    ):
        assert words in text


def test_variables_that_differ_in_size_are_said_to_be_equal_up_to_it() -> None:
    sizes = 1 + np.random.default_rng(0).random(50)
    text = text_of(report_page(relift.lift(machines(np.full(50, 5.0), ub=sizes))))
    assert "50 variables became 1" in text
    assert "block machine; equal up to size, unit or sign" in text


def test_nothing_is_fetched_from_elsewhere() -> None:
    page = report_page(relift.solve(FLEET))
    assert not re.search(r"https?:|<script|<link|@import|url\(|src=", page)


def test_noise_in_one_family_is_on_the_page_with_the_option_to_type() -> None:
    program, family = planted(3)
    text = text_of(report_page(relift.lift(program)))
    assert f"of {family} keep variables apart: 60 would be 5." in text
    assert "--digits 3" in text
    assert "<code>--digits 3</code>" in report_page(relift.lift(program))  # not broken at its end of line
    assert "Nothing is merged: there are 60 variables" in text
    assert "Answer" not in text  # it was not solved


def test_names_cannot_write_into_the_page() -> None:
    names = [f"<b>x{j}</b>&" for j in range(6)]
    program = Program(
        q=np.ones(6), A=np.ones((1, 6)), l=[3], lb=0, variable_names=names, row_names=["<script>alert(1)"]
    )
    page = report_page(relift.solve(program), title="<i>title</i>")
    assert "<script>" not in page
    assert "<b>x" not in page
    assert "<i>title" not in page
    assert "<b>x0</b>&" in text_of(page)


@pytest.mark.parametrize(
    "program",
    [
        Program(q=[1.0]),
        Program(q=[1.0, 1.0], lb=0),
        Program(q=[1, 1], A=[[1, 1]], l=[3], lb=0, ub=1),
        Program(q=[-1, -1], lb=0),
        machines(np.ones(50), ub=np.ones(50)),
    ],
    ids=["one variable", "no rows", "infeasible", "unbounded", "LP"],
)
def test_every_kind_of_answer_has_a_page(program: Program, tmp_path: Path) -> None:
    result = relift.solve(program)
    result.report(tmp_path / "r.html", title="model")
    assert str(result.status) in text_of((tmp_path / "r.html").read_text(encoding="utf-8"))


def test_large_programs_have_small_pictures() -> None:
    random = np.random.default_rng(0)
    A = np.where(random.random((400, 900)) < 0.02, 1.0, 0.0)
    page = report_page(relift.lift(Program(q=random.random(900), A=A, l=np.ones(400), lb=0)))
    assert len(page) < 1_500_000
    assert 'class="graph"' not in page


def test_a_notebook_shows_a_short_page() -> None:
    shown = relift.solve(FLEET)._repr_html_()
    text = text_of(shown)
    assert "A minimisation (QP) of 26 variables and 2 rows, solved as one of 2 and 2." in text
    assert "duality gap" in text


def test_the_command_writes_the_page_and_refuses_other_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    relift.write_program(FLEET, tmp_path / "fleet.mps")
    page = tmp_path / "r.html"
    assert run(["report", str(tmp_path / "fleet.mps"), "-o", str(page)]) == 0
    assert capsys.readouterr().out == f"report written to {page}\n"
    text = text_of(page.read_text(encoding="utf-8"))
    assert f"$ relift report {tmp_path / 'fleet.mps'} -o {page}" in text
    assert run(["report", str(tmp_path / "fleet.mps"), "-o", str(page), "--no-solve", "-q"]) == 0
    assert "Answer" not in text_of(page.read_text(encoding="utf-8"))
    assert run(["report", str(tmp_path / "fleet.mps"), "-o", str(tmp_path / "r.pdf")]) == 2
    assert "the file extension is unknown" in capsys.readouterr().err


def test_inspect_says_what_is_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    costs = 5 + 1e-6 * np.random.default_rng(0).standard_normal(50)
    relift.write_program(machines(costs, ub=np.ones(50)), tmp_path / "m.mps")
    assert run(["inspect", str(tmp_path / "m.mps"), "--nearest"]) == 0
    out = capsys.readouterr().out
    assert "Costs of machine keep variables apart: 50 would be 1." in out
    assert "digits=6 (--digits 6) merges them." in out
    assert run(["inspect", str(tmp_path / "m.mps"), "--nearest", "--json"]) == 0
    nearest = json.loads(capsys.readouterr().out)["nearest"]
    assert nearest["misses"][0]["digits"] == 6
    assert run(["inspect", str(tmp_path / "m.mps"), "--json"]) == 0
    assert "nearest" not in json.loads(capsys.readouterr().out)
