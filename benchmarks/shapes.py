"""``python -m benchmarks.shapes``: approximate orbits of a scanned shape against the direct NumPy + scikit-learn way.

The direct way takes the signature of every point (distances by one matrix product, rows sorted, single precision, in
blocks) and asks the fitted clusterer for its label. One thread each; CPU seconds; labels are compared with direct
evaluation of every point against the same centres in double precision.
"""

from __future__ import annotations

import argparse
import resource
from time import perf_counter, process_time
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

import relift
from benchmarks.data import data_folder


def direct(points: Any, n_classes: int, n_anchors: int, block: int = 4096) -> Any:
    """The straightforward pipeline, in single precision and bounded memory."""
    X = (points - points.mean(axis=0)).astype(np.float32)
    anchors = X[np.sort(np.random.default_rng(0).permutation(len(X))[:n_anchors])]
    squares = (anchors**2).sum(axis=1)

    def signatures(part: Any) -> Any:
        distances = (part**2).sum(axis=1)[:, None] + squares - 2 * part @ anchors.T
        np.sqrt(np.maximum(distances, 0, out=distances), out=distances)
        distances.sort(axis=1)
        return distances / np.float32(np.sqrt(n_anchors))

    clusterer = MiniBatchKMeans(n_classes, random_state=0).fit(signatures(anchors))
    labels = np.empty(len(X), dtype=np.int64)
    for begin in range(0, len(X), block):
        labels[begin : begin + block] = clusterer.predict(signatures(X[begin : begin + block]))
    return labels


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
        direct(points, arguments.classes, arguments.anchors)
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
