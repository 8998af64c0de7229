"""Counts of all cases so far, kept in a JSON file, so that a run can go on where the last one ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fuzz.known import is_known
from tests.fuzz.outcome import Outcome

from relift.atomic import write_atomically

KEPT = 3
"""Examples that are kept of failures with one signature, those with the lowest numbers."""


class Totals:
    """Cases, counts and failures by kind."""

    def __init__(self, path: Path | None, seed: int) -> None:
        self.path, self.seed = path, seed
        self.kinds: dict[str, dict[str, Any]] = {}
        if path is not None and path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["seed"] == seed:
                self.kinds = found["kinds"]

    def _of(self, kind: str) -> dict[str, Any]:
        return self.kinds.setdefault(kind, {"cases": 0, "counts": {}, "failures": {}, "done": []})

    def next_index(self, kind: str) -> int:
        """The first case that no finished run has begun."""
        done = self._of(kind)["done"]
        return done[0][1] if done and done[0][0] == 0 else 0

    def add(self, kind: str, index: int, outcome: Outcome) -> None:
        """Count a case."""
        mine = self._of(kind)
        if any(begin <= index < end for begin, end in mine["done"]):
            return  # a chunk that was cut off is run again as a whole
        mine["done"] = _with(mine["done"], index)
        mine["cases"] += 1
        for word, number in outcome.counts.items():
            mine["counts"][word] = mine["counts"].get(word, 0) + number
        for failure in outcome.failures:
            known = mine["failures"].setdefault(failure.signature, {"count": 0, "examples": []})
            known["count"] += 1
            example = {"index": index, "sentence": failure.sentence, "reproduction": failure.reproduction}
            known["examples"] = sorted([*known["examples"], example], key=lambda e: e["index"])[:KEPT]

    @property
    def n_failures(self) -> int:
        """Failures that are not known already."""
        return sum(
            failed["count"]
            for kind in self.kinds.values()
            for signature, failed in kind["failures"].items()
            if not is_known(signature)
        )

    def save(self) -> None:
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(self.path) as file:
            file.write(json.dumps({"seed": self.seed, "kinds": self.kinds}, indent=1, sort_keys=True).encode())

    def report(self) -> str:
        lines = [f"seed {self.seed}"]
        for kind, mine in sorted(self.kinds.items()):
            failed = sum(known["count"] for known in mine["failures"].values())
            lines.append(f"\n{kind}: {mine['cases']:,} cases, {failed:,} failures")
            lines += [f"    {word}: {number:,}" for word, number in sorted(mine["counts"].items())]
            for signature, known in sorted(mine["failures"].items(), key=lambda item: -item[1]["count"]):
                first = known["examples"][0]
                word = "KNOWN" if is_known(signature) else "FAILED"
                lines.append(f"\n  {word} {known['count']:,} times: {signature}")
                lines.append(f"    case {first['index']}: {first['sentence']}")
                lines += [f"    | {line}" for line in first["reproduction"].splitlines()]
        return "\n".join(lines)


def _with(ranges: list[list[int]], index: int) -> list[list[int]]:
    """Sorted ranges [begin, end) with one more number."""
    merged: list[list[int]] = []
    for begin, end in sorted([*ranges, [index, index + 1]]):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged
