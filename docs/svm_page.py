"""Tables of docs/lifted_svm.md, from docs/svm_datasets.json (``python -m benchmarks.svm_datasets``)."""

from __future__ import annotations

import json
from math import exp, log
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def _found() -> dict[str, Any]:
    return dict(json.loads((ROOT / "docs" / "svm_datasets.json").read_text(encoding="utf-8")))


def _mean(values: list[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


def svm_datasets() -> str:
    """One line for each data set: the grid of C and gamma together."""
    found = _found()
    memory = {line["data"]: line for line in found["memory"]}
    lines = [
        "| data | training examples × features, labels | quicker than SVC: least | mean | most | than tol=0.1: mean "
        "| accuracy − SVC's: worst | largest gap | predicts quicker: mean | memory, MiB: SVC | lifted |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(line["data"] for line in found["lines"]):
        of_set = [line for line in found["lines"] if line["data"] == name]
        ratios = [line["ratio"] for line in of_set]
        loose = [line["loose_ratio"] for line in of_set]
        predicts = [line["svc_predict_seconds"] / line["predict_seconds"] for line in of_set]
        change = max((line["accuracy"] - line["svc_accuracy"] for line in of_set), key=abs)
        room = memory.get(name, {})
        sizes = " | ".join("–" if room.get(key) is None else f"{room[key]:.0f}" for key in ("SVC", "lifted"))
        one = of_set[0]
        lines.append(
            f"| {name} | {one['examples']:,} × {one['features']}, {one['labels']} | {min(ratios):.2f}× "
            f"| {_mean(ratios):.1f}× | {max(ratios):.1f}× | {_mean(loose):.1f}× | {change:+.4f} "
            f"| {max(line['gap'] for line in of_set):.1e} | {_mean(predicts):.1f}× | {sizes} |"
        )
    wide = [line["ratio"] for line in found["lines"] if line["features"] >= 5]
    lines.append(
        f"\nWith 5 features and more: geometric mean {_mean(wide):.1f}×, least {min(wide):.2f}×, over {len(wide)} fits."
    )
    return "\n".join(lines)


def svm_grid() -> str:
    """Geometric mean over the data sets with 5 features and more, for each C and gamma; and the least."""
    found = [line for line in _found()["lines"] if line["features"] >= 5]
    factors = sorted({line["gamma"] for line in found})
    head = " | ".join(f"gamma = {factor:g} × scale" for factor in factors)
    lines = [f"| C | {head} |", "|---|" + "---|" * len(factors)]
    for C in sorted({line["C"] for line in found}):
        cells = []
        for factor in factors:
            ratios = [line["ratio"] for line in found if (line["C"], line["gamma"]) == (C, factor)]
            cells.append(f"{_mean(ratios):.1f}× ({min(ratios):.2f}× to {max(ratios):.0f}×)")
        lines.append(f"| {C:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def svm_losers() -> str:
    """Every fit that is slower than SVC, or whose accuracy differs by more than 0.002."""
    lines = [
        "| data | C | gamma / scale | SVC, ms | lifted, ms | ratio | accuracy − SVC's |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in _found()["lines"]:
        change = line["accuracy"] - line["svc_accuracy"]
        if line["ratio"] < 1.0 or abs(change) > 0.002:
            lines.append(
                f"| {line['data']} | {line['C']:g} | {line['gamma']:g} | {1e3 * line['svc_seconds']:.2f} "
                f"| {1e3 * line['seconds']:.2f} | {line['ratio']:.2f}× | {change:+.4f} |"
            )
    return "\n".join(lines) if len(lines) > 2 else "There is none."


SVM_BLOCKS = {"svm_datasets": svm_datasets, "svm_grid": svm_grid, "svm_losers": svm_losers}
