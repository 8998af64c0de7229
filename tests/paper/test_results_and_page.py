"""What is written: JSON and CSV that say how they were made, figures, and a page that needs nothing else."""

from __future__ import annotations

import csv
import json
import platform
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn", reason="experiments need scikit-learn")
pytest.importorskip("matplotlib", reason="experiments need matplotlib")

from tests.paper.toy import TOY

import relift
from relift.paper.framework import Request
from relift.paper.results import Written, write_common_page, write_results
from relift.paper.runner import make_plan, run_plan


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    out = tmp_path_factory.mktemp("results")
    outcome = run_plan(make_plan(TOY, Request(quick=True, seed=3), out))
    return write_results(TOY, outcome, TOY.report(outcome.setup, outcome.rows), out)


class Fetched(HTMLParser):
    """Collects whatever a browser would fetch, the tags, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: Path) -> Fetched:
    reader = Fetched()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def test_all_files_are_there(written: Written) -> None:
    names = {path.name for path in written.folder.iterdir()}
    assert names == {"parts", "toy.json", "toy.csv", "rows.csv", "toy.html", "line.png", "line.svg"}


def test_the_json_says_how_it_was_made(written: Written) -> None:
    document = json.loads((written.folder / "toy.json").read_text())
    assert document == written.document
    assert (document["seed"], document["quick"], document["settings"]) == (3, True, {"numbers": 3, "power": 2})
    versions = document["versions"]
    assert versions["relift"] == relift.__version__
    assert versions["python"] == platform.python_version()
    assert {"numpy", "scipy", "scikit-learn", "highspy", "clarabel", "platform"} <= versions.keys()
    line = document["comparison"][0]
    assert line["ratio"] == pytest.approx(line["ours"] / line["paper"])
    assert len(document["rows"]) == 3


def test_the_csv_files_hold_the_same_numbers(written: Written) -> None:
    document: dict[str, Any] = written.document
    with (written.folder / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in document["rows"]]
    assert json.loads(rows[0]["pair"]) == [1, 2]
    with (written.folder / "toy.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert float(line["ours"]) == document["comparison"][0]["ours"]
    assert line["note"] == "a remark & more"


def test_the_page_fetches_nothing(written: Written) -> None:
    page = parsed(written.page)
    assert page.sources
    assert all(source.startswith("data:image/") for source in page.sources)
    assert not {"script", "link", "iframe"} & set(page.tags)
    for word in ("url(", "@import", "http://", "https://"):
        assert word not in written.page.read_text(encoding="utf-8")


def test_the_page_shows_tables_text_and_captions(written: Written) -> None:
    page = parsed(written.page)
    for shown in ("sum of squares < 6", "a remark & more", "All squares of k.", "A line.", "A note.", "quick run"):
        assert shown in page.text
    assert page.tags.count("table") == 2
    assert page.tags.count("img") == 1


def test_all_experiments_go_on_one_page(written: Written, tmp_path: Path) -> None:
    page = parsed(write_common_page([written, written], tmp_path))
    assert page.tags.count("section") == 2


def test_figures_are_the_same_bytes_each_time(written: Written, tmp_path: Path) -> None:
    outcome = run_plan(make_plan(TOY, Request(quick=True, seed=3), tmp_path))
    again = write_results(TOY, outcome, TOY.report(outcome.setup, outcome.rows), tmp_path)
    for name in ("line.png", "line.svg"):
        assert (again.folder / name).read_bytes() == (written.folder / name).read_bytes()


def test_a_browser_shows_the_page(written: Written, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no chromium found")
    picture = tmp_path / "page.png"
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=900,1500"]
    words += [f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={picture}", written.page.as_uri()]
    done = subprocess.run([browser, *words], capture_output=True, timeout=600, check=False)
    if not picture.is_file():
        pytest.skip(f"{browser} made no picture here: {done.stderr.decode(errors='replace')[-200:]}")
    from matplotlib.image import imread

    shown = imread(picture)[:, :, :3]
    assert shown.shape[:2] == (1500, 900)
    is_ink = shown.min(axis=2) < 0.7
    assert is_ink.any(axis=1).sum() > 300  # text, tables and the figure fill many rows of pixels
