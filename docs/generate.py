"""Fill the generated tables of README.md and the docs: ``python docs/generate.py``, or ``--check`` that they are fresh.

Tables come from the registry of backends and from docs/benchmarks.json, which ``python -m benchmarks --out docs``
writes; those of docs/paper.md from docs/paper, which ``python docs/paper_page.py results`` renews.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from statistics import median
from typing import Any

from grounding_page import GROUNDING_BLOCKS
from paper_page import PAPER_BLOCKS
from svm_page import SVM_BLOCKS

from relift.solvers.registry import backend_lines

ROOT = Path(__file__).parent.parent


def backends() -> str:
    """The table of backends."""
    lines = ["| backend | what it is | install |", "|---|---|---|"]
    placeholder = {"qpsolvers:": "<name>", "cvxpy:": "<NAME>"}
    for line in backend_lines():
        install = f'`pip install "relift[{line.extra}]"`' if line.extra else "always there"
        lines.append(f"| `{line.name}{placeholder.get(line.name, '')}` | {line.description} | {install} |")
    return "\n".join(lines)


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.3g}×"


def _measurements() -> list[dict[str, Any]]:
    found = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))
    return list(found["measurements"])


def benchmarks() -> str:
    """What docs/benchmarks.json comes to, for each kind of program, with and without symmetry."""
    lines = [
        "| programs | measured | speed-up: least | median | most |",
        "|---|---|---|---|---|",
    ]
    for kind in ("LP", "QP", "SOCP"):
        for is_symmetric, words in ((True, "with symmetry"), (False, "without")):
            chosen = [m for m in _measurements() if (m["kind"], m["is_symmetric"]) == (kind, is_symmetric)]
            ratios = sorted(m["speed_up"] for m in chosen if m["speed_up"] is not None)
            cells = " | ".join(map(_times, (ratios[0], median(ratios), ratios[-1])))
            missing = len(chosen) - len(ratios)
            count = f"{len(ratios)}" + (f", and {missing} without a certified answer" if missing else "")
            lines.append(f"| {kind} {words} | {count} | {cells} |")
    return "\n".join(lines)


def all_benchmarks() -> str:
    """Every measurement of docs/benchmarks.json."""
    lines = [
        "| program | kind | solver | variables | rows | ground s | lifted s | speed-up |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for m in sorted(_measurements(), key=lambda m: not m["is_symmetric"]):
        ground = f"({m['ground_status']})" if m["ground_seconds"] is None else f"{m['ground_seconds']:.3f}"
        lifted = f"({m['lifted_status']})" if m["lifted_seconds"] is None else f"{m['lifted_seconds']:.3f}"
        ratio = "–" if m["speed_up"] is None else _times(m["speed_up"])
        lines.append(
            f"| {m['program']} | {m['kind']} | {m['backend']} | {m['n_variables']:,} → {m['small_variables']:,} "
            f"| {m['n_rows']:,} → {m['small_rows']:,} | {ground} | {lifted} | {ratio} |"
        )
    return "\n".join(lines)


def approximate() -> str:
    """The table of docs/approximate.json, which ``python -m benchmarks.approximate`` writes."""
    found = json.loads((ROOT / "docs" / "approximate.json").read_text(encoding="utf-8"))
    lines = [
        "| program | noise | variables | classes | rounds | gap | true error | ground s | approximate s | speed-up |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for m in found:
        classes = f"{m['first_classes']:,}" + (f" → {m['last_classes']:,}" if m["rounds"] > 1 else "")
        error = "–" if m["true_error"] is None else f"{m['true_error']:.0e}"
        ground = "–" if m["ground_seconds"] is None else f"{m['ground_seconds']:.3f}"
        seconds = f"({m['refused']})" if m["approximate_seconds"] is None else f"{m['approximate_seconds']:.3f}"
        ratio = "–" if m["speed_up"] is None else f"{m['speed_up']:.2g}×"
        lines.append(
            f"| {m['program']} | {m['noise']:.0e} | {m['n_variables']:,} | {classes} | {m['rounds']}, {m['kind']} "
            f"| {m['gap']:.0e} | {error} | {ground} | {seconds} | {ratio} |"
        )
    return "\n".join(lines)


TABLES = {
    "all_benchmarks": all_benchmarks,
    "approximate": approximate,
    "backends": backends,
    "benchmarks": benchmarks,
    **GROUNDING_BLOCKS,
    **PAPER_BLOCKS,
    **SVM_BLOCKS,
}


def filled(text: str) -> str:
    """The text with every marked block made anew."""

    def block(match: re.Match[str]) -> str:
        return f"<!-- generated: {match[1]} -->\n{TABLES[match[1]]()}\n<!-- end -->"

    return re.sub(r"<!-- generated: (\w+) -->\n.*?<!-- end -->", block, text, flags=re.DOTALL)


def main() -> None:
    """Write the tables, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a table is not fresh")
    is_check = parser.parse_args().check
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        fresh = filled(text)
        if fresh != text:
            stale.append(path.name)
            if not is_check:
                path.write_text(fresh, encoding="utf-8")
    if stale and is_check:
        sys.exit(f"generated tables are not fresh in {', '.join(stale)}: run `make docs`")
    print(f"generated tables: {'written in ' + ', '.join(stale) if stale else 'fresh'}")


if __name__ == "__main__":
    main()
