"""Tables for examples/models/dc_opf.rlp from a MATPOWER case in CSV files: bus, gen, branch, gencost and system.

python examples/power_tables.py path/to/case118 tables/
relift examples/models/dc_opf.rlp --data tables/ --out results/
"""

from __future__ import annotations

import argparse
import csv
import math
from pathlib import Path
from typing import Any

COLUMNS = {
    "load": ("bus", "mw"),
    "reference": ("bus",),
    "at": ("generator", "bus"),
    **dict.fromkeys(["pmin", "pmax", "c2", "c1", "c0"], ("generator", "value")),
    "branch": ("line", "from", "to"),
    **dict.fromkeys(["susceptance", "shift", "rate"], ("line", "value")),
}


def read(path: Path) -> list[dict[str, float]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: float(text) for name, text in row.items()} for row in csv.DictReader(file)]


def power_tables(case: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Relations and params by name, as lists of tuples; out-of-service generators and lines are left out."""
    base = read(case / "system.csv")[0]["baseMVA"]
    buses = read(case / "bus.csv")
    generators = [
        (f"g{number}", gen | cost)
        for number, (gen, cost) in enumerate(zip(read(case / "gen.csv"), read(case / "gencost.csv"), strict=True), 1)
        if gen["status"] > 0
    ]
    branches = [(f"l{n}", line) for n, line in enumerate(read(case / "branch.csv"), 1) if line["status"] > 0]

    def column(name: str) -> list[tuple[str, float]]:
        return [(generator, entries.get(name, 0.0)) for generator, entries in generators]

    return {
        "load": [(int(bus["bus_i"]), bus["Pd"] + bus["Gs"]) for bus in buses],
        "reference": [(int(bus["bus_i"]),) for bus in buses if bus["type"] == 3],
        "at": [(generator, int(entries["bus"])) for generator, entries in generators],
        "pmin": column("Pmin"),
        "pmax": column("Pmax"),
        "c2": column("c2"),
        "c1": column("c1"),
        "c0": column("c0"),
        "branch": [(line, int(entries["fbus"]), int(entries["tbus"])) for line, entries in branches],
        "susceptance": [(line, base / (entries["x"] * (entries["ratio"] or 1.0))) for line, entries in branches],
        "shift": [(line, math.radians(entries["angle"])) for line, entries in branches],
        "rate": [(line, entries["rateA"]) for line, entries in branches if entries["rateA"] > 0],
    }


def write_tables(tables: dict[str, list[tuple[Any, ...]]], folder: Path) -> None:
    """One CSV file for each table, by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS[name])
            writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", type=Path, help="folder with bus.csv, gen.csv, branch.csv, gencost.csv, system.csv")
    parser.add_argument("out", type=Path, help="folder for the tables")
    arguments = parser.parse_args()
    write_tables(power_tables(arguments.case), arguments.out)


if __name__ == "__main__":
    main()
