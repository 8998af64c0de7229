"""The tables at the end fit a narrow terminal, are plain in a pipe, and promise nothing that was not measured."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

import relift
from relift import Program, Status
from relift.report.summary import Comparison, summary

PROGRAM = Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0)


def drawn(renderable: object, width: int = 80, **options: Any) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, highlight=False, markup=False, **options)
    console.print(renderable)
    return file.getvalue()


def test_the_summary_reads_as_it_should() -> None:
    result = relift.solve(PROGRAM)
    text = drawn(summary(result, {"read": 0.5}))
    text = re.sub(r"\d\.\d{4} +\d+ %", "SECONDS", text)
    text = re.sub(r"total +\d\.\d{4}", "total SECONDS", text)
    text = re.sub(r"\d\.\de[-+]\d\d", "RESIDUAL", text)
    text = re.sub(r"\d+ iterations", "N iterations", text)
    assert (
        "\n".join(line.rstrip() for line in text.splitlines())
        == """\
optimal  objective 1.5  by highs, N iterations

            original     lifted       left
──────────────────────────────────────────
variables          3          1     33.3 %
rows               3          1     33.3 %
nonzeros           6          1     16.7 %

stage           seconds      share
──────────────────────────────────
read             SECONDS
presolve         SECONDS
find classes     SECONDS
verify           SECONDS
quotient         SECONDS
solve            SECONDS
expand           SECONDS
certify          SECONDS
total SECONDS

check: primal RESIDUAL, dual RESIDUAL, gap RESIDUAL (at most 1e-06): passed"""
    )


def test_a_speed_up_is_only_told_when_both_were_run() -> None:
    result = relift.solve(PROGRAM)
    assert "times as fast" not in drawn(summary(result))
    compared = drawn(summary(result, comparison=Comparison(Status.OPTIMAL, 1.5, "clarabel", 2.0, 0.5)))
    assert "without lifting: optimal, objective 1.5 (relative difference 0.0e+00)" in compared
    assert "2.0000 without lifting by clarabel" in compared
    assert "4 times as fast" in " ".join(compared.split())


@pytest.mark.parametrize("status", [Status.FAILURE, Status.TIME_LIMIT, Status.OPTIMAL_INACCURATE])
def test_no_speed_up_is_told_when_the_ground_solve_did_not_end_well(status: Status) -> None:
    compared = drawn(summary(relift.solve(PROGRAM), comparison=Comparison(status, float("nan"), "", 2.0, 0.5)))
    assert "times as fast" not in compared
    assert f"without lifting: {status.replace('_', ' ')}" in compared


@pytest.mark.parametrize(
    "program",
    [
        PROGRAM,
        Program(q=[1, 1], A=[[1, 1]], l=[3], lb=0, ub=1),
        Program(q=[-1, -1], A=[[1, -1]], u=[3], lb=0),
        Program(q=[1.0], lb=0),
    ],
    ids=["optimal", "infeasible", "unbounded", "no rows"],
)
def test_every_kind_of_answer_fits_80_columns_without_escape_codes(program: Program) -> None:
    result = relift.solve(program)
    comparison = Comparison(result.status, result.objective, result.backend, 1234.5, 0.001)
    text = drawn(summary(result, {"read": 1.0}, comparison))
    assert "\x1b" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert str(result.status) in text


def test_colours_are_left_out_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    result = relift.solve(PROGRAM)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;32m" in drawn(summary(result), force_terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "32m" not in drawn(summary(result), force_terminal=True)
