"""Time colour refinement on families of instances and hold it against its targets.

::

    python -m benchmarks.refinement [--sizes 1e5,1e6] [--families grid,path] [--threads 1] [--callgrind]
                                    [--out results/x.json]

For each family and size: nanoseconds per nonzero from SciPy matrices to classes (the call
:func:`relift.symmetry.colour_refinement.refine`, smallest of several), rounds, classes, extra bytes per nonzero,
and the ratio to ``A @ x + A.T @ y`` in SciPy for each round (two passes over the entries), measured in turn in the
same process. One thread is used unless more are asked for; times are by the clock.
The peers do more than refine (igraph's ``count_automorphisms``, pynauty's ``autgrp``); they are a
yardstick, on small graphs only.

Targets:

1. families that rounds settle: at most 3 x (A @ x + A.T @ y) a round, at 1e6 nonzeros;
2. long tails at 1e6: grid 80, tree 80, multi-commodity 110, path 250 ns per nonzero; at 1e7 at most 3.5 times that;
3. instructions per nonzero at 1e5: random 5 values 120, blocks 110, grid 220, multi-commodity 280 (--callgrind);
4. extra memory: at most 12 bytes per nonzero where rounds settle it, else 30; a call below 1000 nonzeros 100 µs.

An answer is checked before its time is printed: against the NumPy reference on a small instance of the family and
against the number of classes where that is known.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.refinement.families import FAMILIES, Family, Instance
from benchmarks.refinement.instructions import can_count, instructions_per_entry
from relift.symmetry.colour_refinement import core_is_compiled, refine
from relift.symmetry.colour_refinement_reference import refine_slowly
from relift.threads import using_threads

ROUNDS_TARGET = 3.0
TARGET_1 = ("random_01", "random_5_values", "blocks", "blocks_5_values", "assignment", "transport")
TARGET_2 = {"grid": 80.0, "tree": 80.0, "multi_commodity": 110.0, "path": 250.0}
GROWTH_TARGET = 3.5
TARGET_3 = {"random_5_values": 120.0, "blocks": 110.0, "grid": 220.0, "multi_commodity": 280.0}
MEMORY_TARGET = {"rounds": 12.0, "worklist": 30.0}
SMALL_CALL_TARGET = 100.0


@dataclass
class Measurement:
    family: str
    is_tuned: bool
    n_entries: int
    scaled: bool
    nanoseconds: float
    rounds: float
    splitters: int
    classes: int
    bytes_per_entry: float
    product_nanoseconds: float
    ratio_per_round: float
    peer: dict[str, float]


@dataclass
class Verdict:
    target: int
    what: str
    measured: float
    limit: float

    @property
    def is_met(self) -> bool:
        return self.measured <= self.limit


def check_small(family: Family) -> None:
    """The kernel and the reference agree on a small instance."""
    instance = family.build(3000, np.random.default_rng(7))
    for scale_rows in (False, True):
        found = refine(*instance.arguments(), scale_rows=scale_rows)
        slow = refine_slowly(*instance.arguments(), mode="equitable", reading="decimal", scale_rows=scale_rows)
        same = np.array_equal(found.variables.labels, slow.variable_labels)
        if not (same and np.array_equal(found.rows.labels, slow.row_labels)):
            raise SystemExit(f"{family.name}: the kernel and the reference differ; no times are given.")


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def products(instance: Instance) -> Callable[[], Any]:
    """One round's worth of SciPy: both products with A, and one with the symmetric P."""
    x, y = np.ones(instance.A.shape[1]), np.ones(instance.A.shape[0])
    if instance.P is None:
        return lambda: (instance.A @ x, instance.A.T @ y)
    if instance.A.shape[0]:
        return lambda: (instance.A @ x, instance.A.T @ y, instance.P @ x)
    return lambda: instance.P @ x


def peers(instance: Instance) -> dict[str, float]:
    """Seconds of programs that find automorphisms, a larger task: only for small graphs."""
    if instance.P is None or instance.A.shape[0] or instance.n_entries > 30_000:
        return {}
    seconds: dict[str, float] = {}
    row, column = instance.P.tocoo().coords
    edges = np.stack([row, column], axis=1)[row < column]
    try:
        import igraph

        graph = igraph.Graph(instance.P.shape[0], edges.tolist())
        seconds["igraph"] = timed(graph.count_automorphisms)
    except ImportError:
        pass
    try:
        import pynauty  # type: ignore[import-not-found]

        neighbours: dict[int, list[int]] = {}
        for i, j in edges.tolist():
            neighbours.setdefault(i, []).append(j)
        nauty = pynauty.Graph(instance.P.shape[0], adjacency_dict=neighbours)
        if instance.P.shape[0] <= 1000:
            seconds["pynauty"] = timed(lambda: pynauty.autgrp(nauty))
    except ImportError:
        pass
    return seconds


def measure(family: Family, size: int, scaled: bool, repeats: int) -> Measurement:
    instance = family.build(size, np.random.default_rng(1))
    arguments, product = instance.arguments(), products(instance)
    found = refine(*arguments, scale_rows=scaled)
    classes = found.variables.n_classes + found.rows.n_classes
    if instance.known_classes is not None and not scaled and classes != instance.known_classes:
        raise SystemExit(f"{family.name}: {classes} classes, not {instance.known_classes}; no times are given.")
    seconds, product_seconds = [], []
    gc.disable()
    for _ in range(repeats):  # in turn, so that both see the same machine
        product_seconds.append(timed(product))
        seconds.append(timed(lambda: refine(*arguments, scale_rows=scaled)))
    gc.enable()
    entries, statistics = instance.n_entries, found.statistics
    best, best_product = min(seconds), min(product_seconds)
    return Measurement(
        family.name,
        family.is_tuned,
        entries,
        scaled,
        1e9 * best / entries,
        statistics.rounds,
        statistics.splitters,
        classes,
        statistics.extra_bytes / entries,
        1e9 * best_product / entries,
        best / best_product / max(statistics.rounds, 1),
        {name: 1e9 * value / entries for name, value in peers(instance).items()},
    )


