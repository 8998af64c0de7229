"""Runs tests of CVXPY as they are and routed through relift, and compares them one by one."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cvxpy_suite.known import KNOWN

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Run:
    """One run of tests: the outcome of each, why it failed, and what became of the solves."""

    outcomes: dict[str, str]
    reasons: dict[str, str]
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """The same tests without and with relift."""

    plain: Run
    routed: Run

    @property
    def differences(self) -> dict[str, tuple[str, str]]:
        """Tests whose outcomes differ, with both outcomes."""
        names = sorted(self.plain.outcomes.keys() | self.routed.outcomes.keys())
        pairs = {n: (self.plain.outcomes.get(n, "missing"), self.routed.outcomes.get(n, "missing")) for n in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    @property
    def unexpected(self) -> dict[str, tuple[str, str]]:
        """Those of them that are not known and explained."""
        return {name: pair for name, pair in self.differences.items() if name not in KNOWN}

    def text(self) -> str:
        """The comparison, to print."""
        counts, lines = self.routed.counts, []
        for name, run in (("as they are", self.plain), ("routed through relift", self.routed)):
            found = list(run.outcomes.values())
            ends = ", ".join(f"{found.count(kind)} {kind}" for kind in ("passed", "failed", "skipped"))
            lines.append(f"{len(found)} tests {name}: {ends}")
        lines.append(
            f"{counts.get('routed', 0)} solves routed, {counts.get('cones', 0)} of them with cones: "
            f"{counts.get('smaller', 0)} got smaller, {counts.get('merged', 0)} of these by merging classes, the rest "
            f"by substitution; in {counts.get('recovered', 0)} more was found in the cones; "
            f"{counts.get('certified', 0)} answers certified."
        )
        kinds = sorted(key for key in counts if key.startswith("status "))
        lines.append("; ".join(f"{key.removeprefix('status ')}: {counts[key]}" for key in kinds))
        lines.append(f"{len(self.differences)} tests differ, {len(self.unexpected)} of them without a known reason")
        for name, (plain, routed) in self.differences.items():
            reason = KNOWN.get(name) or self.routed.reasons.get(name, "")
            lines.append(f"  {name}: {plain} -> {routed}  {reason}")
        return "\n".join(lines)


def compare(targets: Sequence[str], arguments: Sequence[str] = ()) -> Comparison:
    """Run the tests twice, each time in a process of its own.

    Parameters
    ----------
    targets
        Importable names, such as ``cvxpy.tests`` or ``cvxpy.tests.test_qp_solvers``.
    arguments
        Further arguments for pytest.
    """
    return Comparison(run(targets, arguments, route=False), run(targets, arguments, route=True))


def run(targets: Sequence[str], arguments: Sequence[str] = (), *, route: bool) -> Run:
    """Run tests of CVXPY in a process of their own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "pytest.ini").write_text("[pytest]\n")
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
            "RELIFT_SUITE_OUTCOMES": str(place / "outcomes.json"),
            "RELIFT_SUITE_ROUTE": "1" if route else "0",
        }
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
            "-p", "tests.cvxpy_suite.plugin", "-c", str(place / "pytest.ini"), "--rootdir", str(_home_of_cvxpy()),
            *arguments, "--pyargs", *targets,
        ]  # fmt: skip
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
        outcomes = place / "outcomes.json"
        if not outcomes.exists():
            raise RuntimeError(f"pytest did not run:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return Run(**json.loads(outcomes.read_text()))


def _home_of_cvxpy() -> Path:
    found = importlib.util.find_spec("cvxpy")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent
