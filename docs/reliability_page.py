"""The tables of docs/reliability.md, from docs/reliability.json, which ``python -m tests.fuzz --publish`` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_FILES = {
    "mps": "MPS and QPS", "lp": "LP", "npz": "npz", "solution": "solutions (JSON, text)", "map": "maps (JSON)",
    "csv": "tables (CSV)", "points": "point sets (PLY, OBJ, NPY)",
}  # fmt: skip


def _found() -> dict[str, Any]:
    text = Path(__file__).with_name("reliability.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _kind(name: str) -> tuple[int, dict[str, int], dict[str, Any]]:
    mine = _found()["kinds"].get(name, {"cases": 0, "counts": {}, "failures": {}})
    return mine["cases"], mine["counts"], mine["failures"]


def _failed(failures: dict[str, Any]) -> str:
    new = sum(failed["count"] for failed in failures.values() if not failed["is_known"])
    known = sum(failed["count"] for failed in failures.values() if failed["is_known"])
    return f"{new:,}" + (f", and {known:,} known" if known else "")


def totals() -> str:
    """One line for each kind of case."""
    lines = ["| what | cases | failures |", "|---|---|---|"]
    cases, _, failures = _kind("programs")
    lines.append(f"| programs | {cases:,} | {_failed(failures)} |")
    cases, counts, failures = _kind("files")
    lines.append(f"| files, damaged or spelled otherwise | {cases:,} | {_failed(failures)} |")
    cases, counts, failures = _kind("models")
    texts = sum(counts.get(word, 0) for word in ("text refused", "text accepted", "text respelled"))
    grounded = sum(number for word, number in counts.items() if word.startswith("model "))
    lines.append(f"| models: random ones, and changed texts | {grounded:,} and {texts:,} | {_failed(failures)} |")
    cases, _, failures = _kind("solutions")
    lines.append(f"| answers, written and read, expanded and restricted | {cases:,} | {_failed(failures)} |")
    return "\n".join(lines)


def programs() -> str:
    """What relift said, and what the judge said of it."""
    _, counts, _ = _kind("programs")
    lines = ["| programs | | answers | | judged | |", "|---|---|---|---|---|---|"]
    kinds = [(kind, counts.get(kind, 0)) for kind in ("LP", "QP", "QCQP", "SOCP", "conic")]
    answers = _chosen(counts, "status ")
    judged = _chosen(counts, "judged ")
    for k in range(max(len(kinds), len(answers), len(judged))):
        cells = [f"{part[k][0]} | {part[k][1]:,}" if k < len(part) else " | " for part in (kinds, answers, judged)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _chosen(counts: dict[str, int], prefix: str) -> list[tuple[str, int]]:
    found = [(word.removeprefix(prefix), number) for word, number in counts.items() if word.startswith(prefix)]
    return sorted(found, key=lambda pair: -pair[1])


def files() -> str:
    """How many files of each format were read, and how many of the damaged ones were refused."""
    _, counts, _ = _kind("files")
    lines = ["| format | files | spelled otherwise | damaged: refused | accepted |", "|---|---|---|---|---|"]
    for key, name in _FILES.items():

        def total(how: str, end: str, key: str = key) -> int:
            return sum(n for word, n in counts.items() if word.startswith(key) and how in word and word.endswith(end))

        respelled = total("respelled", "accepted") + total("respelled", "refused")
        cells = (counts.get(key, 0), respelled, total("damaged", "refused"), total("damaged", "accepted"))
        lines.append(f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    return "\n".join(lines)


def failures() -> str:
    """Every failure by its signature."""
    found = _found()
    lines = [
        f"- {failed['count']:,} × {signature} (first: `--seed {found['seed']} --kind {kind} --only {failed['case']}`)"
        + (", known" if failed["is_known"] else "")
        for kind, mine in found["kinds"].items()
        for signature, failed in sorted(mine["failures"].items(), key=lambda item: -item[1]["count"])
    ]
    return "\n".join(lines) if lines else "None."


RELIABILITY_BLOCKS = {
    "fuzz_totals": totals,
    "fuzz_programs": programs,
    "fuzz_files": files,
    "fuzz_failures": failures,
}
