"""docs/paper.md shows what is stored under docs/paper, and every figure it names is there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from tests.data import ROOT

DOCS = ROOT / "docs"
STORED = sorted((DOCS / "paper").glob("*.json"))
PAGE = (DOCS / "paper.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_stored_result_is_a_full_run_and_stands_on_the_page(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["quick"] is False
    block = re.search(rf"<!-- generated: paper_{path.stem} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    assert block is not None
    for line in document["comparison"]:
        assert f"| {' | '.join(line['cells'])} |" in block[1]


def test_every_figure_of_the_page_is_there_and_none_is_left_over() -> None:
    named = {Path(name) for name in re.findall(r"\]\((figures/paper/[^)]*)\)", PAGE)}
    assert named
    assert named == {path.relative_to(DOCS) for path in (DOCS / "figures" / "paper").iterdir()}


def test_a_section_without_results_says_which_command_makes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    import paper_page  # type: ignore[import-not-found]

    monkeypatch.setattr(paper_page, "STORED", tmp_path)
    assert paper_page.block("cora") == "*Not run yet: `relift reproduce cora` makes this section.*"
    sys.modules.pop("paper_page")
