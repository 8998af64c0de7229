"""The four vectors of the paper: a rotation that renames them, and a rescaling that does too, in another order.

The rows of B are the points. Turning the plane by 180° carries them onto each other in the order 3, 4, 1, 2: that is an
automorphism of Q = BB'. The matrix M (turn, stretch, turn) carries them in the order 4, 1, 2, 3: that is none, since it
changes lengths, and yet the average over all four is a fractional symmetry, so that lifting may merge them into one
class.

    python examples/plot_four_vectors.py --out four_vectors.png
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from relift import Partition, commuting_factor
from relift.symmetry.geometry import PointSymmetry, four_vectors, linear_symmetry

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def draw_map(axes: Any, B: np.ndarray, symmetry: PointSymmetry, title: str) -> None:
    """The points, the unit circle and what becomes of both."""
    angles = np.linspace(0, 2 * np.pi, 200)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    for radius in (1.0, np.sqrt(2)):
        axes.plot(*(radius * circle).T, color="0.8", linewidth=0.8)
        axes.plot(*(radius * circle @ symmetry.matrix).T, color="0.5", linewidth=0.8, linestyle="--")
    for i, point in enumerate(B):
        axes.annotate("", point, (0, 0), arrowprops={"arrowstyle": "-|>", "color": COLOURS[i], "linewidth": 2})
        axes.annotate(f"$b_{i + 1}$", 1.16 * point, color=COLOURS[i], ha="center", va="center", fontsize=12)
        image = point @ symmetry.matrix
        axes.annotate(
            "", image, point,
            arrowprops={"arrowstyle": "->", "color": COLOURS[i], "linestyle": ":", "connectionstyle": "arc3,rad=0.35"},
        )  # fmt: skip
    axes.set_title(title, fontsize=10)
    axes.set_xlim(-2.0, 2.0)
    axes.set_ylim(-2.0, 2.0)
    axes.set_aspect("equal")
    axes.axis("off")


def main() -> None:
    """Draw both maps side by side and save the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("four_vectors.png"))
    arguments = parser.parse_args()
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    B = four_vectors()
    turning, rescaling = linear_symmetry(B, [2, 3, 0, 1]), linear_symmetry(B, [3, 0, 1, 2])
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4.2))
    draw_map(left, B, turning, "turning by 180°: order 3, 4, 1, 2\nan automorphism of $Q = BB^T$")
    draw_map(right, B, rescaling, "turn, stretch, turn: order 4, 1, 2, 3\nno automorphism of $Q$, yet a symmetry")
    figure.tight_layout()
    figure.savefig(arguments.out, dpi=130, metadata={"Software": None})
    factor = commuting_factor(B, Partition.one_class(4))
    print(f"{arguments.out}: one class of all four commutes with Q: {factor.commutes} (residual {factor.residual:.1e})")


if __name__ == "__main__":
    main()
