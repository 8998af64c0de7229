"""``python -m benchmarks.svm``: lifted support vector machines against scikit-learn's, by the protocol of the paper.

Two spherical Gaussians, 2500 training and 5000 test examples for each label, centres 4 or 2 apart; a grid of gamma in
{0.25, 0.5, 1, 2, 4} and C in {0.5, 1, 2} searched by 5-fold cross-validation. Then single fits of 100,000 examples.
Each method runs in this process with one thread; times are CPU seconds, so that a busy machine does not show.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import MiniBatchKMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from relift.ml import LiftedSVC, LiftedSVCCV
from relift.paper.gaussian_machines import CS, GAMMAS, lifted_grid, svm_grid, two_gaussians


def anchor_grid(X: Any, y: Any) -> Any:
    chosen = np.random.default_rng(0).permutation(len(y))[:500]
    return svm_grid(X[chosen], y[chosen])


def nystroem_grid(X: Any, y: Any) -> Any:
    pipeline = make_pipeline(Nystroem(n_components=200, random_state=0), LinearSVC(max_iter=5000))
    grid = {"nystroem__gamma": list(GAMMAS), "linearsvc__C": list(CS)}
    return GridSearchCV(pipeline, grid, cv=5).fit(X, y)


def centroid_grid(X: Any, y: Any) -> Any:
    """SVC on 250 centroids of each label, weighted by their sizes."""
    points, labels, weights = [], [], []
    for label in np.unique(y):
        found = MiniBatchKMeans(250, n_init=1, random_state=0).fit(X[y == label])
        points.append(found.cluster_centers_)
        labels.append(np.full(250, label))
        weights.append(np.bincount(found.labels_, minlength=250))
    X, y, weight = np.concatenate(points), np.concatenate(labels), np.concatenate(weights).astype(float)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, weight = X[order], y[order], weight[order]
    X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
    return svm_grid(X, y, sample_weight=weight)


METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "lifted": lifted_grid,
    "SVC": svm_grid,
    "anchor SVC (500)": anchor_grid,
    "Nystroem + LinearSVC": nystroem_grid,
    "SVC on centroids": centroid_grid,
}


def grid_search(n_features: int, apart: float, reruns: int, console: Console) -> list[dict[str, Any]]:
    lines = []
    for rerun in range(reruns):
        X, y = two_gaussians(n_features, apart, 2500, 2 * rerun)
        X_test, y_test = two_gaussians(n_features, apart, 5000, 2 * rerun + 1)
        for name, method in METHODS.items():
            start = process_time()
            model = method(X, y)
            seconds = process_time() - start
            line = {
                "task": "grid", "features": n_features, "apart": apart, "rerun": rerun, "method": name,
                "seconds": seconds, "error": float(np.mean(model.predict(X_test) != y_test)),
                "gap": float(model.gap_) if name == "lifted" else None, "chosen": str(model.best_params_),
            }  # fmt: skip
            lines.append(line)
            console.print(f"[dim]{n_features}-D, {apart:g} apart, rerun {rerun}, {name}: {seconds:.2f} s[/]")
    return lines


def large_fit(apart: float, gamma: float, n_each: int, console: Console) -> list[dict[str, Any]]:
    X, y = two_gaussians(2, apart, n_each, 0)
    X_test, y_test = two_gaussians(2, apart, 5000, 1)
    lines = []
    machines: dict[str, Any] = {"lifted": LiftedSVC(gamma=gamma), "SVC": SVC(gamma=gamma)}
    for name, machine in machines.items():
        times = []
        for _ in range(1 if name == "SVC" else 3):  # the smallest of three; minutes are not repeated
            start = process_time()
            machine.fit(X, y)
            times.append(process_time() - start)
        seconds = min(times)
        lines.append(
            {
                "task": f"n={2 * n_each:,} gamma={gamma:g}", "features": 2, "apart": apart, "rerun": 0,
                "method": name, "seconds": seconds, "error": float(np.mean(machine.predict(X_test) != y_test)),
                "gap": float(machine.gap_) if name == "lifted" else None, "chosen": "",
            }
        )  # fmt: skip
        console.print(f"[dim]n={2 * n_each:,}, {apart:g} apart, gamma {gamma:g}, {name}: {seconds:.2f} s[/]")
    return lines


def table(lines: list[dict[str, Any]]) -> Table:
    result = Table(title="support vector machines: CPU seconds (mean), test error (mean), proved gap (median, worst)")
    for column in ("task", "data", "method", "seconds", "quicker", "test error", "gap"):
        result.add_column(column, justify="left" if column in ("task", "data", "method") else "right")
    for cells in summary(lines):
        result.add_row(*cells)
    return result


def summary(lines: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for key in dict.fromkeys((line["task"], line["features"], line["apart"]) for line in lines):
        of_task = [line for line in lines if (line["task"], line["features"], line["apart"]) == key]
        base = np.mean([line["seconds"] for line in of_task if line["method"] == "SVC"])
        for method in dict.fromkeys(line["method"] for line in of_task):
            of_method = [line for line in of_task if line["method"] == method]
            seconds = float(np.mean([line["seconds"] for line in of_method]))
            gaps = [line["gap"] for line in of_method if line["gap"] is not None]
            rows.append(
                (
                    f"{key[0]} ({len(of_method)} runs)", f"{key[1]}-D, {key[2]:g} apart", method, f"{seconds:.3f}",
                    f"{base / seconds:.1f}x", f"{np.mean([line['error'] for line in of_method]):.4f}",
                    f"{np.median(gaps):.1e}, {max(gaps):.1e}" if gaps else "",
                )
            )  # fmt: skip
    return rows


def markdown(lines: list[dict[str, Any]]) -> str:
    """The summary as a table for the documentation."""
    head = "| task | data | method | CPU s | quicker | test error | proved gap (median, worst) |"
    return "\n".join([head, "|---|---|---|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in summary(lines))])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.svm", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one rerun of the 2-D tasks, 20,000 examples")
    parser.add_argument("--reruns", type=int, default=10, help="for two features; a third of it for 5 and 10")
    parser.add_argument("--tasks", default="grid,large", help="grid, large or both")
    parser.add_argument("--features", default="2,5,10", help="numbers of features of the grid tasks")
    parser.add_argument("--apart", default="4,2", help="distances of the centres")
    parser.add_argument("--out", type=Path, help="JSON file for all lines")
    parser.add_argument("--table", type=Path, help="print the table of a JSON file written before, and end")
    arguments = parser.parse_args()
    if arguments.table is not None:
        print(markdown(json.loads(arguments.table.read_text(encoding="utf-8"))))
        return
    console = Console(width=140)
    features = [2] if arguments.quick else [int(part) for part in arguments.features.split(",")]
    distances = [float(part) for part in arguments.apart.split(",")]
    lines: list[dict[str, Any]] = []
    with threadpool_limits(1):
        warm_up()
        if "grid" in arguments.tasks:
            for n_features in features:
                reruns = 1 if arguments.quick else arguments.reruns
                for apart in distances:
                    lines += grid_search(n_features, apart, reruns if n_features == 2 else -(-reruns // 3), console)
                    keep(lines, arguments.out)
        if "large" in arguments.tasks:
            for apart in distances:
                for gamma in (0.25, 1.0):
                    lines += large_fit(apart, gamma, 10_000 if arguments.quick else 50_000, console)
                    keep(lines, arguments.out)
    console.print(table(lines))


def warm_up() -> None:
    """Imports and first calls are not what is measured."""
    X, y = two_gaussians(2, 4.0, 1000, 0)
    LiftedSVCCV(gammas=[1.0], Cs=[1.0]).fit(X, y)
    SVC().fit(X[:100], y[:100])


def keep(lines: list[dict[str, Any]], out: Path | None) -> None:
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
