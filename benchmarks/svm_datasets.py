"""``python -m benchmarks.svm_datasets``: LiftedSVC against SVC on data sets of 2 to 70 features, over C and gamma.

Data sets come with scikit-learn or are generated; labelled tables (``*.csv``, last column the label) of a folder given
by ``--folder`` are read as well. Half of each set is for training, half for the accuracy. C in {0.1, 1, 10, 100, 1000},
gamma in {0.1, 1, 10} times ``"scale"``; SVC with its own tolerance and with ``tol=0.1``. Each machine runs in this
process with one thread; times are CPU seconds, the smallest of several runs that alternate, so that a busy machine does
not show.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from rich.console import Console
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from relift.ml import LiftedSVC

CS = (0.1, 1.0, 10.0, 100.0, 1000.0)
FACTORS = (0.1, 1.0, 10.0)


def letters(n: int = 3000) -> Any:
    """Like the letters of the UCI repository: 26 labels, 16 features of 16 steps each, three shapes of each letter."""
    random = np.random.default_rng(0)
    centres = random.normal(7.5, 2.5, (26, 3, 16))
    y = random.integers(0, 26, n)
    X = centres[y, random.integers(0, 3, n)] + random.normal(0, 1.2, (n, 16))
    return np.clip(np.round(X), 0, 15), y


def friedman(n: int) -> Any:
    X, y = datasets.make_friedman1(n, 10, noise=1.0, random_state=0)
    return X, (y > np.median(y)).astype(int)


DATA: dict[str, Callable[[], Any]] = {
    "moons": lambda: datasets.make_moons(3000, noise=0.3, random_state=0),
    "circles": lambda: datasets.make_circles(3000, noise=0.15, factor=0.6, random_state=0),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "overlapping, 5 features": lambda: datasets.make_classification(
        3000, 5, n_informative=4, n_redundant=0, class_sep=0.5, flip_y=0.05, random_state=0
    ),
    "friedman": lambda: friedman(3000),
    "noisy, 10 features": lambda: datasets.make_classification(3000, 10, n_informative=6, flip_y=0.1, random_state=0),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "letters (generated)": letters,
    "hastie": lambda: datasets.make_hastie_10_2(3000, random_state=0),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "imbalanced, 20 features": lambda: datasets.make_classification(
        3000, 20, n_informative=10, weights=[0.95], random_state=0
    ),
    "40 features": lambda: datasets.make_classification(3000, 40, n_informative=20, class_sep=0.7, random_state=0),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "70 features": lambda: datasets.make_classification(
        3000, 70, n_informative=30, n_classes=3, class_sep=1.0, random_state=0
    ),
}


def tables(folder: Path | None) -> dict[str, Callable[[], Any]]:
    """Tables of a folder: numbers, and in the last column a label."""
    if folder is None:
        return {}

    def read(path: Path) -> Any:
        rows = np.genfromtxt(path, delimiter=",", dtype=str, skip_header=1)
        return rows[:, :-1].astype(float), np.unique(rows[:, -1], return_inverse=True)[1]

    return {path.stem: partial(read, path) for path in sorted(folder.glob("*.csv"))}


def measure(name: str, X: Any, y: Any, console: Console) -> list[dict[str, Any]]:
    X = StandardScaler().fit_transform(np.asarray(X, dtype=float))
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    scale = 1.0 / (train.shape[1] * train.var())
    lines = []
    for C in CS:
        for factor in FACTORS:
            gamma = factor * scale
            machines: dict[str, Any] = {
                "SVC": SVC(C=C, gamma=gamma), "SVC tol=0.1": SVC(C=C, gamma=gamma, tol=0.1),
                "lifted": LiftedSVC(C=C, gamma=gamma),
            }  # fmt: skip
            seconds: dict[str, list[float]] = {key: [] for key in machines}
            spent = 0.0
            while len(seconds["SVC"]) < 3 or (spent < 0.15 and len(seconds["SVC"]) < 15):
                for key, machine in machines.items():
                    start = process_time()
                    machine.fit(train, y_train)
                    seconds[key].append(process_time() - start)
                    spent += seconds[key][-1]
                if spent > 1.0:
                    break
            least = {key: min(times) for key, times in seconds.items()}
            line = {
                "data": name, "features": int(train.shape[1]), "examples": len(train), "labels": len(np.unique(y)),
                "C": C, "gamma": factor,
                "seconds": least["lifted"], "svc_seconds": least["SVC"], "loose_seconds": least["SVC tol=0.1"],
                "ratio": least["SVC"] / least["lifted"], "loose_ratio": least["SVC tol=0.1"] / least["lifted"],
                "accuracy": float(machines["lifted"].score(test, y_test)),
                "svc_accuracy": float(machines["SVC"].score(test, y_test)),
                "loose_accuracy": float(machines["SVC tol=0.1"].score(test, y_test)),
                "gap": float(machines["lifted"].gap_), "tol_gap": float(machines["lifted"].tol_gap),
                "predict_seconds": time_of(machines["lifted"], test),
                "svc_predict_seconds": time_of(machines["SVC"], test),
            }  # fmt: skip
            lines.append(line)
            change = float(machines["lifted"].score(test, y_test) - machines["SVC"].score(test, y_test))
            console.print(f"[dim]{name} C={C:g} gamma={factor:g}: {line['ratio']:.1f}x, {change:+.4f}[/]")
    return lines


def time_of(machine: Any, X: Any) -> float:
    times = []
    for _ in range(3):
        start = process_time()
        machine.predict(X)
        times.append(process_time() - start)
    return min(times)


MEMORY = """
import sys
from pathlib import Path
import numpy as np
from benchmarks.svm_datasets import DATA
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from relift.ml import LiftedSVC
def kibibytes(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))
X, y = DATA[sys.argv[1]]()
X = StandardScaler().fit_transform(np.asarray(X, dtype=float))
machine = SVC if sys.argv[2] == "SVC" else LiftedSVC
machine().fit(X[::10], y[::10])
Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
before = kibibytes("VmRSS")
machine(C=10.0).fit(X, y)
print(kibibytes("VmHWM") - before)
"""


def memory(name: str, method: str) -> float | None:
    """Mebibytes that a fit of the whole set with C = 10 adds to a process at its peak; None if nothing tells."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, name, method], capture_output=True, text=True, env=environment, check=False
    )
    return int(done.stdout) / 1024 if done.returncode == 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.svm_datasets", description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="names of data sets, separated by semicolons; all if not given")
    parser.add_argument("--folder", type=Path, help="a folder of labelled tables (*.csv) to add")
    parser.add_argument("--out", type=Path, help="JSON file for all lines; sets that it has are not measured again")
    arguments = parser.parse_args()
    console = Console(width=140)
    found: dict[str, Any] = {"lines": [], "memory": []}
    if arguments.out is not None and arguments.out.exists():
        found = json.loads(arguments.out.read_text(encoding="utf-8"))
    done = {line["data"] for line in found["lines"]}
    chosen = {**DATA, **tables(arguments.folder)}
    if arguments.data:
        chosen = {name: chosen[name] for name in arguments.data.split(";")}
    with threadpool_limits(1):
        for name, make in chosen.items():
            if name in done:
                continue
            X, y = make()
            found["lines"] += measure(name, X, y, console)
            if name in DATA:
                found["memory"].append({"data": name, **{key: memory(name, key) for key in ("SVC", "lifted")}})
            if arguments.out is not None:
                arguments.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    ratios = np.array([line["ratio"] for line in found["lines"] if line["features"] >= 5])
    if len(ratios):
        mean = float(np.exp(np.log(ratios).mean()))
        console.print(f"5 features and more: geometric mean {mean:.2f}x, least {ratios.min():.2f}x")


if __name__ == "__main__":
    main()
