"""Collective classification by weighted rules: how long grounding and solving take together, in CPU seconds.

    python -m benchmarks.collective --nodes 32000

A random network in which neighbours mostly agree, three classes, half of the nodes labelled; four weighted rules, as a
user of PSL would write them. With ``--project DIR`` the same is written as a PSL project, to be run by PSL. With
``--files`` the command line runs the project from its files, as PSL does: reading, grounding, solving and writing the
inferred atoms, the start of the process included.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

RULES = (
    "10: Link(A, B) & Cat(A, C) -> Cat(B, C) ^2",
    "5: Like(A, B) & Cat(A, C) -> Cat(B, C) ^2",
    "2: Looks(A, C) -> Cat(A, C) ^2",
    "1: !Cat(A, C) ^2",
)
CLASSES = ("red", "green", "blue")


def network(n_nodes: int, far: float = 0.04, seed: int = 0) -> dict[str, Any]:
    """A PSL project: links, what nodes look like, and labels of half of them.

    Parameters
    ----------
    n_nodes
        How many nodes there are.
    far
        The share of links that lead anywhere; the others lead to one of the 80 nearest nodes.
    seed
        Of the random numbers.
    """
    random = np.random.default_rng(seed)
    label = random.integers(0, len(CLASSES), n_nodes)
    n_links = int(4.1 * n_nodes)
    first = random.integers(0, n_nodes, 4 * n_links)
    near = (first + random.integers(-40, 41, 4 * n_links)) % n_nodes
    second = np.where(random.random(4 * n_links) < far, random.integers(0, n_nodes, 4 * n_links), near)
    agree = (label[first] == label[second]) | (random.random(4 * n_links) < 0.15)
    pairs = np.unique(np.stack([first, second], axis=1)[agree & (first != second)], axis=0)
    pairs = pairs[random.permutation(pairs.shape[0])[:n_links]]
    linked = pairs.shape[0] * 2 // 3
    alike = np.asarray(random.integers(5, 11, pairs.shape[0]) / 10)
    seen = np.where(random.random(n_nodes) < 0.6, label, random.integers(0, len(CLASSES), n_nodes))
    is_labelled = np.arange(n_nodes) % 2 == 0
    strength = random.integers(5, 10, n_nodes) / 10
    atoms = [(f"n{i}", c, float(label[i] == k)) for i in range(n_nodes) for k, c in enumerate(CLASSES)]
    return {
        "rules": list(RULES),
        "predicates": {
            "Link/2": {"observations": [[f"n{i}", f"n{j}"] for i, j in pairs[:linked].tolist()]},
            "Like/2": {
                "observations": [
                    [f"n{i}", f"n{j}", str(v)]
                    for (i, j), v in zip(pairs[linked:].tolist(), alike[linked:], strict=True)
                ]
            },
            "Looks/2": {"observations": [[f"n{i}", CLASSES[seen[i]], str(strength[i])] for i in range(n_nodes)]},
            "Cat/2": {
                "observations": [[a, c, str(v)] for k, (a, c, v) in enumerate(atoms) if is_labelled[k // 3]],
                "targets": [[a, c] for k, (a, c, _) in enumerate(atoms) if not is_labelled[k // 3]],
                "truth": [[a, c, str(v)] for k, (a, c, v) in enumerate(atoms) if not is_labelled[k // 3]],
                "evaluations": ["Categorical"],
            },
        },
    }


def write_project(project: dict[str, Any], folder: Path) -> Path:
    """Write a project with its data in files of their own, as PSL's examples have them."""
    folder.mkdir(parents=True, exist_ok=True)
    words: dict[str, Any] = {"rules": project["rules"], "predicates": {}}
    for name, predicate in project["predicates"].items():
        own: dict[str, Any] = {"evaluations": predicate.get("evaluations", [])}
        for part in ("observations", "targets", "truth"):
            if part in predicate:
                path = folder / f"{name.partition('/')[0].lower()}_{part}.txt"
                path.write_text("".join("\t".join(map(str, row)) + "\n" for row in predicate[part]))
                own[part] = [path.name]
        words["predicates"][name] = own
    (folder / "project.json").write_text(json.dumps(words, indent=1))
    return folder / "project.json"


def run_from_files(project: dict[str, Any], backend: str) -> None:
    """Measure ``relift project.json --out DIR`` in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        path = write_project(project, Path(name, "project"))
        words = [sys.executable, "-m", "relift", str(path), "--out", str(Path(name, "inferred")), "--backend", backend]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(done.stdout)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"relift project.json --out inferred: {seconds:.2f} CPU s, {after.ru_maxrss / 1024:,.0f} MB")


def main() -> None:
    """Measure one project."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=32_000)
    parser.add_argument("--project", type=Path, help="write the PSL project here")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--files", action="store_true", help="run the project from its files by the command line")
    given = parser.parse_args()
    project = network(given.nodes)
    if given.files:
        run_from_files(project, given.backend)
        return
    if given.project is not None:
        print(write_project(project, given.project))
    import relift

    relift.solve_model("var x >= 1; minimize: x**2;")  # so that imports are not counted
    start = time.process_time()
    read = relift.read_psl(project)
    grounded = read.ground()
    middle = time.process_time()
    result = relift.solve(grounded.program, backend=given.backend)
    end = time.process_time()
    small = result.lifting.small
    print(f"{grounded.program}, lifted {small.n_variables:,} x {small.n_rows:,}")
    print(f"{result.status}, objective {result.objective:.9g}, {result.backend}")
    print(f"ground {middle - start:.2f} s, solve {end - middle:.2f} s, together {end - start:.2f} CPU s")
    print({stage: round(seconds, 2) for stage, seconds in result.timings.items()})


if __name__ == "__main__":
    main()
