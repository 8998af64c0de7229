"""mypy reads all modules, tests and benchmarks beside the other tests: it takes half a minute, on one core."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.data import ROOT

pytest.importorskip("mypy", reason="mypy is a tool of developers")


@pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="not a checkout of the repository")
def test_mypy_finds_no_wrong_type() -> None:
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
