"""The report in a real browser: it fits phone and desktop, light and dark, and the console stays empty."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.test_nearest_misses import planted
from tests.report.test_page import FLEET

import relift
from relift import Program
from relift.report.page import report_page

LONG = "generation_of_combined_heat_and_power_plants_at_the_northern_border"
NAMES = ("chromium", "chromium-browser", "google-chrome")

# What a reader would see, asked of a frame of the width of a screen: a window cannot be as narrow as a phone.
PROBE = """
<script>
addEventListener("load", () => {
  const frame = document.querySelector("iframe"), view = frame.contentWindow, page = frame.contentDocument;
  const inScroller = (node) => node.closest(".wide, pre") && !node.matches(".wide, pre");
  const out = [...page.body.querySelectorAll("*")].filter((node) => {
    const box = node.getBoundingClientRect();
    return !inScroller(node) && (box.right > view.innerWidth + 1 || box.left < -1);
  });
  const style = view.getComputedStyle(page.body);
  const told = {
    width: view.innerWidth, scroll: page.documentElement.scrollWidth,
    out: out.map((node) => node.tagName + "." + node.className),
    paper: style.backgroundColor, ink: style.color,
    colours: ["soft", "good", "warn"].map((name) => {
      const node = page.createElement("span");
      node.className = name;
      page.body.append(node);
      return view.getComputedStyle(node).color;
    }),
    empty: [...page.querySelectorAll("svg, .rail")].filter((node) => !node.getBoundingClientRect().width).length,
  };
  document.querySelector("pre").textContent = JSON.stringify(told);
});
</script>
"""


def unlike() -> Program:
    """Long names, wide numbers, no two variables alike."""
    random = np.random.default_rng(3)
    return Program(
        q=1e6 * random.random(9), A=random.random((4, 9)), l=-1e-7 * random.random(4), u=1e9 * random.random(4), lb=0,
        variable_names=[f"{LONG}[{j}]" for j in range(9)], row_names=[f"{LONG}_{i}_of_rows" for i in range(4)],
    )  # fmt: skip


def infeasible() -> Program:
    return Program(q=np.ones(30), A=np.ones((1, 30)), l=[40], lb=0, ub=1)


PROGRAMS = {"fleet": FLEET, "noise": planted(1)[0], "unlike": unlike(), "infeasible": infeasible()}


def browser() -> str:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(NAMES)} is installed")
    return found


def shown(page: str, width: int, *, is_dark: bool, folder: Path) -> dict[str, Any]:
    """What the browser makes of a page on a screen of that width."""
    outer = (
        f'<!doctype html><meta charset="utf-8"><iframe srcdoc="{escape(page)}" width="{width}" height="3000" '
        f'style="border:0"></iframe><pre></pre>{PROBE}'
    )
    (folder / "probe.html").write_text(outer, encoding="utf-8")
    command = [
        browser(), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
        f"--user-data-dir={folder / 'profile'}", f"--blink-settings=preferredColorScheme={0 if is_dark else 1}",
        "--virtual-time-budget=5000", (folder / "probe.html").as_uri(),
    ]  # fmt: skip
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=300)
    told = re.findall(r"<pre>(\{.*?\})</pre>", done.stdout)
    assert told, done.stderr[-2000:]
    complaints = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return {**json.loads(unescape(told[-1])), "complaints": complaints}


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG defines it, from 1 to 21."""

    def light(colour: str) -> float:
        parts = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    high, low = max(light(one), light(other)), min(light(one), light(other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("width", [390, 1280], ids=["phone", "desktop"])
def test_a_browser_lays_the_page_out_without_overflow(name: str, width: int, tmp_path: Path) -> None:
    page = report_page(relift.solve(PROGRAMS[name]), title=f"{LONG} {name}", command=f"relift report {LONG}/{LONG}.mps")
    seen = shown(page, width, is_dark=False, folder=tmp_path)
    assert seen["width"] == width
    assert seen["out"] == []
    assert seen["scroll"] <= width
    assert seen["empty"] == 0
    assert seen["complaints"] == []


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_text_can_be_read_in_the_scheme_of_the_reader(is_dark: bool, tmp_path: Path) -> None:
    seen = shown(report_page(relift.solve(FLEET)), 390, is_dark=is_dark, folder=tmp_path)
    paper = [int(part) for part in re.findall(r"\d+", seen["paper"])]
    assert (max(paper) < 60) == is_dark
    assert (min(paper) > 200) != is_dark
    assert contrast(seen["ink"], seen["paper"]) >= 7
    assert min(contrast(colour, seen["paper"]) for colour in seen["colours"]) >= 4.5


def test_what_a_notebook_shows_fits_its_cell(tmp_path: Path) -> None:
    cell = f"<!doctype html><html><body>{relift.solve(FLEET)._repr_html_()}</body></html>"
    seen = shown(cell, 390, is_dark=False, folder=tmp_path)
    assert seen["out"] == []
    assert seen["empty"] == 0
    assert seen["complaints"] == []
