"""Approximate orbits of a scanned shape: points with similar distances to all others get one colour.

Takes the dragon of the Stanford 3D Scanning Repository where the benchmark data is present, else a knot made here.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from rich.console import Console

import relift
from relift.report.plot_points import plot_points


def knot(n_points: int = 60_000, seed: int = 0) -> np.ndarray:
    """Points on a tube around a trefoil knot, which has a threefold symmetry."""
    random = np.random.default_rng(seed)
    along, around = random.uniform(0, 2 * np.pi, (2, n_points))
    middle = np.column_stack(
        [np.sin(along) + 2 * np.sin(2 * along), np.cos(along) - 2 * np.cos(2 * along), -np.sin(3 * along)]
    )
    outwards = middle / np.linalg.norm(middle, axis=1, keepdims=True)
    return middle + 0.4 * (outwards * np.cos(around)[:, None] + np.array([0, 0, 1.0]) * np.sin(around)[:, None])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the pictures")
    arguments = parser.parse_args()
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    scan = Path(os.environ.get("RELIFT_DATA", beside)) / "scans" / "dragon.npz"
    points, name = (np.load(scan)["points"], "dragon") if scan.is_file() else (knot(), "knot")
    found = relift.approximate_orbits(points, n_classes=arguments.classes)
    arguments.out.mkdir(parents=True, exist_ok=True)
    title = f"{name}: {len(points):,} points in {found.partition.n_classes} classes"
    picture = plot_points(
        points, found.labels, arguments.out / f"{name}.png", title=title, up=1 if name == "dragon" else 2
    )
    console = Console()
    console.print(
        f"{title}; {found.n_signatures:,} signatures were enough to label all points, "
        f"in {found.seconds['fit'] + found.seconds['label']:.2f} s. Picture: {picture}"
    )


if __name__ == "__main__":
    main()
