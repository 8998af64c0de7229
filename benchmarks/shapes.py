"""``python -m benchmarks.shapes``: approximate orbits of a scanned shape against the direct NumPy + scikit-learn way.

The direct way takes the signature of every point (distances by one matrix product, rows sorted, single precision, in
blocks) and asks the fitted clusterer for its label. One thread each; CPU seconds; labels are compared with direct
evaluation of every point against the same centres in double precision.
"""

from __future__ import annotations

import argparse
import resource
from time import perf_counter, process_time

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

import relift
from benchmarks.data import data_folder
from relift.paper.shapes import direct_orbits


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__.splitlines()[0])
    parser.add_argument("--scan", default="dragon", help="dragon or bunny")
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--anchors", type=int, default=2500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="the bunny, without the check of every point")
    arguments = parser.parse_args()
    console = Console()
    folder = data_folder()
    if folder is None:
        console.print("No benchmark data; set RELIFT_DATA.")
        return
    name = "bunny" if arguments.quick else arguments.scan
    points = np.load(folder / "scans" / f"{name}.npz")["points"]
    with threadpool_limits(1):
        relift.approximate_orbits(points[:3000], arguments.classes, 500)  # imports and first calls
        times, walls = [], []
        for _ in range(arguments.repeats):
            start, wall = process_time(), perf_counter()
            found = relift.approximate_orbits(points, arguments.classes, arguments.anchors)
            times.append(process_time() - start)
            walls.append(perf_counter() - wall)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start = process_time()
        direct_orbits(points, arguments.classes, arguments.anchors)
        slow = process_time() - start
        console.print(
            f"{name}: {len(points):,} points, {arguments.anchors} anchors, {arguments.classes} classes\n"
            f"relift {min(times):.2f} s CPU, {min(walls):.2f} s wall, {found.n_signatures:,} signatures, "
            f"peak memory of the process {memory:.0f} MB\n"
            f"direct NumPy + scikit-learn {slow:.2f} s CPU: {slow / min(times):.1f}x"
        )
        if not arguments.quick:
            different = int((found.labels != found.direct_labels(points)).sum())
            console.print(f"labels that differ from direct evaluation against the same centres: {different}")


if __name__ == "__main__":
    main()
