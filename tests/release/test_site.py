"""The site has every page, and its check of links can fail."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def listed(index: Path) -> set[str]:
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", index.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {line for block in blocks for line in block.split("\n") if line and not line.startswith(":")}


def test_every_page_is_in_the_index_of_the_site() -> None:
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert pages == {name for name in listed(DOCS / "index.md") if "/" not in name}
    decisions = {path.stem for path in (DOCS / "decisions").glob("*.md")} - {"index"}
    assert decisions == listed(DOCS / "decisions" / "index.md")


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    from check_site import broken_links  # type: ignore[import-not-found]

    (tmp_path / "a.html").write_text('<a href="b.html#there">x</a><a href="b.html#gone">y</a><a href="#top">z</a>')
    (tmp_path / "b.html").write_text('<p id="there"><img src="c.png"><a href="https://example.org">w</a></p>')
    assert broken_links(tmp_path) == ["a.html: b.html#gone", "a.html: #top", "b.html: c.png"]
