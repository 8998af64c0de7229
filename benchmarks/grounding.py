"""Grounding a transductive SVM over Cora-shaped tables: relift against builds by hand and other modelling tools.

    python -m benchmarks.grounding --scale 1,10,100 --keys int,text --out docs/grounding.json

Tables have the size of Cora (2708 papers, 1433 words, 49,216 word facts, 5429 citations) times the scale; four papers
of five are labelled, all are queried. Every contender starts from the same data frames in memory and ends with the
matrices of the whole program, which are compared: entry by entry for relift and the builds by hand, up to the order of
rows and columns for the others; no time is given for a wrong one. Each is measured in a process of its own, after a
run on small tables (imports are no part of it): CPU seconds of all threads, smallest of several runs, and the peak of
memory above the tables.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.grounding_contenders import BY_HAND, CONTENDERS, LARGEST_SCALE, PACKAGES, Tables, cora_shaped

REFERENCE = "SciPy, blocks"
ORDERED = {name for name in CONTENDERS if name.startswith("relift") or name in BY_HAND}
"""These number rows and columns in the same way."""


def digest(contender: str, found: Any) -> dict[str, Any]:
    """What must be the same up to the order of rows and columns; and all of it, where that order is the same."""
    P, q, A, l, lb = found
    A = sparse.csr_array(A, copy=True)
    A.sort_indices()
    A.eliminate_zeros()
    facts: dict[str, Any] = {"shape": list(A.shape), "nonzeros": int(A.nnz), "sum of l": float(np.sum(l))}
    facts["sizes of columns"] = _hash(np.sort(np.abs(A).sum(axis=0)))
    facts["sums of rows"] = _hash(np.sort(A.sum(axis=1)))
    if P is not None:  # Pyomo compiles the rows only
        facts["trace of P"], facts["sum of q"] = float(sparse.csr_array(P).trace()), float(np.sum(q))
    if contender in ORDERED:
        parts = (A.indptr, A.indices, A.data, sparse.csr_array(P).diagonal(), q, l, lb)
        facts["entries"] = " ".join(map(_hash, parts))
    return facts


def _hash(array: Any) -> str:
    array = np.asarray(array)
    array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64) + 0
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()[:16]


def bytes_of_result(found: Any) -> int:
    """The size of the matrices and vectors of a program."""
    total = 0
    for part in found:
        if sparse.issparse(part):
            arrays = [part.data, *(getattr(part, name, None) for name in ("indices", "indptr"))]
            total += sum(a.nbytes for a in arrays if a is not None)
        elif part is not None:
            total += np.asarray(part).nbytes
    return total


def bytes_of_tables(tables: Tables) -> int:
    """The size of the data frames."""
    return int(sum(frame.memory_usage(index=False, deep=True).sum() for frame in tables.values()))


def measure(contender: str, scale: int, keys: str, repeats: int) -> dict[str, Any]:
    """Run in this process, which should do nothing else."""
    build = CONTENDERS[contender]
    build(cora_shaped(1, keys))  # imports and caches
    tables = cora_shaped(scale, keys)
    gc.collect()
    # The peak is set back to what is resident now: making the tables is no part of it. (The maximum of getrusage
    # cannot be set back, and a child process even starts with that of its parent.)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = _status("VmRSS")
    cpu = wall = np.inf
    peak, found = 0, None
    for _ in range(repeats):
        found = None
        gc.collect()
        start, clock = time.process_time(), time.perf_counter()
        found = build(tables)
        cpu, wall = min(cpu, time.process_time() - start), min(wall, time.perf_counter() - clock)
        peak = peak or _status("VmHWM") - before
    return {
        "contender": contender,
        "scale": scale,
        "keys": keys,
        "nonzeros": int(found[2].nnz),
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "peak_bytes": peak,
        "result_bytes": bytes_of_result(found),
        "table_bytes": bytes_of_tables(tables),
        "digest": digest(contender, found),
    }


def _status(name: str) -> int:
    """A size of this process in bytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(f"{name}:"))


def fault(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What is wrong with a result, if anything."""
    wrong = [name for name, value in found.items() if value != expected[name]]
    return f"other {', '.join(wrong)}" if wrong else ""


def _in_own_process(contender: str, scale: int, keys: str, repeats: int) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "benchmarks.grounding", "--one", contender]
    command += ["--scale", str(scale), "--keys", keys, "--repeats", str(repeats)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        print(f"  {contender:26s} failed: {(answer.stderr.strip().splitlines() or ['killed'])[-1]}", flush=True)
        return None
    return dict(json.loads(answer.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--scale", default="1,10")
    parser.add_argument("--keys", default="int,text")
    parser.add_argument("--only", default="", help="contenders, separated by semicolons")
    parser.add_argument("--repeats", type=int, default=0, help="runs of each; 0 for 15 on small tables and 3 on large")
    parser.add_argument("--out", default="", help="a file for the measurements; those of other contenders stay in it")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one, int(arguments.scale), arguments.keys, arguments.repeats)))
        return
    wanted = arguments.only.split(";") if arguments.only else list(CONTENDERS)
    for keys in arguments.keys.split(","):
        for scale in map(int, arguments.scale.split(",")):
            expected: dict[str, Any] | None = None
            for contender in [REFERENCE, *(c for c in CONTENDERS if c != REFERENCE)]:
                package = PACKAGES.get(contender)
                if (contender not in wanted and contender != REFERENCE) or scale > LARGEST_SCALE.get(contender, 10**9):
                    continue
                if package and not importlib.util.find_spec(package):
                    continue
                found = _in_own_process(contender, scale, keys, arguments.repeats or (15 if scale < 10 else 3))
                if found is None:
                    continue
                if expected is None:
                    expected = found
                    print(f"{keys} keys, scale {scale}: {found['nonzeros']:,} nonzeros", flush=True)
                _report(found, expected, arguments.out)


def _report(found: dict[str, Any], expected: dict[str, Any], out: str) -> None:
    wrong = fault(found["digest"], expected["digest"])
    size = found["result_bytes"] + found["table_bytes"]
    ratio = found["cpu_seconds"] / expected["cpu_seconds"]
    figures = (
        f"cpu {found['cpu_seconds']:8.4f} s  wall {found['wall_seconds']:8.3f} s  {ratio:7.2f}x  "
        f"peak +{found['peak_bytes'] / 1e6:6.0f} MB, {found['peak_bytes'] / size:.2f} of matrices and tables"
    )
    print(f"  {found['contender']:26s}" + (f" WRONG: {wrong}" if wrong else figures), flush=True)
    if out and not wrong:
        path = Path(out)
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        entry = {key: value for key, value in found.items() if key != "digest"}
        same = ("contender", "scale", "keys")
        kept = [old for old in kept if any(old[k] != entry[k] for k in same)] + [entry]
        kept.sort(key=lambda m: (m["keys"], m["scale"], list(CONTENDERS).index(m["contender"])))
        path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
