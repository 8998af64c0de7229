"""An experiment of a few squares, for tests; ``python toy.py OUT K`` stops at number K, to be killed."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn", reason="experiments need scikit-learn")

from relift.json_types import Json
from relift.paper.figures import new_figure
from relift.paper.framework import Comparison, Experiment, Figure, Part, Report, Request, Row, Setup, Table
from relift.paper.runner import make_plan, run_plan

STOPS_AT: list[int] = []
"""Parts that never end."""


def settings(request: Request) -> dict[str, Json]:
    return {"numbers": 3 if request.quick else 6, "power": 2}


def parts(setup: Setup) -> list[Part]:
    return [Part(f"number-{k}", f"number {k}", {"k": k}, 1.0) for k in range(setup["numbers"])]


def run(setup: Setup, part: Part) -> list[Row]:
    if part["k"] in STOPS_AT:
        signal.pause()
    return [{"k": part["k"], "value": part["k"] ** setup["power"] + setup.seed / 7, "pair": (1, 2)}]


def draw() -> Any:
    figure, (axes,) = new_figure(1)
    axes.plot([0, 1], [0, 1])
    return figure


def report(setup: Setup, rows: list[Row]) -> Report:
    total = sum(row["value"] for row in rows)
    table = Table("Squares", ("k", "value"), [(str(row["k"]), f"{row['value']:g}") for row in rows], "A note.")
    line = Comparison("sum of squares < 6", 50.0, total, "m²", note="a remark & more")
    return Report([line], ["All **squares** of `k`."], [table], [Figure("line", "A line.", draw)])


TOY = Experiment("toy", "Squares", "Squares of small numbers.", 6.0, 3.0, settings, parts, run, report)


if __name__ == "__main__":
    STOPS_AT.append(int(sys.argv[2]))
    run_plan(make_plan(TOY, Request(), Path(sys.argv[1])))
