"""The table of docs/grounding.md, from docs/grounding.json, which ``python -m benchmarks.grounding --out`` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def grounding() -> str:
    """CPU seconds and peaks of memory of every contender, and how relift compares."""
    found: list[dict[str, Any]] = json.loads((FOLDER / "grounding.json").read_text(encoding="utf-8"))
    lines = [
        "| keys | nonzeros | contender | CPU s | relift is quicker by | peak MB | peak / (matrices + tables) |",
        "|---|---|---|---|---|---|---|",
    ]
    for keys, scale in dict.fromkeys((m["keys"], m["scale"]) for m in found):
        group = [m for m in found if (m["keys"], m["scale"]) == (keys, scale)]
        own = next((m["cpu_seconds"] for m in group if m["contender"] == "relift"), None)
        for m in group:
            quicker = 0.0 if own is None or m["contender"] == "relift" else m["cpu_seconds"] / own
            ratio = f"{quicker:.0f}×" if quicker >= 10 else f"{quicker:.2g}×" if quicker else "–"
            size = m["result_bytes"] + m["table_bytes"]
            lines.append(
                f"| {keys} | {m['nonzeros']:,} | {m['contender']} | {m['cpu_seconds']:.3g} | {ratio} "
                f"| {m['peak_bytes'] / 1e6:,.0f} | {m['peak_bytes'] / size:.2f} |"
            )
    return "\n".join(lines)


GROUNDING_BLOCKS = {"grounding": grounding}
