"""Draw docs/figures/benchmarks.svg from docs/benchmarks.json: ``python docs/plot_benchmarks.py`` (needs matplotlib)."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from generate import against_the_quickest

mpl.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent


def main() -> None:
    """One dumbbell for each program: seconds of the quickest direct way, and of relift with its own choice."""
    best = {m["program"]: m for m in against_the_quickest() if m["speed_up"] is not None}
    names = sorted(best, key=lambda name: best[name]["speed_up"])
    plt.rcParams["svg.hashsalt"] = "relift"  # the same figure gives the same file
    figure, axes = plt.subplots(figsize=(8, 0.25 * len(names) + 1.2))
    for height, name in enumerate(names):
        m = best[name]
        axes.plot([m["lifted_seconds"], m["ground_seconds"]], [height, height], color="#b8b8b8", lw=2, zorder=1)
        axes.text(
            max(m["ground_seconds"], m["lifted_seconds"]) * 1.25,
            height,
            f"{m['speed_up']:.3g}×",
            va="center",
            fontsize=8,
        )
    rows = range(len(names))
    axes.scatter(
        [best[n]["ground_seconds"] for n in names], rows, color="#8a8a8a", label="quickest direct way", zorder=2
    )
    axes.scatter([best[n]["lifted_seconds"] for n in names], rows, color="#c0392b", label="relift", zorder=3)
    axes.set_yticks(list(rows), [f"{n} ({best[n]['rival']})" for n in names], fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel("CPU seconds, finding the symmetry included")
    axes.margins(x=0.12, y=0.01)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    (HERE / "figures").mkdir(exist_ok=True)
    figure.savefig(HERE / "figures" / "benchmarks.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