def small_call_microseconds() -> float:
    instance = FAMILIES["random_5_values"].build(990, np.random.default_rng(1))
    arguments = instance.arguments()
    return 1e6 * min(timed(lambda: refine(*arguments)) for _ in range(200))


def verdicts(measurements: list[Measurement]) -> list[Verdict]:
    found: list[Verdict] = []
    by_size: dict[tuple[str, int], Measurement] = {}
    for one in measurements:
        if one.scaled:
            continue
        magnitude = round(np.log10(one.n_entries))
        by_size[one.family, magnitude] = one
        if one.family in TARGET_1 and magnitude == 6:
            found.append(Verdict(1, f"{one.family} per round", one.ratio_per_round, ROUNDS_TARGET))
        if one.family in TARGET_2 and magnitude == 6:
            found.append(Verdict(2, f"{one.family} ns", one.nanoseconds, TARGET_2[one.family]))
        if magnitude >= 5:
            kind = "worklist" if one.splitters else "rounds"
            what = f"{one.family} 1e{magnitude} bytes ({kind})"
            found.append(Verdict(4, what, one.bytes_per_entry, MEMORY_TARGET[kind]))
    for name in TARGET_2:
        if (name, 6) in by_size and (name, 7) in by_size:
            growth = by_size[name, 7].nanoseconds / by_size[name, 6].nanoseconds
            found.append(Verdict(2, f"{name} 1e7 / 1e6", growth, GROWTH_TARGET))
    return found


def show(title: str, columns: list[str], rows: list[list[str]]) -> None:
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        widths = [max(len(line[k]) for line in [columns, *rows]) for k in range(len(columns))]
        print(title)
        for line in [columns, *rows]:
            print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
        return
    table = Table(title=title)
    for k, column in enumerate(columns):
        table.add_column(column, justify="left" if k == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refinement", description="Time colour refinement.")
    parser.add_argument("--sizes", default="1e5,1e6", help="numbers of nonzeros")
    parser.add_argument("--families", default=",".join(FAMILIES), help="names, with commas")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--callgrind", action="store_true", help="count instructions at 1e5 (valgrind)")
    parser.add_argument("--out", type=Path, help="a JSON file, for example results/refinement.json")
    options = parser.parse_args()
    if not core_is_compiled():
        raise SystemExit("the compiled core is not installed: nothing to measure.")

    families = [FAMILIES[name] for name in options.families.split(",")]
    measurements: list[Measurement] = []
    for family in families:
        check_small(family)
        for size in (int(float(text)) for text in options.sizes.split(",")):
            instance_has_rows = family.build(1000, np.random.default_rng(0)).A.shape[0] > 0
            for scaled in (False, True) if instance_has_rows else (False,):
                with using_threads(options.threads):
                    measurements.append(measure(family, size, scaled, options.repeats))
    show(
        "nanoseconds and bytes per nonzero; ratio: to SciPy's products, for each round",
        ["family", "nonzeros", "rows", "ns", "rounds", "splitters", "classes", "bytes", "products", "ratio", "peers"],
        [
            [
                one.family if one.is_tuned else f"{one.family} *",
                f"{one.n_entries:,}",
                "scaled" if one.scaled else "",
                f"{one.nanoseconds:.1f}",
                f"{one.rounds:g}",
                f"{one.splitters:,}",
                f"{one.classes:,}",
                f"{one.bytes_per_entry:.1f}",
                f"{one.product_nanoseconds:.2f}",
                f"{one.ratio_per_round:.2f}",
                " ".join(f"{name} {value:.0f}" for name, value in one.peer.items()),
            ]
            for one in measurements
        ],
    )
    print("* not looked at while the kernel was written\n")

    found = verdicts(measurements)
    found.append(Verdict(4, "a call below 1000 nonzeros, µs", small_call_microseconds(), SMALL_CALL_TARGET))
    if options.callgrind:
        if not can_count():
            raise SystemExit("--callgrind needs valgrind and g++.")
        for name in [family.name for family in families if family.name in TARGET_3]:
            instance = FAMILIES[name].build(100_000, np.random.default_rng(1))
            found.append(Verdict(3, f"{name} instructions", instructions_per_entry(instance), TARGET_3[name]))
    found.sort(key=lambda one: one.target)
    show(
        "targets",
        ["target", "what", "measured", "limit", ""],
        [[str(v.target), v.what, f"{v.measured:.2f}", f"{v.limit:g}", "PASS" if v.is_met else "FAIL"] for v in found],
    )
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        document = {
            "machine": platform.platform(),
            "threads": options.threads,
            "numpy": np.__version__,
            "measurements": [asdict(one) for one in measurements],
            "targets": [asdict(one) | {"is_met": one.is_met} for one in found],
        }
        options.out.write_text(json.dumps(document, indent=1))
        print(f"written to {options.out}")


if __name__ == "__main__":
    main()
