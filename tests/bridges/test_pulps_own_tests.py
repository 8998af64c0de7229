"""PuLP's own tests of a solver, where its wheel brings them, with ``relift.pulp.RELIFT``.

Integer problems go to HiGHS as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pulp", reason="PuLP is not installed")
bridge = pytest.importorskip("relift.pulp")
theirs = pytest.importorskip("pulp.tests.test_pulp", reason="this PuLP comes without its tests")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class PassingIntegers(bridge.RELIFT):  # type: ignore[name-defined]
    """What PuLP's tests make with ``msg`` alone."""

    def __init__(self, *arguments: Any, **words: Any) -> None:
        super().__init__(*arguments, **({"integers": "pass"} | words))


class TestSolver(theirs.BaseSolverTest.PuLPTest):  # type: ignore[name-defined]
    """All that PuLP asks of a solver."""

    solveInst = PassingIntegers  # noqa: N815 - PuLP's name

    @pytest.fixture(autouse=True)
    def _files_elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
