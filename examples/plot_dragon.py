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
from relift.paper.shapes import trefoil_knot
from relift.report.plot_points import plot_points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the pictures")
    arguments = parser.parse_args()
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    scan = Path(os.environ.get("RELIFT_DATA", beside)) / "scans" / "dragon.npz"
    points, name = (np.load(scan)["points"], "dragon") if scan.is_file() else (trefoil_knot(60_000), "knot")
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
