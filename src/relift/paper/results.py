"""What an experiment leaves behind: tables as CSV, everything as JSON, figures as PNG and SVG, and one HTML page.

::

    DIR/NAME/NAME.json      settings, seed, versions, the table "paper | ours | ratio", further tables, all rows
    DIR/NAME/NAME.csv       the table "paper | ours | ratio"
    DIR/NAME/rows.csv       all rows
    DIR/NAME/*.png, *.svg   figures
    DIR/NAME/NAME.html      all of it on one page that needs nothing else
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import final

from relift.atomic import write_atomically
from relift.json_types import Json
from relift.paper.figures import picture_bytes
from relift.paper.framework import Experiment, Report, Row
from relift.paper.page import page_from_sections, section_from_result
from relift.paper.runner import Outcome
from relift.paper.versions import all_versions


@final
@dataclass(frozen=True)
class Written:
    """What was written for one experiment.

    Parameters
    ----------
    folder
        Where.
    document
        The JSON document.
    section
        Its part of an HTML page.
    """

    folder: Path
    document: dict[str, Json]
    section: str

    @property
    def page(self) -> Path:
        """The HTML page."""
        return self.folder / f"{self.document['experiment']}.html"


def write_results(experiment: Experiment, outcome: Outcome, report: Report, out: Path) -> Written:
    """Write all files of an experiment.

    Parameters
    ----------
    experiment, outcome, report
        What was run, its rows, and what they say.
    out
        Files go to ``out/NAME``.
    """
    folder = out / experiment.name
    folder.mkdir(parents=True, exist_ok=True)
    document = _document(experiment, outcome, report)
    pictures: dict[str, bytes] = {}
    for figure in report.figures:
        drawn = figure.draw()
        for ending in ("png", "svg"):
            pictures[f"{figure.name}.{ending}"] = picture_bytes(drawn, ending)
    for name, content in pictures.items():
        _write(folder / name, content)
    _write(folder / f"{experiment.name}.json", json.dumps(document, indent=1, allow_nan=False).encode())
    lines = [["what", "paper", "ours", "ratio", "unit", "note"]]
    lines += [[c.what, c.paper, c.ours, c.ratio, c.unit, c.note] for c in report.comparisons]  # type: ignore[list-item]
    _write(folder / f"{experiment.name}.csv", _csv(lines))
    _write(folder / "rows.csv", _csv(_row_lines(outcome.rows)))
    section = section_from_result(document, pictures)
    _write(folder / f"{experiment.name}.html", page_from_sections(str(document["title"]), [section]).encode())
    return Written(folder, document, section)


def write_common_page(written: Sequence[Written], out: Path) -> Path:
    """Write one page with all experiments.

    Parameters
    ----------
    written
        What was written for each.
    out
        The page is ``out/all.html``.
    """
    path = out / "all.html"
    _write(path, page_from_sections("The paper and relift", [each.section for each in written]).encode())
    return path


def _document(experiment: Experiment, outcome: Outcome, report: Report) -> dict[str, Json]:
    request = outcome.setup.request
    return {
        "format": "relift-experiment",
        "version": 1,
        "experiment": experiment.name,
        "title": report.title or experiment.title,
        "shows": report.shows or experiment.shows,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "quick": request.quick,
        "seed": request.seed,
        "data": [path.name for path in request.data],
        "settings": dict(outcome.setup.values),
        "versions": all_versions(),
        "seconds": outcome.seconds,
        "parts": outcome.n_parts,
        "comparison": [
            {
                "what": c.what,
                "paper": c.paper,
                "ours": c.ours,
                "ratio": c.ratio,
                "unit": c.unit,
                "note": c.note,
                "cells": list(c.cells()),
            }
            for c in report.comparisons
        ],
        "text": list(report.text),
        "tables": [
            {"title": t.title, "columns": list(t.columns), "rows": [list(row) for row in t.rows], "note": t.note}
            for t in report.tables
        ],
        "figures": [{"name": figure.name, "caption": figure.caption} for figure in report.figures],
        "rows": outcome.rows,
    }


def _write(path: Path, content: bytes) -> None:
    with write_atomically(path) as file:
        file.write(content)


def _row_lines(rows: Sequence[Row]) -> list[Sequence[Json]]:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return [columns, *([_cell(row.get(name)) for name in columns] for row in rows)]


def _cell(value: Json) -> Json:
    return json.dumps(value) if isinstance(value, list | dict) else value


def _csv(lines: Sequence[Sequence[Json]]) -> bytes:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue().encode()
