"""docs/walk.md: every file that it names is entered on the walk that it describes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import relift

ROOT = Path(relift.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "walk.md"
TABLES = {
    "supply": "plant,stock\nlyon,5\nkiel,4\n",
    "demand": "town,need\nrome,6\noslo,2\n",
    "cost": "plant,town,cost\nlyon,oslo,5\nlyon,rome,2\nkiel,rome,4\nkiel,oslo,3\n",
}


def entered(walk: Callable[[], object]) -> set[str]:
    """The files of relift whose code runs."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return {str(Path(file).relative_to(ROOT)) for file in files if Path(file).is_relative_to(ROOT)}


def named(page: str) -> set[str]:
    return set(re.findall(r"`([\w/]+\.py)`", page))


def halves() -> tuple[str, str]:
    first, mark, second = PAGE.read_text(encoding="utf-8").partition("\n## One CVXPY problem\n")
    assert mark
    return first.replace("`tests/test_walk.py`", ""), second


def test_the_walk_of_a_number_enters_every_file_that_is_named(tmp_path: Path) -> None:
    page = halves()[0]
    listing = page.split("```")[1].splitlines()
    (tmp_path / "ship.rlp").write_text("\n".join(line[:72].rstrip() for line in listing if not line.startswith("#")))
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text)

    def walk() -> None:
        model = relift.Model.from_file(tmp_path / "ship.rlp")
        result = model.solve(data={name: tmp_path / f"{name}.csv" for name in TABLES})
        assert result.status == "optimal"
        assert result["ship"].to_dict()[("lyon", "rome")] == pytest.approx(5)

    files = entered(walk)
    assert len(named(page)) > 25
    assert named(page) - files - {"tables/algebra.py"} == set()


def test_the_walk_of_a_cvxpy_problem_enters_every_file_that_is_named() -> None:
    cp = pytest.importorskip("cvxpy")
    import relift.cvxpy  # noqa: F401 - registers the solver

    page = halves()[1]

    def walk() -> None:
        scope = {"cp": cp}
        exec(page.split("```python\n")[1].split("```")[0], scope)
        assert scope["problem"].status == "optimal"

    assert len(named(page)) > 12
    assert named(page) - entered(walk) == set()
