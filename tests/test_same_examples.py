"""Properties try the same examples, whatever a worker has done before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

DRAWING = """
import sys
import tests.conftest
from hypothesis import given, strategies as st
if sys.argv[1] == "more":
    import relift.formats.lp_reader, relift.formats.mps_reader, relift.language.syntax.parser, benchmarks.families
drawn = []
@given(st.lists(st.text(max_size=9)), st.integers(), st.floats())
def draw(words, whole, real):
    drawn.append((words, whole, real))
draw()
print(drawn)
"""


@pytest.mark.parametrize("before", ["less", "more"])
def test_examples_do_not_depend_on_what_was_imported(before: str) -> None:
    command = [sys.executable, "-c", DRAWING]
    drawn = {
        subprocess.run([*command, each], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for each in ("less", before)
    }
    assert len(drawn) == 1
    assert len(drawn.pop()) > 1_000
