"""``python -m benchmarks.gpu_orbits``: approximate orbits and kernel machines on a GPU beside the CPU, as JSON.

The Stanford dragon where the data folder has it, else a generated scan of the same size. The cold time of the GPU is
the first call of the process after PyTorch is imported: it starts the device and loads its kernels. Wall-clock seconds,
the smallest of several calls where they are warm, the device idle at the end of each.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from relift.ml import compiled, device_kernels
from relift.ml.point_signatures import PointClasses, approximate_orbits

N_POINTS = 437_645


def generated_scan(n_points: int = N_POINTS) -> Any:
    """A bumpy closed surface, in single precision as scans are."""
    random = np.random.default_rng(0)
    directions = random.standard_normal((n_points, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    x, y, z = directions.T
    radius = 1.0 + 0.3 * np.sin(5 * x) * np.cos(4 * y) + 0.2 * np.sin(9 * z + 2 * x)
    return (directions * radius[:, None] * [1.0, 0.45, 0.7]).astype(np.float32)


def scan() -> tuple[str, Any]:
    folder = data_folder()
    path = None if folder is None else folder / "scans" / "dragon.npz"
    if path is None or not path.is_file():
        return "generated", generated_scan()
    return "dragon", np.load(path)["points"]


def smallest(call: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def orbits(device: str, classes: int, anchors: int, repeats: int, n_checked: int) -> dict[str, Any]:
    name, points = scan()

    def run(place: str | None) -> PointClasses:
        return approximate_orbits(points, classes, anchors, device=place)

    start = perf_counter()
    there = run(device)
    gpu_cold = perf_counter() - start
    start = perf_counter()
    here = run(None)
    cpu_cold = perf_counter() - start
    checked = np.random.default_rng(0).permutation(len(points))[:n_checked]
    return {
        "points": name, "n_points": len(points), "anchors": anchors, "classes": classes,
        "core_is_compiled": compiled.CORE_IS_COMPILED,
        "gpu_cold": gpu_cold, "gpu_warm": smallest(lambda: run(device), repeats), "gpu_parts": run(device).seconds,
        "cpu_cold": cpu_cold, "cpu_warm": smallest(lambda: run(None), repeats), "cpu_parts": run(None).seconds,
        "gpu_signatures": there.n_signatures, "cpu_signatures": here.n_signatures,
        "centres_equal": bool(np.array_equal(here.centres, there.centres)),
        "labels_equal": bool(np.array_equal(here.labels, there.labels)),
        "checked_directly": len(checked),
        "differ_from_direct": int((there.labels[checked] != there.direct_labels(points[checked])).sum()),
    }  # fmt: skip


def matrix_on_device(X: Any, parameters: tuple[str, float, float, int], device: str) -> Any:
    """A kernel matrix from the device, copied back as training would need it."""
    out = np.empty((len(X), len(X)), dtype=X.dtype)
    for rows, values in device_kernels.kernel_blocks(X, X, *parameters, device):
        out[rows] = values.cpu().numpy()
    return out


def machines(device: str, repeats: int) -> list[dict[str, Any]]:
    """Sums of kernel values (prediction) and kernel matrices, from small to large."""
    lines = []
    random = np.random.default_rng(0)
    for n_points, n_support, n_features in (
        (1_000, 200, 10), (10_000, 1_000, 10), (100_000, 2_000, 10), (100_000, 2_000, 70), (1_000_000, 5_000, 20),
    ):  # fmt: skip
        X: Any = random.standard_normal((n_points, n_features)).astype(np.float32)
        S, weights = X[:n_support].copy(), random.standard_normal(n_support)
        parameters = ("rbf", 1.0 / n_features, 0.0, 3)
        there = device_kernels.kernel_sums(X, S, weights, *parameters, device)
        here = compiled.kernel_sums(X, S, weights, *parameters)
        lines.append({
            "task": "prediction", "points": n_points, "support": n_support, "features": n_features,
            "gpu": smallest(partial(device_kernels.kernel_sums, X, S, weights, *parameters, device), repeats),
            "cpu": smallest(partial(compiled.kernel_sums, X, S, weights, *parameters), 1),
            "largest_difference": float(np.abs(there - here).max()), "largest_value": float(np.abs(here).max()),
        })  # fmt: skip
    for n_points, n_features in ((1_000, 20), (4_000, 20), (12_000, 20)):
        X = random.standard_normal((n_points, n_features))
        parameters = ("rbf", 1.0 / n_features, 0.0, 3)
        matrix_on_device(X, parameters, device)
        lines.append({
            "task": "kernel matrix", "points": n_points, "features": n_features,
            "gpu": smallest(partial(matrix_on_device, X, parameters, device), repeats),
            "cpu": smallest(partial(compiled.kernel_values, X, X, *parameters), 1),
        })  # fmt: skip
    return lines


def profile(device: str, classes: int, anchors: int) -> str:
    """Where the time of a warm call goes, kernel by kernel."""
    import torch

    _, points = scan()
    with torch.profiler.profile() as watched:
        approximate_orbits(points, classes, anchors, device=device)
    key = "self_cuda_time_total" if device.startswith("cuda") else "self_cpu_time_total"
    return str(watched.key_averages().table(sort_by=key, row_limit=25, max_name_column_width=60))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_orbits", description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", help="a PyTorch device")
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--anchors", type=int, default=2500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--check", type=int, default=20_000, help="points whose labels are evaluated directly")
    parser.add_argument("--no-machines", action="store_true", help="orbits alone")
    parser.add_argument("--profile", action="store_true", help="also print the kernels of a warm call")
    parser.add_argument("--out", type=Path, help="JSON file")
    arguments = parser.parse_args()
    import torch

    device: str = arguments.device
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else "CPU"
    found: dict[str, Any] = {"device": name, "torch": torch.__version__}
    found["orbits"] = orbits(device, arguments.classes, arguments.anchors, arguments.repeats, arguments.check)
    if not arguments.no_machines:
        found["machines"] = machines(device, arguments.repeats)
    text = json.dumps(found, indent=1)
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text + "\n", encoding="utf-8")
    if arguments.profile:
        print(profile(device, arguments.classes, arguments.anchors))


if __name__ == "__main__":
    main()
